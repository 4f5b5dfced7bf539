"""BooleanSVC against SVC: the same problem in one run, and both at their defaults.

    python benchmarks/bench_boolean_svc.py [--quick] [--data DIR]

* The same kernel and C as SVC: seconds, test accuracy, and the objective of the dual,
  which must agree. Several classes are compared in pairs by both.
* Both at their defaults, on every table.
"""

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from _timing import as_ratio, compare, milliseconds, print_header, print_table, timed
from _workloads import load_part
from scipy import sparse
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from sklboolean import BooleanSVC
from sklboolean.datasets import load_mushroom, make_dnf, make_tic_tac_toe
from sklboolean.kernels import PolynomialKernel, RBFKernel


def planted(n_samples):
    """Eight monotone terms of four literals among 256 features, 3 % noise."""
    X, y, _ = make_dnf(
        n_samples + 5000, 256, n_terms=8, n_literals=4, monotone=True, density=0.2,
        positive_fraction=0.5, noise=0.03, random_state=0,
    )  # fmt: skip
    return X[:n_samples], y[:n_samples], X[n_samples:], y[n_samples:]


def real_table(folder, name, n_samples=None):
    """Training and test part of a stored table, or two parts of the whole."""
    with np.load(Path(folder) / f"{name}.npz", allow_pickle=False) as arrays:
        parts = [part for part in ("train", "test", "all") if f"y_{part}" in arrays]
    X, y = load_part(folder, name, parts[0])
    if "test" in parts:
        X_test, y_test = load_part(folder, name, "test")
    else:
        X, X_test, y, y_test = train_test_split(
            X, y, test_size=0.4, random_state=0, stratify=y
        )
    if n_samples is not None and X.shape[0] > n_samples:
        chosen = np.random.default_rng(0).permutation(X.shape[0])[:n_samples]
        X, y = X[chosen], y[chosen]
    return X, y, X_test, y_test


def dual_objective(model, kernel, X):
    """Sum of dual variables less half of the squared norm, for two classes."""
    coef = model.dual_coef_
    coef = (coef.toarray() if sparse.issparse(coef) else coef)[0]
    total, support = 0.0, X[model.support_]
    for first in range(0, len(coef), 1000):
        here = slice(first, first + 1000)
        total += coef[here] @ kernel(support[here], support) @ coef
    return np.abs(coef).sum() - total / 2


def same_problem(title, data, kernel, peer, C, repeats, warm_ups=1):
    """Fit and predict with the same kernel and C as SVC."""
    X, y, X_test, y_test = data
    # SVC is quicker on CSR where most features are false.
    A, B = (sparse.csr_matrix(part.astype(float)) for part in (X, X_test))
    ours, theirs = BooleanSVC(kernel, C=C), peer.set_params(C=C)
    models = {"SVC": theirs, "ours": ours}
    if len(np.unique(y)) > 2:
        models["ours, one against the rest"] = BooleanSVC(
            kernel, C=C, multi_class="ovr"
        )
    fits = {
        name: (lambda m=model, a=A if model is theirs else X: m.fit(a, y))
        for name, model in models.items()
    }
    times, predictions, predict = compare(fits, repeats, warm_ups), {}, {}
    for name, model in models.items():
        part = B if model is theirs else X_test
        predictions[name], predict[name] = timed(lambda m=model, p=part: m.predict(p))
    rows = []
    for name, model in models.items():
        objective = ""
        if len(model.classes_) == 2:
            objective = f"{dual_objective(model, kernel, X):.6f}"
        accuracy = f"{(predictions[name] == y_test).mean():.4f}"
        support = int(np.sum(model.n_support_)) if hasattr(model, "n_support_") else ""
        rows.append(
            (
                name,
                milliseconds(times[name]), as_ratio(times[name], times["ours"]),
                milliseconds(predict[name]), as_ratio(predict[name], predict["ours"]),
                accuracy, objective, support,
            )
        )  # fmt: skip
    print_table(
        f"{title}, {X.shape[0]} x {X.shape[1]}, {len(np.unique(y))} classes, C={C:g}",
        ["", "fit ms", "ratio", "predict ms", "ratio", "test accuracy",
         "dual objective", "support"],
        rows,
    )  # fmt: skip


def defaults(tables, repeats):
    """Fit and predict with the defaults of both."""
    rows = []
    for name, (X, y, X_test, y_test) in tables.items():
        theirs, ours = SVC(), BooleanSVC()
        # SVC needs floats; it gets them ready.
        A, B = (
            part if sparse.issparse(part) else part.astype(float)
            for part in (X, X_test)
        )
        times = compare(
            {
                "SVC": lambda m=theirs, A=A, y=y: m.fit(A, y),
                "ours": lambda m=ours, X=X, y=y: m.fit(X, y),
            },
            repeats,
        )
        their_labels, their_time = timed(lambda m=theirs, B=B: m.predict(B))
        our_labels, our_time = timed(lambda m=ours, X=X_test: m.predict(X))
        rows.append(
            (
                name, f"{X.shape[0]} x {X.shape[1]}", len(ours.classes_),
                milliseconds(times["ours"]), as_ratio(times["SVC"], times["ours"]),
                f"{their_time / our_time:.1f}x", f"{(our_labels == y_test).mean():.4f}",
                f"{(their_labels == y_test).mean():.4f}",
            )
        )  # fmt: skip
    print_table(
        "Defaults: BooleanSVC() and SVC()",
        ["table", "size", "classes", "fit ms", "SVC/ours", "predict SVC/ours",
         "accuracy", "accuracy of SVC"],
        rows,
    )  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    parser.add_argument(
        "--data", default=os.environ.get("SKLBOOLEAN_DATA"),
        help="folder with .npz tables (see README.md)",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    print_header("BooleanSVC")
    # Once after the warm-up: SVC takes most of the time.
    n, repeats = 500 if options.quick else 4000, 1
    data = planted(n)
    poly = SVC(kernel="poly", degree=3, gamma=1 / 14, coef0=1.0)
    same_problem("Planted, poly", data, PolynomialKernel(gamma=1 / 14), poly, 1.0,
                 repeats)  # fmt: skip
    same_problem("Planted, rbf", data, RBFKernel(gamma=0.02), SVC(gamma=0.02), 1.0,
                 repeats)  # fmt: skip
    tables = {}
    for name, (X, y) in (
        ("mushroom", load_mushroom(return_X_y=True)),
        ("tic-tac-toe", make_tic_tac_toe(return_X_y=True)),
    ):
        X, X_test, y, y_test = train_test_split(
            X, y, test_size=0.4, random_state=0, stratify=y
        )
        tables[name] = X, y, X_test, y_test
    if options.data:
        rows = 1000 if options.quick else None
        for name, gamma in (
            ("uci_nursery", 0.1), ("newsgroups_w100", 0.05), ("usps_binarized", 0.02)
        ):  # fmt: skip
            same_problem(
                name, real_table(options.data, name, rows), RBFKernel(gamma=gamma),
                SVC(gamma=gamma), 1.0, repeats,
            )  # fmt: skip
        for path in sorted(Path(options.data).glob("*.npz")):
            try:
                tables[path.stem] = real_table(
                    options.data, path.stem, 500 if options.quick else 3000
                )
            except IndexError:  # a table without labels
                continue
    defaults(tables, repeats)
    if options.data:
        same_problem(
            "a9a in full, poly", real_table(options.data, "libsvm_a9a", rows),
            PolynomialKernel(gamma=1 / 14), poly, 0.1, 1, 0,
        )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
