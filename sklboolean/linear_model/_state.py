"""The state of an online linear classifier, and one epoch of training it."""

# Lazy averages. A hypothesis w_t counts once for every sample t after which it is in
# force.
# Additive rule: sum_t w_t = t * w - average_corrections. An update d after c samples
# adds c * d to average_corrections, so that a weight costs nothing between its updates.
# Multiplicative rule: each weight keeps the sum over the samples before its last change
# (SUM) and how many samples that were (SINCE).
# Longest survivor: the weights of the last hypothesis are copied when it falls, if it
# lasted longer than every one before.
# Shapes: one row for each feature, padding up to a multiple of 64 (words of bits), one
# row for the sum of weights of negated features, one for the constant; one column for
# each hypothesis, so that several classes are scored in one pass over a sample.
# Averages over partitions: McDonald, Hall, Mann 2010.

from dataclasses import dataclass
from math import sqrt

import numpy as np

from sklboolean._core.damage import require

PLUS, MINUS, SUM, SINCE = range(4)  # the factors of a multiplicative weight


@dataclass(frozen=True)
class LoopConfig:
    """Parameters of the compiled loop.

    Attributes
    ----------
    rule : {"additive", "balanced", "positive", "complement"}
        The update rule.
    n_features : int
    margin : (float, float) or None
        Margins of positive and negative samples. None: the change by a mean update.
    average : {"mean", "longest"} or None
        Which hypothesis predicts.
    fit_intercept : bool
    joint : bool
        Compare the correct class with its strongest rival.
    schedule : {"constant", "inverse_sqrt", "adagrad", "aggressive"}
        Learning-rate schedule.
    rate : float
        Learning rate.
    flipped : bool
        Learn the complement of the class (De Morgan).
    threshold, promotion, demotion : float
        Winnow's.
    initial : (float, float)
        First values of the two multiplicative factors.
    binarize : float, None or "passthrough"
        How the features were made Boolean.
    """

    rule: str
    n_features: int
    margin: tuple | None
    average: str | None
    fit_intercept: bool
    joint: bool = False
    schedule: str = "constant"
    rate: float = 1.0
    flipped: bool = False
    threshold: float = 0.0
    promotion: float = 1.0
    demotion: float = 1.0
    initial: tuple = (0.0, 0.0)
    binarize: float | str | None = "passthrough"


class LinearState:
    """Weights of all hypotheses, and what their average needs.

    Arrays have one row for each feature, rows of padding up to a multiple of 64, one
    for the sum of the negated features' weights and a last one for the constant. They
    have one column for each hypothesis.

    Parameters
    ----------
    config : LoopConfig
    n_hypotheses : int

    Attributes
    ----------
    weights : ndarray of shape (height, n_hypotheses), float64
        Weights of the last hypothesis.
    factors : ndarray of shape (height, n_hypotheses, 4), float64
        Factors of a multiplicative weight: plus, minus, the sum over earlier samples,
        and the number of these. Empty for the additive rule.
    squares : ndarray of shape (height, n_hypotheses), float64
        Sums of squared steps, for AdaGrad.
    average_corrections : ndarray of shape (height, n_hypotheses), float64
        The sum of the hypotheses is ``t * weights - average_corrections``.
    longest_weights, last_update, best_survival : ndarray
        The hypothesis that survived the most samples, when the last one was made, and
        how many samples the longest one survived.
    t : int
        Samples seen.
    mean_change : float or None
        Change of a sample's score by its own update with learning rate 1, on average
        over the samples of the first call that needed it.
    """

    ARRAYS = (
        "weights factors squares average_corrections longest_weights last_update "
        "best_survival"
    ).split()
    mean_change = None

    def __init__(self, config, n_hypotheses):
        self.config = config
        height = 64 * -(-config.n_features // 64) + 2
        multiplicative, average = config.rule != "additive", config.average
        n_squares = height if config.schedule == "adagrad" else 0
        n_corrections = height if average == "mean" and not multiplicative else 0
        n_longest = height if average == "longest" else 0
        self.weights = np.zeros((height, n_hypotheses))
        self.factors = np.zeros((height if multiplicative else 0, n_hypotheses, 4))
        self.squares = np.zeros((n_squares, n_hypotheses))
        self.average_corrections = np.zeros((n_corrections, n_hypotheses))
        self.longest_weights = np.zeros((n_longest, n_hypotheses))
        self.last_update = np.ones(n_hypotheses, dtype=np.int64)
        self.best_survival = np.full(n_hypotheses, -1, dtype=np.int64)
        self.t = 0
        if multiplicative:
            self._set_initial_factors()

    def __setstate__(self, state):
        if state.get("scale", 1.0) != 1.0:  # of weights with an L2 penalty
            raise ValueError(
                "This model was trained by version 0.2 with alpha, which version 0.3 "
                "does not have. Load it with version 0.2, or fit it again."
            )
        vars(self).update(state)

    def _set_initial_factors(self):
        plus, minus = self.config.initial
        if self.config.rule == "positive":
            minus = 0.0
        for rows in (slice(self.config.n_features), slice(-1, None)):
            self.factors[rows, :, PLUS], self.factors[rows, :, MINUS] = plus, minus
        self._multiply_out()

    def _multiply_out(self):
        """Compute the weights from their factors."""
        self.weights = self.factors[:, :, PLUS] - self.factors[:, :, MINUS]
        if not self.config.fit_intercept:
            self.weights[-1] = 0.0
        if self.config.rule == "complement":
            negated = self.factors[: self.config.n_features, :, MINUS]
            self.weights[-2] = negated.sum(axis=0)

    def copy(self):
        """Copy all arrays, so that training the copy leaves this state alone."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        for name in self.ARRAYS:
            setattr(other, name, getattr(self, name).copy())
        return other

    def set_mean_change(self, data, samples, sizes):
        """Compute the mean change by an update, if the margin is not a number.

        Parameters
        ----------
        data : OnlineData
        samples : ndarray of int
            The samples of the training call.
        sizes : ndarray of shape (n_samples,) or None
            Size of each sample's update. None: 1.
        """
        if self.config.margin is not None or self.mean_change is not None:
            return
        # AdaGrad's steps grow neither with the features nor with the weights.
        schedule = self.config.schedule
        sizes = None if schedule in ("adagrad", "aggressive") else sizes
        power = 1 if schedule == "adagrad" else 2
        self.mean_change = data.mean_change(samples, sizes, power)

    @property
    def margin_falls(self):
        """Whether the margin is that of a mean update, and updates get smaller."""
        return self.config.margin is None and self.config.schedule == "inverse_sqrt"

    def margins(self):
        """Compute the margins of positive and negative samples."""
        if self.config.margin is not None:
            return self.config.margin
        margin = self.config.rate * (self.mean_change or 1.0)
        if self.margin_falls:
            margin /= sqrt(max(self.t, 1))
        return margin, margin

    @np.errstate(over="ignore", invalid="ignore")
    def hypothesis(self, average=None):
        """Compute a hypothesis. Weights beyond float64 become inf or NaN.

        Parameters
        ----------
        average : {"mean", "longest"} or None
            None: the last hypothesis.

        Returns
        -------
        weights : ndarray of shape (height, n_hypotheses)
            The first rows are those of the features.
        intercept : ndarray of shape (n_hypotheses,)
        """
        if average == "mean" and self.t:
            weights = self.sums()
            weights /= self.t
        else:
            weights = self.weights.copy()
        if average == "longest":
            # The last hypothesis may be the longest; it survives until now.
            older = self.best_survival >= self.t + 1 - self.last_update
            older = np.full(len(older), older[0]) if self.config.joint else older
            weights = np.where(older, self.longest_weights, weights)
        intercept = weights[-2:].sum(axis=0) - self.config.threshold
        return (-weights, -intercept) if self.config.flipped else (weights, intercept)

    def sums(self):
        """Compute the sum of the hypotheses after each sample."""
        require(len(self.weights), "weights is empty")
        if len(self.average_corrections):
            return self.t * self.weights - self.average_corrections
        # The current weights have been in force since their last change.
        in_force = self.t - self.factors[:, :, SINCE]
        return self.factors[:, :, SUM] + self.weights * in_force

    def average(self, states, updates, n_samples):
        """Average the states that one epoch over partitions made of this one.

        Weights in proportion to the updates keep partitions that have nothing left to
        learn from diluting the others. Additive weights and the sums behind Winnow's
        average are mixed by the arithmetic mean, Winnow's factors by the geometric
        mean. Counts (samples, squared steps, sums of hypotheses) are added up. The mean
        change by an update, which each partition finds in the first epoch, becomes that
        of all samples.

        Parameters
        ----------
        states : sequence of LinearState
            In the order of the partitions.
        updates : sequence of int
            Updates made in each partition.
        n_samples : sequence of int
            Samples of each partition.

        Returns
        -------
        state : LinearState
            The only state itself, when there is one.

        References
        ----------
        McDonald, Hall, Mann. "Distributed Training Strategies for the Structured
        Perceptron". NAACL 2010, Theorem 3.
        """
        if len(states) == 1:
            return states[0]
        shares = mixing_weights(updates)
        mixed = self.copy()
        mixed.config = states[0].config
        if states[0].mean_change is not None:
            changes = [state.mean_change for state in states]
            mixed.mean_change = float(np.average(changes, weights=n_samples))
        mixed.t = self.t + sum(state.t - self.t for state in states)
        mixed.squares = _added(self.squares, [state.squares for state in states])
        if self.config.rule == "additive":
            mixed.weights = _arithmetic_mean(
                self.hypothesis()[0],
                [state.hypothesis()[0] for state in states],
                shares,
            )
        else:
            pairs = [state.factors[:, :, : MINUS + 1] for state in states]
            mixed.factors = np.zeros_like(self.factors)
            mixed.factors[:, :, : MINUS + 1] = _geometric_mean(
                self.factors[:, :, : MINUS + 1], pairs, shares
            )
            mixed._multiply_out()
        if self.config.average == "mean":
            sums = _added(self.sums(), [state.sums() for state in states])
            if self.config.rule == "additive":
                mixed.average_corrections = mixed.t * mixed.weights - sums
            else:
                mixed.factors[:, :, SUM] = sums
                mixed.factors[:, :, SINCE] = mixed.t
        return mixed


def mixing_weights(updates):
    """Compute the weight of each partition: its share of the updates."""
    updates = np.asarray(updates, dtype=np.float64)
    if not updates.any():
        return np.full(len(updates), 1 / len(updates))
    return updates / updates.sum()


def _added(old, news):
    return old + sum(new - old for new in news)


def _arithmetic_mean(old, news, shares):
    # Relative to the old weights: what no partition changed stays to the last bit.
    changes = zip(shares, news, strict=True)
    return old + sum(share * (new - old) for share, new in changes)


def _geometric_mean(old, news, shares):
    # A factor of 0 was nullified, or is padding: it stays 0.
    alive = old > 0
    mixed = old.copy()
    for share, new in zip(shares, news, strict=True):
        mixed[alive] *= (new[alive] / old[alive]) ** share
    return mixed
