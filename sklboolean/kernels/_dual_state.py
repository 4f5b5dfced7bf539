"""What a fitted dual learner keeps: support rows, integer coefficients, and times."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from sklboolean._core.bits import as_csr, as_words


@dataclass
class DualState:
    """A dual model over the rows seen so far.

    Attributes
    ----------
    table : ndarray of uint64 words, csr_array, or None
        The support rows; None when the kernel is precomputed.
    support : ndarray of shape (n_support,), int64
        Their numbers in the order of the stream.
    coefficients : ndarray of shape (n_scores, n_support), int64
        Of the last hypothesis, in units.
    timed : ndarray of shape (n_scores, n_support), int64
        Sum of change times the time of the change.
    n_seen : int
        Examples seen.
    unit : int
        Power of two: the coefficients are these integers divided by it.
    average : {"mean", "voted"} or None
        What can be asked for: times are kept for a mean, changes for votes.
    changes : ndarray of shape (4, n_changes), int64
        Support position, hypothesis, change and time, in order; empty unless
        hypotheses vote.
    """

    table: object
    support: np.ndarray
    coefficients: np.ndarray
    timed: np.ndarray
    n_seen: int
    unit: int
    average: str | None
    changes: np.ndarray

    @classmethod
    def empty(cls, n_scores, average):
        """Return the state before the first row."""
        return cls(
            None,
            np.zeros(0, dtype=np.int64),
            np.zeros((n_scores, 0), dtype=np.int64),
            np.zeros((n_scores, 0), dtype=np.int64),
            0,
            1,
            average,
            np.zeros((4, 0), dtype=np.int64),
        )

    def in_unit(self, unit):
        """Return the same state with a finer unit, a multiple of this one's."""
        factor = unit // self.unit
        changes = self.changes.copy()
        changes[2] *= factor
        return replace(
            self,
            coefficients=self.coefficients * factor,
            timed=self.timed * factor,
            changes=changes,
            unit=unit,
        )

    def averaged(self):
        """Return the sum of the coefficients of all hypotheses, (n_scores, n_support).

        The hypothesis after example number t counts once for every t; the zero
        hypothesis takes part (Freund, Schapire 1999). A change at time t is in force
        in n_seen - t + 1 of them.
        """
        return (self.n_seen + 1) * self.coefficients - self.timed

    def after(self, table, numbers, trainings):
        """Return the state after training on more rows.

        Parameters
        ----------
        table : table of the earlier support rows and the new rows, or None
        numbers : ndarray of shape (n_samples,), int64
            Stream numbers of those rows.
        trainings : list of Training
            One with all hypotheses, or one for each.
        """
        n_scores = len(self.coefficients)
        parts = [
            training.totals(old, old_timed, self.n_seen)
            for training, old, old_timed in zip(
                trainings,
                np.split(self.coefficients, len(trainings)),
                np.split(self.timed, len(trainings)),
                strict=True,
            )
        ]
        kept = np.unique(np.concatenate([rows for rows, _, _ in parts]))
        coefficients = np.zeros((n_scores, len(kept)), dtype=np.int64)
        timed = np.zeros_like(coefficients)
        height = n_scores // len(trainings)
        for part, (rows, own, own_timed) in enumerate(parts):
            where = np.searchsorted(kept, rows)
            hypotheses = slice(part * height, (part + 1) * height)
            coefficients[hypotheses, where] = own
            timed[hypotheses, where] = own_timed
        if self.average != "mean":
            timed[:] = 0

        changes = np.zeros((4, 0), dtype=np.int64)
        if self.average == "voted":
            changes = self._joined_changes(trainings, height)
        needed = coefficients.any(axis=0) | timed.any(axis=0)
        needed |= np.isin(kept, changes[0])
        kept = kept[needed]
        changes[0] = np.searchsorted(kept, changes[0])
        return DualState(
            None if table is None else table[kept],
            numbers[kept],
            coefficients[:, needed],
            timed[:, needed],
            # A class that converged early keeps its last hypothesis meanwhile.
            self.n_seen + max(training.n_seen for training in trainings),
            self.unit,
            self.average,
            changes,
        )

    def _joined_changes(self, trainings, height):
        news = []
        for part, training in enumerate(trainings):
            new = training.all_changes().copy()
            new[1] += part * height
            new[3] += self.n_seen
            news.append(new)
        return np.concatenate([self.changes, *news], axis=1)


def join_tables(tables, n_features):
    """Stack tables of Boolean rows, as the first one is; None is an empty one."""
    first, *others = [table for table in tables if table is not None]
    if not others:
        return first
    if not sparse.issparse(first):
        return np.concatenate([first, *map(as_words, others)])
    rows = [as_csr(table, n_features) for table in (first, *others)]
    return sparse.csr_array(sparse.vstack(rows, format="csr"))
