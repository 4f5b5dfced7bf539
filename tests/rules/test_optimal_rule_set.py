"""The cheapest set of rules, against all sets of rules, and bounds that hold."""

import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.rules import every_conjunction, every_dnf_cost, least_dnf_cost

from sklboolean import BooleanEncoder, OptimalRuleSet, RuleClassifier
from sklboolean._core import conjunction_table
from sklboolean._core.bits import pack_dense
from sklboolean._core.conjunction_search import satisfied_by
from sklboolean._core.weights import relative_weights
from sklboolean.datasets import load_recurrence, load_votes, make_dnf, make_monks
from sklboolean.inspection import check_monotone
from sklboolean.rules import _cheapest_dnf
from sklboolean.rules._cheapest_dnf import greedy_dnf, rules_within
from sklboolean.rules._dnf_bound import DNFProblem, Program, relax
from sklboolean.rules._gain_search import GainParams


def literal_params(max_literals=4, monotone=False, time_limit=None):
    return GainParams.check(
        max_literals=max_literals, monotone=monotone, literal_cost=1,
        time_limit=time_limit,
    )  # fmt: skip


def cost_by_definition(model, X, y, k, weights=None):
    """Missed samples, wrongly covered ones by rule, and prices: of one class."""
    weights = np.ones(len(y)) if weights is None else weights
    rules = [rule for rule in model.rules_ if rule.label == k]
    covers = [
        np.all([X[:, j] == value for j, value in rule.literals], axis=0)
        for rule in rules
    ]
    n_rules = np.sum(covers, axis=0) if rules else np.zeros(len(y))
    prices = sum(
        model.rule_cost + model.literal_cost * rule.n_literals for rule in rules
    )
    return weights @ np.where(y == k, n_rules == 0, n_rules) + prices


def small_table(seed, n_samples, n_features):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, n_features)).astype(np.uint8)
    y = (X[:, 0] & X[:, 1] | X[:, -1] & (1 - X[:, 0])) ^ (rng.random(n_samples) < 0.2)
    y[:2] = 0, 1
    return X, y.astype(int), rng


def check_proof(model, expected, weighting):
    """Compare the cost and its bound with the least cost of all sets."""
    cost, bound, gap = model.cost_[0], model.bound_[0], model.gap_[0]
    assert 0 <= bound <= expected * (1 + 1e-14)
    assert expected * (1 - 1e-14) <= cost
    assert gap == pytest.approx((cost - bound) / (cost or 1.0))
    if weighting in ("none", "whole") and model.literal_cost != 0.7:
        # The costs are multiples of a quarter, so that rounding proves the optimum.
        assert cost == bound == expected
        assert gap == 0
    elif weighting != "ratios":
        assert cost == pytest.approx(expected, rel=2e-5)
        assert gap < 1e-4


def test_the_oracle_takes_the_least_of_all_sets():
    X, y, rng = small_table(0, 20, 3)
    weights = rng.random(20)
    options = {"max_literals": 2, "negations": False}
    expected = min(every_dnf_cost(X, y > 0, weights, 0.3, **options))
    assert least_dnf_cost(X, y > 0, weights, 0.3, 0.0, **options) == pytest.approx(
        expected
    )


@pytest.mark.filterwarnings("ignore:No rule gained enough")
@given(
    seed=st.integers(0, 10**6),
    n_samples=st.integers(2, 40),
    n_features=st.integers(2, 4),
    max_literals=st.integers(1, 4),
    monotone=st.booleans(),
    literal_cost=st.sampled_from([0.0, 0.25, 0.7, 1.0, 2.0]),
    rule_cost=st.sampled_from([0.0, 0.5, 1.0]),
    weighting=st.sampled_from(["none", "whole", "real", "tiny", "ratios"]),
    has_directions=st.booleans(),
)
def test_no_set_of_rules_costs_less(
    seed, n_samples, n_features, max_literals, monotone, literal_cost, rule_cost,
    weighting, has_directions,
):  # fmt: skip
    X, y, rng = small_table(seed, n_samples, n_features)
    directions = rng.integers(-1, 2, n_features) if has_directions else None
    unit = {"tiny": 1e-200}.get(weighting, 1.0)
    weights = np.ones(n_samples)
    if weighting == "whole":
        weights = rng.integers(1, 4, n_samples).astype(float)
    elif weighting == "ratios":
        weights = 10.0 ** rng.uniform(-9, 9, n_samples)
    elif weighting != "none":
        weights = rng.random(n_samples) + 0.01
    given, weights = weights * unit, relative_weights(weights * unit)
    model = OptimalRuleSet(
        max_literals=max_literals, monotone=monotone,
        literal_cost=literal_cost, rule_cost=rule_cost, monotonic_cst=directions,
    )  # fmt: skip
    model.fit(X, y, given)
    expected = least_dnf_cost(
        X, y == 1, weights, literal_cost, rule_cost, max_literals,
        negations=not monotone, directions=directions,
    )  # fmt: skip
    check_proof(model, expected, weighting)
    if has_directions:
        assert check_monotone(model, X).is_proved
    if model.rules_ or model.default_ == 0:
        by_definition = cost_by_definition(model, X, y, 1, weights)
        assert model.cost_[0] == pytest.approx(by_definition, rel=1e-9)


@pytest.mark.filterwarnings("ignore:No rule gained enough")
@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    n_samples=st.integers(2, 40),
    n_features=st.integers(2, 4),
    max_literals=st.integers(1, 3),
    most=st.integers(0, 7),
    monotone=st.booleans(),
    literal_cost=st.sampled_from([0.0, 0.25, 1.0]),
    rule_cost=st.sampled_from([0.0, 0.5]),
    weighting=st.sampled_from(["none", "real", "ratios"]),
)
def test_no_set_of_so_few_literals_costs_less(
    seed, n_samples, n_features, max_literals, most, monotone, literal_cost,
    rule_cost, weighting,
):  # fmt: skip
    X, y, rng = small_table(seed, n_samples, n_features)
    weights = {
        "none": np.ones(n_samples),
        "real": rng.random(n_samples) + 0.01,
        "ratios": 10.0 ** rng.uniform(-9, 9, n_samples),
    }[weighting]
    weights = relative_weights(weights)
    model = OptimalRuleSet(
        max_literals=max_literals, monotone=monotone, literal_cost=literal_cost,
        rule_cost=rule_cost, max_total_literals=most,
    ).fit(X, y, weights)  # fmt: skip
    expected = least_dnf_cost(
        X, y == 1, weights, literal_cost, rule_cost, max_literals,
        negations=not monotone, most=most,
    )  # fmt: skip
    assert sum(rule.n_literals for rule in model.rules_) <= most
    check_proof(model, expected, weighting)
    if model.rules_ or model.default_ == 0:
        by_definition = cost_by_definition(model, X, y, 1, weights)
        assert model.cost_[0] == pytest.approx(by_definition, rel=1e-9)


def check_bound(seed):
    """No set of rules is below the bound, for weights of any ratio."""
    rng = np.random.default_rng(seed)
    n_samples = int(rng.integers(2, 31))
    X, y, _ = small_table(seed, n_samples, rng.integers(2, 5))
    weights = 10.0 ** rng.uniform(-9, 9, n_samples)
    if rng.random() < 0.3:
        weights = rng.integers(0, 9, n_samples) / rng.choice([1, 4, 7])
        weights[:2] = 1
    price = np.median(weights) * rng.choice([0.0, 0.25, 0.7, 2.0], 2)
    most = [None, int(rng.integers(6))][rng.integers(2)]
    options = {"max_literals": int(rng.integers(1, 4)), "monotone": rng.random() < 0.5}
    model = OptimalRuleSet(
        literal_cost=price[0], rule_cost=price[1], max_total_literals=most,
        time_limit=[None, 1e-2][rng.random() < 0.2], **options,
    ).fit(X, y, weights)  # fmt: skip
    # Costs are in units of the mean weight, where it is below 1.
    weights, used = relative_weights(weights), weights > 0
    least = least_dnf_cost(
        X[used], y[used] == 1, weights[used], *price, options["max_literals"],
        negations=not options["monotone"], most=most,
    )  # fmt: skip
    assert 0 <= model.bound_[0] <= least * (1 + 1e-14), seed
    assert least * (1 - 1e-14) <= model.cost_[0], seed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:No rule")
def test_no_set_of_rules_is_below_thousands_of_bounds():
    for seed in range(2000):
        check_bound(seed)


@pytest.mark.filterwarnings("ignore:All samples of")
@pytest.mark.parametrize("absent", [0, 1])
def test_a_class_without_weight_needs_no_rule(absent):
    X, y, _ = small_table(0, 40, 3)
    with pytest.warns(UserWarning, match="No rule gained enough"):
        model = OptimalRuleSet().fit(X, y, (y != absent) * 1.0)
    assert model.default_ == 1 - absent
    assert model.cost_.tolist() == model.bound_.tolist() == [0.0]


def test_a_limit_of_literals_finds_what_no_price_finds():
    # No literal costs 40, the first feature 30, both together 0. At a price of p one
    # literal would be best for 30 + p < 40 and 30 + p < 2p, which no p satisfies.
    X = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [40, 30, 40, 40], axis=0)
    y = X.all(axis=1).astype(int)
    for price in (0.0, 5.0, 15.0, 19.0):
        model = OptimalRuleSet(literal_cost=price).fit(X, y)
        assert [rule.n_literals for rule in model.rules_] == [2]
    model = OptimalRuleSet(literal_cost=0.0, max_total_literals=1).fit(X, y)
    assert [rule.literals for rule in model.rules_] == [((0, True),)]
    assert (model.cost_[0], model.bound_[0]) == (30, 30)
    assert "no set of rules of at most 1 literals together costs less." in str(
        model._formula().proof
    )


# A busy machine may not find a rule in the time.
@pytest.mark.filterwarnings("ignore:No rule")
@pytest.mark.parametrize("seed", range(6))
def test_a_search_that_is_cut_short_bounds_every_set(seed, monkeypatch):
    X, y, _ = small_table(seed, 60, 4)
    least = least_dnf_cost(X, y == 1, np.ones(60), 1.0, 0.0, 4, negations=True)
    model = OptimalRuleSet(time_limit=1e-3 * 4**seed).fit(X, y)
    assert 0 <= model.bound_[0] <= least <= model.cost_[0]
    # Lists that are cut, and integer programs that end with nothing.
    monkeypatch.setattr(_cheapest_dnf, "N_LISTED", 4)
    problem = DNFProblem(pack_dense(X), 4, y == 1, np.ones(60), 1.0)
    proof = _cheapest_dnf.cheapest_dnf(problem, literal_params())
    assert proof.bound <= least <= proof.cost


@pytest.mark.parametrize("most_sums", [0, 2**24])
def test_all_conjunctions_of_small_reduced_cost_are_listed(most_sums, monkeypatch):
    # Without tables branch and bound lists.
    monkeypatch.setattr(conjunction_table, "MAX_SUMS", most_sums)
    X, y, _ = small_table(1, 60, 5)
    params = literal_params()
    problem = DNFProblem(pack_dense(X), 5, y == 1, np.ones(60), 1.0)
    search = params.conjunction_search(problem.X, 5)
    assert (search.table(4) is None) == (most_sums == 0)
    relaxation = relax(problem, search, params)
    listed, reach = rules_within(search, relaxation, 0.9, params)
    assert reach == 0.9
    coefficients = relaxation.program.coefficients(relaxation.duals)
    covers = {satisfied_by(problem.X, literals).tobytes() for literals in listed}
    n_near = 0
    for literals in every_conjunction(5, 4, negations=True):
        cover = satisfied_by(problem.X, literals)
        if len(literals) - coefficients @ cover <= reach and cover.any():
            assert cover.tobytes() in covers
            n_near += 1
    assert n_near >= len(covers) > 3


def test_greedy_rules_pay_for_themselves():
    X, y, _ = small_table(3, 60, 5)
    problem = DNFProblem(pack_dense(X), 5, y == 1, np.ones(60), 1.0)
    program = Program(problem)
    program.add([((i, True), (j, True)) for i in range(5) for j in range(i)])
    chosen = greedy_dnf(program, literal_params())
    costs = [problem.cost(chosen[:n]) for n in range(len(chosen) + 1)]
    assert chosen
    assert all(np.diff(costs) < 0)


def test_idle_rules_are_dropped():
    X, y, _ = small_table(4, 60, 4)
    problem = DNFProblem(pack_dense(X), 4, y == 1, np.ones(60), 0.0)
    rules = [((0, True), (1, True)), ((0, True), (1, True), (2, True))]
    assert problem.without_idle_rules(rules) == rules[:1]
    assert problem.without_idle_rules([]) == []


def test_each_of_several_classes_has_its_proof():
    X, _, _rng = small_table(5, 40, 4)
    y = np.array(["c", "a", "b"])[X[:, 0] + (X[:, 1] & X[:, 2])]
    y[:4] = ["a", "b", "c", "a"]
    model = OptimalRuleSet().fit(X, y)
    for k, name in enumerate(["a", "b", "c"]):
        least = least_dnf_cost(X, y == name, np.ones(40), 1.0, 0.0, 4, negations=True)
        assert model.cost_[k] == model.bound_[k] == least
        assert cost_by_definition(model, X, y, name) == least
    assert model.gap_.tolist() == [0, 0, 0]
    precisions = [rule.precision for rule in model.rules_]
    assert len(precisions) > 2
    assert np.mean(model.predict(X) == y) > 0.9
    assert model.class_counts_.sum() == 40


def test_the_second_class_is_described():
    data = make_monks(1)
    model = OptimalRuleSet(monotone=True).fit(data.data, data.target)
    assert {rule.label for rule in model.rules_} == {1}
    assert model.default_ == 0
    other = OptimalRuleSet(monotone=True).fit(data.data, 1 - data.target)
    assert other.cost_[0] > model.cost_[0] == 7
    assert other.gap_[0] == 0


def test_votes_are_proved_and_greedy_rules_cost_more():
    data = load_votes(as_frame=True)
    model = OptimalRuleSet(max_literals=2).fit(data.data, data.target)
    assert model.gap_[0] == 0
    y = np.asarray(data.target)
    X = np.asarray(data.data)
    assert cost_by_definition(model, X, y, 1) == model.cost_[0]
    greedy = RuleClassifier("labels", max_literals=2, penalty=1.0, literal_cost=1.0)
    problem = DNFProblem(pack_dense(X), X.shape[1], y == 1, np.ones(len(y)), 1.0)
    rules = [r.literals for r in greedy.fit(X, y).rules_ if r.label == 1]
    assert model.cost_[0] <= problem.cost(rules)


def test_a_price_that_no_rule_is_worth():
    X, y, _ = small_table(6, 50, 4)
    y[:30] = 0
    for price in (1e3, 1e300):
        with pytest.warns(UserWarning, match="No rule gained enough"):
            model = OptimalRuleSet(literal_cost=price).fit(X, y)
        assert model.rules_ == []
        assert model.default_ == 0
        assert model.cost_[0] == model.bound_[0] == y.sum()
    # The empty conjunction covers all samples, at the price of the others.
    with pytest.warns(UserWarning, match="No rule gained enough"):
        model.fit(X, 1 - y)
    assert model.default_ == 1
    assert model.cost_[0] == y.sum()


def test_frames_names_and_groups_of_an_encoder():
    X, y = load_recurrence(return_X_y=True, as_frame=True)
    encoder = BooleanEncoder().fit(X, y)
    encoded = encoder.set_output(transform="pandas").transform(X)
    model = OptimalRuleSet(max_literals=2).fit(encoded, y)
    assert model.gap_.max() == 0
    for rule in model.rules_:
        columns = [name.partition("=")[0] for name in rule.names if "=" in name]
        assert len(set(columns)) == len(columns)
        assert all(name in model.to_text() for name in rule.names)
    assert model.predict(encoded).shape == y.shape


# A busy machine may not find a rule in the time.
@pytest.mark.filterwarnings("ignore:No rule was found in")
def test_time_limits_are_kept():
    X, y, _ = make_dnf(10000, 100, n_terms=8, n_literals=4, random_state=0)
    y = y ^ (np.random.default_rng(0).random(10000) < 0.2)
    OptimalRuleSet(time_limit=0.1).fit(X[:50], y[:50])
    start = time.monotonic()
    model = OptimalRuleSet(time_limit=0.4).fit(X, y)
    assert time.monotonic() - start < 3  # other processes share the machine
    assert 0 <= model.bound_[0] < model.cost_[0]
    assert 0 < model.gap_[0] <= 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:No rule")
@pytest.mark.parametrize("max_literals", [1, 2, 3, 4])
def test_little_is_done_after_the_time_limit(max_literals):
    X, y, _ = make_dnf(4000, 300, n_terms=8, n_literals=4, random_state=0)
    y = y ^ (np.random.default_rng(0).random(4000) < 0.2)
    at_the_limit, took = [], []
    while len(took) < 3 and min(took, default=1) > 0.4:
        note = threading.Timer(2, lambda: at_the_limit.append(time.process_time()))
        note.start()
        OptimalRuleSet(max_literals=max_literals, time_limit=2.0).fit(X, y)
        note.cancel()
        took.append(time.process_time() - at_the_limit.pop() if at_the_limit else 0.0)
    assert min(took) <= 0.4, took


def test_without_a_rule_the_warning_says_whether_time_or_prices_are_to_blame():
    X, y, _ = make_dnf(2000, 40, n_terms=8, n_literals=4, random_state=0)
    y = y ^ (np.random.default_rng(0).random(2000) < 0.2)
    with pytest.warns(UserWarning, match=r"found in 1e-09 s: .* Raise time_limit\."):
        assert OptimalRuleSet(time_limit=1e-9).fit(X, y).gap_[0] > 0
    with pytest.warns(UserWarning, match=r"gained enough: .* Lower literal_cost"):
        assert OptimalRuleSet(literal_cost=2000.0).fit(X, y).gap_[0] == 0


def test_ctrl_c_ends_the_fit_and_keeps_the_earlier_one():
    X, y, _ = make_dnf(2000, 40, n_terms=8, n_literals=4, random_state=0)
    y = y ^ (np.random.default_rng(0).random(2000) < 0.2)
    data = make_monks(1)
    model = OptimalRuleSet(monotone=True, time_limit=3.0).fit(data.data, data.target)
    before = model.cost_
    timer = threading.Timer(
        0.5, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)
    )
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        # So long that a step which holds the lock of Python does not reach its end.
        model.set_params(monotone=False, time_limit=60.0).fit(X, y)
    assert model.cost_ is before


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"literal_cost": -1}, "literal_cost"),
        ({"literal_cost": [1, 2]}, "literal_cost"),
        ({"rule_cost": np.nan}, "rule_cost"),
        ({"time_limit": 0}, "time_limit"),
        ({"max_literals": 0}, "max_literals"),
        ({"max_total_literals": -1}, "max_total_literals"),
        ({"max_total_literals": 2.5}, "max_total_literals"),
        ({"monotone": "yes"}, "monotone"),
        ({"feature_groups": [1]}, "feature_groups"),
    ],
)
def test_bad_parameters_are_named(params, message):
    X, y, _ = small_table(0, 20, 3)
    with pytest.raises((TypeError, ValueError), match=message):
        OptimalRuleSet(**params).fit(X, y)
