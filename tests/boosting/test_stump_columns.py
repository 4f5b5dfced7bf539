"""Columns as bits or lists of rows: every path gives the sums of the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sklboolean._core import _cpu
from sklboolean._core.bits import pack_dense
from sklboolean.boosting._stump import StumpColumns

PATHS = _cpu.available_cpu_paths()


@pytest.fixture(autouse=True)
def _restored():
    before = _cpu.cpu_path()
    yield
    _cpu.use_cpu_path(before)


def table_of(X):
    return StumpColumns.from_boolean(pack_dense(X), X.shape[1])


def sparse_table_of(X):
    return StumpColumns.from_boolean(sparse.csr_array(X), X.shape[1])


def random_problem(n_samples, n_features, seed=0, density=0.5):
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_features)) < density
    return X, rng.integers(-(2**15), 2**15, n_samples).astype(np.int16)


def sums_by_definition(X, weights):
    return np.array([int(weights[column].sum(dtype=object)) for column in X.T])


def assert_sums(table, X, weights):
    expected = sums_by_definition(X, weights)
    for path in PATHS:
        _cpu.use_cpu_path(path)
        sums = table.sums(weights)
        assert sums.dtype == np.int64
        np.testing.assert_array_equal(sums, expected, err_msg=path)


# 32 rows to a word, 128 and 1024 rows to a block.
SIZES = [1, 2, 31, 32, 33, 127, 128, 129, 160, 1023, 1024, 1025, 1056, 2100]


def test_sums_are_those_of_the_definition():
    for n_features in [1, 15, 16, 17, 31, 33, 64, 65, 130]:
        for n_samples in SIZES:
            X, weights = random_problem(n_samples, n_features, seed=n_samples)
            assert_sums(table_of(X), X, weights)


@pytest.mark.parametrize("weight", [-(2**15), 2**15 - 1])
def test_sums_beyond_32_bits_do_not_overflow(weight):
    X = np.ones((150_000, 18), dtype=bool)
    X[:, 3] = False
    weights = np.full(len(X), weight, dtype=np.int16)
    assert abs(150_000 * weight) > 2**32
    assert_sums(table_of(X), X, weights)


@given(st.integers(1, 300), st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_every_column_can_be_read(n_samples, n_features, seed):
    X, weights = random_problem(n_samples, n_features, seed)
    for table in (table_of(X), sparse_table_of(X)):
        for feature, column in enumerate(X.T):
            chosen = table.choose(feature, -(2**15), 2**15 - 1)
            assert chosen.dtype == np.int16
            assert (chosen == np.where(column, 2**15 - 1, -(2**15))).all()
        assert (table.choose(-1, 7, -7) == 7).all()
    assert_sums(table_of(X), X, weights)


@pytest.mark.parametrize("density", [0.0, 0.01, 0.02, 0.03, 0.04, 0.5, 1.0])
def test_sparse_tables_take_the_smaller_form(density):
    X, weights = random_problem(700, 90, density=density)
    table = sparse_table_of(X)
    lists = 32 * X.sum() < X.size
    assert (len(table.panels) == 0) == lists
    assert_sums(table, X, weights)
    for feature in range(90):
        np.testing.assert_array_equal(table.choose(feature, 0, 1), X[:, feature])


def test_wrong_weights_are_an_error():
    X, weights = random_problem(40, 3)
    for table in (table_of(X), sparse_table_of(X)):
        for wrong in (weights[1:], weights[:, np.newaxis], np.append(weights, 1)):
            with pytest.raises(ValueError, match=r"shape \(40,\)"):
                table.sums(wrong)
        with pytest.raises(ValueError, match="dtype"):
            table.sums(weights.astype(np.float64))
