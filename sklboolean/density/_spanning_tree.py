"""Trees between columns: the best one, and the order of its columns."""

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.stats import rankdata


def maximum_spanning_tree(gains):
    """Find the spanning tree whose edges have the largest total gain.

    Parameters
    ----------
    gains : ndarray of shape (n_features, n_features)
        Symmetric.

    Returns
    -------
    parents : ndarray of shape (n_features,), dtype int64
        Column number of the parent of each column; -1 for the root, which is column 0.
    """
    # Only the order of the gains matters; a cost near zero would mean no edge.
    costs = rankdata(-gains, "dense").reshape(gains.shape)
    tree = minimum_spanning_tree(costs)
    _, parents = breadth_first_order(tree, 0, directed=False)
    return np.where(parents < 0, -1, parents).astype(np.int64)


def parents_first(parents):
    """Sort the columns of a forest so that parents come before their children."""
    ancestors = np.append(parents, -1)  # of ever higher degree; that of none is none
    depths = (ancestors >= 0).astype(np.int64)
    for _ in range(len(parents).bit_length()):
        depths += depths[ancestors]
        ancestors = ancestors[ancestors]
    if (ancestors >= 0).any():
        raise ValueError("parents has a cycle: give a forest, -1 at each root.")
    return np.argsort(depths[:-1], kind="stable")
