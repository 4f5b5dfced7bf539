"""The best conjunction under weights: the class, and a beam search over columns.

All sums of weights are exact, as for `BooleanStump`.
"""

from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.conjunction_search import satisfied_by
from sklboolean._core.formulas import feature_name_of
from sklboolean._core.labels import encode_classes
from sklboolean._core.parameters import check_integer
from sklboolean._core.validation import validate_boolean
from sklboolean._core.weights import check_sample_weight
from sklboolean.boosting._stump import (
    BooleanStump,
    StumpColumns,
    class_signs,
    integer_parts,
    side_weights,
)
from sklboolean.boosting._stumps import add_masked_panel_sums, sum_weights

# Fewest literals that are extended, and most pairs of them with a feature.
FEWEST_EXTENDED, MOST_EXTENSIONS = 8, 1024


class Conjunction(NamedTuple):
    """A conjunction, and the class where it is false and where it is true.

    Attributes
    ----------
    literals : tuple of int
        ``2 * feature + 1``, or ``2 * feature`` for its negation. Empty for a constant.
    if_false, if_true : int
        Codes of the classes.
    edge : float
        The share of the weight that it classifies correctly, minus 1/2.
    """

    literals: tuple
    if_false: int
    if_true: int
    edge: float


def truth_of_conjunction(columns, literals):
    """Compute 1 for each sample that satisfies a conjunction, else 0.

    Parameters
    ----------
    columns : StumpColumns with panels
    literals : iterable of int
        As in `Conjunction`.

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


def best_conjunction(columns, signs, weights, max_literals, width):
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
    width : int or None
        Number of conjunctions of each length that are extended. With ``2 *
        n_features`` the best conjunction of two literals is found. None: chosen by the
        number of features.

    Returns
    -------
    conjunction : Conjunction
    """
    parts, dtype = integer_parts(weights, columns.n_samples)
    # First the features, then their negations.
    literals = np.arange(1, 2 * columns.n_features, 2)
    choices = [*literals.tolist(), *(literals - 1).tolist()]
    if width is None:
        # All literals of few features, fewer of many: a round stays quick.
        most = MOST_EXTENSIONS // columns.n_features
        width = min(2 * columns.n_features, max(FEWEST_EXTENDED, most))
    n_features, n_lines = columns.n_features, len(signs)
    n_panels, n_words, n_lanes = columns.panels.shape
    scratch = np.empty(32 * n_words, dtype=np.int16)
    # The weight of each class minus that of the first decides as well as the weight.
    signed = [signs * digits for _shift, digits in parts]
    totals, total = np.zeros(n_lines + 1, dtype=dtype), 0
    for (shift, digits), lines in zip(parts, signed, strict=True):
        total += sum_weights(digits) << shift
        for code, line in enumerate(lines, start=1):
            totals[code] += sum_weights(line) << shift
    gain, literals = totals.max(), ()
    sides = totals.argmax(), totals.argmax()
    extended, of_extended = [()], totals[:, np.newaxis]
    masks = np.full((1, n_words), 2**32 - 1, dtype=np.uint32)
    for length in range(1, min(max_literals, n_features) + 1):
        inside = np.zeros((n_lines + 1, len(extended), n_features), dtype=dtype)
        for (shift, _digits), lines in zip(parts, signed, strict=True):
            for code, line in enumerate(lines, start=1):
                sums = np.zeros((len(extended), n_panels * n_lanes), dtype=np.int64)
                add_masked_panel_sums(line, masks, columns.panels, scratch, sums)
                sums = sums[:, :n_features].astype(dtype, copy=False)
                inside[code] += sums << shift
        covered = np.concatenate([inside, of_extended[:, :, None] - inside], axis=2)
        gains = covered.max(axis=0) + (totals[:, None, None] - covered).max(axis=0)
        if length > 1:
            used, each = np.array(extended) >> 1, np.arange(len(extended))[:, None]
            gains[each, used] = gains[each, n_features + used] = -1
        flat = gains.ravel()
        first = int(flat.argmax())
        if flat[first] > gain:
            gain = flat[first]
            i, j = divmod(first, 2 * n_features)
            literals = (*extended[i], choices[j])
            outside = totals - covered[:, i, j]
            sides = outside.argmax(), covered[:, i, j].argmax()
        if length < max_literals:
            extended, parents, literal = _choose_extended(
                extended, flat, choices, width
            )
            of_extended = covered[:, parents, literal]
            panel, lane = np.divmod(literal % n_features, n_lanes)
            is_negated = (literal >= n_features)[:, np.newaxis]
            column = columns.panels[panel, :, lane]
            masks = masks[parents] & np.where(is_negated, ~column, column)
    of_first = (total - int(totals.sum())) // len(totals)
    right = of_first + int(gain)
    if_false, if_true = map(int, sides)
    return Conjunction(literals, if_false, if_true, (2 * right - total) / (2 * total))


def _choose_extended(extended, gains, choices, width):
    """Choose the conjunctions that are extended next.

    Returns
    -------
    chosen : list of tuple of int
        Their literals.
    parents, columns : ndarrays of int
        Which conjunction became each of them, by which column of ``gains``.
    """
    # Each of several literals is found in as many orders as there are.
    n_wanted = min(len(gains), width * (len(extended[0]) + 1))
    least = np.partition(gains, len(gains) - n_wanted)[len(gains) - n_wanted]
    candidates = np.flatnonzero(gains >= max(least, 0))
    candidates = candidates[np.argsort(-gains[candidates], kind="stable")]
    chosen = {}
    for candidate in candidates.tolist():
        i, j = divmod(candidate, len(choices))
        literals = tuple(sorted((*extended[i], choices[j])))
        if literals not in chosen:
            chosen[literals] = candidate
            if len(chosen) == width:
                break
    return list(chosen), *np.divmod(list(chosen.values()), len(choices))


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
    width : int or None, default=None
        Number of conjunctions of each length that the search extends by a literal.
        None: 1024 divided by the number of features, at least 8. Twice the number of
        features makes the search for two literals exact.
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
    samples, and the order of the samples does not matter. Of equals the shortest
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

    def __init__(self, *, max_literals=3, width=None, binarize=0.0):
        self.max_literals = max_literals
        self.width = width
        super().__init__(binarize=binarize)

    def fit(self, X, y, sample_weight=None):
        """Find the best conjunction.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features. A value above ``binarize`` is true.
        y : array-like of shape (n_samples,)
            Labels. With only one class the hypothesis is that constant.
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
        with restore_on_error(self):
            self._check_params()
            table, y = validate_boolean(self, X, y)
            self._fit_bits(table, y, sample_weight)
        return self

    def _fit_bits(self, table, y, sample_weight=None):
        """Find the best conjunction of checked bits of ``n_features_in_`` features."""
        self.classes_, codes = encode_classes(y, min_classes=1)
        weights = check_sample_weight(sample_weight, len(codes))
        n_features, n_classes = self.n_features_in_, len(self.classes_)
        columns = StumpColumns.from_boolean(table, n_features, dense=True)
        signs = class_signs(codes, n_classes)
        best = best_conjunction(columns, signs, weights, self.max_literals, self.width)
        truth = truth_of_conjunction(columns, best.literals)
        sides = side_weights(truth, codes, weights, n_classes)
        self._set_fitted_attributes(best, sides)

    def _check_params(self):
        super()._check_params()
        check_integer(self.max_literals, "max_literals", 1)
        if self.width is not None:
            check_integer(self.width, "width", 1)

    def _set_fitted_attributes(self, stump, sides):
        """Set what the conjunction predicts; ``sides`` is as from `side_weights`."""
        self.literals_ = tuple((each >> 1, bool(each & 1)) for each in stump.literals)
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
