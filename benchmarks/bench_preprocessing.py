"""BooleanEncoder beside scikit-learn's encoders, DensityImputer beside its imputers.

    python benchmarks/bench_preprocessing.py [--quick] [--data DIR]

Speed: a data frame of ten columns of numbers and ten of text; samples a second beside
skrub's TableVectorizer and LightGBM's Dataset, where these are installed. Accuracy:
thresholds by several rules, classifiers on encoded breast cancer data, and the share of
erased cells that imputers fill in wrongly on votes and mushroom, and with ``--data`` on
nursery.
"""

import argparse
import os
import sys
import time
import warnings
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from _timing import as_ratio, compare, milliseconds, print_header, print_table
from _workloads import load_part
from scipy.stats import sem
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder
from sklearn.utils import Bunch

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BooleanGaussianProcessRegressor,
    BoostByMajority,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    DensityImputer,
    KernelPerceptron,
)
from sklboolean.datasets import load_mushroom, load_votes, make_monks

IMPUTERS = (
    SimpleImputer(strategy="mean"),
    KNNImputer(),
    IterativeImputer(min_value=0, max_value=1),
)


def mixed_frame(n_samples, seed=0):
    """Make ten columns of numbers, three of them integers, and ten of text."""
    rng = np.random.default_rng(seed)
    columns = {f"number {j}": rng.normal(size=n_samples) for j in range(7)}
    columns |= {f"count {j}": rng.integers(0, 100, n_samples) for j in range(3)}
    for j in range(10):
        levels = np.array([f"level {k}" for k in range(2 + 2 * j)])
        columns[f"text {j}"] = rng.choice(levels, n_samples)
    return pd.DataFrame(columns)


def speed(n_samples, repeats):
    """Print the time of fit and transform beside ColumnTransformer."""
    frame = mixed_frame(n_samples)
    text = [name for name in frame if name.startswith("text")]
    numbers = [name for name in frame if name not in text]
    bins = KBinsDiscretizer(8, encode="onehot", quantile_method="averaged_inverted_cdf")
    peer = ColumnTransformer(
        [("levels", OneHotEncoder(), text), ("bins", bins, numbers)]
    )
    encoders = {
        "dense": BooleanEncoder(),
        "CSR": BooleanEncoder(sparse_output=True),
    }
    frames = {"str": frame, "object": frame.astype(dict.fromkeys(text, object))}
    rows = []
    for name, X in frames.items():
        for kind, encoder in encoders.items():
            models = {"peer": peer, "ours": encoder}
            transforms = {
                who: partial(clone(model).fit(X).transform, X)
                for who, model in models.items()
            }
            fits = {
                who: partial(clone(model).fit_transform, X)
                for who, model in models.items()
            }
            for task, runs in (("transform", transforms), ("fit_transform", fits)):
                theirs, ours = compare(runs, repeats).values()
                rows.append([
                    task, kind, name, milliseconds(theirs), milliseconds(ours),
                    as_ratio(theirs, ours),
                ])  # fmt: skip
    columns = [
        "task", "output", "text as", "ColumnTransformer, ms", "ours, ms", "ratio",
    ]  # fmt: skip
    print_table(f"Encoding {n_samples} samples of 20 columns", columns, rows)


def throughput(n_samples, repeats):
    """Print how many samples a second are fitted and transformed, beside peers."""
    frame = mixed_frame(n_samples)
    labels = (frame["number 0"] > 0).to_numpy()
    codes = frame.astype({name: "category" for name in frame if "text" in name})
    runs = {"BooleanEncoder": partial(BooleanEncoder().fit_transform, frame)}
    runs["BooleanEncoder, with labels"] = partial(
        BooleanEncoder().fit_transform, frame, labels
    )
    if find_spec("skrub"):
        vectorizer = import_module("skrub").TableVectorizer()
        runs["skrub's TableVectorizer"] = partial(vectorizer.fit_transform, frame)
    if find_spec("lightgbm"):
        dataset = import_module("lightgbm").Dataset
        quiet = {"verbose": -1, "num_threads": 1}
        runs["LightGBM's Dataset"] = lambda: dataset(
            codes, labels, params=quiet
        ).construct()
    times = compare(runs, repeats)
    rows = [[who, f"{n_samples / seconds:.3g}"] for who, seconds in times.items()]
    for package in ("skrub", "lightgbm"):
        if not find_spec(package):
            rows.append([package, "not installed"])
    print_table(
        f"Encoding {n_samples} samples of 20 columns, one thread",
        ["encoder", "samples a second"], rows,
    )  # fmt: skip


def rules_of_bins(n_folds):
    """Print the scores and the times of models by the rule that chooses thresholds."""
    rules = {
        "8 quantiles": {"n_bins": 8}, "16 quantiles": {"n_bins": 16},
        "32 quantiles": {"n_bins": 32}, "auto": {}, "tree": {"strategy": "tree"},
    }  # fmt: skip
    options = {"random_state": 0, "max_literals": 2}
    tasks = (
        (load_breast_cancer, ConjunctionLogisticRegression(**options), "neg_log_loss"),
        (load_diabetes, ConjunctionRegressor(**options), "r2"),
        (load_diabetes, BooleanGaussianProcessRegressor(random_state=0), "r2"),
    )
    rows = []
    for rule, bins in rules.items():
        encoder, cells = BooleanEncoder(**bins), []
        for load, model, scoring in tasks:
            X, y = load(return_X_y=True, as_frame=True)
            start = time.perf_counter()
            pipeline = make_pipeline(encoder, model)
            scores = cross_val_score(pipeline, X, y, cv=n_folds, scoring=scoring)
            seconds = time.perf_counter() - start
            cells.append(f"{scores.mean():.4f} ({seconds:.1f} s)")
        rows.append([rule, len(encoder.fit(X, y).order_), *cells])
    print_table(
        f"Rules for thresholds, {n_folds} folds",
        [
            "rule", "features of diabetes", "conjunctions on breast cancer, -log-loss",
            "conjunctions on diabetes, R2", "Gaussian process on diabetes, R2",
        ], rows,
    )  # fmt: skip


def accuracy(n_folds, n_shuffles):
    """Print the accuracy of classifiers on encoded numbers."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    models = (
        KernelPerceptron(max_literals=2, random_state=0),
        AveragedPerceptron(random_state=0),
        BoostByMajority(random_state=0),
    )
    bins = KBinsDiscretizer(8, quantile_method="averaged_inverted_cdf")
    encoders = {"BooleanEncoder": BooleanEncoder(), "KBinsDiscretizer": bins}
    rows = []
    for model in models:
        cells = []
        for encoder in encoders.values():
            scores = [
                cross_val_score(
                    make_pipeline(encoder, model), X, y,
                    cv=StratifiedKFold(n_folds, shuffle=True, random_state=seed),
                ).mean()
                for seed in range(n_shuffles)
            ]  # fmt: skip
            cells.append(f"{np.mean(scores):.4f} +- {sem(scores):.4f}")
        rows.append([type(model).__name__, *cells])
    print_table(
        f"Accuracy on breast cancer, {n_folds} folds", ["model", *encoders], rows
    )


def as_categories(data):
    """Undo the one-hot encoding of a bundled data set."""
    names = [name.split("=") for name in data.feature_names]
    columns = {}
    for j, (column, level) in enumerate(names):
        values = columns.setdefault(column, np.full(len(data.data), None))
        values[np.asarray(data.data)[:, j] > 0] = level
    return pd.DataFrame(columns).assign(label=np.asarray(data.target).astype(str))


def tables_of_categories(folder, quick):
    """Read data sets of categories as data frames, at most 3000 samples of each."""
    tables = {"votes": as_categories(load_votes())}
    mushroom = load_mushroom()
    if quick:
        tables = {"monks 1": as_categories(make_monks(1))}
    elif folder:
        X, y = load_part(folder, "uci_nursery", "all")
        with np.load(Path(folder) / "uci_nursery.npz", allow_pickle=False) as file:
            groups = [f"{label}={j}" for j, label in enumerate(file["feature_group"])]
        tables["nursery"] = as_categories(Bunch(data=X, target=y, feature_names=groups))
    if not quick:
        tables["mushroom"] = as_categories(mushroom)
    return {
        name: frame.sample(min(3000, len(frame)), random_state=0, ignore_index=True)
        for name, frame in tables.items()
    }


def imputation(folder, quick):
    """Print the share of erased cells that are filled in wrongly."""
    n_draws, shares_erased = (1, (0.3,)) if quick else (3, (0.1, 0.3, 0.5))
    rows = []
    for name, full in tables_of_categories(folder, quick).items():
        for share in shares_erased:
            wrong, n_missing = {model: [] for model in (*IMPUTERS, "ours")}, 0
            for seed in range(n_draws):
                erased = np.random.default_rng(seed).random(full.shape) < share
                erased &= full.notna().to_numpy()
                gaps = full.mask(erased)
                filled = DensityImputer(random_state=seed).fit_transform(gaps)
                n_missing += int(filled.isna().sum().sum())
                wrong["ours"].append((filled != full).to_numpy()[erased].mean())
                for peer in IMPUTERS:
                    filled = impute_levels(clone(peer), gaps)
                    errors = (filled != full).to_numpy()[erased]
                    wrong[peer].append(errors.mean())
            means = [f"{np.mean(shares):.3f}" for shares in wrong.values()]
            means[-1] += f" +- {sem(wrong['ours']):.3f}"
            rows.append([name, f"{share:.0%}", *means, n_missing])
            print(*rows[-1], file=sys.stderr, flush=True)
    columns = [
        "data", "erased", "most frequent", "KNNImputer", "IterativeImputer",
        "DensityImputer", "cells left",
    ]  # fmt: skip
    print_table(
        f"Share of erased cells filled in wrongly, {n_draws} draws", columns, rows
    )


def impute_levels(peer, gaps):
    """Fill one-hot codes, and choose the level with the largest value.

    The first level has no column, as in ``OneHotEncoder(drop="first")``: otherwise
    IterativeImputer predicts a level from the others, which are missing too.
    """
    encoder = BooleanEncoder(missing="propagate", kinds=dict.fromkeys(gaps, "category"))
    codes = encoder.fit_transform(gaps).to_numpy(dtype=float)
    groups = [np.flatnonzero(encoder.feature_groups_ == column) for column in gaps]
    kept = np.concatenate([places[1:] for places in groups])
    means = np.zeros(codes.shape)
    means[:, kept] = peer.fit_transform(codes[:, kept])
    for places in groups:
        means[:, places[0]] = 1 - means[:, places[1:]].sum(axis=1)
    chosen = np.zeros(means.shape)
    for places in groups:
        best = places[means[:, places].argmax(axis=1)]
        chosen[np.arange(len(gaps)), best] = 1
    return pd.DataFrame(encoder.inverse_transform(chosen), columns=gaps.columns)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--data", default=os.environ.get("SKLBOOLEAN_DATA"))
    options = parser.parse_args()
    quick = options.quick
    warnings.simplefilter("ignore")
    print_header("Preprocessing")
    speed(2000, 1) if quick else speed(1_000_000, 2)
    throughput(2000, 1) if quick else throughput(1_000_000, 2)
    rules_of_bins(2 if quick else 5)
    accuracy(2, 1) if quick else accuracy(5, 4)
    imputation(options.data, quick)


if __name__ == "__main__":
    main()
