"""Exact mathematics of kernels that are a function of one count.

For Boolean samples every kernel g(common) or g(same) is a weighting of conjunctions by
length: g(s) = sum_l a_l C(s, l), where a_l is the l-th difference of g at 0 (Newton).
`common` counts the features that are true in both samples, `same` the features of equal
value. A `CountTable` holds g as correctly rounded numbers (mantissa and exponent, so
that nothing overflows) and computes each value as an exact integer over a power of two.
`LengthWeights` holds the weights a_l in the same form.

Scores f = sum_i c_i g(s_i) have integer coefficients. Floats lose the sign of f when
terms of very different size cancel. `exact_value` first sums the coefficients of equal
counts in int64, which is exact. What remains is one product of Python integers for each
count that occurs.
"""

# A table is made of one of two forms: integers or fractions by Newton's differences
# (`newton_values`), or geometric values (1 + decay)**s - c with 256 spare bits. Both
# give `numerator(s)`, an exact integer over 2**scale, and correctly rounded
# (mantissa, exponent) for s = 0 ... max_count.

from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import copysign, frexp, ldexp, nextafter

import numpy as np

SMALLEST = nextafter(0.0, 1.0)


def split_integer(value, exponent=0):
    """Round ``value * 2**exponent``, an integer times a power of two, to a float.

    Returns
    -------
    mantissa : float
        0, or of magnitude in [0.5, 1), correctly rounded.
    exponent : int
    """
    # 64 leading bits and a sticky bit decide the rounding; float() then rounds once.
    excess = max(0, abs(value).bit_length() - 64)
    if excess:
        head = abs(value) >> excess
        sticky = (head << excess) != abs(value)
        head = (head << 1) | sticky
        value, exponent = (head if value > 0 else -head), exponent + excess - 1
    mantissa, shift = frexp(float(value))
    return mantissa, shift + exponent if mantissa else 0


class CountTable:
    """The values g(0), ..., g(n) of a kernel that is a function of one count.

    Parameters
    ----------
    count : {"common", "same"}
        Which count the kernel depends on.
    mantissas : ndarray of shape (n + 1,), float64
    exponents : ndarray of shape (n + 1,), int64
        g(s) is ``mantissas[s] * 2**exponents[s]``, correctly rounded.
    numerator : callable
        ``numerator(s)`` is the exact integer ``g(s) * 2**scale``.
    scale : int
        Power of two over which all values are integers.
    geometric : (int, int, int) or None
        (top, q, c) if g(s) = (1 + top / 2**q)**s - c.
    newton : tuple of 4 ints or None
        The weights of conjunctions of 0 to 3 literals, times ``2**scale``, if longer
        conjunctions have no weight.
    remedy : str
        What to use instead if a value exceeds float64.

    Attributes
    ----------
    max_count : int
        The largest count that the table covers.
    largest : (float, int)
        Mantissa and exponent of the largest abs(g(s)).
    power_constant : int or None
        c if g(s) = 2**s + c.
    cubic : tuple of 4 ints or None
        Coefficients of s**0 to s**3 in 6 g(s), if ``newton`` is given and ``scale`` 0.
    cubic_size : int
        The largest sum of absolute terms of this cubic.
    """

    def __init__(
        self, count, mantissas, exponents, numerator, scale=0, *,
        geometric=None, newton=None, remedy="fewer or shorter formulas",
    ):  # fmt: skip
        self.count = count
        self.mantissas = mantissas
        self.exponents = exponents
        self.numerator = numerator
        self.scale = scale
        self.geometric = geometric
        self.newton = newton
        self.remedy = remedy
        self._values = {}
        self.max_count = len(mantissas) - 1
        size = np.abs(mantissas)
        best = np.lexsort((size, np.where(size > 0, exponents, np.iinfo(np.int64).min)))
        self.largest = float(size[best[-1]]), int(exponents[best[-1]])
        self.power_constant = None
        if geometric is not None and geometric[:2] == (1, 0):
            self.power_constant = -geometric[2]
        self.cubic = None
        if newton is not None and not scale:
            a0, a1, a2, a3 = newton
            self.cubic = 6 * a0, 6 * a1 - 3 * a2 + 2 * a3, 3 * (a2 - a3), a3
            c0, c1, c2, c3 = map(abs, self.cubic)
            n = self.max_count
            self.cubic_size = c0 + n * (c1 + n * (c2 + n * c3))

    def plus(self, constant):
        """Make the table of g(s) + constant, which adds to the empty conjunction."""
        if not constant:
            return self
        old_numerator, unit = self.numerator, constant << self.scale
        geometric, newton = None, None

        def numerator(s):
            return old_numerator(s) + unit

        if self.newton is not None:
            newton = (self.newton[0] + unit, *self.newton[1:])
        if self.geometric is not None:
            top, q, subtracted = self.geometric
            geometric = top, q, subtracted - constant
            values = _geometric_values(self.max_count, *geometric)
        else:
            values = list(map(numerator, range(self.max_count + 1)))
            values = split_integers(values, -self.scale)
        return CountTable(
            self.count, *values, numerator, self.scale, geometric=geometric,
            newton=newton, remedy=self.remedy,
        )  # fmt: skip

    def values(self, shift=0):
        """Compute ``g(s) / 2**shift`` as float64; inf where it is too large."""
        if shift not in self._values:
            with np.errstate(over="ignore", under="ignore"):
                values = np.ldexp(self.mantissas, self.exponents - shift)
            values.flags.writeable = False
            self._values[shift] = values
        return self._values[shift]

    def is_exact_in_float64(self, weight):
        """Test whether sums of g with coefficients of total ``weight`` are exact.

        They are if all partial sums are integers of at most 2**53. The coefficients
        must be integers.
        """
        if self.scale:
            return False
        mantissa, exponent = self.largest
        return exponent <= 54 and weight * int(ldexp(mantissa, exponent)) <= 2**53

    def length_weights(self, monotone):
        """Compute the weight of conjunctions by length, as `LengthWeights`."""
        numerators = [self.numerator(s) for s in range(self.max_count + 1)]
        return difference_weights(numerators, self.max_count, monotone, self.scale)


def split_integers(values, exponent=0):
    """Round each ``value * 2**exponent``, as `split_integer` does.

    Returns
    -------
    mantissas : ndarray of float64
    exponents : ndarray of int64
    """
    if max(map(abs, values)) <= 2**53:  # floats hold them
        mantissas, exponents = np.frexp(np.array(values, dtype=np.float64))
        exponents = exponents.astype(np.int64)
        exponents[mantissas != 0] += exponent
        return mantissas, exponents
    return _split_pairs((value, exponent) for value in values)


def _split_pairs(pairs):
    """Round products ``value * 2**exponent``, given as pairs."""
    mantissas, exponents = zip(*[split_integer(*pair) for pair in pairs], strict=True)
    return np.array(mantissas), np.array(exponents, dtype=np.int64)


def _powers(base, q, last):
    """Compute (base / 2**q)**l for l = 0 ... last as integers times powers of two.

    All but the leading 256 + 2 q binary digits are cut off.
    """
    value, exponent = 1, 0
    for _ in range(last + 1):
        yield value, exponent
        value, exponent = value * base, exponent - q
        excess = max(0, value.bit_length() - 256 - 2 * q)
        value, exponent = value >> excess, exponent + excess


def integer_table(count, values, newton=None):
    """Make a `CountTable` of Python integers."""
    values = list(values)
    mantissas, exponents = split_integers(values)
    return CountTable(count, mantissas, exponents, values.__getitem__, newton=newton)


def real_table(count, values):
    """Make a `CountTable` of float64 values, each taken as an exact number."""
    values = np.asarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(
            "The kernel has values that exceed float64 on these samples. Use a "
            "smaller gamma, coef0 or degree."
        )
    mantissas, exponents = np.frexp(values)
    exponents = exponents.astype(np.int64)
    lowest = int(exponents[mantissas != 0].min(initial=0)) - 53

    def numerator(s):
        return int(ldexp(mantissas[s], 53)) << max(0, int(exponents[s]) - 53 - lowest)

    return CountTable(count, mantissas, exponents, numerator, -lowest)


def conjunction_table(count, max_count, min_literals=0, max_literals=None, decay=1.0):
    """Tabulate sum of decay**l C(s, l) over min_literals <= l <= max_literals.

    Parameters
    ----------
    count : {"common", "same"}
    max_count : int
        Largest count that occurs.
    min_literals, max_literals : int, int or None
        None: no bound.
    decay : float > 0

    Returns
    -------
    table : CountTable
    """
    longest = max_count if max_literals is None else min(max_literals, max_count)
    top, bottom = float(decay).as_integer_ratio()
    q = bottom.bit_length() - 1  # decay = top / 2**q
    remedy = f"{smaller_values(decay)} or normalize=True"
    scale, options = q * longest, {"remedy": remedy}
    # Without a bound that matters the sum has a closed form, and lengths below the
    # minimum are subtracted from it.
    is_bounded = longest < max_count
    if is_bounded:
        lengths = range(min_literals, longest + 1)
    else:  # (1 + decay)**s without the lengths below the minimum
        lengths = range(min(min_literals, longest + 1))
    weights = [0] * max(1, lengths.stop)
    for length in lengths:
        weights[length] = top**length << q * (longest - length)
    sums = newton_values(weights, max_count)
    if is_bounded:
        if longest <= 3 and decay <= 1:
            options["newton"] = (*weights, 0, 0, 0)[:4]
        return CountTable(
            count, *split_integers(sums, -scale), sums.__getitem__, scale, **options
        )

    def numerator(s):
        return ((bottom + top) ** s << q * (longest - s)) - sums[s]

    if min_literals <= 1:
        values = _geometric_values(max_count, top, q, min_literals)
        options["geometric"] = top, q, min_literals
    else:
        values = split_integers(list(map(numerator, range(max_count + 1))), -scale)
    return CountTable(count, *values, numerator, scale, **options)


def smaller_values(decay):
    """Name the parameter that makes the values of a conjunction kernel smaller."""
    if decay <= 1:
        return "a smaller max_literals"
    return f"a decay of at most 1 in place of {decay:g}"


def newton_values(weights, max_count):
    """Tabulate g(s) = sum of weights[l] C(s, l) for s = 0 ... max_count, in integers.

    ``weights[l]`` is the l-th difference of g at 0, so that each difference is the sum
    of the next higher one (Newton). There are at most ``max_count + 1`` weights.
    """
    # The highest difference is constant; each pass sums it up once more.
    *lower, highest = weights
    values = [highest] * (max_count + 1 - len(lower))
    for weight in reversed(lower):
        values = list(accumulate(values, initial=weight))
    return values


def _geometric_values(max_count, top, q, constant):
    """Split (1 + top / 2**q)**s - constant for s = 0 ... max_count.

    The powers carry 256 bits beyond the finest digit that the subtraction can uncover.
    """
    # Above 2**120 the constant is far below half a unit in the last place: the powers
    # of two themselves are left.
    n_near = min(max_count, 120) if (top, q) == (1, 0) else max_count
    mantissas, exponents = _split_pairs(
        (value - (constant << -exponent if exponent <= 0 else 0), exponent)
        for value, exponent in _powers((1 << q) + top, q, n_near)
    )
    far = np.arange(n_near + 2, max_count + 2)
    return np.append(mantissas, np.full(len(far), 0.5)), np.append(exponents, far)


def near_one(mantissas, exponents):
    """Divide numbers by a power of two, the largest near 1; what underflows becomes 0.

    Returns
    -------
    values : ndarray of float64
    exponent : int
        The numbers were divided by ``2**exponent``.
    """
    used = mantissas != 0
    top = int(exponents[used].max(initial=-(2**20)))
    shifts = np.maximum(exponents - top, -2000)
    return np.ldexp(mantissas, np.where(used, shifts, 0)), top


@dataclass(frozen=True)
class LengthWeights:
    """Weights that a kernel gives to conjunctions, by their number of literals.

    Mantissas and exponents are kept apart because weights may lie beyond float64.
    `to_float` converts them.

    Attributes
    ----------
    mantissas : ndarray of shape (n_features + 1,), float64
    exponents : ndarray of shape (n_features + 1,), int64
        Every conjunction of l literals has the weight
        ``mantissas[l] * 2**exponents[l]``.
    monotone : bool
        True: only conjunctions without negated features have this weight, all others
        have none.
    """

    mantissas: np.ndarray
    exponents: np.ndarray
    monotone: bool

    @property
    def longest(self):
        """The length of the longest conjunctions with a weight."""
        return int(np.flatnonzero(self.mantissas).max(initial=0))

    def to_float(self):
        """Convert the weights to float64, shape (n_features + 1,).

        Raises
        ------
        ValueError
            If a weight exceeds float64.
        """
        if self.exponents.max() > 1024:
            raise ValueError(
                "A weight exceeds float64. Use fewer features or shorter formulas."
            )
        with np.errstate(under="ignore"):
            return np.ldexp(self.mantissas, self.exponents)

    def scaled(self, max_literals):
        """Divide the weights up to a length by a power of two, the largest near 1.

        The weight of the empty conjunction is set to 0. What underflows becomes 0.

        Returns
        -------
        weights : ndarray of shape (max_literals + 1,), float64
        exponent : int
            The weights were divided by ``2**exponent``.
        """
        mantissas = self.mantissas[: max_literals + 1].copy()
        mantissas[0] = 0.0
        return near_one(mantissas, self.exponents[: max_literals + 1])

    def times(self, length, value):
        """Multiply the weight of a length by a value.

        Raises
        ------
        ValueError
            If the product exceeds float64.
        """
        if length >= len(self.mantissas) or not value:
            return 0.0
        mantissa, exponent = frexp(value)
        exponent += int(self.exponents[length])
        with np.errstate(over="ignore", under="ignore"):
            product = np.ldexp(mantissa * self.mantissas[length], max(exponent, -2000))
        if not np.isfinite(product):
            raise ValueError(
                f"The weight of a conjunction of {length} literals exceeds float64. "
                "Rank by 'weight', or lower max_literals or the kernel's parameters."
            )
        return float(product)


def difference_weights(numerators, n_features, monotone, scale=0):
    """Compute weights by length as the differences at 0 of g (Newton).

    Parameters
    ----------
    numerators : iterable of int
        ``g(s) * 2**scale`` for s = 0, 1, ...; differences beyond the last are 0.
    n_features : int
    monotone : bool
    scale : int

    Returns
    -------
    weights : LengthWeights
    """
    mantissas = np.zeros(n_features + 1)
    exponents = np.zeros(n_features + 1, dtype=np.int64)
    differences = list(numerators)
    for length in range(len(differences)):
        mantissas[length], exponents[length] = split_integer(differences[0], -scale)
        differences = [b - a for a, b in pairwise(differences)]
    return LengthWeights(mantissas, exponents, monotone)


def power_weights(base, n_features, monotone, shortest=0, longest=None):
    """Weigh length l by ``base**l`` from ``shortest`` to ``longest``.

    The weights are correctly rounded.

    Parameters
    ----------
    base : float > 0
    n_features : int
    monotone : bool
    shortest, longest : int, int or None
        None: no bound.

    Returns
    -------
    weights : LengthWeights
    """
    longest = n_features if longest is None else min(longest, n_features)
    mantissas = np.zeros(n_features + 1)
    exponents = np.zeros(n_features + 1, dtype=np.int64)
    top, bottom = float(base).as_integer_ratio()
    powers = _powers(top, bottom.bit_length() - 1, longest)  # base = top / 2**q
    for length, power in enumerate(powers):
        if length >= shortest:
            mantissas[length], exponents[length] = split_integer(*power)
    return LengthWeights(mantissas, exponents, monotone)


def rounding_slack(n_terms):
    """Bound the relative error of a float64 sum of products with rounded values.

    A sum of m products of exact coefficients and correctly rounded values errs by at
    most (m + 2) 2**-53 of the sum of absolute terms, to first order, and so does that
    sum itself. The factor 2**-52 leaves a factor of two for the higher orders.
    """
    return (n_terms + 8) * 2.0**-52


def exact_value(table, counts, coefficients):
    """Compute sum_i c_i g(s_i) * 2**table.scale as a Python integer.

    Parameters
    ----------
    table : CountTable
    counts : ndarray of shape (n_terms,), int
    coefficients : ndarray of shape (n_terms,), int64
        The sum of absolute values is below 2**63.
    """
    distinct, where = np.unique(counts, return_inverse=True)
    sums = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(sums, where, coefficients)
    return sum(
        amount * table.numerator(count)
        for count, amount in zip(distinct.tolist(), sums.tolist(), strict=True)
        if amount
    )


def float_of_exact(numerator, scale):
    """Round the exact score ``numerator / 2**scale`` to a finite float64.

    A score that is too small for float64 becomes the smallest number of its sign, so
    that the sign stays exact.
    """
    mantissa, exponent = split_integer(numerator, -scale)
    if not mantissa:
        return 0.0
    with np.errstate(under="ignore"):
        size = abs(float(np.ldexp(mantissa, exponent)))
    return copysign(max(size, SMALLEST), mantissa)
