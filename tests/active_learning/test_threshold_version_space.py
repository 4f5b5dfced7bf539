"""The interval of thresholds: enumerated on a grid, and the theory of its queries."""

import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import active_learning as oracles
from scipy.stats import chi2

from sklboolean.active_learning import ThresholdVersionSpace
from sklboolean.theory import query_stopping_wait

RANDOM = np.random.RandomState
# Rows at multiples of 1/32 see no difference between a threshold that is uniform
# between two of them and one in their middle.
GRID = np.arange(33) / 32
MIDDLES = (GRID[1:] + GRID[:-1]) / 2
noises = st.sampled_from([0.0, 0.125, 0.375])
labelled_values = st.lists(
    st.tuples(st.sampled_from(GRID.tolist()), st.booleans()), max_size=6
)


def learned(labelled, label_noise, **bounds):
    space = ThresholdVersionSpace(label_noise=label_noise, **bounds)
    for value, label in labelled:
        space.update([[value]], [label])
    return space


@given(labelled_values, noises)
def test_posterior_is_that_of_a_grid(labelled, label_noise):
    space = learned(labelled, label_noise)
    functions = [lambda row, w=w: row[0] >= w for w in MIDDLES.tolist()]
    twin = oracles.Enumeration(functions, Fraction(label_noise))
    twin.learn([[value] for value, _ in labelled], [label for _, label in labelled])
    assert space.is_empty == twin.is_empty()
    if twin.is_empty():
        for ask in (
            space.predict_proba,
            lambda rows: space.sample_predictions(rows, 2, RANDOM(0)),
        ):
            with pytest.raises(
                ValueError, match=r"No hypothesis agrees .* label_noise=0.05"
            ):
                ask(GRID[:, None])
        return
    expected = [float(twin.acceptance([x])) for x in GRID.tolist()]
    np.testing.assert_allclose(
        space.predict_proba(GRID[:, None])[:, 1], expected, rtol=1e-13, atol=1e-15
    )
    possible = MIDDLES[[weight > 0 for weight in twin.weights]]
    first, last = space.interval
    assert (first, last) == (possible[0] - 1 / 64, possible[-1] + 1 / 64)
    drawn = space.sample_predictions(GRID[:, None], 10, RANDOM(0))
    if not label_noise:
        for value, label in labelled:
            assert np.all(drawn[:, int(value * 32)] == label)


@given(labelled_values, noises, st.floats(-5, 5), st.floats(0.5, 9))
def test_scale_does_not_matter(labelled, label_noise, low, width):
    space, unit = (
        ThresholdVersionSpace(low, low + width, label_noise=label_noise),
        learned(labelled, label_noise),
    )
    high = low + width
    grid = low + (high - low) * GRID
    grid[-1] = high
    for value, label in labelled:
        space.update([[grid[int(value * 32)]]], [label])
    assert space.is_empty == unit.is_empty
    if not unit.is_empty:
        np.testing.assert_allclose(
            space.predict_proba(grid[:, None])[:, 1],
            unit.predict_proba(GRID[:, None])[:, 1],
            atol=1e-12,
        )
        np.testing.assert_array_equal(
            space.predict_proba([[low - 1], [high + 1]])[:, 1], [0, 1]
        )


@pytest.mark.parametrize("label_noise", [0.0, 0.125])
def test_draws_follow_the_posterior(label_noise):
    space = learned([(0.25, False), (0.75, True)], label_noise)
    n_draws = 20000
    answers = space.sample_predictions(GRID[:, None], n_draws, RANDOM(0))
    # The number of grid values that a threshold accepts says between which two it is.
    cells = 32 - answers.sum(axis=1)
    assert np.all(np.diff(answers.astype(int), axis=1) >= 0)
    expected = n_draws * np.diff(space.predict_proba(GRID[:, None])[:, 1])
    found = np.bincount(cells, minlength=32)
    assert not found[expected == 0].any()
    found, expected = found[expected > 0], expected[expected > 0]
    assert expected.min() > 10
    # Exceeded with probability 1e-6 by draws from the posterior.
    statistic = np.sum((found - expected) ** 2 / expected)
    assert statistic < chi2.isf(1e-6, len(found) - 1)


def test_draws_never_contradict_a_label_in_the_narrowest_space():
    low = 1.0
    for high in (np.nextafter(low, 2), low + 3 * np.spacing(low)):
        space = ThresholdVersionSpace(0.0, 2.0)
        space.update([[low], [high]], [False, True])
        drawn = space.sample_predictions([[low], [high]], 1000, RANDOM(0))
        np.testing.assert_array_equal(drawn, np.tile([False, True], (1000, 1)))
        np.testing.assert_array_equal(
            space.predict_proba([[low], [high]])[:, 1], [0, 1]
        )


def test_learning_goes_on_after_pickling():
    space = learned([(0.25, False)], 0.125)
    copy = pickle.loads(pickle.dumps(space))
    for one in (space, copy):
        one.update([[0.5], [0.75]], [False, True])
    np.testing.assert_array_equal(
        copy.sample_predictions(GRID[:, None], 9, RANDOM(3)),
        space.sample_predictions(GRID[:, None], 9, RANDOM(3)),
    )
    with pytest.raises(ValueError, match="y must be a bool"):
        copy.update([[0.5]], [3])
    np.testing.assert_array_equal(
        copy.predict_proba(GRID[:, None])[:, 1],
        space.predict_proba(GRID[:, None])[:, 1],
    )


# Queries (thesis, section 3.3)


def test_a_query_takes_seven_twelfths_of_a_nat():
    # A row at u of the interval is asked with density 6 u (1 - u). It leaves u with
    # probability u, else 1 - u, so that by symmetry the fall of ln(length) is
    # -12 * integral of u^2 (1 - u) ln(u), and its square 12 * that of ln(u)^2.
    # The integral of u^k ln(u) is -1/(k + 1)^2, that of u^k ln(u)^2 is 2/(k + 1)^3.
    fall = 12 * (Fraction(1, 3**2) - Fraction(1, 4**2))
    square = 12 * (Fraction(2, 3**3) - Fraction(2, 4**3))
    assert fall == Fraction(7, 12)
    random, falls = RANDOM(0), []
    for _ in range(60):
        space, target = ThresholdVersionSpace(), random.random_sample()
        lengths = [1.0]
        while len(lengths) <= 20:
            low, high = space.interval
            row = random.uniform(low, high, (1, 1))  # rows elsewhere are never asked
            first, second = space.sample_predictions(row, 2, random)[:, 0]
            if first != second:
                space.update(row, row[:, 0] >= target)
                lengths.append(np.subtract(*space.interval[::-1]))
        falls.extend(-np.diff(np.log(lengths)))
    # Falls are independent: the length is forgotten. Four standard errors: 6e-5.
    standard_error = np.sqrt(float(square - fall**2) / len(falls))
    assert abs(np.mean(falls) - float(fall)) < 4 * standard_error


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.25, 0.5)])
def test_a_third_of_the_interval_is_asked(low, high):
    space = learned([(low, False)] * (low > 0) + [(high, True)] * (high < 1), 0)
    # Simpson's rule is exact for F (1 - F), a parabola between the edges.
    chance = 0
    for first, last in pairwise([0.0, low, high, 1.0]):
        F = space.predict_proba([[first], [(first + last) / 2], [last]])[:, 1]
        chance += (last - first) / 6 * np.dot([1, 4, 1], 2 * F * (1 - F))
    assert chance == pytest.approx((high - low) / 3, rel=1e-13)
    # So the wait for a query is geometric, of mean 3 / length.
    random, n_samples = RANDOM(0), 6000
    asked = 0
    for row in random.random_sample((n_samples, 1, 1)):
        first, second = space.sample_predictions(row, 2, random)[:, 0]
        asked += first != second
    standard_error = np.sqrt(n_samples * chance * (1 - chance))
    assert abs(asked - n_samples * chance) < 4 * standard_error


def test_stopping_rule_keeps_its_promise():
    epsilon, delta, random, errors = 0.1, 0.1, RANDOM(0), []
    for _ in range(15):
        space, target, n_queries, wait = ThresholdVersionSpace(), random.rand(), 0, 0
        while wait <= query_stopping_wait(n_queries, epsilon, delta):
            row = random.random_sample((1, 1))
            first, second = space.sample_predictions(row, 2, random)[:, 0]
            wait += 1
            if first != second:
                space.update(row, row[:, 0] >= target)
                n_queries, wait = n_queries + 1, 0
        low, high = space.interval
        errors.append((high - low) / 2)  # at most, of a random threshold
    assert np.mean(np.array(errors) > epsilon) <= delta


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ThresholdVersionSpace(1, 1).initialize(),
            "high - low must be greater than 0",
        ),
        (lambda: ThresholdVersionSpace(np.nan).initialize(), "low must be finite"),
        (
            lambda: ThresholdVersionSpace(-1e308, 1e308).initialize(),
            "high - low must be finite",
        ),
        (
            lambda: ThresholdVersionSpace(label_noise=0.5).initialize(),
            "label_noise must be below 0.5",
        ),
        (lambda: ThresholdVersionSpace().update([[np.inf]], [True]), "be finite"),
        (lambda: ThresholdVersionSpace().update([0.5], [True]), "X must have shape"),
        (lambda: ThresholdVersionSpace().predict_proba([[1, 2]]), "X must have shape"),
        (
            lambda: ThresholdVersionSpace().sample_predictions([[1]], 0, RANDOM(0)),
            "n_draws",
        ),
        (lambda: ThresholdVersionSpace().initialize(2), "need one feature"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bounds_are_those_of_the_prior():
    assert ThresholdVersionSpace(-1, 3, label_noise=0.25).interval == (-1, 3)
