"""Base of the averaged perceptron and Winnow: online linear classification."""

# A training call (`_train`), in steps:
# 1. `near_samples` copies the samples if few of many are trained on.
# 2. `OnlineLoop` (`_loop.pyx`) takes the state's arrays; it changes them in place.
# 3. Each epoch: `EpochOrder.next` shuffles sample numbers, `run_epoch` runs the loop
# over them, `HeldOutLoss` measures the state if samples are held out.
# 4. `loop.finish` brings deferred updates and lazy averages up to date.
# The loop: score the active features of a sample, compare with threshold and margin,
# update weights of active features only, and note what the mean of the hypotheses
# lacks. A pass so takes time in proportion to the ones of the samples, not to the
# features.
# Freund, Schapire 1999 (mean, survivors); Littlestone 1988 (Winnow).

from functools import partial
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from sklboolean._core.base import History, OnlineClassifier
from sklboolean._core.bits import always_true
from sklboolean._core.calibration import break_ties, calibrated_loss
from sklboolean._core.exports import ExportMixin
from sklboolean._core.formula import linear_formula
from sklboolean._core.memory import MemoryCost
from sklboolean._core.packed_partitions import bits_of_booleans
from sklboolean._core.parameters import (
    check_binarize,
    check_choice,
    check_integer,
    check_real,
    refuse_changed_params,
)
from sklboolean._core.progress import SILENT
from sklboolean._core.validation import (
    KEPT_DTYPES,
    as_boolean,
    check_is_fitted,
    validate_data_or_bits,
    warn_of_lost_columns,
    warn_of_raw_numbers,
)
from sklboolean.linear_model._data import NO_DATA, OnlineData, pack_samples
from sklboolean.linear_model._loop import (
    OnlineLoop,
    score_samples,
    shuffle,
    shuffle_blocks,
)
from sklboolean.linear_model._parameter_mixing import ParameterMixingMixin
from sklboolean.linear_model._state import LinearState

TERMS_AT_A_TIME = 2**26  # weights touched between two checks for an interrupt
BLOCK = 32  # samples that are shuffled together
LEAST_FOR_BLOCKS = 4096  # samples; few of them are in the processor's cache anyway
VALIDATION_FRACTION = 0.1  # of the samples, for early stopping
N_ITER_NO_CHANGE = 5  # passes after which early stopping gives up


class BaseOnlineLinear(ExportMixin, ParameterMixingMixin, OnlineClassifier):
    """Base class of the online linear classifiers.

    A subclass has the parameters of `AveragedPerceptron` that are not about its update
    rule, and defines ``_config()``, which checks the others and returns a `LoopConfig`.
    """

    _has_auto_margin = False
    # A model of half of the samples with a fifth of the passes is calibrated as well as
    # one of a quarter with half of the passes, and takes less time.
    _second_model = 2, 5

    @property
    def _memory(self):
        """Memory of a fit; samples that train and those held out are copies."""
        return MemoryCost(2**24, 80 if self.early_stopping else 50, 2.0, 20)

    def _check_params(self):
        check_choice(self.average, "average", ("mean", "longest", None))
        check_choice(self.multi_class, "multi_class", ("ovr", "joint"))
        check_integer(self.max_iter, "max_iter", 1)
        self._margins()

    def _margins(self):
        """Check ``margin`` and return the margins of positive and negative samples.

        None: they depend on the samples.
        """
        if self._has_auto_margin and isinstance(self.margin, str):
            check_choice(self.margin, "margin", ("auto", "a number", "a pair"))
            return None
        is_pair = isinstance(self.margin, tuple | list)
        pair = tuple(self.margin) if is_pair else (self.margin, self.margin)
        if len(pair) != 2:
            raise ValueError(
                f"margin must be a number or a pair of numbers; got {self.margin}."
            )
        for value in pair:
            check_real(value, "margin", 0.0)
        if self.multi_class == "joint" and pair[0] != pair[1]:
            raise ValueError(
                "multi_class='joint' compares two classes: margin must be one number; "
                f"got the pair {self.margin}."
            )
        return float(pair[0]), float(pair[1])

    def _bits_of(self, X):
        is_binarized = hasattr(self, "binarize") and self.binarize != "passthrough"
        return super()._bits_of(X) if is_binarized else bits_of_booleans(self, X)

    def _check_X(self, X, y="no_validation", *, reset):
        """Check X (and y), make X Boolean if ``binarize`` asks for it, and pack it."""
        binarize = getattr(self, "binarize", "passthrough")
        as_given = isinstance(binarize, str)
        if as_given:
            check_choice(binarize, "binarize", ("passthrough",))
        else:
            check_binarize(binarize)
        # Packing finds NaN and infinity by itself.
        options = {"ensure_all_finite": not as_given, "dtype": KEPT_DTYPES}
        checked = validate_data_or_bits(
            self, X, y, reset=reset, accept_sparse="csr", **options
        )
        only_X = isinstance(y, str) and y == "no_validation"
        user_X, (X, y) = X, (checked, None) if only_X else checked
        if as_given:
            data = pack_samples(X, user_X)
            if reset and len(data.data) and isinstance(X, np.ndarray):
                warn_of_raw_numbers(self, X)
        else:
            n_features, bits = X.shape[1], as_boolean(X, binarize)
            if sparse.issparse(bits):
                data = pack_samples(bits, user_X)
            else:
                if isinstance(X, np.ndarray):
                    always = always_true(bits, n_features) if reset else None
                    warn_of_lost_columns(self, X, always, self.binarize)
                data = OnlineData.of_words(bits, n_features)
        return data if only_X else (data, y)

    def _resume_params(self):
        return _fixed_params(self._config())

    def _check_resumable(self, params):
        refuse_changed_params(_fixed_params(self._state.config), params)

    def _init_state(self):
        n_classes = len(self.classes_)
        return LinearState(self._config(), 1 if n_classes == 2 else n_classes)

    def _train(
        self, state, data, codes, weights, samples=None, one_pass=False, progress=SILENT
    ):
        """Train a state by epochs, or by one pass in the order of the samples."""
        state.config = self._config()
        codes = codes.astype(np.int32)
        data, codes, weights, samples = near_samples(data, codes, weights, samples)
        state.set_mean_change(data, samples, weights)
        n_epochs = 1 if one_pass else self.max_iter
        stops_early = self.early_stopping and not one_pass
        # A look after each epoch needs the average; one epoch has little to gain.
        # Deferred updates are quicker, and exact only without a look in between.
        is_watched = stops_early or progress.context is not None
        n_updates = 0 if n_epochs == 1 or is_watched else n_epochs * len(samples)
        sizes = NO_DATA if weights is None else weights
        loop = OnlineLoop(state, codes, sizes, data, n_updates)
        rng, history, held_out = check_random_state(self.random_state), History(), None
        if stops_early:
            samples, test = self._hold_out(samples, codes, rng)
            held_out = HeldOutLoss(state, partial(self._scores, data=data), codes, test)
        shuffles = self.shuffle and not one_pass
        order = EpochOrder(samples, codes, rng if shuffles else None, stops_early)
        for _ in range(n_epochs):
            run_epoch(loop, state, order.next(), history)
            stop = progress.step(history.last, lambda model: model._store(state.copy()))
            if held_out is not None:
                stop |= held_out.measure(state) >= N_ITER_NO_CHANGE
            if stop:
                break
        loop.finish()
        return (state if held_out is None else held_out.best), history

    def _hold_out(self, samples, codes, rng):
        """Split samples into those for training and those for early stopping."""
        n_held_out = int(np.ceil(VALIDATION_FRACTION * len(samples)))
        n_classes = len(self.classes_)
        if min(n_held_out, len(samples) - n_held_out) < n_classes:
            raise ValueError(
                f"early_stopping would hold out {n_held_out} of {len(samples)} "
                f"samples, but each part needs one of each of the {n_classes} classes: "
                "give more samples, or set early_stopping=False."
            )
        how = {"test_size": VALIDATION_FRACTION, "random_state": rng}
        train, held_out = train_test_split(samples, stratify=codes[samples], **how)
        return np.sort(train), held_out

    def _scores(self, state, data, samples):
        weights, intercept = state.hypothesis(self.average)
        scores = np.empty((len(samples), len(intercept)))
        score_samples(weights, data, np.ascontiguousarray(samples), scores)
        scores += intercept
        return _as_decision(scores)

    def _set_fitted_attributes(self, state):
        self.t_, self.margin_ = state.t, state.margins()
        n_features = self.n_features_in_
        weights, self.intercept_ = state.hypothesis(self.average)
        raw_weights, self.raw_intercept_ = state.hypothesis()
        self.coef_ = weights[:n_features].T
        self.raw_coef_ = raw_weights[:n_features].T
        if not (np.isfinite(self.coef_).all() and np.isfinite(self.raw_coef_).all()):
            raise ValueError(
                "The weights are beyond float64. Divide sample_weight, class_weight, X "
                "or learning_rate by a large number."
            )

    def decision_function(self, X) -> np.ndarray:
        """Compute the score of each sample for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            Two classes: positive for the second one; a score of 0 is replaced by the
            smallest float above it. More: the predicted class has the largest score.
        """
        check_is_fitted(self)
        blocks = self._check_X(X, reset=False).value_blocks()
        sums = np.concatenate([block @ self.coef_.T for block in blocks])
        scores = _as_decision(sums + self.intercept_)
        return break_ties(scores) if scores.ndim == 1 else scores

    def _formula(self):
        return linear_formula(self)

    def prune(self, threshold) -> Self:
        """Set weights of small magnitude to 0.

        Only ``coef_`` changes. Training is resumed from the weights as they were.

        Parameters
        ----------
        threshold : float
            Weights whose magnitude, after averaging, is at most this are set to 0.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        check_is_fitted(self)
        check_real(threshold, "threshold", 0.0)
        self.coef_ = np.where(np.abs(self.coef_) <= threshold, 0.0, self.coef_)
        return self


def _fixed_params(config):
    """Name what a state depends on, by the parameter that says it."""
    params = {
        "average": config.average,
        "learning_rate": "adagrad" if config.schedule == "adagrad" else "not adagrad",
        "variant": config.rule + "_conjunction" * config.flipped,
        "binarize": config.binarize,
        "multi_class": "joint" if config.joint else "ovr",
    }
    if config.rule == "additive":
        return params | {"fit_intercept": config.fit_intercept}
    return params | {"threshold": "not None" if config.fit_intercept else None}


def _as_decision(scores):
    """Flatten the scores of a single hypothesis."""
    return scores[:, 0] if scores.shape[1] == 1 else scores


def near_samples(data, codes, weights, samples):
    """Copy the samples to train on, if that makes the epochs faster.

    Parameters
    ----------
    data : OnlineData
    codes : ndarray of shape (n_samples,), int32
    weights : ndarray of shape (n_samples,) or None
    samples : ndarray of int or None
        Numbers of the samples to train on. None: all.

    Returns
    -------
    data, codes, weights, samples
        The same for the copy.
    """
    if samples is None:
        return data, codes, weights, np.arange(len(codes))
    # A copy of most of the samples gains nothing, and few fit the cache anyway.
    if len(codes) < LEAST_FOR_BLOCKS or 3 * len(samples) >= 2 * len(codes):
        return data, codes, weights, samples
    # The copy is read from neighbouring memory.
    weights = None if weights is None else weights[samples]
    return data[samples], codes[samples], weights, np.arange(len(samples))


class EpochOrder:
    """The order of the samples in each epoch.

    Parameters
    ----------
    samples : ndarray of shape (n_chosen,), int
        Numbers of the samples to train on.
    codes : ndarray of shape (n_samples,), int32
        Class numbers.
    rng : RandomState or None
        None: all epochs keep the order of ``samples``.
    starts_anew : bool
        Shuffle ``samples`` in each epoch. False: shuffle the order of the last epoch.
    """

    def __init__(self, samples, codes, rng, starts_anew):
        self.rng, self.starts_anew = rng, starts_anew
        self.samples = samples.astype(np.int64, copy=False)
        self.order = self.samples if rng is None else self.samples.copy()
        # Neighbours are read from the same memory. Of sorted labels they are the same.
        n_changes = np.count_nonzero(np.diff(codes[samples]))
        is_large = len(samples) >= LEAST_FOR_BLOCKS
        self.in_blocks = is_large and n_changes * BLOCK > len(samples)

    def next(self):
        """Compute the order of the next epoch, which may overwrite the last one."""
        if self.rng is None:
            return self.order
        if self.starts_anew:
            self.order = self.samples.copy()
        # The compiled shuffle has its own generator: the same order on every platform.
        seed = self.rng.randint(2**63, dtype=np.uint64)
        if self.in_blocks:
            shuffle_blocks(self.samples, BLOCK, seed, self.order)
        else:
            shuffle(self.order, seed)
        return self.order


def run_epoch(loop, state, order, history):
    """Train on samples in an order, and add the epoch to the history."""
    n_mistakes, n_updates = loop.n_mistakes, loop.n_updates
    step = max(1, TERMS_AT_A_TIME // loop.n_terms)
    for first in range(0, len(order), step):
        loop.run(order[first : first + step])
    state.t = loop.t
    history.append(loop.n_mistakes - n_mistakes, loop.n_updates - n_updates)


class HeldOutLoss:
    """Log-loss on held-out samples after each epoch, and the best state.

    Accuracy would not tell apart states that predict the frequent class.

    Parameters
    ----------
    state : LinearState
        The state before training.
    compute_scores : callable
        ``compute_scores(state, samples=samples)`` scores some samples.
    codes : ndarray of shape (n_samples,), int32
        Class numbers.
    samples : ndarray of int
        Numbers of the held-out samples.
    """

    def __init__(self, state, compute_scores, codes, samples):
        self.best, self.least_loss, self.n_waited = state, np.inf, 0
        self.compute_scores, self.samples = compute_scores, samples
        self.codes = codes[samples]

    def measure(self, state):
        """Measure the loss of calibrated scores; copy the state if it is the best.

        Returns
        -------
        n_waited : int
            Number of epochs since the best one.
        """
        scores = self.compute_scores(state, samples=self.samples)
        loss = calibrated_loss(scores, self.codes, np.ones(len(self.codes)))
        if loss < self.least_loss:
            self.best, self.least_loss, self.n_waited = state.copy(), loss, 0
        else:
            self.n_waited += 1
        return self.n_waited
