"""Posteriors over halfspaces: Markov chains and expectation propagation.

A halfspace is a weight vector w. A sample x with sign y is classified correctly if
``y w.x > 0``. With label noise eta a hypothesis has the weight
``(1 - eta)**n_right * eta**n_wrong``. Weight vectors are given by their coordinates in
an orthonormal basis of the labelled samples.

Chains: the thesis [1]_ draws w uniformly from the unit ball restricted by these
constraints (section 3.6.3). Predictions depend on the direction of w only, and the
directions of a standard normal w have the same distribution, so the chains move normal
weight vectors along elliptical slices [2]_. Arrays hold one chain per column.

Expectation propagation: each label is a step function, 1 - eta on the correct side and
eta on the other. The posterior of a normal prior under n steps is replaced by the
Gaussian whose marginals agree, label by label, with those of the exact step under all
other approximations. Its mean is the Bayes point machine. It is deterministic.

References
----------
.. [1] Freund, "Data Filtering and Distribution Modeling Algorithms for Machine
   Learning", PhD thesis, UC Santa Cruz, 1993, chapter 3.
.. [2] Gessner, Kanjilal and Hennig, "Integrals over Gaussians under linear domain
   constraints", AISTATS 2020: elliptical slices cut by linear constraints.
.. [3] Minka, "A family of algorithms for approximate Bayesian inference", PhD thesis,
   MIT, 2001.
.. [4] Herbrich, Graepel and Campbell, "Bayes point machines", JMLR 1, 2001.
"""

import math

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.blas import dsymv, dsyr
from scipy.optimize import linprog
from scipy.special import erfcx, log_ndtr, ndtr, ndtri_exp

from sklboolean._core.parallel import interruptible

# Feasibility tolerance of the solver. Narrower cones count as empty.
FEASIBILITY_TOLERANCE = 1e-9
TINY = 1e-300
# Within a block of labels, chains take this share of their steps after each label.
STEPS_BETWEEN = 0.1
# A label that leaves a smaller share of the chains is split into easier ones.
FEW_SURVIVORS = 0.25
# Each level is just above the median, so that it keeps half of the chains.
ABOVE_MEDIAN = 1.000001
# After this many levels, each of half the volume, restart from an interior point.
MAX_LEVELS = 100
# Chains that start from a single point take this many times the steps.
COLD_STARTS = 10
SQRT_2 = math.sqrt(2.0)
SQRT_2PI = math.sqrt(2.0 * math.pi)
SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)
# Beyond this many standard deviations the formula for the variance of the tail
# suffers from cancellation. The series used there is accurate to 8 digits.
FAR = -70.0
# Sweeps end when no site changes its marginal mean by this share of its standard
# deviation, nor its variance by this share of itself. This is an order of magnitude
# below the error of the method.
TOLERANCE = 1e-3
NEGLIGIBLE = TOLERANCE / 10
MAX_SWEEPS = 50


def interior_direction(signed_samples):
    """Find a direction well inside the cone of the labels.

    Parameters
    ----------
    signed_samples : ndarray of shape (n_samples, rank)
        Samples of length 1; those with a negative label are negated.

    Returns
    -------
    direction : ndarray of shape (rank,), or None
        ``signed_samples @ direction > 0`` in every entry. The smallest entry is
        maximal among directions in the cube [-1, 1]. None if every direction has a
        margin below 1e-9.
    """
    n_samples, rank = signed_samples.shape
    if not n_samples:
        return np.ones(rank)
    # max m with signed_samples @ w >= m and |w|_inf <= 1.
    result = interruptible(
        linprog,
        np.append(np.zeros(rank), -1.0),
        A_ub=np.column_stack([-signed_samples, np.ones(n_samples)]),
        b_ub=np.zeros(n_samples),
        bounds=[(-1, 1)] * rank + [(None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": FEASIBILITY_TOLERANCE / 10},
    )
    if result.x is None:
        raise RuntimeError(f"The linear program was not solved: {result.message}")
    direction = result.x[:-1]
    margin = np.min(signed_samples @ direction)
    return direction if margin > FEASIBILITY_TOLERANCE else None


def meets_cone(signed_samples, start, direction):
    """Test if the line ``start + t * direction`` passes well inside the cone.

    Parameters
    ----------
    signed_samples : ndarray of shape (n_samples, rank)
    start, direction : ndarray of shape (rank,)
    """
    at, slope = signed_samples @ start, signed_samples @ direction
    rises, falls = slope > 0, slope < 0
    lower = np.max(-at[rises] / slope[rises], initial=-np.inf)
    upper = np.min(-at[falls] / slope[falls], initial=np.inf)
    if np.isinf(lower):
        lower = min(upper, 0.0) - 1.0
    if np.isinf(upper):
        upper = max(lower, 0.0) + 1.0
    point = start + 0.5 * (lower + upper) * direction
    return bool(
        np.min(signed_samples @ point) > FEASIBILITY_TOLERANCE * np.linalg.norm(point)
    )


def draw_on_line(breaks, flips, lower, upper, penalty, rng):
    """Draw a point on each line with density exp(-penalty * number of mistakes).

    Parameters
    ----------
    breaks : ndarray of shape (n_breaks, n_chains)
        Points between ``lower`` and ``upper`` where the prediction of a label changes.
    flips : ndarray of shape (n_breaks, n_chains)
        Change of the number of mistakes when a break is crossed upwards: -1, 0 or 1.
    lower, upper : ndarray of shape (n_chains,)
        End points of the lines.
    penalty : float >= 0
    rng : numpy.random.Generator

    Returns
    -------
    points : ndarray of shape (n_chains,)
    """
    order = np.argsort(breaks, axis=0)
    inner = np.take_along_axis(breaks, order, axis=0)
    edges = np.concatenate([lower[None], inner, upper[None]])
    # The number of mistakes at the lower end does not matter.
    wrong = np.cumsum(np.take_along_axis(flips, order, axis=0), axis=0)
    wrong = np.concatenate([np.zeros_like(lower, dtype=int)[None], wrong])
    lengths = np.diff(edges, axis=0)
    fewest = np.min(wrong, axis=0, where=lengths > 0, initial=len(breaks))
    # Segments of length 0 may have even fewer mistakes; they must not overflow.
    mass = lengths * np.exp(-penalty * np.maximum(wrong - fewest, 0))
    total = np.cumsum(mass, axis=0)
    target = rng.random(len(lower)) * total[-1]
    segment = np.argmax(total > target, axis=0)
    chains = np.arange(len(lower))
    first, length = edges[segment, chains], lengths[segment, chains]
    return first + length * rng.random(len(lower))


def move_on_ellipse(weights, margins, signed_samples, penalty, rng):
    """Take one step of elliptical slice sampling without rejections, in place.

    The ellipse w cos t + v sin t passes through w and an independent normal vector v.
    The normal distribution is uniform in t, and each label allows half of the ellipse.

    Parameters
    ----------
    weights : ndarray of shape (rank, n_chains)
        Normal, restricted by the labels.
    margins : ndarray of shape (n_samples, n_chains)
        ``signed_samples @ weights``; updated.
    signed_samples : ndarray of shape (n_samples, rank)
    penalty : float
        ln((1 - label_noise) / label_noise): infinite without label noise.
    rng : numpy.random.Generator
    """
    other = rng.standard_normal(weights.shape)
    across = signed_samples @ other
    if np.isinf(penalty):
        # The half circles all contain t = 0: their intersection is an interval.
        ratios = across / margins
        lower = np.arctan(ratios.max(axis=0, initial=-np.inf)) - np.pi / 2
        upper = np.arctan(ratios.min(axis=0, initial=np.inf)) + np.pi / 2
        angles = lower + (upper - lower) * rng.random(len(lower))
    else:
        # Each label changes sides at two opposite angles.
        first = np.arctan2(-margins, across) % np.pi
        rising = np.where(margins < 0, -1, 1)
        lower = np.zeros(weights.shape[1])
        breaks = np.concatenate([first, first + np.pi])
        flips, upper = np.concatenate([rising, -rising]), lower + 2 * np.pi
        angles = draw_on_line(breaks, flips, lower, upper, penalty, rng)
    cosines, sines = np.cos(angles), np.sin(angles)
    new_margins = cosines * margins + sines * across
    if np.isinf(penalty):
        # A step to the end of the interval may round to the wrong side: do not move.
        stays = np.min(new_margins, axis=0, initial=np.inf) <= 0
        if stays.any():
            cosines, sines = np.where(stays, 1.0, cosines), np.where(stays, 0.0, sines)
            new_margins = cosines * margins + sines * across
    margins[...] = new_margins
    weights *= cosines
    weights += sines * other


def draw_beyond(bounds, right, rng):
    """Draw standard normal numbers above ``-bounds`` where ``right``, below elsewhere.

    Parameters
    ----------
    bounds : ndarray of shape (n,)
    right : ndarray of shape (n,), bool
    rng : numpy.random.Generator

    Returns
    -------
    numbers : ndarray of shape (n,)
    """
    sides = np.where(right, 1.0, -1.0)
    # 1 - random() is in (0, 1], so its logarithm is finite.
    log_tail = log_ndtr(sides * bounds) + np.log(1.0 - rng.random(len(bounds)))
    return -sides * ndtri_exp(log_tail)


def systematic_indices(weights, rng):
    """Draw n indices by systematic resampling.

    Index i is drawn floor or ceil of n * weight_i times, for normalised weights.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        At least 0 and not all 0.
    rng : numpy.random.Generator

    Returns
    -------
    indices : ndarray of shape (n,), intp, ascending
    """
    total = np.cumsum(weights)
    points = (rng.random() + np.arange(len(weights))) / len(weights) * total[-1]
    indices = np.searchsorted(total, points, side="right")
    # Rounding may put the last point at the total.
    return np.minimum(indices, np.flatnonzero(weights)[-1])


class HalfspaceChains:
    """Halfspaces drawn from the posterior by persistent Markov chains.

    Parameters
    ----------
    label_noise : float
        Probability that a label is flipped, below 1/2.
    n_steps : int
        Number of steps of each chain after a block of labels.
    n_chains : int
    rng : numpy.random.Generator
        Kept, and advanced by every move.
    """

    def __init__(self, label_noise, n_steps, n_chains, rng):
        self.label_noise = label_noise
        self.n_steps = n_steps
        self.rng = rng
        self.weights = np.empty((0, n_chains))
        self.margins = np.empty((0, n_chains))
        self.signed_samples = np.empty((0, 0))
        self.n_levels = 0
        self.n_restarts = 0

    @property
    def penalty(self):
        noise = self.label_noise
        return np.inf if noise == 0 else np.log1p(-noise) - np.log(noise)

    def update(self, coordinates, residual, positive):
        """Condition on one more label.

        Parameters
        ----------
        coordinates : ndarray of shape (rank,)
            Coordinates of a sample of length 1.
        residual : float
            Its squared distance from the span. If it is positive, the sample adds a
            dimension.
        positive : bool

        Returns
        -------
        possible : bool
            False if no halfspace agrees with all labels. Nothing is learned then.
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
        """Resample the chains by the probability of the label; draw a coordinate.

        This step is exact: outside the span the score of the new sample is normal, and
        the label truncates it.
        """
        bounds = margins / deviation
        log_right = np.log1p(-self.label_noise) + log_ndtr(bounds)
        log_wrong = np.full(len(bounds), -np.inf)
        if self.label_noise:
            log_wrong = np.log(self.label_noise) + log_ndtr(-bounds)
        log_weights = np.logaddexp(log_right, log_wrong)
        # Relative to the largest, so that some chain has a positive weight.
        weights = np.exp(log_weights - log_weights.max())
        chosen = systematic_indices(weights, self.rng)
        share_right = np.exp(log_right - log_weights)[chosen]
        agrees = self.rng.random(len(chosen)) < share_right
        outside = draw_beyond(bounds[chosen], agrees, self.rng)
        self.weights = np.vstack([self.weights[:, chosen], sign * outside])
        self.signed_samples = np.pad(self.signed_samples, ((0, 1), (0, 1)))
        self.signed_samples[-1] = np.append(signed, sign * deviation)
        new = margins[chosen] + deviation * outside
        # Rounding must not move a chain to the wrong side.
        new = np.where(agrees, np.maximum(new, TINY), np.minimum(new, -TINY))
        self.margins = np.vstack([self.margins[:, chosen], new])

    def _reweigh(self, signed, margins):
        """Replace chains that disagree with the label by copies of those that agree."""
        if self.label_noise:
            weights = np.where(margins > 0, 1.0 - self.label_noise, self.label_noise)
            self._choose(weights, signed, margins)
            return True
        samples = np.vstack([self.signed_samples, signed])
        if not np.any(margins > 0) and interior_direction(samples) is None:
            return False
        self._split(signed)
        return True

    def _choose(self, weights, signed, margins):
        chosen = systematic_indices(weights, self.rng)
        self.weights = self.weights[:, chosen]
        self.signed_samples = np.vstack([self.signed_samples, signed])
        self.margins = np.vstack([self.margins, margins])[:, chosen]

    def _split(self, signed):
        """Replace a label that few chains agree with by a sequence of easier labels.

        All halfspaces of the cone agree with the sum of the signed samples. Adding a
        multiple of it to the new sample therefore gives a wider cone.
        """
        samples, towards = self.signed_samples, self.signed_samples.sum(axis=0)
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
            self.signed_samples, self.margins = samples, self.margins[:-1]
            self.n_levels += 1
        self._start_inside(np.vstack([samples, signed]))

    def _start_inside(self, signed_samples):
        """Restart all chains from one interior point, with more steps."""
        self.n_restarts += 1
        # All chains begin on one ray, with radii of the normal law.
        direction = interior_direction(signed_samples)
        self.signed_samples = signed_samples
        self.weights = np.repeat(direction[:, None], self.weights.shape[1], axis=1)
        radii = np.sqrt(self.rng.chisquare(len(direction), self.weights.shape[1]))
        self.weights *= radii / np.linalg.norm(self.weights, axis=0)
        self.margins = signed_samples @ self.weights
        self.advance(COLD_STARTS * self.n_steps)

    def refine(self):
        """Run every chain for ``n_steps`` steps, after the last label of a block."""
        self.advance(self.n_steps)

    def advance(self, n_steps):
        """Run every chain for ``n_steps`` steps."""
        if not len(self.weights):
            return
        for _ in range(n_steps):
            move_on_ellipse(
                self.weights, self.margins, self.signed_samples, self.penalty, self.rng
            )

    def positive_probability(self, samples):
        """Compute the share of the halfspaces that predict positive for each sample.

        Outside the span scores are normal, and their probability is exact.
        """
        scores = samples.coordinates.T @ self.weights
        deviations = np.sqrt(samples.residuals)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            positive = ndtr(scores / deviations)
        return np.where(deviations > 0, positive, scores >= 0).mean(axis=1)

    def draw(self, n_draws, rng):
        """Draw the weight vectors of random chains: shape (rank, n_draws).

        No chain is drawn twice before all chains have been drawn once.
        """
        n_chains = self.weights.shape[1]
        rounds = max(1, -(-n_draws // n_chains))
        chosen = np.concatenate([rng.permutation(n_chains) for _ in range(rounds)])
        return self.weights[:, chosen[:n_draws]]

    def mean(self):
        """Compute the mean weight vector: shape (rank,)."""
        return self.weights.mean(axis=1)


def tilted_moments(mean, variance, sign, label_noise):
    """Compute the mean and variance of a normal variable under a noisy step.

    Parameters
    ----------
    mean, variance : float
        Of the normal distribution, before the label.
    sign : 1.0 or -1.0
        The label.
    label_noise : float
        Probability that the label is flipped, below 1/2.

    Returns
    -------
    mean, variance : float
        Of the density proportional to the normal density times
        ``label_noise + (1 - 2 label_noise) [sign * f > 0]``.
    """
    deviation = math.sqrt(variance)
    z = sign * mean / deviation
    if label_noise == 0.0 and z < FAR:
        # To first order, the excess over the bound is exponential.
        shrink = (1.0 - 6.0 / z**2 + 50.0 / z**4) / z**2
        excess = (1.0 - 2.0 / z**2 + 10.0 / z**4) / -z
        return sign * deviation * excess, variance * shrink
    if label_noise == 0.0:
        # phi(z) / Phi(z) without the common factor.
        ratio = SQRT_2_OVER_PI / erfcx(-z / SQRT_2)
    else:
        step = 1.0 - 2.0 * label_noise
        ratio = (
            step * math.exp(-0.5 * z * z) / (SQRT_2PI * (label_noise + step * ndtr(z)))
        )
    shrink = 1.0 - ratio * (ratio + z)
    return mean + sign * deviation * ratio, variance * shrink


class GaussianPosterior:
    """Gaussian approximation of the posterior, with one site per label.

    Parameters
    ----------
    label_noise : float
        Probability that a label is flipped, below 1/2.
    """

    def __init__(self, label_noise):
        self.label_noise = label_noise
        self.rows = np.empty((0, 0))
        self.signs = np.empty(0)
        self.precisions = np.empty(0)
        self.shifts = np.empty(0)
        self.mean_weights = np.empty(0)
        self.covariance = np.empty((0, 0), order="F")
        self.n_sweeps = 0
        self.n_skipped = 0
        self.change = 0.0

    def update(self, coordinates, residual, positive):
        """Condition on one more label.

        Parameters
        ----------
        coordinates : ndarray of shape (rank,)
            Coordinates of a sample of length 1.
        residual : float
            Its squared distance from the span. If it is positive, the sample adds a
            dimension.
        positive : bool

        Returns
        -------
        possible : bool
            False if no halfspace agrees with all labels. Nothing is learned then.
        """
        sign = 1.0 if positive else -1.0
        may_contradict = residual == 0 and self.label_noise == 0
        if may_contradict and not self._is_possible(coordinates, sign):
            return False
        if residual > 0:
            # Earlier labels do not depend on the new dimension: it has its prior.
            rank = len(self.mean_weights) + 1
            covariance = np.zeros((rank, rank), order="F")
            covariance[:-1, :-1] = self.covariance
            covariance[-1, -1] = 1.0
            self.covariance = covariance
            self.mean_weights = np.append(self.mean_weights, 0.0)
            self.rows = np.pad(self.rows, ((0, 0), (0, 1)))
            coordinates = np.append(coordinates, np.sqrt(residual))
        self.rows = np.vstack([self.rows, coordinates])
        self.signs = np.append(self.signs, sign)
        self.precisions = np.append(self.precisions, 0.0)
        self.shifts = np.append(self.shifts, 0.0)
        self._update(len(self.signs) - 1)
        return True

    def _is_possible(self, row, sign):
        """Search along the line on which the mean would move, then everywhere."""
        signed_samples = np.vstack([self.signs[:, None] * self.rows, sign * row])
        spread = dsymv(1.0, self.covariance, row)
        if meets_cone(signed_samples, self.mean_weights, sign * spread):
            return True
        return interior_direction(signed_samples) is not None

    def refine(self):
        """Sweep over the sites until convergence, after the last label of a block."""
        self.n_sweeps = self.n_skipped = 0
        for _ in range(MAX_SWEEPS):
            self.change = 0.0
            for site in range(len(self.signs)):
                self.change = max(self.change, self._update(site))
            self.n_sweeps += 1
            if self.change < TOLERANCE:
                break
        self._recompute()

    def _update(self, site):
        """Match the marginal of one site to its label, and measure the change."""
        row = self.rows[site]
        spread = dsymv(1.0, self.covariance, row)
        variance = float(row @ spread)
        mean = float(row @ self.mean_weights)
        precision, shift = self.precisions[site], self.shifts[site]
        # The cavity distribution: the marginal without this site.
        cavity_share = 1.0 - precision * variance
        if not (variance > 0.0 and cavity_share > 0.0):
            self.n_skipped += 1
            return 0.0
        cavity_variance = variance / cavity_share
        cavity_mean = (mean - shift * variance) / cavity_share
        new_mean, new_variance = tilted_moments(
            cavity_mean, cavity_variance, self.signs[site], self.label_noise
        )
        if not new_variance > 0.0:
            self.n_skipped += 1
            return 0.0
        moved = max(
            abs(new_mean - mean) / math.sqrt(variance),
            abs(new_variance - variance) / variance,
        )
        if moved < NEGLIGIBLE:  # true of most sites after a warm start
            return moved
        change = 1.0 / new_variance - 1.0 / variance
        self.precisions[site] = precision + change
        self.shifts[site] = new_mean / new_variance - cavity_mean / cavity_variance
        # The new moments of one marginal determine the others by regression on it.
        self.mean_weights += (new_mean - mean) / variance * spread
        factor = (new_variance - variance) / variance**2
        self.covariance = dsyr(factor, spread, a=self.covariance, overwrite_a=True)
        return moved

    def _recompute(self):
        """Compute the moments from the sites: rank-one updates accumulate rounding."""
        if not len(self.mean_weights):  # older LAPACK wrappers reject empty matrices
            return
        weighted = self.rows * self.precisions[:, None]
        precision = self.rows.T @ weighted
        precision.flat[:: len(precision) + 1] += 1.0
        self.factor = np.linalg.cholesky(precision)
        solution = cho_solve(
            (self.factor, True),
            np.column_stack([np.eye(len(precision)), self.rows.T @ self.shifts]),
            check_finite=False,
        )
        self.covariance = np.asfortranarray(solution[:, :-1])
        self.mean_weights = solution[:, -1].copy()

    def positive_probability(self, samples):
        """Compute the probability of a positive prediction for each sample."""
        coordinates = samples.coordinates
        means = self.mean_weights @ coordinates
        spread = np.einsum("ij,ij->j", self.covariance @ coordinates, coordinates)
        variances = samples.residuals + np.maximum(spread, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            positive = ndtr(means / np.sqrt(variances))
        return np.where(variances > 0, positive, means >= 0)

    def draw(self, n_draws, rng):
        """Draw weight vectors from the Gaussian: shape (rank, n_draws)."""
        rank = len(self.mean_weights)
        noise = rng.normal(size=(rank, n_draws))
        if not rank:
            return noise
        noise = solve_triangular(self.factor.T, noise, check_finite=False)
        return self.mean_weights[:, None] + noise

    def mean(self):
        """Compute the mean weight vector: shape (rank,)."""
        return self.mean_weights
