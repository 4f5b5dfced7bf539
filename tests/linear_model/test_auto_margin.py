"""The margin of the averaged perceptron that follows the data."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles.linear_model import auto_margin
from scipy import sparse
from sklearn.base import clone

from sklboolean import AveragedPerceptron
from sklboolean._core.weights import relative_weights

BITS = hnp.arrays(np.uint8, (12, 70), elements=st.integers(0, 1))
QUARTERS = hnp.arrays(np.int8, (12, 5), elements=st.integers(-6, 6)).map(
    lambda X: X / 4
)
WEIGHTS = st.none() | hnp.arrays(
    np.int8, 12, elements=st.integers(0, 8)
).filter(lambda w: w[::2].any() and w[1::2].any()).map(lambda w: w / 4)  # fmt: skip
Y = np.arange(12) % 2


def same_model(one, other):
    for name in ("coef_", "intercept_", "raw_coef_", "raw_intercept_", "margin_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.n_mistakes_, one.n_updates_) == (other.n_mistakes_, other.n_updates_)


def problem(seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.random((200, 30)) < 0.3).astype(np.uint8)
    return X, (X[:, :5].sum(axis=1) >= 2).astype(int)


@settings(max_examples=80)
@given(BITS | QUARTERS, WEIGHTS, st.sampled_from([0.5, 1.0, 3.0]), st.booleans())
def test_the_margin_is_that_of_the_definition(X, weights, rate, is_sparse):
    auto = AveragedPerceptron(learning_rate=rate, max_iter=2, shuffle=False)
    given_X = sparse.csr_array(X) if is_sparse else X
    auto.fit(given_X, Y, sample_weight=weights)
    used = None if weights is None else relative_weights(weights)
    expected = float(auto_margin(X, rate, used))
    assert auto.margin_ == pytest.approx((expected, expected), rel=1e-14)
    number = clone(auto).set_params(margin=auto.margin_)
    same_model(auto, number.fit(given_X, Y, sample_weight=weights))


def test_class_weights_count_as_weights():
    X, y = problem()
    model = AveragedPerceptron(class_weight={0: 0.5, 1: 4.0}).fit(X, y)
    weights = np.where(y == 1, 4.0, 0.5)
    assert model.margin_[0] == pytest.approx(float(auto_margin(X, 1, weights)))


def test_steps_that_do_not_grow_with_weights_leave_them_out():
    X, y = problem()
    weights, Z = np.linspace(0.1, 5.0, 200), X * np.linspace(-2, 3, 30)
    adagrad = AveragedPerceptron(learning_rate="adagrad")
    adagrad.fit(Z, y, sample_weight=weights)
    assert adagrad.margin_[0] == pytest.approx(np.abs(Z).sum() / 200)
    aggressive = AveragedPerceptron(learning_rate="aggressive")
    aggressive.fit(X, y, sample_weight=weights)
    assert aggressive.margin_[0] == float(auto_margin(X, 1))


@pytest.mark.parametrize("scale", [2.0, 2.0**30])
def test_only_ratios_of_weights_count(scale):
    X, y = problem()
    weights = 1 + np.random.default_rng(1).random(200)
    model = AveragedPerceptron(random_state=0)
    one = clone(model).fit(X, y, sample_weight=weights)
    other = clone(model).fit(X, y, sample_weight=weights * scale)
    np.testing.assert_array_equal(one.coef_ * scale, other.coef_)


def test_a_stream_keeps_the_margin_of_its_first_part():
    X, y = problem()
    model, number = AveragedPerceptron(), AveragedPerceptron()
    model.partial_fit(X[:50], y[:50], classes=[0, 1])
    first = model.margin_
    assert first[0] == float(auto_margin(X[:50], 1))
    number.set_params(margin=first)
    for rows in np.split(np.arange(50, 200), [7, 90]):
        model = pickle.loads(pickle.dumps(model))
        model.partial_fit(X[rows], y[rows])
    for rows in np.split(np.arange(200), [1, 50]):
        number.partial_fit(X[rows], y[rows], classes=[0, 1])
    same_model(model, number)
    # The rate may change meanwhile; a new fit looks again.
    model.set_params(learning_rate=0.5).partial_fit(X, y)
    assert model.margin_[0] == first[0] / 2
    model.set_params(margin=(1.0, 2.0)).partial_fit(X, y)
    assert model.margin_ == (1.0, 2.0)
    model.set_params(margin="auto", learning_rate=1.0).fit(X, y)
    assert model.margin_[0] == float(auto_margin(X, 1))


def test_a_model_with_a_number_can_continue_with_auto():
    X, y = problem()
    model = AveragedPerceptron(margin=5.0).fit(X, y).set_params(margin="auto")
    model.partial_fit(X[:40], y[:40])
    assert model.margin_[0] == float(auto_margin(X[:40], 1))


def test_partitions_agree_on_the_mean_over_all_samples():
    X, y = problem()
    parts = [(X[:30], y[:30]), (X[30:50], y[30:50]), (X[50:], y[50:])]
    model = AveragedPerceptron(max_iter=3).fit_partitions(parts)
    expected = float(auto_margin(X, 1))
    assert model.margin_ == pytest.approx((expected, expected), rel=1e-14)
    model.set_params(margin=3.0).fit_partitions(parts)
    assert model.margin_ == (3.0, 3.0)
    alone = AveragedPerceptron(max_iter=3).fit_partitions([(X, y)])
    same_model(alone, AveragedPerceptron(max_iter=3, shuffle=False).fit(X, y))


@pytest.mark.parametrize("rate", [1.0, "aggressive"])
def test_samples_without_ones_have_a_margin(rate):
    model = AveragedPerceptron(learning_rate=rate).fit(np.zeros((4, 3)), [0, 1, 1, 1])
    assert model.margin_ == (1.0, 1.0)
    assert (model.predict(np.zeros((2, 3))) == 1).all()


@pytest.mark.parametrize("size", [1e160, 1e308])
def test_a_margin_beyond_float64_is_an_error(size):
    X = size * np.eye(4)
    with pytest.raises(ValueError, match="margin='auto' is beyond float64"):
        AveragedPerceptron().fit(X, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="margin must be one of \\['auto'"):
        AveragedPerceptron(margin="large").fit(X, [0, 1, 0, 1])


def test_the_margin_falls_with_the_steps():
    X, Y = problem()
    model = AveragedPerceptron(
        learning_rate="inverse_sqrt", average=None, max_iter=2, shuffle=False
    ).fit(X, Y)
    samples = np.column_stack([X, np.ones(len(X))])
    change, weights, n_updates = X.sum(axis=1).mean(), np.zeros(samples.shape[1]), 0
    for t, i in enumerate([*range(len(X))] * 2, start=1):
        step, sign = 1 / np.sqrt(t), 1 if Y[i] else -1
        score = sign * (samples[i] @ weights)
        if score < step * change or (score == 0 and sign < 0):
            weights += sign * step * samples[i]
            n_updates += 1
    np.testing.assert_allclose([*model.coef_[0], *model.intercept_], weights)
    assert model.n_updates_ == n_updates
    assert model.margin_ == pytest.approx((step * change, step * change))
