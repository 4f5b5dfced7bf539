"""Base of all density models: samples with missing values, scores, draws.

Binary models keep samples as signs: int8, 1 for true, -1 for false, 0 for missing.
"""

# What a binary density computes with: signs, int8, of shape (n_samples, n_features),
# made by `_read` in blocks of BLOCK_SIZE samples. With `feature_groups` a group whose
# value is known, or can only be one, is completed at once (`Attributes.complete`).
#
# Questions are answered from `_log_density(signs)` alone, by summing or comparing
# completions; models replace the methods that they can do faster. Results are written
# in the codes of the training data by `_write`.

from types import MappingProxyType

import numpy as np
from scipy import sparse
from scipy.special import expit, logsumexp
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.bits import PackedBits, unpack_words
from sklboolean._core.exports import versioned
from sklboolean._core.packed_partitions import PartitionsMixin, bits_of_booleans
from sklboolean._core.parameters import check_binarize, check_choice, check_integer
from sklboolean._core.progress import with_callbacks
from sklboolean._core.sparse_structure import without_duplicates
from sklboolean._core.validation import (
    KEPT_DTYPES,
    column_of,
    validate_data_or_bits,
    warn_of_lost_columns,
    warn_user,
)
from sklboolean.density._attribute_forest import Attributes
from sklboolean.density._information import (
    BLOCK_SIZE,
    MAX_COLUMNS,
    InformationMixin,
    apply_in_blocks,
)
from sklboolean.density._packed_signs import PackedSigns
from sklboolean.density._queries import QueryMixin

MAX_COMPLETIONS = 4096  # of a sample that are compared
N_STARTS = 16  # of ascents to the most probable completion, besides the means


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
    if isinstance(X, PackedBits):
        return np.array([0.0, 1.0])
    values = X
    if sparse.issparse(X):
        # Zeros that are not stored are values too.
        values = X.data if X.nnz == X.shape[0] * X.shape[1] else np.zeros(0)
    # Bools and unsigned integers cannot be negative: usually no second pass is needed.
    signed = values.dtype.kind in "if" and bool((values == -1).any())
    starts = range(0, len(values) if signed else 0, BLOCK_SIZE)
    for block in (values[start : start + BLOCK_SIZE] for start in starts):
        signed = signed and not ((np.abs(block) != 1) & (block == block)).any()
    return np.array([-1.0 if signed else 0.0, 1.0])


def as_signs(values, columns, codes, binarize):
    """Convert values to signs; NaN becomes 0.

    ``columns`` are the column numbers of the values, for error messages.
    """
    if binarize is None:
        is_foreign = (values != codes[0]) & (values != codes[1]) & (values == values)
        if is_foreign.any():
            column = np.broadcast_to(columns, values.shape)[is_foreign][0]
            raise ValueError(
                f"X holds {values[is_foreign][0]!s} in column {column}; binarize=None "
                f"demands the codes {codes[0]:g} and {codes[1]:g}. Recode the column, "
                "or set binarize to the threshold above which a value is true."
            )
    # Compared in float64, as in the other estimators.
    values = values if values.dtype.kind in "bui" else values.astype(np.float64)
    signs = np.where(values > (binarize or 0.0), np.int8(1), np.int8(-1))
    if values.dtype.kind == "f":
        signs[np.isnan(values)] = 0
    return signs


def block_signs(X, codes, binarize):
    """Convert a few samples, dense, packed or sparse without duplicates, to signs."""
    if isinstance(X, PackedBits):
        X = unpack_words(X.words, X.n_features).view(bool)
    if not sparse.issparse(X):
        return as_signs(X, np.arange(X.shape[1]), codes, binarize)
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


def grow(sizes, log_likelihoods, weights):
    """Choose a model's size: grow it as long as held-out samples gain.

    Parameters
    ----------
    sizes : iterable of int
        In ascending order.
    log_likelihoods : callable
        Computes the log-likelihood of each held-out sample under a model of that size.
    weights : ndarray of shape (n_samples,)
        Weights of the held-out samples.

    Returns
    -------
    size : int
        The last one whose mean gain over the one before exceeds its standard error.
    """
    best, before = None, None
    for size in sizes:
        scores = log_likelihoods(size)
        if before is not None:
            gains = scores - before
            mean = np.average(gains, weights=weights)
            variance = np.average((gains - mean) ** 2, weights=weights)
            if mean <= np.sqrt(variance / len(gains)):
                break
        best, before = size, scores
    return best


def doublings(largest):
    """List 1, 2, 4 and so on up to a number."""
    return (2**k for k in range(int(largest).bit_length()))


class ContinuedFitMixin:
    """Has ``_fit(X, sample_weight, resumes)``, which can begin where the last ended."""

    @with_callbacks
    def _continue_fit(self, X, sample_weight):
        """Fit from the parameters of the last fit, if there was one."""
        return self._fit(X, sample_weight, resumes=hasattr(self, "_state"))


class UsesDensityMixin(PartitionsMixin):
    """Has the parameter `estimator`, a density model, and ``_default_density()``."""

    def _density(self):
        """Return the density model to fit clones of."""
        if self.estimator is None:
            return self._default_density()
        unusable = isinstance(self.estimator, type)
        if unusable or not hasattr(self.estimator, "score_samples"):
            raise ValueError(
                "estimator must be a density model with fit and score_samples, such as "
                f"ChowLiuTree(); got {self.estimator!r}."
            )
        return self.estimator

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._density()).input_tags
        return tags

    def _read_features(self, X, y="no_validation", *, reset=False):
        """Check samples as the density model accepts them, and labels if given."""
        tags = get_tags(self).input_tags
        accepted = {"accept_sparse": ["csr"] if tags.sparse else False}
        accepted["ensure_all_finite"] = "allow-nan" if tags.allow_nan else True
        checked = validate_data_or_bits(
            self, X, y, reset=reset, dtype=KEPT_DTYPES, **accepted
        )
        if not isinstance(X, PackedBits):
            return checked
        bits = unpack_words(X.words, X.n_features)
        return bits if isinstance(y, str) else (bits, checked[1])


def json_value(value):
    """Convert an array, a density model or a list of them to JSON types."""
    if isinstance(value, list):
        return list(map(json_value, value))
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "fit"):
        raise ValueError(f"{value!r} has no to_dict. Store the model as a pickle.")
    return value.tolist() if hasattr(value, "tolist") else value


class IncompleteDensityMixin(PartitionsMixin, DensityMixin):
    """Scores, random samples and completions for samples with missing values.

    A fitted model has

    * ``_read(X, reset, allow_missing)``: the samples in the form that the model
      computes with;
    * ``_write(samples)``: samples in the codes of the user;
    * ``_all_missing(n_samples)`` and ``_is_missing(samples)``;
    * ``_log_density(samples)``: the log-likelihood of each sample in nats, with missing
      values summed out;
    * ``_fields()``, what ``to_dict`` writes;
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

    def to_dict(self) -> dict:
        """Write the density as a dictionary of JSON types.

        Returns
        -------
        data : dict
            "type", "version", "n_features", "feature_names", which may be None, and the
            fields from which any program can compute each probability. They are named
            as in the page "Ask a table". Densities of Boolean samples also have
            "binarize", "codes", and "attributes", the number of the attribute of each
            column, or None without `feature_groups`. The components of a mixture are
            dictionaries.

        Raises
        ------
        ValueError
            For a mixture of models that have no such dictionaries.

        Examples
        --------
        >>> from sklboolean import ChowLiuTree
        >>> data = ChowLiuTree().fit([[0, 0, 1], [0, 0, 0], [1, 1, 1]]).to_dict()
        >>> data["type"], data["parents"]
        ('ChowLiuTree', [-1, 0, 0])
        """
        self._prepare_likelihood()
        fields = {name: json_value(value) for name, value in self._fields().items()}
        return versioned(type(self).__name__, fields)

    def _fields(self):
        names = getattr(self, "feature_names_in_", None)
        return {"n_features": self.n_features_in_, "feature_names": names}

    def score_samples(self, X) -> np.ndarray:
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

    def score(self, X, y=None) -> float:
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

    def sample(self, n_samples=1, random_state=None) -> np.ndarray:
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
        return self._draw(self._all_missing(n_samples), self._rng(random_state))

    def _draw(self, samples, rng):
        """Draw the missing values of samples, and write these in the user's codes."""
        return self._write(
            apply_in_blocks(lambda part: self._complete_at_random(part, rng), samples)
        )

    def impute(self, X, method="mean", random_state=None) -> np.ndarray:
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


class BinaryDensityMixin(InformationMixin, QueryMixin, IncompleteDensityMixin):
    """Methods of a density model of binary samples.

    Besides ``_log_density(signs)`` a fitted model has ``codes_`` and
    ``_complete_at_random(signs, rng)``. It may replace ``_log_odds``,
    ``_complete_by_means`` and ``_most_probable`` by faster methods. With
    ``feature_groups`` it needs ``_complete_by_means`` and no ``_log_odds``, and it is
    only given samples that are possible.
    """

    _bits_of = bits_of_booleans  # others have codes, and missing values
    _attributes = None  # with feature_groups an object of class Attributes
    _learns_with_gaps = False

    _completions = MappingProxyType(
        {
            "mean": "_complete_by_means",
            "map": "_complete_by_most_probable",
            "sample": "_complete_at_random",
        }
    )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._learns_with_gaps
        return tags

    def _read(self, X, *, reset=False, allow_missing=True, ignored=(), packed=False):
        """Validate a data set and convert its values to signs.

        Sparse data become dense, with one byte for each value, or two bits.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit.
        reset : bool
            Whether to set ``n_features_in_``, ``feature_names_in_`` and ``codes_``.
        allow_missing : bool
            Whether bits may be missing.
        ignored : list of int
            Columns whose values count as missing.
        packed : bool
            Whether to return PackedSigns; not with ``allow_missing=False``.

        Returns
        -------
        signs : C-contiguous ndarray of shape (n_samples, n_features), dtype int8
            1 where a bit is true, -1 where it is false, 0 where it is missing and the
            known bits of its group do not decide it.

        Raises
        ------
        ValueError
            For NaN where it is not allowed, for codes that ``binarize=None`` does
            not accept, and for groups without a true bit or with two.
        """
        check_binarize(self.binarize)
        X_user = X
        accepted = {"accept_sparse": ["csr", "csc"], "ensure_all_finite": "allow-nan"}
        X = validate_data_or_bits(self, X, reset=reset, dtype=KEPT_DTYPES, **accepted)
        X = without_duplicates(X)
        codes = find_codes(X) if reset else self.codes_
        if reset:
            self._attributes, groups = None, getattr(self, "feature_groups", None)
            if groups is not None:
                self._attributes = Attributes.from_labels(groups, X.shape[1])
        signs = PackedSigns(X.shape) if packed else np.empty(X.shape, dtype=np.int8)
        always = self._fill_signs(signs, X, codes, ignored)
        if isinstance(X, np.ndarray):
            warn_of_lost_columns(self, X, always if reset else None, self.binarize)
        if self._attributes is not None:
            self._complete_groups(signs, X_user)
        if not allow_missing:
            self._check_complete(X_user, signs, reset)
        if reset:
            self.codes_ = codes
        return signs

    def _fill_signs(self, signs, X, codes, ignored):
        """Fill in the signs of X block by block; find columns that are always true."""
        X = X.tocsr() if sparse.issparse(X) else X
        always = np.ones(X.shape[1], dtype=bool)
        for start in range(0, len(signs), BLOCK_SIZE):
            here = slice(start, start + BLOCK_SIZE)
            block = block_signs(X[here], codes, self.binarize)
            always &= (block == 1).all(axis=0)
            block[:, list(ignored)] = 0
            signs[here] = block
        return always

    def _complete_groups(self, signs, given):
        """Complete groups, block by block; refuse samples that they exclude."""
        for start in range(0, len(signs), BLOCK_SIZE):
            here = slice(start, start + BLOCK_SIZE)
            self._check_groups(given, signs[here], start)
            signs[here] = self._attributes.complete(signs[here])

    def _check_complete(self, given, signs, reset):
        """Refuse samples with missing bits."""
        if signs.all():
            return
        column = column_of(given, np.flatnonzero((signs == 0).any(axis=0))[0])
        remedy = "Fill them in with impute."
        if reset:
            remedy = (
                "BernoulliMixture and ChowLiuTree learn from samples with missing "
                "bits; their impute fills them in for other models. Or leave out those "
                "samples."
            )
        raise ValueError(f"Input X contains NaN in {column}. {remedy}")

    def _check_groups(self, given, signs, start):
        """Refuse samples with a group that can have no true bit, or that has two."""
        impossible = np.argwhere(self._attributes.impossible(signs))
        if not len(impossible):
            return
        sample, attribute = impossible[0]
        columns = self._attributes.columns_of(attribute)
        n_true = np.count_nonzero(signs[sample, columns] > 0)
        first, last = (column_of(given, columns[k]) for k in (0, -1))
        raise ValueError(
            f"Sample {start + sample} of X has {n_true or 'no'} true columns in the "
            f"group from {first} to {last}; feature_groups demands exactly one. Set "
            "its columns to NaN if the value is not known, or give them labels of "
            "their own."
        )

    def _fields(self):
        attributes = self._attributes
        return super()._fields() | {
            "binarize": self.binarize,
            "codes": self.codes_,
            "attributes": None if attributes is None else attributes.of_column,
        }

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

    def predict_proba_bits(self, X, columns) -> np.ndarray:
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
        return self._joint_probabilities(self._read(X, ignored=columns), columns)

    def _joint_probabilities(self, signs, columns):
        """Compute the probabilities of all states of columns, a row per sample."""
        states = all_signs(len(columns))
        joint = np.empty((len(signs), len(states)))
        step = max(1, BLOCK_SIZE // len(states))
        for start in range(0, len(signs), step):
            copies = np.repeat(signs[start : start + step], len(states), axis=0)
            copies[:, columns] = np.tile(states, (len(copies) // len(states), 1))
            scores = self._log_marginals(copies)
            joint[start : start + step] = scores.reshape(-1, len(states))
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def _log_marginals(self, signs):
        """Compute the log-probability of known bits; -inf where groups exclude them."""
        if self._attributes is None:
            return apply_in_blocks(self._log_density, signs)
        possible = ~self._attributes.impossible(signs).any(axis=1)
        logs = np.full(len(signs), -np.inf)
        if possible.any():
            signs = self._attributes.complete(signs)[possible]
            logs[possible] = apply_in_blocks(self._log_density, signs)
        return logs

    def _complete_by_most_probable(self, signs, rng=None):
        """Replace the missing bits by their jointly most probable values."""
        filled, n_inexact = signs.copy(), 0
        for i, sample in enumerate(signs):
            filled[i], exact = self._most_probable(sample[None])
            n_inexact += not exact
        if n_inexact:
            warn_user(
                f"In {n_inexact} samples there are too many likely completions to "
                "compare all of them. A good completion is returned, which may not be "
                "the most probable one. method='mean' and 'sample' are exact."
            )
        return filled

    def _most_probable(self, known):
        """Complete one sample, and test whether no completion is more probable."""
        attributes = self._attributes or Attributes(np.arange(known.shape[1]))
        allowed = attributes.allowed(known)[0]
        choices = [np.flatnonzero(allowed[here]) for here in attributes.slices]
        free = [k for k, choice in enumerate(choices) if len(choice) > 1]
        n_completions = np.prod([float(len(choices[k])) for k in free])
        if n_completions > MAX_COMPLETIONS:
            return self._best_ascent(known, attributes, choices, free), False
        grid = np.meshgrid(*(choices[k] for k in free), indexing="ij")
        values = np.tile([choice[0] for choice in choices], (int(n_completions), 1))
        for k, axis in zip(free, grid, strict=True):
            values[:, k] = axis.ravel()
        candidates = attributes.to_signs(values)
        return candidates[self._log_density(candidates).argmax()], True

    def _best_ascent(self, known, attributes, choices, free):
        """Change one attribute at a time, from several starts, while one gains."""
        rng = np.random.RandomState(0)  # the same completion in each call
        scores = attributes.spread(self._complete_by_means(known.copy()))[0]
        best = [
            choice[scores[here][choice].argmax()]
            for choice, here in zip(choices, attributes.slices, strict=True)
        ]
        drawn = self._complete_at_random(np.repeat(known, N_STARTS, axis=0), rng)
        tops = np.concatenate([attributes.to_signs(np.array([best])), drawn])
        before, logs = None, self._log_density(tops)
        # Each pass tries all values of one attribute after the other, in all starts.
        while before is None or (logs > before + 1e-9).any():
            before = logs
            for k in free:
                columns = attributes.columns_of(k)
                signs = attributes.value_signs(k)[choices[k]]
                trials = np.repeat(tops, len(signs), axis=0)
                trials[:, columns] = np.tile(signs, (len(tops), 1))
                scores = self._log_density(trials).reshape(len(tops), -1)
                chosen, logs = scores.argmax(axis=1), scores.max(axis=1)
                tops = trials.reshape(*scores.shape, -1)[np.arange(len(tops)), chosen]
        return tops[logs.argmax()]

    def _column_numbers(self, columns, most=MAX_COLUMNS):
        """Convert column names and numbers to checked column numbers."""
        n_features = self.n_features_in_
        names = list(getattr(self, "feature_names_in_", ()))
        columns = [columns] if np.ndim(columns) == 0 else list(columns)
        if not 1 <= len(columns) <= most:
            raise ValueError(
                f"columns must name 1 to {most} columns; got {len(columns)}."
            )
        numbers = []
        for column in columns:
            if isinstance(column, str):
                if column not in names:
                    available = f"the names are {names}" if names else "X had no names"
                    raise ValueError(
                        f"columns holds {column!r}, which is not a column: "
                        f"{available}. Give a name, or a number from 0 to "
                        f"{n_features - 1}."
                    )
                numbers.append(names.index(column))
            else:
                numbers.append(check_integer(column, "columns", 0, n_features - 1))
        if len(set(numbers)) < len(numbers):
            raise ValueError(f"columns holds a column twice: {columns}.")
        return numbers

    def completion_error(self, X) -> float:
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
            to be true. With ``feature_groups``: over all known attributes, each
            predicted as a whole.
        """
        signs, n_known = self._read_known(X, "predicted")

        if self._attributes is not None:
            return self._attribute_error(signs)

        def count_mistakes(signs):
            wrong = (self._log_odds(signs) >= 0) != (signs > 0)
            return np.array([np.count_nonzero(wrong & (signs != 0))])

        return float(apply_in_blocks(count_mistakes, signs).sum() / n_known)

    def _attribute_error(self, signs):
        n_wrong, n_known = 0, 0
        for attribute in range(len(self._attributes.sizes)):
            columns = self._attributes.columns_of(attribute)
            signs_known = signs[(signs[:, columns] != 0).all(axis=1)]
            if not len(signs_known):
                continue
            hidden = signs_known.copy()
            hidden[:, columns] = 0
            means = apply_in_blocks(self._complete_by_means, hidden)[:, columns]
            wrong = (means[:, 0] >= 0) != (signs_known[:, columns[0]] > 0)
            if len(columns) > 1:
                wrong = means.argmax(axis=1) != signs_known[:, columns].argmax(axis=1)
            n_wrong += np.count_nonzero(wrong)
            n_known += len(signs_known)
        return n_wrong / n_known

    def scaled_log_loss(self, X) -> float:
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
