"""Weak learners: each fits a hypothesis to weighted samples and votes on all of them.

`StumpWeakLearner` is compiled and works on columns of bits. `ClassifierWeakLearner` and
`RegressorWeakLearner` fit clones of any scikit-learn estimator, and present a
distribution to it by sample weights or by resampling.
"""

# A learner holds its training samples. `fit` gets weights and returns a hypothesis in a
# form of its own, `predict_codes` its class numbers on the training samples, and
# `votes` counts votes on other samples. There are two ways to present a distribution:
# * weights, for learners that take them: multiplied by a power of two, so that their
#   sum stays near that of the samples and penalties of the learner keep their meaning;
# * samples drawn with replacement in proportion to them (`n_draws` of them).
# Compiled learners get int16 weights by states, and know the edge of a hypothesis.

from copy import copy
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import gammaln
from sklearn.base import is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sklboolean._core.bits import always_true
from sklboolean._core.meta import draw_seed, fit_clone
from sklboolean._core.parameters import check_choice, check_integer
from sklboolean._core.validation import as_boolean, warn_of_lost_columns
from sklboolean.boosting._conjunction_stump import (
    ConjunctionStump,
    best_conjunction,
    truth_of_conjunction,
    width_of_beam,
)
from sklboolean.boosting._game import play_rounds
from sklboolean.boosting._stump import (
    BooleanStump,
    Stump,
    StumpColumns,
    best_stump,
    class_signs,
    count_stump_votes,
    quantize_weights,
)

LEAST_FOR_THREADS = 2**21  # bits: a round takes some tenths of a millisecond
ROUNDING = 2.0**-40  # smaller relative errors are rounding
MOST_COMPILED = 2001  # rounds of a compiled game, whose states of all rounds are kept


class WeakLearner(Protocol):
    """Interface of a weak learner for the rounds of boosting.

    Attributes
    ----------
    n_classes : int
    returns_edge : bool
        Whether a hypothesis has an ``edge``, exact for the weights it was fitted with.
    drawn : list of ndarrays
        Distinct samples that were drawn for each hypothesis, where samples are drawn.
    require : {"sharedmem", None}
        What joblib's backend of several games must have: compiled learners are
        threads of this process.
    fills_threads : bool
        Whether a round is long enough for several threads. Of short ones each thread
        waits for the GIL of the others.
    """

    n_classes: int
    returns_edge: bool
    drawn: list
    require: str | None
    fills_threads: bool

    def fit(self, weights, rng, round_weights=None):
        """Fit a hypothesis.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,), float64
            A learner that returns edges takes int16 too, from `quantize_weights`.
        rng : RandomState
        round_weights : RoundWeights or None
            The same weights by states, when no samples are held out. A learner that
            returns edges can quantize them faster; ``weights`` may then be None.
        """

    def predict_codes(self, hypothesis):
        """Predict the class number of each training sample."""


class GameArrays:
    """Input of a compiled game of k rounds, and the arrays that it writes.

    Attributes
    ----------
    labels : ndarray of shape (n_words,), uint32
        Bit r of word w is the class of sample 32 w + r.
    beam : tuple of int
        ``max_literals`` and `width_of_beam`; 1 and 1 for a stump.
    draw_uniform : callable
        Returns a number below 65536 for each sample, uint16.
    log_factorials : ndarray of shape (k + 1,), float64
    right : ndarray of shape (32 * n_words,), uint16
        Number of right votes on each sample.
    counts : ndarray of shape (n_lines, k + 2), int64
        Line i modulo n_lines, which is 2 or all k + 1, has the number of samples in
        each state before round i.
    tests : ndarray of shape (k + 1, 2 + max_literals), int64
        The classes where each hypothesis is false and true, and its literals; -1 where
        there are none. The last line has the best one of those without an edge.
    record : ndarray of shape (4, k + 1), float64
        The edge in each round, the edge that is followed, that on the training samples,
        and gamma. The last column belongs to the last line of ``tests``.
    """

    def __init__(self, codes, k, beam, rng, *, counted):
        self.k, self.beam = k, beam
        octets = np.zeros(4 * -(-len(codes) // 32), dtype=np.uint8)
        octets[: -(-len(codes) // 8)] = np.packbits(codes, bitorder="little")
        self.labels = octets.view("<u4").astype(np.uint32)
        self.draw_uniform = partial(rng.randint, 0, 2**16, len(codes), np.uint16)
        self.log_factorials = gammaln(np.arange(1, k + 2))
        self.right = np.zeros(32 * len(self.labels), dtype=np.uint16)
        self.counts = np.zeros((k + 1 if counted else 2, k + 2), dtype=np.int64)
        self.tests = np.full((k + 1, 2 + beam[0]), -1, dtype=np.int64)
        self.record = np.zeros((4, k + 1))


class PlayedRounds(NamedTuple):
    """The rounds of a compiled game.

    Attributes
    ----------
    hypotheses : list
        One for each round; None where it has no edge.
    record : ndarray of shape (3, n_rounds), float64
        The edge in each round, the edge that is followed, and gamma.
    best_failure : tuple of (hypothesis, float)
        Of the hypotheses without an edge the one with the largest, and its edge.
    right : ndarray of shape (n_samples,), int
        Number of right votes on each sample.
    counts : ndarray of shape (k + 1, k + 2), int64
        The samples in each state before each round, where they are asked for.
    """

    hypotheses: list
    record: np.ndarray
    best_failure: tuple
    right: np.ndarray
    counts: np.ndarray


class StumpWeakLearner:
    """The best stump in each round, found over columns of bits.

    Parameters
    ----------
    estimator : BooleanStump or ConjunctionStump
    X : ndarray of uint64 words, or csr_array
        Boolean samples.
    codes : ndarray of shape (n_samples,), int
        The class of each sample.
    classes : ndarray of shape (n_classes,)
    sample_weight : ndarray of shape (n_samples,), float64, or None
        Above 0. None: all alike.
    n_draws : int or None
        Number of samples to draw for each hypothesis; 0: as many as there are. None:
        use the weights of the round instead.
    n_features : int
    """

    require = "sharedmem"

    def __init__(
        self, estimator, X, codes, classes, sample_weight, n_draws, n_features
    ):
        self.estimator, self.X, self.codes, self.classes = estimator, X, codes, classes
        self.sample_weight, self.n_draws = sample_weight, n_draws
        self.n_classes, self.n_features = len(classes), n_features
        dense = type(estimator) is not BooleanStump
        self.columns = StumpColumns.from_boolean(X, n_features, dense=dense)
        self.signs = class_signs(codes, self.n_classes)
        self.fills_threads = len(codes) * n_features >= LEAST_FOR_THREADS
        self.returns_edge, self.drawn = n_draws is None, []

    def take(self, samples, codes, classes):
        """Make the weak learner of some of the samples, with these classes."""
        subset, weights = copy(self), self.sample_weight
        subset.codes, subset.classes, subset.n_classes = codes, classes, len(classes)
        subset.signs, subset.drawn = class_signs(codes, len(classes)), []
        if len(samples) < len(self.codes):
            subset.X = self.X[samples]
            subset.columns = StumpColumns.from_boolean(
                subset.X, self.n_features, dense=len(self.columns.panels) > 0
            )
            subset.sample_weight = None if weights is None else weights[samples]
        return subset

    def plays(self, schedule):
        """Test if all rounds of a schedule can be played by compiled code."""
        return (
            self.n_classes == 2
            and self.sample_weight is None
            and schedule.n_rounds is not None
            and schedule.n_rounds <= MOST_COMPILED
            and schedule.weak_failure == "abort"
            and schedule.max_tries == 1
        )

    def play(self, schedule, gamma, rng, *, counted):
        """Play the rounds of a schedule, from its first gamma, as `boost` does.

        ``counted`` keeps the number of samples in each state before each round.
        """
        arrays = GameArrays(
            self.codes, schedule.n_rounds, self.beam(), rng, counted=counted
        )
        n_rounds = play_rounds(self.columns, schedule, gamma, arrays)
        hypotheses = [
            self.hypothesis(test, edge) if test[0] >= 0 else None
            for test, edge in zip(
                arrays.tests.tolist(), arrays.record[2].tolist(), strict=True
            )
        ]
        failure = hypotheses.pop(), float(arrays.record[0, -1])
        record, right = (
            arrays.record[[0, 1, 3], :n_rounds],
            arrays.right[: len(self.codes)],
        )
        return PlayedRounds(
            hypotheses[:n_rounds], record, failure, right, arrays.counts
        )

    def beam(self):
        """Return the largest number of literals, and of conjunctions to extend."""
        return 1, 1

    def hypothesis(self, test, edge):
        """Make a hypothesis of the classes and literals of a compiled game."""
        literals = tuple(literal for literal in test[2:] if literal >= 0)
        return Stump(literals, *test[:2], edge)

    def fit(self, weights, rng, round_weights=None):
        """Find the best `Stump`."""
        if self.n_draws is not None:
            samples = draw_samples(weights, self.n_draws, rng)
            self.drawn.append(np.unique(samples))
            exact = np.bincount(samples, minlength=len(weights)).astype(np.float64)
        elif round_weights is None:
            is_integer = weights.dtype == np.int16
            exact = weights if is_integer else quantize_weights(weights)
        else:
            exact = round_weights.of_samples(quantized=True)
        return self.best(exact)

    def best(self, weights):
        """Find the best `Stump` under weights as `best_stump` takes them."""
        return best_stump(self.columns, self.signs, weights)

    def predict_codes(self, stump):
        """Predict the class number of each training sample."""
        return self.columns.choose(stump.feature, stump.if_false, stump.if_true)

    def votes(self, stumps, X):
        """Count the votes of stumps on other samples."""
        return count_stump_votes(self.tests(stumps), X, self.n_classes)

    def tests(self, stumps):
        """Arrange stumps as `count_stump_votes` takes them."""
        length = max(1, *(len(stump.literals) for stump in stumps))
        tests = np.full((len(stumps), 2 + length), -1, dtype=np.int64)
        for line, stump in zip(tests, stumps, strict=True):
            line[:2] = stump.if_false, stump.if_true
            line[2 : 2 + len(stump.literals)] = sorted(stump.literals)
        return tests


class ConjunctionWeakLearner(StumpWeakLearner):
    """The best conjunction in each round, over the same columns of bits."""

    def beam(self):
        """Return the largest number of literals, and of conjunctions to extend."""
        length = min(self.estimator.max_literals, self.n_features)
        return length, width_of_beam(self.n_features)

    def best(self, weights):
        """Find the best conjunction."""
        return best_conjunction(
            self.columns, self.signs, weights, self.estimator.max_literals
        )

    def predict_codes(self, conjunction):
        """Predict the class number of each training sample."""
        truth = truth_of_conjunction(self.columns, conjunction.literals)
        sides = np.array([conjunction.if_false, conjunction.if_true], dtype=np.int16)
        return sides[truth]


class ClassifierWeakLearner:
    """Any classifier: a clone is fitted in each round.

    A hypothesis is a pair of the fitted classifier and the samples it was fitted to,
    None for all. A classifier of a kernel matrix needs the columns of these samples.

    Parameters
    ----------
    estimator : classifier
        Unfitted.
    X : ndarray or sparse array of shape (n_samples, n_features)
    codes, classes, sample_weight, n_draws
        As for `StumpWeakLearner`.
    """

    returns_edge, require, fills_threads = False, None, True

    def __init__(self, estimator, X, codes, classes, sample_weight, n_draws):
        self.estimator, self.X, self.codes, self.classes = estimator, X, codes, classes
        self.sample_weight, self.n_draws = sample_weight, n_draws
        self.n_classes, self.y = len(classes), classes[codes]
        self.pairwise = get_tags(estimator).input_tags.pairwise
        self.total = float(len(codes) if sample_weight is None else sample_weight.sum())
        self.drawn = []

    def take(self, samples, codes, classes):
        """Make the weak learner of some of the samples, with these classes."""
        X, weights = self.X, self.sample_weight
        if len(samples) < len(self.codes):
            X = take_samples(self.estimator, X, samples, samples)
            weights = None if weights is None else weights[samples]
        return ClassifierWeakLearner(
            self.estimator, X, codes, classes, weights, self.n_draws
        )

    def fit(self, weights, rng, _round_weights=None):
        """Fit a clone of the classifier."""
        base, X, seed = self.estimator, self.X, draw_seed(rng)
        if self.n_draws is not None:
            # In order: a classifier of a kernel matrix keeps these columns.
            samples = np.sort(draw_samples(weights, self.n_draws, rng))
            self.drawn.append(np.unique(samples))
            X_shown = take_samples(base, X, samples, samples)
            return fit_labels(base, X_shown, self.y[samples], seed), samples
        scaled = scale_to(self.total, weights)
        if weights.all():
            return fit_labels(base, X, self.y, seed, scaled), None
        # Samples without weight are left out: not every estimator ignores them.
        samples = np.flatnonzero(weights)
        X_shown = take_samples(base, X, samples, samples)
        model = fit_labels(base, X_shown, self.y[samples], seed, scaled[samples])
        return model, samples

    def predict_codes(self, hypothesis, X=None):
        """Predict the class number of each sample, those of training by default."""
        model, samples = hypothesis
        X = self.X if X is None else X
        if samples is not None and self.pairwise:
            X = X[:, samples]
        return np.searchsorted(self.classes, model.predict(X))

    def votes(self, hypotheses, X):
        """Count the votes of hypotheses on other samples."""
        votes = np.zeros((X.shape[0], self.n_classes), dtype=np.int64)
        for hypothesis in hypotheses:
            votes[np.arange(len(votes)), self.predict_codes(hypothesis, X)] += 1
        return votes


class RegressorWeakLearner:
    """Any regressor; it is correct where its error is at most a tolerance.

    Every sample has the same class, that of agreement up to the tolerance.

    Parameters
    ----------
    estimator : regressor
        Clones of it are fitted.
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Targets.
    total : float
        Approximate sum of the weights that are passed on.
    delta : float or None
        The tolerance. None: set by the first hypothesis.
    share : float
        Share of the weight on which the first hypothesis must be correct, at most 1.
    n_draws : int or None
        As for `StumpWeakLearner`.
    """

    n_classes, returns_edge, require, fills_threads = 2, False, None, True

    def __init__(self, estimator, X, y, total, delta, share, n_draws):
        self.estimator, self.X, self.y, self.total = estimator, X, y, total
        self.delta, self.share, self.n_draws = delta, share, n_draws
        self.drawn = []  # samples drawn are not a fitted attribute

    def fit(self, weights, rng, _round_weights=None):
        """Fit a clone of the regressor."""
        seed = draw_seed(rng)
        if self.n_draws is not None:
            samples, shown_weights = draw_samples(weights, self.n_draws, rng), None
        else:
            samples = np.flatnonzero(weights)
            shown_weights = scale_to(self.total, weights)[samples]
        model = fit_clone(
            self.estimator, self.X[samples], self.y[samples], seed, shown_weights
        )
        # The first regressor sets the tolerance: a quantile of its own errors.
        if self.delta is None:
            least = least_tolerance(self._errors(model), weights, self.share)
            self.delta = max(least, float(ROUNDING * np.abs(self.y).max()))
        return model

    def predict_codes(self, model):
        """Compute 1 for each sample on which a regressor is correct, else 0."""
        return (self._errors(model) <= self.delta).astype(np.int8)

    def _errors(self, model):
        predictions = model.predict(self.X)
        with np.errstate(over="ignore", invalid="ignore"):
            errors = np.abs(self.y - predictions)
        if errors.shape != self.y.shape or not np.isfinite(errors).all():
            raise ValueError(
                f"estimator must predict one finite number for each sample; {model} "
                "does not, or y is so large that differences overflow: scale y down."
            )
        return errors


def least_tolerance(errors, weights, share):
    """Compute the least error at or below which a share of the weight lies.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.boosting._weak_learners import least_tolerance
    >>> least_tolerance(np.array([3.0, 0.0, 1.0, 2.0]), np.ones(4), 0.75)
    2.0
    """
    order = np.argsort(errors)
    up_to = np.cumsum(weights[order])
    position = np.searchsorted(up_to, share * up_to[-1])
    return float(errors[order[min(position, len(order) - 1)]])


# Samples and weights


def take_samples(estimator, X, samples, columns):
    """Select samples, and of a kernel matrix the columns of the training samples."""
    X_taken = X[samples]
    return X_taken[:, columns] if get_tags(estimator).input_tags.pairwise else X_taken


def draw_samples(weights, n_draws, rng):
    """Draw samples with replacement, in proportion to their weights."""
    n = len(weights)
    return rng.choice(n, size=n_draws or n, p=weights / weights.sum())


def scale_to(total, weights):
    """Multiply weights by a power of two so that their sum is approximately a total.

    Estimators with a penalty should see about as much weight in every round. A power of
    two keeps sums of weights exact.
    """
    # A difference, because the quotient may overflow.
    shift = np.rint(np.log2(total) - np.log2(weights.sum()))
    return np.ldexp(weights, int(shift))


def fit_labels(estimator, X, y, seed, weights=None):
    """Fit a clone of a classifier.

    Where only one label is present the hypothesis is that label: many classifiers
    refuse such data.

    Parameters
    ----------
    estimator : classifier
    X : array of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Labels.
    seed : int
        For every ``random_state`` of the classifier and its parts.
    weights : ndarray of shape (n_samples,), float64, or None

    Returns
    -------
    hypothesis : fitted classifier
    """
    used = slice(None) if weights is None else np.flatnonzero(weights)
    if (y[used] == y[used][0]).all():
        return DummyClassifier(strategy="most_frequent").fit(X[used], y[used])
    return fit_clone(estimator, X, y, seed, weights)


def drop_zero_weight(estimator, X, y, weights):
    """Leave out samples of weight 0; weights None: there are none.

    Returns
    -------
    X, y : the samples that are kept
    weights : ndarray of float64, or None
    index : ndarray of int
        Their numbers.
    """
    index = np.arange(len(y))
    if weights is None or weights.all():
        return X, y, weights, index
    index = np.flatnonzero(weights)
    return take_samples(estimator, X, index, index), y[index], weights[index], index


def least_share(n_samples, weights):
    """Compute the share of the lightest sample in the total weight."""
    return float(1 / n_samples if weights is None else weights.min() / weights.sum())


# Checks


def check_classifier(estimator):
    """Check that an estimator can be a weak learner of labels."""
    is_object = not isinstance(estimator, type) and hasattr(estimator, "fit")
    if not is_object or is_regressor(estimator):
        raise TypeError(
            "estimator must be a classifier, such as DecisionTreeClassifier(); got "
            f"{estimator!r}."
        )


def is_stump(estimator):
    """Test for the compiled weak learners, which learn from bits."""
    return type(estimator) in (BooleanStump, ConjunctionStump)


def bits_of_samples(booster, stump, X):
    """Convert checked training samples into the bits that a stump learns from.

    Where ``binarize`` makes columns constant, the warning or error is that of the
    booster, which has the column names.
    """
    stump._check_params()
    bits = as_boolean(X, stump.binarize)
    if isinstance(X, np.ndarray):
        always = always_true(bits, X.shape[1])
        warn_of_lost_columns(booster, X, always, stump.binarize)
    return bits


def check_regressor(estimator):
    """Check that an estimator can be a weak learner of real values."""
    is_estimator = hasattr(estimator, "fit") and hasattr(estimator, "predict")
    if isinstance(estimator, type) or not is_estimator:
        raise ValueError(
            "estimator must be None or a regressor with fit and predict; got "
            f"{estimator!r}."
        )
    if is_classifier(estimator):
        raise ValueError(
            f"estimator must be a regressor; {estimator} is a classifier. Use "
            "BoostByMajority to boost a classifier."
        )
    if get_tags(estimator).input_tags.pairwise:
        raise ValueError(
            f"estimator must take features; {estimator} takes distances or a kernel "
            "matrix, whose columns are samples. Give it the features and a metric."
        )


def number_of_draws(estimator, schedule):
    """Check how a distribution is presented to a weak learner.

    Parameters
    ----------
    estimator : estimator
    schedule : BoostingSchedule

    Returns
    -------
    n_draws : int or None
        As for `StumpWeakLearner`.
    """
    sampling, n_samples_weak = schedule.sampling, schedule.n_samples_weak
    check_choice(sampling, "sampling", ("auto", "weight", "resample"))
    if n_samples_weak is not None:
        check_integer(n_samples_weak, "n_samples_weak", 1)
    takes_weights = has_fit_parameter(estimator, "sample_weight")
    if sampling == "weight" and not takes_weights:
        raise ValueError(
            "sampling='weight' needs an estimator whose fit takes sample_weight; that "
            f"of {type(estimator).__name__} does not: use sampling='resample', or "
            "'auto'."
        )
    if sampling != "resample" and takes_weights:
        return None
    return n_samples_weak or 0
