"""Many persistent chains that follow the labels from one query to the next."""

from copy import deepcopy

import numpy as np
from scipy.special import log_ndtr, ndtr

from sklboolean.active_learning._chains import (
    TINY,
    ball_radii,
    draw_beyond,
    move_in_ball,
    move_on_ellipse,
    normal_radii,
    systematic_indices,
)
from sklboolean.active_learning._interior import interior_direction

# Labels learned together: this share of the steps after each, and all at the end.
STEPS_BETWEEN = 0.1
# A label that fewer chains survive is split into easier ones.
FEW_SURVIVORS = 0.25
# Levels stand just above the median, where half of the chains are.
ABOVE_MEDIAN = 1.000001
# More levels than this, each of half the volume: start from the inside.
MAX_LEVELS = 100
# A population that starts from a single point gets this many times the steps.
COLD_STARTS = 10


class Population:
    """Halfspaces drawn from the posterior by chains that are never started again.

    Parameters
    ----------
    sampler : {"liness", "hit_and_run"}
    eta : float
        Probability that a label was flipped.
    n_steps : int
        Steps of each chain after a block of labels.
    n_chains : int
    random : numpy.random.Generator
        Kept, and advanced by every move.
    """

    def __init__(self, sampler, eta, n_steps, n_chains, random):
        self.sampler = sampler
        self.eta = eta
        self.n_steps = n_steps
        self.random = random
        self.weights = np.empty((0, n_chains))
        self.margins = np.empty((0, n_chains))
        self.signed_rows = np.empty((0, 0))
        self.n_steps_taken = 0
        self.n_levels = 0
        self.n_restarts = 0

    @property
    def penalty(self):
        return np.inf if self.eta == 0 else np.log1p(-self.eta) - np.log(self.eta)

    def learn(self, coordinates, residual, positive):
        """Condition on one more label.

        Parameters
        ----------
        coordinates : ndarray of shape (rank,)
            Of a row of length 1.
        residual : float
            Its squared distance from the span; above 0 it adds a dimension.
        positive : bool

        Returns
        -------
        possible : bool
            False, and nothing is learned, when no halfspace agrees with all labels.
        """
        sign = 1.0 if positive else -1.0
        margins = sign * (coordinates @ self.weights)
        if residual > 0:
            self._add_dimension(sign * coordinates, margins, np.sqrt(residual), sign)
        elif not self._reweigh(sign * coordinates, margins):
            return False
        self.advance(max(1, int(STEPS_BETWEEN * self.n_steps)))
        return True

    def _add_dimension(self, signed, margins, deviation, sign):
        """Weigh the chains by the label's probability and draw the new coordinate.

        The exact step: outside the span the score of the new row is normal, and what
        the label says of it is one truncation.
        """
        bounds = margins / deviation
        log_right = np.log1p(-self.eta) + log_ndtr(bounds)
        log_wrong = np.full(len(bounds), -np.inf)
        if self.eta:
            log_wrong = np.log(self.eta) + log_ndtr(-bounds)
        log_weights = np.logaddexp(log_right, log_wrong)
        # From the largest, so that some chain has a positive weight.
        weights = np.exp(log_weights - log_weights.max())
        chosen = systematic_indices(weights, self.random)
        share_right = np.exp(log_right - log_weights)[chosen]
        agrees = self.random.random(len(chosen)) < share_right
        outside = draw_beyond(bounds[chosen], agrees, self.random)
        self.weights = np.vstack([self.weights[:, chosen], sign * outside])
        self.signed_rows = np.pad(self.signed_rows, ((0, 1), (0, 1)))
        self.signed_rows[-1] = np.append(signed, sign * deviation)
        new = margins[chosen] + deviation * outside
        # Rounding must not put a chain on the wrong side.
        new = np.where(agrees, np.maximum(new, TINY), np.minimum(new, -TINY))
        self.margins = np.vstack([self.margins[:, chosen], new])

    def _reweigh(self, signed, margins):
        """Keep the chains that agree; those that die start again from survivors."""
        if self.eta:
            weights = np.where(margins > 0, 1.0 - self.eta, self.eta)
            self._choose(weights, signed, margins)
            return True
        rows = np.vstack([self.signed_rows, signed])
        if not np.any(margins > 0) and interior_direction(rows) is None:
            return False
        self._split(signed)
        return True

    def _choose(self, weights, signed, margins):
        chosen = systematic_indices(weights, self.random)
        self.weights = self.weights[:, chosen]
        self.signed_rows = np.vstack([self.signed_rows, signed])
        self.margins = np.vstack([self.margins, margins])[:, chosen]

    def _split(self, signed):
        """Turn a label that few chains survive into several that half of them do.

        All halfspaces of the cone agree with the sum of the signed rows, so that adding
        a multiple of it to the new row gives a wider cone than the label's.
        """
        rows, towards = self.signed_rows, self.signed_rows.sum(axis=0)
        for _ in range(MAX_LEVELS):
            margins = signed @ self.weights
            if np.mean(margins > 0) >= FEW_SURVIVORS:
                self._choose(margins > 0, signed, margins)
                return
            heights = towards @ self.weights
            level = ABOVE_MEDIAN * np.median(-margins / heights)
            margins += level * heights
            self._choose(margins > 0, signed + level * towards, margins)
            self.advance(self.n_steps)
            self.signed_rows, self.margins = rows, self.margins[:-1]
            self.n_levels += 1
        self._start_inside(np.vstack([rows, signed]))

    def _start_inside(self, signed_rows):
        """Start all chains from one point, with more steps to leave it."""
        self.n_restarts += 1
        direction = interior_direction(signed_rows)
        self.signed_rows = signed_rows
        self.weights = np.repeat(direction[:, None], self.weights.shape[1], axis=1)
        normal_radii(self.weights, self.random)
        self.margins = signed_rows @ self.weights
        self.advance(COLD_STARTS * self.n_steps)

    def settle(self):
        """Move every chain on, after the last label of a block."""
        self.advance(self.n_steps)

    def advance(self, n_steps):
        """Move every chain on by ``n_steps`` steps."""
        for _ in self._steps(n_steps):
            pass

    def _steps(self, n_steps):
        """Make steps, and yield the weights after each."""
        if not len(self.weights):
            return
        in_ball = self.sampler == "hit_and_run"
        if in_ball:
            self.margins *= ball_radii(self.weights, self.random)
        move = move_in_ball if in_ball else move_on_ellipse
        for _ in range(n_steps):
            move(
                self.weights, self.margins, self.signed_rows, self.penalty, self.random
            )
            yield self.weights
        if in_ball:
            self.margins *= normal_radii(self.weights, self.random)
        self.n_steps_taken += n_steps

    def acceptance(self, placed):
        """Return the share of the halfspaces that say yes to each row.

        Outside the span, where scores are normal, their probability is exact.
        """
        scores = placed.coordinates.T @ self.weights
        deviations = np.sqrt(placed.residuals)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            yes = ndtr(scores / deviations)
        return np.where(deviations > 0, yes, scores >= 0).mean(axis=1)

    def draw(self, n_draws, random):
        """Return weight vectors of chains drawn at random, (rank, n_draws).

        No chain is drawn twice before all were drawn once.
        """
        n_chains = self.weights.shape[1]
        rounds = max(1, -(-n_draws // n_chains))
        chosen = np.concatenate([random.permutation(n_chains) for _ in range(rounds)])
        return self.weights[:, chosen[:n_draws]]

    def mean(self):
        """Return the mean weight vector, (rank,)."""
        return self.weights.mean(axis=1)

    def report(self, n_probe_steps=200):
        """Say how well the chains mix, from steps of a copy.

        Returns
        -------
        report : dict
            ``autocorrelation`` : ndarray of shape (n_probe_steps + 1,), of directions,
            by the number of steps between them;
            ``effective_sample_size`` : float, independent directions that the probe's
            steps of all chains are worth;
            ``steps_per_hypothesis`` : float, steps that are worth one independent draw;
            ``n_levels``, steps between labels that few chains survived;
            ``n_restarts``, starts from a single point;
            ``n_chains``, ``n_steps``, ``n_steps_taken``.
        """
        probe = deepcopy(self)
        trace = [
            self.weights,
            *(weights.copy() for weights in probe._steps(n_probe_steps)),
        ]
        correlation = direction_autocorrelation(np.array(trace))
        time = integrated_time(correlation)
        n_chains = self.weights.shape[1]
        return {
            "sampler": self.sampler,
            "autocorrelation": correlation,
            "effective_sample_size": n_chains * max(1.0, (len(trace) - 1) / time),
            "steps_per_hypothesis": time,
            "n_chains": n_chains,
            "n_steps": self.n_steps,
            "n_steps_taken": self.n_steps_taken,
            "n_levels": self.n_levels,
            "n_restarts": self.n_restarts,
        }


def direction_autocorrelation(trace):
    """Correlate the directions of chains with their own later ones.

    Parameters
    ----------
    trace : ndarray of shape (n_times, rank, n_chains)

    Returns
    -------
    correlation : ndarray of shape (n_times,)
        1 for lag 0; then the mean inner product of directions that many steps apart,
        less that of independent ones, as a share of the variance. 0 where all
        directions are the same.
    """
    n_times, rank, n_chains = trace.shape
    correlation = np.zeros(n_times)
    correlation[0] = 1.0
    if not rank:
        return correlation
    directions = trace / np.linalg.norm(trace, axis=1, keepdims=True)
    centred = directions - directions.mean(axis=(0, 2))[:, None]
    flat = centred.reshape(n_times, -1)
    products = flat @ flat.T / n_chains
    spread = np.trace(products) / n_times
    if spread > 1e-12:
        lags = range(1, n_times)
        correlation[1:] = [np.diagonal(products, lag).mean() / spread for lag in lags]
    return correlation


def integrated_time(correlation):
    """Return 1 + 2 * the sum of correlations, cut at Geyer's first pair below 0."""
    pairs = (
        correlation[1:][: (len(correlation) - 1) // 2 * 2].reshape(-1, 2).sum(axis=1)
    )
    n_kept = np.argmax(pairs <= 0) if np.any(pairs <= 0) else len(pairs)
    return max(1.0, 1.0 + 2.0 * float(pairs[:n_kept].sum()))
