"""The cheapest changes of a sample that turn its prediction, and how many it needs."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from sklboolean._core.exports import import_pandas
from sklboolean._core.formulas import python_value
from sklboolean._core.parameters import check_integer, check_real
from sklboolean._core.validation import is_missing
from sklboolean.inspection._explanations import as_frame
from sklboolean.inspection._least_changes import ChangeProblem
from sklboolean.inspection._legal_states import (
    SIGNS,
    check_changes,
    legal_states,
    sums_for,
)
from sklboolean.inspection._user_columns import UserColumns
from sklboolean.preprocessing._encoded_columns import level_text

# Each column has states, its legal values, and each state violates some terms of the
# formula. The search sees states only by the terms that they violate: states that
# violate the same terms have the same number, their pattern, and of these only the
# cheapest is tried. Pattern 0 is the present state of a sample, which costs nothing. So
# a search is over an array of shape (n_columns, 1 + n_patterns, n_terms), and its
# answer, a pattern for each column, is turned back into states, and these into values
# of the user.
# Each answer excludes its set of changed columns and all larger sets from later
# searches.

MOST_CELLS = 2**25  # of columns, states and terms
HIGHEST_COST = 1e100  # sums stay finite


@dataclass(frozen=True)
class Counterfactuals:
    """Samples with other predictions, as close to the given ones as possible.

    Parameters
    ----------
    values : data frame or ndarray of shape (n_found, n_columns)
        Changed samples in the units of X: of a changed number, one in the interval that
        it must lie in. A data frame of pandas if X is one of pandas, polars or pyarrow.
    samples : ndarray of shape (n_found,), int
        Number of the sample in X that each one changes.
    changed : ndarray of shape (n_found, n_columns), bool
        Columns that were changed.
    costs : ndarray of shape (n_found,), float64
        Cost of each.
    predictions : ndarray of shape (n_found,)
        What the model predicts for each.
    is_proved : ndarray of shape (n_samples,), bool
        Samples of X for which the search ended: there is nothing cheaper, and where it
        found fewer than were asked for, there are no more. False where the time limit
        ended it.
    column_names : list of str
        Names of the columns.
    original : ndarray of shape (n_samples, n_columns), dtype object
        The samples of X.

    See Also
    --------
    counterfactuals : Find them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.inspection import Counterfactuals
    >>> found = Counterfactuals(
    ...     np.array([[31, 0]]), np.array([0]), np.array([[True, False]]),
    ...     np.array([1.0]), np.array(["yes"]), np.array([True]), ["age", "ill"],
    ...     np.array([[25, 0]], dtype=object),
    ... )
    >>> print(found)
    sample 0: yes with age 31 instead of 25
    """

    values: object
    samples: np.ndarray
    changed: np.ndarray
    costs: np.ndarray
    predictions: np.ndarray
    is_proved: np.ndarray
    column_names: list
    original: np.ndarray

    def _changes(self):
        """Yield the place of each change: number, column, old and new value."""
        new = np.asarray(self.values, dtype=object)
        for number, column in np.argwhere(self.changed).tolist():
            old = self.original[self.samples[number], column]
            yield number, column, old, new[number, column]

    def to_frame(self):
        """Make a data frame with a row for each changed value.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns sample, number (that of the answer), column, old, new,
            cost, prediction and is_proved.

        Raises
        ------
        ImportError
            When pandas is not installed.
        """
        lines = [
            {
                "sample": int(self.samples[number]),
                "number": number,
                "column": self.column_names[column],
                "old": old,
                "new": new,
                "cost": float(self.costs[number]),
                "prediction": python_value(self.predictions[number]),
                "is_proved": bool(self.is_proved[self.samples[number]]),
            }
            for number, column, old, new in self._changes()
        ]
        return import_pandas().DataFrame(lines)

    def to_text(self) -> str:
        """Write a line for each answer, and then for each sample without one.

        Returns
        -------
        text : str
        """
        words = [[] for _ in self.samples]
        unanswered = set(range(len(self.is_proved))) - set(self.samples.tolist())
        for number, column, old, new in self._changes():
            name, new, old = self.column_names[column], level_text(new), level_text(old)
            words[number].append(f"{name} {new} instead of {old}")
        lines = [
            f"sample {sample}: {prediction} with {' and '.join(changes) or 'no change'}"
            for sample, prediction, changes in zip(
                self.samples, self.predictions, words, strict=True
            )
        ]
        for sample in sorted(unanswered):
            proved = "no allowed change turns the prediction"
            reason = proved if self.is_proved[sample] else "none was found in the time"
            lines.append(f"sample {sample}: {reason}")
        return "\n".join(lines)

    def __repr__(self):
        return self.to_text()


def counterfactuals(
    model, X, target=None, *, costs=None, immutable=(), directions=None, n=1,
    time_limit=10.0,
) -> "Counterfactuals":  # fmt: skip
    """Find the cheapest changes of columns that turn the prediction of each sample.

    A branch and bound over the columns, exact: nothing cheaper turns the prediction
    [1]_. Only values that can occur are proposed: a level of the training data, or a
    number in one of the intervals of `BooleanEncoder`, or a date for each combination
    of its conditions, but no missing value. Lists of tags, and dates of which one is
    measured from the other, do not change.

    Parameters
    ----------
    model : fitted estimator
        As for `shapley_values`, except games of one class against one. In a pipeline
        with a `BooleanEncoder` as its only transformer the columns of X are changed, or
        with a ``ColumnTransformer`` of encoders, where a passed column changes from 0
        to 1 or back; without transformers each feature does.
    X : {data frame of pandas, array-like} of shape (n_samples, n_features)
        Samples, as for ``predict``.
    target : class label, pair of numbers, or None, default=None
        The prediction to reach. None: any other class. Of a regressor (low, high),
        between which the prediction shall lie; either may be infinite. A sample that
        has it already is its own answer, at cost 0.
    costs : dict or None, default=None
        Cost of a change by name of the column: a number above 0, which is 1 for other
        columns, or a function of the old and the new value, as ``values`` would hold
        it; the old one may be missing (NaN or None). In columns of numbers and ordered
        levels the former is multiplied by ``1 + s / p``, where s is the share of the
        column's thresholds that the change passes, and p the number of columns. Of
        dates s is the share of their combinations of conditions, in the order of time.
        So without ``costs`` as few columns change as possible, by as little as
        possible.
    immutable : sequence of str, default=()
        Columns that must not change.
    directions : dict or None, default=None
        "up" or "down" for columns of numbers, dates, ordered levels and Booleans that
        may only rise or fall. A missing value then stays.
    n : int, default=1
        Number of answers for each sample. No answer changes all the columns that a
        cheaper one changes.
    time_limit : float or None, default=10.0
        Seconds for each sample. After that the best answers so far are returned, not
        proved. None: no limit.

    Returns
    -------
    found : Counterfactuals
        With ``values``, ``costs`` and ``is_proved``, ``to_text()`` and ``to_frame()``.

    Raises
    ------
    ValueError
        For a model of another kind, a pipeline with other transformers, an unknown
        target, column or direction, and a cost that is not above 0.

    See Also
    --------
    robustness : How many columns must change.
    shapley_values : What each column adds to the score.

    References
    ----------
    .. [1] S. Wachter, B. Mittelstadt and C. Russell, "Counterfactual explanations
       without opening the black box", Harvard Journal of Law & Technology 31, 2018.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklboolean import BooleanEncoder, ConjunctionLogisticRegression
    >>> from sklboolean.datasets import load_recurrence
    >>> from sklboolean.inspection import counterfactuals
    >>> X, y = load_recurrence(return_X_y=True, as_frame=True)
    >>> model = ConjunctionLogisticRegression(C=1.0, random_state=0)
    >>> model = make_pipeline(BooleanEncoder(n_bins=4), model).fit(X, y)
    >>> print(counterfactuals(model, X.head(2)).to_text())
    sample 0: 0 with menopause before 40 instead of not yet
    sample 1: 1 with tumour size (mm) 22 instead of 17 and irradiated yes instead of no
    """
    check_integer(n, "n", 1)
    search = _Search(model, costs, immutable, directions)
    X, bits, original = search.read(X)
    targets_by_sample = search.targets(bits, target)
    answers_of_samples, is_proved = [], np.empty(len(bits), dtype=bool)
    for sample, targets in enumerate(targets_by_sample):
        table = search.cost_table(bits[sample], original[sample])
        answers, bound = search.answers(bits[sample], table, targets, n, time_limit)
        is_proved[sample] = bound == np.inf
        answers_of_samples += [(sample, *answer) for answer in answers]
    return search.described(X, original, answers_of_samples, is_proved)


def robustness(model, X, *, time_limit=None) -> np.ndarray:
    """Count how many columns must change at least to turn each prediction.

    Parameters
    ----------
    model : fitted estimator
        As for `counterfactuals`, a classifier.
    X : {data frame of pandas, array-like} of shape (n_samples, n_features)
        Samples, as for ``predict``.
    time_limit : float or None, default=None
        Seconds for each sample. After that the number is the largest that is proved: at
        least as many must change. None: no limit.

    Returns
    -------
    n_changes : ndarray of shape (n_samples,), float64
        Numbers of columns; infinite where no change turns the prediction. A change of
        fewer columns, to whatever legal values, leaves it as it is.

    Raises
    ------
    ValueError
        As for `counterfactuals`.

    See Also
    --------
    counterfactuals : The changes.
    RobustnessDisplay : The accuracy that is certified for so many columns.

    Examples
    --------
    >>> from sklboolean import AveragedPerceptron
    >>> from sklboolean.inspection import robustness
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1]
    >>> robustness(AveragedPerceptron(random_state=0).fit(X, y), X)
    array([1., 1., 1., 1.])
    """
    search = _Search(model)
    _, bits, original = search.read(X)
    n_changes = np.empty(len(bits))
    for sample, targets in enumerate(search.targets(bits, None)):
        table = search.cost_table(bits[sample], original[sample])
        table = [np.where(np.isfinite(costs), 1.0, np.inf) for costs in table]
        answers, bound = search.answers(bits[sample], table, targets, 1, time_limit)
        n_changes[sample] = min([bound, *(cost for cost, *_ in answers)])
    return n_changes


class _Search:
    """What the searches for all samples share.

    Parameters
    ----------
    model, costs, immutable, directions
        As of `counterfactuals`.
    """

    def __init__(self, model, costs=None, immutable=(), directions=None):
        self.columns = UserColumns.of(model)
        self.formula = self.columns.formula
        if self.columns.transformers is not None and not self.columns.is_encoded:
            raise ValueError(
                "Changes are searched in the columns before a BooleanEncoder, or a "
                "ColumnTransformer that gives each column to one encoder or passes it, "
                "or in the features of a model without transformers. Make a pipeline "
                "of these and the model, or pass the model and its features."
            )
        self.states = legal_states(self.columns)
        self.costs, self.directions = costs or {}, directions or {}
        self.immutable = list(immutable)
        check_changes(
            self.columns.names, self.states, self.costs, self.immutable, self.directions
        )
        self._set_patterns()

    def _set_patterns(self):
        """Number the states of each column from 1 by the terms that they violate.

        Of states that violate the same terms only the cheapest is tried.
        """
        literals = [
            (feature, value, k)
            for k, term in enumerate(self.formula.terms)
            for feature, value in term
        ]
        features, values, terms = np.array(literals, dtype=np.intp).reshape(-1, 3).T
        # Columns that no term tests cannot turn a prediction and are left out.
        used, rows_of_literals = np.unique(
            self.columns.owners[features], return_inverse=True
        )
        self._used = used.tolist()
        self._literals = features, values > 0, rows_of_literals, terms
        self._pattern_of, n_terms = {}, len(self.formula.terms)
        n_states = 1 + max((len(self.states[c].bits) for c in self._used), default=0)
        shape = len(self._used), n_states, n_terms
        if np.prod(shape) > MOST_CELLS:
            raise ValueError(
                f"The model tests {shape[0]} columns in {n_terms} terms, which is too "
                "many for an exact search. Fit a model with fewer columns or terms."
            )
        self._patterns_by_column = np.zeros(shape)
        for row, column in enumerate(self._used):
            literals = rows_of_literals == row
            table = self._violations(
                column, features[literals], values[literals], terms[literals]
            )
            patterns, numbers = np.unique(table, axis=0, return_inverse=True)
            self._patterns_by_column[row, 1 : 1 + len(patterns)] = patterns
            self._pattern_of[column] = 1 + numbers.ravel()

    def _violations(self, column, features, values, terms):
        """Mark the terms that each state of a column violates: (n_states, n_terms).

        The literals of the column are given: features, the values that they must have,
        and the numbers of the terms.
        """
        states = self.states[column]
        fails = states.bits[:, np.searchsorted(states.features, features)] != values
        table = np.zeros((len(states.bits), len(self.formula.terms)), dtype=bool)
        # A term is violated as soon as one of its literals fails.
        state, literal = np.nonzero(fails)
        table[state, terms[literal]] = True
        return table

    def read(self, X):
        """Check samples; return them as a table, their bits and their values."""
        X = as_frame(X)
        X = X.to_pandas() if hasattr(X, "to_pandas") else X
        X = X.toarray() if hasattr(X, "toarray") else X
        if not hasattr(X, "iloc"):
            # Beside text, numpy would turn numbers into text.
            is_text = np.asarray(X).dtype.kind in "SU"  # also of numbers beside text
            X = np.asarray(X, dtype=object if is_text else None)
        bits, X = self.columns.checked_bits(X), self.columns.table(X)
        return X, bits, np.asarray(X, dtype=object)

    def targets(self, bits, target):
        """List the predictions to reach for each sample."""
        classes = self.formula.classes
        if classes is None:
            is_pair = np.shape(target) == (2,) and target[0] <= target[1]
            if not is_pair or target[0] == np.inf or target[1] == -np.inf:
                raise ValueError(
                    "target must be (low, high) with low <= high, and a number between "
                    f"them; got {target!r}."
                )
            return [[(float(target[0]), float(target[1]))]] * len(bits)
        if target is None:
            predictions = self.formula.predict(bits).tolist()
            return [[c for c in classes if c != label] for label in predictions]
        if target not in classes:
            raise ValueError(f"target must be one of {classes}; got {target!r}.")
        return [[python_value(target)]] * len(bits)

    def cost_table(self, bits, row):
        """Compute the cost of each state of each column; infinite if not allowed."""
        table = []
        for name, states, old in zip(self.columns.names, self.states, row, strict=True):
            numbers, present = np.arange(len(states.values)), states.place_of(bits)
            cost = self.costs.get(name, 1.0)
            if callable(cost):
                # The cost of the present state is replaced below.
                costs = [k == present or cost(old, states.values[k]) for k in numbers]
                costs = np.array(costs, dtype=np.float64)
            else:
                costs = np.full(len(numbers), float(cost))
                has_order = states.kind not in ("category", "boolean")
                if has_order and present >= 0:
                    # Far intervals cost more, but less than one more column.
                    steps = np.abs(numbers - present) / max(1, len(numbers) - 1)
                    costs *= 1 + steps / len(self.states)
            if not ((costs > 0) & (costs < HIGHEST_COST)).all():
                gap = is_missing(np.array([old], dtype=object))[0]
                is_gap = " (a missing value: give it a cost, too)" * int(gap)
                raise ValueError(
                    f"costs[{name!r}] of the old value {old!r}{is_gap} must be above 0 "
                    f"and below {HIGHEST_COST:g}; got {costs.tolist()}."
                )
            sign = SIGNS.get(self.directions.get(name), 0)
            is_refused = sign * (numbers - present) < 0
            # A missing value has no direction: its column stays.
            if name in self.immutable or (sign and present < 0):
                is_refused[:] = True
            costs[is_refused | (numbers == present)] = np.inf
            table.append(costs)
        return table

    def answers(self, bits, table, targets, n_wanted, time_limit):
        """Search the changes of one sample.

        Returns
        -------
        answers : list of (cost, changes, target)
            The changes are pairs of a column and its new state.
        bound : float
            No further answer costs less; infinite if the search ended.
        """
        deadline = None
        if time_limit is not None:
            deadline = perf_counter() + check_real(time_limit, "time_limit", 0.0)
        violated, costs, states = self._problem(bits, table)

        def changes(choice):
            return [
                (self._used[k], states[k][choice[k]]) for k in np.flatnonzero(choice)
            ]

        answers, excluded = [], []
        while len(answers) < n_wanted:
            limit, best, bound = np.inf, None, np.inf
            # The cheapest answer over all targets; each search begins at the limit of
            # the last.
            for target in targets:

                def is_solution(choice, target=target):
                    changed = self._changed_bits(bits, changes(choice))
                    return self._predicts(target, changed)

                sums = sums_for(self.formula, target)
                problem = ChangeProblem(violated, costs, *sums, is_solution)
                limit, choice, least = problem.search(limit, excluded, deadline)
                best = best if choice is None else (choice, target)
                bound = min(bound, least)
            if best is not None:
                answers.append((limit, changes(best[0]), best[1]))
                excluded.append(best[0] > 0)
            # The end: nothing was found, the time is over, or the sample needs no
            # change.
            if best is None or bound < limit or not excluded[-1].any():
                return answers, bound if bound < limit else np.inf
        return answers, np.inf

    def _problem(self, bits, table):
        """Collect the states that differ for the model: the present one is number 0.

        Returns
        -------
        violated, costs : ndarrays as of `ChangeProblem`
        states : list of dict
            The cheapest state of a column for each number.
        """
        violated, costs, states = self._patterns_by_column.copy(), [], []
        features, values, rows_of_literals, terms = self._literals
        # Pattern 0 of each column: the terms that the present state violates.
        is_violated = bits[features] != values
        violated[rows_of_literals[is_violated], 0, terms[is_violated]] = 1.0
        for column in self._used:
            numbers = self._pattern_of[column]
            by_cost = np.argsort(-table[column], kind="stable")  # the cheapest is last
            costs.append(np.full(violated.shape[1], np.inf))
            # Later assignments win, so each pattern gets its cheapest state.
            costs[-1][numbers[by_cost]] = table[column][by_cost]
            states.append(dict(zip(numbers[by_cost], by_cost, strict=True)))
        costs = np.array(costs).reshape(violated.shape[:2])
        costs[(violated == violated[:, :1]).all(axis=2)] = np.inf  # changes nothing
        return violated, costs, states

    def _changed_bits(self, bits, changes):
        """Put other states into the bits of a sample."""
        bits = bits.copy()
        for column, state in changes:
            bits[self.states[column].features] = self.states[column].bits[state]
        return bits

    def _predicts(self, target, bits):
        """Test whether the formula predicts the target for one sample."""
        prediction = self.formula.predict(bits[None])[0]
        if self.formula.classes is None:
            return target[0] <= prediction <= target[1]
        return prediction == target

    def described(self, X, original, answers, is_proved):
        """Put the answers into samples of the user's units, and predict them."""
        samples = np.array([sample for sample, *_ in answers], dtype=np.intp)
        changed = np.zeros((len(answers), len(self.states)), dtype=bool)
        table = original[samples]
        for row, (_, _, changes, _) in enumerate(answers):
            for column, state in changes:
                changed[row, column] = True
                table[row, column] = self.states[column].values[state]
        values = table_like(X, samples, table, changed)
        bits, predictions = [], np.empty(0)
        if answers:
            features = self.columns.samples(values)
            bits = self.columns.bits(features)
            predictions = self.columns.model.predict(features)
        # X in its dtype may not hold the value that was chosen: predict once more.
        for sample, (_, _, _, target) in zip(bits, answers, strict=True):
            if not self._predicts(target, sample):
                raise ValueError(
                    f"The changes for the prediction {target!r} do not give it, "
                    "because X cannot hold a value in the interval that was chosen. "
                    "Scale X to smaller numbers."
                )
        costs = np.array([cost for _, cost, _, _ in answers], dtype=np.float64)
        return Counterfactuals(
            values, samples, changed, costs, predictions, is_proved,
            self.columns.names, original,
        )  # fmt: skip


def table_like(X, samples, table, changed):
    """Make changed samples a table like X: a data frame, or an array of its dtype.

    Parameters
    ----------
    X : pandas data frame or ndarray
    samples : ndarray of shape (n_found,), int
        The sample of X that each changes.
    table : ndarray of shape (n_found, n_columns), dtype object
        Their values.
    changed : ndarray of shape (n_found, n_columns), bool
    """
    if not hasattr(X, "iloc"):
        return with_dtype(table, changed, X.dtype)
    values = X.iloc[samples].copy()
    for column in np.flatnonzero(changed.any(axis=0)).tolist():
        is_new, new = changed[:, column], values.iloc[:, column].astype(object)
        new.iloc[is_new] = table[is_new, column]
        values.isetitem(column, with_dtype(new, is_new, X.dtypes.iloc[column]))
    return values


def with_dtype(table, changed, dtype):
    """Convert values of an object array to a dtype that holds the changed ones."""
    for candidate in (dtype, np.float64):
        try:
            converted = table.astype(candidate)
        except (TypeError, ValueError):
            continue
        cells = np.asarray(converted[changed], dtype=object)
        if np.array_equal(cells, np.asarray(table[changed], dtype=object)):
            return converted
    return table
