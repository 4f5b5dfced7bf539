"""Log-loss of every classifier's probabilities, and the time that calibration takes.

    python benchmarks/bench_probabilities.py [--quick] [--data DIR] [--tables NAME ...]

Default parameters, a fresh model for each fold. Log-loss is that of held-out samples,
beside LogisticRegression on the same folds. The share of calibration is that of the
functions that train a second model, score held-out samples and fit the slope, in the
CPU time of ``fit``.

Votes comes with the package; a9a needs ``--data``. Of a9a 8000 samples are trained on
and as many are held out. ``--tables "SMS spam"`` takes long: rules and conjunctions of
thousands of words are searched for.
"""

import argparse
import os
import sys
import time
import warnings

import numpy as np
from _timing import print_header, print_table
from _workloads import load_part
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from sklboolean import (
    AveragedPerceptron,
    BooleanSVC,
    BoostByMajority,
    ConjunctionLogisticRegression,
    DensityClassifier,
    FilteringBoostByMajority,
    KernelPerceptron,
    OnlineBoostByMajority,
    RuleClassifier,
    Winnow,
)
from sklboolean.datasets import load_votes

MODELS = (
    AveragedPerceptron(),
    Winnow(),
    KernelPerceptron(),
    BooleanSVC(),
    ConjunctionLogisticRegression(),
    RuleClassifier(),
    BoostByMajority(),
    OnlineBoostByMajority(),
    FilteringBoostByMajority(),
    DensityClassifier(),
)
CALIBRATED = (*MODELS[:4], DensityClassifier())
# The methods that train a second model, score held-out samples and fit the slope.
CALIBRATION = ("_second_model_scores", "_calibrate", "_held_out_slope")
PEER = LogisticRegression(max_iter=1000)


def folds(name, X, y, seeds):
    """Yield (training, test) samples."""
    for seed in seeds:
        if name == "a9a":
            n = min(8000, len(y) // 2)
            splitter = StratifiedShuffleSplit(
                1, train_size=n, test_size=n, random_state=seed
            )
        else:
            splitter = StratifiedKFold(5, shuffle=True, random_state=seed)
        for train, test in splitter.split(X, y):
            yield seed, train, test


def seeded(model, seed):
    """Set the seed of a model that has one."""
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=seed)
    return model


def losses(model, name, X, y, seeds):
    """Return the mean log-loss of the folds, and the CPU time of all fits."""
    found, seconds = [], 0.0
    for seed, train, test in folds(name, X, y, seeds):
        one = seeded(clone(model), seed)
        start = time.process_time()
        one.fit(X[train], y[train])
        seconds += time.process_time() - start
        found.append(log_loss(y[test], one.predict_proba(X[test]), labels=one.classes_))
    return np.mean(found), seconds


def compare_losses(tables, n_seeds):
    """Print the log-loss of each classifier and its ratio to LogisticRegression's."""
    for name, (X, y) in tables.items():
        rows, seeds, peer = [], range(n_seeds[name]), None
        for model in (PEER, *MODELS):
            loss, seconds = losses(model, name, X, y, seeds)
            peer = peer or loss
            rows.append([
                type(model).__name__, f"{loss:.4f}", f"{loss / peer:.3f}",
                f"{seconds:.1f}",
            ])  # fmt: skip
            print(*rows[-1], file=sys.stderr, flush=True)
        title = f"Log-loss on {name}, held out, {len(seeds)} seeds"
        columns = ["classifier", "log-loss", "/ LogisticRegression", "fits, s"]
        print_table(title, columns, rows)


def share_of_calibration(model, X, y, seeds):
    """Return the median share of calibration in the CPU time of ``fit``."""

    class Timed(type(model)):
        """The model with a clock around its calibration."""

    spent = 0.0

    def clocked(method):
        def call(self, *args, **options):
            nonlocal spent
            start = time.process_time()
            try:
                return method(self, *args, **options)
            finally:
                spent += time.process_time() - start

        return call

    for name in CALIBRATION:
        if hasattr(Timed, name):
            setattr(Timed, name, clocked(getattr(Timed, name)))
    shares = []
    for seed in seeds:
        one = seeded(Timed(**model.get_params()), seed)
        spent, start = 0.0, time.process_time()
        one.fit(X, y)
        shares.append(spent / (time.process_time() - start))
    return float(np.median(shares))


def compare_shares(tables, seeds):
    """Print the share of calibration in the time of ``fit``."""
    rows = []
    for name, (X, y) in tables.items():
        for model in CALIBRATED:
            share = share_of_calibration(model, X, y, seeds)
            rows.append([name, type(model).__name__, f"{share:.0%}"])
    columns = ["data", "classifier", "share"]
    print_table("Share of calibration in the time of fit, medians", columns, rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--data", default=os.environ.get("SKLBOOLEAN_DATA"))
    parser.add_argument("--tables", nargs="*", default=["votes", "a9a"])
    options = parser.parse_args(arguments)
    print_header("Probabilities")
    warnings.simplefilter("ignore")
    tables = {"votes": load_votes(return_X_y=True)}
    if options.data:
        tables["SMS spam"] = load_part(options.data, "sms_spam_bool", "all")
        tables["a9a"] = load_part(options.data, "libsvm_a9a", "train")
    tables = {name: tables[name] for name in options.tables if name in tables}
    if options.quick:
        tables = {name: (X[:100], y[:100]) for name, (X, y) in tables.items()}
    quick = options.quick
    compare_shares(tables, range(1 if quick else 5))
    compare_losses(tables, {"votes": 1 if quick else 4, "SMS spam": 1, "a9a": 1})


if __name__ == "__main__":
    main()
