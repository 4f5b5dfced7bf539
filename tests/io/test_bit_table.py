"""Bit tables against the arrays that were written, and damaged files."""

import pickle

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, dataset, parquet
from sklearn.preprocessing import OneHotEncoder

from sklboolean import AveragedPerceptron, BooleanEncoder
from sklboolean.io import BitTable

RNG = np.random.default_rng(0)


def whole(table, batch_size=7):
    """Read all samples of a table."""
    parts = list(zip(*table.batches(batch_size), strict=True))
    return [None if p[0] is None else np.concatenate(p) for p in parts]


@settings(max_examples=25)
@given(
    st.lists(st.integers(1, 20), min_size=1, max_size=4),
    st.integers(1, 130),
    st.sampled_from(["text", "integers", "bools", "reals", None]),
    st.booleans(),
)
def test_what_is_written_is_read(tmp_path_factory, sizes, n_features, kind, weighted):
    path = tmp_path_factory.mktemp("bits") / "table"
    batches = []
    for size in sizes:
        X = RNG.integers(0, 2, (size, n_features)).astype(bool)
        y = {
            "text": RNG.choice(["no", "yes", "it's"], size),
            "integers": RNG.integers(-2, 3, size),
            "bools": RNG.random(size) < 0.5,
            "reals": RNG.normal(size=size),
            None: None,
        }[kind]
        batches.append((X, y, RNG.random(size) if weighted else None))
    BitTable.write(path, batches)
    table = BitTable(path)
    assert len(table) == sum(sizes)
    for found, given_parts in zip(
        whole(table), zip(*batches, strict=True), strict=True
    ):
        if given_parts[0] is None:
            assert found is None
        else:
            np.testing.assert_array_equal(found, np.concatenate(given_parts))
    if kind in ("text", "integers", "bools"):
        labels = np.unique(np.concatenate([y for _, y, _ in batches]))
        assert table.classes.tolist() == labels.tolist()
    else:
        assert table.classes is None
    assert [file.name for file in path.parent.iterdir()] == ["table"]


def frame(n_samples=100):
    X = pd.DataFrame(
        {"n": RNG.normal(size=n_samples), "c": RNG.choice(["a", "b"], n_samples)}
    )
    X["label"] = np.where(X["n"] > 0, "up", "down")
    X["w"] = RNG.random(n_samples)
    return X


@pytest.mark.parametrize(
    "source",
    [
        "frame", "polars", "lazy", "arrow", "reader", "duckdb", "parquet", "csv",
        "files", "opened", "dataset", "scanner", "batches", "list",
    ],
)  # fmt: skip
def test_every_source_gives_the_same_table(source, tmp_path):
    data = frame()
    table = pa.Table.from_pandas(data)
    parquet.write_table(table, tmp_path / "data.parquet")
    csv.write_csv(table, tmp_path / "data.csv")
    sources = {
        "frame": data,
        "polars": pl.from_pandas(data),
        "lazy": pl.from_pandas(data).lazy(),
        "arrow": table,
        "reader": table.to_reader(max_chunksize=13),
        "duckdb": duckdb.sql("SELECT * FROM data"),
        "parquet": tmp_path / "data.parquet",
        "csv": str(tmp_path / "data.csv"),
        "files": [tmp_path / "data.parquet"],
        "opened": parquet.ParquetFile(tmp_path / "data.parquet"),
        "dataset": dataset.dataset(tmp_path / "data.parquet"),
        "scanner": dataset.dataset(tmp_path / "data.parquet").scanner(),
        "batches": (data[k : k + 30] for k in range(0, 100, 30)),
        "list": [data[:30], data[30:]],
    }
    encoder = BooleanEncoder().fit(data[["n", "c"]], data["label"], data["w"])
    bits = BitTable.write(
        tmp_path / "table", sources[source], encoder=encoder, label="label",
        weight="w", batch_size=17,
    )  # fmt: skip
    X, y, sample_weight = whole(bits)
    np.testing.assert_array_equal(X, encoder.transform(data[["n", "c"]]))
    assert y.tolist() == data["label"].tolist()
    np.testing.assert_array_equal(sample_weight, data["w"])
    names = encoder.get_feature_names_out().tolist()
    assert bits.feature_names.tolist() == names
    assert bits.feature_groups == encoder.feature_groups_.tolist()
    assert bits.classes.tolist() == ["down", "up"]
    new, columns = BooleanEncoder(), {"label": "label", "weight": "w"}
    if source in ("reader", "batches"):
        message = "encoder is not fitted, and source is a .* only once"
        with pytest.raises(ValueError, match=message):
            BitTable.write(tmp_path / "b", sources[source], encoder=new, **columns)
        return
    BitTable.write(tmp_path / "b", sources[source], encoder=new, **columns)
    assert new.get_feature_names_out().tolist() == names
    assert (tmp_path / "b").read_bytes() == (tmp_path / "table").read_bytes()


def test_an_encoder_that_cannot_be_fitted_in_batches_is_refused(tmp_path):
    data, target = frame()[["n", "c"]], tmp_path / "bits"
    with pytest.raises(ValueError, match=r"OneHotEncoder is not fitted.*Fit it first"):
        BitTable.write(target, data, encoder=OneHotEncoder())
    with pytest.raises(ValueError, match="strategy='tree' requires y"):
        BitTable.write(target, data, encoder=BooleanEncoder(strategy="tree"))
    assert not list(tmp_path.iterdir())


def test_one_pair_is_one_batch(tmp_path):
    data, w = frame()[["n"]], RNG.random(100)
    y = (data["n"] > 0).to_numpy()
    for batch in ((data, y), (data, y, w), (data.to_numpy(), y.tolist(), w)):
        table = BitTable.write(tmp_path / "a", batch)
        assert table.shape == (100, 1)
        assert table.y.tolist() == y.tolist()
        assert (table.sample_weight is None) == (len(batch) == 2)
    data.to_parquet(tmp_path / "a.parquet")
    for batches in (
        ((data, y), (data, y)),
        (data, data),
        (tmp_path / "a.parquet", str(tmp_path / "a.parquet")),
    ):
        table = BitTable.write(tmp_path / "a", batches)
        assert table.shape == (200, 1)


@pytest.mark.parametrize("source", [None, 3, {"a": [1, 0]}, duckdb.connect(), object()])
def test_sources_without_batches_are_refused(source, tmp_path):
    with pytest.raises(ValueError, match=f"source is a {type(source).__name__}, which"):
        BitTable.write(tmp_path / "a", source)
    with pytest.raises(ValueError, match="A batch is a int"):
        BitTable.write(tmp_path / "a", [3])


def test_files_that_cannot_be_read_are_named(tmp_path):
    target = tmp_path / "bits"
    broken, half = tmp_path / "broken.parquet", tmp_path / "half.parquet"
    parquet.write_table(pa.table({"a": RNG.normal(size=9000)}), half)
    content = bytearray(half.read_bytes())
    content[4:200] = bytes(196)
    half.write_bytes(content)
    broken.write_bytes(b"PAR1")
    for path in (broken, half, [half]):
        with pytest.raises(ValueError, match=r"(broken|half).parquet cannot be read: "):
            BitTable.write(target, path)
    late = tmp_path / "late.csv"
    late.write_text("a,b\n" + "1,0\n" * 300_000 + "x,1\n")
    with pytest.raises(ValueError, match=r"late.csv cannot be .*'x'.*column_types"):
        BitTable.write(target, late)
    with pytest.raises(ValueError, match=r"data.txt is neither .*pyarrow.dataset"):
        BitTable.write(target, tmp_path / "data.txt")
    with pytest.raises(FileNotFoundError, match=r"none.csv"):
        BitTable.write(target, tmp_path / "none.csv")
    assert not target.exists()


def test_empty_texts_of_a_file_are_missing_as_in_pandas(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text('c,n\nred,1\n,2\n"",3\nblue,\nred,5\n')
    encoder = BooleanEncoder().fit(pd.read_csv(file))
    names = encoder.get_feature_names_out().tolist()
    assert "c is missing" in names
    assert "n is missing" in names
    table = BitTable.write(tmp_path / "bits", file, encoder=encoder)
    np.testing.assert_array_equal(whole(table)[0], encoder.transform(pd.read_csv(file)))


def test_integers_with_gaps_stay_apart(tmp_path):
    ids = pa.table({"id": pa.array([2**60, 2**60 + 1, None, 7] * 9)})
    encoder = BooleanEncoder(kinds={"id": "category"}).fit(ids)
    expected = encoder.transform(ids)
    assert encoder.get_feature_names_out().size == 4
    for source in (ids, ids.to_reader()):
        table = BitTable.write(tmp_path / "bits", source, encoder=encoder)
        np.testing.assert_array_equal(whole(table)[0], expected)


def test_labels_that_differ_by_a_character_of_code_0_stay_apart(tmp_path):
    X = RNG.integers(0, 2, (40, 2))
    y = np.array(["a", "a\0"], dtype=object)[X[:, 0]]
    table = BitTable.write(tmp_path / "bits", [(X, y)])
    assert table.classes.tolist() == ["a", "a\0"]
    model = AveragedPerceptron(random_state=0).fit(table)
    assert model.predict(X).tolist() == y.tolist()


def test_collections_of_dask_are_read_part_by_part(tmp_path):
    arrays, frames = map(pytest.importorskip, ("dask.array", "dask.dataframe"))
    data = frame()
    encoder = BooleanEncoder().fit(data[["n", "c"]], data["label"], data["w"])
    expected = encoder.transform(data[["n", "c"]])
    divided = frames.from_pandas(data, npartitions=3)
    columns = {"encoder": encoder, "label": "label", "weight": "w"}
    whole_frame = BitTable.write(tmp_path / "a", divided, **columns)
    parts = divided[["n", "c"]], divided["label"], divided["w"]
    in_parts = BitTable.write(tmp_path / "b", parts, encoder=encoder)
    for table in (whole_frame, in_parts):
        X, y, sample_weight = whole(table)
        np.testing.assert_array_equal(X, expected)
        assert y.tolist() == data["label"].tolist()
        np.testing.assert_array_equal(sample_weight, data["w"])
    parts = iter([data[:0], data[:60], data[:0], data[60:]])  # some are empty
    table = BitTable.write(tmp_path / "some", parts, **columns)
    np.testing.assert_array_equal(whole(table)[0], expected)
    bits = expected.to_numpy()
    pair = arrays.from_array(bits, chunks=(30, bits.shape[1])), divided["label"]
    with pytest.raises(ValueError, match="y has 3 partitions, and X has 4"):
        BitTable.write(tmp_path / "c", pair)
    X, y, _ = whole(BitTable.write(tmp_path / "c", pair[:1]))
    np.testing.assert_array_equal(X, bits)
    assert y is None


def test_a_model_of_the_table_is_that_of_memory(tmp_path):
    X = RNG.integers(0, 2, (500, 70))
    y = X[:, 3] ^ X[:, 5]
    table = BitTable.write(tmp_path / "t", [(X, y)])
    found, expected = AveragedPerceptron(), AveragedPerceptron()
    for part, labels, _ in table.batches(100):
        found.partial_fit(part, labels, classes=table.classes)
    for first in range(0, 500, 100):
        rows = slice(first, first + 100)
        expected.partial_fit(X[rows], y[rows], classes=[0, 1])
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_damaged_files_are_named(tmp_path):
    path = tmp_path / "table"
    X = RNG.integers(0, 2, (50, 70))
    BitTable.write(path, [(X, X[:, 0], np.ones(50))])
    sound = path.read_bytes()
    for place in (0, 900, len(sound) // 2, len(sound) - 60, len(sound) - 15):
        damaged = bytearray(sound)
        damaged[place] ^= 4
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="table is not a complete table of bits"):
            BitTable(path)
    for stop in (0, 5, 30, len(sound) // 2, len(sound) - 1):
        path.write_bytes(sound[:stop])
        for verify in (True, False):
            with pytest.raises(ValueError, match="table is not a complete table"):
                BitTable(path, verify=verify)
    path.write_bytes(b"x" + sound)
    with pytest.raises(ValueError, match="bytes instead of"):
        BitTable(path)


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([], "source has no batch"),
        ([[[1, 0]], [[1]]], "same columns"),
        ([([[1]], [0]), [[1]]], "labels and weights, or none"),
        ([([[1]], [0, 1])], "differ in length"),
        ([([[1]], ["a"]), ([[1]], [0.5])], "real numbers in all batches"),
        ([([[1]], [np.nan])], "missing values"),
        ([([[1]], [1]), ([[1]], ["a"])], "one type in all batches.*1 and 'a'"),
        ([([[1]], [True]), ([[1]], [2])], "one type in all batches.*True and 2"),
        ([([[1]], np.array([2**64 - 1]))], "64 bits; got 18446744073709551615"),
        (
            [([[1]], np.array(["2020-01-01"], dtype="M8[D]"))],
            "text, Booleans or integers",
        ),
        ([([[1]], [1], [1.0], [1])], "A batch must be"),
        ([[[np.nan]]], "NaN in column 0"),
        ("data.txt", "neither a .parquet nor a .csv"),
    ],
    ids=range(13),
)
def test_sources_that_are_refused_leave_no_file(batches, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        BitTable.write(tmp_path / "t", batches)
    assert not list(tmp_path.iterdir())
    X = pd.DataFrame({"a": [1, 0]})
    with pytest.raises(ValueError, match="no column 'y'"):
        BitTable.write(tmp_path / "t", X, label="y")


@pytest.mark.parametrize(
    ("batch", "options", "message"),
    [
        ((np.eye(4), np.eye(4)[:, :2]), {}, "one label for each sample.*\\(4, 2\\)"),
        ((np.eye(4), [0, 1, 0, 1], np.ones((4, 3))), {}, "sample_weight must have sha"),
        ((np.eye(4), [0, 1, 0, 1], [-1, 1, 1, 1]), {}, "weights must be at least 0"),
        (np.eye(4), {"binarize": np.nan}, "binarize must be finite"),
        (np.eye(4), {"encoder": BooleanEncoder}, "encoder must be a transformer"),
        (pd.DataFrame(np.eye(2), columns=["a", "a"]), {}, "several columns named 'a'"),
    ],
)
def test_what_a_table_cannot_hold_is_refused_at_once(batch, options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        BitTable.write(tmp_path / "bits", [batch], **options)
    assert not list(tmp_path.iterdir())


def test_a_table_is_indexed_by_samples(tmp_path, monkeypatch):
    table = BitTable.write(tmp_path / "bits", [np.eye(12)])
    assert table[:5, :].shape == (5, 12)
    for features in (slice(3), 1, slice(None, None, -1)):
        with pytest.raises(IndexError, match="samples are selected, not features"):
            table[:, features]
    monkeypatch.chdir(tmp_path)
    stored = pickle.dumps(BitTable("bits"))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert pickle.loads(stored).shape == (12, 12)
