"""Every method of every estimator, called with hostile input."""

import copy
import inspect
from functools import cache

import numpy as np
import pytest
from _instances import CASES, EXPECTED_WARNINGS, MODELS
from fuzz.attempt import attempt
from fuzz.runner import explore
from fuzz.strategies import labels, scalars, tables, weights
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.neural_network import BernoulliRBM

# Besides the small models, some that read data or keep their state in other ways.
MORE = [
    "kernel_perceptron_precomputed", "kernel_perceptron_rbf",
    "averaged_perceptron_smaller_steps", "winnow_joint", "boolean_stump_half",
    "bernoulli_mixture_starts", "boost_by_majority_regressor_trees",
]  # fmt: skip
FUZZED = MODELS | {name: clone(CASES[name].estimator) for name in MORE}
FUZZED["boost_by_majority_regressor_trees"].set_params(n_estimators=5)

# scikit-learn warns about labels and numbers, too.
EXPECTED = [
    *EXPECTED_WARNINGS,
    "ignore:The stream ended in round:UserWarning",
    "ignore:Column.* ha(s|ve) the same value in all samples:UserWarning",
    "ignore:X (has|does not have valid) feature names:UserWarning",
    "ignore:EM had not converged:sklearn.exceptions.ConvergenceWarning",
    "ignore:.* encountered in (log|add):RuntimeWarning:sklearn.naive_bayes",
    "ignore:A column-vector y was passed:sklearn.exceptions.DataConversionWarning",
    "ignore:The (argument|attribute) .* is deprecated:FutureWarning",
    "ignore:fit_partitions is deprecated:FutureWarning",
    "ignore:The number of unique classes is greater than 50%:UserWarning",
    "ignore:lbfgs failed to converge:sklearn.exceptions.ConvergenceWarning",
    "ignore:divide by zero encountered in log:RuntimeWarning:sklearn.utils",
    "ignore:overflow encountered in cast:RuntimeWarning:sklearn.utils",
    "ignore:overflow encountered in cast:RuntimeWarning:scipy.sparse",
    "ignore:invalid value encountered in matmul:RuntimeWarning:sklearn.utils",
]
pytestmark = [pytest.mark.filterwarnings(each) for each in EXPECTED]

N_SAMPLES, N_FEATURES = 12, 4
X = np.random.default_rng(0).integers(0, 2, (N_SAMPLES, N_FEATURES))
X[:, 0] = np.arange(N_SAMPLES) % 2
Y = X[:, 0]  # every model can fit these labels

OURS = "sklboolean"  # some methods are of scikit-learn


def methods_of(model):
    """Names of the public methods that a model has with its parameters."""
    return [
        name
        for name in dir(type(model))
        if not name.startswith("_")
        and name != "score"  # scikit-learn's, but for the labels of a table
        and callable(getattr(model, name, None))
        and getattr(getattr(model, name), "__module__", "").startswith(OURS)
    ]


def table_for(model, rows=N_SAMPLES):
    """Valid data: `X`, or for a precomputed kernel its Gram matrix."""
    if getattr(model, "kernel", None) == "precomputed":
        return (X @ X.T)[:rows].astype(float)
    return X[:rows].copy()


def answers(rows, indices):
    """An oracle."""
    return np.asarray(indices) % 2


def sound(model, name):
    """A valid value of a parameter that is required."""
    table = table_for(model)
    return {
        "X": table,
        "X_pool": table,
        "background": table,
        "x": table[0],
        "y": Y.copy(),
        "classes": np.array([0, 1]),
        "chunks": [(table, Y.copy())] * 2,
        "partitions": [(table, Y.copy())] * 2,
        "columns": [0, 1],
        "rows": ["x1"],
        "points": {},
        "conjunctions": [],
        "rules": getattr(model, "rules_", []),
        "threshold": 0.1,
        "event": "x0",
        "row": table[0].tolist(),
        "rbm": BernoulliRBM(2, n_iter=1, random_state=0).fit(X),
    }[name]


def hostile(model, method, name):
    """Strategy that draws hostile and valid values of a parameter."""
    width = table_for(model).shape[1]
    if method == "inverse_transform":
        width = len(model.get_feature_names_out())
    parts = st.lists(st.tuples(tables(6, width), labels(6)), max_size=2)
    kinds = {
        "X": tables(N_SAMPLES, width),
        "X_pool": tables(N_SAMPLES, width),
        "background": tables(N_SAMPLES, width),
        "x": tables(1, width),
        "y": labels(N_SAMPLES),
        "sample_weight": weights(N_SAMPLES),
        "classes": labels(2),
        "chunks": parts,
        "partitions": parts,
        "oracle": st.one_of(scalars, st.just(answers)),
    }
    return kinds.get(name, scalars)


def draw_arguments(data, model, method):
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
                hostile(model, method.__name__, name), label=name
            )
        elif parameters[name].default is inspect.Parameter.empty:
            arguments[name] = sound(model, name)
    if "y" in names:
        arguments.setdefault("y", Y.copy())
    if method.__name__ == "partial_fit" and "classes" in names:
        arguments.setdefault("classes", np.array([0, 1]))
    return arguments


def use(model, table):
    """Call the prediction methods of a fitted model on its training data."""
    for name in methods_of(model):
        method = getattr(model, name)
        required = [
            p.name
            for p in inspect.signature(method).parameters.values()
            if p.default is p.empty and p.kind != p.VAR_KEYWORD
        ]
        if required == ["X"] and not name.startswith(("fit", "partial", "inverse")):
            answer_of(method, {"X": table}, owner=model)


def answer_of(method, arguments, *, owner):
    """Call a method; a generator is read to its end."""
    succeeded, answer = attempt(method, arguments, owner=owner)
    if inspect.isgenerator(answer):
        succeeded, answer = attempt(list_all, {"answer": answer}, owner=owner)
    return succeeded, answer


def list_all(answer):
    """List all values of a generator."""
    return list(answer)


def begins(name):
    """Whether a method can be called before `fit`."""
    return name.startswith(("fit", "partial_fit", "query", "teach"))


@cache
def fitted_once(name):
    """Each estimator, fitted once."""
    model = clone(FUZZED[name])
    return model.fit(table_for(model), Y)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUZZED)
def test_fitting_anything(name):
    """A fitted model predicts, or an error leaves the estimator unchanged."""

    def check(data):
        model = clone(FUZZED[name])
        call = data.draw(st.sampled_from(list(filter(begins, methods_of(model)))))
        method = getattr(model, call)
        arguments = draw_arguments(data, model, method)
        succeeded, _answer = answer_of(method, arguments, owner=model)
        if succeeded and "X" in arguments and call != "teach":
            use(model, arguments["X"])

    explore(check, 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUZZED)
def test_calling_a_fitted_model_with_anything(name):
    """A fitted model predicts, or an error leaves it unchanged."""

    def check(data):
        model = copy.deepcopy(fitted_once(name))
        call = data.draw(st.sampled_from(methods_of(model)))
        method = getattr(model, call)
        arguments = draw_arguments(data, model, method)
        succeeded, _answer = answer_of(method, arguments, owner=model)
        if not succeeded:
            use(model, table_for(model))

    explore(check, 20)
