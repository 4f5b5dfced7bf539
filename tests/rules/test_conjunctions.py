"""Weights of conjunctions: summed over all conjunctions they make the model's score."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from oracles_rules import (
    every_conjunction,
    heaviest,
    newton_weights,
    satisfies,
    sum_over_conjunctions,
)
from scipy import sparse
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from sklboolean import AveragedPerceptron, KernelPerceptron, Winnow
from sklboolean.datasets import make_tic_tac_toe
from sklboolean.kernels import (
    CNFKernel,
    ConjunctionKernel,
    DisjunctionKernel,
    DNFKernel,
    TanimotoKernel,
)
from sklboolean.rules import Rule, conjunction_weight, top_conjunctions
from sklboolean.rules.models import read_model
from sklboolean.rules.newton import named_weights, object_weights

LINES = ["012", "345", "678", "036", "147", "258", "048", "246"]


def table(n_rows=40, n_features=4, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, n_features)) < 0.5).astype(float)
    y = ((X[:, 0] == 1) & (X[:, 1] == 1)) | ((X[:, 2] == 0) & (X[:, 3] == 1))
    return X, (y ^ (rng.random(n_rows) < 0.05)).astype(int)


def score_of(model, X):
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict(X)


def assert_weights_make_the_score(model, queries, expected=None, **options):
    rows = read_model(model, **options)
    expected = score_of(model, queries) if expected is None else expected
    weights = {}

    def weight(literals):
        if literals not in weights:
            weights[literals] = conjunction_weight(model, literals, **options)
        return weights[literals]

    def total(row):
        return rows.intercept + sum_over_conjunctions(weight, row, negations=True)

    size = np.abs(rows.coefficients).sum() + abs(rows.intercept) + 1
    scores = np.array([total(row > 0) for row in queries[:6]])
    assert np.allclose(scores, expected[:6], rtol=1e-9, atol=1e-10 * size)
    # A score made of conjunctions, and not of the constant alone.
    assert np.ptp(scores) > 1e-6


MACHINES = {
    "svc": SVC(),
    "svc, narrow": SVC(gamma=1.5, C=10),
    "svc, auto": SVC(gamma="auto"),
    "svc, linear": SVC(kernel="linear"),
    "svc, poly": SVC(kernel="poly"),
    "svc, poly and constant": SVC(kernel="poly", gamma=0.7, coef0=1.5, degree=4),
    "nusvc": NuSVC(kernel="poly", degree=2, coef0=1),
    "svr": SVR(gamma=0.3),
    "nusvr": NuSVR(kernel="poly"),
    "one class": OneClassSVM(gamma=0.4),
    "ridge": KernelRidge(kernel="rbf"),
    "ridge, poly": KernelRidge(kernel="poly", degree=2, gamma=0.3),
    "ridge, linear": KernelRidge(),
    "ridge, laplacian": KernelRidge(kernel="laplacian", gamma=0.2),
    "perceptron": KernelPerceptron(random_state=0),
    "perceptron, all literals": KernelPerceptron(
        monotone=False, max_literals=None, decay=0.5, random_state=0
    ),
    "perceptron, rbf": KernelPerceptron("rbf", gamma=0.4, random_state=0),
    "perceptron, poly": KernelPerceptron("poly", random_state=0),
    "perceptron, linear": KernelPerceptron("linear", average=None, random_state=0),
    "perceptron, object": KernelPerceptron(
        DNFKernel(monotone=False), fit_intercept=False, random_state=0
    ),
    "averaged": AveragedPerceptron(random_state=0),
    "winnow": Winnow(random_state=0),
    "winnow, complement": Winnow(variant="complement", random_state=0),
    "logistic": LogisticRegression(),
    "least squares": Ridge(),
}


@pytest.mark.parametrize("name", MACHINES)
def test_weights_make_the_score(name):
    X, y = table()
    assert_weights_make_the_score(MACHINES[name].fit(X, y), X)


@pytest.mark.parametrize("name", ["svc", "svc, poly", "svc, linear", "svr"])
def test_weights_make_the_score_of_sparse_rows(name):
    X, y = table()
    model = MACHINES[name].fit(sparse.csr_array(X), y)
    expected = score_of(model, sparse.csr_array(X))
    assert_weights_make_the_score(model, X, expected)
    assert_weights_make_the_score(model, X, expected, X=sparse.csr_array(X))


@pytest.mark.parametrize(
    "kernel",
    [
        ConjunctionKernel(max_literals=3, min_literals=1, monotone=True),
        ConjunctionKernel(decay=0.5),
        DisjunctionKernel(monotone=False),
        DNFKernel(monotone=False),
        CNFKernel(monotone=False),
    ],
    ids=repr,
)
def test_our_kernels_in_machines_need_the_rows(kernel):
    X, y = table()
    model = SVC(kernel=kernel, C=0.01).fit(X, y)
    with pytest.raises(ValueError, match="give X, the training rows"):
        top_conjunctions(model)
    assert_weights_make_the_score(model, X, X=X)
    matrix = kernel(X)
    for machine in (
        SVC(kernel="precomputed", C=0.01),
        KernelRidge(kernel="precomputed"),
    ):
        machine.fit(matrix, y)
        with pytest.raises(ValueError, match="kernel='precomputed': give X, the"):
            top_conjunctions(machine, X=X)
        assert_weights_make_the_score(
            machine, X, score_of(machine, matrix), X=X, kernel=kernel
        )


def as_callable(A, B):
    return (A @ B.T) ** 2


def test_a_callable_is_what_its_kernel_says():
    X, y = table()
    model = SVC(kernel=as_callable).fit(X, y)
    with pytest.raises(ValueError, match="unknown"):
        top_conjunctions(model, X=X)
    with pytest.raises(ValueError, match="not those of its kernel"):
        top_conjunctions(model, X=X, kernel=ConjunctionKernel())


@pytest.mark.parametrize(
    "model",
    [
        SVC(gamma=0.1),
        SVC(),
        SVC(kernel="linear"),
        SVC(kernel="poly", degree=2, gamma=0.1, coef0=1.0),
        KernelRidge(kernel="laplacian"),
    ],
    ids=repr,
)
def test_minus_one_and_plus_one(model):
    X, y = table()
    assert_weights_make_the_score(model.fit(2 * X - 1, y), 2 * X - 1)


def test_several_classes():
    X, y = table(60, 5)
    y = y + 2 * (X[:, 4] == 1) * (X[:, 0] == 0)
    for model in (SVC(gamma=0.3), SVC(kernel="linear", break_ties=True)):
        model.fit(X, y)
        pairs = model.set_params(decision_function_shape="ovo").decision_function(X)
        n, first, second = len(model.classes_), *np.triu_indices(len(model.classes_), 1)
        assert n > 2
        for number, label in enumerate(model.classes_):
            sign = (first == number) * 1.0 - (second == number)
            assert_weights_make_the_score(model, X, pairs @ sign, target=label)
    for model in (KernelPerceptron(random_state=0), AveragedPerceptron(random_state=0)):
        model.fit(X, y)
        for number, label in enumerate(model.classes_):
            expected = model.decision_function(X)[:, number]
            assert_weights_make_the_score(model, X, expected, target=label)
    with pytest.raises(ValueError, match=r"has 4 classes.*give target"):
        top_conjunctions(model)
    with pytest.raises(ValueError, match=r"target must be one of \[0, 1, 2, 3\]"):
        top_conjunctions(model, target=7)


@pytest.mark.parametrize("name", ["svc", "perceptron", "averaged"])
def test_the_first_of_two_classes_is_the_opposite(name):
    X, y = table()
    model = MACHINES[name].fit(X, y)
    assert_weights_make_the_score(model, X, -model.decision_function(X), target=0)
    second, first = top_conjunctions(model, target=1), top_conjunctions(model, target=0)
    assert {(r.literals, r.weight) for r in second} == {
        (r.literals, -r.weight) for r in first
    }


# -- gamma="scale" ------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_gamma_is_recovered(kernel, share, n_classes):
    rng = np.random.default_rng(3)
    X = (rng.random((200, 30)) < share).astype(float)
    y = (X @ rng.standard_normal(30) > 0).astype(int)
    y[: n_classes - 1] = range(1, n_classes)
    model = SVC(kernel=kernel).fit(X, y)
    with_rows = read_model(model, X, target=0).weights
    without = read_model(model, target=0).weights
    gamma = 1 / (30 * X.var())
    exact = named_weights(kernel, 30, gamma=gamma, degree=3, coef0=0.0).scaled(3)
    for weights in (with_rows, without):
        mantissas, exponent = weights.scaled(3)
        assert exponent == exact[1]
        assert np.allclose(mantissas, exact[0], rtol=1e-7)


# -- weights by length --------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "parameters", "value"),
    [
        ("linear", {}, lambda s, n: Fraction(s)),
        ("poly", {"gamma": 0.5, "coef0": 1.0}, lambda s, n: (Fraction(s, 2) + 1) ** 3),
        ("poly", {"gamma": 0.3, "degree": 4}, lambda s, n: (Fraction(0.3) * s) ** 4),
        ("rbf", {"gamma": 0.7}, lambda s, n: Fraction(np.exp(-0.7 * (n - s)))),
    ],
)  # fmt: skip
def test_length_weights_are_differences_at_zero(kernel, parameters, value):
    n = 6
    defaults = {"gamma": 1.0, "degree": 3, "coef0": 0.0}
    weights = named_weights(kernel, n, **{**defaults, **parameters})
    expected = newton_weights([value(s, n) for s in range(n + 1)])
    got = np.ldexp(weights.mantissas, weights.exponents)
    assert np.allclose(got, np.array(expected, dtype=float), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("decay", [0.25, 1.0, 3.0])
def test_length_weights_of_conjunctions_are_those_of_the_table(decay):
    for options in ({}, {"max_literals": 3}, {"min_literals": 2, "monotone": True}):
        kernel = ConjunctionKernel(decay=decay, **options)
        weights = object_weights(kernel, 7)
        got = np.ldexp(weights.mantissas, weights.exponents)
        assert np.array_equal(got, kernel.newton_coefficients(7))
        assert weights.monotone == kernel.monotone


def test_length_weights_beyond_float64_keep_their_order():
    weights = named_weights("rbf", 5000, gamma=2.0, degree=3, coef0=0.0)
    factors, exponent = weights.scaled(3)
    assert exponent < -10000
    assert np.allclose(factors[2:] / factors[1:-1], [np.expm1(2.0)] * 2)
    assert weights.times(3, 1.0) == 0.0
    weights = object_weights(ConjunctionKernel(decay=1e9), 50)
    assert weights.times(2, -3.0) == -3e18
    with pytest.raises(ValueError, match="exceeds float64"):
        weights.times(40, 1.0)


# -- the heaviest -------------------------------------------------------------------


@pytest.mark.parametrize("rank", ["weight", "contribution"])
@pytest.mark.parametrize(
    "name", ["perceptron", "perceptron, all literals", "svc, poly"]
)
@pytest.mark.parametrize("literals", ["positive", "both"])
def test_top_conjunctions_are_the_first_of_all(name, rank, literals):
    X, y = table(60, 6, seed=1)
    model = MACHINES[name].fit(X, y)
    rows = read_model(model)
    if literals == "both" and rank == "contribution" and rows.weights.monotone:
        with pytest.raises(ValueError, match="knows no negated features"):
            top_conjunctions(model, rank=rank, literals=literals)
        return
    support = X[model.support_]
    length_weights = None
    if rank == "contribution":
        length_weights = [rows.weights.times(k, 1.0) for k in range(4)]
    expected = heaviest(
        support, rows.coefficients, 12, 3, negations=literals == "both",
        length_weights=length_weights,
    )  # fmt: skip
    rules = top_conjunctions(model, 12, max_literals=3, rank=rank, literals=literals)
    size = np.abs(rows.coefficients).sum()
    assert [rule.literals for rule in rules] == [e[0] for e in expected]
    for rule, (literals_, total, _) in zip(rules, expected, strict=True):
        assert abs(rule.weight - float(total)) <= 1e-12 * size
        assert rule.contribution == conjunction_weight(model, literals_)
    assert rules.is_optimal
    ranked = [abs(getattr(rule, rank)) for rule in rules]
    assert rules.bound == pytest.approx(ranked[-1], rel=1e-9)


@pytest.mark.parametrize(
    "model", [KernelPerceptron(random_state=0), SVC(gamma=0.1, C=10), SVC()], ids=repr
)
def test_the_eight_lines_of_tic_tac_toe(model):
    data = make_tic_tac_toe()
    model.fit(data.data, data.target)
    rules = top_conjunctions(model, 8, max_literals=3, sign="positive")
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
    with pytest.raises(ValueError, match="weighs features only"):
        top_conjunctions(model, literals="both")


def test_sparse_support_rows_give_the_same_rules():
    X, y = table(99, 6)
    dense = KernelPerceptron(random_state=0).fit(X, y)
    thin = KernelPerceptron(random_state=0).fit(sparse.csr_array(X), y)
    assert thin.support_words_ is None
    options = {"max_literals": 4, "literals": "both"}
    rules = top_conjunctions(thin, **options)
    assert rules
    assert rules == top_conjunctions(dense, **options)
    assert_weights_make_the_score(thin, X)


def test_names_come_out_and_go_in():
    X, y = table()
    X = pd.DataFrame(X.astype(bool), columns=list("abcd"))
    model = KernelPerceptron(random_state=0).fit(X, y)
    rules = top_conjunctions(model, 3, literals="both")
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
    assert copy.bound == rules.bound


def test_groups_never_meet():
    X, y = table(60, 6)
    model = SVC(gamma=0.1).fit(X, y)
    rules = top_conjunctions(model, 30, feature_groups=list("aabbcc"), literals="both")
    assert rules
    assert all(len({j // 2 for j, _ in r.literals}) == len(r.literals) for r in rules)


def test_conjunctions_that_the_kernel_does_not_know_weigh_nothing():
    X, y = table(99, 6)
    model = KernelPerceptron(random_state=0).fit(X, y)
    assert conjunction_weight(model, [(0, False)]) == 0
    assert conjunction_weight(model, [0, 1, 2, 3]) == 0
    longer = [r for r in top_conjunctions(model, 99, max_literals=5) if r.literals[3:]]
    assert not any(rule.contribution for rule in longer)
    assert max(len(r.literals) for r in top_conjunctions(model, 50)) == 3


# -- what is refused ----------------------------------------------------------------


def fitted(model, X=None, y=None):
    rows, labels = table()
    return model.fit(rows if X is None else X, labels if y is None else y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVC(kernel="sigmoid"), "kernel='sigmoid' gives some conjunctions a negative"),
        (SVC(kernel="poly", coef0=-2, gamma=1), "a negative weight"),
        (KernelRidge(kernel="cosine"), "a negative weight, or none that is known"),
        (KernelPerceptron("tanimoto"), "not a weighting of conjunctions"),
        (KernelPerceptron("dnf"), "not a weighting of conjunctions"),
        (KernelPerceptron(TanimotoKernel()), "not a weighting of conjunctions"),
        (KernelPerceptron(ConjunctionKernel(normalize=True)), "not a weighting"),
        (KernelPerceptron(as_callable), "unknown"),
        (KernelPerceptron(average="voted"), "average='voted' decides by a vote"),
        (GaussianProcessClassifier(), "has neither support rows nor"),
        (make_pipeline(StandardScaler(), SVC()), "of a pipeline, its last step"),
    ],
    ids=str,
)
def test_models_that_are_no_sum_over_conjunctions(model, message):
    with pytest.raises(ValueError, match=message):
        top_conjunctions(fitted(model))


def test_precomputed_perceptrons_keep_no_rows():
    X, y = table()
    model = KernelPerceptron("precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="keeps no rows"):
        top_conjunctions(model, X=X)


def test_scaled_rows_are_refused():
    X, y = table()
    for scaled in (StandardScaler().fit_transform(X), 2 * X, X - 0.5):
        with pytest.raises(ValueError, match=r"Column \d of the support rows holds"):
            top_conjunctions(SVC(gamma=0.1).fit(scaled, y))


def test_rows_of_another_table_are_refused():
    X, y = table()
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="not those of its kernel"):
        top_conjunctions(model, X=np.eye(4))
    with pytest.raises(ValueError, match="X has 3 features"):
        top_conjunctions(model, X=X[:, :3])
    ours = SVC(kernel=ConjunctionKernel(max_literals=2)).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 rows, but row"):
        top_conjunctions(ours, X=X[:2])
    with pytest.raises(ValueError, match="not those of its kernel"):
        top_conjunctions(ours, X=X[::-1])
    changed = SVC(gamma=0.1).fit(X, y).set_params(gamma=0.3)
    with pytest.raises(ValueError, match="parameters were changed afterwards"):
        top_conjunctions(changed)


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
        conjunction_weight(fitted(SVC(gamma=0.1)), literals)


def test_bad_parameters():
    model = fitted(SVC(gamma=0.1))
    with pytest.raises(ValueError, match="rank must be one of"):
        top_conjunctions(model, rank="length")
    with pytest.raises(ValueError, match="target names a class"):
        top_conjunctions(fitted(SVR(gamma=0.1)), target=1)
    with pytest.raises(ValueError, match="several outputs"):
        top_conjunctions(fitted(KernelRidge(), y=np.ones((40, 2))))
    with pytest.raises(ValueError, match="n_rules"):
        top_conjunctions(fitted(AveragedPerceptron()), 0)


def test_the_oracle_of_satisfaction():
    assert satisfies([1, 0], ((0, True), (1, False)))
    assert not satisfies([1, 0], ((0, True), (1, True)))
    assert len(set(every_conjunction(3, 2, negations=True))) == 6 + 12
