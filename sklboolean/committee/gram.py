"""A precomputed kernel matrix, asked by row numbers."""

import numpy as np

__all__ = ["GramKernel"]


class GramKernel:
    """A precomputed kernel matrix as a kernel of row numbers.

    Parameters
    ----------
    gram : ndarray of shape (n_rows, n_rows)
        Symmetric, positive semidefinite.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.committee.gram import GramKernel
    >>> from sklboolean.committee.kernel_space import KernelVersionSpace
    >>> kernel = GramKernel(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> space = KernelVersionSpace(kernel, diagonal=kernel.diagonal)
    >>> space.learn(np.array([0]), [True]).acceptance(np.array([1])).round(2)
    array([0.67])
    """

    def __init__(self, gram):
        self.gram = gram

    def __call__(self, rows, others):
        """Return the kernel between two arrays of row numbers.

        Parameters
        ----------
        rows, others : ndarray of int
            Numbers of rows and columns of the matrix.

        Returns
        -------
        values : ndarray of shape (len(rows), len(others))
        """
        return self.gram[np.ix_(rows, others)]

    def diagonal(self, rows):
        """Return the kernel of rows with themselves.

        Parameters
        ----------
        rows : ndarray of int
            Numbers of rows of the matrix.

        Returns
        -------
        values : ndarray of shape (len(rows),)
        """
        return self.gram[rows, rows]
