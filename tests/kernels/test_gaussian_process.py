"""The Gaussian processes against the definitions of their kernel and evidence."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit, log_expit
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.svm import SVC

from sklboolean import (
    BooleanEncoder,
    BooleanGaussianProcessClassifier,
    BooleanGaussianProcessRegressor,
    KernelPerceptron,
)
from sklboolean.kernels import (
    RelevanceKernel,
    _gaussian_posterior,
    _gaussian_process,
    _logistic_posterior,
)
from sklboolean.kernels._evidence import (
    JITTER,
    DistinctSamples,
    Evidence,
    Hyperparameters,
    prior,
)
from sklboolean.kernels._frame_columns import (
    MOST_LEVELS,
    Frame,
    FrameColumns,
    distinct_patterns,
    frame_groups,
)
from sklboolean.kernels._gaussian_posterior import ExactProcess, ProjectedProcess
from sklboolean.kernels._logistic_posterior import (
    fit_slope_and_offsets,
    logistic_posterior,
)
from sklboolean.kernels._relevance_weights import LevelPairs, RelevanceWeights
from tests.oracles import kernels as oracles

# Two thresholds and a state, three levels, two lone features, thresholds alone.
GROUPS = [0, 0, 0, 1, 1, 1, 2, 3, 4, 4]
THRESHOLDS = [[True, True, False], [False] * 3, [False], [False], [True, True]]
COLUMNS = FrameColumns(
    [np.flatnonzero(np.equal(GROUPS, group)) for group in range(5)],
    [np.array(each) for each in THRESHOLDS],
)
COLUMNS_NONE = FrameColumns([], [])


@pytest.fixture
def limit(monkeypatch):
    """Set the numbers of samples that a process takes."""
    return partial(monkeypatch.setattr, _gaussian_process)


def draw_bits(rng, n_samples):
    return rng.integers(0, 2, (n_samples, len(GROUPS)), dtype=np.uint8)


def draw_weights(rng, n_columns=5):
    lengths = rng.uniform(0.1, 2.0, 5)
    return RelevanceWeights(
        lengths, rng.uniform(0.1, 3.0), rng.uniform(0, 3, n_columns)
    )


def draw_samples(rng, n_samples=30, n_targets=2):
    """Distinct samples with weights, and the same written out as copies."""
    bits = draw_bits(rng, n_samples)
    # The last third are copies of the first ones, some of them several times.
    n_copies = n_samples // 3
    bits[-n_copies:] = bits[rng.integers(0, n_copies, n_copies)]
    levels = COLUMNS.levels(bits)
    targets = rng.normal(size=(n_samples, n_targets))
    return DistinctSamples.merge(levels, targets, np.ones(n_samples)), targets


def full(lower):
    return np.tril(lower) + np.tril(lower, -1).T


def exact_process(samples, weights):
    return ExactProcess(LevelPairs(COLUMNS, samples.levels).matrix(weights))


def projected_process(samples, weights, basis):
    basis = samples.levels.take(basis)
    return ProjectedProcess(COLUMNS, samples.levels, basis, weights)


def draw_logs(rng, n_columns=5):
    start, scale, *_ = prior(n_columns)
    return start + 0.3 * np.minimum(scale, 1) * rng.normal(size=len(start))


# Kernel


@settings(max_examples=5)
@given(st.integers(0, 2**32 - 1))
def test_kernel_is_the_sum_over_all_conjunctions(seed):
    rng = np.random.default_rng(seed)
    A, B, weights = draw_bits(rng, 2), draw_bits(rng, 66), draw_weights(rng)
    expected = [
        [oracles.relevance_kernel(x, z, COLUMNS, weights) for z in B] for x in A
    ]
    pairs = LevelPairs(COLUMNS, COLUMNS.levels(A), COLUMNS.levels(B))
    np.testing.assert_allclose(pairs.matrix(weights), expected, rtol=1e-12)
    own = LevelPairs(COLUMNS, COLUMNS.levels(B))
    both = LevelPairs(COLUMNS, COLUMNS.levels(B), COLUMNS.levels(B))
    assert np.array_equal(full(own.matrix(weights)), both.matrix(weights))
    np.testing.assert_allclose(np.diag(own.matrix(weights)), weights.diagonal)
    np.testing.assert_allclose(
        weights.shares(), oracles.relevance_shares(weights), rtol=1e-10
    )
    np.testing.assert_allclose(
        weights.shares().sum(),
        weights.diagonal
        - weights.lengths[0]
        - weights.lengths[4] / np.prod(1 + weights.base * weights.relevances),
    )


def test_kernel_without_columns_is_constant():
    levels = COLUMNS_NONE.levels(np.zeros((3, 2), dtype=np.uint8))
    weights = draw_weights(np.random.default_rng(0), 0)
    K = LevelPairs(COLUMNS_NONE, levels).matrix(weights)
    np.testing.assert_allclose(full(K), weights.lengths[0] + weights.lengths[4])


def test_every_processor_and_number_of_threads_gives_the_same_bits(cpu_paths):
    rng = np.random.default_rng(0)
    samples, weights = draw_samples(rng, 400)[0][0], draw_weights(rng)
    factors = rng.normal(size=(len(samples), len(samples)))
    pairs, found = LevelPairs(COLUMNS, samples.levels), []
    for _ in cpu_paths():
        parts = pairs.matrix(weights), pairs.gradient(weights, factors)
        found.append(np.concatenate([part.ravel() for part in parts]))
    assert all(np.array_equal(found[0], each) for each in found)
    assert np.array_equal(pairs.matrix(weights), pairs.matrix(weights, n_jobs=2))


def test_levels_without_a_place_in_the_tables_are_an_error():
    rng = np.random.default_rng(0)
    pairs = LevelPairs(COLUMNS, COLUMNS.levels(draw_bits(rng, 9)))
    pairs.codes = pairs.codes + np.uint16(50)
    with pytest.raises(ValueError, match="no place in the tables"):
        pairs.matrix(draw_weights(rng))


def test_selected_samples_keep_only_their_levels():
    rng = np.random.default_rng(0)
    levels, weights = COLUMNS.levels(draw_bits(rng, 50)), draw_weights(rng)
    every = LevelPairs(COLUMNS, levels, levels).matrix(weights)
    index = np.array([40, 3, 3, 17])
    few = levels.take(index)
    for codes, patterns in zip(few.codes, few.patterns, strict=True):
        assert np.unique(codes).tolist() == list(range(len(patterns)))
    found = LevelPairs(COLUMNS, levels, few).matrix(weights)
    assert np.array_equal(found, every[:, index])


def test_kernel_object_is_the_kernel_by_definition():
    rng = np.random.default_rng(1)
    X, Y, weights = draw_bits(rng, 5), draw_bits(rng, 4), draw_weights(rng)
    is_threshold = np.concatenate(THRESHOLDS)
    kernel = RelevanceKernel(
        feature_groups=GROUPS, is_threshold=is_threshold, base=weights.base,
        relevances=weights.relevances, length_weights=weights.lengths,
    )  # fmt: skip
    expected = [
        [oracles.relevance_kernel(x, z, COLUMNS, weights) for z in Y] for x in X
    ]
    np.testing.assert_allclose(clone(kernel)(X, sparse.csr_array(Y)), expected)
    np.testing.assert_allclose(kernel(X), kernel(X).T)
    for wrong, name in (
        ({"relevances": [1.0]}, "relevances must hold 5"),
        ({"relevances": [-1.0] * 5}, "relevances must hold 5"),
        ({"length_weights": [1.0]}, "length_weights must hold 5"),
        ({"is_threshold": [True]}, "is_threshold must hold one bool"),
        ({"is_threshold": ["no"] * 10}, "is_threshold must hold one bool"),
        ({"is_threshold": [np.nan] * 10}, "is_threshold must hold one bool"),
        ({"relevances": [1e200] * 5}, "exceed float64. Give smaller relevances"),
        ({"length_weights": [1e308] * 5}, "exceed float64. Give smaller relevances"),
        ({"base": 1e308, "relevances": [10.0] * 5}, "exceed float64. Give smaller"),
        ({"base": 0.0}, "base must be greater"),
    ):
        with pytest.raises(ValueError, match=name):
            clone(kernel).set_params(**wrong)(X)
    with pytest.raises(ValueError, match="X has 10 features and Y has 3"):
        kernel(X, Y[:, :3])


def test_the_learned_kernel_serves_other_models():
    X, y = make_task(100)
    X[:, 5] = 0
    names = ["age <= 1", "age <= 2", "b = 1", "b = 2", "c", "d"]
    frame = pd.DataFrame(X, columns=names)
    model = BooleanGaussianProcessClassifier(random_state=0).fit(frame, y)
    state = model._state
    pairs = LevelPairs(state.columns, state.columns.levels(X.astype(np.uint8)))
    np.testing.assert_allclose(
        np.tril(model.kernel_(frame)), pairs.matrix(state.weights), rtol=1e-12
    )
    for other in (SVC(kernel=model.kernel_), KernelPerceptron(kernel=model.kernel_)):
        assert other.fit(X, y).score(X, y) > 0.9


# Evidence


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_evidence_is_the_density_of_all_copies(seed):
    rng = np.random.default_rng(seed)
    (samples, number), targets = draw_samples(rng)
    logs = draw_logs(rng)
    parts = Hyperparameters.from_logs(logs)
    K = full(LevelPairs(COLUMNS, samples.levels).matrix(parts.weights))
    K[np.diag_indices(len(K))] += JITTER
    covariance = K[np.ix_(number, number)] + parts.noise * np.eye(len(number))
    expected = sum(
        multivariate_normal.logpdf(target, cov=covariance) for target in targets.T
    )
    value, gradient = Evidence(COLUMNS, samples).value_and_gradient(logs)
    np.testing.assert_allclose(value, expected, rtol=1e-9)
    posterior = exact_process(samples, parts.weights).posterior(samples, parts.noise)
    np.testing.assert_allclose(posterior.log_evidence, expected, rtol=1e-9)
    evidence, step = Evidence(COLUMNS, samples), 1e-5
    for j in range(len(logs)):
        ahead, back = logs.copy(), logs.copy()
        ahead[j] += step
        back[j] -= step
        rise = (
            evidence.value_and_gradient(ahead)[0] - evidence.value_and_gradient(back)[0]
        )
        np.testing.assert_allclose(gradient[j], rise / (2 * step), rtol=1e-4, atol=1e-5)


def test_evidence_of_the_projected_process_is_the_density_of_all_copies():
    rng = np.random.default_rng(1)
    (samples, number), targets = draw_samples(rng)
    parts, basis = Hyperparameters.from_logs(draw_logs(rng)), np.arange(0, 20, 2)
    K = full(LevelPairs(COLUMNS, samples.levels).matrix(parts.weights))
    inner = K[np.ix_(basis, basis)] + JITTER * parts.weights.diagonal * np.eye(10)
    K = K[:, basis] @ np.linalg.solve(inner, K[basis])
    covariance = K[np.ix_(number, number)] + parts.noise * np.eye(len(number))
    expected = sum(
        multivariate_normal.logpdf(target, cov=covariance) for target in targets.T
    )
    posterior = projected_process(samples, parts.weights, basis).posterior(
        samples, parts.noise
    )
    np.testing.assert_allclose(posterior.log_evidence, expected, rtol=1e-8)


# Posterior


def processes(samples, weights):
    """The exact process, and that on every third sample."""
    basis = np.arange(0, len(samples), 3)
    return [exact_process(samples, weights), projected_process(samples, weights, basis)]


def test_leaving_a_sample_out_is_a_fit_without_it():
    rng = np.random.default_rng(2)
    levels = COLUMNS.levels(draw_bits(rng, 20))
    targets, weights = rng.normal(size=(20, 2)), rng.uniform(1.1, 3.0, 20)
    samples, number = DistinctSamples.merge(levels, targets, weights)
    parts = Hyperparameters.from_logs(draw_logs(rng))
    for kind, process in enumerate(processes(samples, parts.weights)):
        posterior = process.posterior(samples, parts.noise)
        left_out = posterior.leave_one_out(number, targets, np.ones(20), parts.noise)
        for i in range(20):
            fewer = weights - (np.arange(20) == i)
            again, _ = DistinctSamples.merge(levels, targets, fewer)
            process = processes(again, parts.weights)[kind]
            means = process.posterior(again, parts.noise, with_variances=False).means
            np.testing.assert_allclose(left_out[i], means[number[i]], rtol=1e-6)


def test_leaving_the_only_sample_of_its_levels_out():
    rng = np.random.default_rng(3)
    (samples, number), targets = draw_samples(rng, 15)
    parts = Hyperparameters.from_logs(draw_logs(rng))
    posterior = exact_process(samples, parts.weights).posterior(samples, parts.noise)
    left_out = posterior.leave_one_out(number, targets, np.ones(15), parts.noise)
    K = full(LevelPairs(COLUMNS, samples.levels).matrix(parts.weights))
    for i in np.flatnonzero(np.bincount(number)[number] == 1):
        rest = np.delete(np.arange(len(samples)), number[i])
        others = samples.take(rest)
        coef = exact_process(others, parts.weights).posterior(others, parts.noise).coef
        np.testing.assert_allclose(left_out[i], K[number[i], rest] @ coef, rtol=1e-6)


def test_a_basis_of_all_samples_is_the_exact_process():
    rng = np.random.default_rng(4)
    (samples, _), _ = draw_samples(rng)
    parts = Hyperparameters.from_logs(draw_logs(rng))
    basis = np.arange(len(samples))
    exact = exact_process(samples, parts.weights).posterior(samples, parts.noise)
    process = projected_process(samples, parts.weights, basis)
    projected = process.posterior(samples, parts.noise)
    np.testing.assert_allclose(projected.means, exact.means, atol=1e-4)
    np.testing.assert_allclose(projected.variances, exact.variances, atol=1e-4)
    np.testing.assert_allclose(projected.log_evidence, exact.log_evidence, atol=1e-2)


@pytest.mark.parametrize("max_exact", [5000, 0])
def test_standard_deviations_are_those_of_the_process(max_exact, limit):
    limit("MAX_EXACT", max_exact)
    limit("N_BASIS", 200)
    rng = np.random.default_rng(5)
    X = draw_bits(rng, 16)
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=16)
    model = BooleanGaussianProcessRegressor(feature_groups=GROUPS).fit(X, y)
    mean, std = model.predict(X[:9], return_std=True)
    assert np.array_equal(mean, model.predict(X[:9]))
    columns, weights = model._state.columns, model._state.weights

    def kernel(A, B):
        return np.array(
            [[oracles.relevance_kernel(x, z, columns, weights) for z in B] for x in A]
        )

    noisy = kernel(X, X) + model.noise_ * np.eye(16)
    cross = kernel(X[:9], X)
    variance = np.diag(kernel(X[:9], X[:9]) - cross @ np.linalg.solve(noisy, cross.T))
    np.testing.assert_allclose(std, y.std() * np.sqrt(variance), rtol=1e-2)
    target = (y - y.mean()) / y.std()
    expected = y.mean() + y.std() * (cross @ np.linalg.solve(noisy, target))
    np.testing.assert_allclose(mean, expected, atol=1e-3)


@pytest.mark.parametrize("in_blocks", [False, True])
def test_standard_deviations_are_those_of_the_projected_process(
    in_blocks, monkeypatch, limit
):
    limit("MAX_EXACT", 0)
    limit("N_BASIS", 12)
    if in_blocks:
        monkeypatch.setattr(_gaussian_process, "SAMPLES_AT_A_TIME", 7)
        monkeypatch.setattr(_gaussian_posterior, "SAMPLES_AT_A_TIME", 7)
        monkeypatch.setattr(_gaussian_posterior, "KEPT_VALUES", 0)
    rng = np.random.default_rng(11)
    X = np.unique(draw_bits(rng, 40), axis=0)
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=len(X))
    model = BooleanGaussianProcessRegressor(random_state=0).fit(X, y)
    state = model._state
    levels, weights = state.columns.levels(X), state.weights
    K = full(LevelPairs(state.columns, levels).matrix(weights))
    cross = LevelPairs(state.columns, levels, state.basis).matrix(weights)
    inner = full(LevelPairs(state.columns, state.basis).matrix(weights))
    assert inner.shape == (12, 12)
    inner += JITTER * weights.diagonal * np.eye(12)
    Q = cross @ np.linalg.solve(inner, cross.T)
    shrink = np.linalg.solve(Q + model.noise_ * np.eye(len(X)), Q)
    # What the span of the basis cannot express stays as uncertain as before.
    variance = np.diag(K - Q @ shrink)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(std, y.std() * np.sqrt(variance), rtol=1e-6)
    expected = y.mean() + y.std() * (shrink.T @ (y - y.mean()) / y.std())
    np.testing.assert_allclose(mean, expected, rtol=1e-6)


# Log-odds


def draw_labels(rng, n_samples=30):
    """Distinct samples with the shares of ones, and the numbers and labels of all."""
    levels = COLUMNS.levels(draw_bits(rng, n_samples))
    labels = rng.integers(0, 2, n_samples).astype(float)
    merged, number = DistinctSamples.merge(levels, labels[:, None], np.ones(n_samples))
    return merged, number, labels


def test_log_odds_have_the_largest_posterior():
    rng = np.random.default_rng(7)
    samples, number, labels = draw_labels(rng)
    weights = draw_weights(rng)
    process = exact_process(samples, weights)
    found, evidence = logistic_posterior(process, samples, np.arange(len(samples)))
    K = full(process.K) + JITTER * np.eye(len(samples))
    means = found.posterior.means[:, 0]
    np.testing.assert_allclose(expit(found.center), labels.mean())
    # The gradient of the log posterior is 0.
    misses = np.bincount(number, labels - expit(found.center + means)[number])
    np.testing.assert_allclose(np.linalg.solve(K, means), misses, atol=1e-3)

    def log_joint(f):
        signs = 2 * labels - 1
        likelihood = log_expit(signs * (found.center + f)[number]).sum()
        return likelihood + multivariate_normal.logpdf(f, cov=K)

    curvature = np.bincount(number) * np.exp(
        log_expit(found.center + means) + log_expit(-found.center - means)
    )
    precision = np.linalg.inv(K) + np.diag(curvature)
    expected = log_joint(means) + len(K) / 2 * np.log(2 * np.pi)
    expected -= np.linalg.slogdet(precision)[1] / 2
    np.testing.assert_allclose(evidence, expected, rtol=1e-4)


def test_log_odds_without_a_sample_are_those_of_a_fit_without_it():
    rng = np.random.default_rng(8)
    samples, number, labels = draw_labels(rng, 80)
    weights = draw_weights(rng).scaled(0.2)
    levels = samples.levels.take(number)
    for kind, process in enumerate(processes(samples, weights)):
        found, _ = logistic_posterior(process, samples, np.arange(len(samples)))
        left_out = found.leave_one_out(number, labels, np.ones(80))
        seen, expected = [], []
        for i in range(0, 80, 4):
            fewer = np.ones(80)
            fewer[i] = 1e-9  # the mean, and so the center, is moved a little too
            again, _ = DistinctSamples.merge(levels, labels[:, None], fewer)
            other, _ = logistic_posterior(
                processes(again, weights)[kind], again, np.arange(len(again))
            )
            mean = other.posterior.means[number[i], 0]
            expected.append(other.center + mean)
            seen.append(left_out[i])
        moved = found.center + found.posterior.means[number, 0]
        error = np.abs(np.subtract(seen, expected)).mean()
        assert error < 0.15
        assert error < np.abs(moved[::4] - expected).mean() / 5


def test_a_projected_process_begins_on_a_part(monkeypatch):
    rng = np.random.default_rng(9)
    samples, _, _ = draw_labels(rng, 200)
    process = projected_process(samples, draw_weights(rng), np.arange(20))
    order = rng.permutation(len(samples))
    whole, _ = logistic_posterior(process, samples, order)
    monkeypatch.setattr(_logistic_posterior, "SAMPLES_TO_BEGIN", 50)
    begun, _ = logistic_posterior(process, samples, order)
    np.testing.assert_allclose(begun.posterior.means, whole.posterior.means, atol=1e-2)


def test_the_scale_of_log_odds_is_fitted_without_the_sample(monkeypatch):
    X, y = make_task(120)
    y[::15] = 1 - y[::15]
    learned, learn = [], _gaussian_process.GaussianProcess._learn_kernel

    def record(*args):
        learned.append(learn(*args))
        return learned[0]

    monkeypatch.setattr(_gaussian_process.GaussianProcess, "_learn_kernel", record)
    monkeypatch.setattr(_gaussian_process, "N_EVIDENCE", 30)
    model = BooleanGaussianProcessClassifier(random_state=0).fit(X, y)
    parts, chosen = learned[0].hyperparameters, learned[0].chosen
    assert len(chosen) == 30 < len(learned[0].samples)
    index = np.flatnonzero(np.isin(learned[0].number, chosen))
    number = np.searchsorted(chosen, learned[0].number[index])
    levels = learned[0].samples.take(chosen).levels
    K = full(LevelPairs(learned[0].frame.columns, levels).matrix(parts.weights))
    K = (K + JITTER * np.eye(30))[np.ix_(number, number)]
    targets = ((y - y.mean()) / y.std())[index]
    left_out = np.empty(len(index))
    for i in range(len(index)):
        rest = np.delete(np.arange(len(index)), i)
        noisy = K[np.ix_(rest, rest)] + parts.noise * np.eye(len(rest))
        left_out[i] = K[i, rest] @ np.linalg.solve(noisy, targets[rest])
    slope, _ = fit_slope_and_offsets(left_out[:, None], y[index], np.ones(len(index)))
    np.testing.assert_allclose(
        model.length_weights_, slope**2 * parts.weights.lengths, rtol=1e-3
    )


# Columns


def test_features_of_one_column_are_found_by_their_names():
    frame = pd.DataFrame(
        {
            "age": [20, 30, 40, 50, np.nan] * 4,
            "color": pd.Categorical(["red", "blue", "green", "red", None] * 4),
            "ill": [True, False] * 10,
        }
    )
    encoder = BooleanEncoder().set_output(transform="pandas")
    X = encoder.fit_transform(frame)
    model = BooleanGaussianProcessClassifier().fit(X, frame["ill"])
    assert model.columns_.tolist() == ["age", "color", "ill"]
    assert model.relevances_.argmax() == 2
    bits = X.to_numpy(dtype=np.uint8)
    columns = Frame.lay_out(None, X.columns, bits).columns
    tables = columns.similarities(columns.levels(bits), columns.levels(bits))
    codes = columns.levels(bits).codes
    similar = tables[0][np.ix_(codes[0][:5], codes[0][:5])]
    # Neighbours, one threshold apart of three, and missing.
    expected = np.maximum(0, 1 - np.abs(np.subtract.outer(range(4), range(4))) / 3)
    np.testing.assert_allclose(similar[:4, :4], expected)
    np.testing.assert_allclose(similar[4], [0, 0, 0, 0, 1])


def test_names_without_spaces_are_one_column_only_if_they_exclude_each_other():
    names = ["a=1", "a=2", "b"]
    exclusive = np.array([[1, 0, 1], [0, 1, 1]], dtype=np.uint8)
    assert frame_groups(None, names, exclusive)[0].tolist() == [0, 0, 1]
    both = np.array([[1, 1, 1], [0, 1, 1]], dtype=np.uint8)
    assert frame_groups(None, names, both)[0].tolist() == [0, 1, 2]
    groups, labels = frame_groups(["p", "q", "p"], names, both)
    assert groups.tolist() == [0, 1, 0]
    assert labels == ["p", "a=2"]


@pytest.mark.parametrize("n_features", [62, 63, 130])
def test_levels_of_many_features_are_distinct_rows(n_features):
    bits = np.random.default_rng(0).integers(0, 2, (5, n_features), dtype=np.uint8)
    bits = bits[[0, 1, 0, 2, 3, 4, 2]]
    patterns, codes = distinct_patterns(bits, "column")
    np.testing.assert_array_equal(patterns[codes], bits)
    assert len(patterns) == 5


def test_a_column_of_too_many_levels_is_an_error():
    X = np.random.default_rng(0).integers(0, 2, (MOST_LEVELS + 2000, 70))
    model = BooleanGaussianProcessClassifier(feature_groups=[0] * 70)
    with pytest.raises(ValueError, match=r"Column '0'.*split it with feature_groups"):
        model.fit(X, X[:, 0])
    model = BooleanGaussianProcessClassifier(feature_groups=[0])
    with pytest.raises(ValueError, match="feature_groups must hold one label for each"):
        model.fit(X[:9], X[:9, 0])


# Estimators


def make_task(n_samples=120, n_features=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, n_features))
    return X, X[:, 0] ^ (X[:, 1] & X[:, 2])


def test_irrelevant_columns_get_little_relevance_and_importance():
    X, y = make_task()
    X[:, 5] = 1
    model = BooleanGaussianProcessClassifier(random_state=0).fit(X, y)
    assert model.relevances_[5] == 0
    assert model.relevances_[:3].min() > 2 * model.relevances_[3:].max()
    assert model.feature_importances_[5] == 0
    np.testing.assert_allclose(model.feature_importances_.sum(), 1)
    assert model.score(X, y) == 1


def test_wrong_labels_have_the_smallest_quality():
    X, y = make_task(200)
    wrong = np.arange(0, 200, 20)
    y[wrong] = 1 - y[wrong]
    model = BooleanGaussianProcessClassifier(random_state=0).fit(X, y)
    worst = np.argsort(model.label_quality_)[:10]
    assert set(worst) == set(wrong)
    assert (model.label_quality_[wrong] < 0).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_the_projected_process_are_close(n_classes, limit):
    X, y = make_task(300, 8)
    y = y + (X[:, 3] if n_classes == 3 else 0)
    rows = slice(0, 200)
    exact = BooleanGaussianProcessClassifier(random_state=0).fit(X[rows], y[rows])
    limit("MAX_EXACT", 10)
    limit("N_BASIS", 120)
    model = BooleanGaussianProcessClassifier(random_state=0).fit(X[rows], y[rows])
    proba = model.predict_proba(X[200:])
    assert proba.shape == (100, n_classes)
    np.testing.assert_allclose(proba, exact.predict_proba(X[200:]), atol=0.1)
    assert model.score(X[200:], y[200:]) > 0.95


@pytest.mark.parametrize("max_exact", [5000, 10])
def test_weights_are_copies_and_their_scale_below_one_does_not_matter(max_exact, limit):
    limit("MAX_EXACT", max_exact)
    limit("N_BASIS", 20)
    X, y = make_task(60)
    y[:5] = 1 - y[:5]
    weights = np.random.default_rng(1).integers(0, 4, 60)
    make = BooleanGaussianProcessClassifier(random_state=0, max_iter=5)
    weighted = make.fit(X, y, weights).predict_proba(X)
    assert np.isnan(make.label_quality_).tolist() == (weights == 0).tolist()
    repeated = make.fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted, repeated.predict_proba(X), atol=1e-6)
    share = np.random.default_rng(2).dirichlet(np.ones(60))
    small = make.fit(X, y, share).predict_proba(X)
    np.testing.assert_allclose(small, make.fit(X, y, 60 * share).predict_proba(X))


def test_weights_too_large_for_the_projected_process_are_an_error():
    (samples, _), _ = draw_samples(np.random.default_rng(0), 60)
    # Single columns alone: most directions of the basis are null but for rounding.
    weights = RelevanceWeights(np.array([1.0, 1.0, 0, 0, 0]), 1.0, np.ones(5))
    samples = replace(samples, weights=np.full(len(samples), 1e15))
    process = projected_process(samples, weights, np.arange(len(samples)))
    with pytest.raises(ValueError, match="Divide it by a number"):
        process.posterior(samples, 1.0)


def test_sparse_samples_and_levels_that_are_new():
    X, y = make_task()
    names = ["a = 1", "a = 2", "a = 3", "b", "c", "d"]
    frame = pd.DataFrame(X, columns=names).assign(**{"a = 3": 0})
    model = BooleanGaussianProcessClassifier(random_state=0).fit(frame, y)
    assert model.columns_.tolist() == ["a", "b", "c", "d"]
    new = pd.DataFrame([[0, 0, 1, 1, 1, 1]], columns=names)
    assert np.isfinite(model.decision_function(new)).all()
    dense = BooleanGaussianProcessClassifier(random_state=0).fit(X, y)
    other = BooleanGaussianProcessClassifier(random_state=0, n_jobs=2)
    other.fit(sparse.csr_array(X), y)
    assert np.array_equal(
        other.predict_proba(sparse.csc_array(X)), dense.predict_proba(X)
    )


def test_too_large_data_are_an_error(monkeypatch):
    monkeypatch.setattr("sklboolean._core.memory.free_bytes", lambda: 2.0**30)
    X = sparse.csr_array((2, 2**31 - 1), dtype=bool)
    X = sparse.vstack([X] * 3, format="csr")
    with pytest.raises(ValueError, match="Select features"):
        BooleanGaussianProcessClassifier()._bits(X)


@pytest.mark.parametrize("n_present", [3, 2, 1])
def test_slope_and_offsets_have_the_smallest_price(n_present):
    rng = np.random.default_rng(0)
    scores, codes = rng.normal(size=(50, 3)), rng.integers(0, n_present, 50)
    scores[np.arange(50), codes] += 1
    weights = rng.uniform(0.5, 2, 50)

    def price(values):
        logits = values[0] * scores + values[1:]
        proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        own = proba[np.arange(50), codes]
        return -(weights * np.log(own)).sum() + 0.05 * (values**2).sum()

    slope, offsets = fit_slope_and_offsets(scores, codes, weights)
    best = np.array([slope, *offsets])
    for change in rng.normal(size=(20, 4)):
        assert price(best) <= price(best + 0.01 * change)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_rare_class_need_not_be_among_the_samples_of_the_evidence(n_classes, limit):
    limit("N_EVIDENCE", 30)
    X, y = make_task(200, 8)
    y = y * (n_classes - 2)
    y[7] = n_classes - 1
    for seed in range(3):
        model = BooleanGaussianProcessClassifier(max_iter=3, random_state=seed)
        model.fit(X, y)
        proba = model.predict_proba(X)
        assert np.isfinite(proba).all()
        # The probabilities are calibrated: on average, the share of the class.
        assert proba[:, -1].mean() < 0.02
        if n_classes == 3:
            assert model.score(X, y) > 0.95


def test_regressor_leaves_samples_out_and_uses_weights():
    rng = np.random.default_rng(6)
    X, _ = make_task(80)
    y = 100 + 20 * X[:, 0] - 10 * X[:, 1] * X[:, 2] + rng.normal(size=80)
    y[7] = 0
    weights = np.ones(80)
    weights[7] = 0
    model = BooleanGaussianProcessRegressor(random_state=0).fit(X, y, weights)
    assert np.isnan(model.leave_one_out_).tolist() == (weights == 0).tolist()
    kept = weights > 0
    assert np.abs(model.leave_one_out_ - y)[kept].mean() < 1.5
    again = BooleanGaussianProcessRegressor(random_state=0).fit(X[kept], y[kept])
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-6)
    for scale in (1e300, 1e-300):
        other = BooleanGaussianProcessRegressor(random_state=0).fit(
            X, scale * y, weights
        )
        np.testing.assert_allclose(
            other.predict(X), scale * model.predict(X), rtol=1e-4
        )
    spread = 10.0 ** rng.uniform(-300, 12, 80)
    few = spread > 1e-12 * spread.max()
    other = BooleanGaussianProcessRegressor(random_state=0).fit(X, y, spread)
    assert np.isnan(other.leave_one_out_).tolist() == (~few).tolist()
    assert np.isfinite(other.predict(X)).all()
    constant = BooleanGaussianProcessRegressor().fit(X, np.full(80, 3.0))
    np.testing.assert_allclose(constant.predict(X), 3.0)
