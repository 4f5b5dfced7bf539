"""The width that gamma="scale" chose, which scikit-learn does not publish."""

import numpy as np
from scipy import sparse
from scipy.optimize import minimize_scalar

from sklboolean._core.validation import check_array_strict

N_TRIES, N_STEPS = 200, 12


def scale_gamma(X, n_features):
    """Return gamma="scale" for the training rows: 1 / (n_features * variance).

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The training rows.
    n_features : int
    """
    X = check_array_strict(X, accept_sparse="csr", dtype=np.float64, name="X")
    if X.shape[1] != n_features:
        raise ValueError(
            f"X has {X.shape[1]} features, but the model was fitted on {n_features}."
        )
    if sparse.issparse(X):
        variance = (X.multiply(X)).mean() - X.mean() ** 2
    else:
        variance = X.var()
    return 1.0 / (n_features * variance) if variance else 1.0


def recover_gamma(model, queries, support, coefficients, values):
    """Find gamma="scale" from the scores of some rows.

    One unknown and many scores: least squares over a grid, then Gauss-Newton steps.
    The caller checks that the scores come out.

    Parameters
    ----------
    model : fitted estimator with kernel "rbf" or "poly"
    queries, support : ndarrays of shape (n_samples, n_features)
        Rows of the scores, and of the coefficients.
    coefficients : ndarray of shape (n_support,)
    values : ndarray of shape (n_queries,)
        Scores without the intercept.
    """
    n_features = support.shape[1]
    products = queries @ support.T
    if model.kernel == "rbf":
        sizes = (queries**2).sum(axis=1)[:, None] + (support**2).sum(axis=1)
        counts = sizes - 2 * products

        def kernel(gamma):
            K = np.exp(-gamma * counts)
            return K, -counts * K
    else:
        degree, coef0 = model.degree, model.coef0

        def kernel(gamma):
            inner = gamma * products + coef0
            return inner**degree, degree * products * inner ** (degree - 1)

    def residuals(log_gamma):
        K, slope = kernel(np.exp(log_gamma))
        return K @ coefficients - values, slope @ coefficients

    def error(log_gamma):
        return float((residuals(log_gamma)[0] ** 2).sum())

    # The variance of two values at most 2 apart is at most 1.
    grid = np.log(np.geomspace(1.0, 1e5, N_TRIES) / n_features)
    best = int(np.argmin([error(x) for x in grid]))
    bounds = grid[max(0, best - 1)], grid[min(N_TRIES - 1, best + 1)]
    log_gamma = minimize_scalar(error, bounds=bounds, method="bounded").x
    gamma = float(np.exp(log_gamma))
    for _ in range(N_STEPS):
        rest, slope = residuals(np.log(gamma))
        size = slope @ slope
        if not size:
            break
        gamma = float(np.clip(gamma - rest @ slope / size, gamma / 2, gamma * 2))
    return gamma
