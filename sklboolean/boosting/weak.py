"""Weak learners behind one face: fit to a weighted table, then vote on all its rows.

`StumpLearner` is the compiled one, over columns of bits; `EstimatorLearner` takes any
scikit-learn classifier, and shows it a distribution by weights or by resampling.
"""

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sklboolean._core.validation import as_boolean
from sklboolean.boosting.columns import StumpTable
from sklboolean.boosting.literals import best_stump, class_signs
from sklboolean.boosting.stump import BooleanStump, publish_stump
from sklboolean.boosting.weights import quantize_weights

__all__ = [
    "EstimatorLearner",
    "StumpLearner",
    "as_codes",
    "fit_labels",
    "make_learner",
    "seed_of",
]


def seed_of(rng):
    """Draw the seed of a base hypothesis."""
    return int(rng.randint(np.iinfo(np.int32).max))


def as_codes(labels, classes):
    """Return the class numbers of predicted labels."""
    return np.searchsorted(classes, labels)


def fit_labels(base, X, y, seed, weights=None):
    """Fit a clone of a base classifier.

    Where only one label is present the hypothesis is that label: many bases refuse it.

    Parameters
    ----------
    base : classifier
    X : array of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Labels.
    seed : int
        For the base's ``random_state``, and those of its parts.
    weights : ndarray of shape (n_rows,), float64, or None

    Returns
    -------
    hypothesis : fitted classifier
    """
    kept = slice(None) if weights is None else np.flatnonzero(weights)
    if (y[kept] == y[kept][0]).all():
        return DummyClassifier(strategy="most_frequent").fit(X[kept], y[kept])
    hypothesis = clone(base)
    random = [
        name
        for name in hypothesis.get_params()
        if name == "random_state" or name.endswith("__random_state")
    ]
    hypothesis.set_params(**dict.fromkeys(random, seed))
    if weights is None:
        return hypothesis.fit(X, y)
    return hypothesis.fit(X, y, sample_weight=weights)


def make_learner(base, X, classes, codes, *, resample, n_draws):
    """Choose the face for a base classifier.

    Parameters
    ----------
    base : classifier
    X : ndarray or sparse array of shape (n_rows, n_features)
        Checked.
    classes : ndarray of shape (n_classes,)
    codes : ndarray of shape (n_rows,), int
    resample : bool
        Draw rows by weight rather than hand weights over.
    n_draws : int or None
        Rows to draw; None: as many as there are.
    """
    n_draws = n_draws or len(codes)
    if type(base) is BooleanStump:
        return StumpLearner(base, X, classes, codes, resample=resample, n_draws=n_draws)
    return EstimatorLearner(base, X, classes, codes, resample=resample, n_draws=n_draws)


def draw_rows(weights, n_draws, rng):
    """Draw rows with replacement, in proportion to their weights."""
    return rng.choice(len(weights), size=n_draws, p=weights / weights.sum())


class StumpLearner:
    """The best stump in each round, found over columns of bits."""

    def __init__(self, base, X, classes, codes, *, resample, n_draws):
        self.base, self.classes, self.n_features = base, classes, X.shape[1]
        table = as_boolean(X, base.binarize)
        self.table = StumpTable.from_boolean(table, self.n_features)
        self.signs = class_signs(codes, len(classes))
        self.resample, self.n_draws = resample, n_draws
        self.drawn = []

    def fit(self, weights, rng, shown=None):
        """Return the best `Stump` under weights of the rows.

        ``shown`` are the same as `RoundWeights`, which are quicker to quantize.
        """
        if not self.resample:
            small = quantize_weights(weights) if shown is None else shown.quantized()
            return best_stump(self.table, self.signs, small)
        rows = draw_rows(weights, self.n_draws, rng)
        self.drawn.append(np.unique(rows))
        counts = np.bincount(rows, minlength=len(weights))
        return best_stump(self.table, self.signs, counts.astype(np.float64))

    def codes_of(self, stump):
        """Return the class that a stump predicts for each row."""
        return self.table.choose(stump.feature, stump.if_false, stump.if_true)

    def publish(self, stump, names):
        """Return a fitted `BooleanStump` that votes as this stump does."""
        fitted = clone(self.base)
        fitted.classes_ = self.classes
        fitted.n_features_in_ = self.n_features
        if names is not None:
            fitted.feature_names_in_ = names
        # A vote is for one class, whatever the shares were under the round's weights.
        sides = np.eye(len(self.classes), dtype=np.int64)[
            [stump.if_false, stump.if_true]
        ]
        publish_stump(fitted, stump, sides)
        return fitted


class EstimatorLearner:
    """Any classifier: a clone is fitted in each round."""

    def __init__(self, base, X, classes, codes, *, resample, n_draws):
        self.base, self.X, self.classes = base, X, classes
        self.y = classes[codes]
        self.resample, self.n_draws = resample, n_draws
        self.pairwise = get_tags(base).input_tags.pairwise
        if not resample and not has_fit_parameter(base, "sample_weight"):
            raise ValueError(
                f"{type(base).__name__}.fit takes no sample_weight: use "
                "variant='resample', or 'auto'."
            )
        self.total = float(len(codes))
        self.drawn = []

    def fit(self, weights, rng, _shown=None):
        """Return (classifier, rows it was fitted to or None) under weights."""
        seed = seed_of(rng)
        if self.resample:
            # Distinct rows in order: a base with a kernel of rows keeps these columns.
            rows = np.sort(draw_rows(weights, self.n_draws, rng))
            self.drawn.append(np.unique(rows))
            X = self._columns(self.X[rows], rows)
            return fit_labels(self.base, X, self.y[rows], seed), rows
        # Bases with a penalty should see as much weight in every round.
        scaled = weights * (self.total / weights.sum())
        if weights.all():
            return fit_labels(self.base, self.X, self.y, seed, scaled), None
        rows = np.flatnonzero(weights)
        X = self._columns(self.X[rows], rows)
        return fit_labels(self.base, X, self.y[rows], seed, scaled[rows]), rows

    def _columns(self, X, rows):
        return X[:, rows] if self.pairwise else X

    def codes_of(self, hypothesis):
        """Return the class that a hypothesis predicts for each row."""
        classifier, rows = hypothesis
        X = self.X if rows is None else self._columns(self.X, rows)
        return as_codes(classifier.predict(X), self.classes)

    def publish(self, hypothesis, _names):
        """Return the fitted classifier."""
        return hypothesis[0]
