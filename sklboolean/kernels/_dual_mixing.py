"""Mixes of kernel perceptrons that were trained on partitions of the samples.

As in the cascade of Graf et al. (2005), partitions contribute their support samples,
and the union goes back to all of them. Coefficients are mixed in proportion to the
updates of each partition; in the space of the kernel this is iterative parameter mixing
(McDonald, Hall, Mann 2010, Theorem 3).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from sklboolean._core.bits import as_csr, as_words
from sklboolean.kernels._dual_training import RESOLUTION

TOO_LONG = (
    "The integer coefficients are too large to stay exact: too many samples for these "
    "weights. Lower class_weight, sample_weight or max_iter, or use average=None."
)


@dataclass(frozen=True)
class SupportUnion:
    """The support samples of several states, each once.

    Attributes
    ----------
    numbers : ndarray of shape (n_union,), int64
        Their numbers in the stream, ascending.
    table : table of the samples, or None
    positions : list of ndarray of int
        For each state, the positions of its support samples in the union.
    """

    numbers: np.ndarray
    table: object
    positions: list

    @classmethod
    def of(cls, states, supports):
        """Unite the states' support samples, whose numbers are ``supports``."""
        # A sample that erred again occurs twice: among the earlier ones and as new.
        numbers, first, position = np.unique(
            np.concatenate(supports), return_index=True, return_inverse=True
        )
        ends = np.cumsum([len(support) for support in supports])[:-1]
        n_features = states[0].config.n_features
        table = join_tables([state.table for state in states], n_features)
        return cls(numbers, table[first], np.split(position, ends))

    def spread(self, columns, state_number):
        """Add up columns of integers of one state at their positions in the union."""
        total = np.zeros((len(columns), len(self.numbers)), dtype=np.int64)
        np.add.at(total.T, self.positions[state_number], columns.T)
        return total


def mix_states(before, afters, updates, n_samples):
    """Mix the states that one epoch over partitions made of a state.

    Weights and mix are rounded to multiples of 1 / `RESOLUTION` or finer, and all
    decisions are exact for the hypotheses so made.

    Parameters
    ----------
    before : DualState
    afters : sequence of DualState
        In the order of the partitions.
    updates : sequence of int
        Updates in each partition.
    n_samples : sequence of int
        Samples of each partition.

    Returns
    -------
    state : DualState
    """
    # Number the samples of all partitions as in one stream.
    first = before.n_seen if before.first_number is None else before.first_number
    n_seen = before.n_seen + sum(n_samples)
    supports = [before.support]
    for state, n_before in zip(afters, np.cumsum([0, *n_samples[:-1]]), strict=True):
        # A sample has the same number in every epoch.
        is_new = state.support >= before.n_seen
        supports.append(state.support + is_new * (first + n_before - before.n_seen))
    before, *afters = states = with_one_resolution([before, *afters], n_seen)
    union = SupportUnion.of(states, supports)
    # The mean is over all samples of all partitions: add what each added.
    start = union.spread(before.summed(), 0)
    coef, summed = np.zeros_like(start), start.copy()
    for number, (weight, after) in enumerate(
        zip(mixing_weights(updates), afters, strict=True), 1
    ):
        coef += weight * union.spread(after.coef, number)
        summed += union.spread(after.summed(), number) - start
    coef = (coef + RESOLUTION // 2) // RESOLUTION
    # The time sums with which `DualState.summed` gives this sum of hypotheses.
    time_sums = (n_seen + 1) * coef - summed
    if before.config.average != "mean":
        time_sums[:] = 0
    used = coef.any(axis=0) | time_sums.any(axis=0)
    return replace(
        before, table=union.table[used], support=union.numbers[used],
        coef=coef[:, used], coef_time_sums=time_sums[:, used], n_seen=n_seen,
        first_number=first,
    )  # fmt: skip


def with_one_resolution(states, n_seen):
    """Give states the finest resolution among them, for a mix after ``n_seen``."""
    finest = max(RESOLUTION, *(state.resolution for state in states))
    states = [state.with_resolution(finest) for state in states]
    largest = max(np.abs(state.coef).max(initial=0) for state in states)
    if int(largest) * max(RESOLUTION, n_seen + 1) >= 2**61:
        raise ValueError(TOO_LONG)
    return states


def mixing_weights(updates):
    """Weigh partitions in proportion to their updates, as integers over `RESOLUTION`.

    The weights add up to `RESOLUTION`; the largest takes what rounding leaves.
    """
    updates = np.asarray(updates, dtype=np.int64)
    if not updates.any():
        updates = np.ones_like(updates)
    weights = RESOLUTION * updates // updates.sum()
    # Whole shares add up to less than RESOLUTION, by less than one each.
    weights[np.argmax(weights)] += RESOLUTION - weights.sum()
    return weights


def join_tables(tables, n_features):
    """Stack tables of Boolean samples in the form of the first; None is empty."""
    first, *others = [table for table in tables if table is not None]
    if not others:
        return first
    if not sparse.issparse(first):
        return np.concatenate([first, *map(as_words, others)])
    rows = [as_csr(table, n_features) for table in (first, *others)]
    return sparse.csr_array(sparse.vstack(rows, format="csr"))
