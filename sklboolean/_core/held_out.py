"""Samples to hold out: folds and splits with a share of each class, drawn at random."""

from math import ceil

import numpy as np
from sklearn.model_selection import check_cv


def stratified_folds(strata, n_folds, rng):
    """Deal samples out to folds, in turn within each stratum.

    Parameters
    ----------
    strata : ndarray of shape (n_samples,), int
        For example the class of each sample.
    n_folds : int
    rng : RandomState or Generator

    Returns
    -------
    folds : ndarray of shape (n_samples,), int
        The fold of each sample, from 0. Numbers of samples of one stratum differ by at
        most 1 between folds, and so do all numbers.
    """
    order = rng.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]
    folds = np.empty(len(strata), dtype=np.intp)
    folds[order] = np.arange(len(strata)) % n_folds
    return folds


def stratified_split(codes, share, rng):
    """Split samples at random into two parts; the first has a share of each class.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), int
    share : float
        Rounded up, but both parts have a sample of a class that has two or more.
    rng : RandomState

    Returns
    -------
    first, second : ndarrays of int
        Sample numbers; ``first`` in order, ``second`` in random order.
    """
    order = rng.permutation(len(codes))
    is_first = np.zeros(len(codes), dtype=bool)
    for code in range(codes.max() + 1):
        members = order[codes[order] == code]
        n_first = min(ceil(share * len(members)), max(len(members) - 1, 1))
        is_first[members[:n_first]] = True
    return np.flatnonzero(is_first), order[~is_first[order]]


def disjoint_test_sets(strata, cv, random_state):
    """Draw held-out samples from each stratum, never all of one.

    Parameters
    ----------
    strata : ndarray of shape (n_samples,), int
        Samples of stratum -1 are not drawn.
    cv : int or None
        Number of disjoint sets. None: one set, of a quarter of the samples.
    random_state : RandomState instance

    Returns
    -------
    tests : list of ndarrays of sample numbers, ascending
    """
    fold = np.full(len(strata), -1)
    start = 0
    for stratum in np.unique(strata[strata >= 0]):
        members = random_state.permutation(np.flatnonzero(strata == stratum))
        if len(members) > 1:
            fold[members] = (start + np.arange(len(members))) % (cv or 4)
            start += len(members)
    tests = [np.flatnonzero(fold == k) for k in range(cv or 4)]
    tests = [test for test in tests if len(test)]
    return tests if cv else tests[:1]


def checked_splits(cv, strata, weights):
    """Split samples by a splitter; each part to fit must have weight in each stratum.

    Parameters
    ----------
    cv : cross-validation splitter, or iterable of pairs of index arrays
    strata : ndarray of shape (n_samples,), int
    weights : ndarray of shape (n_samples,)

    Returns
    -------
    splits : list of pairs of ndarrays of sample numbers
    """
    samples, n_strata = np.arange(len(strata))[:, None], len({*strata})
    splits = list(check_cv(cv).split(samples, strata))
    for k, (train, test) in enumerate(splits):
        is_whole = len({*strata[train][weights[train] > 0]}) == n_strata
        if not (is_whole and weights[test].any()):
            raise ValueError(
                f"cv: split {k} has a class without samples to fit, or no samples to "
                "test, counting those of weight above 0. Use fewer or stratified "
                "splits."
            )
    return splits


def hold_out(n_samples, fraction, rng, parameters):
    """Select samples to hold out: a mask with samples on both sides.

    ``parameters`` are those that need held-out samples, for the message.
    """
    if n_samples < 2:
        raise ValueError(f"{parameters} need two samples or more; X has 1 sample.")
    n_held_out = max(1, round(fraction * n_samples))
    is_held_out = np.zeros(n_samples, dtype=bool)
    is_held_out[rng.permutation(n_samples)[: min(n_held_out, n_samples - 1)]] = True
    return is_held_out
