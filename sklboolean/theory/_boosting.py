"""What boosting by majority takes: examples to sample or filter, gates to represent."""

from fractions import Fraction
from math import ceil, e, log, pi, sqrt

from sklboolean.boosting._game_rounds import min_rounds
from sklboolean.theory._numbers import (
    as_fraction,
    as_integer,
    natural_log,
)


def subsample_bound(gamma, epsilon, delta, *, n_weak_samples):
    """Return how large a sample suffices for boosting a weak learner on it.

    The weak learner is deterministic. From `n_weak_samples` examples, drawn from
    whatever distribution, it makes with positive probability a hypothesis of error
    below ``1/2 - gamma``. Boosted by majority until the vote agrees with a sample of
    this size, it errs on new examples with probability below `epsilon`, except with
    probability `delta`.

    Parameters
    ----------
    gamma : real number
        Edge of the weak learner, above 0 and below 1/2.
    epsilon : real number
        Error allowed, above 0 and below 1.
    delta : real number
        Probability of failure allowed, above 0 and below 1.
    n_weak_samples : int
        Number of examples that the weak learner needs, at least 1.

    Returns
    -------
    n_samples : int
        ``max(208, (2 / epsilon) ln(2 / delta), 16 a ln(a)**2)`` rounded up, where ``a =
        n_weak_samples / (epsilon gamma**2)``.

    Raises
    ------
    ValueError
        If an argument is not a number of its kind or is out of range.

    See Also
    --------
    filter_sample_bound : For boosting on a stream.

    Notes
    -----
    The vote is a function of the few examples that its hypotheses were made from; the
    rest of the sample tests it. The constants are those of a proof: fewer examples will
    do in practice.

    References
    ----------
    .. [1] Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for
       Machine Learning. PhD thesis, University of California, Santa Cruz, Corollary
       2.3.4.

    Examples
    --------
    >>> from sklboolean.theory import subsample_bound
    >>> subsample_bound(gamma=0.25, epsilon=0.1, delta=0.05, n_weak_samples=10)
    1393442
    """
    gamma = as_fraction(gamma, "gamma", above=0, below=0.5)
    epsilon = as_fraction(epsilon, "epsilon", above=0, below=1)
    delta = as_fraction(delta, "delta", above=0, below=1)
    n_weak = as_integer(n_weak_samples, "n_weak_samples", at_least=1)
    growth = n_weak / (epsilon * gamma**2)
    reliability = 2 / epsilon * natural_log(2 / delta)
    return max(208, ceil(reliability), ceil(16 * growth * natural_log(growth) ** 2))


def filter_sample_bound(gamma, epsilon, delta, *, n_weak_samples, reliability=1):
    """Bound the examples that boosting by filtering takes from a stream.

    From `n_weak_samples` examples, drawn from whatever distribution, the weak learner
    makes with probability at least `reliability` a hypothesis of error below ``1/2 -
    gamma``. Boosted by majority on filtered examples, it errs on new ones with
    probability below `epsilon`, except with probability `delta`.

    Parameters
    ----------
    gamma : real number
        Edge of the weak learner, above 0 and below 1/2.
    epsilon : real number
        Error allowed, above 0 and at most 1/2.
    delta : real number
        Probability of failure allowed, above 0 and below 1.
    n_weak_samples : int
        Number of examples that the weak learner needs, at least 1.
    reliability : real number, default=1
        Probability that it succeeds, above 0 and at most 1.

    Returns
    -------
    n_samples : int
        Bound on the number of examples drawn, accepted or not, by the whole algorithm.

    Raises
    ------
    ValueError
        If an argument is not a number of its kind or is out of range, or more than
        10**9 rounds are needed.

    See Also
    --------
    subsample_bound : For boosting on a sample that is kept.
    min_rounds : The number of rounds.

    Notes
    -----
    The bound is the left one of (2.16), with the number of rounds k that
    ``min_rounds(gamma / 2, epsilon**2)`` gives. Examples for one round, m_R, are those
    that train ``ln(4k / delta) / reliability`` hypotheses and those that choose among
    them, ``(8 / gamma**2) ln(2r / d)`` for r hypotheses and ``d = delta / 2k``. The
    printed m_R (and Lemma 2.3.6) loses the ln 2 of the latter. Both numbers are rounded
    up here, as examples and hypotheses are whole.

    References
    ----------
    .. [1] Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for
       Machine Learning. PhD thesis, University of California, Santa Cruz, Theorem
       2.3.9.

    Examples
    --------
    >>> from sklboolean.theory import filter_sample_bound
    >>> filter_sample_bound(gamma=0.3, epsilon=0.1, delta=0.1, n_weak_samples=10)
    5475762
    """
    gamma = float(as_fraction(gamma, "gamma", above=0, below=0.5))
    epsilon = float(as_fraction(epsilon, "epsilon", above=0, at_most=0.5))
    delta = as_fraction(delta, "delta", above=0, below=1)
    nats = -float(natural_log(delta))  # a quotient by delta may overflow
    n_weak = as_integer(n_weak_samples, "n_weak_samples", at_least=1)
    reliability = as_fraction(reliability, "reliability", above=0, at_most=1)
    k = min_rounds(gamma / 2, epsilon**2)
    n_hypotheses = ceil(Fraction(log(4 * k) + nats) / reliability)
    n_tests = ceil(8 / gamma**2 * (log(4 * k * n_hypotheses) + nats))
    accepted = max(
        n_hypotheses * n_weak + n_tests,
        Fraction(4 * (log(32 * k**2 * gamma / epsilon) + nats)),
    )
    constant = 8 * sqrt(2) * e ** (1 / 12) / sqrt(3 * pi)
    factor = Fraction(constant * k**1.5 * gamma / (epsilon * (1 - epsilon)))
    return ceil(factor * accepted)


def majority_gate_size(n_features, correlation):
    """Return how many functions suffice to represent another one as their majority.

    Let a set of Boolean functions have, for each distribution of the rows, a member h
    with ``E[f(x) h(x)] >= correlation``, values being -1 and +1. Then f is a majority
    of so many of its members, some perhaps more than once.

    Parameters
    ----------
    n_features : int
        Number of Boolean features n, at least 1.
    correlation : real number
        The distribution-free correlation D of f and the set, above 0 and at most 1.

    Returns
    -------
    n_gates : int
        The least odd number above ``2 ln(2) n / D**2``, exact for numbers of any size.

    Raises
    ------
    ValueError
        If an argument is not a number of its kind or is out of range.

    See Also
    --------
    min_rounds : With ``gamma=correlation / 2, error=2**-n_features`` somewhat less.

    Notes
    -----
    A set that correlates with f by less than ``1 / k`` for some distribution allows no
    majority of k members (Lemma 2.2.6).

    References
    ----------
    .. [1] Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for
       Machine Learning. PhD thesis, University of California, Santa Cruz, Theorem
       2.2.5 (due to R. E. Schapire).
    .. [2] M. Goldmann, J. Håstad, A. Razborov (1992). Majority Gates vs. General
       Weighted Threshold Gates. Computational Complexity 2, 277-300.

    Examples
    --------
    >>> from sklboolean.theory import majority_gate_size, min_rounds
    >>> majority_gate_size(10, correlation=0.2)
    347
    >>> min_rounds(gamma=0.1, error=2**-10)
    235
    """
    n_features = as_integer(n_features, "n_features", at_least=1)
    correlation = as_fraction(correlation, "correlation", above=0, at_most=1)
    gates_per_nat = 2 * n_features / correlation**2
    # ln 2 is irrational: no integer is met, and so many digits tell which is next.
    digits = 60 + gates_per_nat.denominator.bit_length()
    return ceil(gates_per_nat * natural_log(2, digits)) | 1
