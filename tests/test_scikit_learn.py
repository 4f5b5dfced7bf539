"""Classifiers inside scikit-learn's meta-estimators, searches and inspection tools."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from _instances import EXPECTED_WARNINGS, MODELS, answers, data, same_answers
from matplotlib import pyplot as plt
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.inspection import PartialDependenceDisplay, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    HalvingGridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils.validation import has_fit_parameter

from sklboolean import QueryByCommittee

pytestmark = [pytest.mark.filterwarnings(each) for each in EXPECTED_WARNINGS]

# One model of each class: what such tools call does not depend on parameters.
# QueryByCommittee takes a pool of samples, and y answers its queries.
ONE_OF_A_CLASS = {type(MODELS[name]): name for name in reversed(MODELS)}
CLASSIFIERS = [
    name
    for kind, name in reversed(ONE_OF_A_CLASS.items())
    if is_classifier(MODELS[name]) and kind is not QueryByCommittee
]
WITH_PROBABILITIES = [
    name for name in CLASSIFIERS if hasattr(MODELS[name], "predict_proba")
]
WEIGHTED = [
    name for name in CLASSIFIERS if has_fit_parameter(MODELS[name], "sample_weight")
]
LINEAR = ["averaged_perceptron", "winnow", "consistent_halfspace"]
IMPORTANCES = ["rule_classifier", "boost_by_majority", "boolean_svc", "boolean_stump"]


@pytest.fixture
def problem():
    return data(90, seed=1)


def check(meta, X, y, accuracy=0.0):
    """Fit, and require labels among the classes, and some accuracy."""
    predicted = meta.fit(X, y).predict(X)
    assert predicted.shape == y.shape
    assert set(predicted) <= set(y)
    assert np.mean(predicted == y) >= accuracy
    return meta


@pytest.mark.parametrize("name", WITH_PROBABILITIES)
def test_soft_vote(name, problem):
    X, y = problem
    members = [("ours", clone(MODELS[name])), ("peer", LogisticRegression())]
    vote = check(VotingClassifier(members, voting="soft"), X, y, 0.6)
    mean = np.mean([each.predict_proba(X) for each in vote.estimators_], axis=0)
    np.testing.assert_allclose(vote.predict_proba(X), mean)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_stacking(name, problem):
    members = [("ours", clone(MODELS[name])), ("peer", LogisticRegression())]
    check(StackingClassifier(members, LogisticRegression(), cv=2), *problem, 0.6)


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_PROBABILITIES)
def test_self_training(name, problem):
    X, y = problem
    partly = np.where(np.arange(len(y)) < 45, y, -1)
    model = SelfTrainingClassifier(clone(MODELS[name]), max_iter=2).fit(X, partly)
    assert set(model.transduction_) <= {-1, 0, 1}
    assert set(model.predict(X)) <= {0, 1}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_calibration(name, problem):
    X, y = problem
    model = check(CalibratedClassifierCV(clone(MODELS[name]), cv=2), X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_tuned_threshold(name, problem):
    model = TunedThresholdClassifierCV(clone(MODELS[name]), cv=2, thresholds=9)
    check(model, *problem)


@pytest.mark.parametrize("name", WITH_PROBABILITIES)
def test_log_loss_is_a_score(name, problem):
    scores = cross_val_score(
        clone(MODELS[name]), *problem, scoring="neg_log_loss", cv=2
    )
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_one_against_the_rest(name, problem):
    X, y = problem
    three = y + (y & X[:, 5])
    model = check(OneVsRestClassifier(clone(MODELS[name])), X, three)
    assert len(model.estimators_) == 3


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_several_outputs(name, problem):
    X, y = problem
    model = MultiOutputClassifier(clone(MODELS[name])).fit(X, np.c_[y, 1 - y])
    assert model.predict(X).shape == (90, 2)


@pytest.mark.parametrize("name", WEIGHTED)
def test_boosting_by_weights(name, problem):
    if name.startswith("halving"):
        with pytest.raises(ValueError, match="sample_weight must hold integers"):
            AdaBoostClassifier(clone(MODELS[name])).fit(*problem)
        return
    model = AdaBoostClassifier(clone(MODELS[name]), n_estimators=4, random_state=0)
    check(model, *problem)


@pytest.mark.parametrize("name", WEIGHTED)
def test_bagging_by_weights(name, problem):
    model = BaggingClassifier(clone(MODELS[name]), n_estimators=3, random_state=0)
    check(model, *problem)


@pytest.mark.parametrize("name", LINEAR)
def test_feature_selection(name, problem):
    X, y = problem
    model = clone(MODELS[name])
    selection = SelectFromModel(model, max_features=3).fit(X, y)
    largest = np.argsort(-np.abs(selection.estimator_.coef_[0]))[:3]
    assert set(selection.get_support(indices=True)) <= set(largest)
    assert selection.transform(X).shape[1] <= 3
    elimination = RFE(model, n_features_to_select=2).fit(X, y)
    assert elimination.get_support(indices=True).tolist() == [0, 3]


@pytest.mark.parametrize("name", IMPORTANCES)
def test_feature_selection_by_importance(name, problem):
    X, y = problem
    model = clone(MODELS[name])
    selection = SelectFromModel(model, max_features=3, threshold=-np.inf).fit(X, y)
    importances = selection.estimator_.feature_importances_
    chosen = selection.get_support(indices=True)
    assert importances[chosen].min() >= np.delete(importances, chosen).max()
    elimination = RFE(model, n_features_to_select=2).fit(X, y)
    assert elimination.get_support().sum() == 2


@pytest.mark.parametrize("name", LINEAR[:2])
def test_halving_search(name, problem):
    X, y = problem
    search = HalvingGridSearchCV(
        clone(MODELS[name]), {"margin": [0.5, 1.0, 5.0]}, cv=2, random_state=0,
        min_resources=30, scoring="neg_log_loss",
    )  # fmt: skip
    search.fit(X, y)
    same_answers(
        answers(search.best_estimator_, X),
        answers(clone(search.best_estimator_).fit(X, y), X),
    )


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_permutation_importance(name, problem):
    X, y = problem
    model = clone(MODELS[name]).fit(X, y)
    importances = permutation_importance(model, X, y, n_repeats=3, random_state=0)
    assert np.isfinite(importances.importances).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_PROBABILITIES)
def test_partial_dependence(name, problem):
    X, y = problem
    X = X.astype(float)
    model = clone(MODELS[name]).fit(X, y)
    display = PartialDependenceDisplay.from_estimator(
        model, X, [0, 3], response_method="predict_proba"
    )
    low, high = display.pd_results[0]["average"][0]
    assert 0 <= low <= 1
    assert 0 <= high <= 1
    plt.close("all")
