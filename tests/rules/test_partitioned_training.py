"""Conjunction models of partitions by sums: those of one place, wherever tasks run."""

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from partition_cases import parts_of
from sklearn.base import clone

from sklboolean import (
    BooleanSVC,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    OptimalRuleSet,
)
from sklboolean._core import packed_partitions
from sklboolean.rules import _partitioned_training as training

RNG = np.random.default_rng(0)


def table(n_samples, n_features=8, seed=0):
    """Make samples, labels of two and of three classes, numbers and weights."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_features)) < rng.random(n_features)
    logits = 2.0 * (X[:, 0] & X[:, 1]) - 1.5 * (X[:, 2] & ~X[:, 3]) + X[:, 4]
    y = np.where(rng.logistic(size=n_samples) < logits, "yes", "no")
    of_three = np.where(
        rng.random(n_samples) < 0.3,
        rng.integers(0, 3, n_samples),
        X[:, 0] + 1 * (X[:, 1] & X[:, 2]),
    )
    y[:2], of_three[:3] = ["yes", "no"], [0, 1, 2]
    numbers = 1e3 * logits + 7 + rng.normal(size=n_samples)
    return X, {"two": y, "three": of_three, "numbers": numbers}


def model_of(kind, **params):
    if kind == "numbers":
        return ConjunctionRegressor(**params)
    return ConjunctionLogisticRegression(**params)


def outputs(model, X):
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 10**6), st.sampled_from([40, 300]), st.sampled_from([1, 2, 7]),
    st.sampled_from(["two", "three", "numbers"]), st.booleans(), st.booleans(),
)  # fmt: skip
def test_any_division_gives_the_model_of_one_place(
    seed, n_samples, n_parts, kind, monotone, is_weighted
):
    rng = np.random.default_rng(seed)
    X, targets = table(n_samples, seed=seed)
    arrays = [X, targets[kind]]
    if is_weighted:
        arrays.append(rng.integers(0, 3, n_samples) + (np.arange(n_samples) < 3.0))
    C = 0.02 if kind == "numbers" else 1.0
    options = {"C": C / np.std(arrays[1])} if kind == "numbers" else {"C": C}
    if kind != "numbers":
        options["class_weight"] = rng.choice([None, "balanced"])
    model = model_of(
        kind, tol=1e-8, monotone=monotone, feature_groups=list("aabbcdef"),
        max_literals=int(rng.integers(1, 4)), work_limit=None, **options,
    )  # fmt: skip
    whole = clone(model).fit(*arrays)
    found = clone(model).fit_partitions(parts_of(n_parts, *arrays), by_sums=True)
    # Both are within their gap of one optimum of a strictly convex loss of scores.
    assert found.is_optimal_ == whole.is_optimal_
    allowed = found.optimality_gap_ + whole.optimality_gap_
    assert abs(found.objective_ - whole.objective_) <= allowed + 1e-9 * whole.objective_
    scale = np.abs(outputs(whole, X)).max()
    assert np.abs(outputs(found, X) - outputs(whole, X)).max() <= 1e-3 * scale
    weights = arrays[2] if is_weighted else np.ones(n_samples)
    for literals, n_covered in zip(found.conjunctions_, found.coverages_, strict=True):
        covered = np.all([X[:, j] == value for j, value in literals], axis=0)
        assert n_covered == np.count_nonzero(covered & (weights > 0))


@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
def test_a_chosen_C_has_the_model_of_that_C(kind):
    X, targets = table(1500)
    model = model_of(kind, random_state=0, tol=1e-8, max_literals=2)
    parts = parts_of(3, X, targets[kind])
    found = clone(model).fit_partitions(parts, by_sums=True)
    assert found.scores_.shape == (1, len(found.scores_[0]))
    assert found.held_out_scores_ is None
    assert found.C_ == pytest.approx(found.Cs_[-1])
    fixed = clone(model).set_params(C=found.C_).fit(X, targets[kind])
    np.testing.assert_allclose(found.objective_, fixed.objective_, rtol=1e-6)
    # Few samples are dealt out to five folds, in each partition.
    few = [tuple(array[:50] for array in part) for part in parts]
    assert len(clone(model).fit_partitions(few, by_sums=True).scores_) == 5
    folds = clone(model).set_params(cv=2).fit_partitions(few, by_sums=True)
    assert len(folds.scores_) == 2


@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
def test_each_partition_holds_out_a_quarter_at_random(kind, monkeypatch):
    X, targets = table(2400)
    held_out, original = [], training._held_out

    def noted(*arguments):
        held_out.append(original(*arguments))
        return held_out[-1]

    monkeypatch.setattr(training, "_held_out", noted)
    model = model_of(kind, random_state=0, max_literals=1)
    clone(model).fit_partitions(parts_of(2, X, targets[kind]), by_sums=True)
    assert [len(weights) for _, weights, _ in held_out] == [300, 300]
    assert not np.array_equal(held_out[0][2], held_out[1][2])
    monkeypatch.setattr(training, "MOST_HELD_OUT", 240)
    held_out.clear()
    clone(model).fit_partitions(parts_of(2, X, targets[kind]), by_sums=True)
    assert [len(weights) for _, weights, _ in held_out] == [120, 120]


@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
@pytest.mark.parametrize("C", [None, 0.3])
def test_tasks_may_run_anywhere(kind, C, monkeypatch):
    """In processes that keep what they computed, and in those that never saw a task."""
    X, targets = table(1200)
    model = model_of(kind, C=C, random_state=0, max_literals=2)
    parts = parts_of(3, X, targets[kind])
    expected = pickle.dumps(clone(model).fit_partitions(parts, by_sums=True))
    with parallel_config("threading", n_jobs=2):
        found = clone(model).fit_partitions(parts, by_sums=True)
    assert pickle.dumps(found) == expected
    monkeypatch.setattr(packed_partitions, "kept", lambda place, make: make())
    monkeypatch.setattr(training, "kept_last", lambda place, name, make: make())
    found = clone(model).fit_partitions(parts, by_sums=True)
    assert pickle.dumps(found) == expected


def test_partitions_without_weight_or_samples_change_nothing():
    X, targets = table(300)
    y, weights = targets["two"], np.ones(300)
    model = ConjunctionLogisticRegression(C=1.0, max_literals=2)
    expected = clone(model).fit_partitions([(X, y, weights)], by_sums=True)
    parts = [
        (X[:0], y[:0], weights[:0]), (X, y, weights), (X[:9], y[:9], np.zeros(9)),
    ]  # fmt: skip
    found = clone(model).fit_partitions(parts, by_sums=True)
    assert pickle.dumps(found) == pickle.dumps(expected)


def test_what_sums_cannot_do_is_said_and_changes_nothing():
    X, targets = table(60)
    y = targets["two"]
    model = ConjunctionLogisticRegression(C=1.0).fit(X, y)
    before = dict(vars(model))
    wide = RNG.random((60, 500)) < 0.5
    for refused, parts, message in [
        (model, [(wide, y)], "too many to be sent.*max_literals.*by_sums=False"),
        (model, [(X, y), (X[:, 1:], y)], "Partition 1: X has 7 features"),
        (model, [(X, y), (X, y == "yes")], "Partition 1: y holds bool"),
        (model, [(X, y), (X, RNG.random(60))], "Partition 1: Unknown label type"),
        (model, [(X, np.full(60, "no"))], "only one class"),
        (model, [(X, y, 1.0 * (y == "no"))], "'yes' has a total weight of 0"),
        (model, [(X[:0], y[:0])], "All partitions are empty"),
    ]:
        with pytest.raises(ValueError, match=message):
            refused.fit_partitions(parts, by_sums=True)
    assert vars(model) == before
    with pytest.raises(ValueError, match="by_sums must be"):
        model.fit_partitions([(X, y)], by_sums="yes")
    by_split = ConjunctionLogisticRegression(cv=[(np.arange(30), np.arange(30, 60))])
    with pytest.raises(ValueError, match=r"each partition draws.*cv"):
        by_split.fit_partitions([(X, y)], by_sums=True)
    one_by_one = parts_of(60, X, y)
    with pytest.raises(ValueError, match=r"none can be held out.*Set C"):
        ConjunctionLogisticRegression().fit_partitions(one_by_one, by_sums=True)
    for other in (BooleanSVC(), OptimalRuleSet()):
        with pytest.raises(ValueError, match="needs all samples in one place"):
            other.fit_partitions([(X, y)], by_sums=True)


@pytest.mark.parametrize("n_parts", [8, 64])
def test_bytes_are_those_of_the_cost_model_of_the_guide(n_parts, monkeypatch):
    """They do not grow with the samples, and each kind of sum has its size."""
    sent, returned, original = Counter(), Counter(), training._ask

    def counted(place, source, settings, point, name, arguments):
        result = original(place, source, settings, point, name, arguments)
        sent[name] = max(sent[name], len(pickle.dumps((settings, point, arguments))))
        returned[name] = max(returned[name], len(pickle.dumps(result)))
        return result

    monkeypatch.setattr(training, "_ask", counted)
    sizes = []
    for n_samples in (640, 6400):
        X, targets = table(n_samples, n_features=20)
        loaders = [
            lambda part=part: part for part in parts_of(n_parts, X, targets["two"])
        ]
        model = ConjunctionLogisticRegression(C=0.1, max_literals=3, tol=0.05)
        found = clone(model).fit_partitions(loaders, by_sums=True)
        sizes.append((sum(returned.values()), sum(sent.values())))
    n_sums = 1 + 20 + 190 + 1140
    assert returned["sums_of_residuals"] <= 8 * n_sums + 1000
    assert returned["counts"] <= 4 * n_sums + 1000
    # A model has a number and some literals for each conjunction.
    n_columns = 1 + 20 + 2 * len(found.conjunctions_) + 200
    assert max(sent.values()) <= n_columns * (8 + 8 + 3 * 4 + 2 * 16) + 4000
    assert returned["slopes"] <= 8 * n_columns + 1000
    assert returned["value"] <= 1000
    assert sizes[1][0] <= 2 * sizes[0][0]
