"""How many of the votes left are right: binomial probabilities, for any number of them.

A vote is right with probability 1/2 + gamma. Fair coins may be counted in too: they
stand for rounds without a hypothesis.
"""

import numpy as np
from scipy.special import betaincc, gammaln, logsumexp


def at_most(counts, n_votes, gamma):
    """Return the probability that at most so many votes are right, for each count."""
    inside = (counts >= 0) & (counts < n_votes)
    probabilities = (counts >= n_votes).astype(np.float64)
    right = counts[inside]
    # The same as betainc of 1/2 - gamma, but that one loses all digits below 1e-250.
    probabilities[inside] = betaincc(right + 1, n_votes - right, 0.5 + gamma)
    return probabilities


def log_at_most(counts, n_votes, gamma, n_coins=0):
    """Return the same in logarithms, which do not underflow, with coins counted in."""
    n_all = n_votes + n_coins
    # Sums from the small end, each relative to the next.
    logs = log_exactly(np.arange(n_all + 1), n_votes, gamma, n_coins)
    logs = np.minimum(np.logaddexp.accumulate(logs), 0.0)
    logs[-1] = 0.0
    return np.append(logs, -np.inf)[np.clip(counts, -1, n_all)]


def log_exactly(counts, n_votes, gamma, n_coins=0):
    """Return the log-probability that just so many votes and coins are right."""
    if n_coins == 0:
        return _log_binomial(counts, n_votes, gamma)
    if counts.size * n_coins < n_votes:  # few states of a long game: coin by coin
        heads = np.arange(n_coins + 1)
        rest = _log_binomial(np.subtract.outer(counts, heads), n_votes, gamma)
        return logsumexp(rest + _log_binomial(heads, n_coins, 0.0), axis=-1)
    logs = np.append(_log_with_coins(n_votes, gamma, n_coins), -np.inf)
    possible = (counts >= 0) & (counts <= n_votes + n_coins)
    return logs[np.where(possible, counts, -1)]


def _log_binomial(counts, n_votes, gamma):
    logs = np.full(counts.shape, -np.inf)
    possible = (counts >= 0) & (counts <= n_votes)
    right = counts[possible].astype(np.float64)
    wrong = n_votes - right
    logs[possible] = (
        gammaln(n_votes + 1) - gammaln(right + 1) - gammaln(wrong + 1)
        + right * np.log1p(2 * gamma) + wrong * np.log1p(-2 * gamma)
        - n_votes * np.log(2)
    )  # fmt: skip
    return logs


def _log_with_coins(n_votes, gamma, n_coins):
    """Return the logarithms for all counts from 0 to n_votes + n_coins.

    The generating function ``f(z) = (1 + z)**n_coins * (1 + odds * z)**n_votes`` solves
    a linear differential equation of first order, ``(1 + z) (1 + odds z) f'(z) =
    (n_coins (1 + odds z) + n_votes odds (1 + z)) f(z)``, so that each coefficient comes
    from the two before it. Up to `turn` both terms are positive and no digit is lost.
    Counted from the other end, where the odds are inverted, so are those of the rest.
    """
    turn = int(n_coins * (0.5 - gamma) + n_votes * (0.5 + gamma))
    rising = _log_coefficients(n_votes, gamma, n_coins, turn + 1)
    falling = _log_coefficients(n_votes, -gamma, n_coins, n_votes + n_coins - turn)
    return np.concatenate([rising, falling[::-1]])


def _log_coefficients(n_votes, gamma, n_coins, n_terms):
    """Return the first terms of the recursion, scaled to probabilities."""
    odds = (0.5 + gamma) / (0.5 - gamma)
    ratios = np.ones(n_terms)  # of each coefficient to the one before
    ratio = n_coins + n_votes * odds
    for s in range(1, n_terms):
        ratios[s] = ratio
        same = n_coins + n_votes * odds - (1 + odds) * s
        ratio = (same + odds * (n_coins + n_votes - s + 1) / ratio) / (s + 1)
    logs = np.cumsum(np.log(ratios))
    return logs + n_votes * np.log(0.5 - gamma) - n_coins * np.log(2)
