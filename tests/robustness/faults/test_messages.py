"""Errors about missing values, infinity and text: where they are, and a remedy."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _instances import (
    METHODS,
    MODELS,
    OF_CLASSES,
    data,
    ignores_labels,
    target_for,
)
from matplotlib import pyplot
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

import sklboolean
from sklboolean import (
    AveragedPerceptron,
    BernoulliMixture,
    BooleanEncoder,
    BoostByMajority,
    BoostByMajorityRegressor,
    ConjunctionFeatures,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    DensityOutlierDetector,
    OnlineBoostByMajority,
    QueryByCommittee,
    Winnow,
    inspection,
)
from sklboolean._core.validation import check_array_strict
from sklboolean.active_learning import HalfspaceVersionSpace

X, Y = data()
GAPS, BEYOND = X.astype(np.float64), X.astype(np.float64)
GAPS[[3, 5], [2, 6]] = np.nan
BEYOND[3, 2] = -np.inf
REFUSE_NAN = [n for n in OF_CLASSES if not get_tags(MODELS[n]).input_tags.allow_nan]
TAKE_SPARSE = [n for n, m in MODELS.items() if get_tags(m).input_tags.sparse]
LEARN_LABELS = [n for n in OF_CLASSES if not ignores_labels(MODELS[n])]


def named(values):
    return pd.DataFrame(values, columns=list("abcdefgh"))


@cache
def fitted_once(name, with_names):
    """The named model, fitted to samples without gaps."""
    table = named(X) if with_names else X
    return clone(MODELS[name]).fit(table, target_for(MODELS[name], X, Y))


def check_refusals(name, values, message):
    """Fit, and what answers, tell the column by its name or its number."""
    y = target_for(MODELS[name], X, Y)
    for bad, place in [
        (named(values), "column 'c'"),
        (values, "column 2"),
        *[(sparse.csr_array(values), "column 2")] * (name in TAKE_SPARSE),
    ]:
        message_here = message.format(place=place)
        model = fitted_once(name, isinstance(bad, pd.DataFrame))
        ask = next(getattr(model, m) for m in METHODS if hasattr(model, m))
        for use in (ask, lambda table, model=model: model.fit(table, y)):
            with pytest.raises(ValueError, match=message_here) as caught:
                use(bad)
            assert "HistGradientBoosting" not in str(caught.value)
            assert caught.value.__cause__ is None


@pytest.mark.parametrize("name", REFUSE_NAN)
def test_nan_has_a_column_and_two_ways_out(name):
    """Density models answer about rows with gaps, but not all learn from them."""
    if hasattr(MODELS[name], "impute"):
        with pytest.raises(ValueError, match=r"^Input X contains NaN in column 'c'\."):
            clone(MODELS[name]).fit(named(GAPS))
    else:
        message = r"^Input X contains NaN in {place}\. Encode .*BooleanEncoder.*impute"
        check_refusals(name, GAPS, message)


@pytest.mark.parametrize("name", OF_CLASSES)
def test_infinity_has_a_column_and_a_way_out(name):
    check_refusals(name, BEYOND, r"^Input X contains infinity in {place}\. .*threshold")


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"left": [1, 0], "right": [None, 1]}),
        pd.DataFrame({"left": [1, 0], "right": pd.array([None, 1], dtype="Int64")}),
        pd.DataFrame({"left": [1, 0], "right": pd.array([None, 1], dtype="boolean")}),
        pd.DataFrame({"left": [True, False], "right": [None, True]}),
    ],
    ids=["polars", "Int64", "boolean", "object"],
)
def test_gaps_of_data_frames(table):
    for estimator in (
        Winnow(),
        ConjunctionFeatures(),
        QueryByCommittee(HalfspaceVersionSpace()),
    ):
        with pytest.raises(
            ValueError, match=r"^Input X contains NaN in column 'right'"
        ):
            estimator.fit(table, [0, 1])
    with pytest.raises(ValueError, match=r"^Input Z contains NaN in column 'right'"):
        check_array_strict(table, "Z")


def test_na_among_objects_needs_a_type():
    table = pd.DataFrame({"left": [1, 0], "right": [pd.NA, 1]}, dtype=object)
    for estimator in (Winnow(), QueryByCommittee(), BernoulliMixture()):
        with pytest.raises(ValueError, match=r"X holds pandas' NA.*convert_dtypes"):
            estimator.fit(table, [0, 1])
    with pytest.raises(ValueError, match="NaN in column 'right'"):
        Winnow().fit(table.convert_dtypes(), [0, 1])


def test_the_first_column_with_a_gap_is_told():
    table = np.zeros((4, 5))
    table[0, 4] = table[3, 1] = np.nan
    for kind in (np.array, sparse.csr_array, sparse.csc_array, sparse.coo_array):
        with pytest.raises(ValueError, match="NaN in column 1"):
            check_array_strict(kind(table), accept_sparse=True)


@pytest.mark.parametrize(
    "estimator",
    [
        BoostByMajority(),
        OnlineBoostByMajority(),
        QueryByCommittee(HalfspaceVersionSpace()),
        QueryByCommittee(LogisticRegression()),
    ],
    ids=repr,
)
def test_none_in_a_list_is_a_gap(estimator):
    with pytest.raises(ValueError, match=r"^Input X contains NaN in column 1"):
        estimator.fit([[1, 0], [1, None], [0, 0]], [0, 1, 1])


# Labels


WORDS = np.where(Y, "yes", "no").tolist()
NUMBERS = [float(y) for y in Y]
MISSING = {
    "None": NUMBERS[:3] + [None] + NUMBERS[4:],
    "NaN": NUMBERS[:3] + [np.nan] + NUMBERS[4:],
    "None first": [None] * 2 + NUMBERS[2:],
}
WORDS_MISSING = {
    "None among words": WORDS[:3] + [None] + WORDS[4:],
    "NaN among words": WORDS[:3] + [np.nan] + WORDS[4:],
}
SERIES = {
    "Int64": pd.Series(MISSING["None"], dtype="Int64"),
    "boolean": pd.Series(MISSING["None"], dtype="boolean"),
    "string": pd.Series(WORDS_MISSING["None among words"], dtype="string"),
    "category": pd.Series(WORDS_MISSING["None among words"], dtype="category"),
    "object": pd.Series(WORDS_MISSING["NaN among words"], dtype="object"),
    "polars": pl.Series(WORDS_MISSING["None among words"]),
}


@pytest.mark.parametrize("kind", [*MISSING, *WORDS_MISSING, *SERIES])
def test_missing_labels_are_those_of_y(kind):
    y = (MISSING | WORDS_MISSING | SERIES)[kind]
    row = 0 if kind == "None first" else 3
    message = f"^Input y contains missing values.* in sample {row}.* QueryByCommittee"
    with pytest.raises(ValueError, match=message) as caught:
        Winnow().fit(X, y)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("name", LEARN_LABELS)
def test_every_learner_of_labels_refuses_missing_ones(name):
    for kind in MISSING:
        with pytest.raises(ValueError, match=r"^(Input )?y contains .*missing "):
            clone(MODELS[name]).fit(X, MISSING[kind])


@pytest.mark.parametrize("name", LEARN_LABELS)
def test_the_name_of_a_column_is_no_target(name):
    X = np.random.default_rng(0).integers(0, 2, (20, 4))
    message = r"y is 'approved'\. Give an array"
    if name.startswith(("query", "boolean_ensemble")):  # they read y before X
        message = r"y should be a 1d array|inconsistent numbers of samples: \[20, 1\]"
    with pytest.raises(ValueError, match=message):
        clone(MODELS[name]).fit(X, "approved")


def test_marks_of_missing_labels():
    both = [*WORDS[:3], None, *WORDS[4:]]
    both[5] = np.nan
    options = {"max_queries": 20, "random_state": 0}
    for y in (SERIES["string"], SERIES["object"], both):
        estimator = QueryByCommittee(**options)
        estimator.fit(X, y, oracle=lambda _samples, indices: ["yes"] * len(indices))
        assert list(estimator.classes_) == ["no", "yes"]
        assert 3 in estimator.query_indices_


# Text


TEXT = np.where(X, "convex", "flat")


@pytest.mark.parametrize(
    "estimator",
    [
        *(each for each in MODELS.values() if not get_tags(each).input_tags.string),
        BoostByMajorityRegressor(),
        QueryByCommittee(),
        QueryByCommittee(n_jobs=2),
        QueryByCommittee(
            [HistGradientBoostingClassifier(categorical_features=[0])] * 2,
            final_estimator=DecisionTreeClassifier(),
        ),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("kind", [pd.DataFrame, np.ndarray.tolist])
def test_text_is_to_be_encoded(kind, estimator):
    if kind is pd.DataFrame and isinstance(estimator, DensityOutlierDetector):
        clone(estimator).fit(kind(TEXT))  # which encodes frames itself
        return
    with pytest.raises(
        ValueError, match=r"encode text first, .*BooleanEncoder"
    ) as said:
        clone(estimator).fit(kind(TEXT), Y)
    assert str(said.value).count("encode text") == 1
    assert "np.str_" not in str(said.value)


def test_text_in_new_rows_is_to_be_encoded():
    estimator = QueryByCommittee(random_state=0, max_queries=12).fit(X, Y)
    with pytest.raises(ValueError, match="encode text first"):
        estimator.predict(TEXT.astype(object))


@pytest.mark.parametrize("name", OF_CLASSES)
def test_a_column_that_the_fit_did_not_have_is_named_before_what_it_holds(name):
    """A date in a prediction need not be encoded: it must be left out."""
    model, frame = fitted_once(name, with_names=True), named(X)
    method = next(each for each in METHODS if hasattr(model, each))
    for value in (pd.Timestamp("2020-01-01"), "text"):
        with pytest.raises(ValueError, match=r"unseen at fit time:\n- when"):
            getattr(model, method)(frame.assign(when=value))


@pytest.mark.parametrize("model", [AveragedPerceptron(), Winnow()])
def test_raw_numbers_are_a_warning_of_models_that_multiply_them(model):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"bit": rng.integers(0, 2, 60), "age": rng.integers(18, 80, 60)})
    with pytest.warns(UserWarning, match=r"age holds numbers from 21 to 75, .*Boo"):
        clone(model).fit(X, X["bit"])
    # Counts, constants and standardized numbers are no reason.
    X["age"] = rng.normal(size=60) * 20
    clone(model).fit(X.assign(counts=rng.integers(0, 99, 60), c=50), X["bit"])


def test_explanations_are_readable_as_they_stand():
    X, y = data()
    model = AveragedPerceptron(random_state=0).fit(X, y)
    shapley = inspection.shapley_values(model, X)
    assert repr(shapley).startswith(
        "ShapleyValues of 80 samples, 8 columns: score of 1"
    )
    explanation = inspection.explain(model, X[:1])[0]
    assert repr(explanation).startswith("Explanation(log-odds of 1: ")
    assert str(explanation) == explanation.to_text()
    with pytest.raises(ValueError, match="distill fits a formula to any"):
        inspection.shapley_values(DecisionTreeClassifier().fit(X, y), X)
    booster = BoostByMajority(n_estimators=3).fit(X, y)
    display = inspection.BoostingCurveDisplay.from_estimator(booster, (X, y))
    assert list(display.lines_) == ["score"]
    pyplot.close("all")


def test_tables_of_one_sum_have_no_column_of_labels():
    X, y = data()
    sums = ConjunctionRegressor(C=1.0), ConjunctionLogisticRegression(C=1.0)
    for model in sums:
        assert "<th>label</th>" not in model.fit(X, y)._rules_html()
    three = ConjunctionLogisticRegression(C=1.0).fit(X, y + (y & X[:, 1]))
    assert "label" in three._rules_html()


def test_changes_of_tables_of_pyarrow_are_found_without_a_warning():
    """scikit-learn warned of names that the model was not fitted with."""
    X = pa.table({"age": np.arange(40.0), "ill": np.arange(40) % 2})
    model = make_pipeline(BooleanEncoder(n_bins=3), AveragedPerceptron(random_state=0))
    model.fit(X, np.arange(40) > 20)
    found = inspection.counterfactuals(model, X.slice(0, 2))
    assert found.predictions.tolist() == [True, True]


@pytest.mark.parametrize("gap", [np.nan, None, pd.NA])
def test_a_cost_of_a_missing_value_is_asked_for(gap):
    ages = pd.Series([*range(30, 60), gap, gap], dtype=object)
    X = pd.DataFrame({"age": ages, "ill": [0, 1] * 16})
    model = make_pipeline(BooleanEncoder(n_bins=3), AveragedPerceptron(random_state=0))
    model.fit(X, np.arange(32) > 15)

    def cost(old, new):
        return abs(new - old) if isinstance(old, int) else np.nan

    with pytest.raises(ValueError, match="a missing value: give it a cost, too"):
        inspection.counterfactuals(model, X[-1:], costs={"age": cost})


def test_dir_lists_public_names_only():
    allowed = {"__all__", "__doc__", "__version__"}
    assert {name for name in dir(sklboolean) if name.startswith("_")} == allowed
    assert {"Path", "ast", "import_module"}.isdisjoint(dir(sklboolean))
