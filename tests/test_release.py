"""What a release states in several files is the same in all of them."""

import re
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
