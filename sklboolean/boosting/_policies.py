"""Which edge to assume when the number of rounds is given: chosen by cross-validation.

On clean majorities the boldest assumptions win, on overlapping classes the hypotheses
must prove themselves on rows that they were not trained on. No policy is best for all
data, so the data decide.
"""

from dataclasses import replace
from numbers import Integral

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from sklboolean._core.meta import draw_seed
from sklboolean.boosting._game_rounds import max_gamma
from sklboolean.boosting._rounds import Policy, play_rounds
from sklboolean.boosting._votes import vote_margins
from sklboolean.boosting._weak_learners import make_learner, take

# The share of examples that the fixed policy gives up.
GIVEN_UP = 0.2


def candidate_policies(n_rounds, target_error, holdout=None):
    """Return the policies to choose from, by name; the first wins ties."""
    measured = Policy(n_rounds, target_error)
    half = replace(measured, holdout=holdout or 0.5)
    policies = {
        "fixed": replace(measured, gamma=max_gamma(n_rounds, GIVEN_UP)),
        "measured": measured,
        "rejecting, edges of training rows": replace(half, follow_holdout=False),
        "rejecting, edges of held-out rows": half,
    }
    if holdout is None:
        return policies
    policies = {name: replace(p, holdout=holdout) for name, p in policies.items()}
    return {name: p for name, p in policies.items() if name != "measured"}


def choose_policy(table, policies, cv, rng, *, n_jobs=None, **options):
    """Return the name of the policy whose votes are right on most held-out value.

    Parameters
    ----------
    table : (base, X, classes, codes, values)
    policies : dict
    cv : int, splitter or iterable of splits
    rng : RandomState
    n_jobs : int or None
    **options
        Of `held_out_margins`.

    Returns
    -------
    best : str
    scores : dict of float
        Held-out accuracy of each policy.
    margins : ndarray
        Held-out margins under the best; NaN in rows that no fold tests.
    """
    _base, _X, _classes, codes, values = table
    margins = held_out_margins(
        table, policies.values(), cv, draw_seed(rng), n_jobs=n_jobs, **options
    )
    margins = dict(zip(policies, margins, strict=True))
    scores = {
        name: held_out_accuracy(given, codes, values) for name, given in margins.items()
    }
    best = max(scores, key=scores.get)
    return best, scores, margins[best]


def held_out_margins(table, policies, cv, seed, *, n_jobs=None, resampling, playing):
    """Return the margin of each row under votes that it was kept from; NaN without any.

    Parameters
    ----------
    table, cv
        As in `choose_policy`.
    policies : iterable of Policy
    seed : int
        For the folds and the games, the same for each policy.
    n_jobs : int or None
    resampling : dict
        ``resample`` and ``n_draws`` of `make_learner`.
    playing : dict
        More arguments of `play_rounds`.

    Returns
    -------
    margins : ndarray of shape (n_policies, n_samples[, n_classes])
    """
    _base, X, classes, codes, _values = table
    policies = list(policies)
    if isinstance(cv, Integral):
        # No more folds than a class has rows: else some would lack it.
        n_folds = max(2, min(cv, np.bincount(codes).min()))
        cv = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    splitter = check_cv(cv, codes, classifier=True)
    splits = list(splitter.split(np.zeros((X.shape[0], 1)), codes))
    games = [(i, *split) for i in range(len(policies)) for split in splits]
    # The table's parts are plain arguments, which a cluster's backend sends only once.
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_margins_of_fold)(
            *table, policies[i], train, test, seed, resampling, playing
        )
        for i, train, test in games
    )
    scores = () if len(classes) == 2 else (len(classes),)
    margins = np.full((len(policies), len(codes), *scores), np.nan)
    for (i, _train, test), part in zip(games, parts, strict=True):
        margins[i, test] = part
    return margins


def were_tested(margins):
    """Say which rows have held-out margins."""
    return ~np.isnan(margins.reshape(len(margins), -1)).any(axis=1)


def held_out_accuracy(margins, codes, values):
    """Return the share of the held-out value that margins predict rightly."""
    rows = were_tested(margins)
    margins = margins[rows]
    predicted = margins.argmax(axis=1) if margins.ndim > 1 else margins > 0
    weights = None if values is None else values[rows]
    return float(np.average(predicted == codes[rows], weights=weights))


def _margins_of_fold(
    base, X, classes, codes, values, policy, train, test, seed, resampling, playing
):
    part = take(base, X, train, train)
    counts = None if values is None else values[train]
    learner = make_learner(base, part, classes, codes[train], counts, **resampling)
    rng = check_random_state(seed)
    game = play_rounds(learner, codes[train], counts, policy, rng, **playing)
    hypotheses = game.hypotheses or [game.best_failure]
    votes = learner.votes(hypotheses, take(base, X, test, train))
    return vote_margins(votes)
