"""Scores of new rows under a dual model, with the right sign, and votes."""

from math import copysign, log1p, log2

import numpy as np

from sklboolean.kernels._count_table import SMALLEST, rounding_slack, split_integer
from sklboolean.kernels._dual import count_votes
from sklboolean.kernels._evaluators import add_queries

# A float score this many times its rounding bound away from 0 has three good digits.
CLEAR = 1024
TINY = 2.0**-950  # covers terms that underflow, as in _dual.pyx
PAIRS_AT_A_TIME = 2**22


def score_rows(scorer, rows, coefficients, queries, *, unit=1, logarithmic=False):
    """Return the scores of query rows.

    Parameters
    ----------
    scorer : scorer object
    rows : support rows of the scorer
    coefficients : ndarray of shape (n_scores, n_support), int64
    queries : query rows of the scorer
    unit : int
        Power of two by which the scores are divided.
    logarithmic : bool
        Give sign(f) log2(1 + abs(f)).

    Returns
    -------
    scores : ndarray of shape (n_queries, n_scores), float64
        The sign and, with several scores, the largest are those of exact arithmetic
        when the scorer has a table.
    """
    n_scores, table = len(coefficients), scorer.table
    total = int(np.abs(coefficients).sum(axis=1).max(initial=0))
    exact = table is not None and table.is_exact_in_float64(total)
    certified = table is not None and not exact
    weights = coefficients.astype(np.float64)
    if certified:
        weights = np.concatenate([weights, np.abs(weights)])
    sums = np.zeros((len(weights), len(queries)))
    add_queries(scorer, rows, weights, queries, sums, exact=exact)
    scores = _to_scale(sums[:n_scores], scorer.shift, unit, logarithmic).T
    if certified:
        bounds = rounding_slack(len(rows)) * sums[n_scores:] + TINY
        unclear = np.flatnonzero(_unclear(sums[:n_scores], bounds))
        for i in unclear.tolist():
            scores[i] = _exact_row(
                scorer, rows, coefficients, queries.take(slice(i, i + 1)), unit,
                logarithmic,
            )  # fmt: skip
    return np.ascontiguousarray(scores)


def _to_scale(sums, shift, unit, logarithmic):
    if not logarithmic:
        return np.ldexp(sums / unit, shift)
    size = np.abs(sums) / unit
    with np.errstate(divide="ignore"):
        # log2(1 + f) = log2(2**-shift + f 2**-shift) + shift
        logarithms = np.log2(np.ldexp(1.0, -min(shift, 1000)) + size) + shift
    return np.copysign(np.maximum(logarithms, 0), sums)


def _unclear(sums, bounds):
    unclear = (np.abs(sums) <= CLEAR * bounds).any(axis=0)
    if len(sums) > 1:
        # The largest score must lead the others by more than rounding.
        best = sums.argmax(axis=0)
        columns = np.arange(sums.shape[1])
        lead = sums[best, columns] - sums
        lead[best, columns] = np.inf
        unclear |= (lead <= bounds + bounds[best, columns]).any(axis=0)
    return unclear


def _exact_row(scorer, rows, coefficients, query, unit, logarithmic):
    values = scorer.exact_scores(rows, coefficients, query)
    scale = scorer.table.scale + unit.bit_length() - 1
    row = np.array([finite_score(value, scale, logarithmic) for value in values])
    winner = values.index(max(values))
    if row.argmax() != winner:
        # Two classes differ by less than float64 shows; the first in exact
        # arithmetic stays first.
        row[winner] = np.nextafter(row.max(), np.inf)
    return row


def vote_rows(scorer, rows, changes, n_seen, queries, n_scores, tie_positive):
    """Let every hypothesis of a run vote on query rows.

    Parameters
    ----------
    scorer : scorer object
    rows : support rows of the scorer
    changes : ndarray of shape (4, n_changes), int64
        As in `DualState`.
    n_seen : int
    queries : query rows of the scorer
    n_scores : int
        1: votes of +1 and -1. More: a vote goes to the class of the largest score.
    tie_positive : bool
        With one score, how a score of 0 votes.

    Returns
    -------
    votes : ndarray of shape (n_queries, n_scores), int64
        A hypothesis votes once for each example that it survived.
    """
    positions, hypotheses, deltas, times = changes
    # The zero hypothesis lasts until the first change; the hypothesis after a change
    # is in force from that example on. Two changes at one time are one hypothesis.
    edges = np.concatenate([times, [n_seen + 1]])
    survivals = np.diff(edges, prepend=1).astype(np.int64)
    total = int(np.abs(deltas).sum())
    table = scorer.table
    certified = table is not None and not table.is_exact_in_float64(total)
    slack = rounding_slack(len(deltas)) if certified else 0.0
    votes = np.zeros((len(queries), n_scores), dtype=np.int64)
    undecided = np.zeros(len(queries), dtype=np.uint8)
    state = np.zeros((2 * n_scores, 1))
    step = max(1, PAIRS_AT_A_TIME // max(1, len(rows)))
    for first in range(0, len(queries), step):
        part = slice(first, min(first + step, len(queries)))
        columns = scorer.columns(queries.take(part))
        K = np.ascontiguousarray(scorer.matrix(rows, columns).T)
        count_votes(
            K, positions, hypotheses.astype(np.int32), deltas.astype(np.float64),
            survivals, tie_positive, slack, state, votes[part], n_scores,
            undecided[part],
        )  # fmt: skip
    for i in np.flatnonzero(undecided).tolist():
        votes[i] = _exact_votes(
            scorer, rows, changes, survivals, queries.take(slice(i, i + 1)), n_scores,
            tie_positive,
        )  # fmt: skip
    return votes


def _exact_votes(scorer, rows, changes, survivals, query, n_scores, tie_positive):
    counts = scorer.counts(rows, query)
    values = {c: scorer.table.numerator(c) for c in np.unique(counts).tolist()}
    kernel = [values[c] for c in counts.tolist()]
    scores, votes = [0] * n_scores, np.zeros(n_scores, dtype=np.int64)
    terms = zip(*changes[:3].tolist(), strict=True)
    for survival, term in zip(survivals.tolist(), [None, *terms], strict=True):
        if term is not None:
            position, hypothesis, delta = term
            scores[hypothesis] += delta * kernel[position]
        if n_scores == 1:
            positive = scores[0] > 0 or (scores[0] == 0 and tie_positive)
            votes[0] += survival if positive else -survival
        else:
            votes[scores.index(max(scores))] += survival
    return votes


def finite_score(numerator, scale, logarithmic):
    """Return the exact score ``numerator / 2**scale`` as a finite float64."""
    mantissa, exponent = split_integer(numerator, -scale)
    if not mantissa:
        return 0.0
    if logarithmic and exponent > 60:
        size = log2(abs(mantissa)) + exponent
    else:
        with np.errstate(under="ignore"):
            size = abs(float(np.ldexp(mantissa, exponent)))
        size = log1p(size) / np.log(2) if logarithmic else size
    return copysign(max(size, SMALLEST), mantissa)
