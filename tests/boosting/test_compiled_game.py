"""The compiled rounds, against the same rounds in Python."""

import numpy as np
import pytest
from boosting_cases import make_booster
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from sklboolean import BooleanStump, ConjunctionStump
from sklboolean._core.validation import as_boolean
from sklboolean.boosting import _conjunction_stump as conjunction_stump
from sklboolean.boosting._boosting import Schedule, boost
from sklboolean.boosting._votes import MajorityVotes
from sklboolean.boosting._weak_learners import (
    MOST_COMPILED,
    ConjunctionWeakLearner,
    StumpWeakLearner,
)


def learner_of(estimator, X, codes):
    """Make the weak learner of an estimator."""
    kind = StumpWeakLearner
    if type(estimator) is ConjunctionStump:
        kind = ConjunctionWeakLearner
    bits, classes = as_boolean(X, 0.0), np.arange(2)
    return kind(estimator, bits, codes, classes, None, None, X.shape[1])


def play(learner, schedule, seed, report):
    """Play a game; with a report it is played in Python."""
    votes = MajorityVotes(learner.codes, 2)
    return boost(learner, votes, schedule, np.random.RandomState(seed), report)


def assert_same_games(learner, schedule, seed=0):
    """Play a game in either way and compare all that is known of it."""
    assert learner.plays(schedule)
    compiled = play(learner, schedule, seed, None)
    expected = play(learner, schedule, seed, lambda _state: False)
    assert compiled.hypotheses == expected.hypotheses
    assert compiled.best_failure == expected.best_failure or expected.hypotheses
    assert compiled.failed_edge == expected.failed_edge
    assert compiled.termination == expected.termination
    assert compiled.plans == expected.plans
    assert_array_equal(compiled.votes.correct, expected.votes.correct)
    for name in ("n_rounds", "n_votes", "n_aborted"):
        assert getattr(compiled.votes, name) == getattr(expected.votes, name)
    assert compiled.record.keys() == expected.record.keys()
    for name, values in expected.record.items():
        assert_array_equal(compiled.record[name], values, err_msg=name)


@st.composite
def games(draw):
    """Draw samples, a weak learner and a schedule."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 70)), draw(st.integers(1, 40))
    X = (rng.random(shape) < draw(st.sampled_from([0.05, 0.3, 0.5, 1.0]))).astype(float)
    # Columns that agree with the label, so that some samples are decided early.
    codes = (X[:, 0] > rng.random(len(X)) * draw(st.sampled_from([0.1, 1, 1.5]))) * 1
    estimator = BooleanStump()
    if draw(st.booleans()):
        estimator = ConjunctionStump(max_literals=draw(st.integers(1, 4)))
    if draw(st.booleans()):
        X = sparse.csr_array(X)
    schedule = Schedule(
        draw(st.sampled_from([1, 3, 21, 51])),
        0.1,
        draw(st.sampled_from([None, 0.03, 0.2])),
        draw(st.sampled_from([None, 0.1, 0.5])),
        follow_holdout=draw(st.booleans()),
        recent=draw(st.sampled_from([1, 9, 20])),
    )
    return learner_of(estimator, X, codes), schedule


@given(games(), st.integers(0, 2**32 - 1), st.sampled_from([(8, 1024), (1, 0), (3, 0)]))
def test_a_compiled_game_is_the_game_in_python(game, seed, extended):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conjunction_stump, "FEWEST_EXTENDED", extended[0])
        patch.setattr(conjunction_stump, "MOST_EXTENSIONS", extended[1])
        assert_same_games(*game, seed)


@pytest.mark.parametrize("density", [0.03, 0.5])
def test_either_way_to_add_up_a_beam_is_the_same(density):
    rng = np.random.default_rng(1)
    X = (rng.random((300, 150)) < density).astype(float)
    codes = (X[:, :5].sum(axis=1) > 5 * density).astype(int)
    codes[::7] = 1 - codes[::7]
    learner = learner_of(ConjunctionStump(), X, codes)
    assert_same_games(learner, Schedule(11, 0.1, None, 0.5))


def test_many_samples_are_added_up_in_parts():
    # 32 bits of a table hold the weights of 65,536 samples.
    rng = np.random.default_rng(2)
    X = np.repeat(rng.random((20, 60)) < 0.08, 3500, axis=0)
    codes = (X[:, 0] | (X[:, 1] & ~X[:, 2])).astype(int)
    learner = learner_of(ConjunctionStump(), X.astype(np.uint8), codes)
    assert_same_games(learner, Schedule(3, 0.1))


def test_other_schedules_are_played_in_python():
    learner = learner_of(BooleanStump(), np.eye(4), np.array([0, 1, 0, 1]))
    assert learner.plays(Schedule(MOST_COMPILED, 0.1))
    others = [
        Schedule(None, 0.1), Schedule(MOST_COMPILED + 2, 0.1),
        Schedule(11, 0.1, max_tries=2), Schedule(11, 0.1, weak_failure="replan"),
    ]  # fmt: skip
    assert not any(map(learner.plays, others))


def test_verbose_fits_are_the_same():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 9))
    y = X[:, 0] ^ (rng.random(80) < 0.2)
    quiet = make_booster(n_estimators=21, gamma="measured", random_state=0)
    told = make_booster(n_estimators=21, gamma="measured", random_state=0, verbose=1)
    quiet.fit(X, y), told.fit(X, y)
    assert_array_equal(quiet.decision_function(X), told.decision_function(X))
    assert_array_equal(quiet.potentials_, told.potentials_)
