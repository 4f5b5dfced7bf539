"""Slow twins of boost-by-majority, by definition and in exact fractions."""

from fractions import Fraction
from functools import cache
from math import comb

HALF = Fraction(1, 2)


@cache
def weight(k, i, r, gamma):
    """The weight of state r by the recursion before (2.1)."""
    if i == k - 1:
        return Fraction(r == k // 2)
    wrong, right = weight(k, i + 1, r, gamma), weight(k, i + 1, r + 1, gamma)
    return (HALF - gamma) * wrong + (HALF + gamma) * right


@cache
def potential(k, i, r, gamma):
    """The potential of state r by (2.5) and (2.6)."""
    if i == k:
        return Fraction(2 * r <= k)
    wrong, right = potential(k, i + 1, r, gamma), potential(k, i + 1, r + 1, gamma)
    return (HALF - gamma) * wrong + (HALF + gamma) * right


@cache
def potential_of_votes(k, right, wrong, gamma):
    """The potential of an example with several labels, from all of its votes.

    ``wrong`` holds the votes for each wrong label. A hypothesis that errs picks the
    worst of them; at the end the right label must have strictly the most votes.
    """
    if right + sum(wrong) == k:
        return Fraction(right <= max(wrong))
    worst = max(
        potential_of_votes(k, right, with_one_more(wrong, label), gamma)
        for label in range(len(wrong))
    )
    best = potential_of_votes(k, right + 1, wrong, gamma)
    return (HALF - gamma) * worst + (HALF + gamma) * best


def with_one_more(wrong, label):
    """The votes for the wrong labels, sorted, after one more for a label."""
    votes = list(wrong)
    votes[label] += 1
    return tuple(sorted(votes))


def binomial(n, j, p):
    """The binomial probability of j among n."""
    return comb(n, j) * p**j * (1 - p) ** (n - j) if 0 <= j <= n else Fraction(0)


def tail(k, gamma):
    """The left side of (2.2): at most half of k votes are right."""
    return sum(binomial(k, j, HALF + gamma) for j in range(k // 2 + 1))


def play(k, gamma, fractions_marked):
    """Play the game on a divisible space against the weights of the recursion.

    ``fractions_marked(i, weights)`` is the chooser's. Returns the average potentials.
    """
    values = [Fraction(1)]
    potentials = [tail(k, gamma)]
    for i in range(k):
        masses = [q * weight(k, i, r, gamma) for r, q in enumerate(values)]
        total = sum(masses)
        weights = [mass / total if total else Fraction(0) for mass in masses]
        marked = [
            q * x for q, x in zip(values, fractions_marked(i, weights), strict=True)
        ]
        stay = [q - x for q, x in zip(values, marked, strict=True)] + [Fraction(0)]
        move = [Fraction(0)] + marked
        values = [a + b for a, b in zip(stay, move, strict=True)]
        potentials.append(
            sum(q * potential(k, i + 1, r, gamma) for r, q in enumerate(values))
        )
    return potentials


def mark_in_order(order, weights, quota):
    """Mark states in an order until they have so much of the weight."""
    fractions = [Fraction(0)] * len(weights)
    left = Fraction(quota)
    for r in order:
        if weights[r]:
            fractions[r] = min(Fraction(1), left / weights[r])
            left -= fractions[r] * weights[r]
    return fractions
