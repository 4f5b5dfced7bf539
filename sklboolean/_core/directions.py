"""Directions in which a score may move with a column: from columns to features."""

import numpy as np

from sklboolean._core.feature_names import OPPOSITE, parse_name
from sklboolean._core.formulas import conjunction_text

# What a feature that is true says of the size of its column.
SIGNS = {">": 1, "<=": -1}


def directions_of(estimator):
    """Return the direction of each feature from the parameter of an estimator."""
    names, classes = (
        getattr(estimator, name, None) for name in ("feature_names_in_", "classes_")
    )
    return directions_of_features(
        estimator.monotonic_cst, estimator.n_features_in_, names, classes
    )


def directions_of_features(monotonic_cst, n_features, names=None, classes=None):
    """Turn directions by column into a sign for each feature.

    Parameters
    ----------
    monotonic_cst : dict, array-like of shape (n_features,), or None
        1 where the score must not fall, -1 where it must not rise, else 0: as the value
        of a column grows, or a feature becomes true. A dict maps names of columns. It
        finds the features ``age <= 44.5`` and ``age > 44.5`` of the column ``age``, and
        a feature that has the name of its column.
    n_features : int
    names : sequence of str or None
        Feature names.
    classes : ndarray or None
        The class labels, of which there must be two. None: there are none.

    Returns
    -------
    directions : ndarray of shape (n_features,), int8
        The sign of each feature: 1 where the score must not fall when it becomes true.
    """
    directions = np.zeros(n_features, dtype=np.int8)
    if monotonic_cst is None:
        return directions
    if classes is not None and len(classes) > 2:
        raise ValueError(
            f"monotonic_cst needs two classes, and y has {len(classes)}. "
            "Leave it out, or fit a model for one class against the rest."
        )
    if not isinstance(monotonic_cst, dict):
        given = np.asarray(monotonic_cst, dtype=object).ravel().tolist()
        if len(given) != n_features:
            raise ValueError(
                f"monotonic_cst has {len(given)} entries, and X has {n_features} "
                "features: give one for each, or a dict from names of columns."
            )
        directions[:] = [_checked(d, f"feature {j}") for j, d in enumerate(given)]
        return directions
    if names is None:
        raise ValueError(
            "monotonic_cst names columns, and X has no column names. Fit to a data "
            "frame, let BooleanEncoder return one by set_output(transform='pandas'), "
            f"or give a list of {n_features} directions."
        )
    for column, direction in monotonic_cst.items():
        signs = np.array([_sign(str(name), str(column)) for name in names])
        if _checked(direction, repr(column)) and not signs.any():
            raise ValueError(_complaint(str(column), names))
        directions[signs != 0] = direction * signs[signs != 0]
    return directions


def signs_of_weights(conjunctions, directions):
    """Compute the signs that weights may have, int8; 0: either, 2: none.

    A conjunction has a weight of the sign of all its literals that have a direction.
    """
    signs = np.zeros(len(conjunctions), dtype=np.int8)
    if np.any(directions):
        for k, literals in enumerate(conjunctions):
            wanted = {(2 * value - 1) * int(directions[j]) for j, value in literals}
            wanted.discard(0)
            signs[k] = wanted.pop() if len(wanted) == 1 else 2 * len(wanted)
    return signs


def check_signs(conjunctions, signs, directions, names):
    """Raise a ValueError for a conjunction whose weight has a forbidden sign."""
    allowed = signs_of_weights(conjunctions, directions)
    is_wrong = (allowed == 2) | (allowed * np.asarray(signs) < 0)
    for k in np.flatnonzero(is_wrong)[:1]:
        text = conjunction_text(conjunctions[k], names)
        raise ValueError(
            f"{text!r} contradicts monotonic_cst: what it adds would go against a "
            "direction. Leave it out, or fit a model without that direction."
        )


def sentences(monotonic_cst, names=None):
    """Say how the score moves, a sentence for each direction other than 0."""
    if monotonic_cst is None:
        return ()
    if isinstance(monotonic_cst, dict):
        given = monotonic_cst.values()
        places = [f"as {name} grows" for name in monotonic_cst]
    else:
        given = np.ravel(monotonic_cst).tolist()
        names = [f"x{j}" for j in range(len(given))] if names is None else names
        places = [f"where {name} becomes true" for name in names]
    return tuple(
        f"The score never {'falls' if direction > 0 else 'rises'} {place}."
        for direction, place in zip(given, places, strict=True)
        if direction
    )


def _checked(direction, place):
    if isinstance(direction, bool) or direction not in (-1, 0, 1):
        raise ValueError(
            "monotonic_cst must hold -1, 0 and 1: the score must not rise, may move "
            f"freely, or must not fall. The direction of {place} is {direction!r}."
        )
    return direction


def _sign(feature, column):
    """Read the sign of a condition on a column; 0: on another one, or without order."""
    if feature == column:
        return 1
    condition = parse_name(feature)
    if condition.relation in OPPOSITE:
        return SIGNS[condition.relation] * (condition.column == column)
    # Levels that have an order are no numbers.
    for relation, sign in SIGNS.items():
        if feature.startswith(f"{column} {relation} "):
            return sign
    return 0


def _complaint(column, names):
    """Say why a column has no direction."""
    if any(parse_name(name).column == column for name in names):
        return (
            f"monotonic_cst names {column!r}, whose features are levels without an "
            "order. Leave it out, or make it a number or an ordered category."
        )
    return (
        f"monotonic_cst names {column!r}, which is no column of X, or one that the "
        "encoder left out. Use the names of the columns before the encoder."
    )
