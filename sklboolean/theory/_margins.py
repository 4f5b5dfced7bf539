"""Margins: how well a vector separates examples, and what follows from that."""

from decimal import Decimal
from fractions import Fraction
from math import hypot
from numbers import Real

import numpy as np
from scipy.sparse import issparse

from sklboolean.theory._numbers import as_fraction, floor_of_bound, natural_log


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

    References
    ----------
    .. [1] Y. Freund, R. E. Schapire (1999). Large Margin Classification Using the
       Perceptron Algorithm. Machine Learning 37(3), 277-296, Theorem 2.

    Examples
    --------
    >>> from sklboolean.theory import hinge_deviation
    >>> hinge_deviation([4, -3, 2], signs=[1, 1, -1], margin=1)
    5.0
    """
    margin = float(as_fraction(margin, "margin", above=0, at_most=1e300))
    scores, signs = _as_floats(scores, "scores"), _as_signs(signs)
    if scores.ndim != 1 or scores.shape != signs.shape:
        raise ValueError(
            "scores and signs must have the same shape (n_samples,); got "
            f"{scores.shape} and {signs.shape}."
        )
    if not (np.abs(scores) < 1e300).all():  # so that the sum stays finite, and no NaN
        raise ValueError("scores must be finite and below 1e300.")
    return hypot(*np.maximum(0.0, margin - signs * scores))


def additive_mistake_bound(u, X, signs):
    """Bound the mistakes of the perceptron by a vector that separates the examples.

    The bound is M_p = ``||u||_2**2 * max_i ||x_i||_2**2 / min_i (u.x_i)**2``. It is
    small for examples with few active features.

    Parameters
    ----------
    u : array-like of shape (n_features,)
        A vector with ``signs[i] * (X[i] @ u) > 0`` for every row, of any length.
    X : array-like of shape (n_samples, n_features)
        The examples, dense. A threshold is one more feature: a column of -1, whose
        weight in `u` is the threshold.
    signs : array-like of shape (n_samples,)
        The labels, -1 or +1.

    Returns
    -------
    bound : int
        The largest number of mistakes possible, in whatever order and however often
        the rows come. Raised by one part in 10**12 before it is rounded down.

    Raises
    ------
    ValueError
        If shapes differ, a value is not finite, or `u` does not separate the examples.

    See Also
    --------
    multiplicative_mistake_bound : The bound to compare it with.
    perceptron_mistake_bound : The same bound, given radius and margin.

    References
    ----------
    .. [1] R. Khardon, D. Roth, R. Servedio (2001). Efficiency versus Convergence of
       Boolean Kernels for On-Line Learning Algorithms. NIPS 14, Theorem 1 (due to
       A. B. J. Novikoff, 1963).
    .. [2] J. Kivinen, M. K. Warmuth, P. Auer (1997). The Perceptron Algorithm versus
       Winnow: Linear versus Logarithmic Mistake Bounds when Few Input Variables are
       Relevant. Artificial Intelligence 97, 325-343.

    Examples
    --------
    Every feature counts and each example has one of them: the perceptron's case.

    >>> import numpy as np
    >>> from sklboolean.theory import additive_mistake_bound
    >>> from sklboolean.theory import multiplicative_mistake_bound
    >>> u, X, signs = np.ones(50), np.eye(50), np.ones(50)
    >>> additive_mistake_bound(u, X, signs)
    50
    >>> multiplicative_mistake_bound(u, X, signs)
    19560
    """
    u, X, margin = _separate(u, X, signs)
    norm = sum(Fraction(weight) ** 2 for weight in u.tolist())
    largest = _largest(X)
    scaled = np.ascontiguousarray(X / float(largest))  # so that no square overflows
    radius = (
        Fraction((scaled * scaled).sum(axis=1).max().item()) * Fraction(largest) ** 2
    )
    return floor_of_bound(norm * radius / margin**2, exact=False)


def multiplicative_mistake_bound(u, X, signs, *, balanced=False):
    """Bound the mistakes of multiplicative updates by a separating vector.

    The bound is M_w = ``2 ln(n) ||u||_1**2 max_i ||x_i||_inf**2 / min_i (u.x_i)**2``,
    where n is the number of weights. It is small when few features are relevant.

    Parameters
    ----------
    u : array-like of shape (n_features,)
        A vector with ``signs[i] * (X[i] @ u) > 0`` for every row, of any length; no
        entry is negative unless `balanced`.
    X : array-like of shape (n_samples, n_features)
        The examples, dense. A threshold is one more feature: a column of -1, whose
        weight in `u` is the threshold.
    signs : array-like of shape (n_samples,)
        The labels, -1 or +1.
    balanced : bool, default=False
        Whether each feature has a second weight, which counts against it, as in
        balanced Winnow. Then ``n`` is twice the number of features, otherwise it is
        that number.

    Returns
    -------
    bound : int
        The largest number of mistakes possible, in whatever order and however often
        the rows come. Raised by one part in 10**12 before it is rounded down.

    Raises
    ------
    ValueError
        If shapes differ, a value is not finite, `u` does not separate the examples, or
        it has a negative entry without `balanced`.

    See Also
    --------
    additive_mistake_bound : The bound to compare it with, and an example.
    winnow_mistake_bound : For disjunctions, with any promotion and threshold.

    Notes
    -----
    The bound is for weights that start equal, the prediction ``w.x >= 0``, and the
    update ``w *= promotion ** (sign * x)`` after a mistake, with ::

        log(promotion) = min_i |u.x_i| / (||u||_1 max_i ||x_i||_inf**2)

    With another promotion more mistakes are possible: with ``r`` times its logarithm
    (``0 < r < 2``), the bound divided by ``r * (2 - r)``.

    References
    ----------
    .. [1] J. Kivinen, M. K. Warmuth, P. Auer (1997). The Perceptron Algorithm versus
       Winnow: Linear versus Logarithmic Mistake Bounds when Few Input Variables are
       Relevant. Artificial Intelligence 97, 325-343.
    .. [2] A. J. Grove, N. Littlestone, D. Schuurmans (2001). General Convergence
       Results for Linear Discriminant Updates. Machine Learning 43, 173-210.

    Examples
    --------
    One feature of a thousand decides: the multiplicative update's case.

    >>> import numpy as np
    >>> from sklboolean.theory import additive_mistake_bound
    >>> from sklboolean.theory import multiplicative_mistake_bound
    >>> u = np.eye(1000)[0]
    >>> X = np.random.default_rng(0).choice([-1, 1], (200, 1000))
    >>> multiplicative_mistake_bound(u, X, X[:, 0])
    13
    >>> additive_mistake_bound(u, X, X[:, 0])
    1000
    """
    u, X, margin = _separate(u, X, signs)
    if not balanced and (u < 0).any():
        raise ValueError(
            "u must have no negative entry for weights that stay positive; pass "
            "balanced=True for the bound with two weights for each feature."
        )
    n_weights = X.shape[1] * (2 if balanced else 1)
    norm = sum(abs(Fraction(weight)) for weight in u.tolist())
    ratio = norm * Fraction(_largest(X)) / margin
    return floor_of_bound(2 * natural_log(n_weights) * ratio**2, exact=False)


def _separate(u, X, signs):
    """Return u and X as arrays, and the smallest ``signs[i] * (X[i] @ u)``, exact."""
    u, X, signs = _as_numbers(u, "u", 1), _as_numbers(X, "X", 2), _as_signs(signs)
    if X.shape[1] != u.shape[0] or X.shape[:1] != signs.shape or not X.size:
        raise ValueError(
            "X must have shape (n_samples, n_features), neither of them 0, u shape "
            f"(n_features,) and signs (n_samples,); got {X.shape}, {u.shape} and "
            f"{signs.shape}."
        )
    margin, row = min(
        (signs[i].item() * _exact_dot(u, X[i]), i) for i in _doubtful_rows(u, X, signs)
    )
    if margin <= 0:
        raise ValueError(
            "u must separate the examples: signs[i] * (X[i] @ u) must be above 0 for "
            f"every row i; it is not for row {row}."
        )
    return u, X, margin


def _doubtful_rows(u, X, signs):
    """Return rows one of which has the smallest margin, in spite of rounding."""
    v, Y = (a / float(_largest(a) or 1) for a in (u, X))
    scores, sizes = signs * (Y @ v), np.abs(Y) @ np.abs(v)
    whole = all((a == np.rint(a)).all() for a in (u, X))
    if whole and _largest(u) * _largest(X) * sizes.max().item() < 2**52:
        # Every product and partial sum is an integer that a float holds.
        return [int((signs * (X @ u.astype(np.float64))).argmin())]
    # Two roundings of each entry, one of each product and of each sum; underflow.
    errors = (X.shape[1] + 6) * np.finfo(np.float64).eps * sizes + 1e-300
    return np.flatnonzero(scores - errors <= (scores + errors).min()).tolist()


def _exact_dot(u, x):
    pairs = zip(u.tolist(), x.tolist(), strict=True)
    return sum((Fraction(a) * Fraction(b) for a, b in pairs if a and b), Fraction(0))


def _largest(array):
    """Return the largest absolute value, an int or a float, not rounded."""
    return max(abs(array.max().item()), abs(array.min().item()))


def _as_numbers(values, name, n_dims):
    """Return finite real numbers as an array of ints or float64."""
    if issparse(values):
        raise ValueError(f"{name} must be dense; pass {name}.toarray().")
    try:
        array = np.asarray(values)
    except ValueError:  # ragged
        array = np.empty(0, dtype=object)
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise ValueError(f"{name} must hold finite numbers.")
    if array.ndim != n_dims:
        shape = "(n_features,)" if n_dims == 1 else "(n_samples, n_features)"
        raise ValueError(f"{name} must have shape {shape}; got {array.shape}.")
    return array


def _as_floats(values, name):
    """Return real numbers, finite or not, as float64."""
    try:
        if np.iscomplexobj(values):
            raise TypeError("they are complex")
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must hold real numbers: {error}.") from error


def _as_signs(values):
    """Return numbers of any type that are -1 or +1 as integers."""
    try:
        array = np.asarray(values)
    except ValueError:  # ragged
        array = np.empty(0, dtype="V1")
    if array.dtype.kind == "O":  # what compares with no number is no sign
        entries = [
            entry if isinstance(entry, Real | Decimal) and entry in (-1, 1) else 0
            for entry in array.ravel().tolist()
        ]
        array = np.array(entries, dtype=np.float64).reshape(array.shape)
    # Not np.isin, which fails in NumPy 1.26 for types that hold no -1.
    if array.dtype.kind not in "biuf" or not ((array == 1) | (array == -1)).all():
        raise ValueError("signs must hold only -1 and +1.")
    return np.where(array == 1, 1, -1)
