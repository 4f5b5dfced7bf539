"""The slow learners, worked through by hand."""

from fractions import Fraction

import pytest
from oracles.linear_model import (
    Winnow,
    play_balanced_winnow,
    play_elimination,
    play_halving,
    play_perceptron,
    play_winnow,
)

X = [[1, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_perceptron_by_hand():
    played = play_perceptron(X, [1, -1, 1, -1], tie=False)
    #  0 > 0 fails for +: add. 1 > 0 for -: subtract. 1 - 0 > 0 for +: right.
    #  1 - 1 > 0 fails for -: right.
    assert played.weights == [(1, 0, 1), (1, -1, 0), (1, -1, 0), (1, -1, 0)]
    assert played.mistakes == played.updates == [True, True, False, False]
    assert played.survived == [0, 0, 2]
    assert played.stretches() == [((1, 0, 1), 0, 1), ((1, -1, 0), 0, 3)]
    assert played.mean() == ((1, Fraction(-3, 4), Fraction(1, 4)), 0)
    # With the other tie the first score of 0 is right, and the last one is wrong.
    played = play_perceptron(X, [1, -1, 1, -1], tie=True)
    assert played.mistakes == [False, True, True, True]
    assert played.weights == [(0, 0, 0), (0, -1, -1), (1, -1, 0), (0, -2, 0)]
    assert played.survived == [1, 0, 0, 0]
    assert played.stretches()[0] == ((0, 0, 0), 0, 1)


def test_perceptron_with_rate_and_learned_threshold_by_hand():
    played = play_perceptron(
        X, [0, 0, 1, 1], learning_rate=Fraction(1, 2), learn_threshold=True
    )
    # 0 >= 0 for a negative: subtract x / 2, raise the threshold. -1/2 is below 1/2.
    # -1 is below 1/2 for a positive: add x / 2. 0 >= 0 for a positive.
    half = Fraction(1, 2)
    assert played.weights == [(-half, 0, -half)] * 2 + [(0, 0, 0)] * 2
    assert played.thresholds == [half, half, 0, 0]
    assert played.mistakes == [True, False, True, False]
    assert played.mean() == ((-half / 2, 0, -half / 2), half / 2)
    played = play_perceptron(
        X[:2], [0, 0], learning_rate=lambda t: Fraction(1, t + 1), threshold=-3
    )
    assert played.weights == [(-1, 0, -1), (-1, -half, -1 - half)]


def test_margin_updates_without_a_mistake():
    played = play_perceptron(X, [1, 1, 1, 0], margin=2)
    # 0 and 1 are right but below 2. 1 + 2 is not. 1 + 1 is wrong for a negative.
    assert played.mistakes == [False, False, False, True]
    assert played.updates == [True, True, False, True]
    assert played.n_mistakes == 1
    assert played.n_updates == 3
    # A pair: no margin for positives, 3 for negatives; -2 > -3 is too near.
    played = play_perceptron([[1], [1], [1], [1]], [1, 0, 0, 0], margin=(0, 3))
    assert played.weights == [(0,), (-1,), (-2,), (-3,)]
    assert played.mistakes == [False, True, False, False]
    # A score at the very margin is far enough.
    played = play_perceptron([[1], [1], [1]], [1, 1, 1], margin=2)
    assert played.updates == [True, True, False]


def test_winnow_by_hand():
    played = play_winnow(X, [1, 1, 0, 1], 2, None, 3)
    # 2 < 3 for +: double. 1 + 2 >= 3 for +. 2 + 2 >= 3 for -: halve. 1 + 1 < 3 for +.
    assert played.weights == [(2, 1, 2), (2, 1, 2), (1, 1, 1), (2, 2, 1)]
    assert played.mistakes == [True, False, True, True]
    # The strict rule misses the second; Winnow 1 sets to zero.
    played = play_winnow(X, [1, 1, 0, 1], 2, 0, 3, tie=False)
    assert played.weights == [(2, 1, 2), (2, 2, 4), (0, 2, 0), (0, 4, 0)]
    played = play_winnow(X, [1, 1, 0, 1], 2, Fraction(1, 4), 3, margin=1)
    assert played.weights[1:3] == [(2, 2, 4), (Fraction(1, 2), 2, 1)]
    assert played.n_mistakes == 3
    assert played.n_updates == 4
    inactive = Winnow(2, promotion=3, demotion=0, threshold=5, start=2)
    inactive.play([[1, 0], [0, 1]], [1, 0])
    assert inactive.weights == [(6, 2), (6, 2)]


def test_balanced_winnow_by_hand():
    played = play_balanced_winnow([[1, -2, 0], [2, 0, 1]], [1, 1], 2, tie=False)
    # 2 - 1/2, 1/4 - 4, 1 - 1; then 2 * 3/2 > 0.
    assert played.weights[0] == (Fraction(3, 2), Fraction(-15, 4), 0)
    assert played.mistakes == [True, False]
    played = play_balanced_winnow([[1, 0]], [0], 3, threshold=1, start=(2, 1))
    assert played.weights == [(Fraction(2, 3) - 3, 1)]
    with pytest.raises(AssertionError, match="whole"):
        play_balanced_winnow([[0.5]], [0], 2)


def test_elimination_and_halving_by_hand():
    played = play_elimination([[1, 1, 0], [1, 0, 0], [0, 1, 1]], [1, 1, 0])
    assert played.literals == {(0, True), (2, False)}
    assert played.mistakes == [True, True, False]
    played = play_elimination([[1, 1, 0], [0, 1, 1]], [1, 0], monotone=True)
    assert played.literals == {(0, True), (1, True)}
    assert played.survived == [0, 1]
    hypotheses = [lambda x: x > 1, lambda x: x > 2, lambda x: x > 3, lambda x: True]
    played = play_halving([2, 4, 3], [0, 1, 1], hypotheses)
    # One half says yes to 2: no. All that are left say yes to 4, one half to 3.
    assert played.mistakes == [False, False, True]
    assert [h(3) for h in played.consistent] == [True]
