"""The halfspaces of a kernel that agree with the labels seen so far."""

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from sklboolean._core.validation import (
    check_choice,
    check_integer,
    check_real,
    check_sparse_structure,
)
from sklboolean.active_learning._expectation_propagation import GaussianPosterior
from sklboolean.active_learning._population import Population
from sklboolean.active_learning._posterior import check_answers
from sklboolean.active_learning._span import Placed, Span

GIBBS = ("auto", "ep", "liness", "hit_and_run")
# Rows at a time whose diagonal is cut out of their matrix: a call costs as much as
# some ten thousand pairs.
DIAGONAL_BLOCK = 128


class KernelVersionSpace:
    """Posterior of the halfspaces of a kernel, given labels.

    A hypothesis says yes to a row whose score is at least 0; before the labels, scores
    are jointly normal with the kernel as covariance, so that directions of weight
    vectors are uniform. The posterior lives in the span of the labelled rows [1]_.

    Parameters
    ----------
    kernel : callable
        ``kernel(A, B)`` returns the float64 matrix of shape (n_rows_A, n_rows_B);
        positive semidefinite.
    gibbs : {"auto", "ep", "liness", "hit_and_run"}, default="auto"
        How hypotheses are drawn. "ep": from the Gaussian of expectation propagation;
        "liness": by elliptical slice sampling of a normal law cut by the labels;
        "hit_and_run": by straight steps in the unit ball cut by the labels. "auto" is
        "ep", whose cost and accuracy do not depend on mixing.
    eta : float, default=0.0
        Probability that a label was flipped, below 1/2.
    n_steps : int, default=100
        Steps of each chain after a block of labels.
    n_chains : int, default=64
        Number of chains.
    diagonal : callable or None, default=None
        ``diagonal(A)`` returns the kernel value of each row with itself. None: the
        method of the kernel of this name, or from ``kernel``.
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
    .. [1] Gilad-Bachrach, Navot and Tishby, "Query by committee made real", NIPS 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.active_learning._kernel_space import KernelVersionSpace
    >>> from sklboolean.kernels import ConjunctionKernel
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> space = KernelVersionSpace(ConjunctionKernel(max_literals=2))
    >>> space.acceptance(X)
    array([0.5, 0.5, 0.5, 0.5])
    >>> space.learn(X[:2], np.array([False, True])).acceptance(X).round(2)
    array([0.11, 0.89, 0.37, 0.63])
    """

    def __init__(
        self, kernel, *, gibbs="auto", eta=0.0, n_steps=100, n_chains=64,
        diagonal=None, random_state=None,
    ):  # fmt: skip
        check_choice(gibbs, "gibbs", GIBBS)
        check_real(eta, "eta", 0.0)
        if eta >= 0.5:
            raise ValueError(f"eta must be less than 0.5; got {eta}.")
        self.kernel = kernel
        self.gibbs = gibbs
        self.eta = float(eta)
        self.n_steps = check_integer(n_steps, "n_steps", 1)
        self.n_chains = check_integer(n_chains, "n_chains", 2)
        own = getattr(kernel, "diagonal", None)
        self.diagonal = own if diagonal is None else diagonal
        seed = check_random_state(random_state).randint(2**31 - 1, size=4)
        self._random = np.random.default_rng(seed)
        self._span = Span()
        self.basis = None
        self._posterior = None
        self.n_labels = 0
        self.contradiction = None

    @property
    def is_empty(self):
        """Whether no halfspace agrees with all labels (never with ``eta > 0``)."""
        return self.contradiction is not None

    def learn(self, rows, positive):
        """Condition on more labels.

        Parameters
        ----------
        rows : table of shape (n_samples, n_features), or Placed
            What ``kernel`` takes.
        positive : array-like of shape (n_samples,), bool
            True where the label is yes.

        Returns
        -------
        self : object
            Empty (`is_empty`) from the first label on with which no halfspace agrees:
            it and those after it are not learned.
        """
        placed = self.place(rows)
        positive, n_samples = np.asarray(positive), placed.shape[0]
        if positive.ndim == 1 and len(positive) != n_samples:
            counts = f"{n_samples} rows and {len(positive)} labels"
            raise ValueError(f"rows and positive must be equally many; got {counts}.")
        positive = check_answers(positive, n_samples)
        if self._posterior is None:
            self._posterior = self._open_posterior(placed.rows)
        within = self._kernel(placed.rows, placed.rows) if len(positive) > 1 else None
        for i in range(len(positive)):
            grown = self._span.rank
            if self.is_empty or not self._learn_one(placed, i, bool(positive[i])):
                break
            if self._span.rank > grown and within is not None:
                self._span.extend_placed(placed, within[:, i : i + 1])
        self._posterior.settle()
        return self

    def _learn_one(self, placed, i, positive):
        square, residual = placed.squares[i], placed.residuals[i]
        if square <= 0:
            # The score is 0 whatever the weights: every halfspace says yes.
            possible = positive or self.eta > 0
        else:
            length, residual = np.sqrt(square), residual / square
            coordinates = placed.coordinates[:, i] / length
            possible = self._posterior.learn(coordinates, residual, positive)
        if not possible:
            self.contradiction = self.n_labels
            return False
        self.n_labels += 1
        if residual > 0:
            self._span.extend(coordinates, residual, length)
            self._keep(placed.rows[i : i + 1])
        return True

    def _open_posterior(self, rows):
        gibbs = self._chosen_gibbs(rows)
        if gibbs == "ep":
            return GaussianPosterior(self.eta)
        return Population(gibbs, self.eta, self.n_steps, self.n_chains, self._random)

    def _chosen_gibbs(self, rows):
        return "ep" if self.gibbs == "auto" else self.gibbs

    def _keep(self, row):
        if self.basis is None:
            self.basis = row.copy()
        elif sparse.issparse(row):
            self.basis = sparse.vstack([self.basis, row], format="csr")
        else:
            self.basis = np.concatenate([self.basis, row])

    def _kernel(self, rows, others):
        values = np.asarray(self.kernel(rows, others), dtype=np.float64)
        if values.shape != (rows.shape[0], others.shape[0]):
            raise ValueError(
                f"kernel must return a matrix of shape {rows.shape[0], others.shape[0]}"
                f"; got {values.shape}."
            )
        if not np.all(np.isfinite(values)):
            raise ValueError("kernel returned NaN or infinity: scale or normalise it.")
        return values

    def _checked(self, rows):
        """Return rows that can be taken apart; what they hold the kernel knows."""
        check_sparse_structure(rows, "rows")
        return rows.tocsr() if sparse.issparse(rows) else np.atleast_1d(rows)

    def _squares(self, rows):
        if self.diagonal is not None:
            return np.asarray(self.diagonal(rows), dtype=np.float64)
        squares = np.empty(rows.shape[0])
        for first in range(0, len(squares), DIAGONAL_BLOCK):
            block = rows[first : first + DIAGONAL_BLOCK]
            squares[first : first + DIAGONAL_BLOCK] = np.diagonal(
                self._kernel(block, block)
            )
        return squares

    def place(self, rows):
        """Return rows as the space sees them, to ask for them again and again.

        What is returned may stand for ``rows`` in every method. It follows later labels
        by itself, at the price of one kernel column for each: a pool is placed once,
        and its rows must not be changed afterwards.

        Parameters
        ----------
        rows : table of shape (n_samples, n_features), or Placed
            What ``kernel`` takes; a Placed is brought up to date.

        Returns
        -------
        placed : Placed
        """
        if not isinstance(rows, Placed):
            rows = self._checked(rows)
            rows = Placed.outside(self._squares(rows), rows)
        return self._follow(rows)

    def place_values(self, cross, squares):
        """Return rows known by their kernel values only, as `place` does.

        Parameters
        ----------
        cross : ndarray of shape (n_samples, rank)
            Kernel values with the rows of ``basis``.
        squares : ndarray of shape (n_samples,)
            Kernel values of the rows with themselves.

        Returns
        -------
        placed : Placed
            Valid until the next `learn`.
        """
        placed = Placed.outside(squares)
        if self._span.rank:
            self._span.extend_placed(placed, np.asarray(cross, dtype=np.float64))
        return placed

    def _follow(self, placed):
        known = len(placed.coordinates)
        if known < self._span.rank:
            if placed.rows is None:
                raise ValueError("Labels were learned since: call place_values again.")
            cross = self._kernel(placed.rows, self.basis[known:])
            self._span.extend_placed(placed, cross)
        return placed

    def _ask(self, rows):
        if self.is_empty:
            raise ValueError(
                f"No halfspace agrees with all labels: number {self.contradiction}, "
                "counted from 0, contradicts those before it. Set eta to the share of "
                "labels that may be wrong, or use a richer kernel."
            )
        placed = self.place(rows)
        if self._posterior is None:
            self._posterior = self._open_posterior(placed.rows)
        return placed, self._posterior

    def acceptance(self, rows):
        """Return the probability that a halfspace of the posterior says yes.

        Parameters
        ----------
        rows : table of shape (n_samples, n_features), or Placed
            What ``kernel`` takes.

        Returns
        -------
        probabilities : ndarray of shape (n_samples,), float64
            Of the hypothesis, without the flips of labels. Chains: the mean over the
            chains of the exact probability given the part in the span.
        """
        placed, posterior = self._ask(rows)
        return posterior.acceptance(placed)

    def accepts(self, rows, n_draws, random):
        """Return the answers of halfspaces drawn from the posterior.

        Chains are drawn without replacement as long as there are any; they do not move
        between calls (see `refresh`). Outside the span of the labelled rows scores of
        one hypothesis are drawn for each row by itself: each row's answers have their
        exact law, and two members differ on it as often as they should.

        Parameters
        ----------
        rows : table of shape (n_samples, n_features), or Placed
            What ``kernel`` takes.
        n_draws : int
            Number of halfspaces.
        random : RandomState or Generator
            Draws them.

        Returns
        -------
        answers : ndarray of shape (n_draws, n_samples), bool
        """
        placed, posterior = self._ask(rows)
        scores = posterior.draw(n_draws, random).T @ placed.coordinates
        if np.any(placed.residuals):
            scores = scores + self._outside(placed, n_draws, random)
        return scores >= 0

    def _outside(self, placed, n_draws, random):
        noise = random.normal(size=(n_draws, len(placed.residuals)))
        return noise * np.sqrt(placed.residuals)

    def mean_scores(self, rows):
        """Return the mean score of each row: positive where most halfspaces say yes.

        Parameters
        ----------
        rows : table of shape (n_samples, n_features), or Placed
            What ``kernel`` takes.

        Returns
        -------
        scores : ndarray of shape (n_samples,), float64
        """
        placed, posterior = self._ask(rows)
        return posterior.mean() @ placed.coordinates

    def refresh(self):
        """Move the chains on by ``n_steps``: fresh hypotheses for a stream.

        Returns
        -------
        self : object
        """
        if self._posterior is not None and not self.is_empty:
            self._posterior.settle()
        return self

    def report(self):
        """Say how far the draws can be trusted.

        Returns
        -------
        report : dict
            Of chains: the autocorrelation of directions by lag, effective sample size,
            steps that one independent hypothesis takes, steps, restarts. Of expectation
            propagation: sweeps, convergence, the last change. Both: ``n_labels`` and
            ``rank``, the dimension of the span.
        """
        own = {} if self._posterior is None else self._posterior.report()
        return {"n_labels": self.n_labels, "rank": self._span.rank, **own}
