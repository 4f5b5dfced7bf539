"""Systems of equations with parts of one matrix, by the Cholesky factor of one."""

# The factor of a part B serves a part that has some other entries, too. Those that
# come, A, border it. Those that go, G, are kept at 0 by multipliers:
#
#     [ H_BB  W ] [x_B]   [ b_B ]     W = [H_BA, I_G],
#     [ W'    D ] [ v ] = [  c  ]     D = H_AA, and 0 for G;  c = b_A, and 0 for G
#
# So v solves (D - W' S W) v = c - W' S b_B, for the inverse S of H_BB, and x_A are its
# first entries.

import numpy as np
from scipy.linalg import cho_factor, cho_solve

# Entries of a part from which on bordering may be quicker than a factor of the part,
# and for each of them that comes or goes.
LEAST, FOR_EACH_CHANGED = 300, 8


def factor(matrix, part):
    """Compute the Cholesky factor of some rows and columns of a matrix.

    Raises
    ------
    LinAlgError
        Where the matrix is not positive definite.
    """
    hessian = square_of(matrix, part)
    # The order of its columns is the one of LAPACK: nothing is copied.
    return cho_factor(hessian.T, lower=True, overwrite_a=True, check_finite=False)


def square_of(matrix, part):
    """Select some rows and columns, with a ridge.

    Columns of one attribute may add up to the intercept.
    """
    square = matrix[part][:, part]
    square[np.diag_indices(len(square))] *= 1 + 1e-6
    square[np.diag_indices(len(square))] += 1e-10
    return square


class KeptFactor:
    """Solve systems with one part of a matrix after another.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Positive semidefinite.
    """

    def __init__(self, matrix):
        self.matrix, self.part = matrix, np.zeros(0, dtype=np.int64)

    def solve(self, part, values):
        """Solve for some rows and columns of the matrix, with a ridge.

        Parameters
        ----------
        part : ndarray of shape (n_part,), int64
            Ascending.
        values : ndarray of shape (n_part,)
            The right sides.

        Raises
        ------
        LinAlgError
            Where the matrix is not positive definite.
        """
        is_kept, is_given = np.zeros((2, len(self.matrix)), dtype=bool)
        is_kept[self.part], is_given[part] = True, True
        come, go = part[~is_kept[part]], np.flatnonzero(~is_given[self.part])
        n_changed = len(come) + len(go)
        if len(part) < LEAST or FOR_EACH_CHANGED * n_changed > len(part):
            self.factor, self.part = factor(self.matrix, part), part
            n_changed = 0
        if not n_changed:
            return cho_solve(self.factor, values, check_finite=False)
        given, found = np.zeros((2, len(self.matrix)))
        given[part] = values
        n, size = len(come), (n_changed, n_changed)
        border, corner = np.zeros((len(self.part), n_changed)), np.zeros(size)
        border[:, :n] = self.matrix[self.part][:, come]
        border[go, np.arange(n, n_changed)] = 1.0
        corner[:n, :n] = square_of(self.matrix, come)
        sides = np.column_stack([given[self.part], border])
        solved = cho_solve(self.factor, sides, check_finite=False)
        corner -= border.T @ solved[:, 1:]
        of_corner = np.r_[given[come], np.zeros(len(go))] - border.T @ solved[:, 0]
        entering = np.linalg.solve(corner, of_corner)
        found[self.part] = solved[:, 0] - solved[:, 1:] @ entering
        found[come] = entering[:n]
        return found[part]
