"""Exact numbers for the bounds: checks of arguments, and safe rounding."""

import operator
from decimal import Decimal, localcontext
from fractions import Fraction
from math import floor, isfinite
from numbers import Integral, Rational, Real

# A float such as sqrt(3) is off by a few rounding errors, so a bound may come out just
# below the integer that it should be. This factor prevents it.
FLOAT_SLACK = 1 + Fraction(1, 10**12)

# Terms with a logarithm are off by far less than this. It is added to them, so that a
# bound that is an integer is not rounded down to the integer below.
LOG_SLACK = Fraction(1, 10**40)

_COMPARISONS = {
    "at least": operator.ge,
    "above": operator.gt,
    "at most": operator.le,
    "below": operator.lt,
}


def as_fraction(number, name, **limits):
    """Convert a finite number to a Fraction, or raise an error that names ``name``.

    ``limits`` are ``at_least``, ``above``, ``at_most`` and ``below``.
    """
    if isinstance(number, Rational):
        exact = Fraction(int(number.numerator), int(number.denominator))
    elif isinstance(number, Real) and isfinite(number):
        exact = Fraction(float(number))
    else:
        raise ValueError(f"{name} must be a finite number; got {number!r}.")
    _check_limits(exact, number, name, limits)
    return exact


def as_integer(number, name, **limits):
    """Convert an integer to an int, or raise an error that names ``name``."""
    if not isinstance(number, Integral):
        raise ValueError(f"{name} must be an integer; got {number!r}.")
    exact = int(number)
    _check_limits(exact, exact, name, limits)
    return exact


def all_exact(*numbers):
    """Check that none of the numbers is a float, which may be rounded."""
    return all(isinstance(number, Rational) for number in numbers)


def floor_of_bound(value, *, exact):
    """Round a bound down, but never below the integer that it should be."""
    return floor(value if exact else value * FLOAT_SLACK)


def natural_log(number, digits=60):
    """Compute ln of a positive int or Fraction with an error below 10**-digits."""
    with localcontext(prec=digits + 30):
        # Digits to spare: the difference of two logarithms may be small.
        over, under = (
            _log_of_integer(integer, 4 * digits)
            for integer in (number.numerator, number.denominator)
        )
        return Fraction(over - under)


def log2_floor(number):
    """Compute floor(lg number) of a positive int."""
    return number.bit_length() - 1


def _log_of_integer(number, n_bits):
    # The leading bits are enough; class sizes may have millions of bits.
    shift = max(0, number.bit_length() - n_bits)
    return Decimal(number >> shift).ln() + shift * Decimal(2).ln()


def _check_limits(exact, number, name, limits):
    for words, limit in limits.items():
        words = words.replace("_", " ")
        if not _COMPARISONS[words](exact, limit):
            raise ValueError(f"{name} must be {words} {limit}; got {number}.")
