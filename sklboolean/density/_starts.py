"""Where EM starts: one component that doubles, or all of them in random places."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from sklboolean.density._products import ProductMixture, maximise, split_components

LARGEST_SEED = 2**31 - 1


def fit_start(seed, signs, weights, n_components, growth, settings):
    """Fit a mixture from one start; return what ``maximise`` returns."""
    rng = np.random.RandomState(seed)
    fair = ProductMixture(np.zeros(1), np.zeros((1, signs.shape[1])))
    found = maximise(fair, signs, weights, **settings)
    if growth is None:
        noise = rng.standard_normal((n_components, signs.shape[1]))
        log_weights = np.full(n_components, -np.log(n_components))
        mixture = ProductMixture(log_weights, found[0].logits + noise)
        return maximise(mixture, signs, weights, **settings)
    history = found[2]
    while len(found[0].logits) < n_components:
        n_present = len(found[0].logits)
        n_more = min(n_present, n_components - n_present)
        mixture = split_components(found[0], n_more, rng)
        found = maximise(mixture, signs, weights, **settings)
        history = history + found[2]
    return found[0], found[1], history, found[3]


def best_of_starts(
    signs, weights, n_components, growth, n_init, settings, random_state, n_jobs,
    verbose,
):  # fmt: skip
    """Fit mixtures from several starts and return the most likely one.

    Parameters
    ----------
    signs : ndarray of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,), dtype float64
    n_components : int
    growth : {"doubling"} or None
    n_init : int
    settings : dict
        alpha, tol and max_iter of ``maximise``.
    random_state : int, RandomState instance or None
    n_jobs : int or None
    verbose : int

    Returns
    -------
    found : tuple
        As of ``maximise``.
    """
    rng = check_random_state(random_state)
    seeds = rng.randint(LARGEST_SEED, size=n_init)
    # BLAS releases the GIL: threads share the table.
    fits = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(fit_start)(seed, signs, weights, n_components, growth, settings)
        for seed in seeds
    )
    if verbose:
        for number, (_, _, history, converged) in enumerate(fits, 1):
            print(
                f"Start {number}: log-likelihood {history[-1]:.4f} nats after "
                f"{len(history) - 1} steps"
                f"{'' if converged else ', not converged'}."
            )
    return max(fits, key=lambda found: found[1])
