"""Stepwise EM is EM on one batch, follows its definition on many, and forgets nothing
that a stream should keep."""

import pickle
import tracemalloc
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.density import mean_counts
from oracles.density import stepwise_em as stepwise_em_by_definition
from scipy import sparse
from scipy.special import logit

from sklboolean import BernoulliMixture
from sklboolean.density import _bernoulli_mixture
from sklboolean.density._em import (
    DECAY,
    Counts,
    MixtureState,
    ProductMixture,
    blend_counts,
    em_step,
    expected_counts,
    implied_counts,
    maximising_mixture,
    stepwise_em,
)


@st.composite
def streams(draw):
    """A mixture and batches of rows with missing bits, all of one size."""
    n, k, size = (draw(st.integers(1, most)) for most in (4, 3, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    mixture = ProductMixture(np.log(rng.dirichlet(np.ones(k))), rng.normal(size=(k, n)))
    batches = rng.choice(
        [-1, 0, 1], (draw(st.integers(1, 5)), size, n), p=[0.4, 0.2, 0.4]
    )
    return mixture, batches.astype(np.int8), draw(st.sampled_from([1e-6, 0.3, 2]))


@pytest.fixture
def batches_of(monkeypatch):
    """Set the number of samples of a step of ``partial_fit``."""

    def set_size(size):
        monkeypatch.setattr(_bernoulli_mixture, "BATCH_SIZE", size)

    return set_size


def empty_counts(mixture):
    zeros = np.zeros_like(mixture.logits)
    return Counts(zeros.sum(axis=1), zeros, zeros)


def kinds_of_rows(n_samples, seed, n_features=30, n_kinds=4):
    """Rows of a mixture with bits that are true with probability 0.2 or 0.8."""
    prototypes = np.random.default_rng(0).integers(0, 2, (n_kinds, n_features))
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, n_kinds, n_samples)
    return prototypes[kinds] ^ (rng.random((n_samples, n_features)) < 0.2)


@given(streams())
def test_a_first_batch_is_one_step_of_em(stream):
    mixture, batches, alpha = stream
    signs = batches.reshape(-1, batches.shape[2])
    weights = np.random.default_rng(len(signs)).random(len(signs))
    state = MixtureState(mixture, empty_counts(mixture), 0.0)
    state, history = stepwise_em(state, signs, weights, alpha, len(signs))
    better, total = state.mixture, state.total
    expected, log_likelihood = em_step(mixture, signs, weights, alpha)
    np.testing.assert_array_equal(better.log_weights, expected.log_weights)
    np.testing.assert_array_equal(better.logits, expected.logits)
    assert total == weights.sum()
    assert history == [log_likelihood / total]


@given(streams())
def test_batches_follow_the_definition(stream):
    mixture, batches, alpha = stream
    first, weights = batches[0], np.ones(len(batches[0]))
    signs = batches.reshape(-1, batches.shape[2])
    counts, _ = expected_counts(mixture, first, weights)
    state = MixtureState(mixture, counts, float(len(first)))
    before = deepcopy(state)
    after, history = stepwise_em(state, signs, np.ones(len(signs)), alpha, len(first))
    found, kept, total = after.mixture, after.counts, after.total
    for one, other in zip(state.counts, before.counts, strict=True):
        np.testing.assert_array_equal(one, other)
    rows = np.where(batches == 0, np.nan, batches > 0)
    start = np.exp(mixture.log_weights), 1 / (1 + np.exp(-mixture.logits))
    expected = stepwise_em_by_definition(
        *start, mean_counts(*start, rows[0]), rows, alpha, DECAY
    )
    np.testing.assert_allclose(np.exp(found.log_weights), expected[0], rtol=1e-9)
    np.testing.assert_allclose(found.logits, logit(expected[1]), atol=1e-7)
    assert len(history) == len(batches)
    # All counts together are the weight seen.
    assert kept.members.sum() == pytest.approx(total, rel=1e-12)
    assert total == len(signs) + len(first)


@given(streams())
def test_a_mixture_is_the_maximum_of_the_counts_that_it_implies(stream):
    mixture, batches, alpha = stream
    signs = batches.reshape(-1, batches.shape[2])
    weights = np.linspace(0.5, 2, len(signs))
    found, _ = em_step(mixture, signs, weights, alpha)
    counts = implied_counts(found, weights.sum(), alpha)
    assert min(counts.members.min(), (counts.known - abs(counts.sums)).min()) >= 0
    again = maximising_mixture(counts, alpha)
    np.testing.assert_allclose(again.log_weights, found.log_weights, atol=1e-9)
    np.testing.assert_allclose(again.logits, found.logits, atol=1e-7)


@pytest.mark.parametrize("ratio", [1e-300, 1e-20, 1.0, 1e20, 1e300])
def test_weights_of_any_size_are_blended(ratio):
    """Counts for a unit of weight move by the share to the power of the decay."""
    counts = blend_counts(Counts(ratio, 0.0, 0.0), ratio, Counts(0.0, 1.0, 1.0), 1.0)
    rate = (1 + ratio) ** -0.7
    assert counts.sums / (1 + ratio) == pytest.approx(rate, rel=1e-12)
    # What is left of the first counts: 1 - rate, which rounds to 0 where the batch is
    # nearly all there is; then it is 0.7 of their weight to first order.
    left = 1 - rate if ratio > 1e-9 else 0.7 * ratio
    assert counts.members / (1 + ratio) == pytest.approx(left, rel=1e-12)


def test_first_part_is_fitted_and_later_parts_bring_it_near_to_a_fit_of_all(batches_of):
    batches_of(200)
    X, test = (kinds_of_rows(n, n, n_kinds=2) for n in (12000, 4000))
    mixture = BernoulliMixture(2, random_state=0)
    first = BernoulliMixture(2, random_state=0).fit(X[:400])
    mixture.partial_fit(X[:400])
    np.testing.assert_array_equal(mixture.means_, first.means_)
    for start in range(400, len(X), 1000):
        mixture.partial_fit(X[start : start + 1000])
    whole = BernoulliMixture(2, random_state=0).fit(X)
    # 61 parameters cost a fit of N rows 61 / 2N nats of a new row: 0.076 of 400 rows,
    # 0.003 of all.
    assert whole.score(test) - first.score(test) > 0.04
    assert abs(whole.score(test) - mixture.score(test)) < 0.01
    assert len(mixture.log_likelihoods_) == 3
    assert mixture.n_iter_ == first.n_iter_ + 11 * 5 + 3
    assert not mixture.converged_
    # Each batch is scored before it is learned: honestly, but for chance.
    assert mixture.log_likelihoods_.mean() == pytest.approx(whole.score(test), abs=0.5)


def test_missing_bits_of_a_stream_are_counted_out():
    X = kinds_of_rows(9000, 3).astype(float)
    X[np.random.default_rng(4).random(X.shape) < 0.3] = np.nan
    mixture = BernoulliMixture(4, n_init=5, random_state=0)
    for start in range(0, len(X), 1000):
        mixture.partial_fit(X[start : start + 1000])
    # About 1500 known bits each: a standard deviation of 0.010, of 120 numbers.
    distance = np.minimum(abs(mixture.means_ - 0.2), abs(mixture.means_ - 0.8))
    assert distance.max() < 0.05


def test_cuts_between_batches_and_pickles_change_nothing(batches_of):
    batches_of(50)
    X = kinds_of_rows(1000, 5)
    mixture = BernoulliMixture(3, random_state=0).partial_fit(X[:200])
    resumed = pickle.loads(pickle.dumps(mixture))
    at_once = pickle.loads(pickle.dumps(mixture)).partial_fit(X[200:])
    for start, stop in [(200, 250), (250, 600), (600, 1000)]:
        mixture.partial_fit(X[start:stop])
        resumed.partial_fit(sparse.csr_array(X[start:stop].astype(float)))
        resumed = pickle.loads(pickle.dumps(resumed))
    for other in (resumed, at_once):
        np.testing.assert_array_equal(mixture.means_, other.means_)
        np.testing.assert_array_equal(mixture.weights_, other.weights_)
        assert mixture.n_iter_ == other.n_iter_


def test_a_row_of_weight_two_is_two_rows(batches_of):
    X, more = kinds_of_rows(200, 6), kinds_of_rows(300, 7)
    weights = np.random.default_rng(8).integers(0, 3, 100)
    fits = []
    for size, rows, counts in [
        (100, more[:100], weights),
        (200, np.repeat(more[:100], weights, axis=0), None),
    ]:
        batches_of(size)
        mixture = BernoulliMixture(3, random_state=0).partial_fit(X)
        fits.append(mixture.partial_fit(rows, sample_weight=counts))
    np.testing.assert_allclose(fits[0].means_, fits[1].means_, rtol=1e-9)
    # The unit of weight does not matter when all weights have it.
    batches_of(100)
    large = BernoulliMixture(3, alpha=1e6, random_state=0)
    large.partial_fit(X, sample_weight=1e7)
    large.partial_fit(more[:100], sample_weight=1e7 * weights)
    np.testing.assert_allclose(fits[0].means_, large.means_, rtol=1e-6)
    # A batch without weight teaches nothing.
    again = BernoulliMixture(3, random_state=0).partial_fit(X)
    zeros = np.zeros(200)
    again.partial_fit(more, sample_weight=np.concatenate([weights, zeros]))
    np.testing.assert_array_equal(again.means_, fits[0].means_)


def test_fit_can_go_on_and_begins_anew():
    X = kinds_of_rows(400, 9)
    once = BernoulliMixture(3, random_state=0).fit(X[:200])
    mixture = BernoulliMixture(3, random_state=0).fit(X[:200]).partial_fit(X[200:])
    assert abs(mixture.means_ - once.means_).max() > 0
    streamed = BernoulliMixture(3, random_state=0).partial_fit(X[:200])
    streamed.partial_fit(X[200:])
    np.testing.assert_array_equal(mixture.means_, streamed.means_)
    np.testing.assert_array_equal(mixture.fit(X[:200]).means_, once.means_)
    streamed.fit(X[:200]).partial_fit(X[200:])
    assert streamed.n_iter_ == once.n_iter_ + 1


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (
            {"n_components": 3},
            "n_components=3: the model was .* n_components=2",
        ),
        ({"binarize": None}, r"binarize=None: the model was fitted with binarize=0\.0"),
    ],
)
def test_errors_leave_what_was_learned(parameters, words):
    X = kinds_of_rows(100, 10)
    mixture = BernoulliMixture(2, random_state=0).partial_fit(X)
    before = dict(vars(mixture))
    mixture.set_params(**parameters)
    with pytest.raises(ValueError, match=words):
        mixture.partial_fit(X)
    assert {**vars(mixture), **{p: before[p] for p in parameters}} == before
    with pytest.raises(
        ValueError, match=r"sample_weight has a sum of .* below 2\*\*53"
    ):
        mixture.set_params(**{p: before[p] for p in parameters}).partial_fit(
            X, sample_weight=1e308
        )


def test_a_stream_takes_no_more_memory_than_its_first_parts(batches_of):
    batches_of(50)
    mixture = BernoulliMixture(4, random_state=0)
    mixture.partial_fit(kinds_of_rows(200, 11))
    peaks = []
    tracemalloc.start()
    try:
        for part in range(30):
            mixture.partial_fit(kinds_of_rows(200, part))
            if part % 10 == 9:
                peaks.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    # A row takes 30 bytes of bits: 2000 rows kept would be 60 kB for each ten parts.
    assert peaks[-1] - peaks[0] < 30_000
