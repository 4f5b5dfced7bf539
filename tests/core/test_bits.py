import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sklboolean._core import _popcount
from sklboolean._core.bits import (
    BitColumns,
    BitRows,
    as_csr,
    as_words,
    choose_packed_features,
    count_common,
    pack_dense,
    sparse_rows,
    transpose_words,
    unpack_words,
)
from sklboolean._core.validation import as_boolean

WIDTHS = [*range(1, 18), 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 191, 192, 193, 200]
DTYPES = [bool, *"BbhHiIlL", np.float32, np.float64]
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "every third row, backwards": lambda X: np.repeat(X, 3, axis=0)[::-3],
    "transposed": lambda X: X.T.copy().T,
    "unaligned": lambda X: _unaligned(X),
}


def _unaligned(X):
    buffer = np.zeros(X.nbytes + 1, dtype=np.uint8)
    copy = buffer[1:].view(X.dtype).reshape(X.shape)
    copy[:] = X
    return copy


def words_by_definition(truth):
    """Pack rows of truth values: bit j % 64 of word j // 64 is feature j."""
    n_words = -(-truth.shape[1] // 64)
    return [
        [
            sum(int(bit) << j for j, bit in enumerate(row[64 * w : 64 * w + 64]))
            for w in range(n_words)
        ]
        for row in truth
    ]


def random_truth(n_samples, n_features, share=0.5, seed=0):
    return np.random.default_rng(seed).random((n_samples, n_features)) < share


def common_by_definition(A, B):
    return A.astype(np.int64) @ B.astype(np.int64).T


# -- dense tables -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_bit_j_of_the_words_is_feature_j(dtype):
    for n_features in WIDTHS:
        truth = random_truth(5, n_features, seed=n_features)
        truth[0], truth[1] = True, False
        words = pack_dense(truth.astype(dtype))
        assert words.dtype == np.uint64
        assert words.tolist() == words_by_definition(truth)
        assert pack_dense(truth.astype(dtype), None).tolist() == words.tolist()


def test_every_width_packs_and_unpacks():
    for n_features in range(1, 201):
        truth = random_truth(3, n_features, seed=n_features)
        for X in (truth, truth.astype(np.float64)):
            words = pack_dense(X)
            assert words.tolist() == words_by_definition(truth)
            unpacked = unpack_words(words, n_features)
            assert unpacked.dtype == np.uint8
            assert np.array_equal(unpacked, truth)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.float32, np.float64])
def test_memory_layout_does_not_matter(layout, dtype):
    X = random_truth(7, 130, seed=3).astype(dtype)
    view = LAYOUTS[layout](X)
    view.flags.writeable = False
    before = view.copy()
    expected = words_by_definition(np.asarray(view) > 0)
    assert pack_dense(view).tolist() == expected
    assert pack_dense(view, None).tolist() == expected
    assert np.array_equal(view, before)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float64])
def test_a_table_packed_in_several_blocks_is_whole(dtype):
    # pack_dense takes about 2**20 entries at a time: here two rows, then one.
    X = random_truth(3, 2**19, seed=4).astype(dtype)
    words = pack_dense(X)
    assert np.array_equal(unpack_words(words, 2**19), X)
    if dtype is not bool:
        X[2, 77] = 2
        with pytest.raises(ValueError, match=r"Column 77 of X holds 2(\.0)?, but"):
            pack_dense(X, None)


@pytest.mark.parametrize("n_samples", [0, 1])
def test_no_rows_give_no_words(n_samples):
    assert pack_dense(np.ones((n_samples, 70))).shape == (n_samples, 2)


@given(
    st.lists(
        st.sampled_from([-1.0, -0.0, 0.0, 0.25, 0.5, np.nextafter(0.5, 1), 1.0, 2.0]),
        min_size=1,
        max_size=70,
    ),
    st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.5, 2.0]),
)
def test_true_means_above_the_threshold(values, threshold):
    X = np.array([values])
    assert pack_dense(X, threshold).tolist() == words_by_definition(X > threshold)
    as_float32 = X.astype(np.float32)
    expected = words_by_definition(as_float32.astype(np.float64) > threshold)
    assert pack_dense(as_float32, threshold).tolist() == expected


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int64])
@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.0, 1.5, 2.0, 100.0, 254.0])
def test_integers_compare_with_the_threshold(dtype, threshold):
    largest = np.iinfo(dtype).max
    X = np.array([[0, 1, 2, 3, 100, 101, min(255, largest), largest]], dtype=dtype)
    expected = [[int(v) > threshold for v in X[0].tolist()]]
    assert pack_dense(X, threshold).tolist() == words_by_definition(np.array(expected))


@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.999, 1.0, 3.0])
def test_booleans_compare_with_the_threshold_as_0_and_1(threshold):
    X = np.array([[True, False, True]])
    assert pack_dense(X, threshold).tolist() == words_by_definition(X > threshold)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (np.uint8, 2),
        (np.uint8, 255),
        (np.int8, -1),
        (np.int64, 2),
        (np.int64, 2**62),
        (np.float32, 0.5),
        (np.float64, -1.0),
        (np.float64, 1 + 2**-52),
        (np.float64, 5e-324),
    ],
)
@pytest.mark.parametrize("column", [0, 63, 64, 129])
def test_without_a_threshold_other_values_are_an_error_naming_the_column(
    dtype, value, column
):
    X = random_truth(6, 130).astype(dtype)
    X[4, column] = value
    with pytest.raises(ValueError, match=f"Column {column} of X holds .*binarize=None"):
        pack_dense(X, None)


def test_the_first_offending_row_and_column_are_named():
    X = np.zeros((3, 100))
    X[1, 90], X[2, 3], X[1, 95] = 7, 8, 9
    with pytest.raises(ValueError, match=r"Column 90 of X holds 7\.0"):
        pack_dense(X, None)
    with pytest.raises(ValueError, match="Column 90 of X holds 7,"):
        pack_dense(X.astype(np.uint8), None)


# -- sparse tables ------------------------------------------------------------------


@st.composite
def layouts(draw):
    """A Boolean table, a second one of the same width, and which bit has a feature."""
    n_features = draw(st.sampled_from([1, 2, 5, 63, 64, 65, 70, 130]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    share = draw(st.sampled_from([0.0, 0.05, 0.5, 1.0]))
    sizes = draw(st.tuples(*[st.sampled_from([1, 4, 6, 33, 70])] * 2))
    A, B = (rng.random((size, n_features)) < share for size in sizes)
    n_packed = draw(st.integers(0, n_features))
    bit_of_feature = np.full(n_features, -1, dtype=np.int32)
    bit_of_feature[rng.permutation(n_features)[:n_packed]] = np.arange(n_packed)
    return A, B, bit_of_feature


@given(layouts())
def test_any_split_into_words_and_postings_counts_the_same(case):
    A, B, bit_of_feature = case
    rows = sparse_rows(sparse.csr_array(A), bit_of_feature)
    columns = BitColumns.from_rows(sparse_rows(sparse.csr_array(B), bit_of_feature))
    assert (rows.rest is None) == bool((bit_of_feature >= 0).all())
    assert np.array_equal(rows.ones, A.sum(axis=1))
    assert np.array_equal(columns.ones, B.sum(axis=1))
    assert np.array_equal(count_common(rows, columns), common_by_definition(A, B))


@given(layouts(), st.data())
def test_taking_rows_takes_their_words_and_the_rest(case, data):
    A, B, bit_of_feature = case
    rows = sparse_rows(sparse.csr_array(A), bit_of_feature)
    columns = BitColumns.from_rows(sparse_rows(sparse.csr_array(B), bit_of_feature))
    n = len(A)
    which = data.draw(
        st.one_of(
            st.lists(st.integers(0, n - 1)).map(lambda i: np.array(i, dtype=np.intp)),
            st.lists(st.booleans(), min_size=n, max_size=n).map(np.array),
            st.tuples(st.integers(0, n), st.integers(0, n)).map(lambda s: slice(*s)),
        )
    )
    taken = rows.take(which)
    assert len(taken) == len(A[which])
    assert np.array_equal(taken.ones, A[which].sum(axis=1))
    expected = common_by_definition(A[which], B)
    assert np.array_equal(count_common(taken, columns), expected)


@pytest.mark.parametrize("step", [2, -1, -3])
@pytest.mark.parametrize("n_packed", [0, 64, 70])
def test_a_slice_with_a_step_takes_those_rows(step, n_packed):
    A = random_truth(9, 70)
    bit_of_feature = np.where(np.arange(70) < n_packed, np.arange(70), -1)
    rows = sparse_rows(sparse.csr_array(A), bit_of_feature.astype(np.int32))
    counts = count_common(
        rows.take(slice(None, None, step)), BitColumns.from_rows(rows)
    )
    assert np.array_equal(counts, common_by_definition(A[::step], A))


@pytest.mark.parametrize("n_columns", [1, 31, 32, 33, 64, 256, 257])
def test_panels_hold_the_words_of_32_rows_side_by_side(n_columns):
    words = pack_dense(random_truth(n_columns, 130, seed=n_columns))
    columns = BitColumns.from_rows(BitRows.from_words(words, 130))
    padded = np.zeros((-(-n_columns // 32) * 32, 3), dtype=np.uint64)
    padded[:n_columns] = words
    assert _popcount.PANEL == 32
    assert np.array_equal(columns.panels, padded.reshape(-1, 32, 3).transpose(0, 2, 1))


@pytest.mark.parametrize(("first", "last"), [(0, 70), (0, 32), (32, 70), (64, 65)])
def test_a_part_of_the_columns_counts_like_the_whole(first, last):
    for n_packed in [0, 1, 64, 99, 100]:
        A, B = random_truth(6, 100, seed=1), random_truth(70, 100, 0.3, seed=2)
        bit_of_feature = np.where(np.arange(100) < n_packed, np.arange(100), -1)
        rows, column_rows = (
            sparse_rows(sparse.csr_array(T), bit_of_feature.astype(np.int32))
            for T in (A, B)
        )
        columns = BitColumns.from_rows(column_rows)
        expected = common_by_definition(A, B[first:last])
        for _ in range(2):  # parts may be kept
            part = columns.part(first, last)
            assert len(part) == last - first
            assert np.array_equal(count_common(rows, part), expected)


def test_all_columns_are_no_part():
    columns = BitColumns.from_rows(BitRows.from_words(pack_dense(np.eye(70)), 70))
    assert columns.part(0, 70) is columns


def test_packed_features_are_the_commonest_and_fill_words():
    for n_features in [1, 64, 65, 128, 129, 1000]:
        for top in [0.0, 0.01, 0.05, 0.3, 1.0]:
            rng = np.random.default_rng(n_features)
            frequencies = np.sort(rng.random(n_features)) ** 4 * top
            rng.shuffle(frequencies)
            bit_of_feature = choose_packed_features(frequencies)
            packed = bit_of_feature >= 0
            assert sorted(bit_of_feature[packed]) == list(range(packed.sum()))
            assert packed.all() or packed.sum() % 64 == 0
            assert frequencies[packed].min(initial=1) >= frequencies[~packed].max(
                initial=0
            )


def test_rare_features_stay_outside_the_words_and_common_ones_go_in():
    frequencies = np.repeat([0.9, 1e-4], [64, 5000])
    assert (choose_packed_features(frequencies) >= 0).sum() == 64
    # A last word that is not full is not worth a second way of counting.
    assert (choose_packed_features(frequencies[:128]) >= 0).all()


def test_64_bit_indices_count_the_same():
    A = sparse.csr_array(random_truth(9, 70, 0.1))
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    bit_of_feature = np.where(np.arange(70) < 64, np.arange(70), -1).astype(np.int32)
    rows = sparse_rows(A, bit_of_feature)
    expected = common_by_definition(A.toarray(), A.toarray())
    assert np.array_equal(count_common(rows, BitColumns.from_rows(rows)), expected)


@pytest.mark.parametrize("n_features", [1, 64, 65, 130])
def test_words_and_csr_are_two_views_of_one_table(n_features):
    truth = random_truth(8, n_features, 0.3)
    words, csr = pack_dense(truth), sparse.csr_array(truth)
    assert as_boolean(truth).tolist() == words.tolist()
    assert np.array_equal(as_words(csr), words)
    assert as_words(words) is words
    assert np.array_equal(as_csr(words, n_features).toarray(), truth)
    assert as_csr(words, n_features).nnz == truth.sum()
    assert as_csr(csr, n_features) is csr


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (63, 65), (64, 64), (130, 200)])
def test_columns_of_bits_are_the_packed_transpose(shape):
    X = np.random.default_rng(0).random(shape) < 0.3
    columns = transpose_words(pack_dense(X), shape[1])
    np.testing.assert_array_equal(unpack_words(columns, shape[0]), X.T)
