"""Conjunctions with the largest weight in models, against all conjunctions."""

import pickle

import numpy as np
import pandas as pd
import pytest
from oracles.kernels import counting_kernel, plain_perceptron
from oracles.rules import every_conjunction, largest_weights, satisfies, table
from scipy import sparse
from sklearn.svm import SVC

from sklboolean import AveragedPerceptron
from sklboolean.datasets import make_tic_tac_toe
from sklboolean.rules import Rule, RuleList, conjunction_weight, top_conjunctions
from sklboolean.rules._dual_representation import dual_representation

LINES = ["012", "345", "678", "036", "147", "258", "048", "246"]


MODELS = {
    "perceptron": plain_perceptron(random_state=0),
    "perceptron, all literals": plain_perceptron(
        counting_kernel(min_literals=1, decay=0.5), random_state=0
    ),
    "svc, poly": SVC(kernel="poly", gamma=0.3),
}


@pytest.mark.parametrize("rank", ["weight", "contribution"])
@pytest.mark.parametrize(
    "name", ["perceptron", "perceptron, all literals", "svc, poly"]
)
@pytest.mark.parametrize("monotone", [True, False])
def test_top_conjunctions_are_the_first_of_all(name, rank, monotone):
    X, y = table(60, 6, seed=1)
    model = MODELS[name].fit(X, y)
    dual = dual_representation(model)
    if not monotone and rank == "contribution" and dual.length_weights.monotone:
        with pytest.raises(ValueError, match="has no negated features"):
            top_conjunctions(model, rank=rank, monotone=monotone)
        return
    support = X[model.support_]
    length_weights = None
    if rank == "contribution":
        length_weights = [dual.length_weights.times(k, 1.0) for k in range(4)]
    expected = largest_weights(
        support, dual.coefficients, 12, 3, negations=not monotone,
        length_weights=length_weights,
    )  # fmt: skip
    rules = top_conjunctions(model, 12, max_literals=3, rank=rank, monotone=monotone)
    size = np.abs(dual.coefficients).sum()
    assert [rule.literals for rule in rules] == [e[0] for e in expected]
    for rule, (literals_, total, _) in zip(rules, expected, strict=True):
        assert abs(rule.weight - float(total)) <= 1e-12 * size
        assert rule.contribution == conjunction_weight(model, literals_)
    assert rules.is_optimal
    ranked = [abs(getattr(rule, rank)) for rule in rules]
    assert rules.bound == pytest.approx(ranked[-1], rel=1e-9)


@pytest.mark.parametrize(
    "model", [plain_perceptron(random_state=0), SVC(gamma=0.1, C=10), SVC()], ids=repr
)
def test_the_eight_lines_of_tic_tac_toe(model):
    data = make_tic_tac_toe()
    model.fit(data.data, data.target)
    rules = top_conjunctions(model, 8, max_literals=3, sign="positive", X=data.data)
    names = data.feature_names
    squares = [name.partition("=")[0] for name in names[::3]]
    expected = {" and ".join(f"{squares[int(j)]}=x" for j in line) for line in LINES}
    assert {rule.to_text(names) for rule in rules} == expected


def test_single_features_are_their_coefficients():
    X, y = table(80, 6)
    model = AveragedPerceptron(random_state=0).fit(X, y)
    weights = model.coef_[0]
    values = {"positive": weights, "negative": -weights, "both": abs(weights)}
    for sign, value in values.items():
        rules = top_conjunctions(model, 3, sign=sign, max_literals=5)
        order = [j for j in np.argsort(-value, kind="stable") if value[j] > 0][:3]
        assert [rule.literals for rule in rules] == [((j, True),) for j in order]
        assert [rule.weight for rule in rules] == [weights[j] for j in order]
        assert [rule.contribution for rule in rules] == [weights[j] for j in order]
    with pytest.raises(ValueError, match="has weights of features only"):
        top_conjunctions(model, monotone=False)


def test_sparse_support_rows_give_the_same_rules():
    X, y = table(99, 6)
    dense = plain_perceptron(random_state=0).fit(X, y)
    thin = plain_perceptron(random_state=0).fit(sparse.csr_array(X), y)
    assert thin.support_words_ is None
    options = {"max_literals": 4, "monotone": False}
    rules = top_conjunctions(thin, **options)
    assert rules
    assert rules == top_conjunctions(dense, **options)


def test_names_come_out_and_go_in():
    X, y = table()
    X = pd.DataFrame(X.astype(bool), columns=list("abcd"))
    model = plain_perceptron(random_state=0).fit(X, y)
    rules = top_conjunctions(model, 3, monotone=False)
    assert rules.feature_names == list("abcd")
    literals = [("a", True), ("b", True)]
    assert conjunction_weight(model, ["a", 1]) == conjunction_weight(model, literals)
    with pytest.raises(ValueError, match="has no feature 'z'"):
        conjunction_weight(model, ["z"])


def test_rules_are_text_and_pickle():
    rule = Rule(((0, True), (2, False)), 2.0, 1.0)
    assert rule.to_text() == "x0 and not x2"
    assert rule.to_text(np.array(["a", "b", "c"])) == "a and not c"
    assert Rule((), 2.0, 1.0).to_text() == "True"
    with pytest.raises(ValueError, match="2 names, but the rule uses feature 2"):
        rule.to_text(["a", "b"])
    X, y = table()
    rules = top_conjunctions(SVC(gamma=0.1).fit(X, y))
    copy = pickle.loads(pickle.dumps(rules))
    assert copy == rules
    assert isinstance(copy, RuleList)
    assert copy.bound == rules.bound
    assert copy.is_optimal


def test_groups_never_meet():
    X, y = table(60, 6)
    model = SVC(gamma=0.1).fit(X, y)
    rules = top_conjunctions(model, 30, feature_groups=list("aabbcc"), monotone=False)
    assert rules
    assert all(len({j // 2 for j, _ in r.literals}) == len(r.literals) for r in rules)


def test_conjunctions_that_the_kernel_does_not_know_weigh_nothing():
    X, y = table(99, 6)
    model = plain_perceptron(random_state=0).fit(X, y)
    assert conjunction_weight(model, [(0, False)]) == 0
    assert conjunction_weight(model, [0, 1, 2, 3]) == 0
    longer = [r for r in top_conjunctions(model, 99, max_literals=5) if r.literals[3:]]
    assert not any(rule.contribution for rule in longer)
    assert max(len(r.literals) for r in top_conjunctions(model, 50)) == 3


@pytest.mark.parametrize(
    ("literals", "message"),
    [
        ([9], "9 is not one of 4 features"),
        ([-1], "-1 is not one of 4 features"),
        ([(0, True), (0, False)], "cannot be both true and false"),
        ([(0, True, 1)], "is a feature or a pair"),
        ([1.5], "1.5 is not one of"),
    ],
)
def test_bad_literals(literals, message):
    with pytest.raises(ValueError, match=message):
        conjunction_weight(SVC(gamma=0.1).fit(*table()), literals)


def test_the_oracle_of_satisfaction():
    assert satisfies([1, 0], ((0, True), (1, False)))
    assert not satisfies([1, 0], ((0, True), (1, True)))
    assert len(set(every_conjunction(3, 2, negations=True))) == 6 + 12
