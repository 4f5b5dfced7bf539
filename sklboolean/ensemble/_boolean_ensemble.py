"""An ensemble of models of different kinds, over one encoding of a data frame."""

from warnings import catch_warnings

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.calibration import probabilities
from sklboolean._core.damage import labels_of
from sklboolean._core.feature_names import NamedCsr
from sklboolean._core.held_out import disjoint_test_sets
from sklboolean._core.labels import encode_classes
from sklboolean._core.meta import draw_seed, fit_clone
from sklboolean._core.packed_partitions import PartitionsMixin
from sklboolean._core.parameters import check_n_jobs
from sklboolean._core.validation import take_samples, validate_data_strict
from sklboolean._core.weights import check_sample_weight, labelled_weights
from sklboolean.ensemble._pooling import centered_logits, choose_ridge_C, pool_weights
from sklboolean.kernels import BooleanGaussianProcessClassifier
from sklboolean.preprocessing import BooleanEncoder
from sklboolean.rules import ConjunctionLogisticRegression

# Samples of two classes, and of more. Of more samples a quarter is held out once.
MOST_FOR_FOLDS, MOST_OF_CLASSES = 1000, 500
MOST_FOR_TRIPLES = 128  # features; the number of triples grows with their cube
# Models that learn from columns, whose cost does not grow with bins, and their bins.
FINE_MODELS, N_FINE_BINS = (BooleanGaussianProcessClassifier,), 32


def check_pairs(estimators):
    """Check a list of names and classifiers."""
    pairs = list(estimators)
    if not pairs or not all(
        isinstance(pair, tuple) and len(pair) == 2 and hasattr(pair[1], "predict_proba")
        for pair in pairs
    ):
        raise ValueError(
            "estimators must be a list of one or more (name, classifier) pairs, the "
            f"classifiers with predict_proba; got {estimators!r}."
        )
    return pairs


def take(X, samples):
    """Select samples of a sparse matrix; columns keep their names."""
    selected = X[samples]
    if isinstance(X, NamedCsr):
        selected.feature_names = X.feature_names
    return selected


def pad(shares, known_classes, classes):
    """Add probabilities of 0 of the classes of which a model had no sample."""
    if len(known_classes) == len(classes):
        return shares
    padded = np.zeros((len(shares), len(classes)))
    padded[:, np.searchsorted(classes, known_classes)] = shares
    return padded


def without(X, is_left_out):
    """Set some columns of a sparse Boolean matrix to 0; their names stay."""
    left = X.copy()
    left.data = np.where(is_left_out[left.indices], 0, left.data).astype(X.dtype)
    left.eliminate_zeros()
    if isinstance(X, NamedCsr):
        left.feature_names = X.feature_names
    return left


def fit_member(model, X, labels, classes, weights, folds, seed):
    """Train a model, and predict held-out samples by models that did not see them.

    Returns
    -------
    model : classifier
        Trained on all samples.
    logits : ndarray of shape (n_held_out, n_classes), float64
        Of the test samples of the folds, one fold after the other. No model is trained
        again where the fitted one has such scores: a Gaussian process scores each
        sample without it, and a conjunction model scored them to choose C.
    """
    fitted = fit_clone(model, X, labels, seed, weights)
    tested = np.concatenate([test for _, test in folds])
    for name in ("leave_one_out_", "held_out_scores_"):
        scores = getattr(fitted, name, None)
        if scores is not None and np.isfinite(scores[tested]).all():
            slope = getattr(fitted, "calibration_slope_", 1.0)
            shares = pad(probabilities(scores[tested], slope), fitted.classes_, classes)
            return fitted, centered_logits(shares)
    tables = []
    for train, test in folds:
        of_fold = None if weights is None else weights[train]
        member = fit_clone(model, take(X, train), labels[train], seed, of_fold)
        tables.append(
            pad(member.predict_proba(take(X, test)), member.classes_, classes)
        )
    return fitted, centered_logits(np.concatenate(tables))


class BooleanEnsembleClassifier(PartitionsMixin, ClassifierMixin, BaseEstimator):
    """The classifier to try first on a data frame: three kinds of models, one call.

    The data are encoded once by a `BooleanEncoder`. On the bits are trained a logistic
    regression with an L2 penalty, to which many small effects add up; a
    `ConjunctionLogisticRegression`, which finds the few conjunctions that matter; and a
    `BooleanGaussianProcessClassifier`, which learns the relevance of each column. Their
    log-odds are added up with weights that minimize the loss of held-out samples.
    Nothing is tuned, and `inspection.shapley_values` explains each prediction exactly.

    Parameters
    ----------
    estimators : list of (str, classifier) pairs or None, default=None
        Names and models, which need ``predict_proba`` and get the sparse Boolean
        features. Every ``random_state`` is set. None: "linear", "conjunctions" and
        "process", the three above.
    encoder : BooleanEncoder or None, default=None
        Encodes the data, with ``sparse_output=True``. None: ``BooleanEncoder()``.
        Gaussian processes also get the thresholds of 32 quantiles, if its ``n_bins`` is
        "auto". Sparse X must be Boolean and is not encoded.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the models.
    n_jobs : int or None, default=None
        Number of models that are trained at the same time. The result does not depend
        on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    encoder_ : BooleanEncoder or None
        The fitted encoder; None after sparse X.
    estimators_ : list of classifiers
        The fitted models.
        By default in the order above.
    weights_ : ndarray of shape (n_estimators,), float64
        The factor of the log-odds of each model, above 0.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, if X has them.

    See Also
    --------
    ConjunctionLogisticRegression : A model to read.
    BooleanGaussianProcessClassifier : The most accurate of the three below some
        thousand samples.
    inspection.shapley_values : What each column adds to a prediction.
    sklearn.ensemble.VotingClassifier : Means of probabilities, on one table.

    Notes
    -----
    The sum of weighted log-odds is the logarithmic opinion pool of [1]_. Its log-loss
    is convex in the weights. To the loss of the held-out samples is added
    ``5 * sum(w - m * log(w))``, a gamma prior of the weights w with the mode m: one
    half for a model called "process", one quarter for the others of the default. So few
    samples give weights near m, and many those that predict best.

    Five folds are held out in turn; of more than 1000 samples, or 500 of three or more
    classes, a quarter is held out once. The same folds choose C of the two logistic
    regressions. The Gaussian process scores each sample without it in closed form.
    Conjunctions have up to three literals, with more than 128 Boolean features two: the
    Gaussian process has longer ones. Sample weights count as numbers of copies; where
    their mean is below 1, they are divided by it.

    References
    ----------
    .. [1] T. Heskes. "Selecting Weighting Factors in Logarithmic Opinion Pools". NIPS
       1997, sections 2 and 3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import BooleanEnsembleClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.integers(18, 80, 80), rng.integers(0, 3, 80)])
    >>> y = np.where((X[:, 0] > 40) & (X[:, 1] != 2), "yes", "no")
    >>> model = BooleanEnsembleClassifier(random_state=0).fit(X, y)
    >>> model.predict([[70, 0], [20, 0]])
    array(['yes', 'no'], dtype='<U3')
    """

    def __init__(
        self, estimators=None, *, encoder=None, random_state=None, n_jobs=None
    ):
        self.estimators = estimators
        self.encoder = encoder
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def fit(self, X, y, sample_weight=None) -> "BooleanEnsembleClassifier":
        """Encode the samples and train the models.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            Numbers, categories and missing values, as for `BooleanEncoder`, or Boolean
            features.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

        Returns
        -------
        self : BooleanEnsembleClassifier
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. An earlier fit is kept.
        """
        # The data are encoded once, so all models see the same bits. Each model is
        # fitted on the folds, which gives logits of held-out samples, and then on all
        # samples. The weights of the logits minimize the held-out log-loss.
        with restore_on_error(self):
            check_n_jobs(self.n_jobs)
            X, y, is_coarse = self._encode_training_data(X, y, sample_weight)
            self.classes_, codes = encode_classes(y)
            weights = labelled_weights(sample_weight, codes, self.classes_)
            used = np.flatnonzero(weights)
            fine, codes, weights = take(X, used), codes[used], weights[used]
            X = without(fine, ~is_coarse)
            rng = check_random_state(self.random_state)
            folds = self._folds(codes, rng)
            # Seeds are drawn before tasks are sent, so the fit does not depend on their
            # order.
            n_coarse = int(is_coarse.sum())
            names, models = self._models(X, n_coarse, codes, weights, folds)
            used = None if sample_weight is None else weights
            members = Parallel(n_jobs=self.n_jobs)(
                delayed(fit_member)(
                    model,
                    fine if isinstance(model, FINE_MODELS) else X,
                    self.classes_[codes],
                    self.classes_,
                    used,
                    folds,
                    draw_seed(rng),
                )
                for model in models
            )
            self.estimators_ = [model for model, _ in members]
            tested = np.concatenate([test for _, test in folds])
            logits = np.array([logits for _, logits in members])
            prior = 1.0 + (np.array(names) == "process")
            self.weights_ = pool_weights(logits, codes[tested], weights[tested], prior)
        return self

    def _sample_like(self, X):
        # Columns of any type: only a sample of them tells what they hold.
        is_frame = hasattr(X, "columns")
        return X.head(1, npartitions=-1) if is_frame else super()._sample_like(X)

    def _encode_training_data(self, X, y, sample_weight):
        """Check the data, and encode all but sparse samples.

        Thresholds and levels are those of the samples with weight.

        Returns
        -------
        bits : sparse matrix of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
        is_coarse : ndarray of shape (n_features,), dtype bool
            The features that all models learn from.
        """
        if sparse.issparse(X):
            self.encoder_ = None
            X, y = validate_data_strict(self, X, y, accept_sparse="csr")
            return X, y, np.ones(X.shape[1], dtype=bool)
        encoder = BooleanEncoder() if self.encoder is None else clone(self.encoder)
        self.encoder_ = encoder.set_params(sparse_output=True)
        if sample_weight is None or y is None:
            data = X, y, None
        else:
            weights = check_sample_weight(sample_weight, len(y))
            shown = np.flatnonzero(weights)
            data = take_samples(X, shown), take_samples(y, shown), weights[shown]
        models = [] if self.estimators is None else check_pairs(self.estimators)
        has_fine = not models or any(isinstance(m, FINE_MODELS) for _, m in models)
        if has_fine and (encoder.n_bins, encoder.strategy) == ("auto", "quantile"):
            is_coarse = encoder._fit_finely(*data, N_FINE_BINS)
        else:
            encoder.fit(*data)
            is_coarse = np.ones(len(encoder.order_), dtype=bool)
        with catch_warnings(action="ignore"):  # of levels that are left out
            bits = encoder.transform(X)
        _, y = validate_data_strict(self, bits, y, accept_sparse="csr")
        del self.feature_names_in_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.encoder_, name):
                setattr(self, name, getattr(self.encoder_, name))
        return bits, y, is_coarse

    def _encode(self, X):
        check_is_fitted(self)
        if self.encoder_ is None or sparse.issparse(X):
            X = validate_data_strict(self, X, reset=False, accept_sparse="csr")
        if self.encoder_ is None:
            return X
        return self.encoder_.transform(X.toarray() if sparse.issparse(X) else X)

    @staticmethod
    def _folds(codes, rng):
        """Split the samples into five folds, or hold out a quarter of many."""
        most = MOST_FOR_FOLDS if codes.max() == 1 else MOST_OF_CLASSES
        n_folds = 5 if len(codes) <= most else None
        everything = np.arange(len(codes))
        tests = disjoint_test_sets(codes, n_folds, rng)
        if not tests:
            raise ValueError(
                "y has one sample of each class; a class needs two, of which one is "
                "held out to weigh the models."
            )
        return [(np.setdiff1d(everything, test), test) for test in tests]

    def _models(self, X, n_features, codes, weights, folds):
        """List the names of the models, and the models.

        ``n_features`` of the columns of X are not empty.
        """
        if (codes == codes[0]).all():
            return ("prior",), (DummyClassifier(),)
        if self.estimators is not None:
            return zip(*check_pairs(self.estimators), strict=True)
        C = choose_ridge_C(X.astype(np.float64), codes, weights, folds)
        longest = 3 if n_features <= MOST_FOR_TRIPLES else 2
        return (
            ("linear", "conjunctions", "process"),
            (
                LogisticRegression(C=C, max_iter=1000),
                ConjunctionLogisticRegression(cv=folds, max_literals=longest),
                BooleanGaussianProcessClassifier(),
            ),
        )

    def _logits(self, X):
        """Compute the weighted sums of the logits of the models."""
        X = self._encode(X)
        return sum(
            weight
            * centered_logits(
                pad(model.predict_proba(X), model.classes_, self.classes_)
            )
            for weight, model in zip(self.weights_, self.estimators_, strict=True)
        )

    def decision_function(self, X) -> np.ndarray:
        """Compute the log-odds, or with more than two classes a score for each.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            As for ``fit``.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes), float64
            For two classes the log-odds of the second. The softmax of more scores gives
            the probabilities.
        """
        logits = self._logits(X)
        return logits if logits.shape[1] > 2 else logits[:, 1] - logits[:, 0]

    def predict_proba(self, X) -> np.ndarray:
        """Estimate the probability of each class.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            As for ``fit``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype float64
        """
        return softmax(self._logits(X), axis=1)

    def predict_log_proba(self, X) -> np.ndarray:
        """Compute the logarithm of ``predict_proba``.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            As for ``fit``.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes), dtype float64
        """
        return log_softmax(self._logits(X), axis=1)

    def predict(self, X) -> np.ndarray:
        """Predict the label of each sample.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            As for ``fit``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The most probable class.
        """
        codes = self._logits(X).argmax(axis=1)
        return labels_of(self.classes_, codes)
