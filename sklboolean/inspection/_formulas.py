"""The formula of a fitted model, the bits it reads, and whether they agree."""

from numbers import Real

import numpy as np
from scipy import sparse

from sklboolean._core.formula import FirstRule, Members, formula_of
from sklboolean._core.validation import check_array_strict

MODELS = (
    "a RuleClassifier, a ConjunctionClassifier, a ConjunctionLogisticRegression or "
    "ConjunctionRegressor, a "
    "linear model with coef_ such as AveragedPerceptron, a BooleanStump or "
    "ConjunctionStump, or a BoostByMajority or FilteringBoostByMajority of these"
)
TOLERANCE = 1e-9  # between the probabilities of the formula and of the model


def as_bits(X, binarize):
    """Check samples, dense or sparse, and return them as a dense Boolean array."""
    X = check_array_strict(X, accept_sparse="csr")
    X = X.toarray() if sparse.issparse(X) else X
    threshold = binarize if isinstance(binarize, Real) else 0.0
    return X.astype(np.float64) > threshold


def check_names(names, n_features):
    """Return a name for each feature; None stands for x0, x1, ..."""
    names = [f"x{j}" for j in range(n_features)] if names is None else list(names)
    if len(names) != n_features:
        raise ValueError(
            f"feature_names has {len(names)} names, but the model has {n_features} "
            "features."
        )
    return list(map(str, names))


def conjunctions_of(model):
    """Return the formula of a fitted model; a model without one is an error."""
    return check_conjunctions(model, formula_of(model))


def check_conjunctions(model, formula):
    """Return a formula of conjunctions; another one is an error."""
    if formula is None or isinstance(formula, Members):
        raise ValueError(
            f"This {type(model).__name__} is not a list of rules and not a sum of "
            f"conjunctions that could be shown. estimator must be {MODELS}. Of "
            "KernelPerceptron and BooleanSVC, explain and extract_dnf show the parts."
        )
    return formula


def compare_with_predictions(formula, bits, whole, X):
    """Raise a ValueError unless the formula gives what the model predicts."""
    if isinstance(formula, FirstRule) or formula.has_probabilities:
        result, expected = formula.evaluate(bits), whole.predict_proba(X)
    elif formula.classes is None:
        result, expected = formula.predict(bits), whole.predict(X)
    else:
        result, expected = formula.scores(bits), whole.decision_function(X)
    expected = np.reshape(expected, result.shape)
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    if not np.allclose(result, expected, rtol=0, atol=TOLERANCE * size):
        raise ValueError(
            "The weights of the model do not add up to what it predicts for X, so a "
            "page would mislead. X must be the data for which the estimator was "
            f"fitted, and the estimator {MODELS}."
        )
