"""The Chow-Liu tree: the most likely distribution in which bits depend in pairs.

The functions on spanning trees and pair counts also serve the combination machine,
whose inputs may form a tree.
"""

# Steps of a fit to complete samples (Chow, Liu 1968):
# 1. `pair_sums`: one matrix product X'X of the signs, float64, of which the counts of
#    the four states of every pair follow.
# 2. `mutual_information_matrix` of all pairs, smoothed by alpha uniform samples.
# 3. The spanning tree of the largest total information (Prim). The root is column 0.
# 4. `log_conditionals`: the smoothed probabilities of each bit given its parent.
# With missing bits or groups of columns: `fit_forest`, where pairs are counted in the
# samples in which both are known, and EM with exact sums finds the probabilities.
#
# `TreeDistribution` answers questions about bits by messages along the edges, in
# logarithms, for all samples at once: arrays of shape (n_features, n_samples, 2).
# `ForestMixture` does so for attributes of any number of values. Both have `log_sums`,
# `means`, `draw` and `tables`. They are not one class because their sums round
# differently: fitted models must keep their bits.

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlogy
from sklearn.utils import gen_batches

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import targets_of
from sklboolean._core.damage import require_shape
from sklboolean._core.deprecation import Gone, old_parameters
from sklboolean._core.memory import check_free
from sklboolean._core.parameters import check_real
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import checked_weights
from sklboolean.density._attribute_forest import (
    AttributeForest,
    Attributes,
    ForestMixture,
)
from sklboolean.density._base import BinaryDensityMixin
from sklboolean.density._packed_signs import merge_equal_samples
from sklboolean.density._spanning_tree import maximum_spanning_tree, parents_first

BLOCK_SIZE = 4096
CELLS_AT_A_TIME = 2**16  # pairs whose counts are in the cache
BITS_AT_A_TIME = 2**22  # as numbers
TOL = 1e-5  # nats per sample
MAX_ITER = 200  # of EM


def check_pairs(n_values):
    """Refuse sums over all pairs of columns, or of their values, that are too many."""
    remedy = "Select columns first, or take a BernoulliMixture."
    what = f"A tree compares all pairs of columns: those of {n_values} columns"
    check_free(3 * 8 * n_values**2, what, remedy)


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
    check_pairs(n_features)
    weights = np.ones(n_samples) if sample_weight is None else sample_weight
    sums, products = np.zeros(n_features), np.zeros((n_features, n_features))
    for start in range(0, n_samples, BLOCK_SIZE):
        block = signs[start : start + BLOCK_SIZE].astype(np.float64)
        weighted = block * weights[start : start + BLOCK_SIZE, None]
        sums += weighted.sum(axis=0)
        products += weighted.T @ block
    return float(weights.sum()), sums, products


def edge_sums(parents, signs, sample_weight=None):
    """Sum up weights, bits, and products of each bit with its parent.

    Parameters
    ----------
    parents : ndarray of shape (n_features,), dtype int64
        -1 for a root, whose product is 0.
    signs, sample_weight
        As for ``pair_sums``.

    Returns
    -------
    total : float
    sums, products : ndarrays of shape (n_features,), dtype float64
    """
    n_samples, n_features = signs.shape
    weights = np.ones(n_samples) if sample_weight is None else sample_weight
    (sums, products), child = np.zeros((2, n_features)), parents >= 0
    step = max(1, BITS_AT_A_TIME // n_features)
    for start in range(0, n_samples, step):
        block = signs[start : start + step].astype(np.float64)
        weighted = block * weights[start : start + step, None]
        sums += weighted.sum(axis=0)
        both = weighted[:, child] * block[:, parents[child]]
        products[child] += both.sum(axis=0)
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
    information = products  # block by block, each of which is read before
    for here in gen_batches(len(sums), max(1, CELLS_AT_A_TIME // len(sums))):
        counts = pair_counts(total, sums[here, None], sums, products[here], alpha)
        joint = counts / (total + alpha)
        first, second = joint.sum(axis=1), joint.sum(axis=0)
        independent = first[:, None] * second[None]
        terms = xlogy(joint, joint) - xlogy(joint, independent)
        information[here] = terms.sum(axis=(0, 1))
    # The formula is symmetric and not negative; rounding is not.
    information = (information + information.T) / 2
    np.fill_diagonal(information, 0.0)
    return np.maximum(information, 0.0)


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
    total, sums, products = edge_sums(parents, signs, sample_weight)
    # The parent of a root is an independent fair coin.
    parent_sums = np.where(parents >= 0, sums[parents], 0.0)
    counts = pair_counts(total, parent_sums, sums, products, alpha)
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
    """

    parents: np.ndarray
    log_tables: np.ndarray

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
            Evidence of the bits themselves.
        """
        n = signs.shape[1]
        require_shape(self.log_tables, (n, 2, 2), "log_tables")
        require_shape(self.parents, (n,), "parents")
        evidence = log_evidence(signs)
        messages, below = np.empty_like(evidence), np.zeros_like(evidence)
        # Children come first: all messages to a bit are there when it sends its own.
        for bit in parents_first(self.parents)[::-1]:
            table, logs = self.log_tables[bit], evidence[bit] + below[bit]
            sums = logs[:, :1] + table[:, 0], logs[:, 1:] + table[:, 1]
            messages[bit] = combine(*sums)
            if self.parents[bit] >= 0:
                below[self.parents[bit]] += messages[bit]
        return messages, below, evidence

    def tables(self):
        """List the log-probabilities of each bit; a root has one row of them."""
        pairs = zip(self.log_tables, self.parents, strict=True)
        return [table[: 1 if parent < 0 else 2] for table, parent in pairs]

    def log_sums(self, signs):
        """Compute the log-probability of the known bits of each sample."""
        messages = self.upward(signs)[0]
        return messages[self.parents < 0, :, 0].sum(axis=0)

    def log_odds(self, signs):
        """Compute the log-odds of each bit given all other known bits of its sample."""
        messages, below, evidence = self.upward(signs)
        above = np.empty_like(below)
        for bit in parents_first(self.parents):
            table, parent = self.log_tables[bit], self.parents[bit]
            if parent < 0:
                above[bit] = table[0]
                continue
            outside = above[parent] + evidence[parent] + below[parent] - messages[bit]
            above[bit] = np.logaddexp(
                outside[:, :1] + table[0], outside[:, 1:] + table[1]
            )
        # Evidence of the bit itself is in neither: the odds are given all other bits.
        both = above + below
        return (both[:, :, 1] - both[:, :, 0]).T

    def means(self, signs):
        """Compute the mean sign of each bit given the known bits of its sample."""
        return np.where(signs == 0, 2 * expit(self.log_odds(signs)) - 1, signs)

    def draw(self, signs, rng):
        """Draw the missing bits of each sample given its known bits."""
        return self.complete(
            signs, lambda odds: rng.uniform(size=len(odds)) < expit(odds)
        )

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
        for bit in parents_first(self.parents):
            # Both rows of a root are the same: the column with index -1 may be used.
            scores = evidence[bit] + below[bit]
            scores += self.log_tables[bit][true[:, self.parents[bit]]]
            true[:, bit] = choose(scores[:, 1] - scores[:, 0])
        return 2 * true - 1


def known_value_counts(attributes, signs, weights):
    """Count pairs of values, in the samples in which both attributes are known."""
    check_pairs(int(attributes.sizes.sum()))
    allowed = attributes.allowed(signs)
    n_allowed = np.add.reduceat(allowed, attributes.first_values, axis=1, dtype=int)
    is_known = np.repeat(n_allowed == 1, attributes.sizes, axis=1)
    counts = np.zeros((allowed.shape[1],) * 2)
    for here in gen_batches(len(allowed), BLOCK_SIZE):
        values = (allowed[here] & is_known[here]).astype(np.float64)
        counts += (values * weights[here, None]).T @ values
    return counts


def fit_forest(signs, weights, attributes, alpha, max_iter=MAX_ITER):
    """Find the Chow-Liu tree of attributes, from samples with missing bits.

    The tree has the largest total mutual information; that of two attributes is
    estimated from the samples in which both are known. The probabilities given the tree
    maximise the smoothed likelihood of the known bits: EM with exact sums (Dempster,
    Laird, Rubin), which takes one step if no bit is missing.

    Parameters
    ----------
    signs : ndarray of shape (n_samples, n_features)
        0 where a bit is missing.
    weights : ndarray of shape (n_samples,), dtype float64
    attributes : Attributes
    alpha : float
        Weight of the uniform distribution, as a number of samples.
    max_iter : int
        Of EM.

    Returns
    -------
    mixture : ForestMixture
        With one component, normalised.
    """
    counts, slices = known_value_counts(attributes, signs, weights), attributes.slices
    total = weights.sum()
    parents = maximum_spanning_tree(attributes.mutual_information(counts, alpha))
    pairs = []
    # Of each edge only the counts of its own pairs are needed from here on.
    for here, parent in zip(slices, parents, strict=True):
        pair = counts[slices[parent], here] if parent >= 0 else counts.diagonal()[here]
        pairs.append(np.atleast_2d(pair))
    mixture, before = _normalised_forest(pairs, parents, attributes, alpha), -np.inf
    if signs.all():
        return mixture
    for _ in range(max_iter):
        objective, pairs = _expected_pairs(mixture, signs, weights)
        for here, table in zip(slices, mixture.forest.tables, strict=True):
            logs = table + mixture.exponents[:, here]
            objective += alpha * logs.mean()
        if objective - before < TOL * total:
            break
        mixture = _normalised_forest(pairs, parents, attributes, alpha)
        before = objective
    return mixture


def _normalised_forest(pairs, parents, attributes, alpha):
    """Compute the most likely forest from counts of each value and its parent's."""
    tables, roots = [], np.zeros((1, attributes.sizes.sum()))
    for attribute, pair in enumerate(pairs):
        smoothed = pair + alpha / pair.size
        logs = np.log(smoothed / smoothed.sum(axis=1, keepdims=True))
        if parents[attribute] < 0:
            roots[:, attributes.slices[attribute]] = logs
            logs = np.zeros_like(logs)
        tables.append(logs)
    forest = AttributeForest(attributes, parents, tables)
    return ForestMixture(forest, np.zeros(1), roots)


def _expected_pairs(mixture, signs, weights):
    """Count each value and its parent's, expected given the known bits: the E-step."""
    forest, log_likelihood, pairs = mixture.forest, 0.0, None
    for here in gen_batches(len(signs), BLOCK_SIZE):
        allowed = forest.attributes.allowed(signs[here])
        cases = np.where(allowed, mixture.exponents, -np.inf)
        scores, *messages = forest.upward(cases)
        log_likelihood += float(weights[here] @ scores)
        _, more = forest.downward(*messages, weights[here])
        pairs = more if pairs is None else list(map(np.add, pairs, more))
    return log_likelihood, pairs


@old_parameters(max_iter=Gone(200, "Leave it out: EM ends when it has converged."))
class ChowLiuTree(BinaryDensityMixin, VersionedEstimator):
    """Density of Boolean samples in which each bit depends on one other bit.

    The tree with the largest likelihood is found exactly, from one matrix product (Chow
    and Liu). All results are exact: messages are passed along the edges of the tree.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing, above 0: weight of the uniform distribution that is mixed with that
        of the samples, as a number of samples. No bit gets probability 0. Raise it for
        small training sets.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each column. Exactly one of the columns with one label is true, in
        training data, likelihoods, samples and completions: they are the values of one
        attribute. A label that occurs once is a column of its own.
    binarize : float or None, default=0.0
        Values above it are true. None requires the codes 0 and 1, or -1 and 1.
    random_state : int, RandomState instance or None, default=None
        Used by ``sample`` and ``impute`` with ``method="sample"``. ``fit`` is
        deterministic.

    Attributes
    ----------
    parents_ : ndarray of shape (`n_features_in_`,), dtype int64
        Column number of the parent of each bit; -1 for the root, which is column 0. The
        density does not depend on the choice of the root. With `feature_groups`: the
        first column of the attribute on which that of the column depends.
    probabilities_ : ndarray of shape (`n_features_in_`, 2), dtype float64, or list
        Probability of a true bit if its parent is false, and if it is true. For the
        root both are the same. With `feature_groups`: for each attribute, in the order
        of their first columns, an array with the probability of each of its values in
        the columns, and a row for each value of its parent, or one for the root.
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

    _learns_with_gaps = True
    _max_iter = MAX_ITER  # of EM, where bits are missing

    def __init__(
        self, *, alpha=1.0, feature_groups=None, binarize=0.0, random_state=None
    ):
        self.alpha = alpha
        self.feature_groups = feature_groups
        self.binarize = binarize
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None) -> "ChowLiuTree":
        """Find the tree and its probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit. The tree is then found from the pairs of bits that are
            both known, and its probabilities maximise the smoothed likelihood of the
            known bits (EM). This is unbiased if bits are missing regardless of their
            values.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For invalid parameters and data. The state before the call is kept.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            alpha = check_real(self.alpha, "alpha", 1e-10)
            signs = self._read(X, reset=True)
            weights = None
            if sample_weight is not None:
                weights = checked_weights(sample_weight, len(signs))
            self._set_state(self._fit_tree(signs, weights, alpha))
        return self

    def _fit_tree(self, signs, weights, alpha):
        if self._attributes is None and signs.all():
            parents = chow_liu_parents(signs, weights, alpha)
            log_tables = log_conditionals(signs, parents, weights, alpha)
            return TreeDistribution(parents, log_tables)
        attributes = self._attributes or Attributes(np.arange(signs.shape[1]))
        first, weights = merge_equal_samples(signs, weights)
        signs, weights = signs[first], weights.astype(np.float64)
        mixture = fit_forest(signs, weights, attributes, alpha, self._max_iter)
        if self._attributes is not None:
            return mixture
        tables = [np.broadcast_to(table, (2, 2)) for table in mixture.tables()]
        return TreeDistribution(mixture.parents, np.stack(tables))

    def _set_state(self, state):
        self._state = state
        if self._attributes is None:
            self.parents_ = state.parents
            self.probabilities_ = np.exp(state.log_tables[:, :, 1])
            return
        attributes = self._attributes
        firsts = np.append(attributes.columns[attributes.first_columns], -1)
        self.parents_ = firsts[state.parents][attributes.of_column]
        self.probabilities_ = [np.exp(table) for table in state.tables()]

    def _fields(self):
        parents, tables = self._state.parents, self._state.tables()
        return super()._fields() | {"parents": parents, "log_probabilities": tables}

    def _log_density(self, signs):
        return self._state.log_sums(signs)

    def _complete_by_means(self, signs, rng=None):
        return self._state.means(signs)

    def _log_odds(self, signs):
        return self._state.log_odds(signs)

    def _complete_by_most_probable(self, signs, rng=None):
        if self._attributes is not None:
            return super()._complete_by_most_probable(signs)
        return self._state.complete(signs, lambda odds: odds >= 0, np.maximum)

    def _complete_at_random(self, signs, rng):
        return self._state.draw(signs, rng)
