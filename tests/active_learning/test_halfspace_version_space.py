"""Version spaces in the span of the labelled rows, for vectors and for kernels."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.active_learning import rejection_sample
from oracles.kernels import counting_kernel
from scipy import sparse

from sklboolean.active_learning import (
    GramKernel,
    HalfspaceVersionSpace,
    KernelVersionSpace,
)
from sklboolean.active_learning._halfspace_version_space import (
    IN_SPAN,
    ProjectedSamples,
)
from sklboolean.active_learning._posterior_sampling import (
    TOLERANCE,
    GaussianPosterior,
)

SAMPLERS = ("expectation_propagation", "elliptical_slice")
every_sampler = pytest.mark.parametrize("sampler", SAMPLERS)
PAIRS = counting_kernel(min_literals=1, max_literals=2, monotone=True)


def boolean_rows(n_samples, n_features=6, seed=0):
    random = np.random.default_rng(seed)
    rows = (random.random((n_samples, n_features)) < 0.5).astype(float)
    return rows, rows[:, 0] * rows[:, 1] + rows[:, 2] > 0.5


def write_pairs_out(rows):
    """Oracle: one feature for every conjunction of one or two features."""
    indices = range(rows.shape[1])
    terms = [term for size in (1, 2) for term in combinations(indices, size)]
    return np.array([[row[list(term)].all() for term in terms] for row in rows], float)


def small(space_class, *kernel, sampler, **parameters):
    parameters = {"n_chains": 40, "n_steps": 20, "random_state": 0} | parameters
    if space_class is HalfspaceVersionSpace:
        parameters = {"fit_intercept": False} | parameters
    return space_class(*kernel, sampler=sampler, **parameters)


@every_sampler
def test_before_any_label(sampler):
    """Half of the halfspaces accept any row; all accept the row of zeros."""
    rows = np.array([[1.0, 0.0], [2.0, 3.0], [0.0, 0.0]])
    space = HalfspaceVersionSpace(fit_intercept=False, sampler=sampler)
    np.testing.assert_array_equal(space.predict_proba(rows)[:, 1], [0.5, 0.5, 1.0])
    np.testing.assert_array_equal(space.mean_scores(rows), [0.0, 0.0, 0.0])
    assert not space.is_empty
    answers = space.sample_predictions(rows, 2000, np.random.RandomState(0))
    assert answers.shape == (2000, 3)
    assert answers.dtype == bool
    assert answers[:, 2].all()
    # Five standard errors of 2000 coins.
    assert np.all(np.abs(answers[:, :2].mean(axis=0) - 0.5) < 0.056)
    assert space.update(rows[:0], []).n_labels_ == 0
    assert space.predict_proba(rows[:1])[:, 1] == [0.5]


@every_sampler
@pytest.mark.parametrize("label_noise", [0.0, 0.1])
def test_kernel_is_the_space_of_its_features(sampler, label_noise):
    rows, labels = boolean_rows(30)
    written = write_pairs_out(rows)
    np.testing.assert_array_equal(PAIRS(rows, rows), written @ written.T)
    labelled = slice(0, 12)
    by_kernel = small(
        KernelVersionSpace, PAIRS, sampler=sampler, label_noise=label_noise
    )
    by_kernel.update(rows[labelled], labels[labelled])
    by_features = small(HalfspaceVersionSpace, sampler=sampler, label_noise=label_noise)
    by_features.update(written[labelled], labels[labelled])
    # The same arithmetic on the same kernel values.
    np.testing.assert_allclose(
        by_kernel.predict_proba(rows)[:, 1],
        by_features.predict_proba(written)[:, 1],
        atol=1e-9,
    )
    np.testing.assert_allclose(
        by_kernel.mean_scores(rows), by_features.mean_scores(written), atol=1e-9
    )


def test_kernel_chains_against_rejection_in_feature_space():
    rows, labels = boolean_rows(14, n_features=3, seed=1)
    space = KernelVersionSpace(
        PAIRS, sampler="elliptical_slice", n_chains=4000, n_steps=150, random_state=0
    ).update(rows[:5], labels[:5])
    written = write_pairs_out(rows)
    sample = rejection_sample(written[:5], labels[:5], 300_000, 1)
    assert sample.shape[1] > 4000
    exact = np.mean(written @ sample >= 0, axis=1)
    error = np.abs(space.predict_proba(rows)[:, 1] - exact)
    assert np.all(error <= 5 * np.sqrt(exact * (1 - exact) / 2000) + 1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 12))
def test_span_is_that_of_the_rows(seed, rank, n_samples):
    """Rank, projections and distances by linear algebra on the rows themselves."""
    random = np.random.default_rng(seed)
    rows = random.integers(-2, 3, (n_samples, rank)) @ random.integers(-2, 3, (rank, 7))
    rows = rows.astype(float)
    space = HalfspaceVersionSpace(
        fit_intercept=False, sampler="expectation_propagation", label_noise=0.1
    )
    space.update(rows, np.ones(n_samples, bool))
    assert space._orthonormal.rank == np.linalg.matrix_rank(rows)
    queries = random.standard_normal((4, 7))
    placed = space.project(queries)
    projected = queries @ np.linalg.pinv(rows) @ rows
    np.testing.assert_allclose(
        placed.coordinates.T @ placed.coordinates, projected @ projected.T, atol=1e-7
    )
    np.testing.assert_allclose(
        placed.residuals, np.sum((queries - projected) ** 2, axis=1), atol=1e-7
    )
    assert np.all(space.project(rows).residuals == 0)
    assert IN_SPAN < 1e-7


@every_sampler
def test_candidates_placed_once_follow_the_labels(sampler):
    rows, labels = boolean_rows(40)
    space = small(KernelVersionSpace, PAIRS, sampler=sampler)
    pool = space.project(rows)
    assert isinstance(pool, ProjectedSamples)
    for block in (slice(0, 1), slice(1, 4), slice(4, 11)):
        space.update(rows[block], labels[block])
        np.testing.assert_allclose(
            space.predict_proba(pool)[:, 1], space.predict_proba(rows)[:, 1], atol=1e-9
        )
    assert len(pool.coordinates) == space._orthonormal.rank
    first = space.sample_predictions(pool, 5, np.random.RandomState(1))
    second = space.sample_predictions(rows, 5, np.random.RandomState(1))
    np.testing.assert_array_equal(first, second)


@every_sampler
def test_precomputed_kernel(sampler):
    rows, labels = boolean_rows(30)
    gram = PAIRS(rows, rows)
    kernel = GramKernel(gram)
    space = small(KernelVersionSpace, kernel, sampler=sampler, diagonal=kernel.diagonal)
    numbers = np.arange(20)
    space.update(numbers[:8], labels[:8])
    direct = small(KernelVersionSpace, PAIRS, sampler=sampler).update(
        rows[:8], labels[:8]
    )
    np.testing.assert_allclose(
        space.predict_proba(numbers)[:, 1],
        direct.predict_proba(rows[:20])[:, 1],
        atol=1e-12,
    )
    new = np.arange(20, 30)
    np.testing.assert_allclose(
        space.predict_proba(new)[:, 1],
        direct.predict_proba(rows[20:])[:, 1],
        atol=1e-12,
    )
    assert space.sample_predictions(new, 3, 0).shape == (3, 10)


@every_sampler
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_sparse_rows(sampler, fit_intercept):
    rows, labels = boolean_rows(30, n_features=9)
    parameters = {
        "sampler": sampler,
        "fit_intercept": fit_intercept,
        "label_noise": 0.05,
    }
    dense = small(HalfspaceVersionSpace, **parameters)
    thin = small(HalfspaceVersionSpace, **parameters)
    table = sparse.csr_array(rows)
    for block in (slice(0, 4), slice(4, 6)):
        dense.update(rows[block], labels[block])
        thin.update(table[block], labels[block])
    assert sparse.issparse(thin.basis_)
    np.testing.assert_allclose(
        thin.predict_proba(table)[:, 1], dense.predict_proba(rows)[:, 1], atol=1e-9
    )
    np.testing.assert_array_equal(
        thin.sample_predictions(table, 7, np.random.RandomState(0)),
        dense.sample_predictions(rows, 7, np.random.RandomState(0)),
    )


@every_sampler
def test_intercept_is_a_column_of_ones(sampler):
    rows, labels = boolean_rows(20)
    ones = np.column_stack([rows, np.ones(20)])
    with_intercept = small(HalfspaceVersionSpace, sampler=sampler, fit_intercept=True)
    with_column = small(HalfspaceVersionSpace, sampler=sampler)
    with_intercept.update(rows[:8], labels[:8])
    with_column.update(ones[:8], labels[:8])
    np.testing.assert_allclose(
        with_intercept.predict_proba(rows)[:, 1],
        with_column.predict_proba(ones)[:, 1],
        atol=1e-9,
    )


@every_sampler
def test_one_hypothesis_answers_all_rows_with_one_vector(sampler):
    """Proportional rows alike, opposite rows oppositely, sums of accepted rows too."""
    random = np.random.default_rng(0)
    rows = random.standard_normal((6, 8))
    space = small(HalfspaceVersionSpace, sampler=sampler).update(rows[:3], [1, 0, 1])
    queries = np.vstack([rows[3], 2 * rows[3], -rows[3], rows[4], rows[3] + rows[4]])
    answers = space.sample_predictions(queries, 500, 0)
    np.testing.assert_array_equal(answers[:, 0], answers[:, 1])
    np.testing.assert_array_equal(answers[:, 0], ~answers[:, 2])
    assert np.all(answers[answers[:, 0] & answers[:, 3], 4])
    assert 0 < answers[:, 4].mean() < 1
    # 500 draws of 40 chains: the chains' own error, not that of the draws, is common.
    exact = space.predict_proba(queries)[:, 1]
    assert np.all(np.abs(answers.mean(axis=0) - exact) <= 5 * 0.5 / np.sqrt(500))


@every_sampler
def test_kernel_answers_have_their_probability_row_by_row(sampler):
    rows, labels = boolean_rows(25)
    space = small(KernelVersionSpace, PAIRS, sampler=sampler).update(
        rows[:5], labels[:5]
    )
    answers = space.sample_predictions(rows, 4000, np.random.RandomState(0))
    exact = space.predict_proba(rows)[:, 1]
    error = np.abs(answers.mean(axis=0) - exact)
    assert np.all(error <= 5 * np.sqrt(exact * (1 - exact) / 4000) + 1e-12)


@every_sampler
def test_duplicates_add_no_dimension(sampler):
    rows, labels = boolean_rows(10)
    twice = np.repeat(rows, 2, axis=0), np.repeat(labels, 2)
    space = small(KernelVersionSpace, PAIRS, sampler=sampler).update(*twice)
    assert space.n_labels_ == 20
    assert space._orthonormal.rank == np.linalg.matrix_rank(write_pairs_out(rows))
    if sampler != "expectation_propagation":
        answers = space.sample_predictions(rows, 40, np.random.RandomState(0))
        np.testing.assert_array_equal(answers, np.tile(labels, (40, 1)))


@every_sampler
def test_contradictory_duplicates(sampler):
    rows, labels = boolean_rows(8)
    space = small(KernelVersionSpace, PAIRS, sampler=sampler).update(rows, labels)
    space.update(rows[3:4], ~labels[3:4])
    assert space.is_empty
    assert space.contradiction_ == 8
    for ask in (space.predict_proba, space.mean_scores):
        with pytest.raises(ValueError, match=r"Set label_noise.*richer kernel"):
            ask(rows)
    noisy = small(KernelVersionSpace, PAIRS, sampler=sampler, label_noise=0.05)
    noisy.update(rows, labels).update(rows[3:4], ~labels[3:4])
    assert not noisy.is_empty
    assert np.all(
        (noisy.predict_proba(rows)[:, 1] >= 0) & (noisy.predict_proba(rows)[:, 1] <= 1)
    )


@every_sampler
def test_labels_of_no_halfspace(sampler):
    """Exclusive or: the fourth label contradicts the three before it."""
    rows = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]], dtype=float)
    labels = [False, True, True, False]
    space = small(HalfspaceVersionSpace, sampler=sampler).update(rows, labels)
    assert space.is_empty
    assert space.contradiction_ == 3
    space = small(HalfspaceVersionSpace, sampler=sampler).update(rows, [1, 1, 1, 0])
    assert not space.is_empty
    everything = KernelVersionSpace(counting_kernel(), sampler=sampler)
    assert not everything.update(rows, labels).is_empty


@every_sampler
def test_row_of_zeros(sampler):
    """Every halfspace through the origin accepts it: no news, or a contradiction."""
    rows, labels = boolean_rows(6)
    zero = np.zeros((1, 6))
    space = small(HalfspaceVersionSpace, sampler=sampler).update(rows, labels)
    space.update(zero, [True])
    assert space.n_labels_ == 7
    assert space.predict_proba(zero)[:, 1] == [1.0]
    assert not space.is_empty
    assert space.update(zero, [False]).contradiction_ == 7
    noisy = small(HalfspaceVersionSpace, sampler=sampler, label_noise=0.1)
    assert not noisy.update(zero, [False]).is_empty
    assert noisy.predict_proba(zero)[:, 1] == [1.0]
    only_zero = small(HalfspaceVersionSpace, sampler=sampler).update(zero, [True])
    np.testing.assert_array_equal(only_zero.predict_proba(rows[:1] + 1)[:, 1], [0.5])


@every_sampler
def test_pickled_in_the_middle(sampler):
    rows, labels = boolean_rows(20)
    space = small(KernelVersionSpace, PAIRS, sampler=sampler).update(
        rows[:6], labels[:6]
    )
    copy = pickle.loads(pickle.dumps(space))
    for each in (space, copy):
        each.update(rows[6:9], labels[6:9])
    np.testing.assert_array_equal(
        space.predict_proba(rows)[:, 1], copy.predict_proba(rows)[:, 1]
    )


def test_huge_and_tiny_kernel_values():
    """Lengths of rows do not matter, up to the ends of float64."""
    rows, labels = boolean_rows(12)
    plain = KernelVersionSpace(PAIRS, sampler="expectation_propagation").update(
        rows[:6], labels[:6]
    )
    for scale in (2.0**900, 2.0**-900):

        def kernel(A, B, scale=scale):
            return scale * PAIRS(A, B)

        space = KernelVersionSpace(kernel, sampler="expectation_propagation").update(
            rows[:6], labels[:6]
        )
        np.testing.assert_allclose(
            space.predict_proba(rows)[:, 1], plain.predict_proba(rows)[:, 1], rtol=1e-9
        )


def chosen(space):
    posterior = space._posterior
    if isinstance(posterior, GaussianPosterior):
        return "expectation_propagation"
    return "elliptical_slice"


def test_automatic_choice():
    rows = np.eye(40)
    for n_features, sampler in (
        (32, "elliptical_slice"),
        (33, "expectation_propagation"),
    ):
        space = HalfspaceVersionSpace(fit_intercept=False, n_steps=1).update(
            rows[:2, :n_features], [1, 0]
        )
        assert chosen(space) == sampler
    space = HalfspaceVersionSpace(fit_intercept=True).update(rows[:2, :32], [1, 0])
    assert chosen(space) == "expectation_propagation"
    space = KernelVersionSpace(PAIRS).update(rows, rows[0])
    assert chosen(space) == "expectation_propagation"


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"sampler": "exact"}, ValueError, "sampler must be one of"),
        ({"sampler": "hit_and_run"}, ValueError, "not supported .*'elliptical_slice'"),
        ({"label_noise": 0.5}, ValueError, "label_noise must be below 0.5"),
        ({"label_noise": -0.1}, ValueError, "label_noise must be at least 0"),
        ({"label_noise": np.nan}, ValueError, "label_noise must be finite"),
        ({"n_steps": 0}, ValueError, "n_steps"),
        ({"n_chains": 1}, ValueError, "n_chains"),
        ({"n_chains": 2.0}, TypeError, "n_chains"),
    ],
)
def test_bad_parameters(parameters, error, message):
    space = HalfspaceVersionSpace(**parameters)
    with pytest.raises(error, match=message):
        space.predict_proba([[1.0]])


def test_bad_rows_change_nothing():
    rows, labels = boolean_rows(6)
    space = KernelVersionSpace(PAIRS).update(rows[:3], labels[:3])
    before = space.predict_proba(rows)[:, 1]
    with pytest.raises(ValueError, match="y must be a bool for each of the 6 samples"):
        space.update(rows, labels[:3])
    space.kernel_ = lambda A, B: np.full((len(A), len(B)), np.nan)
    with pytest.raises(ValueError, match="kernel returned NaN or infinity"):
        space.update(rows[3:], labels[3:])
    space.kernel_ = lambda A, B: np.ones(3)
    with pytest.raises(
        ValueError, match=r"kernel must return a matrix of shape \(3, 3\)"
    ):
        space.update(rows[3:], labels[3:])
    space.kernel_ = PAIRS
    assert space.n_labels_ == 3
    np.testing.assert_array_equal(space.predict_proba(rows)[:, 1], before)


@every_sampler
def test_queries_of_rows_in_doubt_cut_the_error_exponentially(sampler):
    """Forty labels narrow the cone by 2^-40 or so; nothing breaks on the way."""
    random = np.random.default_rng(0)
    target = random.standard_normal(3)
    space = small(HalfspaceVersionSpace, sampler=sampler)
    asked, errors = [], []
    for _ in range(40):
        rows = random.standard_normal((1000, 3))
        row = rows[[np.argmin(np.abs(space.predict_proba(rows)[:, 1] - 0.5))]]
        space.update(row, row @ target >= 0)
        asked.append(row)
        mean = space.mean_scores(np.eye(3))
        cosine = mean @ target / np.linalg.norm(mean) / np.linalg.norm(target)
        errors.append(np.arccos(np.clip(cosine, -1, 1)) / np.pi)
    assert not space.is_empty
    # Two dimensions of direction: half a bit each, a query; the pool ends it at about
    # the distance of its rows. Random labels leave 1 / n: 0.03.
    assert errors[-1] < 0.003
    asked = np.concatenate(asked)
    accepted = space.predict_proba(asked)[:, 1] > 0.5
    np.testing.assert_array_equal(accepted, asked @ target >= 0)
    if sampler == "expectation_propagation":
        assert space._posterior.change < TOLERANCE
        assert space._posterior.n_skipped == 0
