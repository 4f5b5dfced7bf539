"""Anomalies and missing values of data frames by density models, beside others.

``python benchmarks/bench_density_frames.py --data FOLDER`` takes each ``.parquet`` file
of the folder ``FOLDER/mixed`` as a table: numbers are numbers, all other columns are
categories, and the column ``__target__`` holds classes. Without files it takes the
table of recurrences of this package. ECOD needs pyod.

Anomalies, 5 % of each table: samples of the rarest class, or samples of which one or
three values are replaced by those of other samples. Nobody tells the detectors which.
Missing values: 20 % of the cells at random.
"""

import argparse
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _timing import print_header, print_table
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from sklboolean import DensityOutlierDetector
from sklboolean.datasets import load_recurrence

try:
    from pyod.models.ecod import ECOD
except ImportError:
    ECOD = None

N_SEEDS, N_SAMPLES = 3, 600


def load_tables(folder):
    """Yield names, data frames and classes."""
    files = sorted(Path(folder, "mixed").glob("*.parquet")) if folder else ()
    for file in files:
        frame = pd.read_parquet(file)
        yield file.stem, frame, frame.pop("__target__").to_numpy()
    if not files:
        frame, classes = load_recurrence(return_X_y=True, as_frame=True)
        yield "recurrence", frame, classes.to_numpy()


def with_rarest_class(frame, classes, rng):
    """Return samples of the other classes, and a twentieth of the rarest one."""
    values, counts = np.unique(classes, return_counts=True)
    is_rare = classes == values[counts.argmin()]
    normal = rng.permutation(np.flatnonzero(~is_rare))[:N_SAMPLES]
    odd = rng.permutation(np.flatnonzero(is_rare))[: max(5, len(normal) // 20)]
    rows = np.concatenate([normal, odd])
    return frame.iloc[rows].reset_index(drop=True), np.isin(rows, odd)


def with_replaced_values(frame, n_values, rng):
    """Return samples of which a twentieth has some values of other samples."""
    frame = frame.iloc[rng.permutation(len(frame))[:N_SAMPLES]].reset_index(drop=True)
    odd = rng.permutation(len(frame))[: max(5, len(frame) // 20)]
    chosen = [rng.permutation(frame.shape[1])[:n_values] for _ in odd]
    replaced = frame.copy()
    for j in range(frame.shape[1]):
        rows = odd[[j in columns for columns in chosen]]
        others = rng.integers(len(frame), size=len(rows))
        column = frame.iloc[:, j].copy()
        column.iloc[rows] = column.iloc[others].to_numpy()
        replaced.isetitem(j, column)
    return replaced, np.isin(np.arange(len(frame)), odd)


def as_numbers(frame):
    """Scale numbers, whose gaps become medians; one-hot encode all other columns."""
    numbers = frame.select_dtypes("number").columns
    others = frame.columns.difference(numbers, sort=False)
    filled = frame[numbers].fillna(frame[numbers].median())
    blocks = [StandardScaler().fit_transform(filled)] if len(numbers) else []
    blocks += [pd.get_dummies(frame[others].astype(str))] if len(others) else []
    return np.hstack(blocks).astype(float)


def find_anomalies(frame, truth, seed):
    """Return the AUC by detector."""
    X = as_numbers(frame)
    forest = IsolationForest(random_state=seed).fit(X)
    scores = {
        "DensityOutlierDetector": DensityOutlierDetector()
        .fit(frame)
        .score_samples(frame),
        "IsolationForest": forest.score_samples(X),
        "LocalOutlierFactor": LocalOutlierFactor().fit(X).negative_outlier_factor_,
    }
    if ECOD is not None:
        scores["ECOD"] = -ECOD().fit(X).decision_scores_
    return {name: roc_auc_score(truth, -each) for name, each in scores.items()}


def anomaly_tasks(frame, classes, seed):
    """Yield the name of each kind of anomaly, samples, and which of them are odd."""
    rng = np.random.default_rng(seed)
    yield "rarest class", *with_rarest_class(frame, classes, rng)
    for n_values in (1, 3):
        yield f"{n_values} replaced", *with_replaced_values(frame, n_values, rng)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small and meaningless")
    parser.add_argument("--data", default=os.environ.get("SKLBOOLEAN_DATA"))
    parser.add_argument("--tables", nargs="*", help="names; default: all")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print_header("Data frames by density models")
    cells = []
    for name, frame, classes in load_tables(options.data):
        if options.tables and name not in options.tables:
            continue
        for seed in range(1 if options.quick else N_SEEDS):
            for kind, samples, truth in anomaly_tasks(frame, classes, seed):
                found = find_anomalies(samples, truth, seed)
                cells += [(name, kind, *pair) for pair in found.items()]
    table = pd.DataFrame(cells, columns=["table", "kind", "detector", "AUC"])
    means = table.pivot_table("AUC", "detector", "kind")
    means["mean"] = means.mean(axis=1)
    rows = [
        [name, *(f"{each:.3f}" for each in row)] for name, *row in means.itertuples()
    ]
    print_table("Anomalies: mean AUC", ["", *means.columns], rows)


if __name__ == "__main__":
    sys.exit(main())
