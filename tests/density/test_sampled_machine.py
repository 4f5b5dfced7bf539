"""The combination machine learned by chains."""

import pickle
import warnings

import numpy as np
import pytest
from oracles.density import all_inputs, all_joint_log_weights
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from sklboolean import CombinationMachine, SampledCombinationMachine
from sklboolean.density import _initialization as initialization
from sklboolean.density._partition_function import log_partition
from sklboolean.density._pcd import estimate_log_partition
from sklboolean.density._rbm_params import RBMParams

N = 6
EVERYTHING = (all_inputs(N) > 0).astype(float)
RNG = np.random.default_rng(0)
CLASSES = RNG.random(400) < 0.4
X = (RNG.random((400, N)) < np.where(CLASSES[:, None], 0.8, 0.2)).astype(float)
ESTIMATE = "ignore:The log-likelihood is an estimate"
BASES = pytest.mark.parametrize("base", ["independent", "chow_liu"])


def machine(**parameters):
    """A machine of three units, for which sums over four states are too long."""
    given = {"n_components": 3, "max_iter": 20, "random_state": 0} | parameters
    limit = given.pop("exact_limit", 2)
    model = SampledCombinationMachine(**given)
    model._exact_limit = limit
    return model


def log_joint(model):
    inputs = model.visible_bias_, model.tree_, model.couplings_
    weights = RBMParams(model.components_, model.hidden_bias_, *inputs)
    return logsumexp(all_joint_log_weights(weights)[2], axis=1)


@BASES
def test_estimates_stand_for_the_sum(base):
    model = machine(base=base).fit(X)
    exact = logsumexp(log_joint(model))
    # 128 chains and 1000 temperatures for 9 bits: far from 1 %.
    np.testing.assert_allclose(model.log_partition_bounds_, exact, atol=0.01)
    assert model.log_partition_ == max(model.log_partition_bounds_)
    with pytest.warns(UserWarning, match=r"log-likelihood is an estimate.*forward"):
        scores = model.score_samples(EVERYTHING)
    np.testing.assert_allclose(scores, log_joint(model) - model.log_partition_)
    with pytest.warns(UserWarning, match="log-likelihood is an estimate"):
        loss = model.scaled_log_loss(EVERYTHING)
    assert loss == pytest.approx(-scores.mean() / (N * np.log(2)))


@pytest.mark.slow
@BASES
def test_estimates_agree_beyond_the_limit(base):
    """Sums over 2 ** 22 states are refused by default, but not out of reach."""
    rng = np.random.default_rng(0)
    kinds = rng.random((6, 26)) < 0.5
    rows = kinds[rng.integers(0, 6, 500)] ^ (rng.random((500, 26)) < 0.1)
    model = SampledCombinationMachine(22, base=base, max_iter=20, random_state=0)
    forward, reverse = model.fit(rows).log_partition_bounds_
    exact = log_partition(model._state.params)
    chains = model._state.chains
    others = estimate_log_partition(chains.params, chains.states, 1)
    assert len({forward, reverse, exact, *others}) == 5
    # 0.1 nats is what an estimate may differ from another one.
    np.testing.assert_allclose([forward, reverse, *others], exact, atol=0.1)


def test_estimates_in_the_wrong_order_are_told():
    model = machine(max_iter=1).fit(X)
    model.log_partition_bounds_ = 9.0, 8.0
    with pytest.warns(UserWarning, match=r"have not mixed.*smaller learning_rate"):
        model.score_samples(X)
    model.log_partition_bounds_ = 8.0, 9.0
    with pytest.warns(UserWarning, match=r"smaller likelihood\.$"):
        model.score_samples(X)


def test_sums_that_are_affordable_are_exact():
    model = machine(exact_limit=3).fit(X)
    exact = logsumexp(log_joint(model))
    assert model.log_partition_bounds_ == pytest.approx((exact, exact), rel=1e-12)
    assert np.exp(model.score_samples(EVERYTHING)).sum() == pytest.approx(1, rel=1e-12)


@BASES
def test_what_needs_no_sum_is_exact(base):
    model = machine(base=base).fit(X)
    known = machine(base=base, exact_limit=3).fit(X)
    np.testing.assert_array_equal(model.components_, known.components_)
    holes = X[:20].copy()
    holes[::2, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(model.impute(holes), known.impute(holes))
        joint = known.predict_proba_bits(X[:20], [4])
        np.testing.assert_allclose(model.predict_proba_bits(X[:20], [4]), joint)
        assert model.completion_error(X) == known.completion_error(X)


@BASES
def test_samples_of_chains_have_the_means_of_the_machine(base):
    model = machine(base=base).fit(X)
    drawn = model.sample(500, random_state=0)
    scores = log_joint(model)
    means = np.exp(scores - logsumexp(scores)) @ EVERYTHING
    # Six standard deviations of a mean of 500 bits.
    np.testing.assert_allclose(drawn.mean(axis=0), means, atol=6 / 2 / np.sqrt(500))
    np.testing.assert_array_equal(drawn, model.sample(500, random_state=0))


@BASES
def test_chains_lead_near_the_maximum(base):
    given = {"alpha": 0.0, "n_components": 1}
    fixed = base.replace("chow", "fixed_chow")
    exact = CombinationMachine(base=fixed, n_init=1, random_state=0, **given)
    start = exact.set_params(max_iter=1).fit(X).score(X)
    best = exact.set_params(max_iter=500).fit(X).score(X)
    given |= {"max_iter": 400, "learning_rate": 0.5, "exact_limit": 20}
    learned = machine(base=base, **given).fit(X).score(X)
    # A mean over 500 chains and hundreds of steps costs 14 weights about 14 / 2 / 5000.
    assert start < best - 0.02
    assert best - 0.003 < learned < best + 1e-4


def test_steps_that_lose_the_chains_are_told():
    rows = np.random.default_rng(0).integers(0, 2, (200, 6))
    model = machine(alpha=1e-4, learning_rate=100.0, exact_limit=20)
    with pytest.warns(
        ConvergenceWarning, match="alpha, now 0.0001, or .*learning_rate"
    ):
        model.fit(rows)


@BASES
def test_chunks_teach_the_same_as_all_rows(base):
    first = machine(base=base, batch_size=20).partial_fit(X[:100])
    whole = pickle.loads(pickle.dumps(first)).partial_fit(X[100:])
    parts = first
    for start in range(100, 400, 60):
        parts = pickle.loads(pickle.dumps(parts)).partial_fit(X[start : start + 60])
    for name in ("components_", "hidden_bias_", "visible_bias_"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))
    assert (whole.n_iter_, parts.n_iter_) == (2, 6)


@pytest.mark.filterwarnings(ESTIMATE)
def test_estimates_wait_until_they_are_needed():
    model = machine().fit(X)
    before = model.log_partition_
    model.partial_fit(X)
    assert not hasattr(model, "log_partition_")
    scores = model.score_samples(X)
    assert model.log_partition_ != before
    np.testing.assert_array_equal(model.score_samples(X), scores)


def test_partial_fit_learns_and_goes_on_from_a_fit():
    stream = machine(exact_limit=20, learning_rate=0.1).partial_fit(X)
    begun = stream.score(X)
    for _ in range(50):
        stream.partial_fit(X)
    assert stream.score(X) > begun
    fitted = machine(exact_limit=20, max_iter=100).fit(X)
    resumed = pickle.loads(pickle.dumps(fitted)).set_params(learning_rate=1e-9)
    resumed.partial_fit(X)
    # The average moves a little towards the last of the weights.
    np.testing.assert_allclose(resumed.components_, fitted.components_, atol=0.05)
    assert resumed.score(X) == pytest.approx(fitted.score(X), abs=0.01)


def test_partial_fit_goes_on_from_an_exact_machine():
    exact = CombinationMachine(3, max_iter=100, random_state=0).fit(X)
    init = exact.components_, exact.hidden_bias_, exact.visible_bias_
    model = machine(init=init, learning_rate=1e-9, exact_limit=20).partial_fit(X)
    np.testing.assert_allclose(model.components_, exact.components_, atol=1e-6)
    assert model.score(X) == pytest.approx(exact.score(X), abs=1e-6)


def test_no_pass_keeps_the_given_units():
    init = np.random.default_rng(0).normal(size=(3, N))
    model = machine(init=init, max_iter=0).fit(X)
    np.testing.assert_allclose(model.components_, init)
    assert model.n_iter_ == 0


def test_default_penalty_is_that_of_the_number_of_samples():
    given = {"max_iter": 5, "exact_limit": 20}
    default, same = machine(**given), machine(alpha=2 / 40, **given)
    assert default.fit(X[:40]).alpha_ == same.fit(X[:40]).alpha_ == 0.05
    np.testing.assert_array_equal(default.components_, same.components_)
    for weight, alpha in [(np.full(40, 2.0), 0.025), (1e6, 1e-4), (1e-9, 0.05)]:
        assert default.fit(X[:40], sample_weight=weight).alpha_ == alpha


def test_bad_chunk_leaves_the_machine_as_it_was():
    model = machine().partial_fit(X)
    before = dict(vars(model))
    holes = X.copy()
    holes[3, 2] = np.nan
    for rows, message in [(holes, "NaN in column 2"), (X[:, :4], "4 features")]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(rows)
    with pytest.raises(ValueError, match=r"learning_rate=1e\+300 is too large"):
        model.set_params(learning_rate=1e300).partial_fit(X)
    model.set_params(learning_rate=0.05)
    assert vars(model) == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"batch_size": 0}, "batch_size"),
        ({"alpha": -1.0}, "alpha"),
        ({"base": "tree"}, "base must be one of"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"max_iter": -1}, "max_iter"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        machine(**parameters).fit(X)


def test_missing_bits_in_fit_name_the_ways_out():
    holes = X.copy()
    holes[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN in column 2.*BernoulliMixture.*impute"):
        machine().fit(holes)
    assert not get_tags(machine()).input_tags.allow_nan


@pytest.mark.filterwarnings(ESTIMATE)
def test_too_many_missing_bits_are_refused():
    wide = np.tile(X, (1, 2))
    model = machine(max_iter=2).fit(wide)
    wide[5, :4] = wide[1, :3] = np.nan
    # 2 ** 3 completions for three units make a table of 24 numbers of 2 ** 5.
    assert not np.isnan(model.impute(wide[:2])).any()
    for ask in (model.impute, model.score_samples):
        with pytest.raises(ValueError, match=r"misses 4 bits.*at most 3.*Fit fewer"):
            ask(wide)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", ESTIMATE)
def test_chains_pursue_one_start_only(monkeypatch):
    pursued = []
    pursue = initialization.pursue

    def counted(*arguments):
        pursued.append(arguments)
        return pursue(*arguments)

    monkeypatch.setattr(initialization, "pursue", counted)
    machine(init="projection_pursuit").fit(X)
    assert len(pursued) == 1
    CombinationMachine(3, init="projection_pursuit", n_init=3, random_state=0).fit(X)
    assert len(pursued) == 4
