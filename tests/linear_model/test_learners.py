"""AveragedPerceptron and Winnow against the algorithms by definition."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import linear_model as oracles
from scipy import sparse
from sklearn.model_selection import train_test_split

from sklboolean._core.calibration import calibrated_loss
from sklboolean.datasets import make_disjunction, make_threshold
from sklboolean.linear_model import AveragedPerceptron, Winnow
from sklboolean.theory import (
    perceptron_mistake_bound,
    winnow1_mistake_bound,
    winnow_mistake_bound,
)

layouts = st.sampled_from([np.asarray, sparse.csr_array, np.float64])


@st.composite
def streams(draw, real=False):
    """A few rows of few features, labelled at random."""
    n_samples, n_features = draw(st.integers(4, 25)), draw(st.integers(1, 7))
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    low, high = (-2, 3) if real else (0, 2)
    X = rng.integers(low, high, (n_samples, n_features))
    y = rng.integers(0, 2, n_samples)
    y[:2] = [0, 1]
    return X, y


def assert_follows(model, player, X):
    """Counts, the last hypothesis and the mean are those of the exact player."""
    assert model.n_mistakes_ == sum(player.mistakes)
    assert model.n_updates_ == sum(player.updates)
    assert model.t_ == len(player.updates)
    last = [float(w) for w in player.weights[-1]]
    np.testing.assert_allclose(model.raw_coef_[0], last, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        model.raw_intercept_[0], -float(player.thresholds[-1]), rtol=1e-12, atol=1e-12
    )


def assert_publishes_mean(model, player):
    weights, threshold = player.mean()
    expected = [*map(float, weights), -float(threshold)]
    got = [*model.coef_[0], model.intercept_[0]]
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-11)


@settings(max_examples=80)
@given(
    streams(real=True),
    st.sampled_from([0.0, 1.0, 2.5, (0.5, 3.0)]),
    st.sampled_from([1.0, 0.25]),
    st.booleans(),
    st.integers(1, 3),
    layouts,
)
def test_perceptron_is_the_one_of_the_definition(
    stream, margin, rate, fit_intercept, max_iter, layout
):
    X, y = stream
    model = AveragedPerceptron(
        margin=margin, learning_rate=rate, fit_intercept=fit_intercept,
        max_iter=max_iter, shuffle=False,
    ).fit(layout(X), y)  # fmt: skip
    player = oracles.Perceptron(
        X.shape[1], learning_rate=Fraction(rate), learn_threshold=fit_intercept,
        margin=margin,
    )  # fmt: skip
    for _ in range(max_iter):
        player.play(X, y)
    assert_follows(model, player, X)
    assert_publishes_mean(model, player)


@settings(max_examples=80)
@given(
    streams(),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from([2.0, 1.5, 1.25]),
    st.sampled_from([None, 0.5, 0]),
    st.sampled_from([1.0, 3.0, "auto"]),
    st.integers(1, 3),
    layouts,
)
def test_positive_winnow_is_the_one_of_the_definition(
    stream, margin, promotion, demotion, threshold, max_iter, layout
):
    X, y = stream
    model = Winnow(
        variant="positive", margin=margin, threshold=threshold, max_iter=max_iter,
        promotion=promotion if demotion is None else (promotion, demotion),
        shuffle=False,
    ).fit(layout(X), y)  # fmt: skip
    player = oracles.Winnow(
        X.shape[1], promotion=promotion,
        demotion=None if demotion is None else Fraction(demotion),
        threshold=X.shape[1] if threshold == "auto" else threshold, margin=margin,
    )  # fmt: skip
    for _ in range(max_iter):
        player.play(X, y)
    if promotion in (2.0,) or demotion is not None:
        assert_follows(model, player, X)
        assert_publishes_mean(model, player)


@given(
    streams(), st.sampled_from([0.0, 1.0]), st.booleans(), st.integers(1, 3), layouts
)
def test_balanced_winnow_is_the_one_of_the_definition(
    stream, margin, fit_intercept, max_iter, layout
):
    X, y = stream
    model = Winnow(
        promotion=2.0, margin=margin, threshold="auto" if fit_intercept else None,
        max_iter=max_iter, shuffle=False,
    ).fit(layout(X), y)  # fmt: skip
    # The intercept is a constant feature.
    Z = np.column_stack([X, np.ones(len(X), dtype=int)]) if fit_intercept else X
    player = oracles.BalancedWinnow(Z.shape[1], promotion=2, margin=margin)
    for _ in range(max_iter):
        player.play(Z, y)
    assert model.n_mistakes_ == sum(player.mistakes)
    assert model.n_updates_ == sum(player.updates)
    weights, _ = player.mean()
    got = [*model.coef_[0], model.intercept_[0]] if fit_intercept else model.coef_[0]
    np.testing.assert_allclose(got, [*map(float, weights)], rtol=1e-11, atol=1e-11)


@given(streams(), st.sampled_from([0.0, 1.0]), st.integers(1, 3), layouts)
def test_complement_winnow_is_positive_winnow_on_doubled_features(
    stream, margin, max_iter, layout
):
    X, y = stream
    options = {
        "promotion": 2.0, "margin": margin, "max_iter": max_iter, "shuffle": False,
    }  # fmt: skip
    doubled = np.hstack([X, 1 - X])
    virtual = Winnow(variant="complement", **options).fit(layout(X), y)
    real = Winnow(variant="positive", **options).fit(doubled, y)
    assert virtual.n_mistakes_ == real.n_mistakes_
    assert virtual.n_updates_ == real.n_updates_
    np.testing.assert_allclose(
        virtual.decision_function(X), real.decision_function(doubled), rtol=1e-11,
        atol=1e-12,
    )  # fmt: skip


@given(streams(), st.sampled_from(["positive", "complement"]), layouts)
def test_conjunctions_are_disjunctions_of_negations(stream, variant, layout):
    X, y = stream
    options = {
        "promotion": 2.0, "max_iter": 2, "shuffle": False, "margin": 0.0
    }  # fmt: skip
    conjunction = Winnow(variant=f"{variant}_conjunction", **options).fit(layout(X), y)
    disjunction = Winnow(variant=variant, **options).fit(1 - X, 1 - y)
    assert conjunction.n_mistakes_ == disjunction.n_mistakes_
    scores = disjunction.decision_function(1 - X)
    scores = np.where(np.abs(scores) < 1e-300, 0, scores)
    mine = conjunction.decision_function(X)
    mine = np.where(np.abs(mine) < 1e-300, 0, mine)
    np.testing.assert_allclose(mine, -scores, rtol=1e-11, atol=1e-11)


@given(streams(), st.integers(1, 3))
def test_longest_is_the_hypothesis_that_survived_most(stream, max_iter):
    X, y = stream
    model = AveragedPerceptron(
        average="longest", margin=0.0, max_iter=max_iter, shuffle=False
    ).fit(X, y)
    player = oracles.Perceptron(X.shape[1], learn_threshold=True)
    for _ in range(max_iter):
        player.play(X, y)
    longest = max(length for _, _, length in player.stretches())
    candidates = [
        [*map(float, weights), -float(threshold)]
        for weights, threshold, length in player.stretches()
        if length == longest
    ]
    got = [*model.coef_[0], model.intercept_[0]]
    assert any(np.allclose(got, c, rtol=1e-12, atol=1e-12) for c in candidates)


@pytest.mark.parametrize(
    "learner",
    [
        AveragedPerceptron(margin=5.0),
        AveragedPerceptron(
            margin=5.0, learning_rate="adagrad", average="longest"
        ),
        AveragedPerceptron(margin=5.0, learning_rate="inverse_sqrt"),
        AveragedPerceptron(margin=5.0, learning_rate="aggressive", average=None),
        Winnow(), Winnow(variant="complement"), Winnow(variant="positive"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("n_classes", [2, 4])
def test_parts_equal_one_pass(learner, n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (200, 70)), rng.integers(0, n_classes, 200)
    whole = type(learner)(**learner.get_params()).set_params(shuffle=False, max_iter=1)
    whole.fit(X, y)
    parts = type(learner)(**learner.get_params())
    for rows in np.split(np.arange(200), [1, 7, 90]):
        parts.partial_fit(X[rows], y[rows], classes=range(n_classes))
    np.testing.assert_array_equal(whole.coef_, parts.coef_)
    np.testing.assert_array_equal(whole.intercept_, parts.intercept_)
    assert whole.n_mistakes_ == parts.n_mistakes_
    assert whole.n_updates_ == parts.n_updates_


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("learner", [AveragedPerceptron(), Winnow()])
def test_layouts_and_processor_paths_give_one_model(
    learner, multi_class, n_classes, cpu_paths
):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (150, 130)), rng.integers(0, n_classes, 150)
    learner = type(learner)(multi_class=multi_class, random_state=0)
    expected = learner.fit(X, y).coef_
    for _ in cpu_paths():
        np.testing.assert_array_equal(learner.fit(X, y).coef_, expected)
    for layout in (np.float64, np.bool_, sparse.csr_array):
        coefficients = learner.fit(layout(X), y).coef_
        np.testing.assert_allclose(coefficients, expected, rtol=1e-9, atol=1e-9)


def test_aggressive_updates_land_on_the_margin():
    X = np.array([[1, 1, 0], [0, 1, 1]])
    model = AveragedPerceptron(
        learning_rate="aggressive", margin=2.0, average=None, max_iter=1, shuffle=False
    )
    model.partial_fit(X[:1], [1], classes=[0, 1])
    assert model.decision_function(X[:1])[0] == pytest.approx(2.0)
    model.partial_fit(X[1:], [0])
    assert model.decision_function(X[1:])[0] == pytest.approx(-2.0)


@pytest.mark.parametrize("seed", range(5))
def test_mistakes_stay_below_the_theorems(seed):
    X, y, relevant = make_disjunction(2000, 300, n_relevant=3, random_state=seed)
    n, k = X.shape[1], len(relevant)
    options = {
        "variant": "positive", "margin": 0.0, "max_iter": 3, "random_state": seed
    }  # fmt: skip
    winnow = Winnow(promotion=2.0, threshold=n, **options).fit(X, y)
    assert winnow.n_mistakes_ <= winnow_mistake_bound(n, k, 2, n)
    first = Winnow(promotion=(2.0, 0), threshold=n / 2, **options).fit(X, y)
    assert first.n_mistakes_ <= winnow1_mistake_bound(n, k)
    perceptron = AveragedPerceptron(margin=0.0, max_iter=3, random_state=seed).fit(X, y)
    # u = 2 on the relevant features, -1 on the constant one: y u.x >= 1.
    radius = np.sqrt(X.sum(axis=1).max() + 1)
    bound = perceptron_mistake_bound(radius, 1, np.sqrt(4 * k + 1))
    assert perceptron.n_mistakes_ <= bound


def test_winnow_needs_fewer_mistakes_on_a_sparse_target():
    X, y, _ = make_threshold(3000, 500, n_relevant=5, random_state=0)
    winnow = Winnow(random_state=0, margin=0.0).fit(X, y)
    perceptron = AveragedPerceptron(random_state=0, margin=0.0).fit(X, y)
    assert winnow.n_mistakes_ < perceptron.n_mistakes_


def test_perceptron_needs_fewer_mistakes_on_sparse_instances():
    """Five active features of 800, all of them relevant, with weights of -1 and 1."""
    rng = np.random.default_rng(0)
    weights = np.where(np.arange(800) % 2, -1, 1)
    X = np.zeros((20_000, 800), dtype=np.uint8)
    active = rng.permuted(np.tile(np.arange(800), (20_000, 1)), axis=1)[:, :5]
    np.put_along_axis(X, active, 1, axis=1)
    y = X @ weights > 0
    plain = {"average": None, "margin": 0.0, "max_iter": 1, "shuffle": False}
    perceptron = AveragedPerceptron(**plain).fit(X, y)
    winnow = Winnow(variant="positive", **plain).fit(X, y)
    assert 2 * perceptron.n_mistakes_ < winnow.n_mistakes_


def test_weights_neither_overflow_nor_stick_at_zero():
    X = np.array([[1, 0], [1, 1]] * 200)
    y = np.array([0, 1] * 200)
    model = Winnow(variant="positive", promotion=1e6, average=None, shuffle=False)
    model.fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert (model.coef_ > 0).all()


@pytest.mark.parametrize("estimator", [AveragedPerceptron, Winnow])
def test_doubled_unordered_and_zero_entries_are_those_of_the_dense_array(estimator):
    # Samples 0 and 1 with entries out of order, one that is split and one of zero.
    data = np.array([1.0, 0.5, 0.5, 0.0, 2.0])
    indices, indptr = np.int32([2, 0, 0, 1, 2]), np.int32([0, 3, 5])
    rows = sparse.csr_array((data, indices, indptr), shape=(2, 3))
    model = estimator(random_state=0).fit(rows, [0, 1])
    dense = estimator(random_state=0)
    dense.fit([[1.0, 0, 1], [0, 0, 2]], [0, 1])
    np.testing.assert_array_equal(model.coef_, dense.coef_)
    assert rows.data.tolist() == data.tolist()
    assert rows.indices.tolist() == indices.tolist()


@pytest.mark.parametrize("learner", [AveragedPerceptron, Winnow])
def test_early_stopping_keeps_the_epoch_with_the_least_log_loss(learner):
    rng = np.random.default_rng(0)
    X = rng.random((900, 12)) < 0.3
    y = (rng.random(900) < np.where(X[:, 0] & X[:, 1], 0.5, 0.02)).astype(int)
    settings = {"shuffle": False, "random_state": 0}
    stopped = learner(early_stopping=True, max_iter=20, **settings).fit(X, y)
    train, test = train_test_split(
        np.arange(900), test_size=0.1, stratify=y, random_state=0
    )
    train, models, losses = np.sort(train), [], []
    for n_epochs in range(1, stopped.n_iter_ + 1):
        models.append(learner(max_iter=n_epochs, **settings).fit(X[train], y[train]))
        scores = models[-1].decision_function(X[test])
        losses.append(calibrated_loss(scores, y[test], np.ones(len(test))))
    best = int(np.argmin(losses))
    assert stopped.n_iter_ == min(best + 6, 20)
    np.testing.assert_allclose(stopped.coef_, models[best].coef_, rtol=1e-12)
