"""Boolean kernel matrices against numpy, scipy and BLAS, from uint8 rows to float64.

    python benchmarks/bench_kernels.py [--quick] [--data DIR]

Everything is measured end to end: each function gets the rows as a user has them
(dense uint8, or CSR) and returns a float64 matrix. Ours with ``out=`` writes into one
that is used again. Peers are written the cheapest way we know, in place where that
helps, and every result is compared with ours:

* All conjunctions: ``2**common`` (monotone) is ``exp2`` of a product of matrices. The
  density of the rows is such that no count passes 1000 and no value overflows; the
  time of neither side depends on it. ``2**same`` needs the row sizes too.
* K(X, Z) is a product of two tables. For K(X) = X @ X.T numpy calls the symmetric
  product of BLAS, which does half the work: the stronger peer.
* float32 products are exact for counts and half the work: stronger again.
"""

import argparse
import os
import sys

import numpy as np
from _timing import (
    as_ratio,
    compare,
    forced_paths,
    milliseconds,
    on_path,
    print_header,
    print_table,
)
from _workloads import load_newsgroups, random_rows, zipf_rows
from scipy.spatial.distance import cdist
from scipy.special import binom

from sklboolean.kernels import (
    conjunction_kernel,
    disjunction_kernel,
    dnf_kernel,
    tanimoto_kernel,
)

# 2**common, unless parameters say otherwise.
COUNTS = {"max_literals": None, "monotone": True, "normalize": False}
COLUMNS = ["case", "peer", "ms", "CPU path", "ours ms", "ratio"]
DENSITY = {64: 0.5, 256: 0.5, 1024: 0.5, 8192: 0.1}


# -- peers ----------------------------------------------------------------------------


def gemm(X, Z, dtype=np.float64):
    """Count common ones by a product of matrices, as float64."""
    A = X.astype(dtype)
    counts = A @ (A if Z is X else Z.astype(dtype)).T
    return counts.astype(np.float64, copy=False)


def gemm_power(X, Z, dtype=np.float64):
    """2**common."""
    A = X.astype(dtype)
    counts = A @ (A if Z is X else Z.astype(dtype)).T
    if dtype == np.float64:
        return np.exp2(counts, out=counts)
    return np.exp2(counts, dtype=np.float64)


def gemm_power_same(X, Z):
    """2**same with same = n - |x| - |z| + 2 common."""
    same = gemm(X, Z)
    same *= 2
    same += X.shape[1] - X.sum(axis=1, dtype=np.int64)[:, None]
    same -= Z.sum(axis=1, dtype=np.int64)
    return np.exp2(same, out=same)


def gemm_binom(X, Z):
    """The sum of C(s, l) for l up to 3, as the formula reads."""
    s = gemm(X, Z)
    return sum(binom(s, length) for length in range(4))


def gemm_horner(X, Z):
    """The same sum as the polynomial (s**3 + 5 s) / 6 + 1, in place."""
    s = gemm(X, Z)
    K = s * s
    K += 5
    K *= s
    K /= 6
    K += 1
    return K


def bitwise_count_power(X, Z):
    """2**common by np.bitwise_count, in blocks of rows that fit the cache."""
    A, B = (np.packbits(rows, axis=1).view(np.uint64) for rows in (X, Z))
    B = np.ascontiguousarray(B.T)
    table = np.exp2(np.arange(X.shape[1] + 1))
    dtype = np.uint8 if X.shape[1] < 256 else np.uint16
    K = np.empty((len(X), len(Z)))
    for i in range(0, len(X), 16):
        counts = np.zeros((len(A[i : i + 16]), len(Z)), dtype=dtype)
        for w in range(len(B)):
            counts += np.bitwise_count(A[i : i + 16, w, None] & B[w])
        np.take(table, counts, out=K[i : i + 16], mode="clip")
    return K


def cdist_power(X, Z):
    """2**same from the share of differing features."""
    n = X.shape[1]
    K = cdist(X.astype(bool), Z.astype(bool), "hamming")
    K *= -n
    K += n
    return np.exp2(np.rint(K, out=K), out=K)


def scipy_power(X, Z):
    """2**common of CSR tables."""
    K = (X @ Z.T).toarray()
    return np.exp2(K, out=K)


def pairs(m):
    """C(m, 2)."""
    return m * (m - 1) / 2


def gemm_disjunction(X, Z):
    """Disjunctions of two variables that hold in both rows."""
    n, common = X.shape[1], gemm(X, Z)
    a, b = X.sum(axis=1, dtype=float)[:, None], Z.sum(axis=1, dtype=float)
    return pairs(n) - pairs(n - a) - pairs(n - b) + pairs(n - a - b + common)


def gemm_dnf(X, Z):
    """DNFs of two terms of two variables that hold in both rows."""
    n, common = X.shape[1], gemm(X, Z)
    terms = pairs(n)
    a = pairs(X.sum(axis=1, dtype=float))[:, None]
    b = pairs(Z.sum(axis=1, dtype=float))
    both = pairs(terms - a - b + pairs(common))
    return pairs(terms) - pairs(terms - a) - pairs(terms - b) + both


def gemm_tanimoto(X, Z):
    """Common ones over ones in either row."""
    common = gemm(X, Z)
    union = X.sum(axis=1, dtype=float)[:, None] + Z.sum(axis=1, dtype=float) - common
    return np.divide(common, union, out=np.ones_like(common), where=union > 0)


# -- measuring ------------------------------------------------------------------------


def measure(case, ours, peers, repeats, paths=None):
    """Return a table row for each instruction set and peer."""
    paths = paths or forced_paths()[:1]
    reference = ours()
    for name, peer in peers.items():
        K = peer()
        if not np.allclose(K, reference, rtol=1e-12, atol=0):
            raise AssertionError(f"{case}: {name} computes something else.")
        del K
    del reference
    functions = {("ours", path): on_path(path, ours) for path in paths}
    times = compare({**peers, **functions}, repeats)
    return [
        (
            case, name, milliseconds(times[name]), path,
            milliseconds(times["ours", path]),
            as_ratio(times[name], times["ours", path]),
        )
        for path in paths
        for name in peers
    ]  # fmt: skip


def all_conjunctions(n, n_samples, repeats):
    """2**common, and 2**same where it fits float64, on each CPU path."""
    X, Z = (random_rows(n_samples, n, DENSITY[n], seed) for seed in (0, 1))
    rows, out = [], np.empty((n_samples, n_samples))
    for case, Y, options in (
        ("2**common, K(X, Z), out=", Z, {"out": out}),
        ("2**common, K(X, Z)", Z, {}),
        ("2**common, K(X)", X, {}),
    ):
        rows += measure(
            case,
            lambda Y=Y, options=options: conjunction_kernel(
                X, None if Y is X else Y, **COUNTS, **options
            ),
            {
                "float64 GEMM": lambda Y=Y: gemm_power(X, Y),
                "float32 GEMM": lambda Y=Y: gemm_power(X, Y, np.float32),
            },
            repeats,
            paths=forced_paths()[:2] if Y is X else forced_paths(),
        )
    if n <= 256:
        rows += measure(
            "2**same, K(X, Z)",
            lambda: conjunction_kernel(X, Z, **COUNTS | {"monotone": False}),
            {"float64 GEMM": lambda: gemm_power_same(X, Z)},
            repeats,
        )
    print_table(
        f"All conjunctions, {n_samples} x {n_samples}, n = {n}: against GEMM + exp2",
        COLUMNS,
        rows,
    )


def other_formulas(n_samples, repeats):
    """Bounded conjunctions, other ways to count, the other kernels; n = 256."""
    n = 256
    X, Z = (random_rows(n_samples, n, 0.5, seed) for seed in (0, 1))
    rows = measure(
        "up to 3 literals",
        lambda: conjunction_kernel(X, Z, normalize=False),
        {
            "GEMM + binom": lambda: gemm_binom(X, Z),
            "GEMM + Horner": lambda: gemm_horner(X, Z),
        },
        repeats,
    )
    rows += measure(
        "2**same",
        lambda: conjunction_kernel(X, Z, **COUNTS | {"monotone": False}),
        {"cdist hamming + exp2": lambda: cdist_power(X, Z)},
        repeats,
    )
    if hasattr(np, "bitwise_count"):
        rows += measure(
            "2**common",
            lambda: conjunction_kernel(X, Z, **COUNTS),
            {"np.bitwise_count blocks": lambda: bitwise_count_power(X, Z)},
            repeats,
        )
    for kernel, peer in (
        (disjunction_kernel, gemm_disjunction),
        (dnf_kernel, gemm_dnf),
        (tanimoto_kernel, gemm_tanimoto),
    ):
        rows += measure(
            kernel.__name__,
            lambda kernel=kernel: kernel(X, Z),
            {"GEMM + closed form": lambda peer=peer: peer(X, Z)},
            repeats,
        )
    print_table(f"Other formulas, {n_samples} x {n_samples}, n = {n}", COLUMNS, rows)


def sparse_text(n_samples, repeats, folder):
    """CSR tables of words."""
    tables = {
        "Zipf, 20000 words, 70 a row": [
            zipf_rows(n_samples, 20000, 70, seed) for seed in (0, 1)
        ]
    }
    if folder:
        X = load_newsgroups(folder)
        tables["20 newsgroups"] = [X[:n_samples], X[n_samples : 2 * n_samples]]
    rows = []
    for name, (X, Z) in tables.items():
        for case, Y in ((f"{name}, K(X, Z)", Z), (f"{name}, K(X)", X)):
            rows += measure(
                case,
                lambda X=X, Y=Y: conjunction_kernel(X, None if Y is X else Y, **COUNTS),
                {"scipy X @ Z.T + exp2": lambda X=X, Y=Y: scipy_power(X, Y)},
                repeats,
                paths=forced_paths()[:2],
            )
    print_table(f"Sparse rows, {n_samples} x {n_samples}: 2**common", COLUMNS, rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    parser.add_argument(
        "--data", default=os.environ.get("SKLBOOLEAN_DATA"),
        help="folder with newsgroups20_bydate_bool.npz (see README.md)",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    print_header("Boolean kernel matrices")
    sizes, n_samples, repeats = (64, 1024, 8192), 4096, 3
    if options.quick:
        sizes, n_samples, repeats = (64, 256), 512, 1
    for n in sizes:
        all_conjunctions(n, n_samples, 2 if n > 1024 else repeats)
    other_formulas(n_samples, repeats)
    sparse_text(n_samples, repeats, options.data)


if __name__ == "__main__":
    sys.exit(main())
