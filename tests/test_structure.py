"""How the package is built: file sizes, names of modules, functions, plain words."""

import ast
import importlib
import inspect
import io
import re
import textwrap
import tokenize
from functools import cache
from pathlib import Path

import pytest
from _instances import MODELS, fitted, public_estimators

import sklboolean

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "sklboolean"
FILES = {str(file.relative_to(PACKAGE)): file for file in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(file.read_text("utf-8")) for name, file in FILES.items()}
PACKAGES = sorted(
    file.parent.name
    for file in PACKAGE.glob("*/__init__.py")
    if not file.parent.name.startswith("_")
)

# Files

MOST_CODE_LINES = 400


def code_lines(text):
    """Count the lines that hold code: no docstring, comment or blank line."""
    skipped = {
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT,
        tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER,
    }  # fmt: skip
    lines, opens = set(), True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        docstring = opens and token.type == tokenize.STRING
        if token.type not in skipped and not docstring:
            lines.update(range(token.start[0], token.end[0] + 1))
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            opens = True
        elif token.type not in skipped:
            opens = False
    return len(lines)


def test_lines_of_code_are_counted():
    text = (
        '"""A module."""\n\n# why\nx = [\n    1,\n]\n\n\n'
        'def f():\n    """Say."""\n    return 1\n'
    )
    assert code_lines(text) == 5


def test_no_file_is_too_long():
    texts = {name: file.read_text("utf-8") for name, file in FILES.items()}
    long = {
        name: code_lines(text)
        for name, text in texts.items()
        if text.count("\n") > MOST_CODE_LINES and code_lines(text) > MOST_CODE_LINES
    }
    assert not long


def test_implementation_modules_begin_with_an_underscore():
    public = [
        name
        for name in FILES
        if not name.startswith("_core/") and not Path(name).name.startswith("_")
    ]
    assert not public


def exports(tree):
    """Whether a module has ``__all__``."""
    return any(
        isinstance(target, ast.Name) and target.id == "__all__"
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
    )


def test_packages_say_what_they_export_and_nobody_else():
    packages = {name for name in FILES if Path(name).name == "__init__.py"}
    exporting = {name for name, tree in TREES.items() if exports(tree)}
    assert exporting == packages - {"_core/__init__.py"}


# Public names


def test_every_estimator_is_public_in_its_package_too():
    for name in public_estimators():
        estimator = getattr(sklboolean, name)
        package = importlib.import_module(".".join(estimator.__module__.split(".")[:2]))
        assert getattr(package, name) is estimator
        assert name in package.__all__


def is_ours(thing):
    return getattr(thing, "__module__", "").startswith("sklboolean")


PUBLIC = {
    name: getattr(package, name)
    for package in map(importlib.import_module, map("sklboolean.{}".format, PACKAGES))
    for name in package.__all__
}
CLASSES = [thing for thing in PUBLIC.values() if inspect.isclass(thing)]


def test_estimators_of_packages_are_public_at_the_top():
    estimators = {c.__name__ for c in CLASSES if hasattr(c, "get_params")}
    assert {name for name in estimators if hasattr(PUBLIC[name], "fit")} <= (
        public_estimators()
    )


def test_errors_and_warnings_are_public():
    modules = map(importlib.import_module, map(module_name, FILES))
    raised = {
        thing
        for module in modules
        for thing in vars(module).values()
        if inspect.isclass(thing) and is_ours(thing) and issubclass(thing, Exception)
    }
    hidden = {thing.__name__ for thing in raised - set(CLASSES)}
    assert hidden == set()


def module_name(file):
    parts = Path(file).with_suffix("").parts
    return ".".join(["sklboolean", *parts]).removesuffix(".__init__")


def classes_returned(function):
    """Return the classes of this package of which a function returns new objects."""
    function = inspect.unwrap(function)
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    names = {
        node.value.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Return)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
    }
    things = [function.__globals__.get(name) for name in names]
    return {thing for thing in things if inspect.isclass(thing) and is_ours(thing)}


def public_functions():
    for name, thing in PUBLIC.items():
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing):
            for method in dir(thing):
                function = getattr(thing, method)
                if not method.startswith("_") and inspect.isfunction(function):
                    yield f"{name}.{method}", function


def test_what_is_returned_has_a_public_class():
    offenders = [
        f"{name} returns {hidden.__name__}"
        for name, function in public_functions()
        if is_ours(inspect.unwrap(function))
        for hidden in classes_returned(function) - set(CLASSES)
    ]
    assert not offenders


def types_within(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple) and len(value):
        return {type(value)}.union(*map(types_within, value))
    return {type(value)}


@pytest.mark.slow
def test_fitted_attributes_have_public_classes():
    offenders = [
        f"{name}.{attribute} holds {each.__name__}"
        for name in MODELS
        for attribute, value in vars(fitted(name)).items()
        if not attribute.startswith("_")
        for each in types_within(value) - set(CLASSES)
        if is_ours(each)
    ]
    assert not offenders


# Functions that work on estimators

# Names of parameters that stand for an estimator.
ESTIMATOR_NAMES = {
    "base", "booster", "classifier", "committee", "estimator", "learner", "machine",
    "member", "rbm", "session",
}  # fmt: skip
ATTRIBUTE_FUNCTIONS = {"delattr", "getattr", "hasattr", "setattr", "vars"}
# These serve every estimator, or models that users bring: not estimators of ours.
SERVE_ALL = {
    "_core": "helpers of every estimator",
    "ensemble/_pool.py": "adds up fitted models of users",
    "inspection/_distillation.py": "stands in for fitted models of users",
    "inspection/_explanations.py": "explains fitted models of users",
    "inspection/_kernel_sums.py": "reads fitted kernel models of users",
    "inspection/_model_page.py": "shows fitted models of users",
    "inspection/_shapley_values.py": "explains fitted models of users",
    "io/_prediction.py": "predicts by fitted models of users",
    "onnx/_converters.py": "converts fitted models of users",
    "rules/_dual_representation.py": "reads fitted models of users",
    "rules/_extraction.py": "reads fitted models of users",
}
# Functions on estimators that users bring: members of committees, weak learners, models
# whose errors are searched, and scikit-learn's BernoulliRBM.
ON_ESTIMATORS_OF_USERS = {
    "check_classifier", "check_regressor", "fit_member", "fit_weak_hypothesis",
    "has_random_state", "is_version_space", "losses_of_samples", "predict_codes",
    "predict_member", "weights_of_rbm",
}  # fmt: skip


def functions_outside_classes(tree):
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node
        elif not isinstance(node, ast.ClassDef):
            yield from functions_outside_classes(node)


def attributes_touched(function):
    """Yield parameters of a function with the names of attributes that it uses."""
    arguments = function.args
    names = {
        a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    }
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name, attribute = node.value.id, node.attr
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ATTRIBUTE_FUNCTIONS
            and isinstance(node.args[0], ast.Name)
        ):
            name, attribute = node.args[0].id, ""
        else:
            continue
        if name in names:
            yield name, attribute


def works_on_an_estimator(function):
    """Whether a function uses fitted attributes, or any of what has such a name."""
    return any(
        name in ESTIMATOR_NAMES or re.search(r"[a-z0-9]_$", attribute)
        for name, attribute in attributes_touched(function)
    )


def functions_on_estimators():
    return [
        (file, function.name)
        for file, tree in TREES.items()
        for function in functions_outside_classes(tree)
        if works_on_an_estimator(function)
        and function.name not in ON_ESTIMATORS_OF_USERS
        and not any(file.startswith(served) for served in SERVE_ALL)
    ]


def test_functions_on_estimators_are_seen():
    text = """
def reads(learner): return learner.alpha
def sets(thing): thing.coef_ = 1
def asks(estimator): return hasattr(estimator, "fit")
def passes(estimator): return clone(estimator)
def plain(state): return state.coef
class Owner:
    def method(self, booster): return booster.gamma
"""
    functions = functions_outside_classes(ast.parse(text))
    assert [f.name for f in functions if works_on_an_estimator(f)] == [
        "reads", "sets", "asks",
    ]  # fmt: skip


def test_only_classes_work_on_their_estimators():
    assert not functions_on_estimators()


# Parameters of estimators

MOST_PARAMETERS, MOST_PARAMETERS_IN_ALL = 16, 289


def test_estimators_have_few_parameters():
    """Another parameter is an object's, or replaces one; see the architecture."""
    counts = {
        name: len(inspect.signature(getattr(sklboolean, name)).parameters)
        for name in public_estimators()
    }
    assert not {name: n for name, n in counts.items() if n > MOST_PARAMETERS}
    assert sum(counts.values()) <= MOST_PARAMETERS_IN_ALL


# Length of functions

MOST_LINES_OF_FUNCTION, MOST_BRANCHES = 40, 15


def branches(function):
    """Count the ways that a function, with those inside it, can take."""
    count = 0
    for node in ast.walk(function):
        if isinstance(
            node, ast.If | ast.For | ast.While | ast.IfExp | ast.ExceptHandler
        ):
            count += 1
        elif isinstance(node, ast.comprehension):
            count += 1 + len(node.ifs)
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
    return count


def test_branches_are_counted():
    text = "def f(x):\n    if x and x > 1:\n        return [y for y in x if y]\n"
    assert branches(ast.parse(text)) == 4


def test_no_function_is_too_long():
    found = {}
    for name, tree in TREES.items():
        source = FILES[name].read_text("utf-8").splitlines(keepends=True)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                lines = source[node.lineno - 1 : node.end_lineno]
                docstring = (ast.get_docstring(node, clean=False) or "").count("\n")
                size = len(lines) - docstring, branches(node)
                if size[0] > MOST_LINES_OF_FUNCTION:  # with comments
                    size = code_lines(textwrap.dedent("".join(lines))), size[1]
                if size[0] > MOST_LINES_OF_FUNCTION or size[1] > MOST_BRANCHES:
                    found[f"{name} {node.name}"] = size
    assert not found


def test_views_and_formats_read_the_formula_only():
    read = []
    for name, tree in TREES.items():
        for node in ast.walk(tree) if name.startswith(("inspection/", "onnx/")) else ():
            if not isinstance(node, ast.Attribute) or node.attr == "_formula":
                continue
            is_private = node.attr.startswith("_") and not node.attr.startswith("__")
            is_own = isinstance(node.value, ast.Name) and node.value.id in (
                "self",
                "cls",
            )
            if is_private and not is_own:
                read.append(f"{name}:{node.lineno} {node.attr}")
    assert not read


# Words

# House words that gave way to those of the field, and what to write instead.
RETIRED = {
    r"(?<!n_scores, )\bn_rows\b(?!, n_columns)": "n_samples",
    r"\bon-line\b": "online",
    r"[Hh]eaviest conjunction": "the conjunction with the largest weight",
    r"\bgo(es|ing)_on\b": "resume",
    r"\bway[ _]out\b": "fix, remedy",
    r"answer book|AnswerBook": "labels given in advance, ArrayOracle",
    r"\btold right\b": "classified correctly",
    r"\b[Ll]esson\b|open_lesson": "a call of fit",
    r"\bpublish\w*\(": "_set_fitted_attributes",
    r"\bunbalanced\b(?! \|)": "imbalanced",  # a table of the benchmarks has this name
    r"\bgive[sn]? up rows\b": "ignore samples",
    r"\bchances\b": "probabilities",
    r"\bdear(er)?\b": "expensive",
    r"\bliness\b": "elliptical_slice",
    r"\bslope_\b": "calibration_slope_",
    r"\bscore_(bound|scale)_": "score_exponent_",
    r"\bunchanged_on_error\b": "restore_on_error",
    r"\b(plain_words|checked_data|checked_table|as_read)\b": "see _core",
    r"\b(choose_scorer|Scorer)\b": "make_evaluator, KernelEvaluator",
    # Boards of tic-tac-toe and other games are boards.
    r"(?is)\A(?!.*tic.tac.toe).*\b(?<!game )(game|open_)?boards?\b": "vote counts",
    r"\b(seed_of|has_chance|twins_of)\b": "draw_seed, has_random_state",
    r"\b(SignedRows|UnfilledColumns|FoundRules)\b": "RuleList",
    r"\bdreamt\b": "negative phase",
    r"\bkernel machine": "kernel model",
    r"\bwings?\b": "package",
}
# Generated files, the history of names, and the lists of what not to say.
NO_TEXTS = {"_build", "gallery", "generated", "CHANGELOG.md", "glossary.md"}
NO_TEXTS |= {Path(__file__).name}
TEXTS = [
    file
    for pattern in (
        "*.md", "sklboolean/**/*.py", "sklboolean/**/*.pyx", "sklboolean/**/*.pxd",
        "sklboolean/**/*.h", "docs/*.md", "docs/*/*.md", "docs/*.py", "docs/api/*.rst",
        "docs/examples/*.py", "docs/experiments/*", "benchmarks/**/*.py",
        "tests/**/*.py",
    )
    for file in sorted(ROOT.glob(pattern))
    if file.is_file() and file.suffix in {".md", ".py", ".pyx", ".pxd", ".h", ".rst"}
    and not NO_TEXTS & set(file.relative_to(ROOT).parts)
]  # fmt: skip


@cache
def texts():
    return {str(file.relative_to(ROOT)): file.read_text("utf-8") for file in TEXTS}


@pytest.mark.parametrize(("word", "instead"), RETIRED.items(), ids=RETIRED.values())
def test_retired_words_are_not_used(word, instead):
    offenders = [name for name, text in texts().items() if re.search(word, text)]
    assert not offenders, f"write: {instead}"


def test_docstrings_say_what_the_caller_gets():
    riddles = [
        f"{name}: {node.name}"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and re.match(
            r"Return (what|how|where|whether)\b", ast.get_docstring(node) or ""
        )
    ]
    assert not riddles
