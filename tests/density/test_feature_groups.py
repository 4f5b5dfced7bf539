"""Columns of a group are one attribute: against the table of all possible samples."""

from itertools import product

import numpy as np
import pytest
from oracles.density import (
    agrees,
    all_rows,
    attribute_rows,
    attribute_trees,
    draw_weights,
    every_row,
    hidden_rows,
    joint_log_weights,
)
from scipy.special import logsumexp
from sklearn.base import clone

from sklboolean import (
    BernoulliMixture,
    ChowLiuTree,
    CombinationMachine,
    DensityMixture,
)
from sklboolean.density._attribute_forest import Attributes
from sklboolean.density._conditionals import log_sums_of_known
from sklboolean.density._maximum_likelihood import make_table, mean_log_likelihood
from sklboolean.density._partition_function import log_partition, partition_moments

# Two groups, between them a column of its own: 3 * 2 * 3 possible samples.
GROUPS = ["a", "b", "a", "single", "b", "a", "b"]
POSSIBLE = attribute_rows(GROUPS)
MODELS = {
    "tree": ChowLiuTree(),
    "mixture": BernoulliMixture(3, random_state=0),
    "machine": CombinationMachine(2, n_init=1, max_iter=20, random_state=0),
    "machine on a tree": CombinationMachine(
        2, base="chow_liu", n_init=1, max_iter=80, random_state=0
    ),
    "machine of few": CombinationMachine(
        (3, 1), base="chow_liu", n_init=1, max_iter=20, random_state=0
    ),
    "mixture of trees": DensityMixture(ChowLiuTree(), n_components=2, random_state=0),
    "mixture of machines": DensityMixture(
        CombinationMachine(2, base="chow_liu", n_init=1, max_iter=9),
        n_components=2, max_iter=3, random_state=0,
    ),
}  # fmt: skip


def some_samples(n_samples=60, seed=0):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(len(POSSIBLE), 0.3))
    return POSSIBLE[rng.choice(len(POSSIBLE), n_samples, p=shares)]


def with_gaps(X, seed=1, share=0.4):
    gaps = np.random.default_rng(seed).random(X.shape) < share
    return np.where(gaps, np.nan, X)


def completions(known):
    """Mark the possible samples that agree with the known bits."""
    return np.array([agrees(row, known) for row in POSSIBLE])


@pytest.fixture(params=MODELS.values(), ids=MODELS, scope="module")
def model(request):
    return clone(request.param).set_params(feature_groups=GROUPS).fit(some_samples())


def test_the_possible_samples_have_all_the_probability(model):
    assert np.exp(model.score_samples(POSSIBLE)).sum() == pytest.approx(1, abs=1e-12)
    impossible = next(row for row in all_rows(7) if row[[0, 2, 5]].sum() == 2)
    with pytest.raises(ValueError, match="Sample 0 of X has 2 true columns"):
        model.score_samples([impossible])
    with pytest.raises(ValueError, match="Sample 1 of X has no true columns"):
        clone(model).fit([POSSIBLE[0], np.zeros(7)])


def test_missing_bits_are_summed_out(model):
    logs = model.score_samples(POSSIBLE)
    X = with_gaps(some_samples(30))
    for known, score in zip(X, model.score_samples(X), strict=True):
        agree = completions(known)
        assert score == pytest.approx(logsumexp(logs[agree]), abs=1e-10)


def test_completions_have_one_value_and_are_those_of_the_table(model):
    logs = model.score_samples(POSSIBLE)
    X = with_gaps(some_samples(25))
    means, best = model.impute(X), model.impute(X, "map")
    np.testing.assert_allclose(means[:, [0, 2, 5]].sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(means[:, [1, 4, 6]].sum(axis=1), 1, atol=1e-12)
    for known, mean, mode in zip(X, means, best, strict=True):
        agree = completions(known)
        shares = np.exp(logs[agree] - logsumexp(logs[agree]))
        np.testing.assert_allclose(mean, shares @ POSSIBLE[agree], atol=1e-10)
        score = model.score_samples([mode])[0]
        assert score == pytest.approx(logs[agree].max(), abs=1e-10)


def test_draws_have_one_value_and_the_probabilities_of_the_table(model):
    drawn = model.sample(4000, random_state=0)
    assert (drawn[:, [0, 2, 5]].sum(axis=1) == 1).all()
    assert (drawn[:, [1, 4, 6]].sum(axis=1) == 1).all()
    shares = np.exp(model.score_samples(POSSIBLE))
    counts = (drawn[:, None] == POSSIBLE).all(axis=2).mean(axis=0)
    np.testing.assert_allclose(counts, shares, atol=5 * 0.5 / np.sqrt(4000))


def test_joint_distribution_of_chosen_bits(model):
    logs = model.score_samples(POSSIBLE)
    known = np.full(7, np.nan)
    known[3] = 1
    joint = model.predict_proba_bits([known], [0, 2])[0]
    for state, share in zip(every_row(2)[:, ::-1], joint, strict=True):
        agree = (POSSIBLE[:, [0, 2]] == state).all(axis=1) & (POSSIBLE[:, 3] == 1)
        expected = np.exp(logs[agree]).sum() / np.exp(logs[POSSIBLE[:, 3] == 1]).sum()
        assert share == pytest.approx(expected, abs=1e-12)


def test_completion_error_predicts_attributes(model):
    X, n_wrong = some_samples(20, seed=3), 0
    logs = model.score_samples(POSSIBLE)
    for row in X:
        for columns in ([0, 2, 5], [1, 4, 6], [3]):
            known = row.copy()
            known[columns] = np.nan
            agree = np.flatnonzero(completions(known))
            best = POSSIBLE[agree[logs[agree].argmax()]]
            n_wrong += (best[columns] != row[columns]).any()
    assert model.completion_error(X) == pytest.approx(n_wrong / 60)


@pytest.mark.parametrize("name", ["tree", "mixture", "machine on a tree"])
def test_labels_that_occur_once_change_nothing(name):
    X = np.random.default_rng(0).integers(0, 2, (50, 4))
    X[:, 3] = X[:, 0] & X[:, 1]
    plain = clone(MODELS[name]).fit(X)
    alone = clone(MODELS[name]).set_params(feature_groups=list("abcd")).fit(X)
    rows = all_rows(4)
    tolerance = 0.05 if "machine" in name else 1e-10  # another start
    np.testing.assert_allclose(
        plain.score(X), alone.score(X), atol=tolerance, err_msg=str(rows)
    )


def test_tree_is_the_most_likely_one():
    X = some_samples(40, seed=5)
    best = max(attribute_trees(X, GROUPS, alpha=1e-9))
    tree = ChowLiuTree(alpha=1e-9, feature_groups=GROUPS).fit(X)
    assert tree.score(X) == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize("max_active", [None, 1])
def test_machine_sums_and_gradient(tree, max_active):
    weights = draw_weights(0, 3, 7).replace(
        attributes=Attributes.from_labels(GROUPS, 7), max_active=max_active
    )
    if tree:  # the attribute b above a and the single column
        parents = np.array([4, -1, 1, 6, -1, 6, -1])
        couplings = np.where(parents < 0, 0, np.linspace(-1, 1, 7))
        weights = weights.replace(parents=parents, couplings=couplings)
    signs = 2 * POSSIBLE - 1
    states = hidden_rows(3, max_active)
    logs = joint_log_weights(weights, signs, states)
    assert log_partition(weights) == pytest.approx(logsumexp(logs), abs=1e-10)
    shares = np.exp(logs - logsumexp(logs))
    log_z, moments = partition_moments(weights)
    assert log_z == pytest.approx(logsumexp(logs), abs=1e-10)
    np.testing.assert_allclose(moments.hidden, shares.sum(1) @ states, atol=1e-12)
    np.testing.assert_allclose(moments.visible, shares.sum(0) @ signs, atol=1e-12)
    np.testing.assert_allclose(moments.products, states.T @ shares @ signs, atol=1e-12)
    if tree:
        pairs = np.where(parents < 0, 0.0, signs * signs[:, parents])
        np.testing.assert_allclose(moments.edges, shares.sum(0) @ pairs, atol=1e-12)
    known = log_sums_of_known(weights, signs.astype(np.int8))
    np.testing.assert_allclose(known, logsumexp(logs, axis=0), atol=1e-10)
    table = make_table(signs.astype(np.int8))
    value, _, _ = mean_log_likelihood(weights.replace(parents=None), table)
    assert np.isfinite(value)


def test_huge_weights_stay_finite():
    weights = draw_weights(1, 2, 7, scale=300.0).replace(
        attributes=Attributes.from_labels(GROUPS, 7)
    )
    parents = np.array([4, -1, 1, 6, -1, 6, -1])
    couplings = np.where(parents < 0, 0, 900.0 * np.linspace(-1, 1, 7))
    weights = weights.replace(parents=parents, couplings=couplings)
    logs = joint_log_weights(weights, 2 * POSSIBLE - 1, hidden_rows(2))
    log_z, moments = partition_moments(weights)
    assert log_z == pytest.approx(logsumexp(logs), rel=1e-12)
    shares = np.exp(logs - logsumexp(logs)).sum(0)
    np.testing.assert_allclose(moments.visible, shares @ (2 * POSSIBLE - 1), atol=1e-9)


def test_a_partly_known_group_is_completed_where_it_can_be():
    attributes = Attributes.from_labels(GROUPS, 7)
    signs = np.array(
        [[1, 0, 0, 0, 0, 0, 0], [-1, 0, -1, 0, 0, 0, 0], [-1, 1, 0, 0, 0, 0, 0]],
        dtype=np.int8,
    )
    np.testing.assert_array_equal(
        attributes.complete(signs),
        [[1, 0, -1, 0, 0, -1, 0], [-1, 0, -1, 0, 0, 1, 0], [-1, 1, 0, 0, -1, 0, -1]],
    )


def test_many_missing_attributes_are_completed_by_ascents():
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 4, (200, 8))
    levels[:, 1:] = np.where(rng.random((200, 7)) < 0.8, levels[:, :1], levels[:, 1:])
    X = np.eye(4)[levels].reshape(200, -1)
    groups = np.repeat(np.arange(8), 4)
    tree = ChowLiuTree(feature_groups=groups).fit(X)
    with pytest.warns(UserWarning, match="too many likely completions"):
        filled = tree.impute(np.full((1, 32), np.nan), "map")
    assert (filled.reshape(8, 4).sum(axis=1) == 1).all()
    drawn = tree.sample(3000, random_state=0)
    assert tree.score_samples(filled)[0] >= tree.score_samples(drawn).max() - 1e-9


@pytest.mark.parametrize(
    ("model", "change", "match"),
    [
        (CombinationMachine(2), {"feature_groups": [1]}, "one label for each"),
        (DensityMixture(DensityMixture()), {"feature_groups": [1]}, "one label"),
    ],
)
def test_wrong_parameters(model, change, match):
    model = clone(model).set_params(**{"feature_groups": GROUPS, **change})
    with pytest.raises(ValueError, match=match):
        model.fit(some_samples())
    assert not hasattr(model, "_state")


def test_mutual_information_is_that_of_the_table_of_attributes(model):
    shares = np.exp(model.score_samples(POSSIBLE))
    information = model.mutual_information()
    for i, j in product(range(7), repeat=2):
        own, other = ([k for k in range(7) if GROUPS[k] == GROUPS[c]] for c in (i, j))
        expected = 0.0
        for a, b in product(np.unique(POSSIBLE[:, own], axis=0),
                            np.unique(POSSIBLE[:, other], axis=0)):  # fmt: skip
            first = (POSSIBLE[:, own] == a).all(axis=1)
            second = (POSSIBLE[:, other] == b).all(axis=1)
            p, q = (
                shares[first & second].sum(),
                shares[first].sum() * shares[second].sum(),
            )
            expected += p * np.log(p / q) if p and own != other else 0.0
        assert information[i, j] == pytest.approx(expected, abs=1e-10)
