"""Dates, durations and tags in databases, and in explanations."""

import numpy as np
import pytest
from databases import DATABASES, query
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline

from sklboolean import BooleanEncoder, ConjunctionLogisticRegression
from sklboolean.inspection import counterfactuals, robustness, shapley_values
from sklboolean.rules import Rule

pd = pytest.importorskip("pandas")
DAY = pd.Timedelta(1, "D")


def dates_frame(seed, n_samples, unit="us"):
    """Draw dates of 30 years: leap days, ends of years, gaps, and a zone."""
    rng = np.random.default_rng(seed)
    scale = int(np.timedelta64(1, "s") / np.timedelta64(1, unit))
    when = rng.integers(-10 * 365 * 86400, 20 * 365 * 86400, n_samples) * scale
    when = (when + rng.integers(0, scale, n_samples)).astype(f"M8[{unit}]")
    when[::17] = np.datetime64("2000-02-29T23:59:59")
    when[::19] = np.datetime64("1999-12-31T23:59:59")
    when[::23] = np.datetime64("1970-01-01")
    when[::29] = np.datetime64("NaT")
    wait = rng.integers(-(10**6), 10**7, n_samples) * scale
    wait = wait.astype(f"m8[{unit}]")
    X = pd.DataFrame({"when": when, "the end": when + wait, "day": when, "wait": wait})
    X["day"] = X["day"].dt.floor("D")
    X["zoned"] = X["when"].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    X.loc[::31, "wait"] = pd.NaT
    return X


def check_in_sql(database, n_samples):
    unit = {"sqlite": "ms", "duckdb": "ns", "postgresql": "us"}[database]
    X = dates_frame(0, n_samples, unit)
    encoder = BooleanEncoder(
        n_bins=6, reference={"the end": "when", "day": "1999-12-31"}
    ).fit(X)  # fmt: skip
    new = dates_frame(1, n_samples, unit)
    # Thresholds themselves are the hardest values.
    new.loc[:4, "when"] = new.loc[:4, "the end"] = encoder.thresholds_[0]
    table = new.assign(zoned=new["zoned"].dt.tz_convert("Asia/Tokyo"))
    if database == "sqlite":
        table["wait"] = new["wait"] / DAY
    found = query(database, table, encoder.to_sql(dialect=database))
    np.testing.assert_array_equal(found, encoder.transform(new))
    assert "days from when to the end" in str(encoder.get_feature_names_out())
    # A table with other names, also of the column from which others are measured.
    names = [f"column {name}" for name in table]
    code = encoder.to_sql(names, dialect=database)
    assert query(database, table.set_axis(names, axis=1), code) == found


@pytest.mark.parametrize("database", DATABASES)
def test_dates_in_sql(database):
    check_in_sql(database, 300)


@pytest.mark.slow
@pytest.mark.parametrize("database", DATABASES)
def test_many_dates_in_sql(database):
    check_in_sql(database, 10_000)


def test_days_since_another_column_read_it_under_its_name_in_the_table():
    # A constant column has no condition, but others are measured from it.
    day = pd.to_timedelta(np.arange(12), "D")
    X = pd.DataFrame({"start": pd.Timestamp("2024-01-31"), "end": day})
    X["end"] += X["start"]
    named = BooleanEncoder(reference={"end": "start"}).fit(X)
    assert {*named.feature_groups_} == {"end"}
    # Of two encoders of arrays each numbers its columns from 0.
    numbered = BooleanEncoder(reference={1: 0})
    both = ColumnTransformer([("a", numbered, [0, 1]), ("b", numbered, [1, 0])])
    names = ["first day", "last day"]
    for encoder, data in ((named, X), (numbered, X.to_numpy()), (both, X.to_numpy())):
        bits = np.asarray(encoder.fit_transform(data))
        conditions = [
            Rule(((j, True),), 1.0, 1.0).to_sql(
                names, encoder=encoder, dialect="duckdb"
            )
            for j in range(bits.shape[1])
        ]
        found = query("duckdb", X.set_axis(names, axis=1), ", ".join(conditions))
        np.testing.assert_array_equal(found, bits)
    with pytest.raises(ValueError, match="both called 'day'"):
        named.to_sql(["day", "day"], dialect="duckdb")


def test_databases_that_differ_must_be_named():
    X = dates_frame(0, 50)
    for dialect in (None, "mysql"):
        with pytest.raises(ValueError, match=r"dates and durations.*duckdb"):
            BooleanEncoder().fit(X).to_sql(dialect=dialect)


TAGS = pd.DataFrame(
    {"tags": [["a", "it's"], [], None, ["it's"], ["a"], ["b", "b"]] * 3}
)


@pytest.mark.parametrize("database", ["duckdb", "postgresql"])
def test_tags_in_sql(database):
    encoder = BooleanEncoder().fit(TAGS)
    found = query(database, TAGS, encoder.to_sql(dialect=database))
    np.testing.assert_array_equal(found, encoder.transform(TAGS))


def test_tags_are_refused_where_there_are_no_lists():
    encoder = BooleanEncoder().fit(TAGS)
    with pytest.raises(ValueError, match=r"lists: .*\['duckdb', 'postgresql'\]"):
        encoder.to_sql(dialect="sqlite")
    with pytest.raises(ValueError, match="'tags' of X holds lists, which to_c"):
        encoder.to_c()


def planted(n_samples=1200):
    rng = np.random.default_rng(0)
    days = np.datetime64("2015-01-01") + rng.integers(0, 3000, n_samples)
    X = pd.DataFrame({"when": days, "other": rng.random(n_samples)})
    return X, (X.when.dt.month == 12) | (X.other > 0.8)


@pytest.mark.parametrize("zone", [None, "America/New_York"])
def test_a_date_is_one_column_of_explanations(zone):
    X, y = planted()
    if zone:
        X["when"] = X.when.dt.tz_localize("UTC").dt.tz_convert(zone)
    model = ConjunctionLogisticRegression(C=0.1, random_state=0)
    model = make_pipeline(BooleanEncoder(n_bins=4), model).fit(X, y)
    values = shapley_values(model, X[:5], X[:50])
    assert values.feature_names == ["when", "other"]
    sample = X[~y & (X.other < 0.5)].head(3)
    found = counterfactuals(model, sample, immutable=["other"])
    assert found.changed.tolist() == [[True, False]] * 3
    when = found.values["when"]
    when = when.dt.tz_convert("UTC") if zone else when
    assert when.dt.month.tolist() == [12] * 3
    # A state that is close costs less.
    far = (when - sample["when"].to_numpy()).abs() if zone is None else when - when
    assert (far < pd.Timedelta(900, "D")).all()
    later = counterfactuals(
        model, sample, immutable=["other"], directions={"when": "up"}
    )
    assert (later.values["when"].to_numpy() > sample["when"].to_numpy()).all()
    assert robustness(model, sample).tolist() == [1, 1, 1]


def test_columns_that_do_not_change():
    X, y = planted(300)
    X = X.assign(start=X.when - DAY, tags=[["a"], ["b"]] * 150)
    encoder = BooleanEncoder(n_bins=4, reference={"when": "start"})
    model = ConjunctionLogisticRegression(C=0.1, random_state=0)
    model = make_pipeline(encoder, model).fit(X, y)
    found = counterfactuals(model, X[~y].head(3))
    assert found.changed.any(axis=0).tolist() == [False, True, False, False]
