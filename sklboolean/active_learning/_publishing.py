"""What a QueryByCommittee shows of its session, and keeps when something fails."""

from contextlib import contextmanager

import numpy as np

from sklboolean.active_learning._parameters import check_parameters


@contextmanager
def answers_kept(learner, oracle):
    """Begin anew; undo that on errors, unless an oracle has answered already."""
    before = dict(vars(learner))
    try:
        check_parameters(learner)
        for name in [name for name in before if name.endswith("_")]:
            delattr(learner, name)
        vars(learner).pop("_session", None)
        yield
    except BaseException:
        session = vars(learner).get("_session")
        if oracle is not None and session is not None and session.n_queries:
            publish(learner, final=False)
        else:
            vars(learner).clear()
            vars(learner).update(before)
        raise


def finish(learner):
    """Publish what was learned from a pool or a stream that came to its end."""
    session = learner._session
    session.stop_reason = session.stop_reason or "stream"
    if not session.is_ready:
        raise ValueError(
            f"All {session.n_labels} labels are of one class, "
            f"{session.y.tolist()[0]!r}; two are needed. Allow for more labels, or "
            "choose the `initial` rows."
        )
    publish(learner)


def publish(learner, *, final=True):
    """Set the fitted attributes; ``final``: fit the final estimator too."""
    session = learner._session
    publish_counts(learner)
    if session.is_ready:
        learner.classes_, learner.estimator_ = session.classes, None
        committee = session.committee
        learner.committee_ = committee.space if session.is_gibbs else committee.fitted
        if final and learner.final_estimator is not None:
            learner.estimator_ = session.fit_final(learner.final_estimator)


def publish_counts(learner):
    """Set the attributes that tell what was asked for and seen."""
    session = learner._session
    learner.n_queries_, learner.n_seen_ = session.n_queries, session.n_seen
    learner.stop_reason_ = session.stop_reason
    learner.query_indices_ = np.array(session.query_indices, dtype=np.intp)
    labels = np.zeros(0) if session.y is None else session.y
    learner.query_labels_ = labels[session.n_given :]
    learner.information_gains_ = np.array(session.gains[session.n_given :])
    learner.label_entropy_ = np.array(session.entropies)


def report(learner):
    """Print how far the learner is, if it is to."""
    session = learner._session
    if learner.verbose:
        entropy = session.entropies[-1] if session.entropies else np.nan
        print(
            f"[QueryByCommittee] {session.n_queries} labels, {session.n_seen} rows "
            f"seen, label entropy {entropy:.4f}"
        )
