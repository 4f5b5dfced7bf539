"""The state of a KernelPerceptron: prediction reads it, and only it."""

import pickle

import numpy as np
import pytest
from oracles.kernels import plain_perceptron, same_state
from scipy import sparse

from sklboolean import KernelPerceptron
from sklboolean._core.bits import pack_dense
from sklboolean.kernels import ConjunctionKernel, RBFKernel
from sklboolean.kernels import _evaluators as evaluators


def problem(n_features=70, n_classes=2):
    rng = np.random.default_rng(0)
    X = (rng.random((80, n_features)) < 0.4).astype(np.uint8)
    return X, (X[:, 0] + X[:, 1] * X[:, 2]) % n_classes


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_public_attributes_are_not_read_back(layout):
    X, y = problem()
    X = layout(X)
    model = plain_perceptron(random_state=0).fit(X, y)
    twin = pickle.loads(pickle.dumps(model))
    scores = model.decision_function(X)
    model.support_words_ = np.zeros((1, 1), dtype=np.uint64)
    model.support_rows_ = None
    model.dual_coef_ = model.raw_dual_coef_ = np.zeros((3, 10**6))
    model.support_ = np.array([10**9])
    assert same_state(model.decision_function(X), scores)
    assert same_state(
        model.partial_fit(X, y).dual_coef_, twin.partial_fit(X, y).dual_coef_
    )


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_another_number_of_features_is_an_error(layout):
    X, y = problem()
    model = plain_perceptron(random_state=0).fit(layout(X), y)
    model.n_features_in_ = 5000
    with pytest.raises(ValueError, match="n_features_in_ was changed"):
        model.predict(layout(np.ones((2, 5000), dtype=np.uint8)))


def damage_words(state):
    state.table = state.table[:, :1]


def damage_bits(state):
    state.table = state.table | np.uint64(2**63)


def damage_dtype(state):
    state.table = state.table.astype(np.int64)


def damage_coef(state):
    state.coef = state.coef[:, :-1]


def damage_times(state):
    state.coef_time_sums = state.coef_time_sums[:1]


def damage_history(state):
    state.update_history = state.update_history + 10**9


def damage_number(state):
    state.support = state.support[:-1]


@pytest.mark.parametrize(
    "damage",
    [
        damage_words, damage_bits, damage_dtype, damage_coef, damage_times,
        damage_history, damage_number,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_a_damaged_state_is_an_error(damage):
    X, y = problem(n_classes=3)
    model = plain_perceptron(average="voted", random_state=0).fit(X, y)
    damage(model._state)
    model = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="model is damaged"):
        model.predict(X)


def test_damaged_sparse_samples_are_an_error():
    X, y = problem()
    model = plain_perceptron(random_state=0).fit(sparse.csr_array(X), y)
    model._state.table.indices[0] = 10**6
    model = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="model is damaged"):
        model.predict(X)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_prediction_prepares_the_state_once(layout, monkeypatch):
    X, y = problem()
    model = plain_perceptron(random_state=0).fit(layout(X), y)
    expected = model.decision_function(X)
    made = []
    monkeypatch.setattr(
        "sklboolean.kernels._dual_model.make_evaluator",
        lambda *args: made.append(1) or evaluators.make_evaluator(*args),
    )
    for i in range(5):
        assert model.decision_function(X[i : i + 1]) == expected[i]
    assert not made
    other = pickle.loads(pickle.dumps(model))
    for i in range(5):
        assert other.decision_function(X[i : i + 1]) == expected[i]
    assert len(made) == 1


def test_a_kernel_that_is_changed_after_fit_changes_no_prediction():
    X, y = problem()
    kernel = RBFKernel(gamma=0.1)
    model = plain_perceptron(kernel, random_state=0).fit(X, y)
    scores = model.decision_function(X)
    kernel.gamma = 5.0
    assert same_state(model.decision_function(X), scores)
    assert model.kernel_.gamma == 0.1
    again = pickle.loads(pickle.dumps(model))
    assert same_state(again.decision_function(X), scores)


def test_the_kernel_is_an_attribute():
    X, y = problem()
    kernel = plain_perceptron(max_literals=2).fit(X, y).kernel_
    assert isinstance(kernel, ConjunctionKernel)
    assert (kernel.min_literals, kernel.max_literals, kernel.monotone) == (1, 2, True)
    assert plain_perceptron("precomputed").fit(X @ X.T, y).kernel_ == "precomputed"


@pytest.mark.parametrize("monotone", [True, False])
def test_norms_of_samples_with_more_ones_than_the_support(monotone):
    rng = np.random.default_rng(0)
    X = rng.random((60, 40)) < 0.2
    y = X[:, 0] | X[:, 1]
    learner = KernelPerceptron(monotone=monotone, random_state=0).fit(X, y)
    Q = np.concatenate([X[:5], np.ones((2, 40), bool), np.zeros((1, 40), bool)])
    for queries in (Q, Q[:5], Q[-1:]):
        norms = learner._state.model.norms(pack_dense(queries))
        kernel = learner.kernel_
        expected = np.sqrt(kernel(queries).diagonal() + learner._state.config.constant)
        np.testing.assert_array_equal(norms, expected)
