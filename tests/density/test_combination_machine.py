"""The combination machine as an estimator."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from oracles.density import agreeing, all_inputs, all_joint_log_weights
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neural_network import BernoulliRBM

from sklboolean import ChowLiuTree, CombinationMachine
from sklboolean.density import GradientAscent
from sklboolean.density._conditionals import complete_at_random
from sklboolean.density._rbm_params import RBMParams

N = 6
EVERYTHING = (all_inputs(N) > 0).astype(float)


def rows_of_patterns(n_samples=400, seed=0, n=N):
    """Two overlapping patterns, drawn from a machine."""
    rng = np.random.default_rng(seed)
    components = np.zeros((2, n))
    components[0, : n // 2 + 1], components[1, n // 2 :] = 1.5, -1.2
    truth = RBMParams(components, np.array([-1.0, 0.5]), rng.normal(size=n) / 4)
    nothing = np.zeros((n_samples, n), dtype=np.int8)
    drawn = complete_at_random(truth, nothing, np.random.RandomState(seed))
    return (drawn > 0).astype(float), truth


X, TRUTH = rows_of_patterns()
CONFIGURATIONS = [
    {},
    {"base": "chow_liu"},
    {"base": "uniform"},
    {"n_components": (4, 1)},
    {"n_components": (3, 2), "base": "chow_liu"},
    {"solver": "gradient", "n_init": 2},
    {"n_components": 9, "n_init": 1},
    {"base": "fixed_chow_liu"},
]


def machine(**parameters):
    parameters = {"n_components": 3, "max_iter": 60, "random_state": 0} | parameters
    return CombinationMachine(**parameters)


@pytest.fixture(params=CONFIGURATIONS, ids=str, scope="module")
def fitted(request):
    return machine(**request.param).fit(X)


def weights_of(model):
    return RBMParams(
        model.components_,
        model.hidden_bias_,
        model.visible_bias_,
        model.tree_,
        model.couplings_,
    )


def test_probabilities_sum_to_one(fitted):
    probabilities = np.exp(fitted.score_samples(EVERYTHING))
    assert probabilities.sum() == pytest.approx(1, abs=1e-12)
    scores = all_joint_log_weights(weights_of(fitted), fitted._hidden_units()[1])[2]
    assert fitted.log_partition_ == pytest.approx(logsumexp(scores))
    np.testing.assert_allclose(
        np.log(probabilities), logsumexp(scores, axis=1) - fitted.log_partition_
    )


def test_history_ends_with_the_likelihood_that_was_reached(fitted):
    assert fitted.n_iter_ == len(fitted.log_likelihoods_) <= fitted.max_iter
    assert np.isfinite(fitted.log_likelihoods_).all()
    assert fitted.log_likelihoods_[-1] == pytest.approx(fitted.score(X))
    assert fitted.n_components_ == len(fitted.components_) == fitted._hidden_units()[0]
    assert fitted.visible_bias_.any() == (fitted.base != "uniform")


def test_missing_bits_are_summed_out(fitted):
    probabilities = np.exp(fitted.score_samples(EVERYTHING))
    rng = np.random.default_rng(1)
    holes = np.where(rng.random((20, N)) < 0.5, np.nan, X[:20])
    signs = np.where(np.isnan(holes), 0, 2 * X[:20] - 1)
    kept = np.array([agreeing(row) for row in signs])
    np.testing.assert_allclose(
        fitted.score_samples(holes), np.log(kept @ probabilities), atol=1e-10
    )
    conditional = kept * probabilities / (kept @ probabilities)[:, None]
    np.testing.assert_allclose(
        fitted.impute(holes), conditional @ EVERYTHING, atol=1e-10
    )
    filled = fitted.impute(holes, method="map")
    best = EVERYTHING[conditional.argmax(axis=1)]
    np.testing.assert_array_equal(filled, best)


def test_hidden_units_and_back(fitted):
    _, states, scores = all_joint_log_weights(
        weights_of(fitted), fitted._hidden_units()[1]
    )
    posterior = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    np.testing.assert_allclose(
        fitted.transform(EVERYTHING), posterior @ states, atol=1e-10
    )
    _, states, free = all_joint_log_weights(weights_of(fitted))
    means = np.exp(free - logsumexp(free, axis=0)).T @ EVERYTHING
    np.testing.assert_allclose(fitted.inverse_transform(states), means, atol=1e-10)


def test_samples_have_the_means_of_the_machine(fitted):
    drawn = fitted.sample(20000, random_state=0)
    assert set(np.unique(drawn)) <= {0.0, 1.0}
    means = np.exp(fitted.score_samples(EVERYTHING)) @ EVERYTHING
    # Six standard deviations of a mean of 20000 bits: Chebyshev would allow 1 in 36,
    # the normal distribution 2e-9.
    np.testing.assert_allclose(drawn.mean(axis=0), means, atol=6 / 2 / np.sqrt(20000))
    np.testing.assert_array_equal(drawn, fitted.sample(20000, random_state=0))


# Learning


def test_likelihood_is_at_least_that_of_the_truth():
    """The maximum over all machines is; found from four starts."""
    rows, truth = rows_of_patterns(2000)
    index = rows @ 2 ** np.arange(N)[::-1]
    scores = logsumexp(all_joint_log_weights(truth)[2], axis=1)
    of_truth = (scores - logsumexp(scores))[index.astype(int)].mean()
    learned = machine(n_components=2, alpha=0.0, max_iter=500).fit(rows)
    assert learned.score(rows) > of_truth


def test_machine_on_a_tree_is_better_than_the_tree():
    tree = ChowLiuTree().fit(X)
    grown = machine(base="chow_liu").fit(X)
    assert grown.score(X) > tree.score(X)


def test_new_tree_finds_what_the_hidden_units_uncover():
    """Two bits are independent, and dependent given a class that others show."""
    rng = np.random.default_rng(0)
    classes = rng.choice([-1, 1], size=3000)
    rows = np.where(rng.random((3000, 8)) < 0.1, -1, 1)
    # P(1, 1) = .5, P(1, -1) = .3, P(-1, 1) = .2: the product has mean 0.
    pairs = np.array([[1, 1], [1, -1], [-1, 1]])[rng.choice(3, 3000, p=[0.5, 0.3, 0.2])]
    rows = np.column_stack([rows, pairs]) * classes[:, None]
    assert abs(np.corrcoef(rows.T)[8, 9]) < 0.05
    parameters = {"n_components": 1, "max_iter": 200}
    once = machine(base="fixed_chow_liu", **parameters).fit(rows)
    again = machine(base="chow_liu", **parameters).fit(rows)
    edges = [
        {frozenset(edge) for edge in enumerate(model.tree_)} for model in (once, again)
    ]
    assert [frozenset([8, 9]) in tree for tree in edges] == [False, True]
    # Given the class their mutual information is .0816 nats; the class shows clearly.
    assert again.score(rows) > once.score(rows) + 0.04


def test_momentum_climbs_to_the_same_place_when_there_is_one_unit():
    parameters = {"n_components": 1, "alpha": 0.01, "max_iter": 3000}
    fast = machine(**parameters).fit(X)
    slow = machine(solver=GradientAscent(tol=1e-9), **parameters).fit(X)
    assert slow.score(X) == pytest.approx(fast.score(X), abs=1e-4)


def test_penalty_draws_weights_to_zero():
    weak, strong = machine(alpha=1e-4).fit(X), machine(alpha=1.0).fit(X)
    assert np.abs(strong.components_).max() < np.abs(weak.components_).max() / 10


@pytest.mark.parametrize("base", ["independent", "chow_liu"])
def test_same_seed_same_machine_for_any_threads_and_order(base):
    one = machine(base=base).fit(X)
    with parallel_config(n_jobs=2):
        two = machine(base=base).fit(X[::-1])
    np.testing.assert_array_equal(one.components_, two.components_)
    other = machine(base=base, random_state=1).fit(X)
    assert not np.array_equal(one.components_, other.components_)


def test_weight_of_two_is_a_row_twice():
    weights = np.arange(len(X)) % 3
    weighted = machine().fit(X, sample_weight=weights)
    repeated = machine().fit(np.repeat(X, weights, axis=0))
    np.testing.assert_array_equal(weighted.components_, repeated.components_)


def test_start_may_be_given():
    start = TRUTH.components, TRUTH.hidden_bias, TRUTH.visible_bias
    known = machine(n_components=2, init=start, max_iter=1).fit(X)
    np.testing.assert_allclose(known.components_, TRUTH.components, atol=0.5)
    from_components = machine(n_components=2, init=TRUTH.components).fit(X)
    assert from_components.score(X) > known.score(X)


def test_means_given_hidden_units_have_the_codes_of_the_rows():
    bits, signs = machine().fit(X), machine().fit(2 * X - 1)
    hidden = np.zeros((1, 3))
    np.testing.assert_allclose(
        signs.inverse_transform(hidden), 2 * bits.inverse_transform(hidden) - 1
    )


# The same model elsewhere


def free_energy_likelihood(rbm, rows):
    """Log-likelihood of a BernoulliRBM from its published weights, by enumeration."""

    def minus_energy(bits):
        activations = bits @ rbm.components_.T + rbm.intercept_hidden_
        return bits @ rbm.intercept_visible_ + np.logaddexp(0, activations).sum(axis=1)

    return minus_energy(rows) - logsumexp(minus_energy(EVERYTHING))


def test_to_bernoulli_rbm_and_back():
    model = machine().fit(X)
    rbm = model.to_bernoulli_rbm()
    np.testing.assert_allclose(free_energy_likelihood(rbm, X), model.score_samples(X))
    np.testing.assert_allclose(rbm.transform(X), model.transform(X))
    assert rbm.get_feature_names_out().shape == (3,)
    back = CombinationMachine.from_bernoulli_rbm(rbm)
    np.testing.assert_allclose(back.components_, model.components_)
    np.testing.assert_allclose(back.hidden_bias_, model.hidden_bias_, atol=1e-12)
    np.testing.assert_allclose(back.visible_bias_, model.visible_bias_)
    going = clone(back).set_params(max_iter=3)
    assert going.fit(X).n_features_in_ == N


def test_column_names_go_with_the_weights():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = machine(max_iter=3).fit(frame)
    rbm = model.to_bernoulli_rbm()
    np.testing.assert_allclose(rbm.transform(frame), model.transform(frame))
    back = CombinationMachine.from_bernoulli_rbm(rbm)
    np.testing.assert_allclose(back.score_samples(frame), model.score_samples(frame))


def test_learned_bernoulli_rbm_can_be_asked_exactly():
    rbm = BernoulliRBM(3, n_iter=3, random_state=0).fit(X)
    model = CombinationMachine.from_bernoulli_rbm(rbm)
    np.testing.assert_allclose(model.score_samples(X), free_energy_likelihood(rbm, X))
    assert np.exp(model.score_samples(EVERYTHING)).sum() == pytest.approx(1)
    with pytest.raises(NotFittedError):
        CombinationMachine.from_bernoulli_rbm(BernoulliRBM())
    rbm = BernoulliRBM(25, n_iter=1, random_state=0).fit(np.eye(30))
    with pytest.raises(ValueError, match="Take at most 20 components"):
        CombinationMachine.from_bernoulli_rbm(rbm)


def test_what_has_no_rbm_says_so():
    with pytest.raises(ValueError, match=r"has no tree.*base='independent'"):
        machine(base="chow_liu", max_iter=2).fit(X).to_bernoulli_rbm()
    with pytest.raises(ValueError, match="has no limit of active units"):
        machine(n_components=(3, 1), max_iter=2).fit(X).to_bernoulli_rbm()


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"base": "tree"}, "base must be one of"),
        ({"init": "zeros"}, "init must be one of"),
        ({"init": np.zeros((3, 5))}, r"init has arrays of shapes \[\(3, 5\)\]"),
        ({"init": (np.zeros((3, 6)), np.zeros(2))}, "init has arrays of shapes"),
        ({"init": np.full((3, 6), np.nan)}, "init holds values that are not finite"),
        ({"init": ()}, "init has arrays"),
        ({"n_init": 0}, "n_init"),
        ({"solver": "pcd"}, "Take a SampledCombinationMachine"),
        ({"solver": "newton"}, "solver must be one of"),
        ({"n_components": (3, 0)}, "the second number of n_components"),
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": np.nan}, "alpha"),
        ({"solver": GradientAscent(0.0)}, "learning_rate"),
        ({"solver": GradientAscent(momentum=1.0)}, "momentum must be below 1"),
        ({"solver": GradientAscent(tol=-1.0)}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"binarize": None, "n_components": 2}, "binarize=None demands the codes"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(parameters, message):
    model = machine(max_iter=2).fit(X)
    before = dict(vars(model))
    rows = X * 2 if "binarize" in parameters else X
    with pytest.raises(ValueError, match=message):
        model.set_params(**parameters).fit(rows)
    for name in ("components_", "n_features_in_", "log_likelihoods_"):
        assert vars(model)[name] is before[name]


def test_missing_bits_are_refused_by_the_reconstruction_error():
    holes = X.copy()
    holes[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN in column 2\. Fill them in with impute"):
        machine(max_iter=2).fit(X).reconstruction_error(holes)


def test_too_many_units_are_refused_with_an_estimate():
    wide = np.eye(30)
    message = (
        r"n_components=25 .*hidden states.*more than 2 \*\* 20.*"
        r"or n_components=\(25, 2\).*, or a SampledCombinationMachine"
    )
    with pytest.raises(ValueError, match=message):
        machine(n_components=25).fit(wide)
    few_inputs = machine(n_components=25, max_iter=3, n_init=1).fit(X)
    assert np.exp(few_inputs.score_samples(EVERYTHING)).sum() == pytest.approx(1)
    # A tree, or few active units, leave only sums over hidden states.
    for parameters in ({"base": "chow_liu"}, {"n_components": (25, 20)}):
        with pytest.raises(ValueError, match=r"n_components=25 .* 2 \*\* 20"):
            machine(**{"n_components": 25} | parameters).fit(X)
    few_active = machine(n_components=(25, 1), max_iter=3, n_init=1).fit(wide)
    assert np.isfinite(few_active.score(wide))


def test_weights_without_bound_name_alpha():
    rows = np.array([[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]] * 9)
    with pytest.warns(ConvergenceWarning, match=r"Raise alpha, now 0\.0"):
        model = machine(n_components=2, alpha=0.0, max_iter=2000).fit(rows)
    assert model.score(rows) == pytest.approx(-np.log(4), abs=1e-5)
    assert np.isfinite(model.sample(10, random_state=0)).all()
    assert np.abs(machine(n_components=2).fit(rows).components_).max() < 25


def test_steps_that_are_too_long_are_named():
    with pytest.raises(ValueError, match=r"learning_rate=1e\+300\).* Take a tenth"):
        machine(solver=GradientAscent(1e300), n_init=1).fit(X)


def test_hidden_states_of_another_width():
    with pytest.raises(
        ValueError, match="X has 2 features, but the number of units is 3"
    ):
        machine(max_iter=2).fit(X).inverse_transform([[0, 1]])


@pytest.mark.parametrize("solver", ["lbfgs", "gradient"])
def test_default_penalty_is_that_of_the_number_of_samples(solver):
    given = {"solver": solver, "max_iter": 5, "n_init": 1}
    default, same = machine(alpha=None, **given), machine(alpha=2 / 40, **given)
    assert default.fit(X[:40]).alpha_ == same.fit(X[:40]).alpha_ == 0.05
    np.testing.assert_array_equal(default.components_, same.components_)
    for weight, alpha in [(np.full(40, 2.0), 0.025), (1e6, 1e-4), (1e-9, 0.05)]:
        assert default.fit(X[:40], sample_weight=weight).alpha_ == alpha


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_alpha_auto_is_one_of_the_list_and_then_all_samples_count(noise):
    rng = np.random.default_rng(0)
    Z = np.where(rng.random((120, 8)) < noise, rng.integers(0, 2, (120, 8)), 0)
    Z ^= rng.integers(0, 2, (2, 8))[rng.integers(0, 2, 120)]
    init = rng.normal(size=(4, 8))
    auto = CombinationMachine(4, init=init, alpha="auto", random_state=0).fit(Z)
    assert auto.alpha_ == (1e-2 if noise else 1e-4)
    same = CombinationMachine(4, init=init, alpha=auto.alpha_).fit(Z)
    np.testing.assert_array_equal(auto.components_, same.components_)
    with pytest.raises(ValueError, match="alpha='auto' need two samples"):
        CombinationMachine(4, alpha="auto").fit(Z[:1])


def test_old_parameters_mean_what_they_meant():
    given = {"n_init": 1, "n_components": 3, "max_iter": 9}
    pairs = [
        ({"visible_bias": False}, {"base": "uniform"}),
        ({"max_active": 1}, {"n_components": (3, 1)}),
        ({"base": "chow_liu", "tree_updates": 0}, {"base": "fixed_chow_liu"}),
        (
            {"solver": "gradient", "learning_rate": 0.1, "momentum": 0.5, "tol": 0},
            {"solver": GradientAscent(0.1, 0.5, 0)},
        ),
        ({"learning_rate": 0.1, "exact_limit": 20}, {}),
    ]
    for old, new in pairs:
        with pytest.warns(FutureWarning, match="deprecated"):
            translated = machine(**given | old)
        expected = machine(**given | new).fit(X)
        np.testing.assert_array_equal(
            translated.fit(X).components_, expected.components_
        )
    refused = [
        {"tol": 1e-3}, {"tree_updates": 1, "base": "chow_liu"}, {"warm_start": True},
        {"visible_bias": False, "base": "chow_liu"}, {"early_stopping": True},
    ]  # fmt: skip
    for old in refused:
        with pytest.raises(ValueError, match="not supported since version"):
            machine(**old)
