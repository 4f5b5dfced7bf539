"""Learning and estimation by Markov chains, where sums over all states take too long.

Persistent contrastive divergence (Tieleman, 2008): the gradient of the likelihood is a
difference of two sets of moments. Those of the machine are estimated from Markov
chains, which take a step of block Gibbs sampling after each change of the parameters.

Annealed importance sampling (Neal, 2001; Salakhutdinov and Murray, 2008) estimates the
partition function. A path of machines leads from one without hidden units, whose
partition function is known, to the machine in question. Samples that follow the path
give weights, whose mean estimates the ratio of the partition functions. In expectation,
forward weights give a lower bound of log Z, weights of the reverse path an upper bound.
"""

# A step of training (`pcd_step`), with m units, n inputs and 500 chains:
# 1. Moments of a batch of samples, hidden units given the inputs: exact.
# 2. A step of block Gibbs sampling of all chains: inputs given units, units given
#    inputs. Their moments estimate those of the machine.
# 3. The running mean of the difference of both, times the rate, is added to the vector.
# 4. The average of the vectors, mostly of the last third, is the machine.
#
# Invariant: step t of a training draws from a generator seeded by (seed, t), so
# training that is stopped and resumed gives the same bits.

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import logit

from sklboolean._core.damage import require
from sklboolean.density._conditionals import draw_hidden, draw_inputs
from sklboolean.density._initialization import fit_inputs
from sklboolean.density._partition_function import log_sums_over_inputs
from sklboolean.density._rbm_params import (
    Coordinates,
    Moments,
    RBMParams,
    hidden_posteriors,
)

MAX_PARAM = 1e6  # no parameter of a machine that converges comes near
MAX_SEED = 2**31 - 1
N_CHAINS = 500  # with fewer, the chains lag behind parameters that change
AVERAGE_POWER = 7  # step t has weight t ** 7 in the average: 96 % on the last third
N_AIS_CHAINS = 128
N_TEMPERATURES = 1000
N_BURN_IN = 500  # steps before the states of a chain count as draws from the machine
N_BURN_IN_SAMPLES = 20  # of each chain, to fit the first machine of the path
MIN_PROBABILITY = 0.01  # of a hidden unit of that machine


def gibbs_chain(params, states, n_steps, rng):
    """Take steps of block Gibbs sampling and return the hidden states."""
    for _ in range(n_steps):
        signs = draw_inputs(params, states, rng)
        states = draw_hidden(hidden_posteriors(params.activations(signs))[1], rng)
    return states


def sample_by_chains(params, states, n_samples, rng):
    """Draw inputs from one chain for each sample, started from given states.

    Returns
    -------
    signs : ndarray of shape (n_samples, n), dtype int8
    """
    first = rng.permutation(len(states))[np.arange(n_samples) % len(states)]
    states = gibbs_chain(params, states[first], N_BURN_IN, rng)
    return draw_inputs(params, states, rng).astype(np.int8)


# Persistent contrastive divergence


@dataclass(frozen=True)
class ChainOptions:
    """Checked parameters of a machine that learning by chains needs; see there."""

    alpha: float
    visible_bias: bool
    learning_rate: float
    batch_size: int
    max_iter: int
    momentum: float = 0.9  # weight of the past in the running mean of the gradients
    start: RBMParams | None = None  # where a fit is continued
    report: Callable | None = None  # of (text, parameters, chains), after a pass


@dataclass(frozen=True)
class PCDState:
    """All that is needed to resume training.

    Attributes
    ----------
    coordinates : Coordinates
        Coordinates of the vectors below.
    vector : ndarray
        The current parameters.
    velocity : ndarray
        Mean of the gradients, with exponentially decreasing weights.
    average : ndarray
        Average of the parameters at all steps, mostly of the last third.
    states : ndarray of shape (n_chains, m)
        Hidden units of the chains, 0 or 1.
    n_steps : int
    seed : int
        With n_steps the seed of the draws of the next step.
    """

    coordinates: Coordinates
    vector: np.ndarray
    velocity: np.ndarray
    average: np.ndarray
    states: np.ndarray
    n_steps: int
    seed: int

    @property
    def params(self):
        """Averaged parameters of the machine."""
        return self.coordinates.to_params(self.average)


def start_chains(params, signs, visible_bias, rng, n_chains=N_CHAINS):
    """Start chains at random samples.

    Parameters
    ----------
    params : RBMParams
        Where learning starts.
    signs : ndarray of shape (n_samples, n)
    visible_bias : bool
        Whether visible biases are learned.
    rng : RandomState
        Source of the seed of all draws.
    n_chains : int

    Returns
    -------
    state : PCDState
    """
    seed = int(rng.randint(MAX_SEED))
    rng = np.random.default_rng(seed)
    inputs = signs[rng.integers(len(signs), size=n_chains)].astype(np.float64)
    centre = signs.mean(axis=0, dtype=np.float64)
    coordinates = Coordinates.of(params, centre, visible_bias)
    vector = coordinates.to_vector(params)
    states = draw_hidden(hidden_posteriors(params.activations(inputs))[1], rng)
    return PCDState(coordinates, vector, np.zeros_like(vector), vector, states, 0, seed)


def sample_moments(params, signs, weights):
    """Compute moments of inputs and of the hidden units given these.

    Parameters
    ----------
    params : RBMParams
    signs : ndarray of shape (n_samples, n), dtype float64
    weights : ndarray of shape (n_samples,)
        Their sum need not be 1.

    Returns
    -------
    moments : Moments
    means : ndarray of shape (n_samples, m)
        Probabilities of the hidden units.
    """
    means = hidden_posteriors(params.activations(signs))[1]
    weighted = weights[:, None] * signs
    edges = None
    if params.parents is not None:
        edges = np.einsum("ij,ij->j", weighted, signs[:, params.parents])
        edges = np.where(params.parents < 0, 0.0, edges)
    moments = Moments(weights @ means, weighted.sum(axis=0), means.T @ weighted, edges)
    return moments, means


def gibbs_step(params, states, rng):
    """Take a step of block Gibbs sampling with all chains: the negative phase.

    Returns
    -------
    moments : Moments
        Moments of the inputs drawn in between: those of the machine if the chains are
        in equilibrium.
    states : ndarray of shape (n_chains, m)
    """
    require(len(states), "there are no chains")
    signs = draw_inputs(params, states, rng)
    weights = np.full(len(states), 1 / len(states))
    moments, means = sample_moments(params, signs, weights)
    return moments, draw_hidden(means, rng)


def pcd_step(state, signs, weights, options, rate):
    """Take a step along the difference between the moments of samples and chains.

    Parameters
    ----------
    state : PCDState
    signs : ndarray of shape (n_samples, n), dtype float64
    weights : ndarray of shape (n_samples,)
        Their sum is the weight of the step.
    options : ChainOptions
        alpha and momentum.
    rate : float

    Returns
    -------
    state : PCDState
        A new one.
    """
    coordinates, momentum = state.coordinates, options.momentum
    params = coordinates.to_params(state.vector)
    rng = np.random.default_rng([state.seed, state.n_steps])
    positive, _ = sample_moments(params, signs, weights)
    negative, states = gibbs_step(params, state.states, rng)
    total = weights.sum()
    # Both moments are those of the same weight: the batch's.
    gradient = coordinates.to_gradient(positive.minus(negative, total))
    gradient -= total * options.alpha * coordinates.penalised(state.vector)
    velocity = momentum * state.velocity + (1 - momentum) * gradient
    vector = state.vector + rate * velocity
    n_steps = state.n_steps + 1
    newest = (AVERAGE_POWER + 1) / (AVERAGE_POWER + n_steps)
    average = state.average + newest * (vector - state.average)
    return PCDState(coordinates, vector, velocity, average, states, n_steps, state.seed)


def fit_epoch(state, signs, sample_weight, options, rate_of):
    """Take one step for each batch of samples, in their order.

    Parameters
    ----------
    state : PCDState
    signs : ndarray of shape (n_samples, n)
        -1 or 1.
    sample_weight : ndarray of shape (n_samples,)
    options : ChainOptions
        alpha, momentum, batch_size and learning_rate (for the error message).
    rate_of : callable
        Receives the number of a batch and returns the length of its step.

    Returns
    -------
    state : PCDState
    """
    size = options.batch_size
    for batch, start in enumerate(range(0, len(signs), size)):
        samples = signs[start : start + size].astype(np.float64)
        weights = sample_weight[start : start + size] / len(samples)
        state = pcd_step(state, samples, weights, options, rate_of(batch))
        if np.abs(state.vector).max() > MAX_PARAM:
            raise ValueError(
                "The weights grew without bound: "
                f"learning_rate={options.learning_rate} is too large. Take a tenth "
                "of it."
            )
    return state


def fit_pcd(start, signs, sample_weight, options, rng):
    """Make passes over shuffled samples, with steps that shrink to 0.

    Parameters
    ----------
    start : RBMParams
    signs, sample_weight
        As for ``fit_epoch``.
    options : ChainOptions
        As for ``fit_epoch``, with visible_bias, max_iter and report.
    rng : RandomState
        Generator of the chains and the shuffles.

    Returns
    -------
    state : PCDState
    """
    state = start_chains(start, signs, options.visible_bias, rng)
    n_batches = -(-len(signs) // options.batch_size)
    n_steps = options.max_iter * n_batches
    # The mean weight becomes 1: the length of a step does not depend on the unit.
    sample_weight = sample_weight / sample_weight.mean()
    for epoch in range(options.max_iter):
        order = rng.permutation(len(signs))

        def rate_of(batch, before=epoch * n_batches):
            return options.learning_rate * (1 - (before + batch) / n_steps)

        state = fit_epoch(state, signs[order], sample_weight[order], options, rate_of)
        if options.report is not None:
            text = f"the largest weight is {np.abs(state.vector).max():.3f}"
            if options.report(text, state.params, chains=state):
                break
    return state


# Annealed importance sampling


class AnnealingPath(NamedTuple):
    """Machines between one without hidden units, at 0, and another, at 1."""

    first: RBMParams  # components all 0
    last: RBMParams

    def at(self, beta):
        """Compute the machine at a place from 0 to 1."""
        names = ("components", "hidden_bias", "visible_bias")
        if self.last.parents is not None:
            names += ("couplings",)
        ends = ((getattr(self.first, name), getattr(self.last, name)) for name in names)
        blends = [(1 - beta) * start + beta * end for start, end in ends]
        return self.last.replace(**dict(zip(names, blends, strict=True)))

    def log_first(self):
        """Compute log Z of the machine without hidden units."""
        no_units = np.zeros((1, len(self.first.hidden_bias)))
        units = np.logaddexp(0.0, self.first.hidden_bias).sum()
        return float(log_sums_over_inputs(self.first, no_units)[0][0] + units)


def path_to(params, signs, means):
    """Build the path from the nearest machine without effects of hidden units.

    Parameters
    ----------
    params : RBMParams
    signs : ndarray of shape (n_samples, n)
        Drawn from the machine.
    means : ndarray of shape (n_samples, m)
        Probabilities of the hidden units given each of them.

    Returns
    -------
    path : AnnealingPath
    """
    visible, couplings = fit_inputs(signs, params.parents)
    active = logit(np.clip(means.mean(axis=0), MIN_PROBABILITY, 1 - MIN_PROBABILITY))
    no_effect = np.zeros_like(params.components)
    first = RBMParams(no_effect, active, visible, params.parents, couplings)
    return AnnealingPath(first, params)


def anneal(path, signs, betas, rng):
    """Let samples follow a path and compute their importance weights.

    Parameters
    ----------
    path : AnnealingPath
    signs : ndarray of shape (n_chains, n), dtype float64
        Drawn from the machine at the first place.
    betas : ndarray
        Places, from 0 to 1 or from 1 to 0.
    rng : Generator

    Returns
    -------
    log_weights : ndarray of shape (n_chains,)
        The mean of their exponentials is, in expectation, the ratio of the partition
        function at the last place to that at the first.
    """
    log_weights = np.zeros(len(signs))
    for beta, next_beta in pairwise(betas):
        before, after = path.at(beta), path.at(next_beta)
        effect = signs @ path.last.components.T  # beta scales the components
        log_weights -= hidden_posteriors(beta * effect + before.hidden_bias)[0]
        log_sums, means = hidden_posteriors(next_beta * effect + after.hidden_bias)
        log_weights += log_sums
        log_weights += after.add_input_terms(signs) - before.add_input_terms(signs)
        signs = draw_inputs(after, draw_hidden(means, rng), rng)
    return log_weights


def log_mean_exp(values):
    """Compute the log of the mean of exponentials."""
    return values.max() + np.log(np.exp(values - values.max()).mean())


def estimate_log_partition(params, states, seed, *, n_temperatures=N_TEMPERATURES):
    """Estimate log Z from both ends.

    Parameters
    ----------
    params : RBMParams
    states : ndarray of shape (n_given, m)
        Hidden states from which chains start; they are repeated as often as needed.
    seed : int
        The same seed gives the same estimates.
    n_temperatures : int
        Steps from the machine without hidden units to the one in question.

    Returns
    -------
    forward, reverse : float
    """
    rng = np.random.default_rng(seed)
    states = np.resize(states, (N_AIS_CHAINS, states.shape[1]))
    states = gibbs_chain(params, states, N_BURN_IN, rng)
    inputs, means = [], []
    for _ in range(N_BURN_IN_SAMPLES):
        inputs.append(draw_inputs(params, states, rng))
        means.append(hidden_posteriors(params.activations(inputs[-1]))[1])
        states = draw_hidden(means[-1], rng)
    path = path_to(params, np.concatenate(inputs), np.concatenate(means))
    betas = np.linspace(0.0, 1.0, n_temperatures + 1)
    start = draw_inputs(path.first, states, rng)
    forward = log_mean_exp(anneal(path, start, betas, rng))
    start = draw_inputs(params, states, rng)
    reverse = log_mean_exp(anneal(path, start, betas[::-1], rng))
    log_first = path.log_first()
    return log_first + forward, log_first - reverse
