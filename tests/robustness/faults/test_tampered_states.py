"""An edited model answers or says so; no compiled loop leaves its arrays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from _instances import MODELS

HERE = Path(__file__).parent
TESTS = HERE.parents[1]
N_EDITS = os.environ.get("SKLBOOLEAN_TAMPERED", "12")
N_PROCESSES = 2


@pytest.mark.slow
@pytest.mark.parametrize("first", range(N_PROCESSES))
def test_edited_arrays_are_an_error_or_an_answer(first):
    names = [*MODELS][first::N_PROCESSES]
    done = subprocess.run(
        [sys.executable, "-P", HERE / "tampered.py", N_EDITS, *names],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(TESTS)])},
        capture_output=True, text=True, check=False, timeout=500 * len(names),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    n_edits = dict(line.split() for line in done.stdout.splitlines())
    assert [*n_edits] == names
    assert min(map(int, n_edits.values())) > 10
