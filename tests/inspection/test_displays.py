"""Displays: what they draw is what they were given."""

import sys
import warnings
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklboolean import (
    BernoulliMixture,
    BooleanStump,
    BoostByMajority,
    BoostByMajorityRegressor,
    ConjunctionLogisticRegression,
    QueryByCommittee,
)
from sklboolean.active_learning import (
    FiniteVersionSpace,
    HalfspaceVersionSpace,
)
from sklboolean.boosting import BoostingSchedule
from sklboolean.inspection import (
    BoostingCurveDisplay,
    CompletionDisplay,
    DependenceDisplay,
    QueryCurveDisplay,
    RobustnessDisplay,
    RuleDisplay,
    WeightsDisplay,
    robustness,
)


class Machine(BaseEstimator):
    """A model with weights that fills every erased bit with 1."""

    def __init__(self, components, hidden_bias):
        self.components_ = np.asarray(components, dtype=float)
        self.hidden_bias_ = np.asarray(hidden_bias, dtype=float)

    def fit(self):
        return self

    def impute(self, X, method, random_state):
        return np.where(np.isnan(X), 1.0, X)


UNDRAWN = [
    CompletionDisplay(np.eye(2), np.eye(2), (1, 2)),
    BoostingCurveDisplay({"a": [0.0, 1.0]}),
    DependenceDisplay([("a", "b", 0.5)]),
    QueryCurveDisplay([1, 2], {"a": np.array([0.0, 1.0])}),
    RobustnessDisplay([1.0], [True]),
    RuleDisplay(["x0"], [1.0]),
    WeightsDisplay(np.eye(2)),
]


@pytest.mark.parametrize("display", UNDRAWN, ids=lambda display: type(display).__name__)
def test_without_matplotlib_the_way_out_is_named(display, monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "sklboolean\[plot\]"'):
        display.plot()


# Weights


def squares_of(ax):
    """Area and centre of each square by colour: white for positive weights."""
    found = {}
    for collection in ax.collections:
        color = tuple(collection.get_facecolor()[0][:3])
        for path in collection.get_paths():
            low, high = path.vertices.min(axis=0), path.vertices.max(axis=0)
            x, y = (low + high) / 2
            found[round(y), round(x)] = color, (high - low).prod()
    return found


def test_squares_have_the_area_and_the_sign_of_the_weights():
    weights = np.array([[4.0, -1.0, 0.0, 2.0, -2.0, 1.0]])
    display = WeightsDisplay(weights, image_shape=(2, 3)).plot()
    squares = squares_of(display.axes_[0, 0])
    expected = weights.reshape(2, 3) / 4
    assert set(squares) == set(map(tuple, np.argwhere(expected)))
    for place, (color, area) in squares.items():
        assert area == pytest.approx(0.9**2 * abs(expected[place]))
        assert color == ((1, 1, 1) if expected[place] > 0 else (0, 0, 0))


def test_every_unit_has_a_diagram_with_its_bias():
    machine = Machine(np.eye(7), np.arange(7) / 2)
    display = WeightsDisplay.from_estimator(machine, n_columns=3)
    assert display.axes_.shape == (7, 1), "one row of squares lies across the figure"
    assert display.axes_[3, 0].get_title() == "bias 1.5"
    machine = Machine(np.ones((7, 4)), np.zeros(7))
    display = WeightsDisplay.from_estimator(machine, image_shape=(2, 2), n_columns=3)
    assert display.axes_.shape == (3, 3)
    assert [ax.axison for ax in display.axes_.ravel()] == [True] * 7 + [False] * 2


def test_features_in_a_row_have_their_names_below_the_last_diagram():
    machine = Machine([[1.0, 2.0], [3.0, 4.0]], [-0.04, 1.0])
    machine.feature_names_in_ = np.array(["a", "b"], dtype=object)
    axes = WeightsDisplay.from_estimator(machine).axes_[:, 0]
    assert [len(ax.get_xticks()) for ax in axes] == [0, 2]
    assert [label.get_text() for label in axes[1].get_xticklabels()] == ["a", "b"]
    assert axes[0].get_title() == "bias 0.0", "not -0.0"
    picture = WeightsDisplay.from_estimator(machine, image_shape=(2, 1)).axes_[0, 0]
    assert not len(picture.get_xticks())


def test_weights_of_zero_are_no_squares():
    display = WeightsDisplay(np.zeros((1, 4)), image_shape=(2, 2)).plot()
    assert not squares_of(display.axes_[0, 0])


@pytest.mark.parametrize("shape", [(2, 2), (1, 5), (6, 0)])
def test_an_image_of_another_size_is_an_error(shape):
    machine = Machine(np.ones((1, 6)), [0.0])
    with pytest.raises(ValueError, match=r"image_shape must have 6 pixels"):
        WeightsDisplay.from_estimator(machine, image_shape=shape)
    with pytest.raises(ValueError, match=r"image_shape must have 6 pixels"):
        CompletionDisplay.from_estimator(machine, np.ones((1, 6)), image_shape=shape)


@pytest.mark.parametrize("shape", [(-2, -3), "ab", 6, (2, 3, 1), (2.0, 3.0)])
def test_a_shape_that_is_none_is_an_error(shape):
    with pytest.raises(ValueError, match=r"image_shape must be \(height, width\)"):
        WeightsDisplay(np.ones((1, 6)), image_shape=shape).plot()


def test_models_without_weights_and_no_columns_are_errors():
    machine = Machine(np.ones((1, 6)), [0.0])
    with pytest.raises(ValueError, match="n_columns"):
        WeightsDisplay.from_estimator(machine, n_columns=0)
    del machine.components_
    with pytest.raises(ValueError, match=r"must have components_.* got a Machine"):
        WeightsDisplay.from_estimator(machine)


# Completions


def test_strips_show_erased_completed_and_original_pixels():
    X = np.array([[0, 1, np.nan, 0], [np.nan, 0, 0, 1]])
    original = np.array([[0, 1, 0, 0], [1, 0, 0, 1]])
    display = CompletionDisplay.from_estimator(
        Machine(np.ones((1, 4)), [0.0]), X, image_shape=(2, 2), X_original=original
    )
    assert display.axes_.shape == (3, 2)
    shown = [[ax.images[0].get_array() for ax in axes] for axes in display.axes_]
    np.testing.assert_array_equal(shown[0][1].mask, np.isnan(X[1]).reshape(2, 2))
    np.testing.assert_array_equal(shown[1][0], [[0, 1], [1, 0]])
    np.testing.assert_array_equal(shown[2][1], original[1].reshape(2, 2))
    assert [axes[0].get_ylabel() for axes in display.axes_] == [
        "erased",
        "completed",
        "original",
    ]
    scales = {ax.images[0].get_clim() for ax in display.axes_.ravel()}
    assert scales == {(0.0, 1.0)}, "one scale for all"


def test_other_originals_are_an_error():
    machine, X = Machine(np.ones((1, 4)), [0.0]), np.zeros((2, 4))
    with pytest.raises(
        ValueError, match=r"original must have the shape.* got \(1, 4\)"
    ):
        CompletionDisplay.from_estimator(
            machine, X, image_shape=(2, 2), X_original=X[:1]
        )


# Query curves


def test_curves_are_the_means_of_their_runs():
    runs = np.array([[0.5, 0.7, 0.9], [0.7, 0.9, 0.9]])
    display = QueryCurveDisplay.from_predictions(
        [1, 5, 9], {"queried": [0.6, 0.9, 1.0], "random": runs}, score_name="AUC"
    ).plot()
    assert display.ax_.get_ylabel() == "AUC"
    assert display.ax_.get_xlabel() == "Labels"
    line = display.lines_["random"]
    np.testing.assert_array_equal(line.get_xdata(), [1, 5, 9])
    np.testing.assert_allclose(line.get_ydata(), [0.6, 0.8, 0.9])
    (band,) = display.ax_.collections
    low, high = band.get_paths()[0].vertices[:, 1].min(), 0.9
    assert low == pytest.approx(0.6 - 0.1)  # sd .1414 / sqrt(2)
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(high)
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names == ["queried", "random"]
    colors = {line.get_color() for line in display.lines_.values()}
    styles = {line.get_linestyle() for line in display.lines_.values()}
    assert len(colors) == len(styles) == 2


def test_more_curves_than_colors_are_all_drawn():
    scores = {f"curve {i}": [0.0, i / 10] for i in range(9)}
    for display in (
        BoostingCurveDisplay(scores),
        QueryCurveDisplay.from_predictions([1, 2], scores),
    ):
        lines = display.plot().lines_
        assert [line.get_ydata()[1] for line in lines.values()] == [
            i / 10 for i in range(9)
        ]
        assert len(display.ax_.get_legend().get_texts()) == 9


def test_curves_of_another_length_are_an_error():
    with pytest.raises(ValueError, match=r"scores\['a'\].* 3 entries"):
        QueryCurveDisplay.from_predictions([1, 2, 3], {"a": [0.5, 0.6]})


def test_given_axes_are_used():
    _figure, ax = plt.subplots()
    display = QueryCurveDisplay([1, 2], {"a": np.array([0.0, 1.0])}).plot(ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


BITS = np.random.RandomState(0).randint(0, 2, size=(120, 6))
WORDS = np.where(BITS[:, :2].all(axis=1), "yes", "no")
LEARNERS = [
    {"n_members": 5},
    {"n_members": 3, "final_estimator": DecisionTreeClassifier()},
    {"committee": FiniteVersionSpace("conjunctions")},
    {
        "committee": HalfspaceVersionSpace(sampler="expectation_propagation"),
        "final_estimator": LogisticRegression(),
    },
]


@pytest.mark.parametrize(
    ("parameters", "as_frame"),
    [(LEARNERS[0], True), *((parameters, False) for parameters in LEARNERS)],
)
def test_the_committee_is_trained_again_on_queried_samples(parameters, as_frame):
    X = pd.DataFrame(BITS).add_prefix("bit ") if as_frame else BITS
    pool, test = (X[:80], WORDS[:80]), (X[80:], WORDS[80:])
    learner = QueryByCommittee(max_queries=25, random_state=3, **parameters).fit(*pool)
    before = learner.query_indices_.copy()
    display = QueryCurveDisplay.from_estimator(
        learner, *pool, *test, n_points=6, n_random=2, random_state=0
    )
    assert display.n_labels[0] == 1
    assert display.n_labels[-1] == len(before) <= 25
    assert display.scores["random"].shape == (2, len(display.n_labels))
    # The last committee is the fitted one; the first had labels of one class.
    assert display.scores["queried"][-1] == learner.score(*test)
    first = np.mean(test[1] == learner.query_labels_[0])
    assert display.scores["queried"][0] == first
    np.testing.assert_array_equal(learner.query_indices_, before)
    assert display.ax_.get_ylabel() == "Accuracy"


def test_curves_of_other_scores():
    learner = QueryByCommittee(max_queries=15, random_state=0).fit(BITS, WORDS)
    display = QueryCurveDisplay.from_estimator(
        learner, BITS, WORDS, BITS, WORDS, scoring="roc_auc", n_random=0, n_points=50
    )
    assert list(display.scores) == ["queried"]
    np.testing.assert_array_equal(display.n_labels, np.arange(1, 16))
    assert display.scores["queried"][0] == 0.5, "all rows alike"
    assert display.ax_.get_ylabel() == "roc_auc"
    unasked = QueryByCommittee(random_state=0).teach(BITS, WORDS)
    with pytest.raises(ValueError, match="queried no sample"):
        QueryCurveDisplay.from_estimator(unasked, BITS, WORDS, BITS, WORDS)


# Densities


def test_bars_of_dependence_are_the_strongest_pairs_of_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (60, 4)))
    X.columns = ["age <= 3", "age <= 5", "city = Rome", "ill"]
    X["ill"] |= X["age <= 5"]
    mixture = BernoulliMixture(3, random_state=0).fit(X)
    display = DependenceDisplay.from_estimator(mixture, n_pairs=2)
    found = mixture.mutual_information()
    expected = {
        "age, city": max(found[0, 2], found[1, 2]),
        "age, ill": max(found[0, 3], found[1, 3]),
        "city, ill": found[2, 3],
    }
    strongest = sorted(expected, key=expected.get, reverse=True)[:2]
    texts = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert texts == strongest
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, [expected[name] for name in strongest])
    with pytest.raises(ValueError, match="feature_names has 1 names, but"):
        DependenceDisplay.from_estimator(mixture, feature_names=["a"])


# Boosters


@pytest.mark.parametrize("n_classes", [2, 3, None])
def test_boosting_curves_are_the_scores_of_staged_predictions(n_classes):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (120, 6))
    if n_classes is None:
        y = X @ np.arange(6.0)
        booster = BoostByMajorityRegressor(n_estimators=5, random_state=0)
    else:
        y = X[:, :n_classes].argmax(axis=1)
        booster = BoostByMajority(
            n_estimators=5, schedule=BoostingSchedule(gamma=0.1), random_state=0
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        booster.fit(X[:80], y[:80])
    data = {"train": (X[:80], y[:80]), "test": (X[80:], y[80:])}
    display = BoostingCurveDisplay.from_estimator(booster, data)
    assert display.score_name == ("R2" if n_classes is None else "Accuracy")
    for name, (some, labels) in data.items():
        curve = display.lines_[name].get_ydata()
        assert len(curve) == len(list(booster.staged_predict(some)))
        assert curve[-1] == pytest.approx(booster.score(some, labels))
    with pytest.raises(TypeError, match=r"^estimator must have staged_predict"):
        BoostingCurveDisplay.from_estimator(BooleanStump().fit(X, y > 0), data)


def test_certified_accuracy_is_that_under_every_change():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (60, 4)), columns=list("abcd"))
    y = (X.sum(axis=1) > 2) ^ (rng.random(60) < 0.1)
    model = ConjunctionLogisticRegression(C=10.0).fit(X, y)
    display = RobustnessDisplay.from_estimator(model, X, y)
    states = np.array(list(product((0, 1), repeat=4)))
    predictions = model.predict(pd.DataFrame(states, columns=X.columns))
    distances = (X.to_numpy()[:, None] != states).sum(axis=2)
    is_wrong = predictions != y.to_numpy()[:, None]
    nearest = np.where(is_wrong, distances, 9).min(axis=1)
    expected = [np.mean(nearest > k) for k in display.n_columns]
    np.testing.assert_allclose(display.certified_accuracy, expected)
    (_, points) = display.ax_.lines
    np.testing.assert_allclose(points.get_xydata()[:, 1], expected)
    assert expected[0] == model.score(X, y)
    no_change = RobustnessDisplay([np.inf, np.inf], [True, False])
    assert no_change.certified_accuracy.tolist() == [0.5]
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RobustnessDisplay(robustness(model, X), [True])
