"""Data frames for density models: Boolean features, and which of them a column has."""

import numpy as np
from sklearn.base import clone

from sklboolean._core.formulas import feature_names_of
from sklboolean.preprocessing import BooleanEncoder
from sklboolean.preprocessing._derived_columns import refuse_by_type


class FrameBits:
    """The Boolean features that an encoder makes of each column of a data frame.

    Parameters
    ----------
    encoder : BooleanEncoder
        As ``fit_encoder`` returns it.

    Attributes
    ----------
    columns : list of (ndarray, str)
        For each column the numbers of its features, and its kind.
    """

    def __init__(self, encoder):
        self.encoder = encoder
        self.columns = [
            (np.flatnonzero(encoder.feature_groups_ == name), kind)
            for name, kind in zip(
                feature_names_of(encoder), encoder.kinds_, strict=True
            )
        ]

    @staticmethod
    def fit_encoder(encoder, X):
        """Fit a copy of an encoder, or one of 8 bins, that leaves gaps open."""
        encoder = BooleanEncoder(n_bins=8) if encoder is None else clone(encoder)
        if encoder.min_frequency == "auto":  # every known value may be filled in
            encoder.set_params(min_frequency=None)
        encoder.set_params(missing="propagate", complement=False, sparse_output=False)
        encoder.set_output(transform="default").fit(X)
        refuse_by_type(encoder._formula(), "density models do not read")
        return encoder

    def encode(self, X):
        """Encode X, with NaN where a value is missing or a level is new."""
        bits = np.array(self.encoder.transform(X))
        for places, kind in self.columns:
            if kind == "category":
                is_new = ~bits[:, places].any(axis=1)  # NaN counts as true
                bits[np.ix_(is_new, places)] = np.nan
        return bits

    def feature_groups(self):
        """Label the features: those of a category exclude each other."""
        labels = np.arange(len(self.encoder.feature_groups_))
        for places, kind in self.columns:
            if kind == "category":
                labels[places] = places[:1]
        return labels

    def value_signs(self):
        """List for each column its features, and their signs for each of its values.

        Of k thresholds those from a number on are above it: it has k + 1 values.
        """
        values = []
        for places, kind in self.columns:
            bits = np.tri(len(places) + 1, len(places), -1)[::-1, ::-1]
            bits = np.eye(len(places)) if kind == "category" else bits
            values.append((places, 2 * bits.astype(np.int8) - 1))
        return values

    def with_groups(self, density):
        """Clone a density model, with the groups of the features unless it has some."""
        density = clone(density)
        params = density.get_params()
        for name in ("feature_groups", "estimator__feature_groups"):
            if name in params and params[name] is None:
                density.set_params(**{name: self.feature_groups()})
        return density
