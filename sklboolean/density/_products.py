"""Mixtures of product distributions over bits: sums over components, and EM."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

BLOCK_ROWS = 4096


def posterior(log_joint):
    """Return each component's share of each row, and the rows' log-likelihoods.

    Parameters
    ----------
    log_joint : ndarray of shape (n_samples, n_components), dtype float64

    Returns
    -------
    shares : ndarray of shape (n_samples, n_components), dtype float64
        Rows sum to 1.
    scores : ndarray of shape (n_samples,), dtype float64
    """
    largest = log_joint.max(axis=1, keepdims=True)
    shares = np.exp(log_joint - largest)
    sums = shares.sum(axis=1, keepdims=True)
    shares /= sums
    return shares, (largest + np.log(sums))[:, 0]


@dataclass(frozen=True)
class ProductMixture:
    """Parameters of a mixture of products, in logarithms.

    Attributes
    ----------
    log_weights : ndarray of shape (n_components,), dtype float64
        Finite.
    logits : ndarray of shape (n_components, n_features), dtype float64
        Log-odds of each bit; finite.
    """

    log_weights: np.ndarray
    logits: np.ndarray

    def log_joint(self, signs):
        """Return the log-probability of each row's known bits and each component.

        Parameters
        ----------
        signs : ndarray of shape (n_samples, n_features)
            0 where a bit is missing.

        Returns
        -------
        log_joint : ndarray of shape (n_samples, n_components), dtype float64
        """
        rows, half = signs.astype(np.float64), self.logits / 2
        # log P(x) = x logit / 2 - |x| log(2 cosh(logit / 2)): a missing bit adds 0.
        scale = np.logaddexp(half, -half)
        if signs.all():
            return rows @ half.T + (self.log_weights - scale.sum(axis=1))
        return rows @ half.T - np.abs(rows) @ scale.T + self.log_weights

    def log_odds(self, signs):
        """Return the log-odds of each bit given all other known bits of its row.

        A component that explains a row with probability r has r / P(x_j) without bit
        j: true bits need the sums of r / odds, false ones those of r * odds.
        """
        shares, _ = posterior(self.log_joint(signs))
        # Within what float64 can exponentiate: odds of 10**304 are certain enough.
        logits = np.clip(self.logits, -700, 700)
        odds = np.exp(logits)
        known_true, known_false = -np.log(shares @ (1 / odds)), np.log(shares @ odds)
        missing = np.log(shares @ expit(logits)) - np.log(shares @ expit(-logits))
        return np.select([signs > 0, signs < 0], [known_true, known_false], missing)


def log_prior(mixture, alpha):
    """Return the log-density, but for a constant, of the prior that smooths EM.

    Beta(1 + alpha, 1 + alpha) for the probability of each bit in each component,
    Dirichlet(1 + alpha) for the weights.
    """
    half = mixture.logits / 2
    spread = -2 * np.logaddexp(half, -half).sum()
    return alpha * (spread + mixture.log_weights.sum())


class Counts(NamedTuple):
    """What EM counts, by components: the sufficient statistics of a mixture."""

    members: np.ndarray  # (n_components,): weight of the rows
    sums: np.ndarray  # (n_components, n_features): of known bits, true less false
    known: np.ndarray  # (n_components, n_features): of known bits


def expected_counts(mixture, signs, weights):
    """Share rows among the components and count: the expectation of EM.

    Parameters
    ----------
    mixture : ProductMixture
    signs : ndarray of shape (n_samples, n_features)
        0 where a bit is missing: it is left out of the counts.
    weights : ndarray of shape (n_samples,), dtype float64

    Returns
    -------
    counts : Counts
    log_likelihood : float
        Weighted sum over the rows.
    """
    n_components, n_features = mixture.logits.shape
    members = np.zeros(n_components)
    sums = np.zeros((n_components, n_features))
    known = np.zeros((n_components, n_features))
    log_likelihood = 0.0
    for start in range(0, len(signs), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        rows, row_weights = signs[block].astype(np.float64), weights[block]
        shares, scores = posterior(mixture.log_joint(signs[block]))
        log_likelihood += float(row_weights @ scores)
        shares *= row_weights[:, None]
        part = shares.sum(axis=0)
        members += part
        sums += shares.T @ rows
        known += part[:, None] if rows.all() else shares.T @ np.abs(rows)
    return Counts(members, sums, known), log_likelihood


def mixture_of(counts, alpha):
    """Return the mixture that explains counts best: the maximisation of EM.

    Parameters
    ----------
    counts : Counts
    alpha : float
        Above 0: added to each count.

    Returns
    -------
    mixture : ProductMixture
    """
    members, sums, known = counts
    # Rounding must not make a count of zero negative.
    true = np.maximum((known + sums) / 2, 0.0) + alpha
    false = np.maximum((known - sums) / 2, 0.0) + alpha
    log_weights = np.log((members + alpha) / (members.sum() + len(members) * alpha))
    return ProductMixture(log_weights, np.log(true) - np.log(false))


def em_step(mixture, signs, weights, alpha):
    """Take one step of expectation and maximisation.

    Parameters
    ----------
    mixture, signs, weights
        As for ``expected_counts``.
    alpha : float
        As for ``mixture_of``.

    Returns
    -------
    better : ProductMixture
        Its log-likelihood plus ``log_prior`` is not less than before.
    log_likelihood : float
        Weighted sum over the rows, of the mixture before the step.
    """
    counts, log_likelihood = expected_counts(mixture, signs, weights)
    return mixture_of(counts, alpha), log_likelihood


def maximise(mixture, signs, weights, alpha, tol, max_iter):
    """Repeat EM until the likelihood with the prior rises by less than ``tol``.

    Parameters
    ----------
    mixture, signs, weights, alpha
        As for ``em_step``.
    tol : float
        In nats for a row.
    max_iter : int
        Steps at most; at least 1.

    Returns
    -------
    mixture : ProductMixture
    objective : float
        Its log-likelihood plus ``log_prior``, for a row.
    log_likelihoods : list of float
        For a row, before the first step and after each.
    converged : bool
    """
    total, before, history = weights.sum(), -np.inf, []
    while True:
        better, log_likelihood = em_step(mixture, signs, weights, alpha)
        history.append(log_likelihood / total)
        objective = (log_likelihood + log_prior(mixture, alpha)) / total
        converged = objective - before < tol
        if len(history) > 1 and (converged or len(history) > max_iter):
            return mixture, objective, history, bool(converged)
        mixture, before = better, objective


def split_components(mixture, n_more, rng, spread=0.5):
    """Split the heaviest components into two perturbed halves (Freund, section 4.4).

    Parameters
    ----------
    mixture : ProductMixture
    n_more : int
        How many are split; at most all.
    rng : RandomState
    spread : float
        Standard deviation of what is added to the log-odds of one half and taken from
        those of the other.
    """
    chosen = np.argsort(-mixture.log_weights, kind="stable")[:n_more]
    noise = spread * rng.standard_normal((n_more, mixture.logits.shape[1]))
    logits, log_weights = mixture.logits.copy(), mixture.log_weights.copy()
    logits[chosen] += noise
    log_weights[chosen] -= np.log(2)
    return ProductMixture(
        np.concatenate([log_weights, log_weights[chosen]]),
        np.concatenate([logits, mixture.logits[chosen] - noise]),
    )
