"""Sparse tables too large for 32-bit indices are refused, not cut."""

import numpy as np
import pytest
from scipy import sparse

from sklboolean import AveragedPerceptron, KernelPerceptron, Winnow
from sklboolean._core.validation import as_boolean, check_sparse_size
from sklboolean.kernels import conjunction_kernel


def wide(n_features):
    """Two rows, the last feature true in both."""
    indices = np.array([0, n_features - 1, n_features - 1], dtype=np.int64)
    indptr = np.array([0, 2, 3], dtype=np.int64)
    return sparse.csr_array((np.ones(3), indices, indptr), shape=(2, n_features))


@pytest.mark.parametrize(
    "learn",
    [
        lambda X: conjunction_kernel(X, monotone=True, max_literals=2),
        lambda X: KernelPerceptron().fit(X, [0, 1]),
        lambda X: AveragedPerceptron().fit(X, [0, 1]),
        lambda X: Winnow().fit(X, [0, 1]),
    ],
)
@pytest.mark.parametrize("n_features", [2**31, 2**31 + 1, 2**40])
def test_features_beyond_32_bits_are_refused(n_features, learn):
    with pytest.raises(ValueError, match=rf"X has the shape \(2, {n_features}\)"):
        learn(wide(n_features))


def test_the_largest_size_is_not_refused():
    X = wide(2**31 - 1)
    table = as_boolean(X)
    assert table.shape == X.shape
    assert table.indices.tolist() == X.indices.tolist()
    check_sparse_size(sparse.csc_array((2**31 - 1, 1)))
    with pytest.raises(ValueError, match="at most 2147483647 rows and features"):
        check_sparse_size(sparse.csc_array((2**31, 1)))
