"""Fitted columns of BooleanEncoder: the conditions on one column of a data set."""

from dataclasses import dataclass

import numpy as np

from sklboolean._core.c_code import c_string, check_prefix
from sklboolean._core.formulas import sql_name, sql_value
from sklboolean._core.validation import warn_user
from sklboolean.preprocessing._thresholds import number_text

UNSEEN, MISSING = -1, -2
# Thresholds up to which comparing with each is faster than a search.
MOST_COMPARED = 32


@dataclass(frozen=True)
class NumberColumn:
    """Conditions ``<= t`` and ``> t`` on numbers; for Booleans only ``> 0.5``.

    Parameters
    ----------
    name : str or int
        Name of the column, or its number, in messages.
    kind : {"number", "boolean"}
        What the column holds.
    thresholds : ndarray of shape (n_thresholds,)
        Ascending.
    relations : tuple of {"<=", ">"}
        The conditions for each threshold, in this order.
    representatives : ndarray of shape (n_thresholds + 1,)
        A number in each interval.
    indicates_missing : bool
        Whether the last condition is "is missing".
    """

    name: object
    kind: str
    thresholds: np.ndarray
    relations: tuple
    representatives: np.ndarray
    indicates_missing: bool

    @property
    def n_conditions(self):
        """Number of conditions."""
        n_bounds = len(self.thresholds) * len(self.relations)
        return n_bounds + self.indicates_missing

    def names(self, label):
        """Write the conditions on a column with this label."""
        bounds = [
            f"{label} {relation} {number_text(t)}"
            for relation in self.relations
            for t in self.thresholds
        ]
        bounds = [str(label)] if self.kind == "boolean" else bounds
        return bounds + [f"{label} is missing"] * self.indicates_missing

    def sql(self, label):
        """Write the conditions on a column with this label as SQL."""
        name = sql_name(label)
        tests = [
            f"{name} {relation} {float(t)!r}"
            for relation in self.relations
            for t in self.thresholds
        ]
        tests = [f"CAST({name} AS INTEGER) = 1"] if self.kind == "boolean" else tests
        return tests + [f"{name} IS NULL"] * self.indicates_missing

    def c(self, value):
        """Write the conditions on a number in C; NAN is a missing value."""
        tests = [
            f"{value} {relation} {float(t)!r}"
            for relation in self.relations
            for t in self.thresholds
        ]
        return tests + [f"isnan({value})"] * self.indicates_missing

    def order(self):
        """Number the threshold of each condition; -1 for other conditions."""
        places = np.full(self.n_conditions, -1)
        if self.kind == "number":
            numbers = np.tile(np.arange(len(self.thresholds)), len(self.relations))
            places[: len(numbers)] = numbers
        return places

    def conditions(self, column):
        """Yield for each condition in which samples it holds."""
        numbers = self.check(column)
        for relation in self.relations:
            for t in self.thresholds:
                yield numbers <= t if relation == "<=" else numbers > t
        if self.indicates_missing:
            yield np.isnan(numbers)

    def check(self, column):
        """Return the numbers of a column, or raise a ValueError."""
        place = f"Column {self.name!r} of X"
        if column.numbers is None:
            # Missing values alone have no type.
            if column.levels:
                raise ValueError(
                    f"{place} holds {column.levels[0]!r}, but it held numbers in fit. "
                    "Convert it to numbers, or fit again."
                )
            return np.full(len(column.codes), np.nan)
        numbers = column.numbers
        if self.kind == "boolean":
            odd = (numbers != 0) & (numbers != 1) & (numbers == numbers)
            if odd.any():
                raise ValueError(
                    f"{place} holds {number_text(numbers[odd][0])}, but it held only 0 "
                    f"and 1 in fit. If it is a number, fit with kinds={{{self.name!r}: "
                    "'number'}."
                )
        return numbers

    def runs(self, column):
        """Find the conditions that hold in each sample: they are consecutive.

        With k thresholds below a number the conditions ``<= t`` hold from number k on,
        and the first k conditions ``> t`` hold.

        Returns
        -------
        codes : ndarray of shape (n_samples,)
            The run of each sample.
        first, length : ndarray of shape (n_runs,)
            The first condition of each run, and how many there are.
        """
        numbers, n_thresholds = self.check(column), len(self.thresholds)
        if n_thresholds <= MOST_COMPARED:
            codes = np.zeros(len(numbers), dtype=np.uint8)
            for t in self.thresholds:
                codes += numbers > t
        else:
            codes = np.searchsorted(self.thresholds, numbers, side="left")
        missing = np.isnan(numbers)
        if missing.any():
            codes[missing] = n_thresholds + 1
        below = np.arange(n_thresholds + 1)
        if self.relations == ("<=",):
            first, length = below, n_thresholds - below
        elif self.relations == (">",):
            first, length = np.zeros_like(below), below
        else:
            first, length = below, np.full_like(below, n_thresholds)
        indicated = self.n_conditions - 1 if self.indicates_missing else 0
        return codes, [*first, indicated], [*length, int(self.indicates_missing)]

    def check_missing(self, missing, handle_unknown):
        """Refuse missing values that no condition stands for, or warn of them."""
        if self.indicates_missing or not missing.any():
            return
        where = (
            f"Column {self.name!r} of X is missing in sample "
            f"{np.flatnonzero(missing)[0]}, but it was never missing in fit."
        )
        remedy = (
            "Fit on data in which it is missing too, or impute it, for example with "
            "DensityImputer."
        )
        # Of bounds on one side all are false for the largest numbers, too.
        if handle_unknown == "error" or len(self.relations) == 1:
            raise ValueError(f"{where} {remedy}")
        warn_user(f"{where} None of its conditions holds there. {remedy}")

    def decode(self, bits):
        """Return a number that satisfies the conditions, NaN for missing values."""
        n_thresholds = len(self.thresholds)
        first = bits[:, :n_thresholds]
        places = first.sum(axis=1, dtype=np.float64)  # NaN where bits are
        is_known = ~np.isnan(places)
        if self.relations[0] == "<=":
            places = n_thresholds - places
        if len(self.relations) == 2 and n_thresholds:  # neither condition: missing
            is_known &= (first[:, 0] != 0) | (bits[:, n_thresholds] != 0)
        if self.indicates_missing:
            is_known &= bits[:, -1] == 0
        values = np.full(len(bits), np.nan)
        values[is_known] = self.representatives[places[is_known].astype(np.intp)]
        return values


@dataclass(frozen=True)
class LevelColumn:
    """Conditions ``= level``, one for each level, and "is rare" for rare levels.

    Parameters
    ----------
    name : str or int
        Name of the column, or its number, in messages.
    levels : tuple
        Levels with a condition of their own, sorted.
    rare : tuple
        Levels that share a condition, most frequent first.
    handle_unknown : {"ignore", "error", "infrequent_if_exist"}
        What to do with other levels.
    indicates_missing : bool
        Whether the last condition is "is missing".
    """

    name: object
    levels: tuple
    rare: tuple
    handle_unknown: str
    indicates_missing: bool
    kind = "category"

    @property
    def n_conditions(self):
        """Number of conditions."""
        return len(self.levels) + bool(self.rare) + self.indicates_missing

    def names(self, label):
        """Write the conditions on a column with this label."""
        names = [f"{label} = {level_text(level)}" for level in self.levels]
        names += [f"{label} is rare"] * bool(self.rare)
        return names + [f"{label} is missing"] * self.indicates_missing

    def sql(self, label):
        """Write the conditions on a column with this label as SQL."""
        name = sql_name(label)
        tests = [f"{name} = {sql_value(level)}" for level in self.levels]
        if self.rare:
            known, word = self.rare, "IN"
            if self.handle_unknown == "infrequent_if_exist":
                known, word = self.levels, "NOT IN"
            known = ", ".join(map(sql_value, known))
            tests.append(f"{name} {word} ({known})" if known else f"{name} IS NOT NULL")
        return tests + [f"{name} IS NULL"] * self.indicates_missing

    def c(self, value):
        """Write the conditions on the number of a level in C; NAN is a missing value.

        The numbers are places in ``levels`` and then in ``rare``.
        """
        n_levels = len(self.levels)
        tests = [f"{value} == {code}" for code in range(n_levels)]
        if self.rare:
            is_rare = f"{value} >= {n_levels} && {value} < {n_levels + len(self.rare)}"
            if self.handle_unknown == "infrequent_if_exist":
                is_rare = f"!isnan({value}) && !({' || '.join(tests) or '0'})"
            tests.append(is_rare)
        return tests + [f"isnan({value})"] * self.indicates_missing

    def order(self):
        """Return -1 for each condition: levels have no order."""
        return np.full(self.n_conditions, -1)

    def numbers_of(self, column):
        """Find the number of the condition that holds in each sample.

        UNSEEN where none holds, because the level was not in the training data.
        """
        column = column.as_category()
        index = {level: j for j, level in enumerate(self.levels)}
        index |= dict.fromkeys(self.rare, len(self.levels))
        table = [index.get(level, UNSEEN) for level in column.levels]
        table = np.array([*table, MISSING], dtype=np.int32)
        if UNSEEN in table:
            self._check_unseen(column, table)
            if self.rare and self.handle_unknown == "infrequent_if_exist":
                table[table == UNSEEN] = len(self.levels)
        table[-1] = self.n_conditions - 1 if self.indicates_missing else MISSING
        return table[column.codes]

    def _check_unseen(self, column, table):
        known = [*self.levels, *self.rare]
        is_text = isinstance(known[0], str) if known else None
        unseen = [
            column.levels[code]
            for code in np.unique(column.codes)
            if code >= 0 and table[code] == UNSEEN
        ]
        for level in unseen:
            if known and isinstance(level, str) != is_text:
                kinds = ("text", "numbers") if is_text else ("numbers", "text")
                raise ValueError(
                    f"Column {self.name!r} of X holds {level!r}; in fit its levels "
                    f"were {kinds[0]}, now they are {kinds[1]}. Convert the column."
                )
        if unseen and self.handle_unknown == "error":
            raise ValueError(
                f"Column {self.name!r} of X holds {unseen[0]!r}, which is not among "
                "its levels in fit. Add such samples to the training data, or set "
                "handle_unknown='ignore'."
            )

    def check_missing(self, missing, _handle_unknown):
        """Raise a ValueError for missing values that no condition stands for."""
        refused = self.handle_unknown == "error" and not self.indicates_missing
        if refused and missing.any():
            raise ValueError(
                f"Column {self.name!r} of X is missing in sample "
                f"{np.flatnonzero(missing)[0]}, but it was never missing in fit. "
                "Impute it, or set handle_unknown='ignore'."
            )

    def conditions(self, column):
        """Yield for each condition in which samples it holds."""
        numbers = self.numbers_of(column)
        # Comparing small integers is several times as fast.
        numbers = numbers.astype(np.int16) if self.n_conditions < 2**15 else numbers
        for j in range(self.n_conditions):
            yield numbers == j

    def runs(self, column):
        """Find the condition that holds in each sample, as for numbers."""
        # The first run is for levels without a condition.
        codes = np.maximum(self.numbers_of(column), -1) + 1
        return codes, [0, *range(self.n_conditions)], [0] + [1] * self.n_conditions

    def decode(self, bits):
        """Return the level of each sample, None where it is missing or unknown.

        Rare levels become the most frequent of them.
        """
        levels = [*self.levels, *self.rare[:1], *[None] * (1 + self.indicates_missing)]
        table = np.fromiter(levels, dtype=object, count=len(levels))
        bits = np.nan_to_num(bits) != 0
        places = np.full(len(bits), len(levels) - 1)
        if bits.shape[1]:
            places = np.where(bits.any(axis=1), bits.argmax(axis=1), places)
        return table[places]


def level_text(level):
    """Write a level, numbers without a superfluous point."""
    return number_text(level) if isinstance(level, float) else str(level)


def encoder_code(columns, prefix):
    """Write fitted columns as a function in C: see ``BooleanEncoder.to_c``."""
    check_prefix(prefix)
    about, arrays, lines = [], [], []
    for place, fitted in enumerate(columns):
        what = "a number"
        if isinstance(fitted, LevelColumn):
            name = f"{prefix}levels_{place}"
            levels = [c_string(level_text(one)) for one in fitted.levels + fitted.rare]
            arrays.append(f"const char *const {name}[] = {{{', '.join(levels) or 0}}};")
            what = f"a place in {name}"
        about.append(f"row[{place}]: {what}.")
        for test in fitted.c(f"row[{place}]"):
            lines.append(f"    x[{len(lines)}] = {test};")
    head = f"/* {' '.join(about)} */"
    function = f"void {prefix}encode(const double *row, unsigned char *x) {{"
    return "\n".join(["#include <math.h>\n", *arrays, head, function, *lines, "}\n"])
