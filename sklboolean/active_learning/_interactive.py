"""Asking a person: rows to label one after the other, from a pool or a stream."""

import numpy as np

from sklboolean._core.base import restore_on_error
from sklboolean._core.validation import (
    check_integer,
    check_same_params,
    validate_data_strict,
)
from sklboolean.active_learning._answers import check_labels, read_weights
from sklboolean.active_learning._parameters import (
    check_parameters,
    check_streaming,
    label_budget,
    table_reading,
)
from sklboolean.active_learning._publishing import publish, publish_counts
from sklboolean.active_learning._session import READ_ONCE, Session
from sklboolean.active_learning._stream import next_row


class InteractiveMixin:
    """``query``, ``query_stream`` and ``teach`` of `QueryByCommittee`."""

    def query(self, X_pool, n=None):
        """Return the rows whose labels are worth most.

        Goes on from the last ``fit`` or ``teach``, if there was one.

        Parameters
        ----------
        X_pool : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that are not labelled yet.
        n : int or None, default=None
            How many rows. None: ``batch_size``.

        Returns
        -------
        indices : ndarray of shape (min(n, n_samples),), dtype int
            Rows of ``X_pool``, at random until labels of two classes are known (and
            ``initial`` labels at least). Fewer where ``max_queries`` is reached.
        """
        n = check_integer(self.batch_size if n is None else n, "n", 1)
        with restore_on_error(self):
            session, X = self._open(X_pool)
            self._check_initial(session)
            session.stop_reason = ""
            session.n_seen = max(session.n_seen, session.n_labels + X.shape[0])
            n = int(min(n, label_budget(self) - session.n_queries))
            if n <= 0:
                indices, session.stop_reason = np.zeros(0, dtype=np.intp), "max_queries"
            else:
                indices = session.choose(X, n)
            publish_counts(self)
        return indices

    def query_stream(self, x):
        """Read one row of a stream and return whether its label is asked for.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features)
            The row. If its label is asked for, hand both to ``teach``.

        Returns
        -------
        wanted : bool
            True until the committee can be asked, then where two members differ. False
            from the stopping rule on, or when ``max_queries`` is reached.
        """
        with restore_on_error(self):
            check_streaming(self)
            session, X = self._open([x] if np.ndim(x) == 1 else x)
            self._check_initial(session)
            if X.shape[0] != 1:
                raise ValueError(f"x must be one row; got {X.shape[0]}.")
            if session.stop_reason != "t_n":
                session.stop_reason = ""
            if session.n_queries >= label_budget(self):
                session.stop_reason = "max_queries"
            coins = session.coins.random_sample((1, 2))
            wanted = False
            if not session.stop_reason:
                wanted = next_row(session, X, coins, 0) is not None
            session.pending = session.n_seen - 1 if wanted else None
            publish_counts(self)
        return wanted

    def teach(self, X, y, sample_weight=None):
        """Learn the labels of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, asked for or not.
        y : array-like of shape (n_samples,)
            Their labels. New classes may turn up at any time.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            What each label counts; not in the choice of rows.

        Returns
        -------
        self : object
            The learner. It predicts once labels of two classes are known.

        Raises
        ------
        ValueError
            For bad parameters and data; and when no hypothesis of a version space
            agrees with all labels, which are kept.
        """
        with restore_on_error(self):
            session, X, y = self._open(X, y)
            weights = read_weights(self, sample_weight, len(y))
            kept = np.flatnonzero(weights)
            X, y, weights = X[kept], y[kept], weights[kept]
            asked = [] if session.pending is None else [session.pending]
            session.add(X, check_labels(y), weights, asked)
            session.pending = None
            publish(self)
        return self

    def _check_initial(self, session):
        if np.ndim(self.initial) and session.n_labels < session.n_initial:
            raise ValueError(
                f"initial={self.initial!r} names rows of the pool that fit gets: begin "
                "with fit, teach their labels, or give a number."
            )

    def _open(self, X, y="no_validation"):
        """Return the session, begun if there is none, and the checked table."""
        check_parameters(self)
        begins = not hasattr(self, "_session")
        if not begins:
            check_same_params(self, READ_ONCE)
        checked = validate_data_strict(self, X, y, reset=begins, **table_reading(self))
        parts = checked if isinstance(checked, tuple) else (checked,)
        if begins:
            self._session = Session(self, self.n_features_in_)
        return self._session, *parts
