"""The columns of the user's data behind the features of a pipeline."""

from operator import methodcaller
from typing import NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer


class Source(NamedTuple):
    """Condition of a feature on the user's data.

    Parameters
    ----------
    column : int
        Number of the column.
    fitted : fitted column of an encoder, or None
        None: the feature is the column.
    condition : int
        Number of the condition of ``fitted``.
    start : int or None
        Number of the column of dates from which the days are counted.
    """

    column: int
    fitted: object = None
    condition: int = 0
    start: int | None = None


def column_sources(transformer, fitted_columns=methodcaller("_formula")):
    """List what is behind each feature of a fitted transformer.

    Parameters
    ----------
    transformer : BooleanEncoder, ColumnTransformer, or Pipeline of one of them
        The transformers of a ColumnTransformer may be encoders, or pass columns.
    fitted_columns : callable
        Takes a `BooleanEncoder`, and lists its fitted columns.

    Returns
    -------
    sources : list of Source, or None
        One for each feature. None for other transformers.
    """
    if isinstance(transformer, Pipeline) and len(transformer) == 1:
        transformer = transformer[0]
    if hasattr(transformer, "feature_groups_"):
        return [
            Source(number, fitted, k, getattr(fitted, "start", None))
            for number, fitted in enumerate(fitted_columns(transformer))
            for k in range(fitted.n_conditions)
        ]
    if not isinstance(transformer, ColumnTransformer):
        return None
    sources, names = [], [*getattr(transformer, "feature_names_in_", ())]
    for name, part, columns in transformer.transformers_:
        output = transformer.output_indices_[name]
        if output.start == output.stop:  # dropped, or of no columns
            continue
        if names:
            of_names = getattr(part, "feature_names_in_", ())
            numbers = [names.index(column) for column in of_names]
        else:
            numbers = np.atleast_1d(np.arange(transformer.n_features_in_)[columns])
        if isinstance(part, FunctionTransformer) and part.func is None:
            of_part = map(Source, range(len(numbers)))
        else:
            of_part = column_sources(part, fitted_columns)
        if of_part is None:
            return None
        for source in of_part:
            start = None if source.start is None else int(numbers[source.start])
            column = int(numbers[source.column])
            sources.append(source._replace(column=column, start=start))
    return sources
