"""A small model of each estimator, with rows and answers: for faults and pickles."""

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

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
from sklboolean.kernels import ConjunctionKernel

# A name for each way in which a fitted estimator holds its state.
MODELS = {
    "averaged_perceptron": AveragedPerceptron(random_state=0),
    "averaged_perceptron_adagrad": AveragedPerceptron(
        schedule="adagrad", probability=True, average="longest", random_state=0
    ),
    "bernoulli_mixture": BernoulliMixture(2, random_state=0),
    "boolean_stump": BooleanStump(),
    "boost_by_majority": BoostByMajority(n_estimators=5, gamma=0.1, random_state=0),
    "boost_by_majority_trees": BoostByMajority(
        DecisionTreeClassifier(max_depth=1),
        n_estimators=5,
        gamma="measured",
        probability=True,
        random_state=0,
    ),
    "boost_by_majority_regressor": BoostByMajorityRegressor(
        n_estimators=5, gamma=0.1, random_state=0
    ),
    "chow_liu_tree": ChowLiuTree(),
    "combination_machine": CombinationMachine(2, n_init=1, max_iter=20, random_state=0),
    "combination_machine_tree": CombinationMachine(
        2, base="chow_liu", solver="pcd", max_iter=3, n_init=1, random_state=0
    ),
    "conjunction_classifier": ConjunctionClassifier(),
    "conjunction_features": ConjunctionFeatures(),
    "conjunction_features_frequent": ConjunctionFeatures(
        min_support=0.1, negations=True, max_literals=3
    ),
    "consistent_halfspace": ConsistentHalfspace(),
    "halving_classifier": HalvingClassifier(max_literals=2),
    "kernel_perceptron": KernelPerceptron(random_state=0),
    "kernel_perceptron_object": KernelPerceptron(
        ConjunctionKernel(max_literals=3), probability=True, random_state=0
    ),
    "kernel_perceptron_budget": KernelPerceptron(
        max_support=8, budget="forgetron", random_state=0
    ),
    "kernel_perceptron_voted": KernelPerceptron(average="voted", random_state=0),
    "online_boost_by_majority": OnlineBoostByMajority(n_estimators=5, random_state=0),
    "online_boost_by_majority_bayes": OnlineBoostByMajority(
        BernoulliNB(), n_estimators=3, batch_size=40, sampling="reject", random_state=0
    ),
    "query_by_committee": QueryByCommittee(
        n_members=2, batch_size=5, max_queries=20, random_state=0
    ),
    "query_by_committee_gibbs": QueryByCommittee(
        committee="gibbs", eta=0.05, n_steps=10, max_queries=12, random_state=0
    ),
    "query_by_committee_bagging": QueryByCommittee(
        LogisticRegression(), n_members=2, batch_size=5, max_queries=10, random_state=0
    ),
    "rule_classifier": RuleClassifier(max_rules=3, random_state=0),
    "winnow": Winnow(random_state=0),
    "winnow_complement": Winnow(
        variant="complement", binarize=0.0, probability=True, random_state=0
    ),
}

ASKED = ("predict", "predict_proba", "decision_function", "transform", "score_samples")


def rows(n_samples=80, seed=0):
    """Boolean rows, and as label a conjunction of two features."""
    X = (np.random.default_rng(seed).random((n_samples, 8)) < 0.6).astype(np.uint8)
    return X, (X[:, 0] & X[:, 3]).astype(np.int64)


def target_for(model, X, y):
    """The labels, or for a regressor numbers."""
    return y + 0.5 * X[:, 1] if is_regressor(model) else y


def ignores_labels(model):
    """Whether y plays no part in a fit."""
    return not (is_classifier(model) or is_regressor(model))


def fitted(name):
    """The named model, fitted to the rows."""
    model = clone(MODELS[name])
    X, y = rows()
    return model.fit(X, target_for(model, X, y))


def answers(model, X):
    """What a fitted model says about rows, by method, as arrays."""
    said = {}
    for name in ASKED:
        if hasattr(model, name):
            answer = getattr(model, name)(X)
            said[name] = answer.toarray() if sparse.issparse(answer) else answer
    assert said
    return said


def same_answers(first, second):
    """Compare answers bit by bit."""
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
