"""Fitted models as conjunctions: the first that holds decides, or weights add up."""

from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

from sklboolean._core.formulas import python_value
from sklboolean._core.validation import check_array_strict

MODELS = (
    "a RuleClassifier, a ConjunctionLogisticRegression or ConjunctionRegressor, a "
    "linear model with coef_ such as AveragedPerceptron, a BooleanStump or "
    "ConjunctionStump, or a booster of these with two classes or joint votes"
)
TOLERANCE = 1e-9  # between the probabilities of the page and of the model


@dataclass
class ModelSums:
    """A model as conjunctions: the first that holds decides, or their weights add up.

    Attributes
    ----------
    terms : list of tuple of (int, bool)
        Conjunctions of features.
    probabilities : ndarray of shape (n_terms + 1, n_classes) or None
        For rules of which the first decides; the last line is for no rule.
    labels : list or None
        The class of each rule.
    weights : ndarray of shape (n_outputs, n_terms) or None
        For weights that add up.
    intercepts : ndarray of shape (n_outputs,) or None
    link : {"first", "logistic", "score", "value"}
        What becomes of the sum: probabilities, or itself.
    slope : float
        Factor of the sums before the sigmoid or softmax.
    """

    terms: list
    probabilities: np.ndarray = None
    labels: list = None
    weights: np.ndarray = None
    intercepts: np.ndarray = None
    link: str = "first"
    slope: float = 1.0

    def evaluate(self, held):
        """Compute the result for samples from the terms that hold in them.

        The page does the same in JavaScript.
        """
        if self.link == "first":
            always = np.ones((len(held), 1), dtype=bool)
            return self.probabilities[np.hstack([held, always]).argmax(axis=1)]
        scores = held @ self.weights.T + self.intercepts
        if self.link != "logistic":
            return scores
        if scores.shape[1] == 1:
            return expit(self.slope * np.hstack([-scores, scores]))
        return softmax(self.slope * scores, axis=1)


def as_bits(X, binarize):
    """Check samples, dense or sparse, and return them as a dense Boolean array."""
    X = check_array_strict(X, accept_sparse="csr")
    X = X.toarray() if sparse.issparse(X) else X
    threshold = binarize if isinstance(binarize, Real) else 0.0
    return X.astype(np.float64) > threshold


def check_names(names, n_features):
    names = [f"x{j}" for j in range(n_features)] if names is None else list(names)
    if len(names) != n_features:
        raise ValueError(
            f"feature_names has {len(names)} names, but the model has {n_features} "
            "features."
        )
    return list(map(str, names))


def read_sums(last):
    """Read a fitted estimator as conjunctions."""
    link = "logistic" if hasattr(last, "predict_proba") else "score"
    if hasattr(last, "class_counts_"):
        counts = last.class_counts_ + 1.0
        return ModelSums(
            [tuple(rule.literals) for rule in last.rules_],
            counts / counts.sum(axis=1, keepdims=True),
            [rule.label for rule in last.rules_],
        )
    if hasattr(last, "side_probabilities_"):
        sides = np.asarray(last.side_probabilities_)
        terms = [] if last.edge_ is None else stump_terms(last)
        labels = [python_value(last.side_classes_[1])]
        return ModelSums(terms, sides[::-1][1 - len(terms) :], labels[: len(terms)])
    if hasattr(last, "conjunctions_") or hasattr(last, "coef_"):
        weights = np.atleast_2d(np.asarray(last.coef_, dtype=np.float64))
        intercepts = np.ravel(last.intercept_).astype(np.float64)
        if len(intercepts) < len(weights):
            intercepts = np.full(len(weights), intercepts[0])
        terms = getattr(last, "conjunctions_", None)
        if terms is None:
            terms = [((j, True),) for j in range(weights.shape[1])]
        kept = np.flatnonzero(weights.any(axis=0))
        if not hasattr(last, "classes_"):
            link = "value"
        return ModelSums(
            [tuple(terms[k]) for k in kept], weights=weights[:, kept],
            intercepts=intercepts, link=link,
            slope=getattr(last, "calibration_slope_", 1.0),
        )  # fmt: skip
    stumps = getattr(last, "estimators_", [None])
    if all(hasattr(stump, "side_classes_") for stump in stumps):
        return _vote(last, stumps, link)
    raise ValueError(
        f"A {type(last).__name__} like this has no page and no explanation. "
        f"estimator must be {MODELS}."
    )


def stump_terms(stump):
    """Write the condition of a stump as a list of at most one conjunction."""
    if hasattr(stump, "literals_"):
        return [tuple(stump.literals_)] if stump.literals_ else []
    return [((int(stump.feature_), True),)] if stump.feature_ >= 0 else []


def _vote(last, stumps, link):
    """Add up the votes of stumps: each term moves them from one side to the other."""
    classes = list(last.classes_)
    votes, constant = {}, np.zeros(len(classes))
    for stump in stumps:
        if_false, if_true = (classes.index(label) for label in stump.side_classes_)
        constant[if_false] += 1
        for term in stump_terms(stump):
            moved = votes.setdefault(term, np.zeros(len(classes)))
            moved[if_true] += 1
            moved[if_false] -= 1
    votes = {term: moved for term, moved in votes.items() if moved.any()}
    weights = np.array(list(votes.values())).reshape(len(votes), len(classes)).T
    weights, constant = 2 * weights / len(stumps), 2 * constant / len(stumps) - 1
    if len(classes) == 2:
        weights, constant = weights[1:], constant[1:]
    return ModelSums(
        list(votes), weights=weights, intercepts=constant, link=link,
        slope=getattr(last, "calibration_slope_", 1.0),
    )  # fmt: skip


def compare_with_predictions(result, whole, X, link):
    """Raise a ValueError unless the conjunctions give what the model predicts."""
    if link == "value":
        expected = whole.predict(X)
    elif link == "score":
        expected = whole.decision_function(X)
    else:
        expected = whole.predict_proba(X)
    expected = np.reshape(expected, result.shape)
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    if not np.allclose(result, expected, rtol=0, atol=TOLERANCE * size):
        raise ValueError(
            "The weights of the model do not add up to what it predicts for X, so a "
            "page would mislead. X must be the data for which the estimator was "
            f"fitted, and the estimator {MODELS}."
        )


def terms_that_hold(terms, bits):
    """Mark the conjunctions that hold in each sample, shape (n_samples, n_terms)."""
    held = np.ones((len(bits), len(terms)), dtype=bool)
    for k, literals in enumerate(terms):
        for feature, value in literals:
            held[:, k] &= bits[:, feature] == value
    return held
