"""The filter of two members on a stream: rows they differ on, and when to stop."""

import numpy as np

# Rows that are looked at ahead of the next query, at least and at most.
SHORTEST_BLOCK, LONGEST_BLOCK = 8, 1024


def rejections_allowed(n_queries, epsilon, delta):
    """Return t_n of Figure 3.2: more consecutive rejections end the learning.

    Parameters
    ----------
    n_queries : int
        Labels asked for so far.
    epsilon : float or None
        Error to be reached; None: no end.
    delta : float
        Probability of failure allowed.

    Returns
    -------
    limit : float
    """
    if epsilon is None:
        return np.inf
    return np.log(np.pi**2 * (n_queries + 1) ** 2 / (3 * delta)) / epsilon


def next_row(session, X, coins, first):
    """Read rows until the members differ on one, or until enough were rejected.

    Parameters
    ----------
    session : Session
        Counts what is read and rejected; ``stop_reason`` is set at the end.
    X : ndarray or sparse array of shape (n_samples, n_features)
    coins : ndarray of shape (n_samples, 2)
        Two for each row, whatever becomes of it: how a stream is cut into tables
        makes no difference.
    first : int
        Row to begin with.

    Returns
    -------
    row : int or None
        The row to ask for; None at the end of X or of the learning.
    """
    n_samples = X.shape[0]
    if first < n_samples and session.n_missing:
        session.n_seen += 1
        return first
    length = SHORTEST_BLOCK
    while first < n_samples:
        # More than t_n rejections in a row: the next one of these is the last.
        room = np.floor(session.rejections_allowed()) + 1 - session.n_rejected
        block = slice(first, int(min(first + length, first + room, n_samples)))
        opinions = session.committee.opinions(X[block], session.classes)
        found = np.flatnonzero(opinions.differ(coins[block]))
        n_rejected = int(found[0]) if len(found) else block.stop - first
        session.n_seen += n_rejected + bool(len(found))
        session.n_rejected += n_rejected
        if len(found):
            session.n_rejected = 0
            return first + n_rejected
        if session.n_rejected > session.rejections_allowed():
            session.stop_reason = "t_n"
            return None
        first, length = block.stop, min(2 * length, LONGEST_BLOCK)
    return None
