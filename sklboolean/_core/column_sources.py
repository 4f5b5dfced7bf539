"""Which columns of the user's data the features of a pipeline come from."""

from operator import methodcaller

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer


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
    sources : list of (int, fitted column or None, int), or None
        For each feature the number of its column, the fitted column and the number of
        the condition; None for the fitted column of one that is passed. None for other
        transformers.
    """
    if isinstance(transformer, Pipeline) and len(transformer) == 1:
        transformer = transformer[0]
    if hasattr(transformer, "feature_groups_"):
        return [
            (number, fitted, k)
            for number, fitted in enumerate(fitted_columns(transformer))
            for k in range(fitted.n_conditions)
        ]
    if not isinstance(transformer, ColumnTransformer):
        return None
    sources = []
    for _, part, columns in transformer.transformers_:
        numbers = _numbers_of(columns, transformer)
        is_identity = isinstance(part, FunctionTransformer) and part.func is None
        if is_identity or isinstance(part, str):
            sources += [(number, None, 0) for number in numbers if part != "drop"]
        elif len(numbers):  # scikit-learn leaves out what has no columns
            of_part = column_sources(part, fitted_columns)
            if of_part is None:
                return None
            sources += [(numbers[j], fitted, k) for j, fitted, k in of_part]
    return sources


def _numbers_of(columns, transformer):
    """List the numbers of columns that a ColumnTransformer selects by any means."""
    names = [*getattr(transformer, "feature_names_in_", ())]
    if isinstance(columns, slice):
        ends = [
            names.index(end) if isinstance(end, str) else end
            for end in (columns.start, columns.stop)
        ]
        # A slice of names includes its end.
        ends[1] = ends[1] + 1 if isinstance(columns.stop, str) else ends[1]
        return [*range(transformer.n_features_in_)[slice(*ends, columns.step)]]
    chosen = np.atleast_1d(columns)
    if chosen.dtype.kind in "OUT":
        return [names.index(name) for name in chosen.tolist()]
    chosen = chosen if chosen.dtype == bool else chosen.astype(int)
    return np.arange(transformer.n_features_in_)[chosen].tolist()
