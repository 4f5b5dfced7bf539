"""The search against every conjunction written out."""

import os
import signal
import threading
import time
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from oracles.rules import correlated_rows, every_conjunction, largest_weights, satisfies
from scipy import sparse

from sklboolean._core import conjunction_search as search
from sklboolean._core import conjunction_table, search_task
from sklboolean._core.bits import pack_dense
from sklboolean._core.conjunction_search import satisfied_by, search_conjunctions
from sklboolean._core.parallel import kept_threads
from sklboolean._core.validation import as_boolean

COEFFICIENTS = {
    "signs": lambda rng, n: rng.choice([-1.0, 1.0], n),
    "small": lambda rng, n: rng.integers(-3, 4, n).astype(float),
    "large": lambda rng, n: rng.integers(-(2**40), 2**40, n).astype(float),
    "eighths": lambda rng, n: rng.integers(-40, 40, n) / 8,
}
# Powers of two and small integers: scores are then the same in floats and fractions.
LENGTH_WEIGHTS = {
    "falling": lambda n: [2.0**-k for k in range(n + 1)],
    "growing": lambda n: [2.0**k for k in range(n + 1)],
    "up and down": lambda n: [0.0, 1.0, 6.0, 6.0, 3.0, 2.0, 1.0, *[1.0] * n][: n + 1],
    "exactly two": lambda n: [float(k == 2) for k in range(n + 1)],
    "two or three": lambda n: [0.0, 0.0, 6.0, 4.0, *[0.0] * n][: n + 1],
}


def use_engine(patch, engine):
    """Let all searches run by one engine."""
    if engine in ("branches", "delivery"):
        patch.setattr(conjunction_table, "MAX_SUMS", 0)
        if engine == "delivery":  # samples add to the sums of their features, always
            patch.setattr(search, "WORD_OF_SAMPLE", -1e9)
    elif engine == "race":
        patch.setattr(search, "QUICK_TABLE", 0)
    elif engine == "blocks":
        patch.setattr(conjunction_table, "ADD_TO_BIN", 0)
        patch.setattr(conjunction_table, "BINS", 0)
    if engine in ("tables", "blocks", "counts"):  # of samples of one value
        patch.setattr(conjunction_table, "COUNT", 0 if engine == "counts" else 1e9)
        patch.setattr(conjunction_table, "COUNTED", 33)


@pytest.fixture
def branches_only(monkeypatch):
    use_engine(monkeypatch, "branches")


def compare(X, coefficients, n_rules, max_literals, *, block=None, **options):
    expected = largest_weights(
        X, coefficients, n_rules, max_literals,
        negations=not options.get("monotone", True), sign=options.get("sign", "both"),
        groups=options.get("feature_groups"),
        length_weights=options.get("length_weights"),
        directions=options.get("directions"),
    )  # fmt: skip
    result = search_conjunctions(
        pack_dense(X), coefficients, X.shape[1], n_rules=n_rules,
        max_literals=max_literals, **options,
    )  # fmt: skip
    assert [literals for literals, _ in result.found] == [e[0] for e in expected]
    assert [Fraction(value) for _, value in result.found] == [e[1] for e in expected]
    assert result.is_optimal
    assert result.bound == (expected[-1][2] if len(expected) == n_rules else 0)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_features = draw(st.integers(1, 10))
    X = correlated_rows(draw(st.integers(1, 40)), n_features, rng)
    kind = draw(st.sampled_from(sorted(COEFFICIENTS)))
    coefficients = COEFFICIENTS[kind](rng, len(X))
    negations = draw(st.booleans())
    most = min(n_features, 4 if negations and n_features > 6 else 10)
    options = {
        "monotone": not negations,
        "sign": draw(st.sampled_from(["positive", "negative", "both"])),
    }
    if draw(st.booleans()):
        options["feature_groups"] = rng.integers(0, 4, n_features)
    max_literals = draw(st.integers(1, most))
    weights = draw(st.sampled_from([None, *sorted(LENGTH_WEIGHTS)]))
    if weights:
        options["length_weights"] = LENGTH_WEIGHTS[weights](max_literals)
    if weights not in ("growing", "up and down") and draw(st.booleans()):
        options["directions"] = rng.integers(-1, 2, n_features).astype(np.int8)
    return X, coefficients, draw(st.integers(1, 30)), max_literals, options


@settings(max_examples=200)
@given(
    problems(),
    st.sampled_from(["tables", "blocks", "counts", "race", "branches", "delivery"]),
    st.sampled_from([1, 3, 256]),
    st.sampled_from([1, 4, 2**18]),
)
def test_search_is_that_over_all_conjunctions(problem, engine, width, block):
    X, coefficients, n_rules, max_literals, options = problem
    with pytest.MonkeyPatch.context() as patch:
        use_engine(patch, engine)
        # A narrow first search and small blocks: every way through the levels.
        patch.setattr(search, "WIDTHS", (width, 2 * width))
        patch.setattr(search_task, "BLOCK", block)
        compare(X, coefficients, n_rules, max_literals, **options)


@given(st.integers(0, 2**32 - 1))
def test_one_hot_columns_with_groups(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, 4)
    groups = np.repeat(np.arange(4), sizes)
    X = np.hstack([np.eye(k, dtype=bool)[rng.integers(0, k, 30)] for k in sizes])
    coefficients = rng.choice([-1.0, 1.0], 30)
    for monotone in (True, False):
        compare(
            X, coefficients, 10, 3, monotone=monotone, feature_groups=groups,
            sign="both",
        )  # fmt: skip


@given(st.integers(0, 2**32 - 1))
def test_any_floats_are_summed_up_to_rounding(seed):
    rng = np.random.default_rng(seed)
    X = correlated_rows(25, 6, rng)
    coefficients = rng.standard_normal(25) * 10.0 ** rng.integers(-4, 5, 25)
    size = np.abs(coefficients).sum()
    result = search_conjunctions(pack_dense(X), coefficients, 6, max_literals=3)
    expected = largest_weights(X, coefficients, 20, 3)
    assert len(result.found) <= len(expected)
    values = [abs(value) for _, value in result.found]
    best = [float(score) for _, _, score in expected][: len(values)]
    assert np.allclose(values, best, rtol=0, atol=size * 2.0**-46)
    for literals, value in result.found:
        inside = [satisfies(row, literals) for row in X]
        exact = sum(Fraction(c) for c in coefficients[inside])
        assert value == float(exact)


@pytest.mark.parametrize("kind", sorted(COEFFICIENTS))
@pytest.mark.parametrize("n_samples", [1, 64, 200])
def test_every_instruction_set_finds_the_same(kind, n_samples, monkeypatch, cpu_paths):
    rng = np.random.default_rng(n_samples)
    X = correlated_rows(n_samples, 9, rng)
    coefficients = COEFFICIENTS[kind](rng, n_samples)
    options = {"n_rules": 15, "max_literals": 3, "monotone": False}
    compare(X, coefficients, **options)
    found = []
    for engine in ("default", "branches"):
        use_engine(monkeypatch, engine)
        for _ in cpu_paths():
            result = search_conjunctions(pack_dense(X), coefficients, 9, **options)
            found.append(result._replace(work=0))
    assert found == [found[0]] * len(found)


def test_sparse_rows_give_the_same():
    rng = np.random.default_rng(0)
    X = rng.random((300, 1500)) < 0.02
    coefficients = rng.choice([-1.0, 1.0], 300)
    options = {"n_rules": 12, "max_literals": 2, "monotone": False}
    dense = search_conjunctions(pack_dense(X), coefficients, 1500, **options)
    table = as_boolean(sparse.csr_array(X))
    assert search_conjunctions(table, coefficients, 1500, **options) == dense
    for literals, _ in dense.found:
        expected = [satisfies(row, literals) for row in X]
        assert np.array_equal(satisfied_by(table, literals), expected)
        assert np.array_equal(satisfied_by(pack_dense(X), literals), expected)


def test_more_rules_than_there_are():
    X = np.array([[1, 0], [0, 1], [1, 1]], dtype=bool)
    found = search_conjunctions(pack_dense(X), [1, 1, -3], 2, max_literals=5).found
    assert found == [
        (((0, True), (1, True)), -3),
        (((0, True),), -2),
        (((1, True),), -2),
    ]


def test_no_coefficients_no_rules():
    nothing = search_conjunctions(np.zeros((0, 1), np.uint64), [], 3, max_literals=2)
    assert nothing == ([], 0.0, True, 0)
    X = pack_dense(np.ones((2, 3), dtype=bool))
    assert search_conjunctions(X, [0, 0], 3, max_literals=2).found == []
    assert (
        search_conjunctions(X, [1, 2], 3, max_literals=2, sign="negative").found == []
    )


def hard_problem(n_samples=600, n_features=60):
    rng = np.random.default_rng(0)
    X = rng.random((n_samples, n_features)) < 0.5
    return X, rng.choice([-1.0, 1.0], n_samples)


@pytest.mark.usefixtures("branches_only")
def test_an_early_answer_comes_with_a_bound():
    X, coefficients = hard_problem()
    words = pack_dense(X)
    began = time.monotonic()
    early = search_conjunctions(
        words, coefficients, 60, max_literals=9, monotone=False, time_limit=0.05
    )
    assert time.monotonic() - began < 5
    assert not early.is_optimal
    assert early.bound >= abs(early.found[-1][1])
    for literals, value in early.found:
        inside = satisfied_by(words, literals)
        assert value == coefficients[inside].sum()
    # Random conjunctions outside the list keep to the bound.
    full = search_conjunctions(words, coefficients, 60, max_literals=3, n_rules=50)
    assert full.is_optimal
    listed = {literals for literals, _ in early.found}
    outside = [abs(value) for literals, value in full.found if literals not in listed]
    assert max(outside, default=0) <= early.bound


@pytest.mark.skipif(os.name != "posix", reason="signals to oneself")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.usefixtures("branches_only")
def test_a_search_can_be_interrupted(n_jobs, monkeypatch):
    # Narrow first searches: the signal comes when the branches are at work.
    monkeypatch.setattr(search, "WIDTHS", (4,))
    X, coefficients = hard_problem(3000, 200)
    began = time.monotonic()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        search_conjunctions(
            pack_dense(X), coefficients, 200, max_literals=8, monotone=False,
            time_limit=60, n_jobs=n_jobs,
        )  # fmt: skip
    # The branches end too, long before their time: their threads are free.
    pool, meeting = kept_threads(os.getpid(), 2), threading.Barrier(2, timeout=30)
    waits = [pool.submit(meeting.wait) for _ in range(2)]
    assert {wait.result(30) for wait in waits} == {0, 1}
    assert time.monotonic() - began < 30


@given(problems(), st.sampled_from([1, 2, 5, 40]))
def test_branches_do_not_depend_on_their_jobs(problem, n_branches):
    X, coefficients, n_rules, max_literals, options = problem
    options |= {"n_rules": n_rules, "max_literals": max_literals}
    with pytest.MonkeyPatch.context() as patch:
        use_engine(patch, "branches")
        patch.setattr(search, "WIDTHS", (1,))
        patch.setattr(search, "BRANCHES", n_branches)
        compare(X, coefficients, n_jobs=2, **options)
        one, two = (
            search_conjunctions(
                pack_dense(X), coefficients, X.shape[1], n_jobs=n_jobs, **options
            )
            for n_jobs in (1, 2)
        )
    assert one == two


@pytest.mark.parametrize(
    ("backend", "n_jobs"), [("threading", 1), ("threading", -1), ("loky", 2)]
)
@pytest.mark.usefixtures("branches_only")
def test_branches_do_not_depend_on_the_backend(backend, n_jobs, monkeypatch):
    monkeypatch.setattr(search, "WIDTHS", (4,))
    rng = np.random.default_rng(0)
    X = correlated_rows(80, 8, rng)
    coefficients = rng.integers(-5, 6, 80).astype(float)
    options = {"max_literals": 4, "n_rules": 12, "monotone": False}
    alone = search_conjunctions(pack_dense(X), coefficients, 8, **options)
    with parallel_config(backend=backend):
        compare(X, coefficients, n_jobs=n_jobs, **options)
        found = search_conjunctions(
            pack_dense(X), coefficients, 8, n_jobs=n_jobs, **options
        )
    assert found == alone
    # There were branches: together they look at more than one search.
    monkeypatch.setattr(search, "BRANCHES", 1)
    uncut = search_conjunctions(pack_dense(X), coefficients, 8, **options)
    assert uncut.work < alone.work
    assert uncut._replace(work=0) == alone._replace(work=0)


@pytest.mark.usefixtures("branches_only")
def test_work_ends_the_search_in_the_same_place(monkeypatch):
    """With any number of jobs: each branch has its part."""
    monkeypatch.setattr(search, "SLICE", 1)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 12), dtype=np.uint8)
    coefficients = rng.integers(-5, 6, 200).astype(float)
    options = {"max_literals": 4, "floor": 1.0}
    work = []
    for max_work in (1, 1e5, 1e9):
        results = [
            search_conjunctions(
                pack_dense(X), coefficients, 12, max_work=max_work, n_jobs=n_jobs,
                **options,
            )
            for n_jobs in (1, 2, 1)
        ]  # fmt: skip
        assert results[0] == results[1] == results[2]
        assert results[0].is_optimal == (max_work == 1e9)
        work.append(results[0].work)
    assert work[0] < work[1] < work[2]
    whole = search_conjunctions(pack_dense(X), coefficients, 12, **options)
    assert results[0] == whole


@settings(max_examples=100)
@given(
    problems(), st.integers(1, 300), st.sampled_from([1, 3]),
    st.sampled_from(["time_limit", "max_work"]),
)  # fmt: skip
def test_the_bound_of_an_early_answer_holds(problem, words, n_branches, limit):
    """Stopped after a few steps: everything not listed keeps to the bound."""
    X, coefficients, n_rules, max_literals, options = problem
    with pytest.MonkeyPatch.context() as patch:
        use_engine(patch, "branches")
        patch.setattr(search, "WIDTHS", (2, 3))
        patch.setattr(search, "SLICE", words)
        patch.setattr(search, "BRANCHES", n_branches)
        result = search_conjunctions(
            pack_dense(X), coefficients, X.shape[1], n_rules=n_rules,
            max_literals=max_literals, **{limit: 1e-9}, **options,
        )  # fmt: skip
    everything = largest_weights(
        X, coefficients, 10**6, max_literals,
        negations=not options["monotone"], sign=options["sign"],
        groups=options.get("feature_groups"),
        length_weights=options.get("length_weights"),
        directions=options.get("directions"),
    )  # fmt: skip
    used = coefficients != 0
    covers = {satisfied_by(pack_dense(X), r)[used].tobytes() for r, _ in result.found}
    for literals, _, score in everything:
        cover = satisfied_by(pack_dense(X), literals)[used].tobytes()
        assert cover in covers or score <= result.bound


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_rules": 0}, "n_rules"),
        ({"max_literals": 0}, "max_literals"),
        ({"monotone": "both"}, "monotone must be one of"),
        ({"sign": "+"}, "sign must be one of"),
        ({"time_limit": 0}, "time_limit must be greater than 0"),
        ({"feature_groups": ["a", "b"]}, "feature_groups must hold one label"),
    ],
)
def test_bad_parameters_are_named(options, message):
    X = pack_dense(np.ones((2, 3), dtype=bool))
    with pytest.raises(ValueError, match=message):
        search_conjunctions(X, [1, -1], 3, **{"max_literals": 2, **options})


@pytest.mark.parametrize("engine", ["tables", "blocks"])
def test_many_samples_and_mixed_densities_agree_with_branch_and_bound(
    engine, monkeypatch
):
    """More places than one scanned block, inverted features, groups."""
    rng = np.random.default_rng(0)
    X = rng.random((200, 72)) < rng.choice([0.02, 0.2, 0.97], 72)
    words = pack_dense(X)
    coefficients = rng.integers(-9, 10, 200).astype(float)
    for options in (
        {"monotone": False, "sign": "both", "max_literals": 3},
        {"monotone": True, "sign": "negative", "max_literals": 4},
        {"monotone": False, "feature_groups": np.arange(72) // 3, "max_literals": 2},
    ):
        with monkeypatch.context() as patch:
            use_engine(patch, "branches")
            exact = search_conjunctions(words, coefficients, 72, n_rules=40, **options)
        with monkeypatch.context() as patch:
            use_engine(patch, engine)
            patch.setattr(search, "QUICK_TABLE", np.inf)
            found = search_conjunctions(words, coefficients, 72, n_rules=40, **options)
        assert exact.is_optimal
        assert found._replace(work=0) == exact._replace(work=0)


def test_the_cost_of_tables_counts_what_each_sample_adds():
    ones = np.array([0, 1, 5, 9])
    cost = conjunction_table.TableCost.of(ones, 12, 3)
    assert cost.n_sums == 1 + 12 + 66 + 220
    n_added = sum(comb(int(k), length) for k in ones for length in (1, 2, 3))
    n_scanned = 12 + 2 * 66 + 4 * 220
    assert cost.uses_blocks == (False, False, False, False)
    assert cost.nanoseconds == pytest.approx(
        conjunction_table.ADD * n_added + conjunction_table.SCAN * n_scanned
    )
    # Of 100 features 50 are true: 19,600 triples a sample, or 2,925 additions to bins.
    dense = conjunction_table.TableCost.of(np.full(10_000, 50), 100, 3)
    assert dense.uses_blocks == (False, False, True, True)


def one_hot_table(rng):
    """Draw samples of one-hot columns, thresholds and single features between them."""
    n_samples, columns = int(rng.integers(1, 70)), []
    for _ in range(rng.integers(1, 4)):
        shares = rng.dirichlet(np.ones(rng.integers(1, 5)))
        levels = rng.choice(len(shares), n_samples, p=shares)
        columns += [levels == level for level in range(len(shares))]
        if rng.random() < 0.5:
            numbers = rng.integers(0, 5, n_samples)
            columns += [numbers <= t for t in range(4)]
            columns += [numbers > t for t in range(rng.integers(0, 3))]
        if rng.random() < 0.5:
            columns.append(rng.random(n_samples) < rng.random())
    return np.array(columns).T


@given(problems(), st.integers(1, 8), st.sampled_from(["tables", "blocks", "race"]))
def test_sums_of_several_searches_find_what_each_finds(problem, n_searches, engine):
    X, coefficients, n_rules, max_literals, options = problem
    space = ("monotone", "feature_groups", "directions")
    layout = {name: options.pop(name) for name in space if name in options}
    targets = [np.roll(coefficients, k) * (1 - 2 * (k % 2)) for k in range(n_searches)]
    with pytest.MonkeyPatch.context() as patch:
        use_engine(patch, engine)
        one = search.ConjunctionSearch(
            pack_dense(X), X.shape[1], max_literals=max_literals, **layout
        )
        each = one.sums_of_each(targets)
        for target, sums in zip(targets, each, strict=True):
            if engine == "tables":
                is_single = n_searches == 1 or one.table(one.longest) is None
                assert (sums is None) == is_single
            expected = one.best(target, n_rules=n_rules, **options)
            found = one.best(target, n_rules=n_rules, sums=sums, **options)
            assert found._replace(work=0) == expected._replace(work=0)


@given(
    st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([1, 2**24]),
    st.integers(1, 3), st.sampled_from([0, 2**18]),
)  # fmt: skip
def test_sums_of_one_hot_columns_are_those_of_their_definition(
    seed, longest, listed, n_jobs, in_cache
):
    rng = np.random.default_rng(seed)
    X = one_hot_table(rng)
    n_samples, m = X.shape
    values = rng.integers(-9, 10, n_samples).astype(float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conjunction_table, "LISTED", listed)
        patch.setattr(conjunction_table, "IN_CACHE", in_cache)
        patch.setattr(conjunction_table, "ADDED_BY_ONE", 0)
        patch.setattr(conjunction_table, "COPY", 0)
        literals = np.zeros((m, 2), dtype=np.int32)
        samples = pack_dense(X), pack_dense(X.T), np.arange(m, dtype=np.int32)
        signs = np.zeros(2 * m, dtype=np.uint8)
        table = conjunction_table.ConjunctionTable(
            *samples, literals, signs, longest, n_jobs
        )
        sums, counts = table.sums(values), table.counts
        targets = np.outer(np.arange(-3, 5), values)
        of_targets = list(table.sums_of_targets(targets))
    truths = np.array([X[:, j] ^ table.is_inverted[j] for j in table.features])
    # A sample adds to one place of each chain, the smallest set that holds it.
    chains = [truths[: len(table.chains)][table.chains == k] for k in set(table.chains)]
    assert table.n_ones == sum(chain.any(axis=0).sum() for chain in chains)
    assert all((chain[1:] <= chain[:-1]).all() for chain in chains)
    for length in range(1, longest + 1):
        for places in combinations(range(m), length):
            rank = sum(comb(place, k) for k, place in enumerate(places, 1))
            holds = truths[list(places)].all(axis=0)
            assert sums[length][rank] == values[holds].sum()
            found = [of_target[length][rank] for of_target in of_targets]
            assert found == [target[holds].sum() for target in targets]
            assert counts[length][rank] == holds.sum()


@given(st.integers(0, 10**6))
def test_in_a_run_one_column_is_true_in_each_sample(seed):
    X = one_hot_table(np.random.default_rng(seed)).astype(int)
    columns = pack_dense(X.T.astype(np.uint8))
    runs = conjunction_table.one_hot_runs(columns, len(X))
    for run in runs:
        assert len(run) > 1
        assert (X[:, list(run)].sum(axis=1) == 1).all()
    inside = {j for run in runs for j in run}
    for first, last in combinations(range(X.shape[1] + 1), 2):
        if last > first + 1 and (X[:, first:last].sum(axis=1) == 1).all():
            assert inside & set(range(first, last))


def test_thresholds_make_one_chain_and_need_one_feature_each():
    """A number of five values: four thresholds, of which some are counted by x > t."""
    numbers = np.arange(500) % 5
    X = np.array([o for t in range(4) for o in (numbers <= t, numbers > t)]).T
    search_ = search.ConjunctionSearch(pack_dense(X), 8, max_literals=2, monotone=False)
    table = search_.table(2)
    assert sorted(map(tuple, table.literals.tolist())) == [
        (1, 0), (3, 2), (4, 5), (6, 7)
    ]  # fmt: skip
    assert table.chains.tolist() == [0, 0, 1, 1]
    assert table.n_ones == 400  # all but those of the middle value
    middle = np.where(numbers == 2, 5.0, -1.0)
    assert search_.best(middle, n_rules=1).found == [(((3, True), (4, True)), 500.0)]


@given(st.integers(0, 10**6), st.booleans())
def test_each_literal_is_represented_by_the_first_of_its_samples(seed, monotone):
    rng = np.random.default_rng(seed)
    X = one_hot_table(rng)
    n_samples, m = X.shape
    groups = rng.integers(0, m, m).astype(np.int32)
    directions = rng.choice([-1, 0, 0, 0, 1], m).astype(np.int8)
    columns = pack_dense(X.T.astype(np.uint8))
    features, literals = conjunction_table.distinct_features(
        columns, groups, directions, n_samples, monotone=monotone
    )
    truths, signs = np.hstack([X, ~X]).T, np.concatenate([directions, -directions])
    shares = [groups.tolist().count(group) > 1 for group in groups]

    def is_like(j, k):
        return j == k or (groups[j] == groups[k] if shares[j] or shares[k] else True)

    for literal in range(m if monotone else 2 * m):
        first = next(
            other for other in range(2 * m)
            if (truths[other] == truths[literal]).all()
            and signs[other] == signs[literal]
            and is_like(other % m, literal % m) and not (monotone and other >= m)
        )  # fmt: skip
        assert first in (literals[:, 1] if monotone else literals)
    for j, (negation, itself) in zip(features, literals, strict=True):
        assert j == itself
        assert (truths[negation] == ~X[:, j]).all()


def test_a_diverse_list_has_one_conjunction_for_each_suffix():
    """By definition: the best of all that share all places but the most frequent."""
    rng = np.random.default_rng(1)
    X = rng.random((60, 8)) < rng.uniform(0.1, 0.5, 8)
    coefficients = rng.integers(-9, 10, 60).astype(float)
    options = {"max_literals": 3, "monotone": False, "n_rules": 200}
    search_ = search.ConjunctionSearch(pack_dense(X), 8, max_literals=3, monotone=False)
    result = search_.best(coefficients, n_rules=200, diverse=True)
    everything = search_conjunctions(pack_dense(X), coefficients, 8, **options).found
    assert result.found[0] == everything[0]
    place = {int(j): k for k, j in enumerate(search_.table(3).features)}
    suffixes = [
        (len(literals), *sorted(place[j] for j, _ in literals)[1:])
        for literals, _ in result.found
    ]
    assert len(set(suffixes)) == len(suffixes)
    assert set(result.found) <= set(everything)


@pytest.mark.parametrize("engine", ["tables", "branches"])
def test_a_list_by_length_has_the_best_of_each_length(engine, monkeypatch):
    use_engine(monkeypatch, engine)
    rng = np.random.default_rng(2)
    X = rng.random((60, 6)) < 0.4
    coefficients = rng.integers(-9, 10, 60).astype(float)
    finder = search.ConjunctionSearch(pack_dense(X), 6, max_literals=3, monotone=False)
    everything = finder.best(coefficients, n_rules=50).found
    result = finder.best(coefficients, n_rules=50, by_length=True)
    lengths = [len(literals) for literals, _ in everything]
    firsts = sorted(lengths.index(length) for length in set(lengths))
    assert result.found == [everything[k] for k in firsts]
    assert len(firsts) > 1
    assert result.bound == abs(everything[0][1])


def test_bad_coefficients_are_refused():
    X = pack_dense(np.ones((2, 3), dtype=bool))
    with pytest.raises(ValueError, match="coefficients hold infinity or NaN"):
        search_conjunctions(X, [1, np.inf], 3, max_literals=2)


def test_the_oracle_writes_all_conjunctions_out():
    assert len(list(every_conjunction(4, 4))) == 2**4 - 1
    assert len(list(every_conjunction(4, 4, negations=True))) == 3**4 - 1
    assert len(list(every_conjunction(4, 4, groups=[0, 0, 1, 1]))) == 4 + 4


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.usefixtures("branches_only")
def test_limited_width_finds_true_sums_and_says_that_it_is_not_exact(seed):
    rng = np.random.default_rng(seed)
    X = correlated_rows(60, 9, rng)
    coefficients = rng.integers(-5, 6, 60).astype(float)
    options = {"max_literals": 4, "n_rules": 8, "monotone": False}
    exact = search_conjunctions(pack_dense(X), coefficients, 9, **options)
    wide = search_conjunctions(pack_dense(X), coefficients, 9, width=10**6, **options)
    assert wide.found == exact.found
    assert wide.is_optimal
    quick = search_conjunctions(pack_dense(X), coefficients, 9, width=3, **options)
    assert not quick.is_optimal
    for (literals, total), (_, best) in zip(quick.found, exact.found, strict=False):
        holds = [satisfies(row, literals) for row in X]
        assert total == coefficients[holds].sum()
        assert abs(total) <= abs(best)


@pytest.mark.parametrize("engine", ["tables", "blocks", "counts"])
@pytest.mark.parametrize(("seed", "monotone"), [(0, False), (1, False), (2, True)])
def test_running_sums_find_the_best_of_each_part(seed, monotone, engine, monkeypatch):
    use_engine(monkeypatch, engine)
    rng = np.random.default_rng(seed)
    X = correlated_rows(80, 6, rng)
    coefficients = rng.integers(-4, 5, 80) / 2
    finder = search.ConjunctionSearch(
        pack_dense(X), 6, max_literals=4, monotone=monotone, feature_groups=[*"abcdee"]
    )
    sums = finder.running_sums(coefficients)
    for share in (1.0, 0.9, 0.8, 0.1, 1.0):
        part = rng.random(80) < share
        best, weight_of = {}, {}
        for literals in every_conjunction(
            6, 4, negations=not monotone, groups=[*"abcdee"]
        ):
            literals = tuple(sorted(literals))
            cover = finder.cover([literals])
            assert cover.tolist() == [satisfies(row, literals) for row in X]
            weight = weight_of[literals] = (coefficients * part)[cover].sum()
            best[len(literals)] = max(best.get(len(literals), 0.0), weight)
        found = {len(rule): (rule, w) for rule, w in sums.best(part, monotone, 4, 99)}
        reached = 0.0
        for length in (1, 2, 3):
            if best[length] > reached:
                reached = best[length]
                assert found[length] == (found[length][0], reached)
            else:
                assert length not in found
        for rule, weight in found.values():
            assert weight_of[rule] == weight
        if 3 in found:
            # Whatever extends the best conjunction of three literals was looked at.
            longer = [w for r, w in weight_of.items() if {*found[3][0]} < {*r}]
            assert found.get(4, found[3])[1] >= max(longer, default=0.0)
    assert not finder.cover([]).any()
