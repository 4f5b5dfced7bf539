"""Curves of mistakes and of potentials: what is drawn is what was counted."""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from sklboolean import AveragedPerceptron, BoostByMajority, Winnow
from sklboolean.inspection import MistakeCurveDisplay, PotentialDisplay

RANDOM = np.random.RandomState(0)
X = RANDOM.randint(0, 2, size=(300, 10))
y = X[:, 0] | (X[:, 1] & X[:, 2])


# Mistakes


def test_mistakes_are_counted_of_learners_with_partial_fit():
    learners = {"fast": AveragedPerceptron(), "slow": LogisticRegression()}
    with pytest.raises(TypeError, match=r"partial_fit.* got LogisticRegression\(\)"):
        MistakeCurveDisplay.from_estimator(learners, X, y)


def test_row_by_row_it_counts_the_mistakes_of_the_learner():
    learner = AveragedPerceptron(average=None, margin=0.0)
    display = MistakeCurveDisplay.from_estimator(learner, X, y, growth=0)
    alone, wrong = AveragedPerceptron(average=None, margin=0.0), [0]
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        if i:
            wrong.append(wrong[-1] + (alone.predict([row])[0] != label))
        alone.partial_fit([row], [label], classes=[0, 1])
    assert_array_equal(display.n_examples, 1 + np.arange(300))
    assert_array_equal(display.mistakes["AveragedPerceptron"], wrong)
    assert wrong[-1] > 0
    assert not hasattr(learner, "classes_")


def test_blocks_grow_and_every_learner_has_a_line():
    learners = {"additive": AveragedPerceptron(), "multiplicative": Winnow()}
    bounds = {"bound": 50}
    display = MistakeCurveDisplay.from_estimator(
        learners, X, y, growth=0.5, bounds=bounds
    )
    assert display.n_examples[[0, -1]].tolist() == [1, 300]
    assert_array_equal(display.n_examples[:6], [1, 2, 3, 4, 6, 9])
    assert list(display.lines_) == ["additive", "multiplicative", "bound"]
    for name in learners:
        drawn = display.lines_[name]
        assert_array_equal(drawn.get_xdata(), display.n_examples)
        assert_array_equal(drawn.get_ydata(), display.mistakes[name])
    assert set(display.lines_["bound"].get_ydata()) == {50}
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == list(display.lines_)
    assert display.ax_.get_xlabel() == "Samples seen"


def test_predictions_of_others_are_counted():
    display = MistakeCurveDisplay.from_predictions(["a", "b", "b"], ["b", "b", "a"])
    assert display.mistakes["mistakes"].tolist() == [1, 1, 2]
    _figure, ax = plt.subplots()
    assert display.plot(ax=ax).ax_ is ax


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MistakeCurveDisplay.from_predictions([0, 1], [0]), "'mistakes'"),
        (
            lambda: MistakeCurveDisplay.from_estimator(Winnow(), X, y, growth=-1),
            "growth",
        ),
        (
            lambda: MistakeCurveDisplay.from_estimator(Winnow(), X, y, growth=np.inf),
            "growth",
        ),
        (
            lambda: MistakeCurveDisplay.from_estimator(Winnow(), X, y[:5]),
            r"inconsistent numbers of samples: \[300, 5\]",
        ),
    ],
    ids=["predictions", "growth", "no end", "rows"],
)
def test_bad_curves_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Potentials


def wrong_in_the_end(missing, n_left, gamma):
    """Probability that at most `missing` of `n_left` coins show right, by recursion."""
    if n_left == 0:
        return Fraction(int(missing >= 0))
    right = Fraction(1, 2) + gamma
    return right * wrong_in_the_end(missing - 1, n_left - 1, gamma) + (
        1 - right
    ) * wrong_in_the_end(missing, n_left - 1, gamma)


@given(st.integers(0, 3).map(lambda h: 2 * h + 1), st.data())
def test_potentials_by_definition(k, data):
    n_samples = data.draw(st.integers(1, 4))
    bits = st.lists(st.integers(0, 1), min_size=n_samples, max_size=n_samples)
    y_true = data.draw(bits)
    votes = data.draw(st.lists(bits, min_size=k, max_size=k))
    gamma = Fraction(data.draw(st.integers(1, 9)), 20)
    display = PotentialDisplay.from_predictions(y_true, votes, gamma=float(gamma))
    expected = []
    for i in range(k + 1):
        right = [
            sum(v[row] == y_true[row] for v in votes[:i]) for row in range(n_samples)
        ]
        of_rows = [wrong_in_the_end(k // 2 - r, k - i, gamma) for r in right]
        expected.append(float(sum(of_rows) / n_samples))
    assert_allclose(display.potentials, expected, rtol=1e-12, atol=1e-15)
    majority = 2 * np.sum(np.array(votes) == y_true, axis=0) > k
    assert display.training_error == pytest.approx(1 - majority.mean(), abs=1e-12)


def test_potentials_of_a_booster_are_drawn_with_its_error():
    booster = BoostByMajority(random_state=0).fit(X, y)
    display = PotentialDisplay.from_estimator(booster, name="stumps")
    assert_array_equal(display.line_.get_ydata(), booster.potentials_)
    assert_array_equal(display.line_.get_xdata(), np.arange(booster.n_rounds_))
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["stumps", "training error"]


def test_no_potentials_no_picture():
    with pytest.raises(NotFittedError):
        PotentialDisplay.from_estimator(BoostByMajority())
    with pytest.raises(ValueError, match="AveragedPerceptron without potentials_"):
        PotentialDisplay.from_estimator(AveragedPerceptron().fit(X, y))


@pytest.mark.parametrize(
    ("y_true", "votes", "gamma", "message"),
    [
        ([0], [[0], [1]], 0.1, "must be odd"),
        ([0], [[0, 1]], 0.1, r"\(1, 2\)"),
        ([0], [[0]], 0.5, "gamma"),
        ([0], [[2], [1], [0]], 0.1, "two labels at most; got 3"),
    ],
)
def test_bad_votes_are_refused(y_true, votes, gamma, message):
    with pytest.raises(ValueError, match=message):
        PotentialDisplay.from_predictions(y_true, votes, gamma=gamma)
