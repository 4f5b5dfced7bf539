"""Features with the largest weights, and importances of stumps and boosters."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BooleanStump,
    BoostByMajority,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    KernelPerceptron,
    RuleClassifier,
)
from sklboolean.boosting import BoostingSchedule
from sklboolean.inspection import top_features
from sklboolean.rules import conjunction_weight

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.random((200, 5)) < 0.5, columns=list("abcde"))
Y = (X["a"] & X["c"]).to_numpy().astype(int)


NOISY = np.where(RNG.random(200) < 0.2, 1 - Y, Y)


def by_definition(weights, names, n_features):
    pairs = [(name, weight) for name, weight in zip(names, weights, strict=True)]
    pairs = sorted(pairs, key=lambda pair: -abs(pair[1]))[:n_features]
    return [pair for pair in pairs if pair[1]]


@pytest.mark.parametrize(
    "model", [AveragedPerceptron(), LogisticRegression(), Ridge()], ids=repr
)
@pytest.mark.parametrize("n_features", [1, 3, 9])
def test_coefficients_are_sorted_by_absolute_value(model, n_features):
    model.fit(X, Y)
    expected = by_definition(np.ravel(model.coef_), X.columns, n_features)
    assert top_features(model, n_features) == expected
    assert {name for name, _ in expected[:2]} <= {"a", "c"}


def test_weights_of_a_class():
    y = np.where(Y, "yes", np.where(X["b"], "b", "no"))
    model = LogisticRegression().fit(X, y)
    for k, label in enumerate(["b", "no", "yes"]):
        expected = by_definition(model.coef_[k], X.columns, 10)
        assert top_features(model, target=label) == expected
    binary = LogisticRegression().fit(X, Y)
    opposite = [(name, -weight) for name, weight in top_features(binary)]
    assert top_features(binary, target=0) == opposite
    assert top_features(binary, target=1) == top_features(binary)
    for target, message in ((None, "give target"), ("maybe", "must be one of")):
        with pytest.raises(ValueError, match=message):
            top_features(model, target=target)


def test_weights_of_several_outputs_are_an_error():
    model = Ridge().fit(X, np.column_stack([Y, 1 - Y]))
    with pytest.raises(ValueError, match="several outputs"):
        top_features(model)


def test_kernel_models_have_the_weights_of_single_features():
    # Longer conjunctions would take over the weight of their features.
    for model in (KernelPerceptron(max_literals=1, random_state=0), SVC(gamma=0.1)):
        model.fit(X, Y)
        found = top_features(model, 3)
        assert "a" in dict(found)
        dual = [conjunction_weight(model, [name]) for name, _ in found]
        ratios = [weight / each[1] for weight, each in zip(dual, found, strict=True)]
        assert ratios == pytest.approx([ratios[0]] * 3)


def test_names_come_through_pipelines_and_searches():
    frame = pd.DataFrame({"age": RNG.integers(18, 90, 300)})
    frame["color"] = RNG.choice(["red", "blue"], 300)
    y = (frame["age"] > 60) & (frame["color"] == "red")
    pipeline = make_pipeline(BooleanEncoder(n_bins=4), AveragedPerceptron())
    pipeline.fit(frame, y)
    found = dict(top_features(pipeline, 20))
    assert set(found) <= set(pipeline[0].get_feature_names_out())
    assert found["color = red"] > 0
    search = GridSearchCV(pipeline, {"booleanencoder__n_bins": [4]}, cv=2)
    assert dict(top_features(search.fit(frame, y), 20)).keys() == found.keys()
    array = AveragedPerceptron().fit(X.to_numpy(), Y)
    assert top_features(array, 1)[0][0] in ("x0", "x2")
    assert top_features(array, 1, feature_names=list("vwxyz"))[0][0] in ("v", "x")


def test_importances_of_a_stump_and_of_boosters():
    stump = BooleanStump().fit(X, X["d"])
    assert stump.feature_importances_.tolist() == [0, 0, 0, 1, 0]
    assert not BooleanStump().fit(X * 0, X["d"]).feature_importances_.any()
    booster = BoostByMajority(n_estimators=11, random_state=0).fit(X, Y)
    votes = [e.feature_ for e in booster.estimators_ if e.feature_ >= 0]
    expected = np.bincount(votes, minlength=5) / len(booster.estimators_)
    np.testing.assert_allclose(booster.feature_importances_, expected)
    trees = BoostByMajority(
        DecisionTreeClassifier(max_depth=2, random_state=0),
        n_estimators=5,
        schedule=BoostingSchedule(gamma=0.1),
    ).fit(X, NOISY)
    mean = np.mean([tree.feature_importances_ for tree in trees.estimators_], axis=0)
    np.testing.assert_allclose(trees.feature_importances_, mean)
    labels = Y + 2 * X["d"]  # four classes: six games
    games = BoostByMajority(
        n_estimators=11, multi_class="ovo", schedule=BoostingSchedule(gamma=0.1)
    )
    games.fit(X, labels)
    mean = np.mean([game.feature_importances_ for game in games.estimators_], axis=0)
    np.testing.assert_allclose(games.feature_importances_, mean)
    assert not hasattr(BoostByMajority(), "feature_importances_")
    with pytest.warns(UserWarning, match="linear"):
        linear = BoostByMajority(
            LogisticRegression(), n_estimators=3, schedule=BoostingSchedule(gamma=0.1)
        ).fit(X, NOISY)
    assert not hasattr(linear, "feature_importances_")


def test_importances_select_features():
    booster = BoostByMajority(n_estimators=11, random_state=0)
    selected = SelectFromModel(booster, max_features=2).fit(X, Y)
    assert set(selected.get_feature_names_out()) == {"a", "c"}


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (LogisticRegression().fit(X, Y), {"n_features": 0}, "n_features"),
        (LogisticRegression().fit(X, Y), {"feature_names": ["a"]}, "has 1 names, but"),
        (KMeans(2, n_init=1).fit(X), {}, "KMeans"),
    ],
)
def test_input_that_is_refused(model, options, message):
    with pytest.raises(ValueError, match=message):
        top_features(model, **options)


@pytest.mark.parametrize(
    "model",
    [
        RuleClassifier(max_literals=2, literal_cost=0.0, penalty=1.0, random_state=0),
        ConjunctionLogisticRegression(C=1.0),
        ConjunctionRegressor(C=1.0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_importances_of_rules_are_shares_of_what_they_do(model):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(BooleanEncoder(n_bins=4), model).fit(X, y)
    last, bits = pipeline[-1], pipeline[0].transform(X).to_numpy()
    shares, decided = np.zeros(bits.shape[1]), np.zeros(len(X), dtype=bool)
    for rule in last.rules_:
        holds = np.all([bits[:, j] == value for j, value in rule.literals], axis=0)
        size = abs(rule.weight) if rule.weight is not None else 1.0
        if rule.weight is None:
            holds &= ~decided
            decided |= holds
        for j, _ in rule.literals:
            shares[j] += holds.sum() * size / len(rule.literals)
    shares /= shares.sum()
    np.testing.assert_allclose(last.feature_importances_, shares, atol=1e-12)
    [(name, share)] = top_features(pipeline, 1)
    assert share == pytest.approx(shares.max())
    assert name == pipeline[0].get_feature_names_out()[shares.argmax()]
