"""Maximum likelihood for a machine (Freund, 4.10 to 4.15).

The gradient of the mean log-likelihood is the difference of two sets of moments: those
of the samples with the hidden units given these, and those of the machine itself. As
all gradients are exact, the one difficulty is local maxima. Successive halving finds
good ones at the price of a few: of many short ascents the better half continues.
"""

# Steps of `maximise_likelihood`:
# 1. Each start ascends for N_ITER_SHORT iterations. The better half continues, twice as
#    long, until one is left (successive halving).
# 2. If there is a tree that may change, it is learned again from what the hidden units
#    leave unexplained, as long as the objective gains (`_improve_tree`).
# 3. The ascent continues to `max_iter`, or until WINDOW iterations gain less than
#    `tol`.
#
# An `Ascent` works in the coordinates of `Coordinates`: one vector, float64. `evaluate`
# computes the objective and its gradient for the solver, `record` accepts an iteration.
#
# Invariants: the objective is the mean log-likelihood minus alpha / 2 times the squares
# of all weights but the hidden biases. Samples are summed up in blocks of BLOCK_SIZE,
# in one order, for any number of threads.

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import rel_entr
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from sklboolean._core.parallel import each_slice, in_threads
from sklboolean._core.parameters import check_real
from sklboolean._core.validation import warn_user
from sklboolean._core.versioned import VersionedEstimator
from sklboolean.density._bit_sums import UNITS, sum_bits
from sklboolean.density._conditionals import complete_at_random
from sklboolean.density._packed_signs import merge_equal_samples
from sklboolean.density._partition_function import partition_moments
from sklboolean.density._rbm_params import (
    Coordinates,
    Moments,
    RBMParams,
    hidden_posteriors,
)
from sklboolean.density._spanning_tree import maximum_spanning_tree
from sklboolean.density._tree import pair_counts, pair_sums

BLOCK_SIZE = 2048  # samples: the activations of a block stay in the cache
BYTES_AT_A_TIME = 2**20  # of samples: a tenth of a second, or less
FOUR_SIGNS = 2.0 * (np.arange(16)[:, None] >> np.arange(4)[::-1] & 1) - 1  # by number
NEVER_ACTIVE = -700.0  # a bias
N_ITER_SHORT = 25  # of the first ascents; doubled each time the better half continues
N_ITER_TREE = 50  # between two changes of the tree
WINDOW = 10  # iterations over which the gain must exceed tol
TOL = 1e-5  # nats per sample
MEMORY = 20  # steps that L-BFGS stores
LARGE = 25.0  # twice that in log-odds: no sample could distinguish it from infinity
MAX_WEIGHT = 1e6  # larger ones, of unscaled steps, soon overflow
N_TREE_DRAWS = 20_000  # from the machine: gains of 1e-4 nats are significant


class GradientAscent(VersionedEstimator):
    """Steps of fixed length with momentum, as in the thesis.

    A value of `solver` of `CombinationMachine`. L-BFGS, the default there, needs no
    length of its steps and finds better maxima in less time.

    Parameters
    ----------
    learning_rate : float, default=0.05
        Length of the steps: a multiple of the gradient of the mean log-likelihood.
    momentum : float, default=0.9
        Fraction of the last step that is added to the next; from 0, below 1.
    tol : float, default=1e-5
        Stop when ten iterations gain less, in nats per sample. 0: take `max_iter`
        steps.

    See Also
    --------
    sklboolean.CombinationMachine : Takes this object as ``solver``.

    References
    ----------
    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    Ph.D. thesis, 1993, section 4.4.

    Examples
    --------
    >>> from sklboolean import CombinationMachine
    >>> from sklboolean.density import GradientAscent
    >>> X = [[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]] * 9
    >>> ascent = GradientAscent(learning_rate=0.03, tol=0.0)
    >>> machine = CombinationMachine(2, solver=ascent, max_iter=100, random_state=0)
    >>> machine.fit(X).n_iter_
    100
    """

    def __init__(self, learning_rate=0.05, momentum=0.9, tol=TOL):
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.tol = tol

    def _check_params(self):
        check_real(self.learning_rate, "learning_rate", 0.0, strict=True)
        check_real(self.momentum, "momentum", 0.0, below=1)
        check_real(self.tol, "tol", 0.0)


@dataclass(frozen=True)
class TrainingOptions:
    """Checked parameters of a machine that its training needs; see there."""

    solver: str | GradientAscent
    alpha: float
    visible_bias: bool
    max_iter: int
    tree_updates: int = 0
    moments: Callable = partition_moments  # of the machine, with its log Z
    report: Callable | None = None  # of (text, parameters, log Z), after a step
    start: RBMParams | None = None  # where a fit is continued

    @property
    def tol(self):
        """Gain of ten iterations below which an ascent ends."""
        return getattr(self.solver, "tol", TOL)


# The likelihood of a data set


class SampleTable(NamedTuple):
    """The distinct samples of a data set."""

    samples: np.ndarray  # (n_distinct, n), float64: signs or real numbers
    shares: np.ndarray  # (n_distinct,), sum 1
    means: np.ndarray  # (n,), of the inputs
    log_base: float = 0.0  # mean log of the base measure: 0 for signs
    bits: np.ndarray | None = None  # (n_distinct, n / 8), uint8: packed signs


def make_table(samples, sample_weight=None, log_base=None):
    """Merge equal samples: sums over samples are then the same in any order of them.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n), dtype int8 or float64
        Signs, -1 or 1; or real numbers.
    sample_weight : ndarray of shape (n_samples,) or None
    log_base : callable or None
        Computes the log of the base measure of each sample. None: 0.

    Returns
    -------
    table : SampleTable
    """
    if samples.dtype == np.float64:
        keys = samples + 0.0  # both zeros get the same bytes
    else:
        keys = np.packbits(samples > 0, axis=1)
    first, weights = merge_equal_samples(keys, sample_weight)
    # A sample of weight zero is left out.
    first, weights = first[weights > 0], weights[weights > 0]
    bits = keys[first] if keys.dtype == np.uint8 else None
    shares, distinct = weights / weights.sum(), np.empty((len(first), samples.shape[1]))
    step = max(1, BYTES_AT_A_TIME // samples.shape[1])
    for here in gen_batches(len(first), step):
        distinct[here] = samples[first[here]]
    samples = distinct
    mean_log_base = 0.0 if log_base is None else float(shares @ log_base(samples))
    return SampleTable(samples, shares, shares @ samples, mean_log_base, bits)


def edge_means(table, parents):
    """Compute the mean product of each input and its parent; 0 at roots."""
    products = np.zeros(len(parents))
    for start in range(0, len(table.samples), BLOCK_SIZE):
        block = table.samples[start : start + BLOCK_SIZE]
        shares = table.shares[start : start + BLOCK_SIZE]
        products += np.einsum("i,ij,ij->j", shares, block, block[:, parents])
    return np.where(parents < 0, 0.0, products)


def bit_tables(params, n_bytes):
    """Tabulate what four bits of a sample add to the activations of the units.

    Parameters
    ----------
    params : RBMParams
    n_bytes : int
        Number of bytes of a sample.

    Returns
    -------
    biases : ndarray of shape (n_panels, 8)
        Biases of the units, eight to a panel. Padding is never active.
    tables : ndarray of shape (n_panels, n_bytes, 32, 8)
        For the high four bits of a byte, and for the low four.
    """
    m, n = params.components.shape
    n_panels = -(-m // UNITS)
    biases = np.full((n_panels, UNITS), NEVER_ACTIVE)
    biases.reshape(-1)[:m] = params.hidden_bias
    weights = np.zeros((8 * n_bytes, n_panels * UNITS))
    weights[:n, :m] = params.components.T
    tables = FOUR_SIGNS @ weights.reshape(-1, 4, n_panels * UNITS)
    tables = tables.reshape(n_bytes, 32, n_panels, UNITS).transpose(2, 0, 1, 3)
    return biases, np.ascontiguousarray(tables)


def sum_posteriors(params, samples, weights):
    """Sum up what a gradient needs of samples.

    Parameters
    ----------
    params : RBMParams
    samples : ndarray of shape (n_samples, n), or (n_samples, n / 8) for packed bits
        Packed bits are uint8.
    weights : ndarray of shape (n_samples,), dtype float64

    Returns
    -------
    value : float
        Sum of the log-sums over hidden states.
    hidden : ndarray of shape (m,)
        Sums of the posterior means of the hidden units.
    products : ndarray of shape (m, n)
        Sums of their products with the inputs.
    """
    m, n = params.components.shape
    n_blocks = -(-len(samples) // BLOCK_SIZE)
    # Neither the blocks nor the order of their sum depend on the threads.
    values, hidden = np.empty(n_blocks), np.empty((n_blocks, m))
    products = np.empty((n_blocks, m, n))
    packed = samples.dtype == np.uint8
    # An interrupt is seen between two batches of a block.
    n_at_a_time = max(1, BYTES_AT_A_TIME // samples.shape[1])
    if packed:
        biases, tables = bit_tables(params, samples.shape[1])

    def add_blocks(first, last):
        for block in range(first, last):
            here = slice(block * BLOCK_SIZE, (block + 1) * BLOCK_SIZE)
            if packed:
                of_rows, of_units = np.zeros_like(tables), np.zeros_like(biases)
                inputs, shares = samples[here], weights[here]
                out, sums = np.empty(biases.size), (biases, tables, of_rows, of_units)
                values[block] = sum(
                    sum_bits(inputs[batch], shares[batch], *sums, out)
                    for batch in gen_batches(BLOCK_SIZE, n_at_a_time)
                )
                hidden[block] = of_units.reshape(-1)[:m]
                of_rows = of_rows.transpose(1, 2, 0, 3).reshape(-1, 16, biases.size)
                of_bits = FOUR_SIGNS.T @ of_rows
                products[block] = of_bits.reshape(-1, biases.size)[:n, :m].T
                continue
            inputs, shares = samples[here], weights[here]
            activations = params.activations(inputs)
            log_sums, means = hidden_posteriors(activations, params.max_active)
            means *= shares[:, None]
            values[block] = shares @ log_sums
            hidden[block] = means.sum(axis=0)
            products[block] = means.T @ inputs

    each_slice(add_blocks, n_blocks, step=1)
    return float(values.sum()), hidden.sum(axis=0), products.sum(axis=0)


def mean_log_likelihood(params, table, edges=None, moments=partition_moments):
    """Compute the mean log-likelihood of a data set, its gradient and log Z.

    Parameters
    ----------
    params : RBMParams
    table : SampleTable
    edges : ndarray of shape (n,) or None
        ``edge_means`` of the table, for a tree.
    moments : callable
        Computes log Z and the moments of a machine.

    Returns
    -------
    value : float
    gradient : Moments
        By hidden biases, visible biases, components and couplings.
    log_z : float
    """
    packed = table.bits is not None and params.max_active is None
    samples = table.bits if packed else table.samples
    value, hidden, products = sum_posteriors(params, samples, table.shares)
    log_z, of_machine = moments(params)
    value += params.visible_bias @ table.means + table.log_base - log_z
    if edges is not None:
        value += params.couplings @ edges
    of_samples = Moments(hidden, table.means, products, edges)
    return float(value), of_samples.minus(of_machine), log_z


# Ascent


@dataclass
class AscentState:
    """An ascent: its current parameters and its history."""

    params: RBMParams
    log_z: float | None = None  # of these
    log_likelihoods: list = field(default_factory=list)  # after each iteration
    objectives: list = field(default_factory=list)  # the same minus the penalty
    n_before: int = 0  # iterations before the last change of the tree

    def branch(self, params):
        """Copy the state with other parameters."""
        names = "log_likelihoods", "objectives"
        copies = {name: getattr(self, name).copy() for name in names}
        return replace(self, params=params, n_before=len(self.objectives), **copies)

    def score(self):
        """Compute the number by which ascents are compared."""
        return self.objectives[-1]


class Ascent:
    """Maximisation of the penalised likelihood in the coordinates of one tree."""

    def __init__(self, state, table, options):
        self.state, self.table = state, table
        self.options, params = options, state.params
        self.coordinates = Coordinates.of(params, table.means, options.visible_bias)
        tree = params.parents
        self.edges = None if tree is None else edge_means(table, tree)
        self.directions = None  # of units, where only their scales are learned
        self.last = None  # what `evaluate` computed last

    def run(self, n_iter):
        """Take up to n_iter iterations with the solver."""
        params, solver = self.state.params, self.options.solver
        start = self.coordinates.to_vector(params)
        if solver == "projection_pursuit":
            # Projection pursuit finds its units as if they were independent of one
            # another, which is right for orthogonal weights only: directions are kept.
            m, n = params.components.shape
            self.directions = start[: m * n].reshape(m, n)
            start = np.concatenate([np.ones(m), start[m * n :]])
        if isinstance(solver, GradientAscent):
            self._run_momentum(start, n_iter)
        else:
            options = {"maxiter": n_iter, "maxcor": MEMORY, "ftol": 0.0, "gtol": 1e-9}
            how = {"method": "L-BFGS-B", "options": options | {"maxfun": 20 * n_iter}}
            minimize(self.evaluate, start, jac=True, callback=self.record, **how)
        if not self.state.objectives:
            # The start was a maximum already: no step was taken.
            self.record(start)

    def evaluate(self, vector):
        """Compute the loss, to be minimised, and its gradient."""
        if not np.abs(vector).max() <= MAX_WEIGHT:
            raise ValueError(
                f"The weights grew without bound with solver={self.options.solver!r}. "
                "Take a tenth of its learning_rate, or raise alpha."
            )
        unscaled = vector if self.directions is None else self._scaled(vector)
        # The solver may overwrite its own vector: keep a copy.
        alpha, params = self.options.alpha, self.coordinates.to_params(unscaled.copy())
        penalised = self.coordinates.penalised(unscaled)
        # `to_gradient` makes of the gradient by the parameters that by the coordinates.
        value, by_params, log_z = mean_log_likelihood(
            params, self.table, self.edges, self.options.moments
        )
        objective = value - alpha / 2 * (penalised @ penalised)
        gradient = self.coordinates.to_gradient(by_params) - alpha * penalised
        if self.directions is not None:
            m, n = self.directions.shape
            by_scale = gradient[: m * n].reshape(m, n) * self.directions
            gradient = np.concatenate([by_scale.sum(axis=1), gradient[m * n :]])
        self.last = vector.copy(), params, objective, gradient, value, log_z
        return -objective, -gradient

    def _scaled(self, vector):
        """Multiply the directions of the units by their scales."""
        m = len(self.directions)
        components = vector[:m, None] * self.directions
        return np.concatenate([components.ravel(), vector[m:]])

    def record(self, vector):
        """Record an iteration; raise StopIteration when the ascent has converged."""
        # The solver may end an iteration at a point that it did not evaluate last.
        if not np.array_equal(vector, self.last[0]):
            self.evaluate(vector)
        _, params, objective, _, value, log_z = self.last
        state, options = self.state, self.options
        state.params, state.log_z = params, log_z
        state.log_likelihoods.append(value)
        state.objectives.append(objective)
        if options.report is not None:
            text = f"mean log-likelihood {value:.4f} nats"
            if options.report(text, state.params, log_z):
                raise StopIteration
        recent = state.objectives[state.n_before :][-1 - WINDOW :]
        # Steps with momentum may fall for a while; with tol=0 they never stop.
        if len(recent) > WINDOW and max(recent) - recent[0] < options.tol:
            raise StopIteration

    def _run_momentum(self, vector, n_iter):
        """Take steps of fixed length with momentum (Freund, section 4.4)."""
        velocity, solver = np.zeros_like(vector), self.options.solver
        self.evaluate(vector)
        for _ in range(n_iter):
            velocity *= solver.momentum
            velocity += solver.learning_rate * self.last[3]
            vector = vector + velocity
            self.evaluate(vector)
            try:
                self.record(vector)
            except StopIteration:
                return


def ascend(state, n_iter, options, *table):
    """Continue an ascent and return its state.

    Parameters
    ----------
    state : AscentState
    n_iter : int
        Most iterations; fewer if ``max_iter`` is reached.
    options : TrainingOptions
    *table
        The fields of the `SampleTable`. A cluster's backend sends arrays that are plain
        arguments only once.

    Returns
    -------
    state : AscentState
    """
    n_iter = min(n_iter, options.max_iter - len(state.objectives))
    if n_iter > 0:
        Ascent(state, SampleTable(*table), options).run(n_iter)
    return state


def maximise_likelihood(starts, table, n_samples, options, rng):
    """Learn the parameters of a machine.

    Parameters
    ----------
    starts : iterable of RBMParams
        Successive halving selects one.
    table : SampleTable
    n_samples : float
        Number of samples that the table represents.
    options : TrainingOptions
    rng : RandomState
        For new trees.

    Returns
    -------
    state : AscentState
    """
    states, n_iter = list(map(AscentState, starts)), N_ITER_SHORT
    # Ascents are the coarser work: each of them is a step.
    silent = replace(options, report=None)
    while len(states) > 1:
        starts, finished = [(each, n_iter, silent, *table) for each in states], []
        for state in in_threads(ascend, starts):
            finished.append(state)
            if options.report is not None:
                value = state.log_likelihoods[-1]
                text = f"a short ascent to a mean log-likelihood of {value:.4f} nats"
                if options.report(text, state.params, state.log_z):
                    return max(finished, key=AscentState.score)
        states = finished
        states.sort(key=AscentState.score, reverse=True)
        states, n_iter = states[: (len(states) + 1) // 2], 2 * n_iter
    state = states[0]
    if state.params.parents is not None and options.tree_updates:
        state = _improve_tree(state, table, n_samples, options, rng)
    return ascend(state, options.max_iter, options, *table)


def warn_of_large_weights(params, remedy):
    """Warn if samples are separated so well that weights grow without bound."""
    largest = np.abs(params.components).max()
    if params.couplings is not None:
        largest = max(largest, np.abs(params.couplings).max())
    if largest > LARGE:
        warn_user(
            f"A weight has grown to {largest:.3g}: some samples can be separated from "
            "all others, and weights without bound increase their likelihood. "
            f"{remedy}",
            ConvergenceWarning,
        )


# Better trees


def _improve_tree(state, table, n_samples, options, rng):
    """Replace the tree as long as the ascent gains from it."""
    state = ascend(state, N_ITER_TREE, options, *table)
    for _ in range(options.tree_updates):
        if len(state.objectives) >= options.max_iter:
            return state  # no iteration is left in which a new tree could gain
        params = with_new_tree(state.params, table, n_samples, rng)
        if params is state.params:
            return state
        trial = ascend(state.branch(params), N_ITER_TREE, options, *table)
        if trial.score() <= state.score():
            return state
        state = trial
    return state


def _pair_shares(signs, shares, alpha):
    """Compute the shares of the four states of all pairs, smoothed by alpha samples."""
    total, means, products = pair_sums(signs, shares)
    means, products = means / total, products / total
    return pair_counts(1, means[:, None], means, products, alpha) / (1 + alpha)


def coupling_gains(observed, modelled, couplings):
    """Compute what each single edge would add to the mean log-likelihood.

    Parameters
    ----------
    observed, modelled : ndarray of shape (2, 2, n, n)
        Shares of the four states of each pair, in the data and in the machine.
    couplings : ndarray of shape (n, n)
        Of the present edges: each pair is considered without its edge.

    Returns
    -------
    gains : ndarray of shape (n, n)
    """
    products = np.multiply.outer((-1.0, 1.0), (-1.0, 1.0))[:, :, None, None]
    without = modelled * np.exp(-couplings * products)
    return rel_entr(observed, without / without.sum(axis=(0, 1))).sum(axis=(0, 1))


def with_new_tree(params, table, n_samples, rng):
    """Move the machine to the tree of the largest gains; new edges have coupling 0.

    A new edge adds at most the divergence of the pair's distribution in the data from
    that in the machine without the edge: this is the gain from fitting the one pair.
    Without hidden units the tree is that of Chow and Liu.

    Parameters
    ----------
    params : RBMParams
    table : SampleTable
    n_samples : float
        Number of samples that the table represents, for smoothing.
    rng : RandomState
        Pairs of the machine are counted in draws.

    Returns
    -------
    params : RBMParams
        The same object if no edge changes.
    """
    n = len(params.visible_bias)
    all_missing = np.zeros((N_TREE_DRAWS, n), dtype=np.int8)
    drawn = complete_at_random(params, all_missing, rng).astype(np.float64)
    even = np.full(N_TREE_DRAWS, 1 / N_TREE_DRAWS)
    # A pair is judged without its edge: undo the coupling that it has now.
    couplings = np.zeros((n, n))
    child = np.flatnonzero(params.parents >= 0)
    couplings[child, params.parents[child]] = params.couplings[child]
    couplings += couplings.T
    gains = coupling_gains(
        _pair_shares(table.samples, table.shares, 1 / n_samples),
        _pair_shares(drawn, even, 1 / N_TREE_DRAWS),
        couplings,
    )
    if params.attributes is not None:
        parents = params.attributes.parents_of(gains + gains.T)
    else:
        parents = maximum_spanning_tree(gains + gains.T)
    former = couplings[np.arange(n), parents]
    if _edges(parents) == _edges(params.parents):
        return params
    return params.replace(parents=parents, couplings=np.where(parents < 0, 0, former))


def _edges(parents):
    return {frozenset(edge) for edge in enumerate(parents) if edge[1] >= 0}
