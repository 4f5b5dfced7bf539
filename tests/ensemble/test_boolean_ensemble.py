"""The ensemble: weights of pools, held-out logits, frames, weights of samples."""

import sqlite3
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import logit, softmax
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BooleanEnsembleClassifier,
    BooleanEnsembleRegressor,
    BooleanGaussianProcessClassifier,
    BooleanGradientBoostingClassifier,
    BoostByMajority,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
)
from sklboolean.ensemble import _boolean_ensemble as of_classes
from sklboolean.ensemble import _ensemble
from sklboolean.ensemble._boolean_ensemble import Logits
from sklboolean.ensemble._ensemble import draw_folds, fit_member
from sklboolean.ensemble._pooling import (
    CS,
    STRENGTH,
    centered_logits,
    choose_ridge_C,
    pool_weights,
    prediction_weights,
)
from sklboolean.inspection import (
    check_monotone,
    counterfactuals,
    explain,
    shapley_values,
)
from sklboolean.io import BitTable

SMALL = [("bayes", BernoulliNB()), ("linear", LogisticRegression())]


def frame(n_samples=90, seed=0):
    """Numbers, categories and gaps, labelled by a conjunction of two columns."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n_samples).astype(float)
    color = rng.choice(["red", "blue", "green"], n_samples)
    y = np.where((age > 40) & (color != "red"), "yes", "no")
    age[rng.random(n_samples) < 0.1] = np.nan
    return pd.DataFrame({"age": age, "color": color}), y


@settings(max_examples=20)
@given(
    st.integers(0, 2**31), st.integers(1, 3), st.integers(2, 4), st.integers(0, 30),
    st.sampled_from([0.0, 0.1, 0.4]),
)  # fmt: skip
def test_weights_minimize_the_objective(seed, n_models, n_classes, n_samples, noise):
    """Written down by its definition, the objective is not lower anywhere near."""
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.ones(n_classes), (n_models, n_samples))
    logits = np.array([centered_logits(table) for table in probabilities])
    codes = rng.integers(n_classes, size=n_samples)
    sample_weight, prior = rng.random(n_samples), rng.random(n_models) + 0.1

    def objective(weights):
        loss = 0.0
        for i in range(n_samples):
            scores = sum(w * logits[m, i] for m, w in enumerate(weights))
            p = softmax(scores)
            others = np.delete(p, codes[i]).sum()
            label = (1 - noise) * p[codes[i]] + noise / (n_classes - 1) * others
            loss -= sample_weight[i] * np.log(label)
        modes = prior / prior.sum()
        return loss + STRENGTH * sum(weights - modes * np.log(weights))

    found, least = pool_weights(logits, codes, sample_weight, prior, noise)
    assert (found > 0).all()
    assert least == pytest.approx(objective(found))
    for _ in range(5):
        other = found * np.exp(0.05 * rng.standard_normal(n_models))
        assert objective(found) <= objective(other) + 1e-4


@pytest.mark.parametrize("n_classes", [2, 3])
def test_known_noise_gives_probabilities_of_right_labels(n_classes):
    """Every bit says the class; a fifth of the labels are wrong."""
    samples = np.arange(100 * n_classes)
    codes, copies = samples % n_classes, samples // n_classes
    X = csr_array(np.eye(n_classes)[codes])
    moves = np.where(copies % 5, 0, 1 + copies // 5 % (n_classes - 1))
    labels = (codes + moves) % n_classes
    model = BooleanEnsembleClassifier(SMALL, random_state=0).fit(X, labels)
    found = model.predict_proba(X).max(axis=1)
    np.testing.assert_allclose(found, 0.8, atol=0.03)
    model.set_params(label_noise=0.2).fit(X, labels)
    assert model.predict_proba(X).max(axis=1).min() > 0.95
    assert log_loss(codes, model.predict_proba(X)) < 0.05
    assert model.label_noise_ == 0.2
    estimate = model.set_params(label_noise="auto").fit(X, labels).label_noise_
    assert 0.02 < estimate < 0.2
    assert model.fit(X, codes).label_noise_ < 0.02


def test_without_samples_weights_are_the_prior():
    nothing = np.empty((3, 0, 2))
    prior = np.array([1, 2, 1])
    weights, _ = pool_weights(nothing, np.empty(0, int), np.empty(0), prior)
    np.testing.assert_allclose(weights, [0.25, 0.5, 0.25])


def test_centered_logits_are_those_of_two_classes():
    p = np.array([0.2, 0.5, 0.999])
    logits = centered_logits(np.column_stack([1 - p, p]))
    np.testing.assert_allclose(logits[:, 1] - logits[:, 0], logit(p))
    assert np.isfinite(centered_logits(np.array([[0.0, 1.0]]))).all()


def test_C_has_the_smallest_held_out_loss():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 4)).astype(float)
    codes = (X[:, 0] + rng.random(60) > 0.8).astype(int)
    weights = rng.random(60)
    tests = [np.arange(k, 60, 3) for k in range(3)]
    folds = [(np.setdiff1d(np.arange(60), test), test) for test in tests]

    def loss(C):
        losses = []
        for train, test in folds:
            w, s = weights[train], 2 * codes - 1

            def objective(v, train=train, w=w, s=s, C=C):
                margins = s[train] * (X[train] @ v[:-1] + v[-1])
                return C * w @ np.logaddexp(0, -margins) + v[:-1] @ v[:-1] / 2

            v = minimize(objective, np.zeros(5)).x
            margins = s[test] * (X[test] @ v[:-1] + v[-1])
            losses.append(np.average(np.logaddexp(0, -margins), weights=weights[test]))
        return np.mean(losses)

    losses = np.array([loss(C) for C in CS])
    found = choose_ridge_C(X, codes, weights, folds)
    assert losses[np.flatnonzero(found == CS)[0]] <= losses.min() + 1e-4


def test_held_out_logits_are_of_models_that_did_not_see_the_samples():
    X, y = np.random.default_rng(0).integers(0, 2, (20, 3)), np.arange(20) % 2
    tests = [np.arange(0, 10), np.arange(10, 20)]
    folds = [(tests[1], tests[0]), (tests[0], tests[1])]
    both = Logits(np.array([0, 1]))
    _, logits = fit_member(BernoulliNB(), X, y, np.ones(20), folds, 0, both)
    expected = [
        BernoulliNB().fit(X[train], y[train]).predict_proba(X[test])
        for train, test in folds
    ]
    np.testing.assert_allclose(logits, centered_logits(np.concatenate(expected)))
    process, logits = fit_member(
        BooleanGaussianProcessClassifier(max_iter=1), X, y, None, folds, 0, both
    )
    found = logits[:, 1] - logits[:, 0]
    expected = process.calibration_slope_ * process.leave_one_out_
    np.testing.assert_allclose(found, expected)
    for name, codes in [("two", y), ("three", np.arange(20) % 3)]:
        model = ConjunctionLogisticRegression(cv=folds)
        logits_of = Logits(np.unique(codes))
        model, logits = fit_member(model, X, codes, None, folds, 0, logits_of)
        shares = softmax(logits, axis=1)
        losses = -np.log(shares[np.arange(20), codes])
        chosen = -model.scores_[:, [0.03, 0.1, 0.3, 1, 3, 10, 30].index(model.C_)]
        np.testing.assert_allclose(
            losses.reshape(2, 10).mean(axis=1), chosen, err_msg=name
        )


def test_a_frame_is_learned_in_one_call():
    X, y = frame(200)
    model = BooleanEnsembleClassifier(random_state=0).fit(X[:120], y[:120])
    assert model.score(X[120:], y[120:]) > 0.8
    assert len(model.estimators_) == len(model.weights_) == 3
    assert list(model.feature_names_in_) == ["age", "color"]
    assert list(model.estimators_[2].columns_) == ["age", "color"]
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(logit(probabilities[:, 1]), model.decision_function(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), probabilities)
    shapley = shapley_values(model, X[:2], X[:20])
    np.testing.assert_allclose(shapley.scores(), model.decision_function(X[:2]))
    assert shapley.feature_names == ["age", "color"]


def test_only_the_process_sees_fine_thresholds():
    X, y = frame(150)
    model = BooleanEnsembleClassifier(random_state=0).fit(X, y)
    names = model.encoder_.get_feature_names_out()
    coarse = np.isin(names, BooleanEncoder().fit(X, y).get_feature_names_out())
    fine = BooleanEncoder(n_bins=32).fit(X).get_feature_names_out()
    assert set(fine) <= set(names)
    assert set(names) == set(fine) | set(names[coarse])
    linear, conjunctions, process = model.estimators_
    assert not linear.coef_[:, ~coarse].any()
    assert conjunctions.feature_importances_[~coarse].max() == 0
    assert process.feature_importances_[~coarse].max() > 0
    given = BooleanEnsembleClassifier(encoder=BooleanEncoder(n_bins=4), random_state=0)
    assert len(given.fit(X, y).encoder_.thresholds_[0]) == 3


def test_logits_are_the_weighted_sum_of_those_of_the_models():
    X, y = frame()
    few = BooleanEncoder(n_bins=3)  # probabilities that no logit clips
    model = BooleanEnsembleClassifier(SMALL, encoder=few, random_state=0).fit(X, y)
    bits = model.encoder_.transform(X)
    expected = sum(
        w * logit(one.predict_proba(bits)[:, 1])
        for w, one in zip(model.weights_, model.estimators_, strict=True)
    )
    np.testing.assert_allclose(model.decision_function(X), expected)


def test_weights_are_relative_and_zeros_leave_samples_out():
    X, y = frame()
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    weights[::3] = 0
    one = BooleanEnsembleClassifier(SMALL, random_state=0)
    small = one.fit(X, y, weights / weights.sum()).predict_proba(X)
    rescaled = weights * (weights > 0).sum() / weights.sum()
    np.testing.assert_allclose(one.fit(X, y, rescaled).predict_proba(X), small)
    changed = np.where(weights > 0, y, "no")
    np.testing.assert_allclose(one.fit(X, changed, rescaled).predict_proba(X), small)


def test_of_more_than_a_thousand_samples_a_quarter_is_held_out_once():
    X = np.random.default_rng(0).integers(0, 2, (1200, 3))
    folds = draw_folds(X[:, 0], np.random.RandomState(0))
    assert len(folds) == 1
    assert len(folds[0][1]) == 300
    cases = (X[:1000, 0], 5), (X.sum(axis=1)[:501], 1), (np.zeros(3, dtype=int), 3)
    for strata, n_folds in cases:
        assert len(draw_folds(strata, np.random.RandomState(0))) == n_folds


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_ensemble_of_formulas_is_a_formula(n_classes):
    X, y = frame(120)
    labels = np.where(X["color"] == "blue", "other", y) if n_classes == 3 else y
    trees = BooleanGradientBoostingClassifier(max_iter=9)
    members = [("linear", LogisticRegression()), ("trees", trees)]
    model = BooleanEnsembleClassifier(members, random_state=0).fit(X, labels)
    encoder, pool = model.pipeline_[0], model._pool
    bits = encoder.transform(X).toarray().astype(bool)
    np.testing.assert_allclose(
        pool._formula().evaluate(bits), model.predict_proba(X), atol=1e-12
    )
    with sqlite3.connect(":memory:") as database:
        X.to_sql("t", database, index=False)
        sql = f"SELECT {model.to_sql()} FROM t AS f"
        found = [label for (label,) in database.execute(sql)]
    assert found == model.predict(X).tolist()
    shapley = shapley_values(model, X[:2], X[:20])
    np.testing.assert_allclose(shapley.scores(), model.decision_function(X[:2]))
    assert explain(model, X[:2])[0].kind == "weights"
    least = counterfactuals(model, X[:1])
    assert (model.predict(least.values) != model.predict(X[:1])).all()


@pytest.mark.filterwarnings("ignore:The first hypothesis alone")
@pytest.mark.parametrize(
    "member", [BoostByMajority(n_estimators=5), AveragedPerceptron()]
)
def test_scores_that_are_no_log_odds_give_no_formula(member):
    # Votes are divided by their number, and a perceptron's slope is that of others.
    X, y = frame(60)
    model = BooleanEnsembleClassifier([("a", member)], random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="is no formula"):
        model.to_sql()


@pytest.mark.slow
def test_the_default_of_many_samples_is_written_in_sql():
    X, y = frame(of_classes.MOST_FOR_PROCESS + 100)
    model = BooleanEnsembleClassifier(random_state=0).fit(X, y)
    assert len(model.estimators_) == 6
    with sqlite3.connect(":memory:") as database:
        X.to_sql("t", database, index=False)
        columns = database.execute(f"SELECT {model.to_sql(output='all')} FROM t AS f")
        found = columns.fetchall()
    assert [row[0] for row in found] == model.predict(X).tolist()
    probabilities = np.array([row[-2:] for row in found])
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-12)


def test_members_follow_the_number_of_samples(monkeypatch):
    X, codes = csr_array(np.eye(40, dtype=bool)), np.arange(40) % 2
    monkeypatch.setattr(of_classes, "MOST_FOR_LINEAR", 39)
    expected = {50: ("conjunctions", "process"), 30: ("conjunctions", *["trees"] * 4)}
    for most, names in expected.items():
        monkeypatch.setattr(of_classes, "MOST_FOR_PROCESS", most)
        model = BooleanEnsembleClassifier()
        found = model._models(X, 40, codes, np.ones(40), [])
        assert tuple(name for name, _ in found) == names
    # Of many classes conjunctions take too long, and trees are more accurate.
    found = model._models(X, 40, np.arange(40) % 6, np.ones(40), [])
    assert [name for name, _ in found] == ["trees"] * 3
    # Fewer samples have the process, and of three classes or more both.
    monkeypatch.setattr(of_classes, "MOST_FOR_PROCESS", 50)
    for most, n_trees in (40, 0), (39, 4):
        monkeypatch.setattr(of_classes, "MOST_WITHOUT_TREES", most)
        found = model._models(X, 40, np.arange(40) % 6, np.ones(40), [])
        names = [name for name, _ in found]
        assert names == ["conjunctions", "process", *["trees"] * n_trees]
        assert {tree.max_leaf_nodes for _, tree in found[2:]} <= {20}
        found = model._models(X, 40, codes, np.ones(40), [])
        assert [name for name, _ in found] == ["conjunctions", "process"]
    model = BooleanEnsembleClassifier(monotonic_cst=[1, 0])
    monkeypatch.setattr(of_classes, "MANY_CLASSES", 3)
    samples = np.arange(120).reshape(60, 2)
    with pytest.raises(ValueError, match="two classes, and y has 3"):
        model.fit(samples, np.arange(60) % 3)


def test_models_that_take_long_are_fitted_first(monkeypatch):
    X, y = np.random.default_rng(0).random((80, 3)), np.arange(80) % 3
    trees = BooleanGradientBoostingClassifier(max_iter=2)
    models = [
        ("linear", LogisticRegression()), ("small", trees),
        ("large", clone(trees).set_params(max_leaf_nodes=20)),
        ("conjunctions", ConjunctionLogisticRegression(C=1.0, max_literals=1)),
    ]  # fmt: skip
    begun = []

    def fit(model, *others):
        begun.append(model)
        return fit_member(model, *others)

    monkeypatch.setattr(_ensemble, "fit_member", fit)
    model = BooleanEnsembleClassifier(models, random_state=0).fit(X, y)
    # Of more than two classes conjunction models take the longest.
    assert begun == [models[k][1] for k in (3, 2, 1, 0)]
    kinds = [type(estimator) for estimator in model.estimators_]
    assert kinds == [type(estimator) for _, estimator in models]
    begun.clear()
    BooleanEnsembleClassifier(models, random_state=0).fit(X, y > 0)
    assert begun == [models[k][1] for k in (2, 1, 3, 0)]


def test_samples_of_weight_zero_do_not_refine_thresholds(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(90, 1)), np.arange(90) % 2
    weights = np.repeat([1.0, 0.0], [60, 30])
    monkeypatch.setattr("sklboolean.ensemble._ensemble.MOST_FOR_FEW_BINS", 60)
    few = BooleanGaussianProcessClassifier(max_iter=1)
    model = BooleanEnsembleClassifier([("process", few)], random_state=0)
    weighted = clone(model).fit(X, y, weights).encoder_.get_feature_names_out()
    removed = model.fit(X[:60], y[:60]).encoder_.get_feature_names_out()
    np.testing.assert_array_equal(weighted, removed)


def test_sql_of_a_process_says_how_to_get_a_formula():
    X, y = frame(60)
    few = BooleanGaussianProcessClassifier(max_iter=1)
    model = BooleanEnsembleClassifier([("process", few)], random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"is no formula\. .*distill"):
        model.to_sql()


def test_an_ensemble_may_end_a_pipeline():
    X, y = frame()
    model = make_pipeline(
        FunctionTransformer(feature_names_out="one-to-one"),
        BooleanEnsembleClassifier([("linear", LogisticRegression())], random_state=0),
    ).fit(X, y)
    shapley = shapley_values(model, X[:2], X[:20])
    np.testing.assert_allclose(shapley.scores(), model.decision_function(X[:2]))


@settings(max_examples=20)
@given(st.integers(0, 2**31), st.integers(1, 3), st.integers(2, 30))
def test_weights_of_predictions_minimize_the_objective(seed, n_models, n_samples):
    rng = np.random.default_rng(seed)
    targets = rng.normal(size=n_samples)
    predictions = targets + rng.normal(size=(n_models, n_samples))
    sample_weight, prior = rng.random(n_samples) + 0.1, rng.random(n_models) + 0.1

    def without_mean(values):
        return values - np.average(values, weights=sample_weight)

    def mean_square(values):
        return np.average(values**2, weights=sample_weight)

    parts = np.array([without_mean(table) for table in predictions])
    rest = without_mean(targets)
    unit = min(mean_square(rest - part) for part in parts)

    def objective(weights):
        loss = (sample_weight * (rest - weights @ parts) ** 2).sum() / (2 * unit)
        return loss + STRENGTH * (weights - prior / prior.sum() * np.log(weights)).sum()

    found, intercept, errors = prediction_weights(
        predictions, targets, sample_weight, prior
    )
    assert np.average(errors, weights=sample_weight) == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(errors, targets - intercept - found @ predictions)
    for _ in range(5):
        other = found * np.exp(0.05 * rng.standard_normal(n_models))
        assert objective(found) <= objective(other) + 1e-4


def test_a_regressor_learns_a_frame_and_states_intervals():
    X, y = frame(400)
    rng = np.random.default_rng(0)
    numbers = 3.0 * (y == "yes") + rng.normal(scale=0.5, size=len(y))
    model = BooleanEnsembleRegressor(random_state=0)
    model.fit(X[:200], numbers[:200], np.ones(200))
    assert model.score(X[200:], numbers[200:]) > 0.7
    low, high = model.predict_interval(X[200:], coverage=0.8).T
    inside = (low <= numbers[200:]) & (numbers[200:] <= high)
    # 200 samples: three standard errors are .085.
    assert abs(inside.mean() - 0.8) < 0.1
    shapley = shapley_values(model, X[:2], X[:20])
    np.testing.assert_allclose(shapley.scores(), model.predict(X[:2]))
    with pytest.raises(ValueError, match="coverage must be at most"):
        model.predict_interval(X, coverage=0.999)


def test_the_formula_of_regressors_is_their_weighted_sum():
    X, y = frame()
    model = BooleanEnsembleRegressor(
        [("ridge", Ridge()), ("line", LinearRegression())], random_state=0
    ).fit(X, y == "yes")
    bits = model.encoder_.transform(X).toarray().astype(bool)
    np.testing.assert_allclose(
        model._pool._formula().predict(bits), model.predict(X), atol=1e-9
    )


@pytest.mark.parametrize(
    ("estimators", "y", "message"),
    [
        ([], [0, 0, 1, 1], "estimators must be a list"),
        ([LogisticRegression()], [0, 0, 1, 1], "estimators must be a list"),
        (5, [0, 0, 1, 1], "estimators must be a list"),
        ([("a", LogisticRegression)], [0, 0, 1, 1], "estimators must be a list"),
        (SMALL, [0, 1, 2, 3], "one sample of each class. An ensemble needs two"),
    ],
)
def test_bad_input_is_named(estimators, y, message):
    X = [[0, 1], [1, 0], [1, 1], [0, 0]]
    with pytest.raises(ValueError, match=message):
        BooleanEnsembleClassifier(estimators).fit(X, y)
    with pytest.raises(ValueError, match="encoder must be a BooleanEncoder or None"):
        BooleanEnsembleClassifier(encoder="auto").fit(X, y)
    for noise in (-0.1, 0.8, "much"):  # four labels, of two classes at least
        with pytest.raises(ValueError, match="label_noise must be"):
            BooleanEnsembleClassifier(label_noise=noise).fit(X, y)


@pytest.mark.parametrize(
    ("X", "message"),
    [({"a": [1]}, "X is a dict"), ([[0], [1]], "numbers of samples"), ([1] * 4, "2D")],
)
def test_bad_samples_with_weights_are_named(X, message):
    with pytest.raises(ValueError, match=message):
        BooleanEnsembleClassifier(SMALL).fit(X, [0, 1, 0, 1], sample_weight=np.ones(4))


@pytest.mark.parametrize("kind", [BooleanEnsembleClassifier, BooleanEnsembleRegressor])
def test_sparse_counts_are_bits_in_fit_and_predict(kind):
    counts = np.random.default_rng(0).poisson(0.8, (90, 4))
    y = (counts.sum(axis=1) > 3).astype(int)
    member = LogisticRegression() if kind is BooleanEnsembleClassifier else Ridge()
    of_bits, model = (
        kind([("linear", member)], random_state=0).fit(csr_array(X), y)
        for X in (counts > 0, counts * 1.5)
    )
    expected = of_bits.predict(csr_array(counts > 0))
    np.testing.assert_array_equal(model.predict(csr_array(counts)), expected)
    assert model.to_sql() == of_bits.to_sql()


def test_lists_with_weights_keep_text_and_numbers():
    X = [["a", 1], ["b", 2]] * 10
    plain = BooleanEnsembleClassifier(SMALL, random_state=0).fit(X, [0, 1] * 10)
    weighted = BooleanEnsembleClassifier(SMALL, random_state=0)
    weighted.fit(X, [0, 1] * 10, sample_weight=np.ones(20))
    np.testing.assert_array_equal(weighted.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("kind", [BooleanEnsembleClassifier, BooleanEnsembleRegressor])
def test_tables_bring_their_labels_weights_and_names(tmp_path, kind):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (90, 5)).astype(bool), columns=list("abcde"))
    y, weights = (X["a"] & X["b"]).to_numpy(dtype=int), rng.integers(0, 3, 90)
    table = BitTable.write(tmp_path / "bits", [(X, y, weights)])
    models = SMALL if kind is BooleanEnsembleClassifier else [("ridge", Ridge())]
    model = kind(models, random_state=0)
    expected = clone(model).fit(csr_array(X), y, sample_weight=weights)
    model.fit(table)
    assert model.feature_names_in_.tolist() == list("abcde")
    np.testing.assert_array_equal(model.weights_, expected.weights_)
    np.testing.assert_array_equal(model.predict(table), expected.predict(csr_array(X)))
    assert model.score(table) == expected.score(csr_array(X), y, weights)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(BitTable.write(tmp_path / "other", [(X[["a", "b"]], y)]))


@pytest.mark.parametrize("kind", [BooleanEnsembleClassifier, BooleanEnsembleRegressor])
def test_directions_hold_and_are_proved(kind):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "a": rng.normal(size=40), "b": rng.integers(0, 5, 40),
        "c": rng.choice(["x", "y"], 40), "d": 3.0,
    })  # fmt: skip
    frame.loc[:4, "a"] = np.nan
    y = (frame["a"].fillna(0) ** 2 - frame["b"] + rng.normal(size=40) > 0).astype(int)
    directions = {"a": 1, "b": -1, "d": 1}  # d is constant: it has no features
    with warnings.catch_warnings(action="ignore"):
        model = kind(monotonic_cst=directions, random_state=0).fit(frame, y)
        check = check_monotone(model, frame, {"a": 1, "b": -1})
    assert check.is_proved
    assert "The score never falls as a grows." in model.pipeline_[-1].to_text()


@pytest.mark.parametrize("kind", [BooleanEnsembleClassifier, BooleanEnsembleRegressor])
def test_directions_have_names_or_places(kind):
    frame = pd.DataFrame({"a": [0.5, 1, 2] * 9, "c": ["x", "y", "y"] * 9, "d": 3.0})
    y = np.array([0, 1, 1] * 9)
    of_kind = {BooleanEnsembleRegressor: (Ridge(), ConjunctionRegressor(C=1.0))}
    free, able = of_kind.get(kind, (BernoulliNB(), ConjunctionLogisticRegression(C=1)))
    able, members = [("able", able)], [("free", free)]
    with warnings.catch_warnings(action="ignore"):
        by_name = kind(able, monotonic_cst={"a": 1, "d": 1}, random_state=0).fit(
            frame, y
        )
        by_place = kind(able, monotonic_cst=[1, 0, 1], random_state=0).fit(frame, y)
    np.testing.assert_array_equal(by_name.predict(frame), by_place.predict(frame))
    assert by_name.estimators_[0].monotonic_cst == {"a": 1}  # d has no features
    unable = "estimators: 'free', .* cannot keep to monotonic_cst"
    for params, message in (
        ({"monotonic_cst": {"e": 1}}, "monotonic_cst names 'e', which is no column"),
        ({"monotonic_cst": {"c": 1}}, "monotonic_cst names 'c', .* levels"),
        ({"monotonic_cst": [1, 0]}, "monotonic_cst has 2 entries, and X has 3"),
        ({"estimators": members}, unable),
    ):
        wrong = kind(**{"monotonic_cst": {"a": 1}, **params})
        with (
            warnings.catch_warnings(action="ignore"),
            pytest.raises(ValueError, match=message),
        ):
            wrong.fit(frame, y)


@pytest.mark.parametrize(
    ("kind", "member"),
    [
        (BooleanEnsembleClassifier, LogisticRegression()),
        (BooleanEnsembleRegressor, Ridge()),
    ],
)
def test_sql_of_sparse_counts_reads_values(kind, member):
    counts = np.random.default_rng(0).poisson(0.7, (80, 3))
    y = (counts[:, 0] > 0) & (counts[:, 1] == 0)
    model = kind([("sum", member)], random_state=0).fit(csr_array(counts), y * 1)
    names = ["a", "b", "c"]
    connection = sqlite3.connect(":memory:")
    pd.DataFrame(counts, columns=names).to_sql("t", connection, index=False)
    query = f"SELECT {model.to_sql(names)} FROM t AS f"
    found = [row[0] for row in connection.execute(query)]
    connection.close()
    np.testing.assert_allclose(found, model.predict(csr_array(counts)))
