from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.linear_model import BalancedWinnow, Perceptron, Winnow, dot
from scipy.sparse import csr_array

from sklboolean.theory import (
    additive_mistake_bound,
    decision_list_halfspace,
    hinge_deviation,
    multiplicative_mistake_bound,
    perceptron_mistake_bound,
)


@st.composite
def separated_examples(draw, *, negative_weights):
    """A vector of whole numbers, rows that it separates, and their signs."""
    d = draw(st.integers(1, 3))
    weights = st.integers(-2 if negative_weights else 0, 2)
    u = draw(st.lists(weights, min_size=d, max_size=d))
    rows = st.lists(st.integers(-2, 2), min_size=d, max_size=d)
    X = [x for x in draw(st.lists(rows, min_size=1, max_size=8)) if dot(u, x)]
    assume(X)
    return u, X, [1 if dot(u, x) > 0 else -1 for x in X]


def largest(X):
    return max(abs(a) for x in X for a in x)


def smallest_margin(u, X):
    return min(abs(dot(u, x)) for x in X)


def play_until_right(learner, X, signs, limit):
    """Pass over the rows until a pass without a mistake; return the mistakes."""
    while learner.n_mistakes <= limit:
        before = learner.n_mistakes
        learner.play(X, signs)
        if learner.n_mistakes == before:
            break
    return learner.n_mistakes


def promotion_for(u, X):
    """The promotion for which the multiplicative bound is stated, nearly."""
    norm = sum(map(abs, u))
    rate = smallest_margin(u, X) / (norm * largest(X) ** 2)
    return Fraction(exp(rate)).limit_denominator(1000)


@given(separated_examples(negative_weights=True), st.booleans())
def test_perceptron_never_exceeds_the_additive_bound(case, tie):
    u, X, signs = case
    bound = additive_mistake_bound(u, X, signs)
    learner = Perceptron(len(u), tie=tie)
    assert play_until_right(learner, X, signs, bound) <= bound
    exact = dot(u, u) * max(dot(x, x) for x in X) / smallest_margin(u, X) ** 2
    assert bound == exact // 1


@given(separated_examples(negative_weights=False), st.booleans())
def test_positive_weights_never_exceed_the_multiplicative_bound(case, tie):
    u, X, signs = case
    bound = multiplicative_mistake_bound(u, X, signs)
    learner = Winnow(
        len(u), promotion=promotion_for(u, X), demotion=None, threshold=0, tie=tie
    )
    assert play_until_right(learner, X, signs, bound) <= bound


@given(separated_examples(negative_weights=True), st.booleans())
def test_balanced_winnow_never_exceeds_the_multiplicative_bound(case, tie):
    u, X, signs = case
    bound = multiplicative_mistake_bound(u, X, signs, balanced=True)
    learner = BalancedWinnow(len(u), promotion=promotion_for(u, X), tie=tie)
    assert play_until_right(learner, X, signs, bound) <= bound


@given(
    separated_examples(negative_weights=True),
    st.sampled_from([Fraction(5, 4), Fraction(3, 2), 2]),
)
def test_another_promotion_costs_the_factor_of_the_notes(case, promotion):
    u, X, signs = case
    rate = smallest_margin(u, X) / (sum(map(abs, u)) * largest(X) ** 2)
    r = log(promotion) / rate
    assume(0 < r < 2)
    bound = multiplicative_mistake_bound(u, X, signs, balanced=True)
    larger_bound = int((bound + 1) / (r * (2 - r)))
    learner = BalancedWinnow(len(u), promotion=promotion)
    assert play_until_right(learner, X, signs, larger_bound) <= larger_bound


@given(separated_examples(negative_weights=True))
def test_multiplicative_bound_is_the_formula_rounded_down(case):
    u, X, signs = case
    ratio = sum(map(abs, u)) * largest(X) / smallest_margin(u, X)
    for balanced in (True, False):
        if not balanced and min(u) < 0:
            continue
        with localcontext(prec=50):
            n = len(u) * (2 if balanced else 1)
            exact = 2 * Fraction(Decimal(n).ln()) * ratio**2
        bound = multiplicative_mistake_bound(u, X, signs, balanced=balanced)
        assert bound <= exact < bound + 1


@pytest.mark.parametrize(("n", "k"), [(10, 1), (100, 3), (1000, 10)])
def test_sparse_target_of_the_slides(n, k):
    # k of n features are relevant, and one example has them all.
    u = np.array([1] * k + [0] * (n - k))
    X = np.vstack([np.eye(k, n), np.ones(n)]).astype(np.uint8)
    signs = np.ones(k + 1)
    assert additive_mistake_bound(u, X, signs) == k * n
    assert multiplicative_mistake_bound(u, X, signs) == int(2 * k**2 * log(n))


@pytest.mark.parametrize("n", [2, 10, 300])
def test_sparse_examples_of_the_slides(n):
    u, X, signs = [1] * n, np.eye(n, dtype=bool), [1] * n
    assert additive_mistake_bound(u, X, signs) == n
    assert multiplicative_mistake_bound(u, X, signs) == int(2 * n**2 * log(n))
    learner = Perceptron(n, tie=False)
    if n <= 10:  # the bound is reached
        assert play_until_right(learner, X.tolist(), signs, n) == n


@given(
    separated_examples(negative_weights=True),
    st.sampled_from([1e-200, 3e-5, 0.1, 7.0, 1e200]),
    st.sampled_from([1e-200, 1e-9, 0.3, 1e5, 1e200]),
)
def test_bounds_do_not_depend_on_scale(case, scale_of_u, scale_of_X):
    u, X, signs = case
    scaled = np.multiply(u, scale_of_u), np.multiply(X, scale_of_X), signs
    assert additive_mistake_bound(*scaled) == additive_mistake_bound(u, X, signs)
    assert multiplicative_mistake_bound(
        *scaled, balanced=True
    ) == multiplicative_mistake_bound(u, X, signs, balanced=True)


@given(st.data(), st.integers(2, 40))
def test_margin_is_exact_where_floats_cancel(data, d):
    # Scores far below the rounding errors of their terms.
    numbers = st.floats(-1, 1, allow_subnormal=False)
    u = data.draw(st.lists(numbers, min_size=d, max_size=d))
    x = [data.draw(numbers) for _ in range(d - 1)]
    assume(abs(u[-1]) > 1e-3)
    x.append(float(-dot(u[:-1], x) / Fraction(u[-1])))
    score = dot(u, x)
    assume(abs(score) > 1e-200)
    sign = 1 if score > 0 else -1
    X = [x, [a * 1e6 for a in u]]
    exact = dot(u, u) * max(dot(z, z) for z in X) / min(score * sign, dot(u, X[1])) ** 2
    bound = additive_mistake_bound(u, X, [sign, 1])
    assert exact - 1 < bound <= exact * (1 + Fraction(2, 10**12))
    with pytest.raises(ValueError, match=r"^u must separate .* not for sample 0"):
        additive_mistake_bound(u, X, [-sign, 1])


# Two entries cancel; of the sum of the others rounding leaves little.
small = st.integers(-3, 3)
nearly_cancelling = st.tuples(st.just(2**54), st.just(-(2**54)), small, small).flatmap(
    st.permutations
)


@given(st.lists(nearly_cancelling, min_size=2, max_size=12), st.booleans())
def test_margin_is_that_of_the_row_which_is_closest_without_rounding(X, as_floats):
    X = [x for x in X if sum(x)]
    assume(X)
    signs = [1 if sum(x) > 0 else -1 for x in X]
    rows = np.multiply(X, 2.0**-54 if as_floats else 1)
    assert (rows.dtype.kind == "f") == as_floats
    exact = Fraction(4 * max(dot(x, x) for x in X), min(abs(sum(x)) for x in X) ** 2)
    bound = additive_mistake_bound([1] * 4, rows, signs)
    assert exact - 1 < bound <= exact * (1 + Fraction(2, 10**12))


def test_bounds_are_raised_by_the_part_that_is_promised():
    u, X = [10**8, 1], [[1, 0], [0, 1]]
    with localcontext(prec=50):
        exact = 2 * Fraction(Decimal(2).ln()) * (10**8 + 1) ** 2
    slack = 1 + Fraction(1, 10**12)
    assert multiplicative_mistake_bound(u, X, [1, 1]) == exact * slack // 1
    assert additive_mistake_bound(u, X, [1, 1]) == (10**16 + 1) * slack // 1


def test_margin_is_exact_for_weights_beyond_float64():
    rules = [(i, 1, i % 2) for i in range(80)]
    w, threshold = decision_list_halfspace(rules, 0, 80)
    # A column of -1 holds the threshold; 2 w.x - 2 threshold + 1 is never 0.
    u = np.append(2 * w, 2 * threshold - 1)
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (100, 80))
    for i, row in enumerate(rows):
        row[:i] = 0
    X = np.hstack([rows, -np.ones((100, 1), dtype=np.int64)])
    signs = [1 if row.any() and row.argmax() % 2 else -1 for row in rows]
    assert len(set(signs)) == 2
    u_list = u.tolist()
    margin = min(s * dot(u_list, x) for s, x in zip(signs, X.tolist(), strict=True))
    assert 0 < margin < 10
    exact = dot(u_list, u_list) * int((X * X).sum(axis=1).max()) / margin**2
    bound = additive_mistake_bound(u, X, signs)
    assert exact <= bound <= exact * (1 + Fraction(2, 10**12))


def test_additive_bound_is_that_of_the_perceptron():
    rng = np.random.default_rng(0)
    u = rng.normal(size=20)
    X = rng.normal(size=(200, 20))
    scores = X @ u
    radius = np.linalg.norm(X, axis=1).max()
    expected = perceptron_mistake_bound(radius, np.abs(scores).min(), np.linalg.norm(u))
    bound = additive_mistake_bound(u, X, np.sign(scores))
    assert bound == pytest.approx(expected, rel=1e-9)


def test_hinge_deviation_counts_only_what_is_lacking():
    assert hinge_deviation([1, -1, 5], [1, -1, 1], margin=1) == 0.0
    assert hinge_deviation([0.5], [-1], margin=0.25) == 0.75
    assert hinge_deviation([], [], margin=1) == 0.0
    assert hinge_deviation([-3e299, -4e299], [1, 1], margin=1) == 5e299


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


BOUNDS = [
    additive_mistake_bound,
    multiplicative_mistake_bound,
    lambda *data: multiplicative_mistake_bound(*data, balanced=True),
]


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(
    ("u", "X", "signs", "message"),
    [
        ([1, 1], [[1, 0, 0]], [1], r"^X must have shape .* got \(1, 3\), \(2,\)"),
        ([1, 1], [[1, 0]], [1, 1], r"^X must have shape"),
        ([1, 1], [[1, 0]], 1, r"^X must have shape"),
        ([1, 1], np.empty((0, 2)), [], r"^X must have shape .* neither of them 0"),
        ([1, 1], [1, 0], [1, 1], r"^X must have shape"),
        ([[1, 1]], [[1, 0]], [1], r"^u must have shape"),
        ([1, np.nan], [[1, 0]], [1], r"^u must contain finite numbers"),
        ([1, 1], [[1, np.inf]], [1], r"^X must contain finite numbers"),
        ([1, 1], [["1", "0"]], [1], r"^X must contain finite numbers"),
        ([1, 1], [[1, 0], [1]], [1, 1], r"^X must contain finite numbers"),
        (None, [[1, 0]], [1], r"^u must contain finite numbers"),
        ([1, 1], csr_array([[1, 0]]), [1], r"^X must be dense; pass X.toarray"),
        ([1, 1], [[1, 0]], [0], r"^signs must contain only -1 and \+1"),
        ([1, 1], [[1, 0], [0, 1]], [1, -1], r"^u must separate .* not for sample 1"),
        ([1, 0], [[1, 0], [0, 1]], [1, 1], r"^u must separate .* not for sample 1"),
        ([0, 0], [[1, 0]], [1], r"^u must separate"),
        ([1, 1], [[0, 0]], [1], r"^u must separate"),
    ],
)
def test_bad_examples_are_named(bound, u, X, signs, message):
    with pytest.raises(ValueError, match=message):
        bound(u, X, signs)


def test_negative_weight_needs_balanced():
    with pytest.raises(ValueError, match=r"^u must have no negative.*balanced=True"):
        multiplicative_mistake_bound([1, -1], [[1, 0]], [1])
    assert multiplicative_mistake_bound([1, -1], [[1, 0]], [1], balanced=True) == int(
        2 * log(4) * 4
    )
