"""Boost by majority on streams, as methods of the classifier."""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from sklboolean._core.base import restore_on_error
from sklboolean._core.meta import draw_seed, reading
from sklboolean._core.validation import (
    check_choice,
    check_real,
    check_same_params,
    distinct_labels,
    known_classes,
    remember_params,
    validate_data_strict,
)
from sklboolean.boosting._filtering import FilterStream
from sklboolean.boosting._parameters import check_parameters
from sklboolean.boosting._stump import BooleanStump
from sklboolean.boosting._weak_learners import as_codes

# What stands for "auto" and None where rows cannot be looked at twice.
STREAM_GAMMA = STREAM_ERROR = 0.1
# What a filter is planned with, before its first row.
PLANNED = (
    "estimator", "filter", "gamma", "target_error", "delta", "reliability",
    "n_samples_weak", "max_tries", "on_weak_failure",
)  # fmt: skip


class StreamMixin:
    """``fit_stream`` and ``partial_fit`` of `BoostByMajority`."""

    def fit_stream(self, chunks, classes=None):
        """Boost the weak learner on a stream, keeping only what a round accepts.

        Parameters
        ----------
        chunks : iterable of (X, y)
            Parts of the stream, of any size: arrays as ``fit`` takes them. Read until
            the rounds are over, and never kept.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. None: those of the first chunk.

        Returns
        -------
        self : object
            The fitted booster.

        Raises
        ------
        ValueError
            For bad parameters and data, and for a stream without rows. What was learned
            before is kept.
        """
        with restore_on_error(self):
            vars(self).pop("_stream", None)
            chunks = iter(chunks)
            first = next(chunks, None)
            if first is None:
                raise ValueError("chunks is empty: give at least one (X, y).")
            X, y = self._read_chunk(*first, reset=True)
            if classes is None:
                classes = distinct_labels(y)
            vars(self).pop("classes_", None)
            stream = self._open_stream(known_classes(self, classes))
            stream.feed_many(self._read_chunks((X, y), chunks), n_jobs=self.n_jobs)
            stream.finish()
            self._publish_stream(stream, stream)
            if stream.stop_reason == "exhausted":
                warnings.warn(
                    f"The stream ended in round {stream.n_rounds} of {stream.k}: the "
                    "vote is what there was until then. Give more rows, a larger gamma "
                    "or a larger target_error.",
                    UserWarning,
                    stacklevel=2,
                )
        return self

    def partial_fit(self, X, y, classes=None):
        """Feed rows to the filter of the current round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels among ``classes``.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; needed in the first call.

        Returns
        -------
        self : object
            The booster as it is so far. How the stream is cut makes no difference.
        """
        with restore_on_error(self):
            resume = hasattr(self, "_stream")
            if resume:
                check_same_params(self, PLANNED)
            elif classes is not None:
                vars(self).pop("classes_", None)  # those of an earlier fit
            known = known_classes(self, classes)
            X, y = self._read_chunk(X, y, reset=not resume)
            stream = self._stream.copy() if resume else self._open_stream(known)
            stream.feed(X, y)
            shown = stream.copy()
            shown.finish()
            self._publish_stream(shown, stream)
            self._stream = stream
            remember_params(self, PLANNED)
        return self

    def _open_stream(self, classes):
        check_parameters(self)
        check_choice(self.filter, "filter", ("practical", "theory"))
        check_real(self.delta, "delta", 0.0, strict=True)
        check_real(self.reliability, "reliability", 0.0, strict=True)
        is_open = isinstance(self.gamma, str)
        return FilterStream(
            clone(self._base()),  # its parameters may be set while the stream runs
            classes,
            mode=self.filter,
            gamma=STREAM_GAMMA if is_open else self.gamma,
            epsilon=STREAM_ERROR if self.target_error is None else self.target_error,
            delta=self.delta,
            reliability=self.reliability,
            n_samples_weak=self.n_samples_weak,
            max_tries=self.max_tries,
            on_failure=self.on_weak_failure,
            seed=draw_seed(check_random_state(self.random_state)),
        )

    def _read_chunk(self, X, y, *, reset):
        return validate_data_strict(self, X, y, reset=reset, **reading(self._base()))

    def _read_chunks(self, first, chunks):
        yield first
        for X, y in chunks:
            yield self._read_chunk(X, y, reset=False)

    def _publish_stream(self, shown, stream):
        """Set the fitted attributes: hypotheses of one state, counters of another."""
        self.classes_, self.estimators_ = shown.classes, shown.hypotheses
        self._columns = [None] * len(self.estimators_)
        self._stumps = stumps_of(self.estimators_, self.classes_)
        edges = np.array(shown.edges)
        self.estimator_rounds_ = np.flatnonzero(~np.isnan(edges))
        self.estimator_edges_ = edges[self.estimator_rounds_]
        self.n_rounds_, self.n_aborted_ = stream.n_rounds, stream.n_aborted
        self.k_, self.plans_ = stream.k, [(0, stream.k, stream.gamma)]
        self.gammas_ = np.full(stream.n_rounds, stream.gamma)
        self.n_seen_ = np.array(stream.n_seen)
        self.n_accepted_ = np.array(stream.n_accepted)
        self.n_rejected_ = np.array(stream.n_rejected)
        self.acceptance_rates_ = self.n_accepted_ / np.maximum(1, self.n_seen_)
        self.policy_, self.stop_reason_ = "stream", stream.stop_reason
        for name in (
            "policy_scores_", "required_edges_", "divergences_", "potentials_",
            "training_error_", "compression_indices_", "calibration_slope_",
        ):  # fmt: skip
            setattr(self, name, None)


def stumps_of(estimators, classes):
    """Return stumps as `stump_votes` takes them; None where something else votes."""
    if not all(type(estimator) is BooleanStump for estimator in estimators):
        return None
    rows = [
        (stump.feature_, *as_codes(stump.side_classes_, classes))
        for stump in estimators
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)
