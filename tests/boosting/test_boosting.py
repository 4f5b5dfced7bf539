"""The rounds of a game with prepared weak hypotheses, against the definition."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles.boosting import PromisingLearner, ScriptedLearner, play_by_definition, tail
from scipy.stats import binom

from sklboolean._core.validation import as_boolean
from sklboolean.boosting._boosting import (
    PATIENCE,
    Schedule,
    WeakLearnerError,
    boost,
    fit_weak_hypothesis,
)
from sklboolean.boosting._stump import BooleanStump, best_stump
from sklboolean.boosting._votes import MajorityVotes
from sklboolean.boosting._weak_learners import StumpWeakLearner
from sklboolean.theory import max_gamma, min_rounds

CODES = np.array([0, 1] * 10)


def random_state():
    return np.random.RandomState(0)


def votes_right_about(codes, right):
    """Votes of two labels that are right about the rows numbered."""
    predicted = 1 - codes
    predicted[list(right)] = codes[list(right)]
    return predicted


def share_right(codes, n_right):
    return votes_right_about(codes, range(n_right))


def play(learner, codes, policy, *, values=None, report=None, rng=None, **options):
    votes = MajorityVotes(codes, learner.n_classes, values)
    schedule = replace(policy, **{"max_rounds": 999} | options)
    return boost(learner, votes, schedule, rng or random_state(), report)


# -- one game, by definition -----------------------------------------------------------


@st.composite
def scripts(draw):
    n_samples, n_classes = draw(st.integers(2, 7)), draw(st.integers(2, 3))
    labels = st.lists(
        st.integers(0, n_classes - 1), min_size=n_samples, max_size=n_samples
    )
    k = draw(st.sampled_from([1, 3, 5, 7]))
    votes = draw(st.lists(labels, min_size=k, max_size=k))
    counts = st.lists(st.integers(1, 5), min_size=n_samples, max_size=n_samples)
    values = draw(st.none() | counts.map(lambda v: np.array(v, dtype=np.float64)))
    gamma = draw(st.fractions(Fraction(1, 20), Fraction(9, 20), max_denominator=20))
    return np.array(draw(labels)), n_classes, values, votes, k, gamma


@given(scripts())
def test_rounds_are_those_of_the_definition(script):
    codes, n_classes, values, votes, k, gamma = script
    rounds, exact = play_by_definition(codes, n_classes, values, votes, k, gamma)
    # Rounding weights to 2**-26 may turn a tie into an edge.
    assume(not any(0 < abs(r["edge"]) < 1e-6 or r["edge"] == 0 for r in rounds[1:]))
    target = Fraction(1, 8)
    policy = Schedule(k, float(target), float(gamma))
    state = play(ScriptedLearner(votes, n_classes), codes, policy, values=values)
    assert state.votes.n_rounds == len(rounds)
    assert state.termination == ("all_rounds" if len(rounds) == k else "no_weight_left")
    assert state.plans == [(0, k, float(gamma))]
    aborted = [r["aborted"] for r in rounds]
    record = {name: np.array(facts) for name, facts in state.record.items()}
    assert_array_equal(np.isnan(record["edge"]), aborted)
    atol = len(codes) * 2.0**-25
    edges = np.array([float(r["edge"]) for r in rounds])
    assert_allclose(record["followed"], edges, atol=atol)
    kept = ~np.array(aborted)
    assert_array_equal(record["edge"][kept], record["followed"][kept])
    assert_array_equal(record["gamma"], np.full(len(rounds), float(gamma)))
    potentials = [float(r["potential"]) for r in rounds]
    assert_allclose(record["potential"], potentials, rtol=1e-10, atol=1e-14)
    # Lemma 2.4.1: over the k rounds such shortfalls cost error (1 - error) in all.
    required = [gamma - target * (1 - target) / (k * r["mean"]) for r in rounds]
    assert_allclose(record["required"], np.array(required, dtype=float), atol=1e-9)
    assert [list(h) for h in state.hypotheses] == [
        vote for vote, given_up in zip(votes, aborted, strict=False) if not given_up
    ]
    assert state.votes.n_aborted == exact.n_aborted == sum(aborted)
    assert_allclose(state.votes.error(), float(exact.error()), rtol=1e-14)


@pytest.mark.parametrize("errs", ["any", "one label"])
@pytest.mark.parametrize("gives_up", ["any", "heaviest", "lightest"])
@pytest.mark.parametrize("weighted", [False, True])
def test_promise_kept_leaves_no_row_wrong(gives_up, weighted, errs):
    for n_classes, gamma in [(2, 0.1), (2, 0.4), (3, 0.2), (5, 0.4)]:
        rng = np.random.default_rng(0)
        m = 50
        codes = rng.integers(0, n_classes, m)
        values = rng.integers(1, 5, m).astype(np.float64) if weighted else None
        share = 1 / m if values is None else float(values.min() / values.sum())
        k = min_rounds(gamma, share)
        learner = PromisingLearner(codes, n_classes, gamma, gives_up, errs)
        state = play(learner, codes, Schedule(k, share, gamma), values=values)
        assert state.votes.n_rounds == k or state.termination == "no_weight_left"
        assert state.votes.n_aborted == 0
        assert min(state.record["edge"]) >= gamma - 1e-12
        assert state.votes.error() == 0
        potentials = [*state.record["potential"], state.votes.potential(k, gamma)]
        assert_allclose(potentials[0], float(tail(k, Fraction(gamma))), rtol=1e-9)
        # They never rise, but for what rounding weights to 2**-26 may add.
        assert (np.diff(potentials) <= 1e-7).all()
        # Without a number of rounds the plan is the same. It stops without errors.
        free = play(learner, codes, Schedule(None, share, gamma), values=values)
        assert free.plans == [(0, k, gamma)]
        assert free.votes.error() == 0
        assert free.votes.n_rounds <= state.votes.n_rounds
        at_end = "all_rounds" if free.votes.n_rounds == k else "target_error"
        assert free.termination in (at_end, "no_weight_left")


@given(st.integers(0, 2**31), st.integers(2, 4), st.floats(0.05, 0.45))
def test_potential_never_rises_while_edges_are_at_least_gamma(seed, n_classes, gamma):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, 12)
    k = 15
    learner = PromisingLearner(codes, n_classes, gamma, "any", "any")
    state = play(
        learner, codes, Schedule(k, 0.1, gamma), rng=np.random.RandomState(seed)
    )
    potentials = [*state.record["potential"], state.votes.potential(k, gamma)]
    assert (np.diff(potentials) <= 1e-7).all()
    if state.votes.n_rounds == k:
        assert state.votes.error() == pytest.approx(potentials[-1], abs=1e-12)


# -- plans -----------------------------------------------------------------------------


def average_potential_of_rows(codes, votes, i, k, gamma):
    """Two labels: the mean chance that at most half of k votes are right.

    Of i rounds those without a vote are coins.
    """
    right = np.sum([vote == codes for vote in votes], axis=0)
    n_coins = i - len(votes)
    return sum(
        binom.pmf(heads, n_coins, 0.5)
        * binom.cdf(k // 2 - right - heads, k - i, 0.5 + gamma).mean()
        for heads in range(n_coins + 1)
    )


class Tiring(PromisingLearner):
    """Keeps a promise that is smaller in each round, for a while."""

    def fit(self, weights, rng, shown=None):
        votes = super().fit(weights, rng)
        self.gamma = max(0.04, self.gamma * 0.7)
        return votes


@pytest.mark.parametrize("seed", range(6))
def test_exact_mode_plans_again_only_when_the_plan_fails(seed):
    m = 30
    codes = np.random.default_rng(seed).integers(0, 2, m)
    target = 1 / m
    policy = Schedule(None, target, None, recent=4, caution=0.7)
    state = play(
        Tiring(codes, 2, 0.4), codes, policy, rng=np.random.RandomState(seed),
        max_rounds=9999,
    )  # fmt: skip
    assert state.termination == "target_error"
    assert state.votes.error() == 0
    assert np.isnan(state.record["gamma"][0])
    assert np.isnan(state.record["potential"][0])
    expected, k, gamma = [], 0, None
    for i in range(1, state.votes.n_rounds):
        n_votes = np.count_nonzero(~np.isnan(state.record["edge"][:i]))
        position = codes, state.hypotheses[:n_votes], i
        fails = not k or i >= k
        if fails or average_potential_of_rows(*position, k, gamma) >= target:
            gamma = 0.7 * np.mean(state.record["followed"][max(0, i - 4) : i])
            gamma = min(max(gamma, 1e-3), 0.49)
            k = i | 1
            while average_potential_of_rows(*position, k, gamma) >= target / 2:
                k += 2
            expected.append((i, k, pytest.approx(gamma, rel=1e-12)))
        assert state.record["gamma"][i] == pytest.approx(gamma, rel=1e-12)
    assert len(expected) > 1
    assert expected[0][0] == 1
    assert state.plans == expected


@pytest.mark.parametrize("recent", [1, 3, 20])
def test_measured_gamma_is_the_mean_of_the_last_edges(recent):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 60)
    votes = [np.where(rng.random(60) < 0.65, codes, 1 - codes) for _ in range(21)]
    policy = Schedule(21, 0.1, None, recent=recent, caution=0.9)
    state = play(ScriptedLearner(votes), codes, policy)
    gammas, followed = state.record["gamma"], state.record["followed"]
    assert gammas[0] == max_gamma(21, 0.2)
    for i in range(1, state.votes.n_rounds):
        mean = 0.9 * np.mean(followed[max(0, i - recent) : i])
        assert gammas[i] == pytest.approx(min(max(mean, 1e-3), 0.49), rel=1e-12)
    assert len(set(gammas)) > 3
    # The number of rounds never moves.
    assert [k for _i, k, _gamma in state.plans] == [21]


# -- rounds that fail ------------------------------------------------------------------


def test_hypothesis_without_an_edge_is_a_coin():
    bad, good = share_right(CODES, 10), share_right(CODES, 13)
    learner = ScriptedLearner([good, bad, share_right(CODES, 4), good, good])
    state = play(learner, CODES, Schedule(5, 0.2, 0.1))
    assert state.votes.n_aborted == 2 or state.termination == "no_weight_left"
    assert np.isnan(state.record["edge"])[1:3].tolist() == [True, True]
    assert [list(h) for h in state.hypotheses] == [list(good)] * len(state.hypotheses)
    assert state.votes.n_votes == len(state.hypotheses)


def test_abort_keeps_what_is_better_than_a_coin_but_below_gamma():
    learner = ScriptedLearner([share_right(CODES, 11)])
    state = play(learner, CODES, Schedule(3, 0.2, 0.2))
    assert state.record["edge"][0] == pytest.approx(0.05, abs=1e-15)
    assert state.plans == [(0, 3, 0.2)]
    assert state.hypotheses


@pytest.mark.parametrize("n_rounds", [9, None])
def test_replan_goes_on_with_the_edges_measured(n_rounds):
    learner = ScriptedLearner([share_right(CODES, 15)] + [share_right(CODES, 11)] * 40)
    policy = Schedule(n_rounds, 0.1, 0.2, recent=2, required_edge=0.2)
    state = play(learner, CODES, policy, max_rounds=3, weak_failure="replan")
    first = state.record["followed"][:2]
    assert first[0] == 0.25
    assert first[1] < 0.2
    # The first kept the promise, the second did not.
    at, k, gamma = state.plans[1]
    assert at == 2
    # A plan without an end relies on votes that were counted, and on one in a hundred.
    measured = np.mean(first) if n_rounds else max(first[0], 0.01)
    assert gamma == min(max(measured, 1e-3), 0.49) == state.record["gamma"][2]
    vote_counts = MajorityVotes(CODES, 2)
    vote_counts.add(share_right(CODES, 15))
    # A vote without an edge is none.
    vote_counts.add(share_right(CODES, 11)) if first[1] > 0 else vote_counts.add(None)
    assert k == (n_rounds or vote_counts.rounds_needed(gamma, 0.05))


def test_raise_names_round_edge_and_promise():
    learner = ScriptedLearner([share_right(CODES, 14), share_right(CODES, 11)])
    policy = Schedule(9, 0.1, 0.15, required_edge=0.15)
    with pytest.raises(WeakLearnerError, match=r"^In round 1 .*edge .*0\.15 is req"):
        play(learner, CODES, policy, weak_failure="raise")
    learner = ScriptedLearner([share_right(CODES, 10)])
    with pytest.raises(WeakLearnerError, match=r"^In round 0 .*edge 0.*more than 0"):
        play(learner, CODES, Schedule(9, 0.1), weak_failure="raise")


@pytest.mark.parametrize("on_failure", ["replan", "raise"])
def test_edge_that_is_gamma_but_for_rounding_keeps_the_promise(on_failure):
    gamma = np.nextafter(0.2, 1)
    learner = ScriptedLearner([share_right(CODES, 14)])
    policy = Schedule(1, 0.3, gamma, required_edge=gamma)
    state = play(learner, CODES, policy, weak_failure=on_failure)
    assert len(state.plans) == 1
    assert state.record["edge"][0] < gamma


@pytest.mark.parametrize(
    ("gamma", "target", "on_failure"),
    [(None, 0.4, "abort"), (None, 0.4, "replan"), (0.2, 0.01, "abort"),
     (0.2, 0.4, "replan")],
)  # fmt: skip
def test_game_without_a_length_ends_when_nothing_has_an_edge(gamma, target, on_failure):
    learner = ScriptedLearner([share_right(CODES, n) for n in (5, 9, 7, 3)])
    policy = Schedule(None, target, gamma)
    state = play(learner, CODES, policy, weak_failure=on_failure)
    assert state.termination == "no_edge"
    assert state.votes.n_rounds == state.votes.n_aborted == PATIENCE
    assert state.hypotheses == []
    assert_array_equal(state.best_failure, share_right(CODES, 9))
    assert state.failed_edge == pytest.approx(-0.05, abs=1e-15)


def test_game_of_given_length_plays_all_its_rounds_without_an_edge():
    state = play(
        ScriptedLearner([share_right(CODES, 5)]), CODES, Schedule(31, 0.1, 0.1)
    )
    assert state.termination == "all_rounds"
    assert state.votes.n_aborted == 31


def test_patience_counts_failures_in_a_row():
    failures = [1 - CODES] * (PATIENCE - 1)
    votes = [*failures, share_right(CODES, 13), *failures, CODES]
    state = play(ScriptedLearner(votes), CODES, Schedule(None, 0.3, 0.02))
    assert state.termination == "target_error"
    assert state.votes.n_aborted == 2 * (PATIENCE - 1)


# -- how a game ends -------------------------------------------------------------------


def test_game_stops_when_every_row_is_decided():
    state = play(ScriptedLearner([CODES]), CODES, Schedule(9, 0.1, 0.2))
    assert state.termination == "no_weight_left"
    assert state.votes.n_rounds == 5
    assert len(state.record["edge"]) == 5
    assert state.votes.error() == 0


def test_game_stops_at_the_limit():
    learner = PromisingLearner(CODES, 2, 0.05)
    for policy in (Schedule(None, 0.001, 0.05), Schedule(None, 0.001, None)):
        state = play(learner, CODES, policy, max_rounds=4)
        assert state.termination == "max_rounds"
        assert state.votes.n_rounds == 4
        assert state.k > 4


def test_report_sees_every_round():
    seen = []
    state = play(
        ScriptedLearner([share_right(CODES, 12)]), CODES, Schedule(7, 0.1, 0.05),
        report=lambda state: seen.append(state.votes.n_rounds),
    )  # fmt: skip
    assert seen == list(range(1, state.votes.n_rounds + 1))


# -- tries and rows held out -----------------------------------------------------------


@pytest.mark.parametrize(
    ("n_right", "max_tries", "kept", "n_fits"),
    [
        ([11, 15, 16], 3, 15, 2),  # the first that keeps the promise
        ([11, 13, 12], 3, 13, 3),  # else the best
        ([11, 13, 16], 1, 11, 1),
        ([9, 8, 7], 3, 9, 3),
        ([12, 12, 12], 3, 12, 3),
    ],
)
def test_best_try_is_kept(n_right, max_tries, kept, n_fits):
    learner = ScriptedLearner([share_right(CODES, n) for n in n_right])
    weights = MajorityVotes(CODES, 2).weights(0, 0.0)
    schedule = Schedule(9, 0.1, 0.2, max_tries=max_tries)
    _h, predicted, edge, followed = fit_weak_hypothesis(
        learner, CODES, weights, schedule, 0.2, random_state()
    )
    assert_array_equal(predicted, share_right(CODES, kept))
    assert edge == followed == pytest.approx(kept / 20 - 0.5, abs=1e-15)
    assert len(learner.shown) == n_fits


@pytest.mark.parametrize("follow", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_hypothesis_is_judged_on_rows_that_it_was_not_trained_on(follow, weighted):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 200)
    values = rng.integers(1, 4, 200).astype(np.float64) if weighted else None
    votes = [np.where(rng.random(200) < 0.7, codes, 1 - codes) for _ in range(9)]
    learner = ScriptedLearner(votes)
    policy = Schedule(9, 0.1, 0.1, holdout=0.4, follow_holdout=follow)
    state = play(learner, codes, policy, values=values)
    held_rows, shares = [], []
    vote_counts = MajorityVotes(codes, 2, values)
    for i, trained in enumerate(learner.shown):
        rows = vote_counts.weights(9, 0.1).of_samples()
        is_held = (trained == 0) & (rows > 0)
        held_rows.append(is_held)
        shares.append(is_held.sum() / np.count_nonzero(rows))
        assert_array_equal(trained, np.where(is_held, 0, rows))
        held = np.where(is_held, rows, 0)
        right = votes[i] == codes
        edge = held[right].sum() / held.sum() - 0.5
        on_trained = trained[right].sum() / trained.sum() - 0.5
        assert state.record["edge"][i] == pytest.approx(edge, abs=1e-12)
        followed = edge if follow else on_trained
        assert state.record["followed"][i] == pytest.approx(followed, abs=1e-12)
        vote_counts.add(votes[i])
    assert len(learner.shown) == 9
    assert 0.35 < np.mean(shares) < 0.45
    # Drawn anew in each round.
    assert len({tuple(is_held) for is_held in held_rows}) == 9


class RecordingStumps(StumpWeakLearner):
    """Stumps, and the weights that they were fitted to, in Python."""

    def plays(self, schedule):
        return False

    def fit(self, weights, rng, round_weights=None):
        self.shown.append(weights.copy())
        return super().fit(weights, rng, round_weights)


@pytest.mark.parametrize("follow", [True, False])
def test_stumps_are_judged_by_the_rounded_weights_of_other_rows(follow):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 9), dtype=np.uint8)
    codes = (X[:, 0] ^ (rng.random(300) < 0.2)).astype(np.int16)
    learner = RecordingStumps(
        BooleanStump(), as_boolean(X), codes, np.arange(2), None, None, 9
    )
    learner.shown = []
    policy = Schedule(9, 0.01, 0.1, holdout=0.4, follow_holdout=follow)
    state = play(learner, codes, policy)
    vote_counts = MajorityVotes(codes, 2)
    for i, trained in enumerate(learner.shown):
        rows = vote_counts.weights(9, 0.1).of_samples(quantized=True)
        assert trained.dtype == rows.dtype == np.int16
        held = np.where(trained == 0, rows, 0)
        assert_array_equal(trained + held, rows)
        # The best stump, by sums of Python's integers.
        sums, columns = {}, [*enumerate(X.T), (-1, np.zeros(300))]
        for feature, column in columns:
            hits = int(trained[column == codes].sum(dtype=object))
            sums[feature] = max(hits, int(trained.sum(dtype=object)) - hits)
        stump = best_stump(learner.columns, learner.signs, trained)
        assert sums[stump.feature] == max(sums.values())
        right = learner.predict_codes(stump) == codes
        edges = [
            Fraction(int(part[right].sum(dtype=object)), int(part.sum(dtype=object)))
            - Fraction(1, 2)
            for part in (held, trained)
        ]
        followed = edges[0] if follow else edges[1]
        assert state.record["followed"][i] == pytest.approx(float(followed), abs=1e-12)
        if edges[0] > 0:
            assert state.record["edge"][i] == pytest.approx(float(edges[0]), abs=1e-12)
        vote_counts.add(learner.predict_codes(stump) if edges[0] > 0 else None)
    assert len(learner.shown) == state.votes.n_rounds > 3


def test_rows_too_few_to_be_parted_judge_what_they_trained():
    learner = ScriptedLearner([np.array([1])])
    state = play(learner, np.array([1]), Schedule(1, 0.1, 0.1, holdout=0.5))
    assert_array_equal(learner.shown[0], [1.0])
    assert state.record["edge"] == [0.5]
