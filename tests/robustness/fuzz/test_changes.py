"""Parameters that change between calls of `partial_fit`."""

import copy
import inspect

import numpy as np
import pytest
from _instances import CASES, MODELS, KernelFunction
from fuzz.attempt import attempt
from fuzz.runner import explore
from fuzz.test_methods import EXPECTED, use
from hypothesis import strategies as st
from oracles.kernels import counting_kernel
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

from sklboolean.active_learning import FiniteVersionSpace
from sklboolean.boosting import FilteringSchedule
from sklboolean.kernels import DNFKernel

pytestmark = [
    pytest.mark.filterwarnings(each)
    for each in [*EXPECTED, "ignore:The log-likelihood is an estimate:UserWarning"]
]

WHOLE = {f"{name}, not small": case.estimator for name, case in CASES.items()}
IN_PARTS = ("partial_fit", "teach")
# Copies of functions, and of estimators in a list, do not equal them.
STREAMING = {
    name: estimator
    for name, estimator in (MODELS | WHOLE).items()
    if any(hasattr(estimator, method) for method in IN_PARTS)
    and not any(isinstance(p, KernelFunction) for p in estimator.get_params().values())
    and not isinstance(getattr(estimator, "committee", None), list)
}

# Valid values, so that the code after the checks is tried too.
VALUES = {
    "alpha": [0.1, 1.0],
    "average": ["mean", "longest", "voted", None],
    "base": ["independent", "uniform", "chow_liu"],
    "binarize": [None, 0.0, 0.5],
    "class_weight": [None, {0: 2, 1: 1}, {0: 0.5}, "balanced"],
    "committee": [None, BernoulliNB(), FiniteVersionSpace("conjunctions")],
    "estimator": [None, BernoulliNB(), SGDClassifier(), DecisionTreeClassifier()],
    "hypotheses": ["conjunctions", "disjunctions", None],
    "kernel": [
        "conjunction", "linear", "rbf", "poly", "dnf", "tanimoto", "precomputed",
        DNFKernel(), counting_kernel(max_literals=2),
    ],
    "max_support": [None, 1, 5],
    "multi_class": ["ovr", "joint"],
    "learning_rate": [0.1, 1.0, "inverse_sqrt", "adagrad", "aggressive"],
    "n_jobs": [None, 1, 2],
    "random_state": [None, 0, 1],
    "sampler": ["auto", "expectation_propagation"],
    "sampling": ["weight", "reject"],
    "schedule": ["auto", FilteringSchedule(gamma=0.2, n_samples_weak=20)],
    "target": ["conjunction", "disjunction"],
    "variant": ["balanced", "positive", "complement", "positive_conjunction"],
    "verbose": [0],
}  # fmt: skip
PLAIN = [None, True, False, 1, 2, 3, 5, 0.1, 0.5, 2.0]

N_ROWS, N_FEATURES = 9, 70  # two words of bits


def part(seed, n_classes):
    """Samples of all classes; a feature marks each class."""
    bits = np.random.default_rng(seed).integers(0, 2, (N_ROWS, N_FEATURES))
    y = np.arange(N_ROWS) % n_classes
    bits[:, :n_classes] = y[:, None] == np.arange(n_classes)
    return bits, y


def learn(model, seed, n_classes):
    """Fit a part; return whether it succeeded, or None where it is impossible."""
    name = next((name for name in IN_PARTS if hasattr(model, name)), None)
    if name is None:
        return None
    method = getattr(model, name)
    X, y = part(seed, n_classes)
    arguments = {"X": X, "y": y}
    if "classes" in inspect.signature(method).parameters:
        arguments["classes"] = np.arange(n_classes)
    succeeded, _answer = attempt(method, arguments, owner=model)
    if succeeded:
        use(model, X)
    return succeeded


def draw_changes(data, model):
    """Other values for one parameter or two, those of parameters included."""
    names = st.sampled_from(sorted(model.get_params()))
    chosen = data.draw(st.sets(names, min_size=1, max_size=2), label="changed")
    return {
        name: data.draw(st.sampled_from(VALUES.get(name, PLAIN)), label=name)
        for name in sorted(chosen)
        if name.split("__")[0] == name or name.split("__")[0] not in chosen
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", STREAMING)
def test_training_resumes_with_changed_parameters_or_is_refused(name):
    """Training resumes, or an error leaves a model that resumes as it was."""

    def check(data):
        model = clone(STREAMING[name])
        n_classes = data.draw(st.sampled_from([2, 3]), label="n_classes")
        learns = learn(model, 0, n_classes)
        for seed in range(1, 4):
            before = copy.deepcopy(model.get_params(deep=False))
            model.set_params(**draw_changes(data, model))
            if learn(model, seed, n_classes):
                learns = True
            else:
                model.set_params(**before)
                assert learn(model, seed, n_classes) == learns

    explore(check, 4)
