"""BooleanSVC against the definition of the soft-margin dual, and against libsvm."""

import pickle

import numpy as np
import pytest
from oracles.kernels import counting_kernel
from scipy import sparse
from sklboolean.kernels._smo import find_movable
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from sklboolean import BooleanSVC
from sklboolean._core.bits import pack_dense
from sklboolean._core.calibration import fit_slope
from sklboolean.kernels import (
    CNFKernel,
    ConjunctionKernel,
    DNFKernel,
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
    TanimotoKernel,
    _boolean_svc,
    _conjunction_weights,
    _soft_margin,
)
from sklboolean.rules import conjunction_weight, extract_dnf, top_conjunctions
from tests.oracles import kernels as oracles

NORMALIZED = counting_kernel(
    min_literals=1, max_literals=3, monotone=True, normalize=True
)
KERNELS = {
    "normalized": NORMALIZED,
    "conjunctions": counting_kernel(max_literals=3, monotone=True),
    "negations": counting_kernel(max_literals=2, normalize=True),
    "any length": counting_kernel(normalize=True),
    "linear": LinearKernel(),
    "rbf": RBFKernel(gamma=0.1),
    "poly": PolynomialKernel(gamma=0.2),
    "tanimoto": TanimotoKernel(),
    "dnf": DNFKernel(),
    "cnf": CNFKernel(monotone=False),
}


def problem(n_samples=300, n_features=12, seed=0, n_classes=2, noise=0.1):
    rng = np.random.default_rng(seed)
    X = (rng.random((n_samples, n_features)) < 0.4).astype(np.uint8)
    y = (X[:, 0] & X[:, 1]) + (X[:, 2] | X[:, 3]) * (n_classes > 2)
    flip = rng.random(n_samples) < noise
    return X, np.where(flip, rng.integers(0, n_classes, n_samples), y)


def small_blocks(monkeypatch, size=32, every=3, share=0.05):
    monkeypatch.setattr(_soft_margin, "block_size", lambda n: min(n, size))
    monkeypatch.setattr(_soft_margin, "SHRINK_EVERY", every)
    monkeypatch.setattr(_soft_margin, "SHRINK_SHARE", share)


def sum_conjunctions(monkeypatch):
    """Solve all problems of short conjunctions on their weights, in two slices."""
    monkeypatch.setattr(_soft_margin, "SINGLE_BLOCK", 100)
    monkeypatch.setattr(_soft_margin, "SAMPLES_AT_A_TIME", 100)
    monkeypatch.setattr(_conjunction_weights, "ADDITIONS", 100)
    solved = []
    improve = _soft_margin.WeightDescent.improve

    def noted(descent):
        solved.append(len(descent.y))
        return improve(descent)

    monkeypatch.setattr(_soft_margin.WeightDescent, "improve", noted)
    return solved


def merged(X, y, weights):
    """The distinct samples of each class, with sums of weights, by definition."""
    boxes, first = {}, {}
    for i, (row, label, weight) in enumerate(zip(X.tolist(), y, weights, strict=True)):
        key = (*row, label)
        first.setdefault(key, i)
        boxes[key] = boxes.get(key, 0) + weight
    return np.array(list(first.values())), np.array(list(boxes.values()))


def dual_problem(model, X, y, weights=None):
    """The kernel matrix, signs, boxes and coefficients of a machine of two classes."""
    weights = np.ones(len(y)) if weights is None else weights
    samples, box = merged(X, y, weights)
    K = model.kernel_(X[samples])
    coef = np.zeros(len(samples))
    place = {sample: i for i, sample in enumerate(samples.tolist())}
    coef[[place[i] for i in model.support_.tolist()]] = model.dual_coef_[0]
    signs = np.where(y[samples] == model.classes_[1], 1.0, -1.0)
    return K, signs, model.C_ * box, coef


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_the_solution_is_optimal(name, weighted, blocks, monkeypatch):
    if blocks:
        small_blocks(monkeypatch)
    X, y = problem()
    weights = np.random.default_rng(1).exponential(2.0, len(y)) if weighted else None
    model = BooleanSVC(KERNELS[name]).fit(X, y, sample_weight=weights)
    K, signs, box, coef = dual_problem(model, X, y, weights)
    alpha = coef * signs
    assert (alpha >= 0).all()
    assert (alpha <= box * (1 + 1e-12)).all()
    assert abs(coef.sum()) <= 1e-9 * np.abs(coef).sum()
    assert oracles.soft_margin_gap(K, signs, box, alpha) <= model.tol * (1 + 1e-6)
    primal, dual = oracles.soft_margin_objectives(
        K, signs, box, coef, model.intercept_[0]
    )
    assert model.dual_gap_[0] == pytest.approx(primal - dual, abs=1e-9 * primal)
    assert 0 <= primal - dual <= 1e-2 * primal


SHORT = {
    "normalized": NORMALIZED,
    "with a decay": ConjunctionKernel(min_literals=1, max_literals=2, decay=0.3),
    "conjunctions": counting_kernel(max_literals=3, monotone=True),
    "linear": LinearKernel(),
    "literals": ConjunctionKernel(max_literals=1, monotone=False),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SHORT)
def test_weights_of_conjunctions_solve_the_same_dual(name, weighted, monkeypatch):
    X, y = problem()
    X[:40], y[:40] = X[40:80], 1 - y[40:80]  # equal samples of both labels
    weights = np.random.default_rng(1).exponential(2.0, len(y)) if weighted else None
    model = BooleanSVC(SHORT[name])
    slope = model.fit(X, y, sample_weight=weights).calibration_slope_
    scores = model.decision_function(X)
    solved = sum_conjunctions(monkeypatch)
    model.fit(X, y, sample_weight=weights)
    assert len(set(solved)) > 1  # also for the calibration
    K, signs, box, coef = dual_problem(model, X, y, weights)
    alpha = coef * signs
    assert (alpha >= 0).all()
    assert (alpha <= box * (1 + 1e-12)).all()
    assert abs(coef.sum()) <= 1e-9 * np.abs(coef).sum()
    primal, dual = oracles.soft_margin_objectives(
        K, signs, box, coef, model.intercept_[0]
    )
    assert model.dual_gap_[0] == pytest.approx(primal - dual, abs=1e-9 * primal)
    gap = oracles.soft_margin_gap(K, signs, box, alpha)
    assert gap <= model.tol * (1 + 1e-6) or primal - dual <= 0.03 * model.tol * dual
    assert model.decision_function(X) == pytest.approx(scores, abs=0.05)
    assert model.calibration_slope_ == pytest.approx(slope, rel=0.02)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_weights_of_conjunctions_do_not_depend_on_the_machine(
    multi_class, monkeypatch, cpu_paths
):
    solved = sum_conjunctions(monkeypatch)
    X, y = problem(400, 20, n_classes=3)
    weights = np.random.default_rng(4).integers(0, 4, len(y))
    model = BooleanSVC(multi_class=multi_class, C=1.0).fit(X, y, sample_weight=weights)
    scores = model.decision_function(X)
    assert solved
    order = np.random.default_rng(5).permutation(weights.sum())
    repeated = np.repeat(np.arange(len(y)), weights)[order]
    again = BooleanSVC(multi_class=multi_class, C=1.0).fit(X[repeated], y[repeated])
    # The support samples are added in another order.
    assert again.decision_function(X) == pytest.approx(scores, abs=1e-12)
    for _ in cpu_paths():
        for samples in (X, sparse.csr_array(X)):
            other = BooleanSVC(multi_class=multi_class, C=1.0, n_jobs=2)
            other.fit(samples, y, sample_weight=weights)
            assert np.array_equal(other.dual_coef_, model.dual_coef_)
            assert np.array_equal(other.intercept_, model.intercept_)


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("name", KERNELS)
def test_the_objective_is_that_of_libsvm(name, C):
    X, y = problem(seed=2)
    kernel = KERNELS[name]
    K = kernel(X)
    C = C / K.diagonal().mean()
    theirs = SVC(kernel="precomputed", C=C).fit(K, y)
    model = BooleanSVC(kernel, C=C).fit(X, y)
    found, expected = (
        np.abs(coef).sum() - coef @ K[np.ix_(support, support)] @ coef / 2
        for coef, support in (
            (model.dual_coef_[0], model.support_),
            (theirs.dual_coef_[0], theirs.support_),
        )
    )
    # A larger dual is better.
    assert found >= expected * (1 - 1e-6)
    assert found == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("name", KERNELS)
def test_scores_are_sums_over_the_support(name, multi_class, n_classes):
    X, y = problem(n_classes=n_classes)
    queries, _ = problem(50, seed=3)
    model = BooleanSVC(KERNELS[name], multi_class=multi_class).fit(X, y)
    K = model.kernel_(queries, X[model.support_])
    expected = K @ model.dual_coef_.T + model.intercept_
    scores = model.decision_function(queries)
    if n_classes == 2:
        assert scores.shape == (50,)
        codes = (scores > 0).astype(int)
        expected = expected[:, 0]
    else:
        assert scores.shape == (50, n_classes)
        codes = scores.argmax(axis=1)
        if multi_class == "ovo":
            expected = oracles.rival_scores(expected, n_classes)[0]
    size = np.abs(K) @ np.abs(model.dual_coef_).T.max(axis=1) + 1
    assert (np.abs(scores - expected).T <= 1e-13 * size).all()
    assert np.array_equal(model.predict(queries), model.classes_[codes])


@pytest.mark.parametrize("name", ["normalized", "rbf", "tanimoto"])
def test_pairs_are_those_of_libsvm(name):
    X, y = problem(200, n_classes=4, noise=0.4)
    X, first = np.unique(X, axis=0, return_index=True)
    y, weights = y[first], 0.5 + (np.arange(len(first)) % 3)
    queries, _ = problem(200, seed=3)
    options = {"class_weight": {0: 1, 1: 2, 2: 0.5, 3: 3}, "C": 2.0, "tol": 1e-8}
    kernel = KERNELS[name]
    model = BooleanSVC(kernel, **options).fit(X, y, sample_weight=weights)
    theirs = SVC(kernel=kernel, decision_function_shape="ovo", **options)
    theirs.fit(X, y, sample_weight=weights)
    pairs = theirs.decision_function(queries)
    # Theirs are positive for the first class of a pair.
    expected, *_ = oracles.rival_scores(-pairs, 4)
    scores = model.decision_function(queries)
    assert scores == pytest.approx(expected, abs=1e-5)
    votes = theirs.set_params(decision_function_shape="ovr").decision_function(queries)
    beats_all = scores.max(axis=1) > 1e-5
    assert beats_all.mean() > 0.9
    codes = votes.argmax(axis=1)
    assert np.array_equal(scores.argmax(axis=1)[beats_all], codes[beats_all])
    assert np.array_equal(model.predict(queries), model.classes_[scores.argmax(axis=1)])


def test_classes_against_the_rest_are_machines_of_two_classes():
    X, y = problem(n_classes=4)
    model = BooleanSVC(multi_class="ovr").fit(X, y)
    expected = [
        BooleanSVC(C=model.C_).fit(X, y == label).decision_function(X)
        for label in model.classes_
    ]
    scores = model.decision_function(X)
    assert scores == pytest.approx(np.transpose(expected), abs=1e-2)


def test_norms_of_samples_with_more_ones_than_any_support_sample():
    X, y = problem()
    model = BooleanSVC().fit(X[X.sum(axis=1) < 5], y[X.sum(axis=1) < 5])
    queries = np.ones((3, X.shape[1]))
    K = model.kernel_(queries, X[X.sum(axis=1) < 5][model.support_])
    expected = K @ model.dual_coef_[0] + model.intercept_
    assert model.decision_function(queries) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_repetitions_and_order_does_not_matter(n_classes, monkeypatch):
    small_blocks(monkeypatch)
    X, y = problem(150, n_classes=n_classes)
    weights = np.random.default_rng(4).integers(0, 4, len(y))
    model = BooleanSVC()
    expected = model.fit(X, y, sample_weight=weights).decision_function(X)
    slope = model.calibration_slope_
    order = np.random.default_rng(5).permutation(weights.sum())
    repeated = np.repeat(np.arange(len(y)), weights)[order]
    again = model.fit(X[repeated], y[repeated])
    # The support samples are added in another order.
    assert again.decision_function(X) == pytest.approx(expected, abs=1e-12)
    assert again.calibration_slope_ == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "multi_class"), [(name, "ovo") for name in KERNELS] + [("rbf", "ovr")]
)
def test_every_processor_path_and_number_of_threads_gives_the_same_bits(
    name, multi_class, monkeypatch, cpu_paths
):
    small_blocks(monkeypatch)
    X, y = problem(200, 40, n_classes=3)
    model = BooleanSVC(KERNELS[name], multi_class=multi_class).fit(X, y)
    scores = model.decision_function(X)
    for _ in cpu_paths():
        other = BooleanSVC(KERNELS[name], n_jobs=2, multi_class=multi_class)
        other.fit(X, y)
        assert np.array_equal(other.dual_coef_, model.dual_coef_)
        assert np.array_equal(other.intercept_, model.intercept_)
        assert np.array_equal(other.decision_function(X), scores)


@pytest.mark.parametrize("name", ["normalized", "rbf", "tanimoto"])
def test_sparse_and_dense_samples_give_the_same_machine(name):
    X, y = problem()
    dense = BooleanSVC(KERNELS[name], tol=1e-8).fit(X, y)
    model = BooleanSVC(KERNELS[name], tol=1e-8).fit(sparse.csr_array(X), y)
    expected = dense.decision_function(X)
    assert model.support_words_ is None
    for given in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        assert model.decision_function(given) == pytest.approx(expected, abs=1e-6)
        assert dense.decision_function(given) == pytest.approx(expected, abs=1e-12)


def test_wide_sparse_samples_keep_rare_features_outside_the_words():
    X = sparse.random_array((200, 2000), density=0.01, format="csr", random_state=0)
    y = np.asarray(X[:, :100].sum(axis=1)).ravel() > 0.5
    model = BooleanSVC("linear").fit(X, y)
    K = model.kernel_(X, X[model.support_])
    expected = K @ model.dual_coef_[0] + model.intercept_
    assert model.decision_function(X) == pytest.approx(expected, abs=1e-9)


def test_a_larger_class_weight_moves_predictions_to_the_class():
    X, y = problem(noise=0.3)
    counts = [
        (BooleanSVC(class_weight={0: 1, 1: w}).fit(X, y).predict(X) == 1).sum()
        for w in (0.2, 1, 5)
    ]
    assert counts[0] < counts[1] < counts[2]
    balanced = BooleanSVC(class_weight="balanced").fit(X, y)
    weights = len(y) / (2 * np.bincount(y))
    same = BooleanSVC(class_weight=dict(enumerate(weights))).fit(X, y)
    assert np.array_equal(balanced.dual_coef_, same.dual_coef_)


def test_C_follows_the_scale_of_the_kernel():
    X, y = problem()
    K = NORMALIZED(X)
    model = BooleanSVC().fit(X, y)
    spread = K.diagonal().mean() - K.mean()
    assert model.C_ == pytest.approx(1.5 / spread, rel=0.1)
    assert BooleanSVC(C=0.25).fit(X, y).C_ == 0.25


@pytest.mark.parametrize("kernel", KERNELS)
def test_C_is_1_for_equal_samples(kernel):
    X, y = np.tile([1, 0, 1, 1, 0], (30, 1)), np.arange(30) % 3
    kernel = "conjunction" if kernel == "normalized" else KERNELS[kernel]
    for weights in np.random.default_rng(0).random((20, 30)):
        assert BooleanSVC(kernel, C="auto").fit(X, y, weights).C_ == 1.0


@pytest.mark.parametrize("weighted", [False, True])
def test_decay_halves_until_samples_are_similar(weighted):
    rng = np.random.default_rng(7)
    # Distinct samples, fewer than the rule looks at.
    X = np.unique(rng.random((200, 300)) < rng.random(300) ** 4 / 2, axis=0)
    y = X[:, X.sum(axis=0).argmax()] ^ (rng.random(len(X)) < 0.1)
    weights = rng.exponential(1.0, len(y)) if weighted else np.ones(len(y))
    model = BooleanSVC().fit(X, y, sample_weight=weights)
    means = []
    for n_halvings in range(11):
        kernel = counting_kernel(
            min_literals=1, max_literals=3, monotone=True, normalize=True,
            decay=0.5**n_halvings,
        )  # fmt: skip
        pairs = np.outer(weights, weights) * (1 - np.eye(len(y)))
        means.append((kernel(X) * pairs).sum() / pairs.sum())
    expected = next(k for k, mean in enumerate(means) if mean >= 0.03)
    assert expected > 0
    assert model.kernel_.decay == 0.5**expected
    assert model.kernel_(X[:5]) == pytest.approx(model.kernel_(sparse.csr_array(X[:5])))
    kernel = ConjunctionKernel(min_literals=1, decay=0.5**expected)
    again = BooleanSVC(kernel).fit(X, y, sample_weight=weights)
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    as_sparse = BooleanSVC().fit(sparse.csr_array(X), y, sample_weight=weights)
    assert as_sparse.kernel_.decay == model.kernel_.decay


def test_decay_is_1_where_samples_share_features():
    X, y = problem()
    assert BooleanSVC().fit(X, y).kernel_.decay == 1.0
    # Nothing is similar, and single features need no decay.
    assert BooleanSVC().fit(np.eye(60), np.arange(60) % 2).kernel_.decay == 2.0**-10
    linear = BooleanSVC(max_literals=1).fit(np.eye(60), np.arange(60) % 2)
    assert linear.kernel_.decay == 1.0


def test_too_few_blocks_are_a_warning(monkeypatch):
    small_blocks(monkeypatch)
    monkeypatch.setattr(_boolean_svc, "MAX_BLOCKS", 1)
    X, y = problem()
    with pytest.warns(ConvergenceWarning, match="after 1 blocks.*Increase tol, or lo"):
        model = BooleanSVC().fit(X, y)
    assert model.n_iter_.tolist() == [1]
    K, signs, box, coef = dual_problem(model, X, y)
    primal, dual = oracles.soft_margin_objectives(
        K, signs, box, coef, model.intercept_[0]
    )
    assert model.dual_gap_[0] == pytest.approx(primal - dual)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "precomputed"}, "sklearn.svm.SVC or KernelPerceptron"),
        ({"kernel": np.dot}, "sklearn.svm.SVC or KernelPerceptron"),
        ({"kernel": RBFKernel}, "kernel must be one of"),
        ({"C": 0.0}, "C must be greater than 0"),
        ({"C": "scale"}, "C"),
        ({"kernel": ConjunctionKernel(decay=0.0)}, "decay must be greater than 0"),
        (
            {"kernel": ConjunctionKernel(decay=1e300)},
            r"Use a decay of at most 1 in place of 1e\+300",
        ),
        ({"tol": 0.0}, "tol must be greater than 0"),
        ({"multi_class": "crammer_singer"}, "multi_class must be one of"),
        ({"class_weight": {0: 0.0, 1: 0.0}}, "class_weight must .* not all of them 0"),
        ({"kernel": counting_kernel()}, "exceeds float64"),
    ],
)
def test_wrong_parameters_are_errors(parameters, message):
    X = np.random.default_rng(0).integers(0, 2, (20, 1100))
    with pytest.raises((ValueError, TypeError), match=message):
        BooleanSVC(**parameters).fit(X, X[:, 0])


@pytest.mark.filterwarnings("ignore:All samples of")
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_classes_without_weight_lose_by_the_margin(multi_class):
    X, y = problem(n_classes=4)
    model = BooleanSVC(multi_class=multi_class).fit(X, y, sample_weight=y % 2)
    assert (model.decision_function(X)[:, ::2] <= -1).all()
    assert set(model.predict(X)) <= {1, 3}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_follow_the_scores(n_classes):
    X, y = problem(n_classes=n_classes)
    model = BooleanSVC().fit(X, y)
    proba = model.predict_proba(X)
    assert proba.sum(axis=1) == pytest.approx(np.ones(len(X)))
    assert np.array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
    scores = model.calibration_slope_ * model.decision_function(X)
    if n_classes == 2:
        scores = np.column_stack([0 * scores, scores])
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert proba == pytest.approx(expected)


def test_probabilities_are_calibrated():
    X, y = problem(3000, noise=0.4)
    queries, labels = problem(3000, seed=1, noise=0.4)
    proba = BooleanSVC().fit(X, y).predict_proba(queries)[:, 1]
    sure = proba > 0.5
    assert labels[sure].mean() == pytest.approx(proba[sure].mean(), abs=0.05)
    assert labels[~sure].mean() == pytest.approx(proba[~sure].mean(), abs=0.05)


def test_two_samples_are_enough():
    model = BooleanSVC().fit([[0, 1], [1, 0]], ["a", "b"])
    assert model.predict([[0, 1], [1, 0]]).tolist() == ["a", "b"]
    assert model.calibration_slope_ == 1.0


def test_a_damaged_state_is_an_error():
    X, y = problem()
    model = pickle.loads(pickle.dumps(BooleanSVC().fit(X, y)))
    assert np.array_equal(model.predict(X), BooleanSVC().fit(X, y).predict(X))
    model._state.support = model._state.support[:-1]
    with pytest.raises(ValueError, match="model is damaged"):
        pickle.loads(pickle.dumps(model)).predict(X)


@pytest.mark.parametrize("kernel", ["conjunction", PolynomialKernel(coef0=0.0)])
def test_rules_are_read_out_of_the_machine(kernel):
    X, y = problem(noise=0.0)
    model = BooleanSVC(kernel, C=10.0).fit(X, y)
    best = top_conjunctions(model, 1, max_literals=3)[0]
    assert best.literals == ((0, True), (1, True))
    rules = extract_dnf(model, X)
    assert (rules.predict(X) == (y == 1)).mean() > 0.95


@pytest.mark.parametrize(
    ("n_classes", "multi_class"), [(2, "ovo"), (3, "ovo"), (3, "ovr")]
)
@pytest.mark.parametrize(("n_parts", "n_samples"), [(2, 120), (4, 120), (2, 1500)])
def test_slope_is_that_of_machines_of_parts(
    n_parts, n_samples, multi_class, n_classes, monkeypatch
):
    """Each half, or a quarter, of each class in the order of merging; the same C."""
    if n_parts == 4:
        monkeypatch.setattr(_boolean_svc, "MOST_HALVED", 100)
    X, y = problem(n_samples, 30, n_classes=n_classes)
    model = BooleanSVC(tol=1e-7, multi_class=multi_class).fit(X, y)
    words, weights = pack_dense(X), np.ones(len(y))
    first, weights = _soft_margin.merge_equal_samples(words, y, weights)
    X, y = X[first], y[first]
    part = np.array([np.sum(y[:i] == y[i]) for i in range(len(y))]) % n_parts
    scores, tested = [], []
    for number in (0, 1) if n_parts == 2 else (0,):
        train, test = np.flatnonzero(part == number), np.flatnonzero(part != number)
        machine = BooleanSVC(C=model.C_, tol=1e-7, multi_class=multi_class)
        machine.fit(X[train], y[train], sample_weight=weights[train])
        tested.append(test[:1000])
        scores.append(machine.decision_function(X[tested[-1]]))
    test = np.concatenate(tested)
    slope = fit_slope(np.concatenate(scores), y[test], weights[test])
    assert model.calibration_slope_ == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_rules_of_one_class_of_several(multi_class):
    X, y = problem(n_classes=3, noise=0.0)
    model = BooleanSVC(C=10.0, multi_class=multi_class).fit(X, y)
    for label in (0, 1, 2):
        rules = extract_dnf(model, X, target=label)
        assert (rules.predict(X) == (y == label)).mean() > 0.95
    # The weight is that of the class, or the sum of those of its pairs.
    weight = conjunction_weight(model, [0, 1], target=1)
    norms = np.sqrt(
        counting_kernel(min_literals=1, max_literals=3, monotone=True)(
            X[model.support_]
        ).diagonal()
    )
    holds = X[model.support_][:, [0, 1]].all(axis=1)
    norms[norms == 0] = 1
    signs = (1, 0, -1) if multi_class == "ovo" else (0, 1, 0)
    expected = signs @ model.dual_coef_ @ (holds / norms) / norms.mean()
    assert weight == pytest.approx(expected)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("name", KERNELS)
def test_few_samples_have_the_same_scores(name, multi_class, n_classes, cpu_paths):
    X, y = problem(200, 70, n_classes=n_classes)
    model = BooleanSVC(KERNELS[name], multi_class=multi_class).fit(X, y)
    queries, _ = problem(20, 70, seed=3)
    scores = model.decision_function(queries)
    for _ in cpu_paths():
        for n in (1, 3):
            found = model.decision_function(queries[:n])
            if name in ("tanimoto", "dnf", "cnf"):  # matrix products
                assert found == pytest.approx(scores[:n], rel=1e-12, abs=1e-12)
            else:
                assert np.array_equal(found, scores[:n])


@pytest.mark.parametrize("least", [1e-9, 1e-17, 1e-300, 5e-324])
def test_one_heavy_sample_does_not_change_the_decay(least):
    X = [[1, 0, 0, 1], [0, 1, 0, 1], [0, 1, 1, 0]]
    model = BooleanSVC().fit(X, [0, 1, 1], sample_weight=[1.0, least, least])
    assert model.kernel_.decay == 1
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("seed", range(5))
def test_samples_may_move_as_their_bounds_allow(seed):
    rng = np.random.default_rng(seed)
    n = 40
    y, box, v = rng.choice([-1.0, 1.0], n), rng.random(n), rng.standard_normal(n)
    alpha = box * rng.choice([0.0, 0.5, 1.0], n)
    active = rng.permutation(n)[:25]
    up, down = np.empty((2, 25))
    least, most = find_movable(active, y, box, alpha, v, up, down)
    for i, own_up, own_down in zip(active, up, down, strict=True):
        # What moves is y_i a_i.
        rises = alpha[i] < box[i] if y[i] > 0 else alpha[i] > 0
        falls = alpha[i] > 0 if y[i] > 0 else alpha[i] < box[i]
        assert own_up == (v[i] if rises else np.inf)
        assert own_down == (v[i] if falls else -np.inf)
    assert (least, most) == (up.min(), down.max())


@pytest.mark.slow
def test_samples_that_move_settle_first_with_fewer_visits(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.random((100_000, 30)) < 0.2
    y = (X @ rng.standard_normal(30) > 0) ^ (rng.random(len(X)) < 0.1)
    visit, n_visits = _soft_margin.WeightDescent._pass, []

    def counted(descent, samples, *others):
        n_visits[-1] += len(samples)
        return visit(descent, samples, *others)

    monkeypatch.setattr(_soft_margin.WeightDescent, "_pass", counted)
    for n_passes in (0, _soft_margin.PASSES_OF_FREE):
        monkeypatch.setattr(_soft_margin, "PASSES_OF_FREE", n_passes)
        n_visits.append(0)
        model = BooleanSVC().fit(X, y)
        assert model.dual_gap_ < 1e-4 * abs(model.dual_coef_).sum()
    assert n_visits[1] < 0.9 * n_visits[0]
