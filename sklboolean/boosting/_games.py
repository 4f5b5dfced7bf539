"""The samples of a game, and votes on samples that its hypotheses were not trained on.

Such votes choose the schedule, calibrate probabilities and show the quality of labels.
Several classes may be several games, of two classes each.
"""

# Of n classes "ovr" plays n games, each on all samples, and "ovo" n (n - 1) / 2, each
# on the samples of two classes. A fold trains on its samples and votes on the others.
# Its margins are in the order of the samples of the user, NaN where no fold tests.

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state

from sklboolean._core.calibration import fit_slope
from sklboolean._core.labels import margins_of_labels
from sklboolean._core.parallel import in_jobs
from sklboolean.boosting._boosting import Validation, boost
from sklboolean.boosting._votes import MajorityVotes, class_scores, samples_of_game
from sklboolean.boosting._weak_learners import WeakLearner, take_samples


@dataclass(frozen=True)
class GameData:
    """The samples of a game.

    Attributes
    ----------
    learner : StumpWeakLearner or ClassifierWeakLearner
        Learner of the samples that train.
    train_index : ndarray of shape (n_train,), int
        Their numbers in the user's X.
    validation : Validation or None
        Held-out samples, which may end the game early.
    validation_index : ndarray of int or None
        Their numbers; None in one of several games.
    """

    learner: WeakLearner
    train_index: np.ndarray
    validation: Validation | None = None
    validation_index: np.ndarray | None = None

    def of_game(self, game):
        """Select the samples of a game of two classes."""
        learner, samples = part_of_game(self.learner, game)
        validation = self.validation
        if validation is not None:
            validation = validation.of_game(game, learner.estimator, samples)
        return GameData(learner, self.train_index[samples], validation)

    def validation_scores(self):
        """Return the scores of the held-out samples after each round, or None."""
        return None if self.validation is None else np.array(self.validation.scores)


@dataclass(frozen=True)
class HeldOutVotes:
    """Votes of hypotheses on samples that they were not trained on.

    Attributes
    ----------
    index : ndarray of shape (n_samples,), int
        Numbers of the samples in the user's X.
    margins : ndarray of shape (n_samples,) or (n_samples, n_classes), float64
        Margins of the vote; NaN where none was held.
    samples : WeakLearner or Validation
        Has their ``codes``, the class of each, and ``sample_weight``.
    """

    index: np.ndarray
    margins: np.ndarray
    samples: WeakLearner | Validation

    def slope(self):
        """Fit the slope that turns margins into probabilities."""
        tested = ~np.isnan(self.margins).reshape(len(self.margins), -1)[:, 0]
        codes, weights = self.samples.codes, self.samples.sample_weight
        weights = None if weights is None else weights[tested]
        return fit_slope(self.margins[tested], codes[tested], weights)


def calibration_share(n_samples):
    """Return the share of the samples that play a game only to calibrate."""
    return max(0.25, min(0.5, 500 / n_samples))


def label_quality(votes, n_samples) -> np.ndarray:
    """Compute how far held-out votes are for the label of each sample.

    Parameters
    ----------
    votes : list of HeldOutVotes
    n_samples : int

    Returns
    -------
    quality : ndarray of shape (n_samples,), float64
        From -1 to 1, NaN for samples that no vote was held on.
    """
    quality = np.full(n_samples, np.nan)
    for held_out in votes:
        quality[held_out.index] = margins_of_labels(
            held_out.margins, held_out.samples.codes
        )
    return quality


def tests_of_games(tests):
    """Join the stumps of several games of two classes for `count_stump_votes`.

    Parameters
    ----------
    tests : list of ndarray of shape (n_stumps, 2 + max_literals), int
        Those of each game, with the classes 0 and 1.

    Returns
    -------
    joined : ndarray of shape (n_all_stumps, 2 + largest_max_literals), int
        Class 0 or 1 of game i is column 2 i or 2 i + 1 of the votes.
    """
    width = max(of_game.shape[1] for of_game in tests)
    joined = []
    for i, of_game in enumerate(tests):
        padding = [(0, 0), (0, width - of_game.shape[1])]
        padded = np.pad(of_game, padding, constant_values=-1)
        padded[:, :2] += 2 * i
        joined.append(padded)
    return np.concatenate(joined)


def splits_of(codes, cv, seed):
    """Split samples into those that train and those that test, for each fold.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), int
    cv : int, splitter or iterable of splits
    seed : int

    Returns
    -------
    splits : list of (train, test)
    """
    if isinstance(cv, Integral):
        # No more folds than a class has samples: else some would lack it. A game of a
        # class with one sample is not played where that sample is tested.
        fewest = np.bincount(codes).min()
        kind = KFold if fewest < 2 else StratifiedKFold
        cv = kind(max(2, min(cv, fewest)), shuffle=True, random_state=seed)
    splitter = check_cv(cv, codes, classifier=True)
    return list(splitter.split(np.zeros((len(codes), 1)), codes))


def held_out_margins(weak_learner, games, schedules, splits, seed, n_jobs=None):
    """Compute the margin of each sample under votes that were not trained on it.

    Parameters
    ----------
    weak_learner : StumpWeakLearner or ClassifierWeakLearner
        Weak learner of all samples.
    games : list of ClassGame or None
    schedules : list of Schedule
    splits : list of (train, test)
    seed : int
        For the games, the same for each schedule.
    n_jobs : int or None

    Returns
    -------
    margins : ndarray of shape (n_schedules, n_samples[, n_classes])
        NaN for samples that no fold tests.
    """
    codes, n_classes = weak_learner.codes, weak_learner.n_classes
    n_jobs = n_jobs if weak_learner.fills_threads else 1
    tasks = (
        (weak_learner, games, schedule, train, test, seed)
        for schedule in schedules
        for train, test in splits
    )
    margins_by_fold = in_jobs(
        margins_of_fold, tasks, n_jobs, require=weak_learner.require
    )
    shape = (len(codes),) if n_classes == 2 else (len(codes), n_classes)
    margins = np.full((len(schedules), *shape), np.nan)
    for i, margins_of_test in enumerate(margins_by_fold):
        test = splits[i % len(splits)][1]
        margins[i // len(splits), test] = margins_of_test
    return margins


def margins_of_fold(weak_learner, games, schedule, train, test, seed):
    """Boost some samples, and compute the margins of others."""
    fold = weak_learner.take(train, weak_learner.codes[train], weak_learner.classes)
    votes = []
    for game in games or [None]:
        learner, samples = fold, slice(None)
        if game is not None:
            learner, samples = part_of_game(fold, game)
        # None of the training samples is of these two classes.
        if not len(learner.codes):
            votes.append(np.zeros((len(test), 2), dtype=np.int64))
            continue
        counts = MajorityVotes(learner.codes, learner.n_classes, learner.sample_weight)
        rng = check_random_state(seed)
        state = boost(learner, counts, schedule, rng, measured=False)
        hypotheses = state.hypotheses or [state.best_failure]
        X = take_samples(weak_learner.estimator, weak_learner.X, test, train[samples])
        votes.append(learner.votes(hypotheses, X))
    return class_scores(np.hstack(votes), games)


def part_of_game(weak_learner, game):
    """Make the weak learner of the two classes of a game; return its samples too."""
    samples, codes = samples_of_game(weak_learner.codes, game)
    classes = np.arange(2)
    if game.first is not None:
        classes = weak_learner.classes[list(game)]
    return weak_learner.take(samples, codes, classes), samples
