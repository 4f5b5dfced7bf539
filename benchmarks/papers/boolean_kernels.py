"""Perceptrons over all conjunctions: Theorems 2, 3 and 4 of Khardon, Roth, Servedio.

    python benchmarks/papers/boolean_kernels.py [--quick]

R. Khardon, D. Roth, R. Servedio (2001). Efficiency versus Convergence of Boolean
Kernels for On-Line Learning Algorithms. NIPS 14.

* Theorem 3: with the kernel that counts common conjunctions, the perceptron is the one
  over all of them. Both are run, the second with a weight for each conjunction; their
  mistakes and their scores must be equal.
* Theorem 4: a sequence labelled by one conjunction on which this perceptron errs on
  every example, exponentially many of them. The paper shows that there is one; here it
  is drawn, and the plain perceptron learns the same sequence.
* Theorem 2: Winnow over the same conjunctions has a small bound, which is checked. (For
  what it costs see `kernel_winnow.py`.)
"""

import argparse
import sys
from itertools import pairwise
from math import log2
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

sys.path.insert(0, str(Path(__file__).parents[1]))

from _timing import print_header, print_table, timed

from sklboolean import AveragedPerceptron, KernelPerceptron, Winnow
from sklboolean.kernels import ConjunctionKernel
from sklboolean.theory import n_conjunctions, winnow_mistake_bound

# Mistake-driven, one pass, in order.
ONE_PASS = {"average": None, "margin": 0.0, "max_iter": 1, "shuffle": False}
KERNELS = {
    "all": {"monotone": False, "max_literals": None},
    "all monotone": {"monotone": True, "max_literals": None},
    "up to 3": {"monotone": False, "max_literals": 3},
    "up to 3, monotone": {"monotone": True, "max_literals": 3},
}
FORCED = {20: 32, 30: 136, 40: 621, 50: 2907, 60: 13659}


def kernel_perceptron(**kernel):
    """Return the perceptron of the paper over conjunctions, the empty one included."""
    # The empty conjunction is the constant that KernelPerceptron adds to a kernel.
    kernel = ConjunctionKernel(min_literals=1, normalize=False, **kernel)
    return KernelPerceptron(kernel, average=None, margin=0.0, max_iter=1, n_orders=0)


# -- Theorem 3: the expansion ---------------------------------------------------------


def satisfied(row, *, monotone, max_literals=None):
    """Return the numbers of the conjunctions that a row satisfies.

    A digit for each feature, 0 where it does not occur, 1 for the feature and 2 for its
    negation: a conjunction is a number to base 3, to base 2 if monotone.
    """
    base = 2 if monotone else 3
    numbers, lengths = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for i, value in enumerate(row):
        if value or not monotone:
            digit = 1 if value else 2
            numbers = np.concatenate([numbers, numbers + digit * base**i])
            lengths = np.concatenate([lengths, lengths + 1])
    return numbers if max_literals is None else numbers[lengths <= max_literals]


def explicit_perceptron(X, y, *, monotone, max_literals):
    """Return the rows on which the perceptron over all conjunctions errs, and weights.

    One weight for each conjunction; a score of 0 predicts "true".
    """
    weights = np.zeros((2 if monotone else 3) ** X.shape[1], dtype=np.int64)
    mistakes = []
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        active = satisfied(row, monotone=monotone, max_literals=max_literals)
        if (weights[active].sum() >= 0) != label:
            weights[active] += 1 if label else -1
            mistakes.append(i)
    return mistakes, weights


def check_expansion(X, y, *, monotone, max_literals):
    """Compare kernel and expansion; return the number of mistakes and CPU times."""
    kernel = {"monotone": monotone, "max_literals": max_literals}
    model, with_kernel = timed(lambda: kernel_perceptron(**kernel).fit(X, y))
    (mistakes, weights), explicit = timed(lambda: explicit_perceptron(X, y, **kernel))
    assert model.support_.tolist() == mistakes, "Theorem 3: other mistakes"
    scores = [weights[satisfied(row, **kernel)].sum() for row in X]
    assert np.array_equal(np.rint(model.decision_function(X)), scores), (
        "Theorem 3: other scores"
    )
    return len(mistakes), with_kernel, explicit


# -- Theorem 4: exponentially many mistakes -------------------------------------------


def hard_sequence(n_features, n_mistakes, rng, max_draws=10**6):
    """Return rows and labels on which the monotone kernel perceptron always errs.

    First no feature, then all of them, which alone is positive; then rows x of half the
    features. The score of x is ``2**|x| - 1 - sum 2**|x and z|`` over the rows z before
    it: a row is taken while that is not negative. (The paper takes n / 20 features,
    which suits its proof.)
    """
    n, size = n_features, n_features // 2
    if size > 50:
        raise ValueError("n_features must be at most 101: floats hold 2**53.")
    taken, rows = 0, np.zeros((n_mistakes - 2, n), dtype=np.float32)
    for _ in range(-(-max_draws // 256)):
        order = rng.random((256, n), dtype=np.float32).argpartition(size, axis=1)
        drawn = np.zeros((256, n), dtype=np.float32)
        np.put_along_axis(drawn, order[:, :size], 1, axis=1)
        before = np.exp2(rows[:taken] @ drawn.T).sum(axis=0, dtype=np.float64)
        among = np.exp2((drawn @ drawn.T).astype(np.float64))
        chosen = []
        for i in range(256):
            if before[i] + among[i, chosen].sum() < 2**size:
                chosen.append(i)
        chosen = chosen[: len(rows) - taken]
        rows[taken : taken + len(chosen)] = drawn[chosen]
        taken += len(chosen)
        if taken == len(rows):
            break
    else:
        raise ValueError(f"n_mistakes={n_mistakes} is too many for {max_draws} draws.")
    X = np.vstack([np.zeros(n), np.ones(n), rows]).astype(bool)
    return X, X.all(axis=1)


def check_hard_sequence(n_features, n_mistakes):
    """Return the mistakes on a hard sequence: all conjunctions, fewer, and none."""
    X, y = hard_sequence(n_features, n_mistakes, np.random.default_rng(0))
    models = [
        kernel_perceptron(monotone=True, max_literals=None),
        kernel_perceptron(monotone=True, max_literals=3),
        kernel_perceptron(monotone=True, max_literals=2),
        AveragedPerceptron(**ONE_PASS),
    ]
    counts = [model.fit(X, y).n_mistakes_ for model in models]
    assert counts[0] == n_mistakes == len(X), "Theorem 4: a row was predicted right"
    return counts


# -- Theorem 2: Winnow over all monomials ---------------------------------------------


def monomial_table(X):
    """Return a sparse table of all non-empty monotone conjunctions."""
    active = [satisfied(row, monotone=True)[1:] - 1 for row in X]
    ends = np.concatenate([[0], np.cumsum([len(numbers) for numbers in active])])
    values = np.ones(ends[-1])
    shape = len(X), 2 ** X.shape[1] - 1
    table = csr_array((values, np.concatenate(active), ends), shape=shape)
    table.sort_indices()
    return table


def check_winnow(X, table, n_terms, rng):
    """Learn a monotone 3-DNF; return the bound and the mistakes of each learner."""
    terms = [rng.choice(X.shape[1], 3, replace=False) for _ in range(n_terms)]
    y = np.any([X[:, term].all(axis=1) for term in terms], axis=0)
    N = table.shape[1]
    bound = winnow_mistake_bound(N, n_terms, promotion=2, threshold=N)
    winnow = Winnow(variant="positive", promotion=2.0, threshold=N, **ONE_PASS)
    counts = [
        winnow.fit(table, y).n_mistakes_,
        kernel_perceptron(monotone=True, max_literals=None).fit(X, y).n_mistakes_,
        kernel_perceptron(monotone=True, max_literals=3).fit(X, y).n_mistakes_,
    ]
    assert counts[0] <= bound, "Theorem 2: more mistakes than the bound"
    return bound, *counts


# -- what is printed ------------------------------------------------------------------


def print_expansion(n_features_list, n_samples):
    rng = np.random.default_rng(0)
    rows = []
    for n in n_features_list:
        # Different rows with random labels: mistakes go on to the end.
        numbers = rng.choice(2**n, min(n_samples, 2**n), replace=False)
        X = (numbers[:, None] >> np.arange(n) & 1).astype(bool)
        y = rng.random(len(X)) < 0.5
        for name, kernel in KERNELS.items():
            size = n_conjunctions(n, **kernel)
            n_mistakes, *seconds = check_expansion(X, y, **kernel)
            times = [f"{1e3 * value:.1f}" for value in seconds]
            rows.append([n, name, size, len(X), n_mistakes, 0, *times])
    columns = "features conjunctions number rows mistakes different".split()
    columns += ["ms, kernel", "ms, expansion"]
    print_table("Theorem 3: kernel against expansion", columns, rows)


def print_hard_sequences(forced):
    rows = [[n, *check_hard_sequence(n, count)] for n, count in forced.items()]
    columns = ["features", "all monotone", "up to 3", "up to 2", "plain perceptron"]
    print_table("Theorem 4: mistakes on as many examples", columns, rows)
    if len(forced) > 1:
        steps = [
            log2(forced[m] / forced[n]) / (m - n) for n, m in pairwise(sorted(forced))
        ]
        print(f"\nGrowth: 2**({min(steps):.3f} n) to 2**({max(steps):.3f} n).")


def print_winnow(n_features, n_samples):
    rng = np.random.default_rng(0)
    X = rng.random((n_samples, n_features)) < 0.5
    table = monomial_table(X)
    rows = [[t, *check_winnow(X, table, t, rng)] for t in (1, 2, 4)]
    columns = [
        "terms",
        "bound",
        "Winnow, all",
        "perceptron, all",
        "perceptron, up to 3",
    ]
    title = f"Theorem 2: monotone 3-DNF, {n_features} features, {n_samples} rows"
    print_table(title, columns, rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    options = parser.parse_args(arguments)
    print_header("Perceptrons over all conjunctions")
    if options.quick:
        print_expansion([2, 6], 50)
        print_hard_sequences({n: FORCED[n] for n in (20, 30)})
        print_winnow(8, 200)
    else:
        print_expansion([2, 4, 8, 12], 500)
        print_hard_sequences(FORCED)
        print_winnow(16, 3000)


if __name__ == "__main__":
    sys.exit(main())
