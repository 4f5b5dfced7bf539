"""Encoders of batches and partitions against one fit, and sketches of quantiles."""

import math
import pickle
from functools import partial, reduce
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from sklearn.base import clone

from sklboolean import AveragedPerceptron, BooleanEncoder
from sklboolean.preprocessing import _quantile_sketch as sketches
from sklboolean.preprocessing._thresholds import find_cuts

RNG = np.random.default_rng(0)
ORDERED = pd.CategoricalDtype(["low", "mid", "top"], ordered=True)


def mixed(n_samples=300):
    X = pd.DataFrame(
        {
            "n": RNG.normal(size=n_samples).round(2),
            "bit": RNG.integers(0, 2, n_samples),
            "flag": RNG.random(n_samples) < 0.5,
            "c": RNG.choice(["red", "blue", "green", "rare"], n_samples),
            "grade": pd.Categorical(
                RNG.choice(["low", "top"], n_samples), dtype=ORDERED
            ),
            "id": 2**60 + RNG.integers(0, 40, n_samples),
        }
    )
    X.loc[200:, "n"] = X["n"].mask(RNG.random(n_samples) < 0.2)
    X.loc[:80, "c"] = None  # all of it in the first batches
    return X


def to_polars(X):
    grades = pl.Enum(ORDERED.categories.tolist())
    return pl.from_pandas(X).with_columns(pl.col("grade").cast(pl.String).cast(grades))


def assert_same(encoder, other):
    assert (
        encoder.get_feature_names_out().tolist()
        == other.get_feature_names_out().tolist()
    )
    assert encoder.kinds_ == other.kinds_
    assert encoder.categories_ == other.categories_
    for found, expected in zip(encoder.thresholds_, other.thresholds_, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("size", [40, 150, 300])
@pytest.mark.parametrize("convert", [lambda X: X, to_polars], ids=["pd", "pl"])
def test_batches_and_partitions_give_the_encoder_of_one_fit(size, convert):
    X = mixed()
    options = {"min_frequency": 0.1, "n_bins": 5}
    expected = BooleanEncoder(**options).fit(X)
    parts = [convert(X[k : k + size]) for k in range(0, len(X), size)]
    streamed = BooleanEncoder(**options)
    for part in parts:
        assert streamed.partial_fit(part) is streamed
    assert_same(streamed, expected)
    assert not streamed.quantile_error_.any()
    joined = BooleanEncoder(**options).fit_partitions([X[:0], *parts])
    assert_same(joined, expected)
    bits = np.asarray(expected.transform(X))
    np.testing.assert_array_equal(np.asarray(joined.transform(X)), bits)
    resumed = pickle.loads(pickle.dumps(streamed)).partial_fit(convert(X))
    assert_same(resumed, BooleanEncoder(**options).fit(pd.concat([X, X])))


def test_partitions_may_be_loaded_and_are_alike_on_every_backend():
    X = mixed()
    expected = BooleanEncoder().fit(X)
    halves = X[:150], X[150:]
    sources = [
        [(half, np.zeros(150)) for half in halves],
        [lambda half=half: half for half in halves],
        (half for half in halves),
    ]
    for partitions in sources:
        assert_same(BooleanEncoder().fit_partitions(partitions), expected)
    with parallel_config("threading", n_jobs=2):
        assert_same(BooleanEncoder().fit_partitions(halves), expected)


def test_lazy_frames_name_their_remedy():
    X = mixed()
    encoder, lazy = BooleanEncoder().fit(X), pl.from_pandas(X).lazy()
    for method in (encoder.transform, BooleanEncoder().fit):
        with pytest.raises(ValueError, match="lazy data frame"):
            method(lazy)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_partitions_of_dask_are_read_and_its_frames_serve_models():
    X = mixed()
    dask, frames = map(pytest.importorskip, ("dask", "dask.dataframe"))
    encoder = BooleanEncoder().fit(X)
    delayed = [dask.delayed(half) for half in (X[:150], X[150:])]
    divided = frames.from_pandas(X, npartitions=3)
    for partitions in (delayed, divided):
        assert_same(BooleanEncoder().fit_partitions(partitions), encoder)
        assert_same(BooleanEncoder().fit(partitions), encoder)
    bits, lazy = encoder.transform(X), BooleanEncoder().fit_transform(divided)
    assert lazy.columns.tolist() == bits.columns.tolist()
    pd.testing.assert_frame_equal(lazy.compute(), bits)
    model = AveragedPerceptron(random_state=0).fit(bits, X["flag"])
    found = model.predict(frames.from_pandas(bits, npartitions=2))
    np.testing.assert_array_equal(found, model.predict(bits))


def test_batches_that_do_not_fit_are_refused_and_change_nothing():
    X = mixed()
    encoder = BooleanEncoder().partial_fit(X[:150])
    wrong = {
        "'n' of X holds 'x', but numbers in another batch": X[150:].assign(n="x"),
        "'c' of X holds '?.*numbers in another": X[150:].assign(c=1),
        "ordered levels": X[150:].assign(
            grade=pd.Categorical(["low"] * 150, ["top", "low"], ordered=True)
        ),
        "feature names": X[150:].drop(columns="n"),
        "infinity in column 'n'": X[150:].assign(n=np.inf),
    }
    for message, batch in wrong.items():
        with pytest.raises(ValueError, match=message):
            encoder.partial_fit(batch)
        with pytest.raises(
            ValueError, match=f"Partition 1: .*({message}|the data before)"
        ):
            BooleanEncoder().fit_partitions([X[:150], batch])
    encoder.partial_fit(X[150:])
    assert_same(encoder, BooleanEncoder().fit(X))
    by_numbers = BooleanEncoder(strategy="tree")
    with pytest.raises(ValueError, match="need all samples at once"):
        by_numbers.partial_fit(X, np.linspace(0, 1, len(X)))
    with pytest.raises(ValueError, match="requires y to be passed"):
        by_numbers.fit_partitions([X])
    with pytest.raises(ValueError, match="All partitions are empty"):
        BooleanEncoder().fit_partitions([X[:0]])


@pytest.mark.parametrize(
    "partitions", [mixed(9), pl.DataFrame({"a": [1]}), "a.csv", Path("a.csv"), None, 3]
)
def test_what_is_no_list_of_partitions_is_refused(partitions):
    for estimator in (BooleanEncoder(), AveragedPerceptron()):
        with pytest.raises(ValueError, match=r"must be an iterable of parti.*table as"):
            estimator.fit_partitions(partitions)
    for wrong in ("a.csv", Path("a.csv"), 3):
        with pytest.raises(ValueError, match=r"Partition 1: X is a .*callables that"):
            BooleanEncoder().fit_partitions([mixed(9), wrong])


def test_fit_keeps_no_counts_to_which_a_batch_could_be_added():
    X = mixed()
    expected = BooleanEncoder().fit(X)
    encoder = BooleanEncoder().partial_fit(X[:150]).fit(X[100:])
    with pytest.raises(AttributeError, match="has no attribute") as raised:
        encoder.partial_fit(X)
    assert "fit keeps no counts" in str(raised.value.__cause__)
    assert_same(clone(encoder).partial_fit(X), expected)
    # Partitions are a fit of their own, which later batches are added to.
    assert_same(encoder.fit_partitions([X[:150]]).partial_fit(X[150:]), expected)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([None, None], ["a", "b"]),
        ([np.nan, np.nan], ["a", "b"]),
        ([np.nan, np.nan], pd.Categorical(["a", "b"], ordered=True)),
        ([np.nan, np.nan], [True, False]),
        ([None, None], [0.5, 1.5]),
        (pd.array([pd.NA, pd.NA], "boolean"), [0.5, 1.5]),
        (pd.array([pd.NA, pd.NA], "boolean"), ["a", "b"]),
    ],
)
def test_a_batch_without_a_value_tells_no_kind(first, second):
    batches = [pd.DataFrame({"a": values}) for values in (first, second)]
    # An order is lost when the batches become one frame.
    joined = [pd.Series([None, None]).astype(batches[1]["a"].dtype), batches[1]["a"]]
    if batches[1]["a"].dtype == bool:
        joined[0] = pd.Series([None, None], dtype=object)
    expected = BooleanEncoder().fit(pd.DataFrame({"a": pd.concat(joined)}))
    for parts in (batches, batches[::-1]):
        encoder = BooleanEncoder()
        for part in parts:
            encoder.partial_fit(part)
        assert_same(encoder, expected)
        assert_same(BooleanEncoder().fit_partitions(parts), expected)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.array([-1, -2]), np.array([2**63, 2**63 + 1], dtype=np.uint64)),
        (np.array([0.5, 1.5]), np.array([2**60, 2**60 + 1])),
        (np.array([0.5, 2.0**60]), np.array([2**60 + 1, 7])),
        (np.array([10**30, 10**30 + 1], object), np.array([1.0, 2.0])),
    ],
)
def test_numbers_that_floats_would_merge_are_refused_as_in_one_fit(first, second):
    batches = [pd.DataFrame({"a": values}) for values in (first, second)]
    whole = pd.concat([batch.astype(object) for batch in batches])
    message = "'a' of X holds .*a float cannot tell apart"
    for parts in (batches, batches[::-1]):
        with pytest.raises(ValueError, match=message):
            BooleanEncoder().fit_partitions(parts)
    with pytest.raises(ValueError, match=message):
        BooleanEncoder().fit(whole)
    option = {"kinds": {"a": "category"}}
    expected = BooleanEncoder(**option).fit(whole)
    assert_same(BooleanEncoder(**option).fit_partitions(batches), expected)


def test_a_first_batch_may_be_constant():
    X = pd.DataFrame({"n": [1, 1, 2], "bit": [0, 0, 5]})
    encoder = BooleanEncoder().partial_fit(X[:1])
    assert encoder.transform(X[:1]).shape == (1, 2)  # Booleans, so far
    assert_same(encoder.partial_fit(X[1:]), BooleanEncoder().fit(X))
    numbers = BooleanEncoder().partial_fit(X[["n"]][:1].astype(float) + 1)
    assert numbers.transform(X[["n"]]).shape == (3, 0)


@settings(max_examples=6)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["auto", "tree", "monotone"]),
    st.lists(st.integers(1, 199), min_size=1, max_size=4, unique=True),
)
def test_labels_and_weights_give_the_same_bits_in_batches(seed, strategy, ends):
    rng = np.random.default_rng(seed)
    X = mixed(200).sample(frac=1, random_state=seed % 1000).reset_index(drop=True)
    X["skew"] = rng.lognormal(size=200) ** 2
    y = np.where((X["skew"] > 2) ^ (rng.random(200) < 0.1), "up", "down")
    weights = rng.random(200) * rng.integers(0, 4, 200)
    options = {} if strategy == "auto" else {"strategy": strategy}
    whole = BooleanEncoder(**options).fit(X, y, weights)
    data = X, y, weights
    ends = [0, *sorted(ends), 200]
    parts = [[d[a:b] for d in data] for a, b in pairwise(ends)]
    parts = [tuple(part) for part in parts if part[2].any()]
    streamed = BooleanEncoder(**options)
    for part in parts:
        streamed.partial_fit(*part)
    assert_same(streamed, whole)
    assert_same(BooleanEncoder(**options).fit_partitions(parts), whole)
    # Without the samples of weight 0.
    shown = np.flatnonzero(weights)
    fewer = X.iloc[shown], y[shown], weights[shown]
    if strategy == "auto":
        found = BooleanEncoder(**options).fit(*fewer).get_feature_names_out().tolist()
        assert found == whole.get_feature_names_out().tolist()


# Sketches


def limited(limit):
    patch = pytest.MonkeyPatch()
    patch.setattr(sketches, "LIMIT", limit)
    return patch


@given(
    st.lists(
        st.lists(st.integers(-20, 20), min_size=1, max_size=60), min_size=1, max_size=12
    ),
    st.integers(1, 6),
    st.booleans(),
)
def test_ranks_in_a_sketch_are_wrong_by_the_stated_error_at_most(batches, limit, tree):
    patch = limited(limit)
    try:
        sketch_of = sketches.QuantileSketch.of
        parts = [
            sketch_of(np.array(b, dtype=float), np.ones(len(b)))[0] for b in batches
        ]
        while len(parts) > 1:  # one after the other, or as a tree
            first, second, *rest = parts
            both = first.merge(second)
            parts = [*rest, both] if tree else [both, *rest]
        [sketch] = [part.compressed() for part in parts]
    finally:
        patch.undo()
    values = np.sort(np.concatenate(batches))
    assert sketch.counts.sum() == len(values)
    assert (np.diff(sketch.values) > 0).all()
    assert np.isin(sketch.values, values).all()
    for t in range(-21, 21):
        found = sketch.counts[sketch.values <= t].sum()
        assert abs(found - np.sum(values <= t)) <= sketch.error
    n_distinct = len(np.unique(values))
    n_exact = sketches.N_WEIGHTS * limit
    if n_distinct <= n_exact:
        assert sketch.error == 0
        assert len(sketch.values) == n_distinct
    n_weights = int(sketch.counts.max()).bit_length()
    assert len(sketch.values) <= max(n_exact, limit * n_weights)
    if len(values) > limit:
        n_levels = math.floor(math.log2(len(values) / limit)) + 1
        assert sketch.error <= n_levels * len(values) / limit


@settings(max_examples=25)
@given(
    st.lists(
        st.lists(st.integers(-90, 90), min_size=1, max_size=80), min_size=2, max_size=4
    ),
    st.integers(1, 4),
    st.sampled_from([np.float64, np.int64]),
)
def test_cuts_of_cells_are_those_of_all_samples(batches, n_intervals, dtype):
    numbers = [np.array(batch, dtype=dtype) for batch in batches]

    def counted(cells):
        parts = [
            sketches.QuantileSketch.of(batch, np.ones(len(batch)), cells=cells)[0]
            for batch in numbers
        ]
        if cells is None:
            parts = [part.compressed() for part in parts]
        return reduce(sketches.QuantileSketch.merge, parts)

    def cuts(sketch):
        """The two numbers around each cut, and both ends."""
        places = find_cuts(sketch.counts, n_intervals)
        return sketch.values[[*(places - 1), *places, 0, -1]].tolist()

    expected, patch = cuts(counted(None)), limited(4)
    try:
        first = counted(None)
        assume(first.is_large)
        first = counted(sketches.Cells.between(first.values))
        last = counted(sketches.Cells.at_quantiles(first, n_intervals))
    finally:
        patch.undo()
    assert last.error == 0
    assert cuts(last) == expected


@pytest.mark.parametrize(
    "options",
    [{}, {"n_bins": 7}, {"strategy": "tree", "n_bins": 5}, {"thresholds": {"n": [2]}}],
)
def test_partitions_of_very_many_numbers_give_the_encoder_of_one_place(options):
    rng, patch = np.random.default_rng(0), limited(300)
    X = pd.DataFrame({"n": rng.normal(size=3000), "id": rng.integers(0, 2**62, 3000)})
    X["skew"] = np.where(rng.random(3000) < 0.6, 0.0, np.exp(5 * X["n"]))
    X["few"] = rng.integers(0, 9, 3000)
    X.loc[::9, "skew"] = np.nan
    data = X, (X["n"] > 1) ^ (X["skew"] > 3), rng.random(3000)
    whole = BooleanEncoder(**options).fit(*data)
    passes, cuts = [], [0, 100, 100, 1700, 3000]

    def load(number):
        passes.append(number)
        return tuple(d[cuts[number] : cuts[number + 1]] for d in data)

    try:
        found = BooleanEncoder(**options).fit([partial(load, k) for k in range(4)])
    finally:
        patch.undo()
    assert passes == [0, 1, 2, 3] * 3
    assert_same(found, whole)
    assert not found.quantile_error_.any()


def test_partitions_that_change_between_passes_are_refused():
    patch, sizes = limited(64), iter((3000, 3000, 3000, 2999))

    def load():
        return np.random.default_rng(0).normal(size=(next(sizes), 1))

    encoder = BooleanEncoder()
    try:
        with pytest.raises(ValueError, match="held another number of samples"):
            encoder.fit([load, load])
    finally:
        patch.undo()
    assert not hasattr(encoder, "thresholds_")


@pytest.mark.parametrize("most", [1, 255, 256, 2**40, 0.5])
def test_sketches_are_stored_in_few_bytes_with_the_same_counts(most):
    counts = np.ones(1000)
    counts[::3] = most
    sketch = sketches.QuantileSketch(np.arange(1000.0), counts, 2.0, 3)
    stored = pickle.dumps(sketch)
    again = pickle.loads(stored)
    np.testing.assert_array_equal(again.counts, counts, strict=True)
    assert (again.error, again.n_rounds) == (2.0, 3)
    assert most not in (1, 255) or len(stored) < 9 * 1000 + 500


def test_thresholds_of_a_long_stream_are_quantiles_up_to_the_error():
    patch = limited(64)
    try:
        encoder = BooleanEncoder(n_bins=5)
        X = RNG.lognormal(size=(20_000, 1))
        for k in range(0, len(X), 1000):
            encoder.partial_fit(X[k : k + 1000])
    finally:
        patch.undo()
    [error] = encoder.quantile_error_
    assert 0 < error < (1 + np.log2(len(X) / 64)) / 64
    assert len(pickle.dumps(encoder)) < 60_000
    shares = (X <= encoder.thresholds_[0]).mean(axis=0)
    # A cut lies between kept values; a kept value stands for 1/64 of the samples.
    np.testing.assert_allclose(shares, [0.2, 0.4, 0.6, 0.8], atol=error + 1 / 64)


def test_arrays_of_dask_may_have_divided_columns():
    arrays = pytest.importorskip("dask.array")
    X = np.arange(24.0).reshape(6, 4)
    whole = BooleanEncoder().fit(X).get_feature_names_out()
    for chunks in ((3, 4), (3, 2)):
        found = BooleanEncoder().fit_partitions(arrays.from_array(X, chunks=chunks))
        assert found.get_feature_names_out().tolist() == whole.tolist()
