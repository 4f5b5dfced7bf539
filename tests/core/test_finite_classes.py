"""Finite classes and mistake counts, hypothesis by hypothesis."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklboolean._core import finite_classes as hypotheses
from sklboolean._core.bits import unpack_words
from sklboolean._core.finite_classes import (
    AnswerTable,
    FunctionClass,
    LiteralClass,
    MistakeCounts,
    count_literal_sets,
)
from sklboolean._core.formulas import formula_text


def literal_sets(n_features, longest, monotone):
    """All sets of (feature, value) without a feature twice."""
    for size in range(longest + 1):
        for features in combinations(range(n_features), size):
            for values in product([1] if monotone else [1, 0], repeat=size):
                yield frozenset(zip(features, values, strict=True))


def as_set(literals, n_features):
    return frozenset((j % n_features, int(j < n_features)) for j in literals)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("disjunctive", [False, True])
@pytest.mark.parametrize(("n_features", "longest"), [(1, 1), (4, 4), (5, 2), (6, 0)])
def test_class_answers_as_each_of_its_formulas(
    n_features, longest, disjunctive, monotone
):
    listed = LiteralClass.build(
        n_features, longest=longest, disjunctive=disjunctive, monotone=monotone
    )
    expected = set(literal_sets(n_features, longest, monotone))
    everybody = np.arange(listed.n_hypotheses)
    sets = [
        as_set(np.flatnonzero(literals), n_features)
        for literals in listed.literals_of(everybody)
    ]
    assert (
        len(sets) == len(expected) == count_literal_sets(n_features, longest, monotone)
    )
    assert set(sets) == expected
    rows = np.array(list(product([0, 1], repeat=n_features)), dtype=np.uint8)
    answers = unpack_words(listed.accepting(rows), listed.n_hypotheses)
    quantifier = any if disjunctive else all
    for row, accepting in zip(rows, answers, strict=True):
        for literals, accepts in zip(sets, accepting, strict=True):
            assert accepts == quantifier(row[j] == value for j, value in literals)


@pytest.mark.parametrize("disjunctive", [False, True])
@pytest.mark.parametrize("n_hypotheses", [0, 1, 64, 233])
def test_both_ways_to_answer_agree(disjunctive, n_hypotheses, monkeypatch):
    random = np.random.RandomState(n_hypotheses)
    listed = LiteralClass.build(9, longest=3, disjunctive=disjunctive, monotone=False)
    chosen = random.randint(listed.n_hypotheses, size=n_hypotheses)
    part = listed.take(chosen)
    rows = random.random_sample((6000, 9)) < 0.5
    by_counts = part.accepting(rows)
    answers = unpack_words(listed.accepting(rows), listed.n_hypotheses)
    expected = answers[:, chosen]
    np.testing.assert_array_equal(unpack_words(by_counts, n_hypotheses), expected)
    monkeypatch.setattr(hypotheses, "FEW_HYPOTHESES", -1)
    np.testing.assert_array_equal(part.accepting(rows), by_counts)
    np.testing.assert_array_equal(
        part.literals_of(np.arange(n_hypotheses)), listed.literals_of(chosen)
    )


@given(st.integers(0, 999))
def test_parts_of_a_class_answer_as_the_whole(seed):
    random = np.random.RandomState(seed)
    answers = random.random_sample((random.randint(1, 200), 6)) < 0.5
    chosen = random.randint(len(answers), size=random.randint(0, 150))
    points = np.arange(6)[:, None]
    part = AnswerTable.build(answers).take(chosen)
    sets = unpack_words(part.accepting(points), len(chosen))
    np.testing.assert_array_equal(sets, answers[chosen].T)
    # Bits past the last are 0: sets can be counted as they are.
    assert hypotheses.size_of(part.sets).sum() == answers[chosen].sum()


def test_class_too_large_to_list_is_refused_before_it_is_built():
    with pytest.raises(ValueError, match=r"10\^15 hypotheses.*max_literals"):
        LiteralClass.build(32, longest=32, disjunctive=False, monotone=False)


@given(st.integers(0, 2**32 - 1), st.integers(0, 20), st.sampled_from([0.1, 0.5, 1]))
def test_vertical_counters_count(seed, n_samples, share):
    counts = MistakeCounts.zero(70)
    wrong = np.random.default_rng(seed).random((n_samples, 70)) < share
    for row in wrong:
        words = np.packbits(row, bitorder="little")
        counts.add(np.pad(words, (0, 16 - len(words))).view(np.uint64))
    np.testing.assert_array_equal(counts.values(), wrong.sum(axis=0))
    consistent = unpack_words(counts.consistent(), 70)[0]
    np.testing.assert_array_equal(consistent, ~wrong.any(axis=0))


def test_functions_see_values_they_cannot_change():
    def spoil(values):
        values[:] = True
        return values[:, 0]

    functions = FunctionClass((spoil, lambda values: values[:, 0]))
    values = np.array([[0, 1], [1, 1]])
    answers = unpack_words(functions.accepting(values), 2)
    np.testing.assert_array_equal(answers, [[1, 0], [1, 1]])


@pytest.mark.parametrize(
    ("literals", "disjunctive", "text"),
    [
        ([1, 0, 0, 0], False, "a"),
        ([1, 0, 0, 1], False, "a and not b"),
        ([1, 0, 0, 1], True, "a or not b"),
        ([0, 0, 0, 0], False, "True"),
        ([0, 0, 0, 0], True, "False"),
        ([1, 0, 1, 0], False, "False"),
        ([1, 0, 1, 0], True, "True"),
        ([0, 1], False, "b"),
    ],
)
def test_formulas_are_written(literals, disjunctive, text):
    literals = np.array(literals, dtype=bool)
    assert formula_text(literals, ["a", "b"], disjunctive=disjunctive) == text
