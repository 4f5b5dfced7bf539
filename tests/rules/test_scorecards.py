"""Scorecards: sums, fits and points by definition, and a gap that no card is beyond."""

from html import unescape
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.rules import sign_of_weight
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline

from sklboolean import BooleanEncoder, ScorecardClassifier
from sklboolean._core.weights import relative_weights
from sklboolean.inspection import check_monotone, shapley_values
from sklboolean.rules._scorecard_points import RIDGE, PatternCounts, choose_points
from sklboolean.rules._scorecard_search import ConditionSearch


def random_data(seed, n_samples=40, n_features=4):
    """Bits, labels of a noisy sum of a feature and a pair, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_features)) < rng.uniform(0.2, 0.8, n_features)
    scores = 2.0 * X[:, 0] - 2.0 * (X[:, 1] & ~X[:, 2]) + rng.logistic(size=n_samples)
    y = scores > np.median(scores)
    y[:2] = [False, True]
    return X, y, rng.integers(1, 4, n_samples) * 1.0


def all_conditions(n_features, max_literals):
    """Every feature, and every pair of literals."""
    conditions = [((j, True),) for j in range(n_features)]
    for first, second in combinations(range(n_features), 2):
        for a, b in product([False, True], repeat=2):
            conditions.append(((first, a), (second, b)))
    return conditions if max_literals == 2 else conditions[:n_features]


def satisfied(X, condition):
    return np.all([X[:, j] == value for j, value in condition], axis=0)


def log_losses(y, scores):
    return np.logaddexp(0, np.where(y, -scores, scores))


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2]))
def test_sums_and_promising_conditions_by_definition(seed, max_literals):
    X, y, weights = random_data(seed)
    groups, rng = np.array([0, 0, 1, 2]), np.random.default_rng(seed)
    directions = rng.integers(-1, 2, 4) * rng.integers(2)
    search = ConditionSearch(X, y * 1.0, weights, max_literals, groups, directions)
    values = np.random.default_rng(seed).normal(size=len(y))
    sums = search.sums(values)
    assert sums.size == (48 if max_literals == 2 else 4)
    for place in range(sums.size):
        kind, first, second = np.unravel_index(place, (3, 4, 4))
        if first != second or not kind:
            expected = values[satisfied(X, search._condition(place))].sum()
            np.testing.assert_allclose(sums.flat[place], expected, atol=1e-5)

    card = search.fitted((((0, True),),), search.counts([((0, True),)]), np.zeros(2))
    scores = card.weights @ np.array([np.ones(len(X)), X[:, 0]])
    curvatures = weights * expit(scores) * expit(-scores)
    residuals = weights * (y - expit(scores))
    gains = {}
    for condition in all_conditions(4, max_literals):
        covers = satisfied(X, condition)
        spread = curvatures @ covers - (curvatures @ covers) ** 2 / curvatures.sum()
        gain = (residuals @ covers) ** 2 / (2 * (spread + RIDGE))
        gains[condition] = gain - np.log(4) / 2 * len(condition) ** 2
    allowed = {one: sign_of_weight(one, directions) for one in gains}
    apart = [
        one for one in gains
        if [j for j, _ in one] != [0, 1] and allowed[one] is not None
        and allowed[one] * (residuals @ satisfied(X, one)) >= 0
    ]  # fmt: skip
    best = sorted(apart, key=lambda one: -gains[one])
    best = [one for one in best if gains[one] > 0 and one != ((0, True),)][:4]
    promising = search.promising(card)
    np.testing.assert_allclose(
        [gains[one] for one in promising], [gains[one] for one in best], rtol=1e-4
    )


@settings(max_examples=6)
@given(st.integers(0, 2**32 - 1))
def test_weights_and_scales_minimize_the_objective(seed):
    X, y, sample_weight = random_data(seed)
    masses = np.column_stack([sample_weight * y, sample_weight])
    counts = PatternCounts.of(np.ascontiguousarray(X.T), masses)
    np.testing.assert_array_equal(counts.rows[counts.codes], X)
    for part, mass in zip((counts.second, counts.both), masses.T, strict=True):
        np.testing.assert_allclose(part, np.bincount(counts.codes, mass), rtol=1e-12)
    # Patterns are in the order of their last condition, then of the one before.
    assert [*map(tuple, counts.rows[:, ::-1])] == sorted(
        {*map(tuple, X[:, ::-1] * 1.0)}
    )
    rest = counts.without(1, masses)
    again = PatternCounts.of(np.ascontiguousarray(np.delete(X, 1, axis=1).T), masses)
    for name in ("rows", "second", "both", "codes"):
        np.testing.assert_array_equal(getattr(rest, name), getattr(again, name))

    def objective(weights):
        losses = sample_weight @ log_losses(y, weights[0] + X @ weights[1:])
        return losses + RIDGE * (weights[1:] @ weights[1:]) / 2

    weights, value = counts.fit_weights(np.zeros(5))
    np.testing.assert_allclose(value, objective(weights), rtol=1e-12)
    best = minimize(objective, np.zeros(5), options={"gtol": 1e-8})
    np.testing.assert_allclose(value, best.fun, rtol=1e-7)

    free = np.zeros(4, dtype=np.int8)
    points, scale, intercept = choose_points(counts, weights, 4, free)
    assert points.any()
    assert np.abs(points).max() <= 4
    assert scale > 0
    assert np.gcd.reduce(points) == 1
    value = objective(np.r_[intercept, scale * points])

    def best_of(points):
        return minimize(
            lambda pair: objective(np.r_[pair[0], pair[1] * points]),
            [intercept, scale],
            options={"gtol": 1e-8},
        ).fun

    np.testing.assert_allclose(value, best_of(points), rtol=1e-6)
    for step in np.concatenate([np.eye(4), -np.eye(4)]):  # no single point is better
        if np.abs(points + step).max() <= 4:
            assert best_of(points + step) >= value * (1 - 1e-6)


def least_relaxed_loss(X, y, sample_weight, max_literals, total, directions=None):
    """Minimize the mean loss over real weights that add up to no more than a total."""
    directions = np.zeros(X.shape[1]) if directions is None else directions
    signed = [
        (sign, satisfied(X, one))
        for sign in (1, -1)
        for one in all_conditions(X.shape[1], max_literals)
        if sign_of_weight(one, directions) in (0, sign)
    ]
    columns = np.column_stack([sign * cover for sign, cover in signed]).astype(float)
    shares = sample_weight / sample_weight.sum()

    def relaxed(weights):  # real weights of all conditions, as positive parts
        scores = weights[0] + columns @ weights[1:]
        slopes = shares * (expit(scores) - y)
        return shares @ log_losses(y, scores), np.r_[slopes.sum(), slopes @ columns]

    constant = np.r_[np.log(shares @ y / (shares @ ~y)), np.zeros(columns.shape[1])]
    slope = np.r_[0.0, -np.ones(columns.shape[1])]
    found = minimize(
        relaxed, constant, jac=True, method="SLSQP",
        bounds=[(None, None)] + [(0, None)] * columns.shape[1],
        constraints={
            "type": "ineq", "fun": lambda w: total + slope @ w, "jac": lambda w: slope
        },
        options={"ftol": 1e-12, "maxiter": 500},
    ).x  # fmt: skip
    found[1:] = np.maximum(found[1:], 0.0)
    found[1:] *= min(1.0, total / (found[1:].sum() or 1.0))
    return min(relaxed(found)[0], relaxed(constant)[0])


def check_hostile_card(seed):
    """No card of weights as small is below the bound; that of all points, too."""
    rng = np.random.default_rng(seed)
    X, y, sample_weight = random_data(
        seed, int(rng.integers(3, 30)), rng.integers(3, 5)
    )
    if rng.random() < 0.7:
        sample_weight = 10.0 ** rng.uniform(-9, 9, len(y))
    most, n_points = rng.integers(1, 4), rng.integers(1, 4)
    max_literals = int(rng.integers(1, 3))
    directions = rng.integers(-1, 2, X.shape[1]) if rng.random() < 0.5 else None
    model = ScorecardClassifier(
        int(most), max_points=n_points, max_literals=max_literals,
        monotonic_cst=directions,
    )  # fmt: skip
    model.fit(X, y, sample_weight)
    sample_weight = relative_weights(sample_weight)
    scores = model.calibration_slope_ * model.decision_function(X)
    loss = np.average(log_losses(y, scores), weights=sample_weight)
    assert model.loss_ == pytest.approx(loss, rel=1e-9)
    total = model.calibration_slope_ * np.abs(model.points_).sum()
    options = sample_weight, max_literals, total, directions
    best = least_relaxed_loss(X, y, *options)
    if directions is not None:
        assert check_monotone(model, X).is_proved
    assert 0 <= model.loss_ - model.gap_ <= best * (1 + 1e-14), seed
    assert np.abs(model.points_).max(initial=0) <= n_points


@pytest.mark.parametrize("first", range(0, 24, 6))
def test_no_card_is_below_the_bound(first):
    for seed in range(first, first + 6):
        check_hostile_card(seed)


@pytest.mark.slow
def test_no_card_is_below_a_thousand_bounds():
    for seed in range(100, 1100):
        check_hostile_card(seed)


def test_one_condition_of_one_point():
    X = np.repeat([[0], [1]], 20, axis=0)
    model = ScorecardClassifier(1, max_points=1).fit(X, X[:, 0])
    assert (model.conditions_, model.points_.tolist()) == ([((0, True),)], [1])


@pytest.mark.parametrize("max_literals", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_no_card_is_beyond_the_gap(seed, max_literals):
    X, y, sample_weight = random_data(seed, 60, 3)
    model = ScorecardClassifier(2, max_points=2, max_literals=max_literals)
    model.fit(X, y, sample_weight)
    assert 1 <= len(model.conditions_) <= 2
    assert np.abs(model.points_).max() <= 2
    scores = model.calibration_slope_ * model.decision_function(X)
    loss = np.average(log_losses(y, scores), weights=sample_weight)
    np.testing.assert_allclose(model.loss_, loss, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(scores))
    total = model.calibration_slope_ * np.abs(model.points_).sum()
    best = least_relaxed_loss(X, y, sample_weight, max_literals, total)
    bound = model.loss_ - model.gap_
    assert best - 0.01 <= bound <= best  # not far below


def softmax_loss(values, rows, codes, sample_weight):
    """Mean loss of intercepts and weights of shape (n_classes, 1 + n_conditions)."""
    scores = rows @ values.reshape(3, -1).T
    losses = -log_softmax(scores, axis=1)[np.arange(len(rows)), codes]
    return np.average(losses, weights=sample_weight)


@pytest.mark.parametrize("seed", range(3))
def test_cards_of_several_classes_by_definition(seed):
    X, y, sample_weight = random_data(seed, 60, 3)
    codes = np.where(X[:, 2] & (np.arange(60) % 4 > 0), 2, y.astype(int))
    labels = np.array(["a", "b", "c"])[codes]
    model = ScorecardClassifier(2, max_points=3).fit(X, labels, sample_weight)
    assert model.points_.shape == (3, len(model.conditions_))
    assert 1 <= np.abs(model.points_).max() <= 3
    assert np.gcd.reduce(model.points_, axis=None) == 1
    covers = np.column_stack([satisfied(X, c) for c in model.conditions_])
    totals = covers @ model.points_.T
    np.testing.assert_array_equal(model.sum_points(X), totals)
    scores = totals + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores)
    slope = model.calibration_slope_
    np.testing.assert_allclose(model.predict_proba(X), softmax(slope * scores, axis=1))
    expected = np.array(["a", "b", "c"])[scores.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X), expected)
    ones = np.ones((60, 1))

    def loss(values, ridge=0.0):
        # A slope and an intercept for each class, of the points of the card.
        table = np.column_stack([values[1:], values[0] * model.points_])
        of_data = softmax_loss(table, np.hstack([ones, covers]), codes, sample_weight)
        penalty = ridge * (model.points_**2).sum() * values[0] ** 2 / 2
        return of_data + penalty / sample_weight.sum()

    fitted = np.r_[slope, slope * model.intercept_]
    assert model.loss_ == pytest.approx(loss(fitted))
    best = minimize(loss, fitted, args=(RIDGE,)).fun
    assert loss(fitted, RIDGE) == pytest.approx(best, rel=1e-5)
    # No weights of the conditions that are as small have a loss below the bound.
    rows, total = np.hstack([ones, X]), slope * np.abs(model.points_).sum()

    def relaxed(values):
        weights = np.column_stack(
            [values[:3], (values[3:12] - values[12:]).reshape(3, 3)]
        )
        return softmax_loss(weights, rows, codes, sample_weight)

    limit = {"type": "ineq", "fun": lambda values: total - values[3:].sum()}
    bounds = [(None, None)] * 3 + [(0, None)] * 18
    least = minimize(relaxed, np.full(21, 0.01), bounds=bounds, constraints=limit).fun
    assert least - 0.02 <= model.loss_ - model.gap_ <= least + 1e-6
    # Reasons are points of the predicted class.
    for reasons, card, holds in zip(
        model.reasons(X), scores.argmax(axis=1), covers, strict=True
    ):
        points = model.points_[card]
        lost = np.abs(points[(holds == (points < 0)) & (points != 0)])
        found = [int(text.split()[1]) for text in reasons]
        assert found == sorted(lost, reverse=True)
    assert {rule.label for rule in model.rules_} <= {"a", "b", "c"}
    assert "score of b:" in model.to_text()
    assert "largest sum is predicted" in model._repr_html_()


def test_the_card_that_made_the_labels_is_found():
    rng = np.random.default_rng(0)
    X = rng.random((4000, 12)) < 0.5
    points = 3 * X[:, 2] - 2 * X[:, 5] + X[:, 7] + 2 * (X[:, 0] & ~X[:, 9])
    y = rng.random(4000) < expit(0.8 * (points - 1.5))
    model = ScorecardClassifier(max_points=3, max_literals=2).fit(X, y)
    card = dict(zip(model.conditions_, model.points_.tolist(), strict=True))
    assert card == {
        ((2, True),): 3, ((5, True),): -2, ((7, True),): 1,
        ((0, True), (9, False)): 2,
    }  # fmt: skip
    np.testing.assert_allclose(model.calibration_slope_, 0.8, atol=0.1)
    np.testing.assert_allclose(model.intercept_, -1.5, atol=0.3)


def test_reasons_texts_and_exports():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    card = make_pipeline(
        BooleanEncoder(n_bins=4), ScorecardClassifier(3, max_literals=2)
    )
    card.fit(X, y)
    model, bits = card[-1], card[0].transform(X)
    lost = [
        sum(int(text.split()[1]) for text in texts) for texts in model.reasons(bits)
    ]
    best = model.points_[model.points_ > 0].sum() + model.intercept_
    np.testing.assert_allclose(best - lost, model.decision_function(bits))
    totals = np.rint(model.decision_function(bits) - model.intercept_).astype(int)
    by_points = model.probability_by_points()
    assert min(by_points) <= totals.min() <= totals.max() <= max(by_points)
    expected = model.predict_proba(bits)[:, 1]
    np.testing.assert_allclose([by_points[total] for total in totals], expected)
    text, html = model.to_text(), unescape(model._repr_html_())
    for condition, points in zip(model.rules_, model.points_, strict=True):
        assert f"{points:+d}  {condition.to_text()}" in text
        assert condition.to_text() in html
    assert "points" in html
    shapley = shapley_values(card, X.head(2), X)
    np.testing.assert_allclose(
        shapley.scores(), card.decision_function(X.head(2)), atol=1e-9
    )


def test_texts_of_reasons():
    X = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 30, axis=0)
    y = (X[:, 0] - X[:, 1] + np.tile([0, 0, 0.9], 40)) > 0
    model = ScorecardClassifier(max_points=1).fit(X, y)
    assert model.points_.tolist() in ([1, -1], [-1, 1])
    first, second = model.reasons([[0, 1], [1, 0]])
    assert sorted(first) == ["lost 1 point: not x0", "lost 1 point: x1"]
    assert second == []
    X = X[:, [0, 1, 1]]
    y = (X[:, 0] & ~X[:, 1] & 1) ^ (np.arange(120) % 10 == 0)
    model = ScorecardClassifier(1, max_literals=2).fit(X, y)
    assert model.reasons([[1, 1, 1]]) == [["lost 1 point: not (x0 and not x1)"]]


def test_no_condition_and_weights():
    X, y, weights = random_data(0)
    model = ScorecardClassifier().fit(np.zeros_like(X), y)
    assert model.conditions_ == []
    assert 0.0 <= model.gap_ < 1e-9  # what Newton's method leaves
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], y.mean(), rtol=1e-6)
    assert model.reasons(X[:2]) == [[], []]
    weighted = ScorecardClassifier().fit(X, y, weights)
    copies = ScorecardClassifier().fit(
        np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int))
    )
    assert weighted.conditions_ == copies.conditions_
    np.testing.assert_array_equal(weighted.points_, copies.points_)
    np.testing.assert_allclose(weighted.gap_, copies.gap_, atol=1e-3)
    huge = ScorecardClassifier().fit(X, y, weights * 1e12)
    assert np.isfinite(huge.decision_function(X)).all()
    assert np.isfinite(huge.gap_)


def test_errors_name_the_argument():
    X, y, weights = random_data(0)
    for name, value in (
        ("max_conditions", 0), ("max_conditions", 63), ("max_points", 0),
        ("max_literals", 3),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=name):
            ScorecardClassifier(**{name: value}).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight"):
        ScorecardClassifier().fit(X, y, weights * 1e250)
    model = ScorecardClassifier().fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="with_points is for cards of two classes"):
        model.with_points({0: 1}, X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="probability_by_points is for cards of two"):
        model.probability_by_points()
