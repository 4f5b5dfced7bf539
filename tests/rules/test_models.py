"""Fitted models as sums over conjunctions, and those that are none."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from oracles.kernels import counting_kernel, plain_perceptron
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
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from sklboolean import AveragedPerceptron, BooleanEncoder, Winnow
from sklboolean._core.bits import pack_dense
from sklboolean.kernels import (
    CNFKernel,
    ConjunctionKernel,
    DisjunctionKernel,
    DNFKernel,
    RBFKernel,
    TanimotoKernel,
)
from sklboolean.rules import conjunction_weight, extract_dnf, top_conjunctions
from sklboolean.rules._dual_representation import (
    DualRepresentation,
    dual_representation,
    last_step,
)


def score_of(model, X):
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict(X)


def assert_weights_make_the_score(model, queries, expected=None, **options):
    dual = dual_representation(model, **options)
    expected = score_of(model, queries) if expected is None else expected
    weights = {}

    def weight(literals):
        if literals not in weights:
            weights[literals] = conjunction_weight(model, literals, **options)
        return weights[literals]

    def total(row):
        return dual.intercept + sum_over_conjunctions(weight, row, negations=True)

    size = np.abs(dual.coefficients).sum() + abs(dual.intercept) + 1
    scores = np.array([total(row > 0) for row in queries[:6]])
    assert np.allclose(scores, expected[:6], rtol=1e-9, atol=1e-10 * size)
    # A score made of conjunctions, and not of the constant alone.
    assert np.ptp(scores) > 1e-6


MODELS = {
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
    "perceptron": plain_perceptron(random_state=0),
    "perceptron, all literals": plain_perceptron(
        counting_kernel(min_literals=1, decay=0.5), random_state=0
    ),
    "perceptron, rbf": plain_perceptron(RBFKernel(gamma=0.4), random_state=0),
    "perceptron, poly": plain_perceptron("poly", random_state=0),
    "perceptron, linear": plain_perceptron("linear", average=None, random_state=0),
    "perceptron, object": plain_perceptron(DNFKernel(monotone=False), random_state=0),
    "averaged": AveragedPerceptron(random_state=0),
    "winnow": Winnow(random_state=0),
    "winnow, complement": Winnow(variant="complement", random_state=0),
    "logistic": LogisticRegression(),
    "least squares": Ridge(),
}


def training(model, X):
    """The training samples, for models whose gamma depends on them."""
    return {"X": X} if getattr(model, "gamma", None) == "scale" else {}


@pytest.mark.parametrize("name", MODELS)
def test_weights_make_the_score(name):
    X, y = table()
    model = MODELS[name].fit(X, y)
    assert_weights_make_the_score(model, X, **training(model, X))


@pytest.mark.parametrize("name", ["svc", "svc, poly", "svc, linear", "svr"])
def test_weights_make_the_score_of_sparse_samples(name):
    X, y = table()
    model = MODELS[name].fit(sparse.csr_array(X), y)
    expected = score_of(model, sparse.csr_array(X))
    assert_weights_make_the_score(model, X, expected, **training(model, X))
    assert_weights_make_the_score(model, X, expected, X=sparse.csr_array(X))


@pytest.mark.parametrize(
    "kernel",
    [
        counting_kernel(max_literals=3, min_literals=1, monotone=True),
        counting_kernel(decay=0.5),
        DisjunctionKernel(monotone=False),
        CNFKernel(monotone=False),
    ],
    ids=repr,
)
def test_our_kernels_in_support_vector_machines_need_the_samples(kernel):
    X, y = table()
    model = SVC(kernel=kernel, C=0.01).fit(X, y)
    with pytest.raises(ValueError, match="give X, the training samples"):
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


def test_a_callable_is_described_by_its_kernel():
    X, y = table()
    model = SVC(kernel=as_callable).fit(X, y)
    with pytest.raises(ValueError, match="unknown"):
        top_conjunctions(model, X=X)
    with pytest.raises(ValueError, match="not those of its kernel"):
        top_conjunctions(model, X=X, kernel=counting_kernel())


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
    X = 2 * X - 1
    assert_weights_make_the_score(model.fit(X, y), X, **training(model, X))


def test_several_classes():
    X, y = table(60, 4)
    y = y + 2 * (X[:, 3] == 1) * (X[:, 0] == 0)
    for model in (SVC(gamma=0.3), SVC(kernel="linear", break_ties=True)):
        model.fit(X, y)
        pairs = model.set_params(decision_function_shape="ovo").decision_function(X)
        n, first, second = len(model.classes_), *np.triu_indices(len(model.classes_), 1)
        assert n > 2
        for number, label in enumerate(model.classes_):
            sign = (first == number) * 1.0 - (second == number)
            assert_weights_make_the_score(model, X, pairs @ sign, target=label)
    for model in (plain_perceptron(random_state=0), AveragedPerceptron(random_state=0)):
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
    model = MODELS[name].fit(X, y)
    options = training(model, X)
    scores = -model.decision_function(X)
    assert_weights_make_the_score(model, X, scores, target=0, **options)
    second, first = (top_conjunctions(model, target=k, **options) for k in (1, 0))
    assert {(r.literals, r.weight) for r in second} == {
        (r.literals, -r.weight) for r in first
    }


# -- gamma="scale" ------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_gamma_scale_is_computed_from_the_training_samples(kernel, is_sparse):
    rng = np.random.default_rng(3)
    X = (rng.random((60, 12)) < 0.2).astype(float)
    y = X @ rng.standard_normal(12) > 0
    Z = sparse.csr_array(X) if is_sparse else X
    model = SVC(kernel=kernel).fit(Z, y)
    exact = SVC(kernel=kernel, gamma=1 / (12 * X.var())).fit(Z, y)
    for literals in ([0], [1, 2], [0, 3, 4]):
        expected = conjunction_weight(exact, literals)
        assert conjunction_weight(model, literals, Z) == pytest.approx(expected)


@pytest.mark.parametrize(
    "model", [SVC(), SVC(kernel="poly"), NuSVC(), SVR(), NuSVR(), OneClassSVM()]
)
def test_gamma_scale_needs_the_training_samples(model):
    X, y = table()
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"gamma='scale'\) depends on .* Give X, the"):
        top_conjunctions(model)
    assert top_conjunctions(model, X=X)


def test_gamma_auto_and_linear_kernels_need_no_samples():
    X, y = table()
    for model in (SVC(gamma="auto"), SVC(kernel="linear")):
        assert top_conjunctions(model.fit(X, y))


# -- weights by length --------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "value"),
    [
        ({"kernel": "linear"}, lambda s, n: Fraction(s)),
        (
            {"kernel": "poly", "gamma": 0.5, "coef0": 1.0},
            lambda s, n: (Fraction(s, 2) + 1) ** 3,
        ),
        (
            {"kernel": "poly", "gamma": 0.3, "degree": 4},
            lambda s, n: (Fraction(0.3) * s) ** 4,
        ),
        ({"gamma": 0.7}, lambda s, n: Fraction(np.exp(-0.7 * (n - s)))),
    ],
)
def test_length_weights_are_differences_at_zero(parameters, value):
    X, y = table(40, 6)
    weights = dual_representation(SVC(**parameters).fit(X, y)).length_weights
    expected = newton_weights([value(s, 6) for s in range(7)])
    assert np.allclose(
        weights.to_float(), np.array(expected, dtype=float), rtol=1e-9, atol=1e-14
    )
    assert weights.monotone == (parameters.get("kernel") in ("linear", "poly"))


@pytest.mark.parametrize("decay", [0.25, 1.0, 3.0])
def test_length_weights_are_those_of_the_kernel_object(decay):
    X, y = table(40, 6)
    for options in ({}, {"max_literals": 3}, {"min_literals": 2, "monotone": True}):
        kernel = counting_kernel(decay=decay, **options)
        model = plain_perceptron(kernel, random_state=0).fit(X, y)
        weights = dual_representation(model).length_weights
        expected = kernel.formula(6, 6).length_weights(True).to_float()
        assert np.array_equal(weights.to_float(), expected)
        assert weights.monotone == kernel.monotone


def test_contributions_beyond_float64():
    X, y = np.tile(table(40, 4)[0], 500), table(40, 4)[1]
    narrow = SVC(gamma=1.0).fit(X, y)
    assert conjunction_weight(narrow, [0, 1, 2]) == 0.0
    rules = top_conjunctions(narrow, 5, rank="contribution", max_literals=2)
    assert len(rules) == 5
    weights = counting_kernel(decay=1e9).length_weights(50)
    dual = DualRepresentation(pack_dense(X[:1, :50]), 50, np.ones(1), weights, 0.0)
    literals = [(j, True) for j in range(40)]
    assert dual.contribution(literals[:2], -3.0) == -3e18
    with pytest.raises(ValueError, match="exceeds float64"):
        dual.contribution(literals, 1.0)


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
        (plain_perceptron("tanimoto"), "not a weighting of conjunctions"),
        (plain_perceptron("dnf"), "not a weighting of conjunctions"),
        (plain_perceptron(TanimotoKernel()), "not a weighting of conjunctions"),
        (plain_perceptron(counting_kernel(normalize=True)), "not a weighting"),
        (plain_perceptron(as_callable), "unknown"),
        (plain_perceptron(average="voted"), "average='voted' predicts by a vote"),
        (GaussianProcessClassifier(), "has neither support vectors nor"),
        (make_pipeline(StandardScaler(), SVC()), "without scaling"),
    ],
)
def test_models_that_are_no_sum_over_conjunctions(model, message):
    with pytest.raises(ValueError, match=message):
        top_conjunctions(fitted(model))


def test_precomputed_perceptrons_keep_no_samples():
    X, y = table()
    model = plain_perceptron("precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="keeps no samples"):
        top_conjunctions(model, X=X)


def test_scaled_samples_are_refused():
    X, y = table()
    for scaled in (StandardScaler().fit_transform(X), 2 * X, X - 0.5):
        with pytest.raises(ValueError, match=r"Column \d of the support vectors holds"):
            top_conjunctions(SVC(gamma=0.1).fit(scaled, y))


def test_samples_of_other_data_are_refused():
    X, y = table()
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="not those of its kernel"):
        top_conjunctions(model, X=np.eye(4))
    with pytest.raises(ValueError, match="X has 3 features"):
        top_conjunctions(model, X=X[:, :3])
    ours = SVC(kernel=counting_kernel(max_literals=2)).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 samples, but sample"):
        top_conjunctions(ours, X=X[:2])
    with pytest.raises(ValueError, match="not those of its kernel"):
        top_conjunctions(ours, X=X[::-1])
    changed = SVC(gamma=0.1).fit(X, y).set_params(gamma=0.3)
    with pytest.raises(ValueError, match="parameters were changed afterwards"):
        top_conjunctions(changed)


@pytest.mark.parametrize("kernel", ["rbf", ConjunctionKernel(max_literals=2)], ids=str)
def test_a_model_without_support_vectors_has_no_conjunctions(kernel):
    X = np.random.default_rng(0).integers(0, 2, (30, 4))
    model = SVR(kernel=kernel, gamma=0.1, epsilon=10).fit(X, X[:, 0])
    assert top_conjunctions(model, X=X) == []


def test_bad_parameters():
    model = fitted(SVC(gamma=0.1))
    with pytest.raises(ValueError, match="rank must be one of"):
        top_conjunctions(model, rank="length")
    with pytest.raises(ValueError, match="target=1, but SVR has no classes"):
        top_conjunctions(fitted(SVR(gamma=0.1)), target=1)
    with pytest.raises(ValueError, match="several outputs"):
        top_conjunctions(fitted(KernelRidge(), y=np.ones((40, 2))))
    with pytest.raises(ValueError, match="n_rules"):
        top_conjunctions(fitted(AveragedPerceptron()), 0)


@pytest.mark.parametrize("name", ["svc", "ridge", "perceptron", "winnow", "logistic"])
def test_models_of_data_frames_are_read_without_a_warning(name):
    X, y = table()
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    model = clone(MODELS[name]).fit(frame, y)
    assert dual_representation(*last_step(model, frame)).feature_names == list(frame)
    assert_array_equal(model.feature_names_in_, list(frame))


@pytest.mark.parametrize("name", ["svc", "perceptron", "averaged"])
def test_a_pipeline_is_read_with_the_names_of_its_columns(name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.normal(40, 9, 120), "color": rng.choice(["r", "b"], 120)}
    )
    y = (frame["age"] > 40) & (frame["color"] == "r")
    model = make_pipeline(BooleanEncoder(n_bins=3), clone(MODELS[name])).fit(frame, y)
    bits = model[:-1].transform(frame)
    for search in (model, GridSearchCV(model, {}, cv=2).fit(frame, y)):
        last = getattr(search, "best_estimator_", search)[-1]
        rules = top_conjunctions(search, 5, X=frame)
        assert rules == top_conjunctions(last, 5, X=bits)
        assert set(rules[0].names) <= set(model[0].get_feature_names_out())
        name = model[0].get_feature_names_out()[0]
        assert conjunction_weight(search, [name], frame) == conjunction_weight(
            last, [name], bits
        )
        found, expected = extract_dnf(search, frame), extract_dnf(last, bits)
        assert found.to_text() == expected.to_text()
        assert "color" in found.to_text()
        assert_array_equal(found.predict(bits), expected.predict(bits))


def test_norms_of_a_normalised_kernel_move_into_the_weights():
    X = np.random.default_rng(0).integers(0, 2, (60, 6))
    y = X[:, 0] & X[:, 1]
    model = SVC(kernel=ConjunctionKernel()).fit(X, y)
    norms = np.sqrt(counting_kernel(max_literals=3, monotone=True)(X).diagonal())
    norms = norms[model.support_]
    coefficients = model.dual_coef_[0] / (norms * norms.mean())
    best = top_conjunctions(model, X=X)[0]
    holds = X[model.support_][:, [j for j, _ in best.literals]].all(axis=1)
    assert {j for j, _ in best.literals} <= {0, 1}
    assert best.weight == pytest.approx(coefficients[holds].sum())
