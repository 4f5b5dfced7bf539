"""Sizes that are chosen by held-out samples."""

import numpy as np
import pytest
from sklearn.base import clone

from sklboolean import (
    BernoulliMixture,
    ChowLiuTree,
    CombinationMachine,
    DensityMixture,
    GaussianCombinationMachine,
)
from sklboolean.density._base import grow
from sklboolean.density._machine import MachineMixin

MODELS = {
    "machine": CombinationMachine("auto", n_init=2, random_state=0),
    "mixture": BernoulliMixture("auto", random_state=0),
    "trees": DensityMixture(ChowLiuTree(), n_components="auto", random_state=0),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@pytest.fixture(autouse=True)
def at_most_six_units(monkeypatch):
    monkeypatch.setattr(MachineMixin, "_exact_limit", 6)


def four_classes(n_samples=1500, seed=0):
    """Samples of four classes, each with four bits of its own that are mostly true."""
    rng = np.random.default_rng(seed)
    means = np.kron(np.eye(4), np.ones(4)) * 0.8 + 0.1
    return (rng.random((n_samples, 16)) < means[np.arange(n_samples) % 4]).astype(float)


def noise(n_samples=400):
    return np.random.default_rng(0).integers(0, 2, (n_samples, 12)).astype(float)


def size_of(model):
    if isinstance(model, CombinationMachine):
        return model.n_components_
    return len(model.weights_)


def test_growth_ends_at_the_first_gain_within_its_standard_error():
    scores = {1: [0.0, 0, 0, 0], 2: [1, 1, 1, 1], 4: [2, 0.9, 1.5, 1.2], 8: [9] * 4}
    # The last step gains 0.4 on average; gains 1, -0.1, 0.5, 0.2 vary by 0.41, so the
    # standard error is 0.2. With the second sample thrice: 0.23 and 0.18 still gain.
    scores = {size: np.array(values, float) for size, values in scores.items()}
    assert grow(scores, scores.get, np.ones(4)) == 8
    scores[4] = scores[2] + [1, -0.8, 0.1, -0.1]  # 0.05, standard error 0.32
    assert grow(scores, scores.get, np.ones(4)) == 2
    assert grow([3], scores.get, np.ones(4)) == 3


@every_model
def test_classes_are_found_and_noise_stays_small(model):
    X, test = four_classes(), four_classes(seed=1)
    grown = clone(model).fit(X)
    assert size_of(grown) >= (2 if isinstance(model, CombinationMachine) else 4)
    fixed = clone(model).set_params(n_components=6)
    assert grown.score(test) > fixed.fit(X).score(test) - 0.02
    assert size_of(clone(model).fit(noise())) <= 2


@every_model
def test_the_same_seed_gives_the_same_size_and_model(model):
    X = four_classes(400)
    one, two = clone(model).fit(X), clone(model).fit(X)
    np.testing.assert_array_equal(one.score_samples(X), two.score_samples(X))
    weights = np.repeat([1.0, 0.0], [400, 50])
    padded = np.vstack([X, noise(50)[:, :1] * np.ones(16)])
    more = clone(model).fit(padded, sample_weight=weights)
    np.testing.assert_allclose(more.score_samples(X), one.score_samples(X), atol=1e-8)


@pytest.mark.slow
def test_auto_machine_with_missing_bits_groups_and_auto_alpha():
    X = four_classes(400)
    X[:, 1] = 1 - X[:, 0]
    X[np.random.default_rng(0).random(400) < 0.2, 5] = np.nan
    machine = CombinationMachine(
        "auto", base="chow_liu", alpha="auto", n_init=1, max_iter=30,
        feature_groups=[0, 0, *range(2, 16)], random_state=0,
    )  # fmt: skip
    size = machine.fit(X).n_components_
    assert 1 <= size <= 6
    assert machine._continue_fit(X, None).n_components_ == size


def test_auto_of_real_inputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)) + 4 * rng.integers(0, 2, (600, 1))
    machine = GaussianCombinationMachine("auto", n_init=2)
    assert machine.set_params(random_state=0).fit(X).n_components_ in (1, 2)


@every_model
def test_one_sample_cannot_be_held_out(model):
    with pytest.raises(ValueError, match="need two samples or more"):
        clone(model).fit([[0.0, 1.0]])


def test_growing_goes_on_where_it_ended():
    X = four_classes(600)
    mixture = BernoulliMixture("auto", random_state=0).fit(X)
    before, size = mixture.score(X), len(mixture.weights_)
    mixture._continue_fit(X, None)
    assert mixture.score(X) >= before - 1e-6
    assert len(mixture.weights_) == size
