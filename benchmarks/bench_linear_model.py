"""AveragedPerceptron and Winnow against scikit-learn's linear online learners.

    python benchmarks/bench_linear_model.py [--quick] [--data DIR]

Everything is measured end to end, from the arrays as a user has them, and every learner
gets the same arrays:

* ``fit`` of ten shuffled epochs and of one, and one ``partial_fit`` in the given order.
* Time for a stored value: what nine more epochs cost, divided by nine and by the number
  of stored values (nonzeros of CSR, all values of dense tables). That leaves out what
  ``fit`` does once, and the first epoch, which has the most mistakes.
* Where they are installed, Vowpal Wabbit and river: one pass in order over examples
  that were parsed before.

With more than two classes scikit-learn trains each class against the rest, as ours do.
PassiveAggressive is scikit-learn's ``SGDClassifier(learning_rate="pa1")``: the class of
that name leaves scikit-learn.
"""

import argparse
import os
import sys
from importlib.util import find_spec

import numpy as np
from _timing import as_ratio, compare, milliseconds, print_header, print_table
from _workloads import linear_labels, load_part, random_rows, zipf_rows
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Perceptron, SGDClassifier

from sklboolean import AveragedPerceptron, Winnow

OURS = ("AveragedPerceptron", "Winnow")


def learners(n_epochs):
    """Return all learners for a number of shuffled epochs."""
    ours = {"max_iter": n_epochs, "random_state": 0}
    shared = ours | {"tol": None}  # all epochs
    return {
        "AveragedPerceptron": AveragedPerceptron(**ours),
        "Winnow": Winnow(**ours),
        "Perceptron": Perceptron(**shared),
        "SGD average": SGDClassifier(average=True, **shared),
        "PassiveAggressive": SGDClassifier(
            learning_rate="pa1", penalty=None, eta0=1.0, **shared
        ),
    }


# -- data -----------------------------------------------------------------------------


def with_int32(X):
    """Return CSR with 32-bit indices: scikit-learn's learners take no others."""
    parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sparse.csr_array(parts, shape=X.shape)


def made_up_tables(n_text, n_dense):
    """Return tables by name: Zipf text and bits, 5 % of the labels wrong."""
    X = with_int32(zipf_rows(n_text, 50_000, 67, 0))
    tables = {f"text, {n_text} x 50000 x 67": (X, linear_labels(X, 0.05, 1))}
    X = random_rows(n_dense, 500, 0.2, 0)
    y = linear_labels(X, 0.05, 1)
    for dtype in (bool, np.uint8, np.float64):
        name = f"{np.dtype(dtype).name}, {n_dense} x 500"
        tables[name] = X.astype(dtype), y
    return tables


def real_tables(folder, n_samples):
    """Return 20 newsgroups and SMS spam by name; nothing without a folder."""
    if not folder:
        print("\nNo --data: without 20 newsgroups and SMS spam.")
        return {}
    parts = {
        "20 newsgroups": load_part(folder, "newsgroups20_bydate_bool", "train"),
        "SMS spam": load_part(folder, "sms_spam_bool", "all"),
    }
    tables = {}
    for name, (X, y) in parts.items():
        rows = np.random.default_rng(0).permutation(len(y))[:n_samples]
        y = np.unique(y, return_inverse=True)[1]
        tables[name] = with_int32(X[rows]), y[rows]
    return tables


# -- scikit-learn ---------------------------------------------------------------------


def ratios(times, name):
    """Return how many times longer a learner takes than each of ours."""
    return [as_ratio(times[name], times[ours]) for ours in OURS]


def time_fits(n_epochs, X, y, repeats):
    """Return fitted models and the time of ``fit`` by name."""
    models = learners(n_epochs)
    fits = {name: lambda model=model: model.fit(X, y) for name, model in models.items()}
    return models, compare(fits, repeats)


def time_partial_fits(X, y, repeats):
    """Return the time of a first ``partial_fit`` by name."""
    classes = np.unique(y)
    fits = {
        name: lambda model=model: clone(model).partial_fit(X, y, classes=classes)
        for name, model in learners(1).items()
    }
    return compare(fits, repeats)


def against_sklearn(tables, repeats):
    """Print the tables of ten epochs and of one."""
    ten, one = [], []
    for data, (X, y) in tables.items():
        n_values = X.nnz if sparse.issparse(X) else X.size
        models, tens = time_fits(10, X, y, repeats)
        _, ones = time_fits(1, X, y, 2 * repeats)
        parts = time_partial_fits(X, y, 2 * repeats)
        for name, model in models.items():
            per_value = 1e9 * (tens[name] - ones[name]) / 9 / n_values
            ten.append(
                (
                    data, name, milliseconds(tens[name]), *ratios(tens, name),
                    f"{per_value:.2f}", f"{model.score(X, y):.4f}",
                )
            )  # fmt: skip
            one.append(
                (
                    data, name, milliseconds(ones[name]), *ratios(ones, name),
                    milliseconds(parts[name]), *ratios(parts, name),
                )
            )  # fmt: skip
    peers = [f"/ {name}" for name in OURS]
    print_table(
        "fit, 10 shuffled epochs",
        ["data", "learner", "ms", *peers, "ns per value", "training accuracy"],
        ten,
    )
    print_table(
        "One epoch: fit, and partial_fit in order",
        ["data", "learner", "fit ms", *peers, "partial_fit ms", *peers],
        one,
    )


# -- other packages -------------------------------------------------------------------


def vowpal_wabbit_pass(X, y):
    """Return a pass of Vowpal Wabbit's hinge loss over parsed examples, or None."""
    if not find_spec("vowpalwabbit"):
        return None
    from vowpalwabbit import Workspace

    options = "--loss_function hinge --binary --bit_precision 18 --noconstant --quiet"
    workspace = Workspace(options)
    examples = []
    for i, label in enumerate(y):
        words = " ".join(map(str, X.indices[X.indptr[i] : X.indptr[i + 1]]))
        examples.append(workspace.parse(f"{2 * label - 1} | {words}"))

    def learn():
        for example in examples:
            workspace.learn(example)

    return learn


def river_pass(X, y):
    """Return a pass of river's perceptron over dictionaries, or None."""
    if not find_spec("river"):
        return None
    from river.linear_model import Perceptron as RiverPerceptron

    rows = [
        dict.fromkeys(X.indices[X.indptr[i] : X.indptr[i + 1]].tolist(), 1.0)
        for i in range(len(y))
    ]
    labels = (y == 1).tolist()

    def learn():
        model = RiverPerceptron()
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)

    return learn


def against_other_packages(X, y, repeats):
    """Print one pass in order of what is installed; CSR ones, two classes."""
    prepare = {"Vowpal Wabbit": vowpal_wabbit_pass, "river": river_pass}
    passes = {name: make(X, y) for name, make in prepare.items()}
    functions = {name: learn for name, learn in passes.items() if learn}
    for name in passes.keys() - functions.keys():
        print(f"\nPeer left out: {name} (not installed).")
    if not functions:
        return
    for name, model in learners(1).items():
        if name in OURS:
            functions[name] = lambda model=model: clone(model).partial_fit(
                X, y, classes=[0, 1]
            )
    times = compare(functions, repeats)
    rows = [
        (name, milliseconds(times[name]), f"{1e9 * times[name] / X.nnz:.2f}")
        + tuple(ratios(times, name))
        for name in (*OURS, *prepare)
        if name in times
    ]
    print_table(
        f"One pass in order over {len(y)} rows of text, parsed before",
        ["learner", "ms", "ns per value", *(f"/ {name}" for name in OURS)],
        rows,
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    parser.add_argument(
        "--data", default=os.environ.get("SKLBOOLEAN_DATA"),
        help="folder with newsgroups20_bydate_bool.npz and sms_spam_bool.npz",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    print_header("On-line linear learners")
    n_text, n_dense, n_real, repeats = 100_000, 50_000, None, 3
    if options.quick:
        n_text, n_dense, n_real, repeats = 1000, 1000, 500, 1
    tables = made_up_tables(n_text, n_dense)
    text = next(iter(tables.values()))
    against_other_packages(text[0][:50_000], text[1][:50_000], repeats)
    against_sklearn({**tables, **real_tables(options.data, n_real)}, repeats)


if __name__ == "__main__":
    sys.exit(main())
