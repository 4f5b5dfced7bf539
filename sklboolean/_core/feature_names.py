"""Names of Boolean features that say what they mean: conditions, groups, intervals.

`BooleanEncoder` writes "age <= 44.5", "age > 44.5", "color = red", "color is rare" and
"income is missing"; the data sets of the package write "color=red". Any other name is
a feature of its own.
"""

# Names are read back by patterns, and bounds of one column are merged: "age <= 44.5"
# and "age > 16" become "16 < age <= 44.5". Missing values satisfy no bound, but the
# negation of each. So a negated bound is turned round only where a missing value is
# excluded.

import re
from contextlib import suppress
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cached_property
from math import fsum
from typing import NamedTuple

from scipy import sparse
from sklearn.pipeline import Pipeline

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
DATE = r"\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d(?:\.\d+)?)?"
BOUND = re.compile(rf"(.*?\S)\s*(<=|>)\s*({DATE}|{NUMBER})", re.DOTALL)
STATE = re.compile(r"(.+) is (missing|rare)", re.DOTALL)
INTERVAL = re.compile(rf"({DATE}|{NUMBER}) < (.+) <= ({DATE}|{NUMBER})", re.DOTALL)
OPPOSITE = {"<=": ">", ">": "<="}
MISSING = ("is", "missing")


class Condition(NamedTuple):
    """Condition on a column of the original data, read from the name of a feature.

    Parameters
    ----------
    column : str
        Name of the column.
    relation : {"<=", ">", "=", "is", ""}
        "": the feature is the column itself.
    value : str
        The number or level as it is written; "missing" or "rare" after "is".
    """

    column: str
    relation: str = ""
    value: str = ""


def parse_name(name):
    """Read the condition in the name of a Boolean feature."""
    name = str(name)
    if match := BOUND.fullmatch(name):
        return Condition(*match.groups())
    if match := STATE.fullmatch(name):
        return Condition(match[1], "is", match[2])
    for equals in (" = ", "="):
        column, separator, level = name.partition(equals)
        if separator and column and column[-1] not in "<>!=":
            return Condition(column, "=", level)
    return Condition(name)


def exclusive_groups(names):
    """Label features so that at most one of each label is true in a sample.

    Levels of one column share its name as their label, also "is rare" and "is missing".
    Every other feature has its own number, thresholds too: two of them make an
    interval. So have "color=red" and "color=blue": without spaces around "=" they need
    not come from `BooleanEncoder`, and a sample may have several of them.

    Parameters
    ----------
    names : sequence of str
        Feature names.

    Returns
    -------
    groups : list of length n_features
        As the parameter ``feature_groups`` takes it.
    """
    conditions = [
        parse_name(name) if " = " in str(name) or " is " in str(name) else Condition("")
        for name in names
    ]
    with_levels = {c.column for c in conditions if c.relation == "="}
    return [
        c.column if c.relation in ("=", "is") and c.column in with_levels else number
        for number, c in enumerate(conditions)
    ]


class NamedCsr(sparse.csr_array):
    """A sparse matrix whose columns have names, until it is sliced or changed.

    Attributes
    ----------
    feature_names : ndarray of shape (n_features,), dtype object, or None
    """

    feature_names = None


class FeatureNames:
    """Names of Boolean features, each read at most once.

    Parameters
    ----------
    names : sequence of str
    """

    def __init__(self, names):
        self.names, self._conditions = names, {}

    def condition(self, feature):
        """Read the `Condition` in the name of a feature."""
        if feature not in self._conditions:
            self._conditions[feature] = parse_name(self.names[feature])
        return self._conditions[feature]

    @cached_property
    def _can_be_missing(self):
        """The columns with a feature that says whether they are missing."""
        ends = [str(name) for name in self.names if str(name).endswith(" is missing")]
        conditions = map(parse_name, ends)
        return {c.column for c in conditions if c[1:] == MISSING}

    def words(self, literals):
        """Write the literals of a conjunction; bounds of one column become an interval.

        Parameters
        ----------
        literals : sequence of (int, bool)
            Feature numbers, each with the value that it must have.

        Returns
        -------
        words : list of str
            In the order of the literals, such as ``["16 < age <= 44.5", "not ill"]``. A
            sample satisfies the words exactly if it satisfies the literals: a negated
            bound of a column that may be missing, ``not age <= 16``, is satisfied by
            missing values, so it stays as it is unless another literal excludes them.
        """
        parsed = [(self.condition(j), bool(value)) for j, value in literals]
        known_columns = self._known_columns(parsed)
        bounds = {column: {} for column in known_columns}
        for (column, relation, number), value in parsed:
            if column in known_columns and relation in OPPOSITE:
                relation = relation if value else OPPOSITE[relation]
                tighter = min if relation == "<=" else max
                tightest = bounds[column].get(relation, number)
                bounds[column][relation] = tighter(tightest, number, key=_place_of)
        words = []
        for (feature, _), (condition, value) in zip(literals, parsed, strict=True):
            column, relation, state = condition
            is_bound = relation in OPPOSITE or (relation, state) == MISSING
            if column not in known_columns or not is_bound:
                name = str(self.names[feature])
                words.append(name if value else f"not {name}")
            elif column in bounds:  # written where the first literal of the column is
                words += _bounds_words(column, bounds.pop(column))
        return words

    def literals(self, text):
        """Read the literals of a conjunction that was written by `words`.

        Parameters
        ----------
        text : str
            The words, in any order, joined by "and". "True" is the empty conjunction.

        Returns
        -------
        literals : tuple of (int, bool)

        Raises
        ------
        ValueError
            For a condition that no feature has. The message names the nearest ones.
        """
        literals, parts = set(), [] if text == "True" else text.split(" and ")
        while parts:
            # A level may hold "and": the longest text that is known is one condition.
            for n_parts in range(len(parts), 0, -1):
                found = self._read(" and ".join(parts[:n_parts]))
                if found is not None:
                    break
            else:
                near = get_close_matches(parts[0], self._literals_by_word)
                hint = "Use the names of its features."
                if near:
                    hint = f"Did you mean {' or '.join(map(repr, near))}?"
                raise ValueError(f"The model has no condition {parts[0]!r}. {hint}")
            literals.update(found)
            parts = parts[n_parts:]
        return tuple(sorted(literals))

    def _read(self, word):
        """Read one of the words of a conjunction; None if it is unknown."""
        if match := INTERVAL.fullmatch(word):
            low, column, high = match.groups()
            bounds = self._read(f"{column} > {low}"), self._read(f"{column} <= {high}")
            return None if None in bounds else bounds[0] + bounds[1]
        return self._literals_by_word.get(word)

    @cached_property
    def _literals_by_word(self):
        """The literals of each condition, and of its negation."""
        conditions = [self.condition(feature) for feature in range(len(self.names))]
        missing = {c.column: j for j, c in enumerate(conditions) if c[1:] == MISSING}
        known, negated = {}, {}
        for feature, (column, relation, value) in enumerate(conditions):
            known[str(self.names[feature])] = ((feature, True),)
            negated[f"not {self.names[feature]}"] = ((feature, False),)
            if relation in OPPOSITE:
                has_value = [(missing[column], False)] if column in missing else []
                other_side = ((feature, False), *has_value)
                negated[f"{column} {relation} {value}"] = ((feature, True),)
                negated[f"{column} {OPPOSITE[relation]} {value}"] = other_side
        return negated | known

    def _known_columns(self, parsed):
        """Find the columns with bounds of which the literals exclude missing values."""
        bounded, has_value, missing = set(), set(), set()
        for condition, value in parsed:
            is_bound = condition.relation in OPPOSITE
            if is_bound:
                bounded.add(condition.column)
            if condition[1:] == MISSING and value:
                missing.add(condition.column)
            elif (is_bound and value) or (condition[1:] == MISSING and not value):
                has_value.add(condition.column)
        if bounded - has_value - missing:
            has_value = has_value | (bounded - self._can_be_missing)
        return (bounded & has_value) - missing

    def steps(self, pairs):
        """Write single conditions of one column as a function of the column.

        Bounds become intervals, of which a value lies in one, with the sums of their
        weights; levels stay as they are.

        Parameters
        ----------
        pairs : list of (term, weight)

        Returns
        -------
        steps : list of (str, float)
            Of columns with two such conditions or more, in the order of the features.
        others : list of (term, weight)
            The terms that are not written so.
        """
        by_column = {}
        for term, weight in sorted(pair for pair in pairs if len(pair[0]) == 1):
            [(feature, value)] = term
            condition = self.condition(feature)
            if value and condition.relation:
                terms = by_column.setdefault(condition.column, {})
                terms[term] = condition, str(self.names[feature]), weight
        steps, written = [], set()
        for column, terms in by_column.items():
            if len(terms) > 1:
                written.update(terms)
                steps += _steps_of_column(column, [*terms.values()])
        return steps, [pair for pair in pairs if pair[0] not in written]


def _steps_of_column(column, conditions):
    """Write the intervals between the bounds of a column, then its levels."""
    bounds = [(c, weight) for c, _, weight in conditions if c.relation in OPPOSITE]
    ends = sorted({bound.value for bound, _ in bounds}, key=_place_of)
    steps = []
    for k in range(len(ends) + bool(ends)):
        # The interval between ends[k - 1] and ends[k] satisfies the bounds around it.
        holds = {">": ends[:k], "<=": ends[k:]}
        weights = [w for bound, w in bounds if bound.value in holds[bound.relation]]
        sides = {">": ends[k - 1] if k else None, "<=": (ends[k:] or [None])[0]}
        [text] = _bounds_words(column, {r: end for r, end in sides.items() if end})
        steps.append((text, fsum(weights)))
    levels = [(text, w) for c, text, w in conditions if c.relation not in OPPOSITE]
    return [(text, weight) for text, weight in steps + levels if weight]


def _place_of(bound):
    """Read a bound: a number, or a date as the seconds since 1970."""
    if not re.fullmatch(DATE, bound):
        return float(bound)
    return datetime.fromisoformat(bound).replace(tzinfo=UTC).timestamp()


def _bounds_words(column, bounds):
    """Write the lower and the upper bound of a column, as one interval if it is one."""
    low, high = bounds.get(">"), bounds.get("<=")
    if low is not None and high is not None and _place_of(low) < _place_of(high):
        return [f"{low} < {column} <= {high}"]
    return [f"{column} {relation} {number}" for relation, number in bounds.items()]


def last_step(model):
    """Return the estimator at the end of pipelines and searches."""
    while isinstance(model := getattr(model, "best_estimator_", model), Pipeline):
        model = model[-1]
    return model


def split_pipeline(model):
    """Split a fitted model into its transformers, its last step and feature names.

    Parameters
    ----------
    model : estimator
        Fitted. A search such as ``GridSearchCV`` stands for its best estimator, and an
        ensemble for its ``pipeline_``, also as the last step of a pipeline.

    Returns
    -------
    transformers : Pipeline or None
        None when ``model`` is no pipeline, or one of a single step.
    estimator : estimator
        The last step.
    names : list of str or None
        Names of the features that the last step received. None when neither the
        transformers nor the step know them.
    """
    steps, names = [], None
    while True:
        model = getattr(model, "best_estimator_", model)
        model = getattr(model, "pipeline_", model)
        if not isinstance(model, Pipeline):
            break
        steps, model = [*steps, *model.steps[:-1]], model[-1]
    # The steps of an ensemble may have the names of those before it.
    numbered = [(f"{k}-{name}", step) for k, (name, step) in enumerate(steps)]
    transformers = Pipeline(numbered) if steps else None
    if transformers is not None:
        with suppress(AttributeError):  # some transformers name nothing
            names = transformers.get_feature_names_out()
    if names is None and hasattr(model, "feature_names_in_"):
        names = model.feature_names_in_
    return transformers, model, None if names is None else [str(n) for n in names]
