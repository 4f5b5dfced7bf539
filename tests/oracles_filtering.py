"""Slow twin of boosting by filtering: Figures 2.4 and A.1, row by row, in fractions."""

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import comb, log

import numpy as np
from oracles_boosting import HALF, binomial
from sklearn.base import clone


class RoundAborted(Exception):
    """The filter rejects too many rows."""


class StreamEnded(Exception):
    """No rows are left."""


@cache
def weight_of_votes(k, i, right, wrong, gamma, n_aborted):
    """(2.21) corrected, averaged over the outcomes of coins for aborted rounds.

    ``wrong`` holds the votes for each wrong label that has some.
    """
    others = sum(wrong) - max(wrong, default=0)
    return sum(
        Fraction(comb(n_aborted, heads), 2**n_aborted)
        * binomial(k - i - 1, (k - others) // 2 - right - heads, HALF + gamma)
        for heads in range(n_aborted + 1)
    )


@cache
def largest_weight(k, i, gamma, n_aborted, n_classes):
    """The weight of the heaviest example among all that the votes could make."""
    n_votes = i - n_aborted
    weights = []
    for ballots in combinations_with_replacement(range(n_classes), n_votes):
        counts = [ballots.count(label) for label in range(n_classes)]
        wrong = tuple(sorted(counts[1:]))  # the right label is number 0
        weights.append(weight_of_votes(k, i, counts[0], wrong, gamma, n_aborted))
    return max(weights)


class SlowFilter:
    """Boosting by filtering as it is written down, with rows drawn one at a time.

    ``plan`` is that of the code under test, its numbers are tested elsewhere. The edge
    of its game is a fraction here.
    """

    def __init__(self, base, classes, plan, edge, seed):
        self.base, self.classes = base, list(classes)
        self.plan, self.edge = plan, edge
        rows = np.random.Philox(key=[seed, 0])
        self.random = np.random.Generator(rows)
        self.hypotheses, self.edges = [], []
        self.n_seen, self.n_accepted = [], []
        self.stop_reason = ""

    def run(self, X, y):
        """Boost on a whole stream."""
        self.rows = iter(zip(X, y, strict=True))
        for i in range(self.plan.n_rounds):
            self.i, self.n_aborted = i, int(np.isnan(self.edges).sum())
            self.n_seen.append(0)
            self.n_accepted.append(0)
            try:
                hypothesis, edge = self.learn_reliably()
            except RoundAborted:
                hypothesis, edge = None, np.nan
            except StreamEnded:
                self.stop_reason = "exhausted"
                return self
            self.edges.append(edge)
            if hypothesis is not None:
                self.hypotheses.append(hypothesis)
        self.stop_reason = "rounds" if self.hypotheses else "no edge"
        return self

    def learn_reliably(self):
        """Figure A.1; again, if the best hypothesis fails and tries are left."""
        plan, tried = self.plan, []
        for _try in range(plan.max_tries):
            batches = [
                [self.filtered_example() for _row in range(plan.n_train)]
                for _candidate in range(plan.n_candidates)
            ]
            test = [self.filtered_example() for _row in range(plan.n_test)]
            for batch in batches:
                hypothesis = self.weak_learn(batch)
                n_right = sum(hypothesis(x) == label for x, label in test)
                tried.append((n_right / plan.n_test - 0.5, hypothesis))
            # The first of the best.
            edge, hypothesis = max(tried, key=lambda pair: pair[0])
            if edge >= plan.required_edge - 1e-12:
                break
        return (hypothesis, edge) if edge > 1e-12 else (None, np.nan)

    def filtered_example(self):
        """Subroutine FiltEX of Figure 2.4."""
        plan, k, i = self.plan, self.plan.n_rounds, self.i
        largest = largest_weight(
            k, i, self.edge, self.n_aborted, n_classes=len(self.classes)
        )
        patience = max(1.0, plan.patience * float(largest))
        while True:
            try:
                x, label = next(self.rows)
            except StopIteration:
                raise StreamEnded from None
            self.n_seen[-1] += 1
            votes = [hypothesis(x) for hypothesis in self.hypotheses]
            wrong = [votes.count(other) for other in set(votes) - {label}]
            weight = weight_of_votes(
                k, i, votes.count(label), tuple(sorted(wrong)), self.edge,
                self.n_aborted,
            )  # fmt: skip
            if Fraction(self.random.random()) < weight / largest:
                self.n_accepted[-1] += 1
                return x, label
            lenient = 4 * log(8 * k * patience / plan.delta)
            if self.n_seen[-1] > patience * max(self.n_accepted[-1], lenient):
                raise RoundAborted

    def weak_learn(self, batch):
        """Return a function from a row to a label."""
        X = np.array([x for x, _label in batch])
        y = np.array([label for _x, label in batch])
        if len(set(y)) == 1:
            return lambda _x: y[0]
        model = clone(self.base).fit(X, y)
        return lambda x: model.predict(x[None])[0]
