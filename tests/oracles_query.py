"""Query by committee by definition: Figure 3.2 with lists, fractions and loops."""

from fractions import Fraction
from math import log, pi

import numpy as np


def seeds_of(random_state):
    """Return the seeds of members, ties and coins, in the order they are drawn."""
    random = np.random.RandomState(random_state)
    return [int(random.randint(np.iinfo(np.int32).max)) for _ in range(3)]


def allowed(n, epsilon, delta):
    """t_n."""
    return log(pi**2 * (n + 1) ** 2 / (3 * delta)) / epsilon


def share(version_space, row):
    """The part of a list of hypotheses that accepts a row."""
    return Fraction(sum(bool(h(row)) for h in version_space), len(version_space))


def play_figure(hypotheses, rows, label, epsilon, delta, coins):
    """Play Figure 3.2 on a stream.

    Returns the queries, how many rows were read, whether the rule ended it, and the
    version space.
    """
    space, queries, rejected = list(hypotheses), [], 0
    for i, row in enumerate(rows):
        p = share(space, row)
        first, second = (coin < p for coin in coins[i])
        if first != second:
            queries.append(i)
            space = [h for h in space if bool(h(row)) == label(row)]
            rejected = 0
        else:
            rejected += 1
            if rejected > allowed(len(queries), epsilon, delta):
                return queries, i + 1, True, space
    return queries, len(rows), False, space
