"""Stand-ins for other models: what they learn, export, and say about themselves."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from sklboolean import (
    BooleanEncoder,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
)
from sklboolean.inspection import counterfactuals, distill, explain

RNG = np.random.default_rng(0)
BITS = RNG.integers(0, 2, (300, 6), dtype=np.uint8)
LABELS = np.array(["no", "yes"])[BITS[:, 0] & BITS[:, 1] | BITS[:, 2]]
AGE, CITY = RNG.integers(18, 80, 300), RNG.choice(["a", "b"], 300)
FRAME = pd.DataFrame({"age": AGE, "city": CITY})
OLD = np.where((AGE > 40) & (CITY == "a"), 2, AGE > 60)
ORDINAL = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
FOREST = make_pipeline(ORDINAL, RandomForestClassifier(30, random_state=0))


def test_a_sum_of_conjunctions_is_found_again():
    model = ConjunctionLogisticRegression(C=1.0).fit(BITS, LABELS)
    into = ConjunctionRegressor(C=1e4, max_literals=3)
    distillation = distill(model, BITS, LABELS, into=into, random_state=0)
    assert distillation.r2 > 0.9999
    assert distillation.agreement == 1.0
    np.testing.assert_allclose(
        distillation.model.predict_proba(BITS), model.predict_proba(BITS), atol=0.01
    )


def test_log_odds_of_a_linear_model_are_linear():
    # Of naive Bayes the log-odds are a sum over the features, by its definition.
    model = BernoulliNB().fit(BITS, LABELS)
    stand_in = distill(model, BITS, into=Ridge(1e-9), random_state=0).model
    logs = model.predict_log_proba(BITS)
    np.testing.assert_allclose(
        stand_in.decision_function(BITS), logs[:, 1] - logs[:, 0]
    )


def test_a_seed_decides_the_stand_in_and_leaves_that_of_the_regressor():
    model = BernoulliNB().fit(BITS, LABELS)
    forest = RandomForestRegressor(2)
    first, second = (
        distill(model, BITS, into=forest, random_state=0).model.regressors[0]
        for _ in range(2)
    )
    assert first.random_state == second.random_state
    np.testing.assert_array_equal(first.predict(BITS), second.predict(BITS))
    assert forest.random_state is None
    forest = RandomForestRegressor(2, random_state=7)
    stand_in = distill(model, BITS, into=forest, random_state=0).model
    assert stand_in.regressors[0].random_state == 7


def test_losses_are_those_of_the_held_out_samples():
    forest = FOREST.fit(FRAME[:200], OLD[:200])
    distillation = distill(forest, FRAME, OLD, test_size=0.5, random_state=0)
    assert distillation.n_held_out == 150
    _, test = train_test_split(np.arange(300), test_size=0.5, random_state=0)
    for name, metric in (("log-loss", log_loss), ("accuracy", accuracy_score)):
        for model, found in zip(
            (forest, distillation.model), distillation.losses[name], strict=True
        ):
            output = model.predict(FRAME.iloc[test])
            if name == "log-loss":
                output = model.predict_proba(FRAME.iloc[test])
            assert found == pytest.approx(metric(OLD[test], output))
    assert "same label for" in str(distillation)


def test_the_stand_in_of_several_classes_is_a_formula():
    forest = FOREST.fit(FRAME, OLD)
    pipeline = distill(forest, FRAME, random_state=0).model
    encoder, last = pipeline[0], pipeline[-1]
    bits = np.asarray(encoder.transform(FRAME)).astype(bool)
    formula = last._formula()
    np.testing.assert_allclose(
        formula.evaluate(bits), pipeline.predict_proba(FRAME), atol=1e-12
    )
    frame = pd.DataFrame(bits.astype(int), columns=encoder.get_feature_names_out())
    with sqlite3.connect(":memory:") as database:
        frame.to_sql("t", database, index=False)
        sql = last.to_sql(encoder.get_feature_names_out().tolist())
        found = database.execute(f"SELECT {sql} FROM t AS f").fetchall()
    assert [label for (label,) in found] == pipeline.predict(FRAME).tolist()
    assert explain(pipeline, FRAME[:2])


def test_a_regressor_is_distilled_into_a_regressor():
    y = FRAME["age"] / 10.0
    forest = RandomForestRegressor(20, random_state=0).fit(FRAME[["age"]], y)
    into = make_pipeline(BooleanEncoder(n_bins=16), ConjunctionRegressor(C=100.0))
    distillation = distill(forest, FRAME[["age"]], y, into=into, random_state=0)
    assert distillation.agreement is None
    assert min(distillation.losses["R2"]) > 0.9
    assert "R2 of the predictions" in str(distillation)


def test_a_model_that_is_always_certain_is_distilled():
    tree = DecisionTreeClassifier().fit(BITS, LABELS)
    assert set(tree.predict_proba(BITS).ravel()) == {0.0, 1.0}
    distillation = distill(tree, BITS, LABELS, into=ConjunctionRegressor(C=1e3))
    assert distillation.agreement == 1.0


def test_a_stand_in_stays_fitted_where_it_is_cloned():
    model = BernoulliNB().fit(BITS, LABELS)
    stand_in = distill(model, BITS, into=Ridge(1e-9), random_state=0).model
    assert cross_val_score(stand_in, BITS, LABELS, cv=2).mean() > 0.8


def test_mistakes_are_named():
    model = BernoulliNB().fit(BITS, LABELS)
    with pytest.raises(ValueError, match="into must be a regressor"):
        distill(model, BITS, into=BernoulliNB())
    with pytest.raises(ValueError, match="RidgeClassifier has no predict_proba"):
        distill(RidgeClassifier().fit(BITS, LABELS), BITS)
    with pytest.raises(ValueError, match="X has 300 samples and y has 2"):
        distill(model, BITS, LABELS[:2])


@pytest.mark.filterwarnings("error")
def test_the_changes_of_a_stand_in_read_frames_by_name():
    stand_in = distill(FOREST.fit(FRAME, OLD), FRAME, random_state=0).model
    found = counterfactuals(stand_in, FRAME.head(2))
    assert (stand_in.predict(found.values) != stand_in.predict(FRAME.head(2))).all()
