"""Pools of models: their logits, the weights of these, and the C of a linear member."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.linear_model import LogisticRegression

LEAST_PROBABILITY = 1e-9
CS = 10.0 ** np.arange(-3, 2.5, 0.5)
STRENGTH = 5.0  # of the prior of the weights
NOISE_RATES = np.linspace(0, 0.44, 23)  # among which wrong labels are estimated


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


def pool_weights(logits, codes, sample_weight, prior, label_noise=0.0):
    """Choose the weights of models by the log-loss of their weighted sum.

    The softmax of the sum gives the probabilities of the right labels.

    Parameters
    ----------
    logits : ndarray of shape (n_models, n_samples, n_classes), float64
        Logits of held-out samples.
    codes : ndarray of shape (n_samples,), int
        Class numbers.
    sample_weight : ndarray of shape (n_samples,), float64
    prior : ndarray of shape (n_models,), float64
        Divided by its sum, the weights without samples.
    label_noise : float, default=0.0
        Probability that one of the other classes, each as often, takes the place of the
        right label.

    Returns
    -------
    weights : ndarray of shape (n_models,), float64
        They minimize the loss plus ``STRENGTH * sum(w - prior * log(w))``. Without
        noise it is convex; with noise the search begins at the prior.
    objective : float
        The least value.
    """
    n_classes = logits.shape[2]
    is_label = codes[:, None] == np.arange(n_classes)
    # p is the probability of a label to be right, wrong + (1 - noise - wrong) * p that
    # of the label as it came.
    wrong = label_noise / max(n_classes - 1, 1)
    log_wrong = np.log(wrong) if wrong else -np.inf
    log_slope = np.log(1 - label_noise - wrong)

    def loss(weights):
        scores = np.tensordot(weights, logits, axes=1)
        logs = log_slope + scores[is_label] - logsumexp(scores, axis=1)
        label_logs = np.logaddexp(logs, log_wrong)
        trust = sample_weight * np.exp(logs - label_logs)
        residuals = trust[:, None] * (softmax(scores, axis=1) - is_label)
        return -(sample_weight @ label_logs), (logits * residuals).sum(axis=(1, 2))

    return positive_minimizer(loss, prior)


def estimate_label_noise(logits, codes, sample_weight, prior):
    """Estimate the share of wrong labels by the loss of held-out samples.

    Wrong labels look like labels that are hard to predict. With few samples the prior
    of the weights keeps the estimate from running off, and it is too low.

    Parameters
    ----------
    logits, codes, sample_weight, prior
        As for `pool_weights`.

    Returns
    -------
    label_noise : float
        The mean of `NOISE_RATES` that are weighted by ``exp(-objective)``.
    """
    pool = logits, codes, sample_weight, prior
    objectives = [pool_weights(*pool, rate)[1] for rate in NOISE_RATES]
    return float(NOISE_RATES @ softmax(-np.array(objectives)))


def positive_minimizer(loss, prior):
    """Minimize ``loss(w) + STRENGTH * sum(w - prior * log(w))`` for a prior of sum 1.

    ``loss`` computes a loss, and its slopes by the weights. Returns the weights and the
    least value.
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
    found = minimize(objective, np.log(prior), jac=True, bounds=bounds)
    return np.exp(found.x), float(found.fun)


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

    weights, _ = positive_minimizer(loss, prior)
    intercept = float(mean - weights @ means)
    return weights, intercept, targets - intercept - weights @ predictions
