"""Thresholds that cut a column of numbers into intervals, with few digits.

A cut is a position in the sorted values: between its value a and the next larger one
b. Every threshold t with a <= t < b separates the same values by ``value <= t``.
"""

from fractions import Fraction
from math import ceil

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

MAX_CODES = 256  # candidate thresholds of a tree
# A leaf of fewer samples is more often noise than not.
MIN_SAMPLES_LEAF = 5


def find_cuts(ordered, n_bins):
    """Find the cuts closest to the quantiles.

    Parameters
    ----------
    ordered : ndarray of shape (n_samples,)
        Sorted values.
    n_bins : int
        Number of intervals. With as many distinct values or fewer, all are separated.

    Returns
    -------
    cuts : ndarray of shape (n_cuts,), int
        Number of values below each cut, ascending.
    """
    cuts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    if len(cuts) < n_bins:
        return cuts
    wanted = np.arange(1, n_bins) * (len(ordered) / n_bins)
    right = np.searchsorted(cuts, wanted).clip(1, len(cuts) - 1)
    is_left = wanted - cuts[right - 1] <= cuts[right] - wanted
    return np.unique(np.where(is_left, cuts[right - 1], cuts[right]))


def find_tree_cuts(values, y, n_bins, *, is_classification):
    """Find the cuts of a small decision tree that predicts y from one column.

    The tree sees ranks instead of values, so it does not depend on the scale.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    cuts = find_cuts(ordered, MAX_CODES)
    codes = np.zeros(len(ordered))
    codes[cuts] = 1
    tree_class = DecisionTreeClassifier if is_classification else DecisionTreeRegressor
    tree = tree_class(
        max_leaf_nodes=n_bins, min_samples_leaf=MIN_SAMPLES_LEAF, random_state=0
    )
    tree.fit(np.cumsum(codes)[:, None], y[order])
    splits = tree.tree_.threshold[tree.tree_.feature >= 0]
    return np.unique(cuts[splits.astype(np.intp)])


def place_thresholds(ordered, cuts):
    """Choose a threshold with few digits for each cut."""
    pairs = zip(ordered[cuts - 1].tolist(), ordered[cuts].tolist(), strict=True)
    return np.array([shortest_between(low, high) for low, high in pairs])


def shortest_between(low, high):
    """Find the number with the fewest decimals in [low, high), near its middle.

    Parameters
    ----------
    low, high : float
        With low < high.

    Returns
    -------
    number : float
        A multiple of the largest power of ten that has one in the interval; of several
        multiples the one closest to the middle.
    """
    exact_low, exact_high = Fraction(low), Fraction(high)
    middle = (exact_low + exact_high) / 2
    exponent = len(str(int(max(abs(exact_low), abs(exact_high)))))
    while True:
        step = Fraction(10) ** exponent
        first, last = ceil(exact_low / step), ceil(exact_high / step) - 1
        if first <= last:
            nearest = min(max(round(middle / step), first), last)
            number = float(nearest * step)
            # Rounding to a float may reach the upper end.
            if low <= number < high:
                return number
        exponent -= 1


def number_text(number):
    """Write a number so that ``float`` reads it back, integers without a point."""
    number = float(number)
    if number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    return repr(number)
