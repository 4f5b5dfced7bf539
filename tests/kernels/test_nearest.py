"""`nearest` against sorting the whole kernel matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sklboolean.kernels import (
    CNFKernel,
    ConjunctionKernel,
    DisjunctionKernel,
    DNFKernel,
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
    RelevanceKernel,
    TanimotoKernel,
    _nearest,
    nearest,
)
from sklboolean.kernels._evaluators import PairFormula

KERNELS = [
    TanimotoKernel(), LinearKernel(), RBFKernel(), ConjunctionKernel(),
    ConjunctionKernel(max_literals=None, monotone=False, normalize=False),
    ConjunctionKernel(min_literals=2, max_literals=2, normalize=False),
    DisjunctionKernel(), DNFKernel(), CNFKernel(monotone=False),
    PolynomialKernel(degree=2),
]  # fmt: skip


class Falling(LinearKernel):
    """A user's kernel: fewer common features are better."""

    def _formula(self, n_features, max_ones):
        return PairFormula(lambda common, a, b: n_features - common + 0 * (a + b))


KERNELS.append(Falling())


def by_sorting(Q, X, k, kernel):
    """All pairs; equal values by index."""
    K = kernel(Q, X)
    order = np.argsort(-K, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(K, order, axis=1), order


def check(Q, X, k, kernel):
    values, indices = nearest(Q, X, k, kernel=kernel)
    expected_values, expected_indices = by_sorting(Q, X, k, kernel)
    assert np.array_equal(values, expected_values)
    assert np.array_equal(indices, expected_indices)
    assert indices.dtype == np.int64


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(_nearest, "COLUMNS_AT_A_TIME", 32)
    monkeypatch.setattr(_nearest, "QUERIES_AT_A_TIME", 5)


@settings(max_examples=10)
@given(st.integers(0, 2**32), st.sampled_from([3, 20, 70]), st.integers(1, 40))
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_largest_values_are_those_of_the_sorted_matrix(kernel, seed, n, k):
    rng = np.random.default_rng(seed)
    X = rng.random((rng.integers(k, 200), n)) < rng.random() ** 2
    X &= rng.random((len(X), 1)) < rng.random((1, n)) ** rng.random()
    Q = rng.random((rng.integers(1, 30), n)) < rng.random()
    check(Q, X, k, kernel)


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_tables_give_the_same(layout):
    rng = np.random.default_rng(0)
    X, Q = rng.random((150, 400)) < 0.02, rng.random((20, 400)) < 0.03
    expected = nearest(Q, X, 7)
    for A, B in ((layout(Q), layout(X)), (Q, layout(X)), (layout(Q), X)):
        values, indices = nearest(A, B, 7)
        assert np.array_equal(values, expected[0])
        assert np.array_equal(indices, expected[1])


def test_blocks_without_a_candidate_are_left_out(monkeypatch):
    # Samples of one to 64 ones; a query finds itself, and little else is compared.
    X = np.tri(64, dtype=bool).repeat(32, axis=0)
    n_pairs, evaluate = [], _nearest.evaluate

    def count(kernel, formula, rows, columns, out):
        n_pairs.append(out.size)
        return evaluate(kernel, formula, rows, columns, out)

    monkeypatch.setattr(_nearest, "evaluate", count)
    values, indices = nearest(X[::32], X, 32)
    assert (values == 1).all()
    assert np.array_equal(indices, np.arange(64 * 32).reshape(64, 32))
    # The bounds, then one block for each query.
    assert n_pairs[0] == 64 * 64
    assert sum(n_pairs[1:]) == 64 * 32


def test_equal_values_come_in_the_order_of_their_samples():
    X = np.zeros((100, 8), bool)
    X[:, :3] = True
    values, indices = nearest(X[:2], X, 100)
    assert (values == 1).all()
    assert indices.tolist() == [[*range(100)]] * 2
    X[10:20] = False
    assert nearest(X[:1], X, 90)[1][0].tolist() == [*range(10), *range(20, 100)]


def test_values_whose_bounds_leave_float64_are_found_without_bounds():
    X = np.zeros((60, 2300), bool)
    X[:30, :1100] = X[30:, 1100:2200] = True
    X[:, 2200:2260] = np.tri(60, dtype=bool)
    kernel = ConjunctionKernel(max_literals=None, normalize=False)
    Q = np.zeros((2, 2300), bool)
    Q[0, :3] = Q[1, 2200:2260] = True
    Q[1, 1100:1103] = True
    values, indices = nearest(Q, X, 3, kernel=kernel)
    assert values[0].tolist() == [8.0] * 3
    assert indices.tolist() == [[0, 1, 2], [59, 58, 57]]
    with pytest.raises(ValueError, match="exceeds float64"):
        nearest(X[:1], X, 3, kernel=kernel)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k == 0"),
        ({"k": 4}, "k=4, but X has 3 samples"),
        ({"kernel": "cosine"}, "kernel must be one of"),
        ({"kernel": TanimotoKernel}, "kernel must be one of"),
        ({"kernel": RelevanceKernel()}, "kernel must be one of"),
        ({"Q": [[0, 1]]}, "Q has 2 features and X has 3"),
        ({"X": [[0, np.nan, 1]]}, "X"),
    ],
)
def test_bad_input_is_named(options, message):
    data = {"Q": [[0, 1, 1]], "X": np.eye(3), "k": 2, **options}
    with pytest.raises(ValueError, match=message):
        nearest(**data)
