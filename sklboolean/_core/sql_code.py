"""Formulas of fitted models in SQL."""

# The table that is scored is called f, and every name is qualified, ``f."age"``: SQLite
# takes an unknown "age" for a text. `Dialect` knows how a database writes names, texts
# and types. `SqlFeatures` knows what stands for a feature: a column of the table, or
# the condition of an encoder on one.
#
# A kind of encoded column writes its conditions in ``sql_of(column, relation, k,
# dialect)``, so that they can be joined by AND. A text on which databases disagree is
# chosen by `Dialect.choose`. The dialect None is what DuckDB, PostgreSQL and SQLite
# have in common.
#
# SQL has no variables, so an expression repeats what it needs: labels of several
# classes repeat their scores. Numbers are written with exponents and summed in groups,
# because databases read plain decimals as exact types and parse long sums recursively.
# PostgreSQL reads all of them as exact types, hence the casts.

import math
from dataclasses import dataclass, replace
from functools import cached_property
from operator import methodcaller

import numpy as np

from sklboolean._core.column_sources import Source, column_sources
from sklboolean._core.formula import FirstRule
from sklboolean._core.formulas import (
    UNWRITABLE,
    check_names,
    check_text,
    check_unique,
    feature_names_of,
    grouped_sum,
    python_label,
)
from sklboolean._core.parameters import check_choice

ESCAPES = str.maketrans({"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r"})
# PostgreSQL and others refuse EXP of more, and of less than the negative.
LARGEST_POWER = 700


@dataclass(frozen=True)
class Dialect:
    """Syntax of names, texts and types in a database.

    Attributes
    ----------
    name : str or None
        None: what DuckDB, PostgreSQL and SQLite have in common.
    quote : str
        Character around names.
    has_escapes : bool
        Whether a backslash in a text begins an escape.
    float_type, integer_type : str
        What numbers are cast to.
    text_type : str or None
        What a text is cast to before it is compared, where texts that differ count as
        equal otherwise.
    has_case : bool
        Whether names that differ only in case are different.
    longest_name : int or None
        Number of bytes of a name that are read.
    start : str or None
        The column of dates from which those of a condition are measured.
    """

    name: str | None
    quote: str = '"'
    has_escapes: bool = False
    float_type: str = "DOUBLE PRECISION"
    integer_type: str = "INTEGER"
    text_type: str | None = None
    has_case: bool = False
    longest_name: int | None = None
    start: str | None = None

    @classmethod
    def of(cls, name):
        """Find a dialect by the argument of the user."""
        check_choice(name, "dialect", tuple(DIALECTS))
        return DIALECTS[name]

    def quoted(self, name):
        """Quote a name."""
        if not name or UNWRITABLE.search(name):
            raise ValueError(
                f"feature_names: {name!r} cannot be the name of a column in SQL. Give "
                "names that are not empty and hold no character of code 0 and no half "
                "of a surrogate pair."
            )
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote

    def value(self, label):
        """Write a class label or a level as a literal."""
        label = python_label(label)
        if isinstance(label, float):
            return sql_number(label)
        if not isinstance(label, str):
            return str(int(label))
        check_text(label, "SQL")
        quoted = label.replace("'", "''")
        return f"'{label.translate(ESCAPES) if self.has_escapes else quoted}'"

    def is_in(self, column, levels, word="IN"):
        """Write that a column has one of some levels, or with "NOT IN" none of them."""
        if all(isinstance(level, bool) for level in levels):
            column = self.as_integer(column)  # no number equals a Boolean of PostgreSQL
        elif self.text_type and isinstance(levels[0], str):
            column = f"CAST({column} AS {self.text_type})"
        if word == "IN" and len(levels) == 1:
            return f"{column} = {self.value(levels[0])}"
        return f"{column} {word} ({', '.join(map(self.value, levels))})"

    def as_float(self, code):
        """Write a number as one of 64 bits."""
        return f"CAST({code} AS {self.float_type})"

    def as_integer(self, code):
        """Write a number or a Boolean as an integer."""
        return f"CAST({code} AS {self.integer_type})"

    def choose(self, texts, what):
        """Choose a text by the name of the dialect; it depends on ``what``."""
        if self.name not in texts:
            names = sorted(name for name in texts if name)
            raise ValueError(
                f"Databases differ in {what}: set dialect to one of {names}, not "
                f"{self.name!r}."
            )
        return texts[self.name]

    def check_apart(self, used, names):
        """Refuse used names that the database takes for other names of the table."""

        def key(name):
            name = name if self.has_case else name.casefold()
            return name.encode(errors="replace")[: self.longest_name]

        used = {key(name): name for name in reversed(used)}
        for name in names:
            other = used.get(key(name), name)
            if other != name:
                raise ValueError(
                    f"{other!r} and {name!r} are the same name for some databases: "
                    "they differ in case only, or PostgreSQL cuts them after 63 bytes. "
                    "Rename a column of the table and give the new names, or set "
                    "dialect to the name of your database."
                )


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect(None, longest_name=63),
        Dialect("duckdb"),
        Dialect("postgresql", has_case=True, longest_name=63),
        Dialect("sqlite"),
        Dialect("bigquery", "`", True, "FLOAT64", "INT64"),
        Dialect("mysql", "`", True, "DOUBLE", "SIGNED", "BINARY"),
        Dialect("spark", "`", True, "DOUBLE", "INT"),
    )
}


def sql_code(formula, feature_names=None, output="label", encoder=None, dialect=None):
    """Write a formula in SQL; parameters of ``to_sql``.

    ``output="label"`` is one expression. Other outputs are columns with names, as they
    stand between SELECT and FROM.
    """
    features = SqlFeatures(formula.columns, feature_names, encoder, dialect)
    features.check(formula.terms)
    dialect = features.dialect
    writer = (SqlRules if isinstance(formula, FirstRule) else SqlSum)(formula, features)
    # Comments may not be nested, nor end early.
    comments = [
        f" /* {UNWRITABLE.sub('', text).replace('*/', '* /').replace('/*', '/ *')} */"
        for text in formula.columns.directions
    ]
    if output == "label":
        return writer.label() + "".join(comments)
    items = [("prediction", writer.label())] if output == "all" else []
    names = list(map(str, formula.classes or ()))
    try:
        dialect.check_apart(names, names)
    except ValueError:  # columns of these names could not be told apart
        names = range(len(names))
    if output in ("score", "all"):
        scores = writer.scores()
        is_single = len(scores) == 1
        items += (
            [("score", scores[0])]
            if is_single
            else [(f"score_{n}", s) for n, s in zip(names, scores, strict=True)]
        )
    if output in ("proba", "all"):
        pairs = zip(names, writer.probabilities(), strict=True)
        items += [(f"proba_{name}", code) for name, code in pairs]
    columns = [f"{code} AS {dialect.quoted(name)}" for name, code in items]
    return ",\n".join(columns) + "".join(comments)


def shares_code(rows, features, table):
    """Write a query of the share of samples that satisfy each of some terms.

    Parameters
    ----------
    rows : list of (str, str, term, float)
        A column, a condition, its term, and the share then.
    features : SqlFeatures
    table : str
    """
    dialect = features.dialect
    features.check([term for _, _, term, _ in rows])
    names = ("column", "condition", "share_then", "share_now")
    names = [dialect.quoted(name) for name in names]
    lines = []
    for column, condition, term, share in rows:
        is_true = features.conjunction(term)
        values = (
            dialect.value(column), dialect.value(condition),
            dialect.as_float(sql_number(share)),
            f"AVG(CASE WHEN {is_true} THEN 1.0e0 ELSE 0.0e0 END)",
        )  # fmt: skip
        items = ", ".join(
            f"{v} AS {name}" for v, name in zip(values, names, strict=True)
        )
        lines.append(f"SELECT {items} FROM {table} AS f")
    return "\nUNION ALL ".join(lines)


def sql_number(value):
    """Write a float with an exponent, so that no database reads it as a decimal."""
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


class SqlFeatures:
    """SQL of each feature: a column of the table, or a condition on one.

    Parameters
    ----------
    columns : Columns
        The features; their number may be None.
    names : sequence of str or None
        Names of the columns of the table.
    encoder : transformer or None
        What makes the features of the columns. None: they are the columns.
    dialect : str or None
    """

    def __init__(self, columns, names=None, encoder=None, dialect=None):
        self.binarize, self.dialect = columns.binarize, Dialect.of(dialect)
        self._names, self._sources = columns.names if names is None else names, None
        if encoder is None:
            return
        self._sources = column_sources(encoder, methodcaller("_bit_columns"))
        if self._sources is None:
            raise ValueError(
                "encoder must be a fitted BooleanEncoder, or a ColumnTransformer of "
                f"such, which may pass other columns; got {encoder!r}."
            )
        self._names = feature_names_of(encoder) if names is None else names
        made = list(map(str, encoder.get_feature_names_out()))
        is_same = columns.n_features in (None, len(made))
        is_same &= not columns.names or columns.names == made
        if not is_same or not 0 <= (self.binarize or 0) < 1:
            raise ValueError(
                "The model does not read the bits of encoder: it was fitted to other "
                "features, or its binarize makes all bits equal. Give the encoder of "
                "its pipeline, and fit it with binarize=0.0."
            )
        if len(self._names) != encoder.n_features_in_:
            raise ValueError(
                f"{len(self._names)} names of columns are given, but the encoder reads "
                f"{encoder.n_features_in_}. Give a name for each column."
            )

    def _source(self, feature):
        return Source(feature) if self._sources is None else self._sources[feature]

    def _column(self, column):
        return f"f.{self.dialect.quoted(self._name(column))}"

    def _name(self, column):
        if self._names is None:
            return f"x{column}"
        check_names(self._names, column)
        return str(self._names[column])

    def check(self, terms):
        """Raise a ValueError unless the columns that terms read can be told apart."""
        sources = [self._source(feature) for term in terms for feature, _ in term]
        used = {source.column for source in sources}
        used |= {source.start for source in sources} - {None}
        if self._names is None:
            return
        check_unique([[(column, True) for column in sorted(used)]], self._names)
        names = [self._name(column) for column in range(len(self._names))]
        self.dialect.check_apart([names[column] for column in used], names)

    def number(self, feature):
        """Write a feature that is a number; None for a condition or a bit."""
        source = self._source(feature)
        if source.fitted is None and self.binarize is None:
            return self._column(source.column)
        return None

    def conjunction(self, literals):
        """Write a conjunction as a condition; no literal on a column holds for NULL."""
        return " AND ".join(self._literal(*pair) for pair in literals) or "1 = 1"

    def _literal(self, feature, value):
        column, fitted, k, start = self._source(feature)
        code, dialect = self._column(column), self.dialect
        if fitted is not None:
            if start is not None:
                dialect = replace(dialect, start=self._column(start))
            condition = fitted.sql(k, code, dialect)
            return condition if value else f"({condition}) IS NOT TRUE"
        if self.binarize is None:
            return f"{self.dialect.as_integer(code)} = {int(value)}"
        relation = ">" if value else "<="
        # An integer in quotes has the type of its column, which may be Boolean.
        if self.dialect.name == "postgresql" and self.binarize == int(self.binarize):
            return f"{code} {relation} '{int(self.binarize)}'"
        return f"{self.dialect.as_float(code)} {relation} {sql_number(self.binarize)}"


class SqlRules:
    """A list of rules as SQL expressions."""

    def __init__(self, formula, features):
        self.formula, self.features = formula, features

    def _decide(self, values):
        """Write the choice of one value for each rule, the last for the default."""
        if not self.formula.terms:
            return values[-1]
        lines = [
            f"  WHEN {self.features.conjunction(term)} THEN {value}\n"
            for term, value in zip(self.formula.terms, values[:-1], strict=True)
        ]
        return f"CASE\n{''.join(lines)}  ELSE {values[-1]}\nEND"

    def label(self):
        """Write the label."""
        labels = [*self.formula.labels, self.formula.default]
        return self._decide([self.features.dialect.value(label) for label in labels])

    def probabilities(self):
        """Write the probability of each class."""
        return self._numbers(self.formula.probabilities.T)

    def scores(self):
        """Write the scores."""
        return self._numbers(np.atleast_2d(self.formula.scores.T))

    def _numbers(self, columns):
        columns = [[*map(sql_number, column)] for column in columns]
        as_float = self.features.dialect.as_float
        return [
            self._decide([*column[:-1], as_float(column[-1])]) for column in columns
        ]


class SqlSum:
    """A weighted sum as SQL expressions."""

    def __init__(self, formula, features):
        self.formula, self.features = formula, features

    def _summand(self, term, weight):
        weight = sql_number(weight)
        # A linear model of numbers: a column times its weight; NULL counts as 0.
        if (column := self._number(term)) is not None:
            return f"{weight} * COALESCE({column}, 0)"
        return (
            f"CASE WHEN {self.features.conjunction(term)} THEN {weight} ELSE 0.0e0 END"
        )

    def _number(self, term):
        """Write the number of a linear model that a term is; None for a condition."""
        return self.features.number(term[0][0]) if self.formula.takes_numbers else None

    def _sum(self, intercept, weights):
        terms, used = self.formula.terms, np.flatnonzero(weights)
        summands = [self.features.dialect.as_float(sql_number(intercept))]
        summands += [self._summand(terms[k], weights[k]) for k in used]
        return grouped_sum(summands, "\n  + ")

    def scores(self):
        """Write the scores; they repeat the sums, since SQL has no variables."""
        formula = self.formula
        pairs = zip(formula.intercepts, formula.weights, strict=True)
        sums = [self._sum(*pair) for pair in pairs]
        if formula.divisors is not None:
            pairs = zip(sums, map(sql_number, formula.divisors), strict=True)
            sums = [f"({code}) / {n_votes}" for code, n_votes in pairs]
        if formula.games is None:
            return sums
        n_others, shares = len(formula.classes) - 1, []
        for margin, n_votes in zip(sums, formula.divisors, strict=True):
            z = f"({sql_number(math.sqrt(n_votes))} * ({margin}))"
            shares.append(f"{z} / SQRT(1.0e0 + {z} * {z}) / {sql_number(n_others)}")
        scores = []
        for code in range(len(formula.classes)):
            summands = [
                f"{'+' if second == code else '-'} {share}"
                for (first, second), share in zip(formula.games, shares, strict=True)
                if code in (first, second)
            ]
            scores.append(f"(0.0e0 {' '.join(summands)})")
        return scores

    def label(self):
        """Write the label, or the value of a regressor.

        The scores of K > 2 labels are repeated about K * K / 2 times.
        """
        if self.formula.classes is None:
            return self.scores()[0]
        labels = [self.features.dialect.value(each) for each in self.formula.classes]
        scores = self.scores()
        if len(labels) == 2:
            sign = ">=" if self.formula.tie else ">"
            return (
                f"CASE WHEN {scores[0]} {sign} 0 THEN {labels[1]} ELSE {labels[0]} END"
            )
        lines = []
        for k in range(len(scores) - 1):
            later = scores[k + 1 :]
            # The first of equal scores wins: each is compared with the later ones.
            wins = " AND ".join(f"({scores[k]}) >= ({other})" for other in later)
            lines.append(f"WHEN {wins} THEN {labels[k]}")
        return " ".join(["CASE", *lines, f"ELSE {labels[-1]} END"])

    def probabilities(self):
        """Write the softmax, as 1 / (1 + sum of exp of differences of scores)."""
        formula, scores = self.formula, self.scores()
        weights, intercepts = formula.scaled()

        def power(j, k):
            if len(scores) == 1:
                return self._exp(f"{'-' * (j < k)}({scores[0]})")
            if formula.games is not None:
                return self._exp(f"{scores[j]} - {scores[k]}")
            # The difference of two sums is one sum, which is shorter.
            difference = intercepts[j] - intercepts[k], weights[j] - weights[k]
            return self._exp(self._sum(*difference))

        classes = range(len(formula.classes))
        powers = [[power(j, k) for j in classes if j != k] for k in classes]
        return [f"1.0e0 / (1.0e0 + {' + '.join(of_class)})" for of_class in powers]

    @cached_property
    def _is_bounded(self):
        """Whether no difference of scores is so large that EXP fails."""
        formula = self.formula
        weights, intercepts = formula.scaled()
        largest = (np.abs(weights).sum(axis=1) + np.abs(intercepts)).max()
        has_numbers = any(self._number(term) is not None for term in formula.terms)
        return 2 * formula.slope * largest < LARGEST_POWER and not has_numbers

    def _exp(self, difference):
        """Write the exponential of a difference of scores times the slope."""
        power = f"{sql_number(self.formula.slope)} * ({difference})"
        if self._is_bounded:
            return f"EXP({power})"
        high = f"{LARGEST_POWER}.0e0"
        return (
            f"EXP(CASE WHEN {power} > {high} THEN {high} WHEN {power} < -{high} "
            f"THEN -{high} ELSE {power} END)"
        )
