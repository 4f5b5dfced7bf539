"""The decision stump over Boolean features: the class, and the search for the best one.

All sums of weights are exact, whatever the weights, so ties are broken the same way on
every processor and in every order of the samples.
"""

# A column is 32 samples in a word, 16 features side by side (panels), or a list of the
# samples where it is true, whichever is smaller. The sum of the weights of each class
# where a feature is true, minus that of the first class, decides about the stump:
# * int16 weights (15 bits) need one pass over the columns for each class but one;
# * float64 weights are integers times a power of two. Each digit in base 2**15 needs a
#   pass, and the sums of the digits are put together as int64 or Python's integers.
# So sums are exact, and the best stump does not depend on the order of the samples.

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import TableScoreMixin, restore_on_error
from sklboolean._core.bits import as_words, targets_of
from sklboolean._core.damage import labels_of, require
from sklboolean._core.exports import ExportMixin
from sklboolean._core.formula import Columns, FirstRule, class_labels
from sklboolean._core.formulas import feature_name_of, python_value
from sklboolean._core.labels import encode_classes
from sklboolean._core.parameters import check_binarize
from sklboolean._core.validation import as_boolean, validate_boolean
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import checked_weights, warn_of_absent
from sklboolean.boosting._stumps import (
    LANES,
    add_panel_sums,
    add_posting_sums,
    add_stump_votes,
    choose_by_column,
    fill_column_panels,
    sum_weights,
)

NO_PANELS = np.zeros((0, 0, LANES), dtype=np.uint32)
NO_INDPTR = np.zeros(1, dtype=np.int64)
NO_INDICES = np.zeros(0, dtype=np.int32)
INDEX_BITS = 32
ENTRIES_AT_A_TIME = 2**24
DIGIT_BITS = 15
LARGEST = 2**DIGIT_BITS - 1
MANTISSA_BITS = 53

# Weights as integers


def quantize_weights(weights):
    """Round weights to 15 bits, relative to the largest.

    Parameters
    ----------
    weights : ndarray of shape (n,), float64
        Finite, at least 0. Where samples have few distinct weights, round those and
        look up the weights of the samples.

    Returns
    -------
    quantized : ndarray of shape (n,), dtype int16
        The largest is 32767. A weight is off by at most the largest / 65534, so the
        weight of any set of samples is off by at most n times that. A weight below it
        becomes 0.

    Raises
    ------
    ValueError
        When no weight is above 0.

    Examples
    --------
    >>> import numpy as np
    >>> quantize_weights(np.array([0.5, 0.25, 1e-9]))
    array([32767, 16384,     0], dtype=int16)
    """
    largest = weights.max(initial=0.0)
    if not largest > 0:
        raise ValueError("All weights are zero; at least one must be above 0.")
    return np.rint(weights / largest * LARGEST).astype(np.int16)


def binary_digits(weights):
    """Write weights exactly in base 2**15.

    Every float64 is an integer times a power of two. All weights are integers times the
    smallest such power, the unit, however far they are apart.

    Parameters
    ----------
    weights : ndarray of shape (n,), float64
        Finite, at least 0, not all 0.

    Returns
    -------
    digits_by_shift : list of (int, ndarray of shape (n,), dtype int16)
        Sample i weighs the sum of ``digits[i] * 2**shift`` units over the pairs
        ``(shift, digits)``. Digits that are 0 for all samples are left out.

    Examples
    --------
    >>> import numpy as np
    >>> binary_digits(np.array([0.5, 3.0, 0.0]))
    [(0, array([1, 6, 0], dtype=int16))]
    """
    fraction, exponent = np.frexp(weights)
    mantissa = np.ldexp(fraction, MANTISSA_BITS).astype(np.uint64)
    exponent = exponent.astype(np.int64) - MANTISSA_BITS
    is_positive = mantissa > 0
    lowest_bit = mantissa[is_positive] & (~mantissa[is_positive] + np.uint64(1))
    trailing_zeros = np.frexp(lowest_bit.astype(np.float64))[1] - 1
    unit = int((exponent[is_positive] + trailing_zeros).min())
    n_bits = int(exponent[is_positive].max()) + MANTISSA_BITS - unit
    digits_by_shift = []
    for shift in range(0, n_bits, DIGIT_BITS):
        # Bits that are shifted out, on either side, belong to other digits.
        down = shift + unit - exponent
        down_shift = np.clip(down, 0, 63).astype(np.uint64)
        up = np.clip(-down, 0, DIGIT_BITS).astype(np.uint64)
        digits = ((mantissa >> down_shift) << up) & np.uint64(LARGEST)
        if digits.any():
            digits_by_shift.append((shift, digits.astype(np.int16)))
    return digits_by_shift


# The columns of a Boolean matrix


@dataclass(frozen=True)
class StumpColumns:
    """The columns of a Boolean matrix, laid out once for many rounds.

    Attributes
    ----------
    n_samples, n_features : int
    panels : ndarray of shape (ceil(n_features / 16), ceil(n_samples / 32), 16), uint32
        Bit r of ``panels[p, w, c]`` is sample 32 w + r of feature 16 p + c.
    indptr, indices : ndarray of int64, ndarray of int32
        The samples for which feature j is true: ``indices[indptr[j]:indptr[j + 1]]``.
        They are used instead of ``panels`` where they are smaller; the form that is not
        used is empty.
    """

    n_samples: int
    n_features: int
    panels: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray

    @classmethod
    def from_boolean(cls, table, n_features, *, dense=False):
        """Lay out a Boolean matrix from `validate_boolean`.

        Parameters
        ----------
        table : ndarray of uint64 words, or csr_array whose stored entries are all true
        n_features : int
        dense : bool
            Whether to make panels even where lists of samples are smaller.
        """
        n_samples = table.shape[0]
        n_listed = INDEX_BITS * table.nnz if sparse.issparse(table) else np.inf
        if n_listed < n_samples * n_features and not dense:
            columns = table.tocsc()
            indptr = columns.indptr.astype(np.int64, copy=False)
            indices = columns.indices.astype(np.int32, copy=False)
            return cls(n_samples, n_features, NO_PANELS, indptr, indices)
        shape = -(-n_features // LANES), -(-n_samples // 32), LANES
        panels = np.empty(shape, dtype=np.uint32)
        fill_column_panels(as_words(table), panels)
        return cls(n_samples, n_features, panels, NO_INDPTR, NO_INDICES)

    def sums(self, weights):
        """Sum the weights of the samples for which each feature is true, exactly.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,), int16
            Of either sign.

        Returns
        -------
        sums : ndarray of shape (n_features,), dtype int64

        Raises
        ------
        ValueError
            For another number of weights, or another dtype.
        """
        if weights.shape != (self.n_samples,):
            raise ValueError(
                f"weights must have shape ({self.n_samples},), one for each sample; "
                f"its shape is {weights.shape}."
            )
        if not len(self.panels):
            sums = np.zeros(self.n_features, dtype=np.int64)
            # A part of the features at a time: Ctrl-C takes effect between two parts.
            n_entries = 1 + len(self.indices)
            step = max(1, ENTRIES_AT_A_TIME * self.n_features // n_entries)
            for first in range(0, self.n_features, step):
                starts = self.indptr[first : first + step + 1]
                block_sums = sums[first : first + step]
                add_posting_sums(weights, starts, self.indices, block_sums)
            return sums
        sums = np.zeros(len(self.panels) * LANES, dtype=np.int64)
        add_panel_sums(weights, self.panels, sums)
        return sums[: self.n_features]

    def choose(self, feature, if_false, if_true):
        """Choose one of two values for each sample by a feature.

        Parameters
        ----------
        feature : int
            -1 stands for the constant that is false everywhere.
        if_false, if_true : int
            Between -2**15 and 2**15 - 1, for example -1 and 1.

        Returns
        -------
        chosen : ndarray of shape (n_samples,), dtype int16
        """
        chosen = np.full(self.n_samples, if_false, dtype=np.int16)
        if feature >= 0 and len(self.panels):
            choose_by_column(self.panels, feature, if_false, if_true, chosen)
        elif feature >= 0:
            samples = slice(self.indptr[feature], self.indptr[feature + 1])
            chosen[self.indices[samples]] = if_true
        return chosen


# The best stump, and the votes of many


class Stump(NamedTuple):
    """A test of one feature, or of a conjunction, and the class on either side.

    Attributes
    ----------
    literals : tuple of int
        ``2 * feature + 1``, or ``2 * feature`` for its negation. Empty for a constant.
    if_false, if_true : int
        Codes of the classes.
    edge : float
        The share of the weight that it classifies correctly, minus 1/2, correctly
        rounded.
    """

    literals: tuple
    if_false: int
    if_true: int
    edge: float

    @property
    def feature(self):
        """The feature of the first literal; -1 for a constant."""
        return self.literals[0] >> 1 if self.literals else -1


def class_signs(codes, n_classes):
    """Compute the signs that compare each class with the first one.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), int
        The class of each sample, from 0.
    n_classes : int

    Returns
    -------
    signs : ndarray of shape (n_classes - 1, n_samples), dtype int16
        Line c - 1 has 1 for class c, -1 for class 0, 0 for other classes.
    """
    others = np.arange(1, n_classes)[:, np.newaxis]
    return (codes == others).astype(np.int16) - (codes == 0)


def best_stump(columns, signs, weights):
    """Find the stump that classifies the most weight correctly.

    For each feature, each side predicts its heaviest class. Of equals the constant
    wins, then the lowest feature, and on a side the lowest class. So the two sides of
    a feature that wins always differ.

    Parameters
    ----------
    columns : StumpColumns of n_samples samples
    signs : ndarray of shape (n_classes - 1, n_samples), int16
        From `class_signs`.
    weights : ndarray of shape (n_samples,), int16 or float64
        Finite, at least 0, not all 0. int16, from `quantize_weights`, is fast: one
        pass over the columns for each class but one. float64 takes several passes for
        each. All sums and comparisons are exact, whatever the weights.

    Returns
    -------
    stump : Stump

    Raises
    ------
    ValueError
        For another number of weights, when one is below 0 or all are 0.
    """
    digits_by_shift, dtype = integer_parts(weights, columns.n_samples)
    return stump_of(stump_sums(columns, signs, digits_by_shift, dtype))


class StumpSums(NamedTuple):
    """Sums of whole weights, from which the best stump follows.

    The weight of each class minus that of the first decides as well as the weights do,
    and saves a pass.

    Attributes
    ----------
    inside : ndarray of shape (n_classes, n_features), int
        These differences where each feature is true.
    totals : ndarray of shape (n_classes,), int
        The differences in all samples.
    total : int
        The weight of all samples.
    """

    inside: np.ndarray
    totals: np.ndarray
    total: int


def stump_sums(columns, signs, digits_by_shift, dtype):
    """Sum up weights, given as from `integer_parts`."""
    inside = np.zeros((len(signs) + 1, columns.n_features), dtype=dtype)
    totals, total = np.zeros(len(signs) + 1, dtype=dtype), 0
    for shift, digits in digits_by_shift:
        total += sum_weights(digits) << shift
        for code, sign in enumerate(signs, start=1):
            signed = sign * digits
            inside[code] += columns.sums(signed).astype(dtype, copy=False) << shift
            totals[code] += sum_weights(signed) << shift
    return StumpSums(inside, totals, total)


def stump_of(sums):
    """Find the best stump by the sums of the weights."""
    inside, totals, total = sums
    outside = totals[:, np.newaxis] - inside
    # What the heaviest class on either side weighs more than the first class.
    gains = inside.max(axis=0) + outside.max(axis=0)
    feature, gain = int(gains.argmax()), totals.max()
    if gains[feature] > gain:
        gain = gains[feature]
        sides = outside[:, feature].argmax(), inside[:, feature].argmax()
        literals = (2 * feature + 1,)
    else:
        literals, sides = (), (totals.argmax(), totals.argmax())
    # The differences add up to the total minus n_classes times the first class.
    of_first = (total - int(totals.sum())) // len(totals)
    right = of_first + int(gain)
    if_false, if_true = map(int, sides)
    return Stump(literals, if_false, if_true, (2 * right - total) / (2 * total))


def integer_parts(weights, n_samples):
    """Check weights and write them as integers; choose the dtype of their sums.

    Parameters
    ----------
    weights : ndarray of shape (n_samples,), int16 or float64
    n_samples : int

    Returns
    -------
    digits_by_shift : list of (int, ndarray of shape (n_samples,), dtype int16)
        As from `binary_digits`.
    dtype : type
        Python's integers where 64 bits may not hold a sum, its double and a sign.
    """
    if weights.shape != (n_samples,):
        raise ValueError(
            f"weights must have shape ({n_samples},), one for each sample; "
            f"its shape is {weights.shape}."
        )
    if weights.min(initial=0) < 0 or not weights.max(initial=0) > 0:
        raise ValueError("weights must be at least 0, and one of them above 0.")
    digits_by_shift = (
        [(0, weights)] if weights.dtype == np.int16 else binary_digits(weights)
    )
    n_bits = digits_by_shift[-1][0] + DIGIT_BITS + n_samples.bit_length()
    return digits_by_shift, np.int64 if n_bits <= 61 else object


def side_weights(truth, codes, weights, n_classes):
    """Sum the weight of each class where a feature is false and where it is true.

    Parameters
    ----------
    truth : ndarray of shape (n_samples,), int
        1 where the feature is true, else 0.
    codes : ndarray of shape (n_samples,), int
        The class of each sample, from 0.
    weights : ndarray of shape (n_samples,), float64
        Finite, at least 0, not all 0.
    n_classes : int

    Returns
    -------
    sides : ndarray of shape (2, n_classes), dtype object
        Python integers, in the same unit: exact.
    """
    cells = codes + n_classes * truth.astype(np.intp)
    sides = np.zeros(2 * n_classes, dtype=object)
    for shift, digits in binary_digits(weights):
        # float64 holds sums of 15-bit integers.
        sums = np.bincount(cells, weights=digits, minlength=2 * n_classes)
        sides += sums.astype(np.int64).astype(object) << shift
    return sides.reshape(2, n_classes)


def count_stump_votes(tests, table, n_classes):
    """Count the votes of stumps.

    Parameters
    ----------
    tests : ndarray of shape (n_stumps, 2 + max_literals), int
        Class where the conjunction is false, class where it is true, and its literals:
        ``2 * feature + 1``, ``2 * feature`` for a negation, -1 for none.
    table : words or csr_array
        From `as_boolean`.
    n_classes : int

    Returns
    -------
    votes : ndarray of shape (n_samples, n_classes), int64
    """
    if sparse.issparse(table):  # only the features that are tested are packed
        literals = tests[:, 2:]
        features, places = np.unique(np.maximum(literals, 0) >> 1, return_inverse=True)
        table = table[:, features]
        packed = 2 * places.reshape(literals.shape) + (literals & 1)
        tests = np.hstack([tests[:, :2], np.where(literals < 0, -1, packed)])
    votes = np.zeros((table.shape[0], n_classes), dtype=np.int64)
    add_stump_votes(as_words(table), np.ascontiguousarray(tests), votes)
    return votes


class BooleanStump(ExportMixin, TableScoreMixin, ClassifierMixin, VersionedEstimator):
    """Classify by the best single Boolean feature under sample weights.

    The weak learner for boosting over Boolean features. Among all features, their
    negations and the constants it takes the one that classifies the most weight
    correctly. With more than two classes each side of a feature predicts its heaviest
    class.

    Parameters
    ----------
    binarize : float or None, default=0.0
        A feature is true where its value is above this threshold. None: X must contain
        only 0 and 1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, those of samples without weight included.
    feature_ : int
        The feature that is tested; -1 when a constant is at least as good as all.
    side_classes_ : ndarray of shape (2,)
        The labels predicted where the feature is false and where it is true.
    side_probabilities_ : ndarray of shape (2, n_classes), dtype float64
        The shares of the classes in the weight of either side.
    edge_ : float
        The weighted training accuracy minus 1/2.
    rule_ : str
        The stump as text.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    sklearn.tree.DecisionTreeClassifier : With ``max_depth=1``, a stump that chooses
        by impurity, so that both sides may predict the same class.

    Notes
    -----
    Weights are added and compared exactly: sums of float64 are taken as integers of as
    many bits as necessary. So a sample of weight 3 equals three samples, a sample of
    weight 0 has no effect, and the order of the samples does not matter, to the last
    bit. Among stumps that are equally good a constant wins, then the lowest feature; of
    classes the first.

    The best stump under weights w has, in boosting by majority, the largest edge gamma
    that stumps can have in that round.

    References
    ----------
    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    PhD thesis, University of California, Santa Cruz, 1993, chapter 2.

    Examples
    --------
    >>> from sklboolean import BooleanStump
    >>> X = [[1, 0], [0, 1], [1, 1], [0, 0], [1, 0]]
    >>> y = ["yes", "no", "yes", "no", "no"]
    >>> stump = BooleanStump().fit(X, y)
    >>> stump.rule_
    'yes if x0 else no'
    >>> stump.edge_
    0.3
    >>> stump.fit(X, y, sample_weight=[1, 1, 1, 1, 6]).rule_
    'always no'
    """

    def __init__(self, *, binarize=0.0):
        self.binarize = binarize

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # Two sides predict at most two classes, so a third one is always wrong.
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X, y=None, sample_weight=None) -> "BooleanStump":
        """Find the best stump.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Features. A value above ``binarize`` is true.
        y : array-like of shape (n_samples,), default=None
            Labels. With only one class the stump is that constant.
            None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the samples, finite and at least 0. A number is the weight of
            every sample. None: 1.

        Returns
        -------
        self : object
            The fitted stump.

        Raises
        ------
        ValueError
            For bad data, negative weights, or weights that are all 0. The stump then
            keeps its former state.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            table, y = validate_boolean(self, X, y)
            self._fit_bits(table, y, sample_weight)
        return self

    def _fit_bits(self, table, y, sample_weight=None):
        """Find the best stump of checked bits of ``n_features_in_`` features."""
        self.classes_, codes = encode_classes(y, min_classes=1)
        weights = checked_weights(sample_weight, len(codes), scaled=False)
        warn_of_absent(self.classes_, np.bincount(codes, weights))
        columns = StumpColumns.from_boolean(table, self.n_features_in_)
        n_classes = len(self.classes_)
        stump = best_stump(columns, class_signs(codes, n_classes), weights)
        truth = columns.choose(stump.feature, 0, 1)
        sides = side_weights(truth, codes, weights, n_classes)
        self._set_fitted_attributes(stump, sides)

    def _check_params(self):
        check_binarize(self.binarize)

    def _fitted_clone(self, X, y):
        """Fit a clone to checked samples, whose columns are not judged again."""
        fitted = clone(self)
        fitted.n_features_in_ = X.shape[1]
        fitted._fit_bits(as_boolean(X, self.binarize), y)
        return fitted

    def _fitted_copy(self, stump, ensemble):
        """Make a fitted copy that votes as a hypothesis of an ensemble does."""
        # As `copy.copy`, which would read the state as that of a stored estimator.
        fitted = object.__new__(type(self))
        vars(fitted).update(vars(self))
        fitted.classes_ = ensemble.classes_
        fitted.n_features_in_ = ensemble.n_features_in_
        if hasattr(ensemble, "feature_names_in_"):
            fitted.feature_names_in_ = ensemble.feature_names_in_
        # A vote is for one class, whatever the shares were under the round's weights.
        one_hot = np.eye(len(fitted.classes_), dtype=np.int64)
        fitted._set_fitted_attributes(stump, one_hot[[stump.if_false, stump.if_true]])
        return fitted

    def _set_fitted_attributes(self, stump, sides):
        """Set what the stump predicts; ``sides`` is as from `side_weights`."""
        self.feature_, self.edge_ = stump.feature, stump.edge
        self.side_classes_ = self.classes_[[stump.if_false, stump.if_true]]
        if_false, if_true = self.side_classes_.tolist()
        if self.feature_ < 0:
            sides = np.stack([sides[0], sides[0]])
            self.rule_ = f"always {if_true}"
        else:
            name = feature_name_of(self, self.feature_)
            if self.binarize:
                name = f"{name} > {self.binarize:g}"
            self.rule_ = f"{if_true} if {name} else {if_false}"
        # Python divides integers of any size and rounds once.
        shares = sides / sides.sum(axis=1, keepdims=True)
        self.side_probabilities_ = shares.astype(np.float64)

    @property
    def feature_importances_(self):
        """1 for the feature of the stump, 0 for the others.

        An ndarray of shape (`n_features_in_`,), dtype float64; all 0 for a constant.
        """
        check_is_fitted(self)
        importances = np.zeros(self.n_features_in_)
        if self.feature_ >= 0:
            importances[self.feature_] = 1.0
        return importances

    def predict(self, X) -> np.ndarray:
        """Predict the label of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as for ``fit``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            One of ``side_classes_``.
        """
        sides = self._sides(self._check_bits(X))
        return labels_of(self.side_classes_, sides)

    def predict_proba(self, X) -> np.ndarray:
        """Predict the share of each class in the training weight of the sample's side.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as for ``fit``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype float64
            A line of ``side_probabilities_`` for each sample. The predicted class has
            the largest.
        """
        sides = self._sides(self._check_bits(X))
        return labels_of(self.side_probabilities_, sides)

    def _predict_checked(self, X):
        """Predict the labels of checked samples: only one column is read."""
        if self.binarize is None:
            return self.predict(X)  # other numbers than 0 and 1 are an error
        if self.feature_ < 0:
            return np.full(X.shape[0], self.side_classes_[0])
        column = X[:, [self.feature_]]
        column = column.toarray() if sparse.issparse(column) else column
        truth = column[:, 0].astype(np.float64) > self.binarize
        return self.side_classes_[truth.astype(np.intp)]

    def _conjunction(self):
        """Return the literals that the stump tests; none for a constant."""
        return ((int(self.feature_), True),) if self.feature_ >= 0 else ()

    def _formula(self):
        term = self._conjunction()
        if_false, if_true = map(python_value, self.side_classes_)
        # The side where the rule holds comes first.
        probabilities = (
            self.side_probabilities_[::-1] if term else (self.side_probabilities_[1:])
        )
        return FirstRule(
            Columns.of(self, self.binarize),
            [term] if term else [],
            [if_true] if term else [],
            if_false,
            class_labels(self),
            probabilities,
        )

    def _check_bits(self, X):
        check_is_fitted(self)
        return validate_boolean(self, X, reset=False)

    def _sides(self, table):
        """Compute 1 where the feature is true in checked bits, else 0."""
        if self.feature_ < 0:
            return np.zeros(table.shape[0], dtype=np.intp)
        if sparse.issparse(table):
            return table[:, [self.feature_]].toarray().ravel().astype(np.intp)
        word, bit = divmod(self.feature_, 64)
        require(word < table.shape[1], "feature_ is not a feature")
        return (table[:, word] >> np.uint64(bit) & np.uint64(1)).astype(np.intp)
