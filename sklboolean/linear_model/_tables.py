"""Tables for the on-line loop: packed words where all is Boolean, CSR otherwise."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sklboolean._core._packing import scan_csr
from sklboolean._core.bits import always_true, pack_dense, unpack_words
from sklboolean._core.validation import (
    KEPT_DTYPES,
    as_boolean,
    check_binarize,
    check_finite,
    validate_data_strict,
    warn_of_lost_columns,
)

NO_WORDS = np.zeros((0, 1), dtype=np.uint64)
NO_INDPTR = np.zeros(1, dtype=np.int64)
NO_INDICES = np.zeros(0, dtype=np.int32)
NO_DATA = np.zeros(0)


@dataclass(frozen=True)
class OnlineTable:
    """Rows for the loop: ``words``, or CSR with ``data`` empty where all are ones."""

    words: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    n_samples: int
    n_features: int

    def arrays(self):
        """Return the arrays that `OnlineLoop.run` takes."""
        return self.words, self.indptr, self.indices, self.data

    def values(self):
        """Return the rows as a matrix for products: uint8 rows or CSR."""
        if len(self.words):
            return unpack_words(self.words, self.n_features)
        data = self.data if len(self.data) else np.ones(len(self.indices))
        shape = (self.n_samples, self.n_features)
        return sparse.csr_array((data, self.indices, self.indptr), shape=shape)

    def smallest_and_largest(self):
        """Return the smallest and the largest entry, zeros included."""
        if not len(self.data):
            return 0.0, 1.0
        return min(0.0, self.data.min()), max(0.0, self.data.max())


def open_table(X, given):
    """Lay out a table whose values may not have been checked for NaN and infinity.

    What holds only zeros and ones is packed; it needs no other check.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    given : object
        The table as the user gave it.
    """
    n_samples, n_features = X.shape
    if not sparse.issparse(X):
        try:
            words = pack_dense(X, None)
        except ValueError:
            check_finite(X, given)
            X = sparse.csr_array(X)
        else:
            return OnlineTable(
                words, NO_INDPTR, NO_INDICES, NO_DATA, n_samples, n_features
            )
    X = sparse.csr_array(X)
    ones, ordered = scan_csr(*_csr_parts(X))
    if not ones:
        check_finite(X, given)
    if not ordered or not (ones or X.data.all()):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        ones, _ = scan_csr(*_csr_parts(X))
    indptr, indices, data = _csr_parts(X)
    if ones:
        data = NO_DATA
    return OnlineTable(NO_WORDS, indptr, indices, data, n_samples, n_features)


def _csr_parts(X):
    return (
        np.require(X.indptr, np.int64, "A"),
        np.require(X.indices, np.int32, "A"),
        np.require(X.data, np.float64, "A"),
    )


def read_table(learner, X, y="no_validation", *, reset):
    """Check X (and y) for a learner, make X Boolean if it asks for that, lay it out.

    Returns
    -------
    table : OnlineTable
    y : ndarray, only when given
    """
    binarize = getattr(learner, "binarize", None)
    check_binarize(binarize)
    # Without `binarize` the table is scanned anyway, which finds NaN and infinity.
    checked = validate_data_strict(
        learner, X, y, reset=reset, accept_sparse="csr", dtype=KEPT_DTYPES,
        ensure_all_finite=binarize is not None,
    )  # fmt: skip
    only_X = isinstance(y, str) and y == "no_validation"
    given, (X, y) = X, (checked, None) if only_X else checked
    if binarize is None:
        table = open_table(X, given)
    else:
        n_samples, n_features = X.shape
        bits = as_boolean(X, binarize)
        if sparse.issparse(bits):
            table = open_table(bits, given)
        else:
            if reset:
                warn_of_lost_columns(learner, X, always_true(bits, n_features))
            table = OnlineTable(
                bits, NO_INDPTR, NO_INDICES, NO_DATA, n_samples, n_features
            )
    return table if only_X else (table, y)
