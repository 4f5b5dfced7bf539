"""Signs of samples in two bits each, and samples that are equal."""

# A sign is 1 (true), -1 (false) or 0 (missing). It takes two bits here: one tells
# whether it is true, the other whether it is false. A sample of n signs is a row of 2
# ceil(n / 8) bytes: first all the bits of the first kind, then all of the second.
#
# Invariant: equal samples have equal bytes, so that samples are merged by sorting rows
# as fixed-size binary values (`merge_equal_samples`).

import numpy as np

from sklboolean.density._information import BLOCK_SIZE


class PackedSigns:
    """Signs of samples in two bits each: whether it is true, and whether it is false.

    Slices of samples are read and set as arrays of int8, which are four times as large.

    Parameters
    ----------
    shape : tuple of int
        Number of samples and of features.
    keys : ndarray of shape (n_samples, n_bytes), dtype uint8, or None
        Equal for equal samples. None: not yet set.
    """

    def __init__(self, shape, keys=None):
        self.shape, self._middle = shape, -(-shape[1] // 8)
        n_bytes = 2 * self._middle
        self.keys = np.empty((shape[0], n_bytes), np.uint8) if keys is None else keys

    @property
    def size(self):
        """Number of signs."""
        return self.shape[0] * self.shape[1]

    def __len__(self):
        return len(self.keys)

    def __setitem__(self, samples, signs):
        self.keys[samples, : self._middle] = np.packbits(signs > 0, axis=1)
        self.keys[samples, self._middle :] = np.packbits(signs < 0, axis=1)

    def __getitem__(self, samples):
        keys, middle = self.keys[samples], 8 * self._middle
        # Of all bytes at once, which is five times as fast as row by row.
        bits = np.unpackbits(keys).view(np.int8).reshape(len(keys), 2 * middle)
        return (bits[:, :middle] - bits[:, middle:])[:, : self.shape[1]]

    def take(self, samples):
        """Select samples, by a mask or by numbers, which stay packed."""
        keys = self.keys[samples]
        return PackedSigns((len(keys), self.shape[1]), keys)


def merge_equal_samples(keys, weights=None):
    """Find the distinct samples of a data set, in the order of their bytes.

    Data sets with few bits repeat many samples; a sum over samples needs each of them
    only once.

    Parameters
    ----------
    keys : PackedSigns or C-contiguous ndarray of shape (n_samples, n_columns)
        Samples with equal bytes are equal. Signs, which are int8, are packed to bits.
    weights : ndarray of shape (n_samples,) or None
        None: 1 for each sample.

    Returns
    -------
    first : ndarray of shape (n_distinct,), dtype int64
        Index of the first of each group of equal samples.
    totals : ndarray of shape (n_distinct,)
        Sum of the weights of each group.
    """
    if not isinstance(keys, PackedSigns) and keys.dtype == np.int8:
        signs, keys = keys, PackedSigns(keys.shape)
        for start in range(0, len(signs), BLOCK_SIZE):
            here = slice(start, start + BLOCK_SIZE)
            keys[here] = signs[here]
    keys = keys.keys if isinstance(keys, PackedSigns) else keys
    # Rows as fixed-size binary values: one sort finds the equal ones.
    samples = keys.view(f"V{keys.itemsize * keys.shape[1]}").ravel()
    _, first, group = np.unique(samples, return_index=True, return_inverse=True)
    return first, np.bincount(group.ravel(), weights, len(first))
