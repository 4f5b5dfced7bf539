"""Proofs that a score moves in one direction as a column grows, or counterexamples.

A column has states, from its smallest interval to its largest. A score never falls if
it does not between any state and the next one, whatever the states of other columns.
"""

# The steps for a column, of which the first that decides ends the check:
#
# 1. Each term of a formula by itself: its weight, where its conditions on the column
#    hold, never falls from state to state. A part, such as a tree, of which one term
#    holds in each sample: no two terms that may hold in samples with equal other
#    columns have values in the wrong order. In a list of rules, of falling values, no
#    rule ceases to hold.
# 2. Samples of X, with each of the values of the column.
# 3. All samples: branch and bound over the states of the other columns, for each pair
#    of neighbouring states. The bound adds up what terms may still lower the change by.
#
# Terms that hold are marked in arrays of shape (n_states, n_terms) for each column.

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from warnings import catch_warnings

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.directions import sentences
from sklboolean._core.feature_names import last_step, split_pipeline
from sklboolean._core.formula import FirstRule
from sklboolean._core.validation import is_missing
from sklboolean.inspection._counterfactuals import (
    changeable_table,
    check_predicts,
    single_output,
    with_cells,
)
from sklboolean.inspection._formulas import conjunctions_of
from sklboolean.inspection._legal_states import legal_states, possible_bits
from sklboolean.inspection._user_columns import UserColumns, sources_by_column
from sklboolean.preprocessing._frames import TAGS

# Samples and values of a column that are tried, and nodes of a search for a column.
MOST_SAMPLES, MOST_VALUES, MOST_NODES = 200, 32, 20_000
TOLERANCE = 1e-9  # of a change, as a share of the largest score or weight


@dataclass(frozen=True)
class MonotoneCheck:
    """Verdicts on the directions of columns, as `check_monotone` makes them.

    Parameters
    ----------
    directions : dict of str to {-1, 1}
        The directions that were checked, by column.
    verdicts : dict of str to {"proved", "contradicted", "searched"}
        For each column. "searched": no contradiction was found, and nothing is proved.
    rows : dict of str to data frame or ndarray of shape (2, n_columns)
        Two samples for each column that is contradicted. They differ in this column
        only, which is larger in the second one.

    Attributes
    ----------
    is_proved : bool
        Whether all directions are proved.

    Examples
    --------
    >>> from sklboolean.inspection import MonotoneCheck
    >>> check = MonotoneCheck({"age": 1}, {"age": "searched"}, {})
    >>> check.is_proved
    False
    """

    directions: dict
    verdicts: dict
    rows: dict

    def __str__(self):
        return self.to_text()

    @property
    def is_proved(self):
        """Whether all directions are proved."""
        return set(self.verdicts.values()) <= {"proved"}

    def to_text(self) -> str:
        """Write the verdicts.

        Returns
        -------
        text : str
            A line for each column.
        """
        ends = {
            "proved": "This is proved for all samples.",
            "contradicted": "This is wrong: two rows contradict it.",
            "searched": "No contradiction was found. This is no proof.",
        }
        verdicts = self.verdicts.values()
        pairs = zip(sentences(self.directions), verdicts, strict=True)
        return "\n".join(f"{sentence} {ends[verdict]}" for sentence, verdict in pairs)


def check_monotone(model, X, columns=None) -> MonotoneCheck:
    """Prove that a score moves in one direction only with a column, or contradict it.

    The score is the one of the second of two classes, or the prediction of a regressor.
    For a formula, such as `ConjunctionLogisticRegression`, boosted trees on bits, or a
    list of rules, behind a `BooleanEncoder`, the check is exact up to rounding: it
    looks at all values of all columns, missing and unknown ones too. For any other
    model it only searches among the samples of X, with other values of the column.

    Parameters
    ----------
    model : estimator
        A fitted classifier of two classes, regressor, pipeline or search.
    X : data frame or array-like of shape (n_samples, n_columns)
        Samples, of which some 200 are tried.
    columns : dict of str to {-1, 1}, or None, default=None
        1 for columns as whose values grow the score must not fall, -1 where it must not
        rise. They hold numbers, dates, ordered levels or Booleans. Columns of an array
        are named x0, x1, ... None: the directions with which the model was fitted.

    Returns
    -------
    check : MonotoneCheck
        With ``is_proved``, ``verdicts``, ``rows`` and ``to_text()``.

    Raises
    ------
    ValueError
        For more than two classes, an unknown column, one of levels without an order,
        and another direction than -1 and 1.

    See Also
    --------
    counterfactuals : The cheapest changes that turn a prediction.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklboolean import BooleanEncoder, ConjunctionLogisticRegression
    >>> from sklboolean.inspection import check_monotone
    >>> X = pd.DataFrame({"age": [20, 30, 40, 50] * 10, "rent": [0, 1, 1, 0, 1] * 8})
    >>> y = X["age"] > 35
    >>> model = ConjunctionLogisticRegression(C=1.0, monotonic_cst={"age": 1})
    >>> model = make_pipeline(BooleanEncoder(), model).fit(X, y)
    >>> print(check_monotone(model, X).to_text())
    The score never falls as age grows. This is proved for all samples.
    """
    score, X = score_of(model), changeable_table(X)
    formula_columns = _formula_columns(model, X)
    if formula_columns is None:
        numbers = range(X.shape[1])
        names = [*map(str, getattr(X, "columns", [f"x{j}" for j in numbers]))]
        has_order = [_has_order(X, column) for column in numbers]
    else:
        X, names = formula_columns.table(X), formula_columns.names
        states = legal_states(formula_columns)
        has_order = [each.kind not in ("category", TAGS) for each in states]
    signs = [(-1, 0, 1) if is_ordered else (0,) for is_ordered in has_order]
    signs = dict(zip(names, signs, strict=True))
    directions = _checked_directions(model, signs, columns)
    verdicts, rows = {}, {}
    for name, direction in directions.items():
        column = names.index(name)
        if formula_columns is None:
            values, is_proved = _values_of(X, column), False
            two_rows = contradiction(score, X, column, values, direction)
        else:
            proof = FormulaProof(formula_columns, states, column)
            is_proved, two_rows = proof.decide(score, X, direction)
        verdicts[name] = "proved" if is_proved else "searched"
        if two_rows is not None:
            verdicts[name], rows[name] = "contradicted", two_rows
    return MonotoneCheck(directions, verdicts, rows)


def score_of(model):
    """Make a function that computes the score of samples."""
    check_is_fitted(model)
    check_predicts(model)
    classes = getattr(model, "classes_", None)
    if classes is None:
        return lambda X: single_output(model.predict(X))
    single_output(classes)  # else the classes are several arrays
    if len(classes) != 2:
        raise ValueError(
            f"check_monotone needs a regressor or two classes; the model has "
            f"{len(classes)}. Check a model of one class against the rest."
        )
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            return lambda X: np.reshape(getattr(model, method)(X), (len(X), -1))[:, -1]
    return lambda X: (model.predict(X) == classes[1]).astype(float)


def _formula_columns(model, X):
    """Read the columns of a formula of the user's data; None: the model is no such."""
    transformers, last, _ = split_pipeline(model)
    if transformers is not None and sources_by_column(transformers) is None:
        return None
    try:
        formula = conjunctions_of(last)
        if formula is None or getattr(formula, "games", None):
            return None
        columns = UserColumns.of(model, formula=formula)
        columns.checked_bits(X)
    except ValueError:  # the sum is another function, or one of numbers
        return None
    return columns


def _checked_directions(model, signs, directions):
    """Check directions by column; None stands for those of the model.

    ``signs`` holds those that each column may have.
    """
    if directions is None:
        directions = getattr(last_step(model), "monotonic_cst", None)
        if directions is None:
            raise ValueError(
                "The model has no monotonic_cst. Give columns, for example "
                "columns={'age': 1}."
            )
    if not isinstance(directions, dict):
        given = np.ravel(directions).tolist()
        if len(given) != len(signs):
            raise ValueError(
                f"The number of directions is {len(given)}, and X has {len(signs)} "
                "columns. Give a dict, for example columns={'age': 1}."
            )
        directions = dict(zip(signs, given, strict=True))
    directions = {str(name): direction for name, direction in directions.items()}
    for name, direction in directions.items():
        if name not in signs:
            raise ValueError(
                f"columns names {name!r}, which is not a column of X. The columns are "
                f"{[*signs]}."
            )
        if isinstance(direction, bool) or direction not in signs[name]:
            raise ValueError(
                f"The direction of {name!r} is {direction!r}. Give -1 or 1, for "
                "columns of numbers, dates, ordered levels or Booleans only."
            )
    return {name: sign for name, sign in directions.items() if sign}


def _has_order(X, column):
    """Test whether a column holds no levels without an order."""
    values = X.iloc[:, column] if hasattr(X, "iloc") else X[:, column]
    if hasattr(values.dtype, "ordered"):
        return bool(values.dtype.ordered)
    return not any(isinstance(value, str) for value in np.asarray(values, object))


def _values_of(X, column):
    """List some values of a column of samples, ascending."""
    values = X.iloc[:, column] if hasattr(X, "iloc") else X[:, column]
    if hasattr(values.dtype, "categories"):
        values = np.asarray(values.cat.remove_unused_categories().cat.categories)
    else:
        values = np.asarray(values)
        values = np.unique(values[~is_missing(values)])
    places = np.linspace(0, len(values) - 1, min(len(values), MOST_VALUES))
    return values[np.rint(places).astype(int)].tolist()


def contradiction(score, X, column, values, direction):
    """Find two samples whose scores move against a direction; None: none was found.

    The column takes each of some values, ascending, in some samples of X.
    """
    samples = np.arange(0, len(X), max(1, len(X) // MOST_SAMPLES))
    numbers, shape = np.repeat(samples, len(values)), (len(samples), len(values))
    if not len(numbers):
        return None
    cells = ((row, column, values[row % len(values)]) for row in range(len(numbers)))
    changed_X, _ = with_cells(X, np.asarray(X, dtype=object), numbers, cells)
    with catch_warnings(action="ignore"):  # of levels that are not known
        scores = np.asarray(score(changed_X), dtype=np.float64)
    scores = direction * scores.reshape(shape)
    falls = np.maximum.accumulate(scores, axis=1) - scores
    sample, second = np.unravel_index(falls.argmax(), shape)
    if falls[sample, second] <= TOLERANCE * np.abs(scores).max():
        return None
    first = scores[sample, : second + 1].argmax()
    pair = sample * len(values) + np.array([first, second])
    return changed_X.iloc[pair] if hasattr(changed_X, "iloc") else changed_X[pair]


class FormulaProof:
    """The terms of a formula, and the states of the columns that they read.

    Parameters
    ----------
    columns : UserColumns
    states : list of LegalStates
    column : int
        Number of the column that grows.
    """

    def __init__(self, columns, states, column):
        self.columns, self.states, self.column = columns, states, column
        self.formula, self.possible = columns.formula, possible_bits(columns)
        self.n_states = len(states[column].bits)

    def decide(self, score, X, direction):
        """Prove a direction, or find two samples that contradict it.

        Returns
        -------
        is_proved : bool
        two_rows : data frame or ndarray of shape (2, n_columns), or None
        """
        is_linear = not self._reads_calendar()
        if is_linear and self.holds_by_terms(direction):
            return True, None
        values = self.states[self.column].values
        two_rows = contradiction(score, X, self.column, values, direction)
        if not is_linear:  # nothing is proved of dates that come again and again
            return False, two_rows
        first_state = 0
        while two_rows is None and first_state < self.n_states - 1:
            chosen, is_ended = self.least_change(direction, first_state)
            if not is_ended:
                return False, None
            if chosen is not None:
                pair = values[first_state : first_state + 2]
                sample = self._sample(X, chosen)
                # Where X or an encoder takes no such sample, nothing is decided.
                with suppress(ValueError):
                    two_rows = contradiction(
                        score, sample, self.column, pair, direction
                    )
                return False, two_rows
            first_state += 1
        return two_rows is None, two_rows

    def _reads_calendar(self):
        """Whether terms read the month, weekday or hour of the column."""
        fitted, states = self.columns.encoded[self.column], self.states[self.column]
        if fitted is None or states.kind in ("number", "ordered", "boolean"):
            return False
        levels = states.features[np.array(fitted.order()) < 0]
        levels = set(levels[: len(levels) - fitted.indicates_missing].tolist())
        used = {feature for term in self.formula.terms for feature, _ in term}
        return bool(levels & used)

    def _sample(self, X, chosen):
        """Put the states of other columns into the first sample."""
        cells = []
        for column, state in chosen.items():
            values, fitted = self.states[column].values, self.columns.encoded[column]
            # Behind the values: one without a condition, codes, and the missing value.
            codes = getattr(fitted, "special", ())
            value = dict(enumerate([*values, None, *codes])).get(state)
            if state == len(values) and getattr(fitted, "indicates_missing", False):
                value = f"not {values[0]}"
            cells.append((0, column, value))
        X = X[:1]
        return with_cells(X, np.asarray(X, dtype=object), np.array([0]), cells)[0]

    def _is_possible(self, column):
        """Mark the states of a column that samples may have."""
        states, fitted = self.states[column], self.columns.encoded[column]
        n_states = max(map(len, self.possible[column].values()), default=self.n_states)
        is_possible = np.ones(n_states, dtype=bool)
        if states.kind in ("number", "ordered") and fitted is not None:
            # Missing values have a feature of their own, or satisfy no condition.
            is_possible[len(states.bits)] = not fitted.indicates_missing
        return is_possible

    def marks(self, terms, column):
        """Mark the terms whose conditions on a column hold, in each of its states."""
        possible = self.possible[column]
        n_states = max(map(len, possible.values()), default=self.n_states)
        marks = np.ones((n_states, len(terms)), dtype=bool)
        for number, term in enumerate(terms):
            for feature, value in term:
                if self.columns.owners[feature] == column:
                    marks[:, number] &= possible[int(feature)] == value
        return marks

    def readers(self, terms):
        """Mark the columns that each term reads, of shape (n_columns, n_terms)."""
        readers = np.zeros((len(self.states), len(terms)), dtype=bool)
        for number, term in enumerate(terms):
            for feature, _ in term:
                readers[self.columns.owners[feature], number] = True
        return readers

    def values(self, direction):
        """List the weights of terms, or the values of rules and of the default."""
        formula = self.formula
        if not isinstance(formula, FirstRule):
            return direction * np.sign(formula.slope) * formula.weights[0]
        if formula.probabilities is None:
            labels = np.array([*formula.labels, formula.default])
            return direction * (labels == formula.classes[1])
        return direction * formula.probabilities[:, 1]

    def holds_by_terms(self, direction):
        """Test step 1."""
        terms, values = list(self.formula.terms), self.values(direction)
        marks = self.marks(terms, self.column)[: self.n_states]
        steps = np.diff(marks.astype(int), axis=0)
        if isinstance(self.formula, FirstRule):
            order = np.diff(values)
            return any(
                (sign * order <= 0).all() and (sign * steps >= 0).all()
                for sign in (1, -1)
            )
        alone = dict(zip(terms, values, strict=True))
        sign = direction * np.sign(self.formula.slope)
        for part in self.formula.parts:
            for term, value in part.items():
                if term:  # others are in the intercept
                    alone[term] -= sign * value
            if not self._part_holds(list(part), sign * np.array([*part.values()])):
                return False
        alone = np.array(list(alone.values()))
        alone[np.abs(alone) <= self._slack(values)] = 0.0
        return bool((steps * alone >= 0).all())

    def _part_holds(self, terms, values):
        """Test that no two terms of a part have values in the wrong order."""
        readers = self.readers(terms)
        if not readers[self.column].any():
            return True
        marks = self.marks(terms, self.column)[: self.n_states]
        # Whether a term may hold in a state, and the other one in a larger state.
        before = np.maximum.accumulate(marks[:-1], axis=0).astype(int)
        wrong = before.T @ marks[1:] > 0
        wrong &= values[:, None] > values + self._slack(values)
        for column in np.flatnonzero(readers.any(axis=1)):
            if column != self.column:
                marks = self.marks(terms, column).astype(int)
                wrong &= marks.T @ marks > 0
        return not wrong.any()

    def _slack(self, values):
        return 1e-3 * TOLERANCE * np.abs(values).sum()

    def least_change(self, direction, first_state):
        """Search a sample whose score falls from a state of the column to the next.

        Returns
        -------
        chosen : dict of column to state, or None
            None: there is none, if the search came to its end.
        is_ended : bool
        """
        terms, values = list(self.formula.terms), self.values(direction)
        at, then = self.marks(terms, self.column)[first_state : first_state + 2]
        if isinstance(self.formula, FirstRule):
            used = np.arange(len(terms))
            bound = partial(_change_of_rules, values, at, then)
        else:
            used = np.flatnonzero(at != then)
            bound = partial(_change_of_sum, (values * (then * 1.0 - at))[used])
        terms, slack = [terms[k] for k in used], self._slack(values)
        readers = self.readers(terms)
        readers[self.column] = False
        weights = readers @ np.abs(values[used])
        order = np.argsort(-weights, kind="stable")
        order = order[readers[order].any(axis=1)]
        options = [self._patterns(terms, column) for column in order]
        depths = range(len(order) + 1)
        later = np.array([readers[order[depth:]].any(axis=0) for depth in depths])
        waiting, n_nodes = [(np.ones(len(terms), dtype=bool), ())], 0
        while waiting:
            alive, states = waiting.pop()
            depth, n_nodes = len(states), n_nodes + 1
            if n_nodes > MOST_NODES:
                return None, False
            if bound(alive & ~later[depth], alive & later[depth]) >= -slack:
                continue
            if depth == len(order):
                return dict(zip(order.tolist(), states, strict=True)), True
            for marks, state in options[depth]:
                waiting.append((alive & marks, (*states, int(state))))
        return None, True

    def _patterns(self, terms, column):
        """List which terms the states of a column let hold, and a state for each."""
        states = np.flatnonzero(self._is_possible(column))
        marks = self.marks(terms, column)[states]
        marks, first = np.unique(marks, axis=0, return_index=True)
        return list(zip(marks, states[first], strict=True))


def _change_of_sum(changes, held, is_open):
    """Bound the change of a sum: terms that are open may lower it."""
    return changes[held].sum() + np.minimum(changes[is_open], 0).sum()


def _change_of_rules(values, at, then, held, is_open):
    """Bound the change of the value of the first rule that holds."""
    ends = []
    for marks, worst in ((at, max), (then, min)):
        can, must = marks & (held | is_open), marks & held
        last = must.argmax() if must.any() else len(must)
        ends.append(worst([*values[:last][can[:last]], values[last]]))
    return ends[1] - ends[0]
