from itertools import chain, combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.kernels import conjunction_holds, conjunctions, disjunction_holds

from sklboolean.theory import (
    n_conjunctions,
    n_disjunctions,
    n_halfspaces_bound,
    n_k_cnf,
    n_k_dnf,
    vc_dimension_bound,
    vc_dimension_conjunctions,
    vc_dimension_disjunctions,
    vc_dimension_halfspaces,
)

LENGTHS = [(0, None), (1, None), (2, None), (0, 0), (1, 1), (2, 2), (1, 3), (2, 9)]


def cube(n):
    return list(product([False, True], repeat=n))


def table(formula, holds, n):
    """The function that a formula is, as its values on all rows."""
    return tuple(holds(formula, row) for row in cube(n))


def subsets(things):
    return chain.from_iterable(
        combinations(things, size) for size in range(len(things) + 1)
    )


def halfspaces(n):
    """The functions ``w.x >= t`` for all w of small integers and all thresholds t."""
    rows = np.array(cube(n), dtype=int)
    found = set()
    for w in product(range(-3, 4), repeat=n):
        scores = rows @ w
        for threshold in [*set(scores.tolist()), scores.max() + 1]:
            found.add(tuple((scores >= threshold).tolist()))
    return found


def vc_dimension(functions):
    """The size of the largest set of rows on which all labellings occur."""
    tables = np.array(sorted(functions), dtype=np.int64)
    n_samples, largest = tables.shape[1], 0
    for size in range(1, n_samples + 1):
        powers = 1 << np.arange(size)
        for rows in combinations(range(n_samples), size):
            if len(np.unique(tables[:, rows] @ powers)) == 2**size:
                largest = size
                break
        else:  # a set that can be labelled at will has subsets that can
            break
    return largest


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("min_literals", "max_literals"), LENGTHS)
def test_conjunctions_and_disjunctions_are_enumerated(
    min_literals, max_literals, monotone
):
    for n in [1, 2, 3, 4]:
        formulas = list(conjunctions(n, min_literals, max_literals, monotone))
        lengths = {"min_literals": min_literals, "max_literals": max_literals}
        for count, holds in [
            (n_conjunctions, conjunction_holds),
            (n_disjunctions, disjunction_holds),
        ]:
            size = count(n, **lengths, monotone=monotone)
            assert size == len(set(formulas)) == len(formulas)
            assert size == len({table(formula, holds, n) for formula in formulas})


@pytest.mark.parametrize("n", [1, 2, 3])
def test_contradictions_are_one_more_function(n):
    literals = list(product(range(n), [False, True]))
    everything = list(subsets(literals))
    assert len(everything) == 2 ** (2 * n)
    for count, holds, constant in [
        (n_conjunctions, conjunction_holds, False),
        (n_disjunctions, disjunction_holds, True),
    ]:
        functions = {table(formula, holds, n) for formula in everything}
        assert len(functions) == count(n) + 1 == 3**n + 1
        plain = {table(f, holds, n) for f in conjunctions(n, 0, None, False)}
        assert functions - plain == {(constant,) * 2**n}


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)])
def test_k_dnf_and_k_cnf_are_enumerated(n, k, monotone):
    terms = list(conjunctions(n, 1, k, monotone))
    formulas = set(map(frozenset, subsets(terms)))
    dnf = {
        tuple(any(conjunction_holds(t, row) for t in formula) for row in cube(n))
        for formula in formulas
    }
    cnf = {
        tuple(all(disjunction_holds(t, row) for t in formula) for row in cube(n))
        for formula in formulas
    }
    assert n_k_dnf(n, k, monotone=monotone) == len(formulas) >= len(dnf)
    assert n_k_cnf(n, k, monotone=monotone) == len(formulas) >= len(cnf)
    if k >= n and not monotone:
        assert len(dnf) == len(cnf) == 2 ** (2**n)


@given(
    st.integers(1, 60), st.integers(0, 70), st.integers(0, 70), st.sampled_from([1, 2])
)
def test_sums_of_many_lengths_are_exact(n, min_literals, more, signs):
    lengths = range(min_literals, min_literals + more + 1)
    size = n_conjunctions(
        n, min_literals=lengths[0], max_literals=lengths[-1], monotone=signs == 1
    )
    assert size == sum(comb(n, i) * signs**i for i in lengths)
    longer = n_conjunctions(n, min_literals=lengths[-1] + 1, monotone=signs == 1)
    shorter = n_conjunctions(n, max_literals=lengths[-1], monotone=signs == 1)
    assert shorter + longer == (1 + signs) ** n


def test_large_classes_are_exact_python_integers():
    assert n_conjunctions(np.int64(2000)) == 3**2000
    assert n_conjunctions(10**6, min_literals=2, max_literals=2) == 2 * 10**6 * (
        10**6 - 1
    )
    n_terms = 2 * 200 + 4 * comb(200, 2) + 8 * comb(200, 3)
    assert n_k_dnf(200, 3).bit_length() == n_terms + 1


@pytest.mark.parametrize(("n", "size"), [(1, 4), (2, 14), (3, 104), (4, 1882)])
def test_halfspaces_do_not_exceed_the_bound(n, size):
    assert len(halfspaces(n)) == size <= n_halfspaces_bound(n)
    if n <= 2:
        assert size == n_halfspaces_bound(n)


def test_logarithm_of_halfspaces_is_at_most_n_squared():
    for n in range(2, 50):
        bound = n_halfspaces_bound(n)
        assert bound == 2 * sum(comb(2**n - 1, i) for i in range(n + 1))
        assert bound <= 2 ** (n * n)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_vc_dimensions_of_conjunctions_and_disjunctions(n, monotone):
    formulas = list(conjunctions(n, 0, None, monotone))
    for holds, expected, constant in [
        (conjunction_holds, vc_dimension_conjunctions, False),
        (disjunction_holds, vc_dimension_disjunctions, True),
    ]:
        functions = {table(formula, holds, n) for formula in formulas}
        assert vc_dimension(functions) == expected(n)
        if n >= 2:
            assert vc_dimension(functions | {(constant,) * 2**n}) == expected(n)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_vc_dimension_of_halfspaces(n):
    assert vc_dimension(halfspaces(n)) == vc_dimension_halfspaces(n)


@given(st.sets(st.tuples(*[st.booleans()] * 5), min_size=1, max_size=32))
def test_vc_dimension_never_exceeds_the_logarithm_of_the_class_size(functions):
    assert vc_dimension(functions) <= vc_dimension_bound(len(functions))


def test_vc_dimension_bound_is_reached_and_exact():
    for n_samples in range(1, 6):
        functions = set(cube(n_samples))
        assert vc_dimension(functions) == n_samples == vc_dimension_bound(2**n_samples)
    assert vc_dimension_bound(2**4000 - 1) == 3999


ONE_ARGUMENT = [
    n_conjunctions,
    n_disjunctions,
    n_halfspaces_bound,
    vc_dimension_conjunctions,
    vc_dimension_disjunctions,
    vc_dimension_halfspaces,
]


@pytest.mark.parametrize("value", [0, -1, 2.0, "2", None, np.nan])
def test_bad_argument_is_named(value):
    for function in ONE_ARGUMENT:
        with pytest.raises(ValueError, match=r"^n_features must be"):
            function(value)
    for function in (n_k_dnf, n_k_cnf):
        with pytest.raises(ValueError, match=r"^n_features must be"):
            function(value, 2)
        with pytest.raises(ValueError, match=r"^max_literals must be"):
            function(2, value)
    with pytest.raises(ValueError, match=r"^class_size must be"):
        vc_dimension_bound(value)


@pytest.mark.parametrize("count", [n_conjunctions, n_disjunctions])
def test_bad_lengths_are_named(count):
    for bad in (-1, 1.0, None):
        with pytest.raises(ValueError, match=r"^min_literals must be"):
            count(3, min_literals=bad)
    for bad in (1, -1, 2.0, "2"):
        with pytest.raises(ValueError, match=r"^max_literals must be"):
            count(3, min_literals=2, max_literals=bad)


@pytest.mark.parametrize("count", [n_k_dnf, n_k_cnf])
def test_a_number_beyond_memory_is_refused_with_its_logarithm(count):
    with pytest.raises(ValueError, match=r"base 2: n_conjunctions\(n_features"):
        count(1000, 4)
    with pytest.raises(ValueError, match=r"^n_features must be at most 1000"):
        n_halfspaces_bound(1001)
