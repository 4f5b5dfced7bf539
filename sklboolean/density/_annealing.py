"""Estimates of the sum over all states, by annealed importance sampling.

Between a machine without hidden units, whose sum is known, and the machine that is
asked for lies a line of machines. Samples led along it in either direction weigh how
the sum changes (Neal, 2001; Salakhutdinov and Murray, 2008): led from the simple
machine they tell, on average, less than log Z; led back from the machine, more.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import logit

from sklboolean.density import _log_space as log_space
from sklboolean.density._block_gibbs import draw_hidden, draw_inputs, forest_of, mix
from sklboolean.density._hidden_states import Weights
from sklboolean.density._likelihood import hidden_posteriors
from sklboolean.density._machine_starts import inputs_alone

N_CHAINS = 128
N_TEMPERATURES = 1000
N_BURN_IN = 500  # steps before a chain stands for the machine
N_LOOKS = 20  # at each chain, for the simple machine
LEAST = 0.01  # probability of a unit of the simple machine


class Estimate(NamedTuple):
    """What annealing tells of log Z, with standard errors."""

    forward: float
    reverse: float
    forward_error: float
    reverse_error: float


class Line(NamedTuple):
    """Machines between one without hidden units, at 0, and another, at 1."""

    first: Weights  # components all 0
    last: Weights

    def at(self, place):
        """Return the machine at a place from 0 to 1."""
        return Weights(
            *(
                (1 - place) * start + place * end
                if isinstance(start, np.ndarray) and start.dtype.kind == "f"
                else end
                for start, end in zip(self.first, self.last, strict=True)
            )
        )

    def log_first(self):
        """Return log Z of the machine without hidden units."""
        nothing = np.zeros((1, len(self.first.hidden_bias)))
        units = np.logaddexp(0.0, self.first.hidden_bias).sum()
        return float(log_space.log_sums(self.first, nothing)[0][0] + units)


def line_to(weights, signs, means):
    """Return the line from the nearest machine without hidden units.

    Parameters
    ----------
    weights : Weights
    signs : ndarray of shape (n_samples, n)
        Drawn from the machine.
    means : ndarray of shape (n_samples, m)
        Probabilities of the hidden units given each of them.

    Returns
    -------
    line : Line
    """
    visible, couplings = inputs_alone(signs, weights.parents)
    active = logit(np.clip(means.mean(axis=0), LEAST, 1 - LEAST))
    nothing = np.zeros_like(weights.components)
    first = Weights(nothing, active, visible, weights.parents, couplings)
    return Line(first, weights)


def anneal(line, signs, places, rng):
    """Lead inputs along a line and return by how much they say that the sum changes.

    Parameters
    ----------
    line : Line
    signs : ndarray of shape (n_chains, n), dtype float64
        Drawn from the machine at the first place.
    places : ndarray
        From 0 to 1 or from 1 to 0.
    rng : Generator

    Returns
    -------
    log_weights : ndarray of shape (n_chains,)
        The mean of their exponentials is, in expectation, the ratio of the sum at the
        last place to that at the first.
    """
    forest, log_weights = forest_of(line.last), np.zeros(len(signs))
    for here, there in pairwise(places):
        before, after = line.at(here), line.at(there)
        excited = signs @ line.last.components.T  # by components that a place scales
        log_weights -= hidden_posteriors(here * excited + before.hidden_bias)[0]
        log_sums, means = hidden_posteriors(there * excited + after.hidden_bias)
        log_weights += log_sums
        log_weights += inputs_part(after, signs) - inputs_part(before, signs)
        signs = draw_inputs(after, draw_hidden(means, rng), rng, forest)
    return log_weights


def inputs_part(weights, signs):
    """Return the exponent of the inputs and their tree."""
    part = signs @ weights.visible_bias
    if weights.parents is not None:
        part += (signs * signs[:, weights.parents]) @ weights.couplings
    return part


def log_mean_exp(values):
    """Return the log of the mean of exponentials, and its standard error."""
    shares = np.exp(values - values.max())
    mean, n = shares.mean(), len(values)
    return values.max() + np.log(mean), shares.std(ddof=1) / (mean * np.sqrt(n))


def estimate_log_partition(
    weights, states, seed, *, n_chains=N_CHAINS, n_temperatures=N_TEMPERATURES,
    n_burn_in=N_BURN_IN,
):  # fmt: skip
    """Estimate log Z from both ends.

    Parameters
    ----------
    weights : Weights
    states : ndarray of shape (n_given, m)
        Hidden states from which chains start; rows repeat until there are enough.
    seed : int
        The same estimates for the same seed.
    n_chains : int
        In each direction.
    n_temperatures : int
        Steps from the machine without hidden units to the one asked for.
    n_burn_in : int
        Steps of the chains before they stand for the machine.

    Returns
    -------
    estimate : Estimate
    """
    rng = np.random.default_rng(seed)
    states = mix(
        weights, np.resize(states, (n_chains, states.shape[1])), n_burn_in, rng
    )
    looks, means = [], []
    for _ in range(N_LOOKS):
        looks.append(draw_inputs(weights, states, rng))
        activations = looks[-1] @ weights.components.T + weights.hidden_bias
        means.append(hidden_posteriors(activations)[1])
        states = draw_hidden(means[-1], rng)
    line = line_to(weights, np.concatenate(looks), np.concatenate(means))
    places = np.linspace(0.0, 1.0, n_temperatures + 1)
    start = draw_inputs(line.first, states, rng)
    forward, forward_error = log_mean_exp(anneal(line, start, places, rng))
    start = draw_inputs(weights, states, rng)
    reverse, reverse_error = log_mean_exp(anneal(line, start, places[::-1], rng))
    known = line.log_first()
    return Estimate(known + forward, known - reverse, forward_error, reverse_error)


def sample_by_chains(weights, states, n_samples, rng):
    """Draw inputs by a chain for each, started from given states.

    Returns
    -------
    signs : ndarray of shape (n_samples, n), dtype int8
    """
    first = rng.permutation(len(states))[np.arange(n_samples) % len(states)]
    states = mix(weights, states[first], N_BURN_IN, rng)
    return draw_inputs(weights, states, rng).astype(np.int8)
