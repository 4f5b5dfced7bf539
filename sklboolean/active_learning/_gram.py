"""A precomputed kernel matrix, asked by row numbers."""

import numpy as np


class GramKernel:
    """A precomputed kernel matrix as a kernel of row numbers.

    The rows of a table are then their numbers, in a single column, and the matrix holds
    every row that will ever be asked about: a kernel of the labelled rows alone could
    not say how far a new row is from them.

    Parameters
    ----------
    gram : array-like of shape (n_samples, n_samples)
        Symmetric, positive semidefinite.

    Raises
    ------
    ValueError
        For a matrix that is not square.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import QueryByCommittee
    >>> from sklboolean.active_learning import GramKernel
    >>> X = np.random.RandomState(0).normal(size=(200, 2))
    >>> numbers, y = np.arange(200)[:, None], X[:, 0] > 0
    >>> kernel = GramKernel(X @ X.T)
    >>> learner = QueryByCommittee(committee="gibbs", kernel=kernel, random_state=0)
    >>> learner = learner.fit(numbers[:100], y[:100])
    >>> learner.score(numbers[100:], y[100:])
    1.0
    """

    def __init__(self, gram):
        self.gram = np.asarray(gram, dtype=np.float64)
        if self.gram.ndim != 2 or self.gram.shape[0] != self.gram.shape[1]:
            raise ValueError(f"gram must be square; its shape is {self.gram.shape}.")

    def _numbers(self, rows):
        rows = np.asarray(rows)
        numbers = rows.astype(np.intp)
        odd = (numbers != rows) | (numbers < 0) | (numbers >= len(self.gram))
        if rows.size != len(rows) or odd.any():
            raise ValueError(
                f"Rows must be numbers from 0 to {len(self.gram) - 1}, in one column: "
                f"row numbers of gram; got shape {rows.shape} and "
                f"{rows[odd][:3].tolist()}."
            )
        return numbers.ravel()

    def __call__(self, rows, others):
        """Return the kernel between two arrays of row numbers.

        Parameters
        ----------
        rows, others : array-like of shape (n,) or (n, 1)
            Numbers of rows and columns of the matrix.

        Returns
        -------
        values : ndarray of shape (len(rows), len(others))
        """
        return self.gram[np.ix_(self._numbers(rows), self._numbers(others))]

    def diagonal(self, rows):
        """Return the kernel of rows with themselves.

        Parameters
        ----------
        rows : array-like of shape (n,) or (n, 1)
            Numbers of rows of the matrix.

        Returns
        -------
        values : ndarray of shape (len(rows),)
        """
        numbers = self._numbers(rows)
        return self.gram[numbers, numbers]
