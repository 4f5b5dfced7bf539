"""Coordinates in the span of the labelled rows.

Under a standard normal prior on the weight vector of a halfspace the score of a row is
a sum of two independent parts: one in the span of the labelled rows, where the labels
say something, and one outside it, which stays N(0, residual) whatever the labels are.
So the posterior has one dimension for each independent labelled row, whatever the
number of features of the kernel, and one chain serves every candidate.

References
----------
.. [1] Gilad-Bachrach, Navot and Tishby, "Query by committee made real", NIPS 2005.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

# A row whose squared distance from the span is below this share of its squared length
# lies in the span: rounding leaves about 1e-16 times the condition of the basis.
IN_SPAN = 1e-10


@dataclass
class Placed:
    """Rows as a version space sees them.

    Parameters
    ----------
    rows : table or None
        The rows; None when only kernel values are known.
    residuals : ndarray of shape (n_samples,)
        Squared lengths of the parts outside the span of the labelled rows.
    coordinates : ndarray of shape (rank, n_samples)
        The parts in the span.
    squares : ndarray of shape (n_samples,)
        Squared lengths.
    """

    rows: object
    residuals: np.ndarray
    coordinates: np.ndarray
    squares: np.ndarray

    @classmethod
    def outside(cls, squares, rows=None):
        """Place rows in the span of no rows: all of them is outside it."""
        squares = np.asarray(squares, dtype=np.float64)
        return cls(rows, squares.copy(), np.empty((0, len(squares))), squares)

    @property
    def shape(self):
        return self.squares.shape

    def __getitem__(self, chosen):
        """Return a copy of some of the rows, by their indices."""
        rows = None if self.rows is None else self.rows[chosen]
        coordinates = np.take(self.coordinates, chosen, axis=1)
        return Placed(rows, self.residuals[chosen], coordinates, self.squares[chosen])


class Span:
    """An orthonormal basis of labelled rows, known by their kernel values only.

    The Cholesky factor of the Gram matrix of the rows that were independent of those
    before them; duplicates and other dependent rows add no dimension.
    """

    def __init__(self):
        self.factor = np.empty((0, 0))
        self.lengths = np.empty(0)

    @property
    def rank(self):
        return len(self.lengths)

    def extend_placed(self, placed, cross):
        """Bring rows up to a basis that has grown, in place.

        Parameters
        ----------
        placed : Placed
            In the span of the first members of the basis.
        cross : ndarray of shape (n_samples, n_new)
            Kernel values with the members since.
        """
        known = len(placed.coordinates)
        # The basis is scaled to length 1: signs of scores do not depend on lengths,
        # and kernels of long conjunctions reach far beyond the square root of float64.
        scaled = (cross / self.lengths[known:]).T
        new = solve_triangular(
            self.factor[known:, known:],
            scaled - self.factor[known:, :known] @ placed.coordinates,
            lower=True,
            check_finite=False,
        )
        placed.coordinates = np.concatenate([placed.coordinates, new])
        placed.residuals -= np.einsum("ij,ij->j", new, new)
        placed.residuals[placed.residuals < IN_SPAN * placed.squares] = 0.0

    def extend(self, coordinates, residual, length):
        """Take a row into the basis.

        Parameters
        ----------
        coordinates : ndarray of shape (rank,)
            Of the row scaled to length 1.
        residual : float
            Its squared distance from the span.
        length : float
            Its length before scaling.
        """
        factor = np.zeros((self.rank + 1, self.rank + 1))
        factor[:-1, :-1] = self.factor
        factor[-1] = np.append(coordinates, np.sqrt(residual))
        self.factor = factor
        self.lengths = np.append(self.lengths, length)
