"""Where labels come from: label arrays, oracles that fail, marks of missing labels."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklboolean import QueryByCommittee
from sklboolean.active_learning import (
    FiniteVersionSpace,
    HalfspaceVersionSpace,
    KernelVersionSpace,
)

RANDOM = np.random.RandomState(0)
X = RANDOM.randint(0, 2, size=(80, 5))
y = np.where(X[:, 0] | (X[:, 1] & X[:, 2]), "spam", "ham")
# What is asked, answered and kept does not depend on the number of trees.
three_trees = partial(QueryByCommittee, n_members=3)


class Person:
    """Answers, and remembers the questions."""

    def __init__(self, labels, fails_at=None, error=None):
        self.labels, self.fails_at = labels, fails_at
        self.error = OSError("gone home") if error is None else error
        self.asked, self.rows = [], []

    def __call__(self, rows, indices):
        if self.fails_at is not None and len(self.asked) >= self.fails_at:
            raise self.error
        self.asked.extend(indices.tolist())
        self.rows.append(rows)
        return self.labels[indices]


def test_oracle_and_answer_book_lead_to_the_same():
    person = Person(y)
    asked = three_trees(max_queries=25, random_state=0)
    asked.fit(X, oracle=person, classes=["ham", "spam"])
    book = three_trees(max_queries=25, random_state=0).fit(X, y)
    assert_array_equal(asked.query_indices_, book.query_indices_)
    assert_array_equal(asked.query_indices_, person.asked)
    assert_array_equal(asked.predict_proba(X), book.predict_proba(X))


def test_oracle_sees_rows_as_they_were():
    frame = pd.DataFrame(X, columns=list("abcde"), index=np.arange(80) + 1000)
    person = Person(y)
    three_trees(max_queries=12, batch_size=2, random_state=0).fit(frame, oracle=person)
    assert all(isinstance(rows, pd.DataFrame) for rows in person.rows)
    shown = np.concatenate([rows.index for rows in person.rows])
    assert_array_equal(shown, np.array(person.asked) + 1000)
    person = Person(y)
    three_trees(max_queries=12, random_state=0).fit(X.tolist(), oracle=person)
    assert person.rows[-1] == [X[person.asked[-1]].tolist()]


@pytest.mark.slow
@pytest.mark.parametrize("fails_at", [0, 3, 15])
def test_answers_before_a_failure_are_kept(fails_at):
    person = Person(y, fails_at=fails_at)
    learner = three_trees(initial=3, batch_size=1, random_state=0, epsilon=None)
    with pytest.raises(
        RuntimeError, match=r"The oracle failed on samples? .* gone home"
    ):
        learner.fit(X, oracle=person)
    if not fails_at:
        assert not hasattr(learner, "query_indices_")
        return
    assert learner.query_indices_.tolist() == person.asked
    assert_array_equal(learner.query_labels_, y[person.asked])
    mended = Person(y)
    known = np.full(80, None, dtype=object)
    known[learner.query_indices_] = learner.query_labels_
    learner.set_params(max_queries=30).fit(X, known, oracle=mended)
    assert not set(mended.asked) & set(person.asked)


def test_interrupt_keeps_the_answers():
    person = Person(y, fails_at=12, error=KeyboardInterrupt())
    learner = three_trees(initial=8, random_state=0, epsilon=None)
    with pytest.raises(KeyboardInterrupt):
        learner.fit(X, oracle=person)
    assert learner.n_queries_ == 12
    assert set(learner.predict(X)) == {"ham", "spam"}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (["ham", "spam"], "must return 1 labels, for sample .* shape"),
        (["eggs"], "returned 'eggs' for sample .*; one of"),
    ],
)
def test_odd_answers_are_refused(answer, message):
    person = Person(y)
    learner = three_trees(random_state=0, epsilon=None)

    def oracle(rows, indices):
        return person(rows, indices) if len(person.asked) < 12 else answer

    with pytest.raises(ValueError, match=message):
        learner.fit(X, oracle=oracle, classes=["ham", "spam"])
    assert_array_equal(learner.query_indices_, person.asked)
    with pytest.raises(TypeError, match="oracle must be a function"):
        learner.fit(X, oracle=3)


# Marks of missing labels


def as_numbers(mark, dtype):
    numbers = np.where(y == "spam", 1, 0).astype(dtype)
    hidden = numbers.copy()
    hidden[20:] = mark
    return numbers, hidden


@pytest.mark.parametrize(("mark", "dtype"), [(None, object), (np.nan, float)])
def test_marks_of_missing_numbers(mark, dtype):
    numbers, hidden = as_numbers(mark, dtype)
    person = Person(numbers)
    learner = three_trees(max_queries=10, random_state=0)
    learner.fit(X, hidden, oracle=person)
    assert min(person.asked) >= 20
    assert learner.n_queries_ == len(person.asked) == len(learner.query_labels_)
    assert list(learner.classes_) == [0, 1]
    # Not read as scikit-activeml's convention, by which they are queried, nor the
    # other way round.
    with pytest.raises(ValueError, match=r"60 missing .*oracle.* teach\(.*query\("):
        three_trees(random_state=0).fit(X, hidden)
    with pytest.raises(ValueError, match="60 missing labels"):
        three_trees(random_state=0).fit_stream([(X, hidden)])


@pytest.mark.parametrize("mark", [None, np.nan, pd.NA])
@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series])
def test_marks_of_missing_words(mark, kind):
    hidden = y.astype(object)
    hidden[20:] = mark
    person = Person(y)
    learner = three_trees(max_queries=10, random_state=0)
    learner.fit(X, kind(hidden), oracle=person)
    assert min(person.asked) >= 20
    assert list(learner.classes_) == ["ham", "spam"]


def test_numbers_are_labels_unless_they_are_missing():
    signs = np.where(y == "spam", 1, -1)
    learner = three_trees(random_state=0).fit(X, signs)
    assert list(learner.classes_) == [-1, 1]


def test_no_label_at_all():
    with pytest.raises(ValueError, match="80 missing labels"):
        QueryByCommittee().fit(X, np.full(80, np.nan))
    with pytest.raises(ValueError, match="nothing to ask the oracle"):
        QueryByCommittee().fit(X, y, oracle=Person(y))
    with pytest.raises(ValueError, match=r"requires y .*no labels.*oracle=.*teach"):
        QueryByCommittee().fit(X)


def test_one_class_for_ever():
    constant = np.full(80, "ham")
    learner = three_trees(random_state=0)
    with pytest.raises(ValueError, match="y holds only one class, 'ham'"):
        learner.fit(X, constant)
    with pytest.raises(ValueError, match="All 80 labels are of one class, 'ham'"):
        learner.fit(X, oracle=Person(constant))
    assert learner.n_queries_ == 80
    assert learner.termination_condition_ == "pool_exhausted"
    with pytest.raises(sklearn.exceptions.NotFittedError):
        learner.predict(X)


def test_rare_class_is_looked_for_at_random():
    rare = np.zeros(80, dtype=int)
    rare[33] = 1
    learner = three_trees(random_state=0).fit(X, rare)
    assert 33 in learner.query_indices_


# Errors leave what was learned


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0.0}, "epsilon must be greater than 0"),
        ({"epsilon": 1.0}, "epsilon must be below 1"),
        ({"epsilon": (0.1, 1)}, "delta must be below 1"),
        ({"epsilon": (0.1, -0.1)}, "delta must be greater than 0"),
        ({"epsilon": (0.1,)}, "epsilon must be a number, a pair of numbers"),
        (
            {"committee": HalfspaceVersionSpace(label_noise=0.5)},
            "label_noise must be below 0.5",
        ),
        ({"strategy": "vote"}, "strategy must be one of"),
        ({"committee": []}, "at least one classifier"),
        ({"committee": [SVC()]}, "committee of one needs .* predict_proba"),
        ({"committee": SVC(), "n_members": 1}, "committee of one needs"),
        ({"committee": [KNeighborsClassifier()] * 3}, "would be equal"),
        ({"n_members": 0}, "n_members == 0, must be >= 1"),
        ({"batch_size": 0}, "batch_size == 0"),
        ({"max_queries": 0}, "max_queries == 0"),
        ({"initial": -1}, "initial == -1"),
        ({"initial": [3, 80]}, "must be indices of samples of X"),
        ({"initial": [0.5]}, "number of samples, or indices"),
        ({"committee": SVC(kernel="precomputed")}, "matrix of kernels"),
        ({"max_queries": 1, "initial": 1}, "All 1 labels are of one class"),
        ({"committee": KernelVersionSpace("round")}, "kernel must be one of"),
        ({"committee": HalfspaceVersionSpace(sampler="dice")}, "sampler must be"),
        ({"committee": FiniteVersionSpace([])}, "one or more callables"),
        ({"committee": FiniteVersionSpace("rumours")}, "hypotheses must be one of"),
        ({"committee": FiniteVersionSpace("conjunctions", 9)}, "n_features=9"),
        ({"strategy": lambda *_: np.ones(3)}, "one score for each of the"),
    ],
)
def test_bad_parameters_are_named_and_change_nothing(parameters, message):
    learner = three_trees(max_queries=12, random_state=0).fit(X, y)
    before = dict(vars(learner))
    with pytest.raises(ValueError, match=message):
        learner.set_params(**parameters).fit(X, y)
    fitted = {name for name in before if name.endswith("_")}
    assert all(vars(learner)[name] is before[name] for name in fitted)


@pytest.mark.parametrize("estimator", [DecisionTreeRegressor(), SVC, "tree"])
def test_what_is_no_classifier(estimator):
    with pytest.raises(TypeError, match="committee must be a classifier"):
        QueryByCommittee(estimator).fit(X, y)
    with pytest.raises(TypeError, match="final_estimator must be a classifier"):
        QueryByCommittee(final_estimator=estimator).fit(X, y)


def test_empty_pool():
    learner = three_trees(max_queries=12).fit(X, y)
    with pytest.raises(ValueError, match="0 sample"):
        learner.query(X[:0])
    with pytest.raises(ValueError, match="0 sample"):
        learner.fit(X[:0], y[:0])
    with pytest.raises(ValueError, match="chunks is empty"):
        learner.fit_stream([])


@pytest.mark.parametrize(
    "space",
    [
        FiniteVersionSpace("conjunctions"),
        HalfspaceVersionSpace(),
        HalfspaceVersionSpace(sampler="expectation_propagation"),
    ],
)
def test_answers_that_contradict_each_other_propose_noise(space):
    parity = np.where(X.sum(axis=1) % 2, "odd", "even")
    learner = QueryByCommittee(space, random_state=0, epsilon=None)
    person = Person(parity)
    with pytest.raises(ValueError, match="label_noise"):
        learner.fit(X, oracle=person, classes=["even", "odd"])
    assert_array_equal(learner.query_indices_, person.asked)
    with pytest.raises(ValueError, match="label_noise"):
        learner.predict(X)
    learner.set_params(committee__label_noise=0.2, max_queries=12).fit(X, parity)
    assert learner.n_queries_ <= 12


# Weights, metadata


def test_rows_without_weight_are_not_asked_for():
    weights = np.repeat([0.0, 2.0], 40)
    for base in (DecisionTreeClassifier(), KNeighborsClassifier(3)):
        learner = three_trees(base, random_state=0, epsilon=None)
        learner.fit(X, y, sample_weight=weights)
        assert learner.query_indices_.min() == 40
        assert learner.n_seen_ == 40


def test_weights_for_who_cannot_take_them():
    weights = np.ones(80)
    learner = QueryByCommittee([KNeighborsClassifier(3), KNeighborsClassifier(5)])
    with pytest.raises(ValueError, match="takes no sample_weight"):
        learner.fit(X, y, sample_weight=weights)
    final = QueryByCommittee(final_estimator=KNeighborsClassifier(3))
    with pytest.raises(ValueError, match="takes no sample_weight"):
        final.fit(X, y, sample_weight=weights)
    space = QueryByCommittee(HalfspaceVersionSpace(label_noise=0.1))
    with pytest.raises(ValueError, match="must be whole numbers; got"):
        space.fit(X, y, sample_weight=weights * 1.5)


def test_weight_is_a_repeated_row_to_a_version_space():
    space = FiniteVersionSpace("conjunctions", label_noise=0.2)
    heavy = QueryByCommittee(space).teach(X[:9], y[:9], sample_weight=[3] * 9)
    often = QueryByCommittee(space).teach(np.repeat(X[:9], 3, axis=0), y[:9].repeat(3))
    np.testing.assert_allclose(heavy.predict_proba(X), often.predict_proba(X))


def test_metadata_is_routed():
    person = Person(y)
    with sklearn.config_context(enable_metadata_routing=True):
        learner = QueryByCommittee(LogisticRegression(), max_queries=12)
        learner.set_fit_request(oracle=True, sample_weight=True, classes=True)
        chain = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False), learner
        )
        chain.fit(
            X, np.full(80, np.nan), oracle=person, sample_weight=np.ones(80),
            classes=["ham", "spam"],
        )  # fmt: skip
    assert len(person.asked) == 12
    assert_array_equal(chain[-1].query_indices_, person.asked)


@pytest.mark.parametrize("dtype", [np.uint64, np.uint8, np.int64])
def test_unsigned_labels_are_found_among_signed_classes(dtype):
    X = np.eye(4)
    learner = three_trees(random_state=0, initial=3, max_queries=4)
    with pytest.raises(ValueError, match="of one class, 1; two are needed"):
        learner.fit(X, np.ones(4, dtype=dtype), classes=[-1, 1])
    with pytest.raises(ValueError, match=r"one of \[-1, 1\]|not among the classes"):
        learner.fit(X, np.full(4, 2, dtype=dtype), classes=[-1, 1])
