"""The states that each column of the user's data may take, and sums for a target."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from sklboolean._core.formula import FirstRule
from sklboolean._core.parameters import check_real
from sklboolean.preprocessing._derived_columns import DateColumn
from sklboolean.preprocessing._frames import TAGS

SIGNS = {"up": 1, "down": -1}
LARGEST = 2.0**40  # bounds of whole numbers below are exact to less than 1/2


@dataclass(frozen=True)
class LegalStates:
    """The values that a column can be changed to.

    Attributes
    ----------
    features : ndarray of shape (n_column_features,), int
        Features of the column in the last step.
    bits : ndarray of shape (n_states, n_column_features), bool
    values : list of n_states values
        In the user's units: a number or level in each interval, a level, a Boolean.
    kind : str
        As in ``kinds_`` of `BooleanEncoder`.
    """

    features: np.ndarray
    bits: np.ndarray
    values: list
    kind: str

    def place_of(self, bits):
        """Number the state of a sample; -1 for a missing or unknown value."""
        is_same = (self.bits == bits[self.features]).all(axis=1)
        return int(is_same.argmax()) if is_same.any() else -1


def legal_states(columns):
    """List the legal states of each column: no missing and no unknown values."""
    encoded = columns.encoded
    binarize = columns.formula.columns.binarize or 0.0
    # The features of each column.
    order = np.argsort(columns.owners, kind="stable")
    ends = np.searchsorted(columns.owners[order], np.arange(1, len(encoded)))
    states = []
    for fitted, features in zip(encoded, np.split(order, ends), strict=True):
        if fitted is None:
            # The feature is the column: 0, or a number above the threshold.
            values = [0.0, max(1.0, np.floor(binarize) + 1)] if len(features) else []
            bits = np.array([[False], [True]])[: len(values), : len(features)]
            states.append(LegalStates(features, bits, values, "boolean"))
            continue
        bits = _bits_of_states(fitted, encoded)
        values = fitted.decode(bits).tolist()
        # Columns of bools must be answered by bools.
        if fitted.kind == "boolean" and fitted.insists:  # not 0 and 1
            values = list(map(bool, values))
        states.append(LegalStates(features, bits, values, fitted.kind))
    return states


def changed_bits(states_by_column, bits, changes):
    """Put other states, pairs of a column and a state, into the bits of a sample."""
    bits = bits.copy()
    for column, state in changes:
        states = states_by_column[column]
        bits[states.features] = states.bits[state]
    return bits


def is_reached(predictions, targets):
    """Mark the predictions that are targets: labels, or one pair of bounds."""
    if isinstance(targets[0], tuple):
        low, high = targets[0]
        return (low <= np.asarray(predictions)) & (np.asarray(predictions) <= high)
    return np.isin(predictions, targets)


def check_changes(names, states, costs, immutable, directions, *, has_functions=True):
    """Raise a ValueError for unknown columns, bad costs and directions."""
    arguments = {"costs": costs, "immutable": immutable, "directions": directions}
    for argument, labels in arguments.items():
        kind, wanted = dict, "dict from columns"
        if argument == "immutable":
            kind, wanted = Collection, "list of columns"
        if isinstance(labels, str) or not isinstance(labels, kind):
            raise ValueError(f"{argument} must be a {wanted}; got {labels!r}.")
        for label in labels:
            if label not in names:
                raise ValueError(
                    f"{argument} names {label!r}, which is not a column. The columns "
                    f"are {list(names)}."
                )
    for label, cost in costs.items():
        if not (has_functions and callable(cost)):
            check_real(cost, f"costs[{label!r}]", 0.0, strict=True)
    for label, direction in directions.items():
        kind = states[list(names).index(label)].kind
        if direction not in SIGNS or kind == "category":
            raise ValueError(
                f"directions[{label!r}] is {direction!r}. Give 'up' or 'down', for "
                "columns of numbers, dates, ordered levels or Booleans only."
            )


def possible_bits(columns):
    """List the bits that the features of each column can have, with no or any value.

    Returns
    -------
    bits : list of dict from feature to ndarray of shape (n_states,), bool
    """
    possible = []
    for fitted, states in zip(columns.encoded, legal_states(columns), strict=True):
        # More states: no condition holds, only the mark of a special code, and only
        # that of missing values, which is the last feature.
        n_features, n_marks = len(states.features), len(getattr(fitted, "special", ()))
        n_marks += getattr(fitted, "indicates_missing", False)
        marks = np.eye(n_features, dtype=bool)[n_features - n_marks :]
        bits = np.vstack([states.bits, np.zeros((1, n_features), bool), marks])
        possible.append(dict(zip(states.features.tolist(), bits.T, strict=True)))
    return possible


def _bits_of_states(fitted, columns):
    """Write the conditions that hold in each state of a column of an encoder.

    Lists of tags do not change, nor do dates of which one is measured from the other.
    """
    origins = [(c, c.origin) for c in columns if isinstance(c, DateColumn)]
    pairs = [{c.name, origin[0]} for c, origin in origins if isinstance(origin, tuple)]
    if fitted.kind == TAGS or any(fitted.name in pair for pair in pairs):
        return np.empty((0, fitted.n_conditions), dtype=bool)
    if isinstance(fitted, DateColumn):
        return fitted.states[0]
    if fitted.kind == "category":
        n_levels = len(fitted.levels) + bool(fitted.rare)
        return np.eye(n_levels, fitted.n_conditions, dtype=bool)
    # The bounds of each interval; special codes are no values to change to.
    bits = np.zeros((len(fitted.thresholds) + 1, fitted.n_conditions), dtype=bool)
    for bits_of_one, (first, end) in zip(bits, fitted.runs, strict=False):
        bits_of_one[first:end] = True
    return bits


def sums_for(formula, target):
    """Find sums that are at least 0 exactly where a formula predicts the target.

    Where a sum is 0, ``formula.predict`` decides.

    Parameters
    ----------
    formula : FirstRule or WeightedSum
    target : class label, or (low, high) for a regressor

    Returns
    -------
    weights : ndarray of shape (n_tests, n_terms)
    intercepts : ndarray of shape (n_tests,)
    slack : float
        Sums closer to 0 may have the wrong sign by rounding.

    None stands for all three where there are no such sums: scores of games of one class
    against one, and lists of rules whose weights would be rounded.
    """
    if isinstance(formula, FirstRule):
        return _signs_of_rules(formula, target)
    if formula.games is not None:
        return None
    weights, intercepts = formula.scaled()
    if formula.classes is None:
        # A regressor: prediction - low and high - prediction must reach 0.
        low, high = target
        weights = np.concatenate([weights, -weights])
        intercepts = np.array([intercepts[0] - low, high - intercepts[0]])
        is_used = np.isfinite(intercepts)
        weights, intercepts = weights[is_used], intercepts[is_used]
    elif len(weights) == 1:
        # Two classes: the score, or its opposite.
        sign = 1.0 if target == formula.classes[1] else -1.0
        weights, intercepts = sign * weights, sign * intercepts
    else:
        # More classes: the score of the target minus that of each other class.
        row = formula.classes.index(target)
        others = np.arange(len(weights)) != row
        weights = weights[row] - weights[others]
        intercepts = intercepts[row] - intercepts[others]
    size = np.abs(weights).sum(axis=1) + np.abs(intercepts)
    return weights, intercepts, 1e-9 * float(size.max(initial=0.0))


def _signs_of_rules(formula, target):
    """Weigh each rule more than all later rules whose label is on the other side.

    The sum is a whole number that is not 0, and above 0 where the first rule that holds
    has the target as its label.
    """
    labels = *formula.labels, formula.default
    signs = [1 if label == target else -1 for label in labels]
    # From the last rule to the first: a rule weighs 1 more than all later rules of the
    # other side.
    against = {1: 0.0, -1: 0.0}  # what the rules below have for each side
    weights = []
    for sign in reversed(signs):
        weights.append(sign * (against[-sign] + 1))
        against[sign] += against[-sign] + 1
    if abs(weights[-1]) > LARGEST:
        return None
    return np.array([weights[:0:-1]]), np.array([weights[0]]), 0.5
