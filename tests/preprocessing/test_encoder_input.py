"""BooleanEncoder on columns and containers that a user did not prepare."""

import sqlite3
import warnings
from datetime import time
from decimal import Decimal
from enum import Enum
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from sklboolean import AveragedPerceptron, BooleanEncoder, DensityImputer
from sklboolean.preprocessing._thresholds import exceeds, shortest_between

INTEGERS = st.one_of(
    st.integers(-(2**63), 2**64 - 1),
    st.integers(2**53 - 3, 2**53 + 3),
    st.integers(2**60, 2**60 + 5),
)


# Numbers that floats merge


@pytest.mark.parametrize(
    "numbers",
    [
        2**60 + np.arange(200),
        2**63 + np.arange(200, dtype=np.uint64),
        1e16 + 2 * np.arange(200),
        2.0**53 + np.array([0, 2, 4]),
        np.array([2.0**53, 2.0**53 + 2, 1e308]),
        np.array([-1.7e308, 1.7e308]),
    ],
    ids=range(6),
)
def test_consecutive_numbers_of_any_size_are_cut_exactly(numbers):
    encoder = BooleanEncoder(n_bins=4).fit(numbers[:, None])
    thresholds = encoder.thresholds_[0].tolist()
    bits = encoder.transform(numbers[:, None])
    expected = [
        [v <= t for t in thresholds] + [v > t for t in thresholds]
        for v in numbers.tolist()
    ]
    np.testing.assert_array_equal(bits, expected)
    assert len(np.unique(bits, axis=0)) == min(len(numbers), 4)
    again = encoder.transform(encoder.inverse_transform(bits))
    np.testing.assert_array_equal(again, bits)


@given(INTEGERS, INTEGERS)
def test_a_threshold_between_integers_is_an_integer(one, other):
    low, high = sorted((one, other))
    if low < high:
        found = shortest_between(low, high)
        assert isinstance(found, int)
        assert low <= found < high


@given(
    st.lists(INTEGERS, min_size=1, max_size=5),
    st.one_of(INTEGERS, st.floats(allow_nan=False, allow_infinity=False)),
    st.sampled_from([np.int64, np.uint64, np.float64]),
)
def test_numbers_are_compared_exactly(values, threshold, dtype):
    is_float = dtype is np.float64
    limits = None if is_float else np.iinfo(dtype)
    values = [v for v in values if is_float or limits.min <= v <= limits.max]
    numbers = np.array(values, dtype=dtype)
    expected = [v > threshold for v in numbers.tolist()]
    assert exceeds(numbers, threshold).tolist() == expected


CONTAINERS = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda data: pd.DataFrame(data).convert_dtypes(),
    "pandas objects": lambda data: pd.DataFrame(data).astype(object),
    "pandas arrow": lambda data: pd.DataFrame(data).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "batch": lambda data: pa.table(data).to_batches()[0],
    "list": lambda data: [list(row) for row in zip(*data.values(), strict=True)],
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_large_identifiers_stay_apart(container):
    ids = [2**60 + k % 3 for k in range(9)]
    data = {"id": ids, "n": [0.5, 1.5, 2.5] * 3}
    X = CONTAINERS[container](data)
    first = 0 if container == "list" else "id"
    encoder = BooleanEncoder(kinds={first: "category"}, n_bins=2).fit(X)
    assert encoder.categories_[0] == (2**60, 2**60 + 1, 2**60 + 2)
    names = encoder.get_feature_names_out().tolist()
    label = "x0" if container == "list" else "id"
    assert names[:3] == [f"{label} = {level}" for level in sorted(set(ids))]
    bits = np.asarray(encoder.transform(X))[:, :3]
    np.testing.assert_array_equal(bits, np.eye(3, dtype=bool)[np.arange(9) % 3])
    numbers = BooleanEncoder().fit(X)
    assert numbers.thresholds_[0].tolist() == [2**60, 2**60 + 1]
    assert str(2**60 + 1) in numbers.get_feature_names_out()[1]


def test_large_integers_with_gaps_and_in_exports():
    X = pd.DataFrame({"id": pd.array([2**60, None, 2**60 + 1], dtype="Int64")})
    encoder = BooleanEncoder().fit(X)
    expected = [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    np.testing.assert_array_equal(encoder.transform(X), expected)
    query = f"SELECT {encoder.to_sql()} FROM X AS f"  # DuckDB finds the variable
    np.testing.assert_array_equal(duckdb.sql(query).fetchall(), expected)
    with pytest.raises(ValueError, match=r"'id', which are beyond 2\*\*53"):
        encoder.to_c()


@pytest.mark.parametrize(
    "values",
    [
        [Decimal("1" + "0" * 30 + "1"), Decimal("1" + "0" * 30 + "2")],
        [2**80, 2**80 + 1],
        [Decimal("0.1"), Decimal("0.1000000000000000000001")],
    ],
)
def test_numbers_of_too_many_digits_are_thresholds_of_floats_or_levels(values):
    X = pd.DataFrame({"price": pd.Series(values, dtype=object)})
    if isinstance(values[0], int):
        with pytest.raises(ValueError, match=r"'price' of X holds .*cannot tell apart"):
            BooleanEncoder().fit(X)
    else:
        more = pd.DataFrame({"price": [*values, Decimal(2), None]})
        encoder = BooleanEncoder(complement=False).fit(more)
        [t] = encoder.thresholds_[0]
        found = encoder.transform(more).to_numpy()[:, 0].tolist()
        assert found == [*(float(v) <= t for v in (*values, 2)), False]
    encoder = BooleanEncoder(kinds={"price": "category"}).fit(X)
    np.testing.assert_array_equal(encoder.transform(X), np.eye(2))


# Booleans


def test_only_columns_of_type_bool_insist_on_two_values():
    train = pd.DataFrame({"n": [0, 1, 0, 1], "b": [True, False, True, False]})
    encoder = BooleanEncoder().fit(train)
    assert encoder.kinds_ == ["boolean", "boolean"]
    test = pd.DataFrame({"n": [2.0, 0.25, -1, 1], "b": [True, False, False, True]})
    expected = [[1, 1], [0, 0], [0, 0], [1, 1]]
    np.testing.assert_array_equal(encoder.transform(test), expected)
    query = f"SELECT {encoder.to_sql()} FROM test AS f"
    np.testing.assert_array_equal(duckdb.sql(query).fetchall(), expected)
    with sqlite3.connect(":memory:") as base:
        test.to_sql("test", base, index=False)
        assert base.execute(query).fetchall() == [(1, 1), (0, 0), (0, 0), (1, 1)]
    with pytest.raises(ValueError, match="'b' of X holds 2, but it is Boolean"):
        encoder.transform(test.assign(b=[0, 1, 2, 1]))
    encoder = BooleanEncoder(kinds={"n": "boolean"}).fit(train)
    with pytest.raises(ValueError, match="'n' of X holds 2, but it is Boolean"):
        encoder.transform(test)


# Ordered categories

SIZES = ["small", "medium", "large", "huge"]
ORDERED = pd.CategoricalDtype(SIZES, ordered=True)


def sizes(values, dtype=ORDERED):
    return pd.DataFrame({"size": pd.Series(values, dtype=dtype)})


def as_arrow(frame):
    codes = pa.array(frame["size"].cat.codes.to_numpy(), mask=frame["size"].isna())
    column = pa.DictionaryArray.from_arrays(codes, SIZES, ordered=True)
    return pa.table({"size": column})


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: frame,
        lambda frame: pl.DataFrame(
            {
                "size": pl.Series(
                    [*frame["size"].astype(object).where(frame["size"].notna(), None)],
                    dtype=pl.Enum(SIZES),
                )
            }
        ),
        as_arrow,
    ],
)
@pytest.mark.parametrize("complement", [True, False])
def test_ordered_levels_are_cut_by_rank(convert, complement):
    values = ["medium", "small", None, "large", "small", "huge"]
    frame = sizes(values)
    encoder = BooleanEncoder(complement=complement).fit(convert(frame))
    assert encoder.kinds_ == ["ordered"]
    assert encoder.categories_ == [tuple(SIZES)]
    assert encoder.thresholds_[0].tolist() == [0, 1, 2]
    names = [f"size <= {level}" for level in SIZES[:3]]
    names += [f"size > {level}" for level in SIZES[:3]] * complement
    assert encoder.get_feature_names_out().tolist() == [*names, "size is missing"]
    ranks = [None if v is None else SIZES.index(v) for v in values]
    expected = [
        [r is not None and r <= t for t in range(3)]
        + [r is not None and r > t for t in range(3)] * complement
        + [r is None]
        for r in ranks
    ]
    for X in (convert(frame), sizes(values, dtype=object)):  # and text, by its level
        np.testing.assert_array_equal(np.asarray(encoder.transform(X)), expected)
    sparse = encoder.set_params(sparse_output=True).transform(frame)
    np.testing.assert_array_equal(sparse.toarray(), expected)
    assert encoder.inverse_transform(expected)[:, 0].tolist() == values
    query = f"SELECT {encoder.to_sql()} FROM texts AS f"
    with duckdb.connect() as base:
        base.register("texts", frame.astype(object))
        found = base.sql(query).fetchall()
    np.testing.assert_array_equal(found, expected)


def test_few_bins_of_ordered_levels_and_levels_as_thresholds():
    X = sizes(["small"] * 4 + ["large"] * 3 + ["huge"])
    encoder = BooleanEncoder(n_bins=2, complement=False)
    assert encoder.fit(X).get_feature_names_out().tolist() == ["size <= small"]
    encoder.set_params(thresholds={"size": ["medium"]})
    assert encoder.fit(X).get_feature_names_out().tolist() == ["size <= medium"]
    tree = BooleanEncoder(n_bins=2, strategy="tree", complement=False)
    more = pd.concat([X] * 5)
    tree.fit(more, more["size"] == "huge")
    assert tree.get_feature_names_out().tolist() == ["size <= large"]
    for wrong in (["huge"], ["tiny"], 3):
        with pytest.raises(ValueError, match=r"thresholds\['size'\] must be a list"):
            BooleanEncoder(thresholds={"size": wrong}).fit(X)
    with pytest.raises(ValueError, match="'size' of X has no order"):
        BooleanEncoder(kinds={"size": "ordered"}).fit(X.astype(object))
    codes = sizes([1, 2], pd.CategoricalDtype([1, 2], ordered=True))
    with pytest.raises(ValueError, match="holds 1, but its kind is 'number'"):
        BooleanEncoder(kinds={"size": "number"}).fit(codes)
    levels = BooleanEncoder(kinds={"size": "category"}).fit(X)
    assert levels.get_feature_names_out()[0] == "size = huge"


@pytest.mark.parametrize("kind", ["category", "boolean"])
def test_thresholds_of_a_kind_that_has_none_are_refused(kind):
    X = pd.DataFrame({"a": [0, 1, 0]})
    options = {"thresholds": {"a": [0.5]}, "kinds": {"a": kind}}
    with pytest.raises(ValueError, match=rf"column 'a', but kinds\['a'\] is '{kind}'"):
        BooleanEncoder(**options).fit(X)


def test_unseen_ordered_levels_satisfy_no_condition():
    encoder = BooleanEncoder().fit(sizes(["small", "large", None]))
    with pytest.warns(UserWarning, match="'size' of X holds 'giant' in 1 of 2 samples"):
        bits = encoder.transform(sizes(["giant", "small"], dtype=object))
    assert bits.to_numpy().sum(axis=1).tolist() == [0, 1]
    one_sided = BooleanEncoder(complement=False).fit(sizes(["small", "large"]))
    with pytest.raises(ValueError, match="holds 'giant'"):
        one_sided.transform(sizes(["giant"], dtype=object))
    propagating = BooleanEncoder(missing="propagate").fit(sizes(["small", "large"]))
    with pytest.warns(UserWarning, match="holds 'giant'"):
        bits = propagating.transform(sizes(["giant", None], dtype=object))
    assert np.isnan(bits.to_numpy()).all()


def test_names_of_ordered_numbers_merge_only_in_their_order():
    ascending = sizes([1, 2, 10], pd.CategoricalDtype([1, 2, 10], ordered=True))
    names = BooleanEncoder(complement=False).fit(ascending).get_feature_names_out()
    assert names.tolist() == ["size <= 1", "size <= 2"]
    grades = sizes([1, 2, 10], pd.CategoricalDtype([10, 2, 1], ordered=True))
    names = BooleanEncoder(complement=False).fit(grades).get_feature_names_out()
    assert names.tolist() == ["size <= '10'", "size <= '2'"]


def test_an_imputer_keeps_the_order():
    values = (["small"] * 20 + ["huge"] * 20 + [None]) * 2
    X = sizes(values).assign(weight=([1.0] * 20 + [9.0] * 21) * 2)
    filled = DensityImputer(random_state=0).fit(X).transform(X)
    assert filled["size"].dtype == ORDERED
    assert filled["size"].iloc[-1] == "huge"


# Times

DAYS = pd.to_datetime(["2020-01-01", "2021-01-01"])
TIMES = {
    "period": pd.DataFrame({"t": DAYS.to_period("M")}),
    "period objects": pd.DataFrame({"t": list(DAYS.to_period("M"))}, dtype=object),
    "categories": pd.DataFrame({"t": DAYS.astype("category")}),
    "intervals": pd.DataFrame({"t": pd.interval_range(DAYS[0], periods=2)}),
    "times": pd.DataFrame({"t": [time(1), time(2)]}),
    "polars time": pl.DataFrame({"t": [time(1), time(2)]}),
}


@pytest.mark.parametrize("case", TIMES)
def test_times_are_refused_in_words_that_name_the_way(case):
    message = "Column 't' of X holds .*to_datetime or .dt.to_timestamp"
    for options in ({}, {"kinds": {"t": "category"}}):
        with pytest.raises(ValueError, match=message):
            BooleanEncoder(**options).fit(TIMES[case])


# Levels


def test_levels_that_differ_in_blanks_or_case_are_named():
    X = pd.DataFrame({"c": ["red", "red ", "Red", "blue"] * 5})
    with pytest.warns(UserWarning, match=r"'Red' and 'red'|'red' and 'red '.*1 more"):
        encoder = BooleanEncoder().fit(X)
    BooleanEncoder(kinds={"c": "category"}).fit(X)
    with pytest.warns(UserWarning, match="but in blanks or case, 'blue'"):
        encoder.transform(pd.DataFrame({"c": [" blue"]}))


def test_many_levels_name_max_categories():
    X = pd.DataFrame({"c": [f"level {k % 500}" for k in range(5000)]})
    with pytest.warns(UserWarning, match="'c' of X has 500 categories.*max_categories"):
        BooleanEncoder().fit(X)
    BooleanEncoder(max_categories=20).fit(X)
    BooleanEncoder(kinds={"c": "category"}).fit(X)


def test_constant_columns_are_named_once():
    X = pd.DataFrame({"a": [1, 2, 3], "b": "x", "c": 5, "d": [None] * 3})
    with pytest.warns(UserWarning, match="same value") as caught:
        encoder = BooleanEncoder().fit(X)
    [warning] = caught
    assert "Columns 'b', 'c', 'd' of X have the same value" in str(warning.message)
    encoder.transform(X)
    many = pd.DataFrame({f"c{k}": [1, 1] for k in range(25)} | {"a": [1, 2]})
    with pytest.warns(UserWarning, match="Columns 'c0', .*'c19' and 5 more of X have"):
        BooleanEncoder().fit(many)


def test_a_gap_warns_once_in_the_life_of_a_fit():
    encoder = BooleanEncoder().fit(pd.DataFrame({"a": [1, 2, 3], "b": [7, 8, 9]}))
    gaps = pd.DataFrame({"a": [1, None, 3], "b": [7, None, None]})
    with pytest.warns(UserWarning, match="is missing") as caught:
        bits = encoder.transform(gaps)
    said = [str(warning.message) for warning in caught]
    assert "'a' of X is missing in sample 1, and in 1 of 3 samples" in said[0]
    assert "'b' of X is missing in sample 1, and in 2 of 3 samples" in said[1]
    again = encoder.transform(gaps)
    np.testing.assert_array_equal(again, bits)
    encoder.fit(gaps.assign(a=[1, 2, 3]))
    with pytest.warns(UserWarning, match="'a' of X is missing"):
        encoder.transform(gaps)


# Containers


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "2 columns named 'a'"),
        (pa.table([[1], [2]], names=["a", "a"]), "2 columns named 'a'"),
        (pd.DataFrame([[1, 2]], columns=["3", 3]), "2 columns named '3'"),
        (pd.DataFrame({"a": [(1,), (2,)]}), "'a' of X holds values that are neither"),
        (pd.DataFrame({"a": [{}, {}]}), "'a' of X holds values that are neither"),
        (pl.DataFrame({"a": [{"b": 1}]}), "'a' of X holds values that are neither"),
        (pa.table({"a": [{"b": 1}]}), "'a' of X holds values that are neither"),
        (pd.DataFrame({"a": [b"\xff", b"\xfe"]}), "Column 'a' of X"),
        (pd.DataFrame({"a": [1 + 2j, 3]}), "'a' of X: Complex"),
        (pl.Series([1, 2]), "Expected 2D"),
        (pd.Series([1, 2]), "Expected a 2-dimensional"),
        ({"a": [1, 2]}, "X is a dict.*DataFrame"),
        ([{"a": 1}, {"a": 2}], "X is a list of dicts.*DataFrame"),
        ([[1, 2], [3]], "rows have different lengths"),
    ],
    ids=range(14),
)
def test_containers_that_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        BooleanEncoder().fit(X)


def test_tables_that_export_arrow():
    data = {"n": [1, 2, 3], "c": ["x", "y", None]}
    expected = BooleanEncoder().fit(pd.DataFrame(data))
    query = duckdb.sql("SELECT * FROM (VALUES (1, 'x'), (2, 'y'), (3, NULL)) t(n, c)")
    table = pa.table(data)
    for make in (lambda: query, lambda: table.to_batches()[0], table.to_reader):
        encoder = BooleanEncoder().fit(make())
        names = encoder.get_feature_names_out().tolist()
        assert names == expected.get_feature_names_out().tolist()
        bits = expected.transform(pd.DataFrame(data))
        np.testing.assert_array_equal(encoder.transform(make()), bits)


def test_masked_values_are_missing():
    X = np.ma.array([[1, 5], [2, 6], [3, 7]], mask=[[0, 1], [0, 0], [0, 0]])
    encoder = BooleanEncoder(complement=False).fit(X)
    names = ["x0 <= 1", "x0 <= 2", "x1 <= 6", "x1 is missing"]
    assert encoder.get_feature_names_out().tolist() == names
    expected = [[1, 1, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(encoder.transform(X), expected)


def test_bytes_are_read_as_text():
    X = pd.DataFrame({"c": [b"red", b"blue", None]})
    encoder = BooleanEncoder().fit(X)
    assert encoder.categories_ == [("blue", "red")]
    for other in (pl.DataFrame(X), pa.table({"c": X["c"].tolist()})):
        np.testing.assert_array_equal(encoder.transform(other), encoder.transform(X))


def test_sparse_features_keep_their_names():
    X = pd.DataFrame({"n": [1, 2, 3, 4] * 5, "c": list("xxyy") * 5})
    y = X["c"] == "y"
    encoder = BooleanEncoder(sparse_output=True)
    model = make_pipeline(encoder, AveragedPerceptron(random_state=0)).fit(X, y)
    assert "c = y" in model[-1].to_text()
    assert (model.predict(X) == y).all()
    names = encoder.get_feature_names_out().tolist()
    assert model[-1].feature_names_in_.tolist() == names
    other = BooleanEncoder(sparse_output=True).fit(X.rename(columns={"c": "d"}))
    with pytest.raises(ValueError, match="feature names should match"):
        model[-1].predict(other.transform(X.rename(columns={"c": "d"})))
    half = model[0].transform(X)[:10]
    assert half.feature_names is None
    changed = model[0].transform(X)
    changed.resize((20, 2))  # in place
    assert not hasattr(clone(model[-1]).fit(changed, y), "feature_names_in_")


TEXTS = st.one_of(
    st.text(max_size=3), st.sampled_from(["a\0", "\ud800", "=", " <= 1", "x is rare"])
)
CELLS = st.one_of(
    st.none(), st.booleans(), INTEGERS, st.floats(), TEXTS, st.binary(max_size=2),
    st.just(pd.NA), st.just(np.nan), st.just(pd.NaT), st.dates(), st.datetimes(),
    st.timedeltas(), st.lists(st.sampled_from('ab'), max_size=2), st.decimals(),
    st.complex_numbers(), st.lists(st.integers(), max_size=2), st.just(np.float32(0.1)),
    st.just(float), st.tuples(st.integers()), st.just(2**70), st.just(np.str_("a")),
)  # fmt: skip
CONVERSIONS = [
    lambda frame: frame,
    lambda frame: frame.convert_dtypes(),
    lambda frame: frame.astype("category"),
    lambda frame: frame.to_numpy(),
    lambda frame: frame.to_numpy().tolist(),
    lambda frame: pl.from_pandas(frame.convert_dtypes()),
    lambda frame: pl.DataFrame(
        {str(k): pl.Series(frame[k].tolist(), dtype=pl.Object) for k in frame}
    ),
    lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
]


def test_names_that_are_no_valid_unicode_beside_numbers():
    X = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]])
    X.columns = pd.Index(["\ud800", 0], dtype=object)
    encoder = BooleanEncoder(complement=False).fit(X)
    assert encoder.get_feature_names_out().tolist() == ["\ud800 <= 2", "0 <= 3"]


@given(
    st.lists(st.one_of(TEXTS, st.integers(0, 3)), min_size=1, max_size=3),
    st.sampled_from(CONVERSIONS),
    st.data(),
)
def test_hostile_columns_are_encoded_or_refused_by_name(names, convert, data):
    n_samples = data.draw(st.integers(1, 4))
    pools = [data.draw(st.sampled_from([CELLS, INTEGERS, TEXTS])) for _ in names]
    columns = [
        data.draw(st.lists(pool, min_size=n_samples, max_size=n_samples))
        for pool in pools
    ]
    frame = pd.DataFrame({k: pd.Series(c, dtype=object) for k, c in enumerate(columns)})
    frame.columns = pd.Index(names, dtype=object)
    try:
        X = convert(frame)
    except Exception:  # not a table that anyone has
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            encoder = BooleanEncoder().fit(X)
            bits = np.asarray(encoder.transform(X))
        except ValueError as error:
            said = str(error)
            words = ("olumn", "gives no features", "named")
            assert any(word in said for word in words), said
            return
    assert bits.dtype == bool
    assert bits.shape == (n_samples, len(encoder.get_feature_names_out()))


def test_columns_of_short_floats_are_compared_as_transform_compares_them():
    X = pd.DataFrame({"x": np.array([0.1, 0.2, 0.3, 0.4] * 3, dtype=np.float32)})
    encoder = BooleanEncoder().fit(X)
    query = f"SELECT {encoder.to_sql()} FROM X AS f"  # DuckDB finds the variable
    found = np.array(duckdb.sql(query).fetchall())
    np.testing.assert_array_equal(found, encoder.transform(X))


@pytest.mark.filterwarnings("ignore:Column 'c' of X holds:UserWarning")
def test_levels_but_not_columns_may_differ_in_case_only():
    X = pd.DataFrame({"c": ["Red", "red", "blue"] * 9})
    encoder = BooleanEncoder().fit(X)
    query = f"SELECT {encoder.to_sql()} FROM X AS f"  # DuckDB finds the variable
    np.testing.assert_array_equal(duckdb.sql(query).fetchall(), encoder.transform(X))
    encoder.fit(pd.DataFrame({"n": [1, 2, 3], "N": [1, 2, 3]}))
    with pytest.raises(ValueError, match=r"differ in case only.*Rename"):
        encoder.to_sql()
    assert 'f."m" ' in encoder.to_sql(["n", "m"])
    assert 'f."N" ' in encoder.to_sql(dialect="postgresql")


class Same:
    """Objects that only equal themselves."""


@pytest.mark.parametrize(
    "level", [object(), Same(), Same, 1j, np.complex64(1), memoryview(b"a")]
)
@pytest.mark.parametrize("convert", [pd.DataFrame, lambda d: np.array([d["a"]], "O").T])
def test_objects_that_equal_only_themselves_are_no_levels(level, convert):
    X = convert({"a": ["x", level, "y"]})
    name = "a" if hasattr(X, "columns") else 0
    with pytest.raises(ValueError, match=f"Column {name!r} of X holds values that are"):
        BooleanEncoder().fit(X)
    with pytest.raises(ValueError, match=f"Column {name!r} of X holds values that are"):
        BooleanEncoder().fit(convert({"a": ["x", "z", "y"]})).transform(X)


def test_values_that_compare_are_levels():
    colors = Enum("Color", ["RED", "BLUE"])
    X = pd.DataFrame({"id": [UUID(int=7), UUID(int=8)], "color": [*colors]})
    encoder = BooleanEncoder().fit(X)
    assert encoder.get_feature_names_out()[2:].tolist() == [
        "color = Color.BLUE",
        "color = Color.RED",
    ]
    same = pd.DataFrame({"id": [UUID(int=7), UUID(int=8)], "color": [*colors]})
    assert encoder.transform(same).to_numpy().sum() == 4


def test_halves_of_surrogates_are_written_as_valid_unicode():
    X = pd.DataFrame({"a": ["\ud800", "b", "\ud800"]}, dtype=object)
    encoder = BooleanEncoder().set_output(transform="polars").fit(X)
    features = encoder.transform(X)
    assert features.columns == ["a = b", "a = \\ud800"]
    assert features["a = \\ud800"].to_list() == [True, False, True]
    with pytest.raises(ValueError, match=r"Column 'a': .* in SQL: .*surrogate"):
        encoder.to_sql()


@pytest.mark.parametrize(
    ("names", "texts"),
    [
        ([2023, 2024], ["2023", "2024"]),
        ([2023, "note"], ["2023", "note"]),
        (
            pd.MultiIndex.from_tuples([("sales", 2023), ("sales", 2024)]),
            ["sales_2023", "sales_2024"],
        ),
        (
            pd.to_datetime(["2023-01-01", "2024-01-01"]),
            ["2023-01-01 00:00:00", "2024-01-01 00:00:00"],
        ),
    ],
)
def test_names_that_are_not_text_are_kept_as_text(names, texts):
    X = pd.DataFrame([[1.0, 5], [2, 6], [3, 7], [4, 9]])
    X.columns = names
    encoder = BooleanEncoder(thresholds={X.columns[0]: [2]}, complement=False).fit(X)
    assert encoder.feature_names_in_.tolist() == texts
    assert encoder.get_feature_names_out()[0] == f"{texts[0]} <= 2"
    features = encoder.transform(X)
    assert features.iloc[:, 0].tolist() == [True, True, False, False]
    for k in range(4):
        row = encoder.encode_one(X.iloc[k])
        np.testing.assert_array_equal(row, features.iloc[k])
    with pytest.raises(ValueError, match="order"):
        encoder.transform(X[X.columns[::-1]])
    counted = BooleanEncoder().fit(pd.DataFrame(X.to_numpy()))
    assert counted.get_feature_names_out()[0] == "x0 <= 1"
    X.columns = [1, "1"]
    with pytest.raises(ValueError, match="2 columns named '1'"):
        encoder.fit(X)


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("later", [["late", None], [3.5, None], [True, None]])
def test_a_column_without_a_value_takes_any_later(convert, later):
    train = convert({"note": [None] * 4, "n": [1, 2, 3, 4]})
    with pytest.warns(UserWarning, match="'note' of X has the same value"):
        encoder = BooleanEncoder(complement=False).fit(train)
    assert encoder.kinds_ == ["unknown", "number"]
    names = encoder.get_feature_names_out().tolist()
    place = names.index("note is missing")
    bits = np.asarray(encoder.transform(convert({"note": later, "n": [1, 2]})))
    assert bits[:, place].tolist() == [False, True]
    for value, is_missing in zip(later, (False, True), strict=True):
        assert encoder.encode_one({"note": value, "n": 1})[place] == is_missing
    assert encoder.inverse_transform(bits)[:, 0].tolist() == [None, None]


@pytest.mark.parametrize("strategy", ["quantile", "tree", "monotone"])
def test_labels_in_a_column_are_those_in_a_list(strategy):
    X = pd.DataFrame({"n": np.arange(60)})
    y = pd.DataFrame({"y": np.where(X["n"] < 23, "a", "b")})
    encoder = BooleanEncoder(strategy=strategy, complement=False)
    expected = encoder.fit(X, y["y"]).get_feature_names_out().tolist()
    assert "n <= 22" in expected
    for labels in (y, y.to_numpy(), (y == "b").to_numpy(dtype=int)):
        assert encoder.fit(X, labels).get_feature_names_out().tolist() == expected
    if strategy != "quantile":
        with pytest.raises(ValueError, match="y should be a 1d array"):
            encoder.fit(X, np.column_stack([X, X]))


@pytest.mark.parametrize("name", ["n_bins", "min_frequency"])
def test_another_word_than_auto_is_an_error(name):
    with pytest.raises(ValueError, match=f'{name} must be "auto" or a number'):
        BooleanEncoder(**{name: "Auto"}).fit([[1], [2]])


def test_identifiers_are_left_out_and_rare_levels_are_shared():
    n_samples = 100_000
    X = pd.DataFrame({
        "id": [f"C{k}" for k in range(n_samples)],
        "shop": [f"S{min(k, 60) if k % 2 else k}" for k in range(n_samples)],
        "n": np.arange(n_samples) % 2,
    })  # fmt: skip
    with pytest.warns(UserWarning, match="Column 'id' of X: no level has 5 samples"):
        encoder = BooleanEncoder().fit(X)
    assert encoder.kinds_ == ["unknown", "category", "boolean"]
    assert encoder.get_feature_names_out().tolist() == [
        "shop = S60",
        "shop is rare",
        "n",
    ]
    assert encoder.encode_one({"id": "new", "shop": "S2", "n": 1}).tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match="gives no features"):
        BooleanEncoder().fit(X[["id"]][:400])
    kept = BooleanEncoder(kinds={"id": "category"}, min_frequency=None).fit(
        X[["id", "n"]][:40]
    )
    assert len(kept.categories_[0]) == 40


def test_folds_of_a_cross_validation_do_not_warn():
    X = pd.DataFrame({"rare": [1] + [0] * 19, "n": range(20), "c": list("abcde") * 4})
    X.loc[7, "n"] = np.nan
    X.loc[3, "c"] = "new"
    y = np.arange(20) % 2
    model = make_pipeline(BooleanEncoder(), LogisticRegression())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_val_score(model, X, y, cv=4)
        CalibratedClassifierCV(model, cv=2).fit(X, y)
    with pytest.warns(UserWarning, match="'rare' of X has the same value"):
        model.fit(X[1:], y[1:])
