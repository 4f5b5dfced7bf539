"""BooleanEncoder against conditions that are tried value by value."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import preprocessing as oracle
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import clone, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklboolean import (
    BooleanEncoder,
    BooleanStump,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    KernelPerceptron,
    RuleClassifier,
)
from sklboolean._core import memory
from sklboolean.preprocessing._thresholds import (
    find_cuts,
    find_monotone_cuts,
    number_text,
    shortest_between,
)
from sklboolean.rules import top_conjunctions

FINITE = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.one_of(st.sampled_from([0, 1, 2.5, -3, 1e300, 1e-300, 5e-324]), FINITE)
CONSTANT_COLUMNS = pytest.mark.filterwarnings(
    "ignore:Column.* ha(s|ve) the same value in all samples:UserWarning"
)
LEVELS = ["red", "blue", "light green", "=", ""]


@st.composite
def frames(draw, max_samples=25):
    """Columns of numbers, levels and Booleans, some of them incomplete."""
    n_samples = draw(st.integers(2, max_samples))

    def column(values, gap):
        if draw(st.booleans()):
            values = st.one_of(st.just(gap), values)
        return draw(st.lists(values, min_size=n_samples, max_size=n_samples))

    return pd.DataFrame(
        {
            "number": np.array(column(NUMBERS, np.nan), dtype=float),
            "few": np.array(column(st.sampled_from([0, 1, 2]), np.nan), dtype=float),
            "level": pd.Series(column(st.sampled_from(LEVELS), None), dtype=object),
            "yes": pd.array(column(st.booleans(), None), dtype="boolean"),
        }
    )


def cells(frame):
    """The values of each column, as Python objects with None where one is missing."""
    return {
        name: [None if pd.isna(v) else v for v in frame[name].tolist()]
        for name in frame
    }


@CONSTANT_COLUMNS
@given(frames(), st.integers(2, 6), st.booleans())
def test_each_feature_is_the_condition_that_its_name_states(frame, n_bins, complement):
    encoder, before = BooleanEncoder(n_bins=n_bins, complement=complement), frame.copy()
    features = encoder.fit_transform(frame).to_numpy()
    pd.testing.assert_frame_equal(frame, before)
    names, columns = encoder.get_feature_names_out(), cells(frame)
    assert features.dtype == bool
    assert features.shape == (len(frame), len(names))
    for j, (name, column) in enumerate(
        zip(names, encoder.feature_groups_, strict=True)
    ):
        condition = name.removeprefix(column)
        expected = [oracle.condition_holds(condition, v) for v in columns[column]]
        np.testing.assert_array_equal(features[:, j], expected, err_msg=name)
    np.testing.assert_array_equal(
        BooleanEncoder(n_bins=n_bins, complement=complement, sparse_output=True)
        .fit_transform(frame)
        .toarray(),
        features,
    )


@CONSTANT_COLUMNS
@given(frames(), st.integers(2, 6), st.booleans(), st.booleans())
def test_values_of_the_inverse_have_the_same_features(frame, n_bins, both, propagate):
    encoder = BooleanEncoder(
        n_bins=n_bins, complement=both, min_frequency=2,
        missing="propagate" if propagate else "indicator",
    )  # fmt: skip
    features = encoder.fit_transform(frame)
    values = pd.DataFrame(encoder.inverse_transform(features), columns=frame.columns)
    values = values.astype({"number": float, "few": float})
    np.testing.assert_array_equal(encoder.transform(values), features)


@CONSTANT_COLUMNS
@given(frames())
def test_missing_values_propagate(frame):
    encoder = BooleanEncoder(missing="propagate").fit(frame)
    features = encoder.transform(frame).to_numpy()
    for column in frame:
        of_column = features[:, encoder.feature_groups_ == column]
        for bits, is_missing in zip(of_column, frame[column].isna(), strict=True):
            assert np.isnan(bits).tolist() == [is_missing] * len(bits)
    names = encoder.get_feature_names_out().tolist()
    marked = BooleanEncoder().set_output(transform="pandas").fit_transform(frame)
    np.testing.assert_array_equal(np.nan_to_num(features), marked[names])


# Thresholds


@given(st.lists(st.integers(-5, 30), min_size=1, max_size=60), st.integers(2, 9))
def test_cuts_are_those_closest_to_the_quantiles(values, n_bins):
    _, counts = np.unique(values, return_counts=True)
    ends = np.append(0, np.cumsum(counts))
    cuts = ends[find_cuts(counts, n_bins)].tolist()
    assert cuts == oracle.best_cuts(values, n_bins)


@given(FINITE, FINITE)
def test_thresholds_have_the_fewest_decimals_between_two_values(one, other):
    low, high = sorted((one, other))
    if low == high:
        return
    found = shortest_between(low, high)
    assert low <= found < high
    assert float(number_text(found)) == found
    if 1e-15 < abs(high - low) and max(abs(low), abs(high)) < 1e15:
        assert found == float(f"{found:.{max(0, oracle.fewest_decimals(low, high))}f}")


def test_thresholds_are_short_and_near_the_middle():
    assert shortest_between(44, 45) == 44
    assert shortest_between(41, 62) == 50
    assert shortest_between(16.27, 16.39) == 16.3
    assert shortest_between(-2.0, 3.0) == 0
    assert shortest_between(0.1, 0.30000000000000004) == 0.2


@given(st.lists(FINITE, min_size=3, max_size=40, unique=True), st.integers(2, 8))
def test_every_training_value_stays_on_its_side(values, n_bins):
    column = np.array(values)[:, None]
    encoder = BooleanEncoder(n_bins=n_bins).fit(np.hstack([column, column]))
    ordered = np.sort(column[:, 0])
    cuts = np.searchsorted(ordered, encoder.thresholds_[0], side="right")
    assert cuts.tolist() == oracle.best_cuts(values, n_bins)


@pytest.mark.parametrize("is_classification", [False, True])
def test_thresholds_of_a_tree_are_those_of_scikit_learns_tree(is_classification):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 200, 300).astype(float)
    y = np.sin(values / 25) + 0.3 * rng.normal(size=300)
    y = (y > 0).astype(int) if is_classification else y
    encoder = BooleanEncoder(n_bins=5, strategy="tree").fit(values[:, None], y)
    tree_class = DecisionTreeClassifier if is_classification else DecisionTreeRegressor
    tree = tree_class(max_leaf_nodes=5, min_samples_leaf=5, random_state=0)
    tree.fit(values[:, None], y)
    splits = np.sort(tree.tree_.threshold[tree.tree_.feature >= 0])
    [thresholds] = encoder.thresholds_
    assert len(thresholds) == 4
    levels = np.unique(values)
    cuts, expected = (np.searchsorted(levels, t, "right") for t in (thresholds, splits))
    np.testing.assert_array_equal(cuts, expected)


@st.composite
def labelled_columns(draw):
    """Numbers with spikes, labels that depend on them, and weights or None."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_samples, n_classes = draw(st.integers(8, 120)), draw(st.integers(2, 4))
    values = np.round(rng.normal(size=n_samples) * draw(st.integers(2, 60)))
    values[rng.random(n_samples) < draw(st.sampled_from([0, 0.3]))] = 0
    y = np.searchsorted([-9, 2, 5][: n_classes - 1], values)
    y = np.where(
        rng.random(n_samples) < 0.2, rng.integers(n_classes, size=n_samples), y
    )
    y[:2] = 0, 1
    weights = rng.integers(0, 4, n_samples) if draw(st.booleans()) else None
    if weights is not None:
        weights[:2] = 1
    return values, y, weights


@given(labelled_columns())
def test_strict_cuts_shorten_the_description_of_the_labels(column):
    values, y, weights = column
    copies = (
        np.arange(len(y)) if weights is None else np.repeat(np.arange(len(y)), weights)
    )
    x, labels = values[copies], y[copies]
    encoder = BooleanEncoder(kinds={0: "number"}).fit(values[:, None], y, weights)
    [thresholds] = encoder.thresholds_
    found = np.searchsorted(np.sort(x), thresholds, side="right").tolist()
    assert found in oracle.auto_cuts(x, labels)


def test_a_tree_finds_the_threshold_that_matters():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(0, 90, 400), "noise": rng.normal(size=400)})
    encoder = BooleanEncoder(n_bins=2, strategy="tree").fit(X, X["age"] > 71)
    assert encoder.thresholds_[0].tolist() == [71]
    with pytest.raises(ValueError, match="requires y to be passed"):
        encoder.fit(X)


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_monotone_intervals_have_the_best_leave_one_out_likelihood(seed, n_bins):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 8, 50)
    y = (rng.random(50) < 0.5 + rng.uniform(-0.07, 0.07) * values).astype(int)
    best, expected = oracle.monotone_cuts(values, y, n_bins)
    sizes, seconds = np.bincount(values), np.bincount(values, y)
    cuts = find_monotone_cuts(sizes[sizes > 0], seconds[sizes > 0], n_bins)
    assert len(cuts) == len(expected)  # the fewest of equally good ones
    place = np.searchsorted(np.unique(values)[cuts], values, side="right")
    bins = [y[place == k] for k in range(len(cuts) + 1)]
    if len(cuts):
        found = sum(oracle.leave_one_out(labels, y.mean()) for labels in bins)
        np.testing.assert_allclose(found, best, rtol=1e-12)
    steps = np.diff([labels.mean() for labels in bins])
    assert (steps > 0).all() or (steps < 0).all()


def test_monotone_thresholds_of_frames():
    rng = np.random.default_rng(0)
    age = rng.integers(0, 90, 800)
    sizes = pd.CategoricalDtype(["small", "medium", "large"], ordered=True)
    X = pd.DataFrame({"age": np.where(age % 7, age, np.nan), "wave": age})
    X["size"] = pd.Categorical.from_codes(age // 31, dtype=sizes)
    share = np.where(age % 7, 0.1 + 0.4 * (age > 30) + 0.4 * (age > 60), 0.9)
    y = np.where(rng.random(800) < share, "yes", "no")
    encoder = BooleanEncoder(strategy="monotone").fit(X, y)
    assert encoder.thresholds_[0][-1] == 60  # the step at 30 is less clear
    assert "size <= medium" in encoder.get_feature_names_out()
    known = X["age"].notna()
    for column, rows in ((0, known), (1, slice(None)), (2, slice(None))):
        of_column = encoder.feature_groups_ == X.columns[column]
        below = encoder.transform(X).loc[rows, of_column]
        below = below.loc[:, [" <= " in name for name in below]].sum(axis=1)
        steps = np.diff((pd.Series(y)[rows] == "yes").groupby(below).mean())
        assert (steps > 0).all() or (steps < 0).all()
    for wrong, found in (([1, 2, 3] * 266 + [1, 2], "3 classes"), (age / 7, "real")):
        with pytest.raises(ValueError, match=f"of two classes, but y holds {found}"):
            encoder.fit(X, wrong)
    with pytest.raises(ValueError, match="strategy='monotone' requires y"):
        encoder.fit(X)
    with pytest.raises(ValueError, match=r"n_samples = 8 .*='monotone' finds no"):
        encoder.fit(X[["wave"]][:8], y[:8])


def test_thresholds_can_be_given():
    X = pd.DataFrame({"age": [0.0, 1, 0, 1], "size": [1, 2, 3, 4]})
    encoder = BooleanEncoder(thresholds={"age": [65, 18.50]}, complement=False).fit(X)
    assert encoder.get_feature_names_out().tolist() == [
        "age <= 18.5", "age <= 65", "size <= 1", "size <= 2", "size <= 3",
    ]  # fmt: skip
    assert encoder.order_.tolist() == [0, 1, 0, 1, 2]
    assert encoder.feature_groups_.tolist() == ["age"] * 2 + ["size"] * 3


# Levels


@CONSTANT_COLUMNS
@pytest.mark.filterwarnings("ignore:.*not among its levels in fit:UserWarning")
@given(
    st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=40),
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8),
    st.one_of(st.none(), st.integers(1, 6), st.sampled_from([0.1, 0.25])),
    st.one_of(st.none(), st.integers(1, 6)),
    st.sampled_from(["ignore", "infrequent_if_exist"]),
)
def test_levels_are_those_of_one_hot_encoder(train, test, least, most, unknown):
    options = {
        "min_frequency": least, "max_categories": most, "handle_unknown": unknown,
    }  # fmt: skip
    train, test = ({"c": np.array(each, dtype=object)} for each in (train, test))
    train, test = pd.DataFrame(train), pd.DataFrame(test)
    counts = train["c"].value_counts()
    limit = 1 if least is None else least
    limit = limit * len(train) if isinstance(limit, float) else limit
    if len(counts) == most and counts.min() >= limit:
        options["max_categories"] = None  # see Notes
    encoder = BooleanEncoder(**options).fit(train)
    if unknown == "ignore":
        # There an unknown level is false only without a column for rare levels.
        test = test[test["c"].isin(train["c"])]
    peer = OneHotEncoder(**options, sparse_output=False).fit(train)
    names = [
        "c is rare" if name == "c_infrequent_sklearn" else f"c = {name[2:]}"
        for name in peer.get_feature_names_out()
    ]
    assert encoder.get_feature_names_out().tolist() == names
    for X in (train, test):
        if len(X):
            np.testing.assert_array_equal(encoder.transform(X), peer.transform(X))


def test_unknown_levels():
    train = pd.DataFrame({"c": list("aabbc")})
    test = pd.DataFrame({"c": ["z", None]})
    encoder = BooleanEncoder(min_frequency=2).fit(train)
    with pytest.warns(UserWarning, match="'c' of X") as caught:
        assert not encoder.transform(test).to_numpy().any()
    said = sorted(str(warning.message) for warning in caught)
    assert len(said) == 1
    assert "'c' of X holds 'z' in 1 of 2 samples" in said[0]
    encoder.transform(test)  # each is said once
    encoder.set_params(handle_unknown="infrequent_if_exist").fit(train)
    rare = [[False, False, True], [False] * 3]
    assert encoder.transform(test).to_numpy().tolist() == rare
    encoder.set_params(handle_unknown="error").fit(train)
    with pytest.raises(ValueError, match=r"'c' of X holds 'z'.*handle_unknown"):
        encoder.transform(test[:1])
    with pytest.raises(ValueError, match="'c' of X is missing in sample 1"):
        encoder.transform(pd.DataFrame({"c": ["a", None]}))


DATES = [f"2024-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            [*map(str, range(40)), "n/a"],
            "'since' of X holds numbers as text except .*n/a",
        ),
        ([f"{i},5" for i in range(11)], "'since' of X holds numbers as text, so each"),
        ([*range(20), "n/a"], "'since' of X holds numbers as text except"),
        ([f"{i}%" for i in range(11)] * 50, "'since' of X holds numbers as text"),
        (DATES, "'since' of X holds dates as text.*pandas.to_datetime"),
        (
            [f"street {k}" for k in range(40)],
            "Column 'since' of X: no level has 5 samples, so identifiers",
        ),
    ],
)
def test_text_that_is_no_category_is_a_warning(values, message):
    frame = pd.DataFrame({"since": values, "flag": np.arange(len(values)) % 2})
    with pytest.warns(UserWarning, match=message):
        BooleanEncoder().fit(frame)
    if "numbers" in message:
        with pytest.warns(UserWarning, match=message):
            BooleanEncoder(max_categories=5).fit(frame)


@pytest.mark.parametrize(
    "convert", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas]
)
def test_categories_that_are_meant_are_no_warning(convert):
    names = pd.DataFrame({
        "codes": [f"{i % 40:05}" for i in range(len(DATES))],
        "streets": [f"street {i % 40}" for i in range(len(DATES))],
        "digits": [str(i % 10) for i in range(len(DATES))],
    })  # fmt: skip
    BooleanEncoder().fit(convert(names))
    dates = pd.DataFrame({"since": DATES})
    BooleanEncoder(kinds={"since": "category"}).fit(dates)


@pytest.mark.parametrize("sparse_output", [False, True])
def test_numbers_that_are_missing_for_the_first_time(sparse_output):
    train = pd.DataFrame({"fare": [1.0, 2, 3, 4], "paid": [True, False, True, True]})
    test = train.assign(fare=[1.0, np.nan, 3, 4])
    options = {"n_bins": 2, "sparse_output": sparse_output}
    encoder = BooleanEncoder(**options).fit(train)
    with pytest.warns(UserWarning, match="'fare' of X is missing in sample 1"):
        features = encoder.transform(test)
    features = features.toarray() if sparse_output else features.to_numpy()
    assert features[:, :2].tolist() == [[1, 0], [0, 0], [0, 1], [0, 1]]
    # All false would mean the largest number.
    for refusing in ({"handle_unknown": "error"}, {"complement": False}):
        encoder = BooleanEncoder(**options, **refusing).fit(train)
        with pytest.raises(ValueError, match="'fare' of X is missing in sample 1"):
            encoder.transform(test)


@pytest.mark.parametrize("bits", [[True, False, True], [1, 0, 1], [0.0, 1.0, 1.0]])
def test_a_gap_in_bits_counts_as_false_with_a_warning(bits):
    train = pd.DataFrame({"paid": bits})
    test = pd.DataFrame({"paid": [True, None, False]}, dtype=object)
    encoder = BooleanEncoder(complement=False).fit(train)
    with pytest.warns(UserWarning, match="'paid' of X is missing.*counts as false"):
        features = encoder.transform(test)
    assert features["paid"].tolist() == [True, False, False]
    with pytest.raises(ValueError, match="'paid' of X is missing in sample 1"):
        BooleanEncoder(handle_unknown="error").fit(train).transform(test)


# Containers


def mixed():
    return pd.DataFrame(
        {
            "age": [23, 35, 61, 19, 44, 50],
            "size": [0.5, None, 2.5, 1.0, 0.25, 3.0],
            "color": ["red", "blue", None, "red", "blue", "red"],
            "ill": [True, False, True, True, False, False],
        }
    )


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.convert_dtypes(),
        lambda X: X.astype(object),
        lambda X: X.astype({"color": "category", "age": "int8", "size": "float32"}),
        lambda X: X.convert_dtypes(dtype_backend="pyarrow"),
        lambda X: X.astype({"age": pd.SparseDtype(int)}),
        pl.from_pandas,
        lambda X: pl.from_pandas(X).with_columns(pl.col("color").cast(pl.Categorical)),
        lambda X: pl.from_pandas(X).with_columns(pl.col("ill").cast(pl.Int8)),
        lambda X: pa.Table.from_pandas(X),
        lambda X: pa.concat_tables(
            [pa.Table.from_pandas(X[:2]), pa.Table.from_pandas(X[2:])]
        ),
        lambda X: pa.Table.from_pandas(X.astype({"color": "category"})),
    ],
    ids=range(11),
)
def test_containers_are_alike(convert):
    encoder = BooleanEncoder(n_bins=3).fit(mixed())
    other = BooleanEncoder(n_bins=3).fit(convert(mixed()))
    names = encoder.get_feature_names_out().tolist()
    assert other.get_feature_names_out().tolist() == names
    expected = encoder.transform(mixed())
    np.testing.assert_array_equal(encoder.transform(convert(mixed())), expected)
    np.testing.assert_array_equal(other.transform(mixed()), expected)


def test_arrays_and_lists_are_read():
    X = mixed()
    expected = BooleanEncoder().fit_transform(X)
    for table in (X.to_numpy(), X.to_numpy().tolist()):
        encoder = BooleanEncoder().fit(table)
        np.testing.assert_array_equal(encoder.transform(table), expected)
        assert encoder.get_feature_names_out()[0] == "x0 <= 20"
        named = encoder.get_feature_names_out(list(X.columns)).tolist()
        assert named == BooleanEncoder().fit(X).get_feature_names_out().tolist()


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_set_output_has_the_names(container):
    encoder = BooleanEncoder().set_output(transform=container)
    frame = encoder.fit_transform(mixed())
    assert list(frame.columns) == encoder.get_feature_names_out().tolist()
    assert {str(each).lower() for each in frame.dtypes} <= {"bool", "boolean"}


@pytest.mark.parametrize("convert", [lambda X: X, pl.from_pandas, pa.Table.from_pandas])
def test_a_frame_gives_a_frame_with_the_names(convert):
    given, values = convert(mixed()), mixed().to_numpy()
    frame = BooleanEncoder().fit_transform(given)
    encoder = BooleanEncoder().fit(given)
    if isinstance(given, pa.Table):
        assert isinstance(frame, np.ndarray)
    else:
        assert type(frame) is type(given)
        assert list(frame.columns) == encoder.get_feature_names_out().tolist()
    for container, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        assert isinstance(
            clone(encoder).set_output(transform=container).fit_transform(given), kind
        )
        with config_context(transform_output=container):
            assert isinstance(encoder.transform(given), kind)
    assert isinstance(BooleanEncoder().fit_transform(values), np.ndarray)
    assert issparse(BooleanEncoder(sparse_output=True).fit_transform(given))


def test_a_pandas_frame_keeps_its_index_and_is_one_block():
    X = mixed()
    X.index = [f"sample {i}" for i in range(len(X))]
    frame = BooleanEncoder().fit_transform(X)
    assert frame.index.equals(X.index)
    assert len(frame._mgr.blocks) == 1


def test_frames_pass_through_columns_unions_folds_and_searches():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    columns = ColumnTransformer(
        [("bits", BooleanEncoder(), list(X)[:3])], remainder="passthrough"
    )
    assert isinstance(columns.fit_transform(X), np.ndarray)
    names = columns.set_output(transform="pandas").fit_transform(X).columns
    assert names[0].startswith("bits__mean radius <= ")
    pair = [("four", BooleanEncoder(n_bins=4)), ("two", BooleanEncoder(n_bins=2))]
    union = FeatureUnion(pair)
    assert union.fit_transform(X).shape == (len(X), len(union.get_feature_names_out()))
    model = make_pipeline(BooleanEncoder(), BooleanStump())
    search = GridSearchCV(model, {"booleanencoder__n_bins": [2, 4]}, cv=2).fit(X, y)
    last = search.best_estimator_[-1]
    assert last.feature_names_in_[last.feature_].startswith("worst ")


def test_kinds_are_inferred_and_may_be_set():
    X = mixed()
    assert BooleanEncoder().fit(X).kinds_ == ["number"] * 2 + ["category", "boolean"]
    encoder = BooleanEncoder(kinds={"age": "category", "ill": "number"}).fit(X)
    assert encoder.kinds_ == ["category", "number", "category", "number"]
    assert encoder.categories_[0] == (19, 23, 35, 44, 50, 61)
    assert encoder.get_feature_names_out()[0] == "age = 19"
    assert encoder.get_feature_names_out()[-2:].tolist() == ["ill <= 0", "ill > 0"]


def test_encodes_what_one_hot_encoder_and_k_bins_discretizer_encode():
    X = mixed().drop(columns="size")
    peer = ColumnTransformer(
        [
            ("age", KBinsDiscretizer(
                3, encode="ordinal", quantile_method="averaged_inverted_cdf"), ["age"]),
            ("levels", OneHotEncoder(sparse_output=False), ["color"]),
        ]
    ).fit_transform(X)  # fmt: skip
    ours = BooleanEncoder(n_bins=3).fit_transform(X).to_numpy()
    np.testing.assert_array_equal(2 - ours[:, :2].sum(axis=1), peer[:, 0])
    np.testing.assert_array_equal(ours[:, 4:7], peer[:, 1:4])


# Input that is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": 1}, "n_bins"),
        ({"strategy": "uniform"}, "strategy"),
        ({"complement": 2}, "complement"),
        ({"handle_unknown": "keep"}, "handle_unknown"),
        ({"missing": "drop"}, "missing"),
        ({"min_frequency": 0}, "min_frequency"),
        ({"min_frequency": 1.5}, "neither a fraction"),
        ({"max_categories": 0}, "max_categories"),
        ({"missing": "propagate", "sparse_output": True}, "sparse_output=False"),
        ({"kinds": ["age"]}, "kinds must be a dict"),
        ({"kinds": {"weight": "number"}}, "'weight', but the columns of X are"),
        ({"kinds": {"age": "date"}}, r"kinds\['age'\]"),
        (
            {"kinds": {"color": "number"}},
            "'color' of X holds 'red', but its kind is 'number'",
        ),
        ({"kinds": {"age": "boolean"}}, "'age' of X holds 19.*only 0 and 1"),
        ({"thresholds": {"age": [1, np.nan]}}, r"thresholds\['age'\] must be a list"),
        ({"thresholds": {"age": "many"}}, r"thresholds\['age'\] must be a list"),
        ({"thresholds": {"color": [1]}}, "'color' of X holds 'red'"),
    ],
)
def test_parameters_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        BooleanEncoder(**options).fit(mixed())


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pl.DataFrame({"a": [1]}).lazy(), r"X.collect\(\)"),
        (pd.DataFrame({"a": [[1], [2]]}), "'a' of X holds values that are neither"),
        (pl.DataFrame({"a": [[1], [2]]}), "'a' of X holds values that are neither"),
        (pa.table({"a": [[1], [2]]}), "'a' of X holds values that are neither"),
        (pd.DataFrame({"a": [1.0, np.inf]}), "infinity in column 'a'"),
        (pd.DataFrame({"a": ["1", 1.0]}), "'1' and 1.0.* written alike|written alike"),
        (pd.DataFrame({"a": [1, 2], "a <= 1": [True, False]}), "named a <= 1. Rename"),
        (pd.DataFrame({"a": [3, 3]}), "n_samples = 2.* constant"),
        (pd.DataFrame({"a": []}), "0 sample"),
        ([1, 2], "Expected 2D array"),
    ],
    ids=range(10),
)
def test_data_that_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        BooleanEncoder().fit(X)


def test_columns_that_change_their_kind_are_refused():
    encoder = BooleanEncoder(n_bins=2).fit(mixed())
    with pytest.raises(ValueError, match="'age' of X holds 'old', but it held numbers"):
        encoder.transform(mixed().assign(age="old"))
    with pytest.raises(ValueError, match=r"'color' of X holds 3.*its levels were text"):
        encoder.transform(mixed().assign(color=3))
    with pytest.raises(ValueError, match=r"'ill' of X holds 2.*'number'"):
        encoder.transform(mixed().assign(ill=2))
    with pytest.raises(ValueError, match="X has 2 features, but this encoder makes"):
        encoder.inverse_transform([[0, 1]])


def test_too_large_an_output_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "FEW_BYTES", 0)
    monkeypatch.setattr(memory, "free_bytes", lambda: 10**6)
    X = pd.DataFrame({"c": [f"level {i}" for i in range(2000)]})
    encoder = BooleanEncoder(kinds={"c": "category"}).fit(X)
    with pytest.raises(ValueError, match="sparse_output=True"):
        encoder.transform(X)
    sparse = encoder.set_params(sparse_output=True).fit_transform(X)
    assert sparse.nnz == 2000


def bounds_of(literals, names):
    """List the lower and the upper bounds of each column in a conjunction."""
    found = {}
    for feature, value in literals:
        column, relation, number = names[feature].rpartition(" <= ")
        if not relation:
            column, relation, number = names[feature].rpartition(" > ")
        is_upper = (relation == " <= ") == value
        found.setdefault(column, ([], []))[is_upper].append(float(number))
    return found


@pytest.mark.parametrize("complement", [True, False])
@pytest.mark.parametrize(
    "model",
    [
        RuleClassifier(max_literals=3, penalty=1.0, literal_cost=0.0, random_state=0),
        ConjunctionLogisticRegression(max_literals=3, C=1.0),
        ConjunctionRegressor(max_literals=3, C=1e-3),
        KernelPerceptron(max_literals=3, monotone=False, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_two_bounds_of_a_column_meet_only_in_an_interval(model, complement):
    X, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X, y = X[["age", "bmi", "s5"]], progression > 140
    y = progression if is_regressor(model) else y
    encoder = BooleanEncoder(n_bins=6, complement=complement)
    pipeline = make_pipeline(encoder, model).fit(X, y)
    names = pipeline[0].get_feature_names_out().tolist()
    last = pipeline[-1]
    if hasattr(last, "rules_"):
        conjunctions = [rule.literals for rule in last.rules_]
    elif hasattr(last, "conjunctions_"):
        conjunctions = last.conjunctions_
    else:
        conjunctions = [rule.literals for rule in top_conjunctions(pipeline, 50)]
    assert len(conjunctions) > 3
    n_intervals = 0
    for literals in conjunctions:
        for lower, upper in bounds_of(literals, names).values():
            assert max(len(lower), len(upper)) == 1
            if lower and upper:
                n_intervals += 1
                assert lower[0] < upper[0]
    assert n_intervals or not isinstance(model, ConjunctionLogisticRegression)


@pytest.mark.parametrize("value", [2, -1, 0.5, 2.0**53, 1e308])
def test_the_inverse_refuses_what_is_not_a_bit(value):
    encoder = BooleanEncoder().fit(np.arange(12.0).reshape(-1, 2))
    bits = encoder.transform(np.arange(4.0).reshape(-1, 2)).astype(float)
    bits[1, 1] = value
    name = encoder.get_feature_names_out()[1]
    with pytest.raises(ValueError, match=f"the values of '{name}' do not"):
        encoder.inverse_transform(bits)
