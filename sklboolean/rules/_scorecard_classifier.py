"""ScorecardClassifier: integer points for a few conditions."""

from collections.abc import Mapping
from copy import copy

import numpy as np
from scipy.special import expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import (
    DecisionClassifierMixin,
    TableScoreMixin,
    restore_on_error,
)
from sklboolean._core.bits import as_words, targets_of, unpack_words
from sklboolean._core.conjunction_search import encode_groups
from sklboolean._core.deprecation import Gone, old_parameters
from sklboolean._core.directions import check_signs, directions_of, signs_of_weights
from sklboolean._core.formulas import conjunction_text
from sklboolean._core.labels import encode_classes, target_rows
from sklboolean._core.parameters import check_integer
from sklboolean._core.validation import validate_boolean
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import labelled_weights
from sklboolean.rules._column_generation import (
    ROUNDING,
    ConjunctionSpace,
    ConjunctionSum,
)
from sklboolean.rules._rules import bound_text
from sklboolean.rules._scorecard_points import choose_joint_points, choose_points
from sklboolean.rules._scorecard_search import ConditionSearch, least_loss
from sklboolean.rules._weighted_rules import WeightedRulesMixin

MOST_CONDITIONS = 62  # of a card that can still be read


@old_parameters(feature_groups=Gone(None, "Name the columns as BooleanEncoder does."))
class ScorecardClassifier(
    WeightedRulesMixin,
    DecisionClassifierMixin,
    TableScoreMixin,
    ClassifierMixin,
    VersionedEstimator,
):
    """Scorecard: integer points for a few conditions, added up to a probability.

    A condition is a feature or, with ``max_literals=2``, also a pair of features or
    their negations that hold together. A sample gets the points of the conditions that
    it satisfies. Its log-odds are a multiple of their sum plus an intercept. Behind a
    `BooleanEncoder` conditions read like ``age <= 44.5``.

    With more than two classes each has a card, and the largest sum of points wins.

    Parameters
    ----------
    max_conditions : int, default=10
        Maximum number of conditions of a card, up to 62. Fewer are used when no further
        one lowers the loss by its price; see Notes.
    max_points : int, default=5
        Maximum absolute points of a condition.
    max_literals : {1, 2}, default=1
        1: conditions are features. 2: pairs of features and their negations, too, which
        pays off with thousands of samples or with strong interactions. Levels of one
        column of `BooleanEncoder`, found by their names, are never a pair.
    monotonic_cst : dict, array-like of shape (n_features,) or None, default=None
        1 for a column whose growth must not lower the points, -1 where it must not
        raise them, else 0. A dict maps names of the columns before a `BooleanEncoder`.
        Where age has 1, conditions with ``age > 40`` have points above 0, those with
        ``age <= 40`` below 0. An array has an entry for each feature, which becomes
        true.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, multiplied by ``sample_weight``. "balanced": in inverse
        proportion to class frequencies.
    binarize : float or None, default=0.0
        Threshold for binarizing: values above it are true. None: X must hold zeros and
        ones.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels. With two classes, the points are for the second.
    conditions_ : list of tuples of (feature, value) pairs
        Conditions, largest absolute points first.
    points_ : ndarray of shape (n_conditions,) or (n_classes, n_conditions), dtype int64
        Points of each condition, without a common factor.
    intercept_ : float or ndarray of shape (n_classes,)
        Points of a sample that satisfies no condition.
    calibration_slope_ : float
        Log-odds of one point.
    coverages_ : ndarray of shape (n_conditions,), dtype int64
        Number of training samples that satisfy each condition.
    loss_ : float
        Mean log-loss on the training samples, by their weights.
    gap_ : float
        How much lower the training loss of another card could be: no card of such
        conditions, of any number and with any real weights whose absolute values in
        log-odds add up to no more than those of this card, has a mean log-loss below
        ``loss_ - gap_``.
    edit_losses_ : tuple of (float, float) or None
        Mean log-loss on the samples of the last edit, before and after it: see
        ``with_points``. None for a card that was not edited.
    n_samples_fit_ : int
        Number of training samples with weight.
    feature_counts_ : ndarray of shape (`n_features_in_`,), dtype int64
        Number of them in which each feature is true, for `inspection.monitor`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    ConjunctionLogisticRegression : Real weights for any number of conjunctions.
    RuleClassifier : A list of rules, of which one decides.

    Notes
    -----
    Among features that are equal, or each other's negations, such as ``age <= 44.5``
    and ``age > 44.5``, the first one is used.

    Conditions are added one at a time: of all features and pairs the one that lowers
    the log-loss most, with a ridge penalty of half the squared weights and a price of
    ``log(n_features) / 2`` for a feature and four times as much for a pair. After each
    step every condition is exchanged for another where this lowers the objective. The
    weights are then rounded to integers at several scales. Single points are added and
    taken while the objective falls, each time with the best scale and intercept.

    With more than two classes conditions and weights are those of each class against
    the others. The weights of all cards are rounded at the same scales. The scale is
    taken whose points, with one slope and an intercept for each class, have the least
    log-loss with the same ridge penalty.

    ``gap_`` is by duality: the least loss of all sums of conditions whose weights are
    as small as those of the card is a convex problem, of which `ColumnGeneration` gives
    a bound over all conditions. It covers what was lost by few conditions, by integers
    and by a search that is not exhaustive, and so it is small only where a few
    conditions suffice.

    The time grows with the number of samples times the square of the number of
    features; with ``max_literals=1`` with their product.

    References
    ----------
    Liu, Zhong, Li, Seltzer, Rudin. "FasterRisk: Fast and Accurate Interpretable Risk
    Scores". NeurIPS 2022 (points at several scales).

    Ustun, Rudin. "Learning Optimized Risk Scores". JMLR 20, 2019.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklboolean import BooleanEncoder, ScorecardClassifier
    >>> from sklboolean.datasets import load_recurrence
    >>> X, y = load_recurrence(return_X_y=True, as_frame=True)
    >>> card = make_pipeline(BooleanEncoder(), ScorecardClassifier(max_conditions=3))
    >>> card.fit(X, y)[-1].points_.tolist()
    [-5, -5, -4]
    """

    _header = ("class", "condition", "points", "coverage")

    def __init__(
        self, max_conditions=10, *, max_points=5, max_literals=1, monotonic_cst=None,
        class_weight=None, binarize=0.0, n_jobs=None,
    ):  # fmt: skip
        self.max_conditions = max_conditions
        self.max_points = max_points
        self.max_literals = max_literals
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.binarize = binarize
        self.n_jobs = n_jobs

    def fit(self, X, y=None, sample_weight=None) -> "ScorecardClassifier":
        """Choose conditions and points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Boolean features.
        y : array-like of shape (n_samples,), default=None
            Labels of two classes or more. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

        Returns
        -------
        self : ScorecardClassifier
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. An earlier fit is kept.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            check_integer(self.max_conditions, "max_conditions", 1, MOST_CONDITIONS)
            check_integer(self.max_points, "max_points", 1, 1000)
            check_integer(self.max_literals, "max_literals", 1, 2)
            search, codes, words, groups = self._condition_search(X, y, sample_weight)
            self.edit_losses_ = None
            if len(self.classes_) == 2:
                self._set_points(search, self._card(search))
            else:
                self._set_joint_points(search, codes)
            self._set_gap(search, codes, words, groups)
        return self

    def _card(self, search):
        """Add a condition, exchange others, until the objective does not fall."""
        card, best = None, search.fitted((), search.counts(()), np.zeros(1))
        while card is None or best.objective < card.objective:
            card = best
            is_full = len(card.conditions) >= self.max_conditions
            best = search.exchanged(card if is_full else search.extended(card))
        return card

    def _condition_search(self, X, y, sample_weight, *, reset=True):
        """Check samples; return the search over them, their words, and the groups."""
        samples, y = validate_boolean(self, X, y, reset=reset)
        self.classes_, codes = encode_classes(y, None if reset else self.classes_)
        weights = labelled_weights(
            sample_weight, codes, self.classes_, self.class_weight
        )
        groups = encode_groups(None, self.n_features_in_, self._names())
        is_used = weights > 0
        words, weights = as_words(samples)[is_used], weights[is_used]
        features = unpack_words(words, self.n_features_in_).astype(bool)
        search = ConditionSearch(
            features, codes[is_used] * 1.0, weights, self.max_literals, groups,
            directions_of(self), self.n_jobs,
        )  # fmt: skip
        return search, codes[is_used], words, groups

    def with_points(self, points, X, y=None, sample_weight=None):
        """Change the points of conditions, and fit the probabilities again.

        Parameters
        ----------
        points : dict from str or int to int
            The new points, from -1000 to 1000, by condition: its text as in
            ``to_text``, or its number in ``conditions_``. 0 leaves the condition out. A
            text may be that of a new condition. Other conditions keep their points.
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Samples, such as those of the training.
        y : array-like of shape (n_samples,), default=None
            Their labels. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights, as for ``fit``.

        Returns
        -------
        edited : ScorecardClassifier
            A new card with these points, and the slope and intercept that fit the
            samples best. It has ``edit_losses_``, the mean log-loss of this card and of
            the new one on the samples.

        Raises
        ------
        ValueError
            For unknown conditions, invalid points and data, and where samples with more
            points are in the second class less often. This card stays as it is.

        Examples
        --------
        >>> from sklboolean import ScorecardClassifier
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 9, [0, 1, 0, 1] * 8 + [0, 0, 1, 1]
        >>> card = ScorecardClassifier().fit(X, y)
        >>> card.with_points({"x0": 1, "x1": 2}, X, y).points_.tolist()
        [2, 1]
        """
        check_is_fitted(self)
        self._check_two_classes("with_points")
        y, sample_weight = targets_of(self, X, y, sample_weight)
        if not isinstance(points, Mapping):
            raise ValueError(f"points must be a dict of conditions; got {points!r}.")
        changed = dict(zip(self.conditions_, self.points_.tolist(), strict=True))
        for given, value in points.items():
            condition = self._named_term(given, self.conditions_)
            check_integer(value, f"points[{given!r}]", -1000, 1000)
            if not 1 <= len(condition) <= self.max_literals:
                raise ValueError(
                    f"points: {given!r} is a conjunction of {len(condition)}, but "
                    f"max_literals={self.max_literals}."
                )
            changed[condition] = value
        changed = {condition: value for condition, value in changed.items() if value}
        check_integer(len(changed), "The number of conditions", 0, MOST_CONDITIONS)
        edited = copy(self)
        search, *samples = edited._condition_search(X, y, sample_weight, reset=False)
        signs = np.sign([*changed.values()])
        check_signs([*changed], signs, search.directions, self._names())
        counts, values = search.counts(changed), np.array([*changed.values()], np.int64)
        scale, intercept = counts.fit_scale(values)
        if scale <= 0:
            raise ValueError(
                "points: samples with more of them have the second class, "
                f"{self.classes_.tolist()[1]!r}, less often. Change the signs."
            )
        edited._set_card(search, [*changed], counts, values, scale, intercept)
        edited._set_gap(search, *samples)
        return self._compare(edited, X, y, sample_weight)

    def _set_points(self, search, card):
        """Round the weights of a card and set the fitted attributes."""
        points, scale, intercept = np.zeros(0, dtype=np.int64), 1.0, card.weights[0]
        counts = search.counts(card.conditions)
        if len(card.conditions):
            points, scale, intercept = choose_points(
                counts, card.weights, self.max_points,
                signs_of_weights(card.conditions, search.directions),
            )  # fmt: skip
        self._set_card(search, card.conditions, counts, points, scale, intercept)

    def _set_joint_points(self, search, codes):
        """Find a card for each class against the others; round them together."""
        targets = target_rows(codes, len(self.classes_)) * 1.0
        cards = [self._card(search.with_targets(row)) for row in targets]
        conditions = list(dict.fromkeys(c for card in cards for c in card.conditions))
        weights = np.zeros((len(cards), len(conditions)))
        for k, card in enumerate(cards):
            places = [conditions.index(condition) for condition in card.conditions]
            weights[k, places] = card.weights[1:]
        covers = np.array([*map(search.cover, conditions)], dtype=bool)
        covers = covers.reshape(len(conditions), len(codes)).T
        points, scale, intercepts = choose_joint_points(
            covers, weights, np.array([card.weights[0] for card in cards]), targets.T,
            search.sample_weight, self.max_points,
        )  # fmt: skip
        scores = scale * (covers @ points.T) + intercepts
        losses = -(log_softmax(scores, axis=1) * targets.T).sum(axis=1)
        self.loss_ = float(np.average(losses, weights=search.sample_weight))
        self._set_conditions(search, conditions, points, scale, intercepts)

    def _set_card(self, search, conditions, counts, points, scale, intercept):
        """Set the attributes of a card of two classes."""
        losses = counts.losses(scale * (counts.rows @ points) + intercept)
        self.loss_ = float(losses / counts.both.sum())
        self._set_conditions(
            search, conditions, points[None], scale, np.array([intercept])
        )

    def _set_conditions(self, search, conditions, points, scale, intercepts):
        """Set the attributes of a card; conditions without points are left out."""
        largest, is_one = np.abs(points).max(axis=0, initial=0), len(points) == 1
        order = np.argsort(-largest, kind="stable")[: np.count_nonzero(largest)]
        self.conditions_ = [conditions[k] for k in order]
        points = np.ascontiguousarray(points[:, order])
        intercepts = intercepts / scale
        self.points_ = points[0] if is_one else points
        self.calibration_slope_ = scale
        self.intercept_ = float(intercepts[0]) if is_one else intercepts
        self.coverages_ = np.array(
            [np.count_nonzero(search.cover(c)) for c in self.conditions_], np.int64
        )
        self.n_samples_fit_ = len(search.features)
        self.feature_counts_ = search.features.sum(axis=0, dtype=np.int64)
        self._state = ConjunctionSum(
            tuple(self.conditions_),
            points.astype(np.float64),
            intercepts,
        )

    def _set_gap(self, search, codes, words, groups):
        """Bound the loss of other cards whose weights are as small."""
        total = self.calibration_slope_ * np.abs(self.points_).sum()
        space = ConjunctionSpace(
            self.n_features_in_, self.max_literals, False, 1.0, groups,
            directions=search.directions,
        )  # fmt: skip
        targets = target_rows(codes, len(self.classes_)) * 1.0
        weights, scores = search.sample_weight, self._state.scores(words)
        scores = self.calibration_slope_ * scores
        is_one = len(targets) == 1
        means = expit(scores).T if is_one else softmax(scores, axis=1).T
        # At this C the largest residual sum equals its price, as at an optimum.
        sums = [search.sums(weights * residuals) for residuals in targets - means]
        largest = np.abs(sums).max()
        bound = least_loss(
            targets, weights, words, space, total, 1 / max(largest, 1e-9), self.n_jobs
        )
        bound = bound / search.sample_weight.sum() - ROUNDING * self.loss_
        self.gap_ = self.loss_ - max(bound, 0.0)

    def decision_function(self, X) -> np.ndarray:
        """Add up the points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes), float64
            Points and ``intercept_``. Times ``calibration_slope_`` they are the
            log-odds of the second of two classes, or their softmax the probabilities.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _check_two_classes(self, method):
        if len(self.classes_) > 2:
            raise ValueError(
                f"{method} is for cards of two classes, but this one has "
                f"{len(self.classes_)}, whose points decide together."
            )

    def sum_points(self, X) -> np.ndarray:
        """Add up the points of the conditions that each sample satisfies.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        sums : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype int64
            Without ``intercept_``: of two classes the keys of
            ``probability_by_points``, else those of each class.
        """
        return np.rint(self.decision_function(X) - self.intercept_).astype(np.int64)

    def probability_by_points(self) -> dict:
        """Compute the probability of the second class for each sum of points.

        Returns
        -------
        probabilities : dict of int to float
            From the least sum of points of a sample to the largest, without
            ``intercept_``. Sums that no sample can have are among them.

        Raises
        ------
        ValueError
            For a card of more than two classes.
        """
        check_is_fitted(self)
        self._check_two_classes("probability_by_points")
        least, most = (
            np.minimum(self.points_, 0).sum(),
            np.maximum(self.points_, 0).sum(),
        )
        totals = np.arange(least, most + 1)
        scores = self.calibration_slope_ * (totals + self.intercept_)
        return dict(zip(totals.tolist(), expit(scores).tolist(), strict=True))

    def reasons(self, X) -> list:
        """List the points that each sample lost, and why.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        reasons : list of n_samples lists of str
            Such as "lost 3 points: income <= 20", the most points first. A sample loses
            the points of conditions that it does not satisfy, and those of conditions
            with negative points that it satisfies. With more than two classes, these
            are the points of the predicted one.
        """
        check_is_fitted(self)
        words = as_words(validate_boolean(self, X, reset=False))
        table = np.atleast_2d(self.points_)
        cards = np.zeros(len(words), dtype=np.intp)
        if len(table) > 1:
            cards = self._state.scores(words).argmax(axis=1)
        reasons = []
        for holds, card in zip(self._state.satisfied(words), cards, strict=True):
            points = table[card]
            lost = np.flatnonzero((points != 0) & (holds == (points < 0)))
            lost = lost[np.argsort(-np.abs(points[lost]), kind="stable")]
            reasons.append(
                [self._lost_text(self.conditions_[k], int(points[k])) for k in lost]
            )
        return reasons

    def _lost_text(self, condition, points):
        """Write how many points are lost, and for what."""
        is_negated, names = points > 0, self._names()
        if is_negated and len(condition) == 1:
            [(feature, value)] = condition
            condition, is_negated = [(feature, not value)], False
        text = conjunction_text(condition, names)
        text = f"not ({text})" if is_negated else text
        return f"lost {abs(points)} point{'s' * (abs(points) > 1)}: {text}"

    @property
    def rules_(self):
        """The conditions as a list of `Rule`, whose weights are points."""
        return self._weighted_rules()

    def _formula(self):
        return super()._formula(slope=self.calibration_slope_, has_points=True)

    def _proof(self):
        return (
            f"The mean log-loss in training is {self.loss_:.6g}. It is proved that no "
            "card of such conditions whose absolute weights add up to no more has one "
            f"below {bound_text(self.loss_ - self.gap_)}.",
        )

    def _caption(self):
        if len(self.classes_) > 2:
            return "Points for the classes; the largest sum is predicted"
        return (
            f"Points for {self.classes_[1]}; its log-odds are "
            f"{self.calibration_slope_:.4g} times the sum of {self.intercept_:+.4g} "
            "and the points of all conditions that hold"
        )
