"""Finite classes of Boolean functions as bits: one bit for each hypothesis.

For each sample a class gives the set of hypotheses that accept it. Majority votes and
version spaces are then counts and intersections of such sets.
"""

# Sets of hypotheses are uint64 of shape (n_samples, ceil(n_hypotheses / 64)): bit j of
# row i says that hypothesis j accepts sample i. A vote is a popcount, and a version
# space an intersection. Mistakes are counted in planes: plane b holds bit b of the
# count of every hypothesis, and a mistake is added to all of them by ripple carry.

from collections.abc import Sequence
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
from sklboolean._core.damage import require_words
from sklboolean._core.formulas import format_large_int
from sklboolean._core.parameters import check_choice, check_integer

# Largest number of (literal, hypothesis) pairs: a byte each while they are built, a bit
# each afterwards.
LARGEST_TABLE = 2**28

# Up to this number, counting over all pairs of samples and hypotheses is faster than
# OR-ing sets of hypotheses sample by sample (measured).
FEW_HYPOTHESES = 2000

NAMED_CLASSES = ("conjunctions", "disjunctions", "k-disjunctions")


def build_class(hypotheses, n_features, *, max_literals=None, monotone=False):
    """Build a finite class from its name or from a list of callables.

    Raises
    ------
    ValueError
        For an unknown name, an empty list, "k-disjunctions" without ``max_literals``,
        and a class that is too large to be listed.
    """
    if not isinstance(hypotheses, str):
        functions = tuple(hypotheses)
        if not functions or not all(map(callable, functions)):
            raise ValueError(
                f"hypotheses must be one of {list(NAMED_CLASSES)} or a list of one or "
                "more callables."
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
    """Append the negated features to 0/1 samples, unless monotone."""
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
            If there are too many.
        """
        n_literals = n_features * (1 if monotone else 2)
        # With so many features, those of two literals are too many already.
        counted = longest if n_features < 1000 else min(longest, 2)
        size = count_literal_sets(n_features, counted, monotone)
        if size * n_literals > LARGEST_TABLE:
            raise ValueError(
                f"The class over {n_features} features has at least "
                f"{format_large_int(size)} hypotheses, too many to be listed. Lower "
                "max_literals, set monotone=True, choose fewer features, or use "
                "ConjunctionClassifier or Winnow, which need no list."
            )
        contains = np.zeros((n_literals, size), dtype=bool)
        first = 0
        for literals in _literal_sets(n_features, longest, monotone):
            hypotheses = np.arange(first, first + len(literals))
            contains[literals, hypotheses[:, None]] = True
            first += len(literals)
        return cls(pack_dense(contains), size, disjunctive, monotone)

    def accepting(self, values):
        """Compute the set of hypotheses that accept each sample.

        Parameters
        ----------
        values : ndarray of shape (n_samples, n_features), 0/1

        Returns
        -------
        sets : ndarray of shape (n_samples, n_words), uint64
        """
        literals = with_negations(values, self.monotone)
        shape = literals.shape[1], full_set(self.n_hypotheses).shape[1]
        require_words(self.members, shape, "members")
        sets = np.empty((len(values), self.members.shape[1]), dtype=np.uint64)
        if self.n_hypotheses <= min(FEW_HYPOTHESES, 10 * (len(values) - 1)):
            self._accept_by_counts(literals, sets)
            return sets
        for row, true in enumerate(literals):
            chosen = self.members[true if self.disjunctive else ~true]
            np.bitwise_or.reduce(chosen, axis=0, out=sets[row])
        # A conjunction accepts unless it has a false literal.
        return sets if self.disjunctive else full_set(self.n_hypotheses) & ~sets

    def _accept_by_counts(self, literals, sets):
        # Hypotheses as rows of literals: count over all pairs at once.
        columns = self.literals_of(np.arange(self.n_hypotheses))
        columns = BitColumns.from_rows(_as_bit_rows(columns))
        literals = literals if self.disjunctive else ~literals
        step = max(1, 2**20 // max(1, self.n_hypotheses))
        for first in range(0, len(literals), step):
            rows = _as_bit_rows(literals[first : first + step])
            hits = count_common(rows, columns) > 0
            sets[first : first + step] = pack_dense(hits if self.disjunctive else ~hits)

    def literals_of(self, hypotheses):
        """Unpack the literals of hypotheses: bool of shape (n, n_literals)."""
        words = self.members[:, hypotheses >> 6].T
        bits = words >> (hypotheses & 63).astype(np.uint64)[:, None]
        return (bits & np.uint64(1)).astype(bool)

    def take(self, hypotheses):
        """Restrict the class to the hypotheses with the given indices."""
        members = take_bits(self.members, hypotheses)
        return replace(self, members=members, n_hypotheses=len(hypotheses))


@dataclass(frozen=True)
class FunctionClass:
    """Functions of a sample array that return a bool or a label for each sample.

    Attributes
    ----------
    functions : tuple of callables
    classes : array-like of shape (2,) or None
        The negative and the positive label, if the functions return labels.
    numbers : sequence of int or None
        Their numbers in the list of the user, if some were left out.
    """

    functions: tuple
    classes: object = None
    numbers: Sequence | None = None

    @property
    def n_hypotheses(self):
        """Number of functions."""
        return len(self.functions)

    def accepting(self, values):
        """Compute the set of functions that accept each sample."""
        numbers = range(self.n_hypotheses) if self.numbers is None else self.numbers
        pairs = zip(numbers, self.functions, strict=True)
        answers = [self._answers(*pair, values) for pair in pairs]
        return pack_dense(np.column_stack(answers))

    def _answers(self, number, function, values):
        classes = [0, 1] if self.classes is None else list(self.classes)
        # A copy, so that no function can change the data of the next one.
        labels = np.asarray(function(values.copy()))
        if labels.shape == (len(values),) and np.isin(labels, classes).all():
            return labels == classes[1]
        wanted = "a bool" if self.classes is None else f"a label of {classes}"
        raise ValueError(
            f"hypotheses[{number}] must return {wanted} for each of the {len(values)} "
            f"samples; it returned shape {labels.shape}, dtype {labels.dtype}. For "
            "functions that return labels take FiniteVersionSpace, and set classes."
        )

    def take(self, hypotheses):
        """Restrict the class to the functions with the given indices."""
        numbers = range(self.n_hypotheses) if self.numbers is None else self.numbers
        functions = tuple(self.functions[k] for k in hypotheses)
        return FunctionClass(functions, self.classes, [numbers[k] for k in hypotheses])


@dataclass(frozen=True)
class AnswerTable:
    """Hypotheses given by their predictions on a list of points.

    A sample has one feature, the index of a point.

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
        """Pack predictions, bool of shape (n_hypotheses, n_points)."""
        return cls(pack_dense(answers.T), len(answers))

    def accepting(self, values):
        """Look up the set of hypotheses that accept each point."""
        return self.sets[values[:, 0]]

    def take(self, hypotheses):
        """Restrict the table to the hypotheses with the given indices."""
        return AnswerTable(take_bits(self.sets, hypotheses), len(hypotheses))


@dataclass
class MistakeCounts:
    """Errors of each hypothesis: bit h of plane b is bit b of its count."""

    planes: np.ndarray
    n_hypotheses: int

    @classmethod
    def zero(cls, n_hypotheses):
        """Create counts of 0."""
        n_words = full_set(n_hypotheses).shape[1]
        return cls(np.zeros((0, n_words), dtype=np.uint64), n_hypotheses)

    def copy(self):
        """Copy the counts."""
        return MistakeCounts(self.planes.copy(), self.n_hypotheses)

    def add(self, wrong, weight=1):
        """Add an integer for the hypotheses of a set."""
        for digit in range(weight.bit_length()):
            if weight >> digit & 1:
                self._add_power(wrong, digit)

    def _add_power(self, wrong, digit):
        """Add ``2 ** digit``, by ripple carry through the planes."""
        missing = digit - len(self.planes)
        if missing > 0:
            more = np.zeros((missing, self.planes.shape[1]), dtype=np.uint64)
            self.planes = np.vstack([self.planes, more])
        carry = wrong
        for plane in self.planes[digit:]:
            # The right side is computed before the plane changes.
            plane[:], carry = plane ^ carry, plane & carry
            if not carry.any():
                return
        if carry.any():
            self.planes = np.vstack([self.planes, carry])

    def consistent(self):
        """Compute the set of hypotheses without a mistake, shape (1, n_words)."""
        everyone = full_set(self.n_hypotheses)
        shape = len(self.planes), everyone.shape[1]
        require_words(self.planes, shape, "the counts of mistakes")
        erred = np.bitwise_or.reduce(self.planes, axis=0)
        return everyone & ~erred

    def values(self):
        """Compute the counts: int64 of shape (n_hypotheses,)."""
        counts = np.zeros(self.n_hypotheses, dtype=np.int64)
        for b, plane in enumerate(unpack_words(self.planes, self.n_hypotheses)):
            counts += plane.astype(np.int64) << b
        return counts


def take_bits(sets, hypotheses):
    """Restrict packed sets to the given members, which are numbered anew."""
    word, bit = hypotheses >> 6, (hypotheses & 63).astype(np.uint64)
    taken = np.empty((len(sets), max(1, -(-len(hypotheses) // 64))), dtype=np.uint64)
    step = max(1, 2**20 // max(1, len(hypotheses)))
    for first in range(0, len(sets), step):
        words = np.take(sets[first : first + step], word, axis=1)
        is_true = (words >> bit) & np.uint64(1)
        taken[first : first + step] = pack_dense(is_true.astype(bool))
    return taken


def full_set(n_hypotheses):
    """Build the set of all hypotheses, shape (1, n_words)."""
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
