"""RuleDisplay: a bar for each rule, as long as its value."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

from sklboolean import (
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    RuleClassifier,
)
from sklboolean.datasets import make_monks
from sklboolean.inspection import RuleDisplay
from sklboolean.rules import Rule, extract_dnf, top_conjunctions


@pytest.fixture(scope="module")
def model():
    data = make_monks(1, as_frame=True)
    return RuleClassifier(random_state=0).fit(data.data, data.target)


def labels_of(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


@pytest.fixture(scope="module")
def svc():
    data = make_monks(1, as_frame=True)
    return SVC(gamma=0.1).fit(data.data, data.target)


@pytest.mark.parametrize("value", ["coverage", "precision"])
def test_bars_are_the_values_of_the_rules(model, value):
    display = RuleDisplay.from_estimator(model, value=value)
    widths = [bar.get_width() for bar in display.bars_]
    assert widths == [getattr(rule, value) for rule in model.rules_]
    assert labels_of(display.ax_) == model.to_text().splitlines()[:-1]
    unit = " (samples)" if value == "coverage" else ""
    assert display.ax_.get_xlabel() == value + unit
    assert display.ax_.yaxis_inverted()


@pytest.mark.parametrize("value", ["weight", "contribution"])
def test_bars_are_the_weights_of_a_dnf(svc, value):
    dnf = extract_dnf(svc, make_monks(1, as_frame=True).data)
    display = RuleDisplay.from_rules(dnf, value=value)
    widths = [bar.get_width() for bar in display.bars_]
    assert widths == [getattr(rule, value) for rule in dnf.rules]


def test_rules_of_a_search_on_given_axes(svc):
    _, ax = plt.subplots()
    rules = top_conjunctions(svc, 9, sign="both", max_literals=2)
    display = RuleDisplay.from_rules(rules, max_rules=5, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert labels_of(ax) == [rule.to_text() for rule in rules[:5]]
    colors = {np.sign(v): bar.get_facecolor() for v, bar in zip(
        display.values, display.bars_, strict=True)}  # fmt: skip
    assert len(set(colors.values())) == len(colors)


@pytest.mark.parametrize("value", ["weight", "coverage"])
@pytest.mark.parametrize(
    "model", [ConjunctionLogisticRegression(C=1.0), ConjunctionRegressor(C=1.0)]
)
def test_bars_are_the_weights_of_a_conjunction_model(model, value):
    data = make_monks(1, as_frame=True)
    model.fit(data.data, data.target)
    display = RuleDisplay.from_estimator(model, value=value, max_rules=4)
    widths = [bar.get_width() for bar in display.bars_]
    assert widths == [getattr(rule, value) for rule in model.rules_[:4]]
    assert labels_of(display.ax_) == [rule.to_text() for rule in model.rules_[:4]]


def test_weights_of_several_classes_are_parts_of_their_scores():
    data = make_monks(1, as_frame=True)
    labels = data.target + 2 * data.data.iloc[:, 0].to_numpy()
    model = ConjunctionLogisticRegression(C=1.0).fit(data.data, labels)
    display = RuleDisplay.from_estimator(model)
    assert display.values.tolist() == [rule.weight for rule in model.rules_]
    assert (display.values < 0).any()
    assert display.texts == [f"{rule.label}: {rule.to_text()}" for rule in model.rules_]
    assert display.ax_.get_xlabel() == "weight"


def test_what_has_no_rules_is_sent_to_from_rules(svc):
    dnf = extract_dnf(svc, make_monks(1, as_frame=True).data)
    for other in (dnf, SVC().fit([[0], [1]], [0, 1])):
        with pytest.raises(TypeError, match=f"A {type(other).__name__} has no rules_"):
            RuleDisplay.from_estimator(other)
    display = RuleDisplay.from_rules(dnf, value="coverage")
    assert labels_of(display.ax_) == [
        f"{rule.label} if {rule.to_text(dnf.feature_names)}" for rule in dnf.rules
    ]
    with pytest.raises(NotFittedError):
        RuleDisplay.from_estimator(RuleClassifier())


def test_bad_values(model):
    with pytest.raises(ValueError, match="value must be one of"):
        RuleDisplay.from_estimator(model, value="length")
    with pytest.raises(ValueError, match="not every rule has a coverage"):
        RuleDisplay.from_rules([Rule((), 1.0, 1.0)], value="coverage")
    with pytest.raises(ValueError, match="max_rules == 0, must be >= 1"):
        RuleDisplay.from_rules([], max_rules=0)
    with pytest.raises(ValueError, match="one value for each"):
        RuleDisplay(["a"], [1.0, 2.0])
