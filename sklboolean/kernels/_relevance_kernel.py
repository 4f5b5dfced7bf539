"""The kernel over conjunctions of columns, as an object for other kernel models."""

import numpy as np

from sklboolean._core.bits import as_words, unpack_words
from sklboolean._core.conjunction_search import encode_groups
from sklboolean._core.parameters import check_real
from sklboolean._core.validation import check_array_strict, check_boolean_array
from sklboolean._core.versioned import VersionedEstimator
from sklboolean.kernels._frame_columns import FrameColumns
from sklboolean.kernels._relevance_weights import LevelPairs, RelevanceWeights

# Single columns and conjunctions of every length; not the empty conjunction.
LENGTH_WEIGHTS = (0.0, 1.0, 0.0, 0.0, 1.0)


# The object only checks and lays out: `FrameColumns` makes levels of features, and
# `LevelPairs` evaluates the kernel of `RelevanceWeights` on pairs of levels.
class RelevanceKernel(VersionedEstimator):
    """Sum over the conjunctions of columns on which two samples agree.

    A column is a group of features, such as the levels of a category. The kernel of a
    fitted `BooleanGaussianProcessClassifier` is its ``kernel_``. Pass it to another
    kernel model, such as ``SVC`` and `KernelPerceptron`, as the parameter ``kernel``.

    Parameters
    ----------
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; features of one label are one column. None: each
        feature is a column.
    is_threshold : array-like of shape (n_features,), bool, or None, default=None
        The features that are thresholds of their column, such as "age <= 30". None: no
        feature is one.
    relevances : array-like of shape (n_columns,) or None, default=None
        Relevance of each column, at least 0, in the order of the first features of the
        columns. None: 1.
    length_weights : array-like of shape (5,), default=(0.0, 1.0, 0.0, 0.0, 1.0)
        Weights, at least 0, of the empty conjunction, of conjunctions of one, two and
        three columns, and of the normalised sum over conjunctions of every length.
    base : float, default=0.5
        Weight of each further column in the normalised sum, above 0. Larger values
        favour long conjunctions.
    binarize : float or None, default=0.0
        Values above this threshold are true. None accepts only 0 and 1.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    See Also
    --------
    ConjunctionKernel : Conjunctions of features, from packed bits.
    sklboolean.BooleanGaussianProcessClassifier : Learns relevances and weights.

    Notes
    -----
    With u_j, the relevance times the similarity of two samples in column j, and e_d,
    the sum of all products of d different u_j, the kernel is w0 + w1 e1 + w2 e2 + w3 e3
    + w4 prod_j (1 + b u_j) / (1 + b a_j). The similarity is the share of thresholds
    that agree, or 1 without thresholds, if all other features of the column are equal,
    and 0 otherwise.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sklboolean.kernels import RelevanceKernel
    >>> kernel = RelevanceKernel(feature_groups=["a", "a", "b"], relevances=[1.0, 0.5])
    >>> X, y = [[1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 1]], [0, 1, 1, 0]
    >>> kernel(X[:1], X).round(2)
    array([[2.5 , 1.8 , 1.17, 0.53]])
    >>> SVC(kernel=kernel, C=10.0).fit(X, y).predict(X)
    array([0, 1, 1, 0])
    """

    def __init__(
        self, *, feature_groups=None, is_threshold=None, relevances=None,
        length_weights=LENGTH_WEIGHTS, base=0.5, binarize=0.0, n_jobs=None,
    ):  # fmt: skip
        self.feature_groups = feature_groups
        self.is_threshold = is_threshold
        self.relevances = relevances
        self.length_weights = length_weights
        self.base = base
        self.binarize = binarize
        self.n_jobs = n_jobs

    def __call__(self, X, Y=None):
        """Compute the kernel between the samples of ``X`` and of ``Y``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
            Samples of Boolean features: bool, integer or float.
        Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
            None compares ``X`` with itself.

        Returns
        -------
        K : ndarray of shape (n_samples_X, n_samples_Y), dtype float64
            Kernel values.

        Raises
        ------
        ValueError
            For invalid parameters and data, for a column of more than 4096 levels in
            these samples, and for values beyond float64.
        """
        bits = self._bits(X, "X")
        columns = self._columns(bits.shape[1])
        weights = self._weights(len(columns.features))
        levels = columns.levels(bits)
        others = levels
        if Y is not None:
            other_bits = self._bits(Y, "Y")
            if other_bits.shape[1] != bits.shape[1]:
                raise ValueError(
                    f"X has {bits.shape[1]} features and Y has {other_bits.shape[1]}. "
                    "Give samples of the same features."
                )
            others = columns.levels(other_bits)
        with np.errstate(over="ignore"):
            K = LevelPairs(columns, levels, others).matrix(weights, self.n_jobs)
        if not np.isfinite(K).all():
            raise ValueError(
                "Values of the kernel exceed float64. Give smaller relevances, "
                "length_weights or base."
            )
        return K

    def _bits(self, X, name):
        table, n_features = check_boolean_array(X, name, self.binarize)
        return unpack_words(as_words(table), n_features)

    def _columns(self, n_features):
        groups = encode_groups(self.feature_groups, n_features)
        if self.is_threshold is None:
            return FrameColumns.of(groups, np.zeros(n_features, dtype=bool))
        is_threshold = np.asarray(self.is_threshold)
        if is_threshold.dtype != bool or is_threshold.shape != (n_features,):
            raise ValueError(
                f"is_threshold must hold one bool for each of {n_features} features; "
                f"got {self.is_threshold!r}."
            )
        return FrameColumns.of(groups, is_threshold)

    def _weights(self, n_columns):
        relevances = np.ones(n_columns) if self.relevances is None else self.relevances
        lengths = check_not_negative(self.length_weights, "length_weights", 5)
        relevances = check_not_negative(relevances, "relevances", n_columns)
        base = float(check_real(self.base, "base", 0.0, strict=True))
        return RelevanceWeights(lengths, base, relevances)


def check_not_negative(values, name, n_values):
    """Check a parameter that holds numbers of at least 0."""
    values = check_array_strict(values, name, ensure_2d=False, dtype=np.float64)
    if values.shape != (n_values,) or (values < 0).any():
        raise ValueError(
            f"{name} must hold {n_values} numbers of at least 0; got {values.tolist()}."
        )
    return values
