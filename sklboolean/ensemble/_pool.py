"""The weighted sum of fitted models over bits: an ensemble behind its encoder."""

from dataclasses import replace

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression

from sklboolean._core.damage import labels_of, require
from sklboolean._core.exports import ExportMixin
from sklboolean._core.formula import WeightedSum, class_labels, formula_of, mixed
from sklboolean._core.versioned import VersionedEstimator
from sklboolean.boosting import BooleanGradientBoostingClassifier
from sklboolean.ensemble._pooling import centered_logits
from sklboolean.rules import ConjunctionLogisticRegression

# Their scores are log-odds, or the logarithms of probabilities up to a constant.
LOG_ODDS = (
    LogisticRegression,
    ConjunctionLogisticRegression,
    BooleanGradientBoostingClassifier,
)


class FrozenMixin:
    """Is made of fitted models, and stays as it is, as in `FrozenEstimator`."""

    def __sklearn_is_fitted__(self):
        return True

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        """Do nothing: the models are fitted."""
        return self


class Pool(FrozenMixin, ExportMixin, VersionedEstimator):
    """Fitted models and their weights; ``estimators`` read the same Boolean features.

    Parameters
    ----------
    estimators : list of fitted models
    weights : ndarray of shape (n_estimators,), float64
    """

    reads_values = False  # whether features are values, and true above 0

    def __init__(self, estimators, weights):
        self.estimators = estimators
        self.weights = weights

    def _mixed(self, *terms):
        """Add up formulas; what exports read is what the models read."""
        formula = mixed(*terms)
        if not self.reads_values:
            return formula
        return replace(formula, columns=replace(formula.columns, binarize=0.0))

    @property
    def n_features_in_(self):
        """The number of Boolean features."""
        return self.estimators[0].n_features_in_

    @property
    def feature_names_in_(self):
        """The names of the Boolean features, where they have some."""
        return self.estimators[0].feature_names_in_


class RegressorPool(RegressorMixin, Pool):
    """The weighted sum of the predictions of regressors, and an intercept.

    Parameters
    ----------
    estimators : list of fitted regressors
    weights : ndarray of shape (n_estimators,), float64
    intercept : float, default=0.0
    """

    def __init__(self, estimators, weights, intercept=0.0):
        super().__init__(estimators, weights)
        self.intercept = intercept

    def predict(self, X) -> np.ndarray:
        """Predict the target of each sample."""
        predictions = [model.predict(X) for model in self.estimators]
        return self.intercept + self.weights @ np.array(predictions)

    def _formula(self):
        """Add up the models' formulas; None where a model has none."""
        formulas = [formula_of(model) for model in self.estimators]
        if not all(isinstance(formula, WeightedSum) for formula in formulas):
            return None
        mixes = [np.array([[weight]]) for weight in self.weights]
        return self._mixed(formulas, mixes, None, np.array([self.intercept]))


class ClassifierPool(ClassifierMixin, Pool):
    """The logarithmic opinion pool of classifiers: their log-odds are added up.

    Parameters
    ----------
    estimators : list of fitted classifiers
    weights : ndarray of shape (n_estimators,), float64
    classes : ndarray of shape (n_classes,)
    """

    def __init__(self, estimators, weights, classes):
        super().__init__(estimators, weights)
        self.classes = classes

    @property
    def classes_(self):
        """The class labels."""
        return self.classes

    def _logits(self, X):
        """Compute the weighted sums of the logits of the models."""
        return sum(
            weight * logits_of(model, X, self.classes)
            for weight, model in zip(self.weights, self.estimators, strict=True)
        )

    def decision_function(self, X) -> np.ndarray:
        """Compute the log-odds of the second class, or a score for each of more."""
        logits = self._logits(X)
        return logits if logits.shape[1] > 2 else logits[:, 1] - logits[:, 0]

    def predict_proba(self, X) -> np.ndarray:
        """Estimate the probability of each class."""
        return softmax(self._logits(X), axis=1)

    def predict_log_proba(self, X) -> np.ndarray:
        """Compute the logarithm of ``predict_proba``."""
        return log_softmax(self._logits(X), axis=1)

    def predict(self, X) -> np.ndarray:
        """Predict the most probable label of each sample."""
        return labels_of(self.classes_, self._logits(X).argmax(axis=1))

    def _formula(self):
        """Add up the models' log-odds; None where the scores of a model are others."""
        n_classes = len(self.classes)
        for model in self.estimators:
            if not isinstance(model, LOG_ODDS) or len(model.classes_) < n_classes:
                return None
        # The mean over the classes of a sample is 0.
        center = np.eye(n_classes) - 1 / n_classes if n_classes > 2 else np.eye(1)
        formulas = [formula_of(model) for model in self.estimators]
        mixes = [weight * center for weight in self.weights]
        return self._mixed(formulas, mixes, class_labels(self), np.zeros(len(center)))


def logits_of(model, X, classes):
    """Compute the centered logits of a fitted model, of shape (n_samples, n_classes).

    The scores of some models are logits; those of others are read from probabilities.
    """
    if not isinstance(model, LOG_ODDS) or len(model.classes_) < len(classes):
        shares = pad(model.predict_proba(X), model.classes_, classes)
        return centered_logits(shares)
    scores = model.decision_function(X)
    if scores.ndim == 1:
        return np.outer(scores, [-0.5, 0.5])
    return scores - scores.mean(axis=1, keepdims=True)


def pad(shares, known_classes, classes):
    """Add probabilities of 0 of the classes of which a model had no sample."""
    if len(known_classes) == len(classes):
        return shares
    require(np.isin(known_classes, classes).all(), "a model of it has other classes")
    padded = np.zeros((len(shares), len(classes)))
    padded[:, np.searchsorted(classes, known_classes)] = shares
    return padded
