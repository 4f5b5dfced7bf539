"""Thresholds that cut a column of numbers into intervals, with few digits.

A cut is a place in the ascending distinct values: between its value a and the next one
b. Every threshold t with a <= t < b separates the same values by ``value <= t``.
"""

from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, inf, nextafter
from numbers import Integral

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

# Intervals between which a tree finds its thresholds, and between monotone ones.
MAX_CODES, MAX_MONOTONE_CODES = 256, 64
# A leaf of fewer samples is more often noise than not.
MIN_SAMPLES_LEAF = 5
# Of ``n_bins="auto"``: distinct values that are all cut apart, quantiles without
# labels, quantiles beside the strict cuts by labels, and the tree of these.
FEW_VALUES, N_QUANTILES, N_LABELLED_QUANTILES = 32, 16, 8
STRICT_LEAVES, STRICT_BITS, MOST_CLASSES = 6, 6, 32
ROUND = 1e-7  # relative error of weights, which are rounded to 24 bits
PRIOR = 1.0  # samples of average labels that each interval gets


def find_cuts(counts, n_bins):
    """Find the cuts closest to the quantiles.

    Parameters
    ----------
    counts : ndarray of shape (n_values,)
        Number of samples of each distinct value, in the order of the values.
    n_bins : int
        Number of intervals. With as many distinct values or fewer, all are separated.

    Returns
    -------
    cuts : ndarray of shape (n_cuts,), int
        Number of distinct values below each cut, ascending.
    """
    # Of the two ends around each quantile take the closer one.
    ends = np.cumsum(counts)
    ends, n_samples = ends[:-1], ends[-1]
    if len(ends) < n_bins:
        return np.arange(1, len(counts))
    quantiles = np.arange(1, n_bins) * (n_samples / n_bins)
    right = np.searchsorted(ends, quantiles).clip(1, len(ends) - 1)
    is_left = quantiles - ends[right - 1] <= ends[right] - quantiles + n_samples * ROUND
    return np.unique(np.where(is_left, right - 1, right)) + 1


def spike_cuts(counts):
    """Find the cuts on both sides of each value that many samples have."""
    spikes = np.flatnonzero(counts >= counts.sum() / N_QUANTILES)
    cuts = np.unique([spikes, spikes + 1])
    return cuts[(cuts > 0) & (cuts < len(counts))]


def find_tree_cuts(sizes, n_leaves, one=1.0, *, is_strict=False):
    """Find the cuts of a small decision tree that predicts classes from one column.

    Parameters
    ----------
    sizes : ndarray of shape (n_classes, n_intervals)
        Weight of the samples of each class in consecutive intervals.
    n_leaves : int
    one : float
        Weight of a sample.
    is_strict : bool
        Whether a cut must shorten the description of the labels by
        ``STRICT_BITS + n_classes`` bits.

    Returns
    -------
    cuts : ndarray of shape (n_cuts,), int
        Number of intervals below each cut, ascending.
    """
    least, total = MIN_SAMPLES_LEAF * one, sizes.sum()
    if total < 2 * least:
        return np.empty(0, dtype=np.intp)
    price = (STRICT_BITS + len(sizes)) * one / total
    options = {"criterion": "entropy", "min_impurity_decrease": price}
    classes, intervals = np.nonzero(sizes)
    return _fit_tree(
        DecisionTreeClassifier, intervals, classes, sizes[classes, intervals],
        max_leaf_nodes=n_leaves, min_weight_fraction_leaf=(1 - ROUND) * least / total,
        **(options if is_strict else {}),
    )  # fmt: skip


def find_regression_cuts(values, y, weights, n_leaves):
    """Find the cuts of a small regression tree, as `find_cuts` returns them.

    The tree sees ranks instead of values, so it does not depend on the scale.
    """
    # The codes of many distinct values are intervals of about equal size.
    _, rank, counts = np.unique(values, return_inverse=True, return_counts=True)
    cuts = find_cuts(counts, MAX_CODES)
    intervals = np.searchsorted(cuts, rank, side="right")
    samples = intervals, y, weights
    options = {"max_leaf_nodes": n_leaves, "min_samples_leaf": MIN_SAMPLES_LEAF}
    return cuts[_fit_tree(DecisionTreeRegressor, *samples, **options) - 1]


def regression_cuts(columns, codes, y, weights, n_bins):
    """Cut columns of numbers and ranks by a real target; others are None.

    ``codes`` are the special codes of each column.
    """
    cuts = []
    for column, special in zip(columns, codes, strict=True):
        values = column.codes if column.kind == "ordered" else column.numbers
        # Samples without a value tell nothing of where to cut.
        tells = ~column.missing() & (weights > 0) & ~np.isin(values, special)
        is_cut = values is not None and tells.any()
        samples = (values[tells], y[tells], weights[tells]) if is_cut else ()
        cuts.append(find_regression_cuts(*samples, n_bins) if is_cut else None)
    return cuts


def _fit_tree(tree_class, intervals, y, weights, **options):
    """Fit a tree to the numbers of intervals, and find the cuts between them."""
    fitted = tree_class(random_state=0, **options)
    numbers = intervals[:, None].astype(np.float32)
    fitted = fitted.fit(numbers, y, sample_weight=weights).tree_
    return np.unique(fitted.threshold[fitted.feature >= 0].astype(np.intp)) + 1


def find_monotone_cuts(sizes, seconds, n_bins, one=1.0):
    """Find the cuts with shares of the second class that only rise, or only fall.

    Among at most ``n_bins`` intervals, each of `MIN_SAMPLES_LEAF` samples or more, they
    have the largest leave-one-out likelihood: each label is predicted by the share
    among the other samples of its interval. The best is found by dynamic programming,
    so it is exact.

    Parameters
    ----------
    sizes, seconds : ndarray of shape (n_intervals,)
        Weight of the samples in consecutive intervals, and of those of the second
        class.
    n_bins : int
    one : float
        Weight of a sample.

    Returns
    -------
    cuts : ndarray of shape (n_cuts,), int
        Number of intervals below each cut, ascending; empty where no two intervals have
        different shares.
    """
    total = seconds.sum() / sizes.sum()
    # Entry (a, b): samples between the ends a and b, and those of the second class.
    sizes, seconds = (np.append(0.0, np.cumsum(w)) / one for w in (sizes, seconds))
    sizes, seconds = sizes - sizes[:, None], seconds - seconds[:, None]
    is_allowed = sizes >= MIN_SAMPLES_LEAF * (1 - ROUND)
    shares = seconds / np.where(is_allowed, sizes, 1)
    gains = np.where(is_allowed, 0.0, -inf)
    for n_same, share in ((seconds, total), (sizes - seconds, 1 - total)):
        has_any = is_allowed & (n_same > 0)
        same, size = n_same[has_any], sizes[has_any]
        others = np.maximum(same - 1, 0.0)  # of a weight below 1 no other is left
        gains[has_any] += same * np.log((others + PRIOR * share) / (size - 1 + PRIOR))
    rising, falling = (_best_path(gains, sign * shares, n_bins) for sign in (1, -1))
    return np.array(max(rising, falling)[1], dtype=np.intp)


def _best_path(gains, shares, n_bins):
    """Find the largest sum of gains of 2 to n_bins intervals of rising shares.

    Parameters
    ----------
    gains, shares : ndarrays of shape (n_ends, n_ends)
        Of the interval between each two ends.

    Returns
    -------
    best : float
    inner : list of int
        Numbers of the ends between the intervals.
    """
    last = len(gains) - 1
    # The best sums of each number of intervals, of which the last is given.
    sums = np.full((n_bins, *gains.shape), -inf)
    sums[0, 0] = gains[0]
    for middle in range(1, last):
        # An interval may be followed by those of larger shares: of all that end at
        # ``middle`` and have smaller shares take the best sum, by a running maximum.
        order = np.argsort(shares[:middle, middle], kind="stable")
        best = np.maximum.accumulate(sums[:-1, order, middle], axis=1)
        n_lower = np.searchsorted(shares[order, middle], shares[middle])
        best = np.column_stack([np.full(n_bins - 1, -inf), best])
        sums[1:, middle] = best[:, n_lower] + gains[middle]
    total = sums[1:, :, last].max(initial=-inf)
    if total == -inf:
        return total, []
    number, first = np.argwhere(sums[1:, :, last] == total)[0]
    # Walk back: which interval before gave this sum.
    inner, end = [int(first)], last
    for k in range(number, 0, -1):
        is_lower = shares[: inner[0], inner[0]] < shares[inner[0], end]
        before = np.where(is_lower, sums[k, : inner[0], inner[0]], -inf).argmax()
        inner, end = [int(before), *inner], inner[0]
    return total, inner


def place_thresholds(values, cuts, between):
    """Choose a threshold for each cut of ascending distinct values.

    ``between`` is `shortest_between`, or another choice of a number in [low, high).
    """
    pairs = zip(values[cuts - 1].tolist(), values[cuts].tolist(), strict=True)
    return np.array([between(low, high) for low, high in pairs], values.dtype)


def shortest_between(low, high):
    """Find the number with the fewest decimals in [low, high), near its middle.

    Parameters
    ----------
    low, high : float or int
        With low < high. Integers stay integers.

    Returns
    -------
    number : float or int
        A multiple of the largest power of ten that has one in the interval; of several
        multiples the one closest to the middle.
    """
    as_number = float if isinstance(low, float) or isinstance(high, float) else int
    low, high = as_number(low), as_number(high)
    # Of two neighbouring floats only the lower one is in the interval, and no multiple
    # near the middle need be rounded to it.
    if as_number is float and nextafter(low, high) == high:
        return low
    # From large powers of ten to small ones, in exact arithmetic.
    exact_low, exact_high = Fraction(low), Fraction(high)
    middle = (exact_low + exact_high) / 2
    exponent = len(str(int(max(abs(exact_low), abs(exact_high)))))
    while True:
        step = Fraction(10) ** exponent
        first, last = ceil(exact_low / step), ceil(exact_high / step) - 1
        if first <= last:
            nearest = min(max(round(middle / step), first), last)
            number = as_number(nearest * step)
            # Rounding to a float may reach the upper end.
            if low <= number < high:
                return number
        exponent -= 1


def check_thresholds(given, name, parameter="thresholds"):
    """Check the thresholds or the special codes of one column, or of all (None)."""
    try:
        thresholds = np.unique(np.asarray(given, dtype=np.float64))
        if all(isinstance(number, Integral) for number in given):
            exact = np.unique(np.array([*given]))
            is_large = exact.dtype.kind in "iu" and np.abs(thresholds).max() >= 2**53
            thresholds = exact if is_large else thresholds
    except (TypeError, ValueError, OverflowError):
        thresholds = np.array([np.nan])
    if np.ndim(given) != 1 or not np.isfinite(thresholds).all():
        raise ValueError(
            f"{parameter}{'' if name is None else [name]} must be a list of finite "
            f"numbers; got {given!r}."
        )
    return thresholds


def check_ranks(given, levels, name):
    """Check the thresholds of an ordered category: its levels, but not the last."""
    try:
        ranks = np.unique([levels[:-1].index(level) for level in given])
    except (TypeError, ValueError):
        raise ValueError(
            f"thresholds[{name!r}] must be a list of levels, of {levels[:-1]}; got "
            f"{given!r}."
        ) from None
    return ranks.astype(np.intp)


def number_in_each_interval(values, thresholds, refused=()):
    """Choose a number of few digits for each interval that thresholds make.

    Of a special code that is ``refused`` the next number below takes the place.
    """
    low, high = values[[0, -1]].tolist() if len(values) else (0.0, 0.0)
    if not len(thresholds):
        return np.array([low / 2 + high / 2 if isinstance(low, float) else low])
    # Intervals are open below and closed above: those of the negative numbers are the
    # intervals that `shortest_between` takes.
    edges = [low, *thresholds.tolist(), high]
    numbers = [
        -shortest_between(-up, -below) if below < up else up
        for below, up in pairwise(edges)
    ]
    if high <= edges[-2]:
        last = edges[-2]
        is_float = isinstance(last, float)
        numbers[-1] = nextafter(last, inf) if is_float else last + 1
    return np.array([_unlike(number, refused) for number in numbers])


def _unlike(number, refused):
    while number in refused:
        number = nextafter(number, -inf) if isinstance(number, float) else number - 1
    return number


def exceeds(numbers, threshold):
    """Test which numbers are above a threshold, exactly, also beyond 2**53.

    numpy compares integers with floats as floats, of which one stands for several
    integers. Here the threshold is rounded down to the type of the numbers, which
    changes no comparison.

    Parameters
    ----------
    numbers : ndarray of float64, int64 or uint64
    threshold : float or int
        Finite.

    Returns
    -------
    exceeds : ndarray of bool
    """
    if numbers.dtype.kind == "f":
        bound = float(threshold)
        return numbers > (bound if bound <= threshold else nextafter(bound, -inf))
    bound, limits = floor(threshold), np.iinfo(numbers.dtype)
    if not limits.min <= bound <= limits.max:
        return np.full(len(numbers), bound < limits.min)
    return numbers > numbers.dtype.type(bound)


def number_text(number):
    """Write a number so that it is read back as it is, integers without a point."""
    if isinstance(number, Integral):
        return str(int(number))
    number = float(number)
    if number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    return repr(number)


def number_code(number):
    """Write a number as a literal of SQL and C."""
    return repr(int(number) if isinstance(number, Integral) else float(number))
