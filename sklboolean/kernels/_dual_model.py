"""A dual state prepared to score samples: sums over the support, and votes."""

# Scores of queries z, in steps:
# 1. The support samples are laid out once, and the queries for each call (`_lay_out`).
# 2. sums = coef @ K(support, z) in float64, of shape (n_scores, n_queries): sums of
# weights of conjunctions where these are few and quicker, else over pairs of samples.
# 3. Where float64 does not hold all partial sums exactly, `rounding_slack` times the
# sum of absolute terms bounds the error. Queries whose sign, or whose winner among
# several classes, lies within the bound (`_rounded`) are scored again in Python
# integers (`_exact_scores`). All others are right already.
# 4. Scores are divided by 2**score_exponent, so that they are finite.
# Votes run through the changes of the history for each query (`_vote`). A query on
# which rounding might change one hypothesis is voted on again in integers.

from functools import cached_property
from math import frexp

import numpy as np
from scipy import sparse

from sklboolean._core.bits import BitRows, as_words
from sklboolean.kernels._conjunction_weights import ConjunctionWeights, n_conjunctions
from sklboolean.kernels._count_table import float_of_exact, rounding_slack
from sklboolean.kernels._dual import Hypotheses
from sklboolean.kernels._evaluators import GramRows, make_evaluator

# Scores are divided by a power of two if the largest possible one is not below this.
LARGEST_SCORE_EXPONENT = 1000
# A float score this many times its rounding bound away from 0 has three good digits.
CLEAR = 1024
TINY = 2.0**-950  # covers terms that underflow, as in _dual.pyx
PAIRS_AT_A_TIME = 2**22
MOST_FEATURES = 4096  # of sparse samples that are packed whole to be scored by weights
TOO_LONG = (
    "The integer coefficients are too large to stay exact: too many samples for these "
    "weights. Lower class_weight, sample_weight or max_iter, or use average=None."
)


def kernel_norms(evaluator, rows):
    """Compute sqrt(K(x, x)) of each sample; 1 for 0."""
    diagonal = np.ldexp(evaluator.diagonal(rows), evaluator.shift)
    return np.sqrt(np.where(diagonal > 0, diagonal, 1.0))


class DualModel:
    """A dual state prepared to score samples: kernel table, floats and layouts.

    Parameters
    ----------
    state : DualState

    Attributes
    ----------
    coef : ndarray of shape (n_scores, n_support), int64
        The coefficients that predict, over the resolution.
    score_exponent : int
        Scores are divided by 2**score_exponent.
    """

    def __init__(self, state):
        state.check()
        config = state.config
        self.state = state
        coef = state.summed() if config.average == "mean" else state.coef
        # Sums are formed in int64, and attributes are float64.
        total = np.abs(coef.astype(np.float64)).sum(axis=1).max(initial=0)
        if total >= 2.0**61 or np.abs(state.coef).max(initial=0) > 2**53:
            raise ValueError(TOO_LONG)
        self.coef = coef
        self.evaluator = make_evaluator(config, state.table)
        self._layouts = {}
        table = self.evaluator.table
        self.total = int(np.abs(self.coef).sum(axis=1).max(initial=0))
        self.is_exact = table is not None and table.is_exact_in_float64(self.total)
        self.is_certified = table is not None and not self.is_exact
        self.weights = self.coef.astype(np.float64)
        self.votes = config.average == "voted"
        self.score_exponent = 0
        if table is not None and not self.votes:
            mantissa, exponent = table.largest
            exponent += frexp(mantissa * self.total / state.resolution)[1]
            self.score_exponent = max(0, exponent - LARGEST_SCORE_EXPONENT)

    @cached_property
    def bound(self):
        """The largest possible magnitude of a score; 1 if it is 0."""
        state, table = self.state, self.evaluator.table
        total = self.total / state.resolution
        if self.votes:
            return float(max(1, state.n_seen))
        if not total:
            return 1.0
        if table is not None:
            mantissa, exponent = table.largest
            largest = float(np.ldexp(mantissa, exponent - self.score_exponent))
        elif state.config.is_precomputed:
            largest = state.largest_diagonal
        else:
            support, _ = self._lay_out(state.table)
            largest = float(np.abs(self.evaluator.diagonal(support)).max())
        return largest * total or 1.0

    def _lay_out(self, table):
        """Lay out the support samples, once, and a table of queries."""
        state, config = self.state, self.state.config
        if config.is_precomputed:
            if table.shape[1] <= state.support.max(initial=-1):
                raise ValueError("X has fewer columns than the fitted kernel matrix.")
            return (
                GramRows(table, state.support),
                GramRows(table, np.arange(len(table))),
            )
        width = config.n_features
        width = width if sparse.issparse(table) else max(1, -(-width // 64))
        if table.shape[1] != width:
            raise ValueError(
                f"The fitted state has {config.n_features} features, and X has another "
                "number: n_features_in_ was changed."
            )
        as_sparse = sparse.issparse(table) or sparse.issparse(state.table)
        if as_sparse not in self._layouts:
            layout = self.evaluator.layout(state.table, as_sparse)
            self._layouts[as_sparse] = layout, layout(state.table)
        layout, support = self._layouts[as_sparse]
        return support, support if table is state.table else layout(table)

    @cached_property
    def conjunction_weights(self):
        """The support as weights of conjunctions, or None where it is compared."""
        table = self.evaluator.table
        if getattr(table, "newton", None) is None or table.count == "same":
            return None
        if self.state.config.n_features > MOST_FEATURES:
            return None
        support = self._rows_in_order(self.state.table)
        if not ConjunctionWeights.suits(self.evaluator, support):
            return None
        return self._weights_of(support, self.weights)

    def _weights_of(self, support, coefficients):
        weights = ConjunctionWeights(self.evaluator, len(coefficients))
        weights.add(support, coefficients)
        return weights

    @cached_property
    def exact_weights(self):
        """The same of parts of the coefficients, so small that all sums are exact.

        Returns
        -------
        weights : ConjunctionWeights
            Weights of the lowest binary digits of all scores, then of higher ones.
        n_digits : int
        """
        table, n_support, n_digits = self.evaluator.table, self.coef.shape[1], 1
        while n_digits < 50 and table.is_exact_in_float64(n_support << n_digits + 1):
            n_digits += 1
        last = int(np.abs(self.coef).max(initial=0)).bit_length() // n_digits
        parts = [self.coef >> k * n_digits for k in range(last + 1)]
        # The last part has the sign.
        parts = [part & (1 << n_digits) - 1 for part in parts[:-1]] + parts[-1:]
        coefficients = np.concatenate(parts)
        support = self._rows_in_order(self.state.table)
        return self._weights_of(support, coefficients), n_digits

    def _rows_in_order(self, table):
        """Lay out samples in the order of the features: sums are the same for CSR."""
        return BitRows.from_words(as_words(table), self.state.config.n_features)

    def norms(self, table):
        """Compute sqrt(K(x, x)) of each sample; 1 for 0."""
        _, queries = self._lay_out(table)
        return self._norms(table, queries)

    def _norms(self, table, queries):
        evaluator = self.evaluator
        counts = evaluator.table
        if counts.count == "common" and queries.ones.max(initial=0) > counts.max_count:
            # The table ends at the largest count between support samples and others.
            evaluator = make_evaluator(self.state.config, table)
        return kernel_norms(evaluator, queries)

    def scores(self, table, n_jobs):
        """Compute the score of each sample, shape (n_samples, n_scores), float64.

        Where updates are divided by norms, so are they.
        """
        support, queries = self._lay_out(table)
        evaluator = self.evaluator.with_threads(n_jobs)
        if self.votes:
            return self._all_votes(evaluator, support, queries)
        if self.conjunction_weights is None:
            sums, exact = np.zeros((len(self.weights), len(queries))), self.is_exact
            evaluator.add_queries(support, self.weights, queries, sums, exact=exact)
        else:
            queries = self._rows_in_order(table)
            sums = self.conjunction_weights.scores(queries, n_jobs)
        # Without exact arithmetic both exponents are 0.
        shift = evaluator.shift - self.score_exponent
        scores = np.ldexp(sums / self.state.resolution, shift).T
        if self.is_certified:
            for i in self._rounded(evaluator, support, queries, sums).tolist():
                scores[i] = self._exact_scores(support, queries.take(slice(i, i + 1)))
        scores = np.ascontiguousarray(scores)
        if self.state.config.normalize:
            scores /= self.state.unit * self._norms(table, queries)[:, np.newaxis]
        return scores

    def _rounded(self, evaluator, support, queries, sums):
        """Find the samples whose sign or winner rounding might have changed."""
        slack = rounding_slack(self._n_terms(support, queries))
        # No sum of absolute terms is above this one, which is enough for most samples.
        mantissa, exponent = evaluator.table.largest
        largest = slack * np.ldexp(mantissa * self.total, exponent - evaluator.shift)
        near = np.flatnonzero(_unclear(sums, np.full(sums.shape, largest + TINY)))
        if not len(near) or self.conjunction_weights is not None:
            return near
        sizes = np.zeros((len(sums), len(near)))
        evaluator.add_queries(support, np.abs(self.weights), queries.take(near), sizes)
        return near[_unclear(sums[:, near], slack * sizes + TINY)]

    def _n_terms(self, support, queries):
        """Bound the numbers that are added up for a score."""
        if self.conjunction_weights is None:
            return len(support)
        most = int(queries.ones.max(initial=0))
        return len(support) + n_conjunctions(self.evaluator.table, most)

    def _exact_values(self, support, query):
        """Compute the scores of one sample as integers."""
        if self.conjunction_weights is None:
            return self.evaluator.exact_scores(support, self.coef, query)
        weights, n_digits = self.exact_weights
        parts = weights.scores(query).reshape(-1, len(self.coef))
        return [
            sum(int(part) << k * n_digits for k, part in enumerate(of_score))
            for of_score in parts.T
        ]

    def _exact_scores(self, support, query):
        """Compute the scores of one sample with the exact sign and winner."""
        values = self._exact_values(support, query)
        scale = self.evaluator.table.scale + self.state.resolution.bit_length() - 1
        scale += self.score_exponent
        row = np.array([float_of_exact(value, scale) for value in values])
        winner = values.index(max(values))
        if row.argmax() != winner:
            # Two classes differ by less than float64 shows; the first in exact
            # arithmetic stays first.
            row[winner] = np.nextafter(row.max(), np.inf)
        return row

    def _all_votes(self, evaluator, support, queries):
        """Count the votes of the hypotheses of each problem, as float64."""
        history, n_scores = self.state.update_history, len(self.coef)
        if n_scores == 1 or self.state.config.joint:
            problems = [(history, n_scores)]
        else:
            problems = [(history[:, history[1] == k], 1) for k in range(n_scores)]
        votes = [
            self._vote(evaluator, support, changes, queries, height)
            for changes, height in problems
        ]
        return np.hstack(votes).astype(np.float64)

    def _vote(self, evaluator, rows, changes, queries, n_scores):
        """Count the votes of all hypotheses of one problem.

        With one score the votes are +1 and -1. With more, a vote goes to the class of
        the largest score. A hypothesis votes once for each sample that it survived.
        """
        positions, numbers, deltas, times = changes
        numbers = numbers * (n_scores > 1)
        # The zero hypothesis lasts until the first change; the hypothesis after a
        # change is in force from that sample on. Two changes at one time are one.
        edges = np.concatenate([times, [self.state.n_seen + 1]])
        survivals = np.diff(edges, prepend=1).astype(np.int64)
        table = evaluator.table
        total = int(np.abs(deltas).sum())
        certified = table is not None and not table.is_exact_in_float64(total)
        slack = rounding_slack(len(deltas)) if certified else 0.0
        votes = np.zeros((len(queries), n_scores), dtype=np.int64)
        undecided = np.zeros(len(queries), dtype=np.uint8)
        updates = np.ascontiguousarray(positions), numbers.astype(np.int32)
        updates = *updates, deltas.astype(np.float64), survivals
        state = np.empty((2 * n_scores, 1))
        hypotheses = Hypotheses(*updates, slack, state)
        step = max(1, PAIRS_AT_A_TIME // max(1, len(rows)))
        for first in range(0, len(queries), step):
            query_slice = slice(first, min(first + step, len(queries)))
            columns = evaluator.columns(queries.take(query_slice))
            K = np.ascontiguousarray(evaluator.matrix(rows, columns).T)
            hypotheses.vote(K, votes[query_slice], undecided[query_slice])
        for i in np.flatnonzero(undecided).tolist():
            counts = evaluator.counts(rows, queries.take(slice(i, i + 1)))
            terms = zip(positions, numbers, deltas, strict=True)
            votes[i] = _exact_votes(table, counts, terms, survivals, n_scores)
        return votes


def _unclear(sums, bounds):
    """Find the samples whose sign or winner rounding might have changed."""
    unclear = (np.abs(sums) <= CLEAR * bounds).any(axis=0)
    if len(sums) > 1:
        # The largest score must lead the others by more than rounding.
        best = sums.argmax(axis=0)
        columns = np.arange(sums.shape[1])
        lead = sums[best, columns] - sums
        lead[best, columns] = np.inf
        unclear |= (lead <= bounds + bounds[best, columns]).any(axis=0)
    return unclear


def _exact_votes(table, counts, terms, survivals, n_scores):
    """Count the votes for one sample with Python integers."""
    values = {c: table.numerator(c) for c in np.unique(counts).tolist()}
    kernel = [values[c] for c in counts.tolist()]
    scores, votes = [0] * n_scores, np.zeros(n_scores, dtype=np.int64)
    for survival, term in zip(survivals.tolist(), [None, *terms], strict=True):
        if term is not None:
            position, hypothesis, delta = map(int, term)
            scores[hypothesis] += delta * kernel[position]
        if n_scores == 1:
            votes[0] += survival if scores[0] >= 0 else -survival
        else:
            votes[scores.index(max(scores))] += survival
    return votes
