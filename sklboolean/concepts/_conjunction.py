"""Elimination: learn one conjunction by dropping what positive samples contradict."""

# Elimination: start from all literals; each positive sample removes those that are
# false in it. What is left is the longest conjunction that accepts all positive
# samples, so a negative sample that it accepts contradicts every conjunction. literals
# is one row of packed words; of both signs, the positive literals first, then the
# negated ones.
# A disjunction is the negation of a conjunction of negations: samples, labels and
# scores are flipped. At most one mistake for each removed literal: n + 1 (Valiant
# 1984).

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import DecisionClassifierMixin
from sklboolean._core.bits import pack_dense, unpack_words
from sklboolean._core.damage import require_shape, require_words
from sklboolean._core.exports import ExportMixin
from sklboolean._core.finite_classes import size_of
from sklboolean._core.formula import Columns, FirstRule, class_labels
from sklboolean._core.formulas import feature_names_of, formula_text
from sklboolean._core.parameters import check_choice
from sklboolean._core.validation import validate_boolean, warn_user
from sklboolean.concepts._base import ConceptClassifier

EVERY_BIT = ~np.uint64(0)
ABOVE_HALF = np.nextafter(0.5, 1.0)  # so that the predicted class is the more probable


@dataclass
class EliminationState:
    """The literals that are left, packed, and counts of mistakes.

    Attributes
    ----------
    literals : ndarray of shape (1, n_words), uint64
    side_weights : ndarray of shape (2, 2), float64
        Weight of the samples of each predicted and true class, 1 more in each.
    n_mistakes, n_contradictions : int
    """

    literals: np.ndarray
    side_weights: np.ndarray
    n_mistakes: int = 0
    n_contradictions: int = 0

    def copy(self):
        """Copy the state. Its arrays are replaced, never changed."""
        return replace(self)

    def eliminate(self, literals, positive):
        """Drop the literals that positive samples contradict, one after the other.

        Parameters
        ----------
        literals : ndarray of shape (n_samples, n_words), uint64
            The literals that are true in each sample.
        positive : ndarray of shape (n_samples,), bool

        Returns
        -------
        n_mistakes : int
            Mistakes when every sample is predicted before its label is used.
        """
        narrowed = np.where(positive[:, None], literals, EVERY_BIT)
        # path[i] has the literals that are left before sample i.
        path = np.bitwise_and.accumulate(np.vstack([self.literals, narrowed]), axis=0)
        accepted = ((literals & path[:-1]) == path[:-1]).all(axis=1)
        self.literals = path[-1]
        return int(np.count_nonzero(accepted != positive))


class ConjunctionClassifier(ExportMixin, DecisionClassifierMixin, ConceptClassifier):
    """Learn one conjunction (or disjunction) of features and their negations.

    Elimination starts from all literals and drops those that a positive sample
    contradicts. The rest is the longest conjunction that accepts every positive sample.
    If it accepts a negative one too, no conjunction fits the data.

    Parameters
    ----------
    target : {"conjunction", "disjunction"}, default="conjunction"
        Kind of formula. A disjunction is learned as the conjunction of negations that
        makes a sample negative (De Morgan).
    monotone : bool, default=False
        True: the formula has no negated features.
    binarize : float or None, default=0.0
        A value above it is true. None: the features must be 0 or 1.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The class labels. The formula accepts samples of the second.
    formula_ : str
        The formula, with column names where X has them.
    positive_features_ : ndarray of int
        Features that occur in the formula without negation.
    negated_features_ : ndarray of int
        Features that occur negated.
    n_mistakes_ : int
        Mistakes when every sample is predicted before its label is used, in order.
    n_contradictions_ : int
        Training samples that the formula misclassifies. 0: it is consistent; otherwise
        no formula is. After ``partial_fit``, the sum over the parts when they came.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    Warns
    -----
    UserWarning
        If no formula of the kind fits the data, with the number of misclassified
        samples.

    See Also
    --------
    Winnow : For noisy labels, and few relevant features among many.
    sklboolean.theory.elimination_mistake_bound : Bound on the number of mistakes.

    Notes
    -----
    If a conjunction of ``k`` literals over ``n`` features labels the samples, there are
    at most ``n - k + 1`` mistakes (``n - k`` if monotone). One mislabelled positive
    sample can remove literals of the target: for noisy labels use `Winnow` or
    `AveragedPerceptron`.

    A sample of weight 0 is left out. Other sample weights matter only for the
    probabilities: every sample contradicts literals.

    :doc:`/experiments/mistake_bounds` computes the paper's results again, and
    :doc:`/experiments/exact_calls` has the parameters of its algorithm.

    References
    ----------
    Valiant. "A Theory of the Learnable". Communications of the ACM 27(11), 1984.

    Examples
    --------
    >>> from sklboolean import ConjunctionClassifier
    >>> X = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0]]
    >>> model = ConjunctionClassifier().fit(X, [True, True, False, False])
    >>> model.formula_
    'x0 and not x2'
    >>> model.predict([[1, 0, 1]])
    array([False])
    """

    _state_params = ("target", "monotone", "binarize")

    def __init__(self, *, target="conjunction", monotone=False, binarize=0.0):
        self.target = target
        self.monotone = monotone
        self.binarize = binarize

    def _check_params(self):
        check_choice(self.target, "target", ("conjunction", "disjunction"))
        check_choice(self.monotone, "monotone", (False, True))

    def _init_state(self):
        n_signs = 1 if self.monotone else 2
        literals = np.tile(self._every_feature()[0], n_signs)
        return EliminationState(literals, np.ones((2, 2)))

    def _every_feature(self):
        return pack_dense(np.ones((1, self.n_features_in_), dtype=bool))

    def _train(self, state, table, codes, sample_weight):
        """Drop the literals that a positive sample contradicts."""
        flips, positive = self.target == "disjunction", codes.astype(bool)
        for samples, literals in self._literal_blocks(state, table):
            state.n_mistakes += state.eliminate(literals, positive[samples] ^ flips)
        accepted = self._scores(state, table) > 0
        n_wrong = np.count_nonzero(accepted != positive)
        sides = 2 * accepted + codes
        counts = np.bincount(sides, weights=sample_weight, minlength=4)
        state.side_weights = state.side_weights + counts.reshape(2, 2)
        state.n_contradictions += int(n_wrong)
        if n_wrong:
            self._warn(state, n_wrong)

    def _warn(self, state, n_wrong):
        verb, code = ("rejects", 0) if self.target == "disjunction" else ("accepts", 1)
        warn_user(
            f"No {self.target} classifies all samples correctly. The one that {verb} "
            f"every sample of class {self.classes_.tolist()[code]!r}, "
            f"{self._formula_text(state)!r}, also {verb} {n_wrong} samples of the "
            "other class. For noisy labels use Winnow or AveragedPerceptron."
        )

    def _literals(self, state):
        """Unpack the literals that are left: bool of shape (1 or 2, n_features)."""
        halves = state.literals.reshape(1 if self.monotone else 2, -1)
        return unpack_words(halves, self.n_features_in_).astype(bool)

    def _formula_text(self, state):
        literals, names = self._literals(state).reshape(-1), feature_names_of(self)
        return formula_text(literals, names, disjunctive=self.target == "disjunction")

    def _set_fitted_attributes(self, state):
        literals = self._literals(state)
        self.positive_features_ = np.flatnonzero(literals[0])
        self.negated_features_ = np.flatnonzero(literals[1:].any(axis=0))
        self.formula_ = self._formula_text(state)
        self.n_mistakes_ = state.n_mistakes
        self.n_contradictions_ = state.n_contradictions

    def _formula(self):
        literals = [(int(j), True) for j in self.positive_features_]
        literals += [(int(j), False) for j in self.negated_features_]
        is_disjunction = self.target == "disjunction"
        terms = [(x,) for x in literals] if is_disjunction else [tuple(literals)]
        rejected, accepted = self._side_probabilities()
        default, label = class_labels(self)
        return FirstRule(
            Columns.of(self, self.binarize),
            terms,
            [label] * len(terms),
            default,
            [default, label],
            np.array([accepted] * len(terms) + [rejected]),
        )

    def _literal_blocks(self, state, table):
        """Yield slices and the literals that are true in their samples, packed."""
        mask = self._every_feature()
        n_words = mask.size * (1 if self.monotone else 2)
        require_words(state.literals, (n_words,), "literals")
        for samples, words in self._word_blocks(table):
            if self.target == "disjunction":
                words = ~words & mask
            yield samples, words if self.monotone else np.hstack([words, ~words & mask])

    def _scores(self, state, table):
        """Count the literals of the formula that decide each sample."""
        false = [
            size_of(~literals & state.literals)
            for _, literals in self._literal_blocks(state, table)
        ]
        n_false = np.concatenate(false).astype(np.float64)
        if self.target == "disjunction":  # a false negation is a true literal
            return np.where(n_false > 0, n_false, -1.0)
        return np.where(n_false > 0, -n_false, 1.0)

    def decision_function(self, X) -> np.ndarray:
        """Count the literals of the formula that decide each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples,), dtype float64
            For a conjunction 1 where it holds, otherwise minus the number of its false
            literals. For a disjunction the number of its true literals, or -1 where
            there are none. `OneVsRestClassifier` compares classes by these scores.
        """
        check_is_fitted(self)
        table = validate_boolean(self, X, reset=False)
        return self._scores(self._state, table)

    def predict_proba(self, X) -> np.ndarray:
        """Estimate the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2), dtype float64
            The share of each class, by sample weight, among the training samples that
            the formula accepts, or rejects; one imagined sample of each class is added.
            The predicted class has at least 1/2.
        """
        accepted = self.decision_function(X) > 0
        return self._side_probabilities()[accepted.astype(np.intp)]

    def _side_probabilities(self):
        """Compute the probabilities of rejected and of accepted samples."""
        weights = self._state.side_weights
        require_shape(weights, (2, 2), "side_weights")
        right = np.maximum(np.diag(weights) / weights.sum(axis=1), ABOVE_HALF)
        return np.array([[right[0], 1 - right[0]], [1 - right[1], right[1]]])
