"""Models with directions of columns beside LightGBM's with the same constraints.

    python benchmarks/bench_monotone.py [--quick] [--data FOLDER] [--tables NAME ...]
        [--seeds N]

Each column of numbers has the direction of its rank correlation with the label in
training; others are free. Sixty percent of the samples, at most 1000, are for training,
at most 3000 others for tests. Without ``--data`` the table is made: the label rises
with some numbers, falls with others, and depends on levels. Each Parquet file of the
folder ``FOLDER/mixed`` with two labels is a table, whose column ``__target__`` is the
label; columns of text are categories.

* Ours: behind `BooleanEncoder`, and the ensemble by itself; with the directions, and
  free, for the time. Violations are pairs of test samples, equal but for one column,
  whose scores move against its direction; `check_monotone` proves that there are none.
* LightGBM with small trees: 7 leaves, rate .05, stopped by 15 % of the samples, with
  ``monotone_constraints``.
"""

import argparse
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _timing import as_ratio, print_header, print_table
from scipy.special import expit
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from sklboolean import (
    BooleanEncoder,
    BooleanEnsembleClassifier,
    BooleanGradientBoostingClassifier,
    ConjunctionLogisticRegression,
)
from sklboolean.inspection import check_monotone

MOST_TRAINED, MOST_TESTED, N_PAIRS = 1000, 3000, 300
MODELS = {
    "conjunctions": ConjunctionLogisticRegression,
    "trees": BooleanGradientBoostingClassifier,
    "ensemble": BooleanEnsembleClassifier,
}


def made_table(n_samples, seed=0):
    """Numbers with a direction each, and levels that change their effects."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n_samples, 5)), columns=list("abcde"))
    frame["kind"] = rng.choice(["x", "y", "z"], n_samples)
    score = np.exp(frame["a"] / 2) - frame["b"] + (frame["kind"] == "x") * frame["c"]
    score += (frame["d"] > 1) - 2 * (frame["kind"] == "z")
    return frame, (rng.random(n_samples) < expit(score)).astype(int)


def tables(folder, names, is_quick):
    """Yield name, data frame and labels 0 and 1."""
    if not folder:
        yield "made", *made_table(600 if is_quick else 4000)
        return
    for file in sorted(Path(folder, "mixed").glob("*.parquet")):
        if names and file.stem not in names:
            continue
        frame = pd.read_parquet(file)
        y = frame.pop("__target__").to_numpy()
        labels, counts = np.unique(y, return_counts=True)
        if len(labels) == 2:
            texts = frame.select_dtypes(exclude="number").columns
            frame[texts] = frame[texts].astype(object).where(frame[texts].notna(), None)
            yield file.stem, frame, (y == labels[counts.argmin()]).astype(int)


def directions_of(frame, y):
    """The sign of the rank correlation of each column of numbers with the label."""
    numbers = frame.select_dtypes(include="number").columns
    target = pd.Series(y, index=frame.index)
    signs = {name: np.sign(frame[name].rank().corr(target)) for name in numbers}
    return {name: int(sign) for name, sign in signs.items() if sign in (-1, 1)}


def ours(kind, directions):
    """Make one of our models, for data frames."""
    model = MODELS[kind](random_state=0, monotonic_cst=directions)
    return model if kind == "ensemble" else make_pipeline(BooleanEncoder(), model)


class SmallTrees:
    """LightGBM with small trees, constraints and early stopping."""

    def __init__(self, directions, levels):
        self.directions, self.levels = directions, levels

    def read(self, frame):
        """Turn texts into categories."""
        return frame.assign(
            **{n: pd.Categorical(frame[n], levels) for n, levels in self.levels.items()}
        )

    def fit(self, frame, y):
        from lightgbm import LGBMClassifier, early_stopping

        frame, held, y, y_held = train_test_split(
            self.read(frame), y, test_size=0.15, stratify=y, random_state=0
        )
        signs = [self.directions.get(name, 0) for name in frame]
        self.model = LGBMClassifier(
            n_estimators=1000, num_leaves=7, learning_rate=0.05, n_jobs=1, verbose=-1,
            monotone_constraints=signs,
        )  # fmt: skip
        stop = early_stopping(30, verbose=False)
        self.model.fit(frame, y, eval_set=[(held, y_held)], callbacks=[stop])
        return self

    def predict_proba(self, frame):
        return self.model.predict_proba(self.read(frame))


def violations(model, frame, directions):
    """The share of pairs of samples that contradict a direction."""
    rng, wrong = np.random.default_rng(0), []
    for name, sign in directions.items():
        low = frame.iloc[rng.integers(0, len(frame), N_PAIRS)].reset_index(drop=True)
        values = rng.choice(frame[name].dropna(), (N_PAIRS, 2))
        values.sort(axis=1)
        high = low.assign(**{name: values[:, 1]})
        low[name] = values[:, 0]
        change = model.predict_proba(high)[:, 1] - model.predict_proba(low)[:, 1]
        wrong.append(np.mean(sign * change < -1e-9))
    return np.mean(wrong)


def measure(name, frame, y, n_seeds):
    """Return a dictionary of rows: log-loss, AUC, violations, proofs and seconds."""
    rows = {}
    texts = frame.select_dtypes(exclude="number").columns
    levels = {n: sorted({v for v in frame[n] if v is not None}, key=str) for n in texts}
    for seed in range(n_seeds):
        n_train = min(MOST_TRAINED, int(0.6 * len(y)))
        parts = train_test_split(
            frame, y, train_size=n_train, stratify=y, random_state=seed
        )
        X, X_test, y_train, y_test = parts
        X_test, y_test = X_test[:MOST_TESTED], y_test[:MOST_TESTED]
        directions = directions_of(X, y_train)
        models = {f"{kind}, free": ours(kind, None) for kind in MODELS}
        models |= {kind: ours(kind, directions) for kind in MODELS}
        models["LightGBM, small trees"] = SmallTrees(directions, levels)
        for label, model in models.items():
            start = time.process_time()
            model.fit(X, y_train)
            seconds = time.process_time() - start
            shares = model.predict_proba(X_test)[:, 1]
            is_proved = np.nan
            if label in MODELS:
                is_proved = check_monotone(model, X_test, directions).is_proved
            rows.setdefault(label, []).append((
                log_loss(y_test, shares), roc_auc_score(y_test, shares),
                violations(model, X_test, directions), is_proved, seconds,
            ))  # fmt: skip
    return {label: np.mean(values, axis=0) for label, values in rows.items()}


def show(title, rows):
    """Print the means of each model."""
    head = ["model", "log-loss", "AUC", "violations, %", "proved, %", "seconds"]
    head += ["seconds, over free"]
    lines = []
    for label, (loss, area, wrong, proved, seconds) in rows.items():
        free = rows.get(f"{label}, free")
        lines.append((
            label, f"{loss:.4f}", f"{area:.3f}", f"{100 * wrong:.1f}",
            "" if np.isnan(proved) else f"{100 * proved:.0f}", f"{seconds:.2f}",
            "" if free is None else as_ratio(seconds, free[-1]),
        ))  # fmt: skip
    print_table(title, head, lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    parser.add_argument("--data", default=os.environ.get("SKLBOOLEAN_DATA"))
    parser.add_argument("--tables", nargs="*", help="names of files; all if not given")
    parser.add_argument("--seeds", type=int, default=3, help="splits of each table")
    options = parser.parse_args(arguments)
    print_header("Directions of columns")
    try:
        import lightgbm  # noqa: F401
    except ImportError:
        print("LightGBM is not installed: nothing to compare with.")
        return
    warnings.simplefilter("ignore")
    results = []
    folder = None if options.quick else options.data
    for name, frame, y in tables(folder, options.tables, options.quick):
        results.append(measure(name, frame, y, 1 if options.quick else options.seeds))
        show(name, results[-1])
    if len(results) > 1:
        means = {
            label: np.mean([rows[label] for rows in results], axis=0)
            for label in results[0]
        }
        show(f"Means of {len(results)} tables", means)


if __name__ == "__main__":
    sys.exit(main())
