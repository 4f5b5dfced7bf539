"""Sums over all states of some units, as pairs of one state of each half of them.

A column's field a is linear in the units, so e^a and e^-a are products of tabulated
ones: 2 * 2^(m/2) rows of tables stand for 2^m states. A tree needs both; independent
columns need their ratio e^-2a only, and turn their sign where that would be large.
"""

from itertools import chain, combinations, pairwise
from typing import NamedTuple

import numpy as np

from sklboolean._core.parallel import each_slice
from sklboolean.density._log_space import topological
from sklboolean.density._states import (
    BLOCK,
    GROUP,
    PANEL,
    UNIT,
    sum_states,
    weigh_states,
)

LOG_2 = np.log(2.0)
LARGEST_FIELD = 100.0  # of each half: e^400 is a number
LARGEST_TURNED = -np.log(UNIT)  # against the sign: e^2a UNIT is at most 1 / UNIT
LARGEST_RATIO = 500.0  # log of the ratio of the two factors of a column in a tree
SLABS = 8  # of left states, each with its own sums: the same for any number of threads
SLICE = 1 << 25  # multiplications between two looks at the keyboard


class Tables(NamedTuple):
    """What the compiled loop reads; see states.h."""

    left: np.ndarray
    left_mantissas: np.ndarray
    left_exponents: np.ndarray
    limits: np.ndarray
    right: np.ndarray
    right_mantissas: np.ndarray
    right_exponents: np.ndarray
    block: int
    signs: np.ndarray | None = None  # of the columns, None for a tree
    parents: np.ndarray | None = None  # and what else only a tree has
    agree: np.ndarray | None = None
    differ: np.ndarray | None = None
    order: np.ndarray | None = None  # the column that stands at each place

    def part(self, first, last):
        """Keep the left states [first, last)."""
        return self._replace(
            left=self.left[first:last],
            left_mantissas=self.left_mantissas[first:last],
            left_exponents=self.left_exponents[first:last],
            limits=self.limits[first:last],
        )


def unit_states(m, max_active=None):
    """Return all states of m units, by number of active units if that is bounded.

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


def halve(m, max_active=None):
    """Return the states of the second and of the first half of the units.

    Returns
    -------
    left, right : ndarray of shape (n_left, m - m_right) and (n_right, m_right)
    limits : ndarray of shape (n_left,)
        A left state goes with the first so many right states.
    """
    if max_active is not None and max_active >= m:
        max_active = None
    m_right = (m + 1) // 2
    left, right = (unit_states(size, max_active) for size in (m - m_right, m_right))
    limits = np.full(len(left), len(right))
    if max_active is not None:
        room = max_active - left.sum(1)
        limits = np.searchsorted(right.sum(1), room, side="right")
    return left, right, limits.astype(np.int64)


def _signs(left_fields, right_fields):
    """Return signs that raise the lowest field of each column, and that field."""
    lowest = left_fields.min(0) + right_fields.min(0)
    highest = left_fields.max(0) + right_fields.max(0)
    return np.where(lowest + highest < 0, -1.0, 1.0), np.maximum(lowest, -highest)


def ordinary(left_fields, right_fields, linear, parents=None, couplings=None):
    """Whether fields and couplings are small enough for the compiled loop."""
    largest = np.array([np.abs(part).max(0) for part in (left_fields, right_fields)])
    if not (largest.max(initial=0) <= LARGEST_FIELD and np.abs(linear).sum() <= 1e9):
        return False
    if parents is None:
        _, lowest = _signs(left_fields, right_fields)
        return bool(lowest.min(initial=0) >= -LARGEST_TURNED)
    ratios = 2 * largest.sum(0)  # log of what the two factors of a column may differ by
    for child in topological(parents)[::-1]:
        if parents[child] >= 0:
            strength = min(2 * np.abs(couplings[child]), ratios[child])
            ratios[parents[child]] += strength + LOG_2
    return bool(ratios.max(initial=0) <= LARGEST_RATIO)


def _fill_factors(fields, factors):
    """Write (e^a, e^-a) times e^(-|a|/2): their products stay near 1 both ways."""
    small = np.exp(-0.5 * np.abs(fields))
    large, small = 1 / small, small * small * small
    positive = fields > 0
    factors[..., 0] = np.where(positive, large, small)
    factors[..., 1] = np.where(positive, small, large)


def _aligned(size, fill):
    """An array on a cache line: loads that straddle two cost double."""
    start = np.empty(size + 8)
    first = -(start.ctypes.data // 8) % 8
    aligned = start[first : first + size]
    aligned.reshape(np.shape(fill) or -1)[...] = fill
    return aligned


def _mantissas(logs):
    exponents = np.floor(logs / LOG_2)
    return np.exp(logs - exponents * LOG_2), exponents.astype(np.int64)


def build_tables(left, right, limits, parents=None, couplings=None):
    """Tabulate what the halves give to the columns.

    Parameters
    ----------
    left, right : tuple of (fields of shape (n_states, n_columns), logs (n_states,))
        The field of a column is the sum of both; so is the log weight outside columns.
    limits : ndarray of shape (n_left,)
    """
    n_right = len(right[0])
    block = min(BLOCK, -(-n_right // PANEL) * PANEL)
    padded = -(-n_right // block) * block
    if parents is None:
        left, right, others = _ratios(left, right, block, padded)
    else:
        left, right, others = _pairs(left, right, padded, parents, couplings)
    (left_table, left_logs, lift), (right_table, right_logs) = left, right
    left_mantissas, left_exponents = _mantissas(left_logs)
    right_logs = np.append(right_logs, np.zeros(padded - n_right))
    return Tables(
        left_table,
        left_mantissas,
        left_exponents + lift,
        limits,
        _aligned(right_table.size, right_table),
        *_mantissas(right_logs),
        block,
        **others,
    )


def _ratios(left, right, block, padded):
    """Tabulate e^-2a, times UNIT on the left; e^a goes to the states."""
    (left_fields, left_logs), (right_fields, right_logs) = left, right
    n = left_fields.shape[1]
    columns = -(-n // GROUP) * GROUP
    signs, _ = _signs(left_fields, right_fields)
    left_table = np.zeros((len(left_fields), columns, 1))  # padding: sums of UNIT
    left_table[:, :n, 0] = UNIT * np.exp(-2 * signs * left_fields)
    right_table = np.zeros((padded, columns))
    right_table[: len(right_fields), :n] = np.exp(-2 * signs * right_fields)
    shape = (padded // block, block // PANEL, PANEL, columns // GROUP, GROUP)
    right_table = right_table.reshape(shape).transpose(0, 3, 1, 4, 2)
    lift = -columns * int(np.log2(UNIT))
    left = left_table, left_logs + left_fields @ signs, lift
    return left, (right_table, right_logs + right_fields @ signs), {"signs": signs}


def _pairs(left, right, padded, parents, couplings):
    """Tabulate (e^a, e^-a) times e^(-|a|/2), which the states get back."""
    (left_fields, left_logs), (right_fields, right_logs) = left, right
    n = left_fields.shape[1]
    order = topological(parents)[::-1]
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


def log_weights(tables, first, last, n_right):
    """Return the log weights of left states [first, last) with all right states."""
    logs = np.full((last - first, n_right), -np.inf)
    scratch = _aligned(32 * tables.left.shape[1], 0.0)
    weigh_states(tables, first, scratch, logs)
    return logs


class _Slab:
    """The sums of some of the left states with all right states."""

    def __init__(self, tables, gradient):
        n_left, columns = tables.left.shape[:2]
        n_right = len(tables.right_mantissas)
        self.tables, self.scale = tables, np.zeros(3, dtype=np.int64)
        self.scratch = _aligned(32 * columns, 0.0)
        self.left_sums, self.right_sums = np.zeros(n_left), _aligned(n_right, 0.0)
        self.left_means = np.zeros((n_left, columns)) if gradient else None
        self.right_means = _aligned(n_right * columns, 0.0) if gradient else None
        self.edges = np.zeros(columns) if gradient else None

    def add(self, first, last):
        sum_states(
            self.tables,
            first,
            min(last, len(self.left_sums)),
            self.scratch,
            self.scale,
            self.left_sums,
            self.right_sums,
            self.left_means,
            self.right_means,
            self.edges,
        )


def sum_tables(tables, gradient=True, n_jobs=None):
    """Return the log of the sum of all weights, and the shares of states and columns.

    Returns
    -------
    log_sum : float
    left, right : tuple of (shares (n_states,), means (n_states, n_columns))
        The share of each state of a half, and its share times the means of the columns.
    edges : ndarray of shape (n_columns,)
        Means of the product of column and parent, 0 at roots.
    """
    n_left, columns = tables.left.shape[:2]
    n_right = len(tables.right_mantissas)
    work = n_left * n_right * columns
    n_slabs = SLABS if work >= SLICE // 4 and n_left >= SLABS else 1
    edges = [n_left * i // n_slabs for i in range(n_slabs + 1)]
    slabs = [
        _Slab(tables.part(first, last), gradient) for first, last in pairwise(edges)
    ]
    most = max(len(slab.left_sums) for slab in slabs)
    step = max(1, SLICE // max(1, n_right * columns))
    for row in range(
        0, most, step
    ):  # each turn is short: an interrupt is seen after it

        def add(first, last, row=row):
            for slab in slabs[first:last]:
                if row < len(slab.left_sums):
                    slab.add(row, row + step)

        each_slice(add, n_slabs, n_jobs, small=work < SLICE // 8)
    highest = max(slab.scale[0] for slab in slabs)
    factors = [np.exp2(float(slab.scale[0] - highest)) for slab in slabs]

    def gather(name):
        return sum(f * getattr(s, name) for f, s in zip(factors, slabs, strict=True))

    def line_up(name):
        parts = zip(factors, slabs, strict=True)
        return np.concatenate([f * getattr(s, name) for f, s in parts])

    left_sums = line_up("left_sums")
    total = left_sums.sum()
    log_sum = np.log(total) + highest * LOG_2
    if not gradient:
        return float(log_sum)
    left_sums, left_means = left_sums / total, line_up("left_means") / total
    right_sums, right_means = (
        gather("right_sums") / total,
        gather("right_means") / total,
    )
    edges = gather("edges") / total
    if tables.parents is None:
        blocks, panels = n_right // tables.block, tables.block // PANEL
        shape = (blocks, columns // GROUP, panels, GROUP, PANEL)
        right_means = right_means.reshape(shape).transpose(0, 2, 4, 1, 3)
        right_means = right_means.reshape(n_right, columns)
        left_means, right_means = (
            tables.signs * (2 * UNIT * shares[:, : len(tables.signs)] - sums[:, None])
            for shares, sums in ((left_means, left_sums), (right_means, right_sums))
        )
    else:
        places = np.argsort(tables.order)
        right_means = right_means.reshape(-1, columns, PANEL).transpose(0, 2, 1)
        right_means = right_means.reshape(n_right, columns)[:, places]
        left_means, edges = left_means[:, places], edges[places]
    return float(log_sum), (left_sums, left_means), (right_sums, right_means), edges
