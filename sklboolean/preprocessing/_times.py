"""Dates and durations as numbers, and what the calendar says of dates.

A date is a number of microseconds since the beginning of 1970 in UTC, a duration a
number of days.
"""

# Nanoseconds are rounded up: ``date <= t`` holds for the number exactly if it holds for
# the date, since thresholds t are whole microseconds. The calendar is that of the time
# rounded down.

import math
from datetime import UTC, datetime, timedelta
from graphlib import CycleError, TopologicalSorter

import numpy as np

DAY = 86_400_000_000  # microseconds
WEEKDAYS = (
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
)  # fmt: skip
# The unit of numpy, its number at the beginning of 1970, a Thursday, and the levels.
CALENDAR = {
    "month": ("M", 0, range(1, 13)),
    "weekday": ("D", 3, range(1, 8)),
    "hour": ("h", 0, range(24)),
}
# What 64-bit microseconds hold.
FURTHEST = {"M": ("Y", 290_000, "years from 1970"), "m": ("D", 10**8, "days")}


def read_times(values):
    """Read dates or durations.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Values of dtype datetime64 or timedelta64.

    Returns
    -------
    numbers : ndarray of shape (n_values,), float64
        Microseconds since 1970, or days; NaN for NaT.
    floors : ndarray of shape (n_values,)
        Values of dtype datetime64[us] or timedelta64[us], rounded down.
    """
    kind = values.dtype.kind
    unit, furthest, where = FURTHEST[kind]
    gaps = np.isnat(values)
    distances = np.abs(values.astype(f"{kind}8[{unit}]").astype(np.int64))
    too_far = ~gaps & (distances > furthest)
    if too_far.any():
        raise ValueError(
            f"The value {values[too_far.argmax()]} is beyond {furthest} {where}. "
            "Replace it by a missing value, or by one beyond every threshold."
        )
    floors = values.astype(f"{kind}8[us]")
    if kind == "m":
        numbers = floors / np.timedelta64(DAY, "us")
    else:
        above = floors.astype(np.int64) + (floors.astype(values.dtype) < values)
        numbers = above.astype(np.float64)
        # Far from 1970 a float stands for several microseconds.
        is_below = ~gaps & (numbers.astype(np.int64) < above)
        numbers[is_below] = np.nextafter(numbers[is_below], math.inf)
    numbers[gaps] = np.nan
    return numbers, floors


def spans_of(intervals):
    """Read intervals as durations, unless they hold months, which have no length."""
    values = intervals.to_pylist()
    if any(value and value.months for value in values):
        return np.empty(len(values), dtype=object)
    spans = [v and timedelta(v.days, 0, v.nanoseconds / 1000) for v in values]
    return np.array(spans, dtype="m8[us]")


def read_objects(times):
    """Read dates or durations of Python, pandas or numpy: see `read_times`.

    Returns
    -------
    numbers, floors : ndarrays
    is_zoned : bool
        Whether the dates have time zones.
    """
    zoned = [getattr(time, "tzinfo", None) is not None for time in times]
    if any(zoned) and not all(zoned):
        naive, aware = times[zoned.index(False)], times[zoned.index(True)]
        raise ValueError(
            f"{naive} has no time zone, but {aware} has one. Give all of them one, for "
            "example by pandas.to_datetime(values, utc=True)."
        )
    # Each has a unit of its own, in which others may be out of range.
    read = [read_times(np.array([as_scalar(time)])) for time in times]
    numbers, floors = zip(*read, strict=True)
    return np.concatenate(numbers), np.concatenate(floors), any(zoned)


def as_scalar(time):
    """Make a date, in UTC, or a duration a scalar of numpy."""
    if isinstance(time, np.generic):
        return time
    if hasattr(time, "asm8"):  # of pandas
        return time.asm8
    if getattr(time, "tzinfo", None) is not None:
        time = time.astimezone(UTC).replace(tzinfo=None)
    is_duration = isinstance(time, timedelta)
    return np.timedelta64(time) if is_duration else np.datetime64(time)


def calendar_codes(dates, unit):
    """Number the month, the weekday from Monday on, or the hour; -1 for NaT."""
    of_numpy, first, levels = CALENDAR[unit]
    counted = dates.astype(f"M8[{of_numpy}]").astype(np.int64)
    return np.where(np.isnat(dates), -1, (counted + first) % len(levels))


def calendar_levels(dates):
    """Find the levels of each unit of the calendar that dates have."""
    dates = dates[~np.isnat(dates)]
    return {
        unit: frozenset(
            levels[code]
            for code in np.bincount(calendar_codes(dates, unit)).nonzero()[0]
        )
        for unit, (_, _, levels) in CALENDAR.items()
    }


def date_of(number):
    """Convert microseconds since 1970 to datetime64."""
    return np.datetime64(int(number), "us")


def date_text(number):
    """Write a date: "2024-03-01", with the time of day unless it is midnight."""
    text = str(date_of(number)).replace("T", " ")
    return text.removesuffix(".000000").removesuffix(" 00:00:00")


def round_date_between(low, high):
    """Find a round date in [low, high): where a year begins, a month, a day, ..."""
    first, last = date_of(low), date_of(math.ceil(high) - 1)
    middle = first + (last - first) // 2
    for unit in ("Y", "M", "D", "h", "m", "s", "ms"):
        lowest = first.astype(f"M8[{unit}]")
        lowest += int(lowest < first)
        date = max(middle.astype(f"M8[{unit}]"), lowest)
        if date <= last:
            return float(date.astype("M8[us]").astype(np.int64))
    return low


def check_dates(given, name, parameter="thresholds"):
    """Check dates of a parameter, and sort their numbers."""
    try:
        dates = [datetime.fromisoformat(d) if isinstance(d, str) else d for d in given]
        numbers = np.unique(read_objects(dates)[0])
    except (AttributeError, TypeError, ValueError):
        numbers = np.array([np.nan])
    if not np.isfinite(numbers).all():
        other = ", or the name of another column" * (parameter == "reference")
        raise ValueError(
            f"{parameter}[{name!r}] must hold dates, as text in ISO format or of "
            f"a type of dates{other}; got {given!r}."
        )
    return numbers


def origins_of(reference, names):
    """Find the dates from which others are measured.

    Parameters
    ----------
    reference : dict
        A date, or the name or number of a column, for each name.
    names : list
        Names of all columns.

    Returns
    -------
    origins : dict from name to float or (str, int)
        Microseconds since 1970, or the name and the number of a column.
    """
    origins = {}
    for name, origin in reference.items():
        if isinstance(origin, str | int) and origin in names:
            origins[name] = origin, names.index(origin)
        else:
            [origins[name]] = check_dates([origin], name, "reference").tolist()
    others = {name: o[:1] for name, o in origins.items() if isinstance(o, tuple)}
    try:
        TopologicalSorter(others).prepare()
    except CycleError as error:
        other, name, *_ = error.args[1]
        raise ValueError(
            f"reference measures the column {name!r} from {other!r}, which is itself "
            "measured from it. Measure one of them from a date."
        ) from None
    return origins
