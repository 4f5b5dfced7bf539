"""Dictionaries of densities: programs can compute with them."""

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
    CombinationMachine((3, 1), **SHORT),
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
        pairs = zip(data["log_weights"], data["estimators"], strict=True)
        return logsumexp([w + log_likelihood(part, x) for w, part in pairs])
    if kind == "BernoulliMixture":
        bits, logits = np.array(x) > 0, np.array(data["logits"])
        own = data["attributes"] or list(range(len(x)))
        alone = np.bincount(own)[own] == 1
        odds = -np.logaddexp(0, np.where(bits, -logits, logits))
        logs = np.where(alone, odds, logits * bits)
        return logsumexp(np.array(data["log_weights"]) + logs.sum(axis=1))
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
    own = np.array(data["attributes"] or range(len(x)))

    def value(attribute):
        """The number of the value of an attribute."""
        bits = [x[column] for column in np.flatnonzero(own == attribute)]
        return bits.index(1) if len(bits) > 1 else int(bits[0])

    tables = enumerate(zip(data["parents"], data["log_probabilities"], strict=True))
    return sum(
        table[value(parent) if parent >= 0 else 0][value(attribute)]
        for attribute, (parent, table) in tables
    )


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


def test_mixtures_of_foreign_models_cannot_be_written():
    class Uniform(ChowLiuTree):
        to_dict = property()

    X = np.random.default_rng(0).integers(0, 2, (40, 5))
    model = DensityMixture(Uniform(), n_components=2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="has no to_dict"):
        model.to_dict()
