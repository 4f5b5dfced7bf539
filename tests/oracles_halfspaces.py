"""Posteriors of halfspaces by definition: arcs in the plane, rejection, quadrature."""

from itertools import pairwise

import numpy as np
from scipy.integrate import quad


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
