"""A dual state made ready to score rows."""

from fractions import Fraction

import numpy as np

from sklboolean.kernels._choice import choose_scorer, most_ones, open_rows
from sklboolean.kernels._dual_training import UNIT
from sklboolean.kernels._prediction import score_rows, vote_rows

SMALLEST = np.nextafter(0.0, 1.0)
TOO_LONG = (
    "The integer coefficients pass what is exact: too many examples for these weights. "
    "Lower class_weight or max_iter, or use average=None."
)


def is_precomputed(learner):
    """Tell whether X is a kernel matrix."""
    return isinstance(learner.kernel, str) and learner.kernel == "precomputed"


def unit_of(learner):
    """Return the power of two over which coefficients are integers."""
    shrinks = learner.max_support is not None and learner.budget == "forgetron"
    return UNIT if shrinks or learner.class_weight is not None else 1


class DualModel:
    """Scores, votes and exact values of a `DualState` under a learner's parameters.

    Attributes
    ----------
    coefficients : ndarray of shape (n_scores, n_support), int64
        In units: summed over the hypotheses with average="mean", else of the last.
    unit : int
    logarithmic : bool
        Whether scores may pass float64 and log2 scores are given.
    """

    def __init__(self, learner, state):
        self.learner, self.state = learner, state
        ones = 0 if state.table is None else most_ones(state.table)
        self.scorer = choose_scorer(
            learner, learner.n_features_in_, ones, learner.n_jobs
        )
        mean = state.average == "mean"
        self.coefficients = state.averaged() if mean else state.coefficients
        # Sums are formed in int64, and coefficients are published as float64.
        total = np.abs(self.coefficients.astype(np.float64)).sum(axis=1).max()
        if total >= 2.0**61 or np.abs(state.coefficients).max(initial=0) > 2**53:
            raise ValueError(TOO_LONG)
        self.unit = state.unit
        self.votes = state.average == "voted"
        self.joint = learner.multi_class == "joint"
        exponent = self._largest_value()[1] if self.scorer.table is not None else 0
        self.logarithmic = (
            not self.votes and exponent + self._total().bit_length() > 1000
        )

    def _total(self):
        return int(np.abs(self.coefficients).sum(axis=1).max(initial=0))

    def _largest_value(self):
        return self.scorer.table.largest()

    def bound(self, gram=None):
        """Return the largest possible format_large_int of a decision; 1 if it is 0.

        Parameters
        ----------
        gram : ndarray or None
            The kernel matrix of the training rows when it was given.
        """
        total = self._total() / self.unit
        if self.votes:
            return float(max(1, self.state.n_seen))
        if not total:
            return 1.0
        if self.scorer.table is not None:
            mantissa, exponent = self._largest_value()
            if self.logarithmic:
                return float(np.log2(mantissa) + exponent + np.log2(total)) + 1.0
            return float(np.ldexp(mantissa, exponent)) * total or 1.0
        support, _ = self._open(gram if gram is not None else self.state.table)
        return float(np.abs(self.scorer.diagonal(support)).max()) * total or 1.0

    def _open(self, table):
        state = self.state
        support = state.support if is_precomputed(self.learner) else state.table
        return open_rows(self.scorer, self.learner.n_features_in_, support, table)

    def decision(self, table):
        """Return the decision for each row: (n_samples,) or (n_samples, n_classes)."""
        support, queries = self._open(table)
        if self.votes:
            decision = self._vote(support, queries).astype(np.float64)
        else:
            decision = score_rows(
                self.scorer, support, self.coefficients, queries,
                unit=self.unit, logarithmic=self.logarithmic,
            )  # fmt: skip
        if decision.shape[1] > 1:
            return decision
        decision = decision[:, 0]
        if self.learner.tie == "positive":
            # A tie predicts the second class, and so must its score.
            decision[decision == 0] = SMALLEST
        return decision

    def _vote(self, support, queries):
        state, n_scores = self.state, len(self.coefficients)
        tie = self.learner.tie == "positive"
        if n_scores == 1 or self.joint:
            runs = [(state.changes, n_scores)]
        else:
            runs = []
            for k in range(n_scores):
                own = state.changes[:, state.changes[1] == k].copy()
                own[1] = 0
                runs.append((own, 1))
        return np.hstack(
            [
                vote_rows(
                    self.scorer, support, changes, state.n_seen, queries, height, tie
                )
                for changes, height in runs
            ]
        )

    def exact(self, table):
        """Return the decision as Python integers or fractions, an object array."""
        support, queries = self._open(table)
        if self.votes:
            values = self._vote(support, queries).astype(object)
        elif self.scorer.table is None:
            raise ValueError(
                "decision_exact needs a kernel that is a function of one count; "
                f"kernel={self.learner.kernel!r} is evaluated in float64."
            )
        else:
            scale = 2**self.scorer.table.scale * self.unit
            values = np.empty((len(queries), len(self.coefficients)), dtype=object)
            for i in range(len(queries)):
                query = queries.take(slice(i, i + 1))
                exact = self.scorer.exact_scores(support, self.coefficients, query)
                values[i] = [_reduce(Fraction(value, scale)) for value in exact]
        return values[:, 0] if values.shape[1] == 1 else values


def _reduce(fraction):
    return fraction.numerator if fraction.denominator == 1 else fraction
