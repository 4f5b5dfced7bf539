"""BoostByMajority on streams: one model however the stream is cut, harmless errors."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB

from sklboolean import BoostByMajority
from sklboolean.theory import min_rounds


def rows(n, seed=1):
    X = np.random.default_rng(seed).integers(0, 2, (n, 12)).astype(np.uint8)
    return X, np.where(X[:, :5].sum(axis=1) > 2, "yes", "no")


def cut(X, y, size):
    for first in range(0, len(y), size):
        yield X[first : first + size], y[first : first + size]


@pytest.fixture(scope="module")
def booster():
    return BoostByMajority(gamma=0.2, target_error=0.1, random_state=0)


def test_stream_is_learned_and_read_no_further_than_needed(booster):
    X, y = rows(200_000)
    chunks = cut(X, y, 1000)
    booster.fit_stream(chunks)
    assert booster.stop_reason_ == "rounds"
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
        parts = BoostByMajority(gamma=0.2, target_error=0.1, random_state=0)
        for part, labels in cut(X, y, size):
            parts.partial_fit(layout(part), labels, classes=["no", "yes"])
            parts = pickle.loads(pickle.dumps(parts))
            if parts.stop_reason_:
                break
        np.testing.assert_array_equal(parts.n_seen_, seen)
        np.testing.assert_array_equal(parts.decision_function(X[:500]), expected)
    for n_jobs in (1, 2):
        jobs = BoostByMajority(
            gamma=0.2, target_error=0.1, random_state=0, n_jobs=n_jobs
        ).fit_stream(cut(X, y, 3000))
        np.testing.assert_array_equal(jobs.decision_function(X[:500]), expected)


def test_stream_that_ends_early_says_so():
    X, y = rows(1500)
    booster = BoostByMajority(gamma=0.1, target_error=0.01, random_state=0)
    # In practice the rounds are planned for half the error.
    k = min_rounds(gamma=0.1, error=0.005)
    with pytest.warns(UserWarning, match=rf"The stream ended in round \d+ of {k}:"):
        booster.fit_stream(cut(X, y, 500))
    assert booster.stop_reason_ == "exhausted"
    assert booster.score(X, y) > 0.6


def test_first_part_makes_a_model_and_later_ones_the_game():
    X, y = rows(3000)
    booster = BoostByMajority(BernoulliNB(), gamma=0.1, random_state=0)
    booster.partial_fit(X[:5], y[:5], classes=["no", "yes"])
    assert booster.n_rounds_ == 0
    assert len(booster.estimators_) == 1
    booster.partial_fit(X[5:], y[5:])
    assert booster.n_rounds_ > 2
    assert booster.n_seen_.sum() == 3000
    np.testing.assert_array_equal(
        booster.n_seen_, booster.n_accepted_ + booster.n_rejected_
    )


def test_stream_gives_no_probabilities_and_says_so():
    X, y = rows(400)
    booster = BoostByMajority(gamma=0.1, probability=True, random_state=0).fit(X, y)
    assert booster.predict_proba(X).shape == (400, 2)
    booster.partial_fit(X, y, classes=["no", "yes"])
    with pytest.raises(AttributeError, match="predict_proba") as error:
        booster.predict_proba(X)
    assert "call fit" in str(error.value.__cause__)


def test_fit_ends_a_stream():
    X, y = rows(400)
    booster = BoostByMajority(gamma=0.1, random_state=0)
    booster.partial_fit(X, y, classes=["no", "yes"]).fit(X, y)
    assert booster.n_seen_ is None
    booster.partial_fit(X, y, classes=["no", "yes"])
    assert booster.n_seen_.sum() == 400


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"filter": "half"}, "filter must be one of"),
        ({"delta": 0.0}, "delta must be greater than 0"),
        ({"reliability": 2.0, "filter": "theory"}, "reliability"),
        ({"gamma": 0.6}, "gamma must be above 0 and below 0.5"),
        ({"on_weak_failure": "replan"}, "replan"),
    ],
)
def test_bad_parameter_is_named_and_nothing_is_forgotten(parameters, message):
    X, y = rows(300)
    booster = BoostByMajority(gamma=0.2, random_state=0)
    booster.partial_fit(X, y, classes=["no", "yes"])
    before = booster.decision_function(X)
    good = booster.get_params()
    with pytest.raises(ValueError, match=message):
        booster.set_params(**parameters).fit_stream([(X, y)])
    booster.set_params(**good)
    np.testing.assert_array_equal(booster.decision_function(X), before)


def test_bad_rows_leave_the_stream_as_it_was():
    X, y = rows(600)
    booster = BoostByMajority(gamma=0.2, random_state=0)
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
    with pytest.raises(ValueError, match="classes must be passed"):
        BoostByMajority().partial_fit(X, y)
