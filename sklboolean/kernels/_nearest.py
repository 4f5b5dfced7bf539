"""The samples of a table that are most similar to each query, by a Boolean kernel."""

# Samples are sorted by their number of ones, in blocks of columns. For each number of
# ones of a query, `_bounds` has the largest kernel value that a block can reach. Blocks
# are compared in falling order of this bound, until it is below the k-th value found:
# the result is that of all comparisons (Swamidass, Baldi 2007).

import numpy as np

from sklboolean._core._popcount import PANEL
from sklboolean._core.bits import BitColumns, BitRows, pack_dense
from sklboolean._core.parameters import check_integer
from sklboolean.kernels._evaluators import lay_out_rows
from sklboolean.kernels._kernels import KERNELS, BooleanKernel, evaluate
from sklboolean.kernels._largest import keep_largest

# Smaller blocks take more calls; larger ones leave out less.
QUERIES_AT_A_TIME = 64
COLUMNS_AT_A_TIME = 128 * PANEL


def nearest(Q, X, k=5, *, kernel="tanimoto") -> tuple[np.ndarray, np.ndarray]:
    """Find the samples with the largest kernel value for each query, exactly.

    No kernel matrix is formed. Samples are sorted by their number of true features, and
    blocks of samples whose numbers rule out a value among the largest are left out: two
    samples share at most the features of the smaller one.

    Parameters
    ----------
    Q : {array-like, sparse matrix} of shape (n_queries, n_features)
        Queries of Boolean features: bool, integer or float; dense, CSR or CSC.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples to search.
    k : int, default=5
        Number of samples to find for each query, at most ``n_samples``.
    kernel : str or kernel object, default="tanimoto"
        "conjunction", "linear", "rbf", "poly", "disjunction", "dnf", "cnf" or
        "tanimoto", or an object of this module with other parameters. Its ``binarize``
        and ``n_jobs`` apply.

    Returns
    -------
    values : ndarray of shape (n_queries, k), dtype float64
        The largest values of each query, in falling order: those of the kernel matrix.
    indices : ndarray of shape (n_queries, k), dtype int64
        The samples that have them. Equal values are ordered by their index.

    Raises
    ------
    ValueError
        If a kernel value exceeds float64, if ``k`` is above ``n_samples``, and for
        invalid parameters and data.

    References
    ----------
    Swamidass, Baldi. "Bounds and algorithms for fast exact searches of chemical
    fingerprints in linear and sublinear time". Journal of Chemical Information and
    Modeling 47(2), 2007, the bound of section 3.

    Examples
    --------
    >>> from sklboolean.kernels import nearest
    >>> values, indices = nearest([[1, 1, 0]], [[0, 1, 0], [1, 1, 1], [1, 0, 0]], 2)
    >>> values.round(3), indices
    (array([[0.667, 0.5  ]]), array([[1, 0]]))
    """
    kernel = _make_kernel(kernel)
    rows, samples, max_ones = lay_out_rows(Q, X, kernel.binarize, ("Q", "X"))
    k = check_integer(k, "k", 1)
    if k > len(samples):
        raise ValueError(f"k={k}, but X has {len(samples)} samples. Lower k.")
    formula = kernel.formula(rows.n_features, max_ones)
    query_order = np.argsort(rows.ones, kind="stable")
    order = np.argsort(samples.ones, kind="stable")
    columns = BitColumns.from_rows(samples.take(order))
    bounds, size_of_query = _bounds(kernel, formula, rows, columns)
    values = np.full((len(rows), k), -np.inf)
    indices = np.zeros((len(rows), k), dtype=np.int64)
    room = np.empty(QUERIES_AT_A_TIME * COLUMNS_AT_A_TIME)
    for first_query in range(0, len(rows), QUERIES_AT_A_TIME):
        queries = query_order[first_query : first_query + QUERIES_AT_A_TIME]
        for active, block in _comparisons(
            queries, bounds[size_of_query[queries]], values
        ):
            first = block * COLUMNS_AT_A_TIME
            block_columns = columns.part(
                first, min(first + COLUMNS_AT_A_TIME, len(columns))
            )
            K = room[: len(active) * len(block_columns)].reshape(
                len(active), len(block_columns)
            )
            evaluate(kernel, formula, rows.take(active), block_columns, K)
            numbers = order[first : first + len(block_columns)]
            keep_largest(K, active, numbers, values, indices)
    return values, indices


def _comparisons(queries, bounds, values):
    """Yield queries and a block of columns to compare them with.

    Each query meets the blocks in falling order of its bounds, until they are below the
    last of its largest values.

    Parameters
    ----------
    queries : ndarray of shape (n_active,), int
    bounds : ndarray of shape (n_active, n_blocks), float64
    values : ndarray of shape (n_queries, k), float64
        The largest values so far; the caller keeps them up to date.
    """
    order = np.argsort(-bounds, axis=1, kind="stable")
    bounds = np.take_along_axis(bounds, order, axis=1)
    for blocks, bound in zip(order.T, bounds.T, strict=True):
        is_open = bound >= values[queries, -1]
        if not is_open.any():
            return
        for block in np.unique(blocks[is_open]):
            yield queries[is_open & (blocks == block)], int(block)


def _make_kernel(kernel):
    """Make the kernel object of a name."""
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]()
    if not isinstance(kernel, BooleanKernel):
        raise ValueError(
            f"kernel must be one of {[*KERNELS]} or an object such as "
            f"ConjunctionKernel(); got {kernel!r}."
        )
    return kernel


def _bounds(kernel, formula, rows, columns):
    """Bound the kernel between samples of given numbers of true features.

    Two samples with a and b true features share most where one holds all those of the
    other: there a kernel that rises with the count is largest.

    Returns
    -------
    bounds : ndarray of shape (n_sizes, n_blocks), float64
        For each number of true features of queries: the bound with a block of columns.
    size_of_query : ndarray of shape (n_queries,), int
        The row of ``bounds`` that is for each query.
    """
    query_sizes, size_of_query = np.unique(rows.ones, return_inverse=True)
    sizes, size_of_column = np.unique(columns.ones, return_inverse=True)
    starts = np.arange(0, len(columns), COLUMNS_AT_A_TIME)
    if type(kernel) not in KERNELS.values():  # a user's kernel may fall
        return np.full((len(query_sizes), len(starts)), np.inf), size_of_query
    n_bits = max(1, int(query_sizes[-1]), int(sizes[-1]))

    def nested(sizes):
        words = pack_dense(np.arange(n_bits) < sizes[:, None])
        return BitRows.from_words(words, rows.n_features)

    largest = np.empty((len(query_sizes), len(sizes)))
    others = BitColumns.from_rows(nested(sizes))
    try:
        evaluate(kernel, formula, nested(query_sizes), others, largest)
    except ValueError:  # Beyond float64; the values of these samples may be within.
        largest[:] = np.inf
    ends = np.minimum(starts + COLUMNS_AT_A_TIME, len(columns)) - 1
    bounds = [
        largest[:, size_of_column[first] : size_of_column[last] + 1].max(axis=1)
        for first, last in zip(starts, ends, strict=True)
    ]
    return np.stack(bounds, axis=1), size_of_query
