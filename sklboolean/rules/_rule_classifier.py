"""A classifier that predicts with rules read out of another one."""

import warnings
from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import unpack_words
from sklboolean._core.conjunction_search import check_groups, satisfied_rows
from sklboolean._core.formulas import feature_names_of
from sklboolean._core.validation import encode_classes, validate_boolean
from sklboolean.kernels._kernel_perceptron import KernelPerceptron
from sklboolean.rules._cover import CoverPool, find_cover
from sklboolean.rules._dnf import any_holds
from sklboolean.rules._dual_representation import read_model
from sklboolean.rules._extraction import check_cover_options, labelled_rule


class RuleClassifier(ClassifierMixin, BaseEstimator):
    """Rules that a person can read, found with the help of a kernel machine.

    Fits a machine, reads the rules out of it that explain the labels, and predicts with
    the rules only: the first that holds decides, a default class where none does.
    With two classes the rules are a DNF of one of them: see `extract_dnf`. With more,
    classes take turns, each on the rows that are left: the rarest first or the
    commonest first, whichever makes fewer mistakes.

    Parameters
    ----------
    estimator : classifier or None, default=None
        What `top_conjunctions` can read. None: `KernelPerceptron`.
    max_rules : int, default=20
        Most rules for each class.
    max_literals : int, default=4
        Longest rules, also beyond what the kernel knows.
    literals : {"positive", "both"}, default="both"
        Only true features, or negated ones too.
    penalty : float or sequence of float, default=(1.0, 3.0, 5.0)
        How many right rows make up for a wrong one that a rule adds: with 3, rules of
        precision below 3/4 are not taken. Several are tried, and the best result kept.
    min_gain : float, default=0.01
        What a rule must gain, as a share of the rows of its class.
    n_candidates : int, default=100
        Conjunctions from each search.
    width : int or None, default=512
        Conjunctions of each length that a search goes on from. None: an exact search.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; no two features of one label meet in a rule. For
        one-hot columns: the attribute.
    time_limit : float or None, default=None
        Seconds after which no further rule is looked for. Not the time of fitting the
        machine.
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones. The machine gets zeros
        and ones.
    random_state : int, RandomState instance or None, default=None
        For the machine, where it has one of its own that is None.
    n_jobs : int or None, default=None
        Branches of an exact search, one with ``width=None``, that run at once. The
        rules do not depend on it, but for ``time_limit``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    estimator_ : classifier
        The fitted machine.
    rules_ : list of Rule
        In order. Each has a ``label``; ``coverage`` and ``precision`` are over the
        training rows that satisfy it and no rule before it.
    default_ : class label
        Where no rule holds.
    class_counts_ : ndarray of shape (n_rules + 1, n_classes), dtype int64
        The training rows that each rule decides, by class; in the last row those of
        the default.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    sklboolean.rules.extract_dnf : The same from a fitted machine of two classes.

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
        self, estimator=None, *, max_rules=20, max_literals=4, literals="both",
        penalty=(1.0, 3.0, 5.0), min_gain=0.01, n_candidates=100, width=512,
        feature_groups=None, time_limit=None, binarize=0.0, random_state=None,
        n_jobs=None,
    ):  # fmt: skip
        self.estimator = estimator
        self.max_rules = max_rules
        self.max_literals = max_literals
        self.literals = literals
        self.penalty = penalty
        self.min_gain = min_gain
        self.n_candidates = n_candidates
        self.width = width
        self.feature_groups = feature_groups
        self.time_limit = time_limit
        self.binarize = binarize
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y):
        """Fit the machine and read its rules.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.
        y : array-like of shape (n_samples,)
            Labels of two classes or more.

        Returns
        -------
        self : RuleClassifier
            The fitted classifier.

        Raises
        ------
        ValueError
            For bad parameters and data, and for a machine that has no rules to read.
            What was learned before is kept.

        Warns
        -----
        UserWarning
            When no rule was found and every row gets the default class.
        """
        with restore_on_error(self):
            penalties, options = check_cover_options(
                max_rules=self.max_rules, max_literals=self.max_literals,
                literals=self.literals, penalty=self.penalty, min_gain=self.min_gain,
                n_candidates=self.n_candidates, width=self.width,
                time_limit=self.time_limit, n_jobs=self.n_jobs,
            )  # fmt: skip
            table, y = validate_boolean(self, X, y)
            self.classes_, codes = encode_classes(y)
            check_groups(self.feature_groups, self.n_features_in_)
            options["feature_groups"] = self.feature_groups
            bits = _zeros_and_ones(table, self.n_features_in_)
            self.estimator_ = self._machine().fit(bits, y)
            models = [
                read_model(self.estimator_, bits, target=label)
                for label in self.classes_
            ]
            pool = CoverPool(table)
            found = [
                rule_list(models, order, pool, codes, {**options, "penalty": penalty})
                for penalty in penalties
                for order in orders(np.bincount(codes))
            ]
            chosen = min(found, key=lambda rules: cost(rules, table, codes))
            self._publish(chosen, models, table, codes)
        if not self.rules_:
            warnings.warn(
                f"No rule was worth its mistakes: every row is {self.default_}. Lower "
                "penalty or min_gain, or take a linear model where weak signs add up.",
                stacklevel=2,
            )
        return self

    def _machine(self):
        seed = check_random_state(self.random_state).randint(2**31)
        machine = KernelPerceptron() if self.estimator is None else self.estimator
        machine = clone(machine)
        if machine.get_params().get("random_state", 0) is None:
            machine.set_params(random_state=seed)
        return machine

    def _publish(self, chosen, models, table, codes):
        decided = first_that_holds(table, [literals for literals, _ in chosen])
        n_classes = len(self.classes_)
        counts = np.zeros((len(chosen) + 1, n_classes), dtype=np.int64)
        np.add.at(counts, (decided, codes), 1)
        default = int(counts[-1].argmax())
        # The last rules say what the default says: they decide nothing.
        while chosen and chosen[-1][1] == default:
            chosen = chosen[:-1]
            counts = np.vstack([counts[:-2], counts[-2] + counts[-1]])
        labels = self.classes_
        self.rules_ = [
            replace(
                labelled_rule(models[k], 1, literals, labels[k]),
                coverage=int(row.sum()),
                precision=float(row[k] / row.sum()),
            )
            for (literals, k), row in zip(chosen, counts, strict=False)
        ]
        self.default_, self.class_counts_ = labels[default], counts

    def predict(self, X):
        """Return the label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Of the first rule that holds, else ``default_``.
        """
        numbers = self.apply(X)
        return self.classes_[self.class_counts_.argmax(axis=1)[numbers]]

    def predict_proba(self, X):
        """Return the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype float64
            Shares of the classes among the training rows that the rule decides, with
            one more row of each class (Laplace): the same for all rows of a rule.
        """
        numbers = self.apply(X)
        counts = self.class_counts_[numbers] + 1.0
        return counts / counts.sum(axis=1, keepdims=True)

    def apply(self, X):
        """Return the number of the rule that decides each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        numbers : ndarray of shape (n_samples,), dtype int64
            In ``rules_``; its length where the default decides.
        """
        check_is_fitted(self)
        table = validate_boolean(self, X, reset=False)
        return first_that_holds(table, [rule.literals for rule in self.rules_])

    def to_text(self, feature_names=None):
        """Return the rules as text, one on each line.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            A name for each feature. None: those of the columns that X had.

        Returns
        -------
        text : str

        Raises
        ------
        ValueError
            When a feature has no name.
        """
        check_is_fitted(self)
        names = feature_names_of(self) if feature_names is None else feature_names
        lines = [f"{rule.label} if {rule.to_text(names)}" for rule in self.rules_]
        return "\n".join([*lines, f"{'else ' if lines else ''}{self.default_}"])


def _zeros_and_ones(table, n_features):
    if sparse.issparse(table):
        return table.astype(np.float64)
    return unpack_words(table, n_features)


def orders(sizes):
    """Return two orders in which classes may get rules; the last is the default."""
    rarest_first = np.argsort(sizes, kind="stable").tolist()
    return [rarest_first, rarest_first[::-1]]


def rule_list(models, order, pool, codes, options):
    """Find rules for one class after the other, each on the rows that are left.

    Returns
    -------
    rules : list of (literals, class number)
    """
    chosen, left = [], np.ones(len(codes), dtype=bool)
    for k in order[:-1]:
        pool.clear()
        rules = find_cover(
            models[k], 1, pool, left & (codes == k), left & (codes != k), **options
        )
        left &= ~any_holds(pool.table, rules)
        chosen += [(literals, int(k)) for literals in rules]
    return chosen


def cost(rules, table, codes):
    """Count the wrong rows of a rule list, and each literal as one more."""
    decided = first_that_holds(table, [literals for literals, _ in rules])
    counts = np.zeros((len(rules) + 1, codes.max() + 1), dtype=np.int64)
    np.add.at(counts, (decided, codes), 1)
    n_right = counts[-1].max() + sum(
        row[k] for (_, k), row in zip(rules, counts, strict=False)
    )
    return len(codes) - n_right + sum(len(literals) for literals, _ in rules)


def first_that_holds(table, conjunctions):
    """Return the number of the first conjunction that each row satisfies."""
    numbers = np.full(table.shape[0], len(conjunctions), dtype=np.int64)
    table = table.tocsc() if sparse.issparse(table) else table
    for number in reversed(range(len(conjunctions))):
        numbers[satisfied_rows(table, conjunctions[number])] = number
    return numbers
