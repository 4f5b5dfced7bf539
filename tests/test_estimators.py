"""scikit-learn's own checks, with no expected failure but where rows are drawn."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    parametrize_with_checks,
)

import sklboolean
from sklboolean import (
    AveragedPerceptron,
    BernoulliMixture,
    BooleanStump,
    BoostByMajority,
    BoostByMajorityRegressor,
    ChowLiuTree,
    CombinationMachine,
    ConjunctionClassifier,
    ConjunctionFeatures,
    ConsistentHalfspace,
    HalvingClassifier,
    KernelPerceptron,
    OnlineBoostByMajority,
    QueryByCommittee,
    RuleClassifier,
    Winnow,
)
from sklboolean.kernels import TanimotoKernel


class KernelFunction:
    """A kernel function whose repr, and so the names of its tests, has no address."""

    def __call__(self, A, B):
        return rbf_kernel(A, B)

    def __repr__(self):
        return "rbf_kernel"


ESTIMATORS = [
    KernelPerceptron(),
    KernelPerceptron("precomputed"),
    KernelPerceptron(average="voted", margin=1.0, margin_type="relative"),
    KernelPerceptron(average=None, multi_class="joint", tie="negative"),
    KernelPerceptron(multi_class="joint", probability=True, warm_start=True),
    KernelPerceptron("rbf", probability=True),
    KernelPerceptron(probability=True, decay=0.5),
    KernelPerceptron(TanimotoKernel()),
    KernelPerceptron(KernelFunction(), fit_intercept=False),
    KernelPerceptron(max_literals=None, monotone=False, class_weight="balanced"),
    # The checks make two noisy bits of real features. Fewer support rows than the
    # noise asks for (161) do not reach the accuracy that is demanded.
    KernelPerceptron(max_support=170, budget="forgetron"),
    AveragedPerceptron(),
    AveragedPerceptron(average=None, multi_class="joint"),
    AveragedPerceptron(average="longest", aggressive=True),
    AveragedPerceptron(alpha=1e-4, schedule="inverse_sqrt", class_weight="balanced"),
    AveragedPerceptron(schedule="adagrad", probability=True),
    Winnow(),
    Winnow(multi_class="joint", probability=True),
    Winnow(variant="complement", binarize=0.0),
    Winnow(variant="complement", binarize=0.0, target="conjunction", average="longest"),
    ConjunctionClassifier(),
    ConjunctionClassifier(target="disjunction", monotone=True),
    ConjunctionFeatures(),
    ConjunctionFeatures(negations=True, sparse_output=False, max_literals=3),
    ConjunctionFeatures(min_support=0.2, negations=True, max_literals=None),
    ConjunctionFeatures(max_features=10, dtype="bool"),
    RuleClassifier(),
    RuleClassifier(SVC(gamma=0.1), literals="positive", penalty=1.0),
    RuleClassifier(KernelPerceptron("rbf"), min_gain=0.0, n_candidates=20, width=64),
    RuleClassifier(width=None, max_rules=3, time_limit=60.0, max_literals=2),
    HalvingClassifier(max_literals=2),
    HalvingClassifier("k-disjunctions", max_literals=1),
    ConsistentHalfspace(),
    ConsistentHalfspace(norm="l1"),
    ConsistentHalfspace(solver="modified_perceptron", sigma=0.1),
    BoostByMajority(n_estimators=11),
    BoostByMajority(n_estimators=11, gamma="measured", probability=True),
    BoostByMajority(n_estimators=11, variant="resample", gamma=0.1),
    BoostByMajority(DecisionTreeClassifier(max_depth=2), n_estimators=11, gamma=0.1),
    BoostByMajority(LogisticRegression(), n_estimators=5, gamma="measured"),
    BoostByMajority(KNeighborsClassifier(3), n_estimators="auto", max_estimators=15),
    BooleanStump(),
    BooleanStump(binarize=0.5),
    BooleanStump(binarize=1),
    OnlineBoostByMajority(),
    OnlineBoostByMajority(sampling="reject", shuffle=False),
    OnlineBoostByMajority(BernoulliNB(), n_estimators=7, batch_size=20, max_iter=3),
    OnlineBoostByMajority(
        SGDClassifier(loss="log_loss"), n_estimators=5, batch_size=20, max_iter=3
    ),
    OnlineBoostByMajority(
        BernoulliNB(), n_estimators=5, batch_size=20, max_iter=3, sampling="reject"
    ),
    BoostByMajorityRegressor(),
    BoostByMajorityRegressor(
        DecisionTreeRegressor(max_depth=2), gamma=0.1, on_weak_failure="abort"
    ),
    BoostByMajorityRegressor(Ridge(), n_estimators=21, target_error=0.1),
    BoostByMajorityRegressor(KNeighborsRegressor(3), n_estimators=11),
    BoostByMajorityRegressor(
        Ridge(), variant="resample", n_estimators=11, n_samples_weak=50
    ),
    BernoulliMixture(),
    BernoulliMixture(3, growth=None, n_init=3, alpha=1.0),
    BernoulliMixture(2, warm_start=True, binarize=0.5),
    ChowLiuTree(),
    CombinationMachine(),
    CombinationMachine(2, base="chow_liu", max_iter=50),
    CombinationMachine(6, max_active=2, n_init=1, max_iter=30),
    CombinationMachine(3, visible="real", n_init=2, max_iter=30),
    CombinationMachine(
        4, visible="real", max_active=1, init="projection_pursuit", n_init=1, max_iter=9
    ),
    CombinationMachine(3, visible_bias=False, solver="gradient", max_iter=30),
    CombinationMachine(3, base="chow_liu", tree_updates=0, n_init=1, max_iter=30),
    CombinationMachine(3, init="projection_pursuit", n_init=1, max_iter=30),
    CombinationMachine("auto", solver="projection_pursuit", n_init=2, max_iter=30),
    CombinationMachine(3, base="chow_liu", solver="pcd", max_iter=5),
    ChowLiuTree(alpha=1e-6, binarize=1),
    # As few labels as it takes to be right on the checks' rows.
    QueryByCommittee(n_members=3, max_queries=20),
    QueryByCommittee(
        LogisticRegression(),
        n_members=2,
        strategy="kl",
        rebag=True,
        batch_size=4,
        max_queries=20,
    ),
    QueryByCommittee(
        committee=[GaussianNB(), LogisticRegression(), DecisionTreeClassifier()],
        strategy="margin",
        final_estimator=LogisticRegression(),
        batch_size=10,
        max_queries=30,
    ),
    QueryByCommittee(
        LogisticRegression(),
        committee="subsample",
        n_members=3,
        strategy="vote_entropy",
        batch_size=5,
        max_queries=20,
    ),
    QueryByCommittee(
        DecisionTreeClassifier(max_features=1),
        committee="seed",
        n_members=3,
        max_queries=20,
    ),
    QueryByCommittee(
        KNeighborsClassifier(3), n_members=3, prediction="gibbs", max_queries=20
    ),
    QueryByCommittee(n_members=3, mode="stream", initial=50, max_queries=60),
    QueryByCommittee(committee="gibbs", eta=0.05, n_steps=20, max_queries=20),
    QueryByCommittee(
        committee="gibbs", eta=0.05, gibbs="ep", mode="stream", max_queries=20
    ),
    QueryByCommittee(
        committee="gibbs", eta=0.05, kernel=KernelFunction(), max_queries=20
    ),
    QueryByCommittee(
        committee="gibbs", eta=0.1, hypotheses="conjunctions", max_literals=2
    ),
]

EQUIVALENCE = [
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
]


def expected_failures(estimator):
    """Rows that are drawn differ from draw to draw, be they repeated or weighted."""
    base = getattr(estimator, "estimator", None)
    drawn = isinstance(base, KNeighborsRegressor | KNeighborsClassifier)
    # A pool that is asked for to the last row is the same in every order.
    drawn |= isinstance(getattr(estimator, "committee", None), str)
    if drawn or getattr(estimator, "variant", None) == "resample":
        return dict.fromkeys(EQUIVALENCE, "rows are drawn at random")
    return {}


# The checks' rows follow no formula, which concept learners say, and some are of
# positive numbers only, all of which are true.
unfitting = pytest.mark.filterwarnings(
    "ignore:Column .* is above binarize:UserWarning",
    "ignore:No (con|dis)junction is right:UserWarning",
    "ignore:No rule was worth its mistakes:UserWarning",
    "ignore:None of the .* hypotheses agrees:UserWarning",
    "ignore:No halfspace is right:sklearn.exceptions.ConvergenceWarning",
    "ignore:In .* starts no halfspace:sklearn.exceptions.ConvergenceWarning",
    "ignore:The first hypothesis alone:UserWarning",
    "ignore:The hypotheses are linear:UserWarning",
    "ignore:After max_estimators:UserWarning",
    "ignore:No hypothesis was right:UserWarning",
    "ignore:The least populated class in y:UserWarning",
    "ignore:.* further than delta:sklearn.exceptions.ConvergenceWarning",
)


@unfitting
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@unfitting
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_column_names_are_checked(estimator):
    check_dataframe_column_names_consistency(type(estimator).__name__, estimator)


def test_list_holds_every_public_estimator():
    public = {
        name
        for name in sklboolean.__all__
        if hasattr(getattr(sklboolean, name), "get_params")
    }
    assert {type(estimator).__name__ for estimator in ESTIMATORS} == public


def test_precomputed_learner_asks_for_square_slices():
    assert KernelPerceptron("precomputed").__sklearn_tags__().input_tags.pairwise
    assert not KernelPerceptron().__sklearn_tags__().input_tags.pairwise
    # A kernel that is an array must not be compared with a name.
    odd = KernelPerceptron(np.array(["precomputed", "rbf"]))
    assert not odd.__sklearn_tags__().input_tags.pairwise
