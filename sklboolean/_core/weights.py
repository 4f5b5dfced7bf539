"""Sample weights and class weights."""

# A weight is a number of copies of its sample. Samples of weight 0 are as good as
# absent, so at least one weight must be positive. Copies must be countable: the sum of
# the weights is below 2**53. Weights whose mean, without zeros, is below 1 only say how
# samples compare: they are divided by it. All this holds for the product of the weight
# of a sample and that of its class, which `labelled_weights` computes.

from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_array

from sklboolean._core.validation import warn_user

MOST_COPIES = 2.0**53
_ARE_PARTS = ContextVar("_ARE_PARTS", default=False)
LEAST_MEAN = 1 - 1e-9  # a mean that is 1 but for rounding changes nothing


def check_sample_weight(sample_weight, n_samples):
    """Check sample weights.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), float or None
        A number is the weight of every sample. None: 1.
    n_samples : int
        Number of samples.

    Returns
    -------
    weights : ndarray of shape (n_samples,), dtype float64
        Finite, at least 0, not all 0. Not a copy when it was float64 already.

    Raises
    ------
    ValueError
        For another shape, for NaN, infinite and negative weights, and when all are 0.
    """
    if sample_weight is None:
        return np.ones(n_samples)
    if np.isscalar(sample_weight) or getattr(sample_weight, "shape", None) == ():
        sample_weight = [sample_weight] * n_samples
    name = "sample_weight"
    try:
        weights = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name=name
        )
    except OverflowError as error:
        raise ValueError(f"{name} holds a number beyond float64: {error}.") from error
    except (TypeError, ValueError) as error:
        if name in str(error):
            raise
        raise ValueError(f"{name} must hold numbers: {error}.") from error
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have shape ({n_samples},), one weight for each "
            f"sample; its shape is {weights.shape}."
        )
    negative = np.flatnonzero(weights < 0)
    if len(negative):
        row = negative[0]
        raise ValueError(
            f"sample_weight[{row}] is {weights[row]:g}; weights must be at least 0."
        )
    if not weights.any():
        raise ValueError("sample_weight must have a positive entry; all are zero.")
    return weights


def checked_weights(sample_weight, n_samples, factors=1.0, *, scaled=True):
    """Check sample weights, multiply them by factors, and scale them.

    Parameters
    ----------
    sample_weight, n_samples
        As for `check_sample_weight`.
    factors : float or ndarray of shape (n_samples,), default=1.0
        Finite numbers of at least 0, such as the weights of classes.
    scaled : bool, default=True
        Divide the products by their mean where it is below 1. False: for a part of a
        stream, whose mean is not that of the stream, and where the scale has no effect.

    Returns
    -------
    weights : ndarray of shape (n_samples,), dtype float64

    Raises
    ------
    ValueError
        As `check_sample_weight`, and for products that are all 0 or that float64 cannot
        count.
    """
    weights = check_sample_weight(sample_weight, n_samples)
    if np.ndim(factors):
        with np.errstate(over="ignore"):
            weights = weights * factors
        if scaled and not weights.any():
            raise ValueError("sample_weight times class_weight is 0 for all samples.")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if total >= MOST_COPIES:
        what = "sample_weight" + " times class_weight" * bool(np.ndim(factors))
        raise ValueError(
            f"{what} has a sum of {total:g}; it must be below 2**53, so that float64 "
            "can count copies. Divide sample_weight by its mean."
        )
    if not scaled and 0 < total < 1e-300:
        raise ValueError(
            f"sample_weight has a sum of {total:g}, and is used as it is; it must be "
            "at least 1e-300. Divide sample_weight by its mean."
        )
    is_scaled = scaled and not _ARE_PARTS.get()
    return relative_weights(weights) if is_scaled else weights


@contextmanager
def parts_of_copies():
    """Fit inside to weights as they are: parts of the samples, as EM divides them."""
    token = _ARE_PARTS.set(True)
    try:
        yield
    finally:
        _ARE_PARTS.reset(token)


def relative_weights(weights):
    """Divide weights by their mean, without zeros, where it is below 1.

    They keep 32 binary digits. So weights that were multiplied by any number, and
    rounded by that, give the same results bit for bit. Equal weights that are 1 but for
    rounding become 1.
    """
    largest, n_used = weights.max(), np.count_nonzero(weights)
    shares = weights / largest  # a mean may underflow
    mean_share = shares.sum() / n_used
    least_unscaled = 1 / LEAST_MEAN if mean_share == 1 else LEAST_MEAN
    if mean_share * largest >= least_unscaled:
        return weights
    digits, exponents = np.frexp(shares)
    shares = np.ldexp(np.rint(np.ldexp(digits, 32)), exponents - 32)
    return shares / (shares.sum() / n_used)


def labelled_weights(
    sample_weight, codes, classes, class_weight=None, *, in_stream=False
):
    """Multiply the weights of samples by those of their classes, and scale them.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), float or None
    codes : ndarray of shape (n_samples,), int
        The class number of each sample.
    classes : ndarray of shape (n_classes,)
    class_weight : dict, "balanced" or None, default=None
    in_stream : bool, default=False
        The samples are a part of a stream: a class may be missing, "balanced" is
        unknown, and so is the mean weight, by which nothing is divided.

    Returns
    -------
    weights : ndarray of shape (n_samples,), dtype float64

    Raises
    ------
    ValueError
        As `checked_weights` and `class_weights`.

    Warns
    -----
    UserWarning
        When all samples of a class have weight 0.
    """
    if in_stream and isinstance(class_weight, str):
        raise ValueError(
            f"class_weight={class_weight!r} needs all labels at once: use fit, or a "
            "dict of weights."
        )
    factors, n_samples = 1.0, len(codes)
    if class_weight is not None:
        copies = check_sample_weight(sample_weight, n_samples)
        totals = np.bincount(codes, copies, minlength=len(classes))
        factors = class_weights(class_weight, classes, totals)[codes]
    weights = checked_weights(sample_weight, n_samples, factors, scaled=not in_stream)
    if not in_stream and not weights.all():
        warn_of_absent(classes, np.bincount(codes, weights, minlength=len(classes)))
    return weights


def warn_of_absent(classes, totals):
    """Warn of classes whose samples have a total weight of 0."""
    if not totals.all():
        warn_user(
            f"All samples of {classes[totals == 0].tolist()} have weight 0. These "
            "classes stay in classes_, but nothing is learned of them."
        )


def class_weights(class_weight, classes, totals):
    """Compute the weight of each class.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        "balanced": in inverse proportion to the weight of the samples of a class, with
        a mean of 1 over the samples.
    classes : ndarray of shape (n_classes,)
    totals : ndarray of shape (n_classes,), float64
        The weight of the samples of each class.

    Returns
    -------
    weights : ndarray of shape (n_classes,), float64

    Raises
    ------
    ValueError
        For weights that are negative, not finite or all 0.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        occurs = totals > 0
        balanced = totals.sum() / (occurs.sum() * np.where(occurs, totals, 1.0))
        return np.where(occurs, balanced, 1.0)
    weights = compute_class_weight(class_weight, classes=classes, y=classes)
    is_valid = np.isfinite(weights).all() and (weights >= 0).all() and weights.any()
    if not is_valid:
        raise ValueError(
            "class_weight must hold finite weights of at least 0, not all of them 0; "
            f"got {class_weight!r}."
        )
    return weights.astype(np.float64)
