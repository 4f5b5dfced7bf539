"""Version spaces of halfspaces: linear, with a kernel, or with a precomputed kernel.

Under a standard normal prior on the weight vector, the score of a sample is the sum of
two independent parts. One lies in the span of the labelled samples and depends on the
labels. The other lies outside the span and is N(0, residual) whatever the labels are.
So the posterior has one dimension for each independent labelled sample, whatever the
number of features of the kernel, and one population of chains serves every candidate.

References
----------
.. [1] Gilad-Bachrach, Navot and Tishby, "Query by committee made real", NIPS 2005.
"""

# A label costs three steps: the sample is written in the basis of the labelled samples
# (forward substitution with the Cholesky factor), the posterior is updated, and the
# basis grows if the sample is independent of it. A pool keeps its coordinates, of shape
# (rank, n_samples), and gets one line for each new member of the basis.

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot

from sklboolean._core.parameters import check_choice, check_integer, check_real
from sklboolean._core.sparse_structure import check_sparse_structure
from sklboolean._core.validation import check_array_strict
from sklboolean.active_learning._posterior_sampling import (
    GaussianPosterior,
    HalfspaceChains,
)
from sklboolean.active_learning._version_space import VersionSpace, check_binary
from sklboolean.kernels import BOOLEAN_KERNELS

SAMPLERS = ("auto", "expectation_propagation", "elliptical_slice")
# A sample whose squared distance from the span is below this share of its squared
# length is in the span: rounding errors are about 1e-16 times the condition number of
# the basis.
IN_SPAN = 1e-10
# The diagonal is computed in blocks of this many samples: a call of the kernel costs as
# much as about ten thousand pairs.
DIAGONAL_BLOCK = 128
# Up to this many dimensions chains mix within a few hundred steps. Beyond, expectation
# propagation is more accurate than chains of the same cost.
MAX_CHAIN_DIMENSIONS = 32


@dataclass
class ProjectedSamples:
    """Samples in coordinates of the orthonormal basis of a version space.

    Parameters
    ----------
    X : ndarray or sparse array
        The samples.
    residuals : ndarray of shape (n_samples,)
        Squared lengths of the parts outside the span of the labelled samples.
    coordinates : ndarray of shape (rank, n_samples)
        Coordinates of the parts in the span.
    squares : ndarray of shape (n_samples,)
        Squared lengths.
    """

    X: object
    residuals: np.ndarray
    coordinates: np.ndarray
    squares: np.ndarray

    @property
    def shape(self):
        return self.squares.shape

    def __getitem__(self, chosen):
        """Copy some of the samples, given by their indices."""
        coordinates = np.take(self.coordinates, chosen, axis=1)
        residuals, squares = self.residuals[chosen], self.squares[chosen]
        return ProjectedSamples(self.X[chosen], residuals, coordinates, squares)


def stack_samples(first, second):
    """Append samples, dense or sparse, to others; None: there are none yet."""
    if first is None:
        return second.copy()
    stack = sparse.vstack if sparse.issparse(first) else np.concatenate
    return stack([first, second])


class OrthonormalBasis:
    """Orthonormal basis of labelled samples that are known by kernel values only.

    It holds the Cholesky factor of the Gram matrix of the independent samples.
    Duplicates and other dependent samples add no dimension.
    """

    def __init__(self):
        self.factor = np.empty((0, 0))
        self.lengths = np.empty(0)

    @property
    def rank(self):
        return len(self.lengths)

    def extend_coordinates(self, samples, cross):
        """Update projected samples after the basis has grown, in place.

        Parameters
        ----------
        samples : ProjectedSamples
            In coordinates of the first members of the basis.
        cross : ndarray of shape (n_samples, n_new)
            Kernel values with the new members.
        """
        rank_before = len(samples.coordinates)
        # The members have length 1: signs of scores do not depend on lengths, and the
        # values of kernels can be far above the square root of the largest float.
        scaled = (cross / self.lengths[rank_before:]).T
        new = solve_triangular(
            self.factor[rank_before:, rank_before:],
            scaled - self.factor[rank_before:, :rank_before] @ samples.coordinates,
            lower=True,
            check_finite=False,
        )
        samples.coordinates = np.concatenate([samples.coordinates, new])
        samples.residuals -= np.einsum("ij,ij->j", new, new)
        samples.residuals[samples.residuals < IN_SPAN * samples.squares] = 0.0

    def append(self, coordinates, residual, length):
        """Add a sample to the basis.

        Parameters
        ----------
        coordinates : ndarray of shape (rank,)
            Coordinates of the sample, scaled to length 1.
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


class KernelVersionSpace(VersionSpace):
    """Posterior over the halfspaces of a kernel, given labels.

    A hypothesis predicts positive for a sample whose score is at least 0. The prior of
    the scores is jointly normal with the kernel as covariance: directions of weight
    vectors are uniform. The posterior lives in the span of the labelled samples [1]_.

    Parameters
    ----------
    kernel : str or callable
        A name in `sklboolean.kernels.BOOLEAN_KERNELS`, a kernel object, or a function:
        ``kernel(A, B)`` returns the kernel matrix of shape (n_samples_A, n_samples_B),
        positive semidefinite. Use `GramKernel` for a precomputed matrix. Numeric
        samples are passed as float64.
    sampler : {"auto", "expectation_propagation", "elliptical_slice"}, default="auto"
        How hypotheses are drawn. "expectation_propagation" draws from a Gaussian
        approximation of the posterior. "elliptical_slice" runs Markov chains over
        normal weight vectors, restricted by the labels. "auto" is
        "expectation_propagation", whose cost and accuracy do not depend on the mixing
        of chains.
    label_noise : float, default=0.0
        Probability that a label is wrong, in [0, 0.5). Set it above 0 if the labels
        may contain errors, or if no halfspace may be perfect.
    n_steps : int, default=100
        Number of steps of each chain after a block of labels. Larger values give more
        accurate samples and take longer.
    n_chains : int, default=64
        Number of chains, at least 2. Larger values reduce the variance of predictions.
    diagonal : callable or None, default=None
        ``diagonal(A)`` returns the kernel value of each sample with itself. None: the
        method ``diagonal`` of the kernel if it has one, else computed by ``kernel``.
    random_state : int, RandomState instance or None, default=None
        Seed of the chains. `QueryByCommittee` replaces None by a seed of its own.

    Attributes
    ----------
    kernel_ : callable
        The kernel function.
    n_labels_ : int
        Number of labels that the posterior is conditioned on.
    contradiction_ : int or None
        Index, counted from 0, of the label that no halfspace agrees with in addition
        to the labels before it.
    basis_ : array of shape (rank, n_features), or None before the first label
        The labelled samples that span the others.
    is_empty : bool
        True if no halfspace agrees with all labels. Always False with label noise.

    See Also
    --------
    HalfspaceVersionSpace : The linear kernel, without a kernel matrix.

    References
    ----------
    .. [1] Gilad-Bachrach, Navot and Tishby, "Query by committee made real", NIPS 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.active_learning import KernelVersionSpace
    >>> from sklboolean.kernels import ConjunctionKernel
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> kernel = ConjunctionKernel(max_literals=2, monotone=False, normalize=False)
    >>> space = KernelVersionSpace(kernel)
    >>> space.predict_proba(X)[:, 1]
    array([0.5, 0.5, 0.5, 0.5])
    >>> space.update(X[:2], [False, True]).predict_proba(X)[:, 1].round(2)
    array([0.11, 0.89, 0.37, 0.63])
    """

    def __init__(
        self, kernel, *, sampler="auto", label_noise=0.0, n_steps=100, n_chains=64,
        diagonal=None, random_state=None,
    ):  # fmt: skip
        self.kernel = kernel
        self.sampler = sampler
        self.label_noise = label_noise
        self.n_steps = n_steps
        self.n_chains = n_chains
        self.diagonal = diagonal
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def initialize(self, n_features) -> "KernelVersionSpace":
        """Validate the parameters and set the posterior to the prior.

        ``update`` does this for the first data, unless it was done before.

        Parameters
        ----------
        n_features : int
            Number of features.

        Returns
        -------
        self : object
            The version space, before any label.

        Raises
        ------
        ValueError
            For an unknown kernel or sampler, and for numbers out of range.
        """
        if self.sampler == "hit_and_run":
            raise ValueError(
                "sampler='hit_and_run' is not supported since version 0.3. Set "
                "sampler='elliptical_slice', which draws from the same distribution."
            )
        check_choice(self.sampler, "sampler", SAMPLERS)
        check_real(self.label_noise, "label_noise", 0, below=0.5)
        n_steps = check_integer(self.n_steps, "n_steps", 1)
        n_chains = check_integer(self.n_chains, "n_chains", 2)
        self.kernel_ = self._find_kernel()
        seed = check_random_state(self.random_state).randint(2**31 - 1, size=4)
        sampler, noise = self._choose_sampler(n_features), float(self.label_noise)
        if sampler == "expectation_propagation":
            self._posterior = GaussianPosterior(noise)
        else:
            rng = np.random.default_rng(seed)
            self._posterior = HalfspaceChains(noise, n_steps, n_chains, rng)
        self._orthonormal = OrthonormalBasis()
        self.n_labels_, self.contradiction_, self.basis_ = 0, None, None
        return self

    @property
    def is_empty(self):
        """True if no halfspace agrees with all labels; never with label noise."""
        return getattr(self, "contradiction_", None) is not None

    def update(self, X, y) -> "KernelVersionSpace":
        """Condition the posterior on more labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples that the kernel accepts, or the result of ``project``.
        y : array-like of shape (n_samples,), bool
            Labels, True for positive.

        Returns
        -------
        self : object
            The updated version space. It is empty (``is_empty``) from the first label
            on that no halfspace agrees with. That label and later ones are not used.

        Raises
        ------
        ValueError
            For invalid parameters or data. The posterior is unchanged then.
        """
        samples = self.project(X)
        y = check_binary(y, samples.shape[0])
        within = self._kernel(samples.X, samples.X) if len(y) > 1 else None
        for i in range(len(y)):
            rank = self._orthonormal.rank
            if self.is_empty or not self._update_one(samples, i, bool(y[i])):
                break
            # The labels to come need the coordinates of their samples in the larger
            # basis.
            if self._orthonormal.rank > rank and within is not None:
                self._orthonormal.extend_coordinates(samples, within[:, i : i + 1])
        self._posterior.refine()
        return self

    def _update_one(self, samples, i, positive):
        square, residual = samples.squares[i], samples.residuals[i]
        if square <= 0:
            # The score is 0 for all weights: every halfspace predicts positive.
            possible = positive or self.label_noise > 0
        else:
            length, residual = np.sqrt(square), residual / square
            coordinates = samples.coordinates[:, i] / length
            possible = self._posterior.update(coordinates, residual, positive)
        if not possible:
            self.contradiction_ = self.n_labels_
            return False
        self.n_labels_ += 1
        if residual > 0:
            self._orthonormal.append(coordinates, residual, length)
            self.basis_ = stack_samples(self.basis_, samples.X[i : i + 1])
        return True

    def project(self, X) -> "ProjectedSamples":
        """Compute the coordinates of samples, to predict for them repeatedly.

        The result can replace ``X`` in every method. It is updated after later labels,
        at the cost of one kernel column for each. Project a pool once, and do not
        change its samples afterwards.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples that the kernel accepts, or the result of ``project``, which is then
            brought up to date.

        Returns
        -------
        samples : ProjectedSamples
            The samples in coordinates of the basis.
        """
        samples = X
        if not isinstance(X, ProjectedSamples):
            X = self._check_X(X)
            if not hasattr(self, "n_labels_"):
                self.initialize(X.shape[1] if X.ndim > 1 else 1)
            squares = np.asarray(self._squares(X), dtype=np.float64)
            coordinates = np.empty((0, len(squares)))
            samples = ProjectedSamples(X, squares.copy(), coordinates, squares)
        rank_before = len(samples.coordinates)
        if rank_before < self._orthonormal.rank:
            cross = self._kernel(samples.X, self.basis_[rank_before:])
            self._orthonormal.extend_coordinates(samples, cross)
        return samples

    def _project_to_predict(self, X):
        if self.is_empty:
            raise ValueError(
                f"No halfspace agrees with all labels: label {self.contradiction_}, "
                "counted from 0, contradicts those before it. Set label_noise to the "
                "probability that a label is wrong, or use a richer kernel."
            )
        return self.project(X)

    def _positive_probability(self, X):
        samples = self._project_to_predict(X)
        return self._posterior.positive_probability(samples)

    def sample_predictions(self, X, n_draws, random_state=None) -> np.ndarray:
        """Predict by halfspaces drawn from the posterior.

        Chains are drawn without replacement while there are any. They do not move
        between calls. With a kernel, the part of a score outside the span of the
        labelled samples is drawn independently for each sample: the predictions of one
        sample have their exact distribution, and two members differ on it as often as
        they should.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples that the kernel accepts, or the result of ``project``.
        n_draws : int
            Number of halfspaces to draw.
        random_state : int, RandomState instance or None, default=None
            Draws the halfspaces. Pass an int for reproducible results.

        Returns
        -------
        predictions : ndarray of shape (n_draws, n_samples), dtype bool
            Prediction of each halfspace for each sample.

        Raises
        ------
        ValueError
            For invalid parameters or samples, and if the version space is empty.
        """
        samples, rng = self._project_to_predict(X), check_random_state(random_state)
        scores = self._posterior.draw(n_draws, rng).T @ samples.coordinates
        if np.any(samples.residuals):
            scores = scores + self._scores_outside(samples, n_draws, rng)
        return scores >= 0

    def _scores_outside(self, samples, n_draws, rng):
        noise = rng.normal(size=(n_draws, len(samples.residuals)))
        return noise * np.sqrt(samples.residuals)

    def mean_scores(self, X) -> np.ndarray:
        """Compute the mean score: positive where most halfspaces predict positive.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples that the kernel accepts, or the result of ``project``.

        Returns
        -------
        scores : ndarray of shape (n_samples,), dtype float64
            Mean of the scores under the posterior.
        """
        samples = self._project_to_predict(X)
        return self._posterior.mean() @ samples.coordinates

    def _find_kernel(self):
        kernel = self.kernel
        if isinstance(kernel, str) and kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' lacks the kernel values of new samples: pass "
                "kernel=GramKernel(gram) with the matrix of all samples, and indices "
                "of samples as X."
            )
        if callable(kernel):
            return kernel
        return BOOLEAN_KERNELS[check_choice(kernel, "kernel", tuple(BOOLEAN_KERNELS))]

    def _choose_sampler(self, _n_features):
        return "expectation_propagation" if self.sampler == "auto" else self.sampler

    def _check_X(self, X):
        """Validate the form of samples only: the kernel knows what they contain."""
        if sparse.issparse(X):
            check_sparse_structure(X, "X")
        X = X.tocsr() if sparse.issparse(X) else np.atleast_1d(X)
        # Products of bools would be bools.
        return X.astype(np.float64, copy=False) if X.dtype.kind in "buif" else X

    def _kernel(self, X, Y):
        values = np.asarray(self.kernel_(X, Y), dtype=np.float64)
        if values.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"kernel must return a matrix of shape {X.shape[0], Y.shape[0]}; its "
                f"shape is {values.shape}."
            )
        if not np.all(np.isfinite(values)):
            raise ValueError(
                "kernel returned NaN or infinity: scale the data or normalise the "
                "kernel."
            )
        return values

    def _squares(self, X):
        diagonal = self.diagonal or getattr(self.kernel_, "diagonal", None)
        if diagonal is not None:
            return diagonal(X)
        squares = np.empty(X.shape[0])
        for first in range(0, len(squares), DIAGONAL_BLOCK):
            block = X[first : first + DIAGONAL_BLOCK]
            values = np.diagonal(self._kernel(block, block))
            squares[first : first + DIAGONAL_BLOCK] = values
        return squares


class HalfspaceVersionSpace(KernelVersionSpace):
    """Posterior over the halfspaces ``w.x + b >= 0``, (w, b) uniform in the unit ball.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Include the constant b. Without it, the halfspaces pass through the origin.
    sampler : {"auto", "expectation_propagation", "elliptical_slice"}, default="auto"
        As in `KernelVersionSpace`. "auto" is "elliptical_slice" for at most 32
        dimensions, the constant included, and "expectation_propagation" for more.
    label_noise : float, default=0.0
        Probability that a label is wrong, in [0, 0.5). Set it above 0 if the labels
        may contain errors, or if no halfspace may be perfect.
    n_steps : int, default=100
        Number of steps of each chain after a block of labels. Larger values give more
        accurate samples and take longer.
    n_chains : int, default=64
        Number of chains, at least 2. Larger values reduce the variance of predictions.
    random_state : int, RandomState instance or None, default=None
        Seed of the chains. `QueryByCommittee` replaces None by a seed of its own.

    Attributes
    ----------
    n_labels_ : int
        Number of labels that the posterior is conditioned on.
    contradiction_ : int or None
        Index, counted from 0, of the label that no halfspace agrees with in addition
        to the labels before it.
    basis_ : array of shape (rank, n_features), or None before the first label
        The labelled samples that span the others.
    is_empty : bool
        True if no halfspace agrees with all labels. Always False with label noise.

    See Also
    --------
    KernelVersionSpace : Halfspaces of a kernel.

    References
    ----------
    .. [1] Freund, "Data Filtering and Distribution Modeling Algorithms for Machine
       Learning", PhD thesis, UC Santa Cruz, 1993, section 3.6.3.

    Examples
    --------
    In the plane, a third of the halfspaces through the origin that accept (1, 0)
    reject a sample at an angle of 60 degrees to it.

    >>> import numpy as np
    >>> from sklboolean.active_learning import HalfspaceVersionSpace
    >>> space = HalfspaceVersionSpace(
    ...     fit_intercept=False, n_chains=2000, random_state=0
    ... )
    >>> space = space.update([[1.0, 0.0]], [True])
    >>> space.predict_proba([[0.5, 3**0.5 / 2]]).round(2)
    array([[0.33, 0.67]])
    """

    def __init__(
        self, *, fit_intercept=True, sampler="auto", label_noise=0.0, n_steps=100,
        n_chains=64, random_state=None,
    ):  # fmt: skip
        self.fit_intercept = fit_intercept
        self.sampler = sampler
        self.label_noise = label_noise
        self.n_steps = n_steps
        self.n_chains = n_chains
        self.random_state = random_state

    def _find_kernel(self):
        return None  # inner products, which need no kernel function

    def _choose_sampler(self, n_features):
        if self.sampler != "auto":
            return self.sampler
        few = n_features + bool(self.fit_intercept) <= MAX_CHAIN_DIMENSIONS
        return "elliptical_slice" if few else "expectation_propagation"

    def _check_X(self, X):
        options = {"accept_sparse": "csr", "dtype": np.float64}
        return check_array_strict(X, "X", ensure_min_samples=0, **options)

    def _kernel(self, X, Y):
        return safe_sparse_dot(X, Y.T, dense_output=True) + bool(self.fit_intercept)

    def _squares(self, X):
        with np.errstate(over="ignore"):
            squared = X.multiply(X) if sparse.issparse(X) else X * X
            sums = np.asarray(squared.sum(axis=1), dtype=float).ravel()
        if not np.isfinite(sums).all():
            raise ValueError(
                "X contains numbers whose squares exceed float64: scale the columns, "
                "for example with MaxAbsScaler."
            )
        return sums + bool(self.fit_intercept)

    def _scores_outside(self, samples, n_draws, rng):
        """Draw scores outside the span jointly, by whole weight vectors.

        The projection onto the span is subtracted from a draw of the prior (Matheron's
        rule).
        """
        weights = rng.normal(size=(samples.X.shape[1], n_draws))
        intercepts = bool(self.fit_intercept) * rng.normal(size=n_draws)
        scores = safe_sparse_dot(samples.X, weights) + intercepts
        if self._orthonormal.rank:
            within = safe_sparse_dot(self.basis_, weights) + intercepts
            scaled = within / self._orthonormal.lengths[:, None]
            within = solve_triangular(self._orthonormal.factor, scaled, lower=True)
            scores = scores - samples.coordinates.T @ within
        # For samples in the span, the difference is rounding error only.
        return np.where(samples.residuals > 0, scores.T, 0.0)


class GramKernel:
    """A precomputed kernel matrix as a kernel on sample indices.

    ``X`` then contains the indices of the samples, in a single column. The matrix must
    contain every sample that will ever be predicted: the kernel values of the labelled
    samples alone do not give the distance of a new sample from them.

    Parameters
    ----------
    gram : array-like of shape (n_samples, n_samples)
        Kernel matrix, symmetric and positive semidefinite.

    Raises
    ------
    ValueError
        If the matrix is not square.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import QueryByCommittee
    >>> from sklboolean.active_learning import GramKernel, KernelVersionSpace
    >>> X = np.random.RandomState(0).normal(size=(200, 2))
    >>> indices, y = np.arange(200)[:, None], X[:, 0] > 0
    >>> space = KernelVersionSpace(GramKernel(X @ X.T))
    >>> model = QueryByCommittee(space, random_state=0).fit(indices[:100], y[:100])
    >>> model.score(indices[100:], y[100:])
    1.0
    """

    def __init__(self, gram):
        self.gram = np.asarray(gram, dtype=np.float64)
        if self.gram.ndim != 2 or self.gram.shape[0] != self.gram.shape[1]:
            raise ValueError(f"gram must be square; its shape is {self.gram.shape}.")

    def __deepcopy__(self, _memo):
        """Share the matrix, which may be large and is never changed."""
        return self

    def _indices(self, X):
        X = np.asarray(X)
        indices = X.astype(np.intp)
        is_no_index = (indices != X) | (indices < 0) | (indices >= len(self.gram))
        if X.size != len(X) or is_no_index.any():
            raise ValueError(
                f"X must contain sample indices from 0 to {len(self.gram) - 1}, in one "
                f"column; its shape is {X.shape}, and it contains "
                f"{X[is_no_index][:3].tolist()}."
            )
        return indices.ravel()

    def __call__(self, X, Y):
        """Look up the kernel matrix between two arrays of sample indices.

        Parameters
        ----------
        X : array-like of shape (n_samples_X,) or (n_samples_X, 1)
            Indices of rows of the matrix.
        Y : array-like of shape (n_samples_Y,) or (n_samples_Y, 1)
            Indices of columns of the matrix.

        Returns
        -------
        values : ndarray of shape (n_samples_X, n_samples_Y)
            Kernel values.
        """
        return self.gram[np.ix_(self._indices(X), self._indices(Y))]

    def diagonal(self, X) -> np.ndarray:
        """Look up the kernel values of samples with themselves.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, 1)
            Indices of samples.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            Diagonal entries of the matrix.
        """
        indices = self._indices(X)
        return self.gram[indices, indices]
