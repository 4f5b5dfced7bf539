"""Being told about a hidden conjunction: queries, a teacher, random rows."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklboolean.concepts import (
    learn_conjunction_by_queries,
    learn_conjunction_from_examples,
    learn_conjunction_from_teacher,
    teaching_set,
)
from sklboolean.theory import n_conjunctions, sample_complexity

hidden = st.lists(st.sampled_from([None, True, False]), min_size=1, max_size=7)


class Oracle:
    """A hidden conjunction that counts how often it is asked."""

    def __init__(self, wanted):
        self.wanted, self.n_queries = wanted, 0

    def __call__(self, row):
        self.n_queries += 1
        return all(
            value is None or bool(x) == value
            for x, value in zip(row, self.wanted, strict=True)
        )

    def features(self, value):
        return [j for j, wanted in enumerate(self.wanted) if wanted is value]


def assert_is(learned, oracle):
    np.testing.assert_array_equal(learned.positive, oracle.features(True))
    np.testing.assert_array_equal(learned.negative, oracle.features(False))
    rows = np.array(list(product([False, True], repeat=learned.n_features)))
    np.testing.assert_array_equal(learned.holds(rows), [oracle(row) for row in rows])


@given(hidden, st.integers(0, 10**6))
def test_n_queries_find_the_conjunction(wanted, seed):
    oracle = Oracle(wanted)
    rng = np.random.default_rng(seed)
    example = [rng.integers(0, 2) if value is None else int(value) for value in wanted]
    learned = learn_conjunction_by_queries(
        oracle, len(wanted), positive_example=example
    )
    # One more, to see that the example is positive, only when every literal counts.
    assert oracle.n_queries == len(wanted) + all(v is not None for v in wanted)
    assert learned.n_examples == len(wanted)
    assert_is(learned, oracle)


def test_negations_need_an_example():
    oracle = Oracle([False, False])
    with pytest.raises(ValueError, match="needs positive_example"):
        learn_conjunction_by_queries(oracle, 2)


@given(hidden)
def test_teaching_set_leaves_no_other_conjunction(wanted):
    oracle, n = Oracle(wanted), len(wanted)
    X, y = teaching_set(oracle.features(True), oracle.features(False), n)
    assert len(X) == 2 + sum(value is not None for value in wanted)
    np.testing.assert_array_equal(y, [oracle(row) for row in X])
    consistent = [
        other
        for other in product([None, True, False], repeat=n)
        if all(Oracle(other)(row) == label for row, label in zip(X, y, strict=True))
    ]
    assert consistent == [tuple(wanted)]
    assert_is(learn_conjunction_from_teacher(X, y), oracle)


def test_teacher_who_leaves_something_open_is_told_what():
    X, y = teaching_set([0, 1], [], 3)
    with pytest.raises(ValueError, match=r"determine whether features \[1\]"):
        learn_conjunction_from_teacher(X[:3], y[:3])
    with pytest.raises(ValueError, match="at least one sample accepted"):
        learn_conjunction_from_teacher(X[2:], y[2:])


@given(hidden, st.integers(0, 10**6))
def test_watching_never_accepts_what_the_conjunction_rejects(wanted, seed):
    oracle, n = Oracle(wanted), len(wanted)
    learned = learn_conjunction_from_examples(oracle, 0.5, n, 30, random_state=seed)
    rows = np.array(list(product([False, True], repeat=n)))
    truth = np.array([oracle(row) for row in rows])
    assert not (learned.holds(rows) & ~truth).any()
    assert set(oracle.features(True)) <= set(learned.positive)
    assert set(oracle.features(False)) <= set(learned.negative)


def test_enough_examples_are_enough():
    """With m of the PAC theorem the error passes epsilon in a share delta at most."""
    epsilon, delta, n = 0.1, 0.1, 6
    wanted = [True, None, False, None, None, None]
    n_examples = sample_complexity(n_conjunctions(n), epsilon, delta)
    rows = np.array(list(product([False, True], repeat=n)))
    truth = np.array([Oracle(wanted)(row) for row in rows])
    failures = sum(
        np.mean(
            learn_conjunction_from_examples(
                Oracle(wanted), 0.5, n, n_examples, random_state=seed
            ).holds(rows)
            != truth
        )
        > epsilon
        for seed in range(40)
    )
    assert failures <= 40 * delta


def test_own_distribution_and_bad_arguments():
    def draw(rng):
        return rng.randint(0, 2, 3)

    oracle = Oracle([True, None, None])
    learned = learn_conjunction_from_examples(oracle, draw, 3, 50, random_state=0)
    assert repr(learned) == "LearnedConjunction('x0', n_examples=50)"
    with pytest.raises(ValueError, match="draw must be at most 1"):
        learn_conjunction_from_examples(oracle, 1.5, 3, 10)
    with pytest.raises(ValueError, match="draw must give 4 values"):
        learn_conjunction_from_examples(oracle, draw, 4, 10)
    with pytest.raises(ValueError, match="positive_example must give 3"):
        learn_conjunction_by_queries(oracle, 3, positive_example=[1, 2, 0])
    with pytest.raises(ValueError, match="both positive and negative"):
        teaching_set([0], [0], 2)
    with pytest.raises(ValueError, match="a feature in negative"):
        teaching_set([0], [2], 2)
