"""DensityImputer: what it fills in is the value that the density says is likeliest."""

import functools
import itertools
import pickle
import re
from decimal import Decimal
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklboolean import (
    AveragedPerceptron,
    BernoulliMixture,
    BooleanEncoder,
    ChowLiuTree,
    CombinationMachine,
    DensityImputer,
    DensityMixture,
)
from sklboolean.density import _density_imputer, _filling

MIXTURE = BernoulliMixture(3, random_state=0)


def weather(n_samples=120, seed=0):
    """Columns of every kind that depend on each other."""
    rng = np.random.default_rng(seed)
    rain = rng.random(n_samples) < 0.5
    return pd.DataFrame(
        {
            "sky": np.where(rain, "rain", rng.choice(["sun", "clouds"], n_samples)),
            "degrees": np.where(rain, 8, 24) + rng.integers(-3, 4, n_samples),
            "wet": rain,
            "hours": np.where(rain, 1.5, 9.5) + rng.random(n_samples),
        }
    )


def with_gaps(frame, share=0.2, seed=1):
    rng = np.random.default_rng(seed)
    return frame.convert_dtypes().mask(rng.random(frame.shape) < share)


@pytest.mark.slow
def test_dependent_values_are_restored():
    full, gaps = weather(60), with_gaps(weather(60))
    filled = DensityImputer(random_state=0).fit_transform(gaps)
    assert filled.dtypes.equals(gaps.dtypes)
    assert not filled.isna().any().any()
    known = gaps.notna()
    assert filled.where(known).equals(gaps)
    hidden = gaps["wet"].isna()
    assert (filled["wet"] == full["wet"])[hidden].mean() > 0.9
    assert (filled["degrees"] - full["degrees"])[gaps["degrees"].isna()].abs().max() < 9
    assert gaps.equals(with_gaps(weather(60)))  # unchanged


@settings(max_examples=8)
@given(st.integers(0, 1000), st.sampled_from([0.1, 0.4]))
def test_values_are_the_likeliest_by_definition(seed, share):
    """Each level is tried; a number is the mean over the intervals."""
    gaps = with_gaps(weather(40, seed), share, seed)
    imputer = DensityImputer(MIXTURE, encoder=BooleanEncoder(n_bins=3)).fit(gaps)
    density, encoder = imputer.estimators_[0], imputer.encoder_
    bits = encoder.transform(gaps).to_numpy()
    names = encoder.get_feature_names_out().tolist()
    filled = imputer.transform(gaps)
    for i, j in zip(*np.nonzero(gaps.isna().to_numpy()), strict=True):
        column, sample = gaps.columns[j], bits[i]

        def probability(name, sample=sample):
            """P(name is true | known bits), from two likelihoods."""
            both = np.tile(sample, (2, 1))
            both[:, names.index(name)] = 0, 1
            false, true = np.exp(density.score_samples(both))
            return true / (true + false)

        value = filled.loc[i, column]
        if column == "sky":
            levels = encoder.categories_[0]
            best = max(probability(f"sky = {level}") for level in levels)
            assert probability(f"sky = {value}") == pytest.approx(best, abs=1e-9)
        elif column == "wet":
            assert value == (probability("wet") >= 0.5) or probability(
                "wet"
            ) == pytest.approx(0.5)
        else:
            known = gaps[column].dropna().astype(float)
            thresholds = [-np.inf, *encoder.thresholds_[j], np.inf]
            reached, mean = 0.0, 0.0
            for low, high in itertools.pairwise(thresholds):
                below = 1.0
                if high < np.inf:
                    place = [f"{column} <= " in name for name in names].index(True)
                    place += thresholds.index(high) - 1
                    below = max(reached, probability(names[place]))
                inside = known[(known > low) & (known <= high)].mean()
                mean, reached = mean + (below - reached) * inside, below
            assert value == pytest.approx(round(mean) if column == "degrees" else mean)


@pytest.mark.parametrize(
    "convert",
    [
        pd.DataFrame,
        lambda X: X.astype({"sky": "category", "hours": "float32"}),
        lambda X: X.astype(object),
        pl.from_pandas,
        lambda X: pl.from_pandas(X).with_columns(pl.col("sky").cast(pl.Categorical)),
        lambda X: pa.Table.from_pandas(X, preserve_index=False),
        lambda X: pa.Table.from_pandas(
            X.astype({"sky": "category"}), preserve_index=False
        ),
    ],
    ids=range(7),
)
def test_frames_keep_their_types(convert):
    gaps = with_gaps(weather())
    expected = DensityImputer(MIXTURE).fit_transform(gaps)
    given = convert(gaps)
    filled = DensityImputer(MIXTURE).fit_transform(given)
    assert type(filled) is type(given)
    types = "dtypes" if hasattr(given, "dtypes") else "schema"
    assert list(getattr(filled, types)) == list(getattr(given, types))
    rows = filled if isinstance(filled, pd.DataFrame) else filled.to_pandas()
    for column in expected:
        assert rows[column].tolist() == pytest.approx(expected[column].tolist())


def customers(n_samples=60):
    """Values of every Python type, as the rows of a database."""
    rng = np.random.default_rng(0)
    richer = rng.random(n_samples) < 0.5
    return [
        {
            "vip": bool(rich ^ (u < 0.1)),
            "children": int(3 * rich + 2 * u),
            "income": float(1000 * rich + 100 * u),
            "price": Decimal(f"{5 * rich + 3 * u:.2f}"),
            "city": ("Oslo" if rich else "Rome") if u < 0.8 else "Kyiv",
            "grade": "high" if rich else "low",
        }
        for rich, u in zip(richer, rng.random(n_samples), strict=True)
    ]


CUSTOMERS = customers()
GRADES = ["low", "middle", "high"]
PACKAGES = {
    "pandas": (
        pd.DataFrame,
        lambda X: X.astype(
            {"grade": pd.CategoricalDtype(GRADES, ordered=True), "city": "category"}
            | {"children": "Int32", "vip": "boolean"}
        ),
    ),
    "polars": (
        pl.DataFrame,
        lambda X: X.with_columns(
            pl.col("grade").cast(pl.Enum(GRADES)), pl.col("city").cast(pl.Categorical),
            pl.col("children").cast(pl.Int8), pl.col("price").cast(pl.Decimal(10, 2)),
        ),
    ),
    "pyarrow": (
        pa.Table.from_pylist,
        lambda X: X.set_column(
            5, "grade", X.column("grade").cast(pa.dictionary(pa.int8(), pa.string()))
        ).set_column(1, "children", X.column("children").cast(pa.int16())),
    ),
}  # fmt: skip


@functools.cache
def imputer_of(package, is_typed):
    make, typed = PACKAGES[package]
    X = make(CUSTOMERS)
    return DensityImputer(MIXTURE).fit(typed(X) if is_typed else X)


def columns_of(X):
    """The columns of a frame, as lists of Python values."""
    if isinstance(X, pd.DataFrame):
        return {name: X[name].tolist() for name in X}
    return X.to_dict(as_series=False) if isinstance(X, pl.DataFrame) else X.to_pydict()


@given(
    st.sampled_from(list(PACKAGES)),
    st.booleans(),
    st.sampled_from(list(PACKAGES)),
    st.lists(st.tuples(st.integers(0, 59), st.integers(0, 63)), min_size=1, max_size=2),
)
def test_values_have_the_types_of_the_fit(fitted_as, is_typed, given_as, cells):
    """A batch of one or two samples says little about the types of its columns."""
    imputer = imputer_of(fitted_as, is_typed)
    names = list(CUSTOMERS[0])
    batch = [
        {
            name: None if gaps >> j & 1 else CUSTOMERS[sample][name]
            for j, name in enumerate(names)
        }
        for sample, gaps in cells
    ]
    make, _ = PACKAGES[given_as]
    filled = columns_of(imputer.transform(make(batch)))
    # The same samples behind complete ones, which show all the types.
    full = columns_of(imputer.transform(make(CUSTOMERS[:5] + batch)))
    for name in names:
        of_fit = type(CUSTOMERS[0][name])
        for value, expected in zip(filled[name], full[name][5:], strict=True):
            assert isinstance(value, of_fit) or value == of_fit(value)
            assert value == expected


@pytest.mark.parametrize("package", PACKAGES)
def test_a_column_without_values_gets_the_type_of_the_fit(package):
    make, typed = PACKAGES[package]
    imputer, complete = imputer_of(package, True), typed(make(CUSTOMERS))
    types = "schema" if package == "pyarrow" else "dtypes"
    for place, name in enumerate(CUSTOMERS[0]):
        filled = imputer.transform(make([CUSTOMERS[0] | {name: None}]))
        of_fit, now = (list(getattr(X, types))[place] for X in (complete, filled))
        if re.search("Decimal|decimal|dictionary", str(of_fit)):  # of another width
            assert str(now)[:20] == str(of_fit)[:20] or "decimal" in str(now).lower()
        else:
            assert now == of_fit
    # A category that lacks the level that is filled in.
    narrow = typed(make([CUSTOMERS[0], CUSTOMERS[1] | {"city": None}]))
    filled = imputer.transform(narrow)
    assert columns_of(filled)["city"][1] in ("Oslo", "Rome")


def test_a_gap_that_stays_is_an_error(monkeypatch):
    def make(series, cells, like):
        return pd.Series([None] * len(cells))

    name, take, _, put = _filling.FILLERS[0]
    monkeypatch.setattr(_filling, "FILLERS", ((name, take, make, put),))
    gap = pd.DataFrame([CUSTOMERS[0] | {"city": None}])
    with pytest.raises(ValueError, match=r"'city' of X cannot hold .* value is left"):
        imputer_of("pandas", False).transform(gap)


def test_the_user_s_frame_is_not_renamed_by_set_output():
    X = pd.DataFrame(np.eye(2))  # its names are no text
    imputer = DensityImputer(MIXTURE).set_output(transform="pandas")
    assert list(imputer.fit_transform(X).columns) == ["x0", "x1"]
    assert list(X.columns) == [0, 1]


def test_arrays_of_bits_and_of_objects():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.integers(0, 2, (60, 2)), 3, axis=1).astype(float)
    gaps = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    filled = DensityImputer(MIXTURE).fit_transform(gaps)
    assert filled.dtype == np.float64
    known = ~np.isnan(gaps)
    np.testing.assert_array_equal(filled[known], gaps[known])
    assert np.mean(filled == X) > 0.97
    words = np.where(np.isnan(gaps), None, np.where(X > 0, "yes", "no"))
    filled = DensityImputer(MIXTURE).fit_transform(words)
    assert np.mean(filled == np.where(X > 0, "yes", "no")) > 0.97
    rows = np.array([list(each.values()) for each in CUSTOMERS], dtype=object)
    imputer = DensityImputer(MIXTURE).fit(rows)
    for j, value in enumerate(rows[0]):
        (row,) = imputer.transform(
            np.array([*rows[:1, :j].T, [None], *rows[:1, j + 1 :].T]).T
        )
        assert type(row[j]) is type(value)


def test_stands_in_a_pipeline_and_sets_output():
    gaps, y = with_gaps(weather()), weather()["wet"]
    model = make_pipeline(
        DensityImputer(MIXTURE), BooleanEncoder(), AveragedPerceptron()
    )
    assert model.fit(gaps, y).score(gaps, y) > 0.9
    names = [name.split()[0] for name in model[:-1].get_feature_names_out()]
    assert set(names) == set(gaps.columns)
    imputer = DensityImputer(MIXTURE).set_output(transform="pandas")
    frame = imputer.fit_transform(gaps.astype(object).to_numpy())
    assert list(frame.columns) == ["x0", "x1", "x2", "x3"]


def test_new_samples_new_levels_and_pickles():
    imputer = pickle.loads(pickle.dumps(DensityImputer(MIXTURE).fit(weather())))
    new = pd.DataFrame(
        {"sky": ["snow", None], "degrees": [8, 25], "wet": [None, False],
         "hours": [np.nan, 9.0]}
    )  # fmt: skip
    with pytest.warns(UserWarning, match="'sky' of X holds 'snow' in 1 of 2 samples"):
        filled = imputer.transform(new)
    assert filled["sky"].tolist()[0] == "snow"
    assert filled["sky"].tolist()[1] in ("sun", "clouds")
    assert filled["wet"].tolist() == [True, False]


def test_any_density_and_search_may_be_given():
    gaps = with_gaps(weather())
    search = GridSearchCV(MIXTURE, {"n_components": [1, 4]}, cv=2)
    imputer = DensityImputer(search).fit(gaps)
    assert imputer.estimators_[0].n_components == 4


@pytest.mark.slow
def test_the_default_densities_have_the_groups_of_categories():
    imputer = DensityImputer(random_state=0).fit(with_gaps(weather(30)))
    mixture, *machines = imputer.estimators_
    assert isinstance(mixture, DensityMixture)
    groups = np.asarray(mixture.feature_groups)
    for machine in machines:
        assert isinstance(machine, CombinationMachine)
        np.testing.assert_array_equal(machine.feature_groups, groups)
    names = imputer.encoder_.get_feature_names_out()
    of_sky = np.array([name.startswith("sky") for name in names])
    assert len(set(groups[of_sky])) == 1
    assert len(set(groups)) == (~of_sky).sum() + 1
    few = DensityImputer(random_state=0).fit_transform(with_gaps(weather(8)))
    assert not few.isna().any().any()


@pytest.mark.slow
def test_the_default_is_not_worse_than_the_most_frequent_value():
    """Bits that say nothing of each other, and bits that do."""
    rng = np.random.default_rng(0)
    X = (rng.random((250, 12)) < rng.uniform(0.1, 0.9, 12)) * 1.0
    X[:, 6:] = np.where(rng.random((250, 6)) < 0.3, X[:, :6], X[:, 6:])
    hidden = rng.random(X.shape) < 0.2
    filled = DensityImputer(random_state=0).fit_transform(np.where(hidden, np.nan, X))
    frequent = np.tile(X.mean(axis=0) >= 0.5, (250, 1))
    assert np.mean((filled == X)[hidden]) > np.mean((frequent == X)[hidden])


@pytest.mark.slow
def test_machines_of_the_default_take_some_of_many_samples(monkeypatch):
    monkeypatch.setattr(_density_imputer, "MAX_SAMPLES", 50)
    imputer = DensityImputer(random_state=0).fit(with_gaps(weather(200)))
    assert [machine.alpha_ for machine in imputer.estimators_[1:]] == [2 / 50] * 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_number_is_the_mean_of_densities_and_a_regression_by_definition(seed):
    """The regression reads what the densities fill in, by the largest value."""
    gaps = with_gaps(weather(seed=seed), seed=seed)
    imputer = DensityImputer(random_state=0).fit(gaps)
    bits = imputer.encoder_.transform(gaps)
    names, groups = list(bits.columns), imputer.encoder_.feature_groups_
    means = np.mean([each.impute(bits.to_numpy()) for each in imputer.estimators_], 0)
    expected = {}
    for column in ("degrees", "hours"):
        places = [k for k in range(len(names)) if groups[k] == column]
        below = np.maximum.accumulate(means[:, places], axis=1)
        shares = np.diff(below, axis=1, prepend=0.0, append=1.0)
        index = gaps.columns.get_loc(column)
        values = shares @ imputer._interval_means[index]
        expected[column] = gaps[column].astype(float).fillna(pd.Series(values))
    others = [k for k in range(len(names)) if groups[k] in ("sky", "wet")]
    filled = imputer.transform(gaps)
    for column, other in (("degrees", "hours"), ("hours", "degrees")):
        known, scale = gaps[column].notna().to_numpy(), expected[column].abs().max()
        features = np.column_stack(
            [expected[other] / expected[other].abs().max(), means[:, others]]
        )
        ridge = make_pipeline(StandardScaler(), RidgeCV(np.logspace(0, 4, 9)))
        ridge.fit(features[known], expected[column][known] / scale)
        predicted = ridge.predict(features[~known]) * scale
        predicted = predicted.clip(gaps[column].min(), gaps[column].max())
        both = (predicted + expected[column][~known]) / 2
        both = both.round() if column == "degrees" else both
        assert filled[column][~known].to_list() == pytest.approx(both.to_list())


@pytest.mark.slow
def test_numbers_that_depend_on_each_other_are_closer_than_their_intervals():
    rng = np.random.default_rng(0)
    first = rng.normal(size=600)
    X = np.column_stack([first, 3 * first + 0.1 * rng.normal(size=600)])
    hidden = rng.random(X.shape) < 0.2
    hidden[hidden.all(axis=1)] = False
    gaps = np.where(hidden, np.nan, X)
    imputer = DensityImputer(random_state=0).fit(gaps)
    both = imputer.transform(gaps)
    imputer._regressions = None
    alone = imputer.transform(gaps)
    errors = [np.sqrt(np.mean((each - X)[hidden] ** 2)) for each in (both, alone)]
    assert errors[0] < 0.7 * errors[1]
    # Without anything else known, and with a value that is far away.
    far = imputer.fit(gaps).transform([[np.nan, np.nan], [1.7e308, np.nan]])
    assert np.isfinite(far).all()
    assert gaps[:, 1][~hidden[:, 1]].min() <= far[1, 1] <= np.nanmax(gaps[:, 1])


def test_means_of_numbers_near_the_largest_float():
    X = pd.DataFrame(
        {"a": [-1.5e308, 1e308, 1.7e308] * 9, "b": [True, False, True] * 9}
    )
    gaps = X.assign(a=X["a"].mask(X.index % 4 == 0))
    for imputer in (DensityImputer(MIXTURE), DensityImputer(random_state=0)):
        filled = imputer.fit(gaps).transform(gaps)
        assert filled["a"].between(-1.5e308, 1.7e308).all()


def test_models_of_0_1_0_fill_in_what_they_filled_in_then():
    """They have mixtures to average, and no means of intervals."""
    stored = Path(__file__).parents[1] / "robustness/pickles/0.1.0"
    model = joblib.load(stored / "density_imputer.joblib")["model"]
    gaps = np.full((2, model.n_features_in_), np.nan)
    assert not np.isnan(model.transform(gaps).astype(float)).any()

    gaps = with_gaps(weather())
    imputer = DensityImputer(MIXTURE).fit(gaps)
    bits = imputer.encoder_.transform(gaps).to_numpy()
    (first,) = imputer.estimators_
    imputer.estimators_ = [first, clone(first).set_params(random_state=1).fit(bits)]
    del imputer._interval_means
    filled = imputer.encoder_.transform(imputer.transform(gaps))
    means = sum(density.impute(bits) for density in imputer.estimators_) / 2
    hours = [name.startswith("hours") for name in imputer.encoder_.feature_groups_]
    medians = np.maximum.accumulate(means[:, hours], axis=1) >= 0.5
    np.testing.assert_array_equal(filled.to_numpy()[:, hours], medians)


def test_numbers_between_thresholds_without_values():
    X = pd.DataFrame({"a": [0.0, 1, 9, 10] * 5, "b": [True, False] * 10})
    encoder = BooleanEncoder(thresholds={"a": [0.5, 4, 6]})
    imputer = DensityImputer(MIXTURE, encoder=encoder).fit(X)
    value = imputer.transform(pd.DataFrame({"a": [np.nan], "b": [None]}))["a"][0]
    assert 4 < value < 6


@pytest.mark.parametrize(
    ("imputer", "X", "message"),
    [
        (DensityImputer(LogisticRegression()), [[1.0, 2]], "method impute.*Logistic"),
        (DensityImputer(), pd.DataFrame({"a": [1, 2], "b": [None, None]}), "'b' of X "),
        (DensityImputer(), [[np.inf], [1.0]], "infinity in column 0"),
    ],
)
def test_input_that_is_refused(imputer, X, message):
    with pytest.raises(ValueError, match=message):
        imputer.fit(X)


def test_categories_become_groups_of_the_estimator():
    rng = np.random.default_rng(0)
    color = rng.choice(["red", "green", "blue"], 200)
    shape = np.where(rng.random(200) < 0.9, color, rng.choice(["red", "blue"], 200))
    table = pd.DataFrame({"color": color, "shape": shape, "size": rng.random(200)})
    gaps = table.mask(rng.random(table.shape) < 0.2)
    imputer = DensityImputer(ChowLiuTree()).fit(gaps)
    (tree,) = imputer.estimators_
    groups = np.asarray(tree.feature_groups)
    labels, counts = np.unique(groups, return_counts=True)
    assert sorted(counts[counts > 1]) == [3, 3]
    filled = imputer.transform(gaps)
    means = tree.impute(np.full((1, len(groups)), np.nan))[0]
    for label in labels[counts > 1]:
        assert means[groups == label].sum() == pytest.approx(1)
    erased = gaps.isna().to_numpy()
    assert not filled.isna().to_numpy().any()
    assert (filled.to_numpy()[~erased] == table.to_numpy()[~erased]).all()
