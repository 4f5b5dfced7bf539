"""From checked data to a dual state: what `KernelPerceptron.fit` does in between."""

from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.parallel import Parallel, delayed

from sklboolean._core.validation import (
    check_choice,
    check_integer,
    check_real,
    check_same_params,
    encode_classes,
    remember_params,
    validate_boolean,
    validate_data_strict,
)
from sklboolean.kernels._budget import Budget, train_on_budget
from sklboolean.kernels._choice import (
    PARAMETERS_OF_KERNELS,
    choose_scorer,
    most_ones,
    open_rows,
)
from sklboolean.kernels._dual_state import DualState, join_tables
from sklboolean.kernels._dual_training import Rule, train_dual
from sklboolean.kernels._model import TOO_LONG, DualModel, is_precomputed, unit_of


def check_parameters(learner):
    """Check all parameters but the kernel's."""
    check_choice(learner.average, "average", ("mean", "voted", None))
    check_real(learner.margin, "margin", 0.0)
    check_choice(learner.margin_type, "margin_type", ("functional", "relative"))
    check_integer(learner.max_iter, "max_iter", 1)
    check_choice(learner.tie, "tie", ("positive", "negative"))
    check_choice(learner.multi_class, "multi_class", ("ovr", "joint"))
    check_choice(learner.budget, "budget", ("random", "forgetron"))
    for flag in ("fit_intercept", "shuffle", "probability", "warm_start"):
        check_choice(getattr(learner, flag), flag, (True, False))
    if learner.max_support is not None:
        check_integer(learner.max_support, "max_support", 1)
        if learner.average == "voted":
            raise ValueError(
                "average='voted' needs every support row that ever was; use "
                "average='mean' with max_support, or max_support=None."
            )


def check_kind(learner):
    """Refuse to go on from what was learned with parameters of another kind."""
    check_same_params(learner, _kind(learner), average=learner._average)


def _kind(learner):
    """Return the names of the parameters on which the state depends."""
    names = ["kernel", "fit_intercept", "binarize", "average"]
    if isinstance(learner.kernel, str):
        names += PARAMETERS_OF_KERNELS.get(learner.kernel, ())
    if len(learner.classes_) > 2:
        names.append("multi_class")
    return names


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
    return validate_data_strict(learner, X, y, reset=reset, dtype=np.float64)


def open_lesson(learner, X, y, known, resume, *, part=False):
    """Check parameters and data; set ``classes_``.

    Parameters
    ----------
    learner : KernelPerceptron
    X, y : as given by the user
    known : ndarray of shape (n_classes,) or None
        The classes, when they are known before ``y`` is seen.
    resume : bool
        Whether the learner keeps what it learned before.
    part : bool
        Whether ``y`` may lack classes.

    Returns
    -------
    table : Boolean table or kernel matrix
    codes : ndarray of shape (n_samples,), intp
    steps : Steps
    """
    check_parameters(learner)
    if resume:
        check_kind(learner)
    table, y = read_table(learner, X, y, reset=not resume)
    learner.classes_, codes = encode_classes(y, known)
    steps = choose_steps(
        learner, learner.classes_, None if part else y,
        coarsest=learner._unit if resume else 1,
    )  # fmt: skip
    if is_precomputed(learner):
        if resume or part:
            raise ValueError(
                "kernel='precomputed' learns from one kernel matrix, by fit without "
                "warm_start; give a kernel name or a callable to go on learning."
            )
        if table.shape[0] != table.shape[1]:
            raise ValueError(
                f"A precomputed kernel must be square; X has shape {table.shape}."
            )
    return table, codes, steps


class Lesson:
    """One call of ``fit`` or ``partial_fit``: what to learn, and from which state.

    Parameters
    ----------
    learner : KernelPerceptron
        Its parameters are read.
    steps : Steps
    state : DualState or None
        None: nothing was learned before.
    budget_history : ndarray of shape (n_problems, 2), float64
        Mistakes and damage so far, for the Forgetron.
    """

    def __init__(self, learner, steps, state=None, budget_history=None):
        n_classes = len(steps.weights)
        self.learner, self.steps = learner, steps
        self.joint = n_classes > 2 and learner.multi_class == "joint"
        self.n_scores = 1 if n_classes == 2 else n_classes
        if state is None:
            state = DualState.empty(self.n_scores, learner.average)
        self.state = state.in_unit(steps.unit)
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
        if last * max_iter * int(self.steps.weights.max()) >= 2**62:
            raise ValueError(TOO_LONG)
        if is_precomputed(learner):
            joined, numbers = None, np.arange(len(codes))
            scorer = choose_scorer(learner, n_features, 0)
            rows, _ = open_rows(scorer, n_features, numbers, table)
        else:
            joined = join_tables([state.table, table], n_features)
            numbers = np.concatenate(
                [state.support, state.n_seen + np.arange(len(codes))]
            )
            n_jobs = learner.n_jobs if self.n_problems == 1 else None
            scorer = choose_scorer(learner, n_features, most_ones(joined), n_jobs)
            rows, _ = open_rows(scorer, n_features, joined, joined)
        trainings = self._train(scorer, rows, codes, max_iter, shuffle, verbose)
        return state.after(joined, numbers, trainings), trainings

    def _train(self, scorer, rows, codes, max_iter, shuffle, verbose):
        learner = self.learner
        rule = Rule(
            self.n_scores if self.joint else 1, learner.tie == "positive",
            float(learner.margin), learner.margin_type == "relative", self.steps.unit,
        )  # fmt: skip
        weights = self.steps.weights[codes]
        seed = check_random_state(learner.random_state).randint(2**31 - 1)

        def train(problem):
            random_state = np.random.RandomState(seed)
            one_against_rest = not self.joint and self.n_scores > 1
            own_codes = codes == problem if one_against_rest else codes
            height = rule.n_scores
            arguments = (scorer, rows, own_codes.astype(np.int32), rule, weights)
            own = slice(problem * height, (problem + 1) * height)
            options = {
                "max_iter": max_iter,
                "random_state": random_state if shuffle else None,
                "coefficients": self.state.coefficients[own],
                "report": _reporter(problem, one_against_rest) if verbose else None,
            }
            if learner.max_support is None:
                return train_dual(*arguments, **options)
            budget = Budget(learner.max_support, learner.budget, random_state)
            budget.n_mistakes, budget.damage = self.budget_history[problem]
            timed = self.state.timed[own]
            result = train_on_budget(*arguments, budget, timed=timed, **options)
            self.budget_history[problem] = budget.n_mistakes, budget.damage
            return result

        if self.n_problems == 1:
            return [train(0)]
        # Problems share the scorer and write on one budget.
        return Parallel(n_jobs=learner.n_jobs, require="sharedmem")(
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


class Steps(NamedTuple):
    """What an update of each class adds: ``weights``, int64, over ``unit``."""

    weights: np.ndarray
    unit: int


def choose_steps(learner, classes, y=None, *, coarsest=1):
    """Return the `Steps` of a learner's class weights.

    Parameters
    ----------
    learner : KernelPerceptron
    classes : ndarray of shape (n_classes,)
    y : ndarray or None
        All labels, for "balanced".
    coarsest : int
        Unit of what was learned before.
    """
    unit = max(unit_of(learner), coarsest)
    if learner.class_weight is None:
        return Steps(np.full(len(classes), unit, dtype=np.int64), unit)
    weights = compute_class_weight(
        learner.class_weight, classes=classes, y=classes if y is None else y
    )
    if not ((weights >= 0).all() and (weights * unit < 2.0**52).all()):
        raise ValueError(
            "class_weight must hold weights of at least 0 and below 2**36; got "
            f"{weights.tolist()}."
        )
    steps = np.rint(weights * unit).astype(np.int64)
    if ((weights > 0) & (steps == 0)).any():
        raise ValueError(
            "class_weight must hold weights of at least 2**-16, or 0; got "
            f"{weights.tolist()}. Multiply all of them by one number."
        )
    return Steps(steps, unit)


def learn_more(learner, table, codes, steps, resume, max_iter, shuffle, *, part):
    """Learn from a checked table and publish the model.

    Returns
    -------
    n_epochs : int
    """
    state = current_state(learner) if resume else None
    history = learner._budget_history if resume else None
    lesson = Lesson(learner, steps, state, history)
    state, trainings = lesson.learn(
        table, codes, max_iter=max_iter, shuffle=shuffle, verbose=learner.verbose
    )
    if not resume:
        learner.mistakes_per_epoch_, learner.n_mistakes_ = [], 0
        learner.n_updates_ = 0
    # A class that converged early makes no mistakes in later epochs.
    by_epoch = zip_longest(*(t.mistakes for t in trainings), fillvalue=0)
    mistakes = [int(sum(counts)) for counts in by_epoch]
    if part and learner.mistakes_per_epoch_:
        # All parts of a stream are one epoch.
        mistakes[0] += learner.mistakes_per_epoch_[-1]
        mistakes = learner.mistakes_per_epoch_[:-1] + mistakes
    else:
        mistakes = learner.mistakes_per_epoch_ + mistakes
    learner.mistakes_per_epoch_ = mistakes
    learner.n_mistakes_ = sum(learner.mistakes_per_epoch_)
    learner.n_updates_ += sum(sum(t.updates) for t in trainings)
    learner._budget_history = lesson.budget_history
    publish(learner, state, table if is_precomputed(learner) else None)
    return max(len(t.mistakes) for t in trainings)


def publish(learner, state, gram):
    """Set the attributes of the model; ``gram`` is a precomputed kernel or None."""
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
    learner._unit, learner._average = state.unit, state.average
    remember_params(learner, _kind(learner))


def current_state(learner):
    """Return the state of a fitted learner."""
    table = learner.support_words_
    return DualState(
        table if learner.support_rows_ is None else learner.support_rows_,
        learner.support_,
        np.rint(learner.raw_dual_coef_ * learner._unit).astype(np.int64),
        learner._timed,
        learner.t_,
        learner._unit,
        learner._average,
        learner._changes,
    )
