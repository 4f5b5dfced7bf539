"""Tables that a run continues after another run was cut off."""

import multiprocessing
import os
import signal

import numpy as np
import pandas as pd
import pytest

from sklboolean import BooleanEncoder
from sklboolean.io import BitTable

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"n": RNG.normal(size=100), "c": RNG.choice(["a", "b"], 100)})
LABELS = np.where(FRAME["n"] > 0, "up", "down")
WEIGHTS = RNG.random(100)
ENCODER = BooleanEncoder(n_bins=4).fit(FRAME)


def batches(stop=None, error=KeyboardInterrupt, size=10):
    for first in range(0, 100, size):
        if first == stop:
            if error is None:
                os.kill(os.getpid(), signal.SIGKILL)
            raise error
        rows = slice(first, first + size)
        yield FRAME[rows], LABELS[rows], WEIGHTS[rows]


class Counting:
    """An encoder that counts its calls."""

    feature_groups_ = ENCODER.feature_groups_

    def __init__(self):
        self.n_calls = 0

    def transform(self, X):
        self.n_calls += 1
        return ENCODER.transform(X)

    def get_feature_names_out(self):
        return ENCODER.get_feature_names_out()


@pytest.fixture
def expected(tmp_path):
    """The file that one run writes."""
    BitTable.write(tmp_path / "whole", batches(), encoder=Counting())
    return (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("stop", [0, 10, 60, 90])
def test_a_run_that_failed_is_continued(stop, expected, tmp_path):
    path = tmp_path / "table"
    with pytest.raises(KeyboardInterrupt):
        BitTable.write(path, batches(stop), encoder=ENCODER, resume=True)
    assert not path.exists()
    # What was written after the last note is dropped.
    for file in tmp_path.glob("table.partial/*"):
        if file.suffix != ".json":
            file.write_bytes(file.read_bytes() + b"more")
    encoder = Counting()
    table = BitTable.write(path, batches(), encoder=encoder, resume=True)
    assert path.read_bytes() == expected
    assert encoder.n_calls == 10 - stop // 10 + (stop > 0)
    assert table.y.tolist() == LABELS.tolist()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["table", "whole"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork with threads
def test_a_run_that_was_killed_is_continued(expected, tmp_path):
    path = tmp_path / "table"
    process = multiprocessing.get_context("fork").Process(
        target=BitTable.write,
        args=(path, batches(50, error=None)),
        kwargs={"encoder": Counting(), "resume": True},
    )
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    encoder = Counting()
    BitTable.write(path, batches(), encoder=encoder, resume=True)
    assert path.read_bytes() == expected
    assert encoder.n_calls == 6


def test_another_source_is_refused_and_a_new_run_begins_anew(expected, tmp_path):
    path = tmp_path / "table"
    with pytest.raises(KeyboardInterrupt):
        BitTable.write(path, batches(40), encoder=Counting(), resume=True)
    turned = [(X[::-1], y, w) for X, y, w in batches()]
    short = list(batches())[:2]
    relabelled = [(X, np.roll(y, 1), w) for X, y, w in batches()]
    renamed = [(X, np.char.upper(y), w) for X, y, w in batches()]
    reweighted = [(X, y, 2 * w) for X, y, w in batches()]
    unweighted = [(X, y) for X, y, _ in batches()]
    others = (relabelled, renamed, reweighted, unweighted)
    for source in (turned, short, batches(size=30), *others):
        with pytest.raises(ValueError, match="another source, encoder, label"):
            BitTable.write(path, source, encoder=Counting(), resume=True)
    other = BooleanEncoder(n_bins=3).fit(FRAME)
    with pytest.raises(ValueError, match="another source, encoder, label"):
        BitTable.write(path, batches(), encoder=other, resume=True)
    BitTable.write(path, batches(), encoder=Counting())
    assert path.read_bytes() == expected
    assert sorted(file.name for file in tmp_path.iterdir()) == ["table", "whole"]


def test_a_note_without_its_samples_is_found(tmp_path):
    path = tmp_path / "table"
    with pytest.raises(KeyboardInterrupt):
        BitTable.write(path, batches(40), encoder=Counting(), resume=True)
    words = tmp_path / "table.partial" / "words"
    words.write_bytes(bytes(len(words.read_bytes())))  # lost by a crash
    with pytest.raises(ValueError, match=r"journal.json and the files beside"):
        BitTable.write(path, batches(), encoder=Counting(), resume=True)
    assert not path.exists()


def cut(file):
    file.write_bytes(file.read_bytes()[:-10])


@pytest.mark.parametrize("name", ["journal.json", "words", "y", "sample_weight"])
@pytest.mark.parametrize(
    "damage", [cut, lambda file: file.unlink(), lambda file: file.write_text("{}")]
)
def test_damaged_files_of_an_unfinished_run_are_errors_in_words(name, damage, tmp_path):
    path = tmp_path / "table"
    with pytest.raises(KeyboardInterrupt):
        BitTable.write(path, batches(40), encoder=ENCODER, resume=True)
    file = tmp_path / "table.partial" / name
    damage(file)
    if name == "journal.json" and not file.exists():  # a new run
        BitTable.write(path, batches(), encoder=ENCODER, resume=True)
        return
    with pytest.raises(ValueError, match=r"damaged, so the run.*resume=False"):
        BitTable.write(path, batches(), encoder=ENCODER, resume=True)
    assert not path.exists()
    BitTable.write(path, batches(), encoder=ENCODER, resume=False)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["table"]
