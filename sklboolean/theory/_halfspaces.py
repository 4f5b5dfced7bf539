"""Halfspace forms: rules written as ``w.x >= threshold`` over Boolean features."""

import reprlib
from numbers import Integral

import numpy as np

from sklboolean.theory._numbers import as_integer


def conjunction_halfspace(positive, negative, n_features) -> tuple[np.ndarray, int]:
    """Write a conjunction as a halfspace.

    Parameters
    ----------
    positive, negative : iterable of int
        Indices of the features that must be 1, and of those that must be 0. Each list
        has no duplicates. A feature in both is a contradiction: no sample reaches the
        threshold.
    n_features : int
        Number of features, at least 1.

    Returns
    -------
    w : ndarray of shape (n_features,), dtype int64
        1 for a positive literal, -1 for a negative one, 0 for none or both.
    threshold : int
        The number of positive literals. The conjunction holds iff
        ``w.x >= threshold``.

    Raises
    ------
    ValueError
        If a feature is not an integer from 0 to ``n_features - 1`` or is listed twice.

    References
    ----------
    .. [1] S. Vempala (2021). Machine Learning Theory, CS 7545, Georgia Tech, lecture 11
       (notes by T. LaBonte), equations 2 and 3, whose weight of a negative literal
       should read -1.

    Examples
    --------
    >>> from sklboolean.theory import conjunction_halfspace
    >>> conjunction_halfspace(positive=[0, 3], negative=[2], n_features=4)
    (array([ 1,  0, -1,  1]), 2)
    """
    w, n_positive, _ = _literal_weights(positive, negative, n_features)
    return w, n_positive


def disjunction_halfspace(positive, negative, n_features) -> tuple[np.ndarray, int]:
    """Write a disjunction as a halfspace.

    Parameters
    ----------
    positive, negative : iterable of int
        Indices of the positive and of the negated features, one of which must hold.
        Each list has no duplicates. A feature in both is a tautology: every sample
        reaches the threshold.
    n_features : int
        Number of features, at least 1.

    Returns
    -------
    w : ndarray of shape (n_features,), dtype int64
        1 for a positive literal, -1 for a negative one, 0 for none or both.
    threshold : int
        1 minus the number of negative literals. The disjunction holds iff
        ``w.x >= threshold``.

    Raises
    ------
    ValueError
        If a feature is not an integer from 0 to ``n_features - 1`` or is listed twice.

    References
    ----------
    .. [1] S. Vempala (2021). Machine Learning Theory, CS 7545, Georgia Tech, lecture 11
       (notes by T. LaBonte), equations 4 and 5, whose weight of a negative literal
       should read -1.

    Examples
    --------
    >>> from sklboolean.theory import disjunction_halfspace
    >>> disjunction_halfspace(positive=[0, 3], negative=[2], n_features=4)
    (array([ 1,  0, -1,  1]), 0)
    """
    w, _, n_negative = _literal_weights(positive, negative, n_features)
    return w, 1 - n_negative


def at_least_halfspace(m, features, n_features) -> tuple[np.ndarray, int]:
    """Write "at least m of these features are 1" as a halfspace.

    Parameters
    ----------
    m : int
        Required number of ones, from 0 to the number of `features`.
    features : iterable of int
        Indices of the features that count, without duplicates.
    n_features : int
        Number of features of a sample, at least 1.

    Returns
    -------
    w : ndarray of shape (n_features,), dtype int64
        1 for the features that count, 0 for the others.
    threshold : int
        `m`. The rule holds iff ``w.x >= threshold``.

    Raises
    ------
    ValueError
        If `m` is out of range, or a feature is not an integer from 0 to
        ``n_features - 1`` or is listed twice.

    References
    ----------
    .. [1] D. Roth (2019). On-line Learning, Perceptron, Kernels. CIS 519, University of
       Pennsylvania, lecture slides: Linear Threshold Functions.

    Examples
    --------
    >>> from sklboolean.theory import at_least_halfspace
    >>> at_least_halfspace(2, features=[0, 2, 4], n_features=5)
    (array([1, 0, 1, 0, 1]), 2)
    """
    n = as_integer(n_features, "n_features", at_least=1, at_most=2**26)
    features = _as_features(features, "features", n)
    w = np.zeros(n, dtype=np.int64)
    w[features] = 1
    return w, as_integer(m, "m", at_least=0, at_most=len(features))


def decision_list_halfspace(rules, default, n_features) -> tuple[np.ndarray, int]:
    """Write a decision list as a halfspace.

    The first rule that applies decides the label; if none applies it is `default`. The
    weight of a rule exceeds the sum of the weights of all later rules with the other
    label.

    Parameters
    ----------
    rules : iterable of (int, int, int)
        Triples ``(feature, value, label)`` in order: a sample whose `feature` has this
        `value` (0 or 1) has this `label` (0 or 1).
    default : int
        Label, 0 or 1, of samples to which no rule applies.
    n_features : int
        Number of features, at least 1.

    Returns
    -------
    w : ndarray of shape (n_features,), dtype int64
        The weights. Compute scores with integers: floats are exact up to 2**53 only.
    threshold : int
        The label is 1 iff ``w.x >= threshold``.

    Raises
    ------
    ValueError
        If a rule or `default` is not as described, or a score could exceed int64. Up to
        88 rules always fit, more when the label changes less often.

    Notes
    -----
    If the label changes with every rule, the weights are Fibonacci numbers. They need
    not double from rule to rule as in [1]_. Neighbouring rules with the same label have
    equal weights.

    References
    ----------
    .. [1] S. Vempala (2021). Machine Learning Theory, CS 7545, Georgia Tech, lecture 11
       (notes by T. LaBonte), equations 6 and 7; a rule for the value 0 has the factor
       ``1 - x`` in each of its terms.
    .. [2] R. L. Rivest (1987). Learning Decision Lists. Machine Learning 2(3), 229-246.

    Examples
    --------
    If x0 is 1 then 1, else if x1 is 0 then 0, else if x2 is 1 then 1, else 0:

    >>> from sklboolean.theory import decision_list_halfspace
    >>> decision_list_halfspace([(0, 1, 1), (1, 0, 0), (2, 1, 1)], 0, n_features=3)
    (array([3, 2, 1]), 3)
    """
    n = as_integer(n_features, "n_features", at_least=1, at_most=2**26)
    rules = _as_rules(rules, n)
    # Without a rule that applies the score is 0.
    threshold = 0 if _as_bit(default, "default") else 1
    # A rule weighs 1 more than all later rules of the other label together.
    weights, later = [0] * n, [0, 0]
    for feature, value, label in reversed(rules):
        weight = later[1 - label] + 1
        later[label] += weight
        vote = weight if label else -weight
        if value:
            weights[feature] += vote
        else:  # vote * (1 - x)
            weights[feature] -= vote
            threshold -= vote
    if sum(map(abs, weights)) + abs(threshold) >= 2**63:
        raise ValueError(
            "rules must be fewer, or change the label less often, for scores that fit "
            f"into 64-bit integers; got {len(rules)} rules."
        )
    return np.array(weights, dtype=np.int64), threshold


def _literal_weights(positive, negative, n_features):
    n = as_integer(n_features, "n_features", at_least=1, at_most=2**26)
    positive = _as_features(positive, "positive", n)
    negative = _as_features(negative, "negative", n)
    w = np.zeros(n, dtype=np.int64)
    w[positive] += 1
    w[negative] -= 1
    return w, len(positive), len(negative)


def _as_features(features, name, n_features):
    """Check feature indices and convert them to a list of ints."""
    try:
        features = list(features)
    except TypeError:
        raise ValueError(
            f"{name} must be a list of feature indices; got {features!r}."
        ) from None
    features = [_as_feature(feature, name, n_features) for feature in features]
    if len(set(features)) < len(features):
        raise ValueError(
            f"{name} must list every feature at most once; got {features}."
        )
    return features


def _as_feature(feature, name, n_features):
    # A bool would be an entry of a mask, and a negative index would count from the end.
    is_index = isinstance(feature, Integral) and not isinstance(feature, bool)
    if not is_index or not 0 <= feature < n_features:
        raise ValueError(
            f"{name} must contain integers from 0 to {n_features - 1}; got {feature!r}."
        )
    return int(feature)


def _as_rules(rules, n_features):
    try:
        triples = [(feature, value, label) for feature, value, label in rules]
    except (TypeError, ValueError):
        raise ValueError(
            "rules must be a sequence of triples (feature, value, label); got "
            f"{reprlib.repr(rules)}."
        ) from None
    return [
        (
            _as_feature(feature, f"rules[{i}][0]", n_features),
            _as_bit(value, f"rules[{i}][1]"),
            _as_bit(label, f"rules[{i}][2]"),
        )
        for i, (feature, value, label) in enumerate(triples)
    ]


def _as_bit(value, name):
    if not isinstance(value, (Integral, np.bool_)) or value not in (0, 1):
        raise ValueError(f"{name} must be 0 or 1; got {value!r}.")
    return int(value)
