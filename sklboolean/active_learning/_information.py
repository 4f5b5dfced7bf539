"""The information in labels: what a query gains, what the error must be."""

from math import log2
from numbers import Real

import numpy as np
from scipy.optimize import brentq
from scipy.special import entr, xlog1py

from sklboolean._core.validation import check_integer
from sklboolean.active_learning._disagreement import vote_entropy
from sklboolean.active_learning._votes import as_reals


def information_gain(probabilities):
    """Return the expected information gain H(F) of labels.

    Parameters
    ----------
    probabilities : array-like of any shape
        For each row the probability F that its label is the one of two, from 0 to 1:
        the part of the version space that accepts it.

    Returns
    -------
    gains : ndarray of the same shape, dtype float64
        ``-F lg F - (1 - F) lg (1 - F)``, in bits.

    Raises
    ------
    ValueError
        For probabilities outside [0, 1].

    References
    ----------
    Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
    Learning. PhD thesis, University of California, Santa Cruz, equation 3.2.

    Examples
    --------
    >>> from sklboolean.active_learning import information_gain
    >>> information_gain([0.0, 0.25, 0.5])
    array([0.        , 0.81127812, 1.        ])
    """
    probabilities = as_reals(probabilities, "probabilities")
    # Written so that NaN fails too.
    if not np.all((probabilities >= 0) & (probabilities <= 1)):
        raise ValueError("probabilities must be between 0 and 1.")
    # The rarer label's, so that both labels give the same and 1 - F loses nothing.
    rarer = np.minimum(probabilities, 1 - probabilities)
    return (entr(rarer) - xlog1py(1 - rarer, -rarer)) / np.log(2)


def label_entropy(shares):
    """Return the mean entropy of the label of a random row.

    Parameters
    ----------
    shares : array-like of shape (n_samples, n_classes)
        For each row of a sample, the posterior probability of each label. Shares of
        the votes estimate it.

    Returns
    -------
    entropy : float
        In bits. It bounds the error of the best prediction from both sides, which the
        information gained about the concept does not (:func:`bayes_error_bounds`).

    Raises
    ------
    ValueError
        If there is no row, or a row of ``shares`` is not a distribution.

    References
    ----------
    Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
    Learning. PhD thesis, University of California, Santa Cruz, section 3.7.

    Examples
    --------
    >>> from sklboolean.active_learning import label_entropy
    >>> label_entropy([[0.5, 0.5], [0.0, 1.0]])
    0.5
    """
    entropies = vote_entropy(shares)
    if not len(entropies):
        raise ValueError("shares must hold a row at least.")
    return float(np.mean(entropies))


def bayes_error_bounds(entropy, *, n_classes=2):
    """Bound the error of the best prediction by the label entropy.

    Parameters
    ----------
    entropy : float
        The mean entropy of a label in bits, from :func:`label_entropy`.
    n_classes : int, default=2
        How many labels there are.

    Returns
    -------
    lower : float
        Of two labels ``H^-1(entropy)``: the error at most 1/2 of which H is the
        entropy. Of more, the error that Fano's inequality leaves.
    upper : float
        ``entropy / 2``, or the error of a blind guess where that is less.

    Raises
    ------
    ValueError
        If ``entropy`` is not between 0 and ``lg n_classes``.

    References
    ----------
    Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
    Learning. PhD thesis, University of California, Santa Cruz, section 3.7.

    M. E. Hellman, J. Raviv (1970). Probability of Error, Equivocation, and the
    Chernoff Bound. IEEE Transactions on Information Theory 16(4): more than two labels.

    Examples
    --------
    >>> from sklboolean.active_learning import bayes_error_bounds
    >>> lower, upper = bayes_error_bounds(0.5)
    >>> round(lower, 4), upper
    (0.11, 0.25)
    """
    n_classes = check_integer(n_classes, "n_classes", 2)
    if not isinstance(entropy, Real):
        raise TypeError(f"entropy must be a number; got {entropy!r}.")
    most, blind = log2(n_classes), 1 - 1 / n_classes
    # A mean of entropies may exceed the most by rounding.
    if not 0 <= entropy <= most * (1 + 1e-9):
        raise ValueError(
            f"entropy must be between 0 and lg {n_classes} bits; got {entropy}."
        )

    def excess(exponent):
        # Fano: an error e leaves at most H(e) + e lg(n_classes - 1) bits.
        error = 2.0**-exponent
        return information_gain(error) + error * log2(n_classes - 1) - entropy

    if entropy >= most:
        return blind, blind
    # The exponent of the error, so that small errors keep their leading digits.
    first, last = -np.log2(blind), 1074.0
    lower = 0.0 if excess(last) >= 0 else 2.0 ** -brentq(excess, first, last)
    return float(min(lower, blind)), float(min(entropy / 2, blind))
