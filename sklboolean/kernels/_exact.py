"""Exact signs and values of f = sum_i c_i g(s_i), for integer coefficients.

Floats add up 2**s terms of very different size and lose the sign when they cancel.
Here the coefficients are first summed by count (a histogram), which is exact in
int64; what is left is one product for each count that occurs, in Python integers.
"""

from math import copysign, log1p, log2, nextafter

import numpy as np

from sklboolean.kernels._count_table import split_integer

SMALLEST = nextafter(0.0, 1.0)


def rounding_slack(n_terms):
    """Bound the relative error of a float64 sum of products with rounded values.

    A sum of m products of exact coefficients and correctly rounded values errs by at
    most (m + 2) 2**-53 of the sum of absolute terms, to first order, and so does that
    sum itself; 2**-52 leaves a factor of two for the higher orders.
    """
    return (n_terms + 8) * 2.0**-52


def histogram(counts, coefficients):
    """Sum the coefficients of equal counts.

    Parameters
    ----------
    counts : ndarray of shape (n_terms,), int
    coefficients : ndarray of shape (n_terms,), int64
        The sum of absolute values is below 2**63.

    Returns
    -------
    distinct : ndarray of int
        Counts in increasing order, those with sum 0 left out.
    sums : ndarray of int64
    """
    distinct, where = np.unique(counts, return_inverse=True)
    sums = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(sums, where, coefficients)
    return distinct[sums != 0], sums[sums != 0]


def exact_value(table, counts, coefficients):
    """Return sum_i c_i g(s_i) * 2**table.scale, a Python integer.

    Parameters
    ----------
    table : CountTable
    counts : ndarray of shape (n_terms,), int
    coefficients : ndarray of shape (n_terms,), int64
    """
    distinct, sums = histogram(counts, coefficients)
    return sum(
        amount * table.numerator(count)
        for count, amount in zip(distinct.tolist(), sums.tolist(), strict=True)
    )


def exact_sign(table, counts, coefficients):
    """Return the sign (-1, 0, 1) of sum_i c_i g(s_i).

    For g(s) = 2**s + c the histogram is a number in base 2 with signed digits. It is
    read from the top: acc = 2 acc + digit, until acc outweighs all that can follow.
    This takes a handful of digits whatever the number of features.
    """
    if table.power_constant is None:
        value = exact_value(table, counts, coefficients)
        return (value > 0) - (value < 0)
    digits, amounts = histogram(counts, coefficients)
    pairs = list(zip(digits.tolist(), amounts.tolist(), strict=True))
    constant = table.power_constant * sum(amount for _, amount in pairs)
    if constant:
        if pairs and pairs[0][0] == 0:
            pairs[0] = (0, pairs[0][1] + constant)
        else:
            pairs.insert(0, (0, constant))
    return _sign_of_binary(pairs)


def _sign_of_binary(pairs):
    """Sign of sum of amount * 2**digit; digits increasing."""
    rest = sum(abs(amount) for _, amount in pairs)
    enough = rest.bit_length()
    total, position = 0, 0
    for digit, amount in reversed(pairs):
        if total:
            # What follows is at most rest * 2**digit.
            gap = position - digit
            if gap >= enough or abs(total) << gap > rest:
                break
            total <<= gap
        total += amount
        rest -= abs(amount)
        position = digit
    return (total > 0) - (total < 0)


def finite_score(numerator, scale, logarithmic):
    """Return the exact score ``numerator / 2**scale`` as a finite float64.

    Parameters
    ----------
    numerator : int
    scale : int
    logarithmic : bool
        Give sign(f) log2(1 + abs(f)), which is finite and increasing for every f.
    """
    mantissa, exponent = split_integer(numerator, -scale)
    if not mantissa:
        return 0.0
    if logarithmic and exponent > 60:
        size = log2(abs(mantissa)) + exponent
    else:
        with np.errstate(under="ignore"):
            size = abs(float(np.ldexp(mantissa, exponent)))
        size = log1p(size) / np.log(2) if logarithmic else size
    # A score too small for float64 is the smallest number of its sign.
    return copysign(max(size, SMALLEST), mantissa)
