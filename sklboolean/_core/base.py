"""Base classes of the classifiers, calibration of their scores, and atomic fits."""

from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed

from sklboolean._core.partitions import (
    common_schema,
    describe_partition,
    load_partition,
    open_partitions,
    prefix_errors,
)
from sklboolean._core.validation import (
    check_two_classes,
    encode_classes,
    flat_params,
    given_classes,
    known_classes,
    refuse_changed_params,
)

N_CALIBRATION_SCORES = 1000  # of a stream, the last ones
SMALLEST = np.nextafter(0.0, 1.0)


@contextmanager
def restore_on_error(estimator):
    """Restore an estimator's attributes when fitting it fails."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        # One assignment: a second Ctrl-C may come at any time.
        estimator.__dict__ = before
        raise


def break_ties(scores, *, positive=True):
    """Replace scores of 0 by the smallest float of the side that a tie predicts."""
    return np.where(scores == 0, SMALLEST if positive else -SMALLEST, scores)


def fit_slope(scores, codes, weights=None):
    """Fit A > 0 so that sigmoid(A f), or softmax(A f), has the smallest log loss.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Held-out scores.
    codes : ndarray of shape (n_samples,), int
        Class numbers.
    weights : ndarray of shape (n_samples,) or None
        Sample weights; None: 1.

    Returns
    -------
    slope : float
        The prior is two imagined samples, one classified correctly and one not, so
        that perfectly separated scores give a finite slope. 1 when all scores are 0.
    """
    scores = np.asarray(scores, dtype=np.float64)
    weights = np.ones(len(scores)) if weights is None else weights
    typical = float(np.average(np.abs(scores).T, axis=-1, weights=weights).mean())
    # The smallest float stands for a tie; it is no scale.
    if not typical > np.finfo(np.float64).tiny:
        return 1.0
    scaled = scores / typical
    signs = np.where(codes == 1, 1.0, -1.0)

    def loss(log_slope):
        slope = np.exp(log_slope)
        imagined = np.logaddexp(0, -slope) + np.logaddexp(0, slope)
        if scores.ndim == 1:
            return weights @ np.logaddexp(0, -slope * signs * scaled) + imagined
        correct = log_softmax(slope * scaled, axis=1)[np.arange(len(codes)), codes]
        return imagined - weights @ correct

    result = minimize_scalar(loss, bounds=(-12, 12), method="bounded")
    return float(np.exp(result.x) / typical)


def probabilities(scores, slope):
    """Compute class probabilities of shape (n_samples, n_classes) from scores.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
    slope : float
    """
    if scores.ndim == 1:
        return np.column_stack([expit(-slope * scores), expit(slope * scores)])
    return softmax(slope * scores, axis=1)


def _has_probabilities(classifier):
    if not classifier.probability:
        raise AttributeError(
            "predict_proba is available when probability=True is set before fit."
        )
    if getattr(classifier, "calibration_slope_", 0.0) is None:
        raise AttributeError(
            "predict_proba is not available after a stream, of which no samples are "
            "kept to calibrate the scores: call fit, or use CalibratedClassifierCV."
        )
    return True


class DecisionClassifierMixin:
    """``predict`` and ``predict_proba`` from ``decision_function``.

    A fitted classifier has ``classes_`` and, with ``probability=True``, the
    ``calibration_slope_`` of its sigmoid.
    """

    def predict(self, X):
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
        scores = self.decision_function(X)
        codes = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes.astype(np.intp)]

    @available_if(_has_probabilities)
    def predict_proba(self, X):
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


@dataclass
class History:
    """Mistakes and updates of each epoch."""

    mistakes: list = field(default_factory=list)
    updates: list = field(default_factory=list)

    def append(self, mistakes, updates):
        """Add the counts of one epoch."""
        self.mistakes.append(int(mistakes))
        self.updates.append(int(updates))

    def report(self, name):
        """Print the counts of the last epoch."""
        print(
            f"[{name}] epoch {len(self.mistakes)}: {self.mistakes[-1]} mistakes, "
            f"{self.updates[-1]} updates"
        )


def _has_partial_fit(classifier):
    classifier._check_partial_fit()
    return True


class IncrementalClassifier(ClassifierMixin, BaseEstimator):
    """``fit`` and ``partial_fit`` of a classifier that keeps one ``_state``.

    A subclass defines ``_check_params()``, ``_check_X(X, y, reset=)``,
    ``_init_state()``, ``_train(state, data, codes)``, which updates the state, and
    ``_set_fitted_attributes(state)``. ``_state_params`` names the parameters that
    must not change while training is resumed. A state has a method ``copy``.
    """

    _state_params = ()
    _binary_only = False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = not self._binary_only
        return tags

    def fit(self, X, y):
        """Fit the classifier to labelled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. The classifier stays as it was.
        """
        with restore_on_error(self):
            data, codes = self._check_Xy(X, y, None, resume=False)
            state = self._init_state()
            self._train(state, data, codes)
            self._store(state)
        return self

    @available_if(_has_partial_fit)
    def partial_fit(self, X, y, classes=None):
        """Continue training with more samples, in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels among ``classes``.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required in the first call.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. The classifier stays as it was.
        """
        with restore_on_error(self):
            resume = hasattr(self, "classes_")
            classes = known_classes(self, classes)
            data, codes = self._check_Xy(X, y, classes, resume=resume)
            state = self._state.copy() if resume else self._init_state()
            self._train(state, data, codes)
            self._store(state)
        return self

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


class OnlineClassifier(DecisionClassifierMixin, IncrementalClassifier):
    """An incremental classifier with epochs, warm starts, calibration and partitions.

    Besides the methods of `IncrementalClassifier` a subclass defines
    ``_class_weights(y)``, ``_scores(state, data, samples)``,
    ``_has_converged(history, n_samples)`` and ``_check_partitions()``;
    ``_train(state, data, codes, class_weights, samples=None, one_pass=False)`` returns
    the trained state and its `History`. States have ``average(states, updates,
    n_samples)``, which merges the states that an epoch over partitions made of it.
    """

    def fit(self, X, y):
        """Fit the classifier to labelled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels of two or more classes.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. The classifier stays as it was.
        """
        with restore_on_error(self):
            resume = self.warm_start and hasattr(self, "classes_")
            classes = self.classes_ if resume else None
            data, codes = self._check_Xy(X, y, classes, resume=resume)
            weights = self._class_weights(self.classes_[codes])
            if self.probability and min(self._class_counts(codes)) < 2:
                raise ValueError(
                    "probability=True holds out samples: y needs two or more samples "
                    "of each class."
                )
            state = self._state.copy() if resume else self._init_state()
            state, history = self._train(state, data, codes, weights)
            self._store_epochs(state, history, resume)
            self.n_iter_ = len(history.mistakes)
            # After training: calibration must not change the model.
            self._recent_scores, self.calibration_slope_ = None, None
            if self.probability:
                self.calibration_slope_ = self._cross_val_slope(data, codes, weights)
        return self

    @available_if(_has_partial_fit)
    def partial_fit(self, X, y, classes=None):
        """Continue training with more samples, in one pass in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels among ``classes``.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required in the first call.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. The classifier stays as it was.
        """
        with restore_on_error(self):
            resume = hasattr(self, "classes_")
            classes = known_classes(self, classes)
            data, codes = self._check_Xy(X, y, classes, resume=resume)
            weights = self._class_weights(None)
            self._recent_scores = self._recent_scores if resume else None
            slope = None
            if self.probability and resume:
                slope = self._prequential_slope(data, codes)
            elif self.probability:
                slope = self._cross_val_slope(data, codes, weights)
            state = self._state.copy() if resume else self._init_state()
            state, history = self._train(state, data, codes, weights, one_pass=True)
            self._store_epochs(state, history, resume, one_pass=True)
            self.n_iter_ = self.n_iter_ if resume else 1
            self.calibration_slope_ = slope
        return self

    def fit_partitions(self, partitions, classes=None):
        """Fit the classifier to samples that are stored in several places.

        In each epoch every partition is trained from the same state, in its own order,
        as one joblib task; then the states are averaged. One partition gives the model
        of ``fit`` with ``shuffle=False``. The model depends neither on ``n_jobs`` nor
        on joblib's backend.

        Parameters
        ----------
        partitions : iterable
            Pairs (X, y) as for ``fit``, callables that load and return one, or objects
            with such a method ``compute``, such as Dask's delayed ones. Callables are
            loaded where the task runs, once for each epoch and once before; they must
            load the same samples every time. Arrays are sent.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; a partition may lack some. None: the labels that
            are found.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data, with the number of the partition. The
            classifier stays as it was.

        Notes
        -----
        States are averaged with weights in proportion to the updates in each partition.
        On separable samples the mistake bound of the perceptron then holds for the
        mistakes weighted in the same way (McDonald, Hall, Mann 2010, Theorem 3). An
        average over hypotheses covers all samples of all partitions, each with the
        hypothesis that its partition had after it.

        References
        ----------
        McDonald, Hall, Mann. "Distributed Training Strategies for the Structured
        Perceptron". NAACL 2010, Figure 3 and Theorem 3.
        """
        with restore_on_error(self):
            self._check_params()
            self._check_partitions()
            resume = self.warm_start and hasattr(self, "classes_")
            sources = open_partitions(partitions)
            classes = given_classes(self, classes, resume)
            # One pool for all epochs, so that arrays are mapped or sent once.
            with Parallel(n_jobs=self.n_jobs) as parallel:
                infos = parallel(
                    delayed(describe_partition)(clone(self), number, *source)
                    for number, source in enumerate(sources)
                )
                infos = [info for info in infos if info.n_samples]
                schema, self.classes_ = common_schema(self, infos, classes, resume)
                schema.set_attributes(self)
                params = self._resume_params()
                if resume:
                    self._check_resumable(params)
                self._fitted_params = params
                state = self._state.copy() if resume else self._init_state()
                state, history = self._train_partitions(parallel, sources, infos, state)
            self._store_epochs(state, history, resume)
            self.n_iter_ = len(history.mistakes)
            self._recent_scores, self.calibration_slope_ = None, None
        return self

    def _train_partitions(self, parallel, sources, infos, state):
        """Run epochs over the partitions, averaging the states after each."""
        n_samples = [info.n_samples for info in infos]
        weights = self._class_weights(None)
        worker = clone(self)
        worker.classes_ = self.classes_
        infos[0].schema.set_attributes(worker)
        history = History()
        for _ in range(self.max_iter):
            results = parallel(
                delayed(_train_partition)(
                    worker, weights, state, info, *sources[info.number]
                )
                for info in infos
            )
            states, mistakes, updates = zip(*results, strict=True)
            state = state.average(states, updates, n_samples)
            history.append(sum(mistakes), sum(updates))
            if self.verbose:
                history.report(type(self).__name__)
            if self._has_converged(history, sum(n_samples)):
                break
        return state, history

    def _store_epochs(self, state, history, resume, *, one_pass=False):
        mistakes, earlier = history.mistakes, self.mistakes_per_epoch_ if resume else []
        if one_pass and earlier:  # the parts of a stream are one epoch
            earlier, mistakes = earlier[:-1], [earlier[-1] + mistakes[0]]
        self.mistakes_per_epoch_ = [*earlier, *mistakes]
        self.n_mistakes_ = sum(self.mistakes_per_epoch_)
        self.n_updates_ = (self.n_updates_ if resume else 0) + sum(history.updates)
        self._state = state
        self._set_fitted_attributes(state)

    def _class_counts(self, codes):
        return np.bincount(codes, minlength=len(self.classes_))

    def _cross_val_slope(self, data, codes, weights):
        """Fit the slope to the scores of held-out folds; 1 with too few samples."""
        fewest = min(self._class_counts(codes))
        if fewest < 2:
            return 1.0
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        folds = StratifiedKFold(min(3, fewest), shuffle=True, random_state=seed)
        scores = None
        for train, test in folds.split(np.zeros(len(codes)), codes):
            state, _ = self._train(
                self._init_state(), data, codes, weights, samples=train
            )
            part = self._scores(state, data, test)
            if scores is None:
                scores = np.zeros((len(codes), *part.shape[1:]))
            scores[test] = part
        return fit_slope(scores, codes)

    def _prequential_slope(self, data, codes):
        """Fit the slope to scores predicted before the samples are trained on."""
        scores = self._scores(self._state, data, slice(None))
        n_seen = self.t_ + len(codes)
        if self._recent_scores is not None:
            scores = np.concatenate([self._recent_scores[0], scores])
            codes = np.concatenate([self._recent_scores[1], codes])
        # At most the second half of the stream: early scores are poor.
        n_kept = min(N_CALIBRATION_SCORES, n_seen // 2 + 1)
        self._recent_scores = scores[-n_kept:], codes[-n_kept:]
        return fit_slope(*self._recent_scores)


def _train_partition(worker, weights, state, info, *source):
    """Train one epoch on one partition, in a task of its own."""
    with prefix_errors(info.number):
        X, y = load_partition(*source)
        data, y = worker._check_X(X, y, reset=False)
        _, codes = encode_classes(y, worker.classes_)
        info.check_n_samples(len(codes))
        # Tasks may share the memory of the state, or have it read-only.
        state, history = worker._train(
            state.copy(), data, codes, weights, one_pass=True
        )
        return state, history.mistakes[0], history.updates[0]
