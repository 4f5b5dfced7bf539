"""Errors about missing values, infinity and text: where they are, and a remedy."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from _instances import METHODS, MODELS, data, ignores_labels, target_for
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from sklboolean import (
    BernoulliMixture,
    BoostByMajority,
    BoostByMajorityRegressor,
    ConjunctionFeatures,
    DensityOutlierDetector,
    OnlineBoostByMajority,
    QueryByCommittee,
    Winnow,
)
from sklboolean._core.validation import check_array_strict
from sklboolean.active_learning import HalfspaceVersionSpace

X, Y = data()
GAPS, BEYOND = X.astype(np.float64), X.astype(np.float64)
GAPS[[3, 5], [2, 6]] = np.nan
BEYOND[3, 2] = -np.inf
REFUSE_NAN = [n for n, m in MODELS.items() if not get_tags(m).input_tags.allow_nan]
TAKE_SPARSE = [n for n, m in MODELS.items() if get_tags(m).input_tags.sparse]
LEARN_LABELS = [n for n, m in MODELS.items() if not ignores_labels(m)]


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


@pytest.mark.parametrize("name", MODELS)
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
