"""Weights of rows, checked."""

from numbers import Real

import numpy as np
from sklearn.utils import check_array

__all__ = ["check_finite_sum", "check_sample_weight"]


def check_sample_weight(sample_weight, n_rows):
    """Check the weights of rows.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), float or None
        A number is the weight of every row. None: 1.
    n_rows : int
        Rows of the table.

    Returns
    -------
    weights : ndarray of shape (n_rows,), dtype float64
        Finite, at least 0, not all 0. Not a copy when it was float64 already.

    Raises
    ------
    ValueError
        For another shape, for NaN, infinite and negative weights, and when all are 0.
    """
    if sample_weight is None or isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, 1 if sample_weight is None else sample_weight)
    name = "sample_weight"
    try:
        weights = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name=name
        )
    except OverflowError as error:
        raise ValueError(f"{name} holds a number beyond float64: {error}.") from error
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have shape ({n_rows},), one weight for each row; its "
            f"shape is {weights.shape}."
        )
    negative = np.flatnonzero(weights < 0)
    if len(negative):
        row = negative[0]
        raise ValueError(
            f"sample_weight[{row}] is {weights[row]:g}; weights must be at least 0."
        )
    if not weights.any():
        raise ValueError("All of sample_weight is zero; one row at least must weigh.")
    return weights


def check_finite_sum(weights, *, divides=False):
    """Return weights of rows if they can be added up, or raise a ValueError.

    ``divides`` demands a sum by which numbers of usual size can be divided too.
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
