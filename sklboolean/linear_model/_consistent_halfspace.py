"""A halfspace that agrees with every sample, or the proof that there is none."""

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from sklboolean._core.base import DecisionClassifierMixin, restore_on_error
from sklboolean._core.calibration import fit_slope
from sklboolean._core.damage import require_shape
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.exports import ExportMixin
from sklboolean._core.formula import linear_formula
from sklboolean._core.labels import check_two_classes, encode_classes
from sklboolean._core.long_fits import warn_of_long_fit
from sklboolean._core.parameters import check_choice, check_real
from sklboolean._core.sparse_structure import without_duplicates
from sklboolean._core.validation import check_is_fitted, validate_data_strict, warn_user
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import labelled_weights
from sklboolean.linear_model._old_parameters import OF_CONSISTENT_HALFSPACE
from sklboolean.linear_model._separation import (
    least_error_halfspace,
    maximal_margin,
    modified_perceptron,
)

# Each random start is good with a probability of at least 0.15.
MAX_STARTS = 40


@old_parameters(**OF_CONSISTENT_HALFSPACE)
class ConsistentHalfspace(
    ExportMixin, DecisionClassifierMixin, ClassifierMixin, VersionedEstimator
):
    """Separate two classes exactly by a halfspace, or show that none does.

    Parameters
    ----------
    norm : {"l2", "l1"}, default="l2"
        Norm of the weights in which linear programming measures the margin. Use "l1"
        for sparse weights.
    sigma : float or None, default=None
        None: the halfspace of largest margin, by linear programming; if none classifies
        all samples correctly, the one of least total error. A cosine between 0 and 1:
        the modified perceptron of Blum, Frieze, Kannan and Vempala finds a halfspace
        that is correct wherever its margin exceeds ``sigma``, in time that does not
        depend on the margin. Try 0.05; a smaller one takes longer.
    random_state : int, RandomState instance or None, default=None
        Seed of the random starts of the modified perceptron.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The class labels.
    coef_ : ndarray of shape (1, n_features)
        Weights of norm 1 (with the intercept for the modified perceptron).
    intercept_ : ndarray of shape (1,)
        Minus the threshold.
    is_consistent_ : bool
        Whether the halfspace classifies every training sample correctly.
    margin_ : float
        Smallest signed distance of a training sample from the boundary; negative if a
        sample is misclassified. With ``sigma`` the smallest signed cosine.
    margin_bound_ : float or None
        Upper bound on the margin of any halfspace, proved by `sample_weights_`: half
        the distance between two weighted means of the classes. 0 up to rounding if the
        classes cannot be separated, and infinite if one class alone has weight. None
        with ``sigma``.
    sample_weights_ : ndarray of shape (n_samples,) or None
        Weights of the training samples in those means. They add up to one half in each
        class.
    n_mistakes_ : int or None
        Updates of the modified perceptron over all starts.
    n_undecided_ : int or None
        Training samples within ``sigma`` of the boundary.
    calibration_slope_ : float
        Slope of the sigmoid of ``predict_proba``, fitted to the training scores and two
        imagined samples, one classified correctly and one not.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    Warns
    -----
    UserWarning
        Before a fit that is expected to take longer than a minute of one core.
    ConvergenceWarning
        If no halfspace classifies all samples correctly, or with ``sigma`` if none was
        found in 40 starts.

    See Also
    --------
    AveragedPerceptron : For classes that overlap, and for many samples.
    sklboolean.theory.perceptron_mistake_bound : Bound on the mistakes.

    Notes
    -----
    From a good start the modified perceptron makes at most ``ln(n) / sigma**2``
    mistakes over ``n`` weights; a random start is good with a probability of at least
    0.15, so one of 40 is with a probability of 0.998.

    The time of linear programming grows with ``n_samples ** 1.25``, as the proof is
    about all samples at once: 10,000 samples of 30 features take a second.
    ``AveragedPerceptron`` fits a million in that time, without a proof.

    A sample of weight 0 is left out. Other sample weights matter where no halfspace is
    correct: linear programming then weighs the errors.

    References
    ----------
    Blum, Frieze, Kannan, Vempala. "A Polynomial-Time Algorithm for Learning Noisy
    Linear Threshold Functions". Algorithmica 22, 1998.

    Examples
    --------
    >>> from sklboolean import ConsistentHalfspace
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> model = ConsistentHalfspace().fit(X, y)
    >>> model.is_consistent_, round(model.margin_, 3)
    (True, 0.354)
    >>> round(model.margin_bound_, 3)
    0.354
    """

    def __init__(self, *, norm="l2", sigma=None, random_state=None):
        self.norm = norm
        self.sigma = sigma
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X, y, sample_weight=None) -> "ConsistentHalfspace":
        """Find a halfspace that classifies all samples correctly.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Real features.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. The classifier stays as it was.
        """
        with restore_on_error(self):
            self._check_params()
            X, y = validate_data_strict(
                self, X, y, accept_sparse="csr", dtype=np.float64
            )
            if sparse.issparse(X):
                # scipy's abs would add doubled entries up in the user's arrays.
                X = without_duplicates(sparse.csr_array(X))
            check_two_classes(y)
            self.classes_, codes = encode_classes(y)
            weights = labelled_weights(sample_weight, codes, self.classes_)
            weighted = np.flatnonzero(weights)
            if len(weighted) < len(y):
                X, codes, weights = X[weighted], codes[weighted], weights[weighted]
            self._set_fitted_attributes(X, codes, weights, weighted, len(y))
        return self

    def _check_params(self):
        check_choice(self.norm, "norm", ("l2", "l1"))
        if self.sigma is not None:
            check_real(self.sigma, "sigma", 0.0, strict=True, below=1)

    def _set_fitted_attributes(self, X, codes, weights, kept, n_samples):
        signs = np.where(codes == 1, 1.0, -1.0)
        if self.sigma is None:
            self._fit_linprog(X, signs, weights, kept, n_samples)
        else:
            self._fit_perceptron(X, signs)
        w, b = self.coef_[0], self.intercept_[0]
        scores = X @ w + b if self.sigma is None else _cosines(X, w, b)
        self.calibration_slope_ = fit_slope(scores, codes, weights)

    def _linprog(self, X, signs, weights):
        """Find the weights, the intercept, whether they are consistent, the bound."""
        if (signs == signs[0]).all():  # the constant, with any margin
            return np.zeros(X.shape[1]), signs[0], True, (np.inf, np.zeros(len(signs)))
        # One scale for all columns, so that tolerances mean the same for any unit.
        scale = float(abs(X).max()) or 1.0
        separation = maximal_margin(X / scale, signs, self.norm)
        w, b = separation.w / scale, separation.b
        is_consistent = bool((signs * (X @ w + b)).min() > 0)
        if not is_consistent:
            w, b = least_error_halfspace(X / scale, signs, weights / weights.max())
            w = w / scale
        length = np.linalg.norm(w, 1 if self.norm == "l1" else 2)
        length = length if length > 0 else 1.0
        bound = separation.bound * scale, separation.sample_weights
        return w / length, b / length, is_consistent, bound

    def _fit_linprog(self, X, signs, weights, kept, n_samples):
        seconds = (len(signs) / 10_000) ** 1.25 * X.shape[1] / 30
        warn_of_long_fit(self, seconds, "AveragedPerceptron")
        w, b, self.is_consistent_, bound = self._linprog(X, signs, weights)
        self.coef_, self.intercept_ = w[None], np.array([b])
        scores = signs * (X @ self.coef_[0] + self.intercept_[0])
        self.margin_ = float(scores.min())
        self.margin_bound_, self.sample_weights_ = bound[0], np.zeros(n_samples)
        self.sample_weights_[kept] = bound[1]
        self.n_mistakes_, self.n_undecided_ = None, None
        if not self.is_consistent_:
            warn_user(
                "No halfspace classifies all samples correctly (margin_bound_ is "
                f"{self.margin_bound_:.2g}). The one of least total error "
                f"misclassifies {np.count_nonzero(scores <= 0)} of {len(signs)} "
                "samples.",
                ConvergenceWarning,
            )

    def _fit_perceptron(self, X, signs):
        rows, rng = _add_constant(X), check_random_state(self.random_state)
        w, self.n_mistakes_, is_found = modified_perceptron(
            rows, signs, self.sigma, MAX_STARTS, rng
        )
        self.coef_, self.intercept_ = w[None, :-1], w[-1:]
        cosines = _cosines(X, w[:-1], w[-1])
        self.margin_ = float((signs * cosines).min())
        self.is_consistent_ = self.margin_ > 0
        self.n_undecided_ = int(np.count_nonzero(np.abs(cosines) <= self.sigma))
        self.margin_bound_, self.sample_weights_ = None, None
        if not is_found:
            n_wrong = np.count_nonzero(signs * cosines < -self.sigma)
            warn_user(
                f"In {MAX_STARTS} starts no halfspace was found that is correct "
                f"wherever its margin exceeds sigma={self.sigma}; the best "
                f"misclassifies {n_wrong} such samples. Probably none is correct on "
                "all samples: sigma=None would prove it.",
                ConvergenceWarning,
            )

    def decision_function(self, X) -> np.ndarray:
        """Compute the signed distance of each sample from the boundary.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples,), dtype float64
            Positive for the second class. With ``sigma``: cosines.
        """
        check_is_fitted(self)
        X = validate_data_strict(
            self, X, reset=False, accept_sparse="csr", dtype=np.float64
        )
        require_shape(self.coef_, (1, X.shape[1]), "coef_")
        require_shape(self.intercept_, (1,), "intercept_")
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        if self.sample_weights_ is None:
            return _cosines(X, self.coef_[0], self.intercept_[0])
        return X @ self.coef_[0] + self.intercept_[0]

    def _formula(self):
        # Cosines divide the sum by the length of the sample.
        is_sum = self.sample_weights_ is not None
        return linear_formula(self, tie=0) if is_sum else None


def _cosines(X, w, b):
    """Compute the cosine of the weights and each sample with its constant 1."""
    rows = _add_constant(X)
    squares = np.asarray((rows * rows).sum(axis=1)).ravel()
    return rows @ np.append(w, b) / np.sqrt(squares)


def _add_constant(X):
    """Append a 1 to each sample. Samples may be rescaled: only directions count."""
    ones = np.ones((X.shape[0], 1))
    if sparse.issparse(X):
        rows = sparse.hstack([X, ones], format="csr")
    else:
        rows = np.hstack([X, ones])
    # Squares would overflow.
    return normalize(rows, norm="max") if abs(rows).max() > 1e150 else rows
