"""The majority game: weights and potentials of states, rounds and edges.

A game lasts k rounds, k odd. A sample is won if more than half of the hypotheses
classify it correctly. After i rounds its state is r, the number of correct votes; with
several labels (r, t), where t counts the votes for wrong labels other than the
strongest one. Suppose that each remaining vote is correct with probability 1/2 + gamma.
Then the potential of a state is the probability that the sample is lost, and its weight
is the probability that the vote of the next round decides.

Both depend on the state through one number only, the *missing* votes: the largest
number of further correct votes with which the sample is still lost, ``(k - t) // 2 -
r``. As functions of it they are binomial probabilities, computed as logarithms because
half of them underflow for large k. A fair coin stands for each round without a
hypothesis.
"""

# All functions work on the levels ``2 r + t``, int arrays, and on logarithms in
# float64. A weight is C(n, m) (1/2 + gamma)^m (1/2 - gamma)^(n - m) for n votes to come
# and m missing ones; a potential is the sum of these up to m (thesis, section 2.2).
# Numbers of rounds are found by doubling, then by halving where the potential can cross
# the error.

import numpy as np
from scipy.special import betaincc, betaincinv, gammaln, logsumexp
from sklearn.utils import check_scalar

from sklboolean._core.parameters import check_integer, check_real
from sklboolean._core.validation import warn_user
from sklboolean.boosting._game import write_log_binomial

MAX_ROUNDS = 10**9

# Binomial probabilities of the number of correct votes


def binomial_cdf(counts, n_votes, gamma):
    """Compute the probability of at most so many correct votes, for each count.

    ``n_votes`` and ``gamma`` are those of all counts, or of each.
    """
    inside = (counts >= 0) & (counts < n_votes)
    probabilities = (counts >= n_votes).astype(np.float64)
    correct, n_votes, gamma = _where(inside, counts, n_votes, gamma)
    # The same as betainc of 1/2 - gamma, but that one loses all digits below 1e-250.
    probabilities[inside] = betaincc(correct + 1, n_votes - correct, 0.5 + gamma)
    return probabilities


def _where(chosen, *numbers):
    """Choose entries of arrays; numbers stand for arrays of equal entries."""
    return [np.broadcast_to(given, chosen.shape)[chosen] for given in numbers]


def log_binomial_cdf(counts, n_votes, gamma, n_coins=0):
    """Compute the same as logarithms, which do not underflow, with fair coins added."""
    n_all = n_votes + n_coins
    # Sums from the small end, each relative to the next.
    logs = log_binomial_pmf(np.arange(n_all + 1), n_votes, gamma, n_coins)
    logs = np.minimum(np.logaddexp.accumulate(logs), 0.0)
    logs[-1] = 0.0
    return np.append(logs, -np.inf)[np.clip(counts, -1, n_all)]


def log_binomial_pmf(counts, n_votes, gamma, n_coins=0):
    """Compute the log-probability of exactly so many correct votes and heads.

    Without coins ``n_votes`` and ``gamma`` may be those of each count.
    """
    possible = (counts >= 0) & (counts <= n_votes + n_coins)
    if n_coins == 0:
        logs = np.full(counts.shape, -np.inf)
        right, n_votes, gamma = _where(possible, counts, n_votes, gamma)
        right = right.astype(np.float64)
        wrong = n_votes - right
        logs[possible] = (
            gammaln(n_votes + 1)
            - gammaln(right + 1)
            - gammaln(wrong + 1)
            + right * np.log1p(2 * gamma)
            + wrong * np.log1p(-2 * gamma)
            - n_votes * np.log(2)
        )
        return logs
    if counts.size * n_coins < n_votes:  # few states of a long game: coin by coin
        heads = np.arange(n_coins + 1)
        log_votes = log_binomial_pmf(np.subtract.outer(counts, heads), n_votes, gamma)
        return logsumexp(log_votes + log_binomial_pmf(heads, n_coins, 0.0), axis=-1)
    logs = np.full(n_votes + n_coins + 2, -np.inf)
    write_log_binomial(n_votes, gamma, n_coins, logs[:-1])
    return logs[np.where(possible, counts, -1)]


# Weights and potentials of all states of a round


def majority_weights(k, i, gamma, *, other_votes=0, n_aborted=0, log=False):
    """Compute the weight of each state in a round of boost-by-majority.

    Parameters
    ----------
    k : int
        Number of rounds of the game, odd.
    i : int
        Number of rounds played, at least 0 and below `k`.
    gamma : float
        Edge that is assumed of every hypothesis: its accuracy minus 1/2, above 0 and
        below 0.5.
    other_votes : int, default=0
        Number t of votes for wrong labels other than the strongest of them; 0 with two
        labels.
    n_aborted : int, default=0
        Number of the `i` rounds that ended without a hypothesis. A fair coin stands for
        each, and the weight is the mean over their outcomes.
    log : bool, default=False
        Return natural logarithms, which do not underflow. The logarithm of 0 is
        ``-inf``.

    Returns
    -------
    weights : ndarray of shape (i - other_votes - n_aborted + 1,), dtype float64
        At index r the weight of a sample with r correct votes.

    Raises
    ------
    TypeError
        If an argument is not a number of its kind, or `log` is not a bool.
    ValueError
        If an argument is out of range or `k` is even.

    See Also
    --------
    majority_potentials : The probability of loss in each state.

    Notes
    -----
    The weight is ``C(k-i-1, s) (1/2 + gamma)**s (1/2 - gamma)**(k-i-1-s)`` with ``s =
    (k - t) // 2 - r``: equation (2.1), and for several labels (2.21) corrected. The
    printed equation replaces k by ``k - t`` but keeps i, so that samples which may
    still be won or lost get no weight; i must be replaced by ``i - t`` too. Relative
    errors are about ``k * 1e-15``.

    References
    ----------
    .. [1] Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for
       Machine Learning. PhD thesis, University of California, Santa Cruz, (2.1).

    Examples
    --------
    >>> from sklboolean.theory import majority_weights
    >>> majority_weights(5, 2, gamma=0.1)
    array([0.36, 0.48, 0.16])

    In the last round only samples that it decides have weight:

    >>> majority_weights(5, 4, gamma=0.1)
    array([0., 0., 1., 0., 0.])
    """
    k, i, gamma = check_game(k, i, gamma)
    check_scalar(log, "log", (bool, np.bool_))
    if i == k:
        raise ValueError(
            f"i must be below the number of rounds k={k}; got {i}. After the last "
            "round no sample needs a weight."
        )
    missing, n_aborted = _missing_votes(k, i, other_votes, n_aborted)
    logs = log_binomial_pmf(missing, k - i - 1, gamma, n_aborted)
    return logs if log else np.exp(logs)


def majority_potentials(k, i, gamma, *, other_votes=0, n_aborted=0, log=False):
    """Compute the potential of each state: the probability that a sample is lost.

    Parameters
    ----------
    k : int
        Number of rounds of the game, odd.
    i : int
        Number of rounds played, at least 0 and at most `k`.
    gamma : float
        Edge that is assumed of every hypothesis: its accuracy minus 1/2, above 0 and
        below 0.5.
    other_votes : int, default=0
        Number t of votes for wrong labels other than the strongest of them; 0 with two
        labels.
    n_aborted : int, default=0
        Number of the `i` rounds that ended without a hypothesis. A fair coin stands for
        each, and the potential is the mean over their outcomes.
    log : bool, default=False
        Return natural logarithms, which do not underflow. The logarithm of 0 is
        ``-inf``.

    Returns
    -------
    potentials : ndarray of shape (i - other_votes - n_aborted + 1,), dtype float64
        At index r the potential of a sample with r correct votes: 0 where the sample is
        won, 1 where it is lost.

    Raises
    ------
    TypeError
        If an argument is not a number of its kind, or `log` is not a bool.
    ValueError
        If an argument is out of range or `k` is even.

    See Also
    --------
    min_rounds : The number of rounds for which the potential of the start is small.

    Notes
    -----
    The potential is the sum of ``C(k-i, j) (1/2 + gamma)**j (1/2 - gamma)**(k-i-j)``
    over j from 0 to ``(k - t) // 2 - r``: equation (2.7), where ``C(k-j, j)`` is a
    misprint. Its mean over the samples never rises while the edges of the hypotheses
    are at least gamma (Lemma 2.2.2), and at the end it is the training error.

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
    missing, n_aborted = _missing_votes(k, i, other_votes, n_aborted)
    if not log and n_aborted == 0:
        return binomial_cdf(missing, k - i, gamma)
    logs = log_binomial_cdf(missing, k - i, gamma, n_aborted)
    return logs if log else np.exp(logs)


def _missing_votes(k, i, other_votes, n_aborted):
    n_aborted = check_integer(n_aborted, "n_aborted", 0, i)
    other_votes = check_integer(other_votes, "other_votes", 0, i - n_aborted)
    correct = np.arange(i - other_votes - n_aborted + 1)
    return (k - other_votes) // 2 - correct, n_aborted


# States that occur, by their level 2 r + t: ``(k - level) // 2`` votes are missing


def relative_weights(k, i, gamma, levels, n_aborted=0):
    """Compute the weights of states relative to the heaviest of them.

    Parameters
    ----------
    k, i, gamma, n_aborted
        As for `majority_weights`.
    levels : ndarray of int
        The level ``2 r + t`` of each state. States that no sample has must be left out:
        they would set the scale, and the others could underflow beside them.

    Returns
    -------
    weights : ndarray, dtype float64
        The heaviest state has weight 1. All are 0 if the game is decided in each.
    log_largest : float
        Logarithm of the weight of the heaviest state; ``-inf`` if all are decided.
    """
    return relative_to_largest(
        log_binomial_pmf((k - levels) // 2, k - i - 1, gamma, n_aborted)
    )


def relative_to_largest(logs):
    """Compute weights from their logarithms, as `relative_weights` returns them."""
    log_largest = float(logs.max(initial=-np.inf))
    if log_largest == -np.inf:
        return np.zeros(len(logs)), log_largest
    return np.exp(logs - log_largest), log_largest


def rounds_for_error(i, gamma, error, levels, shares):
    """Compute how long a game must last for an error, from its present states.

    The schedule of the remaining rounds may change at any time, its edge too: the
    average potential does not rise, from whichever states the game continues (Lemma
    2.2.2).

    Parameters
    ----------
    i : int
        Number of rounds played.
    gamma : float
        Edge that is assumed of the hypotheses to come.
    error : float
        The average potential must be below this, above 0 and below 1.
    levels, shares
        The level of each state, the coins of aborted rounds included, and the share
        of the samples in it.

    Returns
    -------
    k : int
        The least odd number of rounds, at least `i`, for which the average potential is
        below `error`; `i` itself if the present vote is good enough.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is out of range or more than 10**9 rounds are needed.
    """
    gamma, error = check_edge(gamma), float(check_real(error, "error"))
    if not 0 < error < 1:
        raise ValueError(
            f"error must be above 0 and below 1; got {error}. For no error on m "
            "samples use 1 / m."
        )

    def potentials(k):
        return binomial_cdf((k - levels) // 2, k - i, gamma)

    def search(low, at_low, high, at_high):
        # Along odd k the potential of a state rises, if at all, before it falls:
        # samples that are ahead may be overtaken. So between two k it is at least the
        # smaller of the two potentials. Where that average is too large, stop.
        if shares @ np.minimum(at_low, at_high) >= error:
            return None
        if shares @ at_low < error:
            return low
        if high - low == 2:
            return high if shares @ at_high < error else None
        middle = (low + high) // 4 * 2 + 1
        at_middle = potentials(middle)
        n_rounds = search(low, at_low, middle, at_middle)
        return n_rounds or search(middle, at_middle, high, at_high)

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


# Rounds for an edge, and the edge for a number of rounds


def min_rounds(gamma, error) -> int:
    """Compute the number of weak hypotheses that boost-by-majority needs for an error.

    Parameters
    ----------
    gamma : float
        Edge that is assumed of every hypothesis: its accuracy minus 1/2, above 0 and
        below 0.5.
    error : float
        The error of the vote must stay below this, above 0 and below 1. Below ``1 / m``
        the vote classifies all of m samples correctly.

    Returns
    -------
    k : int
        The least number for which the binomial probability that at most half of k votes
        are correct, each with probability ``1/2 + gamma``, is below `error`. Always
        odd.

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
    One more vote can do harm: an even number may be tied, which is a loss in the game.
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
    return rounds_for_error(0, gamma, error, np.zeros(1, dtype=np.int64), np.ones(1))


def max_gamma(k, error) -> float:
    """Compute the edge with which a number of rounds leaves exactly this error.

    Weak hypotheses must have at least this edge for a vote of k of them to have the
    error. A larger edge may be assumed only of better hypotheses.

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
        votes are correct, each with probability ``1/2 + gamma``, equals `error`.

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
            f"error must be above 0 and below 0.5; got {error}. A fair coin has the "
            "error 0.5."
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


# Checks


def check_game(k, i, gamma):
    """Check the number of rounds, the rounds played and the edge; return numbers."""
    k, i = check_odd(k), check_integer(i, "i", 0)
    if i > k:
        raise ValueError(
            f"i must be at most the number of rounds k={k}; got {i}. Play more rounds "
            "with a larger k."
        )
    return k, i, check_edge(gamma)


def check_odd(k, name="k"):
    """Check a number of votes that must not be tied."""
    k = check_integer(k, name, 1)
    if k % 2 == 0:
        raise ValueError(
            f"{name} must be odd, so that no vote is tied; got {k}, use {k + 1}."
        )
    return k


def odd_rounds(n_estimators):
    """Check a number of rounds; the next odd number stands for an even one."""
    n_rounds = check_integer(n_estimators, "n_estimators", 1)
    if n_rounds % 2 == 0:
        n_rounds += 1
        warn_user(
            f"A vote of n_estimators={n_estimators} hypotheses could be tied, so there "
            f"are {n_rounds}. Set an odd number to avoid this warning."
        )
    return n_rounds


def check_edge(gamma):
    """Check the edge of a weak hypothesis over a coin and return a float."""
    edge = float(check_real(gamma, "gamma"))
    if not 0 < edge < 0.5:
        raise ValueError(
            f"gamma must be above 0 and below 0.5; got {gamma}. It is the accuracy of "
            "a weak hypothesis minus 1/2."
        )
    return edge
