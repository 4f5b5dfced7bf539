"""The tree of Chow and Liu: which pairs of bits tell most about each other."""

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.special import xlogy
from scipy.stats import rankdata

BLOCK_ROWS = 4096


def pair_sums(signs, sample_weight=None):
    """Return the weight of the rows, and the sums of bits and of products of two bits.

    Without weights they are exact.

    Parameters
    ----------
    signs : ndarray of shape (n_samples, n_features)
        -1 or 1.
    sample_weight : ndarray of shape (n_samples,) or None
        Not negative; None: ones.

    Returns
    -------
    total : float
    sums : ndarray of shape (n_features,), dtype float64
    products : ndarray of shape (n_features, n_features), dtype float64
    """
    n_samples, n_features = signs.shape
    weights = np.ones(n_samples) if sample_weight is None else sample_weight
    sums, products = np.zeros(n_features), np.zeros((n_features, n_features))
    for start in range(0, n_samples, BLOCK_ROWS):
        rows = signs[start : start + BLOCK_ROWS].astype(np.float64)
        weighted = rows * weights[start : start + BLOCK_ROWS, None]
        sums += weighted.sum(axis=0)
        products += weighted.T @ rows
    return float(weights.sum()), sums, products


def pair_counts(total, first_sums, second_sums, products, alpha):
    """Return the weight of all four states of pairs of bits.

    ``alpha`` rows spread evenly over all possible rows take part: what is counted is a
    proper distribution, whichever pair is looked at.

    Returns
    -------
    counts : ndarray of shape (2, 2, ...), dtype float64
        False or true for the first bit and for the second.
    """
    counts = np.array(
        [
            [
                total + a * first_sums + b * second_sums + a * b * products
                for b in (-1, 1)
            ]
            for a in (-1, 1)
        ]
    )
    # Rounding must not make a count of zero negative.
    return (np.maximum(counts, 0.0) + alpha) / 4


def mutual_information_matrix(signs, sample_weight=None, alpha=0.0):
    """Return the mutual information of all pairs of bits.

    Parameters
    ----------
    signs : ndarray of shape (n_samples, n_features)
        -1 or 1.
    sample_weight : ndarray of shape (n_samples,) or None
        Not negative; None: ones.
    alpha : float
        Rows of uniform noise that are added, spread evenly.

    Returns
    -------
    information : ndarray of shape (n_features, n_features), dtype float64
        In nats, symmetric, not negative; 0 on the diagonal.
    """
    total, sums, products = pair_sums(signs, sample_weight)
    joint = pair_counts(total, sums[:, None], sums[None], products, alpha)
    joint /= total + alpha
    first, second = joint.sum(axis=1), joint.sum(axis=0)
    apart = first[:, None] * second[None]
    information = (xlogy(joint, joint) - xlogy(joint, apart)).sum(axis=(0, 1))
    # The formula is symmetric and not negative; rounding is not.
    information = (information + information.T) / 2
    np.fill_diagonal(information, 0.0)
    return np.maximum(information, 0.0)


def chow_liu_parents(signs, sample_weight=None, alpha=0.0):
    """Return the tree whose edges have the greatest mutual information together.

    Parameters
    ----------
    signs, sample_weight, alpha
        As for ``mutual_information_matrix``.

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


def log_conditionals(signs, parents, sample_weight=None, alpha=1.0):
    """Return the log-probabilities of each bit for both values of its parent.

    Parameters
    ----------
    signs, sample_weight
        As for ``mutual_information_matrix``.
    parents : ndarray of shape (n_features,), dtype int64
        -1 for a root.
    alpha : float
        Above 0, so that no probability is 0.

    Returns
    -------
    log_tables : ndarray of shape (n_features, 2, 2), dtype float64
        False or true for the parent and for the bit; the two lines of a root, which
        has no parent, are the same.
    """
    total, sums, products = pair_sums(signs, sample_weight)
    bits, child = np.arange(len(parents)), parents >= 0
    # A root hangs on a fair coin that tells nothing.
    parent_sums = np.where(child, sums[parents], 0.0)
    with_parent = np.where(child, products[parents, bits], 0.0)
    counts = pair_counts(total, parent_sums, sums, with_parent, alpha)
    return np.log(counts / counts.sum(axis=1, keepdims=True)).transpose(2, 0, 1)
