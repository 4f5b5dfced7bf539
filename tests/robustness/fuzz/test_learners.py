"""Every method of every estimator, given what it should refuse, or learn from."""

import copy
import inspect
from functools import cache

import numpy as np
import pytest
from fuzz.attempt import attempt
from fuzz.runner import explore
from fuzz.strategies import labels, scalars, tables, weights
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.neural_network import BernoulliRBM
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

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

LEARNERS = [
    KernelPerceptron(max_iter=2),
    KernelPerceptron(max_iter=2, probability=True, multi_class="joint", binarize=None),
    KernelPerceptron("precomputed", max_iter=2),
    KernelPerceptron("rbf", max_iter=2, max_support=5, budget="forgetron"),
    AveragedPerceptron(max_iter=2),
    AveragedPerceptron(max_iter=2, multi_class="joint", schedule="adagrad"),
    AveragedPerceptron(
        max_iter=2, alpha=0.1, average="longest", class_weight="balanced"
    ),
    Winnow(max_iter=2),
    Winnow(max_iter=2, variant="complement", binarize=0.0, probability=True),
    ConjunctionClassifier(),
    ConjunctionFeatures(),
    ConjunctionFeatures(min_support=0.2, negations=True, sparse_output=False),
    RuleClassifier(max_rules=2),
    HalvingClassifier(max_literals=1),
    ConsistentHalfspace(),
    ConsistentHalfspace(solver="modified_perceptron", max_starts=2),
    BooleanStump(),
    BooleanStump(binarize=None),
    BoostByMajority(n_estimators=3),
    BoostByMajority(DecisionTreeClassifier(max_depth=1), n_estimators=3, gamma=0.1),
    BoostByMajority(n_estimators=3, gamma=0.1, variant="resample"),
    BoostByMajorityRegressor(n_estimators=3),
    BoostByMajorityRegressor(DecisionTreeRegressor(max_depth=1), n_estimators=3),
    OnlineBoostByMajority(n_estimators=3, max_iter=1),
    OnlineBoostByMajority(BernoulliNB(), n_estimators=3, max_iter=1, batch_size=5),
    BernoulliMixture(2, growth=None, max_iter=3),
    BernoulliMixture(2, growth=None, max_iter=3, binarize=None),
    ChowLiuTree(),
    CombinationMachine(2, max_iter=2, n_init=1),
    CombinationMachine(2, max_iter=2, n_init=1, visible="real"),
    CombinationMachine(2, max_iter=2, n_init=1, solver="pcd"),
    QueryByCommittee(n_members=2, initial=4, max_queries=6),
    QueryByCommittee(
        LogisticRegression(), n_members=2, initial=4, max_queries=6, mode="stream"
    ),
    QueryByCommittee(committee="gibbs", eta=0.1, n_steps=5, max_queries=4),
]

# What learners say about rows that follow no rule, and scikit-learn about labels.
SAID = [
    "No (con|dis)junction is right:UserWarning",
    "No rule was worth its mistakes:UserWarning",
    "None of the .* hypotheses agrees:UserWarning",
    "The stream ended in round:UserWarning",
    "No halfspace is right:sklearn.exceptions.ConvergenceWarning",
    "In .* starts no halfspace:sklearn.exceptions.ConvergenceWarning",
    "The first hypothesis alone:UserWarning",
    "The hypotheses are linear:UserWarning",
    "After max_estimators:UserWarning",
    "No hypothesis was right:UserWarning",
    "The least populated class in y:UserWarning",
    ".* further than delta:sklearn.exceptions.ConvergenceWarning",
    "X (has|does not have valid) feature names:UserWarning",
    "EM had not converged:sklearn.exceptions.ConvergenceWarning",
    ".* encountered in (log|add):RuntimeWarning:sklearn.naive_bayes",
    "A column-vector y was passed:sklearn.exceptions.DataConversionWarning",
    "The number of unique classes is greater than 50%:UserWarning",
    "lbfgs failed to converge:sklearn.exceptions.ConvergenceWarning",
    "overflow encountered in cast:RuntimeWarning:sklearn.utils",
    "overflow encountered in cast:RuntimeWarning:scipy.sparse",
    "invalid value encountered in matmul:RuntimeWarning:sklearn.utils",
]
pytestmark = [pytest.mark.filterwarnings(f"ignore:{said}") for said in SAID]

N_ROWS, N_FEATURES = 12, 4
X = np.random.default_rng(0).integers(0, 2, (N_ROWS, N_FEATURES))
X[:, 0] = np.arange(N_ROWS) % 2
Y = X[:, 0]  # every learner can be right

OURS = "sklboolean"  # scikit-learn gives some methods, such as score


def methods_of(learner):
    """The public methods that a learner has with its parameters."""
    return [
        name
        for name in dir(type(learner))
        if not name.startswith("_")
        and getattr(getattr(learner, name, None), "__module__", "").startswith(OURS)
    ]


def table_for(learner, rows=N_ROWS):
    """A sound table: the rows, or for a precomputed kernel their Gram matrix."""
    if getattr(learner, "kernel", None) == "precomputed":
        return (X @ X.T)[:rows].astype(float)
    return X[:rows].copy()


def answers(rows, indices):
    """An oracle."""
    return np.asarray(indices) % 2


def sound(learner, name):
    """A sound value of a parameter that must be given."""
    table = table_for(learner)
    return {
        "X": table,
        "X_pool": table,
        "x": table[0],
        "y": Y.copy(),
        "classes": np.array([0, 1]),
        "chunks": [(table, Y.copy())] * 2,
        "partitions": [(table, Y.copy())] * 2,
        "columns": [0, 1],
        "threshold": 0.1,
        "rbm": BernoulliRBM(2, n_iter=1, random_state=0).fit(X),
    }[name]


def hostile(learner, method, name):
    """Strategy of what may stand in the place of a parameter."""
    width = table_for(learner).shape[1]
    if method == "inverse_transform":
        width = learner.n_components
    parts = st.lists(st.tuples(tables(6, width), labels(6)), max_size=2)
    kinds = {
        "X": tables(N_ROWS, width),
        "X_pool": tables(N_ROWS, width),
        "x": tables(1, width),
        "y": labels(N_ROWS),
        "sample_weight": weights(N_ROWS),
        "classes": labels(2),
        "chunks": parts,
        "partitions": parts,
        "oracle": st.one_of(scalars, st.just(answers)),
    }
    return kinds.get(name, scalars)


def draw_arguments(data, learner, method):
    """Arguments of a method, one or two of them hostile."""
    parameters = inspect.signature(method).parameters
    names = [name for name, p in parameters.items() if p.kind != p.VAR_KEYWORD]
    if not names:
        return {}
    chosen = data.draw(st.sets(st.sampled_from(names), min_size=1, max_size=2))
    arguments = {}
    for name in names:
        if name in chosen:
            arguments[name] = data.draw(
                hostile(learner, method.__name__, name), label=name
            )
        elif parameters[name].default is inspect.Parameter.empty:
            arguments[name] = sound(learner, name)
    if "y" in names:
        arguments.setdefault("y", Y.copy())
    if method.__name__ == "partial_fit" and "classes" in names:
        arguments.setdefault("classes", np.array([0, 1]))
    return arguments


def use(learner, table):
    """Let a learner that was fitted answer about the rows it saw."""
    for name in methods_of(learner):
        method = getattr(learner, name)
        required = [
            p.name
            for p in inspect.signature(method).parameters.values()
            if p.default is p.empty and p.kind != p.VAR_KEYWORD
        ]
        if required == ["X"] and not name.startswith(("fit", "partial", "inverse")):
            answer_of(method, {"X": table}, owner=learner)


def answer_of(method, arguments, *, owner):
    """Call a method; a generator is asked for all it has."""
    succeeded, answer = attempt(method, arguments, owner=owner)
    if inspect.isgenerator(answer):
        succeeded, answer = attempt(list_all, {"answer": answer}, owner=owner)
    return succeeded, answer


def list_all(answer):
    """Return a list of what a generator gives."""
    return list(answer)


def begins(name):
    """Whether a method can be the first one."""
    return name.startswith(("fit", "partial_fit", "query", "teach"))


@cache
def fitted(number):
    """Each learner, fitted once."""
    learner = copy.deepcopy(LEARNERS[number])
    return learner.fit(table_for(learner), Y)


def test_list_holds_every_public_estimator():
    public = {
        name
        for name in sklboolean.__all__
        if hasattr(getattr(sklboolean, name), "get_params")
    }
    assert {type(learner).__name__ for learner in LEARNERS} == public


@pytest.mark.parametrize("number", range(len(LEARNERS)), ids=lambda k: str(LEARNERS[k]))
def test_learning_from_anything(number):
    """A learner learns and then answers, or refuses and is as it was."""

    def check(data):
        learner = copy.deepcopy(LEARNERS[number])
        name = data.draw(st.sampled_from(list(filter(begins, methods_of(learner)))))
        method = getattr(learner, name)
        arguments = draw_arguments(data, learner, method)
        succeeded, _answer = answer_of(method, arguments, owner=learner)
        if succeeded and "X" in arguments and name != "teach":
            use(learner, arguments["X"])

    explore(check, 20)


@pytest.mark.parametrize("number", range(len(LEARNERS)), ids=lambda k: str(LEARNERS[k]))
def test_asking_anything(number):
    """A fitted learner answers, or refuses and is the same learner."""

    def check(data):
        learner = copy.deepcopy(fitted(number))
        name = data.draw(st.sampled_from(methods_of(learner)))
        method = getattr(learner, name)
        arguments = draw_arguments(data, learner, method)
        succeeded, _answer = answer_of(method, arguments, owner=learner)
        if not succeeded:
            use(learner, table_for(learner))

    explore(check, 20)
