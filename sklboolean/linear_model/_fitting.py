"""What ``fit`` and ``partial_fit`` of the on-line linear learners share."""

from dataclasses import replace
from itertools import repeat

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight

from sklboolean._core.validation import (
    check_choice,
    check_integer,
    check_real,
    refuse_changed_params,
)
from sklboolean.linear_model._loop import shuffle as shuffle_rows
from sklboolean.linear_model._training import Progress, kind_of, new_state, run_epochs

REMEMBERED_SCORES = 1000


def check_shared_parameters(learner):
    """Check the parameters that all on-line linear learners have."""
    check_choice(learner.average, "average", ("mean", "longest", None))
    check_choice(learner.multi_class, "multi_class", ("ovr", "joint"))
    check_integer(learner.max_iter, "max_iter", 1)
    if learner.tol is not None:
        check_real(learner.tol, "tol", 0.0)
    check_integer(learner.n_iter_no_change, "n_iter_no_change", 1)
    check_real(learner.validation_fraction, "validation_fraction", 0.0, strict=True)
    if learner.validation_fraction >= 1:
        raise ValueError(
            f"validation_fraction must be below 1; got {learner.validation_fraction}."
        )
    margin_pair(learner)


def margin_pair(learner):
    """Return the margins of positive and of negative examples."""
    margin = learner.margin
    pair = tuple(margin) if isinstance(margin, tuple | list) else (margin, margin)
    if len(pair) != 2:
        raise ValueError(f"margin must be a number or a pair of numbers; got {margin}.")
    for value in pair:
        check_real(value, "margin", 0.0)
    if learner.multi_class == "joint" and pair[0] != pair[1]:
        raise ValueError(
            "multi_class='joint' compares two classes: give one margin, not a pair."
        )
    return tuple(float(value) for value in pair)


def class_weights(learner, classes, y=None):
    """Return the weight of each class, float64 (n_classes,)."""
    if learner.class_weight is None:
        return np.ones(len(classes))
    if y is None and learner.class_weight == "balanced":
        raise ValueError(
            "class_weight='balanced' needs all labels, which partial_fit does not "
            "see; give a dict of weights."
        )
    weights = compute_class_weight(
        learner.class_weight, classes=classes, y=classes if y is None else y
    )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError(
            "class_weight must hold finite weights of at least 0, not all of them 0."
        )
    return weights.astype(np.float64)


class Fitter:
    """Trains states of one kind on one table.

    Parameters
    ----------
    learner : AveragedPerceptron or Winnow
    parameters : dict
        Of `OnlineLoop`.
    initial : (float, float)
        As for `new_state`.
    table : OnlineTable or None
        None: the rows are in partitions.
    codes : ndarray of shape (n_samples,), int, or None
    weights : ndarray of shape (n_classes,), float64
    """

    def __init__(self, learner, parameters, initial, table, codes, weights):
        self.learner, self.parameters, self.initial = learner, parameters, initial
        self.table, self.codes, self.weights = table, codes, weights
        self.n_hypotheses = 1 if len(weights) == 2 else len(weights)
        self.random_state = check_random_state(learner.random_state)

    def open_state(self, earlier):
        """Return a state that goes on from an earlier one; a new one for None."""
        if earlier is None:
            return self.new_state()
        # Compiled loops trust the arrays: those of another kind are too short.
        kind = kind_of(self.parameters)
        refuse_changed_params(earlier.kind, kind)
        return replace(earlier.copy(), kind=kind)

    def new_state(self):
        """Return the state before the first example."""
        return new_state(
            self.parameters["n_features"], self.n_hypotheses, self.parameters,
            self.initial,
        )  # fmt: skip

    def hypothesis(self, state, *, last=False):
        """Return the published, or the last, (coefficients, intercepts) of a state."""
        n = self.parameters["n_features"]
        if last or self.learner.average is None:
            coefficients, constants = state.last(n)
        elif self.learner.average == "mean":
            coefficients, constants = state.mean(n)
        else:
            coefficients, constants = state.longest(n, self.parameters["joint"])
        intercepts = constants - self.parameters["threshold"]
        if self.parameters["flipped"]:
            return -coefficients, -intercepts
        return coefficients, intercepts

    def train(self, state, rows, max_iter, shuffle, *, after=None, rng=None):
        """Train a state in place on the named rows."""
        orders = repeat(rows, max_iter)
        if shuffle:
            orders = shuffled(rows, max_iter, rng or self.random_state)
        return run_epochs(
            state, self.parameters, self.table, self.codes.astype(np.int32),
            self.weights, orders, after,
        )  # fmt: skip

    def fit(self, state):
        """Train by the learner's epochs; return (state, progress)."""
        learner = self.learner
        rows = np.arange(len(self.codes))
        if learner.early_stopping:
            return self._fit_until_validation_stops(state, rows)
        stopping = Patience(learner)

        def after(progress):
            self.report(progress)
            return stopping.is_over(-progress.mistakes[-1] / len(rows))

        return state, self.train(
            state, rows, learner.max_iter, learner.shuffle, after=after
        )

    def _fit_until_validation_stops(self, state, rows):
        learner = self.learner
        n_held_out = int(np.ceil(learner.validation_fraction * len(rows)))
        if min(n_held_out, len(rows) - n_held_out) < len(self.weights):
            raise ValueError(
                f"early_stopping would hold out {n_held_out} of {len(rows)} rows, with "
                f"{len(self.weights)} classes to be met on both sides: give more rows "
                "or another validation_fraction."
            )
        rows, held_out = train_test_split(
            rows, test_size=learner.validation_fraction, stratify=self.codes,
            random_state=self.random_state,
        )  # fmt: skip
        X = self.table.values()[held_out]
        rows = np.sort(rows)
        stopping = Patience(learner, always=True)
        best, progress = state, Progress()
        # An epoch at a time: the best state is the one that is kept.
        for _ in repeat(None, learner.max_iter):
            epoch = self.train(state, rows, 1, learner.shuffle)
            progress.mistakes += epoch.mistakes
            progress.updates += epoch.updates
            self.report(progress)
            coefficients, intercepts = self.hypothesis(state)
            scores = X @ coefficients.T + intercepts
            accuracy = np.mean(decide(scores) == self.codes[held_out])
            if accuracy > stopping.best:
                best = state.copy()
            if stopping.is_over(accuracy):
                break
        return best, progress

    def report(self, progress):
        """Print the counts of the last epoch, when asked to."""
        if self.learner.verbose:
            print(
                f"[{type(self.learner).__name__}] epoch {len(progress.mistakes)}: "
                f"{progress.mistakes[-1]} mistakes, {progress.updates[-1]} updates"
            )

    def held_out_scores(self):
        """Return the score of each row under a model of the other two thirds."""
        fewest = np.bincount(self.codes, minlength=len(self.weights)).min()
        if fewest < 2:
            return None
        learner = self.learner
        X = self.table.values()
        scores = np.zeros((len(self.codes), self.n_hypotheses))
        folds = StratifiedKFold(
            min(3, fewest), shuffle=True, random_state=self.random_state
        )
        splits = list(folds.split(X, self.codes))
        seeds = self.random_state.randint(2**31 - 1, size=len(splits))

        def score(train, test, seed):
            state = self.new_state()
            rng = np.random.RandomState(seed)
            self.train(state, train, learner.max_iter, learner.shuffle, rng=rng)
            coefficients, intercepts = self.hypothesis(state)
            scores[test] = X[test] @ coefficients.T + intercepts

        # Threads: the loop holds no lock, and every fold writes rows of its own.
        Parallel(n_jobs=learner.n_jobs, require="sharedmem")(
            delayed(score)(train, test, seed)
            for (train, test), seed in zip(splits, seeds, strict=True)
        )
        return scores


def shuffled(rows, max_iter, rng):
    """Yield the rows in a new order for each epoch."""
    order = rows.astype(np.int64)
    for _ in range(max_iter):
        shuffle_rows(order, rng.randint(2**63, dtype=np.uint64))
        yield order


class Patience:
    """Stops when a score has not risen by ``tol`` for ``n_iter_no_change`` epochs."""

    def __init__(self, learner, *, always=False):
        self.watches = always or learner.tol is not None
        self.tol = learner.tol or 0.0
        self.limit = learner.n_iter_no_change
        self.best, self.waited = -np.inf, 0

    def is_over(self, score):
        """Note the score of an epoch; tell whether to stop."""
        self.waited = 0 if score > self.best + self.tol else self.waited + 1
        self.best = max(self.best, score)
        return self.watches and self.waited >= self.limit


def decide(scores):
    """Return the class number of each row of (n_samples, n_hypotheses) scores."""
    if scores.shape[1] == 1:
        return (scores[:, 0] >= 0).astype(np.intp)
    return scores.argmax(axis=1)
