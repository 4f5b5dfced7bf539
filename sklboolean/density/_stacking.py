"""Stacking: densities are weighed by the likelihood of samples that none of them saw.

The weights maximise the likelihood of held-out samples under the mixture of the
densities, times a Dirichlet prior. The mixture is never much worse than the best of
them, and better where different samples suit different densities.
"""

# Each step of EM replaces a weight by the mean posterior probability of its density,
# which does not lower the smoothed likelihood of the held-out samples.

import numpy as np

from sklboolean.density._em import posterior

PRIOR = 1.0  # samples, added to those of each density
MAX_ITER = 1000
TOL = 1e-4  # of the largest change of a weight


def stacking_weights(log_likelihoods, sample_weight):
    """Find the mixture of fixed densities with the largest smoothed likelihood.

    EM, as for the weights of any mixture (Smyth and Wolpert, "Linearly Combining
    Density Estimators via Stacking", Machine Learning 36, 1999, section 3).

    Parameters
    ----------
    log_likelihoods : ndarray of shape (n_samples, n_densities)
        Log-likelihoods of samples that the densities were not fitted to. Finite.
    sample_weight : ndarray of shape (n_samples,)
        Not all 0; scaled to a mean of 1.

    Returns
    -------
    weights : ndarray of shape (n_densities,)
        Above 0; their sum is 1.
    """
    n_samples, n_densities = log_likelihoods.shape
    sample_weight = sample_weight * (n_samples / sample_weight.sum())
    weights = np.full(n_densities, 1 / n_densities)
    for _ in range(MAX_ITER):
        shares, _ = posterior(log_likelihoods + np.log(weights))
        before, weights = weights, sample_weight @ shares + PRIOR
        weights = weights / weights.sum()
        if np.abs(weights - before).max() < TOL:
            break
    return weights
