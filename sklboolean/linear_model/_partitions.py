"""Iterative parameter mixing: linear learners over partitions of the rows.

In each epoch every partition is learned from the same weights, in its own order; then
the weights are mixed, in shares mu_i >= 0 that add up to 1. McDonald, Hall, Mann
(2010), Theorem 3: on examples of length R at most that are separable with margin gamma
the perceptron then makes k_i,n mistakes in partition i and epoch n with
sum over n, i of mu_i,n k_i,n <= (R / gamma) ** 2, whatever the shares. Ours are in
proportion to the updates, which are the mistakes of the theorem, so that partitions in
which nothing was left to learn do not dilute the others.

What is a weight is mixed: sums by the arithmetic, Winnow's factors by the geometric
mean, the arithmetic mean of what its updates add up. What counts is added up: examples,
squared steps, and the sum of the hypotheses after each example, from which the mean is
published. That mean is over all examples of all partitions, each with the hypothesis of
its own partition.
"""

from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from sklboolean._core.partitions import (
    Layout,
    agree,
    load_partition,
    prefix_errors,
)
from sklboolean._core.validation import encode_classes
from sklboolean.linear_model._fitting import Fitter, Patience, class_weights
from sklboolean.linear_model._tables import read_table
from sklboolean.linear_model._training import (
    MINUS,
    PLUS,
    SINCE,
    SUM,
    OnlineState,
    Progress,
)


def check_mixable(learner):
    """Refuse what needs all rows in one place."""
    if learner.average == "longest":
        raise ValueError(
            "average='longest' needs one stream, in which a hypothesis survives; "
            "fit_partitions takes average='mean' or None."
        )
    if learner.early_stopping:
        raise ValueError(
            "early_stopping=True holds out rows of one table; fit_partitions takes "
            "tol, which watches the mistakes."
        )
    if learner.probability:
        raise ValueError(
            "probability=True holds out rows of one table; after fit_partitions use "
            "CalibratedClassifierCV(FrozenEstimator(model)) on rows left aside."
        )
    if learner.class_weight == "balanced":
        raise ValueError(
            "class_weight='balanced' needs the labels of all partitions at once; "
            "give a dict of weights."
        )


class Survey(NamedTuple):
    """What is to be known of a partition before learning."""

    layout: Layout
    labels: np.ndarray
    parameters: dict
    initial: tuple


def survey(parallel, learner, sources, classes=None, layout=None):
    """Look at the partitions: at all of them when the classes are not known.

    Parameters
    ----------
    parallel : joblib.Parallel
    learner : AveragedPerceptron or Winnow
    sources : list of tuples
        Of `open_partitions`.
    classes : ndarray of shape (n_classes,) or None
    layout : Layout or None
        Of what was learned before.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
    fitter : Fitter
        Without rows.
    layout : Layout
    """
    seen = sources if classes is None else sources[:1]
    blank = clone(learner)
    surveys = parallel(
        delayed(_survey_partition)(blank, number, *source)
        for number, source in enumerate(seen)
    )
    layout, classes = agree(surveys, layout, classes)
    weights = class_weights(learner, classes)
    parameters = _for_classes(surveys[0].parameters, learner, classes)
    fitter = Fitter(learner, parameters, surveys[0].initial, None, None, weights)
    return classes, fitter, layout


def _for_classes(parameters, learner, classes):
    joint = learner.multi_class == "joint" and len(classes) > 2
    return parameters | {"joint": joint}


def _survey_partition(blank, number, *source):
    with prefix_errors(number):
        learner = clone(blank)
        table, y = read_table(learner, *load_partition(*source), reset=True)
        labels, _ = encode_classes(y, min_classes=1)
        return Survey(Layout.of(learner), labels, *learner._loop_parameters(table))


def mix_epochs(parallel, fitter, classes, layout, sources, state):
    """Yield (state, parts) after each epoch, ``parts`` being (mistakes, updates, rows).

    Parameters
    ----------
    parallel : joblib.Parallel
    fitter : Fitter
    classes : ndarray of shape (n_classes,)
    layout : Layout
    sources : list of tuples
        Of `open_partitions`.
    state : OnlineState
        From which the first epoch begins. Not changed.
    """
    blank = clone(fitter.learner)
    for _ in range(fitter.learner.max_iter):
        results = parallel(
            delayed(_train_partition)(
                blank, fitter.weights, classes, layout, state, number, *source
            )
            for number, source in enumerate(sources)
        )
        states, parts = zip(*results, strict=True)
        shares = mixing_shares([updates for _, updates, _ in parts])
        state = mix_states(state, states, shares, fitter.parameters)
        yield state, parts


def _train_partition(blank, weights, classes, layout, state, number, *source):
    """One task: one epoch of one partition."""
    with prefix_errors(number):
        learner = clone(blank)
        table, y = read_table(learner, *load_partition(*source), reset=True)
        layout.check(Layout.of(learner))
        _, codes = encode_classes(y, classes)
        parameters, initial = learner._loop_parameters(table)
        parameters = _for_classes(parameters, learner, classes)
        fitter = Fitter(learner, parameters, initial, table, codes, weights)
        # Tasks may share the memory of the state, or have it read-only.
        state = state.copy()
        progress = fitter.train(state, np.arange(len(codes)), 1, False)
        return state, (progress.mistakes[0], progress.updates[0], len(codes))


def mixing_shares(updates):
    """Return the share of each partition: by its updates, equal when there are none."""
    updates = np.asarray(updates, dtype=np.float64)
    if not updates.any():
        return np.full(len(updates), 1 / len(updates))
    return updates / updates.sum()


def mix_states(before, afters, shares, parameters):
    """Mix the states that an epoch made of one state.

    Parameters
    ----------
    before : OnlineState
    afters : sequence of OnlineState
        In the order of the partitions.
    shares : ndarray of shape (n_partitions,), float64
    parameters : dict
        Of `OnlineLoop`.

    Returns
    -------
    state : OnlineState
        The only state itself, when there is one.
    """
    if len(afters) == 1:
        return afters[0]
    old = before.values
    news = [after.values for after in afters]
    t = old["t"] + sum(new["t"] - old["t"] for new in news)
    values = old | {"t": t, "scale": 1.0, "clock": float(t)}
    values["squares"] = _added(old["squares"], [new["squares"] for new in news])
    if parameters["rule"] == "additive":
        values["weights"] = _arithmetic(
            before.unscaled(), [after.unscaled() for after in afters], shares
        )
    else:
        parts = [new["parts"][:, :, : MINUS + 1] for new in news]
        mixed = _geometric(old["parts"][:, :, : MINUS + 1], parts, shares)
        values["parts"] = np.zeros_like(old["parts"])
        values["parts"][:, :, : MINUS + 1] = mixed
        values["weights"] = _multiplied_weights(mixed, parameters)
    if parameters["average"] == "mean":
        sums = _added(before.sums(), [after.sums() for after in afters])
        if parameters["rule"] == "additive":
            values["lags"] = t * values["weights"] - sums
        else:
            values["parts"][:, :, SUM] = sums
            values["parts"][:, :, SINCE] = t
    return OnlineState(values, before.kind)


def _added(old, news):
    return old + sum(new - old for new in news)


def _arithmetic(old, news, shares):
    # From the old weights on: what no partition changed stays to the last bit.
    changes = zip(shares, news, strict=True)
    return old + sum(share * (new - old) for share, new in changes)


def _geometric(old, news, shares):
    # A weight of 0 was nullified, or is padding: it is 0 in the mix.
    alive = old > 0
    mixed = old.copy()
    for share, new in zip(shares, news, strict=True):
        mixed[alive] *= (new[alive] / old[alive]) ** share
    return mixed


def _multiplied_weights(parts, parameters):
    weights = parts[:, :, PLUS] - parts[:, :, MINUS]
    if not parameters["fit_intercept"]:
        weights[-1] = 0.0
    if parameters["rule"] == "complement":
        weights[-2] = parts[: parameters["n_features"], :, MINUS].sum(axis=0)
    return weights


def watched_epochs(fitter, epochs):
    """Follow the epochs until the learner's ``tol`` says stop: (state, progress)."""
    stopping, progress, state = Patience(fitter.learner), Progress(), None
    for state, parts in epochs:  # noqa: B007
        mistakes, updates, n_samples = map(sum, zip(*parts, strict=True))
        progress.mistakes.append(mistakes)
        progress.updates.append(updates)
        fitter.report(progress)
        if stopping.is_over(-mistakes / n_samples):
            break
    return state, progress


def learn_partitions(learner, sources, classes, layout, state):
    """Learn from partitions.

    Parameters
    ----------
    learner : AveragedPerceptron or Winnow
        Its parameters are read.
    sources : list of tuples
        Of `open_partitions`.
    classes : ndarray of shape (n_classes,) or None
    layout : Layout or None
    state : OnlineState or None
        What was learned before.

    Returns
    -------
    classes, fitter, layout, state, progress
    """
    # One pool for all epochs: arrays are mapped or sent once where it can be helped.
    with Parallel(n_jobs=learner.n_jobs) as parallel:
        classes, fitter, layout = survey(parallel, learner, sources, classes, layout)
        state = fitter.open_state(state)
        epochs = mix_epochs(parallel, fitter, classes, layout, sources, state)
        state, progress = watched_epochs(fitter, epochs)
    return classes, fitter, layout, state, progress
