"""Sample complexity: how many examples make a hypothesis probably almost right."""

from math import ceil

from sklboolean.theory._numbers import as_fraction, as_integer, natural_log


def sample_complexity(class_size, epsilon, delta):
    """Return how many examples suffice for a consistent learner.

    A learner that picks any hypothesis of a finite class that agrees with so many
    independent examples, labelled by one of the class, errs on new ones with
    probability at most `epsilon`, except with probability `delta`.

    Parameters
    ----------
    class_size : int
        Number of hypotheses, at least 1: for example :func:`n_conjunctions`.
    epsilon : real number
        Error allowed, above 0 and at most 1.
    delta : real number
        Probability of failure allowed, above 0 and below 1.

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
    return _examples_to_refute(size, epsilon, delta)


def survival_length(mistake_bound, epsilon, delta):
    """Return how many examples a hypothesis must survive to be trusted.

    Let a learner that changes its hypothesis only at a mistake make at most
    ``mistake_bound`` mistakes. Run it on independent examples and take the first
    hypothesis that is right on so many in a row, or the one after the last possible
    mistake. It errs on new examples with probability at most `epsilon`, except with
    probability `delta`.

    Parameters
    ----------
    mistake_bound : int
        Largest number M of mistakes possible, at least 0.
    epsilon : real number
        Error allowed, above 0 and at most 1.
    delta : real number
        Probability of failure allowed, above 0 and below 1.

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
    online_sample_complexity : How many examples that takes in all.

    Notes
    -----
    A hypothesis of error above epsilon survives s examples with probability at most
    ``(1 - epsilon)**s <= exp(-epsilon * s)``. At most M of the M + 1 hypotheses can be
    that bad, for the one after M mistakes cannot err again. So one of them survives
    with probability at most ``M exp(-epsilon * s)``, which is at most delta here.

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
    return _examples_to_refute(n_mistakes, epsilon, delta)


def online_sample_complexity(mistake_bound, epsilon, delta):
    """Return how many examples suffice for the longest survivor.

    Let a learner that changes its hypothesis only at a mistake make at most
    ``mistake_bound`` mistakes. Run it once over so many independent examples, and take
    the hypothesis that was right on the most examples in a row. It errs on new examples
    with probability at most `epsilon`, except with probability `delta`.

    Parameters
    ----------
    mistake_bound : int
        Largest number M of mistakes possible, at least 0: for example
        :func:`winnow_mistake_bound`.
    epsilon : real number
        Error allowed, above 0 and at most 1.
    delta : real number
        Probability of failure allowed, above 0 and below 1.

    Returns
    -------
    n_samples : int
        ``(M + 1) * survival_length(M, epsilon, delta)``: with at most M mistakes some
        hypothesis survives the survival length. Several passes over fewer examples do
        not count, as a hypothesis is not new to them.

    Raises
    ------
    ValueError
        If an argument is not a number of its kind or is out of range.

    See Also
    --------
    survival_length : With the argument.
    sample_complexity : For learners that agree with all examples.

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


def _examples_to_refute(n_bad, epsilon, delta):
    """Return the least s with ``n_bad * exp(-epsilon * s) <= delta``."""
    epsilon = as_fraction(epsilon, "epsilon", above=0, at_most=1)
    delta = as_fraction(delta, "delta", above=0, below=1)
    if n_bad == 0:
        return 0
    # The logarithm of a rational number above 1 is irrational: no integer is met, and
    # digits beyond those of epsilon settle on which side of one the quotient lies.
    digits = 60 + epsilon.denominator.bit_length()
    nats = natural_log(n_bad, digits) - natural_log(delta, digits)
    return ceil(nats / epsilon)
