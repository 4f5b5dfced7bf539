"""From checked data to a dual state: what `KernelPerceptron.fit` does in between."""

from itertools import zip_longest

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import validate_data

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
from sklboolean.kernels.model import TOO_LONG, DualModel, is_precomputed, unit_of
from sklboolean.kernels.state import DualState, join_tables

__all__ = [
    "Lesson",
    "current_state",
    "gives_probabilities",
    "learn_more",
    "learns_in_parts",
    "open_lesson",
    "read_table",
]


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


def gives_probabilities(learner):
    """Tell whether ``predict_proba`` exists, or raise an AttributeError."""
    if not learner.probability:
        raise AttributeError(
            "predict_proba is available when probability=True is set before fit."
        )
    return True


def learns_in_parts(learner):
    """Tell whether ``partial_fit`` exists, or raise an AttributeError."""
    if is_precomputed(learner) or learner.class_weight == "balanced":
        raise AttributeError(
            "partial_fit is available when kernel is not 'precomputed' and "
            "class_weight is not 'balanced'; give a kernel name and a dict of weights."
        )
    return True


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
                f"A precomputed kernel must be square; X has shape {table.shape}."
            )
    return table, codes, weights


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
        self.budget_history = budget_history.copy()

    def learn(self, table, codes, *, max_iter, shuffle, verbose=False):
        """Return (state, trainings) after learning from the rows of ``table``."""
        learner, state = self.learner, self.state
        n_features = learner.n_features_in_
        # A coefficient's change in one epoch, times the time of the change.
        last = state.n_seen + max_iter * len(codes)
        if last * max_iter * int(self.class_weights.max()) >= 2**62:
            raise ValueError(TOO_LONG)
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


def learn_more(learner, table, codes, weights, goes_on, max_iter, shuffle):
    """Learn from a checked table and publish the model.

    Returns
    -------
    n_epochs : int
    """
    n_scores = 1 if len(weights) == 2 else len(weights)
    state = current_state(learner) if goes_on else DualState.empty(n_scores)
    lesson = Lesson(
        learner, len(weights), weights, state,
        learner._budget_history if goes_on else None,
    )  # fmt: skip
    state, trainings = lesson.learn(
        table, codes, max_iter=max_iter, shuffle=shuffle, verbose=learner.verbose
    )
    if not goes_on:
        learner.mistakes_per_epoch_, learner.n_mistakes_ = [], 0
        learner.n_updates_ = 0
    # A class that converged early makes no mistakes in later epochs.
    mistakes = zip_longest(*(t.mistakes for t in trainings), fillvalue=0)
    learner.mistakes_per_epoch_ = learner.mistakes_per_epoch_ + [
        int(sum(counts)) for counts in mistakes
    ]
    learner.n_mistakes_ = sum(learner.mistakes_per_epoch_)
    learner.n_updates_ += sum(sum(t.updates) for t in trainings)
    learner._budget_history = lesson.budget_history
    _publish(learner, state, table if is_precomputed(learner) else None)
    return max(len(t.mistakes) for t in trainings)


def _publish(learner, state, gram):
    model = DualModel(learner, state)
    is_sparse = sparse.issparse(state.table)
    learner.support_ = state.support
    learner.support_words_ = None if is_sparse else state.table
    learner.support_rows_ = state.table if is_sparse else None
    learner.n_support_ = len(state.support)
    learner.dual_coef_ = model.coefficients / model.unit
    learner.raw_dual_coef_ = state.coefficients / model.unit
    learner.intercept_ = learner.dual_coef_.sum(axis=1) * bool(learner.fit_intercept)
    learner.t_ = state.n_seen
    learner.score_scale_ = "log2" if model.logarithmic else "linear"
    learner.score_bound_ = model.bound(gram)
    learner._timed, learner._changes = state.timed, state.changes


def current_state(learner):
    """Return the state of a fitted learner."""
    table = learner.support_words_
    return DualState(
        table if learner.support_rows_ is None else learner.support_rows_,
        learner.support_,
        np.rint(learner.raw_dual_coef_ * unit_of(learner)).astype(np.int64),
        learner._timed,
        learner.t_,
        learner._changes,
    )
