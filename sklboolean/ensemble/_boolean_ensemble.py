"""An ensemble of classifiers of different kinds, over one encoding of a data frame."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state

from sklboolean._core.base import TableScoreMixin, restore_on_error
from sklboolean._core.bits import targets_of
from sklboolean._core.calibration import probabilities
from sklboolean._core.labels import encode_classes
from sklboolean._core.parameters import check_n_jobs, check_real, is_auto
from sklboolean._core.progress import Progress, with_callbacks
from sklboolean._core.weights import labelled_weights
from sklboolean.boosting import BooleanGradientBoostingClassifier
from sklboolean.ensemble._ensemble import (
    MANY_CLASSES,
    MOST_FOR_TRIPLES,
    BooleanEnsemble,
    check_pairs,
    draw_folds,
    take,
    tree_models,
    without,
)
from sklboolean.ensemble._pool import ClassifierPool, logits_of, pad
from sklboolean.ensemble._pooling import (
    centered_logits,
    choose_ridge_C,
    estimate_label_noise,
    pool_weights,
)
from sklboolean.kernels import BooleanGaussianProcessClassifier
from sklboolean.rules import ConjunctionLogisticRegression

# Of more samples trees take the place of the Gaussian process, and from some on there
# is no linear model.
MOST_FOR_PROCESS, MOST_FOR_LINEAR = 2000, 20_000
# Of three classes and more, trees stand beside the process of more samples than this.
MOST_WITHOUT_TREES = 500


class Logits:
    """Centered logits, the scores that a pool of classifiers adds up.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
    """

    def __init__(self, classes):
        self.classes = classes

    def of_samples(self, model, X):
        """Compute the logits of samples."""
        return logits_of(model, X, self.classes)

    def of_scores(self, model, scores):
        """Compute the logits of scores."""
        slope = getattr(model, "calibration_slope_", 1.0)
        shares = pad(probabilities(scores, slope), model.classes_, self.classes)
        return centered_logits(shares)


class BooleanEnsembleClassifier(TableScoreMixin, ClassifierMixin, BooleanEnsemble):
    """The classifier to try first on a data frame: models of several kinds, one call.

    The data are encoded once by a `BooleanEncoder`. On the bits are trained a logistic
    regression with an L2 penalty, to which many small effects add up; a
    `ConjunctionLogisticRegression`, which finds the few conjunctions that matter; and a
    `BooleanGaussianProcessClassifier`, which learns the relevance of each column. With
    more than 2000 samples models of boosted trees take the place of the process, of six
    classes or more the place of all, and the ensemble is a formula, which `to_sql`
    writes. With more than 500 samples of three classes or more they are added. The
    log-odds of the models are added up with weights that minimize the loss of held-out
    samples. Nothing is tuned, and `inspection.shapley_values` explains each prediction
    exactly.

    Parameters
    ----------
    estimators : list of (str, classifier) pairs or None, default=None
        Names and models, which need ``predict_proba`` and get the sparse Boolean
        features. Every ``random_state`` is set. None: "linear" (up to 20,000 samples),
        "conjunctions", and "process" or "trees", those above; "trees" alone of six
        classes or more.
    encoder : BooleanEncoder or None, default=None
        Encodes the data, with ``sparse_output=True``. None: ``BooleanEncoder()``.
        Gaussian processes and trees also get the thresholds of 32 quantiles, of more
        than 2000 samples of 128, if its ``n_bins`` is "auto". Sparse X is not
        encoded: its values above 0 are true.
    monotonic_cst : dict, array-like of shape (n_columns,) or None, default=None
        1 for a column whose growth must not lower the log-odds of the second class, -1
        where it must not raise it, else 0. A dict maps names of columns of X. The
        models are then those of conjunctions, of single features, and boosted trees, or
        ``estimators`` that have this parameter. For two classes.
    label_noise : float or "auto", default=0.0
        Share of the training labels that are wrong, below ``1 - 1 / n_classes``; each
        other class takes the place of a label as often. Probabilities are then those of
        the right labels; at 0, those of labels as they come. Look at some of the labels
        again to learn the share. "auto" estimates it, and the estimate is too low: use
        it if labels are wrong and none can be checked.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the models.
    n_jobs : int or None, default=None
        Number of models that are trained at the same time. The result does not depend
        on it.
    verbose : int, default=0
        1 prints a line for each model.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    encoder_ : BooleanEncoder or None
        The fitted encoder; None after sparse X or a `BitTable`.
    estimators_ : list of classifiers
        The fitted models.
        By default in the order above.
    weights_ : ndarray of shape (n_estimators,), float64
        The factor of the log-odds of each model, above 0.
    label_noise_ : float
        The share of wrong labels that was assumed or estimated.
    n_samples_fit_ : int
        Number of training samples with weight.
    feature_counts_ : ndarray of shape (n_features,), dtype int64
        Number of them in which each feature of ``encoder_`` is
        true, for `inspection.monitor`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, if X has them.

    See Also
    --------
    ConjunctionLogisticRegression : A model to read.
    BooleanGaussianProcessClassifier : The most accurate of the three below some
        thousand samples.
    inspection.shapley_values : Contribution of each column to a prediction.
    sklearn.ensemble.VotingClassifier : Means of probabilities, on one table.

    Notes
    -----
    The sum of weighted log-odds is the logarithmic opinion pool of [1]_. Its log-loss
    is convex in the weights. To the loss of the held-out samples is added
    ``5 * sum(w - m * log(w))``, a gamma prior of the weights w with the mode m. The
    modes add up to 1, and models called "process" or "trees" have twice that of others.
    So few samples give weights near m, and many those that predict best.

    With ``label_noise`` e, the probability p of a label to be right enters the loss as
    ``(1 - e) * p + e / (n_classes - 1) * (1 - p)``, the probability of the label as it
    came. This is the forward correction of [2]_, of the weights alone. "auto" takes the
    mean of rates up to .44, by the likelihood that the best weights give to each. On 18
    tables of 1000 samples it was .08 where a fifth of the labels were wrong, .06 where
    a tenth, .01 where none.

    Five folds are held out in turn; of more than 1000 samples, or 500 of three or more
    classes, a quarter is held out once. The same folds choose C of the two logistic
    regressions. The Gaussian process scores each sample without it in closed form.
    Conjunctions have up to three literals, with more than 128 Boolean features two: the
    Gaussian process has longer ones. For two classes, two models of trees have up to 5
    leaves and two up to 20; for three classes or more four have 20. With more than 2000
    samples of six classes or more three have 31, and these are all models. Sample
    weights count as numbers of copies; where their mean is below 1, they are divided by
    it.

    References
    ----------
    .. [1] T. Heskes. "Selecting Weighting Factors in Logarithmic Opinion Pools". NIPS
       1997, sections 2 and 3.
    .. [2] G. Patrini, A. Rozza, A. Menon, R. Nock, L. Qu. "Making Deep Neural Networks
       Robust to Label Noise: a Loss Correction Approach". CVPR 2017.

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

    _member_method = "predict_proba"

    def __init__(
        self, estimators=None, *, encoder=None, monotonic_cst=None, label_noise=0.0,
        random_state=None, n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.estimators = estimators
        self.encoder = encoder
        self.monotonic_cst = monotonic_cst
        self.label_noise = label_noise
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "BooleanEnsembleClassifier":
        """Encode the samples and train the models.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            A data frame or array of numbers, categories and missing values, as for
            `BooleanEncoder`, or Boolean features.
        y : array-like of shape (n_samples,), default=None
            Labels of two or more classes. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: those of a `BitTable`, else 1.

        Returns
        -------
        self : BooleanEnsembleClassifier
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. An earlier fit is kept.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            check_n_jobs(self.n_jobs)
            progress = Progress(self, "model", None, X, y)
            X, y, is_coarse = self._encode_training_data(X, y, sample_weight)
            self.classes_, codes = encode_classes(y)
            most = 1 - 1 / max(len(self.classes_), 2)
            if not (is_estimated := is_auto(self.label_noise, "label_noise")):
                check_real(self.label_noise, "label_noise", 0, below=most)
            weights = labelled_weights(sample_weight, codes, self.classes_)
            used = np.flatnonzero(weights)
            fine, codes, weights = take(X, used), codes[used], weights[used]
            X = without(fine, ~is_coarse)
            rng = check_random_state(self.random_state)
            folds = draw_folds(codes, rng)
            n_coarse = int(is_coarse.sum())
            named = self._models(X, n_coarse, codes, weights, folds)
            names, self.estimators_, logits = self._fit_members(
                named, X, fine, self.classes_[codes],
                None if sample_weight is None else weights, folds, rng,
                Logits(self.classes_), progress,
            )  # fmt: skip
            tested = np.concatenate([test for _, test in folds])
            prior = 1.0 + np.isin(names, ("process", "trees"))
            pool = logits, codes[tested], weights[tested], prior
            noise = estimate_label_noise(*pool) if is_estimated else self.label_noise
            self.label_noise_ = float(noise)
            self.weights_, _ = pool_weights(*pool, self.label_noise_)
            progress.finish()
        return self

    @property
    def _pool(self):
        pool = ClassifierPool(self.estimators_, self.weights_, self.classes_)
        pool.reads_values = self.encoder_ is None
        return pool

    def _models(self, X, n_features, codes, weights, folds):
        """List the names of the models with the models.

        ``n_features`` of the columns of X are not empty.
        """
        if (codes == codes[0]).all():
            return [("prior", DummyClassifier())]
        if self.estimators is not None:
            return self._directed(check_pairs(self.estimators, self._member_method))
        is_small, n_classes = len(codes) <= MOST_FOR_PROCESS, codes.max() + 1
        # Of few samples trees of 20 leaves are as good for many classes as for three.
        n_modelled = min(n_classes, 3) if is_small else n_classes
        trees = tree_models(BooleanGradientBoostingClassifier, n_modelled)
        if not is_small and n_classes >= MANY_CLASSES:
            return self._directed(trees)
        longest = 3 if n_features <= MOST_FOR_TRIPLES else 2
        conjunctions = ConjunctionLogisticRegression(cv=folds, max_literals=longest)
        models = [("conjunctions", conjunctions)]
        is_free = self.monotonic_cst is None
        if not is_free:
            linear = ConjunctionLogisticRegression(cv=folds, max_literals=1)
            models = [("linear", linear), *models]
        elif len(codes) <= MOST_FOR_LINEAR:
            C = choose_ridge_C(X.astype(np.float64), codes, weights, folds)
            models = [("linear", LogisticRegression(C=C, max_iter=1000)), *models]
        if is_free and is_small:
            models.append(("process", BooleanGaussianProcessClassifier()))
            if n_classes > 2 and len(codes) > MOST_WITHOUT_TREES:
                models += trees
        else:
            # Of few samples small trees are as good (measured on five tables).
            models += trees if is_free or not is_small else trees[::2]
        return self._directed(models)

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
        X = self._encode(X)
        return self._pool.decision_function(X)

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
        X = self._encode(X)
        return self._pool.predict_proba(X)

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
        X = self._encode(X)
        return self._pool.predict_log_proba(X)

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
        X = self._encode(X)
        return self._pool.predict(X)
