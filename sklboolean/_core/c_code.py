"""Formulas of fitted models as functions in C99."""

import math

from sklboolean._core.formula import FirstRule
from sklboolean._core.formulas import check_text, python_label

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
    check_text(str(text), "C")
    # Other bytes are written as octal escapes: three digits end an escape.
    plain = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,")
    characters = [chr(b) if b in plain else f"\\{b:03o}" for b in str(text).encode()]
    return f'"{"".join(characters)}"'


def check_prefix(prefix):
    """Raise a ValueError unless names of C may begin with the prefix."""
    # Identifiers of C are ASCII.
    is_text = isinstance(prefix, str)
    if not is_text or (prefix and not (prefix.isidentifier() and prefix.isascii())):
        raise ValueError(
            f"prefix must be letters, digits and underscores, not first a digit; got "
            f"{prefix!r}."
        )


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
    check_prefix(prefix)
    head = (
        f"/* x has {formula.columns.n_features} features: 0 is false, any other value "
        "is true. */\n"
    )
    functions = [head]
    if formula.classes is not None:
        labels = ", ".join(c_string(python_label(label)) for label in formula.classes)
        functions.append(f"const char *const {prefix}labels[] = {{{labels}}};\n")
    is_rules = isinstance(formula, FirstRule)
    functions += c_rules(formula, prefix) if is_rules else c_sum(formula, prefix)
    if any("exp(" in function or "sqrt(" in function for function in functions):
        functions.insert(0, "#include <math.h>\n")
    return "\n".join(functions)


def c_rules(formula, prefix):
    """Write a list of rules as functions in C."""
    n_rules = len(formula.terms)
    tests = "\n".join(
        f"    if ({c_condition(term)}) return {k};"
        for k, term in enumerate(formula.terms)
    )
    codes = [
        formula.classes.index(label) for label in [*formula.labels, formula.default]
    ]
    codes = ", ".join(map(str, codes))
    functions = [
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
        # repr of a Python float is a literal of C with the same value.
        rows = ",\n".join(
            f"        {{{', '.join(map(repr, row))}}}" for row in table.tolist()
        )
        values = {"n_rules": n_rules + 1, "n_columns": table.shape[1], "rows": rows}
        functions.append(
            C_LOOK_UP.format(prefix=prefix, name=name, meaning=meaning, **values)
        )
    if formula.scores is not None and formula.scores.ndim == 1:
        functions.append(
            C_SCORE.format(prefix=prefix, meaning="Score of the second class.")
        )
    return functions


def c_sum(formula, prefix):
    """Write a weighted sum as functions in C."""
    is_single = len(formula.weights) == 1
    meaning = "Predict the value." if formula.classes is None else "Write the scores."
    functions = [
        C_SUMS.format(prefix=prefix, meaning=meaning, sums="\n".join(c_sums(formula)))
    ]
    if is_single:
        meaning = f"The {formula.output_names()[0]}.".replace("*/", "* /")
        functions.append(C_SCORE.format(prefix=prefix, meaning=meaning))
    if formula.classes is None:
        return functions
    n_classes, spread, slope = len(formula.classes), "", float(formula.slope)
    if is_single:
        sign = ">=" if formula.tie else ">"
        functions.append(C_PREDICT_TWO.format(prefix=prefix, sign=sign))
        # Both classes get half of the score, so that softmax is the sigmoid.
        spread, slope = "    out[1] = out[0];\n    out[0] = -out[1];\n", slope / 2
    else:
        functions.append(C_PREDICT_MANY.format(prefix=prefix, n_classes=n_classes))
    if formula.has_probabilities:
        values = {"n_classes": n_classes, "spread": spread, "slope": repr(slope)}
        functions.append(C_PROBA.format(prefix=prefix, **values))
    return functions


def c_sums(formula):
    """Write the statements that compute the scores."""
    yield f"    double sums[{len(formula.weights)}];"
    for output, intercept in enumerate(formula.intercepts):
        yield f"    sums[{output}] = {float(intercept)!r};"
        for term, weight in formula.used_weights(output):
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
        # z / sqrt(1 + z**2), where z is the margin times the root of the votes.
        root = math.sqrt(formula.divisors[output])
        yield f"    sums[{output}] *= {root!r};"
        yield (
            f"    sums[{output}] /= sqrt(1 + sums[{output}] * sums[{output}])"
            f" * {n_classes - 1};"
        )
        yield f"    out[{second}] += sums[{output}];"
        yield f"    out[{first}] -= sums[{output}];"
