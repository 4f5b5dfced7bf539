"""The samples of a rule list, and what it decides about them."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from sklboolean._core.bits import unpack_words
from sklboolean._core.held_out import stratified_folds
from sklboolean.rules._gain_search import first_satisfied

# Samples whose labels a model predicts at a time.
PREDICTED = 2**16


class Decisions(NamedTuple):
    """Decision of each rule; the last entry is for the default.

    Attributes
    ----------
    counts : ndarray of shape (n_rules + 1, n_classes), float64
        Weight of the samples of each class.
    n_samples : ndarray of shape (n_rules + 1,), int64
    """

    counts: np.ndarray
    n_samples: np.ndarray

    def without_last(self):
        """Leave what the last rule decides to the default."""
        return Decisions(*(np.concatenate([n[:-2], [n[-2] + n[-1]]]) for n in self))

    def errors(self, labels):
        """Compute the weight of the samples that each of these labels gets wrong."""
        wrong = self.counts.copy()
        wrong[np.arange(len(labels)), labels] = 0.0
        return wrong.sum(axis=1)


@dataclass(frozen=True, eq=False)
class RuleSamples:
    """Samples in this process.

    Attributes
    ----------
    words : ndarray of uint64 words
    codes : ndarray of shape (n_samples,), int
        The class number of each sample.
    weights : ndarray of shape (n_samples,), float64
    n_features, n_classes : int
    searches : dict
        The samples laid out for searches, if any, by the side of the directions. Others
        with the same words share it.
    """

    words: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    n_features: int
    n_classes: int
    searches: dict = field(default_factory=dict)

    def __len__(self):
        return len(self.codes)

    def masses(self):
        """Compute the weight of each class."""
        return np.bincount(self.codes, self.weights, minlength=self.n_classes)

    def decisions(self, conjunctions):
        """Count what each of some rules decides."""
        decided = first_satisfied(self.words, conjunctions)
        counts = np.zeros((len(conjunctions) + 1, self.n_classes))
        np.add.at(counts, (decided, self.codes), self.weights)
        return Decisions(counts, np.bincount(decided, minlength=len(counts)))

    def take(self, samples):
        """Return some of the samples."""
        return RuleSamples(
            self.words[samples], self.codes[samples], self.weights[samples],
            self.n_features, self.n_classes,
        )  # fmt: skip

    def draw(self, n_most, rng):
        """Return at most so many samples, drawn at random where there are more."""
        return self.take(
            rng.permutation(len(self))[:n_most] if len(self) > n_most else slice(None)
        )

    def folds(self, n_folds, n_parts, rng):
        """Split the samples into those that are seen and those held out."""
        fold = stratified_folds(self.codes, n_folds, rng)
        return [(self.take(fold != k), self.take(fold == k)) for k in range(n_parts)]

    def bits(self):
        """Return zeros and ones, of shape (n_samples, n_features)."""
        return unpack_words(self.words, self.n_features)

    def trusted(self, model, classes):
        """Set the weights of samples to 0 whose label a model contradicts."""
        weights = self.weights.copy()
        for first in range(0, len(self), PREDICTED):
            block = slice(first, first + PREDICTED)
            predicted = model.predict(unpack_words(self.words[block], self.n_features))
            weights[block][predicted != classes[self.codes[block]]] = 0.0
        return replace(self, weights=weights)

    def search(self, params, side=1):
        """Lay out the samples for searches, once."""
        if side not in self.searches:
            search = params.conjunction_search(self.words, self.n_features, side)
            self.searches[side] = search
        return self.searches[side]
