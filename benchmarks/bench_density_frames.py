"""Anomalies and missing values of data frames by density models, beside others.

``python benchmarks/bench_density_frames.py --data FOLDER`` takes each ``.parquet`` file
of the folder ``FOLDER/mixed`` as a table: numbers are numbers, all other columns are
categories, and the column ``__target__`` holds classes. Without files it takes the
table of recurrences of this package. ECOD needs pyod.

Anomalies, 5 % of each table: samples of the rarest class, or samples of which one or
three values are replaced by those of other samples. Nobody tells the detectors which.
Missing values: 20 % of the cells of 500 samples, at random. Columns of two values count
as categories, also where these are 0 and 1.
"""

import argparse
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _timing import print_header, print_table
from sklearn.ensemble import (
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from sklboolean import DensityImputer, DensityOutlierDetector
from sklboolean.datasets import load_recurrence

try:
    from pyod.models.ecod import ECOD
except ImportError:
    ECOD = None

N_SEEDS, N_SAMPLES = 3, 600
FORESTS = RandomForestClassifier, RandomForestRegressor


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


def fill_by_forests(frame, seed, n_trees=50, n_rounds=4):
    """Fill gaps as missForest does: forests of all other columns, in turns.

    Stekhoven, Buehlmann. "MissForest". Bioinformatics 28, 2012: columns with few gaps
    first, until the change grows for numbers and for categories.
    """
    missing, filled = frame.isna(), fill_simply(frame)
    numbers = list(frame.select_dtypes("number"))
    order = [c for c in missing.sum().sort_values().index if missing[c].any()]
    changes = np.inf, np.inf
    for _ in range(n_rounds):
        before = filled.copy()
        for column in order:
            others = filled.drop(columns=column)
            X, gaps = pd.get_dummies(others).to_numpy(float), missing[column].to_numpy()
            forest = FORESTS[column in numbers](n_trees, random_state=seed)
            forest.fit(X[~gaps], filled[column][~gaps])
            filled.loc[gaps, column] = forest.predict(X[gaps])
        squares = ((filled[numbers] - before[numbers]) ** 2).to_numpy().sum()
        changed = (filled != before).drop(columns=numbers).to_numpy().sum()
        last, changes = changes, (squares, changed)
        if squares >= last[0] and changed >= last[1]:
            return before
    return filled


def fill_simply(frame):
    """Fill gaps with medians and most frequent levels."""
    medians = frame.select_dtypes("number").median()
    return frame.fillna(frame.mode().iloc[0].to_dict() | medians.to_dict())


def fill_numbers(frame, seed):
    """Fill the gaps of numbers by linear regressions on all columns."""
    numbers = list(frame.select_dtypes("number"))
    X = pd.get_dummies(frame, dtype=float)
    scale = X.std().replace(0, 1)
    imputer = IterativeImputer(max_iter=5, random_state=seed)
    values = imputer.fit_transform((X - X.mean()) / scale) * scale.to_numpy()
    filled = fill_simply(frame)
    filled[numbers] = (values + X.mean().to_numpy())[:, X.columns.get_indexer(numbers)]
    return filled


def fill_gaps(frame, seed):
    """Yield for each imputer the error of numbers, wrong categories and CPU time."""
    rng = np.random.default_rng(seed)
    frame = frame.iloc[rng.permutation(len(frame))[:500]].reset_index(drop=True)
    frame = frame.loc[:, frame.nunique() > 1]
    # A column of two numbers, such as 0 and 1, is filled in by one of them.
    for column in frame.select_dtypes("number"):
        if frame[column].nunique() == 2:
            frame[column] = frame[column].map(str, na_action="ignore")
    others = list(frame.select_dtypes(exclude="number"))
    frame[others] = frame[others].astype(object)
    erased = (rng.random(frame.shape) < 0.2) & frame.notna()
    gaps, numbers = frame.mask(erased), list(frame.columns.difference(others))
    imputers = {
        "DensityImputer": lambda: DensityImputer(random_state=seed).fit_transform(gaps),
        "missForest": lambda: fill_by_forests(gaps, seed),
        "IterativeImputer, numbers": lambda: fill_numbers(gaps, seed),
        "median, most frequent": lambda: fill_simply(gaps),
    }
    for name, fill in imputers.items():
        start = time.process_time()
        filled = fill()
        seconds = time.process_time() - start
        squares = ((filled[numbers] - frame[numbers]) / frame[numbers].std()) ** 2
        of_others = erased[others].to_numpy(dtype=bool)  # perhaps no column at all
        wrong = (filled[others] != frame[others]).to_numpy(dtype=bool)[of_others]
        error = np.sqrt(squares.where(erased[numbers]).mean().mean())
        yield name, error, wrong.mean(), seconds


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small and meaningless")
    parser.add_argument("--data", default=os.environ.get("SKLBOOLEAN_DATA"))
    parser.add_argument("--tables", nargs="*", help="names; default: all")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print_header("Data frames by density models")
    cells, fills = [], []
    for name, frame, classes in load_tables(options.data):
        if options.tables and name not in options.tables:
            continue
        for seed in range(1 if options.quick else N_SEEDS):
            for kind, samples, truth in anomaly_tasks(frame, classes, seed):
                found = find_anomalies(samples, truth, seed)
                cells += [(name, kind, *pair) for pair in found.items()]
        fills += fill_gaps(frame, 0)
    table = pd.DataFrame(cells, columns=["table", "kind", "detector", "AUC"])
    means = table.pivot_table("AUC", "detector", "kind")
    means["mean"] = means.mean(axis=1)
    rows = [
        [name, *(f"{each:.3f}" for each in row)] for name, *row in means.itertuples()
    ]
    print_table("Anomalies: mean AUC", ["", *means.columns], rows)
    columns = ["", "error of numbers", "wrong categories", "CPU s"]
    means = pd.DataFrame(fills, columns=columns).groupby("").mean()
    rows = [[name, *row.map("{:.3f}".format)] for name, row in means.iterrows()]
    print_table("Gaps: means over tables", columns, rows)


if __name__ == "__main__":
    sys.exit(main())
