"""Weighted sums of conjunctions of smallest penalized loss, over all conjunctions.

The objective is C times the loss of ``b + sum of w[c] over the conjunctions c that the
sample satisfies``, plus the sum of ``price(c) * abs(w[c])`` over all conjunctions of up
to ``max_literals`` literals. It is convex. A conjunction outside the model can lower it
only if the absolute sum of the residuals of its samples exceeds its price, which is
what `search_conjunctions` looks for. The same search bounds the duality gap.
"""

# Steps of `ColumnGeneration.minimize`, for one C:
# 1. Solve the L1 problem over the present columns (`L1Problem`), only as closely as the
#    last search calls for.
# 2. For each output search for conjunctions whose absolute sum of residuals is above
#    their price: no other one can lower the objective. The search is by tables of all
#    sums where these are small, else by branch and bound. One pass over the samples
#    adds up the tables of eight outputs. The search is of a limited width first, also
#    where tables of several outputs would take long.
# 3. Add some of them that are different, drop those of weight 0, and go to 1.
# 4. The last search is exact, where a proof is asked for. Residuals divided by the
#    largest ratio of a sum to its price are feasible for the dual problem, which bounds
#    the gap. All that rounding can do is added to that ratio, or to the gap (`_dual`):
#    what rounding to digits leaves out of a sum, and the errors of float64.
#
# Column 0 is the intercept, of price 0; column k holds conjunction k - 1. Columns are
# bits, of shape (n_columns, n_words); coefficients have shape (n_outputs, n_columns).
# Work is counted by sizes, not by the clock: equal data give the same model anywhere.
# Nakagawa et al., "Safe Pattern Pruning", KDD 2016, search in the same way.

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain, combinations, repeat

import numpy as np
from scipy.special import entr, xlog1py

from sklboolean._core.bits import (
    as_words,
    pack_dense,
    transpose_words,
    unpack_words,
)
from sklboolean._core.conjunction_search import (
    QUICK_TABLE,
    ConjunctionSearch,
    satisfied_by,
)
from sklboolean._core.conjunction_table import ABREAST, ones_of
from sklboolean._core.directions import signs_of_weights
from sklboolean.rules._bit_columns import add_columns, add_scores, fill_covers
from sklboolean.rules._l1_problem import L1Problem

# Conjunctions that a search may add for an output at least and at most, their share of
# those in use, how many times as many it lists, how many may share two literals, and
# those of each length that inexact searches extend.
N_ADDED, MOST_ADDED, SHARE_ADDED, SHOWN, N_SHARED, WIDTH = 100, 300, 0.2, 3, 2, 256
# Inexact searches, and those of several outputs for a model that only chooses C, end
# when a solution lowers the objective by less than this share of it, or less than the
# tolerance.
FLAT = 0.003
# Nanoseconds of tables that a model of one output takes at most to choose C:
# those of 600 features and more take several times as long as inexact searches, and the
# C is as good (measured on samples of 130 to 1500).
QUICK_FOR_ONE = 3e7
# Share of the work limit that exact searches by branch and bound may take besides.
PROOF = 0.1
# Relative error, at most, of a product, an entropy or a sum over samples in float64.
# Sums are pairwise: of 2**40 numbers they err by less than 2**-46 of the absolute sum.
ROUNDING, SMALLEST = 2.0**-46, np.finfo(np.float64).tiny
# From so many samples on, scores are summed up column by column (measured).
MANY_SAMPLES = 256
# Conjunctions without weight that are kept, besides twice as many as have one.
MANY = 200


@dataclass(frozen=True)
class ConjunctionSpace:
    """The conjunctions of a model and their prices.

    Attributes
    ----------
    n_features : int
    max_literals : int
    monotone : bool
        Whether conjunctions consist of true features only.
    literal_cost : float
        Factor of the price for each literal but the first.
    feature_groups : ndarray of shape (n_features,) or None
        Features of one label never occur together.
    conjunction_cost : float
        Factor of the price of conjunctions of two literals and more.
    directions : ndarray of shape (n_features,), int8, or None
        1 where the score must not fall when the feature becomes true, -1 where it must
        not rise, else 0. All literals of a conjunction allow the sign of its weight.
    """

    n_features: int
    max_literals: int
    monotone: bool
    literal_cost: float
    feature_groups: object = None
    conjunction_cost: float = 1.0
    directions: object = None

    def prices(self, conjunctions):
        """Compute the price of each conjunction."""
        return self._prices_of([len(literals) for literals in conjunctions])

    def signs(self, conjunctions):
        """Compute the sign of the weight of each conjunction; 0: either."""
        return signs_of_weights(conjunctions, self.directions)

    def factors(self):
        """Compute what the search multiplies sums by: one over the price."""
        longest = min(self.max_literals, self.n_features)
        return np.r_[0.0, 1 / self._prices_of(range(1, longest + 1))]

    def _prices_of(self, lengths):
        lengths = np.array(lengths, dtype=np.float64)
        factors = np.where(lengths > 1, self.conjunction_cost, 1.0)
        return factors * self.literal_cost ** (lengths - 1)


@dataclass(frozen=True)
class ConjunctionSum:
    """An intercept plus a weight for each conjunction that a sample satisfies.

    Attributes
    ----------
    conjunctions : tuple of tuples of (feature, value) pairs
    coefficients : ndarray of shape (n_outputs, n_conjunctions)
    intercepts : ndarray of shape (n_outputs,)
    indptr, literals : ndarrays
        The conjunctions as the compiled loops take them.
    """

    conjunctions: tuple
    coefficients: np.ndarray
    intercepts: np.ndarray
    indptr: np.ndarray = field(init=False)
    literals: np.ndarray = field(init=False)

    def __post_init__(self):
        indptr, literals = encode_conjunctions(self.conjunctions)
        object.__setattr__(self, "indptr", indptr)
        object.__setattr__(self, "literals", literals)

    def scores(self, X):
        """Compute the sums, of shape (n_samples, n_outputs), from Boolean samples."""
        scores = np.empty((X.shape[0], len(self.intercepts)))
        scores[:] = self.intercepts
        if not len(self.conjunctions):
            return scores
        words = as_words(X)
        if len(words) < MANY_SAMPLES:
            add_scores(words, self.indptr, self.literals, self.coefficients, scores)
            return scores
        for first in range(0, len(words), 2**16):
            block = slice(first, first + 2**16)
            scores[block] = self._scores_by_columns(words[block])
        return scores

    def _scores_by_columns(self, words):
        """Compute the same sums from the samples of each conjunction, as bits."""
        features = transpose_words(words, int(self.literals.max()) // 2 + 1)
        samples = pack_dense(np.ones((1, len(words)), dtype=np.uint8))[0]
        covers = np.empty((len(self.conjunctions), len(samples)), dtype=np.uint64)
        fill_covers(features, samples, self.indptr, self.literals, covers)
        scores = np.empty((len(self.intercepts), 64 * len(samples)))
        scores[:] = self.intercepts[:, None]
        add_columns(covers, self.coefficients, scores, 0, len(samples))
        return scores[:, : len(words)].T

    def satisfied(self, words):
        """Mark the conjunctions that each sample satisfies, of shape (n_samples, m)."""
        marks = np.empty((len(words), len(self.conjunctions)), dtype=bool)
        for k, literals in enumerate(self.conjunctions):
            marks[:, k] = satisfied_by(words, literals)
        return marks


def encode_conjunctions(conjunctions):
    """Number literals: twice the feature, and one more for a negated one."""
    indptr = np.zeros(len(conjunctions) + 1, dtype=np.int64)
    np.cumsum([len(literals) for literals in conjunctions], out=indptr[1:])
    literals = [2 * j + (not value) for j, value in chain.from_iterable(conjunctions)]
    return indptr, np.array(literals, dtype=np.int32)


def round_to_digits(numbers, n_digits):
    """Round to binary digits; return the numbers, and the sum of the changes.

    ``numbers`` are overwritten.
    """
    # Digits of the largest number, or behind the point where it is above 1; at most 40
    # behind the point.
    exponent = np.frexp(np.abs(numbers).max())[1]
    shift = int(min(max(n_digits - exponent, n_digits), 40))
    rounded = np.ldexp(numbers, shift)
    np.rint(rounded, out=rounded)
    np.ldexp(rounded, -shift, out=rounded)
    numbers -= rounded
    return rounded, np.abs(numbers, out=numbers).sum()


def choose_different(conjunctions, n_most):
    """Choose at most so many conjunctions, few of which share two literals."""
    chosen, n_shared = [], Counter()
    for literals, _ in conjunctions:
        if len(chosen) == n_most:
            break
        pairs = list(combinations(literals, 2)) or [literals]
        if max(map(n_shared.__getitem__, pairs)) < N_SHARED:
            chosen.append(literals)
            n_shared.update(pairs)
    return chosen


class ColumnGeneration:
    """Training data and the conjunctions found so far; `minimize` for each C.

    Parameters
    ----------
    X : ndarray of uint64 words, or csr_array
        Boolean samples.
    weights : ndarray of shape (n_samples,), float64
        Samples of weight 0 are left out.
    targets : ndarray of shape (n_outputs, n_samples), float64 or bool
    loss : {"logistic", "softmax", "squared"}
    space : ConjunctionSpace
    n_jobs : int or None
    most : float
        Conjunctions that are held at a time, besides single features.

    Attributes
    ----------
    objective : float
        Objective of the last solution.
    least : float
        No model has a smaller objective; minus infinity where no bound was computed.
    work : int
        Work of all solutions and searches, in units of which a core does some 1e9 in a
        second. Unlike time it does not depend on the machine.
    """

    def __init__(self, X, weights, targets, loss, space, n_jobs=None, most=np.inf):
        self.loss, self.space, self.most = loss, space, space.n_features + most
        # A slice copies nothing.
        used = slice(None) if (weights > 0).all() else weights > 0
        self.words = as_words(X)[used]
        self.weights, self.targets = weights[used], targets[:, used]
        self.n_samples = len(self.words)
        self.samples = pack_dense(np.ones((1, self.n_samples), dtype=np.uint8))[0]
        self.search = ConjunctionSearch(
            self.words, space.n_features, max_literals=space.max_literals,
            monotone=space.monotone, feature_groups=space.feature_groups,
            directions=space.directions, n_jobs=n_jobs,
        )  # fmt: skip
        self.features = self.search.columns
        # Column 0, of all samples, is the intercept.
        self.columns = self.samples[None, :].copy()
        self.conjunctions, self.number_of = [], {}
        self.prices, self.signs = np.zeros(1), np.zeros(1, dtype=np.int8)
        self.coefficients = np.zeros((len(targets), 1))
        self.objective, self.least, self.work = np.inf, -np.inf, 0

    @property
    def gap(self):
        """Excess of the objective over the bound."""
        return self.objective - self.least

    def add(self, conjunctions):
        """Add conjunctions with weight 0; return the number of those that are new."""
        new = [c for c in dict.fromkeys(conjunctions) if c not in self.number_of]
        if new:
            self._resize(len(self.columns) + len(new))
            encoded = encode_conjunctions(new)
            fill_covers(
                self.features, self.samples, *encoded, self.columns[-len(new) :]
            )
            for conjunction in new:
                self.number_of[conjunction] = len(self.conjunctions)
                self.conjunctions.append(conjunction)
            self.prices = np.r_[self.prices, self.space.prices(new)]
            self.signs = np.r_[self.signs, self.space.signs(new)]
            self.coefficients = np.pad(self.coefficients, ((0, 0), (0, len(new))))
        return len(new)

    def _resize(self, n_columns):
        """Change the number of columns in place, which copies nothing where it can."""
        self.columns.resize((n_columns, len(self.samples)), refcheck=False)

    def add_features(self):
        """Add the features that are true in some samples and false in others."""
        ones = ones_of(self.features)
        varies = (ones > 0) & (ones < self.n_samples)
        self.add([((int(j), True),) for j in np.flatnonzero(varies)])

    def start_from(self, solution):
        """Take the weights of a solution for similar samples; add what is missing."""
        self.add(solution.conjunctions)
        self.coefficients[:] = 0.0
        self.coefficients[:, 0] = solution.intercepts
        columns = [1 + self.number_of[c] for c in solution.conjunctions]
        self.coefficients[:, columns] = solution.coefficients

    def drop_unused(self, problem):
        """Forget the conjunctions of weight 0, except single features."""
        used = self.coefficients.any(axis=0)
        used[0] = True
        lengths = np.array([len(literals) for literals in self.conjunctions])
        used[1:] |= lengths == 1
        columns = np.flatnonzero(used)
        self.conjunctions = [self.conjunctions[k - 1] for k in columns[1:]]
        self.number_of = {c: k for k, c in enumerate(self.conjunctions)}
        for new, old in enumerate(columns):
            self.columns[new] = self.columns[old]
        self._resize(len(columns))
        self.prices, self.signs = self.prices[columns], self.signs[columns]
        self.coefficients = np.ascontiguousarray(self.coefficients[:, columns])
        problem.keep(columns)

    def minimize(self, C, tol, *, exact, max_work=np.inf, watch=None):
        """Minimize from the last solution.

        Parameters
        ----------
        C : float
        tol : float
            Accepted excess of a residual sum over its price, as a fraction of it. With
            ``exact=True`` the accepted gap, too, as a fraction of the objective.
        exact : bool
            Search all conjunctions at the end, which bounds the duality gap. False:
            where exact searches are not quick, inexact ones only; and several outputs
            are not searched again where the objective hardly falls.
        max_work : float
            Work after which to stop. With ``exact=True`` exact searches by branch and
            bound may take a tenth of it besides.
        watch : object or None
            Its methods ``after_step()`` and ``after_solution()`` are asked after each
            step of a solution and after each solution; where they return true, the
            solution or the minimization ends.

        Returns
        -------
        is_complete : bool
            Whether neither the limit of work nor ``watch`` ended the minimization. The
            limit may have ended a proof by branch and bound: the gap says so.
        """
        # First searches that are quick; where they cannot prove, an exact one follows.
        problem, self.least = self.problem(C), -np.inf
        width = None if self._is_quick(exact) else WIDTH
        last_work = self.work + max_work
        is_complete = self._generate(problem, C, tol, width, exact, last_work, watch)
        if width is None or not exact:
            return is_complete
        self.drop_unused(problem)
        # Tables are within the limit: what they find may still lower the objective.
        if not self.is_by_tables:
            last_work = self.work + PROOF * max_work
        is_proved = self._generate(problem, C, tol, None, exact, last_work, watch)
        return is_proved or (is_complete and not self.is_by_tables)

    def minimize_present(self, C, tol):
        """Minimize over the present conjunctions, with the bound for sums of these."""
        problem = self.problem(C)
        # A tenth: the gap grows with the excess of residual sums over their prices.
        self._solve(problem, 0.1 * tol, np.inf, None, balances=True)
        weights = problem.weights[: self.n_samples]
        residuals = weights * (self.targets - problem.means[:, : self.n_samples])
        covers = (unpack_words(c[None], self.n_samples)[0] for c in self.columns[1:])
        sums = np.array([residuals @ cover for cover in covers]).reshape(
            -1, len(self.targets)
        )
        # Where the sign of a weight is given, only a sum of this sign lowers the loss.
        signs = self.signs[1:, None]
        sums = np.where(signs, signs * sums, np.abs(sums))
        ratios = sums / self.prices[1:, None]
        mass = np.abs(residuals).sum()
        largest = ratios.max(initial=1.0) + ROUNDING * mass
        self.least = self._dual(problem, largest)

    def problem(self, C):
        """Make the problem of fitting to the columns."""
        padding = (0, -self.n_samples % 64)
        return L1Problem(
            self.loss,
            np.pad(C * self.weights, padding),
            np.pad(self.targets, ((0, 0), padding)),
            self.search.n_jobs,
        )

    def _generate(self, problem, C, tol, width, exact, last_work, watch):
        """Solve and search in turn until no search of this width adds a conjunction.

        After a search of all outputs only those are searched again for which it found
        something. With ``exact=True`` the last search is one of all, and it ends at a
        small gap, too.
        """
        worst, before = 1.0, np.inf
        everything = outputs = range(len(self.coefficients))
        while True:
            # A tenth of the worst violation: closer solutions would soon be outdated.
            inner = min(0.1, max(0.3 * tol, 0.1 * worst))
            self._solve(problem, inner, last_work, watch, balances=width is None)
            if watch is not None and watch.after_solution():
                return False
            is_flat = before - self.objective < min(tol, FLAT) * self.objective
            if is_flat and self._may_end_flat(width, exact):
                return self.work < last_work
            before = self.objective
            by_output, bound = self._search(problem, C, outputs, tol, width, last_work)
            if exact and self.gap <= tol * self.objective:
                return True
            is_whole = len(outputs) == len(everything)
            n_new = self._take_in(list(chain(*by_output.values())), problem)
            worst, outputs = 0.0, everything
            if n_new:
                worst, outputs = bound - 1, list(by_output)
            # What is found again, or a gap left, asks for a closer solution.
            is_unfinished = n_new or ((by_output or exact) and inner > 0.3 * tol)
            is_unfinished |= exact and not is_whole
            if not is_unfinished or self.work >= last_work:
                # A gap is left: perhaps because no further search was affordable.
                return self.work + exact * self._work_of_tables() < last_work

    def _may_end_flat(self, width, exact):
        """Whether searches end where the objective hardly falls.

        Those of all conjunctions for a model that only chooses C do, too, where there
        are several outputs, which take a search each.
        """
        return width is not None or (not exact and len(self.coefficients) > 1)

    def _take_in(self, conjunctions, problem):
        """Add conjunctions; return the number of those that are new."""
        # Before new ones, which have the weight 0 as well, are added.
        n_most = min(3 * self._n_used() + MANY, self.most - len(conjunctions))
        if len(self.conjunctions) > n_most:
            self.drop_unused(problem)
        n_free = int(min(len(conjunctions), max(0, self.most - len(self.conjunctions))))
        return self.add(conjunctions[:n_free])

    def _is_quick(self, exact):
        """Whether the first searches are exact: they take not much longer."""
        most = QUICK_TABLE
        if len(self.coefficients) == 1:
            most = np.inf if exact else QUICK_FOR_ONE
        return self.is_by_tables and self._work_of_tables() < most

    @property
    def is_by_tables(self):
        """Whether all searches are exact, by tables of all conjunctions."""
        return self._work_of_tables() > 0

    def _work_of_tables(self):
        """Compute the work of a search by tables; 0 where these are too large."""
        table = self.search.table(len(self.space.factors()) - 1)
        return 0.0 if table is None else table.cost.nanoseconds

    def _n_used(self):
        return np.count_nonzero(self.coefficients.any(axis=0)) + self.space.n_features

    def _solve(self, problem, precision, last_work, watch, *, balances):
        """Solve for the present conjunctions, which sets ``means`` of the problem.

        ``balances`` makes residuals of sum 0, as a bound of the gap needs them.
        """
        work = problem.work
        start = self.columns, self.prices, self.signs, self.coefficients
        work_left = last_work - (self.work - work)
        problem.solve(*start, precision, work_left, watch, balances=balances)
        self.work += problem.work - work
        self.objective = problem.value

    def _search(self, problem, C, outputs, tol, width, last_work):
        """Find conjunctions whose sum of residuals is worth their price.

        An exact search for all outputs bounds the gap.

        Returns
        -------
        by_output : dict
            From outputs to lists of tuples of (feature, value) pairs, not empty.
        bound : float
            The largest ratio of a residual sum to its price: of all conjunctions in an
            exact search, else of those found.
        """
        factors, by_output, bound, largest = self.space.factors(), {}, 1.0, 1.0
        for k, residuals, sums in self._residuals_and_sums(
            problem, outputs, tol, width
        ):
            coefficients, error, mass = residuals
            work_left = max(last_work - self.work, 0)
            # A scan of tables has no end before all sums are added.
            is_exact = width is None and self._work_of_tables() <= work_left
            # Models that are larger get more conjunctions at a time.
            n_most = int(SHARE_ADDED * np.count_nonzero(self.coefficients[k]))
            n_most = min(max(n_most, N_ADDED), MOST_ADDED)
            result = self.search.best(
                coefficients, n_rules=SHOWN * n_most, length_weights=factors,
                floor=1 + 0.5 * tol, width=None if is_exact else WIDTH,
                diverse=is_exact and self.is_by_tables, max_work=work_left, sums=sums,
            )  # fmt: skip
            self.work += result.work
            if result.found:
                by_output[k] = [
                    ((literals[0][0], True),) if len(literals) == 1 else literals
                    for literals in choose_different(result.found, n_most)
                ]
            best = [
                abs(sum_) * factors[len(literals)] for literals, sum_ in result.found
            ]
            bound = max([bound, *best])
            of_all = max([result.bound, *best]) + error if is_exact else mass
            largest = max(largest, of_all + ROUNDING * mass)
        if width is None and len(outputs) == len(self.coefficients):
            self.least = max(self.least, self._dual(problem, largest))
        return by_output, bound

    def _residuals_and_sums(self, problem, outputs, tol, width):
        """Yield each output, with its residuals and sums of them for exact searches.

        The residuals are rounded, and come with the sum of the changes and with that of
        their sizes. The sums are None where the search adds them up.
        """
        # Fewer digits make sums faster.
        digits = 10 if width else 1 + np.log2(self.n_samples / tol)
        for first in range(0, len(outputs), ABREAST):
            block, rounded = outputs[first : first + ABREAST], []
            for k in block:
                residuals = self.targets[k] - problem.means[k, : self.n_samples]
                residuals *= problem.weights[: self.n_samples]
                mass = np.abs(residuals).sum()
                rounded.append((*round_to_digits(residuals, digits), mass))
            sums = repeat(None)
            if width is None:
                sums = self.search.sums_of_each(
                    [residuals for residuals, *_ in rounded]
                )
            yield from zip(block, rounded, sums, strict=False)

    def _dual(self, problem, bound):
        """Bound the objective of all models over all conjunctions.

        Residuals divided by ``bound`` are feasible in the dual problem: no sum exceeds
        its price. What they lack of the sum 0 counts times the largest intercept that
        an optimum can have: its scores differ by the absolute weights at most, which
        add up to no more than the objective, and its means have the mean of the
        targets.
        """
        weights = problem.weights[: self.n_samples]
        residuals = self.targets - problem.means[:, : self.n_samples]
        if self.loss == "softmax":
            # Those of a sample add up to 0, but for rounding.
            bound += (weights * np.abs(residuals.sum(axis=0))).sum()
        weighted = weights * residuals
        imbalance = (
            np.abs(weighted.sum(axis=1)).sum() + ROUNDING * np.abs(weighted).sum()
        )
        scale = 1 / max(bound, 1.0)
        if self.loss == "squared":
            terms, size = weighted * self.targets, (weighted * residuals).sum()
            least, farthest = terms.sum(), np.abs(self.targets).max()
            scale = min(scale, max(least, 0.0) / max(size, SMALLEST))
            dual = scale * least - scale**2 * size / 2
            error = np.abs(terms).sum() + size
        else:
            farthest = np.log(self.weights.sum() / self.weights.min())
            # The conjugate of the loss: the entropy of the targets less residuals.
            sizes = scale * np.abs(residuals)
            own = sizes.max(axis=0)
            terms = entr(sizes).sum(axis=0) - xlog1py(1 - own, -own)
            terms -= entr(own) * (len(sizes) > 1)
            dual, error = (weights * terms).sum(), 0.0
        error = ROUNDING * (error + self.objective) + SMALLEST
        error += imbalance * (self.objective + farthest)
        return max(float(dual - error), 0.0)

    def coverages(self, conjunctions):
        """Count the samples that satisfy each conjunction of the model, int64."""
        columns = [1 + self.number_of[conjunction] for conjunction in conjunctions]
        return ones_of(self.columns[columns])

    def solution(self):
        """Return the present model as a `ConjunctionSum`, without weights of 0."""
        used = np.flatnonzero(self.coefficients[:, 1:].any(axis=0))
        if self.loss == "softmax":
            # The same number added to all scores changes nothing.
            self.coefficients[:, 0] -= self.coefficients[:, 0].mean()
        return ConjunctionSum(
            tuple(self.conjunctions[k] for k in used),
            np.ascontiguousarray(self.coefficients[:, 1 + used]),
            self.coefficients[:, 0].copy(),
        )
