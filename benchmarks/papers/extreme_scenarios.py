"""Additive or multiplicative updates: two extreme scenarios and their bounds.

    python benchmarks/papers/extreme_scenarios.py [--quick]

Roth's lecture compares two bounds, of Kivinen, Warmuth and Auer (Artificial
Intelligence 97, 1997), for a vector u that separates examples x:

    perceptron  M_p = |u|_2**2 max |x|_2**2 / min (u.x)**2
    Winnow      M_w = 2 ln(n) |u|_1**2 max |x|_inf**2 / min (u.x)**2

Here are its two scenarios, with few relevant features and with sparse rows, and the
same bounds for the streams of `mistake_curves.py`, which has the curves. No learner may
exceed its bound: that is an error here. Winnow is balanced (two weights for each
feature, so n counts twice) and has the promotion factor for which M_w holds.
"""

import argparse
import sys
from math import exp, log
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from _timing import print_header, print_table
from mistake_curves import SCENARIOS, mistake_curve

from sklboolean import AveragedPerceptron, Winnow
from sklboolean.theory import (
    additive_mistake_bound,
    multiplicative_mistake_bound,
    perceptron_mistake_bound,
)

ONE_PASS = {"average": None, "margin": 0.0, "max_iter": 1, "shuffle": False}


def within(mistakes, bound):
    """Return the mistakes if they are within the bound."""
    assert mistakes <= bound, f"{mistakes} mistakes, but at most {bound} can be"
    return mistakes


def scenario_rows(n, k):
    """Return the cells of both extreme scenarios: bounds, then measured mistakes."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((20 * n, n)) < 0.5, 1.0, -1.0)
    u = np.repeat([1.0, 0.0], [k, n - k])
    sparse_target = f"{k} of {n} relevant", u, X, np.sign(X @ u)
    # All labels negative: a score of 0 predicts "true".
    sparse_rows = f"unit vectors, all {n} relevant", -np.ones(n), np.eye(n), -np.ones(n)
    for name, u, X, signs in (sparse_target, sparse_rows):
        additive = additive_mistake_bound(u, X, signs)
        multiplicative = multiplicative_mistake_bound(u, X, signs, balanced=True)
        margin = np.abs(X @ u).min() / np.abs(u).sum()  # the largest entry of X is 1
        learners = (
            AveragedPerceptron(fit_intercept=False, **ONE_PASS),
            Winnow(promotion=exp(margin), threshold=None, **ONE_PASS),
        )
        mistakes = [
            learner.partial_fit(X, signs > 0, classes=[False, True]).n_mistakes_
            for learner in learners
        ]
        within(mistakes[0], additive)
        within(mistakes[1], multiplicative)
        yield name, additive, mistakes[0], multiplicative, mistakes[1]


def stream_bounds(scenario, n):
    """Return M_p, M_w and its promotion for a stream of `mistake_curves.py`.

    The separating vector counts relevant features, with a threshold as its last entry
    halfway between two counts; of the sparse instances it counts half negatively.
    """
    relevant, at_least = {"10 of 100 of n": (100, 10), "sparse target": (5, 3)}.get(
        scenario, (n, None)
    )
    dense = at_least is not None
    threshold, margin = (at_least - 0.5, 0.5) if dense else (0.0, 1.0)
    longest = n + 1 if dense else 5 + 1  # squared
    length = relevant + threshold**2
    additive = perceptron_mistake_bound(longest**0.5, margin, length**0.5)
    total = relevant + threshold
    multiplicative = int(2 * log(2 * (n + 1)) * (total / margin) ** 2)
    return additive, multiplicative, exp(margin / total)


def stream_rows(n_features_list, n_examples):
    """Yield bounds and mistakes on the streams, with the promotion of the bound."""
    for scenario, draw in SCENARIOS.items():
        for n in n_features_list:
            additive, multiplicative, promotion = stream_bounds(scenario, n)
            learners = {
                "perceptron": AveragedPerceptron(average=None, margin=0.0),
                "Winnow": Winnow(average=None, margin=0.0, promotion=promotion),
            }
            counts = mistake_curve(learners, [n], draw, n_examples=n_examples)
            perceptron = within(counts["perceptron"][0], additive)
            balanced = within(counts["Winnow"][0], multiplicative)
            yield scenario, n, additive, perceptron, multiplicative, balanced


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    quick = parser.parse_args(arguments).quick
    print_header("Extreme scenarios")
    columns = ["scenario", "M_p", "perceptron", "M_w", "Winnow"]
    sizes = [20] if quick else [100, 1000]
    rows = [row for n in sizes for row in scenario_rows(n, 5)]
    print_table("Scenarios of the lecture: bounds and mistakes", columns, rows)
    columns.insert(1, "features")
    n_features_list, n_examples = ([100], 300) if quick else ([100, 400, 1600], 50_000)
    rows = list(stream_rows(n_features_list, n_examples))
    title = f"Streams of {n_examples} examples: bounds and mistakes"
    print_table(title, columns, rows)


if __name__ == "__main__":
    sys.exit(main())
