"""BooleanEncoder: data frames to Boolean features whose names say what they mean."""

# The way of a column through the encoder:
#
# 1. `read_columns` makes a `Column` of it, whatever the container: numbers, or codes of
#    levels.
# 2. `ColumnSummary` counts its values. Summaries of batches and partitions add up, so
#    all kinds of fit end in `_fit_summaries`.
# 3. `ColumnFitter` chooses thresholds and levels, and makes a fitted column: the list
#    of its conditions.
# 4. ``transform`` reads each value as the number of a run, int of shape (n_samples,)
#    for each column: the consecutive conditions that hold. Dense and sparse features
#    are written from the runs.
#
# One row takes the same runs, found value by value; only a value that needs a closer
# look becomes a `Column`.

from collections import Counter
from functools import partial
from itertools import chain

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin, clone
from sklearn.utils import ClassifierTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.damage import require
from sklboolean._core.data_errors import check_n_features
from sklboolean._core.formula import Columns
from sklboolean._core.formulas import check_input_names, feature_names_of
from sklboolean._core.memory import check_free
from sklboolean._core.packed_partitions import PartitionsMixin, run_on_workers
from sklboolean._core.parameters import (
    check_choice,
    check_integer,
    check_least,
    is_auto,
)
from sklboolean._core.partitions import (
    TableSchema,
    has_no_weight,
    in_partitions,
    is_empty,
    load_samples,
    n_partitions,
    prefix_errors,
    split_samples,
)
from sklboolean._core.sql_code import SqlFeatures
from sklboolean._core.validation import check_array_strict, has_fitted_names, warn_user
from sklboolean._core.versioned import VersionedEstimator
from sklboolean.preprocessing._column_fitting import ColumnFitter, check_by_column
from sklboolean.preprocessing._column_summary import ColumnSummary, add_partitions
from sklboolean.preprocessing._column_warnings import (
    check_features,
    messages_of_new_values,
    warn_of_columns,
)
from sklboolean.preprocessing._derived_columns import decoded, encoder_code
from sklboolean.preprocessing._encoded_columns import (
    conditions_of_one,
    no_features_like,
    sparse_conditions,
)
from sklboolean.preprocessing._frames import (
    PLAIN_VALUES,
    frame_like,
    is_frame,
    name_text,
    read_columns,
    read_value,
    row_of,
)
from sklboolean.preprocessing._times import origins_of


def _adds_batches(encoder):
    if hasattr(encoder, "_state") and not hasattr(encoder, "_summaries"):
        raise AttributeError(
            "fit keeps no counts to which a batch could be added. Use partial_fit for "
            "all batches, beginning with a new encoder: sklearn.base.clone(encoder)."
        )
    return True


def unfitted_encoder(encoder, **params):
    """Clone the encoder of a user; None: make one with these parameters."""
    if isinstance(encoder, BooleanEncoder | None):
        return BooleanEncoder(**params) if encoder is None else clone(encoder)
    raise ValueError(f"encoder must be a BooleanEncoder or None; got {encoder!r}.")


class BooleanEncoder(PartitionsMixin, TransformerMixin, VersionedEstimator):
    """Encode the columns of a data frame as Boolean features with readable names.

    Numbers become ``age <= 44.5`` and ``age > 44.5`` for a few thresholds, categories
    become ``color = red``, ordered ones ``size <= medium``, dates ``when > 2024-03-01``
    and ``when weekday = Monday``, lists of tags ``tags has new``, and missing values
    ``income is missing``. Booleans stay as they are. Estimators of this package find
    the names in a data frame, and in a pipeline, and merge thresholds to ``16 < age <=
    44.5`` in the rules they print.

    Parameters
    ----------
    n_bins : int or "auto", default="auto"
        Maximum number of intervals of a column of numbers, at least 2. There is one
        threshold less. "auto": 8 intervals by quantiles, and strict cuts by the labels,
        if y holds 2 to 32 classes. Otherwise 16, and every value of columns of up to
        32; see Notes. For "tree" and "monotone" it is 8. Choose 32 or more for models
        that learn from columns, such as `BooleanGaussianProcessRegressor`: their cost
        does not grow with it.
    strategy : {"quantile", "tree", "monotone"}, default="quantile"
        How thresholds are chosen. "quantile": intervals hold about equally many
        samples. "tree": those of a decision tree with ``n_bins`` leaves that predicts y
        from the column alone; choose it for long-tailed columns of which few thresholds
        matter. "monotone", for scorecards: the share of the second class only rises, or
        only falls, from interval to interval; see Notes.
    thresholds : dict or None, default=None
        Thresholds of chosen columns by column name, or by number for arrays, for
        example ``{"age": [18, 65]}``. They replace those of ``strategy``. Those of an
        ordered category are levels, ``{"size": ["medium"]}``, those of dates are dates
        in UTC, ``{"when": ["2024-03-01"]}``, and those of durations numbers of days.
    complement : bool, default=True
        Whether numbers also get the columns ``name > t``. Monotone models can then
        express intervals and lower bounds, and a missing value satisfies neither
        condition. False halves the number of columns, for models that negate features
        themselves.
    kinds : dict or None, default=None
        "boolean", "category", "number" or "ordered" for chosen columns, by name, or by
        number for arrays. The others are inferred: text is a category, a type with an
        order (of pandas with ``ordered=True``, Enum of polars, ordered dictionaries of
        Arrow) is ordered, and numbers of which all are 0 or 1 are Boolean. Later
        numbers of these count as true above 0.5; only columns of type bool, and those
        that are "boolean" here, insist on two values. Set "category" for codes such as
        postcodes.
    min_frequency : int, float, "auto" or None, default="auto"
        Levels of fewer samples share the column ``name is rare``. An integer is a
        number of samples, a float a fraction. None: no limit. "auto": five samples in
        columns of more than 32 levels, of which at most 4000 keep a column of their
        own. A column without such a level, an identifier or free text, is left out with
        a warning. This applies to columns that ``kinds`` does not name, and without
        ``max_categories``.
    max_categories : int or None, default=None
        Maximum number of columns for the levels of a category, ``name is rare``
        included; the most frequent levels keep theirs. Set it for columns of very many
        levels. None: no limit.
    handle_unknown : {"ignore", "error", "infrequent_if_exist"}, default="ignore"
        What ``transform`` does with levels that were not in the training data.
        "ignore": they satisfy no condition. "infrequent_if_exist": they count as rare
        where the category has a column ``name is rare``. "error": they are an error.
        Missing values in a column that had none satisfy no condition, or are an error
        with "error". ``transform`` warns once for each column of new levels, and of new
        missing values in Booleans, where they count as false, in numbers and in ordered
        levels. With ``complement=False`` both are errors in numbers and ordered levels,
        where no condition would mean the largest values.
    missing : {"indicator", "propagate"}, default="indicator"
        "indicator": missing values have a column ``name is missing`` where the training
        data have any, and all other conditions are false. "propagate": all columns of
        the attribute are NaN, and the output is float32, for density models that accept
        missing values.
    sparse_output : bool, default=False
        Return a CSR array. It takes less memory than a dense array only for categories
        of many levels. Estimators of this package find the names of its columns;
        others, and slices of it, see numbered columns.
    reference : dict or None, default=None
        For chosen columns of dates, by name or number, a date from which they are
        measured, or the name of the column that holds it, for example ``{"end":
        "start"}``. Their thresholds are then numbers of days, ``days from start to end
        <= 30``. Set it where ages and intervals matter more than the date itself.
    special : dict, list or None, default=None
        Codes in columns of numbers that are no numbers, such as -999 for "no record":
        a list for all columns, or a dict of lists by name or number. A code that
        ``fit`` sees has a feature, ``income = -999``, and satisfies no threshold. A
        code that it does not see is treated like a new level.

    Attributes
    ----------
    kinds_ : list of str
        Kind of each column: "boolean", "category", "number", "ordered", "date", "date
        in UTC" (of dates with time zones), "duration" or "tags". "unknown": ``fit`` saw
        no value, or left the column out. It takes any value later, of which no
        condition holds.
    thresholds_ : list of ndarray
        Thresholds of each column, ascending, float64, or integers where some are beyond
        2**53. For an ordered category places in ``categories_``, for dates
        datetime64, for durations and days since a ``reference`` days. Empty for other
        kinds.
    categories_ : list of tuple
        Levels and tags of each column that have a feature of their own; of an ordered
        category all levels in their order. Empty for other kinds.
    feature_groups_ : ndarray of shape (n_features_out,), dtype object
        Name of the column that each feature describes.
    order_ : ndarray of shape (n_features_out,), dtype int
        Number of the threshold of each feature within its column, -1 for others.
    quantile_error_ : ndarray of shape (`n_features_in_`,)
        After ``partial_fit`` and ``fit_partitions``, the largest share of the samples
        by which the share at most a threshold may be wrong, for each column: 0 where it
        is exact. For n samples it is at most ``(1 + log2(n / 8192)) / 8192``, 0.0018
        for a hundred million.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    ConjunctionFeatures : Conjunctions of Boolean features as columns.
    sklearn.preprocessing.OneHotEncoder : Categories only.
    sklearn.preprocessing.KBinsDiscretizer : Numbers as intervals, named by number.

    Notes
    -----
    A threshold t between two neighbouring training values a and b, a <= t < b, is
    written with as few decimals as an interval [a, b) allows, so names stay short and
    every training value stays on its side.

    The strict cuts of ``n_bins="auto"`` are those of a tree of at most six leaves that
    predicts the labels from the column alone, of five samples or more each. Each cut
    shortens the description of k labels by ``6 + k`` bits or more, so labels that do
    not depend on the column give none, and held-out estimates stay honest. A quantile
    close to a strict cut is left out, and a value that a sixteenth of the samples have
    gets thresholds on both sides.

    Sample weights count as numbers of copies in quantiles, frequencies and cuts; where
    their mean is below 1, they are divided by it. They are rounded to 24 bits, so their
    sums do not depend on the order of batches.

    With ``strategy="monotone"`` the intervals of a column are at most ``n_bins``, each
    of five samples or more. Among all such intervals with shares that only rise, or
    only fall, they have the largest leave-one-out likelihood: each label is predicted
    by the share among the other samples of its interval. So a column that explains
    little gets few thresholds. For columns with more than 64 distinct values, 63
    quantiles are tried.

    ``min_frequency``, ``max_categories`` and ``handle_unknown`` mean what they mean in
    scikit-learn's ``OneHotEncoder``, except that as many levels as ``max_categories``
    all keep their columns.

    Integers beyond 2**53 are compared exactly. Numbers that neither float64 nor 64-bit
    integers hold apart are refused, but may be categories. Infinity, times of day and
    periods are refused. Masked values are missing, and bytes are read as UTF-8 text.
    Other objects are levels where equal ones compare equal, such as UUIDs.

    Dates, durations and lists of text are known by their types, of pandas, polars,
    pyarrow, numpy or Python; text is never taken for a date. A date has thresholds, and
    its month, its weekday and its hour are levels where they vary. Dates with time
    zones are read in UTC. Nanoseconds are compared exactly with thresholds, which are
    whole microseconds. Durations are numbers of days. A tag has a feature if two
    samples have it, of more than 32 tags five, or as ``min_frequency`` and
    ``max_categories`` say.

    ``fit`` warns of constant columns, of text in which nearly all values are numbers or
    dates, of columns that it leaves out, of levels that differ only in blanks or case,
    and of more than 400 levels, unless ``kinds`` says that the column is a category. A
    type that says so silences the second. Inside a cross-validation of scikit-learn it
    is silent of constant columns and of columns left out, and ``transform`` of new
    levels and gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import BooleanEncoder
    >>> X = [[23, "red"], [31, "blue"], [47, "red"], [np.nan, "red"]]
    >>> encoder = BooleanEncoder(n_bins=2).fit(X)
    >>> encoder.get_feature_names_out(["age", "color"]).tolist()
    ['age <= 30', 'age > 30', 'age is missing', 'color = blue', 'color = red']
    >>> encoder.transform(X).astype(int)
    array([[1, 0, 0, 0, 1],
           [0, 1, 0, 1, 0],
           [0, 1, 0, 0, 1],
           [0, 0, 1, 0, 1]])
    """

    _gathered = ()  # fit gathers summaries

    def __init__(
        self, *, n_bins="auto", strategy="quantile", thresholds=None, complement=True,
        kinds=None, min_frequency="auto", max_categories=None, handle_unknown="ignore",
        missing="indicator", sparse_output=False, reference=None, special=None,
    ):  # fmt: skip
        self.n_bins = n_bins
        self.strategy = strategy
        self.thresholds = thresholds
        self.complement = complement
        self.kinds = kinds
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.handle_unknown = handle_unknown
        self.missing = missing
        self.sparse_output = sparse_output
        self.reference = reference
        self.special = special

    def __setstate__(self, state):
        if "_state" in state:  # older encoders had no dates
            absent = {"_origins": {}, "_subcolumns": state["_state"], "_warned": set()}
            state = absent | state
        super().__setstate__(state)
        if "_state" in state and "_names" not in state:
            self._names = self._names_of(feature_names_of(self))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = self.strategy != "quantile"
        if self.strategy == "monotone":  # the labels must be of two classes
            tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.transformer_tags.preserves_dtype = []  # the parameters decide
        return tags

    def fit(self, X, y=None, sample_weight=None) -> "BooleanEncoder":
        """Choose thresholds and levels.

        Parameters
        ----------
        X : pandas or polars data frame, pyarrow table, or array-like
            Samples of shape (n_samples, n_features). NaN, None and NA are missing
            values. Other objects with the Arrow interface, such as record batches and
            relations of DuckDB, are read as tables. A frame or array of Dask, or a list
            of functions that load partitions, is summarized where it is; ``y`` is
            divided alike. Partitions are read once, or three times if a column holds
            more than 32768 distinct numbers. The encoder is that of all samples in one
            place.
        y : array-like of shape (n_samples,), default=None
            Labels for ``n_bins="auto"``, ``strategy="tree"`` and "monotone", or real
            values for "tree".
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, at least 0. None: 1.

        Returns
        -------
        self : BooleanEncoder
            The fitted encoder.

        Raises
        ------
        ValueError
            For invalid parameters, for infinity, for columns that cannot be read as
            their kind, and when every column is constant. An earlier fit is kept.
        """
        with restore_on_error(self):
            fit = self._fit_partitions if in_partitions(X) else self._fit
            fit(X, y, sample_weight)
        return self

    def fit_transform(self, X, y=None, sample_weight=None):
        """Choose thresholds and levels, and mark the conditions that hold.

        The same as ``fit`` and ``transform``, but X is read once.

        Parameters
        ----------
        X : pandas or polars data frame, pyarrow table, or array-like
            As for ``fit``.
        y : array-like of shape (n_samples,), default=None
            As for ``fit``.
        sample_weight : array-like of shape (n_samples,), default=None
            As for ``fit``.

        Returns
        -------
        features : ndarray, csr_array or data frame of shape (n_samples, n_features_out)
            As from ``transform``.

        Raises
        ------
        ValueError
            As for ``fit`` and ``transform``. An earlier fit is kept.
        """
        if in_partitions(X):
            return self.fit(X, y, sample_weight).transform(X)
        with restore_on_error(self):
            columns, _ = self._fit(X, y, sample_weight)
            return self._encode(X, columns)

    @available_if(_adds_batches)
    def partial_fit(self, X, y=None, sample_weight=None) -> "BooleanEncoder":
        """Choose thresholds and levels from one more batch.

        After any number of batches the encoder is the one that ``fit`` gives on all of
        them, exactly for levels, for numbers of up to 32768 distinct values and for
        a single batch. For others the thresholds are quantiles up to `quantile_error_`.

        Parameters
        ----------
        X : pandas or polars data frame, pyarrow table, or array-like
            As for ``fit``, with the columns of the batches before.
        y : array-like of shape (n_samples,), default=None
            Labels, used if all batches have them. Real values serve only ``fit``.
        sample_weight : array-like of shape (n_samples,), default=None
            As for ``fit``.

        Returns
        -------
        self : BooleanEncoder
            The encoder, fitted to the batches so far. As long as all their columns are
            constant, it makes no features.

        Raises
        ------
        ValueError
            As for ``fit``, for a column whose kind or order of levels changes, and for
            ``strategy="tree"`` with real values. The encoder stays as it was.
        AttributeError
            After ``fit``, which keeps no counts to which a batch could be added.
        """
        with restore_on_error(self):
            self._check_params()
            # Nothing is set before the whole batch was read and merged: a failure
            # changes nothing.
            is_first = not hasattr(self, "_summaries")
            columns = self._read(X, reset=is_first)
            batch, _ = self._fitter().summarize(columns, y, sample_weight)
            if not is_first:
                batch = ColumnSummary.merge_all(self._summaries, batch)
            self._fit_summaries(batch)
            self._summaries = batch
        return self

    def fit_partitions(self, partitions) -> "BooleanEncoder":
        """Choose thresholds and levels from samples that are stored in several places.

        Each partition is summarized in a task of joblib, and the summaries are added.
        The encoder depends neither on the number of tasks nor on joblib's backend.

        Parameters
        ----------
        partitions : iterable
            Data as for ``fit``, tuples (X, y) or (X, y, sample_weight), callables that
            load and return one of these, or objects with such a method ``compute``. A
            data frame of Dask is read as its partitions.

        Returns
        -------
        self : BooleanEncoder
            The fitted encoder: that of ``fit`` on all samples, as from ``partial_fit``.
            ``partial_fit`` continues from it.

        Raises
        ------
        ValueError
            As for ``partial_fit``, with the number of the partition. The encoder stays
            as it was.
        """
        with restore_on_error(self):
            summaries = self._sum_up(partitions)
            self._fit_summaries(summaries, is_last=True)
            self._summaries = summaries
        return self

    def _fit_partitions(self, X, y, sample_weight):
        count = partial(self._sum_up, X, y, sample_weight)
        summaries = count(is_recounted=True)
        if n_partitions(X) > 1:
            self._set_origins(summaries)
            summaries = self._fitter().recount(summaries, count)
        self._fit_summaries(summaries, is_last=True)

    def _sum_up(self, sources, *targets, **options):
        """Summarize the columns of partitions, loaded and added one after the other."""
        self._check_params()
        is_sent = in_partitions(sources) and n_partitions(sources) > 1
        if in_partitions(sources):
            sources = split_samples(sources, *targets)
        task = partial(BooleanEncoder._summarize_partition, is_sent=is_sent, **options)
        schema, summaries = add_partitions(run_on_workers(task, self, sources))
        schema.set_attributes(self)
        return summaries

    def _fit_finely(self, X, y, sample_weight, n_bins):
        """Fit, with the thresholds of ``n_bins`` quantiles added.

        Returns
        -------
        is_coarse : ndarray of shape (n_features_out,), dtype bool
            The features that the encoder has without them.
        """
        with restore_on_error(self):
            _, summaries = self._fit(X, y, sample_weight)
            coarse, fitter = self._names, self._fitter()
            pairs = zip(self._state, summaries, strict=True)
            state = [fitter.refine(*pair, n_bins) for pair in pairs]
            self._set_fitted_attributes(state)
            return np.isin(self._names, coarse)

    def _fit(self, X, y, sample_weight):
        """Fit, and return the columns that were read, and their summaries."""
        self._check_params()
        columns = self._read(X, reset=True)
        summaries, cuts = self._fitter().summarize(columns, y, sample_weight)
        self._fit_summaries(summaries, cuts, is_last=True)
        return columns, summaries

    def _read(self, X, *, reset):
        """Read the columns of training data; dates are measured from others."""
        columns = read_columns(self, X, reset=reset)
        check_by_column(self._by_name("reference"), "reference", columns)
        self._set_origins(columns)
        return self._measured(columns)

    def _set_origins(self, columns):
        names = [column.name for column in columns]
        self._origins = origins_of(self._by_name("reference"), names)

    def _measured(self, columns):
        origins, at = self._origins, columns.__getitem__
        return [c.measured_from(origins.get(c.name), at) for c in columns]

    def _summarize_partition(
        self, number, *source, is_sent, is_recounted=False, cells=None
    ):
        """Load a partition in a task of its own, and summarize its columns."""
        with prefix_errors(number):
            X, y, sample_weight = load_samples(*source)
            if is_empty(X) or has_no_weight(sample_weight):
                return number, None, []
            columns = self._read(X, reset=True)
            summaries, _ = self._fitter().summarize(columns, y, sample_weight, cells)
            if is_sent:
                summaries = [s.compressed(is_recounted) for s in summaries]
            return number, TableSchema.of(self), summaries

    def _fit_summaries(self, summaries, cuts=None, *, is_last=False):
        """Choose the conditions on each column, and set the fitted attributes.

        ``cuts`` are those by real values; None: those of the counts. With ``is_last``
        no batches follow, so it warns of columns that are odd in all samples.
        """
        # Every column is fitted alone, so the order of columns does not matter.
        self._set_origins(summaries)
        fitter = self._fitter()
        cuts = [None] * len(summaries) if cuts is None else cuts
        state = [fitter.fit(*pair) for pair in zip(summaries, cuts, strict=True)]
        self._set_fitted_attributes(state)
        vars(self).pop("_summaries", None)
        self.quantile_error_ = np.array([summary.error() for summary in summaries])
        if is_last:
            check_features(self._names, summaries, self.strategy)
            warn_of_columns(summaries, state, fitter)

    def _fitter(self):
        return ColumnFitter(
            self.n_bins, self.strategy, self.complement, self._by_name("kinds"),
            self._by_name("thresholds"), self.min_frequency, self.max_categories,
            self.handle_unknown, self.missing, self._origins, self._by_name("special"),
        )  # fmt: skip

    def _by_name(self, option):
        """Return an option by column, by the text of its name where there are names."""
        by_column = getattr(self, option)
        if isinstance(by_column, dict) and hasattr(self, "feature_names_in_"):
            return {name_text(name): value for name, value in by_column.items()}
        return {} if by_column is None else by_column

    def _check_params(self):
        if not is_auto(self.n_bins, "n_bins"):
            check_integer(self.n_bins, "n_bins", 2)
        check_choice(self.strategy, "strategy", ("quantile", "tree", "monotone"))
        check_choice(self.complement, "complement", (False, True))
        unknown = ("ignore", "error", "infrequent_if_exist")
        check_choice(self.handle_unknown, "handle_unknown", unknown)
        check_choice(self.missing, "missing", ("indicator", "propagate"))
        check_choice(self.sparse_output, "sparse_output", (False, True))
        if self.sparse_output and self.missing == "propagate":
            raise ValueError(
                "missing='propagate' gives NaN, for which the output must be dense: "
                "set sparse_output=False."
            )
        if self.max_categories is not None:
            check_integer(self.max_categories, "max_categories", 1)
        check_least(self.min_frequency, "min_frequency")

    def _set_fitted_attributes(self, state):
        # The state is a tuple of fitted columns; the other attributes are derived from
        # it.
        self._state, self._warned = tuple(state), set()
        subcolumns = (getattr(fitted, "subcolumns", (fitted,)) for fitted in state)
        self._subcolumns = tuple(chain.from_iterable(subcolumns))
        widths = [fitted.n_conditions for fitted in state]
        labels = feature_names_of(self)
        self._names = self._names_of(labels)
        name, count = next(iter(Counter(self._names).most_common(1)), ("", 0))
        if count > 1:
            raise ValueError(
                f"Two features would be named {name}. Rename the columns of X from "
                "which they come."
            )
        self.kinds_ = [getattr(fitted, "shown_kind", fitted.kind) for fitted in state]
        self.thresholds_ = [fitted.shown_thresholds for fitted in state]
        self.categories_ = [getattr(fitted, "levels", ()) for fitted in state]
        self.feature_groups_ = np.repeat(np.array(labels, dtype=object), widths)
        self.order_ = np.concatenate([fitted.order() for fitted in state], dtype=int)

    def transform(self, X):
        """Mark the conditions that hold in each sample.

        Parameters
        ----------
        X : pandas or polars data frame, pyarrow table, or array-like
            Samples of shape (n_samples, n_features), with the columns of ``fit``.

        Returns
        -------
        features : ndarray, csr_array or data frame of shape (n_samples, n_features_out)
            Features of dtype bool; float32 with NaN for ``missing="propagate"``. For a
            data frame of pandas or polars and ``sparse_output=False``, a data frame of
            the same package, with the names of the features. The container of
            ``set_output``, if that was called.

        Raises
        ------
        ValueError
            For columns of another kind than in ``fit``, for unknown levels and new
            missing values that ``handle_unknown`` refuses, and for an output that takes
            more memory than is free.
        """
        check_is_fitted(self)
        values = self._values_of_one(X)
        if values is None:
            columns = read_columns(self, X, reset=False)
            return self._encode(X, self._measured(columns))
        codes = self._read_values(values)
        if self.sparse_output:
            codes = np.array(codes)[:, None]
            return sparse_conditions(self._subcolumns, codes, self._names)
        bits = self._bits_of_one(codes)[None]
        return frame_like(X, bits, self._names) if is_frame(X) else bits

    def encode_one(self, row) -> np.ndarray:
        """Mark the conditions that hold in one sample, as fast as a service needs it.

        Parameters
        ----------
        row : dict, Series, or sequence of length `n_features_in_`
            The values of the columns: by name, where others are ignored, or in order.
            None and NaN are missing values.

        Returns
        -------
        features : ndarray of shape (n_features_out,)
            As ``transform`` gives them for a data frame of this row.

        Raises
        ------
        ValueError
            As for ``transform``, for a missing column and a wrong number of values.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklboolean import BooleanEncoder
        >>> X = pd.DataFrame({"age": [23, 31, 47], "color": ["red", "blue", "red"]})
        >>> encoder = BooleanEncoder(n_bins=2, complement=False).fit(X)
        >>> encoder.encode_one({"age": 25, "color": "blue"}).astype(int)
        array([1, 1, 0])
        """
        if not hasattr(self, "_state"):
            check_is_fitted(self)
        return self._bits_of_one(self._read_values(self._row_values(row)))

    def _bits_of_one(self, codes):
        """Mark the conditions of one sample from its runs."""
        propagates = self.missing == "propagate"
        features = conditions_of_one(self._subcolumns, codes, propagates=propagates)
        require(len(features) == len(self.order_), "order_ does not fit the conditions")
        return features

    def _no_answers(self, name, X):
        return no_features_like(X, self._names, self.missing)

    def _row_values(self, row):
        """List the values of a row in the order of the columns."""
        if hasattr(row, "keys"):
            names = getattr(self, "feature_names_in_", None)
            if names is None:
                raise ValueError(
                    "row has names, but the columns of X had none in fit: pass a list."
                )
            texts = {name_text(name): name for name in row.keys()}
            try:
                return [row[texts[name]] for name in names.tolist()]
            except KeyError as error:
                raise ValueError(f"row has no value for the column {error}.") from None
        values = list(row) if hasattr(row, "__len__") else [row]
        if len(values) != self.n_features_in_:
            raise ValueError(
                f"row has {len(values)} values, but X had {self.n_features_in_} "
                "columns in fit."
            )
        return values

    def _values_of_one(self, X):
        """List the values of a frame or array of one row; None for other data."""
        # Nanoseconds would become numbers.
        is_array = type(X) is np.ndarray and X.dtype.kind not in "mM"
        is_array = is_array and not hasattr(self, "feature_names_in_")
        if is_array and X.shape == (1, self.n_features_in_):
            return X[0].tolist()
        return row_of(X) if has_fitted_names(self, X) and len(X) == 1 else None

    def _read_values(self, values):
        """Find the run of each value of one sample, most without making a column."""
        # A value without a run of its own is read as a column of one sample, which
        # warns or raises as a frame does.
        codes, propagates = [], self.missing == "propagate"
        for fitted, value in zip(self._state, values, strict=True):
            if isinstance(value, np.generic) and value.dtype.kind in "biufU":
                value = value.item()
            code = fitted.run_of(value) if type(value) in PLAIN_VALUES else None
            passes = propagates or fitted.indicates_missing
            if code is None or (code == fitted.missing_run and not passes):
                column = read_value(fitted.name, value).measured_from(
                    self._origins.get(fitted.name),
                    lambda j: read_value(self._state[j].name, values[j]),
                )
                codes += [int(runs[0]) for runs in self._runs(fitted, column)]
            else:
                codes.append(code)
        return codes

    def _runs(self, fitted, column):
        """Find the runs of each sample, for each subcolumn of a column."""
        column.check_kind(fitted.kind, "in fit")
        for subcolumn in getattr(fitted, "subcolumns", (fitted,)):
            runs, unseen = subcolumn.read(column)
            self._check_new_values(subcolumn, column, unseen)
            yield runs

    def _encode(self, X, columns):
        """Mark the conditions in columns that were read from X."""
        n_samples, n_out = len(columns[0].missing()), len(self.order_)
        n_fitted = sum(fitted.n_conditions for fitted in self._state)
        require(n_out == n_fitted, "order_ does not fit the conditions")
        dtype = np.dtype(np.float32 if self.missing == "propagate" else bool)
        if not self.sparse_output:
            what = f"The output of {n_samples} samples and {n_out} features"
            remedy = "Transform fewer at a time, or set sparse_output=True."
            check_free(n_samples * n_out * dtype.itemsize, what, remedy)
        codes = []
        for fitted, column in zip(self._state, columns, strict=True):
            codes += self._runs(fitted, column)
        if self.sparse_output:
            return sparse_conditions(self._subcolumns, codes, self._names)
        # Column by column: conditions are written where they stay.
        features = np.empty((n_samples, n_out), dtype=dtype, order="F")
        first = 0
        for fitted, of_column in zip(self._subcolumns, codes, strict=True):
            for number, condition in enumerate(fitted.marks(of_column), first):
                features[:, number] = condition
            last = first + fitted.n_conditions
            if self.missing == "propagate":
                features[of_column >= fitted.missing_run, first:last] = np.nan
            first = last
        if is_frame(X):  # set_output makes another kind of it, where asked to
            features = frame_like(X, features, self._names)
        return features

    def _check_new_values(self, fitted, column, unseen):
        """Refuse values that fit did not see, or warn of them once for each column."""
        propagates = self.missing == "propagate"
        refuses = self.handle_unknown == "error"
        # Of bounds on one side all are false for the largest numbers, too.
        refuses = refuses or (fitted.is_one_sided and not propagates)
        options = {"refuses": refuses, "propagates": propagates}
        messages = messages_of_new_values(fitted, column, unseen, **options)
        for what, message in messages.items():
            if refuses:
                raise ValueError(message)
            if (fitted.name, what) not in self._warned:
                self._warned.add((fitted.name, what))
                as_false = ", so it counts as false" * (fitted.kind == "boolean")
                message = f"{message} None of its conditions holds there{as_false}."
                warn_user(message, in_folds=False)

    def inverse_transform(self, X) -> np.ndarray:
        """Return a sample of the original columns for each sample of features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features_out)
            Features as ``transform`` returns them: 0, 1 or NaN, a missing value.

        Returns
        -------
        values : ndarray of shape (n_samples, `n_features_in_`)
            Float64 if all columns hold numbers, else object. A number lies in the
            interval between its thresholds, a rare level becomes the most frequent one,
            and values that are missing or unknown are NaN, NaT, or None in categories.
            ``transform`` gives the features again, unless a date is measured from
            another column, of which only the days between are kept.

        Raises
        ------
        ValueError
            If X has another number of features, or values that are not bits.
        """
        check_is_fitted(self)
        options = {"accept_sparse": "csr", "dtype": [bool, np.float32, np.float64]}
        X = check_array_strict(X, ensure_all_finite="allow-nan", **options)
        check_n_features(X.shape[1], len(self.order_), "this encoder makes")
        X = X.toarray() if sparse.issparse(X) else X
        # Each fitted column decodes its own features.
        are_bits = ((X == 0) | (X == 1) | np.isnan(X)).all(axis=0)
        if not are_bits.all():
            name = self.get_feature_names_out()[are_bits.argmin()]
            raise ValueError(
                f"X must hold 0, 1 or NaN, as transform returns them; "
                f"the values of {name!r} do not."
            )
        return decoded(self._state, X)

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Write the conditions: "age <= 44.5", "color = red", "income is missing".

        Parameters
        ----------
        input_features : array-like of shape (`n_features_in_`,), default=None
            Column names. None: those of X, else x0, x1, ...

        Returns
        -------
        names : ndarray of shape (n_features_out,)
            Names, dtype object.

        Raises
        ------
        ValueError
            For a wrong number of names, and for names that differ from those of X.
        """
        check_is_fitted(self, "_state")
        labels = check_input_names(self, input_features)
        names = self._names if input_features is None else self._names_of(labels)
        return np.array(names, dtype=object)

    def _names_of(self, labels):
        """Write the conditions on columns with these labels."""
        pairs = zip(self._state, labels, strict=True)
        return tuple(name for fitted, label in pairs for name in fitted.names(label))

    def to_c(self, prefix="") -> str:
        """Write the conditions as a function in C99 of the columns of a sample.

        Parameters
        ----------
        prefix : str, default=""
            Begins the names of the function and of the arrays.

        Returns
        -------
        code : str
            ``void encode(const double *row, unsigned char *x)`` writes the features
            into ``x``, from where the functions of a model's ``to_c`` read them. An
            entry of ``row`` is a number, or the place of a level in the array
            ``levels_`` and the number of the column. Dates are seconds since 1970 in
            UTC, durations days. ``NAN`` is a missing value, -1 another level.

        Raises
        ------
        ValueError
            With ``missing="propagate"``, which bits cannot hold, for lists of tags,
            and for a prefix that is not a name.

        Examples
        --------
        >>> from sklboolean import BooleanEncoder
        >>> encoder = BooleanEncoder(n_bins=2, complement=False)
        >>> print(encoder.fit([[23], [31], [47]]).to_c())
        #include <math.h>
        <BLANKLINE>
        /* row[0]: a number. */
        void encode(const double *row, unsigned char *x) {
            x[0] = row[0] <= 30.0;
        }
        <BLANKLINE>
        """
        return encoder_code(self._bit_columns(), prefix)

    def _bit_columns(self):
        """Return the fitted columns of an encoder whose features are never NaN."""
        check_is_fitted(self)
        if self.missing == "propagate":
            raise ValueError(
                "missing='propagate' gives NaN, which neither a bit of C nor all "
                "databases can hold. Set missing='indicator'."
            )
        return self._state

    def _formula(self):
        """List the columns of X, each with the conditions that are made of it."""
        return self._state

    def to_sql(self, input_features=None, *, dialect=None) -> str:
        """Write the conditions as columns of a SELECT.

        To score a table, give the encoder to ``to_sql`` of the model, which writes the
        conditions that it needs.

        Parameters
        ----------
        input_features : array-like of shape (`n_features_in_`,), default=None
            The columns of the table in the database. None: the column names of X, or
            x0, x1, ...
        dialect : str or None, default=None
            The database, as for ``to_sql`` of a model such as `RuleClassifier`.

        Returns
        -------
        sql : str
            A list of expressions of value 0 or 1, named f0, f1, ... in the order of
            ``get_feature_names_out``: the middle of ``SELECT ... FROM table AS f``.
            NULL and NaN are missing values. Dates, durations and tags need a
            ``dialect``: "duckdb" or "postgresql", or "sqlite", where dates are text in
            ISO format, to a millisecond, durations numbers of days, and tags refused.

        Raises
        ------
        ValueError
            For ``missing="propagate"``, for a wrong number of names, for names and
            levels that cannot be quoted, and for names that the database takes for one.

        Examples
        --------
        >>> from sklboolean import BooleanEncoder
        >>> encoder = BooleanEncoder(complement=False, n_bins=2)
        >>> print(encoder.fit([[23], [31], [47]]).to_sql(["age"]))
        CASE WHEN f."age" <= 30.0e0 THEN 1 ELSE 0 END AS f0
        """
        check_is_fitted(self)
        features = SqlFeatures(Columns(None), input_features, self, dialect)
        terms = [((j, True),) for j in range(len(self.order_))]
        features.check(terms)
        return ",\n".join(
            f"CASE WHEN {features.conjunction(term)} THEN 1 ELSE 0 END AS f{j}"
            for j, term in enumerate(terms)
        )
