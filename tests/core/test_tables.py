"""What scikit-learn's checks let through: sparse tables that point outside."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklboolean import (
    AveragedPerceptron,
    BooleanStump,
    BoostByMajority,
    ConjunctionFeatures,
    ConsistentHalfspace,
    OnlineBoostByMajority,
    QueryByCommittee,
    RuleClassifier,
)
from sklboolean._core.sparse_structure import check_sparse_structure
from sklboolean._core.validation import as_boolean, check_array_strict
from sklboolean.boosting import BoostingSchedule
from sklboolean.kernels import conjunction_kernel
from sklboolean.preprocessing._enumeration import Literals

X = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]])
COMPRESSED = ["csr_array", "csr_matrix", "csc_array", "csc_matrix", "bsr_array"]
READERS = [
    conjunction_kernel,
    AveragedPerceptron().fit(X, [1, 0, 1]).predict,
    BooleanStump().fit(X, [1, 0, 1]).predict,
    ConjunctionFeatures().fit(X).transform,
]


def index_beyond(S):
    S.indices[-1] = 10**6


def index_below(S):
    S.indices[0] = -7


def wide_index(S):
    S.indices = S.indices.astype(np.int64) + 2**32


def indptr_falls(S):
    S.indptr[1] = 2**30


def indptr_below(S):
    S.indptr[1] = -5


def indptr_starts_late(S):
    S.indptr[0] = 1


def indptr_ends_late(S):
    S.indptr[-1] = 10**6


def data_is_short(S):
    S.data = S.data[:-1]


BREAKS = [
    index_beyond, index_below, wide_index, indptr_falls, indptr_below,
    indptr_starts_late, indptr_ends_late, data_is_short,
]  # fmt: skip


@pytest.mark.parametrize("kind", COMPRESSED)
@pytest.mark.parametrize("spoil", BREAKS, ids=lambda spoil: spoil.__name__)
def test_index_arrays_that_point_outside_are_refused(kind, spoil):
    S = getattr(sparse, kind)(X)
    check_sparse_structure(S, "X")
    spoil(S)
    for read in READERS:
        with pytest.raises(ValueError, match="index arrays of the sparse X do not fit"):
            read(S)


def test_lists_that_point_outside_are_refused():
    """What has no index arrays is looked at when it has become CSR."""
    S = sparse.lil_array(X)
    S.rows[0], S.data[0] = [500_000], [1.0]
    for read in READERS:
        with pytest.raises(ValueError, match="index arrays of the sparse X do not fit"):
            read(S)


@pytest.mark.parametrize("dtype", [">i4", "<i8", "u4"])
def test_index_arrays_of_any_type_are_looked_at(dtype):
    S = sparse.csr_array(X.astype(np.float64))
    S.indices = S.indices.astype(dtype)
    check_sparse_structure(S, "X")
    S.indices[0] = 3 if dtype == "u4" else -1
    with pytest.raises(ValueError, match="index arrays of the sparse X do not fit"):
        check_sparse_structure(S, "X")


@pytest.mark.parametrize("beyond", [-1, 3, 2**31 - 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_coordinates_that_point_outside_are_refused(axis, beyond):
    S = sparse.coo_array(X)
    S.coords[axis][0] = beyond
    with pytest.raises(ValueError, match="index arrays of the sparse Z do not fit"):
        check_sparse_structure(S, "Z")


@pytest.mark.parametrize("shape", [(3, 2**31), (3, 2**31 + 5), (2**31, 3)])
def test_more_than_int32_counts_is_refused(shape):
    S = sparse.coo_array((np.ones(1), ([2], [2])), shape=shape)
    with pytest.raises(ValueError, match=r"at most 2147483647 samples and features"):
        conjunction_kernel(S)
    with pytest.raises(ValueError, match="hash features"):
        AveragedPerceptron().fit(S, [0, 1, 0])


def test_more_literals_than_int32_counts_are_refused():
    with pytest.raises(ValueError, match="more literals than int32 can number"):
        Literals.build(2**30, monotone=False)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
def test_room_behind_the_last_entry_is_no_entry(kind):
    S = kind(X)
    roomy = S.copy()
    roomy.data, roomy.indices = np.append(S.data, [9, 9]), np.append(S.indices, [2, 2])
    assert len(roomy.data) == S.nnz + 2
    read = check_array_strict(roomy, accept_sparse=["csr", "csc"])
    assert type(read) is kind
    assert len(read.data) == len(read.indices) == S.nnz
    assert len(roomy.data) == S.nnz + 2
    assert np.array_equal(as_boolean(read, None).toarray(), X == 1)
    for read in READERS:
        answer, expected = read(roomy), read(S)
        if sparse.issparse(answer):
            answer, expected = answer.toarray(), expected.toarray()
        assert np.array_equal(answer, expected)


@pytest.mark.parametrize(
    "estimator",
    [
        BoostByMajority(
            DecisionTreeClassifier(max_depth=1),
            n_estimators=3,
            schedule=BoostingSchedule(gamma=0.1),
        ),
        OnlineBoostByMajority(BernoulliNB(), n_estimators=3, batch_size=20),
        QueryByCommittee(DecisionTreeClassifier(), n_members=3, max_queries=10),
        RuleClassifier(SVC()),
        ConsistentHalfspace(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_indices_of_int64_reach_no_estimator_of_scikit_learn(estimator):
    bits = np.random.default_rng(0).integers(0, 2, (40, 4))
    rows, columns = np.nonzero(bits)
    S = sparse.csr_array((bits[rows, columns], (rows, columns)), shape=bits.shape)
    assert S.indices.dtype == np.int64
    labels = bits[:, 0] | bits[:, 1]
    assert clone(estimator).fit(S, labels).score(S, labels) > 0.6
    assert S.indices.dtype == S.indptr.dtype == np.int64


def test_text_is_told_what_to_do():
    with pytest.raises(ValueError, match=r"'red'.* encode text first.* BooleanEncoder"):
        check_array_strict([["red"], ["blue"]], dtype=np.float64)
    with pytest.raises(ValueError, match="BooleanEncoder"):
        check_array_strict([["red"], ["blue"]])
    with pytest.raises(ValueError, match="Z holds a number beyond float64"):
        check_array_strict([[10**400], [1]], "Z", dtype=np.float64)


# Times


@pytest.mark.parametrize(
    "times",
    [
        pd.date_range("2020-01-01", periods=3),
        pd.date_range("2020-01-01", periods=3, tz="UTC"),
        pd.to_timedelta([1, 2, 3], unit="s"),
    ],
    ids=["dates", "dates of a zone", "durations"],
)
@pytest.mark.parametrize("other", [{}, {"rain": [0, 1, 1]}], ids=["alone", "mixed"])
def test_times_in_a_data_frame_are_no_features(times, other):
    frame = pd.DataFrame({**other, "day": times})
    with pytest.raises(ValueError, match=r"Column 'day' of X holds .* not numeric"):
        check_array_strict(frame)


def test_times_in_a_polars_frame_are_no_features():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"rain": [0, 1], "day": [1, 2]})
    assert check_array_strict(frame).tolist() == [[0, 1], [1, 2]]
    for kind in (polars.Date, polars.Datetime, polars.Duration, polars.Time):
        with pytest.raises(ValueError, match=r"Column 'day' of X holds .* not numeric"):
            check_array_strict(frame.with_columns(polars.col("day").cast(kind)))
