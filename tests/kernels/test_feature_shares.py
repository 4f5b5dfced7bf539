"""Importances and contributions of features in kernel models, by enumeration."""

import numpy as np
import pytest
from oracles.kernels import (
    conjunctions_that_hold,
    rival_scores,
    shares_of_features,
)
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel

from sklboolean import BooleanSVC, KernelPerceptron
from sklboolean.kernels import ConjunctionKernel, PolynomialKernel, RBFKernel
from sklboolean.kernels import _feature_shares as feature_shares

RNG = np.random.default_rng(0)
X = RNG.random((60, 5)) < 0.5
NEW = RNG.random((9, 5)) < 0.5
TWO = (X[:, 0] & X[:, 2]).astype(int)
THREE = TWO + 2 * (X[:, 1] & ~X[:, 0])
KERNELS = {
    "default": ("conjunction", [0, 1, 1, 1, 0, 0], True),
    "decay": (
        ConjunctionKernel(max_literals=2, monotone=False, decay=0.5),
        [1, 0.5, 0.25, 0, 0, 0], False,
    ),
    "plain": (ConjunctionKernel(max_literals=4, normalize=False), [1] * 5 + [0], True),
    "linear": ("linear", [0, 1, 0, 0, 0, 0], True),
    # (s + 1)**2 = 1 + 3 s + 2 s (s - 1) / 2
    "poly": (PolynomialKernel(degree=2, gamma=1.0), [1, 3, 2, 0, 0, 0], True),
    "rbf": (
        RBFKernel(gamma=0.3),
        [np.exp(-0.3 * 5) * np.expm1(0.3) ** k for k in range(6)], False,
    ),
}  # fmt: skip
MODELS = {
    "svc": BooleanSVC(C=1.0, multi_class="ovr"),
    "svc, pairs": BooleanSVC(C=1.0),
    "perceptron": KernelPerceptron(random_state=0),
    "last hypothesis": KernelPerceptron(average=None, margin=1.0, random_state=0),
}


# Listing them takes longer than all models do.
HOLD = {monotone: conjunctions_that_hold(X, monotone) for monotone in (True, False)}
HOLD_IN_NEW = {
    monotone: conjunctions_that_hold(NEW, monotone)[1] for monotone in (True, False)
}


def kernel_norms(model, Z):
    """Root of K(z, z) for a normalised kernel, from its values without it."""
    if not getattr(model.kernel_, "normalize", False):
        return np.ones(len(Z))
    plain = clone(model.kernel_).set_params(normalize=False)
    diagonal = plain(Z).diagonal()
    return np.sqrt(np.where(diagonal > 0, diagonal, 1))


def norms_of_scores(model, Z):
    """What the perceptron divides its scores by."""
    if not getattr(model, "is_normalized_", False):
        return np.ones(len(Z))
    diagonal = model.kernel_(Z).diagonal() + 1
    return np.sqrt(np.where(diagonal > 0, diagonal, 1))


@pytest.mark.parametrize(
    ("name", "y", "make"),
    [(name, y, np.asarray) for name in KERNELS for y in (TWO, THREE)]
    + [("default", THREE, sparse.csr_array), ("rbf", THREE, sparse.csr_array)],
)
@pytest.mark.parametrize("kind", MODELS)
def test_shares_are_those_of_all_conjunctions(kind, name, y, make, monkeypatch):
    monkeypatch.setattr(feature_shares, "BLOCK_ENTRIES", 100)
    kernel, weights, monotone = KERNELS[name]
    model = clone(MODELS[kind]).set_params(kernel=kernel).fit(make(X), y)
    terms, hold = HOLD[monotone]
    hold = hold[:, model.support_]
    coef = model.dual_coef_ / kernel_norms(model, X[model.support_])
    expected = sum(shares_of_features(terms, hold, each, weights) for each in coef)
    np.testing.assert_allclose(
        model.feature_importances_, expected / expected.sum(), atol=1e-12
    )
    found = model.feature_contributions(make(NEW))
    expected = np.array(
        [
            [shares_of_features(terms, hold, each, weights, in_x) for each in coef]
            for in_x in HOLD_IN_NEW[monotone].T
        ]
    )
    norms = (kernel_norms(model, NEW) * norms_of_scores(model, NEW))[:, None]
    expected /= norms[:, :, None]
    empty = coef.sum(axis=1) * weights[0] / norms
    intercept = model.intercept_ / norms_of_scores(model, NEW)[:, None]
    rest_expected = empty + intercept
    if kind == "svc, pairs" and len(coef) > 1:
        # Those of the pair in which the class has its smallest score.
        scores = expected.sum(axis=-1) + rest_expected
        _, pairs, signs = rival_scores(scores, 3)
        rows = np.arange(9)[:, None]
        expected = expected[rows, pairs] * signs[:, :, None]
        rest_expected = rest_expected[rows, pairs] * signs
    assert found.shape == ((9, 3, 5) if len(coef) > 1 else (9, 5))
    np.testing.assert_allclose(found, np.squeeze(expected), atol=1e-9)
    # The rest of the score is the intercept and the empty conjunction.
    rest = model.decision_function(make(NEW)) - found.sum(axis=-1)
    np.testing.assert_allclose(rest, np.squeeze(rest_expected), atol=1e-9)


def test_importances_find_the_features_of_the_concept():
    for model in (BooleanSVC(), KernelPerceptron(random_state=0)):
        selected = SelectFromModel(model, max_features=2).fit(X, TWO)
        assert selected.get_support(indices=True).tolist() == [0, 2]
        eliminated = RFE(model, n_features_to_select=2).fit(X, TWO)
        assert eliminated.get_support(indices=True).tolist() == [0, 2]


def test_models_that_are_no_sum_over_conjunctions_have_no_shares():
    voted = KernelPerceptron(average="voted", random_state=0).fit(X, TWO)
    for model in (voted, BooleanSVC("tanimoto").fit(X, TWO)):
        assert not hasattr(model, "feature_importances_")
        with pytest.raises(AttributeError, match="feature_contributions"):
            model.feature_contributions(X)
    with pytest.raises(NotFittedError):
        BooleanSVC().feature_contributions(X)


def test_long_conjunctions_do_not_overflow():
    wide = np.random.default_rng(1).random((20, 3000)) < 0.5
    y = wide[:, 0].astype(int)
    model = KernelPerceptron(max_literals=None, monotone=False, random_state=0)
    model.fit(wide, y)
    assert model.feature_importances_.sum() == pytest.approx(1)
    found = model.feature_contributions(wide)
    scores = model.decision_function(wide)
    size = np.abs(scores).max()
    np.testing.assert_allclose(found.sum(axis=1) / size, scores / size, atol=1e-12)
