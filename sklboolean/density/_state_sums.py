"""Sums over all states of some units, as pairs of one state of each half of the units.

The field a of a column is linear in the units, so e^a and e^-a are products of two
tabulated numbers: tables with 2 * 2^(m/2) rows stand for 2^m states. Columns in a tree
need both. Independent columns need only their ratio e^-2a; the sign of a column is
flipped where that ratio would be large.
"""

from dataclasses import dataclass, replace
from itertools import chain, combinations, pairwise

import numpy as np

from sklboolean._core.parallel import each_slice
from sklboolean.density._states import (
    BLOCK,
    GROUP,
    PANEL,
    UNIT,
    sum_states,
    weigh_states,
)
from sklboolean.density._tree import parents_first

LOG_2 = np.log(2.0)
MAX_FIELD = 100.0  # of each half: e^400 does not overflow
MAX_AGAINST_SIGN = -np.log(UNIT)  # of the ratio e^2a: then e^2a UNIT <= 1 / UNIT
MAX_LOG_RATIO = 500.0  # of the two factors of a column in a tree
N_SLABS = 8  # blocks of left states with sums of their own, for any number of threads
MAX_WORK = 1 << 25  # multiplications between two checks for an interrupt


def unit_states(m, max_active=None):
    """List all states of m units, by number of active units if that is bounded.

    Unit i is active in row s where bit i of s is set, if ``max_active`` is None.
    """
    if max_active is None:
        return (np.arange(2**m)[:, None] >> np.arange(m) & 1).astype(float)
    counts = range(min(m, max_active) + 1)
    active = list(chain.from_iterable(combinations(range(m), k) for k in counts))
    states = np.zeros((len(active), m))
    rows = np.repeat(np.arange(len(active)), [len(units) for units in active])
    states[rows, list(chain.from_iterable(active))] = 1
    return states


def split_units(m, max_active=None):
    """List the states of the second and of the first half of the units.

    Returns
    -------
    left, right : ndarray of shape (n_left, m - m_right) and (n_right, m_right)
    limits : ndarray of shape (n_left,)
        A left state is combined with the first ``limits`` right states.
    """
    m_right = (m + 1) // 2
    left, right = unit_states(m - m_right, max_active), unit_states(m_right, max_active)
    limits = np.full(len(left), len(right))
    if max_active is not None:
        room = max_active - left.sum(1)
        limits = np.searchsorted(right.sum(1), room, side="right")
    return left, right, limits.astype(np.int64)


@dataclass(frozen=True)
class FactorTables:
    """Tables for the compiled loop, which reads them by name; see states.h."""

    left: np.ndarray
    left_mantissas: np.ndarray
    left_exponents: np.ndarray
    limits: np.ndarray
    right: np.ndarray
    right_mantissas: np.ndarray
    right_exponents: np.ndarray
    block: int
    signs: np.ndarray | None = None  # of independent columns
    parents: np.ndarray | None = None  # this and the rest: of a tree only
    agree: np.ndarray | None = None
    differ: np.ndarray | None = None
    order: np.ndarray | None = None  # the column at each place

    def part(self, first, last):
        """Select the left states [first, last)."""
        return replace(
            self,
            left=self.left[first:last],
            left_mantissas=self.left_mantissas[first:last],
            left_exponents=self.left_exponents[first:last],
            limits=self.limits[first:last],
        )


def _column_signs(left_fields, right_fields):
    """Choose signs that raise the lowest field of each column; return both."""
    lowest = left_fields.min(0) + right_fields.min(0)
    highest = left_fields.max(0) + right_fields.max(0)
    return np.where(lowest + highest < 0, -1.0, 1.0), np.maximum(lowest, -highest)


def in_range(left_fields, right_fields, linear, parents=None, couplings=None):
    """Check that fields and couplings are small enough for the compiled loop."""
    largest = np.array([np.abs(left_fields).max(0), np.abs(right_fields).max(0)])
    if not (largest.max(initial=0) <= MAX_FIELD and np.abs(linear).sum() <= 1e9):
        return False
    if parents is None:
        _, lowest = _column_signs(left_fields, right_fields)
        return bool(lowest.min(initial=0) >= -MAX_AGAINST_SIGN)
    ratios = 2 * largest.sum(0)  # log-ratios of the two factors of each column
    for child in parents_first(parents)[::-1]:
        if parents[child] >= 0:
            strength = min(2 * np.abs(couplings[child]), ratios[child])
            ratios[parents[child]] += strength + LOG_2
    return bool(ratios.max(initial=0) <= MAX_LOG_RATIO)


def build_tables(left, right, limits, parents=None, couplings=None):
    """Tabulate the factors of the columns for the states of each half.

    Parameters
    ----------
    left, right : tuple of (fields of shape (n_states, n_columns), logs (n_states,))
        The field of a column is the sum of both. So is the log-weight that does not
        depend on the columns.
    limits : ndarray of shape (n_left,)
    parents, couplings : ndarray of shape (n_columns,) or None
        A forest of the columns.

    Returns
    -------
    tables : FactorTables
    """
    n_right = len(right[0])
    block = min(BLOCK, -(-n_right // PANEL) * PANEL)
    padded = -(-n_right // block) * block
    if parents is None:
        left, right, others = _ratio_tables(left, right, block, padded)
    else:
        left, right, others = _pair_tables(left, right, padded, parents, couplings)
    (left_table, left_logs, lift), (right_table, right_logs) = left, right
    left_mantissas, left_exponents = _mantissas(left_logs)
    right_logs = np.append(right_logs, np.zeros(padded - n_right))
    return FactorTables(
        left_table,
        left_mantissas,
        left_exponents + lift,
        limits,
        _aligned(right_table),
        *_mantissas(right_logs),
        block,
        **others,
    )


def _ratio_tables(left, right, block, padded):
    """Tabulate e^-2a, times UNIT on the left; e^a becomes part of the state weights."""
    (left_fields, left_logs), (right_fields, right_logs) = left, right
    n = left_fields.shape[1]
    columns = -(-n // GROUP) * GROUP
    signs, _ = _column_signs(left_fields, right_fields)
    left_table = np.zeros((len(left_fields), columns, 1))  # padding: sums of UNIT
    left_table[:, :n, 0] = UNIT * np.exp(-2 * signs * left_fields)
    right_table = np.zeros((padded, columns))
    right_table[: len(right_fields), :n] = np.exp(-2 * signs * right_fields)
    shape = (padded // block, block // PANEL, PANEL, columns // GROUP, GROUP)
    right_table = right_table.reshape(shape).transpose(0, 3, 1, 4, 2)
    lift = -columns * int(np.log2(UNIT))
    left = left_table, left_logs + left_fields @ signs, lift
    return left, (right_table, right_logs + right_fields @ signs), {"signs": signs}


def _pair_tables(left, right, padded, parents, couplings):
    """Tabulate (e^a, e^-a) times e^(-|a|/2), whose inverse is part of state weights."""
    (left_fields, left_logs), (right_fields, right_logs) = left, right
    n = left_fields.shape[1]
    order = parents_first(parents)[::-1]
    left_table = np.ones((len(left_fields), n, 2))
    _fill_factors(left_fields[:, order], left_table)
    right_table = np.full((padded, n, 2), 0.5)
    _fill_factors(right_fields[:, order], right_table[: len(right_fields)])
    right_table = right_table.reshape(-1, PANEL, n, 2).transpose(0, 2, 3, 1)
    strengths = np.where(parents < 0, 0.0, couplings)[order]
    left_logs = left_logs + 0.5 * np.abs(left_fields).sum(1) + np.abs(strengths).sum()
    right_logs = right_logs + 0.5 * np.abs(right_fields).sum(1)
    others = {
        "parents": np.append(np.argsort(order), -1)[parents[order]],  # -1 stays -1
        "agree": np.exp(np.minimum(2 * strengths, 0)),
        "differ": np.exp(np.minimum(-2 * strengths, 0)),
        "order": order,
    }
    return (left_table, left_logs, 0), (right_table, right_logs), others


def _fill_factors(fields, factors):
    """Write (e^a, e^-a) times e^(-|a|/2): products of these stay near 1 both ways."""
    small = np.exp(-0.5 * np.abs(fields))
    large, small = 1 / small, small * small * small
    positive = fields > 0
    factors[..., 0] = np.where(positive, large, small)
    factors[..., 1] = np.where(positive, small, large)


def _aligned(values):
    """Copy an array, flattened, to a cache line: loads across two lines cost double."""
    start = np.empty(values.size + 8)
    first = -(start.ctypes.data // 8) % 8
    aligned = start[first : first + values.size]
    aligned.reshape(values.shape)[...] = values
    return aligned


def _mantissas(logs):
    exponents = np.floor(logs / LOG_2)
    return np.exp(logs - exponents * LOG_2), exponents.astype(np.int64)


def log_state_weights(tables, first, last, n_right):
    """Compute the log-weights of left states [first, last) with all right states."""
    logs = np.full((last - first, n_right), -np.inf)
    scratch = _aligned(np.zeros(32 * tables.left.shape[1]))
    weigh_states(tables, first, scratch, logs)
    return logs


class PartialSums:
    """The sums of some of the left states, combined with all right states."""

    def __init__(self, tables, gradient):
        n_left, columns = tables.left.shape[:2]
        n_right = len(tables.right_mantissas)
        self.tables, self.scale = tables, np.zeros(3, dtype=np.int64)
        self.scratch = _aligned(np.zeros(32 * columns))
        self.left_sums, self.right_sums = np.zeros(n_left), _aligned(np.zeros(n_right))
        self.left_means = self.right_means = self.edges = None
        if gradient:
            self.left_means = np.zeros((n_left, columns))
            self.right_means = _aligned(np.zeros(n_right * columns))
            self.edges = np.zeros(columns)

    def add(self, first, last):
        """Add the left states [first, last) of those that exist."""
        last = min(last, len(self.left_sums))
        if first < last:
            sum_states(
                self.tables, first, last, self.scratch, self.scale, self.left_sums,
                self.right_sums, self.left_means, self.right_means, self.edges,
            )  # fmt: skip


def sum_tables(tables, gradient=True, n_jobs=None):
    """Sum up the weights of all pairs of states.

    Parameters
    ----------
    tables : FactorTables
    gradient : bool
        Whether to compute more than the log-sum.
    n_jobs : int or None
        Threads. The result does not depend on it.

    Returns
    -------
    log_sum : float
    left, right : tuple of (shares (n_states,), means (n_states, n_columns))
        The share of each state of a half in the sum, and its share times the means of
        the columns.
    edges : ndarray of shape (n_columns,)
        Means of the product of a column and its parent, 0 at roots.
    """
    n_left, columns = tables.left.shape[:2]
    n_right = len(tables.right_mantissas)
    work = n_left * n_right * columns
    n_slabs = N_SLABS if work >= MAX_WORK // 4 and n_left >= N_SLABS else 1
    edges = [n_left * i // n_slabs for i in range(n_slabs + 1)]
    slabs = [PartialSums(tables.part(*ends), gradient) for ends in pairwise(edges)]
    step = max(1, MAX_WORK // max(1, n_right * columns))
    longest = max(len(slab.left_sums) for slab in slabs)
    for start in range(0, longest, step):  # an interrupt is seen between two steps

        def add(first, last, start=start):
            for slab in slabs[first:last]:
                slab.add(start, start + step)

        each_slice(add, n_slabs, n_jobs, small=work < MAX_WORK // 8)
    return _combine(tables, slabs, gradient)


def _combine(tables, slabs, gradient):
    """Combine the sums of all left states; see ``sum_tables``."""
    highest = max(slab.scale[0] for slab in slabs)
    for slab in slabs:
        factor = np.exp2(float(slab.scale[0] - highest))
        slab.left_sums *= factor
        slab.right_sums *= factor
        if gradient:
            slab.left_means *= factor
            slab.right_means *= factor
            slab.edges *= factor
    left_sums = np.concatenate([slab.left_sums for slab in slabs])
    total = left_sums.sum()
    log_sum = float(np.log(total) + highest * LOG_2)
    if not gradient:
        return log_sum
    left_sums = left_sums / total
    left_means = np.concatenate([slab.left_means for slab in slabs]) / total
    right_sums = sum(slab.right_sums for slab in slabs) / total
    right_means = sum(slab.right_means for slab in slabs) / total
    edges = sum(slab.edges for slab in slabs) / total
    n_right, columns = len(right_sums), left_means.shape[1]
    if tables.parents is None:
        blocks, panels = n_right // tables.block, tables.block // PANEL
        shape = (blocks, columns // GROUP, panels, GROUP, PANEL)
        right_means = right_means.reshape(shape).transpose(0, 2, 4, 1, 3)
        right_means = right_means.reshape(n_right, columns)
        n = len(tables.signs)
        left_means, right_means = (
            tables.signs * (2 * UNIT * shares[:, :n] - sums[:, None])
            for shares, sums in ((left_means, left_sums), (right_means, right_sums))
        )
    else:
        places = np.argsort(tables.order)
        right_means = right_means.reshape(-1, columns, PANEL).transpose(0, 2, 1)
        right_means = right_means.reshape(n_right, columns)[:, places]
        left_means, edges = left_means[:, places], edges[places]
    return log_sum, (left_sums, left_means), (right_sums, right_means), edges
