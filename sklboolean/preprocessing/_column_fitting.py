"""The choice of conditions for one column, from the counts of its values."""

# `ColumnFitter` sees the counts of a column, never its samples, so it does the same for
# one table, for batches and for partitions. Cuts are places between ascending distinct
# values; `place_thresholds` chooses the number in each.
#
# Invariant: every training value is on the side of a threshold on which its cut is.

from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from sklboolean._core.labels import (
    comparable_labels,
    distinct_labels,
    plain_labels,
    target_type,
)
from sklboolean._core.parameters import check_choice
from sklboolean._core.validation import check_array_strict, check_labelled
from sklboolean._core.weights import checked_weights
from sklboolean.preprocessing._column_summary import ColumnSummary, recount
from sklboolean.preprocessing._derived_columns import (
    CalendarColumn,
    DateColumn,
    DaysColumn,
    InstantColumn,
    TagColumn,
    TagsColumn,
)
from sklboolean.preprocessing._encoded_columns import (
    LevelColumn,
    NumberColumn,
    OrderedColumn,
    UnknownColumn,
    level_text,
    refuse_level,
)
from sklboolean.preprocessing._frames import (
    BY_TYPE,
    DATE,
    DURATION,
    TAGS,
    ZONED,
    Column,
)
from sklboolean.preprocessing._thresholds import (
    FEW_VALUES,
    MAX_CODES,
    MAX_MONOTONE_CODES,
    MIN_SAMPLES_LEAF,
    MOST_CLASSES,
    N_LABELLED_QUANTILES,
    N_QUANTILES,
    ROUND,
    STRICT_LEAVES,
    check_ranks,
    check_thresholds,
    find_cuts,
    find_monotone_cuts,
    find_tree_cuts,
    number_in_each_interval,
    place_thresholds,
    regression_cuts,
    shortest_between,
    spike_cuts,
)
from sklboolean.preprocessing._times import check_dates, round_date_between

KINDS = ("boolean", "category", "number", "ordered")
# The most that ``min_frequency="auto"`` keeps: Gaussian processes compare all pairs.
MOST_LEVELS = 4000


@dataclass(frozen=True)
class ColumnFitter:
    """Checked parameters of `BooleanEncoder`, of which some are dicts by column."""

    n_bins: int | str
    strategy: str
    complement: bool
    kinds: dict
    thresholds: dict
    min_frequency: float | str | None
    max_categories: int | None
    handle_unknown: str
    missing: str
    origins: dict
    special: object

    def summarize(self, columns, y, sample_weight, cells=None):
        """Count the values of each column; numbers that name something are levels.

        ``cells`` is a dict of the `Cells` of the columns to count. None: all columns.

        Returns
        -------
        summaries : list of ColumnSummary
        cuts : list of ndarray, or None
            Cuts by real values, which counts do not tell. None: all come from counts.
        """
        check_by_column(self.kinds, "kinds", columns)
        check_by_column(self.thresholds, "thresholds", columns)
        codes = self._special_codes(columns)
        columns = [
            column.as_category()
            if self.kinds.get(column.name) == "category" and column.kind not in BY_TYPE
            else column
            for column in columns
        ]
        n_samples = len(columns[0].missing())
        # Sums of weights of 24 bits are exact in float64, in any order.
        mantissas, exponents = np.frexp(
            checked_weights(sample_weight, n_samples, scaled=False)
        )
        weights = np.ldexp(np.round(mantissas * 2**24), exponents - 24)
        is_used = self.n_bins == "auto" or self.strategy != "quantile"
        labels, target = check_target(y if is_used else None, n_samples, self.strategy)
        cuts = None
        if target is not None:
            samples = target, weights, self._n_labelled()
            cuts = regression_cuts(columns, codes, *samples)
        pairs = zip(columns, codes, strict=True)
        return [
            ColumnSummary.of(c, labels, weights, of_c, (cells or {}).get(c.name))
            for c, of_c in pairs
            if cells is None or c.name in cells
        ], cuts

    def _special_codes(self, columns):
        """List the special codes of each column, by its name or for all numbers."""
        is_by_name = isinstance(self.special, dict)
        if is_by_name:
            check_by_column(self.special, "special", columns)
        codes = []
        for column in columns:
            listed = self.special.get(column.name) if is_by_name else self.special
            is_number = column.kind == "number" and column.numbers is not None
            is_number = is_number and self.kinds.get(column.name, "number") == "number"
            if is_by_name and listed is not None and not is_number | column.is_empty():
                raise ValueError(
                    f"special holds the column {column.name!r}, whose kind is not "
                    "'number'. Take it out: levels have features of their own."
                )
            name = column.name if is_by_name else None
            listed = [] if listed is None else listed
            checked = check_thresholds(listed, name, "special")
            codes.append(checked.tolist() if is_number else [])
        return codes

    def recount(self, summaries, count):
        """Count columns of very many numbers around their quantiles; see `recount`."""
        # All cuts are at some of these quantiles, or beside them.
        has_codes = self.n_bins == "auto" or self.strategy != "quantile"
        n_intervals = MAX_CODES if has_codes else self.n_bins
        given = dict.fromkeys(self.thresholds, 1)
        return recount(summaries, count, lambda name: given.get(name, n_intervals))

    def _n_labelled(self):
        """Return the number of intervals by labels."""
        return N_LABELLED_QUANTILES if self.n_bins == "auto" else self.n_bins

    def fit(self, summary, cuts=None):
        """Choose the conditions on a column.

        Parameters
        ----------
        summary : ColumnSummary
        cuts : ndarray or None
            Cuts of its distinct numbers or ranks. None: those of the strategy.

        Returns
        -------
        fitted : NumberColumn, OrderedColumn or LevelColumn
        """
        name, thresholds = summary.name, self.thresholds.get(summary.name)
        if summary.kind in BY_TYPE:
            return self._fit_by_type(summary, thresholds, cuts)
        # ``kinds`` come first, then thresholds, then the type, then the values.
        kind = None if thresholds is None or summary.kind == "ordered" else "number"
        kind = self.kinds.get(name, kind)
        if kind is None and summary.is_empty():
            return self._without_levels(summary)
        kind = kind or summary.natural_kind()
        if thresholds is not None and kind in ("category", "boolean"):
            raise ValueError(
                f"thresholds holds the column {name!r}, but kinds[{name!r}] is "
                f"{kind!r}, which has none. Take the column out of one of them."
            )
        if kind == "category":
            return self._fit_levels(summary)
        if kind == "ordered" == summary.kind:
            return self._fit_ordered(summary, thresholds, cuts)
        return self._fit_numbers(summary, kind, thresholds, cuts)

    def _fit_by_type(self, summary, thresholds, cuts):
        """Choose the conditions on dates, durations or tags."""
        name, kind = summary.name, summary.kind
        for option in ("kinds", "thresholds") if kind == TAGS else ("kinds",):
            if name in getattr(self, option):
                raise ValueError(
                    f"{option} holds the column {name!r}, which holds {BY_TYPE[kind]} "
                    "by its type. Take it out, or convert it to numbers or text."
                )
        if kind == TAGS:
            frequent = self._fit_levels(summary)
            is_open = self.min_frequency in (None, "auto")
            least = 2 * summary.weight_of_one() * (1 - ROUND) if is_open else 0
            options = (), self.handle_unknown, frequent.indicates_missing
            first = TagColumn(name, (), *options, known=frozenset(summary.levels))
            others = [
                TagColumn(name, (tag,), *options[:2], False)
                for tag in frequent.levels
                if summary.levels[tag] >= least
            ]
            return TagsColumn(name, kind, (first, *others))
        number = self._fit_numbers(summary, kind, thresholds, cuts)
        if kind == DURATION:
            return number
        options = (), self.handle_unknown, False
        calendar = [
            CalendarColumn(
                f"{name} {unit}", tuple(sorted(levels)), *options, unit, kind
            )
            for unit, levels in summary.calendar.items()
            if len(levels) > 1
        ]
        return DateColumn(name, kind, (number, *calendar))

    def refine(self, fitted, summary, n_bins):
        """Add the thresholds at quantiles to a fitted column, those given excepted."""
        name, is_rank = summary.name, isinstance(fitted, OrderedColumn)
        has_thresholds = fitted.kind in {"number", "ordered", *BY_TYPE} - {TAGS}
        if not has_thresholds or name in self.thresholds:
            return fitted
        fine = replace(self, n_bins=n_bins, strategy="quantile").fit(summary)
        thresholds = [*np.union1d(fitted.shown_thresholds, fine.shown_thresholds)]
        given = [fitted.levels[t] for t in thresholds] if is_rank else thresholds
        return replace(self, thresholds={name: given}).fit(summary)

    def _fit_numbers(self, summary, kind, thresholds_given, cuts):
        """Choose the thresholds of a column of numbers, or check a Boolean one."""
        if kind == "ordered":
            raise ValueError(
                f"Column {summary.name!r} of X has no order: give it an ordered type, "
                "such as pandas' CategoricalDtype(levels, ordered=True)."
            )
        if summary.numbers is None and summary.levels:
            refuse_level(summary, f"its kind is {kind!r}")
        values = np.empty(0) if summary.numbers is None else summary.numbers.values
        relations = ("<=", ">") if self.complement else ("<=",)
        is_date = kind in (DATE, ZONED) and summary.name not in self.origins
        # Booleans are numbers with a threshold of 0.5.
        if kind == "boolean":
            thresholds, relations = np.array([0.5]), (">",)
            representatives = np.array([0.0, 1.0])
        else:
            options = thresholds_given, cuts, is_date
            thresholds = self._choose_thresholds(summary, values, *options)
            codes = {*summary.special}
            representatives = number_in_each_interval(values, thresholds, codes)
        has_missing = self._indicates_missing(summary)
        conditions = thresholds, relations, representatives, has_missing
        if kind in BY_TYPE:
            if is_date:
                return InstantColumn(summary.name, kind, *conditions)
            origin = self.origins.get(summary.name)
            return DaysColumn(summary.name, kind, *conditions, origin=origin)
        insists = "boolean" in (summary.kind, self.kinds.get(summary.name))
        options = {"insists": insists, **summary.codes_by_presence()}
        fitted = NumberColumn(summary.name, kind, *conditions, **options)
        fitted.check(Column(summary.name, "number", values))
        return fitted

    def _choose_thresholds(self, summary, values, thresholds_given, cuts, is_date):
        """Check the thresholds that are given, or place them at cuts."""
        if thresholds_given is not None:
            check = check_dates if is_date else check_thresholds
            return check(thresholds_given, summary.name)
        if not len(values):
            return np.empty(0)
        if cuts is None:
            cuts = self._find_cuts(summary, values, summary.numbers.counts)
        between = round_date_between if is_date else shortest_between
        return place_thresholds(values, cuts, between)

    def _find_cuts(self, summary, values, counts):
        """Cut ascending distinct numbers or ranks, by labels where the strategy does.

        Returns
        -------
        cuts : ndarray of shape (n_cuts,), int
            Number of distinct values below each cut, ascending.
        """
        if self.strategy != "quantile":
            return self._find_labelled_cuts(summary, values, counts)
        if self.n_bins != "auto":
            return find_cuts(counts, self.n_bins)
        is_labelled = 2 <= len(summary.by_class or ()) <= MOST_CLASSES
        if not is_labelled and len(counts) <= FEW_VALUES:
            return np.arange(1, len(counts))
        if not is_labelled:
            return np.union1d(find_cuts(counts, N_QUANTILES), spike_cuts(counts))
        # Strict cuts replace quantiles close to them, so there are few cuts in all.
        quantiles = find_cuts(counts, N_LABELLED_QUANTILES)
        strict = self._find_labelled_cuts(summary, values, counts)
        n_below = np.cumsum(counts)
        distances = np.abs(n_below[quantiles - 1, None] - n_below[strict - 1])
        least = n_below[-1] / (2 * N_LABELLED_QUANTILES)
        is_far = distances.min(axis=1, initial=np.inf) > least
        return np.union1d(np.union1d(quantiles[is_far], strict), spike_cuts(counts))

    def _find_labelled_cuts(self, summary, values, counts):
        """Cut by labels, between intervals of about equal size."""
        if summary.by_class is None:
            raise ValueError(
                "Thresholds by real values need all samples at once. Set "
                "strategy='quantile' for batches and partitions, or use fit."
            )
        is_monotone = self.strategy == "monotone"
        if is_monotone and len(summary.by_class) > 2:
            raise not_two_classes(f"{len(summary.by_class)} classes")
        cuts = find_cuts(counts, MAX_MONOTONE_CODES if is_monotone else MAX_CODES)
        last_values = values[np.append(cuts, len(values)) - 1]
        labels, one = sorted_levels(summary.by_class), summary.weight_of_one()
        n_at_most = [summary.by_class[k].n_at_most(last_values) for k in labels]
        sizes = np.diff(n_at_most, axis=1, prepend=0.0)
        n_bins = self._n_labelled()
        if is_monotone:
            # The labels of a column may be of the second class only.
            seconds = sizes[-1] * (len(labels) == 2)
            numbers = find_monotone_cuts(sizes.sum(axis=0), seconds, n_bins, one)
        elif self.strategy == "tree":
            numbers = find_tree_cuts(sizes, n_bins, one)
        else:
            numbers = find_tree_cuts(sizes, STRICT_LEAVES, one, is_strict=True)
        return cuts[numbers - 1]

    def _indicates_missing(self, summary):
        return self.missing == "indicator" and summary.n_missing > 0

    def _fit_ordered(self, summary, levels_given, cuts):
        """Choose the thresholds of a category whose levels have an order."""
        levels, counts = [*summary.levels], np.array([*summary.levels.values()])
        # Ranks of levels are cut like numbers; those without a sample are passed over.
        occurring = np.flatnonzero(counts)
        if levels_given is not None:
            thresholds = check_ranks(levels_given, levels, summary.name)
        elif len(occurring):
            if cuts is None:
                cuts = self._find_cuts(summary, occurring, counts[occurring])
            thresholds = occurring[cuts - 1]
        else:
            thresholds = occurring
        last = occurring[-1] if len(occurring) else 0
        relations = ("<=", ">") if self.complement else ("<=",)
        # The largest level of each interval stands for it when features are decoded.
        ends = np.append(thresholds, max(last, thresholds.max(initial=-1) + 1))
        conditions = thresholds, relations, ends, self._indicates_missing(summary)
        return OrderedColumn(summary.name, "ordered", *conditions, levels=tuple(levels))

    def _fit_levels(self, summary):
        """Choose the levels that get a feature of their own."""
        counts = {level: count for level, count in summary.levels.items() if count}
        levels = {level: counts[level] for level in sorted_levels(counts)}
        # Two levels of one text would give two features of one name.
        texts = {}
        for level in levels:
            other = texts.setdefault(level_text(level), level)
            if other is not level:
                raise ValueError(
                    f"Column {summary.name!r} of X holds {other!r} and {level!r}, "
                    "which are written alike. Give all its values one type."
                )
        # Of equally frequent levels the last ones stay, as in OneHotEncoder.
        ranked = sorted(levels, key=levels.get)[::-1]
        least = self._least_frequency(summary, len(levels))
        n_kept = sum(levels[level] >= least for level in ranked)
        if self._shares_rare(summary):
            n_kept = min(n_kept, MOST_LEVELS)
            if not n_kept:  # nearly one level a sample
                return self._without_levels(summary)
        if self.max_categories is not None and len(ranked) > self.max_categories:
            n_kept = min(n_kept, self.max_categories - 1)
        frequent = set(ranked[:n_kept])
        return LevelColumn(
            summary.name,
            tuple(level for level in levels if level in frequent),
            tuple(ranked[n_kept:]),
            self.handle_unknown,
            self._indicates_missing(summary),
        )

    def _least_frequency(self, summary, n_levels):
        """Return the least weight of a level with a feature of its own."""
        least, one = self.min_frequency, summary.weight_of_one() * (1 - ROUND)
        if least == "auto":
            is_shared = self._shares_rare(summary) and n_levels > FEW_VALUES
            least = MIN_SAMPLES_LEAF if is_shared else None
        if least is None:
            return 0.0
        return least * (one if isinstance(least, Integral) else summary.n_samples)

    def _shares_rare(self, summary):
        """Test whether rare levels are shared that no parameter mentions."""
        is_auto = self.min_frequency == "auto" and self.max_categories is None
        return is_auto and summary.name not in self.kinds

    def _without_levels(self, summary):
        """Make a column that takes any value."""
        has_missing = self._indicates_missing(summary)
        return UnknownColumn(summary.name, (), (), self.handle_unknown, has_missing)


def check_by_column(by_column, name, columns):
    """Check a dict of options by column."""
    if not isinstance(by_column, dict):
        raise ValueError(
            f"{name} must be a dict from columns to their option; got {by_column!r}."
        )
    names = [column.name for column in columns]
    for column, option in by_column.items():
        if column not in names:
            raise ValueError(
                f"{name} holds the column {column!r}, but the columns of X are {names}."
            )
        if name == "kinds":
            check_choice(option, f"kinds[{column!r}]", KINDS)


def sorted_levels(levels):
    """Sort levels by value if they have one type, else by their text."""
    if all(isinstance(level, int | float) for level in levels):
        return sorted(levels)
    return sorted(levels, key=str)


def check_target(y, n_samples, strategy):
    """Check y for the strategy.

    Returns
    -------
    labels : dict or None
        The samples of each label, bool of shape (n_samples,); None for real values.
    numbers : ndarray of shape (n_samples,), float64, or None
        Real values, for ``strategy="tree"``.
    """
    if strategy == "quantile":  # labels may help, but other targets are no error
        labels = list_of_labels(y, n_samples)
        return (None if labels is None else _samples_of_labels(labels)), None
    if y is None:
        raise ValueError(
            f"strategy={strategy!r} requires y to be passed, but the target y is None. "
            "Pass the labels, or set strategy='quantile'."
        )
    check_labelled(y)
    y = column_or_1d(plain_labels(y))
    is_class = target_type(y) in ("binary", "multiclass")
    dtype = None if is_class else np.float64
    y = check_array_strict(y, "y", ensure_2d=False, dtype=dtype)
    check_consistent_length(np.empty(n_samples), y)
    if is_class:
        return _samples_of_labels(y), None
    if strategy == "monotone":
        raise not_two_classes("real values")
    return None, y


def _samples_of_labels(y):
    """Mark the samples of each label."""
    with comparable_labels(y):
        classes, codes = np.unique(y, return_inverse=True)
    return {label: codes == code for code, label in enumerate(classes.tolist())}


def list_of_labels(y, n_samples):
    """Return labels of few classes, one for each sample; None for another target."""
    if y is None:
        return None
    try:
        check_labelled(y)
        labels = np.atleast_1d(y)
        labels = labels[:, 0] if labels.shape[1:] == (1,) else labels
        is_class = labels.ndim == 1 and target_type(labels) in ("binary", "multiclass")
        is_class = is_class and len(distinct_labels(labels)) <= MOST_CLASSES
    except (TypeError, ValueError):
        return None
    check_consistent_length(np.empty(n_samples), labels)
    return labels if is_class else None


def not_two_classes(target):
    """Make the error of a target that has no second class."""
    return ValueError(
        f"strategy='monotone' needs labels of two classes, but y holds {target}. "
        "Set strategy='tree' or 'quantile'."
    )
