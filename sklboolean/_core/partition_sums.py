"""Sums over samples in several places: parameters go out, and sums come back."""

import itertools
import os
from functools import reduce

from sklearn.utils.parallel import delayed

_FITS = itertools.count()
# What this process keeps of partitions, by fit, partition and use.
_KEPT = {}


class PartitionSums:
    """Tasks of joblib for all partitions of a fit, whose results are added up.

    Parameters
    ----------
    parallel : joblib.Parallel
    sources : list of tuples
        From `open_partitions`.

    Attributes
    ----------
    numbers : sequence of int
        The partitions that have tasks. At first all.
    """

    def __init__(self, parallel, sources):
        self._parallel, self._sources = parallel, sources
        self._key = os.getpid(), os.urandom(8), next(_FITS)
        self.numbers = range(len(sources))

    def map(self, task, *arguments):
        """Return ``task((fit, number), source, *arguments)`` of each partition.

        A task may run in any process, so all that it needs is among its arguments.
        """
        return self._parallel(
            delayed(task)((self._key, number), self._sources[number], *arguments)
            for number in self.numbers
        )

    def add_up(self, task, *arguments):
        """Add up the results, in the order of the partitions wherever tasks run."""
        return reduce(add, self.map(task, *arguments))

    def forget(self):
        """Drop what this process keeps for the fit."""
        for place in [place for place in list(_KEPT) if place[0] == self._key]:
            _KEPT.pop(place, None)


def kept(place, make):
    """Look up an object that this process keeps at a place, or make it first.

    Parameters
    ----------
    place : tuple
        Begins with the name of the fit, and the number of the partition. What was kept
        for other fits is dropped.
    make : callable
    """
    if place not in _KEPT:
        made = make()
        for other in [other for other in list(_KEPT) if other[0] != place[0]]:
            _KEPT.pop(other, None)
        _KEPT[place] = made
    return _KEPT[place]


def kept_last(place, name, make):
    """Look up an object of some name, of which this process keeps the last; or make it.

    ``place`` is as for `kept`.
    """
    last = kept(place, dict)
    if name not in last:
        last.clear()  # its memory
        last[name] = make()
    return last[name]


def add(first, second):
    """Add numbers and arrays, in tuples and lists too; None stays None."""
    if first is None:
        return None
    if isinstance(first, tuple | list):
        parts = list(map(add, first, second))
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    return first + second
