"""C and margins do not change with the scale of weights, where they are defaults."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.kernels import plain_perceptron
from sklearn.svm import SVC

from sklboolean import BooleanGaussianProcessClassifier, BooleanSVC
from sklboolean._core.weights import relative_weights
from sklboolean.kernels import RBFKernel


def make_task(seed, n_samples=64):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, 8))
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3])
    y ^= rng.random(n_samples) < 0.1
    y[:2] = 0, 1
    return X, y, rng.dirichlet(np.ones(n_samples))


@given(st.lists(st.floats(0, 1e6), min_size=1).filter(any), st.floats(1e-300, 1e9))
def test_relative_weights_have_a_mean_of_at_least_one(weights, scale):
    weights = np.array(weights) * scale
    if not weights.any():
        return
    relative = relative_weights(weights)
    positive = relative[weights > 0]
    assert positive.sum() >= len(positive) * (1 - 1e-9)
    if weights[weights > 0].mean() >= 1:
        assert np.array_equal(relative, weights)
    else:
        np.testing.assert_allclose(positive.mean(), 1)
        index = weights.argmax()
        np.testing.assert_allclose(
            relative / relative[index], weights / weights[index], rtol=1e-9
        )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "model",
    [
        BooleanSVC(tol=1e-9),
        BooleanSVC("tanimoto", tol=1e-9),
        BooleanGaussianProcessClassifier(max_iter=3, random_state=0),
    ],
    ids=repr,
)
def test_weights_that_add_up_to_one_give_the_model_of_their_multiples(model, seed):
    X, y, weights = make_task(seed)
    small = model.fit(X, y, weights)
    scores, proba = small.decision_function(X), small.predict_proba(X)
    large = model.fit(X, y, len(y) * weights)
    np.testing.assert_allclose(large.decision_function(X), scores, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(large.predict_proba(X), proba, rtol=1e-5, atol=1e-7)
    equal = np.full(len(y), 1 / len(y))
    scores = model.fit(X, y, equal).decision_function(X)
    expected = model.fit(X, y).decision_function(X)
    np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-9)


def test_a_given_C_is_multiplied_by_the_weights_as_in_scikit_learn():
    X, y, weights = make_task(0)
    weights = 2 * len(y) * weights
    ours = BooleanSVC(RBFKernel(gamma=0.2), C=2.0, tol=1e-6).fit(X, y, weights)
    theirs = SVC(gamma=0.2, C=2.0, tol=1e-6).fit(X, y, weights)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=1e-4
    )


def test_a_perceptron_uses_weights_as_they_are():
    X, y, _ = make_task(1)
    model = plain_perceptron(random_state=0)
    whole = np.ones(64)
    whole[::2] = 2
    model.partial_fit(X[:32], y[:32], classes=[0, 1], sample_weight=whole[:32] / 4)
    model.partial_fit(X[32:], y[32:], sample_weight=whole[32:] / 4)
    again = plain_perceptron(random_state=0)
    again.partial_fit(X[:32], y[:32], classes=[0, 1], sample_weight=whole[:32])
    again.partial_fit(X[32:], y[32:], sample_weight=whole[32:])
    assert np.array_equal(4 * model.raw_dual_coef_, again.raw_dual_coef_)
