"""Reading tables of real numbers, some of which may be missing."""

import numpy as np

from sklboolean._core.validation import validate_data_strict

LARGEST = 1e5  # squares up to 1e10: a log-likelihood is then right to 1e-5 nats


def read_reals(estimator, X, *, reset=False, allow_missing=True):
    """Check a table for a machine with real inputs.

    Parameters
    ----------
    estimator : object
        With ``reset`` it receives ``n_features_in_`` and ``feature_names_in_``, and
        loses ``codes_``.
    X : array-like of shape (n_samples, n_features)
        NaN is a missing value.
    reset : bool
    allow_missing : bool

    Returns
    -------
    rows : C-contiguous ndarray of shape (n_samples, n_features), dtype float64

    Raises
    ------
    ValueError
        For NaN where it is not allowed and for numbers that are too large.
    """
    rows = validate_data_strict(
        estimator, X, reset=reset, dtype=np.float64, order="C",
        ensure_all_finite="allow-nan" if allow_missing else True,
    )  # fmt: skip
    large = np.abs(rows) > LARGEST
    if large.any():
        column = np.flatnonzero(large.any(axis=0))[0]
        raise ValueError(
            f"X holds {rows[large][0]:.3g} in column {column}. With visible='real' "
            "inputs have variance 1 given the hidden units: scale the columns, as by "
            "StandardScaler in a pipeline, or clip outliers."
        )
    if reset:
        vars(estimator).pop("codes_", None)
    return rows


class Reals:
    """How machines with real inputs keep rows: float64, NaN where one is missing."""

    completions = ("mean", "sample")
    read = staticmethod(read_reals)

    @staticmethod
    def blank(n_samples, n_features):
        """Return rows of which nothing is known."""
        return np.full((n_samples, n_features), np.nan)

    @staticmethod
    def gaps(rows):
        """Return where values are missing."""
        return np.isnan(rows)

    @staticmethod
    def write(estimator, rows):
        """Return rows: they are written as they are kept."""
        return rows
