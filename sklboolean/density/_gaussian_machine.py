"""The combination machine with real inputs (Freund, section 4.2.2).

log p*(x, h) = h.(W x + theta) + b.x - |x|^2 / 2. Given h the inputs are independent and
normal, with means b + W'h and variances 1. Integrated over x, equation 4.8, a hidden
state has log-weight h.c + h'J h / 2 and a constant, with c = theta + W b and J = W W':
pairs of units are all that is left of the inputs, however many there are.
"""

# Steps of a sum over all hidden states: the log-weight of a state is quadratic in it,
# so for a pair (left state, right state) of both halves of the units it is a left term,
# a right term, and a bilinear term, which is one matrix product for a block of left
# states (`PairEnergies.logs`). Each block has its own maximum, and the blocks are put
# together in one order: the result does not depend on the threads.
#
# With missing values (`_missing_groups`) the known inputs add to the hidden biases, and
# samples that miss the same inputs share the energies of the machine of these.

from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from sklboolean._core.deprecation import old_parameters
from sklboolean._core.parallel import each_slice
from sklboolean._core.progress import CallbackSupportMixin, with_callbacks
from sklboolean._core.validation import validate_data_strict
from sklboolean._core.versioned import VersionedEstimator
from sklboolean.density._base import IncompleteDensityMixin
from sklboolean.density._conditionals import group_rows, members_of
from sklboolean.density._exact_training import ExactTrainingMixin
from sklboolean.density._initialization import gaussian_inputs
from sklboolean.density._old_parameters import OF_GAUSSIAN_MACHINE
from sklboolean.density._partition_function import check_affordable
from sklboolean.density._rbm_params import Moments, RBMParams, hidden_posteriors
from sklboolean.density._state_sums import split_units

BLOCK_STATES = 2**16  # stay in the cache
MAX_TABLE = 2**21  # numbers of a table of samples and hidden states
MAX_INPUT = 1e5  # squares up to 1e10: a log-likelihood is then accurate to 1e-5 nats
SAFE = 1e-250  # sums below it may have lost terms that matter


def log_base(samples):
    """Compute -|x|^2 / 2, the log of the base measure, of each sample."""
    return -0.5 * np.einsum("ij,ij->i", samples, samples)


# Sums over hidden states


class PairEnergies(NamedTuple):
    """Log-weights of all hidden states, as pairs of one state of each half of them."""

    left: np.ndarray  # (n_left, units of the second half), states
    right: np.ndarray  # (n_right, units of the first half)
    limits: np.ndarray  # (n_left,), number of right states for each left state
    left_logs: np.ndarray  # (n_left,), with the constant
    right_logs: np.ndarray  # (n_right,)
    crossed: np.ndarray  # (n_left, units of the first half), fields of left states

    def logs(self, first, last):
        """Compute log-weights of left states [first, last) with all right states."""
        logs = self.crossed[first:last] @ self.right.T
        logs += self.left_logs[first:last, None] + self.right_logs
        n_right = len(self.right)
        if self.limits.min() < n_right:
            logs[np.arange(n_right) >= self.limits[first:last, None]] = -np.inf
        return logs

    def states(self, left, right):
        """Look up hidden states by the numbers of their halves."""
        return np.hstack([self.right[right], self.left[left]])

    def effects(self, biases):
        """Compute what hidden biases add to left and to right states, by sample."""
        units = self.right.shape[1]
        return biases[:, units:] @ self.left.T, biases[:, :units] @ self.right.T

    def block_edges(self):
        """List the edges of blocks of left states."""
        n_left = max(1, BLOCK_STATES // len(self.right))
        return [*range(0, len(self.left), n_left), len(self.left)]


def pair_energies(params):
    """Integrate out the inputs of a machine.

    Parameters
    ----------
    params : RBMParams
        Without a tree.

    Returns
    -------
    energies : PairEnergies
    """
    components, visible_bias = params.components, params.visible_bias
    m, n = components.shape
    left, right, limits = split_units(m, params.max_active)
    units = right.shape[1]
    biases = params.hidden_bias + components @ visible_bias
    pairs = components @ components.T
    crossed = left @ pairs[units:, :units]
    left_logs = left @ biases[units:]
    left_logs += ((left @ pairs[units:, units:]) * left).sum(axis=1) / 2
    left_logs += (visible_bias @ visible_bias + n * np.log(2 * np.pi)) / 2
    right_logs = right @ biases[:units]
    right_logs += ((right @ pairs[:units, :units]) * right).sum(axis=1) / 2
    return PairEnergies(left, right, limits, left_logs, right_logs, crossed)


def gaussian_moments(params):
    """Compute the log of the integral over inputs, summed over states; its gradient.

    Parameters
    ----------
    params : RBMParams

    Returns
    -------
    log_z : float
    moments : Moments
        E x = b + W' E h and E h x' = E h b' + E hh' W, since E(x | h) = b + W'h.
    """
    energies = pair_energies(params)
    left, right, edges = energies.left, energies.right, energies.block_edges()
    units, m = right.shape[1], len(params.hidden_bias)
    sums = np.empty(len(edges) - 1)
    blocks = np.empty((len(sums), m, m))

    def add_blocks(first, last):
        for block in range(first, last):
            logs = energies.logs(edges[block], edges[block + 1])
            top = logs.max()
            shares = np.exp(logs - top, out=logs)
            total = shares.sum()
            sums[block] = top + np.log(total)
            states, fields = left[edges[block] : edges[block + 1]], shares @ right
            # E hh' of the block; its diagonal is E h.
            means = blocks[block]
            means[:units, :units] = (right.T * shares.sum(axis=0)) @ right
            means[units:, units:] = (states.T * shares.sum(axis=1)) @ states
            means[units:, :units] = states.T @ fields
            means[:units, units:] = means[units:, :units].T
            means /= total

    each_slice(add_blocks, len(sums), step=1)
    pairs = np.tensordot(softmax(sums), blocks, axes=1)
    hidden = np.diag(pairs).copy()
    components, visible_bias = params.components, params.visible_bias
    return float(logsumexp(sums)), Moments(
        hidden,
        visible_bias + hidden @ components,
        np.outer(hidden, visible_bias) + pairs @ components,
        None,
    )


# Samples with missing values


class MissingGroup(NamedTuple):
    """Samples that miss the same inputs."""

    samples: np.ndarray  # their numbers
    missing: np.ndarray  # the columns
    params: RBMParams  # of the machine of the missing inputs, with mean hidden biases
    biases: np.ndarray  # (n_samples, m), what is added to them in each sample
    known: np.ndarray  # (n_samples,), the exponent of the known inputs


def _missing_groups(params, X):
    """Yield a ``MissingGroup`` for each pattern of missing values."""
    params.check_inputs(X.shape[1])
    patterns, group = group_rows(np.isnan(X))
    for gap, samples in zip(patterns, members_of(group, len(patterns)), strict=True):
        known_inputs = X[np.ix_(samples, ~gap)]
        biases = params.hidden_bias + known_inputs @ params.components[:, ~gap].T
        # Relative to the mean bias, the same states matter in most samples.
        centre = biases.mean(axis=0)
        machine = params.replace(
            components=params.components[:, gap],
            hidden_bias=centre,
            visible_bias=params.visible_bias[gap],
        )
        exponent = known_inputs @ params.visible_bias[~gap] + log_base(known_inputs)
        missing = np.flatnonzero(gap)
        yield MissingGroup(samples, missing, machine, biases - centre, exponent)


def _posteriors(group):
    """Compute the log-sum over states, and the means of the units, by sample."""
    params = group.params
    if not len(group.missing):
        activations = group.biases + params.hidden_bias
        return hidden_posteriors(activations, params.max_active)
    energies = pair_energies(params)
    left, right = energies.left, energies.right
    logs = energies.logs(0, len(left))
    top = logs.max()
    scaled = np.exp(logs - top)
    log_sums, means = np.empty(len(group.samples)), np.empty_like(group.biases)
    step = max(1, MAX_TABLE // (len(left) + len(right)))
    for start in range(0, len(log_sums), step):
        here = slice(start, start + step)
        left_logs, right_logs = energies.effects(group.biases[here])
        left_top, right_top = left_logs.max(axis=1), right_logs.max(axis=1)
        of_left = np.exp(left_logs - left_top[:, None])
        of_right = np.exp(right_logs - right_top[:, None])
        # A pair's weight is the product of three factors, each at most 1.
        left_shares = of_left * (of_right @ scaled.T)
        right_shares = of_right * (of_left @ scaled)
        sums = right_shares.sum(axis=1)
        # Terms below e^-708 of the three maxima are lost: they must not matter.
        safe = sums > SAFE
        divisors = np.where(safe, sums, 1.0)
        log_sums[here] = np.log(divisors) + top + left_top + right_top
        means[here] = (
            np.hstack([right_shares @ right, left_shares @ left]) / divisors[:, None]
        )
        for i in np.flatnonzero(~safe):
            joint_logs = logs + left_logs[i][:, None] + right_logs[i]
            highest = joint_logs.max()
            shares = np.exp(joint_logs - highest)
            total = shares.sum()
            log_sums[start + i] = highest + np.log(total)
            by_unit = shares.sum(axis=0) @ right, shares.sum(axis=1) @ left
            means[start + i] = np.concatenate(by_unit) / total
    return log_sums, means


def log_sums_of_known(params, X):
    """Compute the log of the integral over all completions of each sample.

    Parameters
    ----------
    params : RBMParams
    X : ndarray of shape (n_samples, n), dtype float64
        NaN where an input is missing.

    Returns
    -------
    log_sums : ndarray of shape (n_samples,)
    """
    log_sums = np.empty(len(X))
    for group in _missing_groups(params, X):
        log_sums[group.samples] = group.known + _posteriors(group)[0]
    return log_sums


def complete_by_means(params, X):
    """Replace missing inputs by their conditional means."""
    filled = X.copy()
    for group in _missing_groups(params, X):
        means = group.params.input_fields(_posteriors(group)[1])
        filled[np.ix_(group.samples, group.missing)] = means
    return filled


def _draw_states(energies, biases, rng):
    """Draw a hidden state for each sample."""
    logs = energies.logs(0, len(energies.left))
    distinct, group = group_rows(biases)
    numbers = np.empty(len(biases), dtype=np.int64)
    left_logs, right_logs = energies.effects(distinct)
    for i, same in enumerate(members_of(group, len(distinct))):
        shares = softmax(logs + left_logs[i][:, None] + right_logs[i])
        numbers[same] = rng.choice(shares.size, size=len(same), p=shares.ravel())
    return energies.states(*np.unravel_index(numbers, logs.shape))


def complete_at_random(params, X, rng):
    """Draw missing inputs from their joint conditional density."""
    filled = X.copy()
    for group in _missing_groups(params, X):
        if not len(group.missing):
            continue
        states = _draw_states(pair_energies(group.params), group.biases, rng)
        drawn = rng.normal(group.params.input_fields(states))
        filled[np.ix_(group.samples, group.missing)] = drawn
    return filled


@old_parameters(**OF_GAUSSIAN_MACHINE)
class GaussianCombinationMachine(
    CallbackSupportMixin, ExactTrainingMixin, IncompleteDensityMixin, VersionedEstimator
):
    """Density of real samples as combinations of hidden units; exact likelihood.

    As ``CombinationMachine``, with the additional factor ``exp(-|x|^2 / 2)``: given
    hidden units h in {0, 1} the inputs x are independent and normal, with means b + W'h
    and variances 1. The density is a mixture of 2^m normal densities whose means add
    up.

    Columns are not rescaled: scale them so that the variance that hidden units should
    not explain is 1. Standardised columns leave no variance for the hidden units;
    multiply them by about 2. Choose the factor by held-out ``score`` + n_features *
    log(factor).

    Parameters
    ----------
    n_components : int, tuple of two int, or "auto", default=10
        Number m of hidden units; each doubles the time, so that more than 20 are
        refused.

        * (m, k): only hidden states with at most k active units, for machines with
          many units. Such a machine is another model, not an approximation.
        * "auto": 1, 2, 4, 6 and so on up to 20, as long as the mean log-likelihood of a
          held-out tenth of the samples grows by more than its standard error; all
          samples are used afterwards. With ``init="projection_pursuit"``: as many of
          its units as explain held-out samples.
    init : {"random", "projection_pursuit"}, ndarray or tuple, default="random"
        "projection_pursuit": units found one by one, each on what the units before it
        leave unexplained. Arrays: components, or a tuple of components, hidden biases
        and (optionally) visible biases.
    n_init : int, default=4
        Number of starts, if `init` is not an array. The better half of short ascents
        continues until one is left.
    alpha : float, "auto" or None, default=1e-4
        L2 penalty: alpha / 2 times the sum of squares of all weights but the hidden
        biases is subtracted from the mean log-likelihood. None: 2 / n_samples, where a
        sample counts as much as its weight, from 1e-4 to 1. "auto": the one of 1e-2,
        1e-3 and 1e-4 under which a held-out tenth of the samples is most likely; all
        samples are used afterwards. It takes four times the time.
    max_iter : int, default=500
        Maximum number of iterations of the ascent that is kept, which is L-BFGS. It
        ends earlier when ten iterations gain less than 1e-5 nats per sample. The
        likelihood of real data may still grow after 500.
    random_state : int, RandomState instance or None, default=None
        Source of the starts and held-out samples, of ``sample``, and of ``impute`` with
        ``method="sample"``.
    verbose : int, default=0
        1 prints the mean log-likelihood of each short ascent and each iteration.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, `n_features_in_`), dtype float64
        Weights W.
    hidden_bias_ : ndarray of shape (n_components,), dtype float64
        Biases theta.
    visible_bias_ : ndarray of shape (`n_features_in_`,), dtype float64
        Biases b.
    log_partition_ : float
        Log of the integral over all inputs, summed over the hidden states.
    alpha_ : float
        The penalty in force.
    log_likelihoods_ : ndarray of shape (`n_iter_`,), dtype float64
        Mean over the training samples after each iteration, in nats.
    n_iter_ : int
        Number of iterations of the ascent that was kept.
    n_components_ : int
        Number of hidden units.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    CombinationMachine : The same with binary inputs.
    sklearn.mixture.GaussianMixture : A normal density for each component.

    Notes
    -----
    Threads are those of ``joblib.parallel_config(n_jobs=2)``, for example. No result
    depends on their number.

    References
    ----------
    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    Ph.D. thesis, 1993, section 4.2.2; equations 4.5 to 4.8.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import GaussianCombinationMachine
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3)) + 4 * rng.integers(0, 2, (200, 1))
    >>> machine = GaussianCombinationMachine(1, random_state=0).fit(X)
    >>> machine.impute([[4.0, np.nan, np.nan]]).round(1)
    array([[4. , 4.1, 3.8]])
    """

    solver = "lbfgs"
    _log_base = staticmethod(log_base)
    _seconds = 2.6e-5
    _faster = "a smaller n_components, or ChowLiuTree for binary features"
    _completions = MappingProxyType(
        {"mean": "_complete_by_means", "sample": "_complete_at_random"}
    )

    def __init__(
        self, n_components=10, *, init="random", n_init=4, alpha=1e-4, max_iter=500,
        random_state=None, verbose=0,
    ):  # fmt: skip
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.alpha = alpha
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "GaussianCombinationMachine":
        """Learn the weights with the largest penalised likelihood.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples without missing values.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For invalid parameters and data, and for sums that take too long. The state
            before the call is kept.
        """
        return self._fit(X, sample_weight)

    def _check_params(self):
        return self._check_training_params(moments=gaussian_moments)

    def _check_sums(self, n):
        """Refuse sums that take too long."""
        m, max_active = self._hidden_units()
        if m != "auto":  # not more than can be summed over
            check_affordable(n, m, max_active, self._exact_limit, hidden_only=True)

    def _fit_inputs(self, samples, weights, centre):
        return gaussian_inputs(centre, self._hidden_units()[1])

    def _has_visible_bias(self):
        return True

    def _log_partition(self, params):
        return gaussian_moments(params)[0]

    def _read(self, X, *, reset=False, allow_missing=True):
        """Validate a data set of real numbers; NaN is a missing value."""
        finite = "allow-nan" if allow_missing else True
        checks = {"dtype": np.float64, "order": "C", "ensure_all_finite": finite}
        samples = validate_data_strict(self, X, reset=reset, **checks)
        large = np.abs(samples) > MAX_INPUT
        if large.any():
            column = np.flatnonzero(large.any(axis=0))[0]
            raise ValueError(
                f"X holds {samples[large][0]:.3g} in column {column}. Inputs of a "
                "GaussianCombinationMachine have variance 1 given the hidden units: "
                "scale the columns, for example with StandardScaler in a pipeline, or "
                "clip outliers."
            )
        return samples

    def _write(self, samples):
        return samples

    def _all_missing(self, n_samples):
        return np.full((n_samples, self.n_features_in_), np.nan)

    def _is_missing(self, samples):
        return np.isnan(samples)

    def _log_density(self, samples):
        return log_sums_of_known(self._state.params, samples) - self.log_partition_

    def _complete_by_means(self, samples, rng=None):
        return complete_by_means(self._state.params, samples)

    def _complete_at_random(self, samples, rng):
        return complete_at_random(self._state.params, samples, rng)

    def _input_means(self, states):
        return self._state.params.input_fields(states)
