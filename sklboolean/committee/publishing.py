"""What a QueryByCommittee shows of its session, and keeps when something fails."""

from contextlib import contextmanager

import numpy as np

from sklboolean.committee.parameters import check_parameters

__all__ = ["PublishingMixin"]


class PublishingMixin:
    """Fitted attributes of `QueryByCommittee`, from its session."""

    @contextmanager
    def _answers_kept(self, oracle):
        """Begin anew; undo that on errors, unless an oracle has answered already."""
        before = dict(vars(self))
        try:
            check_parameters(self)
            for name in [name for name in before if name.endswith("_")]:
                delattr(self, name)
            vars(self).pop("_session", None)
            yield
        except BaseException:
            session = vars(self).get("_session")
            if oracle is not None and session is not None and session.n_queries:
                self._publish(final=False)
            else:
                vars(self).clear()
                vars(self).update(before)
            raise

    def _finish(self, session):
        session.stop_reason = session.stop_reason or "stream"
        if not session.is_ready:
            raise ValueError(
                f"All {session.n_labels} labels are of one class, "
                f"{session.y.tolist()[0]!r}; two are needed. Allow for more labels, or "
                "choose the `initial` rows."
            )
        self._publish()

    def _publish(self, *, final=True):
        """Set the fitted attributes."""
        session = self._session
        self._publish_counts()
        if session.is_ready:
            self.classes_, self.estimator_ = session.classes, None
            committee = session.committee
            self.committee_ = committee.space if session.is_gibbs else committee.fitted
            if final and self.final_estimator is not None:
                self.estimator_ = session.fit_final(self.final_estimator)

    def _publish_counts(self):
        session = self._session
        self.n_queries_, self.n_seen_ = session.n_queries, session.n_seen
        self.stop_reason_ = session.stop_reason
        self.query_indices_ = np.array(session.query_indices, dtype=np.intp)
        labels = np.zeros(0) if session.y is None else session.y
        self.query_labels_ = labels[session.n_given :]
        self.information_gains_ = np.array(session.gains[session.n_given :])
        self.label_entropy_ = np.array(session.entropies)

    def _report(self, session):
        if self.verbose:
            entropy = session.entropies[-1] if session.entropies else np.nan
            print(
                f"[QueryByCommittee] {session.n_queries} labels, {session.n_seen} rows "
                f"seen, label entropy {entropy:.4f}"
            )

    def _budget(self):
        return np.inf if self.max_queries is None else self.max_queries
