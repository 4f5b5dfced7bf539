"""Every estimator, at its defaults, inside scikit-learn's tools."""

import warnings
from functools import partial

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from _instances import EXPECTED_WARNINGS, public_estimators, target_for
from matplotlib import pyplot as plt
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFromModel,
    SequentialFeatureSelector,
)
from sklearn.inspection import PartialDependenceDisplay, permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    learning_curve,
)
from sklearn.multiclass import (
    OneVsOneClassifier,
    OneVsRestClassifier,
    OutputCodeClassifier,
)
from sklearn.multioutput import (
    ClassifierChain,
    MultiOutputClassifier,
    MultiOutputRegressor,
    RegressorChain,
)
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils import estimator_checks
from sklearn.utils.validation import has_fit_parameter

import sklboolean

pytestmark = [
    *(pytest.mark.filterwarnings(each) for each in EXPECTED_WARNINGS),
    pytest.mark.filterwarnings("ignore:Columns .* have the same value:UserWarning"),
]

ESTIMATORS = {name: getattr(sklboolean, name)() for name in public_estimators()}
# All their tools take a second; those of each other one take up to 20.
QUICK = {
    "AveragedPerceptron", "BernoulliMixture", "BooleanEncoder", "BooleanSVC",
    "BooleanGaussianProcessRegressor", "BooleanStump", "ConjunctionClassifier",
    "ConjunctionFeatures", "ConjunctionStump", "ConsistentHalfspace",
    "HalvingClassifier", "OnlineBoostByMajority", "OptimalRuleSet", "RuleClassifier",
    "ScorecardClassifier", "Winnow",
}  # fmt: skip
# A stump has one condition, and this class holds one conjunction or its own negation.
WEAK = {"BooleanStump", "ConjunctionClassifier"}


def problem():
    """Samples labelled by the conjunction of features 0 and 3."""
    X = (np.random.default_rng(1).random((80, 6)) < 0.7).astype(float)
    return X, (X[:, 0] * X[:, 3]).astype(int)


X, Y = problem()
TWO_LABELS = np.c_[Y, 1 - Y]
THREE_CLASSES = Y + (Y & (X[:, 5] > 0))


def cases(suits, tools):
    """Pairs of a suitable estimator and a tool; long ones are slow tests.

    Of the others each estimator has a third of the tools, and each tool a third of the
    estimators; the rest is slow, too.
    """
    suitable = [name for name in sorted(ESTIMATORS) if suits(ESTIMATORS[name])]
    quick = [name for name in suitable if name in QUICK]
    chosen = {
        (name, tool)
        for i, name in enumerate(quick)
        for j, tool in enumerate(tools)
        if (i + j) % 3 == 0 or len(quick) < 3
    }
    return [
        pytest.param(
            name, tool, id=f"{name}-{tool}",
            marks=[] if (name, tool) in chosen else pytest.mark.slow,
        )
        for name in suitable
        for tool in tools
    ]  # fmt: skip


def target_of(model):
    return target_for(model, X, Y)


def check(meta, y=Y, score=0.6):
    """Fit, and require predictions of the shape of y and some score."""
    assert meta.fit(X, y).predict(X).shape == y.shape
    assert meta.score(X, y) >= score
    return meta


# Feature selection

HAS_IMPORTANCES = {
    name
    for name, estimator in ESTIMATORS.items()
    if is_classifier(estimator) or is_regressor(estimator)
    if any(hasattr(type(estimator), each) for each in ("feature_importances_", "coef_"))
    or name in {"AveragedPerceptron", "ConsistentHalfspace", "Winnow"}
}


def select_from_model(model):
    selector = SelectFromModel(model, max_features=2, threshold=-np.inf)
    return selector.fit(X, target_of(model))


def eliminate(model):
    return RFE(model, n_features_to_select=2).fit(X, target_of(model))


def eliminate_by_folds(model):
    selector = RFECV(model, min_features_to_select=2, cv=2, step=2)
    return selector.fit(X, target_of(model))


SELECTORS = {
    "SelectFromModel": select_from_model,
    "RFE": eliminate,
    "RFECV": eliminate_by_folds,
}


@pytest.mark.parametrize(
    ("name", "tool"),
    cases(lambda estimator: type(estimator).__name__ in HAS_IMPORTANCES, SELECTORS),
)
def test_the_right_features_are_selected(name, tool):
    selector = SELECTORS[tool](clone(ESTIMATORS[name]))
    chosen = set(selector.get_support(indices=True).tolist())
    # The target of a regressor has a part of feature 1, too.
    right = {0, 1, 3} if is_regressor(ESTIMATORS[name]) else {0, 3}
    assert len(chosen & right) >= (1 if name in WEAK else 2)
    assert selector.transform(X).shape == (80, len(chosen))


@pytest.mark.parametrize(
    ("name", "tool"),
    cases(lambda each: is_classifier(each) or is_regressor(each), ["coef_"]),
)
def test_attributes_that_selectors_read_are_of_features(name, tool):
    model = clone(ESTIMATORS[name])
    model.fit(X, target_of(model))
    importances = getattr(model, "feature_importances_", np.zeros(6))
    assert importances.shape == (6,)
    assert (importances >= 0).all()
    assert getattr(model, tool, importances).shape[-1] == 6


# Classifiers


def chain(model, how):
    return ClassifierChain(model, chain_method=how).fit(X, TWO_LABELS)


def some_labels(model):
    partly = np.where(np.arange(len(Y)) < 40, Y, -1)
    fitted = SelfTrainingClassifier(model, max_iter=2).fit(X, partly)
    assert set(fitted.transduction_) <= {-1, 0, 1}


def halve(model):
    """As many candidates as there are, with a parameter that every classifier has."""
    parameter = next(iter(model.get_params(deep=False)))
    grid = {parameter: [model.get_params()[parameter]]}
    search = HalvingGridSearchCV(model, grid, cv=2, min_resources=40, random_state=0)
    check(search)


def soft_vote(model):
    members = [("ours", model), ("peer", LogisticRegression())]
    vote = check(VotingClassifier(members, voting="soft"))
    mean = np.mean([each.predict_proba(X) for each in vote.estimators_], axis=0)
    np.testing.assert_allclose(vote.predict_proba(X), mean)


def boost(model):
    check(AdaBoostClassifier(model, n_estimators=2, random_state=0), score=0.5)


def curve(model):
    y = target_of(model)
    sizes, *scores = learning_curve(
        model, X, y, train_sizes=[5, 40], cv=2, shuffle=True, random_state=3,
        error_score="raise",
    )  # fmt: skip
    assert sizes.tolist() == [5, 40]
    assert np.isfinite(scores).all()


def importance(model):
    y = target_of(model)
    found = permutation_importance(model.fit(X, y), X, y, n_repeats=3, random_state=0)
    assert np.isfinite(found.importances).all()
    assert found.importances_mean.argmax() in (0, 3)


def dependence(model):
    """Of one feature: where two have no effect scikit-learn's contours fail."""
    shown = PartialDependenceDisplay.from_estimator(
        model.fit(X, target_of(model)), X, [0, 3]
    )
    low, high = shown.pd_results[0]["average"][0]
    assert high >= low
    plt.close("all")


def stack(model):
    members = [("ours", model), ("peer", LogisticRegression())]
    check(StackingClassifier(members, LogisticRegression(), cv=2))


def log_loss(model):
    assert np.isfinite(cross_val_score(model, X, Y, scoring="neg_log_loss", cv=2)).all()


def forward(model):
    selector = SequentialFeatureSelector(model, n_features_to_select=1, cv=2)
    chosen = selector.fit(X[:, [0, 1, 2]], target_of(model)).get_support(indices=True)
    assert chosen.tolist() == [0] or type(model).__name__ in WEAK or is_regressor(model)


def calibrate(model):
    fitted = check(CalibratedClassifierCV(model, cv=2))
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1)


CLASSIFIER_TOOLS = {
    "AdaBoost": boost,
    "Bagging": lambda model: check(BaggingClassifier(model, 2, random_state=0)),
    "CalibratedClassifierCV": calibrate,
    "ClassifierChain": partial(chain, how="predict"),
    "halving search": halve,
    "learning_curve": curve,
    "log loss": log_loss,
    "MultiOutput": lambda model: MultiOutputClassifier(model).fit(X, TWO_LABELS),
    "OneVsOne": lambda model: check(OneVsOneClassifier(model), THREE_CLASSES),
    "OneVsRest": lambda model: check(OneVsRestClassifier(model), THREE_CLASSES, 0.5),
    "OutputCode": lambda model: check(
        OutputCodeClassifier(model, random_state=0), THREE_CLASSES, 0.5
    ),
    "PartialDependenceDisplay": dependence,
    "permutation_importance": importance,
    "SelfTraining": some_labels,
    "SequentialFeatureSelector": forward,
    "Stacking": stack,
    "TunedThreshold": lambda model: check(
        TunedThresholdClassifierCV(model, cv=2, thresholds=5)
    ),
    "Voting": soft_vote,
}


@pytest.mark.parametrize(("name", "tool"), cases(is_classifier, CLASSIFIER_TOOLS))
def test_a_classifier_in_a_tool(name, tool):
    CLASSIFIER_TOOLS[tool](clone(ESTIMATORS[name]))


def final_estimator(model):
    stacking = StackingClassifier([("l", LogisticRegression())], model, cv=2)
    return stacking.fit(X, Y)


PROBABILITY_TOOLS = {
    "Stacking": final_estimator,
    "ClassifierChain": lambda model: chain(model, "predict_proba").predict(X),
}


@pytest.mark.parametrize(("name", "tool"), cases(is_classifier, PROBABILITY_TOOLS))
def test_a_probability_is_no_bit(name, tool):
    """All are above ``binarize=0.0``: models of bits warn, and name the remedy."""
    model = clone(ESTIMATORS[name])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        PROBABILITY_TOOLS[tool](model)
    said = [str(each.message) for each in caught]
    warned = any("binarize=0.0" in each and "BooleanEncoder" in each for each in said)
    takes_numbers = {
        "AveragedPerceptron", "BooleanEnsembleClassifier", "ConsistentHalfspace",
        "QueryByCommittee", "Winnow",
    }  # fmt: skip
    links = clone(model).fit(X, Y).predict_proba(X)[:, 1]
    are_bits = tool == "ClassifierChain" and np.isin(links, (0, 1)).any()
    assert warned == (name not in takes_numbers and not are_bits)


@pytest.mark.parametrize(
    "name", ["BoostByMajority", "OnlineBoostByMajority", "BoostByMajorityRegressor"]
)
@pytest.mark.filterwarnings("ignore:A vote of n_estimators=:UserWarning")
def test_usual_grids_of_rounds(name):
    """Even numbers of rounds are as good as odd ones."""
    model = clone(ESTIMATORS[name])
    if is_regressor(model):
        model.set_params(delta=0.5)
    y = target_of(model)
    grid = GridSearchCV(model, {"n_estimators": [2, 4]}, cv=2, error_score="raise")
    assert grid.fit(X, y).best_params_["n_estimators"] in (2, 4)
    search = HalvingGridSearchCV(
        model, {"verbose": [0, 0]}, resource="n_estimators", max_resources=8,
        min_resources=2, cv=2, error_score="raise",
    )  # fmt: skip
    assert search.fit(X, y).n_resources_[0] % 2 == 0


# Regressors


def stack_regressors(model):
    members = [("ours", model), ("peer", Ridge())]
    check(StackingRegressor(members, Ridge(), cv=2), target_of(model))


def vote_regressors(model):
    check(VotingRegressor([("ours", model), ("peer", Ridge())]), target_of(model))


REGRESSOR_TOOLS = {
    "AdaBoost": lambda model: AdaBoostRegressor(model, n_estimators=2).fit(
        X, target_of(model)
    ),
    "Bagging": lambda model: check(
        BaggingRegressor(model, 2, random_state=0), target_of(model)
    ),
    "learning_curve": curve,
    "MultiOutput": lambda model: MultiOutputRegressor(model).fit(X, TWO_LABELS),
    "PartialDependenceDisplay": dependence,
    "permutation_importance": importance,
    "RegressorChain": lambda model: RegressorChain(model).fit(X, TWO_LABELS),
    "SequentialFeatureSelector": forward,
    "Stacking": stack_regressors,
    "Voting": vote_regressors,
}


@pytest.mark.parametrize(("name", "tool"), cases(is_regressor, REGRESSOR_TOOLS))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_regressor_in_a_tool(name, tool):
    REGRESSOR_TOOLS[tool](clone(ESTIMATORS[name]))


# Checks and routes

TRANSFORMER_CHECKS = [
    "check_get_feature_names_out_error",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_inplace_ensure_writeable",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
]


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        *cases(lambda each: True, ["check_dataframe_column_names_consistency"]),
        *cases(lambda each: hasattr(each, "transform"), TRANSFORMER_CHECKS),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_checks_that_check_estimator_leaves_out(name, tool):
    getattr(estimator_checks, tool)(name, clone(ESTIMATORS[name]))


def routes(estimator):
    return is_classifier(estimator) and has_fit_parameter(estimator, "sample_weight")


@pytest.mark.parametrize(("name", "tool"), cases(routes, ["sample_weight"]))
def test_weights_are_routed(name, tool):
    """To the member of a pipeline that requests them, and to no other."""
    model = clone(ESTIMATORS[name])
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    weights = np.where(np.arange(len(Y)) % 2, 1, 3)
    direct = clone(model).fit(X, Y, sample_weight=weights)
    plain = clone(model).fit(X, Y)
    with config_context(enable_metadata_routing=True):
        for wanted, expected in [(True, direct), (False, plain)]:
            routed = make_pipeline(clone(model).set_fit_request(sample_weight=wanted))
            passed = {tool: weights} if wanted else {}
            routed.fit(X, Y, **passed)
            np.testing.assert_array_equal(
                routed.predict_proba(X), expected.predict_proba(X)
            )
