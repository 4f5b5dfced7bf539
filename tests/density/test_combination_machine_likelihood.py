"""The likelihood, its gradient and conditionals against sums over everything."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from oracles.density import (
    agreeing,
    all_inputs,
    all_joint_log_weights,
    conditional,
    distribution,
    draw_weights,
)
from scipy.special import expit, logsumexp
from scipy.stats import chi2
from sklboolean.density._bit_sums import sum_bits

from sklboolean import CombinationMachine
from sklboolean.density import GradientAscent, _maximum_likelihood
from sklboolean.density import _conditionals as conditionals
from sklboolean.density._machine import MachineState
from sklboolean.density._maximum_likelihood import (
    bit_tables,
    coupling_gains,
    edge_means,
    make_table,
    mean_log_likelihood,
    sum_posteriors,
    with_new_tree,
)
from sklboolean.density._partition_function import log_partition
from sklboolean.density._rbm_params import (
    Coordinates,
    RBMParams,
    hidden_posteriors,
    log_numerators,
)

machines = st.builds(
    draw_weights,
    st.integers(0, 10**6),
    st.integers(1, 5),
    st.integers(1, 6),
    tree=st.booleans(),
    scale=st.sampled_from([0.1, 1.0, 5.0]),
)
limits = st.sampled_from([None, 1, 2])


@given(machines, limits)
def test_numerators_and_partition_are_the_sums(weights, max_active):
    _, _, scores = all_joint_log_weights(weights, max_active)
    rows = all_inputs(len(weights.visible_bias))
    weights = weights.replace(max_active=max_active)
    found = log_numerators(weights, rows)
    np.testing.assert_allclose(found, logsumexp(scores, axis=1), atol=1e-10)
    log_z = log_partition(weights)
    assert np.exp(found - log_z).sum() == pytest.approx(1, abs=1e-12)


@given(machines, limits)
def test_hidden_posteriors_are_those_of_bayes(weights, max_active):
    inputs, states, scores = all_joint_log_weights(weights, max_active)
    activations = inputs @ weights.components.T + weights.hidden_bias
    posterior = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    found = hidden_posteriors(activations, max_active)[1]
    np.testing.assert_allclose(found, posterior @ states, atol=1e-10)


def test_hidden_posteriors_of_many_or_extreme_units():
    activations = np.random.default_rng(0).normal(size=(3, 1500))
    log_sums, _ = hidden_posteriors(activations)
    np.testing.assert_allclose(log_sums, np.logaddexp(0, activations).sum(axis=1))
    log_sums, means = hidden_posteriors(np.array([[1e6, -1e6, 0.0]]))
    assert log_sums == pytest.approx(1e6 + np.log(2))
    np.testing.assert_array_equal(means, [[1, 0, 0.5]])


@given(
    st.integers(0, 10**6),
    st.integers(1, 40),
    st.integers(1, 20),
    st.sampled_from([0.01, 1.0, 30.0, 1000.0]),
)
def test_sums_over_packed_bits_are_those_over_signs(seed, n, m, scale):
    rng = np.random.default_rng(seed)
    signs, weights = rng.choice([-1.0, 1.0], size=(50, n)), rng.random(50)
    shapes = (m, n), (m,), (n,)
    params = RBMParams(*(rng.normal(scale=scale, size=shape) for shape in shapes))
    activations = signs @ params.components.T + params.hidden_bias
    expected = weights @ np.logaddexp(0, activations).sum(axis=1)
    means = weights[:, None] * expit(activations)
    given = [signs, signs.astype(np.int8), np.packbits(signs > 0, axis=1)]
    for samples in given:
        value, hidden, products = sum_posteriors(params, samples, weights)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(hidden, means.sum(axis=0), rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(products, means.T @ signs, rtol=1e-9, atol=1e-12)


def test_sums_over_packed_bits_have_the_same_bits_on_all_paths_and_threads(cpu_paths):
    rng = np.random.default_rng(0)
    samples = rng.integers(0, 256, (5000, 3), dtype=np.uint8)
    weights, shapes = rng.random(5000), ((20, 21), (20,), (21,))
    params = RBMParams(*(rng.normal(scale=3, size=shape) for shape in shapes))
    found = []
    for _ in cpu_paths():
        for n_jobs in (1, 2):
            with parallel_config(n_jobs=n_jobs):
                found.append(sum_posteriors(params, samples, weights))
    for sums in found[1:]:
        for one, other in zip(found[0], sums, strict=True):
            np.testing.assert_array_equal(one, other)


def test_sums_over_packed_bits_check_shapes():
    biases, tables = bit_tables(RBMParams(np.ones((3, 9)), np.ones(3), np.ones(9)), 2)
    bits, weights, room = np.zeros((4, 2), np.uint8), np.ones(4), np.empty(8)
    sums = [np.zeros_like(tables), np.zeros_like(biases), room]
    sum_bits(bits, weights, biases, tables, *sums)
    for changed in (bits[:, :1].copy(), np.zeros((4, 3), np.uint8), bits[:3].copy()):
        with pytest.raises(ValueError, match="do not fit"):
            sum_bits(changed, weights, biases, tables, *sums)
    with pytest.raises(ValueError, match="do not fit"):
        sum_bits(bits, weights, biases, tables, *sums[:2], room[:7].copy())


def draw_table(seed, n, n_samples=30):
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1, 1], size=(n_samples, n)).astype(np.int8)
    weights = rng.integers(0, 3, n_samples).astype(float)
    weights[0] = 1.0
    return signs, weights


@given(st.integers(0, 10**6), st.integers(1, 20))
def test_table_merges_equal_rows(seed, n):
    signs, weights = draw_table(seed, n)
    signs[5:12] = signs[4]
    table = make_table(signs, weights)
    assert len(np.unique(table.samples, axis=0)) == len(table.samples)
    assert table.shares.min() > 0
    for row, share in zip(table.samples, table.shares, strict=True):
        same = (signs == row).all(axis=1)
        assert share == pytest.approx(weights[same].sum() / weights.sum())
    assert table.shares.sum() == pytest.approx(1)
    np.testing.assert_allclose(
        table.means, np.average(signs, axis=0, weights=weights), atol=1e-14
    )


def test_table_does_not_depend_on_the_order_of_rows():
    signs, weights = draw_table(0, 4)
    order = np.random.default_rng(1).permutation(len(signs))
    for a, b in zip(
        make_table(signs, weights),
        make_table(signs[order], weights[order]),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


@given(machines, limits, st.booleans(), st.integers(0, 10**6))
def test_gradient_is_that_of_the_enumerated_likelihood(
    weights, max_active, visible_bias, seed
):
    n = weights.components.shape[1]
    signs, row_weights = draw_table(seed, n)
    table = make_table(signs, row_weights)
    weights = weights.replace(max_active=max_active)
    coordinates = Coordinates.of(weights, table.means, visible_bias)
    vector = coordinates.to_vector(weights)
    if not visible_bias:
        weights = weights.replace(visible_bias=np.zeros(n))
    found = coordinates.to_params(vector)
    for name, part in vars(weights).items():
        if part is not None:
            np.testing.assert_allclose(getattr(found, name), part, atol=1e-12)
    index = (signs > 0) @ 2 ** np.arange(n)[::-1]

    def by_enumeration(vector):
        scores = all_joint_log_weights(coordinates.to_params(vector), max_active)[2]
        rows = logsumexp(scores, axis=1)
        return np.average(rows[index], weights=row_weights) - logsumexp(rows)

    edges = None if weights.parents is None else edge_means(table, weights.parents)
    value, gradient, log_z = mean_log_likelihood(weights, table, edges)
    assert log_z == pytest.approx(log_partition(weights))
    assert value == pytest.approx(by_enumeration(vector), abs=1e-9)
    slope = coordinates.to_gradient(gradient)
    step = 1e-6
    expected = np.array(
        [
            (
                by_enumeration(vector + step * unit)
                - by_enumeration(vector - step * unit)
            )
            / (2 * step)
            for unit in np.eye(len(vector))
        ]
    )
    if weights.parents is not None:  # a root's coupling takes no part
        expected[-n:] = np.where(weights.parents < 0, 0.0, expected[-n:])
    np.testing.assert_allclose(slope, expected, atol=1e-5)


def test_gradient_does_not_depend_on_threads():
    weights = draw_weights(0, 4, 30, tree=True)
    signs, _ = draw_table(1, 30, n_samples=5000)
    table = make_table(signs)
    edges = edge_means(table, weights.parents)
    one = mean_log_likelihood(weights, table, edges)
    with parallel_config(n_jobs=2):
        two = mean_log_likelihood(weights, table, edges)
    assert one[0] == two[0]
    for a, b in zip(one[1], two[1], strict=True):
        np.testing.assert_array_equal(a, b)


def test_turning_a_unit_around_keeps_the_machine():
    weights = draw_weights(3, 3, 4)
    coordinates = Coordinates(3, np.full(4, 0.3), True, None)
    vector = coordinates.to_vector(weights)
    turned = vector.copy()
    turned[:4] *= -1  # the first unit's components
    turned[12] *= -1  # and its bias
    np.testing.assert_allclose(
        distribution(coordinates.to_params(turned)), distribution(weights), atol=1e-14
    )


def draw_gaps(seed, n, n_samples=12):
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1, 1], size=(n_samples, n)).astype(np.int8)
    signs[rng.random(signs.shape) < rng.random()] = 0
    return signs


@pytest.fixture(params=["the fewer", "hidden states", "inputs"])
def way(request, monkeypatch):
    """Sums over what is less work, and each way on its own."""
    if request.param != "the fewer":
        chosen = request.param == "inputs"
        monkeypatch.setattr(
            conditionals.MissingGroup, "sums_over_inputs", lambda group: chosen
        )


@pytest.mark.parametrize("max_active", [None, 1, 2])
@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.usefixtures("way")
def test_marginals_and_means_are_those_of_enumeration(max_active, tree):
    for seed in range(8):
        weights = draw_weights(seed, 1 + seed % 4, 2 + seed % 5, tree=tree)
        signs = draw_gaps(seed, 2 + seed % 5)
        probabilities = distribution(weights, max_active)
        log_z = logsumexp(all_joint_log_weights(weights, max_active)[2])
        weights = weights.replace(max_active=max_active)
        sums = conditionals.log_sums_of_known(weights, signs) - log_z
        expected = [np.log(probabilities[agreeing(row)].sum()) for row in signs]
        np.testing.assert_allclose(sums, expected, atol=1e-10)
        means = [
            conditional(probabilities, row) @ all_inputs(len(row)) for row in signs
        ]
        filled = conditionals.complete_by_means(weights, signs)
        np.testing.assert_allclose(filled, means, atol=1e-10)


@given(machines, limits)
def test_log_odds_are_those_of_flips(weights, max_active):
    rows = all_inputs(len(weights.visible_bias))
    weights = weights.replace(max_active=max_active)
    odds = conditionals.known_log_odds(weights, rows)
    for column in range(rows.shape[1]):
        up, down = rows.copy(), rows.copy()
        up[:, column], down[:, column] = 1, -1
        expected = log_numerators(weights, up)
        expected -= log_numerators(weights, down)
        np.testing.assert_allclose(odds[:, column], expected, atol=1e-9)


def machine_of(params):
    """Build a fitted machine from its parameters."""
    machine = CombinationMachine(len(params.components))
    machine.n_features_in_, machine.codes_ = (
        params.components.shape[1],
        np.array([0, 1]),
    )
    machine._set_state(MachineState(params))
    return machine


@given(machines, limits, st.integers(0, 10**6))
def test_most_probable_completion_is_the_best_of_all(weights, max_active, seed):
    signs = draw_gaps(seed, len(weights.visible_bias))
    probabilities = distribution(weights, max_active)
    machine = machine_of(weights.replace(max_active=max_active))
    filled = machine._complete_by_most_probable(signs)
    index = (filled > 0) @ 2 ** np.arange(signs.shape[1])[::-1]
    for row, found in zip(signs, index, strict=True):
        assert agreeing(row)[found]
        best = probabilities[agreeing(row)].max()
        assert probabilities[found] == pytest.approx(best, rel=1e-9)


def test_completion_of_many_bits_is_a_local_maximum_and_says_so():
    weights = draw_weights(5, 4, 20, tree=True)
    signs = np.zeros((2, 20), dtype=np.int8)
    signs[0, 0] = 1
    with pytest.warns(UserWarning, match="In 2 samples .* too many"):
        filled = machine_of(weights)._complete_by_most_probable(signs)
    assert filled[0, 0] == 1
    odds = conditionals.known_log_odds(weights, filled)
    assert (filled * odds > 0)[signs == 0].all()


CHI_SQUARE_LEVEL = 1e-6  # of a false alarm, for each of the tables below


def assert_drawn_from(numbers, probabilities):
    """Pearson's test; values that are expected less than five times are merged."""
    expected = probabilities * len(numbers)
    counts = np.bincount(numbers, minlength=len(probabilities)).astype(float)
    rare = expected < 5
    expected = np.append(expected[~rare], expected[rare].sum())
    counts = np.append(counts[~rare], counts[rare].sum())
    kept = expected > 0
    assert counts[~kept].sum() == 0
    statistic = ((counts - expected)[kept] ** 2 / expected[kept]).sum()
    assert statistic < chi2.isf(CHI_SQUARE_LEVEL, max(1, kept.sum() - 1))


@pytest.mark.parametrize("max_active", [None, 1])
@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.usefixtures("way")
def test_draws_follow_the_conditional_distribution(tree, max_active):
    weights = draw_weights(7, 3, 5, tree=tree)
    probabilities = distribution(weights, max_active)
    powers = 2 ** np.arange(5)[::-1]
    for known in ([0, 0, 0, 0, 0], [0, 1, 0, -1, 0]):
        signs = np.tile(np.array(known, dtype=np.int8), (20000, 1))
        rng = np.random.RandomState(0)
        limited = weights.replace(max_active=max_active)
        drawn = conditionals.complete_at_random(limited, signs, rng)
        assert (drawn[:, signs[0] != 0] == signs[:, signs[0] != 0]).all()
        assert_drawn_from((drawn > 0) @ powers, conditional(probabilities, signs[0]))


def test_a_wrong_distribution_would_be_seen():
    probabilities = distribution(draw_weights(7, 3, 5))
    numbers = np.random.default_rng(0).choice(32, 20000, p=probabilities)
    assert_drawn_from(numbers, probabilities)
    with pytest.raises(AssertionError):
        assert_drawn_from(numbers, probabilities**0.9 / (probabilities**0.9).sum())


def test_reconstruction_error_is_the_code_length_given_the_likeliest_state():
    for tree, max_active in [(False, None), (True, None), (True, 1)]:
        weights = draw_weights(2, 3, 5, tree=tree)
        inputs, _, scores = all_joint_log_weights(weights, max_active)
        likeliest = scores.argmax(axis=1)
        given_state = scores[np.arange(len(inputs)), likeliest]
        given_state = given_state - logsumexp(scores, axis=0)[likeliest]
        expected = -given_state.mean() / (5 * np.log(2))
        limited = weights.replace(max_active=max_active)
        found = conditionals.reconstruction_error(limited, inputs.astype(np.int8))
        assert found == pytest.approx(expected, abs=1e-12)


# Trees


def test_gain_of_an_edge_is_that_of_fitting_the_pair():
    # Two independent bits in the machine, dependent ones in the table: the edge alone
    # can make the pair right, and gains its mutual information.
    seen = np.array([[0.4, 0.1], [0.1, 0.4]])[:, :, None, None] * np.ones((2, 2, 2, 2))
    apart = np.full((2, 2, 2, 2), 0.25)
    gains = coupling_gains(seen, apart, np.zeros((2, 2)))
    information = 0.8 * np.log(1.6) + 0.2 * np.log(0.4)
    np.testing.assert_allclose(gains, information)
    # A machine that has the edge already: without it, it is the other machine.
    coupling = np.log(0.4 / 0.1) / 2
    again = coupling_gains(seen, seen, np.full((2, 2), coupling))
    np.testing.assert_allclose(again, information)


def test_new_tree_links_what_depends():
    rng = np.random.default_rng(0)
    signs = rng.choice([-1, 1], size=(3000, 4)).astype(np.int8)
    flipped = rng.random(3000) < 0.1
    signs[:, 3] = np.where(flipped, -signs[:, 1], signs[:, 1])
    table = make_table(signs)
    chain = np.array([-1, 0, 1, 2])
    weights = RBMParams(np.zeros((1, 4)), np.zeros(1), np.zeros(4), chain, np.zeros(4))
    renewed = with_new_tree(weights, table, 3000, np.random.RandomState(0))
    edges = {frozenset(edge) for edge in enumerate(renewed.parents)}
    assert frozenset([1, 3]) in edges
    assert not renewed.couplings.any()
    again = with_new_tree(renewed, table, 3000, np.random.RandomState(0))
    assert again is renewed


@pytest.mark.parametrize(("max_iter", "expected"), [(20, 0), (50, 0), (51, 1)])
def test_no_tree_is_made_where_no_iteration_is_left_for_it(
    monkeypatch, max_iter, expected
):
    """50 iterations come before the first new tree; `max_iter` counts all of them."""
    made = []

    def count(*arguments):
        made.append(arguments)
        return with_new_tree(*arguments)

    monkeypatch.setattr(_maximum_likelihood, "with_new_tree", count)
    rows = np.random.default_rng(0).integers(0, 2, (40, 5))
    machine = CombinationMachine(
        2, base="chow_liu", solver=GradientAscent(tol=0.0), n_init=1,
        max_iter=max_iter, random_state=0,
    )  # fmt: skip
    machine.fit(rows)
    assert len(made) == expected
    assert machine.n_iter_ == max_iter
