"""Slow twins of `sklboolean.inspection`, by definition."""

from itertools import permutations

import numpy as np

from oracles.rules import every_conjunction, satisfies


def subgroup_scores(
    X, target, *, max_literals, power, side, min_size, monotone
):  # fmt: skip
    """Score every conjunction: its sum of the target over a power of its size."""
    scores = {}
    n_features = X.shape[1]
    for literals in every_conjunction(n_features, max_literals, negations=not monotone):
        cover = [i for i in range(len(X)) if satisfies(X[i], literals)]
        if len(cover) >= min_size:
            score = sum(target[i] for i in cover) / len(cover) ** power
            signed = {"both": abs(score), "higher": score, "lower": -score}
            scores[tuple(sorted(literals))] = signed[side]
    return scores


def permutation_p_value(X, target, **options):
    """Compare the best score with those of all permutations of the target."""
    target = np.asarray(target, dtype=float) - np.mean(target)
    best = max(subgroup_scores(X, target, **options).values())
    null = [
        max(subgroup_scores(X, np.array(permuted), **options).values())
        for permuted in permutations(target)
    ]
    return np.mean(np.array(null) >= best - 1e-9)


def difference_within_strata(target, members, strata):
    """Regress on membership and a dummy of each stratum: coefficient and HC2 error."""
    labels = np.unique(strata)
    design = np.column_stack([members, *(strata == label for label in labels)])
    design = design.astype(float)
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ target
    hat = np.einsum("ij,jk,ik->i", design, inverse, design)
    residuals = target - design @ coefficients
    meat = design.T @ (design * (residuals**2 / (1 - hat))[:, None])
    return coefficients[0], np.sqrt((inverse @ meat @ inverse)[0, 0])
