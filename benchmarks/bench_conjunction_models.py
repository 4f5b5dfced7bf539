"""Conjunction models against gradient boosting, logistic regression and others.

    python benchmarks/bench_conjunction_models.py [--quick] [--data DIR] [--keep DIR]

* Accuracy and log-loss on held-out samples with standard errors over the seeds, and CPU
  seconds of a fit with one thread. All are at their defaults. "LightGBM tuned" chooses
  leaves, rate and samples of a leaf by 3-fold cross-validation on log-loss. A seed
  changes the 70/30 split and the learner; of data with a given split it changes which
  samples are drawn. At most 1500 samples to fit and 3000 to test.
* Numeric tables of scikit-learn become Boolean as ``x <= q`` at seven quantiles of the
  training samples. diabetes: above the median or not.
* "conjunctions" is the number in the model, "proved" in how many of the models the
  optimum over all conjunctions of up to three literals was proved, with the largest gap
  as a fraction of the objective.
* One table has all of a9a: 32,561 samples of 123 features.
* LightGBM, CatBoost and XGBoost take part if they can be imported.
* --keep DIR writes the figures of each table and seed into a folder. A run that was
  interrupted continues there.
"""

import argparse
import importlib
import os
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from _timing import kept, print_header, print_table
from _workloads import load_part
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split

from sklboolean import ConjunctionLogisticRegression
from sklboolean.datasets import (
    load_mushroom,
    load_votes,
    make_monks,
    make_tic_tac_toe,
)

OURS = "conjunctions"
GIVEN_SPLIT = {"monks1": "uci_monks1", "spect": "uci_spect", "a9a": "libsvm_a9a"}
ONE_TABLE = {
    "breast_cancer_ljubljana": "uci_breast_cancer_ljubljana", "car": "uci_car",
    "nursery": "uci_nursery", "newsgroups_w100": "newsgroups_w100",
}  # fmt: skip
NUMERIC = {
    "num_breast_cancer": datasets.load_breast_cancer,
    "num_diabetes": datasets.load_diabetes,
    "num_wine": datasets.load_wine,
}


def split(X, y, seed):
    fewest = np.unique(y, return_counts=True)[1].min()
    return train_test_split(
        X, y, test_size=0.3, random_state=seed, stratify=y if fewest > 1 else None
    )


def thermometers(name, seed):
    X, y = NUMERIC[name](return_X_y=True)
    if name == "num_diabetes":
        y = (y > np.median(y)).astype(int)
    train, test, y_train, y_test = split(X, y, seed)
    steps = np.quantile(train, np.arange(1, 8) / 8, axis=0)
    pairs = [(j, q) for j in range(X.shape[1]) for q in np.unique(steps[:, j])]
    train, test = (
        np.stack([part[:, j] <= q for j, q in pairs], axis=1) for part in (train, test)
    )
    return train, test, y_train, y_test


def given_split(folder, file):
    parts = [load_part(folder, file, part) for part in ("train", "test")]
    return (*(X for X, _ in parts), *(y for _, y in parts))


def tables(folder):
    """Map the names of the tables to functions of a seed."""
    monks = make_monks(1, return_X_y=True)
    bundled = {
        "tic_tac_toe": make_tic_tac_toe(return_X_y=True),
        "votes": load_votes(return_X_y=True),
        "mushroom": load_mushroom(return_X_y=True),
    }
    made = {
        name: lambda seed, data=data: split(*data, seed)
        for name, data in bundled.items()
    }
    made |= {name: lambda seed, name=name: thermometers(name, seed) for name in NUMERIC}
    if folder is None:
        return {"monks1": lambda seed: split(*monks, seed), **made}
    for name, file in GIVEN_SPLIT.items():
        made[name] = lambda _seed, file=file: given_split(folder, file)
    for name, file in ONE_TABLE.items():
        whole = load_part(folder, file, "all")
        made[name] = lambda seed, whole=whole: split(*whole, seed)
    return made


def draw(data, seed):
    """Draw at most 1500 samples to fit and 3000 to test; labels become numbers."""
    train, test, y_train, y_test = data
    rng = np.random.default_rng(seed)
    here = rng.permutation(len(y_train))[:1500]
    there = rng.permutation(len(y_test))[:3000]
    classes = np.unique(y_train[here])
    there = there[np.isin(y_test[there], classes)]
    dense = [
        (part.toarray() if hasattr(part, "toarray") else part).astype(np.uint8)
        for part in (train[here], test[there])
    ]
    labels = [np.searchsorted(classes, part) for part in (y_train[here], y_test[there])]
    return *dense, *labels


def learners(seed):
    made = {
        OURS: ConjunctionLogisticRegression(random_state=seed),
        "LogisticRegression": LogisticRegression(max_iter=1000),
        "RandomForest": RandomForestClassifier(random_state=seed),
        "HistGB": HistGradientBoostingClassifier(random_state=seed),
    }
    peers = {
        "LightGBM": ("lightgbm", "LGBMClassifier", {"verbose": -1, "n_jobs": 1}),
        "XGBoost": ("xgboost", "XGBClassifier", {"n_jobs": 1}),
        "CatBoost": (
            "catboost", "CatBoostClassifier",
            {"verbose": False, "thread_count": 1, "iterations": 300,
             "allow_writing_files": False},
        ),
    }  # fmt: skip
    for name, (module, cls, options) in peers.items():
        try:
            made[name] = getattr(importlib.import_module(module), cls)(
                random_state=seed, **options
            )
        except ImportError:
            continue
    if "LightGBM" in made:
        made["LightGBM tuned"] = GridSearchCV(
            made["LightGBM"],
            {"num_leaves": [4, 15, 31], "learning_rate": [0.03, 0.1],
             "min_child_samples": [5, 20]},
            cv=3, scoring="neg_log_loss",
        )  # fmt: skip
    return made


def measure(model, data):
    """Return accuracy, log-loss and CPU seconds of the fit."""
    train, test, y_train, y_test = data
    if not isinstance(model, ConjunctionLogisticRegression):
        train, test = train.astype(np.float64), test.astype(np.float64)
    start = time.process_time()
    model.fit(train, y_train)
    seconds = time.process_time() - start
    probabilities = np.asarray(model.predict_proba(test), dtype=np.float64)
    accuracy = (probabilities.argmax(axis=1) == y_test).mean()
    probabilities = np.clip(probabilities, 1e-15, 1)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    labels = np.arange(probabilities.shape[1])
    return accuracy, log_loss(y_test, probabilities, labels=labels), seconds


def mean_and_error(values):
    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return values.mean(), error


def measure_all(make, seed):
    """Measure the learners on one split; return their figures, and what ours is."""
    data, cells, about = draw(make(seed), seed), {}, None
    for learner, model in learners(seed).items():
        if learner == "CatBoost" and data[2].max() > 1:
            continue
        cells[learner] = measure(model, data)
        if learner == OURS:
            about = [
                len(model.conjunctions_), model.C_, model.is_optimal_,
                model.optimality_gap_ / model.objective_,
            ]  # fmt: skip
    return cells, about, data[0].shape


def compare(folder, seeds, keep):
    """Print a table for each figure, then ours against each peer."""
    results, rows = {}, {"accuracy, %": [], "log-loss": [], "CPU seconds": []}
    models, names = [], list(learners(0))
    for name, make in tables(folder).items():
        measured = [
            kept(keep, f"{name} {seed}", partial(measure_all, make, seed))
            for seed in seeds
        ]
        cells = {
            learner: [of_learners[learner] for of_learners, _, _ in measured]
            for learner in measured[0][0]
        }
        results[name] = cells
        for k, (figure, factor, digits) in enumerate(
            [("accuracy, %", 100, 1), ("log-loss", 1, 3), ("CPU seconds", 1, 3)]
        ):
            row = [name]
            for learner in names:
                if learner not in cells:
                    row.append("")
                    continue
                mean, error = mean_and_error(np.array(cells[learner])[:, k] * factor)
                shown = f"{mean:.{digits}f}"
                row.append(shown if k == 2 else f"{shown} ± {error:.{digits}f}")
            rows[figure].append(row)
        sizes, Cs, proved, gaps = zip(*(about for _, about, _ in measured), strict=True)
        models.append(
            [
                name, *measured[0][2], f"{np.mean(sizes):.0f}",
                ", ".join(f"{C:g}" for C in Cs),
                f"{sum(proved)} of {len(proved)}", f"{max(gaps):.1e}",
            ]
        )  # fmt: skip
    for measured, lines in rows.items():
        print_table(measured, ["data", *names], lines)
    columns = ["data", "samples", "features", "conjunctions", "C", "proved", "gap"]
    print_table("The models", columns, models)
    summary = []
    for peer in names:
        both = [c for c in results.values() if peer in c]
        if peer == OURS or not both:
            continue
        ours = np.array([np.mean(c[OURS], axis=0) for c in both])
        theirs = np.array([np.mean(c[peer], axis=0) for c in both])
        points, point_error = mean_and_error(100 * (ours - theirs)[:, 0])
        nats, nat_error = mean_and_error((theirs - ours)[:, 1])
        ratio = np.exp(np.log(ours[:, 2] / theirs[:, 2]).mean())
        summary.append(
            [
                peer, len(both), f"{points:+.2f} ± {point_error:.2f}",
                f"{nats:+.3f} ± {nat_error:.3f}", f"{ratio:.1f}",
            ]
        )  # fmt: skip
    columns = [
        "peer", "tables", "points of accuracy", "nats of log-loss",
        "times its CPU time",
    ]  # fmt: skip
    print_table("Conjunctions against each, errors over tables", columns, summary)


def whole_a9a(folder, keep):
    """Print the figures for all of a9a."""

    def of_learner(name, model):
        train, y_train = load_part(folder, "libsvm_a9a", "train")
        test, y_test = load_part(folder, "libsvm_a9a", "test")
        figures = measure(model, (train, test, y_train > 0, y_test > 0))
        shown = ""
        if name == OURS:
            relative = model.optimality_gap_ / model.objective_
            shown = f"{len(model.conjunctions_)}, C {model.C_:g}, gap {relative:.1e}"
        return figures, shown

    rows = []
    for name, model in learners(0).items():
        if name == "LightGBM tuned":
            continue
        (accuracy, loss, seconds), shown = kept(
            keep, f"all of a9a {name}", partial(of_learner, name, model)
        )
        rows.append(
            [name, f"{100 * accuracy:.2f}", f"{loss:.4f}", f"{seconds:.2f}", shown]
        )
    columns = ["learner", "accuracy, %", "log-loss", "CPU seconds", "conjunctions"]
    print_table("a9a, all samples", columns, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one seed, no a9a in full")
    parser.add_argument(
        "--data", default=os.environ.get("SKLBOOLEAN_DATA"), type=Path,
        help="folder of .npz files; without it, bundled data only",
    )  # fmt: skip
    parser.add_argument("--keep", type=Path, help="folder for the figures so far")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print_header("Conjunction models")
    compare(options.data, range(1 if options.quick else 3), options.keep)
    if options.data is not None and not options.quick:
        whole_a9a(options.data, options.keep)


if __name__ == "__main__":
    main()
