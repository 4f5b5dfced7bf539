"""Slopes of the sigmoids that turn a kernel learner's scores into probabilities."""

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state

from sklboolean._core.calibration import fit_slope
from sklboolean.kernels.learning import Lesson, current_state
from sklboolean.kernels.model import DualModel, is_precomputed
from sklboolean.kernels.state import DualState

__all__ = ["held_out_slopes", "progressive_slopes"]

REMEMBERED_SCORES = 1000


def held_out_slopes(learner, table, codes, class_weights):
    """Fit the sigmoids' slopes on the scores of three folds.

    Parameters
    ----------
    learner : KernelPerceptron
    table : Boolean table or kernel matrix
    codes : ndarray of shape (n_rows,)
    class_weights : ndarray of shape (n_classes,), int64

    Returns
    -------
    slopes : ndarray of shape (n_slopes,), float64
    """
    n_classes = len(class_weights)
    fewest = np.bincount(codes, minlength=n_classes).min()
    if fewest < 2:
        raise ValueError(
            "probability=True needs at least two rows of each class, to hold some out."
        )
    precomputed = is_precomputed(learner)
    seed = check_random_state(learner.random_state).randint(2**31 - 1)
    folds = StratifiedKFold(min(3, fewest), shuffle=True, random_state=seed)
    scores = None
    for train, test in folds.split(np.zeros(len(codes)), codes):
        lesson = Lesson(
            learner, n_classes, class_weights,
            DualState.empty(1 if n_classes == 2 else n_classes),
        )  # fmt: skip
        rows, held_out = table[train], table[test]
        if precomputed:
            rows, held_out = rows[:, train], held_out[:, train]
        state, _ = lesson.learn(
            rows, codes[train], max_iter=learner.max_iter, shuffle=learner.shuffle
        )
        model = DualModel(learner, state)
        part = model.decision(held_out) / model.bound(rows if precomputed else None)
        if scores is None:
            scores = np.zeros((len(codes), *part.shape[1:]))
        scores[test] = part
    return fit_slopes(learner, scores, codes)


def fit_slopes(learner, scores, codes):
    """Fit one slope, or one for each class with "ovr" and more than two classes."""
    if scores.ndim == 1 or learner.multi_class == "joint":
        return np.array([fit_slope(scores, codes)])
    return np.array([fit_slope(s, codes == k) for k, s in enumerate(scores.T)])


def progressive_slopes(learner, table, codes, class_weights):
    """Fit slopes in ``partial_fit``, on scores given before the rows are learned.

    The latest scores are remembered; before there are any, folds of the first rows
    serve, or a slope of 1 where they are too few.
    """
    if not hasattr(learner, "t_"):
        n_classes = len(class_weights)
        if np.bincount(codes, minlength=n_classes).min() >= 2:
            return held_out_slopes(learner, table, codes, class_weights)
        joint = n_classes == 2 or learner.multi_class == "joint"
        return np.ones(1 if joint else n_classes)
    model = DualModel(learner, current_state(learner))
    scores = model.decision(table) / learner.score_bound_
    if learner._recent is not None:
        old_scores, old_codes = learner._recent
        scores = np.concatenate([old_scores, scores])
        codes = np.concatenate([old_codes, codes])
    learner._recent = scores[-REMEMBERED_SCORES:], codes[-REMEMBERED_SCORES:]
    return fit_slopes(learner, *learner._recent)
