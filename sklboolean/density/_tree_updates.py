"""The tree of a machine learned again: edges where the hidden units explain least.

To the machine without an edge, the edge adds at most the divergence of the pair's
distribution in the table from that in the machine: this is what fitting the one pair
gains. The tree of greatest gains replaces that of Chow and Liu, which is the same thing
for a machine without hidden units.
"""

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.special import rel_entr
from scipy.stats import rankdata

from sklboolean.density._conditionals import complete_at_random

N_DRAWS = 20_000  # of the machine: gains of 1e-4 nats stand out
VALUES = (-1.0, 1.0)


def _pairs(signs, shares, alpha):
    """Return the four shares of all pairs of columns, smoothed by alpha rows."""
    means = shares @ signs
    products = (signs * shares[:, None]).T @ signs
    pairs = np.array(
        [
            [1 + i * means[:, None] + j * means + i * j * products for j in VALUES]
            for i in VALUES
        ]
    )
    return (np.maximum(pairs, 0.0) + alpha) / (4 * (1 + alpha))


def coupling_gains(seen, modelled, couplings):
    """Return what each edge adds to the mean log-likelihood, one at a time.

    Parameters
    ----------
    seen, modelled : ndarray of shape (2, 2, n, n)
        Shares of the four states of each pair, in the table and in the machine.
    couplings : ndarray of shape (n, n)
        Of the edges that the machine has: the pair is looked at without it.

    Returns
    -------
    gains : ndarray of shape (n, n)
    """
    products = np.multiply.outer(VALUES, VALUES)[:, :, None, None]
    without = modelled * np.exp(-couplings * products)
    return rel_entr(seen, without / without.sum(axis=(0, 1))).sum(axis=(0, 1))


def with_new_tree(weights, table, n_samples, rng, max_active=None):
    """Return a machine on the tree of greatest gains; its new edges have coupling 0.

    Parameters
    ----------
    weights : Weights
    table : Table
    n_samples : float
        For smoothing: rows that the table stands for.
    rng : RandomState
        The machine's pairs are counted in draws.
    max_active : int or None

    Returns
    -------
    weights : Weights
        The same object when no edge changes.
    """
    n = len(weights.visible_bias)
    nothing = np.zeros((N_DRAWS, n), dtype=np.int8)
    drawn = complete_at_random(weights, nothing, rng, max_active).astype(np.float64)
    even = np.full(N_DRAWS, 1 / N_DRAWS)
    couplings = np.zeros((n, n))
    child = np.flatnonzero(weights.parents >= 0)
    couplings[child, weights.parents[child]] = weights.couplings[child]
    couplings += couplings.T
    gains = coupling_gains(
        _pairs(table.signs, table.shares, 1 / n_samples),
        _pairs(drawn, even, 1 / N_DRAWS),
        couplings,
    )
    # Only their order matters; a cost near zero would be no edge at all.
    costs = rankdata(-(gains + gains.T), "dense").reshape(gains.shape)
    tree = minimum_spanning_tree(costs)
    _, parents = breadth_first_order(tree, 0, directed=False)
    parents = np.where(parents < 0, -1, parents).astype(np.int64)
    kept = couplings[np.arange(n), parents]
    edges = {frozenset(edge) for edge in enumerate(parents) if edge[1] >= 0}
    if edges == {
        frozenset(edge) for edge in enumerate(weights.parents) if edge[1] >= 0
    }:
        return weights
    return weights._replace(parents=parents, couplings=np.where(parents < 0, 0, kept))
