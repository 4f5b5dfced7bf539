"""BooleanGradientBoostingClassifier: boosted trees for classes."""

import numpy as np
from sklearn.base import ClassifierMixin

from sklboolean._core.base import LogOddsMixin, TableScoreMixin, restore_on_error
from sklboolean._core.bits import targets_of
from sklboolean._core.labels import encode_classes
from sklboolean._core.progress import Progress, with_callbacks
from sklboolean._core.validation import validate_boolean
from sklboolean._core.weights import labelled_weights
from sklboolean.boosting._gradient_boosting import GradientBoosting
from sklboolean.boosting._tree_losses import LogisticLoss, SoftmaxLoss


class BooleanGradientBoostingClassifier(
    TableScoreMixin, LogOddsMixin, ClassifierMixin, GradientBoosting
):
    """Boosted small trees on Boolean features, which are a sum of conjunctions.

    Each tree takes a Newton step on the log-loss: it splits the samples by one feature
    after the other, where the loss falls most, and adds a value to the score in each
    leaf. A leaf is the conjunction of the features on its path. So the fitted model is
    a weighted sum of conjunctions, which explanations, smallest changes, SQL, C, Python
    and ONNX read like any other. The number of trees is chosen on held-out samples.

    Parameters
    ----------
    learning_rate : float, default=0.1
        Factor of the values of the leaves, above 0.
    max_iter : int, default=1000
        Maximum number of trees, of more than two classes for each class.
    max_leaf_nodes : int, default=10
        Maximum number of leaves of a tree, at least 2.
    min_samples_leaf : int, default=10
        Minimum number of training samples in a leaf.
    l2_regularization : float, default=5.0
        Added to the curvature of the loss in each leaf, at least 0.
    max_features : float, default=0.2
        Share of the features that may split a leaf, drawn anew for each; above 0.
    n_iter_no_change : int or None, default=30
        Training ends when the held-out loss has not fallen for so many rounds, and the
        model keeps the trees up to the least loss. None: no samples are held out, and
        there are ``max_iter`` rounds.
    validation_fraction : float, default=0.15
        Share of the samples that is held out, of each class.
    monotonic_cst : array-like of shape (n_features,), dict or None, default=None
        1 for a column whose growth must not lower the log-odds of the second class,
        -1 where it must not raise it, else 0. A dict maps names of the columns before a
        `BooleanEncoder`, or of features. An array has an entry for each feature, which
        becomes true. For two classes.
    interaction_cst : {"pairwise", "no_interactions"}, iterable of sets or None, \
default=None
        Sets of columns that may meet in a tree's path, by the names of columns before
        the encoder, or by numbers of features. Columns that no set names are one more
        set. "pairwise": any two columns; "no_interactions": each column by itself.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, multiplied by ``sample_weight``. "balanced": in inverse
        proportion to class frequencies.
    binarize : float or None, default=0.0
        Threshold for binarizing: values above it are true. None: X must hold zeros and
        ones.
    random_state : int, RandomState instance or None, default=None
        Draws the held-out samples and the features of each tree. Pass an int for
        reproducible results.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.
    verbose : int, default=0
        1 prints a line for every 50 rounds, 2 for each.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_iter_ : int
        Number of rounds of the model.
    validation_loss_ : ndarray of shape (n_rounds,) or None
        Mean log-loss of the held-out samples after each round that was played. None if
        none are held out.
    feature_importances_ : ndarray of shape (`n_features_in_`,), dtype float64
        Share of each feature in the gains of all splits.
    n_samples_fit_ : int
        Number of training samples with weight.
    feature_counts_ : ndarray of shape (`n_features_in_`,), dtype int64
        Number of them in which each feature is true, for `inspection.monitor`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    BooleanGradientBoostingRegressor : The same for numbers.
    ConjunctionLogisticRegression : Few conjunctions, with a proof of optimality.
    sklearn.ensemble.HistGradientBoostingClassifier : Boosted trees on numbers.

    Notes
    -----
    Slopes and curvatures are rounded to whole numbers of up to 30 binary digits, so all
    sums are exact and the model does not depend on the number of threads.

    References
    ----------
    J. Friedman. "Greedy Function Approximation: A Gradient Boosting Machine". Annals
    of Statistics 29, 2001.

    T. Chen, C. Guestrin. "XGBoost: A Scalable Tree Boosting System". KDD 2016, section
    2.2 (the gain of a split).

    G. Ke and others. "LightGBM: A Highly Efficient Gradient Boosting Decision Tree".
    NeurIPS 2017, section 4 (features that exclude each other share a byte).

    Examples
    --------
    >>> from sklboolean.boosting import BooleanGradientBoostingClassifier
    >>> from sklboolean.datasets import make_monks
    >>> data = make_monks(1, as_frame=True)
    >>> model = BooleanGradientBoostingClassifier(random_state=0)
    >>> model.fit(data.data, data.target).score(data.data, data.target)
    1.0
    """

    def __init__(
        self, learning_rate=0.1, *, max_iter=1000, max_leaf_nodes=10,
        min_samples_leaf=10, l2_regularization=5.0, max_features=0.2,
        n_iter_no_change=30, validation_fraction=0.15, monotonic_cst=None,
        interaction_cst=None, class_weight=None, binarize=0.0, random_state=None,
        n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.class_weight = class_weight
        self.binarize = binarize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "BooleanGradientBoostingClassifier":
        """Fit the trees.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Boolean features.
        y : array-like of shape (n_samples,), default=None
            Labels of two classes or more. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

        Returns
        -------
        self : BooleanGradientBoostingClassifier
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. An earlier fit is kept.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            params = self._check_params()
            progress = Progress(self, "round", self.max_iter, X, y, every=50)
            samples, y = validate_boolean(self, X, y)
            self.classes_, codes = encode_classes(y)
            weights = labelled_weights(
                sample_weight, codes, self.classes_, self.class_weight
            )
            loss, targets = LogisticLoss(), codes.astype(np.float64)
            if len(self.classes_) > 2:
                loss, targets = SoftmaxLoss(len(self.classes_)), codes
            self._boost(samples, targets, weights, codes, loss, params, progress)
        return self
