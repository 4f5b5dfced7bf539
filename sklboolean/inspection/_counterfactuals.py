"""The cheapest changes of a sample that turn its prediction, and how many it needs."""

from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.exports import import_pandas
from sklboolean._core.formula import class_labels
from sklboolean._core.formulas import python_value
from sklboolean._core.parameters import check_choice, check_integer, check_real
from sklboolean._core.validation import check_stored, is_missing
from sklboolean.inspection._explanations import as_frame
from sklboolean.inspection._formula_changes import FormulaChanges
from sklboolean.inspection._legal_states import (
    SIGNS,
    changed_bits,
    check_changes,
    is_reached,
    legal_states,
)
from sklboolean.inspection._ordered_changes import ordered_answers
from sklboolean.inspection._user_columns import changeable_columns
from sklboolean.preprocessing._encoded_columns import level_text

# The steps: read the columns that may change, and their legal values; compute what each
# change costs for a sample; search the cheapest changes, in a formula by a branch and
# bound, for other models by trying all in the order of their costs; put the answers
# into samples of the user's units.

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
        Prediction of the model for each.
    bounds : ndarray of shape (n_samples,), float64
        Proved for each sample of X: no other answer costs less. Infinite where the
        search ended; a number where the time limit ended it.
    column_names : list of str
        Names of the columns.
    original : ndarray of shape (n_samples, n_columns), dtype object
        The samples of X.

    Attributes
    ----------
    is_proved : ndarray of shape (n_samples,), bool
        Samples for which the search ended: there is nothing cheaper, and where it found
        fewer than were asked for, there are no more.

    See Also
    --------
    counterfactuals : Find them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.inspection import Counterfactuals
    >>> found = Counterfactuals(
    ...     np.array([[31, 0]]), np.array([0]), np.array([[True, False]]),
    ...     np.array([1.0]), np.array(["yes"]), np.array([np.inf]), ["age", "ill"],
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
    bounds: np.ndarray
    column_names: list
    original: np.ndarray

    @property
    def is_proved(self):
        """The samples for which the search ended."""
        return np.isinf(self.bounds)

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
        names = "sample number column old new cost prediction is_proved".split()
        lines = [
            (
                int(self.samples[number]), number, self.column_names[column], old, new,
                float(self.costs[number]), python_value(self.predictions[number]),
                bool(self.is_proved[self.samples[number]]),
            )
            for number, column, old, new in self._changes()
        ]  # fmt: skip
        return import_pandas().DataFrame(lines, columns=names)

    def to_text(self) -> str:
        """Write a line for each answer, and then for each sample without one.

        Returns
        -------
        text : str
        """
        words = [[] for _ in self.samples]
        unanswered = set(range(len(self.bounds))) - set(self.samples.tolist())
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
            reason = "no allowed change turns the prediction"
            if not self.is_proved[sample]:
                least = self.bounds[sample]
                reason = f"none was found in the time; it costs {least:.4g} or more"
            lines.append(f"sample {sample}: {reason}")
        return "\n".join(lines)

    def __repr__(self):
        return self.to_text()


def counterfactuals(
    model, X, target=None, *, encoder=None, costs=None, immutable=(), directions=None,
    max_changes=None, n=1, time_limit=10.0,
) -> "Counterfactuals":  # fmt: skip
    """Find the cheapest changes of columns that turn the prediction of each sample.

    Exact: nothing cheaper turns the prediction [1]_. Models that are formulas are
    searched by a branch and bound. For any other model, also of another package, the
    predictions for all legal changes are tried in the order of their costs. Only values
    that can occur are proposed: a level of the training data, or a number in one of the
    intervals of a `BooleanEncoder`, or a date for each combination of its conditions,
    but no missing value. Lists of tags, and dates of which one is measured from the
    other, do not change.

    Parameters
    ----------
    model : fitted classifier or regressor
        In a pipeline with a `BooleanEncoder` as its only transformer the columns of X
        are changed, or with a ``ColumnTransformer`` of encoders, where a passed column
        changes from 0 to 1 or back. With a model of Boolean features, each feature is a
        column. Any other model needs an ``encoder``.
    X : {data frame of pandas, array-like} of shape (n_samples, n_features)
        Samples, as for ``predict``.
    target : class label, pair of numbers, or None, default=None
        The prediction to reach. None: any other class. For a regressor (low, high),
        between which the prediction shall lie; either may be infinite. A sample that
        has it already is its own answer, at cost 0.
    encoder : fitted BooleanEncoder, ColumnTransformer, or None, default=None
        Its levels and intervals are the legal values, and the proof is for them: of
        each interval one number is tried. Fit it on the training data of a model that
        takes their columns. None: the encoder in the pipeline.
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
    max_changes : int or None, default=None
        Number of columns that may change at most. None: all.
    n : int, default=1
        Number of answers for each sample. No answer changes all the columns that a
        cheaper one changes.
    time_limit : float or None, default=10.0
        Seconds for each sample. After that the best answers so far are returned, and
        ``bounds`` says what is proved. None: no limit.

    Returns
    -------
    found : Counterfactuals
        With ``values``, ``costs`` and ``is_proved``, ``to_text()`` and ``to_frame()``.

    Raises
    ------
    ValueError
        For a model that needs an encoder, an unknown target, column or direction, and a
        cost that is not above 0.

    See Also
    --------
    robustness : Number of columns that must change.
    shapley_values : Contribution of each column to the score.

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

    A model of another package, which takes the columns as they are:

    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> numbers = X.select_dtypes("number")
    >>> trees = HistGradientBoostingClassifier(random_state=0).fit(numbers, y)
    >>> encoder = BooleanEncoder().fit(numbers)
    >>> found = counterfactuals(trees, numbers.head(2), encoder=encoder)
    >>> found.is_proved
    array([ True,  True])
    """
    check_integer(n, "n", 1)
    if max_changes is not None:
        check_integer(max_changes, "max_changes", 1)
    search = _Search(model, encoder, costs, immutable, directions)
    samples = search.read(X)
    targets_by_sample = search.targets(samples, target)
    answers, bounds = [], np.empty(len(samples.bits))
    for number, targets in enumerate(targets_by_sample):
        costs = search.costs_of(samples, number)
        found, bounds[number] = search.answers(
            samples, number, costs, targets, n, max_changes, time_limit
        )
        answers += [(number, *answer) for answer in found]
    return search.described(samples, answers, targets_by_sample, bounds)


def robustness(model, X, *, encoder=None, time_limit=None) -> np.ndarray:
    """Count how many columns must change at least to turn each prediction.

    Parameters
    ----------
    model : fitted estimator
        As for `counterfactuals`, a classifier.
    X : {data frame of pandas, array-like} of shape (n_samples, n_features)
        Samples, as for ``predict``.
    encoder : fitted encoder or None, default=None
        As for `counterfactuals`.
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
    search = _Search(model, encoder)
    if search.classes is None:
        raise ValueError(
            f"robustness needs a classifier; this {type(model).__name__} predicts "
            "numbers. For a range of them use counterfactuals with max_changes."
        )
    samples = search.read(X)
    n_changes = np.empty(len(samples.bits))
    for number, targets in enumerate(search.targets(samples, None)):
        costs = search.costs_of(samples, number)
        costs = [np.where(np.isfinite(of_states), 1.0, np.inf) for of_states in costs]
        answers, bound = search.answers(
            samples, number, costs, targets, 1, None, time_limit
        )
        n_changes[number] = min([bound, *(cost for cost, _ in answers)])
    return n_changes


class _Samples(NamedTuple):
    """Samples of the user.

    Attributes
    ----------
    X : pandas data frame or ndarray of shape (n_samples, n_columns)
    bits : ndarray of shape (n_samples, n_features), bool
    values : ndarray of shape (n_samples, n_columns), dtype object
    """

    X: object
    bits: np.ndarray
    values: np.ndarray


class _Search:
    """Data of the searches for all samples.

    Parameters
    ----------
    model, encoder, costs, immutable, directions
        As of `counterfactuals`.
    """

    def __init__(self, model, encoder=None, costs=None, immutable=(), directions=None):
        for fitted in (model, encoder):
            if hasattr(fitted, "fit"):  # a RuleSet has none
                check_is_fitted(fitted)
        check_predicts(model)
        self.columns, self.is_formula = changeable_columns(model, encoder)
        self.model, self.has_encoder = model, encoder is not None
        self.states = legal_states(self.columns)
        self.costs, self.directions = costs or {}, directions or {}
        check_changes(
            self.columns.names, self.states, self.costs, immutable, self.directions
        )
        self.immutable = list(immutable)
        self._of_formula = None
        if self.is_formula:
            self.classes = self.columns.formula.classes
            search = FormulaChanges(self.columns, self.states)
            self._of_formula = search if search.is_possible() else None
        else:
            self.classes = class_labels(model) if hasattr(model, "classes_") else None

    def predict(self, X):
        """Predict a label or number of each sample."""
        model = self.model
        if self.is_formula:
            model, X = self.columns.model, self.columns.samples(X)
        return single_output(model.predict(X))

    def read(self, X):
        """Check samples."""
        X = changeable_table(X)
        if self.is_formula:
            bits = self.columns.checked_bits(X)
        else:
            bits = self.columns.bits(self.columns.samples(X))
        table = self.columns.table(X)
        if self.has_encoder and hasattr(X, "iloc") and [*table] != [*X]:
            raise ValueError(
                f"X has the columns {[*X]}, but the encoder was fitted on {[*table]}. "
                "Fit it on the columns of the model, in their order."
            )
        return _Samples(table, bits, np.asarray(table, dtype=object))

    def targets(self, samples, target):
        """List the predictions to reach for each sample."""
        classes, n_samples = self.classes, len(samples.bits)
        if classes is None:
            is_pair = (
                np.shape(target) == (2,) and np.asarray(target).dtype.kind in "biuf"
            )
            is_pair = is_pair and target[0] <= target[1]
            if not is_pair or target[0] == np.inf or target[1] == -np.inf:
                raise ValueError(
                    "target must be (low, high) with low <= high, and a number between "
                    f"them; got {target!r}."
                )
            return [[(float(target[0]), float(target[1]))]] * n_samples
        if self.is_formula:
            predictions = self.columns.formula.predict(samples.bits).tolist()
        else:
            predictions = self.predict(samples.X).tolist()
        if unknown := set(predictions) - set(classes):
            raise ValueError(
                f"The model predicts {[*unknown]}, which are not among its classes_ "
                f"{classes}. Fit it to labels that it returns as they are."
            )
        if target is None:
            return [[c for c in classes if c != label] for label in predictions]
        check_choice(target, "target", classes)
        return [[python_value(target)]] * n_samples

    def costs_of(self, samples, number):
        """Compute the cost of each state of each column; infinite if not allowed."""
        table, bits, row = [], samples.bits[number], samples.values[number]
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

    def answers(self, samples, number, costs, targets, n, max_changes, time_limit):
        """Search the changes of one sample: see `FormulaChanges.answers`."""
        deadline = None
        if time_limit is not None:
            deadline = perf_counter() + check_real(time_limit, "time_limit", 0.0)
        most_changed = len(self.states) if max_changes is None else max_changes
        wanted = costs, targets, n, most_changed, deadline
        if self._of_formula is not None:
            return self._of_formula.answers(samples.bits[number], *wanted)
        options = self._options(samples, number)
        return ordered_answers(self.predict, options, *wanted)

    def _options(self, samples, number):
        """Make a table: line 0 is the sample, line k has state k - 1 of each column."""
        n_lines = 1 + max(len(states.values) for states in self.states)
        cells = (
            (line, column, value)
            for column, states in enumerate(self.states)
            for line, value in enumerate(states.values, 1)
        )
        numbers = np.full(n_lines, number)
        return with_cells(samples.X, samples.values, numbers, cells)[0]

    def described(self, samples, answers, targets_by_sample, bounds):
        """Put the answers into samples of the user's units, and predict them."""
        numbers = np.array([number for number, *_ in answers], dtype=np.intp)
        cells = (
            (row, column, self.states[column].values[state])
            for row, (_, _, changes) in enumerate(answers)
            for column, state in changes
        )
        values, changed = with_cells(samples.X, samples.values, numbers, cells)
        predictions, bits = np.empty(0), []
        if answers:
            predictions = self.predict(values)
            bits = self.columns.bits(self.columns.samples(values))
        # X in its dtype may not hold the value that was chosen.
        pairs = zip(answers, predictions, bits, strict=True)
        for (number, _, changes), prediction, found in pairs:
            chosen = changed_bits(self.states, samples.bits[number], changes)
            targets = targets_by_sample[number]
            is_chosen = np.array_equal(found, chosen)
            if not is_chosen and not is_reached([prediction], targets)[0]:
                raise ValueError(
                    f"The changes for a prediction of {targets} do not give it, "
                    "because X cannot hold a value in the interval that was chosen. "
                    "Scale X to smaller numbers."
                )
        costs = np.array([cost for _, cost, _ in answers], dtype=np.float64)
        return Counterfactuals(
            values, numbers, changed, costs, predictions, bounds,
            self.columns.names, samples.values,
        )  # fmt: skip


def check_predicts(model):
    """Refuse what has no predictions."""
    if not hasattr(model, "predict"):
        raise ValueError(f"model must be a classifier or a regressor; got {model!r}.")


def single_output(predictions):
    """Make predictions, or classes, an array of one dimension."""
    predictions = np.asarray(predictions)
    if predictions.size != len(predictions):
        raise ValueError(
            "The model predicts several outputs for each sample. Give a model of one "
            "output."
        )
    return predictions.ravel()


def changeable_table(X):
    """Convert samples to a data frame of pandas or an array, whose cells can change."""
    X = as_frame(X)
    X = X.to_pandas() if hasattr(X, "to_pandas") else X
    X = X.toarray() if hasattr(X, "toarray") else X
    if hasattr(X, "iloc"):
        return X
    check_stored(X, "X")
    # Beside text, numpy would turn numbers into text.
    is_text = np.asarray(X).dtype.kind in "SU"  # also of numbers beside text
    if np.ndim(X) != 2:
        raise ValueError(
            "X must be a table of shape (n_samples, n_columns); its shape is "
            f"{np.shape(X)}. Of one sample give [sample]."
        )
    return np.asarray(X, dtype=object if is_text else None)


def with_cells(X, values, numbers, cells):
    """Repeat samples of X, and put other values into some cells.

    Parameters
    ----------
    X : data frame of pandas or ndarray
    values : ndarray of object
        The same samples.
    numbers : ndarray of int
        Which samples are repeated, each a row of the result.
    cells : iterable of (row, column, value)

    Returns
    -------
    samples : data frame or ndarray
        Of the dtypes of X, where these hold the new values.
    changed : ndarray of bool
        Marks the cells.
    """
    table = values[numbers]
    changed = np.zeros(table.shape, dtype=bool)
    # One by one, which keeps dates and lists as they are.
    for row, column, value in cells:
        table[row, column], changed[row, column] = value, True
    if not hasattr(X, "iloc"):
        return with_dtype(table, changed, X.dtype), changed
    samples = X.iloc[numbers].copy()
    for column in np.flatnonzero(changed.any(axis=0)).tolist():
        is_new, new = changed[:, column], samples.iloc[:, column].astype(object)
        new.iloc[is_new] = table[is_new, column]
        samples.isetitem(column, with_dtype(new, is_new, X.dtypes.iloc[column]))
    return samples, changed


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
