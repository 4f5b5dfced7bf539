from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from math import comb, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.kernels import (
    all_conjunctions,
    conjunction_holds,
    conjunctions,
    count_cnfs,
    count_disjunctions,
    count_dnfs,
    count_hitting_sets,
    disjunction_holds,
    kernel_value,
    shared_conjunctions,
    truth_table,
)
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from sklboolean._core.bits import BitColumns, sparse_rows
from sklboolean.kernels import (
    BOOLEAN_KERNELS,
    ConjunctionKernel,
    cnf_kernel,
    conjunction_kernel,
    disjunction_kernel,
    dnf_kernel,
    tanimoto_kernel,
)
from sklboolean.kernels import (
    _evaluators as blocks,
)
from sklboolean.kernels._count_table import conjunction_table

# One of every form: powers, tables, both counts, row sizes.
KERNELS = {
    "all conjunctions": all_conjunctions,
    "all but the empty one": partial(all_conjunctions, min_literals=1),
    "all monotone": partial(all_conjunctions, monotone=True),
    "up to 3": partial(all_conjunctions, max_literals=3),
    "2 to 4, monotone": partial(
        all_conjunctions, min_literals=2, max_literals=4, monotone=True
    ),
    "decay": partial(all_conjunctions, decay=0.3),
    "decay, monotone": partial(all_conjunctions, decay=0.1, monotone=True),
    "normalized": partial(all_conjunctions, decay=0.4, normalize=True),
    "normalized, monotone": partial(all_conjunctions, monotone=True, normalize=True),
    "disjunctions": disjunction_kernel,
    "all disjunctions": partial(disjunction_kernel, n_literals=3, monotone=False),
    "DNFs": partial(dnf_kernel, n_terms=3),
    "all DNFs": partial(dnf_kernel, monotone=False),
    "CNFs": partial(cnf_kernel, n_clauses=3),
    "all CNFs": partial(cnf_kernel, n_literals=3, monotone=False),
    "Tanimoto": tanimoto_kernel,
}
GRAMS = [name for name in KERNELS if "log2" not in name]
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
PARAMETERS = {
    all_conjunctions: ["min_literals", "max_literals"],
    disjunction_kernel: ["n_literals"],
    dnf_kernel: ["n_terms", "n_literals"],
    cnf_kernel: ["n_clauses", "n_literals"],
}


def cube(n_features):
    """All rows of so many features: every pair of rows that there can be."""
    return np.array(list(product([0, 1], repeat=n_features)))


def random_rows(n_samples, n_features, share=0.5, seed=0):
    return np.random.default_rng(seed).random((n_samples, n_features)) < share


def float_of(value):
    """A Fraction or integer as the nearest float64."""
    value = Fraction(value)
    return value.numerator / value.denominator


def pairs_of(oracle, X, Y=None):
    """An oracle of two rows, rounded, on all pairs."""
    return [[float_of(oracle(x, z)) for z in (X if Y is None else Y)] for x in X]


def rows_strategy(n_features, max_rows=3):
    row = st.lists(st.booleans(), min_size=n_features, max_size=n_features)
    return st.lists(row, min_size=1, max_size=max_rows)


@st.composite
def two_tables(draw, min_features=6, max_features=8):
    n_features = draw(st.integers(min_features, max_features))
    return draw(rows_strategy(n_features)), draw(rows_strategy(n_features))


# -- against enumeration ------------------------------------------------------------


@pytest.mark.parametrize("decay", [1.0, 0.5, 0.3, 2.5, 1e-4])
@pytest.mark.parametrize("monotone", [True, False])
def test_conjunction_kernel_counts_shared_conjunctions(monotone, decay):
    for n_features in [1, 3, 4]:
        X = cube(n_features)
        shared = []  # by length
        for length in range(n_features + 1):
            terms = list(conjunctions(n_features, length, length, monotone))
            holds = np.array(truth_table(terms, conjunction_holds, X))
            shared.append((holds @ holds.T).tolist())
        for low in range(n_features + 2):
            for high in [None, *range(low, n_features + 3)]:
                K = all_conjunctions(
                    X,
                    min_literals=low,
                    max_literals=high,
                    monotone=monotone,
                    decay=decay,
                )
                lengths = range(
                    low, 1 + min(n_features, n_features if high is None else high)
                )
                for i, j in product(range(len(X)), repeat=2):
                    weights = (Fraction(decay) ** k * shared[k][i][j] for k in lengths)
                    assert K[i, j] == float_of(sum(weights))


@given(
    two_tables(),
    st.integers(0, 3),
    st.one_of(st.none(), st.integers(0, 9)),
    st.booleans(),
    st.one_of(st.sampled_from([1.0, 0.5, 0.3]), st.floats(1e-3, 1e3)),
)
def test_conjunction_kernel_weighs_shared_conjunctions_by_length(
    tables, low, high, monotone, decay
):
    assume(high is None or high >= low)
    parameters = {"min_literals": low, "max_literals": high, "monotone": monotone}

    def oracle(x, z):
        terms = shared_conjunctions(x, z, **parameters)
        return sum(Fraction(decay) ** len(term) for term in terms)

    K = all_conjunctions(*tables, decay=decay, **parameters)
    assert K.tolist() == pairs_of(oracle, *tables)


@pytest.mark.parametrize("monotone", [True, False])
def test_disjunction_kernel_counts_shared_disjunctions(monotone):
    for n_literals in [1, 2, 3, 4, 5, 6]:
        for n_features in [1, 4, 5]:
            X = cube(n_features)
            clauses = list(conjunctions(n_features, n_literals, n_literals, monotone))
            holds = np.array(truth_table(clauses, disjunction_holds, X))
            K = disjunction_kernel(X, n_literals=n_literals, monotone=monotone)
            assert K.tolist() == (holds @ holds.T).tolist()


def sets_that_hold(X, size, n_literals, monotone, holds, quantifier):
    """Truth of all sets of so many formulas, by columns, on the rows."""
    formulas = list(conjunctions(X.shape[1], n_literals, n_literals, monotone))
    values = np.array(truth_table(formulas, holds, X), dtype=bool)
    sets = np.array(list(combinations(range(len(formulas)), size)), dtype=int)
    if not len(sets):
        return np.zeros((len(X), 1), dtype=int)
    return quantifier(values[:, sets], axis=2).astype(int)


NESTED = pytest.mark.parametrize(
    ("n_features", "monotone"),
    [(1, True), (2, False), (3, False), (4, True), (5, True)],
)


@NESTED
def test_dnf_kernel_counts_shared_dnfs(n_features, monotone):
    for n_literals in [1, 2, 3]:
        for n_terms in [1, 2, 3]:
            X = cube(n_features)
            holds = sets_that_hold(
                X, n_terms, n_literals, monotone, conjunction_holds, np.any
            )
            K = dnf_kernel(X, n_terms=n_terms, n_literals=n_literals, monotone=monotone)
            assert K.tolist() == (holds @ holds.T).tolist()


@NESTED
def test_cnf_kernel_counts_shared_cnfs(n_features, monotone):
    for n_literals in [1, 2, 3]:
        for n_clauses in [1, 2, 3]:
            X = cube(n_features)
            holds = sets_that_hold(
                X, n_clauses, n_literals, monotone, disjunction_holds, np.all
            )
            K = cnf_kernel(
                X, n_clauses=n_clauses, n_literals=n_literals, monotone=monotone
            )
            assert K.tolist() == (holds @ holds.T).tolist()


@settings(max_examples=25)
@given(two_tables(6, 7), st.integers(1, 3), st.integers(1, 2), st.booleans())
def test_formula_kernels_count_shared_formulas(tables, n_literals, size, monotone):
    K = disjunction_kernel(*tables, n_literals=n_literals, monotone=monotone)
    oracle = partial(count_disjunctions, n_literals=n_literals, monotone=monotone)
    assert K.tolist() == pairs_of(oracle, *tables)
    assume(monotone or n_literals < 3)
    K = dnf_kernel(*tables, n_terms=size, n_literals=n_literals, monotone=monotone)
    oracle = partial(count_dnfs, n_terms=size, n_literals=n_literals, monotone=monotone)
    x, z = tables[0][:1], tables[1][:1]
    assert K[:1, :1].tolist() == pairs_of(oracle, x, z)
    K = cnf_kernel(*tables, n_clauses=size, n_literals=n_literals, monotone=monotone)
    oracle = partial(
        count_cnfs, n_clauses=size, n_literals=n_literals, monotone=monotone
    )
    assert K[:1, :1].tolist() == pairs_of(oracle, x, z)


def tanimoto_by_definition(x, z):
    x, z = ({i for i, value in enumerate(row) if value} for row in (x, z))
    return Fraction(len(x & z), len(x | z)) if x | z else Fraction(1)


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_tanimoto_kernel_is_the_share_of_shared_features(n_features):
    X = cube(n_features)
    assert tanimoto_kernel(X).tolist() == pairs_of(tanimoto_by_definition, X)


@given(two_tables(1, 70))
def test_tanimoto_kernel_is_correctly_rounded(tables):
    assert tanimoto_kernel(*tables).tolist() == pairs_of(
        tanimoto_by_definition, *tables
    )


def test_two_empty_rows_are_equal_to_tanimoto():
    K = tanimoto_kernel([[0, 0], [0, 1]], [[0, 0], [1, 0]])
    assert K.tolist() == [[1, 0], [0, 0]]
    assert tanimoto_kernel(sparse.csr_array((2, 3))).tolist() == [[1, 1], [1, 1]]


# -- long rows ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_literals": 20},
        {"max_literals": 20, "monotone": True},
        {"max_literals": 20, "min_literals": 19, "decay": 0.3},
        {"decay": 1e-3},
        {"decay": 0.1, "monotone": True, "min_literals": 1},
        {"max_literals": 3},
    ],
)
def test_conjunctions_of_long_rows_are_correctly_rounded(parameters):
    X = random_rows(12, 2000, 0.4)
    Y = random_rows(5, 2000, 0.7, seed=1)
    X[0], X[1], Y[0] = True, False, True
    options = {
        "min_literals": 0, "max_literals": None, "monotone": False, "decay": 1.0,
        **parameters,
    }  # fmt: skip
    K = all_conjunctions(X, Y, **parameters)
    assert K.tolist() == pairs_of(partial(kernel_value, **options), X, Y)


def who_has(x, z):
    """How many things both, only x, only z and neither have."""
    return [
        int(v) for v in ((x & z).sum(), (x & ~z).sum(), (z & ~x).sum(), (~x & ~z).sum())
    ]


def shared_terms(x, z, n_literals):
    """The same of monotone conjunctions of so many literals."""
    both, only_x, only_z, neither = who_has(x, z)
    all_, in_x, in_z, in_both = (
        comb(size, n_literals)
        for size in (
            both + only_x + only_z + neither,
            both + only_x,
            both + only_z,
            both,
        )
    )
    return in_both, in_x - in_both, in_z - in_both, all_ - in_x - in_z + in_both


def long_rows():
    X = random_rows(4, 300, 0.1)
    X[1], X[2] = True, False
    Y = random_rows(3, 300, 0.6, seed=1)
    Y[0] = X[0]
    return X, Y


@pytest.mark.parametrize("n_literals", [1, 2, 3, 20, 150, 300, 301])
def test_large_disjunction_counts_are_correctly_rounded(n_literals):
    X, Y = long_rows()
    K = disjunction_kernel(X, Y, n_literals=n_literals)
    assert K.tolist() == pairs_of(
        lambda x, z: count_hitting_sets(*who_has(x, z), n_literals), X, Y
    )

    def with_negations(x, z):
        # Each set of variables with same values in s places: all 2**d signs but the
        # two that fail x or z, which are one when all places are the same.
        same = int((x == z).sum())
        signs = (2**n_literals - 2) * comb(300, n_literals)
        return signs + comb(same, n_literals)

    if n_literals <= 20:
        K = disjunction_kernel(X, Y, n_literals=n_literals, monotone=False)
        assert K.tolist() == pairs_of(with_negations, X, Y)


@pytest.mark.parametrize(("n_terms", "n_literals"), [(1, 1), (2, 2), (5, 3), (20, 4)])
def test_large_dnf_counts_are_correctly_rounded(n_terms, n_literals):
    X, Y = long_rows()
    K = dnf_kernel(X, Y, n_terms=n_terms, n_literals=n_literals)
    assert K.tolist() == pairs_of(
        lambda x, z: count_hitting_sets(*shared_terms(x, z, n_literals), n_terms), X, Y
    )

    def with_negations(x, z):
        # A row satisfies one term for each set of variables, two rows share those
        # of equal values.
        true, both = comb(300, n_literals), comb(int((x == z).sum()), n_literals)
        neither = 2**n_literals * true - 2 * true + both
        return count_hitting_sets(both, true - both, true - both, neither, n_terms)

    K = dnf_kernel(X, Y, n_terms=n_terms, n_literals=n_literals, monotone=False)
    assert K.tolist() == pairs_of(with_negations, X, Y)


@pytest.mark.parametrize(("n_clauses", "n_literals"), [(1, 1), (2, 2), (5, 3), (20, 4)])
def test_large_cnf_counts_are_correctly_rounded(n_clauses, n_literals):
    X, Y = long_rows()
    K = cnf_kernel(X, Y, n_clauses=n_clauses, n_literals=n_literals)
    assert K.tolist() == pairs_of(
        lambda x, z: comb(count_hitting_sets(*who_has(x, z), n_literals), n_clauses),
        X,
        Y,
    )


@pytest.mark.parametrize("kernel", PARAMETERS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint64])
def test_numpy_integers_count_like_python_integers(kernel, monotone, kind):
    X = random_rows(5, 200)
    X[0] = True
    sizes = {"min_literals": 1, "max_literals": 5, "n_literals": 2}
    sizes = {name: sizes.get(name, 9) for name in PARAMETERS[kernel]}
    as_numpy = {name: kind(size) for name, size in sizes.items()}
    K = kernel(X, monotone=monotone, **sizes)
    assert np.array_equal(kernel(X, monotone=monotone, **as_numpy), K)


def test_numpy_integers_count_like_python_integers_with_decay():
    X = random_rows(5, 200)
    K = all_conjunctions(X, max_literals=30, decay=0.3)
    assert np.array_equal(all_conjunctions(X, max_literals=np.int64(30), decay=0.3), K)


# -- tables of every kind -----------------------------------------------------------


@every_kernel
def test_without_a_second_table_the_first_is_compared_with_itself(kernel):
    X = random_rows(20, 9)
    K = kernel(X)
    assert K.shape == (20, 20)
    assert K.dtype == np.float64
    assert np.array_equal(K, kernel(X, X.copy()))
    assert np.array_equal(K, K.T)


@every_kernel
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_values_are_written_into_an_array_of_the_user(
    kernel, is_sparse, wide, monkeypatch
):
    if wide:
        monkeypatch.setattr(blocks, "MIRROR_WORDS", 1)
    X, Y = random_rows(40, 70, 0.2), random_rows(33, 70, 0.2, seed=1)
    if is_sparse:
        X, Y = sparse.csr_array(X), sparse.csr_array(Y)
    for other, shape in ((None, (40, 40)), (Y, (40, 33))):
        K = kernel(X, other)
        rounded = K.astype(np.float32)
        for out, dtype in ((np.full(shape, np.nan), None), (np.ones(shape), "float64")):
            assert kernel(X, other, out=out, dtype=dtype) is out
            assert np.array_equal(out, K)
        out = np.full(shape, np.nan, dtype=np.float32)
        assert kernel(X, other, out=out, n_jobs=2) is out
        assert np.array_equal(out, rounded)
        for dtype in (np.float32, "float32", np.dtype("f4")):
            new = kernel(X, other, dtype=dtype)
            assert new.dtype == np.float32
            assert np.array_equal(new, rounded)


@pytest.mark.parametrize("call", [conjunction_kernel, ConjunctionKernel()])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "float16"}, "dtype must be 'float64' or 'float32'; got 'float16'"),
        ({"dtype": "real"}, "dtype must be .* got 'real'"),
        ({"dtype": int}, "dtype must be .* got <class 'int'>"),
        ({"out": [[1.0]]}, "out must be .*got list"),
        ({"out": np.ones((3, 2))}, r"shape \(3, 3\) .* got shape \(3, 2\)"),
        ({"out": np.ones((3, 3), int)}, "float64 or float32; got dtype int64"),
        ({"out": np.ones((3, 3)), "dtype": "float32"}, "float32; got dtype float64"),
        ({"out": np.ones((3, 6))[:, ::2]}, "not C-contiguous"),
        ({"out": np.broadcast_to(1.0, (3, 3))}, "not C-contiguous"),
        ({"out": np.asfortranarray(np.ones((3, 3)))}, "not C-contiguous"),
    ],
)
def test_arrays_that_cannot_take_the_values_are_an_error(call, options, message):
    with pytest.raises(ValueError, match=message):
        call(np.eye(3), **options)


@pytest.mark.parametrize("n_features", [100, 127, 128, 200])
@pytest.mark.parametrize("monotone", [True, False])
def test_values_beyond_float32_are_an_error(n_features, monotone):
    X, options = np.ones((2, n_features)), {"monotone": monotone, "dtype": "float32"}
    X[1, :5] = 0
    if n_features < 128:
        K = all_conjunctions(X, **options)
        assert np.array_equal(K, all_conjunctions(X, monotone=monotone))
    else:
        with pytest.raises(ValueError, match=r"exceeds float32 .* Use dtype='float64'"):
            all_conjunctions(X, **options)
    kernel = ConjunctionKernel(max_literals=None, monotone=monotone, normalize=False)
    if n_features > 100:
        with pytest.raises(ValueError, match=r"2\*\*127 or more"):
            kernel(X, dtype="float32")
    else:
        assert kernel(X, dtype="float32").dtype == np.float32
    with pytest.raises(ValueError, match="exceeds float32"):
        dnf_kernel(X, n_terms=60, n_literals=2, dtype="float32")


@every_kernel
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_half_of_a_symmetric_matrix_makes_the_whole(kernel, n_jobs, monkeypatch):
    for n_samples in [1, 31, 33, 257, 600]:
        # Done for wide rows only; columns before the diagonal are left out by the 256.
        monkeypatch.setattr(blocks, "MIRROR_WORDS", 1)
        X = random_rows(n_samples, 90, 0.1)
        assert np.array_equal(kernel(X, n_jobs=n_jobs), kernel(X, X.copy()))


@pytest.mark.parametrize("n_features", [48 * 64 - 64, 48 * 64, 48 * 64 + 1])
def test_the_matrix_of_very_wide_rows_is_whole(n_features):
    X = random_rows(300, n_features)
    common = X.astype(float) @ X.T.astype(float)
    K = all_conjunctions(X, min_literals=1, max_literals=1, monotone=True)
    assert np.array_equal(K, common)


@every_kernel
@pytest.mark.parametrize("share", [0.005, 0.05, 0.5])
def test_sparse_dense_and_mixed_tables_have_the_same_kernel(kernel, share):
    X, Y = random_rows(40, 300, share), random_rows(35, 300, share, seed=1)
    X[0], X[1], Y[0], Y[1] = True, False, True, False
    K, gram = kernel(X, Y), kernel(X)
    for first, second in product(
        [sparse.csr_array, sparse.csc_matrix, np.asarray], repeat=2
    ):
        assert np.array_equal(kernel(first(X), second(Y)), K)
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        assert np.array_equal(kernel(kind(X)), gram)


def check_any_split_of_sparse_tables_has_the_same_kernel(kernel, n_packed, monkeypatch):
    X, Y = random_rows(40, 130, 0.2), random_rows(35, 130, 0.2, seed=1)
    expected, gram = kernel(X, Y), kernel(X)
    seen = []

    def split(frequencies):
        seen.append(len(frequencies))
        bit_of_feature = np.full(130, -1, dtype=np.int32)
        order = np.random.default_rng(n_packed).permutation(130)
        bit_of_feature[order[:n_packed]] = np.arange(n_packed)
        return bit_of_feature

    monkeypatch.setattr(blocks, "choose_packed_features", split)
    A, B = sparse.csr_array(X), sparse.csr_array(Y)
    assert np.array_equal(kernel(A, B), expected)
    assert np.array_equal(kernel(A), gram)
    assert np.array_equal(kernel(A, n_jobs=2), gram)
    assert np.array_equal(kernel(A, Y), expected)
    assert seen == [130] * 4


@every_kernel
def test_any_split_of_sparse_tables_has_the_same_kernel(kernel, monkeypatch):
    for n_packed in [0, 1, 63, 64, 70, 129, 130]:
        check_any_split_of_sparse_tables_has_the_same_kernel(
            kernel, n_packed, monkeypatch
        )


@every_kernel
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_threads_do_not_change_the_kernel(kernel, make):
    for n_jobs in [3, 50]:
        X, Y = make(random_rows(47, 100, 0.1)), make(random_rows(33, 100, 0.1, seed=1))
        assert np.array_equal(kernel(X, Y, n_jobs=n_jobs), kernel(X, Y))
        assert np.array_equal(kernel(X, n_jobs=n_jobs), kernel(X))


@pytest.mark.parametrize("n_packed", [0, 64, 100])
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_change_sums(n_packed, n_jobs):
    # From 2**20 pairs on.
    table = conjunction_table("same", 100, decay=0.3)
    bit_of_feature = np.where(np.arange(100) < n_packed, np.arange(100), -1)
    rows, columns = (
        sparse_rows(
            sparse.csr_array(random_rows(1030, 100, 0.2, seed)),
            bit_of_feature.astype(np.int32),
        )
        for seed in (0, 1)
    )
    columns = BitColumns.from_rows(columns)
    coefficients = np.random.default_rng(2).standard_normal((2, 1030))
    expected, scores = np.ones((2, 1030)), np.ones((2, 1030))
    evaluator = blocks.CountEvaluator(table, 100)
    evaluator.add(rows, coefficients, columns, expected)
    evaluator.with_threads(n_jobs).add(rows, coefficients, columns, scores)
    assert np.array_equal(scores, expected)
    K = evaluator.matrix(rows, columns)
    size = 1 + np.abs(coefficients) @ K
    assert (np.abs(expected - 1 - coefficients @ K) <= 1032 * 2.0**-52 * size).all()


@every_kernel
def test_blocks_of_rows_do_not_change_the_kernel(kernel, monkeypatch):
    X, Y = random_rows(23, 100, 0.1), random_rows(5, 100, 0.1, seed=1)
    expected = kernel(X, Y)
    for pairs in (1, 7, 20):
        monkeypatch.setattr(blocks, "PAIRS_AT_A_TIME", pairs)
        assert np.array_equal(kernel(X, Y), expected)


@every_kernel
def test_inputs_are_never_changed(kernel):
    rng = np.random.default_rng(0)
    dense = rng.integers(-1, 2, (6, 5)).astype(float)
    unsorted = sparse.csr_array(dense)
    unsorted.indices, unsorted.data = unsorted.indices.copy(), unsorted.data.copy()
    unsorted.indices[:2], unsorted.data[:2] = (
        unsorted.indices[1::-1],
        unsorted.data[1::-1],
    )
    unsorted.has_sorted_indices = False
    assert unsorted.indptr[1] >= 2
    zeros = sparse.csr_array(np.ones((6, 5)))
    zeros.data[::3] = 0
    for X in (dense, sparse.csr_array(dense), sparse.csc_array(dense), unsorted, zeros):
        arrays = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
        before = [array.copy() for array in arrays]
        K = kernel(X)
        kernel(dense, X)
        for array, old in zip(arrays, before, strict=True):
            assert np.array_equal(array, old)
        truth = X.toarray() if sparse.issparse(X) else X
        assert np.array_equal(K, kernel(truth > 0))


@every_kernel
def test_only_the_truth_of_a_value_matters(kernel):
    truth = random_rows(9, 70)
    K = kernel(truth)
    for dtype in (bool, "b", "B", "i", "l", "f", "d", object):
        X = truth.astype(dtype)
        assert np.array_equal(kernel(X), K)
        assert np.array_equal(kernel(X, binarize=None), K)
        assert np.array_equal(kernel(np.asfortranarray(X)), K)
    assert np.array_equal(kernel(X.tolist()), K)
    assert np.array_equal(kernel(pd.DataFrame(truth)), K)
    assert np.array_equal(kernel(np.where(truth, 1, -1)), K)
    assert np.array_equal(kernel(np.where(truth, 0.75, 0.5), binarize=0.5), K)


def test_the_dictionary_names_every_kernel():
    assert BOOLEAN_KERNELS == {
        "conjunction": conjunction_kernel, "disjunction": disjunction_kernel,
        "dnf": dnf_kernel, "cnf": cnf_kernel, "tanimoto": tanimoto_kernel,
    }  # fmt: skip


# -- what is known of the kernels ---------------------------------------------------


@pytest.mark.parametrize("kernel", [KERNELS[name] for name in GRAMS], ids=GRAMS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_kernels_are_positive_semidefinite(kernel, share):
    K = kernel(random_rows(60, 12, share))
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] >= -1e-9 * eigenvalues[-1]
    assert eigenvalues[-1] > 0


def test_all_conjunctions_are_an_rbf_kernel():
    X, Y = random_rows(20, 60), random_rows(15, 60, seed=1)
    K = 2.0**60 * rbf_kernel(X.astype(float), Y.astype(float), gamma=log(2))
    assert all_conjunctions(X, Y) == pytest.approx(K, rel=1e-12)
    K = 1.3**60 * rbf_kernel(X.astype(float), Y.astype(float), gamma=log(1.3))
    assert all_conjunctions(X, Y, decay=0.3) == pytest.approx(K, rel=1e-12)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"min_literals": 1}, {"max_literals": 3}, {"decay": 0.3, "min_literals": 2}],
)
def test_negations_are_features_of_their_own(parameters):
    X, Y = random_rows(9, 40), random_rows(7, 40, seed=1)
    doubled = [np.hstack([T, ~T]) for T in (X, Y)]
    assert np.array_equal(
        all_conjunctions(X, Y, **parameters),
        all_conjunctions(*doubled, monotone=True, **parameters),
    )


def test_monotone_conjunctions_of_one_literal_are_the_linear_kernel():
    X, Y = random_rows(9, 100), random_rows(7, 100, seed=1)
    K = all_conjunctions(X, Y, min_literals=1, max_literals=1, monotone=True)
    assert np.array_equal(K, linear_kernel(X.astype(float), Y.astype(float)))
    assert np.array_equal(K, disjunction_kernel(X, Y, n_literals=1))
    assert np.array_equal(K, dnf_kernel(X, Y, n_terms=1, n_literals=1))
    assert np.array_equal(K, cnf_kernel(X, Y, n_clauses=1, n_literals=1))


def test_lengths_add_up_to_all_conjunctions():
    X = random_rows(9, 30)
    by_length = [all_conjunctions(X, min_literals=k, max_literals=k) for k in range(31)]
    assert np.array_equal(sum(by_length), all_conjunctions(X))


def test_a_dnf_of_one_term_is_a_conjunction_and_a_cnf_of_one_clause_a_disjunction():
    X = random_rows(9, 30)
    for monotone in (True, False):
        assert np.array_equal(
            dnf_kernel(X, n_terms=1, n_literals=3, monotone=monotone),
            all_conjunctions(X, min_literals=3, max_literals=3, monotone=monotone),
        )
        assert np.array_equal(
            cnf_kernel(X, n_clauses=1, n_literals=3, monotone=monotone),
            disjunction_kernel(X, n_literals=3, monotone=monotone),
        )


def test_dnf_counts_are_never_negative():
    for n_literals in [1, 2, 3, 4]:
        for n_terms in [1, 2, 3, 5]:
            # Fewer false conjunctions than terms: a polynomial in place of the binomial
            # coefficient C(m, n_terms) with m < n_terms would be negative here.
            X = cube(4)
            K = dnf_kernel(X, n_terms=n_terms, n_literals=n_literals)
            assert K.min() >= 0
            assert K[-1, -1] == comb(comb(4, n_literals), n_terms)


# -- normalized and logarithmic -----------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_literals": 3},
        {"max_literals": 20, "monotone": True},
        {"monotone": True},
        {"monotone": True, "min_literals": 1},
        {"decay": 0.3},
        {"decay": 0.3, "monotone": True, "max_literals": 5},
    ],
)
def test_normalized_kernels_divide_by_the_root_of_both_diagonals(parameters):
    # Fractions of a decay have hundreds of digits for each feature.
    for n_features in [5, 100, 700 if "decay" in parameters else 1100]:
        X, Y = random_rows(6, n_features, 0.3), random_rows(5, n_features, 0.6, seed=1)
        X[0], Y[0] = True, True
        K = all_conjunctions(X, Y, normalize=True, **parameters)
        options = {
            "min_literals": 0, "max_literals": None, "monotone": False, "decay": 1.0,
            **parameters,
        }  # fmt: skip
        k = partial(kernel_value, **options)
        for x, row in zip(X, K.tolist(), strict=True):
            for z, value in zip(Y, row, strict=True):
                own = k(x, x) * k(z, z)
                square = Fraction(k(x, z)) ** 2 / own if own else Fraction(0)
                if square < Fraction(2) ** -2000:
                    assert value < 2.0**-999
                    continue
                low, high = (
                    (1 - Fraction(1, 10**15)) ** 2,
                    (1 + Fraction(1, 10**15)) ** 2,
                )
                assert low * square <= Fraction(value) ** 2 <= high * square


@pytest.mark.parametrize("n_features", [3, 700, 1023, 1024, 1025, 3000])
def test_normalized_counts_of_all_conjunctions_are_exact_powers(n_features):
    X = random_rows(8, n_features)
    X[0], X[1] = True, False
    same = (X[:, None] == X).sum(axis=2)
    K = all_conjunctions(X, normalize=True)
    assert np.array_equal(K, np.ldexp(1.0, same - n_features))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"max_literals": 3},
        {"monotone": True},
        {"monotone": True, "max_literals": 3},
        {"monotone": True, "decay": 0.3},
        {"monotone": True, "min_literals": 1, "decay": 0.7},
        {"decay": 0.3},
    ],
)
@pytest.mark.parametrize("n_features", [40, 3000])
def test_normalized_kernels_are_1_on_the_diagonal_and_nowhere_more(
    n_features, parameters
):
    X = random_rows(40, n_features)
    X[0], X[1], X[2] = True, False, X[3]
    if parameters.get("min_literals") == 1:
        X[1, 0] = True
    K = all_conjunctions(X, normalize=True, **parameters)
    assert (K.diagonal() == 1).all()
    assert K[2, 3] == 1
    assert K.max() == 1


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("n_features", "decay"), [(70, 0.3), (990, 1.0), (40, 2.0**24)]
)
@pytest.mark.parametrize("options", [{}, {"max_literals": 3}, {"min_literals": 2}])
def test_normalized_values_by_mantissas_and_exponents_differ_by_rounding(
    options, n_features, decay, dtype, monotone, monkeypatch
):
    options = {**options, "monotone": monotone, "dtype": dtype, "decay": decay}
    X, Y = (random_rows(30, n_features, 0.7, seed=seed) for seed in (0, 1))
    X[0] = Y[0] = False
    X[1] = Y[1] = True  # values up to 2**990
    K = all_conjunctions(X, Y, normalize=True, **options)
    monkeypatch.setattr(blocks, "LARGEST_NORMALIZED", 0)
    by_parts = all_conjunctions(X, Y, normalize=True, **options)
    rtol = 2.0**-50 if dtype == "float64" else 2.0**-23
    np.testing.assert_allclose(by_parts, K, rtol=rtol, atol=0)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_features", [7, 130])
def test_normalized_matrices_of_one_table_are_symmetric(n_features, dtype, monkeypatch):
    X = random_rows(300, n_features, 0.3)
    options = {"monotone": True, "max_literals": 3, "normalize": True, "dtype": dtype}
    K = all_conjunctions(X, X.copy(), **options)
    assert np.array_equal(K, K.T)
    monkeypatch.setattr(blocks, "MIRROR_WORDS", 1)
    assert np.array_equal(K, all_conjunctions(X, **options))


def test_a_row_that_satisfies_nothing_is_0_when_normalized():
    X = [[0, 0, 0], [0, 1, 1], [1, 0, 0]]
    K = all_conjunctions(X, monotone=True, min_literals=1, normalize=True)
    assert K.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 1]]
    # Two literals and a row of one feature.
    K = all_conjunctions(X, monotone=True, min_literals=2, normalize=True)
    assert K.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


# -- too large for float64 ----------------------------------------------------------


@pytest.mark.parametrize("n_features", [999, 1000, 1001, 1022, 1023])
@pytest.mark.parametrize("min_literals", [0, 1])
def test_powers_that_float64_holds_are_exact(n_features, min_literals):
    X = np.ones((2, n_features))
    X[1, ::3] = 0
    for monotone in (True, False):
        K = all_conjunctions(X, monotone=monotone, min_literals=min_literals)
        count = X.sum(axis=1)[1]
        assert K[0].tolist() == [2.0**n_features, 2.0**count]


@pytest.mark.parametrize(
    "parameters",
    [{}, {"min_literals": 1}, {"monotone": True}, {"decay": 0.999, "min_literals": 2}],
)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_conjunction_counts_that_overflow_are_an_error_with_a_way_out(make, parameters):
    n_features = 1025 if "decay" in parameters else 1024
    X = make(np.ones((2, n_features)))
    with pytest.raises(
        ValueError,
        match=r"exceeds float64 .* Use a smaller max_literals or normalize=True",
    ):
        all_conjunctions(X, **parameters)
    for remedy in ({"max_literals": 3}, {"normalize": True}):
        assert np.isfinite(all_conjunctions(X, **{**parameters, **remedy})).all()


def test_only_pairs_that_occur_can_overflow():
    X, Y = np.ones((2, 1500)), np.zeros((3, 1500))
    Y[:, :700] = 1
    assert (all_conjunctions(X, Y) == 2.0**700).all()
    assert (all_conjunctions(X, Y, monotone=True) == 2.0**700).all()


def test_a_large_decay_that_overflows_is_an_error():
    assert all_conjunctions([[1, 1]], decay=1e100)[0, 0] == float_of(
        (1 + Fraction(1e100)) ** 2
    )
    with pytest.raises(
        ValueError, match=r"exceeds float64 .* Use a decay of at most 1"
    ):
        all_conjunctions([[1, 1]], decay=1e200)


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize(
    ("kernel", "parameters"),
    [
        (disjunction_kernel, {"n_literals": 300}),
        (dnf_kernel, {"n_terms": 60, "n_literals": 60}),
        (cnf_kernel, {"n_clauses": 100, "n_literals": 10}),
    ],
)
def test_other_counts_that_overflow_are_an_error_with_a_way_out(
    kernel, parameters, monotone
):
    # These kernels have neither max_literals nor normalize.
    X = np.ones((2, 1500))
    X[1, 700:] = 0
    with pytest.raises(
        ValueError, match=r"exceeds float64 .* Use fewer or shorter formulas"
    ):
        kernel(X, monotone=monotone, **parameters)


@contextmanager
def suppress_overflow():
    try:
        yield
    except ValueError as error:
        if "exceeds float64" not in str(error):
            raise


@given(
    st.sampled_from([1, 5, 40, 1100]),
    st.sampled_from([disjunction_kernel, dnf_kernel, cnf_kernel]),
    st.integers(1, 40),
    st.integers(1, 40),
    st.booleans(),
    st.integers(0, 9),
)
def test_values_are_finite_and_not_negative_or_an_error(
    n_features, kernel, size, n_literals, monotone, seed
):
    X = random_rows(4, n_features, seed / 9, seed)
    parameters = dict(zip(PARAMETERS[kernel], [size, n_literals], strict=False))
    K = None
    with suppress_overflow():
        K = kernel(X, monotone=monotone, **parameters)
    if K is not None:
        assert np.isfinite(K).all()
        assert K.min() >= 0


# -- bad input ----------------------------------------------------------------------

BAD_SIZES = [(kernel, name) for kernel, names in PARAMETERS.items() for name in names]


@pytest.mark.parametrize(("kernel", "name"), BAD_SIZES)
def test_negative_sizes_are_an_error_naming_the_parameter(kernel, name):
    with pytest.raises(ValueError, match=f"{name} == -1, must be >="):
        kernel([[1, 0]], **{name: -1})


@pytest.mark.parametrize(("kernel", "name"), BAD_SIZES)
@pytest.mark.parametrize("value", [True, False, np.True_, 1.0, "2", 1.5])
def test_sizes_that_are_no_integers_are_an_error_naming_the_parameter(
    kernel, name, value
):
    with pytest.raises(TypeError, match=f"{name} must be an"):
        kernel([[1, 0]], **{name: value})


@pytest.mark.parametrize(
    ("kernel", "name"), [case for case in BAD_SIZES if case[1].startswith("n_")]
)
def test_formulas_of_nothing_are_an_error_naming_the_parameter(kernel, name):
    with pytest.raises(ValueError, match=f"{name} == 0, must be >= 1"):
        kernel([[1, 0]], **{name: 0})


@pytest.mark.parametrize("options", [{}, {"normalize": True}])
def test_an_empty_range_of_lengths_is_an_error(options):
    with pytest.raises(ValueError, match="max_literals=1 is below min_literals=2"):
        all_conjunctions([[1, 0]], min_literals=2, max_literals=1, **options)


@pytest.mark.parametrize("decay", [0, 0.0, -0.5, np.nan, np.inf])
def test_a_decay_that_is_not_positive_and_finite_is_an_error(decay):
    with pytest.raises(ValueError, match="decay must be"):
        all_conjunctions([[1, 0]], decay=decay)


@pytest.mark.parametrize("decay", ["0.5", None, 1j])
def test_a_decay_that_is_no_number_is_an_error(decay):
    with pytest.raises(TypeError, match="decay must be"):
        all_conjunctions([[1, 0]], decay=decay)


@every_kernel
def test_a_bad_threshold_is_an_error_naming_binarize(kernel):
    for bad in (-0.1, -1, np.nan, np.inf):
        with pytest.raises(ValueError, match="binarize must be"):
            kernel([[1, 0]], binarize=bad)
    with pytest.raises(TypeError, match="binarize must be"):
        kernel([[1, 0]], binarize="0")


@every_kernel
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_without_a_threshold_other_values_are_an_error(kernel, make):
    good, bad = make(np.eye(3)), make(np.diag([1.0, 1.0, 2.0]))
    for X, Y in ((bad, None), (bad, good), (good, bad)):
        with pytest.raises(ValueError, match=r"Column 2 of . holds 2\.0"):
            kernel(X, Y, binarize=None)


def test_the_table_with_other_values_is_named():
    with pytest.raises(ValueError, match=r"Column 1 of Y holds 7"):
        all_conjunctions([[1, 0]], [[1, 7]], binarize=None)


@every_kernel
def test_tables_of_different_widths_are_an_error(kernel):
    with pytest.raises(ValueError, match="X has 2 features and Y has 3"):
        kernel([[1, 0]], [[1, 0, 1]])
    with pytest.raises(ValueError, match="X has 65 features and Y has 64"):
        kernel(np.ones((2, 65)), sparse.csr_array(np.ones((2, 64))))


@every_kernel
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([1, 0], "Expected 2D array"),
        (np.empty((0, 2)), r"0 sample\(s\)"),
        (np.empty((2, 0)), r"0 feature\(s\)"),
        ([["a", "b"]], "could not convert"),
    ],
)
def test_a_bad_table_is_an_error(kernel, bad, message):
    with pytest.raises(ValueError, match=message):
        kernel(bad)
    with pytest.raises(ValueError, match=message):
        kernel([[1, 0]], bad)


@every_kernel
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_nan_and_infinity_are_errors_naming_the_table(kernel, make):
    good = make(np.eye(2))
    for value, text in ((np.nan, "NaN"), (np.inf, "infinity")):
        bad = make(np.array([[1, 0], [value, 1]]))
        with pytest.raises(ValueError, match=f"Input X contains {text}"):
            kernel(bad)
        with pytest.raises(ValueError, match=f"Input Y contains {text}"):
            kernel(good, bad)


def test_zero_jobs_are_an_error_naming_n_jobs():
    with pytest.raises(ValueError, match="n_jobs must be None"):
        all_conjunctions([[1, 0]], n_jobs=0)
