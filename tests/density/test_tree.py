"""The Chow-Liu tree is the best of all trees, and its messages are exact sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.density import (
    all_rows,
    directed,
    mutual_information,
    smoothed_table,
    spanning_trees,
    tree_likelihood,
    tree_log_probability,
)
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from sklboolean import ChowLiuTree
from sklboolean._core import memory
from sklboolean.density import _tree
from sklboolean.density._spanning_tree import maximum_spanning_tree
from sklboolean.density._tree import (
    TreeDistribution,
    chow_liu_parents,
    edge_sums,
    log_conditionals,
    mutual_information_matrix,
    pair_sums,
    parents_first,
)


@st.composite
def weighted_rows(draw, max_features=5):
    n = draw(st.integers(1, max_features))
    row = st.lists(st.sampled_from([0.0, 1.0]), min_size=n, max_size=n)
    X = np.array(draw(st.lists(row, min_size=1, max_size=10)))
    weight = st.integers(0, 3).map(float)
    weights = draw(st.lists(weight, min_size=len(X), max_size=len(X)))
    weights[0] = weights[0] or 1.0
    return X, np.array(weights), draw(st.sampled_from([1e-6, 0.5, 2.0]))


def test_enumeration_finds_all_trees():
    """Cayley: n ** (n - 2) trees on n points."""
    assert [len(list(spanning_trees(n))) for n in range(1, 6)] == [1, 1, 3, 16, 125]


@given(weighted_rows())
def test_mutual_information_is_the_sum_over_four_states(data):
    X, weights, alpha = data
    information = mutual_information_matrix(2 * X - 1, weights, alpha)
    table = smoothed_table(X, weights, alpha)
    n = X.shape[1]
    for i in range(n):
        assert information[i, i] == 0
        for j in range(n):
            if i != j:
                expected = mutual_information(table, i, j)
                assert information[i, j] == pytest.approx(expected, abs=1e-12)
                assert information[i, j] == information[j, i] >= 0


@given(weighted_rows())
def test_tree_is_the_most_likely_of_all_trees(data):
    X, weights, alpha = data
    tree = ChowLiuTree(alpha=alpha).fit(X, sample_weight=weights)
    table, n = smoothed_table(X, weights, alpha), X.shape[1]
    best = max(tree_likelihood(table, directed(e, n)) for e in spanning_trees(n))
    assert tree_likelihood(table, tree.parents_) == pytest.approx(best, abs=1e-12)
    # The fitted probabilities are those that attain it.
    assert table @ tree.score_samples(all_rows(n)) == pytest.approx(best, abs=1e-12)


@given(weighted_rows(6))
def test_parents_make_one_tree_and_come_first(data):
    X, weights, alpha = data
    parents = chow_liu_parents(2 * X - 1, weights, alpha)
    assert parents.dtype == np.int64
    assert np.flatnonzero(parents < 0).tolist() == [0]
    order = parents_first(parents).tolist()
    assert sorted(order) == list(range(X.shape[1]))
    for bit in range(1, X.shape[1]):
        assert order.index(parents[bit]) < order.index(bit)


@given(weighted_rows())
def test_score_is_a_product_of_one_factor_for_each_bit(data):
    X, weights, alpha = data
    tree = ChowLiuTree(alpha=alpha).fit(X, sample_weight=weights)
    for row, score in zip(X, tree.score_samples(X), strict=True):
        expected = tree_log_probability(tree.parents_, tree.probabilities_, row)
        assert score == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(weighted_rows(), st.randoms(use_true_random=False))
def test_density_does_not_depend_on_the_root(data, random):
    """Reversing the columns hangs the tree at the other end."""
    X, weights, alpha = data
    # Ties between pairs may be broken otherwise: make every mutual information differ.
    weights = weights + np.array([random.uniform(0.1, 1) for _ in weights])
    information = mutual_information_matrix(2 * X - 1, weights, alpha)
    upper = information[np.triu_indices(X.shape[1], 1)]
    if len(upper) > 1 and np.diff(np.sort(upper)).min() < 1e-9:
        return
    one = ChowLiuTree(alpha=alpha).fit(X, sample_weight=weights)
    other = ChowLiuTree(alpha=alpha).fit(X[:, ::-1], sample_weight=weights)
    rows = all_rows(X.shape[1])
    np.testing.assert_allclose(
        one.score_samples(rows), other.score_samples(rows[:, ::-1]), rtol=1e-9
    )


def test_rows_of_weight_two_count_twice():
    X = np.array([[0, 0, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]])
    weighted = ChowLiuTree().fit(X, sample_weight=[2, 1, 0, 3])
    repeated = ChowLiuTree().fit(np.repeat(X, [2, 1, 0, 3], axis=0))
    np.testing.assert_array_equal(weighted.parents_, repeated.parents_)
    np.testing.assert_allclose(
        weighted.probabilities_, repeated.probabilities_, rtol=1e-14
    )


def test_independent_bits_are_joined_all_the_same():
    """Mutual information of 0 everywhere still gives one tree, and the uniform law."""
    rows = all_rows(4)
    tree = ChowLiuTree().fit(rows)
    assert (tree.parents_ >= 0).sum() == 3
    np.testing.assert_allclose(tree.score_samples(rows), -4 * np.log(2), rtol=1e-14)
    assert tree.scaled_log_loss(rows) == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("n_children", [2000])
def test_very_many_children_that_contradict_each_other(n_children):
    """Evidence of e**-14000 against a bit must not drown what comes after it."""
    p = 1e-6
    near = np.log([[1 - p, p], [p, 1 - p]])
    tables = np.array([np.log([[0.5, 0.5], [0.5, 0.5]])] + [near] * n_children)
    tree = TreeDistribution(np.array([-1] + [0] * n_children), tables)
    true, false = n_children // 2 + 1, n_children // 2 - 1
    signs = np.array([[0] + [1] * true + [-1] * false])
    odds = tree.log_odds(signs)[0, 0]
    assert odds == pytest.approx(2 * np.log((1 - p) / p), rel=1e-9)
    expected = true * np.log(1 - p) + false * np.log(p) - np.log(2)
    assert tree.log_sums(signs)[0] == pytest.approx(expected, rel=1e-12)


def test_message_passing_takes_forests():
    tables = np.log([[[0.4, 0.6]] * 2, [[0.1, 0.9]] * 2, [[0.8, 0.2], [0.3, 0.7]]])
    forest = TreeDistribution(np.array([-1, -1, 1]), tables)
    signs = np.array([[1, -1, 0], [0, 0, 1]])
    expected = np.log([0.6 * 0.1, 0.1 * 0.2 + 0.9 * 0.7])
    np.testing.assert_allclose(forest.log_sums(signs), expected, rtol=1e-14)
    odds = forest.log_odds(signs)
    np.testing.assert_allclose(odds[:, 0], np.log(0.6 / 0.4), rtol=1e-13)
    assert odds[0, 2] == pytest.approx(np.log(0.2 / 0.8))
    assert odds[1, 1] == pytest.approx(np.log(0.9 * 0.7 / (0.1 * 0.2)))


@pytest.mark.parametrize("alpha", [1e-10, 1e10])
def test_extreme_smoothing_stays_finite(alpha):
    X = np.repeat([[0, 0, 1, 1], [1, 1, 1, 0]], 500, axis=0)
    scores = ChowLiuTree(alpha=alpha).fit(X).score_samples(all_rows(4))
    assert np.isfinite(scores).all()
    assert np.exp(scores).sum() == pytest.approx(1.0, abs=1e-12)


def test_weights_are_checked():
    with pytest.raises(ValueError, match="sample_weight"):
        ChowLiuTree().fit([[0, 1]], sample_weight=[-1])
    with pytest.raises(ValueError, match=r"sum of inf; it must be below 2\*\*53"):
        ChowLiuTree().fit([[0, 1], [1, 1]], sample_weight=[1e308, 1e308])


@given(st.integers(0, 10**6), st.integers(1, 12), st.booleans())
def test_spanning_tree_has_the_largest_total_gain(seed, n, ties):
    rng = np.random.default_rng(seed)
    gains = rng.integers(0, 4, (n, n)) * 1.0 if ties else rng.random((n, n))
    gains = gains + gains.T
    parents = maximum_spanning_tree(gains)
    assert parents[0] == -1
    child = np.arange(1, n)
    assert sorted(parents_first(parents)) == list(range(n))
    assert (parents[child] >= 0).all()
    # scipy's tree has least total costs; a cost of 0 would be no edge.
    costs = gains.max(initial=0) + 1 - gains
    least = minimum_spanning_tree(np.triu(costs, 1)).sum()
    assert costs[child, parents[child]].sum() == pytest.approx(least)


def test_too_many_columns_are_refused_before_memory_is_asked_for(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 50 * 2**30)
    X = sparse.csr_array((2, 50_000), dtype=np.float32)
    with pytest.raises(ValueError, match=r"50000 columns .* 55.9 GiB .* 50 GiB"):
        ChowLiuTree().fit(X)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_edges_are_those_of_all_pairs(weighted, monkeypatch):
    rng = np.random.default_rng(0)
    signs = rng.choice([-1, 1], (50, 6)).astype(np.int8)
    weights = rng.random(50) if weighted else None
    parents = np.array([-1, 0, 0, -1, 3, 2])
    monkeypatch.setattr(_tree, "BITS_AT_A_TIME", 40)
    total, sums, products = edge_sums(parents, signs, weights)
    of_pairs = pair_sums(signs, weights)
    np.testing.assert_allclose([total], [of_pairs[0]])
    np.testing.assert_allclose(sums, of_pairs[1])
    expected = np.where(parents < 0, 0, of_pairs[2][np.arange(6), parents])
    np.testing.assert_allclose(products, expected, atol=1e-12)


def test_columns_without_edges_are_not_compared_in_pairs():
    """The base of a machine is their frequencies; pairs would take 24 GiB."""
    n_columns = 2**15 + 1
    signs = np.ones((3, n_columns), dtype=np.int8)
    signs[1:, 5] = -1
    tables = log_conditionals(signs, np.full(n_columns, -1), alpha=1.0)
    np.testing.assert_allclose(np.exp(tables[4, 0]), [0.5 / 4, 3.5 / 4])
    np.testing.assert_allclose(np.exp(tables[5, 1]), [2.5 / 4, 1.5 / 4])
