"""Tables with missing bits in every container and in both codes."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import BaseEstimator

from sklboolean import (
    BernoulliMixture,
    ChowLiuTree,
    DensityClassifier,
    DensityImputer,
    DensityMixture,
    GaussianCombinationMachine,
    SampledCombinationMachine,
)
from sklboolean.density import _base
from sklboolean.density._base import (
    BinaryDensityMixin,
)
from sklboolean.density._packed_signs import PackedSigns, merge_equal_samples

NAN = math.nan


class Reader(BinaryDensityMixin, BaseEstimator):
    def __init__(self, binarize=0.0):
        self.binarize = binarize


CASES = {
    "zeros and ones": ([[0, 1], [1, 0]], [[-1, 1], [1, -1]], [0, 1]),
    "signs": ([[-1, 1], [1, 1]], [[-1, 1], [1, 1]], [-1, 1]),
    "signs with NaN": ([[-1.0, 1], [NAN, 1]], [[-1, 1], [0, 1]], [-1, 1]),
    "only ones": ([[1, 1]], [[1, 1]], [0, 1]),
    "only minus ones": ([[-1, -1]], [[-1, -1]], [-1, 1]),
    "three values": ([[-1, 0, 1]], [[-1, -1, 1]], [0, 1]),
    "real values": ([[-1, 0.5, NAN]], [[-1, 1, 0]], [0, 1]),
    "the least int8": (np.array([[-128, -1, 1]], np.int8), [[-1, -1, 1]], [0, 1]),
    "bool": (np.array([[True, False]]), [[1, -1]], [0, 1]),
    "None": (np.array([[None, 1], [0, 1]], object), [[0, 1], [-1, 1]], [0, 1]),
    "CSR": (sparse.csr_array([[0, 1.0, NAN]]), [[-1, 1, 0]], [0, 1]),
    "CSC": (sparse.csc_matrix([[0, 1], [-1, 0]]), [[-1, 1], [-1, -1]], [0, 1]),
    "CSR with an entry of two parts": (
        sparse.csr_array(([0.5, 0.5, -1.0, 2.0], [0, 0, 1, 1], [0, 4]), shape=(1, 2)),
        [[1, 1]],
        [0, 1],
    ),
    "sparse, 0 and -1": (sparse.csr_array([[-1, 0]]), [[-1, -1]], [0, 1]),
    "full sparse signs": (sparse.csr_array([[-1, 1]]), [[-1, 1]], [-1, 1]),
    "pandas, nullable": (
        pd.DataFrame({"a": [True, None], "b": [False, True]}).astype("boolean"),
        [[1, -1], [0, 1]],
        [0, 1],
    ),
    "pandas, mixed": (
        pd.DataFrame({"a": [True, False], "b": [NAN, 1.0]}),
        [[1, 0], [-1, 1]],
        [0, 1],
    ),
    "polars": (
        pl.DataFrame({"a": [True, None], "b": [0, 1]}),
        [[1, -1], [0, 1]],
        [0, 1],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_values_become_signs_and_zero_is_missing(case):
    X, expected, codes = case
    reader = Reader()
    signs = reader._read(X, reset=True)
    assert signs.dtype == np.int8
    assert signs.flags.c_contiguous
    np.testing.assert_array_equal(signs, expected)
    assert reader.codes_.tolist() == codes
    written = reader._write(signs[signs != 0])
    assert set(written) <= set(map(float, codes))


@pytest.mark.parametrize(
    ("X", "expected"),
    [([[0.3, 0.5, 0.7]], [[-1, -1, 1]]), ([[0, 1, NAN]], [[-1, 1, 0]])],
)
def test_a_value_above_the_threshold_is_true(X, expected):
    np.testing.assert_array_equal(Reader(0.5)._read(X, reset=True), expected)


def test_codes_are_those_of_the_first_table():
    reader = Reader()
    reader._read([[-1, 1]], reset=True)
    signs = reader._read([[0, 1]])
    np.testing.assert_array_equal(signs, [[-1, 1]])
    assert reader.codes_.tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[0, -1]], "holds -1.* column 1; .* 0 and 1"),
        ([[-1, 2]], "column 0"),
        ([[0, 0.5]], "holds 0.5 in column 1"),
        (sparse.csr_array([[0, 0.5]]), "column 1"),
    ],
)
def test_strict_reading_names_the_odd_column(X, words):
    with pytest.raises(ValueError, match=words):
        Reader(None)._read(X, reset=True)


def test_strict_signs_do_not_take_zeros_that_are_left_out():
    reader = Reader(None)
    reader._read([[-1, 1]], reset=True)
    with pytest.raises(ValueError, match=r"holds 0 .*codes -1 and 1"):
        reader._read(sparse.csr_array([[0, 1]]))
    full = reader._read(sparse.csr_array([[-1, 1]]))
    np.testing.assert_array_equal(full, [[-1, 1]])


def test_refused_tables_set_no_codes():
    reader = Reader()
    with pytest.raises(ValueError, match="NaN in column 1"):
        reader._read([[0, NAN]], reset=True, allow_missing=False)
    with pytest.raises(ValueError, match="infinity"):
        reader._read([[0, math.inf]], reset=True)
    assert not hasattr(reader, "codes_")


def test_the_users_table_is_not_touched():
    X = np.array([[0.0, NAN], [1.0, 1.0]])
    X.flags.writeable = False
    Reader()._read(X, reset=True)


def test_repeated_rows_are_joined_with_their_weights():
    signs = np.array([[1, 0], [-1, 1], [1, 0], [0, 0], [-1, 1]], np.int8)
    first, weights = merge_equal_samples(signs, np.array([1.0, 2, 4, 8, 16]))
    rows = signs[first]
    found = dict(zip(map(tuple, rows.tolist()), weights, strict=True))
    assert found == {(1, 0): 5.0, (-1, 1): 18.0, (0, 0): 8.0}
    assert len(rows) == 3


@given(
    arrays(
        np.int8,
        st.tuples(st.integers(0, 40), st.integers(1, 19)),
        elements=st.integers(-1, 1),
    ),
    st.integers(0, 40),
    st.integers(0, 40),
)
def test_packed_signs_are_the_signs(signs, start, stop):
    packed = PackedSigns(signs.shape)
    packed[0:7], packed[7:] = signs[0:7], signs[7:]
    assert packed.size == signs.size
    assert len(packed) == len(signs)
    np.testing.assert_array_equal(packed[start:stop], signs[start:stop])
    chosen = np.flatnonzero(signs[:, 0] < 0)
    np.testing.assert_array_equal(packed.take(chosen)[:], signs[chosen])
    assert packed.keys.nbytes == 2 * len(signs) * -(-signs.shape[1] // 8)


@pytest.mark.parametrize("groups", [None, [0, 0, 1]])
def test_blocks_read_as_one(monkeypatch, groups):
    """Blocks of two samples, packed or not, of every container."""
    X = np.array([[1, 0, 1], [0, 1, NAN], [NAN, 0, 0], [0, NAN, 1], [1, 0, 0]])
    reader = Reader()
    reader.feature_groups = groups
    expected = reader._read(X, reset=True)
    monkeypatch.setattr(_base, "BLOCK_SIZE", 2)
    for container in (np.asarray, pd.DataFrame, sparse.csr_array, sparse.csc_array):
        for packed in (False, True):
            signs = reader._read(container(X), reset=True, packed=packed)
            np.testing.assert_array_equal(signs[:], expected)
    if groups:
        X[4, 1] = 1
        with pytest.raises(ValueError, match="Sample 4 of X has 2 true columns"):
            reader._read(X, reset=True)
    with pytest.raises(ValueError, match=r"holds 3\.0 in column 1"):
        Reader(None)._read(np.where(X == 0, 3, X), reset=True)


@pytest.mark.parametrize(
    ("density", "old", "new"),
    [
        (GaussianCombinationMachine, {"max_active": 2}, {"n_components": (10, 2)}),
        (GaussianCombinationMachine, {"solver": "lbfgs", "momentum": 0.9}, {}),
        (GaussianCombinationMachine, {"visible_bias": False}, None),
        (SampledCombinationMachine, {"visible_bias": False}, {"base": "uniform"}),
        (SampledCombinationMachine, {"momentum": 0.5}, None),
        (BernoulliMixture, {"growth": "doubling", "batch_size": 1000}, {}),
        (BernoulliMixture, {"warm_start": True}, None),
        (DensityMixture, {"n_averaged": 4, "n_jobs": 2}, {}),
        (DensityMixture, {"n_averaged": 4, "n_components": 3}, None),
        (ChowLiuTree, {"max_iter": 2}, None),
        (DensityClassifier, {"n_jobs": 2}, {}),
        (DensityImputer, {"n_jobs": 2}, {}),
    ],
)
def test_old_parameters_are_translated_or_refused(density, old, new):
    if new is None:
        with pytest.raises(ValueError, match="not supported since version"):
            density(**old)
        return
    with pytest.warns(FutureWarning, match="deprecated"):
        translated = density(**old)
    assert translated.get_params() == density(**new).get_params()
