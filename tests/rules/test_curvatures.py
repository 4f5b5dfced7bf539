"""Rounded curvatures, held-out losses that end a path, and scores by columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklboolean.rules._bit_columns import (
    add_counts,
    add_multiples,
    keep_samples,
    sum_columns_of_many,
)

from sklboolean._core.bits import pack_dense
from sklboolean.rules import _column_generation as generation
from sklboolean.rules import _curvatures, _kept_factor, _l1_problem
from sklboolean.rules._column_generation import ConjunctionSum, choose_different
from sklboolean.rules._curvatures import Curvatures
from sklboolean.rules._held_out_path import CLEARLY, HeldOutLosses, HeldOutWatch
from sklboolean.rules._l1_problem import L1Problem


def columns_and_values(seed, n_columns=9, n_words=3):
    rng = np.random.default_rng(seed)
    bits = rng.random((n_columns, 64 * n_words)) < 0.4
    values = rng.random(64 * n_words) * (rng.random(64 * n_words) < 0.8)
    return bits, pack_dense(bits.astype(np.uint8)), values


PAIRS = {1: [(0, 0)], 2: [(0, 1)], 3: [(0, 1), (0, 2), (1, 2)]}


def multiples_of(curvatures, block):
    """Read the multiples of the samples from their binary digits."""
    digits = curvatures.digits[block]
    return sum(
        2**place * np.unpackbits(digit.view(np.uint8), bitorder="little").astype(int)
        for place, digit in enumerate(digits)
    )


@given(
    st.integers(0, 10**6), st.sampled_from([5, 300, 10**5]),
    st.sampled_from([1, 2, 3]), st.sampled_from([2, 4096]), st.sampled_from([0, 2**18]),
)  # fmt: skip
def test_curvatures_are_sums_of_whole_multiples(seed, total, n_outputs, words, few):
    """Of a unit, whose running sum is within half a unit of the exact one."""
    bits, columns, _ = columns_and_values(seed)
    rng, pairs = np.random.default_rng(seed), PAIRS[n_outputs]
    values = rng.random((len(pairs), 192)) * (rng.random(192) < 0.8)
    outputs, places = np.nonzero(rng.random((n_outputs, 9)) < 0.7)
    chosen = rng.permutation(len(outputs))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_curvatures, "MULTIPLES", total)
        patch.setattr(_curvatures, "WORDS", words)
        patch.setattr(_curvatures, "FEW", few)
        curvatures, active = Curvatures(pairs), np.array([outputs, places])
        # A part first, to which the others are added.
        curvatures.round(values)
        curvatures.among(columns, active[:, chosen[: len(chosen) // 2]])
        matrix = curvatures.among(columns, active)
    unit, whole = values.sum() / total, np.zeros((n_outputs, n_outputs, 192))
    for one, pair in zip(values, pairs, strict=True):
        multiples = multiples_of(curvatures, pair)
        running = unit * np.cumsum(multiples) - np.cumsum(one)
        assert np.abs(running).max() <= unit / 2 * (1 + 1e-9)
        signs = np.zeros(n_outputs)
        signs[list(pair)] = (1, -1) if pair[0] != pair[1] else 1
        whole += signs[:, None, None] * signs[:, None] * multiples
    sums = sum(multiples_of(curvatures, pair).sum() for pair in pairs)
    np.testing.assert_allclose(curvatures.unit * sums, values.sum())
    expected = curvatures.unit * np.einsum(
        "abn,an,bn->ab", whole[outputs][:, outputs], bits[places], bits[places]
    )
    np.testing.assert_allclose(matrix, expected, rtol=1e-12, atol=1e-9)
    smallest = np.linalg.eigvalsh(matrix).min(initial=0)
    assert smallest >= -1e-9 * max(np.trace(matrix), 1)


@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared"])
def test_losses_of_parts_of_the_samples_add_up(loss, monkeypatch):
    rng = np.random.default_rng(0)
    n_outputs = 3 if loss == "softmax" else 1
    scores, step = rng.normal(size=(2, n_outputs, 192))
    targets = np.eye(n_outputs + 1)[rng.integers(0, n_outputs, 192), :n_outputs].T
    problem = L1Problem(loss, rng.random(192), targets)
    whole = problem.loss_of(scores + 0.5 * step)
    monkeypatch.setattr(_l1_problem, "LOSSES", 64)
    assert problem.loss_of(scores, step, 0.5) == pytest.approx(whole, rel=1e-12)


def of_one_output(*places):
    return np.array([np.zeros(len(places), dtype=np.int64), places])


def test_curvatures_are_kept_until_they_move():
    _, columns, values = columns_and_values(0)
    everything, few = of_one_output(*range(9)), of_one_output(0, 3, 5)
    problem = L1Problem("logistic", values, np.zeros((1, 192)))
    problem.means = np.full((1, 192), 0.4)
    first = problem.curvature(columns, 0, few, renew=False)
    work = problem.work
    problem.means[:] = 0.42
    again = problem.curvature(columns, 0, few, renew=False)
    assert np.array_equal(first, again)
    assert problem.work == work
    # A new column is counted with the old multiples, those that are kept move up.
    fresh = L1Problem("logistic", values, np.zeros((1, 192)))
    fresh.means = np.full((1, 192), 0.4)
    whole = fresh.curvature(columns, 0, everything, renew=False)
    kept, moved_up = np.array([0, 3, 7]), of_one_output(0, 1, 2)
    problem.curvature(columns, 0, of_one_output(0, 3, 7), renew=False)
    problem.keep(kept)
    found = problem.curvature(columns[kept], 0, moved_up, renew=False)
    assert np.array_equal(found, whole[np.ix_(kept, kept)])
    renewed = problem.curvature(columns[kept], 0, moved_up, renew=True)
    assert not np.array_equal(renewed, found)
    # All are counted again where the curvatures have moved by a tenth.
    problem.means[:, ::2] = 0.1
    moved = problem.curvature(columns[kept], 0, moved_up, renew=False)
    fresh = L1Problem("logistic", values, np.zeros((1, 192)))
    fresh.means = problem.means
    fresh = fresh.curvature(columns, 0, of_one_output(*kept), renew=False)
    assert np.array_equal(moved, fresh)


def test_no_curvature_at_all_is_a_matrix_of_zeros():
    _, columns, values = columns_and_values(0)
    curvatures = Curvatures([(0, 0)])
    curvatures.round(0 * values[None, :])
    assert not curvatures.among(columns, of_one_output(*range(9))).any()


@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans())
def test_scores_by_columns_have_the_same_bits(seed, n_outputs, is_empty):
    rng = np.random.default_rng(seed)
    words = pack_dense((rng.random((130, 70)) < 0.5).astype(np.uint8))
    n_conjunctions = 0 if is_empty else 12
    conjunctions = tuple(
        tuple((int(j), bool(rng.integers(2))) for j in sorted(rng.choice(70, 2, False)))
        for _ in range(n_conjunctions)
    )
    model = ConjunctionSum(
        conjunctions, rng.standard_normal((n_outputs, n_conjunctions)),
        rng.standard_normal(n_outputs),
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        by_sample = model.scores(words)
        patch.setattr(generation, "MANY_SAMPLES", 0)
        assert np.array_equal(model.scores(words), by_sample)


def test_few_of_the_chosen_share_two_literals():
    found = [(((0, True), (1, True), (j, False)), 1.0) for j in range(2, 40)]
    found += [(((50, True),), 0.5), (((51, True), (52, True)), 0.4)]
    chosen = choose_different(found, 4)
    assert chosen == [found[0][0], found[1][0], found[-2][0], found[-1][0]]
    assert choose_different(found, 3) == chosen[:3]


def of_two(loss, n_outputs=1):
    """Losses with a wide scatter, so that small differences are not clear."""
    values = np.array([0.0, 2 * loss])
    return HeldOutLosses(values, np.ones(2), np.zeros((2, n_outputs)))


def watch_of(losses, least, n_outputs=1, before=np.inf):
    losses = iter(losses)
    best = None
    if least is not None:
        best = HeldOutLosses(np.full(2, least), np.ones(2), None)
    return HeldOutWatch(lambda: of_two(next(losses), n_outputs), best, before)


def test_a_C_is_left_when_its_loss_rises_above_the_least():
    watch = watch_of([0.5, 0.6], least=0.55)
    assert [watch.after_solution(), watch.after_solution()] == [False, True]
    below = watch_of([0.4, 0.5], least=0.55)
    assert [below.after_solution(), below.after_solution()] == [False, False]
    falling = watch_of([0.8, 0.7], least=0.55)
    assert [falling.after_solution(), falling.after_solution()] == [False, False]


def test_three_steps_that_rise_end_a_solution():
    watch = watch_of([0.6, 0.61, 0.62, 0.63], least=0.55)
    assert [watch.after_step() for _ in range(4)] == [False, False, False, True]
    # The first C has nothing to be compared with, and is not measured.
    first = watch_of([], least=None)
    assert not first.after_step()


def test_one_solution_of_several_classes_is_enough_above_a_C_that_was_above():
    assert watch_of([0.7], least=0.55, n_outputs=3, before=0.6).after_solution()
    # The C before was the least, this one is below it, or there are two classes.
    assert not watch_of([0.7], least=0.55, n_outputs=3, before=0.55).after_solution()
    assert not watch_of([0.58], least=0.55, n_outputs=3, before=0.6).after_solution()
    assert not watch_of([0.7], least=0.55, n_outputs=1, before=0.6).after_solution()


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_one_solution_of_several_classes_is_enough_clearly_above(n_outputs):
    def of_all(loss):
        return HeldOutLosses(np.full(9, loss), np.ones(9), np.zeros((9, n_outputs)))

    watch = HeldOutWatch(lambda: of_all(0.6), of_all(0.55), 0.55)
    assert watch.after_solution() == (n_outputs == 3)
    assert not HeldOutWatch(lambda: of_all(0.6), None, np.inf).after_solution()


class Objectives:
    """A watch that notes the objective of each solution, and ends nothing."""

    def __init__(self, model):
        self.model, self.values = model, []

    def after_step(self):
        return False

    def after_solution(self):
        self.values.append(self.model.objective)
        return False


@pytest.mark.parametrize("exact", [False, True])
def test_searches_of_several_classes_that_choose_C_end_where_little_is_gained(exact):
    rng = np.random.default_rng(0)
    X = rng.random((300, 12)) < 0.5
    y = 2 * (X[:, 0] & X[:, 1]) + (X[:, 2] ^ X[:, 3])
    y = np.where(rng.random(300) < 0.2, rng.integers(0, 4, 300), y)
    targets = y == np.arange(4)[:, None]
    space = generation.ConjunctionSpace(12, 3, False, 1.0, None)
    model = generation.ColumnGeneration(
        pack_dense(X), np.ones(300), targets, "softmax", space
    )
    model.add_features()
    watch = Objectives(model)
    model.minimize(0.3, 1e-3, exact=exact, watch=watch)
    gains = -np.diff(watch.values) / watch.values[1:]
    share = min(1e-3, generation.FLAT)
    assert len(gains) > 1
    assert (gains[:-1] >= share).all() != exact


@given(st.integers(0, 10**6), st.integers(1, 40))
def test_clearly_above_is_by_standard_errors_of_the_mean_difference(seed, n):
    """With whole weights as if each sample were there so many times."""
    rng = np.random.default_rng(seed)
    first, second = rng.random(n) + 0.2, rng.random(n)
    weights = rng.integers(1, 4, n).astype(float)
    mean = np.average(first - second, weights=weights)
    error = np.sqrt((weights**2 * (first - second - mean) ** 2).sum()) / weights.sum()
    if abs(mean - CLEARLY * error) > 1e-9:
        found = HeldOutLosses(first, weights, None).is_clearly_above(
            HeldOutLosses(second, weights, None)
        )
        assert found == (mean > CLEARLY * error)


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([0, 0.02, 0.5, 1]))
def test_kept_samples_have_their_bits_in_order(seed, n_words, share):
    rng = np.random.default_rng(seed)
    bits = (rng.random((3, 64 * n_words + 64)) < 0.5).astype(np.uint8)
    is_kept = (rng.random(64 * n_words) < share).astype(np.uint8)
    n_packed = -(-int(is_kept.sum()) // 64)
    packed = np.empty((3, n_packed), dtype=np.uint64)
    chosen = np.array([2, 0, 2])
    keep_samples(pack_dense(bits), chosen, 1, pack_dense(is_kept[None])[0], packed)
    expected = np.zeros((3, 64 * n_packed), dtype=np.uint8)
    expected[:, : is_kept.sum()] = bits[chosen, 64:][:, is_kept == 1]
    assert np.array_equal(packed, pack_dense(expected)[:, :n_packed])


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([0, 0.1, 0.5, 1]))
def test_sums_of_many_outputs_are_those_of_their_definition(seed, n_words, share):
    rng = np.random.default_rng(seed)
    bits = (rng.random((4, 64 * n_words)) < share).astype(np.uint8)
    values, sums = rng.integers(-99, 99, (64 * n_words, 16)) / 8, np.empty((4, 16))
    sum_columns_of_many(pack_dense(bits), values, sums)
    np.testing.assert_array_equal(sums, bits @ values)
    with pytest.raises(ValueError, match="do not fit"):
        sum_columns_of_many(pack_dense(bits), values[:, :9].copy(), sums[:, :9].copy())


def test_counts_are_added_on_both_sides_of_the_diagonal():
    rng = np.random.default_rng(0)
    rows, others, matrix = np.array([2, 5]), np.array([4, 0, 2, 5]), np.zeros((6, 6))
    counts = rng.integers(0, 9, (2, 4)).astype(np.int32)
    add_counts(counts, rows, others, 2, 0.5, matrix)
    expected = np.zeros((6, 6))
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3)):
        expected[rows[i], others[j]] = 0.5 * counts[i, j]
    expected = np.maximum(expected, expected.T)
    assert np.array_equal(matrix, expected)
    with pytest.raises(ValueError, match="do not fit"):
        add_counts(counts, rows, np.array([4, 0, 2, 6]), 2, 0.5, matrix)
    columns, digits = np.zeros((3, 1), np.uint64), np.zeros((2, 1), np.uint64)
    with pytest.raises(ValueError, match="do not fit"):
        add_multiples(columns, np.array([0, 3]), rows, rows, 0, digits, 0.5, matrix)


def softmax_problem(n_outputs):
    """A problem, its columns, prices and free signs."""
    rng = np.random.default_rng(0)
    bits = np.vstack([np.ones(640), rng.random((12, 640)) < 0.4]).astype(np.uint8)
    scores = rng.normal(size=(n_outputs, 13)) @ bits + rng.gumbel(size=(n_outputs, 640))
    is_largest = scores.argmax(axis=0) == np.arange(n_outputs)[:, None]
    problem = L1Problem("softmax", np.full(640, 0.3), is_largest.astype(np.float64))
    return problem, pack_dense(bits), np.r_[0.0, np.ones(12)], np.zeros(13, np.int8)


def test_a_model_for_each_of_many_outputs_has_the_same_minimum(monkeypatch):
    values = []
    for most_paired in (4, 3):
        monkeypatch.setattr(_l1_problem, "MOST_PAIRED", most_paired)
        problem, *columns = softmax_problem(4)
        problem.solve(*columns, np.zeros((4, 13)), 1e-5)
        values.append(problem.value)
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_coupled_models_need_half_of_the_steps(monkeypatch):
    n_steps, values = [], []
    for most_coupled in (12, 0):
        monkeypatch.setattr(_l1_problem, "MAX_COUPLED", most_coupled)
        problem, *columns = softmax_problem(6)
        update_means, calls = problem.update_means, []
        problem.update_means = lambda f=update_means, calls=calls: calls.append(f())
        problem.solve(*columns, np.zeros((6, 13)), 1e-5)
        n_steps.append(len(calls))
        values.append(problem.value)
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    assert 2 * n_steps[0] < n_steps[1]


def test_bent_slopes_are_the_change_of_slopes():
    """By central differences; of active coefficients only."""
    problem, columns, _, _ = softmax_problem(4)
    bits = np.unpackbits(columns.view(np.uint8), axis=1, bitorder="little")
    rng = np.random.default_rng(1)
    at, change = rng.normal(size=(2, 4, 13))
    slopes = []
    for step in (1e-4, -1e-4, 0.0):
        problem.scores = (at + step * change) @ bits
        problem.update_means()
        slopes.append(problem.slopes(columns))
    active = np.array([[0, 0, 2], [1, 5, 12]])
    bent, expected = problem._bent(columns, change, active), np.zeros((4, 13))
    differences = (slopes[0] - slopes[1]) / 2e-4
    expected[tuple(active)] = differences[tuple(active)]
    np.testing.assert_allclose(bent, expected, rtol=1e-6)


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_conjugate_gradients_solve_linear_systems(seed, n):
    rng = np.random.default_rng(seed)
    roots, limits = rng.normal(size=(n, n)), np.full(n, 1e-9)
    matrix, target = roots @ roots.T + 0.1 * np.eye(n), rng.normal(size=n)
    inverse = np.diag(1 / np.diag(matrix))
    given = matrix.dot, inverse.dot, target.copy(), limits
    found = _l1_problem.conjugate_gradients(*given)
    np.testing.assert_allclose(matrix @ found, target, atol=1e-6)


@given(st.integers(0, 10**6), st.sampled_from([0, 1]))
def test_a_kept_factor_solves_for_each_part(seed, for_each_changed):
    """With 0 entries for each change the first factor serves all parts."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    matrix = np.cov(rng.normal(size=(n, 40))).reshape(n, n)
    kept = _kept_factor.KeptFactor(matrix)
    parts = [rng.permutation(n)[: rng.integers(1, n + 1)] for _ in range(4)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_kept_factor, "LEAST", 0)
        for number, part in enumerate(map(np.sort, parts)):
            # Without a factor there is nothing to keep.
            limit = for_each_changed if number else 99
            patch.setattr(_kept_factor, "FOR_EACH_CHANGED", limit)
            values = rng.normal(size=len(part))
            found = kept.solve(part, values)
            square = matrix[np.ix_(part, part)]
            square += np.diag(1e-6 * np.diag(square) + 1e-10)
            np.testing.assert_allclose(square @ found, values, rtol=0, atol=1e-9)
    if not for_each_changed:
        assert np.array_equal(kept.part, np.sort(parts[0]))
