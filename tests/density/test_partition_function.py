"""The sum over hidden states against enumeration of inputs and hidden states."""

import tracemalloc
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from oracles.density import enumerate_machine, every_row, hidden_rows, joint_log_weights
from scipy.special import logsumexp
from sklboolean._core._cpu import available_cpu_paths, cpu_path, use_cpu_path

from sklboolean.density import _partition_function as partition_function
from sklboolean.density import _state_sums as state_sums
from sklboolean.density._partition_function import (
    hidden_log_weights,
    log_marginals,
    log_partition,
    partition_moments,
)
from sklboolean.density._rbm_params import RBMParams, hidden_posteriors


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
    return RBMParams(draw(m, n), draw(m), draw(n), parents, couplings)


def rounding(weights):
    """Log weights are sums of this size: what float64 leaves uncertain in them."""
    names = ("components", "hidden_bias", "visible_bias", "couplings")
    parts = [getattr(weights, name) for name in names]
    parts = [np.abs(part).sum() for part in parts if part is not None]
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


def assert_moments_are_enumerated(weights, max_active):
    expected_log_z, *expected = enumerate_machine(weights, max_active)
    weights = weights.replace(max_active=max_active)
    log_z, moments = partition_moments(weights)
    error = rounding(weights)
    assert log_z == pytest.approx(expected_log_z, rel=1e-13, abs=error)
    assert log_partition(weights) == pytest.approx(log_z, rel=1e-14)
    for ours, theirs in zip(moments, expected, strict=True):
        if theirs is None:
            assert ours is None
        else:
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=error)


@given(machines())
@settings(max_examples=300)
def test_partition_and_moments_by_enumeration(machine):
    assert_moments_are_enumerated(*machine)


@pytest.mark.parametrize("forest", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (3, 10), (10, 9), (10, 10), (9, 4), (10, 1)])
@pytest.mark.parametrize("max_active", [None, 0, 2])
def test_every_cpu_path_by_enumeration(each_path, shape, forest, max_active):
    rng = np.random.default_rng(shape)
    weights = random_weights(rng, *shape, 1.0, forest)
    assert_moments_are_enumerated(weights, max_active)


def moments_by_logarithms(weights):
    """Sum over all hidden states in one block, with the logarithm of each weight."""
    states = state_sums.unit_states(len(weights.hidden_bias))
    logs, fields = partition_function.log_sums_over_inputs(weights, states)
    log_z = logsumexp(logs)
    shares = np.exp(logs - log_z)
    inputs, pairs = partition_function.input_means(weights, fields)
    products = (shares[:, None] * states).T @ inputs
    edges = None if pairs is None else shares @ pairs
    return log_z, (shares @ states, shares @ inputs, products, edges)


@cache
def wide_machine(scale, forest):
    """A machine of 15 units, and its moments."""
    rng = np.random.default_rng(7)
    weights = random_weights(rng, 15, 21, 1.0, forest)
    weights = weights.replace(hidden_bias=scale * rng.normal(size=15))
    return weights, moments_by_logarithms(weights)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("forest", [False, True])
@pytest.mark.parametrize("scale", [0.0, 5.0, 25.0])
def test_compiled_sums_equal_logarithms(each_path, scale, forest, wide, monkeypatch):
    # many blocks of right states, several slabs, weights that span many exponents
    weights, (expected_log_z, expected) = wide_machine(scale, forest)
    if wide:
        monkeypatch.setattr(state_sums, "MAX_LOG_RATIO", -1.0)
        monkeypatch.setattr(state_sums, "MAX_FIELD", -1.0)
    assert partition_function._half_tables(weights)[2].wide == wide
    log_z, moments = partition_moments(weights)
    assert log_z == pytest.approx(expected_log_z, rel=1e-13, abs=1e-12)
    for ours, theirs in zip(moments, expected, strict=True):
        if theirs is not None:
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("coupling", [0.01, 0.3, 3.0])
def test_a_parent_of_many_children(each_path, coupling):
    # each child multiplies both factors of its parent; signs of couplings alternate
    rng = np.random.default_rng(0)
    n, m = 2000, 3
    parents = np.where(np.arange(n) == 7, -1, 7)
    couplings = np.where(parents < 0, 0.0, coupling * (-1) ** np.arange(n))
    weights = RBMParams(
        rng.normal(size=(m, n)), rng.normal(size=m), rng.normal(size=n), parents,
        couplings,
    )  # fmt: skip
    assert partition_function._half_tables(weights)[2].wide == (coupling >= 0.3)
    expected_log_z, expected = moments_by_logarithms(weights)
    log_z, moments = partition_moments(weights)
    assert log_z == pytest.approx(expected_log_z, rel=1e-13)
    for ours, theirs in zip(moments, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-11)


@pytest.mark.parametrize("value", [1e13, np.nan])
def test_weights_beyond_any_sum_are_refused(value):
    weights = RBMParams(np.full((2, 3), value), np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match=r"add up to more than 1e\+12"):
        log_partition(weights)


@pytest.mark.parametrize("size", [300.0, 1e6])
@pytest.mark.parametrize("forest", [False, True])
def test_forces_that_cancel(each_path, size, forest):
    # the fields of an input, and the pulls of its neighbours, are large and opposed
    parents = np.array([-1, 0, 0, 1, 2, 2, -1])
    couplings = np.where(parents < 0, 0.0, size * np.array([0, 1, -1, 3, 1, -2, 0]))
    rng = np.random.default_rng(3)
    tree = (parents, couplings) if forest else ()
    for _ in range(20):
        fields = size * rng.integers(-2, 3, (4, 7)) + rng.normal(size=(4, 7))
        weights = RBMParams(fields, rng.normal(size=4), -fields.sum(0) / 2, *tree)
        assert_moments_are_enumerated(weights, None)


@pytest.mark.parametrize("forest", [False, True])
def test_weights_that_rise_beyond_the_first_scale(forest):
    # each left state is far heavier than the one before: sums are rescaled on the way
    rng = np.random.default_rng(3)
    weights = random_weights(rng, 8, 9, 1.0, forest)
    for bias in (150.0 * np.arange(8), -150.0 * np.arange(8), np.full(8, 90.0)):
        assert_moments_are_enumerated(weights.replace(hidden_bias=bias), None)


def test_every_field_that_the_compiled_loop_accepts():
    # halves that cancel or add, just inside and just outside the range of the tables
    limit = state_sums.MAX_FIELD
    for size in (0.99 * limit, limit, 1.01 * limit, 3 * limit):
        for signs in (np.ones(9), -np.ones(9), np.where(np.arange(9) % 2, 1, -1)):
            components = size * np.array([[1.0], [-1.0]]) * signs
            weights = RBMParams(components, np.zeros(2), np.zeros(9))
            assert_moments_are_enumerated(weights, None)
            star = np.where(np.arange(9) == 4, -1, 4)
            couplings = np.where(star < 0, 0.0, 3.0 * signs)
            weights = weights.replace(parents=star, couplings=couplings)
            assert_moments_are_enumerated(weights, None)


def test_every_ratio_that_the_compiled_loop_accepts(each_path):
    # fields from -size to size around the limit, and from -size to -size / 2
    for size in np.array([0.99, 1.0, 1.01]) * state_sums.MAX_AGAINST_SIGN:
        for signs in (np.ones(9), -np.ones(9), np.where(np.arange(9) % 2, 1, -1)):
            components = size * np.ones((2, 1)) * signs
            weights = RBMParams(components, np.zeros(2), -size * signs)
            assert_moments_are_enumerated(weights, None)
            halved = weights.replace(components=components / 4)
            assert_moments_are_enumerated(halved, None)


@pytest.mark.parametrize("forest", [False, True])
def test_result_does_not_depend_on_threads(forest):
    weights = random_weights(np.random.default_rng(5), 16, 20, 1.0, forest)
    one = partition_moments(weights)
    with parallel_config(n_jobs=4):
        four = partition_moments(weights)
    assert one[0] == four[0]
    for ours, theirs in zip(one[1], four[1], strict=True):
        np.testing.assert_array_equal(ours, theirs)


@given(machines())
@settings(max_examples=100)
def test_hidden_log_weights_and_marginals(machine):
    weights, max_active = machine
    m, n = weights.components.shape
    X, H = every_row(n, -1.0), every_row(m)
    error = rounding(weights)
    np.testing.assert_allclose(
        hidden_log_weights(weights),
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
        enumerate_machine(weights.replace(hidden_bias=row), max_active)[0]
        for row in biases
    ]
    ours = log_marginals(weights.replace(max_active=max_active), biases)
    np.testing.assert_allclose(ours, expected, rtol=1e-13, atol=error)


@pytest.mark.parametrize("forest", [False, True])
@pytest.mark.parametrize("scale", [1.0, 300.0])
@pytest.mark.parametrize("n", [0, 3, 12])
@pytest.mark.parametrize("max_active", [None, 3])
def test_marginals_of_many_rows(n, scale, forest, max_active, monkeypatch):
    monkeypatch.setattr(partition_function, "MAX_TABLE", 64)  # several tables
    rng = np.random.default_rng(n)
    weights = random_weights(rng, 9, n, scale, forest and n > 0)
    biases = rng.normal(size=(200, 9)) * scale
    limited = weights.replace(max_active=max_active)
    with parallel_config(n_jobs=2):
        ours = log_marginals(limited, biases)
    H = hidden_rows(9, max_active)
    free = weights.replace(hidden_bias=np.zeros(9))
    sums = logsumexp(joint_log_weights(free, every_row(n, -1.0), H), axis=1)
    expected = logsumexp(biases @ H.T + sums, axis=1)
    np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-11)
    assert log_marginals(weights, biases[:0]).shape == (0,)


@given(st.integers(0, 2**32), st.integers(1, 8), st.sampled_from([0.0, 1.0, 1000.0]))
def test_active_sums_by_enumeration(seed, m, scale):
    activations = np.random.default_rng(seed).normal(size=(3, m)) * scale
    for max_active in range(m + 2):
        H = hidden_rows(m, max_active)
        terms = activations @ H.T
        expected = logsumexp(terms, axis=1)
        log_sums, means = hidden_posteriors(activations, max_active)
        np.testing.assert_allclose(log_sums, expected, rtol=1e-13, atol=1e-12)
        expected_means = np.exp(terms - expected[:, None]) @ H
        np.testing.assert_allclose(means, expected_means, rtol=0, atol=1e-11)


@given(machines(most=6, scales=(0.3, 3.0, 20.0)))
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
    limited = weights.replace(max_active=max_active)
    logs += hidden_posteriors(activations, most)[0] - log_partition(limited)
    assert np.exp(logs).sum() == pytest.approx(1, abs=1e-12)


def test_many_units_with_few_active():
    weights = random_weights(np.random.default_rng(0), 60, 8, 0.5)
    log_z, moments = partition_moments(weights.replace(max_active=2))
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
    weights = RBMParams(np.zeros((200, 12)), np.zeros(200), np.zeros(12))
    log_z, moments = partition_moments(weights)
    assert log_z == pytest.approx(212 * np.log(2), rel=1e-13)
    np.testing.assert_allclose(moments.hidden, 0.5)
    np.testing.assert_allclose(moments.products, 0, atol=1e-14)


def test_a_cycle_is_an_error():
    weights = RBMParams(
        np.ones((2, 3)), np.ones(2), np.ones(3), np.array([1, 2, 0]), np.ones(3)
    )
    with pytest.raises(ValueError, match="cycle"):
        log_partition(weights)


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
    # of half the states two tables, the left means and eight right ones, and copies;
    # the means of all states would take 200 MiB
    assert peak < 2 * 104 * 2**9 * 100


def test_slices_are_short(monkeypatch):
    # an interrupt is seen between two calls, each of up to MAX_WORK multiplications
    calls = []
    original = state_sums.sum_states

    def counted(*args):
        calls.append(1)
        original(*args)

    monkeypatch.setattr(state_sums, "sum_states", counted)
    weights = random_weights(np.random.default_rng(1), 18, 64, 0.1)
    monkeypatch.setattr(state_sums, "MAX_WORK", 1 << 16)
    log_z = log_partition(weights)
    assert len(calls) >= 2**18 * 64 >> 16
    monkeypatch.undo()
    assert log_z == log_partition(weights)
