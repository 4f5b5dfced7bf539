"""FilteringBoostByMajority: one model however the stream is cut, harmless errors."""

import pickle
import warnings

import numpy as np
import pytest
from boosting_cases import scheduled
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

from sklboolean import BooleanStump, ConjunctionStump, FilteringBoostByMajority
from sklboolean.boosting import FilteringSchedule
from sklboolean.theory import min_rounds


def rows(n, seed=1):
    X = np.random.default_rng(seed).integers(0, 2, (n, 12)).astype(np.uint8)
    return X, np.where(X[:, :5].sum(axis=1) > 2, "yes", "no")


def cut(X, y, size):
    for first in range(0, len(y), size):
        yield X[first : first + size], y[first : first + size]


@pytest.fixture(scope="module")
def booster():
    return FilteringBoostByMajority(
        schedule=FilteringSchedule(gamma=0.2, target_error=0.1), random_state=0
    )


def test_stream_is_learned_and_read_no_further_than_needed(booster):
    X, y = rows(200_000)
    chunks = cut(X, y, 1000)
    booster.fit_stream(chunks)
    assert booster.termination_condition_ == "all_rounds"
    assert booster.n_rounds_ == booster.k_
    assert len(booster.estimators_) == booster.k_ - booster.n_aborted_
    assert next(chunks, None) is not None
    X, y = rows(2000, seed=2)
    assert booster.score(X, y) > 0.9
    *_, last = booster.staged_decision_function(X)
    np.testing.assert_array_equal(last, booster.decision_function(X))


def test_model_does_not_depend_on_how_the_stream_is_cut(booster):
    X, y = rows(80_000)
    whole = booster.fit_stream([(X, y)])
    expected = whole.decision_function(X[:500])
    seen = whole.n_seen_
    for size, layout in ((777, np.asarray), (5000, sparse.csr_array)):
        parts = FilteringBoostByMajority(
            schedule=FilteringSchedule(gamma=0.2, target_error=0.1), random_state=0
        )
        for part, labels in cut(X, y, size):
            parts.partial_fit(layout(part), labels, classes=["no", "yes"])
            parts = pickle.loads(pickle.dumps(parts))
            if parts.termination_condition_:
                break
        np.testing.assert_array_equal(parts.n_seen_, seen)
        np.testing.assert_array_equal(parts.decision_function(X[:500]), expected)
    for n_jobs in (1, 2):
        jobs = FilteringBoostByMajority(
            schedule=FilteringSchedule(gamma=0.2, target_error=0.1),
            random_state=0,
            n_jobs=n_jobs,
        ).fit_stream(cut(X, y, 3000))
        np.testing.assert_array_equal(jobs.decision_function(X[:500]), expected)


def test_stream_that_ends_early_says_so():
    X, y = rows(1500)
    booster = FilteringBoostByMajority(
        schedule=FilteringSchedule(gamma=0.1, target_error=0.01), random_state=0
    )
    # In practice the rounds are planned for half the error.
    k = min_rounds(gamma=0.1, error=0.005)
    with pytest.warns(
        UserWarning, match=rf"The stream ended in round \d+ of {k}:"
    ) as caught:
        booster.fit_stream(cut(X, y, 500))
    assert caught[0].filename == __file__
    assert booster.termination_condition_ == "stream_exhausted"
    assert booster.score(X, y) > 0.6


def test_first_part_makes_a_model_and_later_ones_the_game():
    X, y = rows(3000)
    booster = FilteringBoostByMajority(
        BernoulliNB(), schedule=FilteringSchedule(gamma=0.1), random_state=0
    )
    booster.partial_fit(X[:5], y[:5], classes=["no", "yes"])
    assert booster.n_rounds_ == 0
    assert len(booster.estimators_) == 1
    booster.partial_fit(X[5:], y[5:])
    assert booster.n_rounds_ > 2
    assert booster.n_seen_.sum() == 3000
    np.testing.assert_array_equal(
        booster.n_seen_, booster.n_accepted_ + booster.n_rejected_
    )


def test_fit_draws_samples_until_all_rounds_are_over():
    X, y = rows(400)
    booster = FilteringBoostByMajority(
        schedule=FilteringSchedule(gamma=0.15), random_state=0
    ).fit(X, y)
    assert booster.termination_condition_ == "all_rounds"
    assert booster.n_rounds_ == booster.k_ == min_rounds(gamma=0.15, error=0.05)
    assert booster.score(X, y) > 0.9
    again = FilteringBoostByMajority(
        schedule=FilteringSchedule(gamma=0.15), n_jobs=2, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(again.n_seen_, booster.n_seen_)


def test_fit_draws_samples_in_proportion_to_their_weights():
    X, y = rows(400)
    weights = np.where(X[:, 0] == 1, 1e-300, 1.0)
    booster = FilteringBoostByMajority(
        schedule=FilteringSchedule(gamma=0.2), random_state=0
    )
    booster.fit(X, np.where(X[:, 0] == 1, "no", y), weights)
    # The labels of samples with almost no weight have almost no effect.
    few = weights == 1.0
    assert booster.score(X[few], y[few]) > 0.9
    with pytest.raises(ValueError, match="sample_weight"):
        booster.fit(X, y, -weights)


@pytest.mark.parametrize("estimator", [BooleanStump(), ConjunctionStump()])
def test_columns_are_judged_on_all_samples_and_not_on_a_batch(estimator):
    booster = FilteringBoostByMajority(
        estimator, schedule=FilteringSchedule(gamma=0.2), random_state=0
    )
    # One zero in a column: most batches do not hold it.
    X = np.arange(1, 1001)[:, np.newaxis]
    X[0] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        booster.fit(X, X[:, 0] > 900)
    # Twenty samples are too few to refuse, however many copies are drawn of them.
    with pytest.warns(UserWarning, match=r"Column 0 is above binarize=0\.0") as caught:
        booster.fit(X[1:21], X[1:21, 0] > 15)
    assert caught[0].filename == __file__
    for fit in (booster.fit, lambda X, y: booster.fit_stream([(X, y)])):
        with pytest.raises(ValueError, match="No column is left to learn from"):
            fit(X[1:], X[1:, 0] > 900)


def test_fit_ends_a_stream():
    X, y = rows(400)
    booster = FilteringBoostByMajority(
        schedule=FilteringSchedule(gamma=0.2), random_state=0
    )
    booster.partial_fit(X, y, classes=["no", "yes"]).fit(X, y)
    assert booster.n_seen_.sum() > 400
    booster.partial_fit(X, y, classes=["no", "yes"])
    assert booster.n_seen_.sum() == 400


class Wrong(ClassifierMixin, BaseEstimator):
    """Predicts the label that it was not given."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(X[:, 0] == 1, *self.classes_)


def test_no_edge_is_a_warning_at_the_caller():
    X = np.tile([[0, 1], [1, 1]], (50, 1))
    booster = FilteringBoostByMajority(
        Wrong(),
        schedule=FilteringSchedule(gamma=0.3, n_samples_weak=20),
        random_state=0,
    )
    with pytest.warns(UserWarning, match="No hypothesis had an edge") as caught:
        booster.fit(X, X[:, 0])
    assert caught[0].filename == __file__
    assert booster.termination_condition_ == "no_edge"
    assert booster.estimators_ == []
    assert np.isin(booster.predict(X), [0, 1]).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mode": "half"}, "mode must be one of"),
        ({"delta": 0.0}, "delta must be greater than 0"),
        ({"weak_learner_success_rate": 2.0}, "weak_learner_success_rate"),
        ({"gamma": 0.6}, "gamma must be above 0 and below 0.5"),
        ({"weak_failure": "replan"}, "weak_failure must be one of"),
        ({"estimator": Ridge()}, "estimator must be a classifier"),
    ],
)
def test_bad_parameter_is_named_and_nothing_is_forgotten(parameters, message):
    X, y = rows(300)
    booster = FilteringBoostByMajority(
        schedule=FilteringSchedule(gamma=0.2), random_state=0
    )
    booster.partial_fit(X, y, classes=["no", "yes"])
    before = booster.decision_function(X)
    good = booster.get_params()
    with pytest.raises((TypeError, ValueError), match=message):
        booster.set_params(**scheduled(parameters, FilteringSchedule)).fit_stream(
            [(X, y)]
        )
    booster.set_params(**good)
    np.testing.assert_array_equal(booster.decision_function(X), before)


def test_bad_rows_leave_the_stream_as_it_was():
    X, y = rows(600)
    booster = FilteringBoostByMajority(
        schedule=FilteringSchedule(gamma=0.2), random_state=0
    )
    booster.partial_fit(X[:300], y[:300], classes=["no", "yes"])
    clean = pickle.loads(pickle.dumps(booster)).partial_fit(X[300:], y[300:])
    with pytest.raises(ValueError, match="label 'perhaps'"):
        booster.partial_fit(X[:2], ["yes", "perhaps"])
    with pytest.raises(ValueError, match="11 features"):
        booster.partial_fit(X[:2, 1:], y[:2])
    with pytest.raises(ValueError, match="same as in the first call"):
        booster.partial_fit(X[:2], y[:2], classes=["no", "perhaps"])
    booster.partial_fit(X[300:], y[300:])
    np.testing.assert_array_equal(
        booster.decision_function(X), clean.decision_function(X)
    )
    with pytest.raises(ValueError, match="chunks is empty"):
        booster.fit_stream([])
    with pytest.raises(ValueError, match="classes holds only one class, 'no'"):
        booster.fit_stream([(X, y)], classes=["no"])
    with pytest.raises(ValueError, match="classes must be passed"):
        FilteringBoostByMajority().partial_fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_calibrated_on_samples_before_training_on_them(n_classes):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40_000, 8))
    y = X[:, :5].sum(axis=1) > 2 if n_classes == 2 else X[:, :3].argmax(axis=1)
    y = np.where(rng.random(len(y)) < 0.2, rng.integers(0, n_classes, len(y)), y)
    base = None if n_classes == 2 else DecisionTreeClassifier(max_depth=3)
    model = FilteringBoostByMajority(
        base,
        schedule=FilteringSchedule(gamma=0.1, target_error=0.3, n_samples_weak=100),
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit_stream([(X[:30_000], y[:30_000])])
        other = clone(model).fit_stream(cut(X[:30_000], y[:30_000], 700))
    assert other.calibration_slope_ == model.calibration_slope_
    shares = model.predict_proba(X[30_000:])
    prior = np.bincount(y[30_000:].astype(int)) / 10_000
    loss = log_loss(y[30_000:], shares)
    assert loss < 0.9 * -np.log(prior) @ prior
