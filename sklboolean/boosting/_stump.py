"""The decision stump over Boolean features."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.formulas import feature_name_of
from sklboolean._core.validation import (
    check_sample_weight,
    encode_classes,
    validate_boolean,
)
from sklboolean.boosting._columns import StumpTable
from sklboolean.boosting._literals import best_stump, class_signs, side_weights


def publish_stump(learner, stump, sides):
    """Set the fitted attributes of a `BooleanStump` that knows its classes.

    Parameters
    ----------
    learner : BooleanStump
    stump : Stump
    sides : ndarray of shape (2, n_classes), dtype object
        Weight of each class where the feature is false and where it is true.
    """
    if stump.feature < 0:
        sides = np.stack([sides[0], sides[0]])
    learner.feature_, learner.edge_ = stump.feature, stump.edge
    learner.side_classes_ = learner.classes_[[stump.if_false, stump.if_true]]
    # Python divides integers of any size and rounds once.
    shares = sides / sides.sum(axis=1, keepdims=True)
    learner.side_probabilities_ = shares.astype(np.float64)
    learner.rule_ = rule_text(learner)


def rule_text(learner):
    """Write a fitted stump in words."""
    if_false, if_true = learner.side_classes_.tolist()
    if learner.feature_ < 0:
        return f"always {if_true}"
    name = feature_name_of(learner, learner.feature_)
    if learner.binarize:
        name = f"{name} > {learner.binarize:g}"
    return f"{if_true} if {name} else {if_false}"


class BooleanStump(ClassifierMixin, BaseEstimator):
    """Decide by one Boolean feature, the best under weights.

    The weak learner for boosting over Boolean features: of all features, their
    negations and the constants the one that is right on the most weight. With more
    than two classes each side of a feature predicts its heaviest class.

    Parameters
    ----------
    binarize : float or None, default=0.0
        A value above it is true. None: X must hold nothing but 0 and 1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, those of rows without weight included.
    feature_ : int
        The feature that decides; -1 when a constant is at least as good as all.
    side_classes_ : ndarray of shape (2,)
        The labels predicted where the feature is false and where it is true.
    side_probabilities_ : ndarray of shape (2, n_classes), dtype float64
        The shares of the classes in the weight of either side.
    edge_ : float
        The share of the weight on which the stump is right, less 1/2.
    rule_ : str
        The stump in words.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    sklearn.tree.DecisionTreeClassifier : With ``max_depth=1``, a stump that chooses
        by impurity, so that both sides may predict the same class.

    Notes
    -----
    Weights are added up and compared exactly: sums of float64 are taken as integers of
    as many bits as it needs. So a row of weight 3 equals three rows, a row of weight 0
    is none, and the order of rows does not matter, to the last bit. Of stumps that are
    equally good a constant wins, then the lowest feature; of classes the first.

    A stump that is best under weights w has, in boosting by majority, the largest edge
    gamma that this class of weak hypotheses offers for the round.

    References
    ----------
    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    PhD thesis, University of California, Santa Cruz, 1993, chapter 2.

    Examples
    --------
    >>> from sklboolean import BooleanStump
    >>> X = [[1, 0], [0, 1], [1, 1], [0, 0], [1, 0]]
    >>> y = ["yes", "no", "yes", "no", "no"]
    >>> stump = BooleanStump().fit(X, y)
    >>> stump.rule_
    'yes if x0 else no'
    >>> stump.edge_
    0.3
    >>> stump.fit(X, y, sample_weight=[1, 1, 1, 1, 6]).rule_
    'always no'
    """

    def __init__(self, *, binarize=0.0):
        self.binarize = binarize

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # Two sides name two classes at most, so that a third one is always wrong.
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X, y, sample_weight=None):
        """Find the best stump.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features; a value above ``binarize`` is true.
        y : array-like of shape (n_samples,)
            Labels. With only one class the stump is that constant.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Finite and at least 0; a number is the weight of every row. None: 1.

        Returns
        -------
        self : object
            The fitted stump.

        Raises
        ------
        ValueError
            For bad data, negative weights, or weights that are all 0. What was fitted
            before is kept.
        """
        with restore_on_error(self):
            table, y = validate_boolean(self, X, y)
            self.classes_, codes = encode_classes(y, min_classes=1)
            weights = check_sample_weight(sample_weight, len(codes))
            columns = StumpTable.from_boolean(table, self.n_features_in_)
            n_classes = len(self.classes_)
            stump = best_stump(columns, class_signs(codes, n_classes), weights)
            truth = columns.choose(stump.feature, 0, 1)
            sides = side_weights(truth, codes, weights, n_classes)
            publish_stump(self, stump, sides)
        return self

    def predict(self, X):
        """Return the label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as for ``fit``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            One of ``side_classes_``.
        """
        sides = self._sides(X)
        return self.side_classes_[sides]

    def predict_proba(self, X):
        """Return the share of each class in the training weight of a row's side.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as for ``fit``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype float64
            Rows of ``side_probabilities_``; the predicted class has the largest.
        """
        sides = self._sides(X)
        return self.side_probabilities_[sides]

    def _sides(self, X):
        """Return for each row 1 where the feature is true, else 0."""
        check_is_fitted(self)
        table = validate_boolean(self, X, reset=False)
        if self.feature_ < 0:
            return np.zeros(table.shape[0], dtype=np.intp)
        if sparse.issparse(table):
            return table[:, [self.feature_]].toarray().ravel().astype(np.intp)
        word, bit = divmod(self.feature_, 64)
        return (table[:, word] >> np.uint64(bit) & np.uint64(1)).astype(np.intp)
