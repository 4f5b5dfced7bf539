"""Sums over all states of some units, as pairs of one state of each half of the units.

The field a of a column is linear in the units, so e^a and e^-a are products of two
tabulated numbers: tables with 2 * 2^(m/2) rows stand for 2^m states. Columns in a tree
need both. Independent columns need only their ratio e^-2a; the sign of a column is
flipped where that ratio would be large. What may leave the range of a double travels as
a mantissa and an exponent: parameters may have any size.
"""

# The sum over all 2^m states of m units, in steps:
# 1. The units are split into two halves. Each half has at most 2^ceil(m / 2) states
#    (`split_units`). A state of all units is a pair (left state, right state).
# 2. The field of column j is linear in the units, so it is left_field + right_field,
#    and e^(-2 field) is the product of a left and a right factor. `build_tables` stores
#    the factors: arrays of shape (n_states, n_columns), float64. So no state needs an
#    exponential.
# 3. For each pair of states the compiled loop (states.h) multiplies over the columns,
#    or passes the factors from the leaves of the tree to its roots. The product times
#    the weights of both states is the weight of the pair. `SlabSums` adds up the
#    weights, and for the gradient the weights times the mean of each column.
# 4. `sum_tables` turns the sums into means.
#
# Invariants: left states are divided among N_SLABS slabs with sums of their own, which
# are merged in one order, so the result does not depend on the threads. Every mantissa
# and every factor is a normal number; what else a weight needs is in its exponent.
#
# Reference: Freund's thesis, 1993, chapter 4, equations 4.10 to 4.15, for the sums. The
# halves are of this package.

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations

import numpy as np

from sklboolean._core.parallel import each_slice
from sklboolean.density._spanning_tree import parents_first
from sklboolean.density._states import (
    BLOCK,
    GROUP,
    PANEL,
    UNIT,
    sum_states,
    weigh_states,
)

LOG_2 = np.log(2.0)
MAX_FIELD = 200.0  # of each half: its ratio times UNIT is a normal number
MAX_AGAINST_SIGN = -np.log(UNIT)  # of the ratio e^2a: then e^2a UNIT <= 1 / UNIT
MAX_LOG_RATIO = 500.0  # of the two factors of a column in a tree
FOLD_AFTER = 256  # children, each of which may halve both factors of their parent
MAX_SIZE = 1e12  # of a field: a log-weight is then known to 1e-4
MAX_CACHED = 1 << 15  # numbers of a block of right states, in the second-level cache
N_SLABS = 8  # parts of the left states; see SlabSums
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
    signs: np.ndarray  # -1 for columns that were negated
    parents: np.ndarray | None = None  # this and the rest: of a tree only
    agree: np.ndarray | None = None
    differ: np.ndarray | None = None
    fold: np.ndarray | None = None
    wide: bool = False
    order: np.ndarray | None = None  # the column at each place


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
    sizes = np.array([np.abs(left[0]).max(0), np.abs(right[0]).max(0)])
    logs = np.concatenate([left[1], right[1]])
    if not max(sizes.max(initial=0), np.abs(logs).max()) <= MAX_SIZE:
        raise ValueError(
            f"The weights of a hidden state add up to more than {MAX_SIZE:.0e}, where "
            "rounding errors exceed the log-likelihood. Make the weights smaller."
        )
    n_right = len(right[0])
    cached = max(PANEL, MAX_CACHED // max(1, sizes.shape[1]) // PANEL * PANEL)
    block = min(BLOCK, cached, -(-n_right // PANEL) * PANEL)
    padded = -(-n_right // block) * block
    tables = None
    if parents is None:
        parents, couplings = np.full(sizes.shape[1], -1), np.zeros(sizes.shape[1])
        if sizes.max(initial=0) <= MAX_FIELD:
            tables = _ratio_tables(left, right, block, padded)
    if tables is None:
        tables = _pair_tables(left, right, sizes.sum(0), padded, parents, couplings)
    (left_table, left_logs, lift), (right_table, right_logs), others = tables
    left_mantissas, left_exponents = _mantissas(left_logs)
    right_logs = np.append(right_logs, np.zeros(padded - n_right))
    return FactorTables(
        left_table,
        left_mantissas,
        left_exponents + lift,
        limits,
        _aligned(right_table).reshape(-1),
        *_mantissas(right_logs),
        block,
        **others,
    )


def _ratio_tables(left, right, block, padded):
    """Tabulate e^-2a, times UNIT on the left; e^a becomes part of the state weights.

    Returns None if ratios leave the range of a double whatever the signs of columns.
    """
    (left_fields, left_logs), (right_fields, right_logs) = left, right
    lowest = left_fields.min(0) + right_fields.min(0)
    highest = left_fields.max(0) + right_fields.max(0)
    if np.minimum(-lowest, highest).max(initial=0) > MAX_AGAINST_SIGN:
        return None
    signs = np.where(lowest + highest < 0, -1.0, 1.0)
    n = len(signs)
    # GROUP columns share an exponent: pad their number with columns that add nothing.
    columns = -(-n // GROUP) * GROUP
    left_table = np.zeros((len(left_fields), columns, 1))  # padding: sums of UNIT
    left_table[:, :n, 0] = UNIT * np.exp(-2 * signs * left_fields)
    right_table = np.zeros((padded, columns))
    right_table[: len(right_fields), :n] = np.exp(-2 * signs * right_fields)
    shape = (padded // block, block // PANEL, PANEL, columns // GROUP, GROUP)
    right_table = right_table.reshape(shape).transpose(0, 3, 1, 4, 2)
    lift = -columns * int(np.log2(UNIT))
    left = left_table, left_logs + left_fields @ signs, lift
    return left, (right_table, right_logs + right_fields @ signs), {"signs": signs}


def _pair_tables(left, right, sizes, padded, parents, couplings):
    """Tabulate both factors of the columns, children before their parents.

    They are (e^a, e^-a) times e^(-|a|/2), whose inverse is part of the state weights:
    products of these numbers stay near 1 both ways. Wide factors are mantissa and
    exponent of e^2a. Then e^-a is part of the weights, and columns are negated until no
    coupling is negative.
    """
    (left_fields, left_logs), (right_fields, right_logs) = left, right
    order, places, folds = _layout(np.asarray(parents, dtype=np.int64).tobytes())
    strengths = np.where(parents >= 0, couplings, 0.0)
    wide = _is_wide(parents, strengths, sizes)
    if wide:
        signs = _attractive_signs(parents, strengths, order)
        differ, agree = _powers(-np.abs(strengths))
    else:
        signs = np.ones(len(parents))
        agree = np.exp(np.minimum(2 * strengths, 0))
        differ = np.exp(np.minimum(-2 * strengths, 0))
    tables = []
    for fields, n_states in ((left_fields, len(left_fields)), (right_fields, padded)):
        table = np.full((n_states, len(order), 2), 0.5)
        factors = table[: len(fields)]
        if wide:
            exponents, mantissas = _powers((signs * fields)[:, order])
            factors[..., 0], factors[..., 1] = mantissas, exponents
        else:
            _fill_factors(fields[:, order], factors)
        tables.append(table)
    left_table, right_table = tables
    right_table = right_table.reshape(-1, PANEL, len(order), 2).transpose(0, 2, 3, 1)
    others = {
        "signs": signs,
        "parents": places,
        "agree": agree[order],
        "differ": differ[order],
        "fold": folds,
        "wide": wide,
        "order": order,
    }
    left_rest, right_rest = (
        -fields @ signs if wide else 0.5 * np.abs(fields).sum(1)
        for fields in (left_fields, right_fields)
    )
    left_logs = left_logs + left_rest + np.abs(strengths[order]).sum()
    return (left_table, left_logs, 0), (right_table, right_logs + right_rest), others


@lru_cache(maxsize=32)
def _layout(parents):
    """Compute the order of columns, their parents' places in it, and the folds."""
    parents = np.frombuffer(parents, dtype=np.int64)
    # Children first: the compiled loop meets each column before its parent.
    order = parents_first(parents)[::-1]
    places = np.append(np.argsort(order), -1)[parents[order]]  # -1 stays -1
    return order, places, _folds(places)


def _is_wide(parents, strengths, sizes):
    """Test whether the ratio of the factors of a column may leave a double's range."""
    child = parents >= 0
    # Bounds of log-ratios: a child pulls no more than it is pulled itself.
    pulls = 2 * np.abs(strengths[child])
    for _ in range(2):
        ratios = 2 * sizes + np.bincount(parents[child], pulls, len(parents))
        pulls = np.minimum(pulls, ratios[child])
    return bool(ratios.max(initial=0) > MAX_LOG_RATIO)


def _attractive_signs(parents, strengths, order):
    """Find signs of the columns under which no coupling is negative."""
    signs = np.ones(len(parents))
    for column in order[::-1]:
        if parents[column] >= 0:
            signs[column] = signs[parents[column]] * (-1) ** (strengths[column] < 0)
    return signs


def _folds(places):
    """Mark every 256th child of a column, after which its factors are rescaled."""
    siblings = np.argsort(places, kind="stable")
    number = np.arange(len(places)) - np.searchsorted(
        places[siblings], places[siblings]
    )
    folds = np.zeros(len(places), dtype=np.int64)
    folds[siblings] = (number + 1) % FOLD_AFTER == 0
    return folds


def _fill_factors(fields, factors):
    """Write (e^a, e^-a) times e^(-|a|/2)."""
    small = np.exp(-0.5 * np.abs(fields))
    large, small = 1 / small, small * small * small
    positive = fields > 0
    factors[..., 0] = np.where(positive, large, small)
    factors[..., 1] = np.where(positive, small, large)


def _powers(fields):
    """Compute exponent and mantissa of e^2a."""
    powers = 2 * fields / LOG_2
    exponents = np.floor(powers)
    return exponents, np.exp2(powers - exponents)


def _aligned(values):
    """Copy an array to begin at a cache line: loads across two lines cost double."""
    start = np.empty(values.size + 8)
    first = -(start.ctypes.data // 8) % 8
    aligned = start[first : first + values.size].reshape(values.shape)
    aligned[...] = values
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


@dataclass(frozen=True)
class SlabSums:
    """Sums over slabs of left states, which the compiled loop adds to.

    Each slab has a scale and right sums of its own: the result is the same for any
    number of threads.
    """

    ends: np.ndarray  # (n_slabs + 1,), the left states of each slab
    scales: np.ndarray  # (n_slabs, 3), exponents of the sums
    scratch: np.ndarray
    left: np.ndarray  # (n_left,), weights of left states
    right: np.ndarray  # (n_slabs, n_right)
    left_means: np.ndarray | None  # (n_left, columns); this and the rest: gradient only
    right_means: np.ndarray | None  # (n_slabs, n_right * columns)
    edges: np.ndarray | None  # (n_slabs, columns)

    @classmethod
    def zeros(cls, n_slabs, n_left, n_right, columns, gradient):
        left_means = right_means = edges = None
        if gradient:
            left_means = np.zeros((n_left, columns))
            right_means = _aligned(np.zeros((n_slabs, n_right * columns)))
            edges = np.zeros((n_slabs, columns))
        return cls(
            np.arange(n_slabs + 1) * n_left // n_slabs,
            np.zeros((n_slabs, 3), dtype=np.int64),
            _aligned(np.zeros((n_slabs, 32 * columns))),
            np.zeros(n_left),
            _aligned(np.zeros((n_slabs, n_right))),
            left_means,
            right_means,
            edges,
        )

    def add(self, tables, slab, start, step):
        """Add the weights of at most ``step`` left states of a slab, from ``start``."""
        states = slice(self.ends[slab], self.ends[slab + 1])
        stop = min(start + step, states.stop - states.start)
        means = None, None, None
        if self.edges is not None:
            means = self.left_means[states], self.right_means[slab], self.edges[slab]
        sums = self.left[states], self.right[slab]
        scratch, scales = self.scratch[slab], self.scales[slab]
        sum_states(tables, states.start, start, stop, scratch, scales, *sums, *means)

    def merge(self):
        """Bring all slabs to one scale, add them up and divide by the total.

        Returns
        -------
        log_sum : float
        left, right, left_means, right_means, edges : ndarray or None
            Without gradient only the first is not None.
        """
        # Sums of a slab are multiples of 2 ** scale: bring all to the largest scale.
        highest = self.scales[:, 0].max()
        factors = np.exp2((self.scales[:, :1] - highest).astype(np.float64))
        left_factors = np.repeat(factors, np.diff(self.ends), axis=0)
        left = self.left * left_factors[:, 0]
        total = left.sum()
        log_sum = float(np.log(total) + highest * LOG_2)
        if self.edges is None:
            return log_sum, None, None, None, None, None
        left_means = self.left_means
        left_means *= left_factors
        left_means /= total
        for sums in (self.right, self.right_means, self.edges):
            sums *= factors
        right, right_means, edges = (
            sums.sum(axis=0) / total
            for sums in (self.right, self.right_means, self.edges)
        )
        return log_sum, left / total, right, left_means, right_means, edges


def sum_tables(tables, gradient=True):
    """Sum up the weights of all pairs of states.

    Parameters
    ----------
    tables : FactorTables
    gradient : bool
        Whether to compute more than the log-sum.

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
    slabs = SlabSums.zeros(n_slabs, n_left, n_right, columns, gradient)
    step = max(1, MAX_WORK // max(1, n_right * columns))
    for start in range(0, slabs.ends[-1] - slabs.ends[-2], step):
        # An interrupt is seen between two steps.

        def add(first, last, start=start):
            for slab in range(first, last):
                slabs.add(tables, slab, start, step)

        each_slice(add, n_slabs, small=work < MAX_WORK // 8)
    log_sum, left, right, left_means, right_means, edges = slabs.merge()
    if not gradient:
        return log_sum
    if tables.parents is None:
        means = _means_of_ratios(tables, left, right, left_means, right_means)
    else:
        *means, edges = _means_of_pairs(tables, left_means, right_means, edges)
    return log_sum, (left, means[0]), (right, means[1]), edges


def _means_of_ratios(tables, left, right, left_means, right_means):
    """Convert sums over tables of ratios to means of the columns."""
    columns, n_right, n = tables.left.shape[1], len(right), len(tables.signs)
    blocks, panels = n_right // tables.block, tables.block // PANEL
    shape = (blocks, columns // GROUP, panels, GROUP, PANEL)
    right_means = right_means.reshape(shape).transpose(0, 2, 4, 1, 3)
    right_means = right_means.reshape(n_right, columns)
    left_means = 2 * UNIT * left_means[:, :n] - left[:, None]
    right_means = 2 * UNIT * right_means[:, :n] - right[:, None]
    left_means *= tables.signs
    right_means *= tables.signs
    return left_means, right_means


def _means_of_pairs(tables, left_means, right_means, edges):
    """Convert sums over tables of a tree to means in the order of the columns."""
    columns = len(tables.order)
    places, signs = np.argsort(tables.order), tables.signs[tables.order]
    right_means = right_means.reshape(-1, columns, PANEL).transpose(0, 2, 1)
    right_means = (signs * right_means.reshape(-1, columns))[:, places]
    left_means = (signs * left_means)[:, places]
    edges = (signs * signs[tables.parents] * edges)[places]  # 0 at roots
    return left_means, right_means, edges
