"""Every Python block of the README and of the documentation runs as it stands there."""

import ast
import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import ClassifierMixin, RegressorMixin

import sklboolean

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted(DOCS.rglob("*.md"))
        if not {"_build", "gallery"} & set(page.relative_to(DOCS).parts)
    ),
]
BLOCK = re.compile(r"^```python(?: needs (\w+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
RESULT = re.compile(r"(^# .*\n)+\Z", re.MULTILINE)
SHOWN = re.compile(r"^```(python|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)
WITH_BLOCKS = [page for page in PAGES if BLOCK.search(page.read_text("utf-8"))]
# Pages that show what each of their blocks prints.
WITH_OUTPUT = [ROOT / "README.md", DOCS / "tour.md", DOCS / "index.md"]


def name_of(page):
    return str(page.relative_to(ROOT))


def run(block, page, names):
    """Run a block; return what it printed, and the value of its last line."""
    lines = ast.parse(block).body
    last = [lines.pop().value] if isinstance(lines[-1], ast.Expr) else []
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(lines, []), str(page), "exec"), names)
        for value in last:
            value = eval(compile(ast.Expression(value), str(page), "eval"), names)
            print("" if value is None else repr(value), end="")
    return printed.getvalue()


def in_outline(text):
    """A text without spaces, all numbers alike: they may differ by machine."""
    return re.sub(r"\d[\d.]*(e-?\d+)?", "0", "".join(text.split()))


def check_comment(block, printed):
    """Assert that comments at the end of a block show what it printed."""
    shown = RESULT.search(block)
    if shown:
        result = re.sub("^# ", "", shown[0], flags=re.MULTILINE)
        assert in_outline(result) == in_outline(printed)


def run_blocks(page, package=""):
    """Run the blocks that need no package, or this one; comments end with results."""
    names = {}
    for needed, block in BLOCK.findall(page.read_text("utf-8")):
        if needed in ("", package):
            check_comment(block, run(block, page, names))


# Blocks that open with "```python needs package": skipped where it is not installed.
NEEDY = [
    pytest.param(page, package, id=f"{name_of(page)}-{package}")
    for page in WITH_BLOCKS
    for package in sorted(
        {needed for needed, _ in BLOCK.findall(page.read_text("utf-8"))}
    )
    if package
]


def test_pages_with_blocks_were_found():
    found = {name_of(page) for page in WITH_BLOCKS}
    assert {"README.md", "docs/tour.md", "docs/install.md"} <= found
    guides = set(DOCS.glob("user_guide/*.md")) - {DOCS / "user_guide" / "index.md"}
    assert {name_of(page) for page in guides} <= found


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in WITH_BLOCKS if page not in WITH_OUTPUT], ids=name_of
)
def test_blocks_of_a_page_run_one_after_the_other(page):
    run_blocks(page)


# What such a package calls that others deprecate is its own affair.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(("page", "package"), NEEDY)
def test_blocks_that_need_a_package_run_where_it_is_installed(page, package):
    pytest.importorskip(package)
    run_blocks(page, package)


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_OUTPUT, ids=name_of)
def test_what_a_page_shows_is_what_its_blocks_print(page):
    names, printed, n_shown = {}, None, 0
    for kind, text in SHOWN.findall(page.read_text("utf-8")):
        if kind == "python":
            printed = run(text, page, names)
            check_comment(text, printed)
        else:
            assert text == printed
            n_shown += 1
    assert n_shown


NOTHING_ELSE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"matplotlib", "pyarrow", "polars"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
"""


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_first_examples_need_only_pandas_and_our_package(page, tmp_path):
    blocks = [block for _, block in BLOCK.findall((ROOT / page).read_text("utf-8"))]
    code = "\n".join([NOTHING_ELSE, *blocks])
    # Not in the folder of the source, which would hide the installed package.
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


@pytest.mark.slow
def test_quickstart_needs_only_our_package(tmp_path):
    code = NOTHING_ELSE.replace('{"mat', '{"pandas", "mat')
    code += f"""
import runpy
runpy.run_path({str(DOCS / "examples" / "quickstart.py")!r}, run_name="__main__")
"""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert "recurrence if affected lymph nodes > 2" in done.stdout.decode()


def test_tune_lists_parameters_that_exist():
    page = (DOCS / "user_guide" / "tune.md").read_text("utf-8")
    names, n_parameters = [], 0
    for first, parameter in re.findall(r"^\|(.*?)\| `(\w+)` \|", page, re.MULTILINE):
        names = re.findall(r"`(\w+)`", first) or names
        for name in names:
            assert parameter in getattr(sklboolean, name)().get_params()
            n_parameters += 1
    assert n_parameters > 30


def test_table_of_capabilities_lists_each_model():
    page = (DOCS / "user_guide" / "capabilities.md").read_text("utf-8")
    listed = set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))
    things = {name: getattr(sklboolean, name) for name in sklboolean.__all__}
    found = {
        name
        for name, thing in things.items()
        if isinstance(thing, type)
        and issubclass(thing, ClassifierMixin | RegressorMixin)
    }
    assert listed == found


@pytest.mark.slow
def test_table_of_capabilities_says_what_models_can(monkeypatch):
    pytest.importorskip("skl2onnx")
    monkeypatch.syspath_prepend(DOCS)
    import capabilities

    page = capabilities.PAGE.read_text("utf-8")
    assert page == capabilities.filled(page), "run python docs/capabilities.py"


def test_links_to_files_lead_somewhere():
    """Links to the gallery are checked when the site is built."""
    offenders = [
        f"{name_of(page)}: {link}"
        for page in PAGES
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8"))
        if "gallery/" not in link and not (page.parent / link).exists()
    ]
    assert not offenders
