"""Halving: the majority vote of all hypotheses that have not erred."""

# A set of hypotheses is a row of packed bits, one bit for each of n_hypotheses. For a
# sample, `hypotheses.accepting` computes the set that accepts it; the vote is the size
# of its intersection with the consistent set. A mistake of the vote removes at least
# half of that set: at most log2(n_hypotheses) mistakes (Littlestone 1988). If no
# hypothesis is left, all vote with the weight 2**-mistakes (Littlestone, Warmuth 1994);
# mistakes are counted in bit planes (`MistakeCounts`).

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import DecisionClassifierMixin
from sklboolean._core.bits import unpack_words
from sklboolean._core.calibration import break_ties
from sklboolean._core.finite_classes import (
    FunctionClass,
    MistakeCounts,
    build_class,
    full_set,
    size_of,
)
from sklboolean._core.formulas import feature_names_of, formula_text
from sklboolean._core.parameters import check_integer
from sklboolean._core.validation import validate_boolean, warn_user
from sklboolean.concepts._base import ConceptClassifier


def count_votes(sets, consistent, counts):
    """Compute the vote of each set of accepting hypotheses, from -1 to 1.

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


@dataclass
class HalvingState:
    """A finite class of hypotheses and how often each of them erred."""

    hypotheses: object
    mistakes: MistakeCounts
    n_mistakes: int = 0  # of the vote

    @property
    def n_hypotheses(self):
        """Size of the class."""
        return self.hypotheses.n_hypotheses

    def copy(self):
        """Copy the counts; the hypotheses never change."""
        return HalvingState(self.hypotheses, self.mistakes.copy(), self.n_mistakes)

    def consistent(self):
        """Compute the set of hypotheses without a mistake."""
        return self.mistakes.consistent()

    def voters(self):
        """Compute the consistent set and, if it is empty, all mistake counts."""
        consistent = self.consistent()
        return consistent, None if consistent.any() else self.mistakes.values()

    def update(self, sets, labels, weights):
        """Vote on samples one after the other, counting who errs.

        Parameters
        ----------
        sets : ndarray of shape (n_samples, n_words), uint64
            The hypotheses that accept each sample.
        labels : ndarray of shape (n_samples,), bool
        weights : sequence of n_samples int
            Mistakes that a mistake on each sample counts for.

        Returns
        -------
        n_mistakes : int
            Mistakes of the vote.
        """
        everyone, n_mistakes = full_set(self.n_hypotheses)[0], 0
        consistent, counts = self.voters()
        for accepting, label, weight in zip(sets, labels, weights, strict=True):
            if counts is None and not consistent.any():
                counts = self.mistakes.values()
            wrong = everyone & (~accepting if label else accepting)
            vote = count_votes(accepting[None], consistent, counts)[0]
            n_mistakes += bool((vote >= 0) != label)
            self.mistakes.add(wrong, weight)
            consistent = consistent & ~wrong
            if counts is not None:
                errs = unpack_words(wrong[None], self.n_hypotheses)[0]
                counts += weight * errs.astype(counts.dtype)
        return n_mistakes


def _whole_weights(sample_weight, n_samples):
    """Convert sample weights to a list of int."""
    if sample_weight is None:
        return [1] * n_samples
    fractions = np.flatnonzero(sample_weight != np.rint(sample_weight))
    if len(fractions):
        raise ValueError(
            "HalvingClassifier counts mistakes: sample_weight must hold integers, or "
            "equal numbers. After division by a mean below 1, one of them is "
            f"{sample_weight[fractions[0]]:g}."
        )
    return sample_weight.astype(np.int64).tolist()


class HalvingClassifier(DecisionClassifierMixin, ConceptClassifier):
    """Predict by majority vote of all hypotheses of a finite class that are consistent.

    Each mistake rules out at least half of the remaining hypotheses, so there are at
    most ``lg |H|`` mistakes. The class is stored with one bit for each hypothesis. It
    suits a dozen features, or more when the hypotheses are short.

    Parameters
    ----------
    hypotheses : {"conjunctions", "disjunctions", "k-disjunctions"} or list of \
callables, default="conjunctions"
        The class. "k-disjunctions" needs ``max_literals``. Callables take a bool array
        of shape (n_samples, n_features) and return one bool for each sample.
    max_literals : int or None, default=None
        Maximum number of literals of a formula. None: the number of features. A smaller
        one keeps the class small.
    monotone : bool, default=False
        True: formulas have no negated features.
    binarize : float or None, default=0.0
        A value above it is true. None: the features must be 0 or 1.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The class labels. A hypothesis accepts samples of the second.
    n_hypotheses_ : int
        Size of the class, ``|H|``.
    mistake_bound_ : int
        ``lg |H|`` rounded down; holds as long as a hypothesis is consistent.
    n_consistent_ : int
        Hypotheses without a mistake.
    n_mistakes_ : int
        Mistakes of the vote when every sample is predicted before its label is used,
        in order.
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

    Notes
    -----
    Sample weights are integers: a mistake on a sample of weight w counts as w mistakes
    of a hypothesis, and as one of the vote.

    :doc:`/experiments/mistake_bounds` computes the paper's results again, and
    :doc:`/experiments/exact_calls` has the parameters of its algorithm.

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
    >>> model = HalvingClassifier().fit(X, [True, True, False, False])
    >>> model.n_hypotheses_, model.n_consistent_, model.mistake_bound_
    (27, 1, 4)
    >>> model.consistent_formulas()
    ['x0 and not x2']
    """

    _state_params = ("hypotheses", "max_literals", "monotone", "binarize")

    def __init__(
        self,
        hypotheses="conjunctions",
        *,
        max_literals=None,
        monotone=False,
        binarize=0.0,
    ):
        self.hypotheses = hypotheses
        self.max_literals = max_literals
        self.monotone = monotone
        self.binarize = binarize

    def _check_params(self):
        if self.max_literals is not None:
            check_integer(self.max_literals, "max_literals", 0)

    def _init_state(self):
        shape = {"max_literals": self.max_literals, "monotone": self.monotone}
        hypotheses = build_class(self.hypotheses, self.n_features_in_, **shape)
        return HalvingState(hypotheses, MistakeCounts.zero(hypotheses.n_hypotheses))

    def _train(self, state, table, codes, sample_weight):
        """Predict each sample by the vote, then count who was wrong."""
        weights = _whole_weights(sample_weight, len(codes))
        was_consistent = state.consistent().any()
        for samples, sets in self._accepting(state, table):
            labels = codes[samples].astype(bool)
            state.n_mistakes += state.update(sets, labels, weights[samples])
        if was_consistent and not state.consistent().any():
            warn_user(
                f"None of the {state.n_hypotheses} hypotheses agrees with all samples. "
                "Predictions are now weighted majority votes (2 ** -mistakes). Choose "
                "a richer class, or use Winnow or KernelPerceptron."
            )

    def _set_fitted_attributes(self, state):
        self.n_hypotheses_ = state.n_hypotheses
        self.mistake_bound_ = self.n_hypotheses_.bit_length() - 1
        self.n_mistakes_ = state.n_mistakes
        self.n_consistent_ = int(size_of(state.consistent())[0])
        self.collapsed_ = not self.n_consistent_

    def _accepting(self, state, table):
        """Yield slices of samples and the sets of hypotheses that accept them."""
        for samples, values in self._value_blocks(table, state.n_hypotheses):
            yield samples, state.hypotheses.accepting(values)

    def decision_function(self, X) -> np.ndarray:
        """Compute the vote on each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        votes : ndarray of shape (n_samples,), dtype float64
            Share of the hypotheses that accept minus share of those that reject, from
            -1 to 1. An even vote accepts; it is replaced by the smallest float above 0.
        """
        check_is_fitted(self)
        table = validate_boolean(self, X, reset=False)
        consistent, counts = self._state.voters()
        votes = [
            count_votes(sets, consistent, counts)
            for _, sets in self._accepting(self._state, table)
        ]
        return break_ties(np.concatenate(votes))

    def predict_proba(self, X) -> np.ndarray:
        """Compute the share of the votes for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2), dtype float64
            As long as a hypothesis is consistent, the exact posterior probability under
            a uniform prior over the hypotheses.
        """
        positive = (1 + self.decision_function(X)) / 2
        return np.column_stack([1 - positive, positive])

    def consistent_formulas(self, max_formulas=100) -> list:
        """Format the hypotheses without a mistake, shortest first.

        Parameters
        ----------
        max_formulas : int, default=100
            Maximum number of formulas.

        Returns
        -------
        formulas : list of str
            Formulas in terms of the column names.

        Raises
        ------
        AttributeError
            If the hypotheses are callables, which have no formula.
        """
        check_is_fitted(self)
        check_integer(max_formulas, "max_formulas", 1)
        hypotheses = self._state.hypotheses
        if isinstance(hypotheses, FunctionClass):
            raise AttributeError(
                "consistent_formulas is not available: callables have no formula."
            )
        consistent = unpack_words(self._state.consistent(), self._state.n_hypotheses)[0]
        chosen = np.flatnonzero(consistent)[:max_formulas]
        names, disjunctive = feature_names_of(self), hypotheses.disjunctive
        return [
            formula_text(literals, names, disjunctive=disjunctive)
            for literals in hypotheses.literals_of(chosen)
        ]
