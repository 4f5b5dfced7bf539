"""One row, read by its values, against the columns of a frame."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklboolean import AveragedPerceptron, BooleanEncoder

ORDERED = pd.CategoricalDtype(["low", "mid", "top"], ordered=True)
TRAIN = pd.DataFrame(
    {
        "n": [0.5, 1.5, None, 3.5, 4.0, 9.0],
        "big": [2**60, 2**60 + 1, 2**60 + 2, 7, 8, 9],
        "c": ["red", "blue", None, "red", "red", "green"],
        "code": [1, 2, 3, 1, 2, 3],
        "flag": [True, False, True, False, True, False],
        "bit": [0, 1, 0, 1, 0, 1],
        "grade": pd.Series(["low", "mid", "top", None, "low", "mid"], dtype=ORDERED),
    }
)
VALUES = st.one_of(
    st.sampled_from(
        [*(v for column in TRAIN for v in TRAIN[column]), pd.NA, None, b"red", "1", -1]
    ),
    st.integers(-(2**64), 2**64), st.floats(), st.booleans(), st.text(max_size=2),
    st.lists(st.integers(), max_size=1),
    st.sampled_from([np.float32(0.1), np.int8(1), np.int64(2**60 + 1), np.str_("red")]),
    st.sampled_from([np.timedelta64(1, "ns"), "new", 3]),
    st.decimals(), st.dates(), st.datetimes(), st.timedeltas(), st.complex_numbers(),
    st.just(np.float64(2)),
)  # fmt: skip


def encoders():
    kinds = {"code": "category"}
    yield BooleanEncoder(kinds=kinds)
    yield BooleanEncoder(kinds=kinds, complement=False, sparse_output=True)
    yield BooleanEncoder(kinds=kinds, missing="propagate")
    yield BooleanEncoder(kinds=kinds, min_frequency=2, handle_unknown="error")
    yield BooleanEncoder(
        kinds=kinds, min_frequency=2, handle_unknown="infrequent_if_exist"
    )


FITTED = [encoder.fit(TRAIN) for encoder in encoders()]


def outcome(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            features = function(*args)
        except ValueError:
            return None
    features = features.toarray() if hasattr(features, "toarray") else features
    return np.asarray(features)


@pytest.mark.parametrize("encoder", FITTED, ids=repr)
def test_rows_of_the_frame_one_by_one(encoder):
    expected = outcome(encoder.transform, TRAIN)
    for k, features in enumerate(expected):
        row = TRAIN.iloc[k]
        sample = TRAIN.iloc[[k]]
        for given_row in (row, row.tolist(), row.to_dict() | {"id": 3}, tuple(row)):
            found = encoder.encode_one(given_row)
            assert found.dtype == features.dtype
            np.testing.assert_array_equal(found, features)
        np.testing.assert_array_equal(outcome(encoder.transform, sample)[0], features)
        if not encoder.sparse_output:
            frame = encoder.transform(sample)
            assert frame.index.equals(sample.index)
            assert frame.columns.equals(encoder.transform(TRAIN).columns)


@given(
    st.sampled_from(FITTED), st.integers(0, 5), st.sampled_from([*TRAIN]), VALUES
)  # fmt: skip
def test_any_value_is_read_as_in_a_frame_of_two_rows(encoder, k, name, value):
    row = TRAIN.iloc[k].to_dict() | {name: value}
    frame = pd.DataFrame(
        {key: pd.Series([v, v], dtype=object) for key, v in row.items()}
    )
    expected = outcome(encoder.transform, frame)
    found = outcome(encoder.encode_one, row)
    alone = outcome(encoder.transform, frame[:1])
    if expected is None:
        assert found is alone is None
    else:
        np.testing.assert_array_equal(found, expected[0])
        np.testing.assert_array_equal(alone[0], expected[0])


@pytest.mark.parametrize("options", [{}, {"missing": "propagate"}], ids=repr)
@pytest.mark.parametrize(
    "convert",
    [pl.from_pandas, pa.Table.from_pandas, lambda X: X.convert_dtypes()],
    ids=["polars", "arrow", "nullable"],
)
def test_frames_of_one_row_in_every_package(options, convert):
    X = TRAIN.drop(columns="grade").assign(half=TRAIN["n"].astype(np.float32) / 3)
    X = convert(X)
    encoder = BooleanEncoder(**options).fit(X)
    expected = encoder.transform(X)
    for k in range(len(TRAIN)):
        row = X[k : k + 1] if hasattr(X, "iloc") else X.slice(k, 1)
        found = encoder.transform(row)
        assert type(found) is type(expected)
        np.testing.assert_array_equal(
            np.asarray(found), np.asarray(expected)[k : k + 1]
        )
        if hasattr(expected, "schema"):
            assert found.schema == expected.schema


@pytest.mark.parametrize("dtype", [float, object])
def test_rows_of_an_array_one_by_one(dtype):
    X = TRAIN[["n", "code", "bit"]].to_numpy(dtype=dtype)
    encoder = BooleanEncoder().fit(X)
    expected = encoder.transform(X)
    for k in range(len(X)):
        np.testing.assert_array_equal(encoder.transform(X[[k]]), expected[[k]])
    for wrong in (X[:1, :2], X[0]):
        with pytest.raises(ValueError, match=r"features|2D array"):
            encoder.transform(wrong)


def test_rows_that_are_refused():
    encoder = next(encoders()).fit(TRAIN)
    row = TRAIN.iloc[0].to_dict()
    with pytest.raises(ValueError, match="row has no value for the column 'big'"):
        encoder.encode_one({"n": 1.0})
    with pytest.raises(ValueError, match="row has 2 values, but X had 7"):
        encoder.encode_one([1, 2])
    with pytest.raises(ValueError, match="'flag' of X holds 2, but it is Boolean"):
        encoder.encode_one(row | {"flag": 2})
    with pytest.warns(UserWarning, match="'code' of X holds 99"):
        bits = encoder.encode_one(row | {"code": 99})
    assert not bits[encoder.feature_groups_ == "code"].any()
    plain = BooleanEncoder().fit([[1.0, 2], [2, 3]])
    with pytest.raises(ValueError, match="pass a list"):
        plain.encode_one({"x0": 1, "x1": 2})


@pytest.mark.parametrize("convert", [lambda X: X, pl.from_pandas])
def test_a_model_reads_a_frame_of_one_row_by_its_names(convert):
    X = BooleanEncoder(kinds={"code": "category"}).fit_transform(TRAIN)
    y = np.array([0, 1, 0, 1, 1, 0])
    model = AveragedPerceptron(random_state=0).fit(convert(X), y)
    expected = model.decision_function(convert(X))
    for k in range(len(X)):
        found = model.decision_function(convert(X.iloc[[k]]))
        assert found.tolist() == pytest.approx([expected[k]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(convert(X.iloc[[0], ::-1]))
    mixed = X.iloc[[0]].astype({X.columns[0]: float})
    found = model.decision_function(convert(mixed))
    assert found.tolist() == pytest.approx([expected[0]])
