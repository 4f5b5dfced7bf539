"""Levels of groups of features: found groups hold, and sums are those over bits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklboolean import BooleanSVC, KernelPerceptron
from sklboolean._core import _cpu
from sklboolean._core.bits import BitColumns, BitRows, pack_dense
from sklboolean._core.one_hot_groups import MOST_GROUPS, OneHotGroups
from sklboolean.kernels import ConjunctionKernel
from sklboolean.kernels._evaluators import CountEvaluator, SampleLayout

pytestmark = pytest.mark.skipif(
    "avx2" not in _cpu.available_cpu_paths(), reason="levels are for AVX2"
)


@pytest.fixture(autouse=True, scope="module")
def _on_avx2():
    before = _cpu.cpu_path()
    _cpu.use_cpu_path("avx2")
    yield
    _cpu.use_cpu_path(before)


def rows_of(truth):
    return BitRows.from_words(pack_dense(truth), truth.shape[1])


def one_hot(rng, n_samples, sizes, missing=0.1):
    """Random one-hot columns of groups of these sizes, in random order."""
    parts = []
    for size in sizes:
        level = rng.integers(0, size, n_samples)
        known = rng.random(n_samples) >= missing
        parts.append((level[:, None] == np.arange(size)) & known[:, None])
    return np.hstack(parts)[:, rng.permutation(sum(sizes))]


@given(st.integers(0, 2**32), st.floats(0.0, 0.4))
def test_at_most_one_feature_of_a_found_group_is_true(seed, density):
    rng = np.random.default_rng(seed)
    X = rng.random((rng.integers(1, 50), rng.integers(1, 75))) < density
    groups = OneHotGroups.find(rows_of(X))
    if not 0 < X.sum(axis=1).max() < 32:
        assert groups is None
        return
    if groups is None:
        assert X.shape[1] > MOST_GROUPS
        return
    seen = X.any(axis=0)
    of_feature = groups.group[: X.shape[1]].astype(int)[seen]
    levels = groups.level[: X.shape[1]].astype(int)[seen]
    assert len({*zip(of_feature, levels, strict=True)}) == seen.sum()
    assert set(of_feature) == {*range(groups.n_groups)}
    for group in range(groups.n_groups):
        assert (X[:, seen][:, of_feature == group].sum(axis=1) <= 1).all()


@given(
    st.integers(0, 2**32),
    st.lists(st.integers(1, 40), min_size=1, max_size=31),
    st.sampled_from([0.0, 0.02, 0.5]),
)
def test_sums_over_levels_are_the_sums_over_bits(seed, sizes, broken):
    rng = np.random.default_rng(seed)
    n_samples, n_queries = rng.integers(1, 70), rng.integers(1, 300)
    X = one_hot(rng, n_samples + n_queries, sizes)
    X[-n_queries:][rng.random(n_queries) < broken] ^= True  # they break the groups
    rows, queries = rows_of(X[:n_samples]), rows_of(X[-n_queries:])
    groups = OneHotGroups.find(rows)
    table = ConjunctionKernel(normalize=False).formula(X.shape[1], len(sizes))
    evaluator = CountEvaluator(table, X.shape[1])
    coefficients = rng.standard_normal((2, n_samples))
    sums = []
    for own in (groups, None):
        scores = np.ones((2, n_queries))
        columns = BitColumns.from_rows(replace(queries, groups=own))
        evaluator.add(replace(rows, groups=own), coefficients, columns, scores)
        sums.append(scores)
    assert sums[0].tobytes() == sums[1].tobytes()


def test_samples_that_break_the_groups_have_no_levels():
    X = np.eye(40, dtype=bool)
    rows = rows_of(X)
    groups = OneHotGroups.find(rows)
    assert groups.n_groups == 1
    X[33, 1] = True
    broken = rows_of(X)
    assert groups.row_levels(broken.words) is None
    assert groups.column_levels(broken.words)[1].tolist() == [1, 0]
    # A feature that no sample of the model has: no row may have it, and columns may.
    groups = OneHotGroups.find(rows_of(np.eye(40, dtype=bool)[:39]))
    assert groups.row_levels(rows.words) is None
    assert groups.column_levels(rows.words)[1].tolist() == [1, 1]


def test_many_features_at_a_time_and_many_groups_have_no_levels():
    assert OneHotGroups.find(rows_of(np.ones((3, 32), bool))) is None
    pairs = np.zeros((66, 66, 66), bool)
    first, second = np.indices((66, 66))
    pairs[first, second, first] = pairs[first, second, second] = True
    assert OneHotGroups.find(rows_of(pairs.reshape(-1, 66))) is None


@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_layout_has_groups_and_its_parts_keep_them(as_sparse):
    X = one_hot(np.random.default_rng(0), 100, [3, 5, 2])
    layout = SampleLayout(pack_dense(X), 10, as_sparse)
    rows = layout.rows(pack_dense(X))
    assert rows.groups.n_groups == 3
    part = BitColumns.from_rows(rows.take(slice(10, None))).part(32, 70)
    levels, panels, fits = part.levels_with(rows.take([0, 5]))
    assert levels.shape == (2, 3)
    assert panels.shape == (2, 3, 32)
    assert fits.tolist() == [1, 1]
    assert part.levels_with(rows_of(X)) is None


@pytest.mark.parametrize("learner", [BooleanSVC(), KernelPerceptron(n_orders=1)])
def test_models_of_one_hot_columns_are_the_same_on_every_path(learner):
    rng = np.random.default_rng(1)
    X = one_hot(rng, 1500, [4, 6, 3, 2, 9])
    y = X[:, 0] ^ X[:, 1] ^ (rng.random(len(X)) < 0.2)
    queries = np.vstack([X, rng.random((50, X.shape[1])) < 0.2])
    scores = {}
    for path in _cpu.available_cpu_paths():
        _cpu.use_cpu_path(path)
        if "random_state" in learner.get_params():
            learner.set_params(random_state=0)
        scores[path] = learner.fit(X, y).decision_function(queries).tobytes()
    _cpu.use_cpu_path("avx2")
    assert len({*scores.values()}) == 1
