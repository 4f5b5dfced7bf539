"""Dates, durations and lists of tags become conditions that mean what they say."""

import pickle
import re
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

from sklboolean import BooleanEncoder, RuleClassifier
from sklboolean.io import BitTable
from tests.oracles.preprocessing import date_condition

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

BERLIN = timezone(timedelta(hours=1))


def stamps(n_samples, seed=0):
    """Draw dates of 20 years; some are leap days, ends of years or missing."""
    rng = np.random.default_rng(seed)
    first = np.datetime64("1995-01-01", "us")
    dates = first + rng.integers(0, 20 * 365 * 86400 * 10**6, n_samples)
    dates[::7] = np.datetime64("2004-02-29T23:59:59.999999") + rng.integers(0, 2, 1)
    dates[::11] = np.datetime64("1999-12-31T23:59:59")
    dates[::13] = np.datetime64("NaT")
    return dates


def frame(n_samples=300, seed=0):
    dates = stamps(n_samples, seed)
    rng = np.random.default_rng(seed + 1)
    waits = rng.integers(0, 10**12, n_samples).astype("m8[us]")
    return pd.DataFrame({"when": dates, "end": dates + waits, "wait": waits})


def names_of(encoder):
    return encoder.get_feature_names_out().tolist()


# What the conditions mean


@settings(max_examples=15)
@given(
    st.lists(
        st.none() | st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)), min_size=3
    ).filter(lambda dates: len(set(dates) - {None}) > 1),
    st.sampled_from([None, UTC, BERLIN]),
    st.integers(2, 5),
)
def test_conditions_are_those_that_python_finds(dates, zone, n_bins):
    dates = [d and d.replace(tzinfo=zone) for d in dates]
    X = pd.DataFrame({"when": pd.Series(dates, dtype=object)})
    encoder = BooleanEncoder(n_bins=n_bins).fit(X)
    expected = [[date_condition(n, d) for n in names_of(encoder)] for d in dates]
    np.testing.assert_array_equal(encoder.transform(X), expected)
    for value, bits in zip(dates, expected, strict=True):
        assert encoder.encode_one([value]).tolist() == bits


def test_each_distinct_date_is_told_apart_and_thresholds_are_round():
    days = pd.to_datetime(["2023-11-07", "2024-02-20", "2024-03-09", "2031-08-01"])
    encoder = BooleanEncoder(complement=False).fit(pd.DataFrame({"when": days}))
    assert names_of(encoder)[:3] == [
        "when <= 2024-01-01", "when <= 2024-03-01", "when <= 2027-01-01",
    ]  # fmt: skip
    assert encoder.thresholds_[0].dtype == "M8[us]"
    assert encoder.kinds_ == ["date"]
    assert not any("hour" in name for name in names_of(encoder))
    near = pd.to_datetime(["2024-03-01 10:00:00.000001", "2024-03-01 10:00:00.000002"])
    encoder = BooleanEncoder().fit(pd.DataFrame({"when": near}))
    assert names_of(encoder)[0] == "when <= 2024-03-01 10:00:00.000001"
    assert encoder.transform(pd.DataFrame({"when": near})).iloc[:, 0].tolist() == [1, 0]


def test_nanoseconds_are_compared_exactly():
    times = np.arange("2024-01-01", "2024-01-09", dtype="M8[D]").astype("M8[ns]")
    X = pd.DataFrame({"when": times})
    encoder = BooleanEncoder(thresholds={"when": ["2024-01-01"]}).fit(X)
    later = pd.DataFrame({"when": times[:1] + np.timedelta64(1, "ns")})
    assert encoder.transform(later).iloc[0, :2].tolist() == [False, True]
    before = pd.DataFrame({"when": times[:1] - np.timedelta64(1, "ns")})
    bits = dict(zip(names_of(encoder), encoder.encode_one(before.iloc[0]), strict=True))
    assert bits["when <= 2024-01-01"]
    assert not bits["when weekday = Monday"]


def test_durations_are_days():
    waits = pd.to_timedelta([0.25, 1, 2.5, 40], unit="D")
    X = pd.DataFrame({"wait": waits})
    encoder = BooleanEncoder(complement=False).fit(X)
    assert names_of(encoder) == ["wait <= 0.6", "wait <= 2", "wait <= 20"]
    assert encoder.thresholds_[0].tolist() == [0.6, 2, 20]
    encoder.set_params(thresholds={"wait": [1, 0.04]}).fit(X)
    assert names_of(encoder) == ["wait <= 0.04", "wait <= 1"]
    np.testing.assert_array_equal(
        encoder.transform(X), [[0, 1], [0, 1], [0, 0], [0, 0]]
    )
    values = encoder.inverse_transform([[1, 1], [0, 1], [0, 0]])
    np.testing.assert_array_equal(
        encoder.transform(pd.DataFrame({"wait": values[:, 0]})),
        [[1, 1], [0, 1], [0, 0]],
    )


def test_a_planted_rule_is_found():
    rng = np.random.default_rng(0)
    days = pd.to_datetime("2015-01-01") + pd.to_timedelta(
        rng.integers(0, 3650, 4000), "D"
    )
    X = pd.DataFrame({"when": days, "other": rng.normal(size=4000)})
    is_planted = (days.month == 12) & (days.day_of_week == 0)
    y = np.where(is_planted | (X.other > 1), "yes", "no")
    model = make_pipeline(BooleanEncoder(), RuleClassifier(random_state=0)).fit(X, y)
    rules = model[-1].to_text().splitlines()
    assert "yes if when month = 12 and when weekday = Monday" in rules


# Every container, batches, one row


CONTAINERS = {
    "seconds": lambda X: X.astype({"when": "M8[s]", "end": "M8[s]", "wait": "m8[s]"}),
    "nanoseconds": lambda X: X.astype(
        {"when": "M8[ns]", "end": "M8[ns]", "wait": "m8[ns]"}
    ),
    "objects": lambda X: X.astype(object),
    "polars": pl.from_pandas,
    "arrow": lambda X: pa.Table.from_pandas(X, preserve_index=False),
    "pandas of arrow": lambda X: X.convert_dtypes(dtype_backend="pyarrow"),
    "zoned": lambda X: X.assign(when=X.when.dt.tz_localize("UTC")),
    "another zone": lambda X: X.assign(
        when=X.when.dt.tz_localize("UTC").dt.tz_convert("America/New_York")
    ),
    "zoned polars": lambda X: pl.from_pandas(X).with_columns(
        pl.col("when").dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")
    ),
}


@pytest.mark.parametrize("case", CONTAINERS)
def test_containers_give_the_same_bits(case):
    X = frame()
    if case == "seconds":
        X = X.astype({"when": "M8[s]", "end": "M8[s]", "wait": "m8[s]"}).astype(
            {"when": "M8[us]", "end": "M8[us]", "wait": "m8[us]"}
        )
    expected = BooleanEncoder().fit(X)
    other = CONTAINERS[case](X)
    encoder = BooleanEncoder().fit(other)
    assert names_of(encoder) == names_of(expected)
    np.testing.assert_array_equal(encoder.transform(other), expected.transform(X))
    one = (
        other[3:4]
        if hasattr(other, "get_columns")
        else other.slice(3, 1)
        if hasattr(other, "column_names")
        else other.iloc[[3]]
    )
    np.testing.assert_array_equal(encoder.transform(one), expected.transform(X[3:4]))


def test_dates_of_polars_and_arrow_without_a_time_of_day():
    days = [date(2020, 2, 29), None, date(1969, 12, 31), date(2024, 1, 1)]
    X = pd.DataFrame({"when": pd.Series(days, dtype="M8[s]")})
    expected = BooleanEncoder().fit(X)
    others = [
        pl.DataFrame({"when": days}), pa.table({"when": days}),
        pa.table({"when": pa.array(days, pa.date64())}), np.array(X, "M8[D]"),
        pd.DataFrame({"when": days}, dtype=object),
        pd.DataFrame({"when": days}, dtype=pd.ArrowDtype(pa.date32())),
    ]  # fmt: skip
    for other in others:
        encoder = BooleanEncoder().fit(other)
        np.testing.assert_array_equal(encoder.transform(other), expected.transform(X))


def test_batches_partitions_and_pickles_give_the_same_bits():
    X = frame().assign(end=frame().end.dt.tz_localize("UTC"))
    X.loc[:50, "wait"] = pd.NaT
    whole = BooleanEncoder(reference={"when": "2000-01-01"}).fit(X)
    parts = [X[:40], X[40:200], X[200:]]
    batches = BooleanEncoder(reference={"when": "2000-01-01"})
    for part in parts:
        batches.partial_fit(part)
    partitions = BooleanEncoder(reference={"when": "2000-01-01"}).fit_partitions(parts)
    sparse = BooleanEncoder(reference={"when": "2000-01-01"}, sparse_output=True).fit(X)
    expected = whole.transform(X)
    for other in (batches, partitions, pickle.loads(pickle.dumps(whole))):
        assert names_of(other) == names_of(whole)
        np.testing.assert_array_equal(other.transform(X), expected)
    np.testing.assert_array_equal(sparse.transform(X).toarray(), expected)
    for sample in range(0, len(X), 29):
        for encoder in (whole, batches):
            bits = encoder.encode_one(X.iloc[sample].to_dict())
            np.testing.assert_array_equal(bits, expected.iloc[sample])


def test_files_give_the_same_bits(tmp_path):
    X = frame().assign(tags=[["a"] * (k % 3) for k in range(300)], y=np.arange(300) % 2)
    X.assign(zoned=X.when.dt.tz_localize("UTC")).to_parquet(tmp_path / "X.parquet")
    expected = BooleanEncoder(reference={"end": "when"})
    X = pd.read_parquet(tmp_path / "X.parquet")
    bits = expected.fit_transform(X.drop(columns="y"), X.y)
    encoder = BooleanEncoder(reference={"end": "when"})
    table = BitTable.write(
        tmp_path / "bits", tmp_path / "X.parquet", encoder=encoder, label="y",
        batch_size=70,
    )  # fmt: skip
    [(found, *_)] = table.batches(300)
    np.testing.assert_array_equal(found, bits)
    assert table.feature_names.tolist() == bits.columns.tolist()


def test_a_batch_without_a_known_value_has_no_type():
    X = frame()
    empty = pd.DataFrame({name: [None] * 5 for name in X}, dtype=object)
    first = BooleanEncoder().partial_fit(empty).partial_fit(X)
    last = BooleanEncoder().partial_fit(X).partial_fit(empty)
    assert names_of(first) == names_of(last)
    assert (
        not last.transform(empty)
        .drop(columns=[n for n in names_of(last) if "missing" in n])
        .to_numpy()
        .any()
    )


# Back to dates


@settings(max_examples=4)
@given(st.integers(0, 10**6), st.integers(2, 6), st.booleans(), st.booleans())
def test_decoded_dates_satisfy_the_same_conditions(seed, n_bins, complement, is_zoned):
    X = frame(60, seed)[["when", "wait"]]
    if is_zoned:
        X["when"] = X.when.dt.tz_localize("UTC")
    encoder = BooleanEncoder(
        n_bins=n_bins, complement=complement,
        reference={"when": "2001-09-09"} if seed % 2 else None,
    ).fit(X)  # fmt: skip
    bits = encoder.transform(X)
    decoded = pd.DataFrame(encoder.inverse_transform(bits), columns=X.columns)
    assert decoded.isna().equals(X.isna())
    np.testing.assert_array_equal(encoder.transform(decoded), bits)


def test_conditions_that_no_date_satisfies_keep_their_interval():
    X = frame()[["when"]]
    encoder = BooleanEncoder(n_bins=3, complement=False).fit(X)
    bits = np.ones((1, len(encoder.order_)))
    bits[0, :3] = [False, True, False]
    [[value]] = encoder.inverse_transform(bits)
    low, high = encoder.thresholds_[0]
    assert low < value <= high


# Days between


def test_days_since_a_column():
    X = frame().assign(number=np.arange(300.0))
    encoder = BooleanEncoder(n_bins=3, reference={"end": "when"}).fit(X)
    days = (X.end - X.when) / pd.Timedelta(1, "D")
    for name, bits in encoder.transform(X).items():
        if match := re.fullmatch(r"days from when to end (<=|>) (.*)", name):
            bound = float(match[2])
            expected = days <= bound if match[1] == "<=" else days > bound
            np.testing.assert_array_equal(bits, expected)
    assert sum("days from when to end" in name for name in names_of(encoder)) == 5
    for sample in (0, 1, 2):
        np.testing.assert_array_equal(
            encoder.encode_one(X.iloc[sample].to_dict()),
            encoder.transform(X).iloc[sample],
        )
    decoded = encoder.inverse_transform(encoder.transform(X))
    between = pd.to_timedelta(decoded[:, 1] - decoded[:, 0]) / pd.Timedelta(1, "D")
    low, high = encoder.thresholds_[1]
    known = days.notna()
    np.testing.assert_array_equal((between <= low)[known], (days <= low)[known])
    np.testing.assert_array_equal((between > high)[known], (days > high)[known])


def test_lists_of_rare_tags_are_left_out_with_a_warning():
    tags = [[f"{k % 40}"] for k in range(120)]
    X = pd.DataFrame({"tags": tags, "n": range(120)})
    with pytest.warns(
        UserWarning, match="'tags' of X: all tags are rare.*min_frequency"
    ):
        encoder = BooleanEncoder().fit(X)
    assert {*encoder.feature_groups_} == {"n"}
    kept = BooleanEncoder(min_frequency=1).fit(X)
    assert [*kept.feature_groups_].count("tags") == 40
    # Five samples of each are enough, and two of at most 32 tags.
    assert "tags has 39" in names_of(BooleanEncoder().fit(pd.concat([X, X])))
    few = pd.concat([X[:32], X[:32]])
    assert "tags has 31" in names_of(BooleanEncoder().fit(few))


def test_columns_of_arrays_are_measured_from_each_other():
    X = frame()[["when", "end"]]
    expected = BooleanEncoder(reference={"end": "when"}).fit(X)
    encoder = BooleanEncoder(reference={1: 0}).fit_partitions(
        [X[:150].to_numpy("M8[us]"), X[150:].to_numpy("M8[us]")]
    )
    names = [n.replace("when", "x0").replace("end", "x1") for n in names_of(expected)]
    assert names_of(encoder) == names
    bits = expected.transform(X)
    for unit in ("us", "ns"):
        values = X.to_numpy(f"M8[{unit}]")
        np.testing.assert_array_equal(encoder.transform(values), bits)
        np.testing.assert_array_equal(encoder.transform(values[5:6]), bits[5:6])
    np.testing.assert_array_equal(encoder.encode_one(X.loc[5].to_list()), bits.loc[5])


# Tags


TAGS = [["a", "b"], [], None, ["b", "b"], ["c", "a"], ["b"], ["rare"]]


@pytest.mark.parametrize(
    "convert",
    [
        lambda tags: pd.DataFrame({"tags": pd.Series(tags, dtype=object)}),
        lambda tags: pd.DataFrame({"tags": pd.Series(
            [None if t is None else set(t) for t in tags], dtype=object)}),
        lambda tags: pd.DataFrame({"tags": pd.Series(
            [None if t is None else np.array(t, str) for t in tags], dtype=object)}),
        lambda tags: pl.DataFrame({"tags": tags}),
        lambda tags: pa.table({"tags": tags}),
    ],
)  # fmt: skip
def test_tags(convert):
    X = convert(TAGS)
    encoder = BooleanEncoder().fit(X)
    assert names_of(encoder) == ["tags is missing", "tags has a", "tags has b"]
    expected = [
        [tags is None, "a" in (tags or []), "b" in (tags or [])] for tags in TAGS
    ]
    np.testing.assert_array_equal(encoder.transform(X), expected)
    batches = BooleanEncoder()
    for part in (TAGS[:2], TAGS[2:]):
        batches.partial_fit(convert(part))
    np.testing.assert_array_equal(batches.transform(X), expected)
    for tags, bits in zip(TAGS, expected, strict=True):
        np.testing.assert_array_equal(encoder.encode_one({"tags": tags}), bits)
    decoded = encoder.inverse_transform(np.array(expected))[:, 0].tolist()
    assert decoded == [["a", "b"], [], None, ["b"], ["a"], ["b"], []]
    with pytest.warns(UserWarning, match="'tags' of X holds 'new'.* in 1 of 2 samples"):
        encoder.transform(convert([["new", "a"], ["a"]]))
    with pytest.raises(ValueError, match="'tags' of X holds 'new'"):
        BooleanEncoder(handle_unknown="error").fit(X).transform(convert([["new"]]))
    kept = BooleanEncoder(max_categories=2).fit(X)
    assert names_of(kept)[1:] == ["tags has b"]


# Bad input


DAYS = pd.to_datetime(["2020-01-01", "2021-01-01"])


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([DAYS[0], DAYS[1].tz_localize("UTC")], {}, r"'t'.*no time zone.*utc=True"),
        ([date(2020, 1, 1), "2021-01-01"], {}, "'t' of X holds .*beside other values"),
        ([date(2020, 1, 1), 7], {}, "'t' of X holds .*beside other values"),
        (np.array(["400000-01-01", "2000"], "M8[s]"), {}, "'t'.*290000 years from"),
        (DAYS, {"kinds": {"t": "category"}}, "kinds holds the column 't'.*dates"),
        (DAYS - DAYS[0], {"kinds": {"t": "number"}}, "kinds .* 't'.*durations"),
        (DAYS, {"thresholds": {"t": ["soon"]}}, r"thresholds\['t'\] must hold dates"),
        (DAYS - DAYS[0], {"thresholds": {"t": ["a"]}}, r"thresholds\['t'\].*numbers"),
        (DAYS, {"reference": {"t": "soon"}}, r"reference\['t'\].*another column"),
        (DAYS, {"reference": {"u": "2020-01-01"}}, "reference holds the column 'u'"),
        (DAYS, {"reference": "2020-01-01"}, "reference must be a dict"),
        ([1.0, 2.0], {"reference": {"t": "2020-01-01"}}, r"reference.*'t'.*numbers"),
        ([["a"], [1]], {}, "Column 't' of X holds values that are neither"),
        ([["a"], "b"], {}, "Column 't' of X holds values that are neither"),
        ([["a"], ["b"]], {"thresholds": {"t": [1]}}, "thresholds .*'t'.* lists"),
    ],
    ids=range(15),
)  # fmt: skip
def test_bad_input_names_the_column_and_the_way(values, options, message):
    X = pd.DataFrame({"t": values})
    with pytest.raises(ValueError, match=message):
        BooleanEncoder(**options).fit(X)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2]])
def test_columns_are_measured_from_measured_ones(order):
    rng = np.random.default_rng(0)
    days = pd.to_timedelta(rng.integers(0, 300, (3, 40)).ravel(), "D").to_numpy()
    days = np.datetime64("2020-01-01") + days.reshape(3, 40).cumsum(axis=0)
    X = pd.DataFrame(dict(zip("abc", days, strict=True))).iloc[:, order]
    encoder = BooleanEncoder(n_bins=40, reference={"c": "b", "b": "a"}).fit(X)
    decoded = pd.DataFrame(encoder.inverse_transform(encoder.transform(X)), X.index)
    between = decoded[[order.index(k) for k in range(3)]].astype("M8[us]").diff(axis=1)
    for number, name in enumerate("bc", start=1):
        thresholds = encoder.thresholds_[order.index(number)]
        found = between.iloc[:, number] / pd.Timedelta(1, "D")
        expected = (X[name] - X["abc"[number - 1]]) / pd.Timedelta(1, "D")
        np.testing.assert_array_equal(
            np.searchsorted(thresholds, found), np.searchsorted(thresholds, expected)
        )


@pytest.mark.parametrize("reference", [{"a": "a"}, {"a": "b", "b": "a"}])
def test_columns_cannot_be_measured_from_each_other(reference):
    X = pd.DataFrame({"a": ["2024-01-01", "2024-03-01"]}, dtype="M8[us]").assign(
        b=lambda X: X["a"]
    )
    with pytest.raises(ValueError, match=r"measures the column '[ab]' from '[ab]'"):
        BooleanEncoder(reference=reference).fit(X)


def test_reference_columns_must_hold_dates():
    X = frame().assign(number=1.0, zoned=frame().end.dt.tz_localize("UTC"))
    for other, what in [
        ("number", "numbers"),
        ("wait", "durations"),
        ("zoned", "zone"),
    ]:
        with pytest.raises(
            ValueError, match=f"'{other}' of X holds .*{what}.*reference.*'when'"
        ):
            BooleanEncoder(reference={"when": other}).fit(X)


def test_other_types_than_in_fit_are_errors():
    X = frame()[["when"]]
    encoder = BooleanEncoder().fit(X)
    others = [
        X.when.dt.tz_localize("UTC"), X.when.astype(str), X.when.astype("int64"),
        X.when - X.when[1],
    ]  # fmt: skip
    for other in others:
        other = pd.DataFrame({"when": other})
        with pytest.raises(
            ValueError, match=r"'when' of X holds .*in fit dates without"
        ):
            encoder.transform(other)
        with pytest.raises(
            ValueError, match=r"'when' of X holds .*in fit dates without"
        ):
            encoder.encode_one(other.iloc[1])
        with pytest.raises(ValueError, match=r"'when' of X holds .*in another batch"):
            BooleanEncoder().partial_fit(X).partial_fit(other)
    with pytest.raises(ValueError, match=r"pandas.to_datetime"):
        encoder.encode_one({"when": "2024-01-01"})


def test_a_month_and_a_gap_that_fit_did_not_see():
    days = pd.date_range("2024-01-01", "2024-03-31")
    encoder = BooleanEncoder().fit(pd.DataFrame({"when": days}))
    later = pd.DataFrame({"when": pd.to_datetime(["2024-04-01", None])})
    with pytest.warns(UserWarning, match="'when") as record:
        bits = encoder.transform(later)
    assert [str(w.message)[:45] for w in record] == [
        "Column 'when' of X is missing in sample 1, an",
        "Column 'when month' of X holds 4 in 1 of 2 sa",
    ]
    assert not bits.filter(like="month").to_numpy().any()
    with pytest.raises(ValueError, match="'when' of X is missing"):
        BooleanEncoder(complement=False).fit(pd.DataFrame({"when": days})).transform(
            later
        )


# Labels, weights, fine thresholds


def labelled(n_samples=400):
    X = frame(n_samples).assign(
        tags=[
            ["a"] * (k % 3) + ["b"] * (k % 2) + ["c"] * (k == 9)
            for k in range(n_samples)
        ]
    )
    return X, (X.when < "2003-02-03").to_numpy()


def test_cuts_by_labels_find_the_date():
    X, y = labelled(200)
    encoder = BooleanEncoder(strategy="tree", n_bins=2, complement=False).fit(X, y)
    last, first = X.when[y].max(), X.when[~y].min()
    assert last <= encoder.thresholds_[0][0] < first


@pytest.mark.parametrize("reference", [None, {"when": "2000-01-01", "end": "when"}])
def test_weights_are_copies(reference):
    X, y = labelled(200)
    weights = np.arange(200) % 3
    copies = np.repeat(np.arange(200), weights)
    encoder = BooleanEncoder(reference=reference)
    encoder.fit(X, y, sample_weight=weights)
    expected = BooleanEncoder(reference=reference).fit(X.iloc[copies], y[copies])
    assert names_of(encoder) == names_of(expected)
    assert ("tags has c" in names_of(encoder)) == (weights[9] > 1)


def test_an_ensemble_sees_finer_thresholds_of_dates():
    X, y = labelled()
    encoder = BooleanEncoder(n_bins=4)
    is_coarse = encoder._fit_finely(X, y, None, 32)
    coarse = names_of(BooleanEncoder(n_bins=4).fit(X, y))
    assert np.array(names_of(encoder))[is_coarse].tolist() == coarse
    fine = [name for name in names_of(encoder) if "when <=" in name]
    assert len(fine) > 20
    assert len([name for name in coarse if "when <=" in name]) == 3
