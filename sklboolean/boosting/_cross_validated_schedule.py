"""Choosing the schedule of a booster by cross-validation.

On clean majorities the boldest assumptions win. Where classes overlap, hypotheses must
be judged on samples that they were not trained on. No policy is best for all data.
"""

from dataclasses import replace
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from sklboolean._core.meta import draw_seed
from sklboolean._core.validation import check_choice, check_integer
from sklboolean.boosting._boosting import boost
from sklboolean.boosting._majority_game import max_gamma
from sklboolean.boosting._votes import MajorityVotes, vote_margins
from sklboolean.boosting._weak_learners import take_samples

# The share of the samples that the policy "fixed" gives up.
GIVEN_UP = 0.2
POLICIES = ("fixed", "measured", "holdout_train_edges", "holdout_edges")


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

    def _choose(self, weak_learner, schedule, rng, folds, n_jobs):
        """Choose the policy with the largest held-out accuracy.

        Parameters
        ----------
        weak_learner : StumpWeakLearner or ClassifierWeakLearner
            Of all samples.
        schedule : Schedule
            With a number of rounds. The policies replace its gamma and holdout.
        rng : RandomState
        folds : int, splitter or iterable of splits of the samples
        n_jobs : int or None

        Returns
        -------
        name : str
        schedule : Schedule
        scores : dict of float, or None
            Held-out accuracy of each policy. None when a class has one sample only:
            nothing can be held out, and the first policy is taken.
        margins : ndarray or None
            Held-out margins of the policy; NaN for samples that no fold tests.
        """
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
        codes, weights = weak_learner.codes, weak_learner.sample_weight
        if np.bincount(codes).min() < 2:
            name = next(iter(policies))
            return name, policies[name], None, None
        margins, tested = held_out_margins(
            weak_learner, list(policies.values()), folds, draw_seed(rng), n_jobs
        )
        weights = None if weights is None else weights[tested]
        scores = {}
        for name, given in zip(policies, margins[:, tested], strict=True):
            predicted = given.argmax(axis=1) if given.ndim > 1 else given > 0
            right = predicted == codes[tested]
            scores[name] = float(np.average(right, weights=weights))
        best = max(scores, key=scores.get)
        return best, policies[best], scores, margins[list(policies).index(best)]


def held_out_margins(weak_learner, schedules, cv, seed, n_jobs=None):
    """Compute the margin of each sample under votes that were not trained on it.

    Parameters
    ----------
    weak_learner : StumpWeakLearner or ClassifierWeakLearner
        Of all samples.
    schedules : list of Schedule
    cv : int, splitter or iterable of splits
    seed : int
        For the folds and the games, the same for each schedule.
    n_jobs : int or None

    Returns
    -------
    margins : ndarray of shape (n_schedules, n_samples[, n_classes])
        NaN for samples that no fold tests.
    tested : ndarray of shape (n_samples,), bool
        The others.
    """
    codes, n_classes = weak_learner.codes, weak_learner.n_classes
    if isinstance(cv, Integral):
        # No more folds than a class has samples: else some would lack it.
        n_folds = max(2, min(cv, np.bincount(codes).min()))
        cv = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    splitter = check_cv(cv, codes, classifier=True)
    splits = list(splitter.split(np.zeros((len(codes), 1)), codes))
    parts = Parallel(n_jobs=n_jobs)(
        delayed(margins_of_fold)(weak_learner, schedule, train, test, seed)
        for schedule in schedules
        for train, test in splits
    )
    shape = (len(codes),) if n_classes == 2 else (len(codes), n_classes)
    margins = np.full((len(schedules), *shape), np.nan)
    tested = np.zeros(len(codes), dtype=bool)
    for i, part in enumerate(parts):
        test = splits[i % len(splits)][1]
        margins[i // len(splits), test], tested[test] = part, True
    return margins, tested


def margins_of_fold(weak_learner, schedule, train, test, seed):
    """Boost some samples, and compute the margins of others."""
    part = weak_learner.take(train)
    votes = MajorityVotes(part.codes, part.n_classes, part.sample_weight)
    state = boost(part, votes, schedule, check_random_state(seed))
    hypotheses = state.hypotheses or [state.best_failure]
    X = take_samples(weak_learner.estimator, weak_learner.X, test, train)
    return vote_margins(part.votes(hypotheses, X))


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
