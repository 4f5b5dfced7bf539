"""Shapley values: equal to the mean over all coalitions, of every kind of model."""

import sys
from itertools import combinations
from math import factorial
from operator import attrgetter

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from formula_models import (
    FormulaModel,
    LabelModel,
    random_formula,
    random_frame,
    transformer_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BooleanEnsembleClassifier,
    BooleanGaussianProcessClassifier,
    BooleanGaussianProcessRegressor,
    BooleanStump,
    BooleanSVC,
    BoostByMajority,
    BoostByMajorityRegressor,
    ConjunctionClassifier,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    ConjunctionStump,
    KernelPerceptron,
    RuleClassifier,
    Winnow,
)
from sklboolean._core.formula import Columns, FirstRule, WeightedSum
from sklboolean.inspection import (
    ShapleyDisplay,
    ShapleyValues,
    _pattern_games,
    shapley_values,
)
from sklboolean.inspection._pattern_games import distinct_rows
from sklboolean.inspection._shapley_display import SCALE, short_text
from sklboolean.kernels import ConjunctionKernel
from sklboolean.rules import Rule, RuleEnsemble, extract_dnf


def worth_of_coalitions(score, X, background, weights):
    """The mean score of columns that each sample gives to the background.

    ``score`` maps a list of samples, each a list of values by column, to outputs.
    """
    n_columns, n_others = len(X[0]), len(background)
    for sample in X:
        mixed = [
            [sample[j] if coalition >> j & 1 else other[j] for j in range(n_columns)]
            for coalition in range(2**n_columns)
            for other in background
        ]
        outputs = score(mixed).reshape(2**n_columns, n_others, -1)
        yield np.average(outputs, axis=1, weights=weights)


def values_by_definition(score, X, background, weights):
    """The mean over coalitions of the gain of a column."""
    n_columns = len(X[0])
    values = [
        [
            sum(
                factorial(coalition.bit_count())
                * factorial(n_columns - coalition.bit_count() - 1)
                / factorial(n_columns)
                * (worth[coalition | 1 << j] - worth[coalition])
                for coalition in range(2**n_columns)
                if not coalition >> j & 1
            )
            for j in range(n_columns)
        ]
        for worth in worth_of_coalitions(score, X, background, weights)
    ]
    return np.array(values)


def interactions_by_definition(score, X, background, weights):
    """Half the mean of the gain of two columns beyond their own; 0 on the diagonal."""
    n_columns = len(X[0])
    shape = len(X), n_columns, n_columns, score(X[:1]).size
    interactions = np.zeros(shape)
    worths = worth_of_coalitions(score, X, background, weights)
    for table, worth in zip(interactions, worths, strict=True):
        for i, j in combinations(range(n_columns), 2):
            for coalition in range(2**n_columns):
                if coalition >> i & 1 or coalition >> j & 1:
                    continue
                size = coalition.bit_count()
                share = factorial(size) * factorial(n_columns - size - 2)
                gain = worth[coalition | 1 << i | 1 << j] + worth[coalition]
                gain = gain - worth[coalition | 1 << i] - worth[coalition | 1 << j]
                gain = gain * share / (2 * factorial(n_columns - 1))
                table[i, j] += gain
                table[j, i] += gain
    return interactions


@pytest.mark.filterwarnings("ignore:Column .* has the same value")
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_values_are_the_mean_over_all_coalitions(seed, is_tabled):
    rng = np.random.default_rng(seed)
    frame = random_frame(rng, 12)
    try:
        encoder = BooleanEncoder(n_bins=3).fit(frame)
    except ValueError:  # all columns are constant
        return
    formula = random_formula(rng, len(encoder.get_feature_names_out()))
    model = make_pipeline(encoder, FormulaModel(formula))
    X, background = frame[:3], frame[3:]
    weights = rng.integers(0, 3, len(background)) + np.eye(len(background))[0]
    with pytest.MonkeyPatch.context() as patch:
        if not is_tabled:
            patch.setattr(_pattern_games, "MOST_TABLED", 0)
            patch.setattr(_pattern_games, "MOST_PAIRS", 1)
        shapley = shapley_values(
            model, X, background, interactions=True, sample_weight=weights
        )

    def score(samples):
        mixed = pd.DataFrame(samples, columns=frame.columns).astype(frame.dtypes)
        return model[-1].outputs(encoder.transform(mixed))

    samples = X.to_numpy(object).tolist(), background.to_numpy(object).tolist()
    expected = values_by_definition(score, *samples, weights)
    values = shapley.values.reshape(expected.shape)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
    expected = interactions_by_definition(score, *samples, weights)
    interactions = shapley.interactions.reshape(expected.shape)
    np.testing.assert_allclose(interactions.sum(axis=2), values, rtol=0, atol=1e-12)
    columns = np.arange(frame.shape[1])
    interactions[:, columns, columns] = 0.0
    np.testing.assert_allclose(interactions, expected, rtol=0, atol=1e-12)
    others = score(background.to_numpy(object).tolist())
    mean = np.average(others, axis=0, weights=weights).squeeze()
    np.testing.assert_allclose(shapley.base_values, mean, rtol=0, atol=1e-12)
    scores = score(X.to_numpy(object).tolist()).reshape(shapley.scores().shape)
    np.testing.assert_allclose(shapley.scores(), scores, rtol=0, atol=1e-12)


WINE = load_wine(return_X_y=True, as_frame=True)
WINE = WINE[0].iloc[:, [0, 1, 6, 9, 11, 12]], WINE[1].map({0: "a", 1: "b", 2: "c"})
TWO = WINE[0][WINE[1] != "c"], WINE[1][WINE[1] != "c"]
DIABETES = load_diabetes(return_X_y=True, as_frame=True)
DIABETES = DIABETES[0].iloc[:150, :5], DIABETES[1].iloc[:150]
MODELS = [
    (BooleanGaussianProcessClassifier(max_iter=2), TWO, "decision_function"),
    (BooleanGaussianProcessClassifier(max_iter=2), WINE, "decision_function"),
    (BooleanGaussianProcessRegressor(max_iter=2), DIABETES, "predict"),
    (ConjunctionLogisticRegression(C=1.0, random_state=0), TWO, "decision_function"),
    (ConjunctionLogisticRegression(C=1.0, random_state=0), WINE, "decision_function"),
    (ConjunctionRegressor(C=1.0, random_state=0), DIABETES, "predict"),
    (AveragedPerceptron(random_state=0), WINE, "decision_function"),
    (Winnow(random_state=0), TWO, "decision_function"),
    (LogisticRegression(), WINE, "decision_function"),
    (LinearRegression(), DIABETES, "predict"),
    (BoostByMajority(n_estimators=9, random_state=0), TWO, "decision_function"),
    (
        BoostByMajority(
            ConjunctionStump(), n_estimators=5, multi_class="joint", random_state=0
        ),
        WINE,
        "decision_function",
    ),
    (RuleClassifier(random_state=0), TWO, "decision_function"),
    (RuleClassifier(random_state=0), WINE, "decision_function"),
    (BooleanStump(), TWO, "predict_proba"),
    (BooleanStump(), WINE, "predict_proba"),
    (ConjunctionClassifier(), TWO, "predict_proba"),
    (
        KernelPerceptron(
            ConjunctionKernel(min_literals=1, max_literals=2, normalize=False),
            random_state=0,
        ),
        WINE,
        "decision_function",
    ),
    (
        KernelPerceptron(
            ConjunctionKernel(max_literals=1, monotone=False, normalize=False),
            random_state=0,
        ),
        TWO,
        "decision_function",
    ),
    (
        BooleanSVC(ConjunctionKernel(max_literals=2, normalize=False)),
        TWO,
        "decision_function",
    ),
]


@pytest.mark.filterwarnings("ignore:Column .* has the same value")
@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_values_of_the_columns_before_a_column_transformer(seed):
    rng = np.random.default_rng(seed)
    frame = random_frame(rng, 12)
    try:
        encoder = transformer_of(rng, frame).fit(frame)
    except ValueError:  # all columns are constant
        return
    formula = random_formula(rng, len(encoder.get_feature_names_out()))
    model = make_pipeline(encoder, FormulaModel(formula))
    shuffled = frame[rng.permutation(frame.columns)].assign(other="x")
    shapley = shapley_values(model, shuffled[:3], shuffled[3:])
    assert shapley.feature_names == list(frame.columns)
    is_same = (shapley.data == frame[:3].to_numpy(object)) | frame[:3].isna()
    assert is_same.all(axis=None)

    def score(samples):
        samples = pd.DataFrame(samples, columns=frame.columns).astype(frame.dtypes)
        return model[1].outputs(encoder.transform(samples))

    expected = values_by_definition(
        score, frame[:3].to_numpy(object).tolist(),
        frame[3:].to_numpy(object).tolist(), None,
    )  # fmt: skip
    found = shapley.values.reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("package", ["polars", "pyarrow"])
def test_frames_of_other_packages_are_read_by_name(package):
    module = pytest.importorskip(package)
    frame_of = {"polars": "from_pandas", "pyarrow": "Table.from_pandas"}[package]
    frame_of = attrgetter(frame_of)(module)
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "unused": 0, "b": ["x", "y", "y", "x"]})
    encoder = make_column_transformer(
        (BooleanEncoder(), ["a"]), (BooleanEncoder(), ["b"])
    )
    model = make_pipeline(encoder, BooleanStump()).fit(frame_of(frame), [0, 0, 1, 1])
    expected = shapley_values(model, frame_of(frame))
    for columns in (["b", "a", "unused"], ["other", "b", "a"]):
        shapley = shapley_values(model, frame_of(frame.assign(other=7)[columns]))
        np.testing.assert_array_equal(shapley.values, expected.values)
        np.testing.assert_array_equal(shapley.data[:, [0, 2]], expected.data[:, [0, 2]])


def test_a_process_has_one_value_for_each_column_of_the_frame():
    """Also for dates and ordered levels, which are several columns of its kernel."""
    rng = np.random.default_rng(0)
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, 60), "D")
    size = pd.Categorical(rng.choice(["S", "M", "L"], 60), ["S", "M", "L"], True)
    X = pd.DataFrame({"day": days, "size": size, "n": rng.integers(0, 9, 60)})
    y = (days.month == 2) & (size > "S") | (X["n"] > 6)
    process = BooleanGaussianProcessClassifier(max_iter=1)
    model = make_pipeline(BooleanEncoder(n_bins=2), process).fit(X, y)
    assert len(process.columns_) > 4
    samples, background = X[:3], X[3:12]
    shapley = shapley_values(model, samples, background)

    def score(cells):
        frame = pd.DataFrame(cells, columns=X.columns).astype(X.dtypes)
        return model.decision_function(frame)[:, None]

    expected = values_by_definition(
        score, samples.to_numpy(object).tolist(),
        background.to_numpy(object).tolist(), None,
    )  # fmt: skip
    found = shapley.values.reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert np.abs(expected).max(axis=(0, 2)).min() > 0.01


def test_a_process_behind_a_column_transformer_reads_features_without_names():
    X, y = TWO
    half = X.columns[:2], X.columns[2:]
    parts = [(str(k), BooleanEncoder(n_bins=3), [*half[k]]) for k in (0, 1)]
    process = BooleanGaussianProcessClassifier(max_iter=1)
    model = make_pipeline(ColumnTransformer(parts), process).fit(X, y)
    shapley = shapley_values(model, X[:2], X[::15])
    scores = model.decision_function(X[:2])
    np.testing.assert_allclose(shapley.scores(), scores, rtol=0, atol=1e-9)
    model[0].set_output(transform="pandas")
    shapley = shapley_values(model.fit(X, y), X[:2], X[::15])
    plain = make_pipeline(BooleanEncoder(n_bins=3), process).fit(X, y)
    expected = shapley_values(plain, X[:2], X[::15])
    assert shapley.feature_names == expected.feature_names
    np.testing.assert_allclose(shapley.values, expected.values, atol=1e-9)


@pytest.mark.filterwarnings("ignore:No conjunction classifies all samples")
@pytest.mark.parametrize(("model", "data", "method"), MODELS)
def test_values_of_our_models(model, data, method):
    X, y = data
    pipeline = make_pipeline(BooleanEncoder(n_bins=3), model).fit(X, y)
    X, background = X.iloc[[0, 70]], X.iloc[::15]
    shapley = shapley_values(pipeline, X, background)
    assert shapley.interactions is None

    def score(samples):
        outputs = getattr(pipeline, method)(pd.DataFrame(samples, columns=X.columns))
        outputs = np.reshape(outputs, (len(samples), -1))
        is_pair = method == "predict_proba" and outputs.shape[1] == 2
        return outputs[:, 1:] if is_pair else outputs

    expected = values_by_definition(
        score, X.to_numpy().tolist(), background.to_numpy().tolist(), None
    )
    assert np.abs(expected).max() > 0.01
    assert len(shapley.output_names) == expected.shape[2]
    size = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(
        shapley.values.reshape(expected.shape), expected, rtol=0, atol=1e-12 * size
    )
    assert shapley.feature_names == list(X.columns)


@pytest.mark.parametrize("data", [TWO, WINE])
def test_values_of_an_ensemble_are_those_of_its_models(data):
    """Each is multiplied by its weight and its slope; no scores of classes drift."""
    (X, y), process = data, BooleanGaussianProcessClassifier(max_iter=1)
    members = [("linear", LogisticRegression()), ("process", process)]
    model = BooleanEnsembleClassifier(members, random_state=0).fit(X, y)
    samples, background = X.iloc[[0, 70]], X.iloc[::15]
    weights = np.arange(len(background))
    shapley = shapley_values(model, samples, background, sample_weight=weights)

    def score(samples):
        found = model.decision_function(pd.DataFrame(samples, columns=X.columns))
        return np.reshape(found, (len(samples), -1))

    expected = values_by_definition(
        score, samples.to_numpy().tolist(), background.to_numpy().tolist(), weights
    )
    found = shapley.values.reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(shapley.scores(), model.decision_function(samples))
    with pytest.raises(ValueError, match="Classifier in the ensemble: interactions"):
        shapley_values(model, samples, background, interactions=True)


def test_members_without_values_are_named():
    members = [("kernel", KernelPerceptron()), ("linear", LogisticRegression())]
    model = BooleanEnsembleClassifier(members, random_state=0).fit(*TWO)
    with pytest.raises(ValueError, match="KernelPerceptron in the ensemble: "):
        shapley_values(model, TWO[0][:2], TWO[0][::15])


def test_columns_of_a_process_are_those_to_explain():
    X, y = bits_and_labels()
    process = BooleanGaussianProcessClassifier(feature_groups=[0, 0, 1, 1, 2])
    process.set_params(max_iter=1).fit(X, y)
    values = shapley_values(process, X[:2], X, feature_groups=list("aabbc")).values
    np.testing.assert_array_equal(values, process.column_values(X[:2], X)[..., 0])
    for owners in ([0, 1], [0, 1, -1], [0.0, 1.0, 1.0], "abc"):
        with pytest.raises(ValueError, match="for each of the 3 columns_"):
            process.column_values(X[:2], X, owners=owners)
    with pytest.raises(ValueError, match="divide columns_"):
        shapley_values(process, X[:2], X)


def bits_and_labels(seed=0, n_samples=60, n_features=5):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, n_features))
    return X, (X[:, 0] & X[:, 1] | X[:, 2]).astype(int)


def check_by_definition(model, X, background, score):
    shapley = shapley_values(model, X, background)
    expected = values_by_definition(
        lambda samples: score(np.array(samples)), X.tolist(), background.tolist(), None
    )
    values = shapley.values.reshape(expected.shape)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-11)
    assert np.abs(expected).max() > 0.01
    return shapley


def test_dnf_and_rule_ensemble():
    X, y = bits_and_labels()
    model = KernelPerceptron(max_literals=2, random_state=0).fit(X, y)
    dnf = extract_dnf(model, X)
    shapley = check_by_definition(dnf, X[:4], X, lambda Z: (dnf.predict(Z) == 1) * 1.0)
    assert shapley.output_names == ["prediction of 1"]
    np.testing.assert_array_equal(shapley.scores().round(12), dnf.predict(X[:4]))
    rules = tuple(
        Rule(one.literals, 1.0, 1.0, k - 0.5) for k, one in enumerate(dnf.rules)
    )
    ensemble = RuleEnsemble(rules, 0.25, 1, 0, 1.0, 5)
    check_by_definition(ensemble, X[:4], X, lambda Z: ensemble._formula().scores(Z > 0))


def test_games_of_one_class_against_one_give_margins():
    X, y = WINE
    X = BooleanEncoder(n_bins=2).fit_transform(X).to_numpy().astype(int)[:, :6]
    model = BoostByMajority(n_estimators=5, random_state=0, multi_class="ovo").fit(X, y)
    formula = model._formula()
    shapley = check_by_definition(
        model, X[::60], X[::9], lambda Z: formula.sums(np.array(Z) > 0)
    )
    assert shapley.output_names == ["a or b", "a or c", "b or c"]


def test_symmetry_null_column_and_efficiency():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (50, 3))
    X = np.column_stack([X[:, 0], X[:, 0], X[:, 1:]])  # two equal columns
    terms = [((0, True), (2, True)), ((1, True), (2, True)), ((0, False), (1, False))]
    weights = np.array([[2.0, 2.0, -1.0]])
    formula = WeightedSum(
        Columns(4), terms, weights, np.array([0.5]), [0, 1], has_probabilities=False
    )
    shapley = shapley_values(FormulaModel(formula), X, interactions=True)
    np.testing.assert_allclose(shapley.values[:, 0], shapley.values[:, 1], atol=1e-13)
    pairs = shapley.interactions
    np.testing.assert_array_equal(pairs, pairs.swapaxes(1, 2))
    np.testing.assert_allclose(pairs[:, 0, 2], pairs[:, 1, 2], atol=1e-13)
    assert np.abs(pairs[:, [0, 0], [1, 2]]).max(axis=0).min() > 0.05
    assert not pairs[:, 3].any()
    assert not shapley.values[:, 3].any()  # no term tests it
    assert np.abs(shapley.values[:, 2]).max() > 0.1
    scores = formula.scores(X > 0)[:, 0]
    np.testing.assert_allclose(shapley.scores(), scores, rtol=0, atol=1e-12)
    np.testing.assert_allclose(shapley.base_values, scores.mean(), atol=1e-12)


def test_groups_are_columns_and_weights_are_copies():
    X, y = bits_and_labels(n_features=6)
    model = ConjunctionLogisticRegression(C=1.0, random_state=0).fit(X, y)
    groups = ["a", "a", "b", "b", "b", "c"]
    copies = np.arange(60) % 3
    shapley = shapley_values(
        model, X[:5], X, sample_weight=copies, feature_groups=groups
    )
    repeated = shapley_values(
        model, X[:5], np.repeat(X, copies, axis=0), feature_groups=groups,
        feature_names=["A", "B", "C"],
    )  # fmt: skip
    assert shapley.feature_names == ["a", "b", "c"]
    assert repeated.feature_names == ["A", "B", "C"]
    np.testing.assert_allclose(shapley.values, repeated.values, rtol=0, atol=1e-12)

    def score(samples):
        return model.decision_function([[*a, *b, *c] for a, b, c in samples])

    def by_group(Z):
        return [[z[:2], z[2:5], z[5:]] for z in Z.tolist()]

    expected = values_by_definition(score, by_group(X[:5]), by_group(X), copies)
    np.testing.assert_allclose(shapley.values, expected[:, :, 0], rtol=0, atol=1e-12)


def test_a_sum_of_single_features_has_no_interactions():
    X, y = bits_and_labels()
    model = LogisticRegression().fit(X, y)
    shapley = shapley_values(model, X, interactions=True)
    diagonal = shapley.interactions.diagonal(axis1=1, axis2=2)
    np.testing.assert_array_equal(diagonal, shapley.values)
    assert np.count_nonzero(shapley.interactions) == np.count_nonzero(diagonal) > 0


def test_distinct_rows_of_many_columns():
    rng = np.random.default_rng(0)
    bits = rng.random((300, 70)) < 0.02
    codes, rows = distinct_rows(bits)
    np.testing.assert_array_equal(rows[codes], bits)
    assert len(rows) == len(np.unique(bits, axis=0))


def test_errors_name_the_argument():
    X, y = bits_and_labels()
    model = ConjunctionLogisticRegression(C=1.0, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="background"):
        shapley_values(model, X[:1])
    with pytest.raises(ValueError, match="background gives 3 features"):
        shapley_values(model, X, X[:, :3])
    with pytest.raises(ValueError, match="feature_groups has 2 labels"):
        shapley_values(model, X, feature_groups=["a", "b"])
    with pytest.raises(ValueError, match="feature_names has 2 names"):
        shapley_values(model, X, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="sample_weight"):
        shapley_values(model, X, X, sample_weight=np.zeros(len(X)))
    with pytest.raises(ValueError, match="sample_weight"):
        shapley_values(model, X, X, sample_weight=-np.ones(len(X)))
    with pytest.raises(ValueError, match="sample_weight has a sum of inf"):
        shapley_values(model, X, X, sample_weight=np.full(len(X), 1e308))
    for other in (
        KernelPerceptron(random_state=0).fit(X, y),
        BooleanSVC(max_literals=2).fit(X, y),  # divided by norms
        KernelPerceptron("rbf").fit(np.tile(X, 3), y),
        BoostByMajorityRegressor(n_estimators=3, random_state=0).fit(X, y * 1.0),
    ):
        with pytest.raises(ValueError, match="not a sum of conjunctions"):
            shapley_values(other, X)
    numbers = LogisticRegression().fit(X * 2.0, y)
    with pytest.raises(ValueError, match="X must hold zeros and ones"):
        shapley_values(numbers, X * 2.0)
    with pytest.raises(ValueError, match="background must hold zeros and ones"):
        shapley_values(numbers, X, X * 2.0)
    rules = [tuple((j, True) for j in range(k, 40, 7)) for k in range(7)]
    rules += [((j, bool(j % 3)), (j + 1, True)) for j in range(39)]
    formula = FirstRule(Columns(40), rules, [1] * len(rules), 0, [0, 1])
    with pytest.raises(ValueError, match="20000 products"):
        shapley_values(LabelModel(formula), np.eye(40))


def test_frame_keeps_the_index():
    X, y = WINE
    model = make_pipeline(BooleanEncoder(n_bins=3), AveragedPerceptron(random_state=0))
    shapley = shapley_values(model.fit(X, y), X[5:8], X)
    frame = shapley.to_frame()
    assert frame.index.tolist() == [5, 6, 7]
    assert (
        frame["score of b", "color_intensity"].tolist()
        == shapley.values[:, 3, 1].tolist()
    )
    one = shapley_values(model.fit(*TWO), TWO[0][:2], TWO[0]).to_frame()
    assert one.columns.tolist() == list(X.columns)
    series = shapley_values(model, X.iloc[5], X)
    assert series.values.shape == (1, 6)


def test_data_are_the_columns_that_are_explained():
    X, y = bits_and_labels(n_features=3)
    X = pd.DataFrame(X * [2, 3, 5], columns=["a", "b", "c"])
    swap = make_column_transformer((Binarizer(), ["c", "b"]), (Binarizer(), ["a"]))
    swapped = make_pipeline(swap, AveragedPerceptron(random_state=0)).fit(X, y)
    assert shapley_values(swapped, X).data is None
    model = make_pipeline(BooleanEncoder(), AveragedPerceptron(random_state=0))
    np.testing.assert_array_equal(shapley_values(model.fit(X, y), X).data, X)
    n_features = len(model[0].get_feature_names_out())
    groups = ["first", "second", *["third"] * (n_features - 2)]
    assert shapley_values(model, X, feature_groups=groups).data is None


def test_to_shap(monkeypatch):
    class Explanation:
        def __init__(self, values, base_values, data, **names):
            self.values, self.base_values, self.data = values, base_values, data
            self.names = names

    X, y = bits_and_labels()
    model = ConjunctionLogisticRegression(C=1.0, random_state=0).fit(X, y)
    shapley = shapley_values(model, X)
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match="pip install shap"):
        shapley.to_shap()
    shap = type(sys)("shap")
    shap.Explanation = Explanation
    monkeypatch.setitem(sys.modules, "shap", shap)
    explanation = shapley.to_shap()
    assert explanation.base_values.shape == (60,)
    np.testing.assert_array_equal(explanation.data, X)
    assert explanation.names["feature_names"] == ["x0", "x1", "x2", "x3", "x4"]
    assert explanation.names["output_names"] is None


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (18000.0, ".4g", "18000"),
        (-123456.7, "+.2g", "-123457"),
        (0.012345, ".3g", "0.0123"),
        (1e-9, ".3g", "1e-09"),
        (2.5e15, ".3g", "2.5e+15"),
    ],
)
def test_numbers_of_pictures_have_no_power_of_ten(value, form, text):
    assert short_text(value, form) == text


@pytest.mark.parametrize("kind", ["importance", "waterfall", "beeswarm"])
@pytest.mark.parametrize("data", [TWO, WINE])
def test_display(kind, data):
    X, y = data
    model = make_pipeline(BooleanEncoder(n_bins=3), AveragedPerceptron(random_state=0))
    model.fit(X, y)
    display = ShapleyDisplay.from_estimator(
        model, X, kind=kind, sample=2, max_columns=3
    )
    shapley = shapley_values(model, X)
    values, base = shapley.values, shapley.base_values
    if values.ndim == 3:
        values, base = values[:, :, 0], base[0]
    shown = [text.get_text() for text in display.ax_.get_yticklabels()]
    if kind == "waterfall":
        order = np.argsort(-np.abs(values[2]))
        name = X.columns[order[0]]
        assert shown[0] == f"{name} = {X.iloc[2, order[0]]:.4g}"
        assert shown[3] == f"{np.count_nonzero(values[2]) - 3} more"
        bars = display.ax_.patches  # each begins where the one above ends
        ends = [base + values[2].sum(), *(bar.get_x() for bar in bars)]
        np.testing.assert_allclose(ends[-1], base, atol=1e-12)
        np.testing.assert_allclose(
            [bar.get_width() for bar in bars], -np.diff(ends), atol=1e-12
        )
    else:
        means = np.abs(values).mean(axis=0)
        order = np.argsort(-means)[:3]
        assert shown == X.columns[order].tolist()
    if kind == "importance":
        widths = [bar.get_width() for bar in display.ax_.patches]
        np.testing.assert_allclose(widths, means[order])
    if kind == "beeswarm":
        points = np.concatenate([one.get_offsets() for one in display.ax_.collections])
        np.testing.assert_allclose(points[:, 0], values[:, order].T.ravel())
        places = np.repeat([0, 1, 2], len(X))
        assert np.abs(points[:, 1] - places).max() <= 0.4 + 1e-12
        keys = np.round(np.column_stack([points, places]), 9)
        assert len(np.unique(keys, axis=0)) > len(X)
    with pytest.raises(ValueError, match="kind"):
        ShapleyDisplay(shapley, kind="pie")
    with pytest.raises(ValueError, match="sample"):
        ShapleyDisplay(shapley, sample=len(X))
    with pytest.raises(ValueError, match="output"):
        ShapleyDisplay(shapley, output=3)


@pytest.mark.parametrize("kind", ["importance", "waterfall", "beeswarm"])
@pytest.mark.parametrize("values", [[[0.0, 0.0]], [[0.3, 0.0]], [[1e-310, -1e-310]]])
def test_display_of_few_values(kind, values):
    shapley = ShapleyValues(values, 1.0, ["a", "b"], ["score of 1"], None, [0])
    display = ShapleyDisplay(shapley, kind=kind).plot()
    n_shown = np.count_nonzero(values)
    assert len(display.ax_.get_yticklabels()) == n_shown


def test_missing_numbers_are_grey():
    data = np.array([[np.nan, 1], [2, 1], [1, 1], [3.0, "text"]], dtype=object)
    values = np.arange(8.0).reshape(4, 2)
    shapley = ShapleyValues(values, 0.0, ["a", "b"], ["score of 1"], data, range(4))
    display = ShapleyDisplay(shapley, kind="beeswarm").plot()
    text, numbers = [one.get_facecolors() for one in display.ax_.collections]
    grey = mpl.colors.to_rgba("0.6")
    np.testing.assert_allclose(text, [grey] * len(text))
    low_to_high = [mpl.colors.to_rgba(color) for color in SCALE]
    np.testing.assert_allclose(numbers[[2, 1, 3]], low_to_high, atol=0.01)
    np.testing.assert_allclose(numbers[0], grey)
