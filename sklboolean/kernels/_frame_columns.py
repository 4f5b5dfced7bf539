"""Columns of the user's frame behind Boolean features, and similarity in each of them.

Features of one column are its thresholds and its states. Two samples are similar in a
column by the share of thresholds on which they agree, if all its states are equal, and
not at all otherwise.
"""

from dataclasses import dataclass

import numpy as np

from sklboolean._core.conjunction_search import encode_groups
from sklboolean._core.damage import require_below, require_shape
from sklboolean._core.feature_names import OPPOSITE, parse_name

MOST_LEVELS = 4096  # of one column; tables of similarity have the square of it
INTEGER_BITS = 62


@dataclass(frozen=True)
class Levels:
    """The level of each sample in each column.

    A level is a pattern of the features of one column that occurs in the samples. A
    column of k thresholds has at most k + 1 levels.

    Attributes
    ----------
    codes : ndarray of shape (n_columns, n_samples), uint16
    patterns : list of ndarray of shape (n_levels, n_features_of_column), bool
        The bits of each level.
    """

    codes: np.ndarray
    patterns: list

    def take(self, samples):
        """Select samples, and of each column the levels that they have."""
        codes, patterns = np.ascontiguousarray(self.codes[:, samples]), []
        for column_codes, column_patterns in zip(codes, self.patterns, strict=True):
            levels, column_codes[:] = np.unique(column_codes, return_inverse=True)
            patterns.append(column_patterns[levels])
        return Levels(codes, patterns)

    def select(self, chosen):
        """Select columns."""
        chosen = np.flatnonzero(chosen)
        return Levels(
            np.ascontiguousarray(self.codes[chosen]), [self.patterns[j] for j in chosen]
        )


@dataclass(frozen=True)
class FrameColumns:
    """The features of each column, and which of them are thresholds.

    Attributes
    ----------
    features : list of ndarray of int
        Numbers of the features of each column.
    is_threshold : list of ndarray of bool
        Which of them are thresholds; the others are states.
    """

    features: list
    is_threshold: list

    @classmethod
    def of(cls, groups, is_threshold):
        """Collect the features of each column.

        Parameters
        ----------
        groups : ndarray of shape (n_features,), int
            From 0, in the order of the first features.
        is_threshold : ndarray of shape (n_features,), bool
        """
        order = np.argsort(groups, kind="stable")
        features = np.split(order, np.cumsum(np.bincount(groups))[:-1])
        return cls(features, [is_threshold[f] for f in features])

    def levels(self, bits, labels=None):
        """Number the levels of samples in each column.

        Parameters
        ----------
        bits : ndarray of shape (n_samples, n_features), uint8
        labels : list of str or None
            Names of the columns in messages. None: their numbers.

        Returns
        -------
        levels : Levels
            Levels are sorted by their bits.
        """
        codes = np.zeros((len(self.features), len(bits)), dtype=np.uint16)
        if len(bits) == 1:  # as a service asks; there is nothing to sort
            return Levels(codes, [bits[:, features] > 0 for features in self.features])
        patterns, labels = [], labels or range(len(codes))
        columns = zip(self.features, codes, labels, strict=True)
        for features, column_codes, label in columns:
            require_below(features, bits.shape[1], "a column")
            distinct, column_codes[:] = distinct_patterns(bits[:, features], label)
            patterns.append(distinct)
        return Levels(codes, patterns)

    def similarities(self, levels, others):
        """Compare the levels of each column.

        Returns
        -------
        tables : list of ndarray of shape (n_levels, n_other_levels), float64
        """
        return [
            similarity(P, Q, is_threshold)
            for P, Q, is_threshold in zip(
                levels.patterns, others.patterns, self.is_threshold, strict=True
            )
        ]

    def select(self, chosen):
        """Select columns."""
        chosen = np.flatnonzero(chosen)
        return FrameColumns(
            [self.features[j] for j in chosen], [self.is_threshold[j] for j in chosen]
        )


@dataclass(frozen=True)
class Frame:
    """The columns of training samples, those that are constant left out.

    Attributes
    ----------
    columns : FrameColumns
    levels : Levels
    groups : ndarray of shape (n_features,), int32
        The number of the column of each feature, constant columns included.
    is_threshold : ndarray of shape (n_features,), bool
    labels : list of str
        A name for each column, constant columns included.
    varies : ndarray of shape (n_all_columns,), bool
        Which columns are not constant.
    """

    columns: FrameColumns
    levels: Levels
    groups: np.ndarray
    is_threshold: np.ndarray
    labels: list
    varies: np.ndarray

    @classmethod
    def lay_out(cls, feature_groups, names, bits):
        """Find the columns of training samples, and their levels.

        Parameters
        ----------
        feature_groups : array-like of shape (n_features,) or None
        names : sequence of str or None
        bits : ndarray of shape (n_samples, n_features), uint8
        """
        if names is None:
            names = [f"x{j}" for j in range(bits.shape[1])]
        names = list(map(str, names))
        groups, labels = frame_groups(feature_groups, names, bits)
        is_threshold = find_thresholds(groups, names, bits)
        columns = FrameColumns.of(groups, is_threshold)
        levels = columns.levels(bits, labels)
        varies = np.array(
            [len(patterns) > 1 for patterns in levels.patterns], dtype=bool
        )
        varying = columns.select(varies), levels.select(varies)
        return cls(*varying, groups, is_threshold, labels, varies)

    def of_all_columns(self, values):
        """Place values of the columns; constant ones have 0."""
        placed = np.zeros(len(self.varies))
        placed[self.varies] = values
        return placed

    def of_features(self, values):
        """Divide the value of each column equally among its features."""
        return (values / np.bincount(self.groups))[self.groups]


def distinct_patterns(bits, label):
    """Find the distinct rows, sorted, and the number of each row among them.

    Raises
    ------
    ValueError
        If there are more than `MOST_LEVELS`.
    """
    n_features = bits.shape[1]
    if n_features <= INTEGER_BITS:
        powers = 2 ** np.arange(n_features, dtype=np.int64)
        keys, codes = np.unique(bits @ powers, return_inverse=True)
        patterns = (keys[:, None] & powers) > 0
    else:
        codes = 0
        for start in range(0, n_features, INTEGER_BITS):
            part = bits[:, start : start + INTEGER_BITS]
            # The first feature decides first, as np.unique of rows would sort.
            keys = part @ 2 ** np.arange(part.shape[1], dtype=np.int64)[::-1]
            numbers = np.unique(keys, return_inverse=True)[1]
            keys = codes * len(bits) + numbers
            _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
        patterns = bits[first] > 0
    if len(patterns) > MOST_LEVELS:
        raise ValueError(
            f"Column {label!r} of {n_features} features has {len(patterns)} levels in "
            f"these samples; at most {MOST_LEVELS} are possible. Encode it with fewer "
            "bins or max_categories, or split it with feature_groups."
        )
    return patterns, codes.ravel()


def similarity(patterns, others, is_threshold):
    """Compute the similarity of levels of one column, shape (n_levels, n_others).

    It is the share of thresholds that agree, or 1 without thresholds, where all states
    agree, and 0 elsewhere.
    """
    for levels in (patterns, others):
        require_shape(
            levels, (len(levels), len(is_threshold)), "the levels of a column"
        )
    n_thresholds = int(is_threshold.sum())
    same = count_agreements(patterns[:, ~is_threshold], others[:, ~is_threshold])
    values = (same == (~is_threshold).sum()).astype(np.float64)
    if n_thresholds:
        thresholds, theirs = patterns[:, is_threshold], others[:, is_threshold]
        values *= count_agreements(thresholds, theirs) / n_thresholds
    return values


def count_agreements(bits, others):
    """Count the equal bits of all pairs of rows."""
    bits, others = bits.astype(np.float64), others.astype(np.float64)
    return bits @ others.T + (1 - bits) @ (1 - others).T


def overlap(bits, features):
    """Test whether a sample has several of the features."""
    return len(features) > 1 and bits[:, features].sum(axis=1, dtype=int).max() > 1


def find_thresholds(groups, names, bits):
    """Find the features that are thresholds of their column.

    A feature whose name has ``<=`` or ``>`` is a threshold. So are the features without
    a relation in their names, if samples have several features of their group.

    Returns
    -------
    is_threshold : ndarray of shape (n_features,), bool
    """
    relations = [parse_name(name).relation for name in names]
    is_threshold = np.array([relation in OPPOSITE for relation in relations])
    is_plain = np.array([relation == "" for relation in relations])
    for group in np.flatnonzero(np.bincount(groups) > 1):
        features = np.flatnonzero(groups == group)
        if overlap(bits, features):
            is_threshold[features] |= is_plain[features]
    return is_threshold


def frame_groups(feature_groups, names, bits):
    """Group the features of each column of the frame.

    Parameters
    ----------
    feature_groups : array-like of shape (n_features,) or None
        None: features of one column of `BooleanEncoder` are a group, by their names,
        and so are ``color=red`` and ``color=blue`` if no sample has two of them.
    names : list of str
    bits : ndarray of shape (n_samples, n_features), uint8

    Returns
    -------
    groups : ndarray of shape (n_features,), int32
    labels : list of str
        A name for each group.
    """
    labels = feature_groups
    if feature_groups is None:
        conditions = [parse_name(name) for name in names]
        labels = [condition.column for condition in conditions]
        # Without spaces around "=" the names need not come from BooleanEncoder.
        is_loose = np.array([c.relation == "=" for c in conditions])
        is_loose &= [" = " not in name for name in names]
        groups = encode_groups(labels, len(names))
        for group in np.unique(groups[is_loose]):
            features = np.flatnonzero(groups == group)
            if overlap(bits, features):
                for j in features[is_loose[features]]:
                    labels[j] = names[j]
    groups = encode_groups(labels, len(names))
    first, sizes = np.unique(groups, return_index=True)[1], np.bincount(groups)
    is_given = feature_groups is not None
    labels = [
        str(names[j] if size == 1 and is_given else labels[j])
        for j, size in zip(first, sizes, strict=True)
    ]
    return groups, labels
