"""One label after the other: query and teach, streams, stopping and going on."""

import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
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
from sklboolean.active_learning._query_state import sample_keys

X = np.random.RandomState(0).randint(0, 2, size=(150, 6))
y = np.where(X[:, 0] | (X[:, 1] & X[:, 2]), "spam", "ham")

# What is asked, answered and kept does not depend on the number of trees.
three_trees = partial(QueryByCommittee, n_members=3)

LEARNERS = [
    three_trees(),
    QueryByCommittee(LogisticRegression(), n_members=3, strategy="kl"),
    QueryByCommittee([DecisionTreeClassifier()] * 5, initial=4),
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
    straight, left = play(clone(learner), 12, np.arange(150))
    stopped, other = play(clone(learner), 12, np.arange(150), interrupt=True)
    assert_array_equal(left, other)
    assert_array_equal(straight.predict_proba(X), stopped.predict_proba(X))
    assert straight.n_queries_ == 12
    assert straight.score(X, y) > np.mean(y == "spam") + 0.1


def test_query_and_teach_do_what_fit_does():
    fitted = three_trees(initial=5, max_queries=20, random_state=0, epsilon=None)
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
    learner = three_trees(initial=2, random_state=0)
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
    learner = three_trees(random_state=0).teach(X[:20], y[:20])
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
    learner = three_trees(random_state=0, max_queries=30).fit(X[:100], y[:100])
    n = learner.n_queries_
    learner.set_params(max_queries=None)
    learner.teach(X[100:110], y[100:110])
    assert learner.n_queries_ == n + 10
    again = learner.set_params(max_queries=30).fit(X[:100], y[:100])
    assert again.n_queries_ == n


def test_batches_are_rows_of_the_pool():
    learner = three_trees(random_state=0, batch_size=7).fit(X, y)
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
    whole = three_trees(max_queries=15, random_state=3).fit_stream([(X, y)])
    by_hand = three_trees(max_queries=15, random_state=3)
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

    learner = three_trees(random_state=3)
    learner.fit_stream((X[i : i + 40] for i in range(0, 150, 40)), oracle=oracle)
    assert_array_equal(learner.query_indices_, asked)
    whole = three_trees(random_state=3).fit_stream([(X, y)])
    assert_array_equal(asked, whole.query_indices_)
    assert learner.n_seen_ == whole.n_seen_


def test_stream_is_not_read_further_than_needed():
    read = []  # the chunks

    def chunks():
        for i in range(0, 150, 10):
            read.append(i)
            yield X[i : i + 10], y[i : i + 10]

    learner = three_trees(max_queries=10, random_state=0).fit_stream(chunks())
    assert learner.termination_condition_ == "max_queries"
    assert learner.n_queries_ == 10
    assert read[-1] <= learner.n_seen_ + 10
    assert learner.query_stream(X[0]) is False
    with pytest.raises(ValueError, match="x must be one sample"):
        learner.query_stream(X[:2])


def test_labels_that_nobody_asked_for_are_learned_too():
    learner = three_trees(random_state=0).teach(X, y)
    assert learner.n_queries_ == 150
    assert_array_equal(learner.query_indices_, -1)
    assert learner.score(X, y) > 0.95


def test_progress_is_printed(capsys):
    three_trees(verbose=1, max_queries=12, random_state=0).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[-1].startswith("[QueryByCommittee] query 3, ")
    assert " s: 12 labels, 150 samples seen, " in lines[-1]


def test_initial_rows_of_the_users_choice():
    learner = three_trees(initial=[9, 4, 2, 30], random_state=0).fit(X, y)
    assert set(learner.query_indices_[:4]) == {2, 4, 9, 30}


# Utilities, the record of queries, unknown labels, corrections


def test_queries_are_recorded_in_any_order_and_in_parts():
    learner = three_trees(random_state=0, initial=4)
    first = learner.query(X, 6)
    learner.teach(X[first[[4, 1]]], y[first[[4, 1]]])
    learner.teach(X[first[[0]]].astype(float), y[first[[0]]])
    expected = first[[4, 1, 0]]
    assert_array_equal(X[learner.query_indices_], X[expected])
    assert len(set(learner.query_indices_)) == 3
    assert set(learner.query_indices_) <= set(first)
    learner.teach(1 - X[first[:1]], y[first[:1]])
    asked = {tuple(x) for x in X[first]}
    by_chance = tuple(1 - X[first[0]]) in asked
    assert (learner.query_indices_[-1] == -1) != by_chance


def test_utilities_are_the_scores_of_the_strategy():
    learner = QueryByCommittee(LogisticRegression(), strategy="margin", random_state=0)
    rows, utilities = learner.query(X, 3, return_utilities=True)
    assert_array_equal(utilities, np.zeros(150))
    learner.teach(X[:20], y[:20])
    rows, utilities = learner.query(X[20:], return_utilities=True)
    p = learner.predict_proba(X[20:])
    assert_allclose(utilities, -np.abs(p[:, 1] - p[:, 0]), rtol=1e-12)
    assert utilities[rows[0]] == utilities.max()
    learner.teach(X[20:][rows], [None])
    _rows, utilities = learner.query(X[20:], return_utilities=True)
    same = (X[20:] == X[20:][rows]).all(axis=1)
    assert_array_equal(np.isnan(utilities), same)


@pytest.mark.parametrize("batch_size", [1, 4])
def test_batch_size_has_one_name(batch_size):
    learner = three_trees(random_state=0, batch_size=batch_size)
    learner.teach(X[:20], y[:20])
    assert len(learner.query(X)) == batch_size
    assert len(learner.query(X, batch_size=7)) == 7
    with pytest.raises(ValueError, match="batch_size == 0, must be >= 1"):
        learner.query(X, 0)


@pytest.mark.parametrize("mark", [None, np.nan])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_unknown_labels_are_skipped(mark, form):
    learner = QueryByCommittee(LogisticRegression(), random_state=0, initial=5)
    pool, unknown = form(X), set()
    for _ in range(8):
        rows = learner.query(pool, 5)
        assert not unknown & {tuple(X[row]) for row in rows}
        labels = y[rows].astype(object)
        labels[1::2] = mark
        unknown |= {tuple(X[row]) for row in rows[1::2]}
        learner.teach(pool[rows], labels)
    assert learner.n_queries_ == 24
    assert len(learner.skipped_indices_) == 16
    assert {tuple(X[row]) for row in learner.skipped_indices_} == unknown
    # Skipped samples do not change what is learned.
    assert set(learner.query_labels_) == {"ham", "spam"}


def test_all_samples_may_be_skipped():
    learner = three_trees(random_state=0).teach(X[:5], [None] * 5)
    assert learner.n_queries_ == 0
    assert len(learner.query(X[:5])) == 0
    assert learner.termination_condition_ == "pool_exhausted"
    with pytest.raises(NotFittedError, match="no labels"):
        learner.predict(X)
    with pytest.raises(ValueError, match="No label is known; two are needed"):
        learner.fit(X, oracle=lambda _samples, indices: [None] * len(indices))


def test_oracle_skips_labels_that_it_does_not_know():
    hard = X[:, 3] == 1
    answers = y.astype(object)
    answers[hard] = None
    asked = []

    def oracle(_samples, indices):
        asked.extend(indices.tolist())
        return answers[indices]

    for learn in (
        lambda m: m.fit(X, oracle=oracle),
        lambda m: m.fit_stream([X[:70], X[70:]], oracle=oracle),
    ):
        asked.clear()
        learner = learn(three_trees(random_state=0, max_queries=30, epsilon=None))
        assert len(set(asked)) == len(asked)
        assert 10 <= learner.n_queries_ <= 30
        assert not hard[learner.query_indices_].any()
        assert hard[learner.skipped_indices_].all()
        expected = [i for i in asked if hard[i]]
        assert_array_equal(learner.skipped_indices_, expected)


def corrected(learner):
    """Teach 40 labels, three of them wrong, and correct or remove these."""
    wrong = y[:40].copy()
    equal = (X[:40, None] == X[[4, 9, 11]]).all(axis=2)
    wrong[equal.any(axis=1)] = "ham"
    learner.teach(X[:25], wrong[:25]).teach(X[25:40], wrong[25:])
    learner.correct(X[[4, 9]], y[[4, 9]]).correct(X[[11]], [None])
    kept = np.flatnonzero(~equal[:, 2])
    return learner, kept


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_corrections_are_as_if_the_labels_had_been_right(learner):
    learner = clone(learner).set_params(random_state=0)
    if "Version" in str(learner.committee):
        learner.set_params(committee__label_noise=0.1)
    mended, kept = corrected(clone(learner))
    straight = clone(learner).teach(X[kept], y[kept])
    assert_array_equal(mended.query_labels_, y[kept])
    assert_array_equal(mended.predict_proba(X), straight.predict_proba(X))
    assert_array_equal(mended.information_gains_, straight.information_gains_)
    assert mended.n_queries_ == len(kept)


def test_correction_of_what_was_given_and_of_what_was_queried():
    known = np.full(150, None, dtype=object)
    known[:20] = y[:20]
    learner = three_trees(random_state=0, max_queries=10)
    learner.fit(X, known, oracle=lambda _samples, indices: y[indices])
    before = learner.query_indices_
    first = X[before[0]]
    learner.correct(X[:1], ["eggs"]).correct(first[None], [None])
    assert "eggs" in learner.classes_
    kept = (X[before] != first).any(axis=1)
    kept &= (X[before] != X[0]).any(axis=1) | (learner_label(y, X[0]) == "eggs")
    assert set(learner.query_indices_) >= set(before[kept])
    assert learner.n_queries_ == len(learner.query_labels_)


def learner_label(labels, x):
    return labels[(X == x).all(axis=1)][0]


def test_taking_labels_back_may_end_the_predictions():
    learner = three_trees(random_state=0)
    spam, ham = X[y == "spam"][:1], X[y == "ham"][:1]
    learner.teach(np.vstack([spam, ham]), ["spam", "ham"]).predict(X)
    before = dict(vars(learner))
    with pytest.raises(ValueError, match="Sample 0 of X has no label yet"):
        learner.correct(1 - spam if (1 - spam != ham).any() else X[5:6], ["ham"])
    with pytest.raises(ValueError, match="is of another type"):
        learner.correct(spam, [1])
    assert vars(learner) == before
    learner.correct(spam, [np.nan])
    with pytest.raises(NotFittedError, match="one class only, 'ham'"):
        learner.predict(X)
    learner.correct(ham, [None])
    with pytest.raises(NotFittedError, match="no labels"):
        learner.predict(X)
    with pytest.raises(ValueError, match="has no label yet"):
        QueryByCommittee().correct(ham, ["spam"])


def test_equal_samples_have_equal_keys():
    floats = np.array([[0.0, np.nan], [-0.0, np.nan], [1.0, 0.0]])
    keys = sample_keys(floats)
    assert keys[0] == keys[1] != keys[2]
    words = np.array([["a", np.nan], ["a", np.nan], ["b", 1]], dtype=object)
    keys = sample_keys(words)
    assert keys[0] == keys[1] != keys[2]
    wide = np.array([["a"], ["b"]], dtype="U9")
    assert sample_keys(wide) == sample_keys(wide.astype("U1"))
    bits = X[:9]
    assert sample_keys(bits) == sample_keys(bits.astype(bool))
    thin = sparse.csr_array(bits.astype(np.float32))
    thin.indices = thin.indices.astype(np.int64)
    assert sample_keys(thin) == sample_keys(sparse.csr_array(bits))


def test_integers_in_an_array_of_objects_are_labels():
    X = np.random.default_rng(0).integers(0, 2, (40, 5))
    model = QueryByCommittee(n_members=3, random_state=0)
    labels = np.array([1, 0, 1, 0], dtype=object)
    model.teach(X[:4], labels).teach(X[4:6], np.array([1, None], dtype=object))
    assert_array_equal(model.classes_, [0, 1])
    assert model.n_queries_ == 5
