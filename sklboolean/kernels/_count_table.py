"""Kernels that are a function of one count, as tables.

For Boolean rows every kernel g(common) or g(same) weighs conjunctions by length:
g(s) = sum_l a_l C(s, l) with a_l the l-th difference of g at 0 (Newton). `common`
counts the features true in both rows, `same` those of equal value. A table holds g
as correctly rounded numbers (mantissa and exponent, so that nothing overflows) and
can give each value as an exact integer over a power of two.
"""

from fractions import Fraction
from functools import cached_property
from itertools import pairwise, repeat
from math import comb, frexp, ldexp

import numpy as np


def split_integer(value, exponent=0):
    """Round ``value * 2**exponent``, an integer times a power of two, to a float.

    Returns
    -------
    mantissa : float
        0 or of format_large_int in [0.5, 1), correctly rounded.
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
    mantissas : ndarray of shape (n + 1,), float64
    exponents : ndarray of shape (n + 1,), int64
        g(s) is ``mantissas[s] * 2**exponents[s]``, correctly rounded.
    numerator : callable
        ``numerator(s)`` is the exact integer ``g(s) * 2**scale``.
    scale : int
    power_constant : int or None
        c when g(s) = 2**s + c.
    newton : tuple of 4 ints or None
        The weights of conjunctions of 0 to 3 literals when they are integers and
        longer ones have none.

    Attributes
    ----------
    geometric : (int, int, int) or None
        (top, q, c) when g(s) = (1 + top / 2**q)**s - c.
    remedy : str
        What to use instead when a value exceeds float64.
    """

    def __init__(
        self, count, mantissas, exponents, numerator, scale=0, *,
        power_constant=None, newton=None,
    ):  # fmt: skip
        self.count = count
        self.mantissas = mantissas
        self.exponents = exponents
        self.numerator = numerator
        self.scale = scale
        self.power_constant = power_constant
        self.newton = newton
        self.geometric = None
        self._values = {}
        self.remedy = "fewer or shorter formulas"

    @property
    def max_count(self):
        """The largest count that the table covers."""
        return len(self.mantissas) - 1

    def plus(self, constant):
        """Return the table of g(s) + constant: the empty conjunction weighs more."""
        if not constant:
            return self
        numerator = self.numerator
        unit = constant << self.scale
        if self.power_constant is not None:
            mantissas, exponents = _power_values(
                self.max_count, self.power_constant + constant
            )
        elif self.geometric is not None:
            top, q, subtracted = self.geometric
            mantissas, exponents = _geometric_values(
                self.max_count, top, q, subtracted - constant
            )
        else:
            values = _split_all(
                (numerator(s) + unit for s in range(self.max_count + 1)), -self.scale
            )
            mantissas, exponents = values
        power_constant = self.power_constant
        newton = self.newton
        table = CountTable(
            self.count,
            mantissas,
            exponents,
            lambda s: numerator(s) + unit,
            self.scale,
            power_constant=None
            if power_constant is None
            else power_constant + constant,
            newton=None if newton is None else (newton[0] + constant, *newton[1:]),
        )
        table.remedy = self.remedy
        if self.geometric is not None:
            table.geometric = top, q, subtracted - constant
        return table

    def values(self, shift=0):
        """Return ``g(s) / 2**shift`` as float64; inf where it is too large."""
        if shift not in self._values:
            with np.errstate(over="ignore", under="ignore"):
                values = np.ldexp(self.mantissas, self.exponents - shift)
            values.flags.writeable = False
            self._values[shift] = values
        return self._values[shift]

    def log2_values(self):
        """Return log2 g(s); -inf where g(s) = 0."""
        with np.errstate(divide="ignore"):
            return np.log2(self.mantissas) + self.exponents

    def exact_value(self, s):
        """Return g(s) as a Fraction."""
        return Fraction(self.numerator(s), 1 << self.scale)

    def largest(self):
        """Return the largest abs(g(s)) as (mantissa, exponent)."""
        size = np.abs(self.mantissas)
        exponents = np.where(size > 0, self.exponents, np.iinfo(np.int64).min)
        best = np.lexsort((size, exponents))[-1]
        return float(size[best]), int(self.exponents[best])

    def is_exact_in_float64(self, weight):
        """Tell whether sums of g with coefficients of total ``weight`` are exact.

        Coefficients are integers; all partial sums then are integers below 2**53.
        """
        if self.scale:
            return False
        mantissa, exponent = self.largest()
        return exponent <= 54 and weight * int(ldexp(mantissa, exponent)) <= 2**53

    def cubic(self):
        """Return (coefficients of s**0 to s**3, divisor) of an integer cubic g."""
        if self.newton is None:
            return None
        a0, a1, a2, a3 = self.newton
        return (6 * a0, 6 * a1 - 3 * a2 + 2 * a3, 3 * (a2 - a3), a3), 6

    @cached_property
    def cubic_size(self):
        """The largest sum of absolute terms of the cubic: what its sums must hold."""
        terms, _ = self.cubic()
        return sum(abs(c) * self.max_count**power for power, c in enumerate(terms))

    def newton_coefficients(self):
        """Return a_l, the weight of every conjunction of l literals, as float64."""
        differences = [self.numerator(s) for s in range(self.max_count + 1)]
        weights = []
        while differences:
            weights.append(differences[0])
            differences = [b - a for a, b in pairwise(differences)]
        mantissas, exponents = _split_all(weights, -self.scale)
        if exponents.max() > 1024:
            raise ValueError(
                "A weight exceeds float64; ask for fewer features or shorter formulas."
            )
        return np.ldexp(mantissas, exponents)


def _split_all(numerators, exponent=0):
    pairs = [split_integer(numerator, exponent) for numerator in numerators]
    return np.array([m for m, _ in pairs]), np.array([e for _, e in pairs], np.int64)


def _power_values(max_count, constant):
    """Split 2**s + constant for s = 0 ... max_count."""
    mantissas = np.full(max_count + 1, 0.5)
    exponents = np.arange(1, max_count + 2, dtype=np.int64)
    # Above 2**120 the constant is far below half a unit in the last place.
    near = min(max_count, 120) + 1
    head = _split_all((1 << s) + constant for s in range(near))
    mantissas[:near], exponents[:near] = head
    return mantissas, exponents


def integer_table(count, values, newton=None):
    """Make a table of Python integers."""
    values = list(values)
    mantissas, exponents = _split_all(values)
    return CountTable(count, mantissas, exponents, values.__getitem__, newton=newton)


def real_table(count, values):
    """Make a table of float64 values, each taken as the number that it is."""
    values = np.asarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(
            "The kernel has values that float64 cannot hold on these rows; "
            "choose smaller gamma, coef0 or degree."
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
    """
    longest = max_count if max_literals is None else min(max_literals, max_count)
    whole = longest == max_count
    top, bottom = float(decay).as_integer_ratio()
    q = bottom.bit_length() - 1  # decay = top / 2**q

    def bounded(s, first, last):
        return sum(
            comb(s, length) * top**length << q * (longest - length)
            for length in range(first, last + 1)
        )

    def numerator(s):
        if not whole:
            return bounded(s, min_literals, min(s, longest))
        everything = (bottom + top) ** s << q * (longest - s)
        return everything - bounded(s, 0, min(s, min_literals - 1))

    scale = q * longest
    if whole and decay == 1 and min_literals <= 1:
        mantissas, exponents = _power_values(max_count, -min_literals)
        return CountTable(
            count,
            mantissas,
            exponents,
            lambda s: (1 << s) - min_literals,
            power_constant=-min_literals,
        )
    if whole and min_literals <= 1:
        mantissas, exponents = _geometric_values(max_count, top, q, min_literals)
    elif whole:
        mantissas, exponents = _split_all(map(numerator, range(max_count + 1)), -scale)
    else:
        upper = _bounded_numerators(max_count, longest, top, q)
        lower = _bounded_numerators(max_count, min_literals - 1, top, q)
        shift = q * (longest - min_literals + 1)
        bounds = zip(upper, lower, strict=True)
        mantissas, exponents = _split_all((u - (v << shift) for u, v in bounds), -scale)
    newton = None
    if longest <= 3 and decay == 1:
        newton = tuple(int(min_literals <= length <= longest) for length in range(4))
    table = CountTable(count, mantissas, exponents, numerator, scale, newton=newton)
    if whole and min_literals <= 1:
        table.geometric = top, q, min_literals
    return table


def _bounded_numerators(max_count, longest, top, q):
    """Yield G(s) 2**(q longest), G(s) the sum of (top / 2**q)**l C(s, l) to longest.

    One row of Pascal's triangle makes the next:
    G(s + 1) = (1 + decay) G(s) - decay**(longest + 1) C(s, longest).
    """
    if longest < 0:
        yield from repeat(0, max_count + 1)
        return
    value, choices, last = 1 << q * longest, int(longest == 0), top ** (longest + 1)
    for s in range(max_count + 1):
        yield value
        value = (((1 << q) + top) * value - last * choices) >> q
        if s + 1 == longest:
            choices = 1
        elif s >= longest:
            choices = choices * (s + 1) // (s + 1 - longest)


def _geometric_values(max_count, top, q, constant):
    """Split (1 + top / 2**q)**s - constant for s = 0 ... max_count.

    Carrying 256 bits beyond the finest digit that the subtraction can uncover.
    """
    factor = (1 << q) + top
    numerators, exponents = [], []
    value, exponent = 1, 0
    for _ in range(max_count + 1):
        unit = constant << -exponent if exponent <= 0 else 0
        numerators.append(value - unit)
        exponents.append(exponent)
        value, exponent = value * factor, exponent - q
        excess = max(0, value.bit_length() - 256 - 2 * q)
        value, exponent = value >> excess, exponent + excess
    pairs = [split_integer(*pair) for pair in zip(numerators, exponents, strict=True)]
    return np.array([m for m, _ in pairs]), np.array([e for _, e in pairs], np.int64)
