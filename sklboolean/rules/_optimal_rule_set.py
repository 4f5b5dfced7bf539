"""OptimalRuleSet: the cheapest set of rules for each class, with a proof."""

from dataclasses import replace
from time import monotonic

import numpy as np

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import as_words, targets_of
from sklboolean._core.conjunction_search import satisfied_by
from sklboolean._core.deprecation import jobs_of_context, old_parameters
from sklboolean._core.directions import directions_of
from sklboolean._core.labels import encode_classes
from sklboolean._core.parameters import check_integer, check_real
from sklboolean._core.validation import validate_boolean, warn_user
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import labelled_weights
from sklboolean.rules._cheapest_dnf import cheapest_dnf
from sklboolean.rules._dnf_bound import DNFProblem
from sklboolean.rules._first_rule import FirstRuleMixin
from sklboolean.rules._gain_search import GainParams
from sklboolean.rules._rule_samples import RuleSamples
from sklboolean.rules._rules import bound_text


@old_parameters(
    literal_price="literal_cost", rule_price="rule_cost", n_jobs=jobs_of_context
)
class OptimalRuleSet(FirstRuleMixin, VersionedEstimator):
    """Find the cheapest set of rules, with a proof that none is cheaper.

    A set of rules describes a class: a sample belongs to it if any of the rules holds.
    It costs the weight of the samples of the class that no rule covers, plus for each
    rule the weight of the other samples that the rule covers, plus ``rule_cost`` for
    each rule and ``literal_cost`` for each literal. With two classes, the second,
    ``classes_[1]``, is described; with more, each class against the rest.

    The search ends with the set of the smallest cost, or when ``time_limit`` is over
    with the best set so far. `bound_` is a proven bound on the cost of every set, and
    `gap_` is 0 where the set is proved to be optimal. With ``max_total_literals`` all
    this is about sets of so few literals.

    Parameters
    ----------
    max_literals : int, default=4
        Maximum number of literals in a rule. The proof is about rules of up to so many
        literals. Lower it for a quicker proof.
    monotone : bool, default=False
        Whether rules consist of true features only. False: negated features too. True
        suits one-hot columns.
    literal_cost : float, default=1.0
        Weight of the samples that a literal must gain, at least 0. Raise it for shorter
        rules, and for a quicker proof.
    rule_cost : float, default=0.0
        Weight of the samples that a rule must gain besides, at least 0.
    max_total_literals : int or None, default=None
        Maximum number of literals of all rules of a set together. A price finds only
        sets that are the cheapest ones at some price; this finds the cheapest set of
        every size. Set ``literal_cost=0`` besides for the fewest errors at that size.
        None: no limit.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; features of one label never occur together in a rule.
        For one-hot columns: the attribute. None: the levels of one column of
        `BooleanEncoder`, found by their names, share a label.
    monotonic_cst : dict, array-like of shape (n_features,) or None, default=None
        1 for a column whose growth must not make the second class less likely, -1 where
        it must not make it more likely, else 0. A dict maps names of the columns before
        a `BooleanEncoder`. Rules have conditions such as ``age > 40`` where age has 1,
        or ``age <= 40`` where it has -1; the proof is about such rules. An array has an
        entry for each feature, which becomes true. For two classes.
    time_limit : float or None, default=60.0
        Seconds for all classes together, above 0. None: no limit. The rules do not
        depend on the speed of the machine if the search ends before.
    binarize : float or None, default=0.0
        Threshold for binarizing: values above it are true. None: X must hold zeros and
        ones.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    rules_ : list of Rule
        The rules of all sets, the most precise first. Each has a ``label``. The first
        one that a sample satisfies decides. Their ``coverage`` and ``precision`` count
        the training samples that the rule decides, the precision by their weights.
    default_ : class label
        Label of samples that satisfy no rule: of two classes the one that is not
        described, of more the most frequent one among such training samples.
    class_counts_ : ndarray of shape (n_rules + 1, n_classes), dtype float64
        Weight of the training samples of each class that each rule decides; the last
        entry is for the default.
    grades_ : list of Rule
        Conjunctions that split samples with the same label by their probabilities. The
        first one that a sample satisfies decides. Each extends a rule, or the default,
        by up to three features. ``cost_`` does not count them.
    probabilities_ : ndarray of shape (n_grades + 1, n_classes), dtype float64
        Probability of each class for each grade; the last line is for samples that
        satisfy no grade.
    cost_ : ndarray of shape (n_sets,), dtype float64
        Cost of the set of each class that is described: ``n_classes`` sets, or one if
        there are two classes.
    bound_ : ndarray of shape (n_sets,), dtype float64
        No set of rules of the class costs less. At most ``cost_``.
    gap_ : ndarray of shape (n_sets,), dtype float64
        ``(cost_ - bound_) / cost_``, between 0 and 1. It is 0 only where the set is
        proved to be optimal. Where weights and costs are not whole numbers, ``bound_``
        allows for the errors of the solvers, and a gap of some 1e-6 remains.
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
    RuleClassifier : Rules by a greedy search, chosen on held-out samples.

    Notes
    -----
    A sample of another class counts once for each rule that covers it. So the weight of
    the errors is at most the cost, and less where rules overlap on such samples.

    The linear program over all conjunctions is solved by column generation with an
    exact search, as in section 3 of [1]_. A set that is cheaper than the best known one
    has only rules whose reduced cost is at most the gap between the cost of that set
    and the value of the program. All of these are listed, and an integer program over
    the list, solved by HiGHS, finds the cheapest set. Where the list is too long it is
    cut at a smaller reduced cost, which then limits the bound. A limit of literals is
    one more row of both programs, and its dual value a price of each literal.

    The set that describes a class best may cover no sample at all, or all of them:
    then it has no rules.

    References
    ----------
    .. [1] Dash, Gunluk, Wei. "Boolean Decision Rules via Column Generation". NeurIPS
       2018.

    Examples
    --------
    >>> from sklboolean.datasets import make_monks
    >>> from sklboolean.rules import OptimalRuleSet
    >>> data = make_monks(1, as_frame=True)
    >>> model = OptimalRuleSet(monotone=True).fit(data.data, data.target)
    >>> model.cost_, model.gap_
    (array([7.]), array([0.]))
    >>> len(model.rules_), model.score(data.data, data.target)
    (4, 1.0)
    """

    def __init__(
        self, *, max_literals=4, monotone=False, literal_cost=1.0, rule_cost=0.0,
        max_total_literals=None, feature_groups=None, monotonic_cst=None,
        time_limit=60.0, binarize=0.0,
    ):  # fmt: skip
        self.max_literals = max_literals
        self.monotone = monotone
        self.literal_cost = literal_cost
        self.rule_cost = rule_cost
        self.max_total_literals = max_total_literals
        self.feature_groups = feature_groups
        self.monotonic_cst = monotonic_cst
        self.time_limit = time_limit
        self.binarize = binarize

    def fit(self, X, y=None, sample_weight=None) -> "OptimalRuleSet":
        """Find the cheapest set of rules of each class.

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
        self : OptimalRuleSet
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
            samples, y = validate_boolean(self, X, y)
            self.classes_, codes = encode_classes(y)
            params = replace(
                params, feature_groups=self._groups(), directions=directions_of(self)
            )
            weights = labelled_weights(sample_weight, codes, self.classes_)
            used = np.flatnonzero(weights)
            training = as_words(samples)[used], codes[used], weights[used]
            # One set for the second of two classes, else one for each class.
            described = np.arange(len(self.classes_))[len(self.classes_) == 2 :]
            proofs = []
            for n_left, k in zip(range(len(described), 0, -1), described, strict=True):
                problem, unit = self._problem(k, *training)
                proofs.append(cheapest_dnf(problem, _share(params, n_left)))
                proofs[-1] = proofs[-1].scaled(unit)
            self._set_fitted_attributes(proofs, described, *training)
        if not self.rules_:
            what, remedy = "gained enough", "Lower literal_cost and rule_cost"
            if params.is_late():
                what, remedy = f"was found in {self.time_limit} s", "Raise time_limit"
            warn_user(
                f"No rule {what}: every sample is predicted as {self.default_}. "
                f"{remedy}."
            )
        return self

    def _check_params(self):
        check_real(self.rule_cost, "rule_cost", 0)
        check_real(self.literal_cost, "literal_cost", 0)
        if self.max_total_literals is not None:
            check_integer(self.max_total_literals, "max_total_literals", 0)
        return GainParams.check(
            max_literals=self.max_literals, monotone=self.monotone,
            literal_cost=self.literal_cost, time_limit=self.time_limit,
        )  # fmt: skip

    def _problem(self, k, X, codes, weights):
        """Write the problem of a class, with its costs as multiples of a unit.

        The unit is 1 for whole weights of a usual size, so that costs stay whole.
        Solvers of linear programs have absolute tolerances; a rule that costs more than
        all samples is as good as none.
        """
        unit = float(np.ldexp(1.0, int(np.frexp(weights.mean())[1])))
        if (weights == np.rint(weights)).all() and weights.max() < 2**20:
            unit = 1.0
        weights = weights / unit
        most = float(np.ceil(2 * weights.sum()))
        prices = (
            min(price / unit if price else 0.0, most)
            for price in (self.literal_cost, self.rule_cost)
        )
        limit = self.max_total_literals
        limits = *prices, np.inf if limit is None else limit
        return DNFProblem(X, self.n_features_in_, codes == k, weights, *limits), unit

    def _set_fitted_attributes(self, proofs, described, X, codes, weights):
        """Order the rules by their precision, and count what they decide."""
        self.cost_ = np.array([proof.cost for proof in proofs])
        self.bound_ = np.array([proof.bound for proof in proofs])
        self.gap_ = (self.cost_ - self.bound_) / np.where(self.cost_, self.cost_, 1.0)
        n_classes, rules, merits = len(self.classes_), [], []
        for proof, k in zip(proofs, described, strict=True):
            for literals in filter(None, proof.conjunctions):
                cover = weights * satisfied_by(X, literals)
                merits.append((cover @ (codes == k) / cover.sum(), cover.sum()))
                rules.append((literals, int(k)))
        # The most precise rule decides; of equal ones the one that covers more.
        order = sorted(range(len(rules)), key=merits.__getitem__, reverse=True)
        rules = [rules[k] for k in order]
        samples = RuleSamples(X, codes, weights, self.n_features_in_, n_classes)
        decisions = samples.decisions([literals for literals, _ in rules])
        undecided = decisions.counts[-1]
        default = (undecided if undecided.any() else samples.masses()).argmax()
        if n_classes == 2:
            # The empty conjunction covers every sample.
            default = int(() in proofs[0].conjunctions)
        self._set_rules(rules, default, decisions, samples)

    def _proof(self):
        described, most = self.classes_[len(self.classes_) == 2 :], ""
        if self.max_total_literals is not None:
            most = f" of at most {self.max_total_literals} literals together"
        sentences = []
        for label, cost, bound in zip(described, self.cost_, self.bound_, strict=True):
            least = "" if bound >= cost else f" than {bound_text(bound)}"
            sentences.append(
                f"The rules of {label} cost {cost:.6g}. It is proved that no set of "
                f"rules{most} costs less{least}."
            )
        return tuple(sentences)


def _share(params, n_left):
    """Give a class its part of the time, of which as many more classes need one."""
    if params.deadline is None:
        return params
    return params.started((params.deadline - monotonic()) / n_left)
