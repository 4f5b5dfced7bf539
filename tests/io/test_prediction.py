"""Predictions in a Parquet file against those of memory."""

import tracemalloc
from datetime import datetime
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    ConjunctionRegressor,
)
from sklboolean.io import BitTable, predict_to_parquet

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"n": RNG.normal(size=100), "c": RNG.choice(["a", "b"], 100)})
LABELS = np.where(FRAME["n"] > 0, "up", "down")
MODEL = make_pipeline(BooleanEncoder(n_bins=4), AveragedPerceptron(random_state=0))
MODEL.fit(FRAME, LABELS)
NUMBERED = FRAME.assign(id=np.arange(100))


@pytest.mark.parametrize("source", ["frame", "arrow", "duckdb", "parquet", "batches"])
def test_predictions_are_those_of_memory(source, tmp_path):
    table = pa.Table.from_pandas(NUMBERED)
    parquet.write_table(table, tmp_path / "data.parquet")
    sources = {
        "frame": NUMBERED,
        "arrow": table,
        "duckdb": duckdb.sql("SELECT * FROM NUMBERED"),
        "parquet": str(tmp_path / "data.parquet"),
        "batches": (NUMBERED[k : k + 30] for k in range(0, 100, 30)),
    }
    target = tmp_path / "scored.parquet"
    n_samples = predict_to_parquet(
        MODEL, sources[source], target, keep=["id"], batch_size=17
    )
    scored = pd.read_parquet(target)
    assert n_samples == 100
    assert scored.columns.tolist() == ["id", "prediction", "proba_down", "proba_up"]
    assert scored["id"].tolist() == list(range(100))
    assert scored["prediction"].tolist() == MODEL.predict(FRAME).tolist()
    # Sums of other batches are rounded otherwise.
    np.testing.assert_allclose(
        scored[["proba_down", "proba_up"]], MODEL.predict_proba(FRAME), rtol=1e-12
    )


def test_tables_of_bits_and_regressors(tmp_path):
    X = RNG.integers(0, 2, (40, 5)).astype(bool)
    bits = BitTable.write(tmp_path / "bits", [(X, X[:, 0] + 0.5)])
    model = ConjunctionRegressor(C=1.0, max_literals=1).fit(bits)
    predict_to_parquet(model, bits, tmp_path / "scored.parquet", batch_size=7)
    scored = pd.read_parquet(tmp_path / "scored.parquet")
    assert scored.columns.tolist() == ["prediction"]
    np.testing.assert_array_equal(scored["prediction"], model.predict(X))


class Wide:
    """A model that takes ``n_bytes`` for each sample."""

    def __init__(self, n_bytes):
        self.n_bytes = n_bytes

    def predict(self, X):
        return np.zeros((len(X), self.n_bytes), dtype=np.uint8)[:, 0].astype(int)


@pytest.mark.parametrize("n_bytes", [3000, 60_000])
def test_memory_stays_below_its_limit(n_bytes, tmp_path):
    limit, target = 2**26, tmp_path / "scored.parquet"
    X = np.zeros((2**28 // n_bytes, 1), dtype=bool)  # four times the limit
    tracemalloc.start()
    predict_to_parquet(Wide(n_bytes), [X], target, memory_limit=limit)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < limit
    assert parquet.read_metadata(target).num_rows == len(X)


def test_what_cannot_be_predicted_leaves_no_file(tmp_path):
    target = tmp_path / "scored.parquet"
    with pytest.raises(ValueError, match=r"Wide takes about 4e\+06 bytes"):
        predict_to_parquet(
            Wide(2_000_000), [np.zeros((9, 1))], target, memory_limit=2**20
        )
    with pytest.raises(ValueError, match="no column 'key'"):
        predict_to_parquet(MODEL, FRAME, target, keep=["key"])
    with pytest.raises(ValueError, match="source has no sample"):
        predict_to_parquet(MODEL, [], target)
    with pytest.raises(ValueError, match="memory_limit"):
        predict_to_parquet(MODEL, FRAME, target, memory_limit=100)
    broken = [FRAME, FRAME.rename(columns={"n": "m"})]
    with pytest.raises(ValueError, match="feature names"):
        predict_to_parquet(MODEL, broken, target)
    assert not list(tmp_path.iterdir())


def test_a_kept_column_does_not_hide_behind_a_predicted_one(tmp_path):
    data = NUMBERED.rename(columns={"id": "prediction"})
    target = tmp_path / "scored.parquet"
    with pytest.raises(ValueError, match="keep: 'prediction' is a column that is pred"):
        predict_to_parquet(MODEL, data, target, keep=["prediction"])
    assert not target.exists()


def parts(first, second):
    return [FRAME[:50].assign(key=first), FRAME[50:].assign(key=second)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (pa.Table.from_pandas(FRAME).append_column(
            "key", pa.array([2**60 + 1, None] * 50)), [2**60 + 1, None] * 50),
        (pl.from_pandas(FRAME).with_columns(key=pl.lit(2**60 + 1)), [2**60 + 1] * 100),
        (pl.from_pandas(FRAME).with_columns(key=pl.lit(None)), [None] * 100),
        (parts(2**60 + 1, [1.0, None] * 25), [2**60 + 1] * 50 + [1, None] * 25),
        (parts(pd.NA, "x"), [None] * 50 + ["x"] * 50),
        (parts(Decimal("1.5"), Decimal(2)), [Decimal("1.5")] * 50 + [Decimal(2)] * 50),
        (parts(pd.Timestamp(2020, 1, 1), pd.NaT),
         [datetime(2020, 1, 1)] * 50 + [None] * 50),
    ],
)  # fmt: skip
def test_kept_columns_are_copied_exactly(source, expected, tmp_path):
    target = tmp_path / "scored.parquet"
    predict_to_parquet(MODEL, source, target, keep=["key"], batch_size=17)
    assert parquet.read_table(target)["key"].to_pylist() == expected


@pytest.mark.parametrize(("first", "second"), [(1, 1.5), (np.nan, "x"), (1, "x")])
def test_a_kept_column_of_another_type_is_named(first, second, tmp_path):
    target = tmp_path / "scored.parquet"
    with pytest.raises(ValueError, match=r"Column 'key' holds .* one type in all"):
        predict_to_parquet(MODEL, parts(first, second), target, keep=["key"])
    with pytest.raises(ValueError, match="keep: column 'key' holds object, which"):
        predict_to_parquet(MODEL, parts(first, object()), target, keep=["key"])
    assert not list(tmp_path.iterdir())


def test_integers_with_gaps_are_predicted_apart(tmp_path):
    data = pd.DataFrame({"id": pd.array([2**60, 2**60 + 1, None] * 20, dtype="Int64")})
    model = make_pipeline(BooleanEncoder(), AveragedPerceptron(random_state=0))
    model.fit(data, [0, 1, 1] * 20)
    target = tmp_path / "scored.parquet"
    predict_to_parquet(model, pa.Table.from_pandas(data), target)
    assert pd.read_parquet(target)["prediction"].tolist() == [0, 1, 1] * 20


def test_arguments_that_cannot_be_are_named(tmp_path):
    target = tmp_path / "scored.parquet"
    bits = BitTable.write(tmp_path / "bits", [(np.eye(3), [0, 1, 0])])
    for model, source, place, options, message in (
        (MODEL[1], bits, target, {"keep": ["id"]}, "a table of bits has none"),
        (MODEL, NUMBERED, target, {"keep": "id"}, "list of different names"),
        (MODEL, NUMBERED, target, {"keep": None}, "list of different names"),
        (clone(MODEL), NUMBERED, target, {}, "not fitted"),
        (MODEL, NUMBERED, target, {"keep": ["id", "id"]}, "list of different names"),
        (MODEL[0], FRAME, target, {}, "must have predict; got BooleanEncoder"),
        (MODEL, FRAME, tmp_path, {}, "is a folder, and only a regular file"),
        (MODEL, FRAME, tmp_path / "no" / "a.parquet", {}, "must be a file in a folder"),
    ):
        with pytest.raises(ValueError, match=message):
            predict_to_parquet(model, source, place, **options)


@pytest.mark.parametrize(
    "convert", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas]
)
def test_a_column_is_used_and_kept_and_others_are_ignored(convert, tmp_path):
    data = NUMBERED.assign(label=LABELS, other=pd.NaT)[
        ["other", "label", "c", "id", "n"]
    ]
    target = tmp_path / "scored.parquet"
    predict_to_parquet(MODEL, convert(data), target, keep=["n", "label"])
    scored = pd.read_parquet(target)
    assert scored.columns[:3].tolist() == ["n", "label", "prediction"]
    assert scored["prediction"].tolist() == MODEL.predict(FRAME).tolist()
    np.testing.assert_array_equal(scored["n"], FRAME["n"])
    assert scored["label"].tolist() == LABELS.tolist()
    with pytest.raises(ValueError, match=r"now missing:\n- n"):
        predict_to_parquet(MODEL, convert(data.drop(columns="n")), target)
    # So does an encoder that was fitted.
    table = BitTable.write(tmp_path / "bits", convert(data), encoder=MODEL[0])
    assert MODEL[1].predict(table).tolist() == MODEL.predict(FRAME).tolist()


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_a_model_without_names_does_not_get_what_is_kept(tmp_path):
    model = AveragedPerceptron(random_state=0).fit(np.eye(3), [0, 1, 0])
    data = pd.DataFrame(np.eye(3), columns=["a", "b", "c"]).assign(id=[7, 8, 9])
    target = tmp_path / "scored.parquet"
    predict_to_parquet(model, data, target, keep=["id"])
    assert parquet.read_table(target)["id"].to_pylist() == [7, 8, 9]
