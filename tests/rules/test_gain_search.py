"""Greedy rule lists take the conjunction with the largest gain, by definition."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.rules import best_gains, satisfies

from sklboolean._core import conjunction_table
from sklboolean._core.bits import pack_dense
from sklboolean.rules._gain_search import DecisionList, GainParams, GainSearch
from sklboolean.rules._rule_samples import RuleSamples


def params(**options):
    values = {
        "max_rules": 4, "max_literals": 3, "monotone": False, "literal_cost": 1.0,
    }  # fmt: skip
    return GainParams.check(**{**values, **options})


@given(
    st.integers(0, 2**32 - 1), st.sampled_from([0.25, 1.0, 3.0]),
    st.sampled_from([0.0, 0.5, 2.0]), st.booleans(), st.integers(2, 3),
)  # fmt: skip
def test_each_rule_has_the_largest_gain_of_all(
    seed, penalty, price, monotone, n_classes
):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (25, 4))
    codes = rng.integers(0, n_classes, 25)
    weights = rng.integers(0, 4, 25) / 4
    order = tuple(rng.permutation(n_classes).tolist())
    samples = RuleSamples(pack_dense(X), codes, weights, 4, n_classes)
    search = GainSearch(samples, order, penalty, params(monotone=monotone))
    # Searches that an earlier list has kept must not change a list.
    search.rule_list(4.0)
    rules = search.rule_list(price)
    left = np.ones(25, dtype=bool)
    for k in order[:-1]:
        wanted = codes == k
        own = [literals for literals, label in rules if label == k]
        covers = [np.array([satisfies(row, one) for row in X]) for one in own]
        before = left.copy()
        for literals, cover in zip([*own, None], [*covers, None], strict=True):
            # A rule is chosen for what no other rule of its class covers.
            others = [c for one, c in zip(own, covers, strict=True) if one != literals]
            free = before & ~np.any([np.zeros(25, dtype=bool), *others], axis=0)
            gains = best_gains(
                X, wanted, weights, free, penalty, 3, negations=not monotone
            )
            best = max(gain - price * (n + 1) for n, gain in enumerate(gains))
            if literals is not None:
                gain = weights[cover & free & wanted].sum()
                gain -= penalty * weights[cover & free & ~wanted].sum()
                gain -= price * len(literals)
                assert gain > 0
                if len(own) < 4:
                    assert gain == best
            elif len(own) < 4:
                assert best <= 0
            left &= ~(cover if cover is not None else np.zeros(25, dtype=bool))
    assert [label for _, label in rules] == sorted(
        (label for _, label in rules), key=order.index
    )


def test_of_equal_gains_the_shorter_conjunction_wins():
    X = np.array([[1, 1], [1, 1], [0, 0]])
    codes, weights = np.array([1, 1, 0]), np.ones(3)
    samples = RuleSamples(pack_dense(X), codes, weights, 2, 2)
    search = GainSearch(samples, (1, 0), 1.0, params())
    assert search.rule_list(0.0) == [(((0, True),), 1)]


def test_limits_of_rules_and_time():
    X = np.eye(8, dtype=int)
    codes = np.repeat([1, 0], 4)
    X, codes = np.tile(X, (3, 1)), np.tile(codes, 3)
    weights = np.ones(24)
    samples = RuleSamples(pack_dense(X), codes, weights, 8, 2)

    def n_rules(**limits):
        settings = params(max_literals=1, monotone=True, **limits)
        return len(GainSearch(samples, (1, 0), 1.0, settings).rule_list(1.0))

    assert n_rules() == 4
    assert n_rules(max_rules=2) == 2
    assert n_rules(time_limit=1e-6) <= 1


@pytest.mark.parametrize(("behind", "n_tried"), [(119.0, 4), (122.0, 3)])
def test_prices_below_one_that_is_far_behind_are_not_tried(
    behind, n_tried, monkeypatch
):
    """Two standard deviations, which are about the root of the number of errors."""
    words = pack_dense(np.eye(2, dtype=bool))
    samples = RuleSamples(words, np.arange(2), np.ones(2), 2, 2)
    search = GainSearch(samples, (0, 1), 1.0, params())
    monkeypatch.setattr(search, "rule_list", lambda price, n_revisions: [price])
    cost = {64: 105.0, 16: 99.0, 4: behind, 1: 0.0}
    found = search.costs([1, 16, 4, 64], lambda rules, default: cost[rules[0]])
    assert list(found.items()) == list(cost.items())[:n_tried]


@pytest.mark.parametrize(("most_sums", "n_revisions"), [(2**24, 1), (1, 0)])
def test_lists_that_compare_prices_are_not_revised_without_tables(
    most_sums, n_revisions, monkeypatch
):
    monkeypatch.setattr(conjunction_table, "MAX_SUMS", most_sums)
    rng = np.random.default_rng(2)
    X, codes = rng.integers(0, 2, (60, 8)), rng.integers(0, 2, 60)
    samples = RuleSamples(pack_dense(X), codes, np.ones(60), 8, 2)
    shown = []
    search = GainSearch(samples, (0, 1), 1.0, params(width=8))
    search.costs([0.5], lambda rules, _: shown.append(rules) or 0.0)
    again = GainSearch(samples, (0, 1), 1.0, params(width=8))
    lists = [again.rule_list(0.5, n) for n in (0, 1)]
    assert lists[0] != lists[1]
    assert shown == [lists[n_revisions]]


def test_decisions_are_counted():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    words, codes = pack_dense(X), np.array([0, 1, 1, 0])
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    rules = [(((0, True), (1, True)), 0), (((0, True),), 1)]
    samples = RuleSamples(words, codes, weights, 2, 2)
    decisions = samples.decisions([literals for literals, _ in rules])
    counted = DecisionList.of(rules, decisions, 0)
    # Of the samples that are left the one of class 1 weighs more, so the second rule
    # says what the default says.
    assert counted.rules == rules[:1]
    assert counted.default == 1
    assert counted.decisions.counts.tolist() == [[4, 0], [1, 5]]
    assert counted.decisions.n_samples.tolist() == [1, 3]
    found = samples.decisions(counted.conjunctions())
    assert counted.cost(found, 0.5, 0.25) == 1 + 0.25 * 2
    turned = replace(samples, codes=1 - codes).decisions(counted.conjunctions())
    assert counted.cost(turned, 0.5, 0) == 2 + 3 + 0.5 * 4
    everything = DecisionList.of([((), 1)], samples.decisions([()]), 0)
    assert (everything.rules, everything.default) == ([((), 1)], 0)


@pytest.mark.parametrize("name", ["penalty", "literal_cost"])
def test_parameters_are_checked(name):
    with pytest.raises(ValueError, match=f"{name} is empty"):
        params(**{name: ()})
    with pytest.raises(ValueError, match=f"{name} must be"):
        params(**{name: [1.0, -1.0]})
