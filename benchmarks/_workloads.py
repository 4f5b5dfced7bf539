"""Data for the benchmark scripts: made up, bundled, or read from a folder.

A folder given with ``--data`` (or in SKLBOOLEAN_DATA) holds .npz files in one of two
forms: ``X_<part>_packed`` (np.packbits by rows) or ``X_<part>_indptr`` and
``X_<part>_indices`` (CSR, all values one), with ``n_features`` and ``y_<part>``.
"""

from pathlib import Path

import numpy as np
from scipy import sparse

__all__ = [
    "class_labels",
    "linear_labels",
    "load_density_sets",
    "load_newsgroups",
    "load_part",
    "random_rows",
    "zipf_rows",
]


def random_rows(n_samples, n_features, density, seed):
    """Draw independent features, each true with probability ``density``; uint8."""
    rng = np.random.default_rng(seed)
    X = np.empty((n_samples, n_features), dtype=np.uint8)
    for first in range(0, n_samples, 256):
        block = X[first : first + 256]
        block[:] = rng.random(block.shape, dtype=np.float32) < density
    return X


def zipf_rows(n_samples, n_words, words_per_row, seed):
    """Draw rows of distinct words, word number j in proportion to 1 / j.

    Returns
    -------
    X : csr_array of shape (n_samples, n_words), float64 ones
        Columns are in random order.
    """
    rng = np.random.default_rng(0)
    word_of_rank = rng.permutation(n_words)
    ranks = np.arange(1, n_words + 1, dtype=np.float32)
    rng = np.random.default_rng(seed)
    words = np.empty((n_samples, words_per_row), dtype=np.int64)
    for first in range(0, n_samples, 64):
        block = words[first : first + 64]
        # The first to ring of independent alarms with these rates.
        alarms = rng.standard_exponential((len(block), n_words), dtype=np.float32)
        alarms *= ranks
        chosen = np.argpartition(alarms, words_per_row, axis=1)[:, :words_per_row]
        block[:] = np.sort(word_of_rank[chosen], axis=1)
    indptr = np.arange(n_samples + 1) * words_per_row
    return sparse.csr_array(
        (np.ones(words.size), words.ravel(), indptr), shape=(n_samples, n_words)
    )


def linear_labels(X, noise, seed):
    """Label rows by a hidden normal weight vector, half of them 1; flip a share."""
    rng = np.random.default_rng(seed)
    scores = X @ rng.standard_normal(X.shape[1])
    y = scores >= np.median(scores)
    return (y ^ (rng.random(len(y)) < noise)).astype(np.int64)


def class_labels(X, n_classes, seed):
    """Label rows by the largest of hidden linear scores with Gumbel noise."""
    rng = np.random.default_rng(seed)
    scores = X @ rng.standard_normal((X.shape[1], n_classes))
    return (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def load_part(folder, name, part):
    """Return (X, y) of one part of a data set: "all", "train" or "test".

    X is uint8, or a csr_array of float64 ones.
    """
    with np.load(Path(folder) / f"{name}.npz", allow_pickle=False) as arrays:
        n_features, y = int(arrays["n_features"]), arrays[f"y_{part}"]
        if f"X_{part}_packed" in arrays:
            packed = arrays[f"X_{part}_packed"]
            return np.unpackbits(packed, axis=1, count=n_features), y
        indptr, indices = arrays[f"X_{part}_indptr"], arrays[f"X_{part}_indices"]
    X = sparse.csr_array(
        (np.ones(len(indices)), indices, indptr), shape=(len(indptr) - 1, n_features)
    )
    X.sort_indices()
    return X, y


def load_newsgroups(folder):
    """Return 20 newsgroups (training part), shuffled, without posts over 1000 words.

    2**common of a longer post with itself exceeds float64.
    """
    X, _ = load_part(folder, "newsgroups20_bydate_bool", "train")
    X = X[np.flatnonzero(np.diff(X.indptr) <= 1000)]
    return X[np.random.default_rng(0).permutation(X.shape[0])]


def load_density_sets(folder):
    """Yield name and (train, validation, test) of binary sets; uint8."""
    for path in sorted([*folder.glob("debd_*.npz"), *folder.glob("nade_*.npz")]):
        with np.load(path, allow_pickle=False) as arrays:
            n = int(arrays["n_features"])
            parts = [arrays[f"X_{part}_packed"] for part in ("train", "valid", "test")]
        name = path.stem.split("_")[1]
        yield name, [np.unpackbits(part, axis=1, count=n) for part in parts]
    for path in sorted(folder.glob("*.train.data")):
        name = path.name.removesuffix(".train.data")
        files = [folder / f"{name}.{part}.data" for part in ("train", "valid", "test")]
        yield name, [np.loadtxt(file, np.uint8, delimiter=",") for file in files]
