"""Sums over the inputs for a list of hidden states, by logarithms.

One exponential and one tanh for each state and input: slow, and safe for weights of any
size. The compiled loop takes over where weights are of ordinary size.
"""

import numpy as np


def log_cosh2(fields):
    """Return log(2 cosh), which no argument overflows."""
    size = np.abs(fields)
    return size + np.log1p(np.exp(-2 * size))


def topological(parents):
    """Return the inputs with every parent before its children."""
    parents = np.asarray(parents)
    depths = np.where(parents < 0, 0, -1)
    while (depths < 0).any():
        found = (depths < 0) & (depths[parents] >= 0) & (parents >= 0)
        if not found.any():
            raise ValueError("parents has a cycle: give a forest, -1 at each root.")
        depths[found] = depths[parents[found]] + 1
    return np.argsort(depths, kind="stable")


def fields(weights, states):
    """Return the field of each input for each hidden state (a row of 0 and 1)."""
    return states @ weights.components + weights.visible_bias


def log_sums(weights, states):
    """Return the log of the sum over all inputs, for each hidden state.

    With a tree the fields are changed to what the inputs see without their descendants'
    side: a child with field f and coupling J is worth
    (log 2cosh(f + J) - log 2cosh(f - J)) / 2 to its parent's field.

    Returns
    -------
    log_sums : ndarray of shape (n_states,)
    seen : ndarray of shape (n_states, n_inputs)
        Fields with the messages of the children.
    """
    seen = fields(weights, states)
    total = states @ weights.hidden_bias
    if weights.parents is None:
        return total + log_cosh2(seen).sum(1), seen
    for child in topological(weights.parents)[::-1]:
        parent, coupling = weights.parents[child], weights.couplings[child]
        if parent < 0:
            total += log_cosh2(seen[:, child])
            continue
        plus = log_cosh2(seen[:, child] + coupling)
        minus = log_cosh2(seen[:, child] - coupling)
        total += (plus + minus) / 2
        seen[:, parent] += (plus - minus) / 2
    return total, seen


def means(weights, seen):
    """Return the mean of each input and of its product with its parent, by state.

    Parameters
    ----------
    seen : ndarray of shape (n_states, n_inputs)
        From `log_sums`.
    """
    if weights.parents is None:
        return np.tanh(seen), None
    inputs, edges = np.empty_like(seen), np.zeros_like(seen)
    for child in topological(weights.parents):
        parent, coupling = weights.parents[child], weights.couplings[child]
        if parent < 0:
            inputs[:, child] = np.tanh(seen[:, child])
            continue
        plus = np.tanh(seen[:, child] + coupling) * (1 + inputs[:, parent]) / 2
        minus = np.tanh(seen[:, child] - coupling) * (1 - inputs[:, parent]) / 2
        inputs[:, child] = plus + minus
        edges[:, child] = plus - minus
    return inputs, edges
