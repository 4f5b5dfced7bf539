"""Separating halfspaces, and certificates that bound the margin of any halfspace.

Margins are distances: a sample's signed score ``s (w.x + b)`` divided by the norm of w.
Weights on the samples that add up to one half in each class bound the margin of every
halfspace: the smallest signed score is at most their weighted mean, which is
``w . sum_i weight_i s_i x_i`` whatever the threshold.
"""

# `maximal_margin` proves what it finds. The l1 margin is one linear program, whose dual
# gives the weights on samples. For the l2 margin a linear program first finds any
# correct halfspace; then the margin is maximised over a working set by nonnegative
# least squares, and samples within the margin are added until there are none.
# `_with_bound` turns weights into a bound for every halfspace: if it equals the margin,
# no other halfspace has a larger one; if it is 0, none is correct.

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linprog, nnls

from sklboolean._core.parallel import interruptible

# Norm of w, and the dual norm, in which the weighted difference of the classes counts.
DUAL_NORMS = {"l1": (1, np.inf), "l2": (2, 2)}
MIN_ADDED = 100  # samples of each class that a working set gains
ROUNDING = 1e-9
PRICELESS = 100.0  # a unit of b costs the inverse square of this


@dataclass
class Separation:
    """A halfspace ``w.x + b >= 0`` of norm 1 and the weights that bound the margin."""

    w: np.ndarray
    b: float
    sample_weights: np.ndarray
    bound: float


def maximal_margin(X, signs, norm):
    """Find the halfspace of largest margin.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
    signs : ndarray of shape (n_samples,), +1 and -1, both present
    norm : {"l1", "l2"}

    Returns
    -------
    separation : Separation
        ``w`` is 0 where no halfspace classifies all samples correctly. No halfspace has
        a margin above ``bound``.
    """
    separation = _maximal_margin_l1(X, signs)
    scores = signs * (X @ separation.w + separation.b)
    if norm == "l1" or scores.min() <= 0:
        return _with_bound(separation, X, signs, norm)
    return _with_bound(_maximal_margin_l2(X, signs, scores), X, signs, norm)


def _maximal_margin_l2(X, signs, scores):
    """Maximise the margin over some samples, and add those where it is smaller.

    ``scores`` are the signed scores of a halfspace that is correct on all samples.
    """
    margin = scores.min()
    chosen = np.zeros(len(signs), dtype=bool)
    while True:
        for sign in (1, -1):
            of_class = np.flatnonzero((signs == sign) & ~chosen)
            worst = of_class[np.argsort(scores[of_class], kind="stable")]
            chosen[worst[: max(MIN_ADDED, chosen.sum() // 2)]] = True
        rows = X[chosen]
        used = np.flatnonzero(abs(rows).sum(axis=0))
        rows = rows.toarray() if sparse.issparse(rows) else rows
        w, sample_weights = np.zeros(X.shape[1]), np.zeros(len(signs))
        w[used], b, sample_weights[chosen] = _least_halfspace(
            rows[:, used], signs[chosen], margin
        )
        scores = signs * (X @ w + b)
        if scores.min() >= (1 - ROUNDING) * scores[chosen].min():
            return _centred(Separation(w, b, sample_weights, np.inf), X, signs)


def _least_halfspace(X, signs, margin):
    """Find the shortest w with ``s_i (w.x_i + b) >= margin`` and a b.

    Non-negative least squares solve it (Lawson and Hanson, "Solving Least Squares
    Problems", chapter 23). The squared length that they minimise has a small term for
    b, which changes nothing after the samples have been moved to where b is 0.

    Returns
    -------
    w : ndarray of shape (n_features,)
    b : float
    multipliers : ndarray of shape (n_samples,)
        ``w`` is proportional to the sum of ``multipliers * signs * X``.
    """
    origin = np.zeros(X.shape[1])
    for _ in range(2):
        moved = np.column_stack([X - origin, np.full(len(X), PRICELESS)])
        system = np.vstack([(signs[:, None] * moved).T, np.full(len(X), margin)])
        target = np.zeros(len(system))
        target[-1] = 1.0
        multipliers, _ = nnls(system, target, maxiter=100 * len(X))
        residual = system @ multipliers - target
        solution = -residual[:-1] / residual[-1]
        w = solution[:-1]
        b = PRICELESS * solution[-1] - w @ origin
        origin = -b / (w @ w) * w
    return w, float(b), multipliers


def _maximal_margin_l1(X, signs):
    """Maximise m with ``s_i (w.x_i + b) >= m`` and ``|w|_1 <= 1``, w = u - v."""
    n_samples, n_features = X.shape
    signed = sparse.csr_array(sparse.diags_array(signs) @ sparse.csr_array(X))
    scores = sparse.hstack([-signed, signed, -signs[:, None], np.ones((n_samples, 1))])
    total = sparse.csr_array(np.r_[np.ones(2 * n_features), 0.0, 0.0][None])
    result = interruptible(
        linprog,
        np.r_[np.zeros(2 * n_features + 1), -1.0],
        A_ub=sparse.vstack([scores, total], format="csr"),
        b_ub=np.r_[np.zeros(n_samples), 1.0],
        bounds=[(0, None)] * (2 * n_features) + [(None, None)] * 2,
        method="highs",
    )
    if result.x is None:
        raise RuntimeError(f"The linear program was not solved: {result.message}")
    w = result.x[:n_features] - result.x[n_features : 2 * n_features]
    sample_weights = np.maximum(0.0, -result.ineqlin.marginals[:n_samples])
    separation = Separation(w, float(result.x[-2]), sample_weights, np.inf)
    return _centred(separation, X, signs)


def _centred(separation, X, signs):
    """Put the threshold half-way between the classes and scale w to norm 1."""
    scores = X @ separation.w
    b = -(scores[signs > 0].min() + scores[signs < 0].max()) / 2
    return Separation(separation.w, float(b), separation.sample_weights, np.inf)


def _with_bound(separation, X, signs, norm):
    primal, dual = DUAL_NORMS[norm]
    weights = separation.sample_weights.copy()
    for sign in (1, -1):
        total = weights[signs == sign].sum()
        # Any weights make a bound; even ones, should the solver give none.
        weights[signs == sign] = (
            weights[signs == sign] / total if total > 0 else 1 / np.sum(signs == sign)
        )
    weights /= 2
    difference = np.asarray(X.T @ (weights * signs)).ravel()
    bound = float(np.linalg.norm(difference, dual))
    length = np.linalg.norm(separation.w, primal) or 1.0
    return Separation(separation.w / length, separation.b / length, weights, bound)


def least_error_halfspace(X, signs, weights):
    """Minimise the weighted sum of ``max(0, 1 - s_i (w.x_i + b))`` over all halfspaces.

    Returns
    -------
    w : ndarray of shape (n_features,)
    b : float
    """
    n_samples, n_features = X.shape
    signed = sparse.csr_array(sparse.diags_array(signs) @ sparse.csr_array(X))
    slack = sparse.eye_array(n_samples)
    result = interruptible(
        linprog,
        np.r_[np.zeros(n_features + 1), weights],
        A_ub=-sparse.hstack([signed, signs[:, None], slack], format="csr"),
        b_ub=-np.ones(n_samples),
        bounds=[(None, None)] * (n_features + 1) + [(0, None)] * n_samples,
        method="highs-ipm",  # its steps hardly depend on the number of samples
    )
    if result.x is None:
        raise RuntimeError(f"The linear program was not solved: {result.message}")
    return result.x[:n_features], float(result.x[n_features])


def max_perceptron_updates(n_weights, sigma):
    """Bound the updates after a good start: ``ln(n_weights) / sigma**2``.

    A good start has a cosine of at least ``n_weights ** -0.5`` with a halfspace that is
    correct on all samples. Updates never lower the product with that halfspace, and
    each shrinks the squared length by a factor of at most ``1 - sigma**2``.
    """
    return int(np.log(n_weights) / sigma**2)


def modified_perceptron(X, signs, sigma, max_starts, rng):
    """Find weights that are correct on all samples whose cosine passes sigma.

    A misclassified sample is projected away, the one with the largest cosine first
    (Blum, Frieze, Kannan, Vempala).

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_weights), no sample all zeros
    signs : ndarray of shape (n_samples,), +1 and -1
    sigma : float in (0, 1)
    max_starts : int
        Number of random directions to try.
    rng : RandomState

    Returns
    -------
    w : ndarray of shape (n_weights,)
        Unit vector.
    n_updates : int
        Number of updates over all starts.
    found : bool
        False: after every start some sample is wrong by more than ``sigma``.
    """
    # Blum, Frieze, Kannan, Vempala 1998: with w of length 1, an update takes away the
    # part of w along the worst sample x, which leaves the product with any correct u at
    # least as large and shortens w by a factor of at most sqrt(1 - sigma**2). So the
    # cosine with u grows, and passes 1 after ln(n) / sigma**2 updates at the latest.
    lengths = np.sqrt(np.asarray((X * X).sum(axis=1)).ravel())
    max_updates = max_perceptron_updates(X.shape[1], sigma)
    n_updates, fewest, best = 0, len(signs) + 1, None
    for _start in range(max_starts):
        w = rng.standard_normal(X.shape[1])
        w /= np.linalg.norm(w)
        for update in range(max_updates + 1):
            cosines = signs * (X @ w) / lengths
            worst = int(np.argmin(cosines))
            if cosines[worst] >= -sigma:
                return w, n_updates, True
            if update == max_updates:
                break
            x = X[[worst]].toarray()[0] if sparse.issparse(X) else X[worst]
            w = w - (signs[worst] * cosines[worst] / lengths[worst]) * x
            n_updates += 1
            length = np.linalg.norm(w)
            if length < 1e-12:  # w was the misclassified sample itself
                break
            # Only the direction counts; at length 1 it never underflows.
            w /= length
        n_wrong = np.count_nonzero(cosines < -sigma)
        if n_wrong < fewest:
            fewest, best = n_wrong, w
    return best, n_updates, False
