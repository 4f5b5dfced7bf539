"""Proofs of directions are those of all samples, by definition."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from sklboolean import (
    BooleanEncoder,
    BooleanGradientBoostingClassifier,
    BooleanGradientBoostingRegressor,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    RuleClassifier,
)
from sklboolean._core.bits import PackedBits
from sklboolean.inspection import check_monotone, model_page
from sklboolean.inspection._monotone import FormulaProof

MODELS = {
    "conjunctions": lambda cst: ConjunctionLogisticRegression(C=3.0, monotonic_cst=cst),
    "trees": lambda cst: BooleanGradientBoostingClassifier(
        max_iter=4, max_leaf_nodes=4, max_features=1.0, n_iter_no_change=None,
        monotonic_cst=cst, random_state=0,
    ),
    "rules": lambda cst: RuleClassifier(
        "labels", max_literals=2, literal_cost=1.0, penalty=1.0, monotonic_cst=cst,
        random_state=0,
    ),
}  # fmt: skip


def small_frame(seed, n_samples=60):
    """Numbers with gaps, levels and Booleans, of few values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "a": rng.integers(0, 4, n_samples) / 2,
        "b": rng.integers(0, 3, n_samples) * 1.0,
        "c": rng.choice(["x", "y", "z"], n_samples),
        "d": rng.random(n_samples) < 0.5,
    })  # fmt: skip
    frame.loc[rng.random(n_samples) < 0.1, "b"] = np.nan
    score = frame["a"] + (frame["c"] == "x") * (frame["b"].fillna(1) - 1) - frame["d"]
    return frame, (score + rng.normal(size=n_samples) > 0.5).astype(int)


def falls_by_definition(model, direction):
    """Whether the score falls anywhere as column a grows, by trying all samples."""
    # A number is in one interval with the threshold above it.
    a, b = ([*t.tolist(), 99.0] for t in model[0].thresholds_[:2])
    values = a, [*b, np.nan], ["x", "y", "z", "w", None], [False, True]
    grid = pd.DataFrame(list(product(*values)), columns=list("abcd"))
    scores = model.decision_function(grid).reshape(len(a), -1)
    return (direction * np.diff(scores, axis=0) < -1e-9).any()


@settings(max_examples=25)
@given(
    st.integers(0, 10**6), st.sampled_from(sorted(MODELS)), st.sampled_from([-1, 1]),
    st.booleans(), st.booleans(),
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:No rule gained")
@pytest.mark.filterwarnings("ignore:Column '.' of X")
def test_verdicts_are_those_of_all_samples(seed, kind, direction, has_cst, is_searched):
    frame, y = small_frame(seed)
    model = MODELS[kind]({"a": direction} if has_cst else None)
    model = make_pipeline(BooleanEncoder(), model).fit(frame, y)
    with pytest.MonkeyPatch.context() as patch:
        if is_searched:  # by branch and bound alone
            patch.setattr(FormulaProof, "holds_by_terms", lambda *_: False)
            patch.setattr("sklboolean.inspection._monotone.MOST_SAMPLES", 1)
            frame = frame[:1]
        check = check_monotone(model, frame, {"a": direction})
    falls = falls_by_definition(model, direction)
    assert check.verdicts == {"a": "contradicted" if falls else "proved"}
    assert check.is_proved == (not falls)
    if has_cst:
        assert not falls
    if falls:
        low, high = check.rows["a"].iloc[0], check.rows["a"].iloc[1]
        assert low["a"] < high["a"]
        assert low.drop("a").equals(high.drop("a"))
        scores = model.decision_function(check.rows["a"])
        assert direction * (scores[1] - scores[0]) < 0


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_regressors_are_proved_by_their_own_directions(loss):
    frame, _ = small_frame(0, 200)
    y = frame["a"] * 2 + np.random.default_rng(0).exponential(size=200)
    directions = {"a": 1, "b": -1, "d": 0}
    trees = BooleanGradientBoostingRegressor(
        loss, max_iter=20, monotonic_cst=directions, random_state=0
    )
    for model in (trees, ConjunctionRegressor(C=1.0, monotonic_cst=directions)):
        check = check_monotone(
            make_pipeline(BooleanEncoder(), model).fit(frame, y), frame
        )
        assert check.directions == {"a": 1, "b": -1}
        if loss == "poisson" and model is trees:  # no formula
            assert set(check.verdicts.values()) == {"searched"}
            assert "This is no proof." in check.to_text()
        else:
            assert check.is_proved
            assert "proved for all samples" in check.to_text()


def test_other_models_are_searched():
    frame, y = small_frame(1, 300)
    frame = frame[["a", "b"]].fillna(1)
    model = HistGradientBoostingClassifier(max_iter=5, monotonic_cst=[1, 0])
    check = check_monotone(model.fit(frame, y), frame, {"a": 1})
    assert check.verdicts == {"a": "searched"}
    assert not check.is_proved
    free = HistGradientBoostingClassifier(max_iter=5).fit(frame, frame["a"] < 1)
    check = check_monotone(free, frame, {"a": 1, "b": 1})
    assert check.verdicts["a"] == "contradicted"
    scores = free.decision_function(check.rows["a"])
    assert scores[0] > scores[1]
    assert len(check.rows["a"]) == 2
    # A linear model of numbers, and one behind transformers that are not read.
    linear = LogisticRegression().fit(frame, y)
    assert check_monotone(linear, frame, {"a": 1}).verdicts == {"a": "searched"}
    scaled = make_column_transformer(("passthrough", ["a"]))
    scaled = make_pipeline(scaled, LogisticRegression()).fit(frame, y)
    assert check_monotone(scaled, frame, {"a": -1}).verdicts == {"a": "contradicted"}


def test_values_of_ordered_levels_of_other_models_have_the_order_of_the_levels():
    sizes = pd.Categorical(["S", "M", "L"] * 20, ["S", "M", "L", "XL"], ordered=True)
    X = pd.DataFrame({"size": sizes, "shop": pd.Categorical(["a", "b"] * 30)})
    model = make_pipeline(OrdinalEncoder(categories=[["S", "M", "L"], ["a", "b"]]))
    model = make_pipeline(model, LinearRegression()).fit(X, sizes.codes)
    assert check_monotone(model, X, {"size": 1, "shop": 0}).verdicts == {
        "size": "searched"
    }
    rows = check_monotone(model, X, {"size": -1}).rows["size"]
    assert rows["size"].tolist() == ["S", "L"]


def test_special_codes_of_other_columns_are_states():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(20, 80, 200), "pay": rng.integers(0, 9, 200)})
    X.loc[::3, "pay"] = -1
    y = (X["age"] > 50) != (X["pay"] == -1)
    encoder = BooleanEncoder(n_bins=2, special={"pay": [-1]})
    model = ConjunctionLogisticRegression(C=10.0)
    model = make_pipeline(encoder, model).fit(X, y)
    check = check_monotone(model, X[X["pay"] >= 0], {"age": 1})
    assert (check.rows["age"]["pay"] == -1).all()
    assert np.diff(model.decision_function(check.rows["age"])) < 0
    # No other state contradicts the opposite of this direction.
    y = (X["age"] > 50) & (X["pay"] != -1)
    assert check_monotone(model.fit(X, y), X, {"age": 1}).is_proved


def test_bits_without_an_encoder_are_columns():
    X = np.random.default_rng(0).integers(0, 2, (80, 4))
    y = X[:, 0] & X[:, 1]
    model = ConjunctionLogisticRegression(C=1.0, monotonic_cst=[1, 1, 0, 0]).fit(X, y)
    check = check_monotone(model, X)
    assert check.is_proved
    assert check.directions == {"x0": 1, "x1": 1}
    assert check_monotone(model, X, {"x0": -1}).verdicts == {"x0": "contradicted"}
    # As boosted trees promise for bits, a leaf of all samples included.
    trees = BooleanGradientBoostingClassifier(
        max_iter=3, monotonic_cst=[1, 1, 0, 0], n_iter_no_change=None, random_state=0
    )
    assert check_monotone(trees.fit(X, y), X).is_proved


def test_dates_with_weekdays_are_only_searched():
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 200, 200), "D")
    frame = pd.DataFrame({"on": days})
    encoder = BooleanEncoder()
    late = make_pipeline(encoder, ConjunctionLogisticRegression(C=1.0, max_literals=1))
    late.fit(frame, days > pd.Timestamp("2024-04-10"))
    verdict = check_monotone(late, frame, {"on": 1}).verdicts["on"]
    reads_days = any(" = " in rule.names[0] for rule in late[-1].rules_)
    assert verdict == ("contradicted" if reads_days else "proved")
    mondays = late.fit(frame, days.day_of_week == 0)
    assert check_monotone(mondays, frame, {"on": 1}).verdicts["on"] == "contradicted"


def test_special_codes_are_free():
    """A code is neither small nor large: the score may do anything there."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 200) * 1.0, "b": rng.random(200)})
    y = frame["a"] + rng.normal(size=200) > 4
    frame.loc[:40, "a"], y[:40] = -9, rng.random(40) < 0.8
    encoder = BooleanEncoder(n_bins=4, special={"a": [-9]})
    for kind in ("conjunctions", "trees"):
        model = make_pipeline(encoder, MODELS[kind]({"a": 1})).fit(frame, y)
        assert check_monotone(model, frame).is_proved
        codes, small = frame[:1], frame[:1].assign(a=0.0)
        assert model.decision_function(codes)[0] > model.decision_function(small)[0]


def test_text_page_and_sql_say_the_directions():
    frame, y = small_frame(2)
    frame = frame.rename(columns={"a": "a*/"})
    encoder, model = BooleanEncoder(), MODELS["conjunctions"]({"a*/": 1, "b": -1})
    pipeline = make_pipeline(encoder, model).fit(frame, y)
    sentences = (
        "The score never falls as a*/ grows.",
        "The score never rises as b grows.",
    )
    assert tuple(model.to_text().split("\n")[-2:]) == sentences
    page = model_page(pipeline, frame, y)
    assert all(
        sentence.replace("/", "\\/") in page or sentence in page
        for sentence in sentences
    )
    for output in ("label", "all"):
        sql = model.to_sql(encoder=encoder, output=output)
        assert sql.endswith("/* The score never rises as b grows. */")
        assert "/* The score never falls as a* / grows. */" in sql
    # By number of the feature.
    bits = encoder.transform(frame).to_numpy()
    of_bits = ConjunctionLogisticRegression(C=1.0, monotonic_cst=[1] + 14 * [0])
    text = of_bits.fit(bits[:, :15], y).to_text()
    assert text.endswith("The score never falls where x0 becomes true.")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"e": 1}, "names 'e', which is not a column of X"),
        ({"c": 1}, "direction of 'c' is 1. .* ordered levels"),
        ({"a": 2}, "direction of 'a' is 2"),
        ({"a": True}, "direction of 'a' is True"),
        (["a"], "number of directions is 1, and X has"),
        (None, "The model has no monotonic_cst"),
    ],
)
def test_wrong_questions_are_named(columns, message):
    frame, y = small_frame(3)
    model = make_pipeline(BooleanEncoder(), MODELS["conjunctions"](None)).fit(frame, y)
    with pytest.raises(ValueError, match=message):
        check_monotone(model, frame, columns)
    for bad, text in ((None, "X must be a table"), (PackedBits(None, 1), "BitTable")):
        with pytest.raises(ValueError, match=text):
            check_monotone(model, bad)
    texts = np.array([["a"], ["b"]] * 30, object)
    other = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(texts, y)
    with pytest.raises(ValueError, match=r"of 'x0' is 1\. .* ordered levels"):
        check_monotone(other, texts, {"x0": 1})
    pair = DecisionTreeClassifier().fit(frame[["a"]], np.column_stack([y, y]))
    with pytest.raises(ValueError, match="predicts several outputs"):
        check_monotone(pair, frame[["a"]], {"a": 1})
    three = LogisticRegression().fit(frame[["a"]], np.arange(60) % 3)
    with pytest.raises(ValueError, match="two classes; the model has 3"):
        check_monotone(three, frame[["a"]], {"a": 1})
