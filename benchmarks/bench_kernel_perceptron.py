"""KernelPerceptron against a numpy Gram matrix with a mistake loop, and against SVC.

    python benchmarks/bench_kernel_perceptron.py [--quick] [--small] [--data DIR]

Four parts:

* ``fit`` on a planted DNF, 20 000 x 256, 5 epochs. The numpy twin forms the Gram
  matrix in float64 (3.2 GB; ``--small`` takes 5000 rows) and then runs the same
  perceptron in the same order, one vector operation for each mistake. Both must make
  the same number of mistakes in every epoch, or the script stops.
* ``fit`` against ``SVC(kernel=callable)`` at 5000 rows, with test accuracies.
* ``predict`` against SVC, per pair of a query and a support row.
* Real data: accuracy and time beside SVC(poly), LinearSVC and Perceptron.
"""

import argparse
import os
import sys

import numpy as np
from _timing import (
    as_ratio,
    compare,
    milliseconds,
    peak_memory,
    print_header,
    print_table,
    timed,
)
from _workloads import load_part
from scipy.special import binom
from sklearn.linear_model import Perceptron
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC, LinearSVC

from sklboolean import KernelPerceptron
from sklboolean.datasets import load_mushroom, make_dnf, make_tic_tac_toe
from sklboolean.kernels import ConjunctionKernel

N_FEATURES, N_EPOCHS = 256, 5
KERNELS = {
    "up to 3 literals": ConjunctionKernel(
        min_literals=1, max_literals=3, normalize=False
    ),
    "all, 2**same": ConjunctionKernel(
        min_literals=1, max_literals=None, monotone=False, normalize=False
    ),
}


def planted_dnf(n_samples, n_test):
    """Eight monotone terms of four literals, density 0.2, 3 % of the labels wrong."""
    X, y, _ = make_dnf(
        n_samples + n_test, N_FEATURES, n_terms=8, n_literals=4, monotone=True,
        density=0.2, positive_fraction=0.5, noise=0.03, random_state=0,
    )  # fmt: skip
    return X[:n_samples], y[:n_samples], X[n_samples:], y[n_samples:]


# -- the numpy twin -------------------------------------------------------------------


def count_gram(A, B):
    """Common ones of all pairs; numpy uses the symmetric product where B is A."""
    A = A.astype(np.float64)
    return A @ (A if B is A else B.astype(np.float64)).T


def in_blocks(function, K):
    """Apply an elementwise function to K in place, in blocks that fit the cache."""
    for first in range(0, len(K), 16):
        K[first : first + 16] = function(K[first : first + 16])
    return K


def binom_kernel(A, B):
    """Conjunctions of up to 3 literals, as the formula reads."""
    return in_blocks(
        lambda s: sum(binom(s, length) for length in range(4)), count_gram(A, B)
    )


def horner_kernel(A, B):
    """The same as a polynomial."""
    return in_blocks(lambda s: (s * s + 5) * s / 6 + 1, count_gram(A, B))


def power_kernel(A, B):
    """2**same with same = n - |x| - |z| + 2 common."""
    K = count_gram(A, B)
    K *= 2
    K -= B.sum(axis=1, dtype=np.float64)
    K += (A.shape[1] - A.sum(axis=1, dtype=np.float64))[:, None]
    return np.exp2(K, out=K)


GRAMS = {
    "up to 3 literals": {
        "GEMM + binom": binom_kernel,
        "GEMM + Horner": horner_kernel,
    },
    "all, 2**same": {"GEMM + exp2": power_kernel},
}


def numpy_perceptron(K, y):
    """Run the perceptron on a Gram matrix; return the mistakes of each epoch."""
    scores = np.zeros(len(y))
    positive = (y == 1).tolist()
    mistakes = []
    for _ in range(N_EPOCHS):
        mistakes.append(0)
        for i, is_positive in enumerate(positive):
            if (scores[i] >= 0) != is_positive:
                mistakes[-1] += 1
                if is_positive:
                    scores += K[i]
                else:
                    scores -= K[i]
    return mistakes


# -- the parts ------------------------------------------------------------------------


def fit_against_gram(n_samples, repeats):
    """Time ``fit`` and the numpy twin; stop if they do not make the same mistakes."""
    X, y, _, _ = planted_dnf(n_samples, 0)
    rows, notes = [], []
    for name, counting_kernel in KERNELS.items():
        ours = KernelPerceptron(
            counting_kernel, max_iter=N_EPOCHS, average=None, n_orders=0, margin=0,
            early_stopping=False,
        ).fit(X, y)  # fmt: skip
        notes.append(f"{name}: {ours.n_support_} support rows, ")
        notes[-1] += f"the same mistakes in each epoch, {ours.mistakes_per_epoch_}"
        gram_times = {}
        memory = peak_memory()
        for peer, kernel in GRAMS[name].items():
            K = None  # frees the last one; the first of two runs warms the memory up
            _, cold = timed(lambda kernel=kernel: kernel(X, X).shape)
            K, warm = timed(lambda kernel=kernel: kernel(X, X))
            gram_times[peer] = min(cold, warm)
            mistakes = numpy_perceptron(K, y)
            if mistakes != ours.mistakes_per_epoch_:
                raise AssertionError(f"{name}: not the same mistakes: {mistakes}")
        times = compare(
            {
                "loop": lambda K=K: numpy_perceptron(K, y),
                "ours": lambda ours=ours: ours.fit(X, y),
            },
            repeats,
        )
        del K
        notes[-1] += (
            f"; most memory held so far {memory:.0f} MiB, "
            f"after numpy {peak_memory():.0f} MiB."
        )
        mine, loop = times["ours"], times["loop"]
        peers = {f"{peer} + loop": time + loop for peer, time in gram_times.items()}
        peers["loop, its Gram for free"] = loop
        rows += [
            (name, peer, milliseconds(time), milliseconds(mine), as_ratio(time, mine))
            for peer, time in peers.items()
        ]
    print_table(
        f"fit, {n_samples} x {N_FEATURES}, {N_EPOCHS} epochs in the same order",
        ["conjunctions", "numpy", "ms", "ours ms", "ratio"],
        rows,
    )
    print("\n" + "\n".join(notes))


def fit_against_svc(n_samples, repeats):
    """Time ``fit`` and ``predict`` of SVC and others, with accuracies."""
    X, y, X_test, y_test = planted_dnf(n_samples, 5000)
    models = {
        "ours": KernelPerceptron(max_iter=N_EPOCHS, random_state=0),
        "SVC, numpy callable": SVC(kernel=horner_kernel),
        "SVC, ConjunctionKernel": SVC(kernel=ConjunctionKernel(normalize=False)),
        "SVC poly, degree 3": SVC(kernel="poly", coef0=1.0),
        "SVC rbf": SVC(),
        "LinearSVC": LinearSVC(dual=False),
    }
    times = compare(
        {name: lambda model=model: model.fit(X, y) for name, model in models.items()},
        repeats,
    )
    rows = [
        (
            name, milliseconds(times[name]), as_ratio(times[name], times["ours"]),
            f"{model.score(X_test, y_test):.4f}",
        )
        for name, model in models.items()
    ]  # fmt: skip
    print_table(
        f"fit, {n_samples} x {N_FEATURES}: "
        f"KernelPerceptron(max_iter={N_EPOCHS}) and SVC",
        ["learner", "ms", "ratio", "test accuracy"],
        rows,
    )
    del models["LinearSVC"]  # has no support rows
    predict_against_svc(models, X_test, repeats)


def predict_against_svc(models, X_test, repeats):
    """Time ``predict`` by pair of a query and a support row."""
    times = compare(
        {
            name: lambda model=model: model.predict(X_test)
            for name, model in models.items()
        },
        repeats,
    )
    n_support = {name: int(np.sum(m.n_support_)) for name, m in models.items()}
    per_pair = {name: times[name] / n_support[name] / len(X_test) for name in models}
    rows = [
        (
            name, milliseconds(times[name]), n_support[name],
            f"{1e9 * per_pair[name]:.2f}", as_ratio(per_pair[name], per_pair["ours"]),
        )
        for name in models
    ]  # fmt: skip
    print_table(
        f"predict, {len(X_test)} rows of {N_FEATURES} features",
        ["learner", "ms", "support rows", "ns per pair", "ratio"],
        rows,
    )


def real_data(folder, repeats, n_samples):
    """Print accuracy and time of learners with default parameters."""
    tables = {
        "mushroom": halves(*load_mushroom(return_X_y=True)),
        "tic-tac-toe": halves(*make_tic_tac_toe(return_X_y=True)),
    }
    if folder:
        X, y = load_part(folder, "libsvm_a9a", "train")
        X_test, y_test = load_part(folder, "libsvm_a9a", "test")
        tables["a9a"] = X[:n_samples], X_test, y[:n_samples], y_test
    rows = []
    for data, (X, X_test, y, y_test) in tables.items():
        models = {
            "KernelPerceptron": KernelPerceptron(random_state=0),
            "SVC poly, degree 3": SVC(kernel="poly", coef0=1.0),
            "LinearSVC": LinearSVC(dual=False),
            "Perceptron": Perceptron(random_state=0),
        }
        times = compare(
            {
                name: lambda model=model, X=X, y=y: model.fit(X, y)
                for name, model in models.items()
            },
            repeats,
        )
        for name, model in models.items():
            _, seconds = timed(lambda model=model, X_test=X_test: model.predict(X_test))
            rows.append(
                (
                    data, f"{len(y)} x {X.shape[1]}", name, milliseconds(times[name]),
                    milliseconds(seconds), f"{model.score(X_test, y_test):.4f}",
                )
            )  # fmt: skip
    print_table(
        "Real data, default parameters",
        ["data", "training rows", "learner", "fit ms", "predict ms", "test accuracy"],
        rows,
    )


def halves(X, y):
    """Split into training and test rows: X, X_test, y, y_test."""
    return train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    parser.add_argument(
        "--small", action="store_true", help="5000 rows for the Gram matrix (0.2 GB)"
    )
    parser.add_argument(
        "--data", default=os.environ.get("SKLBOOLEAN_DATA"),
        help="folder with libsvm_a9a.npz (see README.md)",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    print_header("KernelPerceptron")
    if options.quick:
        fit_against_gram(1000, 1)
        fit_against_svc(500, 1)
        real_data(options.data, 1, 500)
    else:
        fit_against_gram(5000 if options.small else 20000, 2)
        fit_against_svc(5000, 1)
        real_data(options.data, 1, 10000)


if __name__ == "__main__":
    sys.exit(main())
