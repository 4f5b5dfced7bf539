import pickle
from copy import deepcopy
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles_online_boosting import Perceptron, boost_row_by_row, relative_weight
from scipy import sparse
from sklearn.linear_model import Perceptron as PlainPerceptron
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

from sklboolean import OnlineBoostByMajority
from sklboolean.boosting.game import majority_weights
from sklboolean.boosting.online_game import OnlineGame, relative_weights
from sklboolean.boosting.online_learners import BitPerceptron
from sklboolean.datasets import make_dnf, make_long_servedio, make_threshold

edges = st.fractions(Fraction(1, 100), Fraction(49, 100), max_denominator=100)
odd = st.integers(0, 4).map(lambda half: 2 * half + 1)


class Unweighted(BernoulliNB):
    """A learner whose partial_fit takes no weights."""

    def partial_fit(self, X, y, classes=None):
        return super().partial_fit(X, y, classes)


BASES = {
    "default": None,
    "weights": BernoulliNB(),
    "seeds": SGDClassifier(loss="log_loss"),
    "no weights": Unweighted(),
}


# The game


class Scripted:
    """A learner whose votes are given; it keeps the weights that it is shown."""

    def __init__(self, votes):
        self.votes_to_come, self.weights = votes, []

    def vote_and_learn(self, rows, signs, weights):
        self.weights.extend(weights.tolist())
        votes, self.votes_to_come = np.split(self.votes_to_come, [len(rows)])
        return votes


@settings(deadline=None)
@given(odd, edges)
def test_weights_are_chances_that_the_vote_decides(k, gamma):
    for i in range(k):
        expected = [float(relative_weight(k, i, r, gamma)) for r in range(i + 1)]
        weights = relative_weights(k, i, float(gamma), np.arange(i + 1))
        assert_allclose(weights, expected, rtol=1e-12)


@settings(deadline=None)
@given(odd, edges, st.integers(1, 12), st.data())
def test_every_row_meets_the_weights_of_its_own_game(k, gamma, n_rows, data):
    vote = st.integers(-1, 1)
    votes = data.draw(
        st.lists(
            st.lists(vote, min_size=n_rows, max_size=n_rows), min_size=k, max_size=k
        )
    )
    votes = np.array(votes, dtype=np.int8)
    signs = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n_rows,
                                        max_size=n_rows)), dtype=np.int8)  # fmt: skip
    values = np.arange(1.0, n_rows + 1)
    learners = [Scripted(row) for row in votes]
    game = OnlineGame(learners, float(gamma), None)
    cut = data.draw(st.integers(0, n_rows))
    for part in (slice(0, cut), slice(cut, n_rows)):
        game.learn(np.zeros((len(signs[part]), 1)), signs[part], values[part])
    expected = np.zeros((n_rows, k))
    for t in range(n_rows):
        right = 0
        for i in range(k):
            expected[t, i] = values[t] * float(relative_weight(k, i, right, gamma))
            right += votes[i, t] == signs[t]  # an abstention is an error
    shown = np.array([learner.weights for learner in learners]).T
    assert_allclose(shown, expected, rtol=1e-12)
    hits = votes.T == signs[:, np.newaxis]
    assert game.n_mistakes == np.count_nonzero(2 * hits.sum(axis=1) < k)
    assert game.n_rows == n_rows
    assert_array_equal(game.n_shown, np.count_nonzero(expected, axis=0))
    totals = expected.sum(axis=0)
    shares = np.divide((expected * hits).sum(axis=0), totals, where=totals > 0,
                       out=np.full(k, 0.5))  # fmt: skip
    assert_allclose(game.edges(), shares - 0.5, atol=1e-12)


@pytest.mark.parametrize("gamma", [1e-6, 0.02, 0.3, 0.499999])
@pytest.mark.parametrize("k", [63, 1001, 10_001])
def test_weights_stay_numbers_for_many_learners(k, gamma):
    for i in (0, 1, k // 3, k // 2, k - 2, k - 1):
        states = np.arange(i + 1)
        weights = relative_weights(k, i, gamma, states)
        assert np.isfinite(weights).all()
        assert weights.min() >= 0
        assert weights.max() == 1.0
        logs = majority_weights(k, i, gamma, log=True)
        assert_allclose(weights, np.exp(logs - logs.max()), rtol=1e-9)


def test_binomial_of_sixty_three_learners_is_no_integer_overflow():
    """C(62, 31) times 31 exceeds 2**63; exact fractions tell what is right."""
    k, gamma = 63, Fraction(1, 10)
    p, q = Fraction(3, 5), Fraction(2, 5)
    chances = []
    for r in range(2):
        missing, n_left = k // 2 - r, k - 2
        binomial = Fraction(1)
        for step in range(missing):
            binomial = binomial * (n_left - step) / (step + 1)
        chances.append(binomial * p**missing * q ** (n_left - missing))
    expected = [float(chance / max(chances)) for chance in chances]
    weights = relative_weights(k, 1, float(gamma), np.arange(2))
    assert_allclose(weights, expected, rtol=1e-12)


# The default learner


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(1, 25), st.integers(0, 2**32 - 1))
def test_bit_perceptron_is_the_averaged_perceptron(n_features, n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, n_features))
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), n_rows)
    weights = rng.integers(0, 4, n_rows) / 4  # exact in binary, so that ties are ties
    learner, oracle = BitPerceptron(n_features), Perceptron(n_features + 1)
    ((_, rows),) = learner.parts(X, 1, n_rows)
    assert_array_equal(rows, np.hstack([2 * X - 1, np.ones((n_rows, 1))]))
    votes = learner.vote_and_learn(rows, signs, weights)
    expected = []
    for row, sign, weight in zip(rows.tolist(), signs, weights, strict=True):
        expected.append(oracle.vote(row))
        oracle.learn(row, int(sign), Fraction(weight))
    assert_array_equal(votes, expected)
    assert_array_equal(learner.votes(rows), [oracle.vote(row) for row in rows.tolist()])
    average = np.array(oracle.total, dtype=float) / max(weights.sum(), 1e-300)
    assert_allclose([*learner.coef_, learner.intercept_], average, atol=1e-12)


# The estimator


def test_rows_pass_through_learners_of_scikit_learn_one_by_one():
    X, y = make_long_servedio(60, noise=0.1, random_state=0)
    signs = 2 * y - 1
    learners = [BernoulliNB() for _ in range(7)]
    counts = boost_row_by_row(learners, X, signs, Fraction(1, 8))
    model = OnlineBoostByMajority(BernoulliNB(), n_estimators=7, gamma=0.125)
    model.partial_fit(X, signs, classes=[-1, 1])
    assert model.n_mistakes_ == sum(2 * right < 7 for right in counts)
    for one, other in zip(model.estimators_, learners, strict=True):
        assert_allclose(one.feature_count_, other.feature_count_, rtol=1e-12)
    votes = sum(learner.predict(X) for learner in learners)
    assert_allclose(model.decision_function(X), votes / 7)


def state(model):
    """All that learning can change, as bytes and numbers."""
    names = ["estimator_edges_", "n_updates_", "n_mistakes_", "t_"]
    return [np.asarray(getattr(model, name)).tolist() for name in names]


@pytest.mark.parametrize("sampling", ["weight", "reject"])
@pytest.mark.parametrize("base", ["default", "weights", "seeds"])
def test_cutting_a_stream_changes_nothing(base, sampling):
    X, y = make_long_servedio(50, noise=0.2, random_state=1)
    weights = np.linspace(0.1, 2, 50)
    models = []
    for ends in ([50], [21, 50], range(1, 51)):
        model = OnlineBoostByMajority(
            BASES[base], n_estimators=7, gamma=0.1, sampling=sampling, random_state=3
        )
        start = 0
        for end in ends:
            part = slice(start, end)
            model.partial_fit(X[part], y[part], [0, 1], sample_weight=weights[part])
            start = end
        models.append(model)
    first = models[0]
    for other in models[1:]:
        assert state(other) == state(first)
        assert_array_equal(other.decision_function(X), first.decision_function(X))
    assert first.t_ == 50
    assert first.mistakes_per_epoch_ == [first.n_mistakes_]


@pytest.mark.parametrize("sampling", ["weight", "reject"])
def test_long_parts_are_cut_without_a_trace(sampling, monkeypatch):
    X, y = make_long_servedio(60, noise=0.2, random_state=1)
    parameters = {"n_estimators": 31, "sampling": sampling, "random_state": 0}
    whole = OnlineBoostByMajority(**parameters).partial_fit(X, y, [0, 1])
    margins = whole.decision_function(X)
    for cells in (1, 31 * 7):
        monkeypatch.setattr("sklboolean.boosting.online_game.BLOCK_CELLS", cells)
        cut = OnlineBoostByMajority(**parameters).partial_fit(X, y, [0, 1])
        assert state(cut) == state(whole)
        assert_array_equal(cut.decision_function(X), margins)


def test_batches_are_the_algorithm_but_for_rows_that_share_one():
    X, y = make_long_servedio(64, random_state=2)
    parameters = {"n_estimators": 5, "gamma": 0.1}
    batched = OnlineBoostByMajority(BernoulliNB(), batch_size=16, **parameters)
    whole = deepcopy(batched).partial_fit(X, y, [0, 1])
    for part in (slice(0, 16), slice(16, 48), slice(48, 64)):
        batched.partial_fit(X[part], y[part], [0, 1])
    assert state(batched) == state(whole)
    default = OnlineBoostByMajority(batch_size=16, **parameters)
    exact = OnlineBoostByMajority(**parameters).partial_fit(X, y, [0, 1])
    assert state(default.partial_fit(X, y, [0, 1])) == state(exact)


@pytest.mark.parametrize("base", ["default", "weights"])
def test_rejection_shows_rows_as_often_as_weights_say(base):
    """Learner 0 has one state: its rows are shown sample_weight times on average."""
    n = 4000
    X, y = make_long_servedio(n, random_state=3)
    values = np.tile([0.25, 1.0, 2.5, 0.0], n // 4)
    model = OnlineBoostByMajority(
        BASES[base], n_estimators=3, gamma=0.1, sampling="reject", random_state=0,
        batch_size=100,
    )  # fmt: skip
    model.partial_fit(X, y, [0, 1], sample_weight=values)
    counted = model._game.weights_shown[0]
    assert counted == int(counted)
    variance = n / 4 * (0.25 * 0.75 + 0.5 * 0.5)
    assert abs(counted - values.sum()) < 5 * np.sqrt(variance)
    shown = n / 4 * (0.25 + 1 + 1)
    assert abs(model.n_updates_[0] - shown) < 5 * np.sqrt(n / 4 * 0.25 * 0.75)
    again = deepcopy(model)
    assert_array_equal(
        again.partial_fit(X, y).n_updates_, model.partial_fit(X, y).n_updates_
    )


def test_rejection_frequencies_of_every_learner():
    """Given the votes, the number of rows shown is a sum of independent coins."""
    rng = np.random.default_rng(0)
    k, n, gamma = 9, 20_000, 0.1
    votes = rng.choice(np.array([-1, 1], dtype=np.int8), (k, n))
    signs = np.ones(n, dtype=np.int8)
    learners = [Scripted(row) for row in votes]
    game = OnlineGame(learners, gamma, seed=1)
    game.learn(np.zeros((n, 1)), signs, np.ones(n))
    right = np.cumsum(votes > 0, axis=0) - (votes > 0)
    for i in range(k):
        p = relative_weights(k, i, gamma, right[i])
        assert set(learners[i].weights) <= {0.0, 1.0}
        spread = np.sqrt((p * (1 - p)).sum()) + 1e-9
        assert abs(game.n_shown[i] - p.sum()) < 5 * spread


def error_of(model, X, y, n_train):
    model.fit(X[:n_train], y[:n_train])
    return 1 - model.score(X[n_train:], y[n_train:])


@pytest.mark.parametrize("sampling", ["weight", "reject"])
def test_vote_is_right_where_noise_defeats_its_base(sampling):
    errors = []
    for seed in range(3):
        X, y = make_long_servedio(1000, noise=0.2, random_state=100 + seed)
        test_X, test_y = make_long_servedio(2000, random_state=seed)
        X, y = np.vstack([X, test_X]), np.append(y, test_y)
        errors.append(
            [
                error_of(
                    OnlineBoostByMajority(
                        n_estimators=n, sampling=sampling, random_state=seed
                    ),
                    X, y, 1000,
                )
                for n in (1, 51)
            ]
        )  # fmt: skip
    alone, vote = np.mean(errors, axis=0)
    assert alone > 0.2
    assert vote < 0.06


@pytest.mark.parametrize("base", ["default", "weights"])
def test_vote_is_better_than_its_base_on_a_majority(base):
    errors = []
    for seed in range(2):
        X, y, _ = make_threshold(3000, 30, n_relevant=15, noise=0.1, random_state=seed)
        errors.append(
            [
                error_of(
                    OnlineBoostByMajority(
                        BASES[base], n_estimators=n, batch_size=50, max_iter=3,
                        random_state=0,
                    ),
                    X, y, 1500,
                )
                for n in (1, 11)
            ]
        )  # fmt: skip
    alone, vote = np.mean(errors, axis=0)
    assert vote < alone - 0.005


def test_clean_rows_end_training_early():
    X, y = make_long_servedio(500, random_state=0)
    model = OnlineBoostByMajority(n_estimators=5, max_iter=100, random_state=0)
    model.fit(X, y)
    assert model.mistakes_per_epoch_[-1] == 0
    assert model.n_iter_ == len(model.mistakes_per_epoch_) < 100
    assert model.t_ == 500 * model.n_iter_
    assert model.score(X, y) == 1.0


def test_stream_goes_on_after_fit():
    X, y = make_long_servedio(300, noise=0.1, random_state=0)
    model = OnlineBoostByMajority(n_estimators=5, max_iter=3, random_state=0)
    epochs = model.fit(X, y).mistakes_per_epoch_
    model.partial_fit(X[:100], y[:100])
    assert model.mistakes_per_epoch_[:2] == epochs[:2]
    assert model.mistakes_per_epoch_[2] >= epochs[2]
    assert model.n_mistakes_ == sum(model.mistakes_per_epoch_)
    assert model.t_ == 1000


def test_many_learners():
    X, y = make_long_servedio(40, random_state=0)
    model = OnlineBoostByMajority(n_estimators=10_001, gamma=0.01, max_iter=2)
    model.fit(X, y)
    margins = model.decision_function(X)
    assert np.isfinite(margins).all()
    assert np.abs(margins).max() <= 1
    assert np.isfinite(model.estimator_edges_).all()


@pytest.mark.parametrize("base", BASES)
def test_margins_are_means_of_votes_and_labels_their_signs(base):
    X, y, _ = make_dnf(60, 8, random_state=0)
    labels = np.array(["no", "yes"])[y]
    model = OnlineBoostByMajority(
        BASES[base], n_estimators=5, max_iter=2, batch_size=10, random_state=0
    ).fit(X, labels)
    margins = model.decision_function(X)
    if base == "default":
        rows = 2.0 * X - 1
        scores = np.array([rows @ e.coef_ + e.intercept_ for e in model.estimators_])
        votes = np.where(np.abs(scores) < 1e-9, 0, np.sign(scores))
    else:
        votes = np.array(
            [np.where(e.predict(X) == "yes", 1, -1) for e in model.estimators_]
        )
        seen = model.n_updates_ > 0
        votes[~seen] = 0
    assert_allclose(margins, votes.mean(axis=0), atol=1e-12)
    assert_array_equal(model.predict(X), np.where(margins > 0, "yes", "no"))


@pytest.mark.parametrize("base", ["default", "weights"])
def test_representations_of_the_rows_give_the_same_model(base):
    X, y = make_long_servedio(80, noise=0.1, random_state=0)
    tables = [
        X, X.astype(bool), X.astype(float), X.tolist(), np.asfortranarray(X),
        sparse.csr_array(X), sparse.csc_matrix(X), sparse.coo_array(X),
    ]  # fmt: skip
    models = [
        OnlineBoostByMajority(
            BASES[base], n_estimators=5, max_iter=2, batch_size=20, random_state=0
        ).fit(table, y)
        for table in tables
    ]
    for table, model in zip(tables, models, strict=True):
        assert state(model) == state(models[0])
        assert_array_equal(
            model.decision_function(table), models[0].decision_function(X)
        )


def test_same_seed_same_model_and_copies_have_seeds_of_their_own():
    X, y = make_long_servedio(100, noise=0.2, random_state=0)
    base = SGDClassifier(loss="log_loss")
    models = [
        OnlineBoostByMajority(
            base, n_estimators=3, max_iter=2, batch_size=10, random_state=seed
        ).fit(X, y)
        for seed in (0, np.random.RandomState(0), 1)
    ]
    assert state(models[0]) == state(models[1])
    assert state(models[0]) != state(models[2])
    seeds = {estimator.random_state for estimator in models[0].estimators_}
    assert len(seeds) == 3
    assert base.random_state is None


def test_rows_are_shown_by_chance_where_partial_fit_takes_no_weights():
    X, y = make_long_servedio(200, random_state=0)
    model = OnlineBoostByMajority(
        BASES["no weights"], n_estimators=3, gamma=0.1, batch_size=20, random_state=0
    ).partial_fit(X, y, [0, 1])
    assert 0 < model.n_updates_[2] < 200
    assert np.all(model._game.weights_shown == model.n_updates_)


def test_several_labels_go_through_one_vs_rest():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 9))
    y = X[:, :3].argmax(axis=1)
    with pytest.raises(ValueError, match="Only binary classification"):
        OnlineBoostByMajority().fit(X, y)
    with pytest.raises(ValueError, match="Only binary classification"):
        OnlineBoostByMajority().partial_fit(X, y, [0, 1, 2])
    with pytest.raises(ValueError, match="Only binary classification"):
        OnlineBoostByMajority().partial_fit(X, y > 0, [0, 1, 2])
    model = OneVsRestClassifier(OnlineBoostByMajority(n_estimators=5, random_state=0))
    assert model.fit(X, y).score(X, y) == 1.0
    model = OneVsRestClassifier(OnlineBoostByMajority(n_estimators=5, random_state=0))
    for _ in range(5):
        model.partial_fit(X, y, classes=[0, 1, 2])
    assert model.score(X, y) > 0.95


def test_learners_that_were_shown_nothing_abstain():
    X = np.array([[0, 1], [0, 0]])
    for base in (None, BernoulliNB()):
        model = OnlineBoostByMajority(base, n_estimators=5)
        model.partial_fit(X[:1], ["no"], classes=["no", "yes"])
        # Three misses in a row lose the game: nothing is left to decide.
        assert_array_equal(model.n_updates_, [1, 1, 1, 0, 0])
        assert model.decision_function(X[:1]) == [-3 / 5]
        assert model.predict(X[:1]) == ["no"]
        assert_array_equal(model.estimator_edges_, [-0.5, -0.5, -0.5, 0, 0])


@pytest.mark.parametrize("base", ["default", "weights"])
def test_models_survive_pickling_and_learn_on(base):
    X, y = make_long_servedio(100, random_state=0)
    model = OnlineBoostByMajority(BASES[base], n_estimators=5, batch_size=10)
    model.partial_fit(X, y, [0, 1])
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert state(again.partial_fit(X, y)) == state(model.partial_fit(X, y))
    assert again.estimators_[0] is again._game.learners[0].estimator


def test_progress_is_shown_when_asked_for(capsys):
    X, y = make_long_servedio(50, noise=0.2, random_state=0)
    OnlineBoostByMajority(n_estimators=3, max_iter=2).fit(X, y)
    assert capsys.readouterr().out == ""
    model = OnlineBoostByMajority(n_estimators=3, max_iter=2, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    mistakes = model.mistakes_per_epoch_[1]
    assert lines[1] == (
        f"[OnlineBoostByMajority] epoch 2: {mistakes} mistakes on 50 rows"
    )


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": 0}, r"^gamma must be above 0 and below 0\.5"),
        ({"gamma": 0.5}, r"^gamma must be above 0 and below 0\.5"),
        ({"gamma": np.nan}, r"^gamma must be finite"),
        ({"n_estimators": 0}, r"^n_estimators == 0"),
        ({"n_estimators": 100}, r"^n_estimators must be odd.*got 100, use 101"),
        ({"sampling": "resample"}, r"^sampling must be one of"),
        ({"batch_size": 0}, r"^batch_size == 0"),
        ({"max_iter": 0}, r"^max_iter == 0"),
        ({"estimator": DecisionTreeClassifier()}, r"^estimator must have partial_fit"),
        (
            {"estimator": Unweighted(), "sampling": "weight"},
            r"^sampling='weight' needs an estimator whose partial_fit takes",
        ),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = make_long_servedio(20, random_state=0)
    with pytest.raises(ValueError, match=message):
        OnlineBoostByMajority(**parameters).fit(X, y)
    if "max_iter" not in parameters:
        with pytest.raises(ValueError, match=message):
            OnlineBoostByMajority(**parameters).partial_fit(X, y, [0, 1])


class Failing(BernoulliNB):
    """Fails on the first batch that holds a row of ones."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if X.all(axis=1).any():
            raise RuntimeError("no more")
        return super().partial_fit(X, y, classes, sample_weight)


@pytest.mark.parametrize("base", [None, BernoulliNB(), PlainPerceptron(), Failing()])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_errors_leave_the_model_as_it_was(base):
    X, y = make_long_servedio(50, random_state=0)
    X, y = X[~X.all(axis=1)], y[~X.all(axis=1)]
    model = OnlineBoostByMajority(base, n_estimators=5, batch_size=7, random_state=0)
    model.partial_fit(X, y, [0, 1])
    before = pickle.dumps(model)
    bad = [
        ((X, y + 1), r"y holds the label 2, which is not among the classes"),
        ((X[:, :5], y), r"X has 5 features"),
        ((X[:3], y), r"inconsistent numbers of samples"),
        ((np.where(X, np.nan, 0), y), "NaN"),
        ((X, y, [0, 2]), r"classes=\[0, 2\] is not the same"),
        ((X, y, None, -np.ones(len(X))), r"sample_weight\[0\] is -1"),
        ((X, y, None, np.zeros(len(X))), r"All of sample_weight is zero"),
        ((X, y, None, np.ones(3)), r"sample_weight must have shape"),
    ]
    if isinstance(base, Failing):
        X_ones = np.vstack([X, np.ones((1, 21), dtype=np.uint8)])
        with pytest.raises(RuntimeError, match="no more"):
            model.partial_fit(X_ones, np.append(y, 1))
        assert pickle.dumps(model) == before
    for arguments, message in bad:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*arguments)
        assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="only one class"):
        model.fit(X, np.ones(len(X)))
    assert pickle.dumps(model) == before


def test_first_call_needs_both_classes():
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        OnlineBoostByMajority().partial_fit([[0, 1]], [1])
    with pytest.raises(ValueError, match="classes holds only one class"):
        OnlineBoostByMajority().partial_fit([[0, 1]], [1], classes=[1])
