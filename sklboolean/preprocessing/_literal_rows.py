"""The true literals of rows, as ascending lists."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sklboolean._core.bits import unpack_words
from sklboolean.preprocessing._levels import BLOCK_ROWS

# Cells of a table that are unpacked at once, a byte each.
SLAB_CELLS = 2**22


def group_labels(feature_groups, n_features):
    """Check the labels of groups and return them as a list."""
    if feature_groups is None:
        return None
    if isinstance(feature_groups, str | dict) or np.ndim(feature_groups) != 1:
        raise ValueError(
            "feature_groups must be a list with one label for each feature; got "
            f"{feature_groups!r}."
        )
    labels = np.asarray(feature_groups, dtype=object).tolist()
    if len(labels) != n_features:
        raise ValueError(
            f"feature_groups holds {len(labels)} labels for {n_features} features: "
            "give one for each."
        )
    return labels


@dataclass(frozen=True)
class Literals:
    """What conjunctions are made of, in the order of their columns.

    Attributes
    ----------
    features : ndarray of shape (n_literals,), intp
    negated : ndarray of shape (n_literals,), bool
    groups : ndarray of shape (n_literals,), int32
        Ascending. Literals of one group never meet.
    """

    features: np.ndarray
    negated: np.ndarray
    groups: np.ndarray

    @classmethod
    def build(cls, n_features, negations, labels=None):
        """List features group by group, each followed by its negation if wanted.

        Parameters
        ----------
        n_features : int
        negations : bool
        labels : list of n_features hashables or None
            Equal for features that never meet.
        """
        signs = (False, True) if negations else (False,)
        if len(signs) * n_features >= 2**31:
            raise ValueError(
                f"{n_features} features have more literals than int32 can number. Hash "
                "the columns to fewer, or leave out negations."
            )
        groups = np.arange(n_features)
        if labels is not None:
            codes = {}  # groups in the order of their first features
            groups = [codes.setdefault(label, len(codes)) for label in labels]
            groups = np.array(groups, dtype=np.intp)
        features = np.repeat(np.argsort(groups, kind="stable"), len(signs))
        negated = np.tile(np.array(signs), n_features)
        return cls(features, negated, groups[features].astype(np.int32))

    def __len__(self):
        return len(self.features)

    @property
    def n_groups(self):
        """Return how many literals the longest conjunction has."""
        return len(np.unique(self.groups))

    @property
    def next_group(self):
        """Return for each literal the first one of the group after its own."""
        return np.searchsorted(self.groups, self.groups, "right").astype(np.int32)

    @property
    def are_features(self):
        """Return whether literal j is feature j."""
        plain = not self.negated.any()
        return plain and np.array_equal(self.features, np.arange(len(self)))

    def names(self, feature_names):
        """Return the text of each literal."""
        return [
            f"~{feature_names[feature]}" if negated else str(feature_names[feature])
            for feature, negated in zip(self.features, self.negated, strict=True)
        ]


class LiteralRows:
    """A Boolean table as lists of true literals, a slab of rows at a time.

    Iterating gives ``first, last, indptr, indices`` again and again: a table of one
    slab is converted once.

    Parameters
    ----------
    table : ndarray of uint64 words, or csr_array of true entries
    literals : Literals
    """

    def __init__(self, table, literals):
        self.table, self.literals = table, literals
        self.n_samples = table.shape[0]
        n_blocks = SLAB_CELLS // (len(literals) * BLOCK_ROWS)
        self._step = BLOCK_ROWS * max(1, n_blocks)
        if sparse.issparse(table) and literals.are_features:
            self._step = max(1, self.n_samples)
        self._single = None

    def __iter__(self):
        for first in range(0, self.n_samples, self._step):
            last = min(self.n_samples, first + self._step)
            if self._step < self.n_samples:
                yield first, last, *self._lists(self.table[first:last])
            else:
                if self._single is None:
                    self._single = self._lists(self.table)
                yield first, last, *self._single

    def _lists(self, table):
        literals = self.literals
        if sparse.issparse(table) and not literals.negated.any():
            if not literals.are_features:
                table = table[:, literals.features]
                table.sort_indices()
            indptr, indices = table.indptr, table.indices
        else:
            n_features = int(literals.features.max()) + 1
            if sparse.issparse(table):
                bits = table.toarray().view(np.uint8)
            else:
                bits = unpack_words(table, n_features)
            if not literals.are_features:
                bits = bits[:, literals.features] ^ literals.negated
            counts = np.count_nonzero(bits, axis=1)
            indptr = np.concatenate([[0], np.cumsum(counts)])
            indices = np.flatnonzero(bits) % len(literals)
        return indptr.astype(np.int64), indices.astype(np.int32, copy=False)
