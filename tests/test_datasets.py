import sys
from itertools import combinations, pairwise, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklboolean.datasets import (
    load_mushroom,
    load_recurrence,
    load_votes,
    make_disjunction,
    make_dnf,
    make_monks,
    make_threshold,
    make_tic_tac_toe,
)

WHOLE_SETS = {
    "mushroom": (load_mushroom, (8124, 117), [4208, 3916], 22),
    "votes": (load_votes, (435, 48), [267, 168], 16),
    "tic-tac-toe": (make_tic_tac_toe, (958, 27), [332, 626], 9),
    "monks-1": (lambda **kw: make_monks(1, **kw), (432, 17), [216, 216], 6),
    "monks-2": (lambda **kw: make_monks(2, **kw), (432, 17), [290, 142], 6),
    "monks-3": (lambda **kw: make_monks(3, **kw), (432, 17), [204, 228], 6),
}
SAMPLERS = [make_dnf, make_threshold, make_disjunction]
seeds = st.integers(0, 2**32 - 1)


def decode(bunch):
    """Return each row as a dict from attribute to value, read off the names."""
    rows = []
    for x in bunch.data:
        true = [bunch.feature_names[j] for j in np.flatnonzero(x)]
        rows.append(dict(name.split("=") for name in true))
    return rows


def is_true(term, x):
    return all(bool(x[feature]) == value for feature, value in term)


def column(bunch, name):
    return bunch.data[:, bunch.feature_names.index(name)] == 1


@pytest.mark.parametrize("name", WHOLE_SETS)
def test_whole_set_has_its_shape_and_one_value_for_each_attribute(name):
    load, shape, class_counts, n_attributes = WHOLE_SETS[name]
    bunch = load()
    assert bunch.data.shape == shape
    assert bunch.data.dtype == np.uint8
    assert bunch.data.flags.c_contiguous
    assert bunch.target.dtype == np.int64
    assert_array_equal(np.bincount(bunch.target), class_counts)
    assert len(bunch.target_names) == 2
    assert len(set(bunch.feature_names)) == shape[1]
    assert len(set(bunch.feature_groups)) == n_attributes
    groups = np.array(bunch.feature_groups)
    for group in set(bunch.feature_groups):
        assert_array_equal(bunch.data[:, groups == group].sum(axis=1), 1)
    assert bunch.frame is None
    assert len(bunch.DESCR) > 200


@pytest.mark.parametrize("name", WHOLE_SETS)
def test_whole_set_as_pair_and_as_frame(name):
    pd = pytest.importorskip("pandas")
    load, (_, n_features), _, _ = WHOLE_SETS[name]
    bunch = load()
    X, y = load(return_X_y=True)
    assert_array_equal(X, bunch.data)
    assert_array_equal(y, bunch.target)

    framed = load(as_frame=True)
    assert list(framed.frame) == [*bunch.feature_names, "target"]
    assert framed.frame.shape[1] == n_features + 1
    X, y = load(return_X_y=True, as_frame=True)
    for data, target in [(X, y), (framed.data, framed.target)]:
        assert isinstance(data, pd.DataFrame)
        assert isinstance(target, pd.Series)
        assert (data.dtypes == np.uint8).all()
        assert list(data) == bunch.feature_names
        assert target.name == "target"
        assert_array_equal(data, bunch.data)
        assert_array_equal(target, bunch.target)


def test_as_frame_without_pandas_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for load in [load_recurrence, *(load for load, *_ in WHOLE_SETS.values())]:
        with pytest.raises(ImportError, match="as_frame=True needs pandas"):
            load(as_frame=True)
        load()


def test_callers_cannot_spoil_a_later_load():
    load_votes().data[:] = 1
    assert_array_equal(load_votes().data.sum(axis=1), 16)


def test_tic_tac_toe_boards_are_the_legal_ends_among_all_boards():
    def wins(board, mark):
        rows = [board[i : i + 3] for i in (0, 3, 6)]
        columns = [board[i::3] for i in (0, 1, 2)]
        return (mark,) * 3 in [*rows, *columns, board[::4], board[2:7:2]]

    expected = {}
    for board in product("xob", repeat=9):
        lead = board.count("x") - board.count("o")
        won, lost = wins(board, "x"), wins(board, "o")
        x_ended = won and not lost and lead == 1
        o_ended = lost and not won and lead == 0
        drawn = not won and not lost and lead == 1 and "b" not in board
        if x_ended or o_ended or drawn:
            expected[board] = won

    bunch = make_tic_tac_toe()
    names = list(dict.fromkeys(bunch.feature_groups))
    assert names[0] == "top-left"
    assert names[5] == "middle-right"
    boards = [tuple(row[square] for square in names) for row in decode(bunch)]
    assert len(boards) == len(set(boards))
    labels = (bunch.target_names[bunch.target] == "positive").tolist()
    assert dict(zip(boards, labels, strict=True)) == expected


@pytest.mark.parametrize("problem", [1, 2, 3])
def test_monks_follow_their_rule_on_every_robot(problem):
    expected = {}
    for robot in product("123", "123", "12", "123", "1234", "12"):
        a1, a2, a3, a4, a5, a6 = robot
        if problem == 1:
            label = a1 == a2 or a5 == "1"
        elif problem == 2:
            label = sum(a == "1" for a in (a1, a2, a3, a4, a5, a6)) == 2
        else:
            label = (a5 == "3" and a4 == "1") or (a5 != "4" and a2 != "3")
        expected[robot] = label
    bunch = make_monks(problem)
    robots = [tuple(row[f"a{i}"] for i in range(1, 7)) for row in decode(bunch)]
    assert dict(zip(robots, bunch.target, strict=True)) == expected
    assert_array_equal(bunch.clean_target, bunch.target)


@pytest.mark.parametrize(("noise", "n_flipped"), [(0.05, 22), (1 / 432, 1), (1, 432)])
def test_monks_noise_flips_the_exact_number(noise, n_flipped):
    noisy = make_monks(3, noise=noise, random_state=0)
    assert (noisy.target != noisy.clean_target).sum() == n_flipped
    assert_array_equal(noisy.clean_target, make_monks(3).target)
    again = make_monks(3, noise=noise, random_state=0)
    assert_array_equal(noisy.target, again.target)
    other = make_monks(3, noise=noise, random_state=1)
    assert noise == 1 or (noisy.target != other.target).any()


def test_mushroom_obeys_the_published_rules():
    # W. Duch, R. Adamczak and K. Grabczewski found these rules (1996); the numbers of
    # poisonous mushrooms that each further rule leaves over are theirs.
    mushroom = load_mushroom()
    poisonous = mushroom.target_names[mushroom.target] == "poisonous"

    def has(name):
        return column(mushroom, name)

    smells = ~(has("odor=almond") | has("odor=anise") | has("odor=none"))
    scaly = has("stalk-surface-below-ring=scaly") & ~has("stalk-color-above-ring=brown")
    rules = [
        (smells, 120),
        (has("spore-print-color=green"), 48),
        (has("odor=none") & scaly, 8),
        (has("population=clustered") & has("cap-color=white"), 0),
    ]
    caught = np.zeros(len(poisonous), dtype=bool)
    for rule, n_missed in rules:
        caught |= rule
        assert not (caught & ~poisonous).any()
        assert (poisonous & ~caught).sum() == n_missed


def test_votes_unknown_counts():
    votes = load_votes()
    unknown = [name for name in votes.feature_names if name.endswith("=unknown")]
    counts = [column(votes, name).sum() for name in unknown]
    # As listed with the original data, in the order of the questions.
    listed = [12, 48, 11, 11, 15, 11, 14, 15, 22, 7, 21, 31, 25, 17, 28, 104]
    assert counts == listed


@given(st.data(), st.integers(1, 8), st.booleans(), seeds)
def test_dnf_labels_follow_from_the_terms(data, n_features, monotone, seed):
    n_literals = data.draw(st.integers(1, n_features))
    n_possible = comb(n_features, n_literals) * (1 if monotone else 2**n_literals)
    n_terms = data.draw(st.integers(1, min(n_possible, 30)))
    X, y, terms = make_dnf(
        20,
        n_features,
        n_terms=n_terms,
        n_literals=n_literals,
        monotone=monotone,
        random_state=seed,
    )
    assert X.shape == (20, n_features)
    assert X.dtype == np.uint8
    assert y.dtype == np.int64
    assert set(np.unique(X)) <= {0, 1}
    assert y.tolist() == [any(is_true(term, x) for term in terms) for x in X]

    assert len(set(terms)) == n_terms
    for term in terms:
        features = [feature for feature, _ in term]
        assert features == sorted(set(features))
        assert len(features) == n_literals
        assert {type(part) for literal in term for part in literal} == {int, bool}
        assert not monotone or all(value for _, value in term)
    used = [feature for term in terms for feature, _ in term]
    if len(used) <= n_features:
        assert len(set(used)) == len(used)


def test_dnf_negates_about_half_of_the_literals():
    _, _, terms = make_dnf(1, 1000, n_terms=100, n_literals=10, random_state=0)
    n_true = sum(value for term in terms for _, value in term)
    assert abs(n_true - 500) < 5 * np.sqrt(250)


def test_dnf_can_use_every_possible_term():
    _, _, terms = make_dnf(1, 5, n_terms=40, n_literals=2, random_state=0)
    pairs = combinations(range(5), 2)
    expected = {
        ((i, a), (j, b)) for i, j in pairs for a, b in product([False, True], repeat=2)
    }
    assert set(terms) == expected


@pytest.mark.parametrize(("density", "correlation"), [(0.5, 0.0), (0.2, 0.6)])
def test_dnf_rows_have_the_stated_density_and_correlation(density, correlation):
    X, _, _ = make_dnf(
        40_000, 12, density=density, correlation=correlation, random_state=0
    )
    distance = np.abs(np.subtract.outer(np.arange(12), np.arange(12)))
    # np.power(0, 0) is 1: independent features are correlated with themselves only.
    assert_allclose(X.mean(axis=0), density, atol=0.015)
    assert_allclose(np.corrcoef(X.T), np.power(correlation, distance), atol=0.03)


def chain_probability(x, density, correlation):
    p = density if x[0] else 1 - density
    for before, after in pairwise(x):
        fresh = density if after else 1 - density
        p *= correlation * (before == after) + (1 - correlation) * fresh
    return p


@pytest.mark.parametrize("label", [0, 1])
def test_dnf_classes_are_drawn_from_the_conditional_distribution(label):
    n_features, density, correlation, n_samples = 6, 0.4, 0.5, 60_000
    X, y, terms = make_dnf(
        n_samples,
        n_features,
        n_terms=4,
        n_literals=2,
        density=density,
        correlation=correlation,
        positive_fraction=label,
        random_state=1,
    )
    assert_array_equal(y, label)
    # The terms overlap, or the test would not see that rows are counted only once.
    cube = list(product([0, 1], repeat=n_features))
    assert max(sum(is_true(term, x) for term in terms) for x in cube) > 1

    wanted = [any(is_true(term, x) for term in terms) == label for x in cube]
    p = np.array([chain_probability(x, density, correlation) for x in cube]) * wanted
    p /= p.sum()
    counts = np.bincount(X @ (1 << np.arange(n_features)[::-1]), minlength=len(cube))
    spread = np.sqrt(n_samples * p * (1 - p))
    assert (np.abs(counts - n_samples * p) <= 4.5 * spread).all()


@pytest.mark.parametrize("positive_fraction", [0, 0.3, 0.5, 1])
def test_dnf_positive_fraction_is_exact_even_for_rare_terms(positive_fraction):
    X, y, terms = make_dnf(
        201, 200, n_literals=40, positive_fraction=positive_fraction, random_state=0
    )
    satisfied = [any(is_true(term, x) for term in terms) for x in X]
    assert y.tolist() == satisfied
    assert y.sum() == round(201 * positive_fraction)
    # All terms are equally probable: each makes some of the rows positive.
    assert positive_fraction == 0 or all(
        any(is_true(term, x) for x in X) for term in terms
    )
    # The classes come mixed, not one after the other.
    assert np.count_nonzero(np.diff(y)) > 1 or positive_fraction in (0, 1)


def test_dnf_that_is_nearly_always_true_cannot_give_negatives():
    terms = {"n_terms": 40, "n_literals": 1, "monotone": True}
    with pytest.raises(
        ValueError, match=r"positive_fraction requires 50 negative samples"
    ):
        make_dnf(100, 50, positive_fraction=0.5, random_state=0, **terms)
    _, y, _ = make_dnf(100, 50, positive_fraction=1.0, random_state=0, **terms)
    assert y.all()


@pytest.mark.parametrize(
    ("n_relevant", "threshold"), [(1, 1), (9, None), (4, None), (10, 2), (6, 6)]
)
def test_threshold_labels_count_the_relevant_features(n_relevant, threshold):
    X, y, relevant = make_threshold(
        20_000, 12, n_relevant=n_relevant, threshold=threshold, random_state=0
    )
    least = -(-n_relevant // 2) if threshold is None else threshold
    assert y.tolist() == [sum(int(x[j]) for j in relevant) >= least for x in X]
    assert relevant.dtype == np.int64
    assert relevant.tolist() == sorted(set(relevant.tolist()))
    assert len(relevant) == n_relevant
    # The density is chosen so that half of the rows are positive.
    assert abs(y.mean() - 0.5) < 5 * 0.5 / np.sqrt(20_000)
    # Relevant and irrelevant features look alike.
    assert_allclose(X.mean(axis=0), X.mean(), atol=0.02)


def test_threshold_majority_has_density_one_half():
    X, _, _ = make_threshold(20_000, 9, n_relevant=9, random_state=0)
    assert abs(X.mean() - 0.5) < 0.01


@pytest.mark.parametrize("n_relevant", [1, 3, 8])
def test_disjunction_is_an_or_of_the_relevant_features(n_relevant):
    X, y, relevant = make_disjunction(20_000, 10, n_relevant=n_relevant, random_state=0)
    assert y.tolist() == [any(x[j] for j in relevant) for x in X]
    assert len(set(relevant.tolist())) == n_relevant
    assert abs(X.mean() - (1 - 2 ** (-1 / n_relevant))) < 0.01
    assert abs(y.mean() - 0.5) < 5 * 0.5 / np.sqrt(20_000)


@pytest.mark.parametrize("make", [make_threshold, make_disjunction])
def test_density_can_be_set(make):
    X, _, _ = make(10_000, 20, density=0.9, random_state=0)
    assert abs(X.mean() - 0.9) < 0.01


def test_relevant_features_are_spread_over_all_features():
    seen = {int(j) for s in range(50) for j in make_threshold(1, 20, random_state=s)[2]}
    assert seen == set(range(20))


@pytest.mark.parametrize("make", SAMPLERS)
def test_noise_flips_labels_and_nothing_else(make):
    X, y, rule = make(20_000, random_state=3)
    noisy_X, noisy_y, noisy_rule = make(20_000, noise=0.1, random_state=3)
    assert_array_equal(X, noisy_X)
    assert_array_equal(rule, noisy_rule)
    flipped = y != noisy_y
    for label in (0, 1):
        # Both classes are hit: standard deviation 0.3 / sqrt(size of the class).
        share = flipped[y == label].mean()
        assert abs(share - 0.1) < 5 * 0.3 / np.sqrt((y == label).sum())
    assert_array_equal(make(20_000, noise=1, random_state=3)[1], 1 - y)


@pytest.mark.parametrize("make", SAMPLERS)
def test_same_seed_same_sample(make):
    first, second = (
        make(50, noise=0.2, random_state=7),
        make(50, noise=0.2, random_state=np.random.RandomState(7)),
    )
    for one, two in zip(first, second, strict=True):
        assert_array_equal(one, two)
    other = make(50, noise=0.2, random_state=8)
    assert (first[0] != other[0]).any()

    rng = np.random.RandomState(7)
    make(50, noise=0.2, random_state=rng)
    assert (make(50, noise=0.2, random_state=rng)[0] != first[0]).any()


@pytest.mark.parametrize("make", SAMPLERS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_samples", 0),
        ("n_features", 0),
        ("noise", -0.1),
        ("noise", 1.1),
        ("noise", np.nan),
        ("density", 0),
        ("density", 1.0),
        ("density", np.nan),
    ],
)
def test_bad_argument_is_named(make, name, value):
    with pytest.raises(ValueError, match=name):
        make(**{name: value})


@pytest.mark.parametrize(
    ("make", "arguments", "name"),
    [
        (make_dnf, {"n_terms": 0}, "n_terms"),
        (make_dnf, {"n_literals": 0}, "n_literals"),
        (make_dnf, {"n_features": 4, "n_literals": 5}, "n_literals"),
        (make_dnf, {"n_features": 4, "n_literals": 4, "n_terms": 17}, "n_terms"),
        (make_dnf, {"n_features": 4, "n_terms": 5, "monotone": True}, "n_terms"),
        (make_dnf, {"correlation": 1.0}, "correlation"),
        (make_dnf, {"correlation": -0.1}, "correlation"),
        (make_dnf, {"positive_fraction": 1.5}, "positive_fraction"),
        (make_dnf, {"positive_fraction": np.nan}, "positive_fraction"),
        (make_threshold, {"n_features": 4, "n_relevant": 5}, "n_relevant"),
        (make_threshold, {"n_relevant": 0}, "n_relevant"),
        (make_threshold, {"threshold": 0}, "threshold"),
        (make_threshold, {"n_relevant": 3, "threshold": 4}, "threshold"),
        (make_disjunction, {"n_features": 4, "n_relevant": 5}, "n_relevant"),
        (make_monks, {"problem": 0}, "problem"),
        (make_monks, {"problem": 4}, "problem"),
        (make_monks, {"problem": 1, "noise": 1.1}, "noise"),
        (make_monks, {"problem": 1, "noise": np.nan}, "noise"),
    ],
)
def test_impossible_request_is_named(make, arguments, name):
    with pytest.raises(ValueError, match=rf"^{name}\b"):
        make(**arguments)


@pytest.mark.parametrize(
    ("make", "arguments", "name"),
    [
        (make_dnf, {"n_samples": 2.5}, "n_samples"),
        (make_dnf, {"density": "half"}, "density"),
        (make_dnf, {"positive_fraction": "half"}, "positive_fraction"),
        (make_threshold, {"threshold": 2.0}, "threshold"),
        (make_monks, {"problem": "1"}, "problem"),
    ],
)
def test_argument_of_a_wrong_type_is_named(make, arguments, name):
    with pytest.raises(TypeError, match=name):
        make(**arguments)


def test_recurrence_is_the_original_in_numbers_and_words():
    bunch = load_recurrence()
    assert bunch.data.shape == (286, 9)
    assert bunch.data.dtype == object
    assert_array_equal(np.bincount(bunch.target), [201, 85])
    assert bunch.target_names.tolist() == ["no recurrence", "recurrence"]
    assert len(bunch.DESCR) > 200
    # First line of the original: recurrence-events, 40-49, premeno, 15-19, 0-2, yes, 3,
    # right, left_up, no.
    assert bunch.target[0] == 1
    assert bunch.data[0].tolist() == [
        44.5, "not yet", 17.0, 1.0, "yes", 3, "right", "left up", "no",
    ]  # fmt: skip
    is_missing = np.equal(bunch.data, None)
    assert dict(zip(bunch.feature_names, is_missing.sum(axis=0), strict=True)) == {
        **dict.fromkeys(bunch.feature_names, 0), "capsule broken": 8, "quadrant": 1,
    }  # fmt: skip


def test_recurrence_as_pair_and_as_frame():
    pd = pytest.importorskip("pandas")
    X, y = load_recurrence(return_X_y=True, as_frame=True)
    raw, target = load_recurrence(return_X_y=True)
    assert_array_equal(y, target)
    assert y.name == "target"
    is_missing = X.isna().to_numpy()
    assert_array_equal(is_missing, np.equal(raw, None))
    assert_array_equal(X.to_numpy(object)[~is_missing], raw[~is_missing])
    is_number = [pd.api.types.is_numeric_dtype(dtype) for dtype in X.dtypes]
    assert_array_equal(np.flatnonzero(is_number), [0, 2, 3, 5])
