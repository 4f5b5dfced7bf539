"""The combination machine with real inputs as an estimator."""

import pickle

import numpy as np
import pytest
from oracles.density import gaussian_conditional, log_unnormalised, mixture
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sklboolean import CombinationMachine, GaussianCombinationMachine
from sklboolean.density._gaussian_machine import complete_at_random
from sklboolean.density._rbm_params import RBMParams

TRUTH = RBMParams(
    np.array([[3.0, 3.0, 0.0, 0.0], [0.0, -1.0, 2.5, 2.5]]),
    np.array([-9.5, -3.5]),
    np.array([0.5, 0.0, -1.0, 0.0]),
)


def drawn(n_samples, seed=0):
    rng = np.random.RandomState(seed)
    nothing = np.full((n_samples, 4), np.nan)
    return complete_at_random(TRUTH, nothing, rng)


X = drawn(1500)
CONFIGURATIONS = [
    {},
    {"n_components": (3, 1)},
    {"init": "projection_pursuit"},
    {"init": "projection_pursuit", "n_components": "auto"},
]


def machine(**parameters):
    defaults = {"n_components": 2, "n_init": 2, "random_state": 0}
    return GaussianCombinationMachine(**defaults | parameters)


def weights_of(model):
    return RBMParams(model.components_, model.hidden_bias_, model.visible_bias_)


@pytest.fixture(params=CONFIGURATIONS, ids=str, scope="module")
def fitted(request):
    model = machine(max_iter=60, **request.param)
    model._exact_limit = 5
    return model.fit(X)


def test_scores_are_those_of_the_mixture(fitted):
    weights = weights_of(fitted)
    log_z = mixture(weights, fitted._hidden_units()[1])[0]
    assert fitted.log_partition_ == pytest.approx(log_z, rel=1e-12)
    rows = X[:20].copy()
    expected = [
        log_unnormalised(weights, x, fitted._hidden_units()[1]) - log_z for x in rows
    ]
    np.testing.assert_allclose(fitted.score_samples(rows), expected, rtol=1e-10)
    rows[::2, 1:3] = rows[5] = np.nan
    expected = [
        gaussian_conditional(weights, x, fitted._hidden_units()[1])[0] for x in rows
    ]
    np.testing.assert_allclose(fitted.score_samples(rows), expected, atol=1e-10)


def test_units_are_seen_from_rows_and_rows_from_units(fitted):
    weights, states = weights_of(fitted), mixture(weights_of(fitted))[1]
    max_active = fitted._hidden_units()[1]
    if max_active is not None:
        states = states[states.sum(1) <= max_active]
    shares = gaussian_conditional(weights, X[3], fitted._hidden_units()[1])[1]
    found = fitted.transform(X[3:4])
    np.testing.assert_allclose(found[0], shares @ states, atol=1e-12)
    means = fitted.inverse_transform(states)
    np.testing.assert_allclose(means, mixture(weights, fitted._hidden_units()[1])[3])


def test_gaps_are_filled_by_the_conditional_mixture(fitted):
    rows = X[:10].copy()
    rows[:, 1] = rows[::2, 3] = np.nan
    filled = fitted.impute(rows)
    for x, completed in zip(rows, filled, strict=True):
        _, shares, means = gaussian_conditional(
            weights_of(fitted), x, fitted._hidden_units()[1]
        )
        np.testing.assert_allclose(completed[np.isnan(x)], shares @ means, atol=1e-10)
    np.testing.assert_array_equal(filled[:, [0, 2]], rows[:, [0, 2]])
    assert np.isnan(rows[:, 1]).all()
    sampled = fitted.impute(rows, "sample", random_state=1)
    np.testing.assert_array_equal(sampled[:, [0, 2]], rows[:, [0, 2]])
    again = fitted.impute(rows, "sample", random_state=1)
    np.testing.assert_array_equal(sampled, again)
    with pytest.raises(ValueError, match="method must be one of"):
        fitted.impute(rows, "map")


def test_samples_have_the_moments_of_the_mixture(fitted):
    """Bounds of 6 standard errors."""
    n_samples = 9000  # more than a block
    rows = fitted.sample(n_samples, random_state=2)
    _, _, log_shares, means = mixture(weights_of(fitted), fitted._hidden_units()[1])
    shares = np.exp(log_shares)
    mean = shares @ means
    spread = (shares[:, None] * (means - mean)).T @ (means - mean)
    covariance = spread + np.eye(4)
    deviations = np.sqrt(np.diag(covariance) / n_samples)
    assert (np.abs(rows.mean(axis=0) - mean) < 6 * deviations).all()
    centred = rows - mean
    products = centred[:, :, None] * centred[:, None]
    errors = np.abs(products.mean(axis=0) - covariance)
    assert (errors < 6 * products.std(axis=0) / np.sqrt(n_samples)).all()


def test_likelihood_is_recorded_and_is_that_of_the_rows(fitted):
    assert fitted.score(X) == pytest.approx(fitted.log_likelihoods_[-1], rel=1e-12)
    assert fitted.log_likelihoods_[-1] > fitted.log_likelihoods_[0]


def test_truth_is_found():
    """Twice the gain over the truth is about chi-square, of mean k and variance 2 k."""
    model = machine(n_init=4, alpha=0.0).fit(X)
    log_z = mixture(TRUTH)[0]
    true = np.mean([log_unnormalised(TRUTH, x) - log_z for x in X])
    n_parameters = 2 * 4 + 2 + 4
    gain = 2 * len(X) * (model.score(X) - true)
    assert 0 < gain < n_parameters + 6 * np.sqrt(2 * n_parameters)
    # A unit may be turned around: the means of the rows are the same.
    ours = np.sort(np.round(mixture(weights_of(model))[3], 6), axis=0)
    np.testing.assert_allclose(ours, np.sort(mixture(TRUTH)[3], axis=0), atol=0.4)


def test_weights_are_repetitions():
    weights = np.random.default_rng(0).integers(0, 3, 200)
    repeated = machine(max_iter=20).fit(np.repeat(X[:200], weights, axis=0))
    weighted = machine(max_iter=20).fit(X[:200], sample_weight=weights)
    np.testing.assert_allclose(repeated.components_, weighted.components_, rtol=1e-8)


def test_methods_about_bits_do_not_exist():
    for name in (
        "predict_proba_bits",
        "completion_error",
        "scaled_log_loss",
        "reconstruction_error",
        "to_bernoulli_rbm",
    ):
        assert hasattr(CombinationMachine(), name)
        assert not hasattr(machine(), name)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"init": "zeros"}, "init must be one of"),
        ({"n_components": 21}, "at most 20 components"),
        ({"n_components": 22}, r"or n_components=\(22, 2\)"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message) as found:
        machine(**parameters).fit(X)
    if "n_components" in parameters:
        assert "pcd" not in str(found.value)


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, "contains NaN"), (np.inf, "infinity"), (1e6, "holds 1e.06 in column 2")],
)
def test_bad_rows_leave_the_machine_as_it_was(value, message):
    model = machine(max_iter=5).fit(X)
    before, bad = pickle.dumps(model), X.copy()
    bad[7, 2] = value
    with pytest.raises(ValueError, match=message):
        model.fit(bad)
    assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match=message):
        model.transform(bad)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        machine().fit(sparse.csr_array(X))
    with pytest.raises(NotFittedError):
        machine().score(X)


def test_odd_tables():
    one_row = machine(max_iter=10).fit(X[:1])
    assert np.isfinite(one_row.score(X[:1]))
    one_column = machine(max_iter=10).fit(X[:50, :1])
    assert one_column.sample(3, random_state=0).shape == (3, 1)
    constant = X[:50] * [0, 1, 1, 1]
    assert np.isfinite(machine(max_iter=10).fit(constant).score(constant))
    wide = machine(max_iter=10).fit(X[:2])
    assert np.isfinite(wide.score(X[:2]))


def test_signs_of_zero_are_one_number():
    """Rows are merged by their bytes, in which 0 and -0 differ."""
    zeros = np.where(np.abs(X[:40]) < 1, 0.0, np.round(X[:40]))
    one = machine(max_iter=5).fit(zeros)
    other = machine(max_iter=5).fit(np.where(zeros == 0, -0.0, zeros))
    np.testing.assert_array_equal(one.components_, other.components_)
