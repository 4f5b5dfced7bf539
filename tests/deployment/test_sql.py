"""A table in a database is scored as the data frame is."""

import sqlite3

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    ConjunctionLogisticRegression,
    RuleClassifier,
)

pd = pytest.importorskip("pandas")


def make_table(n_samples=400):
    """Draw numbers, text, codes, bools and missing values; names need quotes."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n_samples),
            'the "net" income': rng.lognormal(8, 1, n_samples).round(2),
            "town": rng.choice(["Aix", "L'Aquila", "B", "C"], n_samples),
            "code": rng.integers(0, 6, n_samples),
            "member": rng.random(n_samples) < 0.5,
        }
    )
    table.loc[rng.random(n_samples) < 0.1, 'the "net" income'] = np.nan
    table["town"] = table["town"].astype(object)
    table.loc[rng.random(n_samples) < 0.1, "town"] = None
    is_good = (table.age < 40) & (table.town == "L'Aquila") | (table.code == 3)
    return table, np.where(is_good, "good", "not good")


def query_sqlite(table, query):
    with sqlite3.connect(":memory:") as connection:
        table.assign(number=np.arange(len(table))).to_sql(
            "people", connection, index=False
        )
        return connection.execute(f"{query} ORDER BY number").fetchall()


def query_duckdb(table, query):
    duckdb = pytest.importorskip("duckdb")
    people = table.assign(number=np.arange(len(table)))
    with duckdb.connect() as connection:
        connection.register("people", people)
        return connection.execute(f"{query} ORDER BY number").fetchall()


ENCODERS = [
    BooleanEncoder(n_bins=4),
    BooleanEncoder(complement=False, kinds={"code": "category"}),
    BooleanEncoder(min_frequency=90, kinds={"code": "category"}),
    BooleanEncoder(
        min_frequency=90, handle_unknown="infrequent_if_exist",
        kinds={"code": "category"},
    ),
    BooleanEncoder(min_frequency=399, handle_unknown="infrequent_if_exist"),
]  # fmt: skip


@pytest.mark.filterwarnings(
    "ignore:Column .* (not among its levels|never missing) in fit:UserWarning"
)
@pytest.mark.parametrize("query", [query_sqlite, query_duckdb])
@pytest.mark.parametrize("encoder", ENCODERS, ids=repr)
def test_features_in_sql(encoder, query):
    table, _ = make_table()
    encoder = clone(encoder).fit(table)
    new = table.copy()
    new.loc[:20, "town"], new.loc[10:30, "code"] = "elsewhere", 77
    found = query(new, f"SELECT {encoder.to_sql()} FROM people")
    np.testing.assert_array_equal(found, encoder.transform(new).to_numpy())


@pytest.mark.parametrize("query", [query_sqlite, query_duckdb])
@pytest.mark.parametrize(
    "model", [RuleClassifier(random_state=0), ConjunctionLogisticRegression(C=1.0)]
)
def test_a_pipeline_in_sql(model, query):
    table, y = make_table()
    model = make_pipeline(BooleanEncoder(n_bins=4), clone(model)).fit(table, y)
    inner = f"SELECT number, {model[0].to_sql()} FROM people"
    found = query(table, f"SELECT {model[1].to_sql()} FROM ({inner}) AS features")
    assert [label for (label,) in found] == model.predict(table).tolist()
    assert len(set(found)) == 2


def test_other_names_of_the_columns():
    encoder = BooleanEncoder(n_bins=2).fit([[1.0, 0], [2.0, 1], [3.0, 1]])
    assert encoder.to_sql().splitlines() == [
        'CASE WHEN "x0" <= 1.0e0 THEN 1 ELSE 0 END AS "x0 <= 1",',
        'CASE WHEN "x0" > 1.0e0 AND "x0" - "x0" = 0 THEN 1 ELSE 0 END AS "x0 > 1",',
        'CASE WHEN CAST("x1" AS DOUBLE PRECISION) > 0.5e0 AND '
        'CAST("x1" AS DOUBLE PRECISION) - CAST("x1" AS DOUBLE PRECISION) = 0 '
        'THEN 1 ELSE 0 END AS "x1"',
    ]
    assert '"b" AS DOUBLE PRECISION' in encoder.to_sql(["a", "b"])


def test_what_sql_cannot_hold_is_an_error():
    encoder = BooleanEncoder(missing="propagate").fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match="propagate"):
        encoder.to_sql()
    with pytest.raises(ValueError, match="code 0"):
        BooleanEncoder().fit([["a\0"], ["b"]]).to_sql()


def test_columns_that_differ_in_case_only_are_no_sql_of_a_model():
    X = np.random.default_rng(0).integers(0, 2, (90, 3)).astype(bool)
    model = RuleClassifier().fit(X, X[:, 0])
    assert '"A"' in model.to_sql(["A", "b", "B"])  # b and B are not used
    with pytest.raises(ValueError, match="'A' and 'a' differ in case only"):
        model.to_sql(["A", "a", "b"])
    linear = AveragedPerceptron(random_state=0).fit(X, X[:, 0] | X[:, 1])
    with pytest.raises(ValueError, match="'A' and 'a' differ in case only"):
        linear.to_sql(["A", "a", "b"])


@pytest.mark.parametrize("options", [{}, {"complement": False}], ids=repr)
@pytest.mark.parametrize("has_gaps", [True, False])
def test_nan_is_a_missing_value_in_databases_that_have_it(options, has_gaps, tmp_path):
    duckdb, pl = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    gaps = rng.random((300, 3)) < 0.3
    numbers = rng.normal(size=(300, 3)).round(2)
    numbers[:, 2] = numbers[:, 2] > 0
    X = pl.DataFrame(np.where(gaps, np.nan, numbers), schema=["a", "b", "bit"])
    X = X.with_columns(pl.col("b").cast(pl.Float32))
    encoder = BooleanEncoder(n_bins=4, **options)
    encoder.fit(X if has_gaps else pl.DataFrame(numbers, schema=X.columns))
    X.write_parquet(tmp_path / "nan.parquet")
    found = duckdb.sql(f"SELECT {encoder.to_sql()} FROM '{tmp_path}/nan.parquet'")
    found = np.column_stack([*found.fetchnumpy().values()])
    if not has_gaps:
        encoder.set_params(missing="propagate")  # then gaps are NaN, and no error
        np.testing.assert_array_equal(found, np.nan_to_num(encoder.transform(X)))
    else:
        np.testing.assert_array_equal(found, encoder.transform(X))
