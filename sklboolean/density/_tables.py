"""Reading Boolean tables in which bits may be missing."""

import numpy as np
from scipy import sparse

from sklboolean._core.validation import (
    KEPT_DTYPES,
    check_binarize,
    column_of,
    validate_data_strict,
    warn_of_lost_columns,
    without_duplicates,
)


def codes_of(X):
    """Return the codes of false and true that a table is written in.

    Parameters
    ----------
    X : ndarray or sparse array
        May hold NaN; a sparse one no duplicate entries.

    Returns
    -------
    codes : ndarray of shape (2,), dtype float64
        (-1, 1) when all known values are -1 or 1 and -1 occurs, else (0, 1).
    """
    values = X
    if sparse.issparse(X):
        # Zeros that are left out are values too.
        values = X.data if X.nnz == X.shape[0] * X.shape[1] else np.zeros(0)
    # Bools, and unsigned codes, are not negative: most tables need no second look.
    negative = values.dtype.kind in "if" and (values == -1).any()
    signed = negative and not ((np.abs(values) != 1) & (values == values)).any()
    return np.array([-1.0 if signed else 0.0, 1.0])


def to_codes(signs, codes):
    """Write signs, or means of signs, in a user's codes."""
    return codes.mean() + signs * (np.ptp(codes) / 2)


def as_signs(values, columns, codes, binarize):
    """Return values as signs; 0 where a value is NaN.

    ``columns``, the numbers of their columns, are for errors.
    """
    if binarize is None:
        odd = (values != codes[0]) & (values != codes[1]) & (values == values)
        if odd.any():
            column = np.broadcast_to(columns, values.shape)[odd][0]
            raise ValueError(
                f"X holds {values[odd][0]!s} in column {column}; binarize=None "
                f"demands the codes {codes[0]:g} and {codes[1]:g}. Recode the column, "
                "or set binarize to the threshold above which a value is true."
            )
    # In float64, as the other tables are compared.
    values = values if values.dtype.kind in "bui" else values.astype(np.float64)
    signs = np.where(values > (binarize or 0.0), np.int8(1), np.int8(-1))
    if values.dtype.kind == "f":
        signs[np.isnan(values)] = 0
    return signs


def sparse_signs(X, codes, binarize):
    """Return the dense signs of a sparse table without duplicate entries."""
    signs = np.empty(X.shape, dtype=np.int8)
    if X.nnz < signs.size:
        signs[:] = as_signs(np.zeros(1, dtype=X.dtype), 0, codes, binarize)
    entries = X.tocoo()
    row, column = entries.coords
    signs[row, column] = as_signs(entries.data, column, codes, binarize)
    return signs


def read_signs(estimator, X, *, reset=False, allow_missing=True):
    """Check a table for a density model and turn its values into signs.

    Sparse tables become dense, a byte for each value: so are the samples and the
    densities of dense models.

    Parameters
    ----------
    estimator : object
        Has the parameter ``binarize``. With ``reset`` it receives ``n_features_in_``,
        ``feature_names_in_`` and ``codes_``; without, it has them.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        NaN is a missing bit.
    reset : bool
        Whether ``X`` is new to the estimator.
    allow_missing : bool
        Whether bits may be missing.

    Returns
    -------
    signs : C-contiguous ndarray of shape (n_samples, n_features), dtype int8
        1 where a bit is true, -1 where it is false, 0 where it is missing.

    Raises
    ------
    ValueError
        For NaN where it is not allowed and for codes that ``binarize=None`` refuses.
    """
    check_binarize(estimator.binarize)
    given = X
    X = validate_data_strict(
        estimator,
        X,
        reset=reset,
        accept_sparse=["csr", "csc"],
        dtype=KEPT_DTYPES,
        ensure_all_finite="allow-nan",
    )
    X = without_duplicates(X)
    codes = codes_of(X) if reset else estimator.codes_
    if sparse.issparse(X):
        signs = sparse_signs(X, codes, estimator.binarize)
    else:
        signs = as_signs(X, np.arange(X.shape[1]), codes, estimator.binarize)
        signs = np.ascontiguousarray(signs)
        if reset:
            warn_of_lost_columns(estimator, X, (signs == 1).all(axis=0))
    if not allow_missing and not signs.all():
        place = column_of(given, np.flatnonzero((signs == 0).any(axis=0))[0])
        way_out = "Fill them in with impute."
        if reset:
            way_out = (
                "BernoulliMixture learns from rows with missing bits; its impute fills "
                "them in for other models. Or leave out those rows."
            )
        raise ValueError(f"Input X contains NaN in {place}. {way_out}")
    if reset:
        estimator.codes_ = codes
    return signs


class Signs:
    """How models of bits keep rows: int8 signs, 0 where a bit is missing."""

    completions = ("mean", "map", "sample")
    read = staticmethod(read_signs)

    @staticmethod
    def blank(n_samples, n_features):
        """Return rows of which nothing is known."""
        return np.zeros((n_samples, n_features), dtype=np.int8)

    @staticmethod
    def gaps(rows):
        """Return where values are missing."""
        return rows == 0

    @staticmethod
    def write(estimator, rows):
        """Write rows, or means of rows, as the user does."""
        return to_codes(rows, estimator.codes_)


def distinct_rows(signs, weights):
    """Return the different rows of a table, sorted, and the weight of each together.

    Tables of few bits repeat many rows; what sums over rows need see them only once.

    Parameters
    ----------
    signs : C-contiguous ndarray of shape (n_samples, n_features), dtype int8
    weights : ndarray of shape (n_samples,), dtype float64

    Returns
    -------
    signs : ndarray of shape (n_distinct, n_features), dtype int8
    weights : ndarray of shape (n_distinct,), dtype float64
    """
    rows = signs.view(f"V{signs.shape[1]}")[:, 0]
    _, first, number = np.unique(rows, return_index=True, return_inverse=True)
    return signs[first], np.bincount(number, weights)
