"""The halfspaces ``w.x >= 0`` that agree with the labels seen so far."""

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from sklearn.utils.extmath import safe_sparse_dot

from sklboolean._core.validation import check_array_strict
from sklboolean.active_learning._kernel_space import KernelVersionSpace

# Up to here chains forget where they were within a few hundred steps; beyond,
# expectation propagation is nearer to the truth than chains of the same price.
MOST_CHAIN_DIMENSIONS = 32


class HalfspaceVersionSpace(KernelVersionSpace):
    """Posterior of the halfspaces ``w.x >= 0``, w uniform in the unit ball.

    Parameters
    ----------
    fit_intercept : bool, default=False
        Halfspaces ``w.x + b >= 0``: a feature that is always 1.
    gibbs : {"auto", "ep", "liness", "hit_and_run"}, default="auto"
        As in `KernelVersionSpace`; "auto" is "liness" for up to 32 features and "ep"
        for more.
    eta : float, default=0.0
        Probability that a label was flipped, below 1/2.
    n_steps : int, default=100
        Steps of each chain after a block of labels.
    n_chains : int, default=64
        Number of chains.
    random_state : int, RandomState instance or None, default=None
        Seeds the chains.

    Attributes
    ----------
    n_labels : int
        Labels learned.
    contradiction : int or None
        Number of the label, counted from 0, with which no halfspace agreed any more.
    basis : table of shape (rank, n_features), or None before the first label
        The labelled rows that span the others.

    References
    ----------
    .. [1] Freund, "Data Filtering and Distribution Modeling Algorithms for Machine
       Learning", PhD thesis, UC Santa Cruz, 1993, section 3.6.3.

    Examples
    --------
    In the plane, a third of the halfspaces that accept (1, 0) reject a row at an angle
    of 60 degrees to it.

    >>> import numpy as np
    >>> from sklboolean.active_learning._halfspaces import HalfspaceVersionSpace
    >>> space = HalfspaceVersionSpace(n_chains=2000, random_state=0)
    >>> space = space.learn(np.array([[1.0, 0.0]]), [True])
    >>> space.acceptance(np.array([[0.5, 3**0.5 / 2]])).round(2)
    array([0.67])
    """

    def __init__(
        self, *, fit_intercept=False, gibbs="auto", eta=0.0, n_steps=100, n_chains=64,
        random_state=None,
    ):  # fmt: skip
        super().__init__(
            None, gibbs=gibbs, eta=eta, n_steps=n_steps, n_chains=n_chains,
            random_state=random_state,
        )  # fmt: skip
        self.fit_intercept = fit_intercept

    def _checked(self, rows):
        options = {"accept_sparse": "csr", "dtype": np.float64}
        return check_array_strict(rows, "rows", ensure_min_samples=0, **options)

    def _kernel(self, rows, others):
        return safe_sparse_dot(rows, others.T, dense_output=True) + self.fit_intercept

    def _squares(self, rows):
        with np.errstate(over="ignore"):
            squared = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
            sums = np.asarray(squared.sum(axis=1), dtype=float).ravel()
        if not np.isfinite(sums).all():
            raise ValueError(
                "rows hold numbers whose squares are beyond float64: scale the "
                "columns, for example with MaxAbsScaler."
            )
        return sums + self.fit_intercept

    def _chosen_gibbs(self, rows):
        few = rows.shape[1] + self.fit_intercept <= MOST_CHAIN_DIMENSIONS
        return ("liness" if few else "ep") if self.gibbs == "auto" else self.gibbs

    def _outside(self, placed, n_draws, random):
        """Draw whole weight vectors: what they say outside the span, jointly.

        A prior draw less the part of it that the span sees (Matheron's rule).
        """
        if placed.rows is None:
            return super()._outside(placed, n_draws, random)
        weights = random.normal(size=(placed.rows.shape[1], n_draws))
        intercepts = self.fit_intercept * random.normal(size=n_draws)
        scores = safe_sparse_dot(placed.rows, weights) + intercepts
        if self._span.rank:
            seen = safe_sparse_dot(self.basis, weights) + intercepts
            seen = solve_triangular(
                self._span.factor, seen / self._span.lengths[:, None], lower=True
            )
            scores = scores - placed.coordinates.T @ seen
        # Rows in the span see nothing of it but rounding.
        return np.where(placed.residuals > 0, scores.T, 0.0)
