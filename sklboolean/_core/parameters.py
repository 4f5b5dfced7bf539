"""Checks of parameters, and of parameters that a resumed training must keep."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_scalar


def check_integer(value, name, minimum=None, maximum=None):
    """Check an integer parameter and return it as an int."""
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be an integer, not the bool {value}.")
    return int(check_scalar(value, name, Integral, min_val=minimum, max_val=maximum))


def check_real(value, name, minimum=None, maximum=None, *, strict=False, below=None):
    """Check a finite real parameter and return it.

    ``strict`` excludes ``minimum`` itself; ``below`` is a maximum that is excluded.
    """
    check_scalar(value, name, Real)
    try:
        finite = np.isfinite(float(value))
    except OverflowError:
        finite = False
    if not finite:
        raise ValueError(f"{name} must be finite in float64; got {value}.")
    if minimum is not None and (value < minimum or (strict and value == minimum)):
        relation = "greater than" if strict else "at least"
        raise ValueError(f"{name} must be {relation} {minimum}; got {value}.")
    if maximum is not None and value > maximum:
        raise ValueError(f"{name} must be at most {maximum}; got {value}.")
    if below is not None and value >= below:
        raise ValueError(f"{name} must be below {below}; got {value}.")
    return value


def check_n_jobs(n_jobs):
    """Check a number of jobs: None or an integer other than 0."""
    if n_jobs is None:
        return
    is_integer = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if not is_integer or n_jobs == 0:
        raise ValueError(
            "n_jobs must be None or an integer other than 0, where -1 means all "
            f"processors; got {n_jobs!r}."
        )


def is_same(one, other):
    """Test whether two parameters are equal; incomparable ones are not."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return type(one) is type(other) and np.array_equal(one, other)
    try:
        return one is other or bool(one == other)
    except (TypeError, ValueError):  # lists of arrays, and pandas' NA
        return False


def check_choice(value, name, choices):
    """Check that a parameter is one of the allowed values and return it."""
    try:
        is_known = not isinstance(value, np.ndarray) and value in choices
    except (TypeError, ValueError):  # pandas' NA
        is_known = False
    if not is_known:
        raise ValueError(f"{name} must be one of {list(choices)}; got {value!r}.")
    return value


def is_auto(value, name):
    """Test whether a parameter is "auto"; other strings are errors."""
    if isinstance(value, str) and value != "auto":
        raise ValueError(f'{name} must be "auto" or a number; got {value!r}.')
    return isinstance(value, str)


def check_binarize(binarize):
    """Check the threshold that makes features Boolean."""
    if binarize is not None:
        check_real(binarize, "binarize", 0.0)


def check_same_params(estimator, names, **known):
    """Refuse to resume training with other parameters than those of the fit.

    Parameters
    ----------
    estimator : object
        Fitted. Parameters that it did not store count as unchanged.
    names : iterable of str
        Parameters on which the fitted state depends.
    **known
        Values read from the state itself. They replace the stored ones.

    Raises
    ------
    ValueError
        With the parameter, its old and new value, and the fix.
    """
    known = vars(estimator).get("_fitted_params", {}) | known
    refuse_changed_params(known, flat_params(estimator, names))


def refuse_changed_params(known, wanted):
    """Compare parameters by name; unknown ones count as unchanged."""
    for name, value in wanted.items():
        if name in known and not is_same(known[name], value):
            raise ValueError(
                f"Training cannot be resumed with {name}={value!r}: the model was "
                f"fitted with {name}={known[name]!r}. Set it back, or begin anew with "
                "a clone of the model."
            )


def flat_params(estimator, names):
    """Collect parameters; of a nested object its class and all its parameters.

    The object itself is not stored, because it may be changed later.
    """
    params = {}
    for name in names:
        params[name] = value = getattr(estimator, name)
        if hasattr(value, "get_params") and not isinstance(value, type):
            for nested_name, nested in value.get_params().items():
                params[f"{name}__{nested_name}"] = nested
    for name, value in params.items():
        if hasattr(value, "get_params") and not isinstance(value, type):
            params[name] = f"{type(value).__module__}.{type(value).__qualname__}"
    return params


def check_least(least, name):
    """Check a number of samples, a fraction of them, "auto" or None."""
    if isinstance(least, Integral):
        check_integer(least, name, 1)
    elif least is not None and not is_auto(least, name):
        check_real(least, name, 0.0, strict=True)
        if least >= 1:
            raise ValueError(
                f"{name}={least} is neither a fraction (a float between 0 and 1) nor a "
                "number of samples (an integer)."
            )
