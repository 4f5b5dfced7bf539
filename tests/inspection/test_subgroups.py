"""Subgroups: the search against all conjunctions, the p-value, what is exported."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from databases import query
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.inspection import (
    difference_within_strata,
    permutation_p_value,
    subgroup_scores,
)
from scipy import sparse
from scipy.stats import ttest_ind
from sklboolean._core._table import TARGETS
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.tree import DecisionTreeClassifier

from sklboolean import BooleanEncoder
from sklboolean._core.bits import PackedBits, pack_dense
from sklboolean._core.conjunction_search import ConjunctionSearch, search_conjunctions
from sklboolean._core.search_task import SearchTask
from sklboolean.inspection import SubgroupsDisplay, find_subgroups, model_errors
from sklboolean.inspection._find_subgroups import difference_of_means
from sklboolean.inspection._permutation_test import SIDES, permuted

QUICK = {"n_permutations": 39, "random_state": 0}


@st.composite
def searches(draw):
    """Draw bits, whole numbers of each target and options of a search."""
    n_samples, n_features = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.random((n_samples, n_features)) < draw(st.sampled_from([0.2, 0.5, 0.8]))
    if draw(st.booleans()):  # levels of one column, nested thresholds, equal features
        levels = rng.integers(0, n_features, n_samples)
        columns = np.arange(n_features)
        relation = draw(st.sampled_from([np.equal, np.less_equal, np.greater]))
        X = relation(levels[:, None], columns)
    targets = rng.integers(-4, 5, (n_samples, TARGETS)).astype(float)
    options = {
        "max_literals": draw(st.integers(1, min(3, n_features))),
        "power": draw(st.sampled_from([0.0, 0.5, 1.0])),
        "side": draw(st.sampled_from(list(SIDES))),
        "min_size": draw(st.integers(1, 3)),
        "monotone": draw(st.booleans()),
    }
    return X, targets, options


@given(searches())
@settings(max_examples=25)
def test_the_best_score_of_each_target_is_that_of_all_conjunctions(search):
    X, targets, options = search
    longest, n_samples = options["max_literals"], len(X)
    table = ConjunctionSearch(
        pack_dense(X), X.shape[1], max_literals=longest, monotone=options["monotone"]
    ).table(longest)
    factors = np.r_[0.0, np.arange(1, n_samples + 1.0) ** -options["power"]]
    factors[: options["min_size"]] = 0
    lengths = np.minimum(np.arange(longest + 1.0), 1)
    task = SearchTask(1, SIDES[options["side"]], lengths, 0.0, options["monotone"])
    found, largest = table.best_of_targets(targets, factors, task)
    for column in (0, 1, TARGETS - 1):
        scores = subgroup_scores(X, targets[:, column], **options)
        best = max(0.0, *scores.values(), 0.0)
        assert largest[column] == pytest.approx(best, abs=1e-12)
    scores = subgroup_scores(X, targets[:, 0], **options)
    assert bool(found) == (largest[0] > 0)
    if found:
        n = X.shape[1]
        literals = tuple(sorted((j % n, j < n) for j in found[0][0]))
        assert scores[literals] == pytest.approx(largest[0])
        ties = [c for c, score in scores.items() if score >= largest[0] - 1e-12]
        assert len(literals) == min(map(len, ties)), "the shortest of the best"


def test_every_processor_path_finds_the_same(cpu_paths):
    rng = np.random.default_rng(9)
    X, target = rng.random((150, 9)) < 0.4, rng.normal(size=150)
    found = [find_subgroups(X, target, **QUICK) for _ in cpu_paths()]
    assert len({str(groups.to_frame().to_dict()) for groups in found}) == 1


def test_four_conditions_are_searched_as_those_of_definition():
    rng = np.random.default_rng(0)
    X, w = rng.random((40, 6)) < 0.5, rng.integers(-9, 10, 40).astype(float)
    w -= w.mean()
    options = {"max_literals": 4, "power": 0.5, "side": "both", "min_size": 1}
    found = find_subgroups(X, w, n_groups=1, test_size=0, **QUICK, **options)
    scores = subgroup_scores(X, w, monotone=False, **options)
    assert found.columns["score"][0] == pytest.approx(max(scores.values()))
    assert scores[found.conjunctions[0]] == pytest.approx(max(scores.values()))


def test_the_sum_is_that_of_the_search_for_conjunctions():
    rng = np.random.default_rng(1)
    X, w = rng.random((300, 20)) < 0.3, rng.normal(size=300)
    found = find_subgroups(X, w, power=0, min_size=1, n_groups=1, test_size=0, **QUICK)
    best = search_conjunctions(
        pack_dense(X), w - w.mean(), 20, max_literals=3, monotone=False, n_rules=1
    ).found[0]
    assert found.conjunctions[0] == best[0]
    assert found.columns["score"][0] == pytest.approx(abs(best[1]))


# The p-value


@pytest.mark.parametrize("side", list(SIDES))
def test_the_p_value_is_that_of_all_permutations(side):
    X = np.array([[1, 1, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    target = [5.0, 4, 1, 1, 0, 0]
    options = {"max_literals": 2, "power": 0.5, "side": side, "min_size": 1}
    expected = permutation_p_value(X, target, monotone=False, **options)
    found = find_subgroups(
        X, target, n_groups=1, test_size=0, n_permutations=4000, random_state=0,
        **options,
    )  # fmt: skip
    error = np.sqrt(expected * (1 - expected) / 4000)
    assert found.columns["p_value"][0] == pytest.approx(expected, abs=4 * error + 3e-4)


def test_values_are_permuted_within_strata_only():
    strata, rng = np.array([1, 0, 1, 2, 0, 1]), np.random.default_rng(0)
    values = np.arange(6.0)
    shuffled = np.array([permuted(values, strata, rng) for _ in range(200)])
    for label in range(3):
        part = strata == label
        expected = np.broadcast_to(values[part], (200, part.sum()))
        assert np.array_equal(np.sort(shuffled[:, part], axis=1), expected)
    assert len(np.unique(shuffled, axis=0)) == 12, "all of 2! times 3!"


def test_a_difference_between_strata_is_none_within_them():
    rng = np.random.default_rng(0)
    city = rng.integers(0, 2, 400)
    X = pd.DataFrame({"city": city, "rich": rng.random(400) < 0.1 + 0.7 * city})
    target = rng.normal(size=400) + 3 * city
    alone = find_subgroups(X, target, **QUICK).columns["p_value"][0]
    assert alone == 1 / 40
    found = find_subgroups(X, target, strata="city", **QUICK)
    assert found.columns["p_value"][0] > 0.1
    same = find_subgroups(X, target, strata=["ab"[c] for c in city], **QUICK)
    assert same.to_text() == found.to_text()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["labels", "rare", "skewed"])
def test_one_null_set_in_twenty_has_a_p_value_of_a_twentieth(kind):
    rng, n_sets = np.random.default_rng(0), 400
    draws = {
        "labels": lambda: rng.random(200) < 0.3,
        "rare": lambda: rng.random(200) < 0.05,
        "skewed": lambda: rng.lognormal(0, 2, 200),
    }
    n_rejected = 0
    for seed in range(n_sets):
        X = rng.random((200, 15)) < 0.4
        found = find_subgroups(
            X, draws[kind](), n_groups=1, test_size=0, n_permutations=19,
            random_state=seed,
        )  # fmt: skip
        n_rejected += found.columns["p_value"][0] <= 0.05
    # Four standard deviations of a binomial number with a mean of 20.
    assert abs(n_rejected - 20) < 4 * np.sqrt(19)


def test_planted_groups_are_found():
    rng, n_found = np.random.default_rng(0), 0
    for seed in range(10):
        X = rng.random((300, 30)) < 0.4
        is_planted = X[:, :3].all(axis=1)  # 19 of 300 samples
        target = rng.random(300) < np.where(is_planted, 0.9, 0.3)
        found = find_subgroups(
            X, target, n_groups=1, test_size=0, monotone=True, n_permutations=19,
            random_state=seed,
        )  # fmt: skip
        is_planted = found.conjunctions[0] == ((0, True), (1, True), (2, True))
        n_found += is_planted and found.columns["p_value"][0] <= 0.05
    # Measured: 88 % of 300 sets. Fewer than 6 of 10 have a probability of 0.1 %.
    assert n_found >= 6


def test_groups_do_not_overlap_and_p_values_do_not_fall():
    rng = np.random.default_rng(3)
    X = rng.random((800, 12)) < 0.4
    target = rng.normal(size=800) + 2 * X[:, 0] + X[:, 1]
    found = find_subgroups(X, target, n_groups=4, alpha=1.0, **QUICK)
    assert len(found) == 4
    columns = found.columns
    assert (np.diff(columns["p_value"]) >= 0).all()
    sizes = np.bincount(found.assign(X), minlength=5)[1:]
    assert np.array_equal(sizes, columns["size"] + columns["held_out_size"])
    few = find_subgroups(X, X[:, 0] + rng.normal(size=800), alpha=0.05, **QUICK)
    assert (few.columns["p_value"][:-1] <= 0.05).all()
    assert few.columns["p_value"][-1] > 0.05


def test_threads_do_not_change_the_result():
    rng = np.random.default_rng(4)
    X, target = rng.random((100, 8)) < 0.5, rng.normal(size=100)
    options = {"n_permutations": 99, "random_state": 0}
    one, two = (find_subgroups(X, target, n_jobs=n, **options) for n in (1, 2))
    pd.testing.assert_frame_equal(one.to_frame(), two.to_frame())


# The difference on held-out samples


def test_one_stratum_gives_the_error_of_welch():
    rng = np.random.default_rng(5)
    target, members = rng.normal(size=50), np.arange(50) < 12
    difference, low, high = difference_of_means(target, members, np.zeros(50, int))
    welch = ttest_ind(target[members], target[~members], equal_var=False)
    assert difference == pytest.approx(target[:12].mean() - target[12:].mean())
    error = (high - low) / 2 / 2.200985  # t with 11 degrees of freedom at 0.975
    assert difference / error == pytest.approx(welch.statistic, rel=1e-6)


def test_the_difference_within_strata_is_that_of_a_regression():
    rng = np.random.default_rng(6)
    strata = rng.integers(0, 3, 60)
    members = rng.random(60) < 0.2 + 0.2 * strata
    target = rng.normal(size=60) + strata + members
    difference, low, high = difference_of_means(target, members, strata)
    coefficient, error = difference_within_strata(target, members, strata)
    assert difference == pytest.approx(coefficient)
    half = (high - low) / 2
    assert 2 * error < half < 2.2 * error


def test_too_few_held_out_samples_have_no_difference():
    for members in (np.zeros(4, bool), np.arange(4) < 1, np.ones(4, bool)):
        result = difference_of_means(np.arange(4.0), members, np.zeros(4, int))
        assert np.isnan(result).all()
    by_stratum = np.arange(4) < 2  # members are a stratum: nothing to compare with
    result = difference_of_means(np.arange(4.0), by_stratum, by_stratum.astype(int))
    assert np.isnan(result).all()


# Data frames, bits and exports


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 500).astype(float)
    X = pd.DataFrame(
        {
            "age": age,
            "smokes": rng.random(500) < 0.4,
            "city": rng.choice(["a", "b'c"], 500),
        }
    )
    X.loc[::17, "age"] = np.nan
    return X, rng.random(500) < np.where(X["smokes"] & (age > 50), 0.8, 0.2)


@pytest.fixture(scope="module")
def groups(frame):
    return find_subgroups(*frame, **QUICK)


@pytest.mark.parametrize("package", ["polars", "pyarrow"])
def test_frames_of_all_packages_give_the_same(package, frame, groups):
    X, target = frame
    module = pytest.importorskip(package)
    table = module.from_pandas(X) if package == "polars" else module.table(X)
    found = find_subgroups(table, target, **QUICK)
    assert found.to_text() == groups.to_text()
    assert np.array_equal(found.assign(table), groups.assign(X))


def test_a_database_finds_the_same_groups(frame, groups):
    X, _ = frame
    rows = query("sqlite", X, groups.to_sql())
    assert [row[0] for row in rows] == groups.assign(X).tolist()
    assert set(np.unique(groups.assign(X))) > {0}


def test_the_frame_and_the_text_say_what_the_samples_say(frame):
    X, target = frame
    found = find_subgroups(X, target, n_groups=1, test_size=0, **QUICK)
    row, members = found.to_frame().iloc[0], found.assign(X) == 1
    assert row["conditions"] in found.to_text()
    assert row["size"] == members.sum()
    assert row["mean"] == pytest.approx(target[members].mean())
    assert row["mean_of_others"] == pytest.approx(target[~members].mean())
    deviation = abs((target - target.mean())[members].sum())
    assert row["score"] == pytest.approx(deviation / np.sqrt(members.sum()))
    assert row["held_out_size"] == 0
    assert np.isnan(row["difference"])
    assert "held out" not in found.to_text()


def test_bits_may_be_sparse_and_numbers_are_encoded():
    rng = np.random.default_rng(7)
    X = rng.random((200, 6)) < 0.5
    target = X[:, 0] + rng.normal(size=200)
    dense = find_subgroups(X, target, **QUICK)
    packed = PackedBits(pack_dense(X), 6)
    for same in (sparse.csr_array(X), X.astype(int), X.astype(int).tolist(), packed):
        assert find_subgroups(same, target, **QUICK).to_text() == dense.to_text()
    assert dense.encoder is None
    assert 'f."x0"' in dense.to_sql()
    assert np.array_equal(dense.assign(sparse.csr_array(X)), dense.assign(X))
    numbers = find_subgroups(rng.normal(size=(200, 2)), target, **QUICK)
    assert isinstance(numbers.encoder, BooleanEncoder)
    encoder = BooleanEncoder(n_bins=2)
    halves = find_subgroups(rng.normal(size=(200, 2)), target, encoder=encoder, **QUICK)
    assert len(halves.feature_names) == 4
    assert not hasattr(encoder, "kinds_"), "a clone is fitted"


def test_a_target_without_differences_left_ends_the_list():
    X = np.repeat([[1, 0], [0, 1]], 40, axis=0)
    found = find_subgroups(X, X[:, 0], n_groups=5, **QUICK)
    assert len(found) == 1
    assert find_subgroups(X, X[:, 0], min_size=90, **QUICK).to_text() == "no group"
    assert len(find_subgroups(X, X[:, 0], min_size=90, **QUICK).to_frame()) == 0


# Errors of models


def test_the_loss_of_a_model_is_the_target(frame):
    rng = np.random.default_rng(8)
    X = rng.random((300, 8)) < 0.5
    wrong = X[:, 0] & X[:, 1]
    y = np.where(X[:, 2] ^ (wrong & (rng.random(300) < 0.9)), "yes", "no")
    model = LogisticRegression().fit(X, y)
    probabilities = model.predict_proba(X)[np.arange(300), (y == "yes").astype(int)]
    found = model_errors(model, X, y, **QUICK)
    expected = find_subgroups(X, -np.log(probabilities), **QUICK)
    assert found.to_text() == expected.to_text()
    labels = RidgeClassifier().fit(X, y)
    found, errors = model_errors(labels, X, y, **QUICK), labels.predict(X) != y
    assert found.to_text() == find_subgroups(X, errors, **QUICK).to_text()
    z = X[:, 0] * X[:, 1] + rng.normal(size=300)
    regressor = LinearRegression().fit(X, z)
    rest = z - regressor.predict(X)
    for loss, of_rest in (("auto", rest**2), ("absolute", np.abs(rest))):
        found = model_errors(regressor, X, z, loss=loss, **QUICK)
        assert found.to_text() == find_subgroups(X, of_rest, **QUICK).to_text()


X8, Y8 = np.eye(8), np.arange(8)
LOGISTIC = LogisticRegression().fit(X8, Y8 > 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": Y8[:5]}, "target has 5 entries and X has 8 samples"),
        ({"target": ["a"] * 8}, 'compare them with one, such as y == "yes"'),
        ({"target": np.ones((8, 2))}, "target must hold a number"),
        ({"target": [1, np.nan] * 4}, "target holds missing values. Leave out"),
        ({"target": [1, np.inf] * 4}, "target contains infinity"),
        ({"target": np.full(8, 0.1)}, "target is constant"),
        ({"target": [1e-200] + 7 * [0]}, "target is constant"),
        ({"target": [1e200] + 7 * [0]}, "target holds 1e"),
        ({"target": [None, 1, 2, 3] * 2}, "target holds missing values"),
        ({"strata": [{}] * 8}, "strata must hold labels"),
        ({"strata": Y8}, "constant within each stratum"),
        ({"strata": Y8[:5]}, "strata has 5 entries"),
        ({"strata": "city"}, "strata='city' is not the name of a column"),
        ({"strata": [None] * 8}, "strata must hold one label for each sample"),
        ({"max_literals": 0}, "max_literals"),
        ({"max_literals": 5}, "max_literals"),
        ({"power": 1.5}, "power must be at most 1"),
        ({"power": np.nan}, "power"),
        ({"side": "up"}, "side must be one of"),
        ({"min_size": 0}, "min_size"),
        ({"monotone": 2}, "monotone"),
        ({"n_groups": 0}, "n_groups"),
        ({"test_size": 1}, "test_size must be below 1"),
        ({"alpha": 2}, "alpha must be at most 1"),
        ({"n_permutations": 0}, "n_permutations"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"encoder": "auto"}, "encoder must be a BooleanEncoder"),
        ({"X": sparse.csr_array(2 * X8)}, "X"),
    ],
)
def test_bad_input_names_the_argument(arguments, message):
    with pytest.raises(ValueError, match=message):
        find_subgroups(**({"X": X8, "target": Y8, "random_state": 0} | arguments))


def test_too_many_conjunctions_name_the_ways_out():
    X = np.random.default_rng(0).random((100, 600)) < 0.5
    with pytest.raises(ValueError, match="600 Boolean features, too many") as error:
        find_subgroups(X, np.arange(100))
    assert "Set max_literals" in str(error.value)


@pytest.mark.parametrize(
    ("model", "y", "loss", "message"),
    [
        (LOGISTIC, Y8, "auto", "the label 2, which the model was not trained on"),
        (LOGISTIC, Y8, "error", "the label 2, which the model was not trained on"),
        (LOGISTIC, Y8[:5] > 3, "auto", "y has 5 entries and X has 8"),
        (LOGISTIC, [None] * 8, "auto", "missing values"),
        (LOGISTIC, Y8 > 3, "squared", "loss='squared' does not suit"),
        (LOGISTIC, Y8 > 3, "hinge", "loss must be one of"),
        (RidgeClassifier().fit(X8, Y8 > 3), Y8 > 3, "log-loss", "does not suit"),
        (LinearRegression().fit(X8, Y8), Y8[:5], "auto", "y has 5 entries"),
        (LinearRegression().fit(X8, X8), Y8, "auto", "predicts several outputs"),
        (DecisionTreeClassifier().fit(X8, X8), Y8, "auto", "several outputs"),
        (KMeans(2, random_state=0).fit(X8), Y8, "auto", "does not suit KMeans"),
        (LinearRegression().fit(X8, Y8), ["a"] * 8, "auto", "y must hold a number"),
    ],
)
def test_bad_losses_are_named(model, y, loss, message):
    with pytest.raises(ValueError, match=message):
        model_errors(model, X8, y, loss=loss)


def test_a_column_of_targets_has_the_errors_of_its_numbers():
    target = np.random.default_rng(0).normal(size=(200, 1))
    X = np.random.default_rng(1).random((200, 3)) < 0.5
    texts = [
        model_errors(LinearRegression().fit(X, y), X, y, **QUICK).to_text()
        for y in (target, target.ravel())
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("target", [np.arange(200) % 7 / 10, np.arange(200) % 2])
def test_all_samples_are_no_group(target):
    X = np.ones((200, 3))
    assert len(find_subgroups(X, target, test_size=0, alpha=1, **QUICK)) == 0


def test_samples_are_assigned_as_bits_or_refused(groups):
    X = np.random.default_rng(0).random((200, 4)) < 0.5
    found = find_subgroups(X, X[:, 0] & X[:, 3], **QUICK)
    words = PackedBits(pack_dense(X), 4, ["a", "b", "c", "d"])
    assert find_subgroups(words, X[:, 0] & X[:, 3], **QUICK).texts == ["a and d"]
    assert np.array_equal(found.assign(words), found.assign(X))
    wrong = {
        "X has 2 features, but the groups": X[:, :2],
        "Expected 2D array": X[0],
        "holds 0.5": X * 0.5,
        "contains NaN": np.where(X, np.nan, 0),
        "'False'": X.astype(str),
    }
    for message, bad in wrong.items():
        with pytest.raises(ValueError, match=message):
            found.assign(bad)


# The picture


def test_points_are_differences_and_lines_their_intervals(groups):
    display = SubgroupsDisplay(groups, target_name="ill").plot()
    columns, ax = groups.columns, display.ax_
    lines, points, _ = ax.collections
    ends = np.array([segment[:, 0] for segment in lines.get_segments()])
    assert np.allclose(ends, np.column_stack([columns["low"], columns["high"]]))
    assert np.allclose(points.get_offsets()[:, 0], columns["difference"])
    text = ax.get_yticklabels()[0].get_text().replace("\n", " ")
    assert text == f"{groups.texts[0]} (p = {columns['p_value'][0]:.2g})"
    assert "ill" in ax.get_xlabel()


def test_without_held_out_samples_the_searched_ones_are_drawn(frame):
    found = find_subgroups(*frame, test_size=0, **QUICK)
    ax = plt.figure().subplots()
    display = SubgroupsDisplay(found).plot(ax=ax)
    assert display.ax_ is ax
    expected = found.columns["mean"] - found.columns["mean_of_others"]
    assert np.allclose(ax.collections[-1].get_offsets()[:, 0], expected)
