"""The most probable completion under a mixture of products, by branch and bound."""

import warnings

import numpy as np
from scipy.special import logsumexp

MAX_BRANCHES = 2**14


def most_probable_bits(log_weights, logits, max_branches=MAX_BRANCHES):
    """Return the bits that a mixture of products thinks most probable together.

    Bits are decided one after the other. A beginning is given up when no completion of
    it can be better than one that is known: each component's best completion, even if
    they are not the same, bounds what it can reach.

    Parameters
    ----------
    log_weights : ndarray of shape (n_components,), dtype float64
    logits : ndarray of shape (n_components, n_bits), dtype float64
    max_branches : int
        Beginnings that are looked at together; only the most promising are kept when
        there are more.

    Returns
    -------
    true : ndarray of shape (n_bits,), dtype bool
    exact : bool
        Whether nothing had to be left out, so that no completion is more probable.
    """
    # Where the components agree each term is largest, and so is their sum.
    agreed = (logits >= 0).all(axis=0) | (logits < 0).all(axis=0)
    true, exact = logits[0] >= 0, True
    agreed_scores = -np.logaddexp(0, -np.abs(logits[:, agreed])).sum(axis=1)
    # Large disagreements first: they rule out most.
    order = np.flatnonzero(~agreed)
    shares = np.exp(log_weights - logsumexp(log_weights))
    spread = shares @ (logits - shares @ logits) ** 2
    order = order[np.argsort(-spread[order], kind="stable")]
    logits = logits[:, order]
    log_true, log_false = -np.logaddexp(0, -logits), -np.logaddexp(0, logits)

    # Nothing worse is needed than the best of the components' own completions.
    modes = logits >= 0
    own = np.where(modes[:, None], log_true, log_false).sum(axis=2)
    own = logsumexp(own + (log_weights + agreed_scores), axis=1)
    true[order], known_best = modes[own.argmax()], own.max()
    hopeful = known_best - 1e-9 * (1 + abs(known_best))  # allow for rounding

    best_rest = np.maximum(log_true, log_false)
    rest = best_rest.sum(axis=1, keepdims=True) - np.cumsum(best_rest, axis=1)
    branches = (log_weights + agreed_scores)[None]
    decided = np.zeros((1, len(order)), dtype=bool)
    for j in range(len(order)):
        branches = np.concatenate(
            [branches + log_true[:, j], branches + log_false[:, j]]
        )
        decided = np.concatenate([decided, decided])
        decided[: len(decided) // 2, j] = True
        bounds = logsumexp(branches + rest[:, j], axis=1)
        kept = np.flatnonzero(bounds >= hopeful)
        if len(kept) > max_branches:
            exact = False
            kept = kept[np.argsort(-bounds[kept], kind="stable")[:max_branches]]
        branches, decided = branches[kept], decided[kept]
    found = logsumexp(branches, axis=1)
    if len(found) and found.max() > known_best:
        true[order] = decided[found.argmax()]
    return true, exact


def most_probable_rows(mixture, signs):
    """Fill in the most probable missing bits of rows together.

    Parameters
    ----------
    mixture : ProductMixture
    signs : ndarray of shape (n_samples, n_features)
        0 where a bit is missing.

    Returns
    -------
    signs : ndarray of shape (n_samples, n_features)
        Without zeros.

    Warns
    -----
    UserWarning
        If there was too much to compare in some row.
    """
    filled, log_joint, n_inexact = signs.copy(), mixture.log_joint(signs), 0
    for row, scores in enumerate(log_joint):
        missing = np.flatnonzero(signs[row] == 0)
        true, exact = most_probable_bits(scores, mixture.logits[:, missing])
        filled[row, missing] = np.where(true, 1, -1)
        n_inexact += not exact
    if n_inexact:
        warnings.warn(
            f"In {n_inexact} rows there are too many likely completions to compare "
            "all; a good one is given, perhaps not the most probable. method='mean' "
            "and 'sample' are exact.",
            UserWarning,
            stacklevel=4,
        )
    return filled
