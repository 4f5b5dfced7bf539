"""What all version spaces check and say.

A version space has ``eta``, ``is_empty``, ``learn(rows, positive)``, which adds to what
was learned before, ``acceptance(rows)``, the posterior probability of a positive label,
and ``accepts(rows, n_draws, random)``, the answers of hypotheses drawn independently
from the posterior: each hypothesis answers all rows.
"""

import numpy as np

from sklboolean._core.validation import check_real


def check_noise(eta):
    """Return the share of wrong labels, from 0 to below 1/2."""
    if check_real(eta, "eta", 0) >= 0.5:
        raise ValueError(f"eta must be below 1/2; got {eta}.")
    return float(eta)


def check_answers(positive, n_samples):
    """Return labels as bools, one for each row."""
    positive = np.asarray(positive)
    is_bool = positive.dtype.kind in "biuf" and np.isin(positive, (0, 1)).all()
    if positive.shape != (n_samples,) or not is_bool:
        raise ValueError(
            f"positive must be a bool for each of the {n_samples} rows; it has shape "
            f"{positive.shape}, dtype {positive.dtype}."
        )
    return positive.astype(bool)


def empty_message():
    """Say that no hypothesis is left, and the ways out."""
    return (
        "No hypothesis agrees with all labels: the version space is empty. Allow for "
        "wrong labels, for example eta=0.05, or choose a richer class."
    )
