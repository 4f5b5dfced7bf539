"""Conjunction models are optimal over all conjunctions, by definition."""

import re
import sqlite3
import warnings
from itertools import count, product
from time import process_time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_equal
from oracles.rules import (
    LongDoubleSum,
    every_conjunction,
    lowest_objective,
    penalized_objective,
    satisfies,
    sign_of_weight,
    smallest_objective,
)
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

from sklboolean import (
    BooleanEncoder,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
)
from sklboolean._core import conjunction_search, conjunction_table
from sklboolean._core.bits import pack_dense
from sklboolean._core.weights import relative_weights
from sklboolean.datasets import make_monks, make_tic_tac_toe
from sklboolean.rules import (
    _column_generation,
    _conjunction_model,
    _curvatures,
    _l1_problem,
)
from sklboolean.rules._column_generation import ColumnGeneration, ConjunctionSpace
from sklboolean.rules._held_out_path import HeldOutLosses
from sklboolean.rules._l1_problem import L1Problem

CS = (0.05, 0.3, 2.0)


def noisy(n_samples=60, n_features=4, n_classes=2, seed=0):
    """Boolean samples with labels that depend on pairs of features, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, n_features))
    y = (X[:, 0] & X[:, 1]) + (n_classes > 2) * (1 - X[:, 2]) * X[:, 3]
    wrong = rng.random(n_samples) < 0.2
    y[wrong] = rng.integers(0, n_classes, wrong.sum())
    return X, y, rng.integers(1, 4, n_samples) / 2


def design_of(X, max_literals, monotone=False, groups=None, cost=1.1, factor=2.0):
    """All conjunctions, their columns and their prices, by definition."""
    conjunctions = list(
        every_conjunction(
            X.shape[1], max_literals, negations=not monotone, groups=groups
        )
    )
    columns = [[satisfies(row, one) for one in conjunctions] for row in X]
    prices = np.array([
        factor * cost ** (len(one) - 1) if len(one) > 1 else 1.0 for one in conjunctions
    ])  # fmt: skip
    return conjunctions, np.array(columns, dtype=float), prices


def one_hot(y):
    return (y[:, None] == np.arange(y.max() + 1)).astype(float)


def problem(loss, seed=0):
    X, y, weights = noisy(n_classes=3 if loss == "softmax" else 2, seed=seed)
    weights = weights / weights.mean()
    if loss == "squared":
        targets = (y + np.random.default_rng(seed).normal(0, 0.3, len(y)))[:, None]
        return X, targets[:, 0], targets, weights
    targets = one_hot(y)
    return X, y, targets[:, 1:] if loss == "logistic" else targets, weights


def model_for(loss, **parameters):
    cls = ConjunctionRegressor if loss == "squared" else ConjunctionLogisticRegression
    return cls(**parameters)


@pytest.mark.parametrize("C", CS)
@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared"])
def test_the_objective_is_the_smallest_over_all_conjunctions(loss, C):
    X, y, targets, weights = problem(loss)
    conjunctions, design, prices = design_of(X, 3)
    best = smallest_objective(design, prices, C, weights, targets, loss)
    model = model_for(loss, C=C, tol=1e-9).fit(X, y, sample_weight=weights)
    assert model.is_optimal_
    assert model.objective_ == pytest.approx(best, rel=1e-8)
    coefficients = np.zeros((targets.shape[1], len(conjunctions)))
    places = {tuple(sorted(one)): k for k, one in enumerate(conjunctions)}
    for one, w in zip(
        model.conjunctions_, np.atleast_2d(model.conjunction_coef_).T, strict=True
    ):
        coefficients[:, places[one]] = w
    value = penalized_objective(
        design, prices, C, weights, targets, coefficients, model.intercept_, loss
    )
    assert model.objective_ == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("most_paired", [10, 3])
@pytest.mark.parametrize("quick", [1e7, 0.0])
def test_the_objective_of_many_classes_is_the_smallest(most_paired, quick, monkeypatch):
    """With one quadratic model or one for each class; after inexact searches, too."""
    monkeypatch.setattr(_l1_problem, "MOST_PAIRED", most_paired)
    monkeypatch.setattr(_column_generation, "QUICK_TABLE", quick)
    X, _, weights = noisy(seed=1)
    y, weights = X @ [1, 2, 3, 3], weights / weights.mean()  # classes 0 to 9
    _, design, prices = design_of(X, 2)
    expected = smallest_objective(design, prices, 1.0, weights, one_hot(y), "softmax")
    model = ConjunctionLogisticRegression(C=1.0, max_literals=2, tol=1e-5)
    model.fit(X, y, sample_weight=weights)
    assert len(model.classes_) == 10
    assert model.is_optimal_
    assert model.objective_ - model.optimality_gap_ <= expected * (1 + 1e-9)
    assert model.objective_ == pytest.approx(expected, rel=1e-5)


def allowed_design(X, directions):
    """The conjunctions that the directions allow, with the signs of their weights."""
    conjunctions, design, prices = design_of(X, 3)
    signs = [sign_of_weight(one, directions) for one in conjunctions]
    allowed = [k for k, sign in enumerate(signs) if sign is not None]
    return design[:, allowed], prices[allowed], [signs[k] for k in allowed]


@pytest.mark.parametrize("engine", ["tables", "branches"])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("directions", [(1, -1, 0, -1), (-1, -1, 1, 0)])
def test_with_directions_it_is_the_smallest_over_what_they_allow(
    loss, directions, engine, monkeypatch
):
    if engine == "branches":
        monkeypatch.setattr(conjunction_table, "MAX_SUMS", 0)
    X, y, targets, weights = problem(loss, seed=3)
    design, prices, signs = allowed_design(X, directions)
    best = smallest_objective(design, prices, 1.0, weights, targets, loss, signs)
    model = model_for(loss, C=1.0, tol=1e-9, monotonic_cst=directions)
    model.fit(X, y, sample_weight=weights)
    assert model.objective_ == pytest.approx(best, rel=1e-8)
    assert model.objective_ > model_for(loss, C=1.0).fit(X, y, weights).objective_
    for literals, weight in zip(
        model.conjunctions_, np.ravel(model.conjunction_coef_), strict=True
    ):
        assert sign_of_weight(literals, directions) * weight >= 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        early = clone(model).set_params(work_limit=1e-9).fit(X, y, weights)
    assert best >= early.objective_ - early.optimality_gap_ - 1e-9 * best


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_a_model_with_directions_is_monotone_in_every_sample(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=80), "b": rng.integers(0, 4, 80)})
    frame["c"] = rng.choice(["x", "y"], 80)
    directions = {"a": int(rng.choice([-1, 1])), "b": int(rng.choice([-1, 0, 1]))}
    y = rng.random(80) < 0.3 + 0.4 * ((frame["a"] > 0) ^ (frame["c"] == "x"))
    frame.loc[rng.random(80) < 0.1, "a"] = np.nan
    model = ConjunctionLogisticRegression(C=5.0, monotonic_cst=directions)
    model = make_pipeline(BooleanEncoder(), model).fit(frame, y)
    grid = product(np.linspace(-2, 2, 9), range(4), ["x", "y"])
    grid = pd.DataFrame(grid, columns=list("abc"))
    scores = model.decision_function(grid).reshape(9, 4, 2)
    for axis, name in enumerate("ab"):
        assert (directions[name] * np.diff(scores, axis=axis) >= -1e-12).all()


@pytest.mark.parametrize("tol", [0.3, 0.03, 1e-4])
@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared"])
def test_the_gap_bounds_the_distance_from_the_optimum(loss, tol):
    X, y, targets, weights = problem(loss, seed=1)
    _, design, prices = design_of(X, 2, cost=1.5)
    best = smallest_objective(design, prices, 1.0, weights, targets, loss)
    model = model_for(loss, C=1.0, tol=tol, max_literals=2, literal_cost=1.5)
    model.fit(X, y, sample_weight=weights)
    assert model.objective_ >= best * (1 - 1e-9)
    assert model.objective_ - best <= model.optimality_gap_ + 1e-9 * best
    assert model.is_optimal_ == (model.optimality_gap_ <= tol * model.objective_)


@pytest.mark.filterwarnings("ignore:The model may predict")
@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared"])
def test_the_gap_of_any_model_bounds_its_distance(loss):
    """Also where the search was not run to its end."""
    X, y, targets, weights = problem(loss, seed=2)
    _, design, prices = design_of(X, 3)
    best = smallest_objective(design, prices, 1.0, weights, targets, loss)
    model = model_for(loss, C=1.0, work_limit=1e-9).fit(X, y, sample_weight=weights)
    assert model.objective_ - best <= model.optimality_gap_ + 1e-9 * best


def hostile_problem(seed):
    """A small problem whose weights, C and targets are far from 1, and parameters."""
    rng = np.random.default_rng(seed)
    loss = ["logistic", "softmax", "squared"][seed % 3]
    n_samples = int(rng.choice([3, 5, 8, 15, 30]))
    X = rng.integers(0, 2, (n_samples, rng.integers(1, 5)))
    weights = [
        np.ones(n_samples),
        rng.integers(1, 5, n_samples) * 1.0,
        10.0 ** rng.uniform(-9, 9, n_samples),
        10.0 ** rng.uniform(-18, 0, n_samples),
    ][rng.integers(4)]
    params = {
        "C": float(rng.choice([1.0, 100.0, 10.0 ** rng.uniform(-9, 9)])),
        "tol": float(rng.choice([1e-1, 1e-3, 1e-5, 1e-7])),
        "max_literals": int(rng.integers(1, 4)),
        "monotone": bool(rng.integers(2)),
        "literal_cost": float(rng.choice([1.0, 1.1, 1.5])),
        "work_limit": 1e-9 if rng.random() < 0.2 else None,
    }
    if loss == "squared":
        size, mean = 10.0 ** rng.integers(-3, 4), rng.choice([0.0, 1e6])
        return loss, X, rng.normal(size=n_samples) * size + mean, weights, params
    n_classes = 2 if loss == "logistic" else 3
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n_samples - n_classes)]
    return loss, X, y, weights, params


def check_bound(seed):
    """No model has an objective below the bound; that of the fitted one is stated."""
    loss, X, y, weights, params = hostile_problem(seed)
    model = model_for(loss, **params).fit(X, y, sample_weight=weights)
    weights = relative_weights(weights)
    conjunctions, design, prices = design_of(
        X, params["max_literals"], params["monotone"], cost=params["literal_cost"]
    )
    targets = y[:, None] if loss == "squared" else one_hot(y)[:, loss == "logistic" :]
    best = lowest_objective(design, prices, params["C"], weights, targets, loss)
    places = {tuple(sorted(one)): k for k, one in enumerate(conjunctions)}
    used = [places[tuple(sorted(one))] for one in model.conjunctions_]
    fitted = LongDoubleSum(
        design[:, used], prices[used], params["C"], weights, targets, loss
    )
    fitted.columns = np.column_stack([np.ones(len(X)), design[:, used]])
    fitted.prices = np.r_[0.0, prices[used]]
    coefficients = np.column_stack(
        [np.atleast_1d(model.intercept_), np.atleast_2d(model.conjunction_coef_)]
    )
    objective = fitted.objective(coefficients.astype(np.longdouble))
    # To the digits of the scores, which a mean of 1e6 takes six of.
    assert model.objective_ == pytest.approx(float(objective), rel=1e-6)
    bound = np.longdouble(model.objective_) - np.longdouble(model.optimality_gap_)
    assert 0 <= bound <= min(best, objective), seed
    return model.is_optimal_


@pytest.mark.filterwarnings("ignore:The model may predict")
@pytest.mark.parametrize("first", range(0, 24, 2))
def test_no_model_is_below_the_bound(first):
    for seed in range(first, first + 2):
        check_bound(seed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The model may predict")
def test_no_model_is_below_a_thousand_bounds():
    are_optimal = [check_bound(seed) for seed in range(100, 1100)]
    assert np.mean(are_optimal) > 0.7


@pytest.mark.parametrize("share", [0.2, 1.2, 3.0])
def test_tables_that_take_more_than_the_work_left_are_not_begun(share):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (300, 100)), rng.integers(0, 3, 300)
    space = ConjunctionSpace(100, 3, False, 1.1)
    model = ColumnGeneration(
        pack_dense(X), np.ones(300), one_hot(y).T, "softmax", space
    )
    model.add_features()
    assert model.is_by_tables
    max_work = share * model._work_of_tables()
    model.minimize(10.0, 1e-3, exact=True, max_work=max_work)
    # A step of a solution, and a search of limited width, may be the last.
    assert model.work < 1.1 * max_work + 1e7
    assert 0 < model.least < model.objective < np.inf
    # Each output needs a table for a bound better than the one without any search.
    least = model.least
    model.minimize(10.0, 1e-3, exact=True)
    assert least <= model.least
    assert model.gap <= 1e-3 * model.objective


def test_a_path_takes_no_table_that_is_slower_than_inexact_searches(monkeypatch):
    monkeypatch.setattr(_column_generation, "QUICK_FOR_ONE", 1e5)
    searched, best = [], conjunction_table.ConjunctionTable.best
    monkeypatch.setattr(
        conjunction_table.ConjunctionTable,
        "best",
        lambda *arguments: searched.append(1) or best(*arguments),
    )
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (100, 120))
    y = X[:, 0] + 2.0 * (X[:, 1] & X[:, 2]) - 1
    model = ColumnGeneration(
        pack_dense(X), np.ones(100), y[None], "squared", ConjunctionSpace(120, 3, 0, 1)
    )
    model.add_features()
    assert model.minimize(1.0, 0.03, exact=False)
    assert not searched
    model.minimize(1.0, 1e-3, exact=True)
    assert searched
    assert model.gap <= 1e-3 * model.objective


def test_rounding_to_digits_is_part_of_the_bound():
    """A search that finds conjunctions has rounded residuals, too."""
    model = ConjunctionLogisticRegression(C=100).fit([[0], [1]], [0, 1])
    # The only feature has weight w, and the intercept is -w / 2: at the optimum the
    # residual sum of the feature, 100 / (1 + exp(w / 2)), is its price of 1.
    w = 2 * np.log(99)
    least = w + 200 * np.log1p(np.exp(-w / 2))
    assert model.objective_ - model.optimality_gap_ <= least <= model.objective_
    assert model.optimality_gap_ > 0
    [sentence] = model._formula().proof
    assert float(sentence.split()[-1].rstrip(".")) <= least


@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared"])
def test_no_conjunction_is_worth_more_than_its_price(loss):
    """The subgradients of all conjunctions hold 0."""
    X, y, targets, weights = problem(loss, seed=3)
    conjunctions, design, prices = design_of(X, 3)
    model = model_for(loss, C=0.7, tol=1e-6).fit(X, y, sample_weight=weights)
    if loss == "squared":
        means = model.predict(X)[:, None]
    else:
        means = model.predict_proba(X)[:, -targets.shape[1] :]
    sums = (0.7 * weights[:, None] * (targets - means)).T @ design
    assert (np.abs(sums) <= prices * (1 + 1e-5)).all()
    places = {tuple(sorted(one)): k for k, one in enumerate(conjunctions)}
    for one, w in zip(
        model.conjunctions_, np.atleast_2d(model.conjunction_coef_).T, strict=True
    ):
        k = places[one]
        used = w != 0
        expected = np.sign(w[used]) * prices[k]
        np.testing.assert_allclose(sums[used, k], expected, rtol=1e-4)
    residuals = (weights[:, None] * (targets - means)).sum(axis=0)
    np.testing.assert_allclose(residuals, 0, atol=1e-9)


def test_single_features_are_l1_logistic_regression():
    X, y, weights = noisy(200, 6)
    ours = ConjunctionLogisticRegression(C=0.3, max_literals=1, tol=1e-8)
    ours.fit(X, y, sample_weight=weights)
    # Newer versions of scikit-learn know the penalty by its ratio.
    l1 = {"l1_ratio": 1.0}
    if LogisticRegression().penalty == "l2":
        l1 = {"penalty": "l1"}
    theirs = LogisticRegression(
        C=0.3, solver="saga", tol=1e-10, max_iter=100_000, **l1
    ).fit(X, y, sample_weight=weights)
    coefficients = np.zeros(6)
    for ((feature, value),), w in zip(
        ours.conjunctions_, ours.conjunction_coef_[0], strict=True
    ):
        assert value
        coefficients[feature] = w
    np.testing.assert_allclose(coefficients, theirs.coef_[0], atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


def test_monotone_models_and_groups_restrict_the_conjunctions():
    X, y, _ = noisy(150, 6, seed=4)
    groups = ["a", "a", "b", "b", "c", "c"]
    _, design, prices = design_of(X, 3, monotone=True, groups=[0, 0, 1, 1, 2, 2])
    targets, ones = y[:, None].astype(float), np.ones(len(y))
    best = smallest_objective(design, prices, 1.0, ones, targets, "logistic")
    model = ConjunctionLogisticRegression(
        C=1.0, monotone=True, feature_groups=groups, tol=1e-8
    ).fit(X, y)
    assert model.objective_ == pytest.approx(best, rel=1e-7)
    for one in model.conjunctions_:
        assert all(value for _, value in one)
        assert len({groups[j] for j, _ in one}) == len(one)


def test_boolean_concepts_are_learned_exactly():
    for data in (make_monks(1), make_tic_tac_toe()):
        X, y = data.data, data.target
        model = ConjunctionLogisticRegression(random_state=0).fit(X[::2], y[::2])
        assert model.score(X[1::2], y[1::2]) > 0.99
        assert model.is_optimal_


def test_scores_are_the_sums_of_what_holds():
    X, y, _ = noisy(120, 6, 3, seed=5)
    model = ConjunctionLogisticRegression(C=1.0).fit(X, y)
    new = np.random.default_rng(9).integers(0, 2, (50, 6))
    expected = [
        model.intercept_
        + sum(
            w
            for one, w in zip(
                model.conjunctions_, model.conjunction_coef_.T, strict=True
            )
            if satisfies(row, one)
        )
        for row in new
    ]
    np.testing.assert_allclose(model.decision_function(new), expected, rtol=1e-12)
    np.testing.assert_array_equal(
        model.decision_function(new), model.decision_function(sparse.csr_array(new))
    )
    np.testing.assert_allclose(
        np.exp(model.predict_log_proba(new)), model.predict_proba(new)
    )
    for explained, row in zip(
        model.satisfied_rules(new), np.array(expected), strict=True
    ):
        for k, label in enumerate(model.classes_):
            total = sum(rule.weight for rule in explained if rule.label == label)
            assert model.intercept_[k] + total == pytest.approx(row[k])


def test_sparse_data_and_jobs_give_the_same_model():
    X, y, weights = noisy(100, 7, 3, seed=6)
    first = ConjunctionLogisticRegression(cv=3, random_state=0)
    first.fit(X, y, sample_weight=weights)
    for other, data in (
        (ConjunctionLogisticRegression(cv=3, random_state=0), sparse.csr_array(X)),
        (ConjunctionLogisticRegression(cv=3, random_state=0, n_jobs=2), X),
    ):
        other.fit(data, y, sample_weight=weights)
        assert other.conjunctions_ == first.conjunctions_
        np.testing.assert_array_equal(other.conjunction_coef_, first.conjunction_coef_)


@pytest.mark.parametrize(
    ("n_samples", "n_classes"), [*product([5, 63, 64, 129, 600], [2, 3]), (129, 9)]
)
def test_every_processor_path_gives_the_same_bits(n_samples, n_classes, cpu_paths):
    X, y, weights = noisy(n_samples, 7, n_classes, seed=7)
    y[:n_classes] = np.arange(n_classes)
    results = []
    for _ in cpu_paths():
        model = ConjunctionLogisticRegression(C=1.0).fit(X, y, weights)
        results.append(
            (model.conjunctions_, model.conjunction_coef_, model.predict_proba(X))
        )
    for conjunctions, coefficients, probabilities in results:
        assert conjunctions == results[0][0]
        np.testing.assert_array_equal(coefficients, results[0][1])
        np.testing.assert_array_equal(probabilities, results[0][2])


def test_weights_are_repeated_samples():
    X, y, _ = noisy(90, 5, seed=8)
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = ConjunctionLogisticRegression(C=0.5, tol=1e-9).fit(X, y, counts)
    repeated = ConjunctionLogisticRegression(C=0.5, tol=1e-9)
    repeated.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(
        weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7
    )
    by_class = ConjunctionLogisticRegression(C=0.5, class_weight={1: 3}, tol=1e-9)
    by_sample = ConjunctionLogisticRegression(C=0.5, tol=1e-9)
    np.testing.assert_allclose(
        by_class.fit(X, y).predict_proba(X),
        by_sample.fit(X, y, np.where(y == 1, 3.0, 1.0)).predict_proba(X),
        atol=1e-7,
    )


@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared"])
def test_held_out_scores_are_of_models_that_did_not_see_the_samples(loss):
    """Their losses are those that chose C; a fit of the other samples gives them."""
    X, y, _ = noisy(150, 5, seed=5)
    y = y if loss == "logistic" else y + X[:, 0]
    tests = [np.arange(k, len(y) - 2, 3) for k in range(3)]
    folds = [(np.setdiff1d(np.arange(len(y)), test), test) for test in tests]
    model = model_for(loss, cv=folds, max_literals=2).fit(X, y)
    assert np.isnan(model.held_out_scores_[-2:]).all()
    best = np.argmax(model.scores_.mean(axis=0))
    for (train, test), found in zip(folds, model.scores_[:, best], strict=True):
        scores = model.held_out_scores_[test]
        other = model_for(loss, C=model.C_, max_literals=2).fit(X[train], y[train])
        if loss == "squared":
            expected = other.predict(X[test])
            assert found == pytest.approx(
                -np.mean((scores - y[test]) ** 2) / 2 / y.var()
            )
        else:
            expected = other.decision_function(X[test])
            odds = np.exp(scores if scores.ndim > 1 else np.c_[0 * scores, scores])
            probabilities = odds / odds.sum(axis=1, keepdims=True)
            likelihoods = probabilities[np.arange(len(test)), y[test]]
            assert found == pytest.approx(np.log(likelihoods).mean())
        np.testing.assert_allclose(scores, expected, atol=0.1 * np.ptp(expected))
    assert model_for(loss, C=1.0).fit(X, y).held_out_scores_ is None


def test_the_better_of_two_values_of_C_is_chosen_by_samples_held_out():
    X, y, _ = noisy(150, 5, seed=5)
    model = ConjunctionLogisticRegression(C=[1e-6, 1.0], random_state=0).fit(X, y)
    assert model.scores_.shape[1] == 2
    losses = -model.scores_.mean(axis=0)
    # The smaller one leaves the intercept alone; the labels depend on two features.
    assert losses[1] < losses[0]
    assert model.C_ == 1.0


def test_a_split_may_test_samples_without_weight_if_others_have_some():
    X, y, _ = noisy(150, 5, seed=5)
    weights = np.where(np.arange(150) % 10 == 0, 0.0, 1.0)
    folds = [(np.arange(75), np.arange(75, 150)), (np.arange(75, 150), np.arange(75))]
    model = ConjunctionLogisticRegression(cv=folds, C=[0.1, 1.0])
    used = weights > 0
    number = np.cumsum(used) - 1
    left = [tuple(number[part[used[part]]] for part in fold) for fold in folds]
    other = ConjunctionLogisticRegression(cv=left, C=[0.1, 1.0])
    np.testing.assert_allclose(
        model.fit(X, y, weights).scores_, other.fit(X[used], y[used]).scores_, rtol=1e-6
    )


def test_the_path_is_that_of_models_with_a_fixed_C():
    X, y, _ = noisy(300, 6, seed=9)
    model = ConjunctionLogisticRegression(random_state=0).fit(X, y)
    assert model.C_ == model.Cs_[-1]
    assert model.scores_.shape == (5, 8)
    best = np.argmax(model.scores_.mean(axis=0))
    assert model.C_ == (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)[best]
    assert model.coef_path_.shape == (len(model.Cs_), 1, len(model.conjunctions_))
    np.testing.assert_array_equal(model.coef_path_[-1], model.conjunction_coef_)
    fixed = ConjunctionLogisticRegression(C=model.C_).fit(X, y)
    assert fixed.scores_ is None
    assert fixed.objective_ == pytest.approx(model.objective_, rel=2e-3)


def test_few_samples_are_held_out_in_folds_and_of_many_a_quarter_once():
    X, y, _ = noisy(1000, 4)
    weights = np.ones(1000)
    for n_used, n_parts in [(1000, 1), (999, 5)]:
        weights[n_used:] = 0
        model = ConjunctionRegressor(max_literals=1, random_state=0)
        assert len(model.fit(X, y, weights).scores_) == n_parts


def test_a_limit_ends_the_path_with_a_warning():
    X, y, _ = noisy(400, 12)
    model = ConjunctionLogisticRegression(random_state=0, work_limit=1e-9)
    with (
        pytest.warns(UserWarning, match=r"A larger C may .* work_limit=1e-09 ended"),
        pytest.warns(
            ConvergenceWarning, match=r"may predict worse.*ended the fit with"
        ),
    ):
        model.fit(X, y)
    assert not model.is_optimal_
    assert np.isfinite(model.scores_[0, 0])
    assert np.isneginf(model.scores_[0, 1:]).all()
    assert model.C_ == 0.03


@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared"])
def test_a_model_of_few_conditions_says_what_it_costs(loss):
    X, y, weights = noisy(150, 7, 3 if loss == "softmax" else 2)
    y = 100.0 * y + X[:, 3] if loss == "squared" else y
    whole = model_for(loss, C=1.0, max_literals=2).fit(X, y, weights)
    n_whole = len(whole.conjunctions_)
    assert n_whole > 4
    for most in (1, 4, n_whole):
        model = clone(whole).set_params(max_conditions=most).fit(X, y, weights)
        assert len(model.conjunctions_) == most
        assert model.C_ == pytest.approx(whole.C_)
        assert set(model.conjunctions_) <= set(whole.conjunctions_)
        if most == n_whole:
            assert model.edit_losses_ is None
            np.testing.assert_array_equal(model.predict(X), whole.predict(X))
            continue
        if loss == "squared":
            losses = [
                np.average((y - m.predict(X)) ** 2, weights=weights)
                for m in (whole, model)
            ]
        else:
            losses = [
                log_loss(y, m.predict_proba(X), sample_weight=weights)
                for m in (whole, model)
            ]
        assert model.edit_losses_ == pytest.approx(losses)
        assert losses[0] < losses[1]
        # The weights are the best of these conjunctions, up to the tolerance.
        others = [c for c in whole.conjunctions_ if c not in model.conjunctions_]
        again = whole.without(
            [whole.conjunctions_.index(c) for c in others], X, y, weights
        )
        np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=model.tol)
    with pytest.raises(ValueError, match="max_conditions == 0"):
        clone(whole).set_params(max_conditions=0).fit(X, y)


def test_a_warning_of_the_limit_says_how_far_the_model_is(monkeypatch):
    X, y, _ = noisy(400, 12)
    model = ConjunctionLogisticRegression(C=1.0, tol=1e-6, work_limit=1e-3)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    share = (
        float(re.search(r"at most ([\d.]+)% above", str(caught[0].message))[1]) / 100
    )
    assert share == pytest.approx(model.optimality_gap_ / model.objective_, abs=1e-4)
    # As if 400 samples were very many, of which the limit is that much larger.
    monkeypatch.setattr(_conjunction_model, "MANY_SAMPLES", 1e-3)
    assert model.fit(X, y).is_optimal_


def test_the_work_may_end_a_path_after_the_loss_has_risen():
    X, y, _ = noisy(400, 12)
    split = [(np.arange(100, 400), np.arange(100))]
    whole = ConjunctionLogisticRegression(cv=split).fit(X, y)
    assert 0 < np.argmax(whole.scores_) < len(whole.scores_[0]) - 2
    for exponent in range(-9, 0):
        model = ConjunctionLogisticRegression(cv=split, work_limit=10.0**exponent)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
        seen = np.isfinite(model.scores_)
        scores, expected = model.scores_[seen], whole.scores_[seen]
        if len(scores) > 1:
            np.testing.assert_array_equal(scores[:-1], expected[:-1])
        # The model of the last C may be unfinished: the first, and one that is better.
        if len(scores) > 1 and scores[-1] != expected[-1]:
            assert scores[-1] > scores[:-1].max()
        # The last C seen was the best, so larger ones may be better.
        falls = np.argmax(model.scores_) == seen.sum() - 1
        paths = [one for one in caught if "path" in str(one.message)]
        assert len(paths) == falls


def test_the_work_limits_a_solution_with_a_large_C():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 2**63, (200, 4)).astype(np.uint64)
    targets, values = 100 * rng.normal(size=(1, 256)), []
    # A step may end later by its curvatures, by its passes or a move of all
    # coefficients, whose work is that of a factorization, and by the sums after it.
    step = 200**2 * (4 + 2 + 1) + 200**3 // 12 + 256 * (10 + 30)
    for max_work in (0, 10**5, 10**6, 10**7):
        solution = L1Problem("squared", np.ones(256), targets)
        coefficients = np.zeros((1, 200))
        free = np.zeros(200, dtype=np.int8)
        prices = np.full(200, 1e-6)
        solution.solve(columns, prices, free, coefficients, 1e-9, max_work)
        assert solution.work <= max_work + step
        values.append(solution.value)
    assert values == sorted(values, reverse=True)
    assert values[-1] < values[0]


def attributes_of(model):
    names = [
        "conjunction_coef_",
        "intercept_",
        "coef_path_",
        "scores_",
        "C_",
        "optimality_gap_",
    ]
    values = {name: np.array(getattr(model, name)) for name in names}
    return values, model.conjunctions_


@pytest.mark.parametrize(
    ("work_limit", "n_classes"), [(5.0, 3), (1e-4, 2), (1e-3, 3), (1e-3, 2)]
)
@pytest.mark.filterwarnings("ignore:.*work_limit=")
def test_a_fit_depends_on_neither_the_clock_nor_the_jobs(
    monkeypatch, work_limit, n_classes
):
    X, y, weights = noisy(300, 14, n_classes)
    model = ConjunctionLogisticRegression(random_state=0, cv=2, work_limit=work_limit)
    expected = attributes_of(model.fit(X, y, weights))
    clock = count(0, 1e6)
    monkeypatch.setattr(conjunction_search, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(conjunction_search, "time", lambda: float(next(clock)))
    for n_jobs in (1, 2):
        found = attributes_of(model.set_params(n_jobs=n_jobs).fit(X, y, weights))
        assert found[1] == expected[1]
        for name, value in expected[0].items():
            np.testing.assert_array_equal(found[0][name], value, err_msg=name)
    assert next(clock) <= 2e6


def test_rounding_does_not_end_a_path():
    """Models without a conjunction have one loss at the first values of C."""
    losses = [np.full(9, 0.5), np.nextafter(np.full(9, 0.5), 1)]
    first, second = (HeldOutLosses(each, np.ones(9), each[None]) for each in losses)
    assert second.mean > first.mean
    assert not second.is_clearly_above(first)
    # In one of the folds the second loss is above the first one by its last bit.
    rng = np.random.default_rng(1068)
    X = rng.random((40, 5)) < 0.5
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(40) < 0.1)
    y[:4] = 0, 1, 0, 1
    weights = 40 * rng.dirichlet(np.ones(40))
    weights[4:] *= (rng.permutation(40) < 25)[4:]
    model = ConjunctionRegressor(tol=1e-10, cv=2, random_state=0)
    assert model.fit(X, y + 0.5 * X[:, 1], weights).rules_


def test_the_path_ends_with_the_second_C_that_is_not_better():
    X, y, _ = noisy(400, 12)
    model = ConjunctionLogisticRegression(
        random_state=0, C=[0.03, 0.1, 1, 10, 30, 100]
    ).fit(X, y)
    losses = -model.scores_[0]
    best = int(np.argmin(losses))
    assert np.isfinite(losses[: best + 3]).all()
    assert np.isposinf(losses[best + 3 :]).all()


def test_units_of_the_target_do_not_matter():
    X, y, _ = noisy(200, 6, seed=10)
    y = y + np.random.default_rng(0).normal(0, 0.2, len(y))
    one = ConjunctionRegressor(random_state=0).fit(X, y)
    other = ConjunctionRegressor(random_state=0).fit(X, 1e200 * y - 3e200)
    assert one.conjunctions_ == other.conjunctions_
    np.testing.assert_allclose(
        other.conjunction_coef_, 1e200 * one.conjunction_coef_, rtol=1e-6
    )
    np.testing.assert_allclose(other.C_, one.C_ / 1e200)


def test_a_constant_target_has_no_conjunctions():
    model = ConjunctionRegressor().fit([[0, 1], [1, 0], [1, 1]] * 5, [4.5] * 15)
    assert model.conjunctions_ == []
    assert model.is_optimal_
    np.testing.assert_array_equal(model.predict([[0, 0]]), [4.5])


def test_exports_predict_the_same():
    X, y, _ = noisy(200, 5, 3, seed=11)
    labels = np.array(["it's", 'say "no"', "c"])[y]
    names = ["a b", 'quo"te', "select", "x;", "é"]
    model = ConjunctionLogisticRegression(C=0.5, binarize=None).fit(X, labels)
    code, sql = model.to_python(), model.to_sql(names)
    predicted = model.predict(X).tolist()
    assert [eval(code, {"x": row}) for row in X.tolist()] == predicted
    base = sqlite3.connect(":memory:")
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    base.execute(f"CREATE TABLE t ({quoted})")
    base.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", X.tolist())
    rows = base.execute(f"SELECT {sql} FROM t AS f ORDER BY rowid").fetchall()
    assert [row[0] for row in rows] == predicted
    regressor = ConjunctionRegressor(C=0.5, binarize=None).fit(X, y)
    values = [eval(regressor.to_python(), {"x": row}) for row in X.tolist()]
    np.testing.assert_allclose(values, regressor.predict(X))


def test_rules_and_scorecards_name_the_columns():
    data = make_monks(1, as_frame=True)
    model = ConjunctionLogisticRegression(C=1.0).fit(data.data, data.target)
    first = model.rules_[0]
    assert first.literals == model.conjunctions_[0]
    assert first.weight == model.conjunction_coef_[0, 0]
    lines = model.to_text().splitlines()
    assert lines[0].startswith("log-odds of ")
    assert len(lines) == 2 + len(model.rules_)
    assert lines[2].endswith(first.to_text())
    assert lines[2].split()[0] == f"{first.weight:+.4g}"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be greater than 0"),
        ({"C": [0.1, -1]}, "C must be a number above 0, a list .* or 'auto'; got"),
        ({"C": [0, 0.1]}, "C must be a number above 0, a list"),
        ({"C": []}, "C must be a number above 0, a list"),
        ({"C": "all"}, "C must be a number above 0, a list .* got 'all'"),
        ({"literal_cost": 0.5}, "literal_cost must be at least 1"),
        ({"feature_groups": [1, 2]}, "feature_groups must hold one label"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y, _ = noisy()
    with pytest.raises(ValueError, match=message):
        ConjunctionLogisticRegression(**parameters).fit(X, y)


def test_without_weight_a_class_has_no_probability():
    X, y, _ = noisy()
    with pytest.warns(UserWarning, match=r"All samples of \[1\] have weight 0"):
        model = ConjunctionLogisticRegression().fit(X, y, sample_weight=1.0 * (y == 0))
    assert model.predict_proba(X)[:, 1].max() < 1e-12
    assert model.objective_ < 1e-9


def test_many_conjunctions_found_at_once_are_not_dropped_before_they_are_tried():
    # The first search for four classes finds more than are kept without a weight.
    rng = np.random.default_rng(0)
    X = rng.random((240, 21)) < 0.3
    scores = [
        X[:, 0] & X[:, 1] | X[:, 2],
        X[:, 3] & X[:, 4],
        X[:, 5] & ~X[:, 6],
        X[:, 7],
    ]
    y = np.argmax(scores, axis=0)
    y = np.where(rng.random(240) < 0.1, rng.integers(4, size=240), y)
    model = ConjunctionLogisticRegression(C=3.0, work_limit=0.5).fit(X, y)
    assert model.is_optimal_


def test_columns_are_dropped_and_known_ones_not_added_twice():
    X, y, weights = noisy(100, 5)
    space = ConjunctionSpace(5, 2, False, 1.1)
    model = ColumnGeneration(
        sparse.csr_array(X.astype(bool)), weights, y[None, :].astype(float), "logistic",
        space,
    )  # fmt: skip
    pair = ((0, True), (1, True))
    assert model.add([pair, pair, ((2, False),)]) == 2
    assert model.add([pair]) == 0
    problem = L1Problem("logistic", np.ones(128), np.zeros((1, 128)))
    model.minimize(1e-9, 0.1, exact=True)
    model.drop_unused(problem)
    assert model.conjunctions == [((2, False),)]
    assert model.solution().conjunctions == ()


@pytest.mark.parametrize("seed", range(5))
def test_classes_of_equal_weight_tie_in_any_order(seed):
    order = np.random.default_rng(seed).permutation(12)
    labels = np.repeat([0, 1, 2], [2, 5, 5])[order]
    model = ConjunctionLogisticRegression(C=1.0, tol=1e-10)
    model.fit(np.ones((12, 3)), labels, np.full(12, 1.0 + seed))
    assert model.intercept_[1] == model.intercept_[2]
    assert (model.predict(np.ones((1, 3))) == 1).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*work_limit=")
# A path and a fit may exceed the limit by a search by tables each.
@pytest.mark.parametrize(("shape", "seconds"), [((4000, 300), 9), ((2000, 2000), 2)])
def test_the_work_limit_ends_every_part_of_a_fit(shape, seconds):
    """Wide noise, of which nothing can be proved."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, shape), rng.integers(0, 2, shape[0])
    for class_ in (ConjunctionLogisticRegression, ConjunctionRegressor):
        began = process_time()
        model = class_(work_limit=0.25, random_state=0).fit(X, y)
        assert process_time() - began < seconds
        # Only tables prove something within the limit.
        assert not model.is_optimal_ or shape[1] == 300


@pytest.mark.parametrize(
    "model",
    [
        ConjunctionLogisticRegression(C=1.0),
        ConjunctionRegressor([0.1, 0.2], cv=2, max_literals=1),
    ],
)
def test_weights_whose_sums_would_overflow_are_refused(model):
    X = np.random.default_rng(0).random((60, 3)) < 0.5
    y = np.arange(60) % 2
    for size in (1e-200, 1e13):
        weights = np.full(60, size)
        clone(model).fit(X, y, weights)
    weights[7] = 1e120
    with pytest.raises(ValueError, match=r"sum of 1e\+120; .* below 2\*\*53.*Divide"):
        clone(model).fit(X, y, weights)


def test_old_parameters_mean_what_they_did():
    X, y, _ = noisy(150, 5, seed=5)
    with pytest.warns(FutureWarning, match="'Cs' is deprecated. Give the list"):
        old = ConjunctionLogisticRegression(Cs=[0.1, 1.0], random_state=0)
    assert old.get_params()["C"] == [0.1, 1.0]
    with pytest.warns(FutureWarning, match="Cs"):
        assert ConjunctionRegressor(2.0, Cs=[0.1, 1.0]).C == 2.0
    with pytest.warns(FutureWarning, match="'time_limit' is deprecated. Use work"):
        assert ConjunctionRegressor(time_limit=4).work_limit == 2.0
    with pytest.raises(ValueError, match=r"conjunction_cost=1 .*Raise literal_cost"):
        ConjunctionRegressor(conjunction_cost=1)
    model = ConjunctionRegressor(random_state=0).fit(X, y)
    with pytest.warns(FutureWarning, match="'explain' is .*Use 'satisfied_rules'"):
        assert model.explain(X[:2]) == model.satisfied_rules(X[:2])
    expected = model.predict(X)
    with pytest.warns(FutureWarning, match="C=None is deprecated. Use C='auto'"):
        found = ConjunctionRegressor(C=None, random_state=0).fit(X, y).predict(X)
    assert (found == expected).all()


@pytest.mark.parametrize("n_features", [6, 10])
@pytest.mark.parametrize("kind", [ConjunctionLogisticRegression, ConjunctionRegressor])
def test_selectors_of_scikit_learn_take_the_features_that_matter(kind, n_features):
    """Also where there are as many conjunctions as features, as with six."""
    rng = np.random.default_rng(52)
    X = rng.random((300, n_features)) < 0.5
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & (rng.random(300) < 0.9))
    fitted = kind(random_state=0).fit(X, y)
    assert not hasattr(fitted, "coef_")
    with pytest.raises(AttributeError, match=r"no coef_ .*conjunction_coef_"):
        fitted.coef_  # noqa: B018
    largest = np.argsort(-fitted.feature_importances_)[:3]
    assert set(largest) == {0, 1, 2}
    chosen = SelectFromModel(fitted, prefit=True).get_support()
    importances = fitted.feature_importances_
    np.testing.assert_array_equal(chosen, importances >= importances.mean())
    assert {2} <= set(np.flatnonzero(chosen)) <= {0, 1, 2}
    by_rank = SelectFromModel(kind(C=1.0), max_features=3, threshold=-np.inf)
    for selector in (by_rank, RFE(kind(C=1.0), n_features_to_select=3)):
        assert selector.fit(X, y).get_support(indices=True).tolist() == [0, 1, 2]
        assert selector.transform(X).shape == (300, 3)


@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared"])
@pytest.mark.parametrize("n_outputs", [3, 10])
def test_solutions_do_not_depend_on_the_number_of_threads(loss, n_outputs, monkeypatch):
    for name in ("SAMPLES_FOR_THREADS", "WORDS_FOR_THREADS"):
        monkeypatch.setattr(_l1_problem, name, 0)
    for name in ("PACKED_FOR_THREADS", "PAIRED_FOR_THREADS", "FEW"):
        monkeypatch.setattr(_curvatures, name, 0)
    rng = np.random.default_rng(0)
    columns = pack_dense((rng.random((30, 320)) < 0.3).astype(np.uint8))
    codes = rng.integers(0, n_outputs, 320)
    targets = np.eye(n_outputs)[codes].T
    if loss != "softmax":
        targets = targets[:1]
    solutions = []
    for n_jobs in (1, 3):
        problem = L1Problem(loss, np.full(320, 0.2), targets, n_jobs)
        coefficients = np.zeros((len(targets), 30))
        problem.solve(
            columns,
            np.ones(30),
            np.zeros(30, np.int8),
            coefficients,
            1e-3,
            balances=True,
        )
        solutions.append([coefficients, problem.means, problem.value])
    assert solutions[0][0].any()
    assert_equal(*solutions)
