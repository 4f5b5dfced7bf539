"""Importing the package where it cannot work says why."""

import shutil
import subprocess
import sys
from pathlib import Path

import sklboolean


def test_a_source_without_compiled_parts_says_so(tmp_path):
    source = Path(sklboolean.__file__).parent
    for file in [source / "__init__.py", *(source / "_core").glob("*.py")]:
        copy = tmp_path / "sklboolean" / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    done = subprocess.run(
        # -S: an editable install would come first.
        [sys.executable, "-S", "-c", "import sklboolean"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode
    assert "ImportError: This is the source of sklboolean" in done.stderr
    assert "start Python in another folder" in done.stderr
