"""Query by committee: what a query tells, and how the error falls. Freund, chapter 3.

    python benchmarks/papers/query_by_committee.py [--quick]

Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
Learning. PhD thesis, University of California, Santa Cruz.

* Section 3.3, thresholds: the logarithm of the interval falls by 7/12 a query, so that
  the error falls exponentially in queries; and Theorem 3.5.1 with its two bounds.
* Theorem 3.6.1, parallel planes: a query is expected to tell 0.672 bits or more,
  whichever convex body is left. Computed for some bodies, and measured on bodies that
  query by committee cuts out of a ball.
* Section 3.6.3, perceptrons: error by number of labels, asked for and at random.

What a theorem says is asserted. (For labels and rows to a given error, pools, kernels
and other classes see `bench_active_learning.py`.)
"""

import argparse
import sys
from itertools import pairwise
from math import exp, log, sqrt
from pathlib import Path

import numpy as np
from scipy.integrate import cumulative_trapezoid, trapezoid
from scipy.special import digamma

sys.path.insert(0, str(Path(__file__).parents[1]))

from _timing import print_header, print_table
from bench_active_learning import angle_errors

from sklboolean import QueryByCommittee
from sklboolean.active_learning import (
    HalfspaceVersionSpace,
    ThresholdVersionSpace,
    expected_information_gain,
)
from sklboolean.theory import information_gain_lower_bound

PER_QUERY = 7 / 12  # nats by which the interval of a threshold shrinks
BOUND = information_gain_lower_bound()


# -- thresholds -----------------------------------------------------------------------


def learn_threshold(seed, **stop):
    """Filter numbers for a threshold; return the learner and the threshold."""
    random = np.random.RandomState(seed)
    target = random.random_sample()

    def stream():
        while True:
            yield random.random_sample((1000, 1))

    learner = QueryByCommittee(
        ThresholdVersionSpace(), random_state=seed, **stop
    ).fit_stream(
        stream(), classes=[False, True],
        oracle=lambda x, _indices: x[:, 0] >= target,
    )  # fmt: skip
    return learner, target


def shrinking(n_queries, n_seeds):
    """Return ln of the interval's length after each query, and rows read, by seed."""
    logs, rows = [], []
    for seed in range(n_seeds):
        learner, _ = learn_threshold(seed, epsilon=None, max_queries=n_queries)
        # The share of the interval that a label leaves is its probability.
        logs.append(-log(2) * np.cumsum(learner.information_gains_))
        rows.append(learner.query_indices_ + 1)
        low, high = learner.committee_.interval
        assert abs(logs[-1][-1] - log(high - low)) < 1e-6
    return np.array(logs), np.array(rows)


def steps_row(logs):
    """Return cells: the mean step of all queries, its error, what it must be."""
    steps = -np.diff(logs, axis=1, prepend=0).ravel()
    error = steps.std() / sqrt(len(steps))
    deviation = (steps.mean() - PER_QUERY) / error
    assert abs(deviation) < 4, "section 3.3: steps are not 7/12 nats"
    return (
        len(steps), f"{steps.mean():.4f} ± {error:.4f}", f"{PER_QUERY:.4f}",
        f"{steps.mean() / log(2):.4f}", f"{PER_QUERY / log(2):.4f}",
    )  # fmt: skip


def random_labels(log_length):
    """Return how many random labels leave an interval as short, ln in the mean.

    It is two of the n + 2 spacings between 0, n rows, the threshold and 1: a beta
    distribution (2, n).
    """
    n = np.arange(10**5)
    return int(np.argmax(digamma(2) - digamma(n + 2) <= log_length))


def errors_rows(logs, rows):
    """Yield cells after each query: ln of the interval, error, rows, random labels."""
    for i in range(logs.shape[1]):
        n, mean = i + 1, logs[:, i].mean()
        # A hypothesis drawn from an interval errs on a third of its length, on average.
        yield (
            n, f"{mean:.2f}", f"{-n * PER_QUERY:.2f}", f"{exp(mean) / 3:.2g}",
            f"{np.median(rows[:, i]):.0f}", random_labels(mean),
        )  # fmt: skip


def stopping_row(epsilon, delta, n_seeds):
    """Return cells on runs to the stopping rule beside Theorem 3.5.1 (d = 1)."""
    gain = PER_QUERY / log(2)
    m0 = max(
        4 / (epsilon * delta),
        320 / (gain * epsilon) * max(6, log(160 / (epsilon * delta**2 * gain))) ** 2,
    )
    n0 = 20 / gain * log(4 * m0 / delta)
    queries, read, errors = [], [], []
    for seed in range(n_seeds):
        learner, target = learn_threshold(seed, epsilon=(epsilon, delta))
        low, high = learner.committee_.interval
        queries.append(learner.n_queries_)
        read.append(learner.n_seen_)
        errors.append(((target - low) ** 2 + (high - target) ** 2) / (2 * (high - low)))
    wrong = sum(error > epsilon for error in errors)
    # Each happens with probability below delta: no run of these does it.
    assert max(queries) < n0, "Theorem 3.5.1: too many queries"
    assert max(read) < m0, "Theorem 3.5.1: too many rows"
    assert wrong == 0, "Lemma 3.5.3: error above epsilon"
    return (
        f"{epsilon:g}", f"{min(queries)} to {max(queries)}", f"{n0:.0f}",
        f"{min(read)} to {max(read)}", f"{m0:.3g}", f"{max(errors):.2g}", wrong,
    )  # fmt: skip


# -- parallel planes ------------------------------------------------------------------


def gain_of_shares(places, shares):
    """Return (3.17): the information in bits of a query, by the volume function F."""
    asked = shares * (1 - shares)
    return trapezoid(asked * expected_information_gain(shares), places) / trapezoid(
        asked, places
    )


def gain_of_slices(areas, places):
    """Return the same of a body by the areas of its slices."""
    shares = cumulative_trapezoid(areas, places, initial=0)
    return gain_of_shares(places, np.clip(shares / shares[-1], 0, 1))


def bodies_row(d):
    """Return cells: the gain of some bodies in a dimension, and the bound."""
    places = np.linspace(-1, 1, 100_001)
    gains = [
        gain_of_slices(np.ones_like(places), places),
        gain_of_slices((1 - places**2) ** ((d - 1) / 2), places),
        gain_of_slices(((1 - places) / 2) ** (d - 1), places),
        gain_of_slices((1 - np.abs(places)) ** (d - 1), places),
    ]
    bound = information_gain_lower_bound(d)
    assert min(gains) > bound - 1e-5 > BOUND, "Theorem 3.6.1: less information"
    assert abs(gains[-1] - bound) < 1e-5, "(3.23): the double cone is not the worst"
    return d, *(f"{gain:.4f}" for gain in gains), f"{bound:.4f}"


def ball(n_points, d, rng):
    """Draw points of the unit ball."""
    points = rng.standard_normal((n_points, d))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points * rng.random((n_points, 1)) ** (1 / d)


def planes_run(d, n_points, least, rng):
    """Query by committee on parallel planes, the version space held by points.

    Returns
    -------
    gains : list of float
        For each query the expected information of planes in its direction, (3.17), and
        minus the logarithm of what its label left.
    """
    points, found = ball(n_points, d, rng), []
    target, points = points[0], points[1:]
    while len(points) >= least:
        direction = rng.standard_normal(d)
        direction /= np.linalg.norm(direction)
        offset = rng.uniform(-1, 1)
        pair = points[rng.integers(len(points), size=2)] @ direction >= offset
        if pair[0] == pair[1]:
            continue
        projections = points @ direction
        left = (projections >= offset) == (target @ direction >= offset)
        places = np.sort(projections)
        # The share does not reach 0 or 1 by points alone.
        shares = (np.arange(len(places)) + 0.5) / len(places)
        found.append((gain_of_shares(places, shares), -np.log2(left.mean())))
        points = points[left]
    return found


def planes_row(d, n_points, least, n_seeds):
    """Return cells: queries, least expected gain, mean gains, the bound."""
    runs = [
        planes_run(d, n_points, least, np.random.default_rng(seed))
        for seed in range(n_seeds)
    ]
    expected, instant = np.concatenate(runs).T
    error = instant.std() / sqrt(len(instant))
    assert expected.min() > BOUND, "Theorem 3.6.1: less information"
    assert instant.mean() > BOUND - 3 * error, "Theorem 3.6.1: labels tell less"
    return (
        d, len(instant), f"{expected.min():.3f}", f"{expected.mean():.3f}",
        f"{instant.mean():.3f} ± {error:.3f}", f"{information_gain_lower_bound(d):.3f}",
    )  # fmt: skip


# -- perceptrons ----------------------------------------------------------------------


def perceptron_run(d, n_labels, seed, n_samples=40_000):
    """Return errors after labels, asked for and at random, and bits for a query."""
    random = np.random.RandomState(seed)
    X = random.normal(size=(n_samples, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    truth = random.normal(size=d)
    y = X @ truth > 0
    learner = QueryByCommittee(
        HalfspaceVersionSpace(fit_intercept=False), epsilon=None,
        max_queries=n_labels, random_state=seed,
    ).fit_stream([(X, y)], classes=[False, True])  # fmt: skip
    asked = learner.query_indices_
    if len(asked) < n_labels:
        raise RuntimeError(f"The stream of {n_samples} rows ended after {len(asked)}.")
    errors = [angle_errors(X, y, rows, truth) for rows in (asked, np.arange(n_labels))]
    return *errors, learner.information_gains_


def perceptron_rows(d, n_labels, n_seeds):
    """Yield cells: labels by, errors at quarters, falls a label, bits a label."""
    runs = [perceptron_run(d, n_labels, seed) for seed in range(n_seeds)]
    *errors, gains = (np.array(found) for found in zip(*runs, strict=True))
    quarters = [n_labels * part // 4 for part in (1, 2, 3, 4)]
    for name, found in zip(("committee", "random"), errors, strict=True):
        logs = np.log(found).mean(axis=0)  # logs[0] is after two labels
        at = [f"{exp(logs[n - 2]):.2g}" for n in quarters]
        spans = pairwise([n_labels // 4, n_labels // 2, n_labels])
        steps = [f"{(logs[n - 2] - logs[m - 2]) / (n - m):.3f}" for m, n in spans]
        # The error is in proportion to the length of an angle, the root of a volume.
        bits = gains.mean()
        told = f"{-bits * log(2) / (d - 1):.3f}", f"{bits:.2f}"
        yield d, name, n_labels, *at, *steps, *(told if name == "committee" else "  ")


# -- what is printed ------------------------------------------------------------------


def print_thresholds(n_queries, n_seeds, epsilons):
    logs, rows = shrinking(n_queries, n_seeds)
    columns = ["queries", "nats a query", "7 / 12", "bits", "7 / (12 ln 2)"]
    print_table(f"Thresholds, {n_seeds} seeds: a query", columns, [steps_row(logs)])
    columns = [
        "queries", "ln length", "-7 n / 12", "error", "rows read", "random labels",
    ]  # fmt: skip
    title = "Thresholds: means of logarithms, the median of rows"
    print_table(title, columns, list(errors_rows(logs, rows)))
    stopped = [stopping_row(epsilon, 0.1, n_seeds) for epsilon in epsilons]
    columns = ["epsilon", "queries", "bound", "rows", "bound", "largest error", "above"]
    print_table("Theorem 3.5.1, thresholds, delta = 0.1", columns, stopped)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    quick = parser.parse_args(arguments).quick
    print_header("Query by committee")
    if quick:
        print_thresholds(5, 5, (0.1,))
    else:
        print_thresholds(10, 40, (0.1, 0.01, 0.001))
    columns = ["dimension", "cylinder", "ball", "cone", "double cone", "(3.23)"]
    rows = [bodies_row(d) for d in (1, 2, 3, 5, 10, 100)]
    print_table("Theorem 3.6.1: bits of a query, by the body", columns, rows)
    shape = (20_000, 4000, 2) if quick else (200_000, 4000, 64)
    rows = [planes_row(d, *shape) for d in ((2, 3) if quick else (2, 3, 5, 10))]
    columns = [
        "dimension", "queries", "least expected", "mean expected", "measured", "bound",
    ]  # fmt: skip
    print_table("Theorem 3.6.1: bits of queries in a ball", columns, rows)
    sizes = [(2, 8)] if quick else [(2, 8), (3, 16), (5, 24), (10, 48)]
    rows = [row for size in sizes for row in perceptron_rows(*size, 2 if quick else 30)]
    columns = ["dimension", "labels by", "labels", "error at 1/4", "1/2", "3/4", "all"]
    columns += [
        "ln error a label: 1/4 to 1/2",
        "1/2 to all",
        "by volume",
        "bits a query",
    ]
    print_table("Perceptrons through the centre of a sphere", columns, rows)


if __name__ == "__main__":
    sys.exit(main())
