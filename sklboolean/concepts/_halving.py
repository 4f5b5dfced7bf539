"""Halving: the majority vote of all hypotheses that have not erred yet."""

import warnings

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import DecisionClassifierMixin, restore_on_error
from sklboolean._core.bits import unpack_words
from sklboolean._core.finite_classes import (
    FunctionClass,
    MistakeCounts,
    build_class,
    full_set,
    size_of,
)
from sklboolean._core.formulas import feature_names_of, formula_text
from sklboolean._core.validation import (
    check_integer,
    check_same_params,
    known_classes,
    remember_params,
    validate_boolean,
)
from sklboolean.concepts._concepts import ConceptLearner, read_examples, value_blocks

KIND = ("hypotheses", "max_literals", "monotone", "binarize")  # of the class


def count_votes(sets, consistent, counts):
    """Return the vote of each set of accepting hypotheses, from -1 to 1.

    Parameters
    ----------
    sets : ndarray of shape (n_samples, n_words), uint64
    consistent : ndarray of shape (1, n_words), uint64
        Hypotheses without a mistake.
    counts : ndarray of shape (n_hypotheses,), int, or None
        Mistakes of each hypothesis, when none is consistent.
    """
    if counts is None:
        return 2 * size_of(sets & consistent) / size_of(consistent) - 1
    weights = np.exp2((counts.min() - counts).astype(np.float64))
    return 2 * (unpack_words(sets, len(weights)) @ weights) / weights.sum() - 1


class HalvingClassifier(DecisionClassifierMixin, ConceptLearner):
    """Predict by majority vote of all hypotheses of a finite class that are consistent.

    Each mistake rules out at least half of the hypotheses that are left, so there are
    at most ``lg |H|`` mistakes. The class is listed, a bit for each hypothesis, which
    suits a dozen features, or many when hypotheses are short.

    Parameters
    ----------
    hypotheses : {"conjunctions", "disjunctions", "k-disjunctions"} or list of \
callables, default="conjunctions"
        The class. "k-disjunctions" needs ``max_literals``. Callables take a bool array
        of shape (n_samples, n_features) and return a bool for each row.
    max_literals : int or None, default=None
        Longest formulas of the class. None: as long as there are features.
    monotone : bool, default=False
        Whether literals are the features only, not their negations.
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; hypotheses stand for the second.
    n_hypotheses_ : int
        Size of the class, ``|H|``.
    mistake_bound_ : int
        ``lg |H|`` rounded down; holds as long as a hypothesis is consistent.
    n_consistent_ : int
        Hypotheses without a mistake.
    n_mistakes_ : int
        Mistakes of the vote when every row is predicted before it is learned, in order.
    collapsed_ : bool
        Whether no hypothesis is left. The vote then weighs each hypothesis by
        ``2 ** -mistakes`` (weighted majority).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    Warns
    -----
    UserWarning
        If no hypothesis of the class is left.

    See Also
    --------
    ConjunctionClassifier : One conjunction for any number of features.
    sklboolean.theory.halving_mistake_bound : The bound for a class of any size.

    References
    ----------
    Littlestone. "Learning Quickly When Irrelevant Attributes Abound". Machine
    Learning 2, 1988, section 3.

    Littlestone, Warmuth. "The Weighted Majority Algorithm". Information and
    Computation 108, 1994.

    Examples
    --------
    >>> from sklboolean import HalvingClassifier
    >>> X = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0]]
    >>> learner = HalvingClassifier().fit(X, [True, True, False, False])
    >>> learner.n_hypotheses_, learner.n_consistent_, learner.mistake_bound_
    (27, 1, 4)
    >>> learner.consistent_formulas()
    ['x0 and not x2']
    """

    def __init__(
        self, hypotheses="conjunctions", *, max_literals=None, monotone=False,
        binarize=0.0,
    ):  # fmt: skip
        self.hypotheses = hypotheses
        self.max_literals = max_literals
        self.monotone = monotone
        self.binarize = binarize

    def fit(self, X, y):
        """Learn from rows and their labels, in order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels of two classes.

        Returns
        -------
        self : object
            The fitted learner.

        Raises
        ------
        ValueError
            For bad parameters and data, and for a class too large to be listed. What
            was learned before is kept.
        """
        with restore_on_error(self):
            table, positive = read_examples(self, X, y)
            self._begin()
            self._learn(table, positive)
        return self

    def partial_fit(self, X, y, classes=None):
        """Learn from more rows, in order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels among ``classes``.
        classes : array-like of shape (2,), default=None
            Both labels; needed in the first call.

        Returns
        -------
        self : object
            The fitted learner. As for ``fit``, errors leave it as it was.
        """
        with restore_on_error(self):
            resume = hasattr(self, "classes_")
            if resume:
                check_same_params(self, KIND)
            known = known_classes(self, classes)
            table, positive = read_examples(self, X, y, known, reset=not resume)
            if not resume:
                self._begin()
            self._learn(table, positive)
        return self

    def _begin(self):
        self._class = build_class(
            self.hypotheses,
            self.n_features_in_,
            max_literals=self.max_literals,
            monotone=self.monotone,
        )
        self.n_hypotheses_ = self._class.n_hypotheses
        self.mistake_bound_ = self.n_hypotheses_.bit_length() - 1
        self._mistakes = MistakeCounts.zero(self.n_hypotheses_)
        remember_params(self, KIND)
        self.n_mistakes_, self.collapsed_ = 0, False

    def _learn(self, table, positive):
        mistakes = self._mistakes.copy()
        consistent, everyone = mistakes.consistent(), full_set(self.n_hypotheses_)[0]
        counts = None
        for rows, sets in self._accepting(table):
            for accepting, label in zip(sets, positive[rows], strict=True):
                wrong = everyone & (~accepting if label else accepting)
                if counts is None and not consistent.any():
                    counts = mistakes.values()
                vote = count_votes(accepting[None], consistent, counts)[0]
                self.n_mistakes_ += bool((vote >= 0) != label)
                mistakes.add(wrong)
                consistent = consistent & ~wrong
                if counts is not None:
                    counts += unpack_words(wrong[None], self.n_hypotheses_)[0]
        self._mistakes = mistakes
        self.n_consistent_ = int(size_of(consistent)[0])
        if not self.n_consistent_ and not self.collapsed_:
            self.collapsed_ = True
            warnings.warn(
                f"None of the {self.n_hypotheses_} hypotheses agrees with all rows. "
                "Predictions are now weighted majority votes (2 ** -mistakes). Choose "
                "a richer class, or take Winnow or KernelPerceptron.",
                UserWarning,
                stacklevel=3,
            )

    def _accepting(self, table):
        """Yield slices of rows and the sets of hypotheses that accept them."""
        blocks = value_blocks(table, self.n_features_in_, self._class.n_hypotheses)
        for rows, values in blocks:
            yield rows, self._class.accepting(values)

    def decision_function(self, X):
        """Return the vote on each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        votes : ndarray of shape (n_samples,), dtype float64
            Share of the hypotheses that accept minus share of those that reject, from
            -1 to 1; an even vote, which accepts, is given as the smallest float above
            0.
        """
        check_is_fitted(self)
        table = validate_boolean(self, X, reset=False)
        consistent = self._mistakes.consistent()
        counts = None if consistent.any() else self._mistakes.values()
        votes = np.concatenate(
            [
                count_votes(sets, consistent, counts)
                for _rows, sets in self._accepting(table)
            ]
        )
        return np.where(votes == 0, np.nextafter(0.0, 1.0), votes)

    def predict_proba(self, X):
        """Return the share of the votes for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2), dtype float64
            Before a collapse this is the exact posterior probability when one of the
            hypotheses is true and all were equally likely at first.
        """
        positive = (1 + self.decision_function(X)) / 2
        return np.column_stack([1 - positive, positive])

    def consistent_formulas(self, max_formulas=100):
        """Write the hypotheses without a mistake, shortest first.

        Parameters
        ----------
        max_formulas : int, default=100
            How many at most.

        Returns
        -------
        formulas : list of str
            Formulas over the column names.

        Raises
        ------
        AttributeError
            For a class of callables, which have no formula.
        """
        check_is_fitted(self)
        check_integer(max_formulas, "max_formulas", 1)
        if isinstance(self._class, FunctionClass):
            raise AttributeError("Callables have no formula to be written.")
        consistent = unpack_words(self._mistakes.consistent(), self.n_hypotheses_)[0]
        chosen = np.flatnonzero(consistent)[:max_formulas]
        names, disjunctive = feature_names_of(self), self._class.disjunctive
        return [
            formula_text(literals, names, disjunctive=disjunctive)
            for literals in self._class.literals_of(chosen)
        ]
