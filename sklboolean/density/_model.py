"""What all density models of Boolean rows can be asked."""

import numpy as np
from scipy.special import expit, logsumexp
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.validation import check_choice, check_integer
from sklboolean.density._tables import Signs, read_signs

BLOCK_ROWS = 4096  # keeps what a row needs besides its bits small
MAX_COLUMNS = 20  # of a joint distribution: 2 ** 20 probabilities for each row


def all_states(n_bits):
    """Return all 2 ** n_bits rows of signs; the first bit is the slowest to change."""
    bits = np.arange(2**n_bits)[:, None] >> np.arange(n_bits)[::-1] & 1
    return (2 * bits - 1).astype(np.int8)


def column_numbers(estimator, columns):
    """Return the numbers of columns given by name or by number."""
    n_features = estimator.n_features_in_
    names = list(getattr(estimator, "feature_names_in_", ()))
    columns = [columns] if np.ndim(columns) == 0 else list(columns)
    if not 1 <= len(columns) <= MAX_COLUMNS:
        raise ValueError(
            f"columns must name 1 to {MAX_COLUMNS} columns; got {len(columns)}."
        )
    numbers = []
    for column in columns:
        if isinstance(column, str):
            if column not in names:
                known = f"the names are {names}" if names else "X had no names in fit"
                raise ValueError(
                    f"columns holds {column!r}, which is no column: {known}. Numbers, "
                    f"from 0 to {n_features - 1}, will do."
                )
            numbers.append(names.index(column))
        else:
            numbers.append(check_integer(column, "columns", 0, n_features - 1))
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"columns holds a column twice: {columns}.")
    return numbers


def by_blocks(function, signs):
    """Call a function of rows of signs on blocks of them and join its answers."""
    starts = range(0, len(signs), BLOCK_ROWS)
    return np.concatenate([function(signs[i : i + BLOCK_ROWS]) for i in starts])


class BinaryDensityMixin(DensityMixin):
    """Scores, samples, completions and errors of a density model.

    Rows are int8 signs, 1 true, -1 false, 0 missing, or what else ``_kind`` keeps. A
    fitted model has ``codes_`` and

    * ``_log_density(signs)``: log-likelihood of each row in nats, missing bits summed
      out;
    * ``_complete_at_random(signs, rng)``: signs with missing bits drawn from their
      joint distribution given the known ones;
    * ``_most_probable(signs)``: signs with the jointly most probable missing bits;

    and may replace ``_log_odds`` and ``_complete_by_means`` by something faster.
    """

    _kind = Signs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _log_odds(self, signs):
        """Return the log-odds of each bit given all other known bits of its row."""
        odds = np.empty(signs.shape)
        for column in range(signs.shape[1]):
            other = signs.copy()
            other[:, column] = 1
            odds[:, column] = self._log_density(other)
            other[:, column] = -1
            odds[:, column] -= self._log_density(other)
        return odds

    def _complete_by_means(self, signs):
        """Return rows with the conditional mean of each missing bit."""
        return np.where(signs == 0, 2 * expit(self._log_odds(signs)) - 1, signs)

    def score_samples(self, X):
        """Return the log-likelihood of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, which is summed out exactly.

        Returns
        -------
        log_likelihoods : ndarray of shape (n_samples,), dtype float64
            In nats.
        """
        check_is_fitted(self)
        return by_blocks(self._log_density, self._kind.read(self, X))

    def score(self, X, y=None):
        """Return the mean log-likelihood of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit.
        y : None, default=None
            Ignored.

        Returns
        -------
        log_likelihood : float
            In nats for a row, as ``GaussianMixture.score``; not the sum of all rows,
            as ``KernelDensity.score``.
        """
        return float(self.score_samples(X).mean())

    def sample(self, n_samples=1, random_state=None):
        """Draw independent rows from the model.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, RandomState instance or None, default=None
            Source of the draws.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features), dtype float64
            In the codes of the rows that were learned, ``codes_``.
        """
        check_is_fitted(self)
        n_samples = check_integer(n_samples, "n_samples", 1)
        rng = check_random_state(random_state)
        nothing = self._kind.blank(n_samples, self.n_features_in_)
        drawn = by_blocks(lambda rows: self._complete_at_random(rows, rng), nothing)
        return self._kind.write(self, drawn)

    def impute(self, X, method="mean", random_state=None):
        """Fill in missing bits, given the known bits of the same row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit.
        method : {"mean", "map", "sample"}, default="mean"
            "mean": the exact conditional mean of each missing bit, with codes 0 and 1
            its probability of being true. "map": the jointly most probable bits.
            "sample": a draw from their joint conditional distribution.
        random_state : int, RandomState instance or None, default=None
            Source of the draws of "sample".

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features), dtype float64
            Without NaN, in the codes of the rows that were learned, ``codes_``: known
            values are made Boolean too.
        """
        check_is_fitted(self)
        check_choice(method, "method", self._kind.completions)
        rows = self._kind.read(self, X)
        incomplete = np.flatnonzero(self._kind.gaps(rows).any(axis=1))
        filled = rows.astype(np.float64)
        if len(incomplete):
            rng = check_random_state(random_state)
            complete = {
                "mean": self._complete_by_means,
                "map": self._most_probable,
                "sample": lambda rows: self._complete_at_random(rows, rng),
            }[method]
            filled[incomplete] = by_blocks(complete, rows[incomplete])
        return self._kind.write(self, filled)

    def predict_proba_bits(self, X, columns):
        """Return the joint distribution of chosen bits given all other known bits.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit. What the chosen columns hold is ignored.
        columns : sequence of int or str
            Up to 20 columns, by number or name.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2 ** n_columns), dtype float64
            Of the states in the order of counting: with two columns (false, false),
            (false, true), (true, false), (true, true).
        """
        check_is_fitted(self)
        columns = column_numbers(self, columns)
        signs, states = read_signs(self, X), all_states(len(columns))
        joint = np.empty((len(signs), len(states)))
        step = max(1, BLOCK_ROWS // len(states))
        for start in range(0, len(signs), step):
            rows = np.repeat(signs[start : start + step], len(states), axis=0)
            rows[:, columns] = np.tile(states, (len(rows) // len(states), 1))
            scores = by_blocks(self._log_density, rows)
            joint[start : start + step] = scores.reshape(-1, len(states))
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def completion_error(self, X):
        """Return the share of bits that are predicted wrongly from all others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, which is not predicted.

        Returns
        -------
        error : float
            From 0 to 1, over all known bits of all rows (Freund, section 4.4, takes
            five bits of each row at random). An even bit is predicted to be true.
        """
        check_is_fitted(self)
        signs = read_signs(self, X)
        known = np.count_nonzero(signs)
        if not known:
            raise ValueError("X holds no known bit that could be predicted.")

        def mistakes(rows):
            wrong = (self._log_odds(rows) >= 0) != (rows > 0)
            return np.array([np.count_nonzero(wrong & (rows != 0))])

        return float(by_blocks(mistakes, signs).sum() / known)

    def scaled_log_loss(self, X):
        """Return the mean log-loss of a bit, scaled so that the uniform model has 1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, which is summed out.

        Returns
        -------
        loss : float
            Bits of code for a known bit: nats / (n_known ln 2) (Freund, section 4.4).
        """
        check_is_fitted(self)
        signs = read_signs(self, X)
        known = np.count_nonzero(signs)
        if not known:
            raise ValueError("X holds no known bit that could be scored.")
        return float(-by_blocks(self._log_density, signs).sum() / (known * np.log(2)))
