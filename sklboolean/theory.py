"""Mistake bounds: what the theorems promise before anything is learned."""

from fractions import Fraction
from math import floor, hypot, isfinite
from numbers import Rational, Real

import numpy as np

__all__ = [
    "hinge_deviation",
    "perceptron_mistake_bound",
    "perceptron_mistake_bound_nonseparable",
]

# A float such as sqrt(3) is a few rounding errors off, so that a bound may come out
# just below the integer that it should be. Raised by this factor it never does.
_FLOAT_SLACK = 1 + Fraction(1, 10**12)


def perceptron_mistake_bound(radius, margin, norm=1):
    """Bound the mistakes of the perceptron on separable examples.

    If ``||x_i|| <= radius`` for all examples ``x_i`` with signs ``y_i``, and some ``u``
    of length ``norm`` has ``y_i u.x_i >= margin`` for all of them, the perceptron,
    started from zero, makes at most ``(radius * norm / margin) ** 2`` mistakes, in
    whatever order and however often the examples come.

    Parameters
    ----------
    radius : real number
        Largest length of an example, at least 0.
    margin : real number
        Smallest ``y_i u.x_i``, above 0.
    norm : real number, default=1
        Length of ``u``, above 0.

    Returns
    -------
    bound : int
        The largest number of mistakes possible. Exact when all arguments are ints or
        Fractions; otherwise raised by one part in 10**12 before it is rounded down.

    Raises
    ------
    ValueError
        If an argument is not a finite number or is out of range.

    References
    ----------
    .. [1] R. Khardon, D. Roth, R. Servedio (2001). Efficiency versus Convergence of
       Boolean Kernels for On-Line Learning Algorithms. NIPS 14, Theorem 1 (due to
       A. B. J. Novikoff, 1963).

    Examples
    --------
    The unit vectors of three dimensions, all positive; ``u`` is (1, 1, 1):

    >>> from sklboolean.theory import perceptron_mistake_bound
    >>> perceptron_mistake_bound(radius=1, margin=1, norm=3**0.5)
    3
    """
    return perceptron_mistake_bound_nonseparable(radius, margin, 0, norm)


def perceptron_mistake_bound_nonseparable(radius, margin, deviation, norm=1):
    """Bound the mistakes of the perceptron in one pass over any examples.

    If ``||x_i|| <= radius`` for all examples ``x_i`` with signs ``y_i``, then for every
    ``u`` of length ``norm`` and every ``margin`` one pass of the perceptron, started
    from zero, makes at most ``((radius * norm + deviation) / margin) ** 2`` mistakes.
    T passes are one long sequence: they multiply the deviation by ``sqrt(T)``.

    Parameters
    ----------
    radius : real number
        Largest length of an example, at least 0.
    margin : real number
        The margin that ``u`` is asked for, above 0.
    deviation : real number
        ``sqrt(sum_i max(0, margin - y_i u.x_i) ** 2)``: see :func:`hinge_deviation`.
    norm : real number, default=1
        Length of ``u``, above 0. The theorem is stated for 1; dividing ``u``,
        ``margin`` and ``deviation`` by the norm gives the form used here.

    Returns
    -------
    bound : int
        The largest number of mistakes possible, rounded as in
        :func:`perceptron_mistake_bound`.

    Raises
    ------
    ValueError
        If an argument is not a finite number or is out of range.

    References
    ----------
    .. [1] Y. Freund, R. E. Schapire (1999). Large Margin Classification Using the
       Perceptron Algorithm. Machine Learning 37(3), 277-296, Theorem 2.

    Examples
    --------
    >>> from sklboolean.theory import perceptron_mistake_bound_nonseparable
    >>> perceptron_mistake_bound_nonseparable(radius=2, margin=1, deviation=3)
    25
    """
    exact = all(isinstance(z, Rational) for z in (radius, margin, deviation, norm))
    reach = _fraction(radius, "radius") * _fraction(norm, "norm", positive=True)
    shortfall = _fraction(deviation, "deviation")
    ratio = (reach + shortfall) / _fraction(margin, "margin", positive=True)
    return floor(ratio**2 if exact else ratio**2 * _FLOAT_SLACK)


def hinge_deviation(scores, signs, margin):
    """Measure how far scores fall short of a margin.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        The scores ``u.x_i``, finite.
    signs : array-like of shape (n_samples,)
        The labels ``y_i``, -1 or +1.
    margin : real number
        The margin asked for, above 0.

    Returns
    -------
    deviation : float
        ``sqrt(sum_i max(0, margin - y_i u.x_i) ** 2)``, 0.0 if all reach the margin.

    Raises
    ------
    ValueError
        If the shapes differ or a value is not finite or out of range.

    Examples
    --------
    >>> from sklboolean.theory import hinge_deviation
    >>> hinge_deviation([4, -3, 2], signs=[1, 1, -1], margin=1)
    5.0
    """
    margin = float(_fraction(margin, "margin", positive=True))
    scores, signs = np.asarray(scores, dtype=np.float64), np.asarray(signs)
    if scores.ndim != 1 or scores.shape != signs.shape:
        raise ValueError(
            "scores and signs must have the same shape (n_samples,); got "
            f"{scores.shape} and {signs.shape}."
        )
    if not (np.abs(scores) < 1e300).all():  # so that the sum stays finite, and no NaN
        raise ValueError("scores must be finite and below 1e300.")
    if not np.isin(signs, (-1, 1)).all():
        raise ValueError("signs must hold only -1 and +1.")
    return hypot(*np.maximum(0.0, margin - signs * scores))


def _fraction(number, name, *, positive=False):
    """Return a finite number as a Fraction, or say what is wrong with ``name``."""
    if isinstance(number, Rational):
        exact = Fraction(int(number.numerator), int(number.denominator))
    elif isinstance(number, Real) and isfinite(number):
        exact = Fraction(float(number))
    else:
        raise ValueError(f"{name} must be a finite number; got {number!r}.")
    if exact < 0 or (positive and exact == 0):
        limit = "above 0" if positive else "at least 0"
        raise ValueError(f"{name} must be {limit}; got {number}.")
    return exact
