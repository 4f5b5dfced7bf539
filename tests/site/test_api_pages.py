"""Every public name has a page in the API reference, and every page a public name."""

import importlib
import pkgutil
import re
from pathlib import Path

import sklboolean

PAGES = Path(__file__).parents[2] / "docs" / "api"
MODULE = re.compile(r"^\.\. (?:current)?module:: (\S+)$")
ENTRY = re.compile(r"^(?:   |\.\. data:: )(\w+)$")


def documented_names():
    """The full names in the lists of docs/api."""
    names = []
    for page in sorted(PAGES.glob("*.rst")):
        module = None
        for line in page.read_text("utf-8").splitlines():
            if found := MODULE.match(line):
                module = found[1]
            elif found := ENTRY.match(line):
                names.append((module, found[1]))
    return names


def public_names():
    modules = ["sklboolean"] + [
        info.name
        for info in pkgutil.iter_modules(sklboolean.__path__, "sklboolean.")
        if not info.name.split(".")[1].startswith("_")
    ]
    return [
        (module, name)
        for module in modules
        for name in importlib.import_module(module).__all__
    ]


def thing(entry):
    module, name = entry
    return getattr(importlib.import_module(module), name)


def test_no_name_has_two_pages():
    things = [id(thing(entry)) for entry in documented_names()]
    assert len(set(things)) == len(things) > 100


def test_every_public_name_has_a_page():
    documented = {id(thing(entry)) for entry in documented_names()}
    missing = [entry for entry in public_names() if id(thing(entry)) not in documented]
    assert not missing


def test_every_page_is_of_a_public_name():
    assert set(documented_names()) <= set(public_names())


def test_estimators_are_shown_where_users_import_them():
    top = {id(getattr(sklboolean, name)) for name in sklboolean.__all__}
    for entry in documented_names():
        assert (entry[0] == "sklboolean") == (id(thing(entry)) in top), entry
