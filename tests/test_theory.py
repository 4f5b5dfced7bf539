from fractions import Fraction
from math import isqrt, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sklboolean.theory import (
    hinge_deviation,
    perceptron_mistake_bound,
    perceptron_mistake_bound_nonseparable,
)

positive_fractions = st.fractions(Fraction(1, 50), 50, max_denominator=50)
integer_vectors = st.integers(1, 4).flatmap(
    lambda d: st.tuples(
        st.lists(st.integers(-4, 4), min_size=d, max_size=d),
        st.lists(
            st.lists(st.integers(-4, 4), min_size=d, max_size=d), min_size=1, max_size=8
        ),
    )
)


def dot(u, x):
    return sum(a * b for a, b in zip(u, x, strict=True))


def count_mistakes(examples, signs, max_passes):
    """Run the perceptron on integers; a score of zero is a mistake."""
    weights, n_mistakes = [0] * len(examples[0]), 0
    for _ in range(max_passes):
        before = n_mistakes
        for x, sign in zip(examples, signs, strict=True):
            if sign * dot(weights, x) <= 0:
                weights = [w + sign * a for w, a in zip(weights, x, strict=True)]
                n_mistakes += 1
        if n_mistakes == before:
            return n_mistakes
    return n_mistakes


def rounded_up_sqrt(number):
    """Return a Fraction that is at least the root of an integer, within 1e-6."""
    scaled = isqrt(number * 10**12)
    return Fraction(scaled + (scaled**2 < number * 10**12), 10**6)


@given(integer_vectors)
def test_perceptron_never_exceeds_the_bound(vectors):
    u, examples = vectors
    examples = [x for x in examples if dot(u, x)]
    assume(examples)
    signs = [1 if dot(u, x) > 0 else -1 for x in examples]
    margin = min(abs(dot(u, x)) for x in examples)
    radius = rounded_up_sqrt(max(dot(x, x) for x in examples))
    norm = rounded_up_sqrt(dot(u, u))
    bound = perceptron_mistake_bound(radius, margin, norm)
    assert count_mistakes(examples, signs, max_passes=10_000) <= bound


@pytest.mark.parametrize("n", range(1, 300))
def test_bound_is_reached_and_not_missed_by_rounding(n):
    # The n unit vectors, all positive, cost n mistakes; u is all ones. The floats
    # sqrt(n) ** 2 lie below n for many n, for example 3.
    assert perceptron_mistake_bound(1, 1, norm=sqrt(n)) == n
    assert perceptron_mistake_bound(sqrt(n), 1.0) == n
    assert perceptron_mistake_bound(1, 1 / sqrt(n)) == n
    if n <= 20:
        unit_vectors = np.eye(n, dtype=int).tolist()
        assert count_mistakes(unit_vectors, [1] * n, max_passes=2) == n


@given(positive_fractions, positive_fractions, positive_fractions)
def test_bound_is_the_exact_floor_of_fractions(radius, margin, norm):
    bound = perceptron_mistake_bound(radius, margin, norm)
    exact = radius**2 * norm**2 / margin**2
    assert isinstance(bound, int)
    assert bound <= exact < bound + 1


def test_bound_of_large_integers_is_exact():
    n = 10**30 + 1
    assert perceptron_mistake_bound(n, 1) == n**2
    assert perceptron_mistake_bound(n, 1, 3) == 9 * n**2
    assert perceptron_mistake_bound(np.int64(2**40), np.int32(1)) == 2**80
    assert perceptron_mistake_bound_nonseparable(n, 1, n) == 4 * n**2


@given(integer_vectors, st.data(), st.integers(1, 5), st.integers(1, 3))
def test_one_pass_never_exceeds_the_nonseparable_bound(
    vectors, data, margin, n_repeats
):
    u, examples = vectors
    assume(any(u))
    examples = examples * n_repeats
    n = len(examples)
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    scores = [dot(u, x) for x in examples]
    lacking = [max(0, margin - y * s) for y, s in zip(signs, scores, strict=True)]
    radius = rounded_up_sqrt(max(dot(x, x) for x in examples))
    norm = rounded_up_sqrt(dot(u, u))
    deviation = rounded_up_sqrt(dot(lacking, lacking))
    n_mistakes = count_mistakes(examples, signs, max_passes=1)
    assert n_mistakes <= perceptron_mistake_bound_nonseparable(
        radius, margin, deviation, norm
    )
    assert hinge_deviation(scores, signs, margin) == pytest.approx(
        sqrt(dot(lacking, lacking)), rel=1e-15
    )


@given(positive_fractions, positive_fractions, positive_fractions, positive_fractions)
def test_nonseparable_bound_is_the_theorem_for_a_unit_vector(
    radius, margin, deviation, norm
):
    # Freund and Schapire state it for ||u|| = 1: scale u, margin and deviation down.
    scaled = (radius + deviation / norm) ** 2 / (margin / norm) ** 2
    bound = perceptron_mistake_bound_nonseparable(radius, margin, deviation, norm)
    assert bound == scaled.numerator // scaled.denominator
    no_deviation = perceptron_mistake_bound_nonseparable(radius, margin, 0, norm)
    assert no_deviation == perceptron_mistake_bound(radius, margin, norm)


def test_nonseparable_bound_is_not_missed_by_rounding():
    for n in range(1, 300):
        root = sqrt(n)
        assert perceptron_mistake_bound_nonseparable(root, 1, root) == 4 * n


def test_float_bound_is_not_loosened_noticeably():
    assert perceptron_mistake_bound(sqrt(7.999999), 1) == 7
    assert perceptron_mistake_bound(1e3, 1.0) == 10**6


def test_hinge_deviation_counts_only_what_is_lacking():
    assert hinge_deviation([1, -1, 5], [1, -1, 1], margin=1) == 0.0
    assert hinge_deviation([0.5], [-1], margin=0.25) == 0.75
    assert hinge_deviation([], [], margin=1) == 0.0
    assert hinge_deviation([-3e299, -4e299], [1, 1], margin=1) == 5e299


@pytest.mark.parametrize("name", ["radius", "margin", "deviation", "norm"])
@pytest.mark.parametrize("value", [-1, -0.5, np.nan, np.inf, "1", None])
def test_bad_number_is_named(name, value):
    arguments = {"radius": 1, "margin": 1, "deviation": 1, "norm": 1, name: value}
    with pytest.raises(ValueError, match=rf"^{name} must be"):
        perceptron_mistake_bound_nonseparable(**arguments)
    if name != "deviation":
        del arguments["deviation"]
        with pytest.raises(ValueError, match=rf"^{name} must be"):
            perceptron_mistake_bound(**arguments)


@pytest.mark.parametrize("name", ["margin", "norm"])
def test_zero_is_refused_where_the_bound_would_be_meaningless(name):
    with pytest.raises(ValueError, match=rf"^{name} must be above 0"):
        perceptron_mistake_bound(**{"radius": 1, "margin": 1, name: 0})
    assert perceptron_mistake_bound(radius=0, margin=1) == 0


@pytest.mark.parametrize(
    ("scores", "signs", "margin", "name"),
    [
        ([1, 2], [1], 1, "signs"),
        ([[1, 2]], [[1, 1]], 1, "scores"),
        ([1, np.nan], [1, 1], 1, "scores"),
        ([1, np.inf], [1, 1], 1, "scores"),
        ([1, 2], [1, 0], 1, "signs"),
        ([1, 2], [1, 1], 0, "margin"),
    ],
)
def test_hinge_deviation_names_bad_input(scores, signs, margin, name):
    with pytest.raises(ValueError, match=name):
        hinge_deviation(scores, signs, margin)
