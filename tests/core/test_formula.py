"""Formulas are evaluated by definition; a class of one's own has all exports."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sklboolean import BooleanEncoder
from sklboolean._core.exports import ExportMixin
from sklboolean._core.feature_names import FeatureNames, parse_name
from sklboolean._core.formula import (
    Columns,
    FirstRule,
    SingleFeatures,
    WeightedSum,
    linear_formula,
)
from sklboolean._core.formulas import TERMS_OF_GROUP, grouped_sum
from sklboolean.inspection import explain, model_page

N_FEATURES = 4
EVERY_SAMPLE = np.array(
    [[k >> j & 1 for j in range(N_FEATURES)] for k in range(2**N_FEATURES)], dtype=bool
)
conjunction = st.dictionaries(
    st.integers(0, N_FEATURES - 1), st.booleans(), max_size=3
).map(lambda values: tuple(sorted(values.items())))
terms = st.lists(conjunction, max_size=5)
# Sums of a few eighths are exact, whatever their order.
weight = st.integers(-24, 24).map(lambda k: k / 8)


def satisfies(row, term):
    return all(row[j] == value for j, value in term)


@given(terms)
def test_the_first_rule_that_holds_decides(terms):
    labels = [f"label {k}" for k in range(len(terms))]
    classes = [*labels, "default"]
    probabilities = np.arange(len(classes) ** 2, dtype=float).reshape(len(classes), -1)
    formula = FirstRule(
        Columns(N_FEATURES), terms, labels, "default", classes, probabilities
    )
    for row, label, line in zip(
        EVERY_SAMPLE,
        formula.predict(EVERY_SAMPLE),
        formula.evaluate(EVERY_SAMPLE),
        strict=True,
    ):
        holding = [k for k, term in enumerate(terms) if satisfies(row, term)]
        expected = min(holding, default=len(terms))
        assert label == classes[expected]
        np.testing.assert_array_equal(line, probabilities[expected])


@given(terms, st.integers(1, 4), st.data())
def test_weights_of_terms_that_hold_add_up(terms, n_outputs, data):
    rows = st.lists(weight, min_size=len(terms), max_size=len(terms))
    weights = [data.draw(rows) for _ in range(n_outputs)]
    intercepts = [data.draw(weight) for _ in range(n_outputs)]
    classes = [f"label {k}" for k in range(max(2, n_outputs))]
    tie = data.draw(st.integers(0, 1))
    formula = WeightedSum(
        Columns(N_FEATURES),
        terms,
        np.array(weights).reshape(n_outputs, len(terms)),
        np.array(intercepts),
        classes[:2] if n_outputs == 1 else classes,
        slope=0.5,
        tie=tie,
    )
    expected = np.array(
        [
            [
                start + sum(w for w, term in zip(of, terms, strict=True)
                            if satisfies(row, term))
                for of, start in zip(weights, intercepts, strict=True)
            ]
            for row in EVERY_SAMPLE
        ]
    )  # fmt: skip
    np.testing.assert_array_equal(formula.scores(EVERY_SAMPLE), expected)
    if n_outputs == 1:
        second = expit(expected[:, 0] / 2)
        probabilities = np.column_stack([1 - second, second])
        codes = [int(s > 0 or (s == 0 and tie)) for s in expected[:, 0]]
    else:
        probabilities = softmax(expected / 2, axis=1)
        codes = expected.argmax(axis=1)
    np.testing.assert_allclose(
        formula.evaluate(EVERY_SAMPLE), probabilities, rtol=1e-12
    )
    predicted = formula.predict(EVERY_SAMPLE).tolist()
    assert predicted == [classes[code] for code in codes]


def test_games_of_two_classes_are_combined():
    # Margins 1/3, 1, -1 of 3, 1 and 4 votes: z is the margin times the root of them.
    formula = WeightedSum(
        Columns(1), [((0, True),)], np.array([[1.0], [1.0], [-4.0]]), np.zeros(3),
        ["a", "b", "c"], divisors=np.array([3.0, 1.0, 4.0]),
        games=[(0, 1), (0, 2), (1, 2)],
    )  # fmt: skip
    z = np.sqrt([3, 1, 4]) * [1 / 3, 1, -1]
    won = z / np.sqrt(1 + z**2) / 2
    expected = [[-won[0] - won[1], won[0] - won[2], won[1] + won[2]]]
    np.testing.assert_allclose(formula.scores(np.array([[True]])), expected, rtol=1e-15)
    margins = formula.sums(np.array([[True]]))
    shares = margins * formula.game_factors(margins)
    np.testing.assert_allclose(shares[0], won, rtol=1e-15)


def test_single_features_are_terms():
    single = SingleFeatures([2, 0])
    assert list(single) == [((2, True),), ((0, True),)]
    formula = FirstRule(Columns(3), single, ["a", "b"], "c")
    bits = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)
    assert formula.predict(bits).tolist() == ["b", "c", "a"]


@pytest.mark.parametrize("n_terms", [1, TERMS_OF_GROUP, 5 * TERMS_OF_GROUP + 1])
def test_long_sums_are_not_deep(n_terms):
    code = grouped_sum([f"{k}.0" for k in range(n_terms)], " + ")
    assert eval(code) == n_terms * (n_terms - 1) / 2
    with sqlite3.connect(":memory:") as database:
        [[total]] = database.execute(f"SELECT {code}").fetchall()
    database.close()
    assert total == n_terms * (n_terms - 1) / 2


class Agreement(ExportMixin, ClassifierMixin, BaseEstimator):
    """Weigh each feature by how often it agrees with the label."""

    def fit(self, X, y):
        X = validate_data(self, X) > 0
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.coef_ = (2 * (X == codes[:, None]).mean(axis=0) - 1)[None]
        self.intercept_ = np.array([-self.coef_.sum() / 2])
        return self

    def decision_function(self, X):
        check_is_fitted(self)
        bits = validate_data(self, X, reset=False) > 0
        return bits @ self.coef_[0] + self.intercept_[0]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def _formula(self):
        return linear_formula(self, tie=0)


def test_a_class_of_ones_own_has_all_exports():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (50, 3)), columns=["a", "b c", 'd"'])
    y = np.where(X["a"] | X["b c"], "yes", "no")
    model = Agreement().fit(X, y)
    expected = model.predict(X).tolist()
    code = model.to_python(list(X.columns))
    rows = X.to_dict("records")
    assert [eval(code, {"x": row}) for row in rows] == expected
    with sqlite3.connect(":memory:") as database:
        X.to_sql("t", database, index=False)
        query = f"SELECT {model.to_sql()}, {model.to_sql(output='score')} FROM t AS f"
        labels, scores = zip(*database.execute(query).fetchall(), strict=True)
    database.close()
    assert list(labels) == expected
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-12)
    assert "int predict(const unsigned char *x)" in model.to_c()
    data = json.loads(json.dumps(model.to_dict(), allow_nan=False))
    np.testing.assert_array_equal(data["weights"], model.coef_)
    assert model.to_text().splitlines()[0] == "score of yes:"
    assert len(model.to_frame()) == 3
    for explanation, score in zip(
        explain(model, X), model.decision_function(X), strict=True
    ):
        total = sum(value for _, value in explanation.parts) + explanation.intercept
        assert explanation.score == score == pytest.approx(total)
    assert model_page(model, X, y).startswith("<!doctype html>")


def test_outputs_that_a_model_lacks():
    X, y = np.eye(3), ["no", "yes", "yes"]
    model = Agreement().fit(X, y)
    for write in (model.to_sql, model.to_python):
        with pytest.raises(ValueError, match="the model has no probabilities"):
            write(output="proba")
        with pytest.raises(ValueError, match="output must be one of"):
            write(output="labels")
    with pytest.raises(ValueError, match="prefix must be letters"):
        model.to_c("1st")


@given(st.integers(0, 2**32 - 1))
def test_step_functions_add_up_to_the_weights_of_thresholds(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a b": rng.normal(size=40), "c": rng.choice(list("xyz"), 40)})
    frame["d"] = rng.normal(size=40).round(1)
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    encoder = BooleanEncoder(n_bins=int(rng.integers(2, 6))).fit(frame)
    names = FeatureNames(encoder.get_feature_names_out())
    bits, n_features = encoder.transform(frame).to_numpy(), len(names.names)

    def sums(pairs):
        found = [
            weight * (bits[:, [j for j, _ in term]] == [v for _, v in term]).all(axis=1)
            for term, weight in pairs
        ]
        return np.sum([np.zeros(40), *found], axis=0)

    chosen = rng.choice(n_features, rng.integers(1, n_features + 1), replace=False)
    terms = [((int(j), bool(rng.random() < 0.9)),) for j in chosen]
    terms += [((0, True), (n_features - 1, True))]
    pairs = [(term, float(rng.normal())) for term in terms]
    steps, others = names.steps(pairs)
    written = [(names.literals(text), weight) for text, weight in steps]
    np.testing.assert_allclose(sums(written + others), sums(pairs), atol=1e-9)
    assert terms[-1] in [term for term, _ in others]
    # A value lies in at most one interval of a column, and the columns are in order.
    columns = [parse_name(text.split(" < ")[-1]).column for text, _ in steps]
    assert columns == sorted(columns)
    for column in ("a b", "d"):
        intervals = [
            (term, 1.0)
            for (term, _), name in zip(written, columns, strict=True)
            if name == column and " is " not in names.words(term)[0]
        ]
        assert sums(intervals).max() <= 1
