"""Stumps by definition: write every rule out, weigh the rows on which it is right."""

from fractions import Fraction
from itertools import product

__all__ = ["all_stumps", "best_of_all_stumps", "right_weight"]


def all_stumps(n_features, n_classes):
    """Every constant, then every feature with every pair of classes.

    A stump is (feature, class where false, class where true); a constant has -1.
    """
    for code in range(n_classes):
        yield -1, code, code
    for feature in range(n_features):
        for if_false, if_true in product(range(n_classes), repeat=2):
            yield feature, if_false, if_true


def right_weight(stump, X, codes, weights):
    """The weight of the rows on which a stump is right, a Fraction."""
    feature, if_false, if_true = stump
    return sum(
        (
            Fraction(weight)
            for x, code, weight in zip(X, codes, weights, strict=True)
            if code == (if_true if feature >= 0 and x[feature] else if_false)
        ),
        start=Fraction(0),
    )


def best_of_all_stumps(X, codes, weights, n_classes):
    """The first stump of the most right weight, and its edge, a Fraction."""
    total = sum(map(Fraction, weights))
    # max keeps the first of equals.
    stump = max(
        all_stumps(len(X[0]), n_classes),
        key=lambda stump: right_weight(stump, X, codes, weights),
    )
    return stump, right_weight(stump, X, codes, weights) / total - Fraction(1, 2)
