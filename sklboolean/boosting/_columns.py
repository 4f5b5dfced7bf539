"""Boolean features column by column, laid out once for many rounds."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sklboolean._core.bits import as_words
from sklboolean.boosting._stumps import (
    LANES,
    add_panel_sums,
    add_posting_sums,
    choose_by_column,
    fill_column_panels,
)

NO_PANELS = np.zeros((0, 0, LANES), dtype=np.uint32)
NO_INDPTR = np.zeros(1, dtype=np.int64)
NO_INDICES = np.zeros(0, dtype=np.int32)
INDEX_BITS = 32
ROWS_AT_A_TIME = 2**24


@dataclass(frozen=True)
class StumpTable:
    """The columns of a Boolean table: bits, or lists of rows where these are smaller.

    Attributes
    ----------
    n_samples, n_features : int
    panels : ndarray of shape (ceil(n_features / 16), ceil(n_samples / 32), 16), uint32
        Bit r of ``panels[p, w, c]`` is row 32 w + r of feature 16 p + c.
    indptr, indices : ndarray of int64, ndarray of int32
        The rows in which feature j is true: ``indices[indptr[j]:indptr[j + 1]]``.
        ``panels`` is empty where these are in use, they are empty otherwise.
    """

    n_samples: int
    n_features: int
    panels: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray

    @classmethod
    def from_boolean(cls, table, n_features):
        """Lay out a Boolean table.

        Parameters
        ----------
        table : ndarray of uint64 words, or csr_array whose stored entries are all true
            From `validate_boolean`.
        n_features : int
        """
        n_samples = table.shape[0]
        if sparse.issparse(table) and INDEX_BITS * table.nnz < n_samples * n_features:
            columns = table.tocsc()
            indptr = columns.indptr.astype(np.int64, copy=False)
            indices = columns.indices.astype(np.int32, copy=False)
            return cls(n_samples, n_features, NO_PANELS, indptr, indices)
        shape = -(-n_features // LANES), -(-n_samples // 32), LANES
        panels = np.empty(shape, dtype=np.uint32)
        fill_column_panels(as_words(table), panels)
        return cls(n_samples, n_features, panels, NO_INDPTR, NO_INDICES)

    def sums(self, weights):
        """Return the weight of the rows where each feature is true, exactly.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,), int16
            Of either sign.

        Returns
        -------
        sums : ndarray of shape (n_features,), dtype int64

        Raises
        ------
        ValueError
            For another number of weights, or another dtype.
        """
        if weights.shape != (self.n_samples,):
            raise ValueError(
                f"The table has {self.n_samples} rows, but weights has the shape "
                f"{weights.shape}."
            )
        if not len(self.panels):
            sums = np.zeros(self.n_features, dtype=np.int64)
            # Some features at a time: an interrupt is seen after them.
            step = max(1, ROWS_AT_A_TIME * self.n_features // (1 + len(self.indices)))
            for first in range(0, self.n_features, step):
                starts = self.indptr[first : first + step + 1]
                part = sums[first : first + step]
                add_posting_sums(weights, starts, self.indices, part)
            return sums
        sums = np.zeros(len(self.panels) * LANES, dtype=np.int64)
        add_panel_sums(weights, self.panels, sums)
        return sums[: self.n_features]

    def choose(self, feature, if_false, if_true):
        """Return one of two values for each row, by the truth of a feature.

        Parameters
        ----------
        feature : int
            -1 stands for the constant that is true nowhere.
        if_false, if_true : int
            Between -2**15 and 2**15 - 1, for example -1 and 1.

        Returns
        -------
        chosen : ndarray of shape (n_samples,), dtype int16
        """
        chosen = np.full(self.n_samples, if_false, dtype=np.int16)
        if feature >= 0 and len(self.panels):
            choose_by_column(self.panels, feature, if_false, if_true, chosen)
        elif feature >= 0:
            rows = slice(self.indptr[feature], self.indptr[feature + 1])
            chosen[self.indices[rows]] = if_true
        return chosen
