"""Base classes of the classifiers: the life cycle of a fit, which is atomic."""

from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from sklboolean._core.bits import targets_of
from sklboolean._core.calibration import (
    N_SCALE_SCORES,
    add_held_out,
    every_few,
    fit_slope,
    last_scored,
    one_of_each_few,
    predicted_codes,
    probabilities,
    to_scale_of,
)
from sklboolean._core.damage import labels_of
from sklboolean._core.labels import (
    check_two_classes,
    encode_classes,
    known_classes,
    plain_labels,
)
from sklboolean._core.packed_partitions import PartitionsMixin
from sklboolean._core.parameters import flat_params, refuse_changed_params
from sklboolean._core.progress import (
    SILENT,
    CallbackSupportMixin,
    Progress,
    restore,
    with_callbacks,
)
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import checked_weights, labelled_weights


# The life cycle of a fit. `IncrementalClassifier`: check, encode the labels, train a
# copy of the state, store it. `OnlineClassifier` adds epochs, warm starts, sizes of
# updates and calibration; its `_learn` is the order of all of it. A
# subclass only trains states. Invariant: an estimator is either as it was before the
# call or wholly fitted (`restore_on_error`), and a state that is stored is not changed.
@contextmanager
def restore_on_error(estimator):
    """Restore an estimator's attributes when fitting it fails."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        restore(estimator, before)
        raise


class TableScoreMixin(PartitionsMixin):
    """``score`` of a classifier or regressor that takes its labels from a table."""

    def score(self, X, y=None, sample_weight=None) -> float:
        """Compute the accuracy of a classifier, or R^2 of a regressor.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Samples.
        y : array-like of shape (n_samples,), default=None
            Labels, or targets of a regressor. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights. None: those of a `BitTable`, else 1.

        Returns
        -------
        score : float
            1 is the best.
        """
        y, sample_weight = targets_of(None, X, y, sample_weight)
        return super().score(X, plain_labels(y), sample_weight)


class DecisionClassifierMixin(PartitionsMixin):
    """``predict`` and ``predict_proba`` from ``decision_function``.

    A fitted classifier has ``classes_`` and the ``calibration_slope_`` of its sigmoid.
    """

    def predict(self, X) -> np.ndarray:
        """Predict the class label of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for ``decision_function``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels among ``classes_``.
        """
        codes = predicted_codes(self.decision_function(X))
        return labels_of(self.classes_, codes)

    def predict_proba(self, X) -> np.ndarray:
        """Predict the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for ``decision_function``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype float64
            The sigmoid (two classes) or softmax of ``calibration_slope_`` times the
            score. The predicted class has the largest probability.
        """
        return probabilities(self._calibration_scores(X), self.calibration_slope_)

    def _calibration_scores(self, X):
        """Compute the scores on which the slope was fitted."""
        return self.decision_function(X)


class LogOddsMixin(DecisionClassifierMixin):
    """Probabilities of a classifier whose scores are log-odds.

    A subclass defines ``_scores(X)``, of shape (n_samples, 1) for the log-odds of the
    second of two classes, or (n_samples, n_classes). A fitted one has ``classes_``.
    """

    def decision_function(self, X) -> np.ndarray:
        """Compute the log-odds, or with more than two classes a score for each.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes the log-odds of the second. The softmax of more scores gives
            the probabilities.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X) -> np.ndarray:
        """Estimate the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype float64
        """
        return probabilities(self.decision_function(X), 1.0)

    def predict_log_proba(self, X) -> np.ndarray:
        """Compute the logarithm of ``predict_proba``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes), dtype float64
        """
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return -np.logaddexp(0, np.hstack([scores, -scores]))
        return log_softmax(scores, axis=1)


@dataclass
class History:
    """Mistakes and updates of each epoch.

    ``held_out`` has scores, class numbers and weights of samples that were held out in
    training, if there are any.
    """

    mistakes: list = field(default_factory=list)
    updates: list = field(default_factory=list)
    held_out: tuple | None = None

    def append(self, mistakes, updates):
        """Add the counts of one epoch."""
        self.mistakes.append(int(mistakes))
        self.updates.append(int(updates))

    def last(self):
        """Describe the last epoch."""
        return f"{self.mistakes[-1]} mistakes, {self.updates[-1]} updates"


def _has_partial_fit(classifier):
    classifier._check_partial_fit()
    return True


class IncrementalClassifier(TableScoreMixin, ClassifierMixin, VersionedEstimator):
    """``fit`` and ``partial_fit`` of a classifier that keeps one ``_state``.

    A subclass defines ``_check_params()``, ``_check_X(X, y, reset=)``,
    ``_init_state()``, ``_train(state, data, codes, sample_weight)``, which updates the
    state, and ``_set_fitted_attributes(state)``. ``_state_params`` names the parameters
    that must not change while training is resumed. A state has a method ``copy``.
    """

    _state_params = ()
    _binary_only = False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = not self._binary_only
        return tags

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Fit the classifier to labelled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Features.
        y : array-like of shape (n_samples,), default=None
            Class labels. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Finite weights of at least 0. The class says what a weight does. Where their
            mean is below 1, they are divided by it. A sample of weight 0 is left out.
            None: 1.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. The classifier stays as it was.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            self._learn(X, y, None, sample_weight, resume=False)
        return self

    @available_if(_has_partial_fit)
    def partial_fit(self, X, y=None, classes=None, sample_weight=None) -> Self:
        """Continue training with more samples, in one pass in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,), default=None
            Labels among ``classes``. None: those of a `BitTable`.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required in the first call.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights, used as they are: the mean of a part is not that of the stream, so
            small weights are not divided by it. Give weights with a mean of about 1.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. The classifier stays as it was.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            resume = hasattr(self, "classes_")
            classes = known_classes(self, classes)
            self._learn(X, y, classes, sample_weight, resume=resume, one_pass=True)
        return self

    def _learn(self, X, y, classes, sample_weight, *, resume, one_pass=False):
        """Check the samples and train on them."""
        data, codes = self._check_Xy(X, y, classes, resume=resume)
        weights = None
        if sample_weight is not None:
            weights = labelled_weights(
                sample_weight, codes, self.classes_, in_stream=one_pass
            )
            weighted = np.flatnonzero(weights)
            data, codes, weights = data[weighted], codes[weighted], weights[weighted]
        state = self._state.copy() if resume else self._init_state()
        self._train(state, data, codes, weights)
        self._store(state)

    def _check_Xy(self, X, y, classes, *, resume):
        """Check parameters, samples and labels; set ``classes_``."""
        self._check_params()
        data, y = self._check_X(X, y, reset=not resume)
        if self._binary_only:
            check_two_classes(y, classes)
        self.classes_, codes = encode_classes(y, classes)
        params = self._resume_params()
        if resume:
            self._check_resumable(params)
        self._fitted_params = params
        return data, codes

    def _check_partial_fit(self):
        """Raise an AttributeError where ``partial_fit`` is not available."""

    def _resume_params(self):
        """Collect the parameters on which the state depends, by name."""
        return flat_params(self, self._state_params)

    def _check_resumable(self, params):
        """Refuse to resume training with other parameters than those of the state."""
        refuse_changed_params(self._fitted_params, params)

    def _store(self, state):
        self._state = state
        self._set_fitted_attributes(state)


class OnlineClassifier(
    CallbackSupportMixin, DecisionClassifierMixin, IncrementalClassifier
):
    """An incremental classifier with epochs and calibration.

    Besides the methods of `IncrementalClassifier` a subclass defines
    ``_scores(state, data, samples)``;
    ``_train(state, data, codes, weights, samples=None, one_pass=False,
    progress=SILENT)`` returns the trained state and its `History`. ``weights``, one for
    each sample or None, are the sizes of updates; ``samples`` are the numbers of those
    to train on; each epoch is a step of ``progress``.

    The scores are calibrated on samples that were scored before training on them. In
    a stream the model itself scores them. Otherwise a second model is trained on a
    part of the samples with a part of the passes, and scores others; its scores are
    brought to the scale of the model's own.
    """

    _second_model = 4, 2  # one of so many samples, and of so many passes

    def _learn(self, X, y, classes, sample_weight, *, resume, one_pass=False):
        data, codes = self._check_Xy(X, y, classes, resume=resume)
        weights, samples, sample_weight = self._weigh(codes, sample_weight, one_pass)
        held_out = None
        if resume:
            held_out = self._progressive_scores(data, codes, samples, sample_weight)
        state = self._state.copy() if resume else self._init_state()
        progress = SILENT
        if not one_pass:
            progress = Progress(self, "epoch", self.max_iter, X, y)
        state, history = self._train(
            state, data, codes, weights, samples, one_pass, progress
        )
        self._store_epochs(state, history, resume)
        held_out = history.held_out if held_out is None else held_out
        if held_out is None:
            held_out = self._second_model_scores(
                state, data, codes, weights, samples, sample_weight, one_pass
            )
        self._calibrate(held_out, resume)
        progress.finish()

    def _weigh(self, codes, sample_weight, one_pass):
        """Multiply the weights of samples by those of their classes.

        Returns
        -------
        weights : ndarray of shape (n_samples,) or None
            Sizes of updates.
        samples : ndarray of int or None
            Numbers of the samples to train on.
        sample_weight : ndarray of shape (n_samples,) or None
        """
        if sample_weight is None and self.class_weight is None:
            return None, None, None
        weights = labelled_weights(
            sample_weight, codes, self.classes_, self.class_weight, in_stream=one_pass
        )
        if sample_weight is not None:
            sample_weight = checked_weights(
                sample_weight, len(codes), scaled=not one_pass
            )
        # In a stream a class of weight 0 is seen, and changes nothing.
        shown = sample_weight if one_pass else weights
        samples = None if shown is None else np.flatnonzero(shown)
        return weights, samples, sample_weight

    def _of_second_model(self):
        """Name parameters of the second model that differ."""
        return {"random_state": 0, "early_stopping": False}

    def _store_epochs(self, state, history, resume=False):
        if resume:  # the parts of a stream are one epoch
            *earlier, last = self.mistakes_per_epoch_
            self.mistakes_per_epoch_ = [*earlier, last + history.mistakes[0]]
            self.n_updates_ += history.updates[0]
        else:
            self.mistakes_per_epoch_ = history.mistakes
            self.n_updates_, self.n_iter_ = sum(history.updates), len(history.mistakes)
        self.n_mistakes_ = sum(self.mistakes_per_epoch_)
        self._state = state
        self._set_fitted_attributes(state)

    def _progressive_scores(self, data, codes, samples, sample_weight):
        """Score the last samples of a part of a stream before training on them."""
        last, weights = last_scored(samples, sample_weight, len(codes))
        return self._scores(self._state, data, last), codes[last], weights

    def _second_model_scores(
        self, state, data, codes, weights, samples, sample_weight, one_pass
    ):
        """Train a second model on some of the samples, and let it score others.

        ``_second_model`` says how many; in one pass it sees an eighth. Its scores are
        multiplied by the ratio of the two models' mean absolute scores on samples that
        both were trained on. Neither the model nor the user's random numbers change.
        """
        # Scores of samples that a model was trained on are too good for calibration. A
        # second, cheaper model scores samples that it was not trained on.
        second, (step, fewer_passes) = copy(self), self._second_model
        if one_pass or self.max_iter == 1:
            step = 8
        second.max_iter = max(1, self.max_iter // fewer_passes)
        vars(second).update(self._of_second_model())
        samples = np.arange(len(codes)) if samples is None else samples
        rng = np.random.default_rng(0)
        train_index, test_index = one_of_each_few(samples, codes[samples], step, rng)
        trained, _ = second._train(
            second._init_state(), data, codes, weights, np.sort(train_index), one_pass
        )
        train_index, test_index = (
            train_index[:: len(train_index) // N_SCALE_SCORES + 1],
            every_few(test_index, rng),
        )
        scores = second._scores(trained, data, np.append(train_index, test_index))
        scores = to_scale_of(second._scores(state, data, train_index), scores)
        weights = np.ones(len(codes)) if sample_weight is None else sample_weight
        return scores, codes[test_index], weights[test_index]

    def _calibrate(self, held_out, resume=False):
        """Fit the slope to scores computed before training on their samples.

        Parameters
        ----------
        held_out : tuple of ndarrays (scores, codes, sample_weight)
        resume : bool
            Add them to the scores of earlier parts of the stream. The slope is fitted
            again when they are an eighth more.
        """
        n_new = len(held_out[1])
        if resume:
            earlier, n_earlier = self._held_out
            held_out = add_held_out(earlier, held_out, self.t_)
            n_new += n_earlier
        if not resume or 8 * n_new >= len(held_out[1]):
            scores, codes, weights = held_out
            weights = weights / weights.mean() if len(weights) else weights
            self.calibration_slope_, n_new = fit_slope(scores, codes, weights), 0
        self._held_out = held_out, n_new
