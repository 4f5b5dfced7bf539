"""Learning over Boolean features: exact, readable, fast on bits."""

import ast
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

try:
    from sklboolean._core.show_versions import show_versions as show_versions
except ModuleNotFoundError as error:
    if not str(error.name).startswith("sklboolean."):
        raise
    raise ImportError(
        "This is the source of sklboolean, without its compiled parts. After "
        "`pip install .` start Python in another folder than that of the source."
    ) from error


def _modules_of_names():
    """Map each name that the stub imports to its module."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8"))
    return {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


# The stub is the one list of public names: editors read it, and it is read here. Python
# imports an estimator when it is first used, because importing all of them takes a
# third of the time that scikit-learn takes.
_MODULES = _modules_of_names()

__version__ = version("sklboolean")
__all__ = [name for name, module in _MODULES.items() if module != "sklboolean"]


def __getattr__(name):
    if name not in _MODULES:
        raise AttributeError(f"module 'sklboolean' has no attribute {name!r}")
    if _MODULES[name] == "sklboolean":  # a package
        return import_module(f"sklboolean.{name}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__():
    return sorted({*_MODULES, "__all__", "__doc__", "__version__", "show_versions"})
