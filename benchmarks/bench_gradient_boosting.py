"""Boosted trees on bits against LightGBM with the same trees.

    python benchmarks/bench_gradient_boosting.py [--quick]

Twenty numbers become eight thresholds each, and the label follows from products and
steps of six of them. Both learners grow a fixed number of trees of as many leaves over
all features, without held-out samples, with the same least number of samples in a leaf.
CPU seconds on one core with the layout of the data; the wall time of two threads beside
that of one; and the log-loss of samples that neither saw.
"""

import argparse
import sys
from time import perf_counter

import numpy as np
from _timing import as_ratio, compare, print_header, print_table
from scipy.special import expit
from sklearn.metrics import log_loss

from sklboolean import BooleanGradientBoostingClassifier

TREES = {"learning_rate": 0.1, "min_samples_leaf": 20, "max_leaf_nodes": 15}


def samples(n_samples, seed=0):
    """Thresholds of normal numbers, and labels of a sum of products and steps."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n_samples, 20))
    cuts = np.linspace(-1.2, 1.2, 8)
    X = (Z[:, :, None] <= cuts).reshape(n_samples, -1).astype(np.uint8)
    score = Z[:, 0] * Z[:, 1] + Z[:, 2] - np.abs(Z[:, 3])
    score += 0.5 * Z[:, 4] * (Z[:, 5] > 0)
    return X, (rng.random(n_samples) < expit(1.5 * score)).astype(int)


def ours(n_trees, n_jobs=None):
    """Make our learner."""
    return BooleanGradientBoostingClassifier(
        max_iter=n_trees, max_features=1.0, l2_regularization=0.0, random_state=0,
        n_iter_no_change=None, n_jobs=n_jobs, **TREES,
    )  # fmt: skip


def theirs(n_trees):
    """Make LightGBM's."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=n_trees, num_leaves=15, learning_rate=0.1, n_jobs=1, verbose=-1,
        min_child_samples=20,
    )  # fmt: skip


def wall(function):
    """Time a call by the clock."""
    start = perf_counter()
    function()
    return perf_counter() - start


def measure(n_samples, n_trees, repeats):
    """Return a row of times and losses."""
    X, y = samples(n_samples)
    X_test, y_test = samples(20_000, seed=1)
    learners = {"ours": ours(n_trees), "LightGBM": theirs(n_trees)}
    times = compare(
        {name: lambda m=model: m.fit(X, y) for name, model in learners.items()}, repeats
    )
    one, two = (wall(lambda n=n: ours(n_trees, n).fit(X, y)) for n in (1, 2))
    losses = [log_loss(y_test, m.predict_proba(X_test)) for m in learners.values()]
    return (
        n_samples, n_trees, *(f"{time:.3f}" for time in times.values()),
        as_ratio(times["ours"], times["LightGBM"]), f"{two / one:.2f}",
        *(f"{loss:.4f}" for loss in losses),
    )  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    options = parser.parse_args(arguments)
    print_header("Boosted trees on bits")
    try:
        import lightgbm  # noqa: F401
    except ImportError:
        print("LightGBM is not installed: nothing to compare with.")
        return
    sizes = [(1000, 100, 3), (5000, 100, 3)]
    if not options.quick:
        sizes += [(100_000, 100, 1), (1_000_000, 100, 1)]
    head = ["samples", "trees", "ours, s", "LightGBM, s", "ratio", "two threads to one"]
    head += ["log-loss", "of LightGBM"]
    print_table("Fits", head, [measure(*size) for size in sizes])


if __name__ == "__main__":
    sys.exit(main())
