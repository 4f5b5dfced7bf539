"""BooleanStump is the best of all stumps, written out and weighed as fractions."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.boosting import all_stumps, best_of_all_stumps, right_weight
from scipy import sparse
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError

from sklboolean import BooleanStump
from sklboolean._core.bits import pack_dense
from sklboolean.boosting._stump import (
    StumpColumns,
    best_stump,
    class_signs,
    quantize_weights,
    side_weights,
)

a_weight = st.one_of(
    st.integers(0, 3).map(float),
    st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 1 + 2.0**-52, 2.0**60, 1e-300, 5e-324]),
    st.floats(0, 1e308),
)


@st.composite
def problems(draw, weight=a_weight):
    """Rows, codes of classes, weights (one above 0) and the number of classes."""
    n_samples, n_features = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    n_classes = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.random((n_samples, n_features)) < rng.random(n_features)
    codes = rng.integers(0, n_classes, n_samples)
    weights = draw(st.lists(weight, min_size=n_samples, max_size=n_samples))
    if not any(weights):
        weights[0] = 1
    return X, codes, np.array(weights), n_classes


def find(X, codes, weights, n_classes):
    table = StumpColumns.from_boolean(pack_dense(X), X.shape[1])
    return best_stump(table, class_signs(codes, n_classes), weights)


def sides_of(stump):
    """What a stump tests, and the classes where that is false and true."""
    return stump.feature, stump.if_false, stump.if_true


# -- the search ---------------------------------------------------------------------


@given(problems())
def test_stump_is_the_first_of_the_best_whatever_the_weights(problem):
    X, codes, weights, n_classes = problem
    stump = find(X, codes, weights, n_classes)
    expected, edge = best_of_all_stumps(X, codes, weights, n_classes)
    assert sides_of(stump) == expected
    assert stump.edge == float(edge)


@given(problems(weight=st.integers(0, 2**15 - 1)))
def test_integer_weights_are_taken_as_they_are(problem):
    X, codes, weights, n_classes = problem
    short = find(X, codes, weights.astype(np.int16), n_classes)
    assert short == find(X, codes, weights.astype(np.float64), n_classes)


@given(problems())
def test_sides_are_weighed_exactly(problem):
    X, codes, weights, n_classes = problem
    sides = side_weights(X[:, 0].astype(int), codes, weights, n_classes)
    total = sum(sides.ravel())
    for side in (0, 1):
        for code in range(n_classes):
            rows = (X[:, 0] == side) & (codes == code)
            expected = sum(map(Fraction, weights[rows])) / sum(map(Fraction, weights))
            assert Fraction(sides[side, code], total) == expected


@given(problems())
def test_quantizing_costs_no_more_than_it_says(problem):
    X, codes, weights, n_classes = problem
    stump = find(X, codes, quantize_weights(weights), n_classes)
    right = right_weight(sides_of(stump), X, codes, weights)
    best = max(
        right_weight(other, X, codes, weights)
        for other in all_stumps(X.shape[1], n_classes)
    )
    error = len(X) * Fraction(weights.max()) / 65534 * (1 + Fraction(1, 2**30))
    assert right >= best - 2 * error


def test_sums_that_float64_would_round_decide():
    # Column 0 is right on 2, column 1 on 2 + 2**-59, which float64 rounds to 2.
    X = np.array([[1, 1], [0, 1], [0, 1], [0, 0]], bool)
    codes, weights = np.array([1, 1, 1, 0]), np.array([1, 2.0**-60, 2.0**-60, 1])
    assert find(X, codes, weights, 2).feature == 1
    assert find(X, codes, quantize_weights(weights), 2).feature == 0


@pytest.mark.parametrize("span", range(38, 80))
def test_weights_far_apart_are_summed_exactly_around_64_bits(span):
    # The smallest weight decides between two columns that are right on all others.
    X = np.array([[1, 1], [1, 1], [1, 1], [0, 1], [0, 0]], bool)
    codes, large = np.array([1, 1, 1, 1, 0]), 2.0**span
    weights = np.array([large, 1.5 * large, 1.75 * large, 1, large])
    stump = find(X, codes, weights, 2)
    expected, edge = best_of_all_stumps(X, codes, weights, 2)
    assert (sides_of(stump), stump.edge) == (expected, float(edge))
    assert stump.feature == 1


@pytest.mark.parametrize("n_classes", [2, 5])
def test_every_processor_path_and_layout_finds_the_same(n_classes, cpu_paths):
    rng = np.random.default_rng(n_classes)
    X = rng.random((3000, 150)) < 0.02
    codes, weights = rng.integers(0, n_classes, 3000), rng.random(3000)
    signs = class_signs(codes, n_classes)
    expected = find(X, codes, weights, n_classes)
    lists = StumpColumns.from_boolean(sparse.csr_array(X), 150)
    assert not len(lists.panels)
    for _ in cpu_paths():
        assert find(X, codes, weights, n_classes) == expected
        assert best_stump(lists, signs, weights) == expected


@pytest.mark.parametrize("weights", [[1, -1, 1], [0, 0, 0], [1, 1], [[1], [1], [1]]])
@pytest.mark.parametrize("dtype", [np.int16, np.float64])
def test_search_refuses_bad_weights(weights, dtype):
    X, codes = np.eye(3, dtype=bool), np.array([0, 1, 1])
    with pytest.raises(ValueError, match="weights"):
        find(X, codes, np.array(weights, dtype), 2)


# -- the estimator ------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:All samples of")
@given(problems(st.integers(0, 5).map(float) | st.floats(1e-99, 1e12)))
def test_estimator_predicts_as_the_best_stump(problem):
    X, codes, weights, _ = problem
    labels = np.array(["a", "b", "c", "d"])[codes]
    classes, codes = np.unique(labels, return_inverse=True)
    model = BooleanStump().fit(X, labels, weights)
    (feature, if_false, if_true), edge = best_of_all_stumps(
        X, codes, weights, len(classes)
    )
    truth = X[:, feature] if feature >= 0 else np.zeros(len(X), bool)
    assert model.feature_ == feature
    assert model.edge_ == float(edge)
    assert model.side_classes_.tolist() == [classes[if_false], classes[if_true]]
    expected = np.where(truth, classes[if_true], classes[if_false])
    assert (model.predict(X) == expected).all()
    assert (model.predict(sparse.csr_array(X)) == expected).all()
    shares = model.predict_proba(X)
    for side in {bool(value) for value in truth}:
        total = sum(map(Fraction, weights[truth == side]))
        for code in range(len(classes)):
            of_class = sum(map(Fraction, weights[(truth == side) & (codes == code)]))
            assert (shares[truth == side, code] == float(of_class / total)).all()


@given(problems(weight=st.integers(0, 4)))
def test_whole_weights_are_repetitions_and_order_does_not_matter(problem):
    X, codes, weights, n_classes = problem
    kept = np.append(np.repeat(np.arange(len(X)), weights.astype(int)), 0)[::-1]
    weights = weights + (np.arange(len(X)) == 0)
    # Every class has a row of weight 1 in both, so that both know the same classes.
    X = np.concatenate([X, np.zeros((n_classes, X.shape[1]), bool)])
    kept = np.concatenate([kept, np.arange(len(codes), len(X))])
    codes = np.concatenate([codes, np.arange(n_classes)])
    weighted = BooleanStump().fit(X, codes, np.append(weights, np.ones(n_classes)))
    repeated = BooleanStump().fit(X[kept], codes[kept])
    assert vars(weighted).keys() == vars(repeated).keys()
    for name, value in vars(weighted).items():
        assert np.array_equal(value, getattr(repeated, name)), name


def test_rows_without_weight_keep_their_class():
    with pytest.warns(UserWarning, match="All samples of .'no'. have weight 0"):
        model = BooleanStump().fit([[0], [1]], ["no", "yes"], sample_weight=[0, 1])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.rule_ == "always yes"
    assert model.predict_proba([[0]]).tolist() == [[0.0, 1.0]]


def test_one_class_is_a_constant():
    model = BooleanStump().fit([[0, 1], [1, 1]], [7, 7])
    assert (model.feature_, model.rule_, model.edge_) == (-1, "always 7", 0.5)
    assert model.predict([[1, 0], [0, 0]]).tolist() == [7, 7]
    assert model.predict_proba([[1, 0]]).tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("X", "y", "rule"),
    [
        ([[0, 1], [0, 0]], [0, 1], "0 if x1 else 1"),
        ([[1, 0], [0, 1]], [0, 1], "0 if x0 else 1"),
        ([[1, 1], [0, 1]], ["a", "b"], "a if x0 else b"),
        ([[1], [1], [0]], [0, 1, 2], "0 if x0 else 2"),
        ([[1, 0], [1, 0]], [0, 1], "always 0"),
    ],
)
def test_rule_can_be_read_and_ties_go_to_the_first(X, y, rule):
    assert BooleanStump().fit(X, y).rule_ == rule


def test_rule_names_the_column_and_the_threshold():
    X = pd.DataFrame({"cap": [0.2, 0.9, 0.3], "odor": [0.1, 0.6, 0.7]})
    y = ["edible", "poisonous", "poisonous"]
    model = BooleanStump(binarize=0.5).fit(X, y)
    assert model.rule_ == "poisonous if odor > 0.5 else edible"
    assert model.predict(X).tolist() == y
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[["odor", "cap"]])


def test_every_container_gives_one_model():
    rng = np.random.default_rng(0)
    X = rng.random((200, 70)) < 0.01
    X[:, 66] = rng.random(200) < 0.5
    y = X[:, 66] ^ (rng.random(200) < 0.1)
    names = [f"c{i}" for i in range(70)]
    expected = BooleanStump().fit(X, y)
    assert expected.feature_ == 66
    for container in (
        np.float32, np.int64, np.asfortranarray, sparse.csr_array, sparse.csr_matrix,
        sparse.csc_array, lambda X: np.where(X, 1, -1), lambda X: X.tolist(),
        lambda X: pd.DataFrame(X, columns=names), lambda X: pl.DataFrame(X, names),
    ):  # fmt: skip
        model = BooleanStump().fit(container(X), y)
        assert (model.feature_, model.edge_) == (66, expected.edge_)
        assert (model.predict(container(X)) == expected.predict(X)).all()
        assert (model.predict_proba(container(X)) == expected.predict_proba(X)).all()


X_GOOD, Y_GOOD = [[0, 1], [1, 0], [1, 1]], [0, 1, 1]


@pytest.mark.parametrize(
    ("parameters", "X", "y", "weights", "message"),
    [
        ({}, X_GOOD, Y_GOOD, [1, -1, 1], "at least 0"),
        ({}, X_GOOD, Y_GOOD, [0, 0, 0], "zero"),
        ({}, X_GOOD, Y_GOOD, [1, np.nan, 1], "sample_weight contains NaN"),
        ({}, X_GOOD, Y_GOOD, [1, 1], "shape"),
        ({}, [[0, np.nan], [1, 0], [1, 1]], Y_GOOD, None, "NaN"),
        ({}, X_GOOD, [0.5, 1.5, 2.5], None, "continuous"),
        ({}, X_GOOD, [0, 1], None, "inconsistent"),
        ({"binarize": None}, [[0, 2], [1, 0], [1, 1]], Y_GOOD, None, "Column 1"),
        ({"binarize": -1.0}, X_GOOD, Y_GOOD, None, "binarize"),
    ],
)
def test_bad_input_is_named_and_nothing_is_forgotten(
    parameters, X, y, weights, message
):
    model = BooleanStump().fit(X_GOOD, Y_GOOD)
    model.set_params(**parameters)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, sample_weight=weights)
    assert vars(model) == before


def test_prediction_checks_its_input():
    with pytest.raises(NotFittedError):
        BooleanStump().predict(X_GOOD)
    model = BooleanStump().fit(X_GOOD, Y_GOOD)
    for method in (model.predict, model.predict_proba):
        with pytest.raises(ValueError, match="3 features"):
            method([[0, 1, 1]])


def test_stump_is_a_weak_learner_for_other_boosters():
    rng = np.random.default_rng(0)
    X = rng.random((300, 5)) < 0.5
    y = X[:, :3].sum(axis=1) >= 2
    assert BooleanStump().fit(X, y).score(X, y) < 0.9
    boosted = AdaBoostClassifier(BooleanStump(), n_estimators=10, random_state=0)
    assert boosted.fit(X, y).score(X, y) == 1.0
