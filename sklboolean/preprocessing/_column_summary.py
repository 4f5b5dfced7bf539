"""Summary of a column for the fit of an encoder; summaries of batches add up."""

# Merging is exact for levels, and for numbers up to the error of their sketch. The
# levels of an ordered category must be the same in all batches, in one order.

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np

from sklboolean._core.formulas import shown
from sklboolean._core.partitions import prefix_errors
from sklboolean.preprocessing._frames import BY_TYPE, TAGS
from sklboolean.preprocessing._quantile_sketch import Cells, QuantileSketch
from sklboolean.preprocessing._times import calendar_levels

# Intervals up to which partitions of very many numbers are cut exactly.
MOST_INTERVALS = 2048
KEYED = ("levels", "by_class")
ADDED = True  # in the place of numbers that are those of all labels


@dataclass(frozen=True)
class ColumnSummary:
    """The values of one column with their counts.

    Parameters
    ----------
    name : str or int
        Name of the column, or its number.
    kind : {"boolean", "number", "category", "ordered"} or a key of ``BY_TYPE``
        What its type says.
    n_used : int
        Number of samples with a weight.
    n_samples, n_missing : float
        Sums of the weights of samples, and of those whose value is missing.
    numbers : QuantileSketch or None
        None where there are levels.
    levels : dict or None
        Number of samples of each level; of "ordered" in order, with levels of none.
    is_declared : bool
        Whether the type of the column says that it is a category.
    calendar : dict of frozenset
        Of dates the levels of each unit of the calendar.
    by_class : dict of QuantileSketch or None
        The numbers, or the places of ordered levels, of the samples of each label. None
        without labels of classes.
    special : dict
        Number of samples of each special code, none of which is among the numbers.
    """

    name: object
    kind: str
    n_used: int
    n_samples: float
    n_missing: float
    numbers: QuantileSketch | None
    levels: dict | None
    is_declared: bool
    calendar: dict = field(default_factory=dict)
    by_class: dict | None = None
    special: dict = field(default_factory=dict)

    def __getstate__(self):
        # Pairs, since skops merges keys that are Booleans.
        pairs = {k: d and [*d.items()] for k, d in vars(self).items() if k in KEYED}
        # Those of each label add up to the numbers, which need not be sent then.
        numbers = self.numbers
        is_sum = self.by_class and numbers is not None
        is_sum = is_sum and (numbers.is_complete or not numbers.is_large)
        return vars(self) | pairs | ({"numbers": ADDED} if is_sum else {})

    def __setstate__(self, state):
        keyed = {k: pairs and dict(pairs) for k, pairs in state.items() if k in KEYED}
        vars(self).update(state | keyed)
        if state["numbers"] is ADDED:
            total = reduce(QuantileSketch.merge, self.by_class.values())
            vars(self)["numbers"] = total

    @classmethod
    def of(cls, column, labels, weights, codes=(), cells=None):
        """Summarize the column of one batch.

        Parameters
        ----------
        column : Column
        labels : dict or None
            The samples of each label, bool of shape (n_samples,).
        weights : ndarray of shape (n_samples,), float64
            At least 0.
        codes : list of float or int
            Special codes.
        cells : Cells or None
            What is counted of the numbers. None: each of them.
        """
        labels = labels if cells is None or cells.are_last else None
        missing, special = column.missing(), {}
        known = ~missing & (weights > 0)
        for code in codes:
            is_code = known & (column.numbers == code)
            special[code] = float(weights[is_code].sum())
            known &= ~is_code
        n_used = np.count_nonzero(weights)
        counted = n_used, float(weights.sum()), float(weights[missing].sum())
        numbers = levels = None
        if column.numbers is None:
            levels = Counter()
            for level, count in zip(column.levels, column.counts(weights), strict=True):
                levels[level] += count
            if column.kind != "ordered":
                levels = {level: count for level, count in levels.items() if count}
        values = column.codes if column.kind == "ordered" else column.numbers
        by_class = None if labels is None else {}
        if values is not None:
            labels = labels and {label: has[known] for label, has in labels.items()}
            of_all, by_class = _sketches(values[known], weights[known], labels, cells)
            numbers = None if column.numbers is None else of_all
        calendar = {}
        if column.times is not None:
            calendar = calendar_levels(column.times[weights > 0])
        return cls(
            column.name, column.kind, *counted, numbers, levels, column.is_declared,
            calendar, by_class, special,
        )  # fmt: skip

    def weight_of_one(self):
        """Return the mean weight of a sample if it is below 1, else 1.

        Weights of 1 and more are numbers of copies.
        """
        return min(1.0, self.n_samples / self.n_used)

    def is_empty(self):
        """Test whether no value is known, so that other batches tell the kind.

        Readers of files make a float column of text that a batch lacks.
        """
        return self.n_missing == self.n_samples and self.kind != "ordered"

    def is_constant(self):
        """Test whether all samples have one value, or all are missing."""
        if any(len(levels) > 1 for levels in self.calendar.values()):
            return False
        if self.kind == TAGS:
            return all(count in (0, self.n_samples) for count in self.levels.values())
        if self.numbers is None:
            n_values = sum(count > 0 for count in self.levels.values())
        else:
            n_values = len(self.numbers.values)
            n_values += sum(count > 0 for count in self.special.values())
        return n_values + (self.n_missing > 0) < 2

    def compressed(self, is_recounted):
        """Keep of very many numbers what `merge` keeps, to send it.

        With ``is_recounted`` labels are left out, which later passes count by `Cells`.
        """
        classes = self.by_class
        if is_recounted and self.numbers is not None and self.numbers.is_large:
            classes = None
        if classes is not None:
            classes = {label: of.compressed() for label, of in classes.items()}
        numbers = self.numbers and self.numbers.compressed()
        return replace(self, numbers=numbers, by_class=classes)

    def error(self):
        """Bound the share of samples by which a share below a number may be wrong."""
        n_known = self.n_samples - self.n_missing
        return self.numbers.error / n_known if self.numbers and n_known else 0.0

    def merge(self, other):
        """Sum the summaries of two batches of the column."""
        # A batch without values, or with Booleans only, says less of the type than the
        # other.
        first, last = sorted((self, other), key=_rank_of_type)
        merged = replace(
            first,
            n_used=self.n_used + other.n_used,
            n_samples=self.n_samples + other.n_samples,
            n_missing=self.n_missing + other.n_missing,
            by_class=self._add_classes(other),
            special=self._add_special(other),
        )
        if last.is_empty():
            return merged
        if self.kind != other.kind and {self.kind, other.kind} & {*BY_TYPE}:
            contents = [BY_TYPE.get(s.kind, "numbers or text") for s in (other, self)]
            raise ValueError(
                f"Column {self.name!r} of X holds {contents[0]}, but in another "
                f"batch {contents[1]}. Convert the column in all batches."
            )
        if self.kind in BY_TYPE and self.kind != TAGS:
            seen = {k: self.calendar[k] | other.calendar[k] for k in self.calendar}
            return replace(merged, calendar=seen, **self._add_numbers(other))
        if {self.kind, other.kind} <= {"boolean", "number"}:
            return replace(merged, **self._add_numbers(other))
        if (self.numbers is None) != (other.numbers is None):
            levels = self.levels or other.levels
            raise ValueError(
                f"Column {self.name!r} of X holds {shown(next(iter(levels)))}, but "
                "numbers in another batch. Convert the column in all batches, and give "
                "them all the same kinds."
            )
        return replace(merged, levels=self._add_levels(other))

    @staticmethod
    def merge_all(first, second):
        """Sum the summaries of two batches, column by column."""
        return [one.merge(other) for one, other in zip(first, second, strict=True)]

    def _add_classes(self, other):
        """Merge the sketches of each label; None if one of the batches has none."""
        if self.by_class is None or other.by_class is None:
            return None
        total = dict(self.by_class)
        for label, sketch in other.by_class.items():
            total[label] = total[label].merge(sketch) if label in total else sketch
        return None if None in total.values() else total

    def _add_special(self, other):
        """Sum the counts of special codes, also those of 0."""
        total = Counter(self.special)
        total.update(other.special)
        return dict(total)

    def _add_numbers(self, other):
        """Merge counts of numbers; those that floats would merge become levels."""
        kind = self.kind if self.kind == other.kind else "number"
        if self.numbers is not None and other.numbers is not None:
            numbers = self.numbers.merge(other.numbers)
            if numbers is not None:
                return {"kind": kind, "numbers": numbers}
        # Integers that floats would merge and floats that integers cannot hold: keep
        # both as they are.
        levels = Counter(self._counts())
        levels.update(other._counts())
        return {"kind": kind, "numbers": None, "levels": dict(levels)}

    def _counts(self):
        """Return the number of samples of each value."""
        if self.numbers is None:
            return self.levels
        values, counts = self.numbers.values, self.numbers.counts
        return dict(zip(values.tolist(), counts.tolist(), strict=True))

    def _add_levels(self, other):
        is_ordered = "ordered" in (self.kind, other.kind)
        if is_ordered and [*self.levels] != [*other.levels]:
            raise ValueError(
                f"Column {self.name!r} of X has the ordered levels "
                f"{shown([*other.levels])}, and {shown([*self.levels])} in the batches "
                "before. Give all batches the same ordered type."
            )
        total = Counter(self.levels)
        total.update(other.levels)
        return dict(total)

    def codes_by_presence(self):
        """List the special codes that samples have, and the others."""
        codes = sorted(self.special)
        return {
            "special": tuple(code for code in codes if self.special[code]),
            "unseen_special": tuple(code for code in codes if not self.special[code]),
        }

    def natural_kind(self):
        """Infer the kind; numbers of which all are 0 or 1 are Boolean."""
        has_codes = any(self.special.values())
        if self.kind != "number" or self.numbers is None or has_codes:
            return self.kind
        values = self.numbers.values
        return "boolean" if len(values) and np.isin(values, (0, 1)).all() else "number"


def _sketches(values, weights, labels, cells):
    """Sum up values, and those of each label that has any; None without labels."""
    samples = [slice(None), *(labels or {}).values()]
    of_all, *of_labels = QuantileSketch.of(values, weights, samples, cells)
    pairs = zip(labels or (), of_labels, strict=True)
    by_class = {label: sketch for label, sketch in pairs if len(sketch.values)}
    return of_all, None if labels is None else by_class


def _rank_of_type(summary):
    """Rank summaries by what their values, or else their types, tell of the kind."""
    return summary.is_empty(), summary.numbers is None, summary.kind == "boolean"


def add_partitions(partitions):
    """Sum the summaries of all partitions; their columns must be the same.

    Parameters
    ----------
    partitions : iterable of (int, TableSchema or None, list of ColumnSummary)
        Number, columns and summaries of each partition; None of an empty one.

    Returns
    -------
    schema : TableSchema
    summaries : list of ColumnSummary
    """
    schema, total = None, None
    for number, of_partition, summaries in partitions:
        with prefix_errors(number):
            if schema is None:
                schema, total = of_partition, summaries
            elif of_partition is not None:
                schema.check(of_partition)
                total = ColumnSummary.merge_all(total, summaries)
    if schema is None:
        raise ValueError("All partitions are empty: give at least one sample.")
    return schema, total


def recount(summaries, count, n_intervals):
    """Count columns of very many numbers around their quantiles, in two more passes.

    Parameters
    ----------
    summaries : list of ColumnSummary
        Summaries of all samples.
    count : callable
        Returns the summaries for a dict of `Cells` by name.
    n_intervals : callable
        Returns into how many intervals a column of a name is cut.

    Returns
    -------
    summaries : list of ColumnSummary
    """
    for _ in range(2):
        cells = {}
        for name, numbers in ((s.name, s.numbers) for s in summaries):
            if numbers is None or n_intervals(name) > MOST_INTERVALS:
                continue
            if numbers.is_complete:  # it was counted by cells
                cells[name] = Cells.at_quantiles(numbers, n_intervals(name))
            elif numbers.is_large:
                cells[name] = Cells.between(numbers.values)
        counted = {s.name: s for s in count(cells=cells)} if cells else {}
        pairs = [(s, counted.get(s.name, s)) for s in summaries]
        if any(first.n_samples != again.n_samples for first, again in pairs):
            raise ValueError(
                "Partitions were read again, and held another number of samples. They "
                "must load the same samples every time."
            )
        summaries = [again for _, again in pairs]
    return summaries
