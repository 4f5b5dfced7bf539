"""Marginals, draws and completions of rows in which bits are missing, all exact.

Known bits excite the hidden units, and their neighbours in the tree: what is left is a
machine of the missing bits alone. Rows that miss the same bits share its sums, over
the hidden states or over the missing bits, whichever are fewer.
"""

from itertools import chain, combinations
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from sklboolean.density import _log_space as log_space
from sklboolean.density._block_gibbs import draw_inputs
from sklboolean.density._hidden_states import (
    Weights,
    log_marginals,
    partition_moments,
    state_log_weights,
)
from sklboolean.density._likelihood import hidden_posteriors, log_numerators

BLOCK_STATES = 2**20  # states of a block of rows, times units


class Group(NamedTuple):
    """Rows that miss the same bits, and see the same known neighbours in the tree."""

    rows: np.ndarray  # their numbers
    missing: np.ndarray  # the columns
    weights: Weights  # of the machine of the missing bits
    hidden_biases: np.ndarray  # (n_distinct, m), with what the known bits excite
    which: np.ndarray  # (n_samples,), the vector of biases of each row
    known: np.ndarray  # (n_samples,), what the known bits add to the logarithm


def n_hidden_states(m, max_active):
    """Return how many hidden states there are."""
    if max_active is None or max_active >= m:
        return 2**m
    return sum(comb(m, k) for k in range(max_active + 1))


def _fields(weights, signs):
    """Return visible biases with what known neighbours in the tree add to them."""
    fields = np.tile(weights.visible_bias, (len(signs), 1))
    if weights.parents is not None:
        fields += weights.couplings * signs[:, weights.parents]
        for child in np.flatnonzero(weights.parents >= 0):
            parent = weights.parents[child]
            fields[:, parent] += weights.couplings[child] * signs[:, child]
    return fields


def _machine_of(weights, missing, fields):
    parents, couplings = None, None
    if weights.parents is not None:
        position = np.full(len(weights.parents) + 1, -1, dtype=np.int64)
        position[missing] = np.arange(len(missing))
        parents = position[weights.parents[missing]]
        couplings = np.where(parents < 0, 0.0, weights.couplings[missing])
    return weights._replace(
        components=np.ascontiguousarray(weights.components[:, missing]),
        visible_bias=fields[missing],
        parents=parents,
        couplings=couplings,
    )


def _groups(weights, signs):
    """Yield the groups of incomplete rows of int8 signs, 0 where a bit is missing."""
    gaps = signs == 0
    border = np.zeros_like(gaps)
    if weights.parents is not None:
        child = np.flatnonzero(weights.parents >= 0)
        parent = weights.parents[child]
        np.logical_or.at(border, (slice(None), parent), gaps[:, child])
        border[:, child] |= gaps[:, parent]
    keys = np.where(gaps, 2, np.where(border, signs, 0)).astype(np.int8)
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.ravel()
    order = np.argsort(inverse, kind="stable")
    ends = np.searchsorted(inverse[order], np.arange(len(first) + 1))
    for i, example in enumerate(first):
        if not gaps[example].any():
            continue
        rows = order[ends[i] : ends[i + 1]]
        bits = signs[rows].astype(np.float64)
        known = bits @ weights.visible_bias
        if weights.parents is not None:
            known += (bits * bits[:, weights.parents]) @ weights.couplings
        missing = np.flatnonzero(gaps[example])
        machine = _machine_of(weights, missing, _fields(weights, bits[:1])[0])
        distinct, which = np.unique(bits, axis=0, return_inverse=True)
        hidden_biases = distinct @ weights.components.T + weights.hidden_bias
        yield Group(rows, missing, machine, hidden_biases, which.ravel(), known)


def _few_inputs(group, max_active):
    """Return whether the missing bits have less work to offer than hidden states."""
    (n_distinct, m), k = group.hidden_biases.shape, len(group.missing)
    return 2**k * m * n_distinct <= n_hidden_states(m, max_active) * (k + n_distinct)


def _completions(n_missing):
    """Return all rows of signs; the first bit is the slowest to change."""
    bits = np.arange(2**n_missing)[:, None] >> np.arange(n_missing)[::-1] & 1
    return 2.0 * bits - 1.0


def _completion_scores(group, max_active):
    """Yield blocks of hidden biases with the log-weights of all completions."""
    completions, machine = _completions(len(group.missing)), group.weights
    excited = completions @ machine.components.T
    own = completions @ machine.visible_bias
    if machine.parents is not None:
        own += (completions * completions[:, machine.parents]) @ machine.couplings
    step = max(1, BLOCK_STATES // max(1, excited.size))
    for start in range(0, len(group.hidden_biases), step):
        here = slice(start, start + step)
        activations = group.hidden_biases[here, None] + excited
        sums = hidden_posteriors(
            activations.reshape(-1, activations.shape[2]), max_active
        )[0]
        yield here, own + sums.reshape(activations.shape[:2])


def log_sums_of_known(weights, signs, max_active=None, n_jobs=None):
    """Return the log of the sum over all completions of each row.

    Parameters
    ----------
    weights : Weights
    signs : ndarray of shape (n_samples, n), dtype int8
        0 where a bit is missing.
    max_active, n_jobs : int or None

    Returns
    -------
    log_sums : ndarray of shape (n_samples,)
    """
    log_sums, complete = np.empty(len(signs)), signs.all(axis=1)
    log_sums[complete] = log_numerators(weights, signs[complete], max_active)
    incomplete = np.flatnonzero(~complete)
    for group in _groups(weights, signs[incomplete]):
        sums = np.empty(len(group.hidden_biases))
        if _few_inputs(group, max_active):
            for here, scores in _completion_scores(group, max_active):
                sums[here] = logsumexp(scores, axis=1)
        else:
            sums = log_marginals(group.weights, group.hidden_biases, max_active, n_jobs)
        log_sums[incomplete[group.rows]] = group.known + sums[group.which]
    return log_sums


def complete_by_means(weights, signs, max_active=None, n_jobs=None):
    """Return rows with the conditional mean of each missing bit, float64."""
    filled = signs.astype(np.float64)
    for group in _groups(weights, signs):
        means = np.empty((len(group.hidden_biases), len(group.missing)))
        if _few_inputs(group, max_active):
            completions = _completions(len(group.missing))
            for here, scores in _completion_scores(group, max_active):
                means[here] = softmax(scores, axis=1) @ completions
        else:
            for i, biases in enumerate(group.hidden_biases):
                machine = group.weights._replace(hidden_bias=biases)
                means[i] = partition_moments(machine, max_active, n_jobs)[1].visible
        filled[np.ix_(group.rows, group.missing)] = means[group.which]
    return filled


def probabilities_of_missing(weights, signs, max_active=None):
    """Return the joint distribution of missing bits, the same in all rows.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, 2 ** n_missing)
        In the order of counting; the first bit is the slowest to change.
    """
    probabilities = np.empty((len(signs), 2 ** np.count_nonzero(signs[0] == 0)))
    for group in _groups(weights, signs):
        joint = np.empty((len(group.hidden_biases), probabilities.shape[1]))
        for here, scores in _completion_scores(group, max_active):
            joint[here] = softmax(scores, axis=1)
        probabilities[group.rows] = joint[group.which]
    return probabilities


def _state_table(machine, max_active):
    """Return log-weights of all hidden states without hidden biases, and the states."""
    m = len(machine.hidden_bias)
    machine = machine._replace(hidden_bias=np.zeros(m))
    if n_hidden_states(m, max_active) == 2**m:
        return state_log_weights(machine), None
    active = chain.from_iterable(
        combinations(range(m), k) for k in range(max_active + 1)
    )
    states = np.zeros((n_hidden_states(m, max_active), m))
    for state, units in zip(states, active, strict=True):
        state[list(units)] = 1.0
    return log_space.log_sums(machine, states)[0], states


def _drawn(scores, chances):
    """Return indices drawn with probabilities exp(scores), by numbers from 0 to 1."""
    cumulative = np.cumsum(softmax(scores))
    # Never beyond the last index, whatever the sums round to.
    return np.searchsorted(cumulative[:-1], chances * cumulative[-1], side="right")


def _draw_states(group, max_active, chances):
    """Return a hidden state for each row."""
    table, states = _state_table(group.weights, max_active)
    numbers = np.empty(len(group.rows), dtype=np.int64)
    for i, biases in enumerate(group.hidden_biases):
        if states is None:
            scores = np.zeros(1)
            for bias in biases:  # unit i is active in state s where bit i of s is set
                scores = np.concatenate([scores, scores + bias])
        else:
            scores = states @ biases
        numbers[group.which == i] = _drawn(scores + table, chances[group.which == i])
    if states is not None:
        return states[numbers]
    m = len(group.weights.hidden_bias)
    return (numbers[:, None] >> np.arange(m) & 1).astype(np.float64)


def complete_at_random(weights, signs, rng, max_active=None):
    """Return rows with missing bits drawn from their joint conditional distribution."""
    filled = signs.copy()
    for group in _groups(weights, signs):
        chances = rng.uniform(size=len(group.rows))
        if _few_inputs(group, max_active):
            numbers = np.empty(len(group.rows), dtype=np.int64)
            for here, scores in _completion_scores(group, max_active):
                for i, own in enumerate(scores, here.start):
                    same = group.which == i
                    numbers[same] = _drawn(own, chances[same])
            drawn = _completions(len(group.missing))[numbers]
        else:
            states = _draw_states(group, max_active, chances)
            drawn = draw_inputs(group.weights, states, rng)
        filled[np.ix_(group.rows, group.missing)] = drawn
    return filled


def known_log_odds(weights, signs, max_active=None):
    """Return the log-odds of each bit of complete rows given all their other bits."""
    rows = signs.astype(np.float64)
    activations = rows @ weights.components.T + weights.hidden_bias
    odds = 2 * _fields(weights, rows)
    for column in range(rows.shape[1]):
        effect = weights.components[:, column]
        without = activations - rows[:, column, None] * effect
        odds[:, column] += hidden_posteriors(without + effect, max_active)[0]
        odds[:, column] -= hidden_posteriors(without - effect, max_active)[0]
    return odds


def reconstruction_error(weights, signs, max_active=None):
    """Return the mean of -log2 p(x | h) for a bit, h the likeliest state given x.

    Freund, section 4.4, with the minus sign that H(x | h) has lost there and with
    p_i = logistic(2 sum w h) of section 4.2.3.
    """
    activations = signs @ weights.components.T + weights.hidden_bias
    states = (activations > 0).astype(np.float64)
    if max_active is not None and max_active < states.shape[1]:
        ranks = np.argsort(np.argsort(-activations, axis=1, kind="stable"), axis=1)
        states[ranks >= max_active] = 0.0
    # Without hidden units the numerator is the part of the inputs and their tree.
    bare = weights._replace(
        components=np.zeros_like(weights.components),
        hidden_bias=np.full_like(weights.hidden_bias, -np.inf),
    )
    joint = (states * activations).sum(axis=1) + log_numerators(bare, signs)
    costs = log_space.log_sums(weights, states)[0] - joint
    return float(costs.mean() / (signs.shape[1] * np.log(2)))
