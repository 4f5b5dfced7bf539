"""The slope of the sigmoid that turns a kernel learner's scores into probabilities."""

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state

from sklboolean._core.base import fit_slope
from sklboolean.kernels._learning import Lesson, current_state
from sklboolean.kernels._model import DualModel, is_precomputed

REMEMBERED_SCORES = 1000


def held_out_slope(learner, table, codes, steps):
    """Fit the slope on the scores of three folds.

    Parameters
    ----------
    learner : KernelPerceptron
    table : Boolean table or kernel matrix
    codes : ndarray of shape (n_samples,)
    steps : Steps

    Returns
    -------
    slope : float
    """
    fewest = np.bincount(codes, minlength=len(steps.weights)).min()
    if fewest < 2:
        raise ValueError(
            "probability=True needs at least two rows of each class, to hold some out."
        )
    precomputed = is_precomputed(learner)
    seed = check_random_state(learner.random_state).randint(2**31 - 1)
    folds = StratifiedKFold(min(3, fewest), shuffle=True, random_state=seed)
    scores = None
    for train, test in folds.split(np.zeros(len(codes)), codes):
        rows, held_out = table[train], table[test]
        if precomputed:
            rows, held_out = rows[:, train], held_out[:, train]
        state, _ = Lesson(learner, steps).learn(
            rows, codes[train], max_iter=learner.max_iter, shuffle=learner.shuffle
        )
        model = DualModel(learner, state)
        part = model.decision(held_out) / model.bound(rows if precomputed else None)
        if scores is None:
            scores = np.zeros((len(codes), *part.shape[1:]))
        scores[test] = part
    return fit_slope(scores, codes)


def progressive_slope(learner, table, codes, steps):
    """Fit the slope in ``partial_fit``, on scores given before the rows are learned.

    The latest scores are remembered; before there are any, folds of the first rows
    serve, or a slope of 1 where they are too few.
    """
    if not hasattr(learner, "t_"):
        if np.bincount(codes, minlength=len(steps.weights)).min() >= 2:
            return held_out_slope(learner, table, codes, steps)
        return 1.0
    model = DualModel(learner, current_state(learner))
    scores = model.decision(table) / learner.score_bound_
    n_seen = learner.t_ + len(codes)
    if learner._recent is not None:
        old_scores, old_codes = learner._recent
        scores = np.concatenate([old_scores, scores])
        codes = np.concatenate([old_codes, codes])
    # Half of the stream at most: the scores of a beginner say little.
    n_kept = min(REMEMBERED_SCORES, n_seen // 2 + 1)
    learner._recent = scores[-n_kept:], codes[-n_kept:]
    return fit_slope(*learner._recent)
