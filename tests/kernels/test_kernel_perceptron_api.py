"""KernelPerceptron in use: bad input, kernels, labels, seeds, pipelines, files."""

import copy
from functools import partial
from itertools import pairwise

import joblib
import numpy as np
import pytest
from oracles.kernels import (
    all_conjunctions,
    counting_kernel,
    decision_exact,
    plain_perceptron,
    same_state,
)
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from sklboolean import (
    BooleanGaussianProcessClassifier,
    BooleanGaussianProcessRegressor,
    BooleanSVC,
    KernelPerceptron,
)
from sklboolean.datasets import make_dnf, make_tic_tac_toe
from sklboolean.kernels import (
    CNFKernel,
    ConjunctionKernel,
    DisjunctionKernel,
    DNFKernel,
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
    TanimotoKernel,
    dnf_kernel,
    tanimoto_kernel,
)


def random_problem(seed, n_samples=120, n_features=12, n_classes=3):
    """Return rows and labels with something to learn and much noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, n_features), dtype=np.uint8)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + (rng.random(n_samples) < 0.3)) % n_classes
    return X, y.astype(int)


def fitted_state(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


def assert_same_fit(one, other, X):
    one_state, other_state = fitted_state(one), fitted_state(other)
    assert one_state.keys() == other_state.keys()
    for name, value in one_state.items():
        assert same_state(value, other_state[name]), name
    assert same_state(one.decision_function(X), other.decision_function(X))
    assert same_state(one.predict(X), other.predict(X))


# Failures


GOOD = np.eye(4, dtype=int)
BAD_PARAMETERS = [
    ({"kernel": "quadratic"}, "kernel must be .*quadratic"),
    ({"kernel": 3}, "kernel must be a name"),
    ({"kernel": counting_kernel(min_literals=-1)}, "min_literals"),
    ({"kernel": counting_kernel(min_literals=1.5)}, "min_literals"),
    (
        {"kernel": "conjunction", "max_literals": 0},
        "max_literals=0 is below min_literals=1",
    ),
    ({"kernel": "conjunction", "max_literals": True}, "max_literals"),
    ({"kernel": counting_kernel(decay=0.0)}, "decay"),
    ({"kernel": counting_kernel(decay=np.nan)}, "decay"),
    ({"kernel": counting_kernel(decay="slow")}, "decay"),
    ({"kernel": RBFKernel(gamma=0)}, "gamma"),
    ({"kernel": PolynomialKernel(degree=0)}, "degree"),
    ({"kernel": PolynomialKernel(coef0=-1)}, "coef0"),
    ({"kernel": PolynomialKernel(degree=2000, coef0=9.0)}, "gamma, coef0 or degree"),
    ({"average": "median"}, "average"),
    ({"margin": -1.0}, "margin"),
    ({"margin": np.inf}, "margin"),
    ({"max_iter": 0}, "max_iter"),
    ({"multi_class": "multinomial"}, "multi_class"),
    ({"class_weight": "heavy"}, "class_weight"),
    ({"class_weight": {0: -1, 1: 1}}, "class_weight"),
    ({"class_weight": {0: np.inf, 1: 1}}, "class_weight"),
    ({"class_weight": {0: 1e300, 1: 1}}, "class_weight"),
    ({"max_support": 0}, "max_support"),
    ({"max_support": 2, "average": "voted"}, "max_support"),
    ({"binarize": -0.5}, "binarize"),
    ({"binarize": "yes"}, "binarize"),
    ({"random_state": "zero"}, "seed|RandomState"),
    ({"kernel": lambda X, Y: np.full((len(X), len(Y)), np.nan)}, "kernel returned NaN"),
    ({"kernel": lambda X, Y: np.zeros((1, 1))}, "kernel returned shape"),
]
BAD_DATA = [
    ([[0, 1, np.nan, 0]] * 4, [0, 1, 0, 1], "NaN"),
    ([[0, 1, np.inf, 0]] * 4, [0, 1, 0, 1], "infinity"),
    ([0, 1, 0, 1], [0, 1, 0, 1], "2D array"),
    (np.zeros((0, 4)), [], "0 sample"),
    (GOOD, [0, 1, 0], "inconsistent numbers of samples"),
    (GOOD, [0.1, 0.7, 0.3, 0.2], "continuous"),
    (GOOD, [[0, 1]] * 4, "y"),
    (GOOD, None, "y"),
    (GOOD * 1j, [0, 1, 0, 1], "[Cc]omplex"),
    (GOOD[:, :3], [0, 1, 0, 1], "features"),
]


def snapshot(model):
    return copy.deepcopy(vars(model))


def assert_untouched(model, before):
    after = vars(model)
    assert before.keys() == after.keys()
    for name, value in before.items():
        if not callable(value):
            assert same_state(value, after[name]), name


def started(**parameters):
    return KernelPerceptron(**parameters).partial_fit(GOOD, [0, 1, 0, 1], [0, 1])


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
def test_bad_parameter_is_named_and_nothing_is_forgotten(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        started(**parameters)
    model = started().set_params(**parameters)
    before = snapshot(model)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(GOOD, [1, 0, 1, 0])
    assert_untouched(model, before)
    with pytest.raises((ValueError, TypeError), match="|".join([message, *parameters])):
        model.partial_fit(GOOD, [1, 0, 1, 0])
    assert_untouched(model, before)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(("X", "y", "message"), BAD_DATA)
def test_bad_data_is_described_and_nothing_is_forgotten(method, X, y, message):
    if (method, message) == ("fit", "features"):
        return  # a new fit may have other features
    model = started()
    before = snapshot(model)
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(X, y)
    assert_untouched(model, before)


@pytest.mark.parametrize(
    ("parameters", "X", "y", "message"),
    [
        ({}, GOOD, [1, 1, 1, 1], "only one class"),
        ({"binarize": None}, 2 * GOOD, [0, 1, 0, 1], "Column 0 of X holds 2"),
        ({"kernel": "precomputed"}, GOOD[:, :3], [0, 1, 0, 1], "square"),
        ({"kernel": "precomputed"}, sparse.csr_array(GOOD), [0, 1, 0, 1], "[Ss]parse"),
    ],
)
def test_fit_that_fails_leaves_the_learner_as_it_was(parameters, X, y, message):
    model = plain_perceptron(**parameters)
    before = snapshot(model)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, y)
    assert_untouched(model, before)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"max_support": 3},
        {"average": "voted", "multi_class": "joint"},
    ],
)
def test_kernel_that_fails_on_the_way_leaves_the_learner_as_it_was(parameters):
    X, y = random_problem(8)
    calls = {"left": np.inf}

    def kernel(A, B):
        calls["left"] -= 1
        if calls["left"] < 0:
            raise RuntimeError("no more")
        return A @ B.T

    model = plain_perceptron(kernel, random_state=0, **parameters)
    model.partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    calls["left"] = 10**6
    copy.deepcopy(model).partial_fit(X[50:], y[50:])
    needed = 10**6 - calls["left"]
    assert needed >= 2
    for allowed in range(0, needed, max(1, needed // 25)):
        # A copy: what prediction prepares is made again.
        other = copy.deepcopy(model)
        calls["left"], before = allowed, snapshot(other)
        with pytest.raises(RuntimeError, match="no more"):
            other.partial_fit(X[50:], y[50:])
        assert_untouched(other, before)


def test_partial_fit_is_absent_where_it_cannot_work():
    model = plain_perceptron(kernel="precomputed")
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        model.partial_fit(np.eye(2), [0, 1], classes=[0, 1])


# Kernels


def linear_perceptron(X, y, n_epochs):
    """The averaged perceptron with a bias, primal, integers only."""
    w, total, mistakes = np.zeros(X.shape[1] + 1, dtype=int), 0, 0
    rows = np.c_[X, np.ones(len(X), dtype=int)].astype(int)
    for _ in range(n_epochs):
        for x, code in zip(rows, y, strict=True):
            if (w @ x >= 0) != (code == 1):
                w = w + (2 * code - 1) * x
                mistakes += 1
            total = total + w
    return w, total, mistakes


def test_linear_kernel_is_the_linear_perceptron():
    X, y = random_problem(0, n_classes=2)
    w, total, mistakes = linear_perceptron(X, y, 5)
    options = {"kernel": "linear", "n_orders": 0, "max_iter": 5}
    mean = plain_perceptron(**options).fit(X, y)
    last = plain_perceptron(average=None, **options).fit(X, y)
    assert mean.n_mistakes_ == last.n_mistakes_ == mistakes
    assert (decision_exact(mean, X) == X @ total[:-1] + total[-1]).all()
    assert (decision_exact(last, X) == X @ w[:-1] + w[-1]).all()


# Weights without a common divisor: sums with both signs do not vanish by accident,
# so that float64 sees every sign that exact arithmetic sees.
UNEVEN = {0: 1.7310791015625, 1: 1.0}


@pytest.mark.parametrize(
    ("named", "function"),
    [
        ({"kernel": "rbf"}, partial(rbf_kernel, gamma=1 / 12)),
        ({"kernel": RBFKernel(gamma=0.3)}, partial(rbf_kernel, gamma=0.3)),
        (
            {"kernel": PolynomialKernel(gamma=0.3, degree=4, coef0=0.5)},
            partial(polynomial_kernel, gamma=0.3, degree=4, coef0=0.5),
        ),
        ({"kernel": "poly"}, partial(polynomial_kernel, gamma=1 / 12, degree=3)),
        ({"kernel": TanimotoKernel()}, tanimoto_kernel),
        ({"kernel": DNFKernel()}, dnf_kernel),
    ],
)
@pytest.mark.parametrize(
    ("average", "layout"),
    [("mean", np.asarray), ("mean", sparse.csr_array), ("voted", np.asarray),
     (None, sparse.csr_array)],
)  # fmt: skip
def test_named_kernel_predicts_as_the_function(named, function, average, layout):
    X, y = random_problem(1, n_classes=2)
    options = {"average": average, "class_weight": UNEVEN, "random_state": 0}
    one = plain_perceptron(**named, **options).fit(layout(X), y)
    other = plain_perceptron(function, **options).fit(layout(X), y)
    assert one.mistakes_per_epoch_ == other.mistakes_per_epoch_
    assert same_state(one.support_, other.support_)
    assert same_state(one.dual_coef_, other.dual_coef_)
    assert same_state(one.predict(layout(X)), other.predict(layout(X)))


def test_function_sees_zeros_and_ones_as_float64():
    seen = []

    def kernel(A, B):
        seen.extend([A, B])
        return A @ B.T

    X = np.array([[-3, 2], [5, 0], [0, 0]])
    plain_perceptron(kernel).fit(X, [0, 1, 1]).predict(X)
    assert all(table.dtype == np.float64 for table in seen)
    assert {value for table in seen for value in table.ravel()} == {0.0, 1.0}


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_literals": None, "monotone": True},
        {"max_literals": None, "monotone": False},
    ],
)
@pytest.mark.parametrize("average", ["mean", "voted", None])
def test_conjunction_kernel_object_equals_the_parameters(parameters, average):
    X, y = random_problem(2)
    options = {"average": average, "margin": 0, "random_state": 0}
    named = KernelPerceptron(**parameters, **options).fit(X, y)
    kernel = counting_kernel(min_literals=1, **parameters)
    given_object = KernelPerceptron(kernel, **options)
    assert_same_fit(named, given_object.fit(X, y), X)
    assert same_state(decision_exact(named, X), decision_exact(given_object, X))


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("disjunction", DisjunctionKernel()),
        ("dnf", DNFKernel()),
        ("cnf", CNFKernel()),
        ("tanimoto", TanimotoKernel()),
        ("linear", LinearKernel()),
        ("rbf", RBFKernel()),
        ("poly", PolynomialKernel()),
    ],
)
def test_kernel_name_is_the_object_with_its_defaults(name, kernel):
    X, y = random_problem(3)
    named = plain_perceptron(name, random_state=0).fit(X, y)
    assert_same_fit(named, plain_perceptron(kernel, random_state=0).fit(X, y), X)


def test_normalised_kernel_object_is_evaluated_as_a_function():
    X, y = random_problem(3)
    kernel = counting_kernel(max_literals=2, normalize=True)
    options = {"random_state": 0, "average": None}
    model = plain_perceptron(kernel, **options).fit(X, y)
    by_matrix = plain_perceptron("precomputed", **options).fit(kernel(X), y)
    assert same_state(model.dual_coef_, by_matrix.dual_coef_)
    plain = plain_perceptron(counting_kernel(max_literals=2), **options).fit(X, y)
    assert not same_state(model.dual_coef_, plain.dual_coef_)


@pytest.mark.parametrize("average", ["mean", "voted", None])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_precomputed_kernel_equals_the_kernel(average, multi_class):
    X, y = random_problem(4)
    kernel = counting_kernel(min_literals=1, max_literals=3, monotone=True)
    options = {"average": average, "multi_class": multi_class, "random_state": 0}
    direct = plain_perceptron(**options).fit(X[:80], y[:80])
    given_matrix = plain_perceptron("precomputed", **options)
    given_matrix.fit(kernel(X[:80]), y[:80])
    for name in ("support_", "dual_coef_", "mistakes_per_epoch_", "intercept_"):
        assert same_state(getattr(direct, name), getattr(given_matrix, name)), name
    scores = given_matrix.decision_function(kernel(X[80:], X[:80]))
    assert same_state(scores, direct.decision_function(X[80:]))
    predicted = given_matrix.predict(kernel(X[80:], X[:80]))
    assert same_state(predicted, direct.predict(X[80:]))


def test_cross_validation_slices_a_precomputed_kernel():
    X, y = random_problem(5)
    K = all_conjunctions(X, min_literals=1, max_literals=3, monotone=True)
    folds = KFold(4, shuffle=True, random_state=0)
    options = {"random_state": 0}
    direct = cross_val_score(
        plain_perceptron(**options), X, y, cv=folds, scoring="neg_log_loss"
    )
    by_matrix = cross_val_score(
        plain_perceptron("precomputed", **options), K, y, cv=folds,
        scoring="neg_log_loss",
    )  # fmt: skip
    assert direct.tolist() == by_matrix.tolist()


# Labels and weights


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("average", ["mean", "voted", None])
@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "perhaps", "yes"]),
        np.array(["no", "perhaps", "yes"], dtype=object),
        np.array([-7, 0, 300]),
        np.array([-1.0, 0.0, 2.0]),
        np.array([False, True]),
    ],
    ids=["text", "object", "integers", "whole floats", "bool"],
)
def test_labels_change_names_only(labels, average, multi_class):
    X, y = random_problem(6, n_classes=len(labels))
    options = {"average": average, "multi_class": multi_class, "random_state": 0}
    by_number = plain_perceptron(**options).fit(X, y)
    by_label = plain_perceptron(**options).fit(X, labels[y])
    assert same_state(by_label.classes_, labels)
    predicted = by_label.predict(X)
    assert predicted.dtype == labels.dtype
    assert (predicted == labels[by_number.predict(X)]).all()
    assert same_state(by_number.dual_coef_, by_label.dual_coef_)


def test_class_missing_from_the_weights_weighs_one():
    X, y = random_problem(7)
    some = plain_perceptron(class_weight={1: 2.5}, random_state=0).fit(X, y)
    every = {0: 1, 1: 2.5, 2: 1}
    assert_same_fit(
        some, plain_perceptron(class_weight=every, random_state=0).fit(X, y), X
    )


# Seeds, threads, progress


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        pytest.param({"average": "voted"}, marks=pytest.mark.slow),
        {"average": None, "multi_class": "joint"},
        {"max_literals": None, "monotone": False},
        {"kernel": "tanimoto", "multi_class": "joint"},
    ],
)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_model_does_not_depend_on_the_number_of_threads(parameters, layout):
    # Large enough for every loop to be split: 2**20 pairs of rows and more.
    X, y = random_problem(8, n_samples=5000)
    X, queries = layout(X), layout(X[:800])
    options = {"max_iter": 2, "random_state": 0}
    one = plain_perceptron(n_jobs=1, **options, **parameters).fit(X, y)
    two = plain_perceptron(n_jobs=2, **options, **parameters).fit(X, y)
    assert_same_fit(one, two, queries)


def test_seed_determines_the_model():
    X, y = random_problem(9)
    options = {"max_iter": 3}
    by_seed = plain_perceptron(random_state=7, **options).fit(X, y)
    assert_same_fit(by_seed, plain_perceptron(random_state=7, **options).fit(X, y), X)
    assert_same_fit(by_seed, by_seed.fit(X, y), X)
    state = np.random.RandomState(7)
    by_state = plain_perceptron(random_state=state, **options).fit(X, y)
    again = plain_perceptron(random_state=np.random.RandomState(7), **options)
    assert_same_fit(by_state, again.fit(X, y), X)
    coefficients = by_state.dual_coef_
    assert not same_state(coefficients, by_state.fit(X, y).dual_coef_)


def test_global_seed_is_used_without_random_state():
    X, y = random_problem(9)
    fits = []
    for seed in (0, 0, 1):
        np.random.seed(seed)
        fits.append(plain_perceptron(max_iter=2).fit(X, y).dual_coef_)
    assert same_state(fits[0], fits[1])
    assert not same_state(fits[0], fits[2])


@pytest.mark.parametrize("max_support", [None, 20])
def test_progress_is_one_line_for_each_epoch(capsys, max_support):
    X, y = random_problem(10, n_classes=2)
    model = plain_perceptron(
        max_iter=4, verbose=1, random_state=0, max_support=max_support
    ).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[2] for line in lines] == [
        f"{mistakes} mistakes, {mistakes} updates"
        for mistakes in model.mistakes_per_epoch_
    ]
    assert lines[0].startswith("[KernelPerceptron] epoch 1 of 4, ")


def test_nothing_is_printed_by_default(capsys):
    X, y = random_problem(10)
    plain_perceptron().fit(X, y).predict_proba(X)
    assert capsys.readouterr() == ("", "")


# Probabilities


PROBABILISTIC = [
    {},
    {"multi_class": "joint"},
    {"average": "voted"},
    {"average": "voted", "multi_class": "joint"},
    {"average": None},
    {"kernel": "rbf"},
    {"kernel": "tanimoto", "multi_class": "joint"},
    {"max_literals": None, "monotone": False},
    {"class_weight": "balanced"},
    {"max_support": 60},
]


@pytest.mark.parametrize("parameters", PROBABILISTIC)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_add_up_and_agree_with_predict(parameters, n_classes):
    X, y = random_problem(11, n_classes=n_classes)
    model = plain_perceptron(random_state=0, **parameters)
    P = model.fit(X, y).predict_proba(X)
    assert P.shape == (120, n_classes)
    assert ((P >= 0) & (P <= 1)).all()
    assert np.abs(P.sum(axis=1) - 1).max() <= 2.0**-50
    predicted = np.searchsorted(model.classes_, model.predict(X))
    assert (P[np.arange(120), predicted] == P.max(axis=1)).all()


@pytest.mark.parametrize("parameters", PROBABILISTIC)
def test_higher_scores_have_higher_probabilities(parameters):
    X, y = random_problem(11, n_classes=2)
    model = plain_perceptron(random_state=0, **parameters).fit(X, y)
    order = np.argsort(model.decision_function(X))
    assert (np.diff(model.predict_proba(X)[order, 1]) >= 0).all()


def assert_probabilities_inform(P, labels, predicted, frequencies):
    """Check that probabilities say more than half of what the predictions say.

    Predictions alone say: "this label, right as often as it is", the rest in equal
    parts. Nothing at all is said by the frequencies of the labels.
    """
    n_classes = len(frequencies)
    right = np.mean(labels == predicted)
    by_prediction = np.full(P.shape, (1 - right) / (n_classes - 1))
    by_prediction[np.arange(len(P)), predicted] = right
    nothing = log_loss(labels, np.tile(frequencies, (len(P), 1)))
    assert log_loss(labels, P) < (nothing + log_loss(labels, by_prediction)) / 2


@pytest.mark.parametrize("parameters", PROBABILISTIC)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_inform_about_new_rows(parameters, n_classes):
    X, y, _terms = make_dnf(
        1200, 10, n_terms=2, n_literals=2, monotone=True, noise=0.1, random_state=0
    )
    if n_classes == 3:
        y = y + (y == 1) * X[:, 5]
    model = plain_perceptron(random_state=0, **parameters)
    P = model.fit(X[:600], y[:600]).predict_proba(X[600:])
    frequencies = np.bincount(y[:600]) / 600
    assert_probabilities_inform(P, y[600:], model.predict(X[600:]), frequencies)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_probabilities_of_a_stream(n_classes, multi_class):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2000, 10))
    y = (X[:, 0] + (rng.random(2000) < 0.1)) % 2 + (n_classes == 3) * X[:, 1]
    model = plain_perceptron(multi_class=multi_class, max_literals=2, random_state=0)
    # One row has one class only: there is nothing to hold out yet.
    edges = [0, 1, 2, 10, 200, 400, 600, 800, 1000]
    for first, last in pairwise(edges):
        model.partial_fit(X[first:last], y[first:last], classes=range(n_classes))
        P = model.predict_proba(X[1000:])
        assert P.shape == (1000, n_classes)
        assert np.abs(P.sum(axis=1) - 1).max() <= 2.0**-50
    frequencies = np.bincount(y[:1000]) / 1000
    assert_probabilities_inform(P, y[1000:], model.predict(X[1000:]), frequencies)


# Files, clones, searches, names


def test_memory_map_is_not_copied_into_memory(tmp_path):
    X, y = random_problem(13, n_samples=500)
    file = tmp_path / "model.joblib"
    joblib.dump(plain_perceptron().fit(X, y), file)
    model = joblib.load(file, mmap_mode="r")
    assert isinstance(model.support_words_, np.memmap)
    assert not model.support_words_.flags.writeable


@pytest.mark.parametrize(
    "parameters",
    [
        {"class_weight": {0: 2, 1: 1}},
        {"max_support": 5},
        {"margin": 9.0, "max_iter": 99, "multi_class": "joint"},
    ],
)
def test_training_parameters_set_after_fit_change_no_prediction(parameters):
    X, y = random_problem(13, n_classes=2)
    model = plain_perceptron(random_state=0).fit(X, y)
    scores, exact = model.decision_function(X), decision_exact(model, X)
    model.set_params(**parameters)
    assert same_state(decision_exact(model, X), exact)
    assert same_state(model.decision_function(X), scores)


def test_clone_and_parameters_reach_into_a_kernel_object():
    model = plain_perceptron(counting_kernel(max_literals=2), margin=2.0)
    model.set_params(kernel__max_literals=4)
    assert model.get_params()["kernel__max_literals"] == 4
    copy_ = clone(model.fit([[0, 1], [1, 0]], [0, 1]))
    assert copy_.kernel is not model.kernel
    assert copy_.kernel.max_literals == 4
    assert copy_.margin == 2.0
    assert not hasattr(copy_, "classes_")
    with pytest.raises(NotFittedError):
        copy_.predict([[0, 1]])


def test_grid_search_in_a_pipeline_finds_the_length_of_the_terms():
    # XOR of the first two attributes: no sum of single literals expresses it.
    rng = np.random.default_rng(0)
    words = rng.choice(["a", "b"], (200, 4))
    y = np.where(words[:, 0] == words[:, 1], "same", "different")
    learner = plain_perceptron(average=None, random_state=0)
    pipeline = make_pipeline(OneHotEncoder(), learner)
    search = GridSearchCV(
        pipeline,
        {
            "kernelperceptron__kernel__max_literals": [1, 2],
            "kernelperceptron__margin": [0.0, 1.0],
        },
        error_score="raise",
    ).fit(words, y)
    assert search.best_params_["kernelperceptron__kernel__max_literals"] == 2
    assert search.best_score_ == 1
    assert (search.predict(words) == y).all()


def test_tic_tac_toe_is_learned_without_a_mistake():
    board = make_tic_tac_toe()
    model = plain_perceptron(max_iter=100, random_state=0)
    model.fit(board.data, board.target)
    assert model.n_iter_ < 100
    assert (model.predict(board.data) == board.target).all()


def test_scores_stay_finite_on_rows_with_more_ones_than_any_support_row():
    X = np.zeros((4, 1500), dtype=int)
    X[[0, 1, 2, 3], [0, 1, 2, 3]] = 1
    model = plain_perceptron(max_literals=None).fit(X, [0, 1, 0, 1])
    scores = model.decision_function(np.ones((1, 1500)))
    assert np.isfinite(scores).all()
    assert scores == [float(number) for number in decision_exact(model, X[:1] | 1)]


def test_support_vector_machine_and_perceptron_separate_with_one_kernel():
    X = np.unique(random_problem(16)[0], axis=0)[:40]
    y = np.random.default_rng(0).integers(0, 2, 40)
    kernel = counting_kernel(max_literals=3)
    # A kernel matrix of full rank separates every labelling.
    assert np.linalg.matrix_rank(kernel(X)) == 40
    machine = SVC(kernel=kernel, C=1e6).fit(X, y)
    learner = plain_perceptron(kernel, max_iter=10**4, average=None).fit(X, y)
    assert learner.mistakes_per_epoch_[-1] == 0
    assert (machine.predict(X) == y).all()
    assert (learner.predict(X) == y).all()


def test_flags_are_refused():
    X, y = random_problem(3, n_classes=2)
    with pytest.raises(ValueError, match="early_stopping"):
        plain_perceptron(early_stopping="no").fit(X, y)


@pytest.mark.parametrize("before", ["mean", None])
def test_votes_need_the_history_of_training(before):
    X, y = random_problem(3, n_classes=2)
    model = plain_perceptron(average=before, random_state=0).fit(X, y)
    scores = model.decision_function(X)
    model.set_params(average="voted")
    assert same_state(model.decision_function(X), scores)
    with pytest.raises(ValueError, match="average"):
        model.partial_fit(X, y)


@pytest.mark.parametrize(
    ("learner", "old", "new"),
    [
        (KernelPerceptron, {"shuffle": False, "tie": "positive"}, {"n_orders": 0}),
        (KernelPerceptron, {"shuffle": True, "n_orders": 2}, {}),
        (KernelPerceptron, {"margin_type": "functional", "margin": 0}, {}),
        (KernelPerceptron, {"normalize": True, "fit_intercept": True}, {}),
        (KernelPerceptron, {"normalize": False, "kernel": "rbf"}, {}),
        (
            KernelPerceptron,
            {"normalize": False, "early_stopping": False},
            {"kernel": counting_kernel(min_literals=1, max_literals=3, monotone=True)},
        ),
        (
            KernelPerceptron,
            {"normalize": False, "max_literals": 2, "monotone": False},
            {"kernel": counting_kernel(min_literals=1, max_literals=2)},
        ),
        (
            KernelPerceptron,
            {"kernel": counting_kernel(), "fit_intercept": False},
            {"kernel": counting_kernel(min_literals=1)},
        ),
        (BooleanSVC, {"decay": "auto", "max_iter": 10_000}, {}),
        (
            BooleanSVC,
            {"decay": 0.5, "max_literals": 2},
            {"kernel": ConjunctionKernel(min_literals=1, max_literals=2, decay=0.5)},
        ),
        (BooleanGaussianProcessRegressor, {"max_exact": 2000}, {}),
    ],
    ids=str,
)
def test_parameters_of_version_0_2_are_translated(learner, old, new):
    with pytest.warns(FutureWarning, match="deprecated"):
        model = learner(**old)
    today = learner(**{k: v for k, v in old.items() if k in model.get_params()} | new)
    assert repr(model.get_params()) == repr(today.get_params())


@pytest.mark.parametrize(
    ("learner", "old", "told"),
    [
        (KernelPerceptron, {"tie": "negative"}, "Swap the two classes"),
        (KernelPerceptron, {"margin_type": "functional"}, "constant"),
        (KernelPerceptron, {"fit_intercept": False}, "Subtract 1"),
        (KernelPerceptron, {"normalize": False}, "Use kernel=ConjunctionKernel"),
        (BooleanSVC, {"max_iter": 5}, "Raise tol"),
        (BooleanGaussianProcessClassifier, {"n_evidence": 5}, "always uses 500"),
    ],
)
def test_what_is_not_supported_any_more_says_what_to_do(learner, old, told):
    with pytest.raises(ValueError, match=told):
        learner(**old)


def test_a_kernel_that_counts_the_empty_conjunction_has_an_intercept():
    """K over all conjunctions is K over those of one literal or more, plus 1."""
    X, y = random_problem(3, n_classes=2)
    with pytest.warns(FutureWarning):
        model = KernelPerceptron(counting_kernel(), fit_intercept=False, random_state=0)
    scores = model.fit(X, y).decision_function(X)
    support = X[model.support_]
    K = counting_kernel()(X, support)
    np.testing.assert_allclose(scores, K @ model.dual_coef_[0], rtol=1e-12)
