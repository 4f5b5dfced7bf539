"""The cheapest changes that turn any model: all, in the order of their costs."""

from time import perf_counter

import numpy as np

from sklboolean.inspection._legal_states import is_reached

# A set of changes is a line of choices, int of shape (n_sets, n_columns): 0 where a
# column stays, k where it takes its state k - 1. The cheapest sets are found, then four
# times as many, and the model predicts those that are new, in order. The first that
# turns the prediction is an answer: all cheaper sets were tried.

FIRST_SETS = 256
MOST_AT_ONCE = 4096  # samples of one call of ``predict``
MOST_CHOICES = 2**27  # sets times columns


def cheapest_changes(costs, n_sets):
    """List the cheapest sets of changes, none first, in the order of their costs.

    A larger ``n_sets`` gives a longer list that begins with the same sets.

    Parameters
    ----------
    costs : list of ndarray of shape (n_states,)
        Costs of the states of each column, above 0; infinite where not allowed.
    n_sets : int

    Returns
    -------
    totals : ndarray of shape (min(n_sets, n_possible),), float64
    choices : ndarray of shape (min(n_sets, n_possible), n_columns), int
    """
    most_states = max(map(len, costs), default=0)
    totals = np.zeros(1)
    choices = np.zeros((1, len(costs)), dtype=np.min_scalar_type(most_states))
    least = [of_states.min(initial=np.inf) for of_states in costs]
    # Of the n_sets cheapest, those without a column are among the n_sets cheapest
    # without it. Cheap columns first: few sets leave room for an expensive one.
    for column in np.argsort(least, kind="stable")[: np.isfinite(least).sum()]:
        states = np.flatnonzero(np.isfinite(costs[column]))
        highest = totals[-1] if len(totals) == n_sets else np.inf
        n_open = np.count_nonzero(totals + least[column] <= highest)
        sums = totals[:n_open, None] + costs[column][states]
        parents = np.concatenate(
            [np.arange(len(totals)), np.repeat(np.arange(n_open), len(states))]
        )
        new = np.concatenate([np.zeros(len(totals), int), np.tile(states + 1, n_open)])
        totals = np.concatenate([totals, sums.ravel()])
        # A stable order, for the sake of equal costs.
        order = np.argsort(totals, kind="stable")[:n_sets]
        totals, choices = totals[order], choices[parents[order]]
        choices[:, column] = new[order]
    return totals, choices


def chosen(options, choices):
    """Make samples of states: line k of the options has state k of each column."""
    if not hasattr(options, "iloc"):
        return options[choices, np.arange(choices.shape[1])]
    samples = options.iloc[np.zeros(len(choices), dtype=np.intp)].copy()
    for column in np.flatnonzero(choices.any(axis=0)).tolist():
        values = options.iloc[:, column].array.take(choices[:, column])
        samples.isetitem(column, values)
    return samples


def ordered_answers(predict, options, costs, targets, n_wanted, most_changed, deadline):
    """Search the changes of one sample, as `FormulaChanges.answers` does.

    ``predict`` takes samples of the user. ``options`` is a table whose line 0 is the
    sample; line k has state k - 1 of each column.
    """
    highest = [of[np.isfinite(of)].max(initial=0.0) for of in costs]
    # Sets that cost more change more columns.
    limit = sum(sorted(highest)[-most_changed:]) * (1 + 1e-9)
    answers, excluded, n_tried, n_sets = [], [], 0, FIRST_SETS
    while n_sets * len(costs) <= MOST_CHOICES:
        totals, choices = cheapest_changes(costs, n_sets)
        for start in range(n_tried, len(totals), MOST_AT_ONCE):
            if totals[start] > limit:
                return answers, np.inf
            if start and deadline is not None and perf_counter() > deadline:
                return answers, totals[start]
            part = choices[start : start + MOST_AT_ONCE]
            is_allowed = (part > 0).sum(axis=1) <= most_changed
            numbers = start + np.flatnonzero(is_allowed)
            if not len(numbers):
                continue
            predictions = predict(chosen(options, choices[numbers]))
            for k in numbers[is_reached(predictions, targets)].tolist():
                changed = choices[k] > 0
                if any(changed[columns].all() for columns in excluded):
                    continue
                changes = [(j, choices[k, j] - 1) for j in np.flatnonzero(changed)]
                answers.append((totals[k], changes))
                excluded.append(changed)
                if len(answers) == n_wanted or not changes:
                    return answers, np.inf
        n_tried = len(totals)
        if n_tried < n_sets:  # all sets were tried
            return answers, np.inf
        n_sets *= 4
    return answers, totals[-1]
