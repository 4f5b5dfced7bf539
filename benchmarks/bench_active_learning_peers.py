"""Labels on request: accuracy against labels, and time per query, beside the peers.

    python benchmarks/bench_active_learning_peers.py [--quick] [--data DIR] [--seeds N]

All methods begin with the same ten random samples and query five labels at a time among
the same pool of at most 800. Their labels train the same random forest of 60 trees. Its
accuracy is measured on samples outside the pool with 20 to 200 labels; the table gives
the area under this curve, in percent. Peers are scikit-activeml's BADGE and margin
sampling over logistic regression, margin sampling over a forest, and query by committee
of ten bagged trees, where scikit-activeml is installed.

car, nursery, newsgroups_w100, mushroom, votes and USPS were used to choose the default
committee, with other splits; tic-tac-toe was not.
"""

import argparse
import os
import sys
import warnings

import numpy as np
from _timing import milliseconds, print_header, print_table, timed
from _workloads import load_part
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklboolean import QueryByCommittee
from sklboolean.datasets import load_mushroom, load_votes, make_tic_tac_toe

N_FIRST, BATCH = 10, 5
CHECKPOINTS = (20, 40, 60, 80, 120, 160, 200)
POOL, TEST = 800, 2000
# The splits of the seeds below were used to choose the default.
FIRST_SEED = 100
RANDOM, OURS = "random", "QueryByCommittee()"
FILES = {
    "car": "uci_car", "nursery": "uci_nursery", "newsgroups_w100": "newsgroups_w100",
    "USPS": "usps_binarized",
}  # fmt: skip


def ask_at_random(X, y, first, n_labels, seed):
    """Return the first samples, and others at random."""
    left = np.setdiff1d(np.arange(len(y)), first)
    return np.concatenate([first, np.random.RandomState(seed).permutation(left)])


def ask_ours(X, y, first, n_labels, seed):
    """Query with `QueryByCommittee` at its defaults."""
    learner = QueryByCommittee(
        epsilon=None, initial=first, max_queries=n_labels, batch_size=BATCH,
        random_state=seed,
    ).fit(X, y)  # fmt: skip
    return learner.query_indices_


def ask_activeml(X, y, first, n_labels, seed, choose):
    """Query with scikit-activeml: ``choose(X, known, classes)`` returns a batch."""
    known = np.full(len(y), np.nan)
    known[first] = y[first]
    asked = list(first)
    while len(asked) < n_labels:
        batch = choose(X, known, np.unique(y))
        known[batch] = y[batch]
        asked.extend(batch)
    return np.array(asked)


def peers():
    """Return the ways of asking of scikit-activeml, if it is installed."""
    try:
        from skactiveml.classifier import SklearnClassifier
        from skactiveml.pool import Badge, UncertaintySampling
        from skactiveml.pool import QueryByCommittee as Peer
    except ImportError:
        print("\nPeers left out: scikit-activeml is not installed.")
        return {}

    def ask(strategy, model, name):
        def run(X, y, first, n_labels, seed):
            query = strategy(seed)

            def choose(X, known, classes):
                wrapped = [SklearnClassifier(m, classes=classes) for m in model(seed)]
                options = {name: wrapped if name == "ensemble" else wrapped[0]}
                return query.query(X, known, batch_size=BATCH, **options)

            return ask_activeml(X, y, first, n_labels, seed, choose)

        return run

    def logistic(_seed):
        return [LogisticRegression(max_iter=1000)]

    def forest(seed):
        return [RandomForestClassifier(random_state=seed)]

    def trees(seed):
        # In one BaggingClassifier, a tree without a class of the others is an error.
        return [
            BaggingClassifier(
                DecisionTreeClassifier(), n_estimators=1, random_state=1000 * seed + k
            )
            for k in range(10)
        ]

    def margin(seed):
        return UncertaintySampling("margin_sampling", random_state=seed)

    return {
        "BADGE, logistic": ask(lambda s: Badge(random_state=s), logistic, "clf"),
        "margin, logistic": ask(margin, logistic, "clf"),
        "margin, forest": ask(margin, forest, "clf"),
        "QBC, bagged trees": ask(lambda s: Peer(random_state=s), trees, "ensemble"),
    }


def load_tables(folder):
    """Return (X, y) by name."""
    tables = {
        "mushroom": load_mushroom(return_X_y=True),
        "votes": load_votes(return_X_y=True),
        "tic-tac-toe": make_tic_tac_toe(return_X_y=True),
    }
    if not folder:
        print("\nNo --data: without " + ", ".join(FILES) + ".")
    for name, file in FILES.items() if folder else ():
        try:
            parts = [load_part(folder, file, "all")]
        except KeyError:
            parts = [load_part(folder, file, part) for part in ("train", "test")]
        tables[name] = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    return {
        name: (np.asarray(X, dtype=float), np.unique(y, return_inverse=True)[1])
        for name, (X, y) in tables.items()
    }


def area_and_time(ask, X, y, seed, checkpoints):
    """Return the area under the accuracy curve in percent, and seconds per query."""
    rows = np.random.RandomState(seed).permutation(len(y))
    n_pool = min(POOL, 2 * len(y) // 3)
    pool, test = rows[:n_pool], rows[n_pool : n_pool + TEST]
    X_pool, y_pool = X[pool], y[pool]
    first = np.arange(N_FIRST)
    if len(np.unique(y_pool[first])) < 2:
        first[-1] = np.flatnonzero(y_pool != y_pool[0])[0]
    n_labels = checkpoints[-1]
    asked, seconds = timed(lambda: ask(X_pool, y_pool, first, n_labels, seed))
    scores = []
    for n in checkpoints:
        forest = RandomForestClassifier(60, random_state=seed)
        forest.fit(X_pool[asked[:n]], y_pool[asked[:n]])
        scores.append(100 * forest.score(X[test], y[test]))
    heights, widths = np.convolve(scores, [0.5, 0.5], "valid"), np.diff(checkpoints)
    area = heights @ widths / widths.sum()
    return area, seconds / ((n_labels - N_FIRST) / BATCH)


def with_error(values):
    spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{values.mean():.1f} ± {spread:.1f}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, one seed")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds")
    parser.add_argument(
        "--data", default=os.environ.get("SKLBOOLEAN_DATA"),
        help="folder with uci_car.npz and others (see README.md)",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")  # of peers, about classes without a sample
    print_header("Active learning: QueryByCommittee beside scikit-activeml")
    asking = {RANDOM: ask_at_random, OURS: ask_ours, **peers()}
    tables = load_tables(options.data)
    n_seeds = 1 if options.quick else options.seeds
    checkpoints = CHECKPOINTS[:2] if options.quick else CHECKPOINTS
    areas = {method: {} for method in asking}
    times = {method: [] for method in asking}
    for table, (X, y) in tables.items():
        for method, ask in asking.items():
            found = [
                area_and_time(ask, X, y, FIRST_SEED + seed, checkpoints)
                for seed in range(n_seeds)
            ]
            areas[method][table] = np.array([area for area, _ in found])
            times[method].append(np.mean([seconds for _, seconds in found]))
        print(f"{table} done", file=sys.stderr)
    means = {
        method: np.mean([values.mean() for values in found.values()])
        for method, found in areas.items()
    }
    print_table(
        f"Area under the accuracy curve to {checkpoints[-1]} labels, {n_seeds} seeds",
        ["queried by", *tables, "mean", "over random", "ms per query"],
        [
            (
                method, *(with_error(values) for values in found.values()),
                f"{means[method]:.2f}", f"{means[method] - means[RANDOM]:+.2f}",
                milliseconds(np.mean(times[method])),
            )
            for method, found in areas.items()
        ],
    )  # fmt: skip
    gains = [areas[OURS][name].mean() - areas[RANDOM][name].mean() for name in tables]
    summary = [("least gain over random", min(gains))]
    rivals = [method for method in asking if method not in (RANDOM, OURS)]
    if rivals:
        best = max(rivals, key=means.get)
        lead = means[OURS] - means[best]
        summary.append((f"mean above the best peer, {best}", lead))
        ratio = np.mean(times[best]) / np.mean(times[OURS])
        summary.append((f"speed of a query, ratio to {best}", ratio))
    rows = [(name, f"{value:.2f}") for name, value in summary]
    print_table("Summary", ["measure", "value"], rows)


if __name__ == "__main__":
    sys.exit(main())
