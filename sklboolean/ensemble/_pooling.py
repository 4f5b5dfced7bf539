"""Pools of models: their logits, the weights of these, and the C of a linear member."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.linear_model import LogisticRegression

LEAST_PROBABILITY = 1e-9
CS = 10.0 ** np.arange(-3, 2.5, 0.5)
STRENGTH = 5.0  # of the prior of the weights


def centered_logits(probabilities):
    """Compute logits that are comparable between models.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_classes)
        Those below 1e-9 count as 1e-9.

    Returns
    -------
    logits : ndarray of shape (n_samples, n_classes), float64
        Logarithms, of which the mean over the classes of a sample is 0.
    """
    # A probability of 0 would forbid a class to the whole pool.
    logs = np.log(np.maximum(probabilities, LEAST_PROBABILITY))
    return logs - logs.mean(axis=1, keepdims=True)


def pool_weights(logits, codes, sample_weight, prior):
    """Choose the weights of models by the log-loss of their weighted sum.

    Parameters
    ----------
    logits : ndarray of shape (n_models, n_samples, n_classes), float64
        Logits of held-out samples.
    codes : ndarray of shape (n_samples,), int
        Class numbers.
    sample_weight : ndarray of shape (n_samples,), float64
    prior : ndarray of shape (n_models,), float64
        Divided by its sum, the weights without samples.

    Returns
    -------
    weights : ndarray of shape (n_models,), float64
        They minimize the loss plus ``STRENGTH * sum(w - prior * log(w))``, which is
        convex.
    """
    is_label = codes[:, None] == np.arange(logits.shape[2])

    def loss(weights):
        scores = np.tensordot(weights, logits, axes=1)
        losses = logsumexp(scores, axis=1) - scores[is_label]
        residuals = sample_weight[:, None] * (softmax(scores, axis=1) - is_label)
        return sample_weight @ losses, (logits * residuals).sum(axis=(1, 2))

    return positive_minimizer(loss, prior)


def positive_minimizer(loss, prior):
    """Minimize ``loss(w) + STRENGTH * sum(w - prior * log(w))`` for a prior of sum 1.

    ``loss`` computes a convex loss, and its slopes by the weights.
    """
    # Over the logarithms of the weights, which keeps these positive; the penalty is the
    # relative entropy to the prior, up to a constant.
    prior = prior / prior.sum()

    def objective(logs):
        weights = np.exp(logs)
        value, slopes = loss(weights)
        value += STRENGTH * (weights - prior * logs).sum()
        return value, weights * slopes + STRENGTH * (weights - prior)

    bounds = [(-30, 5)] * len(prior)
    return np.exp(minimize(objective, np.log(prior), jac=True, bounds=bounds).x)


def choose_ridge_C(X, codes, weights, folds):
    """Choose C of a logistic regression with an L2 penalty by the held-out log-loss.

    The path of a fold ends with the second value in turn that is worse than another.

    Parameters
    ----------
    X : csr_array of shape (n_samples, n_features), float64
    codes : ndarray of shape (n_samples,), int
        Class numbers. Each class has training samples in each fold.
    weights : ndarray of shape (n_samples,), float64
    folds : list of (training, test) pairs of ndarrays of sample numbers

    Returns
    -------
    C : float
    """
    # Values of C that a path does not reach count as infinite losses.
    losses = np.full((len(folds), len(CS)), np.inf)
    for of_fold, (train, test) in zip(losses, folds, strict=True):
        # From strong to weak penalties, each fit begins with the last one.
        model = LogisticRegression(warm_start=True, max_iter=1000, tol=1e-3)
        training, tested = (X[train], codes[train], weights[train]), X[test]
        for k, C in enumerate(CS):
            model.set_params(C=C).fit(*training)
            logs = model.predict_log_proba(tested)
            label_logs = logs[np.arange(len(test)), codes[test]]
            of_fold[k] = -np.average(label_logs, weights=weights[test])
            if k > 1 and of_fold[k - 1 : k + 1].min() > of_fold[: k - 1].min():
                break
    return float(CS[losses.mean(axis=0).argmin()])


def prediction_weights(predictions, targets, sample_weight, prior):
    """Choose the weights of regressors by the squared error of their weighted sum.

    Parameters
    ----------
    predictions : ndarray of shape (n_models, n_samples), float64
        Predictions of held-out samples.
    targets, sample_weight : ndarrays of shape (n_samples,), float64
    prior : ndarray of shape (n_models,), float64
        Divided by its sum, the weights without samples.

    Returns
    -------
    weights : ndarray of shape (n_models,), float64
        They minimize the squared errors, in units of twice the least mean of a model,
        plus ``STRENGTH * sum(w - prior * log(w))``, which is convex.
    intercept : float
    errors : ndarray of shape (n_samples,), float64
    """
    means = np.average(predictions, axis=1, weights=sample_weight)
    mean = np.average(targets, weights=sample_weight)
    centered, centered_targets = predictions - means[:, None], targets - mean
    size = np.average(
        (centered_targets - centered) ** 2, axis=1, weights=sample_weight
    ).min()
    # Where a model makes no error, any unit will do.
    unit = size or np.average(centered_targets**2, weights=sample_weight) or 1.0

    def loss(weights):
        errors = centered_targets - weights @ centered
        slopes = -(centered @ (sample_weight * errors)) / unit
        return sample_weight @ errors**2 / (2 * unit), slopes

    weights = positive_minimizer(loss, prior)
    intercept = float(mean - weights @ means)
    return weights, intercept, targets - intercept - weights @ predictions
