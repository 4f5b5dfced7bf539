"""The posterior of a Gaussian process of log-odds, in Laplace's approximation.

Each of Newton's steps is the posterior of a process with Gaussian noise, whose weights
and targets depend on the log-odds (Rasmussen, Williams, "Gaussian Processes for Machine
Learning", section 3.4).
"""

# Laplace's approximation, by Newton's method: with log-odds f of shape (n_distinct,),
# each step is the least-squares posterior of working targets f - center + (y - p) / h
# with weights w h, where p = expit(f) and h = p (1 - p) (Rasmussen, Williams 2006,
# section 3.4). So the exact and the projected process serve labels too. Steps longer
# than LARGEST_STEP are shortened.

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit, logsumexp

from sklboolean.kernels._evidence import LOG_2PI, DistinctSamples
from sklboolean.kernels._gaussian_posterior import Posterior, ProjectedProcess

RIDGE = 0.05  # price of slope and offsets
LEAST_CURVATURE = 1e-6
LARGEST_STEP = 4.0
MAX_STEPS = 30
SAMPLES_TO_BEGIN = 5000
TOLERANCE = 3e-2  # the last step squares it


@dataclass(frozen=True)
class LogisticPosterior:
    """Newton's last step.

    Attributes
    ----------
    center : float
        The log-odds without samples.
    posterior : Posterior
        Posterior of the log-odds less the center.
    curvatures : ndarray of shape (n_distinct,), float64
        Second derivatives of the loss of one sample where the last step began.
    log_odds : ndarray of shape (n_distinct,), float64
        Where the last step began.
    """

    center: float
    posterior: Posterior
    curvatures: np.ndarray
    log_odds: np.ndarray

    def leave_one_out(self, number, labels, removed):
        """Compute the log-odds of each sample without it.

        Exact for the quadratic approximation of the other samples' losses.

        Parameters
        ----------
        number : ndarray of shape (n_samples,), int
            The distinct sample of each sample.
        labels : ndarray of shape (n_samples,), float64
            0 or 1.
        removed : ndarray of shape (n_samples,), float64
            The weight that is left out.
        """
        at, curvature = self.log_odds[number], self.curvatures[number]
        targets = at - self.center + (labels - expit(at)) / curvature
        left_out = self.posterior.leave_one_out(
            number, targets[:, None], removed * curvature, noise=1.0
        )
        return self.center + left_out[:, 0]

    def log_evidence(self, samples, working):
        """Compute Laplace's approximation of the log marginal likelihood.

        Parameters
        ----------
        samples, working : DistinctSamples
            With the labels, and with the targets of the last step.
        """
        log_odds = self.center + self.posterior.means[:, 0]
        shares = samples.means[:, 0]
        likelihood = shares * log_expit(log_odds) + (1 - shares) * log_expit(-log_odds)
        misfit = working.means[:, 0] - self.posterior.means[:, 0]
        noise = working.weights * misfit**2 - np.log(working.weights) + LOG_2PI
        gaussian = self.posterior.log_evidence - working.log_of_copies(1.0)
        return float(gaussian + samples.weights @ likelihood + noise.sum() / 2)


def working_samples(samples, center, at):
    """Make the weights and targets whose process is Newton's step from log-odds."""
    p = expit(at)
    curvatures = np.maximum(p * (1 - p), LEAST_CURVATURE)
    targets = at - center + (samples.means[:, 0] - p) / curvatures
    working = DistinctSamples(
        samples.levels, samples.weights * curvatures, targets[:, None], np.zeros(len(p))
    )
    return working, curvatures


def fit_slope_and_offsets(scores, codes, weights):
    """Fit softmax(slope * scores + offsets) to labels.

    The loss has a ridge price of 0.05, which keeps the slope finite where the scores
    separate the classes.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes), float64
        One column: that of the second of two classes, the first has 0.
    codes : ndarray of shape (n_samples,), int
    weights : ndarray of shape (n_samples,), float64

    Returns
    -------
    slope : float
        Above 0.
    offsets : ndarray of shape (n_classes,), float64
    """
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    n_classes = scores.shape[1]
    labels = np.eye(n_classes)[codes]

    def loss(values):
        logits = values[0] * scores + values[1:]
        logs = logits - logsumexp(logits, axis=1, keepdims=True)
        errors = weights[:, None] * (np.exp(logs) - labels)
        gradient = np.concatenate([[(errors * scores).sum()], errors.sum(axis=0)])
        value = -(weights[:, None] * labels * logs).sum()
        return value + RIDGE * (values**2).sum(), gradient + 2 * RIDGE * values

    shares = np.bincount(codes, weights, n_classes) / weights.sum()
    # A class may have no sample here. The logarithm of its share is not finite.
    start = np.concatenate([[1.0], np.log(np.maximum(shares, 1 / len(codes)))])
    bounds = [(1e-3, None)] + [(None, None)] * n_classes
    values_found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(values_found[0]), values_found[1:]


def newton(process, samples, center, at):
    """Take steps until the last one is short; return log-odds and coefficients."""
    for _ in range(MAX_STEPS):
        working, _ = working_samples(samples, center, at)
        posterior = process.posterior(working, 1.0, with_variances=False)
        step = center + posterior.means[:, 0] - at
        largest = np.abs(step).max()
        at = at + step * (LARGEST_STEP / max(largest, LARGEST_STEP))
        if largest < TOLERANCE:
            break
    return at, posterior.coef


def logistic_posterior(process, samples, order):
    """Find the most probable log-odds by Newton's method.

    Of a projected process, the first steps are taken on a part of the samples.

    Parameters
    ----------
    process : ExactProcess or ProjectedProcess
    samples : DistinctSamples
        Their one target is the share of ones.
    order : ndarray of shape (n_distinct,), int
        A random order of the samples.

    Returns
    -------
    posterior : LogisticPosterior
    log_evidence : float
    """
    total = samples.weights.sum()
    share = samples.weights @ samples.means[:, 0] / total
    # Labels that are all equal: the log-odds of half a copy of the other one.
    share = np.clip(share, 0.5 / (total + 1), 1 - 0.5 / (total + 1))
    center = float(logit(share))
    at = np.full(len(samples), center)
    if isinstance(process, ProjectedProcess) and len(samples) > SAMPLES_TO_BEGIN:
        numbers = np.sort(order[:SAMPLES_TO_BEGIN])
        first_part = process.part(numbers), samples.take(numbers)
        at = center + process.means(newton(*first_part, center, at[numbers])[1])[:, 0]
    at, _ = newton(process, samples, center, at)
    working, curvatures = working_samples(samples, center, at)
    posterior = process.posterior(working, 1.0)
    logistic = LogisticPosterior(center, posterior, curvatures, at)
    return logistic, logistic.log_evidence(samples, working)
