"""Random frames of all kinds of columns: the same bits in every container and way."""

import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from databases import query
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.preprocessing import condition_holds
from sklearn.pipeline import make_pipeline

from sklboolean import BooleanEncoder, RuleClassifier
from sklboolean.inspection import counterfactuals
from sklboolean.io import BitTable

CODES = [-999, -998.5]


def draw_column(kind, rng, n):
    """Draw a column without gaps."""
    if kind == "numbers":
        return pd.Series(rng.normal(size=n).round(rng.integers(1, 4)))
    if kind == "codes":
        values = rng.normal(size=n).round(1)
        return pd.Series(np.where(rng.random(n) < 0.3, rng.choice(CODES, n), values))
    if kind == "integers":
        return pd.Series(rng.choice([0, 1, 2, 5, -999], n).astype(float))
    if kind == "dates":
        days = rng.integers(-(2**14), 2**14, n) * 86_400 * 10**6
        days += rng.integers(0, 2, n) * rng.integers(0, 10**11, n)
        return pd.Series(days.astype("M8[us]"))
    if kind == "zoned":
        return draw_column("dates", rng, n).dt.tz_localize("UTC")
    if kind == "durations":
        return pd.Series(rng.integers(-(10**12), 10**12, n).astype("m8[us]"))
    if kind == "tags":
        sizes = rng.integers(0, 3, n)
        return pd.Series([[*rng.choice(list("abc"), k, False)] for k in sizes])
    return pd.Series(rng.choice(["red", "blue", "a'b", ""], n), dtype=object)


KINDS = "numbers", "codes", "integers", "dates", "zoned", "durations", "tags", "text"


def draw_frame(seed, kinds=KINDS):
    rng = np.random.default_rng(seed)
    n, columns = int(rng.integers(30, 60)), {}
    for number in range(rng.integers(2, 6)):
        kind = rng.choice(kinds) if number else "numbers"
        column, has_gap = draw_column(kind, rng, n), rng.random(n) < 0.2
        if rng.random() < 0.5:
            column[has_gap] = None
        columns[f"{kind} {number}"] = column
    options = {
        "complement": bool(rng.random() < 0.7),
        "n_bins": ["auto", 3, 40][rng.integers(3)],
        "special": CODES if rng.random() < 0.7 else None,
        "min_frequency": 1,
    }
    y = rng.integers(0, 2, n) if rng.random() < 0.5 else None
    return pd.DataFrame(columns), y, options


def arrow_of(X):
    return pa.Table.from_pandas(X, preserve_index=False)


CONTAINERS = {
    "polars": lambda X: pl.from_arrow(arrow_of(X)),
    "arrow": arrow_of,
    "pandas of arrow": lambda X: X.convert_dtypes(dtype_backend="pyarrow"),
    "objects": lambda X: X.astype(object),
    "duckdb": lambda X: duckdb.from_arrow(arrow_of(X)),
}


def fit(X, y, options):
    """Fit an encoder, without its warnings of constant columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BooleanEncoder(**options).fit(X, y)


def in_batches(X, y, options, *, n=3):
    encoder = BooleanEncoder(**options)
    for part in np.array_split(np.arange(len(X)), n):
        encoder.partial_fit(X.iloc[part], None if y is None else y[part])
    return encoder


def assert_alike(encoder, expected, X, bits):
    names = expected.get_feature_names_out().tolist()
    assert encoder.get_feature_names_out().tolist() == names
    np.testing.assert_array_equal(np.asarray(encoder.transform(X)), bits)


@settings(max_examples=2)
@given(seed=st.integers(0, 10**6), container=st.sampled_from(sorted(CONTAINERS)))
def test_containers_and_batches(seed, container):
    X, y, options = draw_frame(seed)
    encoder = fit(X, y, options)
    bits = encoder.transform(X).to_numpy()
    for number in range(0, len(X), 13):
        row = X.iloc[number].to_dict()
        np.testing.assert_array_equal(encoder.encode_one(row), bits[number])
    assert_alike(in_batches(X, y, options), encoder, X, bits)
    other = CONTAINERS[container](X)
    assert_alike(fit(other, y, options), encoder, other, bits)
    decoded = pd.DataFrame(encoder.inverse_transform(bits), columns=X.columns)
    decoded = decoded.astype(X.dtypes.to_dict())
    np.testing.assert_array_equal(encoder.transform(decoded), bits)


@settings(max_examples=2)
@given(seed=st.integers(0, 10**6))
def test_partitions_and_files(seed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    X, y, options = draw_frame(seed)
    encoder = fit(X, y, options)
    bits = encoder.transform(X).to_numpy()
    labels = np.zeros(len(X), dtype=int) if y is None else y
    parts = [
        (X.iloc[part], None if y is None else y[part])
        for part in np.array_split(np.arange(len(X)), 3)
    ]
    assert_alike(BooleanEncoder(**options).fit_partitions(parts), encoder, X, bits)
    X.assign(label=labels).to_parquet(folder / "X.parquet")
    of_file = BooleanEncoder(**options)
    table = BitTable.write(
        folder / "bits", folder / "X.parquet", encoder=of_file, label="label",
        batch_size=11,
    )  # fmt: skip
    expected = bits if y is not None else fit(X, labels, options).transform(X)
    [(found, *_)] = table.batches(len(X))
    np.testing.assert_array_equal(found, expected)


@settings(max_examples=3)
@given(st.integers(0, 10**6), st.sampled_from(["duckdb", "sqlite"]))
def test_databases(seed, database):
    of_sqlite = "numbers", "codes", "integers", "text"
    X, y, options = draw_frame(seed, KINDS if database == "duckdb" else of_sqlite)
    encoder = fit(X, y, options)
    rows = query(database, X, encoder.to_sql(dialect=database))
    np.testing.assert_array_equal(rows, encoder.transform(X).to_numpy())


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_special_codes_satisfy_no_threshold(seed):
    X, y, options = draw_frame(seed, ("numbers", "codes", "integers"))
    encoder = fit(X, y, options | {"special": CODES})
    bits = encoder.transform(X)
    for number, name in enumerate(encoder.get_feature_names_out()):
        label = encoder.feature_groups_[number]
        column, condition = X[label], name.removeprefix(label)
        kind = encoder.kinds_[X.columns.get_loc(label)]
        if kind == "boolean":
            condition = " > 0.5"
        for value, bit in zip(column, bits.iloc[:, number], strict=True):
            is_bound = condition[1] in "<>"
            if value in CODES and is_bound:
                assert not bit
            elif condition.startswith(" = "):
                assert bit == (value == float(condition[3:]))
            else:
                assert bit == condition_holds(condition, value)


def test_special_codes_that_fit_did_not_see():
    X = np.array([[-9.0], [1], [2], [3], [1], [2]])
    encoder = BooleanEncoder(special=[-9, -8], n_bins=2).fit(X)
    names = ["x0 <= 1", "x0 > 1", "x0 = -9"]
    assert encoder.get_feature_names_out().tolist() == names
    message = "holds -8.0 in 2 of 3 samples, .* a special code .* set handle_unknown"
    with pytest.warns(UserWarning, match=message):
        bits = encoder.transform([[-8], [3], [-8]])
    assert bits.tolist() == [[False] * 3, [False, True, False], [False] * 3]
    encoder.set_params(complement=False).fit(X)
    with pytest.raises(ValueError, match=r"a special code .* set complement=True"):
        encoder.transform([[-8]])
    # A code that is of another column is a number in this one.
    encoder = BooleanEncoder(special={0: [-9]}).fit(np.hstack([X, X]))
    assert encoder.transform([[-9, -9]])[0, encoder.order_ >= 0].any()


@pytest.mark.parametrize(
    ("special", "message"),
    [
        ({"c": [1]}, "special holds the column 'c', whose kind is not 'number'"),
        ({"z": [1]}, "special holds the column 'z', but the columns of X are"),
        ({"a": 5}, r"special\['a'\] must be a list of finite numbers; got 5"),
        ([np.nan], "special must be a list of finite numbers"),
        ("ab", "special must be a list of finite numbers; got 'ab'"),
    ],
)
def test_special_codes_are_checked(special, message):
    X = pd.DataFrame({"a": [1, 2, 3, 4], "c": list("abab")})
    with pytest.raises(ValueError, match=message):
        BooleanEncoder(special=special).fit(X)


def test_special_codes_are_no_changes():
    """The code is predicted to be good, but no change leads to it."""
    X = pd.DataFrame({"a": [-9.0, 1, 2, 3, 4, 5] * 5})
    model = make_pipeline(BooleanEncoder(special=[-9]), RuleClassifier(random_state=0))
    model.fit(X, (X.a > 3) | (X.a == -9))
    assert model.predict(X[:3]).tolist() == [True, False, False]
    assert counterfactuals(model, X[1:2]).values.a.item() > 3
    assert counterfactuals(model, X[:1]).values.a.item() in (1, 2, 3)
