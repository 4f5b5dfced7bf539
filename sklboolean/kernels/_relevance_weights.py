"""The kernel over all conjunctions of columns, from levels, and its derivatives.

Two samples have the similarity k_j in column j. With the relevance a_j of the column,
u_j = a_j k_j, and e_d, the sum of all products of d different u_j, the kernel is

    w0 + w1 e1 + w2 e2 + w3 e3 + w4 prod_j (1 + b u_j) / (1 + b a_j).

The product is a sum over the conjunctions of every length, divided by its value for
equal samples.
"""

# Shapes: u has (..., n_columns, n_samples). `LevelPairs` keeps for each column a table
# of similarities between levels, all tables in one vector: entry (a, b) of column j is
# at starts[j] + a * widths[j] + b. Compiled loops (`_relevance.pyx`) then read one
# number for each pair of samples and column, and sum products by Newton's recursion:
# with each further column, e3 += e2 u, e2 += e1 u, e1 += u.
# Integrals over t from 0 to 1 share a conjunction among its columns (Owen 1972); their
# integrands are polynomials, which Gauss and Legendre's points integrate exactly up to
# 128 columns.

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sklboolean._core.parallel import each_slice
from sklboolean.kernels._relevance import relevance_gradient, relevance_values

PAIRS_FOR_THREADS = 2**16
ROWS_AT_A_TIME = 64
MOST_NODES = 64  # exact up to 128 columns, and within rounding beyond


@dataclass(frozen=True)
class RelevanceWeights:
    """The parameters of the kernel.

    Attributes
    ----------
    lengths : ndarray of shape (5,), float64
        Weights of the empty conjunction, of those of 1, 2 and 3 columns, and of the
        product.
    base : float
        The weight of each further column in the product.
    relevances : ndarray of shape (n_columns,), float64
    """

    lengths: np.ndarray
    base: float
    relevances: np.ndarray

    @property
    def diagonal(self):
        """The value for two equal samples."""
        e1 = e2 = e3 = 0.0
        for a in self.relevances:
            e3, e2, e1 = e3 + e2 * a, e2 + e1 * a, e1 + a
        return float(self.lengths @ [1.0, e1, e2, e3, 1.0])

    def scaled(self, factor):
        """Multiply the kernel by a factor."""
        return replace(self, lengths=factor * self.lengths)

    def shares(self):
        """Share ``diagonal``, less the empty conjunction, among the columns.

        Each conjunction is divided equally among its columns. In the product that is
        the integral of ``b a_j prod_{i != j} (1 + t b a_i)`` over t from 0 to 1.
        """
        a, w = self.relevances, self.lengths
        e1, e2 = a.sum(), (a.sum() ** 2 - (a**2).sum()) / 2
        rest1 = e1 - a
        rest2 = e2 - a * rest1
        shares = a * (w[1] + w[2] * rest1 / 2 + w[3] * rest2 / 3)
        t, weights = unit_nodes(len(a))
        factors = 1 + t[:, None] * self.base * a
        logs = np.log(factors).sum(axis=1) - np.log1p(self.base * a).sum()
        integrand = np.exp(logs)[:, None] * self.base * a / factors
        return shares + w[4] * (weights @ integrand)

    def sums_by_owner(self, u, owners, n_owners):
        """Sum up products of the ``u_j`` of each owner of columns.

        Parameters
        ----------
        u : ndarray of shape (..., n_columns, n_samples), float64
        owners : ndarray of shape (n_columns,), int
        n_owners : int

        Returns
        -------
        sums : ndarray of shape (n_sums, ..., n_owners, n_samples), float64
            Sums of single ``u_j``, of pairs and of triples, if an owner has as many
            columns, and last the product of ``1 + base * u_j``.
        """
        most = min(3, np.bincount(owners).max(initial=1))
        sums = np.zeros((most + 1, *u.shape[:-2], n_owners, u.shape[-1]))
        sums[-1] = 1
        for j, owner in enumerate(owners):
            u_j, of_owner = u[..., j, :], sums[..., owner, :]
            for length in range(most - 1, 0, -1):
                of_owner[length] += of_owner[length - 1] * u_j
            of_owner[0] += u_j
            of_owner[-1] *= 1 + self.base * u_j
        return sums

    def slopes(self, sums):
        """List the derivatives of the kernel by each of `sums_by_owner`."""
        w, (s1, *longer, factors) = self.lengths, sums
        e1 = s1.sum(axis=-2, keepdims=True)
        rest1 = e1 - s1
        rest2 = (e1**2 - (s1**2).sum(axis=-2, keepdims=True)) / 2 - s1 * rest1
        if longer:
            rest2 += longer[0].sum(axis=-2, keepdims=True) - longer[0]
        logs = np.log(factors).sum(axis=-2, keepdims=True)
        product = np.exp(logs - np.log1p(self.base * self.relevances).sum())
        by_length = [
            w[1] + w[2] * rest1 + w[3] * rest2,
            w[2] + w[3] * rest1,
            np.broadcast_to(w[3], s1.shape),
        ]
        return [*by_length[: len(sums) - 1], w[4] * product / factors]


def unit_nodes(n_columns):
    """Choose points and weights of Gauss and Legendre for integrals from 0 to 1."""
    n_nodes = min(max(n_columns // 2 + 1, 2), MOST_NODES)
    t, weights = np.polynomial.legendre.leggauss(n_nodes)
    return (t + 1) / 2, weights / 2


def column_values(weights, own, others, shares):
    """Compute Shapley values of owners of columns in the kernel of two samples.

    In the game the columns of a coalition are those of the sample, all others those of
    the other sample, and the worth is the kernel. This is a polynomial of degree one in
    the sums of each owner, so the value of an owner is the integral of its derivative
    along the line from the other sample to the sample [1]_. Exact up to 128 owners.

    Parameters
    ----------
    weights : RelevanceWeights
    own : ndarray of shape (n_sums, n_owners, n_basis), float64
        `sums_by_owner` of the sample and of each sample of the basis.
    others : ndarray of shape (n_sums, n_others, n_owners, n_basis), float64
        Those of the other samples.
    shares : ndarray of shape (n_others,), float64

    Returns
    -------
    values : ndarray of shape (n_owners, n_basis), float64
        Sums over the others of their share times the value.

    References
    ----------
    .. [1] G. Owen. "Multilinear Extensions of Games". Management Science 18, 1972.
    """
    change, values = own[:, None] - others, np.zeros(own.shape[1:])
    weighted = shares[:, None, None] * change
    for t, weight in zip(*unit_nodes(len(values)), strict=True):
        for slopes, changes in zip(
            weights.slopes(others + t * change), weighted, strict=True
        ):
            values += weight * np.einsum("ijk,ijk->jk", changes, slopes)
    return values


class LevelPairs:
    """Similarities of the levels of two sets of samples, laid out for compiled loops.

    Parameters
    ----------
    columns : FrameColumns
    levels, others : Levels
        ``others=None``: the same samples.
    """

    def __init__(self, columns, levels, others=None):
        self.codes = levels.codes
        self.is_symmetric = others is None
        others = levels if others is None else others
        self.other_codes = others.codes
        tables = columns.similarities(levels, others)
        sizes = [table.size for table in tables]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.widths = np.array([table.shape[1] for table in tables], dtype=np.int64)
        self.similarities = np.concatenate([[], *map(np.ravel, tables)])
        self.column = np.repeat(np.arange(len(tables)), sizes)

    def _scaled(self, weights):
        """Prepare the arguments of the compiled loops."""
        shrinks = 1 / (1 + weights.base * weights.relevances)
        tables = weights.relevances[self.column] * self.similarities
        of_columns = {"starts": self.starts, "widths": self.widths, "tables": tables}
        of_kernel = {"base": weights.base, "weights": weights.lengths}
        return of_columns | of_kernel | {"shrinks": shrinks}

    def matrix(self, weights, n_jobs=None):
        """Evaluate the kernel on all pairs; a symmetric matrix up to the diagonal.

        Returns
        -------
        K : ndarray of shape (n_samples, n_other_samples), float64
        """
        K = np.zeros((self.codes.shape[1], self.other_codes.shape[1]))
        options = self._scaled(weights) | {"symmetric": self.is_symmetric}
        fill = partial(relevance_values, self.codes, self.other_codes, out=K, **options)

        def fill_rows(first, last):
            fill(first=first, last=last)

        step = max(ROWS_AT_A_TIME, PAIRS_FOR_THREADS * 16 // max(1, K.shape[1]))
        small = K.size < PAIRS_FOR_THREADS
        each_slice(fill_rows, len(K), n_jobs, multiple=8, small=small, step=step)
        return K

    def gradient(self, weights, factors):
        """Sum up the products of ``factors`` with the derivatives of the kernel.

        Parameters
        ----------
        weights : RelevanceWeights
        factors : ndarray of shape (n_samples, n_samples), float64
            Symmetric; the part up to the diagonal is read.

        Returns
        -------
        gradient : ndarray of shape (6 + n_columns,), float64
            For the logarithms of the five weights, the base and the relevances.
        """
        scaled = self._scaled(weights)
        factors = 2 * factors
        factors[np.diag_indices(len(factors))] /= 2
        b, a = weights.base, weights.relevances[self.column]
        tables = scaled["tables"]
        # Derivative of log(1 + b u_j) - log(1 + b a_j) by log a_j, up to the product.
        slopes = b * (tables - a) / ((1 + b * tables) * (1 + b * a))
        # The order is that of the logarithms, without the noise: 5 weights, base,
        # columns.
        gradient = np.zeros(6 + len(self.widths))
        relevance_gradient(
            self.codes, slopes=slopes, factors=factors, gradient=gradient, **scaled
        )
        return gradient
