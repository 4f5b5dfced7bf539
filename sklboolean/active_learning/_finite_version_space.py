"""Version spaces with an exact posterior: finite classes, and thresholds."""

# All hypotheses are listed, and each has its number of mistakes, int32. Without noise
# those with a mistake are dropped. With noise a hypothesis weighs (noise / (1 - noise))
# ** mistakes: hypotheses of one level weigh alike, so a probability is a sum over
# levels of counts of bits. Levels too light to change the last bit of a sum are left
# out.

from dataclasses import replace

import numpy as np
from sklearn.utils import check_random_state

from sklboolean._core.bits import (
    BitColumns,
    BitRows,
    count_common,
    pack_dense,
    unpack_words,
)
from sklboolean._core.finite_classes import AnswerTable, build_class
from sklboolean._core.parameters import check_binarize, check_integer, check_real
from sklboolean._core.validation import as_reals
from sklboolean.active_learning._version_space import (
    EMPTY_MESSAGE,
    VersionSpace,
    check_binary,
)

# Size of a block of predictions: a few MiB of words.
BLOCK_BITS = 2**24


class FiniteVersionSpace(VersionSpace):
    """Exact posterior over a finite class of hypotheses, given labels.

    The prior is uniform. Without label noise, the posterior is uniform over the
    hypotheses that agree with all labels. With label noise, a hypothesis with m
    mistakes has the weight ``(label_noise / (1 - label_noise)) ** m``.

    Parameters
    ----------
    hypotheses : {"conjunctions", "disjunctions", "k-disjunctions"}, list of \
callables, or ndarray of shape (n_hypotheses, n_points)
        The class. Callables get an array of samples as it is and return a bool for
        each of them, or one of ``classes``. An array contains the predictions of each
        hypothesis on a list of points; a sample is then the index of its point, as the
        only feature.
    n_features : int or None, default=None
        Number of features. None: that of the first data.
    max_literals : int or None, default=None
        Maximum number of literals of the formulas of a named class. None: no limit;
        "k-disjunctions" requires a limit.
    monotone : bool, default=False
        Use formulas without negations only.
    label_noise : float, default=0.0
        Probability that a label is wrong, in [0, 0.5). Set it above 0 if the labels
        may contain errors, or if no hypothesis may be perfect.
    binarize : float or None, default=0.0
        For named classes: values above this threshold are true. None: the data must
        be zeros and ones.
    classes : array-like of shape (2,) or None, default=None
        For callables that return labels: the negative and the positive label. None:
        they return bools.

    Attributes
    ----------
    n_hypotheses : int
        Number of hypotheses of the class.
    n_consistent : int
        Number of hypotheses that agree with all labels.
    is_empty : bool
        True if no hypothesis is left. Always False with label noise.

    See Also
    --------
    ThresholdVersionSpace : Thresholds on one feature.
    HalfspaceVersionSpace : Linear separators.

    References
    ----------
    Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
    Learning. PhD thesis, University of California, Santa Cruz, sections 3.2 and 3.7.

    Examples
    --------
    >>> from sklboolean.active_learning import FiniteVersionSpace
    >>> space = FiniteVersionSpace("conjunctions", monotone=True)
    >>> space = space.update([[1, 1, 0]], [True])
    >>> space.predict_proba([[1, 0, 0], [1, 1, 1], [0, 0, 0]])
    array([[0.5 , 0.5 ],
           [0.  , 1.  ],
           [0.75, 0.25]])
    >>> space.sample_predictions([[1, 0, 0], [1, 1, 1]], 3, random_state=0)
    array([[False,  True],
           [False,  True],
           [ True,  True]])
    """

    def __init__(
        self, hypotheses, n_features=None, *, max_literals=None, monotone=False,
        label_noise=0.0, binarize=0.0, classes=None,
    ):  # fmt: skip
        self.hypotheses = hypotheses
        self.n_features = n_features
        self.max_literals = max_literals
        self.monotone = monotone
        self.label_noise = label_noise
        self.binarize = binarize
        self.classes = classes

    def initialize(self, n_features=None) -> "FiniteVersionSpace":
        """Validate the parameters and set the posterior to the prior.

        ``update`` does this for the first data, unless it was done before.

        Parameters
        ----------
        n_features : int or None, default=None
            Number of features. None: the parameter ``n_features``.

        Returns
        -------
        self : object
            The version space, before any label.

        Raises
        ------
        ValueError
            For an unknown class, a class too large to be listed, an empty class, and
            parameters out of range.
        """
        width = self.n_features
        if width is None:
            width = 1 if isinstance(self.hypotheses, np.ndarray) else n_features
        if width is None:
            raise ValueError("n_features is unknown before the first data: set it.")
        self._n_features = check_integer(width, "n_features", 1)
        if n_features not in (None, width):
            raise ValueError(f"X has {n_features} features, but n_features={width}.")
        check_real(self.label_noise, "label_noise", 0, below=0.5)
        check_binarize(self.binarize)
        self._members = self._build_class()
        self._size = self._members.n_hypotheses
        self._mistakes, self._levels = np.zeros(self._size, dtype=np.int32), None
        return self

    def _build_class(self):
        hypotheses, n_features = self.hypotheses, self._n_features
        if not isinstance(hypotheses, np.ndarray):
            options = {"max_literals": self.max_literals, "monotone": self.monotone}
            members = build_class(hypotheses, n_features, **options)
            is_named = isinstance(hypotheses, str)
            return members if is_named else replace(members, classes=self.classes)
        are_bits = np.isin(hypotheses, (0, 1)).all()
        if hypotheses.ndim != 2 or not hypotheses.size or not are_bits:
            raise ValueError(
                "hypotheses must be a two-dimensional array of zeros and ones: one row "
                "per hypothesis and one column per point, at least one of each."
            )
        if n_features != 1:
            raise ValueError("n_features must be 1: the index of the point.")
        return AnswerTable.build(hypotheses.astype(bool))

    def update(self, X, y) -> "FiniteVersionSpace":
        """Condition the posterior on more labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples. Indices of points if ``hypotheses`` is an array.
        y : array-like of shape (n_samples,), bool
            Labels, True for positive.

        Returns
        -------
        self : object
            The updated version space.

        Raises
        ------
        ValueError
            For invalid parameters or data. The posterior is unchanged then.
        """
        X = self._check_X(X)
        y = check_binary(y, len(X))
        members, mistakes = self._members, self._mistakes.copy()
        for block in _blocks(len(X), members.n_hypotheses + self._n_features):
            if not members.n_hypotheses:
                break
            predictions = unpack_words(
                members.accepting(X[block]), members.n_hypotheses
            )
            mistakes += np.sum(predictions != y[block, None], axis=0, dtype=np.int32)
            if not self.label_noise and mistakes.any():
                # Without noise a mistake is final, and a shorter list is faster.
                consistent = np.flatnonzero(mistakes == 0)
                members, mistakes = members.take(consistent), mistakes[consistent]
        self._members, self._mistakes, self._levels = members, mistakes, None
        return self

    @property
    def n_hypotheses(self):
        """Number of hypotheses of the class."""
        return self._initialized()._size

    @property
    def n_consistent(self):
        """Number of hypotheses that agree with all labels."""
        return int(np.count_nonzero(self._initialized()._mistakes == 0))

    @property
    def is_empty(self):
        """True if no hypothesis is left; always False with label noise."""
        return hasattr(self, "_mistakes") and not len(self._mistakes)

    def _positive_probability(self, X):
        X = self._check_X(X)
        levels, sizes, weights, _order = self._posterior_levels()
        probabilities, total = np.empty(len(X)), sizes @ weights
        n_hypotheses = self._members.n_hypotheses
        for block in _blocks(len(X), n_hypotheses + self._n_features):
            sets = self._members.accepting(X[block])
            counts = count_common(BitRows.from_words(sets, n_hypotheses), levels)
            probabilities[block] = counts @ weights / total
        return probabilities

    def sample_predictions(self, X, n_draws, random_state=None) -> np.ndarray:
        """Predict by hypotheses drawn independently from the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, as for ``update``.
        n_draws : int
            Number of hypotheses to draw.
        random_state : int, RandomState instance or None, default=None
            Draws the hypotheses. Pass an int for reproducible results.

        Returns
        -------
        predictions : ndarray of shape (n_draws, n_samples), dtype bool
            Prediction of each hypothesis for each sample.

        Raises
        ------
        ValueError
            For invalid parameters or samples, and if the version space is empty.
        """
        X = self._check_X(X)
        _levels, sizes, weights, order = self._posterior_levels()
        n_draws = check_integer(n_draws, "n_draws", 1, 2**40)
        rng = check_random_state(random_state)
        shares = sizes * weights / (sizes @ weights)
        level = rng.choice(len(shares), size=n_draws, p=shares)
        # Hypotheses of one level are equally likely, and adjacent in the order.
        first = np.cumsum(sizes) - sizes
        drawn = order[first[level] + rng.randint(sizes[level])]
        hypotheses, copies = np.unique(drawn, return_inverse=True)
        few = self._members.take(hypotheses)
        predictions = np.empty((n_draws, len(X)), dtype=bool)
        for block in _blocks(len(X), len(hypotheses) + self._n_features):
            answers = unpack_words(few.accepting(X[block]), len(hypotheses))
            predictions[:, block] = answers.T[copies]
        return predictions

    def _initialized(self):
        return self if hasattr(self, "_mistakes") else self.initialize()

    def _check_X(self, X):
        X = np.asarray(X)
        if not hasattr(self, "_mistakes"):
            self.initialize(X.shape[1] if X.ndim == 2 else None)
        if X.ndim != 2 or X.shape[1] != self._n_features:
            raise ValueError(
                f"X must have shape (n_samples, {self._n_features}); its shape is "
                f"{X.shape}."
            )
        if isinstance(self._members, AnswerTable):
            n_points = len(self._members.sets)
            if X.dtype.kind not in "iu" or np.any((X < 0) | (X >= n_points)):
                raise ValueError(f"X must contain indices of the {n_points} points.")
            return X
        if not isinstance(self.hypotheses, str):
            return X
        if X.dtype.kind not in "biuf" or not np.isfinite(X).all():
            raise ValueError("X must contain finite numbers only.")
        if self.binarize is None and not np.isin(X, (0, 1)).all():
            raise ValueError("X must contain zeros and ones only; or set binarize.")
        return X > (self.binarize or 0.0)

    def _posterior_levels(self):
        """Group the hypotheses by their number of mistakes.

        Returns
        -------
        levels : BitColumns of n_levels sets of hypotheses
        sizes : ndarray of shape (n_levels,), int64
        weights : ndarray of shape (n_levels,)
            Weight of each hypothesis of a level; the first is 1.
        order : ndarray of shape (n_hypotheses,), intp
            The hypotheses, level by level.
        """
        if self.is_empty:
            raise ValueError(EMPTY_MESSAGE)
        if self._levels is None:
            counts, sizes = np.unique(self._mistakes, return_counts=True)
            noise = self.label_noise
            weights = (noise / (1 - noise)) ** (counts - counts[0])
            # Together, the other levels cannot change the last bit of a probability.
            matters = sizes * weights >= 2.0**-64 * (sizes @ weights)
            sets = [self._mistakes == count for count in counts[matters]]
            packed = BitRows.from_words(pack_dense(np.array(sets)), len(sets[0]))
            order = np.argsort(self._mistakes, kind="stable")
            levels = BitColumns.from_rows(packed)
            self._levels = levels, sizes[matters], weights[matters], order
        return self._levels

    def __getstate__(self):
        """Leave out the levels, which are computed again when they are needed."""
        state = super().__getstate__()
        return state | {"_levels": None} if "_levels" in state else state


def _blocks(n_samples, bits_per_sample):
    step = max(1, BLOCK_BITS // bits_per_sample)
    for first in range(0, n_samples, step):
        yield slice(first, first + step)


class ThresholdVersionSpace(VersionSpace):
    """Exact posterior over thresholds w on one feature: ``x >= w`` is positive.

    The prior is uniform between the bounds. With label noise, the density of a
    threshold with m mistakes is proportional to
    ``(label_noise / (1 - label_noise)) ** m``: a step function with a step at every
    labelled value.

    Parameters
    ----------
    low : float, default=0.0
        Smallest threshold. Values below it are negative, and their labels are never
        queried. Set both bounds to the range of the feature.
    high : float, default=1.0
        Largest threshold. It and values above it are positive.
    label_noise : float, default=0.0
        Probability that a label is wrong, in [0, 0.5).

    Attributes
    ----------
    interval : tuple of two floats
        The smallest and the largest threshold that is possible.
    is_empty : bool
        True if no threshold agrees with all labels. Always False with label noise.

    See Also
    --------
    FiniteVersionSpace : Finite classes of hypotheses.

    References
    ----------
    Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
    Learning. PhD thesis, University of California, Santa Cruz, section 3.3.

    Examples
    --------
    >>> from sklboolean.active_learning import ThresholdVersionSpace
    >>> space = ThresholdVersionSpace().update([[0.25], [0.75]], [False, True])
    >>> space.interval
    (0.25, 0.75)
    >>> space.predict_proba([[0.5], [0.625]])
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """

    def __init__(self, low=0.0, high=1.0, *, label_noise=0.0):
        self.low = low
        self.high = high
        self.label_noise = label_noise

    def initialize(self, n_features=1) -> "ThresholdVersionSpace":
        """Validate the parameters and set the posterior to the prior.

        ``update`` does this for the first data, unless it was done before.

        Parameters
        ----------
        n_features : int, default=1
            Number of features. It must be 1.

        Returns
        -------
        self : object
            The version space, before any label.

        Raises
        ------
        ValueError
            If ``low`` is not below ``high``, if one of them is not finite, if
            ``label_noise`` is out of range, and for more than one feature.
        """
        if n_features != 1:
            raise ValueError(
                f"Thresholds need one feature, whose order decides; X has {n_features}."
            )
        low, high = check_real(self.low, "low"), check_real(self.high, "high")
        check_real(high - low, "high - low", 0, strict=True)
        check_real(self.label_noise, "label_noise", 0, below=0.5)
        self._edges = np.array([low, high], dtype=np.float64)
        self._masses = np.diff(self._edges)
        self._positives = self._negatives = np.zeros(0)
        return self

    def update(self, X, y) -> "ThresholdVersionSpace":
        """Condition the posterior on more labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, 1)
            Finite values.
        y : array-like of shape (n_samples,), bool
            Labels, True for positive: for large values.

        Returns
        -------
        self : object
            The updated version space.

        Raises
        ------
        ValueError
            For invalid parameters or data. The posterior is unchanged then.
        """
        values = self._check_X(X)
        y = check_binary(y, len(values))
        self._positives = np.sort(np.append(self._positives, values[y]))
        self._negatives = np.sort(np.append(self._negatives, values[~y]))
        low, high = self._edges[[0, -1]]
        inside = values[(values > low) & (values < high)]
        self._edges = np.unique(np.append(self._edges, inside))
        mistakes, noise = self._mistakes(), self.label_noise
        fewest = mistakes.min() if noise else 0
        weights = (noise / (1 - noise)) ** (mistakes - fewest)
        self._masses = weights * np.diff(self._edges)
        return self

    @property
    def is_empty(self):
        """True if no threshold agrees with all labels; never with label noise."""
        return hasattr(self, "_masses") and not self._masses.any()

    @property
    def interval(self):
        """The smallest and the largest threshold that is possible."""
        if not hasattr(self, "_masses"):
            self.initialize()
        self._check_not_empty()
        possible = np.flatnonzero(self._masses)
        return float(self._edges[possible[0]]), float(self._edges[possible[-1] + 1])

    def _positive_probability(self, X):
        values = self._check_X(X)
        self._check_not_empty()
        cumulative = np.append(0, np.cumsum(self._masses))
        return np.interp(values, self._edges, cumulative / cumulative[-1])

    def sample_predictions(self, X, n_draws, random_state=None) -> np.ndarray:
        """Predict by thresholds drawn independently from the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, 1)
            Finite values.
        n_draws : int
            Number of thresholds to draw.
        random_state : int, RandomState instance or None, default=None
            Draws the thresholds. Pass an int for reproducible results.

        Returns
        -------
        predictions : ndarray of shape (n_draws, n_samples), dtype bool
            True where a value reaches a threshold.

        Raises
        ------
        ValueError
            For invalid parameters or samples, and if the version space is empty.
        """
        values = self._check_X(X)
        n_draws = check_integer(n_draws, "n_draws", 1, 2**40)
        self._check_not_empty()
        rng = check_random_state(random_state)
        shares = self._masses / self._masses.sum()
        cell = rng.choice(len(shares), size=n_draws, p=shares)
        first, last = self._edges[cell], self._edges[cell + 1]
        thresholds = last - (last - first) * rng.random_sample(n_draws)
        # A cell is open on the left: its first edge may be a negative sample.
        thresholds = np.maximum(thresholds, np.nextafter(first, np.inf))
        return values >= thresholds[:, None]

    def _mistakes(self):
        """Count the mistakes of the thresholds in each cell (edge, next edge]."""
        first, last = self._edges[:-1], self._edges[1:]
        n_negatives = len(self._negatives)
        false_negatives = np.searchsorted(self._positives, first, side="right")
        true_negatives = np.searchsorted(self._negatives, last, side="left")
        return false_negatives + n_negatives - true_negatives

    def _check_not_empty(self):
        if self.is_empty:
            raise ValueError(EMPTY_MESSAGE)

    def _check_X(self, X):
        X = as_reals(X, "X")
        if not hasattr(self, "_masses"):
            self.initialize()
        if X.ndim != 2 or X.shape[1] != 1:
            raise ValueError(
                f"X must have shape (n_samples, 1); its shape is {X.shape}."
            )
        if not np.isfinite(X).all():
            raise ValueError("X must be finite.")
        return X[:, 0]
