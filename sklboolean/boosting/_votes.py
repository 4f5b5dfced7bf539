"""One vote for each hypothesis, and the margins that an ensemble publishes."""

import numpy as np


def add_votes(votes, codes):
    """Give one vote to a class for each row, in place.

    Parameters
    ----------
    votes : ndarray of shape (n_samples, n_classes), int
    codes : ndarray of shape (n_samples,), int
        The class that the hypothesis predicts.
    """
    votes[np.arange(len(codes)), codes] += 1


def vote_margins(votes):
    """Return what an ensemble publishes as scores, from -1 to 1.

    Parameters
    ----------
    votes : ndarray of shape (n_samples, n_classes), int
        The same number of votes in each row.

    Returns
    -------
    margins : ndarray of shape (n_samples,) or (n_samples, n_classes), float64
        Two classes: share of votes for the second less share for the first; an even
        vote, which is one for the second, is given as the smallest float above 0.
        More: share for each class less share against it.
    """
    n_votes = max(1, int(votes[0].sum()))
    if votes.shape[1] > 2:
        return 2 * votes / n_votes - 1
    margins = (votes[:, 1] - votes[:, 0]) / n_votes
    return np.where(margins == 0, np.nextafter(0.0, 1.0), margins)
