"""The literal, or constant, that is right on the most weight."""

from typing import NamedTuple

import numpy as np

from sklboolean.boosting._stumps import sum_weights
from sklboolean.boosting._weights import DIGIT_BITS, binary_digits


class Stump(NamedTuple):
    """A test of one feature, and the class on either side.

    Attributes
    ----------
    feature : int
        -1 for a constant.
    if_false, if_true : int
        Codes of the classes.
    edge : float
        The share of the weight on which it is right, less 1/2: correctly rounded.
    """

    feature: int
    if_false: int
    if_true: int
    edge: float


def class_signs(codes, n_classes):
    """Return the signs that weigh each class against the first one.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), int
        The class of each row, from 0.
    n_classes : int

    Returns
    -------
    signs : ndarray of shape (n_classes - 1, n_samples), dtype int16
        Row c - 1 has 1 for class c, -1 for class 0, 0 for other classes.
    """
    others = np.arange(1, n_classes)[:, np.newaxis]
    return (codes == others).astype(np.int16) - (codes == 0)


def best_stump(table, signs, weights):
    """Find the stump that is right on the most weight.

    For each feature, each side predicts its heaviest class. Of equals the constant
    wins, then the lowest feature, and on a side the lowest class. So the two sides of
    a feature that wins always differ.

    Parameters
    ----------
    table : StumpTable of n_samples rows
    signs : ndarray of shape (n_classes - 1, n_samples), int16
        From `class_signs`.
    weights : ndarray of shape (n_samples,), int16 or float64
        Finite, at least 0, not all 0. int16, from `quantize_weights`, is fast: one
        pass over the columns for each class but one. float64 takes several for each:
        all sums and comparisons are exact, whatever the weights.

    Returns
    -------
    stump : Stump

    Raises
    ------
    ValueError
        For another number of weights, when one is below 0 or all are 0.
    """
    if weights.shape != (table.n_samples,):
        raise ValueError(
            f"The table has {table.n_samples} rows, but weights has the shape "
            f"{weights.shape}."
        )
    if weights.min(initial=0) < 0 or not weights.max(initial=0) > 0:
        raise ValueError("weights must be at least 0, and one of them above 0.")
    inside, totals, total = _weights_against_first(table, signs, weights)
    outside = totals[:, np.newaxis] - inside
    gains = inside.max(axis=0) + outside.max(axis=0)
    feature, gain = int(gains.argmax()), totals.max()
    if gains[feature] > gain:
        gain = gains[feature]
        sides = outside[:, feature].argmax(), inside[:, feature].argmax()
    else:
        feature, sides = -1, (totals.argmax(), totals.argmax())
    # The differences add up to the total less n_classes times the first class.
    of_first = (total - int(totals.sum())) // len(totals)
    right = of_first + int(gain)
    if_false, if_true = map(int, sides)
    return Stump(feature, if_false, if_true, (2 * right - total) / (2 * total))


def _weights_against_first(table, signs, weights):
    """Return integer weights of classes, less that of the first class.

    The differences decide as well as the weights do, and save a pass.

    Returns
    -------
    inside : ndarray of shape (n_classes, n_features)
        In the rows where the feature is true.
    totals : ndarray of shape (n_classes,)
        In all rows.
    total : int
        The weight of all rows and classes.
    """
    parts = [(0, weights)] if weights.dtype == np.int16 else binary_digits(weights)
    n_bits = parts[-1][0] + DIGIT_BITS + table.n_samples.bit_length()
    # Python's integers where 64 bits may not hold a sum, its double and a sign.
    dtype = np.int64 if n_bits <= 61 else object
    inside = np.zeros((len(signs) + 1, table.n_features), dtype=dtype)
    totals, total = np.zeros(len(signs) + 1, dtype=dtype), 0
    for shift, digits in parts:
        total += sum_weights(digits) << shift
        for code, sign in enumerate(signs, start=1):
            signed = sign * digits
            inside[code] += table.sums(signed).astype(dtype, copy=False) << shift
            totals[code] += sum_weights(signed) << shift
    return inside, totals, total


def side_weights(truth, codes, weights, n_classes):
    """Return the weight of each class where a feature is false and where it is true.

    Parameters
    ----------
    truth : ndarray of shape (n_samples,), int
        1 where the feature is true, else 0.
    codes : ndarray of shape (n_samples,), int
        The class of each row, from 0.
    weights : ndarray of shape (n_samples,), float64
        Finite, at least 0, not all 0.
    n_classes : int

    Returns
    -------
    sides : ndarray of shape (2, n_classes), dtype object
        Python integers, in the same unit: exact.
    """
    cells = codes + n_classes * truth.astype(np.intp)
    sides = np.zeros(2 * n_classes, dtype=object)
    for shift, digits in binary_digits(weights):
        # float64 holds sums of 15-bit integers.
        sums = np.bincount(cells, weights=digits, minlength=2 * n_classes)
        sides += sums.astype(np.int64).astype(object) << shift
    return sides.reshape(2, n_classes)
