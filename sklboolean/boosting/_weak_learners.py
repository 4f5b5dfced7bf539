"""Weak learners behind one face: fit to a weighted table, then vote on all its rows.

`StumpLearner` is the compiled one, over columns of bits; `EstimatorLearner` takes any
scikit-learn classifier, and shows it a distribution by weights or by resampling.
"""

import numpy as np
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.utils import get_tags

from sklboolean._core.meta import draw_seed, fit_clone
from sklboolean._core.validation import as_boolean, check_binarize
from sklboolean.boosting._columns import StumpTable
from sklboolean.boosting._literals import best_stump, class_signs
from sklboolean.boosting._stump import BooleanStump, publish_stump
from sklboolean.boosting._votes import add_votes
from sklboolean.boosting._weights import quantize_weights

# Values of a block of rows whose votes are summed.
BLOCK_VALUES = 2**22


def as_codes(labels, classes):
    """Return the class numbers of predicted labels."""
    return np.searchsorted(classes, labels)


def take(base, X, rows, columns=None):
    """Return rows of a table, and of a kernel matrix the columns they are known by."""
    part = X[rows]
    if columns is None or not get_tags(base).input_tags.pairwise:
        return part
    return part[:, columns]


def stump_votes(stumps, table, n_classes):
    """Count the votes of stumps: as many for each class as a linear function says.

    Parameters
    ----------
    stumps : ndarray of shape (n_stumps, 3), int
        Feature (-1 for a constant), class where it is false, class where it is true.
    table : words or csr_array
        From `as_boolean`.
    n_classes : int

    Returns
    -------
    votes : ndarray of shape (n_samples, n_classes), int64
    """
    feature, if_false, if_true = stumps.T
    constant = np.bincount(if_false, minlength=n_classes)
    tests = feature >= 0
    used, column = np.unique(feature[tests], return_inverse=True)
    gains = np.zeros((len(used), n_classes))
    np.add.at(gains, (column, if_true[tests]), 1)
    np.add.at(gains, (column, if_false[tests]), -1)
    votes = np.tile(constant, (table.shape[0], 1))
    step = max(1, BLOCK_VALUES // max(1, len(used)))
    for first in range(0, len(votes) if len(used) else 0, step):
        values = columns_of(table[first : first + step], used)
        votes[first : first + step] += np.rint(values @ gains).astype(np.int64)
    return votes


def columns_of(table, features):
    """Return columns of a Boolean table as 0.0 and 1.0."""
    if sparse.issparse(table):
        return table[:, features].toarray().astype(np.float64)
    words = table[:, features >> 6] >> (features & 63).astype(np.uint64)
    return (words & np.uint64(1)).astype(np.float64)


def fit_labels(base, X, y, seed, weights=None):
    """Fit a clone of a base classifier.

    Where only one label is present the hypothesis is that label: many bases refuse it.

    Parameters
    ----------
    base : classifier
    X : array of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Labels.
    seed : int
        For the base's ``random_state``, and those of its parts.
    weights : ndarray of shape (n_samples,), float64, or None

    Returns
    -------
    hypothesis : fitted classifier
    """
    kept = slice(None) if weights is None else np.flatnonzero(weights)
    if (y[kept] == y[kept][0]).all():
        return DummyClassifier(strategy="most_frequent").fit(X[kept], y[kept])
    return fit_clone(base, X, y, seed, weights)


def make_learner(base, X, classes, codes, values=None, *, resample, n_draws):
    """Choose the face for a base classifier.

    Parameters
    ----------
    base : classifier
    X : ndarray or sparse array of shape (n_samples, n_features)
        Checked.
    classes : ndarray of shape (n_classes,)
    codes : ndarray of shape (n_samples,), int
    values : ndarray of shape (n_samples,), float64, or None
        What each row counts; None: 1.
    resample : bool
        Draw rows by weight rather than hand weights over.
    n_draws : int or None
        Rows to draw; None: as many as there are.
    """
    n_draws = n_draws or len(codes)
    if type(base) is BooleanStump:
        return StumpLearner(base, X, classes, codes, resample=resample, n_draws=n_draws)
    total = float(len(codes) if values is None else values.sum())
    return EstimatorLearner(
        base, X, classes, codes, total, resample=resample, n_draws=n_draws
    )


def draw_rows(weights, n_draws, rng):
    """Draw rows with replacement, in proportion to their weights."""
    return rng.choice(len(weights), size=n_draws, p=weights / weights.sum())


def scaled_to(total, weights):
    """Return weights times a power of two, so that their sum is about a total.

    Bases with a penalty should see about as much weight in every round. A power of two
    keeps sums of weights exact.
    """
    # A difference, because the quotient may overflow.
    shift = np.rint(np.log2(total) - np.log2(weights.sum()))
    return np.ldexp(weights, int(shift))


class StumpLearner:
    """The best stump in each round, found over columns of bits.

    Attributes
    ----------
    knows_edges : bool
        Whether the edge of a hypothesis is that under the weights it was shown.
    drawn : list of ndarrays
        Distinct rows that were drawn for each hypothesis.
    """

    def __init__(self, base, X, classes, codes, *, resample, n_draws):
        self.base, self.classes, self.n_features = base, classes, X.shape[1]
        check_binarize(base.binarize)
        table = as_boolean(X, base.binarize)
        self.table = StumpTable.from_boolean(table, self.n_features)
        self.signs = class_signs(codes, len(classes))
        self.one_hot = np.eye(len(classes), dtype=np.int64)
        self.resample, self.n_draws = resample, n_draws
        self.knows_edges = not resample
        self.drawn = []

    def fit(self, weights, rng, shown=None):
        """Return the best `Stump` under weights of the rows.

        ``shown`` are the same as `RoundWeights`, which are quicker to quantize; with
        them ``weights`` may be None.
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

    def votes(self, stumps, X):
        """Count the votes of stumps on other rows."""
        stumps = self.as_array(stumps)
        return stump_votes(stumps, as_boolean(X, self.base.binarize), len(self.classes))

    @staticmethod
    def as_array(stumps):
        """Return stumps as `stump_votes` takes them."""
        rows = [(stump.feature, stump.if_false, stump.if_true) for stump in stumps]
        return np.array(rows, dtype=np.int64).reshape(-1, 3)

    def publish(self, stump, names):
        """Return a fitted `BooleanStump` that votes as this stump does."""
        fitted = BooleanStump(binarize=self.base.binarize)
        fitted.classes_ = self.classes
        fitted.n_features_in_ = self.n_features
        if names is not None:
            fitted.feature_names_in_ = names
        # A vote is for one class, whatever the shares were under the round's weights.
        sides = self.one_hot[[stump.if_false, stump.if_true]]
        publish_stump(fitted, stump, sides)
        return fitted


class EstimatorLearner:
    """Any classifier: a clone is fitted in each round."""

    knows_edges = False

    def __init__(self, base, X, classes, codes, total, *, resample, n_draws):
        self.base, self.X, self.classes = base, X, classes
        self.y = classes[codes]
        self.resample, self.n_draws = resample, n_draws
        self.pairwise = get_tags(base).input_tags.pairwise
        self.total = total
        self.drawn = []

    def fit(self, weights, rng, _shown=None):
        """Return (classifier, rows it was fitted to or None) under weights."""
        seed = draw_seed(rng)
        if self.resample:
            # Distinct rows in order: a base with a kernel of rows keeps these columns.
            rows = np.sort(draw_rows(weights, self.n_draws, rng))
            self.drawn.append(np.unique(rows))
            X = self._columns(self.X[rows], rows)
            return fit_labels(self.base, X, self.y[rows], seed), rows
        scaled = scaled_to(self.total, weights)
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

    def votes(self, hypotheses, X):
        """Count the votes of hypotheses on other rows."""
        votes = np.zeros((X.shape[0], len(self.classes)), dtype=np.int64)
        for classifier, rows in hypotheses:
            part = X if rows is None else self._columns(X, rows)
            add_votes(votes, as_codes(classifier.predict(part), self.classes))
        return votes

    def publish(self, hypothesis, _names):
        """Return the fitted classifier."""
        return hypothesis[0]
