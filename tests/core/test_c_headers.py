"""The C headers' self-test: every processor path, and C11 without extensions."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = ("boosting", "density", "kernels", "online", "rules")
CC = shutil.which("cc")

pytestmark = [
    pytest.mark.skipif(CC is None, reason="there is no C compiler"),
    pytest.mark.skipif(
        not (ROOT / "sklboolean" / "_core" / "dispatch.h").exists(),
        reason="the headers are not installed",
    ),
]


# These take seconds to compile.
LARGE = {("density", False), ("kernels", False)}
CASES = [
    pytest.param(name, plain, marks=[pytest.mark.slow] * ((name, plain) in LARGE))
    for name in PROGRAMS
    for plain in (False, True)
]


@pytest.mark.parametrize(("name", "plain"), CASES)
def test_headers_do_what_their_definitions_say(name, plain, tmp_path):
    dialect = ["-std=c11", "-pedantic-errors", "-DSKLB_PLAIN_C"] if plain else []
    program = tmp_path / name
    source = ROOT / "tests" / "c" / f"{name}.c"
    options = ["-O1", "-ffp-contract=off", "-o", str(program), str(source), "-lm"]
    compiled = subprocess.run(
        [CC, *dialect, *options], capture_output=True, text=True, check=False
    )
    assert compiled.returncode == 0, compiled.stderr
    run = subprocess.run([program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert run.stdout.startswith(name)


def test_every_program_is_run():
    assert {file.stem for file in (ROOT / "tests" / "c").glob("*.c")} == set(PROGRAMS)
