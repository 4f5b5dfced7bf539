"""Text and figures stand out from what is behind them; every picture has words.

The ratios are those of the Web Content Accessibility Guidelines 2.2: 4.5 for text
(1.4.3), 3 for what figures are made of (1.4.11).
"""

import re
from html import unescape
from pathlib import Path

import pytest

from sklboolean.inspection._figure import COLORS

DOCS = Path(__file__).parents[2] / "docs"
SITE = DOCS / "_build"
THEMES = ["light", "dark"]

needs_the_site = pytest.mark.skipif(
    not (SITE / "index.html").exists(), reason="the site is not built: docs/_build"
)
IMAGE = re.compile(r"""<img\b(?:"[^"]*"|[^>"])*>""")  # words may contain ">"


def luminance(color):
    """Relative luminance of a colour such as #0a7d91."""
    if len(color) == 4:
        color = "#" + "".join(2 * digit for digit in color[1:])
    parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first, second):
    """Contrast of two colours, from 1 to 21."""
    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


def theme_colors(theme):
    """The variables of the theme that are colours."""
    style = (SITE / "_static/styles/pydata-sphinx-theme.css").read_text("utf-8")
    rules = re.findall(rf"html\[data-theme=\"?{theme}\"?\]\{{([^}}]*)\}}", style)
    return dict(re.findall(r"--pst-color-([\w-]+):(#[0-9a-f]{3,6})\b", "".join(rules)))


def test_contrast_by_definition():
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.005)
    assert contrast("#0a0", "#00aa00") == 1


@pytest.mark.parametrize("color", COLORS)
def test_figures_stand_out(color):
    assert contrast(color, "#ffffff") >= 3


@needs_the_site
@pytest.mark.parametrize("theme", THEMES)
def test_text_stands_out(theme):
    colors = theme_colors(theme)
    for text in ("text-base", "text-muted", "primary", "link-higher-contrast"):
        assert contrast(colors[text], colors["background"]) >= 4.5, text
    for text in ("text-base", "text-muted", "inline-code", "on-surface"):
        assert contrast(colors[text], colors["surface"]) >= 4.5, text


@needs_the_site
@pytest.mark.parametrize("theme", THEMES)
def test_code_stands_out(theme):
    style = (SITE / "_static" / "pygments.css").read_text("utf-8")
    behind = theme_colors(theme)["surface"]
    rule = rf'^html\[data-theme="{theme}"\] \.highlight \.(\w+) \{{ color: (#\w+)'
    kinds = re.findall(rule, style, re.MULTILINE)
    assert len(kinds) > 40
    for kind, color in kinds:
        assert contrast(color, behind) >= 4.5, (kind, color)


@needs_the_site
def test_pictures_have_words():
    n_pictures = 0
    for page in SITE.rglob("*.html"):
        for tag in IMAGE.findall(page.read_text("utf-8")):
            found = re.search(r'\balt="([^"]*)"', tag)
            assert found, (page.name, tag)
            words = unescape(found[1])
            if re.search("_thumb|logo|toggler", tag):
                continue  # its name stands beside it
            assert len(words) > 8, (page.name, tag)
            # What the gallery writes for a figure without a title.
            assert not re.match(r"plot [a-z ]+$", words), (page.name, tag)
            n_pictures += 1
    assert n_pictures > 50


def test_every_guide_page_has_a_figure_with_words():
    for page in DOCS.glob("user_guide/*.md"):
        text = page.read_text("utf-8")
        if page.stem not in ("index", "capabilities", "compare", "speed"):  # tables
            assert re.search(r"!\[[^\]]{9,}\]\([^)]+\.(png|svg)\)", text), page.name
        assert "####" not in text, page.name


def test_no_page_has_formulas_that_the_site_cannot_show():
    for page in [*DOCS.glob("*.md"), *DOCS.glob("*/*.md")]:
        assert not re.search(r"\$\$|\\sum|\\text\{", page.read_text("utf-8")), page.name
