"""Groups of features of which at most one is true in a sample: one-hot columns.

A sample then is one byte for each group: the level, which tells the feature that is
true. Two samples share a feature where their levels are equal, and comparing bytes
takes a third of the time of counting bits. Groups are found in the samples of a model.
Samples that do not keep to them are compared by their bits.
"""

from dataclasses import dataclass

import numpy as np

from sklboolean._core._cpu import cpu_path
from sklboolean._core._packing import fill_levels
from sklboolean._core._popcount import PANEL, SMALL_COUNTS, count_ones
from sklboolean._core.bits import transpose_words

# The levels of a sample fill a cache line at most. Where no feature of a group is true,
# the level of a row is 0 and that of a column 255.
MOST_GROUPS = 64
MOST_LEVELS = 254
NO_ROW_LEVEL, NO_COLUMN_LEVEL = 0, 255


@dataclass(frozen=True, eq=False)
class OneHotGroups:
    """Groups of the bits of packed samples.

    Attributes
    ----------
    n_groups : int
    group, level : ndarrays of shape (64 * n_words,), uint8
        The group of each bit, and the level that it stands for there.
    used : ndarray of shape (n_words,), uint64
        The bits that are true in a sample of the model.
    """

    n_groups: int
    group: np.ndarray
    level: np.ndarray
    used: np.ndarray

    @classmethod
    def find(cls, rows):
        """Find groups in packed samples.

        Features come in the order of their frequency, and each joins the first group
        without a feature that is true in a sample together with it.

        Parameters
        ----------
        rows : BitRows
            Samples whose features are all packed.

        Returns
        -------
        groups : OneHotGroups or None
            None where levels would not be quicker than bits.
        """
        words, most = rows.words, int(rows.ones.max(initial=0))
        if cpu_path() != "avx2" or not 0 < most < SMALL_COUNTS:
            return None
        columns = transpose_words(words, 64 * words.shape[1])
        frequencies = np.empty(len(columns), dtype=np.int32)
        count_ones(columns, frequencies)
        # Greedy colouring: two features clash if a sample has both. Frequent ones come
        # first, as they clash with most others.
        order = np.argsort(-frequencies, kind="stable")
        samples_of_group = np.zeros((MOST_GROUPS, columns.shape[1]), dtype=np.uint64)
        n_levels = np.zeros(MOST_GROUPS, dtype=np.int64)
        group, level = np.zeros((2, len(columns)), dtype=np.uint8)
        for feature in order[: np.count_nonzero(frequencies)]:
            clashes = (samples_of_group & columns[feature]).any(axis=1)
            # A group is full when a byte holds no more levels.
            clashes |= n_levels == MOST_LEVELS
            if clashes.all():
                return None
            first = np.argmin(clashes)
            samples_of_group[first] |= columns[feature]
            n_levels[first] += 1
            group[feature], level[feature] = first, n_levels[first]
        used = np.bitwise_or.reduce(words, axis=0)
        return cls(int(np.count_nonzero(n_levels)), group, level, used)

    def row_levels(self, words):
        """Compute the levels of samples of the model; None if they are others."""
        levels = np.full((len(words), self.n_groups, 1), NO_ROW_LEVEL, dtype=np.uint8)
        fits = np.ones(len(words), dtype=np.uint8)
        fill_levels(words, self.group, self.level, NO_ROW_LEVEL, levels, fits)
        if (words & ~self.used).any() or not fits.all():
            return None
        return levels[:, :, 0]

    def column_levels(self, words):
        """Compute the levels of any samples, in panels.

        Returns
        -------
        levels : ndarray of shape (n_panels, n_groups, 32), uint8
        fits : ndarray of shape (n_panels,), uint8
            Whether all samples of a panel keep to the groups.
        """
        n_panels = -(-len(words) // PANEL)
        shape = n_panels, self.n_groups, PANEL
        levels = np.full(shape, NO_COLUMN_LEVEL, dtype=np.uint8)
        fits = np.ones(n_panels, dtype=np.uint8)
        # A bit that no sample of the model has is shared with none.
        words = words & self.used
        fill_levels(words, self.group, self.level, NO_COLUMN_LEVEL, levels, fits)
        return levels, fits
