"""The choice of conditions for one column, from the counts of its values."""

# `ColumnFitter` sees the counts of a column, never its samples, so it does the same for
# one table, for batches and for partitions. Cuts are places between ascending distinct
# values; `place_thresholds` chooses the number in each.
#
# Invariant: every training value is on the side of a threshold on which its cut is.

import re
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_consistent_length

from sklboolean._core.labels import comparable_labels, plain_labels, target_type
from sklboolean._core.parameters import check_choice
from sklboolean._core.validation import check_array_strict, check_labelled, warn_user
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
    level_text,
    levels_alike,
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
    check_ranks,
    check_thresholds,
    find_cuts,
    find_monotone_cuts,
    find_tree_cuts,
    number_in_each_interval,
    place_thresholds,
    shortest_between,
)
from sklboolean.preprocessing._times import check_dates, round_date_between

KINDS = ("boolean", "category", "number", "ordered")
NUMBER = re.compile(r"[-+]?(\d[\d.,]*|[.,]\d+)(e[-+]?\d+)?%?", re.IGNORECASE)
CODE = re.compile(r"0\d")  # as in postcodes
DATE_TEXT = re.compile(r"(\d{4}([-/.]\d\d?){2}|(\d\d?[-/.]){2}\d{4})([ T].*)?")
# What text may be, the least number of levels that tell, and what converts it.
WRITTEN_TYPES = (
    (DATE_TEXT, 3, "dates", "to_datetime"),
    (NUMBER, 11, "numbers", "to_numeric"),
)
MANY_LEVELS = 400
MOST_NAMED = 20


@dataclass(frozen=True)
class ColumnFitter:
    """Checked parameters of `BooleanEncoder`, of which two are dicts by column."""

    n_bins: int
    complement: bool
    kinds: dict
    thresholds: dict
    min_frequency: float | None
    max_categories: int | None
    handle_unknown: str
    missing: str
    origins: dict

    def fit(self, summary, cuts=None):
        """Choose the conditions on a column.

        Parameters
        ----------
        summary : ColumnSummary
        cuts : ndarray or None
            Cuts of its distinct numbers or ranks. None: those at quantiles.

        Returns
        -------
        fitted : NumberColumn, OrderedColumn or LevelColumn
        """
        name, thresholds = summary.name, self.thresholds.get(summary.name)
        if summary.kind in BY_TYPE:
            return self._fit_by_type(summary, thresholds, cuts)
        # ``kinds`` come first, then thresholds, then the type, then the values.
        kind = None if thresholds is None or summary.kind == "ordered" else "number"
        kind = self.kinds.get(name, kind) or summary.natural_kind()
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
            options = (), self.handle_unknown, frequent.indicates_missing
            first = TagColumn(name, (), *options, known=frozenset(summary.levels))
            others = [
                TagColumn(name, (tag,), *options[:2], False)
                for tag in frequent.levels
                if self.min_frequency or summary.levels[tag] > 1
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

    def _fit_numbers(self, summary, kind, thresholds_given, cuts):
        """Choose the thresholds of a column of numbers, or check a Boolean one."""
        if kind == "ordered":
            raise ValueError(
                f"Column {summary.name!r} of X has no order: give it an ordered type, "
                "such as pandas' CategoricalDtype(levels, ordered=True)."
            )
        if summary.numbers is None and summary.levels:
            refuse_level(summary, f"its kind is {kind!r}")
        empty = np.empty(0)
        values = empty if summary.numbers is None else summary.numbers.values
        relations = ("<=", ">") if self.complement else ("<=",)
        is_date = kind in (DATE, ZONED) and summary.name not in self.origins
        # Booleans are numbers with a threshold of 0.5.
        if kind == "boolean":
            thresholds, relations = np.array([0.5]), (">",)
            representatives = np.array([0.0, 1.0])
        else:
            if thresholds_given is not None:
                check = check_dates if is_date else check_thresholds
                thresholds = check(thresholds_given, summary.name)
            elif not len(values):
                thresholds = empty
            else:
                if cuts is None:
                    cuts = find_cuts(summary.numbers.counts, self.n_bins)
                between = round_date_between if is_date else shortest_between
                thresholds = place_thresholds(values, cuts, between)
            representatives = number_in_each_interval(values, thresholds)
        has_missing = self._indicates_missing(summary)
        conditions = thresholds, relations, representatives, has_missing
        if kind in BY_TYPE:
            if is_date:
                return InstantColumn(summary.name, kind, *conditions)
            origin = self.origins.get(summary.name)
            return DaysColumn(summary.name, kind, *conditions, origin=origin)
        insists = "boolean" in (summary.kind, self.kinds.get(summary.name))
        fitted = NumberColumn(summary.name, kind, *conditions, insists=insists)
        fitted.check(Column(summary.name, "number", values))
        return fitted

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
                cuts = find_cuts(counts[occurring], self.n_bins)
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
        levels = {
            level: summary.levels[level] for level in sorted_levels(summary.levels)
        }
        levels = {level: count for level, count in levels.items() if count}
        # Two levels of one text would give two features of one name.
        texts = {}
        for level in levels:
            other = texts.setdefault(level_text(level), level)
            if other is not level:
                raise ValueError(
                    f"Column {summary.name!r} of X holds {other!r} and {level!r}, "
                    "which are written alike. Give all its values one type."
                )
        least = 1 if self.min_frequency is None else self.min_frequency
        least = least if isinstance(least, Integral) else least * summary.n_samples
        # Of equally frequent levels the last ones stay, as in OneHotEncoder.
        ranked = sorted(levels, key=levels.get)[::-1]
        n_kept = sum(levels[level] >= least for level in ranked)
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


def check_by_column(by_column, name, columns):
    """Check a dict of options by column; None is an empty one."""
    by_column = {} if by_column is None else by_column
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
    return by_column


def sorted_levels(levels):
    """Sort levels by value if they have one type, else by their text."""
    if all(isinstance(level, str) for level in levels):
        return sorted(levels)
    if all(isinstance(level, int | float) for level in levels):
        return sorted(levels)
    return sorted(levels, key=str)


def labelled_cuts(columns, y, n_bins, strategy):
    """Cut columns of numbers and ranks by their labels; others are None."""
    y, is_class = check_target(y, columns, strategy)
    cuts = []
    for column in columns:
        values = column.codes if column.kind == "ordered" else column.numbers
        # Samples without a value tell nothing of where to cut.
        has_value = ~column.missing()
        of_column = None
        if values is not None and has_value.any():
            values, labels = values[has_value], y[has_value]
            if strategy == "tree":
                of_column = find_tree_cuts(
                    values, labels, n_bins, is_classification=is_class
                )
            else:
                of_column = find_monotone_cuts(values, labels, n_bins)
        cuts.append(of_column)
    return cuts


def check_target(y, columns, strategy):
    """Check y for the strategy; return it and whether it holds classes."""
    if y is None:
        raise ValueError(
            f"strategy={strategy!r} requires y to be passed, but the target y is None. "
            "Pass the labels, or set strategy='quantile'."
        )
    check_labelled(y)
    y = plain_labels(y)
    is_class = target_type(y) in ("binary", "multiclass")
    dtype = None if is_class else np.float64
    y = check_array_strict(y, "y", ensure_2d=False, dtype=dtype)
    check_consistent_length(columns[0].missing(), y)
    if is_class:
        with comparable_labels(y):
            classes, y = np.unique(y, return_inverse=True)
    if strategy == "monotone" and not (is_class and len(classes) <= 2):
        target = f"{len(classes)} classes" if is_class else "real values"
        raise ValueError(
            f"strategy='monotone' needs labels of two classes, but y holds {target}. "
            "Set strategy='tree' or 'quantile'."
        )
    return y, is_class


def warn_of_levels(summary, fitted):
    """Warn of levels that may be mistakes."""
    where = f"Column {summary.name!r} of X"
    option = f"kinds={{{summary.name!r}: 'category'}}"
    keep = f"Set {option} to keep it without this warning."
    n_known, n_kept = sum(summary.levels.values()), len(fitted.levels)
    levels = [*fitted.levels, *fitted.rare]
    alike = levels_alike(levels)
    if alike:
        others = f" (and {len(alike) - 1} more pairs)" if len(alike) > 1 else ""
        warn_user(
            f"{where} holds {alike[0][0]!r} and {alike[0][1]!r}{others}, which differ "
            "only in blanks or in case, so each is a category. Make them one, for "
            f"example by .str.strip().str.lower(). {keep}"
        )
    text = None if summary.is_declared else what_text_is(levels)
    if text:
        warn_user(f"{where} holds {text} {keep}")
    elif n_kept > 30 and n_known < 4 * n_kept and not summary.is_declared:
        warn_user(
            f"Most categories of column {summary.name!r} of X occur in few samples. "
            "Leave the column out, or set max_categories or "
            f"min_frequency. {keep}"
        )
    elif n_kept > MANY_LEVELS:
        warn_user(
            f"{where} has {n_kept} categories, and each becomes a feature. Set "
            f"max_categories or min_frequency to share one among the rare ones. {keep}"
        )


def what_text_is(levels):
    """Say of which type nearly all levels are, written as text; None: of no other."""
    texts = [*map(str, levels)]
    for pattern, least, what, convert in WRITTEN_TYPES:
        others = [text for text in texts if not pattern.fullmatch(text)]
        is_code = pattern is NUMBER and any(map(CODE.match, texts))
        if len(levels) >= least and len(others) <= 0.1 * len(levels) and not is_code:
            but = f" except values such as {others[0]!r}" if others else ""
            return (
                f"{what} as text{but}, so each of them becomes a category. Convert the "
                f"column, for example by pandas.{convert}."
            )
    return None


def warn_of_constants(summaries):
    """Name the columns that hold one value in all of several samples."""
    names = [s.name for s in summaries if s.is_constant() and s.n_samples > 1]
    if len(names) > 1:
        others = f" and {len(names) - MOST_NAMED} more" * (len(names) > MOST_NAMED)
        listed = ", ".join(map(repr, names[:MOST_NAMED]))
        warn_user(
            f"Columns {listed}{others} of X have the same value in all samples, so "
            "they tell nothing. Leave them out."
        )
    elif names:
        warn_user(
            f"Column {names[0]!r} of X has the same value in all samples, so it tells "
            "nothing. Leave it out."
        )
