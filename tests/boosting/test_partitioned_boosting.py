"""Boosting of partitions by sums: the rounds of one place, wherever tasks run."""

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from partition_cases import joined, parts_of
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from sklboolean import BooleanStump, BoostByMajority
from sklboolean._core import packed_partitions
from sklboolean.boosting import ConjunctionStump
from sklboolean.boosting import _partitioned_boosting as by_sums

pytestmark = pytest.mark.filterwarnings(
    "ignore:The first hypothesis alone", "ignore:No hypothesis was right",
    "ignore:After max_estimators",
)  # fmt: skip


def table(n_samples, n_features=9, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_features)) < 0.4
    score = X[:, :7].sum(axis=1) + rng.normal(size=n_samples)
    y = np.digitize(score, [2.8] if n_classes == 2 else [2, 3.4])
    y[:n_classes] = range(n_classes)
    return X, np.array(["low", "middle", "high"])[y]


RULES = [
    {"n_estimators": 21, "gamma": "measured"},
    {"n_estimators": 21, "gamma": 0.1},
    {"n_estimators": "auto", "target_error": 0.2},
    {"n_estimators": "auto", "gamma": 0.08, "max_estimators": 40},
    {"n_estimators": 15, "gamma": 0.2, "weak_failure": "replan"},
]
ROUNDS = (
    "_stumps", "estimator_rounds_", "estimator_edges_", "gammas_", "required_edges_",
    "divergences_", "acceptance_rates_", "potentials_", "training_error_", "k_",
    "n_rounds_", "n_aborted_", "plans_", "termination_condition_",
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10**6), st.sampled_from([1, 2, 7]), st.sampled_from([2, 3]),
    st.sampled_from(RULES), st.booleans(),
)  # fmt: skip
def test_any_division_plays_the_rounds_of_one_place(
    seed, n_parts, n_classes, rules, is_weighted
):
    arrays = [*table(120, seed=seed, n_classes=n_classes)]
    if is_weighted:
        weights = np.random.default_rng(seed).integers(0, 3, 120)
        arrays.append(weights + (np.arange(120) < 3.0))
    parts = parts_of(n_parts, *arrays)
    model = BoostByMajority(
        BooleanStump(), multi_class="joint", random_state=0, **rules
    )
    whole = clone(model).fit(*joined(parts))
    found = clone(model).fit_partitions(parts, by_sums=True)
    for name in ROUNDS:
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    X = arrays[0]
    scores = whole.decision_function(X)
    np.testing.assert_array_equal(found.decision_function(X), scores)
    assert found.calibration_slope_ > 0
    assert found.label_quality_ is found.policy_scores_ is None


def test_weights_of_classes_count():
    X, y = table(400)
    model = BoostByMajority(
        BooleanStump(), n_estimators=21, gamma="measured", class_weight="balanced"
    )
    parts = parts_of(3, X, y, np.linspace(0.1, 3, 400))
    whole = clone(model).fit(*joined(parts))
    found = clone(model).fit_partitions(parts, by_sums=True)
    np.testing.assert_array_equal(found._stumps, whole._stumps)
    np.testing.assert_allclose(found.estimator_edges_, whole.estimator_edges_)


def test_weights_may_differ_by_any_factor():
    X, y = table(300)
    weights = 10.0 ** np.random.default_rng(0).integers(-200, 200, 300)
    model = BoostByMajority(BooleanStump(), n_estimators=15, gamma="measured")
    parts = parts_of(3, X, y, weights)
    whole = clone(model).fit(*joined(parts))
    found = clone(model).fit_partitions(parts, by_sums=True)
    assert found.training_error_ == pytest.approx(whole.training_error_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_calibrated_on_samples_that_did_not_train(
    n_classes, monkeypatch
):
    X, y = table(3000, n_classes=n_classes)
    model = BoostByMajority(
        BooleanStump(), n_estimators=31, gamma="measured", multi_class="joint",
        random_state=0,
    )  # fmt: skip
    sent, original = [], by_sums._held_out

    def noted(*arguments):
        sent.append(original(*arguments))
        return sent[-1]

    monkeypatch.setattr(by_sums, "_held_out", noted)
    found = clone(model).fit_partitions(parts_of(3, X, y), by_sums=True)
    assert [len(codes) for _, codes, _ in sent] == [334] * 3  # a thousand in all
    assert not np.array_equal(sent[0][0], sent[1][0])
    whole = clone(model).fit(X, y)
    truth = y[:, None] == found.classes_
    for one in (whole, found):
        loss = -np.log(one.predict_proba(X)[truth]).mean()
        uncalibrated = clone(model).fit(X, y)
        uncalibrated.calibration_slope_ = 1e-6
        assert loss < -np.log(uncalibrated.predict_proba(X)[truth]).mean()
    ratio = found.calibration_slope_ / whole.calibration_slope_
    assert 0.5 < ratio < 2


@pytest.mark.parametrize("n_classes", [2, 3])
def test_tasks_may_run_anywhere(n_classes, monkeypatch):
    """In processes that keep what they computed, and in those that never saw a task."""
    X, y = table(500, n_classes=n_classes)
    model = BoostByMajority(
        BooleanStump(), n_estimators=15, gamma="measured", multi_class="joint",
        random_state=0,
    )  # fmt: skip
    parts = parts_of(3, X, y)
    expected = pickle.dumps(clone(model).fit_partitions(parts, by_sums=True))
    with parallel_config("threading", n_jobs=2):
        found = clone(model).fit_partitions(parts, by_sums=True)
    assert pickle.dumps(found) == expected
    monkeypatch.setattr(packed_partitions, "kept", lambda place, make: make())
    monkeypatch.setattr(by_sums, "kept_last", lambda place, name, make: make())
    found = clone(model).fit_partitions(parts, by_sums=True)
    assert pickle.dumps(found) == expected


def test_partitions_without_weight_or_samples_change_nothing():
    X, y = table(300)
    weights = np.ones(300)
    model = BoostByMajority(BooleanStump(), n_estimators=9, gamma="measured")
    expected = clone(model).fit_partitions([(X, y, weights)], by_sums=True)
    parts = [
        (X[:0], y[:0], weights[:0]), (X, y, weights), (X[:9], y[:9], np.zeros(9)),
    ]  # fmt: skip
    found = clone(model).fit_partitions(parts, by_sums=True)
    np.testing.assert_array_equal(found._stumps, expected._stumps)


def test_what_sums_cannot_do_is_said_and_changes_nothing():
    X, y = table(90)
    model = BoostByMajority(BooleanStump(), n_estimators=9, gamma="measured").fit(X, y)
    fitted = dict(vars(model))
    for params, message in [
        ({"estimator": None}, "set estimator=BooleanStump"),
        ({"estimator": ConjunctionStump()}, "set estimator=BooleanStump"),
        ({"gamma": "auto"}, "set gamma='measured', or n_estimators='auto'"),
        ({"holdout": 0.5}, "set holdout=None"),
        ({"early_stopping": True}, "set early_stopping=False"),
        ({"sampling": "resample"}, "set sampling='auto'"),
        ({"estimator": DecisionTreeClassifier()}, "set estimator=BooleanStump"),
    ]:
        vars(model).update(params)
        with pytest.raises(ValueError, match=message):
            model.fit_partitions([None], by_sums=True)  # before anything is loaded
        assert vars(model) == fitted | params
        vars(model).update({name: fitted[name] for name in params})
    trees = BoostByMajority(DecisionTreeClassifier(), gamma="measured")
    with pytest.raises(ValueError, match="only stumps learn from"):
        trees.fit_partitions([(X, y)])
    weighted = clone(model).set_params(class_weight={"low": 0, "middle": 1})
    with pytest.raises(ValueError, match="class_weight must hold weights"):
        weighted.fit_partitions([(X, y)], by_sums=True)
    assert not hasattr(weighted, "classes_")
    with pytest.raises(ValueError, match="set multi_class='joint'"):
        model.fit_partitions([table(90, n_classes=3)], by_sums=True)
    assert vars(model) == fitted


@pytest.mark.parametrize("n_parts", [8, 64])
def test_bytes_are_those_of_the_cost_model_of_the_guide(n_parts, monkeypatch):
    """They do not grow with the samples."""
    sent, returned, original = Counter(), Counter(), by_sums._ask

    def counted(place, source, settings, tests, name, arguments):
        result = original(place, source, settings, tests, name, arguments)
        size = len(pickle.dumps((settings, tests, name, arguments)))
        sent[name] = max(sent[name], size)
        returned[name] = max(returned[name], len(pickle.dumps(result)))
        return result

    monkeypatch.setattr(by_sums, "_ask", counted)
    for n_samples in (1280, 6400):
        parts = parts_of(n_parts, *table(n_samples, n_features=40))
        model = BoostByMajority(BooleanStump(), n_estimators=31, gamma="measured")
        model.fit_partitions([lambda part=part: part for part in parts], by_sums=True)
    assert returned["sums"] <= 2 * 8 * 40 + 1000
    assert returned["state_counts"] <= 8 * 32 + 500
    # Three numbers for each stump; the name of each partition's seed; parameters.
    assert max(sent.values()) <= 31 * 24 + 10 * n_parts + 3000
