"""The best conjunction under weights: the class, and a beam search over columns.

All sums of weights are exact, as for `BooleanStump`.
"""

# The search goes by length. The beam holds conjunctions of one length, as bits of the
# samples that satisfy them. For each of them and each feature `ClassSums` adds up the
# weights of every class where both hold; negations follow by subtraction. The best
# extension is compared with the best so far, and the next beam takes those with the
# largest gains, each set of literals once. Sums are int64, or Python's integers where
# 64 bits may not hold them, so ties are exact: the shorter conjunction wins, then the
# first.

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import targets_of
from sklboolean._core.conjunction_search import satisfied_by
from sklboolean._core.deprecation import Gone, old_parameters
from sklboolean._core.formulas import feature_name_of
from sklboolean._core.labels import encode_classes
from sklboolean._core.parameters import check_integer
from sklboolean._core.validation import validate_boolean
from sklboolean._core.weights import checked_weights, warn_of_absent
from sklboolean.boosting._stump import (
    BooleanStump,
    Stump,
    StumpColumns,
    class_signs,
    integer_parts,
    side_weights,
)
from sklboolean.boosting._stumps import add_masked_panel_sums, sum_weights

# Fewest literals that are extended, and most pairs of them with a feature.
FEWEST_EXTENDED, MOST_EXTENSIONS = 8, 1024


def truth_of_conjunction(columns, literals):
    """Compute 1 for each sample that satisfies a conjunction, else 0.

    Parameters
    ----------
    columns : StumpColumns with panels
    literals : iterable of int
        As in `Stump`.

    Returns
    -------
    truth : ndarray of shape (n_samples,), dtype uint8
    """
    mask = np.full(columns.panels.shape[1], 2**32 - 1, dtype=np.uint32)
    for literal in literals:
        panel, lane = divmod(literal >> 1, columns.panels.shape[2])
        column = columns.panels[panel, :, lane]
        mask &= column if literal & 1 else ~column
    octets = mask.astype("<u4", copy=False).view(np.uint8)
    return np.unpackbits(octets, bitorder="little", count=columns.n_samples)


def best_conjunction(columns, signs, weights, max_literals):
    """Find a conjunction that classifies much weight correctly, by a beam search.

    The best conjunctions of each length are extended by every literal. Either side of
    a conjunction predicts its heaviest class. Of equals the shortest wins, then the one
    that is found first.

    Parameters
    ----------
    columns : StumpColumns with panels
    signs : ndarray of shape (n_classes - 1, n_samples), int16
        From `class_signs`.
    weights : ndarray of shape (n_samples,), int16 or float64
        As for `best_stump`.
    max_literals : int
        Maximum length, at least 1.

    Returns
    -------
    conjunction : Stump
    """
    sums, n_features = ClassSums(columns, signs, weights), columns.n_features
    width = width_of_beam(n_features)
    gain, literals = sums.totals.max(), ()
    sides = sums.totals.argmax(), sums.totals.argmax()
    beam = Beam.of_constant(columns, sums.totals)
    for length in range(1, min(max_literals, n_features) + 1):
        # Of shape (n_classes, n_conjunctions, 2 n_features): features, then negations.
        covered = sums.of_extensions(beam)
        gains = sums.gains(covered)
        beam.exclude_repeated(gains)
        first = int(gains.argmax())
        if gains.flat[first] > gain:
            gain = gains.flat[first]
            i, column = divmod(first, 2 * n_features)
            literals = (*beam.literals[i], literal_of(column, n_features))
            outside = sums.totals - covered[:, i, column]
            sides = outside.argmax(), covered[:, i, column].argmax()
        if length < max_literals:
            beam = beam.extended(columns, covered, gains, width)
    return Stump(literals, *map(int, sides), sums.edge(int(gain)))


def width_of_beam(n_features):
    """Choose how many conjunctions of each length are extended.

    All literals of few features, fewer of many: a round stays quick.
    """
    most = max(FEWEST_EXTENDED, MOST_EXTENSIONS // n_features)
    return min(2 * n_features, most)


def literal_of(column, n_features):
    """Write a column of an extension as a literal: first the features, then negations.

    Examples
    --------
    >>> [literal_of(column, 2) for column in range(4)]
    [1, 3, 0, 2]
    """
    is_negated, feature = divmod(column, n_features)
    return 2 * feature + 1 - is_negated


class ClassSums:
    """Exact sums of the weight of each class, minus that of the first class.

    The differences decide as well as the weights do, and save a pass.

    Parameters
    ----------
    columns, signs, weights
        As for `best_conjunction`.

    Attributes
    ----------
    total : int
        Sum of the weights.
    totals : ndarray of shape (n_classes,), dtype int64 or object
        The differences over all samples.
    """

    def __init__(self, columns, signs, weights):
        self.columns = columns
        digits_by_shift, dtype = integer_parts(weights, columns.n_samples)
        # A class, the shift of a digit, and this digit of all samples with their signs.
        self.lines = [
            (code, shift, line)
            for shift, digits in digits_by_shift
            for code, line in enumerate(signs * digits, start=1)
        ]
        self.total = sum(
            sum_weights(digits) << shift for shift, digits in digits_by_shift
        )
        self.totals = np.zeros(len(signs) + 1, dtype=dtype)
        for code, shift, line in self.lines:
            self.totals[code] += sum_weights(line) << shift

    def of_extensions(self, beam):
        """Sum over the samples of each conjunction and a further literal.

        Returns
        -------
        covered : ndarray of shape (n_classes, n_conjunctions, 2 * n_features)
        """
        panels, n_features = self.columns.panels, self.columns.n_features
        n_panels, n_words, n_lanes = panels.shape
        scratch = np.empty(32 * n_words, dtype=np.int16)
        shape = len(self.totals), len(beam.literals), n_features
        inside = np.zeros(shape, dtype=self.totals.dtype)
        for code, shift, line in self.lines:
            sums = np.zeros((shape[1], n_panels * n_lanes), dtype=np.int64)
            add_masked_panel_sums(line, beam.masks, panels, scratch, sums)
            of_features = sums[:, :n_features].astype(inside.dtype, copy=False)
            inside[code] += of_features << shift
        return np.concatenate([inside, beam.sums[:, :, None] - inside], axis=2)

    def gains(self, covered):
        """Compute what the heaviest classes inside and outside gain over the first."""
        outside = self.totals[:, None, None] - covered
        return covered.max(axis=0) + outside.max(axis=0)

    def edge(self, gain):
        """Compute the share of the weight that is classified correctly, minus 1/2."""
        of_first = (self.total - int(self.totals.sum())) // len(self.totals)
        right = of_first + gain
        return (2 * right - self.total) / (2 * self.total)


@dataclass(frozen=True)
class Beam:
    """Conjunctions of one length, to be extended by a literal.

    Attributes
    ----------
    literals : list of tuple of int
        As in `Stump`.
    masks : ndarray of shape (n_conjunctions, n_words), dtype uint32
        The samples that satisfy each, as bits.
    sums : ndarray of shape (n_classes, n_conjunctions)
        Over these samples, as in `ClassSums`.
    """

    literals: list
    masks: np.ndarray
    sums: np.ndarray

    @classmethod
    def of_constant(cls, columns, totals):
        """Make the beam of the empty conjunction, which all samples satisfy."""
        masks = np.full((1, columns.panels.shape[1]), 2**32 - 1, dtype=np.uint32)
        return cls([()], masks, totals[:, np.newaxis])

    def exclude_repeated(self, gains):
        """Mark extensions by a feature that a conjunction has, in place."""
        if self.literals[0]:
            used = np.array(self.literals) >> 1
            conjunctions = np.arange(len(used))[:, np.newaxis]
            gains[conjunctions, used] = gains[
                conjunctions, gains.shape[1] // 2 + used
            ] = -1

    def extended(self, columns, covered, gains, width):
        """Make the beam of the extensions with the largest gains."""
        n_features, n_lanes = columns.n_features, columns.panels.shape[2]
        literals, parents, column = self._choose(gains, width)
        panel, lane = np.divmod(column % n_features, n_lanes)
        is_negated = (column >= n_features)[:, np.newaxis]
        words = columns.panels[panel, :, lane]
        masks = self.masks[parents] & np.where(is_negated, ~words, words)
        return Beam(literals, masks, covered[:, parents, column])

    def _choose(self, gains, width):
        """Choose the extensions with the largest gains.

        Returns
        -------
        chosen : list of tuple of int
            Their literals.
        parents, columns : ndarrays of int
            Which conjunction became each of them, by which column of ``gains``.
        """
        n_columns, gains = gains.shape[1], gains.ravel()
        # Each of several literals is found in as many orders as there are.
        n_wanted = min(len(gains), width * (len(self.literals[0]) + 1))
        least = np.partition(gains, len(gains) - n_wanted)[len(gains) - n_wanted]
        candidates = np.flatnonzero(gains >= max(least, 0))
        candidates = candidates[np.argsort(-gains[candidates], kind="stable")]
        parents, columns = np.divmod(candidates, n_columns)
        literals = literal_of(columns, n_columns // 2)
        chosen = {}
        extensions = zip(parents.tolist(), literals.tolist(), strict=True)
        for place, (parent, literal) in enumerate(extensions):
            conjunction = tuple(sorted((*self.literals[parent], literal)))
            if conjunction not in chosen:
                chosen[conjunction] = place
                if len(chosen) == width:
                    break
        places = list(chosen.values())
        return list(chosen), parents[places], columns[places]


@old_parameters(width=Gone(None, "Leave it out."))
class ConjunctionStump(BooleanStump):
    """Classify by the best conjunction of few literals under sample weights.

    A weak learner for boosting that sees conjunctions. Where the conjunction is true it
    predicts one class, elsewhere another. A beam search finds it; with one literal it
    is a `BooleanStump`.

    Parameters
    ----------
    max_literals : int, default=3
        Maximum number of literals. More literals fit wrong labels too: compare values
        on held-out samples.
    binarize : float or None, default=0.0
        A feature is true where its value is above this threshold. None: X must contain
        only 0 and 1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, those of samples without weight included.
    literals_ : tuple of (int, bool)
        The features of the conjunction and whether each must be true. Empty when a
        constant is at least as good as all conjunctions.
    side_classes_ : ndarray of shape (2,)
        The labels predicted where the conjunction is false and where it is true.
    side_probabilities_ : ndarray of shape (2, n_classes), dtype float64
        The shares of the classes in the weight of either side.
    edge_ : float
        The weighted training accuracy minus 1/2.
    rule_ : str
        The conjunction and the labels as text.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    BooleanStump : A single literal, exact.
    sklboolean.rules.top_conjunctions : The conjunctions with the largest weight, exact.

    Notes
    -----
    Weights are added and compared exactly. So a sample of weight 3 equals three
    samples, and the order of the samples does not matter. Among equals the shortest
    conjunction wins, then the one that is found first.

    References
    ----------
    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    PhD thesis, University of California, Santa Cruz, 1993, chapter 2.

    Examples
    --------
    >>> from sklboolean import ConjunctionStump
    >>> X = [[1, 1], [0, 1], [1, 0], [0, 0]]
    >>> ConjunctionStump().fit(X, ["yes", "no", "no", "no"]).rule_
    'yes if x0 and x1 else no'
    """

    def __init__(self, *, max_literals=3, binarize=0.0):
        self.max_literals = max_literals
        super().__init__(binarize=binarize)

    def fit(self, X, y=None, sample_weight=None) -> "ConjunctionStump":
        """Find the best conjunction.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Features. A value above ``binarize`` is true.
        y : array-like of shape (n_samples,), default=None
            Labels. With only one class the hypothesis is that constant.
            None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the samples, finite and at least 0. A number is the weight of
            every sample. None: 1.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For bad parameters and data, negative weights, or weights that are all 0.
            The classifier then keeps its former state.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            self._check_params()
            table, y = validate_boolean(self, X, y)
            self._fit_bits(table, y, sample_weight)
        return self

    def _fit_bits(self, table, y, sample_weight=None):
        """Find the best conjunction of checked bits of ``n_features_in_`` features."""
        self.classes_, codes = encode_classes(y, min_classes=1)
        weights = checked_weights(sample_weight, len(codes), scaled=False)
        warn_of_absent(self.classes_, np.bincount(codes, weights))
        n_features, n_classes = self.n_features_in_, len(self.classes_)
        columns = StumpColumns.from_boolean(table, n_features, dense=True)
        signs = class_signs(codes, n_classes)
        best = best_conjunction(columns, signs, weights, self.max_literals)
        truth = truth_of_conjunction(columns, best.literals)
        sides = side_weights(truth, codes, weights, n_classes)
        self._set_fitted_attributes(best, sides)

    def _check_params(self):
        super()._check_params()
        check_integer(self.max_literals, "max_literals", 1)

    def _set_fitted_attributes(self, stump, sides):
        """Set what the conjunction predicts; ``sides`` is as from `side_weights`."""
        self.literals_ = tuple(
            (literal >> 1, bool(literal & 1)) for literal in stump.literals
        )
        self.edge_ = stump.edge
        self.side_classes_ = self.classes_[[stump.if_false, stump.if_true]]
        if_false, if_true = self.side_classes_.tolist()
        if not self.literals_:
            sides = np.stack([sides[1], sides[1]])
            self.rule_ = f"always {if_true}"
        else:
            names = []
            for feature, value in self.literals_:
                name = feature_name_of(self, feature)
                name = f"{name} > {self.binarize:g}" if self.binarize else name
                names.append(name if value else f"not {name}")
            self.rule_ = f"{if_true} if {' and '.join(names)} else {if_false}"
        shares = sides / sides.sum(axis=1, keepdims=True)
        self.side_probabilities_ = shares.astype(np.float64)

    def _conjunction(self):
        """Return the literals that the stump tests; none for a constant."""
        return tuple(self.literals_)

    @property
    def feature_importances_(self):
        """Equal shares for the features of the conjunction, 0 for the others.

        An ndarray of shape (`n_features_in_`,), dtype float64; all 0 for a constant.
        """
        check_is_fitted(self)
        importances = np.zeros(self.n_features_in_)
        for feature, _ in self.literals_:
            importances[feature] = 1 / len(self.literals_)
        return importances

    def _sides(self, table):
        """Compute 1 where the conjunction is true in checked bits, else 0."""
        return satisfied_by(table, self.literals_).astype(np.intp)
