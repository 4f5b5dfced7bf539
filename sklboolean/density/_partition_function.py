"""The sum over all hidden states of a machine, its gradient, and its marginals.

Given h the inputs are independent, or form a forest: 2^m sums are all that is needed.
"""

# Three cases:
# * independent inputs: the sum over the inputs of a hidden state is a product of 2 cosh
#   of their fields. If there are fewer inputs than units, both change places
#   (`_transposed`), and the sum is over the states of the inputs;
# * a tree of inputs: messages from the leaves to the roots, for each hidden state;
# * attributes of several values: a mixture of forests, one for each hidden state.
# The first two use the tables of `_state_sums`, whose time is that of one
# multiplication for each state and column. Shapes: components (m, n), states (n_states,
# m), fields (n_states, n), all float64.

import numpy as np
from scipy.special import logsumexp

from sklboolean._core.parallel import each_slice
from sklboolean.density._attribute_forest import AttributeForest, ForestMixture
from sklboolean.density._rbm_params import Moments, RBMParams, count_hidden_states
from sklboolean.density._spanning_tree import parents_first
from sklboolean.density._state_sums import (
    build_tables,
    log_state_weights,
    split_units,
    sum_tables,
    unit_states,
)

MAX_TABLE = 1 << 22  # states whose log-weights are stored at once
SAFE = 1e-250  # sums below it may have lost terms that matter


def log_cosh2(fields):
    """Compute log(2 cosh) without overflow."""
    size = np.abs(fields)
    return size + np.log1p(np.exp(-2 * size))


def log_sums_over_inputs(params, states):
    """Compute the log of the sum over all inputs, for each hidden state.

    In a tree a child with field f and coupling J adds
    (log 2cosh(f + J) - log 2cosh(f - J)) / 2 to the field of its parent.

    Parameters
    ----------
    params : RBMParams
    states : ndarray of shape (n_states, m)
        0 or 1.

    Returns
    -------
    log_sums : ndarray of shape (n_states,)
    fields : ndarray of shape (n_states, n)
        Fields of the inputs, with the messages of their children in the tree.
    """
    fields = params.input_fields(states)
    total = states @ params.hidden_bias
    if params.attributes is not None:
        exponents = params.attributes.spread(fields)
        return total + attribute_forest(params).upward(exponents)[0], fields
    if params.parents is None:
        return total + log_cosh2(fields).sum(1), fields
    for child in parents_first(params.parents)[::-1]:
        parent, coupling = params.parents[child], params.couplings[child]
        if parent < 0:
            total += log_cosh2(fields[:, child])
            continue
        plus = log_cosh2(fields[:, child] + coupling)
        minus = log_cosh2(fields[:, child] - coupling)
        total += (plus + minus) / 2
        fields[:, parent] += (plus - minus) / 2
    return total, fields


def input_means(params, fields):
    """Compute the mean of each input, and of its product with its parent, by state.

    Parameters
    ----------
    params : RBMParams
    fields : ndarray of shape (n_states, n)
        From ``log_sums_over_inputs``.
    """
    if params.attributes is not None:
        forest, attributes = attribute_forest(params), params.attributes
        _, *messages = forest.upward(attributes.spread(fields))
        values = forest.downward(*messages)[0]
        return 2 * values[attributes.true_values].T - 1, None
    if params.parents is None:
        return np.tanh(fields), None
    inputs, edges = np.empty_like(fields), np.zeros_like(fields)
    for child in parents_first(params.parents):
        parent, coupling = params.parents[child], params.couplings[child]
        if parent < 0:
            inputs[:, child] = np.tanh(fields[:, child])
            continue
        plus = np.tanh(fields[:, child] + coupling) * (1 + inputs[:, parent]) / 2
        minus = np.tanh(fields[:, child] - coupling) * (1 - inputs[:, parent]) / 2
        inputs[:, child] = plus + minus
        edges[:, child] = plus - minus
    return inputs, edges


def _transposed(params):
    """Exchange hidden units and inputs; return the machine and a constant.

    With x = 2u - 1 the sum over h of one unit is e^a 2cosh(a), a half its activation:
    the inputs, which are summed over, become hidden units, and the units become inputs.
    The means of these are 2 P(h_i = 1) - 1.
    """
    components = params.components
    columns = (params.hidden_bias - components.sum(1)) / 2
    biases = 2 * params.visible_bias + components.sum(0)
    constant = columns.sum() - params.visible_bias.sum()
    return RBMParams(components.T, biases, columns), constant


def _half_tables(params):
    """List the states of both halves, and build tables."""
    left, right, limits = split_units(len(params.hidden_bias), params.max_active)
    units = right.shape[1]
    left_fields = left @ params.components[units:] + params.visible_bias / 2
    right_fields = right @ params.components[:units] + params.visible_bias / 2
    tables = build_tables(
        (left_fields, left @ params.hidden_bias[units:]),
        (right_fields, right @ params.hidden_bias[:units]),
        limits,
        params.parents,
        params.couplings,
    )
    return left, right, tables


def log_partition(params):
    """Compute the log of the sum over all inputs and hidden states.

    Parameters
    ----------
    params : RBMParams

    Returns
    -------
    log_z : float
    """
    if params.attributes is not None:
        return forest_mixture(params).moments()[0]
    m, n = params.components.shape
    if n < m and params.parents is None and params.max_active is None:
        transposed, constant = _transposed(params)
        return log_partition(transposed) + float(constant)
    return sum_tables(_half_tables(params)[2], gradient=False)


def partition_moments(params):
    """Compute the log of the sum over all states, and its gradient.

    Parameters
    ----------
    params
        As for ``log_partition``.

    Returns
    -------
    log_z : float
    moments : Moments
    """
    if params.attributes is not None:
        return _moments_of_attributes(params)
    m, n = params.components.shape
    if n < m and params.parents is None and params.max_active is None:
        transposed, constant = _transposed(params)
        log_z, moments = partition_moments(transposed)
        visible = 2 * moments.hidden - 1
        products = (visible - moments.visible[:, None]) / 2 + moments.products.T
        hidden = (1 + moments.visible) / 2
        return log_z + float(constant), Moments(hidden, visible, products, None)
    left, right, tables = _half_tables(params)
    log_z, left_sums, right_sums, edges = sum_tables(tables)
    left_shares, left_means = left_sums
    right_shares, right_means = right_sums[0][: len(right)], right_sums[1][: len(right)]
    hidden = np.concatenate([right_shares @ right, left_shares @ left])
    products = np.vstack([right.T @ right_means, left.T @ left_means])
    edges = None if params.parents is None else edges
    return log_z, Moments(hidden, left_means.sum(0), products, edges)


def attribute_forest(params):
    """Build the forest between the attributes of the inputs of a machine."""
    attributes = params.attributes
    n_attributes = len(attributes.sizes)
    if params.parents is None:
        tables = [np.zeros((1, size)) for size in attributes.sizes]
        return AttributeForest(attributes, np.full(n_attributes, -1), tables)
    above = np.append(attributes.of_column, -1)[params.parents]
    parents = above[attributes.columns[attributes.first_columns]]
    tables = []
    for attribute, parent in enumerate(parents):
        columns, of_values = _edge_signs(params, attribute, parent)
        own_signs = attributes.value_signs(attribute)
        tables.append((of_values * params.couplings[columns]) @ own_signs.T)
    return AttributeForest(attributes, parents, tables)


def _edge_signs(params, attribute, parent):
    """List an attribute's columns, and by the parent's value their parents' signs."""
    attributes = params.attributes
    columns = attributes.columns_of(attribute)
    if parent < 0:
        return columns, np.zeros((1, len(columns)))
    places = np.searchsorted(attributes.columns_of(parent), params.parents[columns])
    return columns, attributes.value_signs(parent)[:, places]


def forest_mixture(params):
    """Build the mixture of forests, one for each hidden state, that a machine is."""
    states = unit_states(len(params.hidden_bias), params.max_active)
    spread = params.attributes.spread
    by_unit, alone = spread(params.components), spread(params.visible_bias[None])
    exponents = (by_unit.T @ states.T + alone.T).T  # in the order of its sums
    forest = attribute_forest(params)
    return ForestMixture(forest, states @ params.hidden_bias, exponents)


def _moments_of_attributes(params):
    attributes = params.attributes
    states = unit_states(len(params.hidden_bias), params.max_active)
    mixture = forest_mixture(params)
    log_z, shares, means, pairs = mixture.moments()
    hidden, true = shares @ states, attributes.true_values
    products = 2 * (states.T @ means)[:, true] - hidden[:, None]
    inputs = 2 * means.sum(axis=0)[true] - 1
    edges = None
    if params.parents is not None:
        edges = np.zeros(len(params.parents))
        for attribute, parent in enumerate(mixture.forest.parents):
            columns, of_values = _edge_signs(params, attribute, parent)
            own_signs = attributes.value_signs(attribute)
            products_of_signs = (of_values.T @ pairs[attribute]) * own_signs.T
            edges[columns] = products_of_signs.sum(axis=1)
    return log_z, Moments(hidden, inputs, products, edges)


def hidden_log_weights(params):
    """Compute the log of the sum over all inputs, for each state of the hidden units.

    Parameters
    ----------
    params : RBMParams

    Returns
    -------
    log_weights : ndarray of shape (n_states,)
        In the order of ``unit_states``: without ``max_active``, unit i is active in
        state s where bit i of s is set.
    """
    if params.max_active is not None:
        states = unit_states(len(params.hidden_bias), params.max_active)
        return log_sums_over_inputs(params, states)[0]
    left, right, tables = _half_tables(params)
    return log_state_weights(tables, 0, len(left), len(right)).reshape(-1)


def log_marginals(params, hidden_biases):
    """Compute the log of the sum over all states, for many vectors of hidden biases.

    One call serves all samples with the same missing inputs: ``params`` has the missing
    inputs only, and the effect of the observed inputs is part of the biases.

    Parameters
    ----------
    params : RBMParams
        Its hidden bias is not used.
    hidden_biases : ndarray of shape (n_samples, m)

    Returns
    -------
    log_sums : ndarray of shape (n_samples,)
    """
    n_samples, m = hidden_biases.shape
    params = params.replace(hidden_bias=np.zeros(m))
    left, right, tables = _half_tables(params)
    units, n_left = right.shape[1], max(1, MAX_TABLE // len(right))
    log_sums = np.full(n_samples, -np.inf)
    for first in range(0, len(left), n_left):
        last = min(first + n_left, len(left))
        logs = log_state_weights(tables, first, last, len(right))
        top = logs.max()
        scaled = np.exp(logs - top)

        def add(begin, end, first=first, logs=logs, top=top, scaled=scaled):
            biases, here = hidden_biases[begin:end], slice(begin, end)
            left_logs = biases[:, units:] @ left[first : first + n_left].T
            right_logs = biases[:, :units] @ right.T
            left_top, right_top = left_logs.max(1), right_logs.max(1)
            sums = np.exp(left_logs - left_top[:, None]) @ scaled
            sums = (sums * np.exp(right_logs - right_top[:, None])).sum(1)
            # Terms below e^-708 of the three maxima are lost: they must not matter.
            safe = sums > SAFE
            logs_of_batch = (
                np.log(np.where(safe, sums, 1.0)) + top + left_top + right_top
            )
            for i in np.flatnonzero(~safe):
                logs_of_batch[i] = logsumexp(
                    logs + left_logs[i][:, None] + right_logs[i]
                )
            log_sums[here] = np.logaddexp(log_sums[here], logs_of_batch)

        small = n_samples < 1024
        each_slice(add, n_samples, multiple=256, small=small, step=256)
    return log_sums


def is_affordable(n, m, max_active, exact_limit, hidden_only=False):
    """Check that there are at most 2 ** exact_limit states to sum over."""
    n_states = count_hidden_states(m, max_active)
    # The sum over inputs is possible if they are independent and all states count.
    if n_states == 2**m and not hidden_only:
        n_states = min(2**n, n_states)
    return n_states <= 2**exact_limit


def check_affordable(n, m, max_active, exact_limit, hidden_only=False, advice=""):
    """Refuse sums over more than 2 ** exact_limit states."""
    if is_affordable(n, m, max_active, exact_limit, hidden_only):
        return
    raise ValueError(
        f"The exact likelihood of n_components={m} with {n} features is a sum over "
        f"{count_hidden_states(m, max_active):.1e} hidden states, each of which takes "
        f"{n} multiplications: more than 2 ** {exact_limit}. Take at most "
        f"{exact_limit} components, or n_components=({m}, 2) for hidden states with at "
        f"most two active units{advice}."
    )
