"""Weak regressors, right about an example when they err by no more than a tolerance."""

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import get_tags

from sklboolean._core.meta import draw_seed, fit_clone
from sklboolean.boosting._weak_learners import draw_rows, scaled_to

ROUNDING = 2.0**-40  # relative errors below it say nothing


class AgreementLearner:
    """A weak learner of real values, behind the face of those in `weak`.

    Every row has the same right class, that of agreement up to a tolerance.

    Parameters
    ----------
    base : regressor
        Clones of it are fitted.
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Targets.
    total : float
        What the weights are to add up to, about.
    delta : float or None
        The tolerance. None: set by the first hypothesis.
    share : float
        Share of the weight that the first hypothesis is to be right about, at most 1.
    resample : bool
        Draw rows by weight rather than hand weights over.
    n_draws : int or None
        Rows to draw; None: as many as there are.
    """

    classes = np.array([False, True])  # whether it agrees
    knows_edges = False

    def __init__(self, base, X, y, total, delta, share, *, resample, n_draws):
        self.base, self.X, self.y, self.total = base, X, y, total
        self.delta, self.share = delta, share
        self.resample, self.n_draws = resample, n_draws or len(y)
        self.drawn = []  # rows drawn are not published

    def fit(self, weights, rng, _shown=None):
        """Return a regressor fitted under weights of the rows."""
        seed = draw_seed(rng)
        if self.resample:
            rows, given = draw_rows(weights, self.n_draws, rng), None
        else:
            rows = np.flatnonzero(weights)
            given = scaled_to(self.total, weights)[rows]
        model = fit_clone(self.base, self.X[rows], self.y[rows], seed, given)
        if self.delta is None:
            least = least_tolerance(self._errors_of(model), weights, self.share)
            self.delta = max(least, float(ROUNDING * np.abs(self.y).max()))
        return model

    def codes_of(self, model):
        """Return 1 for each row that a regressor is right about, 0 for the others."""
        return (self._errors_of(model) <= self.delta).astype(np.int8)

    def _errors_of(self, model):
        predictions = model.predict(self.X)
        with np.errstate(over="ignore", invalid="ignore"):
            errors = np.abs(self.y - predictions)
        if errors.shape != self.y.shape or not np.isfinite(errors).all():
            raise ValueError(
                f"estimator must predict one finite number for each row; {model} does "
                "not, or y is so large that differences overflow: scale y down."
            )
        return errors


def least_tolerance(errors, weights, share):
    """Return the least error below or at which a share of the weight lies.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.boosting._tolerance import least_tolerance
    >>> least_tolerance(np.array([3.0, 0.0, 1.0, 2.0]), np.ones(4), 0.75)
    2.0
    """
    order = np.argsort(errors)
    up_to = np.cumsum(weights[order])
    place = np.searchsorted(up_to, share * up_to[-1])
    return float(errors[order[min(place, len(order) - 1)]])


def check_regressor(base):
    """Check that an estimator can be a weak learner of real values."""
    is_estimator = hasattr(base, "fit") and hasattr(base, "predict")
    if isinstance(base, type) or not is_estimator:
        raise ValueError(
            f"estimator must be None or a regressor with fit and predict; got {base!r}."
        )
    if is_classifier(base):
        raise ValueError(
            f"estimator must be a regressor; {base} is a classifier. To boost one, use "
            "a booster for classes."
        )
    if get_tags(base).input_tags.pairwise:
        raise ValueError(
            f"estimator must take features; {base} wants distances or a kernel matrix, "
            "whose columns are rows too. Give it the features and a metric."
        )
