"""Sources of labels: an array given in advance, or a function that is called."""

from dataclasses import dataclass

import numpy as np

from sklboolean._core.labels import distinct_labels, plain_labels
from sklboolean._core.validation import is_missing, take_samples


def find_missing(y):
    """Locate missing labels: None, NaN and pandas' NA.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        The labels, of one type; arbitrary where they are missing.
    missing : ndarray of shape (n_samples,), dtype bool
    """
    # Of a list of strings and NaN numpy would make strings.
    y = np.asarray(y, dtype=None if hasattr(y, "dtype") else object)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if y.ndim != 1 or y.dtype.kind not in "fO":
        return y, np.zeros(y.shape[:1], dtype=bool)
    missing = is_missing(y)
    if y.dtype.kind == "O" and not missing.all():
        distinct_labels(y[~missing])  # an error for labels of several types
        labels = np.array(plain_labels(y[~missing]).tolist())
        y = np.zeros(len(y), dtype=labels.dtype)
        y[~missing] = labels
    return y, missing


def check_source(y, known, oracle):
    """Refuse labels in advance that do not suit an oracle, or the lack of one.

    Parameters
    ----------
    y : ndarray of shape (n_samples,) or None
    known : ndarray of shape (n_samples,), dtype bool
        Where y contains a label.
    oracle : callable or None

    Raises
    ------
    ValueError
        If the oracle has nothing to label, or if labels are missing without an oracle.
    """
    if oracle is not None and known.all():
        raise ValueError(
            "All samples are labelled, so there is nothing to ask the oracle: set "
            "missing labels in y to None or NaN, or leave y out."
        )
    if oracle is None and y is None:
        raise ValueError(
            "QueryByCommittee requires y to be passed, but the target y is None: there "
            "are no labels. Pass y (only the labels of queried samples are read), or "
            "oracle=; or use query and teach."
        )
    if oracle is None and not known.all():
        raise ValueError(
            f"y contains {(~known).sum()} missing labels (NaN or None), and there is "
            "no oracle to query them. For labels from a person, use "
            "teach(X[labelled], y[labelled]) and then query(X[unlabelled]). To "
            "simulate queries, pass only samples that have a label."
        )


@dataclass
class ArrayOracle:
    """Labels given in advance. Only the labels that are queried are read.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    first : int
        Index of the first sample in the stream.
    """

    y: np.ndarray
    first: int = 0

    def __call__(self, indices):
        """Look up the labels of samples; none is missing."""
        return self.y[indices - self.first], np.zeros(len(indices), dtype=bool)


class CallableOracle:
    """A function of samples and their indices that returns labels.

    Parameters
    ----------
    function : callable
        ``function(X, indices)`` returns one label per sample.
    X : array-like
        The data as the user passed them, so that a person can read the samples.
    classes : ndarray or None
        All labels, if they are known.
    first : int
        Index of the first sample of X in the stream.
    """

    def __init__(self, function, X, classes, first=0):
        if not callable(function):
            raise TypeError(
                f"oracle must be a function (X, indices) -> labels; got {function!r}."
            )
        self.function, self.X, self.classes, self.first = function, X, classes, first

    def __call__(self, indices):
        """Call the function for some samples, and validate its labels.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        missing : ndarray of shape (n_samples,), dtype bool
            Samples whose label the function does not know.

        Raises
        ------
        RuntimeError
            If the function fails. The message names the samples.
        ValueError
            If the labels have another shape or are not among the classes.
        """
        asked = f"sample {indices[0]}"
        if len(indices) > 1:
            asked = f"samples {indices.tolist()}"
        try:
            answer = self.function(take_samples(self.X, indices - self.first), indices)
        except Exception as error:
            raise RuntimeError(
                f"The oracle failed on {asked}: {type(error).__name__}: {error}. The "
                "labels before it are kept in query_indices_ and query_labels_."
            ) from error
        labels_given = np.asarray(answer)
        if labels_given.shape == () and len(indices) == 1:
            labels_given = labels_given.reshape(1)
        if labels_given.shape != (len(indices),):
            raise ValueError(
                f"The oracle must return {len(indices)} labels, for {asked}; it "
                f"returned shape {labels_given.shape}. The labels before it are kept."
            )
        labels, missing = find_missing(labels_given)
        if self.classes is not None:
            is_other = ~missing & ~np.isin(labels, self.classes, kind="sort")
            if is_other.any():
                label = labels_given[is_other].tolist()[0]
                raise ValueError(
                    f"The oracle returned {label!r} for sample "
                    f"{indices[is_other][0]}; one of {self.classes.tolist()} was "
                    "expected, or None if the label is not known. The labels before it "
                    "are kept."
                )
        return labels, missing
