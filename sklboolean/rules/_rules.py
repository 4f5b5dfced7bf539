"""Rule and RuleList: conjunctions that carry their numbers and names."""

from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

from sklboolean._core.formula import Columns
from sklboolean._core.formulas import (
    check_unique,
    conjunction_code,
    conjunction_text,
    html_table,
)
from sklboolean._core.sql_code import SqlFeatures
from sklboolean.rules._exports import rules_frame


@dataclass(frozen=True)
class Rule:
    """A conjunction and its weight in a model.

    Parameters
    ----------
    literals : tuple of (int, bool)
        Feature numbers, ascending, each with the value that it must have.
    weight : float or None
        Sum S of the model's coefficients over the support vectors that satisfy all
        literals.
    contribution : float or None
        Part of the conjunction in the score of every sample that satisfies it: a * S,
        where a is the kernel's weight of conjunctions of this length. 0.0 where it is
        below the range of float64, and for conjunctions outside the kernel's feature
        space.
    coverage : int or None, default=None
        Number of samples that satisfy the rule, if they were counted.
    precision : float or None, default=None
        Fraction of these samples that have the label of the rule.
    label : class label, default=None
        Label that the rule predicts, in a `DNF` or a rule list.
    names : tuple of str or None, default=None
        Names of the features in ``literals``, in their order.

    Attributes
    ----------
    n_literals : int
        Length of the conjunction.

    Examples
    --------
    >>> from sklboolean.rules import Rule
    >>> rule = Rule(((0, True), (2, False)), weight=3.0, contribution=1.5)
    >>> rule
    Rule(x0 and not x2, weight=3, contribution=1.5)
    >>> rule.to_text(["red", "green", "blue"])
    'red and not blue'
    >>> rule.to_sql(["red", "green", "blue"])
    'CAST(f."red" AS INTEGER) = 1 AND CAST(f."blue" AS INTEGER) = 0'
    """

    literals: tuple
    weight: float | None
    contribution: float | None
    coverage: int | None = None
    precision: float | None = None
    label: object = None
    names: tuple | None = field(default=None, compare=False)

    def __repr__(self):
        fields = [self.to_text()]
        if self.label is not None:
            fields.append(f"label={self.label!r}")
        numbers = ("weight", "contribution", "coverage", "precision")
        values = [(name, getattr(self, name)) for name in numbers]
        fields += [f"{name}={value:.6g}" for name, value in values if value is not None]
        return f"Rule({', '.join(fields)})"

    @property
    def n_literals(self):
        """Length of the conjunction."""
        return len(self.literals)

    def to_text(self, feature_names=None) -> str:
        """Write the conjunction as text.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            A name for each feature of the data. None: the rule's own names, or x0, x1,
            ...

        Returns
        -------
        text : str

        Raises
        ------
        ValueError
            When a feature has no name.
        """
        if feature_names is None and self.names is not None:
            return conjunction_text(*self._own_names())
        return conjunction_text(self.literals, feature_names)

    def to_python(self, feature_names=None, *, binarize=None) -> str:
        """Write the conjunction as a Python expression of a sample ``x``.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            Keys of the values, for samples that are dicts: ``x['a']``. None: by column
            number, ``x[0]``.
        binarize : float or None, default=None
            Threshold above which a value is true. None: the values are zeros and ones,
            or bools.

        Returns
        -------
        code : str

        Raises
        ------
        ValueError
            When a feature has no name, or two have the same.
        """
        check_unique([self.literals], feature_names)
        return conjunction_code(self.literals, feature_names, binarize)

    def to_sql(
        self, feature_names=None, *, binarize=None, encoder=None, dialect=None
    ) -> str:
        """Write the conjunction as a condition in SQL.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            The columns of the table, as for ``to_sql`` of a model such as
            `RuleClassifier`. None: the rule's own names, or x0, x1, ...
        binarize : float or None, default=None
            Threshold above which a value is true. None: the columns hold the numbers 0
            and 1, or Booleans.
        encoder : transformer or None, default=None
            What makes the features of the columns, as for ``to_sql`` of a model.
        dialect : str or None, default=None
            The database, as for ``to_sql`` of a model.

        Returns
        -------
        sql : str
            The table is called f. No literal on a column of it holds for NULL.

        Raises
        ------
        ValueError
            When a feature has no name, two have the same, or a name cannot be quoted.
        """
        literals, names = self.literals, feature_names
        if names is None and encoder is None and self.names is not None:
            literals, names = self._own_names()
        columns = Columns(None, binarize=binarize)
        features = SqlFeatures(columns, names, encoder, dialect)
        features.check([literals])
        return features.conjunction(literals)

    def _own_names(self):
        """Number the literals by their place among the rule's names."""
        return [(k, value) for k, (_, value) in enumerate(self.literals)], self.names


def names_of(literals, feature_names):
    """Choose the names of the features of a conjunction."""
    if feature_names is None:
        return None
    return tuple(str(feature_names[feature]) for feature, _ in literals)


class RuleList(list):
    """A list of `Rule`, largest weight first, with a bound on all other rules.

    Made by `top_conjunctions`.

    Parameters
    ----------
    rules : iterable of Rule, default=()
        The rules.
    bound : float, default=0.0
        No rule outside the list has a weight (or contribution, by the ``rank`` of the
        search) of larger absolute value.
    is_optimal : bool, default=True
        Whether the search was completed: False when ``time_limit`` stopped it.
    feature_names : list of str or None, default=None
        Column names, if the model was fitted with names.

    Examples
    --------
    >>> from sklboolean.rules import Rule, RuleList
    >>> rules = RuleList([Rule(((0, True),), 3.0, 1.5)], bound=2.0)
    >>> rules[0].weight, rules.bound, rules.is_optimal
    (3.0, 2.0, True)
    """

    def __init__(self, rules=(), bound=0.0, is_optimal=True, feature_names=None):
        super().__init__(rules)
        self.bound = bound
        self.is_optimal = is_optimal
        self.feature_names = feature_names

    def to_text(self, feature_names=None) -> str:
        """Write the rules as text, one per line, each after its weight.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            A name for each feature. None: those of the list, or x0, x1, ...

        Returns
        -------
        text : str

        Raises
        ------
        ValueError
            When a feature has no name.
        """
        names = self.feature_names if feature_names is None else feature_names
        weights = ["" if r.weight is None else f"{r.weight:+.4g}" for r in self]
        width = max(map(len, weights), default=0)
        return "\n".join(
            f"{weight:>{width}}  {rule.to_text(names)}"
            for weight, rule in zip(weights, self, strict=True)
        )

    def to_frame(self):
        """Make a data frame with a row for each rule.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns label, rule, n_literals, weight, contribution, coverage and
            precision.

        Raises
        ------
        ImportError
            When pandas is not installed.
        """
        return rules_frame(self, self.feature_names)

    def _repr_html_(self):
        rows = [
            [
                rule.to_text(self.feature_names),
                *numbers_of(rule, "weight", "contribution"),
            ]
            for rule in self
        ]
        caption = f"{len(self)} conjunctions; bound of all others "
        caption += bound_text(self.bound, ROUND_CEILING)
        return html_table(caption, ["conjunction", "weight", "contribution"], rows)


def numbers_of(rule, *names):
    """Write some numbers of a rule as text, "" where there is none."""
    values = [getattr(rule, name) for name in names]
    return ["" if value is None else f"{value:.6g}" for value in values]


def bound_text(bound, rounding=ROUND_FLOOR):
    """Write a lower bound in six digits, rounded down, or an upper one rounded up."""
    digits = Context(prec=6, rounding=rounding).create_decimal_from_float(float(bound))
    return f"{float(digits):.6g}"
