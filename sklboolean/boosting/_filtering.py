"""Boosting by majority on a stream: each round trains on the samples it accepts."""

# The estimator checks chunks and hands them to a `FilterState`, which is all that a
# stream has learned. `fit` makes a stream by drawing samples with replacement;
# `partial_fit` shows a finished copy of the state and keeps the state itself.

from itertools import count

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from sklboolean._core.base import restore_on_error
from sklboolean._core.calibration import fit_slope
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.labels import distinct_labels, encode_classes, known_classes
from sklboolean._core.meta import draw_seed, validation_options
from sklboolean._core.parameters import check_same_params, flat_params
from sklboolean._core.validation import validate_data_strict, warn_user
from sklboolean._core.weights import labelled_weights
from sklboolean.boosting._base import BaseMajorityVote
from sklboolean.boosting._filter_state import PIECE, FilterState, plan_filter
from sklboolean.boosting._schedules import (
    FilteringSchedule,
    InSchedule,
    schedule_of,
)
from sklboolean.boosting._stump import BooleanStump
from sklboolean.boosting._votes import vote_margins
from sklboolean.boosting._weak_learners import (
    bits_of_samples,
    check_classifier,
    is_stump,
)

IN_SCHEDULE = InSchedule(FilteringSchedule)


@old_parameters(
    gamma=IN_SCHEDULE, target_error=IN_SCHEDULE, mode=IN_SCHEDULE, delta=IN_SCHEDULE,
    n_samples_weak=IN_SCHEDULE, max_tries=IN_SCHEDULE, weak_failure=IN_SCHEDULE,
    weak_learner_success_rate=IN_SCHEDULE,
)  # fmt: skip
class FilteringBoostByMajority(BaseMajorityVote):
    """Boost by majority on a stream, keeping only the samples that a round accepts.

    Each round accepts samples with a probability in proportion to their weight in the
    majority game, trains and tests a hypothesis on a batch of accepted samples, and
    forgets them. Memory holds the hypotheses and one batch. The model does not depend
    on how the stream is cut into chunks, nor on ``n_jobs``.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The weak learner; clones of it are fitted. None: `BooleanStump`.
    schedule : FilteringSchedule or "auto", default="auto"
        The edge that is assumed of every hypothesis, the target error, and how many
        samples train and test a hypothesis. "auto": `FilteringSchedule` with its
        defaults.
    random_state : int, RandomState instance or None, default=None
        Seed of the filter and of the weak learner.
    n_jobs : int or None, default=None
        Number of pieces of the stream whose votes are counted at the same time, as in
        joblib.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    estimators_ : list of classifiers
        The fitted hypotheses, with one vote each.
    estimator_edges_ : ndarray of shape (n_estimators,), float64
        Accuracy of each on the test samples of its round, minus 1/2.
    estimator_rounds_ : ndarray of shape (n_estimators,), int
        The round of each.
    n_rounds_ : int
        Number of rounds that have ended.
    n_aborted_ : int
        Number of these that ended without a hypothesis.
    k_ : int
        Number of rounds that are planned.
    n_seen_ : ndarray of shape (n_begun_rounds,), int
        Number of samples read in each round that was begun.
    n_accepted_ : ndarray of shape (n_begun_rounds,), int
        Number of samples that the filter accepted.
    n_rejected_ : ndarray of shape (n_begun_rounds,), int
        Number of samples that it rejected.
    acceptance_rates_ : ndarray of shape (n_begun_rounds,), float64
        Share of the samples that it accepted.
    termination_condition_ : str or None
        Why boosting stopped. "all_rounds": the plan was completed. "no_edge": all
        rounds were aborted. "stream_exhausted": the stream ended before. None: it may
        be continued by ``partial_fit``.
    calibration_slope_ : float
        Slope of the sigmoid of ``predict_proba``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    Warns
    -----
    UserWarning
        When a stream ends before all rounds, and when no hypothesis has an edge.

    See Also
    --------
    BoostByMajority : For data in memory: more accurate on the same samples.
    OnlineBoostByMajority : Updates every hypothesis with every sample.
    sklboolean.theory.filter_sample_bound : Bound on the number of samples.

    Notes
    -----
    ``predict_proba`` is calibrated on the last 1000 samples, with the votes that they
    had before any hypothesis could be trained on them.

    References
    ----------
    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    PhD thesis, University of California, Santa Cruz, 1993, section 2.3, Figure 2.4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import FilteringBoostByMajority
    >>> from sklboolean.boosting import FilteringSchedule
    >>> rng = np.random.default_rng(0)
    >>> def chunks():
    ...     while True:
    ...         X = rng.integers(0, 2, (5000, 10))
    ...         yield X, X[:, :3].sum(axis=1) > 1
    >>> schedule = FilteringSchedule(gamma=0.15)
    >>> booster = FilteringBoostByMajority(schedule=schedule, random_state=0)
    >>> booster.fit_stream(chunks()).termination_condition_
    'all_rounds'
    >>> X = rng.integers(0, 2, (1000, 10))
    >>> booster.score(X, X[:, :3].sum(axis=1) > 1) > 0.9
    True
    """

    _state_params = ("estimator", "schedule")

    def __init__(
        self, estimator=None, *, schedule="auto", random_state=None, n_jobs=None
    ):
        self.estimator = estimator
        self.schedule = schedule
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y, sample_weight=None) -> "FilteringBoostByMajority":
        """Boost the weak learner on a stream of samples drawn from training data.

        Samples are drawn with replacement until all rounds are over.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as the weak learner takes them.
        y : array-like of shape (n_samples,)
            Labels of two classes or more.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Samples are drawn in proportion to these weights, finite and at least 0.
            None: 1.

        Returns
        -------
        self : object
            The fitted booster.

        Raises
        ------
        ValueError
            For bad parameters and data. The booster then keeps its former state.
        """
        with restore_on_error(self):
            X, y = self._check_Xy(X, y, reset=True)
            classes, codes = encode_classes(y)
            weights = labelled_weights(sample_weight, codes, classes)
            used = np.flatnonzero(weights)
            X, y, weights = X[used], y[used], weights[used]
            # Equal weights are drawn as if there were none.
            is_equal = weights.min() == weights.max()
            shares = None if is_equal else weights / weights.sum()
            rng = check_random_state(self.random_state)
            state = self._init_state(classes, rng)
            draws = (rng.choice(len(y), size=PIECE, p=shares) for _ in count())
            state.update(((X[i], y[i]) for i in draws), n_jobs=self.n_jobs)
            self._set_fitted_attributes(state, state)
        self._warn()
        return self

    def fit_stream(self, chunks, classes=None) -> "FilteringBoostByMajority":
        """Boost the weak learner on a stream until all rounds are over.

        Parameters
        ----------
        chunks : iterable of (X, y)
            Parts of the stream, of any size: arrays as ``fit`` takes them. They are
            read until the rounds are over, and not kept.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. None: those of the first chunk.

        Returns
        -------
        self : object
            The fitted booster.

        Raises
        ------
        ValueError
            For bad parameters and data, and for a stream without samples. The booster
            then keeps its former state.
        """
        with restore_on_error(self):
            vars(self).pop("_state", None)
            chunks = iter(chunks)
            first = next(chunks, None)
            if first is None:
                raise ValueError("chunks is empty; it must hold at least one (X, y).")
            X, y = self._check_Xy(*first, reset=True)
            if classes is None:
                classes = distinct_labels(y)
            vars(self).pop("classes_", None)
            classes = known_classes(self, classes)
            state = self._init_state(classes, check_random_state(self.random_state))
            state.update(self._checked_chunks((X, y), chunks), n_jobs=self.n_jobs)
            state.finish()
            self._set_fitted_attributes(state, state)
        self._warn()
        return self

    def partial_fit(self, X, y, classes=None) -> "FilteringBoostByMajority":
        """Present samples to the filter of the current round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels among ``classes``.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; required in the first call.

        Returns
        -------
        self : object
            The booster as it is so far. How the stream is cut makes no difference.
        """
        with restore_on_error(self):
            resume = hasattr(self, "_state")
            if resume:
                check_same_params(self, self._state_params)
            elif classes is not None:
                vars(self).pop("classes_", None)  # those of an earlier fit
            classes = known_classes(self, classes)
            X, y = self._check_Xy(X, y, reset=not resume)
            if resume:
                state = self._state.copy()
            else:
                state = self._init_state(classes, check_random_state(self.random_state))
            state.update([(X, y)])
            shown = state.copy()
            shown.finish()
            self._set_fitted_attributes(shown, state)
            self._state = state
            self._fitted_params = flat_params(self, self._state_params)
        return self

    def _init_state(self, classes, rng):
        check_classifier(self._weak_estimator())
        schedule = schedule_of(self.schedule, FilteringSchedule)
        plan = plan_filter(**schedule.get_params(deep=False))
        # A clone: its parameters may be changed while the stream is read.
        return FilterState(clone(self._weak_estimator()), classes, plan, draw_seed(rng))

    def _check_Xy(self, X, y, *, reset):
        base = self._weak_estimator()
        X, y = validate_data_strict(self, X, y, reset=reset, **validation_options(base))
        if reset and is_stump(base):
            bits_of_samples(self, base, X)  # on all samples of ``fit`` or a first chunk
        return X, y

    def _checked_chunks(self, first, chunks):
        yield first
        for X, y in chunks:
            yield self._check_Xy(X, y, reset=False)

    def _set_fitted_attributes(self, shown, state):
        """Set the hypotheses of a finished state and the counters of the present."""
        vars(self).pop("_state", None)
        self.classes_, self.estimators_ = shown.classes, shown.hypotheses
        self._games, self._stumps = None, None
        self._columns = [None] * len(self.estimators_)
        kinds = {type(estimator) for estimator in self.estimators_}
        if kinds == {BooleanStump}:
            stumps = [
                (
                    *np.searchsorted(self.classes_, stump.side_classes_),
                    2 * stump.feature_ + 1,
                )
                for stump in self.estimators_
            ]
            self._stumps = np.array(stumps, dtype=np.int64).reshape(-1, 3)
        votes, codes = shown.held_out
        self.calibration_slope_ = fit_slope(vote_margins(votes), codes)
        edges = np.array(shown.edges)
        self.estimator_rounds_ = np.flatnonzero(~np.isnan(edges))
        self.estimator_edges_ = edges[self.estimator_rounds_]
        self.n_rounds_, self.n_aborted_ = state.n_rounds, state.n_aborted
        self.k_, self.termination_condition_ = state.plan.n_rounds, state.termination
        self.n_seen_ = np.array(state.n_seen)
        self.n_accepted_ = np.array(state.n_accepted)
        self.n_rejected_ = self.n_seen_ - self.n_accepted_
        self.acceptance_rates_ = self.n_accepted_ / np.maximum(1, self.n_seen_)

    def _warn(self):
        if self.termination_condition_ == "stream_exhausted":
            message = (
                f"The stream ended in round {self.n_rounds_} of {self.k_}: only the "
                "hypotheses of these rounds vote. Give more samples, a larger gamma or "
                "a larger target_error."
            )
        elif self.termination_condition_ == "no_edge":
            message = (
                "No hypothesis had an edge on test samples, so one class is always "
                "predicted. Use a stronger estimator, or more n_samples_weak."
            )
        else:
            return
        warn_user(message)
