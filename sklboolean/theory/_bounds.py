"""Mistake bounds and sample sizes of online learning and of query by committee."""

from decimal import Decimal
from fractions import Fraction
from math import ceil, hypot, log, pi
from numbers import Real

import numpy as np
from scipy.integrate import quad
from scipy.sparse import issparse
from scipy.special import entr

from sklboolean._core.validation import as_reals
from sklboolean.theory._numbers import (
    LOG_SLACK,
    all_exact,
    as_fraction,
    as_integer,
    floor_of_bound,
    log2_floor,
    natural_log,
)


def perceptron_mistake_bound(radius, margin, norm=1) -> int:
    """Bound the mistakes of the perceptron on separable samples.

    If ``||x_i|| <= radius`` for all samples ``x_i`` with signs ``y_i``, and some ``u``
    of length ``norm`` has ``y_i u.x_i >= margin`` for all of them, the perceptron,
    started from zero, makes at most ``(radius * norm / margin) ** 2`` mistakes, in
    any order and for any number of passes.

    Parameters
    ----------
    radius : real number
        Largest length of a sample, at least 0.
    margin : real number
        Smallest ``y_i u.x_i``, above 0.
    norm : real number, default=1
        Length of ``u``, above 0.

    Returns
    -------
    bound : int
        Largest possible number of mistakes. Exact if all arguments are ints or
        Fractions; otherwise raised by one part in 10**12 before it is rounded down.

    Raises
    ------
    ValueError
        If an argument is not a finite number or is out of range.

    See Also
    --------
    additive_mistake_bound : The same bound, computed from samples.

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


def perceptron_mistake_bound_nonseparable(radius, margin, deviation, norm=1) -> int:
    """Bound the mistakes of the perceptron in one pass over any samples.

    If ``||x_i|| <= radius`` for all samples ``x_i`` with signs ``y_i``, then for every
    ``u`` of length ``norm`` and every ``margin`` one pass of the perceptron, started
    from zero, makes at most ``((radius * norm + deviation) / margin) ** 2`` mistakes.
    T passes count as one long sequence, whose deviation is ``sqrt(T)`` times as large.

    Parameters
    ----------
    radius : real number
        Largest length of a sample, at least 0.
    margin : real number
        Margin that ``u`` is compared with, above 0.
    deviation : real number
        ``sqrt(sum_i max(0, margin - y_i u.x_i) ** 2)``: see :func:`hinge_deviation`.
    norm : real number, default=1
        Length of ``u``, above 0. The theorem is stated for 1; dividing ``u``,
        ``margin`` and ``deviation`` by the norm gives the form used here.

    Returns
    -------
    bound : int
        Largest possible number of mistakes, rounded as in
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
    reach = as_fraction(radius, "radius", at_least=0) * as_fraction(
        norm, "norm", above=0
    )
    shortfall = as_fraction(deviation, "deviation", at_least=0)
    ratio = (reach + shortfall) / as_fraction(margin, "margin", above=0)
    exact = all_exact(radius, margin, deviation, norm)
    return floor_of_bound(ratio**2, exact=exact)


def winnow_mistake_bound(n_features, n_relevant, promotion, threshold) -> int:
    """Bound the mistakes of Winnow on a monotone disjunction of a few features.

    Winnow starts from weights 1 and predicts "true" iff ``w.x >= threshold``. After a
    mistake on a positive sample it multiplies the weights of the features that are 1 by
    ``promotion``; after a mistake on a negative one it divides them. On samples
    labelled by a disjunction of ``n_relevant`` of the features it makes at most ::

        promotion / (promotion - 1) * n_features / threshold
            + n_relevant * (promotion + 1) * (1 + log(threshold) / log(promotion))

    mistakes, in any order and for any number of passes. The same holds for
    the strict rule ``w.x > threshold``.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.
    n_relevant : int
        Number of features in the disjunction, from 0 (always false) to `n_features`.
        The bound grows with it, so an upper limit gives a valid bound.
    promotion : real number
        Factor of a promotion, above 1. A demotion divides by the same factor.
    threshold : real number
        Threshold of the score, above 0. Below 1 / `promotion`, where the second term
        of the theorem is negative, it counts as 0: no positive sample is misclassified.

    Returns
    -------
    bound : int
        Largest possible number of mistakes. If `promotion` and `threshold` are ints or
        Fractions it is the formula above rounded down (a value less than 10**-40 below
        an integer counts as the integer). Otherwise it is raised by one part in 10**12
        before it is rounded down.

    Raises
    ------
    ValueError
        If an argument is not a finite number or is out of range.

    See Also
    --------
    winnow1_mistake_bound : For the variant that sets weights to zero.
    multiplicative_mistake_bound : For any separating vector.

    References
    ----------
    .. [1] R. Khardon, D. Roth, R. Servedio (2001). Efficiency versus Convergence of
       Boolean Kernels for On-Line Learning Algorithms. NIPS 14, Theorem 2.
    .. [2] N. Littlestone (1988). Learning Quickly When Irrelevant Attributes Abound: A
       New Linear-threshold Algorithm. Machine Learning 2, 285-318.

    Examples
    --------
    Irrelevant features cost little: with a thousand times as many features the bound
    only doubles.

    >>> from sklboolean.theory import winnow_mistake_bound
    >>> winnow_mistake_bound(1024, n_relevant=5, promotion=2, threshold=1024)
    167
    >>> winnow_mistake_bound(2**20, n_relevant=5, promotion=2, threshold=2**20)
    317
    """
    n = as_integer(n_features, "n_features", at_least=1)
    k = _as_n_relevant(n_relevant, n)
    alpha = as_fraction(promotion, "promotion", above=1)
    theta = as_fraction(threshold, "threshold", above=0)
    demoted_at_first = alpha / (alpha - 1) * n / theta
    # A factor close to 1 has a small logarithm, which needs more digits.
    digits = 60 + k.bit_length() + sum(m.bit_length() for m in _parts(alpha))
    steps = 1 + natural_log(theta, digits) / natural_log(alpha, digits)
    promoted = k * (alpha + 1) * max(0, steps)
    return floor_of_bound(
        demoted_at_first + promoted + LOG_SLACK, exact=all_exact(promotion, threshold)
    )


def winnow1_mistake_bound(n_features, n_relevant) -> int:
    """Bound the mistakes of Winnow 1 on a monotone disjunction of a few features.

    Winnow 1 starts from weights 1 and predicts "true" iff ``w.x > n_features / 2``.
    After a mistake on a positive sample it doubles the weights of the features that are
    1; after a mistake on a negative one it sets them to zero. On samples labelled by a
    disjunction of ``n_relevant`` of the features it makes at most
    ``2 + 2 * n_relevant * lg(n_features)`` mistakes. One wrong label can set a relevant
    weight to zero forever; then there is no bound.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.
    n_relevant : int
        Number of features in the disjunction, from 0 (always false) to `n_features`.

    Returns
    -------
    bound : int
        Largest possible number of mistakes.

    Raises
    ------
    ValueError
        If an argument is not an integer or is out of range.

    References
    ----------
    .. [1] N. Littlestone (1988). Learning Quickly When Irrelevant Attributes Abound: A
       New Linear-threshold Algorithm. Machine Learning 2, 285-318, section 5.

    Examples
    --------
    >>> from sklboolean.theory import winnow1_mistake_bound
    >>> winnow1_mistake_bound(1024, n_relevant=5)
    102
    """
    n = as_integer(n_features, "n_features", at_least=1)
    k = _as_n_relevant(n_relevant, n)
    digits = 60 + k.bit_length()
    doublings = k * natural_log(n, digits) / natural_log(2, digits)
    return floor_of_bound(2 + 2 * doublings + LOG_SLACK, exact=True)


def halving_mistake_bound(class_size) -> int:
    """Bound the mistakes of the Halving algorithm on a finite class.

    Halving predicts with the majority of the hypotheses that are consistent with all
    samples so far. A mistake refutes at least half of them. So there are at most
    ``lg(class_size)`` mistakes if some hypothesis of the class labels every sample
    correctly.

    Parameters
    ----------
    class_size : int
        Number of hypotheses that vote, at least 1. For example :func:`n_conjunctions`.

    Returns
    -------
    bound : int
        Largest possible number of mistakes, exact for ints of any size.

    Raises
    ------
    ValueError
        If `class_size` is not an integer or is below 1.

    References
    ----------
    .. [1] N. Littlestone (1988). Learning Quickly When Irrelevant Attributes Abound: A
       New Linear-threshold Algorithm. Machine Learning 2, 285-318, section 3.

    Examples
    --------
    >>> from sklboolean.theory import halving_mistake_bound, n_conjunctions
    >>> halving_mistake_bound(n_conjunctions(100))
    158
    """
    return log2_floor(as_integer(class_size, "class_size", at_least=1))


def elimination_mistake_bound(n_features, n_relevant=0, *, monotone=False) -> int:
    """Bound the mistakes of elimination on a conjunction.

    Elimination starts from the conjunction of all literals and drops those that a
    positive sample contradicts. It makes mistakes on positive samples only. Each
    mistake removes a literal, and the first one removes half of them if negations are
    allowed.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.
    n_relevant : int, default=0
        Number of literals in the conjunction, from 0 (always true) to `n_features`. The
        bound falls with it, so a lower limit gives a valid bound.
    monotone : bool, default=False
        True: the literals are the features. False: also their negations.

    Returns
    -------
    bound : int
        ``n_features - n_relevant``, plus 1 unless `monotone`. Some sequence of samples
        causes this number of mistakes.

    Raises
    ------
    ValueError
        If an argument is not an integer or is out of range.

    References
    ----------
    .. [1] L. G. Valiant (1984). A Theory of the Learnable. Communications of the ACM
       27(11), 1134-1142.

    Examples
    --------
    >>> from sklboolean.theory import elimination_mistake_bound
    >>> elimination_mistake_bound(100)
    101
    >>> elimination_mistake_bound(100, n_relevant=5, monotone=True)
    95
    """
    n = as_integer(n_features, "n_features", at_least=1)
    return n - _as_n_relevant(n_relevant, n) + (not monotone)


def _as_n_relevant(n_relevant, n_features):
    return as_integer(n_relevant, "n_relevant", at_least=0, at_most=n_features)


def _parts(fraction):
    return fraction.numerator, fraction.denominator


def hinge_deviation(scores, signs, margin) -> float:
    """Compute by how much scores fall short of a margin.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        The scores ``u.x_i``, finite.
    signs : array-like of shape (n_samples,)
        The labels ``y_i``, -1 or +1.
    margin : real number
        Margin to compare with, above 0.

    Returns
    -------
    deviation : float
        ``sqrt(sum_i max(0, margin - y_i u.x_i) ** 2)``; 0.0 if all scores reach the
        margin.

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
    scores, signs = as_reals(scores, "scores"), _as_signs(signs)
    if scores.ndim != 1 or scores.shape != signs.shape:
        raise ValueError(
            "scores and signs must have the same shape (n_samples,); got "
            f"{scores.shape} and {signs.shape}."
        )
    if not (np.abs(scores) < 1e300).all():  # so that the sum stays finite, and no NaN
        raise ValueError("scores must be finite and below 1e300.")
    return hypot(*np.maximum(0.0, margin - signs * scores))


def additive_mistake_bound(u, X, signs) -> int:
    """Bound the mistakes of the perceptron, given a separating vector.

    The bound is M_p = ``||u||_2**2 * max_i ||x_i||_2**2 / min_i (u.x_i)**2``. It is
    small for samples with few active features.

    Parameters
    ----------
    u : array-like of shape (n_features,)
        Vector with ``signs[i] * (X[i] @ u) > 0`` for every sample, of any length.
    X : array-like of shape (n_samples, n_features)
        Samples, dense. Represent a threshold by one more feature: a column of -1, whose
        weight in `u` is the threshold.
    signs : array-like of shape (n_samples,)
        The labels, -1 or +1.

    Returns
    -------
    bound : int
        Largest possible number of mistakes, for any order and any number of passes.
        Raised by one part in 10**12 before it is rounded down.

    Raises
    ------
    ValueError
        If shapes differ, a value is not finite, or `u` does not separate the examples.

    See Also
    --------
    multiplicative_mistake_bound : The bound for multiplicative updates.
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
    All features are relevant and each sample has one of them, which favours the
    perceptron:

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


def multiplicative_mistake_bound(u, X, signs, *, balanced=False) -> int:
    """Bound the mistakes of multiplicative updates, given a separating vector.

    The bound is M_w = ``2 ln(n) ||u||_1**2 max_i ||x_i||_inf**2 / min_i (u.x_i)**2``,
    where n is the number of weights. It is small when few features are relevant.

    Parameters
    ----------
    u : array-like of shape (n_features,)
        Vector with ``signs[i] * (X[i] @ u) > 0`` for every sample, of any length.
        Entries must not be negative unless `balanced`.
    X : array-like of shape (n_samples, n_features)
        Samples, dense. Represent a threshold by one more feature: a column of -1, whose
        weight in `u` is the threshold.
    signs : array-like of shape (n_samples,)
        The labels, -1 or +1.
    balanced : bool, default=False
        True: each feature has a second, negative weight, as in balanced Winnow, and
        ``n`` is twice the number of features. False: ``n`` is the number of features.

    Returns
    -------
    bound : int
        Largest possible number of mistakes, for any order and any number of passes.
        Raised by one part in 10**12 before it is rounded down.

    Raises
    ------
    ValueError
        If shapes differ, a value is not finite, `u` does not separate the examples, or
        it has a negative entry without `balanced`.

    See Also
    --------
    additive_mistake_bound : The bound for additive updates, with an example.
    winnow_mistake_bound : For disjunctions, with any promotion and threshold.

    Notes
    -----
    The bound is for weights that start equal, the prediction ``w.x >= 0``, and the
    update ``w *= promotion ** (sign * x)`` after a mistake, with ::

        log(promotion) = min_i |u.x_i| / (||u||_1 max_i ||x_i||_inf**2)

    With another promotion the bound is larger: for ``r`` times this logarithm
    (``0 < r < 2``), it is divided by ``r * (2 - r)``.

    References
    ----------
    .. [1] J. Kivinen, M. K. Warmuth, P. Auer (1997). The Perceptron Algorithm versus
       Winnow: Linear versus Logarithmic Mistake Bounds when Few Input Variables are
       Relevant. Artificial Intelligence 97, 325-343.
    .. [2] A. J. Grove, N. Littlestone, D. Schuurmans (2001). General Convergence
       Results for Linear Discriminant Updates. Machine Learning 43, 173-210.

    Examples
    --------
    One feature of a thousand decides, which favours multiplicative updates:

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
            "u must have no negative entry, since the weights stay positive; pass "
            "balanced=True for the bound with two weights for each feature."
        )
    n_weights = X.shape[1] * (2 if balanced else 1)
    norm = sum(abs(Fraction(weight)) for weight in u.tolist())
    ratio = norm * Fraction(_largest(X)) / margin
    return floor_of_bound(2 * natural_log(n_weights) * ratio**2, exact=False)


def _separate(u, X, signs):
    """Check u and X, and compute the smallest ``signs[i] * (X[i] @ u)`` exactly."""
    u, X, signs = _as_numbers(u, "u", 1), _as_numbers(X, "X", 2), _as_signs(signs)
    if X.shape[1] != u.shape[0] or X.shape[:1] != signs.shape or not X.size:
        raise ValueError(
            "X must have shape (n_samples, n_features), neither of them 0, u shape "
            f"(n_features,) and signs (n_samples,); got {X.shape}, {u.shape} and "
            f"{signs.shape}."
        )
    # Only candidates need exact fractions: rounding cannot move the others first.
    margin, sample = min(
        (signs[i].item() * _exact_dot(u, X[i]), i) for i in _candidates(u, X, signs)
    )
    if margin <= 0:
        raise ValueError(
            "u must separate the samples: signs[i] * (X[i] @ u) must be above 0 for "
            f"every sample i; it is not for sample {sample}."
        )
    return u, X, margin


def _candidates(u, X, signs):
    """List samples of which one has the smallest margin, in spite of rounding."""
    v, Y = (a / float(_largest(a) or 1) for a in (u, X))
    scores, sizes = signs * (Y @ v), np.abs(Y) @ np.abs(v)
    are_integers = all((a == np.rint(a)).all() for a in (u, X))
    if are_integers and _largest(u) * _largest(X) * sizes.max().item() < 2**52:
        # Every product and partial sum is an integer that a float holds.
        return [int((signs * (X @ u.astype(np.float64))).argmin())]
    # Two roundings of each entry, one of each product and of each sum; underflow.
    errors = (X.shape[1] + 6) * np.finfo(np.float64).eps * sizes + 1e-300
    return np.flatnonzero(scores - errors <= (scores + errors).min()).tolist()


def _exact_dot(u, x):
    pairs = zip(u.tolist(), x.tolist(), strict=True)
    return sum((Fraction(a) * Fraction(b) for a, b in pairs if a and b), Fraction(0))


def _largest(array):
    """Find the largest absolute value, an int or a float, not rounded."""
    return max(abs(array.max().item()), abs(array.min().item()))


def _as_numbers(values, name, n_dims):
    """Convert finite real numbers to an array of ints or float64."""
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
        raise ValueError(f"{name} must contain finite numbers.")
    if array.ndim != n_dims:
        shape = "(n_features,)" if n_dims == 1 else "(n_samples, n_features)"
        raise ValueError(f"{name} must have shape {shape}; got {array.shape}.")
    return array


def _as_signs(values):
    """Convert numbers of any type that are -1 or +1 to integers."""
    try:
        array = np.asarray(values)
    except ValueError:  # ragged
        array = np.empty(0, dtype="V1")
    if array.dtype.kind == "O":  # anything that is not a number is invalid
        entries = [
            entry if isinstance(entry, Real | Decimal) and entry in (-1, 1) else 0
            for entry in array.ravel().tolist()
        ]
        array = np.array(entries, dtype=np.float64).reshape(array.shape)
    # Not np.isin, which fails in NumPy 1.26 for types that hold no -1.
    if array.dtype.kind not in "biuf" or not ((array == 1) | (array == -1)).all():
        raise ValueError("signs must contain only -1 and +1.")
    return np.where(array == 1, 1, -1)


def sample_complexity(class_size, epsilon, delta) -> int:
    """Compute a number of samples that suffices for a consistent classifier.

    Draw this number of independent samples, labelled by a hypothesis of a finite
    class, and pick any hypothesis of the class that is consistent with them. Its error
    rate on new samples is at most `epsilon`, except with probability `delta`.

    Parameters
    ----------
    class_size : int
        Number of hypotheses, at least 1. For example :func:`n_conjunctions`.
    epsilon : real number
        Allowed error rate, above 0 and at most 1.
    delta : real number
        Allowed probability of failure, above 0 and below 1.

    Returns
    -------
    n_samples : int
        ``(ln(class_size) + ln(1 / delta)) / epsilon`` rounded up, exact for ints of any
        size.

    Raises
    ------
    ValueError
        If an argument is not a number of its kind or is out of range.

    References
    ----------
    .. [1] A. Blumer, A. Ehrenfeucht, D. Haussler, M. K. Warmuth (1987). Occam's Razor.
       Information Processing Letters 24(6), 377-380.

    Examples
    --------
    >>> from sklboolean.theory import n_conjunctions, sample_complexity
    >>> sample_complexity(n_conjunctions(100), epsilon=0.1, delta=0.05)
    1129
    """
    size = as_integer(class_size, "class_size", at_least=1)
    return _samples_to_refute(size, epsilon, delta)


def survival_length(mistake_bound, epsilon, delta) -> int:
    """Compute the number of samples that a hypothesis must survive to be accepted.

    An online classifier changes its hypothesis only after a mistake and makes at most
    ``mistake_bound`` mistakes. Run it on independent samples. Take the first hypothesis
    that is correct on this number of samples in a row, or the one after the last
    possible mistake. Its error rate on new samples is at most `epsilon`, except with
    probability `delta`.

    Parameters
    ----------
    mistake_bound : int
        Largest possible number M of mistakes, at least 0.
    epsilon : real number
        Allowed error rate, above 0 and at most 1.
    delta : real number
        Allowed probability of failure, above 0 and below 1.

    Returns
    -------
    n_samples : int
        ``(ln(M) + ln(1 / delta)) / epsilon`` rounded up; 0 if M is 0.

    Raises
    ------
    ValueError
        If an argument is not a number of its kind or is out of range.

    See Also
    --------
    online_sample_complexity : Total number of samples.

    Notes
    -----
    A hypothesis with an error rate above epsilon survives s samples with probability
    at most ``(1 - epsilon)**s <= exp(-epsilon * s)``. At most M of the M + 1 hypotheses
    can be that bad, because the one after M mistakes makes no further mistake. So one
    of them survives with probability at most ``M exp(-epsilon * s)``, which is at most
    delta here.

    References
    ----------
    .. [1] N. Littlestone (1989). From On-Line to Batch Learning. COLT '89, 269-284.

    Examples
    --------
    >>> from sklboolean.theory import elimination_mistake_bound, survival_length
    >>> survival_length(elimination_mistake_bound(100), epsilon=0.1, delta=0.05)
    77
    """
    n_mistakes = as_integer(mistake_bound, "mistake_bound", at_least=0)
    return _samples_to_refute(n_mistakes, epsilon, delta)


def online_sample_complexity(mistake_bound, epsilon, delta) -> int:
    """Compute a number of samples that suffices for the longest survivor.

    An online classifier changes its hypothesis only after a mistake and makes at most
    ``mistake_bound`` mistakes. Run it once over this number of independent samples, and
    take the hypothesis that was correct on the most samples in a row. Its error rate on
    new samples is at most `epsilon`, except with probability `delta`.

    Parameters
    ----------
    mistake_bound : int
        Largest possible number M of mistakes, at least 0. For example
        :func:`winnow_mistake_bound`.
    epsilon : real number
        Allowed error rate, above 0 and at most 1.
    delta : real number
        Allowed probability of failure, above 0 and below 1.

    Returns
    -------
    n_samples : int
        ``(M + 1) * survival_length(M, epsilon, delta)``: with at most M mistakes some
        hypothesis survives the survival length. Several passes over fewer samples are
        not enough, because the samples must be independent of the hypothesis.

    Raises
    ------
    ValueError
        If an argument is not a number of its kind or is out of range.

    See Also
    --------
    survival_length : The same guarantee for the first long survivor, with a proof.
    sample_complexity : For classifiers that are consistent with all samples.

    References
    ----------
    .. [1] N. Littlestone (1989). From On-Line to Batch Learning. COLT '89, 269-284.

    Examples
    --------
    >>> from sklboolean.theory import online_sample_complexity, winnow_mistake_bound
    >>> n_mistakes = winnow_mistake_bound(1024, 5, promotion=2, threshold=1024)
    >>> online_sample_complexity(n_mistakes, epsilon=0.1, delta=0.05)
    13776
    """
    length = survival_length(mistake_bound, epsilon, delta)
    return (int(mistake_bound) + 1) * length


def _samples_to_refute(n_bad, epsilon, delta):
    """Compute the least s with ``n_bad * exp(-epsilon * s) <= delta``."""
    epsilon = as_fraction(epsilon, "epsilon", above=0, at_most=1)
    delta = as_fraction(delta, "delta", above=0, below=1)
    if n_bad == 0:
        return 0
    # The logarithm of a rational number above 1 is irrational, so the quotient is no
    # integer. Digits beyond those of epsilon decide on which side of one it lies.
    digits = 60 + epsilon.denominator.bit_length()
    nats = natural_log(n_bad, digits) - natural_log(delta, digits)
    return ceil(nats / epsilon)


def query_stopping_wait(n_queries, epsilon, delta) -> float:
    """Compute the number of agreements after which query by committee stops.

    For each random sample, two hypotheses are drawn from the version space. If their
    predictions differ, the true label is queried. Stop when they have agreed on *more*
    than this number of samples since the last query. A random hypothesis of the version
    space then has an error rate below `epsilon`, except with probability `delta`.

    Parameters
    ----------
    n_queries : int
        Number of labels queried so far, at least 0.
    epsilon : real number
        Allowed error rate, above 0 and below 1.
    delta : real number
        Allowed probability of failure, above 0 and below 1.

    Returns
    -------
    wait : float
        ``ln(pi**2 (n_queries + 1)**2 / (3 delta)) / epsilon``. It is not an integer,
        and grows with each query.

    Raises
    ------
    ValueError
        If an argument is not a number of its kind or is out of range.

    References
    ----------
    .. [1] Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for
       Machine Learning. PhD thesis, University of California, Santa Cruz, Figure 3.2.

    Examples
    --------
    >>> from sklboolean.theory import query_stopping_wait
    >>> round(query_stopping_wait(0, epsilon=0.01, delta=0.1), 1)
    349.3
    """
    n_queries = as_integer(n_queries, "n_queries", at_least=0)
    epsilon = float(as_fraction(epsilon, "epsilon", above=0, below=1))
    delta = float(as_fraction(delta, "delta", above=0, below=1))
    return (2 * log(pi) + 2 * log(n_queries + 1) - log(3 * delta)) / epsilon


def information_gain_lower_bound(dimension=None) -> float:
    """Compute a lower bound on the expected information of a query, in bits.

    Concepts are uniform in a convex body. A sample cuts the body by a plane of any
    direction, with a uniform offset (the parallel planes problem). The bound holds for
    samples on which two random concepts differ.

    Parameters
    ----------
    dimension : int or None, default=None
        Dimension of the body, at least 1. None: a bound for all dimensions.

    Returns
    -------
    bits : float
        Expected gain of a query for the worst body, a double cone. It falls with the
        dimension, to ``1 / 9 + 7 / (18 ln 2)``.

    Raises
    ------
    ValueError
        If `dimension` is not an integer or below 1.

    Notes
    -----
    The middle integrals of (3.23) are printed with the exponent d + 1 in place of d,
    and (3.24) with a binary in place of a natural logarithm.

    References
    ----------
    .. [1] Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for
       Machine Learning. PhD thesis, University of California, Santa Cruz, Theorem 3.6.1
       and equations 3.22 to 3.24.

    Examples
    --------
    >>> from sklboolean.theory import information_gain_lower_bound
    >>> round(information_gain_lower_bound(1), 4)
    0.8416
    >>> round(information_gain_lower_bound(), 4)
    0.6722
    """
    if dimension is None:
        return 1 / 9 + 7 / (18 * log(2))
    root = 1 / as_integer(dimension, "dimension", at_least=1)

    def gain(part):
        # H(F) of a sample that cuts off the part F, times the probability 1 - F of a
        # query.
        bits = (entr(part) + entr(1 - part)) / np.log(2)
        return (1 - part) * bits

    # The quadrature rule handles the factor F**(1/d) of both integrals.
    rule = {"weight": "alg", "wvar": (root, 0), "epsabs": 0, "epsrel": 1e-12}
    gained, _error = quad(gain, 0, 0.5, **rule)
    asked = 0.5 ** (1 + root) * (1 / (1 + root) - 0.5 / (2 + root))
    return gained / asked
