"""Sums of the machine with real inputs, against mixtures of normal densities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from oracles.density import gaussian_conditional, log_unnormalised, mixture
from scipy import integrate
from scipy.optimize import check_grad
from scipy.stats import kstest, norm

from sklboolean.density import _gaussian_machine as gaussian
from sklboolean.density._rbm_params import RBMParams


def log_partition(weights):
    return gaussian.gaussian_moments(weights)[0]


def machine(m, n, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    return RBMParams(
        rng.normal(scale=scale, size=(m, n)),
        rng.normal(scale=scale, size=m),
        rng.normal(scale=scale, size=n),
    )


@st.composite
def machines(draw):
    """Machines of all sizes up to 7 units, and perhaps a bound on active ones."""
    m, n = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    scale = draw(st.sampled_from([0.0, 0.3, 2.0, 30.0]))
    weights = machine(m, n, draw(st.integers(0, 10**6)), scale)
    return weights, draw(st.none() | st.integers(1, m))


@given(machines())
def test_log_partition_and_moments_are_those_of_the_mixture(case):
    weights, max_active = case
    log_z, states, log_shares, means = mixture(weights, max_active)
    shares = np.exp(log_shares)
    limited = weights.replace(max_active=max_active)
    found, moments = gaussian.gaussian_moments(limited)
    assert found == pytest.approx(log_z, rel=1e-12)
    # Shares of states are as exact as their logarithms, which grow with the weights.
    size = max(1, np.abs(weights.components).max() ** 2)
    close = {"rtol": 1e-12 * size, "atol": 1e-12 * size}
    np.testing.assert_allclose(moments.hidden, shares @ states, **close)
    np.testing.assert_allclose(moments.visible, shares @ means, **close)
    products = (states * shares[:, None]).T @ means
    np.testing.assert_allclose(moments.products, products, **close)
    assert moments.edges is None


@pytest.mark.parametrize("max_active", [None, 1])
def test_density_of_one_input_integrates_to_one(max_active):
    weights = machine(3, 1, scale=1.5)
    log_z = log_partition(weights.replace(max_active=max_active))
    total, _ = integrate.quad(
        lambda x: np.exp(log_unnormalised(weights, np.array([x]), max_active) - log_z),
        *(-40, 40),
        epsabs=1e-12,
        limit=200,
    )
    assert total == pytest.approx(1, abs=1e-10)


def test_density_of_two_inputs_integrates_to_one():
    """The trapezoidal rule is exact to rounding for a smooth density that ends."""
    weights = machine(3, 2)
    line = np.linspace(-16, 16, 161)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    log_density = gaussian.log_sums_of_known(weights, grid)
    log_density -= log_partition(weights)
    total = np.exp(log_density).sum() * (line[1] - line[0]) ** 2
    assert total == pytest.approx(1, abs=1e-12)
    for x, value in zip(grid[::3000], log_density[::3000], strict=True):
        expected = log_unnormalised(weights, x) - log_partition(weights)
        assert value == pytest.approx(expected, rel=1e-12)


def test_moments_are_the_gradient():
    m, n = 4, 3
    weights = machine(m, n, scale=0.5)
    parts = weights.components, weights.hidden_bias, weights.visible_bias
    vector = np.concatenate([part.ravel() for part in parts])

    def weights_of(vector):
        components, hidden, visible = np.split(vector, [m * n, m * n + m])
        return RBMParams(components.reshape(m, n), hidden, visible)

    def slope(vector):
        moments = gaussian.gaussian_moments(weights_of(vector))[1]
        parts = moments.products, moments.hidden, moments.visible
        return np.concatenate([part.ravel() for part in parts])

    def value(vector):
        return log_partition(weights_of(vector))

    assert check_grad(value, slope, vector) < 1e-6 * np.abs(slope(vector)).max()


@given(machines(), st.data())
def test_conditionals_are_those_of_the_mixture(case, data):
    weights, max_active = case
    n = len(weights.visible_bias)
    value = st.sampled_from([np.nan, 0.0, -3.0]) | st.floats(-40, 40)
    row = st.lists(value, min_size=n, max_size=n)
    rows = np.array(data.draw(st.lists(row, min_size=1, max_size=5)))
    limited = weights.replace(max_active=max_active)
    log_z = log_partition(limited)
    scores = gaussian.log_sums_of_known(limited, rows) - log_z
    filled = gaussian.complete_by_means(limited, rows)
    size = max(1, np.abs(weights.components).max()) ** 2
    for x, score, completed in zip(rows, scores, filled, strict=True):
        log_density, shares, means = gaussian_conditional(weights, x, max_active)
        # |x|^2 / 2 and log Z are differences of what may be larger than the answer.
        close = 1e-12 * (abs(log_density) + abs(log_z) + x[x == x] @ x[x == x] + 1)
        assert score == pytest.approx(log_density, rel=0, abs=10 * close)
        gaps = np.isnan(x)
        np.testing.assert_allclose(
            completed[gaps], shares @ means, rtol=1e-10 * size, atol=1e-10 * size
        )
        np.testing.assert_array_equal(completed[~gaps], x[~gaps])


def test_rows_far_from_one_another_share_the_sums_of_a_pattern():
    """Their likely states are so far apart that products of halves underflow."""
    weights = machine(6, 5, seed=3, scale=10.0)
    rows = np.random.default_rng(0).normal(scale=60.0, size=(40, 5))
    rows[:, 2:4] = np.nan
    log_z = log_partition(weights)
    scores = gaussian.log_sums_of_known(weights, rows) - log_z
    filled = gaussian.complete_by_means(weights, rows)
    expected = [gaussian_conditional(weights, x) for x in rows]
    np.testing.assert_allclose(scores, [found[0] for found in expected], rtol=1e-10)
    np.testing.assert_allclose(
        filled[:, 2:4], [found[1] @ found[2] for found in expected], rtol=1e-9
    )


@pytest.mark.parametrize("max_active", [None, 1])
def test_draws_follow_the_conditional_density(max_active):
    """One input is known; Kolmogorov and Smirnov look at one that is missing.

    One draw in a million fails.
    """
    weights = machine(3, 3, seed=1, scale=1.5)
    known = np.array([np.nan, 0.4, np.nan])
    rows = np.tile(known, (5000, 1))
    rng = np.random.RandomState(0)
    limited = weights.replace(max_active=max_active)
    drawn = gaussian.complete_at_random(limited, rows, rng)
    np.testing.assert_array_equal(drawn[:, 1], 0.4)
    _, shares, means = gaussian_conditional(weights, known, max_active)
    # Of both missing inputs together, and of a sum that tells a wrong correlation.
    for direction in ([1.0, 0.0], [0.0, 1.0], [0.6, -0.8]):
        centres = means @ direction

        def distribution(x, centres=centres):
            return norm.cdf(np.subtract.outer(x, centres)) @ shares

        found = kstest(drawn[:, [0, 2]] @ direction, distribution)
        assert found.pvalue > 1e-6


def test_draws_of_rows_are_their_own():
    """Rows of two patterns, in any order, are drawn given what each knows."""
    weights = RBMParams(np.array([[8.0, 8.0]]), np.array([-64.0]), np.zeros(2))
    rows = np.array([[8.0, np.nan], [0.0, np.nan], [np.nan, 8.0], [8.0, np.nan]] * 50)
    drawn = gaussian.complete_at_random(weights, rows, np.random.RandomState(0))
    active = np.array([True, False, True, True] * 50)
    assert ((drawn[np.isnan(rows)] > 4) == active).all()
    np.testing.assert_array_equal(drawn[~np.isnan(rows)], rows[~np.isnan(rows)])


def test_blocks_do_not_change_the_sums(monkeypatch):
    weights = machine(7, 3, scale=0.7)
    log_z, whole = gaussian.gaussian_moments(weights)
    monkeypatch.setattr(gaussian, "BLOCK_STATES", 40)
    found, moments = gaussian.gaussian_moments(weights)
    assert found == pytest.approx(log_z, rel=1e-14)
    for part, expected in zip(moments[:3], whole[:3], strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-12, atol=1e-14)


def test_threads_do_not_change_the_sums():
    weights = machine(18, 6, scale=0.3)
    one = gaussian.gaussian_moments(weights)
    with parallel_config(n_jobs=2):
        two = gaussian.gaussian_moments(weights)
    assert one[0] == two[0]
    for left, right in zip(one[1][:3], two[1][:3], strict=True):
        np.testing.assert_array_equal(left, right)
