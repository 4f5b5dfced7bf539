"""Accuracy and probabilities of AveragedPerceptron and Winnow with default parameters.

    python benchmarks/bench_linear_model_accuracy.py [--quick] [--data DIR]

* Accuracy beside scikit-learn's Perceptron, SGDClassifier(average=True) and
  LogisticRegression: stratified cross-validation with five folds, or the test part
  where there is one (20 newsgroups, later posts).
* Log-loss of the probabilities beside LogisticRegression's, on the held-out folds.

Everything is done for several seeds, of the folds and of the learners, the same for all
learners: online learners depend on the order of the rows. "Gain" is what ours gain on
the peer that is best on average, with the standard deviation of this over the seeds.

Votes and mushroom come with the package; the other tables need ``--data``.
"""

import argparse
import os
import sys

import numpy as np
from _timing import print_header, print_table
from _workloads import load_part
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split

from sklboolean import AveragedPerceptron, Winnow
from sklboolean.datasets import load_mushroom, load_votes

PEERS = {
    "Perceptron": Perceptron(),
    "SGD average": SGDClassifier(average=True),
    "LogisticRegression": LogisticRegression(max_iter=1000),
}
OURS = {"AveragedPerceptron": AveragedPerceptron(), "Winnow": Winnow()}
# Each attribute value and its negation: cheap where rows are short.
COMPLEMENT = {"Winnow complement": Winnow(variant="complement", binarize=0.0)}
PROBABILITIES = {
    "AveragedPerceptron": AveragedPerceptron(),
    "Winnow": Winnow(),
    "LogisticRegression": PEERS["LogisticRegression"],
}
ONE_HOT = ("votes", "mushroom", "a9a")


def load_tables(folder, n_samples):
    """Return (X, y, n_train) by name; ``n_samples`` cuts large tables, None does not.

    ``n_train`` is where the test part begins, None where there is none.
    """
    tables = {
        "votes": load_votes(return_X_y=True),
        "mushroom": load_mushroom(return_X_y=True),
    }
    if folder:
        tables["SMS spam"] = load_part(folder, "sms_spam_bool", "all")
        tables["a9a"] = load_part(folder, "libsvm_a9a", "train")
    else:
        print("\nNo --data: without SMS spam, a9a and 20 newsgroups.")
    tables = {name: (*first_rows(*Xy, n_samples), None) for name, Xy in tables.items()}
    if folder and n_samples is None:
        tables["20 newsgroups"] = newsgroups_by_date(folder)
    return tables


def first_rows(X, y, n_samples):
    """Return a stratified part of a table."""
    if n_samples is None or n_samples >= len(y):
        return X, y
    rows, _ = train_test_split(
        np.arange(len(y)), train_size=n_samples, stratify=y, random_state=0
    )
    return X[rows], y[rows]


def newsgroups_by_date(folder):
    """Return both parts in one table, and where the second begins."""
    X, y = load_part(folder, "newsgroups20_bydate_bool", "train")
    X_test, y_test = load_part(folder, "newsgroups20_bydate_bool", "test")
    whole = sparse.vstack([X, X_test], format="csr")
    return whole, np.concatenate([y, y_test]), len(y)


def split_rows(X, y, n_train, seed):
    """Yield (training, test) rows: five folds, or the only split."""
    if n_train is not None:
        yield np.arange(n_train), np.arange(n_train, len(y))
        return
    yield from StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)


def held_out(model, table, measure, seeds):
    """Return the mean of ``measure(fitted, X_test, y_test)`` for each seed."""
    X, y, n_train = table
    means = []
    for seed in seeds:
        seeded = clone(model).set_params(random_state=seed)
        values = [
            measure(seeded.fit(X[train], y[train]), X[test], y[test])
            for train, test in split_rows(X, y, n_train, seed)
        ]
        means.append(np.mean(values))
    return np.array(means)


def accuracy(model, X, y):
    """Return the accuracy in percent."""
    return 100 * accuracy_score(y, model.predict(X))


def probability_loss(model, X, y):
    """Return the log-loss."""
    return log_loss(y, model.predict_proba(X), labels=model.classes_)


def compare_accuracy(tables, seeds):
    """Print accuracies, and what ours gain on the best of the peers, in points."""
    rows = []
    for name, table in tables.items():
        learners = {**OURS, **(COMPLEMENT if name in ONE_HOT else {}), **PEERS}
        scores = {
            learner: held_out(model, table, accuracy, seeds)
            for learner, model in learners.items()
        }
        best = max(PEERS, key=lambda peer, scores=scores: scores[peer].mean())
        gains = [scores[learner] - scores[best] for learner in OURS]
        rows.append(
            (
                name,
                *(
                    f"{scores[learner].mean():.2f}" if learner in scores else ""
                    for learner in (*OURS, *COMPLEMENT, *PEERS)
                ),
                *(f"{gain.mean():+.2f} ± {gain.std():.2f}" for gain in gains),
            )
        )
    print_table(
        f"Accuracy in percent, held out, default parameters, {len(seeds)} seeds",
        [
            "data", *OURS, *COMPLEMENT, *PEERS, *(f"{ours}, gain" for ours in OURS)
        ],
        rows,
    )  # fmt: skip


def compare_probabilities(tables, seeds):
    """Print the log-loss of each learner and its ratio to LogisticRegression's."""
    rows = []
    for name in ("votes", "SMS spam"):
        if name not in tables:
            continue
        losses = {
            learner: held_out(model, tables[name], probability_loss, seeds)
            for learner, model in PROBABILITIES.items()
        }
        for learner, loss in losses.items():
            ratio = loss / losses["LogisticRegression"]
            cells = f"{loss.mean():.4f}", f"{ratio.mean():.3f} ± {ratio.std():.3f}"
            rows.append((name, learner, *cells))
    print_table(
        f"Log-loss of predict_proba, held out, {len(seeds)} seeds",
        ["data", "learner", "log-loss", "/ LogisticRegression"],
        rows,
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, 500 rows")
    parser.add_argument(
        "--data", default=os.environ.get("SKLBOOLEAN_DATA"),
        help="folder with sms_spam_bool.npz, libsvm_a9a.npz and "
        "newsgroups20_bydate_bool.npz (see README.md)",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    print_header("On-line linear learners: accuracy")
    seeds = range(1 if options.quick else 5)
    tables = load_tables(options.data, 500 if options.quick else None)
    compare_accuracy(tables, seeds)
    compare_probabilities(tables, range(1 if options.quick else 20))


if __name__ == "__main__":
    sys.exit(main())
