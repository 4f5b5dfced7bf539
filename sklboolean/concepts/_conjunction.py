"""Elimination: learn one conjunction by dropping what positive examples lack."""

import warnings

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import pack_dense, unpack_words
from sklboolean._core.formulas import feature_names_of, formula_text
from sklboolean._core.validation import (
    check_choice,
    check_same_params,
    known_classes,
    remember_params,
    validate_boolean,
)
from sklboolean.concepts._concepts import ConceptLearner, read_examples, row_blocks

EVERY_BIT = ~np.uint64(0)
KIND = ("target", "monotone", "binarize")  # of the literals that are left


def accepts(hypothesis, literals):
    """Say which rows have all literals of a hypothesis, or of one for each row."""
    return ((literals & hypothesis) == hypothesis).all(axis=1)


def eliminate(hypothesis, literals, positive):
    """Pass over rows in order; positive ones strike out the literals they lack.

    Parameters
    ----------
    hypothesis : ndarray of shape (n_words,), uint64
        Literals that are left.
    literals : ndarray of shape (n_samples, n_words), uint64
        The literals that are true in each row.
    positive : ndarray of shape (n_samples,), bool

    Returns
    -------
    hypothesis : ndarray of shape (n_words,), uint64
    n_mistakes : int
        Rows that the hypothesis of their moment got wrong.
    """
    kept = np.where(positive[:, None], literals, EVERY_BIT)
    path = np.bitwise_and.accumulate(np.vstack([hypothesis, kept]), axis=0)
    n_mistakes = np.count_nonzero(accepts(path[:-1], literals) != positive)
    return path[-1], int(n_mistakes)


class ConjunctionClassifier(ConceptLearner):
    """Learn one conjunction (or disjunction) of features and their negations.

    Elimination starts from all literals and drops those that a positive example
    contradicts. What is left is the longest conjunction that accepts every positive
    example: when it accepts a negative one too, no conjunction fits the data.

    Parameters
    ----------
    target : {"conjunction", "disjunction"}, default="conjunction"
        "disjunction" learns the conjunction of negations that makes an example
        negative (De Morgan).
    monotone : bool, default=False
        Whether literals are the features only, not their negations.
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the formula stands for the second.
    formula_ : str
        The formula, with column names where X has them.
    positive_features_ : ndarray of int
        Features that must be true (conjunction) or may be (disjunction).
    negated_features_ : ndarray of int
        Features of which the formula holds the negation.
    n_mistakes_ : int
        Mistakes when every row is predicted before it is learned, in order.
    n_contradictions_ : int
        Rows that the formula gets wrong: with 0 it is consistent, otherwise no formula
        is. After ``partial_fit``, wrong rows of each part, counted when it came.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    Warns
    -----
    UserWarning
        If no formula of the kind fits the data; with the number of rows in conflict.

    See Also
    --------
    Winnow : Stands noise, and few relevant features among very many.
    sklboolean.theory.elimination_mistake_bound : The most mistakes possible.

    Notes
    -----
    On rows of a conjunction of ``k`` literals over ``n`` features, mistakes are at most
    ``n - k + 1`` (``n - k`` if monotone). One mislabelled positive row can strike
    literals that belong to the target: for noisy labels take `Winnow` or
    `AveragedPerceptron`.

    References
    ----------
    Valiant. "A Theory of the Learnable". Communications of the ACM 27(11), 1984.

    Examples
    --------
    >>> from sklboolean import ConjunctionClassifier
    >>> X = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0]]
    >>> learner = ConjunctionClassifier().fit(X, [True, True, False, False])
    >>> learner.formula_
    'x0 and not x2'
    >>> learner.predict([[1, 0, 1]])
    array([False])
    """

    def __init__(self, *, target="conjunction", monotone=False, binarize=0.0):
        self.target = target
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
            For bad parameters and data. What was learned before is kept.
        """
        with restore_on_error(self):
            self._check_parameters()
            table, positive = read_examples(self, X, y)
            self._learn(table, positive, *self._everything())
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
            self._check_parameters()
            resume = hasattr(self, "classes_")
            if resume:
                check_same_params(self, KIND)
            known = known_classes(self, classes)
            table, positive = read_examples(self, X, y, known, reset=not resume)
            start = self._everything()
            if resume:
                start = self._hypothesis, self.n_mistakes_, self.n_contradictions_
            self._learn(table, positive, *start)
        return self

    def _check_parameters(self):
        check_choice(self.target, "target", ("conjunction", "disjunction"))
        check_choice(self.monotone, "monotone", (False, True))

    def _everything(self):
        """Return the first hypothesis, all literals, and no mistakes."""
        n_signs = 1 if self.monotone else 2
        every_feature = np.ones((1, self.n_features_in_), dtype=bool)
        return np.tile(pack_dense(every_feature)[0], n_signs), 0, 0

    def _learn(self, table, positive, hypothesis, n_mistakes, n_wrong):
        flips = self.target == "disjunction"
        for rows, literals in self._literal_blocks(table):
            hypothesis, more = eliminate(hypothesis, literals, positive[rows] ^ flips)
            n_mistakes += more
        self._hypothesis, self.n_mistakes_ = hypothesis, n_mistakes
        remember_params(self, KIND)
        wrong = self._accepted(table) != positive
        self.n_contradictions_ = n_wrong + int(np.count_nonzero(wrong))
        self._publish(flips)
        if self.n_contradictions_ > n_wrong:
            self._warn(self.n_contradictions_ - n_wrong)

    def _warn(self, n_wrong):
        verb, kept = ("rejects", 0) if self.target == "disjunction" else ("accepts", 1)
        warnings.warn(
            f"No {self.target} is right on all rows: the one that {verb} every row of "
            f"class {self.classes_.tolist()[kept]!r}, {self.formula_!r}, also {verb} "
            f"{n_wrong} rows of the other class. For noisy labels take Winnow or "
            "AveragedPerceptron.",
            UserWarning,
            stacklevel=4,
        )

    def _publish(self, flips):
        n = self.n_features_in_
        halves = self._hypothesis.reshape(1 if self.monotone else 2, -1)
        literals = unpack_words(halves, n).astype(bool)
        self.positive_features_ = np.flatnonzero(literals[0])
        self.negated_features_ = np.flatnonzero(literals[1:].any(axis=0))
        names = feature_names_of(self)
        self.formula_ = formula_text(literals.reshape(-1), names, disjunctive=flips)

    def _literal_blocks(self, table):
        """Yield slices and the literals that are true in their rows, packed."""
        every_feature = np.ones((1, self.n_features_in_), dtype=bool)
        mask = pack_dense(every_feature)
        for rows, words in row_blocks(table, self.n_features_in_):
            if self.target == "disjunction":
                words = ~words & mask
            yield rows, words if self.monotone else np.hstack([words, ~words & mask])

    def _accepted(self, table):
        blocks = [
            accepts(self._hypothesis, literals)
            for _rows, literals in self._literal_blocks(table)
        ]
        return np.concatenate(blocks) ^ (self.target == "disjunction")

    def predict(self, X):
        """Return the label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The second of ``classes_`` where the formula holds.
        """
        check_is_fitted(self)
        accepted = self._accepted(validate_boolean(self, X, reset=False))
        return self.classes_[accepted.astype(np.intp)]
