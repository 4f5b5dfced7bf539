"""Helpers of meta-estimators: validation options, seeds and fits of base estimators."""

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from sklboolean._core.validation import readable_errors


def validation_options(base):
    """Choose the options of `validate_data_strict` that a base estimator allows."""
    inner = get_tags(base).input_tags
    return {
        "for_others": True,
        "accept_sparse": "csr" if inner.sparse else False,
        "dtype": None if inner.string or inner.allow_nan else "numeric",
        "ensure_all_finite": "allow-nan" if inner.allow_nan else True,
    }


def draw_seed(rng):
    """Draw the seed of a base estimator."""
    return int(rng.randint(np.iinfo(np.int32).max))


def set_seed(estimator, seed, *, keeps_given=False):
    """Set each ``random_state`` of an estimator and its parts, or those of None."""
    seeds = {}
    for name, value in estimator.get_params().items():
        if name == "random_state" or name.endswith("__random_state"):
            seeds[name] = value if keeps_given and value is not None else seed
    estimator.set_params(**seeds)


@readable_errors("X")
def fit_clone(base, X, y, seed, weights=None):
    """Fit a clone of an estimator, with ``seed`` as every ``random_state`` in it."""
    hypothesis = clone(base)
    set_seed(hypothesis, seed)
    if weights is None:
        return hypothesis.fit(X, y)
    return hypothesis.fit(X, y, sample_weight=weights)
