"""What Query by Committee promises: when to stop, what a query tells."""

from math import log, pi

import numpy as np
from scipy.integrate import quad
from scipy.special import entr

from sklboolean.theory._numbers import as_fraction, as_integer


def query_stopping_wait(n_queries, epsilon, delta):
    """Return how many rows in a row the committee may agree on before it stops.

    Two hypotheses, drawn anew from the version space for each random row, are asked for
    its label; where they differ the true label is queried. Stop when they have agreed
    on *more* than this number of rows since the last query: except with probability
    `delta`, a random hypothesis then errs with probability below `epsilon`.

    Parameters
    ----------
    n_queries : int
        Number of labels queried so far, at least 0.
    epsilon : real number
        Error allowed, above 0 and below 1.
    delta : real number
        Probability of failure allowed, above 0 and below 1.

    Returns
    -------
    wait : float
        ``ln(pi**2 (n_queries + 1)**2 / (3 delta)) / epsilon``, which is not an integer
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


def information_gain_lower_bound(dimension=None):
    """Return the information in bits that each query is expected to give at least.

    Concepts are the points of a convex body, equally likely; a row cuts the body by a
    plane of any direction, whose offset is uniform (the parallel planes problem). The
    bound holds for rows on which two random concepts differ.

    Parameters
    ----------
    dimension : int or None, default=None
        Dimension of the body, at least 1. None: bound for every dimension.

    Returns
    -------
    bits : float
        Gain of a query on the worst body, a double cone. It falls with the dimension,
        to ``1 / 9 + 7 / (18 ln 2)``.

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
        # Of a row that cuts off this part, H(F), times the chance 1 - F to be asked.
        bits = (entr(part) + entr(1 - part)) / np.log(2)
        return (1 - part) * bits

    # The factor F**(1/d) of both integrals is left to the rule for such a weight.
    rule = {"weight": "alg", "wvar": (root, 0), "epsabs": 0, "epsrel": 1e-12}
    gained, _error = quad(gain, 0, 0.5, **rule)
    asked = 0.5 ** (1 + root) * (1 / (1 + root) - 0.5 / (2 + root))
    return gained / asked
