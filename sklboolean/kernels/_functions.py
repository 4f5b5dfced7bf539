"""Kernel functions over Boolean rows, in the manner of `sklearn.metrics.pairwise`."""

import numpy as np
from scipy import sparse

from sklboolean._core.bits import (
    BitColumns,
    BitRows,
    as_csr,
    choose_packed_features,
    sparse_rows,
)
from sklboolean._core.validation import (
    check_binarize,
    check_boolean_array,
    check_choice,
)
from sklboolean.kernels._blocks import kernel_matrix, log2_matrix, normalized_matrix
from sklboolean.kernels._formulas import (
    cnf_formula,
    conjunction_formula,
    disjunction_formula,
    dnf_formula,
    tanimoto_formula,
)


def conjunction_kernel(
    X, Y=None, *, min_literals=0, max_literals=None, monotone=False, decay=1.0,
    normalize=False, log2=False, binarize=0.0, n_jobs=None,
):  # fmt: skip
    """Count the conjunctions that are true in both rows.

    ``K(x, z) = sum over l of decay**l * C(s, l)`` for
    ``min_literals <= l <= max_literals``, where s counts the features of equal value
    in x and z or, when ``monotone``, the features true in both. The defaults give
    ``2**s``.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_rows_X, n_features)
        Rows of Boolean features: bool, integer or float, dense, CSR or CSC.
    Y : {array-like, sparse matrix} of shape (n_rows_Y, n_features), default=None
        None compares ``X`` with itself.
    min_literals : int, default=0
        Shortest conjunctions counted; 0 includes the empty one, true everywhere.
    max_literals : int or None, default=None
        Longest conjunctions counted. None: all.
    monotone : bool, default=False
        Only conjunctions without negated features.
    decay : float, default=1.0
        A conjunction of l literals counts ``decay**l``.
    normalize : bool, default=False
        Divide by ``sqrt(K(x, x) K(z, z))``; 0 for a row that satisfies nothing. For
        the monotone kernel this changes what a learner decides: a row with many
        ones no longer counts for more than a row with few.
    log2 : bool, default=False
        Return the logarithm to base 2 instead of the kernel.
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    Returns
    -------
    K : ndarray of shape (n_rows_X, n_rows_Y), dtype float64
        Correctly rounded.

    Raises
    ------
    ValueError
        If a value exceeds float64 (from 1024 shared features on without a bound), if
        ``log2`` meets a pair that shares no conjunction, and for bad parameters.

    References
    ----------
    Khardon, Roth, Servedio. "Efficiency versus Convergence of Boolean Kernels for
    On-Line Learning Algorithms". NIPS 2001, section 2.

    Examples
    --------
    >>> from sklboolean.kernels import conjunction_kernel
    >>> X = [[1, 1, 0], [1, 0, 0]]
    >>> conjunction_kernel(X)
    array([[8., 4.],
           [4., 8.]])
    >>> conjunction_kernel(X, max_literals=2, min_literals=1, monotone=True)
    array([[3., 1.],
           [1., 1.]])
    """
    check_choice(normalize, "normalize", (True, False))
    check_choice(log2, "log2", (True, False))
    rows, columns = _rows_and_columns(X, Y, binarize)
    table = conjunction_formula(
        rows.n_features, _max_ones(rows, columns), min_literals=min_literals,
        max_literals=max_literals, monotone=monotone, decay=decay,
    )  # fmt: skip
    if normalize:
        return normalized_matrix(table, rows, columns, log2, n_jobs)
    if log2:
        return log2_matrix(table, rows, columns, n_jobs)
    return kernel_matrix(table, rows, columns, n_jobs, symmetric=Y is None)


def disjunction_kernel(
    X, Y=None, *, n_literals=2, monotone=True, binarize=0.0, n_jobs=None
):
    """Count the disjunctions of exactly ``n_literals`` variables true in both rows.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_rows_X, n_features)
        Rows of Boolean features.
    Y : {array-like, sparse matrix} of shape (n_rows_Y, n_features), default=None
        None compares ``X`` with itself.
    n_literals : int, default=2
        Number of distinct variables in a disjunction.
    monotone : bool, default=True
        Only disjunctions without negated features.
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    Returns
    -------
    K : ndarray of shape (n_rows_X, n_rows_Y), dtype float64
        Correctly rounded.

    Raises
    ------
    ValueError
        If a value exceeds float64, and for bad parameters.

    References
    ----------
    Polato, Lauriola, Aiolli. "A novel Boolean kernels family for categorical data".
    Entropy 20(6), 2018.

    Examples
    --------
    >>> from sklboolean.kernels import disjunction_kernel
    >>> disjunction_kernel([[1, 0, 0], [0, 1, 0]])
    array([[2., 1.],
           [1., 2.]])
    """
    return _evaluate(
        disjunction_formula, X, Y, binarize, n_jobs,
        n_literals=n_literals, monotone=monotone,
    )  # fmt: skip


def dnf_kernel(
    X, Y=None, *, n_terms=2, n_literals=2, monotone=True, binarize=0.0, n_jobs=None
):
    """Count the DNFs of ``n_terms`` conjunctions that are true in both rows.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_rows_X, n_features)
        Rows of Boolean features.
    Y : {array-like, sparse matrix} of shape (n_rows_Y, n_features), default=None
        None compares ``X`` with itself.
    n_terms : int, default=2
        Number of distinct conjunctions in a DNF.
    n_literals : int, default=2
        Number of distinct variables in each conjunction.
    monotone : bool, default=True
        Only conjunctions without negated features.
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    Returns
    -------
    K : ndarray of shape (n_rows_X, n_rows_Y), dtype float64
        Correctly rounded.

    Raises
    ------
    ValueError
        If a value exceeds float64, and for bad parameters.

    References
    ----------
    Polato, Lauriola, Aiolli. "A novel Boolean kernels family for categorical data".
    Entropy 20(6), 2018.

    Examples
    --------
    >>> from sklboolean.kernels import dnf_kernel
    >>> dnf_kernel([[1, 1, 0], [0, 1, 1]])
    array([[2., 1.],
           [1., 2.]])
    """
    return _evaluate(
        dnf_formula, X, Y, binarize, n_jobs,
        n_terms=n_terms, n_literals=n_literals, monotone=monotone,
    )  # fmt: skip


def cnf_kernel(
    X, Y=None, *, n_clauses=2, n_literals=2, monotone=True, binarize=0.0, n_jobs=None
):
    """Count the CNFs of ``n_clauses`` disjunctions that are true in both rows.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_rows_X, n_features)
        Rows of Boolean features.
    Y : {array-like, sparse matrix} of shape (n_rows_Y, n_features), default=None
        None compares ``X`` with itself.
    n_clauses : int, default=2
        Number of distinct disjunctions in a CNF.
    n_literals : int, default=2
        Number of distinct variables in each disjunction.
    monotone : bool, default=True
        Only disjunctions without negated features.
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    Returns
    -------
    K : ndarray of shape (n_rows_X, n_rows_Y), dtype float64
        Correctly rounded.

    Raises
    ------
    ValueError
        If a value exceeds float64, and for bad parameters.

    References
    ----------
    Polato, Lauriola, Aiolli. "A novel Boolean kernels family for categorical data".
    Entropy 20(6), 2018.

    Examples
    --------
    >>> from sklboolean.kernels import cnf_kernel
    >>> cnf_kernel([[1, 1, 0], [0, 1, 1]])
    array([[3., 3.],
           [3., 3.]])
    """
    return _evaluate(
        cnf_formula, X, Y, binarize, n_jobs,
        n_clauses=n_clauses, n_literals=n_literals, monotone=monotone,
    )  # fmt: skip


def tanimoto_kernel(X, Y=None, *, binarize=0.0, n_jobs=None):
    """Share of the features true in either row that are true in both.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_rows_X, n_features)
        Rows of Boolean features, for example fingerprints.
    Y : {array-like, sparse matrix} of shape (n_rows_Y, n_features), default=None
        None compares ``X`` with itself.
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    Returns
    -------
    K : ndarray of shape (n_rows_X, n_rows_Y), dtype float64
        In [0, 1]; two empty rows: 1.

    Raises
    ------
    ValueError
        For bad parameters.

    References
    ----------
    Ralaivola, Swamidass, Saigo, Baldi. "Graph kernels for chemical informatics".
    Neural Networks 18(8), 2005.

    Examples
    --------
    >>> from sklboolean.kernels import tanimoto_kernel
    >>> tanimoto_kernel([[1, 1, 0], [1, 0, 0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    return _evaluate(tanimoto_formula, X, Y, binarize, n_jobs)


BOOLEAN_KERNELS = {
    "conjunction": conjunction_kernel,
    "disjunction": disjunction_kernel,
    "dnf": dnf_kernel,
    "cnf": cnf_kernel,
    "tanimoto": tanimoto_kernel,
}


def _evaluate(builder, X, Y, binarize, n_jobs, **parameters):
    rows, columns = _rows_and_columns(X, Y, binarize)
    formula = builder(rows.n_features, _max_ones(rows, columns), **parameters)
    return kernel_matrix(formula, rows, columns, n_jobs, symmetric=Y is None)


def _rows_and_columns(X, Y, binarize):
    """Check both tables and lay them out for counting."""
    check_binarize(binarize)
    A, n_features = check_boolean_array(X, "X", binarize)
    B, n_features_Y = (
        (A, n_features) if Y is None else check_boolean_array(Y, "Y", binarize)
    )
    if n_features != n_features_Y:
        raise ValueError(
            f"X has {n_features} features and Y has {n_features_Y}; give the same "
            "columns to both."
        )
    rows, column_rows = lay_out(A, B, n_features)
    return rows, BitColumns.from_rows(column_rows)


def lay_out(A, B, n_features):
    """Turn two Boolean tables (words or CSR) into `BitRows` that can be compared."""
    if not (sparse.issparse(A) or sparse.issparse(B)):
        rows = BitRows.from_words(A, n_features)
        return rows, rows if A is B else BitRows.from_words(B, n_features)
    A, B = as_csr(A, n_features), as_csr(B, n_features)
    frequencies = np.bincount(B.indices, minlength=n_features) / max(1, B.shape[0])
    bit_of_feature = choose_packed_features(frequencies)
    rows = sparse_rows(A, bit_of_feature)
    return rows, rows if A is B else sparse_rows(B, bit_of_feature)


def _max_ones(rows, columns):
    return int(max(rows.ones.max(initial=0), columns.ones.max(initial=0)))
