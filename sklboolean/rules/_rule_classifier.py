"""RuleClassifier: a rule list read from a kernel model."""

import warnings
from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import unpack_words
from sklboolean._core.conjunction_search import encode_groups
from sklboolean._core.formulas import feature_names_of, html_table, python_value
from sklboolean._core.validation import encode_classes, validate_boolean
from sklboolean.kernels import KernelPerceptron
from sklboolean.rules._dual_representation import dual_representation
from sklboolean.rules._exports import (
    NotebookRules,
    check_columns,
    check_exported,
    first_rule_code,
    first_rule_sql,
    python_label,
    read_classes,
    read_counts,
    rules_frame,
    versioned,
)
from sklboolean.rules._extraction import CandidatePool, CoverParams, find_cover
from sklboolean.rules._rule_set import any_satisfied, first_satisfied
from sklboolean.rules._rules import numbers_of, rules_from_fields


class RuleClassifier(NotebookRules, ClassifierMixin, BaseEstimator):
    """Classify with readable rules, found with the help of a kernel model.

    Fits a kernel model, extracts rules from it that explain the labels, and predicts
    with the rules only: the first rule that a sample satisfies decides, a default class
    if there is none. With two classes the rules are a DNF of one of them: see
    `extract_dnf`. With more, classes take turns, each on the samples that are left: in
    the order of their frequency, rarest or most frequent first, whichever makes fewer
    errors.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any classifier that `top_conjunctions` can read. None: `KernelPerceptron`.
    max_rules : int, default=20
        Maximum number of rules for each class.
    max_literals : int, default=4
        Maximum number of literals in a rule. It may exceed that of the kernel.
    monotone : bool, default=False
        Whether rules consist of true features only. False: negated features too. True
        suits one-hot columns.
    penalty : float or sequence of float, default=(1.0, 3.0, 5.0)
        Number of correctly covered samples that outweigh one wrongly covered sample: 3
        rejects rules of precision below 3/4. With several values all are tried, and the
        best result is kept. Raise it for more precise rules.
    min_gain : float, default=0.01
        Minimum gain of a rule as a fraction of the samples of its class. Raise it for
        fewer rules.
    n_candidates : int, default=100
        Number of conjunctions from each search.
    width : int or None, default=512
        Number of conjunctions of each length that a search extends. None: an exact
        search, which may take long with many features.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; features of one label never occur together in a rule.
        For one-hot columns: the attribute.
    time_limit : float or None, default=None
        Seconds after which no further rule is searched for. Fitting ``estimator`` does
        not count.
    binarize : float or None, default=0.0
        Threshold for binarizing: values above it are true. None: X must hold zeros and
        ones. ``estimator`` is fitted on zeros and ones.
    random_state : int, RandomState instance or None, default=None
        Seed for ``estimator``, if it has a ``random_state`` that is None.
    n_jobs : int or None, default=None
        Number of parallel jobs of an exact search (``width=None``). The rules do not
        depend on it, except under ``time_limit``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    estimator_ : classifier
        The fitted kernel model.
    rules_ : list of Rule
        The rules in order. Each has a ``label``. Their ``coverage`` and ``precision``
        count the training samples that satisfy the rule and no rule before it.
    default_ : class label
        Label of samples that satisfy no rule.
    class_counts_ : ndarray of shape (n_rules + 1, n_classes), dtype int64
        Number of training samples of each class that each rule decides; the last entry
        is for the default.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    sklboolean.rules.extract_dnf : The same from a fitted model of two classes.

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
        penalty=(1.0, 3.0, 5.0), min_gain=0.01, n_candidates=100, width=512,
        feature_groups=None, time_limit=None, binarize=0.0, random_state=None,
        n_jobs=None,
    ):  # fmt: skip
        self.estimator = estimator
        self.max_rules = max_rules
        self.max_literals = max_literals
        self.monotone = monotone
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
        """Fit the kernel model and extract its rules.

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
            For invalid parameters and data, and for an ``estimator`` from which no
            rules can be extracted. An earlier fit is kept.

        Warns
        -----
        UserWarning
            When no rule was found and every sample gets the default class.
        """
        with restore_on_error(self):
            params = CoverParams.check(
                max_rules=self.max_rules, max_literals=self.max_literals,
                monotone=self.monotone, penalty=self.penalty, min_gain=self.min_gain,
                n_candidates=self.n_candidates, width=self.width,
                feature_groups=self.feature_groups, time_limit=self.time_limit,
                n_jobs=self.n_jobs,
            )  # fmt: skip
            samples, y = validate_boolean(self, X, y)
            self.classes_, codes = encode_classes(y)
            encode_groups(self.feature_groups, self.n_features_in_)
            self.estimator_, duals = self._fit_estimator(samples, y)
            pool = CandidatePool(samples)
            rarest_first = np.argsort(np.bincount(codes), kind="stable")
            found = [
                find_rule_list(duals, order, pool, codes, penalty, params)
                for penalty in params.penalties
                for order in (rarest_first, rarest_first[::-1])
            ]
            best = min(found, key=lambda rules: rule_list_cost(rules, samples, codes))
            self._set_fitted_attributes(best, duals, samples, codes)
        if not self.rules_:
            warnings.warn(
                "No rule gained enough: every sample is predicted as "
                f"{self.default_}. Lower penalty or min_gain, or use a linear model, "
                "which can add up many weak features.",
                stacklevel=2,
            )
        return self

    def _fit_estimator(self, samples, y):
        """Fit the kernel model, and read it as signed samples for each class."""
        seed = check_random_state(self.random_state).randint(2**31)
        estimator = KernelPerceptron() if self.estimator is None else self.estimator
        estimator = clone(estimator)
        if estimator.get_params().get("random_state", 0) is None:
            estimator.set_params(random_state=seed)
        if sparse.issparse(samples):
            bits = samples.astype(np.float64)
        else:
            bits = unpack_words(samples, self.n_features_in_)
        estimator.fit(bits, y)
        return estimator, [
            replace(
                dual_representation(estimator, bits, target=label),
                feature_names=self._names(),
            )
            for label in self.classes_
        ]

    def _set_fitted_attributes(self, rules, duals, samples, codes):
        counts = class_counts(rules, samples, codes)
        default = int(counts[-1].argmax())
        # The last rules decide nothing if they predict the default class.
        while rules and rules[-1][1] == default:
            rules = rules[:-1]
            counts = np.vstack([counts[:-2], counts[-2] + counts[-1]])
        self.rules_ = []
        for (literals, k), here in zip(rules, counts, strict=False):
            rule = duals[k].rule(literals, duals[k].weight(literals))
            self.rules_.append(
                replace(
                    rule,
                    coverage=int(here.sum()),
                    precision=float(here[k] / here.sum()),
                    label=python_value(self.classes_[k]),
                )
            )
        self.default_, self.class_counts_ = self.classes_[default], counts

    def predict(self, X):
        """Predict the label of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels of the first rules satisfied, else ``default_``.
        """
        indices = self.apply(X)
        labels = [*(rule.label for rule in self.rules_), self.default_]
        return self.classes_[np.searchsorted(self.classes_, labels)[indices]]

    def predict_proba(self, X):
        """Estimate the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype float64
            Class frequencies among the training samples that the rule decides, with
            one more sample of each class (Laplace smoothing). All samples that a rule
            decides have the same.
        """
        indices = self.apply(X)
        counts = self.class_counts_[indices] + 1.0
        return counts / counts.sum(axis=1, keepdims=True)

    def apply(self, X):
        """Find the rule that decides each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        indices : ndarray of shape (n_samples,), dtype int64
            Indices into ``rules_``; its length where the default decides.
        """
        check_is_fitted(self)
        samples = validate_boolean(self, X, reset=False)
        return first_satisfied(samples, [rule.literals for rule in self.rules_])

    def to_text(self, feature_names=None):
        """Write the rules as text, one per line.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            A name for each feature. None: the column names of X.

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

    def to_python(self, feature_names=None):
        """Write the rules as a Python expression of a sample ``x``.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            Keys of the values, for samples that are dicts: ``x['a']``. None: by column
            number, ``x[0]``.

        Returns
        -------
        code : str
            Its value is the label that ``predict`` returns.

        Raises
        ------
        ValueError
            When a feature has no name, or two have the same.

        Examples
        --------
        >>> from sklboolean import RuleClassifier
        >>> X, y = [[0, 1], [1, 1], [1, 0]] * 9, ["ham", "spam", "spam"] * 9
        >>> RuleClassifier(random_state=0).fit(X, y).to_python()
        "'spam' if (x[0] > 0.0) else 'ham'"
        """
        check_is_fitted(self)
        default = python_value(self.default_)
        return first_rule_code(self._labelled(), default, feature_names, self.binarize)

    def to_sql(self, feature_names=None):
        """Write the rules as an expression in standard SQL, a CASE WHEN.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            The name of the column of each feature. None: the column names of X, or x0,
            x1, ...

        Returns
        -------
        sql : str
            Its value is the label that ``predict`` returns; bools are written 1 and 0.
            Column names are in double quotes. No literal holds for NULL.

        Raises
        ------
        ValueError
            When a feature has no name, two have the same, or a name or label cannot be
            quoted.
        """
        check_is_fitted(self)
        names = self._names() if feature_names is None else feature_names
        return first_rule_sql(self._labelled(), self.default_, names, self.binarize)

    def to_frame(self):
        """Make a data frame with a row for each rule.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns label, rule, n_literals, weight, contribution, coverage and
            precision.

        Raises
        ------
        ImportError
            When pandas is not installed.
        """
        check_is_fitted(self)
        return rules_frame(self.rules_, self._names())

    def to_dict(self):
        """Write the rules and what ``predict`` needs as a dictionary of JSON types.

        Returns
        -------
        data : dict
            Without the estimator that the rules were read from.

        Raises
        ------
        ValueError
            For labels that are neither text nor finite numbers.
        """
        check_is_fitted(self)
        values = {
            "classes": [python_label(label) for label in self.classes_],
            "dtype": self.classes_.dtype.str,
            "rules": [rule._fields() for rule in self.rules_],
            "default": python_label(self.default_),
            "class_counts": self.class_counts_.tolist(),
            "n_features": self.n_features_in_,
            "feature_names": self._names(),
            "binarize": self.binarize,
        }
        return versioned("RuleClassifier", values)

    @classmethod
    def from_dict(cls, data):
        """Make a fitted classifier from a dictionary.

        Parameters
        ----------
        data : dict
            From ``to_dict``, also after ``json.loads(json.dumps(data))``.

        Returns
        -------
        model : RuleClassifier
            It predicts as the original. It has no ``estimator_``, and its parameters
            other than ``binarize`` are the defaults.

        Raises
        ------
        ValueError
            When the dictionary is not one of a RuleClassifier, or was written by a
            newer version.
        """
        names = (
            "classes", "dtype", "rules", "default", "class_counts", "n_features",
            "feature_names", "binarize",
        )  # fmt: skip
        classes, dtype, rules, default, counts, n_features, columns, binarize = (
            check_exported(data, "RuleClassifier", names).values()
        )
        check_columns(n_features, columns, binarize)
        rules = rules_from_fields(rules, n_features)
        model = cls(binarize=binarize)
        model.classes_ = read_classes(classes, dtype)
        labels = model.classes_.tolist()
        if any(label not in labels for label in [default, *(r.label for r in rules)]):
            raise ValueError(
                f"data: the labels of rules, and the default, must be among {labels}."
            )
        model.class_counts_ = read_counts(counts, (len(rules) + 1, len(labels)))
        model.rules_ = list(rules)
        model.default_ = model.classes_[labels.index(default)]
        model.n_features_in_ = n_features
        if columns is not None:
            model.feature_names_in_ = np.array(columns, dtype=object)
        return model

    def _names(self):
        """List the column names of X, if it had any."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(map(str, names))

    def _labelled(self):
        return [(rule.literals, rule.label) for rule in self.rules_]

    def _rules_html(self):
        names = self._names()
        rows = [
            [
                f"{rule.label} if {rule.to_text(names)}",
                *numbers_of(rule, "coverage", "precision"),
            ]
            for rule in self.rules_
        ]
        rows.append(
            [f"else {self.default_}", f"{self.class_counts_[-1].sum():.6g}", ""]
        )
        return html_table(
            "The first rule decides", ["rule", "coverage", "precision"], rows
        )


def find_rule_list(duals, order, pool, codes, penalty, params):
    """Find rules for one class after the other, each on the samples that are left.

    Parameters
    ----------
    duals : list of DualRepresentation
        The score of each class.
    order : sequence of int
        Class numbers; the last one is the default and gets no rules.
    pool : CandidatePool
        Over the training samples.
    codes : ndarray of shape (n_samples,)
        Class numbers of the samples.
    penalty : float
    params : CoverParams

    Returns
    -------
    rules : list of (literals, class number)
    """
    rules, left = [], np.ones(len(codes), dtype=bool)
    for k in order[:-1]:
        positive, negative = left & (codes == k), left & (codes != k)
        chosen = find_cover(duals[k], 1, pool, positive, negative, penalty, params)
        left &= ~any_satisfied(pool.X, chosen)
        rules += [(literals, int(k)) for literals in chosen]
    return rules


def class_counts(rules, samples, codes):
    """Count the samples of each class that each rule, or at last the default, decides.

    Returns
    -------
    counts : ndarray of shape (n_rules + 1, n_classes), int64
    """
    decided = first_satisfied(samples, [literals for literals, _ in rules])
    counts = np.zeros((len(rules) + 1, codes.max() + 1), dtype=np.int64)
    np.add.at(counts, (decided, codes), 1)
    return counts


def rule_list_cost(rules, samples, codes):
    """Count the errors of a rule list, and each literal as one more."""
    counts = class_counts(rules, samples, codes)
    n_right = counts[-1].max() + sum(
        here[k] for (_, k), here in zip(rules, counts, strict=False)
    )
    return len(codes) - n_right + sum(len(literals) for literals, _ in rules)
