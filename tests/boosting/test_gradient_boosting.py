"""Boosted trees: their growth by definition, their losses, and what they promise."""

import threading
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.boosting import grow_by_definition
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import log_loss

from sklboolean import (
    BooleanGradientBoostingClassifier,
    BooleanGradientBoostingRegressor,
)
from sklboolean._core.bits import pack_dense
from sklboolean.boosting import _gradient_boosting, _tree_growth
from sklboolean.boosting._bit_blocks import BitBlocks
from sklboolean.boosting._gradient_boosting import BoostingRounds
from sklboolean.boosting._tree_growth import GrowthParams, TreeGrower
from sklboolean.boosting._tree_losses import (
    LogisticLoss,
    PoissonLoss,
    QuantileLoss,
    SoftmaxLoss,
    SquaredLoss,
)
from sklboolean.io import BitTable

PLAIN = {"max_iter": 12, "n_iter_no_change": None, "random_state": 0}


def samples(n_samples=400, n_features=8, n_classes=2, seed=0):
    """Random bits and labels that follow from four of them, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, n_features), dtype=np.uint8)
    score = 2 * (X[:, 0] & X[:, 1]) + X[:, 2] - (X[:, 1] & X[:, 3])
    y = (score + rng.normal(scale=0.5, size=n_samples) > 0.5).astype(int)
    if n_classes > 2:
        y = (score + rng.integers(0, 2, n_samples)) % n_classes
    return X, y


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_codes_of_blocks_tell_the_bits(seed):
    rng = np.random.default_rng(seed)
    n_samples, n_features = rng.integers(1, 300), rng.integers(1, 90)
    share = rng.choice([0.01, 0.5, 0.9])
    bits = rng.random((n_samples, n_features)) < share
    if rng.integers(2):  # thresholds of one number
        bits = rng.random(n_samples)[:, None] <= np.sort(rng.random(n_features))
    blocks = BitBlocks.of(pack_dense(bits.astype(np.uint8)), n_features)
    for j in range(n_features):
        codes = blocks.codes[:, blocks.block_of_feature[j]]
        np.testing.assert_array_equal(blocks.is_true[j][codes], bits[:, j])
    assert np.diff(blocks.starts).max() <= 256
    # The runs of a feature are the codes of its block in which it is true.
    for j, block in enumerate(blocks.block_of_feature):
        edges = blocks.edges[blocks.indptr[j] : blocks.indptr[j + 1]].reshape(-1, 2)
        codes = [c for first, end in edges for c in range(first, end)]
        expected = blocks.starts[block] + np.flatnonzero(blocks.is_true[j])
        assert codes == expected.tolist()


@given(st.integers(0, 10**6))
def test_growth_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    n_samples, n_features = int(rng.integers(2, 60)), int(rng.integers(1, 9))
    bits = rng.integers(0, 2, (n_samples, n_features), dtype=np.uint8)
    # Numbers of twelve binary digits are their own rounding.
    slopes = rng.integers(-(2**12), 2**12, n_samples) / 2**10
    curvatures = rng.integers(1, 2**12, n_samples) / 2**10
    directions = rng.choice([-1, 0, 0, 1], n_features).astype(np.int8)
    rules = {
        "directions": directions.tolist(), "l2": Fraction(int(rng.integers(0, 3))),
        "max_leaf_nodes": int(rng.integers(2, 9)),
        "min_samples_leaf": int(rng.integers(1, 5)),
    }  # fmt: skip
    params = GrowthParams(
        rules["max_leaf_nodes"], rules["min_samples_leaf"], float(rules["l2"]),
        least_curvature=0.0,
    )  # fmt: skip
    blocks = BitBlocks.of(pack_dense(bits), n_features)
    groups = np.ones((n_features, 1), dtype=np.uint64)
    grower = TreeGrower(blocks, params, directions, groups, np.random.RandomState(0))
    members, own_scores = np.empty(n_samples, dtype=np.int32), np.zeros(n_samples)
    tree = grower.grow(slopes, curvatures, members, own_scores)
    exact = [list(map(Fraction, numbers)) for numbers in (slopes, curvatures)]
    values, splits = grow_by_definition(bits.tolist(), *exact, rules)
    nodes = np.flatnonzero(tree.features >= 0)
    assert sorted(splits) == list(zip(nodes, tree.features[nodes], strict=True))
    scores = np.zeros((n_samples, 1))
    tree.add_scores(pack_dense(bits), scores)
    np.testing.assert_array_equal(scores[:, 0], own_scores)
    np.testing.assert_allclose(own_scores, np.array(values, dtype=float), rtol=1e-12)


LOSSES = [LogisticLoss(), SoftmaxLoss(4), SquaredLoss()]
LOSSES += [QuantileLoss(0.3), PoissonLoss()]


def rounds_of(loss, targets):
    """Rounds of samples of weight 1 that are trained on, and held out too."""
    words, groups = np.zeros((len(targets), 1), dtype=np.uint64), np.ones((1, 1))
    tree = BitBlocks.of(words, 1), GrowthParams(2, 1, 0.0), np.zeros(1, dtype=np.int8)
    grower = TreeGrower(*tree, groups.astype(np.uint64), np.random.RandomState(0))
    twice = np.tile(targets, 2)
    return BoostingRounds(twice, np.ones(len(twice)), words, loss, grower, 1)


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_and_starts_are_those_of_the_loss(loss):
    rng = np.random.default_rng(0)
    K, weights = loss.n_outputs, rng.random(50) + 0.1
    targets = rng.integers(0, max(K, 2), 50) if K > 1 else rng.integers(0, 2, 50) * 1.0
    scores, step = rng.normal(size=(50, K)), 1e-6
    rounds = rounds_of(loss, targets)

    def values(scores):
        rounds.test_scores[:] = scores
        rounds.measure()
        return rounds.test_losses.copy()

    def derivatives(scores):
        rounds.scores[:50] = scores
        rounds.differentiate()
        return rounds.slopes[:50].copy(), rounds.curvatures[:50].copy()

    slopes, curvatures = derivatives(scores)
    for k in range(K):
        move = step * np.eye(K)[k]
        ahead, behind = scores + move, scores - move
        rise = values(ahead) - values(behind)
        np.testing.assert_allclose(slopes[:, k], rise / (2 * step), atol=1e-6)
        bend = derivatives(ahead)[0] - derivatives(behind)[0]
        assert (curvatures[:, k] >= bend[:, k] / (2 * step) - 1e-6).all()
    if isinstance(loss, LogisticLoss):
        expected = log_loss(targets, expit(scores[:, 0]))
        assert values(scores).mean() == pytest.approx(expected, rel=1e-12)
    start = loss.start(targets, weights)

    def mean_loss(constant):
        return np.average(values(np.tile(constant, (50, 1))), weights=weights)

    for change in 0.05 * rng.normal(size=(30, K)):
        assert mean_loss(start) <= mean_loss(start + change) + 1e-12


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_formula_is_the_model(n_classes):
    X, y = samples(n_classes=n_classes)
    model = BooleanGradientBoostingClassifier(**PLAIN).fit(X, y)
    formula = model._formula()
    assert len(set(formula.terms)) == len(formula.terms)
    scores = model.decision_function(X).reshape(len(X), -1)
    np.testing.assert_allclose(formula.scores(X.astype(bool)), scores, atol=1e-12)
    np.testing.assert_array_equal(formula.predict(X.astype(bool)), model.predict(X))


def test_sparse_bits_and_tables_give_the_same_model(tmp_path):
    X, y = samples(n_features=70)
    model = BooleanGradientBoostingClassifier(
        **PLAIN | {"max_iter": 3, "n_iter_no_change": 3}
    )
    expected = model.fit(X, y).decision_function(X)
    table = BitTable.write(tmp_path / "bits", [(X, y)])
    for data in (sparse.csr_array(X), table):
        again = model.fit(data, y)
        np.testing.assert_array_equal(again.decision_function(X), expected)


@pytest.mark.parametrize("loss", ["logistic", "softmax", "absolute_error"])
def test_the_model_does_not_depend_on_the_threads(loss, monkeypatch):
    X, y = samples(n_samples=9000, n_classes=3 if loss == "softmax" else 2)
    kind = (
        BooleanGradientBoostingRegressor
        if loss == "absolute_error"
        else BooleanGradientBoostingClassifier
    )
    params = {"loss": loss} if kind is BooleanGradientBoostingRegressor else {}
    model = kind(max_iter=4, random_state=0, **params).fit(X, y)
    monkeypatch.setattr(_tree_growth, "MANY", 100)
    monkeypatch.setattr(_gradient_boosting, "MANY", 100)
    monkeypatch.setattr(_gradient_boosting, "PIECE", 1000)
    started = threading.Thread.start
    numbers = []
    monkeypatch.setattr(threading.Thread, "start", lambda t: numbers.append(started(t)))
    again = clone(model).set_params(n_jobs=3).fit(X, y)
    assert len(numbers) >= 2
    for name in ("features", "children", "values", "gains"):
        expected = getattr(model._trees, name)
        np.testing.assert_array_equal(getattr(again._trees, name), expected)
    np.testing.assert_array_equal(again.validation_loss_, model.validation_loss_)


@given(st.integers(0, 10**6), st.sampled_from([None, "poisson", "absolute_error"]))
@settings(max_examples=15)
def test_directions_hold_in_every_sample(seed, loss):
    rng = np.random.default_rng(seed)
    X, y = samples(200, 6, seed=seed)
    directions = rng.choice([-1, 0, 1], 6)
    params = {"monotonic_cst": directions, "min_samples_leaf": 1, **PLAIN}
    everything = np.array(list(product([0, 1], repeat=6)), dtype=np.uint8)
    if loss is None:
        model = BooleanGradientBoostingClassifier(**params).fit(X, y)
        scores = model.decision_function(everything)
    else:
        targets = y + rng.exponential(size=200)
        model = BooleanGradientBoostingRegressor(loss, **params).fit(X, targets)
        scores = model.predict(everything)
    for j, direction in enumerate(directions):
        without = everything[everything[:, j] == 0]
        raised = without.copy()
        raised[:, j] = 1
        number = without @ (1 << np.arange(5, -1, -1))
        change = scores[number + (1 << (5 - j))] - scores[number]
        assert (direction * change >= -1e-12).all()


def test_directions_have_names():
    import pandas as pd

    X, y = samples()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    by_name = BooleanGradientBoostingRegressor(monotonic_cst={"c": -1}, **PLAIN)
    by_place = BooleanGradientBoostingRegressor(
        monotonic_cst=[0, 0, -1] + 5 * [0], **PLAIN
    )
    predicted = by_name.fit(frame, y).predict(frame)
    np.testing.assert_array_equal(predicted, by_place.fit(X, y).predict(X))
    with pytest.raises(ValueError, match="monotonic_cst names 'z', which is no column"):
        by_name.set_params(monotonic_cst={"z": 1}).fit(frame, y)


@pytest.mark.parametrize(
    ("given", "sets"),
    [
        ([{"a", 3, "b > 1.5", 5}, ["c"]], [{"a", "b"}, {"c"}, {"d"}]),
        ([("a", "b"), ("b", "c")], [{"a", "b"}, {"b", "c"}, {"d"}]),
        ("no_interactions", [{"a"}, {"b"}, {"c"}, {"d"}]),
        ("pairwise", [{p, q} for p in "abcd" for q in "abcd"]),
    ],
)
def test_only_columns_of_a_set_interact(given, sets):
    import pandas as pd

    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 4, (600, 4))
    y = numbers[:, 0] * numbers[:, 1] + numbers[:, 2] * numbers[:, 3] * numbers[:, 0]
    # Three thresholds of each column; features 3 to 5 are those of b.
    bits = {f"{c} > {t}.5": numbers[:, k] > t for k, c in enumerate("abcd")
            for t in range(3)}  # fmt: skip
    X = pd.DataFrame(bits)
    options = PLAIN | {"max_features": 0.2, "max_iter": 40}
    model = BooleanGradientBoostingRegressor(interaction_cst=given, **options).fit(X, y)
    free = BooleanGradientBoostingRegressor(**options).fit(X, y)

    def columns(model):
        trees = model._trees.conjunctions(12)
        leaves = (literals for tree in trees for literals, _ in tree)
        return [{"abcd"[j // 3] for j, _ in literals} for literals in leaves]

    found = columns(model)
    assert all(any(own <= group for group in sets) for own in found)
    # Each set is used to the full, and without sets others meet.
    assert all(any(own == group for own in found) for group in sets)
    assert not all(any(own <= group for group in sets) for own in columns(free))


def test_sets_of_columns_that_do_not_exist_are_refused():
    X, y = samples()
    for refused, message in [
        ([{0, 8}], "interaction_cst names 8, which is no column"),
        ([{"a"}], "interaction_cst names 'a', which is no column"),
        ("all", "interaction_cst must be one of"),
        ([0, 1], r"or list sets of columns; got \[0, 1\]"),
        (["ab"], r"or list sets of columns; got \['ab'\]"),
        ({"ab": 1}, r"or list sets of columns; got \{'ab': 1\}"),
    ]:
        model = BooleanGradientBoostingClassifier(interaction_cst=refused)
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
    options = {"max_iter": 2, "random_state": 0}
    listed = [
        BooleanGradientBoostingClassifier(interaction_cst=sets, **options).fit(X, y)
        for sets in ([{0, 1}, {2}], ({*group} for group in ([0, 1], [2])))
    ]
    assert np.array_equal(*(model.decision_function(X) for model in listed))
    X = np.zeros((2, 10_001), dtype=np.uint8)
    for refused in ("no_interactions", "pairwise"):  # 50 million pairs are not listed
        model.set_params(interaction_cst=refused)
        with pytest.raises(ValueError, match="makes more than 9999 sets for 10001 fe"):
            model.fit(X, [0, 1])


def test_the_kept_trees_have_the_least_held_out_loss():
    X, y = samples(600)
    model = BooleanGradientBoostingClassifier(0.3, random_state=0).fit(X, y)
    losses = model.validation_loss_
    assert model.n_iter_ == losses.argmin() + 1 < len(losses) < 1000
    assert log_loss(y, model.predict_proba(X)) < losses[0]


def test_weights_are_copies():
    X, y = samples()
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    options = PLAIN | {"max_features": 1.0, "min_samples_leaf": 1}
    for model in (
        BooleanGradientBoostingClassifier(**options),
        BooleanGradientBoostingRegressor("absolute_error", **options),
    ):
        scores = model.fit(X, y, weights).predict(X)
        copies = np.repeat(np.arange(len(y)), weights)
        np.testing.assert_allclose(model.fit(X[copies], y[copies]).predict(X), scores)


def test_only_poisson_refuses_targets_below_zero():
    X, below = np.eye(4), np.array([-1.0, 0.0, 2.0, 3.0])
    for refused in (below, np.zeros(4)):
        with pytest.raises(ValueError, match="loss='poisson' needs y of at least 0"):
            BooleanGradientBoostingRegressor("poisson", **PLAIN).fit(X, refused)
    weights = [1, 0, 0, 0]  # the only target with weight is 0
    with pytest.raises(ValueError, match="a target above 0 with weight"):
        BooleanGradientBoostingRegressor("poisson", **PLAIN).fit(X, below + 1, weights)
    for loss in ("squared_error", "absolute_error"):
        model = BooleanGradientBoostingRegressor(loss, **PLAIN).fit(X, below)
        assert np.isfinite(model.predict(X)).all()


def test_losses_of_numbers_have_their_meaning():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (4000, 4), dtype=np.uint8)
    y = rng.poisson(np.exp(X[:, 0] + 0.5 * X[:, 1])).astype(float)
    poisson = BooleanGradientBoostingRegressor("poisson", random_state=0).fit(X, y)
    means = np.exp(X[:, 0] + 0.5 * X[:, 1])
    assert np.abs(poisson.predict(X) / means - 1).max() < 0.15
    # The held-out loss is half of the deviance, so rounds do not end early where
    # counts are large.
    many = np.random.default_rng(0).poisson(1e5 * means).astype(float)
    counted = BooleanGradientBoostingRegressor("poisson", random_state=0).fit(X, many)
    assert np.abs(counted.predict(X) / 1e5 / means - 1).max() < 0.02
    exact = BooleanGradientBoostingRegressor("poisson", random_state=0).fit(X, means)
    assert 0 <= exact.validation_loss_.min() < 1e-4
    upper = BooleanGradientBoostingRegressor("quantile", quantile=0.9, random_state=0)
    assert 0.85 < np.mean(y <= upper.fit(X, y).predict(X)) < 0.99
    with pytest.raises(ValueError, match="loss='poisson'"):
        poisson.to_sql()


def test_leaves_are_no_more_than_samples():
    X, y = samples()
    options = {"max_iter": 2, "min_samples_leaf": 1, "random_state": 0}
    scores = [
        BooleanGradientBoostingClassifier(max_leaf_nodes=most, **options)
        .fit(X, y)
        .decision_function(X)
        for most in (len(y), 10**12)  # room for the second would be terabytes
    ]
    np.testing.assert_array_equal(*scores)


def test_huge_and_constant_targets_stay_finite():
    X, y = samples()
    for targets in (np.full(len(y), 3.0), y * 1e100, y * 1e-300, y * 1e-320):
        model = BooleanGradientBoostingRegressor(**PLAIN).fit(X, targets)
        assert np.isfinite(model.predict(X)).all()
    with pytest.raises(ValueError, match="y must be between -1e"):
        model.fit(X, y * 1e101)
    counts = np.where(X[:, 0] == 1, 1e9, 0.0)
    model = BooleanGradientBoostingRegressor("poisson", **PLAIN).fit(X, counts)
    assert np.isfinite(model.predict(X)).all()


def test_flat_losses_move_no_score():
    # All samples with weight are of one class. Its probability becomes 1, so that the
    # slopes and the curvatures are 0, and so is what is added to them.
    X, y = samples()
    model = BooleanGradientBoostingClassifier(
        1.0, l2_regularization=0.0, max_iter=200, n_iter_no_change=None, random_state=0
    )
    with pytest.warns(UserWarning, match="weight"):
        model.fit(X, y, sample_weight=y)
    assert np.isfinite(model.decision_function(X)).all()
    assert (model.predict_proba(X)[:, 1] == 1).all()


def test_defaults_learn_two_and_more_classes():
    for n_classes in (2, 4):
        X, y = samples(900, n_classes=n_classes)
        model = BooleanGradientBoostingClassifier(random_state=0).fit(X[:600], y[:600])
        shares = np.bincount(y[:600]) / 600
        of_shares = log_loss(y[600:], np.tile(shares, (300, 1)))
        assert log_loss(y[600:], model.predict_proba(X[600:])) < 0.8 * of_shares
        np.testing.assert_allclose(
            model.predict_log_proba(X), np.log(model.predict_proba(X)), atol=1e-9
        )


def test_several_classes_have_no_directions():
    X, y = samples(n_classes=3)
    with pytest.raises(ValueError, match="two classes, and y has 3"):
        BooleanGradientBoostingClassifier(monotonic_cst=[1] * 8).fit(X, y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"max_features": 1.5}, "max_features must be at most 1; got 1.5"),
        ({"validation_fraction": 1.0}, "validation_fraction must be below 1; got 1.0"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"monotonic_cst": [1]}, "monotonic_cst has 1 entries, and X has 8 features"),
        ({"monotonic_cst": [2] * 8}, "monotonic_cst must hold -1, 0 and 1"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    X, y = samples()
    for kind in (BooleanGradientBoostingClassifier, BooleanGradientBoostingRegressor):
        with pytest.raises(ValueError, match=message):
            kind(**params).fit(X, y)


def test_damaged_trees_are_errors():
    X, y = samples()
    model = BooleanGradientBoostingRegressor(**PLAIN).fit(X, y)
    for name, place, value in (
        ("features", 0, 99),
        ("children", 0, 0),
        ("roots", 0, 10**6),
    ):
        array = getattr(model._trees, name)
        before = array[place].copy()
        array[place] = value
        with pytest.raises(ValueError, match="damaged"):
            model.predict(X)
        array[place] = before
