"""Formulas of fitted models in SQL."""

import math

from sklboolean._core.formula import FirstRule
from sklboolean._core.formulas import (
    check_case,
    check_unique,
    conjunction_sql,
    grouped_sum,
    sql_name,
    sql_value,
)


# SQL has no variables, so an expression repeats what it needs: labels of several
# classes repeat their scores. Numbers are written with exponents and summed in groups,
# because databases read plain decimals as exact types and parse long sums recursively.
def sql_code(formula, feature_names=None, output="label"):
    """Write a formula in SQL; parameters of `python_code`.

    ``output="label"`` is one expression. Other outputs are columns with names, as they
    stand between SELECT and FROM.
    """
    check_unique(formula.terms, feature_names)
    if feature_names is not None:
        check_case(_names_like_used(formula.terms, feature_names))
    writer = SqlRules if isinstance(formula, FirstRule) else SqlSum
    writer = writer(formula, feature_names)
    if output == "label":
        return writer.label()
    items = [("prediction", writer.label())] if output == "all" else []
    names = formula.classes
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
    return ",\n".join(f"{code} AS {sql_name(name)}" for name, code in items)


def _names_like_used(terms, feature_names):
    """List the names that a database may take for one that a formula uses."""
    # Databases do not distinguish upper and lower case in names.
    used = {str(feature_names[feature]).casefold() for t in terms for feature, _ in t}
    return [name for name in map(str, feature_names) if name.casefold() in used]


def sql_number(value):
    """Write a float with an exponent, so that no database reads it as a decimal."""
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


class SqlRules:
    """A list of rules as SQL expressions."""

    def __init__(self, formula, feature_names):
        self.formula, self.feature_names = formula, feature_names

    def _decide(self, values):
        """Write the choice of one value for each rule, the last for the default."""
        if not self.formula.terms:
            return values[-1]
        binarize = self.formula.columns.binarize
        lines = [
            f"  WHEN {conjunction_sql(term, self.feature_names, binarize)} "
            f"THEN {value}\n"
            for term, value in zip(self.formula.terms, values[:-1], strict=True)
        ]
        return f"CASE\n{''.join(lines)}  ELSE {values[-1]}\nEND"

    def label(self):
        """Write the label."""
        labels = [*self.formula.labels, self.formula.default]
        return self._decide([sql_value(label) for label in labels])

    def probabilities(self):
        """Write the probability of each class."""
        columns = self.formula.probabilities.T
        return [self._decide([*map(sql_number, column)]) for column in columns]

    def scores(self):
        """Write the scores."""
        scores = self.formula.scores
        columns = scores[None] if scores.ndim == 1 else scores.T
        return [self._decide([*map(sql_number, column)]) for column in columns]


class SqlSum:
    """A weighted sum as SQL expressions."""

    def __init__(self, formula, feature_names):
        self.formula, self.feature_names = formula, feature_names

    def _summand(self, term, weight):
        columns = self.formula.columns
        # A linear model of numbers: a column times its weight; NULL counts as 0.
        if self.formula.takes_numbers and columns.binarize is None:
            [(feature, _)] = term
            names = self.feature_names
            name = f"x{feature}" if names is None else str(names[feature])
            return f"{sql_number(weight)} * COALESCE({sql_name(name)}, 0)"
        condition = conjunction_sql(term, self.feature_names, columns.binarize)
        return f"CASE WHEN {condition} THEN {sql_number(weight)} ELSE 0.0e0 END"

    def _sum(self, output):
        formula = self.formula
        summands = [sql_number(formula.intercepts[output])]
        summands += [self._summand(*pair) for pair in formula.used_weights(output)]
        code = grouped_sum(summands, "\n  + ")
        if formula.divisors is None:
            return code
        return f"({code}) / {sql_number(formula.divisors[output])}"

    def scores(self):
        """Write the scores; they repeat the sums, since SQL has no variables."""
        formula = self.formula
        sums = [self._sum(output) for output in range(len(formula.weights))]
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
            return self._sum(0)
        labels = [sql_value(label) for label in self.formula.classes]
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
        """Write the sigmoid or softmax; EXP may be infinity, whose inverse is 0."""
        slope, scores = sql_number(self.formula.slope), self.scores()
        if len(scores) == 1:
            # The softmax as 1 / (1 + sum of exp of differences): no overflow to NaN.
            exponents = [[f"{slope} * ({scores[0]})"], [f"-{slope} * ({scores[0]})"]]
        else:
            exponents = [
                [
                    f"{slope} * (({other}) - ({score}))"
                    for j, other in enumerate(scores)
                    if j != k
                ]
                for k, score in enumerate(scores)
            ]
        return [
            f"1.0e0 / (1.0e0 + {' + '.join(f'EXP({power})' for power in of_class)})"
            for of_class in exponents
        ]
