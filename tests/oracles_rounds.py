"""Slow twins of the board and the rounds: every row apart, in exact fractions."""

from fractions import Fraction
from itertools import chain, repeat

import numpy as np
from oracles_boosting import HALF, binomial, potential_of_votes, with_one_more


class RowByRow:
    """The board by definition: for each row the votes for every label."""

    def __init__(self, codes, n_classes, values=None):
        self.codes = [int(code) for code in codes]
        self.votes = [[0] * n_classes for _ in self.codes]
        given = [1] * len(self.codes) if values is None else values
        self.values = [Fraction(float(value)) for value in given]
        self.n_rounds = self.n_aborted = 0

    def add(self, predicted):
        """Count one vote for each row."""
        self.n_rounds += 1
        for row, label in enumerate(predicted):
            self.votes[row][label] += 1

    def abort(self):
        """A round whose votes are fair coins."""
        self.n_rounds += 1
        self.n_aborted += 1

    def state(self, row):
        """The votes for the right label, and the sorted votes for the others."""
        wrong = list(self.votes[row])
        right = wrong.pop(self.codes[row])
        return right, tuple(sorted(wrong))

    def mean(self, numbers):
        """Average numbers of rows by what rows count."""
        pairs = zip(self.values, numbers, strict=True)
        return sum(v * x for v, x in pairs) / sum(self.values)

    def error(self):
        """The share of the value without a strict majority for the right label."""
        states = [self.state(row) for row in range(len(self.codes))]
        return self.mean([int(right <= wrong[-1]) for right, wrong in states])

    def over_coins(self, row, function):
        """Average over the coins: those that are wrong go to the strongest label."""
        right, wrong = self.state(row)
        total = Fraction(0)
        for heads in range(self.n_aborted + 1):
            tails = self.n_aborted - heads
            others = (*wrong[:-1], wrong[-1] + tails)
            chance = binomial(self.n_aborted, heads, HALF)
            total += chance * function(right + heads, others)
        return total

    def potentials(self, k, gamma):
        """The chance of loss of each row."""
        return [
            self.over_coins(row, lambda r, w: potential_of_votes(k, r, w, gamma))
            for row in range(len(self.codes))
        ]

    def weights(self, k, gamma):
        """What the next vote changes for each row."""

        def change(right, wrong):
            worst = max(
                potential_of_votes(k, right, with_one_more(wrong, label), gamma)
                for label in range(len(wrong))
            )
            return worst - potential_of_votes(k, right + 1, wrong, gamma)

        return [self.over_coins(row, change) for row in range(len(self.codes))]

    def edge(self, weights, predicted):
        """The share of the weight that votes are right about, less 1/2."""
        masses = [v * w for v, w in zip(self.values, weights, strict=True)]
        pairs = zip(masses, predicted, self.codes, strict=True)
        return sum(m for m, label, code in pairs if label == code) / sum(masses) - HALF


def play_by_definition(codes, n_classes, values, votes, k, gamma):
    """Play k rounds of votes without edge tests but the sign; stop when decided.

    Returns
    -------
    rounds : list of dict
        "edge", "potential" before the round, "mean" weight, "aborted".
    board : RowByRow
    """
    board, rounds = RowByRow(codes, n_classes, values), []
    for predicted in votes[:k]:
        weights = board.weights(k, gamma)
        if not any(weights):
            break
        edge = board.edge(weights, predicted)
        rounds.append(
            {
                "edge": edge,
                "potential": board.mean(board.potentials(k, gamma)),
                "mean": board.mean(weights),
                "aborted": edge <= 0,
            }
        )
        if edge > 0:
            board.add(predicted)
        else:
            board.abort()
    return rounds, board


class ScriptedLearner:
    """A weak learner that returns prepared votes, the last one for ever."""

    resample = knows_edges = False

    def __init__(self, votes, n_classes=2):
        self.classes, self.shown, self.drawn = np.arange(n_classes), [], []
        votes = [np.asarray(vote) for vote in votes]
        self.script = chain(votes, repeat(votes[-1]))

    def fit(self, weights, rng, shown=None):
        """Return the next votes, and remember the weights."""
        self.shown.append(weights.copy())
        return next(self.script)

    def codes_of(self, hypothesis):
        """Return the votes themselves."""
        return hypothesis


class PromisingLearner:
    """A weak learner that is right about 1/2 + gamma of the weight, and little more.

    Which rows it gives up is up to it: the heaviest, the lightest, or any. The wrong
    label is the strongest so far, a fixed one, or any.
    """

    resample = knows_edges = False

    def __init__(self, codes, n_classes, gamma, gives_up="any", errs="any"):
        self.codes, self.classes = codes, np.arange(n_classes)
        self.gamma, self.gives_up, self.errs = gamma, gives_up, errs
        self.drawn = []

    def fit(self, weights, rng, shown=None):
        """Return votes that keep the promise."""
        keys = {
            "any": rng.random_sample(len(weights)),
            "heaviest": weights,
            "lightest": -weights,
        }
        # The first are those that it is right about.
        order = np.argsort(keys[self.gives_up], kind="stable")
        total = np.cumsum(weights[order])
        n_right = np.searchsorted(total, (0.5 + self.gamma) * total[-1]) + 1
        n_classes = len(self.classes)
        shift = np.ones(len(weights), dtype=np.intp)
        if self.errs == "any":
            shift = rng.randint(1, n_classes, len(weights))
        predicted = (self.codes + shift) % n_classes
        right = order[:n_right]
        predicted[right] = self.codes[right]
        return predicted

    def codes_of(self, hypothesis):
        """Return the votes themselves."""
        return hypothesis
