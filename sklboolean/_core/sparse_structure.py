"""The structure of sparse matrices: what compiled loops trust is checked here.

scipy trusts the index arrays of a sparse matrix, and so do compiled loops: one index
out of range reads and writes anywhere.
"""

# A matrix is sound if its index arrays have the lengths that its shape asks for, begin
# at 0, never fall, and hold no number beyond the shape. Checking takes one pass over
# the indices and changes nothing: the arrays are the user's.

import numpy as np
from scipy import sparse

LARGEST_INDEX = 2**31 - 1  # compiled loops hold 32-bit indices
# Others have no index arrays, only those that come when they are turned into these.
INDEXED = ("coo", "csr", "csc", "bsr")


def check_sparse_size(X, name="X"):
    """Refuse a sparse matrix with more rows or columns than 32 bits can number."""
    if max(X.shape) > LARGEST_INDEX:
        raise ValueError(
            f"{name} has the shape {X.shape}, but a sparse matrix may have at most "
            f"{LARGEST_INDEX} samples and features. Pass samples in chunks to "
            "partial_fit or predict, and hash features into fewer, for example with "
            "FeatureHasher."
        )


def check_sparse_structure(X, name):
    """Refuse a sparse matrix that is too large or has indices out of range.

    `check_format` of scipy would convert the user's index arrays in place.
    """
    if X.ndim != 2:
        return
    check_sparse_size(X, name)
    if X.format == "coo":
        axes = zip(X.coords, X.shape, strict=True)
        sound = all(_point_inside(indices, side, len(X.data)) for indices, side in axes)
    elif X.format in INDEXED:
        sound = _is_compressed(X)
    else:
        return
    if not sound:
        raise ValueError(
            f"The index arrays of the sparse {name} do not fit its shape {X.shape} or "
            "each other; X.check_format() says more. Build it anew from its entries."
        )


def _point_inside(indices, side, n_stored):
    """Test whether there is an index for each entry, and none out of range."""
    if indices.ndim != 1 or len(indices) != n_stored or indices.dtype.kind not in "iu":
        return False
    # Without a sign, negative indices are larger than any side: one pass suffices.
    unsigned = indices.view(indices.dtype.str.replace("i", "u"))
    return not n_stored or unsigned.max() < side


def _is_compressed(X):
    """Test the index arrays of a CSR, CSC or BSR matrix."""
    height, width = X.blocksize if X.format == "bsr" else (1, 1)
    sides = X.shape[0] // height, X.shape[1] // width
    n_major, n_minor = reversed(sides) if X.format == "csc" else sides
    indptr = X.indptr
    if indptr.shape != (n_major + 1,) or indptr.dtype.kind not in "iu" or indptr[0]:
        return False
    n_stored = indptr[-1]
    if np.any(indptr[1:] < indptr[:-1]) or n_stored > min(len(X.indices), len(X.data)):
        return False
    return _point_inside(X.indices[:n_stored], n_minor, n_stored)


def check_sparse(checked, X, name):
    """Check the structure of a matrix that became CSR, and trim it."""
    # A data frame of sparse columns becomes CSR.
    if not sparse.issparse(X) or X.format not in INDEXED:
        check_sparse_structure(checked, name)
    return trim_sparse(checked)


def trim_sparse(X):
    """Return a sparse matrix without spare entries and, where they fit, int32 indices.

    scipy allows room behind the last entry. Several estimators of scikit-learn refuse
    the int64 indices that ``np.nonzero`` gives. The user's arrays stay as they are.
    """
    if not sparse.issparse(X) or X.format not in ("csr", "csc"):
        return X
    # What is compared is the length that indptr states, not that of the arrays.
    n_stored = X.indptr[-1]
    is_trim = len(X.data) == len(X.indices) == n_stored
    fits = max(n_stored, *X.shape) <= LARGEST_INDEX
    dtype = np.int32 if fits else X.indices.dtype
    if is_trim and X.indices.dtype == X.indptr.dtype == dtype:
        return X
    indices = X.indices[:n_stored].astype(dtype, copy=False)
    indptr = X.indptr.astype(dtype, copy=False)
    return type(X)((X.data[:n_stored], indices, indptr), shape=X.shape)


def without_duplicates(X):
    """Sum duplicate entries of a sparse matrix, in a copy."""
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
