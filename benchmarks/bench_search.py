"""Searches for conjunctions: what each engine takes, and which one is chosen.

    python benchmarks/bench_search.py [--quick]

One exact search for the 50 conjunctions of largest weight, with negations, over samples
of independent bits and real coefficients. CPU milliseconds of

* tables: with the layout and the counts, as for a single search;
* again: a further search of the same samples, as a fit makes hundreds of them;
* branches: branch and bound, stopped after a second ("> 1 s");
* chosen: what `search_conjunctions` does, a race where neither is known to be quicker.
"""

import argparse
from contextlib import contextmanager
from itertools import product
from unittest.mock import patch

import numpy as np
from _timing import print_header, print_table, timed

from sklboolean._core import conjunction_search, conjunction_table
from sklboolean._core.bits import pack_dense
from sklboolean._core.conjunction_search import ConjunctionSearch

GRID = ((400, 4000, 32_000), (30, 100, 300), (0.05, 0.5), (2, 3, 4))
QUICK_GRID = ((400,), (30,), (0.2,), (2, 3))


@contextmanager
def engine(name):
    """Let all searches run by one engine."""
    if name == "tables":
        with patch.object(conjunction_search, "QUICK_TABLE", np.inf):
            yield
    elif name == "branches":
        with patch.object(conjunction_table, "MAX_SUMS", 0):
            yield
    else:
        yield


def milliseconds(result, seconds):
    """Write a time, or that the limit ended the search."""
    return f"{1e3 * seconds:.1f}" if result.is_optimal else "> 1 s"


def row_of(n_samples, n_features, density, max_literals):
    """Time the engines for one shape of data."""
    rng = np.random.default_rng(0)
    words = pack_dense(rng.random((n_samples, n_features)) < density)
    coefficients = np.rint(1024 * rng.standard_normal(n_samples))

    def prepared():
        return ConjunctionSearch(
            words, n_features, max_literals=max_literals, monotone=False
        )

    def search(by, **limits):
        return by.best(coefficients, n_rules=50, **limits)

    row = [n_samples, n_features, density, max_literals]
    with engine("tables"):
        kept = prepared()
        if kept.table(max_literals) is None:
            row += ["too large", ""]
        else:
            row.append(milliseconds(*timed(lambda: search(kept))))
            row.append(milliseconds(*timed(lambda: search(kept))))
    with engine("branches"):
        row.append(milliseconds(*timed(lambda: search(prepared(), time_limit=1.0))))
    row.append(milliseconds(*timed(lambda: search(prepared(), time_limit=5.0))))
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data")
    parser.add_argument("--data", help="not needed")
    arguments = parser.parse_args()
    print_header("Searches for conjunctions")
    grid = QUICK_GRID if arguments.quick else GRID
    print_table(
        "CPU milliseconds of a search",
        ["samples", "features", "ones", "literals", "tables", "again", "branches",
         "chosen"],
        [row_of(*shape) for shape in product(*grid)],
    )  # fmt: skip


if __name__ == "__main__":
    main()
