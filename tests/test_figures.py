"""The figures that pages quote are those of the last full run of the benchmarks."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
EXPERIMENTS = [
    page
    for page in sorted((ROOT / "docs" / "experiments").glob("*.md"))
    if page.stem not in {"index", "benchmarks", "results", "exact_calls"}
]


@pytest.fixture(scope="module")
def pages():
    """The module benchmarks/update_pages.py."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import update_pages
    finally:
        sys.path.remove(str(BENCHMARKS))
    return update_pages


@pytest.fixture(scope="module")
def results(pages):
    return pages.read(pages.RESULTS)


def test_pages_quote_the_results(pages, results):
    n_figures = 0
    for page in pages.PAGES:
        text = page.read_text("utf-8")
        new, missing = pages.updated(text, results)
        assert new == text, f"{page.name}: run benchmarks/update_pages.py"
        assert not missing, page.name
        n_figures += len(pages.FIGURE.findall(text)) + len(pages.INSERTED.findall(text))
    assert n_figures > 20


def test_results_are_of_scripts_that_ended_well(results):
    assert all(result["exit_status"] == 0 for result in results.values())
    assert all((BENCHMARKS / script).exists() for script in results)


def test_page_of_the_full_run_has_the_tables_of_the_results(pages, results):
    from run_all import tables

    shown = tables((BENCHMARKS / "results.md").read_text("utf-8"))
    assert shown == [table for result in results.values() for table in result["tables"]]


DECIMAL = re.compile(r"(?<![\w.(])\d*\.\d+(?![\w.])")  # (2.16) is an equation
NOT_MEASURED = re.compile(
    r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|<!--.*?-->|Section [\d.]+", re.DOTALL
)
# Numbers that no script prints: figures of the papers, constants and parameters.
QUOTED = {
    "combination_machine": {
        *("0.071", "0.283", "0.480", "0.089", "0.334", "0.287", "0.87", "0.92"),
        *("0.338", "4.4"),
    },
    # Of peers outside the full run, and of a default that is newer than its results.
    "density_benchmark": {
        *("12.28", "0.16", "12.21", "12.38", "12.23", "12.17"),
        *("6.02", "6.03", "14.86", "15.28", "15.38", "0.02", "1.1"),
    },
    "mistake_bounds": {"1.1", "1.005", "1.07"},
    "query_by_committee": {"0.672", "0.6722"},
}


@pytest.mark.parametrize("page", EXPERIMENTS, ids=lambda page: page.stem)
def test_experiments_hold_numbers_of_their_scripts(page, results):
    """Each number with decimals is in a table of a script that the page names."""
    text = page.read_text("utf-8")
    printed = [
        float(number)
        for script, result in results.items()
        if re.search(rf"\b{Path(script).stem}\.py\b", text)
        for table in result["tables"]
        for row in [[table["title"]], *table["rows"]]
        for number in re.findall(r"\d*\.?\d+", " ".join(row))
    ]
    assert printed
    strange = set()
    for number in DECIMAL.findall(NOT_MEASURED.sub(" ", text)):
        half = 0.5001 * 10.0 ** -len(number.partition(".")[2])
        if not any(abs(float(number) - value) <= half for value in printed):
            strange.add(number)
    assert strange <= QUOTED.get(page.stem, set())


def test_readme_of_benchmarks_names_the_origin_of_each_figure(pages):
    """But for versions and a parameter, each number with decimals has a comment."""
    text = (BENCHMARKS / "README.md").read_text("utf-8")
    text = NOT_MEASURED.sub(" ", pages.FIGURE.sub("", pages.INSERTED.sub("", text)))
    assert set(DECIMAL.findall(text)) <= {"3.10", "1.7", ".7"}


TABLES = {
    "bench_x.py": {
        "script": "bench_x.py",
        "tables": [
            {
                "title": "Seconds, a9a",
                "columns": ["model", "fit s"],
                "rows": [["`Winnow`", "0.0456"], ["SVC", "12.34x / 5"]],
            }
        ],
    }
}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("0.04<!-- bench_x :: Seconds :: Winnow :: fit s -->", "0.05"),
        (".041<!-- bench_x :: Seconds :: `Winnow` :: fit s -->", ".046"),
        ("13<!-- bench_x :: Seconds, a9a :: SVC :: fit s -->", "12"),
        ("3<!-- bench_x :: Seconds :: SVC & 12.34x / 5 :: fit s # 2 -->", "5"),
        ("13 %<!-- bench_x :: Seconds, a9a :: SVC :: fit s -->", "12"),
    ],
)
def test_a_figure_is_replaced_with_its_decimals(pages, before, after):
    new, missing = pages.updated(f"It takes {before} seconds.", TABLES)
    assert new.startswith(f"It takes {after}")
    assert not missing


def test_a_table_is_replaced_as_a_whole(pages):
    text = "<!-- table bench_x :: Seconds -->\nold\n<!-- end -->\nmore"
    new, _ = pages.updated(text, TABLES)
    assert new.splitlines()[1:-2] == [
        "| model | fit s |",
        "| --- | --- |",
        "| `Winnow` | 0.0456 |",
        "| SVC | 12.34x / 5 |",
    ]


@pytest.mark.parametrize("origin", [
    "bench_y :: Seconds :: SVC :: fit s", "bench_x :: Rounds :: SVC :: fit s",
    "bench_x :: Seconds :: EBM :: fit s", "bench_x :: Seconds :: SVC :: loss",
    "bench_x :: Seconds",
])  # fmt: skip
def test_a_figure_without_a_result_is_named(pages, origin):
    text = f"1.5<!-- {origin} -->"
    assert pages.updated(text, TABLES) == (text, [origin])


def test_scripts_that_run_all_names_are_there(pages):
    import run_all

    names = {path.stem for path in run_all.scripts()}
    assert {*run_all.ALONE, *run_all.ARGUMENTS} <= names


def test_a_script_runs_with_each_list_of_arguments(pages, tmp_path, monkeypatch):
    import run_all

    monkeypatch.setattr(run_all, "FOLDER", tmp_path)
    script = tmp_path / "bench_x.py"
    script.write_text(
        "import sys\n"
        "print('x\\nPeer left out: y\\n')\n"
        "print('### ' + sys.argv[1] + '\\n\\n| a |\\n|---|\\n| 1 |')\n"
        "sys.exit(sys.argv[1] == 'B')\n"
    )
    result = run_all.run(script, sys.executable, [["A"], ["B"]], "code", tmp_path)
    assert [table["title"] for table in result["tables"]] == ["A", "B"]
    assert result["left_out"] == ["y"]
    assert result["exit_status"] == 1
