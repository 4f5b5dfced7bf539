"""Every instruction set gives the same bits as plain C, and plain C the definition."""

import os
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from oracles.kernels import all_conjunctions, counting_kernel, plain_perceptron

from sklboolean._core import _cpu, _popcount
from sklboolean._core.bits import (
    BitColumns,
    BitRows,
    count_common,
    pack_dense,
    unpack_words,
)
from sklboolean._core.conjunction_search import search_conjunctions
from sklboolean.kernels import _evaluators as blocks
from sklboolean.kernels import cnf_kernel, tanimoto_kernel
from sklboolean.kernels._count_table import integer_table
from sklboolean.kernels._evaluators import CountEvaluator

PATHS = _cpu.available_cpu_paths()
# The AVX2 version adds bytes over at most 31 words before it widens them.
LIMIT = 31 * 64
WIDTHS = [
    1, 63, 64, 65, 200, LIMIT - 64, LIMIT - 1, LIMIT, LIMIT + 1, LIMIT + 64,
    2 * LIMIT - 1, 2 * LIMIT, 2 * LIMIT + 1, 3 * LIMIT + 7,
]  # fmt: skip
CONJUNCTIONS = {
    "power": {},
    "power less 1": {"min_literals": 1},
    "power, monotone": {"monotone": True},
    "table": {"max_literals": 5},
    "table, monotone": {"max_literals": 5, "monotone": True},
    "cubic": {"max_literals": 3, "min_literals": 1},
    "cubic, monotone": {"max_literals": 2, "monotone": True},
    "decay": {"decay": 0.3, "max_literals": 9},
}


@pytest.fixture(autouse=True)
def _restored():
    before = _cpu.cpu_path()
    yield
    _cpu.use_cpu_path(before)


def on_each_path(compute):
    results = {}
    for name in PATHS:
        _cpu.use_cpu_path(name)
        assert _cpu.cpu_path() == name
        results[name] = compute()
    return results


def assert_same_bits(results):
    for name, result in results.items():
        assert result.dtype == results["plain"].dtype
        assert result.tobytes() == results["plain"].tobytes(), name


def tables(n_samples, n_columns, n_features, seed=0):
    """Random rows, some full and some empty, as truth values and packed."""
    rng = np.random.default_rng(seed)
    A = rng.random((n_samples, n_features)) < rng.random((n_samples, 1))
    B = rng.random((n_columns, n_features)) < rng.random((n_columns, 1))
    A[0] = B[-1] = True
    if n_samples > 1:
        A[-1] = False
    if n_columns > 1:
        B[0] = False
    return A, B, rows_of(A), BitColumns.from_rows(rows_of(B))


def rows_of(truth):
    return BitRows.from_words(pack_dense(truth), truth.shape[1])


def count(rows, columns, use_xor):
    out = np.empty((len(rows), len(columns)), dtype=np.int32)
    _popcount.count_pairs(rows, columns, use_xor, out)
    return out


# -- counts -------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", WIDTHS)
def test_counts_of_and_and_xor_are_the_same_at_every_width(n_features):
    A, B, rows, columns = tables(11, 33, n_features, seed=n_features)
    common = A.astype(np.int64) @ B.T.astype(np.int64)
    different = A.sum(axis=1)[:, None] + B.sum(axis=1) - 2 * common
    for compute, expected in [
        (lambda: count_common(rows, columns), common),
        (lambda: count(rows, columns, True), different),
    ]:
        for name, counts in on_each_path(compute).items():
            assert np.array_equal(counts, expected), name


@pytest.mark.parametrize("n_features", WIDTHS)
def test_rows_of_all_ones_are_counted_whole(n_features):
    full, empty = np.ones((6, n_features), bool), np.zeros((2, n_features), bool)
    rows = rows_of(full)
    columns = BitColumns.from_rows(rows_of(np.concatenate([full, empty])))
    expected = np.repeat([n_features, 0], [6, 2])
    for name, counts in on_each_path(lambda: count_common(rows, columns)).items():
        assert (counts == expected).all(), name
    for name, counts in on_each_path(lambda: count(rows, columns, True)).items():
        assert (counts == n_features - expected).all(), name
    for name, sizes in on_each_path(lambda: rows_of(full).ones).items():
        assert (sizes == n_features).all(), name


def test_counts_are_the_same_at_the_edges_of_panels_and_tiles():
    for n_samples in range(1, 12):
        for n_columns in [1, 31, 32, 33, 256, 257]:
            A, B, rows, columns = tables(n_samples, n_columns, 130, seed=n_samples)
            common = A.astype(np.int64) @ B.T.astype(np.int64)
            different = A.sum(axis=1)[:, None] + B.sum(axis=1) - 2 * common
            for name in PATHS:
                _cpu.use_cpu_path(name)
                assert np.array_equal(count_common(rows, columns), common), name
                assert np.array_equal(count(rows, columns, True), different), name


@pytest.mark.parametrize(
    ("n_features", "n_columns"),
    [*product([130, 1100], [200, 256, 300, 2100]), (70_000, 200), (70_000, 257)],
)
def test_rows_of_few_features_of_many_are_counted_by_definition(n_features, n_columns):
    rng = np.random.default_rng(n_columns)
    A = rng.random((43, n_features)) < 0.1
    B = rng.random((n_columns, n_features)) < 0.3
    A[0], A[-1], B[0], B[1] = False, True, False, True
    rows, columns = rows_of(A), BitColumns.from_rows(rows_of(B))
    common = A.astype(np.float64) @ B.T.astype(np.float64)
    different = A.sum(axis=1)[:, None] + B.sum(axis=1) - 2 * common
    coefficients = rng.integers(-9, 9, (2, 43)).astype(np.float64)
    evaluators = [
        (CountEvaluator(integer_table(kind, range(n_features + 1)), n_features), values)
        for kind, values in [("common", common), ("same", n_features - different)]
    ]
    for name in PATHS:
        _cpu.use_cpu_path(name)
        assert np.array_equal(count_common(rows, columns), common), name
        assert np.array_equal(count(rows, columns, True), different), name
        for evaluator, values in evaluators:
            assert np.array_equal(evaluator.matrix(rows, columns), values), name
            scores = np.zeros((2, n_columns))
            evaluator.add(rows, coefficients, columns, scores)
            assert np.array_equal(scores, coefficients @ values), name


# -- values -------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", CONJUNCTIONS.values(), ids=CONJUNCTIONS)
@pytest.mark.parametrize("n_features", [7, 64, 520, 1000, LIMIT + 1, 2 * LIMIT + 1])
def test_kernel_values_are_the_same(n_features, parameters):
    A, B, _, _ = tables(11, 257, n_features)
    fits = "max_literals" in parameters or n_features < 100
    if not fits and n_features > 1000:
        parameters = {**parameters, "normalize": True}
    for dtype in ("float64", "float32") if fits else ("float64",):
        options = {**parameters, "dtype": dtype}
        assert_same_bits(on_each_path(lambda o=options: all_conjunctions(A, B, **o)))


def check_kernel_values_are_the_same_at_the_edges_of_panels_and_tiles(
    n_samples, n_columns
):
    A, B, _, _ = tables(n_samples, n_columns, 130, seed=n_columns)
    for parameters in ({}, {"max_literals": 5}):
        assert_same_bits(on_each_path(lambda p=parameters: all_conjunctions(A, B, **p)))


def test_kernel_values_are_the_same_at_the_edges_of_panels_and_tiles():
    for n_samples in range(1, 12):
        for n_columns in [1, 31, 32, 33, 256, 257]:
            check_kernel_values_are_the_same_at_the_edges_of_panels_and_tiles(
                n_samples, n_columns
            )


@pytest.mark.parametrize("n_features", [130, 520, LIMIT + 1])
@pytest.mark.parametrize("n_samples", [33, 257, 300])
def test_gram_matrices_are_the_same(n_samples, n_features, monkeypatch):
    # Counting half of the matrix and copying it is for wide rows.
    monkeypatch.setattr(blocks, "MIRROR_WORDS", 1)
    X = tables(n_samples, 1, n_features)[0]
    for kernel, parameters in [
        (all_conjunctions, {"max_literals": 5}),
        (all_conjunctions, {"decay": 0.1, "monotone": True, "max_literals": 7}),
        (cnf_kernel, {"monotone": False}),
        (all_conjunctions, {"monotone": True, "max_literals": 3, "normalize": True}),
        (tanimoto_kernel, {"dtype": "float32"}),
        (tanimoto_kernel, {}),
    ]:
        results = on_each_path(lambda k=kernel, p=parameters: k(X, **p))
        assert_same_bits(results)
        assert np.array_equal(results["plain"], kernel(X, X.copy(), **parameters))


# -- sums ---------------------------------------------------------------------------


def check_sums_that_round_round_the_same(n_features, n_samples, parameters):
    _, _, rows, columns = tables(n_samples, 257, n_features, seed=n_samples)
    table = counting_kernel(**parameters).formula(n_features, n_features)
    shift = max(0, table.largest[1] - 900)
    evaluator = CountEvaluator(table, n_features, shift=shift)
    rng = np.random.default_rng(n_features)
    coefficients = rng.standard_normal((3, n_samples))

    def add():
        scores = np.ones((3, 257))
        evaluator.add(rows, coefficients, columns, scores)
        return scores

    results = on_each_path(add)
    assert_same_bits(results)
    terms = coefficients[:, :, None] * evaluator.matrix(rows, columns)
    bound = (n_samples + 2) * 2.0**-52 * (1 + np.abs(terms).sum(axis=1))
    assert (np.abs(results["plain"] - 1 - terms.sum(axis=1)) <= bound).all()


@pytest.mark.parametrize("parameters", CONJUNCTIONS.values(), ids=CONJUNCTIONS)
def test_sums_that_round_round_the_same(parameters):
    for n_features in [7, 520, LIMIT + 1]:
        for n_samples in [1, 4, 5, 6, 11]:
            check_sums_that_round_round_the_same(n_features, n_samples, parameters)


@pytest.mark.parametrize("name", ["cubic", "cubic, monotone", "table", "power"])
@pytest.mark.parametrize("n_samples", [1, 4, 5, 6, 11])
def test_sums_that_are_exact_are_exact(n_samples, name):
    parameters, n_features = CONJUNCTIONS[name], 40
    A, B, rows, columns = tables(n_samples, 257, n_features, seed=n_samples)
    table = counting_kernel(**parameters).formula(n_features, n_features)
    coefficients = np.random.default_rng(n_samples).integers(-99, 99, (2, n_samples))
    assert table.is_exact_in_float64(int(np.abs(coefficients).sum(axis=1).max()))
    counts = A.astype(int) @ B.T.astype(int)
    if table.count == "same":
        counts = n_features - A.sum(axis=1)[:, None] - B.sum(axis=1) + 2 * counts
    values = np.array([table.numerator(s) for s in range(n_features + 1)])[counts]
    evaluator = CountEvaluator(table, n_features)

    def add():
        scores = np.zeros((2, 257))
        weights = coefficients.astype(float)
        evaluator.add(rows, weights, columns, scores, exact=True)
        return scores

    for path, scores in on_each_path(add).items():
        assert np.array_equal(scores, coefficients @ values), path


@pytest.mark.parametrize("parameters", CONJUNCTIONS.values(), ids=CONJUNCTIONS)
def test_kernel_perceptrons_are_the_same(parameters):
    X = tables(150, 1, 70)[0]
    y = np.random.default_rng(1).integers(0, 3, 150)
    options = {"min_literals": 0, "max_literals": None, "monotone": False, **parameters}

    def fit():
        kernel = counting_kernel(**options)
        learner = plain_perceptron(kernel, max_iter=3, random_state=0).fit(X, y)
        return np.concatenate(
            [learner.dual_coef_.ravel(), learner.decision_function(X[::-1]).ravel()]
        )

    assert_same_bits(on_each_path(fit))


# -- choosing -----------------------------------------------------------------------


def test_the_work_of_a_search_is_the_same():
    """Of 25 binary digits, which are counted on some paths and looked up on others."""
    rng = np.random.default_rng(0)
    words = pack_dense(rng.random((300, 30)) < 0.5)
    coefficients = rng.integers(-(2**24), 2**24, 300).astype(np.float64)

    def search():
        return search_conjunctions(
            words, coefficients, 30, max_literals=3, monotone=False, width=50
        )

    results = on_each_path(search)
    assert all(result == results["plain"] for result in results.values())
    assert results["plain"].work > 0


def test_plain_c_is_always_there_and_paths_are_named_slowest_first():
    assert PATHS == ("plain", "avx2", "avx512")[: len(PATHS)]


@pytest.mark.parametrize("name", ["AVX2", "sse", "", None])
def test_an_unknown_path_is_an_error_and_changes_nothing(name):
    _cpu.use_cpu_path("plain")
    with pytest.raises(ValueError, match=r"instruction set .* not one of .*'plain'"):
        _cpu.use_cpu_path(name)
    assert _cpu.cpu_path() == "plain"


def run_with_path(name, code):
    # Warnings of a rebuilding editable install do not matter here.
    environment = {**os.environ, "SKLBOOLEAN_CPU": name}
    # -P: the installed package, not the source tree of the working directory.
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


SHOW_PATH = "from sklboolean._core._cpu import cpu_path; print(cpu_path())"


@pytest.mark.parametrize("name", PATHS)
def test_the_environment_variable_chooses_the_path_at_import(name):
    assert run_with_path(name, SHOW_PATH).stdout.split() == [name]


def test_an_empty_environment_variable_means_the_fastest_path():
    assert run_with_path("", SHOW_PATH).stdout.split() == [PATHS[-1]]


@pytest.mark.slow
def test_the_environment_variable_reaches_the_package():
    code = """
from sklboolean._core import _cpu
from sklboolean.kernels import conjunction_kernel
print(_cpu.cpu_path(), conjunction_kernel([[1, 0]], normalize=False)[0, 0])
"""
    assert run_with_path("plain", code).stdout.split() == ["plain", "2.0"]


def test_an_unknown_name_in_the_environment_is_a_clear_error():
    process = run_with_path("sse9", "import sklboolean")
    assert process.returncode != 0
    last_line = process.stderr.strip().splitlines()[-1]
    assert last_line.startswith("ValueError: The instruction set 'sse9' is not one of")
    assert "SKLBOOLEAN_CPU" in last_line
    assert "'plain'" in last_line


@pytest.mark.parametrize("n_features", [1, 3, 64, 65, 130])
@pytest.mark.parametrize("path", PATHS)
def test_every_path_packs_reals_by_definition(path, n_features):
    _cpu.use_cpu_path(path)
    rng = np.random.default_rng(0)
    X = rng.choice([0.0, 1.0, -1.0, 0.5, 2.0, np.nan, np.inf], size=(20, n_features))
    for threshold in (0.0, 0.75):
        values = unpack_words(pack_dense(X, threshold), n_features)
        np.testing.assert_array_equal(values, X > threshold)
    X = rng.integers(0, 2, (20, n_features)).astype(np.float64)
    np.testing.assert_array_equal(unpack_words(pack_dense(X, None), n_features), X)
    X[7, n_features - 1] = np.nan
    with pytest.raises(ValueError, match=f"Column {n_features - 1} of X"):
        pack_dense(X, None)
