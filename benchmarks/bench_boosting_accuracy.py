"""BoostByMajority under label noise, and its rounds to no training error.

    python benchmarks/bench_boosting_accuracy.py [--quick] [--data DIR] [--jobs N]

* Error on clean test rows, with 0, 10 and 20 % of the training labels flipped:
  ``BoostByMajority`` over 101 stumps, beside 101 stumps of AdaBoost and
  of GradientBoosting, each with the best of four learning rates by 3-fold
  cross-validation, and of HistGradientBoosting. Ours chooses among four schedules by
  3-fold cross-validation too: all but the last make 13 fits.
* With 20 % noise the schedules by themselves, on 20 other seeds. "Fixed" gives up a
  fifth of the rows, "measured" assumes the edges of the last rounds, "held out" judges
  each hypothesis by rows that it was not trained on.
* Rounds until no training label is wrong, without noise: ``n_estimators="auto"`` and
  AdaBoost over the same trees, deep enough to be weak learners for the table.

Seeds make the split (70 % train, in proportion to the classes), the noise and the
folds, the same for all learners; Long-Servedio is drawn anew, 800 rows to train and
1000 to test. Tables are cut to 6000 rows.

Two tables are made Boolean here. A number of breast cancer becomes four features,
"above the j-th fifth" (KBinsDiscretizer's quantiles of the training rows, as a
thermometer); a pixel of the digits becomes "at least 8 of 16".
"""

import argparse
import os
import sys
import warnings
from pathlib import Path
from statistics import median

import numpy as np
from _timing import print_header, print_table
from _workloads import load_part
from joblib import Parallel, delayed
from scipy.stats import sem
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
)
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.tree import DecisionTreeClassifier

from sklboolean import BooleanStump, BoostByMajority
from sklboolean.boosting import BoostingSchedule
from sklboolean.datasets import (
    flip_labels,
    load_mushroom,
    load_votes,
    make_long_servedio,
    make_tic_tac_toe,
)
from sklboolean.theory import max_gamma

NOISE = (0.0, 0.1, 0.2)
RATES = {"learning_rate": [1.0, 0.5, 0.2, 0.05]}
N_BINS = 5
PEERS = ("AdaBoost", "GradientBoosting", "HistGB")
# Labels that a small vote of single features decides.
MAJORITIES = ("Long-Servedio", "tic-tac-toe")
# Depth of the trees that are boosted to no training error.
DEPTHS = {
    "Long-Servedio": 1, "tic-tac-toe": 3, "breast cancer": 1, "mushroom": 2,
    "digits": 4, "votes": 3, "kr-vs-kp": 3,
}  # fmt: skip


# -- data -----------------------------------------------------------------------------


def load_tables(folder):
    """Return (X, y) by name; None for Long-Servedio, which is drawn for each seed."""
    X, y = load_digits(return_X_y=True)
    tables = {
        "Long-Servedio": None,
        "tic-tac-toe": make_tic_tac_toe(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
        "votes": load_votes(return_X_y=True),
        "mushroom": load_mushroom(return_X_y=True),
        "digits": ((X >= 8).astype(np.uint8), y % 2),
    }
    if folder and (Path(folder) / "uci_kr_vs_kp.npz").exists():
        tables["kr-vs-kp"] = load_part(folder, "uci_kr_vs_kp", "all")
    else:
        print("\nNo uci_kr_vs_kp.npz in --data: without kr-vs-kp.")
    return {
        name: table and (table[0], np.unique(table[1], return_inverse=True)[1])
        for name, table in tables.items()
    }


def split_table(table, seed, n_samples):
    """Return X_train, X_test, y_train, y_test of at most so many rows, all Boolean."""
    if table is None:
        X, y = make_long_servedio(min(1800, n_samples), random_state=seed)
        n_train = len(y) * 4 // 9
        return X[:n_train], X[n_train:], y[:n_train], y[n_train:]
    X, y = table
    if len(y) > n_samples:
        X, _, y, _ = train_test_split(
            X, y, train_size=n_samples, stratify=y, random_state=seed
        )
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=seed
    )
    if X.dtype != np.uint8:
        X, X_test = thermometer(X, X_test)
    return X, X_test, y, y_test


def thermometer(X, X_test):
    """Return for each number whether it is above each quantile of the training rows."""
    bins = KBinsDiscretizer(
        N_BINS, encode="ordinal", quantile_method="averaged_inverted_cdf"
    ).fit(X)
    steps = np.arange(1, N_BINS)
    return [
        (bins.transform(part)[:, :, np.newaxis] >= steps)
        .reshape(len(part), -1)
        .astype(np.uint8)
        for part in (X, X_test)
    ]


# -- quality --------------------------------------------------------------------------


def learners(n_rounds, seed):
    """Return the learners by name."""
    shared = {"random_state": seed}
    stump = DecisionTreeClassifier(max_depth=1)
    ada = AdaBoostClassifier(stump, n_estimators=n_rounds, **shared)
    gradient = GradientBoostingClassifier(max_depth=1, n_estimators=n_rounds, **shared)
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    return {
        "BoostByMajority": BoostByMajority(
            BooleanStump(), n_estimators=n_rounds, **shared
        ),
        "AdaBoost": GridSearchCV(ada, RATES, cv=folds),
        "GradientBoosting": GridSearchCV(gradient, RATES, cv=folds),
        "HistGB": HistGradientBoostingClassifier(
            max_depth=1, max_iter=n_rounds, early_stopping=False, **shared
        ),
    }


def errors_under_noise(table, noise, seed, n_rounds, n_samples):
    """Return the test error in percent of each learner, and the schedule of ours."""
    X, X_test, y, y_test = split_table(table, seed, n_samples)
    y = flip_labels(y, noise, random_state=seed)
    errors, schedule = {}, None
    for name, model in learners(n_rounds, seed).items():
        errors[name] = 100 * np.mean(model.fit(X, y).predict(X_test) != y_test)
        schedule = getattr(model, "schedule_", schedule)
    return errors, schedule


def compare_errors(tables, seeds, n_rounds, n_samples, n_jobs):
    """Print the errors by table and noise, and what they come to."""
    cells = [(name, noise) for name in tables for noise in NOISE]
    results = Parallel(n_jobs=n_jobs)(
        delayed(errors_under_noise)(tables[name], noise, seed, n_rounds, n_samples)
        for name, noise in cells
        for seed in seeds
    )
    names = ("BoostByMajority", *PEERS)
    rows, means = [], {}
    for i, (name, noise) in enumerate(cells):
        runs = results[i * len(seeds) : (i + 1) * len(seeds)]
        mean = {n: np.mean([errors[n] for errors, _ in runs]) for n in names}
        means[name, noise] = mean
        spread = np.std([errors["BoostByMajority"] for errors, _ in runs])
        rows.append(
            (
                name, f"{noise:.0%}", f"{mean['BoostByMajority']:.2f} ± {spread:.2f}",
                *(f"{mean[peer]:.2f}" for peer in PEERS),
                ", ".join(sorted({short(schedule) for _, schedule in runs})),
            )
        )  # fmt: skip
    print_table(
        f"Test error in percent, {n_rounds} stumps, {len(seeds)} seeds",
        ["data", "noise", "BoostByMajority", *PEERS, "policies"],
        rows,
    )
    compare_means(means, tables)


def compare_means(means, tables):
    """Print the means over tables, and over those that no majority makes."""
    rows = []
    levels = [*((f"{noise:.0%}", (noise,)) for noise in NOISE), ("all", NOISE)]
    for some in (list(tables), [name for name in tables if name not in MAJORITIES]):
        for label, noises in levels:
            mean = {
                learner: np.mean([means[t, n][learner] for t in some for n in noises])
                for learner in ("BoostByMajority", *PEERS)
            }
            ratio = mean["BoostByMajority"] / mean["GradientBoosting"]
            shown = (f"{m:.2f}" for m in mean.values())
            rows.append((len(some), label, *shown, f"{ratio:.2f}x"))
    print_table(
        "Mean over the tables, then without " + " and ".join(MAJORITIES),
        ["tables", "noise", "BoostByMajority", *PEERS, "/ GradientBoosting"],
        rows,
    )


def noisy_errors(table, seed, n_rounds, n_samples):
    """Return the test errors with 20 % noise when the schedule is given, or chosen."""
    X, X_test, y, y_test = split_table(table, seed, n_samples)
    y = flip_labels(y, 0.2, random_state=seed)
    shared = {
        "estimator": BooleanStump(), "n_estimators": n_rounds, "random_state": seed
    }  # fmt: skip
    models = {
        "chosen": BoostByMajority(**shared),
        "fixed": BoostByMajority(
            schedule=BoostingSchedule(gamma=max_gamma(n_rounds, 0.2)), **shared
        ),
        "measured": BoostByMajority(
            schedule=BoostingSchedule(gamma="measured"), **shared
        ),
        "held out": BoostByMajority(
            schedule=BoostingSchedule(gamma="measured", holdout=0.5), **shared
        ),
    }
    return {
        name: 100 * np.mean(model.fit(X, y).predict(X_test) != y_test)
        for name, model in models.items()
    }


def compare_schedules(tables, seeds, n_rounds, n_samples, n_jobs):
    """Print the errors with 20 % noise by schedule."""
    results = Parallel(n_jobs=n_jobs)(
        delayed(noisy_errors)(table, seed, n_rounds, n_samples)
        for table in tables.values()
        for seed in seeds
    )
    rows = []
    for i, name in enumerate(tables):
        runs = results[i * len(seeds) : (i + 1) * len(seeds)]
        means = {p: np.mean([run[p] for run in runs]) for p in runs[0]}
        error = sem([run["chosen"] for run in runs])
        chosen, *others = (f"{mean:.2f}" for mean in means.values())
        rows.append((name, f"{chosen} ± {error:.2f}", *others))
    print_table(
        f"20% noise: test error in percent by policy, {n_rounds} stumps, "
        f"{len(seeds)} seeds, with the standard error of the mean",
        ["data", "chosen", "fixed", "measured", "held out"],
        rows,
    )


def short(schedule):
    """Return a schedule's name as it fits a table."""
    return {
        "holdout_train_edges": "held out (training edges)",
        "holdout_edges": "held out",
    }.get(schedule, schedule)


# -- rounds ---------------------------------------------------------------------------


def rounds_to_zero(table, depth, seed, n_samples):
    """Return rounds until no training label is wrong, ours and AdaBoost's, and k."""
    X, _, y, _ = split_table(table, seed, n_samples)
    tree = DecisionTreeClassifier(max_depth=depth, random_state=seed)
    ours = BoostByMajority(tree, n_estimators="auto", random_state=seed)
    with warnings.catch_warnings():
        # Trees that are too strong for few rows, rounds that are too few.
        warnings.simplefilter("ignore", UserWarning)
        ours.fit(X, y)
    ada = AdaBoostClassifier(tree, n_estimators=1000, random_state=seed).fit(X, y)
    rights = (np.array_equal(labels, y) for labels in ada.staged_predict(X))
    n_ada = next((i for i, is_right in enumerate(rights, start=1) if is_right), np.inf)
    n_ours = np.inf if ours.training_error_ else ours.n_rounds_
    return n_ours, n_ada, ours.k_, len(ours.schedule_history_)


def compare_rounds(tables, seeds, n_samples, n_jobs):
    """Print the rounds to no training error."""
    results = Parallel(n_jobs=n_jobs)(
        delayed(rounds_to_zero)(table, DEPTHS[name], seed, n_samples)
        for name, table in tables.items()
        for seed in seeds
    )
    rows, n_no_more = [], 0
    for i, name in enumerate(tables):
        runs = results[i * len(seeds) : (i + 1) * len(seeds)]
        ours, ada, k, plans = (median(column) for column in zip(*runs, strict=True))
        n_no_more += ours <= ada
        shown = ["never" if n == np.inf else f"{n:.0f}" for n in (ours, ada)]
        no_more = "yes" if ours <= ada else "no"
        rows.append((name, DEPTHS[name], *shown, f"{k:.0f}", f"{plans:.0f}", no_more))
    print_table(
        f"Rounds to no training error, medians of {len(seeds)} seeds",
        ["data", "depth", "BoostByMajority", "AdaBoost", "k", "plans", "no more"],
        rows,
    )
    print(f"\nNo more than AdaBoost's on {n_no_more} of {len(tables)}.")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    parser.add_argument(
        "--data", default=os.environ.get("SKLBOOLEAN_DATA"),
        help="folder with uci_kr_vs_kp.npz (see README.md)",
    )  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, help="fits at the same time")
    options = parser.parse_args(arguments)
    print_header("Boosting by majority: accuracy and rounds")
    tables = load_tables(options.data)
    seeds, more_seeds, n_rounds, n_samples = range(3), range(3, 8), 101, 6000
    if options.quick:  # drawn data, bits, and numbers that become bits
        seeds, more_seeds, n_rounds, n_samples = range(1), range(2), 5, 150
        some = "Long-Servedio", "votes", "breast cancer"
        tables = {name: tables[name] for name in some}
    compare_errors(tables, seeds, n_rounds, n_samples, options.jobs)
    compare_schedules(tables, more_seeds, n_rounds, n_samples, options.jobs)
    compare_rounds(tables, seeds, n_samples, options.jobs)


if __name__ == "__main__":
    sys.exit(main())
