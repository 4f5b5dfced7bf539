"""Mistake bounds: what the theorems promise before anything is learned."""

from sklboolean.theory._numbers import (
    LOG_SLACK,
    all_exact,
    as_fraction,
    as_integer,
    floor_of_bound,
    log2_floor,
    natural_log,
)


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

    See Also
    --------
    additive_mistake_bound : The same bound, measured on examples.

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
    reach = as_fraction(radius, "radius", at_least=0) * as_fraction(
        norm, "norm", above=0
    )
    shortfall = as_fraction(deviation, "deviation", at_least=0)
    ratio = (reach + shortfall) / as_fraction(margin, "margin", above=0)
    exact = all_exact(radius, margin, deviation, norm)
    return floor_of_bound(ratio**2, exact=exact)


def winnow_mistake_bound(n_features, n_relevant, promotion, threshold):
    """Bound the mistakes of Winnow on a monotone disjunction of a few features.

    Winnow starts from weights 1, predicts "true" iff ``w.x >= threshold``, multiplies
    the weights of the features that are 1 by ``promotion`` when it missed a positive
    example, and divides them by it when it missed a negative one. On examples labelled
    by a disjunction of ``n_relevant`` of the features it makes at most ::

        promotion / (promotion - 1) * n_features / threshold
            + n_relevant * (promotion + 1) * (1 + log(threshold) / log(promotion))

    mistakes, in whatever order and however often the examples come. The same holds for
    the strict rule ``w.x > threshold``.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.
    n_relevant : int
        Number of features in the disjunction, from 0 (always false) to `n_features`.
        A longer disjunction has a larger bound, so an upper limit will do.
    promotion : real number
        Factor of a promotion, above 1. A demotion divides by it.
    threshold : real number
        Threshold of the score, above 0. Below 1 / `promotion`, where the second term
        of the theorem is negative, it is taken as 0: no positive example is missed.

    Returns
    -------
    bound : int
        The largest number of mistakes possible. When `promotion` and `threshold` are
        ints or Fractions it is the formula above rounded down (an amount less than
        10**-40 short of an integer counts as the integer); otherwise it is raised by
        one part in 10**12 before it is rounded down.

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
    Irrelevant features cost little: a thousand times as many double the bound.

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
    digits = 60 + k.bit_length() + sum(part.bit_length() for part in _parts(alpha))
    steps = 1 + natural_log(theta, digits) / natural_log(alpha, digits)
    promoted = k * (alpha + 1) * max(0, steps)
    return floor_of_bound(
        demoted_at_first + promoted + LOG_SLACK, exact=all_exact(promotion, threshold)
    )


def winnow1_mistake_bound(n_features, n_relevant):
    """Bound the mistakes of Winnow 1 on a monotone disjunction of a few features.

    Winnow 1 starts from weights 1, predicts "true" iff ``w.x > n_features / 2``,
    doubles the weights of the features that are 1 when it missed a positive example,
    and sets them to zero when it missed a negative one. On examples labelled by a
    disjunction of ``n_relevant`` of the features it makes at most
    ``2 + 2 * n_relevant * lg(n_features)`` mistakes. One wrong label can set a relevant
    weight to zero for good: then nothing is promised.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.
    n_relevant : int
        Number of features in the disjunction, from 0 (always false) to `n_features`.

    Returns
    -------
    bound : int
        The largest number of mistakes possible.

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


def halving_mistake_bound(class_size):
    """Bound the mistakes of the Halving algorithm on a finite class.

    Halving predicts as the majority of the hypotheses that agree with all examples so
    far. A mistake refutes at least half of them, so that there are at most
    ``lg(class_size)`` mistakes if a hypothesis of the class is right.

    Parameters
    ----------
    class_size : int
        Number of hypotheses that vote, at least 1: for example :func:`n_conjunctions`.

    Returns
    -------
    bound : int
        The largest number of mistakes possible, exact for ints of any size.

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


def elimination_mistake_bound(n_features, n_relevant=0, *, monotone=False):
    """Bound the mistakes of elimination on a conjunction.

    Elimination starts from the conjunction of all literals and drops those that a
    positive example contradicts. It errs on positive examples only. Each mistake costs
    it a literal, and the first one half of them when every feature comes with its
    negation.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.
    n_relevant : int, default=0
        Number of literals in the conjunction, from 0 (always true) to `n_features`. A
        shorter conjunction has a larger bound, so a lower limit will do.
    monotone : bool, default=False
        Whether the literals are the features only, not their negations.

    Returns
    -------
    bound : int
        ``n_features - n_relevant``, and 1 more unless `monotone`. Some sequence of
        examples causes as many mistakes.

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
