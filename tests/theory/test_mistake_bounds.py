from fractions import Fraction
from functools import cache
from itertools import product
from math import isqrt, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.kernels import conjunction_holds, conjunctions
from oracles.linear_model import Elimination, Halving, Winnow, play_perceptron

from sklboolean.theory import (
    elimination_mistake_bound,
    halving_mistake_bound,
    hinge_deviation,
    n_conjunctions,
    perceptron_mistake_bound,
    perceptron_mistake_bound_nonseparable,
    winnow1_mistake_bound,
    winnow_mistake_bound,
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
    for tie in (True, False):
        for rate in (1, Fraction(1, 3)):  # of no effect
            played = play_perceptron(
                examples * 20, signs * 20, learning_rate=rate, tie=tie
            )
            assert played.n_mistakes <= bound


def test_bound_is_reached_and_not_missed_by_rounding():
    for n in range(1, 300):
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


def play_against_adversary(learner, label, rows, seed, limit):
    """Show rows that the learner gets wrong until none is left; return how many."""
    random = Random(seed)
    preference = random.choice([sum, lambda row: -sum(row), lambda row: 0])
    for n_mistakes in range(limit + 1):
        wrong = [row for row in rows if learner.predict(row) != label(row)]
        if not wrong:
            return n_mistakes
        if random.random() < 0.5:
            best = min(map(preference, wrong))
            wrong = [row for row in wrong if preference(row) == best]
        row = random.choice(wrong)
        learner.see(row, label(row))
    return limit + 1


def cube(n):
    return list(product([0, 1], repeat=n))


sizes = st.integers(1, 5).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
promotions = st.sampled_from([Fraction(11, 10), Fraction(3, 2), 2, Fraction(7, 3), 9])
thresholds = st.fractions(Fraction(1, 4), 20, max_denominator=4)


@given(sizes, promotions, thresholds, st.booleans(), st.integers(0, 2**32))
def test_winnow_never_exceeds_the_bound(size, promotion, threshold, tie, seed):
    n, k = size
    bound = winnow_mistake_bound(n, k, promotion, threshold)
    learner = Winnow(
        n, promotion=promotion, demotion=None, threshold=threshold, tie=tie
    )
    n_mistakes = play_against_adversary(
        learner, lambda row: any(row[:k]), cube(n), seed, bound
    )
    assert n_mistakes <= bound
    assert learner.n_mistakes == learner.n_updates == n_mistakes


@given(sizes, st.integers(0, 2**32))
def test_winnow1_never_exceeds_the_bound(size, seed):
    n, k = size
    bound = winnow1_mistake_bound(n, k)
    learner = Winnow(n, promotion=2, demotion=0, threshold=Fraction(n, 2), tie=False)
    n_mistakes = play_against_adversary(
        learner, lambda row: any(row[:k]), cube(n), seed, bound
    )
    assert n_mistakes <= bound


@given(
    sizes,
    st.fractions(Fraction(4, 3), 4, max_denominator=3),
    st.fractions(Fraction(1, 3), 12, max_denominator=3),
)
def test_winnow_bound_is_the_formula_rounded_down(size, promotion, threshold):
    n, k = size
    first = promotion / (promotion - 1) * n / threshold
    factor = k * (promotion + 1)
    if promotion * threshold < 1:
        factor = Fraction(0)

    def reaches(m):
        # m <= first + factor * (1 + log threshold / log promotion), without logarithms.
        rest = m - first - factor
        scale = rest.denominator * factor.denominator
        exponents = int(rest * scale), int(factor * scale)
        return promotion ** exponents[0] <= threshold ** exponents[1]

    bound = winnow_mistake_bound(n, k, promotion, threshold)
    assert isinstance(bound, int)
    assert reaches(bound)
    assert not reaches(bound + 1)


@pytest.mark.parametrize(
    ("n", "k", "promotion", "threshold", "bound"),
    [
        (1024, 5, 2, 1024, 2 + 5 * 3 * 11),
        (1024, 5, 2, 512, 4 + 5 * 3 * 10),
        (8, 2, 4, 8, Fraction(4, 3) + 2 * 5 * Fraction(5, 2)),
        (1331, 10, 1.1, 1.1**3, 11000 + 10 * Fraction(21, 10) * 4),
        (1331, 10, Fraction(11, 10), Fraction(1331, 1000), 11084),
        (7, 7, 1.5, 1.5**5, 3 * 7 * Fraction(32, 243) + 7 * Fraction(5, 2) * 6),
        (10, 3, 2, Fraction(1, 2), 40),
        (10, 3, 2, Fraction(1, 16), 320),
    ],
)
def test_winnow_bound_that_has_no_logarithm_left(n, k, promotion, threshold, bound):
    assert winnow_mistake_bound(n, k, promotion, threshold) == bound // 1


def test_winnow_bounds_of_enormous_feature_spaces():
    # Twice all conjunctions of 2000 features: no fraction hides an error.
    n = 3**2000
    assert winnow_mistake_bound(2 * n, 4, 3, n) == 3 + 4 * 4 * 2001
    assert winnow1_mistake_bound(2**5000, 7) == 2 + 2 * 7 * 5000
    nearly_one = 1 + Fraction(1, 10**50)
    steps = winnow_mistake_bound(1, 1, nearly_one, nearly_one**3)
    first = (10**50 + 1) / nearly_one**3
    assert steps == int(first + (nearly_one + 1) * 4)


@given(st.integers(1, 10**6), st.integers(0, 50))
def test_winnow1_bound_is_the_formula_rounded_down(n, k):
    k = min(n, k)
    lg_floor = (n ** (2 * k)).bit_length() - 1
    assert 2**lg_floor <= n ** (2 * k) < 2 ** (lg_floor + 1)
    assert winnow1_mistake_bound(n, k) == 2 + lg_floor


@given(st.data(), st.integers(1, 12), st.integers(0, 2**32))
def test_halving_never_exceeds_the_bound(data, n_samples, seed):
    tables = data.draw(
        st.lists(
            st.lists(st.booleans(), min_size=n_samples, max_size=n_samples),
            min_size=1,
            max_size=40,
        )
    )
    target = data.draw(st.sampled_from(tables))
    bound = halving_mistake_bound(len(tables))
    learner = Halving([lambda row, values=values: values[row[0]] for values in tables])
    n_mistakes = play_against_adversary(
        learner,
        lambda row: target[row[0]],
        [(i,) for i in range(n_samples)],
        seed,
        bound,
    )
    assert n_mistakes <= bound


@pytest.mark.parametrize("n_samples", range(1, 6))
def test_halving_bound_is_reached(n_samples):
    tables = list(product([False, True], repeat=n_samples))
    learner = Halving([lambda i, values=values: values[i] for values in tables])
    learner.play(range(n_samples), [1] * n_samples)  # a tie says no
    assert learner.n_mistakes == n_samples == halving_mistake_bound(len(tables))


@given(st.integers(1, 10**60))
def test_halving_bound_is_the_exact_logarithm(size):
    bound = halving_mistake_bound(size)
    assert 2**bound <= size < 2 ** (bound + 1)


def test_halving_bound_of_all_conjunctions():
    assert halving_mistake_bound(n_conjunctions(np.int64(1000))) == 1584
    assert halving_mistake_bound(2**5000 - 1) == 4999


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("n", "k"), [(n, k) for n in (1, 2, 3) for k in range(n + 1)])
def test_elimination_bound_is_the_worst_case(n, k, monotone):
    def most_mistakes(target):
        @cache
        def most_from(literals):
            counts = [0]
            for row in cube(n):
                learner = Elimination(n, monotone=monotone)
                learner.literals = set(literals)
                learner.see(row, conjunction_holds(target, row))
                if learner.n_mistakes:
                    assert conjunction_holds(target, row)
                    counts.append(1 + most_from(frozenset(learner.literals)))
            return max(counts)

        return most_from(frozenset(Elimination(n, monotone=monotone).literals))

    bound = elimination_mistake_bound(n, k, monotone=monotone)
    targets = list(conjunctions(n, k, k, monotone))
    assert {most_mistakes(target) for target in targets} == {bound}


@pytest.mark.parametrize("value", [-1, 2.0, "2", None, np.nan])
def test_bad_integer_is_named(value):
    for call in (
        lambda n: winnow_mistake_bound(n, 1, 2, 2),
        lambda n: winnow1_mistake_bound(n, 1),
        lambda n: elimination_mistake_bound(n),
    ):
        with pytest.raises(ValueError, match=r"^n_features must be"):
            call(value)
    for call in (
        lambda k: winnow_mistake_bound(3, k, 2, 2),
        lambda k: winnow1_mistake_bound(3, k),
        lambda k: elimination_mistake_bound(3, k),
    ):
        with pytest.raises(ValueError, match=r"^n_relevant must be"):
            call(value)
        with pytest.raises(ValueError, match=r"^n_relevant must be at most 3; got 4"):
            call(4)
    for size in (value, 0):
        with pytest.raises(ValueError, match=r"^class_size must be"):
            halving_mistake_bound(size)


@pytest.mark.parametrize("value", [-1, 0, 1, 0.5, np.nan, np.inf, "2", None])
def test_bad_promotion_or_threshold_is_named(value):
    with pytest.raises(ValueError, match=r"^promotion must be"):
        winnow_mistake_bound(4, 2, value, 4)
    if value not in (1, 0.5):
        with pytest.raises(ValueError, match=r"^threshold must be"):
            winnow_mistake_bound(4, 2, 2, value)
