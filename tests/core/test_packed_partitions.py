"""Fits to samples in partitions are those of all samples in one place."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from _instances import MODELS, data, target_for
from joblib import parallel_config
from numpy.testing import assert_array_equal, assert_equal
from parallel_cases import Delayed, plain
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.pipeline import make_pipeline

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BooleanEnsembleClassifier,
    BooleanStump,
    BooleanSVC,
    BoostByMajority,
    ConjunctionFeatures,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    DensityImputer,
    KernelPerceptron,
    RuleClassifier,
)
from sklboolean._core import packed_partitions
from sklboolean.io import BitTable
from sklboolean.preprocessing import _quantile_sketch

dask, arrays, frames = map(
    pytest.importorskip, ("dask", "dask.array", "dask.dataframe")
)

RNG = np.random.default_rng(0)
X = 3 * RNG.random((120, 5))
Y = np.where((X[:, 0] > 1.5) & (X[:, 3] > 1.5), "yes", "no")
NUMBERS = X[:, 0] + RNG.normal(size=120)
WEIGHTS = RNG.integers(0, 3, 120) / 2
WEIGHTS[20] = 0
NAMES = [f"c{j}" for j in range(5)]
BITS = (X > 1.5).astype(np.uint8)
FRAME = pd.DataFrame(BITS, columns=NAMES).assign(y=Y, w=WEIGHTS)
LETTERS = np.where(X[:, 1] > 1, "a", "b")
MIXED = pd.DataFrame(
    {"size": X[:, 0].round(1), "kind": np.where(X[:, 1] > 1, "a", "b")}
)
KERNELS = [
    BooleanSVC(binarize=1.5, class_weight="balanced"),
    KernelPerceptron(average="voted", binarize=1.5, random_state=0),
]
LEARNERS = [
    ConjunctionLogisticRegression(
        [0.1, 1], max_literals=2, binarize=1.5, random_state=0
    ),
    ConjunctionRegressor([0.1, 1], max_literals=2, binarize=1.5, random_state=0),
    RuleClassifier(binarize=1.5, max_literals=2, random_state=0),
    BoostByMajority(BooleanStump(binarize=1.5), n_estimators=9, random_state=0),
    *KERNELS,
]
RULES = RuleClassifier("labels", max_literals=1, random_state=0)


def loaders(*data, cuts=(40, 80)):
    """List functions that load parts of the data, one after the other."""
    parts = zip(*(np.split(array, cuts) for array in data), strict=True)
    return [lambda part=part: part for part in parts]


@pytest.mark.parametrize(
    ("package", "convert"),
    [
        ("pandas", lambda package: lambda frame: frame),
        ("polars", lambda package: package.DataFrame),
        ("pyarrow", lambda package: package.Table.from_pandas),
    ],
)
def test_partitions_are_data_frames_and_tables_of_any_package(package, convert):
    convert = convert(pytest.importorskip(package))
    frame = MIXED.assign(y=Y, w=WEIGHTS)
    parts = [partial(convert, part) for part in (frame[:40], frame[40:50], frame[50:])]
    encoder = BooleanEncoder().fit(parts, "y", "w")
    expected = BooleanEncoder().fit(MIXED, Y, WEIGHTS)
    names = expected.get_feature_names_out()
    assert_array_equal(encoder.get_feature_names_out(), names)
    assert_array_equal(encoder.feature_names_in_, ["size", "kind"])


def test_an_imputer_brings_the_values_together():
    rounded = MIXED.round()  # few values make few bits
    parts = [lambda: rounded[:40], lambda: rounded[40:]]
    places = parts, rounded
    imputer, expected = (DensityImputer(random_state=0).fit(X) for X in places)
    gap = pd.DataFrame({"size": [np.nan, 1.0], "kind": ["a", None]})
    assert_array_equal(imputer.transform(gap), expected.transform(gap))


@pytest.mark.parametrize("model", LEARNERS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_any_division_gives_the_model_of_one_place(model, is_weighted):
    y = NUMBERS if is_regressor(model) else Y
    data = [X, y, WEIGHTS] if is_weighted else [X, y]
    expected = pickle.dumps(clone(model).fit(*data))
    for cuts in ([], [0, 20, 20, 21, 90]):  # empty parts, and one without weight
        found = clone(model).fit(loaders(*data, cuts=cuts))
        assert pickle.dumps(found) == expected


def test_forms_of_partitions_are_alike(tmp_path):
    expected = plain(clone(RULES).fit(BITS, Y))
    table = BitTable.write(tmp_path / "bits", [(BITS[:70], Y[:70])])
    other = sparse.csr_array(BITS[70:]), Y[70:].tolist()
    chunked = arrays.from_array(BITS, chunks=(50, 2))
    for samples in (
        [[lambda: (table, table.y), lambda: other]],
        [[Delayed((BITS[:70], Y[:70])), lambda: other]],
        [[lambda: BITS[:70], dask.delayed(other[0])], [lambda: Y[:70], lambda: Y[70:]]],
        [[dask.delayed(BITS[:70]), dask.delayed(BITS[70:])], Y],
        [chunked, arrays.from_array(Y, chunks=50)],
        [chunked[chunked.sum(axis=1) >= 0], Y],  # of unknown sizes
    ):
        assert_equal(plain(clone(RULES).fit(*samples)), expected)


def test_labels_and_weights_are_series_or_columns():
    whole = clone(RULES).fit(FRAME[NAMES], Y, WEIGHTS)
    frame = frames.from_pandas(FRAME, npartitions=4)
    for samples in (
        (frame[NAMES], frame["y"], frame["w"]),
        (frame, "y", "w"),
        (frame[[*NAMES, "w"]], frame["y"], "w"),
        (frame[NAMES], Y, WEIGHTS),
    ):
        found = clone(RULES).fit(*samples)
        assert_equal(plain(found), plain(whole))
        assert found.score(*samples) == whole.score(FRAME[NAMES], Y, WEIGHTS)


QUICK = {"averaged_perceptron", "bernoulli_mixture", "rule_classifier"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK))
        for name in sorted(MODELS.keys() - {"boolean_encoder"})
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_every_estimator_takes_collections(name):
    X, y = data()
    X, y = X.astype(bool), target_for(MODELS[name], X, y)
    frame, names = pd.DataFrame(X, columns=list("abcdefgh")), list("abcdefgh")
    divided = frames.from_pandas(frame.assign(y=y), npartitions=3)
    for here, there in (
        ((X, y), (arrays.from_array(X, (30, 4)), arrays.from_array(y, 30))),
        ((frame, y), (divided[names], divided["y"])),
    ):
        expected, found = (clone(MODELS[name]).fit(*each) for each in (here, there))
        assert_equal(plain(found), plain(expected))
        for method in packed_partitions.LAZY:
            if not hasattr(found, method) or "conjunction_features" in name:
                continue
            answers = getattr(found, method)(here[0])
            lazy = getattr(found, method)(there[0])
            computed = lazy.compute()
            assert lazy.shape[1:] == computed.shape[1:] == answers.shape[1:]
            assert answers.ndim > 1 or lazy.dtype == computed.dtype
            # Scores of parts of a matrix differ by rounding in some models.
            np.testing.assert_allclose(computed.astype(float), answers, rtol=1e-9)


@pytest.mark.parametrize("n_parts", [1, 3])
def test_pipelines_take_frames_of_mixed_columns(n_parts):
    model = make_pipeline(BooleanEncoder(), clone(RULES))
    alone = clone(model).fit(MIXED, Y)
    frame = frames.from_pandas(MIXED.assign(y=Y), npartitions=n_parts)
    empty = frame[frame["size"] > 2.5]  # in some partitions
    found = model.fit(frame[["size", "kind"]], frame["y"])
    assert_equal(plain(found[-1]), plain(alone[-1]))
    assert found.score(frame[["size", "kind"]], frame["y"]) == alone.score(MIXED, Y)
    for divided, rows in ((frame, MIXED), (empty, MIXED[MIXED["size"] > 2.5])):
        predicted = found.predict(divided[["size", "kind"]])
        expected = pd.Series(alone.predict(rows), index=rows.index)
        assert predicted.dtype == expected.dtype
        pd.testing.assert_series_equal(predicted.compute(), expected)
    parts = loaders(MIXED.to_numpy(), Y)
    clone(model).set_params(booleanencoder__sparse_output=True).fit(parts)
    listed = clone(model).fit(parts)
    assert listed[-1].rules_ == clone(model).fit(MIXED.to_numpy(), Y)[-1].rules_
    first = listed.predict(parts)[0]()[0]
    assert_array_equal(first, listed.predict(MIXED.to_numpy()[:40]))


RULES_OF_ALL = make_pipeline(BooleanEncoder(), RULES)


@pytest.mark.parametrize(
    ("model", "samples"),
    [
        (RULES_OF_ALL, MIXED),
        (RULES_OF_ALL, MIXED.to_numpy()),
        (RULES, BITS),
        (BooleanEnsembleClassifier(), MIXED),
    ],
)
def test_listed_partitions_without_samples_have_no_answers(model, samples):
    fitted = clone(model).fit(samples, Y)
    parts = [lambda: samples[:40], lambda: samples[:0], lambda: (samples[40:], Y[40:])]
    for method in ("predict", "predict_proba"):
        expected = getattr(fitted, method)(samples)
        first, none, (others, y) = (load() for load in getattr(fitted, method)(parts))
        assert none.shape == (0, *expected.shape[1:])
        assert none.dtype == first.dtype
        assert_array_equal(np.concatenate([first, none, others]), expected)
        assert_array_equal(y, Y[40:])


def test_ensembles_read_the_values():
    model = BooleanEnsembleClassifier(random_state=0)
    frame = frames.from_pandas(MIXED.assign(y=Y), npartitions=2)
    columns = frame[["size", "kind"]]
    found = clone(model).fit(columns, frame["y"])
    expected = model.fit(MIXED, Y).predict_proba(MIXED)
    assert_array_equal(found.predict_proba(columns).compute(), expected)


def test_partitions_that_are_refused_change_nothing():
    frame = pd.DataFrame(BITS, columns=NAMES)
    divided = frames.from_pandas(FRAME, npartitions=3)
    model = clone(RULES).fit(BITS, Y)
    before = dict(vars(model))
    for second, message in [
        ((frame, Y), "Partition 1: X has the column names, unlike"),
        ((BITS[:, 1:], Y), "Partition 1: X has 4 features"),
        ((BITS, Y == "yes"), "Partition 1: y holds bool, but .*one type"),
        ((BITS, Y, -WEIGHTS), r"sample_weight\[120\] is"),
        ((np.where(BITS, np.nan, 0), Y), "Partition 1: Input X contains NaN"),
        ((BITS, Y[1:]), "Partition 1: X has 120 samples, and y has 119. Divide"),
        ((BITS,), "Partition 1: Some partitions have labels"),
        ((BITS, Y, WEIGHTS, Y), "Partition 1: A partition must .* tuple of length 4"),
        ((), "Partition 1: A partition must .* tuple of length 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit([lambda: (BITS, Y), lambda second=second: second])
    other = frames.from_pandas(FRAME.sort_values("c0"), npartitions=3, sort=False)
    for X_, y, message in [
        (divided[NAMES], divided["y"].repartition(npartitions=2), "y has 2 partitions"),
        (divided[NAMES], other["y"], r"Partition \d: X and y have different indices"),
        (
            divided[NAMES],
            arrays.from_array(Y, 50),
            "X has 40 samples, and y has",
        ),
        (divided[NAMES], "z", r"Partition \d: X has no column 'z'"),
        ([lambda: BITS[:0]], Y, "All partitions are empty"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(X_, y)
    assert vars(model) == before
    with pytest.raises(ValueError, match="takes X only"):
        model.predict_proba(divided[NAMES], 1)
    encoder = BooleanEncoder().fit(frame).set_output(transform="polars")
    with pytest.raises(ValueError, match=r"became a DataFrame. Call set_output"):
        encoder.transform(divided[NAMES]).compute()
    features = ConjunctionFeatures(max_literals=1).fit(divided[NAMES])
    with pytest.raises(ValueError, match="Set sparse_output=False"):
        features.transform(divided[NAMES])
    numbers, bools = loaders(BITS.astype(float), Y)[0], loaders(BITS > 0, Y)[1]
    with pytest.raises(ValueError, match="Partition 1: Some partitions of X hold Bool"):
        AveragedPerceptron().fit([numbers, bools])


def test_bytes_are_those_of_the_cost_model_of_the_guide(monkeypatch):
    bits, returned = RNG.integers(0, 2, (1600, 100), dtype=np.uint8), []
    pack = packed_partitions.pack_partition

    def counted(*task):
        returned.append(len(pickle.dumps(pack(*task))))
        return pack(*task)

    monkeypatch.setattr(packed_partitions, "pack_partition", counted)
    parts = loaders(bits, np.where(bits[:, 0], "yes", "no"), cuts=range(100, 1600, 100))
    with parallel_config("threading", n_jobs=2):
        clone(RULES).fit(parts)
    of_sample = 8 * 2 + 1  # two words and the number of a label
    assert len(returned) == 16
    assert sum(returned) - 1600 * of_sample < 700 * 16


def test_old_method_warns_and_fits():
    parts = [(BITS[:70], Y[:70]), lambda: (BITS[70:], Y[70:], np.ones(50))]
    with pytest.warns(FutureWarning, match="fit_partitions is deprecated. Pass"):
        found = clone(RULES).fit_partitions(parts)
    assert found.rules_ == clone(RULES).fit(BITS, Y).rules_
    with pytest.raises(ValueError, match=r"by_sums=True is not .* Leave it out"):
        clone(RULES).fit_partitions(parts, by_sums=True)


def test_encoders_take_labels_that_are_divided_alike():
    frame = frames.from_pandas(MIXED.assign(y=Y), npartitions=3)
    columns, here = frame[["size", "kind"]], BooleanEncoder().fit(MIXED, Y)
    for samples in ((columns, frame["y"]), (frame, "y")):
        found = BooleanEncoder().fit(*samples)
        assert_equal(plain(found), plain(here))
    for y, message in ((Y, "y is in memory, and X is in"), ("z", "no column 'z'")):
        with pytest.raises(ValueError, match=message):
            BooleanEncoder().fit(columns, y)


def test_thresholds_of_very_many_numbers_are_those_of_one_place(monkeypatch):
    monkeypatch.setattr(_quantile_sketch, "LIMIT", 512)
    numbers = np.random.default_rng(0).normal(size=(4000, 1))
    whole = BooleanEncoder(n_bins=4).fit(numbers)
    chunks = arrays.from_array(numbers, (700, 1))
    found = BooleanEncoder(n_bins=4).fit(chunks)
    assert found.quantile_error_[0] == 0
    assert found.thresholds_[0].tolist() == whole.thresholds_[0].tolist()
    # In one pass they are quantiles up to their error.
    found = BooleanEncoder(n_bins=4).fit_partitions(chunks)
    [error] = found.quantile_error_
    assert 0 < error <= (1 + np.log2(4000 / 512)) / 512
    at_most = np.mean(numbers <= found.thresholds_[0], axis=0)
    np.testing.assert_allclose(at_most, [0.25, 0.5, 0.75], atol=error + 1 / 512)
