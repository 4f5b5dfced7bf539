"""How many rounds the majority game takes, from its start or from any state."""

import numpy as np
from scipy.special import betaincinv

from sklboolean._core.validation import check_integer, check_real
from sklboolean.boosting._binomials import at_most
from sklboolean.boosting._game_states import encode_states, level_shares
from sklboolean.boosting._majority_game import check_edge, check_odd

MAX_ROUNDS = 10**9


def min_rounds(gamma, error):
    """Return how many weak hypotheses boost-by-majority needs for an error.

    Parameters
    ----------
    gamma : float
        What every hypothesis is right about beyond one half, above 0 and below 0.5.
    error : float
        The vote's error is to stay below this, above 0 and below 1. Below ``1 / m`` the
        vote is right about all of m examples.

    Returns
    -------
    k : int
        The least number for which the binomial probability that at most half of k votes
        are right, each with probability ``1/2 + gamma``, is below `error`. Always odd.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is out of range or more than 10**9 rounds are needed.

    See Also
    --------
    max_gamma : The edge for a given number of rounds.

    Notes
    -----
    A vote more can do harm: an even number may be tied, which is a loss in the game.
    Along odd numbers the probability falls. Corollary 2.2.3 gives the larger number
    ``ln(1 / error) / (2 gamma**2)``: for small gamma 2.8 times as many if the error is
    0.1, and 1.2 times if it is 1e-7.

    References
    ----------
    .. [1] Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for
       Machine Learning. PhD thesis, University of California, Santa Cruz, (2.2).

    Examples
    --------
    >>> from sklboolean.theory import min_rounds
    >>> min_rounds(gamma=0.1, error=1e-4)
    339
    """
    return rounds_from_states(0, gamma, error, np.zeros(1, dtype=np.int64))


def max_gamma(k, error):
    """Return the edge for which so many rounds leave just this error.

    Weak hypotheses must keep at least this edge for a vote of k of them to have the
    error; it is the most that may be assumed of them without hoping for less than that.

    Parameters
    ----------
    k : int
        Number of rounds, odd.
    error : float
        Error of the vote, above 0 and below 0.5.

    Returns
    -------
    gamma : float
        The number in (0, 0.5) for which the binomial probability that at most half of k
        votes are right, each with probability ``1/2 + gamma``, equals `error`.

    Raises
    ------
    TypeError
        If an argument is not a number of its kind.
    ValueError
        If an argument is out of range, `k` is even, or the error is so small that gamma
        is 0.5 in double precision.

    See Also
    --------
    min_rounds : The number of rounds for a given edge.

    References
    ----------
    .. [1] Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for
       Machine Learning. PhD thesis, University of California, Santa Cruz, (2.2).

    Examples
    --------
    >>> from sklboolean.theory import max_gamma
    >>> max_gamma(1, error=0.25)
    0.25
    >>> round(max_gamma(101, error=0.2), 4)
    0.0417
    """
    k = check_odd(k)
    error = float(check_real(error, "error"))
    if not 0 < error < 0.5:
        raise ValueError(
            f"error must be above 0 and below 0.5; got {error}. A coin errs half of "
            "the time."
        )
    # The tail of an odd number of votes is the distribution function of a symmetric
    # beta variable at 1/2 - gamma.
    half = (k + 1) // 2
    gamma = 0.5 - float(betaincinv(half, half, error))
    if not 0 < gamma < 0.5:
        raise ValueError(
            f"error={error} must not be so close to 0 or 0.5 with k={k}: gamma would "
            f"be {gamma}. Change error or k."
        )
    return gamma


def rounds_from_states(
    i, gamma, error, correct_votes, *, other_votes=0, n_aborted=0, values=None
):
    """Return how long a game must last for an error, seen from its present states.

    The plan for the rest of a game may change at any time, its edge too: the average
    potential does not rise, wherever it starts (Lemma 2.2.2).

    Parameters
    ----------
    i : int
        Number of rounds played, at least 0.
    gamma : float
        What the hypotheses to come are right about beyond one half.
    error : float
        The average potential is to be below this, above 0 and below 1.
    correct_votes, other_votes, n_aborted, values
        The states, as in :func:`~sklboolean.boosting._game_states.average_potential`.

    Returns
    -------
    k : int
        The least odd number of rounds, at least `i`, for which the average potential is
        below `error`; `i` itself if the present vote is good enough.

    Raises
    ------
    TypeError
        If an argument is not a number of its kind.
    ValueError
        If an argument is out of range or more than 10**9 rounds are needed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.boosting._game_rounds import rounds_from_states
    >>> rounds_from_states(9, 0.1, 1e-4, np.array([3, 5, 6, 6, 8]))
    337
    """
    i, gamma = check_integer(i, "i", 0), check_edge(gamma)
    error = float(check_real(error, "error"))
    if not 0 < error < 1:
        raise ValueError(
            f"error must be above 0 and below 1; got {error}. For none on m examples "
            "ask for 1 / m."
        )
    codes, unit = encode_states(i, correct_votes, other_votes, n_aborted)
    levels, shares = level_shares(codes, unit, n_aborted, values)

    def potentials(k):
        return at_most((k - levels) // 2, k - i, gamma)

    def search(low, at_low, high, at_high):
        # Along odd k the potential of a state rises, if at all, before it falls: who is
        # ahead may be overtaken. So between two k it is at least the lesser of theirs,
        # and where that average is too large the search need not look.
        if shares @ np.minimum(at_low, at_high) >= error:
            return None
        if shares @ at_low < error:
            return low
        if high - low == 2:
            return high if shares @ at_high < error else None
        middle = (low + high) // 4 * 2 + 1
        at_middle = potentials(middle)
        found = search(low, at_low, middle, at_middle)
        return found or search(middle, at_middle, high, at_high)

    low, k = i | 1, None
    while k is None and low <= MAX_ROUNDS:
        high = 2 * low + 1
        k = search(low, potentials(low), high, potentials(high))
        low = high
    if k is None:
        raise ValueError(
            f"gamma={gamma} must be larger, or error={error}: more than {MAX_ROUNDS} "
            "rounds are needed."
        )
    return k
