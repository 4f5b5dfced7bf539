"""Choosing the schedule of a booster by cross-validation.

On clean majorities the boldest assumptions win. Where classes overlap, hypotheses must
be judged on samples that they were not trained on. No schedule is best for all data.
"""

# Each candidate changes gamma, or holds samples out. All candidates play the same folds
# with the same seeds. The score is the accuracy, by weight, of votes that did not train
# on a sample. The choice goes from the cheapest to the most expensive:
# 1. the candidates, with the first weak learner and the first kind of games;
# 2. other weak learners, which must be better by more than a standard error;
# 3. other games of classes, which must be better at all.
# The held-out margins of the choice also calibrate probabilities and show wrong labels.

from dataclasses import replace
from functools import partial
from numbers import Integral
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from sklboolean._core.calibration import predicted_codes
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.meta import draw_seed
from sklboolean._core.parameters import check_choice, check_integer
from sklboolean.boosting._boosting import Schedule
from sklboolean.boosting._games import held_out_margins, splits_of
from sklboolean.boosting._majority_game import max_gamma
from sklboolean.boosting._schedules import BoostingSchedule

# The share of the samples that the schedule "fixed" gives up.
GIVEN_UP = 0.2
# Those that are tried with conjunctions.
FOR_OTHERS = ("measured", "holdout_edges")
CANDIDATES = ("fixed", "measured", "holdout_train_edges", "holdout_edges")
FEW_GAMES = 10  # all pairs of five classes


@old_parameters(policies="candidates")
class CrossValidatedSchedule(BoostingSchedule):
    """Choose by cross-validation what a booster assumes of its weak hypotheses.

    It is a value of ``schedule`` in `BoostByMajority` for a given number of rounds, and
    its default. Each candidate is a way to set the edge that is assumed in each round.
    All are compared by held-out accuracy, and the best one boosts all samples: with
    four candidates and three folds 13 fits in place of one. With more than ten games of
    classes only the first fold compares.

    Parameters
    ----------
    candidates : sequence of str, default=("fixed", "measured", \
"holdout_train_edges", "holdout_edges")
        The schedules to compare. The first one wins ties. Give fewer to save time.

        * "fixed": the edge with which the rounds leave an error of 0.2. It is the
          boldest one and gives up a fifth of the samples.
        * "measured": the mean of the last 20 edges on the training samples.
        * "holdout_edges": in each round a share of the samples is held out, half of
          them unless ``holdout`` says otherwise. A hypothesis without an edge on these
          is rejected. The edge is the mean of the last 20 held-out edges.
        * "holdout_train_edges": the same, but the edge is that on the training samples.

        With ``holdout`` all candidates hold out samples.
    cv : int, splitter or iterable, default=3
        Folds, as in scikit-learn. An int is the number of stratified folds; classes
        with fewer samples reduce it.
    target_error : float or None, default=None
        Training error for which the rounds are planned, by weight, above 0 and below 1.
        None: less than that of a single sample.
    sampling : {"auto", "weight", "resample"}, default="auto"
        Whether the weak learner is given the weights of a round, or samples drawn in
        proportion to them, as in `BoostingSchedule`.
    n_samples_weak : int or None, default=None
        Number of samples to draw for each hypothesis, where samples are drawn. None: as
        many as there are.
    holdout : float or None, default=None
        Share of the samples on which a hypothesis is judged and not trained, above 0
        and below 1; for all candidates. None: one half, for those that hold out.
    weak_failure : {"auto", "abort", "replan", "raise"}, default="auto"
        What to do when a hypothesis has no edge, as in `BoostingSchedule`.
    max_tries : int, default=1
        Number of fits in a round until one has the assumed edge; the best counts.

    See Also
    --------
    BoostingSchedule : A schedule that is given.

    Examples
    --------
    >>> from sklboolean import BoostByMajority
    >>> from sklboolean.boosting import CrossValidatedSchedule
    >>> from sklboolean.datasets import make_long_servedio
    >>> X, y = make_long_servedio(300, noise=0.1, random_state=0)
    >>> schedule = CrossValidatedSchedule(["fixed", "measured"], cv=5)
    >>> booster = BoostByMajority(schedule=schedule, n_estimators=51, random_state=0)
    >>> sorted(booster.fit(X, y).schedule_scores_)
    ['fixed', 'measured']
    """

    def __init__(
        self, candidates=CANDIDATES, *, cv=3, target_error=None, sampling="auto",
        n_samples_weak=None, holdout=None, weak_failure="auto", max_tries=1,
    ):  # fmt: skip
        self.candidates = candidates
        self.cv = cv
        self.target_error = target_error
        self.sampling = sampling
        self.n_samples_weak = n_samples_weak
        self.holdout = holdout
        self.weak_failure = weak_failure
        self.max_tries = max_tries

    def _choose(self, learners, schedule, games, rng, folds, n_jobs):
        """Choose what has the largest held-out accuracy.

        Parameters
        ----------
        learners : list of StumpWeakLearner, or of one ClassifierWeakLearner
            Over all samples. One that follows is chosen when it is clearly better than
            those before it.
        schedule : Schedule
            With a number of rounds. The candidates replace its gamma and holdout.
        games : list of (list of ClassGame or None)
            What may decide between the classes. One that follows is taken when its
            held-out accuracy is larger. Many games are tried with the learner and the
            candidate that are best for those before, and the first fold chooses what
            plays all folds.
        rng : RandomState
        folds : int, splitter or iterable of splits of the samples
        n_jobs : int or None

        Returns
        -------
        choice : Choice
        """
        schedules = self._schedules(schedule)
        first = learners[0]
        # A class of one sample cannot be both trained on and tested.
        if first.n_classes == 2 and np.bincount(first.codes).min() < 2:
            name = next(iter(schedules))
            return Choice(first, games[0], name, schedules[name])
        seed = draw_seed(rng)
        test = partial(
            held_out_choices, splits=splits_of(first.codes, folds, seed), seed=seed,
            n_jobs=n_jobs,
        )  # fmt: skip
        best = None
        for kind in games:
            if len(kind or ()) <= FEW_GAMES:
                choice = choose_learner(learners, kind, schedules, test)
            else:
                tried = learners, kind, schedules
                if best is not None:
                    tried = [best.learner], kind, {best.name: best.schedule}
                choice = choose_by_one_fold(*tried, test)
            if best is None or choice.score > best.score:
                best = choice
        return best

    def _schedules(self, schedule):
        """Make the schedule of each candidate."""
        if isinstance(self.candidates, str) or not len(self.candidates):
            raise ValueError(
                f"candidates must be a list of some of {list(CANDIDATES)}; got "
                f"{self.candidates!r}."
            )
        holdout = schedule.holdout or 0.5
        options_by_name = {
            "fixed": {"gamma": max_gamma(schedule.n_rounds, GIVEN_UP)},
            "measured": {},
            "holdout_train_edges": {"holdout": holdout, "follow_holdout": False},
            "holdout_edges": {"holdout": holdout},
        }
        schedules = {}
        for name in self.candidates:
            options = options_by_name[check_choice(name, "candidates", CANDIDATES)]
            schedules[name] = replace(schedule, **options)
        if schedule.holdout is not None and "holdout_edges" in schedules:
            # With samples held out "measured" is the same schedule.
            schedules.pop("measured", None)
        return schedules


class Choice(NamedTuple):
    """Schedule of a booster, and its accuracy on held-out samples.

    Attributes
    ----------
    learner : StumpWeakLearner or ClassifierWeakLearner
    games : list of ClassGame or None
    name : str
        Name of the candidate.
    schedule : Schedule
    hits : ndarray of shape (n_tested,), bool
        Whether the votes, which were not trained on them, are right on samples.
    weights : ndarray of shape (n_tested,), float64, or None
    margins : ndarray of shape (n_samples[, n_classes]) or None
        NaN for samples that no fold tests. None, as all that follow, when one of two
        classes has one sample only: nothing can be held out.
    score : float
        Held-out accuracy, by weight.
    scores : dict of float, or None
        That of each candidate.
    """

    learner: object
    games: list | None
    name: str
    schedule: Schedule
    hits: np.ndarray | None = None
    weights: np.ndarray | None = None
    margins: np.ndarray | None = None
    score: float | None = None
    scores: dict | None = None

    def is_clearly_better(self, other):
        """Test if its accuracy is larger by more than a standard error."""
        gains = self.hits.astype(np.float64) - other.hits
        mean = np.average(gains, weights=self.weights)
        variance = np.average((gains - mean) ** 2, weights=self.weights)
        return mean > np.sqrt(variance / len(gains))


def choose_learner(learners, games, schedules, test):
    """Choose the weak learner and its schedule for given games.

    Parameters
    ----------
    learners, games
        As for ``_choose``, but one kind of games.
    schedules : dict of Schedule
    test : callable
        `held_out_choices` with its last arguments given.

    Returns
    -------
    choice : Choice
    """
    names = [name for name in FOR_OTHERS if name in schedules]
    of_others = {name: schedules[name] for name in names} or schedules
    best = None
    for learner in learners:
        choices = test(learner, games, schedules if best is None else of_others)
        choice = max(choices, key=attrgetter("score"))  # the first of equals
        if best is None or choice.is_clearly_better(best):
            best = choice._replace(
                scores={tried.name: tried.score for tried in choices}
            )
    return best


def choose_by_one_fold(learners, games, schedules, test):
    """Choose as `choose_learner` by the first fold; the choice plays all folds."""
    first, others = test.keywords["splits"][:1], test.keywords["splits"][1:]
    chosen = choose_learner(learners, games, schedules, partial(test, splits=first))
    if not others:
        return chosen
    playing = {chosen.name: chosen.schedule}
    (tested,) = test(chosen.learner, games, playing, splits=others)
    margins = np.where(np.isnan(tested.margins), chosen.margins, tested.margins)
    return choice_of(*tested[:4], margins)._replace(scores=chosen.scores)


def held_out_choices(weak_learner, games, schedules, splits, seed, n_jobs):
    """Test schedules on held-out samples.

    Parameters
    ----------
    weak_learner, games, splits, seed, n_jobs
        As for `held_out_margins`.
    schedules : dict of Schedule

    Returns
    -------
    choices : list of Choice
    """
    margins = held_out_margins(
        weak_learner, games, list(schedules.values()), splits, seed, n_jobs
    )
    return [
        choice_of(weak_learner, games, name, schedule, of_schedule)
        for (name, schedule), of_schedule in zip(
            schedules.items(), margins, strict=True
        )
    ]


def choice_of(weak_learner, games, name, schedule, margins):
    """Judge held-out margins, which are NaN for samples that no fold tests."""
    codes, weights = weak_learner.codes, weak_learner.sample_weight
    tested = ~np.isnan(margins.reshape(len(codes), -1)[:, 0])
    hits = predicted_codes(margins[tested]) == codes[tested]
    weights = None if weights is None else weights[tested]
    score = float(np.average(hits, weights=weights))
    return Choice(weak_learner, games, name, schedule, hits, weights, margins, score)


def folds_of_training(cv, train_index, n_samples):
    """Renumber folds given as sample numbers when samples of weight 0 are left out."""
    if isinstance(cv, Integral):
        return check_integer(cv, "cv", 2)
    if not hasattr(cv, "__iter__") or hasattr(cv, "split"):
        return cv
    position = np.full(n_samples, -1)
    position[train_index] = np.arange(len(train_index))
    folds = []
    for split in cv:
        positions = []
        for samples in map(np.asarray, split):
            if samples.dtype == bool:
                samples = np.arange(n_samples)[samples]
            wrong = samples[(samples < 0) | (samples >= n_samples)]
            if len(wrong):
                raise ValueError(
                    f"cv contains the sample number {wrong[0]}, but X has {n_samples} "
                    "samples."
                )
            positions.append(position[samples][position[samples] >= 0])
        folds.append(tuple(positions))
    return folds
