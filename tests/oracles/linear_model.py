"""The online learners by definition, in exact arithmetic, one example at a time.

A learner is fed by ``see(x, y)``; ``y > 0`` is the positive class, so that labels may
be 0 and 1 or -1 and +1. A score equal to the threshold predicts the positive class if
``tie`` is true, the negative one otherwise. Every ``play_...`` function feeds a learner
a sequence and returns it."""

from copy import deepcopy
from fractions import Fraction
from itertools import groupby
from math import prod


def dot(u, x):
    return sum(exact(a) * exact(b) for a, b in zip(u, x, strict=True))


def exact(value):
    """A number as a Fraction of Python's integers, which do not overflow."""
    return Fraction(value.item() if hasattr(value, "item") else value)


def power(factor, exponent):
    assert exponent == int(exponent), "only powers by whole numbers are exact"
    return factor ** int(exponent)


class OnlineLearner:
    """What all learners keep: what happened at each example, and the state after it.

    ``mistakes`` and ``updates`` hold one bool for each example, ``weights`` and
    ``thresholds`` what was in force after it; ``survived`` counts, for the first
    hypothesis and for the one after each update, the examples until the next update.
    """

    def __init__(self):
        self.mistakes, self.updates = [], []
        self.weights, self.thresholds, self.survived = [], [], [0]

    @property
    def n_mistakes(self):
        return sum(self.mistakes)

    @property
    def n_updates(self):
        return sum(self.updates)

    weight = 1  # of the sample that is seen

    def play(self, X, y, weights=None):
        for x, label, weight in zip(X, y, weights or [1] * len(y), strict=True):
            self.weight = weight
            self.see(x, label)
        return self

    def record(self, mistake, update):
        self.mistakes.append(mistake)
        self.updates.append(update)
        if update:
            self.survived.append(0)
        else:
            self.survived[-1] += 1


class LinearLearner(OnlineLearner):
    """Predict by ``w.x`` against a threshold; update at a mistake or within the margin.

    ``margin`` is one number or a pair, for positive and for negative examples. Positive
    examples are updated when ``w.x - threshold < margin``, negative ones when
    ``w.x - threshold > -margin``.
    """

    def __init__(self, n_features, threshold, margin, tie):
        super().__init__()
        self.n_features, self.tie = n_features, tie
        self.threshold = Fraction(threshold)
        pair = margin if isinstance(margin, tuple) else (margin, margin)
        self.margins = tuple(map(Fraction, pair))

    def current(self):
        """The weights in force, a tuple of Fractions."""
        raise NotImplementedError

    def update(self, x, sign):
        raise NotImplementedError

    def score(self, x):
        return dot(self.current(), x)

    def predict(self, x):
        score = self.score(x)
        return score > self.threshold or (self.tie and score == self.threshold)

    def see(self, x, y):
        excess = self.score(x) - self.threshold
        mistake = self.predict(x) != (y > 0)
        if y > 0:
            near = excess < self.margins[0]
        else:
            near = excess > -self.margins[1]
        if mistake or near:
            self.update(x, 1 if y > 0 else -1)
        self.record(mistake, mistake or near)
        self.weights.append(self.current())
        self.thresholds.append(self.threshold)

    def mean(self):
        """The mean of the weights in force after each example, and of the thresholds.

        The first hypothesis takes part as often as it survived an example, a later one
        once more, for the example that made it.
        """
        n = len(self.weights)
        weights = tuple(sum(column) / n for column in zip(*self.weights, strict=True))
        return weights, sum(self.thresholds) / n

    def stretches(self):
        """The hypotheses: weights, threshold, number of examples after which in force.

        The first one is left out if it did not survive an example.
        """
        states = zip(self.weights, self.thresholds, self.updates, strict=True)
        hypotheses, counter = [], 0
        for weights, threshold, update in states:
            counter += update
            hypotheses.append((counter, weights, threshold))
        return [
            (weights, threshold, sum(1 for _ in run))
            for (_, weights, threshold), run in groupby(hypotheses)
        ]


class Perceptron(LinearLearner):
    """``w += rate * sign * x``; a learned threshold moves against the sign.

    ``learning_rate`` is a number, or a function of the number of examples seen before.
    """

    def __init__(
        self,
        n_features,
        *,
        learning_rate=1,
        threshold=0,
        learn_threshold=False,
        margin=0,
        tie=True,
    ):
        super().__init__(n_features, threshold, margin, tie)
        self.learning_rate, self.learn_threshold = learning_rate, learn_threshold
        self.w = [Fraction(0)] * n_features

    def current(self):
        return tuple(self.w)

    def update(self, x, sign):
        rate = self.learning_rate
        rate = Fraction(rate(len(self.updates)) if callable(rate) else rate)
        rate *= exact(self.weight)
        self.w = [w + rate * sign * exact(a) for w, a in zip(self.w, x, strict=True)]
        if self.learn_threshold:
            self.threshold -= rate * sign


class Winnow(LinearLearner):
    """Positive weights, multiplied by a power of the promotion or of the demotion.

    ``demotion`` is a factor: None is 1 / ``promotion``, 0 is Winnow 1. The exponents,
    the entries of ``x``, are whole numbers, so that the powers are exact.
    """

    def __init__(
        self, n_features, *, promotion, demotion, threshold, margin=0, tie=True, start=1
    ):
        super().__init__(n_features, threshold, margin, tie)
        self.promotion = Fraction(promotion)
        self.demotion = 1 / self.promotion if demotion is None else Fraction(demotion)
        self.w = [Fraction(start)] * n_features

    def current(self):
        return tuple(self.w)

    def update(self, x, sign):
        factor = self.promotion if sign > 0 else self.demotion
        powers = [power(factor, self.weight * a) for a in x]
        self.w = [w * p for w, p in zip(self.w, powers, strict=True)]


class BalancedWinnow(LinearLearner):
    """Two weights for each feature, multiplied by ``promotion ** (sign * x)`` and by
    its inverse; the entries of ``x`` are whole numbers, so that the powers are exact.
    """

    def __init__(
        self, n_features, *, promotion, threshold=0, margin=0, tie=True, start=(1, 1)
    ):
        super().__init__(n_features, threshold, margin, tie)
        self.promotion = Fraction(promotion)
        self.plus, self.minus = ([Fraction(s)] * n_features for s in start)

    def current(self):
        return tuple(p - m for p, m in zip(self.plus, self.minus, strict=True))

    def update(self, x, sign):
        factors = [power(self.promotion, sign * self.weight * a) for a in x]
        self.plus = [p * f for p, f in zip(self.plus, factors, strict=True)]
        self.minus = [m / f for m, f in zip(self.minus, factors, strict=True)]


class Elimination(OnlineLearner):
    """The conjunction of the literals that no positive example has contradicted.

    ``literals`` is a set of ``(feature, value)``.
    """

    def __init__(self, n_features, *, monotone=False):
        super().__init__()
        values = [True] if monotone else [False, True]
        self.literals = {(i, value) for i in range(n_features) for value in values}

    def predict(self, x):
        return all(bool(x[i]) == value for i, value in self.literals)

    def see(self, x, y):
        mistake = self.predict(x) != (y > 0)
        kept = {(i, value) for i, value in self.literals if bool(x[i]) == value}
        changed = y > 0 and kept != self.literals
        if changed:
            self.literals = kept
        self.record(mistake, changed)


class Halving(OnlineLearner):
    """The majority of the hypotheses that agree with all examples so far.

    ``hypotheses`` are functions from a row to a truth value; an even vote says
    ``tie``. When no hypothesis is left, all vote, each with weight ``2 ** -mistakes``.
    """

    def __init__(self, hypotheses, *, tie=False):
        super().__init__()
        self.consistent, self.tie = list(hypotheses), tie
        self.n_wrong = dict.fromkeys(self.consistent, 0)

    def vote(self, x):
        """Share of yes minus share of no."""
        weights = {h: Fraction(1) for h in self.consistent} or {
            h: Fraction(1, 2**n) for h, n in self.n_wrong.items()
        }
        signed = sum(w if h(x) else -w for h, w in weights.items())
        return signed / sum(weights.values())

    def predict(self, x):
        vote = self.vote(x)
        return self.tie if vote == 0 else vote > 0

    def see(self, x, y):
        mistake = self.predict(x) != (y > 0)
        kept = [h for h in self.consistent if bool(h(x)) == (y > 0)]
        changed = len(kept) < len(self.consistent)
        for h in self.n_wrong:
            self.n_wrong[h] += bool(h(x)) != (y > 0)
        self.consistent = kept
        self.record(mistake, changed)


def play_perceptron(X, y, **rule):
    """Run the perceptron: see :class:`Perceptron` for the parameters."""
    return Perceptron(len(X[0]), **rule).play(X, y)


def play_winnow(X, y, promotion, demotion, threshold, margin=0, tie=True):
    """Run Winnow with positive weights."""
    learner = Winnow(
        len(X[0]),
        promotion=promotion,
        demotion=demotion,
        threshold=threshold,
        margin=margin,
        tie=tie,
    )
    return learner.play(X, y)


def play_balanced_winnow(X, y, promotion, **rule):
    """Run balanced Winnow: see :class:`BalancedWinnow` for the parameters."""
    return BalancedWinnow(len(X[0]), promotion=promotion, **rule).play(X, y)


def play_elimination(X, y, *, monotone=False):
    """Run elimination."""
    return Elimination(len(X[0]), monotone=monotone).play(X, y)


def play_halving(X, y, hypotheses):
    """Run Halving."""
    return Halving(hypotheses).play(X, y)


def arithmetic_mean(values, shares):
    return sum(value * share for value, share in zip(values, shares, strict=True))


def geometric_mean(values, shares):
    factors = zip(values, shares, strict=True)
    return Fraction(prod(float(value) ** float(share) for value, share in factors))


def play_partitions(player, parts, n_epochs, fields, mean):
    """Iterative parameter mixing (McDonald, Hall, Mann 2010, Figure 3).

    Every epoch, each of the ``parts`` (X, y) is played by a copy of ``player``; then
    the player's ``fields``, lists of numbers, are the ``mean`` of those of the copies,
    with shares by their updates, or equal ones without updates; its threshold is the
    arithmetic mean.

    Returns the mean of (weights, threshold) after each example of each part, and the
    sum over epochs and parts of share times updates, which Theorem 3 bounds.
    """
    hypotheses, weighted = [], Fraction(0)
    for _ in range(n_epochs):
        copies = [deepcopy(player) for _ in parts]
        for copy, (X, y) in zip(copies, parts, strict=True):
            copy.mistakes, copy.updates, copy.weights, copy.thresholds = [], [], [], []
            copy.play(X.tolist(), y.tolist())
            hypotheses += zip(copy.weights, copy.thresholds, strict=True)
        updates = [sum(map(int, copy.updates)) for copy in copies]
        bases = updates if any(updates) else [1] * len(parts)
        shares = [Fraction(n, sum(bases)) for n in bases]
        weighted += sum(s * n for s, n in zip(shares, updates, strict=True))
        for field in fields:
            lists = zip(*(getattr(copy, field) for copy in copies), strict=True)
            setattr(player, field, [mean(values, shares) for values in lists])
        player.threshold = arithmetic_mean([c.threshold for c in copies], shares)
    weights, thresholds = zip(*hypotheses, strict=True)
    n = len(hypotheses)
    averaged = [sum(column) / n for column in zip(*weights, strict=True)]
    return averaged, sum(thresholds) / n, weighted


def auto_margin(X, rate, weights=None):
    """The mean change of a sample's score by its own update.

    Samples of weight 0 are left out; where no sample has a one the change counts as 1.
    """
    weights = [1] * len(X) if weights is None else weights
    changes = [
        Fraction(w) * sum(exact(value) ** 2 for value in x)
        for x, w in zip(X.tolist(), weights, strict=True) if w
    ]  # fmt: skip
    return Fraction(rate) * (sum(changes) / len(changes) or 1)
