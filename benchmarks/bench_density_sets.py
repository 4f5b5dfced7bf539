"""Test likelihoods on the binary sets that the field compares on.

``python benchmarks/bench_density_sets.py --data FOLDER`` takes debd_*.npz, nade_*.npz
(README.md) and triples NAME.train.data, NAME.valid.data, NAME.test.data of the twenty
sets: a line for each sample, bits with commas. Columns of which exactly one is true, or
at most one, become groups; for the latter a column is added that the others determine,
which changes no likelihood. Of the models the one with the best validation likelihood
counts. --jobs fits run at the same time, by default one.
"""

import argparse
import os
import sys
import warnings
from pathlib import Path

import numpy as np
from _timing import print_header, print_table, timed
from _workloads import load_density_sets
from joblib import Parallel, delayed
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, clone

from sklboolean import (
    BernoulliMixture,
    ChowLiuTree,
    CombinationMachine,
    DensityMixture,
)

# Columns of the attributes of adult, of which some have samples without a value.
ADULT = [5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41]


def find_widths(known):
    """Count the columns of consecutive groups with exactly one true bit each."""
    widths, first, n = [], 0, known.shape[1]
    while first < n:
        sums = np.cumsum(known[:, first:], axis=1, dtype=np.int64)
        last = np.flatnonzero((sums == 1).all(axis=0))
        widths.append(int(last[0]) + 1 if len(last) else 1)
        first += widths[-1]
    return widths


def with_groups(parts, widths):
    """Return the parts, with a column for "none" where it occurs, and the labels."""
    columns, labels, first = [[] for _ in parts], [], 0
    for number, width in enumerate(widths):
        blocks = [part[:, first : first + width] for part in parts]
        first += width
        none = [1 - block.sum(axis=1, keepdims=True) for block in blocks]
        if width > 1 and any(rest.any() for rest in none):
            blocks = [np.hstack(pair) for pair in zip(blocks, none, strict=True)]
        for part, block in zip(columns, blocks, strict=True):
            part.append(block)
        labels += [number] * blocks[0].shape[1]
    return [np.hstack(part).astype(np.uint8) for part in columns], np.array(labels)


class Mean(BaseEstimator):
    """The mean of densities that differ by their seeds."""

    def __init__(self, density, n_seeds):
        self.density, self.n_seeds = density, n_seeds

    def fit(self, X):
        self.densities_ = [
            clone(self.density).set_params(random_state=seed).fit(X)
            for seed in range(self.n_seeds)
        ]
        return self

    def score(self, X):
        scores = [density.score_samples(X) for density in self.densities_]
        return float(logsumexp(scores, axis=0).mean() - np.log(self.n_seeds))


def models_for(groups):
    """Return the models by title."""
    shared = {"feature_groups": groups, "random_state": 0}
    machine = CombinationMachine(8, base="chow_liu", n_init=2, max_iter=400, **shared)
    models = {
        "Chow-Liu tree": ChowLiuTree(**shared),
        "mixture, 50": BernoulliMixture(50, **shared),
        "10 trees": DensityMixture(ChowLiuTree(), n_components=10, **shared),
        "machine on a tree, 8": machine.set_params(alpha=1e-3),
        "default mixture": DensityMixture(n_components=10, **shared),
    }
    if groups is None:
        small = CombinationMachine(
            6, base="chow_liu", alpha=2e-3, n_init=1, max_iter=20
        )
        mixture = DensityMixture(small, n_components=20, max_iter=14)
        models["4 x 20 machines"] = Mean(mixture, 4)
        large = CombinationMachine(
            14, base="chow_liu", n_init=1, alpha=1e-4, max_iter=300
        )
        models["8 x 1 machine of 14"] = Mean(large, 8)
    return models


def row_of(name, title, model, parts):
    """Fit a model; return its likelihoods and the seconds of the fit as cells."""
    warnings.simplefilter("ignore")
    _, seconds = timed(lambda: model.fit(parts[0]))
    scores = (f"{model.score(part):.2f}" for part in parts[1:])
    return [name, title, *scores, f"{seconds:.1f}"]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small and meaningless")
    parser.add_argument("--only", help="one set")
    parser.add_argument("--data", default=os.environ.get("SKLBOOLEAN_DATA"))
    parser.add_argument("--jobs", type=int, default=1, help="fits at the same time")
    options = parser.parse_args(arguments)
    print_header("Densities of binary sets")
    if not options.data:
        print("\nNo --data: nothing to do.")
        return
    fits = []
    for name, parts in load_density_sets(Path(options.data)):
        if options.only not in (None, name):
            continue
        parts = [part[:200] for part in parts] if options.quick else parts
        n = parts[0].shape[1]
        widths = ADULT if name == "adult" else find_widths(np.vstack(parts[:2]))
        prefix, groups = "", None
        if max(widths) > 1 and sum(widths) == n:
            fits.append((name, "Chow-Liu tree", ChowLiuTree(), parts))
            prefix, (parts, groups) = "groups, ", with_groups(parts, widths)
        for title, model in models_for(groups).items():
            if options.quick and "max_iter" in model.get_params():
                model.set_params(max_iter=2)
            fits.append((name, prefix + title, model, parts))
    rows = Parallel(n_jobs=options.jobs)(delayed(row_of)(*fit) for fit in fits)
    columns = ["set", "model", "validation", "test", "CPU s"]
    print_table("Nats of a sample", columns, rows)


if __name__ == "__main__":
    sys.exit(main())
