"""Tasks of a search for conjunctions: scores, samples and limits."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

# Conjunctions of one length that a search holds in memory at a time.
BLOCK = 2**19


@dataclass(frozen=True)
class SearchTask:
    """Task of a search: the conjunctions of the largest scores.

    The score of a conjunction is its weight times the factor of its length.

    Attributes
    ----------
    n_wanted : int
        Maximum number of conjunctions in the list.
    sign : {"positive", "negative", "both"}
        Which weights count.
    factors : ndarray of shape (max_literals + 1,), float64
        Factor of each length. Lengths of factor 0 do not take part.
    floor : float
        Only scores above it count.
    monotone : bool
        Whether literals are the features only, not their negations.
    diverse : bool
        Of the conjunctions that share all features but one, only the best. Tables only.
    """

    n_wanted: int
    sign: str
    factors: np.ndarray
    floor: float
    monotone: bool
    diverse: bool = False

    @cached_property
    def shortest(self):
        """Minimum length of a conjunction."""
        return int(self.factors.nonzero()[0][0])

    @cached_property
    def growing(self):
        """Whether a longer conjunction may have a larger factor."""
        return bool((np.diff(self.factors[self.shortest :]) > 0).any())

    @cached_property
    def reach(self):
        """The largest factor from each length on."""
        return np.maximum.accumulate(self.factors[::-1])[::-1].copy()

    @property
    def block(self):
        """Number of conjunctions that are held in memory at a time."""
        return 2**60 if self.growing else BLOCK


class SearchPart(NamedTuple):
    """The conjunctions that one compiled search grows.

    Attributes
    ----------
    width : int
        Number of conjunctions of each length that are extended. 0: an exact search.
    branch, n_branches : int
        Only the first literals ``branch``, ``branch + n_branches``, ... of those that
        may be grown.
    """

    width: int = 0
    branch: int = 0
    n_branches: int = 1


class SearchLimits(NamedTuple):
    """Limits that end a search early.

    Attributes
    ----------
    width : int or None
        Number of conjunctions of each length that are extended.
    until : float or None
        Time, on the clock of ``time()``.
    max_work : float
    """

    width: int | None
    until: float | None
    max_work: float
