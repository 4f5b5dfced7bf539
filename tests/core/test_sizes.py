"""What compiled loops cannot read: too large sparse tables, unaligned arrays."""

import numpy as np
import pytest
from oracles.kernels import plain_perceptron
from scipy import sparse

from sklboolean import AveragedPerceptron, Winnow
from sklboolean._core.bits import BitColumns, sparse_rows
from sklboolean._core.sparse_structure import check_sparse_size
from sklboolean._core.validation import as_boolean
from sklboolean.kernels import conjunction_kernel
from sklboolean.linear_model._data import _csr_parts


def wide(n_features):
    """Two rows, the last feature true in both."""
    indices = np.array([0, n_features - 1, n_features - 1], dtype=np.int64)
    indptr = np.array([0, 2, 3], dtype=np.int64)
    return sparse.csr_array((np.ones(3), indices, indptr), shape=(2, n_features))


@pytest.mark.parametrize(
    "learn",
    [
        lambda X: conjunction_kernel(X, monotone=True, max_literals=2),
        lambda X: plain_perceptron().fit(X, [0, 1]),
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
    with pytest.raises(ValueError, match="at most 2147483647 samples and features"):
        check_sparse_size(sparse.csc_array((2**31, 1)))


def unaligned(values, dtype):
    """A copy of values that does not start where the processor would like."""
    values = np.asarray(values, dtype=dtype)
    room = np.zeros(values.nbytes + 1, dtype=np.uint8)
    room[1:] = values.view(np.uint8)
    return room[1:].view(dtype)


def test_compiled_loops_are_given_aligned_arrays():
    X = sparse.random_array((9, 40), density=0.2, format="csr", random_state=0)
    parts = [
        unaligned(X.data, float),
        unaligned(X.indices, np.int32),
        unaligned(X.indptr, np.int64),
    ]
    assert not any(part.flags.aligned for part in parts)
    X.data, X.indices, X.indptr = parts
    assert all(part.flags.aligned for part in _csr_parts(X))
    bit_of_feature = np.full(40, -1, dtype=np.int32)
    rows = sparse_rows(as_boolean(X), bit_of_feature)
    arrays = *rows.arrays(), *BitColumns.from_rows(rows).arrays()
    assert all(array.flags.aligned for array in arrays)
