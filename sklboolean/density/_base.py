"""What all density models share: samples with missing values, scores, draws.

Binary models keep samples as signs: int8, 1 for true, -1 for false, 0 for missing.
"""

from types import MappingProxyType

import numpy as np
from scipy import sparse
from scipy.special import expit, logsumexp
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.parameters import check_binarize, check_choice, check_integer
from sklboolean._core.validation import (
    KEPT_DTYPES,
    column_of,
    validate_data_strict,
    warn_of_lost_columns,
    without_duplicates,
)

BLOCK_SIZE = 4096  # samples at a time: bounds the memory for intermediate results
MAX_COLUMNS = 20  # of a joint distribution: 2 ** 20 probabilities for each sample


def find_codes(X):
    """Find the codes of false and true in which a data set is written.

    Parameters
    ----------
    X : ndarray or sparse array
        May hold NaN. A sparse array has no duplicate entries.

    Returns
    -------
    codes : ndarray of shape (2,), dtype float64
        (-1, 1) if all known values are -1 or 1 and -1 occurs, else (0, 1).
    """
    values = X
    if sparse.issparse(X):
        # Zeros that are not stored are values too.
        values = X.data if X.nnz == X.shape[0] * X.shape[1] else np.zeros(0)
    # Bools and unsigned integers cannot be negative: usually no second pass is needed.
    negative = values.dtype.kind in "if" and (values == -1).any()
    signed = negative and not ((np.abs(values) != 1) & (values == values)).any()
    return np.array([-1.0 if signed else 0.0, 1.0])


def as_signs(values, columns, codes, binarize):
    """Convert values to signs; NaN becomes 0.

    ``columns`` are the column numbers of the values, for error messages.
    """
    if binarize is None:
        odd = (values != codes[0]) & (values != codes[1]) & (values == values)
        if odd.any():
            column = np.broadcast_to(columns, values.shape)[odd][0]
            raise ValueError(
                f"X holds {values[odd][0]!s} in column {column}; binarize=None "
                f"demands the codes {codes[0]:g} and {codes[1]:g}. Recode the column, "
                "or set binarize to the threshold above which a value is true."
            )
    # Compared in float64, as in the other estimators.
    values = values if values.dtype.kind in "bui" else values.astype(np.float64)
    signs = np.where(values > (binarize or 0.0), np.int8(1), np.int8(-1))
    if values.dtype.kind == "f":
        signs[np.isnan(values)] = 0
    return signs


def sparse_signs(X, codes, binarize):
    """Convert a sparse array without duplicate entries to dense signs."""
    signs = np.empty(X.shape, dtype=np.int8)
    if X.nnz < signs.size:
        signs[:] = as_signs(np.zeros(1, dtype=X.dtype), 0, codes, binarize)
    entries = X.tocoo()
    rows, columns = entries.coords
    signs[rows, columns] = as_signs(entries.data, columns, codes, binarize)
    return signs


def all_signs(n_bits):
    """List all 2 ** n_bits sign vectors; the first bit changes slowest."""
    bits = np.arange(2**n_bits)[:, None] >> np.arange(n_bits)[::-1] & 1
    return (2 * bits - 1).astype(np.int8)


def merge_equal_samples(keys, weights=None):
    """Find the distinct samples of a data set, in the order of their bytes.

    Data sets with few bits repeat many samples; a sum over samples needs each of them
    only once.

    Parameters
    ----------
    keys : C-contiguous ndarray of shape (n_samples, n_columns)
        Samples with equal bytes are equal.
    weights : ndarray of shape (n_samples,) or None
        None: 1 for each sample.

    Returns
    -------
    first : ndarray of shape (n_distinct,), dtype int64
        Index of the first of each group of equal samples.
    totals : ndarray of shape (n_distinct,)
        Sum of the weights of each group.
    """
    samples = keys.view(f"V{keys.itemsize * keys.shape[1]}").ravel()
    _, first, group = np.unique(samples, return_index=True, return_inverse=True)
    return first, np.bincount(group.ravel(), weights, len(first))


def apply_in_blocks(function, samples):
    """Apply a function to blocks of samples and concatenate the results."""
    results = []
    for start in range(0, len(samples), BLOCK_SIZE):
        results.append(function(samples[start : start + BLOCK_SIZE]))
    return np.concatenate(results)


class IncompleteDensityMixin(DensityMixin):
    """Scores, random samples and completions for samples with missing values.

    A fitted model has

    * ``_read(X, reset, allow_missing)``: the samples as the model keeps them;
    * ``_write(samples)``: samples in the codes of the user;
    * ``_all_missing(n_samples)`` and ``_is_missing(samples)``;
    * ``_log_density(samples)``: the log-likelihood of each sample in nats, with missing
      values summed out;
    * ``_completions``, a dict from each `method` of ``impute`` to the name of the
      model's method that fills in missing values. It receives the samples and a random
      number generator.
    """

    def _rng(self, random_state):
        if random_state is None:
            random_state = self.random_state
        return check_random_state(random_state)

    def _prepare_likelihood(self):
        check_is_fitted(self)

    def score_samples(self, X):
        """Compute the log-likelihood of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing value, which is summed out exactly.

        Returns
        -------
        log_likelihoods : ndarray of shape (n_samples,), dtype float64
            In nats.
        """
        self._prepare_likelihood()
        return apply_in_blocks(self._log_density, self._read(X))

    def score(self, X, y=None):
        """Compute the mean log-likelihood of the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing value.
        y : None, default=None
            Ignored.

        Returns
        -------
        log_likelihood : float
            In nats per sample, as ``GaussianMixture.score``; not the sum over all
            samples, as ``KernelDensity.score``.
        """
        return float(self.score_samples(X).mean())

    def sample(self, n_samples=1, random_state=None):
        """Draw independent samples from the model.

        Parameters
        ----------
        n_samples : int, default=1
            Number of samples, at least 1.
        random_state : int, RandomState instance or None, default=None
            Source of the draws. None: the `random_state` of the estimator.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_features), dtype float64
            Written as the training data.
        """
        check_is_fitted(self)
        n_samples = check_integer(n_samples, "n_samples", 1)
        rng = self._rng(random_state)
        return self._write(
            apply_in_blocks(
                lambda samples: self._complete_at_random(samples, rng),
                self._all_missing(n_samples),
            )
        )

    def impute(self, X, method="mean", random_state=None):
        """Fill in missing values, given the known values of the same sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing value.
        method : {"mean", "map", "sample"}, default="mean"
            "mean": the exact conditional mean of each missing value; for the codes 0
            and 1 its probability of being true. "map": the jointly most probable values
            (binary models only). "sample": a draw from their joint conditional
            distribution.
        random_state : int, RandomState instance or None, default=None
            Source of the draws of "sample". None: the `random_state` of the estimator.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_features), dtype float64
            Without NaN, written as the training data: in binary models known values
            become Boolean too.
        """
        check_is_fitted(self)
        check_choice(method, "method", tuple(self._completions))
        complete = getattr(self, self._completions[method])
        samples = self._read(X)
        incomplete = np.flatnonzero(self._is_missing(samples).any(axis=1))
        filled = samples.astype(np.float64)
        if len(incomplete):
            rng = self._rng(random_state)
            filled[incomplete] = apply_in_blocks(
                lambda part: complete(part, rng), samples[incomplete]
            )
        return self._write(filled)


class BinaryDensityMixin(IncompleteDensityMixin):
    """Methods of a density model of binary samples.

    Besides ``_log_density(signs)`` a fitted model has ``codes_``,
    ``_complete_at_random(signs, rng)`` and ``_most_probable(signs, rng)``. It may
    replace ``_log_odds`` and ``_complete_by_means`` by faster methods.
    """

    _completions = MappingProxyType(
        {
            "mean": "_complete_by_means",
            "map": "_most_probable",
            "sample": "_complete_at_random",
        }
    )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read(self, X, *, reset=False, allow_missing=True):
        """Validate a data set and convert its values to signs.

        Sparse data become dense, with one byte for each value.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit.
        reset : bool
            Whether to set ``n_features_in_``, ``feature_names_in_`` and ``codes_``.
        allow_missing : bool
            Whether bits may be missing.

        Returns
        -------
        signs : C-contiguous ndarray of shape (n_samples, n_features), dtype int8
            1 where a bit is true, -1 where it is false, 0 where it is missing.

        Raises
        ------
        ValueError
            For NaN where it is not allowed, and for codes that ``binarize=None`` does
            not accept.
        """
        check_binarize(self.binarize)
        given = X
        X = validate_data_strict(
            self,
            X,
            reset=reset,
            accept_sparse=["csr", "csc"],
            dtype=KEPT_DTYPES,
            ensure_all_finite="allow-nan",
        )
        X = without_duplicates(X)
        codes = find_codes(X) if reset else self.codes_
        if sparse.issparse(X):
            signs = sparse_signs(X, codes, self.binarize)
        else:
            signs = as_signs(X, np.arange(X.shape[1]), codes, self.binarize)
            signs = np.ascontiguousarray(signs)
            if reset:
                warn_of_lost_columns(self, X, (signs == 1).all(axis=0))
        if not allow_missing and not signs.all():
            place = column_of(given, np.flatnonzero((signs == 0).any(axis=0))[0])
            remedy = "Fill them in with impute."
            if reset:
                remedy = (
                    "BernoulliMixture learns from samples with missing bits; its "
                    "impute fills them in for other models. Or leave out those samples."
                )
            raise ValueError(f"Input X contains NaN in {place}. {remedy}")
        if reset:
            self.codes_ = codes
        return signs

    def _write(self, signs):
        """Write signs, or means of signs, in the codes of the training data."""
        return self.codes_.mean() + signs * (np.ptp(self.codes_) / 2)

    def _all_missing(self, n_samples):
        return np.zeros((n_samples, self.n_features_in_), dtype=np.int8)

    def _is_missing(self, signs):
        return signs == 0

    def _read_known(self, X, verb):
        """Read samples and count their known bits, of which there must be some."""
        check_is_fitted(self)
        signs = self._read(X)
        n_known = np.count_nonzero(signs)
        if not n_known:
            raise ValueError(f"X holds no known bit that could be {verb}.")
        return signs, n_known

    def _log_odds(self, signs):
        """Compute the log-odds of each bit given all other known bits of its sample."""
        odds = np.empty(signs.shape)
        for column in range(signs.shape[1]):
            other = signs.copy()
            other[:, column] = 1
            odds[:, column] = self._log_density(other)
            other[:, column] = -1
            odds[:, column] -= self._log_density(other)
        return odds

    def _complete_by_means(self, signs, rng=None):
        """Replace each missing bit by its conditional mean."""
        return np.where(signs == 0, 2 * expit(self._log_odds(signs)) - 1, signs)

    def predict_proba_bits(self, X, columns):
        """Compute the joint distribution of chosen bits given all other known bits.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit. The values in the chosen columns are ignored.
        columns : sequence of int or str
            Up to 20 columns, by number or name.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2 ** n_columns), dtype float64
            Probabilities of the states in counting order: with two columns (false,
            false), (false, true), (true, false), (true, true).
        """
        check_is_fitted(self)
        columns = self._column_numbers(columns)
        signs, states = self._read(X), all_signs(len(columns))
        joint = np.empty((len(signs), len(states)))
        step = max(1, BLOCK_SIZE // len(states))
        for start in range(0, len(signs), step):
            copies = np.repeat(signs[start : start + step], len(states), axis=0)
            copies[:, columns] = np.tile(states, (len(copies) // len(states), 1))
            scores = apply_in_blocks(self._log_density, copies)
            joint[start : start + step] = scores.reshape(-1, len(states))
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def _column_numbers(self, columns):
        """Convert column names and numbers to checked column numbers."""
        n_features = self.n_features_in_
        names = list(getattr(self, "feature_names_in_", ()))
        columns = [columns] if np.ndim(columns) == 0 else list(columns)
        if not 1 <= len(columns) <= MAX_COLUMNS:
            raise ValueError(
                f"columns must name 1 to {MAX_COLUMNS} columns; got {len(columns)}."
            )
        numbers = []
        for column in columns:
            if isinstance(column, str):
                if column not in names:
                    known = f"the names are {names}" if names else "X had no names"
                    raise ValueError(
                        f"columns holds {column!r}, which is no column: {known}. Give "
                        f"a name, or a number from 0 to {n_features - 1}."
                    )
                numbers.append(names.index(column))
            else:
                numbers.append(check_integer(column, "columns", 0, n_features - 1))
        if len(set(numbers)) < len(numbers):
            raise ValueError(f"columns holds a column twice: {columns}.")
        return numbers

    def completion_error(self, X):
        """Compute the share of bits that are predicted wrongly from all others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, which is not predicted.

        Returns
        -------
        error : float
            From 0 to 1, over all known bits of all samples (Freund, section 4.4, takes
            five bits of each sample at random). A bit with probability 1/2 is predicted
            to be true.
        """
        signs, n_known = self._read_known(X, "predicted")

        def count_mistakes(signs):
            wrong = (self._log_odds(signs) >= 0) != (signs > 0)
            return np.array([np.count_nonzero(wrong & (signs != 0))])

        return float(apply_in_blocks(count_mistakes, signs).sum() / n_known)

    def scaled_log_loss(self, X):
        """Compute the mean log-loss per bit, scaled so that the uniform model has 1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, which is summed out.

        Returns
        -------
        loss : float
            Bits of code for a known bit: nats / (n_known ln 2) (Freund, section 4.4).
        """
        self._prepare_likelihood()
        signs, n_known = self._read_known(X, "scored")
        log_likelihood = apply_in_blocks(self._log_density, signs).sum()
        return float(-log_likelihood / (n_known * np.log(2)))
