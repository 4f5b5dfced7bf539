"""Persistent contrastive divergence: learning where sums over all states are too long.

The gradient of the likelihood is a difference of two sets of moments. Those of the
machine are taken from Markov chains that go on from step to step while the weights
slowly change (Tieleman, 2008).
"""

from typing import NamedTuple

import numpy as np

from sklboolean.density._block_gibbs import draw_hidden, draw_inputs, forest_of
from sklboolean.density._coordinates import Coordinates
from sklboolean.density._hidden_states import Moments
from sklboolean.density._likelihood import hidden_posteriors

LARGEST = 1e6  # no weight of a machine that is learned comes near
LARGEST_SEED = 2**31 - 1
N_CHAINS = 500  # with fewer they lag behind weights that change
POWER = 7  # weights of step t in the average grow as t ** POWER: 96 % on the last third


class Chains(NamedTuple):
    """All that learning needs to go on: arrays and numbers."""

    vector: np.ndarray  # the weights now, in the coordinates below
    velocity: np.ndarray
    average: np.ndarray  # of the weights at all steps, mostly of the last third
    states: np.ndarray  # (n_chains, m): hidden units of the chains, 0 or 1
    n_steps: int
    seed: int  # with n_steps, of what the next step draws
    centre: np.ndarray  # (n,)
    parents: np.ndarray | None

    def coordinates(self, visible_bias):
        """Return the coordinates of the vectors."""
        shape = self.states.shape[1], self.centre, visible_bias, self.parents
        return Coordinates(*shape)

    def weights(self, visible_bias):
        """Return the averaged weights."""
        return self.coordinates(visible_bias).weights_of(self.average)


def activate(weights, signs):
    """Return the probability of each hidden unit given inputs."""
    return hidden_posteriors(signs @ weights.components.T + weights.hidden_bias)[1]


def start_chains(weights, signs, visible_bias, random_state, n_chains=N_CHAINS):
    """Start chains at rows of a table.

    Parameters
    ----------
    weights : Weights
        Where learning starts.
    signs : ndarray of shape (n_samples, n)
    visible_bias : bool
        Whether visible biases are learned.
    random_state : RandomState
        Of the seed of all draws.
    n_chains : int

    Returns
    -------
    chains : Chains
    """
    seed = int(random_state.randint(LARGEST_SEED))
    rng = np.random.default_rng(seed)
    rows = signs[rng.integers(len(signs), size=n_chains)].astype(np.float64)
    centre = signs.mean(axis=0, dtype=np.float64)
    m = len(weights.hidden_bias)
    vector = Coordinates(m, centre, visible_bias, weights.parents).vector_of(weights)
    states = draw_hidden(activate(weights, rows), rng)
    zero = np.zeros_like(vector)
    return Chains(vector, zero, vector, states, 0, seed, centre, weights.parents)


def moments_of(weights, signs, shares):
    """Return moments of inputs with the hidden units that they excite.

    Parameters
    ----------
    weights : Weights
    signs : ndarray of shape (n_samples, n), dtype float64
    shares : ndarray of shape (n_samples,)
        Weights of the rows; their sum need not be 1.

    Returns
    -------
    moments : Moments
    means : ndarray of shape (n_samples, m)
        Probabilities of the hidden units.
    """
    means = activate(weights, signs)
    weighted = shares[:, None] * signs
    edges = None
    if weights.parents is not None:
        edges = np.einsum("ij,ij->j", weighted, signs[:, weights.parents])
        edges = np.where(weights.parents < 0, 0.0, edges)
    moments = Moments(shares @ means, weighted.sum(axis=0), means.T @ weighted, edges)
    return moments, means


def follow(weights, states, forest, rng):
    """Let chains take a step of block Gibbs sampling.

    Returns
    -------
    moments : Moments
        Of the inputs drawn on the way: of the machine, for chains in equilibrium.
    states : ndarray of shape (n_chains, m)
    """
    signs = draw_inputs(weights, states, rng, forest)
    shares = np.full(len(states), 1 / len(states))
    moments, means = moments_of(weights, signs, shares)
    return moments, draw_hidden(means, rng)


def step(chains, rows, shares, coordinates, forest, settings, rate):
    """Take a step along the difference between rows and chains."""
    weights = coordinates.weights_of(chains.vector)
    rng = np.random.default_rng([chains.seed, chains.n_steps])
    excited = moments_of(weights, rows, shares)[0]
    dreamt, states = follow(weights, chains.states, forest, rng)
    # Of rows that weigh less than others less is demanded, and less is given.
    total = shares.sum()
    difference = (
        None if of_rows is None else of_rows - total * of_chains
        for of_rows, of_chains in zip(excited, dreamt, strict=True)
    )
    slope = coordinates.gradient_of(Moments(*difference))
    slope -= total * settings.alpha * coordinates.penalised(chains.vector)
    velocity = settings.momentum * chains.velocity + (1 - settings.momentum) * slope
    vector = chains.vector + rate * velocity
    n_steps = chains.n_steps + 1
    newest = (POWER + 1) / (POWER + n_steps)
    average = chains.average + newest * (vector - chains.average)
    return chains._replace(
        vector=vector, velocity=velocity, average=average, states=states,
        n_steps=n_steps,
    )  # fmt: skip


def pass_over(chains, signs, sample_weight, settings, rates):
    """Take one step for each batch of rows, in their order.

    Parameters
    ----------
    chains : Chains
    signs : ndarray of shape (n_samples, n)
        -1 or 1.
    sample_weight : ndarray of shape (n_samples,)
    settings : Settings
        alpha, momentum, batch_size and visible_bias.
    rates : callable
        Gets the number of a batch, returns the length of its step.

    Returns
    -------
    chains : Chains
    """
    coordinates, size = chains.coordinates(settings.visible_bias), settings.batch_size
    forest = forest_of(coordinates.weights_of(chains.vector))
    for batch, start in enumerate(range(0, len(signs), size)):
        rows = signs[start : start + size].astype(np.float64)
        shares = sample_weight[start : start + size] / len(rows)
        chains = step(chains, rows, shares, coordinates, forest, settings, rates(batch))
        if np.abs(chains.vector).max() > LARGEST:
            raise ValueError(
                "The weights grew without bound: "
                f"learning_rate={settings.learning_rate} is too large. Take a tenth "
                "of it."
            )
    return chains


def learn_by_chains(start, signs, sample_weight, settings, rng):
    """Go over shuffled rows again and again; the steps shrink to nothing.

    Parameters
    ----------
    start : Weights
    signs, sample_weight, settings
        As for ``pass_over``; settings have learning_rate, max_iter and verbose too.
    rng : RandomState
        Of the chains and the shuffles.

    Returns
    -------
    chains : Chains
    """
    chains = start_chains(start, signs, settings.visible_bias, rng)
    n_batches = -(-len(signs) // settings.batch_size)
    n_steps = settings.max_iter * n_batches
    # The mean weight of a row is 1: the length of a step does not depend on the unit.
    sample_weight = sample_weight / sample_weight.mean()
    for epoch in range(settings.max_iter):
        order = rng.permutation(len(signs))

        def rate(batch, before=epoch * n_batches):
            return settings.learning_rate * (1 - (before + batch) / n_steps)

        chains = pass_over(chains, signs[order], sample_weight[order], settings, rate)
        if settings.verbose:
            largest = np.abs(chains.vector).max()
            print(f"Iteration {epoch + 1}: the largest weight is {largest:.3f}")
    return chains
