"""Weights of rows as integers: exactly in digits of 15 bits, or rounded to 15 bits."""

import numpy as np

DIGIT_BITS = 15
LARGEST = 2**DIGIT_BITS - 1
MANTISSA_BITS = 53


def quantize_weights(weights):
    """Round weights to 15 bits, relative to the largest.

    Parameters
    ----------
    weights : ndarray of shape (n,), float64
        Finite, at least 0. Where rows take few distinct weights, round those and look
        the rows' up.

    Returns
    -------
    quantized : ndarray of shape (n,), dtype int16
        The largest is 32767. A weight is off by at most the largest / 65534, so that
        the weight of any set of rows is off by at most n times that, and a weight
        below it becomes 0.

    Raises
    ------
    ValueError
        When no weight is above 0.

    Examples
    --------
    >>> import numpy as np
    >>> quantize_weights(np.array([0.5, 0.25, 1e-9]))
    array([32767, 16384,     0], dtype=int16)
    """
    largest = weights.max(initial=0.0)
    if not largest > 0:
        raise ValueError("All weights are zero; one at least must be above 0.")
    return np.rint(weights / largest * LARGEST).astype(np.int16)


def binary_digits(weights):
    """Write weights exactly, in base 2**15.

    Every float64 is an integer times a power of two. All weights are integers times the
    smallest such power, the unit, however far they are apart.

    Parameters
    ----------
    weights : ndarray of shape (n,), float64
        Finite, at least 0, not all 0.

    Returns
    -------
    parts : list of (int, ndarray of shape (n,), dtype int16)
        Row i weighs the sum of ``digits[i] * 2**shift`` units over the pairs
        ``(shift, digits)``. Digits that are 0 in all rows are left out.

    Examples
    --------
    >>> import numpy as np
    >>> binary_digits(np.array([0.5, 3.0, 0.0]))
    [(0, array([1, 6, 0], dtype=int16))]
    """
    fraction, exponent = np.frexp(weights)
    mantissa = np.ldexp(fraction, MANTISSA_BITS).astype(np.uint64)
    exponent = exponent.astype(np.int64) - MANTISSA_BITS
    some = mantissa > 0
    lowest_bit = mantissa[some] & (~mantissa[some] + np.uint64(1))
    trailing_zeros = np.frexp(lowest_bit.astype(np.float64))[1] - 1
    unit = int((exponent[some] + trailing_zeros).min())
    n_bits = int(exponent[some].max()) + MANTISSA_BITS - unit
    parts = []
    for shift in range(0, n_bits, DIGIT_BITS):
        # Bits that are shifted out, on either side, belong to other digits.
        down = shift + unit - exponent
        right = np.clip(down, 0, 63).astype(np.uint64)
        left = np.clip(-down, 0, DIGIT_BITS).astype(np.uint64)
        digits = ((mantissa >> right) << left) & np.uint64(LARGEST)
        if digits.any():
            parts.append((shift, digits.astype(np.int16)))
    return parts
