"""Examples in the majority game: their weights and potentials, by their states.

Two tables of `game` are looked up, one logarithm for each state that occurs.
"""

import numpy as np

from sklboolean._core.validation import check_integer
from sklboolean.boosting._binomials import at_most, log_exactly
from sklboolean.boosting._majority_game import check_game, check_round_left


def state_weights(k, i, gamma, correct_votes, *, other_votes=0, n_aborted=0):
    """Weigh examples by their states, relative to the heaviest one.

    Parameters
    ----------
    k, i, gamma, n_aborted
        As in :func:`~sklboolean.boosting._majority_game.majority_weights`.
    correct_votes : ndarray of shape (n_samples,), dtype int
        How many hypotheses are right about each example.
    other_votes : int or ndarray of shape (n_samples,), dtype int, default=0
        How many votes went to wrong labels other than the strongest of them.

    Returns
    -------
    weights : ndarray of shape (n_samples,), dtype float64
        The heaviest example has weight 1. All are 0 if and only if the game is decided
        for each of them: stop then.
    log_largest : float
        Logarithm of the heaviest example's weight in :func:`majority_weights`; ``-inf``
        if all are decided. With it sums of weights compare from round to round.

    Raises
    ------
    TypeError
        If an argument is not a number of its kind.
    ValueError
        If an argument is out of range or `k` is even.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.boosting._game_states import state_weights
    >>> weights, log_largest = state_weights(5, 2, 0.1, np.array([0, 1, 1, 2]))
    >>> weights
    array([0.75      , 1.        , 1.        , 0.33333333])
    >>> round(float(np.exp(log_largest)), 12)
    0.48
    """
    k, i, gamma = check_game(k, i, gamma)
    check_round_left(k, i)
    codes, unit = encode_states(i, correct_votes, other_votes, n_aborted)
    # One logarithm for each state that occurs, then a look-up for each example. States
    # without examples must not set the scale: the rest could underflow beside them.
    occurs = np.zeros(2 * i + 1, dtype=bool)
    occurs[codes] = True
    states = np.flatnonzero(occurs)
    table = np.zeros(2 * i + 1)
    table[states], log_largest = relative_weights(k, i, gamma, unit * states, n_aborted)
    return table[codes], log_largest


def relative_weights(k, i, gamma, levels, n_aborted=0):
    """Weigh states that occur, by their levels ``2r + t``, relative to the heaviest.

    Returns
    -------
    weights : ndarray, dtype float64
        The heaviest has 1; all are 0 if the game is decided in each.
    log_largest : float
        As in :func:`state_weights`.
    """
    logs = log_exactly((k - levels) // 2, k - i - 1, gamma, n_aborted)
    log_largest = float(logs.max(initial=-np.inf))
    if log_largest == -np.inf:
        return np.zeros(len(logs)), log_largest
    return np.exp(logs - log_largest), log_largest


def average_potential(
    k, i, gamma, correct_votes, *, other_votes=0, n_aborted=0, values=None
):
    """Average the potential over examples.

    Parameters
    ----------
    k, i, gamma, n_aborted
        As in :func:`~sklboolean.boosting._majority_game.majority_potentials`.
    correct_votes, other_votes
        As in :func:`state_weights`; at least one example.
    values : ndarray of shape (n_samples,) or None, default=None
        What each example counts in the mean, not negative; None counts all alike.

    Returns
    -------
    potential : float
        The mean, at ``i = k`` the share of examples that the vote gets wrong.

    Raises
    ------
    TypeError
        If an argument is not a number of its kind.
    ValueError
        If an argument is out of range or `k` is even.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.boosting._game_states import average_potential
    >>> average_potential(3, 2, 0.25, np.array([0, 1, 1, 2]))
    0.375
    """
    k, i, gamma = check_game(k, i, gamma)
    codes, unit = encode_states(i, correct_votes, other_votes, n_aborted)
    levels, shares = level_shares(codes, unit, n_aborted, values)
    return float(shares @ at_most((k - levels) // 2, k - i, gamma))


def level_shares(codes, unit, n_aborted, values):
    """Return the levels ``2r + t`` that occur and the share of the value at each.

    A coin of an aborted round raises the level by 2 or 0.
    """
    counts = np.bincount(codes, weights=values)
    if n_aborted:
        coins = np.zeros(2 // unit * n_aborted + 1)
        heads = np.arange(n_aborted + 1)
        coins[:: 2 // unit] = np.exp(log_exactly(heads, n_aborted, gamma=0.0))
        counts = np.convolve(counts, coins)
    states = np.flatnonzero(counts)
    if len(states) == 0:
        raise ValueError("values must be above 0 for at least one example.")
    return unit * states, counts[states] / counts[states].sum()


def encode_states(i, correct_votes, other_votes, n_aborted):
    """Check that such votes can be those of i rounds and return codes and their unit.

    The level ``2r + t = unit * code`` says all of a state: whatever k, ``(k - level) //
    2`` votes are missing. For two labels r will do as the code, without a copy.
    """
    check_integer(n_aborted, "n_aborted", 0, i)
    right = _checked_counts(correct_votes, "correct_votes")
    other = _checked_counts(other_votes, "other_votes")
    votes = right + other if other.any() else right
    if votes.max(initial=0) > i - n_aborted:
        raise ValueError(
            f"correct_votes + other_votes must be at most {i - n_aborted}, the number "
            f"of hypotheses (i={i}, n_aborted={n_aborted}); each has one vote."
        )
    return (right, 2) if votes is right else (votes + right, 1)


def _checked_counts(votes, name):
    votes = np.asarray(votes)
    if votes.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers; count the votes.")
    if votes.min(initial=0) < 0:
        raise ValueError(f"{name} must not be negative; count the votes.")
    return votes.astype(np.int64, copy=False)  # small integers would overflow
