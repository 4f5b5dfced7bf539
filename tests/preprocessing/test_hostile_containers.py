"""Columns of odd types in every container: an answer, or an error that names them."""

import re
import warnings
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sklboolean import AveragedPerceptron, BooleanEncoder
from sklboolean.io import BitTable

N = 6
NAMED = r"[Cc]olumns? |\bX\b|batch|rows have different|feature names|0 sample|0 feature"
Y = [0, 1, 0, 1, 1, 0]
VALUES = {
    "lists": [[1], [2], None, [1], [2], [3]],
    "decimals": [Decimal("1.5"), Decimal(2), None, Decimal(1), Decimal(9), Decimal(-1)],
    "signalling": [Decimal("snan"), *map(Decimal, range(5))],
    "durations": [timedelta(k) for k in range(N)],
    "dates": [date(2020, 1, k + 1) for k in range(N)],
    "fractions": [Fraction(1, k + 1) for k in range(N)],
    "identifiers": [UUID(int=k) for k in range(N)],
    "structs": [{"a": k} for k in range(N)],
    "sets": [{k} for k in range(N)],
    "bytes": [b"\xff", b"a\0", b"a", b"", None, b"z"],
    "surrogates": ["\ud800", "a", "b", "\ud800", "a\0", "a"],
    "blanks": ["", "a", " a", "A", "b", ""],
    "nothing": [None] * N,
    "infinity": [np.inf, 1, 2, 3, 4, -np.inf],
    "mixed": [1, "a", None, 2.5, True, "b"],
    "complex": [1j, 2, 3, 4, 5, 6],
    "huge": [10**400, 1, 2, 3, 4, 5],
    "large": [2**64, 2**63, 1, 2, 3, 4],
    "halves": list(np.arange(N, dtype=np.float16)),
    "objects": [object() for _ in range(N)],
    "arrays": [np.arange(2)] * N,
    "gaps": [pd.NA, 1, 2, pd.NA, 3, 4],
}


def series(values):
    return pd.Series(values, dtype=object)


def cells(values):
    X = np.empty((N, 2), dtype=object)
    for k, value in enumerate(values):
        X[k] = value if np.ndim(value) == 0 else None, k
        X[k, 0] = value
    return X


# Each makes a table with the columns c, of the values, and d.
CONTAINERS = {
    "pandas": lambda v: pd.DataFrame({"c": series(v), "d": Y}),
    "pandas nullable": lambda v: CONTAINERS["pandas"](v).convert_dtypes(),
    "pandas categories": lambda v: CONTAINERS["pandas"](v).astype({"c": "category"}),
    "pandas arrow": lambda v: CONTAINERS["pandas"](v).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "polars": lambda v: pl.DataFrame({"c": pl.Series(v, strict=False), "d": Y}),
    "polars objects": lambda v: pl.DataFrame(
        {"c": pl.Series(v, dtype=pl.Object), "d": Y}
    ),
    "arrow": lambda v: pa.table({"c": v, "d": Y}),
    "arrow dictionary": lambda v: pa.table(
        {"c": pa.array(v).dictionary_encode(), "d": Y}
    ),
    "objects": cells,
    "masked": lambda v: np.ma.array(cells(v), mask=[[k % 2, 0] for k in range(N)]),
    "list": lambda v: [[value, k] for k, value in enumerate(v)],
    "duckdb": lambda v: duckdb.from_arrow(CONTAINERS["arrow"](v)),
}


def of_arrow(column):
    return pa.table({"c": column, "d": Y})


def of_extension(kind, storage):
    return of_arrow(pa.ExtensionArray.from_storage(kind, pa.array(storage)))


SPECIAL = {
    "null in a dictionary": lambda: of_arrow(
        pa.DictionaryArray.from_arrays(
            pa.array([0, 1, None, 2] * 2)[:N], ["b", None, "a"]
        )
    ),
    "equal levels": lambda: of_arrow(
        pa.DictionaryArray.from_arrays([0, 1, 2, 2, 1, 0], ["a", "a", "b"])
    ),
    "dictionary of lists": lambda: of_arrow(
        pa.DictionaryArray.from_arrays([0, 1] * 3, pa.array([[1], [2]]))
    ),
    "run ends": lambda: of_arrow(pa.RunEndEncodedArray.from_arrays([3, 6], ["a", "b"])),
    "union": lambda: of_arrow(
        pa.UnionArray.from_sparse(
            pa.array([0, 1] * 3, pa.int8()), [pa.array([1] * N), pa.array(["a"] * N)]
        )
    ),
    "map": lambda: of_arrow(pa.array([[(1, 2)]] * N, pa.map_(pa.int64(), pa.int64()))),
    "interval": lambda: of_arrow(pa.array([pa.MonthDayNano([1, 2, 3])] * N)),
    "json": lambda: of_extension(pa.json_(), ["{}", "1"] * 3),
    "tensor": lambda: of_extension(
        pa.fixed_shape_tensor(pa.int64(), [2]),
        pa.array([[1, 2]] * N).cast(pa.list_(pa.int64(), 2)),
    ),
    "invalid text": lambda: of_arrow(
        pa.StringArray.from_buffers(
            N,
            pa.array(range(N + 1), pa.int32()).buffers()[1],
            pa.py_buffer(b"\xffabcde"),
        )
    ),
    "int128": lambda: pl.DataFrame(
        {"c": pl.Series([2**100 + k for k in range(N)], dtype=pl.Int128), "d": Y}
    ),
    "hugeint": lambda: duckdb.sql(
        "SELECT i::HUGEINT * 1000000000000000000000 AS c, i AS d FROM range(6) t(i)"
    ),
    "same names": lambda: pa.table([Y, Y], names=["c", "c"]),
    "NUL in polars": lambda: pl.DataFrame({"a\0": Y, "d": Y}),
    "surrogate in pandas": lambda: pd.DataFrame({"\ud800": list("abcabc"), "d": Y}),
    "names in levels": lambda: pd.DataFrame([Y, Y]).T.set_axis(
        pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]), axis=1
    ),
    "structured": lambda: np.zeros(N, dtype=[("a", "i4"), ("b", "f8")]),
    "masked dates": lambda: np.ma.array(np.zeros((N, 2), "M8[s]"), mask=[[0, 1]] * N),
    "no columns": lambda: pa.table({}),
}


def encode(X, _folder):
    encoder = BooleanEncoder().fit(X)
    np.testing.assert_array_equal(encoder.transform(X), encoder.transform(X))


def encode_like_text(X, _folder):
    sound = pd.DataFrame({"c": list("abcabc"), "d": Y})
    BooleanEncoder().fit(sound).transform(X)


def write(X, folder):
    BitTable.write(folder / "bits", [X])


def learn(X, _folder):
    AveragedPerceptron().fit(X, Y)


def cases():
    for container, make in CONTAINERS.items():
        for kind, values in VALUES.items():
            yield f"{container}: {kind}", lambda make=make, v=values: make(v)
    yield from SPECIAL.items()


def made(make):
    """Make a table, or None where its package does not hold such values."""
    try:
        return make()
    except Exception:
        return None
    except BaseException as error:  # a panic of polars is no Exception
        if type(error).__name__ != "PanicException":
            raise
        return None


@pytest.mark.parametrize("use", [encode, encode_like_text, write, learn])
def test_odd_columns_are_read_or_named(use, tmp_path):
    """Errors are in words about the data: of no other type, and of a column or all."""
    n_refused, n_read, wrong = 0, 0, []
    for case, make in cases():
        X = made(make)
        if X is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                use(X, tmp_path)
            except Exception as error:
                is_refusal = isinstance(error, ValueError | TypeError)
                if is_refusal and re.search(NAMED, str(error)):
                    n_refused += 1
                else:
                    wrong.append((case, repr(error)[:200]))
            else:
                n_read += 1
    assert wrong == []
    assert n_refused > 30
    assert n_read > 20
