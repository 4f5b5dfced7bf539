"""The state of a kernel perceptron: support samples, integer coefficients, times.

The score of a sample is f(x) = sum_i c_i (K(v_i, x) + constant). With a kernel that is
a function of one count its sign is exact: a float64 score within its rounding bound of
0 (or of another class) is computed again in Python integers.
"""

# One state holds all hypotheses of one training call, and none of them is stored.
# 1. A change of size d to the coefficient of a support sample at time t (when sample
# number t was seen, from 1 on) adds d to `coef` and d * t to `coef_time_sums`.
# 2. The hypothesis after sample t counts once for every t, and the zero hypothesis too.
# A change at time t is in force in n_seen - t + 1 of these n_seen + 1 hypotheses, so
# their sum is (n_seen + 1) * coef - coef_time_sums (`summed`): integers.
# 3. Votes need each hypothesis: `update_history` lists all changes in order.
# Invariant: coef and coef_time_sums are int64 of shape (n_scores, n_support), over the
# power of two `resolution`. Arrays are replaced and never changed, so a copy is
# shallow.
# Mean and votes: Freund, Schapire 1999. Kernels: Khardon, Roth, Servedio 2001.

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from sklboolean._core.calibration import break_ties
from sklboolean._core.damage import require
from sklboolean.kernels._dual_model import TOO_LONG, DualModel


@dataclass(frozen=True)
class DualConfig:
    """Settings of a dual state that stay while training is resumed.

    Attributes
    ----------
    kernel : kernel object, callable or "precomputed"
    constant : int
        Added to the kernel: 1 for an intercept, else 0.
    n_features : int
    n_scores : int
        1 for two classes, otherwise the number of classes.
    joint : bool
        Whether the classes are learned jointly.
    average : {"mean", "voted"} or None
        Times are kept for a mean, changes for votes.
    normalize : bool
        Whether updates and scores are divided by ``sqrt(K(x, x))``.
    """

    kernel: object
    constant: int
    n_features: int
    n_scores: int
    joint: bool
    average: str | None
    normalize: bool = False

    @property
    def is_precomputed(self):
        """Whether samples are rows of a kernel matrix."""
        return isinstance(self.kernel, str)

    @property
    def n_problems(self):
        """Number of perceptrons: one for each score unless classes are joint."""
        return 1 if self.joint else self.n_scores


@dataclass
class DualState:
    """A dual model over the samples seen so far.

    Attributes
    ----------
    config : DualConfig
    table : ndarray of uint64 words, csr_array, or None
        The support samples; None before the first and if the kernel is precomputed.
    support : ndarray of shape (n_support,), int64
        Their numbers in the order of the stream.
    coef : ndarray of shape (n_scores, n_support), int64
        Coefficients of the last hypothesis, over the resolution.
    coef_time_sums : ndarray of shape (n_scores, n_support), int64
        Sum of each change times the time of the change, for the mean.
    update_history : ndarray of shape (4, n_changes), int64
        Support position, hypothesis, change and time, in order; empty unless
        hypotheses vote.
    n_seen : int
        Samples seen.
    resolution : int
        Power of two: the coefficients are these integers divided by it.
    n_orders : int
        Number of hypotheses, trained in different orders, whose coefficients are added.
    largest_diagonal : float or None
        Largest K(x, x) of a precomputed kernel.
    """

    config: DualConfig
    table: object
    support: np.ndarray
    coef: np.ndarray
    coef_time_sums: np.ndarray
    update_history: np.ndarray
    n_seen: int = 0
    resolution: int = 1
    n_orders: int = 1
    largest_diagonal: float | None = None

    @classmethod
    def empty(cls, config):
        """Make the state before the first sample."""
        coef = np.zeros((config.n_scores, 0), dtype=np.int64)
        history = np.zeros((4, 0), dtype=np.int64)
        return cls(config, None, np.zeros(0, dtype=np.int64), coef, coef, history)

    def copy(self):
        """Copy the state for another training call; the arrays are never changed."""
        return replace(self)

    def __getstate__(self):
        # What `model` prepares is made again after loading.
        return {name: value for name, value in vars(self).items() if name != "model"}

    @cached_property
    def model(self):
        """The state prepared to score samples."""
        return DualModel(self)

    def decision(self, table, *, n_jobs=None):
        """Compute the decision for each sample of a table.

        Parameters
        ----------
        table : ndarray of uint64 words, csr_array, or kernel matrix
        n_jobs : int or None
            Number of threads.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes), float64
        """
        decision = self.model.scores(table, n_jobs)
        if decision.shape[1] > 1:
            return decision
        # A tie predicts the second class, and so must its score.
        return break_ties(decision[:, 0])

    @property
    def unit(self):
        """Divisor of scores and coefficients: 1 without normalisation."""
        if not self.config.normalize:
            return 1
        n_means = self.n_seen + 1 if self.config.average == "mean" else 1
        return self.n_orders * n_means

    def with_resolution(self, resolution):
        """Make the same state with a finer resolution, a multiple of this one."""
        factor = resolution // self.resolution
        if int(np.abs(self.coef_time_sums).max(initial=0)) * factor >= 2**62:
            raise ValueError(TOO_LONG)
        history = self.update_history.copy()
        history[2] *= factor
        coef, time_sums = self.coef * factor, self.coef_time_sums * factor
        updates = {"update_history": history, "resolution": resolution}
        return replace(self, coef=coef, coef_time_sums=time_sums, **updates)

    def summed(self):
        """Sum the coefficients of all hypotheses, shape (n_scores, n_support).

        The hypothesis after sample number t counts once for every t; the zero
        hypothesis takes part (Freund, Schapire 1999). A change at time t is in force
        in n_seen - t + 1 of them.
        """
        return (self.n_seen + 1) * self.coef - self.coef_time_sums

    def after(self, table, numbers, coef, time_sums, n_seen, runs):
        """Make the state after training.

        Parameters
        ----------
        table : table of the earlier support samples and the new samples, or None
        numbers : ndarray of shape (n_samples,), int64
            Stream numbers of these samples.
        coef, time_sums : ndarrays of shape (n_scores, n_samples), int64
        n_seen : int
        runs : list of DualRun
            One with all hypotheses, or one for each.
        """
        if self.config.average != "mean":
            time_sums[:] = 0
        # A sample stays if the last hypothesis, the mean or a vote needs it.
        needed = coef.any(axis=0) | time_sums.any(axis=0)
        history = self.update_history
        if self.config.average == "voted":
            histories = [history]
            for run_number, run in enumerate(runs):
                offset = np.array(
                    [[0], [run_number * self.config.n_scores // len(runs)]]
                )
                histories += [np.vstack([c[:2] + offset, c[2:]]) for c in run.changes]
            history = np.concatenate(histories, axis=1)
            needed[history[0]] = True
            # Positions are those among the samples that stay.
            history[0] = (np.cumsum(needed) - 1)[history[0]]
        table = None if table is None else table[needed]
        sums = {"coef": coef[:, needed], "coef_time_sums": time_sums[:, needed]}
        seen = {"update_history": history, "n_seen": n_seen}
        return replace(self, table=table, support=numbers[needed], **sums, **seen)

    def check(self):
        """Check that arrays fit each other, before compiled loops read them."""
        config, n_support = self.config, len(self.support)
        shape = (config.n_scores, n_support)
        history = self.update_history
        is_sound = (
            self.support.ndim == 1
            and self.coef.shape == self.coef_time_sums.shape == shape
            and history.ndim == 2
            and len(history) == 4
        )
        if is_sound and history.size:
            low, high = history[:2].min(axis=1), history[:2].max(axis=1)
            is_sound = low.min() >= 0 and high[0] < n_support and high[1] < shape[0]
        table, n_features = self.table, config.n_features
        if sparse.issparse(table):
            try:
                table.check_format(full_check=True)
            except ValueError:
                is_sound = False
            is_sound &= table.shape == (n_support, n_features)
        elif not config.is_precomputed:
            n_words = max(1, -(-n_features // 64))
            is_sound &= table.shape == (n_support, n_words)
            is_sound &= table.dtype == np.uint64
            # Counts stay in range only if no bit is set past the last feature.
            n_used = n_features - 64 * (n_words - 1)
            if is_sound and n_used < 64:
                is_sound = not (table[:, -1] >> np.uint64(n_used)).any()
        require(is_sound and self.resolution > 0, "its arrays do not fit each other")
