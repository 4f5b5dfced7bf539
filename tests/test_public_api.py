"""The package as a whole: names, docstrings, layers, dependencies, file sizes."""

import ast
import doctest
import importlib
import importlib.metadata
import inspect
import pkgutil
import re
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc

import sklboolean

ROOT = Path(__file__).parents[1]


def walk_modules():
    """All modules of the installed package, by name; compiled ones included."""
    found = pkgutil.walk_packages(sklboolean.__path__, "sklboolean.")
    return ["sklboolean", *sorted(info.name for info in found)]


def source_file(module):
    """The module's .py file, or None for a compiled module."""
    origin = importlib.util.find_spec(module).origin
    return Path(origin) if origin.endswith(".py") else None


MODULES = walk_modules()
SOURCES = {name: source_file(name) for name in MODULES if source_file(name)}
TREES = {name: ast.parse(file.read_text("utf-8")) for name, file in SOURCES.items()}
CYTHON = sorted((ROOT / "sklboolean").rglob("*.pyx"))

PUBLIC_MODULES = ["sklboolean"] + [
    name
    for name in MODULES
    if name.count(".") == 1 and not name.split(".")[1].startswith("_")
]
PUBLIC = {
    f"{module}.{name}": getattr(importlib.import_module(module), name)
    for module in PUBLIC_MODULES
    for name in getattr(importlib.import_module(module), "__all__", [])
}
CLASSES = {
    name: thing
    for name, thing in PUBLIC.items()
    if inspect.isclass(thing) and not issubclass(thing, Exception)
}
FUNCTIONS = {name: thing for name, thing in PUBLIC.items() if inspect.isfunction(thing)}
METHODS = {
    f"{class_name}.{name}": getattr(thing, name)
    for class_name, thing in CLASSES.items()
    for name in dir(thing)
    if (not name.startswith("_") or name == "__call__")
    and callable(getattr(thing, name))
    and getattr(getattr(thing, name), "__module__", "").startswith("sklboolean")
}
ESTIMATORS = {
    name: thing
    for name, thing in CLASSES.items()
    if hasattr(thing, "fit") and name.count(".") == 1
}


def test_modules_of_the_issue_are_there():
    assert {"sklboolean.kernels", "sklboolean.datasets", "sklboolean.theory"} <= set(
        PUBLIC_MODULES
    )
    assert CYTHON
    assert len(SOURCES) > 20
    assert METHODS
    assert "sklboolean.KernelPerceptron" in ESTIMATORS


# Names


def test_all_lists_what_can_be_imported():
    offenders = []
    for module in map(importlib.import_module, PUBLIC_MODULES):
        names = module.__all__
        twice = {name for name in names if names.count(name) > 1}
        offenders += [
            f"{module.__name__}.{name}"
            for name in names
            if name in twice or name.startswith("_") or not hasattr(module, name)
        ]
    assert not offenders


def public_names(tree):
    """Names that a package defines or imports from this package, to offer them."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.ImportFrom) and "sklboolean" in (node.module or ""):
            yield from (alias.asname or alias.name for alias in node.names)


def test_all_lists_every_name_that_is_made_public():
    """Whatever a package imports from itself it means to offer."""
    offenders = [
        f"{module}.{name}"
        for module in PUBLIC_MODULES
        for name in public_names(TREES[module])
        if not name.startswith("_")
        and name not in importlib.import_module(module).__all__
    ]
    assert not offenders


def test_version_is_that_of_the_installed_package():
    assert sklboolean.__version__ == importlib.metadata.version("sklboolean")


@pytest.mark.slow  # a new process imports everything
def test_packages_are_attributes_from_the_start():
    packages = [module.split(".")[1] for module in PUBLIC_MODULES[1:]]
    assert {"datasets", "inspection", "theory"} <= set(packages)
    program = (
        "import sklboolean\n"
        f"for name in {packages}:\n"
        "    assert name in dir(sklboolean), name\n"
        "    assert getattr(sklboolean, name).__name__ == f'sklboolean.{name}'\n"
        "print('done', hasattr(sklboolean, 'no_such_package'))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.split() == ["done", "False"], done.stderr


def test_kernel_names_lead_to_the_kernels():
    kernels = importlib.import_module("sklboolean.kernels")
    for name, function in kernels.BOOLEAN_KERNELS.items():
        assert function is getattr(kernels, f"{name}_kernel")
    functions = {name for name in kernels.__all__ if name.endswith("_kernel")}
    assert {f"{name}_kernel" for name in kernels.BOOLEAN_KERNELS} == functions
    objects = {name.lower() for name in kernels.__all__ if name.endswith("Kernel")}
    assert {f"{name}kernel" for name in kernels.BOOLEAN_KERNELS} <= objects


# Docstrings


def parameters_of(thing):
    signature = inspect.signature(thing)
    return {
        name: parameter
        for name, parameter in signature.parameters.items()
        if name != "self"
    }


def documentation_of(thing):
    return ClassDoc(thing) if inspect.isclass(thing) else FunctionDoc(thing)


def documented_default(type_text):
    """Return what the docstring gives after "default=", or ``inspect.Parameter.empty``.

    Examples
    --------
    >>> documented_default('float or None, default=0.0')
    0.0
    """
    match = re.search(r"default=(.+)$", type_text)
    return ast.literal_eval(match[1]) if match else inspect.Parameter.empty


def check_summary(documentation, _thing):
    assert len(documentation["Summary"]) == 1, "one line"
    assert documentation["Summary"][0].endswith(".")


def check_parameters(documentation, thing):
    """All are those of the signature, in order, with their defaults."""
    parameters, names = parameters_of(thing), []
    for entry in documentation["Parameters"]:
        for name in map(str.strip, entry.name.split(",")):
            names.append(name)
            assert name in parameters
            written, default = documented_default(entry.type), parameters[name].default
            assert type(written) is type(default), name
            assert written == default, name
    assert names == list(parameters)


def check_entries(documentation, _thing):
    for section in ("Parameters", "Attributes", "Raises"):
        # numpydoc adds the docstrings of methods and properties to a class by itself.
        for entry in documentation.get(section, []):
            assert " ".join(entry.desc).strip(), entry.name
            assert entry.type, entry.name


def check_example(documentation, thing):
    assert documentation["Examples"] or thing not in PUBLIC.values()


def check_returns(documentation, thing):
    if not inspect.isclass(thing):
        assert bool(documentation["Returns"]) == returns_a_value(thing)


DOCSTRING_CHECKS = (
    check_summary, check_parameters, check_entries, check_example, check_returns,
)  # fmt: skip


def failed_checks(things):
    """Names of things with the checks of docstrings that fail, and the first line."""
    unique = {thing: name for name, thing in things.items()}
    for thing, name in unique.items():
        documentation = documentation_of(thing)
        for check in DOCSTRING_CHECKS:
            try:
                check(documentation, thing)
            except AssertionError as error:
                reason = str(error).partition("\n")[0]
                yield f"{name}, {check.__name__}: {reason}"


@pytest.mark.parametrize("things", [CLASSES, FUNCTIONS, METHODS], ids=len)
def test_docstrings_say_everything(things):
    offenders = [*failed_checks(things)]
    assert not offenders


def test_a_wrong_docstring_would_be_seen():
    def wrong(count, size=1):
        """Add two lines

        Parameters
        ----------
        count : int
        size : int, default=2
            Size.
        """
        return count

    checks = [line.split(":")[0] for line in failed_checks({"wrong": wrong})]
    assert checks == [
        "wrong, check_summary",
        "wrong, check_parameters",
        "wrong, check_entries",
        "wrong, check_returns",
    ]


def returns_a_value(function):
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    return any(isinstance(node, ast.Return) and node.value for node in ast.walk(tree))


# The rows are few and easy.
@pytest.mark.filterwarnings(
    "ignore:The first hypothesis alone:UserWarning",
    "ignore:No rule gained enough:UserWarning",
)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_fit_sets_the_documented_attributes_and_changes_no_parameter(name):
    """scikit-learn's checks fit arrays, which have no ``feature_names_in_``."""
    X = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1]])
    y = np.array([1, 1, 0, 0, 0, 0])  # not a and c: every learner can be right
    estimator = ESTIMATORS[name]()
    names, before = set(vars(estimator)), estimator.get_params()
    assert list(before) == sorted(parameters_of(ESTIMATORS[name]))
    frame = pd.DataFrame(X.astype(bool), columns=["a", "b", "c"])
    assert estimator.fit(frame, y) is estimator
    assert estimator.get_params() == before
    attributes = {entry.name for entry in ClassDoc(ESTIMATORS[name])["Attributes"]}
    documented = {each for each in attributes if each.endswith("_")}
    after = {each for each in vars(estimator) if not each.startswith("_")}
    assert after - names == documented


WITH_EXAMPLES = [
    name for name, file in SOURCES.items() if ">>> " in file.read_text("utf-8")
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_in_docstrings_run(module):
    with np.printoptions(threshold=1000, precision=8, suppress=False):
        results = doctest.testmod(
            importlib.import_module(module),
            optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
        )
    assert results.attempted
    assert not results.failed


# Imports


def imports_of(tree):
    """All modules that a tree imports from, with the names that it takes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, None, node
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.module or "", alias.name, node


def cython_imports(text):
    """The same for a .pyx file, by its lines: modules and names."""
    pattern = r"^\s*(?:from\s+([\w.]+)\s+)?c?import\s+(.+?)\s*$"
    for match in re.finditer(pattern, text, re.MULTILINE):
        names = [part.split(" as ")[0].strip(" ()") for part in match[2].split(",")]
        if match[1]:
            yield from ((match[1], name) for name in names)
        else:
            yield from ((name, None) for name in names)


def at_import(statements):
    """Yield statements outside functions: what they import is always imported."""
    for node in statements:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef):
            yield from at_import(ast.iter_child_nodes(node))


def is_private(module, name):
    path = [*module.split("."), *([name] if name else [])]
    return any(part.startswith("_") for part in path)


def test_cython_imports_are_recognised():
    text = "cimport numpy\nfrom libc.math cimport fabs, log as ln\n  import os\n"
    assert list(cython_imports(text)) == [
        ("numpy", None),
        ("libc.math", "fabs"),
        ("libc.math", "log"),
        ("os", None),
    ]


@cache
def imports():
    """All imports: the module, what it imports from, the name, and the node."""
    return [
        (module, source, name, node)
        for module, tree in TREES.items()
        for source, name, node in imports_of(tree)
    ]


def compiled_imports():
    """The same for .pyx files: the module, what it imports from, and the name."""
    for file in CYTHON:
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for source, name in cython_imports(file.read_text("utf-8")):
            yield module, source, name


def test_no_private_name_of_scikit_learn_is_used():
    offenders = [
        (module, source, name)
        for module, source, name, _node in imports()
        if source.split(".")[0] == "sklearn" and is_private(source, name)
    ]
    assert not offenders


def test_tables_come_in_by_one_door():
    doors = {
        "sklboolean._core.validation": {"check_array", "validate_data"},
        "sklboolean._core.weights": {"check_array"},  # one number for each sample
        "sklboolean._core.data_errors": {"check_array"},  # looks for the odd column
        "sklboolean.preprocessing._frames": {"validate_data"},  # columns of any type
    }
    used = {
        (module, name)
        for module, _source, name, _node in imports()
        if name in {"check_array", "check_X_y", "validate_data"}
    }
    assert used == {(module, name) for module in doors for name in doors[module]}


def test_compiled_code_needs_the_standard_libraries_only():
    allowed = {"libc", "cython", "cpython", "sklboolean", *sys.stdlib_module_names}
    offenders = [
        (module, source, name)
        for module, source, name in compiled_imports()
        if source.split(".")[0] not in allowed
    ]
    assert not offenders


BASIC = ("preprocessing", "kernels", "linear_model", "concepts", "density", "boosting")
ALLOWED = {
    "_core": (),
    **dict.fromkeys(BASIC, ("_core",)),
    "density": ("_core", "preprocessing"),
    "active_learning": ("_core", "kernels", "linear_model"),
    "rules": ("_core", "kernels"),
    "ensemble": ("_core", "boosting", "kernels", "preprocessing", "rules"),
    "theory": (
        "_core",
        "boosting._majority_game",
    ),
    "datasets": (),
    "io": ("_core",),
    "inspection": ("_core", *BASIC, "active_learning", "ensemble", "rules"),
    "onnx": ("_core.formula", *BASIC, "ensemble", "inspection", "rules"),
}


def layer_of(module):
    return module.removeprefix("sklboolean").lstrip(".").split(".")[0]


def layer_may_import(module, source, name):
    if source.split(".")[0] != "sklboolean" or not layer_of(module):
        return True
    target = source.removeprefix("sklboolean").lstrip(".")
    if not target:  # from sklboolean import something
        target = name
    own = layer_of(module)
    allowed = (own, *ALLOWED[own])
    return any(target == part or target.startswith(part + ".") for part in allowed)


def test_layers_are_respected():
    assert {*map(layer_of, SOURCES)} <= {"", *ALLOWED}
    offenders = [each for each in compiled_imports() if not layer_may_import(*each)]
    offenders += [each for *each, _node in imports() if not layer_may_import(*each)]
    assert not offenders


def test_a_wrong_import_would_be_seen():
    for module, source, name in [
        ("sklboolean._core.bits", "sklboolean.kernels._dual_training", "UNIT"),
        ("sklboolean.linear_model._winnow", "sklboolean.kernels", "dual"),
        ("sklboolean.theory", "sklboolean.boosting", "majority"),
        ("sklboolean.datasets._bundled", "sklboolean._core.bits", "BitRows"),
        ("sklboolean.kernels._dual_training", "sklboolean", "online"),
    ]:
        assert not layer_may_import(module, source, name)
    for module, source, name in [
        ("sklboolean.theory", "sklboolean.boosting._majority_game", "tail"),
        ("sklboolean.rules._dnf", "sklboolean.kernels._kernels", "x"),
    ]:
        assert layer_may_import(module, source, name)
    assert is_private("sklearn.utils._param_validation", "Interval")
    assert is_private("sklearn.utils.validation", "_check_sample_weight")


def test_imports_are_absolute():
    offenders = [
        module
        for module, _source, _name, node in imports()
        if getattr(node, "level", 0)
    ]
    assert not offenders


REQUIRED = {"numpy", "scipy", "sklearn", "joblib"}
OPTIONAL = {"dask", "fsspec", "matplotlib", "pandas", "polars", "pyarrow", "shap"}
OPTIONAL |= {"skl2onnx"}


def test_dependencies_are_the_declared_ones():
    allowed = {"sklboolean", *sys.stdlib_module_names, *REQUIRED}
    always = {node for tree in TREES.values() for node in at_import(tree.body)}
    offenders = [
        (module, source)
        for module, source, _name, node in imports()
        if source.split(".")[0]
        not in (allowed if node in always else allowed | OPTIONAL)
    ]
    assert not offenders


def test_declared_dependencies_are_the_imported_ones():
    declared = importlib.metadata.requires("sklboolean")
    names = {re.match(r"[\w-]+", line)[0] for line in declared if "extra" not in line}
    assert names == (REQUIRED - {"sklearn"}) | {"scikit-learn"}


# Files


def test_modules_say_what_they_are_for():
    offenders = []
    for module, tree in TREES.items():
        summary = (ast.get_docstring(tree) or "").partition("\n")[0]
        if tree.body and not summary.endswith((".", ":", "?")):
            offenders.append(module)
    assert not offenders
