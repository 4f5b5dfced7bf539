"""The dual perceptron's training loop, for any kernel and without a Gram matrix.

Without a limit on the support, every sample has an up-to-date score. Samples are
taken in blocks: inside a block one kernel block serves all updates; what the block
learned is then added to the scores of all other samples at once. A sample that no
update changes costs one comparison. With a limit, scores are computed from the few
support samples for a window of samples at a time, so that a removal costs no more than
an addition.

Coefficients are integers (over `RESOLUTION` with class weights). Where float64 could
round a score, the sum of absolute terms is kept with it. A decision within the rounding
bound is taken with exact integers.
"""

# An epoch of `DualRun`, in steps (n new samples, in a given order):
# 1. scores, of shape (n_scores, n), are up to date for all samples. Where sums may be
# rounded, as many rows again hold the sums of absolute terms.
# 2. `ScoredSamples.next_update` passes over the samples that need no update.
# 3. At the first one that does, a block of BLOCK samples begins. K is the kernel matrix
# of the block. `ScoredSamples.run` runs the perceptron over it and adds the row of K of
# each update to the scores of the block.
# 4. A decision within the rounding bound stops the loop. `_decide_exactly` takes it
# from Python integers, and the loop resumes there.
# 5. `evaluator.add` adds the changes of the block to the scores of all other samples.
# Invariant: after each block, coef and time_sums are those of the perceptron that sees
# one sample after the other, and scores = coef @ K.
# Mean and votes: Freund, Schapire 1999. Budget: Cavallanti, Cesa-Bianchi, Gentile 2007.

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sklboolean._core._popcount import PANEL
from sklboolean._core.base import History
from sklboolean._core.progress import SILENT
from sklboolean.kernels._conjunction_weights import ConjunctionWeights
from sklboolean.kernels._count_table import rounding_slack
from sklboolean.kernels._dual import ScoredSamples

RESOLUTION = 2**16
BLOCK = 8 * PANEL
WEIGHTED_BLOCK = 4096  # samples between two looks for an interrupt
WINDOW = 64
UPDATE, MISTAKE, UNDECIDED = 1, 2, 3


@dataclass(frozen=True)
class UpdateRule:
    """When to update.

    Attributes
    ----------
    n_scores : int
        1 for two classes; the number of classes if they are learned jointly.
    margin : float
        Update also if the score is correct by less than this times sqrt(K(x, x)).
    resolution : int
        Coefficients are integers over this power of two.
    """

    n_scores: int
    margin: float = 0.0
    resolution: int = 1

    def margins(self, evaluator, rows):
        """Compute the margin of each sample on the scale of the kept scores."""
        if not self.margin:
            return np.zeros(len(rows))
        margin = self.margin * self.resolution
        # The kept scores are divided by 2**shift, and so is the diagonal.
        root = np.sqrt(np.maximum(evaluator.diagonal(rows), 0))
        half = evaluator.shift // 2
        root_of_odd_shift = np.sqrt(2.0) if evaluator.shift % 2 else 1.0
        return np.ldexp(margin * root / root_of_odd_shift, -half)

    def decide(self, values, scale, code, own_value):
        """Decide from exact scores.

        Parameters
        ----------
        values : list of int
            Scores times ``2**scale * resolution``.
        scale : int
        code : int
            Class of the sample.
        own_value : int
            K(x, x) * 2**scale.

        Returns
        -------
        decision, rival : int
        """
        if self.n_scores == 1:
            rival = 0
            lead = values[0] if code else -values[0]
            wrong = lead < 0 or (lead == 0 and not code)
        else:
            others = [k for k in range(self.n_scores) if k != code]
            rival = max(others, key=lambda k: (values[k], -k))
            lead = values[code] - values[rival]
            wrong = lead < 0 or (lead == 0 and rival < code)
        if wrong:
            return MISTAKE, rival
        margin = Fraction(self.margin) * self.resolution
        # lead < margin * sqrt(K(x, x)), compared as squares, which are exact.
        near = lead**2 < margin**2 * own_value * 2**scale
        return (UPDATE if near else 0), rival

    def change(self, code, rival, weight):
        """Compute what an update adds to each hypothesis, shape (n_scores,)."""
        delta = np.zeros(self.n_scores, dtype=np.int64)
        if self.n_scores == 1:
            delta[0] = weight if code else -weight
        else:
            delta[code], delta[rival] = weight, -weight
        return delta


@dataclass
class PerceptronTask:
    """Training data of one perceptron: samples, labels and coefficients so far.

    Attributes
    ----------
    rows : laid-out samples
        Support samples of an earlier call first, then the new samples.
    codes : ndarray of shape (n_new,), int32
        Class numbers of the new samples; 0 and 1 if the rule has one score.
    sizes : ndarray of shape (n_new,), int64
        What an update adds, over the resolution.
    coef, time_sums : ndarrays of shape (n_scores, n_rows), int64
        Coefficients, and sums of each change times its time. Training adds to them.
    n_seen : int
        Samples seen before.
    """

    rows: object
    codes: np.ndarray
    sizes: np.ndarray
    coef: np.ndarray
    time_sums: np.ndarray
    n_seen: int

    def largest_total(self, max_iter):
        """Compute the largest sum of absolute coefficients after so many passes."""
        total = int(np.abs(self.coef).sum(axis=1).max(initial=0))
        return max_iter * int(self.sizes.sum()) + total


class DualRun:
    """One training call of one perceptron that keeps the scores of all new samples.

    Parameters
    ----------
    evaluator : evaluator of the kernel
    rule : UpdateRule
    task : PerceptronTask

    Attributes
    ----------
    history : History
        Mistakes and updates by epoch.
    changes : list of ndarray of shape (4, n_changes), int64
        Row, hypothesis, change and time, in order. A change at time t was made when
        sample number t was seen, counted from 1.
    """

    def __init__(self, evaluator, rule, task):
        self.evaluator, self.rule, self.task = evaluator, rule, task
        self.rows, self.codes, self.sizes = task.rows, task.codes, task.sizes
        self.coef, self.time_sums, self.n_seen = task.coef, task.time_sums, task.n_seen
        self.n_old = len(self.rows) - len(self.codes)
        self.history, self.changes = History(), []
        self.margins = rule.margins(evaluator, self.rows)[self.n_old :]
        # Bound on the relative rounding error of margins, where decisions are exact.
        self.margin_slack = 0.0 if evaluator.table is None else 2.0**-50

    def train(self, max_iter, rng=None, progress=SILENT):
        """Train for at most ``max_iter`` epochs; stop after one without an update.

        Parameters
        ----------
        max_iter : int
        rng : RandomState or None
            Shuffles each epoch; None keeps the order.
        progress : Progress
            Each epoch is a step of it.
        """
        self._prepare(max_iter)
        n = len(self.codes)
        for epoch in range(max_iter):
            self.history.mistakes.append(0)
            self.history.updates.append(0)
            order = np.arange(n) if rng is None else rng.permutation(n)
            self._run_epoch(order, last=epoch == max_iter - 1)
            self.n_seen += n
            stop = progress.step(self.history.last)
            if stop or not self.history.updates[-1]:
                break

    def _prepare(self, max_iter):
        """Compute the scores of all samples before the first epoch."""
        n_old, table = self.n_old, self.evaluator.table
        total = self.task.largest_total(max_iter)
        # Integers up to 2**53 need no bound; other kernels than tables have none.
        self.exact = table is not None and table.is_exact_in_float64(total)
        certified = table is not None and not self.exact
        n_terms = n_old + max_iter * len(self.codes)
        self.slack = rounding_slack(n_terms) if certified else 0.0
        height = self.rule.n_scores * (2 if certified else 1)
        self.scores = np.zeros((height, len(self.codes)))
        self.new_rows = self.rows.take(slice(n_old, None)) if n_old else self.rows
        if n_old:
            old = slice(n_old)
            rows, terms = self.rows.take(old), self._terms(self.coef[:, old])
            self.evaluator.add_queries(
                rows, terms, self.new_rows, self.scores, exact=self.exact
            )

    def _terms(self, coef):
        """Make float64 coefficients, with their sizes where sums are certified."""
        if self.slack:
            coef = np.concatenate([coef, np.abs(coef)])
        return coef.astype(np.float64)

    def _decide_exactly(self, row, code):
        """Take a decision that rounding might get wrong."""
        values, table = self._exact_scores(row), self.evaluator.table
        own_value = self.evaluator.exact_diagonal(row)[0]
        return self.rule.decide(values, table.scale, int(code), own_value)

    def _exact_scores(self, row):
        """Compute the scores of one sample, times ``2**table.scale``, as integers."""
        support = np.flatnonzero(self.coef.any(axis=0))
        rows, coef = self.rows.take(support), self.coef[:, support]
        return self.evaluator.exact_scores(rows, coef, row)

    def _run_epoch(self, order, last):
        """Run the perceptron over all new samples, in the given order."""
        rows = self.new_rows.take(order)
        columns = self.evaluator.columns(rows)
        scores = np.ascontiguousarray(self.scores[:, order])
        scored = self._scored(scores, order)
        position = 0
        while True:
            position, _, _ = scored.next_update(position)
            if position == len(order):
                break
            first = position - position % PANEL
            block = slice(first, min(first + BLOCK, len(order)))
            block_rows = rows.take(block)
            K = self.evaluator.matrix(block_rows, self.evaluator.columns(block_rows))
            own_scores = np.ascontiguousarray(scores[:, block])
            deltas = self._run_block(
                block_rows, order[block], K, own_scores, first, position - first
            )
            scores[:, block] = own_scores
            position = block.stop
            touched = np.flatnonzero(deltas.any(axis=0))
            # In the last epoch the samples before the block are finished.
            skip = (0 if last else first, block.stop)
            changed_rows, terms = (
                block_rows.take(touched),
                self._terms(deltas[:, touched]),
            )
            self.evaluator.add(
                changed_rows, terms, columns, scores, skip=skip, exact=self.exact
            )
        self.scores[:, order] = scores

    def _scored(self, scores, numbers):
        """Join the samples of these numbers with their scores."""
        data = scores, self.codes[numbers], self.margins[numbers]
        return ScoredSamples(self.rule, *data, self.slack, self.margin_slack)

    def _run_block(self, part, numbers, kernel, scores, first, position=0):
        """Run over a block; return the changes of its coefficients.

        Parameters
        ----------
        part : laid-out samples of the block
        numbers : ndarray of int
            Those of its samples.
        kernel : ndarray or WeightedRows
            As `ScoredSamples.run` takes it.
        scores : ndarray of shape (n_scores, block_size), float64
            Scores of its samples; brought up to date.
        first, position : int
            Place of the block in the epoch, and in the block of the first sample to
            look at.
        """
        scored, sizes = self._scored(scores, numbers), self.sizes[numbers]
        deltas = np.zeros((self.rule.n_scores, len(part)), dtype=np.int64)
        recorded = np.zeros_like(deltas)
        forced, rival = -1, 0
        while True:
            position, mistakes, updates = scored.run(
                kernel, sizes, deltas, position, forced, rival
            )
            self.history.mistakes[-1] += mistakes
            self.history.updates[-1] += updates
            # A sample occurs once in a block, so its time is its place.
            where, hypotheses = np.nonzero((deltas - recorded).T)
            rows, times = self.n_old + numbers[where], self.n_seen + first + where + 1
            changed = deltas[hypotheses, where]
            self.coef[hypotheses, rows] += changed
            self.time_sums[hypotheses, rows] += changed * times
            self.changes.append(np.stack([rows, hypotheses, changed, times]))
            recorded[:] = deltas
            if position == len(part):
                return deltas
            forced, rival = self._decide_exactly(
                part.take(slice(position, position + 1)), self.codes[numbers[position]]
            )


class ConjunctionRun(DualRun):
    """A training call of a kernel of short conjunctions, by one weight for each.

    An update changes these weights, and not the scores of all other samples, which are
    computed when it is their turn: the time grows with the samples, not with their
    square. Sums are integers that float64 holds, so decisions are those of `DualRun`.
    """

    @classmethod
    def is_exact(cls, evaluator, rows, total):
        """Whether updates of a total size can be kept as weights of conjunctions.

        Parts of a sum are at most four times what the largest kernel value makes.
        """
        is_sum = ConjunctionWeights.suits(evaluator, rows)
        return is_sum and evaluator.table.is_exact_in_float64(4 * total)

    def _prepare(self, max_iter):
        """Add up the support samples of earlier calls."""
        self.slack, n_old = 0.0, self.n_old
        self.weights = ConjunctionWeights(self.evaluator, self.rule.n_scores)
        self.weights.add(self.rows.take(slice(n_old)), self.coef[:, :n_old])
        self.new_rows = self.rows.take(slice(n_old, None)) if n_old else self.rows

    def _run_epoch(self, order, last):
        """Run the perceptron over all new samples, in the given order."""
        for first in range(0, len(order), WEIGHTED_BLOCK):
            numbers = order[first : first + WEIGHTED_BLOCK]
            rows = self.new_rows.take(numbers)
            scores = np.empty((self.rule.n_scores, len(numbers)))
            self._run_block(rows, numbers, self.weights.of(rows), scores, first)

    def _exact_scores(self, row):
        """Compute the scores of one sample as integers."""
        return [int(score) for score in self.weights.scores(row)[:, 0]]


class BudgetRun(DualRun):
    """A training call with at most ``max_support`` support samples.

    Once the limit is passed, one of them is removed at random (Cavallanti,
    Cesa-Bianchi, Gentile 2007). The mean is over the hypotheses since the last removal,
    because only their samples are all present. No changes are kept.

    Parameters
    ----------
    evaluator, rule, task
        As for `DualRun`.
    max_support : int
    rng : RandomState
    """

    def __init__(self, evaluator, rule, task, max_support, rng):
        super().__init__(evaluator, rule, task)
        self.max_support, self.rng = max_support, rng
        # Earlier samples that this problem has learned from, also if only the mean
        # still needs them.
        self.members = np.flatnonzero((self.coef != 0).any(0) | self.time_sums.any(0))

    def _prepare(self, max_iter):
        """Keep no scores: a removal would change them all."""

    def _run_epoch(self, order, last):
        position = 0
        while position < len(order):
            window = order[position : position + WINDOW]
            n_passed = self._update_first(window, position)
            position += len(window) if n_passed is None else n_passed + 1

    def _update_first(self, numbers, position):
        """Update on the window's first sample that needs it; return its index."""
        rule, table, members = self.rule, self.evaluator.table, self.members
        rows, coef = self.rows.take(self.n_old + numbers), self.coef[:, members]
        total = int(np.abs(coef).sum(axis=1).max(initial=0))
        certified = table is not None and not table.is_exact_in_float64(total)
        self.slack = rounding_slack(len(members)) if certified else 0.0
        terms = self._terms(coef)
        scores = np.zeros((len(terms), len(rows)))
        support, columns = self.rows.take(members), self.evaluator.columns(rows)
        self.evaluator.add(support, terms, columns, scores, exact=not certified)
        codes = self.codes[numbers]
        index, decision, rival = self._scored(scores, numbers).next_update(0)
        if index == len(numbers):
            return None
        if decision == UNDECIDED:
            row = rows.take(slice(index, index + 1))
            decision, rival = self._decide_exactly(row, codes[index])
        if decision:
            self.history.mistakes[-1] += int(decision == MISTAKE)
            self.history.updates[-1] += 1
            delta = rule.change(codes[index], rival, self.sizes[numbers[index]])
            time = self.n_seen + position + index + 1
            self._update(self.n_old + numbers[index], delta, time)
        return index

    def _update(self, row, delta, time):
        self.coef[:, row] += delta
        self.time_sums[:, row] += delta * time
        if row not in self.members:
            self.members = np.append(self.members, row)
        if len(self.members) > self.max_support:
            position = int(self.rng.randint(len(self.members)))
            removed = self.members[position]
            self.members = np.delete(self.members, position)
            self.coef[:, removed] = self.time_sums[:, removed] = 0
            # The mean begins anew: as if all that is left had been added now.
            self.time_sums[:, self.members] = self.coef[:, self.members] * time
