"""Draws of inputs, and marginals and completions of samples with missing bits; exact.

The known bits of a sample act on the hidden units, and on their neighbours in the tree:
what is left is a machine of the missing bits alone. Samples that miss the same bits
share its sums, over the hidden states or over the missing bits, whichever are fewer.
"""

# Questions about samples with missing bits, in steps:
# 1. `_missing_groups`: samples that miss the same bits, and have the same known
#    neighbours of these in the tree, form a group. The known bits add to the biases of
#    the hidden units, (n_distinct, m) float64: what is left is a machine of the missing
#    bits.
# 2. For each group, sum over the completions of the missing bits, or over the hidden
#    states, whichever are fewer (`sums_over_inputs`).
# 3. Write the results back to the samples of the group.
#
# Invariant: random numbers are drawn for the samples of a group in their order, so a
# draw does not depend on how sums are computed in blocks.

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logsumexp, softmax
from sklearn.utils import gen_batches

from sklboolean.density._base import all_signs
from sklboolean.density._forest import draw_signs
from sklboolean.density._partition_function import (
    forest_mixture,
    hidden_log_weights,
    log_marginals,
    log_sums_over_inputs,
    partition_moments,
)
from sklboolean.density._rbm_params import RBMParams, hidden_posteriors, log_numerators
from sklboolean.density._spanning_tree import parents_first
from sklboolean.density._state_sums import unit_states

BLOCK_STATES = 2**20  # states of a block of samples, times units
CELLS_AT_A_TIME = 2**24  # of draws: an interrupt is seen between two batches
MAX_LOG_ODDS = 600.0  # exp(-600) is a normal number
TABLE_BITS = 3  # a table may hold 2 ** (exact_limit + 3) numbers


# Draws of inputs given hidden states


def draw_inputs(params, states, rng):
    """Draw inputs given hidden states.

    The inputs are independent, or a forest, of which one pass up and one pass down
    draw all exactly.

    Parameters
    ----------
    params : RBMParams
    states : ndarray of shape (n_samples, m)
        0 or 1.
    rng : Generator or RandomState

    Returns
    -------
    signs : ndarray of shape (n_samples, n), dtype float64
    """
    uniform = rng.random((len(states), len(params.visible_bias)))
    fields = params.input_fields(states)
    if params.parents is None:
        return np.where(uniform < expit(2 * fields), 1.0, -1.0)
    links = 2 * np.abs(params.couplings)
    # The largest total message of the children to each parent.
    child = params.parents >= 0
    pull = np.bincount(params.parents[child], links[child], len(links))
    if (2 * np.abs(fields).max(axis=0) + pull).max() > MAX_LOG_ODDS:
        return _draw_inputs_by_logs(params, states, uniform)
    signs, scratch = np.empty_like(fields), np.empty((2, fields.shape[1]))
    ratios, strengths = np.exp(-2 * np.abs(fields)), np.exp(-links)
    forest = parents_first(params.parents), params.parents.astype(np.intp, copy=False)
    for batch in gen_batches(len(fields), max(1, CELLS_AT_A_TIME // fields.shape[1])):
        draws = fields[batch], ratios[batch], uniform[batch]
        draw_signs(*draws, *forest, params.couplings, strengths, *scratch, signs[batch])
    return signs


def _draw_inputs_by_logs(params, states, uniform):
    """Draw inputs whose odds are beyond the range of a double."""
    fields, signs = log_sums_over_inputs(params, states)[1], np.empty_like(uniform)
    for bit in parents_first(params.parents):
        field, parent = fields[:, bit], params.parents[bit]
        if parent >= 0:
            field = field + params.couplings[bit] * signs[:, parent]
        signs[:, bit] = np.where(uniform[:, bit] < expit(2 * field), 1.0, -1.0)
    return signs


def draw_hidden(means, rng):
    """Draw hidden units, 0 or 1, from their probabilities of being active."""
    return (rng.random(means.shape) < means).astype(np.float64)


# Samples with missing bits


def group_rows(keys):
    """Group equal rows of an array.

    Returns
    -------
    distinct : ndarray of shape (n_groups, n_columns)
        Sorted.
    group : ndarray of shape (n_keys,)
        Number of the group of each row.
    """
    # With indices the sort is stable, which is faster for many equal rows.
    distinct, _, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return distinct, group.ravel()


def members_of(group, n_groups):
    """List the numbers of the rows of each group, ascending."""
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(1, n_groups))
    return np.split(order, ends)[:n_groups]


class MissingGroup(NamedTuple):
    """Samples that miss the same bits and have the same known neighbours of these."""

    samples: np.ndarray  # their numbers
    missing: np.ndarray  # the columns
    params: RBMParams  # of the machine of the missing bits
    hidden_biases: np.ndarray  # (n_distinct, m), with the effect of the known bits
    which: np.ndarray  # (n_samples,), the row of hidden_biases of each sample
    known: np.ndarray  # (n_samples,), the exponent of the known bits

    def sums_over_inputs(self):
        """Check if a sum over the missing bits is shorter than over hidden states."""
        (n_distinct, m), k = self.hidden_biases.shape, len(self.missing)
        return 2**k * m * n_distinct <= self.params.n_hidden_states * (k + n_distinct)


def _fields_of_known(params, signs):
    """Add the effect of known neighbours in the tree to the visible biases."""
    fields = np.tile(params.visible_bias, (len(signs), 1))
    if params.parents is not None:
        fields += params.couplings * signs[:, params.parents]
        for child in np.flatnonzero(params.parents >= 0):
            parent = params.parents[child]
            fields[:, parent] += params.couplings[child] * signs[:, child]
    return fields


def _machine_of_missing(params, missing, fields):
    parents, couplings = None, None
    if params.parents is not None:
        position = np.full(len(params.parents) + 1, -1, dtype=np.int64)
        position[missing] = np.arange(len(missing))
        parents = position[params.parents[missing]]
        couplings = np.where(parents < 0, 0.0, params.couplings[missing])
    return params.replace(
        components=np.ascontiguousarray(params.components[:, missing]),
        visible_bias=fields[missing],
        parents=parents,
        couplings=couplings,
    )


def _missing_groups(params, signs):
    """Yield a ``MissingGroup`` for each pattern of missing bits."""
    params.check_inputs(signs.shape[1])
    gaps = signs == 0
    border = np.zeros_like(gaps)
    if params.parents is not None:
        child = np.flatnonzero(params.parents >= 0)
        parent = params.parents[child]
        np.logical_or.at(border, (slice(None), parent), gaps[:, child])
        border[:, child] |= gaps[:, parent]
    # A known bit matters to the machine of the gaps only beside one of them.
    keys = np.where(gaps, 2, np.where(border, signs, 0)).astype(np.int8)
    patterns, group = group_rows(keys)
    for key, samples in zip(patterns, members_of(group, len(patterns)), strict=True):
        missing = np.flatnonzero(key == 2)
        if not len(missing):
            continue
        bits = signs[samples].astype(np.float64)
        fields = _fields_of_known(params, bits[:1])[0]
        distinct, which = group_rows(bits)
        machine = _machine_of_missing(params, missing, fields)
        biases, exponents = params.activations(distinct), params.add_input_terms(bits)
        yield MissingGroup(samples, missing, machine, biases, which, exponents)


def _completion_scores(group):
    """Yield blocks of hidden biases with the log-weights of all completions."""
    completions = all_signs(len(group.missing)).astype(np.float64)
    effect = completions @ group.params.components.T
    input_terms = group.params.add_input_terms(completions)
    step = max(1, BLOCK_STATES // max(1, effect.size))
    for start in range(0, len(group.hidden_biases), step):
        here = slice(start, start + step)
        activations = group.hidden_biases[here, None] + effect
        sums, _ = hidden_posteriors(
            activations.reshape(-1, activations.shape[2]), group.params.max_active
        )
        yield here, input_terms + sums.reshape(activations.shape[:2])


def log_sums_of_known(params, signs):
    """Compute the log of the sum over all completions of each sample.

    Parameters
    ----------
    params : RBMParams
    signs : ndarray of shape (n_samples, n), dtype int8
        0 where a bit is missing.

    Returns
    -------
    log_sums : ndarray of shape (n_samples,)
    """
    log_sums, complete = np.empty(len(signs)), signs.all(axis=1)
    log_sums[complete] = log_numerators(params, signs[complete])
    incomplete = np.flatnonzero(~complete)
    if not len(incomplete):
        return log_sums
    if params.attributes is not None:
        log_sums[incomplete] = forest_mixture(params).log_sums(signs[incomplete])
        return log_sums
    for group in _missing_groups(params, signs[incomplete]):
        sums = np.empty(len(group.hidden_biases))
        if group.sums_over_inputs():
            for here, scores in _completion_scores(group):
                sums[here] = logsumexp(scores, axis=1)
        else:
            sums = log_marginals(group.params, group.hidden_biases)
        log_sums[incomplete[group.samples]] = group.known + sums[group.which]
    return log_sums


def complete_by_means(params, signs):
    """Replace missing bits by their conditional means.

    Parameters
    ----------
    params, signs
        As for ``log_sums_of_known``.

    Returns
    -------
    filled : ndarray of shape (n_samples, n), dtype float64
    """
    if params.attributes is not None:
        return forest_mixture(params).means(signs)
    filled = signs.astype(np.float64)
    for group in _missing_groups(params, signs):
        means = np.empty((len(group.hidden_biases), len(group.missing)))
        if group.sums_over_inputs():
            completions = all_signs(len(group.missing)).astype(np.float64)
            for here, scores in _completion_scores(group):
                means[here] = softmax(scores, axis=1) @ completions
        else:
            for i, biases in enumerate(group.hidden_biases):
                machine = group.params.replace(hidden_bias=biases)
                means[i] = partition_moments(machine)[1].visible
        # Rounding must not make a probability negative.
        means = np.clip(means, -1.0, 1.0)
        filled[np.ix_(group.samples, group.missing)] = means[group.which]
    return filled


def hidden_means(params, signs):
    """Compute the probability of each hidden unit given the known bits of samples.

    Parameters
    ----------
    params, signs
        As for ``log_sums_of_known``.

    Returns
    -------
    means : ndarray of shape (n_samples, m), dtype float64
    """
    m, max_active = len(params.hidden_bias), params.max_active
    if params.attributes is not None:
        states = unit_states(m, max_active)
        return forest_mixture(params).component_shares(signs) @ states
    means = np.empty((len(signs), m))
    for group in _missing_groups(params, signs):
        biases = group.hidden_biases
        if group.sums_over_inputs():
            completions = all_signs(len(group.missing)).astype(np.float64)
            effect = completions @ group.params.components.T
            of_group = np.empty_like(biases)
            for here, scores in _completion_scores(group):
                for i, logs in enumerate(scores, here.start):
                    unit_means = hidden_posteriors(biases[i] + effect, max_active)[1]
                    of_group[i] = softmax(logs) @ unit_means
        else:
            states = unit_states(m, max_active)
            weights = hidden_log_weights(group.params.replace(hidden_bias=np.zeros(m)))
            of_group = softmax(weights + biases @ states.T, axis=1) @ states
        means[group.samples] = of_group[group.which]
    return means


def _draw_indices(scores, uniform):
    """Draw indices with probabilities proportional to exp(scores)."""
    cumulative = np.cumsum(softmax(scores))
    # Never beyond the last index, whatever the rounding of the sums.
    return np.searchsorted(cumulative[:-1], uniform * cumulative[-1], side="right")


def _draw_states(group, uniform):
    """Draw a hidden state for each sample of a group."""
    m, max_active = len(group.params.hidden_bias), group.params.max_active
    log_weights = hidden_log_weights(group.params.replace(hidden_bias=np.zeros(m)))
    states = None if max_active is None else unit_states(m, max_active)
    numbers = np.empty(len(group.samples), dtype=np.int64)
    equal = members_of(group.which, len(group.hidden_biases))
    for biases, same in zip(group.hidden_biases, equal, strict=True):
        if states is None:
            scores = np.zeros(1)
            for bias in biases:  # unit i is active in state s where bit i of s is set
                scores = np.concatenate([scores, scores + bias])
        else:
            scores = states @ biases
        numbers[same] = _draw_indices(scores + log_weights, uniform[same])
    if states is not None:
        return states[numbers]
    return (numbers[:, None] >> np.arange(m) & 1).astype(np.float64)


def complete_at_random(params, signs, rng):
    """Draw missing bits from their joint conditional distribution.

    Parameters
    ----------
    params, signs
        As for ``log_sums_of_known``.
    rng : RandomState

    Returns
    -------
    filled : ndarray of shape (n_samples, n), dtype int8
    """
    if params.attributes is not None:
        return forest_mixture(params).draw(signs, rng)
    filled = signs.copy()
    for group in _missing_groups(params, signs):
        uniform = rng.uniform(size=len(group.samples))
        if group.sums_over_inputs():
            numbers = np.empty(len(group.samples), dtype=np.int64)
            equal = members_of(group.which, len(group.hidden_biases))
            for here, scores in _completion_scores(group):
                for logs, same in zip(scores, equal[here], strict=True):
                    numbers[same] = _draw_indices(logs, uniform[same])
            drawn = all_signs(len(group.missing))[numbers]
        else:
            states = _draw_states(group, uniform)
            drawn = draw_inputs(group.params, states, rng)
        filled[np.ix_(group.samples, group.missing)] = drawn
    return filled


def known_log_odds(params, signs):
    """Compute the log-odds of each bit of complete samples given all other bits."""
    signs = signs.astype(np.float64)
    activations = params.activations(signs)
    odds = 2 * _fields_of_known(params, signs)
    for column in range(signs.shape[1]):
        effect = params.components[:, column]
        without = activations - signs[:, column, None] * effect
        odds[:, column] += hidden_posteriors(without + effect, params.max_active)[0]
        odds[:, column] -= hidden_posteriors(without - effect, params.max_active)[0]
    return odds


def reconstruction_error(params, signs):
    """Compute the mean of -log2 p(x | h) per bit, h the most probable state given x.

    Freund, section 4.4, with the minus sign that is missing from H(x | h) there and
    with p_i = logistic(2 sum w h) of section 4.2.3.
    """
    activations = params.activations(signs)
    states = (activations > 0).astype(np.float64)
    if params.max_active is not None:
        ranks = np.argsort(np.argsort(-activations, axis=1, kind="stable"), axis=1)
        states[ranks >= params.max_active] = 0.0
    # Without hidden units the numerator is the factor of the inputs and their tree.
    bare = params.replace(
        components=np.zeros_like(params.components),
        hidden_bias=np.full_like(params.hidden_bias, -np.inf),
        max_active=None,
    )
    joint = (states * activations).sum(axis=1) + log_numerators(bare, signs)
    costs = log_sums_over_inputs(params, states)[0] - joint
    return float(costs.mean() / (signs.shape[1] * np.log(2)))


def check_missing(params, signs, exact_limit):
    """Refuse samples with too many missing bits for sums over states or completions."""
    if params.n_hidden_states <= 2**exact_limit:
        return
    # A table of completions has a number for each unit.
    m = len(params.hidden_bias)
    most = max(exact_limit + TABLE_BITS - m.bit_length(), 0)
    n_missing = np.count_nonzero(signs == 0, axis=1)
    if n_missing.max(initial=0) > most:
        worst = n_missing[np.argmax(n_missing > most)]
        raise ValueError(
            f"A sample of X misses {worst} bits; with {m} hidden units at most {most} "
            "can be summed out or filled in. Fit fewer units."
        )
