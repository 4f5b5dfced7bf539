"""Choosing the schedule of a booster by cross-validation.

On clean majorities the boldest assumptions win. Where classes overlap, hypotheses must
be judged on samples that they were not trained on. No policy is best for all data.
"""

from dataclasses import replace
from functools import partial
from numbers import Integral
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from sklboolean._core.calibration import predicted_codes
from sklboolean._core.meta import draw_seed
from sklboolean._core.parameters import check_choice, check_integer
from sklboolean.boosting._boosting import Schedule
from sklboolean.boosting._games import held_out_margins
from sklboolean.boosting._majority_game import max_gamma

# The share of the samples that the policy "fixed" gives up.
GIVEN_UP = 0.2
# Those that are tried with conjunctions.
FOR_OTHERS = ("measured", "holdout_edges")
POLICIES = ("fixed", "measured", "holdout_train_edges", "holdout_edges")
FEW_GAMES = 10  # all pairs of five classes


class CrossValidatedSchedule(BaseEstimator):
    """Choose by cross-validation what a booster assumes of its weak hypotheses.

    It is the value of ``gamma`` in `BoostByMajority` for a given number of rounds, and
    its default. Each policy is a way to set the edge that is assumed in each round. All
    are compared by held-out accuracy, and the best one boosts all samples: with four
    policies and three folds 13 fits in place of one.

    Parameters
    ----------
    policies : sequence of str, default=("fixed", "measured", "holdout_train_edges", \
"holdout_edges")
        The policies to compare. The first one wins ties. Give fewer to save time.

        * "fixed": the edge with which the rounds leave an error of 0.2. It is the
          boldest policy and gives up a fifth of the samples.
        * "measured": the mean of the last 20 edges on the training samples.
        * "holdout_edges": in each round a share of the samples is held out, half of
          them unless ``holdout`` says otherwise. A hypothesis without an edge on these
          is rejected. The edge is the mean of the last 20 held-out edges.
        * "holdout_train_edges": the same, but the edge is that on the training samples.

        With ``holdout`` set in the booster, all policies hold out samples.
    cv : int, splitter or iterable, default=3
        Folds, as in scikit-learn. An int is the number of stratified folds; classes
        with fewer samples reduce it.

    See Also
    --------
    sklboolean.BoostByMajority : Takes this object as ``gamma``.

    Examples
    --------
    >>> from sklboolean import BoostByMajority
    >>> from sklboolean.boosting import CrossValidatedSchedule
    >>> from sklboolean.datasets import make_long_servedio
    >>> X, y = make_long_servedio(300, noise=0.1, random_state=0)
    >>> schedule = CrossValidatedSchedule(["fixed", "measured"], cv=5)
    >>> booster = BoostByMajority(gamma=schedule, n_estimators=51, random_state=0)
    >>> sorted(booster.fit(X, y).policy_scores_)
    ['fixed', 'measured']
    """

    def __init__(self, policies=POLICIES, *, cv=3):
        self.policies = policies
        self.cv = cv

    def _choose(self, learners, schedule, games, rng, folds, n_jobs):
        """Choose what has the largest held-out accuracy.

        Parameters
        ----------
        learners : list of StumpWeakLearner, or of one ClassifierWeakLearner
            Of all samples. One that follows is taken when it is clearly better than
            those before it.
        schedule : Schedule
            With a number of rounds. The policies replace its gamma and holdout.
        games : list of (list of ClassGame or None)
            What may decide between the classes. One that follows is taken when its
            held-out accuracy is larger. Of many games all policies are tried only when
            they are better with the policy that is best for those before.
        rng : RandomState
        folds : int, splitter or iterable of splits of the samples
        n_jobs : int or None

        Returns
        -------
        choice : Choice
        """
        policies = self._schedules(schedule)
        first = learners[0]
        if first.n_classes == 2 and np.bincount(first.codes).min() < 2:
            name = next(iter(policies))
            return Choice(first, games[0], name, policies[name])
        test = partial(held_out_choices, cv=folds, seed=draw_seed(rng), n_jobs=n_jobs)
        best = None
        for kind in games:
            if best is not None and len(kind) > FEW_GAMES:
                same = {best.policy: best.schedule}
                if test(best.learner, kind, same)[0].score <= best.score:
                    continue
            choice = choose_learner(learners, kind, policies, test)
            if best is None or choice.score > best.score:
                best = choice
        return best

    def _schedules(self, schedule):
        """Make the schedule of each policy."""
        if isinstance(self.policies, str) or not len(self.policies):
            raise ValueError(
                f"policies must be a list of some of {list(POLICIES)}; got "
                f"{self.policies!r}."
            )
        holdout = schedule.holdout or 0.5
        known = {
            "fixed": {"gamma": max_gamma(schedule.n_rounds, GIVEN_UP)},
            "measured": {},
            "holdout_train_edges": {"holdout": holdout, "follow_holdout": False},
            "holdout_edges": {"holdout": holdout},
        }
        policies = {}
        for name in self.policies:
            options = known[check_choice(name, "policies", POLICIES)]
            policies[name] = replace(schedule, **options)
        if schedule.holdout is not None and "holdout_edges" in policies:
            # With samples held out "measured" is the same policy.
            policies.pop("measured", None)
        return policies


class Choice(NamedTuple):
    """What a booster plays, and how well it did on held-out samples.

    Attributes
    ----------
    learner : StumpWeakLearner or ClassifierWeakLearner
    games : list of ClassGame or None
    policy : str
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
        That of each policy.
    """

    learner: object
    games: list | None
    policy: str
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


def choose_learner(learners, games, policies, test):
    """Choose the weak learner and its policy for given games.

    Parameters
    ----------
    learners, games
        As for ``_choose``, but one kind of games.
    policies : dict of Schedule
    test : callable
        `held_out_choices` with its last arguments given.

    Returns
    -------
    choice : Choice
    """
    names = [name for name in FOR_OTHERS if name in policies]
    of_others = {name: policies[name] for name in names} or policies
    best = None
    for learner in learners:
        choices = test(learner, games, policies if best is None else of_others)
        choice = max(choices, key=attrgetter("score"))  # the first of equals
        if best is None or choice.is_clearly_better(best):
            best = choice._replace(scores={each.policy: each.score for each in choices})
    return best


def held_out_choices(weak_learner, games, policies, cv, seed, n_jobs):
    """Test policies on held-out samples.

    Parameters
    ----------
    weak_learner, games, cv, seed, n_jobs
        As for `held_out_margins`.
    policies : dict of Schedule

    Returns
    -------
    choices : list of Choice
    """
    schedules = list(policies.values())
    margins, tested = held_out_margins(weak_learner, games, schedules, cv, seed, n_jobs)
    codes, weights = weak_learner.codes[tested], weak_learner.sample_weight
    weights = None if weights is None else weights[tested]
    choices = []
    for (name, schedule), given in zip(policies.items(), margins, strict=True):
        hits = predicted_codes(given[tested]) == codes
        score = float(np.average(hits, weights=weights))
        choices.append(
            Choice(weak_learner, games, name, schedule, hits, weights, given, score)
        )
    return choices


def folds_of_kept(cv, kept, n_samples):
    """Renumber folds given as sample numbers when samples of weight 0 are left out."""
    if isinstance(cv, Integral):
        return check_integer(cv, "cv", 2)
    if not hasattr(cv, "__iter__") or hasattr(cv, "split"):
        return cv
    place = np.full(n_samples, -1)
    place[kept] = np.arange(len(kept))
    folds = []
    for split in cv:
        parts = []
        for samples in map(np.asarray, split):
            if samples.dtype == bool:
                samples = np.arange(n_samples)[samples]
            wrong = samples[(samples < 0) | (samples >= n_samples)]
            if len(wrong):
                raise ValueError(
                    f"cv contains the sample number {wrong[0]}, but X has {n_samples} "
                    "samples."
                )
            parts.append(place[samples][place[samples] >= 0])
        folds.append(tuple(parts))
    return folds
