"""RuleClassifier predicts what its rules predict, by definition."""

import numpy as np
import pandas as pd
import pytest
from oracles.rules import satisfies, table
from scipy import sparse
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from sklboolean import AveragedPerceptron, KernelPerceptron, RuleClassifier
from sklboolean.datasets import (
    load_mushroom,
    make_dnf,
    make_monks,
    make_tic_tac_toe,
)
from sklboolean.kernels import ConjunctionKernel
from sklboolean.rules._rule_classifier import rule_list_cost


def three_classes(n_samples=300, seed=0):
    X = np.random.default_rng(seed).integers(0, 2, (n_samples, 6))
    y = np.where(X[:, 0] & X[:, 1], "a", np.where(X[:, 2] & ~X[:, 3] & 1, "b", "c"))
    return X, y


def decided_by(model, row):
    """The number of the first rule that a row satisfies, by definition."""
    holds = [satisfies(row, rule.literals) for rule in model.rules_]
    return [*holds, True].index(True)


@pytest.mark.parametrize(
    "model",
    [
        RuleClassifier(random_state=0),
        RuleClassifier(SVC(gamma=0.1), monotone=True),
        RuleClassifier(SVC(kernel=ConjunctionKernel(max_literals=2)), max_rules=2),
        RuleClassifier(AveragedPerceptron(), random_state=0, min_gain=0.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("data", [table(120, 6), three_classes()], ids=["two", "three"])
@pytest.mark.filterwarnings("ignore:No rule gained")
def test_the_first_rule_that_holds_decides(model, data):
    X, y = data
    model.fit(X, y)
    decided = [decided_by(model, row) for row in X]
    assert model.apply(X).tolist() == decided
    labels = [*(rule.label for rule in model.rules_), model.default_]
    assert model.predict(X).tolist() == [labels[k] for k in decided]
    assert (model.apply(sparse.csr_array(X)) == decided).all()
    for k in range(len(labels)):
        here = np.array(decided) == k
        counts = np.array([(y[here] == label).sum() for label in model.classes_])
        assert model.class_counts_[k].tolist() == counts.tolist()
        if k < len(model.rules_):
            rule = model.rules_[k]
            assert rule.coverage == here.sum()
            assert rule.precision == (y[here] == rule.label).mean()
        expected = (counts + 1) / (counts.sum() + len(counts))
        np.testing.assert_allclose(
            model.predict_proba(X[here]), np.tile(expected, (here.sum(), 1))
        )


def test_rules_of_three_classes():
    X, y = three_classes()
    model = RuleClassifier(random_state=0).fit(X, y)
    assert model.score(X, y) == 1
    labels = [rule.label for rule in model.rules_]
    sizes = {label: (y == label).sum() for label in "abc"}
    turns = [*dict.fromkeys(labels), model.default_]
    assert sorted(turns) == ["a", "b", "c"]
    order = sorted(turns, key=sizes.get)
    assert turns in (order, order[::-1])


def test_cost_counts_errors_and_literals():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    words = X @ np.array([1, 2], dtype=np.uint64)
    codes = np.array([0, 1, 1, 0])
    rules = [(((0, True), (1, True)), 0), (((0, True),), 1)]
    # Row 2 is decided by the second rule; of rows 0 and 1 the default has one right.
    assert rule_list_cost(rules, words.astype(np.uint64)[:, None], codes) == 1 + 3
    assert rule_list_cost([], words.astype(np.uint64)[:, None], codes) == 2


@pytest.mark.parametrize(("n", "terms", "length"), [(50, 6, 3), (200, 5, 4)])
def test_planted_dnfs_untuned(n, terms, length):
    X, y, planted = make_dnf(
        4000, n, n_terms=terms, n_literals=length, correlation=0.5,
        positive_fraction=0.5, random_state=1,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    order = rng.permutation(4000)
    train, test = order[:2000], order[2000:]
    noisy = y[train] ^ (rng.random(2000) < 0.04)
    model = RuleClassifier(random_state=0).fit(X[train], noisy)
    assert model.score(X[test], y[test]) >= 0.99
    assert {rule.literals for rule in model.rules_} == set(planted)


def test_tic_tac_toe_and_monks():
    data = make_tic_tac_toe()
    model = RuleClassifier(monotone=True, random_state=0)
    assert model.fit(data.data, data.target).score(data.data, data.target) == 1
    assert sorted(len(rule.literals) for rule in model.rules_) == [3] * 8
    for number, n_rules in ((1, 4), (3, 2)):
        data = make_monks(number)
        model = RuleClassifier(feature_groups=data.feature_groups, random_state=0)
        assert model.fit(data.data, data.target).score(data.data, data.target) == 1
        assert len(model.rules_) == n_rules


def test_mushroom_is_four_rules_at_most():
    data = load_mushroom(as_frame=True)
    model = RuleClassifier(feature_groups=data.feature_groups, random_state=0)
    model.fit(data.data, data.target)
    assert len(model.rules_) <= 4
    assert model.score(data.data, data.target) >= 0.995
    assert "odor=" in model.to_text()


def test_names_and_text():
    X, y = table(120, 4)
    frame = pd.DataFrame(X.astype(bool), columns=list("abcd"))
    model = RuleClassifier(random_state=0).fit(frame, y)
    lines = model.to_text().splitlines()
    assert lines[-1] == f"else {model.default_}"
    for line, rule in zip(lines, model.rules_, strict=False):
        assert line == f"{rule.label} if {rule.to_text(list('abcd'))}"
    with pytest.raises(ValueError, match="1 names, but the rule uses"):
        model.to_text(["a"])


def test_nothing_to_find_is_a_constant_and_says_so():
    X = np.zeros((20, 3))
    y = np.r_[np.zeros(12), np.ones(8)]
    model = RuleClassifier(random_state=0)
    with pytest.warns(
        UserWarning, match=r"No rule gained enough: every sample is predicted as 0.0"
    ):
        model.fit(X, y)
    assert model.rules_ == []
    assert model.to_text() == "0.0"
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[13 / 22, 9 / 22]])


def test_grid_search_in_a_pipeline():
    data = make_monks(1)
    attributes = np.repeat(np.arange(2), 30)[:, None] + np.zeros((60, 2), dtype=int)
    y = np.repeat([0, 1], 30)
    search = GridSearchCV(
        make_pipeline(OneHotEncoder(), RuleClassifier(random_state=0)),
        {"ruleclassifier__max_literals": [1, 2], "ruleclassifier__penalty": [2.0, 5.0]},
        cv=3,
    ).fit(attributes, y)
    assert search.best_score_ == 1
    search = GridSearchCV(
        RuleClassifier(KernelPerceptron(random_state=0)),
        {"estimator__max_literals": [2, 3]},
        cv=3,
    ).fit(data.data, data.target)
    assert search.best_estimator_.estimator_.max_literals in (2, 3)


def test_random_state_reaches_the_kernel_model():
    X, y = table(200, 6)
    one, other = (RuleClassifier(random_state=3).fit(X, y) for _ in range(2))
    assert one.rules_ == other.rules_
    assert one.estimator_.random_state == other.estimator_.random_state
    kept = RuleClassifier(KernelPerceptron(random_state=7), random_state=3).fit(X, y)
    assert kept.estimator_.random_state == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": KNeighborsClassifier()}, "neither support vectors nor a weight"),
        ({"feature_groups": [0]}, "one label for each of 4 features"),
        ({"max_rules": 0}, "max_rules"),
        ({"penalty": 0}, "penalty must be at least 1"),
        ({"time_limit": -1}, "time_limit"),
        ({"binarize": None}, "Column 0 of X holds 2"),
    ],
)
def test_errors_leave_the_model_as_it_was(options, message):
    X, y = table()
    model = RuleClassifier(random_state=0).fit(X, y)
    before = dict(vars(model))
    X = X + (options.get("binarize", 0) is None) * 2.0
    with pytest.raises(ValueError, match=message):
        model.set_params(**options).fit(X, y)
    assert {**vars(model), **before}.keys() == vars(model).keys()
    assert model.rules_ is before["rules_"]
