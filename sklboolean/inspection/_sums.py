"""Fitted models as conjunctions: the first that holds decides, or weights add up."""

from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

from sklboolean._core.formulas import python_value
from sklboolean._core.validation import check_array_strict
from sklboolean.active_learning import QueryByCommittee
from sklboolean.boosting._base import BaseMajorityVote
from sklboolean.concepts import ConjunctionClassifier

MODELS = (
    "a RuleClassifier, a ConjunctionClassifier, a ConjunctionLogisticRegression or "
    "ConjunctionRegressor, a "
    "linear model with coef_ such as AveragedPerceptron, a BooleanStump or "
    "ConjunctionStump, or a BoostByMajority or FilteringBoostByMajority of these"
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
    games : list of (int, int, int) or None
        Where each sum is the margin of a game of two classes: their numbers, and the
        number of votes. A positive margin is for the second class.
    """

    terms: list
    probabilities: np.ndarray = None
    labels: list = None
    weights: np.ndarray = None
    intercepts: np.ndarray = None
    link: str = "first"
    slope: float = 1.0
    games: list = None

    def evaluate(self, held):
        """Compute the result for samples from the terms that hold in them.

        The page does the same in JavaScript.
        """
        if self.link == "first":
            always = np.ones((len(held), 1), dtype=bool)
            return self.probabilities[np.hstack([held, always]).argmax(axis=1)]
        scores = held @ self.weights.T + self.intercepts
        if self.games is not None:
            scores = self._combine(scores)
        if self.link != "logistic":
            return scores
        if scores.shape[1] == 1:
            return expit(self.slope * np.hstack([-scores, scores]))
        return softmax(self.slope * scores, axis=1)

    def _combine(self, margins):
        """Compute the scores of the classes from the margins of their games.

        The mean of ``z / sqrt(1 + z**2)`` over the other classes, where z is the margin
        times the root of the number of votes.
        """
        n_classes = 1 + max(second for _, second, _ in self.games)
        scores = np.zeros((len(margins), n_classes))
        for (first, second, n_votes), margin in zip(self.games, margins.T, strict=True):
            z = np.sqrt(n_votes) * margin
            won = z / np.sqrt(1 + z * z) / (n_classes - 1)
            scores[:, second] += won
            scores[:, first] -= won
        return scores


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


def final_estimator(last):
    """Choose the final estimator of a `QueryByCommittee` that has one, or the model."""
    if isinstance(last, QueryByCommittee) and last.estimator_ is not None:
        return last.estimator_
    return last


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
    if isinstance(last, ConjunctionClassifier):
        literals = [(int(j), True) for j in last.positive_features_]
        literals += [(int(j), False) for j in last.negated_features_]
        terms = [tuple(literals)]
        if last.target == "disjunction":
            terms = [(literal,) for literal in literals]
        rejected, accepted = last._side_probabilities()
        labels = [python_value(last.classes_[1])] * len(terms)
        return ModelSums(terms, np.array([accepted] * len(terms) + [rejected]), labels)
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
    if isinstance(last, BaseMajorityVote):
        boosters = [last] if last._games is None else last.estimators_
        stumps = [stump for booster in boosters for stump in booster.estimators_]
        if all(hasattr(stump, "side_classes_") for stump in stumps):
            return _vote(last, boosters, link)
    raise ValueError(
        f"This {type(last).__name__} is no list of rules and no sum of conjunctions "
        f"that could be shown. estimator must be {MODELS}. Of KernelPerceptron and "
        "BooleanSVC, explain and extract_dnf show the parts."
    )


def stump_terms(stump):
    """Write the condition of a stump as a list of at most one conjunction."""
    if hasattr(stump, "literals_"):
        return [tuple(stump.literals_)] if stump.literals_ else []
    return [((int(stump.feature_), True),)] if stump.feature_ >= 0 else []


def _vote(last, boosters, link):
    """Add up the votes of stumps, those of one or of several games of two classes."""
    parts = [_votes_of_game(booster) for booster in boosters]
    terms = list(dict.fromkeys(term for votes, _ in parts for term in votes))
    constant = np.concatenate([constant for _, constant in parts])
    weights = [
        [votes.get(term, np.zeros(len(own)))[k] for term in terms]
        for votes, own in parts
        for k in range(len(own))
    ]
    games = None
    if last._games is not None and last._games[0].first is not None:
        games = [
            (first, second, len(booster.estimators_))
            for (first, second), booster in zip(last._games, boosters, strict=True)
        ]
    return ModelSums(
        terms, weights=np.array(weights).reshape(len(constant), len(terms)),
        intercepts=constant, link=link, slope=last.calibration_slope_, games=games,
    )  # fmt: skip


def _votes_of_game(booster):
    """Add up votes: each condition moves some from one side of its stump to the other.

    Returns
    -------
    votes : dict from conjunction to ndarray of shape (n_outputs,)
    constant : ndarray of shape (n_outputs,)
        One output for two classes, the second; else one for each.
    """
    classes, stumps = list(booster.classes_), booster.estimators_
    votes, constant = {}, np.zeros(len(classes))
    for stump in stumps:
        if_false, if_true = (classes.index(label) for label in stump.side_classes_)
        constant[if_false] += 1
        for term in stump_terms(stump):
            moved = votes.setdefault(term, np.zeros(len(classes)))
            moved[if_true] += 1
            moved[if_false] -= 1
    outputs = slice(1, None) if len(classes) == 2 else slice(None)
    votes = {
        term: 2 * moved[outputs] / len(stumps)
        for term, moved in votes.items()
        if moved.any()
    }
    return votes, (2 * constant / len(stumps) - 1)[outputs]


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
