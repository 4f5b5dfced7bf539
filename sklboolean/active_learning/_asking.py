"""Asking for labels, from a pool or a stream, until there is a reason to stop."""

import numpy as np
from scipy import sparse

from sklboolean._core.validation import without_duplicates
from sklboolean.active_learning._parameters import label_budget
from sklboolean.active_learning._stream import next_row


def ask_pool(session, X, weights, candidates, source, options, report):
    """Ask for the labels of the best rows of a table.

    Parameters
    ----------
    session : Session
    X : ndarray or sparse array of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,)
    candidates : ndarray of shape (n_samples,), bool
        Rows that may be asked for.
    source : callable
        ``source(indices)`` gives their labels.
    options : dict
        ``first`` (indices of rows to begin with), ``batch_size``, ``budget``.
    report : callable
        Called after every batch.
    """
    session.n_seen += int(candidates.sum())
    left, first = np.flatnonzero(candidates), options["first"]
    twins = twins_of(X) if session.is_exact else np.arange(X.shape[0])
    pool = session.committee.place(X[left])
    while True:
        n = min(options["budget"] - session.n_queries, len(left))
        if n <= 0:
            session.stop_reason = "pool" if not len(left) else "max_queries"
            return
        if first is not None:
            rows, first = first[: int(n)], None
        else:
            wanted = max(session.n_missing, options["batch_size"])
            rows = left[session.choose(pool, int(min(n, wanted)))]
            if session.stop_reason:
                return
        session.add(X[rows], source(rows), weights[rows], rows.tolist())
        kept = np.flatnonzero(~np.isin(twins[left], twins[rows]))
        left, pool = left[kept], pool[kept]
        report()


def twins_of(X):
    """Return a number for each row, the same for equal rows.

    Without noise the label of a row is that of all its twins: none needs to be asked
    for, even where a posterior that is approximate has doubts left.
    """
    if sparse.issparse(X):
        rows = without_duplicates(sparse.csr_array(X))
        keys = [
            (rows.indices[a:b].tobytes(), rows.data[a:b].tobytes())
            for a, b in zip(rows.indptr, rows.indptr[1:], strict=False)
        ]
        numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        return np.array([numbers[key] for key in keys])
    return np.unique(X, axis=0, return_inverse=True)[1].ravel()


def ask_stream(session, X, weights, candidates, source, options, report):
    """Ask for the labels of rows on which two members differ, each row read once.

    Parameters are those of `ask_pool`, with ``offset``, the number of rows of the
    stream before X, among the options.
    """
    rows = np.flatnonzero(candidates)
    read = X if len(rows) == X.shape[0] else X[rows]
    coins = session.coins.random_sample((len(rows), 2))
    position = 0
    while not session.stop_reason:
        if session.n_queries >= options["budget"]:
            session.stop_reason = "max_queries"
            return
        found = next_row(session, read, coins, position)
        if found is None:
            return
        row, position = rows[found : found + 1], found + 1
        index = row + options["offset"]
        session.add(X[row], source(index), weights[row], index.tolist())
        report()


def asking_options(learner, candidates, offset=0):
    """Return how a table is asked about."""
    first = None if np.ndim(learner.initial) == 0 else np.asarray(learner.initial)
    if first is not None:
        outside = (first < 0) | (first >= len(candidates))
        if outside.any() or not candidates[first].all():
            raise ValueError(
                f"initial={first.tolist()} must be rows of X that can be asked for."
            )
        first = np.unique(first)
    return {
        "first": first, "offset": offset, "batch_size": learner.batch_size,
        "budget": label_budget(learner),
    }  # fmt: skip
