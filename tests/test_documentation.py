"""Every Python block of the README and of the user guide runs as it stands there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "user_guide").glob("*.md"))]
BLOCK = re.compile(r"^```python(?: needs (\w+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def run_blocks(page, package=""):
    """Run the blocks that need no package, or this one."""
    names = {}
    for needed, block in BLOCK.findall(page.read_text("utf-8")):
        if needed in ("", package):
            exec(compile(block, str(page), "exec"), names)


# Blocks that open with "```python needs package": skipped where it is not installed.
NEEDY = [
    pytest.param(page, package, id=f"{page.name}-{package}")
    for page in PAGES
    for package in sorted(
        {needed for needed, _ in BLOCK.findall(page.read_text("utf-8"))}
    )
    if package
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_of_a_page_run_one_after_the_other(page):
    assert BLOCK.search(page.read_text("utf-8"))
    run_blocks(page)


# What such a package calls that others deprecate is its own affair.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(("page", "package"), NEEDY)
def test_blocks_that_need_a_package_run_where_it_is_installed(page, package):
    pytest.importorskip(package)
    run_blocks(page, package)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8"))
    for link in links:
        assert (page.parent / link).exists(), link
