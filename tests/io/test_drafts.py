"""What is at a path while it is written: other runs, kills, full disks, links."""

import errno
import multiprocessing
import os
import stat
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from pyarrow import parquet

from sklboolean.io import BitTable, _bit_table, _draft, predict_to_parquet

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # fork with threads
]
PLACE = ".partial"
# Events before which a process is ended. "batch" is ours.
CHANGES = {
    "open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.chown",
    "fcntl.flock", "batch",
}  # fmt: skip


class Sum:
    """A model that counts ones."""

    def predict(self, X):
        return np.asarray(X).sum(axis=1)


def batches(value, size=30, number=2):
    for _ in range(number):
        sys.audit("batch", "batch")
        yield np.full((size, 70), value)


def write_bits(path, value, **options):
    table = BitTable.write(path, batches(value), **options)
    assert table.words[:, 0].astype(bool).tolist() == [bool(value)] * 60


def write_scores(path, value):
    predict_to_parquet(Sum(), batches(value), path)


def read(path):
    """Read the value of which a whole file was made; damage is an error."""
    if path.suffix == ".parquet":
        return parquet.read_table(path)["prediction"].to_numpy().mean() / 70
    return np.mean([bits.mean() for bits, _, _ in BitTable(path).batches()])


def names(folder):
    return sorted(file.name for file in folder.iterdir())


both = pytest.mark.parametrize(
    ("write", "name"), [(write_bits, "t"), (write_scores, "t.parquet")]
)


def run_until(step, act):
    """Act in a process that ends before its change of that number; True: all done."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    n_done = 0

    def end(event, args):
        nonlocal n_done
        n_done += event in CHANGES and (event != "open" or PLACE in str(args[0]))
        if n_done == step:
            os._exit(9)

    sys.addaudithook(end)
    code = 1
    try:
        act()
        code = 0
    finally:
        os._exit(code)


@pytest.mark.parametrize("resume", [False, True])
def test_a_process_that_is_killed_at_any_step_leaves_a_whole_table(resume, tmp_path):
    path = tmp_path / "t"
    write_bits(path, 0)
    for step in range(1, 200):
        is_done = run_until(step, lambda: write_bits(path, 1, resume=resume))
        assert read(path) in (0, 1)
        # One draft at most, whatever the number of kills.
        assert set(names(tmp_path)) <= {"t", "t.partial"}
        if is_done:
            break
        if read(path) == 1 or step % 5 == 0:
            write_bits(path, 1, resume=resume)
            assert names(tmp_path) == ["t"]
            assert read(path) == 1
            write_bits(path, 0)
    assert 20 < step < 199
    assert read(path) == 1
    assert names(tmp_path) == ["t"]


def test_a_process_that_is_killed_leaves_whole_predictions(tmp_path):
    path = tmp_path / "t.parquet"
    write_scores(path, 0)
    step = 1
    while not run_until(step, lambda: write_scores(path, 1)):
        assert read(path) in (0, 1)
        assert set(names(tmp_path)) <= {
            path.name,
            "t.parquet.partial",
        }
        step += 1
    assert step > 10
    assert read(path) == 1
    assert names(tmp_path) == [path.name]


@both
def test_two_processes_each_write_their_own(write, name, tmp_path):
    path = tmp_path / name

    def write_often(value):
        for _ in range(15):
            write(path, value)

    process = multiprocessing.get_context("fork").Process(target=write_often, args=(0,))
    process.start()
    write_often(1)
    process.join(60)
    assert process.exitcode == 0
    assert read(path) in (0, 1)
    write(path, 1)
    assert read(path) == 1
    assert names(tmp_path) == [name]


def test_a_run_that_began_earlier_does_not_change_a_table(tmp_path):
    path = tmp_path / "t"

    def slow():
        yield np.zeros((30, 70))
        tables.append(BitTable.write(path, batches(1)))
        yield np.zeros((30, 70))

    tables = []
    tables.append(BitTable.write(path, slow()))
    for table, value in zip(tables, (1, 0), strict=True):
        table.verify()
        assert np.mean([bits.mean() for bits, _, _ in table.batches()]) == value
    assert read(path) == 0
    assert names(tmp_path) == ["t"]


def test_where_no_open_file_is_renamed_it_is_opened_afterwards(tmp_path, monkeypatch):
    locked = []
    calls = SimpleNamespace(LK_NBLCK=2, locking=lambda *given: locked.append(given))
    monkeypatch.setattr(_draft, "msvcrt", calls, raising=False)
    for module in (_draft, _bit_table):
        monkeypatch.setattr(module, "IS_WINDOWS", True)
    write_bits(tmp_path / "t", 0)
    write_bits(tmp_path / "t", 1, resume=True)
    assert len(locked) == 2
    assert names(tmp_path) == ["t"]


def test_file_systems_without_locks_take_drafts_of_their_own(tmp_path, monkeypatch):
    def no_lock(*given):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(_draft, "flock", no_lock)
    write_bits(tmp_path / "t", 0, resume=True)
    (tmp_path / "t.partial").mkdir()  # perhaps of a run that goes on
    write_bits(tmp_path / "t", 1)
    with pytest.raises(ValueError, match="in use by another run"):
        write_bits(tmp_path / "t", 1, resume=True)
    assert names(tmp_path) == ["t", "t.partial"]


def test_one_run_at_a_time_continues_a_path(tmp_path):
    path = tmp_path / "t"

    def slow():
        yield np.zeros((30, 70))
        with pytest.raises(ValueError, match=r"t.partial is in use by another run"):
            BitTable.write(path, batches(1), resume=True)
        write_bits(path, 1)  # has a draft of its own
        yield np.zeros((30, 70))

    BitTable.write(path, slow(), resume=True)
    assert read(path) == 0
    assert names(tmp_path) == ["t"]


@both
def test_only_regular_files_are_replaced_and_before_anything_is_read(
    write, name, tmp_path, monkeypatch
):
    monkeypatch.setitem(globals(), "batches", lambda value: 1 / 0)
    # A run that reads its source fails otherwise.
    monkeypatch.setitem(globals(), "batches", lambda value: 3)
    target = tmp_path / "target"
    target.write_text("mine")
    fifo, link, folder = (tmp_path / f"{kind}-{name}" for kind in ("p", "l", "d"))
    os.mkfifo(fifo)
    link.symlink_to(target)
    folder.mkdir()
    for path, kind in {
        fifo: "a FIFO", link: "a link", folder: "a folder", "/dev/null": "a device",
    }.items():  # fmt: skip
        before = os.lstat(path)
        with pytest.raises(ValueError, match=f"is {kind}.*only a regular file"):
            write(path, 1)
        assert os.lstat(path) == before
    with pytest.raises(ValueError, match="must be a file in a folder there is"):
        write(tmp_path / "none" / name, 1)
    for wrong in (3, b"x", None):
        with pytest.raises(ValueError, match="must be a path, a str or Path; got a"):
            write(wrong, 1)
    assert target.read_text() == "mine"


@both
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_a_file_keeps_its_mode(write, name, mode, tmp_path):
    path = tmp_path / name
    write(path, 0)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    path.chmod(mode)
    write(path, 1)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert read(path) == 1


@both
def test_what_others_put_in_the_way_is_left_alone(write, name, tmp_path):
    path, mine = tmp_path / name, tmp_path / "mine"
    mine.mkdir()
    (mine / "words").write_text("mine")
    (tmp_path / f"{name}.partial").symlink_to(mine)
    (tmp_path / f"{name}.partial-1").write_text("mine")
    (tmp_path / f"{name}.partial-2").mkdir()
    (tmp_path / f"{name}.partial-2" / "words").write_text("mine")
    (tmp_path / f"{name}.partial-3").mkdir()
    (tmp_path / f"{name}.partial-3" / "sklboolean.lock").symlink_to(mine / "words")
    before = names(tmp_path)
    write(path, 1)
    assert read(path) == 1
    assert names(tmp_path) == sorted([*before, name])
    for place in ("mine", f"{name}.partial-2"):
        assert [file.read_text() for file in (tmp_path / place).iterdir()] == ["mine"]
    assert (tmp_path / f"{name}.partial-1").read_text() == "mine"
    if write is write_bits:
        with pytest.raises(ValueError, match="in use by another run, or was not made"):
            write(path, 1, resume=True)


@both
def test_a_full_disk_leaves_the_file_that_was_there(write, name, tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / name
    write(path, 0)
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    for n_bytes in range(0, len(before), len(before) // 12):
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, limits[1]))
        try:
            with pytest.raises(OSError, match=r"File too large|errno 27"):
                write(path, 1)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_bytes() == before
        assert names(tmp_path) == [name]
    write(path, 1)
    assert read(path) == 1


def test_a_full_disk_is_continued_when_it_has_room_again(tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "t"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (700, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_bits(path, 1, resume=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert names(tmp_path) == ["t.partial"]
    write_bits(path, 1, resume=True)
    assert read(path) == 1
    assert names(tmp_path) == ["t"]
