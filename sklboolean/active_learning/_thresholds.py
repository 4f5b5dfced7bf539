"""The version space of a threshold on one ordered feature: an interval, exactly."""

import numpy as np

from sklboolean._core.validation import check_integer, check_real
from sklboolean.active_learning._posterior import (
    check_answers,
    check_noise,
    empty_message,
)
from sklboolean.active_learning._votes import as_reals


class ThresholdVersionSpace:
    """The thresholds w that agree with all labels so far: ``x >= w`` is positive.

    All thresholds between the bounds are equally likely at first. With label noise
    their density has a step at every labelled value.

    Parameters
    ----------
    low : float, default=0.0
        Least threshold; values below it are negative.
    high : float, default=1.0
        Largest threshold; it and values above it are positive.
    eta : float, default=0.0
        Share of labels that are wrong, below 1/2. A threshold that errs m times has
        the density ``(eta / (1 - eta)) ** m`` up to a factor.

    Attributes
    ----------
    n_features : int
        Number of features of a row, 1.
    eta : float
        Share of labels that are wrong.

    Raises
    ------
    ValueError
        If ``low`` is not below ``high``, one is not finite, or ``eta`` is out of range.

    References
    ----------
    Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
    Learning. PhD thesis, University of California, Santa Cruz, section 3.3.

    Examples
    --------
    >>> from sklboolean.active_learning import ThresholdVersionSpace
    >>> space = ThresholdVersionSpace()
    >>> space.learn([[0.25], [0.75]], [False, True])
    >>> space.interval
    (0.25, 0.75)
    >>> space.acceptance([[0.5]])
    array([0.5])
    """

    def __init__(self, low=0.0, high=1.0, *, eta=0.0):
        low, high = check_real(low, "low"), check_real(high, "high")
        check_real(high - low, "high - low", 0, strict=True)
        self.n_features = 1
        self.eta = check_noise(eta)
        self._edges = np.array([low, high], dtype=np.float64)
        self._masses = np.diff(self._edges)
        self._positives = self._negatives = np.zeros(0)

    def learn(self, rows, positive):
        """Learn the labels of some rows, after all that were learned before.

        Parameters
        ----------
        rows : array-like of shape (n_samples, 1)
            Finite values.
        positive : array-like of shape (n_samples,)
            Whether each label is the one of large values.

        Raises
        ------
        ValueError
            For other shapes or values. What was learned before is kept.
        """
        values = _check_values(rows)
        positive = check_answers(positive, len(values))
        self._positives = np.sort(np.append(self._positives, values[positive]))
        self._negatives = np.sort(np.append(self._negatives, values[~positive]))
        low, high = self._edges[[0, -1]]
        inside = values[(values > low) & (values < high)]
        self._edges = np.unique(np.append(self._edges, inside))
        mistakes = self._mistakes()
        least = mistakes.min() if self.eta else 0
        weights = (self.eta / (1 - self.eta)) ** (mistakes - least)
        self._masses = weights * np.diff(self._edges)

    @property
    def is_empty(self):
        """Whether no threshold agrees with all labels; never with label noise."""
        return not self._masses.any()

    @property
    def interval(self):
        """The least and the largest threshold that is possible, as two floats."""
        self._check_not_empty()
        possible = np.flatnonzero(self._masses)
        return float(self._edges[possible[0]]), float(self._edges[possible[-1] + 1])

    def acceptance(self, rows):
        """Return the posterior probability that a random threshold accepts each row.

        Parameters
        ----------
        rows : array-like of shape (n_samples, 1)
            Finite values.

        Returns
        -------
        probabilities : ndarray of shape (n_samples,), dtype float64
            Exact up to rounding.

        Raises
        ------
        ValueError
            For other shapes or values, and if the version space is empty.
        """
        values = _check_values(rows)
        self._check_not_empty()
        cumulative = np.append(0, np.cumsum(self._masses))
        return np.interp(values, self._edges, cumulative / cumulative[-1])

    def accepts(self, rows, n_draws, random):
        """Return the answers of thresholds drawn from the posterior.

        Parameters
        ----------
        rows : array-like of shape (n_samples, 1)
            Finite values.
        n_draws : int
            How many thresholds, drawn independently of one another.
        random : numpy.random.RandomState
            Where the draws come from. The same state gives the same thresholds.

        Returns
        -------
        answers : ndarray of shape (n_draws, n_samples), dtype bool
            Whether each value reaches each threshold.

        Raises
        ------
        ValueError
            For other shapes or values, and if the version space is empty.
        """
        values = _check_values(rows)
        n_draws = check_integer(n_draws, "n_draws", 1, 2**40)
        self._check_not_empty()
        shares = self._masses / self._masses.sum()
        cell = random.choice(len(shares), size=n_draws, p=shares)
        first, last = self._edges[cell], self._edges[cell + 1]
        thresholds = last - (last - first) * random.random_sample(n_draws)
        # A cell is open on its left: its first edge may be a negative row.
        thresholds = np.maximum(thresholds, np.nextafter(first, np.inf))
        return values >= thresholds[:, None]

    def _mistakes(self):
        """Count the mistakes of the thresholds in each cell (edge, next edge]."""
        first, last = self._edges[:-1], self._edges[1:]
        n_negatives = len(self._negatives)
        refused = np.searchsorted(self._positives, first, side="right")
        accepted = n_negatives - np.searchsorted(self._negatives, last, side="left")
        return refused + accepted

    def _check_not_empty(self):
        if self.is_empty:
            raise ValueError(empty_message())


def _check_values(rows):
    rows = as_reals(rows, "rows")
    if rows.ndim != 2 or rows.shape[1] != 1:
        raise ValueError(f"rows must have shape (n_samples, 1); it has {rows.shape}.")
    if not np.isfinite(rows).all():
        raise ValueError("rows must be finite.")
    return rows[:, 0]
