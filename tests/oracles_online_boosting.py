"""Slow twins of on-line boosting by majority, by definition and in exact fractions."""

from fractions import Fraction
from functools import cache
from itertools import product

HALF = Fraction(1, 2)


@cache
def chance_that_the_vote_decides(k, i, r, gamma):
    """Enumerate the votes of the learners after learner i, right with 1/2 + gamma.

    The vote of learner i decides if the row is won with it and lost without it.
    """
    total = Fraction(0)
    for votes in product([0, 1], repeat=k - i - 1):
        right = r + sum(votes)
        if 2 * right < k < 2 * (right + 1):
            chance = Fraction(1)
            for vote in votes:
                chance *= HALF + gamma if vote else HALF - gamma
            total += chance
    return total


@cache
def heaviest_state(k, i, gamma):
    """The largest chance that a row can have at learner i."""
    return max(chance_that_the_vote_decides(k, i, r, gamma) for r in range(i + 1))


def relative_weight(k, i, r, gamma):
    """The weight that learner i gives to a row about which r before it were right."""
    chance = chance_that_the_vote_decides(k, i, r, gamma)
    return chance / heaviest_state(k, i, gamma)


class Perceptron:
    """The averaged perceptron on one row at a time: the sum of its hypotheses."""

    def __init__(self, n_columns):
        self.current = [Fraction(0)] * n_columns
        self.total = [Fraction(0)] * n_columns

    def vote(self, row):
        """The sign of the summed hypotheses' score."""
        return sign_of(score(self.total, row))

    def learn(self, row, sign, weight):
        """Correct a mistake, then count the hypothesis with the row's weight."""
        if weight and sign * score(self.current, row) <= 0:
            self.current = add(self.current, row, weight * sign)
        self.total = add(self.total, self.current, weight)


def score(weights, row):
    """The inner product."""
    return sum(w * x for w, x in zip(weights, row, strict=True))


def add(weights, row, factor):
    """The sum of weights and a multiple of a row."""
    return [w + factor * x for w, x in zip(weights, row, strict=True)]


def sign_of(number):
    """-1, 0 or 1."""
    return (number > 0) - (number < 0)


def boost_row_by_row(learners, X, signs, gamma):
    """Algorithm 1 (Online BBM) of Beygelzimer, Kale and Luo over scikit-learn learners.

    Each row goes through all learners before the next one comes. Returns for each row
    how many learners were right about it before they learned it.
    """
    k, counts = len(learners), []
    trained = [False] * k
    for row, sign in zip(X, signs, strict=True):
        right = 0
        for i, learner in enumerate(learners):
            weight = float(relative_weight(k, i, right, gamma))
            hit = trained[i] and learner.predict([row])[0] == sign
            if weight:
                options = {"classes": [-1, 1], "sample_weight": [weight]}
                learner.partial_fit([row], [sign], **options)
                trained[i] = True
            right += hit
        counts.append(right)
    return counts
