"""The built documentation, opened in a browser that can reach nothing else.

Build it with ``sphinx-build -W docs docs/_build``.
"""

import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest
from browser import CHROMIUM, open_page, serve

SITE = Path(__file__).parents[2] / "docs" / "_build"

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").exists(), reason="the site is not built: docs/_build"
)
in_a_browser = pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")

TAG = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*>")
FROM_ELSEWHERE = re.compile(r"""(?:src|srcset|href)=["'](?:https?:)?//""")
LINK = re.compile(r"""<a\b[^>]*?\bhref=["']((?!\w+:|//)[^"'?]+)["']""")
NAMED = re.compile(r"""<[^>]*?\bid=["']([^"']+)["']""")
IN_STYLES = re.compile(r"""(?:url\(["']?|@import\s+["'])(?:https?:)?//""")


@pytest.fixture(scope="module")
def address():
    with serve(SITE) as server:
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def text_of(document):
    """What a document says, without tags."""
    bare = re.sub(
        r"<(script|style)\b.*?</\1>|<!--.*?-->", "", document, flags=re.DOTALL
    )
    return unescape(re.sub(r"<[^>]+>", "", bare))


def results_of(document):
    """The pages that a search has found."""
    found = re.search(r'id="search-results">(.*?)</ul>', document, re.DOTALL)
    assert found, "no list of results"
    return re.findall(r'<a href="([^"?#]+)', found[1])


def test_no_page_loads_anything_from_elsewhere():
    pages = sorted(SITE.rglob("*.html"))
    assert len(pages) > 100
    for page in pages:
        for tag in TAG.findall(page.read_text("utf-8")):
            assert not FROM_ELSEWHERE.search(tag), (page.name, tag)
    for page in SITE.rglob("*.css"):
        assert not IN_STYLES.search(page.read_text("utf-8")), page.name


@pytest.mark.slow
def test_links_inside_the_site_lead_somewhere():
    pages = {page: page.read_text("utf-8") for page in SITE.rglob("*.html")}
    places = {page: set(NAMED.findall(text)) for page, text in pages.items()}
    n_links = 0
    for page, text in pages.items():
        for link in LINK.findall(text):
            path, _, anchor = unquote(unescape(link)).partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), (page.name, link)
            assert not anchor or anchor in places[target], (page.name, link)
            n_links += 1
    assert n_links > 1000


def test_what_would_be_loaded_from_elsewhere_is_seen():
    assert FROM_ELSEWHERE.search('<script src="https://example.org/a.js">')
    assert FROM_ELSEWHERE.search('<link href="//example.org/a.css" rel="stylesheet">')
    assert not FROM_ELSEWHERE.search('<link href="_static/a.css" rel="stylesheet">')
    assert IN_STYLES.search('@import "https://example.org/a.css";')
    assert IN_STYLES.search("src: url(//example.org/a.woff2)")
    assert not IN_STYLES.search("src: url(../webfonts/a.woff2)")


@in_a_browser
def test_front_page_leads_to_all_parts(address, tmp_path):
    document = open_page(f"{address}/index.html", tmp_path)
    for part in ("install", "tour", "user_guide/index", "gallery/index", "api/index"):
        assert f'href="{part}.html"' in document
    assert "BooleanEnsembleClassifier" in text_of(document)
    assert document.count("<img") >= 1


@in_a_browser
def test_api_page_has_signature_methods_and_example(address, tmp_path):
    document = open_page(f"{address}/api/generated/sklboolean.Winnow.html", tmp_path)
    for method in ("fit", "partial_fit", "predict", "decision_function"):
        assert f'id="sklboolean.Winnow.{method}"' in document
    text = text_of(document)
    assert "promotion" in text
    assert ">>> from sklboolean import Winnow" in text


@in_a_browser
@pytest.mark.parametrize("protocol", ["http", "file"])
def test_search_works_without_a_network(address, tmp_path, protocol):
    place = address if protocol == "http" else SITE.as_uri()
    document = open_page(f"{place}/search.html?q=irrelevant+features", tmp_path)
    found = [page.removeprefix(f"{place}/") for page in results_of(document)]
    assert "api/generated/sklboolean.Winnow.html" in found
    assert len(found) < 50


@in_a_browser
def test_search_for_a_name_finds_its_page_first(address, tmp_path):
    document = open_page(f"{address}/search.html?q=KernelPerceptron", tmp_path)
    assert results_of(document)[0].endswith("sklboolean.KernelPerceptron.html")


@in_a_browser
@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("choose", "choose"),
        ("tune", "tune"),
        ("speed", "speed"),
        ("data frame", "data_frames"),
        ("imbalanced", "imbalanced_classes"),
        ("missing values", "missing_values"),
        ("label noise", "label_noise"),
        ("deploy", "deploy"),
        ("progress", "progress"),
        ("reproduce", "reproduce"),
        ("compare", "compare"),
        ("export to SQL", "deploy"),
        ("drift", "model_in_use"),
        ("multiclass", "ensemble"),
        ("confusion matrix", "imbalanced_classes"),
        ("one-hot", "data"),
        ("privacy", "ask_a_table"),
    ],
)
def test_search_for_a_task_finds_its_page_first(address, tmp_path, words, page):
    query = words.replace(" ", "+")
    document = open_page(f"{address}/search.html?q={query}", tmp_path)
    assert results_of(document)[0].endswith(f"user_guide/{page}.html")


@in_a_browser
def test_gallery_page_has_program_output_and_figures(address, tmp_path):
    page = "gallery/plot_completing_digits.html"
    document = open_page(f"{address}/{page}", tmp_path)
    text = text_of(document)
    assert "CompletionDisplay.from_estimator(" in text
    assert re.search(r"combination machine +-\d+\.\d\d nats", text)
    figures = re.findall(
        r'<img[^>]* src="([^"]+plot_completing_digits_\d+\.png)"', document
    )
    assert len(figures) == 2
    for figure in figures:
        assert (SITE / "gallery" / figure).stat().st_size > 5000
