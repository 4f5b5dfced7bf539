"""Drift: counts and the index by definition, the level of the test, and SQL."""

import math
from dataclasses import replace
from itertools import product

import databases
import numpy as np
import pandas as pd
import pytest
from databases import DATABASES
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BooleanEnsembleClassifier,
    BooleanGradientBoostingRegressor,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    OptimalRuleSet,
    RuleClassifier,
    ScorecardClassifier,
)
from sklboolean.inspection import monitor
from sklboolean.inspection._monitor import corrected, stability_index


def customers(n_samples=150, seed=0):
    """A frame of numbers with gaps, levels, Booleans, tags and dates, and labels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": pd.Series(rng.integers(18, 80, n_samples) * 1.0),
            "income": rng.lognormal(8, 1, n_samples).round(),
            "plan": rng.choice(["basic", "it's and more", "gold"], n_samples),
            "member": rng.random(n_samples) < 0.3,
            "since": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(rng.integers(0, 700, n_samples), "D"),
        }
    )
    frame["age"] = frame["age"].mask(rng.random(n_samples) < 0.15)
    score = (frame["age"] > 50) + (frame["plan"] == "gold") + 2 * frame["member"]
    y = (score + rng.random(n_samples) > 1.5).to_numpy()
    return frame, y


X, Y = customers()
MODELS = [
    RuleClassifier("labels", max_literals=2, penalty=1, literal_cost=1, cv=2),
    OptimalRuleSet(max_literals=2, time_limit=1),
    ConjunctionLogisticRegression(C=1.0),
    ConjunctionRegressor(C=1.0),
    ScorecardClassifier(4),
    BooleanGradientBoostingRegressor(loss="poisson", max_iter=3),
]


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=7)
)
def test_the_index_and_its_test_by_definition(counts):
    counts = np.array([*counts, (3, 4)])
    kept = [pair for pair in counts.tolist() if sum(pair)]
    n, m = map(sum, zip(*kept, strict=True))
    expected = 0.0
    for a, b in kept:
        p = (a + 0.5) / (n + 0.5 * len(kept))
        q = (b + 0.5) / (m + 0.5 * len(kept))
        expected += (q - p) * math.log(q / p)
    index, p_value = stability_index(counts)
    assert index == pytest.approx(expected)
    statistic = expected / (1 / n + 1 / m)
    is_one = len(kept) == 1
    p_expected = 1.0 if is_one else chi2.sf(statistic, len(kept) - 1)
    assert p_value == pytest.approx(p_expected)
    # Then and now in turn, and bins in another order, are the same.
    assert stability_index(counts[::-1, ::-1]) == pytest.approx((index, p_value))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_corrected_p_values_by_definition(p_values):
    # A p-value is rejected at a level if all smaller ones are, each at its share.
    n = len(p_values)
    ranked = sorted(p_values)
    for p, value in zip(p_values, corrected(np.array(p_values)), strict=True):
        steps = [(n - k) * other for k, other in enumerate(ranked) if other <= p]
        assert value == pytest.approx(min(1.0, max(steps)))


@pytest.mark.parametrize("shares", [(0.5, 0.3, 0.2), (0.1,) * 10, (0.02, 0.98)])
@pytest.mark.parametrize(("n", "m"), [(1000, 1000), (2000, 300)])
def test_the_level_of_the_test(shares, n, m):
    rng = np.random.default_rng(0)
    counts = np.stack([rng.multinomial(k, shares, 800) for k in (n, m)], axis=2)
    p_values = np.array([stability_index(pair)[1] for pair in counts])
    # Of 800 null sets at 5 %, with three standard errors.
    assert np.mean(p_values <= 0.05) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 800)
    assert np.mean(p_values <= 0.05) >= 0.02
    assert np.mean(p_values <= 0.5) >= 0.4


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_training_samples_have_the_shares_of_training(model, is_weighted):
    pipeline, last = make_pipeline(BooleanEncoder(), model), {}
    kept = np.arange(len(Y)) % 3 > 0 if is_weighted else np.ones(len(Y), dtype=bool)
    if is_weighted:
        last = {f"{pipeline.steps[-1][0]}__sample_weight": kept * 2.0}
    drift = monitor(pipeline.fit(X, Y, **last), X[kept])
    assert np.array_equal(drift.counts[:, 0], drift.counts[:, 1])
    for column in range(len(drift.columns)):
        total = drift.counts[drift.owners == column].sum(axis=0)
        assert total.tolist() == [kept.sum()] * 2
    assert not drift.moved
    assert drift.index.tolist() == [0.0] * len(drift.columns)
    assert drift.p_values.tolist() == [1.0] * len(drift.columns)


def test_bins_are_counted_by_definition():
    frame = X.drop(columns="since")
    model = make_pipeline(BooleanEncoder(), ConjunctionLogisticRegression(C=3.0))
    model.fit(frame, Y)
    new, _ = customers(80, seed=1)
    drift = monitor(model, new.drop(columns="since"))
    assert {*drift.columns} <= {*frame}
    for k, condition in enumerate(drift.conditions):
        for frame, count in zip((X, new), drift.counts[k], strict=True):
            assert count == by_hand(condition, frame).sum(), condition
    assert list(drift.to_frame()["share_now"]) == pytest.approx(drift.counts[:, 1] / 80)


def by_hand(condition, frame):
    """Mark the samples that satisfy a condition, read as a person reads it."""
    marks = np.ones(len(frame), dtype=bool)
    if condition.endswith(": another value, or missing"):
        return frame[condition.partition(":")[0]].isna().to_numpy()
    for word in condition.replace("it's and more", "it's").split(" and "):
        negated, word = word.startswith("not "), word.removeprefix("not ")
        if word.endswith(" is missing"):
            holds = frame[word.removesuffix(" is missing")].isna()
        elif " = " in word:
            column, level = word.split(" = ")
            holds = frame[column].str.replace("it's and more", "it's") == level
        elif word in frame:
            holds = frame[word]
        else:
            parts = word.split(" <= ")
            low, column = parts[0].split(" < ") if " < " in parts[0] else ("", parts[0])
            if " > " in word:
                column, low = word.split(" > ")
                parts = [column]
            values = frame[column]
            holds = values.notna()
            if low:
                holds &= values > float(low)
            if len(parts) == 2:
                holds &= values <= float(parts[1])
        marks &= holds.to_numpy() != negated
    return marks


@pytest.mark.parametrize("database", DATABASES)
def test_the_query_returns_the_shares(database):
    frame = X.drop(columns="since")
    model = make_pipeline(BooleanEncoder(), ConjunctionLogisticRegression(C=3.0))
    model.fit(frame, Y)
    new = customers(80, seed=1)[0].drop(columns="since")
    drift = monitor(model, new)
    dialect = "postgresql" if database == "postgresql" else None
    sql = drift.to_sql("t", dialect=dialect)
    rows = getattr(databases, f"in_{database}")(new, sql)
    expected = drift.to_frame().iloc[:, :4].itertuples(index=False)
    for row, (column, condition, then, now) in zip(rows, expected, strict=True):
        assert row[:2] == (column, condition)
        assert (float(row[2]), float(row[3])) == pytest.approx((then, now))


def test_columns_that_moved_are_found():
    model = make_pipeline(BooleanEncoder(), ConjunctionLogisticRegression(C=3.0))
    model.fit(X, Y)
    new, _ = customers(150, seed=2)
    assert monitor(model, new).moved == []
    drift = monitor(model, new.assign(age=np.nan, plan="basic"))
    assert sorted(drift.moved) == ["age", "plan"]
    lines = drift.to_text().splitlines()
    assert lines[0] == f"2 of {len(drift.columns)} columns moved."
    assert any("100.0 %" in line for line in lines)
    assert monitor(model, new.assign(age=np.nan), min_index=99).moved == []
    assert monitor(model, new.assign(age=np.nan), alpha=0).moved == []


def test_levels_that_were_not_seen_are_another_value():
    model = make_pipeline(
        BooleanEncoder(handle_unknown="ignore"), ConjunctionLogisticRegression(C=3.0)
    ).fit(X, Y)
    with pytest.warns(UserWarning, match="platinum"):
        drift = monitor(model, X.assign(plan="platinum"))
    assert drift.moved == ["plan"]
    of_plan = [c for c in drift.conditions if c.startswith(("plan", "not plan"))]
    assert any(c == "plan: another value, or missing" for c in of_plan)


def test_ensembles_searches_and_arrays():
    ensemble = BooleanEnsembleClassifier(
        [("sum", ConjunctionLogisticRegression(C=1.0)), ("line", LogisticRegression())]
    ).fit(X, Y)
    of_ensemble = monitor(ensemble, X)
    assert np.array_equal(*of_ensemble.counts.T)
    assert "age" in of_ensemble.columns
    last = ScorecardClassifier()
    search = GridSearchCV(
        make_pipeline(BooleanEncoder(), last), {"scorecardclassifier__max_points": [3]}
    ).fit(X, Y)
    assert monitor(search, X).columns == monitor(search.best_estimator_, X).columns
    encoder, inner = BooleanEncoder(), GridSearchCV(last, {"max_points": [3]})
    inside = make_pipeline(encoder, inner).fit(X, Y)
    assert monitor(inside, X).columns == monitor(search, X).columns
    bits = np.array([*product([0, 1], repeat=3)] * 9)
    card = ScorecardClassifier().fit(bits, bits[:, 0] | bits[:, 1])
    drift = monitor(card, bits)
    assert (drift.columns, drift.conditions) == (
        ["x0", "x1"],
        ["not x0", "x0", "not x1", "x1"],
    )
    assert 'f."x0"' in drift.to_sql("new", ["x0", "x1", "x2"])
    other = make_pipeline(FunctionTransformer(lambda X: X[:, ::-1]), card)
    assert monitor(other, bits[:, ::-1]).index.tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="must be a fitted BooleanEncoder"):
        monitor(other, bits).to_sql("new")


def test_features_that_are_not_read_decide_the_counts():
    X = pd.DataFrame({"age": [10, 20, 30] * 20})
    encoder, y = BooleanEncoder(n_bins=3).fit(X), X["age"] == 20
    bits = encoder.transform(X)
    model = RuleClassifier("labels").fit(bits, y)
    model = model.with_rules("True if 10 < age <= 20\nelse False", bits, y)
    # The counts of "age <= 20" and "age > 10" leave open how many have no age.
    drift = monitor(make_pipeline(encoder, model), X[:30])
    assert drift.columns == ["age"]
    assert dict(zip(drift.conditions, drift.counts.tolist(), strict=True)) == {
        "age <= 10": [20, 10],
        "10 < age <= 20": [20, 10],
        "age > 20": [20, 10],
        "age: another value, or missing": [0, 0],
    }


def test_no_bin_has_conditions_that_contradict_each_other():
    X = pd.DataFrame({"age": np.arange(90) % 30, "pay": np.arange(90) % 4 - 1})
    encoder = BooleanEncoder(n_bins=3, special={"pay": [-1]})
    trees = BooleanGradientBoostingRegressor(max_iter=9, min_samples_leaf=1)
    model = make_pipeline(encoder, trees).fit(X, X["age"] * (X["pay"] + 1))
    drift = monitor(model, X)
    bounds = ["age <= 9", "9 < age <= 19", "age > 19", "age: another value, or missing"]
    assert drift.conditions[:4] == bounds
    assert not any("<=" in text and " > " in text for text in drift.conditions)


def test_models_and_arguments_that_are_refused():
    bits, labels = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(ValueError, match="AveragedPerceptron does not keep the counts"):
        monitor(AveragedPerceptron().fit(bits, labels), bits)
    card = ScorecardClassifier().fit(bits, labels)
    with pytest.raises(ValueError, match="LogisticRegression does not keep the counts"):
        monitor(LogisticRegression().fit(bits / 2, labels), bits / 2)
    for alpha in (-1, 2):
        with pytest.raises(ValueError, match="alpha must be at"):
            monitor(card, bits, alpha=alpha)
    for table in (None, ""):
        with pytest.raises(ValueError, match="table must be the name of a table"):
            monitor(card, bits).to_sql(table)
    with pytest.raises(ValueError, match="3 features"):
        monitor(card, bits[:, :3])
    with pytest.raises(ValueError, match="source is None"):
        replace(monitor(card, bits), source=None).to_sql("new")


def test_an_edited_model_has_the_counts_of_its_samples():
    pipeline = make_pipeline(BooleanEncoder(), MODELS[2]).fit(X, Y)
    bits = pipeline[0].transform(X)
    edited = pipeline[-1].without(0, bits[:100], Y[:100])
    assert edited.n_samples_fit_ == 100
    drift = monitor(make_pipeline(pipeline[0], edited), X[:100])
    assert np.array_equal(*drift.counts.T)
