"""RuleClassifier: a list of rules, found by searching for the gain of a rule."""

from dataclasses import replace
from functools import partial
from itertools import groupby, product
from operator import itemgetter

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import check_random_state

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import as_words, targets_of
from sklboolean._core.labels import encode_classes
from sklboolean._core.memory import MemoryCost
from sklboolean._core.parameters import check_choice, check_integer
from sklboolean._core.progress import CallbackSupportMixin, Progress, with_callbacks
from sklboolean._core.validation import validate_boolean, warn_user
from sklboolean._core.weights import (
    check_finite_sum,
    checked_weights,
    class_weights,
    relative_weights,
)
from sklboolean.kernels import BooleanSVC
from sklboolean.rules._dnf_bound import DNFProblem, relax
from sklboolean.rules._first_rule import FirstRuleMixin, proof_text
from sklboolean.rules._gain_search import (
    DecisionList,
    GainParams,
    most_near,
)
from sklboolean.rules._rule_samples import RuleSamples

# Parameters are chosen on held-out samples when the weights add up to so much, and
# parts are held out until they hold so many samples.
MIN_WEIGHT, ENOUGH_HELD_OUT = 100, 2000
# Of lists with about as many errors on held-out samples the shorter one should win. A
# literal counts as a quarter of an error (measured: fewer literals, and no more errors
# later), and as this share of many held-out samples, where lists would grow long.
LITERAL_COST, LITERAL_SHARE = 0.25, 5e-4
# The part of `time_limit` that the choice of parameters may take.
CHOICE_SHARE = 0.7
# The default model is fitted on so many samples: its time grows with their square.
MAX_MODEL_SAMPLES = 4000


class RuleClassifier(CallbackSupportMixin, FirstRuleMixin, BaseEstimator):
    """Classify with a short list of readable rules.

    The first rule that a sample satisfies decides; a default class decides if there is
    none. With two classes the rules form a DNF of one of them. Rules are chosen
    greedily. A rule gains 1 for each sample of its class that no rule before it covers,
    and loses ``penalty`` for each other such sample and ``literal_price`` for each of
    its literals. Classes take turns, each on the samples that are left, in the order of
    their frequency.

    Wrong labels mislead such a search. Therefore the rules learn either from all
    samples, or from those whose label a regularised model predicts. This choice, the
    penalty, the price of a literal and the order of the classes are those with the
    fewest errors on held-out samples.

    Parameters
    ----------
    estimator : classifier, "labels" or None, default=None
        The model that tells which labels to trust: any classifier. None:
        ``BooleanSVC(monotone=False)``, a support vector machine over conjunctions,
        fitted on at most 4000 samples with weights of mean 1. "labels": no model; all
        labels are trusted.
    max_rules : int, default=20
        Maximum number of rules for each class. Lower it for a shorter list.
    max_literals : int, default=4
        Maximum number of literals in a rule. Lower it for rules that are easier to
        read.
    monotone : bool, default=False
        Whether rules consist of true features only. False: negated features too. True
        suits one-hot columns.
    penalty : float or sequence of float, default=(1.0, 3.0)
        Number of correctly covered samples that outweigh one wrongly covered sample,
        above 0: 3 rejects rules of precision below 3/4. Of several values the best one
        is chosen. Raise it for more precise rules. Below 1, rules may be right on less
        than half of their samples: for rare events that must not be missed. If all
        values are below 1, the rarest class gets rules first, and a held-out sample
        that a rule covers wrongly counts as the largest of them, one that is missed
        as 1.
    literal_price : float or sequence of float, default=(1, 2, 4, 16, 64)
        Number of samples that a literal must gain, at least 0. Of several values the
        best one is chosen. Raise it for shorter lists.
    n_folds : int, default=5
        Number of parts of the training set of which one is held out at a time, to
        choose parameters, at least 2. Nothing is held out when the sample weights add
        up to less than 100: then the model is trusted, and the parameters are those
        with the fewest errors in training, where a literal counts as one error.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes. "balanced": inversely proportional to their frequencies.
        Use it when errors on one class cost more, or one class is rare.
    width : int or None, default=512
        Number of conjunctions of each length that a search extends; at most 128 while
        parameters are chosen. None: exact searches, which may take long with many
        features. Up to three literals are searched exactly in any case where the sums
        of all conjunctions are few.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; features of one label never occur together in a rule.
        For one-hot columns: the attribute. None: the levels of one column of
        `BooleanEncoder`, found by their names, share a label.
    certificate : bool, default=False
        Whether to compute ``cost_`` and ``cost_bound_``, for two classes: by how much
        any DNF can be better on the training samples. This does not change the rules.
        It takes an exact search; with more than 50 features set ``time_limit`` too.
    time_limit : float or None, default=None
        Seconds after which no further rule is searched for, and as many for the
        certificate. A warning says what was left. Fitting ``estimator`` is not
        interrupted.
    binarize : float or None, default=0.0
        Threshold for binarizing: values above it are true. None: X must hold zeros and
        ones. ``estimator`` is fitted on zeros and ones.
    random_state : int, RandomState instance or None, default=None
        Seed for the held-out samples, and for ``estimator`` if it has a
        ``random_state`` that is None.
    n_jobs : int or None, default=None
        Number of threads for the choice of parameters, and for an exact search
        (``width=None``). The rules do not depend on it, except under ``time_limit``.
    verbose : int, default=0
        1 prints a line for each part of the samples that is held out.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimator_ : classifier or None
        The fitted model that was trusted; None when the rules learned from all samples.
    penalty_ : float
        The chosen penalty.
    literal_price_ : float
        The chosen price of a literal.
    rules_ : list of Rule
        The rules in order. Each has a ``label``. Their ``coverage`` and ``precision``
        count the training samples that satisfy the rule and no rule before it, the
        precision by their weights.
    default_ : class label
        Label of samples that satisfy no rule.
    class_counts_ : ndarray of shape (n_rules + 1, n_classes), dtype float64
        Weight of the training samples of each class that each rule decides; the last
        entry is for the default.
    grades_ : list of Rule
        Conjunctions that tell samples with the same label apart by their probabilities.
        The first one that a sample satisfies decides. Each extends a rule of ``rules_``
        by up to three features; some are for the default, so there can be grades where
        no rule was found.
    probabilities_ : ndarray of shape (n_grades + 1, n_classes), dtype float64
        Probability of each class for each grade; the last line is for samples that
        satisfy no grade.
    cost_ : float or None
        With ``certificate=True``: the weight of the samples of the class that no rule
        covers, plus for each rule the weight of the other samples that it covers, plus
        ``literal_price_`` for each literal. It counts the training samples that the
        rules learned from: with ``estimator_`` those whose label it predicts. Otherwise
        None.
    cost_bound_ : float or None
        With ``certificate=True``: no DNF of rules of up to ``max_literals`` literals,
        for either class and of any number of rules, has a smaller cost in this sense,
        on the same samples.
        The rules are optimal if it equals ``cost_``. Otherwise None.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    sklboolean.rules.extract_dnf : Rules that explain a fitted model of two classes.

    Notes
    -----
    The certificate is the value of a linear program over all conjunctions, solved by
    column generation with an exact search, as in section 3 of the reference. It counts
    a sample of the other class once for each rule that covers it, so that the number of
    errors of overlapping rules may be smaller than what their cost says.

    References
    ----------
    Dash, Gunluk, Wei. "Boolean Decision Rules via Column Generation". NeurIPS 2018.

    Examples
    --------
    >>> from sklboolean import RuleClassifier
    >>> from sklboolean.datasets import make_monks
    >>> data = make_monks(1, as_frame=True)
    >>> model = RuleClassifier(feature_groups=data.feature_groups, random_state=0)
    >>> model.fit(data.data, data.target).score(data.data, data.target)
    1.0
    """

    def __init__(
        self, estimator=None, *, max_rules=20, max_literals=4, monotone=False,
        penalty=(1.0, 3.0), literal_price=(1, 2, 4, 16, 64), n_folds=5,
        class_weight=None, width=512, feature_groups=None, certificate=False,
        time_limit=None, binarize=0.0, random_state=None, n_jobs=None,
        verbose=0,
    ):  # fmt: skip
        self.estimator = estimator
        self.max_rules = max_rules
        self.max_literals = max_literals
        self.monotone = monotone
        self.penalty = penalty
        self.literal_price = literal_price
        self.n_folds = n_folds
        self.class_weight = class_weight
        self.width = width
        self.feature_groups = feature_groups
        self.certificate = certificate
        self.time_limit = time_limit
        self.binarize = binarize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "RuleClassifier":
        """Choose the parameters on held-out samples, then find the rules.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Boolean features.
        y : array-like of shape (n_samples,), default=None
            Labels of two classes or more. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, at least 0: a sample of weight 2 counts as two.
            Weights whose mean is below 1 are divided by it. None: 1.

        Returns
        -------
        self : RuleClassifier
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. An earlier fit is kept.

        Warns
        -----
        UserWarning
            When no rule was found and every sample gets the default class, and when
            ``time_limit`` ended the fit early.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            params = self._check_params()
            progress = Progress(self, "part", None, X, y)
            samples, y = validate_boolean(self, X, y)
            params = replace(params, feature_groups=self._groups())
            self.classes_, codes = encode_classes(y)
            if self.certificate and len(self.classes_) > 2:
                raise ValueError(
                    "certificate=True needs two classes, as a DNF has; y has "
                    f"{len(self.classes_)}. Set certificate=False."
                )
            y, codes = None, codes.astype(np.min_scalar_type(-len(self.classes_)))
            weights = self._weights(codes, sample_weight)
            # A slice copies nothing.
            used = slice(None) if weights.all() else np.flatnonzero(weights)
            samples = RuleSamples(
                as_words(samples)[used], codes[used], weights[used],
                self.n_features_in_, len(self.classes_),
            )  # fmt: skip
            trusted = self._fit(samples, params, progress)
            self._certify(trusted, params)
            progress.finish()
        self._warn_without_rules()
        return self

    def _fit(self, samples, params, progress):
        """Choose the parameters and find the rules; return what they learned from."""
        rng = check_random_state(self.random_state)
        choice = params.part(CHOICE_SHARE).for_choice()
        setting = self._choose_setting(samples, choice, rng, progress)
        return self._set_fitted_attributes(*setting, samples, params, rng)

    @property
    def _memory(self):
        """What a fit takes; the search for four literals lists the ones of samples.

        The default model of labels has a machine for each pair of classes.
        """
        longest = check_integer(self.max_literals, "max_literals", 1)
        of_packed = 3.5 if longest < 4 else 12.5
        return MemoryCost(2**26, 85, of_packed, 20, 1_500_000)

    def _warn_without_rules(self):
        if not self.rules_:
            warn_user(
                "No rule gained enough: every sample is predicted as "
                f"{self.default_}. Lower penalty or literal_price, or use a linear "
                "model, which can add up many weak features."
            )

    def _check_params(self):
        check_integer(self.n_folds, "n_folds", 2)
        check_choice(self.certificate, "certificate", (False, True))
        if not (self.estimator is None or self._trusts_all()) and not (
            hasattr(self.estimator, "fit") and is_classifier(self.estimator)
        ):
            raise ValueError(
                "estimator must be a classifier, None or 'labels'; got "
                f"{self.estimator!r}."
            )
        return GainParams.of(self)

    def _weights(self, codes, sample_weight):
        """Multiply the weights of the samples by those of their classes."""
        weights = relative_weights(checked_weights(sample_weight, len(codes)))
        if self.class_weight is not None:
            of_class = class_weights(self.class_weight, self.classes_, codes, weights)
            weights = weights * of_class[codes]
        return check_finite_sum(weights)

    def _choose_setting(self, samples, params, rng, progress):
        """Choose the trusted samples, the order of the classes, penalty and price."""
        trusted = (False,) if self._trusts_all() else (False, True)
        # Below 1 the penalty says that a sample which is missed is worse than one which
        # a rule covers wrongly. The rules are for the rare classes then.
        cover_cost = min(1.0, max(params.penalties))
        masses = samples.masses()
        rarest_first = np.argsort(masses, kind="stable")
        orders = (rarest_first, rarest_first[::-1])[: 1 if cover_cost < 1 else 2]
        parts = []
        if masses.sum() >= MIN_WEIGHT:
            n_parts = -(-ENOUGH_HELD_OUT * self.n_folds // len(samples))
            parts = samples.folds(self.n_folds, min(self.n_folds, n_parts), rng)
        n_held_out = sum(held_out.masses().sum() for _, held_out in parts)
        literal_cost = max(LITERAL_COST, LITERAL_SHARE * n_held_out)
        if not parts:
            # In training more rules are never worse, and the model is needed.
            parts, literal_cost = [(samples, samples)], 1.0
            trusted = trusted[-1:]
        costs = dict.fromkeys(
            product(trusted, map(tuple, orders), params.penalties, params.prices), 0.0
        )
        progress.count("part", len(parts))
        prices = cover_cost, literal_cost / len(parts)
        for n_before, part in enumerate(parts):
            of_part = self._costs(costs, *part, prices, params, rng)
            is_late = params.is_late()
            if not (is_late and n_before):
                costs = {
                    setting: costs[setting] + cost for setting, cost in of_part.items()
                }
            if is_late:
                self._warn_of_time(
                    f"the choice of parameters after {n_before} of {len(parts)} "
                    "held-out parts"
                )
                break
            costs = without_far_behind(costs)
            if progress.step(partial("{} settings are left".format, len(costs))):
                break
        return min(costs, key=lambda setting: (costs[setting], -setting[-1]))

    def _costs(self, settings, seen, held_out, prices, params, rng):
        """Find rules of each setting in the samples of one part, and their cost.

        There is none of prices below one that is far behind, nor after the deadline.
        """
        kept = {False: seen}
        if any(uses_model for uses_model, *_ in settings):
            kept[True] = self._trusted(self._fit_model(seen, rng), seen)
        groups = [
            (group, [price for *_, price in members])
            for group, members in groupby(settings, itemgetter(slice(3)))
        ]

        def cost(rules, default):
            decisions = seen.decisions([literals for literals, _ in rules])
            found = DecisionList.of(rules, decisions, default)
            return found.cost(held_out.decisions(found.conjunctions()), *prices)

        def of_group(place, uses_model, order, penalty):
            gains = kept[uses_model].gain_search(order, penalty, params)
            return gains.costs(groups[place][1], cost, is_needed=place == 0)

        items = [(place, *group) for place, (group, _) in enumerate(groups)]
        found = seen.map(of_group, items, params.n_jobs)
        return {
            (*group, price): cost
            for (group, _), costs in zip(groups, found, strict=True)
            for price, cost in costs.items()
        }

    def _warn_of_time(self, what):
        warn_user(f"time_limit={self.time_limit:g} ended {what}. Raise time_limit.")

    def _trusts_all(self):
        return isinstance(self.estimator, str) and self.estimator == "labels"

    def _fit_model(self, samples, rng):
        """Fit the model that tells which labels to trust, on zeros and ones."""
        seed, n_most = rng.randint(2**31), len(samples)
        if self.estimator is not None:
            model = clone(self.estimator)
        else:
            model, n_most = BooleanSVC(monotone=False), MAX_MODEL_SAMPLES
        if model.get_params().get("random_state", 0) is None:
            model.set_params(random_state=seed)
        some = samples.draw(n_most, rng)
        weights = some.weights
        if self.estimator is None:  # larger weights would only regularise it less
            weights = weights / weights.mean()
        options = {} if (weights == 1).all() else {"sample_weight": weights}
        labels = self.classes_[some.codes]
        if (labels == labels[0]).all():
            return None
        return model.fit(some.bits(), labels, **options)

    def _trusted(self, model, samples):
        """Leave out the samples whose label a model contradicts."""
        return samples if model is None else samples.trusted(model, self.classes_)

    def _set_fitted_attributes(
        self, uses_model, order, penalty, price, samples, params, rng
    ):
        """Find the rules by the chosen setting, and count what they decide.

        Returns the samples that the rules learned from: others have the weight 0.
        """
        self.penalty_, self.literal_price_ = penalty, price
        self.estimator_, kept = None, samples
        if uses_model:
            self.estimator_ = self._fit_model(samples, rng)
            kept = self._trusted(self.estimator_, samples)
        rules = kept.gain_search(order, penalty, params).rule_list(price)
        if params.is_late():
            self._warn_of_time(f"the search for rules after {len(rules)} of them")
        decisions = samples.decisions([literals for literals, _ in rules])
        found = DecisionList.of(rules, decisions, order[-1])
        self._set_rules(found.rules, found.default, found.decisions, samples)
        return kept

    def _certify(self, samples, params):
        """Compute the cost of the rules, and a bound on that of any DNF."""
        self.cost_ = self.cost_bound_ = None
        if not self.certificate:
            return
        params = params.started(self.time_limit)
        samples = samples.take(np.flatnonzero(samples.weights))
        X, codes, weights = samples.words, samples.codes, samples.weights
        search = params.conjunction_search(X, self.n_features_in_)
        rules = [rule.literals for rule in self.rules_]
        # Without rules the other class has none, and covers nothing.
        label = self.rules_[0].label if rules else self.default_
        is_label = self.classes_[codes] == label
        is_positive = is_label if rules else ~is_label
        for n_left, positive, start in ((2, is_positive, rules), (1, ~is_positive, [])):
            problem = DNFProblem(
                X, self.n_features_in_, positive, weights, self.literal_price_
            )
            if self.cost_ is None:
                self.cost_ = self.cost_bound_ = problem.cost(start)
            part = params.part(1 / n_left)
            bound = relax(problem, search, part, start, self.cost_bound_).bound
            self.cost_bound_ = min(self.cost_bound_, bound)
        if params.is_late() and self.cost_bound_ < self.cost_:
            self._warn_of_time(
                f"the certificate: the optimum is between {self.cost_bound_:g} and "
                f"{self.cost_:g}"
            )

    def _proof(self):
        if getattr(self, "cost_", None) is None:
            return ()
        return (proof_text("", self.cost_, self.cost_bound_),)


def without_far_behind(costs):
    """Drop the settings that are far behind, which need not be tried any more."""
    limit = most_near(min(costs.values()))
    return {setting: cost for setting, cost in costs.items() if cost <= limit}
