"""Anomalies and classes by density models, beside scikit-learn's.

``python benchmarks/bench_density_uses.py --data FOLDER`` takes tables from the folder
(README.md); digits come with scikit-learn. Means over five splits, with standard
errors.
"""

import argparse
import os
import sys
import warnings
from pathlib import Path

import numpy as np
from _timing import print_header, print_table
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import LocalOutlierFactor

from sklboolean import BernoulliMixture, DensityClassifier, DensityOutlierDetector

N_SPLITS = 5
FILES = {
    "votes": "uci_votes", "mushroom": "uci_mushroom", "SMS": "sms_spam_bool",
    "car": "uci_car", "tic-tac-toe": "uci_tic_tac_toe",
}  # fmt: skip
ANOMALIES = ("digits", "votes", "mushroom", "SMS")


def load_tables(folder):
    """Return (X, y) by name: dense, uint8."""
    digits = load_digits()
    tables = {"digits": ((digits.data > 7).astype(np.uint8), digits.target)}
    for name, file in FILES.items() if folder else ():
        with np.load(Path(folder) / f"{file}.npz", allow_pickle=False) as arrays:
            n = int(arrays["n_features"])
            part = "all" if any(key.startswith("X_all") for key in arrays) else "train"
            if f"X_{part}_packed" in arrays:
                X = np.unpackbits(arrays[f"X_{part}_packed"], axis=1, count=n)
            else:
                ends, places = arrays[f"X_{part}_indptr"], arrays[f"X_{part}_indices"]
                ones = np.ones(len(places), np.uint8)
                X = sparse.csr_array((ones, places, ends), shape=(len(ends) - 1, n))
                common = np.argsort(-X.sum(axis=0), kind="stable")[:300]
                X = X.toarray()[:, common]  # the 300 most frequent words
            tables[name] = X, arrays[f"y_{part}"]
    return tables


def mean_and_error(values):
    """Write a mean with its standard error."""
    return f"{np.mean(values):.3f} +- {np.std(values) / np.sqrt(len(values) - 1):.3f}"


def find_anomalies(X, y, seed):
    """Return the AUC by detector: the largest class is normal; a tenth is not."""
    classes, counts = np.unique(y, return_counts=True)
    normal, other = y == classes[counts.argmax()], y != classes[counts.argmax()]
    train, test = train_test_split(X[normal][:3000], random_state=seed)
    rng = np.random.default_rng(seed)
    strange = X[other][rng.permutation(other.sum())[: max(5, len(test) // 9)]]
    test = np.concatenate([test, strange])
    truth = np.arange(len(test)) >= len(test) - len(strange)
    detectors = {
        "Chow-Liu tree": DensityOutlierDetector(),
        "BernoulliMixture(10)": DensityOutlierDetector(
            BernoulliMixture(10, random_state=seed)
        ),
        "IsolationForest": IsolationForest(random_state=seed),
        "LocalOutlierFactor": LocalOutlierFactor(novelty=True),
    }
    return {
        name: roc_auc_score(truth, -model.fit(train).decision_function(test))
        for name, model in detectors.items()
    }


def classify(X, y, seed):
    """Return accuracy and log-loss by classifier."""
    X, test, y, truth = train_test_split(X, y, random_state=seed, stratify=y)
    models = {
        "DensityClassifier": DensityClassifier(),
        "BernoulliNB": BernoulliNB(),
        "LogisticRegression": LogisticRegression(max_iter=1000),
    }
    found = {}
    for name, model in models.items():
        probabilities = model.fit(X, y).predict_proba(test)
        loss = log_loss(truth, probabilities, labels=model.classes_)
        found[name] = (
            np.mean(model.classes_[probabilities.argmax(axis=1)] == truth),
            loss,
        )
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small and meaningless")
    parser.add_argument("--data", default=os.environ.get("SKLBOOLEAN_DATA"))
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print_header("What people do with a density")
    anomalies, classes = [], []
    n_splits = 2 if options.quick else N_SPLITS
    for name, (X, y) in load_tables(options.data).items():
        seeds = range(n_splits if name in ANOMALIES else 0)
        aucs = [find_anomalies(X, y, seed) for seed in seeds]
        for model in aucs[0] if aucs else ():
            cell = mean_and_error([split[model] for split in aucs])
            anomalies.append([name, model, cell])
        splits = [classify(X, y, seed) for seed in range(n_splits)]
        for model in splits[0]:
            pairs = np.array([split[model] for split in splits])
            classes.append([name, model, *map(mean_and_error, pairs.T)])
    print_table("Anomalies: the largest class is normal", ["", "", "AUC"], anomalies)
    columns = ["", "", "accuracy", "log-loss"]
    print_table("Classes: a density for each", columns, classes)


if __name__ == "__main__":
    sys.exit(main())
