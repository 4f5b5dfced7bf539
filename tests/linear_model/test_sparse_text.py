"""Deferred updates and orders in blocks give the models of the plain loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklboolean.linear_model._loop import OnlineLoop, shuffle_blocks
from sklearn.base import clone

from sklboolean import AveragedPerceptron, Winnow
from sklboolean.linear_model import _base
from sklboolean.linear_model._data import pack_samples

LEARNERS = [
    AveragedPerceptron(),
    AveragedPerceptron(margin=(0.5, 3.0), fit_intercept=False),
    AveragedPerceptron(average=None, margin=0.0),
]


def problem(n_classes=2, n_samples=300, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.random((n_samples, 70)) < 0.1).astype(float)
    y = (X[:, :20].sum(axis=1) + rng.integers(0, 2, n_samples)).astype(int) % n_classes
    y[:n_classes] = range(n_classes)
    return sparse.csr_array(X), y


def same_model(one, other):
    for name in ("coef_", "intercept_", "raw_coef_", "raw_intercept_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.n_mistakes_, one.n_updates_) == (other.n_mistakes_, other.n_updates_)


@pytest.mark.parametrize("n_classes", [2, 3, 20])
@pytest.mark.parametrize("model", LEARNERS, ids=str)
def test_deferred_updates_give_the_model_of_single_passes(model, n_classes):
    X, y = problem(n_classes)
    deferred = clone(model).set_params(max_iter=4, shuffle=False).fit(X, y)
    single = clone(model)
    for _ in range(4):
        single.partial_fit(X, y, classes=range(n_classes))
    same_model(deferred, single)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", LEARNERS, ids=str)
def test_dense_and_sparse_samples_give_one_model(model, n_classes):
    X, y = problem(n_classes, 5000)
    model = clone(model).set_params(max_iter=3, random_state=0)
    same_model(clone(model).fit(X, y), clone(model).fit(X.toarray(), y))


def defers(model, X, y):
    """Whether the loop of a fit defers its updates; the fit ends after one pass."""
    called = []

    class Seen(Exception):
        pass

    class Spy(OnlineLoop):
        def __init__(self, state, *others):
            super().__init__(state, *others)
            before = np.asarray(self.weights).copy()
            self.run(np.arange(len(others[0])))  # codes
            called.append((np.asarray(self.weights)[:-2] == before[:-2]).all())
            raise Seen

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_base, "OnlineLoop", Spy)
        with pytest.raises(Seen):
            model.fit(X, y)
    return called[0]


def test_updates_are_deferred_only_where_that_is_exact():
    X, y = problem()
    assert defers(AveragedPerceptron(), X, y)
    assert defers(AveragedPerceptron(average=None), X, y)
    for parameters in [
        {"max_iter": 1}, {"learning_rate": 0.1},
        {"learning_rate": "aggressive"}, {"learning_rate": "adagrad"},
        {"average": "longest"}, {"class_weight": {0: 0.3}}, {"early_stopping": True},
        {"max_iter": 56_000},
    ]:  # fmt: skip
        assert not defers(AveragedPerceptron(**parameters), X, y), parameters
    assert not defers(AveragedPerceptron(), X * 2, y)
    assert not defers(AveragedPerceptron(), X.toarray(), y)


@given(st.integers(0, 200), st.integers(1, 40), st.integers(0, 2**63))
def test_blocks_of_neighbours_stay_together(n, block, seed):
    rows = np.arange(n, dtype=np.int64) * 3
    order = np.empty(n, dtype=np.int64)
    shuffle_blocks(rows, block, seed, order)
    assert sorted(order) == rows.tolist()
    numbers = order // 3 // block
    assert np.count_nonzero(np.diff(numbers)) == max(0, -(-n // block) - 1)


@pytest.mark.parametrize("model", [AveragedPerceptron(), Winnow()], ids=str)
@pytest.mark.parametrize("is_sorted", [False, True])
def test_sorted_labels_are_not_shuffled_in_blocks(model, is_sorted, monkeypatch):
    X, y = problem(n_samples=_base.LEAST_FOR_BLOCKS)
    if is_sorted:
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    called = []

    def spy(*arguments):
        called.append(arguments)
        shuffle_blocks(*arguments)

    monkeypatch.setattr(_base, "shuffle_blocks", spy)
    model = clone(model).set_params(random_state=0).fit(X, y)
    assert bool(called) != is_sorted
    clone(model).fit(X[:-1], y[:-1])
    assert len(called) == (0 if is_sorted else 10)


def test_an_order_of_another_length_is_refused():
    with pytest.raises(ValueError, match="order has another length"):
        shuffle_blocks(np.arange(5), 2, 0, np.empty(4, dtype=np.int64))


@given(st.lists(st.integers(0, 19), max_size=30), st.booleans())
def test_a_copy_of_some_samples_has_their_entries(samples, is_real):
    rng = np.random.default_rng(0)
    X = (rng.random((20, 9)) < 0.2) * rng.integers(1, 3 if is_real else 2, (20, 9))
    X = sparse.csr_array(X.astype(np.float64))
    part = pack_samples(X, X)[np.array(samples, dtype=np.int64)]
    assert part.n_samples == len(samples)
    (values,) = part.value_blocks()
    np.testing.assert_array_equal(values.toarray(), X.toarray()[samples])


@pytest.mark.parametrize("model", [AveragedPerceptron(), Winnow()], ids=str)
def test_a_few_of_many_samples_are_learned_as_if_alone(model):
    X, y = problem(n_samples=_base.LEAST_FOR_BLOCKS)
    weights = (np.arange(len(y)) % 3 == 0).astype(float)
    model = clone(model).set_params(max_iter=2, shuffle=False)
    few, kept = clone(model).fit(X, y, weights), weights > 0
    same_model(few, clone(model).fit(X[kept], y[kept], weights[kept]))
