"""Densities that are combined by held-out samples, against the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from oracles.density import every_row
from scipy.special import logsumexp

from sklboolean import (
    BernoulliMixture,
    ChowLiuTree,
    CombinationMachine,
    DensityMixture,
)
from sklboolean.density import _density_mixture
from sklboolean.density._stacking import PRIOR, stacking_weights


def objective(weights, log_likelihoods, sample_weight):
    """The smoothed log-likelihood, by definition."""
    scores = logsumexp(log_likelihoods + np.log(weights), axis=1)
    return sample_weight @ scores + PRIOR * np.log(weights).sum()


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 30))
def test_no_other_weights_are_more_likely(seed, n_densities, n_samples):
    rng = np.random.default_rng(seed)
    logs = rng.normal(-20, 4, (n_samples, n_densities))
    sample_weight = rng.integers(0, 3, n_samples) + (np.arange(n_samples) == 0)
    scaled = sample_weight * n_samples / sample_weight.sum()
    weights = stacking_weights(logs, sample_weight.astype(float))
    assert weights.sum() == pytest.approx(1)
    best = objective(weights, logs, scaled)
    for other in rng.dirichlet(np.ones(n_densities), 30):
        near = 0.9 * weights + 0.1 * other
        assert objective(near, logs, scaled) <= best + 1e-3


def test_the_density_that_knew_the_samples_gets_the_weight():
    logs = np.column_stack([np.full(200, -3.0), np.full(200, -9.0)])
    weights = stacking_weights(logs, np.ones(200))
    assert weights[0] == pytest.approx(201 / 202, abs=2e-3)


def classes(n_samples, n_columns=20, seed=0):
    rng = np.random.default_rng(seed)
    means = rng.beta(0.5, 0.5, (3, n_columns))
    return (
        rng.random((n_samples, n_columns)) < means[rng.integers(0, 3, n_samples)]
    ) * 1


def chain(n_samples, n_columns=20, seed=0):
    rng = np.random.default_rng(seed)
    flips = rng.random((n_samples, n_columns)) < 0.2
    flips[:, 0] = rng.random(n_samples) < 0.5
    return np.cumsum(flips, axis=1) % 2


@pytest.mark.parametrize(("make", "n_samples"), [(classes, 250), (chain, 600)])
def test_the_default_is_not_behind_a_tree_nor_products(make, n_samples):
    """The truth is a mixture of products in one case, a tree in the other."""
    X = make(n_samples + 2000)
    train, test = X[:n_samples], X[n_samples:]
    score = DensityMixture(random_state=0).fit(train).score(test)
    others = ChowLiuTree(), BernoulliMixture(random_state=0)
    best = max(model.fit(train).score(test) for model in others)
    assert score > 1.005 * best  # half a percent of a negative number


@pytest.mark.slow
def test_more_samples_than_are_tried_get_more_components(monkeypatch):
    """Twice the number that is best for 100 samples, times 4 for 400; four mixtures."""
    X = classes(2400)
    tried = []

    def grow(*arguments):
        tried.append(best_size(*arguments))
        return tried[-1]

    best_size = _density_mixture.grow
    monkeypatch.setattr(_density_mixture, "grow", grow)
    monkeypatch.setattr(_density_mixture, "MAX_TRIED", 100)
    mixture = DensityMixture(random_state=0).fit(X[:400])
    machines = [m for m in mixture.estimators_ if isinstance(m, CombinationMachine)]
    assert len(machines) == 4 * min(tried[0] * 2 * 4, 32)
    assert mixture.n_iter_ == 4 * 2  # rounds
    tree = ChowLiuTree().fit(X[:400])
    assert mixture.score(X[400:]) > tree.score(X[400:])


@pytest.mark.slow
def test_the_default_is_a_distribution_and_repeats_itself():
    X = classes(60, 6)
    mixture = DensityMixture(random_state=0).fit(X)
    shares = np.exp(mixture.score_samples(every_row(6)))
    assert shares.sum() == pytest.approx(1)
    assert mixture.weights_.sum() == pytest.approx(1)
    assert len(mixture.weights_) == len(mixture.estimators_)
    with parallel_config(n_jobs=2):
        again = DensityMixture(random_state=0).fit(2 * X - 1)
    np.testing.assert_array_equal(
        mixture.score_samples(X), again.score_samples(2 * X - 1)
    )
    unweighted = np.append(X, 1 - X, axis=0)
    weights = np.repeat([1.0, 0.0], len(X))
    other = DensityMixture(random_state=0).fit(unweighted, sample_weight=weights)
    np.testing.assert_allclose(mixture.score_samples(X), other.score_samples(X))


def test_the_default_with_missing_bits_and_groups():
    rng = np.random.default_rng(0)
    X = np.eye(3)[rng.integers(0, 3, (200, 2))].reshape(200, 6)
    X[:, 3:] = np.where(rng.random((200, 1)) < 0.8, X[:, :3], X[:, 3:])
    X[rng.random(200) < 0.2, :3] = np.nan
    mixture = DensityMixture(feature_groups=[0, 0, 0, 1, 1, 1], random_state=0).fit(X)
    means = mixture.impute([[np.nan, np.nan, np.nan, 1, 0, 0]])[0]
    assert means[:3].sum() == pytest.approx(1)
    assert means[0] == pytest.approx(0.8 + 0.2 / 3, abs=0.1)


@pytest.mark.parametrize(
    "n_samples", [1, 2, 7, pytest.param(8, marks=pytest.mark.slow), 20]
)
def test_the_default_of_few_samples(n_samples):
    X = classes(n_samples, 4)
    mixture = DensityMixture(random_state=0).fit(X)
    assert np.exp(mixture.score_samples(every_row(4))).sum() == pytest.approx(1)
