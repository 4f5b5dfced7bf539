"""Densities fitted to samples in several places are those of one place."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import clone

from sklboolean import (
    BernoulliMixture,
    ChowLiuTree,
    CombinationMachine,
    DensityMixture,
    GaussianCombinationMachine,
)
from sklboolean.density import _density_mixture, _partitioned_samples

GROUPS = [0, 1, 1, 2, 3, 3, 3, 4]
MODELS = {
    "tree": ChowLiuTree(),
    "tree of attributes": ChowLiuTree(feature_groups=GROUPS),
    "mixture": BernoulliMixture(3, n_init=2, random_state=0, max_iter=500),
    "mixture of attributes": BernoulliMixture(
        3, feature_groups=GROUPS, random_state=0, max_iter=500
    ),
    "machine": CombinationMachine(2, n_init=2, max_iter=40, random_state=0),
    "machine on a tree": CombinationMachine(
        2, base="chow_liu", max_iter=40, random_state=0
    ),
    "machine of attributes": CombinationMachine(
        2, base="chow_liu", max_iter=40, random_state=0, feature_groups=GROUPS
    ),
    "gradient": CombinationMachine(2, solver="gradient", max_iter=40, random_state=0),
    "mixture of trees": DensityMixture(
        ChowLiuTree(), n_components=3, n_averaged=2, max_iter=4, random_state=0
    ),
    "mixture of trees of attributes": DensityMixture(
        ChowLiuTree(), n_components=2, feature_groups=GROUPS, random_state=0
    ),
    "mixture of machines": DensityMixture(
        CombinationMachine(1, base="chow_liu", max_iter=10, n_init=1),
        n_components=2,
        max_iter=3,
        random_state=0,
    ),
    "mixture of mixtures": DensityMixture(
        BernoulliMixture(2), n_components=2, max_iter=3, random_state=0
    ),
}
MODELS["real machine"] = GaussianCombinationMachine(2, max_iter=40, random_state=0)
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def samples(n_samples=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, 8)).astype(float)
    X[:, 1] = np.where(rng.random(n_samples) < 0.9, X[:, 0], 1 - X[:, 0])
    X[:, 2] = 1 - X[:, 1]
    X[:, 4:7] = np.eye(3)[(X[:, 0] + (rng.random(n_samples) < 0.5)).astype(int)]
    return X


def real_samples():
    rng = np.random.default_rng(0)
    return rng.normal(size=(300, 8)) + 3 * samples()


class Part:
    """Loads a part of the samples where the task runs."""

    def __init__(self, first, last, share=0.0, load=samples):
        self.first, self.last, self.share, self.load = first, last, share, load

    def __call__(self):
        X = self.load()
        gaps = np.random.default_rng(1).random(X.shape) < self.share
        X = np.where(gaps, np.nan, X)[self.first : self.last]
        return X, None, np.arange(self.first, self.last) % 3 + 1.0


def parts(n_parts, share=0.0, load=samples):
    ends = np.linspace(0, 300, n_parts + 1).astype(int)
    return [Part(*pair, share, load) for pair in pairwise(ends)]


@every_model
@pytest.mark.parametrize("n_parts", [1, 8, pytest.param(32, marks=pytest.mark.slow)])
def test_same_model_as_in_one_place(model, n_parts):
    real = isinstance(model, GaussianCombinationMachine)
    load = real_samples if real else samples
    X, _, weights = Part(0, 300, load=load)()
    whole = clone(model).fit(X, sample_weight=weights)
    apart = clone(model).fit_partitions(parts(n_parts, load=load))
    np.testing.assert_allclose(
        apart.score_samples(X), whole.score_samples(X), atol=1e-6
    )


@pytest.mark.parametrize(
    "name", ["tree", "tree of attributes", "mixture", "mixture of trees"]
)
def test_missing_bits_in_partitions(name):
    X, _, weights = Part(0, 300, 0.2)()
    whole = clone(MODELS[name]).fit(X, sample_weight=weights)
    apart = clone(MODELS[name]).fit_partitions(parts(5, 0.2))
    np.testing.assert_allclose(
        apart.score_samples(X), whole.score_samples(X), atol=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["machine on a tree", "mixture of trees", "real machine"]
)
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_any_backend_gives_the_same_model(backend, name):
    loaded = [part() for part in parts(3)]  # processes cannot import this file
    here = clone(MODELS[name]).fit_partitions(loaded)
    with parallel_config(backend, n_jobs=2):
        there = clone(MODELS[name]).fit_partitions(loaded)
    X = samples()
    np.testing.assert_array_equal(here.score_samples(X), there.score_samples(X))


def test_each_process_divides_its_samples_once_for_all_components(monkeypatch):
    calls = []
    original = _density_mixture.divide

    def counted(model, signs, weights):
        calls.append(len(signs))
        return original(model, signs, weights)

    monkeypatch.setattr(_density_mixture, "divide", counted)
    mixture = clone(MODELS["mixture of machines"]).fit_partitions(parts(2))
    # The start and each round: once for the sums, and once for all gradients.
    assert len(calls) <= 2 * 2 * (mixture.n_iter_ + 1)


def test_mixture_keeps_names_and_codes_of_partitions():
    X = pd.DataFrame(2 * samples() - 1, columns=list("abcdefgh"))
    mixture = clone(MODELS["mixture of trees"])
    mixture.fit_partitions([(X[:100], None), (X[100:], None)])
    assert list(mixture.feature_names_in_) == list("abcdefgh")
    np.testing.assert_array_equal(mixture.codes_, [-1, 1])
    whole = clone(mixture).fit(X)
    np.testing.assert_allclose(mixture.score_samples(X), whole.score_samples(X))


def test_samples_stay_where_they_are(monkeypatch):
    sent = []
    original = _partitioned_samples._apply

    def measured(*arguments):
        result = original(*arguments)
        leaves = [*result] if isinstance(result, tuple) else [result]
        sent.append(sum(np.size(leaf) for leaf in leaves))
        return result

    monkeypatch.setattr(_partitioned_samples, "_apply", measured)
    CombinationMachine(2, n_init=1, max_iter=5, random_state=0).fit_partitions(
        [lambda k=k: (samples(10**4, k), None) for k in range(2)]
    )
    assert max(sent) <= 8 * 8 + 8 + 1  # products of pairs at most, for any n_samples


@pytest.mark.parametrize("n_parts", [8, 64])
def test_bytes_are_those_of_the_cost_model_of_the_guide(n_parts, monkeypatch):
    m, n, max_iter, tasks = 4, 200, 10, []
    original = _partitioned_samples._apply

    def counted(place, source, worker, function, arguments):
        result = original(place, source, worker, function, arguments)
        sent = pickle.dumps((worker, function, arguments))
        tasks.append((function.__name__, len(sent), len(pickle.dumps(result))))
        return result

    monkeypatch.setattr(_partitioned_samples, "_apply", counted)
    X = np.random.default_rng(0).integers(0, 2, (640, n))
    machine = CombinationMachine(m, n_init=1, max_iter=max_iter, random_state=0)
    machine.fit_partitions([(X[k::n_parts], None) for k in range(n_parts)])
    gradients = [task for task in tasks if task[0] == "sum_posteriors"]
    assert len(gradients) % n_parts == 0
    assert max_iter <= len(gradients) / n_parts <= 2 * max_iter
    # Besides the numbers, names of classes and parameters.
    assert max(sent for _, sent, _ in gradients) <= 8 * (m * (n + 1) + n) + 2000
    assert max(back for _, _, back in gradients) <= 8 * (m * (n + 1) + 1) + 500
    # The base needs the products of all pairs once.
    assert len(tasks) - len(gradients) <= 2 * n_parts
    assert max(back for _, _, back in tasks) <= 8 * (n + 1) ** 2 + 500


def test_partitions_with_codes_names_and_empty_ones():
    X = 2 * samples() - 1
    tree = ChowLiuTree().fit_partitions(
        [
            (X[:100], None),
            (X[:0], None),
            (np.ones((2, 8)), None),
            (X[:50], None, np.zeros(50)),
            (X[100:], None),
        ]
    )
    np.testing.assert_array_equal(tree.codes_, [-1, 1])
    whole = ChowLiuTree().fit(np.vstack([X, np.ones((2, 8))]))
    np.testing.assert_array_equal(tree.probabilities_, whole.probabilities_)


@pytest.mark.parametrize(
    ("model", "partitions", "match"),
    [
        (ChowLiuTree(), [], "partitions is empty"),
        (ChowLiuTree(), [(samples()[:0], None)], "All partitions are empty"),
        (ChowLiuTree(), [(samples(), None), (samples()[:, 1:], None)], "Partition 1"),
        (ChowLiuTree(feature_groups=GROUPS), [(np.ones((2, 8)), None)], "Partition 0"),
        (CombinationMachine(2, early_stopping=True), parts(2), "needs solver='lbfgs'"),
        (CombinationMachine(2, alpha="auto"), parts(2), "numbers as n_components and"),
        (GaussianCombinationMachine(2, alpha="auto"), parts(2), "numbers as n_comp"),
        (GaussianCombinationMachine(2), parts(2, 0.2), "without missing values"),
        (GaussianCombinationMachine(25), parts(2), "exact_limit=20"),
        (CombinationMachine(2), parts(2, 0.2), "without missing values"),
        (BernoulliMixture(0), parts(2), "n_components"),
        (BernoulliMixture("auto"), parts(2), "needs a number as n_components"),
        (DensityMixture(n_components="auto"), parts(2), "a number as n_components"),
        (
            DensityMixture(DensityMixture(), n_components=2),
            parts(2),
            "needs an estimator that has",
        ),
        (
            DensityMixture(ChowLiuTree(feature_groups=GROUPS), n_components=2),
            parts(2),
            "of its own",
        ),
    ],
)
def test_errors_leave_the_model_as_it_was(model, partitions, match):
    model = clone(model)
    with pytest.raises(ValueError, match=match):
        model.fit_partitions(partitions)
    assert not hasattr(model, "n_features_in_")
