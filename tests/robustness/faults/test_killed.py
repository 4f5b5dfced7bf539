"""A process that is killed resumes from its checkpoint and ends in the same model."""

import multiprocessing
import signal

import joblib
import pytest
from faults import killed

forks = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="needs fork"
)


@forks
@pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning"
)
def test_killed_five_times_is_as_never_killed(tmp_path):
    whole = killed.learn(str(tmp_path / "whole"), 40)
    path = str(tmp_path / "killed")
    stood = killed.learn_with_kills(path, 5, 40)
    assert [code for _, code in stood] == [-signal.SIGKILL] * 5
    assert stood[-1][0] > 0
    assert killed.differences(killed.learn(path, 40), whole) == []


def test_half_a_checkpoint_is_never_seen(tmp_path, monkeypatch):
    path = str(tmp_path / "state")
    killed.save({"n_read": 1}, path)

    def fail(state, file):
        file.write(b"half of it")
        raise KeyboardInterrupt

    monkeypatch.setattr(joblib, "dump", fail)
    with pytest.raises(KeyboardInterrupt):
        killed.save({"n_read": 2}, path)
    assert joblib.load(path) == {"n_read": 1}
