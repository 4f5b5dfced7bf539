"""Weights and integer points of given conditions, by samples counted by pattern.

A sample matters by its class and by the conditions that it satisfies: its pattern. The
objective is the log-loss, summed up over samples, plus half the squared weights.
"""

# Weights are scaled so that the largest one is each of some numbers up to `max_points`,
# and rounded. Each list of points gets its best scale and intercept by Newton steps,
# for all lists at once. The best lists are then changed by one point at a time.
# Liu, Zhong, Li, Seltzer, Rudin, "FasterRisk", NeurIPS 2022, round at several scales.

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax

from sklboolean.rules._bit_columns import add_by_pattern

RIDGE = 1.0
MAX_STEPS = 50  # of Newton's method
TOL = 1e-9  # of a step, as a fraction of the weight of the samples
LEAST_SHARE = 1e-16  # of a curvature of this weight, so that no step overflows
# Scales that the weights are rounded at, for each point; roundings that are improved.
N_SCALES, N_IMPROVED = 4, 3


def sums_by_pattern(codes, masses, n_patterns, cover=None):
    """Sum up masses over the samples of each pattern, outside a cover and within it.

    Returns
    -------
    sums : ndarray of shape (2, n_patterns, 2)
    """
    sums = np.zeros((2, n_patterns, 2))
    cover = np.zeros(len(codes), dtype=bool) if cover is None else cover
    add_by_pattern(codes, cover, masses, sums)
    return sums


@dataclass(frozen=True, eq=False)
class PatternCounts:
    """The patterns of the samples, and the weight of each class in them.

    Patterns come in the order of their last condition, then of the one before, and so
    on. All of them occur.

    Attributes
    ----------
    rows : ndarray of shape (n_patterns, n_conditions), float64
        Ones where a condition holds.
    second, both : ndarrays of shape (n_patterns,)
        Weight of the samples of the second class, and of both.
    find_codes : callable
        Computes ``codes``, which most counts are not asked for.
    """

    rows: np.ndarray
    second: np.ndarray
    both: np.ndarray
    find_codes: Callable

    @cached_property
    def codes(self):
        """The pattern of each sample: ndarray of shape (n_samples,), int32."""
        return self.find_codes()

    @classmethod
    def of(cls, covers, masses):
        """Count samples by the conditions that each satisfies.

        Parameters
        ----------
        covers : sequence of ndarrays of shape (n_samples,), bool
            The samples that satisfy each condition.
        masses : ndarray of shape (n_samples, 2)
            Weight in the second class, and in both, which is above 0.
        """
        codes = np.zeros(len(masses), dtype=np.int32)
        sums = sums_by_pattern(codes, masses, 1)
        counts = cls(np.zeros((1, 0)), *sums[0].T.copy(), lambda: codes)
        for cover in covers:
            counts = counts.extended(cover, masses)
        return counts

    def extended(self, cover, masses):
        """Count the samples by one more condition."""
        codes, n_patterns = self.codes, len(self.rows)
        sums = sums_by_pattern(codes, masses, n_patterns, cover)
        holds, pattern = np.nonzero(sums[:, :, 1])
        numbers = np.zeros((2, n_patterns), dtype=np.int32)
        numbers[holds, pattern] = np.arange(len(holds))
        return PatternCounts(
            np.column_stack([self.rows[pattern], holds]),
            *sums[holds, pattern].T.copy(),
            lambda: np.where(cover, *(of_value[codes] for of_value in numbers[::-1])),
        )

    def without(self, k, masses):
        """Count the samples by all conditions but one."""
        rows = np.delete(self.rows, k, axis=1)
        order = np.lexsort((np.zeros(len(rows)), *rows.T))
        rows = rows[order]
        is_first = np.r_[True, (rows[1:] != rows[:-1]).any(axis=1)]
        numbers = np.empty(len(rows), dtype=np.int32)
        numbers[order] = np.cumsum(is_first) - 1
        codes = numbers[self.codes]
        sums = sums_by_pattern(codes, masses, is_first.sum())
        return PatternCounts(rows[is_first], *sums[0].T.copy(), lambda: codes)

    def losses(self, scores):
        """Sum up the log-loss of scores of shape (n_patterns, ...)."""
        first = self.both - self.second
        return self.second @ np.logaddexp(0, -scores) + first @ np.logaddexp(0, scores)

    @np.errstate(over="ignore")  # of steps that are too long, and not taken
    def fit_weights(self, start):
        """Minimize over the intercept and the weights, by Newton's method.

        Returns
        -------
        weights : ndarray of shape (1 + n_conditions,)
            The intercept is the first.
        objective : float
        """
        columns = np.column_stack([np.ones(len(self.rows)), self.rows])
        ridge = np.r_[0.0, np.full(self.rows.shape[1], RIDGE)]

        def objective(weights):
            return self.losses(columns @ weights) + ridge @ weights**2 / 2

        weights, value = start, objective(start)
        for _ in range(MAX_STEPS):
            means = expit(columns @ weights)
            slope = columns.T @ (self.both * means - self.second) + ridge * weights
            curvatures = self.both * means * (1 - means)
            hessian = (columns.T * curvatures) @ columns + np.diag(ridge)
            hessian[0, 0] = max(hessian[0, 0], LEAST_SHARE * self.both.sum())
            step = np.linalg.lstsq(hessian, slope, rcond=None)[0]
            if slope @ step <= TOL * self.both.sum():
                break
            length = 1.0
            while objective(weights - length * step) > value and length > TOL:
                length /= 2
            weights = weights - length * step
            value = objective(weights)
        return weights, float(value)

    def fit_scale(self, points):
        """Fit a scale, 1 where there are no points, and an intercept to given points.

        The objective is that of `fit_weights` of the scale times the points.
        """
        size = np.linalg.norm(points)
        if not size:
            return 1.0, float(self.fit_weights(np.zeros(1 + len(points)))[0][0])
        sums = replace(self, rows=(self.rows @ points)[:, None] / size)
        intercept, weight = sums.fit_weights(np.zeros(2))[0]
        return float(weight / size), float(intercept)

    def fit_scales(self, points, scales, intercepts, n_steps):
        """Fit a scale and an intercept to each of several lists of points.

        Parameters
        ----------
        points : ndarray of shape (n_lists, n_conditions)
        scales, intercepts : ndarrays of shape (n_lists,)
            Where to start.
        n_steps : int
            Steps of Newton's method; a step that is too long for a list is left out.

        Returns
        -------
        objectives, scales, intercepts : ndarrays of shape (n_lists,)
        """
        totals, ridge = self.rows @ points.T, RIDGE * (points**2).sum(axis=1)

        def objectives(scales, intercepts):
            losses = self.losses(scales * totals + intercepts)
            return losses + ridge * scales**2 / 2

        values = objectives(scales, intercepts)
        for _ in range(n_steps):
            means = expit(scales * totals + intercepts)
            excess = self.both[:, None] * means - self.second[:, None]
            curvatures = self.both[:, None] * means * (1 - means)
            slope = excess.sum(axis=0)
            of_scale = (totals * excess).sum(axis=0) + ridge * scales
            sums = np.maximum(curvatures.sum(axis=0), LEAST_SHARE * self.both.sum())
            means = (totals * curvatures).sum(axis=0) / sums
            spreads = ((totals - means) ** 2 * curvatures).sum(axis=0) + ridge
            step = (of_scale - means * slope) / spreads
            tried = scales - step, intercepts - (slope / sums - means * step)
            is_better = (of_tried := objectives(*tried)) < values
            scales = np.where(is_better, tried[0], scales)
            intercepts = np.where(is_better, tried[1], intercepts)
            values = np.where(is_better, of_tried, values)
        return values, scales, intercepts


def choose_points(counts, weights, max_points, signs):
    """Round weights to integers and improve them by one point at a time.

    Where ``signs`` of conditions are 1 or -1, points keep them, as the weights do.

    Returns
    -------
    points : ndarray of shape (n_conditions,), int64
        Without a common factor.
    scale, intercept : float
        The log-odds are ``scale`` times the points that a sample has, and the
        intercept.
    """
    size = np.abs(weights[1:]).max()
    factors = np.linspace(1, max_points, N_SCALES * max_points)
    rounded = np.rint(weights[1:] / size * factors[:, None]).astype(np.int64)
    rounded = np.unique(rounded, axis=0)
    scales = rounded @ weights[1:] / (rounded**2).sum(axis=1)
    fits = counts.fit_scales(rounded, scales, np.full(len(rounded), weights[0]), 8)
    best = min(
        (
            _improved(
                counts, rounded[k], [values[k] for values in fits], max_points, signs
            )
            for k in np.argsort(fits[0], kind="stable")[:N_IMPROVED]
        ),
        key=lambda card: card[1],
    )
    points, _, scale, intercept = best
    if scale <= 0 and signs.any():  # it would turn the signs round
        return np.zeros_like(points), 1.0, float(weights[0])
    divisor = int(np.gcd.reduce(points)) * (1 if scale > 0 else -1)
    return points // divisor, float(scale * divisor), float(intercept)


def choose_joint_points(covers, weights, intercepts, targets, sample_weight, most):
    """Round the weights of a card for each class at one scale.

    Parameters
    ----------
    covers : ndarray of shape (n_samples, n_conditions), bool
    weights : ndarray of shape (n_classes, n_conditions)
    intercepts : ndarray of shape (n_classes,)
    targets : ndarray of shape (n_samples, n_classes), float64
        1 for the class of a sample, else 0.
    sample_weight : ndarray of shape (n_samples,)
    most : int
        Maximum absolute points.

    Returns
    -------
    points : ndarray of shape (n_classes, n_conditions), int64
        Without a common factor.
    slope : float
    intercepts : ndarray of shape (n_classes,)
        The softmax of ``slope`` times the points, plus the intercepts, is fitted.
    """
    size = np.abs(weights).max(initial=0.0) or 1.0
    factors, fits = np.linspace(1, most, N_SCALES * most), []
    for points in np.unique(np.rint(weights / size * factors[:, None, None]), axis=0):
        totals, ridge = covers @ points.T, RIDGE * (points**2).sum()

        def objective(values, totals=totals, ridge=ridge):
            scores = values[0] * totals + values[1:]
            excess = sample_weight[:, None] * (softmax(scores, axis=1) - targets)
            slope = np.r_[(excess * totals).sum() + ridge * values[0], excess.sum(0)]
            losses = -(log_softmax(scores, axis=1) * targets).sum(axis=1)
            return sample_weight @ losses + ridge * values[0] ** 2 / 2, slope

        start = np.r_[size / np.abs(points).max(initial=1.0), intercepts]
        fit = minimize(objective, start, jac=True, method="L-BFGS-B")
        fits.append((fit.fun, points, fit.x))
    _, points, values = min(fits, key=itemgetter(0))
    points = points.astype(np.int64)
    divisor = int(np.gcd.reduce(points, axis=None)) or 1
    slope = float(values[0] * divisor) if points.any() else 1.0
    return points // divisor, slope, values[1:] - values[1:].mean()


def _improved(counts, points, fit, max_points, signs):
    """Add or take a point of one condition, the best, while the objective falls."""
    steps = np.eye(len(points), dtype=np.int64)
    while True:
        tried = np.concatenate([points + steps, points - steps])
        tried = tried[(np.abs(tried).max(axis=1) <= max_points) & tried.any(axis=1)]
        tried = tried[(tried * signs >= 0).all(axis=1)]
        if not len(tried):  # one condition of one point
            return points, *fit
        starts = [np.full(len(tried), value) for value in fit[1:]]
        fits = counts.fit_scales(tried, *starts, 3)
        best = fits[0].argmin()
        if fits[0][best] >= fit[0] - TOL * counts.both.sum():
            return points, *fit
        points, fit = tried[best], [values[best] for values in fits]
