"""Importing the package where it cannot work says why."""

import ast
import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_editors_see_the_estimators_that_python_imports():
    stub = ast.parse(Path(sklboolean.__file__).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    aliases = [alias for node in imports for alias in node.names]
    assert all(alias.name == alias.asname for alias in aliases), "names are exported"
    for node in imports:
        for alias in node.names:
            value = getattr(sklboolean, alias.name)
            assert value is getattr(importlib.import_module(node.module), alias.name)
    packages = {
        path.parent.name
        for path in Path(sklboolean.__file__).parent.glob("*/__init__.py")
    }
    assert packages - {"_core"} <= {alias.name for alias in aliases}


def lines_of(program):
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_importing_the_package_imports_no_estimator():
    (modules,) = lines_of(
        "import sys, sklboolean\n"
        "print([m for m in sys.modules if m.startswith(('sklboolean.', 'sklearn'))])"
    )
    assert all(name.startswith("sklboolean._core") for name in eval(modules))


@pytest.mark.slow
def test_an_estimator_imports_its_package_only():
    assert lines_of(
        "import sys, sklboolean\n"
        "assert sklboolean.Winnow is sklboolean.linear_model.Winnow\n"
        "print('sklboolean.linear_model' in sys.modules)\n"
        "print('sklboolean.density' in sys.modules)"
    ) == ["True", "False"]
