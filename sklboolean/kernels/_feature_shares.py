"""The part of each feature in a kernel model, from the weights of its conjunctions.

A kernel that weighs conjunctions by length makes the score
``f(x) = sum of c_i K(v_i, x) = sum of w_T over the conjunctions T that x satisfies``.
Each conjunction is shared equally among its features. Among the conjunctions that two
samples with s common literals share, feature j of these literals gets
``(K(s) - K(0)) / s``, so no conjunction is ever listed.
"""

# `self.shares[s]` is (K(s) - K(0)) / s over 2**exponent, computed from exact integers.
# For a block of samples, counts of shape (n_block, n_support) look it up; literal j of
# sample x then gets sum_i c_i shares[s_i] over the support samples that agree with x in
# j: a product of (n_block, n_support) by (n_support, n_features).

import numpy as np
from scipy import sparse

from sklboolean._core.bits import unpack_words
from sklboolean._core.validation import check_is_fitted, validate_boolean
from sklboolean.kernels._count_table import near_one, split_integers
from sklboolean.kernels._kernels import (
    ConjunctionKernel,
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
)
from sklboolean.kernels._soft_margin import BitKernel

# Kernels with nonnegative weights of conjunctions by their length.
CONJUNCTION_KERNELS = ConjunctionKernel, LinearKernel, PolynomialKernel, RBFKernel
BLOCK_ENTRIES = 2**22  # of a matrix of counts


class FeatureShares:
    """Shares of features in sums of a kernel over samples.

    Parameters
    ----------
    kernel : kernel object
        One of `CONJUNCTION_KERNELS`; its normalisation is left out.
    n_features : int
    table : ndarray of uint64 words, or csr_array
        The support samples.

    Attributes
    ----------
    exponent : int
        Shares are divided by ``2**exponent``.
    """

    def __init__(self, kernel, n_features, table):
        self.n_features = n_features
        self.samples = self._as_numbers(table)
        self.ones = np.asarray(self.samples.sum(axis=1)).astype(np.int64)
        formula = kernel.formula(n_features, int(self.ones.max(initial=0)))
        self.is_monotone = formula.count == "common"
        constant = formula.numerator(0)
        gains = [formula.numerator(s) - constant for s in range(formula.max_count + 1)]
        values, self.exponent = near_one(*split_integers(gains, -formula.scale))
        self.shares = values / np.maximum(np.arange(len(values)), 1)

    def _as_numbers(self, table):
        if sparse.issparse(table):
            return sparse.csr_array(table, dtype=np.float64)
        return unpack_words(table, self.n_features).astype(np.float64)

    def _blocks(self, table):
        """Yield blocks of samples and their shares of each common literal."""
        step = max(1, BLOCK_ENTRIES // max(1, len(self.ones), self.n_features))
        for first in range(0, table.shape[0], step):
            block = self._as_numbers(table[first : first + step])
            counts = block @ self.samples.T
            counts = counts.toarray() if sparse.issparse(counts) else counts
            counts = counts.astype(np.int64)
            if not self.is_monotone:
                ones = np.asarray(block.sum(axis=1)).astype(np.int64)
                counts = self.n_features - ones[:, None] - self.ones + 2 * counts
            block = block.toarray() if sparse.issparse(block) else block
            yield slice(first, first + len(block)), block, self.shares[counts]

    def _of_literals(self, block, weights, samples):
        """Sum up weights of the support samples that agree with each literal."""
        # Agreement in a true feature; for literals of both signs also in a false one.
        sums = weights @ samples
        shares = block * sums
        if not self.is_monotone:
            shares += (1 - block) * (weights.sum(axis=1)[:, None] - sums)
        return shares

    def of_scores(self, coef, table, deciding=None):
        """Share ``coef @ K(samples, table)``, less that of the empty conjunction.

        Parameters
        ----------
        coef : ndarray of shape (n_scores, n_support), float64
        table : ndarray of uint64 words, or csr_array
        deciding : ndarray of shape (n_samples, n_classes), int64, or None
            The score that decides about each sample and class, counted from 1, negative
            where it is that of the other class. None: the scores are those of classes.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes, n_features)
            Over ``2**exponent``.
        """
        if deciding is None:
            deciding = np.tile(np.arange(1, 1 + len(coef)), (table.shape[0], 1))
        shares = np.empty((*deciding.shape, self.n_features))
        for rows, block, weights in self._blocks(table):
            for k, c in enumerate(coef, 1):
                used, (i, j) = np.flatnonzero(c), np.nonzero(abs(deciding[rows]) == k)
                here = weights[np.ix_(i, used)] * c[used]
                literal_shares = self._of_literals(block[i], here, self.samples[used])
                shares[rows][i, j] = (
                    literal_shares * np.sign(deciding[rows][i, j])[:, None]
                )
        return shares

    def of_norm(self, coef, table):
        """Share the sum of squared weights; ``table`` holds the support samples."""
        shares = np.zeros(self.n_features)
        for rows, block, weights in self._blocks(table):
            for c in coef:
                used, i = np.flatnonzero(c), np.flatnonzero(c[rows])
                products = weights[np.ix_(i, used)] * c[used] * c[rows][i, None]
                literal_shares = self._of_literals(
                    block[i], products, self.samples[used]
                )
                shares += literal_shares.sum(axis=0)
        return np.maximum(shares, 0.0)  # rounding


class FeatureSharesMixin:
    """The support samples of kernel classifiers, and what they say of single features.

    For classes with ``kernel_``, ``dual_coef_`` and ``_score_factors``.
    """

    @property
    def feature_importances_(self):
        """Share of each feature in the squared weights of all conjunctions.

        An ndarray of shape (`n_features_in_`,), dtype float64, of sum 1; all 0 for a
        constant model. The squared norm of the model is a sum of squared weights of
        conjunctions. Each is shared equally among the features of the conjunction, and
        the scores of several classes are added up. For the linear kernel this is the
        squared weight of the feature, as in recursive feature elimination (Guyon et
        al. 2002). Only for kernels that weigh conjunctions by length: "conjunction",
        "linear", "poly" and "rbf".
        """
        table = self._support_table("feature_importances_")
        shares = FeatureShares(self.kernel_, self.n_features_in_, table)
        scale = np.abs(self.dual_coef_).max(initial=0.0) or 1.0
        coef = self.dual_coef_ / (scale * self._kernel_norms(table))
        importances = shares.of_norm(coef, table)
        return importances / (importances.sum() or 1.0)

    def feature_contributions(self, X) -> np.ndarray:
        """Compute the part of each feature in the scores of samples.

        A score is a sum of weights of the conjunctions that the sample satisfies. The
        weight of each is shared equally among its features. These are the Shapley
        values of the score, for kernels without negated features beside the sample in
        which every feature is false.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features), dtype float64
            Their sum is the score of ``decision_function`` less a part that no feature
            has: the intercept and the empty conjunction. With more than two classes of
            shape (n_samples, n_classes, n_features); of a `BooleanSVC` with
            ``multi_class="ovo"`` for the score of each class against its strongest
            rival. Parts below 2**-1000 of the largest may become 0.

        Raises
        ------
        AttributeError
            For kernels that do not weigh conjunctions by length, and votes.
        """
        support = self._support_table("feature_contributions")
        table = validate_boolean(self, X, reset=False)
        shares = FeatureShares(self.kernel_, self.n_features_in_, support)
        coef = self.dual_coef_ / self._kernel_norms(support)
        contributions = shares.of_scores(coef, table, self._deciding_scores(table))
        factors, exponent = self._score_factors(table)
        factors = factors / self._kernel_norms(table)
        contributions = (
            np.ldexp(contributions, shares.exponent + exponent) * factors[:, None, None]
        )
        return contributions if len(self.classes_) > 2 else contributions[:, 0]

    def _set_support(self, kernel, support, table):
        """Set the attributes that hold the kernel and the support samples."""
        is_sparse = sparse.issparse(table)
        self.kernel_ = kernel
        self.support_, self.n_support_ = support, len(support)
        self.support_words_ = None if is_sparse else table
        self.support_rows_ = table if is_sparse else None

    def _deciding_scores(self, table):
        """Find the score that decides about each sample and class, or None."""

    def _kernel_norms(self, table):
        """Compute sqrt(K(x, x)) of each sample for a normalised kernel, else 1."""
        if not getattr(self.kernel_, "normalize", False):
            return np.ones(table.shape[0])
        return BitKernel(self.kernel_, self.n_features_in_, table).norms()

    def _support_table(self, name):
        """Return the support samples, or raise the error for a missing attribute."""
        check_is_fitted(self)
        if getattr(self, "average", None) == "voted":
            raise AttributeError(f"{name} needs a sum of scores, not average='voted'.")
        if not isinstance(self.kernel_, CONJUNCTION_KERNELS):
            raise AttributeError(
                f"{name} exists for kernels that weigh conjunctions by length, such as "
                f"'conjunction'; the kernel is {self.kernel_!r}."
            )
        return self._state.table
