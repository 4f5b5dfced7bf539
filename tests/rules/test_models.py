"""Fitted models as sums over conjunctions, and those that are none."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from oracles.rules import (
    newton_weights,
    sum_over_conjunctions,
    table,
)
from scipy import sparse
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from sklboolean import AveragedPerceptron, KernelPerceptron, Winnow
from sklboolean.kernels import (
    CNFKernel,
    ConjunctionKernel,
    DisjunctionKernel,
    DNFKernel,
    TanimotoKernel,
)
from sklboolean.rules import conjunction_weight, top_conjunctions
from sklboolean.rules._dual_representation import read_model
from sklboolean.rules._newton import named_weights, object_weights


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
        assert np.array_equal(got, kernel.formula(7, 7).length_weights(True).to_float())
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
        (make_pipeline(StandardScaler(), SVC()), r"pipeline\[:-1\]\.transform\(X\)"),
    ],
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


@pytest.mark.parametrize("name", MACHINES)
def test_models_of_data_frames_are_read_without_a_warning(name):
    X, y = table()
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    model = clone(MACHINES[name]).fit(frame, y)
    assert read_model(model, frame).feature_names == list(frame)
    assert_array_equal(model.feature_names_in_, list(frame))
