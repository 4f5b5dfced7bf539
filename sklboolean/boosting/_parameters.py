"""From the parameters of BoostByMajority to a policy and the arguments of a game."""

from numbers import Integral

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sklboolean._core.validation import (
    check_choice,
    check_finite_sum,
    check_integer,
    check_real,
    check_sample_weight,
)
from sklboolean.boosting._majority_game import check_edge
from sklboolean.boosting._policies import candidate_policies, choose_policy
from sklboolean.boosting._rounds import Policy
from sklboolean.boosting._weak_learners import take


def check_parameters(booster):
    """Check all parameters of a booster; ValueError or TypeError names the first."""
    base = booster.estimator
    is_none = base is None
    if not is_none and (
        isinstance(base, type) or not hasattr(base, "fit") or is_regressor(base)
    ):
        raise TypeError(
            f"estimator must be a classifier, such as DecisionTreeClassifier(); got "
            f"{base!r}."
        )
    if isinstance(booster.cv, Integral):
        check_integer(booster.cv, "cv", 2)
    if booster.n_estimators != "auto":
        check_rounds(booster.n_estimators)
    if isinstance(booster.gamma, str):
        check_choice(booster.gamma, "gamma", ("auto", "measured"))
    else:
        check_edge(booster.gamma)
    check_training(booster)
    check_integer(booster.max_estimators, "max_estimators", 1)
    for name in ("target_error", "holdout"):
        value = getattr(booster, name)
        if value is not None:
            check_real(value, name, 0.0, strict=True)
            if value >= 1:
                raise ValueError(f"{name} is a share below 1; got {value}.")


def check_training(booster):
    """Check how a booster trains its weak learner."""
    check_choice(booster.variant, "variant", ("auto", "reweight", "resample"))
    failures = ("abort", "replan", "raise")
    check_choice(booster.on_weak_failure, "on_weak_failure", failures)
    check_integer(booster.max_tries, "max_tries", 1)
    if booster.n_samples_weak is not None:
        check_integer(booster.n_samples_weak, "n_samples_weak", 1)


def check_rounds(n_estimators):
    """Return a number of rounds, if it is one."""
    n_rounds = check_integer(n_estimators, "n_estimators", 1)
    if n_rounds % 2 == 0:
        raise ValueError(
            "n_estimators must be odd, so that no vote is tied, or 'auto'; got "
            f"{n_rounds}, use {n_rounds + 1}."
        )
    return n_rounds


def draws_rows(variant, base):
    """Tell whether a base is shown a distribution by drawing rows, not by weights."""
    takes_weights = has_fit_parameter(base, "sample_weight")
    if variant == "reweight" and not takes_weights:
        raise ValueError(
            f"variant='reweight' needs an estimator whose fit takes sample_weight; "
            f"{type(base).__name__} has none: use variant='resample', or 'auto'."
        )
    return variant == "resample" or not takes_weights


def game_options(booster, base):
    """Return the arguments of `make_learner` and of `play_rounds`."""
    resample = draws_rows(booster.variant, base)
    is_auto = booster.n_estimators == "auto"
    return {
        "resampling": {"resample": resample, "n_draws": booster.n_samples_weak},
        "playing": {
            "max_rounds": booster.max_estimators if is_auto else booster.n_estimators,
            "max_tries": booster.max_tries,
            "on_failure": booster.on_weak_failure,
        },
    }


def policy_for(booster, table, folds, rng, options):
    """Return the policy that the parameters ask for, or that held-out rows choose.

    Returns
    -------
    name : str
    policy : Policy
    scores : dict or None
        Held-out accuracy of the policies tried.
    margins : ndarray or None
        Held-out margins under the policy, where they were computed.
    """
    codes, values = table[3], table[4]
    target = booster.target_error
    if target is None:
        target = min(least_share(codes, values), 0.5)
    is_auto = booster.n_estimators == "auto"
    n_rounds = None if is_auto else booster.n_estimators
    if not isinstance(booster.gamma, str):
        gamma = booster.gamma
        policy = Policy(n_rounds, target, gamma, booster.holdout, promised=gamma)
        return "given", policy, None, None
    if is_auto:
        # A bold start costs rounds when it fails, a timid one costs them always.
        policy = Policy(None, target, None, booster.holdout, recent=15, caution=0.7)
        return "exact", policy, None, None
    if booster.gamma == "measured":
        policy = Policy(n_rounds, target, None, booster.holdout)
        return "measured", policy, None, None
    policies = candidate_policies(n_rounds, target, booster.holdout)
    if np.bincount(codes).min() < 2:
        name = next(iter(policies))  # too few rows to keep any from the game
        return name, policies[name], None, None
    name, scores, margins = choose_policy(
        table, policies, folds, rng, n_jobs=booster.n_jobs, **options
    )
    return name, policies[name], scores, margins


def least_share(codes, values):
    """Return the share of the row that counts least: an error below it is none."""
    return 1 / len(codes) if values is None else float(values.min() / values.sum())


def is_linear(estimator):
    """Tell whether a fitted hypothesis is a linear function of its features."""
    return hasattr(estimator, "coef_") and not get_tags(estimator).input_tags.pairwise


def folds_of(cv, kept, n_samples):
    """Return folds given as row numbers in terms of the rows that are kept."""
    if isinstance(cv, Integral) or not hasattr(cv, "__iter__") or hasattr(cv, "split"):
        return cv
    place = np.full(n_samples, -1)
    place[kept] = np.arange(len(kept))
    folds = []
    for split in cv:
        parts = [
            np.arange(n_samples)[rows] if _is_mask(rows) else rows for rows in split
        ]
        for rows in map(np.asarray, parts):
            wrong = rows[(rows < 0) | (rows >= n_samples)]
            if len(wrong):
                raise ValueError(
                    f"cv names row {wrong[0]}, but X has {n_samples} rows."
                )
        folds.append(tuple(place[rows][place[rows] >= 0] for rows in parts))
    return folds


def _is_mask(rows):
    return np.asarray(rows).dtype == bool


def real_targets(y):
    """Return the targets of a regressor, or say that they are no numbers."""
    if y.dtype.kind not in "biuf":
        raise ValueError(f"y must hold real numbers, not {y.dtype}.")
    return y


def weighed_rows(base, X, y, sample_weight):
    """Leave out rows that count nothing.

    Returns
    -------
    X, y : rows that count
    values : ndarray of float64, or None where no weights were given
    kept : ndarray of int
        Their numbers.
    """
    kept = np.arange(len(y))
    if sample_weight is None:
        return X, y, None, kept
    values = check_finite_sum(check_sample_weight(sample_weight, len(y)))
    kept = np.flatnonzero(values)
    if len(kept) == len(y):
        return X, y, values, kept
    return take(base, X, kept, kept), y[kept], values[kept], kept
