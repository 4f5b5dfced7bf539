"""Data for the online loop: packed words where all is Boolean, CSR otherwise."""

# Three forms, of which the loop has a compiled path each: words of 64 features, shape
# (n_samples, n_words), where all values are 0 or 1 and the data are dense; CSR without
# values where all stored entries are 1; CSR with float64 values otherwise. Dense data
# that are not Boolean become CSR. The form changes the time, not the model.

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sklboolean._core._packing import copy_samples, scan_csr
from sklboolean._core._popcount import count_ones
from sklboolean._core.bits import PackedBits, pack_dense, unpack_words
from sklboolean._core.validation import check_finite

NO_WORDS = np.zeros((0, 1), dtype=np.uint64)
NO_INDPTR = np.zeros(1, dtype=np.int64)
NO_INDICES = np.zeros(0, dtype=np.int32)
NO_DATA = np.zeros(0)
BLOCK_BITS = 2**22  # unpacked at a time


@dataclass(frozen=True)
class OnlineData:
    """Samples as ``words``, or as CSR with ``data`` empty where all are ones."""

    words: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    n_samples: int
    n_features: int

    @classmethod
    def of_words(cls, words, n_features):
        """Wrap packed samples."""
        return cls(words, NO_INDPTR, NO_INDICES, NO_DATA, len(words), n_features)

    def __getitem__(self, samples):
        """Copy some samples."""
        if len(self.words):
            return self.of_words(self.words[samples], self.n_features)
        indptr = np.append(0, np.cumsum(np.diff(self.indptr)[samples]))
        indices = np.empty(indptr[-1], dtype=np.int32)
        data = np.empty(len(indices) if len(self.data) else 0)
        copy_samples(
            self.indptr, self.indices, self.data, samples, indptr, indices, data
        )
        return OnlineData(
            NO_WORDS, indptr, indices, data, len(samples), self.n_features
        )

    def value_blocks(self):
        """Yield matrices for products: blocks of uint8, or all samples as CSR."""
        if len(self.words):
            step = max(1, BLOCK_BITS // self.n_features)
            for first in range(0, self.n_samples, step):
                yield unpack_words(self.words[first : first + step], self.n_features)
            return
        data = self.data if len(self.data) else np.ones(len(self.indices))
        shape = (self.n_samples, self.n_features)
        yield sparse.csr_array((data, self.indices, self.indptr), shape=shape)

    def mean_change(self, samples, sizes, power):
        """Compute how much an update changes its own sample's score, on average.

        Parameters
        ----------
        samples : ndarray of shape (n_chosen,), int64
            The samples of the mean.
        sizes : ndarray of shape (n_samples,) or None
            Size of each sample's update. None: 1.
        power : {1, 2}
            2: a step is in proportion to the features. 1: it has their signs.
        """
        if len(self.words):
            norms = np.empty(self.n_samples, dtype=np.int32)
            count_ones(self.words, norms)
        else:
            norms = lengths = np.diff(self.indptr)
            if len(self.data):
                of_sample = np.repeat(np.arange(self.n_samples), lengths)
                with np.errstate(over="ignore"):
                    powers = np.abs(self.data) ** power
                norms = np.bincount(of_sample, powers, minlength=self.n_samples)
        norms = norms[samples].astype(np.float64)
        with np.errstate(over="ignore"):
            changes = norms if sizes is None else norms * sizes[samples]
            mean = float(changes.mean())
        if not np.isfinite(mean):
            raise ValueError(
                "margin='auto' is beyond float64: it grows with the squares of X and "
                "with sample_weight. Divide them by a large number, or set margin=1.0."
            )
        return mean

    def smallest_and_largest(self):
        """Find the smallest and the largest entry, zeros included."""
        if not len(self.data):
            return 0.0, 1.0
        return min(0.0, self.data.min()), max(0.0, self.data.max())


def pack_samples(X, given):
    """Pack samples whose values may not have been checked for NaN and infinity.

    Dense data of zeros and ones become words, which needs no other check.

    Parameters
    ----------
    X : ndarray, CSR or PackedBits of shape (n_samples, n_features)
    given : object
        The data as the user gave them, for messages.
    """
    n_samples, n_features = X.shape
    if isinstance(X, PackedBits):
        return OnlineData.of_words(X.words, n_features)
    if not sparse.issparse(X):
        try:
            words = pack_dense(X, None)
        except ValueError:
            check_finite(X, given)
            X = sparse.csr_array(X)
        else:
            return OnlineData.of_words(words, n_features)
    X = sparse.csr_array(X)
    # One pass tells whether all entries are 1, and sorted without repetition.
    ones, ordered = scan_csr(*_csr_parts(X), n_features)
    if not ones:
        check_finite(X, given)
    if not ordered or not (ones or X.data.all()):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        ones, _ = scan_csr(*_csr_parts(X), n_features)
    indptr, indices, data = _csr_parts(X)
    if ones:
        data = NO_DATA
    return OnlineData(NO_WORDS, indptr, indices, data, n_samples, n_features)


def _csr_parts(X):
    return (
        np.require(X.indptr, np.int64, "A"),
        np.require(X.indices, np.int32, "A"),
        np.require(X.data, np.float64, "A"),
    )
