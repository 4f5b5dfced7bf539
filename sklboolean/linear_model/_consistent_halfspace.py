"""A halfspace that agrees with every example, or the proof that there is none."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.validation import (
    check_choice,
    check_integer,
    check_real,
    check_two_classes,
    encode_classes,
    validate_data_strict,
    without_duplicates,
)
from sklboolean.linear_model._separation import (
    least_error_halfspace,
    maximal_margin,
    modified_perceptron,
)


class ConsistentHalfspace(ClassifierMixin, BaseEstimator):
    """Separate two classes exactly by a halfspace, or show that none does.

    Parameters
    ----------
    solver : {"linprog", "modified_perceptron"}, default="linprog"
        "linprog": the halfspace of largest margin, by linear programming. When none is
        right on all rows, the one of least total error. "modified_perceptron": in time
        that does not depend on the margin, a halfspace that is right wherever its
        margin exceeds ``sigma`` (Blum, Frieze, Kannan, Vempala).
    norm : {"l2", "l1"}, default="l2"
        Norm of the weights in which "linprog" measures the margin. "l1" gives sparse
        weights.
    sigma : float, default=0.05
        "modified_perceptron" only: cosine, between 0 and 1, up to which it promises
        nothing.
    max_starts : int, default=10
        "modified_perceptron" only: random directions to start from.
    abstain_label : same type as the labels or None, default=None
        "modified_perceptron" only: what ``predict`` gives where the margin is at most
        ``sigma``. None: the class of the nearer side.
    random_state : int, RandomState instance or None, default=None
        For the starts of "modified_perceptron".

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels.
    coef_ : ndarray of shape (1, n_features)
        Weights of norm 1 (with the intercept for "modified_perceptron").
    intercept_ : ndarray of shape (1,)
        Minus the threshold.
    is_consistent_ : bool
        Whether the halfspace is right on every training row.
    margin_ : float
        Least signed distance of a training row from the boundary; below 0 when a row
        is wrong. For "modified_perceptron" the least signed cosine.
    margin_bound_ : float or None
        No halfspace has a larger margin, as `row_weights_` prove: the distance between
        two weighted means of the classes, halved. 0 up to rounding when the classes
        cannot be separated. None for "modified_perceptron".
    row_weights_ : ndarray of shape (n_samples,) or None
        Weights of the training rows in those means, one half for each class.
    n_mistakes_ : int or None
        Updates of "modified_perceptron" over all starts.
    n_undecided_ : int or None
        Training rows within ``sigma`` of the boundary, for "modified_perceptron".
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    Warns
    -----
    ConvergenceWarning
        If no halfspace is right on all rows ("linprog"), or if none was found
        ("modified_perceptron").

    See Also
    --------
    AveragedPerceptron : For classes that overlap, and for many rows.
    sklboolean.theory.perceptron_mistake_bound : Mistakes when there is a margin.

    Notes
    -----
    From a good start the modified perceptron makes at most ``ln(n) / sigma**2``
    mistakes over ``n`` weights; a random start is good with a probability of at least
    0.15.

    References
    ----------
    Blum, Frieze, Kannan, Vempala. "A Polynomial-Time Algorithm for Learning Noisy
    Linear Threshold Functions". Algorithmica 22, 1998.

    Examples
    --------
    >>> from sklboolean import ConsistentHalfspace
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> learner = ConsistentHalfspace().fit(X, y)
    >>> learner.is_consistent_, round(learner.margin_, 3)
    (True, 0.354)
    >>> round(learner.margin_bound_, 3)
    0.354
    """

    def __init__(
        self, *, solver="linprog", norm="l2", sigma=0.05, max_starts=10,
        abstain_label=None, random_state=None,
    ):  # fmt: skip
        self.solver = solver
        self.norm = norm
        self.sigma = sigma
        self.max_starts = max_starts
        self.abstain_label = abstain_label
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X, y):
        """Look for a halfspace that is right on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Real features.
        y : array-like of shape (n_samples,)
            Labels of two classes.

        Returns
        -------
        self : object
            The fitted learner.

        Raises
        ------
        ValueError
            For bad parameters and data. What was learned before is kept.
        """
        with restore_on_error(self):
            self._check_parameters()
            X, y = validate_data_strict(
                self, X, y, accept_sparse="csr", dtype=np.float64
            )
            if sparse.issparse(X):
                # scipy's abs would add doubled entries up in the user's arrays.
                X = without_duplicates(sparse.csr_array(X))
            check_two_classes(y)
            self.classes_, codes = encode_classes(y)
            self._check_abstain_label()
            signs = np.where(codes == 1, 1.0, -1.0)
            if self.solver == "linprog":
                self._fit_linprog(X, signs)
            else:
                self._fit_perceptron(X, signs)
        return self

    def _check_parameters(self):
        check_choice(self.solver, "solver", ("linprog", "modified_perceptron"))
        check_choice(self.norm, "norm", ("l2", "l1"))
        check_real(self.sigma, "sigma", 0.0, strict=True)
        if self.sigma >= 1:
            raise ValueError(f"sigma is a cosine below 1; got {self.sigma}.")
        check_integer(self.max_starts, "max_starts", 1)

    def _check_abstain_label(self):
        kind = np.asarray(self.abstain_label).dtype.kind
        if self.abstain_label is not None and kind != self.classes_.dtype.kind:
            raise ValueError(
                f"abstain_label={self.abstain_label!r} must be of the same type as the "
                f"classes {self.classes_.tolist()}."
            )

    def _fit_linprog(self, X, signs):
        # One scale for all columns, so that tolerances mean the same for any unit.
        scale = float(abs(X).max()) or 1.0
        found = maximal_margin(X / scale, signs, self.norm)
        w, b = found.w / scale, found.b
        self.is_consistent_ = bool((signs * (X @ w + b)).min() > 0)
        if not self.is_consistent_:
            w, b = least_error_halfspace(X / scale, signs)
            w = w / scale
        length = np.linalg.norm(w, 1 if self.norm == "l1" else 2)
        length = length if length > 0 else 1.0
        self.coef_, self.intercept_ = (w / length)[None], np.array([b / length])
        scores = signs * (X @ self.coef_[0] + self.intercept_[0])
        self.margin_ = float(scores.min())
        self.margin_bound_, self.row_weights_ = found.bound * scale, found.row_weights
        self.n_mistakes_, self.n_undecided_ = None, None
        if not self.is_consistent_:
            warnings.warn(
                "No halfspace is right on all rows (margin_bound_ is "
                f"{self.margin_bound_:.2g}). The one of least total error is wrong on "
                f"{np.count_nonzero(scores <= 0)} of {len(signs)} rows.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _fit_perceptron(self, X, signs):
        w, self.n_mistakes_, found = modified_perceptron(
            _add_constant(X),
            signs,
            self.sigma,
            self.max_starts,
            check_random_state(self.random_state),
        )
        self.coef_, self.intercept_ = w[None, :-1], w[-1:]
        cosines = self._cosines(X)
        self.margin_ = float((signs * cosines).min())
        self.is_consistent_ = self.margin_ > 0
        self.n_undecided_ = int(np.count_nonzero(np.abs(cosines) <= self.sigma))
        self.margin_bound_, self.row_weights_ = None, None
        if not found:
            n_wrong = np.count_nonzero(signs * cosines < -self.sigma)
            warnings.warn(
                f"In {self.max_starts} starts no halfspace was found that is right "
                f"wherever its margin exceeds sigma={self.sigma}; the best is wrong on "
                f"{n_wrong} such rows. Probably none is right on all rows: "
                "solver='linprog' would prove it. Otherwise raise max_starts.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _cosines(self, X):
        """Return the cosine of each row, with its constant 1, and the weights."""
        rows = _add_constant(X)
        squares = np.asarray((rows * rows).sum(axis=1)).ravel()
        scores = rows @ np.append(self.coef_[0], self.intercept_)
        return scores / np.sqrt(squares)

    def decision_function(self, X):
        """Return the signed distance of each row from the boundary.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples,), dtype float64
            Above 0 for the second class. For "modified_perceptron": cosines.
        """
        check_is_fitted(self)
        X = validate_data_strict(
            self, X, reset=False, accept_sparse="csr", dtype=np.float64
        )
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        if self.row_weights_ is None:
            return self._cosines(X)
        return X @ self.coef_[0] + self.intercept_[0]

    def predict(self, X):
        """Return the label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Among ``classes_``, or ``abstain_label``.
        """
        scores = self.decision_function(X)
        labels = self.classes_[(scores > 0).astype(np.intp)]
        if self.abstain_label is None or self.row_weights_ is not None:
            return labels
        return np.where(np.abs(scores) <= self.sigma, self.abstain_label, labels)


def _add_constant(X):
    """Append a 1 to each row. Only directions count: rows may become shorter."""
    ones = np.ones((X.shape[0], 1))
    if sparse.issparse(X):
        rows = sparse.hstack([X, ones], format="csr")
    else:
        rows = np.hstack([X, ones])
    # Squares would overflow.
    return normalize(rows, norm="max") if abs(rows).max() > 1e150 else rows
