"""The dual perceptron on a budget of support rows.

Scores are formed afresh from the few support rows, a window of examples at a time, so
that a removal costs no more than a new row.
"""

from math import sqrt

import numpy as np

from sklboolean.kernels._count_table import rounding_slack
from sklboolean.kernels._dual import next_update
from sklboolean.kernels._dual_training import MISTAKE, UNDECIDED

WINDOW = 64


class Budget:
    """The support rows held, oldest first, and the rule that lets one go.

    Parameters
    ----------
    limit : int
        Most support rows held.
    kind : {"random", "forgetron"}
        "random" lets a row go that is drawn at random (Cavallanti, Cesa-Bianchi,
        Gentile 2007). "forgetron" first shrinks all coefficients by the largest
        factor that keeps the damage within bounds, then lets the oldest go (Dekel,
        Shalev-Shwartz, Singer 2008, the self-tuned Forgetron). Its mistake bound
        assumes K(x, x) <= 1, so the kernel is divided by the largest K(x, x).
    random_state : RandomState
    """

    def __init__(self, limit, kind, random_state):
        self.limit, self.kind, self.random_state = limit, kind, random_state
        self.n_mistakes, self.damage = 0, 0.0

    def choose(self, coefficients, score_of_oldest, diagonal_of_oldest, largest):
        """Return (factor, index to remove) once the limit is passed.

        Parameters
        ----------
        coefficients : ndarray of shape (n_support,), float64
        score_of_oldest, diagonal_of_oldest : float
            f and K of the oldest support row.
        largest : float
            The largest K(x, x).
        """
        if self.kind == "random":
            return 1.0, int(self.random_state.randint(len(coefficients)))
        sigma = abs(coefficients[0])
        mu = np.sign(coefficients[0]) * score_of_oldest / largest
        factor = self._shrink(sigma, mu, diagonal_of_oldest / largest)
        self.damage += _psi(factor * sigma, factor * mu, diagonal_of_oldest / largest)
        return factor, 0

    def _shrink(self, sigma, mu, own):
        """Largest factor in (0, 1] with damage + psi <= 15/32 of the mistakes."""
        room = 15 / 32 * self.n_mistakes - self.damage
        if _psi(sigma, mu, own) <= room:
            return 1.0
        # psi(f sigma, f mu) = f**2 (sigma**2 own - 2 sigma mu) + 2 f sigma
        square, linear = sigma**2 * own - 2 * sigma * mu, 2 * sigma
        root = sqrt(max(0.0, linear**2 + 4 * square * room))
        # The positive root, in the form that does not cancel.
        return min(1.0, 2 * room / (linear + root)) if room > 0 else 0.0


def _psi(sigma, mu, own):
    return sigma**2 * own + 2 * sigma * (1 - mu)


def train_on_budget(
    scorer, rows, codes, rule, weights, budget, *, max_iter=1, random_state=None,
    coefficients, timed, report=None,
):  # fmt: skip
    """Run the kernel perceptron with at most ``budget.limit`` support rows.

    The parameters are those of `train_dual`, with a `Budget` and the times of the
    earlier coefficients: a row that only the mean still needs is held too.
    """
    run = _BudgetRun(scorer, rows, codes, rule, weights, budget, coefficients, timed)
    for _ in range(max_iter):
        n = len(codes)
        order = np.arange(n) if random_state is None else random_state.permutation(n)
        run.epoch(order)
        if report is not None:
            report(run)
        if not run.updates[-1]:
            break
    return run


class _BudgetRun:
    """The state of a run, and its summary; counts as `Training` has them."""

    def __init__(self, scorer, rows, codes, rule, weights, budget, coefficients, timed):
        self.scorer, self.rows, self.codes, self.rule = scorer, rows, codes, rule
        self.weights, self.budget = weights, budget
        self.n_old = len(rows) - len(codes)
        # Of the earlier rows those that this problem has learned from.
        self.held = np.flatnonzero((coefficients != 0).any(axis=0) | timed.any(axis=0))
        self.coefficients = coefficients[:, self.held]
        self.went = False
        self.timed = np.zeros_like(self.coefficients)
        self.mistakes, self.updates, self.n_seen = [], [], 0
        self.diagonal = scorer.diagonal(rows)
        self.largest = max(self.diagonal.max(initial=0), np.finfo(float).tiny)

    def totals(self, coefficients, timed, n_seen):
        """Return (rows, coefficients, timed) as `Training.totals` does.

        The mean is over the hypotheses since a row last went: only their rows are
        all held. So the coefficients of that time count from then on.
        """
        order = np.argsort(self.held)
        rows, now = self.held[order], self.coefficients[:, order]
        changes = self.timed[:, order] + n_seen * now
        old = rows[rows < coefficients.shape[1]]
        if not self.went:
            earlier = coefficients[:, old]
            changes[:, : len(old)] += timed[:, old] - n_seen * earlier
        return rows, now, changes

    def all_changes(self):
        """A run on a budget keeps no history."""
        return np.zeros((4, 0), dtype=np.int64)

    def epoch(self, order):
        """Show every example once, in the given order."""
        self.mistakes.append(0)
        self.updates.append(0)
        margins = self.rule.margins(self.scorer, self.rows)[self.n_old :][order]
        position = 0
        while position < len(order):
            window = slice(position, min(position + WINDOW, len(order)))
            place = self._learn_first(order[window], margins[window], position)
            position = window.stop if place is None else position + place + 1
        self.n_seen += len(order)

    def _learn_first(self, numbers, margins, position):
        """Learn from the window's first example that asks for it; return its place."""
        scorer, rule = self.scorer, self.rule
        rows = self.rows.take(self.n_old + numbers)
        scores, slack = self._scores(rows)
        codes = self.codes[numbers]
        place, decision, rival = next_update(
            scores,
            rule.n_scores,
            codes,
            margins,
            rule.tie_positive,
            slack,
            rule.margin_slack if scorer.table is not None else 0.0,
            0,
        )
        if place == len(numbers):
            return None
        if decision == UNDECIDED:
            row = rows.take(slice(place, place + 1))
            values = scorer.exact_scores(
                self.rows.take(self.held), self.coefficients, row
            )
            decision, rival = rule.decide(
                values, scorer.table.scale, int(codes[place]),
                scorer.exact_diagonal(row)[0],
            )  # fmt: skip
        if decision:
            self.mistakes[-1] += decision == MISTAKE
            self.updates[-1] += 1
            time = self.n_seen + position + place + 1
            self._update(numbers[place], codes[place], rival, time)
        return place

    def _scores(self, rows):
        table = self.scorer.table
        total = int(np.abs(self.coefficients).sum(axis=1).max(initial=0))
        certified = table is not None and not table.is_exact_in_float64(total)
        coefficients = self.coefficients
        if certified:
            coefficients = np.concatenate([coefficients, np.abs(coefficients)])
        scores = np.zeros((len(coefficients), len(rows)))
        self.scorer.add(
            self.rows.take(self.held), coefficients.astype(np.float64),
            self.scorer.columns(rows), scores, exact=not certified,
        )  # fmt: skip
        return scores, rounding_slack(len(self.held)) if certified else 0.0

    def _update(self, number, code, rival, time):
        delta = np.zeros((self.rule.n_scores, 1), dtype=np.int64)
        if self.rule.n_scores == 1:
            delta[0] = self.weights[number] if code else -self.weights[number]
        else:
            delta[code], delta[rival] = self.weights[number], -self.weights[number]
        number += self.n_old
        self.budget.n_mistakes += 1
        where = np.flatnonzero(self.held == number)
        if len(where):
            self.coefficients[:, where] += delta
            self.timed[:, where] += delta * time
        else:
            self.held = np.append(self.held, number)
            self.coefficients = np.hstack([self.coefficients, delta])
            self.timed = np.hstack([self.timed, delta * time])
        if len(self.held) > self.budget.limit:
            self._remove_one(time)

    def _remove_one(self, time):
        coefficients = self.coefficients[0] / self.rule.unit
        oldest = self.rows.take(self.held[:1])
        held = self.rows.take(self.held)
        score = coefficients @ self.scorer.matrix(held, self.scorer.columns(oldest))
        factor, place = self.budget.choose(
            coefficients, float(score[0]), self.diagonal[self.held[0]], self.largest
        )
        if factor != 1:
            self.coefficients = np.rint(self.coefficients * factor).astype(np.int64)
        self.held = np.delete(self.held, place)
        self.coefficients = np.delete(self.coefficients, place, axis=1)
        self.timed, self.went = self.coefficients * time, True
