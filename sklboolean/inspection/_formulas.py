"""The formula of a fitted model, the bits it reads, and whether they agree."""

from numbers import Real

import numpy as np
from scipy import sparse

from sklboolean._core.formula import FirstRule, Members, formula_of
from sklboolean._core.validation import check_array_strict
from sklboolean.inspection._kernel_sums import kernel_sum

MODELS = (
    "a list of rules such as RuleClassifier or ConjunctionClassifier, a sum of "
    "conjunctions such as ConjunctionLogisticRegression, ScorecardClassifier or "
    "BooleanGradientBoostingClassifier, a linear model with coef_ such as "
    "AveragedPerceptron, a BooleanStump or ConjunctionStump, or a BoostByMajority or "
    "FilteringBoostByMajority of these"
)
TOLERANCE = 1e-9  # between the probabilities of the formula and of the model


def as_bits(X, binarize, name="X", *, only_bits=False):
    """Check samples, dense or sparse, and return them as a dense Boolean array.

    With ``only_bits`` other numbers than 0 and 1 are an error.
    """
    X = check_array_strict(X, name, accept_sparse="csr")
    X = X.toarray() if sparse.issparse(X) else X
    # Models that take zeros and ones have no threshold.
    threshold = binarize if isinstance(binarize, Real) else 0.0
    if X.dtype == bool and threshold < 1:
        return X
    if only_bits and ((X != 0) & (X != 1)).any():
        raise ValueError(
            f"{name} must hold zeros and ones where the terms of the model are read, "
            "but it holds other numbers. Encode them, for example with BooleanEncoder."
        )
    return (X if X.dtype.kind in "iu" else X.astype(np.float64)) > threshold


def check_names(names, n_features, things="features"):
    """Return a name for each feature; None stands for x0, x1, ..."""
    names = [f"x{j}" for j in range(n_features)] if names is None else list(names)
    if len(names) != n_features:
        raise ValueError(
            f"feature_names has {len(names)} names, but the model has {n_features} "
            f"{things}."
        )
    return list(map(str, names))


def conjunctions_of(model):
    """Return the formula of a fitted model; None if it is not one of conjunctions."""
    formula = formula_of(model)
    formula = kernel_sum(model) if formula is None else formula
    return None if isinstance(formula, Members) else formula


def check_conjunctions(model, formula):
    """Return a formula of conjunctions; another one is an error."""
    if formula is None or isinstance(formula, Members):
        raise ValueError(
            f"This {type(model).__name__} is not a list of rules and not a sum of "
            f"conjunctions. The model must be {MODELS}, or a KernelPerceptron or "
            "BooleanSVC whose kernel is not normalized and weighs at most 10,000 "
            "conjunctions. distill fits a formula to any model, and extract_dnf takes "
            "rules out of a kernel model."
        )
    return formula


def compare_with_predictions(formula, bits, whole, X):
    """Raise a ValueError unless the formula gives what the model predicts."""
    has_values = hasattr(whole, "predict_proba") or hasattr(whole, "decision_function")
    if formula.classes is not None and not has_values:  # rules of extract_dnf
        is_same = np.array_equal(formula.predict(bits), whole.predict(X))
    else:
        is_same = _is_close(*_both_outputs(formula, bits, whole, X))
    if not is_same:
        raise ValueError(
            "The weights of the model do not add up to what it predicts for X, so "
            "showing them would mislead. X must be the data for which the estimator "
            f"was fitted, and the estimator {MODELS}."
        )


def _both_outputs(formula, bits, whole, X):
    """Compute probabilities or scores, by the formula and by the model."""
    if isinstance(formula, FirstRule) or formula.has_probabilities:
        return formula.evaluate(bits), whole.predict_proba(X)
    if formula.classes is None:
        return formula.predict(bits), whole.predict(X)
    return formula.scores(bits), whole.decision_function(X)


def _is_close(result, expected):
    """Test if two tables are equal but for rounding."""
    expected = np.reshape(expected, result.shape)
    # Relative to the largest value, because sums round by their largest terms.
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    return np.allclose(result, expected, rtol=0, atol=TOLERANCE * size)
