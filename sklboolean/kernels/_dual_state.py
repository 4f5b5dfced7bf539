"""The state of a kernel perceptron: support samples, integer coefficients, times.

The score of a sample is f(x) = sum_i c_i (K(v_i, x) + constant). With a kernel that is
a function of one count its sign is exact: a float64 score within its rounding bound of
0 (or of another class) is computed again in Python integers.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import frexp

import numpy as np
from scipy import sparse

from sklboolean._core.bits import as_csr, as_words
from sklboolean._core.calibration import break_ties
from sklboolean._core.damage import require
from sklboolean.kernels._count_table import float_of_exact, rounding_slack
from sklboolean.kernels._dual import Hypotheses
from sklboolean.kernels._dual_training import RESOLUTION
from sklboolean.kernels._evaluators import GramRows, make_evaluator

TOO_LONG = (
    "The integer coefficients are too large to stay exact: too many examples for these "
    "weights. Lower class_weight, sample_weight or max_iter, or use average=None."
)
# Scores are divided by a power of two if the largest possible one is not below this.
LARGEST_SCORE_EXPONENT = 1000
# A float score this many times its rounding bound away from 0 has three good digits.
CLEAR = 1024
TINY = 2.0**-950  # covers terms that underflow, as in _dual.pyx
PAIRS_AT_A_TIME = 2**22


@dataclass(frozen=True)
class DualConfig:
    """What a dual state depends on and keeps while training is resumed.

    Attributes
    ----------
    kernel : kernel object, callable or "precomputed"
    constant : int
        Added to the kernel: 1 for an intercept, else 0.
    n_features : int
    n_scores : int
        1 for two classes, otherwise the number of classes.
    joint : bool
        Whether the classes are learned jointly.
    average : {"mean", "voted"} or None
        Times are kept for a mean, changes for votes.
    is_precomputed : bool
        Whether samples are rows of a kernel matrix.
    normalize : bool
        Whether updates and scores are divided by ``sqrt(K(x, x))``.
    """

    kernel: object
    constant: int
    n_features: int
    n_scores: int
    joint: bool
    average: str | None
    is_precomputed: bool = False
    normalize: bool = False

    @property
    def n_problems(self):
        """Number of perceptrons: one for each score unless classes are joint."""
        return 1 if self.joint else self.n_scores


@dataclass
class DualState:
    """A dual model over the samples seen so far.

    Attributes
    ----------
    config : DualConfig
    table : ndarray of uint64 words, csr_array, or None
        The support samples; None before the first and if the kernel is precomputed.
    support : ndarray of shape (n_support,), int64
        Their numbers in the order of the stream.
    coef : ndarray of shape (n_scores, n_support), int64
        Coefficients of the last hypothesis, over the resolution.
    coef_time_sums : ndarray of shape (n_scores, n_support), int64
        Sum of each change times the time of the change, for the mean.
    update_history : ndarray of shape (4, n_changes), int64
        Support position, hypothesis, change and time, in order; empty unless
        hypotheses vote.
    n_seen : int
        Examples seen.
    resolution : int
        Power of two: the coefficients are these integers divided by it.
    n_orders : int
        Number of hypotheses, trained in different orders, whose coefficients are added.
    first_number : int or None
        While partitions are trained: the number of their first sample.
    largest_diagonal : float or None
        Largest K(x, x) of a precomputed kernel.
    """

    config: DualConfig
    table: object
    support: np.ndarray
    coef: np.ndarray
    coef_time_sums: np.ndarray
    update_history: np.ndarray
    n_seen: int = 0
    resolution: int = 1
    n_orders: int = 1
    first_number: int | None = None
    largest_diagonal: float | None = None

    @classmethod
    def empty(cls, config):
        """Make the state before the first sample."""
        coef = np.zeros((config.n_scores, 0), dtype=np.int64)
        history = np.zeros((4, 0), dtype=np.int64)
        return cls(config, None, np.zeros(0, dtype=np.int64), coef, coef, history)

    def copy(self):
        """Copy the state for another training call; the arrays are never changed."""
        return replace(self, first_number=None)

    def __getstate__(self):
        # What `model` prepares is made again after loading.
        return {name: value for name, value in vars(self).items() if name != "model"}

    @cached_property
    def model(self):
        """The state prepared to score samples."""
        return DualModel(self)

    def decision(self, table, *, n_jobs=None):
        """Compute the decision for each sample of a table.

        Parameters
        ----------
        table : ndarray of uint64 words, csr_array, or kernel matrix
        n_jobs : int or None
            Number of threads.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes), float64
        """
        decision = self.model.scores(table, n_jobs)
        if self.config.normalize:
            decision /= self.unit * self.model.norms(table)[:, np.newaxis]
        if decision.shape[1] > 1:
            return decision
        # A tie predicts the second class, and so must its score.
        return break_ties(decision[:, 0])

    @property
    def unit(self):
        """What scores and coefficients are divided by: 1 without normalisation."""
        if not self.config.normalize:
            return 1
        n_means = self.n_seen + 1 if self.config.average == "mean" else 1
        return self.n_orders * n_means

    def with_resolution(self, resolution):
        """Make the same state with a finer resolution, a multiple of this one."""
        factor = resolution // self.resolution
        if int(np.abs(self.coef_time_sums).max(initial=0)) * factor >= 2**62:
            raise ValueError(TOO_LONG)
        history = self.update_history.copy()
        history[2] *= factor
        coef, time_sums = self.coef * factor, self.coef_time_sums * factor
        updates = {"update_history": history, "resolution": resolution}
        return replace(self, coef=coef, coef_time_sums=time_sums, **updates)

    def summed(self):
        """Sum the coefficients of all hypotheses, shape (n_scores, n_support).

        The hypothesis after example number t counts once for every t; the zero
        hypothesis takes part (Freund, Schapire 1999). A change at time t is in force
        in n_seen - t + 1 of them.
        """
        return (self.n_seen + 1) * self.coef - self.coef_time_sums

    def after(self, table, numbers, coef, time_sums, n_seen, runs):
        """Make the state after training.

        Parameters
        ----------
        table : table of the earlier support samples and the new samples, or None
        numbers : ndarray of shape (n_samples,), int64
            Stream numbers of these samples.
        coef, time_sums : ndarrays of shape (n_scores, n_samples), int64
        n_seen : int
        runs : list of DualRun
            One with all hypotheses, or one for each.
        """
        if self.config.average != "mean":
            time_sums[:] = 0
        needed = coef.any(axis=0) | time_sums.any(axis=0)
        history = self.update_history
        if self.config.average == "voted":
            parts = [history]
            for part, run in enumerate(runs):
                offset = np.array([[0], [part * self.config.n_scores // len(runs)]])
                parts += [np.vstack([c[:2] + offset, c[2:]]) for c in run.changes]
            history = np.concatenate(parts, axis=1)
            needed[history[0]] = True
            history[0] = (np.cumsum(needed) - 1)[history[0]]
        table = None if table is None else table[needed]
        sums = {"coef": coef[:, needed], "coef_time_sums": time_sums[:, needed]}
        seen = {"update_history": history, "n_seen": n_seen}
        return replace(self, table=table, support=numbers[needed], **sums, **seen)

    def average(self, states, updates, n_samples):
        """Mix the states that one epoch over partitions made of this state.

        As in the cascade of Graf et al. (2005), partitions contribute their support
        samples and the union goes back to all of them. Coefficients are mixed in
        proportion to the updates of each partition; in the space of the kernel this is
        iterative parameter mixing (McDonald, Hall, Mann 2010, Theorem 3). Weights and
        mix are rounded to multiples of 1 / `RESOLUTION` or finer, and all decisions are
        exact for the hypotheses so made.

        Parameters
        ----------
        states : sequence of DualState
            In the order of the partitions.
        updates : sequence of int
            Updates in each partition.
        n_samples : sequence of int
            Samples of each partition.

        Returns
        -------
        state : DualState
        """
        first = self.n_seen if self.first_number is None else self.first_number
        firsts = first + np.cumsum([0, *n_samples[:-1]])
        n_seen = self.n_seen + sum(n_samples)
        supports = [self.support]
        for state, first_of_part in zip(states, firsts, strict=True):
            # A sample has the same number in every epoch.
            is_new = state.support >= self.n_seen
            shift = is_new * (first_of_part - self.n_seen)
            supports.append(state.support + shift)
        before, *afters = states = with_one_resolution([self, *states], n_seen)
        # A sample that erred again occurs twice: among the earlier ones and as new.
        numbers, rows, where = np.unique(
            np.concatenate(supports), return_index=True, return_inverse=True
        )
        places = np.split(where, np.cumsum([len(support) for support in supports])[:-1])
        # The mean is over all examples of all partitions: add what each added.
        start = spread(before.summed(), places[0], len(numbers))
        coef, summed = np.zeros_like(start), start.copy()
        for weight, after, place in zip(
            mixing_weights(updates), afters, places[1:], strict=True
        ):
            coef += weight * spread(after.coef, place, len(numbers))
            summed += spread(after.summed(), place, len(numbers)) - start
        coef = (coef + RESOLUTION // 2) // RESOLUTION
        time_sums = (n_seen + 1) * coef - summed
        if self.config.average != "mean":
            time_sums[:] = 0
        used = coef.any(axis=0) | time_sums.any(axis=0)
        table = join_tables([state.table for state in states], self.config.n_features)
        return replace(
            before, table=table[rows[used]], support=numbers[used], coef=coef[:, used],
            coef_time_sums=time_sums[:, used], n_seen=n_seen, first_number=first,
        )  # fmt: skip

    def check(self):
        """Check that arrays fit each other, before compiled loops read them."""
        config, n_support = self.config, len(self.support)
        shape = (config.n_scores, n_support)
        history = self.update_history
        is_sound = (
            self.support.ndim == 1
            and self.coef.shape == self.coef_time_sums.shape == shape
            and history.ndim == 2
            and len(history) == 4
        )
        if is_sound and history.size:
            low, high = history[:2].min(axis=1), history[:2].max(axis=1)
            is_sound = low.min() >= 0 and high[0] < n_support and high[1] < shape[0]
        table, n_features = self.table, config.n_features
        if sparse.issparse(table):
            try:
                table.check_format(full_check=True)
            except ValueError:
                is_sound = False
            is_sound &= table.shape == (n_support, n_features)
        elif not config.is_precomputed:
            n_words = max(1, -(-n_features // 64))
            is_sound &= table.shape == (n_support, n_words)
            is_sound &= table.dtype == np.uint64
            # Counts stay in range only if no bit is set past the last feature.
            n_used = n_features - 64 * (n_words - 1)
            if is_sound and n_used < 64:
                is_sound = not (table[:, -1] >> np.uint64(n_used)).any()
        require(is_sound and self.resolution > 0, "its arrays do not fit each other")


def kernel_norms(evaluator, rows):
    """Compute sqrt(K(x, x)) of each sample; 1 for 0."""
    diagonal = np.ldexp(evaluator.diagonal(rows), evaluator.shift)
    return np.sqrt(np.where(diagonal > 0, diagonal, 1.0))


def with_one_resolution(states, n_seen):
    """Give states the finest resolution among them, for a mix after ``n_seen``."""
    finest = max(RESOLUTION, *(state.resolution for state in states))
    states = [state.with_resolution(finest) for state in states]
    largest = max(np.abs(state.coef).max(initial=0) for state in states)
    if int(largest) * max(RESOLUTION, n_seen + 1) >= 2**61:
        raise ValueError(TOO_LONG)
    return states


def spread(columns, places, n_places):
    """Add up columns of integers at their places among so many."""
    total = np.zeros((len(columns), n_places), dtype=np.int64)
    np.add.at(total.T, places, columns.T)
    return total


def mixing_weights(updates):
    """Weigh partitions in proportion to their updates, as integers over `RESOLUTION`.

    The weights add up to `RESOLUTION`; the largest takes what rounding leaves.
    """
    updates = np.asarray(updates, dtype=np.int64)
    if not updates.any():
        updates = np.ones_like(updates)
    weights = RESOLUTION * updates // updates.sum()
    weights[np.argmax(weights)] += RESOLUTION - weights.sum()
    return weights


def join_tables(tables, n_features):
    """Stack tables of Boolean samples in the form of the first; None is empty."""
    first, *others = [table for table in tables if table is not None]
    if not others:
        return first
    if not sparse.issparse(first):
        return np.concatenate([first, *map(as_words, others)])
    rows = [as_csr(table, n_features) for table in (first, *others)]
    return sparse.csr_array(sparse.vstack(rows, format="csr"))


class DualModel:
    """A dual state prepared to score samples: kernel table, floats and layouts.

    Parameters
    ----------
    state : DualState

    Attributes
    ----------
    coef : ndarray of shape (n_scores, n_support), int64
        The coefficients that predict, over the resolution.
    score_exponent : int
        Scores are divided by 2**score_exponent.
    """

    def __init__(self, state):
        state.check()
        config = state.config
        self.state = state
        coef = state.summed() if config.average == "mean" else state.coef
        # Sums are formed in int64, and attributes are float64.
        total = np.abs(coef.astype(np.float64)).sum(axis=1).max(initial=0)
        if total >= 2.0**61 or np.abs(state.coef).max(initial=0) > 2**53:
            raise ValueError(TOO_LONG)
        self.coef = coef
        self.evaluator = make_evaluator(config, state.table)
        self._layouts = {}
        table = self.evaluator.table
        self.total = int(np.abs(self.coef).sum(axis=1).max(initial=0))
        self.is_exact = table is not None and table.is_exact_in_float64(self.total)
        self.is_certified = table is not None and not self.is_exact
        self.weights = self.coef.astype(np.float64)
        self.votes = config.average == "voted"
        self.score_exponent = 0
        if table is not None and not self.votes:
            mantissa, exponent = table.largest
            exponent += frexp(mantissa * self.total / state.resolution)[1]
            self.score_exponent = max(0, exponent - LARGEST_SCORE_EXPONENT)

    @cached_property
    def bound(self):
        """The largest possible magnitude of a score; 1 if it is 0."""
        state, table = self.state, self.evaluator.table
        total = self.total / state.resolution
        if self.votes:
            return float(max(1, state.n_seen))
        if not total:
            return 1.0
        if table is not None:
            mantissa, exponent = table.largest
            largest = float(np.ldexp(mantissa, exponent - self.score_exponent))
        elif state.config.is_precomputed:
            largest = state.largest_diagonal
        else:
            support, _ = self._lay_out(state.table)
            largest = float(np.abs(self.evaluator.diagonal(support)).max())
        return largest * total or 1.0

    def _lay_out(self, table):
        """Lay out the support samples, once, and a table of queries."""
        state, config = self.state, self.state.config
        if config.is_precomputed:
            if table.shape[1] <= state.support.max(initial=-1):
                raise ValueError("X has fewer columns than the fitted kernel matrix.")
            return (
                GramRows(table, state.support),
                GramRows(table, np.arange(len(table))),
            )
        width = config.n_features
        width = width if sparse.issparse(table) else max(1, -(-width // 64))
        if table.shape[1] != width:
            raise ValueError(
                f"The fitted state has {config.n_features} features, and X has another "
                "number: n_features_in_ was changed."
            )
        as_sparse = sparse.issparse(table) or sparse.issparse(state.table)
        if as_sparse not in self._layouts:
            layout = self.evaluator.layout(state.table, as_sparse)
            self._layouts[as_sparse] = layout, layout(state.table)
        layout, support = self._layouts[as_sparse]
        return support, support if table is state.table else layout(table)

    def norms(self, table):
        """Compute sqrt(K(x, x)) of each sample; 1 for 0."""
        _, queries = self._lay_out(table)
        evaluator = self.evaluator
        counts = evaluator.table
        if counts.count == "common" and queries.ones.max(initial=0) > counts.max_count:
            # The table ends at the largest count between support samples and others.
            evaluator = make_evaluator(self.state.config, table)
        return kernel_norms(evaluator, queries)

    def scores(self, table, n_jobs):
        """Compute the score of each sample, shape (n_samples, n_scores), float64."""
        support, queries = self._lay_out(table)
        evaluator = self.evaluator.with_threads(n_jobs)
        if self.votes:
            return self._all_votes(evaluator, support, queries)
        sums = np.zeros((len(self.weights), len(queries)))
        evaluator.add_queries(support, self.weights, queries, sums, exact=self.is_exact)
        # Without exact arithmetic both exponents are 0.
        shift = evaluator.shift - self.score_exponent
        scores = np.ldexp(sums / self.state.resolution, shift).T
        if self.is_certified:
            for i in self._rounded(evaluator, support, queries, sums).tolist():
                scores[i] = self._exact_scores(support, queries.take(slice(i, i + 1)))
        return np.ascontiguousarray(scores)

    def _rounded(self, evaluator, support, queries, sums):
        """Find the samples whose sign or winner rounding might have changed."""
        slack = rounding_slack(len(support))
        # No sum of absolute terms is above this one, which is enough for most samples.
        mantissa, exponent = evaluator.table.largest
        largest = slack * np.ldexp(mantissa * self.total, exponent - evaluator.shift)
        near = np.flatnonzero(_unclear(sums, np.full(sums.shape, largest + TINY)))
        if not len(near):
            return near
        sizes = np.zeros((len(sums), len(near)))
        evaluator.add_queries(support, np.abs(self.weights), queries.take(near), sizes)
        return near[_unclear(sums[:, near], slack * sizes + TINY)]

    def _exact_scores(self, support, query):
        """Compute the scores of one sample with the exact sign and winner."""
        values = self.evaluator.exact_scores(support, self.coef, query)
        scale = self.evaluator.table.scale + self.state.resolution.bit_length() - 1
        scale += self.score_exponent
        row = np.array([float_of_exact(value, scale) for value in values])
        winner = values.index(max(values))
        if row.argmax() != winner:
            # Two classes differ by less than float64 shows; the first in exact
            # arithmetic stays first.
            row[winner] = np.nextafter(row.max(), np.inf)
        return row

    def _all_votes(self, evaluator, support, queries):
        """Count the votes of the hypotheses of each problem, as float64."""
        history, n_scores = self.state.update_history, len(self.coef)
        if n_scores == 1 or self.state.config.joint:
            problems = [(history, n_scores)]
        else:
            problems = [(history[:, history[1] == k], 1) for k in range(n_scores)]
        votes = [
            self._vote(evaluator, support, changes, queries, height)
            for changes, height in problems
        ]
        return np.hstack(votes).astype(np.float64)

    def _vote(self, evaluator, rows, changes, queries, n_scores):
        """Count the votes of all hypotheses of one problem.

        With one score the votes are +1 and -1. With more, a vote goes to the class of
        the largest score. A hypothesis votes once for each example that it survived.
        """
        positions, numbers, deltas, times = changes
        numbers = numbers * (n_scores > 1)
        # The zero hypothesis lasts until the first change; the hypothesis after a
        # change is in force from that example on. Two changes at one time are one.
        edges = np.concatenate([times, [self.state.n_seen + 1]])
        survivals = np.diff(edges, prepend=1).astype(np.int64)
        table = evaluator.table
        total = int(np.abs(deltas).sum())
        certified = table is not None and not table.is_exact_in_float64(total)
        slack = rounding_slack(len(deltas)) if certified else 0.0
        votes = np.zeros((len(queries), n_scores), dtype=np.int64)
        undecided = np.zeros(len(queries), dtype=np.uint8)
        run = np.ascontiguousarray(positions), numbers.astype(np.int32)
        run = *run, deltas.astype(np.float64), survivals
        state = np.empty((2 * n_scores, 1))
        hypotheses = Hypotheses(*run, slack, state)
        step = max(1, PAIRS_AT_A_TIME // max(1, len(rows)))
        for first in range(0, len(queries), step):
            part = slice(first, min(first + step, len(queries)))
            columns = evaluator.columns(queries.take(part))
            K = np.ascontiguousarray(evaluator.matrix(rows, columns).T)
            hypotheses.vote(K, votes[part], undecided[part])
        for i in np.flatnonzero(undecided).tolist():
            counts = evaluator.counts(rows, queries.take(slice(i, i + 1)))
            terms = zip(positions, numbers, deltas, strict=True)
            votes[i] = _exact_votes(table, counts, terms, survivals, n_scores)
        return votes


def _unclear(sums, bounds):
    """Find the samples whose sign or winner rounding might have changed."""
    unclear = (np.abs(sums) <= CLEAR * bounds).any(axis=0)
    if len(sums) > 1:
        # The largest score must lead the others by more than rounding.
        best = sums.argmax(axis=0)
        columns = np.arange(sums.shape[1])
        lead = sums[best, columns] - sums
        lead[best, columns] = np.inf
        unclear |= (lead <= bounds + bounds[best, columns]).any(axis=0)
    return unclear


def _exact_votes(table, counts, terms, survivals, n_scores):
    """Count the votes for one sample with Python integers."""
    values = {c: table.numerator(c) for c in np.unique(counts).tolist()}
    kernel = [values[c] for c in counts.tolist()]
    scores, votes = [0] * n_scores, np.zeros(n_scores, dtype=np.int64)
    for survival, term in zip(survivals.tolist(), [None, *terms], strict=True):
        if term is not None:
            position, hypothesis, delta = map(int, term)
            scores[hypothesis] += delta * kernel[position]
        if n_scores == 1:
            votes[0] += survival if scores[0] >= 0 else -survival
        else:
            votes[scores.index(max(scores))] += survival
    return votes
