"""KernelPerceptron against the perceptron of big integers and fractions."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.kernels import (
    PerceptronRun,
    decision_exact,
    kernel_perceptron,
    kernel_rows,
)
from scipy import sparse

UNIT = 2**16
SMALLEST = np.nextafter(0.0, 1.0)

kernels = st.fixed_dictionaries(
    {
        "max_literals": st.sampled_from([None, 0, 1, 2, 3, 5]),
        "min_literals": st.integers(0, 2),
        "monotone": st.booleans(),
        "decay": st.sampled_from([1.0, 1.0, 0.5, 0.3, 3.0]),
    }
).filter(lambda k: k["max_literals"] is None or k["min_literals"] <= k["max_literals"])

learners = st.fixed_dictionaries(
    {
        "average": st.sampled_from(["mean", "voted", None]),
        "multi_class": st.sampled_from(["ovr", "joint"]),
        "margin": st.sampled_from([0.0, 0.0, 1.0, 2.5]),
        "max_iter": st.integers(1, 3),
    }
)


@st.composite
def labelled_rows(draw, widths, n_examples=30):
    """Examples from a small pool of rows, so that many contradict each other."""
    n_features = draw(st.sampled_from(widths))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.1, 0.4, 0.9]))
    n_classes = draw(st.sampled_from([2, 2, 3, 4]))
    pool = (rng.random((12, n_features)) < density).astype(np.uint8)
    more = draw(
        st.lists(
            st.tuples(st.integers(0, 9), st.integers(0, n_classes - 1)),
            max_size=n_examples - n_classes,
        )
    )
    # Every class occurs; rows 10 and 11 are seen in prediction only.
    examples = [(k, k) for k in range(n_classes)] + more
    numbers, labels = zip(*examples, strict=True)
    return pool[list(numbers)], np.array(labels), pool


def oracle(X, y, kernel, learner, **more):
    """Return the big-integer twin and a function that gives kernel rows."""
    K = kernel_rows(X, X, constant=1, **kernel)
    run = PerceptronRun(
        K,
        y.tolist(),
        len(np.unique(y)),
        joint=learner.get("multi_class") == "joint",
        epochs=learner["max_iter"],
        margin=learner.get("margin", 0),
        relative=True,
        **more,
    )
    return run, lambda Z: kernel_rows(Z, X, constant=1, **kernel)


def assert_decisions_are_those_of(scores, model, Z):
    """Check every form of a decision against exact scores, one list for each row."""
    exact = decision_exact(model, Z)
    decision, predicted = model.decision_function(Z), model.predict(Z)
    assert np.isfinite(decision).all()
    assert decision.shape == exact.shape
    if decision.ndim == 1:
        assert exact.tolist() == [row[0] for row in scores]
        for number, shown, label in zip(exact, decision, predicted, strict=True):
            right = number >= 0
            assert label == model.classes_[int(right)]
            assert (shown > 0) == right
            assert (shown < 0) == (number < 0)
            assert_close(number, shown, model, Z)
        return
    assert exact.tolist() == scores
    for row, shown, label in zip(scores, decision, predicted, strict=True):
        assert label == model.classes_[row.index(max(row))]
        assert shown.argmax() == row.index(max(row))
        for number, one in zip(row, shown, strict=True):
            assert np.sign(one) == (number > 0) - (number < 0)
            assert_close(number, one, model, Z)


def assert_close(number, shown, model, Z):
    number = Fraction(number) / 2**model.score_exponent_
    if abs(number) > Fraction(1, 2**1000):
        # Scores within 1024 rounding bounds of 0 are computed exactly, all others
        # then have a relative error of at most 2**-10.
        assert abs(Fraction(shown) - number) <= abs(number) / 1024
    else:
        assert abs(shown) <= 2.0**-999


def assert_equals_oracle(X, y, pool, kernel, learner, layout=np.asarray):
    run, kernel_with = oracle(X, y, kernel, learner)
    model = kernel_perceptron(n_orders=0, **kernel, **learner).fit(layout(X), y)
    assert model.mistakes_per_epoch_ == run.mistakes_per_epoch
    assert model.n_mistakes_ == sum(run.mistakes_per_epoch)
    assert model.n_updates_ == run.n_updates
    assert model.n_iter_ == len(run.mistakes_per_epoch)
    assert model.t_ == run.n_seen
    scores = run.scores(kernel_with(pool), learner["average"])
    assert_decisions_are_those_of(scores, model, layout(pool))
    return run


@given(
    labelled_rows([1, 2, 3, 8, 40, 63, 64, 65, 130]),
    kernels,
    learners,
    st.sampled_from([np.asarray, sparse.csr_array]),
)
def test_model_equals_big_integer_perceptron(problem, kernel, learner, layout):
    assert_equals_oracle(*problem, kernel, learner, layout)


@settings(max_examples=16)
@given(labelled_rows([1100], n_examples=14), kernels, learners)
def test_model_equals_big_integer_perceptron_beyond_float64(problem, kernel, learner):
    if kernel["max_literals"] is None and kernel["decay"] == 0.3:
        kernel["decay"] = 0.25  # 2**-2: the oracle's fractions stay affordable
    assert_equals_oracle(*problem, kernel, learner)


@given(labelled_rows([5, 40]), kernels, learners, st.data())
def test_class_weights_scale_the_updates(problem, kernel, learner, data):
    X, y, pool = problem
    classes = np.unique(y)
    weight = st.sampled_from([1.0, 1.25, 2.5, 1.1, 1 + 2.0**-16, 1000.7])
    weights = {int(k): data.draw(weight) for k in classes}
    run, kernel_with = oracle(
        X,
        y,
        kernel,
        learner,
        weights=[Fraction(round(weights[int(k)] * UNIT), UNIT) for k in classes],
    )
    model = kernel_perceptron(
        n_orders=0, class_weight=weights, **kernel, **learner
    ).fit(X, y)
    assert model.n_mistakes_ == sum(run.mistakes_per_epoch)
    assert model.n_updates_ == run.n_updates
    scores = run.scores(kernel_with(pool), learner["average"])
    assert_decisions_are_those_of(scores, model, pool)


@pytest.mark.slow
@pytest.mark.parametrize("average", ["mean", "voted", None])
@pytest.mark.parametrize(
    "kernel",
    [
        {"max_literals": None, "min_literals": 0, "monotone": False, "decay": 1.0},
        {"max_literals": None, "min_literals": 1, "monotone": True, "decay": 1.0},
        {"max_literals": 8, "min_literals": 2, "monotone": False, "decay": 0.5},
    ],
)
def test_thousands_of_features_with_contradictions_equal_the_oracle(kernel, average):
    rng = np.random.default_rng(5)
    X = (rng.random((24, 2500)) < 0.5).astype(np.uint8)
    # Near twins and exact twins of opposite label: signs hang on the last digits.
    X[8:16] = X[:8]
    X[8:12, :3] ^= 1
    y = np.r_[rng.integers(0, 2, 8), rng.integers(0, 2, 16)]
    y[12:16] = 1 - y[4:8]
    learner = {"max_iter": 3, "average": average}
    run = assert_equals_oracle(X, y, X, kernel, learner)
    assert min(run.mistakes_per_epoch) > 0


def test_contradiction_is_decided_right_where_float64_loses_the_sign():
    # f(x) = +2**n - 2**s - 2**n = -2**s < 0, and float64 sees 0 (n - s > 53).
    n = 300
    x, far = np.zeros(n, dtype=np.uint8), np.ones(n, dtype=np.uint8)
    far[:40] = 0
    model = kernel_perceptron(
        max_literals=None, monotone=False, average=None, max_iter=1, n_orders=0
    )
    model.fit([far, x, x], [0, 1, 0])
    # f = 0 at far, f = -2**40 at x, then f = 2**300 - 2**40 there: three mistakes.
    assert model.n_mistakes_ == 3
    assert decision_exact(model, [x])[0] == -(2**40)
    assert float(2**300) - float(2**40) - float(2**300) == 0
    assert model.decision_function([x])[0] == -(2.0**40)
    assert model.predict([x]) == [0]


def test_relative_margin_is_compared_without_rounding():
    # K(x, x) = 100 and f(x) = 1 when x is met. As a float64, 0.1 lies above 1/10, so
    # that the margin 0.1 * sqrt(100) exceeds 1; its float64 product does not.
    X = np.zeros((2, 120), dtype=np.uint8)
    X[0, 100:] = 1
    X[1, :99] = 1
    model = kernel_perceptron(
        max_literals=1, margin=0.1, average=None, max_iter=1,
        n_orders=0,
    )  # fmt: skip
    model.partial_fit(X, [1, 1], classes=[0, 1])
    assert Fraction(0.1) ** 2 * 100 > 1
    assert 0.1 * 100**0.5 == 1
    assert model.n_updates_ == 2


@given(
    labelled_rows([100]),
    st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.1, 1.4]),
    st.sampled_from([None, "mean"]),
)
def test_margins_that_are_no_binary_fractions_equal_the_oracle(
    problem, margin, average
):
    X, y, pool = problem
    # Row sizes that make K(x, x) a square number, where margins meet scores.
    for row, size in zip(X, [8, 24, 35, 48, 63, 80, 99] * 5, strict=False):
        row[:] = np.random.default_rng(size).permutation(100) < size
    kernel = {"max_literals": 1, "min_literals": 1, "monotone": True, "decay": 1.0}
    learner = {
        "margin": margin, "average": average, "max_iter": 2,
    }  # fmt: skip
    assert_equals_oracle(X, y, pool, kernel, learner)


@pytest.mark.parametrize("weight", [2.0**k for k in (-10, 0, 10, 20, 25)])
@pytest.mark.parametrize("average", ["mean", None])
def test_weighing_all_classes_alike_scales_the_scores(average, weight):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (120, 8)), rng.integers(0, 3, 120)
    plain = kernel_perceptron(average=average, random_state=0).fit(X, y)
    weighted = kernel_perceptron(
        average=average, random_state=0, class_weight=dict.fromkeys(range(3), weight)
    ).fit(X, y)
    scaled = decision_exact(plain, X) * Fraction(max(weight, 1.0))
    assert np.array_equal(decision_exact(weighted, X), scaled)


@pytest.mark.parametrize("weight", [2.0**k for k in (30, 36, 38, 41, 60, 1000)])
@pytest.mark.parametrize("average", ["mean", None])
def test_class_weights_are_exact_or_refused(average, weight):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (9, 3)), rng.integers(0, 2, 9)
    # Odd weights: every coefficient needs as many bits as it has.
    weights = [weight / 7, weight / 11]
    model = kernel_perceptron(
        n_orders=0, class_weight=dict(enumerate(weights)), max_iter=9,
        average=average,
    )  # fmt: skip
    try:
        model.fit(X, y)
    except ValueError as error:
        assert "class_weight" in str(error)  # noqa: PT017
        assert weight > 2**30
        return
    run, kernel_with = oracle(
        X,
        y,
        {"max_literals": 3, "min_literals": 1, "monotone": True, "decay": 1.0},
        {"max_iter": 9},
        weights=[Fraction(round(w * UNIT), UNIT) for w in weights],
    )
    scores = run.scores(kernel_with(X), average)
    assert model.n_mistakes_ == sum(run.mistakes_per_epoch)
    assert decision_exact(model, X).tolist() == [score for [score] in scores]


@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "kernel",
    [
        {"max_literals": 2, "min_literals": 1, "monotone": True, "decay": 1.0},
        {"max_literals": 3, "min_literals": 1, "monotone": False, "decay": 0.3},
    ],
    ids=["integers", "fractions"],
)
@pytest.mark.parametrize(("average", "n_samples"), [("mean", 301), ("voted", 129)])
def test_block_borders_do_not_show(monkeypatch, kernel, n_classes, average, n_samples):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (n_samples, 6))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + (rng.random(n_samples) < 0.2)) % n_classes
    learner = {"max_iter": 2, "average": average, "multi_class": "joint"}
    run, kernel_with = oracle(X, y, kernel, learner)
    scores = run.scores(kernel_with(X[:6]), average)
    for block in (32, 96, 4096):
        monkeypatch.setattr("sklboolean.kernels._dual_training.BLOCK", block)
        model = kernel_perceptron(n_orders=0, **kernel, **learner).fit(X, y)
        assert model.mistakes_per_epoch_ == run.mistakes_per_epoch
        assert_decisions_are_those_of(scores, model, X[:6])


@settings(max_examples=20)
@given(labelled_rows([1100], n_examples=14), st.sampled_from([None, "mean"]))
def test_scores_beyond_float64_are_divided_by_a_power_of_two(problem, average):
    X, y, pool = problem
    model = kernel_perceptron(
        max_literals=None, monotone=False, average=average, n_orders=0
    ).fit(X, y)
    assert model.score_exponent_ > 0
    exact = decision_exact(model, pool).ravel()
    shown = model.decision_function(pool).ravel()
    assert np.isfinite(shown).all()
    for number, score in zip(exact, shown, strict=True):
        assert_close(number, score, model, pool)
        assert (score > 0) == (number > 0 or (number == 0 and score == SMALLEST))
        assert (score < 0) == (number < 0)


@pytest.mark.parametrize("n_features", [900, 960, 990, 1000, 1100, 3000])
def test_scores_are_divided_only_where_the_largest_may_pass_2_to_the_1000(n_features):
    X = np.random.default_rng(0).integers(0, 2, (20, n_features))
    model = kernel_perceptron(max_literals=None, monotone=False, random_state=0)
    model.fit(X, X[:, 0])
    total = int(np.abs(model._state.model.coef).sum())
    largest = (2**n_features) * total
    exponent = model.score_exponent_
    assert (exponent == 0) == (largest < 2**1000)
    assert largest < 2 ** (1000 + exponent)
    assert max(abs(score) for score in decision_exact(model, X)) <= largest
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()


def test_divided_scores_keep_the_order_of_the_exact_ones():
    # Scores of one row under all its queries: f = 2**s - 2**t, far apart in size.
    n = 1200
    X = np.zeros((n + 1, n), dtype=np.uint8)
    X[np.tril_indices(n + 1, -1, n)] = 1  # row s has s ones
    model = kernel_perceptron(
        max_literals=None, monotone=True, average=None, max_iter=1, n_orders=0
    )
    model.fit(X[[600, n]], [0, 1])
    assert model.score_exponent_ > 200
    exact, shown = decision_exact(model, X), model.decision_function(X)
    assert exact[n] == 2**1200 - 2**600
    order = sorted(range(n + 1), key=lambda i: exact[i])
    assert len(set(exact)) == 601
    for before, after in pairwise(order):
        assert (shown[before] < shown[after]) == (exact[before] < exact[after])
    assert (np.sign(shown) == [1 if e >= 0 else -1 for e in exact]).all()
