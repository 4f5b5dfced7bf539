"""The script that fetches the tables of the benchmarks, on made-up files."""

import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
ARFF = """% comment
@relation weather
@attribute 'sky' {'clear','rain'}
@attribute wind {calm, storm, none}
@attribute class {stay,go}
@data
'clear',calm,go
'rain',?,stay
'clear',storm,go
"""
LIBSVM = "-1 1:1 3:1\n+1 2:1\n"


@pytest.fixture
def get_data(monkeypatch):
    """The module benchmarks/get_data.py, with files by the ends of their paths."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import get_data

    files = {"weather.arff": ARFF, "small.libsvm": LIBSVM}
    monkeypatch.setattr(
        get_data, "lines_of", lambda path: files[Path(path).name].splitlines()
    )
    yield get_data
    sys.modules.pop("get_data")


def test_observed_values_and_gaps_are_columns(get_data):
    table = get_data.one_hot_table("weather")
    X = np.unpackbits(table["X_all_packed"], axis=1, count=int(table["n_features"]))
    names = ["sky=clear", "sky=rain", "wind=calm", "wind=storm", "wind=?"]
    assert table["feature_names"].tolist() == names
    assert X.tolist() == [[1, 0, 1, 0, 0], [0, 1, 0, 0, 1], [1, 0, 0, 1, 0]]
    assert table["classes"][table["y_all"]].tolist() == ["go", "stay", "go"]
    assert table["feature_group"].tolist() == [0, 0, 1, 1, 1]


def test_features_of_libsvm_count_from_one(get_data):
    X, y = get_data.read_libsvm("somewhere/small.libsvm", 4)
    assert X.tolist() == [[1, 0, 1, 0], [0, 1, 0, 0]]
    assert y.tolist() == [-1, 1]


def test_table_with_another_checksum_is_not_written(
    get_data, tmp_path, monkeypatch, capsys
):
    read = get_data.one_hot("weather")
    right = get_data.checksum(read())
    tables = {"right": (read, right[:32]), "wrong": (read, "0" * 32)}
    monkeypatch.setattr(get_data, "TABLES", tables)
    assert get_data.main([str(tmp_path)])
    assert [path.name for path in tmp_path.iterdir()] == ["right.npz"]
    assert capsys.readouterr().out.endswith("checksum differs: wrong\n")
    with np.load(tmp_path / "right.npz") as arrays:
        assert get_data.checksum(dict(arrays)) == right
