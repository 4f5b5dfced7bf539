"""Exact Shapley values of the columns of the user's data."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
from sklearn.pipeline import make_pipeline

from sklboolean._core.exports import import_optional, import_pandas
from sklboolean._core.feature_names import split_pipeline
from sklboolean._core.formula import Columns, WeightedSum, class_labels
from sklboolean._core.weights import checked_weights
from sklboolean.ensemble._pool import Pool
from sklboolean.inspection._explanations import as_frame
from sklboolean.inspection._pattern_games import Patterns
from sklboolean.inspection._products import Products
from sklboolean.inspection._user_columns import UserColumns
from sklboolean.kernels import (
    BooleanGaussianProcessClassifier,
    BooleanGaussianProcessRegressor,
)

# A formula becomes a sum of weighted products, each of which tests some columns. The
# value of a column in a product depends only on which of these tests the two samples
# fail, so patterns of failed tests are counted (`_pattern_games`), and the time grows
# with the number of samples, not of pairs. Arrays are of shape (n_outputs, n_columns,
# n_samples) until `_by_sample` moves the samples to the front.

TOLERANCE = 1e-6  # between the sum of the values and the score
PROCESSES = BooleanGaussianProcessClassifier, BooleanGaussianProcessRegressor


@dataclass(frozen=True)
class ShapleyValues:
    """Shapley values: the contribution of each column to the score of each sample.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_columns, n_outputs)
        With one output, without the last axis. The values of a sample and the base
        value add up to its score.
    base_values : float or ndarray of shape (n_outputs,)
        Mean score of the background.
    feature_names : list of str
        Names of the columns.
    output_names : list of str
        Description of the scores, such as "log-odds of yes".
    data : ndarray of shape (n_samples, n_columns), dtype object, or None
        The samples as they were given; None if their columns are not those explained.
    index : sequence
        Names of the samples: the index of a data frame, else their numbers.
    interactions : ndarray or None, default=None
        Shares of pairs of columns in the values, if they were computed: of shape
        (n_samples, n_columns, n_columns, n_outputs); with one output, without the last
        axis.

    Attributes
    ----------
    interactions : ndarray or None
        Symmetric in the columns; each row adds up to the value of its column.

    See Also
    --------
    shapley_values : Compute them.
    ShapleyDisplay : Draw them.

    Examples
    --------
    >>> from sklboolean.inspection import ShapleyValues
    >>> ShapleyValues(
    ...     [[0.5, -0.25]], 0.25, ["age", "income"], ["score of yes"], None, [0]
    ... ).scores()
    array([0.5])
    """

    values: np.ndarray
    base_values: object
    feature_names: list
    output_names: list
    data: np.ndarray | None
    index: object
    interactions: np.ndarray | None = None

    def __repr__(self):
        n_samples, n_columns = np.shape(self.values)[:2]
        outputs = ", ".join(self.output_names)
        return f"ShapleyValues of {n_samples} samples, {n_columns} columns: {outputs}"

    def scores(self) -> np.ndarray:
        """Add up the values of each sample and the base value.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return np.sum(self.values, axis=1) + self.base_values

    def to_frame(self):
        """Make a data frame with a row for each sample and a column for each value.

        Returns
        -------
        frame : pandas.DataFrame
            With several outputs, the names of the columns are pairs of an output and a
            column.

        Raises
        ------
        ImportError
            When pandas is not installed.
        """
        pandas, values = import_pandas(), np.asarray(self.values)
        names = self.feature_names
        if values.ndim == 3:
            names = pandas.MultiIndex.from_product([self.output_names, names])
            values = values.transpose(0, 2, 1).reshape(len(values), -1)
        return pandas.DataFrame(values, index=self.index, columns=names)

    def to_shap(self):
        """Make an explanation of the package shap, for its plots.

        Returns
        -------
        explanation : shap.Explanation

        Raises
        ------
        ImportError
            When shap is not installed.
        """
        shap = import_optional("shap", "to_shap", "shap")
        shape = len(self.values), *np.shape(self.base_values)
        return shap.Explanation(
            self.values,
            np.broadcast_to(self.base_values, shape).copy(),
            self.data,
            feature_names=self.feature_names,
            output_names=self.output_names if len(shape) == 2 else None,
        )


def shapley_values(
    model, X, background=None, *, interactions=False, sample_weight=None,
    feature_names=None, feature_groups=None,
) -> "ShapleyValues":  # fmt: skip
    """Compute exact Shapley values by column of the data, of the score of a model.

    The value of a column is what it adds to the score when columns of the sample, in
    random order, replace those of a random sample of the background: the interventional
    Shapley value [1]_. All conditions that `BooleanEncoder` made of a column are one
    column. Nothing is sampled: the mean is over all orders and the whole background, in
    time that grows with the number of samples, not of pairs of samples.

    Parameters
    ----------
    model : fitted estimator
        One of these, a pipeline that ends in one, a search such as ``GridSearchCV``, or
        a DNF or rule ensemble of `extract_dnf`. Explained is:

        * `ConjunctionLogisticRegression`, linear models with ``coef_``,
          `RuleClassifier`, boosters of stumps: ``decision_function``. Also of
          `KernelPerceptron` and `BooleanSVC` if the kernel is not normalized and
          weighs at most 10,000 conjunctions.
        * Boosters of stumps in games of one class against one: the margin of each game,
          to which values add up as they do not to the scores.
        * `ConjunctionRegressor` and other linear regressors: the prediction.
        * `ConjunctionClassifier`, `BooleanStump`, `ConjunctionStump`: the probability.
        * A DNF: 1 where it predicts ``label``, else 0.
        * `BooleanGaussianProcessClassifier`: ``decision_function``, and
          `BooleanGaussianProcessRegressor`: the prediction, without interactions. The
          time grows with the number of pairs of a sample and one of the background.
        * `BooleanEnsembleClassifier`: the log-odds, or of more classes centered logits,
          if all its models are explained here. A `KernelPerceptron` at its defaults
          is not: its scores are divided by norms of the sample, so they are no sum over
          conjunctions.
    X : {data frame, array-like, sparse matrix} of shape (n_samples, n_features)
        Samples to explain, as for ``predict``.
    background : {data frame, array-like, sparse matrix}, default=None
        Samples of shape (n_others, n_features) against which those of X are explained,
        such as the training data, which a model does not keep. None: the samples of X,
        each against all.
    interactions : bool, default=False
        Whether to split the values among pairs of columns, too: the Shapley interaction
        index [2]_, of which half is with (i, j) and half with (j, i), as in the package
        shap. The rest of the value of a column is on the diagonal. They take the memory
        of ``n_samples * n_columns**2`` numbers for each output.
    sample_weight : array-like of shape (n_others,), default=None
        Weights of the samples of the background, not negative. None: all are equal.
    feature_names : sequence of str or None, default=None
        A name for each column. None: those of the data, else x0, x1, ...
    feature_groups : sequence of length n_features or None, default=None
        The column of each feature of the last step. None: the columns before a
        `BooleanEncoder`, or before a ``ColumnTransformer`` that gives each column to
        one encoder or passes it, if the pipeline has only this transformer, else each
        feature is a column.

    Returns
    -------
    shapley : ShapleyValues
        With ``values``, ``base_values``, ``feature_names`` and ``interactions``.

    Raises
    ------
    ValueError
        For a model of another kind, or whose formula is not what it predicts; for rules
        that overlap so much that the expansion has more than 20,000 products; and for a
        single sample without a background, whose values would all be 0.

    See Also
    --------
    ShapleyDisplay : The same as a picture.
    explain : Rules, weights or votes that decide a sample.

    Notes
    -----
    Values of models add up: those of a sum of scores are the sum of the values.

    References
    ----------
    .. [1] S. Lundberg and S. Lee, "A unified approach to interpreting model
       predictions", NeurIPS 2017. The value is that of L. Shapley, "A value for
       n-person games", 1953.
    .. [2] M. Grabisch and M. Roubens, "An axiomatic approach to the concept of
       interaction among players in cooperative games", International Journal of Game
       Theory 28, 1999. Halves and diagonal: S. Lundberg et al., "From local
       explanations to global understanding with explainable AI for trees", Nature
       Machine Intelligence 2, 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklboolean import AveragedPerceptron, BooleanEncoder
    >>> from sklboolean.inspection import shapley_values
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(BooleanEncoder(), AveragedPerceptron(random_state=0))
    >>> shapley = shapley_values(model.fit(X, y), X.head(3), X)
    >>> shapley.values.shape
    (3, 30)
    >>> bool(abs(shapley.scores() - model.decision_function(X.head(3))).max() < 1e-9)
    True
    """
    X, background = as_frame(X), None if background is None else as_frame(background)
    transformers, last, _ = split_pipeline(model)
    if isinstance(last, Pool):
        data = {"X": X, "background": background, "sample_weight": sample_weight}
        columns = {"feature_names": feature_names, "feature_groups": feature_groups}
        # Values are linear in the score: an ensemble has the sum of its models' values.
        of_member = partial(
            shapley_values, interactions=interactions, **data, **columns
        )
        return ensemble_values(model, transformers, last, X, of_member)
    is_process = isinstance(last, PROCESSES)
    formula = without_terms(last) if is_process else None
    columns = UserColumns.of(model, feature_names, feature_groups, formula)
    add_up = _of_process if is_process else _of_formula
    names, values, base, pairs = add_up(
        columns, X, background, sample_weight, interactions
    )
    values, base = _by_sample(values), float(base[0]) if len(base) == 1 else base
    pairs = None if pairs is None else _with_diagonal(_by_sample(pairs), values)
    index = X.index if hasattr(X, "iloc") else range(len(values))
    X = columns.table(X)
    data = np.asarray(X, dtype=object) if _has_columns(X, columns) else None
    return ShapleyValues(values, base, columns.names, names, data, index, pairs)


def _of_formula(columns, X, background, sample_weight, interactions):
    """Name the outputs of a formula, and add up the values of its products."""
    bits = columns.checked_bits(X)
    n_samples, first_other = len(bits), 0
    _check_background(n_samples, background)
    if background is not None:
        samples = columns.samples(background)
        # One array of both, so that their patterns have the same numbers.
        bits = np.concatenate([bits, columns.bits(samples, "background")])
        first_other = n_samples
    weights = _shares(sample_weight, len(bits) - first_other)
    products = Products(columns, bits)
    shape = len(products.outputs), len(columns.names), n_samples
    sums = _add_up(products, shape, first_other, weights, interactions)
    return products.outputs, *sums


def _of_process(columns, X, background, sample_weight, interactions):
    """Name the outputs of a Gaussian process, and compute its values."""
    if interactions:
        raise ValueError(
            "interactions=True is for sums of conjunctions and lists of rules, not for "
            "a Gaussian process. Set interactions=False."
        )
    samples = columns.samples(X)
    _check_background(samples.shape[0], background)
    others = samples if background is None else columns.samples(background)
    weights = _shares(sample_weight, others.shape[0])
    values, base = process_values(columns, samples, others, weights)
    return columns.formula.output_names(), values, base, None


def _check_background(n_samples, background):
    """Check that a single sample is compared with others."""
    if background is None and n_samples == 1:
        raise ValueError(
            "X has one sample, which has no difference to explain against itself. Give "
            "background, the samples to compare with, such as the training data: the "
            "model does not keep them."
        )


def _shares(sample_weight, n_others):
    """Check the weights of the background; return shares of 1, or None."""
    if sample_weight is None:
        return None
    weights = checked_weights(sample_weight, n_others)
    return weights / weights.sum()


def _has_columns(X, columns):
    """Test if the columns of X, a dense table, are those that are explained."""
    is_same = columns.transformers is None or columns.is_encoded
    n_columns = len(columns.names)
    return is_same and hasattr(X, "__array__") and np.shape(X)[1:] == (n_columns,)


def _by_sample(sums):
    """Move samples to the front and outputs to the end; drop a single output."""
    sums = np.ascontiguousarray(np.swapaxes(sums, 0, -1))
    return sums[..., 0] if sums.shape[-1] == 1 else sums


def _with_diagonal(pairs, values):
    """Mirror the pairs above the diagonal; put the rest of each value on it."""
    pairs += pairs.swapaxes(1, 2)
    columns = np.arange(values.shape[1])
    pairs[:, columns, columns] = values - pairs.sum(axis=2)
    return pairs


def _add_up(products, shape, first_other, shares, has_pairs):
    """Add up the values of all products.

    Parameters
    ----------
    products : Products
        Products of the samples to explain, and of the background if it is another one.
    shape : tuple
        Shape of the values.
    first_other : int
        Number of the first sample of the background.
    shares : ndarray of shape (n_others,) or None
    has_pairs : bool
        Whether interactions are computed.

    Returns
    -------
    values : ndarray of shape (n_outputs, n_columns, n_samples)
    base_values : ndarray of shape (n_outputs,)
    pairs : ndarray of shape (n_outputs, n_columns, n_columns, n_samples) or None
        Interactions on one side of the diagonal, zeros elsewhere.
    """
    n_outputs, n_columns, n_samples = shape
    values, base = np.zeros(shape), np.zeros(n_outputs)
    pairs = np.zeros((n_outputs, n_columns, *shape[1:])) if has_pairs else None
    for product, weights in products.weights.items():
        if not product:
            # The constant of the sum.
            base += weights
            continue
        # Which samples fail the test of each column of the product.
        tests = [products.misses(column, mask) for column, mask in product]
        misses = other_misses = [test[:n_samples] for test in tests]
        if first_other:
            other_misses = [test[first_other:] for test in tests]
        patterns = Patterns.count(misses, other_misses, shares)
        base += weights * patterns.satisfied_share()
        columns = [column for column, _ in product]
        _share_out(values, columns, patterns.values(), weights, patterns.codes)
        if has_pairs:
            pairs_of_columns, table = combinations(columns, 2), patterns.interactions()
            _share_out(pairs, pairs_of_columns, table, weights, patterns.codes)
    return values, base, pairs


def _share_out(sums, cells, table, weights, codes):
    """Add the values of one product, tabled by pattern, to the sums at some places."""
    for cell, by_pattern in zip(cells, table.T, strict=True):
        for sums_of_output, weight in zip(sums, weights, strict=True):
            sums_of_output[cell] += (weight * by_pattern)[codes]


# Gaussian processes, and ensembles whose models have values


def without_terms(process):
    """Make a formula of the features and the outputs of a Gaussian process."""
    classes = class_labels(process) if hasattr(process, "classes_") else None
    n_outputs = 1 if classes is None or len(classes) == 2 else len(classes)
    weights = np.zeros((n_outputs, 0))
    columns = Columns.of(process, process.binarize)
    return WeightedSum(columns, (), weights, weights.sum(axis=1), classes, False)


def process_values(columns, samples, others, shares):
    """Compute the values of a Gaussian process, by column of the user.

    Parameters
    ----------
    columns : UserColumns
    samples, others : {data frame, array-like, sparse matrix}
        Features of the samples to explain, and of the background.
    shares : ndarray of shape (n_others,) or None

    Returns
    -------
    values : ndarray of shape (n_outputs, n_columns, n_samples)
    base_values : ndarray of shape (n_outputs,)
    """
    process = columns.model
    groups = process.kernel_.feature_groups
    # Each group of features of the kernel must be of one column of the user, which may
    # have several: a date has its thresholds, months and hours.
    pairs = set(zip(groups.tolist(), columns.owners.tolist(), strict=True))
    groups_of_columns, owners = zip(*sorted(pairs), strict=True)
    if len(set(groups_of_columns)) < len(pairs):
        raise ValueError(
            "The columns to explain divide columns_, those of the Gaussian process. "
            "Give the same feature_groups to both."
        )
    by_sample = process.column_values(samples, others, shares, owners=owners)
    values = np.zeros((by_sample.shape[2], len(columns.names), len(by_sample)))
    values[:, : by_sample.shape[1]] = by_sample.transpose(2, 1, 0)
    has_classes = hasattr(process, "classes_")
    scores = process.decision_function if has_classes else process.predict
    # The base value is the mean score of the background.
    base = np.average(scores(others), axis=0, weights=shares)
    return values, np.atleast_1d(base)


def ensemble_values(ensemble, encoder, pool, samples, explain):
    """Add up the values of the models of an ensemble, by their weights.

    Parameters
    ----------
    ensemble : fitted estimator
    encoder : Pipeline or None
        What encodes the data of the ensemble, or of a pipeline that ends with it.
    pool : Pool
        The models behind the encoder.
    samples : {data frame, array-like, sparse matrix}
        Those to explain.
    explain : callable
        Computes the `ShapleyValues` of a model.

    Returns
    -------
    shapley : ShapleyValues
        Of ``decision_function``.
    """
    values_of_models, factors = [], []
    classes = class_labels(pool) if hasattr(pool, "classes_") else ()
    for weight, model in zip(pool.weights, pool.estimators, strict=True):
        whole = model if encoder is None else make_pipeline(*encoder, model)
        try:
            values_of_models.append(explain(whole))
        except ValueError as error:
            raise ValueError(f"{type(model).__name__} in the ensemble: {error}") from (
                error
            )
        # The ensemble adds up log-odds, its models have scores.
        factors.append(weight * getattr(model, "calibration_slope_", 1.0))

    def total(name):
        values = [getattr(of_model, name) for of_model in values_of_models]
        if values[0] is None:
            return None
        values = sum(f * np.asarray(v) for f, v in zip(factors, values, strict=True))
        # The same number added to all scores of a sample changes nothing.
        is_shifted = len(classes) > 2
        return values - values.mean(axis=-1, keepdims=True) if is_shifted else values

    names = [f"log-odds of {classes[1]}"] if classes else ["prediction"]
    if len(classes) > 2:
        names = [f"score of {label}" for label in classes]
    sums = {name: total(name) for name in ("values", "base_values", "interactions")}
    sums["base_values"] += getattr(pool, "intercept", 0.0)
    shapley = replace(values_of_models[0], output_names=names, **sums)
    scores = getattr(ensemble, "decision_function", ensemble.predict)(samples)
    if not np.allclose(shapley.scores(), scores, rtol=TOLERANCE, atol=TOLERANCE):
        raise ValueError(
            "The Shapley values of the models do not add up to the score of the "
            "ensemble. Each model must have log-odds or logits as scores, between "
            "-20 and 20."
        )
    return shapley
