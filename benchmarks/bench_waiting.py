"""What a user waits: default fits and predictions on real tables, beside usual models.

    python benchmarks/bench_waiting.py [--quick] [--data DIR]

Every model has its default parameters and one thread. "fit" is one fit with everything
in it: checks, calibrated probabilities, the choice of parameters. "predict" is for all
test samples at once, "one sample" for a single one, as a service asks.
"""

import argparse
import os
import sys
import warnings
from importlib.util import find_spec

import numpy as np
from _timing import milliseconds, print_header, print_table, timed
from _workloads import load_part
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

import sklboolean as sb
from sklboolean.datasets import load_mushroom, make_tic_tac_toe

N_SINGLE = 200  # predictions of one sample


def models():
    """All models by name, ours first."""
    found = {
        "AveragedPerceptron": sb.AveragedPerceptron(random_state=0),
        "BooleanSVC": sb.BooleanSVC(),
        "KernelPerceptron": sb.KernelPerceptron(random_state=0),
        "RuleClassifier": sb.RuleClassifier(random_state=0),
        "BoostByMajority": sb.BoostByMajority(random_state=0),
        "ConjunctionLogisticRegression": sb.ConjunctionLogisticRegression(),
        "LogisticRegression": LogisticRegression(),
        "SVC": SVC(),
        "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
    }
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        found["LightGBM"] = LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)
    else:
        print("\nPeer left out: LightGBM (not installed).")
    return found


def tables(folder, n_samples):
    """Training and test parts by name."""
    found = {
        "mushroom": load_mushroom(return_X_y=True),
        "tic-tac-toe": make_tic_tac_toe(return_X_y=True),
    }
    if folder:
        found["a9a"] = load_part(folder, "libsvm_a9a", "train")
    for name, (X, y) in found.items():
        chosen = np.random.default_rng(0).permutation(len(y))[:n_samples]
        y = np.unique(y, return_inverse=True)[1]
        parts = train_test_split(X[chosen], y[chosen], test_size=0.25, random_state=0)
        yield name, parts


def row(name, model, X, X_test, y, y_test):
    """Fit and predict; SVC and others get the floats that they would make."""
    if not type(model).__module__.startswith("sklboolean"):
        X, X_test = (part.astype(np.float64) for part in (X, X_test))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)  # names of LightGBM's columns
        _, fit = timed(lambda: model.fit(X, y))
        labels, whole = timed(lambda: model.predict(X_test))
        first = X_test[:1]
        _, single = timed(lambda: [model.predict(first) for _ in range(N_SINGLE)])
    accuracy = f"{(labels == y_test).mean():.4f}"
    return (
        name, f"{fit:.3f}", milliseconds(whole), f"{1e6 * single / N_SINGLE:.0f}",
        accuracy,
    )  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    parser.add_argument(
        "--data", default=os.environ.get("SKLBOOLEAN_DATA"),
        help="folder with libsvm_a9a.npz (see README.md)",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    print_header("What a user waits")
    for table, (X, X_test, y, y_test) in tables(
        options.data, 400 if options.quick else 4000
    ):
        rows = [
            row(name, model, X, X_test, y, y_test) for name, model in models().items()
        ]
        print_table(
            f"{table}: {X.shape[0]} x {X.shape[1]}, {X_test.shape[0]} test samples",
            ["model", "fit s", "predict ms", "one sample us", "test accuracy"],
            rows,
        )


if __name__ == "__main__":
    sys.exit(main())
