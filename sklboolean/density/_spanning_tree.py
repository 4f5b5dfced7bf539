"""Trees between columns: the best one, and the order of its columns."""

from functools import lru_cache

import numpy as np

from sklboolean._core.damage import require_below


def maximum_spanning_tree(gains):
    """Find the spanning tree whose edges have the largest total gain.

    Parameters
    ----------
    gains : ndarray of shape (n_features, n_features)
        Symmetric and finite.

    Returns
    -------
    parents : ndarray of shape (n_features,), dtype int64
        Column number of the parent of each column; -1 for the root, which is column 0.
    """
    # Prim's algorithm: its time is that of reading the gains once.
    parents = np.full(len(gains), -1, dtype=np.int64)
    nearest = np.zeros_like(parents)
    best, outside = gains[0].copy(), np.ones(len(gains), dtype=bool)
    column = 0
    for _ in range(len(gains) - 1):
        outside[column], best[column] = False, -np.inf
        better = outside & (gains[column] > best)
        best[better], nearest[better] = gains[column, better], column
        column = best.argmax()
        parents[column] = nearest[column]
    return parents


def parents_first(parents):
    """Sort the columns of a forest so that parents come before their children."""
    return _order_of(np.asarray(parents, dtype=np.int64).tobytes())


@lru_cache(maxsize=32)
def _order_of(parents):
    """Compute the order once for many draws."""
    parents = np.frombuffer(parents, dtype=np.int64)
    require_below(parents + 1, len(parents) + 1, "parents, each plus 1,")
    ancestors = np.append(parents, -1)  # of ever higher degree; that of none is none
    depths = (ancestors >= 0).astype(np.int64)
    for _ in range(len(parents).bit_length()):
        depths += depths[ancestors]
        ancestors = ancestors[ancestors]
    if (ancestors >= 0).any():
        raise ValueError("parents has a cycle: give a forest, -1 at each root.")
    order = np.argsort(depths[:-1], kind="stable")
    order.flags.writeable = False
    return order
