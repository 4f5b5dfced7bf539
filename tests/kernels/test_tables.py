from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, frexp, inf

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from oracles.kernels import kernel_value, value_at

from sklboolean.kernels._count_table import (
    conjunction_table,
    integer_table,
    real_table,
    split_integer,
)

# Integers of up to 400 bits, many of them next to a float64 or between two.
big_integers = st.one_of(
    st.integers(-(2**80), 2**80),
    st.integers(-(2**400), 2**400),
    st.builds(
        lambda mantissa, shift, offset, sign: sign * ((mantissa << shift) + offset),
        st.integers(2**53, 2**54),
        st.integers(1, 300),
        st.integers(-2, 2),
        st.sampled_from([-1, 1]),
    ),
)
DECAYS = [1.0, 0.5, 0.3, 0.1, 2.0, 7.25, 1e-9, 2**-40, 1e40]


def float_of(value):
    """A Fraction as the nearest float64."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return inf if value > 0 else -inf


def split_by_definition(value):
    """Round a Fraction to 53 bits, half to even, wherever it lies."""
    if not value:
        return 0.0, 0
    numerator, denominator = abs(value.numerator), value.denominator
    exponent = numerator.bit_length() - denominator.bit_length()
    if Fraction(numerator, denominator) >= Fraction(2) ** exponent:
        exponent += 1
    scaled = Fraction(numerator, denominator) / Fraction(2) ** (exponent - 53)
    mantissa = round(scaled)  # half to even
    mantissa, exponent = frexp(mantissa)[0], exponent + frexp(mantissa)[1] - 53
    return (mantissa if value > 0 else -mantissa), exponent


def assert_holds(table, values):
    """The table holds these Fractions, exactly and rounded once."""
    assert table.max_count == len(values) - 1
    for s, value in enumerate(values):
        assert value_at(table, s) == value
        split = float(table.mantissas[s]), int(table.exponents[s])
        assert split == split_by_definition(value)


def g(s, parameters):
    """g(s) of the conjunction kernel, by the oracle on a row of s ones."""
    options = {"min_literals": 0, "max_literals": None, "decay": 1.0, **parameters}
    return Fraction(kernel_value([1] * s, [1] * s, monotone=True, **options))


@st.composite
def conjunction_parameters(draw, max_count=40):
    low = draw(st.integers(0, 6))
    high = draw(st.one_of(st.none(), st.integers(low, low + 6), st.just(max_count)))
    assume(high is None or high >= low)
    decay = draw(st.one_of(st.sampled_from(DECAYS), st.floats(1e-3, 10)))
    return {"min_literals": low, "max_literals": high, "decay": decay}


# -- rounding -----------------------------------------------------------------------


@given(big_integers, st.integers(-500, 500))
@example(2**54 + 1, 0)
@example(2**54 + 3, 0)
@example(-(2**200) - 2**147, 0)
@example(2**200 + 2**147 + 1, 0)
@example((1 << 64) - 1, 0)
@example((1 << 65) - 1, 0)
@example(((2**53 + 1) << 12) | 2**11, 0)
def test_an_integer_is_split_as_the_nearest_float64(value, exponent):
    split = split_integer(value, exponent)
    assert split == split_by_definition(value * Fraction(2) ** exponent)
    if abs(value) < 2**1000 and exponent == 0:
        assert np.ldexp(*split) == float(value)


def test_zero_has_exponent_0():
    assert split_integer(0, -77) == (0.0, 0)


@given(st.lists(big_integers, min_size=1, max_size=8))
def test_an_integer_table_holds_its_integers(values):
    assert_holds(integer_table("same", values), list(map(Fraction, values)))


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8)
)
@example([5e-324, 1.7e308, 0.0, -1.0])
@example([0.0])
def test_a_real_table_holds_its_numbers_as_they_are(values):
    table = real_table("common", values)
    assert_holds(table, list(map(Fraction, values)))
    assert table.values().tolist() == values


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_real_table_refuses_what_float64_cannot_hold(bad):
    with pytest.raises(ValueError, match="gamma, coef0 or degree"):
        real_table("same", [1.0, bad])


# -- conjunctions -------------------------------------------------------------------


@given(st.integers(0, 40), conjunction_parameters())
def test_a_conjunction_table_holds_sums_of_binomials(max_count, parameters):
    table = conjunction_table("common", max_count, **parameters)
    assert_holds(table, [g(s, parameters) for s in range(max_count + 1)])


@pytest.mark.parametrize("decay", [1.0, 0.3, 2.0, 1e-5])
def test_unbounded_tables_hold_powers_of_every_size(decay):
    for max_count in [0, 1, 130, 700]:
        for min_literals in [0, 1, 2]:
            table = conjunction_table("same", max_count, min_literals, None, decay)
            parameters = {"min_literals": min_literals, "decay": decay}
            for s in {0, 1, 2, 53, 54, 64, 119, 120, 121, 122, 300, max_count}:
                if s <= max_count:
                    value = g(s, parameters)
                    assert value_at(table, s) == value
                    split = float(table.mantissas[s]), int(table.exponents[s])
                    assert split == split_by_definition(value)


@pytest.mark.parametrize("max_literals", [1, 2, 3, 20])
def test_bounded_tables_hold_binomials_beyond_float64(max_literals):
    table = conjunction_table("same", 2000, 0, max_literals)
    for s in [0, 1, 19, 20, 21, 64, 500, 1999, 2000]:
        value = Fraction(sum(comb(s, length) for length in range(max_literals + 1)))
        assert value_at(table, s) == value
        split = float(table.mantissas[s]), int(table.exponents[s])
        assert split == split_by_definition(value)


@pytest.mark.parametrize("decay", [2.0**-1074, 1e-300, 2.0**-60, 1e300])
@pytest.mark.parametrize("min_literals", [0, 1])
def test_extreme_decays_are_rounded_correctly(decay, min_literals):
    table = conjunction_table("common", 200, min_literals, None, decay)
    parameters = {"min_literals": min_literals, "decay": decay}
    for s in [0, 1, 2, 3, 5, 127, 128, 129, 200]:
        split = float(table.mantissas[s]), int(table.exponents[s])
        assert split == split_by_definition(g(s, parameters))


def test_a_long_bound_sums_that_many_binomials():
    table = conjunction_table("same", 600, 0, 300)
    assert value_at(table, 600) == sum(comb(600, i) for i in range(301))
    # Every length, less the longer half by symmetry.
    assert 2 * value_at(table, 600) == 2**600 + comb(600, 300)


# -- what is read from a table ------------------------------------------------------


@given(st.integers(0, 30), conjunction_parameters(30), st.integers(-60, 60))
def test_values_are_divided_by_a_power_of_two(max_count, parameters, shift):
    table = conjunction_table("same", max_count, **parameters)
    for s, value in enumerate(table.values(shift).tolist()):
        assert value == float_of(g(s, parameters) / Fraction(2) ** shift)


def test_values_beyond_float64_are_infinite():
    values = conjunction_table("same", 1030).values()
    assert values[:1024].tolist() == [2.0**s for s in range(1024)]
    assert np.isinf(values[1024:]).all()
    assert conjunction_table("same", 1030).values(7)[1030] == 2.0**1023


@given(st.integers(0, 40), conjunction_parameters(), st.integers(0, 2**70))
def test_plus_adds_a_constant(max_count, parameters, constant):
    table = conjunction_table("same", max_count, **parameters).plus(constant)
    assert_holds(table, [g(s, parameters) + constant for s in range(max_count + 1)])
    if table.power_constant is not None:
        assert value_at(table, max_count) == 2**max_count + table.power_constant


@pytest.mark.parametrize("constant", [1, 5, 2**60])
def test_plus_adds_a_constant_to_long_tables(constant):
    table = conjunction_table("same", 300).plus(constant)
    assert_holds(table, [Fraction(2**s + constant) for s in range(301)])


def test_plus_nothing_is_the_same_table():
    table = conjunction_table("same", 5)
    assert table.plus(0) is table


@given(st.lists(big_integers, min_size=1, max_size=9))
def test_the_largest_value_is_the_largest_in_magnitude(values):
    largest = integer_table("same", values).largest
    assert largest == split_by_definition(Fraction(max(map(abs, values))))


def test_the_largest_of_zeros_is_zero():
    mantissa, _ = integer_table("same", [0, 0]).largest
    assert mantissa == 0


@given(st.integers(0, 60), conjunction_parameters(60), st.integers(0, 2**54), st.data())
def test_sums_said_to_be_exact_in_float64_are(max_count, parameters, weight, data):
    table = conjunction_table("same", max_count, **parameters)
    largest = g(max_count, parameters)
    exact = table.is_exact_in_float64(weight)
    whole = all(g(s, parameters).denominator == 1 for s in range(max_count + 1))
    if exact:
        assert whole
        assert weight * largest <= 2**53
    elif parameters["decay"] == 1:
        assert weight * largest > 2**53 or largest > 2**53


@pytest.mark.parametrize(
    ("min_literals", "max_literals"), [*combinations_with_replacement(range(4), 2)]
)
@pytest.mark.parametrize("constant", [0, 1, 7])
def test_a_cubic_has_the_values_of_the_table(min_literals, max_literals, constant):
    table = conjunction_table("same", 50, min_literals, max_literals).plus(constant)
    coefficients = table.cubic
    for s in range(51):
        cubic = sum(c * s**power for power, c in enumerate(coefficients))
        assert Fraction(cubic, 6) == value_at(table, s)


@pytest.mark.parametrize(
    "parameters", [{"max_literals": 4}, {}, {"max_literals": 2, "decay": 0.5}]
)
def test_what_is_no_integer_cubic_has_none(parameters):
    assert conjunction_table("same", 50, **parameters).cubic is None


@pytest.mark.parametrize("decay", [1.0, 0.3, 0.125])
@pytest.mark.parametrize("max_literals", [0, 1, 2, 3])
@pytest.mark.parametrize("constant", [0, 2])
def test_weights_of_short_conjunctions_make_the_table(decay, max_literals, constant):
    table = conjunction_table("common", 9, 0, max_literals, decay).plus(constant)
    for s in range(10):
        value = sum(weight * comb(s, k) for k, weight in enumerate(table.newton))
        assert Fraction(value, 1 << table.scale) == value_at(table, s)


@given(st.integers(0, 25), conjunction_parameters(25))
def test_length_weights_are_the_weights_by_length(max_count, parameters):
    table = conjunction_table("same", max_count, **parameters)
    decay = Fraction(parameters["decay"])
    low, high = parameters["min_literals"], parameters["max_literals"]
    high = max_count if high is None else high
    expected = [
        float_of(decay**length) if low <= length <= high else 0
        for length in range(max_count + 1)
    ]
    if inf in expected:
        with pytest.raises(ValueError, match="weight exceeds float64"):
            table.length_weights(False).to_float()
    else:
        assert table.length_weights(False).to_float().tolist() == expected


@given(st.lists(st.integers(-(2**60), 2**60), min_size=1, max_size=12))
def test_length_weights_give_the_table_back(values):
    weights = integer_table("same", values).length_weights(False).to_float()
    # a_l is the l-th difference at 0, an alternating sum; here in Python integers.
    for length in range(len(values)):
        terms = (
            (-1) ** (length - s) * comb(length, s) * values[s]
            for s in range(length + 1)
        )
        assert weights[length] == float(sum(terms))


@pytest.mark.parametrize("decay", [1e155, 2.0**512])
def test_length_weights_beyond_float64_are_an_error(decay):
    with pytest.raises(ValueError, match="weight exceeds float64"):
        conjunction_table("same", 2, decay=decay).length_weights(False).to_float()
    weights = (
        conjunction_table("same", 2, 0, 1, decay=decay).length_weights(False).to_float()
    )
    assert weights.tolist() == [1, decay, 0]
