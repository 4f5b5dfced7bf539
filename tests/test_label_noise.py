import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import AdaBoostClassifier

from sklboolean.datasets import flip_labels, make_long_servedio, make_monks

LABELS = {
    "ints": np.repeat([3, -1], 2000),
    "strings": np.repeat(["a", "long", "b"], 2000),
    "bools": np.repeat([True, False], 2000),
    "objects": np.repeat(np.array(["x", "y"], dtype=object), 2000),
    "floats": np.repeat([0.0, 1.0, 2.0, 3.0], 2000),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("exact", [False, True])
def test_labels_are_exchanged_at_the_rate_for_the_others_alike(kind, exact):
    y = LABELS[kind]
    before = y.copy()
    noisy = flip_labels(y, 0.3, exact=exact, random_state=0)
    assert_array_equal(y, before)
    assert noisy.dtype == y.dtype
    wrong = noisy != y
    if exact:
        assert wrong.sum() == round(0.3 * len(y))
    for label in np.unique(y):
        of_label = y == label
        assert abs(wrong[of_label].mean() - 0.3) < 5 * np.sqrt(0.21 / 2000)
        others = np.unique(y[~of_label])
        for other in others:
            share = (noisy[of_label] == other).mean()
            assert abs(share - 0.3 / len(others)) < 5 * np.sqrt(0.21 / 2000)


@pytest.mark.parametrize("exact", [False, True])
def test_more_noise_keeps_what_less_noise_exchanged(exact):
    y = LABELS["strings"]
    before = y
    for noise in (0, 0.1, 0.5, 0.9, 1):
        noisy = flip_labels(y, noise, exact=exact, random_state=5)
        was_wrong = before != y
        assert_array_equal(noisy[was_wrong], before[was_wrong])
        before = noisy
    assert (before != y).all()
    assert_array_equal(flip_labels(y, 0, exact=exact), y)


def test_absent_classes_can_be_named():
    noisy = flip_labels(["b", "b"], 1, classes=["long", "b"], random_state=0)
    assert noisy.tolist() == ["long", "long"]
    assert flip_labels([1, 1], 0).tolist() == [1, 1]
    with pytest.raises(
        ValueError,
        match=r"got 1 only\. Pass all labels as classes",
    ):
        flip_labels([1, 1], 1)
    with pytest.raises(ValueError, match=r"labels among classes only; got 7"):
        flip_labels([1, 7], 0.1, classes=[0, 1])


@pytest.mark.parametrize("noise", [-0.1, 1.1, np.nan])
def test_bad_noise_is_named(noise):
    with pytest.raises(ValueError, match=r"^noise must lie in \[0, 1\]"):
        flip_labels([0, 1], noise)
    with pytest.raises(ValueError, match=r"^noise must lie in \[0, 1\]"):
        make_long_servedio(10, noise=noise)
    with pytest.raises(ValueError, match=r"^noise must lie in \[0, 1\]"):
        make_monks(1, noise=noise)


def test_long_servedio_rows_are_of_the_three_kinds():
    n = 40_000
    X, y = make_long_servedio(n, random_state=0)
    assert X.shape == (n, 21)
    assert X.dtype == np.uint8
    assert y.dtype == np.int64
    right = y[:, np.newaxis] == X
    first, last = right[:, :11].sum(axis=1), right[:, 11:].sum(axis=1)
    kinds = {"large": (11, 10), "puller": (11, 0), "penalizer": (5, 6)}
    shares = {
        kind: np.mean((first == a) & (last == b)) for kind, (a, b) in kinds.items()
    }
    assert sum(shares.values()) == 1.0
    for kind, share in [("large", 0.25), ("puller", 0.25), ("penalizer", 0.5)]:
        assert abs(shares[kind] - share) < 5 * 0.5 / np.sqrt(n)
    assert abs(y.mean() - 0.5) < 5 * 0.5 / np.sqrt(n)
    # The features of a penalizer are chosen uniformly, a pair at a time too.
    chosen = right[first == 5].astype(float)
    pairs = chosen.T @ chosen / len(chosen)
    within = [pairs[:11, :11], pairs[11:, 11:]]
    expected = [(5 / 11, 5 * 4 / (11 * 10)), (6 / 10, 6 * 5 / (10 * 9))]
    for block, (one, two) in zip(within, expected, strict=True):
        wanted = np.where(np.eye(len(block)), one, two)
        assert np.abs(block - wanted).max() < 5 * 0.5 / np.sqrt(n / 2)


def test_long_servedio_noise_is_in_the_labels_only():
    X, y = make_long_servedio(5000, random_state=1)
    noisy_X, noisy_y = make_long_servedio(5000, noise=0.2, random_state=1)
    assert_array_equal(X, noisy_X)
    assert abs((y != noisy_y).mean() - 0.2) < 5 * 0.4 / np.sqrt(5000)
    with pytest.raises(ValueError, match="n_samples"):
        make_long_servedio(0)


def test_noise_defeats_a_convex_booster():
    X, y = make_long_servedio(1000, noise=0.1, random_state=2)
    test_X, test_y = make_long_servedio(2000, random_state=3)
    score = AdaBoostClassifier(n_estimators=100).fit(X, y).score(test_X, test_y)
    assert score < 0.8
