"""Messages along the edges of a tree of bits: exact sums, maxima and draws.

Each bit tells its parent, for both values of the parent, how well its own subtree fits
what is known. Everything is in logarithms, a row of the table at a time in parallel.
"""

import numpy as np

from sklboolean.density._chow_liu import parents_first


def log_evidence(signs):
    """Return 0 for the values that a bit may have and -inf for those it has not.

    Returns
    -------
    evidence : ndarray of shape (n_features, n_samples, 2), dtype float64
    """
    evidence = np.zeros((*signs.T.shape, 2))
    evidence[signs.T > 0, 0] = -np.inf
    evidence[signs.T < 0, 1] = -np.inf
    return evidence


class BitTree:
    """A distribution of bits in which each depends on its parent only.

    Parameters
    ----------
    parents : ndarray of shape (n_features,), dtype int64
        -1 for a root.
    log_tables : ndarray of shape (n_features, 2, 2), dtype float64
        Log-probability of each value (last axis) given each value of the parent; for
        a root both lines are the same. Finite.
    """

    def __init__(self, parents, log_tables):
        self.parents, self.log_tables = parents, log_tables
        self.order = parents_first(parents)

    def upward(self, signs, combine=np.logaddexp):
        """Return the messages to parents, and what each bit heard from its children.

        Parameters
        ----------
        signs : ndarray of shape (n_samples, n_features)
            0 where a bit is missing.
        combine : {numpy.logaddexp, numpy.maximum}
            What becomes of the two values of a missing bit.

        Returns
        -------
        messages : ndarray of shape (n_features, n_samples, 2)
            For the two values of the parent; finite.
        below : ndarray of shape (n_features, n_samples, 2)
            Sums of the messages of the children; finite.
        evidence : ndarray of shape (n_features, n_samples, 2)
            What is known of the bits themselves.
        """
        evidence = log_evidence(signs)
        messages, below = np.empty_like(evidence), np.zeros_like(evidence)
        for bit in self.order[::-1]:
            table, own = self.log_tables[bit], evidence[bit] + below[bit]
            messages[bit] = combine(own[:, :1] + table[:, 0], own[:, 1:] + table[:, 1])
            if self.parents[bit] >= 0:
                below[self.parents[bit]] += messages[bit]
        return messages, below, evidence

    def log_density(self, signs):
        """Return the log-probability of each row's known bits."""
        messages = self.upward(signs)[0]
        return messages[self.parents < 0, :, 0].sum(axis=0)

    def log_odds(self, signs):
        """Return the log-odds of each bit given all other known bits of its row."""
        messages, below, evidence = self.upward(signs)
        above = np.empty_like(below)
        for bit in self.order:
            table, parent = self.log_tables[bit], self.parents[bit]
            if parent < 0:
                above[bit] = table[0]
                continue
            rest = above[parent] + evidence[parent] + below[parent] - messages[bit]
            above[bit] = np.logaddexp(rest[:, :1] + table[0], rest[:, 1:] + table[1])
        both = above + below
        return (both[:, :, 1] - both[:, :, 0]).T

    def complete(self, signs, choose, combine=np.logaddexp):
        """Fill in missing bits from the roots down.

        Parameters
        ----------
        signs : ndarray of shape (n_samples, n_features)
            0 where a bit is missing.
        choose : callable
            Gets the log-odds of a bit in all rows, given its parent and all that is
            known below; returns whether it is true.
        combine : {numpy.logaddexp, numpy.maximum}
            Sums, for draws; maxima, for the most probable completion.

        Returns
        -------
        signs : ndarray of shape (n_samples, n_features), dtype int8
            Without zeros.
        """
        _, below, evidence = self.upward(signs, combine)
        true = np.zeros(signs.shape, dtype=np.int8)
        for bit in self.order:
            # Of a root both lines are the same: column -1 will do.
            scores = evidence[bit] + below[bit]
            scores += self.log_tables[bit][true[:, self.parents[bit]]]
            true[:, bit] = choose(scores[:, 1] - scores[:, 0])
        return 2 * true - 1
