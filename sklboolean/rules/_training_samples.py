"""The samples of a conjunction model: all of them, and parts that choose C."""

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from sklboolean._core.parallel import in_turn
from sklboolean.rules._column_generation import ColumnGeneration


@dataclass(frozen=True)
class TrainingSamples:
    """Samples in this process.

    Attributes
    ----------
    words : ndarray of uint64 words
    weights : ndarray of shape (n_samples,)
    targets : ndarray of shape (n_outputs, n_samples)
    strata : ndarray of shape (n_samples,), int
        Held-out samples are drawn from each of these.
    loss : {"logistic", "softmax", "squared"}
    most : float
        Conjunctions, besides single features, for which there is memory.
    """

    words: np.ndarray
    weights: np.ndarray
    targets: np.ndarray
    strata: np.ndarray
    loss: str
    most: float

    def largest_weight(self):
        """Return the largest weight of a sample."""
        return float(self.weights.max())

    def generation(self, space, n_jobs):
        """Prepare a fit to all samples."""
        return ColumnGeneration(
            self.words, self.weights, self.targets, self.loss, space, n_jobs, self.most
        )

    def parts(self, model):
        """Split the samples as the parameters of a model say."""
        return [
            TrainingPart(self, train, test)
            for train, test in model._split(self.strata, self.weights)
        ]

    @staticmethod
    def map(function, parts, n_jobs):
        """Yield ``function(part)`` for each part."""
        return Parallel(n_jobs=n_jobs, prefer="threads", return_as=in_turn())(
            delayed(function)(part) for part in parts
        )

    def held_out_scores(self, parts, scores):
        """Write the scores of held-out samples in the order of all samples."""
        n_outputs = len(self.targets)
        held_out = np.full((len(self.words), n_outputs), np.nan)
        for part, of_part in zip(parts, scores, strict=False):
            held_out[part.test] = of_part
        return held_out if n_outputs > 1 else held_out[:, 0]


@dataclass(frozen=True)
class TrainingPart:
    """Samples to fit and samples that are held out, by their numbers."""

    samples: TrainingSamples
    train: np.ndarray
    test: np.ndarray

    def generation(self, space):
        """Prepare a fit to the samples that are not held out."""
        whole, train = self.samples, self.train
        return ColumnGeneration(
            whole.words[train], whole.weights[train], whole.targets[:, train],
            whole.loss, space,
        )  # fmt: skip

    def held_out(self):
        """Return the words, weights and targets of the others."""
        whole, test = self.samples, self.test
        return whole.words[test], whole.weights[test], whole.targets[:, test].T
