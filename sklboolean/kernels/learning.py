"""From checked data to a dual state: what `KernelPerceptron.fit` does in between."""

from itertools import zip_longest

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import validate_data

from sklboolean._core.calibration import fit_slope
from sklboolean._core.validation import (
    check_choice,
    check_integer,
    check_real,
    encode_classes,
    validate_boolean,
)
from sklboolean.kernels.budget import Budget, train_on_budget
from sklboolean.kernels.choice import choose_scorer, most_ones, open_rows
from sklboolean.kernels.dual import Rule, train_dual
from sklboolean.kernels.model import DualModel, is_precomputed, unit_of
from sklboolean.kernels.state import DualState, join_tables

__all__ = [
    "Lesson",
    "by_epoch",
    "held_out_slopes",
    "open_lesson",
    "progressive_slopes",
    "read_table",
]

REMEMBERED_SCORES = 1000


def check_parameters(learner):
    """Check all parameters but the kernel's."""
    check_choice(learner.average, "average", ("mean", "voted", None))
    check_real(learner.margin, "margin", 0.0)
    check_choice(learner.margin_type, "margin_type", ("functional", "relative"))
    check_integer(learner.max_iter, "max_iter", 1)
    check_choice(learner.tie, "tie", ("positive", "negative"))
    check_choice(learner.multi_class, "multi_class", ("ovr", "joint"))
    check_choice(learner.budget, "budget", ("random", "forgetron"))
    if learner.max_support is not None:
        check_integer(learner.max_support, "max_support", 1)
        if learner.average == "voted":
            raise ValueError(
                "average='voted' needs every support row that ever was; use "
                "average='mean' with max_support, or max_support=None."
            )


def read_table(learner, X, y="no_validation", *, reset):
    """Check X (and y) and return the Boolean table or the kernel matrix."""
    if not is_precomputed(learner):
        return validate_boolean(learner, X, y, reset=reset)
    return validate_data(learner, X, y, reset=reset, dtype=np.float64)


def open_lesson(learner, X, y, known, goes_on, *, part=False):
    """Check parameters and data; set ``classes_``.

    Parameters
    ----------
    learner : KernelPerceptron
    X, y : as given by the user
    known : ndarray of shape (n_classes,) or None
        The classes, when they are known before ``y`` is seen.
    goes_on : bool
        Whether the learner keeps what it learned before.
    part : bool
        Whether ``y`` may lack classes.

    Returns
    -------
    table : Boolean table or kernel matrix
    codes : ndarray of shape (n_rows,), intp
    class_weights : ndarray of shape (n_classes,), int64
        In units.
    """
    check_parameters(learner)
    table, y = read_table(learner, X, y, reset=not goes_on)
    learner.classes_, codes = encode_classes(y, known)
    weights = integer_class_weights(learner, learner.classes_, None if part else y)
    if is_precomputed(learner):
        if goes_on or part:
            raise ValueError(
                "kernel='precomputed' learns from one kernel matrix, by fit without "
                "warm_start; give a kernel name or a callable to go on learning."
            )
        if table.shape[0] != table.shape[1]:
            raise ValueError(
                f"A precomputed kernel matrix must be square; X has shape {table.shape}."
            )
    return table, codes, weights


def by_epoch(lists):
    """Add up lists of counts by epoch; shorter lists end earlier."""
    return [int(sum(counts)) for counts in zip_longest(*lists, fillvalue=0)]


class Lesson:
    """One call of ``fit`` or ``partial_fit``: what to learn, and from which state.

    Parameters
    ----------
    learner : KernelPerceptron
        Its parameters are read.
    n_classes : int
    class_weights : ndarray of shape (n_classes,), int64
        In units.
    state : DualState
    budget_history : ndarray of shape (n_problems, 2), float64
        Mistakes and damage so far, for the Forgetron.
    """

    def __init__(self, learner, n_classes, class_weights, state, budget_history=None):
        self.learner = learner
        self.class_weights = class_weights
        self.state = state
        self.joint = n_classes > 2 and learner.multi_class == "joint"
        self.n_scores = 1 if n_classes == 2 else n_classes
        self.n_problems = 1 if self.joint else self.n_scores
        if self.joint and learner.max_support and learner.budget == "forgetron":
            raise ValueError(
                "budget='forgetron' needs multi_class='ovr'; with 'joint' use "
                "budget='random'."
            )
        if budget_history is None:
            budget_history = np.zeros((self.n_problems, 2))
        self.budget_history = budget_history

    def learn(self, table, codes, *, max_iter, shuffle, verbose=False):
        """Return (state, trainings) after learning from the rows of ``table``."""
        learner, state = self.learner, self.state
        n_features = learner.n_features_in_
        if is_precomputed(learner):
            joined, numbers = None, np.arange(len(codes))
            scorer = choose_scorer(learner, n_features, 0)
            rows, _ = open_rows(scorer, n_features, numbers, table)
        else:
            joined = join_tables(state.table, table, n_features)
            numbers = np.concatenate(
                [state.support, state.n_seen + np.arange(len(codes))]
            )
            n_jobs = learner.n_jobs if self.n_problems == 1 else None
            scorer = choose_scorer(learner, n_features, most_ones(joined), n_jobs)
            rows, _ = open_rows(scorer, n_features, joined, joined)
        trainings = self._train(scorer, rows, codes, max_iter, shuffle, verbose)
        state = state.after(
            joined, numbers, trainings, keep_times=learner.average == "mean",
            keep_changes=learner.average == "voted",
        )  # fmt: skip
        return state, trainings

    def _train(self, scorer, rows, codes, max_iter, shuffle, verbose):
        learner = self.learner
        rule = Rule(
            self.n_scores if self.joint else 1, learner.tie == "positive",
            float(learner.margin), learner.margin_type == "relative", unit_of(learner),
        )  # fmt: skip
        weights = self.class_weights[codes]
        seed = check_random_state(learner.random_state).randint(2**31 - 1)

        def train(problem):
            random_state = np.random.RandomState(seed)
            one_against_rest = not self.joint and self.n_scores > 1
            own_codes = codes == problem if one_against_rest else codes
            height = rule.n_scores
            arguments = (scorer, rows, own_codes.astype(np.int32), rule, weights)
            options = {
                "max_iter": max_iter,
                "random_state": random_state if shuffle else None,
                "coefficients": self.state.coefficients[
                    problem * height : (problem + 1) * height
                ],
                "report": _reporter(problem, one_against_rest) if verbose else None,
            }
            if learner.max_support is None:
                return train_dual(*arguments, **options)
            budget = Budget(learner.max_support, learner.budget, random_state)
            budget.n_mistakes, budget.damage = self.budget_history[problem]
            result = train_on_budget(*arguments, budget, **options)
            self.budget_history[problem] = budget.n_mistakes, budget.damage
            return result

        if self.n_problems == 1:
            return [train(0)]
        return Parallel(n_jobs=learner.n_jobs, prefer="threads")(
            delayed(train)(problem) for problem in range(self.n_problems)
        )


def _reporter(problem, one_against_rest):
    name = f"class {problem}, " if one_against_rest else ""

    def report(training):
        print(
            f"[KernelPerceptron] {name}epoch {len(training.mistakes)}: "
            f"{training.mistakes[-1]} mistakes, {training.updates[-1]} updates"
        )

    return report


def integer_class_weights(learner, classes, y=None):
    """Return what an update of each class adds, in units: int64 (n_classes,)."""
    unit = unit_of(learner)
    if learner.class_weight is None:
        return np.full(len(classes), unit, dtype=np.int64)
    if y is None and learner.class_weight == "balanced":
        raise ValueError(
            "class_weight='balanced' needs all labels, which partial_fit does not "
            "see; give a dict of weights."
        )
    weights = compute_class_weight(
        learner.class_weight, classes=classes, y=classes if y is None else y
    )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("class_weight must hold finite weights of at least 0.")
    return np.rint(weights * unit).astype(np.int64)


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
        learner._recent = np.zeros((0, 0)), np.zeros(0, dtype=np.intp)
        n_classes = len(class_weights)
        if np.bincount(codes, minlength=n_classes).min() >= 2:
            return held_out_slopes(learner, table, codes, class_weights)
        joint = n_classes == 2 or learner.multi_class == "joint"
        return np.ones(1 if joint else n_classes)
    model = DualModel(learner, learner._state())
    scores = model.decision(table) / learner.score_bound_
    old_scores, old_codes = learner._recent
    if len(old_codes):
        scores = np.concatenate([old_scores, scores])
        codes = np.concatenate([old_codes, codes])
    learner._recent = scores[-REMEMBERED_SCORES:], codes[-REMEMBERED_SCORES:]
    return fit_slopes(learner, *learner._recent)
