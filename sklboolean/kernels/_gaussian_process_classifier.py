"""Gaussian process classifier over conjunctions of columns."""

import numpy as np
from sklearn.base import ClassifierMixin

from sklboolean._core.base import (
    DecisionClassifierMixin,
    TableScoreMixin,
    restore_on_error,
)
from sklboolean._core.bits import targets_of
from sklboolean._core.damage import require
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.labels import encode_classes, margins_of_labels
from sklboolean._core.progress import Progress, with_callbacks
from sklboolean._core.weights import labelled_weights
from sklboolean.kernels._evidence import DistinctSamples
from sklboolean.kernels._gaussian_posterior import ExactProcess
from sklboolean.kernels._gaussian_process import GaussianProcess, samples_in_use
from sklboolean.kernels._logistic_posterior import (
    fit_slope_and_offsets,
    logistic_posterior,
)
from sklboolean.kernels._old_parameters import OF_PROCESSES
from sklboolean.kernels._relevance_weights import LevelPairs


@old_parameters(**OF_PROCESSES)
class BooleanGaussianProcessClassifier(
    DecisionClassifierMixin, TableScoreMixin, ClassifierMixin, GaussianProcess
):
    """Gaussian process over all conjunctions of columns, with learned relevances.

    A column is one of the user's data frame: all features that `BooleanEncoder` made of
    it. The similarity of two samples is a weighted sum over the conjunctions of columns
    in which they agree. The weight of each length and the relevance of each column are
    chosen by the evidence, without held-out samples and without tuning. Use it for a
    hundred to some thousand samples of a mixed data frame.

    Parameters
    ----------
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; features of one label are one column. None: columns
        are read from feature names such as those of `BooleanEncoder` ("age <= 30",
        "color = red"); without names each feature is a column.
    max_iter : int, default=15
        Maximum number of steps that change the relevance of each column. 0: all columns
        have the relevance 1, and only the other parameters of the kernel are chosen by
        the evidence.
    binarize : float or None, default=0.0
        Values above this threshold are true. None accepts only 0 and 1.
    random_state : int, RandomState instance or None, default=None
        Seed for the choice of samples, for the relevances and for the projection, if
        not all are used.
    n_jobs : int or None, default=None
        Number of threads that evaluate the kernel. The model does not depend on it.
    verbose : int, default=0
        1 prints a line for each step of the maximisation.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    columns_ : ndarray of shape (n_columns,), dtype object
        Name of each column.
    relevances_ : ndarray of shape (n_columns,), dtype float64
        Relevance of each column, about 1 without evidence; 0 for a constant column.
    kernel_ : RelevanceKernel
        The learned kernel, for other kernel models of the same features.
    length_weights_ : ndarray of shape (5,), dtype float64
        Weights of the empty conjunction, of conjunctions of one, two and three columns,
        and of the normalised sum over conjunctions of every length: the kernel is the
        prior covariance of the log-odds.
    evidence_ : float
        Logarithm of the marginal likelihood of the training labels, in Laplace's
        approximation; with three classes or more the sum over classes against the rest.
        Larger is better: compare it between encodings or groups of the same samples.
    feature_importances_ : ndarray of shape (n_features,), dtype float64
        The share of each feature in the kernel, which adds up to 1. Conjunctions are
        divided equally among their columns, and those among their features.
    leave_one_out_ : ndarray of shape (n_samples,) or (n_samples, n_classes), float64
        The score of each training sample, as from ``decision_function``, by the model
        without the sample; NaN for samples of weight 0.
    label_quality_ : ndarray of shape (n_samples,), dtype float64
        Score of the given label less the best score of another, halved, by the model
        without the sample; negative where another label is more likely. Labels that may
        be wrong have the smallest. NaN for samples of weight 0.
    calibration_slope_ : float
        Slope of the sigmoid or softmax of scores, fitted to scores without the sample;
        about 1.
    intercept_ : ndarray of shape (1,) or (n_classes,), dtype float64
        Added to the posterior mean to make the score.
    n_iter_ : int
        Number of steps of the maximisation.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, if X has them.

    See Also
    --------
    ConjunctionLogisticRegression : Chooses few conjunctions, which can be read.
    BooleanSVC : For many samples, or thousands of columns.
    sklearn.gaussian_process.GaussianProcessClassifier : For real features.

    Notes
    -----
    The relevances are learned on 500 distinct samples at most. The process is exact for
    up to 2000 distinct samples, and takes 8 bytes for each pair of them; of more it is
    projected on 1000 of them.

    With u_j, the relevance times the similarity of two samples in column j, and e_d,
    the sum of all products of d different u_j, the kernel is w0 + w1 e1 + w2 e2 + w3 e3
    + w4 prod_j (1 + b u_j) / (1 + b a_j). The similarity is 1 for equal levels and 0
    for others; for thresholds it is the share of thresholds that are not between the
    two samples. Missing values are a level of their own.

    The kernel has the largest evidence for the labels as standardised real targets; the
    gradient is exact, and all columns have the same relevance first. Several classes
    share the kernel. Its scale for log-odds is the square of the slope that calibrates
    these scores without the sample. Then Newton's method finds the most probable
    log-odds of each class. Their values without the sample are exact for the quadratic
    approximation at the solution.

    The logarithms of weights, relevances and noise have a normal prior. Equal samples
    are merged. A weight is the number of copies of a sample. Where the mean weight,
    without zeros, is below 1, weights are divided by it.

    References
    ----------
    Rasmussen, Williams. "Gaussian Processes for Machine Learning". MIT Press 2006,
    sections 3.4 (Laplace's approximation), 5.4 (evidence, leaving one out) and 6.5
    (least-squares classification).

    Examples
    --------
    >>> from sklboolean import BooleanGaussianProcessClassifier
    >>> from sklboolean.datasets import make_tic_tac_toe
    >>> X, y = make_tic_tac_toe(return_X_y=True)
    >>> model = BooleanGaussianProcessClassifier(random_state=0).fit(X[::4], y[::4])
    >>> bool(model.score(X[1::4], y[1::4]) > 0.95)
    True
    """

    _seconds = 4.8e-4
    _faster = "BooleanSVC or BooleanGradientBoostingClassifier"

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "BooleanGaussianProcessClassifier":
        """Fit the process to labelled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Boolean features.
        y : array-like of shape (n_samples,), default=None
            Labels of two or more classes. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

        Returns
        -------
        self : BooleanGaussianProcessClassifier
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data, and where memory would exceed the bounds.
            The classifier stays as it was.

        Warns
        -----
        UserWarning
            Before a fit that is expected to take longer than a minute of one core.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            self._check_params()
            progress = Progress(self, "step", None, X, y)
            bits, y = self._bits(X, y)
            self.classes_, codes = encode_classes(y)
            weights = labelled_weights(sample_weight, codes, self.classes_)
            used, weights = samples_in_use(weights)
            codes = codes[used]
            labels = np.eye(len(self.classes_))[codes]
            if len(self.classes_) == 2:
                labels = labels[:, 1:]
            left_out, centers = self._fit_process(
                bits[used], labels, codes, weights, progress
            )
            self._calibrate(left_out, centers, codes, weights)
            scores = self._scores(left_out - centers)
            self.leave_one_out_ = np.full((len(y), *scores.shape[1:]), np.nan)
            self.leave_one_out_[used] = scores
            self.label_quality_ = np.full(len(y), np.nan)
            self.label_quality_[used] = margins_of_labels(scores, codes)
            progress.finish()
        return self

    def _fit_process(self, bits, labels, codes, weights, progress):
        """Learn the kernel from standardised labels, then fit the log-odds.

        Returns
        -------
        left_out : ndarray of shape (n_samples, n_scores), float64
            The log-odds of each sample without it.
        centers : ndarray of shape (n_scores,), float64
            The log-odds without samples.
        """
        centers = np.average(labels, axis=0, weights=weights)
        unit = np.sqrt((centers * (1 - centers)).mean()) or 1.0
        targets = (labels - centers) / unit
        learned = self._learn_kernel(bits, targets, weights, progress)
        samples, _ = DistinctSamples.merge(learned.frame.levels, labels, weights)
        slope = slope_of_log_odds(learned, targets, codes, weights)
        kernel = learned.hyperparameters.weights.scaled(slope**2)
        process = learned.process(kernel, self.n_jobs)
        self.evidence_, coef, copies = 0.0, [], np.minimum(weights, 1.0)
        centers, left_out = np.empty(labels.shape[1]), np.empty(labels.shape)
        for k, class_labels in enumerate(labels.T):
            posterior, evidence = logistic_posterior(
                process, samples.target(k), learned.order
            )
            self.evidence_ += evidence
            centers[k] = posterior.center
            coef.append(posterior.posterior.coef)
            left_out[:, k] = posterior.leave_one_out(
                learned.number, class_labels, copies
            )
        self._set_fitted_attributes(learned, kernel, np.hstack(coef))
        return left_out, centers

    def _calibrate(self, left_out, centers, codes, weights):
        """Fit the slope and the intercepts of the probabilities."""
        slope, offsets = fit_slope_and_offsets(left_out, codes, weights)
        if len(offsets) == 2:
            offsets = offsets[1:] - offsets[:1]
        self.calibration_slope_ = slope
        self.intercept_ = centers + offsets / slope

    def _scores(self, means):
        """Compute the scores for posterior means."""
        require(np.size(self.intercept_), "intercept_ is empty")
        scores = means + self.intercept_
        return scores if scores.shape[1] > 1 else scores[:, 0]

    def decision_function(self, X) -> np.ndarray:
        """Compute the score of each sample for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            The posterior mean plus ``intercept_``. Two classes: positive for the second
            one. More: the predicted class has the largest score.
        """
        return self._scores(self._means(X)[0])


def slope_of_log_odds(learned, targets, codes, weights):
    """Fit the slope from least-squares scores without the sample to log-odds.

    Parameters
    ----------
    learned : LearnedKernel
    targets : ndarray of shape (n_samples, n_targets), float64
        Those that the kernel was learned from.
    codes : ndarray of shape (n_samples,), int
    weights : ndarray of shape (n_samples,), float64
    """
    samples, noise = learned.samples.take(learned.chosen), learned.hyperparameters.noise
    pairs = LevelPairs(learned.frame.columns, samples.levels)
    process = ExactProcess(pairs.matrix(learned.hyperparameters.weights))
    used = np.flatnonzero(np.isin(learned.number, learned.chosen))
    number = np.searchsorted(learned.chosen, learned.number[used])
    weights = weights[used]
    left_out = process.posterior(samples, noise).leave_one_out(
        number, targets[used], np.minimum(weights, 1.0), noise
    )
    return fit_slope_and_offsets(left_out, codes[used], weights)[0]
