"""Checks of dictionaries that are read: type, version, names and numbers."""

import math
from numbers import Integral, Real

import numpy as np

from sklboolean._core.exports import VERSION
from sklboolean._core.formulas import shown


def check_exported(data, kind, fields):
    """Return the fields of a dictionary made by `versioned`.

    Raises
    ------
    ValueError
        When ``data`` is no dictionary of this kind with these fields, or is newer.
    """
    if not isinstance(data, dict) or data.get("type") != kind:
        found = data.get("type") if isinstance(data, dict) else type(data).__name__
        raise ValueError(
            f"data: expected what {kind}.to_dict returns, a dict with the type {kind!r}"
            f"; got {shown(found)}."
        )
    version = data.get("version")
    if not is_integer(version) or version < 1:
        raise ValueError(f"data: the version must be an integer; got {shown(version)}.")
    if version > VERSION:
        raise ValueError(
            f"data: version {version} was written by a newer release of sklboolean; "
            f"this one reads up to version {VERSION}. Upgrade sklboolean."
        )
    missing = [name for name in fields if name not in data]
    if missing:
        raise ValueError(f"data: a {kind} needs {', '.join(missing)}.")
    return {name: data[name] for name in fields}


def check_name_list(feature_names, n_features=None):
    """Check feature names that were read: None, or one string for each feature."""
    if feature_names is None:
        return
    if (
        not isinstance(feature_names, list)
        or n_features not in (None, len(feature_names))
        or not all(isinstance(name, str) for name in feature_names)
    ):
        raise ValueError(
            "data: feature_names must be null or a list of strings, one for each of "
            f"the features; got {shown(feature_names)}."
        )


def check_columns(n_features, feature_names, binarize):
    """Check the number of features, their names and the threshold that were read."""
    if not is_integer(n_features) or not 1 <= n_features < 2**31:
        raise ValueError(
            "data: n_features must be an integer from 1 to 2**31 - 1; got "
            f"{shown(n_features)}."
        )
    check_name_list(feature_names, n_features)
    if binarize is not None and not (is_finite(binarize) and binarize >= 0):
        raise ValueError(
            "data: binarize must be null or a finite number of at least 0; got "
            f"{shown(binarize)}."
        )


def read_numbers(values, name, shape):
    """Make an array of finite numbers of a given shape, from nested lists."""

    def has_shape(part, lengths):
        if not lengths:
            return is_finite(part)
        return (
            isinstance(part, list)
            and len(part) == lengths[0]
            and all(has_shape(each, lengths[1:]) for each in part)
        )

    if not has_shape(values, shape):
        raise ValueError(
            f"data: {name} must hold finite numbers, in lists of shape {shape}."
        )
    return np.array(values, dtype=np.float64).reshape(shape)


def is_integer(value):
    """Whether a value is an integer and not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_finite(value):
    """Whether a value is a number that float64 holds, and not a bool."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:  # an integer beyond float64
        return False
