"""RuleClassifier: a list of rules, found by searching for the gain of a rule."""

from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, product
from numbers import Integral
from operator import attrgetter

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import as_words, targets_of
from sklboolean._core.deprecation import Gone, old_attribute, old_parameters, renamed
from sklboolean._core.directions import directions_of
from sklboolean._core.held_out import checked_splits
from sklboolean._core.labels import encode_classes
from sklboolean._core.memory import MemoryCost
from sklboolean._core.meta import set_seed
from sklboolean._core.parallel import in_threads
from sklboolean._core.parameters import check_integer
from sklboolean._core.progress import CallbackSupportMixin, Progress, with_callbacks
from sklboolean._core.validation import validate_boolean, warn_user
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import labelled_weights
from sklboolean.kernels import BooleanSVC
from sklboolean.rules._edits import EditedMixin, listed
from sklboolean.rules._first_rule import FirstRuleMixin
from sklboolean.rules._gain_search import (
    CHOICE_WIDTH,
    WIDTH,
    DecisionList,
    GainParams,
    GainSearch,
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
# The default model is fitted on so many samples: its time grows with their square.
MAX_MODEL_SAMPLES = 4000


@dataclass(frozen=True)
class Setting:
    """Parameters that are chosen on held-out samples.

    Attributes
    ----------
    uses_model : bool
        Whether rules learn from the samples only whose label a model predicts.
    order : tuple of int
        Class numbers. Classes take turns; the last one gets no rules.
    penalty, literal_cost : float
    """

    uses_model: bool
    order: tuple
    penalty: float
    literal_cost: float


# The settings that differ in the cost of a literal only share their searches.
GAINS_OF_SETTING = attrgetter("uses_model", "order", "penalty")


@old_parameters(
    literal_price="literal_cost",
    n_folds="cv",
    width=Gone(512, "Lower max_literals for a faster fit."),
    time_limit=Gone(None, "Lower max_literals or max_rules for a faster fit."),
    certificate=Gone(
        False, "Fit an OptimalRuleSet: its bound_ holds for the cost of any rules."
    ),
)
class RuleClassifier(
    CallbackSupportMixin, EditedMixin, FirstRuleMixin, VersionedEstimator
):
    """Classify with a short list of readable rules.

    The first rule that a sample satisfies decides; a default class decides if there is
    none. With two classes the rules form a DNF of one of them. Rules are chosen
    greedily. A rule gains 1 for each sample of its class that no rule before it covers,
    and loses ``penalty`` for each other such sample and ``literal_cost`` for each of
    its literals. Classes take turns, each on the samples that are left, in the order of
    their frequency.

    Wrong labels mislead such a search. Therefore the rules learn either from all
    samples, or from those whose label a regularised model predicts. This choice, the
    penalty, the price of a literal and the order of the classes are those with the
    fewest errors on held-out samples.

    Parameters
    ----------
    estimator : classifier, "labels" or None, default=None
        The model that decides which labels to trust: any classifier. None:
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
        above 0: 3 rejects rules of precision below 3/4. The best of several values is
        chosen. Raise it for more precise rules. Below 1, rules may be right on less
        than half of their samples: for rare events that must not be missed. If all
        values are below 1, the rarest class gets rules first, and a held-out sample
        that a rule covers wrongly counts as the largest of them, one that is missed as
        1.
    literal_cost : float or sequence of float, default=(1, 2, 4, 16, 64)
        Number of samples that a literal must gain, at least 0. The best of several
        values is chosen. Raise it for shorter lists.
    cv : int, splitter or iterable of splits, default=5
        How samples are held out to choose parameters, as in scikit-learn: the number of
        parts of the training set of which one is held out at a time, at least 2, or
        splits into those that are seen and those that are held out. With many samples
        fewer parts are held out. Nothing is held out when the sample weights add
        up to less than 100: then the model is trusted, and the parameters are those
        with the fewest errors in training, where a literal counts as one error.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes. "balanced": inversely proportional to their frequencies.
        Use it when errors on one class cost more, or one class is rare.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; features of one label never occur together in a rule.
        For one-hot columns: the attribute. None: the levels of one column of
        `BooleanEncoder`, found by their names, share a label.
    monotonic_cst : dict, array-like of shape (n_features,) or None, default=None
        1 for a column whose growth must not make the second class less likely, -1 where
        it must not make it more likely, else 0. A dict maps names of the columns before
        a `BooleanEncoder`. Rules of the second class then have conditions such as ``age
        > 40`` where age has 1, those of the first ``age <= 40``, and probabilities keep
        to the order of the rules. An array has an entry for each feature, which becomes
        true. For two classes.
    binarize : float or None, default=0.0
        Threshold for binarizing: values above it are true. None: X must hold zeros and
        ones. ``estimator`` is fitted on zeros and ones.
    random_state : int, RandomState instance or None, default=None
        Seed for the held-out samples, and for ``estimator`` if it has a
        ``random_state`` that is None.
    n_jobs : int or None, default=None
        Number of threads that compare parameters. The rules do not depend on it.
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
    literal_cost_ : float
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
        Conjunctions that split samples with the same label by their probabilities. The
        first one that a sample satisfies decides. Each extends a rule of ``rules_`` by
        up to three features; some are for the default, so there can be grades where no
        rule was found.
    probabilities_ : ndarray of shape (n_grades + 1, n_classes), dtype float64
        Probability of each class for each grade; the last line is for samples that
        satisfy no grade.
    edit_losses_ : tuple of (float, float) or None
        Mean log-loss on the samples of the last edit, before and after it: see
        ``with_rules``. None for a model that was not edited.
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
    OptimalRuleSet : The cheapest set of rules, with a proof or a bound.
    sklboolean.rules.extract_dnf : Rules that explain a fitted model of two classes.

    Examples
    --------
    >>> from sklboolean import RuleClassifier
    >>> from sklboolean.datasets import make_monks
    >>> data = make_monks(1, as_frame=True)
    >>> model = RuleClassifier(feature_groups=data.feature_groups, random_state=0)
    >>> model.fit(data.data, data.target).score(data.data, data.target)
    1.0
    """

    literal_price_ = old_attribute("literal_price_", "literal_cost_")

    def __init__(
        self, estimator=None, *, max_rules=20, max_literals=4, monotone=False,
        penalty=(1.0, 3.0), literal_cost=(1, 2, 4, 16, 64), cv=5, class_weight=None,
        feature_groups=None, monotonic_cst=None, binarize=0.0, random_state=None,
        n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.estimator = estimator
        self.max_rules = max_rules
        self.max_literals = max_literals
        self.monotone = monotone
        self.penalty = penalty
        self.literal_cost = literal_cost
        self.cv = cv
        self.class_weight = class_weight
        self.feature_groups = feature_groups
        self.monotonic_cst = monotonic_cst
        self.binarize = binarize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __setstate__(self, state):
        super().__setstate__(renamed(state, literal_price_="literal_cost_"))

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
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

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
            When no rule was found and every sample gets the default class.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            params = self._check_params()
            progress = Progress(self, "part", None, X, y)
            samples, codes, used = self._rule_samples(X, y, sample_weight)
            params = replace(
                params, feature_groups=self._groups(), directions=directions_of(self)
            )
            rng = check_random_state(self.random_state)
            # Nothing holds the folds and their searches longer than the choice.
            setting = self._choose_setting(
                samples, self._folds(samples, codes, used, rng), params, rng, progress
            )
            self._set_fitted_attributes(setting, samples, params, rng)
            progress.finish()
        if not self.rules_:
            advice = "Set class_weight='balanced' to find rules of a rare class. "
            advice = advice if self.class_weight is None else ""
            warn_user(
                "No rule gained enough: every sample is predicted as "
                f"{self.default_}. {advice}Lower penalty or literal_cost, or use a "
                "linear model, which can add up many weak features."
            )
        return self

    def _rule_samples(self, X, y, sample_weight, *, reset=True):
        """Check samples; return those with weight, all codes, and which are used."""
        samples, y = validate_boolean(self, X, y, reset=reset)
        self.classes_, codes = encode_classes(y, None if reset else self.classes_)
        y, codes = None, codes.astype(np.min_scalar_type(-len(self.classes_)))
        weights = labelled_weights(
            sample_weight, codes, self.classes_, self.class_weight
        )
        # A slice copies nothing.
        used = slice(None) if weights.all() else np.flatnonzero(weights)
        samples = RuleSamples(
            as_words(samples)[used], codes[used], weights[used], self.n_features_in_,
            len(self.classes_),
        )  # fmt: skip
        return samples, codes, used

    def with_rules(self, rules, X, y=None, sample_weight=None) -> "RuleClassifier":
        """Replace the rules, and count anew what each of them decides.

        Parameters
        ----------
        rules : str, or sequence of str or int
            The rules in their order: lines as in ``to_text``, such as
            "yes if age > 44.5 and ill", whose conditions may be new, or numbers of
            rules in ``rules_``. A last line "else no" sets the default class. One text
            holds several lines, such as the edited text of ``to_text``.
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Samples, such as those of the training.
        y : array-like of shape (n_samples,), default=None
            Their labels. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, as for ``fit``.

        Returns
        -------
        edited : RuleClassifier
            A new model with these rules, and with coverages, grades and probabilities
            of the samples. It has ``edit_losses_``, the mean log-loss of this model and
            of the new one on the samples.

        Raises
        ------
        ValueError
            For unknown conditions and labels, and invalid data. This model stays as it
            is.

        Examples
        --------
        >>> from sklboolean import RuleClassifier
        >>> from sklboolean.datasets import make_monks
        >>> X, y = make_monks(1, return_X_y=True, as_frame=True)
        >>> model = RuleClassifier(random_state=0).fit(X, y)
        >>> len(model.rules_), len(model.with_rules([0, 1], X, y).rules_)
        (4, 2)
        """
        check_is_fitted(self)
        y, sample_weight = targets_of(self, X, y, sample_weight)
        rules = rules.strip().splitlines() if isinstance(rules, str) else rules
        lines = listed(rules, "rules")
        default = np.searchsorted(self.classes_, self.default_)
        if lines and isinstance(lines[-1], str) and " if " not in lines[-1]:
            default = self._code_of(lines.pop().removeprefix("else "))
        edited = copy(self)
        samples, _, _ = edited._rule_samples(X, y, sample_weight, reset=False)
        pairs = [self._read_rule(rule) for rule in lines]
        decisions = samples.decisions([literals for literals, _ in pairs])
        edited._set_rules(pairs, default, decisions, samples)
        return self._compare(edited, X, y, sample_weight)

    def _read_rule(self, rule):
        """Read a line or a number: the literals of a rule, and its class number."""
        if not isinstance(rule, str):
            rule = self._named_term(rule, self.rules_)
            return rule.literals, self._code_of(str(rule.label))
        label, separator, condition = rule.partition(" if ")
        if not separator:
            raise ValueError(f"{rule!r} is no rule. Write 'label if condition'.")
        return self._named_term(condition, []), self._code_of(label)

    def _code_of(self, text):
        """Find the number of a class by its text."""
        labels = [str(label) for label in self.classes_]
        if text not in labels:
            raise ValueError(
                f"The model has no class {text!r}. It has {labels}. Write a rule as "
                "'label if condition', and the default class last, as 'else label'."
            )
        return labels.index(text)

    @property
    def _memory(self):
        """Memory of a fit; the search for four literals lists the ones of samples.

        The default model of labels has a machine for each pair of classes.
        """
        longest = check_integer(self.max_literals, "max_literals", 1)
        of_packed = 3.5 if longest < 4 else 12.5
        return MemoryCost(2**26, 85, of_packed, 20, 1_500_000)

    def _check_params(self):
        if isinstance(self.cv, Integral):
            check_integer(self.cv, "cv", 2)
        if not (self.estimator is None or self._trusts_all()) and not (
            hasattr(self.estimator, "fit") and is_classifier(self.estimator)
        ):
            raise ValueError(
                "estimator must be a classifier, None or 'labels'; got "
                f"{self.estimator!r}."
            )
        return GainParams.check(
            max_rules=self.max_rules, max_literals=self.max_literals,
            monotone=self.monotone, penalty=self.penalty,
            literal_cost=self.literal_cost, width=WIDTH, n_jobs=self.n_jobs,
        )  # fmt: skip

    def _folds(self, samples, codes, used, rng):
        """Split the samples into those that are seen and those held out.

        ``codes`` are those of all samples, ``used`` says which of them have weight.
        """
        if samples.masses().sum() < MIN_WEIGHT:
            return []
        if isinstance(self.cv, Integral):
            n_parts = -(-ENOUGH_HELD_OUT * self.cv // len(samples))
            return samples.folds(self.cv, min(self.cv, n_parts), rng)
        number = np.full(len(codes), -1)
        number[used] = np.arange(len(samples))
        return [
            tuple(samples.take(number[part][number[part] >= 0]) for part in split)
            for split in checked_splits(self.cv, codes, number >= 0)
        ]

    def _choose_setting(self, samples, folds, params, rng, progress):
        """Choose the `Setting` of the least cost on held-out samples."""
        trusted = (False,) if self._trusts_all() else (False, True)
        # Below 1 the penalty says that a sample which is missed is worse than one which
        # a rule covers wrongly. The rules are for the rare classes then.
        cover_cost = min(1.0, max(params.penalties))
        masses = samples.masses()
        rarest_first = np.argsort(masses, kind="stable")
        orders = (rarest_first, rarest_first[::-1])[: 1 if cover_cost < 1 else 2]
        n_held_out = sum(held_out.masses().sum() for _, held_out in folds)
        literal_cost = max(LITERAL_COST, LITERAL_SHARE * n_held_out)
        if not folds:
            # In training more rules are never worse, and the model is needed.
            folds, literal_cost = [(samples, samples)], 1.0
            trusted = trusted[-1:]
        # The settings to compare. Those that fall far behind are dropped on the way.
        choices = trusted, map(tuple, orders), params.penalties, params.literal_costs
        costs = dict.fromkeys([Setting(*values) for values in product(*choices)], 0.0)

        def cost_of(seen, held_out, rules, default):
            decisions = seen.decisions([literals for literals, _ in rules])
            listed = DecisionList.of(rules, decisions, default)
            decided = held_out.decisions(listed.conjunctions())
            return listed.cost(decided, cover_cost, literal_cost / len(folds))

        progress.count("part", len(folds))
        for seen, held_out in folds:
            cost_of_rules = partial(cost_of, seen, held_out)
            costs_of_fold = self._costs(costs, seen, cost_of_rules, params, rng)
            costs = {
                setting: costs[setting] + cost
                for setting, cost in costs_of_fold.items()
            }
            costs = without_far_behind(costs)
            least = min(costs.values())
            text = f"{len(costs)} settings are left, the best costs {least:.4g}"
            if progress.step(text.format):
                break
        return min(costs, key=lambda setting: (costs[setting], -setting.literal_cost))

    def _costs(self, settings, seen, cost_of, params, rng):
        """Find rules of each setting in the samples of one part, and their cost.

        There is none of literal costs below one that is far behind.
        """
        # Narrow searches are enough to compare settings.
        params = replace(params, width=CHOICE_WIDTH)
        samples_by_trust = {False: seen}
        if any(setting.uses_model for setting in settings):
            model = self._fit_model(seen, rng)
            samples_by_trust[True] = self._trusted(model, seen)

        def costs_of_group(uses_model, order, penalty, literal_costs):
            samples = samples_by_trust[uses_model]
            gains = GainSearch(samples, order, penalty, params)
            costs = gains.costs(literal_costs, cost_of)
            return {
                Setting(uses_model, order, penalty, literal_cost): cost
                for literal_cost, cost in costs.items()
            }

        groups = [
            (*group, [setting.literal_cost for setting in members])
            for group, members in groupby(settings, GAINS_OF_SETTING)
        ]
        costs_by_setting = {}
        for costs in in_threads(costs_of_group, groups, self.n_jobs):
            costs_by_setting |= costs
        return costs_by_setting

    def _trusts_all(self):
        return isinstance(self.estimator, str) and self.estimator == "labels"

    def _fit_model(self, samples, rng):
        """Fit the model that tells which labels to trust, on zeros and ones."""
        seed, n_most = rng.randint(2**31), len(samples)
        if self.estimator is not None:
            model = clone(self.estimator)
        else:
            model, n_most = BooleanSVC(monotone=False), MAX_MODEL_SAMPLES
        set_seed(model, seed, keeps_given=True)
        drawn = samples.draw(n_most, rng)
        weights = drawn.weights
        if self.estimator is None:  # larger weights would only regularise it less
            weights = weights / weights.mean()
        options = {} if (weights == 1).all() else {"sample_weight": weights}
        labels = self.classes_[drawn.codes]
        if (labels == labels[0]).all():
            return None
        return model.fit(drawn.bits(), labels, **options)

    def _trusted(self, model, samples):
        """Leave out the samples whose label a model contradicts."""
        return samples if model is None else samples.trusted(model, self.classes_)

    def _set_fitted_attributes(self, setting, samples, params, rng):
        """Find the rules by the chosen setting, and count what they decide."""
        self.penalty_, self.literal_cost_ = setting.penalty, setting.literal_cost
        self.edit_losses_ = None
        self.estimator_, trusted = None, samples
        if setting.uses_model:
            self.estimator_ = self._fit_model(samples, rng)
            trusted = self._trusted(self.estimator_, samples)
        gains = GainSearch(trusted, setting.order, setting.penalty, params)
        rules = gains.rule_list(setting.literal_cost)
        # Rules learn from trusted samples, and are counted on all of them.
        decisions = samples.decisions([literals for literals, _ in rules])
        listed = DecisionList.of(rules, decisions, setting.order[-1])
        self._set_rules(listed.rules, listed.default, listed.decisions, samples)


def without_far_behind(costs):
    """Drop the settings that are far behind, which need not be tried any more."""
    limit = most_near(min(costs.values()))
    return {setting: cost for setting, cost in costs.items() if cost <= limit}
