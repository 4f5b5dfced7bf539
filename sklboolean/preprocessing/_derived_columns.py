"""Fitted columns of dates, durations and lists of tags."""

# A date has conditions on its number, its month, its weekday and its hour, a list of
# tags on each of its frequent tags. Each of these is a part: a fitted column with runs
# of its own. `Composite` puts the conditions of its parts one after the other; all of
# them read the same `Column`.

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
static inline double hour(double t) {
    return floor(floor(t) / 3600) - 24 * floor(floor(t) / 86400);
}
static inline double weekday(double t) {
    double day = floor(floor(t) / 86400) + 3;
    return day - 7 * floor(day / 7) + 1;
}
static inline double month(double t) {
    double day = floor(floor(t) / 86400) + 719468;
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
            label = f"days from {start} to {label}"
        return super().names(label)

    def _sql_float(self, column, dialect):
        """Write the number of days in SQL; SQLite holds durations as such numbers."""
        if self.origin is None:
            return choose(dialect, f"EXTRACT(EPOCH FROM {column}) / 86400.0", column)
        if isinstance(self.origin, tuple):
            start = dialect.column(self.origin[0])
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
    part : {"month", "weekday", "hour"}
    kind_of_dates : {"date", "date in UTC"}
    """

    part: str
    kind_of_dates: str

    def read(self, column):
        """Find the run of each sample, and count the levels that fit did not see."""
        codes = np.full(len(column.missing()), -1)
        if column.times is not None:
            codes = calendar_codes(column.times, self.part)
        levels = [*CALENDAR[self.part][2]]
        return super().read(Column(self.name, "category", codes=codes, levels=levels))

    def name_of(self, label, _relation, k):
        """Write the condition of level k as a name."""
        level = self.levels[k]
        level = WEEKDAYS[level - 1] if self.part == "weekday" else level
        return f"{label} {self.part} = {level}"

    def sql_of(self, column, _relation, k, dialect):
        """Write the condition of level k in SQL."""
        in_zone = in_utc(column, self.kind_of_dates)
        value = choose(
            dialect,
            f"EXTRACT({EXTRACTED[self.part]} FROM {in_zone})",
            FORMATTED[self.part].format(column),
        )
        return f"{value} = {self.levels[k]}"

    def c_of(self, value, _relation, k):
        """Write the condition of level k in C."""
        return f"{self.part}({value}) == {self.levels[k]}"


@dataclass(frozen=True)
class TagColumn(LevelColumn):
    """The condition ``tags has a`` that a list has a tag, the only one of ``levels``.

    Parameters
    ----------
    known : frozenset
        All tags that fit saw, of the part that tells which are new. It has no level.
    """

    known: frozenset = frozenset()

    def read(self, column):
        """Find the run of each sample; only the part with ``known`` tells new tags."""
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
    """The conditions of the parts of a column, a part after the other.

    Parameters
    ----------
    name : str or int
        Name of the column, or its number, in messages.
    kind : str
    parts : tuple
        The first of them knows whether a value is missing.
    """

    name: object
    kind: str
    parts: tuple

    @property
    def indicates_missing(self):
        """Whether a condition says that the value is missing."""
        return self.parts[0].indicates_missing

    @property
    def shown_thresholds(self):
        """The thresholds of the first part."""
        return self.parts[0].shown_thresholds

    @cached_property
    def n_conditions(self):
        """Number of conditions."""
        return sum(part.n_conditions for part in self.parts)

    def order(self):
        """Number the threshold of each condition; -1 for other conditions."""
        return np.concatenate([part.order() for part in self.parts])

    def names(self, label):
        """Write the conditions on a column with this label."""
        return [name for part in self.parts for name in part.names(label)]

    def sql(self, number, column, dialect):
        """Write one of the conditions on a column in a `Dialect` of SQL."""
        for part in self.parts:
            if number < part.n_conditions:
                return part.sql(number, column, dialect)
            number -= part.n_conditions

    def c(self, value):
        """Write the conditions in C."""
        return [test for part in self.parts for test in part.c(value)]

    def run_of(self, _value):
        """Find no run of one plain value: each part has another."""


class DateColumn(Composite):
    """Conditions on dates: on their number, and on what the calendar says of them."""

    @property
    def origin(self):
        """The date from which the first part measures others."""
        return self.parts[0].origin

    @cached_property
    def states(self):
        """Find dates that satisfy all different combinations of conditions.

        Returns
        -------
        bits : ndarray of shape (n_states, n_conditions), bool
        dates : ndarray of shape (n_states,), datetime64[us]
            They ascend.
        """
        number, *calendar = self.parts
        unit = 1 if isinstance(number, InstantColumn) else DAY
        ends = number.thresholds if len(number.thresholds) else number.representatives
        ends = np.floor(ends * unit) + number.origin
        step = HOUR if any(part.part == "hour" for part in calendar) else DAY
        edges = [ends[0] - MOST_DAYS * DAY, *ends, ends[-1] + MOST_DAYS * DAY]
        found = []
        for low, high in pairwise(edges):
            high = min(high, low + MOST_DAYS * DAY)
            found.append(np.arange(low // step + 1, high // step + 1) * step)
        # Round dates first, then some in each interval, however short.
        whole = np.round(number.representatives * unit + number.origin)
        dates = np.concatenate([*found, whole, ends, ends + 1]).astype("M8[us]")
        numbers = (dates.astype(np.int64) - number.origin) / unit
        column = Column(self.name, self.kind, numbers, times=dates)
        marks = (p.marks(p.read(column)[0]) for p in self.parts)
        bits = np.column_stack([mark for of_part in marks for mark in of_part])
        _, first = np.unique(np.packbits(bits, axis=1), axis=0, return_index=True)
        first = first[np.argsort(dates[first], kind="stable")]
        return bits[first], dates[first]

    def decode(self, bits):
        """Return a date that satisfies the conditions, NaT for missing values.

        Of dates that are measured from another column, the days between.
        """
        number = self.parts[0]
        numbers = NumberColumn.decode(number, bits[:, : number.n_conditions])
        if isinstance(number.origin, tuple):
            return as_objects(numbers * DAY, DURATION)
        states, dates = self.states
        places = {state.tobytes(): place for place, state in enumerate(states)}
        # Where no date satisfies all, the interval counts more than the rest.
        weights = np.ones(self.n_conditions)
        weights[: number.n_conditions] = self.n_conditions
        for sample in np.flatnonzero(~np.isnan(numbers)):
            wanted = bits[sample] == 1
            place = places.get(wanted.tobytes())
            if place is None:
                place = ((states == wanted) @ weights).argmax()
            numbers[sample] = dates[place].astype(np.int64)
        return as_objects(numbers, self.kind)


class TagsColumn(Composite):
    """Conditions on lists of tags; the first part has no tag, but "is missing"."""

    @property
    def levels(self):
        """The tags that have a condition."""
        return tuple(part.levels[0] for part in self.parts[1:])

    def decode(self, bits):
        """Return the tags of each sample that have a condition, None for no list."""
        n_marks, lists = int(self.indicates_missing), np.full(len(bits), None)
        is_known = ~np.isnan(bits).any(axis=1) & ~(bits[:, :n_marks] == 1).any(axis=1)
        for sample in np.flatnonzero(is_known):
            held = np.flatnonzero(bits[sample, n_marks:])
            lists[sample] = [self.levels[place] for place in held]
        return lists


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
    parts = np.split(bits, ends, axis=1)
    columns = [f.decode(part) for f, part in zip(state, parts, strict=True)]
    for number, fitted in enumerate(state):
        origin = getattr(fitted, "origin", None)
        if isinstance(origin, tuple):
            columns[number] = later(columns[origin[1]], columns[number])
    are_numbers = all(column.dtype.kind == "f" for column in columns)
    values = np.empty((len(bits), len(columns)), dtype=float if are_numbers else object)
    for number, column in enumerate(columns):
        values[:, number] = column
    return values


def later(starts, durations):
    """Add durations to dates; a sum with a missing value is missing."""
    sums = as_objects(np.full(len(starts), np.nan), "date")
    for place, (start, days) in enumerate(zip(starts, durations, strict=True)):
        if not np.isnat(days) and start == start:
            is_scalar = isinstance(start, np.datetime64)
            sums[place] = start + (days if is_scalar else days.item())
    return sums


def as_objects(numbers, kind):
    """Make microseconds dates or durations of numpy, or dates of Python in UTC."""
    make = np.timedelta64 if kind == DURATION else np.datetime64
    objects = np.empty(len(numbers), dtype=object)
    for place, number in enumerate(numbers.tolist()):
        is_gap = number != number
        objects[place] = make("NaT") if is_gap else make(round(number), "us")
        if kind == ZONED and not is_gap:
            objects[place] = objects[place].item().replace(tzinfo=UTC)
    return objects


def choose(dialect, standard, of_sqlite=None):
    """Choose the text of DuckDB and PostgreSQL, or that of SQLite."""
    texts = {"duckdb": standard, "postgresql": standard}
    if of_sqlite is None:
        return dialect.choose(texts, "lists")
    return dialect.choose(texts | {"sqlite": of_sqlite}, "dates and durations")


def in_utc(column, kind):
    """Write a date without its zone in SQL."""
    return f"({column} AT TIME ZONE 'UTC')" if kind == ZONED else column
