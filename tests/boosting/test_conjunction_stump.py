"""The best conjunction under weights, against all conjunctions."""

from fractions import Fraction

import numpy as np
import pytest
from boosting_cases import make_booster
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from oracles.boosting import best_gain_of_conjunctions
from scipy import sparse
from sklboolean.boosting._stumps import add_masked_panel_sums

from sklboolean import BooleanStump, BoostByMajority, ConjunctionStump
from sklboolean._core.bits import pack_dense
from sklboolean.boosting._conjunction_stump import truth_of_conjunction
from sklboolean.boosting._stump import StumpColumns
from sklboolean.datasets import make_dnf, make_long_servedio

WEIGHTS = st.sampled_from([0.0, 1.0, 3.0, 0.1, 1e-9, 2.0**40])


@st.composite
def weighted_samples(draw):
    n_samples, n_features = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    n_classes = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    X = rng.integers(0, 2, (n_samples, n_features))
    y = rng.integers(0, n_classes, n_samples)
    weights = draw(st.lists(WEIGHTS, min_size=n_samples, max_size=n_samples))
    return X, y, np.array([1.0, *weights[1:]])


@pytest.mark.filterwarnings("ignore:All samples of")
@given(weighted_samples(), st.integers(1, 2))
def test_no_conjunction_classifies_more_weight(samples, max_literals):
    X, y, weights = samples
    model = ConjunctionStump(max_literals=max_literals)
    model.fit(X, y, weights)
    codes = np.searchsorted(model.classes_, y)
    exact = [Fraction(w) for w in weights]
    best = best_gain_of_conjunctions(X, codes, exact, len(model.classes_), max_literals)
    assert model.edge_ == float(best / sum(exact) - Fraction(1, 2))
    right = model.predict(X) == y
    gained = sum((w for w, hit in zip(exact, right, strict=True) if hit), Fraction(0))
    assert gained == best
    features = [feature for feature, _value in model.literals_]
    assert len(set(features)) == len(features) <= max_literals


@pytest.mark.filterwarnings("ignore:All samples of")
@given(weighted_samples())
def test_one_literal_is_the_boolean_stump(samples):
    X, y, weights = samples
    stump = BooleanStump().fit(X, y, weights)
    model = ConjunctionStump(max_literals=1).fit(X, y, weights)
    assert (model.edge_, model.rule_) == (stump.edge_, stump.rule_)
    assert_array_equal(model.predict_proba(X), stump.predict_proba(X))


def test_masked_sums_are_sums_over_the_samples_of_a_conjunction():
    for n_features in [1, 16, 17, 70]:
        for n_samples in [1, 31, 32, 33, 100]:
            rng = np.random.default_rng(0)
            X = rng.integers(0, 2, (n_samples, n_features)).astype(np.uint8)
            weights = rng.integers(-32767, 32768, n_samples).astype(np.int16)
            columns = StumpColumns.from_boolean(pack_dense(X), n_features, dense=True)
            conjunctions = [(), (1,), (0,), (2 * n_features - 1, 0)]
            n_panels, n_words, n_lanes = columns.panels.shape
            masks = np.zeros((len(conjunctions), n_words), dtype="<u4")
            octets = masks.view(np.uint8)
            for i, literals in enumerate(conjunctions):
                bits = np.packbits(
                    truth_of_conjunction(columns, literals), bitorder="little"
                )
                octets[i, : len(bits)] = bits
            sums = np.zeros((len(masks), n_panels * n_lanes), dtype=np.int64)
            scratch = np.empty(32 * n_words, dtype=np.int16)
            add_masked_panel_sums(weights, masks, columns.panels, scratch, sums)
            for literals, got in zip(conjunctions, sums, strict=True):
                holds = np.ones(n_samples, dtype=bool)
                for literal in literals:
                    holds &= X[:, literal >> 1] == (literal & 1)
                assert_array_equal(truth_of_conjunction(columns, literals), holds)
                expected = (weights.astype(np.int64) * holds) @ X
                assert_array_equal(got[:n_features], expected)
                assert not got[n_features:].any()


@pytest.mark.parametrize("wrong", ["weights", "masks", "sums", "scratch"])
def test_shapes_of_masked_sums_are_checked(wrong):
    columns = StumpColumns.from_boolean(pack_dense(np.eye(40)), 40, dense=True)
    arrays = {
        "weights": np.ones(40, dtype=np.int16),
        "masks": np.zeros((2, 2), dtype=np.uint32),
        "panels": columns.panels,
        "scratch": np.empty(64, dtype=np.int16),
        "sums": np.zeros((2, 48), dtype=np.int64),
    }
    add_masked_panel_sums(*arrays.values())
    arrays[wrong] = np.concatenate([arrays[wrong]] * 2)
    with pytest.raises(ValueError, match="do not fit the columns"):
        add_masked_panel_sums(*arrays.values())


def test_sparse_samples_are_those_of_dense_ones():
    rng = np.random.default_rng(0)
    X = (rng.random((90, 60)) < 0.02).astype(float)
    y = (X[:, 0] > 0) | ((X[:, 1] == 0) & (X[:, 2] > 0))
    dense = ConjunctionStump().fit(X, y)
    listed = ConjunctionStump().fit(sparse.csr_array(X), y)
    assert dense.rule_ == listed.rule_
    assert_array_equal(dense.predict(X), listed.predict(sparse.csr_array(X)))


@pytest.mark.parametrize("base", [ConjunctionStump(), ConjunctionStump(max_literals=2)])
@pytest.mark.parametrize("sampling", ["weight", "resample"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_votes_of_a_booster_are_those_of_its_conjunctions(base, sampling, n_classes):
    X, y, _terms = make_dnf(200, 9, n_terms=2, n_literals=3, random_state=0)
    y = y + (X[:, 0] * (n_classes - 2))
    for weights in (None, np.random.default_rng(0).exponential(size=200)):
        model = make_booster(
            base,
            n_estimators=9,
            gamma=0.05,
            sampling=sampling,
            multi_class="joint",
            random_state=0,
        ).fit(X, y, weights)
        votes = np.array([each.predict(X) for each in model.estimators_])
        shares = np.array([(votes == label).mean(axis=0) for label in model.classes_]).T
        expected = 2 * shares - 1 if n_classes > 2 else shares[:, 1] - shares[:, 0]
        np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-15)
        np.testing.assert_allclose(
            model.decision_function(sparse.csr_array(X)), expected, atol=1e-15
        )
        rules = {rule for each in model.estimators_ for rule in [each.rule_]}
        assert any(" and " in rule for rule in rules)


def test_default_takes_conjunctions_where_they_are_better():
    X, y, _terms = make_dnf(1000, 12, n_terms=3, n_literals=3, random_state=0)
    model = BoostByMajority(random_state=0).fit(X[:600], y[:600])
    assert type(model.estimator_) is ConjunctionStump
    stumps = BoostByMajority(BooleanStump(), random_state=0).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > stumps.score(X[600:], y[600:])
    assert max(model.schedule_scores_.values()) > max(stumps.schedule_scores_.values())


def test_default_keeps_stumps_where_labels_are_wrong():
    X, y = make_long_servedio(600, noise=0.2, random_state=0)
    model = BoostByMajority(random_state=0).fit(X, y)
    assert type(model.estimator_) is BooleanStump


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_literals": 0}, "max_literals == 0, must be >= 1"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(ValueError, match=message):
        ConjunctionStump(**parameters).fit(X, y)
    with pytest.raises(ValueError, match=message):
        make_booster(ConjunctionStump(**parameters), gamma=0.1).fit(X, y)
