"""DensityImputer: fill the missing values of a data frame by a density model."""

# Steps of `fit`: encode the columns as bits, in which a missing value is NaN; fit
# densities to the bits; fit a ridge regression of each number on the other columns,
# filled in. Steps of `transform`: the densities give the probability of each bit,
# (n_samples, n_bits) float64; a category takes its most probable level, a number its
# conditional mean.

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.deprecation import jobs_of_context, old_parameters
from sklboolean._core.packed_partitions import PartitionsMixin
from sklboolean._core.versioned import VersionedEstimator
from sklboolean.density._combination_machine import CombinationMachine
from sklboolean.density._density_mixture import DensityMixture
from sklboolean.density._filling import column_types, fill_missing
from sklboolean.density._frame_bits import FrameBits
from sklboolean.density._number_regressions import NumberRegressions
from sklboolean.preprocessing import BooleanEncoder
from sklboolean.preprocessing._frames import read_columns

N_MACHINES = 2  # of the default, beside a mixture
MAX_SAMPLES = 2000  # to which they are fitted


@old_parameters(n_jobs=jobs_of_context)
class DensityImputer(
    PartitionsMixin, OneToOneFeatureMixin, TransformerMixin, VersionedEstimator
):
    """Fill missing values with their most probable values given the known ones.

    A density model of the encoded columns is fitted to the incomplete data. A missing
    category becomes its most probable level, one with an order the level of its
    conditional median, and a missing number its conditional mean. Numbers are rounded
    if the column holds integers or decimals. By default the mean of a number is
    averaged with a ridge regression on all other columns. Each filled cell has exactly
    one value. Data frames stay data frames of the same types.

    Parameters
    ----------
    estimator : density model or None, default=None
        A model that can be fitted to Boolean features with NaN and has ``impute``, such
        as `BernoulliMixture`. A search such as ``GridSearchCV`` stands for its best
        estimator. If its ``feature_groups`` is None, the features of each category
        become a group. None: ``DensityMixture()``, which held-out samples choose, and
        two machines on trees, ``CombinationMachine(2, base="fixed_chow_liu")``, fitted
        to at most 2000 samples. The mean of their probabilities counts, and for numbers
        as much a ridge regression on the other columns as these fill them in.
    encoder : BooleanEncoder or None, default=None
        Set its ``n_bins``, ``kinds`` or ``max_categories``. Its ``missing`` and
        ``complement`` are set to "propagate" and False. None:
        ``BooleanEncoder(n_bins=10)``.
    random_state : int, RandomState instance or None, default=None
        Seed of the default densities. An int makes the result reproducible.

    Attributes
    ----------
    estimators_ : list of density models
        The fitted density, or those of the default.
    encoder_ : BooleanEncoder
        The fitted encoder.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    BernoulliMixture.impute : Means, most probable completions and draws of bits.
    BooleanEncoder : Encodes a missing value as a feature of its own instead.

    Notes
    -----
    Each cell is filled by itself. The level of largest conditional probability
    minimizes the expected number of wrong cells; the mean minimizes the expected
    squared error of a number. It is the mean over the intervals of the encoder, each
    represented by the mean of its training values. Multiple missing cells of a sample
    need not be its jointly most probable completion. A level that the training data did
    not have counts as unknown when other cells of its sample are filled.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import DensityImputer
    >>> X = [["rain", "wet"], ["sun", "dry"]] * 10 + [["rain", None], [None, "dry"]]
    >>> DensityImputer(random_state=0).fit_transform(X)[-2:].tolist()
    [['rain', 'wet'], ['sun', 'dry']]
    """

    _interval_means = ()  # 0.1.0 stored none: its models fill in conditional medians
    _regressions = None  # 0.1.0 had none
    _column_types = None  # 0.2.0 had none

    def __init__(self, estimator=None, *, encoder=None, random_state=None):
        self.estimator = estimator
        self.encoder = encoder
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def fit(self, X, y=None) -> "DensityImputer":
        """Fit the density to the incomplete samples.

        Parameters
        ----------
        X : pandas or polars data frame, pyarrow table, or array-like
            Samples of shape (n_samples, n_features). NaN, None and NA are missing
            values.
        y : None, default=None
            Ignored.

        Returns
        -------
        self : DensityImputer
            The fitted imputer.

        Raises
        ------
        ValueError
            For data that `BooleanEncoder` does not take, for a column without a known
            value, and for an ``estimator`` that cannot be fitted to missing values. An
            earlier fit is kept.
        """
        with restore_on_error(self):
            density = getattr(self.estimator, "estimator", self.estimator)
            if density is not None and not hasattr(density, "impute"):
                raise ValueError(
                    "estimator must be a density model with the method impute, such as "
                    f"BernoulliMixture; got {self.estimator!r}."
                )
            columns = read_columns(self, X, reset=True)
            for column in columns:
                if column.missing().all():
                    raise ValueError(
                        f"Column {column.name!r} of X has no known value, so nothing "
                        "can be filled in. Drop the column."
                    )
            default = BooleanEncoder(n_bins=10)
            encoder = default if self.encoder is None else self.encoder
            self.encoder_ = FrameBits.fit_encoder(encoder, X)
            self._column_types = column_types(X, columns)
            self._interval_means = self._fit_interval_means(columns)
            rng = check_random_state(self.random_state)
            frame_bits = FrameBits(self.encoder_)
            bits = frame_bits.encode(X)
            self.estimators_ = self._fit_densities(frame_bits, bits, rng)
            self._regressions = self._fit_regressions(frame_bits, bits, columns, rng)
        return self

    def _fit_densities(self, frame_bits, bits, rng):
        """Fit the densities; the features of a category are a group of them."""
        if self.estimator is not None:
            fitted = frame_bits.with_groups(self.estimator).fit(bits)
            return [getattr(fitted, "best_estimator_", fitted)]
        # All seeds are drawn first: one density does not change those of the others.
        seed, *seeds = rng.randint(2**31, size=1 + N_MACHINES)
        mixture = DensityMixture(random_state=seed)
        fitted = [frame_bits.with_groups(mixture).fit(bits)]
        how = {"base": "fixed_chow_liu", "n_init": 1, "max_iter": 20}
        for seed in seeds:
            machine = CombinationMachine(2, random_state=seed, **how)
            chosen = rng.permutation(len(bits))[:MAX_SAMPLES]
            fitted.append(frame_bits.with_groups(machine).fit(bits[chosen]))
        return fitted

    def _fit_regressions(self, frame_bits, bits, columns, rng):
        """Fit regressions of the numbers, for the default densities."""
        if self.estimator is not None:
            return None
        chosen = rng.permutation(len(bits))[:MAX_SAMPLES]
        means = self._impute(bits[chosen])
        numbers = [
            j for j, centres in enumerate(self._interval_means) if centres is not None
        ]
        is_known = ~np.column_stack([column.missing()[chosen] for column in columns])
        values = self._numbers(columns, chosen, means)
        return NumberRegressions(frame_bits.columns, numbers, values, means, is_known)

    def _fit_interval_means(self, columns):
        """Compute the mean training value between two thresholds, for each number."""
        means = []
        for column, thresholds in zip(columns, self.encoder_.thresholds_, strict=True):
            if column.numbers is None or not len(thresholds):
                means.append(None)
                continue
            values = column.numbers[~column.missing()].astype(np.float64)
            places = np.searchsorted(thresholds, values)
            counts = np.bincount(places, minlength=len(thresholds) + 1)
            # A sum of the values themselves may overflow.
            centres = np.bincount(places, values / counts[places], len(counts))
            occupied = np.flatnonzero(counts)
            # Thresholds of the user may have no value between them.
            means.append(np.interp(np.arange(len(counts)), occupied, centres[occupied]))
        return means

    def transform(self, X):
        """Fill in missing values.

        Parameters
        ----------
        X : pandas or polars data frame, pyarrow table, or array-like
            Samples of shape (n_samples, n_features), with the columns of ``fit``.

        Returns
        -------
        filled : data frame, table or ndarray of shape (n_samples, n_features)
            A copy of X without missing values. Frames keep their type and the types of
            their columns. A column that holds nothing, or that cannot hold the value,
            gets the type that it had in ``fit``. If ``fit`` saw an array, frames become
            arrays. Arrays are float64, or object where a column is a category.

        Raises
        ------
        ValueError
            For columns of another kind than in ``fit``, and for a column in which a
            missing value is left.
        """
        check_is_fitted(self)
        columns = read_columns(self, X, reset=False)
        missing = np.column_stack([column.missing() for column in columns])
        incomplete = np.flatnonzero(missing.any(axis=1))
        values = np.empty((0, len(columns)))
        if len(incomplete):
            bits = FrameBits(self.encoder_).encode(X)[incomplete]
            means = self._impute(bits)
            values = self.encoder_.inverse_transform(self._most_probable(means))
            self._fill_numbers(values, columns, incomplete, means)
        fitted = self._column_types or column_types(X, columns)
        return fill_missing(X, columns, missing, values, fitted)

    def _impute(self, bits):
        """Average the probabilities of the densities."""
        return np.mean([density.impute(bits) for density in self.estimators_], axis=0)

    def _most_probable(self, means):
        """Choose the level with the largest probability, for each category."""
        chosen = means >= 0.5
        for is_column, kind in FrameBits(self.encoder_).columns:
            if kind == "category":
                best = means[:, is_column].argmax(axis=1)
                chosen[:, is_column] = np.arange(len(is_column)) == best[:, None]
            elif kind != "boolean":  # the median; probabilities of <= t ascend with t
                ascending = np.maximum.accumulate(means[:, is_column], axis=1)
                chosen[:, is_column] = ascending >= 0.5
        return chosen

    def _fill_numbers(self, values, columns, samples, means):
        """Replace numbers by their conditional means, averaged with regressions."""
        numbers = self._numbers(columns, samples, means)
        for j, centres in enumerate(self._interval_means):
            if centres is None:
                continue
            values[:, j] = numbers[:, j]
            predicted = None
            if self._regressions is not None:
                predicted = self._regressions.predict(j, numbers, means)
            if predicted is not None:
                # A sum of two large numbers may overflow.
                values[:, j] = numbers[:, j] / 2 + predicted / 2

    def _numbers(self, columns, samples, means):
        """List the known numbers of samples, and conditional means of the others."""
        places = FrameBits(self.encoder_).columns
        numbers = np.full((len(samples), len(columns)), np.nan)
        for j, centres in enumerate(self._interval_means):
            if centres is None:
                continue
            is_column, _ = places[j]
            # P(<= t) ascends with t. Models of separate bits may break that.
            below = np.maximum.accumulate(means[:, is_column], axis=1)
            shares = np.diff(below, axis=1, prepend=0.0, append=1.0)
            numbers[:, j] = np.clip(shares @ centres, centres.min(), centres.max())
            is_known = ~columns[j].missing()[samples]
            if is_known.any():  # a column without a value has no type
                known_numbers = columns[j].numbers[samples[is_known]]
                numbers[is_known, j] = known_numbers.astype(np.float64)
        return numbers
