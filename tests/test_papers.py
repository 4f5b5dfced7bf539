"""The experiments of benchmarks/papers at sizes where everything can be tried out."""

import importlib.util
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

PAPERS = Path(__file__).parents[1] / "benchmarks" / "papers"


def script(name):
    """Import a script of the experiments as a module."""
    spec = importlib.util.spec_from_file_location(name, PAPERS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


boolean_kernels = script("boolean_kernels")
extreme_scenarios = script("extreme_scenarios")
kernel_winnow = script("kernel_winnow")
mistake_bounds = script("mistake_bounds")


# -- Khardon, Roth, Servedio: the perceptron ------------------------------------------


def test_satisfied_conjunctions_are_those_whose_literals_hold():
    def holds(number, row):
        digits = [number // 3**i % 3 for i in range(len(row))]
        return all(d == 0 or (d == 1) == v for d, v in zip(digits, row, strict=True))

    row = [True, False, True]
    expected = [number for number in range(27) if holds(number, row)]
    found = boolean_kernels.satisfied(row, monotone=False)
    assert sorted(found.tolist()) == expected
    short = boolean_kernels.satisfied(row, monotone=False, max_literals=1)
    assert sorted(short.tolist()) == [0, 1, 2 * 3, 9]
    monotone = boolean_kernels.satisfied(row, monotone=True)
    assert sorted(monotone.tolist()) == [0, 1, 4, 5]


@pytest.mark.parametrize("kernel", boolean_kernels.KERNELS)
def test_kernel_perceptron_errs_where_the_expansion_does(kernel):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (64, 6)).astype(bool)
    y = rng.random(64) < 0.5
    options = boolean_kernels.KERNELS[kernel]
    n_mistakes, *_ = boolean_kernels.check_expansion(X, y, **options)
    assert n_mistakes > 10


def test_hard_sequence_is_a_mistake_row_by_row():
    X, y = boolean_kernels.hard_sequence(20, 32, np.random.default_rng(3))
    assert X.shape == (32, 20)
    assert y.tolist() == [False, True] + [False] * 30
    rows = X.astype(int).tolist()
    signs = np.where(y, 1, -1).tolist()
    for i, x in enumerate(rows):
        common = [sum(a * b for a, b in zip(x, z, strict=True)) for z in rows[:i]]
        score = sum(s * 2**c for s, c in zip(signs[:i], common, strict=True))
        assert (score >= 0) != y[i]
    assert boolean_kernels.check_hard_sequence(20, 32)[0] == 32


def test_hard_sequence_says_when_there_is_none():
    with pytest.raises(ValueError, match="too many"):
        boolean_kernels.hard_sequence(4, 200, np.random.default_rng(0), max_draws=512)


def test_winnow_over_monomials_stays_within_theorem_2():
    rng = np.random.default_rng(0)
    X = rng.random((200, 6)) < 0.5
    table = boolean_kernels.monomial_table(X)
    # A row with a ones satisfies 2**a - 1 non-empty monomials.
    assert table.sum(axis=1).tolist() == (2.0 ** X.sum(axis=1) - 1).tolist()
    bound, winnow, *_ = boolean_kernels.check_winnow(X, table, 2, rng)
    assert 0 < winnow <= bound


# -- Khardon, Roth, Servedio: Winnow --------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_winnow_by_groups_of_features_is_winnow_over_all_monomials(seed):
    kernel_winnow.check_simulation(5, 12, np.random.default_rng(seed))


def test_score_before_the_first_mistake_counts_monomials():
    winnow = kernel_winnow.MonomialWinnow(300)
    assert winnow.score(2**300 - 1) == 2**300 - 1
    assert winnow.see(0b11, False, threshold=1, times=3) == 2
    # x0, x1 and x0 x1 weigh a quarter now.
    assert winnow.score(0b11) == Fraction(3, 4)
    assert winnow.score(0b101) == Fraction(1, 4) + 1 + 1


@pytest.mark.parametrize("n_variables", [1, 2, 3, 4, 5])
def test_lemma_8(n_variables):
    assert kernel_winnow.check_counted_cnf(n_variables) == 2**n_variables - 1


def test_shapes_of_graphs():
    # With the one without edges: 2 graphs on two vertices, 4 on three, 11 on four.
    assert [len(kernel_winnow.formulas(n)) + 1 for n in (2, 3, 4)] == [2, 4, 11]


def test_last_prediction_counts_satisfying_assignments():
    clauses, n = [0b011, 0b110], 3
    predictions = []
    for K in range(1, 2**n + 1):
        kernel_winnow.check_reduction(clauses, n, K)
        examples, row, m = kernel_winnow.reduction(clauses, n, K)
        winnow = kernel_winnow.MonomialWinnow(m)
        for example, label, times in examples:
            winnow.see(example, label, 2**m, times)
        predictions.append(winnow.score(row) >= 2**m)
    # y1 or y2, and y2 or y3: the four with y2, and y1 y3 without it.
    assert predictions == [True] * 5 + [False] * 3


def test_rows_above_a_positive_one_must_be_positive():
    assert not kernel_winnow.is_monotone_consistent([(1, True, 1), (3, False, 1)])
    assert kernel_winnow.is_monotone_consistent([(3, True, 1), (1, False, 1)])


# -- mistake bounds -------------------------------------------------------------------


@pytest.mark.parametrize("promotion", [None, 2, 1.5])
def test_adversary_and_chance_stay_within_the_bounds_of_winnow(promotion):
    *_, bound, random, hostile, promotions, demotions = mistake_bounds.disjunction_row(
        32, 2, promotion, n_samples=100, n_seeds=1
    )
    assert 0 < random <= bound
    assert promotions + demotions == hostile <= bound
    if promotion is not None:
        # A weight rises from 1 to the threshold, 32, by itself, for both features.
        assert promotions == 2 * np.ceil(np.log(32) / np.log(promotion))


def test_hostile_rows_are_mistakes():
    weights, threshold = np.array([1.0, 3.0, 2.0, 4.0]), 6.0
    row, label = mistake_bounds.hostile_row(weights, 1, threshold)
    assert not label
    assert row.tolist() == [[False, True, False, True]]
    row, label = mistake_bounds.hostile_row(weights, 1, 10.0)
    assert label
    assert row.tolist() == [[True, True, True, False]]
    assert mistake_bounds.hostile_row(np.array([5.0, 0.0]), 1, 5.0) is None


def test_elimination_can_be_made_to_err_as_often_as_its_bound():
    assert mistake_bounds.elimination_mistakes(12, 5) == 8


def test_sizes_of_classes():
    # 3**n conjunctions without a contradiction, and one function more: never true.
    assert mistake_bounds.class_sizes(3, 2) == (3, 64, 27, 28, 18)


def test_extreme_scenarios_of_the_lecture():
    (sparse_target, sparse_rows) = extreme_scenarios.scenario_rows(30, 5)
    assert sparse_target[1] == 5 * 30
    assert sparse_target[3] == int(2 * 5**2 * np.log(60))
    assert sparse_rows[1:] == (30, 30, int(2 * 30**2 * np.log(60)), 30)


def test_bounds_hold_on_the_streams_of_the_curves():
    assert len(list(extreme_scenarios.stream_rows([100], 100))) == 3
