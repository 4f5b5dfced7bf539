"""Partitions: rows that stand elsewhere and are loaded where a task runs."""

from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from sklboolean._core.validation import encode_classes


class Layout(NamedTuple):
    """What the tables of all partitions share: their width and column names."""

    n_features: int
    names: np.ndarray | None

    @classmethod
    def of(cls, learner):
        """Return the layout of the table that a learner has just checked."""
        names = getattr(learner, "feature_names_in_", None)
        return cls(learner.n_features_in_, names)

    def check(self, other):
        """Refuse a table that is laid out otherwise than the first."""
        if other.n_features != self.n_features:
            raise ValueError(
                f"X has {other.n_features} features, but {self.n_features} were in "
                "what came first; all partitions need the same columns."
            )
        if not np.array_equal(self.names, other.names):
            raise ValueError(
                f"{_difference(self.names, other.names)} what came first; all "
                "partitions need the same columns in one order."
            )

    def publish(self, learner):
        """Set the attributes that `validate_data` would have set."""
        learner.n_features_in_ = self.n_features
        vars(learner).pop("feature_names_in_", None)
        if self.names is not None:
            learner.feature_names_in_ = self.names


def _difference(first, names):
    """Begin the sentence that says how column names differ from the first ones."""
    if first is None or names is None:
        return f"X has {'no' if names is None else 'the'} column names, unlike"
    column = np.flatnonzero(first != names)[0]
    return f"Column {column} of X is {names[column]!r}, and {first[column]!r} in"


def open_partitions(partitions):
    """Return for each partition the arguments from which a task loads it.

    Arrays become arguments of their own: joblib's backends recognise them there, to
    map them into memory or to keep them where they were scattered.

    Parameters
    ----------
    partitions : iterable
        Pairs (X, y), callables that return them, or objects with ``compute``.

    Returns
    -------
    sources : list of tuples
        ``(X, y)`` or ``(loader,)``.
    """
    sources = []
    for number, partition in enumerate(partitions):
        # Dask delayed objects are callable too, to make other delayed objects.
        if hasattr(partition, "compute") or callable(partition):
            sources.append((partition,))
        elif isinstance(partition, tuple | list) and len(partition) == 2:
            sources.append(tuple(partition))
        else:
            raise ValueError(
                f"Partition {number} must be a pair (X, y), a callable that returns "
                f"one, or a delayed object; got {type(partition).__name__}. One table "
                "alone is given as [(X, y)]."
            )
    if not sources:
        raise ValueError("partitions is empty: give one pair (X, y) at least.")
    return sources


def load_partition(*source):
    """Return (X, y) from the arguments made by `open_partitions`."""
    if len(source) == 2:
        return source
    loader = source[0]
    loaded = loader.compute() if hasattr(loader, "compute") else loader()
    if not (isinstance(loaded, tuple | list) and len(loaded) == 2):
        raise ValueError(f"A pair (X, y) must be loaded; got {type(loaded).__name__}.")
    return tuple(loaded)


def agree(surveys, layout, classes):
    """Return the layout and the classes of all partitions.

    Parameters
    ----------
    surveys : list
        Of what was looked at: each with ``layout`` and ``labels``.
    layout : Layout or None
        Of what was learned before.
    classes : ndarray of shape (n_classes,) or None
        None: those that occur.
    """
    layout = surveys[0].layout if layout is None else layout
    for number, survey in enumerate(surveys):
        with prefix_errors(number):
            layout.check(survey.layout)
    if classes is None:
        labels = np.concatenate([survey.labels for survey in surveys])
        classes, _ = encode_classes(labels)
    return layout, classes


@contextmanager
def prefix_errors(number):
    """Let errors in data say in which partition they are."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"Partition {number}: {error}") from error
    except Exception as error:  # of the loader: its kind tells what to do
        error.add_note(f"This was partition {number}.")
        raise
