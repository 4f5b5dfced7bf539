"""ConsistentHalfspace: margins, certificates, and the mistakes of its perceptron."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from sklboolean import ConsistentHalfspace
from sklboolean.linear_model._separation import (
    Separation,
    _with_bound,
    least_error_halfspace,
    max_perceptron_updates,
    modified_perceptron,
)

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
DUAL = {"l1": np.inf, "l2": 2}


@st.composite
def tables(draw):
    n_samples, n_features = draw(st.integers(2, 16)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.integers(0, 2, (n_samples, n_features))
    w = rng.integers(-2, 3, n_features)
    y = X @ w > rng.integers(-1, 2)
    if draw(st.booleans()):
        y = rng.random(n_samples) < 0.5
    y[:2] = [False, True]
    return X, y


@pytest.mark.slow
@quiet
@settings(max_examples=80)
@given(tables(), st.sampled_from(["l1", "l2"]), st.booleans())
def test_either_a_halfspace_or_a_proof_that_there_is_none(table, norm, as_sparse):
    X, y = table
    data = sparse.csr_array(X) if as_sparse else X
    learner = ConsistentHalfspace(norm=norm).fit(data, y)
    signs = np.where(y, 1, -1)
    # The bound holds for its weights whatever the solver did: weak duality.
    weights = learner.sample_weights_
    assert (weights >= 0).all()
    for sign in (1, -1):
        np.testing.assert_allclose(weights[signs == sign].sum(), 0.5)
    difference = X.T @ (weights * signs)
    bound = np.linalg.norm(difference, DUAL[norm])
    np.testing.assert_allclose(learner.margin_bound_, bound, atol=1e-12)

    length = np.linalg.norm(learner.coef_[0], 1 if norm == "l1" else 2)
    scores = signs * learner.decision_function(data)
    np.testing.assert_allclose(learner.margin_, scores.min())
    assert learner.is_consistent_ == (scores.min() > 0)
    assert learner.is_consistent_ == bool((learner.predict(data) == y).all())
    if learner.is_consistent_:
        np.testing.assert_allclose(length, 1)
        np.testing.assert_allclose(learner.margin_, bound, rtol=1e-3)
    else:
        # The classes' convex hulls meet: two means with the same weights coincide.
        np.testing.assert_allclose(bound, 0, atol=1e-8)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_margin_of_many_samples_is_proved(seed, as_sparse):
    # More samples than the first working set holds.
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((1500, 25)) < 0.3, rng.integers(1, 4, (1500, 25)), 0)
    scores = X @ rng.normal(size=25)
    y = scores > np.median(scores)
    learner = ConsistentHalfspace().fit(sparse.csr_array(X) if as_sparse else X, y)
    assert learner.is_consistent_
    np.testing.assert_allclose(learner.margin_, learner.margin_bound_, rtol=1e-6)
    assert np.count_nonzero(learner.sample_weights_) <= 27  # one a dimension, and two


def test_known_margins():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 0, 0, 1]
    # The boundary x0 + x1 = 3/2 is 1/2 / sqrt(2) from (0, 1), and 1/2 / |w|_1.
    euclidean = ConsistentHalfspace().fit(X, y)
    np.testing.assert_allclose(euclidean.margin_, 0.5 / np.sqrt(2), rtol=1e-6)
    np.testing.assert_allclose(ConsistentHalfspace(norm="l1").fit(X, y).margin_, 0.25)


def test_units_do_not_matter():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 0, 0, 1]
    for unit in (1e-9, 1e9):
        learner = ConsistentHalfspace().fit(unit * X, y)
        assert learner.is_consistent_
        np.testing.assert_allclose(learner.margin_, unit / np.sqrt(8), rtol=1e-4)


def test_least_error_is_that_of_a_grid():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    signs, weights = np.array([-1.0, -1, 1, -1, 1]), np.array([1.0, 2, 1, 1.5, 1])

    def loss(w, b):
        return weights @ np.maximum(0, 1 - signs * (X[:, 0] * w + b))

    w, b = least_error_halfspace(X, signs, weights)
    # An optimum lies where two samples are at a margin of 1: halves and thirds.
    grid = np.arange(-24, 25) / 12
    best = min(loss(u, v) for u in grid for v in np.arange(-72, 73) / 12)
    assert loss(w[0], b) == pytest.approx(best, abs=1e-6)


def test_without_weights_of_a_solver_the_bound_is_that_of_the_means():
    X, signs = np.array([[0, 0], [0, 2], [1, 0], [1, 2]]), np.array([-1, -1, 1, 1])
    none = Separation(np.array([2.0, 0]), -1.0, np.zeros(4), np.inf)
    found = _with_bound(none, X, signs, "l2")
    np.testing.assert_allclose(found.sample_weights, 0.25)
    # The means of the classes are 1 apart.
    assert (found.bound, found.w.tolist(), found.b) == (0.5, [1, 0], -0.5)


def test_exclusive_or_has_no_halfspace():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    with pytest.warns(ConvergenceWarning, match="No halfspace classifies all samples"):
        learner = ConsistentHalfspace().fit(X, y)
    assert not learner.is_consistent_
    assert learner.margin_ <= 0
    np.testing.assert_allclose(learner.sample_weights_, 0.25)
    with pytest.warns(ConvergenceWarning, match="In 40 starts no halfspace"):
        learner = ConsistentHalfspace(sigma=0.05, random_state=0).fit(X, y)
    assert not learner.is_consistent_


@given(st.integers(0, 10**6), st.sampled_from([0.02, 0.1, 0.3]), st.booleans())
def test_modified_perceptron_is_right_beyond_sigma_and_within_its_bound(
    seed, sigma, as_sparse
):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (60, 6)).astype(float)
    X[:, 0] = 1
    target = rng.standard_normal(6)
    signs = np.where(X @ target > 0, 1.0, -1.0)
    table = sparse.csr_array(X) if as_sparse else X
    w, n_updates, found = modified_perceptron(table, signs, sigma, 50, rng)
    assert found
    np.testing.assert_allclose(np.linalg.norm(w), 1)
    cosines = signs * (X @ w) / np.linalg.norm(X, axis=1)
    assert cosines.min() >= -sigma
    assert n_updates <= 50 * max_perceptron_updates(6, sigma)


def test_updates_of_one_start_obey_the_theorem():
    """From a start with cosine c: at most 2 ln(1 / c) / sigma**2 updates."""
    rng = np.random.default_rng(0)
    sigma = 0.1
    X = rng.integers(0, 2, (400, 8)).astype(float)
    target = rng.standard_normal(8)
    target /= np.linalg.norm(target)
    X = X[(X != 0).any(axis=1)]
    signs = np.where(X @ target > 0, 1.0, -1.0)
    for seed in range(30):
        start = np.random.RandomState(seed).standard_normal(8)
        cosine = start @ target / np.linalg.norm(start)
        if cosine <= 0:
            continue
        rng = np.random.RandomState(seed)
        _w, n_updates, found = modified_perceptron(X, signs, sigma, 1, rng)
        limit = 2 * np.log(1 / cosine) / sigma**2
        if limit <= max_perceptron_updates(8, sigma):
            assert found
            assert n_updates <= limit


def test_only_samples_near_the_boundary_may_be_wrong():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
    learner = ConsistentHalfspace(sigma=0.2, random_state=0).fit(X, y)
    near = np.abs(learner.decision_function(X)) <= 0.2
    assert learner.n_undecided_ == near.sum() > 0
    np.testing.assert_array_equal(learner.predict(X)[~near], np.array(y)[~near])


def test_the_warning_counts_the_wrong_samples():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], [0, 0, 0, 1, 0]
    with pytest.warns(ConvergenceWarning) as caught:
        learner = ConsistentHalfspace().fit(X, y)
    signs = 2 * np.array(y) - 1
    n_wrong = (signs * learner.decision_function(X) <= 0).sum()
    assert f"misclassifies {n_wrong} of 5 samples" in str(caught[0].message)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"norm": "l3"}, "norm must be one of"),
        ({"sigma": 0.0}, "sigma must be greater than 0"),
        ({"sigma": 1.0}, "sigma must be below 1; got 1"),
    ],
)
def test_bad_parameter_is_named_and_nothing_is_forgotten(parameters, message):
    learner = ConsistentHalfspace().fit([[0], [1]], [0, 1])
    learner.set_params(**parameters)
    with pytest.raises(ValueError, match=message):
        learner.fit([[1], [0]], [0, 1])
    learner.set_params(**ConsistentHalfspace().get_params())
    np.testing.assert_array_equal(learner.predict([[0], [1]]), [0, 1])


def test_doubled_entries_of_sparse_rows_stay_the_users():
    parts = np.full(4, 0.5), np.int32([0, 0, 1, 1]), np.int32([0, 2, 2, 4])
    rows = sparse.csr_array(parts, shape=(3, 2))
    ConsistentHalfspace().fit(rows, [1, 0, 1])
    assert rows.data.tolist() == [0.5] * 4
    assert rows.indices.tolist() == [0, 0, 1, 1]
    assert rows.indptr.tolist() == [0, 2, 2, 4]


def test_samples_whose_squares_overflow():
    X, y = 1e200 * np.array([[1, 0], [2, 0], [0, 1], [0, 3]]), np.array([0, 0, 1, 1])
    learner = ConsistentHalfspace(sigma=0.05, random_state=0)
    cosines = learner.fit(X, y).decision_function(X)
    assert np.isfinite(cosines).all()
    decided = np.abs(cosines) > learner.sigma
    np.testing.assert_array_equal(learner.predict(X)[decided], y[decided])
