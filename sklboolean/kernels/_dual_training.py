"""The dual perceptron's training loop, for any kernel and without a Gram matrix.

Without a limit on the support, every example has an up-to-date score. Examples are
taken in blocks: inside a block one kernel block serves all updates; what the block
learned is then added to the scores of all other examples at once. An example that no
update changes costs one comparison. With a limit, scores are computed from the few
support samples for a window of examples at a time, so that a removal costs no more than
an addition.

Coefficients are integers (over `RESOLUTION` with class weights). Where float64 could
round a score, the sum of absolute terms is kept with it. A decision within the rounding
bound is taken with exact integers.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sklboolean._core._popcount import PANEL
from sklboolean.kernels._count_table import rounding_slack
from sklboolean.kernels._dual import next_update, run_block

RESOLUTION = 2**16
BLOCK = 8 * PANEL
WINDOW = 64
UPDATE, MISTAKE, UNDECIDED = 1, 2, 3


@dataclass(frozen=True)
class UpdateRule:
    """When to update.

    Attributes
    ----------
    n_scores : int
        1 for two classes; the number of classes if they are learned jointly.
    tie_positive : bool
        With one score, whether a score of 0 predicts the second class.
    margin : float
        Update also if the score is correct by less than this.
    relative : bool
        Multiply the margin by sqrt(K(x, x)).
    resolution : int
        Coefficients are integers over this power of two.
    """

    n_scores: int
    tie_positive: bool = True
    margin: float = 0.0
    relative: bool = False
    resolution: int = 1

    def margins(self, evaluator, rows):
        """Compute the margin of each sample on the scale of the kept scores."""
        if not self.margin:
            return np.zeros(len(rows))
        margin = self.margin * self.resolution
        if not self.relative:
            return np.full(len(rows), np.ldexp(margin, -evaluator.shift))
        # The kept scores are divided by 2**shift, and so is the diagonal.
        root = np.sqrt(np.maximum(evaluator.diagonal(rows), 0))
        half = evaluator.shift // 2
        odd = np.sqrt(2.0) if evaluator.shift % 2 else 1.0
        return np.ldexp(margin * root / odd, -half)

    def decide(self, values, scale, code, own_value):
        """Decide from exact scores.

        Parameters
        ----------
        values : list of int
            Scores times ``2**scale * resolution``.
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
        margin = Fraction(self.margin) * self.resolution
        if self.relative:
            near = lead**2 < margin**2 * own_value * 2**scale
        else:
            near = lead < margin * 2**scale
        return (UPDATE if near else 0), rival

    def change(self, code, rival, weight):
        """Compute what an update adds to each hypothesis, shape (n_scores, 1)."""
        delta = np.zeros((self.n_scores, 1), dtype=np.int64)
        if self.n_scores == 1:
            delta[0] = weight if code else -weight
        else:
            delta[code], delta[rival] = weight, -weight
        return delta


def train_dual(run, max_iter, rng=None, report=None):
    """Train for at most ``max_iter`` epochs; stop after one without an update.

    Parameters
    ----------
    run : DualRun or BudgetRun
    max_iter : int
    rng : RandomState or None
        Shuffles each epoch; None keeps the order.
    report : callable or None
        Called with the run after each epoch.

    Returns
    -------
    run : the same, after training
    """
    n_examples = len(run.codes)
    for epoch in range(max_iter):
        order = None if rng is None else rng.permutation(n_examples)
        run.mistakes.append(0)
        run.updates.append(0)
        run.epoch(order, last=epoch == max_iter - 1)
        run.n_seen += n_examples
        if report is not None:
            report(run)
        if not run.updates[-1]:
            break
    return run


class _Run:
    """One training call of one perceptron, with its counts by epoch.

    Parameters
    ----------
    evaluator : evaluator of the kernel
    rule : UpdateRule
    rows : laid-out samples
        Support samples of an earlier call first, then the examples.
    codes : ndarray of shape (n_examples,), int32
        Class numbers; 0 and 1 if the rule has one score.
    weights : ndarray of shape (n_examples,), int64
        What an update adds, over the resolution.
    """

    def __init__(self, evaluator, rule, rows, codes, weights):
        self.evaluator, self.rule = evaluator, rule
        self.rows, self.codes, self.weights = rows, codes, weights
        self.n_old = len(rows) - len(codes)
        self.mistakes, self.updates, self.n_seen = [], [], 0
        # Bound on the relative rounding error of margins, where decisions are exact.
        is_rounded = rule.relative and evaluator.table is not None
        self.margin_slack = 2.0**-50 if is_rounded else 0.0

    def decide_exactly(self, parts, row, code):
        """Take a decision that rounding might get wrong.

        ``parts`` are pairs of support samples and coefficients.
        """
        evaluator = self.evaluator
        values = [0] * self.rule.n_scores
        for rows, coefficients in parts:
            scores = evaluator.exact_scores(rows, coefficients, row)
            values = [a + b for a, b in zip(values, scores, strict=True)]
        own_value = evaluator.exact_diagonal(row)[0]
        return self.rule.decide(values, evaluator.table.scale, int(code), own_value)


class DualRun(_Run):
    """A training call without a limit: scores of all examples, and all changes.

    Parameters
    ----------
    evaluator, rule, rows, codes, weights
        As for `_Run`.
    max_iter : int
    coefficients : ndarray of shape (n_scores, n_old), int64
        Of the support samples of the earlier call.
    """

    def __init__(self, evaluator, rule, rows, codes, weights, max_iter, coefficients):
        super().__init__(evaluator, rule, rows, codes, weights)
        n_old, n_examples = self.n_old, len(codes)
        self.old = rows.take(slice(n_old)), coefficients
        self.rows = rows.take(slice(n_old, None)) if n_old else rows
        self.changes = []
        self.margins = rule.margins(evaluator, self.rows)
        total = max_iter * int(weights.sum())
        if n_old:
            total += int(np.abs(coefficients).sum(axis=1).max())
        table = evaluator.table
        self.exact = table is not None and table.is_exact_in_float64(total)
        certified = table is not None and not self.exact
        n_terms = n_old + max_iter * n_examples
        self.slack = rounding_slack(n_terms) if certified else 0.0
        height = rule.n_scores * (2 if certified else 1)
        self.scores = np.zeros((height, n_examples))
        if n_old:
            evaluator.add_queries(
                self.old[0], self._terms(coefficients), self.rows, self.scores,
                exact=self.exact,
            )  # fmt: skip

    def _terms(self, coefficients):
        if self.slack:
            coefficients = np.concatenate([coefficients, np.abs(coefficients)])
        return coefficients.astype(np.float64)

    def all_changes(self):
        """Collect the changes in order, as an int64 array of shape (4, n_changes).

        Change number u is (row, hypothesis, delta, time): it added ``delta`` to the
        coefficient of sample ``row`` when example number ``time`` was seen, counted
        from 1.
        """
        if not self.changes:
            return np.zeros((4, 0), dtype=np.int64)
        if len(self.changes) > 1:
            self.changes = [np.concatenate(self.changes, axis=1)]
        return self.changes[0]

    def _summary(self):
        """Sum the changes by row: (rows, coefficients, sums of change times time)."""
        numbers, hypotheses, deltas, times = self.all_changes()
        rows, where = np.unique(numbers, return_inverse=True)
        coefficients = np.zeros((self.rule.n_scores, len(rows)), dtype=np.int64)
        time_sums = np.zeros_like(coefficients)
        np.add.at(coefficients, (hypotheses, where), deltas)
        np.add.at(time_sums, (hypotheses, where), deltas * times)
        return rows, coefficients, time_sums

    def totals(self, coefficients, time_sums, n_seen):
        """Add what was learned to the coefficients of the earlier call.

        Parameters
        ----------
        coefficients, time_sums : ndarrays of shape (n_scores, n_old), int64
            Of the support samples of the earlier call.
        n_seen : int
            Examples of the earlier call: times continue from there.

        Returns
        -------
        rows : ndarray of shape (n_support,), int64
            Numbers of samples, in increasing order.
        coefficients, time_sums : ndarrays of shape (n_scores, n_support), int64
        """
        n_old = coefficients.shape[1]
        numbers, changed, changed_sums = self._summary()
        rows = np.union1d(np.arange(n_old), numbers)
        more = ((0, 0), (0, len(rows) - n_old))
        coefficients, time_sums = np.pad(coefficients, more), np.pad(time_sums, more)
        where = np.searchsorted(rows, numbers)
        coefficients[:, where] += changed
        time_sums[:, where] += changed_sums + n_seen * changed
        return rows, coefficients, time_sums

    def epoch(self, order, last):
        """Show every example once, in the given order."""
        evaluator, rule = self.evaluator, self.rule
        rows = self.rows if order is None else self.rows.take(order)
        order = np.arange(len(self.codes)) if order is None else order
        columns = evaluator.columns(rows)
        scores = np.ascontiguousarray(self.scores[:, order])
        codes, margins = self.codes[order], self.margins[order]
        weights = self.weights[order]
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
            # In the last epoch the examples before the block are finished.
            skip = (0 if last else first, block.stop)
            evaluator.add(
                part.take(touched), self._terms(deltas[:, touched]), columns, scores,
                skip=skip, exact=self.exact,
            )  # fmt: skip
        self.scores[:, order] = scores

    def _run_block(
        self, part, codes, margins, weights, numbers, scores, first, position
    ):
        """Learn from a block; return the changes of its coefficients."""
        rule, n_old = self.rule, self.n_old
        here = slice(first, first + len(part))
        K = self.evaluator.matrix(part, self.evaluator.columns(part))
        own_scores = np.ascontiguousarray(scores[:, here])
        deltas = np.zeros((rule.n_scores, len(part)), dtype=np.int64)
        recorded = np.zeros_like(deltas)
        position, forced, rival = position - first, -1, 0
        while True:
            position, mistakes, updates = run_block(
                K, own_scores, rule.n_scores, codes, margins, weights,
                rule.tie_positive, self.slack, self.margin_slack,
                position, forced, rival, deltas,
            )  # fmt: skip
            self.mistakes[-1] += mistakes
            self.updates[-1] += updates
            # An example occurs once in a block, so its time is its place.
            where, hypotheses = np.nonzero((deltas - recorded).T)
            self.changes.append(
                np.array(
                    [
                        n_old + numbers[where], hypotheses, deltas[hypotheses, where],
                        self.n_seen + first + where + 1,
                    ],
                    dtype=np.int64,
                )
            )  # fmt: skip
            recorded[:] = deltas
            if position == len(part):
                break
            support, coefficients, _ = self._summary()
            learned = self.rows.take(support - n_old), coefficients
            row = part.take(slice(position, position + 1))
            forced, rival = self.decide_exactly(
                [learned, self.old] if n_old else [learned], row, codes[position]
            )
        scores[:, here] = own_scores
        return deltas


class BudgetRun(_Run):
    """A training call with at most ``max_support`` support samples.

    Once the limit is passed, one of them is removed at random (Cavallanti,
    Cesa-Bianchi, Gentile 2007).

    Parameters
    ----------
    evaluator, rule, rows, codes, weights
        As for `_Run`.
    max_support : int
    rng : RandomState
    coefficients, time_sums : ndarrays of shape (n_scores, n_old), int64
        Of the support samples of the earlier call.
    """

    def __init__(
        self, evaluator, rule, rows, codes, weights, max_support, rng, coefficients,
        time_sums,
    ):  # fmt: skip
        super().__init__(evaluator, rule, rows, codes, weights)
        self.max_support, self.rng = max_support, rng
        # Earlier samples that this problem has learned from, also if only the mean
        # still needs them.
        self.held = np.flatnonzero(
            (coefficients != 0).any(axis=0) | time_sums.any(axis=0)
        )
        self.coefficients = coefficients[:, self.held]
        self.time_sums = np.zeros_like(self.coefficients)
        self.has_removed = False

    def totals(self, coefficients, time_sums, n_seen):
        """Compute the same as `DualRun.totals`.

        The mean is over the hypotheses since the last removal, because only their
        samples are all present. The coefficients of that time count from then on.
        """
        order = np.argsort(self.held)
        rows, now = self.held[order], self.coefficients[:, order]
        sums = self.time_sums[:, order] + n_seen * now
        old = rows[rows < coefficients.shape[1]]
        if not self.has_removed:
            earlier = coefficients[:, old]
            sums[:, : len(old)] += time_sums[:, old] - n_seen * earlier
        return rows, now, sums

    def all_changes(self):
        """Return no history: with a limit none is kept."""
        return np.zeros((4, 0), dtype=np.int64)

    def epoch(self, order, last):
        """Show every example once, in the given order."""
        order = np.arange(len(self.codes)) if order is None else order
        margins = self.rule.margins(self.evaluator, self.rows)[self.n_old :][order]
        position = 0
        while position < len(order):
            window = slice(position, min(position + WINDOW, len(order)))
            place = self._learn_first(order[window], margins[window], position)
            position = window.stop if place is None else position + place + 1

    def _learn_first(self, numbers, margins, position):
        """Learn from the window's first example that needs it; return its place."""
        rule = self.rule
        rows = self.rows.take(self.n_old + numbers)
        support = self.rows.take(self.held)
        scores, slack = self._scores(support, rows)
        codes = self.codes[numbers]
        place, decision, rival = next_update(
            scores, rule.n_scores, codes, margins, rule.tie_positive, slack,
            self.margin_slack, 0,
        )  # fmt: skip
        if place == len(numbers):
            return None
        if decision == UNDECIDED:
            row = rows.take(slice(place, place + 1))
            decision, rival = self.decide_exactly(
                [(support, self.coefficients)], row, codes[place]
            )
        if decision:
            self.mistakes[-1] += decision == MISTAKE
            self.updates[-1] += 1
            number = numbers[place]
            delta = rule.change(codes[place], rival, self.weights[number])
            time = self.n_seen + position + place + 1
            self._update(self.n_old + number, delta, time)
        return place

    def _scores(self, support, rows):
        table = self.evaluator.table
        coefficients = self.coefficients
        total = int(np.abs(coefficients).sum(axis=1).max(initial=0))
        certified = table is not None and not table.is_exact_in_float64(total)
        if certified:
            coefficients = np.concatenate([coefficients, np.abs(coefficients)])
        scores = np.zeros((len(coefficients), len(rows)))
        self.evaluator.add(
            support, coefficients.astype(np.float64), self.evaluator.columns(rows),
            scores, exact=not certified,
        )  # fmt: skip
        return scores, rounding_slack(len(self.held)) if certified else 0.0

    def _update(self, number, delta, time):
        where = np.flatnonzero(self.held == number)
        if len(where):
            self.coefficients[:, where] += delta
            self.time_sums[:, where] += delta * time
        else:
            self.held = np.append(self.held, number)
            self.coefficients = np.hstack([self.coefficients, delta])
            self.time_sums = np.hstack([self.time_sums, delta * time])
        if len(self.held) > self.max_support:
            place = int(self.rng.randint(len(self.held)))
            self.held = np.delete(self.held, place)
            self.coefficients = np.delete(self.coefficients, place, axis=1)
            self.time_sums = self.coefficients * time
            self.has_removed = True
