"""Find groups in which a target differs, or in which a model errs."""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.bits import PackedBits, as_words
from sklboolean._core.conjunction_search import satisfied_by
from sklboolean._core.data_errors import column_names
from sklboolean._core.formula import class_labels
from sklboolean._core.held_out import stratified_split
from sklboolean._core.labels import plain_labels
from sklboolean._core.meta import draw_seed
from sklboolean._core.parameters import check_choice, check_integer, check_real
from sklboolean._core.validation import (
    check_array_strict,
    check_boolean_array,
    check_labelled,
    is_missing,
)
from sklboolean.inspection._counterfactuals import single_output
from sklboolean.inspection._formulas import check_names
from sklboolean.inspection._permutation_test import (
    PermutationParams,
    best_group,
    centred,
)
from sklboolean.inspection._subgroups import Subgroups
from sklboolean.preprocessing._boolean_encoder import unfitted_encoder
from sklboolean.preprocessing._frames import as_table, is_frame

CONFIDENCE = 0.95  # of the intervals
# Below it the log-loss of a model that was sure of another label would be infinite.
LEAST_PROBABILITY = 1e-15
LARGEST = 1e100  # squares stay finite
LOSSES = ("auto", "log-loss", "error", "squared", "absolute")


def find_subgroups(
    X, target, *, n_groups=5, max_literals=3, power=0.5, side="both", min_size=10,
    monotone=False, strata=None, test_size=0.5, n_permutations=999, alpha=0.05,
    encoder=None, n_jobs=None, random_state=None,
) -> Subgroups:  # fmt: skip
    """Find the conjunctions of conditions in which a number differs most.

    The search is exact: it compares all conjunctions of up to ``max_literals``
    conditions. Its p-value is corrected for all of them: the best of so many
    conjunctions looks good by chance, so it is compared with the best after random
    permutations of the target [1]_ [2]_.

    Parameters
    ----------
    X : {data frame, array-like, sparse matrix} of shape (n_samples, n_features)
        A data frame of pandas, polars or pyarrow, or numbers, which are encoded by
        ``encoder``; or bits: an array or sparse matrix of zeros and ones.
    target : array-like of shape (n_samples,)
        A number for each sample, or a bool: a label, the loss of a model, or for the
        effect of a treatment that was given with the probability p the residual of the
        outcome times ``(treated - p) / (p * (1 - p))``.
    n_groups : int, default=5
        Maximum number of groups.
    max_literals : int, default=3
        Maximum number of conditions of a group, 1 to 4.
    power : float, default=0.5
        A group has the score ``abs(sum(target - mean)) / size**power``, from 0 to 1.
        0: the sum, for large groups. 1: the difference of the mean, for small groups
        with large differences. 0.5 measures it in standard errors.
    side : {"both", "higher", "lower"}, default="both"
        Whether the target of a group is higher or lower than the mean.
    min_size : int, default=10
        Minimum number of searched samples of a group.
    monotone : bool, default=False
        Whether conditions are only that features are true, not that they are false.
    strata : array-like of shape (n_samples,), str or None, default=None
        A label for each sample, or the name of a column of X. The target is compared
        within samples of one label. Set it for a column that explains differences
        which are not of interest. None: all samples are compared.
    test_size : float, default=0.5
        Share of the samples that is held out for honest estimates of the differences.
        0: all samples are searched.
    n_permutations : int, default=999
        Number of permutations. The smallest possible p-value is
        ``1 / (n_permutations + 1)``.
    alpha : float, default=0.05
        The search ends with the first group whose p-value is larger.
    encoder : BooleanEncoder or None, default=None
        A clone of it encodes X. None: ``BooleanEncoder(n_bins=8)``.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Draws the held-out samples and the permutations.

    Returns
    -------
    subgroups : Subgroups
        In the order in which they were found. Each search leaves out the samples of the
        groups before. ``print`` shows a line for each group; ``to_frame`` and
        ``to_sql`` export them, and `SubgroupsDisplay` draws them.

    Raises
    ------
    ValueError
        For parameters out of range, a target that is constant or no finite number,
        lengths that differ, and too many Boolean features.

    See Also
    --------
    model_errors : Groups in which a model errs.
    sklboolean.RuleClassifier : Rules that predict a label.

    Notes
    -----
    If the target does not depend on X, a p-value of at most 0.05 occurs in at most 5 %
    of such data sets, whatever the features and the distribution of the target. A later
    p-value is at least as large as those before it, and is conditional on these groups.

    References
    ----------
    .. [1] P. H. Westfall and S. S. Young, "Resampling-Based Multiple Testing", Wiley,
       1993.
    .. [2] M. Atzmueller, "Subgroup Discovery", WIREs Data Mining and Knowledge
       Discovery 5, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklboolean.inspection import find_subgroups
    >>> rng = np.random.default_rng(0)
    >>> age, smokes = rng.integers(20, 80, 600), rng.random(600) < 0.3
    >>> ill = rng.random(600) < np.where(smokes & (age > 60), 0.8, 0.2)
    >>> X = pd.DataFrame({"age": age, "smokes": smokes})
    >>> found = find_subgroups(X, ill, n_groups=1, random_state=0)
    >>> found.texts, found.columns["p_value"].tolist()
    (['age > 66 and smokes'], [0.001])
    """
    params = PermutationParams(
        max_literals, power, side, min_size, monotone, n_permutations, n_jobs
    )
    check_integer(n_groups, "n_groups", 1)
    check_real(alpha, "alpha", 0, 1)
    check_real(test_size, "test_size", 0, below=1)
    rng = check_random_state(random_state)
    samples, names, encoder = Samples.read(X, target, strata, encoder)
    held_out, searched = np.arange(0), np.arange(len(samples.target))
    if test_size:
        held_out, searched = stratified_split(samples.strata, test_size, rng)
    is_left, p_value = np.ones(len(samples.target), dtype=bool), 0.0
    conjunctions, lines = [], []
    while len(lines) < n_groups and p_value <= alpha:
        left, left_held_out = (
            samples.take(half[is_left[half]]) for half in (searched, held_out)
        )
        literals, score, p_of_search = best_group(
            *left, len(names), params, draw_seed(rng)
        )
        if literals is None:
            break
        # A group cannot be surer than those before, on which it depends.
        p_value = max(p_value, p_of_search)
        conjunctions.append(literals)
        lines.append(_describe(literals, left, left_held_out, score, p_value))
        is_left &= ~satisfied_by(samples.words, literals)
    columns = {name: np.array([line[name] for line in lines]) for name in COLUMNS}
    return Subgroups(conjunctions, columns, names, encoder)


def model_errors(model, X, y, *, loss="auto", **options) -> Subgroups:
    """Find the groups in which a model errs more, or less, than elsewhere.

    Use samples that the model was not trained on: on its training data a model errs
    little where it has learned the labels by heart.

    Parameters
    ----------
    model : fitted classifier or regressor
        A model of any package, or a pipeline.
    X : {data frame, array-like, sparse matrix} of shape (n_samples, n_features)
        Samples as the model takes them. The groups are described by their columns.
    y : array-like of shape (n_samples,)
        Their labels or targets.
    loss : {"auto", "log-loss", "error", "squared", "absolute"}, default="auto"
        Loss to compare. "log-loss": minus the logarithm of the probability of the
        label. "error": whether the predicted label is wrong. "squared", "absolute": of
        the difference between y and the prediction. "auto": "log-loss" of a classifier
        with ``predict_proba``, "error" of another one, "squared" of a regressor. Pass
        any other loss to `find_subgroups` as its target.
    options : dict
        Other parameters of `find_subgroups`, such as ``side="higher"``.

    Returns
    -------
    subgroups : Subgroups
        As from `find_subgroups`, whose target is the loss of each sample.

    Raises
    ------
    ValueError
        For a loss that the model does not have, a label that it was not trained on,
        missing labels, and as `find_subgroups`.

    See Also
    --------
    find_subgroups : Groups in which any other number differs.
    label_quality : Labels that may be wrong.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklboolean.datasets import load_votes
    >>> from sklboolean.inspection import model_errors
    >>> X, y = load_votes(return_X_y=True)
    >>> model = LogisticRegression().fit(X[::2], y[::2])
    >>> found = model_errors(model, X[1::2], y[1::2], side="higher", random_state=0)
    >>> len(found)
    1
    """
    check_is_fitted(model)
    check_choice(loss, "loss", LOSSES)
    check_labelled(y)
    y = np.ravel(np.asarray(plain_labels(y)))
    return find_subgroups(X, losses_of_samples(model, X, y, loss), **options)


class Samples(NamedTuple):
    """Samples as bits, with the number that is compared and their strata."""

    words: np.ndarray
    target: np.ndarray
    strata: np.ndarray

    @classmethod
    def read(cls, X, target, strata, encoder):
        """Check the data; return samples, names of their features and the encoder."""
        X = X if isinstance(X, PackedBits) else as_table(X)
        codes = _stratum_codes(X, strata)
        words, names, encoder = _read_bits(X, encoder)
        target = _read_numbers(target, "target")
        codes = np.zeros(len(words), dtype=np.intp) if codes is None else codes
        for name, values in (("target", target), ("strata", codes)):
            if len(values) != len(words):
                raise ValueError(
                    f"{name} has {len(values)} entries and X has {len(words)} samples: "
                    "give one for each sample."
                )
        samples = cls(words, target, codes)
        # Squares of smaller differences would be 0.
        if np.abs(centred(target, codes)).max() < 1 / LARGEST:
            raise ValueError(
                "target is constant, or constant within each stratum, so no group "
                "differs. Give a target that varies, or other strata."
            )
        return samples, names, encoder

    def take(self, numbers):
        """Select samples."""
        return Samples(*(values[numbers] for values in self))


def _read_bits(X, encoder):
    """Make samples packed bits; return them, the names of the bits and the encoder."""
    fresh = unfitted_encoder(encoder, n_bins=8).set_output(transform="default")
    is_given = isinstance(X, PackedBits) or hasattr(X, "tocsr")
    if not is_given and encoder is None and not is_frame(X):
        values = np.asarray(X)
        is_given = values.dtype.kind in "biuf" and bool(np.isin(values, (0, 1)).all())
    if is_given:
        words, n_features = check_boolean_array(X, "X", None)
        names = check_names(getattr(X, "feature_names", None), n_features)
        return as_words(words), names, None
    words, _ = check_boolean_array(fresh.fit_transform(X), "X", None)
    return as_words(words), list(map(str, fresh.get_feature_names_out())), fresh


def _read_numbers(values, name):
    """Check the number of each sample."""
    values = np.asarray(plain_labels(values))
    if values.dtype.kind in "fO" and values.ndim and is_missing(values).any():
        raise ValueError(
            f"{name} holds missing values. Leave out the samples without a value."
        )
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must hold a number or a bool for each sample; got an array of "
            f"{values.dtype} and shape {values.shape}. For labels compare them with "
            'one, such as y == "yes".'
        )
    values = check_array_strict(values, name, ensure_2d=False, dtype=np.float64)
    if np.abs(values).max() > LARGEST:
        raise ValueError(
            f"{name} holds {values[np.abs(values).argmax()]:.3g}, and its sums would "
            f"be infinite. Divide it, so that no number is beyond {LARGEST:g}."
        )
    return values


def _stratum_codes(X, strata):
    """Number the strata; None where there are none."""
    if strata is None:
        return None
    if isinstance(strata, str):
        if not is_frame(X) or strata not in column_names(X):
            raise ValueError(
                f"strata={strata!r} is not the name of a column of X. Give a column of "
                "a data frame, or a label for each sample."
            )
        strata = X[strata]
    labels, numbers = np.asarray(strata).astype(object), {}
    if labels.ndim != 1 or is_missing(labels).any():
        raise ValueError(
            "strata must hold one label for each sample, none missing; its shape is "
            f"{labels.shape}. Give missing values a label of their own."
        )
    try:
        return np.array([numbers.setdefault(x, len(numbers)) for x in labels], np.intp)
    except TypeError as error:
        raise ValueError(
            "strata must hold labels such as texts and numbers; it holds "
            f"{type(labels[0]).__name__}."
        ) from error


COLUMNS = (
    "size", "mean", "mean_of_others", "score", "p_value", "held_out_size",
    "difference", "low", "high",
)  # fmt: skip


def _describe(literals, searched, held_out, score, p_value):
    """Compute the numbers of a group, by the names in `COLUMNS`."""
    is_in = satisfied_by(searched.words, literals)
    means = [
        searched.target[chosen].mean() if chosen.any() else np.nan
        for chosen in (is_in, ~is_in)
    ]
    is_in_held_out = satisfied_by(held_out.words, literals)
    difference = difference_of_means(held_out.target, is_in_held_out, held_out.strata)
    numbers = [is_in.sum(), *means, score, p_value, is_in_held_out.sum(), *difference]
    return dict(zip(COLUMNS, numbers, strict=True))


def difference_of_means(target, members, strata):
    """Estimate the difference between members and others of the same stratum.

    The coefficient of membership in a linear model with a constant for each stratum;
    its variance is HC2, that of Welch if there is one stratum [1]_.

    Parameters
    ----------
    target : ndarray of shape (n_samples,), float64
    members : ndarray of shape (n_samples,), bool
    strata : ndarray of shape (n_samples,), int

    Returns
    -------
    difference, low, high : float
        With the ends of the interval, by the t distribution with one degree of freedom
        less than the smaller side has samples, which is cautious.

    References
    ----------
    .. [1] J. G. MacKinnon and H. White, "Some heteroskedasticity-consistent covariance
       matrix estimators", Journal of Econometrics 29, 1985.
    """
    n_smaller = min(members.sum(), (~members).sum())
    if n_smaller < 2:
        return np.nan, np.nan, np.nan
    side, target = centred(members.astype(float), strata), centred(target, strata)
    spread = side @ side
    if spread == 0:  # each stratum is on one side
        return np.nan, np.nan, np.nan
    difference = side @ target / spread
    leverage = side**2 / spread + 1 / np.bincount(strata)[strata]
    # A leverage of 1 fits its sample exactly: no residual is left.
    unexplained = np.maximum(1 - leverage, 1e-9)
    residuals = target - difference * side
    variance = np.sum(side**2 * residuals**2 / unexplained) / spread**2
    quantile = stdtrit(n_smaller - 1, (1 + CONFIDENCE) / 2)
    half_width = quantile * np.sqrt(variance)
    return difference, difference - half_width, difference + half_width


def losses_of_samples(model, X, y, loss):
    """Compute the loss of each sample."""
    has_probabilities = hasattr(model, "predict_proba")
    if loss == "auto" and is_classifier(model):
        loss = "log-loss" if has_probabilities else "error"
    elif loss == "auto":
        loss = "squared"
    needs_class = loss in ("log-loss", "error")
    has_type = is_classifier if needs_class else is_regressor
    if not has_type(model) or has_probabilities < (loss == "log-loss"):
        raise ValueError(
            f"loss={loss!r} does not suit {type(model).__name__}: 'log-loss' needs a "
            "classifier with predict_proba, 'error' a classifier, and the others a "
            "regressor. Set loss='auto'."
        )
    if loss == "log-loss":
        single_output(model.classes_)  # else the classes are several arrays
        predictions = np.asarray(model.predict_proba(X))
    else:
        predictions = single_output(model.predict(X))
    if len(predictions) != len(y):
        raise ValueError(
            f"y has {len(y)} entries and X has {len(predictions)} samples: give one "
            "for each sample."
        )
    if needs_class:
        return _class_losses(predictions, y, class_labels(model))
    difference = _read_numbers(y, "y") - predictions
    return np.abs(difference) if loss == "absolute" else difference**2


def _class_losses(predictions, y, classes):
    """Compute the loss of each label, for predicted labels or probabilities."""
    columns, labels = {label: k for k, label in enumerate(classes)}, y.tolist()
    unknown = [label for label in labels if label not in columns]
    if unknown:
        raise ValueError(
            f"y holds the label {unknown[0]!r}, which the model was not trained on. "
            f"Its classes are {classes}."
        )
    if predictions.ndim == 1:
        return predictions != y
    of_labels = predictions[np.arange(len(y)), [columns[label] for label in labels]]
    return -np.log(np.maximum(of_labels, LEAST_PROBABILITY))
