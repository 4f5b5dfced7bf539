"""Parameters of the combination machine, moments, hidden posteriors and coordinates.

The machine has inputs x in {-1, +1}^n and hidden units h in {0, 1}^m with
log p*(x, h) = h.(W x + theta) + b.x + sum over tree edges of J_c x_c x_parent(c).
"""

# Shapes: W is (m, n), theta (m,), b and J (n,), all float64. A batch of inputs is
# (n_samples, n), of hidden states (n_states, m).
#
# Given the inputs the hidden units are independent: `hidden_posteriors` sums them out,
# by Freund's equation 4.4, or by elementary symmetric polynomials where at most k units
# may be active. `Coordinates` is the linear map between the parameters and the vector
# that a solver changes; its transpose takes gradients back.

from dataclasses import dataclass, replace
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from sklboolean._core.damage import require_below, require_shape
from sklboolean.density._attribute_forest import Attributes

BLOCK_SIZE = 2048  # samples: the activations of a block stay in the cache
MAX_FACTORS = 512  # of at most 2 each: their product is far from overflow


@dataclass(frozen=True)
class RBMParams:
    """Parameters of a machine with m hidden units and n inputs.

    Attributes
    ----------
    components : ndarray of shape (m, n), dtype float64
        W.
    hidden_bias : ndarray of shape (m,), dtype float64
        theta.
    visible_bias : ndarray of shape (n,), dtype float64
        b.
    parents : ndarray of shape (n,), dtype int64, or None
        Parents of the inputs in a forest; -1 for a root. None: no edges.
    couplings : ndarray of shape (n,), dtype float64, or None
        J, 0 at roots.
    max_active : int or None
        Only hidden states with at most this number of active units exist. None: all.
    attributes : Attributes or None
        Only inputs with exactly one true column in each group exist. The parents of all
        columns of an attribute belong to one attribute. None: all inputs.
    """

    components: np.ndarray
    hidden_bias: np.ndarray
    visible_bias: np.ndarray
    parents: np.ndarray | None = None
    couplings: np.ndarray | None = None
    max_active: int | None = None
    attributes: Attributes | None = None

    def __post_init__(self):
        limit = self.max_active
        if limit is not None and limit >= len(self.hidden_bias):
            object.__setattr__(self, "max_active", None)

    def replace(self, **changes):
        """Copy the parameters with some of them changed."""
        return replace(self, **changes)

    @property
    def n_hidden_states(self):
        """Number of hidden states."""
        return count_hidden_states(len(self.hidden_bias), self.max_active)

    def check_inputs(self, n):
        """Require that the arrays of an edited or loaded machine fit n inputs."""
        require_shape(self.components, (len(self.hidden_bias), n), "components")
        require_shape(self.visible_bias, (n,), "visible_bias")
        if self.parents is not None:
            require_shape(self.parents, (n,), "parents")
            require_shape(self.couplings, (n,), "couplings")
            require_below(self.parents + 1, n + 1, "parents, each plus 1,")

    def activations(self, inputs):
        """Compute the activations W x + theta of the hidden units for each sample."""
        return inputs @ self.components.T + self.hidden_bias

    def input_fields(self, states):
        """Compute the field W'h + b of each input for each hidden state."""
        return states @ self.components + self.visible_bias

    def add_input_terms(self, signs, total=0.0):
        """Add the exponent of the inputs without hidden units, for each sample."""
        self.check_inputs(signs.shape[1])
        total = total + signs @ self.visible_bias
        if self.parents is not None:
            # The coupling of a root is 0, whatever its index -1 refers to.
            total += (signs * signs.take(self.parents, axis=1)) @ self.couplings
        return total


def count_hidden_states(m, max_active=None):
    """Count the states of m hidden units of which at most `max_active` are active."""
    if max_active is None or max_active >= m:
        return 2**m
    return sum(comb(m, k) for k in range(max_active + 1))


class Moments(NamedTuple):
    """Expectations under a machine: the gradient of its log-partition function."""

    hidden: np.ndarray  # (m,) E h_i
    visible: np.ndarray  # (n,) E x_j
    products: np.ndarray  # (m, n) E h_i x_j
    edges: np.ndarray | None  # (n,) E x_c x_parent(c), 0 at roots

    def minus(self, other, factor=1.0):
        """Subtract a multiple of other moments."""
        return Moments(
            self.hidden - factor * other.hidden,
            self.visible - factor * other.visible,
            self.products - factor * other.products,
            None if self.edges is None else self.edges - factor * other.edges,
        )


def hidden_posteriors(activations, max_active=None):
    """Sum out the hidden units, which are independent given the inputs.

    Parameters
    ----------
    activations : ndarray of shape (n_samples, m)
        W x + theta.
    max_active : int or None
        Only states with at most this number of active units; then units are dependent.

    Returns
    -------
    log_sums : ndarray of shape (n_samples,)
        Log of the product of 1 + exp(activation) in Freund's equation 4.4.
    means : ndarray of shape (n_samples, m)
        Probability that a unit is active: the gradient.
    """
    if max_active is not None and max_active < activations.shape[1]:
        return _log_active_sums(activations, max_active)
    small = np.exp(-np.abs(activations))
    factors = 1 + small
    # One logarithm for many units.
    starts = np.arange(0, activations.shape[1], MAX_FACTORS)
    products = np.multiply.reduceat(factors, starts, axis=1)
    log_sums = np.maximum(activations, 0).sum(axis=1) + np.log(products).sum(axis=1)
    return log_sums, np.where(activations >= 0, 1.0, small) / factors


def _log_active_sums(activations, max_active):
    """Compute ``hidden_posteriors`` for at most k active units.

    The sum is e_0 + ... + e_k, with the elementary symmetric polynomials of exp(a).
    """
    n_samples, m = activations.shape
    upto = np.full((m + 1, max_active + 1, n_samples), -np.inf)
    upto[:, 0] = 0.0
    for i in range(m):
        upto[i + 1, 1:] = np.logaddexp(upto[i, 1:], upto[i, :-1] + activations[:, i])
    log_sums = logsumexp(upto[m], axis=0)
    # Backwards: after[k] is the log-sum over units after i, at most k of them active.
    after = np.zeros((max_active + 1, n_samples))
    means = np.empty((n_samples, m))
    for i in range(m - 1, -1, -1):
        if max_active:
            with_i = logsumexp(upto[i, :-1] + after[-2::-1], axis=0) + activations[:, i]
            means[:, i] = np.exp(with_i - log_sums)
            after[1:] = np.logaddexp(after[1:], after[:-1] + activations[:, i])
        else:
            means[:, i] = 0.0
    return log_sums, means


def log_numerators(params, signs):
    """Compute the log of the unnormalised probability of each complete sample.

    Parameters
    ----------
    params : RBMParams
    signs : ndarray of shape (n_samples, n)
        -1 or 1.

    Returns
    -------
    log_sums : ndarray of shape (n_samples,)
    """
    log_sums = np.empty(len(signs))
    for start in range(0, len(signs), BLOCK_SIZE):
        block = signs[start : start + BLOCK_SIZE].astype(np.float64)
        hidden = hidden_posteriors(params.activations(block), params.max_active)[0]
        log_sums[start : start + BLOCK_SIZE] = params.add_input_terms(block, hidden)
    return log_sums


@dataclass(frozen=True)
class Coordinates:
    """Maps between the parameters of a machine and the vector that is optimised.

    The vector holds the components, the hidden biases, the visible biases if they are
    learned, and the couplings if there is a tree. It is centred and symmetric: in
    (h - 1/2) . (W (x - centre) + t) + c.x, negating W and t of a hidden unit leaves c
    unchanged, so units that are mostly active and units that are mostly inactive are
    learned alike. The centre does the same for inputs that are mostly true or false.
    Both maps are linear, and the machine is the same.

    Attributes
    ----------
    n_components : int
    centre : ndarray of shape (n,)
        Means of the inputs.
    visible_bias : bool
        Whether visible biases are learned.
    parents : ndarray of shape (n,) or None
    max_active : int or None
    attributes : Attributes or None
    """

    n_components: int
    centre: np.ndarray
    visible_bias: bool
    parents: np.ndarray | None = None
    max_active: int | None = None
    attributes: Attributes | None = None

    @classmethod
    def of(cls, params, centre, visible_bias):
        """Choose coordinates for the parameters of a machine."""
        m = len(params.hidden_bias)
        model = params.parents, params.max_active, params.attributes
        return cls(m, centre, visible_bias, *model)

    def _split(self, vector):
        m, n = self.n_components, len(self.centre)
        hidden = m * n + m
        visible = hidden + n * self.visible_bias
        size = visible + (0 if self.parents is None else n)
        require_shape(vector, (size,), "the vector of parameters")
        components, hidden_bias = vector[: m * n].reshape(m, n), vector[m * n : hidden]
        return components, hidden_bias, vector[hidden:visible], vector[visible:]

    def to_params(self, vector):
        """Compute the parameters of the machine from a vector."""
        components, hidden, visible, couplings = self._split(vector)
        if self.visible_bias:
            visible = visible - 0.5 * components.sum(axis=0)
        else:
            visible = np.zeros_like(self.centre)
        return RBMParams(
            components,
            hidden - components @ self.centre,
            visible,
            self.parents,
            None if self.parents is None else couplings,
            self.max_active,
            self.attributes,
        )

    def to_vector(self, params):
        """Compute the vector of a machine: the inverse of ``to_params``."""
        components = params.components
        vectors = [components.ravel(), params.hidden_bias + components @ self.centre]
        if self.visible_bias:
            vectors.append(params.visible_bias + 0.5 * components.sum(axis=0))
        if self.parents is not None:
            vectors.append(params.couplings)
        return np.concatenate(vectors)

    def to_gradient(self, moments):
        """Compute the gradient by the vector from that by the parameters."""
        # The transpose of `to_params`, which is linear.
        by_components = moments.products - np.outer(moments.hidden, self.centre)
        if self.visible_bias:  # without them h is not centred
            by_components -= 0.5 * moments.visible
        vectors = [by_components.ravel(), moments.hidden]
        if self.visible_bias:
            vectors.append(moments.visible)
        if self.parents is not None:
            vectors.append(moments.edges)
        return np.concatenate(vectors)

    def penalised(self, vector):
        """Copy the vector with 0 for the hidden biases, which are not penalised."""
        vector = vector.copy()
        self._split(vector)[1][:] = 0.0
        return vector
