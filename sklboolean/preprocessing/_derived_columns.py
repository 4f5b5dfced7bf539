"""Fitted columns of dates, durations and lists of tags."""

# A date has conditions on its number, its month, its weekday and its hour, a list of
# tags on each of its frequent tags. Each of these is a subcolumn: a fitted column
# with runs of its own. `Composite` puts the conditions of its subcolumns one after the
# other; all of them read the same `Column`.

from dataclasses import dataclass
from datetime import UTC
from functools import cached_property
from itertools import pairwise

import numpy as np

from sklboolean._core.c_code import c_string, check_prefix
from sklboolean._core.sql_code import sql_number
from sklboolean.preprocessing._encoded_columns import (
    FittedColumn,
    LevelColumn,
    NumberColumn,
    OrderedColumn,
    level_text,
)
from sklboolean.preprocessing._frames import BY_TYPE, DURATION, ZONED, Column
from sklboolean.preprocessing._times import (
    CALENDAR,
    DAY,
    WEEKDAYS,
    calendar_codes,
    date_of,
    date_text,
)

MOST_DAYS = 400  # of an interval: a year has each weekday in each month
SECOND, HOUR = 1e6, DAY // 24
EXTRACTED = {"month": "MONTH", "weekday": "ISODOW", "hour": "HOUR"}
# Of Monday the %w of SQLite is 1, of Sunday 0.
FORMATTED = {
    "month": "CAST(strftime('%m', {}) AS INTEGER)",
    "weekday": "(strftime('%w', {}) + 6) % 7 + 1",
    "hour": "CAST(strftime('%H', {}) AS INTEGER)",
}
# Years begin in March, and eras of 400 years are alike.
C_CALENDAR = """\
#ifndef CALENDAR_OF_DATES
#define CALENDAR_OF_DATES
static inline double day_of(double t) { return floor(floor(t) / 86400); }
static inline double hour_of(double t) {
    return floor(floor(t) / 3600) - 24 * day_of(t);
}
static inline double weekday_of(double t) {
    return day_of(t) + 4 - 7 * floor((day_of(t) + 3) / 7);
}
static inline double month_of(double t) {
    double day = day_of(t) + 719468;
    double of_era = day - 146097 * floor(day / 146097);
    double years = of_era - floor(of_era / 1460) + floor(of_era / 36524);
    years = floor((years - floor(of_era / 146096)) / 365);
    of_era -= 365 * years + floor(years / 4) - floor(years / 100);
    day = floor((5 * of_era + 2) / 153);
    return day < 10 ? day + 3 : day - 9;
}
#endif
"""


@dataclass(frozen=True)
class DaysColumn(NumberColumn):
    """Conditions on durations, or on the days since a date, as numbers of days.

    Parameters
    ----------
    origin : float or (str, int) or None
        The date from which others are measured in microseconds, or the name and the
        number of the column that holds it. None: the column holds durations.
    """

    origin: object = None

    def names(self, label):
        """Write the conditions on a column with this label."""
        if self.origin is not None:
            is_column = isinstance(self.origin, tuple)
            start = self.origin[0] if is_column else date_text(self.origin)
            start = f"x{start}" if isinstance(start, int) else start
            label = f"days from {start} to {label}"
        return super().names(label)

    def _sql_float(self, column, dialect):
        """Write the number of days in SQL; SQLite holds durations as such numbers."""
        if self.origin is None:
            return choose(dialect, f"EXTRACT(EPOCH FROM {column}) / 86400.0", column)
        start = dialect.start
        if start is not None:
            ends = in_utc(column, self.kind), in_utc(start, self.kind)
        else:
            start = f"'{date_text(self.origin)}'"
            ends = in_utc(column, self.kind), start
        standard = " - ".join(f"CAST({end} AS TIMESTAMP)" for end in ends)
        standard = f"EXTRACT(EPOCH FROM {standard})"
        of_sqlite = f"ROUND((julianday({column}) - julianday({start})) * 86400.0, 3)"
        return f"{choose(dialect, standard, of_sqlite)} / 86400.0"

    def sql_of(self, column, relation, k, dialect):
        """Write the condition of threshold k in SQL."""
        t = sql_number(self.thresholds[k])
        return f"{self._sql_float(column, dialect)} {relation} {t}"

    def sql_missing(self, column, dialect):
        """Write in SQL that the number is missing."""
        return f"{self._sql_float(column, dialect)} IS NULL"

    def c(self, value):
        """Write the conditions in C; dates are seconds since 1970."""
        if self.origin is not None:
            is_column = isinstance(self.origin, tuple)
            start = f"row[{self.origin[1]}]" if is_column else self.origin / SECOND
            value = f"(({value} - {start}) / 86400.0)"
        return super().c(value)

    def decode(self, bits):
        """Return a duration that satisfies the conditions, NaT for missing values."""
        return as_objects(super().decode(bits) * DAY, DURATION)


@dataclass(frozen=True)
class InstantColumn(NumberColumn):
    """Conditions ``when <= 2024-03-01`` on dates, in microseconds since 1970."""

    origin = 0.0

    @property
    def shown_thresholds(self):
        """The thresholds as datetime64."""
        return self.thresholds.astype("M8[us]")

    def name_of(self, label, relation, k):
        """Write the condition of threshold k as a name."""
        return f"{label} {relation} {date_text(self.thresholds[k])}"

    def sql_of(self, column, relation, k, dialect):
        """Write the condition of threshold k in SQL; SQLite has milliseconds."""
        t = self.thresholds[k]
        text = str(date_of(t).astype("M8[ms]")).replace("T", " ")
        return choose(
            dialect,
            f"{in_utc(column, self.kind)} {relation} TIMESTAMP '{date_text(t)}'",
            f"strftime('%Y-%m-%d %H:%M:%f', {column}) {relation} '{text}'",
        )

    def sql_missing(self, column, _dialect):
        """Write in SQL that the date is missing."""
        return f"{column} IS NULL"

    def c_of(self, value, relation, k):
        """Write the condition of threshold k on seconds since 1970 in C."""
        return f"{value} {relation} {self.thresholds[k].item() / SECOND!r}"


@dataclass(frozen=True)
class CalendarColumn(LevelColumn):
    """Conditions ``when month = 12`` on what the calendar says of dates.

    Parameters
    ----------
    unit : {"month", "weekday", "hour"}
    kind_of_dates : {"date", "date in UTC"}
    """

    unit: str
    kind_of_dates: str

    def read(self, column):
        """Find the run of each sample, and count the levels that fit did not see."""
        codes = np.full(len(column.missing()), -1)
        if column.times is not None:
            codes = calendar_codes(column.times, self.unit)
        levels = [*CALENDAR[self.unit][2]]
        return super().read(Column(self.name, "category", codes=codes, levels=levels))

    def name_of(self, label, _relation, k):
        """Write the condition of level k as a name."""
        level = self.levels[k]
        level = WEEKDAYS[level - 1] if self.unit == "weekday" else level
        return f"{label} {self.unit} = {level}"

    def sql_of(self, column, _relation, k, dialect):
        """Write the condition of level k in SQL."""
        in_zone = in_utc(column, self.kind_of_dates)
        value = choose(
            dialect,
            f"EXTRACT({EXTRACTED[self.unit]} FROM {in_zone})",
            FORMATTED[self.unit].format(column),
        )
        return f"{value} = {self.levels[k]}"

    def c_of(self, value, _relation, k):
        """Write the condition of level k in C."""
        return f"{self.unit}_of({value}) == {self.levels[k]}"


@dataclass(frozen=True)
class TagColumn(LevelColumn):
    """The condition ``tags has a`` that a list has a tag, the only one of ``levels``.

    Parameters
    ----------
    known : frozenset
        All tags that fit saw, of the subcolumn that tells new ones and has no level.
    """

    known: frozenset = frozenset()

    def read(self, column):
        """Find the run of each sample; only that with ``known`` tells new tags."""
        holds = dict(zip(column.levels or (), column.tags, strict=False))
        codes, unseen = np.zeros(len(column.missing()), dtype=np.int32), {}
        for level in self.levels:
            codes[holds.get(level, [])] = 1
        if self.known:
            unseen = {t: len(s) for t, s in holds.items() if t not in self.known}
        codes[column.missing()] = self.missing_run
        return codes, unseen

    def name_of(self, label, _relation, k):
        """Write the condition as a name."""
        return f"{label} has{super().name_of('', '=', k)[2:]}"

    def sql_of(self, column, _relation, k, dialect):
        """Write the condition in SQL."""
        return choose(dialect, f"{dialect.value(self.levels[k])} = ANY({column})")

    def c_of(self, _value, _relation, _k):
        """Refuse lists, which C has not."""
        raise ValueError(
            f"Column {self.name!r} of X holds lists, which to_c cannot read. Give each "
            "tag a Boolean column."
        )


@dataclass(frozen=True)
class Composite(FittedColumn):
    """The conditions of the subcolumns of a column, one after the other.

    Parameters
    ----------
    name : str or int
        Name of the column, or its number, in messages.
    kind : str
    subcolumns : tuple
        The first of them knows whether a value is missing.
    """

    name: object
    kind: str
    subcolumns: tuple

    @property
    def indicates_missing(self):
        """Whether a condition says that the value is missing."""
        return self.subcolumns[0].indicates_missing

    @property
    def shown_thresholds(self):
        """The thresholds of the first subcolumn."""
        return self.subcolumns[0].shown_thresholds

    @cached_property
    def n_conditions(self):
        """Number of conditions."""
        return sum(subcolumn.n_conditions for subcolumn in self.subcolumns)

    def order(self):
        """Number the threshold of each condition; -1 for other conditions."""
        return np.concatenate([subcolumn.order() for subcolumn in self.subcolumns])

    def names(self, label):
        """Write the conditions on a column with this label."""
        return [
            name for subcolumn in self.subcolumns for name in subcolumn.names(label)
        ]

    def sql(self, number, column, dialect):
        """Write one of the conditions on a column in a `Dialect` of SQL."""
        for subcolumn in self.subcolumns:
            if number < subcolumn.n_conditions:
                return subcolumn.sql(number, column, dialect)
            number -= subcolumn.n_conditions

    def c(self, value):
        """Write the conditions in C."""
        return [test for subcolumn in self.subcolumns for test in subcolumn.c(value)]

    def run_of(self, _value):
        """Find no run of one plain value: each subcolumn has another."""


class DateColumn(Composite):
    """Conditions on dates: on their number, and on what the calendar says of them."""

    @property
    def origin(self):
        """The date from which the first subcolumn measures others."""
        return self.subcolumns[0].origin

    @property
    def start(self):
        """Number of the column from which the first subcolumn measures, or None."""
        return self.origin[1] if isinstance(self.origin, tuple) else None

    @cached_property
    def states(self):
        """Find dates that satisfy all different combinations of conditions.

        Returns
        -------
        bits : ndarray of shape (n_states, n_conditions), bool
        dates : ndarray of shape (n_states,), datetime64[us]
            They ascend.
        """
        number, *calendar = self.subcolumns
        unit = 1 if isinstance(number, InstantColumn) else DAY
        ends = number.thresholds if len(number.thresholds) else number.representatives
        ends = np.floor(ends * unit) + number.origin
        step = HOUR if any(subcolumn.unit == "hour" for subcolumn in calendar) else DAY
        edges = [ends[0] - MOST_DAYS * DAY, *ends, ends[-1] + MOST_DAYS * DAY]
        rounded = []
        for low, high in pairwise(edges):
            high = min(high, low + MOST_DAYS * DAY)
            rounded.append(np.arange(low // step + 1, high // step + 1) * step)
        # Round dates first, then some in each interval, however short.
        inner = np.round(number.representatives * unit + number.origin)
        dates = np.concatenate([*rounded, inner, ends, ends + 1]).astype("M8[us]")
        numbers = (dates.astype(np.int64) - number.origin) / unit
        column = Column(self.name, self.kind, numbers, times=dates)
        marks = (s.marks(s.read(column)[0]) for s in self.subcolumns)
        bits = np.column_stack([mark for of_one in marks for mark in of_one])
        _, first = np.unique(np.packbits(bits, axis=1), axis=0, return_index=True)
        first = first[np.argsort(dates[first], kind="stable")]
        return bits[first], dates[first]

    def decode(self, bits):
        """Return a date that satisfies the conditions, NaT for missing values.

        Of dates that are measured from another column, the days between.
        """
        number = self.subcolumns[0]
        numbers = NumberColumn.decode(number, bits[:, : number.n_conditions])
        if isinstance(number.origin, tuple):
            return as_objects(numbers * DAY, DURATION)
        states, dates = self.states
        numbers_of_states = {bits.tobytes(): k for k, bits in enumerate(states)}
        # Where no date satisfies all, the interval counts more than the rest.
        weights = np.ones(self.n_conditions)
        weights[: number.n_conditions] = self.n_conditions
        for sample in np.flatnonzero(~np.isnan(numbers)):
            bits_of_one = bits[sample] == 1
            state = numbers_of_states.get(bits_of_one.tobytes())
            if state is None:
                state = ((states == bits_of_one) @ weights).argmax()
            numbers[sample] = dates[state].astype(np.int64)
        return as_objects(numbers, self.kind)


class TagsColumn(Composite):
    """Conditions on lists of tags; the first subcolumn has no tag, but "is missing"."""

    @property
    def levels(self):
        """The tags that have a condition."""
        return tuple(subcolumn.levels[0] for subcolumn in self.subcolumns[1:])

    def decode(self, bits):
        """Return the tags of each sample that have a condition, None for no list."""
        n_marks, lists = int(self.indicates_missing), np.full(len(bits), None)
        is_known = ~np.isnan(bits).any(axis=1) & ~(bits[:, :n_marks] == 1).any(axis=1)
        for sample in np.flatnonzero(is_known):
            tags = np.flatnonzero(bits[sample, n_marks:])
            lists[sample] = [self.levels[tag] for tag in tags]
        return lists


def refuse_by_type(columns, why, error=ValueError):
    """Refuse columns of dates, durations and tags where nothing reads them."""
    for column in columns:
        if getattr(column, "kind", None) in BY_TYPE:
            raise error(
                f"Column {column.name!r} of X holds {BY_TYPE[column.kind]}, which {why}"
                ". Turn it into numbers or categories, such as days since an event."
            )


def encoder_code(columns, prefix):
    """Write fitted columns as a function in C: see ``BooleanEncoder.to_c``."""
    check_prefix(prefix)
    about, arrays, lines = [], [], []
    if any(isinstance(fitted, DateColumn) for fitted in columns):
        arrays.append(C_CALENDAR)
    for number, fitted in enumerate(columns):
        what = "a number"
        if isinstance(fitted, LevelColumn | OrderedColumn):
            name = f"{prefix}levels_{number}"
            levels = fitted.levels + getattr(fitted, "rare", ())
            levels = [c_string(level_text(level)) for level in levels]
            arrays.append(f"const char *const {name}[] = {{{', '.join(levels) or 0}}};")
            what = f"a place in {name}"
        elif fitted.kind in BY_TYPE:
            what = "days" if fitted.kind == DURATION else "seconds since 1970"
        about.append(f"row[{number}]: {what}.")
        for test in fitted.c(f"row[{number}]"):
            lines.append(f"    x[{len(lines)}] = {test};")
    head = f"/* {' '.join(about)} */"
    function = f"void {prefix}encode(const double *row, unsigned char *x) {{"
    return "\n".join(["#include <math.h>\n", *arrays, head, function, *lines, "}\n"])


def decoded(state, bits):
    """Decode features into samples of the user's columns.

    Parameters
    ----------
    state : sequence of fitted columns
    bits : ndarray of shape (n_samples, n_features_out)

    Returns
    -------
    values : ndarray of shape (n_samples, n_columns), float64 or object
    """
    ends = np.cumsum([fitted.n_conditions for fitted in state])[:-1]
    bits_by_column = zip(state, np.split(bits, ends, axis=1), strict=True)
    columns = [fitted.decode(bits) for fitted, bits in bits_by_column]

    def dates(number):
        """Add the days between to the dates from which a column is measured."""
        start = getattr(state[number], "start", None)
        return (
            columns[number] if start is None else later(dates(start), columns[number])
        )

    columns = [dates(number) for number in range(len(columns))]
    are_numbers = all(column.dtype.kind == "f" for column in columns)
    values = np.empty((len(bits), len(columns)), dtype=float if are_numbers else object)
    for number, column in enumerate(columns):
        values[:, number] = column
    return values


def later(starts, durations):
    """Add durations to dates; a sum with a missing value is missing."""
    pairs, gap = zip(starts, durations, strict=True), np.datetime64("NaT")
    sums = (a + b.item() if a == a and b == b else gap for a, b in pairs)
    return np.fromiter(sums, object, count=len(starts))


def as_objects(numbers, kind):
    """Make microseconds dates or durations of numpy, or dates of Python in UTC."""
    gap = np.iinfo(np.int64).min  # of numpy
    times = np.where(np.isnan(numbers), gap, np.round(numbers)).astype(np.int64)
    times = times.view("m8[us]" if kind == DURATION else "M8[us]")
    if kind == ZONED:
        times = [t if t != t else t.item().replace(tzinfo=UTC) for t in times]
    return np.fromiter(times, object, count=len(numbers))


def choose(dialect, standard, of_sqlite=None):
    """Choose the text of DuckDB and PostgreSQL, or that of SQLite."""
    texts = {"duckdb": standard, "postgresql": standard}
    if of_sqlite is None:
        return dialect.choose(texts, "lists")
    return dialect.choose(texts | {"sqlite": of_sqlite}, "dates and durations")


def in_utc(column, kind):
    """Write a date without its zone in SQL."""
    return f"({column} AT TIME ZONE 'UTC')" if kind == ZONED else column
