"""BoostByMajorityRegressor keeps the promise of the majority game, for real values."""

import statistics
from fractions import Fraction
from itertools import chain, repeat

import numpy as np
import pytest
from boosting_cases import make_regressor, scheduled
from hypothesis import given
from hypothesis import strategies as st
from oracles.boosting import potential
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import make_friedman1
from sklearn.ensemble import AdaBoostRegressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklboolean import BoostByMajorityRegressor
from sklboolean.boosting import BoostingSchedule
from sklboolean.boosting._boosting import (
    BoostingState,
    Schedule,
    boost,
)
from sklboolean.boosting._majority_game import max_gamma
from sklboolean.boosting._votes import MajorityVotes
from sklboolean.boosting._weak_learners import (
    RegressorWeakLearner,
    least_tolerance,
    scale_to,
)
from sklboolean.theory import min_rounds

TREE = DecisionTreeRegressor(max_depth=2)
unreached = pytest.mark.filterwarnings(
    "ignore:.* further than delta:sklearn.exceptions.ConvergenceWarning"
)


def friedman(n_samples=120, *, noise=1.0, seed=0):
    return make_friedman1(n_samples, noise=noise, random_state=seed)


class Promise(RegressorMixin, BaseEstimator):
    """A weak learner that is right about 1/2 + gamma of the weight, by just delta.

    About the rest it is wrong by far. X holds the number of each row. Which rows it
    gives up is up to it: the heaviest, the lightest, or any.
    """

    def __init__(self, gamma=0.1, delta=1.0, gives_up="any", random_state=None):
        self.gamma = gamma
        self.delta = delta
        self.gives_up = gives_up
        self.random_state = random_state

    def fit(self, X, y, sample_weight):
        rng = np.random.default_rng(self.random_state)
        keys = {
            "any": rng.random(len(y)),
            "heaviest": sample_weight,
            "lightest": -sample_weight,
        }
        order = np.argsort(keys[self.gives_up], kind="stable")
        total = np.cumsum(sample_weight[order])
        n_right = np.searchsorted(total, (0.5 + self.gamma) * total[-1]) + 1
        errors = np.full(len(y), 1e3)
        errors[order[:n_right]] = self.delta
        signs = rng.choice([-1, 1], len(y))
        self.answers_ = dict(zip(X[:, 0], y + signs * errors, strict=True))
        return self

    def predict(self, X):
        # Rows that were not shown, whose game is over, it gets wrong as well.
        return np.array([self.answers_.get(row, 1e6) for row in X[:, 0]])


class Script:
    """A learner that is right about given sets of rows, at last about all."""

    n_classes, returns_edge = 2, False

    def __init__(self, script, n_samples):
        self.drawn = []
        self.script = chain(script, repeat(range(n_samples)))
        self.n_samples = n_samples

    def fit(self, weights, rng, shown):
        return next(self.script)

    def predict_codes(self, rows):
        right = np.zeros(self.n_samples, dtype=np.int8)
        right[list(rows)] = 1
        return right


def play(learner, n_samples, target_error, gamma=None, k=None, **options):
    """Play as the regressor does."""
    gamma = max_gamma(k, target_error) if k and not gamma else gamma
    schedule = Schedule(
        k,
        target_error,
        gamma,
        recent=15,
        caution=0.7,
        stop_early=False,
        **{"weak_failure": "drop", "max_rounds": k or 101} | options,
    )
    votes = MajorityVotes(np.ones(n_samples, dtype=np.int8), 2)
    return boost(learner, votes, schedule, None)


def right_for_all(state):
    return (2 * state.votes.correct > state.votes.n_rounds).all()


# -- the promise ---------------------------------------------------------------------


@pytest.mark.parametrize("gives_up", ["any", "heaviest", "lightest"])
@pytest.mark.parametrize(("gamma", "weighted"), [(0.1, True), (0.4, False)])
def test_learner_that_keeps_its_promise_leaves_no_example(gives_up, gamma, weighted):
    rng = np.random.default_rng(0)
    m, delta = 60, 0.5
    X, y = np.arange(m)[:, np.newaxis], rng.integers(-20, 20, m).astype(float)
    values = rng.integers(1, 5, m) if weighted else None
    model = make_regressor(
        Promise(gamma, delta, gives_up), gamma=gamma, delta=delta, random_state=1
    ).fit(X, y, values)
    assert (np.abs(y - model.predict(X)) <= delta).all()
    assert model.training_error_ == 0
    share = 1 / m if values is None else values.min() / values.sum()
    assert model.k_ == min_rounds(gamma, share)
    assert model.n_rounds_ <= model.k_
    assert (model.estimator_edges_ >= gamma - 1e-12).all()
    # They never rise, but for what rounding weights to 2**-26 may add.
    start = float(potential(model.k_, 0, 0, Fraction(gamma))) if gamma == 0.4 else share
    assert model.potentials_[0] <= start + 1e-7
    assert (np.diff(model.potentials_) <= 1e-7).all()


@pytest.mark.parametrize("epsilon", [0.3, 0.1, 0.03])
@pytest.mark.parametrize("gives_up", ["any", "heaviest", "lightest"])
def test_no_more_than_epsilon_is_further_than_delta(gives_up, epsilon):
    rng = np.random.default_rng(0)
    X, y = np.arange(200)[:, np.newaxis], rng.normal(size=200).round(3)
    model = make_regressor(
        Promise(0.1, 0.25, gives_up),
        gamma=0.1,
        target_error=epsilon,
        delta=0.25 + 1e-9,
        random_state=0,
    ).fit(X, y)
    further = np.abs(y - model.predict(X)) > model.delta_
    assert model.training_error_ == further.mean() < epsilon
    assert model.k_ == min_rounds(0.1, epsilon)


def test_adaptive_game_ends_after_101_rounds_and_a_planned_one_plays_them_all():
    X, y = np.arange(60)[:, np.newaxis], np.tile(np.arange(-20.0, 20, 4), 6)
    learner = Promise(0.05, 0.5)
    model = BoostByMajorityRegressor(learner, delta=0.5, random_state=1).fit(X, y)
    assert (model.termination_condition_, model.n_rounds_) == ("max_rounds", 101)
    assert model.k_ > 101
    model.set_params(schedule=BoostingSchedule(gamma=0.05)).fit(X, y)
    assert model.termination_condition_ != "max_rounds"
    assert model.n_rounds_ > 101


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9),
    st.floats(-1e6, 1e6),
    st.floats(0, 1e6),
)
def test_median_is_within_delta_when_more_than_half_are(values, target, delta):
    within = sum(abs(target - value) <= delta for value in values)
    if 2 * within > len(values):
        assert abs(target - np.median(values)) <= delta


@pytest.mark.parametrize("n_estimators", [1, 2, 3, 6, 7])
def test_prediction_is_the_median_of_odd_and_even_numbers(n_estimators):
    X, y = friedman()
    model = make_regressor(TREE, n_estimators=7, target_error=0.2).fit(X, y)
    model.estimators_ = model.estimators_[:n_estimators]
    votes = np.array([tree.predict(X) for tree in model.estimators_])
    expected = [statistics.median(column) for column in votes.T.tolist()]
    assert model.predict(X).tolist() == expected
    stages = list(model.staged_predict(X))
    assert len(stages) == n_estimators
    np.testing.assert_array_equal(stages[0], votes[0])
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    for i, stage in enumerate(stages):
        np.testing.assert_array_equal(stage, np.median(votes[: i + 1], axis=0))


# -- the game -----------------------------------------------------------------------


def test_weights_are_zero_when_all_is_decided():
    vote_counts = MajorityVotes(np.ones(2, int), 2)
    for _ in range(3):
        vote_counts.add(np.array([1, 0]))
    np.testing.assert_array_equal(vote_counts.weights(5, 0.2).of_samples(), [0, 0])
    state = play(Script([range(1)] * 9, 2), 2, 0.1, 0.2, 5, weak_failure="abort")
    assert state.termination == "all_rounds"
    state = play(Script([range(8)], 10), 10, 0.1, 0.2, 5)
    assert state.termination == "no_weight_left"
    assert state.votes.n_rounds < state.k


@pytest.mark.parametrize("values", [[1e-300, 1.0], [5e-324, 1e307], [1e307, 1e307]])
def test_weights_are_finite_and_some_above_zero_whatever_the_values(values):
    vote_counts = MajorityVotes(np.ones(2, int), 2, np.array(values))
    for _ in range(4):
        weights = vote_counts.weights(9, 0.2).of_samples()
        assert np.isfinite(weights).all()
        assert weights.any()
        total = vote_counts.sample_weight.sum()
        assert 0.5 < scale_to(total, weights).sum() / total < 2
        vote_counts.add(np.array([0, 1]))
    vote_counts.add(np.array([0, 1]))
    np.testing.assert_array_equal(
        vote_counts.weights(9, 0.2).of_samples(), [0, 0]
    )  # lost and won


def test_plan_relies_on_the_last_fifteen_edges():
    schedule = Schedule(99, 0.1, 0.2, recent=15, caution=0.7)
    state = BoostingState(MajorityVotes(np.ones(10, int), 2), schedule)
    state.record["followed"] = [0.5] * 5 + [0.1] * 5 + [0.2] * 9
    state.drop_round(0.2)
    assert state.gamma == pytest.approx(0.7 * (5 * 0.1 + 10 * 0.2) / 15)
    assert state.k == 99
    state.record["followed"] += [-0.2] * 9
    assert state.termination is None
    state.drop_round(-0.2)
    assert state.termination == "no_edge"


def test_failed_round_is_played_again_by_another_plan():
    rows = [range(9), range(5), range(1, 10)]  # row 9 weighs most in round 2
    state = play(Script(rows, 10), 10, 0.1, 0.1, 9)
    tried, edges = state.record["followed"], state.record["edge"]
    assert tried[1] < 0 == state.votes.n_aborted
    assert edges[1:] == tried[2:]
    assert len(state.hypotheses) == state.votes.n_rounds == len(edges)
    assert state.k == 9
    mean = (tried[0] + tried[1]) / 2
    assert state.record["gamma"][:2] == [0.1, pytest.approx(0.7 * mean)]


def test_game_ends_when_nothing_can_be_relied_on():
    state = play(Script([range(7)] + [range(3, 6)] * 20, 10), 10, 0.1)
    assert state.termination == "no_edge"
    assert state.votes.n_rounds == len(state.hypotheses) == 1
    assert np.mean(state.record["followed"]) <= 0


@pytest.mark.parametrize(
    ("gamma", "failure"),
    [("auto", "replan"), ("auto", "abort"), (0.1, "replan"), (0.4, "abort")],
)
def test_learner_no_better_than_a_coin_is_an_error(gamma, failure):
    X, y = np.zeros((10, 1)), np.repeat([0.0, 9.0], 5)
    model = make_regressor(Ridge(), gamma=gamma, weak_failure=failure, delta=1.0)
    with pytest.raises(ValueError, match=r"estimator is correct on .*larger delta"):
        model.fit(X, y)
    model.set_params(schedule__weak_failure="raise")
    with pytest.raises(ValueError, match=r"edge -0\.5.*larger delta"):
        model.fit(X, y)


def test_first_try_that_is_better_than_a_coin_counts():
    rows = [range(4), range(6), range(10)]
    state = play(Script(rows, 10), 10, 0.1, max_tries=3)
    assert state.record["edge"][0] == pytest.approx(0.1)


# -- weak learners --------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=1))
def test_least_tolerance_is_the_least(pairs):
    errors, values = np.array(pairs, dtype=float).T
    for share in (0.5, 0.75, 1.0):
        enough = [
            e for e in errors if values[errors <= e].sum() >= share * values.sum()
        ]
        assert least_tolerance(errors, values, share) == min(enough)


@pytest.mark.parametrize(
    ("gamma", "share"), [("auto", 0.75), (0.1, 0.75), (0.21, 0.8), (0.4, 1.0)]
)
@unreached
def test_delta_is_a_quantile_of_the_first_errors(gamma, share):
    X, y = friedman(100)
    model = make_regressor(TREE, gamma=gamma, random_state=0).fit(X, y)
    errors = np.sort(np.abs(y - model.estimators_[0].predict(X)))
    assert model.delta_ == errors[round(share * 100) - 1]


@unreached
def test_weights_that_are_integers_equal_repeated_rows():
    X, y = friedman(60)
    X, y = X.round(2), y.round()
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, 60)
    rows = rng.permutation(np.repeat(np.arange(60), weights))
    for base in (DecisionTreeRegressor(max_depth=3), Ridge()):
        model = make_regressor(base, n_estimators=15, target_error=0.1, random_state=0)
        weighted = clone(model).fit(X, y, weights)
        repeated = clone(model).fit(X[rows], y[rows])
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), 1e-10)
        assert weighted.training_error_ == pytest.approx(repeated.training_error_)


def fit_under_weights(base, X, y, weights, n_draws=None):
    learner = RegressorWeakLearner(base, X, y, weights.sum(), 1.0, 0.75, n_draws)
    return learner.fit(weights, np.random.RandomState(0))


def test_rows_without_weight_are_neither_passed_nor_drawn():
    X, y = np.arange(50.0)[:, np.newaxis], np.arange(50.0)
    weights = np.zeros(50)
    weights[10:13] = 1, 1, 2
    model = fit_under_weights(KNeighborsRegressor(1), X, y, weights, 4000)
    share = np.bincount(model.predict(X).astype(int), minlength=13)
    assert set(np.flatnonzero(share)) == {10, 11, 12}
    assert model.n_samples_fit_ == 4000
    tree = fit_under_weights(DecisionTreeRegressor(), X, y, weights)
    assert tree.tree_.n_node_samples[0] == 3


def test_drawn_rows_follow_the_weights():
    class Mean(BaseEstimator):
        def fit(self, X, y):
            self.mean_ = y.mean()
            return self

    weights, y = np.array([1.0, 0.0, 3.0]), np.array([0.0, 100.0, 1.0])
    model = fit_under_weights(Mean(), np.zeros((3, 1)), y, weights, 10_000)
    assert model.mean_ == pytest.approx(0.75, abs=0.02)


@unreached
@pytest.mark.parametrize("sampling", ["weight", "resample"])
def test_random_state_decides_and_every_regressor_has_its_own(sampling):
    X, y = friedman()
    base = DecisionTreeRegressor(max_depth=3, max_features=2)
    base = make_pipeline(StandardScaler(), base) if sampling == "resample" else base
    model = make_regressor(base, n_estimators=5, sampling=sampling)
    first = clone(model).set_params(random_state=3).fit(X, y)
    again = clone(model).set_params(random_state=3).fit(X, y)
    other = clone(model).set_params(random_state=4).fit(X, y)
    np.testing.assert_array_equal(first.predict(X), again.predict(X))
    assert (first.predict(X) != other.predict(X)).any()
    (name,) = [name for name in base.get_params() if name.endswith("random_state")]
    seeds = {tree.get_params()[name] for tree in first.estimators_}
    assert len(seeds) == len(first.estimators_)
    assert all(isinstance(seed, int) for seed in seeds)
    assert base.get_params()[name] is None


@unreached
def test_base_without_weights_draws_rows():
    X, y = friedman()
    model = make_regressor(
        KNeighborsRegressor(3), n_estimators=5, n_samples_weak=40
    ).fit(X, y)
    assert all(base.n_samples_fit_ == 40 for base in model.estimators_)


def test_sparse_rows_and_missing_values_pass_to_a_base_that_takes_them():
    X, y = friedman()
    X[X < 0.4], y = 0, y.round()  # whole numbers: any order of adding will do
    # In scikit-learn 1.7 the median of unequal weights depends on the order of rows,
    # which is another one for sparse rows: draw rows, or play the first round only.
    for options in ({"sampling": "resample"}, {"n_estimators": 1, "delta": 9.0}):
        model = BoostByMajorityRegressor(random_state=0, **scheduled(options))
        dense = clone(model).fit(X, y).predict(X)
        for form in (sparse.csr_array, sparse.csc_array):
            made = clone(model).fit(form(X), y)
            np.testing.assert_array_equal(made.predict(form(X)), dense)
    X[X == 0] = np.nan
    model = BoostByMajorityRegressor(DecisionTreeRegressor(max_depth=7)).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    with pytest.raises(ValueError, match="NaN"):
        BoostByMajorityRegressor(Ridge()).fit(X, y)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        BoostByMajorityRegressor(Constant()).fit(sparse.csr_array(y[:, None]), y)


class Constant(RegressorMixin, BaseEstimator):
    """A regressor that takes neither weights nor sparse rows."""

    def fit(self, X, y):
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


# -- robustness -----------------------------------------------------------------------


def test_gross_errors_in_y_do_little_harm():
    X, y = friedman(600)
    spoiled = y.copy()
    rows = np.random.default_rng(0).choice(400, 40, replace=False)
    spoiled[rows] += 200

    def error(model):
        model.fit(X[:400], spoiled[:400])
        return np.median(np.abs(model.predict(X[400:]) - y[400:]))

    boosted = make_regressor(n_estimators=101, target_error=0.2, random_state=0)
    peer = AdaBoostRegressor(DecisionTreeRegressor(max_depth=7), random_state=0)
    assert error(boosted) < error(peer) / 2


def test_target_that_a_base_repeats_needs_no_tolerance():
    X = np.arange(12.0)[:, np.newaxis]
    for y in (np.zeros(12), np.full(12, -7.5), np.arange(12.0)):
        for base in (DecisionTreeRegressor(), Ridge(alpha=1e-12)):
            model = BoostByMajorityRegressor(base).fit(X, y)
            np.testing.assert_allclose(model.predict(X), y, atol=1e-9)
            assert model.delta_ <= 1e-10


def test_few_examples_are_enough():
    model = BoostByMajorityRegressor().fit([[1.0]], [3.0])
    assert model.predict([[5.0]]).tolist() == [3.0]
    model = BoostByMajorityRegressor().fit([[1.0], [2.0]], [3.0, 4.0], [0, 1])
    assert model.predict([[1.0]]).tolist() == [4.0]


def test_target_error_that_is_missed_is_said():
    X, y = friedman()
    model = BoostByMajorityRegressor(TREE, n_estimators=3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"further than delta=.*target_error"):
        model.fit(X, y)
    assert model.training_error_ > 0
    further = np.abs(y - model.predict(X)) > model.delta_
    assert model.training_error_ == pytest.approx(further.mean())


# -- bad input ------------------------------------------------------------------------


class Wild(RegressorMixin, BaseEstimator):
    """A regressor whose predictions are not finite."""

    def fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X):
        return np.full(len(X), np.nan)


def test_an_even_number_of_rounds_is_the_next_odd_one():
    X = np.arange(40.0)[:, None]
    odd = BoostByMajorityRegressor(TREE, n_estimators=5, delta=9).fit(X, X[:, 0])
    with pytest.warns(UserWarning, match="n_estimators=4 .* there are 5") as caught:
        even = BoostByMajorityRegressor(TREE, n_estimators=4, delta=9).fit(X, X[:, 0])
    assert len(caught) == 1
    np.testing.assert_array_equal(even.predict(X), odd.predict(X))


BAD = [
    ({"n_estimators": 0}, "n_estimators"),
    ({"n_estimators": "many"}, 'n_estimators must be "auto" or a number'),
    ({"gamma": 0.5}, "gamma must be above 0 and below 0.5"),
    ({"gamma": 0}, "gamma must be above 0"),
    ({"gamma": "measured"}, 'gamma must be "auto" or a number'),
    ({"gamma": 1e-6, "n_estimators": "auto"}, "gamma=1e-06 must be larger"),
    ({"delta": -1.0}, "delta must be at least 0"),
    ({"delta": np.inf}, "delta must be finite"),
    ({"delta": "small"}, 'delta must be "auto" or a number'),
    ({"delta": 1e-9}, r"estimator is correct on .*larger delta"),
    ({"target_error": 0}, "target_error must be greater than 0"),
    ({"target_error": 0.5}, "target_error must be below 0.5"),
    ({"sampling": "filter"}, "sampling must be one of"),
    (
        {"estimator": KNeighborsRegressor(), "sampling": "weight"},
        "sampling='resample'",
    ),
    ({"n_samples_weak": 0}, "n_samples_weak"),
    ({"weak_failure": "ignore"}, "weak_failure must be one of"),
    ({"max_tries": 0}, "max_tries"),
    ({"verbose": -1}, "verbose"),
    ({"estimator": "tree"}, "estimator must be None or a regressor"),
    ({"estimator": DecisionTreeRegressor}, "estimator must be None or a regressor"),
    ({"estimator": StandardScaler()}, "estimator must be None or a regressor"),
    ({"estimator": LogisticRegression()}, r"estimator must be a regressor.*classifier"),
    ({"estimator": KNeighborsRegressor(metric="precomputed")}, "must take features"),
    ({"estimator": Wild()}, "estimator must predict one finite number"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD)
def test_bad_parameter_is_named_and_the_model_kept(parameters, message):
    X, y = friedman()
    model = make_regressor(TREE, n_estimators=5, target_error=0.3).fit(X, y)
    before, state = model.predict(X), set(vars(model))
    old = model.get_params(deep=False)
    model.set_params(**scheduled(parameters))
    with pytest.raises(ValueError, match=message):
        model.fit(X[:, :3], y)
    model.set_params(**old)
    np.testing.assert_array_equal(model.predict(X), before)
    assert set(vars(model)) == state


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(120), "sample_weight must have a positive entry"),
        (-np.ones(120), "at least 0"),
        (np.full(120, np.nan), "sample_weight"),
        (np.ones(3), "sample_weight must have shape"),
        (np.full(120, 1e308), "sample_weight"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        BoostByMajorityRegressor().fit(*friedman(), weights)


def test_unfitted_model_and_bad_rows_are_refused():
    X, y = friedman()
    model = make_regressor(n_estimators=3, target_error=0.3)
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        next(model.staged_predict(X))
    model.fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="features"):
        next(model.staged_predict(X[:, :2]))
    with pytest.raises(ValueError, match=r"infinity|NaN"):
        model.fit(X, np.where(y > 20, np.inf, y))


def test_any_regressor_will_do():
    X, y = friedman(60)
    base = GaussianProcessRegressor(alpha=1.0, optimizer=None)
    model = make_regressor(base, n_estimators=5, target_error=0.3)
    assert model.fit(X, y).score(X, y) > 0.5


@pytest.mark.parametrize(("n_features", "tried"), [(32, None), (40, 32), (120, 40)])
def test_splits_of_default_tree_look_at_a_third_of_many_features(n_features, tried):
    X = np.random.default_rng(0).integers(0, 2, (60, n_features)).astype(float)
    model = make_regressor(n_estimators=3, target_error=0.3, random_state=0)
    tree = model.fit(X, X[:, 0] + 2 * X[:, 1]).estimators_[0]
    assert (tree.criterion, tree.max_depth) == ("absolute_error", 7)
    assert tree.max_features == tried
