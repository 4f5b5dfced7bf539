"""Gaussian process regressor over conjunctions of columns."""

import numpy as np
from sklearn.base import RegressorMixin

from sklboolean._core.base import TableScoreMixin, restore_on_error
from sklboolean._core.bits import targets_of
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.parameters import check_choice
from sklboolean._core.progress import Progress, with_callbacks
from sklboolean._core.weights import checked_weights
from sklboolean.kernels._gaussian_process import GaussianProcess, samples_in_use
from sklboolean.kernels._old_parameters import OF_PROCESSES


@old_parameters(**OF_PROCESSES)
class BooleanGaussianProcessRegressor(TableScoreMixin, RegressorMixin, GaussianProcess):
    """Gaussian process over all conjunctions of columns, for real targets.

    The same process as that of `BooleanGaussianProcessClassifier`: weights of the
    lengths of conjunctions and a relevance of each column of the user's frame are
    chosen by the evidence.

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
    columns_ : ndarray of shape (n_columns,), dtype object
        Name of each column.
    relevances_ : ndarray of shape (n_columns,), dtype float64
        Relevance of each column, about 1 without evidence; 0 for a constant column.
    kernel_ : RelevanceKernel
        The learned kernel, for other kernel models of the same features.
    length_weights_ : ndarray of shape (5,), dtype float64
        Weights of the empty conjunction, of conjunctions of one, two and three columns,
        and of the normalised sum over conjunctions of every length.
    noise_ : float
        Variance of the noise, in units of the variance of y.
    evidence_ : float
        Logarithm of the marginal likelihood of y, standardised. Larger is better:
        compare it between encodings or groups of the same samples.
    feature_importances_ : ndarray of shape (n_features,), dtype float64
        The share of each feature in the kernel, which adds up to 1. Conjunctions are
        divided equally among their columns, and those among their features.
    leave_one_out_ : ndarray of shape (n_samples,), dtype float64
        Prediction for each training sample by the model without it; NaN for samples of
        weight 0.
    n_iter_ : int
        Number of steps of the maximisation.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, if X has them.

    See Also
    --------
    BooleanGaussianProcessClassifier : For labels; its notes define the kernel.
    sklearn.gaussian_process.GaussianProcessRegressor : For real features.

    References
    ----------
    Rasmussen, Williams. "Gaussian Processes for Machine Learning". MIT Press 2006,
    chapter 2 and section 5.4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import BooleanGaussianProcessRegressor
    >>> X = np.random.default_rng(0).integers(0, 2, (60, 5))
    >>> y = 3.0 * X[:, 0] + X[:, 1] * X[:, 2]
    >>> model = BooleanGaussianProcessRegressor(random_state=0).fit(X, y)
    >>> model.predict([[1, 0, 1, 0, 1], [1, 1, 1, 0, 1]]).round(1)
    array([3., 4.])
    """

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "BooleanGaussianProcessRegressor":
        """Fit the process to samples with real targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Boolean features.
        y : array-like of shape (n_samples,), default=None
            Targets. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

        Returns
        -------
        self : BooleanGaussianProcessRegressor
            The fitted regressor.

        Raises
        ------
        ValueError
            For invalid parameters and data, and where memory would exceed the bounds.
            The regressor stays as it was.

        Warns
        -----
        UserWarning
            Before a fit that is expected to take longer than a minute of one core.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            self._check_params()
            progress = Progress(self, "step", None, X, y)
            bits, y = self._bits(X, y, y_numeric=True)
            weights = checked_weights(sample_weight, len(y))
            used, weights = samples_in_use(weights)
            targets = self._standardize(np.asarray(y, np.float64)[used], weights)
            learned = self._learn_kernel(bits[used], targets, weights, progress)
            hyperparameters, samples = learned.hyperparameters, learned.samples
            process = learned.process(hyperparameters.weights, self.n_jobs)
            posterior = process.posterior(samples, hyperparameters.noise)
            sums = posterior.coef, posterior.removed, posterior.added
            self._set_fitted_attributes(learned, hyperparameters.weights, *sums)
            self.noise_, self.evidence_ = hyperparameters.noise, posterior.log_evidence
            copies = np.minimum(weights, 1.0)
            self.leave_one_out_ = np.full(len(y), np.nan)
            self.leave_one_out_[used] = self._to_units_of_y(
                posterior.leave_one_out(
                    learned.number, targets, copies, hyperparameters.noise
                )
            )
            progress.finish()
        return self

    def _standardize(self, y, weights):
        """Subtract the mean and divide by the standard deviation."""
        largest = np.abs(y).max() or 1.0  # squares may leave float64
        y = y / largest
        center = np.average(y, weights=weights)
        unit = np.sqrt(np.average((y - center) ** 2, weights=weights)) or 1.0
        self._center, self._unit = center * largest, unit * largest
        return ((y - center) / unit)[:, None]

    def _to_units_of_y(self, means):
        return means[:, 0] * self._unit + self._center

    def predict(self, X, return_std=False):
        """Predict the posterior mean of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.
        return_std : bool, default=False
            Whether to return the standard deviation of the mean too, without the noise.

        Returns
        -------
        y : ndarray of shape (n_samples,), dtype float64
            The predictions. With ``return_std=True`` a tuple: these and the standard
            deviations, of the same shape.
        """
        check_choice(return_std, "return_std", (True, False))
        means, variances = self._means(X, with_variances=return_std)
        y = self._to_units_of_y(means)
        if not return_std:
            return y
        return y, self._unit * np.sqrt(np.maximum(variances, 0.0))
