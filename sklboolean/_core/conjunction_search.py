"""The heaviest conjunctions over any rows with signed coefficients."""

from itertools import chain
from math import fsum
from time import monotonic, time
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse

from sklboolean._core._cpu import cpu_path
from sklboolean._core._popcount import count_ones
from sklboolean._core._search import SIGNS, CoverSearch, fill_tables
from sklboolean._core.bits import as_words, pack_dense, unpack_words
from sklboolean._core.validation import check_choice, check_integer, check_real

# The largest list of conjunctions that is written out.
MOST_LISTED = 2**26
# Beyond so many binary digits, looking sums up is faster than counting by digit
# (measured on x86-64).
MOST_DIGITS = {"plain": 4, "avx2": 16, "avx512": 32}
# What the first, inexact searches keep of each length, and what is held at a time.
WIDTHS, BLOCK = (256, 2**14), 2**19
# Parts of an exact search that the others have not settled. More parts see more covers
# twice (measured: 16 take 0.8 to 1.2 times the work of one).
BRANCHES = 16
# Words read between two looks at the clock: some milliseconds. Every branch gets them,
# even if it begins when time is up.
SLICE = 2**21
NOTHING = np.zeros(0, dtype=np.int64)


class Conjunctions(NamedTuple):
    """What a search found.

    Attributes
    ----------
    found : list of (literals, sum)
        Best first: a tuple of (feature, value) pairs, and the sum of the coefficients
        of the rows that satisfy them all.
    bound : float
        No conjunction outside the list, of another cover, scores more.
    is_optimal : bool
        Whether the search came to its end.
    n_sums : int
        Conjunctions looked at.
    """

    found: list
    bound: float
    is_optimal: bool
    n_sums: int


def satisfied_rows(table, literals):
    """Return which rows of a Boolean table satisfy a conjunction.

    Parameters
    ----------
    table : ndarray of uint64 words, or csr_array
    literals : iterable of (feature, value) pairs

    Returns
    -------
    satisfied : ndarray of shape (n_samples,), bool
    """
    satisfied = np.ones(table.shape[0], dtype=bool)
    for feature, value in literals:
        if sparse.issparse(table):
            column = table[:, [feature]].toarray()[:, 0].astype(bool)
        else:
            column = table[:, feature // 64] >> np.uint64(feature % 64) & np.uint64(1)
        satisfied &= column.astype(bool) == value
    return satisfied


def check_groups(feature_groups, n_features):
    """Return the number of each feature's group."""
    if feature_groups is None:
        return np.arange(n_features, dtype=np.int32)
    labels = np.asarray(feature_groups)
    if labels.shape != (n_features,):
        raise ValueError(
            f"feature_groups must hold one label for each of {n_features} features; "
            f"it has shape {labels.shape}."
        )
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def whole_numbers(coefficients):
    """Return integers with a total below 2**52, and their unit.

    Coefficients that are whole multiples of a power of two keep their value.
    """
    size = np.abs(coefficients)
    exponent = int(np.frexp(size.max(initial=0.0))[1])
    total = np.ldexp(size, -exponent).sum()
    shift = 52 - exponent - int(np.frexp(total)[1])
    whole = np.rint(np.ldexp(coefficients, shift)).astype(np.int64)
    divisor = int(np.gcd.reduce(whole)) or 1
    return whole // divisor, float(np.ldexp(float(divisor), -shift))


class _Columns:
    """Rows laid out for the search: positive ones first, as columns of literals."""

    def __init__(self, words, coefficients, n_features, literals):
        whole, self.unit = whole_numbers(coefficients)
        halves = [np.flatnonzero(whole > 0), np.flatnonzero(whole < 0)]
        order = [
            np.pad(half, (0, -len(half) % 64), constant_values=-1) for half in halves
        ]
        self.order = np.concatenate(order)
        self.real = self.order >= 0
        columns = np.empty((n_features, len(self.order) // 64), np.uint64)
        for first in range(0, n_features, 1024):
            part = words[:, first // 64 : first // 64 + 16]
            bits = unpack_words(
                np.ascontiguousarray(part), min(1024, n_features - first)
            )
            bits = bits[self.order] & self.real[:, None]
            columns[first : first + 1024] = pack_dense(bits.T)
        self.rows = pack_dense(self.real[None, :])[0]
        self.columns = columns
        if literals == "both":
            self.columns = np.concatenate([columns, ~columns & self.rows])
        path = cpu_path()
        self.sides = [self._side(abs(whole), part, MOST_DIGITS[path]) for part in order]

    @staticmethod
    def _side(whole, order, most_digits):
        if not len(order):
            return np.zeros((1, 0), np.uint64), NOTHING
        magnitudes = np.where(order >= 0, whole[order], 0)
        n_digits = int(magnitudes.max()).bit_length()
        digits = np.arange(n_digits)[:, None]
        digits = pack_dense(magnitudes >> digits & 1)
        if n_digits <= most_digits:
            return digits, NOTHING
        tables = np.empty(32 * len(order), dtype=np.int64)
        fill_tables(magnitudes, tables)
        return digits, tables

    def tokens(self, groups, n_features):
        """Name the groups with literals that are true together in some row."""
        n_groups = int(groups.max()) + 1
        sizes = np.bincount(groups, minlength=n_groups)
        overlap = sizes > 1
        if len(self.columns) == n_features:
            order = np.argsort(groups, kind="stable")
            starts = np.searchsorted(groups[order], np.arange(n_groups))
            union = np.bitwise_or.reduceat(self.columns[order], starts, axis=0)
            ones = np.empty(n_features, dtype=np.int32)
            covered = np.empty(n_groups, dtype=np.int32)
            count_ones(self.columns, ones)
            count_ones(union, covered)
            overlap = np.bincount(groups, ones, n_groups) > covered
        names = np.random.default_rng(0).integers(2, 2**63, n_groups, dtype=np.uint64)
        return np.where(overlap, names, np.uint64(0))[groups]


def wall_time(deadline):
    """Return when the deadline is, on a clock that other machines have too."""
    return None if deadline is None else time() + deadline - monotonic()


def opened(task, seeds, columns, rows, groups, tokens, *sides_and_weights):
    """Return a search that knows some conjunctions."""
    *sides, factors, reach = sides_and_weights
    search = CoverSearch(
        columns, rows, groups, tokens, (sides[:2], sides[2:]), factors, reach,
        **task,
    )  # fmt: skip
    for literals, _ in seeds:
        search.seed(np.array(literals, dtype=np.int32))
    return search


def explore(task, seeds, until, *arrays, stopped=()):
    """Search; return what was found, the bound of the rest, is_complete and n_sums."""
    search = opened(task, seeds, *arrays)
    deadline = None if until is None else monotonic() + until - time()
    search.run(deadline, max(1, SLICE // (len(arrays[1]) + 16)), stopped)
    bound = 0.0 if search.is_complete else search.open_bound
    return search.found(), bound, search.is_complete, search.n_sums


def explore_branches(options, seeds, deadline, arrays, n_jobs):
    """Return the same of an exact search whose branches are tasks."""
    tasks = [
        {**options, "width": 0, "branch": branch, "n_branches": BRANCHES}
        for branch in range(BRANCHES)
    ]
    stopped, until = [], wall_time(deadline)
    try:
        found, bounds, is_complete, n_sums = zip(
            *Parallel(n_jobs=n_jobs, prefer="threads")(
                delayed(explore)(task, seeds, until, *arrays, stopped=stopped)
                for task in tasks
            ),
            strict=True,
        )
    except BaseException:
        # An interrupt reaches the calling thread only.
        stopped.append(True)
        raise
    # Two branches may know one cover by different conjunctions.
    merged = opened(tasks[0], chain.from_iterable(found), *arrays).found()
    return merged, max(bounds), all(is_complete), sum(n_sums)


def search_conjunctions(
    table, coefficients, n_features, *, max_literals, n_rules=20, literals="positive",
    sign="both", feature_groups=None, length_weights=None, time_limit=None, width=None,
    n_jobs=None,
):  # fmt: skip
    """Find the conjunctions over which coefficients sum up to the most.

    Of conjunctions with one cover the shortest stands for all, and of those the one
    whose literals come first; features come before negations.

    Parameters
    ----------
    table : ndarray of uint64 words, or csr_array
        Boolean rows.
    coefficients : array-like of shape (n_samples,)
        Rows of coefficient 0 do not count, nor those below 2**-53 of the total.
    n_features : int
    max_literals : int
    n_rules : int
    literals : {"positive", "both"}
        Whether conjunctions may hold negations.
    sign : {"positive", "negative", "both"}
        Which sums count, by their format_large_int.
    feature_groups : array-like of shape (n_features,) or None
        Features of one label never meet in a conjunction.
    length_weights : array-like of shape (max_literals + 1,) or None
        The score is the sum times the weight of the length, not negative. Lengths of
        weight 0 do not take part. None: all weigh 1.
    time_limit : float or None
        Seconds.
    width : int or None
        Heaviest conjunctions of each length that are grown further: quick, but better
        ones may be missed, and the bound is then no more than that of the list. None:
        all that can matter, an exact search.
    n_jobs : int or None
        Joblib's jobs for the branches of an exact search. The result does not depend on
        it, but for ``time_limit``.

    Returns
    -------
    conjunctions : Conjunctions
    """
    n_rules = check_integer(n_rules, "n_rules", 1, MOST_LISTED)
    max_literals = check_integer(max_literals, "max_literals", 1, 65535)
    check_choice(literals, "literals", ("positive", "both"))
    check_choice(sign, "sign", tuple(SIGNS))
    if time_limit is not None:
        check_real(time_limit, "time_limit", 0, strict=True)
    deadline = None if time_limit is None else monotonic() + time_limit
    groups = check_groups(feature_groups, n_features)
    coefficients = np.asarray(coefficients, dtype=np.float64)
    if not np.isfinite(coefficients).all():
        raise ValueError("coefficients hold infinity or NaN; give finite numbers.")
    factors = np.ones(min(max_literals, n_features) + 1)
    if length_weights is not None:
        factors = np.array(length_weights, dtype=np.float64)[: len(factors)]
    factors[0] = 0.0
    weighty = np.flatnonzero(factors)
    if not len(weighty) or not coefficients.any():
        return Conjunctions([], 0.0, True, 0)
    shortest, factors = int(weighty[0]), factors[: weighty[-1] + 1]
    growing = bool((np.diff(factors[shortest:]) > 0).any())

    words = as_words(table)
    columns = _Columns(words, coefficients, n_features, literals)
    tokens = columns.tokens(groups, n_features)
    if literals == "both":
        groups, tokens = np.tile(groups, 2), np.tile(tokens, 2)

    arrays = (
        columns.columns, columns.rows, groups, tokens, *columns.sides[0],
        *columns.sides[1], factors, np.maximum.accumulate(factors[::-1])[::-1].copy(),
    )  # fmt: skip
    options = {
        "n_wanted": n_rules, "shortest": shortest, "sign": sign, "growing": growing,
        "block": 2**60 if growing else BLOCK,
    }  # fmt: skip
    # Where longer ones may weigh more, a search that leaves anything out could score a
    # cover by a conjunction that is not its shortest.
    if growing:
        widths = [0]
    elif width:
        widths = [width]
    else:
        widths = sorted({max(least, 2 * n_rules) for least in WIDTHS})
    # A search of limited width finds good conjunctions at once. With them the exact one
    # has little left to look at, and its branches hardly need to hear of one another.
    found, n_sums = [], 0
    for kept in widths:
        task = {**options, "width": kept, "branch": 0, "n_branches": 1}
        until = wall_time(deadline)
        found, bound, is_complete, n = explore(task, found, until, *arrays)
        n_sums += n
        if is_complete:
            break
    if not (is_complete or growing or width):
        found, bound, is_complete, n = explore_branches(
            options, found, deadline, arrays, n_jobs
        )
        n_sums += n
    if len(found) == n_rules:
        bound = max(bound, found[-1][1])
    rounding = len(coefficients) * factors.max() / 2
    exact = (np.rint(coefficients / columns.unit) * columns.unit == coefficients).all()
    rules = [
        tuple(sorted((j % n_features, j < n_features) for j in literals))
        for literals, _ in found
    ]
    return Conjunctions(
        [(rule, fsum(coefficients[satisfied_rows(words, rule)])) for rule in rules],
        (bound if exact or not bound else bound + rounding) * columns.unit,
        is_complete,
        n_sums,
    )
