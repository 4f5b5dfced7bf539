"""Every public function, and the methods of what is no estimator, given the same."""

import importlib
import inspect
import pkgutil
from functools import partial

import numpy as np
import pytest
from fuzz.attempt import attempt
from fuzz.runner import explore
from fuzz.strategies import labels, scalars, tables, wild_arrays
from hypothesis import strategies as st
from oracles.kernels import plain_perceptron
from sklearn.linear_model import Ridge

import sklboolean
from sklboolean import BooleanStump, RuleClassifier, active_learning, concepts, kernels
from sklboolean.kernels import ConjunctionKernel
from sklboolean.rules import DNF, Rule, RuleEnsemble

X = np.random.default_rng(0).integers(0, 2, (6, 3))
X[:, 0] = [0, 1, 0, 1, 0, 1]
Y = X[:, 0]
SHARES = np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]])
MEMBERS = np.array([SHARES, SHARES[::-1]])
SIGNS = 2.0 * X - 1
GAIN = {"gamma": 0.2, "epsilon": 0.1, "delta": 0.1, "n_weak_samples": 10}
LITERALS = {"n_features": 10, "min_literals": 1, "max_literals": 2, "monotone": True}
# `out` is meant to be changed; tests/kernels gives it arrays of every kind.
KERNEL = {"X": X, "Y": X[:4], "binarize": 0.0, "dtype": "float64"}
STUMP = BooleanStump().fit(X, Y)
RULES = RuleClassifier("labels", penalty=1.0, literal_cost=1.0).fit(X, Y)
SAMPLE = {"n_samples": 20, "n_features": 12, "noise": 0.1, "random_state": 0}
HALFSPACE = {"positive": [0], "negative": [2], "n_features": 4}
RULE = Rule(((0, True), (2, False)), 2.0, 2.0)


def both(row):
    """A concept."""
    return row[0] and row[-1]


@pytest.fixture(scope="module")
def model():
    return plain_perceptron(max_iter=3).fit(X, Y)


SOUND = {
    "active_learning.align_probabilities": {
        "probabilities": MEMBERS,
        "member_classes": np.array([[0, 1, 2], [0, 1, 2]]),
        "classes": np.array([0, 1, 2]),
    },
    "active_learning.bayes_error_bounds": {"entropy": 0.5, "n_classes": 2},
    "active_learning.consensus_entropy": {"probabilities": MEMBERS},
    "active_learning.expected_information_gain": {
        "probabilities": np.array([0.0, 0.5])
    },
    "active_learning.kl_to_consensus": {
        "probabilities": MEMBERS,
        "member_weights": [1, 2.0],
    },
    "active_learning.label_entropy": {"shares": SHARES},
    "active_learning.margin_of_votes": {"shares": SHARES},
    "active_learning.pairwise_disagreement": {"shares": SHARES},
    "active_learning.top_scores": {
        "scores": np.array([0.1, 0.9]),
        "n": 1,
        "random_state": 0,
    },
    "active_learning.variation_ratio": {"shares": SHARES},
    "active_learning.vote_entropy": {"shares": SHARES},
    "active_learning.vote_shares": {"votes": X, "classes": np.array([0, 1])},
    "datasets.flip_labels": {"y": Y, "noise": 0.5, "exact": True, "random_state": 0},
    "datasets.load_mushroom": {"return_X_y": True, "as_frame": False},
    "datasets.load_recurrence": {"return_X_y": True, "as_frame": False},
    "datasets.load_votes": {"return_X_y": True, "as_frame": False},
    "datasets.make_disjunction": SAMPLE,
    "datasets.make_dnf": SAMPLE,
    "datasets.make_long_servedio": {"n_samples": 9, "noise": 0.1, "random_state": 0},
    "datasets.make_monks": {"problem": 1, "noise": 0.1, "random_state": 0},
    "datasets.make_threshold": SAMPLE,
    "datasets.make_tic_tac_toe": {"return_X_y": True, "as_frame": False},
    "kernels.cnf_kernel": KERNEL,
    "kernels.conjunction_kernel": KERNEL,
    "kernels.disjunction_kernel": KERNEL,
    "kernels.dnf_kernel": KERNEL,
    "kernels.nearest": {"Q": X[:3], "X": X, "k": 2},
    "kernels.tanimoto_kernel": KERNEL,
    "concepts.learn_conjunction_by_queries": {"oracle": both, "n_features": 4},
    "concepts.learn_conjunction_from_examples": {
        "oracle": both,
        "draw": 0.5,
        "n_features": 4,
        "n_examples": 9,
        "random_state": 0,
    },
    "concepts.learn_conjunction_from_teacher": {"X": X, "y": Y},
    "concepts.teaching_set": HALFSPACE,
    "inspection.check_monotone": {"model": STUMP, "X": X, "columns": [1, 0, 0]},
    "inspection.counterfactuals": {"model": STUMP, "X": X},
    "inspection.distill": {
        "model": STUMP,
        "X": X,
        "y": Y,
        "into": Ridge(),
        "test_size": 0.5,
        "random_state": 0,
    },
    "inspection.explain": {"model": STUMP, "X": X},
    "inspection.find_subgroups": {
        "X": X,
        "target": Y,
        "min_size": 1,
        "n_permutations": 9,
        "alpha": 1.0,
        "random_state": 0,
    },
    "inspection.label_quality": {"X": X, "y": Y, "cv": 2, "random_state": 0},
    "inspection.model_errors": {"model": STUMP, "X": X, "y": X[:, 1]},
    "inspection.model_page": {"estimator": STUMP, "X": X, "y": Y},
    "inspection.monitor": {"model": RULES, "X": X, "alpha": 0.1, "min_index": 0.2},
    "inspection.robustness": {"model": STUMP, "X": X},
    "inspection.shapley_values": {"model": STUMP, "X": X},
    "inspection.top_features": {"model": None, "n_features": 3},
    "rules.conjunction_weight": {"model": None, "literals": [0, 1], "X": X},
    "rules.extract_dnf": {"model": None, "X": X, "y": Y},
    "rules.top_conjunctions": {"model": None, "n_rules": 3, "X": X},
    "theory.additive_mistake_bound": {
        "u": np.array([1.0, 0, 0]),
        "X": SIGNS,
        "signs": SIGNS[:, 0],
    },
    "theory.at_least_halfspace": {"m": 1, "features": [0, 2], "n_features": 4},
    "theory.conjunction_halfspace": HALFSPACE,
    "theory.decision_list_halfspace": {
        "rules": [(0, 1, 1), (1, 0, 0)],
        "default": 0,
        "n_features": 3,
    },
    "theory.disjunction_halfspace": HALFSPACE,
    "theory.elimination_mistake_bound": {"n_features": 9, "n_relevant": 2},
    "theory.filter_sample_bound": GAIN | {"weak_learner_success_rate": 1.0},
    "theory.halving_mistake_bound": {"class_size": 1000},
    "theory.hinge_deviation": {
        "scores": np.array([4.0, -3]),
        "signs": np.array([1.0, 1]),
        "margin": 1.0,
    },
    "theory.information_gain_lower_bound": {"dimension": 2},
    "theory.majority_gate_size": {"n_features": 10, "correlation": 0.2},
    "theory.majority_potentials": {"k": 5, "i": 2, "gamma": 0.1},
    "theory.majority_weights": {"k": 5, "i": 2, "gamma": 0.1},
    "theory.max_gamma": {"k": 5, "error": 0.2},
    "theory.min_rounds": {"gamma": 0.1, "error": 0.2},
    "theory.multiplicative_mistake_bound": {
        "u": np.array([1.0, 0, 0]),
        "X": SIGNS,
        "signs": SIGNS[:, 0],
    },
    "theory.n_conjunctions": LITERALS,
    "theory.n_disjunctions": LITERALS,
    "theory.n_halfspaces_bound": {"n_features": 4},
    "theory.n_k_cnf": {"n_features": 4, "max_literals": 2},
    "theory.n_k_dnf": {"n_features": 4, "max_literals": 2},
    "theory.online_sample_complexity": {
        "mistake_bound": 9,
        "epsilon": 0.1,
        "delta": 0.1,
    },
    "theory.perceptron_mistake_bound": {"radius": 1.0, "margin": 0.5, "norm": 1.0},
    "theory.perceptron_mistake_bound_nonseparable": {
        "radius": 1.0,
        "margin": 0.5,
        "deviation": 0.1,
    },
    "theory.play_majority_game": {
        "weightor": "majority",
        "chooser": "iid",
        "k": 5,
        "gamma": 0.2,
    },
    "theory.query_stopping_wait": {"n_queries": 3, "epsilon": 0.1, "delta": 0.1},
    "theory.sample_complexity": {"class_size": 99, "epsilon": 0.1, "delta": 0.1},
    "theory.subsample_bound": GAIN,
    "theory.survival_length": {"mistake_bound": 9, "epsilon": 0.1, "delta": 0.1},
    "theory.vc_dimension_bound": {"class_size": 99},
    "theory.vc_dimension_conjunctions": {"n_features": 5},
    "theory.vc_dimension_disjunctions": {"n_features": 5},
    "theory.vc_dimension_halfspaces": {"n_features": 5},
    "theory.winnow1_mistake_bound": {"n_features": 9, "n_relevant": 2},
    "theory.winnow_mistake_bound": {
        "n_features": 9,
        "n_relevant": 2,
        "promotion": 2.0,
        "threshold": 9.0,
    },
}

# Methods of objects, each with how the object is made.
RANDOM = {"n_draws": 2, "random_state": 0}
FINITE = partial(active_learning.FiniteVersionSpace, "conjunctions", 3, label_noise=0.1)
THRESHOLD = partial(active_learning.ThresholdVersionSpace, label_noise=0.1)
HALFSPACES = partial(
    active_learning.HalfspaceVersionSpace, label_noise=0.1, n_chains=4, n_steps=3,
    random_state=0,
)  # fmt: skip
IN_KERNEL = partial(
    active_learning.KernelVersionSpace, ConjunctionKernel(), label_noise=0.1,
    n_chains=4, n_steps=3, random_state=0,
)  # fmt: skip
WORDS = partial(DNF, (RULE,), "yes", "no", 1.0, 3)
VOTE = partial(RuleEnsemble, (RULE,), -1.0, True, False, 1.0, 3)
LEARNED = partial(concepts.learn_conjunction_by_queries, both, 3)
OBJECTS = [
    (FINITE, "update", {"X": X, "y": Y == 1}),
    (FINITE, "predict_proba", {"X": X}),
    (FINITE, "sample_predictions", {"X": X} | RANDOM),
    (THRESHOLD, "update", {"X": X[:, :1] / 2, "y": Y == 1}),
    (THRESHOLD, "predict_proba", {"X": X[:, :1] / 2}),
    (THRESHOLD, "sample_predictions", {"X": X[:, :1] / 2} | RANDOM),
    (HALFSPACES, "update", {"X": SIGNS, "y": Y == 1}),
    (HALFSPACES, "predict_proba", {"X": SIGNS}),
    (IN_KERNEL, "update", {"X": X, "y": Y == 1}),
    (IN_KERNEL, "predict_proba", {"X": X}),
    (IN_KERNEL, "sample_predictions", {"X": X} | RANDOM),
    (WORDS, "predict", {"X": X}),
    (WORDS, "to_text", {"feature_names": ["a", "b", "c"]}),
    (WORDS, "to_python", {"feature_names": ["a", "b", "c"]}),
    (WORDS, "simplify", {"X": X, "y": Y}),
    (VOTE, "predict", {"X": X}),
    (VOTE, "to_text", {"feature_names": ["a", "b", "c"]}),
    (VOTE, "to_python", {"feature_names": ["a", "b", "c"]}),
    (LEARNED, "holds", {"X": X}),
    *((getattr(kernels, name), "__call__", {"X": X, "Y": X[:4]})
      for name in kernels.__all__ if name.endswith("Kernel")),
]  # fmt: skip

# What starts processes, waits, or must be a generator of numbers.
SPARED = {"n_jobs", "time_limit", "random"}

# Bounds are infinite where nothing bounds.
INFINITE = {"theory.query_stopping_wait"}


def may_be_infinite(name, arguments):
    """Whether an answer with infinity is as documented: the logarithm of 0 is."""
    log = arguments.get("log")
    return name in INFINITE or (isinstance(log, bool | np.bool_) and bool(log))


def public_functions():
    """All public functions of arguments, by module and name."""
    found = {}
    for info in pkgutil.iter_modules(sklboolean.__path__):
        if info.name.startswith("_") or info.name == "io":  # which writes files
            continue
        module = importlib.import_module(f"sklboolean.{info.name}")
        for name in module.__all__:
            function = getattr(module, name)
            if inspect.isfunction(function) and inspect.signature(function).parameters:
                found[f"{info.name}.{name}"] = function
    return found


FUNCTIONS = public_functions()


def hostile(name, like):
    """Strategy of what may stand in the place of an argument."""
    if name == "model" or like is None:
        return scalars
    if name in ("X", "Y", "rows"):
        return st.one_of(tables(*np.shape(like)), wild_arrays(like))
    if name in ("y", "positive", "signs", "classes"):
        return st.one_of(labels(len(like)), wild_arrays(like))
    if isinstance(like, np.ndarray | list):
        return wild_arrays(like)
    return scalars


def draw_arguments(data, parameters, sound):
    """Arguments of a function, one or two of them hostile."""
    names = [name for name in parameters if name not in SPARED]
    chosen = data.draw(st.sets(st.sampled_from(names), min_size=1, max_size=2))
    return sound | {
        name: data.draw(hostile(name, sound.get(name)), label=name)
        for name in sorted(chosen)
    }


def test_list_holds_every_public_function():
    assert set(SOUND) == set(FUNCTIONS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:X has feature names, but")  # scikit-learn's
@pytest.mark.parametrize("name", sorted(SOUND))
def test_function(name, model):
    function = FUNCTIONS[name]
    sound = dict(SOUND[name])
    if "model" in sound and sound["model"] is None:
        sound["model"] = model

    parameters = dict(inspect.signature(function).parameters)
    parameters.pop("path", None)  # no file is written anywhere

    def check(data):
        arguments = draw_arguments(data, parameters, sound)
        attempt(function, arguments, infinite=may_be_infinite(name, arguments))

    succeeded, _answer = attempt(function, sound)
    assert succeeded
    explore(check, 25)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "name", "sound"),
    OBJECTS,
    ids=[f"{getattr(make, 'func', make).__name__}.{name}" for make, name, _ in OBJECTS],
)
def test_method(make, name, sound):
    def check(data):
        method = getattr(make(), name)
        arguments = draw_arguments(data, sound, sound)
        attempt(method, arguments)

    succeeded, _answer = attempt(getattr(make(), name), sound)
    assert succeeded
    explore(check, 25)
