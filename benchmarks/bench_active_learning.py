"""Version spaces: labels to reach an error, and time per query.

    python benchmarks/bench_active_learning.py [--quick]

Rows are drawn without noise from a class that is known. "Filter" is Freund's algorithm,
which reads a stream and asks two hypotheses about each row (``fit_stream``);
"pool" compares all rows that are left. Whoever asked, halfspaces are predicted by the
Bayes point of the labels (expectation propagation), and their error is the angle to the
truth as a share of pi. Means and standard errors over seeds.
"""

import argparse
import sys
import time
from functools import partial

import numpy as np
from _timing import milliseconds, print_header, print_table, timed
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from sklboolean import QueryByCommittee
from sklboolean.active_learning import (
    FiniteVersionSpace,
    HalfspaceVersionSpace,
    KernelVersionSpace,
    ThresholdVersionSpace,
)
from sklboolean.datasets import make_tic_tac_toe
from sklboolean.kernels import ConjunctionKernel


def mean_and_error(values):
    """Write a mean and its standard error; runs that never got there are said."""
    values = np.asarray(values, dtype=float)
    if np.isnan(values).any():
        return f"{np.isfinite(values).sum()} of {len(values)} runs"
    spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0
    return f"{values.mean():.1f} ± {spread:.1f}"


def thresholds(epsilons, seeds):
    """Filter streams of numbers, each read once, to the stopping rule."""
    rows = []
    for epsilon in epsilons:
        labels, read, errors = [], [], []
        for seed in seeds:
            random, n_given = np.random.RandomState(seed), 0
            target = random.random_sample()

            def stream(random=random):
                nonlocal n_given
                while True:
                    n_given += 1
                    yield random.random_sample((1000, 1))

            learner = QueryByCommittee(
                ThresholdVersionSpace(), epsilon=(epsilon, 0.1), random_state=seed
            ).fit_stream(
                stream(), classes=[False, True],
                oracle=lambda x, _indices, target=target: x[:, 0] >= target,
            )  # fmt: skip
            # No table is read after the one in which the learner stops.
            assert (n_given - 1) * 1000 < learner.n_seen_ <= n_given * 1000
            low, high = learner.committee_.interval
            labels.append(learner.n_queries_)
            read.append(learner.n_seen_)
            # Of one hypothesis drawn from the interval, on average.
            below, above = target - low, high - target
            errors.append((below**2 + above**2) / (2 * (high - low)))
        rows.append(
            (
                f"{epsilon:g}", mean_and_error(labels), f"{2 / (3 * epsilon) - 2:.0f}",
                f"{np.mean(read):.0f}", f"{np.mean(errors):.2g}",
            )
        )  # fmt: skip
    print_table(
        f"Thresholds, delta = 0.1, {len(seeds)} seeds",
        ["epsilon", "labels", "random labels", "rows read, each once", "final error"],
        rows,
    )


def conjunctions(sizes, seeds, epsilon=0.01):
    """Filter Boolean rows for monotone conjunctions; teach random ones."""
    rows = []
    for n_features in sizes:
        queried, at_random, errors = [], [], []
        for seed in seeds:
            random = np.random.RandomState(seed)
            target = random.random_sample(n_features) < 0.5
            # Half of the rows satisfy n_features / 2 literals.
            X = random.random_sample((20_000, n_features)) < 0.5 ** (2 / n_features)
            y = X[:, target].all(axis=1)
            learner = QueryByCommittee(
                FiniteVersionSpace("conjunctions", monotone=True),
                epsilon=(epsilon, 0.1), random_state=seed,
            ).fit_stream([(X, y)], classes=[False, True])  # fmt: skip
            test = slice(18_000, None)
            queried.append(learner.n_queries_)
            accepted = learner.predict_proba(X[test])[:, 1]
            errors.append(np.abs(accepted - y[test]).mean())
            space = FiniteVersionSpace("conjunctions", monotone=True)
            for n in range(1, 2000):
                space.update(X[n - 1 : n], y[n - 1 : n])
                accepted = space.predict_proba(X[test])[:, 1]
                if np.abs(accepted - y[test]).mean() <= epsilon:
                    break
            at_random.append(n)
        rows.append(
            (
                n_features, mean_and_error(queried), f"{np.mean(errors):.2g}",
                mean_and_error(at_random),
            )
        )  # fmt: skip
    print_table(
        f"Monotone conjunctions, epsilon = {epsilon}, {len(seeds)} seeds",
        ["features", "labels, filter to the end", "final error", "random labels"],
        rows,
    )


def ask_random(X, y, n_labels, seed):
    return np.arange(n_labels)


def ask_filter(X, y, n_labels, seed):
    return ask_committee(X, y, n_labels, seed, stream=True)


def ask_pool(X, y, n_labels, seed):
    return ask_committee(X[:3000], y, n_labels, seed)


def ask_pool_margin(X, y, n_labels, seed):
    return ask_committee(X[:3000], y, n_labels, seed, strategy="margin")


def ask_space(space, X, y, n_labels, seed, *, stream=False, **parameters):
    """Query labels of a pool or of a stream by a version space; return the rows."""
    learner = QueryByCommittee(
        space, epsilon=None, max_queries=n_labels, random_state=seed, **parameters
    )
    if stream:
        return learner.fit_stream([(X, y)], classes=np.unique(y)).query_indices_
    return learner.fit(X, y).query_indices_


def ask_committee(X, y, n_labels, seed, **parameters):
    space = HalfspaceVersionSpace(fit_intercept=False)
    return ask_space(space, X, y[: len(X)], n_labels, seed, **parameters)


def ask_logistic(X, y, n_labels, seed):
    asked = [int(np.argmin(y)), int(np.argmax(y))]
    left = np.setdiff1d(np.arange(3000), asked)
    while len(asked) < n_labels:
        model = LogisticRegression(C=100, fit_intercept=False)
        scores = model.fit(X[asked], y[asked]).decision_function(X[left])
        position = np.argmin(np.abs(scores))
        asked.append(int(left[position]))
        left = np.delete(left, position)
    return np.array(asked)


def angle_errors(X, y, asked, truth):
    """Return the error of the Bayes point after each label, from the second on."""
    space = HalfspaceVersionSpace(
        fit_intercept=False, sampler="expectation_propagation"
    )
    space.update(X[asked[:1]], y[asked[:1]])
    errors = []
    for row in asked[1:]:
        space.update(X[row : row + 1], y[row : row + 1])
        weights = space.mean_scores(np.eye(X.shape[1]))
        cosine = weights @ truth / np.linalg.norm(weights) / np.linalg.norm(truth)
        errors.append(np.arccos(np.clip(cosine, -1, 1)) / np.pi)
    return np.array(errors)


def first_below(errors, level):
    """Return the number of labels from which on all errors are below a level."""
    above = np.flatnonzero(errors > level)
    n = above[-1] + 3 if len(above) else 2
    return n if n <= len(errors) + 1 else np.nan


def perceptrons(n_features, n_labels, levels, seeds):
    """Ask about rows on the sphere, labelled by a halfspace through its centre."""
    asking = {
        "random": ask_random, "filter": ask_filter, "pool, disagreement": ask_pool,
        "pool, margin": ask_pool_margin, "logistic margin": ask_logistic,
    }  # fmt: skip
    labels = {name: {level: [] for level in levels} for name in asking}
    slopes, times = ({name: [] for name in asking} for _ in range(2))
    for seed in seeds:
        random = np.random.RandomState(seed)
        X = random.normal(size=(40_000, n_features))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        truth = random.normal(size=n_features)
        y = X @ truth > 0
        for name, ask in asking.items():
            asked, seconds = timed(partial(ask, X, y, n_labels, seed))
            errors = angle_errors(X, y, asked, truth)
            late = np.arange(n_labels // 3, len(errors))
            slopes[name].append(np.polyfit(late, np.log(errors[late]), 1)[0])
            times[name].append(seconds / n_labels)
            for level in levels:
                labels[name][level].append(first_below(errors, level))
    rows = []
    for name, found in labels.items():
        ratio = [
            np.mean(found[level]) / np.mean(labels["logistic margin"][level])
            for level in levels
        ]
        rows.append(
            (
                name, *(mean_and_error(found[level]) for level in levels),
                f"{np.mean(slopes[name]):.4f}", milliseconds(np.median(times[name])),
                *(
                    ("" if np.isnan(r) else f"{r:.2f}") if "pool" in name else ""
                    for r in ratio
                ),
            )
        )  # fmt: skip
    print_table(
        f"Perceptron, {n_features} features, {len(seeds)} seeds (share: of the labels "
        "of logistic margin sampling)",
        [
            "asked by", *(f"labels to {level}" for level in levels), "ln error a label",
            "ms a query", *(f"share at {level}" for level in levels),
        ],
        rows,
    )  # fmt: skip


def kernels(checkpoints, seeds):
    """Ask about boards of tic-tac-toe with conjunctions of up to three literals."""
    X, y = make_tic_tac_toe(return_X_y=True)
    kernel = ConjunctionKernel(normalize=False)

    by_committee = partial(ask_space, KernelVersionSpace(kernel))

    def by_svm(X, y, n_labels, seed):
        asked = [int(np.argmin(y)), int(np.argmax(y))]
        while len(asked) < n_labels:
            left = np.setdiff1d(np.arange(len(y)), asked)
            scores = SVC(kernel=kernel, C=1e6).fit(X[asked], y[asked])
            scores = scores.decision_function(X[left])
            asked.append(int(left[np.argmin(np.abs(scores))]))
        return np.array(asked)

    asking = {
        "random": ask_random, "filter": partial(by_committee, stream=True),
        "pool, disagreement": by_committee,
        "pool, margin": lambda *a: by_committee(*a, strategy="margin"),
        "SVM margin": by_svm,
    }  # fmt: skip
    errors, times = ({name: [] for name in asking} for _ in range(2))
    for seed in seeds:
        order = np.random.RandomState(seed).permutation(len(y))
        pool, test = order[:600], order[600:]
        for name, ask in asking.items():
            asked, seconds = timed(
                partial(ask, X[pool], y[pool], checkpoints[-1], seed)
            )
            found = []
            for n in checkpoints:
                rows = pool[asked[:n]]
                model = SVC(kernel=kernel, C=1e6).fit(X[rows], y[rows])
                # A filter may come to the end of the pool first.
                short = len(rows) < n
                found.append(np.nan if short else 1 - model.score(X[test], y[test]))
            errors[name].append(found)
            times[name].append(seconds / checkpoints[-1])
    print_table(
        f"Tic-tac-toe, conjunctions of 3: error in percent of an SVM, {len(seeds)} "
        "seeds",
        ["asked by", *(f"at {n}" for n in checkpoints), "ms a query"],
        [
            (
                name, *map(mean_and_error, 100 * np.transpose(found)),
                milliseconds(np.median(times[name])),
            )
            for name, found in errors.items()
        ],
    )  # fmt: skip


def time_of_queries(n_labels, n_samples):
    """Time all that happens between two calls of an oracle."""
    random = np.random.RandomState(0)
    X = random.randint(0, 2, size=(n_samples + n_labels, 27))
    y = X[:, :6].sum(axis=1) + X[:, 6] * X[:, 7] >= 3
    moments = []

    def oracle(rows, indices):
        moments.append(time.process_time())
        return y[indices]

    QueryByCommittee(
        KernelVersionSpace(ConjunctionKernel(monotone=False, normalize=False)),
        epsilon=None, max_queries=n_labels + 10, random_state=0,
    ).fit(X, oracle=oracle, classes=[False, True])  # fmt: skip
    spent = 1e3 * np.median(np.diff(moments)[-20:])
    print_table(
        "One query: kernel, expectation propagation, scores of the pool",
        ["labels", "rows", "ms"],
        [(n_labels, n_samples, f"{spent:.1f}")],
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, two seeds")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds")
    options = parser.parse_args(arguments)
    print_header("Version spaces")
    seeds = range(2 if options.quick else options.seeds)
    time_of_queries(30 if options.quick else 150, 2000)
    thresholds((0.1, 0.01) if options.quick else (0.1, 0.01, 1e-3, 1e-4), seeds)
    conjunctions((6,) if options.quick else (10, 16), seeds)
    kernels((25,) if options.quick else (25, 50, 100, 150), seeds)
    perceptrons(10, 30 if options.quick else 80, (0.05, 0.01), seeds)
    if not options.quick:
        perceptrons(30, 150, (0.1, 0.05), seeds)


if __name__ == "__main__":
    sys.exit(main())
