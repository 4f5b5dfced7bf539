from math import exp, log, log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import log_loss

from sklboolean import (
    AveragedPerceptron,
    BooleanSVC,
    DensityClassifier,
    KernelPerceptron,
    Winnow,
)
from sklboolean._core.calibration import (
    break_ties,
    calibrated_loss,
    fit_slope,
    held_out_parts,
    predicted_codes,
    probabilities,
)

finite_scores = st.floats(-1, 1).map(lambda score: round(score, 6))


def softplus(u):
    """log(1 + exp(u)), the log loss of a lead of -u."""
    return max(u, 0.0) + log1p(exp(-abs(u)))


def binary_loss(slope, scores, codes):
    """Log loss of the rows and of two imagined ones, one right and one wrong."""
    typical = sum(map(abs, scores)) / len(scores)
    rows = zip(scores, codes, strict=True)
    leads = [score if code else -score for score, code in rows]
    return sum(softplus(-slope * lead) for lead in [*leads, typical, -typical])


def several_classes_loss(slope, scores, codes):
    """Log loss of the rows under the softmax."""
    total = 0.0
    for row, code in zip(scores, codes, strict=True):
        best = max(row)
        total += slope * (best - row[code])
        total += log(sum(exp(slope * (score - best)) for score in row))
    return total


@st.composite
def binary_cases(draw):
    n = draw(st.integers(1, 25))
    scores = draw(st.lists(finite_scores, min_size=n, max_size=n))
    codes = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return np.array(scores), np.array(codes)


@given(binary_cases())
def test_the_slope_of_a_sigmoid_has_the_least_loss(case):
    scores, codes = case
    slope = fit_slope(scores, codes)
    assert slope > 0
    if not np.any(scores):
        return
    least = binary_loss(slope, *case)
    typical = np.abs(scores).mean()
    for candidate in np.exp(np.linspace(-11, 11, 89)) / typical:
        # The search stops within 1e-5 of the logarithm of the minimiser.
        assert least <= binary_loss(candidate, *case) * (1 + 1e-8)


def noisy_scores(n_samples, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n_samples)
    scores = rng.standard_normal((n_samples, n_classes)) / 4
    scores[np.arange(n_samples), codes] += 0.2
    return scores, codes


@pytest.mark.parametrize("n_classes", [3, 5])
@pytest.mark.parametrize("scale", [1e-6, 1.0])
def test_the_slope_of_a_softmax_has_the_least_loss(n_classes, scale):
    # The loss is convex in the slope, so that its derivative tells the side; with so
    # many rows the two imagined ones move the slope by less than 5 %.
    scores, codes = noisy_scores(3000, n_classes)
    slope = fit_slope(scores * scale, codes) * scale
    losses = [
        several_classes_loss(candidate, scores.tolist(), codes.tolist())
        for candidate in (slope / 1.05, slope, slope * 1.05)
    ]
    assert losses[1] < losses[0]
    assert losses[1] < losses[2]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_sample_of_weight_2_counts_as_two(n_classes):
    scores, codes = noisy_scores(50, n_classes)
    scores = scores[:, 1] - scores[:, 0] if n_classes == 2 else scores
    weights = np.arange(50) % 3
    repeated = fit_slope(np.repeat(scores, weights, axis=0), np.repeat(codes, weights))
    assert fit_slope(scores, codes, weights) == pytest.approx(repeated, rel=1e-9)


def test_no_scores_give_slope_1():
    assert fit_slope(np.zeros(0), np.zeros(0, dtype=int)) == 1.0


@pytest.mark.parametrize("factor", [1e-100, 1e-6, 1e-3, 8.0, 1e100])
def test_the_slope_undoes_a_change_of_unit(factor):
    scores, codes = noisy_scores(200, 2)
    for columns in (scores, scores[:, 1] - scores[:, 0]):
        slope = fit_slope(columns, codes)
        assert fit_slope(columns * factor, codes) * factor == pytest.approx(
            slope, rel=1e-4
        )


@pytest.mark.parametrize("scale", [1e-9, 1.0])
@pytest.mark.parametrize("n_samples", [1, 2, 1000])
def test_separated_scores_give_a_finite_slope(n_samples, scale):
    codes = np.arange(n_samples) % 2
    scores = np.where(codes == 1, 1.0, -1.0) * scale
    slope = fit_slope(scores, codes)
    # Of n + 2 rows of score +-scale n + 1 are right: the best odds are n + 1 to 1.
    assert slope == pytest.approx(log(n_samples + 1) / scale, rel=1e-4)


@pytest.mark.parametrize("n_samples", [3, 1000])
def test_separated_scores_of_several_classes_give_a_finite_slope(n_samples):
    codes = np.arange(n_samples) % 3
    slope = fit_slope(np.eye(3)[codes], codes)

    def loss(slope):
        # Every row has score 1 for its class, 0 for two others; the imagined ones
        # have the mean size of a score.
        rows = n_samples * log1p(2 * exp(-slope))
        return rows + softplus(slope / 3) + softplus(-slope / 3)

    for candidate in np.exp(np.linspace(-8, 8, 65)):
        assert loss(slope) <= loss(candidate) * (1 + 1e-8)


def test_scores_on_the_wrong_side_give_a_small_positive_slope():
    codes = np.arange(100) % 2
    slope = fit_slope(np.where(codes == 1, -1.0, 1.0), codes)
    assert 0 < slope < 1e-4


@pytest.mark.parametrize("shape", [(4,), (4, 3)])
def test_scores_of_zero_give_slope_1(shape):
    assert fit_slope(np.zeros(shape), np.array([0, 1, 1, 0])) == 1.0


@pytest.mark.parametrize("tiny", [1e-300, 1e-304])
def test_tiny_scores_give_a_finite_slope(tiny):
    slope = fit_slope(np.array([tiny, -tiny]), np.array([1, 0]))
    # Of the four rows with the imagined ones three are right.
    assert slope == pytest.approx(log(3) / tiny, rel=1e-4)


# -- probabilities ------------------------------------------------------------------


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8),
    st.floats(1e-3, 1e3),
)
def test_two_probabilities_add_up_to_1_and_go_with_the_sign(scores, slope):
    scores = np.array(scores)
    P = probabilities(scores, slope)
    assert P.shape == (len(scores), 2)
    assert ((P >= 0) & (P <= 1)).all()
    assert np.abs(P.sum(axis=1) - 1).max() <= 2.0**-52
    assert (P[scores > 0, 1] >= 0.5).all()
    assert (P[scores < 0, 0] >= 0.5).all()
    clear = np.abs(slope * scores) > 1e-15
    assert np.array_equal(P.argmax(axis=1)[clear], (scores > 0)[clear])
    expected = [exp(-softplus(-slope * score)) for score in scores]
    assert P[:, 1] == pytest.approx(expected, rel=1e-12, abs=1e-300)


@given(
    st.integers(2, 4).flatmap(
        lambda k: st.lists(
            st.lists(st.floats(-100, 100), min_size=k, max_size=k),
            min_size=1,
            max_size=6,
        )
    ),
    st.floats(1e-3, 100),
)
def test_softmax_probabilities_add_up_to_1_and_go_with_the_largest(scores, slope):
    scores = np.array(scores)
    P = probabilities(scores, slope)
    assert P.shape == scores.shape
    assert ((P >= 0) & (P <= 1)).all()
    assert np.abs(P.sum(axis=1) - 1).max() <= 4 * 2.0**-52
    best = scores.argmax(axis=1)
    assert (P[np.arange(len(P)), best] == P.max(axis=1)).all()
    for row, p in zip(scores, P, strict=True):
        expected = [
            exp(-several_classes_loss(slope, [row], [k])) for k in range(len(p))
        ]
        assert p == pytest.approx(expected, rel=1e-9, abs=1e-300)


# -- held-out scores ----------------------------------------------------------------


@pytest.mark.parametrize("n_samples", [1, 6, 700, 3000])
def test_every_fourth_sample_of_a_class_is_for_training(n_samples):
    codes = np.random.default_rng(0).integers(0, 3, n_samples)
    training, testing = held_out_parts(codes, np.full(n_samples, 0.01))
    for code in range(3):
        own = training[codes == code]
        assert np.array_equal(own > 0, np.arange(len(own)) % 4 == 0)
    others = np.flatnonzero(training == 0)
    assert np.array_equal(np.flatnonzero(testing), others[:1000])
    assert set(training) | set(testing) <= {0.0, 0.01}


def test_samples_with_four_copies_are_on_both_sides():
    weights = np.array([9.0, 1.0, 4.0, 3.0, 8.0])
    training, testing = held_out_parts(np.array([0, 0, 0, 0, 1]), weights)
    assert training.tolist() == [2, 0, 1, 0, 2]
    assert testing.tolist() == [7, 1, 3, 3, 6]


@pytest.mark.parametrize("n_parts", [2, 3, 4])
def test_each_copy_is_for_the_training_of_one_part(n_parts):
    rng = np.random.default_rng(n_parts)
    codes, weights = rng.integers(0, 3, 50), rng.integers(1, 12, 50).astype(float)
    parts = [held_out_parts(codes, weights, n_parts, k) for k in range(n_parts)]
    assert np.array_equal(sum(training for training, _ in parts), weights)
    for training, testing in parts:
        assert np.array_equal(training + testing, weights)
        assert np.array_equal(training, np.rint(training))


def test_copies_of_few_samples_give_clear_probabilities():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 10, [0, 1, 1, 0] * 10
    for model in (BooleanSVC(), DensityClassifier()):
        P = model.fit(X, y).predict_proba(X)
        # Of the 32 samples that calibrate none is misclassified.
        assert P[np.arange(40), y].min() > 0.95


MODELS = [
    AveragedPerceptron(), AveragedPerceptron(early_stopping=True), Winnow(),
    KernelPerceptron(max_iter=2, early_stopping=False),
    KernelPerceptron(max_iter=2, max_support=20),
]  # fmt: skip


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_second_model_scores_no_sample_of_its_own(n_classes, method, weighted):
    trained, scored = [], []

    class Spy(AveragedPerceptron):
        def _train(self, state, data, codes, weights, samples=None, *rest):
            trained.append(samples)
            return super()._train(state, data, codes, weights, samples, *rest)

        def _scores(self, state, data, samples):
            scored.append(samples)
            return super()._scores(state, data, samples)

    y = np.arange(3001) % 7 % n_classes
    X = np.random.default_rng(0).integers(0, 2, (3001, 5))
    weights = (np.arange(3001) % 3).astype(float) if weighted else None
    kept = np.flatnonzero(weights) if weighted else np.arange(3001)
    options = {"classes": range(n_classes)} if method == "partial_fit" else {}
    model = Spy(random_state=0)
    getattr(model, method)(X, y, sample_weight=weights, **options)
    share = 2 if method == "fit" else 8
    second, (both, own) = trained[1], scored
    others = both[len(own) :]
    assert set(own) <= set(second)
    assert set(second) | set(others) <= set(kept)
    assert not set(second) & set(others)
    assert 0 < len(own) <= 1000
    assert 0 < len(others) <= 1000
    for code in range(n_classes):
        n_all = np.sum(y[kept] == code)
        assert abs(np.sum(y[second] == code) - n_all / share) < 1
        assert np.sum(y[others] == code) > len(others) * n_all / len(kept) - 2
    assert model._held_out[0][1].tolist() == y[others].tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_calibration_changes_neither_the_model_nor_the_generator(
    model, n_classes, monkeypatch
):
    X = np.random.default_rng(0).integers(0, 2, (120, 12))
    y = X[:, :3].sum(axis=1) % n_classes
    scores, states = [], []
    nothing = np.zeros((0, n_classes)), np.zeros(0, dtype=int), np.zeros(0)
    for is_calibrated in (True, False):
        if not is_calibrated:
            monkeypatch.setattr(
                type(model), "_second_model_scores", lambda *_args: nothing
            )
        rng = np.random.RandomState(0)
        fitted = clone(model).set_params(random_state=rng).fit(X, y)
        scores.append(fitted.decision_function(X))
        states.append(rng.randint(2**31, size=3))
        assert (fitted.calibration_slope_ == 1.0) != is_calibrated
    np.testing.assert_array_equal(*scores)
    np.testing.assert_array_equal(*states)


@pytest.mark.parametrize("model", MODELS[2:], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_of_one_sample_has_a_probability(model, n_classes):
    X = np.random.default_rng(0).integers(0, 2, (40, 6))
    y = np.arange(40) * (np.arange(40) < n_classes)
    P = clone(model).fit(X, y).predict_proba(X)
    assert P.shape == (40, n_classes)
    assert np.isfinite(P).all()
    P = clone(model).fit(X[:2], [0, 1]).predict_proba(X)
    assert np.isfinite(P).all()


@pytest.mark.filterwarnings("ignore:fit_partitions is deprecated:FutureWarning")
@pytest.mark.parametrize(
    ("method", "n_classes"),
    [("fit", 2), ("partial_fit", 3), ("fit_partitions", 2), ("stream", 3)],
)
@pytest.mark.parametrize(
    "model", [AveragedPerceptron(), Winnow(), KernelPerceptron(max_literals=2)], ids=str
)
def test_the_log_loss_is_near_that_of_the_best_slope(model, n_classes, method):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (9000, 20))
    noisy = X[:, :n_classes].sum(axis=1) + rng.normal(0, 0.7, 9000) - n_classes / 2
    y = np.clip(np.rint(noisy), 0, n_classes - 1).astype(int)
    train, test = slice(3000), slice(3000, None)
    model = clone(model).set_params(random_state=0)
    if method == "stream":
        for first in range(0, 3000, 100):
            part = slice(first, first + 100)
            model.partial_fit(X[part], y[part], classes=range(n_classes))
    elif method == "fit_partitions":
        model.fit_partitions([(X[i:3000:2], y[i:3000:2]) for i in range(2)])
    elif method == "partial_fit":
        model.partial_fit(X[train], y[train], classes=range(n_classes))
    else:
        model.fit(X[train], y[train])
    scores = model._calibration_scores(X[test])
    best = fit_slope(scores, y[test])
    losses = [
        log_loss(y[test], probabilities(scores, slope))
        for slope in (model.calibration_slope_, best)
    ]
    assert losses[0] < 1.03 * losses[1]
    np.testing.assert_array_equal(
        model.predict_proba(X[test]).argmax(axis=1), model.predict(X[test])
    )


@pytest.mark.parametrize("tie", [0, 1])
def test_scores_of_0_are_ties(tie):
    scores = np.array([-1.0, -0.0, 0.0, 5e-324, 1.0])
    expected = [0, tie, tie, 1, 1]
    assert predicted_codes(scores, tie=tie).tolist() == expected
    assert predicted_codes(scores[:, None], tie=tie).tolist() == expected
    several = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0], [0.0, 0.0, 1.0]])
    assert predicted_codes(several, tie=tie).tolist() == [0, 1, 2]


@pytest.mark.parametrize("n_scores", [1, 3])
def test_the_calibrated_loss_is_the_mean_log_loss_of_the_fitted_slope(n_scores):
    rng = np.random.default_rng(n_scores)
    scores = rng.standard_normal((40, n_scores)) * 5
    scores = scores[:, 0] if n_scores == 1 else scores
    codes, weights = rng.integers(0, max(2, n_scores), 40), rng.uniform(0.1, 2, 40)
    shares = probabilities(scores, fit_slope(scores, codes, weights))
    losses = [-np.log(row[code]) for row, code in zip(shares, codes, strict=True)]
    expected = (weights * losses).sum() / weights.sum()
    assert calibrated_loss(scores, codes, weights) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("positive", [True, False])
def test_a_score_of_zero_moves_to_the_side_that_a_tie_predicts(positive):
    scores = np.array([-2.0, -0.0, 0.0, 1.0])
    moved = break_ties(scores, positive=positive)
    assert moved[[0, 3]].tolist() == [-2.0, 1.0]
    assert ((moved[1:3] > 0) == positive).all()
    # No score is nearer to 0 than these.
    assert (moved[1:3] != 0).all()
    assert (moved[1:3] / 2 == 0).all()
