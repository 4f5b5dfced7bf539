"""A permutation test of the best of all conjunctions against chance."""

# 1. The target is centred in each stratum and rounded to whole numbers, so all sums
#    are exact, and equal scores are equal numbers.
# 2. A block has TARGETS columns: the target, in the first block, and permutations of it
#    within the strata, each block from a seed of its own. One compiled pass finds the
#    largest score of each column over all conjunctions.
# 3. The p-value is the share of columns whose largest score is at least that of the
#    target itself, which counts, too (Westfall and Young). Under the hypothesis that
#    the target does not depend on the features within a stratum, all columns have the
#    same distribution, so p <= a has a probability of at most a, whatever the features,
#    the target and the number of conjunctions.

from dataclasses import dataclass

import numpy as np

from sklboolean._core._table import LONGEST, TARGETS
from sklboolean._core.conjunction_search import ConjunctionSearch
from sklboolean._core.conjunction_table import as_pairs, to_integers
from sklboolean._core.parallel import in_threads
from sklboolean._core.parameters import (
    check_choice,
    check_integer,
    check_n_jobs,
    check_real,
)
from sklboolean._core.search_task import SearchTask

SIDES = {"both": "both", "higher": "positive", "lower": "negative"}


@dataclass(frozen=True)
class PermutationParams:
    """Checked parameters; see `find_subgroups` for the meaning."""

    max_literals: int
    power: float
    side: str
    min_size: int
    monotone: bool
    n_permutations: int
    n_jobs: int | None

    def __post_init__(self):
        check_integer(self.max_literals, "max_literals", 1, LONGEST)
        check_real(self.power, "power", 0, 1)
        check_choice(self.side, "side", tuple(SIDES))
        check_integer(self.min_size, "min_size", 1)
        check_choice(self.monotone, "monotone", (False, True))
        check_integer(self.n_permutations, "n_permutations", 1)
        check_n_jobs(self.n_jobs)


def centred(target, strata):
    """Subtract the mean of its stratum from each value; equal values become 0."""
    origins = np.zeros(strata.max() + 1)
    origins[strata] = target  # one of the values of each stratum
    target = target - origins[strata]
    counts = np.maximum(np.bincount(strata), 1)
    return target - (np.bincount(strata, target) / counts)[strata]


def permuted(values, strata, rng):
    """Permute values within the strata."""
    order = np.argsort(strata + rng.random(len(values)))
    result = np.empty_like(values)
    result[np.argsort(strata, kind="stable")] = values[order]
    return result


def best_group(words, target, strata, n_features, params, seed):
    """Find the conjunction of the largest score, and its p-value.

    The score is the absolute sum of the centred target over the samples of a
    conjunction, divided by a power of their number.

    Parameters
    ----------
    words : ndarray of uint64 words
        Boolean samples.
    target : ndarray of shape (n_samples,), float64
    strata : ndarray of shape (n_samples,), int
        The target is centred and permuted within each.
    n_features : int
    params : PermutationParams
    seed : int

    Returns
    -------
    literals : tuple of (feature, value) pairs, or None
        None where no score is above 0 by more than rounding.
    score : float
    p_value : float
    """
    search = ConjunctionSearch(
        words, n_features, max_literals=params.max_literals, monotone=params.monotone
    )
    table = search.table(search.longest)
    if table is None:
        raise ValueError(
            f"X has {n_features} Boolean features, too many for all conjunctions of up "
            f"to {params.max_literals}. Set max_literals to a smaller number, or make "
            "fewer features, for example with "
            "encoder=BooleanEncoder(n_bins=4, max_categories=10)."
        )
    target = centred(target, strata)
    integers, unit = to_integers(target)
    if not integers.any():
        return None, 0.0, 1.0
    values = integers.astype(np.float64)
    found, largest = _largest_scores(table, values, strata, params, seed)
    # The sum of all samples is 0 but for rounding: they are no group.
    rounding = len(target) * np.finfo(float).eps * np.abs(target).sum()
    if not found or unit * abs(found[0][1]) <= rounding:
        return None, 0.0, 1.0
    literals = as_pairs(found[0][0], n_features)
    return literals, unit * float(largest[0]), float(np.mean(largest >= largest[0]))


def _largest_scores(table, values, strata, params, seed):
    """Search values and their permutations.

    Returns
    -------
    found : list of (literals, sum)
        The best conjunction of the values.
    largest : ndarray of shape (1 + n_permutations,), float64
        Largest of the values, and of each permutation.
    """
    n_samples, n_columns = len(values), 1 + params.n_permutations
    sizes = np.arange(params.min_size, n_samples + 1.0)
    factors = np.zeros(n_samples + 1)
    factors[params.min_size :] = sizes**-params.power
    sign, factors_of_lengths = SIDES[params.side], np.ones(table.longest + 1)
    factors_of_lengths[0] = 0.0
    task = SearchTask(1, sign, factors_of_lengths, 0.0, bool(params.monotone))
    # Made here, once for all threads.
    _ = table.counts, table.true_rows

    def search_block(first):
        rng = np.random.default_rng([seed, first])
        targets = np.zeros((n_samples, TARGETS))
        for number in range(first, min(first + TARGETS, n_columns)):
            column = permuted(values, strata, rng) if number else values
            targets[:, number - first] = column
        return table.best_of_targets(targets, factors, task)

    firsts = ((first,) for first in range(0, n_columns, TARGETS))
    blocks = list(in_threads(search_block, firsts, params.n_jobs))
    scores = np.concatenate([largest for _, largest in blocks])
    return blocks[0][0], scores[:n_columns]
