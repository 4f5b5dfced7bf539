"""Density models by definition: tables of all 2**n rows, loops, all spanning trees."""

import itertools
import math

import numpy as np


def all_rows(n):
    """All rows of n bits, the first bit slowest."""
    return np.array(list(itertools.product([0, 1], repeat=n)), dtype=float)


def agrees(row, known):
    """Whether a row is a completion of another, in which NaN is missing."""
    return all(math.isnan(b) or a == b for a, b in zip(row, known, strict=True))


def completions(table, known):
    """Numbers of the completions of a row, and their probabilities given the row."""
    rows = all_rows(len(known))
    numbers = [i for i, row in enumerate(rows) if agrees(row, known)]
    return numbers, table[numbers] / table[numbers].sum()


def mixture_log_probability(weights, means, row):
    """Log-probability of a row's known bits, component by component, bit by bit."""
    total = 0.0
    for weight, mean in zip(weights, means, strict=True):
        product = weight
        for p, bit in zip(mean, row, strict=True):
            if not math.isnan(bit):
                product *= p if bit else 1 - p
        total += product
    return math.log(total)


def mean_counts(weights, means, rows):
    """What EM counts, a row's share: members, true and false bits of components."""
    members, true, false = np.zeros(len(weights)), *np.zeros((2, *means.shape))
    for row in rows:
        score = mixture_log_probability(weights, means, row)
        for c in range(len(weights)):
            alone = mixture_log_probability(weights[c : c + 1], means[c : c + 1], row)
            share = math.exp(alone - score) / len(rows)
            members[c] += share
            true[c] += share * (row == 1)
            false[c] += share * (row == 0)
    return members, true, false


def stepwise_em(weights, means, counts, batches, alpha, decay):
    """Liang and Klein's stepwise EM: mean counts move by (t + 2)**-decay.

    Batches are of one size, and counts are those of one more.
    """
    for t, rows in enumerate(batches):
        rate, n_seen = (t + 2) ** -decay, (t + 2) * len(rows)
        counts = [
            (1 - rate) * old + rate * new
            for old, new in zip(counts, mean_counts(weights, means, rows), strict=True)
        ]
        members, true, false = (n_seen * count + alpha for count in counts)
        weights, means = members / members.sum(), true / (true + false)
    return weights, means


def tree_log_probability(parents, probabilities, row):
    """Log-probability of a complete row, one factor for each bit."""
    total = 0.0
    for bit, parent in enumerate(parents):
        p = probabilities[bit][int(row[parent]) if parent >= 0 else 0]
        total += math.log(p if row[bit] else 1 - p)
    return total


def smoothed_table(X, weights, alpha):
    """Probabilities of all rows: those of X and alpha rows spread over all."""
    rows = all_rows(X.shape[1])
    counts = np.full(len(rows), alpha / len(rows))
    for row, weight in zip(X, weights, strict=True):
        counts[(rows == row).all(axis=1)] += weight
    return counts / counts.sum()


def pair_table(table, i, j):
    """Joint probabilities of two bits from a table of all rows."""
    rows = all_rows(round(math.log2(len(table))))
    return np.array(
        [
            [table[(rows[:, i] == a) & (rows[:, j] == b)].sum() for b in (0, 1)]
            for a in (0, 1)
        ]
    )


def mutual_information(table, i, j):
    """Sum of p log(p / q) over the four states of two bits."""
    joint = pair_table(table, i, j)
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return sum(
        p * math.log(p / q)
        for p, q in zip(joint.flat, apart.flat, strict=True)
        if p > 0
    )


def spanning_trees(n):
    """All trees on n points, as lists of n - 1 pairs."""
    pairs = list(itertools.combinations(range(n), 2))
    for edges in itertools.combinations(pairs, n - 1):
        joined = list(range(n))
        for i, j in edges:
            joined = [joined[i] if group == joined[j] else group for group in joined]
        if len(set(joined)) == 1:
            yield edges


def directed(edges, n):
    """Parents of all points when a tree hangs at point 0."""
    parents, reached = [-1] * n, {0}
    while len(reached) < n:
        for i, j in edges:
            for parent, child in ((i, j), (j, i)):
                if parent in reached and child not in reached:
                    parents[child] = parent
                    reached.add(child)
    return parents


def tree_likelihood(table, parents):
    """Mean log-likelihood, under a table, of a tree with the table's conditionals."""
    total = 0.0
    for bit, parent in enumerate(parents):
        joint = pair_table(table, parent if parent >= 0 else bit, bit)
        if parent < 0:
            total += sum(p * math.log(p) for p in np.diag(joint) if p > 0)
            continue
        for line in joint:
            total += sum(p * math.log(p / line.sum()) for p in line if p > 0)
    return total


def chi_square(drawn, table):
    """Pearson's statistic of rows drawn from a table, and its degrees of freedom."""
    n = drawn.shape[1]
    numbers = (drawn @ 2 ** np.arange(n)[::-1]).astype(int)
    counts, expected = np.bincount(numbers, minlength=2**n), len(drawn) * table
    # Cells in which five rows are expected; the others are one cell together.
    large = expected >= 5
    counts = np.append(counts[large], counts[~large].sum())
    expected = np.append(expected[large], expected[~large].sum())
    counts, expected = counts[expected > 0], expected[expected > 0]
    return ((counts - expected) ** 2 / expected).sum(), len(counts) - 1
