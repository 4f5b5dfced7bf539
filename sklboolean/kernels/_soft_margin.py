"""The dual of the soft-margin machine, solved in blocks without a kernel matrix.

Minimise 1/2 a'Qa - sum a over 0 <= a_i <= box_i with y'a = 0, where
Q_ij = y_i y_j K(x_i, x_j). With f_i = sum_j a_j y_j K_ij and v_i = f_i - y_i, a is
optimal if no sample that may move up (y_i a_i may grow) has a v below that of a sample
that may move down. The largest such difference is the gap.

A block holds the samples that violate this most, half of them taken over from the block
before. Its own kernel matrix is formed and its dual is solved; then the changes are
added to v of all samples (Joachims 1999; Wen et al. 2018). Samples at a bound that
cannot be chosen are left out for a while (shrinking). At the end their v is brought up
to date and the gap is checked for all samples.

Where samples satisfy few conjunctions, f is a sum of their weights. Then one a_i after
the other moves to its minimum and changes these weights (Hsieh et al. 2008): a pass
over the samples takes a time in proportion to them. The intercept is the multiplier of
y'a = 0, with a penalty on its square (method of multipliers).
"""

# `solve_dual`, in steps:
# 1. `measure_gap` finds v of the samples that may move up and down, and the gap.
# 2. Every SHRINK_EVERY blocks, samples that cannot be chosen are left out (`shrink`).
# 3. `improve` chooses a block (`choose_block`), forms its matrix K of shape
# (block_size, block_size), solves its dual by sequential minimal optimisation
# (`_smo.pyx`: Fan, Chen, Lin 2005), and adds the changes to v of the active samples.
# 4. When the gap is below tol, the samples left out come back (`take_back`); it is over
# when the gap of all samples is below tol.
# Invariant: v[active] = K @ (alpha * y) - y, with 0 <= alpha <= box and y @ alpha = 0.
# `WeightDescent.improve` is step 3 with passes over single samples.
# Joachims 1999 (blocks, shrinking); Wen et al. 2018 (half of the last block stays);
# Hsieh, Chang, Lin, Keerthi, Sundararajan 2008 (passes).

from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy import sparse

from sklboolean._core._popcount import FEW_COLUMNS
from sklboolean._core.bits import BitColumns, as_words
from sklboolean._core.parallel import each_slice
from sklboolean.kernels._conjunction_weights import ConjunctionWeights, n_additions
from sklboolean.kernels._count_table import SMALLEST, smaller_values
from sklboolean.kernels._evaluators import (
    SampleLayout,
    evaluator_of_bits,
    seconds_of_pairs,
    too_large_message,
)
from sklboolean.kernels._smo import find_movable, solve_block

# A block is solved to this part of the gap of all samples.
BLOCK_PRECISION = 0.1
STEPS_PER_SAMPLE = 100
# Blocks between two looks for samples to leave out, and the least share to leave out.
SHRINK_EVERY = 8
SHRINK_SHARE = 0.2
# Up to so many samples are one block.
SINGLE_BLOCK = 1024
# Blocks add up this share of all pairs, where labels are not very noisy.
PAIRS_OF_BLOCKS = 1 / 8
# So few features are packed, also if samples are sparse.
MOST_PACKED = 256
# Samples that one thread looks at before another has started.
SAMPLES_FOR_THREADS = 2**13
# Passes over single samples: visits of each sample between two looks at all, samples
# between two looks for an interrupt, and neighbours that are visited together.
VISITS, SAMPLES_AT_A_TIME, NEIGHBOURS = 4, 2**16, 32
# Passes over samples that are not kept at a bound, between two over all, at most; they
# end where the largest derivative falls to this part.
PASSES_OF_FREE, SETTLED = 20, 0.3
# A sample of many copies has so many visits in a pass at most: its dual has a long way.
MOST_VISITS = 64
# The penalty on the sum of a_i y_i, as a part of the mean of K(x, x).
PENALTY = 0.01
# They end, too, where the duality gap is at most this part of tol times the objective.
GAP_SHARE = 0.03
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Solution:
    """The solution of one dual.

    Attributes
    ----------
    coef : ndarray of shape (n_samples,), float64
        a_i y_i.
    intercept : float
    n_iter : int
        Blocks that were solved.
    gap : float
        Largest violation of the conditions of optimality.
    dual_gap : float
        Objective of the primal less that of the dual.
    is_solved : bool
        Whether ``tol`` was reached.
    """

    coef: np.ndarray
    intercept: float
    n_iter: int
    gap: float
    dual_gap: float
    is_solved: bool


class BitKernel:
    """A kernel object between samples of one table and others, normalised or not.

    Parameters
    ----------
    kernel : kernel object
        With ``normalize``, values are divided by the norms of both samples.
    n_features : int
    table : ndarray of uint64 words, or csr_array
        The samples.
    n_jobs : int or None
        Number of threads.

    Attributes
    ----------
    rows : BitRows
        The samples, laid out.
    """

    def __init__(self, kernel, n_features, table, n_jobs=None):
        self.n_features, self.n_jobs = n_features, n_jobs
        table = as_words(table) if n_features <= MOST_PACKED else table
        self.is_sparse = sparse.issparse(table)
        self.layout = SampleLayout(table, n_features, self.is_sparse).rows
        self.rows = self.layout(table)
        self._set_kernel(kernel)

    def _set_kernel(self, kernel):
        most = int(self.rows.ones.max(initial=0))
        formula = kernel.formula(self.n_features, most)
        self.kernel = kernel
        self.evaluator = evaluator_of_bits(formula, self.n_features, self.n_jobs)
        self._factors = np.zeros(0)
        if getattr(kernel, "normalize", False):
            self._set_factors(formula)

    def with_kernel(self, kernel):
        """Make the same for another kernel."""
        other = copy(self)
        vars(other).pop("whole_matrix", None)
        other._set_kernel(kernel)
        return other

    def with_threads(self, n_jobs):
        """Make a copy that uses so many threads."""
        if n_jobs is None:
            return self
        other = copy(self)
        other.evaluator = self.evaluator.with_threads(n_jobs)
        return other

    @property
    def has_few_conjunctions(self):
        """Whether sums over conjunctions are quicker than pairs of samples."""
        is_large = len(self.rows) > SINGLE_BLOCK
        return is_large and ConjunctionWeights.suits(
            self.evaluator, self.rows, of_integers=False, pairs=PAIRS_OF_BLOCKS
        )

    @property
    def expected_seconds(self):
        """The seconds of a fit to two classes of these samples, with noise."""
        if not self.has_few_conjunctions:
            return seconds_of_pairs(self.rows)
        n, table = len(self.rows), self.evaluator.table
        return 3e-8 * n**1.2 * (n_additions(table, self.rows) / n) ** 0.8

    def part(self, samples):
        """Make a kernel between some of the samples."""
        other = copy(self)
        other.rows = self.rows.take(samples)
        if "whole_matrix" in vars(self):
            other.whole_matrix = self.whole_matrix[np.ix_(samples, samples)]
        return other

    def scale(self, rows):
        """Compute 1 / sqrt(K(x, x)) of each sample, or None without normalisation."""
        if not getattr(self.kernel, "normalize", False):
            return None
        most = int(rows.ones.max(initial=0))
        if most >= len(self._factors):
            self._set_factors(self.kernel.formula(self.n_features, most))
        return self._factors[rows.ones]

    def _set_factors(self, table):
        """Tabulate 1 / sqrt(K(x, x)) for each number of true features."""
        values = table.values()
        if np.isinf(values).any():
            raise ValueError(too_large_message(smaller_values(self.kernel.decay)))
        if table.count == "same":
            values = np.full(self.n_features + 1, values[-1])
        self._factors = np.zeros(len(values))
        np.divide(1.0, np.sqrt(values), out=self._factors, where=values > 0)

    def norms(self):
        """Compute sqrt(K(x, x)) of each sample before normalisation; 1 for 0."""
        scale = self.scale(self.rows)
        return np.divide(1.0, scale, out=np.ones(len(scale)), where=scale > 0)

    @cached_property
    def whole_matrix(self):
        """The kernel between all samples, for few of them."""
        return self.matrix(self.rows)

    def matrix(self, rows):
        """Evaluate the kernel between samples."""
        columns, scale = BitColumns.from_rows(rows), self.scale(rows)
        if scale is not None and self.evaluator.table.count == "common":
            return self.evaluator.matrix(rows, columns, symmetric=True, normalize=True)
        K = self.evaluator.matrix(rows, columns, symmetric=True)
        if scale is not None:  # the same of all samples
            K *= scale[0] ** 2
        return K

    def _corner(self, weights, n_samples):
        """Evaluate the kernel between the first samples; share out their weights."""
        if len(self.rows) <= SINGLE_BLOCK:
            K = self.whole_matrix[:n_samples, :n_samples]
        else:
            K = self.matrix(self.rows.take(slice(n_samples)))
        return K, weights[:n_samples] / weights[:n_samples].sum()

    def spread(self, weights, n_samples):
        """Estimate the mean of K(x, x) less the mean of K(x, z)."""
        K, shares = self._corner(weights, n_samples)
        if (K == K[0, 0]).all():  # what rounding leaves of the sums is no spread
            return 0.0
        return float(shares @ K.diagonal() - shares @ K @ shares)

    def similarity(self, weights, n_samples):
        """Estimate the mean of K(x, z) over pairs of different samples."""
        K, shares = self._corner(weights, n_samples)
        pairs = np.outer(shares, shares)
        np.fill_diagonal(pairs, 0.0)
        total = pairs.sum()
        # 0 if one sample has all the weight that float64 can tell from 0.
        return float((pairs / total * K).sum()) if total > 0 else 1.0

    def sums(self, rows, coef, others, columns=None):
        """Compute ``coef @ K(rows, others)``.

        ``columns`` are the same samples as ``others``, laid out as columns.
        """
        columns = BitColumns.from_rows(others) if columns is None else columns
        scale = self.scale(rows)
        coef = coef if scale is None else coef * scale
        out = np.zeros((len(coef), len(others)))
        self.evaluator.add(rows, coef, columns, out)
        scale = self.scale(others)
        return out if scale is None else out * scale

    def lay_out(self, table):
        """Lay out the samples of another table."""
        if sparse.issparse(table) and not self.is_sparse:
            table = as_words(table)
        return self.layout(table)

    def scores(self, coef, queries):
        """Compute ``coef @ K(samples, queries)`` for samples that were laid out."""
        columns = BitColumns.from_rows(queries)
        if len(queries) <= FEW_COLUMNS:  # that the kernel is evaluated once is quicker
            return self.sums(self.rows, coef, queries, columns)
        scores = np.empty((len(coef), len(queries)))
        for score_coef, out in zip(coef, scores, strict=True):
            used = np.flatnonzero(score_coef)
            rows = self.rows if len(used) == len(score_coef) else self.rows.take(used)
            out[:] = self.sums(rows, score_coef[None, used], queries, columns)[0]
        return scores


def merge_equal_samples(table, codes, weights):
    """Merge equal samples of one class and leave out those of weight 0.

    Returns
    -------
    first : ndarray of shape (n_distinct,), int64
        The first of each set of equal samples, in an order that depends on the samples
        only.
    weights : ndarray of shape (n_distinct,), float64
        Sums of weights.
    """
    used = np.flatnonzero(weights > 0)
    table = table if len(used) == len(codes) else table[used]
    keys = sample_keys(table)
    codes, weights = codes[used], weights[used]
    order = np.lexsort((keys, codes))
    ordered = table[order]
    if sparse.issparse(table):
        differs = (ordered[1:] != ordered[:-1]).sum(axis=1) > 0
    else:
        differs = (ordered[1:] != ordered[:-1]).any(axis=1)
    differs |= codes[order[1:]] != codes[order[:-1]]
    group = np.concatenate([[0], np.cumsum(differs)])
    first = order[np.flatnonzero(np.concatenate([[True], differs]))]
    # In the order of the keys, not of the classes.
    sums = np.bincount(group, weights[order])
    again = np.argsort(keys[first], kind="stable")
    return used[first[again]], sums[again]


def sample_keys(table):
    """Sum up a number of 64 bits for each true feature, the same for words and CSR."""
    if sparse.issparse(table):
        numbers = feature_numbers(table.shape[1])
        sums = np.zeros(len(table.indices) + 1, dtype=np.uint64)
        np.cumsum(numbers[table.indices], out=sums[1:])
        return sums[table.indptr[1:]] - sums[table.indptr[:-1]]
    keys = np.zeros(len(table), dtype=np.uint64)
    sums = byte_sums(table.shape[1])
    for byte, column in enumerate(table.astype("<u8", copy=False).view(np.uint8).T):
        keys += sums[byte, column]
    return keys


@lru_cache(maxsize=4)
def byte_sums(n_words):
    """Tabulate the sum of the features of each byte of the words."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], 1, bitorder="little")
    numbers = feature_numbers(64 * n_words).reshape(-1, 8)
    return numbers @ bits.T.astype(np.uint64)


def feature_numbers(n_features):
    """Make a number of 64 bits for each feature."""
    numbers = np.arange(1, n_features + 1, dtype=np.uint64) * MULTIPLIER
    numbers ^= numbers >> np.uint64(29)
    return numbers * MULTIPLIER


def solve_dual(bits, y, box, tol, max_iter, report=None):
    """Solve the dual for one vector of labels.

    Parameters
    ----------
    bits : BitKernel
        The kernel and the samples.
    y : ndarray of shape (n_samples,), float64
        -1 and 1.
    box : ndarray of shape (n_samples,), float64
        Upper bounds.
    tol : float
        Largest gap.
    max_iter : int
        Largest number of blocks.
    report : callable or None
        ``report(gap)`` is called before each block; it returns whether to stop.

    Returns
    -------
    solution : Solution
    """
    way = WeightDescent if bits.has_few_conjunctions else BlockDescent
    descent, n_iter = way(bits, y, box, tol), 0
    while True:
        gap = descent.measure_gap()
        if descent.is_solved or n_iter == max_iter:
            if not descent.left_out:
                break
            descent.take_back()
            continue
        n_iter += 1
        if n_iter % SHRINK_EVERY == 0 and descent.shrink():
            continue
        if report is not None and report(gap):
            max_iter = n_iter
        if not descent.improve():
            break
    return descent.solution(n_iter)


class BlockDescent:
    """The coefficients of one dual while it is solved, and v of its samples.

    Parameters
    ----------
    bits, y, box, tol
        As for `solve_dual`.

    Attributes
    ----------
    alpha, v : ndarrays of shape (n_samples,), float64
    active : ndarray of int
        The samples whose v is kept up to date. They are laid out as columns.
    left_out : list of pairs
        Samples, and the coefficients of all samples when these were left out.
    """

    def __init__(self, bits, y, box, tol):
        self.bits, self.y, self.box, self.tol = bits, y, box, tol
        self.alpha, self.v = np.zeros(len(y)), -y
        self.block, self.block_size = np.zeros(0, dtype=np.int64), block_size(len(y))
        # Few samples are one block, whose matrix is formed once.
        self.K = bits.whole_matrix if len(y) <= self.block_size else None
        self.left_out = []
        self._activate(np.arange(len(y)))

    def _activate(self, samples):
        """Keep v of these samples up to date."""
        is_whole = len(samples) == len(self.bits.rows)
        self.active = samples
        self.rows = self.bits.rows if is_whole else self.bits.rows.take(samples)
        self.columns = BitColumns.from_rows(self.rows)

    def measure_gap(self):
        """Compute the gap of the active samples."""
        # v of the samples that may move up, else inf, and down, else -inf.
        self.up, self.down = np.empty((2, len(self.active)))
        ends = []

        def find(first, last):
            here = slice(first, last)
            of_samples = self.y, self.box, self.alpha, self.v
            movable = self.up[here], self.down[here]
            ends.append(find_movable(self.active[here], *of_samples, *movable))

        small = len(self.active) < SAMPLES_FOR_THREADS
        each_slice(find, len(self.active), self.bits.n_jobs, small=small)
        least, most = zip(*ends, strict=True)
        self.least, self.most = min(least), max(most)
        self.gap = self.most - self.least
        return self.gap

    @property
    def is_solved(self):
        """Whether the gap that was measured last is below ``tol``."""
        return self.gap < self.tol

    def shrink(self):
        """Leave out samples that cannot be chosen; return whether these were enough."""
        if self.K is not None or len(self.active) <= 2 * self.block_size:
            return False
        v = self.v[self.active]
        # They can move one way only, and no sample gains from it.
        stuck = ((self.up == np.inf) & (v < self.least)) | (
            (self.down == -np.inf) & (v > self.most)
        )
        if stuck.mean() <= SHRINK_SHARE:
            return False
        self.left_out.append((self.active[stuck], self.alpha * self.y))
        self._activate(self.active[~stuck])
        return True

    def take_back(self):
        """Bring v of the samples that were left out up to date; activate them."""
        bits, coef = self.bits, self.alpha * self.y
        for samples, earlier in self.left_out:
            changed = np.flatnonzero(coef != earlier)
            if len(changed):
                changes = coef[changed] - earlier[changed]
                rows = bits.rows.take(samples)
                sums = bits.sums(bits.rows.take(changed), changes[None, :], rows)
                self.v[samples] += sums[0]
        self.left_out = []
        self._activate(np.arange(len(coef)))

    def improve(self):
        """Solve one block; return whether that changed a coefficient."""
        if self.K is not None:
            _, self.v = self._solve_block(self.active, self.K, 0.2 * self.tol)
            return True
        self.block = choose_block(
            self.up, self.down, self.active, self.block, self.block_size,
            self.bits.n_jobs,
        )  # fmt: skip
        rows = self.bits.rows.take(self.block)
        precision = max(BLOCK_PRECISION * self.gap, 0.5 * self.tol)
        changes, _ = self._solve_block(self.block, self.bits.matrix(rows), precision)
        changed = np.flatnonzero(changes)
        if not len(changed):
            return False
        self.v[self.active] += self.bits.sums(
            rows.take(changed), changes[None, changed], self.rows, self.columns
        )[0]
        return True

    def _solve_block(self, block, K, precision):
        """Solve the dual of some samples; return changes of a_i y_i, and their v."""
        alpha, y, v = self.alpha[block], self.y[block], self.v[block]
        solve_block(
            K, y, self.box[block], alpha, v, precision, STEPS_PER_SAMPLE * len(block)
        )
        changes = (alpha - self.alpha[block]) * y
        self.alpha[block] = alpha
        return changes, v

    def solution(self, n_iter):
        """Make the `Solution`."""
        intercept, dual_gap = self.duality_gap()
        coef, gap, is_solved = self.alpha * self.y, float(self.gap), self.is_solved
        return Solution(coef, intercept, n_iter, gap, dual_gap, is_solved)

    def duality_gap(self):
        """Compute the intercept and the duality gap."""
        alpha, y, box = self.alpha, self.y, self.box
        coef, scores = alpha * y, self.v + y
        # Between the bounds y_i (f_i + b) = 1 holds; without such samples b is in the
        # middle of what the conditions allow. Labels of one class allow a half-line.
        free = (alpha > 0) & (alpha < box)
        middle = (self.least + self.most) / 2
        if np.isinf(middle):  # any score beyond the margin will do: three margins
            middle = -3.0 * y[0]
        intercept = -self.v[free].mean() if free.any() else -middle
        loss = box @ np.maximum(0, 1 - y * (scores + intercept))
        return float(intercept), float(coef @ scores + loss - alpha.sum())


class WeightDescent(BlockDescent):
    """The same, solved sample by sample on the weights of their conjunctions.

    Attributes
    ----------
    weights : ConjunctionWeights
        Weights of all samples with the coefficients a_i y_i.
    scale, curve : ndarrays of shape (n_samples,), float64
        1 over the norm of each sample, and its K(x, x).
    visits : ndarray of shape (n_samples,), int64
        Visits of each sample in a pass.
    multiplier, penalty : float
        What is added to all scores, and the part of it that the sum of a_i y_i makes.
    limit : float
        Largest derivative of a sample that could move, in the last pass.
    """

    def __init__(self, bits, y, box, tol):
        super().__init__(bits, y, box, tol)
        scale = bits.scale(bits.rows)
        self.scale = np.ones(len(y)) if scale is None else scale
        self.curve = self.scale**2 * bits.evaluator.diagonal(bits.rows)
        self.rate = PENALTY * self.curve.mean() or 1.0
        self.weights = ConjunctionWeights(bits.evaluator, 1)
        self.multiplier, self.penalty, self.limit = 0.0, 0.0, np.inf
        visits = np.ceil(box / max(box.mean(), SMALLEST))
        self.visits = np.clip(visits, 1, MOST_VISITS).astype(np.int64)
        self.rng = np.random.RandomState(0)

    @property
    def is_solved(self):
        """Whether one of the gaps is small enough."""
        if self.gap < self.tol:
            return True
        _, dual_gap = self.duality_gap()
        dual = self.alpha.sum() - (self.alpha * self.y) @ (self.v + self.y) / 2
        return dual_gap <= GAP_SHARE * self.tol * dual

    def shrink(self):
        """Leave out none: each pass does."""
        return False

    def improve(self):
        """Pass over the samples that may move; return whether that changed one."""
        before, slope = self.alpha.copy(), self.y * (self.v + self.multiplier)
        stuck = (self.alpha <= 0) & (slope > self.limit)
        stuck |= (self.alpha >= self.box) & (slope < -self.limit)
        if not stuck.all():
            self._visit(self.active[~stuck], VISITS * len(stuck))
        self._balance()
        self.v = self.weights.scores(self.rows, self.bits.n_jobs)[0] * self.scale
        self.v -= self.y
        return (self.alpha != before).any()

    def _visit(self, samples, n_left):
        """Pass over samples until they hardly move, with about so many visits."""
        # Copies side by side: the samples are visited in a random order.
        rows, visits = self.weights.of(self.rows.take(samples)), self.visits[samples]
        arrays = self.y, self.box, self.scale, self.curve, self.alpha
        arrays = [values[samples] for values in arrays]
        moving = np.arange(len(samples))
        while n_left > 0 and len(moving):
            n_left -= len(moving)
            moving, self.limit = self._pass(moving, visits, rows, arrays, self.limit)
            if self.limit < 0.4 * self.tol:
                break
            # Those that move settle among themselves before the others are looked at.
            freed, largest = moving, self.limit
            for _ in range(PASSES_OF_FREE):
                if not len(freed) or largest < SETTLED * self.limit:
                    break
                n_left -= len(freed)
                freed, largest = self._pass(freed, visits, rows, arrays, -1.0)
        self.alpha[samples] = arrays[-1]

    def _pass(self, samples, visits, rows, arrays, limit):
        """Visit samples in a new order.

        Returns
        -------
        moving : ndarray of int
            Without samples at a bound that a derivative above ``limit`` keeps there.
        largest : float
            Largest derivative of a sample that could move.
        """
        more = np.repeat(samples, visits[samples] - 1)
        order = np.append(samples, self.rng.permutation(more))
        cut = len(order) - len(order) % NEIGHBOURS
        blocks = self.rng.permutation(order[:cut].reshape(-1, NEIGHBOURS))
        order = np.append(blocks.ravel(), order[cut:])
        largest, intercept = 0.0, self.multiplier + self.penalty
        is_moving = np.zeros(len(visits), dtype=bool)
        for first in range(0, len(order), SAMPLES_AT_A_TIME):
            part = order[first : first + SAMPLES_AT_A_TIME]
            n_kept, most, intercept = rows.descend(
                part, *arrays, intercept, self.rate, limit
            )
            is_moving[part[:n_kept]] = True
            largest = max(largest, most)
        self.penalty, self.multiplier = intercept - self.multiplier, intercept
        return np.flatnonzero(is_moving), largest

    def _balance(self):
        """Make the sum of a_i y_i 0 by samples between the bounds, if there are any."""
        excess, self.penalty = self.y @ self.alpha, 0.0
        side = np.flatnonzero((self.y * excess > 0) & (self.alpha > 0))
        if not len(side):
            return
        side = side[np.argsort(self.alpha[side] >= self.box[side], kind="stable")]
        sums = np.cumsum(self.alpha[side])
        changed = side[: 1 + np.searchsorted(sums, abs(excess))]
        left = np.zeros(len(changed))
        left[-1] = max(0.0, sums[len(changed) - 1] - abs(excess))
        changes = (left - self.alpha[changed]) * self.y[changed]
        self.alpha[changed] = left
        self.weights.add(self.rows.take(changed), [changes * self.scale[changed]])


def block_size(n_samples):
    """Choose the number of samples in a block: larger where a pass costs more."""
    if n_samples <= SINGLE_BLOCK:
        return n_samples
    return min(512, max(256, n_samples // 32))


def choose_block(up, down, active, last, size, n_jobs=1):
    """Choose half a block of the worst violators, and half of the last block."""
    half = (size - len(last) // 2) // 2
    if 2 * half >= len(active):
        return active
    # Marks for sample numbers; the newer half of the last block comes first.
    chosen = np.zeros(1 + max(active.max(), last.max(initial=0)), dtype=bool)
    chosen[last[len(last) // 2 :]] = True
    is_kept = chosen[active]  # without those that are left out by now
    chosen[:] = False

    def choose(first, last):
        for values in (up, -down)[first:last]:
            chosen[active[np.argpartition(values, half)[:half]]] = True

    each_slice(choose, 2, n_jobs, small=len(active) < SAMPLES_FOR_THREADS)
    from_last_block = active[is_kept]
    chosen[from_last_block] = False
    return np.concatenate([from_last_block, np.flatnonzero(chosen)])
