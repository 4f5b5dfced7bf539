"""Fits to samples with missing bits, and questions about what to ask next."""

import numpy as np
import pytest
from oracles.density import agrees, all_rows
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.base import clone

from sklboolean import (
    BernoulliMixture,
    ChowLiuTree,
    CombinationMachine,
    DensityMixture,
)

TREE_MACHINE = CombinationMachine(
    2, base="chow_liu", n_init=1, max_iter=60, random_state=0
)


def samples(n_samples=400, seed=0, share=0.25):
    """Samples of five bits that depend on each other, with gaps, and without."""
    rng = np.random.default_rng(seed)
    X = np.empty((n_samples, 5))
    X[:, 0] = rng.random(n_samples) < 0.4
    for k in range(1, 5):
        X[:, k] = np.where(rng.random(n_samples) < 0.85, X[:, k - 1], 1 - X[:, k - 1])
    return np.where(rng.random(X.shape) < share, np.nan, X), X


def expected_pair(tree, X, child, parent):
    """Shares of the states of a bit and its parent, expected given the known bits."""
    rows = all_rows(X.shape[1])
    table, counts = np.exp(tree.score_samples(rows)), np.zeros((2, 2))
    for known in X:
        agree = np.array([agrees(row, known) for row in rows])
        shares = np.where(agree, table, 0) / table[agree].sum()
        for row, share in zip(rows.astype(int), shares, strict=True):
            counts[row[parent], row[child]] += share
    return counts


def test_tree_is_a_fixed_point_of_em():
    X, _ = samples(150)
    alpha = 0.5
    tree = ChowLiuTree(alpha=alpha).fit(X)
    for child, parent in enumerate(tree.parents_):
        if parent < 0:
            continue
        counts = expected_pair(tree, X, child, parent) + alpha / 4
        expected = counts[:, 1] / counts.sum(axis=1)
        np.testing.assert_allclose(tree.probabilities_[child], expected, atol=5e-3)


def test_tree_with_gaps_finds_the_tree_and_its_probabilities():
    gaps, complete = samples(4000, seed=1)
    tree, whole = ChowLiuTree().fit(gaps), ChowLiuTree().fit(complete)
    np.testing.assert_array_equal(tree.parents_, whole.parents_)
    np.testing.assert_allclose(tree.probabilities_, whole.probabilities_, atol=0.04)


def test_complete_samples_give_the_same_tree_as_those_with_an_empty_one():
    _, X = samples()
    empty = np.vstack([X, np.full((1, 5), np.nan)])
    first, second = ChowLiuTree().fit(X), ChowLiuTree().fit(empty)
    np.testing.assert_allclose(first.probabilities_, second.probabilities_, atol=1e-4)


def observed_optimum(X, m, alpha):
    """The largest penalised mean log-likelihood of the known bits, from 4 starts."""
    rows = all_rows(X.shape[1])
    agree = np.array([[agrees(row, known) for row in rows] for known in X])
    signs, states, n = 2 * rows - 1, all_rows(m), X.shape[1]

    def loss(vector):
        W, rest = vector[: m * n].reshape(m, n), vector[m * n :]
        activations = signs @ W.T + rest[:m]
        logs = logsumexp(activations @ states.T, axis=1) + signs @ rest[m:]
        known = logsumexp(np.where(agree, logs, -np.inf), axis=1)
        return logsumexp(logs) - known.mean() + alpha / 2 * (vector @ vector)

    rng = np.random.default_rng(0)
    starts = rng.normal(scale=0.5, size=(4, m * n + m + n))
    return -min(minimize(loss, start, method="L-BFGS-B").fun for start in starts)


@pytest.mark.slow
def test_machine_maximises_the_likelihood_of_the_known_bits():
    X, _ = samples(150)
    best = observed_optimum(X, 2, 1e-3)
    machine = CombinationMachine(2, alpha=1e-3, random_state=0).fit(X)
    assert machine.score(X) == pytest.approx(best, abs=0.03)


@pytest.mark.parametrize(
    "model",
    [
        TREE_MACHINE,
        DensityMixture(ChowLiuTree(), n_components=2, random_state=0),
        pytest.param(
            DensityMixture(TREE_MACHINE, n_components=2, max_iter=3, random_state=0),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            clone(TREE_MACHINE).set_params(alpha="auto", max_iter=20),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["machine", "mixture of trees", "mixture of machines", "machine, held out"],
)
def test_gaps_cost_little(model):
    gaps, complete = samples(800, seed=2)
    whole = clone(model).fit(complete).score(complete)
    learned = clone(model).fit(gaps)
    assert learned.score(complete) > whole - 0.05
    again = clone(model).fit(gaps)
    assert learned.score(complete) == again.score(complete)


def test_a_fit_with_gaps_is_continued():
    X, _ = samples()
    machine = clone(TREE_MACHINE).fit(X)
    before = machine.score(X)
    assert machine._continue_fit(X, None).score(X) > before - 0.05


@pytest.mark.parametrize(
    "model",
    [
        ChowLiuTree(),
        BernoulliMixture(3, random_state=0),
        CombinationMachine(2, max_iter=40, random_state=0),
        DensityMixture(ChowLiuTree(), n_components=2, random_state=0),
        ChowLiuTree(feature_groups=[0, 1, 2, 3, 3]),
    ],
    ids=["tree", "mixture", "machine", "mixture of trees", "groups"],
)
def test_information_gain_is_the_fall_of_the_entropy(model):
    gaps, X = samples(100)
    if getattr(model, "feature_groups", None) is not None:
        X[:, 4] = 1 - X[:, 3]
        gaps = np.where(np.isnan(gaps), np.nan, X)
    model = clone(model).fit(X)
    rows, chosen, asked = all_rows(5), [1, 4], gaps[:12]
    possible = rows
    if getattr(model, "feature_groups", None) is not None:
        possible = rows[rows[:, 3] != rows[:, 4]]
    table = np.exp(model.score_samples(possible))
    gains = model.information_gain(asked, chosen)

    def entropy(mask):
        kept = np.where(mask, table, 0) / table[mask].sum()
        cells = possible[:, chosen] @ [2, 1]
        shares = np.bincount(cells.astype(int), kept)
        shares = shares[shares > 0]
        return -(shares * np.log(shares)).sum()

    for known, gain in zip(asked, gains, strict=True):
        rest = known.copy()
        rest[chosen] = np.nan
        agree = np.array([agrees(row, rest) for row in possible])
        for column in range(5):
            if column in chosen or not np.isnan(rest[column]):
                assert gain[column] == 0
                continue
            expected = entropy(agree)
            for value in (0, 1):
                part = agree & (possible[:, column] == value)
                if part.any():
                    share = table[part].sum() / table[agree].sum()
                    expected -= share * entropy(part)
            assert gain[column] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("groups", [None, [0, 1, 2, 3, 3]])
@pytest.mark.parametrize(
    "options", [{}, {"n_components": (3, 1)}, {"base": "chow_liu"}]
)
def test_hidden_units_given_the_known_bits(groups, options):
    gaps, X = samples(80)
    if groups is not None:
        X[:, 4] = 1 - X[:, 3]
        gaps[:, 4] = 1 - gaps[:, 3]
    machine = CombinationMachine(
        3, max_iter=30, n_init=1, random_state=0, feature_groups=groups
    ).set_params(**options)
    machine.fit(X)
    rows = all_rows(5)
    if groups is not None:
        rows = rows[rows[:, 3] != rows[:, 4]]
    table, given = np.exp(machine.score_samples(rows)), machine.transform(rows)
    for known, means in zip(gaps, machine.transform(gaps), strict=True):
        agree = np.array([agrees(row, known) for row in rows])
        expected = table[agree] @ given[agree] / table[agree].sum()
        np.testing.assert_allclose(means, expected, atol=1e-10)


def test_information_gain_refuses_too_many_columns():
    tree = ChowLiuTree().fit(np.random.default_rng(0).integers(0, 2, (30, 21)))
    with pytest.raises(ValueError, match="1 to 19 columns; got 20"):
        tree.information_gain(np.full((1, 21), np.nan), range(20))


def test_steps_of_a_tree_increase_its_likelihood(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.integers(0, 2, (60, 3)), 2, axis=1).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    scores = []
    for n_steps in (0, 1, 2, 200):
        monkeypatch.setattr(ChowLiuTree, "_max_iter", n_steps)
        scores.append(ChowLiuTree(alpha=1e-9).fit(X).score(X))
    assert np.all(np.diff(scores) > 0)
