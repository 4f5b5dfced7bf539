"""Base of classifiers of one concept: two classes and Boolean samples."""

from scipy import sparse

from sklboolean._core.base import IncrementalClassifier
from sklboolean._core.bits import as_words, unpack_words
from sklboolean._core.validation import validate_boolean

BLOCK_BITS = 2**24  # of one block of samples: a few MiB of words


class ConceptClassifier(IncrementalClassifier):
    """Base class of binary classifiers that need labels without noise."""

    _binary_only = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # A single formula is right or it is not; noisy classes are out of reach.
        tags.classifier_tags.poor_score = True
        return tags

    def _check_X(self, X, y="no_validation", *, reset):
        return validate_boolean(self, X, y, reset=reset)

    def _word_blocks(self, table):
        """Yield slices of the samples and their packed words."""
        step = max(1, BLOCK_BITS // self.n_features_in_)
        for first in range(0, table.shape[0], step):
            samples = slice(first, min(first + step, table.shape[0]))
            yield samples, as_words(table[samples])

    def _value_blocks(self, table, n_more):
        """Yield slices and bool values, leaving room for ``n_more`` bits per sample."""
        n_features = self.n_features_in_
        step = max(1, BLOCK_BITS // (n_features + n_more))
        for first in range(0, table.shape[0], step):
            block = table[first : first + step]
            is_sparse = sparse.issparse(block)
            values = block.toarray() if is_sparse else unpack_words(block, n_features)
            yield slice(first, first + len(values)), values.astype(bool)
