from copy import deepcopy
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles.boosting import boost_row_by_row
from scipy import sparse
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB

from sklboolean import OnlineBoostByMajority
from sklboolean._core.calibration import fit_slope
from sklboolean.datasets import make_dnf, make_long_servedio, make_threshold


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


def state(model):
    """All that learning can change, as bytes and numbers."""
    names = ["estimator_edges_", "n_updates_", "n_mistakes_", "t_"]
    return [np.asarray(getattr(model, name)).tolist() for name in names]


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


@pytest.mark.parametrize("sampling", ["weight", "reject"])
@pytest.mark.parametrize("base", ["default", "weights", "seeds"])
def test_cutting_a_stream_changes_nothing(base, sampling):
    n = 50 if base == "default" else 20  # learners of scikit-learn take longer
    X, y = make_long_servedio(n, noise=0.2, random_state=1)
    weights = np.linspace(0.1, 2, n)
    models = []
    for ends in ([n], [7, n], range(1, n + 1)):
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
    assert first.t_ == n
    assert first.mistakes_per_epoch_ == [first.n_mistakes_]


@pytest.mark.parametrize("sampling", ["weight", "reject"])
def test_long_parts_are_cut_without_a_trace(sampling, monkeypatch):
    X, y = make_long_servedio(60, noise=0.2, random_state=1)
    parameters = {"n_estimators": 31, "sampling": sampling, "random_state": 0}
    whole = OnlineBoostByMajority(**parameters).partial_fit(X, y, [0, 1])
    margins = whole.decision_function(X)
    for cells in (1, 31 * 7):
        monkeypatch.setattr(
            "sklboolean.boosting._online_boost_by_majority.BLOCK_CELLS", cells
        )
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
    counted = model._state.games[0].weights_shown[0]
    assert counted == int(counted)
    variance = n / 4 * (0.25 * 0.75 + 0.5 * 0.5)
    assert abs(counted - values.sum()) < 5 * np.sqrt(variance)
    shown = n / 4 * (0.25 + 1 + 1)
    assert abs(model.n_updates_[0] - shown) < 5 * np.sqrt(n / 4 * 0.25 * 0.75)
    again = deepcopy(model)
    assert_array_equal(
        again.partial_fit(X, y).n_updates_, model.partial_fit(X, y).n_updates_
    )


def error_of(model, X, y, n_train):
    model.fit(X[:n_train], y[:n_train])
    return 1 - model.score(X[n_train:], y[n_train:])


@pytest.mark.parametrize(
    "sampling", ["weight", pytest.param("reject", marks=pytest.mark.slow)]
)
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


@pytest.mark.slow
@pytest.mark.parametrize("base", ["default", "weights"])
def test_vote_is_better_than_its_base_on_a_majority(base):
    errors = []
    for seed in range(2):
        X, y, _ = make_threshold(2400, 30, n_relevant=15, noise=0.1, random_state=seed)
        errors.append(
            [
                error_of(
                    OnlineBoostByMajority(
                        BASES[base], n_estimators=n, batch_size=50, max_iter=3,
                        random_state=0,
                    ),
                    X, y, 1200,
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
    assert np.all(model._state.games[0].weights_shown == model.n_updates_)


@pytest.mark.slow
@pytest.mark.parametrize("base", ["default", "weights", "no weights"])
def test_several_classes_are_games_against_the_rest(base):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400 if base == "default" else 60, 9))
    labels = np.array(["a", "b", "c"])
    y = labels[X[:, :3].argmax(axis=1)]
    options = {"n_estimators": 5, "batch_size": 10, "random_state": 0}
    model = OnlineBoostByMajority(BASES[base], **options)
    model.partial_fit(X, y, classes=labels)
    margins = model.decision_function(X)
    assert margins.shape == (len(X), 3)
    assert_array_equal(model.predict(X), labels[margins.argmax(axis=1)])
    assert model.n_updates_.shape == model.estimator_edges_.shape == (3, 5)
    if base != "no weights":  # else samples are drawn by a seed of each game
        for code, label in enumerate(labels):
            alone = OnlineBoostByMajority(BASES[base], **options)
            alone.partial_fit(X, y == label, classes=[False, True])
            assert_array_equal(alone.decision_function(X), margins[:, code])
    whole = OnlineBoostByMajority(BASES[base], max_iter=5, **options).fit(X, y)
    assert base != "default" or whole.score(X, y) > 0.95  # too few samples for others
    shares = whole.predict_proba(X)
    assert_allclose(shares.sum(axis=1), 1)
    assert_array_equal(labels[shares.argmax(axis=1)], whole.predict(X))


def test_mistakes_of_several_classes_are_counted_before_learning():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (60, 6))
    y = X[:, :3].argmax(axis=1)
    model = OnlineBoostByMajority(n_estimators=3)
    n_mistakes = 0
    for i in range(60):
        row, own = X[i : i + 1], y[i]
        if i == 0:
            n_mistakes += 1  # nobody votes
        else:
            margins = model.decision_function(row)[0]
            n_mistakes += not (np.delete(margins, own) < margins[own]).all()
        model.partial_fit(row, y[i : i + 1], classes=[0, 1, 2])
        assert model.n_mistakes_ == n_mistakes


@pytest.mark.parametrize("base", ["default", "weights"])
def test_sample_and_class_weights_are_factors_of_updates(base):
    X, y = make_long_servedio(100, noise=0.2, random_state=0)
    weights = np.random.default_rng(0).integers(0, 4, 100) / 2
    options = {"n_estimators": 5, "max_iter": 2, "batch_size": 10, "random_state": 0}
    model = OnlineBoostByMajority(BASES[base], **options).fit(X, y, weights)
    kept = weights > 0
    fewer = OnlineBoostByMajority(BASES[base], **options)
    fewer.fit(X[kept], y[kept], weights[kept])
    assert_array_equal(fewer.decision_function(X), model.decision_function(X))
    assert fewer.calibration_slope_ == model.calibration_slope_
    by_class = OnlineBoostByMajority(
        BASES[base], class_weight={0: 1.0, 1: 3.0}, **options
    )
    factors = np.where(y == 1, 3.0, 1.0)
    plain = OnlineBoostByMajority(BASES[base], **options)
    plain.partial_fit(X, y, [0, 1], sample_weight=weights * factors)
    by_class.partial_fit(X, y, [0, 1], sample_weight=weights)
    assert_array_equal(by_class.decision_function(X), plain.decision_function(X))
    plain.fit(X, y, weights * factors), by_class.fit(X, y, weights)
    assert_array_equal(by_class.decision_function(X), plain.decision_function(X))
    balanced = OnlineBoostByMajority(class_weight="balanced", **options)
    assert np.isfinite(balanced.fit(X, y).decision_function(X)).all()
    with pytest.raises(ValueError, match=r"^class_weight='balanced' needs all labels"):
        balanced.partial_fit(X, y)


def test_probabilities_of_a_stream_come_from_margins_before_learning():
    X, y = make_long_servedio(1500, noise=0.2, random_state=0)
    model = OnlineBoostByMajority(n_estimators=11, random_state=0)
    margins = []
    for i in range(0, 1500, 50):
        part = slice(i, i + 50)
        if i:
            margins.append(model.decision_function(X[part]))
        for j in range(i, i + 50):
            model.partial_fit(X[j : j + 1], y[j : j + 1], [0, 1])
    held, codes, weights = model._state.held_out
    assert len(held) == len(codes) == len(weights) == 1000
    assert_array_equal(codes, y[500:])
    assert model.calibration_slope_ == fit_slope(held, codes, weights)
    whole = OnlineBoostByMajority(n_estimators=11, random_state=0)
    whole.partial_fit(X, y, [0, 1])
    assert_array_equal(whole.predict_proba(X), model.predict_proba(X))
    # The first sample of a part is scored by the same learners.
    assert_array_equal(held[::50], np.stack(margins)[9:, 0])


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


def test_progress_is_shown_when_asked_for(capsys):
    X, y = make_long_servedio(50, noise=0.2, random_state=0)
    OnlineBoostByMajority(n_estimators=3, max_iter=2).fit(X, y)
    assert capsys.readouterr().out == ""
    model = OnlineBoostByMajority(n_estimators=3, max_iter=2, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    mistakes = model.mistakes_per_epoch_[1]
    assert lines[1].startswith("[OnlineBoostByMajority] epoch 2 of 2, ")
    assert lines[1].endswith(f" s: {mistakes} mistakes")
