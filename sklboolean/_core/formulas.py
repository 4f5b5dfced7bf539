"""Formulas as text, Python code, SQL and HTML.

Negation is written ``not a`` in every text of the package.
"""

import math
import re
from decimal import Decimal
from html import escape

import numpy as np

from sklboolean._core.feature_names import FeatureNames

INFINITE = (math.inf, -math.inf)
# Code 0, which ends a text of C, and halves of surrogate pairs.
UNWRITABLE = re.compile("[\0\ud800-\udfff]")
# Parsers limit how deep an expression may be, so long sums are grouped.
TERMS_OF_GROUP = 400


def feature_name_of(estimator, feature):
    """Name one column of a fitted estimator: its column name, or x0, x1, ..."""
    if hasattr(estimator, "feature_names_in_"):
        return str(estimator.feature_names_in_[feature])
    return f"x{feature}"


def feature_names_of(estimator):
    """List the names of all columns of a fitted estimator."""
    return [feature_name_of(estimator, j) for j in range(estimator.n_features_in_)]


def check_input_names(estimator, input_features):
    """Check the argument of ``get_feature_names_out``; return a name for each column.

    None stands for the column names of the fit, or x0, x1, ...
    """
    names = feature_names_of(estimator)
    if input_features is None:
        return names
    input_names = np.asarray(input_features, dtype=object).tolist()
    if len(input_names) != estimator.n_features_in_:
        raise ValueError(
            "input_features should have length equal to number of features "
            f"({estimator.n_features_in_}), got {len(input_names)}."
        )
    if hasattr(estimator, "feature_names_in_") and input_names != names:
        raise ValueError("input_features is not equal to feature_names_in_.")
    return input_names


def check_names(feature_names, feature):
    """Raise a ValueError when ``feature`` has no name."""
    n_names = len(feature_names) if np.ndim(feature_names) == 1 else 0
    if feature >= n_names:
        raise ValueError(
            f"feature_names has {n_names} names, but the rule uses feature {feature}: "
            "give a list with one name for each feature."
        )


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


def format_large_int(number):
    """Write a positive integer; a long one as the power of ten that it reaches."""
    return f"10^{Decimal(number).adjusted()}" if number >= 10**12 else str(number)


def python_value(value):
    """Convert a label to a plain Python value, whose repr is code."""
    return value.item() if hasattr(value, "item") else value


def shown(value):
    """Write a value that was read for a message; long ones are cut."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # deep lists, integers of many digits
        return f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= 200 else f"{text[:200]}..."


def check_text(text, language):
    """Raise a ValueError for a label or level that a language cannot hold."""
    if UNWRITABLE.search(text):
        raise ValueError(
            f"The label or level {text!r} cannot be written in {language}: it holds a "
            "character of code 0 or half of a surrogate pair. Use another one."
        )


def python_label(label):
    """Convert a label to text, a number or a bool; other labels are errors."""
    label = python_value(label)
    if not isinstance(label, str | int | float) or label != label or label in INFINITE:
        raise ValueError(
            f"The label {shown(label)} is neither text nor a finite number. Use such "
            "labels to export rules."
        )
    return label


def literal_text(name, value):
    """Write a literal: ``name``, or ``not name`` where the value is false."""
    return str(name) if value else f"not {name}"


def conjunction_text(literals, feature_names=None):
    """Write a conjunction, such as ``a and not b`` or ``16 < age <= 44.5``.

    Bounds of one column are merged into an interval.

    Parameters
    ----------
    literals : sequence of (feature, value) pairs
        The empty conjunction is "True".
    feature_names : sequence of str or None
        None: x0, x1, ...

    Raises
    ------
    ValueError
        When a feature has no name.
    """
    if feature_names is None:
        words = [literal_text(f"x{feature}", value) for feature, value in literals]
    else:
        check_names(feature_names, max((j for j, _ in literals), default=-1))
        words = FeatureNames(feature_names).words(literals)
    return " and ".join(words) or "True"


def conjunction_code(literals, feature_names, binarize):
    """Write a conjunction as a Python expression of a sample ``x``.

    Parameters
    ----------
    literals : sequence of (feature, value) pairs
    feature_names : sequence of str or None
        Keys of ``x``. None: column numbers.
    binarize : float or None
        Threshold above which a value is true. None: values are true or false.
    """
    words = []
    for feature, value in literals:
        if feature_names is not None:
            check_names(feature_names, feature)
        key = feature if feature_names is None else str(feature_names[feature])
        item = f"x[{key!r}]"
        if binarize is not None:
            words.append(f"{item} {'>' if value else '<='} {float(binarize)!r}")
        else:
            words.append(literal_text(item, value))
    return " and ".join(words) or "True"


def formula_text(literals, names, *, disjunctive=False):
    """Write a conjunction or a disjunction given as a mask of literals.

    Parameters
    ----------
    literals : ndarray of shape (n_features,) or (2 * n_features,), bool
        Features that take part, then negations that take part.
    names : list of str
        Feature names.
    disjunctive : bool
        Join with "or".

    Returns
    -------
    text : str
        In the order of the columns. "True" or "False" for a constant.
    """
    n_features = len(names)
    signed = np.zeros((2, n_features), dtype=bool)
    signed.reshape(-1)[: len(literals)] = literals
    # An empty conjunction is true. A feature with its negation makes a conjunction
    # false; for disjunctions it is the other way round.
    if signed.all(axis=0).any():
        return str(disjunctive)
    if not signed.any():
        return str(not disjunctive)
    words = [
        literal_text(names[j], not signed[1, j])
        for j in np.flatnonzero(signed.any(axis=0))
    ]
    return (" or " if disjunctive else " and ").join(words)


def html_table(caption, header, rows):
    """Build an HTML table for notebooks; the text of the cells is escaped."""

    def line(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{escape(c)}</{tag}>" for c in cells) + "</tr>"

    body = "".join(line(cells, "td") for cells in rows)
    return (
        f"<table><caption>{escape(caption)}</caption><thead>{line(header, 'th')}"
        f"</thead><tbody>{body}</tbody></table>"
    )
