"""Dictionaries of densities: any program can compute the likelihood from them."""

import json
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

from sklboolean import (
    BernoulliMixture,
    ChowLiuTree,
    CombinationMachine,
    DensityMixture,
    GaussianCombinationMachine,
    SampledCombinationMachine,
)

GROUPS = ["a", "b", "c", "c", "c"]
SHORT = {"n_init": 1, "max_iter": 9, "random_state": 0}
MODELS = [
    ChowLiuTree(),
    ChowLiuTree(feature_groups=GROUPS),
    BernoulliMixture(2, random_state=0),
    BernoulliMixture(2, random_state=0, feature_groups=GROUPS),
    CombinationMachine(2, base="chow_liu", feature_groups=GROUPS, **SHORT),
    CombinationMachine(3, max_active=1, **SHORT),
    SampledCombinationMachine(2, base="chow_liu", max_iter=3, random_state=0),
    GaussianCombinationMachine(2, **SHORT),
    DensityMixture(
        ChowLiuTree(), n_components=2, feature_groups=GROUPS, random_state=0
    ),
]


def log_likelihood(data, x):
    """Compute the log-likelihood of one sample from the numbers of a dictionary."""
    kind = data["type"]
    if kind == "DensityMixture":
        pairs = zip(data["weights"], data["estimators"], strict=True)
        return logsumexp([np.log(w) + log_likelihood(part, x) for w, part in pairs])
    if kind == "BernoulliMixture":
        bits = np.array(x) > 0
        chances = np.array(data["means"])
        single = np.bincount(data["attributes"] or range(len(x)))[
            data["attributes"] or range(len(x))
        ]
        logs = np.where(bits, np.log(chances), np.log1p(-chances) * (single == 1))
        return logsumexp(np.log(data["weights"]) + logs.sum(axis=1))
    if kind == "ChowLiuTree":
        return tree_log_likelihood(data, x)
    signs = np.array(x) if kind.startswith("Gaussian") else 2.0 * np.array(x) - 1
    fixed = signs @ data["visible_bias"]
    if kind.startswith("Gaussian"):
        fixed -= signs @ signs / 2
    if data.get("tree"):
        fixed += sum(
            weight * signs[child] * signs[parent]
            for child, (parent, weight) in enumerate(
                zip(data["tree"], data["couplings"], strict=True)
            )
            if parent >= 0
        )
    fields = np.array(data["components"]) @ signs + data["hidden_bias"]
    most = data.get("max_active") or len(fields)
    states = [h for h in product([0, 1], repeat=len(fields)) if sum(h) <= most]
    return fixed + logsumexp(np.array(states) @ fields) - data["log_partition"]


def tree_log_likelihood(data, x):
    attributes = data["attributes"] or list(range(len(x)))
    total, seen = 0.0, set()
    for column, (attribute, parent) in enumerate(
        zip(attributes, data["parents"], strict=True)
    ):
        if attribute in seen:
            continue
        seen.add(attribute)

        def value(other):
            """The number of the value of the attribute of a column."""
            own = [c for c, a in enumerate(attributes) if a == attributes[other]]
            return [x[c] for c in own].index(1) if len(own) > 1 else int(x[other])

        table = data["probabilities"][attribute]
        if data["attributes"] is None:
            true = table[value(parent)]
            total += np.log(true if x[column] else 1 - true)
        else:
            total += np.log(table[value(parent) if parent >= 0 else 0][value(column)])
    return total


@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model)[:40])
def test_likelihoods_can_be_computed_from_the_dictionary(model):
    rng = np.random.default_rng(0)
    X = np.hstack([rng.integers(0, 2, (40, 2)), np.eye(3)[rng.integers(0, 3, 40)]])
    model.fit(X)
    data = json.loads(json.dumps(model.to_dict(), allow_nan=False))
    assert data["type"] == type(model).__name__
    expected = model.score_samples(X[:8])
    found = [log_likelihood(data, list(x)) for x in X[:8]]
    np.testing.assert_allclose(found, expected, atol=1e-9)
