"""A mixture of densities against its definition, and against its components."""

import numpy as np
import pytest
from joblib import parallel_config
from oracles.density import every_row
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from sklboolean import (
    BernoulliMixture,
    ChowLiuTree,
    CombinationMachine,
    DensityClassifier,
    DensityMixture,
    DensityOutlierDetector,
)
from sklboolean.density._density_mixture import continue_fit


def two_worlds(n_samples=200, seed=0):
    """Samples of two classes whose bits depend on each other in different ways."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, 6))
    first = rng.random(n_samples) < 0.4
    X[first, 1] = X[first, 0]
    X[first, 2:] = 0
    X[~first, 5] = 1 - X[~first, 4]
    return X


MODELS = [
    DensityMixture(ChowLiuTree(), n_components=3, random_state=0),
    DensityMixture(
        CombinationMachine(2, base="chow_liu", alpha=1e-2, max_iter=10),
        n_components=2,
        max_iter=4,
        random_state=0,
    ),
    DensityMixture(BernoulliMixture(2), n_components=2, max_iter=3, random_state=0),
]


@pytest.fixture(params=MODELS, ids=["trees", "machines", "mixtures"])
def model(request):
    return clone(request.param).fit(two_worlds())


def test_likelihood_is_that_of_a_mixture(model):
    rows = every_row(6)
    parts = [np.exp(part.score_samples(rows)) for part in model.estimators_]
    table = model.weights_ @ parts
    np.testing.assert_allclose(np.exp(model.score_samples(rows)), table, rtol=1e-12)
    assert table.sum() == pytest.approx(1, abs=1e-12)
    assert model.weights_.sum() == pytest.approx(1)


def test_completions_are_those_of_the_table(model):
    rows = every_row(6)
    logs = model.score_samples(rows)
    X = np.where(np.random.default_rng(1).random((30, 6)) < 0.4, np.nan, rows[:30])
    means, best = model.impute(X), model.impute(X, "map")
    drawn = model.impute(np.repeat(X[:1], 4000, axis=0), "sample", random_state=0)
    for i, known in enumerate(X):
        fits = (np.isnan(known) | (rows == known)).all(axis=1)
        total = logsumexp(logs[fits])
        assert model.score_samples(X[i : i + 1])[0] == pytest.approx(total, abs=1e-10)
        expected = np.exp(logs[fits] - total) @ rows[fits]
        np.testing.assert_allclose(means[i], expected, atol=1e-10)
        assert model.score_samples(best[i : i + 1])[0] == pytest.approx(
            logs[fits].max(), abs=1e-10
        )
    np.testing.assert_allclose(drawn.mean(axis=0), means[0], atol=0.04)
    assert (drawn[:, ~np.isnan(X[0])] == X[0, ~np.isnan(X[0])]).all()


def test_samples_follow_the_table(model):
    rows, drawn = every_row(6), model.sample(20_000, random_state=0)
    numbers, of_rows = (drawn @ 2 ** np.arange(6), rows @ 2 ** np.arange(6))
    shares = (numbers[:, None] == of_rows).mean(axis=0)
    np.testing.assert_allclose(shares, np.exp(model.score_samples(rows)), atol=0.015)


def test_em_of_trees_never_loses_likelihood_and_beats_one_tree():
    X = two_worlds(2000)
    mixture = DensityMixture(ChowLiuTree(alpha=1e-3), n_components=2, random_state=0)
    mixture.set_params(max_iter=30).fit(X)
    assert mixture.converged_
    # shares below 0.001 are left out: that may cost as much
    assert np.diff(mixture.log_likelihoods_).min() > -1e-3
    assert mixture.score(X) > ChowLiuTree().fit(X).score(X) + 0.3
    assert mixture.score(X) == pytest.approx(mixture.log_likelihoods_[-1])


def test_mean_of_mixtures_is_that_of_its_parts():
    X = two_worlds()
    both = DensityMixture(max_iter=2, random_state=0).fit(X)
    n_of_each, n_others = divmod(len(both.weights_), 4)
    alike = [type(part) is CombinationMachine for part in both.estimators_]
    assert alike == [True] * (4 * n_of_each) + [False] * n_others
    by_mixture = both.weights_[: 4 * n_of_each].reshape(4, n_of_each).sum(axis=1)
    np.testing.assert_allclose(by_mixture, by_mixture[0])
    assert both.n_iter_ == len(both.log_likelihoods_) > 4


def test_many_missing_bits_warn_of_a_completion_that_may_not_be_the_best():
    X = np.hstack([two_worlds(seed=seed) for seed in range(3)])
    mixture = clone(MODELS[0]).fit(X)
    with pytest.warns(UserWarning, match="too many likely completions"):
        filled = mixture.impute(np.full((1, 18), np.nan), "map")
    flipped = np.abs(filled - np.eye(18))
    assert (mixture.score_samples(flipped) <= mixture.score_samples(filled)).all()


def test_results_do_not_depend_on_threads_nor_on_codes():
    X = two_worlds()
    one = clone(MODELS[1]).fit(X)
    with parallel_config(n_jobs=2):
        two = clone(MODELS[1]).fit(2 * X - 1)
    np.testing.assert_array_equal(one.score_samples(X), two.score_samples(2 * X - 1))
    assert set(np.unique(two.sample(20))) == {-1.0, 1.0}


def test_repeated_samples_are_weights():
    X = two_worlds(60)
    counts = np.arange(60) % 3
    one = clone(MODELS[0]).fit(np.repeat(X, counts, axis=0))
    two = clone(MODELS[0]).fit(X, sample_weight=counts)
    np.testing.assert_allclose(one.score_samples(X), two.score_samples(X))


def test_a_component_without_samples_is_dropped():
    mixture = DensityMixture(ChowLiuTree(), n_components=5, random_state=0)
    mixture.fit([[0, 1], [0, 1], [1, 0]])
    assert len(mixture.estimators_) == len(mixture.weights_) <= 5
    assert mixture.transform([[0, 1]]).shape == (1, len(mixture.weights_))


def test_penalty_of_a_component_is_that_of_its_samples():
    X = two_worlds(100)
    mixture = DensityMixture(n_components=3, max_iter=2, random_state=0).fit(X)
    shares = np.maximum(mixture.weights_ * len(X), 2)
    alphas = [part.alpha_ for part in mixture.estimators_]
    np.testing.assert_allclose(alphas, 2 / shares, rtol=1e-9)


@pytest.mark.parametrize("density", [LogisticRegression(), "tree", ChowLiuTree])
@pytest.mark.parametrize(
    "model", [DensityMixture, DensityClassifier, DensityOutlierDetector]
)
def test_what_is_no_density_is_named(model, density):
    with pytest.raises(ValueError, match=r"score_samples, such as .*; got .*"):
        model(density).fit([[0, 1], [1, 0]], [0, 1])


def test_components_are_fitted_to_parts_of_samples_as_they_are():
    X = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    shares, tree = np.array([0.1, 0.2, 0.3, 0.2]), ChowLiuTree(alpha=1.0)
    continue_fit(tree, X, shares)
    # The probability of a true first bit, with alpha / 2 of a sample on either side.
    first = np.exp(tree.score_samples([[1, 0], [1, 1]])).sum()
    assert first == pytest.approx((0.5 + 0.5) / (0.8 + 1.0))
    whole = np.exp(clone(tree).fit(X, sample_weight=shares).score_samples([[1, 1]]))
    assert whole > np.exp(tree.score_samples([[1, 1]]))
