"""Formulas as text that a person can read."""

from decimal import Decimal

import numpy as np


def feature_name_of(learner, feature):
    """Return the name of one column of a fitted learner."""
    if hasattr(learner, "feature_names_in_"):
        return str(learner.feature_names_in_[feature])
    return f"x{feature}"


def feature_names_of(learner):
    """Return the names of a fitted learner's columns; x0, x1, ... when it has none."""
    return [feature_name_of(learner, j) for j in range(learner.n_features_in_)]


def format_large_int(number):
    """Write a positive integer; of a long one the power of ten that it reaches."""
    return f"10^{Decimal(number).adjusted()}" if number >= 10**12 else str(number)


def formula_text(literals, names, *, disjunctive=False):
    """Write a conjunction or a disjunction of literals.

    Parameters
    ----------
    literals : ndarray of shape (n_features,) or (2 * n_features,), bool
        Which features and which of their negations take part.
    names : list of str
        Names of the features.
    disjunctive : bool
        Join with "or".

    Returns
    -------
    text : str
        In the order of the columns. What is always true or always false is "True" or
        "False".
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
        f"not {names[j]}" if signed[1, j] else names[j]
        for j in np.flatnonzero(signed.any(axis=0))
    ]
    return (" or " if disjunctive else " and ").join(words)
