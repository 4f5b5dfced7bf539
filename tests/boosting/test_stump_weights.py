"""Weights as integers: digits are exact, quantising errs as little as it says."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sklboolean._core.weights import check_sample_weight
from sklboolean.boosting._stump import binary_digits, quantize_weights

weight_lists = st.lists(
    st.one_of(
        st.integers(0, 5).map(float),
        st.floats(0, 1),
        st.floats(0, np.finfo(float).max),
        st.sampled_from([5e-324, 2.0**-1022, 1 - 2.0**-53, 2.0**53 + 2]),
    ),
    min_size=1,
    max_size=8,
)


@given(weight_lists)
@example([np.finfo(float).max, 5e-324])
@example([1.0])
@example([2.0**1000])
def test_digits_add_up_to_the_weights_times_one_unit(weights):
    assume(any(weights))
    parts = binary_digits(np.array(weights))
    sums = [
        sum(int(digits[i]) << shift for shift, digits in parts)
        for i in range(len(weights))
    ]
    units = {
        Fraction(weight) / value
        for weight, value in zip(weights, sums, strict=True)
        if weight
    }
    assert len(units) == 1
    unit = units.pop()
    assert [value * unit for value in sums] == [Fraction(weight) for weight in weights]
    # The unit is a power of two, and the largest that does: some sum is odd.
    assert any(value % 2 for value in sums)
    for shift, digits in parts:
        assert digits.dtype == np.int16
        assert digits.min() >= 0
        assert digits.any()
        assert shift % 15 == 0


@given(weight_lists)
def test_quantized_weights_are_as_near_as_15_bits_allow(weights):
    assume(any(weights))
    quantized = quantize_weights(np.array(weights))
    largest = Fraction(max(weights))
    assert quantized.dtype == np.int16
    assert quantized.max() == 32767
    assert quantized.min() >= 0
    for weight, value in zip(weights, quantized, strict=True):
        error = abs(Fraction(weight) - int(value) * largest / 32767)
        # Rounding to float64 comes on top, far below half a step.
        assert error <= largest / 65534 * (1 + Fraction(1, 2**30))


def test_quantizing_needs_a_weight():
    for weights in (np.zeros(3), np.zeros(0)):
        with pytest.raises(ValueError, match="zero"):
            quantize_weights(weights)


def test_checked_weights_are_float64_and_not_copied_without_need():
    weights = np.array([0.5, 0.0])
    assert check_sample_weight(weights, 2) is weights
    assert check_sample_weight(None, 3).tolist() == [1, 1, 1]
    assert check_sample_weight(2, 3).tolist() == [2, 2, 2]
    assert check_sample_weight([True, False], 2).dtype == np.float64


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1], r"sample_weight\[1\] is -1"),
        ([0, 0, 0], "zero"),
        ([1, np.nan, 1], "NaN"),
        ([1, np.inf, 1], "infinity"),
        ([1, 1], "shape"),
        ([[1], [1], [1]], "shape"),
        (-2.0, "at least 0"),
        (["a", "b", "c"], "could not convert"),
    ],
)
def test_bad_weights_are_named(weights, message):
    with pytest.raises(ValueError, match=message):
        check_sample_weight(weights, 3)
