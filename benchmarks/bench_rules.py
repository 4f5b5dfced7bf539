"""Conjunctions as columns against PolynomialFeatures.

    python benchmarks/bench_rules.py [--quick]

Both sides get a fitted transformer and the same samples, and every result is compared.
PolynomialFeatures has compiled code for CSR (and CSC, by way of CSR) up to degree 3,
multiplies columns one by one beyond, and makes dense output of dense samples. Its
values are float64; ours are float64 or bool. Memory is the peak of what numpy allocates
during the call, the result included.
"""

import argparse
import sys
import tracemalloc
import warnings

import numpy as np
from _timing import as_ratio, compare, milliseconds, print_header, print_table
from scipy import sparse
from sklearn.preprocessing import PolynomialFeatures

from sklboolean import ConjunctionFeatures


def sparse_samples(n_samples, n_features, n_true, seed=0):
    """Draw samples with ``n_true`` features each: float64 CSR, int32 indices."""
    rng = np.random.default_rng(seed)
    rows = [rng.choice(n_features, n_true, replace=False) for _ in range(n_samples)]
    indices = np.sort(rows, axis=1).astype(np.int32).ravel()
    indptr = np.arange(0, len(indices) + 1, n_true, dtype=np.int32)
    shape = n_samples, n_features
    return sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=shape)


def peak_allocated(function):
    """Measure the peak of memory during a call, in MiB."""
    tracemalloc.start()
    result = function()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    del result
    return peak


def same(ours, theirs):
    """Compare two arrays, sparse or dense."""
    if not sparse.issparse(theirs):
        return np.array_equal(ours.toarray(), theirs)
    # Not by scipy's comparison: it would look at all columns of the indices' type.
    theirs = sparse.csr_array(theirs)
    theirs.sort_indices()
    return all(
        np.array_equal(getattr(ours, part), getattr(theirs, part))
        for part in ("indptr", "indices", "data")
    )


def compare_case(case, X, degree, repeats):
    """Measure one case, a line of the table."""
    peer = PolynomialFeatures(degree, interaction_only=True, include_bias=False).fit(X)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "max_literals=")  # many columns are meant
        ours = ConjunctionFeatures(max_literals=degree).fit(X)
    theirs = peer.transform(X)
    if not same(ours.transform(X), theirs):
        raise AssertionError(f"{case}: PolynomialFeatures gives other values.")
    del theirs
    calls = {"ours": lambda: ours.transform(X), "peer": lambda: peer.transform(X)}
    times = compare(calls, repeats)
    memory = {name: peak_allocated(call) for name, call in calls.items()}
    return (
        case, degree, peer.n_output_features_, milliseconds(times["peer"]), "float64",
        milliseconds(times["ours"]), as_ratio(times["peer"], times["ours"]),
        f"{memory['peer']:.0f}", f"{memory['ours']:.0f}",
    )  # fmt: skip


def conjunctions_as_columns(quick):
    """Sparse and dense samples, two to four literals."""
    few, repeats = (10, 1) if quick else (1, 3)
    wide = sparse_samples(20_000 // few, 2000, 20)
    narrow = sparse_samples(5000 // few, 300, 20)
    tiny = sparse_samples(500 // few, 14, 6)
    dense = sparse_samples(2000 // few, 200, 20).toarray()
    cases = [
        ("CSR, 2000 features, 20 true", wide, 2),
        ("CSC, 2000 features, 20 true", sparse.csc_array(wide), 2),
        ("CSR of bool, 2000 features, 20 true", wide.astype(bool), 2),
        ("CSR, 300 features, 20 true", narrow, 3),
        ("CSR, 14 features, 6 true", tiny, 4),
        ("dense, 200 features, 20 true", dense, 2),
    ]
    columns = [
        "samples", "literals", "columns", "PolynomialFeatures ms", "dtype", "ours ms",
        "ratio", "their MiB", "our MiB",
    ]  # fmt: skip
    rows = [compare_case(*case, repeats) for case in cases]
    print_table("All conjunctions: against PolynomialFeatures", columns, rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    options = parser.parse_args(arguments)
    print_header("Rules")
    conjunctions_as_columns(options.quick)


if __name__ == "__main__":
    sys.exit(main())
