"""A halfspace that agrees with all labels, or the proof that there is none."""

import numpy as np
from scipy.optimize import linprog

# The solver's feasibility tolerance; cones that are narrower count as empty.
TOLERANCE = 1e-9


def interior_direction(signed_rows):
    """Find a direction deep inside the cone of the labels.

    Parameters
    ----------
    signed_rows : ndarray of shape (n_samples, rank)
        Rows of length 1, those with a negative label negated.

    Returns
    -------
    direction : ndarray of shape (rank,), or None
        With ``signed_rows @ direction > 0`` in every entry, the smallest as large as it
        can be among directions in the cube [-1, 1]; None when no such direction exists
        but those of margin below 1e-9.
    """
    n_samples, rank = signed_rows.shape
    if not n_samples:
        return np.ones(rank)
    # max m with signed_rows @ w >= m and |w|_inf <= 1.
    result = linprog(
        np.append(np.zeros(rank), -1.0),
        A_ub=np.column_stack([-signed_rows, np.ones(n_samples)]),
        b_ub=np.zeros(n_samples),
        bounds=[(-1, 1)] * rank + [(None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": TOLERANCE / 10},
    )
    if result.x is None:
        raise RuntimeError(f"The linear program was not solved: {result.message}")
    direction = result.x[:-1]
    margin = np.min(signed_rows @ direction)
    return direction if margin > TOLERANCE else None


def meets_cone(signed_rows, start, direction):
    """Return whether the line ``start + t * direction`` passes well inside the cone.

    Parameters
    ----------
    signed_rows : ndarray of shape (n_samples, rank)
    start, direction : ndarray of shape (rank,)
    """
    at, slope = signed_rows @ start, signed_rows @ direction
    rises, falls = slope > 0, slope < 0
    lower = np.max(-at[rises] / slope[rises], initial=-np.inf)
    upper = np.min(-at[falls] / slope[falls], initial=np.inf)
    if np.isinf(lower):
        lower = min(upper, 0.0) - 1.0
    if np.isinf(upper):
        upper = max(lower, 0.0) + 1.0
    point = start + 0.5 * (lower + upper) * direction
    return bool(np.min(signed_rows @ point) > TOLERANCE * np.linalg.norm(point))
