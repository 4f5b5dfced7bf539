"""The majority game's two tables: what a vote weighs, and how likely loss still is.

A game lasts k rounds, k odd. An example is won if more than half of the hypotheses are
right about it. After i rounds its state is r, the number of right ones; with several
labels (r, t), where t counts the votes for wrong labels other than the strongest one.
If the rest of the votes is right with probability 1/2 + gamma each, then the potential
of a state is the probability of loss, and its weight the probability that the vote of
the next round decides.

Both depend on the state through one count only, the *missing* votes: the most that can
still be right while the example is lost, ``(k - t) // 2 - r``. As a function of it they
are binomial probabilities, in logarithms because half of them underflow for large k.
"""

import numpy as np
from sklearn.utils import check_scalar

from sklboolean._core.validation import check_integer, check_real
from sklboolean.boosting._binomials import at_most, log_at_most, log_exactly


def majority_weights(k, i, gamma, *, other_votes=0, n_aborted=0, log=False):
    """Tabulate the weights that boost-by-majority gives to the states of a round.

    Parameters
    ----------
    k : int
        Number of rounds of the game, odd.
    i : int
        Number of rounds played, at least 0 and below `k`.
    gamma : float
        What every hypothesis is right about beyond one half, above 0 and below 0.5.
    other_votes : int, default=0
        Votes t for wrong labels other than the strongest of them; 0 if there are two
        labels.
    n_aborted : int, default=0
        How many of the `i` rounds ended without a hypothesis. A fair coin stands for
        each, and the weight is the mean over their outcomes.
    log : bool, default=False
        Return natural logarithms, which do not underflow; that of 0 is ``-inf``.

    Returns
    -------
    weights : ndarray of shape (i - other_votes - n_aborted + 1,), dtype float64
        The weight of an example about which r hypotheses are right, at index r.

    Raises
    ------
    TypeError
        If an argument is not a number of its kind, or `log` no bool.
    ValueError
        If an argument is out of range or `k` is even.

    See Also
    --------
    majority_potentials : The probability of loss in each state.

    Notes
    -----
    The weight is ``C(k-i-1, s) (1/2 + gamma)**s (1/2 - gamma)**(k-i-1-s)`` with ``s =
    (k - t) // 2 - r``: equation (2.1), and for several labels (2.21) corrected. Printed
    there is ``k - t`` for k but i left, so that examples which may still be won or lost
    get no weight; ``i - t`` must replace i. Relative errors are about ``k * 1e-15``.

    References
    ----------
    .. [1] Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for
       Machine Learning. PhD thesis, University of California, Santa Cruz, (2.1).

    Examples
    --------
    >>> from sklboolean.theory import majority_weights
    >>> majority_weights(5, 2, gamma=0.1)
    array([0.36, 0.48, 0.16])

    The last round weighs the examples that it decides:

    >>> majority_weights(5, 4, gamma=0.1)
    array([0., 0., 1., 0., 0.])
    """
    k, i, gamma = check_game(k, i, gamma)
    check_scalar(log, "log", (bool, np.bool_))
    check_round_left(k, i)
    missing, n_aborted = _table_of_missing(k, i, other_votes, n_aborted)
    logs = log_exactly(missing, k - i - 1, gamma, n_aborted)
    return logs if log else np.exp(logs)


def majority_potentials(k, i, gamma, *, other_votes=0, n_aborted=0, log=False):
    """Tabulate the potentials of boost-by-majority: how likely each state is lost.

    Parameters
    ----------
    k : int
        Number of rounds of the game, odd.
    i : int
        Number of rounds played, at least 0 and at most `k`.
    gamma : float
        What every hypothesis is right about beyond one half, above 0 and below 0.5.
    other_votes : int, default=0
        Votes t for wrong labels other than the strongest of them; 0 if there are two
        labels.
    n_aborted : int, default=0
        How many of the `i` rounds ended without a hypothesis. A fair coin stands for
        each, and the potential is the mean over their outcomes.
    log : bool, default=False
        Return natural logarithms, which do not underflow; that of 0 is ``-inf``.

    Returns
    -------
    potentials : ndarray of shape (i - other_votes - n_aborted + 1,), dtype float64
        The potential of an example about which r hypotheses are right, at index r. It
        is 0 where the game is won, 1 where it is lost.

    Raises
    ------
    TypeError
        If an argument is not a number of its kind, or `log` no bool.
    ValueError
        If an argument is out of range or `k` is even.

    See Also
    --------
    min_rounds : The rounds for which the potential of the start is small.

    Notes
    -----
    The potential is the sum of ``C(k-i, j) (1/2 + gamma)**j (1/2 - gamma)**(k-i-j)``
    over j from 0 to ``(k - t) // 2 - r``: equation (2.7), where ``C(k-j, j)`` is a
    misprint. Its mean over the examples never rises while the hypotheses keep their
    promise (Lemma 2.2.2), and at the end it is the training error.

    References
    ----------
    .. [1] Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for
       Machine Learning. PhD thesis, University of California, Santa Cruz, (2.5)-(2.7).

    Examples
    --------
    >>> from sklboolean.theory import majority_potentials
    >>> majority_potentials(3, 0, gamma=0.25)
    array([0.15625])
    >>> majority_potentials(3, 2, gamma=0.25)
    array([1.  , 0.25, 0.  ])
    """
    k, i, gamma = check_game(k, i, gamma)
    check_scalar(log, "log", (bool, np.bool_))
    missing, n_aborted = _table_of_missing(k, i, other_votes, n_aborted)
    if not log and n_aborted == 0:
        return at_most(missing, k - i, gamma)
    logs = log_at_most(missing, k - i, gamma, n_aborted)
    return logs if log else np.exp(logs)


def missing_votes(k, correct_votes, other_votes=0):
    """Return the most votes that may still be right while the example is lost.

    Negative where it is won. The arguments may be arrays of ints.
    """
    return (k - other_votes) // 2 - correct_votes


def check_game(k, i, gamma):
    """Return the rounds of a game, those played and the edge, checked, as numbers."""
    k, i = check_odd(k), check_integer(i, "i", 0)
    if i > k:
        raise ValueError(
            f"i must be at most the number of rounds k={k}; got {i}. Play more rounds "
            "with a larger k."
        )
    return k, i, check_edge(gamma)


def check_round_left(k, i):
    """Check that another round is played, for which weights exist."""
    if i == k:
        raise ValueError(
            f"i must be below the number of rounds k={k}; got {i}. After the last "
            "round no example needs a weight."
        )


def check_odd(k):
    """Return a number of votes that cannot be tied."""
    k = check_integer(k, "k", 1)
    if k % 2 == 0:
        raise ValueError(
            f"k must be odd, so that no vote is tied; got {k}, use {k + 1}."
        )
    return k


def check_edge(gamma):
    """Return the edge of a weak hypothesis over a coin as a float."""
    edge = float(check_real(gamma, "gamma"))
    if not 0 < edge < 0.5:
        raise ValueError(
            f"gamma must be above 0 and below 0.5; got {gamma}. It is the accuracy of "
            "a weak hypothesis minus 1/2."
        )
    return edge


def _table_of_missing(k, i, other_votes, n_aborted):
    n_aborted = check_integer(n_aborted, "n_aborted", 0, i)
    other_votes = check_integer(other_votes, "other_votes", 0, i - n_aborted)
    correct_votes = np.arange(i - other_votes - n_aborted + 1)
    return missing_votes(k, correct_votes, other_votes), n_aborted
