"""Fitted columns of BooleanEncoder: the conditions on one column of a data set.

In each sample the conditions of a column that hold are consecutive. A column reads each
value as the number of such a run, which dense and sparse features are made of.
"""

# The bounds of a number, ``<= t`` for ascending t and then ``> t``, hold in one run:
# with k thresholds below the value, those from number k on hold, and the first k of the
# others. A category has runs of one condition, a missing value that of "is missing",
# and what nothing is known of the empty run. So one integer says everything of a value:
#
# * numbers: 0 to n_thresholds, by the thresholds below; then one for each special code;
#   then missing; then special codes without a condition;
# * ordered levels: the same by rank; then missing; then unseen;
# * levels: 0 for none, 1 and more for each level and rare ones; then missing.
#
# Runs from `missing_run` on are those of no known value. ``runs`` maps a run to the
# first of its conditions and their end. ``conditions`` lists what the conditions say,
# from which names, SQL and C are written.

import re
from bisect import bisect_left
from dataclasses import dataclass, fields
from functools import cached_property
from sys import float_info

import numpy as np

from sklboolean._core.feature_names import NUMBER, NamedCsr
from sklboolean._core.formulas import shown
from sklboolean._core.partitions import in_partitions, metadata_of
from sklboolean._core.sql_code import sql_number
from sklboolean.preprocessing._frames import frame_like
from sklboolean.preprocessing._runs import runs_to_csr
from sklboolean.preprocessing._thresholds import exceeds, number_code, number_text

# Thresholds up to which comparing with each is faster than a search.
MOST_COMPARED = 32
PLAIN_NUMBERS = {int, float, bool}
BOUNDS = "<=", ">"
MISSING = "is", "missing"


class FittedColumn:
    """The conditions on one column, from whose list all texts are written.

    ``conditions`` are pairs of a relation and a number: "<=" and ">" a threshold, "="
    a level or a special code, "" for a Boolean; or "is" and "missing" or "rare". What
    is computed at the first use is not stored in pickles.
    """

    shown_thresholds = np.empty(0)

    def __getstate__(self):
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def n_conditions(self):
        """Number of conditions."""
        return len(self.conditions)

    def order(self):
        """Number the threshold of each condition; -1 for other conditions."""
        places = [k if relation in BOUNDS else -1 for relation, k in self.conditions]
        return np.array(places, dtype=int)

    def names(self, label):
        """Write the conditions on a column with this label."""
        return [
            f"{label} is {k}" if relation == "is" else self.name_of(label, relation, k)
            for relation, k in self.conditions
        ]

    def sql(self, number, column, dialect):
        """Write one of the conditions on a column in a `Dialect` of SQL."""
        relation, k = self.conditions[number]
        if k == "missing":
            return self.sql_missing(column, dialect)
        try:
            return self.sql_of(column, relation, k, dialect)
        except ValueError as error:
            raise ValueError(f"Column {self.name!r}: {error}") from None

    def sql_missing(self, column, _dialect):
        """Write in SQL that a level is missing."""
        return f"{column} IS NULL"

    def c(self, value):
        """Write the conditions on a number in C; NAN is a missing value.

        Of levels it is the place in ``levels``, or behind them in ``rare``.
        """
        return [
            f"isnan({value})" if k == "missing" else self.c_of(value, relation, k)
            for relation, k in self.conditions
        ]


class IndexedColumn(FittedColumn):
    """A column of levels, of which ``index`` holds the runs."""

    def read(self, column):
        """Find the run of each sample, and count the levels that fit did not see."""
        column = column.as_category()
        # Each level is looked up once; the samples take the run of their code. Code -1,
        # a missing value, takes the last entry.
        table = [self.index.get(level, self.unseen_run) for level in column.levels]
        table = np.array([*table, self.missing_run], dtype=np.int32)
        is_unseen = np.array([level not in self.index for level in column.levels], bool)
        return table[column.codes], count_unseen([*self.index], column, is_unseen)

    def run_of(self, value):
        """Find the run of one plain value; None where `read` must look closer."""
        if value is None or value != value:
            return self.missing_run
        return self.index.get(value)


@dataclass(frozen=True)
class NumberColumn(FittedColumn):
    """Conditions ``<= t`` and ``> t`` on numbers; for Booleans only ``> 0.5``.

    Parameters
    ----------
    name : str or int
        Name of the column, or its number, in messages.
    kind : {"number", "boolean", "ordered"}
        What the column holds.
    thresholds : ndarray of shape (n_thresholds,)
        Ascending.
    relations : tuple of {"<=", ">"}
        The conditions for each threshold, in this order.
    representatives : ndarray of shape (n_thresholds + 1,)
        A number in each interval.
    indicates_missing : bool
        Whether the last condition is "is missing".
    insists : bool
        Whether a Boolean may only be 0 or 1. False: it held numbers, of which those
        above 0.5 count as true.
    special, unseen_special : tuple of float or int
        Special codes, which satisfy no bound: those with a condition ``= code``, and
        those that training did not have.
    """

    name: object
    kind: str
    thresholds: np.ndarray
    relations: tuple
    representatives: np.ndarray
    indicates_missing: bool
    insists: bool = True
    special: tuple = ()
    unseen_special: tuple = ()

    @property
    def shown_thresholds(self):
        """The thresholds, of which a Boolean has none."""
        return np.empty(0) if self.kind == "boolean" else self.thresholds

    @cached_property
    def conditions(self):
        """List the conditions in their order."""
        relations = ("",) if self.kind == "boolean" else self.relations
        bounds = [(r, k) for r in relations for k in range(len(self.thresholds))]
        codes = [("=", k) for k in range(len(self.special))]
        return bounds + codes + [MISSING] * self.indicates_missing

    def specials_within(self, relation, k):
        """List the special codes that a bound must leave out."""
        codes, t = self.special + self.unseen_special, self.thresholds[k]
        return [code for code in codes if (code <= t) == (relation == "<=")]

    @property
    def is_one_sided(self):
        """Whether no bound separates the numbers on one side from missing values."""
        return len(self.relations) == 1 and self.kind != "boolean"

    def name_of(self, label, relation, k):
        """Write the condition of threshold or special code k as a name."""
        if self.kind == "boolean":
            return str(label)
        number = self.special[k] if relation == "=" else self.thresholds[k].item()
        return f"{label} {relation} {number_text(number)}"

    def sql_of(self, column, relation, k, dialect):
        """Write the condition of threshold or special code k in SQL.

        Databases that have NaN take it for the largest number; its difference to itself
        is not 0. A float with an exponent is not rounded to the type of a column.
        """
        if self.kind == "boolean" and self.insists:
            return f"{dialect.as_integer(column)} = 1"
        if relation == "=":
            return f"{column} = {_sql_exact(self.special[k])}"
        codes = ", ".join(map(_sql_exact, self.specials_within(relation, k)))
        number = self._sql_float(column, dialect)
        others = f" AND {number} NOT IN ({codes})" if codes else ""
        return self._sql_bound(column, relation, k, dialect) + others

    def _sql_bound(self, column, relation, k, dialect):
        number, t = self._sql_float(column, dialect), self.thresholds[k].item()
        if self.thresholds.dtype.kind != "f":
            return f"{column} {relation} {number_code(t)}"
        if relation == "<=":
            return f"{number} <= {sql_number(t)}"
        return f"{number} > {sql_number(t)} AND {number} - {number} = 0"

    def sql_missing(self, column, dialect):
        """Write in SQL that a number is missing: NULL, or NaN of floats."""
        is_boolean = self.kind == "boolean" and self.insists
        if is_boolean or self.thresholds.dtype.kind != "f":
            return f"{column} IS NULL"
        return sql_gap(column, self._sql_float(column, dialect))

    def _sql_float(self, column, dialect):
        return dialect.as_float(column) if self.kind == "boolean" else column

    def c_of(self, value, relation, k):
        """Write the condition of threshold or special code k in C."""
        self.require_floats("A double of C")
        if relation == "=":
            return f"{value} == {number_code(self.special[k])}"
        bound = f"{value} {relation or '>'} {number_code(self.thresholds[k].item())}"
        codes = self.specials_within(relation, k)
        return " && ".join(
            [bound, *(f"{value} != {number_code(code)}" for code in codes)]
        )

    def require_floats(self, holder):
        """Refuse thresholds on integers beyond 2**53, which floats merge."""
        if self.thresholds.dtype.kind != "f":
            raise ValueError(
                f"{holder} cannot hold the integers of column {self.name!r}, which are "
                "beyond 2**53. Subtract a number from the column, or leave it out."
            )

    @cached_property
    def runs(self):
        """List the first condition and the end of each run.

        With k thresholds below a number the conditions ``<= t`` hold from number k on,
        and the first k conditions ``> t``. Behind these runs are those of special
        codes, the one of missing values and the empty one.
        """
        n = len(self.thresholds)
        if self.relations == ("<=",):
            runs = [(k, n) for k in range(n + 1)]
        elif self.relations == (">",):
            runs = [(0, k) for k in range(n + 1)]
        else:
            runs = [(k, n + k) for k in range(n + 1)]
        last = self.n_conditions
        runs += [(k, k + 1) for k in range(n * len(self.relations), last)]
        return [*runs, (0, 0)] if self.indicates_missing else [*runs, (0, 0), (0, 0)]

    @cached_property
    def missing_run(self):
        """Number of the run of missing values; the next one is of unseen levels."""
        return len(self.thresholds) + 1 + len(self.special)

    @cached_property
    def index(self):
        """The run of each special code; None for those that training did not have."""
        runs = enumerate(self.special, len(self.thresholds) + 1)
        runs = {code: run for run, code in runs}
        return runs | dict.fromkeys(self.unseen_special)

    def read(self, column):
        """Find the run of each sample.

        Returns
        -------
        codes : ndarray of shape (n_samples,)
            Numbers in ``runs``.
        unseen : dict
            Number of samples of each level that was not in the training data.
        """
        numbers, n_thresholds = self.check(column), len(self.thresholds)
        # Comparing with each threshold is a pass without branches, faster than a search
        # if they are few. Numbers of another type are compared exactly.
        same_type = numbers.dtype == self.thresholds.dtype
        if n_thresholds > MOST_COMPARED and same_type:
            codes = np.searchsorted(self.thresholds, numbers, side="left")
        else:
            dtype = np.uint8 if n_thresholds + len(self.special) < 250 else np.int64
            codes = np.zeros(len(numbers), dtype=dtype)
            for t in self.thresholds.tolist():
                codes += exceeds(numbers, t)
        missing, unseen = column.missing(), {}
        for code, run in self.index.items():
            is_code = (numbers == code) & ~missing
            codes[is_code] = self.missing_run + 1 if run is None else run
            if run is None and is_code.any():
                unseen[code] = np.count_nonzero(is_code)
        if missing.any():
            codes[missing] = self.missing_run
        return codes, unseen

    def check(self, column):
        """Return the numbers of a column, or raise a ValueError."""
        if column.is_empty():  # missing values alone have no type
            return np.full(len(column.codes), np.nan)
        if column.numbers is None:
            refuse_level(column, "it held numbers in fit")
        numbers = column.numbers
        if self.kind == "boolean" and self.insists:
            others = numbers[(numbers != 0) & (numbers != 1) & ~column.missing()]
            if len(others):
                raise ValueError(
                    f"Column {self.name!r} of X holds {number_text(others[0])}, "
                    "but it is Boolean, so it may hold only 0 and 1. If it is a "
                    f"number, fit with kinds={{{self.name!r}: 'number'}}."
                )
        return numbers

    def marks(self, codes):
        """Yield for each condition in which samples it holds, from their runs."""
        n_thresholds = len(self.thresholds)
        # Of missing values "<= k" is false without a mask: their run is above all k.
        has_value = codes <= n_thresholds
        has_value = None if has_value.all() else has_value
        for relation in self.relations:
            for k in range(n_thresholds):
                if relation == "<=":
                    yield codes <= k
                else:
                    yield codes > k if has_value is None else (codes > k) & has_value
        for run in range(n_thresholds + 1, self.missing_run + self.indicates_missing):
            yield codes == run

    def run_of(self, value):
        """Find the run of one plain value; None where `read` must look closer."""
        if value is None or value != value:
            return self.missing_run
        largest = float_info.max
        # Integers beyond float64 and infinity are for `read`, which compares exactly or
        # refuses.
        if type(value) not in PLAIN_NUMBERS or not -largest <= value <= largest:
            return None
        if self.kind == "boolean" and self.insists and value not in (0, 1):
            return None
        if value in self.index:
            return self.index[value]
        return bisect_left(self._threshold_list, value)

    @cached_property
    def _threshold_list(self):
        return self.thresholds.tolist()

    def decode(self, bits):
        """Return a number that satisfies the conditions, NaN for missing values."""
        n_thresholds = len(self.thresholds)
        # The number of bounds that hold is the place of the interval.
        first = bits[:, :n_thresholds]
        places = first.sum(axis=1, dtype=np.float64)  # NaN where bits are
        is_known = ~np.isnan(places)
        if self.relations[0] == "<=":
            places = n_thresholds - places
        if len(self.relations) == 2 and n_thresholds:  # neither condition: missing
            is_known &= (first[:, 0] != 0) | (bits[:, n_thresholds] != 0)
        if self.indicates_missing:
            is_known &= bits[:, -1] == 0
        decoded = self.representatives[places[is_known].astype(np.intp)]
        dtype = float if decoded.dtype.kind == "f" else object
        values = np.full(len(bits), np.nan, dtype=dtype)
        values[is_known] = decoded.tolist()
        for number, code in enumerate(self.special, len(self.relations) * n_thresholds):
            values[bits[:, number] == 1] = code
        return values


@dataclass(frozen=True)
class OrderedColumn(IndexedColumn, NumberColumn):
    """Conditions ``<= level`` and ``> level`` on categories that have an order.

    The numbers of thresholds and of representatives are places in ``levels``.

    Parameters
    ----------
    levels : tuple
        All levels of the type in their order, also those without a sample.
    """

    levels: tuple = ()

    def name_of(self, label, relation, k):
        """Write the condition of threshold k as a name."""
        return f"{label} {relation} {level_names(self.levels)[self.thresholds[k]]}"

    def sql_of(self, column, relation, k, dialect):
        """Write the condition of threshold k as a list of levels that satisfy it."""
        end = self.thresholds[k] + 1
        levels = self.levels[:end] if relation == "<=" else self.levels[end:]
        return dialect.is_in(column, levels)

    def c_of(self, value, relation, k):
        """Write the condition of threshold k on the place of a level in C."""
        return f"{value} >= 0 && {value} {relation} {self.thresholds[k]}"

    @property
    def unseen_run(self):
        """Number of the run of levels that training did not have."""
        return self.missing_run + 1

    @cached_property
    def index(self):
        """The run of each level."""
        below = np.searchsorted(self.thresholds, np.arange(len(self.levels)))
        return dict(zip(self.levels, below.tolist(), strict=True))

    def decode(self, bits):
        """Return a level that satisfies the conditions, None for missing values."""
        places = super().decode(bits).astype(float)
        table = np.array([*self.levels, None], dtype=object)
        return table[np.where(np.isnan(places), -1, places).astype(np.intp)]


@dataclass(frozen=True)
class LevelColumn(IndexedColumn):
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
    is_one_sided = False

    @cached_property
    def conditions(self):
        """List the conditions in their order."""
        conditions = [("=", k) for k in range(len(self.levels))]
        conditions += [("is", "rare")] * bool(self.rare)
        return conditions + [MISSING] * self.indicates_missing

    def name_of(self, label, _relation, k):
        """Write the condition of level k as a name."""
        return f"{label} = {level_text(self.levels[k])}"

    def sql_of(self, column, relation, k, dialect):
        """Write the condition of level k, or of rare levels, in SQL."""
        if relation == "=":
            return dialect.is_in(column, self.levels[k : k + 1])
        if self.handle_unknown != "infrequent_if_exist":
            return dialect.is_in(column, self.rare)
        tests = [f"{column} - {column} = 0"] * self._are_floats
        tests += [dialect.is_in(column, self.levels, "NOT IN")] * bool(self.levels)
        return " AND ".join(tests) or f"{column} IS NOT NULL"

    def sql_missing(self, column, dialect):
        """Write in SQL that a level is missing: NULL, or NaN of floats."""
        if self._are_floats:
            return sql_gap(column, column)
        return super().sql_missing(column, dialect)

    @property
    def _are_floats(self):
        return any(isinstance(level, float) for level in (*self.levels, *self.rare))

    def c_of(self, value, relation, k):
        """Write the condition of level k, or of rare levels, in C."""
        if relation == "=":
            return f"{value} == {k}"
        n_levels = len(self.levels)
        if self.handle_unknown != "infrequent_if_exist":
            return f"{value} >= {n_levels} && {value} < {n_levels + len(self.rare)}"
        tests = [f"{value} == {level}" for level in range(n_levels)]
        return f"!isnan({value}) && !({' || '.join(tests) or '0'})"

    @cached_property
    def runs(self):
        """List the empty run and those of one condition each; the last of no value."""
        runs = [(0, 0), *((j, j + 1) for j in range(self.n_conditions))]
        return runs if self.indicates_missing else [*runs, (0, 0)]

    @cached_property
    def index(self):
        """The run of each level."""
        index = {level: j for j, level in enumerate(self.levels, start=1)}
        return index | dict.fromkeys(self.rare, len(self.levels) + 1)

    @cached_property
    def missing_run(self):
        """Number of the run of missing values."""
        return len(self.levels) + bool(self.rare) + 1

    @property
    def unseen_run(self):
        """Number of the run of levels that training did not have."""
        counts_as_rare = self.rare and self.handle_unknown == "infrequent_if_exist"
        return len(self.levels) + 1 if counts_as_rare else 0

    def read(self, column):
        """Find the run of each sample; levels that count as rare are not unseen."""
        codes, unseen = super().read(column)
        return codes, {} if self.unseen_run else unseen

    def marks(self, codes):
        """Yield for each condition in which samples it holds, from their runs."""
        # Comparing small integers is several times as fast.
        # Run j holds condition j - 1 and no other.
        codes = codes.astype(np.int16) if self.n_conditions < 2**15 else codes
        for j in range(1, self.n_conditions + 1):
            yield codes == j

    def decode(self, bits):
        """Return the level of each sample, None where it is missing or unknown.

        Rare levels become the most frequent of them.
        """
        levels = [*self.levels, *self.rare[:1], *[None] * (1 + self.indicates_missing)]
        table = np.fromiter(levels, dtype=object, count=len(levels))
        # The first condition that holds names the level; none means missing or unknown.
        bits = np.nan_to_num(bits) != 0
        places = np.full(len(bits), len(levels) - 1)
        if bits.shape[1]:
            places = np.where(bits.any(axis=1), bits.argmax(axis=1), places)
        return table[places]


@dataclass(frozen=True)
class UnknownColumn(LevelColumn):
    """A column of which nothing is known: at most "is missing" is a condition.

    It had no value in fit, or a level for nearly each sample. It takes any value.
    """

    shown_kind = "unknown"

    def read(self, column):
        """Find the run of each sample; no level is unseen."""
        return np.where(column.missing(), self.missing_run, 0), {}

    def run_of(self, value):
        """Find the run of one plain value."""
        return self.missing_run if value is None or value != value else 0


def _sql_exact(number):
    return number_code(number) if isinstance(number, int) else sql_number(number)


def sql_gap(column, number):
    """Write in SQL that a column is NULL, or its number NaN."""
    return f"({column} IS NULL OR {number} - {number} <> 0)"


def refuse_level(column, but):
    """Raise a ValueError for a column of levels where numbers are needed."""
    level = next(iter(column.levels))
    if column.kind == "number":
        raise ValueError(
            f"Column {column.name!r} of X holds {shown(level)} and others that a float "
            "cannot tell apart. Round them, or, if they name something, set "
            f"kinds={{{column.name!r}: 'category'}}."
        )
    raise ValueError(
        f"Column {column.name!r} of X holds {shown(level)}, but {but}. Convert it to "
        "numbers, or fit again."
    )


def count_unseen(known, column, is_unseen):
    """Count the samples of each unseen level; another type of levels is an error."""
    unseen = np.flatnonzero(is_unseen)
    if not len(unseen):
        return {}
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(is_unseen))
    unseen = {column.levels[j]: int(counts[j]) for j in unseen if counts[j]}
    is_text = isinstance(known[0], str) if known else None
    for level in unseen:
        if known and isinstance(level, str) != is_text:
            kinds = ("text", "numbers") if is_text else ("numbers", "text")
            raise ValueError(
                f"Column {column.name!r} of X holds {level!r}; in fit its levels "
                f"were {kinds[0]}, now they are {kinds[1]}. Convert the column."
            )
    return unseen


def level_text(level):
    """Write a level, numbers without a superfluous point, as valid Unicode."""
    text = number_text(level) if isinstance(level, float) else str(level)
    return text.encode(errors="backslashreplace").decode()


def level_names(levels):
    """Write ordered levels; those that read as numbers of another order in quotes.

    Bounds in the names of features are merged by their numbers.
    """
    texts = [level_text(level) for level in levels]
    numbers = [text for text in texts if re.fullmatch(NUMBER, text)]
    if numbers and (len(numbers) < len(texts) or numbers != sorted(numbers, key=float)):
        return [repr(text) for text in texts]
    return texts


def conditions_of_one(state, codes, *, propagates):
    """Mark the conditions of one sample from its runs; NaN where a value is missing."""
    # A byte for each condition, 2 where it is NaN. Joining bytes is faster than writing
    # into an array.
    cells = bytearray()
    for fitted, code in zip(state, codes, strict=True):
        n_conditions = fitted.n_conditions
        if propagates and code >= fitted.missing_run:
            cells += b"\2" * n_conditions
        else:
            first, end = fitted.runs[code]
            cells += bytes(first) + b"\1" * (end - first)
            cells += bytes(n_conditions - end)
    features = np.frombuffer(cells, dtype=np.uint8)
    if propagates:
        return np.where(features == 2, np.float32(np.nan), features)
    return features.view(bool)


def no_features_like(X, names, missing):
    """Make features of no samples, like a collection of Dask or an empty partition."""
    dtype = np.float32 if missing == "propagate" else bool
    features = np.empty((0, len(names)), dtype=dtype)
    if not hasattr(X, "columns"):
        return features
    return frame_like(metadata_of(X) if in_partitions(X) else X, features, names)


def sparse_conditions(state, codes, names):
    """Write the conditions that hold, sample by sample, as consecutive columns."""
    # The runs of all columns in one list, with their places in the output.
    firsts, lengths, starts, n_out = [], [], [0], 0
    for fitted in state:
        firsts += [n_out + first for first, _ in fitted.runs]
        lengths += [end - first for first, end in fitted.runs]
        starts.append(len(firsts))
        n_out += fitted.n_conditions
    codes = np.array(codes, dtype=np.int32)
    firsts, lengths = np.array([firsts, lengths], dtype=np.int32)
    starts = np.array(starts, dtype=np.int64)
    indptr, indices = runs_to_csr(codes, starts, firsts, lengths, n_out, np.empty)
    data = np.ones(len(indices), dtype=bool)
    features = NamedCsr((data, indices, indptr), (codes.shape[1], n_out))
    features.feature_names = np.array(names, dtype=object)
    return features
