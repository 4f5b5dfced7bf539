"""The sum over hidden states against enumeration of inputs and hidden states."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.density import enumerate_machine, every_row, hidden_rows, joint_log_weights
from scipy.special import logsumexp
from sklboolean._core._cpu import available_cpu_paths, cpu_path, use_cpu_path

from sklboolean.density import _halves as halves
from sklboolean.density import _hidden_states as hidden_states
from sklboolean.density._active_sums import log_active_sums
from sklboolean.density._hidden_states import (
    Weights,
    log_marginals,
    log_partition,
    partition_moments,
    state_log_weights,
    work_of,
)


def random_weights(rng, m, n, scale=1.0, forest=False, zeros=0.0):
    def draw(*shape):
        return rng.normal(size=shape) * scale * (rng.random(shape) >= zeros)

    parents = couplings = None
    if forest:
        order = rng.permutation(n)
        parents = np.full(n, -1)
        for place in range(1, n):
            if rng.random() < 0.8:
                parents[order[place]] = order[rng.integers(place)]
        couplings = np.where(parents < 0, 0.0, draw(n))
    return Weights(draw(m, n), draw(m), draw(n), parents, couplings)


def rounding(weights):
    """Log weights are sums of this size: what float64 leaves uncertain in them."""
    parts = [
        np.abs(part).sum() for part in (*weights[:3], weights[4]) if part is not None
    ]
    return 1e-12 + 4 * np.finfo(float).eps * sum(parts)


@st.composite
def machines(draw, most=7, scales=(0.0, 0.3, 3.0, 30.0, 1000.0)):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    m, n = draw(st.integers(1, most)), draw(st.integers(1, most))
    scale, forest = draw(st.sampled_from(scales)), draw(st.booleans())
    weights = random_weights(rng, m, n, scale, forest, draw(st.sampled_from([0, 0.5])))
    return weights, draw(st.none() | st.integers(0, m + 1))


@pytest.fixture(params=available_cpu_paths())
def each_path(request):
    before = cpu_path()
    use_cpu_path(request.param)
    yield request.param
    use_cpu_path(before)


def assert_moments_are_enumerated(weights, max_active, n_jobs=None):
    expected_log_z, *expected = enumerate_machine(weights, max_active)
    log_z, moments = partition_moments(weights, max_active, n_jobs)
    error = rounding(weights)
    assert log_z == pytest.approx(expected_log_z, rel=1e-13, abs=error)
    assert log_partition(weights, max_active, n_jobs) == pytest.approx(log_z, rel=1e-14)
    for ours, theirs in zip(moments, expected, strict=True):
        if theirs is None:
            assert ours is None
        else:
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=error)


@given(machines())
@settings(max_examples=300, deadline=None)
def test_partition_and_moments_by_enumeration(machine):
    assert_moments_are_enumerated(*machine)


@pytest.mark.parametrize("forest", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (3, 10), (10, 9), (10, 10), (9, 4), (10, 1)])
@pytest.mark.parametrize("max_active", [None, 0, 2])
def test_every_cpu_path_by_enumeration(each_path, shape, forest, max_active):
    rng = np.random.default_rng(shape)
    weights = random_weights(rng, *shape, 1.0, forest)
    assert_moments_are_enumerated(weights, max_active)


@pytest.mark.parametrize("forest", [False, True])
@pytest.mark.parametrize("scale", [0.0, 5.0, 25.0])
def test_compiled_sums_equal_logarithms(each_path, scale, forest):
    # many blocks of right states, several slabs, weights that span many exponents
    rng = np.random.default_rng(7)
    weights = random_weights(rng, 15, 21, 1.0, forest)
    weights = weights._replace(hidden_bias=scale * rng.normal(size=15))
    left, right, limits, tables = hidden_states._tables(weights)
    assert tables is not None
    expected_log_z, expected = hidden_states._moments_by_logs(
        weights, left, right, limits
    )
    log_z, moments = partition_moments(weights)
    assert log_z == pytest.approx(expected_log_z, rel=1e-13, abs=1e-12)
    for ours, theirs in zip(moments, expected, strict=True):
        if theirs is not None:
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("forest", [False, True])
def test_weights_that_rise_beyond_the_first_scale(forest):
    # each left state is far heavier than the one before: sums are rescaled on the way
    rng = np.random.default_rng(3)
    weights = random_weights(rng, 8, 9, 1.0, forest)
    for bias in (150.0 * np.arange(8), -150.0 * np.arange(8), np.full(8, 90.0)):
        assert_moments_are_enumerated(weights._replace(hidden_bias=bias), None)


def test_every_field_that_the_compiled_loop_accepts():
    # halves that cancel or add, just inside and just outside the range of the tables
    limit = halves.LARGEST_FIELD
    for size in (0.99 * limit, limit, 1.01 * limit):
        for signs in (np.ones(9), -np.ones(9), np.where(np.arange(9) % 2, 1, -1)):
            components = size * np.array([[1.0], [-1.0]]) * signs
            weights = Weights(components, np.zeros(2), np.zeros(9))
            assert_moments_are_enumerated(weights, None)
            star = np.where(np.arange(9) == 4, -1, 4)
            couplings = np.where(star < 0, 0.0, 3.0 * signs)
            assert_moments_are_enumerated(Weights(*weights[:3], star, couplings), None)


def test_every_ratio_that_the_compiled_loop_accepts(each_path):
    # fields from -size to size around the limit, and from -size to -size / 2
    for size in np.array([0.99, 1.0, 1.01]) * halves.LARGEST_TURNED:
        for signs in (np.ones(9), -np.ones(9), np.where(np.arange(9) % 2, 1, -1)):
            components = size * np.ones((2, 1)) * signs
            weights = Weights(components, np.zeros(2), -size * signs)
            assert_moments_are_enumerated(weights, None)
            halved = weights._replace(components=components / 4)
            assert_moments_are_enumerated(halved, None)


@pytest.mark.parametrize("forest", [False, True])
def test_result_does_not_depend_on_threads(forest):
    weights = random_weights(np.random.default_rng(5), 16, 20, 1.0, forest)
    one, four = (partition_moments(weights, n_jobs=n_jobs) for n_jobs in (1, 4))
    assert one[0] == four[0]
    for ours, theirs in zip(one[1], four[1], strict=True):
        np.testing.assert_array_equal(ours, theirs)


@given(machines(most=4, scales=(0.3, 2.0)))
@settings(max_examples=30, deadline=None)
def test_moments_are_the_gradient(machine):
    weights, max_active = machine
    _, moments = partition_moments(weights, max_active)
    pairs = [
        ("hidden_bias", moments.hidden),
        ("visible_bias", moments.visible),
        ("components", moments.products),
    ]
    if weights.parents is not None:
        pairs.append(("couplings", moments.edges))
    for name, gradient in pairs:
        for index in np.ndindex(gradient.shape):
            values = []
            for step in (1e-5, -1e-5):
                moved = getattr(weights, name).copy()
                moved[index] += step
                values.append(
                    log_partition(weights._replace(**{name: moved}), max_active)
                )
            assert (values[0] - values[1]) / 2e-5 == pytest.approx(
                gradient[index], abs=1e-7
            )


@given(machines())
@settings(max_examples=100, deadline=None)
def test_state_log_weights_and_marginals(machine):
    weights, max_active = machine
    m, n = weights.components.shape
    X, H = every_row(n, -1.0), every_row(m)
    error = rounding(weights)
    np.testing.assert_allclose(
        state_log_weights(weights),
        logsumexp(joint_log_weights(weights, X, H), axis=1),
        rtol=1e-13,
        atol=error,
    )
    biases = np.random.default_rng(m).normal(size=(5, m)) * [
        [0],
        [1],
        [1],
        [30],
        [1000],
    ]
    expected = [
        enumerate_machine(weights._replace(hidden_bias=row), max_active)[0]
        for row in biases
    ]
    ours = log_marginals(weights, biases, max_active)
    np.testing.assert_allclose(ours, expected, rtol=1e-13, atol=error)


@pytest.mark.parametrize("forest", [False, True])
@pytest.mark.parametrize("scale", [1.0, 300.0])
@pytest.mark.parametrize("n", [0, 3, 12])
@pytest.mark.parametrize("max_active", [None, 3])
def test_marginals_of_many_rows(n, scale, forest, max_active, monkeypatch):
    monkeypatch.setattr(hidden_states, "TABLE", 64)  # several tables
    rng = np.random.default_rng(n)
    weights = random_weights(rng, 9, n, scale, forest and n > 0)
    biases = rng.normal(size=(600, 9)) * scale
    ours = log_marginals(weights, biases, max_active, n_jobs=2)
    H = hidden_rows(9, max_active)
    free = weights._replace(hidden_bias=np.zeros(9))
    sums = logsumexp(joint_log_weights(free, every_row(n, -1.0), H), axis=1)
    expected = logsumexp(biases @ H.T + sums, axis=1)
    np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-11)
    assert log_marginals(weights, biases[:0]).shape == (0,)


@given(st.integers(0, 2**32), st.integers(1, 8), st.sampled_from([0.0, 1.0, 1000.0]))
@settings(max_examples=50, deadline=None)
def test_active_sums_by_enumeration(seed, m, scale):
    activations = np.random.default_rng(seed).normal(size=(3, m)) * scale
    for max_active in range(m + 2):
        H = hidden_rows(m, max_active)
        terms = activations @ H.T
        expected = logsumexp(terms, axis=1)
        log_sums, means = log_active_sums(activations, max_active)
        np.testing.assert_allclose(log_sums, expected, rtol=1e-13, atol=1e-12)
        expected_means = np.exp(terms - expected[:, None]) @ H
        np.testing.assert_allclose(means, expected_means, rtol=0, atol=1e-11)


@given(machines(most=6, scales=(0.3, 3.0, 20.0)))
@settings(max_examples=50, deadline=None)
def test_mass_is_one(machine):
    weights, max_active = machine
    m, n = weights.components.shape
    X = every_row(n, -1.0)
    logs = X @ weights.visible_bias
    if weights.parents is not None:
        inside = np.where(weights.parents < 0, 0.0, weights.couplings)
        logs += (X * X[:, weights.parents]) @ inside
    activations = X @ weights.components.T + weights.hidden_bias
    most = m if max_active is None else max_active
    logs += log_active_sums(activations, most)[0] - log_partition(weights, max_active)
    assert np.exp(logs).sum() == pytest.approx(1, abs=1e-12)


def test_many_units_with_few_active():
    weights = random_weights(np.random.default_rng(0), 60, 8, 0.5)
    log_z, moments = partition_moments(weights, 2)
    exact = -np.inf
    for i in range(60):
        for j in range(i, 60):  # i == j stands for one active unit
            units = sorted({i, j})
            field = weights.components[units].sum(0) + weights.visible_bias
            term = np.logaddexp(field, -field).sum() + weights.hidden_bias[units].sum()
            exact = np.logaddexp(exact, term)
    b = weights.visible_bias
    exact = np.logaddexp(exact, np.logaddexp(b, -b).sum())
    assert log_z == pytest.approx(exact, rel=1e-12)
    assert moments.hidden.sum() < 2


def test_few_inputs_allow_any_number_of_units():
    # 2^12 inputs instead of 2^200 hidden states; without weights units are coins
    weights = Weights(np.zeros((200, 12)), np.zeros(200), np.zeros(12))
    log_z, moments = partition_moments(weights)
    assert log_z == pytest.approx(212 * np.log(2), rel=1e-13)
    np.testing.assert_allclose(moments.hidden, 0.5)
    np.testing.assert_allclose(moments.products, 0, atol=1e-14)


def test_a_cycle_is_an_error():
    weights = Weights(
        np.ones((2, 3)), np.ones(2), np.ones(3), np.array([1, 2, 0]), np.ones(3)
    )
    with pytest.raises(ValueError, match="cycle"):
        log_partition(weights)


def test_work_grows_with_the_smaller_side():
    assert work_of(64, 20)[0] == 2**20 * 64
    assert work_of(16, 500)[0] == 2**16 * 500
    assert work_of(16, 20, tree=True)[0] == 2**20 * 16
    assert work_of(64, 45, 1)[0] == 46 * 64


@pytest.mark.parametrize("forest", [False, True])
def test_memory_is_that_of_half_the_units(forest):
    weights = random_weights(np.random.default_rng(2), 18, 100, 0.1, forest)
    partition_moments(weights)
    tracemalloc.start()
    try:
        partition_moments(weights)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # and temporary copies of one table; the means of all states would take 200 MiB
    assert peak < 2 * work_of(100, 18, tree=forest)[1]


def test_slices_are_short(monkeypatch):
    # an interrupt is seen between two calls: none does more than SLICE multiplications
    calls = []
    original = halves.sum_states

    def counted(*args):
        calls.append(1)
        original(*args)

    monkeypatch.setattr(halves, "sum_states", counted)
    weights = random_weights(np.random.default_rng(1), 18, 64, 0.1)
    monkeypatch.setattr(halves, "SLICE", 1 << 16)
    log_z = log_partition(weights)
    assert len(calls) >= 2**18 * 64 >> 16
    monkeypatch.undo()
    assert log_z == log_partition(weights)
