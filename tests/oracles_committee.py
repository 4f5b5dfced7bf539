"""Slow twins of the measures and the version spaces: lists, fractions, enumeration."""

from fractions import Fraction
from itertools import product
from math import log2

import numpy as np
from hypothesis import strategies as st
from scipy.integrate import cumulative_trapezoid, trapezoid


@st.composite
def distributions(draw, *shape):
    """Distributions over the last axis, many of them with zeros or certain."""
    seed, zeros = draw(st.integers(0, 2**31)), draw(st.sampled_from([0.0, 0.5, 0.9]))
    random = np.random.RandomState(seed)
    table = random.random_sample(shape) ** draw(st.sampled_from([1, 30]))
    table *= random.random_sample(shape) >= zeros
    table[..., 0] += table.sum(axis=-1) == 0
    return table / table.sum(axis=-1, keepdims=True)


def shares_of(votes, classes, weights):
    """For each row the weight of the members that vote for each class."""
    total = sum(map(Fraction, weights))
    return [
        [
            sum(Fraction(w) for w, vote in zip(weights, row, strict=True) if vote == c)
            / total
            for c in classes
        ]
        for row in zip(*votes, strict=True)
    ]


def entropy(distribution):
    """Sum of p lg(1/p) over what can happen."""
    return sum(p * log2(1 / p) for p in distribution if p > 0)


def divergence(p, q):
    """Sum of p lg(p/q) over what can happen."""
    return sum(a * log2(a / b) for a, b in zip(p, q, strict=True) if a > 0)


def mean_distribution(members, weights):
    """The consensus on one row."""
    columns = zip(*members, strict=True)
    return [np.average(column, weights=weights) for column in columns]


def share_of_differing_pairs(votes):
    """Of all ordered pairs of members, oneself included, those that differ."""
    return Fraction(sum(a != b for a, b in product(votes, repeat=2)), len(votes) ** 2)


class Enumeration:
    """The posterior of a list of functions of a row, in fractions."""

    def __init__(self, functions, eta):
        self.functions = list(functions)
        self.eta = Fraction(eta)
        self.weights = [Fraction(1)] * len(self.functions)

    def learn(self, rows, positive):
        """Multiply by the chance of each label: 1 - eta if right, eta if wrong."""
        for row, label in zip(rows, positive, strict=True):
            for k, function in enumerate(self.functions):
                right = bool(function(row)) == bool(label)
                self.weights[k] *= 1 - self.eta if right else self.eta

    def is_empty(self):
        """Whether every function has contradicted a label."""
        return sum(self.weights) == 0

    def acceptance(self, row):
        """The posterior probability of the functions that accept a row."""
        pairs = zip(self.functions, self.weights, strict=True)
        return sum(w for function, w in pairs if function(row)) / sum(self.weights)

    def patterns(self, rows):
        """The posterior probability of each tuple of answers to some rows."""
        found = {}
        for function, weight in zip(self.functions, self.weights, strict=True):
            pattern = tuple(bool(function(row)) for row in rows)
            found[pattern] = found.get(pattern, 0) + weight / sum(self.weights)
        return found


def literal_functions(n_features, longest, *, disjunctive, monotone):
    """All conjunctions or disjunctions of literals, as functions of a row."""
    quantifier = any if disjunctive else all
    wanted = (None, 1) if monotone else (None, 0, 1)
    for formula in product(wanted, repeat=n_features):
        literals = [(j, value) for j, value in enumerate(formula) if value is not None]
        if len(literals) <= longest:
            yield lambda row, literals=literals: quantifier(
                row[j] == value for j, value in literals
            )


def query_gain(positions, radius, dimension):
    """The functional G of (3.17) for a body of revolution, by the trapezoidal rule.

    Parameters
    ----------
    positions : ndarray
        A fine grid along the direction of the row.
    radius : ndarray
        Radius of the slice at each position.
    """
    density = np.power(radius, dimension - 1)
    volume = cumulative_trapezoid(density, positions, initial=0)
    below = volume / volume[-1]
    bits = np.array([entropy([part, 1 - part]) for part in below])
    asked = below * (1 - below)
    return trapezoid(asked * bits, positions) / trapezoid(asked, positions)
