"""Scorecards: log-loss, AUC and seconds at 5, 10 and 15 conditions.

    python benchmarks/bench_scorecards.py [--quick] [--data DIR] [--seeds N]

Eight tables: seventy percent of the samples, at most 2000, are for training, the others
for tests. All but optbinning get the conditions of the same `BooleanEncoder`.

* FasterRisk with its defaults and points from -5 to 5; the first card of its pool.
  Release 0.1.10 needs numpy below 2.3.
* optbinning: optimal bins of the columns of largest information value, as many columns
  as fit, with a logistic regression. Each bin with points is a condition.

Recurrence comes with the package; the others (parquet, with the labels in the column
__target__) need ``--data``.
"""

import argparse
import sys
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from _timing import print_header, print_table
from sklearn.metrics import log_loss, roc_auc_score

from sklboolean import BooleanEncoder, ScorecardClassifier
from sklboolean.datasets import load_recurrence

TABLES = (
    "attrition", "credit_g", "heart", "hmda", "monica", "oj", "titanic", "wa_churn",
)  # fmt: skip
SIZES, MOST_TRAINED = (5, 10, 15), 2000


def tables(folder):
    """Yield name, data frame and labels."""
    if folder is None:
        yield "recurrence", *load_recurrence(return_X_y=True, as_frame=True)
        return
    import pandas as pd

    for name in TABLES:
        frame = pd.read_parquet(Path(folder) / "mixed" / f"{name}.parquet")
        yield name, frame, np.asarray(frame.pop("__target__"))


def ours(max_literals):
    """Return a function that fits our card."""

    def fit(data, size):
        model = ScorecardClassifier(size, max_literals=max_literals)
        model.fit(data["bits"], data["y"])
        return model.predict_proba(data["test_bits"])[:, 1], len(model.conditions_)

    return fit


def faster_risk(data, size):
    """Fit FasterRisk."""
    from fasterrisk.fasterrisk import RiskScoreClassifier, RiskScoreOptimizer

    X, signs = data["bits"].astype(float), 2.0 * data["y"] - 1
    optimizer = RiskScoreOptimizer(X=X, y=signs, k=size)
    optimizer.optimize()
    multiplier, intercept, points = optimizer.get_models(model_index=0)
    card = RiskScoreClassifier(multiplier, intercept, points)
    return card.predict_prob(data["test_bits"].astype(float)), np.count_nonzero(points)


def imodels_risk(data, size):
    """Fit the risk score of imodels."""
    from imodels import FastRiskScoreClassifier

    model = FastRiskScoreClassifier(k=size)
    model.fit(data["bits"].astype(float), data["y"])
    proba = model.predict_proba(data["test_bits"].astype(float))[:, 1]
    return proba, size


def opt_binning(data, size):
    """Fit a scorecard of optbinning: columns are added while their bins fit."""
    from optbinning import BinningProcess, Scorecard
    from sklearn.linear_model import LogisticRegression

    X, y = data["X"], data["y"]
    names = X.columns.tolist()
    levels = X.select_dtypes(exclude="number").columns.tolist()
    process = BinningProcess(names, categorical_variables=levels).fit(X, y)
    summary = process.summary().sort_values("iv", ascending=False)
    chosen, n_bins = [], 0
    for name, bins in zip(summary["name"], summary["n_bins"], strict=True):
        if bins > 1 and n_bins + bins <= size:
            chosen.append(name)
            n_bins += bins
    process = BinningProcess(
        chosen, categorical_variables=[one for one in levels if one in chosen]
    )
    card = Scorecard(process, LogisticRegression(max_iter=1000))
    card.fit(X[chosen], y)
    return card.predict_proba(data["X_test"][chosen])[:, 1], n_bins


def split(X, y, seed):
    """Draw training and test samples and encode them."""
    order = np.random.default_rng(seed).permutation(len(y))
    n_trained = min(MOST_TRAINED, int(0.7 * len(y)))
    train, test = order[:n_trained], order[n_trained:]
    encoder = BooleanEncoder(n_bins=5).fit(X.iloc[train])
    return {
        "X": X.iloc[train], "y": np.asarray(y)[train].astype(int),
        "X_test": X.iloc[test], "y_test": np.asarray(y)[test].astype(int),
        "bits": np.asarray(encoder.transform(X.iloc[train])).astype(np.uint8),
        "test_bits": np.asarray(encoder.transform(X.iloc[test])).astype(np.uint8),
    }  # fmt: skip


def measure(fit, data, size):
    """Fit a card; return log-loss, area, seconds and number of conditions."""
    start = time.process_time()
    proba, n_conditions = fit(data, size)
    seconds = time.process_time() - start
    proba = np.clip(proba, 1e-6, 1 - 1e-6)
    loss, area = log_loss(data["y_test"], proba), roc_auc_score(data["y_test"], proba)
    return loss, area, seconds, n_conditions


def main():
    """Print a table of each size and the means."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    options = parser.parse_args()
    print_header("Scorecards")
    warnings.simplefilter("ignore")
    methods = {"ours": ours(1), "ours, pairs": ours(2)}
    peers = {
        "fasterrisk": faster_risk, "imodels": imodels_risk, "optbinning": opt_binning,
    }  # fmt: skip
    needed = {"imodels": "numba"}  # compiles its search, which takes minutes
    found = [
        name
        for name in peers
        if find_spec(name) and find_spec(needed.get(name, name)) and not options.quick
    ]
    methods.update({name: peers[name] for name in found})
    if len(found) < len(peers):
        print(f"\nPeers: {found} (others not installed, or --quick).")
    folder = None if options.quick else options.data
    for size in options.sizes[:1] if options.quick else options.sizes:
        rows, sums = [], {name: [] for name in methods}
        for table, X, y in tables(folder):
            for seed in range(1 if options.quick else options.seeds):
                data = split(X, y, seed)
                for name, fit in methods.items():
                    sums[name].append(measure(fit, data, size))
            for name, results in sums.items():
                of_table = results[-options.seeds :]
                rows.append((table, name, *shown(of_table)))
        rows += [("mean", name, *shown(results)) for name, results in sums.items()]
        print()
        columns = ["table", "card", "log-loss", "AUC", "seconds", "conditions"]
        print_table(f"At most {size} conditions", columns, rows)


def shown(results):
    """Write the means of results."""
    loss, area, seconds, n_conditions = np.mean(results, axis=0)
    return f"{loss:.4f}", f"{area:.4f}", f"{seconds:.3g}", f"{n_conditions:.1f}"


if __name__ == "__main__":
    sys.exit(main())
