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

__all__ = ["Placed", "Span"]

# A row whose squared distance from the span is below this share of its squared length
# lies in the span: rounding leaves about 1e-16 times the condition of the basis.
IN_SPAN = 1e-10


@dataclass
class Placed:
    """Rows as a version space sees them.

    Parameters
    ----------
    coordinates : ndarray of shape (n_rows, rank)
        The part of each row in the span of the labelled rows.
    residuals : ndarray of shape (n_rows,)
        The squared length of the part outside it.
    rows : table or None
        The rows themselves where they are vectors; None when only kernel values are
        known.
    """

    coordinates: np.ndarray
    residuals: np.ndarray
    rows: object = None


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

    def place(self, cross, diagonal, rows=None):
        """Return rows in the coordinates of the span.

        Parameters
        ----------
        cross : ndarray of shape (n_rows, rank)
            Kernel values with the rows of the basis.
        diagonal : ndarray of shape (n_rows,)
            Kernel values of the rows with themselves.
        rows : table or None

        Returns
        -------
        placed : Placed
        """
        if not self.rank:
            return Placed(np.empty((len(diagonal), 0)), np.array(diagonal, float), rows)
        # The basis is scaled to length 1: signs of scores do not depend on lengths,
        # and kernels of long conjunctions reach far beyond the square root of float64.
        scaled = (cross / self.lengths).T
        coordinates = solve_triangular(
            self.factor, scaled, lower=True, check_finite=False
        ).T
        residuals = diagonal - np.einsum("ij,ij->i", coordinates, coordinates)
        residuals[residuals < IN_SPAN * diagonal] = 0.0
        return Placed(coordinates, residuals, rows)

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
