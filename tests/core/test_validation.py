import warnings
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier

from sklboolean import (
    AveragedPerceptron,
    BooleanEnsembleRegressor,
    ConjunctionRegressor,
)
from sklboolean._core import validation
from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import unpack_words
from sklboolean._core.labels import encode_classes, known_classes
from sklboolean._core.parameters import (
    check_binarize,
    check_choice,
    check_integer,
    check_real,
)
from sklboolean._core.validation import (
    as_boolean,
    check_boolean_array,
    validate_boolean,
)
from sklboolean.io import BitTable

# -- parameters ---------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, 3, 10**30, np.int64(5), np.uint8(7)])
def test_an_integer_is_returned_as_a_python_integer(value):
    # A numpy integer would overflow in powers and lacks bit_length.
    checked = check_integer(value, "size", 0)
    assert checked == value
    assert type(checked) is int


@pytest.mark.parametrize("value", [True, np.True_, 1.0, "1", None, Fraction(1)])
def test_what_is_no_integer_is_an_error_naming_the_parameter(value):
    with pytest.raises(TypeError, match="size must be an"):
        check_integer(value, "size", 0)


@pytest.mark.parametrize(("value", "limits"), [(-1, (0, None)), (6, (0, 5))])
def test_an_integer_out_of_range_is_an_error_naming_the_parameter(value, limits):
    with pytest.raises(ValueError, match=f"size == {value}, must be"):
        check_integer(value, "size", *limits)


@pytest.mark.parametrize(
    "value", [0.5, 1, np.float32(0.25), np.int8(1), Fraction(1, 4)]
)
def test_a_real_number_is_accepted(value):
    assert check_real(value, "rate", 0) == value


@pytest.mark.parametrize("value", ["1", None, 1j, [1.0], Decimal(1)])
def test_what_is_no_real_number_is_an_error_naming_the_parameter(value):
    with pytest.raises(TypeError, match="rate must be an instance of"):
        check_real(value, "rate")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, np.float32("nan")])
def test_nan_and_infinity_are_errors_naming_the_parameter(value):
    with pytest.raises(ValueError, match="rate must be finite"):
        check_real(value, "rate")


def test_a_real_number_too_large_for_float64_is_an_error_naming_the_parameter():
    with pytest.raises((TypeError, ValueError), match="rate"):
        check_real(10**400, "rate")


def test_a_bound_may_be_included_or_not():
    assert check_real(0.0, "rate", 0) == 0
    assert check_real(5e-324, "rate", 0, strict=True) > 0
    with pytest.raises(ValueError, match=r"rate must be at least 0; got -1e-09"):
        check_real(-1e-9, "rate", 0)
    with pytest.raises(ValueError, match=r"rate must be greater than 0; got 0\.0"):
        check_real(0.0, "rate", 0, strict=True)


def test_a_choice_is_one_of_the_choices():
    assert check_choice("mean", "average", ("mean", "voted", None)) == "mean"
    assert check_choice(None, "average", ("mean", "voted", None)) is None
    with pytest.raises(ValueError, match=r"average must be one of \['mean', 'voted'"):
        check_choice("median", "average", ("mean", "voted", None))


@pytest.mark.parametrize("binarize", [None, 0, 0.0, 0.5, 3, np.float32(1)])
def test_thresholds_from_0_on_and_none_are_accepted(binarize):
    check_binarize(binarize)


@pytest.mark.parametrize("binarize", [-1e-9, -1, np.nan, np.inf, "0", [0.0]])
def test_a_bad_threshold_is_an_error_naming_binarize(binarize):
    kind = ValueError if isinstance(binarize, float | int) else TypeError
    with pytest.raises(kind, match="binarize must be"):
        check_binarize(binarize)


# -- sparse tables ------------------------------------------------------------------

ENTRIES = [-2.0, -1.0, 0.0, 0.25, 0.5, 1.0, 3.0]
FORMATS = [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix]


@st.composite
def stored_tables(draw):
    """Rows of (column, value) in any order, a column perhaps more than once."""
    n_features = draw(st.sampled_from([1, 3, 70]))
    entry = st.tuples(st.integers(0, n_features - 1), st.sampled_from(ENTRIES))
    rows = draw(st.lists(st.lists(entry, max_size=6), min_size=1, max_size=5))
    return rows, n_features


def csr_as_stored(rows, n_features, kind=sparse.csr_array, index=np.int32):
    entries = [entry for row in rows for entry in row]
    indices = np.array([column for column, _ in entries], dtype=index)
    data = np.array([value for _, value in entries], dtype=np.float64)
    indptr = np.cumsum([0, *map(len, rows)]).astype(index)
    return kind((data, indices, indptr), shape=(len(rows), n_features))


def dense_by_definition(rows, n_features):
    """Entries of one place add up."""
    X = np.zeros((len(rows), n_features))
    for i, row in enumerate(rows):
        for column, value in row:
            X[i, column] += value
    return X


def parts(X):
    return [X.data, X.indices, X.indptr]


@given(
    stored_tables(),
    st.sampled_from([sparse.csr_array, sparse.csr_matrix]),
    st.sampled_from([np.int32, np.int64]),
    st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.5]),
)
def test_stored_entries_above_the_threshold_are_true(case, kind, index, threshold):
    X = csr_as_stored(*case, kind, index)
    before = [part.copy() for part in parts(X)]
    truth = dense_by_definition(*case) > threshold
    table, n_features = check_boolean_array(X, "X", threshold)
    assert n_features == case[1]
    assert isinstance(table, sparse.csr_array)
    assert table.has_canonical_format
    assert table.nnz == truth.sum()
    assert np.array_equal(table.toarray() != 0, truth)
    for part, old in zip(parts(X), before, strict=True):
        assert np.array_equal(part, old)
        assert part.dtype == old.dtype


@given(stored_tables(), st.sampled_from(FORMATS), st.sampled_from([0.0, 0.5, 1.0]))
def test_csc_and_csr_give_the_table_that_dense_gives(case, kind, threshold):
    X = dense_by_definition(*case)
    given = kind(X)
    before = [part.copy() for part in parts(given)]
    table, n_features = check_boolean_array(given, "X", threshold)
    words, _ = check_boolean_array(X, "X", threshold)
    assert np.array_equal(table.toarray() != 0, unpack_words(words, n_features))
    for part, old in zip(parts(given), before, strict=True):
        assert np.array_equal(part, old)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("dtype", [bool, "b", "B", "h", "i", "l", "f", "d"])
def test_stored_zeros_and_negatives_are_false(kind, dtype):
    X = kind(np.array([[1, 1, 1], [1, 1, 1]], dtype=dtype))
    X.data[1] = 0
    if np.dtype(dtype).kind in "if":
        X.data[2] = -1
    X.data.flags.writeable = False
    X.indices.flags.writeable = False
    X.indptr.flags.writeable = False
    table, _ = check_boolean_array(X, "X")
    assert np.array_equal(table.toarray() != 0, X.toarray() > 0)
    assert table.nnz == (X.data > 0).sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threshold", [0.1, np.float64(0.1), np.float32(0.1)])
def test_sparse_and_dense_compare_with_the_same_threshold(dtype, threshold):
    # float32(0.1) is above 0.1; only a comparison in float64 shows it.
    X = np.array([[0.1, 0.0, 1.0, np.nextafter(dtype(0.1), dtype(0))]], dtype=dtype)
    expected = X.astype(np.float64) > np.float64(threshold)
    words, _ = check_boolean_array(X, "X", threshold)
    table, _ = check_boolean_array(sparse.csr_array(X), "X", threshold)
    assert np.array_equal(unpack_words(words, 4), expected)
    assert np.array_equal(table.toarray() != 0, expected)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("value", [2.0, -1.0, 0.5])
def test_a_sparse_table_that_is_not_boolean_is_an_error_naming_the_column(kind, value):
    X = np.zeros((4, 9))
    X[0, 1] = X[3, 2] = 1
    X[2, 7] = value
    with pytest.raises(ValueError, match=f"Column 7 of X holds {value}, but binarize"):
        check_boolean_array(kind(X), "X", None)


def test_two_stored_ones_in_one_place_are_a_two():
    X = csr_as_stored([[(0, 1.0), (0, 1.0)]], 2)
    with pytest.raises(ValueError, match=r"Column 0 of X holds 2\.0"):
        check_boolean_array(X, "X", None)
    table, _ = check_boolean_array(X, "X", 1.5)
    assert (table.toarray() != 0).tolist() == [[True, False]]


def test_a_sparse_table_of_zeros_and_ones_needs_no_threshold():
    X = csr_as_stored([[(1, 1.0), (0, 0.0)], []], 2)
    assert (as_boolean(X, None).toarray() != 0).tolist() == [[False, True], [False] * 2]


# -- any table ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "X",
    [
        [[1, 0, 2], [0, -1, 0]],
        np.array([[1.5, 0, 2], [0, -1, -0.0]]),
        np.array([[1, 0, 2], [0, -1, 0]], dtype=object),
        np.array([[1, 0, 2], [0, -1, 0]], dtype=np.float16),
        pd.DataFrame({"a": [True, False], "b": [False, False], "c": [True, False]}),
        pd.DataFrame({"a": [1, 0], "b": [0, -1], "c": [0.5, 0.0]}),
        pd.DataFrame({"a": [1, 0], "b": [0, -1], "c": [2, 0]}).astype("Int8"),
        pl.DataFrame({"a": [True, False], "b": [False, False], "c": [True, False]}),
        sparse.coo_array(np.array([[1, 0, 2], [0, -1, 0]])),
        sparse.lil_array(np.array([[1, 0, 2], [0, -1, 0]])),
    ],
    ids=lambda X: type(X).__name__,
)
def test_every_kind_of_table_is_read(X):
    table, n_features = check_boolean_array(X, "X")
    truth = table.toarray() if sparse.issparse(table) else unpack_words(table, 3)
    assert n_features == 3
    assert (truth != 0).tolist() == [[True, False, True], [False] * 3]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1, 0], "Expected 2D array, got 1D array"),
        ([[[1, 0]]], "Found array with dim 3"),
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((3, 0)), r"0 feature\(s\)"),
        (sparse.csr_array((0, 3)), r"0 sample\(s\)"),
        ([[np.nan, 1]], "Input Z contains NaN"),
        ([[np.inf, 1]], "Input Z contains infinity"),
        (sparse.csr_array([[np.nan, 1]]), "Input Z contains NaN"),
        (sparse.csc_array([[np.inf, 1]]), "Input Z contains infinity"),
        ([["a", "b"]], "could not convert string to float"),
        (np.array([[1j]]), "Complex data not supported"),
        (pd.DataFrame({"a": [True, None]}), "Input Z contains NaN"),
    ],
)
def test_a_bad_table_is_an_error(X, message):
    with pytest.raises(ValueError, match=message):
        check_boolean_array(X, "Z")


class Learner(ClassifierMixin, BaseEstimator):
    def __init__(self, binarize=0.0):
        self.binarize = binarize


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_an_estimator_remembers_the_width_and_the_names(make):
    learner = Learner()
    X = np.array([[1, 0, 1], [0, 0, 1]])
    table = validate_boolean(learner, make(X))
    assert learner.n_features_in_ == 3
    truth = table.toarray() if sparse.issparse(table) else unpack_words(table, 3)
    assert np.array_equal(truth, X)
    with pytest.raises(
        ValueError, match="X has 2 features, but Learner is expecting 3"
    ):
        validate_boolean(learner, make(X[:, :2]), reset=False)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    validate_boolean(learner, frame)
    assert learner.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        validate_boolean(learner, frame[["b", "a", "c"]], reset=False)


def test_an_estimator_checks_labels_when_given_them():
    X = np.eye(2)
    words, y = validate_boolean(Learner(), X, ["a", "b"])
    assert words.tolist() == [[1], [2]]
    assert y.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        validate_boolean(Learner(), X, [1, 2, 3])
    # Also where a column of X is text: the labels are what is missing.
    for samples in (X, pd.DataFrame({"kind": ["a", "b"]})):
        with pytest.raises(ValueError, match=r"^Learner requires y to be passed"):
            validate_boolean(Learner(), samples, None)


def test_an_estimator_checks_its_threshold_first():
    with pytest.raises(ValueError, match="binarize must be at least"):
        validate_boolean(Learner(binarize=-1.0), [[np.nan]])
    with pytest.raises(ValueError, match="Column 1 of X holds 2"):
        validate_boolean(Learner(binarize=None), [[1, 2]])


# -- labels -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [
        np.array([True, False, True]), np.array([7]), np.array([-5, 3, -5], np.int8),
        np.array([255, 0, 9], np.uint8), np.array([2**64 - 1, 2**64 - 3], np.uint64),
        np.array([2**63, 5], np.uint64), np.array([-(2**63), 3 - 2**63]),
        np.array([2**63 - 1, 2**63 - 9]), np.array([-(2**63), 2**63 - 1]),
        np.array([0, 2**16]), np.array([2**16 + 1, 0, 2**16 + 1]),
    ],
)  # fmt: skip
def test_integers_are_counted_as_they_are_sorted(y):
    classes, codes = encode_classes(y, min_classes=1)
    wanted, places = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, wanted)
    assert classes.dtype == y.dtype
    np.testing.assert_array_equal(codes, places)


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes"],
        [-1, 1],
        [False, True],
        [0.0, 1.0],
        [2, 5, 9],
        ["a", "b", "c"],
        np.array(["x", "long name"], dtype=object),
    ],
)
def test_codes_are_positions_among_the_sorted_classes(labels):
    y = np.array([labels[i % len(labels)] for i in [1, 0, 0, 2, 1]])
    classes, codes = encode_classes(y)
    assert classes.tolist() == sorted(set(y.tolist()))
    assert [classes[code] for code in codes] == y.tolist()
    again, codes_again = encode_classes(y[:1], classes)
    assert again is classes
    assert codes_again.tolist() == codes[:1].tolist()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([0.5, 1.5, 2.5]), "Unknown label type: y is continuous"),
        (np.array([[0, 1], [1, 0]]), "Unknown label type: y is multilabel-indicator"),
        (np.array([[0, 1], [1, 2]]), "Unknown label type: y is multiclass-multioutput"),
        (np.array([1, 1, 1]), "only one class"),
        (np.array(["a"]), "only one class"),
    ],
)
def test_labels_that_are_no_classes_are_an_error(y, message):
    with pytest.raises(ValueError, match=message):
        encode_classes(y)


@pytest.mark.parametrize(
    ("classes", "label"),
    [([1, 3, 5], 0), ([1, 3, 5], 2), ([1, 3, 5], 9), (["a", "c"], "b"), (["a"], "z")],
)
def test_a_label_outside_the_known_classes_is_an_error_naming_it(classes, label):
    y = np.array([classes[0], label])
    with pytest.raises(
        ValueError, match=f"y holds the label .*{label}.*, which is not"
    ):
        encode_classes(y, np.array(classes))


def test_strings_among_known_numbers_are_an_error():
    with pytest.raises((TypeError, ValueError), match=r"y holds the label .*a"):
        encode_classes(np.array(["a", "b"]), np.array([0, 1]))


def test_the_first_call_fixes_the_classes():
    learner = Learner()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        known_classes(learner, None)
    with pytest.raises(ValueError, match="only one class"):
        known_classes(learner, ["a", "a"])
    learner.classes_ = known_classes(learner, ["b", "a", "b"])
    assert learner.classes_.tolist() == ["a", "b"]
    assert known_classes(learner, None) is learner.classes_
    assert known_classes(learner, ["b", "a"]) is learner.classes_
    with pytest.raises(ValueError, match="is not the same as in the first call"):
        known_classes(learner, ["a", "c"])


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failed_fit_leaves_the_estimator_as_it_was(error):
    learner = Learner()
    learner.kept_ = kept = [1]

    def fail():
        with restore_on_error(learner):
            learner.kept_, learner.new_, learner.binarize = [2], 3, 0.5
            raise error

    with pytest.raises(error):
        fail()
    assert vars(learner) == {"binarize": 0.0, "kept_": [1]}
    assert learner.kept_ is kept
    with restore_on_error(learner):
        learner.new_ = 3
    assert learner.new_ == 3


ARRAYS = {
    "bool": np.ones((2, 3), bool),
    "uint8": np.ones((2, 3), np.uint8),
    "float32": np.ones((2, 3), np.float32),
    "float16": np.ones((2, 3), np.float16),
    "big-endian": np.ones((2, 3), ">f8"),
    "columns first": np.asfortranarray(np.eye(3)),
    "read-only": np.broadcast_to(1.0, (2, 3)),
    "sum overflows": np.full((2, 3), 1e308),
    "signs of infinity": np.array([[np.inf, -np.inf, 0.0]]),
    "NaN": np.array([[0.0, np.nan, 1.0]]),
    "empty": np.empty((0, 3)),
    "too wide": np.ones((2, 4)),
    "one dimension": np.ones(3),
    "complex": np.ones((2, 3), complex),
    "objects": np.ones((2, 3), object),
    "text": np.array([["a", "b", "c"]]),
    "subclass": np.ones((2, 3)).view(np.recarray),
}
OPTIONS = [
    {"dtype": validation.KEPT_DTYPES, "accept_sparse": ["csr", "csc"]},
    {"dtype": np.float64, "order": "C"},
    {"dtype": np.float64, "ensure_all_finite": "allow-nan"},
    {"dtype": None, "ensure_all_finite": "allow-nan"},
    {"dtype": "numeric"},
]


LABELS = {
    "integers": np.array([0, 1]),
    "bool": np.array([True, False]),
    "short": np.array([0, 1], np.uint8),
    "floats": np.array([0.0, 1.0]),
    "NaN": np.array([0.0, np.nan]),
    "text": np.array(["a", "b"]),
    "list": [0, 1],
    "column": np.array([[0], [1]]),
    "one": np.array([0]),
    "three": np.array([0, 1, 1]),
    "none": None,
}


def outcome(name, fitted_names, y="no_validation", **options):
    """What the check returns, warns of, and leaves on the estimator."""
    estimator = DummyClassifier().fit(np.ones((2, 3)), [0, 1])
    if fitted_names:
        estimator.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            data = validation.validate_data_strict(
                estimator, ARRAYS[name], y, **options
            )
    except (TypeError, ValueError) as error:
        return repr(error), [], {}
    left = {k: v for k, v in vars(estimator).items() if k.endswith("_in_")}
    return data, [str(warning.message) for warning in caught], left


def assert_same_outcome(quick, full):
    assert quick[1] == full[1]
    assert str(quick[2]) == str(full[2])
    parts = [quick[0], full[0]]
    if not isinstance(full[0], tuple):
        parts = [(part,) for part in parts]
    for one, other in zip(*parts, strict=True):
        assert type(one) is type(other)
        if isinstance(other, str):
            assert one == other
        else:
            assert one.dtype == other.dtype
            assert one.flags.c_contiguous or not other.flags.c_contiguous
            np.testing.assert_array_equal(one, other)


def assert_quick_is_full(monkeypatch, *args, **options):
    """Compare the two ways where the quick one is taken; elsewhere there is one."""
    plain, taken = validation._plain_data, []

    def spy(*args, **options):
        data = plain(*args, **options)
        taken.append(data is not None)
        return data

    with monkeypatch.context() as patch:
        patch.setattr(validation, "_plain_data", spy)
        quick = outcome(*args, **options)
        if any(taken):
            patch.setattr(validation, "_plain_data", lambda *_, **__: None)
            assert_same_outcome(quick, outcome(*args, **options))


@pytest.mark.parametrize("name", ARRAYS)
def test_the_quick_way_changes_nothing(name, monkeypatch):
    """Data that are passed on unchanged are those that the full check returns."""
    for options, has_names, reset in product(OPTIONS, (False, True), (False, True)):
        assert_quick_is_full(monkeypatch, name, has_names, reset=reset, **options)


@pytest.mark.parametrize("labels", LABELS)
def test_the_quick_way_changes_nothing_in_a_fit(labels, monkeypatch):
    names = ["uint8", "too wide", "NaN", "empty", "text"]
    demands = [
        {}, {"y_numeric": True}, {"multi_output": True}, {"ensure_min_samples": 3}
    ]  # fmt: skip
    for name, demand, has_names in product(names, demands, (False, True)):
        options = {"y": LABELS[labels], **OPTIONS[0], **demand}
        assert_quick_is_full(monkeypatch, name, has_names, **options)


def test_the_quick_way_is_taken():
    """Plain arrays do not run scikit-learn's checks."""
    estimator = DummyClassifier().fit(np.ones((2, 3)), [0, 1])
    X, only_X = np.ones((2, 3)), "no_validation"
    wide, y = np.ones((2, 4)), np.array([0, 1])
    assert validation._plain_data(estimator, X, only_X, reset=False) is X
    assert validation._plain_data(estimator, wide, only_X, reset=False) is None
    assert validation._plain_data(estimator, wide, y) is wide
    assert estimator.n_features_in_ == 4
    assert validation._plain_data(estimator, X, np.array([0, 1, 1])) is None


def test_the_first_column_with_nan_is_named():
    X = np.zeros((3, 5))
    X[0, 3] = X[2, 1] = np.nan
    for table in (X, sparse.csr_array(X), sparse.csc_array(X)):
        with pytest.raises(ValueError, match="NaN in column 1"):
            validation.check_array_strict(table, accept_sparse=["csr", "csc"])


def nullable(dtype):
    return lambda labels: pd.Series(labels, dtype=dtype)


# Containers, by the kind of the labels that they hold.
CONTAINERS = {
    bool: [
        list, np.array, nullable("boolean"), nullable("bool[pyarrow]"),
        nullable("category"), nullable(object), pl.Series, pa.array,
        lambda labels: np.array(labels, dtype=object),
    ],
    int: [
        list, np.array, nullable("Int64"), nullable("int64[pyarrow]"),
        nullable("category"), nullable(object), pl.Series, pa.array,
        lambda labels: np.array(labels, dtype=object),
        lambda labels: [Decimal(label) for label in labels],
        lambda labels: pl.Series([Decimal(label) for label in labels]),
        lambda labels: pa.array([Decimal(label) for label in labels]),
    ],
    str: [
        list, np.array, nullable("string"), nullable("string[pyarrow]"),
        nullable("category"), pl.Series, pa.array,
        lambda labels: pa.array(labels).dictionary_encode(),
    ],
}  # fmt: skip


@given(
    st.sampled_from([
        (False, True), (0, 1), (2**53, 2**53 + 1), (-3, 7, 2**62), ("no", "yes"),
    ]),
    st.lists(st.integers(0, 2), min_size=3, max_size=6),
    st.data(),
)  # fmt: skip
def test_classes_are_the_labels_in_every_container(classes, codes, draws):
    labels = [*classes, *(classes[code % len(classes)] for code in codes)]
    X = np.eye(len(labels))
    kind = type(classes[0])
    y = draws.draw(st.sampled_from(CONTAINERS[kind]))(labels)
    model = AveragedPerceptron(random_state=0).fit(X, y)
    assert model.classes_.tolist() == list(classes)
    assert {type(label) for label in model.classes_.tolist()} == {kind}
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("kind", CONTAINERS)
def test_a_table_on_disk_has_the_same_classes(kind, tmp_path):
    labels = [kind(k) for k in [0, 1, 1, 0]]
    for contain in CONTAINERS[kind]:
        table = BitTable.write(tmp_path / "t.bits", [(np.eye(4), contain(labels))])
        assert table.classes.tolist() == sorted(set(labels))
        assert {type(label) for label in table.classes.tolist()} == {kind}


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([2**70, 2**71], "type int. Give text, Booleans, or integers of 64 bits"),
        ([True, 1], "type bool and int"),
        ([1, "1"], "type int and str"),
        ([True, None], "missing values .* in 1 of its 2 samples"),
        ([Decimal(1), None], "missing values .* in 1 of its 2 samples"),
        ([Decimal("0.5"), Decimal("1.5")], "y is continuous"),
        ([Decimal("sNaN"), Decimal(1)], "missing values .* in 1 of its 2 samples"),
        ([Decimal("Infinity"), Decimal(1)], "y contains infinity"),
    ],
)
def test_labels_that_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        AveragedPerceptron().fit(np.eye(2), np.array(y, dtype=object))


@pytest.mark.parametrize("y", [["no", "yes"], np.array(["2020", "2021"], "M8[Y]")])
@pytest.mark.parametrize("model", [ConjunctionRegressor(), BooleanEnsembleRegressor()])
def test_a_regressor_refuses_text(model, y):
    with pytest.raises(ValueError, match=r"y holds .*, but a regressor needs numbers"):
        model.fit(np.eye(2), y)
