"""RuleClassifier and KernelPerceptron with wrong labels, and on more and more of a9a.

    python benchmarks/bench_rules_noise.py [--quick] [--data DIR] [--seeds N ...]

* Errors on right labels after fits with 0, 10, 20 and 30 % wrong ones: tables of two
  classes, at most 1000 samples to train and 3000 to test. The splits and the wrong
  labels are of seeds on which no default was chosen, 10 and 11 without ``--seeds``;
  the tables are not new.
* a9a: at most 1000 and 4000 samples, and all; its own test part. Rules, literals and
  fit times.
* KernelPerceptron against ``SVC(ConjunctionKernel(), C=10)`` without wrong labels: at
  most 1500 samples to train, 2 splits, all classes.

Peers: RIPPER of wittgenstein and FIGS of imodels, left out where they cannot be
imported, and CART; all at their defaults, and CART with 16 leaves.
"""

import argparse
import os
import sys
import warnings

import numpy as np
from _timing import print_header, print_table, timed
from _workloads import load_part
from bench_rules_accuracy import as_peer_data, rule_learners, size_of, two_class_tables
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from sklboolean import KernelPerceptron, RuleClassifier
from sklboolean.kernels import ConjunctionKernel

RATES = (0.0, 0.1, 0.2, 0.3)
NOISY = ("num_breast_cancer", "car", "mushroom", "tic-tac-toe", "votes")
STORED = (
    "uci_monks1", "uci_spect", "uci_tic_tac_toe", "uci_votes",
    "uci_breast_cancer_ljubljana", "uci_car", "uci_nursery", "libsvm_a9a",
    "newsgroups_w100", "usps_binarized",
)  # fmt: skip
PEERS = ("RIPPER", "FIGS", "CART", "CART, 16 leaves")


def learners(seed):
    """Make the learners by name."""
    peers = rule_learners(seed)
    return {
        "RuleClassifier": RuleClassifier(random_state=seed),
        "KernelPerceptron": KernelPerceptron(random_state=seed),
        **{name: peers[name][0] for name in PEERS if name in peers},
    }


def wrong_labels(folder, noisy, seeds, n_train):
    """Print the errors of each learner for each share of wrong labels."""
    errors = {}
    tables = two_class_tables(folder)
    names = [name for name in noisy if name in tables]
    for table in names:
        for seed in seeds:
            X, X_test, y, y_test = tables[table](seed)
            X, y, X_test, y_test = (
                X[:n_train],
                y[:n_train],
                X_test[:3000],
                y_test[:3000],
            )
            draws = np.random.default_rng(seed).random(len(y))
            for rate in RATES:
                for name, model in learners(seed).items():
                    model.fit(as_peer_data(name, X), y ^ (draws < rate))
                    predicted = np.asarray(model.predict(as_peer_data(name, X_test)))
                    cell = errors.setdefault((name, rate, table), [])
                    cell.append(100 * np.mean(predicted != y_test))
    kinds = list(dict.fromkeys(name for name, _, _ in errors))
    rows = []
    for name in kinds:
        means = [
            np.mean([errors[name, rate, table] for table in names], axis=0)
            for rate in RATES
        ]
        rows.append([name, *(f"{np.mean(m):.1f} ± {spread(m):.1f}" for m in means)])
    columns = ["learner", *(f"{100 * rate:.0f} %" for rate in RATES)]
    print_table(f"Errors, %, with wrong labels, {len(names)} tables", columns, rows)
    rows = [
        [table, name, *(f"{np.mean(errors[name, rate, table]):.1f}" for rate in RATES)]
        for table in names
        for name in kinds
    ]
    print_table("By table", ["data", *columns], rows)


def spread(values):
    """Return the standard error over seeds."""
    return np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0.0


def a9a(folder, sizes):
    """Print accuracy, size and time for more and more samples."""
    X, y = load_part(folder, "libsvm_a9a", "train")
    X_test, y_test = load_part(folder, "libsvm_a9a", "test")
    # RIPPER takes the labels 0 and 1 only.
    y, y_test = (y > 0).astype(int), (y_test > 0).astype(int)
    order, rows = np.random.default_rng(10).permutation(len(y)), []
    for size in sizes:
        part = order[:size]
        for name, model in learners(10).items():
            if name == "RIPPER" and len(part) > 4000:
                continue
            data, labels = as_peer_data(name, X[part]), y[part]
            _, seconds = timed(lambda: model.fit(data, labels))  # noqa: B023
            predicted = np.asarray(model.predict(as_peer_data(name, X_test)))
            n_rules, n_literals = size_of(model)
            rows.append(
                [
                    len(part), name, f"{100 * np.mean(predicted == y_test):.2f}",
                    n_rules or "", n_literals or "", f"{seconds:.2f}",
                ]
            )  # fmt: skip
    columns = ["samples", "learner", "accuracy, %", "rules", "literals", "fit s"]
    print_table("a9a", columns, rows)


def against_svc(folder, seeds, names):
    """Print the accuracy of KernelPerceptron beside that of SVC."""
    rows, means = [], []
    for name in names:
        cells = {"KernelPerceptron": [], "SVC, C=10": []}
        for seed in seeds:
            if name in ("uci_monks1", "uci_spect", "libsvm_a9a", "usps_binarized"):
                X, y = load_part(folder, name, "train")
                X_test, y_test = load_part(folder, name, "test")
            else:
                X, y = load_part(folder, name, "all")
                X, X_test, y, y_test = train_test_split(
                    X, y, test_size=0.3, random_state=seed, stratify=y
                )
            rng = np.random.default_rng(seed)
            part = rng.permutation(len(y))[:1500]
            X, y = dense(X[part]), y[part]
            part = rng.permutation(len(y_test))[:3000]
            X_test, y_test = dense(X_test[part]), y_test[part]
            for kind, model in (
                ("KernelPerceptron", KernelPerceptron(random_state=seed)),
                ("SVC, C=10", SVC(kernel=ConjunctionKernel(), C=10)),
            ):
                cells[kind].append(100 * model.fit(X, y).score(X_test, y_test))
        means.append([np.mean(values) for values in cells.values()])
        rows.append([name, *(f"{value:.1f}" for value in means[-1])])
    rows.append(["mean", *(f"{value:.1f}" for value in np.mean(means, axis=0))])
    columns = ["data", "KernelPerceptron", "SVC, C=10"]
    print_table("KernelPerceptron and SVC, accuracy, %", columns, rows)


def dense(X):
    """Return samples as an array of uint8."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X).astype(np.uint8)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    parser.add_argument("--data", default=os.environ.get("SKLBOOLEAN_DATA"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 11])
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print_header("Rules and kernel models with wrong labels")
    noisy, seeds, n_train = NOISY, options.seeds, 1000
    if options.quick:
        noisy, seeds, n_train = ("votes",), seeds[:1], 100
    wrong_labels(options.data, noisy, seeds, n_train)
    if not options.data:
        print("\nWithout --data: no a9a, and no comparison with SVC.")
        return
    a9a(options.data, (500,) if options.quick else (1000, 4000, None))
    against_svc(options.data, seeds[:2], STORED[:3] if options.quick else STORED)


if __name__ == "__main__":
    sys.exit(main())
