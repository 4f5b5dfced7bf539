"""Mistake bounds beside measured mistakes: Winnow, Halving, elimination.

    python benchmarks/papers/mistake_bounds.py [--quick]

* Winnow 1 and Winnow on disjunctions of k of n features: bounds 2 + 2 k lg n (lecture
  slides; N. Littlestone, Machine Learning 2, 1988) and Theorem 2 of Khardon, Roth and
  Servedio (NIPS 2001). Rows at random, and rows chosen against the learner.
* The other classes of the slides, by their reductions; and the sizes of the classes.

No learner may exceed its bound: that is an error here.
"""

import argparse
import sys
from itertools import combinations, product
from pathlib import Path

import numpy as np
from sklearn.base import clone

sys.path.insert(0, str(Path(__file__).parents[1]))

from _timing import print_header, print_table

from sklboolean import (
    ConjunctionClassifier,
    ConjunctionFeatures,
    HalvingClassifier,
    Winnow,
)
from sklboolean.theory import (
    elimination_mistake_bound,
    halving_mistake_bound,
    n_conjunctions,
    winnow1_mistake_bound,
    winnow_mistake_bound,
)

ONE_PASS = {"average": None, "margin": 0.0, "max_iter": 1, "shuffle": False}
BOTH = [False, True]


def within(mistakes, bound):
    """Return the mistakes if they are within the bound."""
    assert mistakes <= bound, f"{mistakes} mistakes, but at most {bound} can be"
    return mistakes


def most_mistakes(learner, draw, n_samples, n_seeds):
    """Return the most mistakes in one pass over streams from several seeds."""
    counts = []
    for seed in range(n_seeds):
        X, y = draw(n_samples, np.random.default_rng(seed))
        counts.append(clone(learner).partial_fit(X, y, classes=BOTH).n_mistakes_)
    return max(counts)


# -- Winnow on disjunctions -----------------------------------------------------------


def winnow1(n_weights, **options):
    """Return Winnow 1, which predicts "true" above n / 2 and nullifies weights.

    Its weights are 0 or powers of two, so "above" is "at least a quarter above".
    """
    threshold = n_weights / 2 + 0.25
    options = {"variant": "positive", **options, **ONE_PASS}
    return Winnow(promotion=(2.0, 0.0), threshold=threshold, **options)


def winnow(n_weights, promotion):
    """Return the Winnow of Theorem 2 with the number of weights as its threshold."""
    return Winnow(
        variant="positive", promotion=promotion, threshold=n_weights, **ONE_PASS
    )


def literals(n_features, n_literals, *, negative=0, conjunction=False):
    """Return a stream for a disjunction, or conjunction, of the first features.

    The last ``negative`` of its literals are negated. Half the rows are positive.
    """
    share = 0.5 ** (1 / n_literals)  # of rows in which one literal does not decide
    sign = np.arange(n_features) >= n_literals - negative
    sign[n_literals:] = False

    def draw(n_samples, rng):
        ones = rng.random((n_samples, n_features)) >= share  # literals that hold
        holds = ~ones if conjunction else ones
        combine = np.all if conjunction else np.any
        return holds ^ sign, combine(holds[:, :n_literals], axis=1)

    return draw


def hostile_row(weights, n_relevant, threshold):
    """Return a row that the learner gets wrong, and its label; or None.

    The disjunction is over the first features. A negative row has as few of the heavy
    others as reach the threshold, a positive one a relevant feature and as many of the
    light others as stay below it.
    """
    others = n_relevant + np.argsort(weights[n_relevant:], kind="stable")
    sums = np.cumsum(weights[others[::-1]])
    if sums.size and sums[-1] >= threshold:
        chosen, label = others[::-1][: 1 + np.searchsorted(sums, threshold)], False
    else:
        light = np.argmin(weights[:n_relevant])
        if weights[light] >= threshold:
            return None
        sums = weights[light] + np.cumsum(weights[others])
        chosen, label = np.append(others[: np.searchsorted(sums, threshold)], light), 1
    row = np.zeros((1, len(weights)), dtype=bool)
    row[0, chosen] = True
    return row, bool(label)


def hostile_mistakes(learner, n_features, n_relevant, limit):
    """Return the missed positive and negative rows of an adversary who sees weights."""
    learner = clone(learner)
    missed, weights = {True: 0, False: 0}, np.ones(n_features)
    while attack := hostile_row(weights, n_relevant, learner.threshold):
        row, label = attack
        learner.partial_fit(row, [label], classes=BOTH)
        missed[label] += 1
        assert learner.n_mistakes_ == sum(missed.values()) <= limit
        weights = learner.raw_coef_[0]
    return missed[True], missed[False]


def disjunction_row(n, k, promotion, n_samples, n_seeds):
    """Return the cells of a learner on disjunctions; promotion None is Winnow 1."""
    if promotion is None:
        name, learner, bound = "Winnow 1", winnow1(n), winnow1_mistake_bound(n, k)
    else:
        name, learner = f"Winnow, {promotion}", winnow(n, promotion)
        bound = winnow_mistake_bound(n, k, promotion, n)
    random = most_mistakes(learner, literals(n, k), n_samples, n_seeds)
    promotions, demotions = hostile_mistakes(learner, n, k, bound)
    if promotion is None:
        # The two steps of the proof; 2**promotions <= n**k without logarithms.
        assert 2**promotions <= n**k
        assert demotions <= 2 + promotions
    hostile = within(promotions + demotions, bound)
    return name, n, k, bound, within(random, bound), hostile, promotions, demotions


# -- other classes --------------------------------------------------------------------


def dnf(n_features, n_literals, n_terms):
    """Return a stream for a DNF, expanded into conjunctions, and their number."""
    conjunctions = ConjunctionFeatures(max_literals=n_literals, monotone=False)
    conjunctions.fit(np.zeros((1, n_features), dtype=bool))

    def draw(n_samples, rng):
        X = rng.random((n_samples, n_features)) < 0.5
        chosen = rng.permutation(n_features)[: n_terms * n_literals]
        terms = chosen.reshape(n_terms, n_literals)
        sign = rng.random(n_features) < 0.5
        y = (X ^ sign)[:, terms].all(axis=2).any(axis=1)
        return conjunctions.transform(X), y

    return draw, conjunctions.transform(np.zeros((1, n_features))).shape[1]


def elimination_mistakes(n, k):
    """Return mistakes of elimination where each positive row drops one literal."""
    rows = np.zeros((n - k + 1, n), dtype=bool)
    rows[:, :k] = True
    rows[np.arange(1, n - k + 1), np.arange(k, n)] = True
    learner = ConjunctionClassifier()
    return learner.partial_fit(rows, np.ones(len(rows), bool), classes=BOTH).n_mistakes_


def class_rows(n, n_small, n_samples, n_seeds):
    """Yield the cells of the classes of the slides: class, learner, bound, measured."""
    k, terms = 3, 3

    def cells(name, method, weights, bound, learner, draw):
        mistakes = most_mistakes(learner, draw, n_samples, n_seeds)
        return name, method, weights, bound, within(mistakes, bound)

    bound = winnow1_mistake_bound(2 * n, k)
    for conjunction in (False, True):
        target = "conjunction" if conjunction else "disjunction"
        variant = "complement_conjunction" if conjunction else "complement"
        learner = winnow1(2 * n, variant=variant)
        draw = literals(n, k, negative=1, conjunction=conjunction)
        name = f"{target}s of {k} of {n}, negation"
        method = "negations added" + ", De Morgan" * conjunction
        yield cells(name, f"Winnow 1, {method}", 2 * n, bound, learner, draw)
    draw, size = dnf(n_small, 2, terms)
    name = f"2-DNF of {terms} terms of {n_small}"
    bound = winnow1_mistake_bound(size, terms)
    yield cells(name, "Winnow 1, conjunctions", size, bound, winnow1(size), draw)
    size = n_conjunctions(8)
    draw = literals(8, k, negative=1, conjunction=True)
    name = "conjunctions of 8, negation"
    bound = halving_mistake_bound(size)
    yield cells(name, "Halving", size, bound, HalvingClassifier(), draw)
    size = n_conjunctions(n_small, max_literals=2)
    learner = HalvingClassifier("k-disjunctions", max_literals=2)
    draw, name = literals(n_small, 2, negative=1), f"disjunctions of <= 2 of {n_small}"
    yield cells(name, "Halving", size, halving_mistake_bound(size), learner, draw)
    name, bound = f"conjunctions of {n}, negation", elimination_mistake_bound(n, k)
    mistakes = within(elimination_mistakes(n, k), bound)
    yield name, "elimination, worst rows", 2 * n, bound, mistakes


def class_sizes(n, k):
    """Count by enumeration: all conjunctions, those without contradiction, functions.

    The same for disjunctions of up to k literals.
    """
    rows = list(product([False, True], repeat=n))
    pool = [(i, value) for i in range(n) for value in (False, True)]
    chosen = [c for size in range(2 * n + 1) for c in combinations(pool, size)]
    sound = [c for c in chosen if len({i for i, _ in c}) == len(c)]
    functions = {tuple(all(x[i] == v for i, v in c) for x in rows) for c in chosen}
    short = {
        tuple(any(x[i] == v for i, v in c) for x in rows)
        for c in sound
        if 1 <= len(c) <= k
    }
    assert len(sound) == n_conjunctions(n) == 3**n
    assert len(functions) == 3**n + 1
    assert len(short) == n_conjunctions(n, min_literals=1, max_literals=k)
    return n, len(chosen), len(sound), len(functions), len(short)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    quick = parser.parse_args(arguments).quick
    n_seeds, n_samples = (2, 200) if quick else (10, 5000)
    print_header("Mistake bounds")
    sizes = [(16, 2)] if quick else [(100, 1), (100, 5), (1000, 5), (1000, 20)]
    columns = (
        "learner features relevant bound random hostile promotions demotions".split()
    )
    rows = [
        disjunction_row(n, k, promotion, n_samples, n_seeds)
        for promotion in (None, 2, 1.5)
        for n, k in sizes
    ]
    print_table("Disjunctions of k features", columns, rows)
    columns = ["class", "learner", "weights or hypotheses", "bound", "mistakes"]
    n, n_small = (20, 8) if quick else (500, 30)
    rows = list(class_rows(n, n_small, n_samples, n_seeds))
    print_table("Other classes: bound and most mistakes", columns, rows)
    columns = "features conjunctions consistent functions 2-disjunctions".split()
    rows = [class_sizes(n, 2) for n in range(2, 4 if quick else 5)]
    print_table("Sizes of classes, counted", columns, rows)


if __name__ == "__main__":
    sys.exit(main())
