"""Sample weights of the online learners: sizes of updates, by definition."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import linear_model as oracles
from oracles.kernels import plain_perceptron
from scipy import sparse
from sklearn.base import clone

from sklboolean import (
    AveragedPerceptron,
    ConjunctionClassifier,
    ConsistentHalfspace,
    HalvingClassifier,
    KernelPerceptron,
    Winnow,
)

layouts = st.sampled_from([np.asarray, sparse.csr_array, np.float64])
LEARNERS = [
    AveragedPerceptron(max_iter=3),
    AveragedPerceptron(max_iter=3, learning_rate="aggressive", average="longest"),
    AveragedPerceptron(max_iter=3, learning_rate="adagrad"),
    AveragedPerceptron(max_iter=3, multi_class="joint", average=None),
    Winnow(max_iter=3),
    Winnow(max_iter=3, variant="complement", binarize=0.0),
    plain_perceptron(max_iter=3),
    plain_perceptron(max_iter=3, max_support=30),
    plain_perceptron(max_iter=3, multi_class="joint", margin=1.0),
]
CONCEPTS = [
    ConjunctionClassifier(),
    HalvingClassifier(max_literals=1),
    ConsistentHalfspace(),
    ConsistentHalfspace(sigma=0.2),
]
quiet = pytest.mark.filterwarnings(
    "ignore:No conjunction classifies", "ignore:None of the", "ignore:No halfspace",
    "ignore:In .* starts",
)  # fmt: skip


def problem(n_classes=2, n_samples=150):
    rng = np.random.default_rng(n_classes)
    X = rng.integers(0, 2, (n_samples, 8))
    y = X[:, :n_classes].sum(axis=1) % n_classes
    y[:20] = rng.integers(0, n_classes, 20)
    return X, y, rng


@st.composite
def weighted_streams(draw):
    """A few samples of few features, labelled at random, of small integer weights."""
    n_samples, n_features = draw(st.integers(4, 25)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X, y = rng.integers(0, 2, (n_samples, n_features)), rng.integers(0, 2, n_samples)
    y[:2] = [0, 1]
    return X, y, rng.integers(1, 4, n_samples).tolist()


def assert_is_mean(model, player):
    weights, threshold = player.mean()
    got = [*model.coef_[0], model.intercept_[0]]
    expected = [*map(float, weights), -float(threshold)]
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-11)
    assert model.n_updates_ == player.n_updates


@given(weighted_streams(), st.sampled_from([0.0, 2.5]), layouts)
def test_a_weight_is_the_size_of_the_perceptrons_update(stream, margin, layout):
    X, y, weights = stream
    model = AveragedPerceptron(margin=margin, max_iter=2, shuffle=False)
    model.fit(layout(X), y, sample_weight=weights)
    player = oracles.Perceptron(X.shape[1], learn_threshold=True, margin=margin)
    for _ in range(2):
        player.play(X, y, weights)
    assert_is_mean(model, player)


@given(weighted_streams(), layouts)
def test_a_weight_is_the_exponent_of_winnows_factor(stream, layout):
    X, y, weights = stream
    options = {"promotion": 2.0, "margin": 1.0}
    model = Winnow(variant="positive", max_iter=2, shuffle=False, **options)
    model.fit(layout(X), y, sample_weight=weights)
    player = oracles.Winnow(
        X.shape[1], threshold=X.shape[1], demotion=Fraction(1, 2), **options
    )
    for _ in range(2):
        player.play(X, y, weights)
    assert_is_mean(model, player)


def same_scores(one, other, X):
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@quiet
@pytest.mark.parametrize("model", [*LEARNERS, *CONCEPTS], ids=str)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_a_sample_of_weight_0_is_left_out(model, layout):
    X, y, rng = problem()
    kept = rng.random(150) < 0.6
    weights = np.where(kept, 2.0, 0.0)
    if "random_state" in model.get_params():
        model = clone(model).set_params(random_state=0)
    one = clone(model).fit(layout(X), y, sample_weight=weights)
    other = clone(model).fit(layout(X[kept]), y[kept], sample_weight=2.0)
    same_scores(one, other, layout(X))


@quiet
@pytest.mark.parametrize("model", [*LEARNERS, *CONCEPTS], ids=str)
def test_weights_of_1_change_nothing(model):
    X, y, _ = problem()
    if "random_state" in model.get_params():
        model = clone(model).set_params(random_state=0)
    same_scores(
        clone(model).fit(X, y), clone(model).fit(X, y, sample_weight=np.ones(150)), X
    )
    if hasattr(model, "partial_fit"):
        one, other = (
            clone(model).partial_fit(X[:75], y[:75], [0, 1]) for _ in range(2)
        )
        one.partial_fit(X[75:], y[75:])
        other.partial_fit(X[75:], y[75:], sample_weight=np.ones(75))
        same_scores(one, other, X)


@pytest.mark.parametrize("model", LEARNERS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_weights_are_weights_of_all_samples_of_a_class(model, n_classes):
    X, y, _ = problem(n_classes)
    sizes = np.array([0.5, 2.0, 0.25])[:n_classes]
    model = clone(model).set_params(random_state=0)
    one = clone(model).set_params(class_weight=dict(enumerate(sizes))).fit(X, y)
    other = clone(model).fit(X, y, sample_weight=sizes[y])
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("model", LEARNERS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_balanced_classes_have_the_same_total_weight(model, n_classes):
    X, y, rng = problem(n_classes)
    weights = rng.integers(0, 4, 150).astype(float)
    totals = np.bincount(y, weights=weights)
    sizes = weights.sum() / (n_classes * totals)
    is_kernel = isinstance(model, KernelPerceptron)
    in_order = {"n_orders": 0} if is_kernel else {"shuffle": False}
    model = clone(model).set_params(random_state=0, **in_order)
    balanced = clone(model).set_params(class_weight="balanced")
    one = balanced.fit(X, y, sample_weight=weights)
    other = clone(model).set_params(class_weight=dict(enumerate(sizes)))
    other.fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


PARTITIONED = [LEARNERS[0], LEARNERS[2], LEARNERS[4]]


@pytest.mark.parametrize("model", PARTITIONED, ids=str)
def test_one_partition_of_weights_is_fit(model):
    X, y, rng = problem()
    weights = rng.integers(0, 4, 150)
    one = clone(model).set_params(random_state=0, shuffle=False)
    one.fit(X, y, sample_weight=weights)
    other = clone(model).set_params(random_state=0)
    other.fit_partitions([(X, y, weights)])
    np.testing.assert_allclose(
        one.decision_function(X), other.decision_function(X), rtol=1e-12
    )
    loaded = clone(model).set_params(random_state=0)
    same_scores(other, loaded.fit_partitions([lambda: (X, y, weights)]), X)


@pytest.mark.parametrize("exponent", [-35, -20, -3, 5, 20])
def test_only_ratios_of_weights_count_without_a_margin(exponent):
    X, y, rng = problem()
    weights = rng.random(150)
    one, other = (
        plain_perceptron().partial_fit(X, y, [0, 1], sample_weight=weights * scale)
        for scale in (1.0, 2.0**exponent)
    )
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    # A weight has 16 binary digits or more.
    ratio = other.dual_coef_ / one.dual_coef_
    np.testing.assert_allclose(ratio, 2.0**exponent, rtol=0.05)


def test_weights_that_cannot_be_integers_are_refused():
    X, y, _ = problem()
    with pytest.raises(ValueError, match=r"sample_weight must not be below 2\*\*-40"):
        plain_perceptron().partial_fit(X, y, [0, 1], sample_weight=1e-20)
    with pytest.raises(ValueError, match="too large to stay exact"):
        plain_perceptron().fit(X, y, sample_weight=1e13)
    with pytest.raises(ValueError, match="sample_weight must hold integers"):
        HalvingClassifier(max_literals=1).fit(X, y, sample_weight=1 + y / 2)


@pytest.mark.parametrize("model", LEARNERS[:6], ids=str)
def test_huge_weights_are_refused_or_give_finite_coefficients(model):
    X, y, _ = problem()
    model = clone(model)
    for weight in (1e100, 1e300, 1e305):
        try:
            model.fit(X, y, sample_weight=np.full(150, weight))
        except ValueError as error:
            assert "sample_weight" in str(error)  # noqa: PT017
        else:
            assert np.isfinite(model.decision_function(X)).all()
            assert np.isfinite(model.predict_proba(X)).all()


@quiet
@pytest.mark.parametrize("literals", [1, 2])
def test_a_weight_is_a_number_of_mistakes_for_halving(literals):
    X, y, rng = problem()
    weights = rng.integers(1, 9, 150)
    one = HalvingClassifier(max_literals=literals).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(150), weights)
    other = HalvingClassifier(max_literals=literals).fit(X[rows], y[rows])
    assert one.collapsed_
    same_scores(one, other, X)


@quiet
def test_the_probability_of_a_conjunction_is_a_share_of_the_samples():
    X, y = np.array([[1, 1], [1, 0], [0, 1], [1, 1]]), np.array([1, 0, 0, 0])
    model = ConjunctionClassifier(monotone=True)
    model.fit(X, y, sample_weight=[5, 1, 1, 2])
    # Accepted: a positive of weight 5, a negative of weight 2; two negatives rejected.
    np.testing.assert_allclose(
        model.predict_proba([[1, 1], [0, 0]]), [[3 / 9, 6 / 9], [3 / 4, 1 / 4]]
    )
    model.partial_fit(X[:1], y[:1])
    assert model.predict_proba([[1, 1]])[0, 1] == pytest.approx(7 / 10)


@pytest.mark.filterwarnings("ignore:All samples of")
def test_weight_in_one_class_makes_the_constant_halfspace():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    model = ConsistentHalfspace().fit(X, y, sample_weight=y)
    assert (model.coef_, model.intercept_) == (0, 1)
    assert (model.margin_, model.margin_bound_) == (1, np.inf)


@pytest.mark.parametrize("model", [AveragedPerceptron(), plain_perceptron()])
def test_a_stream_has_no_balanced_weights(model):
    model = clone(model).set_params(class_weight="balanced")
    with pytest.raises(ValueError, match="use fit, or a dict of weights"):
        model.partial_fit(np.eye(2), [0, 1], classes=[0, 1])
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("model", PARTITIONED, ids=str)
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 0.02, 1: 0.3}])
def test_the_mean_weight_is_that_of_all_partitions(model, class_weight):
    X, y, rng = problem()
    weights = rng.random(150) * np.where(np.arange(150) < 60, 1e-3, 1e-2)
    factors = class_weight or {0: 1.0, 1: 1.0}
    if class_weight == "balanced":
        totals = np.bincount(y, weights)
        factors = weights.sum() / (2 * totals)
    products = weights * np.where(y == 1, factors[1], factors[0])
    model = clone(model).set_params(random_state=0)

    def fit(weights, class_weight):
        parts = [(X[k], y[k], weights[k]) for k in (slice(60), slice(60, None))]
        return clone(model).set_params(class_weight=class_weight).fit_partitions(parts)

    one, other = fit(weights, class_weight), fit(products / products.mean(), None)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-8)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-8)


@pytest.mark.parametrize("model", LEARNERS[:6], ids=str)
def test_a_part_of_a_stream_may_hold_a_class_of_weight_0_only(model):
    X, y, _ = problem()
    model = clone(model).set_params(class_weight={0: 0.0, 1: 1.0})
    model.partial_fit(X[y == 1], y[y == 1], classes=[0, 1])
    before = model.raw_coef_.copy()
    model.partial_fit(X[y == 0], y[y == 0])
    np.testing.assert_array_equal(model.raw_coef_, before)
