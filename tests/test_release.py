"""What a release states in several files is the same in all of them."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RELEASE = re.compile(r"\d+\.\d+\.\d+")

pytestmark = pytest.mark.skipif(
    not (ROOT / "recipe").exists(), reason="the source is not at hand"
)


def read(file):
    return (ROOT / file).read_text("utf-8")


def project():
    return tomllib.loads(read("pyproject.toml"))["project"]


def test_the_version_is_the_same_everywhere():
    version = project()["version"]
    (in_meson,) = re.findall(r"^  version: '(.+)',$", read("meson.build"), re.M)
    assert in_meson == version
    # These name the release that a version under development will be.
    release = RELEASE.match(version)[0]
    assert version in (release, f"{release}.dev0")
    (cited,) = re.findall(r"^version: (.+)$", read("CITATION.cff"), re.M)
    (packed,) = re.findall(r'set version = "(.+)"', read("recipe/meta.yaml"))
    newest, day = re.findall(r"^## \[(.+)\] - (.+)$", read("CHANGELOG.md"), re.M)[0]
    assert cited == packed == newest == release
    if version == release:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", day), "the changelog has no date"
    else:
        assert day == "unreleased"


def test_models_of_the_version_are_stored():
    folder = ROOT / "tests" / "robustness" / "pickles" / project()["version"]
    assert len(list(folder.glob("*.joblib"))) > 20


def test_the_recipe_asks_for_what_the_package_needs():
    recipe = read("recipe/meta.yaml")
    run = recipe[recipe.index("  run:") : recipe.index("\ntest:")]
    asked = sorted(re.findall(r"    - (\S+) (>=\S+)$", run, re.M))
    needed = [re.match(r"([\w-]+)(>=\S+)", text) for text in project()["dependencies"]]
    assert asked == sorted(each.groups() for each in needed)
    build = tomllib.loads(read("pyproject.toml"))["build-system"]["requires"]
    for text in build:
        assert re.sub("(?=>=)", " ", text) in recipe


def test_the_changelog_has_the_headings_of_keep_a_changelog():
    headings = set(re.findall(r"^### (.+)$", read("CHANGELOG.md"), re.M))
    allowed = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert headings <= allowed


def test_ci_runs_the_commands_of_the_readme():
    """Word for word, first, and in every job that installs the package by pip."""
    script = ".ci/readme_commands"
    printed = subprocess.run(
        [sys.executable, ROOT / script], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    indented = [line.strip() for line in read("README.md").split("\n    ")[1:]]
    assert printed == [text.partition("\n")[0] for text in indented]
    assert printed == [
        "pip install . && python docs/examples/quickstart.py",
        'pip install ".[test]" && pytest -n auto',
    ]
    steps = re.findall(
        r"^(?!#)[^#\n]*\b(pip install|readme_commands --run)\b", read(".ci/run"), re.M
    )
    assert steps[0] == "readme_commands --run"
    jobs = re.findall(r"- run: (.+)", read(".github/workflows/tests.yml"))
    allowed = ("bash .ci/run", f"python {script} --run", "bash .ci/oldest")
    assert jobs
    assert all(job.startswith(allowed) for job in jobs)
