"""The most likely tree of bits."""

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator

from sklboolean._core.base import restore_on_error
from sklboolean._core.validation import (
    check_finite_sum,
    check_real,
    check_sample_weight,
)
from sklboolean.density._chow_liu import chow_liu_parents, log_conditionals
from sklboolean.density._model import BinaryDensityMixin
from sklboolean.density._tables import read_signs
from sklboolean.density._tree_messages import BitTree


class ChowLiuTree(BinaryDensityMixin, BaseEstimator):
    """Density of Boolean rows in which each bit depends on one other bit.

    The tree of greatest likelihood is found exactly, from one product of matrices
    (Chow and Liu), and every question is answered exactly by messages along its edges.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing, above 0: weight, in rows, of the uniform distribution that is mixed
        with that of the rows. No bit is ever thought impossible.
    binarize : float or None, default=0.0
        A value above it is true. None demands the codes 0 and 1, or -1 and 1.

    Attributes
    ----------
    parents_ : ndarray of shape (`n_features_in_`,), dtype int64
        Column number of each bit's parent; -1 for the root, which is column 0. The
        density does not depend on which bit is the root.
    probabilities_ : ndarray of shape (`n_features_in_`, 2), dtype float64
        Probability of a true bit when its parent is false, and when it is true. The
        root has the same twice.
    codes_ : ndarray of shape (2,), dtype float64
        How rows are written in answers: (-1, 1) when all values learned were -1 or 1,
        else (0, 1).
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

    def __init__(self, *, alpha=1.0, binarize=0.0):
        self.alpha = alpha
        self.binarize = binarize

    def fit(self, X, y=None, sample_weight=None):
        """Find the tree and its probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows without missing bits.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, at least 0; a row of weight 2 counts as two rows.

        Returns
        -------
        self : object
            The fitted model.

        Raises
        ------
        ValueError
            For bad parameters and data. What was learned before is kept.
        """
        with restore_on_error(self):
            alpha = check_real(self.alpha, "alpha", 1e-10)
            signs = read_signs(self, X, reset=True, allow_missing=False)
            weights = None
            if sample_weight is not None:
                weights = check_sample_weight(sample_weight, len(signs))
                check_finite_sum(weights, divides=True)
            self.parents_ = chow_liu_parents(signs, weights, alpha)
            self._log_tables = log_conditionals(signs, self.parents_, weights, alpha)
            self.probabilities_ = np.exp(self._log_tables[:, :, 1])
        return self

    def _tree(self):
        return BitTree(self.parents_, self._log_tables)

    def _log_density(self, signs):
        return self._tree().log_density(signs)

    def _log_odds(self, signs):
        return self._tree().log_odds(signs)

    def _most_probable(self, signs):
        return self._tree().complete(signs, lambda odds: odds >= 0, np.maximum)

    def _complete_at_random(self, signs, rng):
        def draw(odds):
            return rng.uniform(size=len(odds)) < expit(odds)

        return self._tree().complete(signs, draw)
