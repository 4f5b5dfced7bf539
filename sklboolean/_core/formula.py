"""Formulas of fitted models: first-match rules, or a weighted sum of terms.

A term is a conjunction: a tuple of pairs of a feature and the value it must have. Each
class describes itself once, in its method ``_formula``. Texts, code, explanations and
ONNX graphs are made from the description and read nothing else of the model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import is_classifier

from sklboolean._core.calibration import predicted_codes
from sklboolean._core.damage import require, require_shape
from sklboolean._core.directions import sentences
from sklboolean._core.formulas import python_value


@dataclass(frozen=True)
class Columns:
    """The features that the terms of a model test.

    Attributes
    ----------
    n_features : int
    names : list of str or None
        Column names of the data in training, if it had any.
    binarize : float or None
        Threshold above which a value is true. None: the values are zeros and ones.
    directions : tuple of str
        How the score moves with some columns, a sentence each.
    """

    n_features: int
    names: list | None = None
    binarize: float | None = None
    directions: tuple = ()

    @classmethod
    def of(cls, model, binarize=None):
        """Describe the features of a fitted estimator; ``binarize`` may be anything."""
        # Names of scikit-learn are numpy strings; a formula holds plain ones.
        names = getattr(model, "feature_names_in_", None)
        names = None if names is None else list(map(str, names))
        return cls(
            model.n_features_in_,
            names,
            float(binarize) if isinstance(binarize, Real) else None,
            sentences(getattr(model, "monotonic_cst", None), names),
        )


class SingleFeatures(Sequence):
    """Terms of one feature each, which must be true; made only when they are read."""

    def __init__(self, features):
        self.features = np.asarray(features, dtype=np.intp)

    def __len__(self):
        return len(self.features)

    def __getitem__(self, k):
        return ((int(self.features[k]), True),)


class TermsMixin:
    """Evaluation of the terms that both forms of a formula have."""

    def satisfied(self, bits):
        """Mark the terms that hold in each sample.

        Parameters
        ----------
        bits : ndarray of shape (n_samples, n_features), bool

        Returns
        -------
        satisfied : ndarray of shape (n_samples, n_terms), bool
        """
        if isinstance(self.terms, SingleFeatures):
            return bits[:, self.terms.features]
        satisfied = np.ones((len(bits), len(self.terms)), dtype=bool)
        for k, term in enumerate(self.terms):
            for feature, value in term:
                satisfied[:, k] &= bits[:, feature] == value
        return satisfied


@dataclass(frozen=True)
class FirstRule(TermsMixin):
    """The first rule that a sample satisfies decides; without one, the default.

    Attributes
    ----------
    columns : Columns
    terms : list of tuple of (int, bool)
        Condition of each rule.
    labels : list of n_rules labels
    default : label
    classes : list of labels or None
        In the order of the columns of ``probabilities``.
    probabilities : ndarray of shape (n_rules + 1, n_classes) or None
        The last line is for samples that satisfy no rule.
    scores : ndarray of shape (n_rules + 1,) or (n_rules + 1, n_classes), or None
        Values of ``decision_function``; None where they are not decided by the rule.
    proof : tuple of str
        What is proved about the model, a sentence each.
    of_labels : FirstRule or None
        Fewer rules with the same labels, where the others differ in probabilities only.
    """

    columns: Columns
    terms: Sequence
    labels: list
    default: object
    classes: list | None = None
    probabilities: np.ndarray | None = None
    scores: np.ndarray | None = None
    proof: tuple = ()
    of_labels: "FirstRule | None" = None

    def __post_init__(self):
        n_rules, table = len(self.terms), self.probabilities
        require(
            len(self.labels) == n_rules
            and (table is None or table.shape == (n_rules + 1, len(self.classes))),
            "its rules, classes and probabilities do not fit each other",
        )

    def first(self, bits):
        """Number the rule that decides each sample; ``n_rules`` is the default."""
        # A last column of ones is the default.
        always = np.ones((len(bits), 1), dtype=bool)
        return np.hstack([self.satisfied(bits), always]).argmax(axis=1)

    def predict(self, bits):
        """Predict the label of each sample."""
        return np.array([*self.labels, self.default])[self.first(bits)]

    def evaluate(self, bits):
        """Compute the probabilities, of shape (n_samples, n_classes)."""
        return self.probabilities[self.first(bits)]


@dataclass(frozen=True)
class WeightedSum(TermsMixin):
    """The weights of the terms that a sample satisfies add up.

    Attributes
    ----------
    columns : Columns
    terms : sequence of tuple of (int, bool)
    weights : ndarray of shape (n_outputs, n_terms)
    intercepts : ndarray of shape (n_outputs,)
    classes : list of labels or None
        None: a regressor, whose single output is the prediction.
    has_probabilities : bool
        Whether the sigmoid or softmax of ``slope`` times the scores is a probability.
    slope : float
    tie : {0, 1}
        Number of the class that a score of 0 predicts. With more classes the first of
        the largest scores wins.
    divisors : ndarray of shape (n_outputs,) or None
        Weights of votes are integers. The sums are divided by the number of votes.
    games : list of (int, int) or None
        Each sum is the margin of a game of two classes; a positive margin is for the
        second one.
    takes_numbers : bool
        Weights are multiplied by the values of features, which need not be 0 and 1.
    has_points : bool
        Whether the weights are the points of a scorecard.
    proof : tuple of str
        What is proved about the model, a sentence each.
    parts : tuple of dict from term to value
        Terms of which exactly one holds in each sample, such as the leaves of a tree.
        What a part adds is in the weights. Empty where there is more than one sum.
    """

    columns: Columns
    terms: Sequence
    weights: np.ndarray
    intercepts: np.ndarray
    classes: list | None = None
    has_probabilities: bool = True
    slope: float = 1.0
    tie: int = 0
    divisors: np.ndarray | None = None
    games: list | None = None
    takes_numbers: bool = False
    has_points: bool = False
    proof: tuple = ()
    parts: tuple = ()

    def __post_init__(self):
        n_outputs, classes = len(self.intercepts), self.classes
        require_shape(self.weights, (n_outputs, len(self.terms)), "its weights")
        if classes is not None:
            # One sum for two classes, else one for each class or each game.
            is_binary = n_outputs == 1 and len(classes) == 2
            is_sound = is_binary or n_outputs == len(self.games or classes) > 1
            require(is_sound, "its sums do not fit its classes")

    @property
    def kind(self):
        """Kind of the parts of an explanation: weights, or votes."""
        return "weights" if self.divisors is None else "votes"

    def scaled(self):
        """Compute the weights and intercepts, of votes divided by their number."""
        if self.divisors is None:
            return self.weights, self.intercepts
        return self.weights / self.divisors[:, None], self.intercepts / self.divisors

    def used_weights(self, output):
        """List the terms of one sum that have a weight, each with it."""
        weights = self.weights[output]
        return [(self.terms[k], float(weights[k])) for k in np.flatnonzero(weights)]

    def sums(self, bits):
        """Compute the sums, of shape (n_samples, n_outputs); margins where votes."""
        sums = self.satisfied(bits) @ self.weights.T + self.intercepts
        return sums if self.divisors is None else sums / self.divisors

    def game_factors(self, margins):
        """Compute the factor of each margin of a game in the scores of its classes.

        A margin adds ``z / sqrt(1 + z**2)`` divided by the number of other classes to
        the score of its second class, where z is the margin times the root of the
        number of votes.
        """
        # z**2 is the number of votes times the squared margin.
        squares = self.divisors * margins**2
        return np.sqrt(self.divisors / (1 + squares)) / (len(self.classes) - 1)

    def scores(self, bits):
        """Compute the scores: of the second of two classes, or of each class."""
        sums = self.sums(bits)
        if self.games is None:
            return sums
        # Each game adds its share to one class and subtracts it from the other.
        shares = sums * self.game_factors(sums)
        scores = np.zeros((len(bits), len(self.classes)))
        for (first, second), share in zip(self.games, shares.T, strict=True):
            scores[:, second] += share
            scores[:, first] -= share
        return scores

    def predict(self, bits):
        """Predict the label of each sample, or the value of a regressor."""
        scores = self.scores(bits)
        if self.classes is None:
            return scores[:, 0]
        return np.array(self.classes)[predicted_codes(scores, tie=self.tie)]

    def evaluate(self, bits):
        """Compute the probabilities if there are any, otherwise the scores."""
        scores = self.scores(bits)
        if not self.has_probabilities:
            return scores
        if scores.shape[1] == 1:
            return expit(self.slope * np.hstack([-scores, scores]))
        return softmax(self.slope * scores, axis=1)

    def output_names(self):
        """Name each sum in words."""
        if self.classes is None:
            return ["prediction"]
        if self.games is not None:
            return [f"{self.classes[a]} or {self.classes[b]}" for a, b in self.games]
        if len(self.weights) > 1:
            return [f"score of {label}" for label in self.classes]
        # With a slope of 1 the sigmoid of the score is the probability.
        is_log_odds = self.has_probabilities and self.slope == 1
        return [f"{'log-odds' if is_log_odds else 'score'} of {self.classes[1]}"]


@dataclass(frozen=True)
class Members:
    """Hypotheses that are not conjunctions: they can be listed but not written.

    Attributes
    ----------
    kind : {"votes", "predictions"}
    of_samples : callable
        Takes samples. For votes it yields triples of a hypothesis or its name, the game
        that it plays, and what it adds to the scores, of shape (n_samples, n_classes).
        For predictions, pairs of a hypothesis and its predictions.
    """

    kind: str
    of_samples: Callable


def class_labels(model):
    """List the classes of a fitted classifier as plain Python values."""
    return [python_value(label) for label in model.classes_]


def linear_formula(model, *, tie=1):
    """Describe a fitted linear model by its ``coef_`` and ``intercept_``.

    Weights of 0 are left out. It may be a model of scikit-learn.
    """
    weights = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    intercepts = np.ravel(model.intercept_).astype(np.float64)
    # Features that no class weighs are no terms.
    used = np.flatnonzero(weights.any(axis=0))
    is_label = is_classifier(model)
    return WeightedSum(
        Columns.of(model, getattr(model, "binarize", None)),
        SingleFeatures(used),
        weights[:, used],
        np.broadcast_to(intercepts, len(weights)).copy(),
        class_labels(model) if is_label else None,
        has_probabilities=is_label and hasattr(model, "predict_proba"),
        slope=getattr(model, "calibration_slope_", 1.0),
        tie=tie,
        takes_numbers=True,
    )


def mixed(formulas, mixes, classes, intercepts):
    """Add up the sums of formulas of the same features, each times a matrix.

    Parameters
    ----------
    formulas : list of WeightedSum
        Without divisors.
    mixes : list of ndarrays of shape (n_outputs, n_sums of the formula)
    classes : list of labels or None
    intercepts : ndarray of shape (n_outputs,)

    Returns
    -------
    formula : WeightedSum
        Each term once.
    """
    weights_by_term, parts = {}, []
    for formula, mix in zip(formulas, mixes, strict=True):
        for part in formula.parts:
            parts.append({term: mix.item() * value for term, value in part.items()})
        intercepts = intercepts + mix @ formula.intercepts
        for term, weights in zip(formula.terms, (mix @ formula.weights).T, strict=True):
            weights_by_term[term] = weights_by_term.get(term, 0.0) + weights
    weights = np.array(list(weights_by_term.values())).reshape(-1, len(intercepts)).T
    return WeightedSum(
        formulas[0].columns, tuple(weights_by_term), np.ascontiguousarray(weights),
        intercepts, classes, has_probabilities=classes is not None, parts=tuple(parts),
    )  # fmt: skip


def formula_of(model):
    """Describe a fitted model, ours or a linear one of scikit-learn.

    Returns
    -------
    formula : FirstRule, WeightedSum, Members or None
        None for a model of another kind.
    """
    if hasattr(model, "_formula"):
        return model._formula()
    if hasattr(model, "coef_") and hasattr(model, "intercept_"):
        return linear_formula(model, tie=0)
    return None
