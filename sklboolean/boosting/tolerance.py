"""Weak regressors, right about an example when they err by no more than a tolerance."""

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import get_tags

from sklboolean.boosting.agreement import fit_under_weights

__all__ = ["ROUNDING", "WeakRegressor", "check_regressor", "least_tolerance"]

ROUNDING = 2.0**-40  # relative errors below it say nothing


class WeakRegressor:
    """A weak learner of real values: called with weights, it returns a hypothesis.

    Parameters
    ----------
    base : regressor
        Clones of it are fitted.
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Targets.
    rng : RandomState
        Source of randomness.
    n_draws : int or None
        Rows to draw for each hypothesis; None passes the weights.
    delta : float or None
        The tolerance. None: set by the first hypothesis.
    share : float
        Share of the weight that the first hypothesis is to be right about, at most 1.
    """

    def __init__(self, base, X, y, rng, n_draws, delta, share):
        self.base, self.X, self.y, self.rng = base, X, y, rng
        self.n_draws, self.delta, self.share = n_draws, delta, share

    def __call__(self, weights):
        """Return a fitted clone and the examples that it is right about, as bools."""
        X, y = self.X, self.y
        model = fit_under_weights(self.base, X, y, weights, self.rng, self.n_draws)
        predictions = model.predict(X)
        with np.errstate(over="ignore", invalid="ignore"):
            errors = np.abs(y - predictions)
        if errors.shape != y.shape or not np.isfinite(errors).all():
            raise ValueError(
                f"estimator must predict one finite number for each row; {model} does "
                "not, or y is so large that differences overflow: scale y down."
            )
        if self.delta is None:
            floor = ROUNDING * np.abs(y).max()
            self.delta = max(least_tolerance(errors, weights, self.share), float(floor))
        return model, errors <= self.delta


def least_tolerance(errors, weights, share):
    """Return the least error below or at which a share of the weight lies.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.boosting.tolerance import least_tolerance
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
