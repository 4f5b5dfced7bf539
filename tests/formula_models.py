"""Random formulas, models that are their formula, and random data frames."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer

from sklboolean import BooleanEncoder
from sklboolean._core.formula import Columns, FirstRule, WeightedSum
from sklboolean.inspection._products import outcomes_of


class FormulaModel(BaseEstimator):
    """A model that is its formula."""

    def __init__(self, formula=None):
        self.formula = formula

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def _formula(self):
        return self.formula

    def outputs(self, X):
        """What is explained, of shape (n_samples, n_outputs)."""
        bits = np.asarray(X) > 0
        if isinstance(self.formula, WeightedSum):
            return self.formula.sums(bits)
        return outcomes_of(self.formula)[1][self.formula.first(bits)]

    def predict(self, X):
        return self.formula.predict(np.asarray(X) > 0)

    def decision_function(self, X):
        return self.formula.scores(np.asarray(X) > 0)

    def predict_proba(self, X):
        return self.formula.evaluate(np.asarray(X) > 0)


def random_frame(rng, n_samples):
    """Numbers, levels and Booleans, some missing, some constant."""
    columns = {}
    for j in range(rng.integers(1, 6)):
        kind = rng.integers(4)
        values = rng.integers(0, rng.integers(2, 5), n_samples)
        if kind == 0:
            values = np.where(rng.random(n_samples) < 0.2, np.nan, 1.5 * values)
        elif kind == 1:
            values = np.array(["a", "b", None, "c"], dtype=object)[values]
        elif kind == 2:
            values = values > 0
        columns[f"column {j}"] = values
    return pd.DataFrame(columns)


def random_terms(rng, n_features, n_terms):
    """Conjunctions of up to five literals, the empty one too."""
    terms = []
    for _ in range(n_terms):
        size = rng.integers(0, 1 + min(5, n_features))
        features = rng.choice(n_features, size, replace=False).tolist()
        terms.append(tuple((j, bool(rng.integers(2))) for j in features))
    return terms


def random_formula(rng, n_features):
    """A sum with one or three outputs, or a list of rules."""
    columns = Columns(n_features)
    terms = random_terms(rng, n_features, rng.integers(0, 6))
    n_outputs, n_terms = int(rng.choice([1, 3])), len(terms)
    classes = list(range(max(2, n_outputs)))
    if rng.integers(2):
        weights = rng.normal(size=(n_outputs, n_terms)).round(1)
        divisors = rng.integers(1, 4, n_outputs) * 1.0 if rng.integers(2) else None
        return WeightedSum(
            columns, terms, weights, rng.normal(size=n_outputs), classes,
            has_probabilities=False, divisors=divisors,
        )  # fmt: skip
    probabilities = rng.dirichlet(np.ones(len(classes)), n_terms + 1)
    labels = rng.choice(classes, n_terms).tolist()
    scores = np.log(probabilities) if rng.integers(2) else None
    return FirstRule(columns, terms, labels, 0, classes, probabilities, scores)


class LabelModel(FormulaModel):
    """Rules that have labels alone."""

    predict_proba = decision_function = property()  # has neither


def transformer_of(rng, frame):
    """Encode the columns of a frame in two parts, and pass a column "bit" of its own.

    The frame gets the column, at any place.
    """
    names, place = rng.permutation(frame.columns).tolist(), len(frame.columns) // 2
    bit = rng.integers(0, 2, len(frame)).astype(float)
    frame.insert(int(rng.integers(len(names) + 1)), "bit", bit)
    return ColumnTransformer(
        [
            ("bit", "passthrough", ["bit"]),
            ("first", BooleanEncoder(n_bins=3), names[:place]),
            ("second", BooleanEncoder(n_bins=3), names[place:]),
        ]
    )
