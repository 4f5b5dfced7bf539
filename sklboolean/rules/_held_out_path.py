"""The path of C: models of all values of C, judged by held-out samples.

The models of one part of the samples are fitted from the smallest C on, each from the
one before, while the loss of the held-out samples falls.
"""

# For each C, ascending, the model begins with the weights of the one before. The watch
# measures the held-out loss after each step and ends a C that is clearly worse, so that
# large values of C, which are slow, are tried only while they may be better.

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sklboolean.rules._column_generation import ColumnGeneration

# Tolerance of models along the path, which only choose C.
PATH_TOL = 0.03
# Standard errors by which the held-out loss of a C is above the least, so that larger
# values of C are not tried.
CLEARLY = 3
# A loss that is higher by less than this share of it is the same, up to rounding: that
# of models without a conjunction at the first values of C.
ROUNDING = 1e-9


@dataclass(frozen=True)
class TrainingSamples:
    """Samples of a conjunction model.

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
    most: float = np.inf

    def generation(self, space, n_jobs=None):
        """Prepare a fit to the samples."""
        return ColumnGeneration(
            self.words, self.weights, self.targets, self.loss, space, n_jobs, self.most
        )

    def take(self, index):
        """Return some of the samples."""
        return TrainingSamples(
            self.words[index], self.weights[index], self.targets[:, index],
            self.strata[index], self.loss,
        )  # fmt: skip


@dataclass(frozen=True)
class HeldOutLosses:
    """The losses of the held-out samples, their weights, and their scores."""

    values: np.ndarray
    weights: np.ndarray
    scores: np.ndarray

    @cached_property
    def mean(self):
        """The weighted mean."""
        return float(np.average(self.values, weights=self.weights))

    @property
    def most_equal(self):
        """The largest mean of other losses that is the same up to rounding."""
        return self.mean * (1 + ROUNDING)

    def is_clearly_above(self, others):
        """Test whether the mean is above that of other losses of the same samples.

        By more than ``CLEARLY`` standard errors of the mean difference, and more than
        rounding.
        """
        difference = self.mean - others.mean
        scatter = self.weights * (self.values - others.values - difference)
        error = np.sqrt(scatter @ scatter) / self.weights.sum()
        return bool(self.mean > others.most_equal and difference > CLEARLY * error)


class HeldOutWatch:
    """Held-out losses of a C, which end it when it is clearly worse than another.

    It is worse when the mean loss is above the least of the values before and rises
    from one solution to the next, or in three steps of a solution in turn. Of three
    classes or more, one solution is enough if its loss is clearly above the least, or
    above that of the C before, which was above the least, too.

    Parameters
    ----------
    held_out_losses : callable
        Computes the `HeldOutLosses` of the present model.
    best : HeldOutLosses or None
        Those with the least mean of the values of C before; None for the first.
    before : float
        The mean loss of the last C before.

    Attributes
    ----------
    last : HeldOutLosses
        Losses of the last solution.
    """

    def __init__(self, held_out_losses, best, before):
        self.held_out_losses, self.best, self.before = held_out_losses, best, before
        self.least = np.inf if best is None else best.most_equal
        self.of_steps, self.of_solutions = [], []

    def after_step(self):
        """Measure the loss; return whether it has risen for three steps."""
        if np.isinf(self.least):
            return False
        self.of_steps.append(self.held_out_losses().mean)
        return self._has_risen(self.of_steps, 3)

    def after_solution(self):
        """Measure the loss; return whether it has risen."""
        self.last = self.held_out_losses()
        self.of_solutions.append(self.last.mean)
        return (
            self._has_risen(self.of_solutions, 1)
            or self._has_risen(self.of_steps, 3)
            or self._is_lost()
        )

    def _is_lost(self):
        """Test whether one solution is enough to see that the loss is not the least."""
        if self.best is None or self.last.scores.shape[1] == 1:
            return False
        is_second = self.least < self.before < self.last.mean
        return is_second or self.last.is_clearly_above(self.best)

    def _has_risen(self, losses, times):
        last = [self.least, *losses[-times - 1 :]]
        return len(last) == times + 2 and (
            losses[-1] > self.least and (np.diff(last[1:]) > 0).all()
        )


@dataclass
class HeldOutPath:
    """The models of a path, and their losses on held-out samples.

    Attributes
    ----------
    losses : ndarray of shape (n_Cs,)
        Mean held-out loss; infinite for values of C that were left out.
    solutions : list of ConjunctionSum
        The model of each C that was not left out.
    scores : list of ndarray of shape (n_held_out, n_outputs)
        Scores of the held-out samples, by each of these models.
    is_cut : bool
        Whether the limit of work ended the path while the loss fell.
    """

    losses: np.ndarray
    solutions: list = field(default_factory=list)
    scores: list = field(default_factory=list)
    is_cut: bool = False


def fit_path(train, held_out, space, Cs, loss, max_work, n_jobs=1):
    """Fit to some samples for each C, from the smallest on.

    The path ends with the second C in turn whose loss is above the least, with one
    that is clearly above it, or at the limit of work.

    Parameters
    ----------
    train, held_out : TrainingSamples
    space : ConjunctionSpace
    Cs : ndarray of shape (n_Cs,), ascending
    loss : callable
        ``loss(scores, targets)`` computes the losses of samples.
    max_work : float
    n_jobs : int or None

    Returns
    -------
    path : HeldOutPath
    """
    model, path, best = (
        train.generation(space, n_jobs),
        HeldOutPath(np.full(len(Cs), np.inf)),
        None,
    )
    model.add_features()

    def held_out_losses():
        scores = model.solution().scores(held_out.words)
        values = loss(scores, held_out.targets.T)
        return HeldOutLosses(values, held_out.weights, scores)

    for k, C in enumerate(Cs):
        before = path.losses[k - 1]
        watch = HeldOutWatch(held_out_losses, best, before)
        work_left = max_work - model.work
        model.minimize(C, PATH_TOL, exact=False, watch=watch, max_work=work_left)
        is_over = k > 0 and model.work >= max_work
        if is_over:
            path.is_cut = min(before, watch.last.mean) <= best.mean
            # An unfinished model counts where it is better than those before.
            if not watch.last.mean < best.mean:
                break
        path.solutions.append(model.solution())
        path.scores.append(watch.last.scores)
        path.losses[k] = watch.last.mean
        if best is None or watch.last.mean <= best.most_equal:
            best = watch.last
        elif before > best.most_equal or watch.last.is_clearly_above(best):
            break
        if is_over:
            break
    return path
