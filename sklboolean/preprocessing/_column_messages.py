"""What fitting and encoding tell the user of columns that are not as they should be."""

import re

import numpy as np

from sklboolean._core.formulas import shown
from sklboolean._core.validation import warn_user

NUMBER = re.compile(r"[-+]?(\d[\d.,]*|[.,]\d+)(e[-+]?\d+)?%?", re.IGNORECASE)
CODE = re.compile(r"0\d")  # as in postcodes
MANY_LEVELS = 400
MOST_NAMED = 20


def warn_of_levels(summary, fitted):
    """Warn of levels that may be mistakes."""
    place = f"Column {summary.name!r} of X"
    option = f"kinds={{{summary.name!r}: 'category'}}"
    keep = f"Set {option} to keep it without this warning."
    n_known, n_kept = sum(summary.levels.values()), len(fitted.levels)
    levels = [*fitted.levels, *fitted.rare]
    alike = levels_alike(levels)
    if alike:
        others = f" (and {len(alike) - 1} more pairs)" if len(alike) > 1 else ""
        warn_user(
            f"{place} holds {alike[0][0]!r} and {alike[0][1]!r}{others}, which differ "
            "only in blanks or in case, so each is a category. Make them one, for "
            f"example by .str.strip().str.lower(). {keep}"
        )
    others = [level for level in levels if not NUMBER.fullmatch(str(level))]
    if (
        len(levels) > 10
        and len(others) <= 0.1 * len(levels)
        and not any(CODE.match(str(level)) for level in levels)
        and not summary.is_declared
    ):
        but = f" except values such as {others[0]!r}" if others else ""
        warn_user(
            f"{place} holds numbers as text{but}, so each of them becomes a category. "
            f"Convert the column to numbers. {keep}"
        )
    elif n_kept > 30 and n_known < 4 * n_kept and not summary.is_declared:
        warn_user(
            f"Most categories of column {summary.name!r} of X occur in few samples. "
            "Leave the column out, convert dates to numbers, or set max_categories or "
            f"min_frequency. {keep}"
        )
    elif n_kept > MANY_LEVELS:
        warn_user(
            f"{place} has {n_kept} categories, and each becomes a feature. Set "
            f"max_categories or min_frequency to share one among the rare ones. {keep}"
        )


def levels_alike(levels):
    """List the pairs of texts that differ only in blanks or in case."""
    first, pairs = {}, []
    for level in levels:
        if isinstance(level, str):
            other = first.setdefault(plain_text(level), level)
            if other is not level:
                pairs.append((other, level))
    return pairs


def plain_text(level):
    """Write a text without superfluous blanks and without case."""
    return " ".join(level.split()).casefold()


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


def missing_message(fitted, missing):
    """Say that values are missing for which there is no condition."""
    rows = np.flatnonzero(missing)
    return (
        f"Column {fitted.name!r} of X is missing in sample {rows[0]}, and in "
        f"{len(rows)} of {len(missing)} samples, but it was never missing in fit. Fit "
        "on data in which it is missing too, or impute it, for example with "
        "DensityImputer."
    )


def unseen_message(fitted, unseen, n_samples):
    """Say that levels are new, and which known level the first one resembles."""
    level, known = next(iter(unseen)), [*fitted.index]
    alike = levels_alike([*known, level])
    alike = [pair for pair in alike if pair[1] is level]
    hint = f", but in blanks or case, {alike[0][0]!r}" if alike else ""
    others = f" and {len(unseen) - 1} more levels" if len(unseen) > 1 else ""
    return (
        f"Column {fitted.name!r} of X holds {shown(level)}{others} in "
        f"{sum(unseen.values())} of {n_samples} samples, which is not among its levels "
        f"in fit{hint}. Add such samples to the training data, correct them, or set "
        "handle_unknown."
    )
