from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.linear_model import Elimination

from sklboolean.theory import (
    n_k_dnf,
    online_sample_complexity,
    sample_complexity,
    survival_length,
)

probabilities = st.fractions(Fraction(1, 200), Fraction(199, 200), max_denominator=200)


def chance_bound(n_bad, epsilon, n_samples):
    """``n_bad * exp(-epsilon * n_samples)`` to 60 digits."""
    with localcontext(prec=60):
        epsilon = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        return Fraction(n_bad * (-epsilon * n_samples).exp())


@given(st.integers(1, 10**40), probabilities, probabilities)
def test_least_number_of_examples_is_returned(size, epsilon, delta):
    for count in (sample_complexity, survival_length):
        n_samples = count(size, epsilon, delta)
        assert chance_bound(size, epsilon, n_samples) <= delta
        assert chance_bound(size, epsilon, n_samples - 1) > delta
    total = online_sample_complexity(size, epsilon, delta)
    assert total == (size + 1) * n_samples


def test_huge_classes_are_exact():
    # ln(2**m) = m ln 2, whatever the number of digits.
    size = n_k_dnf(100, 3)
    n_terms = size.bit_length() - 1
    assert n_terms > 10**6
    with localcontext(prec=60):
        nats = n_terms * Decimal(2).ln() + Decimal(20).ln()
        expected = int((nats * 10).to_integral_value("ROUND_CEILING"))
    assert sample_complexity(size, Fraction(1, 10), Fraction(1, 20)) == expected
    assert sample_complexity(size, 0.1, 0.05) == expected


def test_nothing_to_refute_needs_no_example():
    assert survival_length(0, 0.1, 0.1) == online_sample_complexity(0, 0.1, 0.1) == 0


def chance_that_a_bad_hypothesis_is_left(n_bad, error, n_samples):
    """Each bad hypothesis errs on rows of its own, of probability ``error`` in all."""
    return sum(
        (-1) ** (j + 1) * comb(n_bad, j) * (1 - j * error) ** n_samples
        for j in range(1, n_bad + 1)
    )


def test_consistent_learner_fails_as_rarely_as_promised():
    epsilon, delta, n_bad = Fraction(1, 20), Fraction(1, 100), 10
    error = epsilon + Fraction(1, 10**6)
    n_samples = sample_complexity(n_bad + 1, epsilon, delta)
    assert chance_that_a_bad_hypothesis_is_left(n_bad, error, n_samples) <= delta
    fewer = n_samples * 9 // 10
    assert chance_that_a_bad_hypothesis_is_left(n_bad, error, fewer) > delta


@pytest.mark.parametrize("n_mistakes", [1, 2, 10, 100])
def test_first_survivor_fails_as_rarely_as_promised(n_mistakes):
    # The worst learner: all hypotheses before the last are barely bad enough, and the
    # chance that one of them survives is exact.
    epsilon, delta = Fraction(1, 50), Fraction(1, 20)

    def chance_of_failure(length):
        survives = (1 - epsilon) ** length
        return 1 - (1 - survives) ** n_mistakes

    length = survival_length(n_mistakes, epsilon, delta)
    assert chance_of_failure(length) <= delta
    assert chance_of_failure(length * 95 // 100) > delta


@pytest.mark.parametrize("delta", [Fraction(1, 2), Fraction(1, 10), Fraction(1, 20)])
@pytest.mark.parametrize("n_mistakes", [1, 2, 3])
def test_some_hypothesis_survives_long_enough_wherever_the_mistakes_are(
    n_mistakes, delta
):
    length = survival_length(n_mistakes, 1, delta)
    total = online_sample_complexity(n_mistakes, 1, delta)

    def longest(places, n_samples):
        ends = [-1, *places, n_samples]
        return max(b - a - 1 for a, b in pairwise(ends))

    for n_made in range(n_mistakes + 1):
        for places in combinations(range(total), n_made):
            assert longest(places, total) >= length
    # One example less, and the mistakes can be spread so that none does.
    spread = range(length - 1, total - 1, length)
    assert len(spread) == n_mistakes
    assert longest(spread, total - 1) < length


def longest_survivor_is_bad(n_features, n_samples, error, rng):
    """Run elimination on rows that lack one feature each; the target is always true.

    A literal left over errs with probability ``error``, so any makes it bad.
    """
    learner = Elimination(n_features, monotone=True)
    for draw in rng.random(n_samples).tolist():
        row = [1] * n_features
        if draw < n_features * error:
            row[int(draw / error)] = 0
        learner.see(row, 1)
    n_dropped = learner.survived.index(max(learner.survived))
    return n_dropped < n_features


def test_longest_survivor_fails_as_rarely_as_promised():
    n_features, epsilon, delta, n_runs = 5, 0.1, 0.2, 300
    rng = np.random.default_rng(0)

    def failures(n_samples):
        return sum(
            longest_survivor_is_bad(n_features, n_samples, epsilon + 0.01, rng)
            for _ in range(n_runs)
        )

    n_samples = online_sample_complexity(n_features, epsilon, delta)
    assert failures(n_samples) <= delta * n_runs
    assert failures(n_samples // 6) > delta * n_runs


@pytest.mark.parametrize(
    ("count", "name"),
    [
        (sample_complexity, "class_size"),
        (survival_length, "mistake_bound"),
        (online_sample_complexity, "mistake_bound"),
    ],
)
def test_bad_argument_is_named(count, name):
    for bad in (-1, 2.5, None, "3", np.inf):
        with pytest.raises(ValueError, match=rf"^{name} must be"):
            count(bad, 0.1, 0.1)
    for bad in (0, -0.1, 1.01, np.nan, None, "0.1"):
        with pytest.raises(ValueError, match=r"^epsilon must be"):
            count(5, bad, 0.1)
    for bad in (0, 1, -0.1, np.nan, None, "0.1"):
        with pytest.raises(ValueError, match=r"^delta must be"):
            count(5, 0.1, bad)
    assert count(5, 1, 0.1) > 0
    with pytest.raises(ValueError, match=r"^class_size must be at least 1"):
        sample_complexity(0, 0.1, 0.1)
