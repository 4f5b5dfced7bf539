"""Link code such as `Winnow` on a page to the API page of `sklboolean.Winnow`.

The guides can also be read without Sphinx, so they contain no roles: names are plain
literals, and links to examples are links to files. This extension turns them into links
inside the site. Literals that are not public names stay as they are.
"""

import re

from docutils import nodes
from sphinx.domains.python import PythonDomain
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

EXAMPLE = re.compile(r"\]\((?:\.\./)*examples/(plot_\w+)\.py\)")
OUTSIDE = {
    re.compile(r"\]\((?:\.\./)+benchmarks/README\.md"): "experiments/benchmarks.md",
    re.compile(r"\]\((?:\.\./)+CONTRIBUTING\.md"): "contributing/index.md",
    re.compile(r"\]\((?:\.\./)+CHANGELOG\.md"): "changelog.md",
}


class LinkedNames(SphinxPostTransform):
    """Link every literal that is the name of a public class or function."""

    default_priority = 5
    formats = ("html",)

    def run(self, **kwargs):
        objects = PythonDomain(self.env).objects
        pages = {}
        for name, entry in objects.items():
            if entry.objtype in ("class", "function", "data"):
                pages.setdefault(name.rsplit(".", 1)[-1], (name, entry))
                pages[name.removeprefix("sklboolean.")] = (name, entry)
        here = self.env.docname
        for literal in list(self.document.findall(nodes.literal)):
            name, entry = pages.get(literal.astext().removesuffix("()"), (None, None))
            linked = isinstance(literal.parent, nodes.reference | nodes.title)
            if name is None or linked or entry.docname == here:
                continue
            link = make_refnode(
                self.app.builder, here, entry.docname, entry.node_id, literal.deepcopy()
            )
            literal.replace_self(link)


def files_are_pages(app, docname, source):
    """Turn links to files that are pages of the site into links to these pages."""
    root = "](" + "../" * docname.count("/")
    source[0] = EXAMPLE.sub(rf"{root}gallery/\1.rst)", source[0])
    for file, page in OUTSIDE.items():
        source[0] = file.sub(root + page, source[0])


def hide_what_is_inherited(app, what, name, thing, skip, options):
    """Hide methods of scikit-learn's base classes, which scikit-learn documents."""
    function = getattr(thing, "fget", thing)
    own = getattr(function, "__module__", None) or ""
    if what == "class" and not own.startswith("sklboolean"):
        return True
    return None


def setup(app):
    app.add_post_transform(LinkedNames)
    app.connect("source-read", files_are_pages)
    app.connect("autodoc-skip-member", hide_what_is_inherited)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
