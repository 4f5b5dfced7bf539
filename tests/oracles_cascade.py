"""The kernel perceptron over partitions by definition, in whole numbers."""

from collections import Counter
from itertools import pairwise

UNIT = 2**16


def shares_of(updates):
    """Shares by the updates, over `UNIT`; the largest takes what rounding leaves."""
    updates = list(updates) if any(updates) else [1] * len(updates)
    shares = [UNIT * n // sum(updates) for n in updates]
    shares[shares.index(max(shares))] += UNIT - sum(shares)
    return shares


def play_cascade(parts, kernel, n_epochs, margin=0):
    """Two classes, 0 and 1; a score of 0 predicts 1.

    Returns the coefficients over `UNIT`, by the number of the row in all partitions: of
    the sum of the hypotheses after each example, and of the last; and the updates of
    each epoch and partition, with the shares over `UNIT`.
    """
    rows = [tuple(x) for X, _ in parts for x in X]
    labels = [int(label) for _, y in parts for label in y]
    edges = [sum(len(y) for _, y in parts[:i]) for i in range(len(parts) + 1)]
    mixed, total, history = Counter(), Counter(), []
    for _ in range(n_epochs):
        results, updates = [], []
        for first, end in pairwise(edges):
            own = Counter(mixed)
            updates.append(0)
            for i in range(first, end):
                score = sum(c * kernel(rows[j], rows[i]) for j, c in own.items())
                sign = 1 if labels[i] else -1
                wrong = score < 0 if labels[i] else score >= 0
                if wrong or sign * score < margin * UNIT:
                    own[i] += sign * UNIT
                    updates[-1] += 1
                for j, c in own.items():
                    total[j] += c
            results.append(own)
        shares = shares_of(updates)
        history.append((updates, shares))
        mixed = Counter(
            {
                i: (
                    sum(s * own[i] for s, own in zip(shares, results, strict=True))
                    + UNIT // 2
                )
                // UNIT
                for i in range(len(rows))
            }
        )
        if not any(updates):
            break
    return total, mixed, history
