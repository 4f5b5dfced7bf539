"""Slow twins of `sklboolean.rules`: every conjunction is written out and tested."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np


def every_conjunction(n_features, max_literals, *, negations=False, groups=None):
    """Yield all conjunctions by length, then by literal numbers.

    Literal j is feature j, literal n + j its negation. No two features of one group
    meet, nor a feature and its negation.
    """
    groups = list(range(n_features)) if groups is None else list(groups)
    literals = range((2 if negations else 1) * n_features)
    for length in range(1, max_literals + 1):
        for chosen in combinations(literals, length):
            used = [groups[j % n_features] for j in chosen]
            if len(set(used)) == length:
                yield tuple((j % n_features, j < n_features) for j in chosen)


def satisfies(row, literals):
    return all(bool(row[feature]) == value for feature, value in literals)


def largest_weights(
    X, coefficients, n_rules, max_literals, *, negations=False, sign="both",
    groups=None, length_weights=None,
):  # fmt: skip
    """Return (literals, sum, score) of the best conjunctions, by definition.

    Of one cover only the first conjunction counts that has a weight, and ties go to
    the shorter and then to the one whose literals come first.
    """
    coefficients = [Fraction(c) for c in coefficients]
    used = [i for i, c in enumerate(coefficients) if c]
    first = {}
    conjunctions = every_conjunction(
        X.shape[1], max_literals, negations=negations, groups=groups
    )
    for place, literals in enumerate(conjunctions):
        weight = 1 if length_weights is None else length_weights[len(literals)]
        cover = tuple(i for i in used if satisfies(X[i], literals))
        if weight and cover not in first:
            first[cover] = place, literals, Fraction(weight)
    found = []
    for cover, (place, literals, weight) in first.items():
        total = sum((coefficients[i] for i in cover), Fraction(0))
        value = {"positive": total, "negative": -total, "both": abs(total)}[sign]
        if value > 0:
            found.append((-weight * value, place, literals, total))
    return [
        (tuple(sorted(literals)), total, -score)
        for score, _, literals, total in sorted(found)[:n_rules]
    ]


def newton_weights(values):
    """Return a_l = sum_j (-1)^(l-j) C(l, j) g(j) from exact values of g."""
    return [
        sum(
            (-1) ** (length - j) * comb(length, j) * values[j]
            for j in range(length + 1)
        )
        for length in range(len(values))
    ]


def sum_over_conjunctions(weight, row, *, negations):
    """Add up the weights of all conjunctions that a row satisfies, empty one too."""
    n = len(row)
    total = weight(())
    for literals in every_conjunction(n, n, negations=negations):
        if satisfies(row, literals):
            total += weight(literals)
    return total


def correlated_rows(n_samples, n_features, rng):
    """Rows whose features copy one another now and then."""
    X = rng.random((n_samples, n_features)) < rng.random(n_features)
    for j in range(1, n_features):
        if rng.random() < 0.3:
            X[:, j] = X[:, rng.integers(j)] ^ (rng.random(n_samples) < 0.1)
    return np.asarray(X)


def table(n_samples=40, n_features=4, seed=0):
    """Rows of a small noisy DNF and their labels."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_samples, n_features)) < 0.5).astype(float)
    y = ((X[:, 0] == 1) & (X[:, 1] == 1)) | ((X[:, 2] == 0) & (X[:, 3] == 1))
    return X, (y ^ (rng.random(n_samples) < 0.05)).astype(int)
