"""Formulas of fitted models as Python, SQL and C.

Each language writes conditions, sums and choices in its own way; what is written about
a model follows from its formula alone.
"""

import math
from itertools import groupby

import numpy as np

from sklboolean._core.formula import FirstRule
from sklboolean._core.formulas import (
    check_names,
    conjunction_code,
    conjunction_sql,
    python_label,
    sql_name,
    sql_value,
)

OUTPUTS = ("label", "proba", "score", "all")
# Parsers limit how deep an expression may be, so long sums are grouped.
TERMS_OF_GROUP = 400


def check_unique(conjunctions, feature_names):
    """Raise a ValueError when two features that rules use have the same name."""
    if feature_names is None:
        return
    owners = {}
    for feature, _ in (literal for literals in conjunctions for literal in literals):
        check_names(feature_names, feature)
        name = str(feature_names[feature])
        if owners.setdefault(name, feature) != feature:
            raise ValueError(
                f"feature_names: features {owners[name]} and {feature} are both called "
                f"{name!r}, so the rules would be ambiguous. Give unique names."
            )


def grouped_sum(summands, separator):
    """Join summands by plus signs; long sums in groups with parentheses."""
    if len(summands) <= TERMS_OF_GROUP:
        return separator.join(summands)
    groups = [
        summands[first : first + TERMS_OF_GROUP]
        for first in range(0, len(summands), TERMS_OF_GROUP)
    ]
    return grouped_sum([f"({separator.join(group)})" for group in groups], separator)


def check_outputs(formula, output):
    """Raise a ValueError unless the formula has what is to be written."""
    if output not in OUTPUTS:
        raise ValueError(f"output must be one of {list(OUTPUTS)}; got {output!r}.")
    if output in ("proba", "all") and not has_probabilities(formula):
        raise ValueError(
            f"output={output!r}: the model has no probabilities. Set output='label' or "
            "output='score'."
        )
    if output in ("score", "all") and isinstance(formula, FirstRule):
        if formula.scores is None:
            raise ValueError(
                f"output={output!r}: the score of this model is not decided by its "
                "rules. Set output='label' or output='proba'."
            )


def has_probabilities(formula):
    """Whether the probabilities of a formula can be written."""
    if isinstance(formula, FirstRule):
        return formula.probabilities is not None
    return formula.classes is not None and formula.has_probabilities


def used_weights(formula, output):
    """List the terms of one sum that have a weight, with it."""
    weights = formula.weights[output]
    return [(formula.terms[k], float(weights[k])) for k in np.flatnonzero(weights)]


def python_code(formula, feature_names=None, output="label"):
    """Write a formula as a Python expression of a sample ``x``.

    Parameters
    ----------
    formula : FirstRule or WeightedSum
    feature_names : sequence of str or None
        Keys of ``x``. None: column numbers.
    output : {"label", "proba", "score", "all"}
    """
    check_outputs(formula, output)
    check_unique(formula.terms, feature_names)
    writer = PythonRules if isinstance(formula, FirstRule) else PythonSum
    writer = writer(formula, feature_names)
    if output != "all":
        return getattr(writer, output)()
    parts = [f"{name!r}: {getattr(writer, name)()}" for name in OUTPUTS[:3]]
    return "{" + ", ".join(parts) + "}"


class PythonRules:
    """A list of rules as Python expressions."""

    def __init__(self, formula, feature_names):
        self.formula, self.feature_names = formula, feature_names

    def _decide(self, values):
        """Write the choice of one value for each rule, the last for the default."""
        binarize, code = self.formula.columns.binarize, ""
        pairs = zip(values[:-1], self.formula.terms, strict=True)
        for value, members in groupby(pairs, key=lambda pair: pair[0]):
            conditions = [
                f"({conjunction_code(term, self.feature_names, binarize)})"
                for _, term in members
            ]
            code += f"{value} if {' or '.join(conditions)} else "
        return code + values[-1]

    def label(self):
        """Write the label."""
        labels = [*self.formula.labels, self.formula.default]
        return self._decide([repr(python_label(label)) for label in labels])

    def proba(self):
        """Write the probabilities, a dictionary by class."""
        return self._by_class(self.formula.probabilities)

    def score(self):
        """Write the score, or a dictionary by class."""
        scores = self.formula.scores
        if scores.ndim == 2:
            return self._by_class(scores)
        return self._decide([repr(value) for value in scores.tolist()])

    def _by_class(self, table):
        keys = [python_label(label) for label in self.formula.classes]
        rows = [dict(zip(keys, row, strict=True)) for row in table.tolist()]
        return self._decide([repr(row) for row in rows])


class PythonSum:
    """A weighted sum as Python expressions."""

    def __init__(self, formula, feature_names):
        self.formula, self.feature_names = formula, feature_names
        if formula.classes is not None:
            self.labels = [python_label(label) for label in formula.classes]

    def _summand(self, term, weight):
        condition = conjunction_code(
            term, self.feature_names, self.formula.columns.binarize
        )
        if self.formula.takes_numbers and self.formula.columns.binarize is None:
            return f"{weight!r} * {condition}"
        return f"{weight!r} * bool({condition})"

    def _sum(self, output):
        formula = self.formula
        summands = [repr(float(formula.intercepts[output]))]
        summands += [self._summand(*pair) for pair in used_weights(formula, output)]
        code = grouped_sum(summands, " + ")
        if formula.divisors is None:
            return code
        return f"({code}) / {float(formula.divisors[output])!r}"

    def _scores(self):
        """Write the list of scores, one for two classes."""
        formula = self.formula
        sums = [self._sum(output) for output in range(len(formula.weights))]
        code = f"[{', '.join(sums)}]"
        if formula.games is None:
            return code
        roots = [math.sqrt(n_votes) for n_votes in formula.divisors]
        n_others, scores = len(self.labels) - 1, []
        shares = (
            f"[r * v / (1 + r * v * r * v) ** 0.5 / {n_others} "
            f"for r, v in zip({roots!r}, m)]"
        )
        for code_of_class in range(len(self.labels)):
            parts = [
                f"{'+' if second == code_of_class else '-'} g[{k}]"
                for k, (first, second) in enumerate(formula.games)
                if code_of_class in (first, second)
            ]
            scores.append(" ".join(parts))
        return f"(lambda m: (lambda g: [{', '.join(scores)}])({shares}))({code})"

    def label(self):
        """Write the label, or the value of a regressor."""
        if self.formula.classes is None:
            return self._sum(0)
        if len(self.labels) == 2:
            sign = ">=" if self.formula.tie else ">"
            first, second = self.labels
            return f"{second!r} if {self._sum(0)} {sign} 0 else {first!r}"
        return f"(lambda s: {self.labels!r}[s.index(max(s))])({self._scores()})"

    def score(self):
        """Write the score of the second class or the value, or a dictionary."""
        if len(self.formula.weights) == 1:
            return self._sum(0)
        return f"dict(zip({self.labels!r}, {self._scores()}))"

    def proba(self):
        """Write the probabilities, a dictionary by class."""
        slope = float(self.formula.slope)
        scores = self._scores()
        if len(self.labels) == 2:
            scores = f"(lambda s: [-s[0], s[0]])({scores})"
            # softmax of half the score on both sides is the sigmoid
            slope /= 2
        powers = f"[{math.e!r} ** ({slope!r} * (v - max(s))) for v in s]"
        values = f"(lambda s: (lambda e: [v / sum(e) for v in e])({powers}))({scores})"
        return f"dict(zip({self.labels!r}, {values}))"


def sql_code(formula, feature_names=None, output="label"):
    """Write a formula in SQL; parameters of `python_code`.

    ``output="label"`` is one expression. Other outputs are columns with names, as they
    stand between SELECT and FROM.
    """
    check_outputs(formula, output)
    check_unique(formula.terms, feature_names)
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
        summands += [self._summand(*pair) for pair in used_weights(formula, output)]
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
            parts = [
                f"{'+' if second == code else '-'} {share}"
                for (first, second), share in zip(formula.games, shares, strict=True)
                if code in (first, second)
            ]
            scores.append(f"(0.0e0 {' '.join(parts)})")
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
            rest = scores[k + 1 :]
            wins = " AND ".join(f"({scores[k]}) >= ({other})" for other in rest)
            lines.append(f"WHEN {wins} THEN {labels[k]}")
        return " ".join(["CASE", *lines, f"ELSE {labels[-1]} END"])

    def probabilities(self):
        """Write the sigmoid or softmax; EXP may be infinity, whose inverse is 0."""
        slope, scores = sql_number(self.formula.slope), self.scores()
        if len(scores) == 1:
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
            f"1.0e0 / (1.0e0 + {' + '.join(f'EXP({each})' for each in of_class)})"
            for of_class in exponents
        ]


C_RULES = """\
/* Number the rule that decides; {n_rules}: no rule holds. */
static int {prefix}rule(const unsigned char *x) {{
    (void) x;
{tests}
    return {n_rules};
}}
"""
C_PREDICT_RULES = """\
/* Number the class in {prefix}labels. */
int {prefix}predict(const unsigned char *x) {{
    static const int classes[] = {{{codes}}};
    return classes[{prefix}rule(x)];
}}
"""
C_LOOK_UP = """\
/* {meaning} */
void {prefix}{name}(const unsigned char *x, double *out) {{
    static const double table[{n_rules}][{n_columns}] = {{
{rows}
    }};
    const double *row = table[{prefix}rule(x)];
    for (int k = 0; k < {n_columns}; ++k) out[k] = row[k];
}}
"""
C_SCORE = """\
/* {meaning} */
double {prefix}score(const unsigned char *x) {{
    double value;
    {prefix}scores(x, &value);
    return value;
}}
"""
C_SUMS = """\
/* {meaning} */
void {prefix}scores(const unsigned char *x, double *out) {{
    (void) x;
{sums}
}}
"""
C_PREDICT_TWO = """\
/* Number the class in {prefix}labels: 0 or 1. */
int {prefix}predict(const unsigned char *x) {{ return {prefix}score(x) {sign} 0; }}
"""
C_PREDICT_MANY = """\
/* Number the class in {prefix}labels, that of the largest score. */
int {prefix}predict(const unsigned char *x) {{
    double values[{n_classes}];
    int best = 0;
    {prefix}scores(x, values);
    for (int k = 1; k < {n_classes}; ++k)
        if (values[k] > values[best]) best = k;
    return best;
}}
"""
C_PROBA = """\
/* Write the probability of each class in {prefix}labels. */
void {prefix}proba(const unsigned char *x, double *out) {{
    double total = 0, largest;
    {prefix}scores(x, out);
{spread}    largest = out[0];
    for (int k = 1; k < {n_classes}; ++k)
        if (out[k] > largest) largest = out[k];
    for (int k = 0; k < {n_classes}; ++k)
        total += out[k] = exp({slope} * (out[k] - largest));
    for (int k = 0; k < {n_classes}; ++k) out[k] /= total;
}}
"""


def c_string(text):
    """Write text as a string of C: bytes of UTF-8, others than letters as octals."""
    plain = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,")
    parts = [chr(b) if b in plain else f"\\{b:03o}" for b in str(text).encode()]
    return f'"{"".join(parts)}"'


def c_condition(term):
    """Write a conjunction as a condition on the bits ``x``."""
    return " && ".join(f"{'' if v else '!'}x[{j}]" for j, v in term) or "1"


def c_code(formula, prefix=""):
    """Write a formula as functions in C99.

    Parameters
    ----------
    formula : FirstRule or WeightedSum
    prefix : str
        Begins the names of the functions.
    """
    if prefix and not (prefix.isidentifier() and prefix.isascii()):
        raise ValueError(
            f"prefix must be letters, digits and underscores, not first a digit; got "
            f"{prefix!r}."
        )
    head = (
        f"/* x has {formula.columns.n_features} features: 0 is false, any other value "
        "is true. */\n"
    )
    parts = [head]
    if formula.classes is not None:
        labels = ", ".join(c_string(python_label(one)) for one in formula.classes)
        parts.append(f"const char *const {prefix}labels[] = {{{labels}}};\n")
    is_rules = isinstance(formula, FirstRule)
    parts += c_rules(formula, prefix) if is_rules else c_sum(formula, prefix)
    if any("exp(" in part or "sqrt(" in part for part in parts):
        parts.insert(0, "#include <math.h>\n")
    return "\n".join(parts)


def c_rules(formula, prefix):
    """Write a list of rules as functions in C."""
    n_rules = len(formula.terms)
    tests = "\n".join(
        f"    if ({c_condition(term)}) return {k};"
        for k, term in enumerate(formula.terms)
    )
    codes = [formula.classes.index(one) for one in [*formula.labels, formula.default]]
    codes = ", ".join(map(str, codes))
    parts = [
        C_RULES.format(prefix=prefix, tests=tests, n_rules=n_rules),
        C_PREDICT_RULES.format(prefix=prefix, codes=codes),
    ]
    for name, meaning, table in (
        ("proba", "Write the probability of each class.", formula.probabilities),
        ("scores", "Write the scores.", formula.scores),
    ):
        if table is None:
            continue
        table = table.reshape(n_rules + 1, -1)
        rows = ",\n".join(
            f"        {{{', '.join(map(repr, row))}}}" for row in table.tolist()
        )
        values = {"n_rules": n_rules + 1, "n_columns": table.shape[1], "rows": rows}
        parts.append(
            C_LOOK_UP.format(prefix=prefix, name=name, meaning=meaning, **values)
        )
    if formula.scores is not None and formula.scores.ndim == 1:
        parts.append(
            C_SCORE.format(prefix=prefix, meaning="Score of the second class.")
        )
    return parts


def c_sum(formula, prefix):
    """Write a weighted sum as functions in C."""
    is_single = len(formula.weights) == 1
    meaning = "Predict the value." if formula.classes is None else "Write the scores."
    parts = [
        C_SUMS.format(prefix=prefix, meaning=meaning, sums="\n".join(c_sums(formula)))
    ]
    if is_single:
        meaning = f"The {formula.output_names()[0]}.".replace("*/", "* /")
        parts.append(C_SCORE.format(prefix=prefix, meaning=meaning))
    if formula.classes is None:
        return parts
    n_classes, spread, slope = len(formula.classes), "", float(formula.slope)
    if is_single:
        sign = ">=" if formula.tie else ">"
        parts.append(C_PREDICT_TWO.format(prefix=prefix, sign=sign))
        spread, slope = "    out[1] = out[0];\n    out[0] = -out[1];\n", slope / 2
    else:
        parts.append(C_PREDICT_MANY.format(prefix=prefix, n_classes=n_classes))
    if formula.has_probabilities:
        values = {"n_classes": n_classes, "spread": spread, "slope": repr(slope)}
        parts.append(C_PROBA.format(prefix=prefix, **values))
    return parts


def c_sums(formula):
    """Write the statements that compute the scores."""
    yield f"    double sums[{len(formula.weights)}];"
    for output, intercept in enumerate(formula.intercepts):
        yield f"    sums[{output}] = {float(intercept)!r};"
        for term, weight in used_weights(formula, output):
            yield f"    if ({c_condition(term)}) sums[{output}] += {weight!r};"
        if formula.divisors is not None:
            yield f"    sums[{output}] /= {float(formula.divisors[output])!r};"
    if formula.games is None:
        for output in range(len(formula.weights)):
            yield f"    out[{output}] = sums[{output}];"
        return
    n_classes = len(formula.classes)
    yield f"    for (int k = 0; k < {n_classes}; ++k) out[k] = 0;"
    for output, (first, second) in enumerate(formula.games):
        root = math.sqrt(formula.divisors[output])
        yield f"    sums[{output}] *= {root!r};"
        yield (
            f"    sums[{output}] /= sqrt(1 + sums[{output}] * sums[{output}])"
            f" * {n_classes - 1};"
        )
        yield f"    out[{second}] += sums[{output}];"
        yield f"    out[{first}] -= sums[{output}];"
