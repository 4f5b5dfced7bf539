"""Make pages answer to words that people search for.

``search_words`` in conf.py gives the words of each page. They become main entries of
the index, which the search shows first, above titles and texts.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform


class SearchWords(SphinxTransform):
    """Add the index entries of a page after its title."""

    default_priority = 400

    def apply(self, **kwargs):
        words = self.config.search_words.get(self.env.docname)
        if words:
            section = next(self.document.findall(nodes.section))
            entries = [
                ("single", word, section["ids"][0], "main", None)
                for word in words.split(", ")
            ]
            section.insert(1, addnodes.index(entries=entries))


def setup(app):
    app.add_config_value("search_words", {}, "env")
    app.add_transform(SearchWords)
    return {"version": "1", "parallel_read_safe": True}
