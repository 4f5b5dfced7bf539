"""No edit of a fitted array makes a compiled loop crash, with AddressSanitizer too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from _instances import MODELS

HERE = Path(__file__).parent
TESTS = HERE.parents[1]
N_EDITS = int(os.environ.get("SKLBOOLEAN_TAMPERED", "40"))


@pytest.mark.slow  # a process for each model
@pytest.mark.parametrize("name", MODELS)
def test_edited_arrays_are_an_error_or_an_answer(name):
    done = subprocess.run(
        [sys.executable, "-P", HERE / "tampered.py", name, str(N_EDITS)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(TESTS)])},
        capture_output=True, text=True, check=False, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[-1]) > 10
