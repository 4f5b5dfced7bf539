"""Write the figures of the last full run into the pages that quote them.

    python benchmarks/update_pages.py [--results DIR]

``--results`` is the ``--output`` of ``run_all.py``: its results.json and results.md are
copied to this folder first. A page names the origin of a figure in a comment that
readers do not see:

* A number, followed by script, title of the table, first cell of the row, and column::

      7.2<!-- bench_linear_model :: fit, 10 shuffled :: Perceptron :: / ours -->

  It is replaced by the first number of that cell, rounded to as many decimals as are
  written. A title may be shortened to how it begins. Where the first cell does not name
  one row, more of its cells follow after ``&``. ``fit # 2`` is the second number of a
  cell.
* A table, between ``<!-- table bench_waiting :: a9a -->`` and ``<!-- end -->``. It is
  replaced by the whole table that the script printed.

A figure of which results.json has no table stays as it is, and is listed.
``tests/test_figures.py`` fails where a page differs from results.json.
"""

import argparse
import re
import shutil
import sys
from pathlib import Path

from run_all import FOLDER, read

RESULTS = FOLDER / "results.json"
ROOT = FOLDER.parent
PAGES = [
    ROOT / "README.md",
    FOLDER / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "user_guide").glob("*.md")),
    *sorted((ROOT / "docs" / "experiments").glob("*.md")),
]
NUMBER = r"-?\d*\.?\d+"
FIGURE = re.compile(rf"({NUMBER})(?=( ?[\w%]*)<!-- (\w+) :: ([^>]+?) -->)")
INSERTED = re.compile(r"(<!-- table (\w+) :: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def find_tables(results, script, title):
    """Return the tables of a script whose titles begin like this."""
    return [
        table
        for result in results.values()
        if Path(result["script"]).stem == script
        for table in result["tables"]
        if table["title"].startswith(title)
    ]


def find_number(results, script, title, row, column):
    """Return a number of a cell, as a text, or None."""
    column, _, place = column.partition(" # ")
    wanted = {part.strip("`") for part in row.split(" & ")}
    for table in find_tables(results, script, title):
        for cells in table["rows"] if column in table["columns"] else ():
            if wanted <= {cell.strip("`") for cell in cells}:
                cell = cells[table["columns"].index(column)]
                return dict(enumerate(re.findall(NUMBER, cell), 1)).get(int(place or 1))
    return None


def rounded(text, like):
    """Return a number with as many decimals as another has."""
    _, point, decimals = like.partition(".")
    shown = f"{float(text):.{len(decimals)}f}"
    if point and not like.lstrip("-").startswith("0"):
        shown = re.sub(r"^(-?)0\.", r"\1.", shown)
    return shown


def as_table(table):
    """Return a table in Markdown."""
    lines = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def updated(text, results):
    """Return a page with the figures of the results, and what was not found."""
    missing = []

    def figure(match):
        parts = match[4].split(" :: ")
        number = find_number(results, match[3], *parts) if len(parts) == 3 else None
        if number is None:
            missing.append(f"{match[3]} :: {match[4]}")
            return match[0]
        return rounded(number, match[1])

    def table(match):
        found = find_tables(results, match[2], match[3])
        if not found:
            missing.append(f"{match[2]} :: {match[3]}")
            return match[0]
        return match[1] + as_table(found[0]) + match[4]

    return INSERTED.sub(table, FIGURE.sub(figure, text)), missing


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, help="folder that run_all.py wrote")
    options = parser.parse_args(arguments)
    if options.results:
        for name in ("results.json", "results.md"):
            shutil.copy(options.results / name, FOLDER / name)
    results = read(RESULTS)
    for page in PAGES:
        text = page.read_text("utf-8")
        new, missing = updated(text, results)
        for name in missing:
            print(f"{page.relative_to(ROOT)}: no result for {name}")
        if new != text:
            page.write_text(new, "utf-8")
            print(f"{page.relative_to(ROOT)}: updated")


if __name__ == "__main__":
    sys.exit(main())
