"""Information gain, label entropy and the bounds on the error that follow."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import active_learning as oracles

from sklboolean.active_learning import (
    bayes_error_bounds,
    expected_information_gain,
    label_entropy,
    vote_entropy,
)


@given(st.floats(1e-300, 1))
def test_information_gain_keeps_its_digits(part):
    with localcontext(prec=330):
        p = Decimal(part)
        nats = -sum(q * q.ln() for q in (p, 1 - p) if q)
        expected = float(nats / Decimal(2).ln())
    assert expected_information_gain(part) == pytest.approx(expected, rel=1e-13)


@given(st.lists(st.floats(0, 1), max_size=5))
def test_information_gain_is_the_entropy_of_two_shares(parts):
    gains = expected_information_gain(parts)
    table = np.array([[part, 1 - part] for part in parts]).reshape(-1, 2)
    np.testing.assert_allclose(gains, vote_entropy(table), rtol=0, atol=1e-13)
    assert np.all(gains <= 1)
    assert np.all(gains >= 0)


@given(st.integers(2, 4).flatmap(lambda n: oracles.distributions(5, n)))
def test_label_entropy_bounds_the_error_of_the_best_prediction(shares):
    entropy = label_entropy(shares)
    assert entropy == pytest.approx(np.mean([oracles.entropy(row) for row in shares]))
    lower, upper = bayes_error_bounds(entropy, n_classes=shares.shape[1])
    error = np.mean(1 - shares.max(axis=1))
    # Near the blind guess the entropy is flat: its last bit moves the error by 1e-8.
    assert lower <= error + 1e-7
    assert error <= upper + 1e-12


@pytest.mark.parametrize("error", [1e-300, 1e-9, 0.01, 0.3, 0.4999])
def test_lower_bound_is_reached(error):
    for n_classes in [2, 3, 10]:
        # All wrong labels are as likely, on every row.
        rest = error / (n_classes - 1)
        entropy = oracles.entropy([1 - error] + [rest] * (n_classes - 1))
        if error < 1e-15:
            entropy += error / np.log(2)  # what 1 - error loses
        lower, upper = bayes_error_bounds(entropy, n_classes=n_classes)
        assert lower == pytest.approx(error, rel=1e-7)
        assert lower <= upper


@pytest.mark.parametrize("share", [0, 0.1, 1])
def test_upper_bound_is_reached(share):
    # Rows of which nobody knows the label, and rows of which everybody does.
    lower, upper = bayes_error_bounds(share)
    assert upper == share / 2
    assert lower <= upper


def test_ends_of_the_bounds():
    assert bayes_error_bounds(0.0) == (0, 0)
    assert bayes_error_bounds(1.0) == (0.5, 0.5)
    assert bayes_error_bounds(np.log2(3), n_classes=3) == (1 - 1 / 3, 1 - 1 / 3)
    assert bayes_error_bounds(np.nextafter(0, 1))[0] == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: expected_information_gain([0.5, 1.5]), "between 0 and 1"),
        (lambda: expected_information_gain(np.nan), "between 0 and 1"),
        (lambda: label_entropy(np.zeros((0, 2))), "at least one sample"),
        (lambda: label_entropy([[0.5, 0.6]]), "shares must sum to 1"),
        (lambda: bayes_error_bounds(1.1), "between 0 and lg 2"),
        (lambda: bayes_error_bounds(-0.1), "entropy must be between"),
        (lambda: bayes_error_bounds(np.nan), "entropy must be between"),
        (lambda: bayes_error_bounds(0, n_classes=1), "n_classes"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
