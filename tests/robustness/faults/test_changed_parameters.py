"""Parameters set between two parts of a stream: which may change, and which not."""

import pickle

import joblib
import numpy as np
import pytest
from _instances import MODELS, answers, data, ignores_labels, same_answers
from oracles.kernels import counting_kernel, plain_perceptron
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

from sklboolean import AveragedPerceptron, QueryByCommittee, Winnow
from sklboolean.boosting import FilteringSchedule

# On these what was learned depends: by model, with another value.
FIXED = {
    "averaged_perceptron": {
        "average": None, "fit_intercept": False, "learning_rate": "adagrad",
    },
    "averaged_perceptron_adagrad": {
        "average": "mean", "fit_intercept": False, "learning_rate": 1.0,
    },
    "bernoulli_mixture": {"binarize": 0.5, "n_components": 3},
    "conjunction_classifier": {
        "binarize": None, "monotone": True, "target": "disjunction",
    },
    "filtering_boost_by_majority": {
        "estimator": DecisionTreeClassifier(max_depth=1),
        "schedule": FilteringSchedule(mode="theory"),
    },
    "halving_classifier": {
        "binarize": None, "hypotheses": "disjunctions", "max_literals": 1,
        "monotone": True,
    },
    "kernel_perceptron": {
        "average": "voted", "binarize": None, "kernel": "rbf", "max_literals": 2,
        "monotone": False,
    },
    "kernel_perceptron_object": {
        "average": None, "binarize": 0.5,
        "kernel": counting_kernel(max_literals=4), "kernel__max_literals": 4,
    },
    "online_boost_by_majority": {
        "estimator": BernoulliNB(), "n_estimators": 7, "sampling": "reject",
    },
    "online_boost_by_majority_bayes": {
        "estimator": AveragedPerceptron(), "estimator__alpha": 2.0, "n_estimators": 5,
        "sampling": "weight",
    },
    "sampled_combination_machine": {
        "base": "chow_liu", "binarize": 0.5, "n_components": 3,
    },
    "sampled_combination_machine_tree": {
        "base": "independent", "binarize": None, "n_components": 1,
    },
    "winnow": {
        "average": None, "binarize": 0.0, "threshold": None,
        "variant": "complement_conjunction",
    },
}  # fmt: skip
# These tune the steps to come.
FREE = {
    "alpha": 0.01, "batch_size": 7, "class_weight": {0: 2, 1: 1}, "cv": 2,
    "early_stopping": False, "feature_groups": None, "init": "projection_pursuit",
    "learning_rate": 0.5, "margin": 2.0, "max_iter": 3, "max_support": 9, "n_init": 2,
    "n_jobs": 2, "n_orders": 3, "promotion": 1.5, "random_state": 1,
    "sampling": "resample", "schedule": "auto", "shuffle": False, "threshold": 0.5,
    "verbose": 0,
}  # fmt: skip
# These make no difference to the models above, or are told by others.
IDLE = {
    "gamma", "max_literals", "monotone", "multi_class", "n_estimators",
}  # fmt: skip
LISTED = [(name, parameter) for name in FIXED for parameter in FIXED[name]]


def begun(model):
    """A model that learned the first part of a stream."""
    return learn(clone(model), 0)


def learn(model, seed):
    X, y = data(seed=seed)
    if ignores_labels(model):
        return model.partial_fit(X)
    return model.partial_fit(X, y, classes=[0, 1])


@pytest.mark.parametrize(("name", "parameter"), LISTED)
def test_what_cannot_go_on_is_refused_and_can_be_set_back(name, parameter):
    model, twin = begun(MODELS[name]), begun(MODELS[name])
    was = model.get_params()[parameter]
    model.set_params(**{parameter: FIXED[name][parameter]})
    before = joblib.hash(vars(model))
    told = rf"be resumed with {parameter}(\w*=).* fitted with {parameter}\1.* Set it"
    with pytest.raises(ValueError, match=told):
        learn(model, 1)
    assert joblib.hash(vars(model)) == before
    model.set_params(**{parameter: was})
    same_answers(*(answers(learn(m, 1), data()[0]) for m in (model, twin)))


@pytest.mark.parametrize("name", FIXED)
def test_everything_else_may_change(name):
    model = begun(MODELS[name])
    others = model.get_params(deep=False).keys() - FIXED[name].keys() - IDLE
    model.set_params(**{other: FREE[other] for other in others})
    learn(pickle.loads(pickle.dumps(model)), 1)


@pytest.mark.parametrize(
    "model",
    [AveragedPerceptron(), Winnow(), plain_perceptron()],
    ids=lambda m: type(m).__name__,
)
def test_how_several_classes_are_learned_stays(model):
    X, y = data()
    more = y + 2 * (X[:, 1] & X[:, 2])
    model.partial_fit(X, more, classes=np.unique(more)).set_params(multi_class="joint")
    with pytest.raises(ValueError, match=r"multi_class='joint': .* multi_class='ovr'"):
        model.partial_fit(X, more)
    # With two there is nothing to choose.
    two = clone(model).set_params(multi_class="ovr").partial_fit(X, y, classes=[0, 1])
    two.set_params(multi_class="joint").partial_fit(X, y)


def test_a_session_of_questions_reads_its_parameters_once():
    X, y = data()
    model = QueryByCommittee(random_state=0, initial=4).teach(X[:9], y[:9])
    asking = [lambda m: m.teach(X[9:], y[9:]), lambda m: m.query(X)]
    for name, value in [("n_members", 3), ("epsilon", 0.5), ("epsilon", (0.05, 0.1))]:
        other = pickle.loads(pickle.dumps(model)).set_params(**{name: value})
        for ask in asking:
            with pytest.raises(ValueError, match=f"cannot be resumed with {name}="):
                ask(other)
    model.set_params(batch_size=2, max_queries=99)
    assert model.teach(X[9:], y[9:]).query(X).shape == (2,)
