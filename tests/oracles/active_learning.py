"""Slow twins of the measures and the version spaces: lists, fractions, enumeration."""

from fractions import Fraction
from itertools import pairwise, product
from math import log, log2, pi

import numpy as np
from hypothesis import strategies as st
from scipy.integrate import cumulative_trapezoid, quad, trapezoid


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


def agreement(rows, positive, weights):
    """Which hypotheses agree with which labels; one hypothesis in each column."""
    return (rows @ weights >= 0) == np.asarray(positive, dtype=bool)[:, None]


def likelihood(rows, positive, weights, eta):
    """The weight of each hypothesis: (1 - eta) or eta for each label."""
    return np.where(agreement(rows, positive, weights), 1.0 - eta, eta).prod(axis=0)


def plane_arcs(rows):
    """Cut the circle of directions at the lines of all rows: lengths and midpoints."""
    normals = np.arctan2(rows[:, 1], rows[:, 0])
    cuts = np.unique(np.concatenate([normals + np.pi / 2, normals - np.pi / 2]) % TURN)
    ends = np.append(cuts, cuts[0] + TURN)
    middles = (ends[1:] + ends[:-1]) / 2
    return np.diff(ends), np.array([np.cos(middles), np.sin(middles)])


TURN = 2 * np.pi


def plane_cells(rows, positive, others, eta=0.0):
    """Exact probabilities of the cells of an arrangement of lines in the plane.

    Returns them with one direction inside each cell.
    """
    lengths, middles = plane_arcs(np.concatenate([rows, others]))
    mass = lengths * likelihood(rows, positive, middles, eta)
    return mass / mass.sum(), middles


def plane_acceptance(rows, positive, queries, eta=0.0):
    """The exact probability that a random halfspace of the plane accepts a row."""
    mass, middles = plane_cells(rows, positive, queries, eta)
    return (queries @ middles >= 0) @ mass


def rejection_sample(rows, positive, n_tries, seed, eta=0.0):
    """Normal weight vectors, kept in proportion to their likelihood."""
    random = np.random.default_rng(seed)
    weights = random.standard_normal((rows.shape[1], n_tries))
    likeliest = (1.0 - eta) ** len(rows)
    kept = random.random(n_tries) * likeliest < likelihood(rows, positive, weights, eta)
    return weights[:, kept]


def orthant_probability(correlation):
    """P(f > 0 and g > 0) of two standard normal scores."""
    return 0.25 + np.arcsin(correlation) / TURN


def orthant_mean(correlation):
    """E[f | f > 0 and g > 0].

    E[f; f > 0, g > 0] is the integral of f phi(f) Phi(r f / sqrt(1 - r^2)) over f > 0,
    which by parts is phi(0) / 2 + r phi(0) / 2.
    """
    part = (1 + correlation) / (2 * np.sqrt(TURN))
    return part / orthant_probability(correlation)


def step_moments(mean, variance, sign, eta):
    """Mean and variance of a normal variable under a noisy step, by quadrature.

    Each side of the step is integrated over the distance t from the step, with the
    normal density relative to that at the step: no tail underflows.
    """
    deviation = np.sqrt(variance)
    z = sign * mean / deviation

    def side(slope, power):
        def density(t):
            return t**power * np.exp(slope * t - t * t / 2)

        peak = max(slope, 0.0)
        width = 1.0 / max(1.0, -slope)
        edges = [0.0, *(peak + width * np.array([-8, -1, 1, 8, 40]))]
        edges = sorted({max(0.0, edge) for edge in edges})
        return sum(
            quad(density, first, last, epsabs=0, epsrel=1e-11)[0]
            for first, last in pairwise(edges)
        )

    # On the right side the variable is at +t, on the wrong side at -t.
    moments = [
        (1 - eta) * side(z, power) + (-1) ** power * (eta and eta * side(-z, power))
        for power in range(3)
    ]
    first = moments[1] / moments[0]
    second = moments[2] / moments[0]
    return sign * deviation * first, variance * (second - first**2)


def information_gain(scores):
    """G(F) of equation (3.17) for points of a body projected on one direction.

    The offsets are uniform; F is the share of the points below an offset.
    """
    gaps = np.diff(np.sort(scores))
    below = np.arange(1, len(scores)) / len(scores)
    entropy = -below * np.log2(below) - (1 - below) * np.log2(1 - below)
    queried = below * (1 - below) * gaps
    return queried @ entropy / queried.sum()


def double_cone_gain(dimension):
    """G(F) of two cones joined at their bases, the extreme body of Theorem 3.6.1.

    By symmetry over 0 <= t <= 1, where 1 - F(t) = (1 - t)^d / 2.
    """

    def queried(t):
        above = (1 - t) ** dimension / 2
        return above * (1 - above)

    def gain(t):
        above = (1 - t) ** dimension / 2
        if above == 0:
            return 0.0
        entropy = -above * np.log2(above) - (1 - above) * np.log2(1 - above)
        return queried(t) * entropy

    return quad(gain, 0, 1)[0] / quad(queried, 0, 1)[0]


def seeds_of(random_state):
    """Return the seeds of members, ties and coins, in the order they are drawn."""
    random = np.random.RandomState(random_state)
    return [int(random.randint(np.iinfo(np.int32).max)) for _ in range(3)]


def allowed(n, epsilon, delta):
    """t_n."""
    return log(pi**2 * (n + 1) ** 2 / (3 * delta)) / epsilon


def share(version_space, row):
    """The part of a list of hypotheses that accepts a row."""
    return Fraction(sum(bool(h(row)) for h in version_space), len(version_space))


def play_figure(hypotheses, rows, label, epsilon, delta, coins):
    """Play Figure 3.2 on a stream.

    Returns the queries, how many rows were read, whether the rule ended it, and the
    version space.
    """
    space, queries, rejected = list(hypotheses), [], 0
    for i, row in enumerate(rows):
        p = share(space, row)
        first, second = (coin < p for coin in coins[i])
        if first != second:
            queries.append(i)
            space = [h for h in space if bool(h(row)) == label(row)]
            rejected = 0
        else:
            rejected += 1
            if rejected > allowed(len(queries), epsilon, delta):
                return queries, i + 1, True, space
    return queries, len(rows), False, space
