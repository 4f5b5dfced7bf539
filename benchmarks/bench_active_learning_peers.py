"""Committees of trees: error against labels, and time per query, beside the peers.

    python benchmarks/bench_active_learning_peers.py [--quick] [--data DIR] [--seeds N]

All methods begin with the same ten rows, ask for one label at a time among the same
pool, and their labels go to the same random forest, whose error is measured on rows
outside the pool. Committees are of five `DecisionTreeClassifier`, bagged. Beside them:
random rows; margin sampling with logistic regression; scikit-activeml and modAL, where
they are installed and run.

Label efficiency: ours is as good where its error, less scikit-activeml's with the same
seed, is at most one standard error above 0 on average.
"""

import argparse
import os
import sys
import warnings

import numpy as np
from _timing import milliseconds, print_header, print_table, ratio_cells, timed
from _workloads import load_part
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklboolean import QueryByCommittee
from sklboolean.datasets import load_mushroom, load_votes, make_tic_tac_toe

N_FIRST, N_MEMBERS = 10, 5
CHECKPOINTS = (30, 60, 100, 150)
OURS = {
    "ours": {"n_members": N_MEMBERS},
    "ours, resampled": {"n_members": N_MEMBERS, "resample_members": True},
    "ours, 2 members": {"n_members": 2},
}
PEER, TIME_GOAL = "scikit-activeml", 2


def ask_at_random(X, y, first, n_labels, seed):
    """Return the first rows and others at random."""
    rows = np.random.RandomState(seed).permutation(len(y))
    return np.concatenate([first, rows[~np.isin(rows, first)]])[:n_labels]


def ask_in_turn(X, y, first, n_labels, choose):
    """Ask for a label at a time: ``choose(asked, left)`` returns a position in left."""
    asked, left = list(first), np.setdiff1d(np.arange(len(y)), first)
    while len(asked) < n_labels:
        position = choose(np.array(asked), left)
        asked.append(left[position])
        left = np.delete(left, position)
    return np.array(asked)


def ask_by_margin(X, y, first, n_labels, seed):
    """Ask where the score of a logistic regression is least."""

    def choose(asked, left):
        model = LogisticRegression(max_iter=1000).fit(X[asked], y[asked])
        return np.argmin(np.abs(model.decision_function(X[left])))

    return ask_in_turn(X, y, first, n_labels, choose)


def ask_ours(X, y, first, n_labels, seed, **parameters):
    """Ask with `QueryByCommittee`."""
    learner = QueryByCommittee(
        epsilon=None, initial=first, max_queries=n_labels, random_state=seed,
        **parameters,
    ).fit(X, y)  # fmt: skip
    return learner.query_indices_


def ask_activeml(X, y, first, n_labels, seed):
    """Ask with scikit-activeml."""
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import QueryByCommittee as Peer

    trees = BaggingClassifier(
        DecisionTreeClassifier(), n_estimators=N_MEMBERS, random_state=seed
    )
    committee = SklearnClassifier(trees, classes=np.unique(y))
    peer, known = Peer(random_state=seed), np.full(len(y), np.nan)

    def choose(asked, left):
        known[asked] = y[asked]
        row = peer.query(X, known, ensemble=committee, batch_size=1)[0]
        return np.searchsorted(left, row)

    return ask_in_turn(X, y, first, n_labels, choose)


def ask_modal(X, y, first, n_labels, seed):
    """Ask with modAL, whose members keep bootstraps of their own."""
    from modAL.disagreement import vote_entropy_sampling
    from modAL.models import ActiveLearner, Committee

    np.random.seed(seed)
    committee = Committee(
        [
            ActiveLearner(
                DecisionTreeClassifier(random_state=member), X_training=X[first],
                y_training=y[first], bootstrap_init=True,
            )
            for member in range(N_MEMBERS)
        ],
        query_strategy=vote_entropy_sampling,
    )  # fmt: skip
    seen = len(first)

    def choose(asked, left):
        nonlocal seen
        if len(asked) > seen:
            committee.teach(X[asked[seen:]], y[asked[seen:]], bootstrap=True)
            seen = len(asked)
        return int(committee.query(X[left])[0][0])

    return ask_in_turn(X, y, first, n_labels, choose)


def methods():
    """Return the ways of asking, without the peers that are missing or fail."""
    found = {"random": ask_at_random, "margin, logistic": ask_by_margin}
    for name, parameters in OURS.items():
        found[name] = lambda *args, parameters=parameters: ask_ours(*args, **parameters)
    X = np.random.RandomState(0).randint(0, 2, size=(40, 4)).astype(float)
    for name, ask in {PEER: ask_activeml, "modAL": ask_modal}.items():
        try:
            ask(X, X[:, 0].astype(int), np.arange(N_FIRST), N_FIRST + 3, 0)
        except Exception as error:  # whatever a peer does with this scikit-learn
            text = str(error).splitlines()[0] if str(error) else ""
            print(f"\nPeer left out: {name} ({type(error).__name__}: {text}).")
        else:
            found[name] = ask
    return found


def load_tables(folder):
    """Return (X, y, rows in the pool) by name."""
    tables = {
        "tic-tac-toe": (*make_tic_tac_toe(return_X_y=True), 600),
        "votes": (*load_votes(return_X_y=True), 290),
        "mushroom": (*load_mushroom(return_X_y=True), 1500),
    }
    if folder:
        X, y = load_part(folder, "sms_spam_bool", "all")
        frequent = np.argsort(-np.asarray(X.sum(axis=0)).ravel(), kind="stable")[:200]
        tables["SMS spam, 200 words"] = X[:, np.sort(frequent)].toarray(), y, 1500
    else:
        print("\nNo --data: without SMS spam.")
    return {
        name: (np.asarray(X, float), np.unique(y, return_inverse=True)[1], n)
        for name, (X, y, n) in tables.items()
    }


def errors_and_time(ask, X, y, n_pool, n_labels, seed):
    """Return the forest's error in percent at the checkpoints, and seconds a query."""
    rows = np.random.RandomState(seed).permutation(len(y))
    pool, test = rows[:n_pool], rows[n_pool : n_pool + 2000]
    X_pool, y_pool = X[pool], y[pool]
    first = np.arange(N_FIRST)
    if len(np.unique(y_pool[first])) < 2:  # two classes are to be known
        first[-1] = np.flatnonzero(y_pool != y_pool[0])[0]
    asked, seconds = timed(lambda: ask(X_pool, y_pool, np.sort(first), n_labels, seed))
    errors = []
    for n in (n for n in CHECKPOINTS if n <= n_labels):
        forest = RandomForestClassifier(random_state=seed)
        forest.fit(X_pool[asked[:n]], y_pool[asked[:n]])
        errors.append(100 - 100 * forest.score(X[test], y[test]))
    return errors, seconds / (n_labels - N_FIRST)


def compare(name, table, asking, seeds, n_labels):
    """Print errors and times on one table."""
    errors, times = {}, {}
    for method, ask in asking.items():
        found = [errors_and_time(ask, *table, n_labels, seed) for seed in seeds]
        errors[method] = np.array([errors for errors, _ in found])
        times[method] = np.median([seconds for _, seconds in found])
    rows, root = [], np.sqrt(len(seeds))
    for method, values in errors.items():
        spread = values.std(axis=0, ddof=1) / root if len(seeds) > 1 else values[0] * 0
        cells = [
            f"{mean:.1f} ± {error:.1f}"
            for mean, error in zip(values.mean(axis=0), spread, strict=True)
        ]
        efficient, ratio = "", ("", "", "")
        if method in OURS and PEER in errors and len(seeds) > 1:
            worse = values - errors[PEER]
            allowed = worse.std(axis=0, ddof=1) / root
            met = int((worse.mean(axis=0) <= allowed).sum())
            efficient = f"{met} of {len(allowed)}"
            ratio = ratio_cells(times[PEER], times[method], TIME_GOAL)
        rows.append((method, *cells, efficient, milliseconds(times[method]), *ratio))
    columns = [f"at {n}" for n in CHECKPOINTS if n <= n_labels]
    print_table(
        f"{name}: error in percent of a forest, {len(seeds)} seeds",
        [
            "asked by", *columns, "as good", "ms a query", "ratio", "goal", "verdict"
        ],
        rows,
    )  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, one seed")
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds")
    parser.add_argument(
        "--data", default=os.environ.get("SKLBOOLEAN_DATA"),
        help="folder with sms_spam_bool.npz (see README.md)",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", category=FutureWarning)
    print_header("Committees of trees")
    asking, tables = methods(), load_tables(options.data)
    for name, table in tables.items():
        if options.quick:
            compare(name, table, asking, range(1), CHECKPOINTS[0])
        else:
            compare(name, table, asking, range(options.seeds), CHECKPOINTS[-1])


if __name__ == "__main__":
    sys.exit(main())
