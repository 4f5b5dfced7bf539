"""Rows drawn from a Markov chain along the features, freely or given a formula."""

from math import log

import numpy as np


class BooleanChain:
    """A stationary Markov chain along Boolean features.

    Feature ``j`` repeats feature ``j - 1`` with probability ``correlation`` and is
    drawn afresh otherwise, true with probability ``density``.
    """

    def __init__(self, n_features, density, correlation=0.0):
        self.n_features = n_features
        self.density = density
        self.correlation = correlation

    def draw(self, n_samples, rng, term=()):
        """Return 0/1 rows drawn from the chain given that ``term`` is true."""
        X = np.empty((n_samples, self.n_features), dtype=np.uint8)
        waiting = sorted(term, reverse=True)
        for j in range(self.n_features):
            if waiting and waiting[-1][0] == j:
                X[:, j] = waiting.pop()[1]
                continue
            chance = self._reach(X[:, j - 1], 1, steps=1) if j else self.density
            if waiting:
                # Bayes: weigh both values by their chance to reach the next literal.
                k, value = waiting[-1]
                yes = chance * self._reach(1, value, steps=k - j)
                no = (1 - chance) * self._reach(0, value, steps=k - j)
                chance = yes / (yes + no)
            X[:, j] = rng.random_sample(n_samples) < chance
        return X

    def log_probability(self, term):
        """Return the log-probability that ``term`` is true."""
        (first, value), *others = sorted(term)
        total = log(self.density if value else 1 - self.density)
        for feature, next_value in others:
            total += log(self._reach(value, next_value, steps=feature - first))
            first, value = feature, next_value
        return total

    def _reach(self, start, end, steps):
        """Return the chance of the value ``end`` so many ``steps`` after ``start``."""
        repeated = self.correlation**steps
        fresh = self.density if end else 1 - self.density
        return repeated * (start == end) + (1 - repeated) * fresh


def count_satisfied(X, terms):
    """Return how many of the ``terms`` each row satisfies."""
    counts = np.zeros(len(X), dtype=np.int64)
    for term in terms:
        features, values = map(list, zip(*term, strict=True))
        counts += (X[:, features] == values).all(axis=1)
    return counts


def draw_satisfying(n_samples, terms, chain, rng):
    """Return rows drawn from the chain given that some term is true."""
    log_p = np.array([chain.log_probability(term) for term in terms])
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    kept = [chain.draw(0, rng)]
    n_kept = 0
    while n_kept < n_samples:
        # A row comes up once for each term that it satisfies; keep one in so many.
        # The rows come term by term: mix them, so that any cut is fair.
        shares = rng.multinomial(max(1000, n_samples - n_kept), p)
        drawn = [chain.draw(shares[i], rng, terms[i]) for i in np.flatnonzero(shares)]
        X = rng.permutation(np.vstack(drawn))
        X = X[rng.random_sample(len(X)) * count_satisfied(X, terms) < 1]
        kept.append(X)
        n_kept += len(X)
    return np.vstack(kept)[:n_samples]


def draw_falsifying(n_samples, terms, chain, rng):
    """Return rows drawn from the chain given that no term is true."""
    kept = [chain.draw(0, rng)]
    n_kept = n_drawn = 0
    while n_kept < n_samples:
        X = chain.draw(max(1000, n_samples - n_kept), rng)
        n_drawn += len(X)
        X = X[count_satisfied(X, terms) == 0]
        kept.append(X)
        n_kept += len(X)
        if n_drawn >= 10_000 and n_kept < n_drawn / 1000:
            raise ValueError(
                f"positive_fraction leaves {n_samples} negative rows, but fewer "
                "than one row in 1000 falsifies the DNF: raise n_literals or "
                "positive_fraction, or lower n_terms."
            )
    return np.vstack(kept)[:n_samples]
