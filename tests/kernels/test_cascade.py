"""KernelPerceptron over partitions: its definition, the mistake bound, plain `fit`."""

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import kernels as oracles
from oracles.kernels import plain_perceptron
from partition_cases import partitioned
from scipy import sparse
from sklearn.base import clone

from sklboolean.datasets import make_threshold
from sklboolean.kernels._dual_mixing import mixing_weights


def conjunctions(x, z):
    """Conjunctions of two features at most that are true in both, and the empty one."""
    common = sum(a and b for a, b in zip(x, z, strict=True))
    return 1 + common + common * (common - 1) // 2


def dual(model, coefficients):
    """Coefficients over the unit, by the number of the row."""
    values = np.rint(coefficients[0] * oracles.UNIT).astype(int)
    return {i: v for i, v in zip(model.support_, values, strict=True) if v}


@settings(deadline=None, max_examples=15)
@given(
    partitioned(least=2),
    st.sampled_from([0.0, 3.0]),
    st.integers(1, 4),
    st.sampled_from([np.asarray, sparse.csr_array]),
)
def test_cascade_is_the_one_of_the_definition(parts, margin, n_epochs, layout):
    laid_out = [(layout(X), y) for X, y in parts]
    model = plain_perceptron(max_literals=2, margin=margin, max_iter=n_epochs)
    model.fit_partitions(laid_out, classes=[0, 1])
    total, last, history = oracles.play_cascade(parts, conjunctions, n_epochs, margin)
    assert dual(model, model.dual_coef_) == {i: c for i, c in total.items() if c}
    assert dual(model, model.raw_dual_coef_) == {i: c for i, c in last.items() if c}
    assert model.n_iter_ == len(history)
    assert model.n_updates_ == sum(sum(updates) for updates, _ in history)
    assert model.t_ == len(history) * sum(len(y) for _, y in parts)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=50))
def test_shares_add_up(updates):
    shares = mixing_weights(updates)
    assert shares.sum() == oracles.UNIT
    assert shares.tolist() == oracles.shares_of(updates)
    assert (shares >= 0).all()


def cut(X, y, n_parts):
    return [(X[i::n_parts], y[i::n_parts]) for i in range(n_parts)]


def test_mistake_bound_of_the_cascade():
    """Theorem 3 of McDonald, Hall, Mann in the space of conjunctions.

    The label is "x0 and x1, or x2 and x3", so that u = 2 on these conjunctions and -1
    on the constant separates with a gap of 1. Rounding to 2**-16 is within the slack.
    """
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (120, 6))
    y = ((X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3])).astype(int)
    parts = cut(X, y, 4)
    longest = max(conjunctions(x, x) for x in X)
    _, _, history = oracles.play_cascade(parts, conjunctions, 200)
    weighted = sum(
        share * n
        for updates, shares in history
        for n, share in zip(updates, shares, strict=True)
    )
    assert 0 < weighted / oracles.UNIT <= longest * 9
    model = plain_perceptron(max_literals=2, max_iter=200, average=None)
    model.fit_partitions(parts)
    assert model.mistakes_per_epoch_ == [sum(updates) for updates, _ in history]
    assert model.mistakes_per_epoch_[-1] == 0
    assert model.score(X, y) == 1.0


def make_rows(n_classes=3):
    X, y, _ = make_threshold(120, 12, n_relevant=5, random_state=1)
    return X, y if n_classes == 2 else y + X[:, 0]


LEARNERS = [
    plain_perceptron(max_iter=3),
    plain_perceptron(max_iter=3, average=None, margin=1.5, class_weight={1: 0.5}),
    plain_perceptron(max_iter=3, multi_class="joint"),
    plain_perceptron("rbf", max_iter=3),
    plain_perceptron(max_iter=3, max_literals=None, monotone=False),
]


def assert_same_model(one, other):
    for name in (
        "dual_coef_", "raw_dual_coef_", "intercept_", "support_", "support_words_",
        "classes_",
    ):  # fmt: skip
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    for name in (
        "mistakes_per_epoch_",
        "n_updates_",
        "n_iter_",
        "t_",
        "calibration_slope_",
    ):
        assert getattr(one, name) == getattr(other, name), name


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_partition_is_fit_without_shuffling(learner, n_classes):
    X, y = make_rows(n_classes)
    expected = clone(learner).set_params(n_orders=0).fit(X, y)
    assert_same_model(clone(learner).fit_partitions([(X, y)]), expected)
    other = clone(learner).fit_partitions([lambda: (X, y)], classes=np.unique(y))
    assert_same_model(other, expected)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_several_classes_are_learned_from_partitions(learner):
    X, y = make_rows()
    model = clone(learner).set_params(max_iter=20).fit_partitions(cut(X, y, 3))
    assert model.score(X, y) > 0.9
    assert model.n_support_ <= len(X)
    assert set(model.support_) <= set(range(len(X)))


@pytest.mark.parametrize(
    "backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)]
)
def test_backend_and_n_jobs_do_not_matter(backend):
    X, y = make_rows()
    parts = cut(X, y, 3)
    expected = plain_perceptron(max_iter=2).fit_partitions(parts)
    with joblib.parallel_config(backend, n_jobs=2):
        model = plain_perceptron(max_iter=2).fit_partitions(parts)
    assert_same_model(model, expected)


def test_warm_start_goes_on():
    X, y = make_rows(2)
    parts = cut(X, y, 3)
    model = plain_perceptron(max_iter=2, warm_start=True).fit_partitions(parts)
    first = model.n_mistakes_
    model.fit_partitions(parts)
    assert len(model.mistakes_per_epoch_) == 4
    assert model.n_mistakes_ >= first
    assert model.t_ == 4 * len(X)
    # What stood there before keeps its number; the rows come again as new ones.
    assert model.support_.max() >= 2 * len(X)
    assert plain_perceptron(max_iter=4).fit_partitions(parts).score(X, y) > 0.9


X, Y = make_rows(2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"average": "voted"}, "average='voted'"),
        ({"max_support": 5}, "max_support"),
        ({"class_weight": "balanced"}, "class_weight='balanced'"),
        ({"kernel": "precomputed"}, "kernel='precomputed'"),
        ({"margin": -1.0}, "margin"),
    ],
)
def test_what_needs_all_rows_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        plain_perceptron(**parameters).fit_partitions([(X, Y)])


def test_weights_do_not_overflow():
    """Shares of 2**-16 multiply coefficients over 2**16, for any class weight."""
    parts = cut(X, Y, 2)
    expected = plain_perceptron(class_weight={0: 1.0, 1: 1.0}).fit_partitions(parts)
    for weight in (2.0**10, 2.0**20):
        model = plain_perceptron(class_weight={0: weight, 1: weight})
        model.fit_partitions(parts)
        # Shares are the same; coefficients differ by what is rounded.
        close = {"rtol": 1e-3, "atol": 0.01}
        found = model.decision_function(X) / weight
        np.testing.assert_allclose(found, expected.decision_function(X), **close)
    for weight in (2.0**30, 2.0**35):
        model = plain_perceptron(class_weight={0: weight, 1: weight})
        with pytest.raises(ValueError, match="integer coefficients"):
            model.fit_partitions(parts)


def test_partitions_must_stay_as_they_are():
    sizes = iter([30, 20])

    def load():
        n = next(sizes)
        return X[:n], Y[:n]

    with pytest.raises(ValueError, match="Partition 0: 30 samples were loaded"):
        plain_perceptron().fit_partitions([load, (X[30:], Y[30:])])
