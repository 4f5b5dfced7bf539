"""What KernelPerceptron promises about mistakes, streams and budgets."""

import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.kernels import (
    conjunction_holds,
    decision_exact,
    kernel_perceptron,
    kernel_rows,
    plain_perceptron,
    same_state,
)
from scipy import sparse

from sklboolean.datasets import make_dnf
from sklboolean.theory import (
    hinge_deviation,
    perceptron_mistake_bound,
    perceptron_mistake_bound_nonseparable,
)

# Mistakes and the theorems


def planted_weights(X, terms, max_literals, monotone, decay):
    """Return u.x for each row, |u|, and the largest |x| in feature space.

    ``u`` is the sum of the terms minus 1/2. A conjunction of l literals has the value
    sqrt(decay**l) where it holds, the empty one of the intercept the value 1.
    """
    scores = [
        sum(conjunction_holds(term, row) for term in terms) - Fraction(1, 2)
        for row in X.tolist()
    ]
    square = sum(1 / Fraction(decay) ** len(term) for term in terms) + Fraction(1, 4)
    K = kernel_rows(
        X, X, min_literals=1, max_literals=max_literals, monotone=monotone,
        decay=decay, constant=1,
    )  # fmt: skip
    return scores, float(square) ** 0.5, float(max(np.diag(K))) ** 0.5


planted = st.fixed_dictionaries(
    {
        "n_terms": st.integers(1, 3),
        "n_literals": st.integers(1, 3),
        "monotone": st.booleans(),
        "random_state": st.integers(0, 10**6),
    }
)
kernel_settings = st.fixed_dictionaries(
    {
        "max_literals": st.sampled_from([3, 4, None]),
        "decay": st.sampled_from([0.5, 1.0, 2.0]),
    }
)


@pytest.mark.slow
@given(planted, kernel_settings, st.integers(0, 1))
def test_mistakes_on_a_planted_dnf_stay_below_the_bound(dnf, kernel, n_orders):
    X, y, terms = make_dnf(80, 8, **dnf)
    kernel["monotone"] = dnf["monotone"]
    scores, norm, radius = planted_weights(X, terms, **kernel)
    assert [score > 0 for score in scores] == y.astype(bool).tolist()
    margin = min(map(abs, scores))
    model = kernel_perceptron(max_iter=100, n_orders=n_orders, **kernel)
    model.partial_fit(X, y, classes=[0, 1])
    bound = perceptron_mistake_bound(radius, margin, norm)
    assert model.n_mistakes_ <= bound
    if y.any() and not y.all():
        model.set_params(random_state=0).fit(X, y)
        assert model.n_mistakes_ <= bound


def test_training_on_separable_data_ends_when_no_mistake_is_left():
    X, y, _terms = make_dnf(300, 10, n_terms=2, n_literals=2, random_state=0)
    model = plain_perceptron(monotone=False, max_iter=1000, average=None)
    model.fit(X, y)
    assert model.n_iter_ < 1000
    assert model.mistakes_per_epoch_[-1] == 0
    assert all(model.mistakes_per_epoch_[:-1])
    assert (model.predict(X) == y).all()


@given(planted, kernel_settings, st.sampled_from([0.05, 0.3]), st.integers(1, 4))
def test_mistakes_with_noise_stay_below_the_bound(dnf, kernel, noise, n_passes):
    X, y, terms = make_dnf(60, 8, noise=noise, **dnf)
    if len(set(y)) < 2:
        return
    kernel["monotone"] = dnf["monotone"]
    scores, norm, radius = planted_weights(X, terms, **kernel)
    model = kernel_perceptron(max_iter=n_passes, random_state=0, **kernel).fit(X, y)
    signs = 2 * y - 1
    for margin in (0.5, 1, 4):
        deviation = hinge_deviation(
            n_passes * list(map(float, scores)), n_passes * signs.tolist(), margin
        )
        bound = perceptron_mistake_bound_nonseparable(radius, margin, deviation, norm)
        assert model.n_mistakes_ <= bound


@pytest.fixture(scope="module")
def hard_sequence():
    """Theorem 4: all false is negative, all true positive, light rows negative."""
    rng, n, weight = np.random.default_rng(0), 100, 45
    light = np.array([rng.permutation(n) < weight for _ in range(400)])
    X = np.vstack([np.zeros(n, bool), np.ones(n, bool), light])
    y = np.r_[0, 1, np.zeros(400, int)]
    common = light.astype(int) @ light.T
    return X, y, weight, common


def test_all_conjunctions_err_on_every_row_of_the_hard_sequence(hard_sequence):
    X, y, weight, common = hard_sequence
    # A light row scores 2**weight - 1 after the first two rows, and every earlier
    # light row takes 2**common from it: positive while these are less in all.
    for j in range(400):
        assert sum(2 ** int(s) for s in common[j, :j]) < 2**weight - 1
    model = plain_perceptron(max_literals=None, n_orders=0, max_iter=1)
    assert model.fit(X, y).n_mistakes_ == 402
    assert model.n_support_ == 402


@pytest.mark.parametrize("max_literals", [1, 2, 3])
def test_short_conjunctions_err_seldom_on_the_hard_sequence(
    hard_sequence, max_literals
):
    X, y, weight, common = hard_sequence
    one = {"min_literals": 0, "max_literals": max_literals, "monotone": True}

    def kernel(s):
        return kernel_rows([[1] * s], [[1] * s], decay=1, **one)[0][0]

    # No promotion follows the second row, so a light row scores at most
    # K(weight) - 1 - m K(s) after m mistakes on light rows that share s or more.
    fewest = int(common[np.triu_indices(400, 1)].min())
    bound = 2 + (kernel(weight) - 1) // kernel(fewest) + 1
    model = plain_perceptron(max_literals=max_literals, n_orders=0, max_iter=1)
    assert model.fit(X, y).n_mistakes_ <= bound
    assert bound < 402 / 2


# Streams


learned = [
    "classes_", "support_", "support_words_", "dual_coef_", "raw_dual_coef_",
    "intercept_", "n_support_", "n_mistakes_", "n_updates_", "t_",
    "score_exponent_", "n_features_in_",
]  # fmt: skip

streams = st.fixed_dictionaries(
    {
        "average": st.sampled_from(["mean", "voted", None]),
        "multi_class": st.sampled_from(["ovr", "joint"]),
        "max_literals": st.sampled_from([2, None]),
        "monotone": st.booleans(),
        "decay": st.sampled_from([1.0, 0.3]),
        "margin": st.sampled_from([0.0, 2.0]),
        "class_weight": st.sampled_from([None, {0: 1.3, 1: 2}]),
    }
)


def random_problem(seed, n_samples=120, n_features=12, n_classes=3):
    """Return rows and labels with something to learn and much noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, n_features), dtype=np.uint8)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + (rng.random(n_samples) < 0.3)) % n_classes
    return X, y.astype(int)


def assert_same_model(one, other, X, names=learned):
    for name in names:
        assert same_state(getattr(one, name), getattr(other, name)), name
    assert same_state(decision_exact(one, X), decision_exact(other, X))
    assert same_state(one.decision_function(X), other.decision_function(X))


@settings(max_examples=22)
@given(
    streams,
    st.integers(0, 10**6),
    st.sampled_from([2, 3, 4]),
    st.lists(st.integers(1, 119), max_size=5),
)
def test_partial_fit_in_any_chunks_equals_one_pass_of_fit(
    parameters, seed, n_classes, cuts
):
    X, y = random_problem(seed, n_classes=n_classes)
    y[:n_classes] = range(n_classes)
    whole = kernel_perceptron(n_orders=0, max_iter=1, **parameters).fit(X, y)
    edges = [0, *sorted(set(cuts)), 120]
    parts = kernel_perceptron(**parameters)
    for first, last in pairwise(edges):
        parts.partial_fit(X[first:last], y[first:last], classes=range(n_classes))
    assert_same_model(whole, parts, X)
    # The parts of a stream are one epoch.
    assert parts.mistakes_per_epoch_ == whole.mistakes_per_epoch_
    assert parts.n_iter_ == whole.n_iter_ == 1


@pytest.mark.parametrize("average", ["mean", "voted", None])
def test_stream_may_change_between_dense_and_sparse(average):
    X, y = random_problem(0)
    dense = plain_perceptron(average=average)
    sparse_first = plain_perceptron(average=average)
    dense_first = plain_perceptron(average=average)
    for i, rows in enumerate(np.split(np.arange(120), 4)):
        tables = [X[rows], sparse.csr_array(X[rows])]
        dense.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        dense_first.partial_fit(tables[i % 2], y[rows], classes=[0, 1, 2])
        sparse_first.partial_fit(tables[1 - i % 2], y[rows], classes=[0, 1, 2])
    assert_same_model(dense, dense_first, X)
    assert sparse_first.support_words_ is None
    assert same_state(sparse_first.support_rows_.toarray(), X[dense.support_] > 0)
    assert_same_model(
        dense, sparse_first, X, [n for n in learned if n != "support_words_"]
    )


@pytest.mark.parametrize("average", ["mean", "voted", None])
def test_memory_of_a_stream_grows_with_mistakes_only(average):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (3000, 20))
    y = X[:, 0]
    model = plain_perceptron(average=average, max_literals=1)
    sizes = []
    for rows in np.split(np.arange(3000), 30):
        model.partial_fit(X[rows], y[rows], classes=[0, 1])
        # Beside its state a stream keeps at most 1000 scores for the calibration.
        sizes.append((model.n_mistakes_, len(pickle.dumps(model._state))))
    assert model.n_support_ <= model.n_mistakes_ < 100
    assert sizes[-1][0] == sizes[-10][0]
    assert sizes[-1][1] == sizes[-10][1]


def test_support_is_the_rows_that_were_learned_from():
    X, y = random_problem(3, n_classes=2)
    model = plain_perceptron(n_orders=0, max_iter=4).fit(X, y)
    bits = np.unpackbits(
        model.support_words_.astype("<u8").view(np.uint8), axis=1, bitorder="little"
    )
    assert (bits[:, :12] == X[model.support_]).all()
    assert not bits[:, 12:].any()
    assert model.n_support_ == len(model.support_) < len(X)
    assert model.support_.dtype == np.int64
    assert (np.diff(model.support_) > 0).all()


def test_scores_are_the_kernel_times_the_coefficients():
    X, y = random_problem(4)
    model = kernel_perceptron(max_literals=2, decay=0.5, random_state=0).fit(X, y)
    K = kernel_rows(
        X, X[model.support_], min_literals=1, max_literals=2, monotone=True, decay=0.5
    )
    K = np.array(K, dtype=float)  # multiples of 1/4: float64 sums are exact
    expected = K @ model.dual_coef_.T + model.intercept_
    assert np.array_equal(model.decision_function(X), expected)


def test_first_partial_fit_needs_all_classes():
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        plain_perceptron().partial_fit([[0], [1]], [0, 1])


def test_classes_of_partial_fit_must_stay_the_same_state():
    model = plain_perceptron().partial_fit([[0], [1]], [0, 1], classes=[1, 0])
    model.partial_fit([[0], [1]], [0, 1], classes=[0, 1])
    model.partial_fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match=r"classes=\[0, 1, 2\] is not the same"):
        model.partial_fit([[0], [1]], [0, 1], classes=[0, 1, 2])


@pytest.mark.parametrize("classes", [["a", "b"], [0, 1]])
def test_label_outside_the_classes_is_named(classes):
    with pytest.raises(ValueError, match=r"'c'.* not among the classes"):
        plain_perceptron().partial_fit([[0], [1]], ["c", "c"], classes=classes)


def test_partial_fit_of_one_class_of_several_learns():
    model = plain_perceptron()
    model.partial_fit([[1, 0], [1, 1]], ["b", "b"], classes=["a", "b", "c"])
    assert model.predict([[1, 1]]) == ["b"]


@pytest.mark.parametrize("average", ["mean", "voted", None])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_passes_of_partial_fit_are_one_longer_fit(average, multi_class):
    X, y = random_problem(5)
    options = {"average": average, "multi_class": multi_class, "n_orders": 0}
    passes = plain_perceptron(max_iter=2, **options).fit(X, y)
    passes.partial_fit(X, y).partial_fit(X, y)
    once = plain_perceptron(max_iter=4, **options).fit(X, y)
    assert once.n_iter_ == 4  # no early end
    assert same_state(decision_exact(passes, X), decision_exact(once, X))
    assert passes.n_mistakes_ == once.n_mistakes_
    assert (passes.n_updates_, passes.t_) == (once.n_updates_, once.t_)
    assert passes.n_iter_ == 2


def test_fit_forgets():
    X, y = random_problem(6)
    twice = plain_perceptron(random_state=0).fit(X[60:], y[60:]).fit(X, y)
    assert_same_model(twice, plain_perceptron(random_state=0).fit(X, y), X)


def test_new_class_weights_keep_what_was_learned():
    X, y = random_problem(7, n_classes=2)
    plain = plain_perceptron(n_orders=0, max_iter=1).fit(X, y)
    model = plain_perceptron(n_orders=0, max_iter=1).fit(X[:60], y[:60])
    # Weights of 1 change nothing but the unit in which coefficients are kept.
    model.set_params(class_weight={0: 1, 1: 1}).partial_fit(X[60:], y[60:])
    assert same_state(decision_exact(model, X), decision_exact(plain, X))


# Budgets


budgets = st.fixed_dictionaries(
    {
        "max_support": st.integers(1, 12),
        "average": st.sampled_from(["mean", None]),
        "margin": st.sampled_from([0.0, 3.0]),
        "class_weight": st.sampled_from([None, {0: 1.3, 1: 2}]),
        "random_state": st.integers(0, 100),
    }
)


def largest_support(model):
    """The most support rows of a problem: of a class against the rest, or in all."""
    if model.multi_class == "joint":
        return model.n_support_
    in_use = (model.raw_dual_coef_ != 0) | (model.dual_coef_ != 0)
    return in_use.sum(axis=1).max()


@pytest.mark.slow
@settings(max_examples=20)
@given(
    budgets,
    st.integers(2, 3),
    st.sampled_from(["ovr", "joint"]),
    st.sampled_from([np.asarray, sparse.csr_array]),
)
def test_support_never_passes_the_budget(parameters, n_classes, multi_class, layout):
    X, y = random_problem(parameters["random_state"], n_classes=n_classes)
    limit = parameters["max_support"]
    model = kernel_perceptron(multi_class=multi_class, **parameters)
    assert largest_support(model.fit(layout(X), y)) <= limit
    assert model.n_mistakes_ > limit
    model.predict(layout(X))
    model = kernel_perceptron(multi_class=multi_class, **parameters)
    for rows in np.split(np.arange(120), 6):
        model.partial_fit(layout(X[rows]), y[rows], classes=range(n_classes))
        assert largest_support(model) <= limit
    assert model.n_mistakes_ > limit


@pytest.mark.parametrize("average", ["mean", None])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_budget_as_large_as_the_mistakes_changes_nothing(average, multi_class):
    X, y = random_problem(1)
    options = {"average": average, "multi_class": multi_class, "random_state": 3}
    free = plain_perceptron(**options).fit(X, y)
    model = plain_perceptron(max_support=free.n_mistakes_, **options).fit(X, y)
    assert_same_model(free, model, X)
    assert model.mistakes_per_epoch_ == free.mistakes_per_epoch_


@pytest.mark.parametrize("n_classes", [2, 3])
def test_budgeted_model_is_reproducible(n_classes):
    X, y = random_problem(2, n_classes=n_classes)
    options = {"max_support": 7, "random_state": 4}
    one = plain_perceptron(**options).fit(X, y)
    other = plain_perceptron(n_jobs=2, **options).fit(X, y)
    assert_same_model(one, other, X)


def test_random_removals_depend_on_the_seed():
    X, y = random_problem(2, n_classes=2)
    supports = {
        tuple(
            plain_perceptron(max_support=7, n_orders=0, random_state=seed)
            .fit(X, y)
            .support_
        )
        for seed in range(5)
    }
    assert len(supports) == 5


@pytest.mark.parametrize("average", ["mean", None])
def test_budgeted_learner_beats_the_constant_guess(average):
    X, y, _ = make_dnf(2000, 12, n_terms=2, n_literals=2, monotone=True, random_state=0)
    model = plain_perceptron(
        max_literals=2, max_support=60, average=average, random_state=0
    ).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > max(y[1000:].mean(), 1 - y[1000:].mean())
