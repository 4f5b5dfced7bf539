"""Finite version spaces against a posterior that is enumerated in fractions."""

import pickle
from copy import deepcopy
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import active_learning as oracles
from scipy.stats import chi2

from sklboolean.active_learning import (
    FiniteVersionSpace,
    _finite_version_space,
    expected_information_gain,
)
from sklboolean.theory import information_gain_lower_bound

RANDOM = np.random.RandomState
N_FEATURES = 4
EVERY_ROW = np.array(list(product([False, True], repeat=N_FEATURES)))
CALLABLES = [
    lambda X: X[:, 0],
    lambda X: X.sum(axis=1) > 1,
    lambda X: ~X[:, 2],
    lambda X: X[:, 0] ^ X[:, 1],
]
# The class as the package takes it, and as functions of a row.
CLASSES = {
    "conjunctions": (
        {"hypotheses": "conjunctions"},
        oracles.literal_functions(N_FEATURES, 4, disjunctive=False, monotone=False),
    ),
    "short": (
        {"hypotheses": "conjunctions", "max_literals": 2},
        oracles.literal_functions(N_FEATURES, 2, disjunctive=False, monotone=False),
    ),
    "monotone": (
        {"hypotheses": "disjunctions", "monotone": True},
        oracles.literal_functions(N_FEATURES, 4, disjunctive=True, monotone=True),
    ),
    "k-disjunctions": (
        {"hypotheses": "k-disjunctions", "max_literals": 1},
        oracles.literal_functions(N_FEATURES, 1, disjunctive=True, monotone=False),
    ),
    "callables": (
        {"hypotheses": CALLABLES},
        [lambda row, f=f: f(np.array([row]))[0] for f in CALLABLES],
    ),
}
CLASSES = {
    name: (given, list(functions)) for name, (given, functions) in CLASSES.items()
}
names = st.sampled_from(sorted(CLASSES))
noises = st.sampled_from([Fraction(0), Fraction(1, 20), Fraction(3, 8)])


def build(name, label_noise=0):
    """The version space and its slow twin."""
    given, functions = CLASSES[name]
    space = FiniteVersionSpace(
        **given, n_features=N_FEATURES, label_noise=float(label_noise)
    )
    # The noise as the space has it, so that fractions are about the same number.
    return space, oracles.Enumeration(functions, Fraction(float(label_noise)))


def random_labelled(seed, n_samples):
    random = RANDOM(seed)
    rows = EVERY_ROW[random.randint(len(EVERY_ROW), size=n_samples)]
    return rows, random.random_sample(n_samples) < 0.5


@given(names, noises, st.integers(0, 999), st.integers(0, 9))
def test_acceptance_is_the_enumerated_posterior(name, label_noise, seed, n_samples):
    space, twin = build(name, label_noise)
    rows, positive = random_labelled(seed, n_samples)
    space.update(rows, positive)
    twin.learn(rows.tolist(), positive)
    assert space.n_hypotheses == len(twin.functions)
    assert space.is_empty == twin.is_empty()
    if not space.is_empty:
        expected = [float(twin.acceptance(row)) for row in EVERY_ROW.tolist()]
        np.testing.assert_allclose(
            space.predict_proba(EVERY_ROW)[:, 1], expected, rtol=1e-14, atol=1e-16
        )


@given(names, noises, st.integers(0, 999), st.integers(0, 6), st.integers(0, 6))
def test_labelled_samples_add_up(name, label_noise, seed, n_first, n_more):
    rows, positive = random_labelled(seed, n_first + n_more)
    at_once, _twin = build(name, label_noise)
    at_once.update(rows, positive)
    in_parts, _twin = build(name, label_noise)
    in_parts.update(rows[:n_first], positive[:n_first])
    copy = pickle.loads(pickle.dumps(in_parts)) if name != "callables" else in_parts
    copy = deepcopy(copy)
    copy.update(rows[n_first:], positive[n_first:])
    assert copy.is_empty == at_once.is_empty
    assert copy.n_consistent == at_once.n_consistent
    if not at_once.is_empty:
        np.testing.assert_array_equal(
            copy.predict_proba(EVERY_ROW)[:, 1], at_once.predict_proba(EVERY_ROW)[:, 1]
        )
        np.testing.assert_array_equal(
            copy.sample_predictions(EVERY_ROW, 5, RANDOM(seed)),
            at_once.sample_predictions(EVERY_ROW, 5, RANDOM(seed)),
        )


@pytest.mark.parametrize("label_noise", [0, 0.125])
@pytest.mark.parametrize("name", CLASSES)
def test_draws_follow_the_posterior(name, label_noise):
    space, twin = build(name, label_noise)
    labelled = EVERY_ROW[[15, 3]], [True, False]
    space.update(*labelled)
    twin.learn(labelled[0].tolist(), labelled[1])
    n_draws = 20000
    answers = space.sample_predictions(EVERY_ROW, n_draws, RANDOM(1))
    assert answers.shape == (n_draws, len(EVERY_ROW))
    expected = {
        pattern: float(share * n_draws)
        for pattern, share in twin.patterns(EVERY_ROW.tolist()).items()
        if share
    }
    found = dict.fromkeys(expected, 0)
    for pattern in map(tuple, answers.tolist()):
        found[pattern] += 1  # a hypothesis that is ruled out is a KeyError
    # Patterns too rare for the chi-square law of the statistic are counted together.
    rare = [pattern for pattern, count in expected.items() if count < 10]
    for counts in (expected, found):
        counts["rare"] = sum(counts.pop(pattern) for pattern in rare)
    pairs = [(found[key], count) for key, count in expected.items() if count >= 10]
    statistic = sum((seen - count) ** 2 / count for seen, count in pairs)
    # Exceeded with probability 1e-6 by draws from the posterior.
    assert statistic <= (chi2.isf(1e-6, len(pairs) - 1) if len(pairs) > 1 else 0)


def test_draws_agree_with_the_labels_without_noise():
    space, _twin = build("conjunctions")
    space.update(EVERY_ROW[[15, 14, 0]], [True, True, False])
    answers = space.sample_predictions(EVERY_ROW[[15, 14, 0]], 50, RANDOM(0))
    np.testing.assert_array_equal(answers, np.tile([True, True, False], (50, 1)))


def test_many_noisy_labels_stay_exact():
    # Weights of 1e-57 and less beside 1: many levels, most of them beyond a float.
    space, twin = build("conjunctions", Fraction(1, 3))
    rows, _positive = random_labelled(0, 240)
    positive = rows[:, 0] & rows[:, 1]
    positive[::5] ^= True
    space.update(rows, positive)
    twin.learn(rows.tolist(), positive)
    expected = [float(twin.acceptance(row)) for row in EVERY_ROW.tolist()]
    probabilities = space.predict_proba(EVERY_ROW)[:, 1]
    np.testing.assert_allclose(probabilities, expected, rtol=1e-14, atol=1e-16)
    assert np.isfinite(probabilities).all()


@pytest.mark.parametrize("name", CLASSES)
def test_empty_space_is_reported(name):
    space, _twin = build(name)
    space.update(EVERY_ROW[[3, 3]], [True, False])
    assert space.is_empty
    assert space.n_consistent == 0
    for ask in (
        space.predict_proba,
        lambda rows: space.sample_predictions(rows, 2, RANDOM(0)),
    ):
        with pytest.raises(
            ValueError, match=r"No hypothesis agrees .* label_noise=0.05"
        ):
            ask(EVERY_ROW)
    space.update(EVERY_ROW[:1], [True])  # and it goes on without harm
    assert space.is_empty
    noisy, _twin = build(name, 0.25)
    noisy.update(EVERY_ROW[[3, 3]], [True, False])
    assert not noisy.is_empty
    # Two labels that contradict each other cancel.
    before, _twin = build(name)
    np.testing.assert_allclose(
        noisy.predict_proba(EVERY_ROW)[:, 1],
        before.predict_proba(EVERY_ROW)[:, 1],
        rtol=1e-15,
    )


@pytest.mark.parametrize("label_noise", [0, 0.1])
def test_blocks_change_nothing(label_noise, monkeypatch):
    labelled = random_labelled(3, 6)[0]
    whole, _twin = build("conjunctions", label_noise)
    whole.update(labelled, labelled[:, 0])
    expected = (
        whole.predict_proba(EVERY_ROW)[:, 1],
        whole.sample_predictions(EVERY_ROW, 7, RANDOM(0)),
    )
    monkeypatch.setattr(_finite_version_space, "BLOCK_BITS", 200)
    parts, _twin = build("conjunctions", label_noise)
    parts.update(labelled, labelled[:, 0])
    np.testing.assert_array_equal(parts.predict_proba(EVERY_ROW)[:, 1], expected[0])
    drawn = parts.sample_predictions(EVERY_ROW, 7, RANDOM(0))
    np.testing.assert_array_equal(drawn, expected[1])


@given(st.integers(0, 999), noises)
def test_answers_on_points_are_a_class(seed, label_noise):
    random = RANDOM(seed)
    answers = random.random_sample((random.randint(1, 70), 5)) < 0.5
    space = FiniteVersionSpace(answers, label_noise=float(label_noise))
    functions = [lambda row, h=h: h[row[0]] for h in answers]
    twin = oracles.Enumeration(functions, Fraction(float(label_noise)))
    points = np.arange(5)[:, None]
    target = answers[0]
    space.update(points[1:3], target[1:3])
    twin.learn(points[1:3].tolist(), target[1:3])
    expected = [float(twin.acceptance(row)) for row in points.tolist()]
    np.testing.assert_allclose(space.predict_proba(points)[:, 1], expected, rtol=1e-14)
    drawn = space.sample_predictions(points, 20, RANDOM(seed))
    possible = {tuple(row) for row in answers.tolist()}
    assert {tuple(row) for row in drawn.tolist()} <= possible


@pytest.mark.parametrize("dimension", [2, 3, 5, 10])
def test_queries_on_parallel_planes_tell_more_than_the_bound(dimension):
    # Theorem 3.6.1: a cloud of points in the ball, cut by planes of random direction
    # and uniform offset. A row is asked with probability 2 F (1 - F).
    random, gains = RANDOM(dimension), []
    for _ in range(8):
        points = random.standard_normal((4000, dimension))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        points *= random.random_sample((4000, 1)) ** (1 / dimension)
        directions = random.standard_normal((500, dimension))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        answers = points @ directions.T >= random.uniform(-1, 1, 500)
        space, target = FiniteVersionSpace(answers), answers[0]
        rows = np.arange(500)[:, None]
        for _ in range(4):
            accepted = space.predict_proba(rows)[:, 1]
            asked = accepted * (1 - accepted)
            gains.append(np.average(expected_information_gain(accepted), weights=asked))
            queried = rows[[random.choice(500, p=asked / asked.sum())]]
            space.update(queried, target[queried[:, 0]])
    standard_error = np.std(gains) / np.sqrt(len(gains))
    assert np.mean(gains) - 4 * standard_error > information_gain_lower_bound(dimension)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hypotheses": "rules"}, "hypotheses must be one of"),
        ({"hypotheses": []}, "a list of one or more callables"),
        ({"hypotheses": "k-disjunctions"}, "needs max_literals"),
        ({"hypotheses": "conjunctions", "n_features": 40}, "too many to be listed"),
        (
            {"hypotheses": "conjunctions", "label_noise": 0.5},
            "label_noise must be below 0.5",
        ),
        (
            {"hypotheses": "conjunctions", "label_noise": -0.1},
            "label_noise must be at least 0",
        ),
        ({"hypotheses": "conjunctions", "n_features": 0}, "n_features"),
        ({"hypotheses": np.zeros((2, 3))}, "n_features must be 1"),
        ({"hypotheses": np.zeros(3), "n_features": 1}, "one row per hypothesis"),
        ({"hypotheses": np.full((2, 2), 2), "n_features": 1}, "zeros and ones"),
    ],
)
def test_bad_classes_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        FiniteVersionSpace(**{"n_features": 3} | given).initialize()


@pytest.mark.parametrize("hypotheses", ["conjunctions", np.eye(3)])
def test_bad_rows_leave_the_space_as_it_was(hypotheses):
    space = FiniteVersionSpace(hypotheses, binarize=None)
    before = space.predict_proba([[0], [1]])[:, 1]
    for rows, positive, message in [
        ([[np.nan]], [True], "X must"),
        ([[-1]], [True], "X must"),
        ([[7]], [True], "X must"),
        ([[0, 1]], [True], r"X must have shape \(n_samples, 1\)"),
        ([0], [True], r"X must have shape \(n_samples, 1\)"),
        ([[0]], [2], "y must be a bool"),
        ([[0]], [True, True], "y must be a bool"),
    ]:
        with pytest.raises(ValueError, match=message):
            space.update(rows, positive)
    with pytest.raises(ValueError, match="n_draws"):
        space.sample_predictions([[0]], 0, RANDOM(0))
    np.testing.assert_array_equal(space.predict_proba([[0], [1]])[:, 1], before)
