"""The sparse table of conjunctions: how large it may be, and how it is filled."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from sklboolean._core.validation import LARGEST_INDEX

# Conjunctions that int64 numbers, with room for sums.
MOST_COUNTED = 2**62
# Bytes of one output. More rows than that can be transformed in parts.
LARGEST_OUTPUT = 2**34

NO_INT32 = np.zeros(0, dtype=np.int32)
NO_INT64 = np.zeros(0, dtype=np.int64)


def way_out():
    """Say what makes the output smaller."""
    return "Lower max_literals, or keep frequent ones only: min_support, max_features."


def check_bytes(n_bytes, n_columns, advice):
    """Refuse an output that is too large, before memory is asked for it."""
    if n_bytes > LARGEST_OUTPUT:
        raise ValueError(
            f"The output of {n_columns:.3g} columns would take "
            f"{n_bytes / 2**30:.3g} GiB, more than the {LARGEST_OUTPUT >> 30} GiB "
            f"allowed at once. {way_out()} {advice}"
        )


class UnfilledColumns(NamedTuple):
    """A CSR table of ones whose column numbers are yet to be written.

    Attributes
    ----------
    indptr : ndarray of shape (n_samples + 1,), int64
    short : ndarray of int32
        The column numbers, empty when they are in ``long``.
    long : ndarray of int64
    n_columns : int
    """

    indptr: np.ndarray
    short: np.ndarray
    long: np.ndarray
    n_columns: int

    @classmethod
    def allocate(cls, counts, n_columns, dtype):
        """Make room for ``counts[i]`` columns in row i.

        Raises
        ------
        ValueError
            For an output of more than `LARGEST_OUTPUT` bytes.
        """
        n_entries = float(np.sum(counts))
        is_short = n_entries <= LARGEST_INDEX
        size = dtype.itemsize + (4 if is_short else 8)
        check_bytes(n_entries * size, n_columns, "Or transform fewer rows at a time.")
        indptr = np.zeros(len(counts) + 1, dtype=np.int64)
        indptr[1:] = np.cumsum(counts)
        if is_short:
            return cls(indptr, np.empty(indptr[-1], np.int32), NO_INT64, n_columns)
        return cls(indptr, NO_INT32, np.empty(indptr[-1], np.int64), n_columns)

    def to_csr(self, dtype):
        """Return the filled table."""
        indices = self.long if len(self.long) else self.short
        shape = len(self.indptr) - 1, self.n_columns
        parts = np.ones(len(indices), dtype), indices, self.indptr.astype(indices.dtype)
        table = sparse.csr_array(parts, shape=shape)
        # Written in ascending order: nobody needs to look.
        table.has_canonical_format = True
        return table
