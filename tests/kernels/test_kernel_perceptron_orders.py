"""KernelPerceptron: orders, normalised updates, passes chosen on held-out samples."""

import numpy as np
import pytest
from oracles.kernels import all_conjunctions, plain_perceptron
from scipy import sparse
from sklearn.base import clone

from sklboolean import KernelPerceptron
from sklboolean.kernels import _orders


def table(n_samples=120, n_features=9, seed=0, n_classes=2, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, n_features))
    y = (X[:, 0] & X[:, 1]) + (n_classes > 2) * X[:, 2]
    return X, np.where(rng.random(n_samples) < noise, rng.integers(0, n_classes), y)


def kernel(X, Y):
    """Conjunctions of one to three true features, and the constant 1."""
    return 1 + all_conjunctions(X, Y, min_literals=1, max_literals=3, monotone=True)


def slow_perceptron(X, y, orders, margin):
    """Mean hypothesis of a perceptron on normalised samples, one update at a time."""
    norms = np.sqrt(kernel(X, X).diagonal())
    K = kernel(X, X) / np.outer(norms, norms)
    coef, total, n_means = np.zeros(len(y)), np.zeros(len(y)), 1
    for order in orders:
        for i in order:
            score = coef @ K[:, i] * (1 if y[i] else -1)
            if score < margin or (score == 0 and not y[i]):
                coef[i] += 1 if y[i] else -1
            total += coef
            n_means += 1
    return total / (n_means * norms), norms


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_normalised_perceptron_is_the_one_of_the_definition(layout):
    X, y = table()
    model = KernelPerceptron(
        n_orders=0, early_stopping=False, max_iter=3, margin=0.7
    ).fit(layout(X), y)
    orders = [np.arange(len(y))] * model.n_iter_
    coef, norms = slow_perceptron(X, y, orders, 0.7)
    scores = coef @ kernel(X, X) / norms
    # Sizes of updates are rounded to 16 binary digits.
    assert model.decision_function(layout(X)) == pytest.approx(scores, abs=1e-3)
    support = model.support_
    assert model.dual_coef_[0] == pytest.approx(coef[support], abs=1e-4)
    own = kernel(X, X[support]) @ model.dual_coef_[0] / norms
    assert own == pytest.approx(model.decision_function(layout(X)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_orders_are_added_up(n_classes):
    X, y = table(n_classes=n_classes)
    options = {"early_stopping": False, "max_iter": 2, "random_state": 3}
    model = KernelPerceptron(n_orders=4, **options).fit(X, y)
    first = KernelPerceptron(n_orders=1, **options).fit(X, y)
    shape = model.decision_function(X).shape
    assert shape == ((len(X),) if n_classes == 2 else (len(X), 3))
    assert model._state.n_orders == 4
    assert not np.array_equal(model.decision_function(X), first.decision_function(X))
    assert model.n_updates_ > 3 * first.n_updates_
    for n_jobs in (1, 2):
        again = clone(model).set_params(n_jobs=n_jobs).fit(X, y)
        assert np.array_equal(again.dual_coef_, model.dual_coef_)


def test_scores_do_not_grow_with_orders_passes_or_features():
    X, y = table(400, 60, noise=0)
    for parameters in ({}, {"n_orders": 1}, {"max_iter": 30}, {"n_orders": 9}):
        model = KernelPerceptron(random_state=0, **parameters).fit(X, y)
        assert 0.2 < np.abs(model.decision_function(X)).mean() < 5


def test_noise_is_learned_in_fewer_passes():
    X, y = table(600, 12, noise=0)
    clean = KernelPerceptron(random_state=0).fit(X, y)
    wrong = np.random.default_rng(1).random(600) < 0.3
    noisy = KernelPerceptron(random_state=0).fit(X, np.where(wrong, 1 - y, y))
    assert noisy.n_iter_ in (1, 3)
    assert (noisy.predict(X) == y).mean() > 0.9
    assert clean.score(X, y) > 0.99
    plain = plain_perceptron(random_state=0).fit(X, np.where(wrong, 1 - y, y))
    assert (plain.predict(X) == y).mean() < (noisy.predict(X) == y).mean()


def test_a_stream_continues_on_the_scale_of_the_sum_of_orders():
    X, y = table(600, 12)
    model = KernelPerceptron(random_state=0, n_orders=7).fit(X[:300], y[:300])
    before = np.abs(model.decision_function(X)).mean()
    model.partial_fit(X[300:], y[300:])
    assert 0.3 * before < np.abs(model.decision_function(X)).mean() < 3 * before
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize(
    "parameters", [{"n_orders": -1}, {"n_orders": 1.5}, {"early_stopping": "yes"}]
)
def test_bad_parameters(parameters):
    with pytest.raises((ValueError, TypeError), match=next(iter(parameters))):
        KernelPerceptron(**parameters).fit(*table())


@pytest.mark.parametrize(
    ("losses", "n_passes"),
    [([3, 3], 1), ([3, 2, 2], 3), ([3, 2, 1], 4), ([3, 4], 1)],
)
def test_more_passes_are_tried_while_they_make_the_loss_smaller(
    losses, n_passes, monkeypatch
):
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 5)) < 0.5, rng.integers(0, 2, 60)
    rest = iter(losses)
    monkeypatch.setattr(_orders, "calibrated_loss", lambda *data: next(rest))
    settings = {"max_iter": 4, "n_orders": 1, "random_state": 0}
    model = KernelPerceptron(max_literals=3, **settings).fit(X, y)
    assert model.n_iter_ == n_passes
    assert not [*rest]


@pytest.mark.parametrize(
    ("losses", "length", "n_passes"),
    [([3, 3, 3, 3], 3, 1), ([3, 2, 2, 4, 1, 1], 1, 3), ([1, 2, 4, 3, 2], 3, 1)],
)
def test_the_length_with_the_smaller_loss_is_chosen(
    losses, length, n_passes, monkeypatch
):
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 5)) < 0.5, rng.integers(0, 2, 60)
    rest = iter(losses)
    monkeypatch.setattr(_orders, "calibrated_loss", lambda *data: next(rest))
    settings = {"max_iter": 4, "n_orders": 1, "random_state": 0}
    model = KernelPerceptron(**settings).fit(X, y)
    assert (model.kernel_.max_literals, model.n_iter_) == (length, n_passes)
    assert not [*rest]
    monkeypatch.undo()
    same = KernelPerceptron(max_literals=length, **settings)
    same.set_params(max_iter=n_passes, early_stopping=False).fit(X, y)
    np.testing.assert_array_equal(model.dual_coef_, same.dual_coef_)


def test_auto_is_three_literals_where_nothing_is_held_out():
    X, y = table()
    for settings in ({"early_stopping": False}, {"max_iter": 1}, {"n_orders": 0}):
        model = KernelPerceptron(random_state=0, **settings).fit(X, y)
        same = KernelPerceptron(max_literals=3, random_state=0, **settings).fit(X, y)
        np.testing.assert_array_equal(
            model.decision_function(X), same.decision_function(X)
        )
    with pytest.raises(ValueError, match="max_literals"):
        KernelPerceptron(max_literals="all").fit(X, y)
