"""Measures of disagreement against their definitions, row by row."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import active_learning as oracles
from scipy.stats import chi2

from sklboolean import active_learning as committee

RANDOM = np.random.RandomState
MEASURES_OF_SHARES = [
    committee.vote_entropy,
    committee.variation_ratio,
    committee.pairwise_disagreement,
    committee.margin_of_votes,
]
LABELS = [
    [0, 1, 2],
    [-1, 1, 7],
    ["ham", "spam", "other words"],
    [0.5, -2.5, 1e300],
    [False, True],
]


@st.composite
def votes_of_a_committee(draw):
    labels = draw(st.sampled_from(LABELS))
    n_members, n_samples = draw(st.integers(1, 6)), draw(st.integers(0, 5))
    row = st.lists(st.sampled_from(labels), min_size=n_samples, max_size=n_samples)
    votes = draw(st.lists(row, min_size=n_members, max_size=n_members))
    weights = st.lists(st.integers(0, 5), min_size=n_members, max_size=n_members)
    return votes, draw(st.permutations(labels)), draw(weights.filter(any))


# Votes and probabilities


@given(votes_of_a_committee(), st.sampled_from([np.asarray, list, "object"]))
def test_shares_are_counted(committee_votes, layout):
    votes, classes, weights = committee_votes
    table = np.array(votes, dtype=object) if layout == "object" else layout(votes)
    shares = committee.vote_shares(table, classes=classes, member_weights=weights)
    expected = oracles.shares_of(votes, classes, weights)
    assert shares.shape == (len(votes[0]), len(classes))
    np.testing.assert_array_equal(
        shares, np.array(expected, float).reshape(shares.shape)
    )


def test_classes_are_the_sorted_labels_and_members_are_equal():
    votes = [["b", "a"], ["b", "c"], ["a", "c"]]
    expected = [[1 / 3, 2 / 3, 0], [1 / 3, 0, 2 / 3]]
    np.testing.assert_array_equal(committee.vote_shares(votes), expected)
    same = committee.vote_shares(votes, member_weights=[7, 7, 7])
    np.testing.assert_array_equal(same, expected)


def test_numbers_that_are_equal_are_the_same_label():
    shares = committee.vote_shares([[1.0, 0.0], [1.0, 1.0]], classes=[False, True])
    np.testing.assert_array_equal(shares, [[0, 1], [0.5, 0.5]])


def test_members_that_miss_a_class_are_aligned():
    tables = [np.array([[0.25, 0.75]]), np.array([[1.0]]), [[0.5, 0.25, 0.25]]]
    known = [["a", "c"], ["c"], ["c", "b", "a"]]
    aligned = committee.align_probabilities(tables, known, ["a", "b", "c"])
    expected = [[[0.25, 0, 0.75]], [[0, 0, 1]], [[0.25, 0.25, 0.5]]]
    np.testing.assert_array_equal(aligned, expected)
    assert np.isfinite(committee.kl_to_consensus(aligned)).all()


# Measures


@given(oracles.distributions(6, 3))
def test_measures_of_shares_are_those_of_the_definitions(shares):
    measures = [measure(shares) for measure in MEASURES_OF_SHARES]
    for row, *measured in zip(shares, *measures, strict=True):
        best, second, _least = sorted(row, reverse=True)
        pairs = 1 - sum(share**2 for share in row)
        expected = [oracles.entropy(row), 1 - best, pairs, best - second]
        np.testing.assert_allclose(measured, expected, rtol=1e-12, atol=1e-15)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=7))
def test_pairwise_disagreement_counts_pairs(votes):
    shares = committee.vote_shares(np.array(votes)[:, None])
    expected = float(oracles.share_of_differing_pairs(votes))
    disagreement = committee.pairwise_disagreement(shares)
    np.testing.assert_allclose(disagreement, [expected], rtol=1e-13, atol=1e-15)


@given(
    oracles.distributions(4, 5, 3),
    st.lists(st.integers(1, 5), min_size=4, max_size=4),
)
def test_measures_of_probabilities_are_those_of_the_definitions(members, weights):
    spread = committee.kl_to_consensus(members, member_weights=weights)
    whole = committee.consensus_entropy(members, member_weights=weights)
    for row in range(5):
        consensus = oracles.mean_distribution(members[:, row], weights)
        parts = [oracles.divergence(member, consensus) for member in members[:, row]]
        inner = [oracles.entropy(member) for member in members[:, row]]
        expected = np.average(parts, weights=weights)
        assert spread[row] == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert whole[row] == pytest.approx(oracles.entropy(consensus), abs=1e-12)
        # What members are unsure of, and what they differ in.
        total = np.average(inner, weights=weights) + spread[row]
        assert whole[row] == pytest.approx(total, abs=1e-12)


def test_equal_weights_are_no_weights():
    members = RANDOM(0).dirichlet([1, 1, 1], (3, 20))
    for measure in (committee.kl_to_consensus, committee.consensus_entropy):
        weighted = measure(members, member_weights=[0.5, 0.5, 0.5])
        np.testing.assert_allclose(measure(members), weighted, rtol=1e-13)
        # A member without weight is not there.
        several = np.concatenate([members, [np.roll(members[0], 1, axis=0)]])
        weighted = measure(several, member_weights=[1, 1, 1, 0])
        np.testing.assert_allclose(measure(members), weighted, rtol=1e-13)


def test_divergence_is_finite_at_the_edge_of_the_floats():
    tiny = np.nextafter(0, 1)
    members = [[[1.0, 0.0]], [[1.0, tiny]], [[1.0, 0.0]]]  # tiny / 3 is rounded to 0
    assert committee.kl_to_consensus(members)[0] == 0
    opposite = [[[1.0, 0.0]], [[0.0, 1.0]]]
    assert committee.kl_to_consensus(opposite)[0] == pytest.approx(1, rel=1e-15)
    assert committee.kl_to_consensus(opposite, member_weights=[1, 0])[0] == 0
    nearly = committee.kl_to_consensus(opposite, member_weights=[1, 1e-300])[0]
    assert 0 <= nearly < 1e-290


@pytest.mark.parametrize("measure", MEASURES_OF_SHARES)
def test_order_of_the_classes_does_not_break_a_tie(measure):
    shares = committee.vote_shares(np.array(list("aabbbcdd"))[:, None])
    values = measure([shares[0, list(order)] for order in permutations(range(4))])
    assert len(set(values.tolist())) == 1


@pytest.mark.parametrize("measure", MEASURES_OF_SHARES)
def test_agreement_and_even_split_are_the_ends(measure):
    values = measure([[0, 1, 0], [1 / 3, 1 / 3, 1 / 3]])
    ends = {
        committee.vote_entropy: [0, np.log2(3)],
        committee.variation_ratio: [0, 2 / 3],
        committee.pairwise_disagreement: [0, 2 / 3],
        committee.margin_of_votes: [1, 0],
    }
    np.testing.assert_allclose(values, ends[measure], rtol=1e-15)
    one_class = measure([[1.0]])
    np.testing.assert_array_equal(one_class, [measure is committee.margin_of_votes])
    assert measure(np.zeros((0, 2))).shape == (0,)


def test_single_precision_is_put_right():
    thirds = np.full((1, 3), 1 / 3, dtype=np.float32)
    assert committee.vote_entropy(thirds)[0] == pytest.approx(np.log2(3), rel=1e-15)


# The best rows


@given(
    st.lists(st.integers(-3, 3), max_size=12), st.integers(0, 13), st.integers(0, 99)
)
def test_top_scores_are_the_highest(scores, n, seed):
    rows = committee.top_scores(scores, n, RANDOM(seed))
    assert len(set(rows.tolist())) == len(rows) == min(n, len(scores))
    chosen = [scores[row] for row in rows]
    assert chosen == sorted(scores, reverse=True)[:n]
    again = committee.top_scores(scores, n, RANDOM(seed))
    np.testing.assert_array_equal(rows, again)


def test_ties_fall_by_lot():
    random, n_draws = RANDOM(0), 6000
    counts = np.zeros((5, 3))
    for _ in range(n_draws):
        rows = committee.top_scores([1, 2, 1, 2, 1], 3, random)
        counts[rows, [0, 1, 2]] += 1
    # The two best in either order, then one of the other three. A fair lot exceeds the
    # threshold with probability 1e-6.
    for place, candidates in ((0, [1, 3]), (1, [1, 3]), (2, [0, 2, 4])):
        seen, expected = counts[candidates, place], n_draws / len(candidates)
        assert seen.sum() == n_draws
        statistic = np.sum((seen - expected) ** 2 / expected)
        assert statistic < chi2.isf(1e-6, len(candidates) - 1)


# Bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: committee.vote_shares([0, 1]), "votes must have shape"),
        (lambda: committee.vote_shares(np.zeros((0, 2))), "votes must have shape"),
        (lambda: committee.vote_shares([[np.nan, 1]]), "votes must not contain NaN"),
        (
            lambda: committee.vote_shares([["a", "x"]], classes=["a", "b"]),
            r"votes contains the label 'x', .* not among the classes \['a', 'b'\]",
        ),
        (lambda: committee.vote_shares([[1]], classes=[1, 1]), "a label twice"),
        (
            lambda: committee.vote_shares([[1]], member_weights=[1, 2]),
            r"member_weights must have shape \(1,\)",
        ),
        (lambda: committee.vote_shares([[1]], member_weights=[0]), "not all zero"),
        (lambda: committee.vote_shares([[1]], member_weights=[-1]), "not negative"),
        (lambda: committee.vote_shares([[1]], member_weights=[np.nan]), "finite"),
        (lambda: committee.vote_shares([[1]], member_weights=[np.inf]), "finite"),
        (lambda: committee.align_probabilities([], [], [0]), "at least one"),
        (
            lambda: committee.align_probabilities([[[1.0]]], [], [0]),
            "one entry per member",
        ),
        (
            lambda: committee.align_probabilities([[[1.0]]], [[1]], [0, 2]),
            r"member_classes\[0\] contains the label 1",
        ),
        (
            lambda: committee.align_probabilities(
                [[[1.0]], [[1.0]] * 2], [[0]] * 2, [0]
            ),
            r"probabilities\[1\] must have shape \(1, 1\)",
        ),
        (
            lambda: committee.align_probabilities([[[0.5, 0.6]]], [[0, 1]], [0, 1]),
            r"probabilities\[0\] must sum to 1",
        ),
        (
            lambda: committee.vote_entropy([0.5, 0.5]),
            r"shares must have shape \(n_samples",
        ),
        (lambda: committee.vote_entropy([[0.5, 0.5], [0.5, 0.4]]), "at 1 is 0.9"),
        (lambda: committee.margin_of_votes([[1.5, -0.5]]), "shares must not be neg"),
        (lambda: committee.variation_ratio([[np.nan, 1]]), "negative or NaN"),
        (lambda: committee.pairwise_disagreement([[np.inf, 1]]), "must sum to 1"),
        (lambda: committee.kl_to_consensus([[1.0]]), r"probabilities must .*n_members"),
        (lambda: committee.consensus_entropy(np.zeros((0, 2, 2))), "n_members"),
        (
            lambda: committee.kl_to_consensus([[[1, 0], [0, 0]]]),
            r"the sum at \(0, 1\) is 0.0",
        ),
        (lambda: committee.top_scores([1, np.nan], 1, RANDOM(0)), "and not NaN"),
        (lambda: committee.top_scores([[1]], 1, RANDOM(0)), "one number per sample"),
        (lambda: committee.top_scores([1], -1, RANDOM(0)), "n == -1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
