"""Shares of the states of a model's columns in new data, beside those of training."""

# The conditions that a model tests divide a column into bins: intervals, levels,
# "missing". A model knows in how many training samples each feature is true. The counts
# of the bins follow from these: a feature is true in some of the bins, whose counts add
# up to its own. Where this does not decide them, each feature is a column by itself.
#
# 1. `_column_bins`: the states that the features of a column can have, each as a term
#    that no other state satisfies, and its count in training.
# 2. Count the new samples that satisfy each term. SQL counts the same terms.
# 3. `stability_index` and its test for each column.

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from scipy.special import chdtrc
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.exports import import_pandas
from sklboolean._core.feature_names import FeatureNames, last_step, split_pipeline
from sklboolean._core.formula import Columns, formula_of
from sklboolean._core.parameters import check_real
from sklboolean._core.sql_code import SqlFeatures, shares_code
from sklboolean.inspection._explanations import as_frame
from sklboolean.inspection._formulas import check_names
from sklboolean.inspection._legal_states import possible_bits
from sklboolean.inspection._user_columns import UserColumns, empty_sum

PRIOR = 0.5  # samples that are added to each bin, so that no share is 0


@dataclass(frozen=True)
class Drift:
    """Shifts of the columns of a model between its training and new samples.

    Parameters
    ----------
    columns : list of str
        Names of the columns.
    index : ndarray of shape (n_columns,), dtype float64
        Their population stability index.
    p_values : ndarray of shape (n_columns,), dtype float64
        Corrected for the number of columns.
    is_moved : ndarray of shape (n_columns,), dtype bool
        Whether the p-value is small and the index large enough.
    owners : ndarray of shape (n_bins,), dtype int64
        The number of the column of each bin.
    conditions : list of n_bins str
        Condition of each bin.
    counts : ndarray of shape (n_bins, 2), dtype int64
        Samples of the training, and new ones.
    terms : list of n_bins tuples of (feature, value) pairs
        The literals of each bin.
    source : object, default=None
        What made the features of the columns. None: there is no ``to_sql``.

    Attributes
    ----------
    moved : list of str
        The columns that moved, the largest index first.

    See Also
    --------
    monitor : Compute it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.inspection import Drift
    >>> drift = Drift(
    ...     ["age"], np.array([0.17]), np.array([0.001]), np.array([True]),
    ...     np.array([0, 0]), ["age <= 40", "age > 40"], np.array([[60, 40], [40, 60]]),
    ...     [((0, True),), ((0, False),)],
    ... )
    >>> print(drift)
    1 of 1 columns moved.
    age: index 0.170, p = 0.001
        60.0 % ->   40.0 %  age <= 40
        40.0 % ->   60.0 %  age > 40
    """

    columns: list
    index: np.ndarray
    p_values: np.ndarray
    is_moved: np.ndarray
    owners: np.ndarray
    conditions: list
    counts: np.ndarray
    terms: list
    source: object = field(default=None, repr=False)

    def __str__(self):
        return self.to_text()

    @property
    def moved(self):
        """The columns that moved, the largest index first."""
        order = np.argsort(-self.index, kind="stable")
        return [self.columns[k] for k in order if self.is_moved[k]]

    def _shares(self):
        """Compute the share of each bin in its column, of shape (n_bins, 2)."""
        totals = np.zeros((len(self.columns), 2))
        np.add.at(totals, self.owners, self.counts)
        return self.counts / totals[self.owners]

    def to_frame(self):
        """Make a data frame with a row for each bin.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns column, condition, share_then, share_now, and index,
            p_value and is_moved of the column.

        Raises
        ------
        ImportError
            When pandas is not installed.
        """
        then, now = self._shares().T
        return import_pandas().DataFrame(
            {
                "column": [self.columns[k] for k in self.owners],
                "condition": self.conditions,
                "share_then": then,
                "share_now": now,
                "index": self.index[self.owners],
                "p_value": self.p_values[self.owners],
                "is_moved": self.is_moved[self.owners],
            }
        )

    def to_text(self) -> str:
        """Write the columns that moved, with the shares of their bins.

        Returns
        -------
        text : str
        """
        lines = [f"{len(self.moved)} of {len(self.columns)} columns moved."]
        shares = 100 * self._shares()
        for name in self.moved:
            column = self.columns.index(name)
            p_value = f"p = {self.p_values[column]:.2g}"
            lines.append(f"{name}: index {self.index[column]:.3f}, {p_value}")
            for k in np.flatnonzero(self.owners == column):
                then, now = shares[k]
                text = f"  {then:6.1f} % -> {now:6.1f} %  {self.conditions[k]}"
                lines += [text] * bool(self.counts[k].any())
        return "\n".join(lines)

    def to_sql(self, table, feature_names=None, *, dialect=None) -> str:
        """Write a query that returns the shares of the bins in a table of new samples.

        Parameters
        ----------
        table : str
            The table, as it is written in a query.
        feature_names : sequence of str or None, default=None
            The columns of the table, as for ``to_sql`` of a model. None: those of the
            training data.
        dialect : str or None, default=None
            The database, as for ``to_sql`` of a model.

        Returns
        -------
        sql : str
            A query with a row for each bin and the columns column, condition,
            share_then and share_now.

        Raises
        ------
        ValueError
            For names that the database cannot distinguish, and a pipeline with other
            transformers than encoders.
        """
        if self.source is None:
            raise ValueError("source is None: call monitor, which knows the columns.")
        if not isinstance(table, str) or not table.strip():
            raise ValueError(f"table must be the name of a table; got {table!r}.")
        encoder, columns = self.source.transformers, self.source.formula.columns
        features = SqlFeatures(columns, feature_names, encoder, dialect)
        names, shares = [self.columns[k] for k in self.owners], self._shares()[:, 0]
        rows = zip(names, self.conditions, self.terms, shares, strict=True)
        return shares_code(list(rows), features, table)


def monitor(model, X, *, alpha=0.05, min_index=0.1) -> "Drift":
    """Compare the columns of new samples with those that a model was trained on.

    The conditions of the model divide each column into bins. Its population stability
    index is the sum of ``(q - p) * log(q / p)`` over the bins, where p is the share of
    the bin in training and q that in X, each with half a sample more in every bin
    [1]_. If the samples of both have the same distribution, the index times
    ``n * m / (n + m)``, for n samples of the training and m of X, has asymptotically a
    chi-squared distribution of one degree of freedom less than bins [2]_. With fewer
    than five samples expected in a bin the test rejects less often than it may. The
    p-values are corrected for the number of columns by Holm's method.

    Parameters
    ----------
    model : fitted estimator
        `RuleClassifier`, `OptimalRuleSet`, `ConjunctionLogisticRegression`,
        `ConjunctionRegressor`, `ScorecardClassifier`, boosted trees, an ensemble, or a
        pipeline or search that ends in one of these. They keep the counts of their
        training samples, ``feature_counts_``.
    X : {data frame, array-like, sparse matrix} of shape (n_samples, n_features)
        New samples, as for ``predict``. Labels are not needed.
    alpha : float, default=0.05
        A column moved only if its p-value is at most this, between 0 and 1.
    min_index : float, default=0.1
        A column moved only if its index is at least this, at least 0. By convention an
        index below 0.1 is small, and one above 0.25 large. With many samples the test
        finds shifts that do not matter.

    Returns
    -------
    drift : Drift
        With ``moved``, ``to_text()``, ``to_frame()`` and ``to_sql(table)``. Only
        columns that the formula of the model reads are listed, or all of them if it has
        none or reads none.

    Raises
    ------
    ValueError
        For a model without counts, and invalid data.

    See Also
    --------
    model_errors : Groups in which the loss of a model differs, if labels are known.

    References
    ----------
    .. [1] N. Siddiqi, "Credit risk scorecards", Wiley, 2006, chapter 8.
    .. [2] B. Yurdakul and J. Naranjo, "Statistical properties of the population
       stability index", Journal of Risk Model Validation 14, 2020.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklboolean import BooleanEncoder, ScorecardClassifier
    >>> from sklboolean.datasets import load_recurrence
    >>> from sklboolean.inspection import monitor
    >>> X, y = load_recurrence(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(BooleanEncoder(), ScorecardClassifier(3)).fit(X, y)
    >>> monitor(model, X).moved
    []
    >>> drift = monitor(model, X.assign(**{"tumour size (mm)": 50}))
    >>> drift.moved
    ['tumour size (mm)']
    """
    check_is_fitted(model)
    check_real(alpha, "alpha", 0, 1)
    check_real(min_index, "min_index", 0)
    n_samples, feature_counts = _training_counts(model)
    source = _columns_of(model)
    bits = source.bits(source.samples(as_frame(X)))
    feature_names = check_names(split_pipeline(model)[2], bits.shape[1])
    words = FeatureNames(feature_names).words
    bins = list(_column_bins(source, n_samples, feature_counts, words))
    names = list(dict.fromkeys(column for column, _, _ in bins))
    owners = np.array([names.index(column) for column, _, _ in bins], dtype=np.intp)
    terms = [term for _, term, _ in bins]
    now = empty_sum(source.formula.columns, terms).satisfied(bits).sum(axis=0)
    counts = np.column_stack([[n_then for _, _, n_then in bins], now]).astype(np.int64)
    tests = [stability_index(counts[owners == k]) for k in range(len(names))]
    index, p_values = np.array(tests).reshape(-1, 2).T
    p_values = corrected(p_values)
    is_moved = (p_values <= alpha) & (index >= min_index)
    conditions = [
        " and ".join(words(term))
        if len(words(term)) == 1 or any(value for _, value in term)
        else f"{column}: another value, or missing"
        for column, term, _ in bins
    ]
    return Drift(
        names, index, p_values, is_moved, owners, conditions, counts, terms, source
    )


def _training_counts(model):
    """Find the number of training samples, and how many have each feature."""
    fitted = last_step(model)
    if not hasattr(fitted, "feature_counts_"):
        raise ValueError(
            f"This {type(fitted).__name__} does not keep the counts of its training "
            "samples. Fit a RuleClassifier, an OptimalRuleSet, a conjunction model, a "
            "scorecard, boosted trees on bits or an ensemble of this release."
        )
    return fitted.n_samples_fit_, fitted.feature_counts_


def _columns_of(model):
    """Read the formula of a model, and the columns that its features describe."""
    last, formula = split_pipeline(model)[1], None
    with suppress(ValueError):  # the logarithm of a prediction, which has no export
        formula = formula_of(last)
    if formula is None:
        formula = empty_sum(Columns.of(last, getattr(last, "binarize", None)))
    return UserColumns.of(model, formula=formula)


def _column_bins(source, n_samples, feature_counts, words):
    """Divide the columns into bins by the features that the formula reads.

    Yields
    ------
    column : str
    term : tuple of (feature, value) pairs
    n_then : int
        Training samples in the bin.
    """
    used = {feature for term in source.formula.terms for feature, _ in term}
    used = used or {*range(len(source.owners))}
    for column, states in zip(source.names, possible_bits(source), strict=True):
        features = [feature for feature in states if feature in used]
        if not features:
            continue
        n_then = _pattern_counts(states, features, n_samples, feature_counts)
        patterns = np.array([*n_then])
        for pattern, n in n_then.items():
            # What is true is enough, if no other pattern has it.
            is_told = patterns[:, list(pattern)].all(axis=1).sum() == 1
            pairs = zip(features, pattern, strict=True)
            yield column, tuple((j, v) for j, v in pairs if v or not is_told), n
        for feature in [] if n_then else features:  # a list of tags, or a date
            n_true = int(feature_counts[feature])
            name = words([(feature, True)])[0]
            yield name, ((feature, True),), n_true
            yield name, ((feature, False),), n_samples - n_true


def _pattern_counts(states, features, n_samples, feature_counts):
    """Count the training samples of each pattern of some features of a column.

    Parameters
    ----------
    states : dict from feature to ndarray of shape (n_states,), bool
        The features of the column in all states that can occur.
    features : list of int
        Those of the patterns.
    n_samples : int
    feature_counts : ndarray of shape (n_features,), int64

    Returns
    -------
    counts : Counter of tuples of bool
        In the order of the states. Empty where the counts of the features allow for
        several solutions, or for none.
    """
    counts = Counter()
    # Features that are in no pattern may decide how many samples each one has.
    for used in (features, [*states]):
        table = np.column_stack([states[feature] for feature in used])
        first = np.sort(np.unique(table, axis=0, return_index=True)[1])
        system = np.vstack([np.ones(len(first)), table[first].T])
        totals = np.r_[n_samples, feature_counts[used]]
        solution, _, rank, _ = np.linalg.lstsq(system, totals, rcond=None)
        n_then = np.rint(solution).astype(np.int64)
        is_exact = rank == len(first) and np.array_equal(system @ n_then, totals)
        if is_exact and (n_then >= 0).all():
            for state, n in zip(first, n_then.tolist(), strict=True):
                counts[tuple(bool(states[feature][state]) for feature in features)] += n
            break
    return counts


def stability_index(counts):
    """Compute the population stability index, and the p-value of its test.

    Parameters
    ----------
    counts : ndarray of shape (n_bins, 2), int64
        Samples then and now. Bins without samples are left out.

    Returns
    -------
    index, p_value : float
    """
    counts = counts[counts.any(axis=1)]
    totals = counts.sum(axis=0)
    then, now = ((counts + PRIOR) / (totals + PRIOR * len(counts))).T
    index = float((now - then) @ np.log(now / then))
    statistic = index * totals.prod(dtype=float) / totals.sum()
    p_value = chdtrc(len(counts) - 1, statistic) if len(counts) > 1 else 1.0
    return index, float(p_value)


def corrected(p_values):
    """Correct p-values for their number by Holm's method."""
    order = np.argsort(p_values)
    factors = np.arange(len(order), 0, -1)
    steps = np.maximum.accumulate(factors * p_values[order])
    return np.minimum(steps, 1.0)[np.argsort(order)]
