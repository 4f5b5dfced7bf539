"""Folds and splits have each sample once, and their share of each class."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sklboolean._core.held_out import (
    disjoint_test_sets,
    hold_out,
    stratified_folds,
    stratified_split,
)

codes = st.lists(st.integers(0, 3), min_size=1, max_size=40).map(np.array)
seeds = st.integers(0, 1000)


def counts(codes, samples):
    return np.bincount(codes[samples], minlength=4)


@given(codes, st.integers(1, 6), seeds)
def test_folds_have_their_share_of_each_class(codes, n_folds, seed):
    folds = stratified_folds(codes, n_folds, np.random.default_rng(seed))
    assert set(folds) <= set(range(n_folds))
    by_fold = np.array([counts(codes, folds == k) for k in range(n_folds)])
    assert (by_fold.max(axis=0) - by_fold.min(axis=0) <= 1).all()
    sizes = by_fold.sum(axis=1)
    assert sizes.max() - sizes.min() <= 1
    again = stratified_folds(codes, n_folds, np.random.default_rng(seed))
    np.testing.assert_array_equal(folds, again)


@given(codes, st.floats(0.01, 0.99), seeds)
def test_a_split_has_a_share_of_each_class(codes, share, seed):
    first, second = stratified_split(codes, share, np.random.RandomState(seed))
    assert sorted([*first, *second]) == list(range(len(codes)))
    assert list(first) == sorted(first)
    for total, n_first in zip(np.bincount(codes, minlength=4), counts(codes, first),
                              strict=True):  # fmt: skip
        if total > 1:
            assert 0 < n_first < total
            assert n_first == min(np.ceil(share * total), total - 1)


@given(codes, st.none() | st.integers(2, 5), seeds)
def test_test_sets_are_disjoint_and_never_all_of_a_class(codes, cv, seed):
    strata = np.where(codes == 3, -1, codes)
    tests = disjoint_test_sets(strata, cv, np.random.RandomState(seed))
    drawn = np.concatenate([*tests, np.empty(0, dtype=int)])
    assert len(set(drawn)) == len(drawn)
    assert not (strata[drawn.astype(int)] == -1).any()
    assert len(tests) <= (cv or 1)
    totals = np.bincount(codes, minlength=4)
    for test in tests:
        assert (counts(codes, test)[:3] < np.maximum(totals[:3], 1)).all()


@given(st.integers(2, 50), st.floats(0.001, 0.999), seeds)
def test_both_sides_of_a_mask_have_samples(n_samples, fraction, seed):
    mask = hold_out(n_samples, fraction, np.random.default_rng(seed), "early_stopping")
    assert mask.shape == (n_samples,)
    n_held_out = max(1, round(fraction * n_samples))
    assert mask.sum() == min(n_held_out, n_samples - 1)
