"""Damaged fields of exported models are errors in words, or harmless."""

import copy
import json

import numpy as np
import pytest

from sklboolean import (
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    RuleClassifier,
)
from sklboolean.rules import DNF, Rule, RuleEnsemble, RuleList

RNG = np.random.default_rng(0)
X = (RNG.random((60, 4)) < 0.5).astype(int)
Y = X[:, 0] * X[:, 1] + X[:, 2]


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


BAD = [
    None, True, -1, 0, 1, 2, 10**400, -(10**400), 2**63, 0.5, -0.5, float("nan"),
    float("inf"), 1e308, "", "float128", "O", "M8[s]", "<U3", "S4", "V8", "f2", "x",
    [], [[]], [None], [10**400], [[0, True], [0, True]], {}, {"a": 1}, nested(100_000),
]  # fmt: skip
RULES = (
    Rule(((0, True), (1, False)), 1.0, 1.0, 3, 0.5, "yes", ("a", "b")),
    Rule(((2, True),), 2.0, 2.0),
)
MODELS = [
    RuleClassifier(random_state=0).fit(X, Y > 0),
    RuleClassifier(random_state=0).fit(X, np.array(["a", "b", "c"])[Y]),
    ConjunctionLogisticRegression(C=1.0).fit(X, Y > 0),
    ConjunctionLogisticRegression(C=1.0).fit(X, Y),
    ConjunctionRegressor(C=1.0).fit(X, Y),
    DNF(RULES, "yes", "no", 1.0, 4, list("abcd"), 0.0),
    RuleEnsemble(RULES, 0.5, "yes", "no", 1.0, 4),
    RuleList(RULES, 1.0, True, list("abcd")),
    RULES[0],
]


def places(data, path=()):
    """List the paths to all values of nested lists and dictionaries."""
    keys = data if isinstance(data, dict) else range(len(data))
    for key in keys:
        yield (*path, key)
        if isinstance(data[key], dict | list):
            yield from places(data[key], (*path, key))


def use(model):
    """Call all that reads the model."""
    for name in ("predict", "predict_proba", "decision_function", "explain", "apply"):
        if hasattr(model, name):
            values = getattr(model, name)(X)
            if name != "explain" and np.asarray(values).dtype.kind == "f":
                assert np.isfinite(values).all(), name
    for name in ("to_text", "to_python", "to_dict", "to_frame", "_repr_html_"):
        if hasattr(model, name):
            getattr(model, name)()
    for name in ("feature_importances_", "rules_", "n_literals"):
        assert not hasattr(model, name) or getattr(model, name) is not None


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore")
def test_every_field(model):
    data = json.loads(json.dumps(model.to_dict()))
    use(type(model).from_dict(data))
    failures = []
    for path in places(data):
        for k, value in enumerate(BAD):
            damaged = copy.deepcopy(data)
            place = damaged
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            try:
                use(type(model).from_dict(damaged))
            except ValueError as error:
                if not any(word in str(error) for word in ("data", "label", "X has")):
                    failures.append((path, k, f"message: {error}"))
            except Exception as error:
                failures.append((path, k, f"{type(error).__name__}: {error}"[:150]))
    assert not failures, "\n".join(map(str, failures))
