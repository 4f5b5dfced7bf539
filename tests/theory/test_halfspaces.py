from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.kernels import conjunction_holds, disjunction_holds

from sklboolean.theory import (
    at_least_halfspace,
    conjunction_halfspace,
    decision_list_halfspace,
    disjunction_halfspace,
)


@st.composite
def literals(draw):
    """A number of features, and two sets of them that may overlap."""
    n = draw(st.integers(1, 8))
    features = st.lists(st.integers(0, n - 1), unique=True)
    return n, draw(features), draw(features)


@st.composite
def decision_lists(draw, max_rules=24):
    n = draw(st.integers(1, 8))
    bits = st.integers(0, 1)
    rules = st.lists(st.tuples(st.integers(0, n - 1), bits, bits), max_size=max_rules)
    return n, draw(rules), draw(bits)


def cube(n):
    return np.array(list(product([0, 1], repeat=n)))


def assert_is_halfspace_of(halfspace, holds, X):
    """The halfspace has integers of the right kind and says what the rule says."""
    w, threshold = halfspace
    assert w.dtype == np.int64
    assert w.shape == X.shape[1:]
    assert type(threshold) is int
    np.testing.assert_array_equal(X @ w >= threshold, [bool(holds(x)) for x in X])


def apply_decision_list(rules, default, x):
    for feature, value, label in rules:
        if x[feature] == value:
            return label
    return default


@given(literals())
def test_conjunction_and_disjunction_hold_where_the_formula_does(case):
    n, positive, negative = case
    formula = [(i, True) for i in positive] + [(i, False) for i in negative]
    assert_is_halfspace_of(
        conjunction_halfspace(positive, negative, n),
        lambda x: conjunction_holds(formula, x),
        cube(n),
    )
    assert_is_halfspace_of(
        disjunction_halfspace(positive, negative, n),
        lambda x: disjunction_holds(formula, x),
        cube(n),
    )


@given(literals(), st.data())
def test_at_least_m_counts_features(case, data):
    n, features, _ = case
    m = data.draw(st.integers(0, len(features)))
    assert_is_halfspace_of(
        at_least_halfspace(m, features, n),
        lambda x: sum(x[i] for i in features) >= m,
        cube(n),
    )


@given(decision_lists())
def test_decision_list_labels_as_its_first_rule_does(case):
    n, rules, default = case
    assert_is_halfspace_of(
        decision_list_halfspace(rules, default, n),
        lambda x: apply_decision_list(rules, default, x),
        cube(n),
    )


def long_list(n_rules, value, first_label):
    """Rules on features of their own, whose labels alternate."""
    return [(i, value, (first_label + i) % 2) for i in range(n_rules)]


@pytest.mark.parametrize("default", [0, 1])
@pytest.mark.parametrize("first_label", [0, 1])
@pytest.mark.parametrize("value", [0, 1])
def test_eighty_eight_rules_fit_and_are_exact_in_int64(value, first_label, default):
    rules = long_list(88, value, first_label)
    rng = np.random.default_rng(0)
    # Row i starts with i rules that do not apply; what follows is random.
    X = rng.integers(0, 2, (89, 88))
    for i, x in enumerate(X):
        x[:i] = 1 - value
    X = np.vstack([X, cube(1).repeat(88, axis=1)])
    halfspace = decision_list_halfspace(rules, default, 88)
    assert_is_halfspace_of(
        halfspace, lambda x: apply_decision_list(rules, default, x), X
    )
    assert abs(halfspace[0]).max() > 2**53  # beyond float64


@given(decision_lists(max_rules=88))
def test_any_eighty_eight_rules_fit(case):
    n, rules, default = case
    w, threshold = decision_list_halfspace(rules, default, n)
    assert sum(map(abs, w.tolist())) + abs(threshold) < 2**63


def test_weights_grow_with_changes_of_label_only():
    rules = [(i, i % 2, int(i < 500)) for i in range(1000)]
    w, threshold = decision_list_halfspace(rules, 1, 1000)
    assert set(np.abs(w[500:])) == {1}
    assert set(np.abs(w[:500])) == {501}
    X = np.random.default_rng(0).integers(0, 2, (50, 1000))
    X = np.vstack([X, [[1 - value for _, value, _ in rules]]])
    X[:25, :500] = [1 - value for _, value, _ in rules[:500]]
    assert_is_halfspace_of(
        (w, threshold), lambda x: apply_decision_list(rules, 1, x), X
    )


def test_a_list_that_int64_cannot_hold_is_refused():
    with pytest.raises(ValueError, match=r"^rules must be fewer.*64-bit"):
        decision_list_halfspace(long_list(95, 1, 0), 0, 95)


def test_examples_of_the_lecture_have_the_corrected_signs():
    # x1 and not x3 and x4, of five features.
    w, threshold = conjunction_halfspace([0, 3], [2], 5)
    assert (w.tolist(), threshold) == ([1, 0, -1, 1, 0], 2)
    w, threshold = disjunction_halfspace([0, 3], [2], 5)
    assert (w.tolist(), threshold) == ([1, 0, -1, 1, 0], 0)


@pytest.mark.parametrize("kind", [list, tuple, np.array, range])
def test_features_come_in_any_container(kind):
    features = range(2) if kind is range else kind([0, 1])
    none = np.array([], dtype=np.int64)
    for halfspace in (conjunction_halfspace, disjunction_halfspace):
        w, _ = halfspace(features, none, np.int32(3))
        assert w.tolist() == [1, 1, 0]
    w, _ = at_least_halfspace(np.int64(1), features, 3)
    assert w.tolist() == [1, 1, 0]
    rules = np.array([[0, 1, 1], [1, 0, 0]])
    assert decision_list_halfspace(rules, np.True_, 3)[0].tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    "features", [[3], [-1], [0.0], ["0"], [True, False, True], [0, 0], 1, None, "01"]
)
def test_bad_features_are_named(features):
    for function in (conjunction_halfspace, disjunction_halfspace):
        with pytest.raises(ValueError, match=r"^positive must"):
            function(features, [1], 3)
        with pytest.raises(ValueError, match=r"^negative must"):
            function([1], features, 3)
    with pytest.raises(ValueError, match=r"^features must"):
        at_least_halfspace(1, features, 3)


@pytest.mark.parametrize("n_features", [0, -2, 2.0, None, "3"])
def test_bad_number_of_features_is_named(n_features):
    for function in (
        lambda n: conjunction_halfspace([], [], n),
        lambda n: disjunction_halfspace([], [], n),
        lambda n: at_least_halfspace(0, [], n),
        lambda n: decision_list_halfspace([], 0, n),
    ):
        with pytest.raises(ValueError, match=r"^n_features must be"):
            function(n_features)


@pytest.mark.parametrize("m", [-1, 3, 1.0, None])
def test_bad_m_is_named(m):
    with pytest.raises(ValueError, match=r"^m must be"):
        at_least_halfspace(m, [0, 2], 4)


@pytest.mark.parametrize(
    ("rules", "default", "message"),
    [
        ([(0, 1)], 0, r"^rules must be a sequence of triples"),
        (3, 0, r"^rules must be a sequence of triples"),
        ([0, 1, 1], 0, r"^rules must be a sequence of triples"),
        (
            [(0, 1, 1), (3, 1, 1)],
            0,
            r"^rules\[1\]\[0\] must contain integers from 0 to 2",
        ),
        ([(0, 2, 1)], 0, r"^rules\[0\]\[1\] must be 0 or 1"),
        ([(0, 1, -1)], 0, r"^rules\[0\]\[2\] must be 0 or 1"),
        ([(0, 1, "1")], 0, r"^rules\[0\]\[2\] must be 0 or 1"),
        ([(0, 1, 1)], -1, r"^default must be 0 or 1"),
        ([(0, 1, 1)], None, r"^default must be 0 or 1"),
        ([(0, 1, 1)], 0.0, r"^default must be 0 or 1"),
    ],
)
def test_bad_decision_list_is_named(rules, default, message):
    with pytest.raises(ValueError, match=message):
        decision_list_halfspace(rules, default, 3)
