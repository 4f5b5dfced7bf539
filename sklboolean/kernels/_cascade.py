"""A cascade of support rows with feedback: the kernel perceptron over partitions.

As in the cascade of Graf et al. (2005), partitions send up their support rows, and the
union goes back to all of them, until no partition has anything left to learn. A
support vector machine can be trained anew from its support vectors; what a perceptron
knows is not in the rows on which it erred alone: coefficients travel along and are
mixed.

In each epoch every partition is learned from the same hypothesis; then coefficients are
mixed in shares by the updates of each partition. In the space of the kernel this is
iterative parameter mixing, with the mistake bound of Theorem 3 of McDonald, Hall, Mann
(2010). Coefficients stay integers over `UNIT`: shares and the mix are rounded to
multiples of 1 / `UNIT`, and all decisions are exact for the hypotheses so made.
"""

from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from sklboolean._core.partitions import (
    TableSchema,
    load_partition,
    open_partitions,
    prefix_errors,
)
from sklboolean._core.validation import encode_classes, given_classes
from sklboolean.kernels._dual_state import DualState, join_tables
from sklboolean.kernels._dual_training import UNIT
from sklboolean.kernels._learning import (
    TOO_LONG,
    Lesson,
    check_kind,
    check_parameters,
    choose_steps,
    current_state,
    learn_more,
    open_lesson,
    publish,
    read_table,
)
from sklboolean.kernels._model import is_precomputed


def fit_cascade(learner, partitions, classes, resume):
    """Learn from partitions and publish the model.

    Parameters
    ----------
    learner : KernelPerceptron
    partitions : as given by the user
    classes : array-like of shape (n_classes,) or None
    resume : bool
        Whether the learner keeps what it learned before.
    """
    check_parameters(learner)
    _check_mixable(learner)
    if resume:
        check_kind(learner)
    sources = open_partitions(partitions)
    classes = given_classes(learner, classes, resume)
    if len(sources) == 1:
        _fit_one(learner, sources[0], classes, resume)
        return
    layout = TableSchema.of(learner) if resume else None
    with Parallel(n_jobs=learner.n_jobs) as parallel:
        surveys = parallel(
            delayed(_survey_partition)(clone(learner), number, *source)
            for number, source in enumerate(sources)
        )
        layout, classes = _agree(surveys, layout, classes)
        layout.set_attributes(learner)
        learner.classes_ = classes
        steps = choose_steps(learner, classes, coarsest=UNIT)
        state = current_state(learner) if resume else None
        before = Lesson(learner, steps, state).state
        sizes = [survey.n_samples for survey in surveys]
        _check_range(learner, steps, before, sum(sizes))
        epochs = _epochs(parallel, learner, steps, layout, sources, sizes, before)
        mistakes, updates, state = [], 0, before
        for state, made, changed in epochs:
            mistakes.append(made)
            updates += changed
            if learner.verbose:
                print(
                    f"[KernelPerceptron] epoch {len(mistakes)}: {made} mistakes, "
                    f"{changed} updates, {len(state.support)} support rows"
                )
    earlier = (learner.mistakes_per_epoch_, learner.n_updates_) if resume else ([], 0)
    learner.mistakes_per_epoch_ = earlier[0] + mistakes
    learner.n_mistakes_ = sum(learner.mistakes_per_epoch_)
    learner.n_updates_ = earlier[1] + updates
    learner._budget_history = Lesson(learner, steps).budget_history
    publish(learner, state, None)
    learner.n_iter_ = len(mistakes)


def _agree(surveys, layout, classes):
    """Find the schema and the classes of all partitions."""
    layout = surveys[0].layout if layout is None else layout
    for number, survey in enumerate(surveys):
        with prefix_errors(number):
            layout.check(survey.layout)
    if classes is None:
        classes, _ = encode_classes(np.concatenate([s.labels for s in surveys]))
    return layout, classes


def _check_mixable(learner):
    problems = {
        "kernel='precomputed'": is_precomputed(learner),
        "average='voted'": learner.average == "voted",
        "max_support": learner.max_support is not None,
        "probability=True": learner.probability,
        "class_weight='balanced'": learner.class_weight == "balanced",
    }
    for name, given in problems.items():
        if given:
            raise ValueError(
                f"fit_partitions cannot take {name}: it needs all rows in one stream. "
                "Use fit, or the default."
            )


def _check_range(learner, steps, before, n_samples):
    """Refuse what may pass 64 bits: shares and times multiply the coefficients."""
    largest = learner.max_iter * int(steps.weights.max())
    if before.coefficients.size:
        largest += int(np.abs(before.coefficients).max())
    n_seen = before.n_seen + learner.max_iter * n_samples
    if largest * max(UNIT, n_seen + 1) >= 2**61:
        raise ValueError(TOO_LONG)


def _fit_one(learner, source, classes, resume):
    with prefix_errors(0):
        X, y = load_partition(*source)
        lesson = open_lesson(learner, X, y, classes, resume, part=classes is not None)
    learner.n_iter_ = learn_more(
        learner, *lesson, resume, learner.max_iter, False, part=False
    )


class Survey(NamedTuple):
    """What is to be known of a partition before learning."""

    layout: TableSchema
    labels: np.ndarray
    n_samples: int


def _survey_partition(learner, number, *source):
    with prefix_errors(number):
        learner = clone(learner)
        _, y = read_table(learner, *load_partition(*source), reset=True)
        labels, _ = encode_classes(y, min_classes=1)
        return Survey(TableSchema.of(learner), labels, len(y))


def _epochs(parallel, learner, steps, layout, sources, sizes, state):
    """Yield (state, mistakes, updates) after each epoch, until one without updates."""
    # Rows are numbered through all partitions, the same in every epoch.
    firsts = state.n_seen + np.cumsum([0, *sizes[:-1]])
    for _ in range(learner.max_iter):
        results = parallel(
            delayed(_train_partition)(
                clone(learner), learner.classes_, steps, layout, state, number, first,
                n_samples, *source,
            )
            for number, (first, n_samples, source) in enumerate(
                zip(firsts, sizes, sources, strict=True)
            )
        )  # fmt: skip
        states, mistakes, updates = zip(*results, strict=True)
        state = mix_duals(state, states, integer_shares(updates), layout.n_features)
        yield state, sum(mistakes), sum(updates)
        if not any(updates):
            return


def _train_partition(
    learner, classes, steps, layout, state, number, first, n_samples, *source
):  # fmt: skip
    """One task: one epoch of one partition."""
    with prefix_errors(number):
        learner = clone(learner)
        table, y = read_table(learner, *load_partition(*source), reset=True)
        layout.check(TableSchema.of(learner))
        _, codes = encode_classes(y, classes)
        if len(codes) != n_samples:
            raise ValueError(
                f"{n_samples} rows were loaded at first, and now {len(codes)}: support "
                "rows are known by their numbers, so that the same rows must be "
                "loaded every time."
            )
    # The lesson numbers rows by their time; here they are numbered once for all epochs.
    lesson = Lesson(learner, steps, state)
    after, trainings = lesson.learn(table, codes, max_iter=1, shuffle=False)
    new = after.support >= state.n_seen
    after.support[new] += first - state.n_seen
    mistakes = sum(training.mistakes[0] for training in trainings)
    updates = sum(training.updates[0] for training in trainings)
    return after, mistakes, updates


def integer_shares(updates):
    """Return the shares of the partitions, by their updates, as integers over `UNIT`.

    They add up to `UNIT`, what rounding leaves going to the largest.
    """
    updates = np.asarray(updates, dtype=np.int64)
    if not updates.any():
        updates = np.ones_like(updates)
    shares = UNIT * updates // updates.sum()
    shares[np.argmax(shares)] += UNIT - shares.sum()
    return shares


def mix_duals(before, afters, shares, n_features):
    """Mix the states that an epoch made of one state.

    Parameters
    ----------
    before : DualState
    afters : sequence of DualState
        In the order of the partitions. A support row of the earlier state that erred
        again stands in them twice.
    shares : ndarray of shape (n_partitions,), int64
        Over `UNIT`.
    n_features : int

    Returns
    -------
    state : DualState
    """
    states = [before, *afters]
    numbers, rows, where = np.unique(
        np.concatenate([state.support for state in states]),
        return_index=True, return_inverse=True,
    )  # fmt: skip
    table = join_tables([state.table for state in states], n_features)
    edges = np.cumsum([len(state.support) for state in states])[:-1]
    places = np.split(where, edges)

    def spread(columns, place):
        total = np.zeros((len(columns), len(numbers)), dtype=np.int64)
        np.add.at(total.T, place, columns.T)
        return total

    coefficients = np.zeros((len(before.coefficients), len(numbers)), dtype=np.int64)
    # The mean is over all examples of all partitions: what each added is added.
    summed = spread(before.averaged(), places[0])
    start = summed.copy()
    n_seen = before.n_seen
    for share, after, place in zip(shares, afters, places[1:], strict=True):
        coefficients += share * spread(after.coefficients, place)
        summed += spread(after.averaged(), place) - start
        n_seen += after.n_seen - before.n_seen
    coefficients = (coefficients + UNIT // 2) // UNIT
    timed = (n_seen + 1) * coefficients - summed
    if before.average != "mean":
        timed[:] = 0
    kept = coefficients.any(axis=0) | timed.any(axis=0)
    return DualState(
        table[rows[kept]], numbers[kept], coefficients[:, kept], timed[:, kept],
        n_seen, before.unit, before.average, before.changes,
    )  # fmt: skip
