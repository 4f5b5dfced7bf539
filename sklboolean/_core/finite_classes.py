"""Finite classes of Boolean functions as bits: one bit for each hypothesis.

A class answers a row with a set of hypotheses, those that accept it. Majority votes
and version spaces are then counts and intersections of such sets.
"""

from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from math import comb

import numpy as np

from sklboolean._core._popcount import count_ones
from sklboolean._core.bits import (
    BitColumns,
    BitRows,
    count_common,
    pack_dense,
    unpack_words,
)
from sklboolean._core.formulas import format_large_int
from sklboolean._core.validation import check_choice, check_integer

# Memberships of literals in hypotheses that are built at most: a byte each while
# they are written, a bit each afterwards.
LARGEST_TABLE = 2**28

# Up to so many, counting for all pairs of rows and hypotheses is faster than OR-ing
# sets of hypotheses, a row at a time (measured).
FEW_HYPOTHESES = 2000

NAMED_CLASSES = ("conjunctions", "disjunctions", "k-disjunctions")


def build_class(hypotheses, n_features, *, max_literals=None, monotone=False):
    """Build the class that a user asks for, by name or as a list of callables.

    Raises
    ------
    ValueError
        For an unknown name, no callables, "k-disjunctions" without ``max_literals``
        and a class too large to be listed.
    """
    if not isinstance(hypotheses, str):
        functions = tuple(hypotheses)
        if not functions or not all(map(callable, functions)):
            raise ValueError(
                "hypotheses must be a name or a list of at least one callable."
            )
        return FunctionClass(functions)
    check_choice(hypotheses, "hypotheses", NAMED_CLASSES)
    check_choice(monotone, "monotone", (False, True))
    longest = n_features
    if max_literals is not None:
        longest = min(longest, check_integer(max_literals, "max_literals", 0))
    elif hypotheses == "k-disjunctions":
        raise ValueError(
            "hypotheses='k-disjunctions' needs max_literals, for example 2."
        )
    return LiteralClass.build(
        n_features,
        longest=longest,
        disjunctive=hypotheses != "conjunctions",
        monotone=bool(monotone),
    )


def size_of(sets):
    """Count the members of packed sets: int32 of shape (n_sets,)."""
    sizes = np.empty(len(sets), dtype=np.int32)
    count_ones(sets, sizes)
    return sizes


def count_literal_sets(n_features, longest, monotone):
    """Count the sets of at most ``longest`` literals without a contradiction."""
    signs = 1 if monotone else 2
    return sum(comb(n_features, size) * signs**size for size in range(longest + 1))


def with_negations(values, monotone):
    """Return the literals of 0/1 rows: the features and, unless monotone, 1 - them."""
    values = values.astype(bool)
    return values if monotone else np.hstack([values, ~values])


@dataclass(frozen=True)
class LiteralClass:
    """Conjunctions or disjunctions of a few literals, the empty one included.

    Attributes
    ----------
    members : ndarray of shape (n_literals, n_words), uint64
        Bit h of row j: literal j is in hypothesis h. Features come first, then their
        negations unless ``monotone``.
    n_hypotheses : int
    disjunctive : bool
    monotone : bool
    """

    members: np.ndarray
    n_hypotheses: int
    disjunctive: bool
    monotone: bool

    @classmethod
    def build(cls, n_features, *, longest, disjunctive, monotone):
        """List all hypotheses of at most ``longest`` literals.

        Raises
        ------
        ValueError
            When they are too many to be listed.
        """
        n_literals = n_features * (1 if monotone else 2)
        # Where all take long to count, those of two literals are too many already.
        counted = longest if n_features < 1000 else min(longest, 2)
        size = count_literal_sets(n_features, counted, monotone)
        if size * n_literals > LARGEST_TABLE:
            raise ValueError(
                f"The class over {n_features} features holds at least "
                f"{format_large_int(size)} "
                "hypotheses, too many to be listed one by one. Lower max_literals, set "
                "monotone=True, choose fewer features, or use ConjunctionClassifier or "
                "Winnow, which need no list."
            )
        contains = np.zeros((n_literals, size), dtype=bool)
        first = 0
        for literals in _literal_sets(n_features, longest, monotone):
            hypotheses = np.arange(first, first + len(literals))
            contains[literals, hypotheses[:, None]] = True
            first += len(literals)
        return cls(pack_dense(contains), size, disjunctive, monotone)

    def accepting(self, values):
        """Return the set of hypotheses that accept each row.

        Parameters
        ----------
        values : ndarray of shape (n_samples, n_features), 0/1

        Returns
        -------
        sets : ndarray of shape (n_samples, n_words), uint64
        """
        literals = with_negations(values, self.monotone)
        sets = np.empty((len(values), self.members.shape[1]), dtype=np.uint64)
        if self.n_hypotheses <= min(FEW_HYPOTHESES, 10 * (len(values) - 1)):
            self._accept_by_counts(literals, sets)
            return sets
        for row, true in enumerate(literals):
            chosen = self.members[true if self.disjunctive else ~true]
            np.bitwise_or.reduce(chosen, axis=0, out=sets[row])
        # A conjunction accepts unless it holds a false literal.
        return sets if self.disjunctive else full_set(self.n_hypotheses) & ~sets

    def _accept_by_counts(self, literals, sets):
        # Hypotheses as rows of literals: all pairs at once, not a row at a time.
        held = self.literals_of(np.arange(self.n_hypotheses))
        held = BitColumns.from_rows(_as_bit_rows(held))
        literals = literals if self.disjunctive else ~literals
        step = max(1, 2**20 // max(1, self.n_hypotheses))
        for first in range(0, len(literals), step):
            rows = _as_bit_rows(literals[first : first + step])
            hits = count_common(rows, held) > 0
            sets[first : first + step] = pack_dense(hits if self.disjunctive else ~hits)

    def literals_of(self, hypotheses):
        """Return the literals of hypotheses: bool of shape (n, n_literals)."""
        words = self.members[:, hypotheses >> 6].T
        bits = words >> (hypotheses & 63).astype(np.uint64)[:, None]
        return (bits & np.uint64(1)).astype(bool)

    def take(self, hypotheses):
        """Return the class of some of the hypotheses, given by their indices."""
        members = take_bits(self.members, hypotheses)
        return replace(self, members=members, n_hypotheses=len(hypotheses))


@dataclass(frozen=True)
class FunctionClass:
    """The user's own hypotheses: functions of a table that give a bool for each row."""

    functions: tuple

    @property
    def n_hypotheses(self):
        """Return how many functions there are."""
        return len(self.functions)

    def accepting(self, values):
        """Return the set of functions that accept each row, as `LiteralClass` does."""
        values = values.astype(bool)
        answers = [self._answers(k, values) for k in range(self.n_hypotheses)]
        return pack_dense(np.column_stack(answers))

    def _answers(self, k, values):
        # A copy, so that no function can change what the next one sees.
        answers = np.asarray(self.functions[k](values.copy()))
        if answers.shape != (len(values),) or not np.isin(answers, (0, 1)).all():
            raise ValueError(
                f"hypotheses[{k}] must return one 0 or 1 for each of the "
                f"{len(values)} rows; it gave shape {answers.shape}, dtype "
                f"{answers.dtype}."
            )
        return answers.astype(bool)

    def take(self, hypotheses):
        """Return the class of some of the functions, given by their indices."""
        return FunctionClass(tuple(self.functions[k] for k in hypotheses))


@dataclass(frozen=True)
class AnswerTable:
    """Hypotheses known by their answers on a list of points.

    A row is the index of a point, as the only feature.

    Attributes
    ----------
    sets : ndarray of shape (n_points, n_words), uint64
        The hypotheses that accept each point.
    n_hypotheses : int
    """

    sets: np.ndarray
    n_hypotheses: int

    @classmethod
    def build(cls, answers):
        """Pack answers, bool of shape (n_hypotheses, n_points)."""
        return cls(pack_dense(answers.T), len(answers))

    def accepting(self, values):
        """Return the set of hypotheses that accept each point."""
        return self.sets[values[:, 0]]

    def take(self, hypotheses):
        """Return the table of some of the hypotheses, given by their indices."""
        return AnswerTable(take_bits(self.sets, hypotheses), len(hypotheses))


@dataclass
class MistakeCounts:
    """How often each hypothesis erred: bit h of plane b is bit b of its count."""

    planes: np.ndarray
    n_hypotheses: int

    @classmethod
    def zero(cls, n_hypotheses):
        """Start with no mistakes."""
        n_words = full_set(n_hypotheses).shape[1]
        return cls(np.zeros((0, n_words), dtype=np.uint64), n_hypotheses)

    def copy(self):
        """Return counts that can be changed on their own."""
        return MistakeCounts(self.planes.copy(), self.n_hypotheses)

    def add(self, wrong):
        """Add 1 for the hypotheses of a set: the carry ripples through the planes."""
        carry = wrong
        for plane in self.planes:
            # The right side is computed before the plane changes.
            plane[:], carry = plane ^ carry, plane & carry
            if not carry.any():
                return
        if carry.any():
            self.planes = np.vstack([self.planes, carry])

    def consistent(self):
        """Return the set of hypotheses without a mistake, shape (1, n_words)."""
        erred = np.bitwise_or.reduce(self.planes, axis=0)
        return full_set(self.n_hypotheses) & ~erred

    def values(self):
        """Return the counts: int64 of shape (n_hypotheses,)."""
        counts = np.zeros(self.n_hypotheses, dtype=np.int64)
        for b, plane in enumerate(unpack_words(self.planes, self.n_hypotheses)):
            counts += plane.astype(np.int64) << b
        return counts


def take_bits(sets, hypotheses):
    """Return packed sets of which only some members are left, numbered anew."""
    word, bit = hypotheses >> 6, (hypotheses & 63).astype(np.uint64)
    taken = np.empty((len(sets), max(1, -(-len(hypotheses) // 64))), dtype=np.uint64)
    step = max(1, 2**20 // max(1, len(hypotheses)))
    for first in range(0, len(sets), step):
        words = np.take(sets[first : first + step], word, axis=1)
        kept = (words >> bit) & np.uint64(1)
        taken[first : first + step] = pack_dense(kept.astype(bool))
    return taken


def full_set(n_hypotheses):
    """Return the set of all hypotheses, shape (1, n_words)."""
    return pack_dense(np.ones((1, n_hypotheses), dtype=bool))


def _as_bit_rows(table):
    return BitRows.from_words(pack_dense(table), table.shape[1])


def _literal_sets(n_features, longest, monotone):
    """Yield the literal sets of one length and sign pattern, one set in a row."""
    for size in range(longest + 1):
        flat = chain.from_iterable(combinations(range(n_features), size))
        n_sets = comb(n_features, size)
        features = np.fromiter(flat, np.intp, n_sets * size).reshape(n_sets, size)
        for negated in product((0,) if monotone else (0, 1), repeat=size):
            yield features + n_features * np.array(negated, dtype=np.intp)
