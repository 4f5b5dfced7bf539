"""`find_subgroups` against pysubgroup, and the time of its permutations.

    python benchmarks/bench_subgroups.py [--quick] [--data DIR]

* Search: the conjunction of up to two and three true features with the largest sum of
  the centred label, in 5,000 samples, with the labels and with permuted ones, of which
  bounds exclude fewer conjunctions. pysubgroup searches for the largest weighted
  relative accuracy, which is this sum divided by the number of samples; all find the
  same. "the search alone" is the package's search for one sum. One pass of
  `find_subgroups` searches 31 permutations as well, and its row includes them. Packing
  and reading the samples is included on our side, the preparation of the data frame
  and the selectors is not on the other.
* Permutations: 1,000 of all samples, with conjunctions of up to three features and
  their negations. pysubgroup's permutation test corrects for the groups that it lists,
  not for those it searched, so it has no part in this.

Mushroom comes with the package; a9a needs ``--data``. Rows of pysubgroup are left out,
with a line that says so, where it is not installed.
"""

import argparse
import os
import sys
from functools import partial
from importlib.util import find_spec

import numpy as np
import pandas as pd
from _timing import as_ratio, compare, milliseconds, print_header, print_table, timed
from _workloads import load_part

from sklboolean._core.bits import pack_dense
from sklboolean._core.conjunction_search import search_conjunctions
from sklboolean.datasets import load_mushroom
from sklboolean.inspection import find_subgroups

N_SEARCHED = 5000


def tables(folder):
    """Yield name, bits and labels."""
    X, y = load_mushroom(return_X_y=True)
    yield "mushroom", X.astype(bool), y == y.max()
    if folder is not None:
        X, y = load_part(folder, "libsvm_a9a", "train")
        X = X.toarray() if hasattr(X, "toarray") else X
        yield "a9a", X.astype(bool), y == y.max()


def ours(X, y, length):
    """Find the group with the largest sum, and search 31 permutations."""
    return find_subgroups(
        X, y, n_groups=1, max_literals=length, power=0, side="higher", min_size=1,
        monotone=True, test_size=0, n_permutations=31, random_state=0,
    )  # fmt: skip


def peers(X, y, length):
    """Return searches by name; none where pysubgroup is not installed."""
    if find_spec("pysubgroup") is None:
        return {}
    import pysubgroup

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    selectors = [pysubgroup.EqualitySelector(name, True) for name in frame]
    frame["label"] = y
    task = pysubgroup.SubgroupDiscoveryTask(
        frame, pysubgroup.BinaryTarget("label", True), selectors, result_set_size=1,
        depth=length, qf=pysubgroup.WRAccQF(),
    )  # fmt: skip
    searches = {
        "pysubgroup, DFS": pysubgroup.DFS(pysubgroup.BitSetRepresentation),
        "pysubgroup, BestFirstSearch": pysubgroup.BestFirstSearch(),
    }
    return {
        name: (lambda s=search: s.execute(task)) for name, search in searches.items()
    }


def measure_searches(name, X, y, length, repeats):
    """Print the time of one search by each package."""
    score = ours(X, y, length).columns["score"][0]
    searches = peers(X, y, length)
    for search in searches.values():
        assert np.isclose(search().to_dataframe().quality[0] * len(X), score)
    alone = partial(
        search_conjunctions, n_features=X.shape[1], max_literals=length,
        n_rules=1, sign="positive",
    )  # fmt: skip
    assert np.isclose(alone(pack_dense(X), y - y.mean()).found[0][1], score)
    searches = {
        "the search alone": lambda: alone(pack_dense(X), y - y.mean()),
        "find_subgroups": lambda: ours(X, y, length),
        **searches,
    }
    times = compare(searches, repeats)
    rows = [
        (of, milliseconds(time), as_ratio(time, times["the search alone"]))
        for of, time in times.items()
    ]
    title = f"{name}, {len(X)} samples, {X.shape[1]} features, up to {length} of them"
    print_table(title, ["search", "ms", "ratio"], rows)


def measure_permutations(name, X, y, n_permutations):
    """Print the time of a p-value."""
    found, seconds = timed(
        lambda: find_subgroups(
            X, y, n_groups=1, test_size=0, n_permutations=n_permutations, random_state=0
        )
    )
    row = f"{seconds:.1f}", found.texts[0], f"{found.columns['p_value'][0]:.3g}"
    title = f"{name}, {len(X)} samples, {n_permutations} permutations"
    print_table(title, ["CPU s", "group", "p"], [row])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples")
    parser.add_argument("--data", default=os.environ.get("SKLBOOLEAN_DATA"))
    arguments = parser.parse_args()
    print_header("Subgroups")
    if find_spec("pysubgroup") is None:
        print("  skipped     pysubgroup is not installed: pip install pysubgroup")
    rng = np.random.default_rng(0)
    for name, X, y in tables(None if arguments.quick else arguments.data):
        n_searched = 300 if arguments.quick else N_SEARCHED
        part = rng.permutation(len(X))[:n_searched]
        for length in (2,) if arguments.quick else (2, 3):
            measure_searches(name, X[part], y[part], length, 1)
            permuted = rng.permutation(y[part])
            measure_searches(f"{name}, permuted", X[part], permuted, length, 1)
        if arguments.quick:
            X, y = X[part], y[part]
        measure_permutations(name, X, y, 99 if arguments.quick else 1000)


if __name__ == "__main__":
    sys.exit(main())
