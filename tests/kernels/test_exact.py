from fractions import Fraction
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.kernels import kernel_value, value_at

from sklboolean._core.bits import BitColumns, BitRows, pack_dense
from sklboolean.kernels import DisjunctionKernel
from sklboolean.kernels._count_table import (
    conjunction_table,
    exact_value,
    float_of_exact,
    real_table,
    rounding_slack,
)
from sklboolean.kernels._evaluators import CountEvaluator

LONG = 100_000
# Tables are made once: that of 100 000 features has as many entries.
POWERS = {
    (n, min_literals): conjunction_table("same", n, min_literals)
    for n in (0, 1, 70, LONG)
    for min_literals in (0, 1)
}
BOUNDED = {
    "40 of 500": ({"max_literals": 40}, 500),
    "20 of 200 with decay 0.3": ({"max_literals": 20, "decay": 0.3}, 200),
    "from 2 on, of 90": ({"min_literals": 2}, 90),
    "decay 0.1, of 60": ({"decay": 0.1}, 60),
    "3 of 70": ({"max_literals": 3, "min_literals": 1}, 70),
}


def sign(value):
    return (value > 0) - (value < 0)


def arrays(terms):
    counts = np.array([count for count, _ in terms], dtype=np.int64)
    return counts, np.array([amount for _, amount in terms], dtype=np.int64)


def exact_sign(table, counts, coefficients):
    return sign(exact_value(table, counts, coefficients))


def power_sum(terms, constant):
    """The sum of amount * (2**count + constant) in Python integers."""
    return sum(amount * ((1 << count) + constant) for count, amount in terms)


def g(s, parameters):
    options = {"min_literals": 0, "max_literals": None, "decay": 1.0, **parameters}
    return Fraction(kernel_value([1] * s, [1] * s, monotone=True, **options))


amounts = st.one_of(
    st.integers(-3, 3), st.integers(-(2**20), 2**20), st.integers(-(2**57), 2**57)
)


@st.composite
def power_terms(draw):
    n = draw(st.sampled_from([0, 1, 70, LONG]))
    count = st.one_of(st.integers(0, n), st.integers(max(0, n - 70), n))
    terms = draw(st.lists(st.tuples(count, amounts), max_size=20))
    return n, terms


# -- signs of sums of powers --------------------------------------------------------


@settings(max_examples=250)
@given(power_terms(), st.sampled_from([0, 1]))
def test_the_sign_of_a_sum_of_powers_is_that_of_python_integers(case, min_literals):
    n, terms = case
    table = POWERS[n, min_literals]
    assert table.power_constant == -min_literals
    value = power_sum(terms, -min_literals)
    assert exact_sign(table, *arrays(terms)) == sign(value)
    assert exact_value(table, *arrays(terms)) == value


@settings(max_examples=200)
@given(power_terms(), st.sampled_from([0, 1]), st.integers(-1, 1), st.randoms())
def test_ties_and_near_ties_have_the_right_sign(case, min_literals, excess, random):
    # Every term is taken back in several pieces: of one count, or halves of the next.
    n, terms = case
    table = POWERS[n, min_literals]
    pieces = list(terms)
    for count, amount in terms:
        if min_literals == 0 and count and random.random() < 0.7:
            pieces += [(count - 1, -amount)] * 2
        else:
            pieces += [(count, -(amount // 2)), (count, amount // 2 - amount)]
    pieces.append((min(n, 1), excess))
    random.shuffle(pieces)
    value = excess * (2 ** min(n, 1) - min_literals)
    assert power_sum(pieces, -min_literals) == value
    assert exact_sign(table, *arrays(pieces)) == sign(value)


@pytest.mark.parametrize("length", [1, 2, 52, 53, 54, 63, 64, 65, 1000])
@pytest.mark.parametrize("min_literals", [0, 1])
@pytest.mark.parametrize("orientation", [-1, 1])
def test_a_chain_of_borrows_is_followed_to_its_end(length, min_literals, orientation):
    # 2**n - 2**(n-1) - ... - 1 is 1, and with constants -1 it is n.
    terms = [(length, 1)] + [(count, -1) for count in range(length)]
    counts, coefficients = arrays(terms)
    constant = -min_literals
    table = POWERS[LONG, min_literals]
    last = 1 + (1 - length) * constant
    for added in range(-2, 3):
        # One more term at count 0 or 1 moves the sum by 1 + constant or 2 + constant.
        for count in (0, 1):
            total = last + added * (2**count + constant)
            result = exact_sign(
                table,
                np.append(counts, count),
                orientation * np.append(coefficients, added),
            )
            assert result == sign(orientation * total)


@pytest.mark.parametrize("amount", [1, 2, 3, 2**31, 2**40])
def test_one_long_row_is_outweighed_by_many_shorter_ones(amount):
    # amount * 2**n against 2**k amount copies of 2**(n-k), one more and one less.
    for shift in (1, 5, 20):
        for difference in (-1, 0, 1):
            terms = [(LONG, amount), (LONG - shift, -(amount << shift) - difference)]
            assert exact_sign(POWERS[LONG, 0], *arrays(terms)) == -difference


def test_the_sum_of_nothing_is_0():
    for table in POWERS.values():
        assert exact_sign(table, *arrays([])) == 0
        assert exact_value(table, *arrays([])) == 0


@given(power_terms(), st.integers(0, 2**40))
def test_a_constant_of_any_size_takes_part_in_the_sign(case, constant):
    n, terms = case
    table = POWERS[n, 1].plus(constant) if n < LONG else POWERS[n, 1].plus(1)
    expected = power_sum(terms, table.power_constant)
    assert exact_sign(table, *arrays(terms)) == sign(expected)


# -- other tables -------------------------------------------------------------------


@pytest.mark.parametrize("name", BOUNDED)
def test_sums_over_tables_are_those_of_fractions(name):
    parameters, n = BOUNDED[name]
    table = conjunction_table("same", n, **parameters)
    values = [g(s, parameters) for s in range(n + 1)]
    assert max(values) > 2**53 or n < 90

    @given(st.lists(st.tuples(st.integers(0, n), amounts), max_size=12))
    def check(terms):
        exact = sum(amount * values[count] for count, amount in terms)
        value = exact_value(table, *arrays(terms))
        assert isinstance(value, int)
        assert Fraction(value, 2**table.scale) == exact
        assert exact_sign(table, *arrays(terms)) == sign(exact)

    check()


@pytest.mark.parametrize("name", BOUNDED)
def test_sums_over_tables_that_cancel_are_0(name):
    # C(s, l) = C(s-1, l) + C(s-1, l-1): with a weight for every length up to a bound,
    # the (bound + 1)-th difference of g is 0.
    parameters, n = BOUNDED[name]
    table = conjunction_table("same", n, **parameters)
    order = parameters.get("max_literals", n) + 1
    if order > n:
        terms = [(n, 5), (n - 1, 7), (n, -5), (n - 1, -3), (n - 1, -4)]
    else:
        binomial, terms = 1, []
        for k in range(order + 1):
            terms.append((n - k, (-1) ** k * binomial))
            binomial = binomial * (order - k) // (k + 1)
    assert exact_sign(table, *arrays(terms)) == 0
    for count, excess in ((n, 1), (n, -1), (n // 2, 1), (n // 2, -1)):
        assert exact_sign(table, *arrays([*terms, (count, excess)])) == excess


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=3, max_size=6),
    st.lists(st.tuples(st.integers(0, 2), amounts), max_size=9),
)
@example([5e-324, 1e308, -1e308], [(0, 1), (1, 1), (2, 1)])
def test_sums_over_real_tables_take_the_floats_as_they_are(values, terms):
    table = real_table("same", values)
    exact = sum(amount * Fraction(values[count]) for count, amount in terms)
    value = exact_value(table, *arrays(terms))
    assert Fraction(value, 2**table.scale) == exact
    assert exact_sign(table, *arrays(terms)) == sign(exact)


def test_signs_over_disjunctions_are_exact():
    table = DisjunctionKernel(n_literals=30, monotone=False).formula(300, 300)
    values = [table.numerator(s) for s in range(301)]
    terms = [(300, 1), (299, -1)]
    assert exact_sign(table, *arrays(terms)) == sign(values[300] - values[299]) == 1
    # Below 30 equal values the kernel is constant.
    assert exact_sign(table, *arrays([(29, 1), (0, -1)])) == 0


def test_coefficients_of_equal_counts_reach_the_ends_of_int64():
    table = POWERS[70, 0]
    value = exact_value(table, *arrays([(3, 2**62), (3, 2**62 - 1), (5, -1)]))
    assert value == 8 * (2**63 - 1) - 32


# -- scores as floats ---------------------------------------------------------------

numerators = st.one_of(
    st.integers(-(2**70), 2**70),
    st.integers(-(2**3000), 2**3000),
    st.builds(
        lambda s, power, offset: s * (2**power + offset),
        st.sampled_from([-1, 1]),
        st.integers(0, 200),
        st.integers(-(2**12), 2**12),
    ),
)


@given(st.integers(-(2**1000), 2**1000), st.integers(0, 60))
def test_a_linear_score_is_the_nearest_float(numerator, scale):
    assert float_of_exact(numerator, scale) == numerator / 2**scale


@pytest.mark.parametrize("scale", [1073, 1074, 1075, 1100, 5000])
@pytest.mark.parametrize("numerator", [1, -1, 5])
def test_a_score_too_small_for_float64_keeps_its_sign(numerator, scale):
    score = float_of_exact(numerator, scale)
    assert sign(score) == sign(numerator)
    assert abs(score) <= 2.0**-1070


@given(st.lists(numerators, min_size=2, max_size=20), st.sampled_from([2000, 5000]))
def test_larger_values_never_have_smaller_scores(values, scale):
    scores = [float_of_exact(value, scale) for value in sorted(values)]
    assert all(a <= b for a, b in pairwise(scores))
    assert all(-inf < score < inf for score in scores)


# -- the bound on rounding ----------------------------------------------------------


def exact_sums(table, truth, queries, coefficients):
    values = [value_at(table, s) for s in range(table.max_count + 1)]
    for query in queries:
        same = (truth == query).sum(axis=1).tolist()
        yield [
            sum(c * values[s] for c, s in zip(row, same, strict=True))
            for row in coefficients.tolist()
        ]


@pytest.mark.parametrize("n_samples", [1, 7, 100])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"max_literals": 20}, {"max_literals": 9, "decay": 0.3}, {"decay": 0.3}],
)
def test_rounding_stays_within_its_bound(n_samples, parameters):
    n_features = 200
    table = conjunction_table("same", n_features, **parameters)
    rng = np.random.default_rng(n_samples)
    truth = rng.random((n_samples, n_features)) < 0.5
    # Copies of the first rows with the opposite coefficient, one feature changed in
    # some, so that the terms all but cancel.
    half = n_samples // 2
    coefficients = rng.integers(-(2**40), 2**40, (2, n_samples))
    truth[half : 2 * half] = truth[:half]
    coefficients[:, half : 2 * half] = -coefficients[:, :half] + (
        rng.random(half) < 0.3
    )
    truth[: half // 2, 0] ^= True
    queries = np.concatenate([truth[:5], rng.random((5, n_features)) < 0.5])
    rows, columns = (
        BitRows.from_words(pack_dense(part), n_features) for part in (truth, queries)
    )
    weights = np.concatenate([coefficients, np.abs(coefficients)]).astype(float)
    sums = np.zeros((4, 10))
    evaluator = CountEvaluator(table, n_features)
    evaluator.add(rows, weights, BitColumns.from_rows(columns), sums)
    largest_error = 0
    exact = exact_sums(table, truth, queries, coefficients)
    for j, values in enumerate(exact):
        for k, value in enumerate(values):
            error = abs(Fraction(sums[k, j]) - value)
            assert error <= Fraction(rounding_slack(n_samples)) * Fraction(
                sums[k + 2, j]
            )
            largest_error = max(largest_error, error)
    # Otherwise nothing was tried.
    assert largest_error > 0 or n_samples == 1


@given(st.integers(0, 2**40))
def test_the_bound_grows_with_the_number_of_terms(n_terms):
    # n + 2 roundings of at most 2**-53 in the sum, as many in the sum of sizes.
    unit = Fraction(1, 2**53)
    to_first_order = (n_terms + 2) * unit
    bound = Fraction(rounding_slack(n_terms))
    # |error| <= e * true size and computed size >= (1 - e) * true size.
    assert bound * (1 - to_first_order) >= to_first_order
    assert bound < rounding_slack(n_terms + 2**20)
