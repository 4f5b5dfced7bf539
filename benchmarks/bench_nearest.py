"""`nearest` against brute-force searches: scikit-learn, faiss, usearch.

    python benchmarks/bench_nearest.py [--quick]

The ten samples most similar to each query, by Tanimoto's kernel, among random
fingerprints whose numbers of true features vary as those of molecules do. Every second
query is a sample with a few changes. scikit-learn searches by the Jaccard distance,
which is 1 less the kernel; usearch searches all samples by the same similarity, in
single precision. faiss has no Tanimoto: it searches by the Hamming distance, another
question on the same bits. CPU seconds for all queries on one thread. The values of
scikit-learn are compared with ours.
"""

import argparse
import sys

import numpy as np
from _timing import as_ratio, compare, milliseconds, print_header, print_table
from sklearn.neighbors import NearestNeighbors

from sklboolean.kernels import nearest


def fingerprints(n_samples, n_queries, n_features, seed=0):
    """Rows of 2 to 8 % ones; every second query is a sample with changes."""
    rng = np.random.default_rng(seed)
    frequencies = rng.random(n_features) ** 3
    sizes = rng.uniform(0.02, 0.08, (n_samples + n_queries, 1)) / frequencies.mean()
    table = np.empty((n_samples + n_queries, n_features), np.uint8)
    for first in range(0, len(table), 4096):
        part = table[first : first + 4096]
        part[:] = rng.random(part.shape) < frequencies * sizes[first : first + 4096]
    X, Q = table[:n_samples], table[n_samples:]
    Q[::2] = X[rng.integers(0, n_samples, len(Q[::2]))]
    Q[::2] ^= rng.random(Q[::2].shape) < 0.004
    return X, Q


def peers(X, Q, k):
    """Searches by name, each ready to run; those whose package is installed."""
    searches = {
        "NearestNeighbors(metric='jaccard')": lambda: (
            NearestNeighbors(n_neighbors=k, metric="jaccard", algorithm="brute")
            .fit(X.astype(bool))
            .kneighbors(Q.astype(bool))
        )
    }
    A, B = (np.packbits(table, axis=1) for table in (X, Q))
    try:
        import faiss
    except ImportError:
        pass
    else:
        faiss.omp_set_num_threads(1)

        def by_faiss():
            index = faiss.IndexBinaryFlat(X.shape[1])
            index.add(A)
            return index.search(B, k)

        searches["faiss, Hamming"] = by_faiss
    try:
        from usearch.index import MetricKind, search
    except ImportError:
        pass
    else:
        searches["usearch, exact"] = lambda: search(
            A, B, k, MetricKind.Tanimoto, exact=True, threads=1
        )
    return searches


def measure(n_samples, n_queries, n_features, k, repeats, title):
    """Print the time of ours and of each peer."""
    X, Q = fingerprints(n_samples, n_queries, n_features)
    searches = {"nearest": lambda: nearest(Q, X, k), **peers(X, Q, k)}
    distances, _ = searches["NearestNeighbors(metric='jaccard')"]()
    assert np.allclose(1 - distances, nearest(Q, X, k)[0])
    times = compare(searches, repeats)
    n_pairs = n_samples * n_queries
    rows = [
        (
            name, milliseconds(time), f"{time / n_pairs * 1e9:.2f}",
            as_ratio(time, times["nearest"]),
        )
        for name, time in times.items()
    ]  # fmt: skip
    print_table(title, ["search", "ms", "ns a pair", "ratio"], rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    options = parser.parse_args(arguments)
    print_header("Nearest samples by Tanimoto's kernel")
    n_samples, n_queries = (3000, 100) if options.quick else (20000, 200)
    for n_features in (256, 2048):
        measure(
            n_samples, n_queries, n_features, 10, 1,
            f"{n_queries} queries among {n_samples} samples of {n_features} features",
        )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
