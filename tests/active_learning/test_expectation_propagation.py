"""Expectation propagation against exact moments, its own definition and chains."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.active_learning import (
    orthant_mean,
    plane_acceptance,
    rejection_sample,
    step_moments,
)

from sklboolean.active_learning import HalfspaceVersionSpace
from sklboolean.active_learning._posterior_sampling import (
    TOLERANCE,
    GaussianPosterior,
    tilted_moments,
)

signs = st.sampled_from([-1.0, 1.0])


def gaussian(**parameters):
    return HalfspaceVersionSpace(
        fit_intercept=False, sampler="expectation_propagation", **parameters
    )


@given(
    st.floats(-25, 25), st.floats(1e-3, 1e3), signs, st.sampled_from([0.0, 0.01, 0.3])
)
def test_moments_of_a_noisy_step(z, variance, sign, label_noise):
    mean = sign * z * np.sqrt(variance)
    expected = step_moments(mean, variance, sign, label_noise)
    found = tilted_moments(mean, variance, sign, label_noise)
    # 1 - ratio (ratio + z) and mean + ratio lose about z^2 units of rounding.
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-8)


@pytest.mark.parametrize("z", [-50.0, -69.0, -71.0, -1e3, -1e6])
def test_moments_far_in_the_tail(z):
    """Beyond 70 deviations by series whose next terms are 518 and 74 / z^6, 4e-9."""
    expected = step_moments(z, 1.0, 1.0, 0.0)
    found = tilted_moments(z, 1.0, 1.0, 0.0)
    np.testing.assert_allclose(found[0], expected[0], rtol=2e-9)
    # Just before, rounding is multiplied by z^4 = 2e7.
    np.testing.assert_allclose(found[1], expected[1], rtol=2e-8)


def test_one_label_is_exact():
    """A half-normal coordinate: mean sqrt(2 / pi), variance 1 - 2 / pi."""
    space = gaussian().update(np.array([[0.0, 5.0]]), [False])
    np.testing.assert_allclose(
        space.mean_scores(np.eye(2)), [0, -np.sqrt(2 / np.pi)], atol=1e-12
    )
    np.testing.assert_allclose(space._posterior.covariance, [[1 - 2 / np.pi]])
    assert space._posterior.n_sweeps == 1


def test_orthogonal_labels_are_exact():
    space = gaussian().update(np.eye(4), [True, False, True, True])
    half = np.sqrt(2 / np.pi)
    np.testing.assert_allclose(
        space.mean_scores(np.eye(4)), half * np.array([1, -1, 1, 1])
    )
    np.testing.assert_allclose(
        space._posterior.covariance, (1 - 2 / np.pi) * np.eye(4), atol=1e-12
    )


@pytest.mark.parametrize("correlation", [-0.5, 0.3, 0.9])
def test_two_labels_have_the_mean_of_an_orthant(correlation):
    rows = np.array([[1.0, 0.0], [correlation, np.sqrt(1 - correlation**2)]])
    space = gaussian().update(rows, [True, True])
    # The approximation: the third cumulants of the other step are left out.
    np.testing.assert_allclose(
        space.mean_scores(rows), orthant_mean(correlation), rtol=0.02
    )


@given(
    st.integers(1, 6), st.integers(1, 12), st.sampled_from([0.0, 0.1]),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_marginals_are_those_of_the_steps(dimension, n_samples, label_noise, seed):
    """The fixed point: every marginal has the moments of its step under the others."""
    random = np.random.default_rng(seed)
    rows = random.standard_normal((n_samples, dimension))
    labels = rows @ random.standard_normal(dimension) > 0
    space = gaussian(label_noise=label_noise).update(rows, labels)
    found = space._posterior
    assert found.change < TOLERANCE
    assert found.n_skipped == 0
    assert np.all(np.linalg.eigvalsh(found.covariance) > 0)
    for i in range(n_samples):
        row = found.rows[i]
        mean, variance = row @ found.mean_weights, row @ found.covariance @ row
        left = 1 - found.precisions[i] * variance
        cavity = (mean - found.shifts[i] * variance) / left, variance / left
        expected = step_moments(*cavity, found.signs[i], label_noise)
        # What a last sweep may still move.
        assert abs(mean - expected[0]) < 10 * TOLERANCE * np.sqrt(variance)
        np.testing.assert_allclose(variance, expected[1], rtol=10 * TOLERANCE)


@pytest.mark.parametrize("label_noise", [0.0, 0.1])
def test_posterior_is_that_of_the_sites(label_noise):
    """Moments from the sites' precisions and shifts, with plain linear algebra."""
    random = np.random.default_rng(0)
    rows = random.standard_normal((15, 5))
    space = gaussian(label_noise=label_noise).update(rows, rows[:, 0] > 0)
    found = space._posterior
    precision = np.eye(5) + found.rows.T @ np.diag(found.precisions) @ found.rows
    covariance = np.linalg.inv(precision)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-9)
    np.testing.assert_allclose(
        found.mean_weights, covariance @ found.rows.T @ found.shifts, rtol=1e-9
    )


@pytest.mark.parametrize("label_noise", [0.0, 0.1])
def test_labels_in_any_order_and_in_any_blocks(label_noise):
    random = np.random.default_rng(1)
    rows, queries = random.standard_normal((30, 8)), random.standard_normal((50, 8))
    labels = rows @ np.ones(8) > 0
    cold = gaussian(label_noise=label_noise).update(rows, labels)
    warm = gaussian(label_noise=label_noise)
    for i in random.permutation(30):
        warm.update(rows[i : i + 1], labels[i : i + 1])
    # Both stop within the tolerance of the same fixed point.
    np.testing.assert_allclose(
        warm.predict_proba(queries)[:, 1],
        cold.predict_proba(queries)[:, 1],
        atol=2 * TOLERANCE,
    )


def test_acceptance_in_the_plane():
    """Against exact arcs."""
    rows = np.array([[1.0, 0.0], [0.6, 0.8]])
    degrees = np.deg2rad(np.arange(0, 360, 7.0))
    queries = np.column_stack([np.cos(degrees), np.sin(degrees)])
    exact = plane_acceptance(rows, [True, False], queries)
    space = gaussian().update(rows, [True, False])
    error = np.abs(space.predict_proba(queries)[:, 1] - exact)
    # The skew law of the score is taken for normal. Around the middle the error is that
    # of a third cumulant; the answer of the majority is the same unless it is close.
    doubtful = (exact > 0.3) & (exact < 0.7)
    assert np.sum(doubtful) > 5
    assert np.all(error[doubtful] < 0.05)
    decided = np.abs(exact - 0.5) > 0.05
    majority = space.predict_proba(queries)[:, 1] > 0.5
    np.testing.assert_array_equal(majority[decided], exact[decided] > 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("label_noise", [0.0, 0.1])
def test_acceptance_against_long_chains(label_noise):
    random = np.random.default_rng(2)
    rows, queries = random.standard_normal((12, 5)), random.standard_normal((60, 5))
    labels = rows @ random.standard_normal(5) > 0
    space = gaussian(label_noise=label_noise).update(rows, labels)
    sample = rejection_sample(rows, labels, 300_000, 3, label_noise)
    assert sample.shape[1] > 1000, sample.shape
    exact = np.mean(queries @ sample >= 0, axis=1)
    error = np.abs(space.predict_proba(queries)[:, 1] - exact)
    # The prototype's distance from long chains was 0.028 to 0.035 on average; the
    # sample's standard error is below 0.016.
    assert error.mean() < 0.03
    chains = HalfspaceVersionSpace(
        fit_intercept=False,
        sampler="elliptical_slice",
        label_noise=label_noise,
        n_chains=2000,
        n_steps=200,
        random_state=0,
    ).update(rows, labels)
    assert np.abs(chains.predict_proba(queries)[:, 1] - exact).max() < 5 * np.hypot(
        0.016, 0.0112
    )


def test_draws_are_those_of_the_gaussian():
    random = np.random.RandomState(4)
    rows, queries = random.standard_normal((10, 4)), random.standard_normal((30, 4))
    space = gaussian().update(rows[:2], [True, False])
    for _ in range(2):
        exact = space.predict_proba(queries)[:, 1]
        shares = space.sample_predictions(queries, 4000, random).mean(axis=0)
        assert np.all(
            np.abs(shares - exact) <= 5 * np.sqrt(exact * (1 - exact) / 4000) + 1e-12
        )
        space.update(rows[2:], rows[2:, 0] > 0)


def test_contradictory_labels_with_noise_say_nothing():
    space = gaussian(label_noise=0.1).update(np.array([[1.0, 2.0]] * 2), [True, False])
    queries = np.array([[1.0, 2.0], [3.0, -1.0]])
    np.testing.assert_allclose(space.predict_proba(queries)[:, 1], 0.5, atol=TOLERANCE)


def test_many_labels_against_one_row():
    """Thirty yes outweigh one no; nothing overflows with none at all."""
    row = np.array([[1.0, 1.0]])
    for label_noise in (1e-300, 1e-6, 0.2, 0.499):
        space = gaussian(label_noise=label_noise)
        space.update(np.repeat(row, 31, axis=0), [False] + [True] * 30)
        assert 0.5 < space.predict_proba(row)[:, 1][0] <= 1
        assert np.all(np.isfinite(space._posterior.covariance))


def test_a_site_without_a_cavity_is_left_alone():
    posterior = GaussianPosterior(0.0)
    posterior.update(np.empty(0), 1.0, True)
    posterior.refine()
    before = posterior.mean_weights.copy()
    posterior.precisions[0] = 10 / posterior.covariance[0, 0]
    assert posterior._update(0) == 0.0
    assert posterior.n_skipped == 1
    np.testing.assert_array_equal(posterior.mean_weights, before)
