"""scikit-learn's own checks; only where samples are drawn may any of them fail."""

import numpy as np
import pytest
from _instances import CASES, ESTIMATORS, EXPECTED_WARNINGS, MODELS, public_estimators
from oracles.kernels import plain_perceptron
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    parametrize_with_checks,
)

from sklboolean import (
    AveragedPerceptron,
    BoostByMajority,
    ConjunctionRegressor,
    FilteringBoostByMajority,
    KernelPerceptron,
    OnlineBoostByMajority,
    QueryByCommittee,
    Winnow,
)

pytestmark = [pytest.mark.filterwarnings(each) for each in EXPECTED_WARNINGS]

PARTIAL_FIT = [
    "check_estimators_partial_fit_n_features",
    "check_fit_score_takes_y",
    "check_n_features_in_after_fitting",
]
EQUIVALENCE = [
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
]


def expected_failures(estimator):
    """What scikit-learn's checks ask of weights and some estimators cannot do."""
    ordered = AveragedPerceptron | KernelPerceptron | OnlineBoostByMajority | Winnow
    if isinstance(estimator, ordered):
        reason = "an update of twice the size is not two updates, and order counts"
        failures = dict.fromkeys(EQUIVALENCE, reason)
        if getattr(estimator, "aggressive", False) and estimator.average == "longest":
            reason = "a thousand times an aggressive step overshoots more each time"
            failures["check_class_weight_classifiers"] = reason
        if getattr(estimator, "kernel", None) == "precomputed":
            reason = "the check gives samples instead of a kernel matrix"
            failures["check_decision_proba_consistency"] = reason
        if getattr(estimator, "class_weight", None) == "balanced":
            reason = "partial_fit refuses balanced weights, as that of SGDClassifier"
            failures |= dict.fromkeys(PARTIAL_FIT, reason)
        return failures
    if isinstance(estimator, ConjunctionRegressor) and estimator.max_literals == 1:
        reason = "whether real features are above 0, one by one, says too little"
        return {"check_regressors_train": reason}
    base = getattr(estimator, "estimator", None)
    drawn = isinstance(base, KNeighborsRegressor | KNeighborsClassifier)
    if isinstance(base, KernelPerceptron):
        return dict.fromkeys(EQUIVALENCE, "the estimator inside depends on the order")
    # A pool whose samples are all queried is the same in every order.
    drawn |= isinstance(estimator, QueryByCommittee) and not isinstance(
        estimator.committee, list | None
    )
    drawn |= isinstance(estimator, FilteringBoostByMajority)
    if isinstance(estimator, BoostByMajority):
        return dict.fromkeys(EQUIVALENCE, "samples are held out to calibrate votes")
    if drawn or getattr(estimator, "sampling", None) == "resample":
        return dict.fromkeys(EQUIVALENCE, "samples are drawn at random")
    return {}


# The first case of each class, and the others.
FIRST, OTHERS = {}, []
for case in CASES.values():
    if FIRST.setdefault(type(case.estimator), case.estimator) is not case.estimator:
        OTHERS.append(case.estimator)


@parametrize_with_checks([*FIRST.values()], expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHERS, expected_failed_checks=expected_failures)
def test_scikit_learn_check_of_other_configurations(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", CASES)
def test_column_names_are_checked(name):
    estimator = clone(CASES[name].estimator)
    if isinstance(estimator, AveragedPerceptron | KernelPerceptron):
        # The check calls partial_fit, which refuses balanced weights.
        estimator.set_params(class_weight=None)
    check_dataframe_column_names_consistency(type(estimator).__name__, estimator)


@pytest.mark.parametrize("estimators", [ESTIMATORS, MODELS.values()], ids=len)
def test_every_public_estimator_has_a_case_and_a_small_model(estimators):
    assert {type(each).__name__ for each in estimators} == public_estimators()


def test_precomputed_kernel_is_pairwise():
    assert plain_perceptron("precomputed").__sklearn_tags__().input_tags.pairwise
    assert not plain_perceptron().__sklearn_tags__().input_tags.pairwise
    # A kernel that is an array must not be compared with a name.
    odd = plain_perceptron(np.array(["precomputed", "rbf"]))
    assert not odd.__sklearn_tags__().input_tags.pairwise
