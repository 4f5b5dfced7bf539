"""Rows of Boolean features as 64-bit words.

A dense table is packed whole. In a sparse table the commonest features are packed
and the rest stays CSR: a feature that few rows have costs less as a list of those
rows (postings) than as a bit in every row. Either way the counts are the same.
"""

# The layouts, from the table of a user to the compiled loops:
#
# * words, uint64 of shape (n_samples, n_words): feature j of a sample is bit j % 64 of
#   its word j // 64. Bits behind the last feature are 0, so popcounts need no mask.
# * columns, uint64 of shape (n_features, ceil(n_samples / 64)): the transpose.
# * `BitRows`: words, their popcounts, and for sparse data a CSR array of the features
#   that are too rare for a bit.
# * `BitColumns`: the right-hand side of a count. Panels of 32 samples, word by word,
#   feed the registers of the popcount loops; postings list the samples of each rare
#   feature.
#
# A count is popcount(row AND column) plus the common rare features. Every kernel and
# score is a function of such counts, so all layouts give the same bits.

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from sklboolean._core._packing import (
    fill_panels,
    pack_bytes,
    pack_reals,
    pack_sparse,
    transpose,
)
from sklboolean._core._popcount import FEW_COLUMNS, PANEL, count_ones, count_pairs
from sklboolean._core.memory import bytes_left

# Counting one more word costs every pair of rows about as much as this many steps
# through postings (measured; the optimum is flat).
WORD_COST = 0.05
# Words of a column that are made at a time: the samples of these fit into a cache.
PIECE = 2**10
NO_INDPTR = np.zeros(1, dtype=np.int64)
NO_INDICES = np.zeros(0, dtype=np.int32)


def _n_words(n_bits):
    return max(1, -(-n_bits // 64))


def pack_dense(X, threshold=0.0, name="X"):
    """Pack a dense table, true where ``X > threshold``.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), any real dtype
    threshold : float or None
        None demands that every entry is 0 or 1.
    name : str
        What errors call the table.

    Returns
    -------
    words : ndarray of shape (n_samples, ceil(n_features / 64)), uint64
        Bit j % 64 of word j // 64 is feature j; bits past the last are 0.

    Raises
    ------
    ValueError
        With ``threshold=None``, naming the first column with another value.
    """
    # Booleans and bytes are packed by multiplication, other numbers by comparison.
    n_samples, n_features = X.shape
    words = np.empty((n_samples, max(1, -(-n_features // 64))), dtype=np.uint64)
    strict = threshold is None
    threshold = 0.0 if strict else threshold
    as_bytes = X.dtype in (np.bool_, np.uint8) and threshold < 1
    # A block of rows at a time: an F-ordered or integer table is never copied whole.
    step = max(1, 2**20 // max(1, n_features))
    for first in range(0, n_samples, step):
        block, out = X[first : first + step], words[first : first + step]
        if as_bytes:
            bad = pack_bytes(np.ascontiguousarray(block).view(np.uint8), out, strict)
        else:
            block = np.require(block, np.float64, ["C", "A"])
            bad = pack_reals(block, out, threshold, strict)
        if bad >= 0:
            row, column = divmod(bad, n_features)
            raise ValueError(not_boolean_message(name, column, block[row, column]))
    return words


def not_boolean_message(name, column, value):
    """Say which column is not Boolean, and the two ways out."""
    return (
        f"Column {column} of {name} holds {value!s}, but binarize=None demands 0 and "
        "1. Give a threshold, for example binarize=0.0 (a value above 0 is true), or "
        "encode the column first, for example with OneHotEncoder."
    )


def unpack_words(words, n_features):
    """Return packed rows as a uint8 table of zeros and ones."""
    # In little-endian order, byte by byte, bits stand in the order of the features.
    bytes_ = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(bytes_, axis=1, bitorder="little", count=n_features)


def transpose_words(words, n_features):
    """Transpose packed samples: the samples in which each feature is true, as words."""
    columns = np.empty((n_features, -(-len(words) // 64)), dtype=np.uint64)
    if columns.size:
        transpose(np.ascontiguousarray(words), columns)
    return columns


def binary_digits(numbers, n_digits):
    """Write the binary digits of whole numbers as words, the lowest digit first.

    Parameters
    ----------
    numbers : ndarray of shape (64 * n_words,), int64
        At least 0, and below 2 ** n_digits.
    n_digits : int

    Returns
    -------
    digits : ndarray of shape (n_digits, n_words), uint64
    """
    digits = np.empty((n_digits, len(numbers) // 64), dtype=np.uint64)
    for first in range(0, digits.shape[1], PIECE):
        piece = numbers[64 * first : 64 * (first + PIECE)]
        bits = piece >> np.arange(n_digits)[:, None] & 1
        digits[:, first : first + PIECE] = pack_dense(bits.astype(np.uint8))
    return digits


def always_true(words, n_features):
    """Return which features are true in every packed row."""
    common = np.bitwise_and.reduce(words, axis=0).astype("<u8", copy=False)
    bits = np.unpackbits(common.view(np.uint8), count=n_features, bitorder="little")
    return bits.astype(bool)


def as_csr(table, n_features):
    """Return a Boolean table, words or CSR, as CSR."""
    if sparse.issparse(table):
        return table
    return sparse.csr_array(unpack_words(table, n_features).astype(bool))


def count_features(words, n_features):
    """Count the samples in which each feature is true, int64."""
    counts = np.zeros(n_features, dtype=np.int64)
    for first in range(0, len(words) if n_features else 0, 2**16):
        ones = np.zeros(n_features, dtype=np.int32)
        count_ones(transpose_words(words[first : first + 2**16], n_features), ones)
        counts += ones
    return counts


def as_words(table):
    """Return a Boolean table, words or CSR, as words."""
    if not sparse.issparse(table):
        return table
    every_bit = np.arange(table.shape[1], dtype=np.int32)
    return sparse_rows(table, every_bit).words


class PackedBits:
    """Boolean samples that are packed already, in the place of a data matrix ``X``.

    Parameters
    ----------
    words : ndarray of shape (n_samples, n_words), uint64
    n_features : int
    feature_names : ndarray of shape (n_features,), dtype object, or None
    y, sample_weight : ndarray of shape (n_samples,) or None
        Labels and weights, for a ``fit`` that is given none.
    """

    is_binarized = False  # by the estimator that gets them, with its threshold
    memory_limit = None  # bytes that a fit to them may take

    def __init__(
        self, words, n_features, feature_names=None, y=None, sample_weight=None
    ):
        self.words, self.n_features = words, n_features
        self.feature_names, self.y, self.sample_weight = feature_names, y, sample_weight

    @property
    def shape(self):
        """Number of samples and of features."""
        return len(self.words), self.n_features

    def __len__(self):
        return len(self.words)

    def __getitem__(self, samples):
        """Select samples: a slice, a mask or numbers, as cross-validation does."""
        if isinstance(samples, tuple):  # (samples, ...) of scikit-learn
            samples, *features = samples
            if features not in ([slice(None)], [Ellipsis]):
                raise IndexError(
                    "Packed samples are selected, not features: write table[rows] or "
                    "table[rows, :]."
                )
        words, y, weights = self._read(samples)
        chosen = PackedBits(
            np.ascontiguousarray(words), self.n_features, self.feature_names, y, weights
        )
        chosen.is_binarized = self.is_binarized
        chosen.memory_limit = self.memory_limit
        return chosen

    def _read(self, samples):
        """Select bits, labels and weights."""
        y, weights = (
            values if values is None else values[samples]
            for values in (self.y, self.sample_weight)
        )
        return self.words[samples], y, weights


def targets_of(estimator, X, y, sample_weight=None):
    """Take labels and weights that are not given from packed samples.

    A fit, which gives its estimator, stops here where it may exceed their limit of
    memory.
    """
    if isinstance(X, PackedBits):
        if estimator is not None:
            bytes_left(estimator, X, y)
        y = X.y if y is None else y
        sample_weight = X.sample_weight if sample_weight is None else sample_weight
    return y, sample_weight


@dataclass(frozen=True)
class BitRows:
    """Rows ready for counting; made by `sparse_rows` or from packed words.

    Attributes
    ----------
    words : ndarray of shape (n_samples, n_words), uint64
    ones : ndarray of shape (n_samples,), int32
        True features of each row, packed or not.
    n_features : int
    rest : csr_array of shape (n_samples, n_rest) or None
        The features outside the words.
    groups : OneHotGroups or None
        Groups of the packed features, where a model has found some.
    """

    words: np.ndarray
    ones: np.ndarray
    n_features: int
    rest: sparse.csr_array | None = None
    groups: object = None

    @classmethod
    def from_words(cls, words, n_features):
        """Wrap rows packed whole."""
        ones = np.empty(len(words), dtype=np.int32)
        count_ones(words, ones)
        return cls(words, ones, n_features)

    def __len__(self):
        return len(self.words)

    def take(self, rows):
        """Return the named rows: an index array, a mask or a slice."""
        sparse_part = None if self.rest is None else self.rest[rows]
        words = np.ascontiguousarray(self.words[rows])
        ones = np.ascontiguousarray(self.ones[rows])
        return BitRows(words, ones, self.n_features, sparse_part, self.groups)

    def arrays(self):
        """Return the arrays that the compiled loops take for rows."""
        if self.rest is None:
            return self.words, NO_INDPTR, NO_INDICES, self.ones
        return self.words, *_index_arrays(self.rest), self.ones


@dataclass(frozen=True)
class BitColumns:
    """Rows laid out as the right-hand side of a count: panels and postings.

    Where the rows have groups of features, ``levels`` holds their levels in panels, and
    ``fits`` tells which panels keep to the groups.
    """

    panels: np.ndarray
    ones: np.ndarray
    n_features: int
    postings: sparse.csc_array | None = None
    groups: object = None
    levels: np.ndarray | None = None
    fits: np.ndarray | None = None
    # Parts with postings are cut once and asked for again with every block.
    parts: dict = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_rows(cls, rows):
        """Lay out `BitRows` as columns."""
        n, n_words = rows.words.shape
        panels = np.empty((-(-n // PANEL), n_words, PANEL), dtype=np.uint64)
        fill_panels(rows.words, panels)
        postings = None if rows.rest is None else rows.rest.tocsc()
        # Few columns are compared one by one, for which levels do not pay.
        levels = ()
        if rows.groups is not None and n > FEW_COLUMNS:
            levels = rows.groups, *rows.groups.column_levels(rows.words)
        return cls(panels, rows.ones, rows.n_features, postings, *levels)

    def __len__(self):
        return len(self.ones)

    def part(self, first, last):
        """Return columns ``first`` to ``last``; ``first`` is a multiple of 32."""
        if (first, last) == (0, len(self)):
            return self
        if (first, last) in self.parts:
            return self.parts[first, last]
        panels = slice(first // PANEL, -(-last // PANEL))
        postings, levels = None, ()
        if self.postings is not None:
            postings = self.postings[first:last]
        if self.levels is not None:
            levels = self.groups, self.levels[panels], self.fits[panels]
        ones = self.ones[first:last]
        columns = BitColumns(
            self.panels[panels], ones, self.n_features, postings, *levels
        )
        if postings is not None:
            self.parts[first, last] = columns
        return columns

    def levels_with(self, rows):
        """Return the levels of rows and of these columns, or None without levels."""
        if self.levels is None or rows.groups is not self.groups:
            return None
        row_levels = self.groups.row_levels(rows.words)
        return None if row_levels is None else (row_levels, self.levels, self.fits)

    def arrays(self):
        """Return the arrays that the compiled loops take for columns."""
        if self.postings is None:
            return self.panels, NO_INDPTR, NO_INDICES, self.ones
        return self.panels, *_index_arrays(self.postings), self.ones


def _index_arrays(matrix):
    return (
        np.require(matrix.indptr, np.int64, "A"),
        np.require(matrix.indices, np.int32, "A"),
    )


def choose_packed_features(frequencies):
    """Choose the features to pack, from how often each is true.

    Features go in by the word, commonest first, while the pairs of rows that share a
    feature of the word are more than `WORD_COST` of all pairs.

    Parameters
    ----------
    frequencies : ndarray of shape (n_features,)
        Share of rows in which the feature is true.

    Returns
    -------
    bit_of_feature : ndarray of shape (n_features,), int32
        The feature's bit, or -1 when it stays outside the words.
    """
    # The share of pairs that share a feature is its squared frequency. Postings cost a
    # step for each such pair, a word costs the same for all pairs.
    order = np.argsort(-frequencies, kind="stable")
    shared = np.add.reduceat(
        frequencies[order] ** 2, np.arange(0, max(1, len(order)), 64)
    )
    n_packed = min(len(order), 64 * int(np.sum(shared > WORD_COST)))
    if n_packed + 64 >= len(order):
        n_packed = len(order)
    bit_of_feature = np.full(len(frequencies), -1, dtype=np.int32)
    bit_of_feature[order[:n_packed]] = np.arange(n_packed, dtype=np.int32)
    return bit_of_feature


def sparse_rows(X, bit_of_feature):
    """Lay out a CSR table whose stored entries are all true.

    Parameters
    ----------
    X : csr_array of shape (n_samples, n_features)
    bit_of_feature : ndarray of shape (n_features,), int32
        From `choose_packed_features`; the same for all rows to be compared.
    """
    indptr, indices = _index_arrays(X)
    n_packed = int(bit_of_feature.max(initial=-1)) + 1
    words = np.zeros((X.shape[0], _n_words(n_packed)), dtype=np.uint64)
    pack_sparse(indptr, indices, bit_of_feature, words)
    ones = np.diff(indptr).astype(np.int32)
    rest_features = np.flatnonzero(bit_of_feature < 0)
    unpacked = X[:, rest_features] if len(rest_features) else None
    return BitRows(words, ones, X.shape[1], unpacked)


def count_common(rows, columns):
    """Count the features true in both: int32 of shape (n_samples, n_columns)."""
    counts = np.empty((len(rows), len(columns)), dtype=np.int32)
    if counts.size:
        count_pairs(rows, columns, False, counts)
    return counts
