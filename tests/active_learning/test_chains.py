"""Chains over halfspaces against posteriors that are exact or drawn by rejection."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.active_learning import (
    double_cone_gain,
    information_gain,
    orthant_probability,
    plane_acceptance,
    plane_cells,
    rejection_sample,
)
from scipy.stats import chisquare, kstest, truncnorm

from sklboolean.active_learning import HalfspaceVersionSpace, _posterior_sampling
from sklboolean.active_learning._posterior_sampling import (
    draw_beyond,
    draw_on_line,
    interior_direction,
    meets_cone,
    systematic_indices,
)

with_and_without_noise = pytest.mark.parametrize("label_noise", [0.0, 0.15])


def angles(*degrees):
    radians = np.deg2rad(np.array(degrees, dtype=float))
    return np.column_stack([np.cos(radians), np.sin(radians)])


def chains(n_chains=4000, n_steps=60, **parameters):
    return HalfspaceVersionSpace(
        fit_intercept=False, sampler="elliptical_slice", n_chains=n_chains,
        n_steps=n_steps, random_state=0, **parameters,
    )  # fmt: skip


def standard_errors(probabilities, n_chains):
    """Five of them: one in two million of independent chains strays as far.

    In four dimensions at most, sixty steps leave no correlation to speak of between a
    chain and the ancestor that it shares with others (`test_steps_forget`).
    """
    return 5 * np.sqrt(probabilities * (1 - probabilities) / n_chains) + 1e-12


@with_and_without_noise
def test_wedge_of_the_plane(label_noise):
    rows, labels = angles(0, 50, -70), [True, True, False]
    queries = angles(*range(5, 360, 17))
    space = chains(label_noise=label_noise).update(rows, labels)
    exact = plane_acceptance(rows, labels, queries, label_noise)
    error = np.abs(space.predict_proba(queries)[:, 1] - exact)
    assert np.all(error <= standard_errors(exact, 4000))


def test_one_label_leaves_half_a_turn():
    """A row at an angle t to the labelled one is accepted with 1 - t / 180."""
    space = chains().update(angles(0), [True])
    share = 1 - np.array([10, 60, 90, 150]) / 180
    error = np.abs(space.predict_proba(angles(10, 60, 90, 150))[:, 1] - share)
    assert np.all(error <= standard_errors(share, 4000))


@with_and_without_noise
def test_directions_fill_the_cells_of_an_arrangement(label_noise):
    rows, labels = angles(10, 40, 95, -30), [True, True, False, True]
    others = angles(0, 20, 45, 60, 75, 88)
    space = chains(label_noise=label_noise).update(rows, labels)
    mass, middles = plane_cells(rows, labels, others, label_noise)
    lines = np.concatenate([rows, others])
    answers = space.sample_predictions(lines, 4000, 0).T
    cells = (lines @ middles >= 0).T
    counts = np.array([np.sum(np.all(answers.T == cell, axis=1)) for cell in cells])
    assert counts.sum() == 4000
    assert counts[mass == 0].sum() == 0
    assert chisquare(counts[mass > 0], 4000 * mass[mass > 0]).pvalue > 1e-3


@with_and_without_noise
@pytest.mark.parametrize("dimension", [3, 4])
def test_chains_against_rejection(label_noise, dimension):
    random = np.random.default_rng(dimension)
    rows = random.standard_normal((5, dimension))
    labels = rows @ random.standard_normal(dimension) > 0
    queries = random.standard_normal((20, dimension))
    space = chains(label_noise=label_noise).update(rows, labels)
    sample = rejection_sample(rows, labels, 400_000, 1, label_noise)
    exact = np.mean(queries @ sample >= 0, axis=1)
    error = np.abs(space.predict_proba(queries)[:, 1] - exact)
    assert np.all(error <= standard_errors(exact, min(4000, sample.shape[1] / 2)))


@with_and_without_noise
def test_labels_one_by_one_or_all_at_once(label_noise):
    """The new coordinate is drawn exactly: one step for each label is enough."""
    random = np.random.default_rng(5)
    rows = random.standard_normal((3, 3)) + 1
    labels = np.array([True, False, True])
    queries = random.standard_normal((20, 3))
    sample = rejection_sample(rows, labels, 400_000, 2, label_noise)
    exact = np.mean(queries @ sample >= 0, axis=1)
    warm = chains(n_chains=8000, n_steps=1, label_noise=label_noise)
    for i in (2, 0, 1):
        warm.update(rows[i : i + 1], labels[i : i + 1])
    cold = chains(n_chains=8000, n_steps=1, label_noise=label_noise).update(
        rows, labels
    )
    for space in (warm, cold):
        # Descendants of one chain share coordinates: at most half of the independence
        # is lost, since every label has probability above 1/4 here.
        assert np.all(
            np.abs(space.predict_proba(queries)[:, 1] - exact)
            <= standard_errors(exact, 2000)
        )


def test_two_labels_have_the_orthant_probability():
    """P(second | first) = 2 P(both)."""
    correlation = 0.6
    space = chains().update(np.array([[1.0, 0.0]]), [True])
    second = np.array([[correlation, np.sqrt(1 - correlation**2)]])
    exact = 2 * orthant_probability(correlation)
    # The part outside the span is integrated, so that less is left to chance.
    assert abs(space.predict_proba(second)[:, 1][0] - exact) <= standard_errors(
        exact, 4000
    )


def test_label_that_almost_no_halfspace_gives():
    """A thousandth of a half turn is left, and it is filled evenly."""
    rows, labels = angles(0, 179.82), [True, True]
    queries = angles(-0.135, -0.09, -0.045)
    space = chains(n_chains=1000).update(rows, labels)
    exact = plane_acceptance(rows, labels, queries)
    np.testing.assert_allclose(exact, [0.25, 0.5, 0.75], atol=1e-9)
    assert np.all(
        np.abs(space.predict_proba(queries)[:, 1] - exact)
        <= standard_errors(exact, 1000)
    )


@pytest.mark.parametrize("max_levels", [100, 1])
def test_label_that_no_chain_survives(max_levels, monkeypatch):
    """An arc of 30 degrees is cut to 0.01 degrees, and filled evenly again.

    Through wider labels when those are allowed, else from one point inside.
    """
    monkeypatch.setattr(_posterior_sampling, "MAX_LEVELS", max_levels)
    rows, labels = angles(0, 90, -60, -89.99), [True] * 4
    space = chains(n_chains=200, n_steps=300).update(rows[:3], labels[:3])
    space.update(rows[3:], labels[3:])
    chain = space._posterior
    # 30 / 0.01 is between 2^11 and 2^12, and a quarter may survive the last cut.
    assert chain.n_levels in ((1,) if max_levels == 1 else range(7, 13))
    assert chain.n_restarts == (1 if max_levels == 1 else 0)
    queries = angles(-89.9925, -89.995, -89.9975)
    exact = plane_acceptance(rows, labels, queries)
    np.testing.assert_allclose(exact, [0.75, 0.5, 0.25], atol=1e-9)
    assert np.all(
        np.abs(space.predict_proba(queries)[:, 1] - exact)
        <= standard_errors(exact, 200)
    )


def test_contradiction_empties_the_space():
    rows = angles(0, 120, 240)
    space = chains(n_chains=50).update(rows[:2], [True, True])
    before = space.predict_proba(rows)[:, 1]
    assert not space.is_empty
    space.update(rows[2:], [True])
    assert space.is_empty
    assert space.contradiction_ == 2
    assert space.n_labels_ == 2
    with pytest.raises(ValueError, match=r"label 2, counted from 0.*Set label_noise"):
        space.predict_proba(rows)
    # Nothing more is learned.
    assert space.update(rows[:1], [True]).contradiction_ == 2
    assert before.shape == (3,)
    noisy = chains(n_chains=50, label_noise=0.1).update(rows, [True] * 3)
    assert not noisy.is_empty


@with_and_without_noise
def test_margins_stay_those_of_the_weights(label_noise):
    random = np.random.default_rng(0)
    rows = random.standard_normal((30, 6))
    labels = rows @ np.ones(6) > 0
    space = chains(n_chains=20, n_steps=500, label_noise=label_noise).update(
        rows, labels
    )
    chain = space._posterior
    np.testing.assert_allclose(
        chain.signed_samples @ chain.weights, chain.margins, atol=1e-12
    )
    if not label_noise:
        assert np.all(chain.margins > 0)
        answers = space.sample_predictions(rows, 20, 0)
        np.testing.assert_array_equal(answers, np.tile(labels, (20, 1)))


def test_pickled_in_the_middle_it_goes_on_the_same():
    random = np.random.default_rng(3)
    rows = random.standard_normal((12, 4))
    labels = rows[:, 0] > 0
    space = chains(n_chains=30, n_steps=10).update(rows[:6], labels[:6])
    copy = pickle.loads(pickle.dumps(space))
    space.predict_proba(rows)  # predictions change nothing
    first = space.update(rows[6:], labels[6:]).predict_proba(rows)[:, 1]
    second = copy.update(rows[6:], labels[6:]).predict_proba(rows)[:, 1]
    np.testing.assert_array_equal(first, second)
    again = chains(n_chains=30, n_steps=10)
    again.update(rows[:6], labels[:6]).update(rows[6:], labels[6:])
    np.testing.assert_array_equal(first, again.predict_proba(rows)[:, 1])


def direction_autocorrelation(trace):
    """Correlate directions, (n_times, rank, n_chains), with their own later ones.

    1 for lag 0; then the mean inner product of directions that many steps apart, less
    that of independent ones, as a share of the variance.
    """
    n_times, _rank, n_chains = trace.shape
    directions = trace / np.linalg.norm(trace, axis=1, keepdims=True)
    centred = directions - directions.mean(axis=(0, 2))[:, None]
    flat = centred.reshape(n_times, -1)
    products = flat @ flat.T / n_chains
    spread = np.trace(products) / n_times
    lags = range(n_times)
    return np.array([np.diagonal(products, lag).mean() / spread for lag in lags])


def test_steps_forget():
    """The reason for the standard errors of this file."""
    random = np.random.default_rng(4)
    rows = random.standard_normal((6, 3))
    space = chains(n_chains=500).update(rows, rows[:, 0] > 0)
    posterior, trace = space._posterior, []
    for _ in range(201):
        trace.append(posterior.weights.copy())
        posterior.advance(1)
    correlation = direction_autocorrelation(np.array(trace))
    np.testing.assert_allclose(correlation[0], 1.0)
    assert np.all(np.abs(correlation[60:]) < 0.05)


def test_correlation_of_a_known_process():
    """Directions that turn with probability 0.1 a step: correlation 0.8 ** lag."""
    random = np.random.default_rng(0)
    turns = np.where(random.random((400, 1, 2000)) < 0.1, -1.0, 1.0)
    trace = np.cumprod(turns, axis=0) * np.where(random.random(2000) < 0.5, 1, -1)
    correlation = direction_autocorrelation(trace)
    # 800 000 values worth 1 / 9 of as many independent ones.
    np.testing.assert_allclose(correlation[:20], 0.8 ** np.arange(20), atol=0.02)


# The parallel planes of section 3.6.1: bodies cut out of the ball.


@pytest.mark.parametrize("dimension", range(2, 11))
def test_information_gain_of_parallel_planes(dimension):
    """Theorem 3.6.1: at least 0.672 bits for every convex body and direction."""
    random = np.random.default_rng(dimension)
    rows = random.standard_normal((4, dimension))
    space = HalfspaceVersionSpace(
        sampler="elliptical_slice", n_chains=2000, n_steps=60, random_state=dimension
    ).update(rows, rows @ random.standard_normal(dimension) > 0)
    weights = space._posterior.weights.copy()
    # Radii of uniform points of the ball; the directions stay.
    radii = random.random(weights.shape[1]) ** (1 / len(weights))
    weights *= radii / np.linalg.norm(weights, axis=0)
    gains = [
        information_gain(direction @ weights)
        for direction in random.standard_normal((5, len(weights)))
    ]
    # No body of this dimension gains less than the double cone; the gain moves by less
    # than 0.01 when 2000 points stand for the body (standard error about 0.003).
    assert min(gains) > 0.672
    assert min(gains) > double_cone_gain(len(weights)) - 0.01
    assert max(gains) < 1


def test_gain_of_the_double_cone():
    """d = 1 is a segment: 7/12 nat. For large d, (3.24): 1/9 + 7 / (18 ln 2)."""
    np.testing.assert_allclose(double_cone_gain(1), 7 / 12 / np.log(2), rtol=1e-9)
    limit = 1 / 9 + 7 / (18 * np.log(2))
    gains = [double_cone_gain(d) for d in (1, 2, 5, 10, 100, 1000)]
    assert gains == sorted(gains, reverse=True)
    assert limit < gains[-1] < limit + 1e-3


# The parts


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.floats(0, 3))
@settings(max_examples=25)
def test_points_of_a_line_follow_its_steps(seed, n_breaks, penalty):
    random = np.random.default_rng(seed)
    n = 4000
    breaks = np.sort(random.random(n_breaks))
    flips = random.choice([-1, 0, 1], n_breaks)
    shuffled = random.permutation(n_breaks)
    points = draw_on_line(
        np.repeat(breaks[shuffled, None], n, axis=1),
        np.repeat(flips[shuffled, None], n, axis=1),
        np.zeros(n), np.ones(n), penalty, random,
    )  # fmt: skip
    mass = np.diff(np.r_[0, breaks, 1]) * np.exp(-penalty * np.r_[0, flips].cumsum())
    mass /= mass.sum()
    counts = np.histogram(points, np.r_[0, breaks, 1])[0]
    assert np.all(np.abs(counts - n * mass) <= 1 + n * standard_errors(mass, n))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.integers(0, 2**32 - 1))
def test_indices_are_drawn_as_often_as_they_weigh(weights, seed):
    weights = np.array([*weights, 0.5])
    indices = systematic_indices(weights, np.random.default_rng(seed))
    counts = np.bincount(indices, minlength=len(weights))
    expected = len(weights) * weights / weights.sum()
    assert len(indices) == len(weights)
    assert np.all(counts[weights == 0] == 0)
    assert np.all(np.abs(counts - expected) < 1 + 1e-9)


@given(st.floats(-50, 50), st.booleans(), st.integers(0, 2**32 - 1))
def test_truncated_normal_numbers_keep_to_their_side(bound, right, seed):
    random = np.random.default_rng(seed)
    numbers = draw_beyond(np.full(50, bound), np.full(50, right), random)
    assert np.all(np.isfinite(numbers))
    slack = 1e-9 * (1 + abs(bound))
    sides = numbers + bound if right else -bound - numbers
    assert np.all(sides >= -slack)


@pytest.mark.parametrize("bound", [-3.0, 0.0, 2.0])
def test_truncated_normal_numbers_have_their_law(bound):
    numbers = draw_beyond(
        np.full(3000, bound), np.full(3000, True), np.random.default_rng(0)
    )
    assert kstest(numbers, truncnorm(-bound, np.inf).cdf).pvalue > 1e-3


@given(st.integers(1, 5), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_a_direction_is_found_inside_every_cone(dimension, n_samples, seed):
    random = np.random.default_rng(seed)
    rows = random.standard_normal((n_samples, dimension))
    target = random.standard_normal(dimension)
    rows *= np.sign(rows @ target)[:, None]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    if np.min(rows @ target) > 1e-6:
        assert np.min(rows @ interior_direction(rows)) > 0
        assert meets_cone(rows, target - 3 * rows[0], rows[0])
    # A positive combination of the rows that is 0 leaves no direction.
    closed = np.vstack([rows, -rows.sum(axis=0) / np.linalg.norm(rows.sum(axis=0))])
    assert interior_direction(closed) is None
    assert not meets_cone(closed, target, rows[0])


def test_no_rows_allow_any_direction():
    assert interior_direction(np.empty((0, 2))) is not None
