"""Projection pursuit by definition, and as solver and start of the machine."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.density import (
    centres,
    complete_log_likelihood,
    joint_log_density,
    log_density,
    share_active,
)
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import chi2, multivariate_normal

from sklboolean import CombinationMachine, SampledCombinationMachine
from sklboolean.density import GradientAscent
from sklboolean.density._initialization import (
    MIN_ACTIVE,
    Unit,
    count_units,
    em_step,
    expand_samples,
    find_unit,
    log_gains,
    pursue,
    remove_structure,
    unit_with,
)
from sklboolean.density._maximum_likelihood import make_table


def draw_unit(seed, n, scale=1.0, *, centred=False):
    rng = np.random.default_rng(seed)
    return unit_with(scale * rng.normal(size=n), rng.uniform(0.1, 0.9), centred)


def draw_rows(seed, n_samples, n, n_distinct, centred):
    rng = np.random.default_rng(seed)
    rows = rng.choice([-1.0, 1.0], size=(n_distinct, n))[
        rng.integers(n_distinct, size=n_samples)
    ]
    row_weights = rng.integers(1, 4, size=n_samples).astype(float)
    return rows - centred * (row_weights @ rows / row_weights.sum()), row_weights


def planted(n_samples, unit, seed):
    """Return rows of the real-valued machine with one unit."""
    rng = np.random.default_rng(seed)
    active = rng.uniform(size=n_samples) < share_active(unit)
    means = np.array(centres(unit))[active.astype(int)]
    return means + rng.normal(size=means.shape)


def rows_of_blocks(m, length, weight):
    """Return rows of a machine with units on inputs of their own.

    They are independent then, and each is active half of the time.
    """
    components = np.kron(np.eye(m), np.full(length, weight))
    rng = np.random.default_rng(0)
    active = rng.uniform(size=(4000, m)) < 0.5
    probabilities = expit(2 * active @ components)
    return np.where(rng.uniform(size=probabilities.shape) < probabilities, 1, -1)


seeds = st.integers(0, 10**6)


@given(seeds, st.floats(0.1, 4), st.booleans())
def test_log_gains_are_densities_over_the_gaussian(seed, scale, centred):
    unit = draw_unit(seed, 3, scale, centred=centred)
    rows = np.random.default_rng(seed).normal(scale=3, size=(20, 3))
    expected = log_density(rows, unit) - multivariate_normal(np.zeros(3)).logpdf(rows)
    np.testing.assert_allclose(log_gains(rows, unit), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_the_density_of_one_input_integrates_to_one(scale, centred):
    unit = draw_unit(3, 1, scale, centred=centred)

    def density(x):
        gaussian = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
        return np.exp(log_gains(np.array([[x]]), unit)[0]) * gaussian

    total = quad(density, -20, 20, epsabs=1e-12, points=centres(unit), limit=200)[0]
    assert abs(total - 1) < 1e-9


@given(seeds, st.integers(2, 30), st.integers(1, 30), st.booleans())
def test_em_never_lowers_the_likelihood(seed, n_samples, n_distinct, centred):
    rows, row_weights = draw_rows(seed, n_samples, 4, n_distinct, centred)
    unit = unit_with(rows[0] + 0.1, 0.5, centred)
    before = -np.inf
    for _ in range(8):
        unit, _ = em_step(rows, row_weights, unit, centred)
        value = row_weights @ log_gains(rows, unit)
        assert value >= before - 1e-9 * (1 + abs(value))
        before = value


@given(seeds, st.booleans())
@settings(max_examples=20)
def test_em_step_maximises_the_likelihood_of_complete_rows(seed, centred):
    rows, row_weights = draw_rows(seed, 12, 3, 12, centred)
    unit = draw_unit(seed, 3, centred=centred)
    active = expit(rows @ unit.weights + unit.bias)
    found, n_active = em_step(rows, row_weights, unit, centred)
    assert n_active == pytest.approx(row_weights @ active)
    share, edge = share_active(found), 0.5 / row_weights.sum()
    expected = np.clip(n_active / row_weights.sum(), edge, 1 - edge)
    assert share == pytest.approx(expected)
    best = complete_log_likelihood(rows, row_weights, active, found)
    rng = np.random.default_rng(seed)
    for step in (1e-3, 0.1, 1.0):
        weights = found.weights + step * rng.normal(size=3)
        other = expit(logit(share) + step * rng.normal())
        other = unit_with(weights, np.clip(other, edge, 1 - edge), centred)
        value = complete_log_likelihood(rows, row_weights, active, other)
        assert value <= best + 1e-9 * abs(best)


@given(seeds, st.booleans())
def test_removal_moves_rows_along_the_weights_only(seed, centred):
    rows = np.random.default_rng(seed).normal(size=(50, 4))
    unit = draw_unit(seed, 4, 2.0, centred=centred)
    moved = remove_structure(rows, unit, np.random.RandomState(seed)) - rows
    steps = moved @ unit.weights / (unit.weights @ unit.weights)
    np.testing.assert_allclose(moved, steps[:, None] * unit.weights, atol=1e-12)
    shifts = np.array([unit.shift, unit.shift - 1])
    assert np.abs(steps[:, None] - shifts).min(axis=1).max() < 1e-12


@pytest.mark.parametrize("centred", [False, True])
def test_what_is_left_of_a_unit_is_gaussian(centred):
    n_samples, unit = 20_000, draw_unit(5, 3, 1.0, centred=centred)
    rows = planted(n_samples, unit, 1)
    left = remove_structure(rows, unit, np.random.RandomState(2))
    # Means of N(0, 1), of products and of squares; 5 standard errors.
    assert np.abs(left.mean(axis=0)).max() < 5 / np.sqrt(n_samples)
    assert np.abs(np.cov(left.T) - np.eye(3)).max() < 5 * np.sqrt(2 / n_samples)
    along = left @ unit.weights / np.linalg.norm(unit.weights)
    assert abs((along**3).mean()) < 5 * np.sqrt(15 / n_samples)  # E x^6 = 15
    assert abs((along**4).mean() - 3) < 5 * np.sqrt(96 / n_samples)  # E x^8 - 9 = 96


def test_rows_of_an_active_unit_are_moved_to_the_base():
    # At the fixed point of EM w = E(h x) / E(h): E(h (x - w)) = 0, in any rows.
    rng = np.random.default_rng(0)
    rows, row_weights = rng.choice([-1.0, 1.0], size=(400, 6)), rng.uniform(size=400)
    rows[:150] *= 3
    rows[:150, :4] += 2.0
    unit = unit_with(np.array([2.0, 2.0, 2.0, 2.0, 0.0, 0.0]), 0.5, False)
    for _ in range(500):
        unit, _ = em_step(rows, row_weights, unit)
    active = row_weights * expit(rows @ unit.weights + unit.bias)
    assert 1 < active.sum() < row_weights.sum() - 1
    np.testing.assert_allclose(active @ (rows - unit.weights), 0, atol=1e-9)
    # Coins move as many rows: the mean of moved rows is 0 within 5 standard errors.
    probabilities = expit(rows @ unit.weights + unit.bias)
    left = remove_structure(rows, unit, np.random.RandomState(0))
    moved = (left != rows).any(axis=1)
    residue = (row_weights * moved) @ (rows - unit.weights)
    variance = (row_weights**2 * probabilities * (1 - probabilities)) @ (
        rows - unit.weights
    ) ** 2
    assert (np.abs(residue) <= 5 * np.sqrt(variance) + 1e-9).all()


@pytest.mark.parametrize("centred", [False, True])
def test_a_planted_unit_is_found(centred):
    n_samples = 4000
    unit = unit_with(np.array([2.0, -2.0, 2.0, 0.0, 2.0, 0.0]), 0.4, centred)
    rows = planted(n_samples, unit, 3)
    if centred:
        rows -= rows.mean(axis=0)
    found, gain = find_unit(rows, np.ones(n_samples), np.random.RandomState(0), centred)
    # 5 standard errors of means of the two groups; they are told apart nearly surely.
    error = 5 / np.sqrt(0.4 * n_samples) + 5 / np.sqrt(0.6 * n_samples)
    if np.abs(found.weights + unit.weights).max() < error:
        assert centred  # only then may the two groups exchange their roles
        found = found._replace(weights=-found.weights, bias=-found.bias)
        assert abs(share_active(unit) - (1 - found.shift)) < 0.05
    assert np.abs(found.weights - unit.weights).max() < error
    assert gain == pytest.approx(log_gains(rows, unit).mean(), abs=0.02)


def test_orthogonal_units_are_learned_one_by_one_exactly():
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(5, 5)))[0][:3]
    units = [
        unit_with(3 * w, share, False)
        for w, share in zip(directions, (0.2, 0.5, 0.7), strict=True)
    ]
    rows = rng.normal(scale=2, size=(30, 5))
    expected = joint_log_density(rows, units)
    left, total = rows, multivariate_normal(np.zeros(5)).logpdf(rows)
    for unit in units:
        total = total + log_gains(left, unit)
        left = remove_structure(left, unit, np.random.RandomState(0))
    np.testing.assert_allclose(total, expected, rtol=1e-10)
    # Not so when the weights are not orthogonal.
    units[1] = unit_with(units[0].weights + units[1].weights, 0.5, False)
    gaussian = multivariate_normal(np.zeros(5)).logpdf(rows)
    total = gaussian + sum(log_gains(rows, unit) for unit in units)
    assert np.abs(total - joint_log_density(rows, units)).max() > 0.1


@pytest.mark.parametrize("m", [1, 3, 5])
def test_units_of_planted_blocks_are_counted(m):
    rows = rows_of_blocks(m, 8, 1.0)
    found = count_units(
        rows - rows.mean(axis=0), np.ones(4000), 20, np.random.RandomState(0), True
    )
    assert found == m


def test_noise_has_next_to_no_units():
    rows = np.random.default_rng(0).choice([-1.0, 1.0], size=(2000, 20))
    assert count_units(rows, np.ones(2000), 20, np.random.RandomState(0), True) <= 2


def test_rows_of_whole_weight_are_written_out():
    signs = np.array([[1, -1], [1, 1], [1, -1]], dtype=np.int8)
    rows, row_weights = expand_samples(
        make_table(signs, np.array([1.0, 2.0, 1.0])), 4.0
    )
    assert sorted(map(tuple, rows)) == [(1, -1), (1, -1), (1, 1), (1, 1)]
    assert (row_weights == 1).all()
    rows, row_weights = expand_samples(
        make_table(signs, np.array([0.5, 2.0, 1.0])), 3.5
    )
    assert dict(zip(map(tuple, rows), row_weights, strict=True)) == {
        (1, -1): 1.5,
        (1, 1): 2.0,
    }


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize(
    "rows",
    [
        np.ones((1, 3)),
        np.ones((50, 3)),
        np.where(np.eye(3, 40) > 0, 1.0, -1.0),
        np.repeat([[1.0, -1.0, 1.0], [1.0, 1.0, -1.0]], 30, axis=0),
        np.where(np.eye(200, 5) > 0, 1.0, -1.0),
    ],
    ids=["one row", "equal rows", "N < n", "two rows", "constant columns"],
)
def test_degenerate_rows(rows, centred):
    row_weights = np.ones(len(rows))
    for unit in pursue(rows, row_weights, 4, np.random.RandomState(0), centred):
        assert np.isfinite([*unit.weights, unit.bias, unit.shift]).all()
    assert (
        1 <= count_units(rows, row_weights, 4, np.random.RandomState(0), centred) <= 4
    )
    for options in ({"init": "projection_pursuit"}, {"solver": "projection_pursuit"}):
        base = "independent" if centred else "uniform"
        machine = CombinationMachine(
            3, base=base, random_state=0, max_iter=20, alpha=1e-2, **options
        ).fit(rows)
        assert machine.components_.shape == (3, rows.shape[1])
        assert np.isfinite(machine.score_samples(rows)).all()


def test_a_unit_stands_for_five_rows():
    rows = np.zeros((100, 6))
    rows[: MIN_ACTIVE - 1] = 9.0  # a unit for these four alone would be most likely
    for seed in range(5):
        unit, _ = find_unit(rows, np.ones(100), np.random.RandomState(seed))
        assert (
            unit is None or expit(rows @ unit.weights + unit.bias).sum() >= MIN_ACTIVE
        )


def test_a_unit_without_rows_stays():
    unit = Unit(np.array([1.0, 0.0]), -1e6)
    assert em_step(np.ones((3, 2)), np.ones(3), unit) == (unit, 0.0)


def test_the_machine_counts_planted_units():
    rows = rows_of_blocks(3, 8, 1.0)
    for options in ({"init": "projection_pursuit"}, {"solver": "projection_pursuit"}):
        machine = CombinationMachine("auto", random_state=0, **options).fit(rows)
        assert machine.n_components_ == len(machine.components_) == 3
        again = CombinationMachine("auto", random_state=0, **options).fit(rows)
        np.testing.assert_array_equal(machine.components_, again.components_)


def test_refit_keeps_directions_and_climbs():
    rows = rows_of_blocks(3, 4, 2.0)
    machine = CombinationMachine(
        3, solver="projection_pursuit", n_init=1, alpha=0.0, random_state=0
    ).fit(rows)
    start = CombinationMachine(
        3, init="projection_pursuit", solver=GradientAscent(1e-12), max_iter=1,
        n_init=1, random_state=0,
    ).fit(rows)  # fmt: skip
    lengths = np.linalg.norm(machine.components_, axis=1)
    cosines = (machine.components_ * start.components_).sum(axis=1) / lengths
    np.testing.assert_allclose(
        np.abs(cosines), np.linalg.norm(start.components_, axis=1), rtol=1e-6
    )
    assert (np.diff(machine.log_likelihoods_) >= -1e-9).all()
    assert machine.score(rows) > start.score(rows)


def test_without_sums_the_units_stay_as_they_were_found():
    rows = rows_of_blocks(2, 5, 1.0)
    machine = CombinationMachine(2, solver="projection_pursuit", random_state=0)
    refitted = machine.fit(rows).components_
    machine = SampledCombinationMachine(
        2, init="projection_pursuit", max_iter=0, random_state=0
    )
    machine._exact_limit = 1
    raw = machine.fit(rows).components_
    cosines = (raw * refitted).sum(axis=1) / (
        np.linalg.norm(raw, axis=1) * np.linalg.norm(refitted, axis=1)
    )
    np.testing.assert_allclose(cosines, 1.0)
    assert not np.allclose(raw, refitted)
    assert machine.n_iter_ == 0
    forward, reverse = machine.log_partition_bounds_
    assert forward != reverse
    with pytest.warns(UserWarning, match="an estimate"):
        machine.score(rows[:10])


def test_refit_of_given_directions_finds_the_truth():
    # The directions of the planted blocks: only scales and biases are to be found.
    rows = rows_of_blocks(3, 8, 1.5)
    components = np.kron(np.eye(3), np.ones(8))
    machine = CombinationMachine(
        3, init=components, solver="projection_pursuit", alpha=0.0, base="uniform"
    ).fit(rows)
    truth = CombinationMachine(3, init=components, alpha=0.0, base="uniform")
    truth.fit(rows)
    # Wilks: twice the gain of 72 - 3 more weights, over all rows, is like chi2(69).
    gain = truth.score(rows) - machine.score(rows)
    assert 0 < 2 * len(rows) * gain < chi2(69).isf(1e-6)
    scales = machine.components_[components > 0].reshape(3, 8)
    assert np.abs(scales - 1.5).max() < 0.2


def test_auto_is_refused_where_no_likelihood_is_compared():
    with pytest.raises(ValueError, match="n_components"):
        CombinationMachine("auto", init=np.ones((1, 2))).fit([[0, 1], [1, 0]])
    machine = SampledCombinationMachine("auto")
    for learn in (machine.fit, machine.partial_fit):
        with pytest.raises(ValueError, match="'auto' needs init='projection_pursuit'"):
            learn([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="init"):
        CombinationMachine(2, init="best").fit([[0, 1], [1, 0]])
