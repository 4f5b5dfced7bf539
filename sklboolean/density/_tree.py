"""The Chow-Liu tree: the most likely distribution in which bits depend in pairs.

The functions on spanning trees and pair counts also serve the combination machine,
whose inputs may form a tree.
"""

from dataclasses import astuple, dataclass

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.special import expit, xlogy
from scipy.stats import rankdata
from sklearn.base import BaseEstimator

from sklboolean._core.base import restore_on_error
from sklboolean._core.parameters import check_real
from sklboolean._core.weights import checked_weights
from sklboolean.density._base import BinaryDensityMixin

BLOCK_SIZE = 4096


def pair_sums(signs, sample_weight=None):
    """Sum up weights, bits, and products of two bits.

    Without weights the sums are exact.

    Parameters
    ----------
    signs : ndarray of shape (n_samples, n_features)
        -1 or 1.
    sample_weight : ndarray of shape (n_samples,) or None
        Not negative. None: 1 for each sample.

    Returns
    -------
    total : float
    sums : ndarray of shape (n_features,), dtype float64
    products : ndarray of shape (n_features, n_features), dtype float64
    """
    n_samples, n_features = signs.shape
    weights = np.ones(n_samples) if sample_weight is None else sample_weight
    sums, products = np.zeros(n_features), np.zeros((n_features, n_features))
    for start in range(0, n_samples, BLOCK_SIZE):
        block = signs[start : start + BLOCK_SIZE].astype(np.float64)
        weighted = block * weights[start : start + BLOCK_SIZE, None]
        sums += weighted.sum(axis=0)
        products += weighted.T @ block
    return float(weights.sum()), sums, products


def pair_counts(total, first_sums, second_sums, products, alpha):
    """Count the four states of pairs of bits.

    ``alpha`` samples, spread evenly over all possible samples, are added. All pairs
    are counted in the same proper distribution.

    Returns
    -------
    counts : ndarray of shape (2, 2, ...), dtype float64
        The first axis is false or true for the first bit, the second for the second.
    """
    values = np.array([-1, 1]).reshape(2, *[1] * np.ndim(products))
    first, second = values[:, None], values
    counts = total + first * first_sums + second * second_sums
    counts = counts + first * second * products
    # Rounding must not make a count of zero negative.
    return (np.maximum(counts, 0.0) + alpha) / 4


def mutual_information_matrix(signs, sample_weight=None, alpha=0.0):
    """Compute the mutual information of all pairs of bits.

    Parameters
    ----------
    signs : ndarray of shape (n_samples, n_features)
        -1 or 1.
    sample_weight : ndarray of shape (n_samples,) or None
        Not negative. None: 1 for each sample.
    alpha : float
        Number of samples of uniform noise to add, spread evenly.

    Returns
    -------
    information : ndarray of shape (n_features, n_features), dtype float64
        In nats. Symmetric, not negative, 0 on the diagonal.
    """
    total, sums, products = pair_sums(signs, sample_weight)
    joint = pair_counts(total, sums[:, None], sums[None], products, alpha)
    joint /= total + alpha
    first, second = joint.sum(axis=1), joint.sum(axis=0)
    independent = first[:, None] * second[None]
    information = (xlogy(joint, joint) - xlogy(joint, independent)).sum(axis=(0, 1))
    # The formula is symmetric and not negative; rounding is not.
    information = (information + information.T) / 2
    np.fill_diagonal(information, 0.0)
    return np.maximum(information, 0.0)


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


def chow_liu_parents(signs, sample_weight=None, alpha=0.0):
    """Find the tree whose edges have the largest total mutual information.

    Parameters
    ----------
    signs, sample_weight, alpha
        As for ``mutual_information_matrix``.

    Returns
    -------
    parents : ndarray of shape (n_features,), dtype int64
        As of ``maximum_spanning_tree``.
    """
    return maximum_spanning_tree(mutual_information_matrix(signs, sample_weight, alpha))


def log_conditionals(signs, parents, sample_weight=None, alpha=1.0):
    """Estimate the log-probabilities of each bit for both values of its parent.

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
        The second axis is the value of the parent, the third that of the bit. For a
        root, which has no parent, both values of the second axis give the same.
    """
    total, sums, products = pair_sums(signs, sample_weight)
    bits, child = np.arange(len(parents)), parents >= 0
    # The parent of a root is an independent fair coin.
    parent_sums = np.where(child, sums[parents], 0.0)
    with_parent = np.where(child, products[parents, bits], 0.0)
    counts = pair_counts(total, parent_sums, sums, with_parent, alpha)
    return np.log(counts / counts.sum(axis=1, keepdims=True)).transpose(2, 0, 1)


def log_evidence(signs):
    """Compute the log-evidence of the known bits: 0 for possible values, else -inf.

    Returns
    -------
    evidence : ndarray of shape (n_features, n_samples, 2), dtype float64
    """
    evidence = np.zeros((*signs.T.shape, 2))
    evidence[signs.T > 0, 0] = -np.inf
    evidence[signs.T < 0, 1] = -np.inf
    return evidence


@dataclass(frozen=True)
class TreeDistribution:
    """A distribution of bits in which each bit depends on its parent only.

    Sums, maxima and draws are exact: messages are passed along the edges, from each bit
    to its parent for both values of the parent, in logarithms and for all samples in
    parallel.

    Attributes
    ----------
    parents : ndarray of shape (n_features,), dtype int64
        -1 for a root.
    log_tables : ndarray of shape (n_features, 2, 2), dtype float64
        Log-probability of each value (last axis) given each value of the parent. Both
        rows of a root are the same. Finite.
    order : ndarray of shape (n_features,), dtype int64
        Parents before their children.
    """

    parents: np.ndarray
    log_tables: np.ndarray
    order: np.ndarray

    @classmethod
    def from_tables(cls, parents, log_tables):
        """Build the distribution from its parents and log-probabilities."""
        return cls(parents, log_tables, parents_first(parents))

    def copy(self):
        """Copy the distribution with its arrays."""
        return TreeDistribution(*(part.copy() for part in astuple(self)))

    def upward(self, signs, combine=np.logaddexp):
        """Pass messages from the leaves to the roots.

        Parameters
        ----------
        signs : ndarray of shape (n_samples, n_features)
            0 where a bit is missing.
        combine : {numpy.logaddexp, numpy.maximum}
            How to combine the two values of a missing bit: sum or maximum.

        Returns
        -------
        messages : ndarray of shape (n_features, n_samples, 2)
            To the parent, for both values of the parent. Finite.
        below : ndarray of shape (n_features, n_samples, 2)
            Sums of the messages of the children. Finite.
        evidence : ndarray of shape (n_features, n_samples, 2)
            Of the bits themselves.
        """
        evidence = log_evidence(signs)
        messages, below = np.empty_like(evidence), np.zeros_like(evidence)
        for bit in self.order[::-1]:
            table, own = self.log_tables[bit], evidence[bit] + below[bit]
            messages[bit] = combine(own[:, :1] + table[:, 0], own[:, 1:] + table[:, 1])
            if self.parents[bit] >= 0:
                below[self.parents[bit]] += messages[bit]
        return messages, below, evidence

    def log_density(self, signs):
        """Compute the log-probability of the known bits of each sample."""
        messages = self.upward(signs)[0]
        return messages[self.parents < 0, :, 0].sum(axis=0)

    def log_odds(self, signs):
        """Compute the log-odds of each bit given all other known bits of its sample."""
        messages, below, evidence = self.upward(signs)
        above = np.empty_like(below)
        for bit in self.order:
            table, parent = self.log_tables[bit], self.parents[bit]
            if parent < 0:
                above[bit] = table[0]
                continue
            rest = above[parent] + evidence[parent] + below[parent] - messages[bit]
            above[bit] = np.logaddexp(rest[:, :1] + table[0], rest[:, 1:] + table[1])
        both = above + below
        return (both[:, :, 1] - both[:, :, 0]).T

    def complete(self, signs, choose, combine=np.logaddexp):
        """Fill in missing bits from the roots down.

        Parameters
        ----------
        signs : ndarray of shape (n_samples, n_features)
            0 where a bit is missing.
        choose : callable
            Receives the log-odds of a bit in all samples, given its parent and all
            known bits below it. Returns whether the bit is true.
        combine : {numpy.logaddexp, numpy.maximum}
            Sums for draws, maxima for the most probable completion.

        Returns
        -------
        signs : ndarray of shape (n_samples, n_features), dtype int8
            Without zeros.
        """
        _, below, evidence = self.upward(signs, combine)
        true = np.zeros(signs.shape, dtype=np.int8)
        for bit in self.order:
            # Both rows of a root are the same: the column with index -1 may be used.
            scores = evidence[bit] + below[bit]
            scores += self.log_tables[bit][true[:, self.parents[bit]]]
            true[:, bit] = choose(scores[:, 1] - scores[:, 0])
        return 2 * true - 1


class ChowLiuTree(BinaryDensityMixin, BaseEstimator):
    """Density of Boolean samples in which each bit depends on one other bit.

    The tree with the largest likelihood is found exactly, from one matrix product (Chow
    and Liu). All results are exact: messages are passed along the edges of the tree.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing, above 0: weight of the uniform distribution that is mixed with that
        of the samples, as a number of samples. No bit gets probability 0. Raise it for
        small training sets.
    binarize : float or None, default=0.0
        Values above it are true. None requires the codes 0 and 1, or -1 and 1.
    random_state : int, RandomState instance or None, default=None
        Used by ``sample`` and ``impute`` with ``method="sample"``. ``fit`` is
        deterministic.

    Attributes
    ----------
    parents_ : ndarray of shape (`n_features_in_`,), dtype int64
        Column number of the parent of each bit; -1 for the root, which is column 0. The
        density does not depend on the choice of the root.
    probabilities_ : ndarray of shape (`n_features_in_`, 2), dtype float64
        Probability of a true bit if its parent is false, and if it is true. For the
        root both are the same.
    codes_ : ndarray of shape (2,), dtype float64
        The codes of false and true in results: (-1, 1) if all training values were -1
        or 1, else (0, 1).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    BernoulliMixture : Hidden classes instead of a tree; learns with missing bits.

    References
    ----------
    Chow, Liu. "Approximating Discrete Probability Distributions with Dependence
    Trees". IEEE Transactions on Information Theory 14, 1968, section III.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import ChowLiuTree
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]]
    >>> tree = ChowLiuTree(alpha=0.1).fit(X)
    >>> tree.parents_
    array([-1,  0,  0])
    >>> tree.impute([[1, np.nan, 0]]).round(2)
    array([[1.  , 0.99, 0.  ]])
    """

    def __init__(self, *, alpha=1.0, binarize=0.0, random_state=None):
        self.alpha = alpha
        self.binarize = binarize
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None):
        """Find the tree and its probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples without missing bits.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the samples, at least 0. A sample of weight 2 counts as two
            samples.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For invalid parameters and data. The state before the call is kept.
        """
        with restore_on_error(self):
            alpha = check_real(self.alpha, "alpha", 1e-10)
            signs = self._read(X, reset=True, allow_missing=False)
            weights = None
            if sample_weight is not None:
                weights = checked_weights(sample_weight, len(signs), divides=True)
            parents = chow_liu_parents(signs, weights, alpha)
            log_tables = log_conditionals(signs, parents, weights, alpha)
            self._set_state(TreeDistribution.from_tables(parents, log_tables))
        return self

    def _set_state(self, state):
        self._state = state
        self.parents_ = state.parents
        self.probabilities_ = np.exp(state.log_tables[:, :, 1])

    def _log_density(self, signs):
        return self._state.log_density(signs)

    def _log_odds(self, signs):
        return self._state.log_odds(signs)

    def _most_probable(self, signs, rng=None):
        return self._state.complete(signs, lambda odds: odds >= 0, np.maximum)

    def _complete_at_random(self, signs, rng):
        return self._state.complete(
            signs, lambda odds: rng.uniform(size=len(odds)) < expit(odds)
        )
