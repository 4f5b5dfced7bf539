"""The conjunctions with the largest weight, over samples with signed coefficients.

The weight of a conjunction is the sum of the coefficients of the samples that satisfy
it. A compiled branch and bound finds the conjunctions whose weights are largest in
absolute value, exactly or over a limited width. Where tables of the sums of all
conjunctions are small enough, a scan of them takes its place and finds the same.
"""

# A search goes through these steps:
#
# 1. `to_integers` writes the coefficients as integers times a unit, so that sums are
#    exact, and the same in any order and on any processor.
# 2. `ConjunctionSearch._race` compares the time that tables take, which is known, with
#    a part of it that branch and bound may use. Whoever is done first gives the answer.
# 3. Tables (`conjunction_table.py`) add up all short conjunctions and scan them. Branch
#    and bound (`branch_and_bound.h`) extends covers, the samples that satisfy a
#    conjunction, literal by literal. It drops a cover whose positive or negative
#    coefficients alone cannot beat the list. Searches of limited width come first, and
#    their lists are the seeds of the exact one.
# 4. `_with_weights` turns literals into (feature, value) pairs, and sums into weights.
#
# Literals are numbered: feature j is j, its negation n_features + j. Covers are bits of
# shape (n_words,), uint64, the samples of positive coefficients before the negative
# ones.

from functools import cached_property
from itertools import chain, repeat
from math import fsum
from time import monotonic, time
from typing import NamedTuple

import numpy as np
from scipy import sparse

from sklboolean._core._cpu import cpu_path
from sklboolean._core._popcount import count_ones
from sklboolean._core._search import SIGNS, CoverSearch, fill_tables
from sklboolean._core._table import LONGEST
from sklboolean._core.bits import (
    PIECE,
    as_words,
    binary_digits,
    pack_dense,
    transpose_words,
    unpack_words,
)
from sklboolean._core.conjunction_table import (
    SHARE_ABREAST,
    ConjunctionTable,
    RunningSums,
    as_pairs,
    distinct_features,
    fits_in_tables,
    to_integers,
)
from sklboolean._core.feature_names import exclusive_groups
from sklboolean._core.parallel import count_threads, in_threads
from sklboolean._core.parameters import (
    check_choice,
    check_integer,
    check_n_jobs,
    check_real,
)
from sklboolean._core.search_task import SearchLimits, SearchPart, SearchTask

# The largest list of conjunctions that is written out.
MAX_LISTED = 2**26
# Up to so many binary digits of the coefficients, counting digit by digit is faster
# than looking sums up (measured on x86-64).
MAX_DIGITS = {"plain": 4, "avx2": 16, "avx512": 32}
# The most samples whose sums are looked up, in 256 bytes for each of them. Tables that
# leave the caches are slower than digits.
MAX_LOOKED_UP = 2**17
# The longest list that a scan of tables keeps in order.
MAX_FROM_TABLE = 1024
# Conjunctions of each length that the first, inexact searches keep.
WIDTHS = 256, 2**14
# Parts of an exact search, which do not exchange results. More parts find more covers
# twice (measured: 16 take 0.8 to 1.2 times the work of one).
BRANCHES = 16
# Words read between two checks of the clock: some milliseconds. Every branch reads as
# many, even if it begins after the deadline.
SLICE = 2**18
# Nanoseconds of a sum of a search of limited width, and of each of its samples; those
# that a sample takes to add its coefficient to the sums of its features, for
# each word and each one; tables that take less than QUICK_TABLE are never raced
# (measured on x86-64 with AVX2).
SUM_OVERHEAD, SUM_OF_SAMPLE = 100, 0.2
WORD_OF_SAMPLE, ONE_OF_SAMPLE, QUICK_TABLE = 1.0, 1.5, 1e7
# Sums of a table up to which they are kept from one part of the samples to the next.
MAX_RUNNING_SUMS = 2**21
NO_TABLES = np.zeros(0, dtype=np.int64)


class SearchResult(NamedTuple):
    """Conjunctions found by a search.

    Attributes
    ----------
    found : list of (literals, weight)
        Best first: a tuple of (feature, value) pairs, and the sum of the coefficients
        of the samples that satisfy them all.
    bound : float
        No conjunction outside the list, of another cover, has a larger score.
    is_optimal : bool
        Whether the search was completed.
    work : float
        Nanoseconds that a core with AVX2 takes. They are computed from the sizes of
        what was done, and do not depend on the machine.
    """

    found: list
    bound: float
    is_optimal: bool
    work: float


def satisfied_by(X, literals):
    """Mark the samples that satisfy a conjunction.

    Parameters
    ----------
    X : ndarray of uint64 words, csr_array or csc_array
        Boolean samples.
    literals : iterable of (feature, value) pairs

    Returns
    -------
    satisfied : ndarray of shape (n_samples,), bool
    """
    satisfied = np.ones(X.shape[0], dtype=bool)
    for feature, value in literals:
        if sparse.issparse(X):
            column = X[:, [feature]].toarray()[:, 0].astype(bool)
        else:
            column = X[:, feature // 64] >> np.uint64(feature % 64) & np.uint64(1)
        satisfied &= column.astype(bool) == value
    return satisfied


def encode_groups(feature_groups, n_features, names=None):
    """Number the groups of features in the order of their first features.

    Parameters
    ----------
    feature_groups : array-like of shape (n_features,) or None
        A label for each feature. None: levels of one column of `BooleanEncoder`, by
        their names, are a group; every other feature is a group of its own.
    n_features : int
    names : sequence of str or None
        Feature names. None: they are not known.

    Returns
    -------
    groups : ndarray of shape (n_features,), int32
    """
    if feature_groups is None:
        if names is None:
            return np.arange(n_features, dtype=np.int32)
        feature_groups = exclusive_groups(names)
    shape = np.shape(feature_groups)
    if shape != (n_features,):
        raise ValueError(
            f"feature_groups must hold one label for each of {n_features} features; "
            f"its shape is {shape}. Give a list of {n_features} labels, or None."
        )
    codes = {}
    labels = np.asarray(feature_groups, dtype=object).tolist()
    groups = [codes.setdefault(label, len(codes)) for label in labels]
    return np.array(groups, dtype=np.int32)


def signs_of_literals(directions):
    """Mark the signs of the weights that conjunctions with each literal may have.

    Parameters
    ----------
    directions : ndarray of shape (n_features,), int8
        1 where a score must not fall when the feature becomes true, -1 where it must
        not rise, else 0.

    Returns
    -------
    signs : ndarray of shape (2 * n_features,), uint8
        Signs of the features, and behind them of their negations.
    """
    signs = SIGNS["both"], SIGNS["positive"], SIGNS["negative"]
    return np.array(signs, dtype=np.uint8)[np.concatenate([directions, -directions])]


class Outcome(NamedTuple):
    """Result of a search: what it found and proved.

    Attributes
    ----------
    conjunctions : list of (literals, sum)
    bound : float
        No conjunction that was not examined has a larger score.
    is_complete : bool
        Whether all were examined, or are below the list.
    work : float
        Nanoseconds that a core takes.
    """

    conjunctions: list
    bound: float
    is_complete: bool
    work: float


class SignLayout:
    """Samples laid out as columns of bits, by the signs of their coefficients.

    Samples with positive coefficients come first, from a new word on those with
    negative ones. Each literal is a column of bits over them. The layout serves all
    coefficients of these signs, also where some of them are 0.

    Parameters
    ----------
    words : ndarray of uint64 words
        Boolean samples.
    signs : ndarray of shape (n_samples,)
        Samples of sign 0 are left out.
    groups : ndarray of shape (n_features,), int32
        Features of one group never occur together in a conjunction.
    literal_signs : ndarray of shape (2 * n_features,), uint8
        See `signs_of_literals`.
    monotone : bool
        Whether literals are the features only, not their negations.
    """

    def __init__(self, words, signs, groups, literal_signs, monotone):
        self.signs, self.words, self.n_features = signs, words, len(groups)
        # Positive samples first, each side filled up to whole words, so that the sums
        # of a cover over one side are those of some of its words.
        sides = [np.flatnonzero(is_side) for is_side in (signs > 0, signs < 0)]
        sides = [
            np.pad(side, (0, -len(side) % 64), constant_values=-1) for side in sides
        ]
        self.n_positive, self.order = len(sides[0]), np.concatenate(sides)
        self.columns = self._columns(monotone)
        self.literal_signs = literal_signs[: len(self.columns)]
        self.empty = np.flatnonzero(self.order < 0)
        self.order[self.empty] = 0
        tokens = _group_tokens(self.columns[: len(groups)], groups, monotone)
        n_values = 1 if monotone else 2
        self.groups, self.tokens = np.tile(groups, n_values), np.tile(tokens, n_values)
        ones = np.empty(len(words), dtype=np.int32)
        count_ones(words, ones)
        self.delivery = WORD_OF_SAMPLE * words.shape[1] + ONE_OF_SAMPLE * ones.mean()

    def _columns(self, monotone):
        """Lay out the features, and behind them their negations."""
        n = self.n_features
        n_literals, n_words = n if monotone else 2 * n, len(self.order) // 64
        columns = np.empty((n_literals, n_words), dtype=np.uint64)
        for first in range(0, n_words, PIECE):
            words_of_piece = slice(first, first + PIECE)
            order = self.order[64 * first : 64 * (first + PIECE)]
            samples = pack_dense((order >= 0)[None, :])
            features = transpose_words(self.words[order], n)
            columns[:n, words_of_piece] = features & samples
            if not monotone:
                columns[n:, words_of_piece] = ~features & samples
        return columns

    def serves(self, signs):
        """Whether samples of these signs are laid out, and half of all or more."""
        # Samples without a coefficient may stay in the layout: their magnitude is 0.
        used = signs != 0
        return 2 * np.count_nonzero(used) >= np.count_nonzero(
            self.signs
        ) and np.array_equal(self.signs[used], signs[used])


class SignedSamples:
    """Samples with coefficients, laid out for compiled searches.

    Parameters
    ----------
    layout : SignLayout
    integers : ndarray of shape (n_samples,), int64
        Coefficients.

    Attributes
    ----------
    magnitudes : ndarray of shape (64 * n_words,), int64
        Magnitudes of each row of the layout.
    used : ndarray of shape (n_words,), uint64
        The rows whose magnitude is not 0.
    sides : two pairs of ndarrays
        Of each sign the binary digits of the magnitudes, uint64 of shape
        (n_digits, n_side_words), and their `fill_tables`, or an empty array.
    """

    def __init__(self, layout, integers):
        self.layout, self.magnitudes = layout, integers[layout.order]
        self.magnitudes[layout.empty] = 0
        np.abs(self.magnitudes, out=self.magnitudes)
        sides = np.split(self.magnitudes, [layout.n_positive])
        self.used = pack_dense(self.magnitudes[None, :] != 0)[0]
        self.sides = tuple(map(_digits_and_tables, sides))

    def make_search(self, task, part, seeds):
        """Create a compiled search that starts from some known conjunctions."""
        search = CoverSearch(self, task, part)
        for literals, _ in seeds:
            search.seed(np.array(literals, dtype=np.int32))
        return search

    def search(self, task, part, seeds, until, stopped=(), max_work=np.inf):
        """Search, and return the outcome."""
        search = self.make_search(task, part, seeds)
        deadline = None if until is None else monotonic() + until - time()
        # The compiled loop returns after a slice, to look at the clock and for
        # interrupts.
        slice_ = max(1, SLICE // (len(self.used) + 16))
        search.run(deadline, slice_, stopped, max_work)
        bound = 0.0 if search.is_complete else search.open_bound
        return Outcome(search.found(), bound, search.is_complete, search.work)

    def search_branches(self, task, seeds, until, n_jobs, max_work):
        """Return the same from an exact search whose branches run as joblib tasks."""
        branches = [SearchPart(0, branch, BRANCHES) for branch in range(BRANCHES)]
        stopped = []
        try:
            parts = (
                (task, branch, seeds, until, stopped, max_work / BRANCHES)
                for branch in branches
            )
            outcomes = list(in_threads(self.search, parts, n_jobs))
        except BaseException:
            # An interrupt reaches the calling thread only.
            stopped.append(True)
            raise
        # Two branches may find one cover by different conjunctions.
        conjunctions, bounds, are_complete, work = zip(*outcomes, strict=True)
        seeds = chain.from_iterable(conjunctions)
        merged = self.make_search(task, branches[0], seeds).found()
        return Outcome(merged, max(bounds), all(are_complete), sum(work))

    def search_exactly(self, task, widths, limits, n_jobs):
        """Return the same from searches of some widths, then from all branches.

        A search of limited width finds good conjunctions at once. With their bound the
        exact search has little left to examine, and its branches hardly need each
        other.
        """
        seeds, work = [], 0.0
        for width in widths:
            outcome = self.search(task, SearchPart(width), seeds, limits.until)
            seeds, work = outcome.conjunctions, work + outcome.work
            if outcome.is_complete:
                return outcome._replace(work=work)
        outcome = self.search_branches(
            task, seeds, limits.until, n_jobs, limits.max_work
        )
        return outcome._replace(work=work + outcome.work)


def _digits_and_tables(magnitudes):
    """Lay out magnitudes as binary digits; where these are many, as sums to look up."""
    if not magnitudes.any():
        return np.zeros((1, len(magnitudes) // 64), np.uint64), NO_TABLES
    n_digits = int(magnitudes.max()).bit_length()
    digits = binary_digits(magnitudes, n_digits)
    if n_digits <= MAX_DIGITS[cpu_path()] or len(magnitudes) > MAX_LOOKED_UP:
        return digits, NO_TABLES
    tables = np.empty(32 * len(magnitudes), dtype=np.int64)
    fill_tables(magnitudes, tables)
    return digits, tables


def _group_tokens(columns, groups, monotone):
    """Draw a name for each group with literals that are true together in a sample."""
    n_groups = int(groups.max()) + 1
    overlap = np.bincount(groups, minlength=n_groups) > 1
    if monotone:
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(n_groups))
        union = np.bitwise_or.reduceat(columns[order], starts, axis=0)
        ones = np.empty(len(columns), dtype=np.int32)
        covered = np.empty(n_groups, dtype=np.int32)
        count_ones(columns, ones)
        count_ones(union, covered)
        overlap = np.bincount(groups, ones, n_groups) > covered
    # Groups whose features exclude each other in the samples need no name: their
    # conjunctions have empty covers anyway.
    names = np.random.default_rng(0).integers(2, 2**63, n_groups, dtype=np.uint64)
    return np.where(overlap, names, np.uint64(0))[groups]


class ConjunctionSearch:
    """Samples that are searched for conjunctions, once or many times.

    Conjunctions satisfied by the same samples count as one: the shortest of them, and
    among those the one whose literals come first. Features come before negations.

    Parameters
    ----------
    X : ndarray of uint64 words, or csr_array
        Boolean samples.
    n_features : int
    max_literals : int
        Maximum length of a conjunction.
    monotone : bool
        Whether conjunctions consist of true features only. False: negations too.
    feature_groups : array-like of shape (n_features,) or None
        Features of one label never occur together in a conjunction.
    directions : ndarray of shape (n_features,), int8, or None
        1 or -1: a conjunction has a weight of this sign if the feature is true in it,
        and of the other sign if it is negated. 0: of either sign. None: 0 for all.
        Other directions are for factors that do not grow with the length.
    n_jobs : int or None
        Joblib's jobs for the branches of an exact branch and bound. The result does not
        depend on it, except under ``time_limit``.
    """

    def __init__(
        self, X, n_features, *, max_literals, monotone=True, feature_groups=None,
        directions=None, n_jobs=None,
    ):  # fmt: skip
        max_literals = check_integer(max_literals, "max_literals", 1, 65535)
        check_choice(monotone, "monotone", (False, True))
        check_n_jobs(n_jobs)
        # Joblib's context is asked once: that takes longer than many a search.
        self.X, self.monotone, self.n_jobs = X, bool(monotone), count_threads(n_jobs)
        self.longest = min(max_literals, n_features)
        self.groups = encode_groups(feature_groups, n_features)
        none = np.zeros(n_features, dtype=np.int8)
        self.directions = none if directions is None else directions
        self.literal_signs = signs_of_literals(self.directions)
        self.tables, self.lost_races, self.layout = {}, 0, None

    @cached_property
    def words(self):
        """The samples as words."""
        return as_words(self.X)

    def table(self, longest, shortest=1):
        """Return the samples laid out for tables, or None where these are too large.

        Where single literals take part, features that add none are left out.
        """
        n_features = len(self.groups)
        halved = shortest == 1 and not self.monotone
        if not fits_in_tables(-(-n_features // 2) if halved else n_features, longest):
            return None
        key = longest, shortest == 1
        if key not in self.tables:
            features, literals = self.distinct
            if shortest > 1:
                features = np.arange(n_features)
                literals = np.stack([features + n_features, features], axis=1)
            words, columns, self.tables[key] = self.words, self.columns, None
            if fits_in_tables(len(features), longest):
                if len(features) < n_features:
                    columns = columns[features]
                    words = transpose_words(columns, len(words))
                literals = literals.astype(np.int32), self.literal_signs
                features = words, columns, self.groups[features], *literals
                self.tables[key] = ConjunctionTable(*features, longest, self.n_jobs)
        return self.tables[key]

    @cached_property
    def distinct(self):
        """The features whose literals no earlier one has, and their literals."""
        features = self.columns, self.groups, self.directions
        return distinct_features(*features, len(self.words), monotone=self.monotone)

    @cached_property
    def columns(self):
        """The samples where each feature is true, as words."""
        return transpose_words(self.words, len(self.groups))

    def cover(self, conjunctions):
        """Mark the samples that satisfy one conjunction or more."""
        n_samples = len(self.words)
        covered = np.zeros(-(-n_samples // 64), dtype=np.uint64)
        for literals in conjunctions:
            words = ~np.zeros_like(covered)
            for feature, value in literals:
                column = self.columns[feature]
                words &= column if value else ~column
            covered |= words
        return unpack_words(covered[None, :], n_samples)[0].view(bool)

    def running_sums(self, coefficients, seconds=None):
        """Make sums for searches of many parts of the samples, or None.

        They are made where tables of three literals are small, and the seconds that are
        left are enough for a first search. A search for conjunctions of four literals
        extends the best of three.
        """
        longest = min(3, self.longest)
        table = self.table(longest) if self.longest <= LONGEST else None
        if table is None or table.cost.n_sums > MAX_RUNNING_SUMS:
            return None
        if seconds is not None and 3e-9 * table.cost.nanoseconds > seconds:
            return None
        integers = to_integers(_finite_coefficients(coefficients))
        return RunningSums(table, *integers, len(self.groups))

    def best(
        self, coefficients, *, n_rules=20, sign="both", length_weights=None, floor=0.0,
        time_limit=None, width=None, max_work=np.inf, diverse=False, by_length=False,
        sums=None,
    ):  # fmt: skip
        """Find the conjunctions with the largest weight.

        Parameters
        ----------
        coefficients : array-like of shape (n_samples,)
            Samples of coefficient 0 do not count, nor those below 2**-53 of the total.
        n_rules : int
            Maximum number of conjunctions in the list.
        sign : {"positive", "negative", "both"}
            Which weights count.
        length_weights : array-like of shape (max_literals + 1,) or None
            The score is the weight times this factor of the length, not negative.
            Lengths of factor 0 do not take part. None: 1 for all lengths.
        floor : float
            Conjunctions whose score is not above it are left out. The bound is then
            this floor, if nothing larger was left out. An exact branch and bound begins
            at once.
        time_limit : float or None
            Seconds.
        width : int or None
            Number of conjunctions of each length that branch and bound extends: fast,
            but better ones may be missed, and the bound is then that of the list only.
            None: all that can matter, an exact search, by tables where these are
            quicker.
        max_work : float
            Work after which an exact branch and bound stops, in each branch a part of
            it. Unlike time it does not depend on the machine.
        diverse : bool
            Of the conjunctions that share all features but one, only the best. The
            list is then not complete; its best conjunction is. Tables only.
        by_length : bool
            Of the conjunctions in the list, only the best of each length.
        sums : list of ndarrays, or None
            Those of the coefficients, from `sums_of_each`. Not used where some lengths
            do not take part. None: they are added up where they are needed.

        Returns
        -------
        result : SearchResult
        """
        n_rules = check_integer(n_rules, "n_rules", 1, MAX_LISTED)
        check_choice(sign, "sign", tuple(SIGNS))
        if time_limit is not None:
            check_real(time_limit, "time_limit", 0, strict=True)
        # On a clock that other machines have too.
        until = None if time_limit is None else time() + time_limit
        coefficients = _finite_coefficients(coefficients)
        factors = _length_factors(length_weights, self.longest)
        if not len(factors) or not coefficients.any():
            return SearchResult([], 0.0, True, 0.0)
        integers, unit = to_integers(coefficients)
        task = SearchTask(n_rules, sign, factors, floor / unit, self.monotone, diverse)
        limits = SearchLimits(width, until, max_work)
        table = None
        if not task.growing and width is None and n_rules <= MAX_FROM_TABLE:
            table = self.table(len(factors) - 1, task.shortest)
        if table is None:
            outcome = self._branch_and_bound(integers, task, limits)
        else:
            sums = sums if table is self.table(self.longest) else None
            outcome = self._race(table, integers, task, limits, sums)
        conjunctions, bound, is_complete, work = outcome
        scores = [factors[len(literals)] * abs(sum_) for literals, sum_ in conjunctions]
        left_out = _score_left_out(scores, n_rules, diverse, by_length)
        bound = max(bound, task.floor, left_out)
        if by_length:
            conjunctions = _best_of_each_length(conjunctions)
        is_rounded = bool((integers * unit != coefficients).any())
        # Rounding moves each coefficient by half a unit at most.
        bound += is_rounded * len(coefficients) * factors.max() / 2
        exact = coefficients if is_rounded else None
        listed = self._with_weights(conjunctions, unit, exact)
        return SearchResult(listed, bound * unit, is_complete, work)

    def sums_of_each(self, coefficients):
        """Add up what several exact searches take as ``sums``, in one pass.

        Parameters
        ----------
        coefficients : list of ndarray of shape (n_samples,)
            Those of each search; at most ``ABREAST``.

        Returns
        -------
        sums : iterator
            None for each, where one pass is not quicker.
        """
        table = self.table(self.longest)
        is_shared = table is not None and table.is_abreast and len(coefficients) > 1
        if not is_shared or not self._is_for_tables(table):
            return repeat(None, len(coefficients))
        targets = [to_integers(of_search)[0] for of_search in coefficients]
        return table.sums_of_targets(np.array(targets, dtype=np.float64))

    def all_above(self, coefficients, floors, n_most, time_limit=None):
        """List every conjunction whose weight is above a floor of its length.

        Parameters
        ----------
        coefficients : array-like of shape (n_samples,)
            Samples of coefficient 0 count in tables only.
        floors : ndarray of shape (max_literals + 1,), float64
        n_most : int
        time_limit : float or None
            Seconds: of each length, or of all in tables.

        Returns
        -------
        listed : list of tuples of (feature, value) pairs, or None
            One for each cover. None where they are more than ``n_most``, are not found
            in time, or cannot be listed: branch and bound needs floors of at least 0.
        """
        table = self.table(self.longest)
        if table is not None:
            if time_limit is not None and 2e-9 * table.cost.nanoseconds > time_limit:
                return None
            integers, unit = to_integers(_finite_coefficients(coefficients))
            factors = _length_factors(None, self.longest)
            task = SearchTask(n_most, "positive", factors, 0.0, self.monotone)
            values = integers.astype(np.float64)
            conjunctions = table.all_above(values, task, floors / unit)
            if conjunctions is None:
                return None
            return [rule for rule, _ in self._with_weights(conjunctions, unit)]
        listed = []
        for length in range(1, self.longest + 1):
            options = {"n_rules": n_most, "sign": "positive", "floor": floors[length]}
            options["length_weights"] = np.arange(length + 1) == length
            result = self.best(coefficients, time_limit=time_limit, **options)
            listed += [rule for rule, _ in result.found]
            if floors[length] < 0 or not result.is_optimal or len(listed) >= n_most:
                return None
        return listed

    def _race(self, table, integers, task, limits, sums=None):
        """Search by tables, or by branch and bound where that is done before.

        What tables take is known. What branch and bound takes is not, so that it gets
        a third of that as its limit, until it has lost once.
        """
        nanoseconds, before = table.cost.nanoseconds, 0.0
        if sums is not None:
            nanoseconds -= (1 - SHARE_ABREAST) * table.cost.adding
        n_grown = len(self.groups) * (1 if self.monotone else 2)
        n_grown *= len(task.factors) - 1
        of_width = n_grown * (SUM_OVERHEAD + SUM_OF_SAMPLE * len(integers))
        is_late = (
            limits.until is not None and time() + 2e-9 * nanoseconds > limits.until
        )
        if is_late:
            return self._branch_and_bound(integers, task, limits)
        if sums is None and not self._is_for_tables(table):
            # Losing a race costs a third more at most, and only once.
            share = min(nanoseconds / 3, limits.max_work)
            at_most = limits._replace(max_work=share)
            widths = [width for width in WIDTHS if width * of_width < share]
            outcome = self._branch_and_bound(integers, task, at_most, widths)
            if outcome.is_complete:
                return outcome
            self.lost_races, before = self.lost_races + 1, outcome.work
            self.layout = None  # its memory
        conjunctions = table.best(integers.astype(np.float64), task, sums)
        return Outcome(conjunctions, 0.0, True, before + nanoseconds)

    def _is_for_tables(self, table):
        """Whether branch and bound does not race tables."""
        return table.cost.nanoseconds <= QUICK_TABLE or self.lost_races > 0

    def _layout(self, integers):
        """Lay out the samples, or take the last layout where it will do."""
        signs = np.sign(integers).astype(np.int8)
        if self.layout is None or not self.layout.serves(signs):
            self.layout = SignLayout(
                self.words, signs, self.groups, self.literal_signs, self.monotone
            )
        return self.layout

    def _branch_and_bound(self, integers, task, limits, widths=None):
        """Search the samples for the conjunctions of a task."""
        samples = SignedSamples(self._layout(integers), integers)
        if task.growing or limits.width:
            # Where longer conjunctions may have larger factors, a search of limited
            # width could represent a cover by one that is not its shortest.
            branch = SearchPart(0 if task.growing else limits.width)
            return samples.search(task, branch, [], limits.until)
        widths = WIDTHS if widths is None else widths
        widths = sorted({max(least, 2 * task.n_wanted) for least in widths})
        if task.floor:
            widths = []
        return samples.search_exactly(task, widths, limits, self.n_jobs)

    def _with_weights(self, found, unit, coefficients=None):
        """Write the conjunctions found as (feature, value) pairs, with their weights.

        The weights are the sums in integers, or those of ``coefficients`` where the
        integers are rounded.
        """
        n_features = len(self.groups)
        rules = [as_pairs(literals, n_features) for literals, _ in found]
        if coefficients is None:
            weights = [sum_ * unit for _, sum_ in found]
        else:
            weights = [
                fsum(coefficients[satisfied_by(self.words, rule)]) for rule in rules
            ]
        return list(zip(rules, weights, strict=True))


def search_conjunctions(
    X, coefficients, n_features, *, max_literals, monotone=True, feature_groups=None,
    directions=None, n_jobs=None, **options,
):  # fmt: skip
    """Search samples once; the parameters are those of `ConjunctionSearch`.

    Returns
    -------
    result : SearchResult
    """
    search = ConjunctionSearch(
        X, n_features, max_literals=max_literals, monotone=monotone,
        feature_groups=feature_groups, directions=directions, n_jobs=n_jobs,
    )  # fmt: skip
    return search.best(coefficients, **options)


def _score_left_out(scores, n_rules, diverse, by_length):
    """Bound the score of conjunctions that were seen, and are not in the list."""
    if by_length or (diverse and len(scores) < n_rules):
        return max(scores, default=0.0)
    return scores[-1] if len(scores) == n_rules else 0.0


def _best_of_each_length(found):
    lengths = [len(literals) for literals, _ in found]
    return [found[k] for k in sorted(map(lengths.index, set(lengths)))]


def _finite_coefficients(coefficients):
    coefficients = np.asarray(coefficients, dtype=np.float64)
    if not np.isfinite(coefficients).all():
        raise ValueError("coefficients hold infinity or NaN; give finite numbers.")
    return coefficients


def _length_factors(length_weights, longest):
    """Compute the factor of each length, up to the last one that is not 0."""
    factors = np.ones(longest + 1)
    if length_weights is not None:
        factors = np.array(length_weights, dtype=np.float64)[: longest + 1]
    factors[0] = 0.0
    return np.trim_zeros(factors, "b")
