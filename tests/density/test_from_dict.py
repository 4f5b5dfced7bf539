"""Densities from dictionaries: the same answers, and errors in words for damage."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from sklboolean import (
    BernoulliMixture,
    ChowLiuTree,
    CombinationMachine,
    DensityMixture,
    GaussianCombinationMachine,
    SampledCombinationMachine,
)

NAMES = ["a", "b", "c", "d", "e"]
GROUPS = [0, 1, 2, 2, 2]
SHORT = {"n_init": 1, "max_iter": 9, "random_state": 0}
MACHINE = CombinationMachine(2, base="chow_liu", **SHORT)
TREES = DensityMixture(ChowLiuTree(), n_components=2, max_iter=2, random_state=0)
MODELS = {
    "tree": ChowLiuTree(),
    "tree of groups": ChowLiuTree(feature_groups=GROUPS),
    "products": BernoulliMixture(3, random_state=0, binarize=None),
    "products of groups": BernoulliMixture(3, random_state=0, feature_groups=GROUPS),
    "machine": CombinationMachine(3, **SHORT),
    "machine on a tree": MACHINE,
    "machine of groups": CombinationMachine(
        2, base="chow_liu", feature_groups=GROUPS, **SHORT
    ),
    "few active units": CombinationMachine(3, max_active=1, exact_limit=9, **SHORT),
    "Gaussian": GaussianCombinationMachine(2, **SHORT),
    "learned by chains": SampledCombinationMachine(
        2, base="chow_liu", max_iter=2, random_state=0
    ),
    "trees": TREES,
    "trees of groups": clone(TREES).set_params(feature_groups=GROUPS),
    "machines": clone(TREES).set_params(estimator=MACHINE),
    "default mixture": DensityMixture(max_iter=2, random_state=0),
    "mixture of mixtures": clone(TREES).set_params(estimator=TREES),
}
every_model = pytest.mark.parametrize("name", MODELS)


def samples(n_samples=40, seed=0):
    rng = np.random.default_rng(seed)
    bits, levels = rng.integers(0, 2, (n_samples, 2)), rng.integers(0, 3, n_samples)
    bits[:, 1] |= levels == 0
    return np.hstack([bits, np.eye(3, dtype=int)[levels]])


X = samples()


def answers(model):
    """List all that a density answers."""
    X_new = samples(9, 1).astype(float)
    X_new[::2, 1] = np.nan
    X_new = X_new * 2 - 1 if getattr(model, "codes_", [0])[0] < 0 else X_new
    if hasattr(model, "feature_names_in_"):
        X_new = pd.DataFrame(X_new, columns=model.feature_names_in_)
    yield model.score_samples(X_new)
    yield model.sample(7, random_state=0)
    yield model.impute(X_new)
    yield model.impute(X_new, method="sample", random_state=0)
    if hasattr(model, "query"):
        yield model.impute(X_new, method="map")
        yield model.mutual_information()
        first, *_, last = getattr(model, "feature_names_in_", ["x0", "x4"])
        yield model.query(f"{first} or not {last}", given=f"not {first} or {last}")
    if hasattr(model, "transform"):
        yield model.transform(
            X_new.dropna() if hasattr(X_new, "dropna") else X_new[1::2]
        )


def assert_equal(first, second):
    for one, other in zip(answers(first), answers(second), strict=True):
        np.testing.assert_array_equal(one, other)


def through_json(data):
    return json.loads(json.dumps(data, allow_nan=False))


@every_model
def test_answers_are_the_same_to_the_last_bit(name):
    codes = [X, 2 * X - 1, pd.DataFrame(X, columns=NAMES)]
    for table in codes:
        model = clone(MODELS[name]).fit(table)
        data = through_json(model.to_dict())
        again = type(model).from_dict(copy.deepcopy(data))
        assert again.to_dict() == data == through_json(again.to_dict())
        assert_equal(again, model)
        names = getattr(model, "feature_names_in_", None)
        assert np.array_equal(getattr(again, "feature_names_in_", None), names)


@st.composite
def tables(draw):
    n = draw(st.integers(1, 5))
    row = st.lists(st.integers(0, 1), min_size=n, max_size=n)
    weight = st.floats(1e-3, 1e3)
    X = draw(st.lists(row, min_size=1, max_size=9))
    weights = draw(st.lists(weight, min_size=len(X), max_size=len(X)))
    return np.array(X), np.array(weights)


@settings(max_examples=25, deadline=None)
@given(tables(), st.sampled_from(sorted(k for k in MODELS if "group" not in k)))
@pytest.mark.filterwarnings("ignore")
def test_scores_of_any_table_are_the_same(table, name):
    X, weights = table
    model = clone(MODELS[name]).fit(X, sample_weight=weights)
    again = type(model).from_dict(through_json(model.to_dict()))
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    drawn = (each.sample(9, random_state=1) for each in (again, model))
    np.testing.assert_array_equal(*drawn)


def test_streams_are_resumed():
    model = BernoulliMixture(2, random_state=0).fit(X)
    again = BernoulliMixture.from_dict(through_json(model.to_dict()))
    more = samples(30, 5)
    model.partial_fit(more), again.partial_fit(more)
    np.testing.assert_array_equal(again.means_, model.means_)


def test_machines_without_chains_say_so():
    machine = clone(MODELS["learned by chains"]).fit(X)
    again = SampledCombinationMachine.from_dict(machine.to_dict())
    with pytest.raises(ValueError, match="no Markov chains that partial_fit"):
        again.partial_fit(X)
    machine.set_params(exact_limit=1).fit(X)
    with pytest.warns(UserWarning, match="estimate"):
        data = machine.to_dict()
    with pytest.raises(ValueError, match="exact_limit=1 is too small"):
        SampledCombinationMachine.from_dict(data)


def test_mixtures_of_foreign_models_cannot_be_written():
    class Uniform(ChowLiuTree):
        to_dict = property()

    model = clone(TREES).set_params(estimator=Uniform()).fit(X)
    with pytest.raises(ValueError, match="has no to_dict"):
        model.to_dict()


# Damage


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


BAD = [
    None, True, -1, 0, 1, 2, 10**400, -(10**400), 2**63, 0.5, -0.5, float("nan"),
    float("inf"), -float("inf"), 1e308, -1e308, 1e100, 1e-300, "", "x", "ChowLiuTree",
    "GaussianCombinationMachine", "DensityMixture", [], [[]], [None], [10**400],
    [0, 1], [-1, 0], [0.0], [[0.0, 0.0]], {}, {"a": 1}, nested(100_000),
]  # fmt: skip


def places(data, path=()):
    """List the paths to all values of nested lists and dictionaries."""
    keys = data if isinstance(data, dict) else range(len(data))
    for key in keys:
        yield (*path, key)
        if isinstance(data[key], dict | list):
            yield from places(data[key], (*path, key))


def damaged(data, path, value):
    changed = copy.deepcopy(data)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


def use(model):
    """Ask the model; its scores are those of a density."""
    X_new = samples(5, 2).astype(float)
    X_new[0, 1] = np.nan
    if hasattr(model, "feature_names_in_"):
        X_new = pd.DataFrame(X_new, columns=model.feature_names_in_)
    assert np.isfinite(model.score_samples(X_new)).all()
    assert np.isfinite(model.impute(X_new)).all()
    assert np.isfinite(model.sample(3, random_state=0)).all()
    model.to_dict()


# What messages name: fields, or the sums and the samples that do not suit them.
NAMED = (
    "data", "version", "binarize", "weights of a hidden state", "exact_limit",
    "feature_groups", "feature names",
)  # fmt: skip


@every_model
@pytest.mark.filterwarnings("ignore")
def test_every_damaged_field(name):
    model = clone(MODELS[name]).fit(pd.DataFrame(X, columns=NAMES))
    data = through_json(model.to_dict())
    paths, failures = list(places(data)), []
    # Of many numbers some stand for all.
    for path in paths[:40] + paths[40 :: len(paths) // 40 + 1]:
        for k, value in enumerate(BAD):
            try:
                use(type(model).from_dict(damaged(data, path, value)))
            except ValueError as error:
                if not any(part in str(error) for part in NAMED):
                    failures.append((path, k, f"message: {error}"))
            except Exception as error:
                failures.append((path, k, f"{type(error).__name__}: {error}"[:150]))
    assert not failures, "\n".join(map(str, failures))


DAMAGE = [
    ("tree", ("type",), "BernoulliMixture", "what ChowLiuTree.to_dict returns"),
    ("tree", ("version",), 2, "version 2 was written by a newer release"),
    ("tree", ("n_features",), 4, "feature_names must be null or a list of strings"),
    ("tree", ("feature_names",), ["a"], "one for each of the features"),
    ("tree", ("codes",), [0.0, 2.0], r"codes must be \[0.0, 1.0\] or"),
    ("tree", ("parents", 0), 0, "parents must be a forest; it has a cycle"),
    ("tree", ("parents", 0), 5, "parents must be an integer from -1 to 4; got 5"),
    (
        "tree",
        ("log_probabilities", 0, 0),
        [-1.0, -1.0],
        "log_probabilities .* sum is 1",
    ),
    ("tree", ("log_probabilities", 0), [[0.0]], r"log_probabilities .* shape \(1, 2\)"),
    ("tree of groups", ("attributes",), [0, 2, 1, 1, 1], "attributes must be null, or"),
    ("products", ("log_weights",), [0.0, 0.0, 0.0], "log_weights .* sum is 1"),
    ("products", ("logits", 0, 1), 10**400, "logits must hold finite numbers"),
    (
        "products",
        ("logits", 0, 1),
        2e9,
        "logits must hold numbers from -1e.09 to 1e.09",
    ),
    ("products", ("total_weight",), -1.0, "total_weight must be at least 0"),
    ("products of groups", ("logits", 0, 2), 0.0, "logits .* sum is 1"),
    ("machine", ("log_partition",), 1.0, "log_partition must be the logarithm of"),
    ("machine", ("hidden_bias",), [], "hidden_bias must be a list that is not empty"),
    ("machine", ("components",), [[1.0]], r"components .* shape \(3, 5\)"),
    ("machine", ("exact_limit",), 31, "exact_limit must be an integer from 1 to 30"),
    ("machine on a tree", ("couplings", 0), 1.0, "couplings must be 0 where tree"),
    ("machine on a tree", ("tree", 0), 0, "tree must be a forest; it has a cycle"),
    (
        "machine of groups",
        ("tree", 3),
        -1,
        "tree must give the columns of an attribute",
    ),
    ("Gaussian", ("max_active",), 3, "max_active must be an integer from 1 to 2"),
    ("machine", ("tree",), [-1] * 5, "couplings"),
    ("trees", ("estimators", 0, "n_features"), 4, "n_features|parents"),
    ("trees", ("estimators", 0, "codes"), [-1.0, 1.0], "the codes 0 and 1"),
    ("trees", ("estimators", 0, "type"), "set", "estimators must be .* got the type"),
]


@pytest.mark.parametrize(("name", "path", "value", "message"), DAMAGE)
def test_messages_name_the_field(name, path, value, message):
    table = pd.DataFrame(X, columns=NAMES) if path[0] == "n_features" else X
    model = clone(MODELS[name]).fit(table)
    data = damaged(through_json(model.to_dict()), path, value)
    with pytest.raises(ValueError, match=message):
        type(model).from_dict(data)


@every_model
def test_missing_fields_are_named(name):
    model = clone(MODELS[name]).fit(X)
    data = model.to_dict()
    for field in data:
        rest = {key: value for key, value in data.items() if key != field}
        with pytest.raises(ValueError, match=field):
            type(model).from_dict(rest)


def test_mixtures_within_mixtures_have_a_limit():
    data = clone(TREES).fit(X).to_dict()
    one = data | {"log_weights": [0.0], "estimators": data["estimators"][:1]}
    for depth in range(2000):
        if depth == 8:
            assert np.isfinite(DensityMixture.from_dict(one).score(X))
        one = {**one, "estimators": [one]}
    with pytest.raises(ValueError, match="mixtures at most 9 deep"):
        DensityMixture.from_dict(one)
