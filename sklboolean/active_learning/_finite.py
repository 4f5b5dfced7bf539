"""Version spaces of finite classes: exact posteriors, a bit for each hypothesis."""

import numpy as np

from sklboolean._core.bits import (
    BitColumns,
    BitRows,
    count_common,
    pack_dense,
    unpack_words,
)
from sklboolean._core.finite_classes import AnswerTable, build_class
from sklboolean._core.validation import check_integer
from sklboolean.active_learning._posterior import (
    check_answers,
    check_noise,
    empty_message,
)
from sklboolean.active_learning._thresholds import ThresholdVersionSpace

# Answers of hypotheses to a block of rows: a few MiB of words.
BLOCK_BITS = 2**24


class FiniteVersionSpace:
    """The hypotheses of a finite class that agree with all labels so far.

    All are equally likely at first. With label noise each hypothesis keeps a weight.

    Parameters
    ----------
    hypotheses : {"conjunctions", "disjunctions", "k-disjunctions"}, list of \
callables, or ndarray of shape (n_hypotheses, n_points)
        The class, as for ``HalvingClassifier``; or the answers of each hypothesis on a
        list of points, and then a row is the index of its point, as the only feature.
    n_features : int, default=1
        Number of features of a row.
    max_literals : int or None, default=None
        Longest formulas of a named class; "k-disjunctions" needs it.
    monotone : bool, default=False
        Whether formulas are made of the features only, not of their negations.
    eta : float, default=0.0
        Share of labels that are wrong, below 1/2. A hypothesis that errs m times has
        the weight ``(eta / (1 - eta)) ** m``.

    Attributes
    ----------
    n_hypotheses : int
        Size of the class.
    n_features : int
        Number of features of a row.
    eta : float
        Share of labels that are wrong.

    Raises
    ------
    ValueError
        For an unknown class, one too large to be listed, an empty one, and ``eta`` out
        of range.

    See Also
    --------
    build_finite_space : Thresholds too.

    References
    ----------
    Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
    Learning. PhD thesis, University of California, Santa Cruz, sections 3.2 and 3.7.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.active_learning import FiniteVersionSpace
    >>> space = FiniteVersionSpace("conjunctions", 3, monotone=True)
    >>> space.learn([[1, 1, 0]], [True])
    >>> space.acceptance([[1, 0, 0], [1, 1, 1], [0, 0, 0]])
    array([0.5 , 1.  , 0.25])
    >>> space.accepts([[1, 0, 0], [1, 1, 1]], 3, np.random.RandomState(0))
    array([[False,  True],
           [False,  True],
           [ True,  True]])
    """

    def __init__(
        self, hypotheses, n_features=1, *, max_literals=None, monotone=False, eta=0.0
    ):
        self.n_features = check_integer(n_features, "n_features", 1)
        self.eta = check_noise(eta)
        if isinstance(hypotheses, np.ndarray):
            self._class = _answer_table(hypotheses, self.n_features)
        else:
            self._class = build_class(
                hypotheses,
                self.n_features,
                max_literals=max_literals,
                monotone=monotone,
            )
        self.n_hypotheses = self._class.n_hypotheses
        self._mistakes = np.zeros(self.n_hypotheses, dtype=np.int32)
        self._posterior = None

    def learn(self, rows, positive):
        """Learn the labels of some rows, after all that were learned before.

        Parameters
        ----------
        rows : array-like of shape (n_samples, n_features)
            Zeros and ones; indices of points for a class of answers.
        positive : array-like of shape (n_samples,)
            Whether each label is the one that hypotheses accept.

        Raises
        ------
        ValueError
            For other shapes or values. What was learned before is kept.
        """
        rows = self._check_rows(rows)
        positive = check_answers(positive, len(rows))
        left, mistakes = self._class, self._mistakes.copy()
        for block in _blocks(len(rows), left.n_hypotheses + self.n_features):
            if not left.n_hypotheses:
                break
            answers = unpack_words(left.accepting(rows[block]), left.n_hypotheses)
            mistakes += np.sum(answers != positive[block, None], axis=0, dtype=np.int32)
            if not self.eta and mistakes.any():
                # Without noise an error is final, and a shorter list is faster.
                right = np.flatnonzero(mistakes == 0)
                left, mistakes = left.take(right), mistakes[right]
        self._class, self._mistakes, self._posterior = left, mistakes, None

    @property
    def is_empty(self):
        """Whether no hypothesis agrees with all labels; never with label noise."""
        return not len(self._mistakes)

    @property
    def n_consistent(self):
        """How many hypotheses agree with all labels."""
        return int(np.count_nonzero(self._mistakes == 0))

    def acceptance(self, rows):
        """Return the posterior probability that a random hypothesis accepts each row.

        Parameters
        ----------
        rows : array-like of shape (n_samples, n_features)
            As for ``learn``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples,), dtype float64
            Exact up to rounding.

        Raises
        ------
        ValueError
            For other shapes or values, and if the version space is empty.
        """
        rows = self._check_rows(rows)
        levels, sizes, weights, _members = self._levels()
        probabilities = np.empty(len(rows))
        total = sizes @ weights
        n_hypotheses = self._class.n_hypotheses
        for block in _blocks(len(rows), n_hypotheses + self.n_features):
            sets = self._class.accepting(rows[block])
            counts = count_common(BitRows.from_words(sets, n_hypotheses), levels)
            probabilities[block] = counts @ weights / total
        return np.minimum(probabilities, 1)

    def accepts(self, rows, n_draws, random):
        """Return the answers of hypotheses drawn from the posterior.

        Parameters
        ----------
        rows : array-like of shape (n_samples, n_features)
            As for ``learn``.
        n_draws : int
            How many hypotheses, drawn independently of one another.
        random : numpy.random.RandomState
            Where the draws come from. The same state gives the same hypotheses.

        Returns
        -------
        answers : ndarray of shape (n_draws, n_samples), dtype bool
            Whether each hypothesis accepts each row.

        Raises
        ------
        ValueError
            For other shapes or values, and if the version space is empty.
        """
        rows = self._check_rows(rows)
        _levels, sizes, weights, members = self._levels()
        n_draws = check_integer(n_draws, "n_draws", 1, 2**40)
        shares = sizes * weights / (sizes @ weights)
        level = random.choice(len(shares), size=n_draws, p=shares)
        # Members of a level are equally likely; levels are listed one after another.
        first = np.cumsum(sizes) - sizes
        drawn = members[first[level] + random.randint(sizes[level])]
        hypotheses, copies = np.unique(drawn, return_inverse=True)
        few = self._class.take(hypotheses)
        answers = np.empty((n_draws, len(rows)), dtype=bool)
        for block in _blocks(len(rows), len(hypotheses) + self.n_features):
            said = unpack_words(few.accepting(rows[block]), len(hypotheses))
            answers[:, block] = said.T[copies]
        return answers

    def _check_rows(self, rows):
        rows = np.asarray(rows)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(
                f"rows must have shape (n_samples, {self.n_features}); it has "
                f"{rows.shape}."
            )
        if isinstance(self._class, AnswerTable):
            n_points = len(self._class.sets)
            if rows.dtype.kind not in "iu" or np.any((rows < 0) | (rows >= n_points)):
                raise ValueError(f"rows must be indices of the {n_points} points.")
        elif rows.dtype.kind not in "biuf" or not np.isin(rows, (0, 1)).all():
            raise ValueError("rows must hold zeros and ones only.")
        return rows

    def _levels(self):
        """Return the hypotheses by their number of mistakes, with their weights.

        Returns
        -------
        levels : BitColumns of n_levels sets of hypotheses
        sizes : ndarray of shape (n_levels,), int64
        weights : ndarray of shape (n_levels,)
            Of each hypothesis of a level; the first is 1.
        members : ndarray of shape (n_hypotheses,), intp
            The hypotheses, level by level.
        """
        if self.is_empty:
            raise ValueError(empty_message())
        if self._posterior is None:
            counts, sizes = np.unique(self._mistakes, return_counts=True)
            weights = (self.eta / (1 - self.eta)) ** (counts - counts[0])
            # Levels that together cannot move the last bit of a probability.
            kept = sizes * weights >= 2.0**-64 * (sizes @ weights)
            sets = [self._mistakes == count for count in counts[kept]]
            packed = BitRows.from_words(pack_dense(np.array(sets)), len(sets[0]))
            members = np.argsort(self._mistakes, kind="stable")
            levels = BitColumns.from_rows(packed)
            self._posterior = levels, sizes[kept], weights[kept], members
        return self._posterior

    def __getstate__(self):
        """Return what is to be kept: the rest is computed again."""
        return vars(self) | {"_posterior": None}


def build_finite_space(
    hypotheses, n_features, *, max_literals=None, monotone=False, eta=0.0,
    bounds=(0.0, 1.0),
):  # fmt: skip
    """Build the version space of a class, before any label.

    Parameters
    ----------
    hypotheses : {"conjunctions", "disjunctions", "k-disjunctions", "thresholds"}, \
list of callables, or ndarray of shape (n_hypotheses, n_points)
        The class: thresholds on one ordered feature, or what
        :class:`FiniteVersionSpace` takes.
    n_features : int
        Number of features of a row.
    max_literals : int or None, default=None
        Longest formulas of a named class; "k-disjunctions" needs it.
    monotone : bool, default=False
        Whether formulas are made of the features only, not of their negations.
    eta : float, default=0.0
        Share of labels that are wrong, below 1/2.
    bounds : tuple of two floats, default=(0.0, 1.0)
        Between which the threshold lies.

    Returns
    -------
    space : FiniteVersionSpace or ThresholdVersionSpace
        Both have ``learn``, ``acceptance``, ``accepts`` and ``is_empty``.

    Raises
    ------
    ValueError
        For an unknown class, one too large to be listed, and parameters out of range.

    Examples
    --------
    >>> from sklboolean.active_learning import build_finite_space
    >>> space = build_finite_space("thresholds", 1)
    >>> space.learn([[0.2], [0.6]], [False, True])
    >>> space.acceptance([[0.1], [0.3], [0.9]])
    array([0.  , 0.25, 1.  ])
    """
    if isinstance(hypotheses, str) and hypotheses == "thresholds":
        if n_features != 1:
            raise ValueError(
                "hypotheses='thresholds' needs one feature, whose order decides; "
                f"there are {n_features}."
            )
        return ThresholdVersionSpace(*bounds, eta=eta)
    return FiniteVersionSpace(
        hypotheses, n_features, max_literals=max_literals, monotone=monotone, eta=eta
    )


def _answer_table(answers, n_features):
    if answers.ndim != 2 or not answers.size or not np.isin(answers, (0, 1)).all():
        raise ValueError(
            "hypotheses must hold zeros and ones, a row for each hypothesis and a "
            "column for each point, at least one of each."
        )
    if n_features != 1:
        raise ValueError("n_features must be 1: the index of the point.")
    return AnswerTable.build(answers.astype(bool))


def _blocks(n_samples, bits_per_row):
    step = max(1, BLOCK_BITS // bits_per_row)
    for first in range(0, n_samples, step):
        yield slice(first, first + step)
