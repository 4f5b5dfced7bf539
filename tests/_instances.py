"""One list of configured estimators for every test that runs over all of them.

A new estimator is added to `CASES`, and nowhere else. `check_estimator` runs on the
estimator of every case. A case with `quick` also gives a small model for the tests of
pickles, failed fits, hostile input, threads, ``n_jobs`` and streams: the estimator with
those parameters, and with ``random_state=0``.
"""

import pickle
from dataclasses import dataclass
from functools import cache

import numpy as np
from oracles.kernels import counting_kernel, plain_perceptron
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import (
    LogisticRegression,
    Ridge,
    SGDClassifier,
)
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import sklboolean
from sklboolean import (
    AveragedPerceptron,
    BernoulliMixture,
    BooleanEncoder,
    BooleanEnsembleClassifier,
    BooleanEnsembleRegressor,
    BooleanGaussianProcessClassifier,
    BooleanGaussianProcessRegressor,
    BooleanGradientBoostingClassifier,
    BooleanGradientBoostingRegressor,
    BooleanStump,
    BooleanSVC,
    BoostByMajority,
    BoostByMajorityRegressor,
    ChowLiuTree,
    CombinationMachine,
    ConjunctionClassifier,
    ConjunctionFeatures,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    ConjunctionStump,
    ConsistentHalfspace,
    DensityClassifier,
    DensityImputer,
    DensityMixture,
    DensityOutlierDetector,
    FilteringBoostByMajority,
    GaussianCombinationMachine,
    HalvingClassifier,
    KernelPerceptron,
    OnlineBoostByMajority,
    OptimalRuleSet,
    QueryByCommittee,
    RuleClassifier,
    SampledCombinationMachine,
    ScorecardClassifier,
    Winnow,
)
from sklboolean.active_learning import (
    FiniteVersionSpace,
    HalfspaceVersionSpace,
    KernelVersionSpace,
)
from sklboolean.boosting import (
    BoostingSchedule,
    CrossValidatedSchedule,
    FilteringSchedule,
)
from sklboolean.kernels import RBFKernel, TanimotoKernel


class KernelFunction:
    """A kernel function whose repr, and so the names of its tests, has no address."""

    def __call__(self, A, B):
        return rbf_kernel(A, B)

    def __repr__(self):
        return "rbf_kernel"


@dataclass(frozen=True)
class Case:
    """One configuration of an estimator.

    Parameters
    ----------
    estimator : estimator
        What `check_estimator` is run on.
    quick : dict or None, default=None
        Parameters that make the fit quick where accuracy does not matter. With None
        only `check_estimator` uses the case.
    """

    estimator: BaseEstimator
    quick: dict | None = None

    def model(self):
        """The small model of the case."""
        random = {"random_state": 0} if "random_state" in vars(self.estimator) else {}
        return clone(self.estimator).set_params(**random | self.quick)


STUMP = DecisionTreeClassifier(max_depth=1)
QUERIES = {"n_members": 2, "batch_size": 5, "max_queries": 20}

CASES = {
    # kernels
    "boolean_svc": Case(BooleanSVC(), {}),
    "boolean_svc_ovr": Case(BooleanSVC(multi_class="ovr"), {}),
    "boolean_svc_rbf": Case(
        BooleanSVC(RBFKernel(), C=1.0, class_weight="balanced"), {}
    ),
    "boolean_svc_tanimoto": Case(BooleanSVC("tanimoto")),
    "gaussian_process_classifier": Case(
        BooleanGaussianProcessClassifier(), {"max_iter": 2}
    ),
    "gaussian_process_regressor": Case(
        BooleanGaussianProcessRegressor(), {"max_iter": 2}
    ),
    "kernel_perceptron": Case(KernelPerceptron(), {}),
    "kernel_perceptron_plain": Case(plain_perceptron(), {}),
    "kernel_perceptron_precomputed": Case(plain_perceptron("precomputed")),
    "kernel_perceptron_voted": Case(
        plain_perceptron(average="voted", margin=1.0), {}
    ),
    "kernel_perceptron_last": Case(
        plain_perceptron(average=None, multi_class="joint", margin=1.0)
    ),
    "kernel_perceptron_joint": Case(
        plain_perceptron(multi_class="joint"),
        {"max_support": 5, "max_iter": 2},
    ),
    "kernel_perceptron_rbf": Case(plain_perceptron("rbf")),
    "kernel_perceptron_decay": Case(
        plain_perceptron(
            counting_kernel(max_literals=3, monotone=True, decay=0.5)
        )
    ),
    "kernel_perceptron_object": Case(
        plain_perceptron(counting_kernel(max_literals=3)), {}
    ),
    "kernel_perceptron_tanimoto": Case(plain_perceptron(TanimotoKernel())),
    "kernel_perceptron_function": Case(
        plain_perceptron(KernelFunction())
    ),
    "kernel_perceptron_literals": Case(
        plain_perceptron(max_literals=None, monotone=False, class_weight="balanced")
    ),
    # The checks make two noisy bits of real features. Fewer support samples than the
    # noise asks for (161) do not reach the accuracy that is required.
    "kernel_perceptron_budget": Case(
        plain_perceptron(max_support=170), {"max_support": 8}
    ),
    # linear_model
    "averaged_perceptron": Case(AveragedPerceptron(), {}),
    "averaged_perceptron_last": Case(
        AveragedPerceptron(average=None, multi_class="joint")
    ),
    "averaged_perceptron_aggressive": Case(
        AveragedPerceptron(average="longest", learning_rate="aggressive")
    ),
    "averaged_perceptron_smaller_steps": Case(
        AveragedPerceptron(learning_rate="inverse_sqrt", class_weight="balanced")
    ),
    "averaged_perceptron_adagrad": Case(
        AveragedPerceptron(learning_rate="adagrad"),
        {"average": "longest"},
    ),
    "winnow": Case(Winnow(), {}),
    "winnow_joint": Case(Winnow(multi_class="joint")),
    "winnow_complement": Case(Winnow(variant="complement", binarize=0.0), {}),
    "winnow_conjunction": Case(
        Winnow(
            variant="complement_conjunction", binarize=0.0, average="longest"
        )
    ),
    "consistent_halfspace": Case(ConsistentHalfspace(), {}),
    "consistent_halfspace_l1": Case(ConsistentHalfspace(norm="l1")),
    "consistent_halfspace_perceptron": Case(
        ConsistentHalfspace(sigma=0.1), {}
    ),
    # concepts
    "conjunction_classifier": Case(ConjunctionClassifier(), {}),
    "conjunction_classifier_disjunction": Case(
        ConjunctionClassifier(target="disjunction", monotone=True)
    ),
    "halving_classifier": Case(HalvingClassifier(max_literals=2), {}),
    "halving_classifier_disjunctions": Case(
        HalvingClassifier("k-disjunctions", max_literals=1)
    ),
    # preprocessing
    "boolean_encoder": Case(BooleanEncoder(), {}),
    "boolean_encoder_monotone": Case(
        BooleanEncoder(n_bins=4, strategy="monotone", complement=False)
    ),
    "boolean_encoder_sparse": Case(BooleanEncoder(n_bins=3, sparse_output=True)),
    "boolean_encoder_propagate": Case(BooleanEncoder(missing="propagate")),
    "conjunction_features": Case(ConjunctionFeatures(), {}),
    "conjunction_features_dense": Case(
        ConjunctionFeatures(monotone=False, sparse_output=False, max_literals=3)
    ),
    "conjunction_features_frequent": Case(
        ConjunctionFeatures(min_support=0.2, monotone=False, max_literals=None),
        {"min_support": 0.1, "max_literals": 3},
    ),
    # boosting
    "boost_by_majority": Case(
        BoostByMajority(n_estimators=11),
        {"n_estimators": 5, "schedule": BoostingSchedule(gamma=0.1)},
    ),
    "boost_by_majority_measured": Case(
        BoostByMajority(
            n_estimators=11,
            schedule=BoostingSchedule(gamma="measured"),
            class_weight="balanced",
        )
    ),
    "boost_by_majority_early": Case(BoostByMajority(n_estimators=7, early_stopping=3)),
    "boost_by_majority_resample": Case(
        BoostByMajority(
            n_estimators=11, schedule=BoostingSchedule(sampling="resample", gamma=0.1)
        ),
        {"n_estimators": 3},
    ),
    "boost_by_majority_trees": Case(
        BoostByMajority(
            DecisionTreeClassifier(max_depth=2, min_weight_fraction_leaf=0.01),
            n_estimators=11,
            schedule=BoostingSchedule(gamma=0.1),
        ),
        {
            "estimator": STUMP,
            "n_estimators": 5,
            "schedule": BoostingSchedule(gamma="measured"),
        },
    ),
    "boost_by_majority_logistic": Case(
        BoostByMajority(
            LogisticRegression(),
            n_estimators=5,
            schedule=BoostingSchedule(gamma="measured"),
        )
    ),
    "boost_by_majority_neighbors": Case(
        BoostByMajority(
            KNeighborsClassifier(3),
            n_estimators="auto",
            schedule=BoostingSchedule(max_estimators=7),
        )
    ),
    "boost_by_majority_ovr": Case(
        BoostByMajority(
            n_estimators=7,
            schedule=BoostingSchedule(gamma="measured"),
            multi_class="ovr",
        )
    ),
    "boolean_stump": Case(BooleanStump(), {}),
    "conjunction_stump": Case(ConjunctionStump(), {}),
    "boolean_stump_half": Case(BooleanStump(binarize=0.5)),
    "boolean_stump_one": Case(BooleanStump(binarize=1)),
    "boost_by_majority_schedule": Case(
        BoostByMajority(
            n_estimators=5, schedule=CrossValidatedSchedule(["fixed", "measured"], cv=2)
        )
    ),
    "filtering_boost_by_majority": Case(
        FilteringBoostByMajority(),
        {"schedule": FilteringSchedule(gamma=0.2, n_samples_weak=20)},
    ),
    "filtering_boost_by_majority_trees": Case(
        FilteringBoostByMajority(
            DecisionTreeClassifier(max_depth=2),
            schedule=FilteringSchedule(gamma=0.2, n_samples_weak=20),
        )
    ),
    "online_boost_by_majority": Case(OnlineBoostByMajority(), {"n_estimators": 5}),
    "online_boost_by_majority_reject": Case(OnlineBoostByMajority(sampling="reject")),
    "online_boost_by_majority_bayes": Case(
        OnlineBoostByMajority(
            BernoulliNB(), n_estimators=3, batch_size=20, max_iter=3, sampling="reject"
        ),
        {"batch_size": 40},
    ),
    "online_boost_by_majority_sgd": Case(
        OnlineBoostByMajority(
            SGDClassifier(loss="log_loss"), n_estimators=3, batch_size=20, max_iter=3
        )
    ),
    "boost_by_majority_regressor": Case(
        BoostByMajorityRegressor(),
        {"n_estimators": 5, "schedule": BoostingSchedule(gamma=0.1)},
    ),
    "boost_by_majority_regressor_trees": Case(
        BoostByMajorityRegressor(
            DecisionTreeRegressor(max_depth=2),
            schedule=BoostingSchedule(gamma=0.1, weak_failure="abort"),
        )
    ),
    "boost_by_majority_regressor_ridge": Case(
        BoostByMajorityRegressor(
            Ridge(), n_estimators=21, schedule=BoostingSchedule(target_error=0.1)
        )
    ),
    "boost_by_majority_regressor_neighbors": Case(
        BoostByMajorityRegressor(KNeighborsRegressor(3), n_estimators=11)
    ),
    "boost_by_majority_regressor_resample": Case(
        BoostByMajorityRegressor(
            Ridge(),
            schedule=BoostingSchedule(sampling="resample", n_samples_weak=50),
            n_estimators=11,
        )
    ),
    "gradient_boosting_classifier": Case(
        BooleanGradientBoostingClassifier(), {"max_iter": 5}
    ),
    "gradient_boosting_classifier_fixed": Case(
        BooleanGradientBoostingClassifier(
            max_iter=9, max_features=1.0, min_samples_leaf=1, n_iter_no_change=None
        )
    ),
    "gradient_boosting_regressor": Case(
        BooleanGradientBoostingRegressor(), {"max_iter": 5}
    ),
    "gradient_boosting_regressor_absolute": Case(
        BooleanGradientBoostingRegressor("absolute_error", max_iter=90)
    ),
    # density
    "bernoulli_mixture": Case(BernoulliMixture(), {"n_components": 2}),
    "bernoulli_mixture_starts": Case(
        BernoulliMixture(3, n_init=3, alpha=1.0, binarize=0.5), {"n_init": 2}
    ),
    "density_imputer": Case(
        DensityImputer(),
        {"estimator": BernoulliMixture(2, random_state=0)},
    ),
    "density_imputer_encoder": Case(
        DensityImputer(
            BernoulliMixture(3, random_state=0), encoder=BooleanEncoder(n_bins=3)
        )
    ),
    "density_classifier": Case(DensityClassifier(), {}),
    "density_classifier_mixtures": Case(
        DensityClassifier(BernoulliMixture(2, random_state=0))
    ),
    "density_outlier_detector": Case(DensityOutlierDetector(), {}),
    "density_mixture": Case(
        DensityMixture(ChowLiuTree(), n_components=3),
        {"n_components": 2, "max_iter": 2},
    ),
    "density_mixture_machines": Case(
        DensityMixture(
            CombinationMachine(2, base="chow_liu", n_init=1, max_iter=5),
            n_components=2,
            max_iter=2,
        )
    ),
    "chow_liu_tree": Case(ChowLiuTree(), {}),
    "chow_liu_tree_one": Case(ChowLiuTree(alpha=1e-6, binarize=1)),
    "combination_machine": Case(
        CombinationMachine(), {"n_components": 2, "n_init": 1, "max_iter": 20}
    ),
    "combination_machine_base": Case(
        CombinationMachine(2, base="chow_liu", max_iter=50),
        {"n_init": 2, "max_iter": 5, "alpha": "auto"},
    ),
    "combination_machine_active": Case(
        CombinationMachine((6, 2), n_init=1, max_iter=30)
    ),
    "gaussian_combination_machine": Case(
        GaussianCombinationMachine(3, n_init=2, max_iter=30),
        {"n_components": 2, "n_init": 1, "max_iter": 5},
    ),
    "gaussian_combination_machine_active": Case(
        GaussianCombinationMachine(
            (4, 1), init="projection_pursuit", n_init=1, max_iter=9
        )
    ),
    "combination_machine_no_bias": Case(
        CombinationMachine(3, base="uniform", solver="gradient", max_iter=30)
    ),
    "combination_machine_fixed_tree": Case(
        CombinationMachine(3, base="fixed_chow_liu", n_init=1, max_iter=30)
    ),
    "combination_machine_pursuit_start": Case(
        CombinationMachine(3, init="projection_pursuit", n_init=1, max_iter=30)
    ),
    "combination_machine_pursuit": Case(
        CombinationMachine("auto", solver="projection_pursuit", n_init=2, max_iter=30)
    ),
    "sampled_combination_machine": Case(
        SampledCombinationMachine(), {"n_components": 2, "max_iter": 3}
    ),
    "sampled_combination_machine_tree": Case(
        SampledCombinationMachine(3, base="chow_liu", max_iter=5),
        {"n_components": 2, "max_iter": 3},
    ),
    # active_learning; as few labels as it takes to be accurate in the checks
    "query_by_committee": Case(QueryByCommittee(n_members=3, max_queries=20), QUERIES),
    "query_by_committee_bagging": Case(
        QueryByCommittee(
            LogisticRegression(), n_members=2, strategy="kl", batch_size=4,
            max_queries=20,
        ),
        {
            "strategy": "pairwise_disagreement", "batch_size": 5, "max_queries": 10,
        },
    ),
    "query_by_committee_list": Case(
        QueryByCommittee(
            [GaussianNB(), LogisticRegression(), DecisionTreeClassifier()],
            strategy="margin", final_estimator=LogisticRegression(), batch_size=10,
            max_queries=30,
        )
    ),
    "query_by_committee_vote_entropy": Case(
        QueryByCommittee(
            LogisticRegression(), n_members=3, strategy="vote_entropy", batch_size=5,
            max_queries=20,
        )
    ),
    "query_by_committee_seed": Case(
        QueryByCommittee([DecisionTreeClassifier(max_features=1)] * 3, max_queries=20)
    ),
    "query_by_committee_of_one": Case(
        QueryByCommittee(
            RandomForestClassifier(10), n_members=1, strategy="label_entropy",
            batch_size=5, max_queries=20,
        )
    ),
    "query_by_committee_neighbors": Case(
        QueryByCommittee(
            KNeighborsClassifier(3), n_members=3, max_queries=20
        )
    ),
    "query_by_committee_gibbs": Case(
        QueryByCommittee(
            HalfspaceVersionSpace(label_noise=0.05, n_steps=20), max_queries=20
        ),
        {"committee__n_steps": 10, "max_queries": 12},
    ),
    "query_by_committee_gibbs_kernel": Case(
        QueryByCommittee(
            KernelVersionSpace(KernelFunction(), label_noise=0.05), max_queries=20
        )
    ),
    "query_by_committee_gibbs_finite": Case(
        QueryByCommittee(
            FiniteVersionSpace("conjunctions", max_literals=2, label_noise=0.1)
        )
    ),
    # ensemble
    "boolean_ensemble": Case(BooleanEnsembleClassifier(), {
        "estimators": [("bayes", BernoulliNB()), ("linear", LogisticRegression())]
    }),
    "boolean_ensemble_regressor": Case(BooleanEnsembleRegressor(), {
        "estimators": [
            ("trees", BooleanGradientBoostingRegressor(max_iter=3)),
            ("stumps", BooleanGradientBoostingRegressor(max_iter=5, max_leaf_nodes=2)),
        ]
    }),
    # rules
    "conjunction_logistic_regression": Case(
        ConjunctionLogisticRegression(C=1.0, tol=1e-10), {"C": (0.1, 1.0)}
    ),
    "conjunction_logistic_regression_balanced": Case(
        ConjunctionLogisticRegression(
            C=2.0, max_literals=2, literal_cost=1.0, class_weight="balanced", tol=1e-10
        ),
        {"C": (0.1, 1.0), "monotone": True},
    ),
    "conjunction_regressor": Case(ConjunctionRegressor(), {"tol": 1e-10, "cv": 2}),
    "conjunction_regressor_one_C": Case(ConjunctionRegressor(C=1.0, tol=1e-10)),
    "conjunction_regressor_single": Case(
        ConjunctionRegressor(C=3.0, max_literals=1, tol=1e-10)
    ),
    "optimal_rule_set": Case(OptimalRuleSet(), {"max_literals": 2}),
    "scorecard_classifier": Case(ScorecardClassifier(), {"max_points": 2}),
    "scorecard_classifier_pairs": Case(
        ScorecardClassifier(3, max_literals=2, class_weight="balanced")
    ),
    "rule_classifier": Case(RuleClassifier(), {"max_rules": 3}),
    "rule_classifier_svc": Case(
        RuleClassifier(SVC(gamma=0.1), monotone=True, penalty=0.8)
    ),
    "rule_classifier_labels": Case(RuleClassifier("labels", literal_cost=2)),
    "rule_classifier_perceptron": Case(
        RuleClassifier(
            plain_perceptron("rbf"), literal_cost=0.0, cv=2, class_weight="balanced"
        )
    ),
}  # fmt: skip

ESTIMATORS = [case.estimator for case in CASES.values()]
MODELS = {name: case.model() for name, case in CASES.items() if case.quick is not None}
# The first of each class, for tests of what parameters do not change.
OF_CLASSES = {type(MODELS[name]): name for name in reversed(MODELS)}.values()

# What these say about data that follow no rule, and about few or easy samples.
EXPECTED_WARNINGS = [
    "ignore:Column .* is above binarize:UserWarning",
    "ignore:Column .* holds numbers between 0 and 1 only:UserWarning",
    "ignore:Column .* outweigh bits as they are:UserWarning",
    "ignore:No (con|dis)junction classifies:UserWarning",
    "ignore:No rule gained enough:UserWarning",
    "ignore:None of the .* hypotheses agrees:UserWarning",
    "ignore:No halfspace (is right|classifies):sklearn.exceptions.ConvergenceWarning",
    "ignore:In .* starts no halfspace:sklearn.exceptions.ConvergenceWarning",
    "ignore:The first hypothesis alone:UserWarning",
    "ignore:The hypotheses are linear:UserWarning",
    "ignore:After max_estimators:UserWarning",
    "ignore:No hypothesis was right:UserWarning",
    "ignore:All samples of .* have weight 0:UserWarning",
    "ignore:No hypothesis had an edge:UserWarning",
    "ignore:The least populated class in y:UserWarning",
    "ignore:.* further than delta:sklearn.exceptions.ConvergenceWarning",
]


def public_estimators():
    """Names of all estimators that ``sklboolean`` exports."""
    return {
        name
        for name in sklboolean.__all__
        if hasattr(getattr(sklboolean, name), "get_params")
    }


# Data and fitted models

METHODS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "score_samples",
)


def data(n_samples=80, seed=0):
    """Boolean samples, labelled by a conjunction of two features."""
    X = (np.random.default_rng(seed).random((n_samples, 8)) < 0.6).astype(np.uint8)
    return X, (X[:, 0] & X[:, 3]).astype(np.int64)


def target_for(model, X, y):
    """The labels, or real values for a regressor."""
    return y + 0.5 * X[:, 1] if is_regressor(model) else y


def ignores_labels(model):
    """Whether ``y`` is not used in ``fit``."""
    return not (is_classifier(model) or is_regressor(model))


@cache
def pickle_of(name, n_samples):
    """The bytes of the named model, fitted to `data`."""
    model = clone(MODELS[name])
    X, y = data(n_samples)
    return pickle.dumps(model.fit(X, target_for(model, X, y)))


def fitted(name, n_samples=80):
    """The named model, fitted to `data`."""
    return pickle.loads(pickle_of(name, n_samples))


def answers(model, X):
    """Results of all prediction methods of a fitted model, as arrays by name."""
    results = {}
    for name in METHODS:
        if hasattr(model, name):
            result = getattr(model, name)(X)
            results[name] = result.toarray() if sparse.issparse(result) else result
    assert results
    return results


def same_answers(first, second):
    """Assert that two results of `answers` agree bit by bit."""
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
