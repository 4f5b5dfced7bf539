"""The same data by files of several kinds, here and in object stores."""

import gzip
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, fs, parquet
from sklearn.pipeline import make_pipeline

from sklboolean import AveragedPerceptron, BooleanEncoder
from sklboolean.io import BitTable, predict_to_parquet

WORDS = ["NA", "null", "nan", "N/A", "NULL", "n/a", "#N/A", "EU", 'it"s', "a,b", "née"]
texts = st.sampled_from([*WORDS, None])
numbers = st.one_of(
    st.none(), st.integers(-3, 3), st.floats(-9, 9), st.sampled_from([1e300, 1e-9])
)


def bits_of(table):
    return np.concatenate([bits for bits, _, _ in table.batches()])


@pytest.mark.filterwarnings("ignore:Column")
@settings(max_examples=12)
@given(data=st.lists(st.tuples(texts, numbers, st.sampled_from(WORDS)), min_size=3))
def test_the_same_data_give_the_same_bits(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    frame = pd.DataFrame(data, columns=["text", "number", "label"])
    frame = frame.astype({"text": object, "number": float, "label": object})
    frame["text"] = frame["text"].where(frame["text"].notna(), None)
    frame.to_csv(folder / "pandas.csv", index=False)
    frame.to_csv(folder / "words.csv.gz", index=False)
    frame.to_parquet(folder / "data.parquet")
    csv.write_csv(pa.Table.from_pandas(frame), folder / "arrow.csv")
    pl.from_pandas(frame).write_csv(folder / "polars.csv")
    expected = None
    for source in (frame, *sorted(folder.iterdir())):
        table = BitTable.write(
            folder / "bits", source, encoder=BooleanEncoder(n_bins=4), label="label",
            batch_size=7,
        )  # fmt: skip
        found = (
            table.feature_names.tolist(), table.y.tolist(), bits_of(table).tolist()
        )  # fmt: skip
        expected = expected or found
        assert found == expected, source


def write_text(path, text):
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def test_words_are_missing_in_columns_of_numbers_only(tmp_path):
    file = write_text(tmp_path / "a.csv", "c,n\nNA,1\nEU,NA\n,null\nAS,nan\nNA,\n")
    frame = pd.DataFrame(
        {"c": ["NA", "EU", None, "AS", "NA"], "n": [1.0] + [np.nan] * 4}
    )
    encoder = BooleanEncoder().fit(frame)
    table = BitTable.write(tmp_path / "bits", file, encoder=encoder)
    np.testing.assert_array_equal(bits_of(table), encoder.transform(frame))
    # A column of such words only may be one of texts.
    alone = write_text(tmp_path / "b.csv", "c,n\nNA,1\nNA,2\n")
    encoder = BooleanEncoder().fit(frame)
    table = BitTable.write(tmp_path / "bits", alone, encoder=encoder)
    names = table.feature_names.tolist()
    assert bits_of(table)[:, names.index("c = NA")].tolist() == [1, 1]
    # Without a value at all, it is missing.
    none = write_text(tmp_path / "c.csv", 'c,n\n,1\n"",2\n')
    table = BitTable.write(tmp_path / "bits", none, encoder=encoder)
    assert bits_of(table)[:, names.index("c is missing")].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "a;b\n1,5;2\n", r"no comma, but ';'.*ParseOptions\(delimiter=';'\)"),
        ("a.csv", "a\tb\n1\t2\n", r"no comma, but '\\t'"),
        ("a.csv.gz", "a|b\n1|2\n", r"a.csv.gz cannot be read: .*but '\|'"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16"), "not in UTF-8.*encoding=name"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16-le"), "not in UTF-8.*encoding=name"),
        ("a.csv", "a,b\nné,2\n".encode("latin-1"), "column 'a' is not in UTF-8"),
        ("a.csv", "né,b\n1,2\n".encode("latin-1"), "it is not in UTF-8"),
        ("a.csv", "", "Empty CSV"),
        ("a.csv", "a,b\n1,2\n3\n", "Expected 2 columns, got 1"),
        (
            "a.csv",
            "a,b\n" + f",{9**99}\n" * 20_000 + "x,1\n",
            "'a' begins without a value",
        ),
        ("a.csv.zip", "a,b\n1,2\n", r"neither a .parquet nor a .csv .*\.csv\.gz"),
        ("a.parquet.gz", "PAR1", r"neither a .parquet nor a .csv"),
    ],
    ids=range(12),
)
def test_other_texts_are_refused_with_the_remedy(name, text, message, tmp_path):
    file = write_text(tmp_path / name, text)
    with pytest.raises(ValueError, match=message):
        BitTable.write(tmp_path / "bits", file, encoder=BooleanEncoder())
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_half_a_compressed_file_is_refused(tmp_path):
    file = write_text(tmp_path / "a.csv.gz", "a,b\n" + "1,0\n" * 9000)
    table = BitTable.write(tmp_path / "bits", file)
    assert table.shape == (9000, 2)
    content = file.read_bytes()
    for stop in (len(content) // 2, len(content) - 1):
        file.write_bytes(content[:stop])
        with pytest.raises(ValueError, match=r"a.csv.gz cannot be read: Truncated"):
            BitTable.write(tmp_path / "bits", file)


def test_the_index_of_pandas_is_named(tmp_path):
    file = tmp_path / "a.csv"
    pd.DataFrame({"x": [1, 0, 1]}).to_csv(file)
    with pytest.warns(UserWarning, match=r"Column 0 of .*a.csv has no name.*index=F"):
        BitTable.write(tmp_path / "bits", file)
    pd.DataFrame({"x": [1, 0, 1]}).to_csv(file, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BitTable.write(tmp_path / "bits", file)


FRAME = pd.DataFrame(
    {
        "id": np.arange(60),
        "n": np.random.default_rng(0).normal(size=60),
        "c": ["NA", "EU", "AS"] * 20,
    }
)
FRAME["y"] = np.where(FRAME["n"] > 0, "up", "down")
MODEL = make_pipeline(BooleanEncoder(n_bins=4), AveragedPerceptron(random_state=0))
MODEL.fit(FRAME[["n", "c"]], FRAME["y"])


def stores(folder):
    """Map names to functions that give the source of a file in a store."""
    mock, local = fs._MockFileSystem(), fs.LocalFileSystem()
    cases = {
        "uri": lambda name: (folder / name).as_uri(),
        "local": lambda name: (local, folder / name),
        "folder": lambda name: (fs.SubTreeFileSystem(str(folder), local), name),
        "list": lambda name: [(local, str(folder / name))],
    }
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")

    def put(name):
        with mock.open_output_stream(name, compression=None) as file:
            file.write((folder / name).read_bytes())
        memory.pipe(f"/bucket/{name}", (folder / name).read_bytes())
        return name

    return cases | {
        "mock": lambda name: (mock, put(name)),
        "fsspec": lambda name: (memory, "bucket/" + put(name)),
        "fsspec uri": lambda name: "memory://bucket/" + put(name),
    }


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.csv.gz"])
def test_object_stores_give_what_files_give(name, tmp_path):
    FRAME.to_parquet(tmp_path / "a.parquet")
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    FRAME.to_csv(tmp_path / "a.csv.gz", index=False)
    options = {"encoder": MODEL[0], "label": "y", "batch_size": 17}
    expected = BitTable.write(tmp_path / "bits", FRAME, **options).path.read_bytes()
    for kind, source in stores(tmp_path).items():
        path = tmp_path / "other"
        BitTable.write(path, source(name), resume=True, **options)
        assert path.read_bytes() == expected, kind
        scored = tmp_path / "scored.parquet"
        assert predict_to_parquet(MODEL, source(name), scored, keep=["id", "n"]) == 60
        found = parquet.read_table(scored).to_pandas()
        assert found["prediction"].tolist() == MODEL.predict(FRAME[["n", "c"]]).tolist()
        np.testing.assert_array_equal(found[["id", "n"]], FRAME[["id", "n"]])


def test_a_store_that_cannot_be_read_is_named_without_its_secrets(tmp_path):
    store = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    with pytest.raises(FileNotFoundError, match=r"none.csv"):
        BitTable.write(tmp_path / "bits", (store, "none.csv"))
    for uri in ("none://key:secret@bucket/a.csv?token=1", "s3://[/a.parquet"):
        with pytest.raises(
            ValueError, match=r"//.*/a.(csv|parquet) cannot be read"
        ) as e:
            BitTable.write(tmp_path / "bits", uri)
        assert "secret" not in str(e.value)
        assert "token" not in str(e.value)
    with pytest.raises(ValueError, match=r"s3://bucket/folder/ is neither"):
        BitTable.write(tmp_path / "bits", "s3://bucket/folder/")
    assert not list(tmp_path.iterdir())


def test_progress_is_reported_by_batches(tmp_path, capsys):
    options = {"encoder": BooleanEncoder(n_bins=4), "label": "y", "batch_size": 25}
    BitTable.write(tmp_path / "bits", FRAME, **options)
    predict_to_parquet(MODEL, FRAME, tmp_path / "scored.parquet")
    assert not capsys.readouterr().out
    options["encoder"] = BooleanEncoder(n_bins=4)
    FRAME.to_parquet(tmp_path / "a.parquet")
    BitTable.write(tmp_path / "bits", tmp_path / "a.parquet", verbose=1, **options)
    predict_to_parquet(
        MODEL, FRAME, tmp_path / "scored.parquet", batch_size=60, verbose=1
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        *(f"[BitTable] batch to fit the encoder {k}" for k in (1, 2, 3)),
        *(f"[BitTable] batch {k}" for k in (1, 2, 3)),
        "[predict_to_parquet] batch 1",
    ]
    assert [line.split(": ")[1] for line in lines[3:]] == [
        "25 samples", "50 samples", "60 samples", "60 samples",
    ]  # fmt: skip
