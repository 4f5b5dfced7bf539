"""Several features as one byte: samples laid out for sums over trees' leaves."""

# A block is a run of features of which at most 256 patterns occur in the samples. A
# sample's code in a block numbers its pattern. Thresholds of one column make as many
# patterns as there are thresholds, and one; levels of a column the same; rare features
# hardly ever meet. So a few blocks hold all features of a table, or of a text.
#
# Invariant: the code of a sample in the block of a feature tells the feature's bit.

from dataclasses import dataclass

import numpy as np

from sklboolean.boosting._trees import extend_codes

MOST_CODES = 256


@dataclass(frozen=True, eq=False)
class BitBlocks:
    """Packed samples as a byte for each block of features.

    Attributes
    ----------
    codes : ndarray of shape (n_samples, n_blocks), uint8
    starts : ndarray of shape (n_blocks + 1,), int32
        The number of the first code of each block among the codes of all blocks.
    block_of_feature : ndarray of shape (n_features,), int32
    is_true : ndarray of shape (n_features, 256), uint8
        Whether a feature is true where its block has a code.
    inverted : ndarray of shape (n_features,), uint8
        Whether a feature is true for more than half of its block's codes.
    indptr, listed : ndarrays of shapes (n_codes + 1,), int64, and (n_listed,), int32
        For each code of all blocks the features that are true there; of those that are
        inverted the ones that are false.
    """

    codes: np.ndarray
    starts: np.ndarray
    block_of_feature: np.ndarray
    is_true: np.ndarray
    inverted: np.ndarray
    indptr: np.ndarray
    listed: np.ndarray

    @classmethod
    def of(cls, words, n_features):
        """Lay out packed samples; features come in their order."""
        blocks, first = [], 0
        while first < n_features:
            blocks.append(_fill_block(words, first, n_features))
            first += len(blocks[-1][1])
        sizes = [patterns.shape[1] for _, patterns in blocks]
        lengths = [len(patterns) for _, patterns in blocks]
        is_true = np.zeros((n_features, MOST_CODES), dtype=np.uint8)
        inverted = np.zeros(n_features, dtype=np.uint8)
        lists, first = [], 0
        for _, patterns in blocks:
            features = np.arange(first, first + len(patterns))
            is_true[features, : patterns.shape[1]] = patterns
            inverted[features] = patterns.mean(axis=1) > 0.5
            is_listed = patterns != inverted[features, None]
            lists += [features[is_listed[:, c]] for c in range(patterns.shape[1])]
            first += len(patterns)
        return cls(
            np.stack([codes for codes, _ in blocks], axis=1),
            np.r_[0, np.cumsum(sizes)].astype(np.int32),
            np.repeat(np.arange(len(blocks), dtype=np.int32), lengths),
            is_true,
            inverted,
            np.r_[0, np.cumsum([len(listed) for listed in lists])].astype(np.int64),
            np.concatenate(lists).astype(np.int32),
        )


def _fill_block(words, first, n_features):
    """Number the patterns of as many features as fit into a byte.

    Returns
    -------
    codes : ndarray of shape (n_samples,), uint8
    patterns : ndarray of shape (n_features_of_block, n_codes), bool
        The features that are true for each code.
    """
    codes = np.zeros(len(words), dtype=np.uint16)
    patterns = np.zeros((0, 1), dtype=bool)
    for feature in range(first, n_features):
        is_present = np.zeros(2 * patterns.shape[1], dtype=np.uint8)
        extend_codes(words, feature, codes, is_present)
        codes_present = np.flatnonzero(is_present)
        if len(codes_present) > MOST_CODES:
            codes >>= 1
            break
        patterns = np.vstack(
            [patterns[:, codes_present >> 1], (codes_present & 1).astype(bool)]
        )
        number = np.cumsum(is_present, dtype=np.uint16) - np.uint16(1)
        codes = number[codes]
    return codes.astype(np.uint8), patterns
