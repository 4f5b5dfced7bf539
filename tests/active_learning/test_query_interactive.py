"""One label after the other: query and teach, streams, stopping and going on."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklboolean import QueryByCommittee
from sklboolean.active_learning import (
    FiniteVersionSpace,
    HalfspaceVersionSpace,
    KernelVersionSpace,
)

X = np.random.RandomState(0).randint(0, 2, size=(150, 6))
y = np.where(X[:, 0] | (X[:, 1] & X[:, 2]), "spam", "ham")

LEARNERS = [
    QueryByCommittee(),
    QueryByCommittee(LogisticRegression(), n_members=3, strategy="kl"),
    QueryByCommittee(DecisionTreeClassifier(), resample_members=True, initial=4),
    QueryByCommittee(HalfspaceVersionSpace(sampler="expectation_propagation")),
    QueryByCommittee(HalfspaceVersionSpace(sampler="elliptical_slice", n_steps=20)),
    QueryByCommittee(FiniteVersionSpace("disjunctions", label_noise=0.1)),
    QueryByCommittee(KernelVersionSpace("conjunction")),
]


def play(learner, n, left, *, interrupt=False):
    """Ask for n labels, one after the other, from what is left of the pool."""
    for _ in range(n):
        if interrupt:
            learner = pickle.loads(pickle.dumps(learner))
        row = left[learner.query(X[left])[0]]
        if interrupt:
            learner = pickle.loads(pickle.dumps(learner))
        learner.teach(X[[row]], y[[row]])
        left = left[left != row]
    return learner, left


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_pickled_loop_goes_on_as_if_nothing_had_been(learner):
    learner = clone(learner).set_params(random_state=0)
    straight, left = play(clone(learner), 20, np.arange(150))
    stopped, other = play(clone(learner), 20, np.arange(150), interrupt=True)
    assert_array_equal(left, other)
    assert_array_equal(straight.predict_proba(X), stopped.predict_proba(X))
    assert straight.n_queries_ == 20
    assert straight.score(X, y) > np.mean(y == "spam") + 0.1


def test_query_and_teach_do_what_fit_does():
    fitted = QueryByCommittee(initial=5, max_queries=20, random_state=0, epsilon=None)
    fitted.fit(X, y)
    by_hand = clone(fitted)
    left = np.arange(150)
    while True:
        rows = left[by_hand.query(X[left], 5 if not hasattr(by_hand, "y_") else 1)]
        if not len(rows):
            break
        by_hand.teach(X[rows], y[rows])
        left = np.setdiff1d(left, rows)
        by_hand.y_ = True
    asked = np.setdiff1d(np.arange(150), left)
    assert_array_equal(asked, np.sort(fitted.query_indices_))
    assert by_hand.termination_condition_ == "max_queries"
    assert_array_equal(by_hand.predict_proba(X), fitted.predict_proba(X))


def test_cold_start_asks_at_random_until_two_classes_are_known():
    learner = QueryByCommittee(initial=2, random_state=0)
    with pytest.raises(NotFittedError):
        learner.predict(X)
    assert len(learner.query(X, 4)) == len(set(learner.query(X, 4))) == 4
    spam, ham = X[y == "spam"], X[y == "ham"]
    learner.teach(spam[:3], ["spam"] * 3)
    for ask in (learner.predict, learner.predict_proba, learner.decision_function):
        with pytest.raises(NotFittedError, match=r"one class only, 'spam'.* a second"):
            ask(X)
    assert learner.n_queries_ == 3
    assert np.isnan(learner.information_gains_).all()
    learner.teach(ham[:1], ["ham"])
    assert set(learner.predict(np.vstack([spam[:3], ham[:1]]))) == {"ham", "spam"}
    assert len(learner.label_entropy_) == 0
    learner.query(X)
    assert len(learner.label_entropy_) == 1


def test_new_class_may_turn_up_at_any_time():
    learner = QueryByCommittee(random_state=0).teach(X[:20], y[:20])
    learner.teach(X[20:22], ["eggs", "eggs"])
    assert list(learner.classes_) == ["eggs", "ham", "spam"]
    assert learner.predict_proba(X).shape == (150, 3)
    assert np.isfinite(learner.information_gains_[20:]).all()
    with pytest.raises(ValueError, match="of another type"):
        learner.teach(X[30:32], [1, 2])
    space = QueryByCommittee(HalfspaceVersionSpace()).teach(X[:20], y[:20])
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        space.teach(X[20:22], ["eggs", "eggs"])
    assert list(space.classes_) == ["ham", "spam"]
    assert space.n_queries_ == 20


def test_fit_can_be_gone_on_from_and_begun_anew():
    learner = QueryByCommittee(random_state=0, max_queries=30).fit(X[:100], y[:100])
    n = learner.n_queries_
    learner.set_params(max_queries=None)
    learner.teach(X[100:110], y[100:110])
    assert learner.n_queries_ == n + 10
    again = learner.set_params(max_queries=30).fit(X[:100], y[:100])
    assert again.n_queries_ == n


def test_batches_are_rows_of_the_pool():
    learner = QueryByCommittee(random_state=0, batch_size=7).fit(X, y)
    rows = learner.query(X)
    assert len(rows) == len(set(rows)) == 7
    assert len(learner.query(X[:3], 10)) == 3


def test_batches_are_not_twins():
    """Of 64 different rows many are there twice or more."""
    learner = QueryByCommittee(LogisticRegression(), strategy="margin", random_state=0)
    learner.teach(X[:10], y[:10])
    for _ in range(5):
        rows = learner.query(X, 6)
        assert len(np.unique(X[rows], axis=0)) == 6


def test_stream_by_hand_is_the_stream_of_fit():
    whole = QueryByCommittee(mode="stream", random_state=3).fit(X, y)
    by_hand = QueryByCommittee(mode="stream", random_state=3)
    for x, label in zip(X, y, strict=True):
        by_hand = pickle.loads(pickle.dumps(by_hand))
        if by_hand.query_stream(x):
            by_hand.teach([x], [label])
        if by_hand.termination_condition_:
            break
    assert_array_equal(by_hand.query_indices_, whole.query_indices_)
    assert by_hand.n_seen_ == whole.n_seen_
    assert_array_equal(by_hand.predict(X), whole.predict(X))


def test_stream_of_an_oracle_counts_from_its_beginning():
    asked = []

    def oracle(rows, indices):
        assert_array_equal(rows, X[indices])
        asked.extend(indices.tolist())
        return y[indices]

    learner = QueryByCommittee(mode="stream", random_state=3)
    learner.fit_stream((X[i : i + 40] for i in range(0, 150, 40)), oracle=oracle)
    assert_array_equal(learner.query_indices_, asked)
    whole = QueryByCommittee(mode="stream", random_state=3).fit(X, y)
    assert_array_equal(asked, whole.query_indices_)
    assert learner.n_seen_ == whole.n_seen_


def test_stream_is_not_read_further_than_needed():
    read = []  # the chunks

    def chunks():
        for i in range(0, 150, 10):
            read.append(i)
            yield X[i : i + 10], y[i : i + 10]

    learner = QueryByCommittee(max_queries=10, random_state=0).fit_stream(chunks())
    assert learner.termination_condition_ == "max_queries"
    assert learner.n_queries_ == 10
    assert read[-1] <= learner.n_seen_ + 10
    assert learner.query_stream(X[0]) is False
    with pytest.raises(ValueError, match="x must be one sample"):
        learner.query_stream(X[:2])


def test_labels_that_nobody_asked_for_are_learned_too():
    learner = QueryByCommittee(random_state=0).teach(X, y)
    assert learner.n_queries_ == 150
    assert len(learner.query_indices_) == 0
    assert learner.score(X, y) > 0.95


def test_progress_is_printed(capsys):
    QueryByCommittee(verbose=1, max_queries=12, random_state=0).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[-1].startswith("[QueryByCommittee] 12 labels, 150 samples seen")


def test_initial_rows_of_the_users_choice():
    learner = QueryByCommittee(initial=[9, 4, 2, 30], random_state=0).fit(X, y)
    assert set(learner.query_indices_[:4]) == {2, 4, 9, 30}
