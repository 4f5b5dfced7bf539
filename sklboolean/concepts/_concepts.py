"""What the concept learners share: two classes, Boolean rows, blocks of bits."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from sklboolean._core.bits import as_words, unpack_words
from sklboolean._core.validation import (
    check_two_classes,
    encode_classes,
    validate_boolean,
)

# Bits of a block: a few MiB of words, whatever the number of rows.
BLOCK_BITS = 2**24


class ConceptLearner(ClassifierMixin, BaseEstimator):
    """Tags of a learner of yes or no that owes nothing to noisy labels."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        # One formula is exact or it is not; it does not aim at noisy classes.
        tags.classifier_tags.poor_score = True
        return tags


def read_examples(learner, X, y, known=None, *, reset=True):
    """Check rows and labels of two classes; set ``classes_``.

    Returns
    -------
    table : words or csr_array
    positive : ndarray of shape (n_samples,), bool
        Rows of the second class.
    """
    table, y = validate_boolean(learner, X, y, reset=reset)
    check_two_classes(y, known)
    learner.classes_, codes = encode_classes(y, known)
    return table, codes.astype(bool)


def row_blocks(table, n_features):
    """Yield slices of a Boolean table and their packed words."""
    step = max(1, BLOCK_BITS // n_features)
    for first in range(0, table.shape[0], step):
        rows = slice(first, min(first + step, table.shape[0]))
        yield rows, as_words(table[rows])


def value_blocks(table, n_features, n_more):
    """Yield slices and their 0/1 values, in blocks that leave room for more bits.

    Parameters
    ----------
    n_more : int
        Bits that the caller computes for each row.
    """
    step = max(1, BLOCK_BITS // (n_features + n_more))
    for first in range(0, table.shape[0], step):
        block = table[first : first + step]
        is_sparse = sparse.issparse(block)
        values = block.toarray() if is_sparse else unpack_words(block, n_features)
        yield slice(first, first + len(values)), np.asarray(values, dtype=bool)
