"""The dual perceptron's training loop, for any kernel and without a Gram matrix.

Every example keeps its score up to date. Examples are taken in blocks: inside a block
a kernel block serves the updates at once, and what the block learned is then added
to the scores of all other examples in one stroke. An example that no update touches
costs nothing but a comparison.

Coefficients are integers (in units of 1 / `UNIT` when class weights are in use).
Where float64 could round a score, the sum of absolute terms is kept beside it: a
decision inside the rounding bound is taken with exact integers.
"""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sklboolean._core._popcount import PANEL
from sklboolean.kernels._count_table import rounding_slack
from sklboolean.kernels._dual import next_update, run_block
from sklboolean.kernels._evaluators import add_queries

UNIT = 2**16
BLOCK = 8 * PANEL
UPDATE, MISTAKE, UNDECIDED = 1, 2, 3


@dataclass(frozen=True)
class Rule:
    """When to update.

    Attributes
    ----------
    n_scores : int
        1 for two classes; the number of classes when they are learned jointly.
    tie_positive : bool
        With one score, whether a score of 0 predicts the second class.
    margin : float
        Update also when the score is right by less than this.
    relative : bool
        Take the margin times sqrt(K(x, x)).
    unit : int
        Coefficients are integers over this power of two.
    """

    n_scores: int
    tie_positive: bool = True
    margin: float = 0.0
    relative: bool = False
    unit: int = 1

    @property
    def margin_slack(self):
        """Bound the relative rounding error of `margins`."""
        return 2.0**-50 if self.relative else 0.0

    def margins(self, scorer, rows):
        """Return the margin of each row on the scale of the kept scores."""
        if not self.margin:
            return np.zeros(len(rows))
        margin = self.margin * self.unit
        if not self.relative:
            return np.full(len(rows), np.ldexp(margin, -scorer.shift))
        # The kept scores are divided by 2**shift, the diagonal under the root too.
        root = np.sqrt(np.maximum(scorer.diagonal(rows), 0))
        half = scorer.shift // 2
        odd = np.sqrt(2.0) if scorer.shift % 2 else 1.0
        return np.ldexp(margin * root / odd, -half)

    def decide(self, values, scale, code, own_value):
        """Decide from exact scores.

        Parameters
        ----------
        values : list of int
            Scores times 2**scale, in units.
        scale : int
        code : int
            Class of the example.
        own_value : int
            K(x, x) * 2**scale.

        Returns
        -------
        decision, rival : int
        """
        if self.n_scores == 1:
            rival = 0
            lead = values[0] if code else -values[0]
            wrong = lead < 0 or (lead == 0 and (code == 1) != self.tie_positive)
        else:
            others = [k for k in range(self.n_scores) if k != code]
            rival = max(others, key=lambda k: (values[k], -k))
            lead = values[code] - values[rival]
            wrong = lead < 0 or (lead == 0 and rival < code)
        if wrong:
            return MISTAKE, rival
        margin = Fraction(self.margin) * self.unit
        if self.relative:
            near = lead**2 < margin**2 * own_value * 2**scale
        else:
            near = lead < margin * 2**scale
        return (UPDATE if near else 0), rival


@dataclass
class Training:
    """What a run learned: its updates in order, and its counts.

    Attributes
    ----------
    rows, hypotheses, deltas, times : ndarrays of shape (n_changes,), int64
        Change number u added ``deltas[u]`` to the coefficient of example ``rows[u]``
        in hypothesis ``hypotheses[u]`` when example number ``times[u]`` was seen,
        counted from 1.
    mistakes, updates : list of int
        By epoch.
    n_seen : int
    """

    mistakes: list = field(default_factory=list)
    updates: list = field(default_factory=list)
    n_seen: int = 0
    changes: list = field(default_factory=list)

    def record(self, rows, hypotheses, deltas, times):
        """Add changes, given as arrays."""
        self.changes.append(np.array([rows, hypotheses, deltas, times], dtype=np.int64))

    def all_changes(self):
        """Return the changes as an array of shape (4, n_changes)."""
        if not self.changes:
            return np.zeros((4, 0), dtype=np.int64)
        if len(self.changes) > 1:
            self.changes = [np.concatenate(self.changes, axis=1)]
        return self.changes[0]

    def summary(self, n_scores):
        """Sum the changes by row.

        Returns
        -------
        rows : ndarray of shape (n_support,), int64
            Distinct rows that were changed, in increasing order.
        coefficients : ndarray of shape (n_scores, n_support), int64
        timed : ndarray of shape (n_scores, n_support), int64
            Sum of change times time, from which averages are made.
        """
        numbers, hypotheses, deltas, times = self.all_changes()
        rows, where = np.unique(numbers, return_inverse=True)
        coefficients = np.zeros((n_scores, len(rows)), dtype=np.int64)
        timed = np.zeros_like(coefficients)
        np.add.at(coefficients, (hypotheses, where), deltas)
        np.add.at(timed, (hypotheses, where), deltas * times)
        return rows, coefficients, timed

    def totals(self, coefficients, timed, n_seen):
        """Return the summary with what was learned before added.

        Parameters
        ----------
        coefficients, timed : ndarrays of shape (n_scores, n_old), int64
            Of the earlier run's support rows.
        n_seen : int
            Examples of the earlier run: times count on from them.
        """
        n_scores, n_old = coefficients.shape
        numbers, changed, changes_timed = self.summary(n_scores)
        rows = np.union1d(np.arange(n_old), numbers)
        more = ((0, 0), (0, len(rows) - n_old))
        coefficients, timed = np.pad(coefficients, more), np.pad(timed, more)
        where = np.searchsorted(rows, numbers)
        coefficients[:, where] += changed
        timed[:, where] += changes_timed + n_seen * changed
        return rows, coefficients, timed


def train_dual(
    scorer, rows, codes, rule, weights, *, max_iter=1, random_state=None,
    coefficients=None, report=None,
):  # fmt: skip
    """Run the kernel perceptron.

    Parameters
    ----------
    scorer : scorer object
    rows : rows of the scorer
        Support rows of an earlier run first, then the examples.
    codes : ndarray of shape (n_examples,), int32
        Class numbers; 0 and 1 when ``rule.n_scores`` is 1.
    rule : Rule
    weights : ndarray of shape (n_examples,), int64
        What an update adds, in units.
    max_iter : int
        Epochs; fewer when one passes without an update.
    random_state : RandomState or None
        Shuffles each epoch; None keeps the order.
    coefficients : ndarray of shape (n_scores, n_old), int64, or None
        Of the earlier run's support rows.
    report : callable or None
        Called with the training after each epoch.

    Returns
    -------
    training : Training
    """
    run = _Run(scorer, rows, codes, rule, weights, max_iter, coefficients)
    training = run.training
    for epoch in range(max_iter):
        order = None if random_state is None else random_state.permutation(len(codes))
        run.epoch(order, last=epoch == max_iter - 1)
        if report is not None:
            report(training)
        if not training.updates[-1]:
            break
    return training


class _Run:
    """The state of a run: scores of all examples, and the changes so far."""

    def __init__(self, scorer, rows, codes, rule, weights, max_iter, coefficients):
        n_old = len(rows) - len(codes)
        self.scorer, self.codes, self.rule, self.weights = scorer, codes, rule, weights
        self.n_old = n_old
        self.old = rows.take(slice(n_old)), coefficients
        self.rows = rows.take(slice(n_old, None)) if n_old else rows
        self.training = Training()
        self.margins = rule.margins(scorer, self.rows)
        total = max_iter * int(weights.sum())
        if n_old:
            total += int(np.abs(coefficients).sum(axis=1).max())
        table = scorer.table
        self.exact = table is not None and table.is_exact_in_float64(total)
        certified = table is not None and not self.exact
        n_terms = n_old + max_iter * len(codes)
        self.slack = rounding_slack(n_terms) if certified else 0.0
        self.margin_slack = rule.margin_slack if table is not None else 0.0
        height = rule.n_scores * (2 if certified else 1)
        self.scores = np.zeros((height, len(codes)))
        if n_old:
            add_queries(
                scorer, self.old[0], self._terms(coefficients), self.rows, self.scores,
                exact=self.exact,
            )  # fmt: skip

    def _terms(self, coefficients):
        if self.slack:
            coefficients = np.concatenate([coefficients, np.abs(coefficients)])
        return coefficients.astype(np.float64)

    def _add(self, rows, coefficients, columns, scores, skip):
        self.scorer.add(
            rows, self._terms(coefficients), columns, scores,
            skip=skip, exact=self.exact,
        )  # fmt: skip

    def epoch(self, order, last):
        """Show every example once, in the given order."""
        if order is None:
            order = np.arange(len(self.codes))
            rows = self.rows
        else:
            rows = self.rows.take(order)
        columns = self.scorer.columns(rows)
        scores = np.ascontiguousarray(self.scores[:, order])
        codes, margins = self.codes[order], self.margins[order]
        weights = self.weights[order]
        rule, training = self.rule, self.training
        training.mistakes.append(0)
        training.updates.append(0)
        position = 0
        while True:
            position, _, _ = next_update(
                scores, rule.n_scores, codes, margins, rule.tie_positive, self.slack,
                self.margin_slack, position,
            )  # fmt: skip
            if position == len(order):
                break
            first = position - position % PANEL
            block = slice(first, min(first + BLOCK, len(order)))
            part = rows.take(block)
            deltas = self._run_block(
                part, codes[block], margins[block], weights[block], order[block],
                scores, first, position,
            )  # fmt: skip
            position = block.stop
            touched = np.flatnonzero(deltas.any(axis=0))
            # In the last epoch the examples before the block are done with.
            skip = (0 if last else first, block.stop)
            self._add(part.take(touched), deltas[:, touched], columns, scores, skip)
        training.n_seen += len(order)
        self.scores[:, order] = scores

    def _run_block(
        self, part, codes, margins, weights, numbers, scores, first, position
    ):
        """Learn from a block; return the changes to its coefficients."""
        rule = self.rule
        here = slice(first, first + len(part))
        K = self.scorer.matrix(part, self.scorer.columns(part))
        own_scores = np.ascontiguousarray(scores[:, here])
        deltas = np.zeros((rule.n_scores, len(part)), dtype=np.int64)
        recorded = np.zeros_like(deltas)
        position, forced, rival = position - first, -1, 0
        while True:
            position, mistakes, updates = run_block(
                K, own_scores, rule.n_scores, codes, margins, weights,
                rule.tie_positive, self.slack, self.margin_slack, position, forced,
                rival, deltas,
            )  # fmt: skip
            self.training.mistakes[-1] += mistakes
            self.training.updates[-1] += updates
            # An example is met once in a block, so its time is its place.
            where, hypotheses = np.nonzero((deltas - recorded).T)
            self.training.record(
                self.n_old + numbers[where], hypotheses, deltas[hypotheses, where],
                self.training.n_seen + first + where + 1,
            )  # fmt: skip
            recorded[:] = deltas
            if position == len(part):
                break
            forced, rival = self._decide_exactly(
                part.take(slice(position, position + 1)), int(codes[position])
            )
        scores[:, here] = own_scores
        return deltas

    def _decide_exactly(self, row, code):
        """Take a decision that rounding might get wrong."""
        scorer, rule = self.scorer, self.rule
        numbers, coefficients, _ = self.training.summary(rule.n_scores)
        support = self.rows.take(numbers - self.n_old)
        values = scorer.exact_scores(support, coefficients, row)
        if self.n_old:
            earlier = scorer.exact_scores(*self.old, row)
            values = [a + b for a, b in zip(values, earlier, strict=True)]
        own_value = scorer.exact_diagonal(row)[0]
        return rule.decide(values, scorer.table.scale, code, own_value)
