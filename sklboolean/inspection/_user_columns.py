"""A fitted model and the columns of the user's data that its formula reads."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.column_sources import column_sources
from sklboolean._core.data_errors import check_n_features, column_names
from sklboolean._core.feature_names import split_pipeline
from sklboolean._core.formula import Columns, WeightedSum
from sklboolean._core.formulas import feature_names_of
from sklboolean.ensemble._pool import Pool
from sklboolean.inspection._formulas import (
    as_bits,
    check_conjunctions,
    check_names,
    compare_with_predictions,
    conjunctions_of,
)
from sklboolean.preprocessing._frames import is_frame, with_names


@dataclass(frozen=True)
class UserColumns:
    """A model, its formula, and the column of the user's data behind each feature.

    Attributes
    ----------
    transformers : Pipeline or None
    model : estimator
        The last step.
    formula : FirstRule or WeightedSum
    encoded : list of (fitted column or None)
        What encodes each column. None: it is a feature as it is, or left out.
    is_encoded : bool
        Whether the columns are those before a `BooleanEncoder`, or a ColumnTransformer
        of encoders, and nothing else. False: they are the features of the last step.
    names : list of str
        Names of the columns.
    owners : ndarray of shape (n_features,), int
        Number of the column that each feature of the last step describes.
    """

    transformers: Pipeline | None
    model: object
    formula: object
    encoded: list
    is_encoded: bool
    names: list
    owners: np.ndarray

    @classmethod
    def of(cls, model, feature_names=None, feature_groups=None, formula=None):
        """Read a fitted model, a pipeline, a search, or a DNF.

        A feature is a column of its own unless an encoder made it, or groups are given.
        ``formula=None``: that of the last step, which must be one of conjunctions.
        """
        if isinstance(model, BaseEstimator):
            check_is_fitted(model)
        transformers, last, names = split_pipeline(model)
        if formula is None:
            formula = check_conjunctions(last, conjunctions_of(last))
        n_features = formula.columns.n_features
        sources, by_column = sources_by_column(transformers), {}
        if feature_groups is not None:
            groups = [str(label) for label in feature_groups]
            if len(groups) != n_features:
                raise ValueError(
                    f"feature_groups has {len(groups)} labels, but the model has "
                    f"{n_features} features. Give the column of each feature."
                )
            # Groups of the user: the encoder's columns do not matter.
            columns = list(dict.fromkeys(groups))
            owners = np.array([columns.index(label) for label in groups])
            sources = None
        elif sources is not None:
            columns = feature_names_of(transformers)
            owners = np.array([number for number, *_ in sources], dtype=np.intp)
            by_column = {source.column: source.fitted for source in sources}
        else:
            names = formula.columns.names if names is None else names
            columns, owners = check_names(names, n_features), np.arange(n_features)
        if feature_names is not None:
            columns = check_names(feature_names, len(columns), "columns")
        encoded = [by_column.get(number) for number in range(len(columns))]
        is_encoded = sources is not None
        return cls(transformers, last, formula, encoded, is_encoded, columns, owners)

    def table(self, X):
        """Put the columns of a frame in the order of the training data.

        A ColumnTransformer finds them by name.
        """
        names = getattr(self.transformers, "feature_names_in_", None)
        if names is None or not is_frame(X):
            return X
        X = with_names(X)
        if column_names(X) == [*names]:
            return X
        X = X.to_pandas() if hasattr(X, "to_pandas") else X
        return X.reindex(columns=names)

    def samples(self, X):
        """Transform samples into the features of the last step."""
        if self.transformers is None:
            return X
        samples, model = self.transformers.transform(X), self.model
        # A model that was fitted behind a table of pyarrow saw an array.
        if hasattr(samples, "to_numpy") and not hasattr(model, "feature_names_in_"):
            return samples.to_numpy()
        return samples

    def bits(self, samples, name="X"):
        """Check features of the last step; return them as a dense Boolean array."""
        binarize = self.formula.columns.binarize
        bits = as_bits(samples, binarize, name, only_bits=binarize is None)
        n_known, subject = len(self.owners), f"{name} gives"
        check_n_features(bits.shape[1], n_known, "the model has", subject)
        return bits

    def checked_bits(self, X):
        """Return the bits of samples, once the formula agrees with the model."""
        samples = self.samples(X)
        bits = self.bits(samples)
        compare_with_predictions(self.formula, bits, self.model, samples)
        return bits

    def literals_by_column(self, term):
        """Group the literals of a term by column, in the order of the columns."""
        literals = {}
        for feature, value in term:
            literals.setdefault(int(self.owners[feature]), []).append((feature, value))
        return dict(sorted(literals.items()))


def changeable_columns(model, encoder=None):
    """Read the columns of any fitted model that an encoder, its own or another, reads.

    Returns
    -------
    columns : UserColumns
        Its formula has no terms if the model is none, or an encoder is given.
    is_formula : bool
    """
    whole = model if encoder is None else make_pipeline(encoder, "passthrough")
    transformers, last, names = split_pipeline(whole)
    if transformers is not None and sources_by_column(transformers) is None:
        raise ValueError(
            "Changes are searched in the columns before a BooleanEncoder, or a "
            "ColumnTransformer that gives each column to one encoder or passes it, or "
            "in the features of a model of bits. Make a pipeline of these and the "
            "model, or give encoder, for example BooleanEncoder().fit(X_train), whose "
            "levels and intervals are then the legal values."
        )
    formula = conjunctions_of(last) if encoder is None else None
    if formula is not None:
        return UserColumns.of(whole, formula=formula), True
    if transformers is not None:
        features = Columns(len(names), names)
    elif hasattr(last, "binarize") or isinstance(last, Pool):
        features = Columns.of(last, getattr(last, "binarize", None))
    else:
        raise ValueError(
            f"What the columns of this {type(last).__name__} may change to is unknown. "
            "Give encoder, for example BooleanEncoder().fit(X_train): its levels and "
            "intervals are then the legal values."
        )
    return UserColumns.of(whole, formula=empty_sum(features)), False


def empty_sum(features, terms=()):
    """Make a formula of some `Columns`, whose terms have the weight 0."""
    return WeightedSum(features, terms, np.zeros((1, len(terms))), np.zeros(1))


def sources_by_column(transformers):
    """List the `column_sources`; None if a column is encoded twice, or not by us."""
    sources = column_sources(transformers)
    # A second source of a column has a condition of number 0, too.
    conditions = {(s.column, s.condition) for s in sources or ()}
    return sources if len(conditions) == len(sources or ()) else None
