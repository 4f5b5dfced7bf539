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
    indptr, edges : ndarrays of shapes (n_features + 1,), int64, and (n_edges,), int32
        For each feature the runs of codes of all blocks where it is true: the first
        code of each run, and the code after its last.
    """

    codes: np.ndarray
    starts: np.ndarray
    block_of_feature: np.ndarray
    is_true: np.ndarray
    indptr: np.ndarray
    edges: np.ndarray

    @classmethod
    def of(cls, words, n_features):
        """Lay out packed samples; features come in their order."""
        blocks, first = [], 0
        while first < n_features:
            blocks.append(_fill_block(words, first, n_features))
            first += len(blocks[-1][1])
        sizes = [patterns.shape[1] for _, patterns in blocks]
        lengths = [len(patterns) for _, patterns in blocks]
        starts = np.r_[0, np.cumsum(sizes)].astype(np.int32)
        is_true = np.zeros((n_features, MOST_CODES), dtype=np.uint8)
        edges, n_edges, first = [], [], 0
        for (_, patterns), start in zip(blocks, starts[:-1], strict=True):
            is_true[first : first + len(patterns), : patterns.shape[1]] = patterns
            changes = np.diff(patterns, axis=1, prepend=False, append=False)
            features, codes = np.nonzero(changes)
            edges.append(codes + start)
            n_edges.append(np.bincount(features, minlength=len(patterns)))
            first += len(patterns)
        return cls(
            np.stack([codes for codes, _ in blocks], axis=1),
            starts,
            np.repeat(np.arange(len(blocks), dtype=np.int32), lengths),
            is_true,
            np.r_[0, np.cumsum(np.concatenate(n_edges))].astype(np.int64),
            np.concatenate(edges).astype(np.int32),
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
