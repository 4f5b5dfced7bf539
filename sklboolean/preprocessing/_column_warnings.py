"""Warnings of columns and values that may be mistakes, and what they say."""

import re

import numpy as np

from sklboolean._core.formulas import shown
from sklboolean._core.validation import warn_user
from sklboolean.preprocessing._derived_columns import TagsColumn
from sklboolean.preprocessing._encoded_columns import UnknownColumn
from sklboolean.preprocessing._thresholds import MIN_SAMPLES_LEAF

NUMBER = re.compile(r"[-+]?(\d[\d.,]*|[.,]\d+)(e[-+]?\d+)?%?", re.IGNORECASE)
CODE = re.compile(r"0\d")  # as in postcodes
DATE_TEXT = re.compile(r"(\d{4}([-/.]\d\d?){2}|(\d\d?[-/.]){2}\d{4})([ T].*)?")
# What text may be, the least number of levels that tell, and what converts it.
WRITTEN_TYPES = (
    (DATE_TEXT, 3, "dates", "to_datetime"),
    (NUMBER, 11, "numbers", "to_numeric"),
)
MANY_LEVELS, MOST_NAMED = 400, 20
LEFT_OUT = {
    UnknownColumn: f"no level has {MIN_SAMPLES_LEAF} samples, so identifiers and free "
    "text are left out. Turn text into words, for example by CountVectorizer, or set "
    "kinds to 'category' to keep all levels.",
    TagsColumn: "all tags are rare, so they are left out. Set min_frequency=1 to keep "
    "them.",
}


def check_features(names, summaries, strategy):
    """Refuse columns of which no condition is left."""
    if not names:
        raise ValueError(
            f"X gives no features: with n_samples = {summaries[0].n_used} all "
            f"its columns are constant or hold rare levels only, or strategy="
            f"{strategy!r} finds no thresholds. Pass thresholds, or other columns, or "
            "set kinds to 'category' or min_frequency to keep rare levels."
        )


def warn_of_columns(summaries, state, fitter):
    """Warn of levels that may be mistakes, and of columns that tell nothing."""
    for summary, fitted in zip(summaries, state, strict=True):
        is_category = fitted.kind == "category" and summary.levels
        if is_category and summary.name not in fitter.kinds:
            warn_of_levels(summary, fitted)
    starts = (start for start in fitter.origins.values() if isinstance(start, tuple))
    used = {*fitter.thresholds, *(name for name, _ in starts)}
    warn_of_constant([s for s in summaries if s.name not in used])
    warn_of_left_out(summaries, state)


def warn_of_levels(summary, fitted):
    """Warn of levels that may be mistakes."""
    where = f"Column {summary.name!r} of X"
    option = f"kinds={{{summary.name!r}: 'category'}}"
    keep = f"Set {option} to keep it without this warning."
    n_known, n_kept = sum(summary.levels.values()), len(fitted.levels)
    levels = [level for level, count in summary.levels.items() if count]
    alike = levels_alike(levels)
    if alike:
        others = f" (and {len(alike) - 1} more pairs)" if len(alike) > 1 else ""
        warn_user(
            f"{where} holds {alike[0][0]!r} and {alike[0][1]!r}{others}, which differ "
            "only in blanks or in case, so each is a category. Make them one, for "
            f"example by .str.strip().str.lower(). {keep}"
        )
    text = what_text_is(summary)
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


def what_text_is(summary):
    """Say of which type nearly all levels are, written as text; None: of no other."""
    levels = [level for level, count in summary.levels.items() if count]
    if summary.is_declared:
        return None
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


def warn_of_constant(summaries):
    """Name the columns of one value."""
    constant = [s.name for s in summaries if s.is_constant() and s.n_used > 1]
    if constant:
        is_one = len(constant) == 1
        has, tells, it = (
            ("has", "it tells", "it") if is_one else ("have", "they tell", "them")
        )
        warn_user(
            f"{_listed(constant)} of X {has} the same value in all samples, so {tells} "
            f"nothing. Leave {it} out.",
            in_folds=False,
        )


def warn_of_left_out(summaries, state):
    """Name the columns of a level for nearly each sample, and those of rare tags."""
    for kind, message in LEFT_OUT.items():
        left_out = [
            summary.name
            for summary, fitted in zip(summaries, state, strict=True)
            if isinstance(fitted, kind)
            and summary.levels
            and not fitted.levels
            and (kind is TagsColumn or not what_text_is(summary))
        ]
        if left_out:
            warn_user(f"{_listed(left_out)} of X: {message}", in_folds=False)


def _listed(names):
    """Begin a sentence about columns."""
    others = f" and {len(names) - MOST_NAMED} more" * (len(names) > MOST_NAMED)
    listed = ", ".join(map(repr, names[:MOST_NAMED]))
    return f"Column{'s' * (len(names) > 1)} {listed}{others}"


def messages_of_new_values(fitted, column, unseen, *, refuses, propagates):
    """Say what values a column has that fit did not see, if that matters to it."""
    messages, missing = {}, column.missing()
    # New missing values of a category may pass: no level is what they have.
    matters = refuses or fitted.kind != "category"
    is_new = not (propagates or fitted.indicates_missing) and missing.any()
    if matters and is_new:
        messages["missing"] = missing_message(fitted, missing)
    if unseen:
        messages["unseen"] = unseen_message(fitted, unseen, len(missing))
    return messages


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
    level, fitted_levels = next(iter(unseen)), [*fitted.index]
    alike = levels_alike([*fitted_levels, level])
    alike = [pair for pair in alike if pair[1] is level]
    hint = f", but in blanks or case, {alike[0][0]!r}" if alike else ""
    is_code = fitted.kind == "number"
    others = f" and {len(unseen) - 1} more {'codes' if is_code else 'levels'}"
    what = "a special code that no sample had" if is_code else "not among its levels"
    option = "complement=True" if fitted.is_one_sided else "handle_unknown"
    return (
        f"Column {fitted.name!r} of X holds {shown(level)}{others * (len(unseen) > 1)} "
        f"in {sum(unseen.values())} of {n_samples} samples, which is {what} in "
        f"fit{hint}. Add such samples to the training data, correct them, or set "
        f"{option}."
    )


def levels_alike(levels):
    """List the pairs of texts that differ only in blanks or in case."""
    # The first level of each plain text, and all that are like it.
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
