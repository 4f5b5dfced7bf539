"""Sample weights and class weights."""

# A weight counts a sample as so many. Samples of weight 0 are as good as absent, so at
# least one weight must be positive, and sums must stay finite in float64.

from numbers import Real

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_array


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
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, sample_weight)
    name = "sample_weight"
    try:
        weights = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name=name
        )
    except OverflowError as error:
        raise ValueError(f"{name} holds a number beyond float64: {error}.") from error
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


def check_finite_sum(weights, *, divides=False):
    """Check that sample weights have a finite sum, and return them.

    ``divides`` also requires a sum by which ordinary numbers can be divided.
    """
    with np.errstate(over="ignore"):
        total = weights.sum()
        large = 8 * total  # room for sums of such sums, and rounding to powers of two
    if not np.isfinite(large) or (divides and total < 1e-300):
        demand = "a sum of at least 1e-300" if total < 1 else "a finite sum"
        raise ValueError(
            f"sample_weight must have {demand}; divide it by its largest entry."
        )
    return weights


def checked_weights(sample_weight, n_samples, *, divides=False):
    """Check sample weights and their sum, as the two functions above."""
    weights = check_sample_weight(sample_weight, n_samples)
    return check_finite_sum(weights, divides=divides)


def relative_weights(weights):
    """Divide weights by their mean, without zeros, where it is below 1.

    Weights of 1 and more are numbers of copies. Smaller ones, such as those that add up
    to 1, only say how samples compare: multiplied by their number they mean the same.
    """
    largest = weights.max()
    shares = weights / largest  # a mean may underflow
    mean = shares.sum() / np.count_nonzero(weights)
    return weights if mean * largest >= 1 else shares / mean


def check_class_totals(classes, codes, weights):
    """Check that each class has samples with a weight."""
    totals = np.bincount(codes, weights, minlength=len(classes))
    if not totals.all():
        missing = classes[totals == 0].tolist()
        raise ValueError(
            f"sample_weight is 0 for all samples of {missing}. Leave these classes "
            "out of y, or give them weight."
        )


def class_weights(class_weight, classes, codes, sample_weight):
    """Compute the weight of each class.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        "balanced": in inverse proportion to the weight of the samples of a class, with
        a mean of 1 over the samples.
    classes : ndarray of shape (n_classes,)
    codes : ndarray of shape (n_samples,), int
        The class number of each sample.
    sample_weight : ndarray of shape (n_samples,), float64

    Returns
    -------
    weights : ndarray of shape (n_classes,), float64

    Raises
    ------
    ValueError
        For weights that are negative or not finite, for a dict that leaves out a class,
        and for "balanced" when the samples of a class have no weight.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes, sample_weight, minlength=len(classes))
        if not totals.all():
            missing = classes[totals == 0].tolist()
            raise ValueError(
                "class_weight='balanced' needs samples of positive weight in each "
                f"class; {missing} have none. Leave these classes out of y, or weight "
                "their samples."
            )
        return totals.sum() / (len(totals) * totals)
    weights = compute_class_weight(class_weight, classes=classes, y=classes[codes])
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(
            "class_weight must hold finite weights of at least 0; got "
            f"{class_weight!r}."
        )
    return weights.astype(np.float64)
