"""Conditions of a scorecard: added one by one, each exchanged where another is better.

The objective is that of `PatternCounts` plus a price for each condition: half the
logarithm of the number of features, and four times as much for a pair, of which there
are many more. What a condition would change is estimated for all of them at once, by
a Newton step, from sums of residuals and curvatures over the samples that satisfy it.
"""

# 1. `extended`: estimate for all conditions by how much a Newton step would lower the
#    objective, fit the best few of them with all weights, and take the best one.
# 2. `exchanged`: leave out each condition in turn, and extend the card again.
# 3. Repeat until the objective does not fall.
#
# Sums over pairs of features are products of float32 matrices, (n_features, n_features)
# for each of three kinds of pairs: both true, only the first, none. They only rank the
# conditions: what is chosen is fitted and compared in float64.

from copy import copy
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from scipy.special import entr, expit, xlog1py

from sklboolean._core.directions import signs_of_weights
from sklboolean._core.parallel import beside, each_slice
from sklboolean.rules._column_generation import ROUNDING, ColumnGeneration
from sklboolean.rules._scorecard_points import RIDGE, PatternCounts

N_TRIED = 4  # conditions that are fitted, of those estimated
PIECE = 2**14  # samples of which slopes are computed at a time
SAMPLES_FOR_THREADS = 2**14  # fewer are counted before a second thread has started
LEAST_SPREAD = 1e-5  # of a condition: rarer ones are left out
# Values of C of which the bound is the best; their tolerance, and work of each.
N_BOUNDS, BOUND_TOL, BOUND_WORK = 5, 1e-3, 1e9


@dataclass(frozen=True)
class Card:
    """Conditions with real weights.

    Attributes
    ----------
    conditions : tuple of tuples of (feature, value) pairs
    weights : ndarray of shape (1 + n_conditions,)
        The intercept is the first.
    objective : float
    counts : PatternCounts
    """

    conditions: tuple
    weights: np.ndarray
    objective: float
    counts: PatternCounts


class ConditionSearch:
    """Training samples and the conditions of one or two literals.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features), bool
    targets : ndarray of shape (n_samples,), float64
        1 for the second class, else 0.
    sample_weight : ndarray of shape (n_samples,)
        Above 0.
    max_literals : {1, 2}
    groups : ndarray of shape (n_features,), int
        Features of one group are never a pair.
    directions : ndarray of shape (n_features,), int8
        1 where the score must not fall when the feature becomes true, -1 where it must
        not rise, else 0.
    n_jobs : int or None
    """

    def __init__(
        self, features, targets, sample_weight, max_literals, groups, directions,
        n_jobs=None,
    ):  # fmt: skip
        self.directions, self.n_jobs = directions, n_jobs
        n_features = features.shape[1]
        self.features, self.floats = features, features.astype(np.float32)
        self.sample_weight = sample_weight
        self._set_targets(targets)
        self.has_pairs, self._covers = max_literals == 2, {}
        price = np.log(max(n_features, 2)) / 2
        self.prices = {1: price, 2: 4 * price}
        is_needed = first_of_each(features)
        if self.has_pairs:
            single = np.eye(n_features, dtype=bool)
            may_pair = (groups[:, None] != groups) & np.outer(is_needed, is_needed)
            first = np.triu(may_pair, 1)
            self._is_allowed = np.array([first | np.diag(is_needed), may_pair, first])
            self._price = np.where(single, price, 4 * price)
            firsts = np.multiply.outer([1, 1, -1], directions)[:, :, None]
            seconds = np.multiply.outer([1, -1, -1], directions)[:, None, :]
            self._signs = np.sign(firsts + seconds)
            self._is_allowed &= firsts * seconds >= 0
        else:
            self._is_allowed, self._price = is_needed, price
            self._signs = directions

    def with_targets(self, targets):
        """Search the same samples for conditions of other targets."""
        search = copy(self)
        search._set_targets(targets)
        return search

    def _set_targets(self, targets):
        self.targets = targets
        weights = self.sample_weight
        self.masses = np.column_stack([weights * targets, weights])

    def cover(self, condition):
        """Mark the samples that satisfy a condition."""
        if condition not in self._covers:
            values = [self.features[:, j] == value for j, value in condition]
            self._covers[condition] = np.logical_and.reduce(values)
        return self._covers[condition]

    def counts(self, conditions):
        """Count the samples by the conditions that they satisfy."""
        return PatternCounts.of(map(self.cover, conditions), self.masses)

    def fitted(self, conditions, counts, start):
        """Fit the weights of some conditions."""
        weights, objective = counts.fit_weights(start)
        if (signs_of_weights(conditions, self.directions) * weights[1:] < 0).any():
            objective = np.inf  # a weight against its direction
        objective += sum(self.prices[len(condition)] for condition in conditions)
        return Card(tuple(conditions), weights, objective, counts)

    def sums(self, values):
        """Sum up values of samples over those that satisfy each condition.

        Returns
        -------
        sums : ndarray of shape (3, n_features, n_features) or (n_features,)
            Of pairs of features of which both hold, the first, or none; on the diagonal
            of the first of these three, of single features.
        """
        unit = np.abs(values).max() or 1.0
        scaled = (values / unit).astype(np.float32)
        if not self.has_pairs:
            return unit * (scaled @ self.floats).astype(np.float64)
        both = ((self.floats.T * scaled) @ self.floats).astype(np.float64)
        single, total = both.diagonal()[:, None], float(scaled.sum(dtype=np.float64))
        neither = total - single - single.T + both
        return unit * np.array([both, single - both, neither])

    def promising(self, card):
        """List the conditions that may lower the objective most, if any may."""
        codes = card.counts.codes
        shares = expit(card.weights[0] + card.counts.rows @ card.weights[1:])
        residuals, curvatures = np.empty((2, len(codes)))

        def differentiate(first, last):
            piece = slice(first, last)
            share, weights = shares[codes[piece]], self.sample_weight[piece]
            np.multiply(weights, self.targets[piece] - share, out=residuals[piece])
            np.multiply(weights * share, 1 - share, out=curvatures[piece])

        is_small = len(codes) < SAMPLES_FOR_THREADS
        each_slice(differentiate, len(codes), self.n_jobs, small=is_small, step=PIECE)
        spreads = beside(lambda: self.sums(curvatures), 1 if is_small else self.n_jobs)
        sums = self.sums(residuals)
        spreads, total = spreads(), curvatures.sum()
        spreads *= 1 - spreads / (total or 1.0)
        gains = sums * (sums / (2 * (spreads + RIDGE))) - self._price
        is_left_out = ~self._is_allowed | (spreads <= LEAST_SPREAD * total)
        gains[is_left_out | (self._signs * sums < 0)] = -np.inf
        n_listed = min(N_TRIED + len(card.conditions), gains.size)
        places = np.argpartition(-gains, n_listed - 1, axis=None)[:n_listed]
        places = places[np.argsort(-gains.flat[places], kind="stable")]
        listed = [self._condition(p) for p in places if gains.flat[p] > 0]
        return [c for c in listed if c not in card.conditions][:N_TRIED]

    def _condition(self, number):
        """Return the condition of a number in the flattened sums."""
        if not self.has_pairs:
            return ((int(number), True),)
        kind, first, second = np.unravel_index(number, self._is_allowed.shape)
        if first == second:
            return ((int(first), True),)
        return tuple(sorted([(int(first), kind < 2), (int(second), kind < 1)]))

    def extended(self, card):
        """Add the best condition to a card; the card itself where none is worth it."""
        conditions, counts = self.promising(card), {}

        def count(first, last):
            for condition in conditions[first:last]:
                cover = self.cover(condition)
                counts[condition] = card.counts.extended(cover, self.masses)

        is_small = len(self.targets) < SAMPLES_FOR_THREADS
        each_slice(count, len(conditions), self.n_jobs, small=is_small)
        start = np.r_[card.weights, 0.0]
        longer = [
            self.fitted((*card.conditions, condition), counts[condition], start)
            for condition in conditions
        ]
        return min([card, *longer], key=attrgetter("objective"))

    def exchanged(self, card):
        """Leave out each condition in turn, or exchange it, where this is better."""
        for condition in card.conditions:
            others = [k for k, c in enumerate(card.conditions) if c != condition]
            shorter = self.fitted(
                tuple(card.conditions[k] for k in others),
                card.counts.without(card.conditions.index(condition), self.masses),
                np.r_[card.weights[0], card.weights[1:][others]],
            )
            card = min(card, self.extended(shorter), key=attrgetter("objective"))
        return card


def first_of_each(features):
    """Mark the features that are neither an earlier one nor the negation of one.

    The others would only give the same cards in other words.
    """
    columns = np.packbits(features ^ features[:1], axis=0)
    first = {}
    for j, column in enumerate(columns.T):
        first.setdefault(column.tobytes(), j)
    return np.isin(np.arange(features.shape[1]), [*first.values()])


def least_loss(targets, sample_weight, words, space, total, C, n_jobs=None):
    """Bound the loss of all weighted sums of conditions whose weights are small.

    For each C the least of ``C * loss + sum of absolute weights`` is bounded by duality
    from below. Where the weights add up to no more than ``total``, the loss is so at
    least that, minus ``total``, over C. Where it is 0, only the intercept is left.

    Parameters
    ----------
    targets : ndarray of shape (n_outputs, n_samples)
        Targets of one output for two classes, else of one for each class.
    sample_weight : ndarray of shape (n_samples,)
    words : ndarray of uint64 words
    space : ConjunctionSpace
    total : float
    C : float
        The first one.
    n_jobs : int or None
    """
    if not total:
        if len(targets) > 1:
            masses = targets @ sample_weight
            return masses.sum() * entr(masses / masses.sum()).sum()
        masses = np.bincount(targets[0].astype(int), sample_weight)
        rare = masses.min() / masses.sum()
        return masses.sum() * (entr(rare) - xlog1py(1 - rare, -rare))
    bound, loss = 0.0, "softmax" if len(targets) > 1 else "logistic"
    model = ColumnGeneration(words, sample_weight, targets, loss, space, n_jobs)
    model.add_features()
    for _ in range(N_BOUNDS):
        model.minimize(C, BOUND_TOL, exact=True, max_work=BOUND_WORK)
        least = model.objective - model.gap
        least -= total + ROUNDING * (least + total)
        bound = max(bound, least / C)
        size = np.abs(model.coefficients[:, 1:]).sum()
        if abs(size - total) < 0.05 * total:
            break
        C *= np.clip(total / (size or 1e-9), 0.25, 4)
    return bound
