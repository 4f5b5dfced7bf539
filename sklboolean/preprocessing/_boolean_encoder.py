"""BooleanEncoder: data frames to Boolean features whose names say what they mean."""

import re
from itertools import pairwise
from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.formulas import (
    check_input_names,
    feature_names_of,
    sql_name,
)
from sklboolean._core.labels import comparable_labels, target_type
from sklboolean._core.parameters import check_choice, check_integer, check_real
from sklboolean._core.validation import (
    check_array_strict,
    check_labelled,
    warn_user,
)
from sklboolean.preprocessing._encoded_columns import (
    LevelColumn,
    NumberColumn,
    encoder_code,
    level_text,
)
from sklboolean.preprocessing._enumeration import check_output_size
from sklboolean.preprocessing._frames import frame_like, is_frame, read_columns
from sklboolean.preprocessing._runs import runs_to_csr
from sklboolean.preprocessing._thresholds import (
    find_cuts,
    find_tree_cuts,
    place_thresholds,
    shortest_between,
)

KINDS = ("boolean", "category", "number")
NUMBER = re.compile(r"[-+]?(\d[\d.,]*|[.,]\d+)(e[-+]?\d+)?%?", re.IGNORECASE)
CODE = re.compile(r"0\d")  # as in postcodes


class BooleanEncoder(TransformerMixin, BaseEstimator):
    """Encode the columns of a data frame as Boolean features with readable names.

    Numbers become ``age <= 44.5`` and ``age > 44.5`` for a few thresholds, categories
    become ``color = red``, and missing values ``income is missing``. Booleans stay as
    they are. Estimators of this package find the names in a data frame, and in a
    pipeline, and merge thresholds to ``16 < age <= 44.5`` in the rules they print.

    Parameters
    ----------
    n_bins : int, default=8
        Maximum number of intervals of a column of numbers, at least 2. There is one
        threshold less. Raise it where fine differences matter and samples are many.
    strategy : {"quantile", "tree"}, default="quantile"
        How thresholds are chosen. "quantile": intervals hold about equally many
        samples. "tree": those of a decision tree with ``n_bins`` leaves that predicts y
        from the column alone; choose it for long-tailed columns of which few thresholds
        matter.
    thresholds : dict or None, default=None
        Thresholds of chosen columns by column name, or by number for arrays, for
        example ``{"age": [18, 65]}``. They replace those of ``strategy``.
    complement : bool, default=True
        Whether numbers also get the columns ``name > t``. Monotone models can then
        express intervals and lower bounds, and a missing value satisfies neither
        condition. False halves the number of columns, for models that negate features
        themselves.
    kinds : dict or None, default=None
        "boolean", "category" or "number" for chosen columns, by name, or by number for
        arrays. The others are inferred: text is a category, and numbers of which all
        are 0 or 1 are Boolean. Set "category" for codes such as postcodes.
    min_frequency : int, float or None, default=None
        Levels of fewer samples share the column ``name is rare``. An integer is a
        number of samples, a float a fraction. None: no limit.
    max_categories : int or None, default=None
        Maximum number of columns for the levels of a category, ``name is rare``
        included; the most frequent levels keep theirs. Set it for columns of very many
        levels. None: no limit.
    handle_unknown : {"ignore", "error", "infrequent_if_exist"}, default="ignore"
        What ``transform`` does with levels that were not in the training data.
        "ignore": all columns of the category are false. "infrequent_if_exist": they
        count as rare where the category has a column ``name is rare``. Missing
        values in a column that never was missing satisfy no condition either. For a
        number this is a warning; it is an error with "error", with
        ``complement=False`` and in Boolean columns, where it would mean a value.
    missing : {"indicator", "propagate"}, default="indicator"
        "indicator": missing values have a column ``name is missing`` where the training
        data have any, and all other conditions are false. "propagate": all columns of
        the attribute are NaN, and the output is float32, for density models that accept
        missing values.
    sparse_output : bool, default=False
        Return a CSR array. It takes less memory than a dense array only for categories
        of many levels. It carries no names: estimators after it see numbered columns.
        The functions of ``sklboolean.inspection`` and ``extract_dnf`` read the names
        when they are given the pipeline; pass ``get_feature_names_out()`` to
        ``to_text`` and other methods.

    Attributes
    ----------
    kinds_ : list of str
        Kind of each column: "boolean", "category" or "number".
    thresholds_ : list of ndarray
        Thresholds of each column, ascending; empty where it is no number.
    categories_ : list of tuple
        Levels of each column that have a feature of their own; empty where it is no
        category.
    feature_groups_ : ndarray of shape (n_features_out,), dtype object
        Name of the column that each feature describes.
    order_ : ndarray of shape (n_features_out,), dtype int
        Number of the threshold of each feature within its column, -1 for others.
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

    ``min_frequency``, ``max_categories`` and ``handle_unknown`` mean what they mean in
    scikit-learn's ``OneHotEncoder``, except that as many levels as ``max_categories``
    all keep their columns.

    Infinity, dates and durations are refused. A Boolean that is missing in
    ``transform`` but never was in ``fit`` is an error. ``fit`` warns of text in which
    nearly all values are numbers, and of text of which most values occur in few
    samples, unless ``kinds`` or the type of the column says that it is a category.

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

    def __init__(
        self, *, n_bins=8, strategy="quantile", thresholds=None, complement=True,
        kinds=None, min_frequency=None, max_categories=None, handle_unknown="ignore",
        missing="indicator", sparse_output=False,
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = self.strategy == "tree"
        tags.transformer_tags.preserves_dtype = []  # the parameters decide
        return tags

    def fit(self, X, y=None):
        """Choose thresholds and levels.

        Parameters
        ----------
        X : pandas or polars data frame, pyarrow table, or array-like
            Of shape (n_samples, n_features). NaN, None and NA are missing values.
        y : array-like of shape (n_samples,), default=None
            Labels or real values, for ``strategy="tree"`` only.

        Returns
        -------
        self : BooleanEncoder
            The fitted encoder.

        Raises
        ------
        ValueError
            For invalid parameters, for dates and infinity, for columns that cannot be
            read as their kind, and when every column is constant. An earlier fit is
            kept.
        """
        with restore_on_error(self):
            self._fit(X, y)
        return self

    def fit_transform(self, X, y=None):
        """Choose thresholds and levels, and mark the conditions that hold.

        The same as ``fit`` and ``transform``, but X is read once.

        Parameters
        ----------
        X : pandas or polars data frame, pyarrow table, or array-like
            As for ``fit``.
        y : array-like of shape (n_samples,), default=None
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
        with restore_on_error(self):
            return self._encode(X, self._fit(X, y))

    def _fit(self, X, y):
        """Fit, and return the columns that were read."""
        self._check_params()
        columns = read_columns(self, X, reset=True)
        kinds = self._by_column(self.kinds, "kinds", columns)
        thresholds = self._by_column(self.thresholds, "thresholds", columns)
        y = self._check_target(y, columns) if self.strategy == "tree" else None
        state = []
        for column in columns:
            kind = "number" if column.name in thresholds else None
            kind = kinds.get(column.name, kind) or _natural_kind(column)
            if kind == "category":
                column = column.as_category()
                state.append(self._fit_levels(column))
                if not (column.is_declared or column.name in kinds):
                    _warn_of_levels(column, state[-1])
            else:
                given = thresholds.get(column.name)
                state.append(self._fit_numbers(column, kind, given, y))
        self._set_fitted_attributes(state, columns)
        return columns

    def _check_params(self):
        check_integer(self.n_bins, "n_bins", 2)
        check_choice(self.strategy, "strategy", ("quantile", "tree"))
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
        if isinstance(self.min_frequency, Integral):
            check_integer(self.min_frequency, "min_frequency", 1)
        elif self.min_frequency is not None:
            check_real(self.min_frequency, "min_frequency", 0.0, strict=True)
            if self.min_frequency >= 1:
                raise ValueError(
                    f"min_frequency={self.min_frequency} is neither a fraction (a "
                    "float between 0 and 1) nor a number of samples (an integer)."
                )

    def _by_column(self, given, name, columns):
        """Check a dict of options by column."""
        given = {} if given is None else given
        if not isinstance(given, dict):
            raise ValueError(
                f"{name} must be a dict from columns to their option; got {given!r}."
            )
        known = [column.name for column in columns]
        for column, option in given.items():
            if column not in known:
                raise ValueError(
                    f"{name} holds the column {column!r}, but the columns of X are "
                    f"{known}."
                )
            if name == "kinds":
                check_choice(option, f"kinds[{column!r}]", KINDS)
        return given

    def _check_target(self, y, columns):
        """Check y for trees; return it and whether it holds classes."""
        if y is None:
            raise ValueError(
                "strategy='tree' requires y to be passed, but the target y is None. "
                "Pass the labels, or set strategy='quantile'."
            )
        check_labelled(y)
        is_class = target_type(y) in ("binary", "multiclass")
        dtype = None if is_class else np.float64
        y = check_array_strict(y, "y", ensure_2d=False, dtype=dtype)
        check_consistent_length(columns[0].missing(), y)
        with comparable_labels(y):
            return (np.unique(y, return_inverse=True)[1] if is_class else y), is_class

    def _fit_numbers(self, column, kind, given, target):
        """Choose the thresholds of a column of numbers, or check a Boolean one."""
        numbers = column.numbers
        if numbers is None:
            if column.levels:
                raise ValueError(
                    f"Column {column.name!r} of X holds {column.levels[0]!r}, which is "
                    f"no number, but its kind is {kind!r}. Convert it, or leave it out "
                    "of kinds and thresholds."
                )
            numbers = np.full(len(column.codes), np.nan)
        missing = np.isnan(numbers)
        indicates = self.missing == "indicator" and bool(missing.any())
        if kind == "boolean":
            thresholds, values, relations = (
                np.array([0.5]),
                np.array([0.0, 1.0]),
                (">",),
            )
        else:
            thresholds, values = self._choose_thresholds(
                column.name, numbers[~missing], given, target, missing
            )
            relations = ("<=", ">") if self.complement else ("<=",)
        fitted = NumberColumn(
            column.name, kind, thresholds, relations, values, indicates
        )
        fitted.check(column)
        return fitted

    def _choose_thresholds(self, name, known, given, target, missing):
        """Choose thresholds, and a number in each interval between them."""
        ordered = np.sort(known)
        if given is not None:
            thresholds = _check_thresholds(given, name)
        elif not len(known):
            thresholds = np.empty(0)
        else:
            if target is None:
                cuts = find_cuts(ordered, self.n_bins)
            else:
                y, is_class = target
                cuts = find_tree_cuts(
                    known, y[~missing], self.n_bins, is_classification=is_class
                )
            thresholds = place_thresholds(ordered, cuts)
        return thresholds, _number_in_each_interval(ordered, thresholds)

    def _fit_levels(self, column):
        """Choose the levels that get a feature of their own."""
        n_missing = np.count_nonzero(column.codes < 0)
        n_samples = len(column.codes)
        counts = np.bincount(
            column.codes[column.codes >= 0], minlength=len(column.levels)
        )
        levels = dict(zip(column.levels, counts.tolist(), strict=True))
        levels = {level: levels[level] for level in _sorted(levels) if levels[level]}
        texts = {}
        for level in levels:
            other = texts.setdefault(level_text(level), level)
            if other is not level:
                raise ValueError(
                    f"Column {column.name!r} of X holds {other!r} and {level!r}, which "
                    "are written alike. Give all its values one type."
                )
        least = 1 if self.min_frequency is None else self.min_frequency
        least = least if isinstance(least, Integral) else least * n_samples
        # Of equally frequent levels the last ones stay, as in OneHotEncoder.
        ranked = sorted(levels, key=levels.get)[::-1]
        n_kept = sum(levels[level] >= least for level in ranked)
        if self.max_categories is not None and len(ranked) > self.max_categories:
            n_kept = min(n_kept, self.max_categories - 1)
        kept = set(ranked[:n_kept])
        return LevelColumn(
            column.name,
            tuple(level for level in levels if level in kept),
            tuple(ranked[n_kept:]),
            self.handle_unknown,
            self.missing == "indicator" and bool(n_missing),
        )

    def _set_fitted_attributes(self, state, columns):
        self._state = tuple(state)
        widths = [fitted.n_conditions for fitted in state]
        if not sum(widths):
            raise ValueError(
                f"X gives no features: with n_samples = {len(columns[0].missing())} "
                "all its columns are constant. Pass thresholds, or other columns."
            )
        names = self.get_feature_names_out()
        distinct, counts = np.unique(names.astype(str), return_counts=True)
        if len(distinct) < len(names):
            raise ValueError(
                f"Two features would be named {distinct[counts > 1][0]!s}. Rename the "
                "columns of X from which they come."
            )
        labels = feature_names_of(self)
        self.kinds_ = [fitted.kind for fitted in state]
        self.thresholds_ = [
            fitted.thresholds if fitted.kind == "number" else np.empty(0)
            for fitted in state
        ]
        self.categories_ = [
            fitted.levels if fitted.kind == "category" else () for fitted in state
        ]
        self.feature_groups_ = np.repeat(np.array(labels, dtype=object), widths)
        self.order_ = np.concatenate([fitted.order() for fitted in state])

    def transform(self, X):
        """Mark the conditions that hold in each sample.

        Parameters
        ----------
        X : pandas or polars data frame, pyarrow table, or array-like
            Of shape (n_samples, n_features), with the columns of ``fit``.

        Returns
        -------
        features : ndarray, csr_array or data frame of shape (n_samples, n_features_out)
            Of dtype bool; float32 with NaN for ``missing="propagate"``. For a data
            frame of pandas or polars and ``sparse_output=False``, a data frame of the
            same package, with the names of the features. The container of
            ``set_output``, if that was called.

        Raises
        ------
        ValueError
            For columns of another kind than in ``fit``, for unknown levels and new
            missing values that ``handle_unknown`` refuses, and for an output of more
            than 16 GiB.
        """
        check_is_fitted(self)
        return self._encode(X, read_columns(self, X, reset=False))

    def _encode(self, X, columns):
        """Mark the conditions in columns that were read from X."""
        pairs = list(zip(self._state, columns, strict=True))
        n_samples, n_out = len(columns[0].missing()), len(self.order_)
        if self.sparse_output:
            return _sparse_conditions(pairs, n_samples, self.handle_unknown)
        propagates = self.missing == "propagate"
        dtype = np.dtype(np.float32 if propagates else bool)
        hint = "Set max_categories, or sparse_output=True."
        check_output_size(n_samples * n_out * dtype.itemsize, n_out, hint)
        features = np.empty((n_samples, n_out), dtype=dtype, order="F")
        first = 0
        for fitted, column in pairs:
            missing = column.missing()
            if not propagates:
                fitted.check_missing(missing, self.handle_unknown)
            for place, condition in enumerate(fitted.conditions(column), start=first):
                features[:, place] = condition
            last = first + fitted.n_conditions
            if propagates:
                features[missing, first:last] = np.nan
            first = last
        if is_frame(X):  # set_output makes another kind of it, where asked to
            features = frame_like(X, features, self.get_feature_names_out())
        return features

    def inverse_transform(self, X):
        """Return a sample of the original columns for each sample of features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features_out)
            Features as ``transform`` returns them. NaN is a missing value.

        Returns
        -------
        values : ndarray of shape (n_samples, `n_features_in_`)
            Float64 if all columns hold numbers, else object. A number lies in the
            interval between its thresholds, a rare level becomes the most frequent one,
            and values that are missing or unknown are NaN, or None in categories.
            ``transform`` gives the features again.
        """
        check_is_fitted(self)
        X = check_array_strict(
            X, accept_sparse="csr", dtype=[bool, np.float32, np.float64],
            ensure_all_finite="allow-nan",
        )  # fmt: skip
        if X.shape[1] != len(self.order_):
            raise ValueError(
                f"X has {X.shape[1]} features, but this encoder makes "
                f"{len(self.order_)}."
            )
        X = X.toarray() if sparse.issparse(X) else X
        first, columns = 0, []
        for fitted in self._state:
            last = first + fitted.n_conditions
            columns.append(fitted.decode(X[:, first:last]))
            first = last
        are_numbers = all(column.dtype.kind == "f" for column in columns)
        values = np.empty(
            (len(X), len(columns)), dtype=float if are_numbers else object
        )
        for j, column in enumerate(columns):
            values[:, j] = column
        return values

    def get_feature_names_out(self, input_features=None):
        """Write the conditions: "age <= 44.5", "color = red", "income is missing".

        Parameters
        ----------
        input_features : array-like of shape (`n_features_in_`,), default=None
            Column names. None: those of X, else x0, x1, ...

        Returns
        -------
        names : ndarray of shape (n_features_out,)
            Of str, dtype object.

        Raises
        ------
        ValueError
            For a wrong number of names, and for names that differ from those of X.
        """
        check_is_fitted(self, "_state")
        labels = check_input_names(self, input_features)
        pairs = zip(self._state, labels, strict=True)
        names = [name for fitted, label in pairs for name in fitted.names(label)]
        return np.array(names, dtype=object)

    def to_c(self, prefix=""):
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
            ``levels_`` and the number of the column. ``NAN`` is a missing value, -1
            another level.

        Raises
        ------
        ValueError
            With ``missing="propagate"``, which bits cannot hold, and for a prefix that
            is not a name.

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
        check_is_fitted(self)
        if self.missing == "propagate":
            raise ValueError(
                "missing='propagate' gives NaN, which a bit cannot hold. Set "
                "missing='indicator'."
            )
        return encoder_code(self._state, prefix)

    def _formula(self):
        """List the columns of X, each with the conditions that are made of it."""
        return self._state

    def to_sql(self, input_features=None):
        """Write the conditions as columns of a SELECT in standard SQL.

        Parameters
        ----------
        input_features : array-like of shape (`n_features_in_`,), default=None
            The columns of the SQL table. None: the column names of X, or x0, x1, ...

        Returns
        -------
        sql : str
            A list of expressions of value 0 or 1, named as the features: the middle of
            ``SELECT ... FROM table``. ``to_sql`` of rules refers to these names. NULL
            is a missing value.

        Raises
        ------
        ValueError
            For ``missing="propagate"``, for a wrong number of names, and for names and
            levels that cannot be quoted.

        Examples
        --------
        >>> from sklboolean import BooleanEncoder
        >>> encoder = BooleanEncoder(complement=False, n_bins=2)
        >>> print(encoder.fit([[23], [31], [47]]).to_sql(["age"]))
        CASE WHEN "age" <= 30.0 THEN 1 ELSE 0 END AS "age <= 30"
        """
        check_is_fitted(self)
        if self.missing == "propagate":
            raise ValueError(
                "missing='propagate' gives NaN, which SQL does not have in all "
                "databases. Set missing='indicator'."
            )
        labels = check_input_names(self, input_features)
        tests = [
            test
            for fitted, label in zip(self._state, labels, strict=True)
            for test in fitted.sql(str(label))
        ]
        names = self.get_feature_names_out(input_features)
        return ",\n".join(
            f"CASE WHEN {test} THEN 1 ELSE 0 END AS {sql_name(name)}"
            for test, name in zip(tests, names, strict=True)
        )


def _warn_of_levels(column, fitted):
    """Warn of numbers read as categories, and of categories that name the samples."""
    n_known, n_kept = np.count_nonzero(column.codes >= 0), len(fitted.levels)
    levels = [*fitted.levels, *fitted.rare]
    others = [level for level in levels if not NUMBER.fullmatch(str(level))]
    keep = f"Set kinds={{{column.name!r}: 'category'}} to keep it without this warning."
    if (
        len(levels) > 10
        and len(others) <= 0.1 * len(levels)
        and not any(CODE.match(str(level)) for level in levels)
    ):
        but = f" except values such as {others[0]!r}" if others else ""
        warn_user(
            f"Column {column.name!r} of X holds numbers as text{but}, so each of them "
            f"becomes a category. Convert the column to numbers. {keep}"
        )
    elif n_kept > 30 and n_known < 4 * n_kept:
        warn_user(
            f"Most categories of column {column.name!r} of X occur in few samples. "
            "Leave the column out, convert dates to numbers, or set max_categories or "
            f"min_frequency. {keep}"
        )


def _natural_kind(column):
    """Infer the kind of a column; numbers of which all are 0 or 1 are Boolean."""
    if column.kind != "number":
        return column.kind
    head = column.numbers[:100]
    if not np.all((head == 0) | (head == 1) | np.isnan(head)):
        return "number"
    numbers = column.numbers[~np.isnan(column.numbers)]
    is_boolean = len(numbers) > 0 and np.all((numbers == 0) | (numbers == 1))
    return "boolean" if is_boolean else "number"


def _sorted(levels):
    """Sort levels by value if they have one type, else by their text."""
    if all(isinstance(level, str) for level in levels):
        return sorted(levels)
    if all(isinstance(level, int | float) for level in levels):
        return sorted(levels)
    return sorted(levels, key=str)


def _check_thresholds(given, name):
    """Check the thresholds of one column and sort them."""
    try:
        thresholds = np.unique(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        thresholds = np.array([np.nan])
    if np.ndim(given) != 1 or not np.isfinite(thresholds).all():
        raise ValueError(
            f"thresholds[{name!r}] must be a list of finite numbers; got {given!r}."
        )
    return thresholds


def _number_in_each_interval(ordered, thresholds):
    """Choose a number of few digits for each interval that thresholds make."""
    low, high = ordered[[0, -1]].tolist() if len(ordered) else (0.0, 0.0)
    if not len(thresholds):
        return np.array([low / 2 + high / 2])
    # Intervals are open below and closed above: those of the negative numbers are the
    # intervals that `shortest_between` takes.
    edges = [low, *thresholds.tolist(), high]
    values = [
        -shortest_between(-up, -below) if below < up else up
        for below, up in pairwise(edges)
    ]
    if high <= edges[-2]:
        values[-1] = np.nextafter(edges[-2], np.inf)
    return np.array(values)


def _sparse_conditions(pairs, n_samples, handle_unknown):
    """Write the conditions that hold, sample by sample.

    Those of a column are consecutive, so there is no need to test them one by one.
    """
    codes = np.empty((len(pairs), n_samples), dtype=np.int32)
    firsts, lengths, starts, n_out = [], [], [0], 0
    for own, (fitted, column) in zip(codes, pairs, strict=True):
        fitted.check_missing(column.missing(), handle_unknown)
        own[:], first, length = fitted.runs(column)
        firsts += [n_out + condition for condition in first]
        lengths += length
        starts.append(len(firsts))
        n_out += fitted.n_conditions
    firsts, lengths = np.array([firsts, lengths], dtype=np.int32)
    starts = np.array(starts, dtype=np.int64)
    indptr, indices = runs_to_csr(codes, starts, firsts, lengths, n_out, np.empty)
    data = np.ones(len(indices), dtype=bool)
    return sparse.csr_array((data, indices, indptr), (n_samples, n_out))
