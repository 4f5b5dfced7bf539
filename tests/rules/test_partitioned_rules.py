"""Rule lists of partitions by sums: those of one place, wherever tasks run."""

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

from sklboolean import RuleClassifier
from sklboolean._core import packed_partitions
from sklboolean.rules import _partitioned_rules as by_sums


def table(n_samples, n_features=9, seed=0, n_classes=2, density=None):
    rng = np.random.default_rng(seed)
    density = rng.random(n_features) if density is None else density
    X = rng.random((n_samples, n_features)) < density
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & ~X[:, 3] & X[:, 4])
    y = np.where(rng.random(n_samples) < 0.15, rng.integers(0, n_classes, n_samples), y)
    y[:n_classes] = range(n_classes)
    return X, np.array(["no", "yes", "often"])[y]


def described(rules):
    """Describe rules, with precisions up to rounding: weights are added in parts."""
    return [
        (rule.literals, rule.label, rule.coverage, pytest.approx(rule.precision))
        for rule in rules
    ]


@pytest.mark.filterwarnings("ignore:No rule gained enough")
@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10**6), st.sampled_from([1, 2, 7]), st.sampled_from([1, 2, 3, 4]),
    st.sampled_from([2, 3]), st.booleans(), st.booleans(),
)  # fmt: skip
def test_any_division_gives_the_rules_of_one_place(
    seed, n_parts, max_literals, n_classes, monotone, is_weighted
):
    """So few samples are not held out, so that nothing is drawn."""
    rng = np.random.default_rng(seed)
    arrays = [*table(60, seed=seed, n_classes=n_classes)]
    if is_weighted:
        arrays.append(rng.integers(0, 3, 60) + (np.arange(60) < 3.0))
    parts = parts_of(n_parts, *arrays)
    weighted = dict(zip(["no", "yes", "often"][:n_classes], [0.5, 1, 1], strict=False))
    model = RuleClassifier(
        "labels", max_literals=max_literals, monotone=monotone,
        class_weight=rng.choice([None, weighted]), random_state=0,
        feature_groups=list("aabbcdefg"),
    )  # fmt: skip
    whole = clone(model).fit(*joined(parts))
    found = clone(model).fit_partitions(parts, by_sums=True)
    assert described(found.rules_) == described(whole.rules_)
    assert described(found.grades_) == described(whole.grades_)
    assert found.default_ == whole.default_
    assert (found.penalty_, found.literal_price_) == (
        whole.penalty_, whole.literal_price_,
    )  # fmt: skip
    np.testing.assert_allclose(found.class_counts_, whole.class_counts_)
    np.testing.assert_allclose(found.probabilities_, whole.probabilities_)
    assert found.cost_ is found.cost_bound_ is None


@pytest.mark.parametrize("n_parts", [1, 4])
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=3)])
def test_defaults_find_the_rules_that_made_the_labels(estimator, n_parts):
    X, y = table(3000, n_features=20, density=0.5)
    model = RuleClassifier(estimator, random_state=0)
    parts = parts_of(n_parts, X, y)
    found = clone(model).fit_partitions(parts, by_sums=True)
    whole = clone(model).fit(X, y)
    wanted = {((0, True), (1, True)), ((2, True), (3, False), (4, True))}
    assert {rule.literals for rule in found.rules_} == wanted
    assert {rule.literals for rule in whole.rules_} == wanted


def test_models_leave_out_the_samples_that_they_contradict():
    X, y = table(600, density=0.5)
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    right = model.predict(X) == y
    noted, original = [], by_sums.PartitionedRuleSamples.trusted

    def trusted(samples, fitted, classes):
        found = original(samples, model, classes)
        noted.append((samples.masses(), found.masses()))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_sums.PartitionedRuleSamples, "trusted", trusted)
        patch.setattr(by_sums.PartitionedRuleSamples, "folds", lambda *_: [])
        RuleClassifier(model).fit_partitions(parts_of(3, X, y), by_sums=True)
    classes = ["no", "yes"]
    for masses, of_trusted in noted:
        assert masses.tolist() == [np.count_nonzero(y == one) for one in classes]
        assert of_trusted.tolist() == [
            np.count_nonzero(right & (y == one)) for one in classes
        ]
    assert noted


def test_a_fourth_literal_extends_the_best_of_three():
    X, _ = table(2000, n_features=12, density=0.5)
    y = X[:, 0] & ~X[:, 1] & X[:, 2] & ~X[:, 5]
    model = RuleClassifier("labels", penalty=1.0, literal_price=4.0, random_state=0)
    found = clone(model).fit_partitions(parts_of(3, X, y), by_sums=True)
    (rule,) = found.rules_
    assert rule.literals == ((0, True), (1, False), (2, True), (5, False))
    assert found.score(X, y) == 1.0


def longer_by_definition(X, gains, parents, monotone, groups):
    """Return the largest sum of a conjunction with a literal more, and the literals."""
    n_features = X.shape[1]
    best = (-1e-9, None)
    for literals in parents:
        cover = np.all([X[:, j % n_features] == (j < n_features) for j in literals], 0)
        own = {groups[j % n_features] for j in literals}
        for j in range(n_features if monotone else 2 * n_features):
            if groups[j % n_features] in own:
                continue
            sum_ = gains[cover & (X[:, j % n_features] == (j < n_features))].sum()
            best = max(best, (sum_, [-one for one in sorted([*literals, j])]))
    return best


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.booleans())
def test_longer_conjunctions_are_the_best_by_definition(seed, monotone):
    rng = np.random.default_rng(seed)
    X = rng.random((40, 6)) < rng.random(6)
    gains = rng.integers(-3, 4, 40).astype(float)
    groups = by_sums.encode_groups(list("aabcde"), 6)
    ones = X.sum(axis=0).astype(np.int64)
    layout = by_sums.ConjunctionTable.of_all((groups, 2, (ones, 40)))
    n_literals = 6 if monotone else 12
    pairs = [
        sorted(map(int, pair))
        for pair in (rng.choice(n_literals, 2, replace=False) for _ in range(5))
        if groups[pair[0] % 6] != groups[pair[1] % 6]
    ]
    places = np.where(layout.inverted, ~X[:, layout.features], X[:, layout.features])
    longer = []
    for pair in pairs:
        cover = np.all([X[:, j % 6] == (j < 6) for j in pair], axis=0)
        longer.append(np.r_[gains[cover].sum(), (gains * cover) @ places])
    parents = [(pair, 0.0) for pair in pairs]
    found = by_sums.best_longer(parents, longer, layout, 0.0, monotone)
    sum_, literals = longer_by_definition(X, gains, pairs, monotone, groups)
    if not sum_ > 0:
        assert found == []
    else:
        assert found == [([-one for one in literals], sum_)]


@pytest.mark.parametrize("estimator", [None, "labels"])
def test_tasks_may_run_anywhere(estimator, monkeypatch):
    """In processes that keep what they computed, and in those that never saw a task."""
    X, y = table(700)
    model = RuleClassifier(estimator, random_state=0, penalty=1.0)
    parts = parts_of(3, X, y)

    def rules_of(model):
        model = clone(model).fit_partitions(parts, by_sums=True)
        return model.rules_, model.grades_, model.probabilities_.tolist()

    expected = rules_of(model)
    with parallel_config("threading", n_jobs=2):
        assert rules_of(model) == expected
    for module in (by_sums, packed_partitions):
        monkeypatch.setattr(module, "kept", lambda place, make: make())
    assert rules_of(model) == expected


def test_partitions_without_weight_or_samples_change_nothing():
    X, y = table(300)
    weights, model = np.ones(300), RuleClassifier("labels", random_state=0)
    expected = clone(model).fit_partitions([(X, y, weights)], by_sums=True)
    parts = [
        (X, y, weights), (X[:0], y[:0], weights[:0]), (X[:9], y[:9], np.zeros(9)),
    ]  # fmt: skip
    found = clone(model).fit_partitions(parts, by_sums=True)
    assert described(found.rules_) == described(expected.rules_)


def test_what_sums_cannot_do_is_said_and_changes_nothing():
    X, y = table(60, density=0.5)
    wide = np.random.default_rng(0).random((60, 600)) < 0.5
    model = RuleClassifier("labels", max_literals=2).fit(X, y)
    before = dict(vars(model))
    for params, data, message in [
        ({"certificate": True}, None, "certificate=False"),  # before data are loaded
        ({"max_literals": 5}, X, "rules of 5 literals.*max_literals=3, or 4 with"),
        ({"max_literals": 4, "width": None}, X, "rules of 4 literals"),
        ({"max_literals": 3}, wide, "too many to be sent.*Lower max_literals"),
    ]:
        model.set_params(**params)
        before |= params
        partition = None if data is None else (data, y)
        with pytest.raises(ValueError, match=message):
            model.fit_partitions([partition], by_sums=True)
        assert vars(model) == before
        model.set_params(certificate=False, max_literals=2, width=512)
        before |= {"certificate": False, "max_literals": 2, "width": 512}


@pytest.mark.parametrize("n_parts", [8, 64])
def test_bytes_are_those_of_the_cost_model_of_the_guide(n_parts, monkeypatch):
    """They do not grow with the samples."""
    sent, returned, original = Counter(), Counter(), by_sums._ask

    def counted(place, source, settings, name, arguments):
        result = original(place, source, settings, name, arguments)
        size = len(pickle.dumps((settings, name, arguments)))
        sent[name] = max(sent[name], size)
        returned[name] = max(returned[name], len(pickle.dumps(result)))
        return result

    monkeypatch.setattr(by_sums, "_ask", counted)
    for n_samples in (640, 6400):
        parts = parts_of(n_parts, *table(n_samples, n_features=20))
        model = RuleClassifier("labels", penalty=1.0, literal_price=(4, 16))
        model.fit_partitions([lambda part=part: part for part in parts], by_sums=True)
    n_sums = 1 + 20 + 190 + 1140
    assert returned["sums_of_gains"] <= 8 * n_sums + 1000
    assert returned["counts"] <= 4 * n_sums + 1000
    assert returned["sums_of_longer"] <= 8 * 32 * 21 + 1000
    assert max(sent.values()) <= 8000
