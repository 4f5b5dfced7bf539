"""EM climbs, counts what is known, and a mixture is what its definition says."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from oracles.density import all_rows, mixture_log_probability
from scipy.special import logit
from sklearn.exceptions import ConvergenceWarning

from sklboolean import BernoulliMixture
from sklboolean.density import _em as em
from sklboolean.density._bernoulli_mixture import most_probable_bits
from sklboolean.density._em import (
    ProductMixture,
    em_step,
    log_prior,
    split_components,
)


@st.composite
def em_problems(draw):
    """A mixture, rows with missing bits, weights and a smoothing."""
    n, k = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = rng.dirichlet(np.ones(k))
    mixture = ProductMixture(np.log(weights), 2 * rng.standard_normal((k, n)))
    known = st.lists(st.sampled_from([-1, 0, 1]), min_size=n, max_size=n)
    signs = np.array(draw(st.lists(known, min_size=1, max_size=12)), dtype=np.int8)
    return mixture, signs, rng.random(len(signs)), draw(st.sampled_from([1e-6, 0.3, 2]))


def prior_by_definition(mixture, alpha):
    total = sum(alpha * w for w in mixture.log_weights)
    for line in mixture.logits:
        for z in line:
            p = 1 / (1 + math.exp(-z))
            total += alpha * (math.log(p) + math.log(1 - p))
    return total


@settings(max_examples=200)
@given(em_problems())
def test_a_step_of_em_never_lowers_what_it_climbs(problem):
    mixture, signs, weights, alpha = problem
    objectives = []
    for _ in range(5):
        better, log_likelihood = em_step(mixture, signs, weights, alpha)
        assert log_prior(mixture, alpha) == pytest.approx(
            prior_by_definition(mixture, alpha), rel=1e-9, abs=1e-9
        )
        objectives.append(log_likelihood + log_prior(mixture, alpha))
        mixture = better
    assert np.diff(objectives).min() > -1e-9 * (1 + abs(objectives[0]))


@given(em_problems())
def test_a_step_of_em_counts_by_definition(problem):
    mixture, signs, weights, alpha = problem
    better, log_likelihood = em_step(mixture, signs, weights, alpha)
    k, n = mixture.logits.shape
    priors, means = np.exp(mixture.log_weights), 1 / (1 + np.exp(-mixture.logits))
    rows = np.where(signs == 0, np.nan, signs > 0)
    members, expected = np.full(k, float(alpha)), 0.0
    true, false = np.full((2, k, n), float(alpha))
    for row, weight in zip(rows, weights, strict=True):
        score = mixture_log_probability(priors, means, row)
        expected += weight * score
        for c in range(k):
            alone = mixture_log_probability(priors[c : c + 1], means[c : c + 1], row)
            share = weight * math.exp(alone - score)
            members[c] += share
            true[c] += share * (row == 1)
            false[c] += share * (row == 0)
    assert log_likelihood == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(
        better.log_weights, np.log(members / members.sum()), atol=1e-9
    )
    np.testing.assert_allclose(better.logits, np.log(true / false), atol=1e-8)


@given(em_problems())
def test_most_probable_bits_are_the_best_of_all(problem):
    mixture = problem[0]
    true, exact = most_probable_bits(mixture.log_weights, mixture.logits)
    assert exact
    priors, means = np.exp(mixture.log_weights), 1 / (1 + np.exp(-mixture.logits))
    rows = all_rows(mixture.logits.shape[1])
    best = max(mixture_log_probability(priors, means, row) for row in rows)
    found = mixture_log_probability(priors, means, true.astype(float))
    assert found == pytest.approx(best, abs=1e-9)


def test_most_probable_bits_need_not_be_those_of_one_component():
    """Three components, each for two bits of three: together they say (1, 1, 1)."""
    means = np.where(np.eye(3) == 1, 0.45, 0.99)
    true, exact = most_probable_bits(np.log(np.ones(3) / 3), logit(means))
    assert exact
    assert true.all()
    assert not (means > 0.5).all(axis=1).any()


def test_bounds_make_many_missing_bits_possible():
    """Of 2**60 completions few are looked at when components are decided."""
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (3, 60))
    log_weights = np.log([0.5, 0.3, 0.2])
    true, exact = most_probable_bits(log_weights, 1.5 * signs, max_branches=64)
    assert exact
    # Every component is as sure of its bits: the heaviest one's, whose bits differ
    # from the others' in many places, are the best.
    np.testing.assert_array_equal(true, signs[0] > 0)


def test_search_that_is_cut_short_says_so():
    rng = np.random.default_rng(0)
    means = rng.uniform(0.3, 0.7, (6, 12))
    log_weights = np.full(6, -np.log(6))
    best, exact = most_probable_bits(log_weights, logit(means))
    assert exact
    bits, exact = most_probable_bits(log_weights, logit(means), max_branches=1)
    assert not exact
    priors = np.exp(log_weights)
    scores = [mixture_log_probability(priors, means, row * 1.0) for row in (bits, best)]
    assert scores[0] <= scores[1] + 1e-12


def test_too_many_likely_completions_bring_a_warning(monkeypatch):
    X = np.random.default_rng(0).integers(0, 2, (60, 12)).astype(float)
    mixture = BernoulliMixture(6, random_state=0).fit(X)
    asked = np.full((2, 12), np.nan)
    monkeypatch.setattr(
        "sklboolean.density._bernoulli_mixture.most_probable_bits",
        lambda weights, logits: most_probable_bits(weights, logits, max_branches=1),
    )
    with pytest.warns(UserWarning, match="In 2 samples .* exact"):
        filled = mixture.impute(asked, "map")
    assert set(np.unique(filled)) <= {0.0, 1.0}


def test_score_and_transform_follow_the_definition():
    X = np.random.default_rng(1).integers(0, 2, (30, 5)).astype(float)
    X[::4, 2] = X[7] = np.nan
    mixture = BernoulliMixture(3, random_state=0).fit(X)
    assert mixture.weights_.sum() == pytest.approx(1.0)
    shares = mixture.transform(X)
    for row, score, share in zip(X, mixture.score_samples(X), shares, strict=True):
        weights, means = mixture.weights_, mixture.means_
        expected = mixture_log_probability(weights, means, row)
        assert score == pytest.approx(expected, abs=1e-12)
        for c in range(3):
            alone = mixture_log_probability(weights[c : c + 1], means[c : c + 1], row)
            assert share[c] == pytest.approx(math.exp(alone - expected), abs=1e-12)
    np.testing.assert_array_equal(mixture.predict(X), shares.argmax(axis=1))
    assert mixture.log_likelihoods_[-1] == pytest.approx(mixture.score(X), abs=1e-12)
    assert mixture.n_iter_ == len(mixture.log_likelihoods_) - 1
    n_parameters, total = 3 * 5 + 2, mixture.score_samples(X).sum()
    assert mixture.aic(X) == pytest.approx(2 * n_parameters - 2 * total)
    assert mixture.bic(X) == pytest.approx(n_parameters * np.log(30) - 2 * total)


def test_reconstruction_is_from_the_most_probable_component():
    X = np.random.default_rng(1).integers(0, 2, (30, 5)).astype(float)
    X[::4, 2] = np.nan
    mixture = BernoulliMixture(3, random_state=0).fit(X)
    total = 0.0
    for row, c in zip(X, mixture.predict(X), strict=True):
        total -= mixture_log_probability([1.0], mixture.means_[c : c + 1], row)
    expected = total / np.log(2) / np.isfinite(X).sum()
    assert mixture.reconstruction_error(X) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="no known bit"):
        mixture.reconstruction_error([[np.nan] * 5])


def test_one_component_is_the_smoothed_mean_of_what_is_known():
    X = np.array([[1, 0], [1, np.nan], [1, 1], [0, 1]])
    mixture = BernoulliMixture(1, alpha=0.5).fit(X)
    np.testing.assert_allclose(mixture.means_, [[3.5 / 5, 2.5 / 4]], rtol=1e-12)
    assert mixture.converged_


def test_two_kinds_of_rows_are_told_apart():
    """Prototypes at distance 20 of 20, bits wrong with probability 0.1."""
    rng = np.random.default_rng(2)
    kinds = rng.random(400) < 0.3
    X = kinds[:, None] ^ (rng.random((400, 20)) < 0.1)
    mixture = BernoulliMixture(2, random_state=0).fit(X)
    found = mixture.predict(X)
    # A row is nearer to the other prototype with probability P(Bin(20, .1) >= 10),
    # 7e-6: all are told apart, and then the weights are the shares of the rows.
    assert np.array_equal(found, kinds) or np.array_equal(found, 1 - kinds)
    share = (kinds.sum() + 0.1) / (400 + 0.2)
    assert mixture.weights_[found[kinds][0]] == pytest.approx(share, abs=1e-3)


def test_doubling_splits_the_heaviest():
    mixture = ProductMixture(np.log([0.2, 0.5, 0.3]), np.zeros((3, 2)))
    split = split_components(mixture, 2, np.random.RandomState(0))
    np.testing.assert_allclose(np.exp(split.log_weights), [0.2, 0.25, 0.15, 0.25, 0.15])
    assert (split.logits[0] == 0).all()
    np.testing.assert_array_equal(split.logits[[1, 2]], -split.logits[[3, 4]])
    assert (split.logits[1:] != 0).all()


@pytest.mark.parametrize("n_components", [1, 2, 5, 8])
def test_any_number_of_components_is_reached(n_components):
    X = np.random.default_rng(3).integers(0, 2, (50, 6))
    mixture = BernoulliMixture(n_components, random_state=0).fit(X)
    assert mixture.means_.shape == (n_components, 6)
    assert list(mixture.get_feature_names_out()) == [
        f"bernoullimixture{c}" for c in range(n_components)
    ]


def test_more_starts_are_not_worse_and_threads_change_nothing():
    X = np.random.default_rng(4).integers(0, 2, (80, 8))
    fits = []
    for n_jobs in (1, 2):
        with parallel_config(n_jobs=n_jobs):
            model = BernoulliMixture(6, alpha=1e-6, random_state=0, n_init=5)
            fits.append(model.fit(X))
    np.testing.assert_array_equal(fits[0].means_, fits[1].means_)
    first = BernoulliMixture(6, alpha=1e-6, random_state=0).fit(X)
    assert fits[0].score(X) > first.score(X)


def test_threads_for_one_start_change_nothing(monkeypatch):
    monkeypatch.setattr(em, "SMALL", 0)
    monkeypatch.setattr(em, "BLOCK_SIZE", 5)
    rng = np.random.default_rng(6)
    X = rng.integers(0, 2, (83, 8)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    one = BernoulliMixture(4, random_state=0).fit(X)
    with parallel_config(n_jobs=3):
        three = BernoulliMixture(4, random_state=0).fit(X)
    np.testing.assert_array_equal(one.means_, three.means_)
    monkeypatch.setattr(em, "BLOCK_SIZE", 1000)
    whole = BernoulliMixture(4, random_state=0).fit(X)
    np.testing.assert_allclose(one.means_, whole.means_, rtol=1e-9)


def test_a_fit_is_continued():
    X = np.random.default_rng(5).integers(0, 2, (60, 6))
    mixture = BernoulliMixture(4, max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        before = mixture.fit(X).score(X)
    assert not mixture.converged_
    assert mixture.n_iter_ == 5  # one step in each doubling, and those between them
    with pytest.warns(ConvergenceWarning):
        mixture._continue_fit(X, None)
    assert mixture.log_likelihoods_[0] == pytest.approx(before, abs=1e-12)


def test_missing_bits_are_counted_out_not_in():
    """Bits missing at random: the mixture is nearer the truth than with zeros."""
    rng = np.random.default_rng(6)
    kinds = rng.random(2000) < 0.5
    X = (kinds[:, None] ^ (rng.random((2000, 8)) < 0.1)).astype(float)
    holes = np.where(rng.random(X.shape) < 0.4, np.nan, X)
    mixture = BernoulliMixture(2, random_state=0).fit(holes)
    # Means are 0.1 and 0.9. About 600 known bits each: standard deviation 0.012, and
    # rows that are told apart wrongly (few of five known bits) move them a little.
    assert np.abs(np.sort(mixture.means_, axis=0) - [[0.1], [0.9]]).max() < 0.06
    X, holes = X[:500], holes[:500]
    filled = mixture.impute(holes, "map")
    # A bit differs from its kind with probability 0.1; kinds are found but for few.
    assert (filled != X)[np.isnan(holes)].mean() < 0.13


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_components": 0}, "n_components"),
        ({"alpha": 0.0}, "alpha"),
        ({"n_init": 0}, "n_init"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters_are_named(parameters, words):
    with pytest.raises(ValueError, match=words):
        BernoulliMixture(**parameters).fit([[0, 1], [1, 0]])


@pytest.mark.parametrize("alpha", [1e-10, 1e10])
def test_extreme_smoothing_stays_finite(alpha):
    X = np.repeat([[0, 0, 1, 1], [1, 1, 1, 0]], 500, axis=0)
    mixture = BernoulliMixture(5, alpha=alpha, random_state=0).fit(X)
    scores = mixture.score_samples(all_rows(4))
    assert np.isfinite(scores).all()
    assert np.exp(scores).sum() == pytest.approx(1.0, abs=1e-12)
    assert np.isfinite(mixture.impute([[np.nan] * 4])).all()


@pytest.mark.parametrize("weight", [1.0, 1e15])
def test_log_odds_of_near_certainty_stay_finite(weight):
    X = np.array([[1, 0], [1, 0], [1, 1]])
    model = BernoulliMixture(1, alpha=1e-9, binarize=None)
    model.fit(X, sample_weight=[weight] * 3)
    odds = model._log_odds(np.array([[0, 1], [1, 0]], dtype=np.int8))
    # The first bit was true in all rows: (3 weight + alpha) / alpha, up to 10**304.
    certain = min(np.log(3 * weight) - np.log(1e-9), 700)
    np.testing.assert_allclose(odds, [[certain, np.log(0.5)]] * 2, rtol=1e-9)
