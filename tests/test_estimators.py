"""scikit-learn's own checks: all on the defaults of each class, those that can differ
between configurations of a class on all configurations."""

from functools import cache

import numpy as np
import pytest
from _instances import (
    CASES,
    ESTIMATORS,
    EXPECTED_WARNINGS,
    MODELS,
    answers,
    data,
    public_estimators,
    target_for,
)
from oracles.kernels import plain_perceptron
from scipy import sparse
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import (
    estimator_checks_generator,
)

import sklboolean
from sklboolean import (
    AveragedPerceptron,
    BernoulliMixture,
    BooleanEncoder,
    BooleanEnsembleClassifier,
    BooleanEnsembleRegressor,
    BooleanGradientBoostingRegressor,
    BooleanStump,
    BooleanSVC,
    BoostByMajority,
    BoostByMajorityRegressor,
    CombinationMachine,
    ConjunctionFeatures,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    ConsistentHalfspace,
    DensityImputer,
    DensityMixture,
    DensityOutlierDetector,
    FilteringBoostByMajority,
    GaussianCombinationMachine,
    KernelPerceptron,
    OnlineBoostByMajority,
    QueryByCommittee,
    RuleClassifier,
    SampledCombinationMachine,
    Winnow,
)

pytestmark = [pytest.mark.filterwarnings(each) for each in EXPECTED_WARNINGS]

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
        rate = getattr(estimator, "learning_rate", None)
        if rate == "aggressive" and estimator.average == "longest":
            reason = "a thousand times an aggressive step overshoots more each time"
            failures["check_class_weight_classifiers"] = reason
        if getattr(estimator, "kernel", None) == "precomputed":
            reason = "the check gives samples instead of a kernel matrix"
            failures["check_decision_proba_consistency"] = reason
        return failures
    base = getattr(estimator, "estimator", None)
    drawn = isinstance(base, KNeighborsRegressor | KNeighborsClassifier)
    if isinstance(base, KernelPerceptron):
        return dict.fromkeys(EQUIVALENCE, "the estimator inside depends on the order")
    # A pool whose samples are all queried is the same in every order.
    committee = getattr(estimator, "committee", None)
    members = committee if isinstance(committee, list) else []
    drawn |= not isinstance(committee, list | None)  # bootstrap samples
    drawn |= any(getattr(member, "max_features", None) for member in members)
    drawn |= repr(estimator) == "QueryByCommittee()"  # 30 bootstrap samples
    drawn |= isinstance(estimator, FilteringBoostByMajority)
    drawn |= getattr(estimator, "n_iter_no_change", None) is not None  # held out
    drawn |= isinstance(estimator, BooleanEnsembleRegressor)  # its trees hold out
    if repr(estimator) == "HalvingClassifier()":
        reason = "conjunctions of 30 features are too many to be listed"
        return dict.fromkeys(EQUIVALENCE, reason)
    if isinstance(estimator, BooleanEnsembleClassifier):
        return dict.fromkeys(EQUIVALENCE, "samples are held out to weigh the models")
    if isinstance(estimator, BoostByMajority):
        return dict.fromkeys(EQUIVALENCE, "samples are held out to calibrate votes")
    if isinstance(estimator, DensityMixture) and estimator.n_components == "auto":
        reason = "samples are held out to choose the number of components"
        return dict.fromkeys(EQUIVALENCE, reason)
    schedule = getattr(estimator, "schedule", None)
    if drawn or getattr(schedule, "sampling", None) == "resample":
        return dict.fromkeys(EQUIVALENCE, "samples are drawn at random")
    return {}


READS_X = "one function of _core reads X for all configurations"
READS_Y = "one function of _core reads y and sample_weight for all configurations"

# Checks that cannot differ between configurations of one class. They run on the
# defaults of each class and not on its further configurations.
SAME_IN_A_CLASS = {
    "the signature and the methods of BaseEstimator do not depend on values": [
        "check_do_not_raise_errors_in_init_or_set_params",
        "check_dont_overwrite_parameters",
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_estimators_fit_returns_self",
        "check_estimators_overwrite_params",
        "check_fit_score_takes_y",
        "check_get_params_invariance",
        "check_mixin_order",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_set_params",
    ],
    "tags belong to the class; test_precomputed_kernel_is_pairwise has the exception": [
        "check_estimator_sparse_tag",
        "check_estimator_tags_renamed",
        "check_positive_only_tag_during_fit",
        "check_requires_y_none",
        "check_valid_tag_types",
    ],
    READS_X: [
        "check_array_api_input",
        "check_classifier_data_not_an_array",
        "check_complex_data",
        "check_dtype_object",
        # Ten formats of sparse tables, each with a fit. All configurations have CSR in
        # test_csr_is_learned_and_answered_as_a_dense_array.
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimators_dtypes",
        "check_estimators_empty_data_messages",
        "check_estimators_partial_fit_n_features",
        "check_f_contiguous_array_estimator",
        "check_fit1d",
        "check_fit2d_predict1d",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_nonsquare_error",
        "check_readonly_memmap_input",  # robustness/faults/test_inputs.py has more
        "check_regressor_data_not_an_array",
        "check_transformer_data_not_an_array",
        "check_transformer_preserve_dtypes",
    ],
    READS_Y: [
        "check_all_zero_sample_weights_error",
        "check_classifiers_regression_target",
        "check_regressors_int",
        "check_sample_weights_list",
        "check_sample_weights_not_an_array",
        "check_sample_weights_not_overwritten",
        "check_sample_weights_pandas_series",
        "check_sample_weights_shape",
        "check_supervised_y_2d",
        "check_supervised_y_no_nan",
    ],
    "whether a model is fitted is one attribute for all configurations": [
        "check_estimators_unfitted",
        "check_fit_check_is_fitted",
        "check_transformers_unfitted",
    ],
    "the state has the same form; small models are in robustness/faults/test_pickles": [
        "check_estimators_pickle",
    ],
    "methods are those of the class": [
        "check_outlier_contamination",
        "check_pipeline_consistency",  # a pipeline only passes X on
        "check_regressors_no_decision_function",
    ],
}  # fmt: skip
SKIPPED = {name for names in SAME_IN_A_CLASS.values() for name in names}
# One class of each kind of model runs these; the others do where tests are slow.
SAME_IN_ALL_CLASSES = {*SAME_IN_A_CLASS[READS_X], *SAME_IN_A_CLASS[READS_Y]}

DEFAULTS = [getattr(sklboolean, name)() for name in sorted(public_estimators())]
FURTHER = [
    case.estimator
    for case in CASES.values()
    if repr(case.estimator) not in map(repr, DEFAULTS)
]


def check_name(check):
    """The name of scikit-learn's function, without the arguments it is given."""
    return getattr(check, "func", check).__name__


@cache
def check_id(value):
    """Name a test by its configuration, check and the arguments of the check."""
    if hasattr(value, "get_params"):
        return repr(value)
    return ",".join([check_name(value), *map(str, getattr(value, "keywords", ()))])


def same_checks(estimator):
    """Names of the checks that need not run on a configuration, but on its class.

    A check that is expected to fail is one: one failure shows that the reason holds.
    """
    same = SKIPPED | expected_failures(estimator).keys()
    is_online = isinstance(estimator, OnlineBoostByMajority)
    is_dual = isinstance(estimator, KernelPerceptron)
    if (is_online and repr(estimator) != "OnlineBoostByMajority()") or (
        is_dual and (estimator.max_support or callable(estimator.kernel))
    ):
        # It sets max_iter=1000: many seconds of updates.
        same |= {"check_class_weight_classifiers"}
    return same


def checks_of(estimators, *kinds):
    """List configurations with their checks of some kinds.

    A check of "data" is the same for all classes, one of a "class" for all its
    configurations, and one of the "configuration" can differ.
    """
    pairs = []
    for estimator in estimators:
        same, failures = same_checks(estimator), expected_failures(estimator)
        for pair in estimator_checks_generator(
            estimator, mark="xfail", expected_failed_checks=failures
        ):
            _, check = getattr(pair, "values", pair)
            kind = "class" if check_name(check) in same else "configuration"
            # Some come again with mapped arrays, and with mapped ones of float32.
            if check_name(check) in SAME_IN_ALL_CLASSES or check.keywords:
                kind = "data"
            if kind in kinds:
                pairs.append(pair)
    return pairs


# Fits take from .1 to 5 seconds at the defaults of these classes. Their checks that
# are the same for all configurations run on a quick one.
QUICK_TWINS = {
    BooleanEnsembleClassifier: "boolean_ensemble",
    BooleanEnsembleRegressor: "boolean_ensemble_regressor",
    BoostByMajority: "boost_by_majority",
    BoostByMajorityRegressor: "boost_by_majority_regressor",
    CombinationMachine: "combination_machine",
    ConjunctionLogisticRegression: "conjunction_logistic_regression",
    ConjunctionRegressor: "conjunction_regressor",
    DensityImputer: "density_imputer",
    DensityMixture: "density_mixture",
    FilteringBoostByMajority: "filtering_boost_by_majority",
    GaussianCombinationMachine: "gaussian_combination_machine",
    KernelPerceptron: "kernel_perceptron_plain",
    OnlineBoostByMajority: "online_boost_by_majority",
    QueryByCommittee: "query_by_committee",
    RuleClassifier: "rule_classifier",
    SampledCombinationMachine: "sampled_combination_machine",
}
SLOW = [each for each in DEFAULTS if type(each) in QUICK_TWINS]
QUICK = [each for each in DEFAULTS if type(each) not in QUICK_TWINS]
TWINS = [MODELS[name] for name in QUICK_TWINS.values()]
# Online learners, numbers as they are, kernels, rules, trees, densities, transformers.
READERS = (
    AveragedPerceptron, ConsistentHalfspace, BooleanSVC, BooleanStump,
    BooleanGradientBoostingRegressor, BernoulliMixture, DensityOutlierDetector,
    BooleanEncoder, ConjunctionFeatures,
)  # fmt: skip
READ = [each for each in QUICK if isinstance(each, READERS)]
READ_ALIKE = [each for each in QUICK if not isinstance(each, READERS)] + TWINS


def each_check(*pairs):
    return pytest.mark.parametrize(("estimator", "check"), pairs, ids=check_id)


@each_check(
    *checks_of(READ, "data"),
    *checks_of(QUICK, "class", "configuration"),
    *checks_of(TWINS, "class"),
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@each_check(*checks_of(READ_ALIKE, "data"), *checks_of(SLOW + FURTHER, "configuration"))
def test_slow_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [each for each in FURTHER if get_tags(each).input_tags.sparse],
    ids=repr,
)
def test_csr_is_learned_and_answered_as_a_dense_array(estimator):
    X, y = data(40)
    if get_tags(estimator).input_tags.pairwise:
        X = X @ X.T
    table = sparse.csr_array(X.astype(np.float64))
    model = clone(estimator).fit(table, target_for(estimator, X, y))
    found, expected = answers(model, table), answers(model, X)
    for name, result in found.items():
        if result.dtype.kind == "f":  # sums in another order
            np.testing.assert_allclose(result, expected[name], rtol=1e-6, atol=1e-9)
        else:
            np.testing.assert_array_equal(result, expected[name])


@pytest.mark.skipif(
    not hasattr(estimator_checks, "check_all_zero_sample_weights_error"),
    reason="this scikit-learn is too old to have all checks",
)
def test_skipped_checks_are_those_of_scikit_learn():
    """A check that scikit-learn renames would run on all configurations again."""
    generated = {
        check_name(check)
        for estimator in [*DEFAULTS, *FURTHER]
        for _, check in estimator_checks_generator(estimator, mark=None)
    }
    assert SKIPPED <= generated


@pytest.mark.parametrize("estimators", [ESTIMATORS, MODELS.values()], ids=len)
def test_every_public_estimator_has_a_case_and_a_small_model(estimators):
    assert {type(each).__name__ for each in estimators} == public_estimators()


def test_precomputed_kernel_is_pairwise():
    assert plain_perceptron("precomputed").__sklearn_tags__().input_tags.pairwise
    assert not plain_perceptron().__sklearn_tags__().input_tags.pairwise
    # A kernel that is an array must not be compared with a name.
    odd = plain_perceptron(np.array(["precomputed", "rbf"]))
    assert not odd.__sklearn_tags__().input_tags.pairwise
