"""The tree of Chow and Liu: which pairs of bits tell most about each other."""

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.special import xlogy
from scipy.stats import rankdata

__all__ = [
    "chow_liu_parents",
    "mutual_information_matrix",
    "pair_moments",
    "parents_first",
]

BLOCK_ROWS = 4096


def pair_moments(signs, sample_weight=None, alpha=0.0):
    """Return the means of all bits and of all products of two bits, smoothed.

    The moments are those of the rows and of ``alpha`` rows spread evenly over all
    rows that are possible: a proper distribution, whichever pair is looked at.

    Parameters
    ----------
    signs : ndarray of shape (n_rows, n_features)
        -1 or 1.
    sample_weight : ndarray of shape (n_rows,) or None
        Not negative; None: ones.
    alpha : float
        Weight of the uniform distribution, in rows.

    Returns
    -------
    means : ndarray of shape (n_features,), dtype float64
    products : ndarray of shape (n_features, n_features), dtype float64
    """
    n_features = signs.shape[1]
    sums, products = np.zeros(n_features), np.zeros((n_features, n_features))
    for start in range(0, len(signs), BLOCK_ROWS):
        rows = signs[start : start + BLOCK_ROWS].astype(np.float64)
        if sample_weight is None:
            sums += rows.sum(axis=0)
            products += rows.T @ rows
        else:
            weights = sample_weight[start : start + BLOCK_ROWS]
            sums += weights @ rows
            products += (rows * weights[:, None]).T @ rows
    total = len(signs) if sample_weight is None else sample_weight.sum()
    # Uniform rows have means 0, and products 0 but on the diagonal.
    np.fill_diagonal(products, total + alpha)
    return sums / (total + alpha), products / (total + alpha)


def pair_probability(means, products, first, second):
    """Return P(x_i = first, x_j = second) of all pairs, from moments of signs."""
    one = first * means[:, None] + second * means[None, :]
    # Rounding must not make a count of zero negative.
    return np.maximum(1 + one + first * second * products, 0.0) / 4


def mutual_information_matrix(signs, sample_weight=None, alpha=0.0):
    """Return the mutual information of all pairs of bits.

    Parameters
    ----------
    signs : ndarray of shape (n_rows, n_features)
        -1 or 1.
    sample_weight : ndarray of shape (n_rows,) or None
        Not negative; None: ones.
    alpha : float
        Rows of uniform noise that are added, as in ``pair_moments``.

    Returns
    -------
    information : ndarray of shape (n_features, n_features), dtype float64
        In nats, symmetric, not negative; the diagonal holds the entropies.
    """
    means, products = pair_moments(signs, sample_weight, alpha)
    information = np.zeros(products.shape)
    for first in (-1, 1):
        for second in (-1, 1):
            joint = pair_probability(means, products, first, second)
            apart = np.outer(1 + first * means, 1 + second * means) / 4
            information += xlogy(joint, joint) - xlogy(joint, apart)
    information = (information + information.T) / 2
    return np.maximum(information, 0.0)


def chow_liu_parents(signs, sample_weight=None, alpha=0.0):
    """Return the tree whose edges have the greatest mutual information together.

    Parameters
    ----------
    signs : ndarray of shape (n_rows, n_features)
        -1 or 1.
    sample_weight : ndarray of shape (n_rows,) or None
        Not negative; None: ones.
    alpha : float
        Rows of uniform noise that are added, as in ``pair_moments``.

    Returns
    -------
    parents : ndarray of shape (n_features,), dtype int64
        Column number of each bit's parent; -1 for the root, which is column 0.
    """
    information = mutual_information_matrix(signs, sample_weight, alpha)
    # Only the order of the pairs matters; a cost near zero would be no edge at all.
    costs = rankdata(-information, "dense").reshape(information.shape)
    tree = minimum_spanning_tree(costs)
    _, parents = breadth_first_order(tree, 0, directed=False)
    return np.where(parents < 0, -1, parents).astype(np.int64)


def parents_first(parents):
    """Return the bits of a tree or forest in an order in which parents come first."""
    depths = np.zeros(len(parents), dtype=np.int64)
    above = parents.copy()
    while (above >= 0).any():
        depths += above >= 0
        above = np.where(above >= 0, parents[above], -1)
    return np.argsort(depths, kind="stable")
