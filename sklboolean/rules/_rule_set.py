"""Sets of rules that predict: an OR of conjunctions, and a weighted sum of them."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from sklboolean._core.conjunction_search import satisfied_by
from sklboolean._core.data_errors import check_n_features
from sklboolean._core.exports import ExportMixin, scorecard
from sklboolean._core.formula import Columns, FirstRule, WeightedSum
from sklboolean._core.formulas import html_table
from sklboolean._core.labels import plain_labels
from sklboolean._core.parameters import check_integer
from sklboolean._core.validation import check_boolean_array, warn_user
from sklboolean.rules._exports import rules_frame
from sklboolean.rules._gain_search import any_satisfied, by_columns
from sklboolean.rules._rules import Rule, names_of, numbers_of


def with_precision(rule, X, is_label):
    """Copy a rule with its coverage and precision on samples."""
    satisfied = satisfied_by(X, rule.literals)
    coverage = int(np.count_nonzero(satisfied))
    precision = float(np.count_nonzero(satisfied & is_label)) / max(coverage, 1)
    return replace(rule, coverage=coverage, precision=precision)


class _RuleSet(ExportMixin):
    """Base of a DNF and of a weighted sum of rules: two labels, columns and names."""

    def _columns(self):
        names = self.feature_names
        names = None if names is None else list(map(str, names))
        return Columns(self.n_features, names, self.binarize)

    def _check_X(self, X):
        X, n_features = check_boolean_array(X, "X", self.binarize)
        check_n_features(n_features, self.n_features, "the rules were made for")
        return by_columns(X)

    def _labels(self, is_positive):
        return np.array([self.default, self.label])[is_positive.astype(np.intp)]

    def __str__(self):
        return self.to_text()

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
        return rules_frame(self.rules, self.feature_names)


@dataclass(frozen=True)
class DNF(_RuleSet):
    """An OR of conjunctions: one label where any of them holds, another elsewhere.

    Made by `extract_dnf`.

    Parameters
    ----------
    rules : tuple of Rule
        The conjunctions, in the order in which they were chosen.
    label : class label
        Label of samples that satisfy a rule.
    default : class label
        Label of all other samples.
    fidelity : float
        Fraction of the samples given to `extract_dnf` on which the prediction equals
        the label to be explained: the model's prediction, or y.
    n_features : int
        Number of features.
    feature_names : list of str or None, default=None
        Feature names. None: x0, x1, ...
    binarize : float or None, default=None
        Threshold for binarizing: values above it are true. None: X must hold zeros and
        ones.

    Attributes
    ----------
    is_dnf : bool
        True; False for `RuleEnsemble`, the other result of `extract_dnf`.

    Examples
    --------
    >>> from sklboolean.rules import DNF, Rule
    >>> rules = Rule(((0, True), (1, False)), 2.0, 2.0), Rule(((2, True),), 1.0, 1.0)
    >>> dnf = DNF(rules, "spam", "ham", 1.0, 3, ["win", "known", "free"])
    >>> print(dnf)
    spam if
        win and not known
        or free
    else ham
    >>> dnf.predict([[1, 0, 0], [1, 1, 0]])
    array(['spam', 'ham'], dtype='<U4')
    >>> dnf.to_python()
    "'spam' if (x[0] and not x[1]) or (x[2]) else 'ham'"
    """

    rules: tuple
    label: object
    default: object
    fidelity: float
    n_features: int
    feature_names: list | None = None
    binarize: float | None = None

    is_dnf = True

    def _conjunctions(self):
        return [rule.literals for rule in self.rules]

    def predict(self, X) -> np.ndarray:
        """Predict the label of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            ``label`` or ``default``.
        """
        return self._labels(any_satisfied(self._check_X(X), self._conjunctions()))

    def to_text(self, feature_names=None) -> str:
        """Write the DNF as text, one rule per line.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            A name for each feature. None: the names of the model or of X.

        Returns
        -------
        text : str

        Raises
        ------
        ValueError
            When a feature has no name.
        """
        names = self.feature_names if feature_names is None else feature_names
        if not self.rules:
            return f"always {self.default}"
        body = "\n    or ".join(rule.to_text(names) for rule in self.rules)
        return f"{self.label} if\n    {body}\nelse {self.default}"

    def _formula(self):
        conjunctions = self._conjunctions()
        labels = [self.label] * len(conjunctions)
        classes = [self.default, self.label]
        return FirstRule(self._columns(), conjunctions, labels, self.default, classes)

    def simplify(self, X=None, y=None, *, max_steps=20_000_000) -> "DNF":
        """Drop literals and rules that are not needed.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The samples on which the prediction must not get worse. None: all possible
            samples; the result is then equivalent to this DNF.
        y : array-like of shape (n_samples,), default=None
            Labels of X: no more of them may be predicted wrongly. None: the prediction
            may not change on any sample of X.
        max_steps : int, default=20_000_000
            Limit on the work without X. Whether two DNFs are equivalent is a
            coNP-complete problem, so the time can grow exponentially with the number of
            rules. A step examines one rule; a million take about a second.
            One test, whether one literal or rule can be dropped, takes at most a
            hundredth of the steps. Raise it after the warning.

        Returns
        -------
        simpler : DNF
            Rules that became shorter have no weight, contribution, coverage or
            precision (None). With y, coverage, precision and ``fidelity`` are those on
            X.

        Raises
        ------
        ValueError
            For y without X, and for samples that do not fit.

        Warns
        -----
        UserWarning
            When ``max_steps`` was too small for some tests. The result is equivalent
            to this DNF, but may hold literals or rules that could be dropped.
        """
        before = self._conjunctions()
        max_steps = check_integer(max_steps, "max_steps", 1)
        if X is None:
            if y is not None:
                raise ValueError("y was given without X: give the samples of y too.")
            after, n_undecided = _simplify_equivalently(before, max_steps)
            if n_undecided:
                warn_user(
                    f"max_steps={max_steps} was too small for {n_undecided} tests. The "
                    "result is equivalent to the DNF, but may hold literals or rules "
                    "that could be dropped. Raise max_steps, or give X."
                )
            return self._with(after)
        X = self._check_X(X)
        is_label = any_satisfied(X, before)
        if y is not None:
            y = column_or_1d(plain_labels(y))
            check_consistent_length(is_label, y)
            is_label = y == self.label
        simpler = self._with(_simplify_on_samples(before, X, is_label))
        return simpler if y is None else simpler._measured(X, is_label)

    def _with(self, conjunctions):
        rules = []
        for rule, literals in zip(self.rules, conjunctions, strict=True):
            if literals == rule.literals:
                rules.append(rule)
            elif literals is not None:
                names = names_of(literals, self.feature_names)
                rules.append(Rule(literals, None, None, label=rule.label, names=names))
        return replace(self, rules=tuple(rules))

    def _measured(self, X, is_label):
        rules = tuple(with_precision(rule, X, is_label) for rule in self.rules)
        right = any_satisfied(X, self._conjunctions()) == is_label
        return replace(self, rules=rules, fidelity=float(right.mean()))

    def _repr_html_(self):
        rows = []
        for k, rule in enumerate(self.rules):
            rows.append(
                [
                    "" if k else f"{self.label} if",
                    ("or " if k else "") + rule.to_text(self.feature_names),
                    *numbers_of(rule, "weight", "coverage", "precision"),
                ]
            )
        rows.append([f"else {self.default}", "", "", "", ""])
        header = ["", "rule", "weight", "coverage", "precision"]
        return html_table(f"DNF, fidelity {self.fidelity:.3f}", header, rows)


@dataclass(frozen=True)
class RuleEnsemble(_RuleSet):
    """A weighted sum of conjunctions: one label where the sum is above 0.

    Made by `extract_dnf` for a model that no short DNF describes.

    Parameters
    ----------
    rules : tuple of Rule
        Each adds its ``contribution`` to the sum of the samples that satisfy it.
    intercept : float
        The sum without rules.
    label : class label
        Label of samples whose sum is above 0.
    default : class label
        Label of all other samples.
    fidelity : float
        See `DNF`.
    n_features : int
        Number of features.
    feature_names : list of str or None, default=None
        Feature names. None: x0, x1, ...
    binarize : float or None, default=None
        Threshold for binarizing: values above it are true. None: X must hold zeros and
        ones.

    Attributes
    ----------
    is_dnf : bool
        False.

    Examples
    --------
    >>> from sklboolean.rules import Rule, RuleEnsemble
    >>> rules = Rule(((0, True),), 2.0, 2.0), Rule(((0, True), (1, True)), -4.0, -4.0)
    >>> ensemble = RuleEnsemble(rules, -1.0, True, False, 1.0, 2)
    >>> print(ensemble.to_text())
    True if this is above 0, else False:
     -1
     +2  x0
     -4  x0 and x1
    >>> ensemble.predict([[1, 0], [1, 1]])
    array([ True, False])
    """

    rules: tuple
    intercept: float
    label: object
    default: object
    fidelity: float
    n_features: int
    feature_names: list | None = None
    binarize: float | None = None

    is_dnf = False

    def predict(self, X) -> np.ndarray:
        """Predict the label of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            ``label`` or ``default``.
        """
        *_, scores = partial_scores(self._check_X(X), self.intercept, self.rules)
        return self._labels(scores > 0)

    def to_text(self, feature_names=None) -> str:
        """Write the sum as text, one rule per line.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            A name for each feature. None: the names of the model or of X.

        Returns
        -------
        text : str

        Raises
        ------
        ValueError
            When a feature has no name.
        """
        names = self.feature_names if feature_names is None else feature_names
        weights = [rule.contribution for rule in self.rules]
        texts = [rule.to_text(names) for rule in self.rules]
        title = f"{self.label} if this is above 0, else {self.default}"
        return scorecard(title, self.intercept, weights, texts)

    def _formula(self):
        return WeightedSum(
            self._columns(),
            [rule.literals for rule in self.rules],
            np.array([[rule.contribution for rule in self.rules]], dtype=np.float64),
            np.array([self.intercept], dtype=np.float64),
            [self.default, self.label],
            has_probabilities=False,
        )

    def _repr_html_(self):
        rows = [
            [f"{rule.contribution:+.4g}", rule.to_text(self.feature_names)]
            for rule in self.rules
        ]
        rows.insert(0, [f"{self.intercept:+.4g}", ""])
        caption = (
            f"{self.label} if the sum is above 0, else {self.default}; "
            f"fidelity {self.fidelity:.3f}"
        )
        return html_table(caption, ["weight", "rule"], rows)


def partial_scores(X, intercept, rules):
    """Yield the sums over no rule, the first rule, the first two, ...; in place."""
    X = by_columns(X)
    scores = np.full(X.shape[0], float(intercept))
    yield scores
    for rule in rules:
        # One addition after the other, as ``to_python`` does it.
        scores[satisfied_by(X, rule.literals)] += rule.contribution
        yield scores


# Simplification: each literal and then each rule is dropped where a test allows it. On
# samples the test counts errors. For all possible samples it asks whether the shorter
# conjunction implies the DNF: a literal may go if it does, since the DNF only grows.
# A rule may go if it implies the others.
def _drop(conjunctions, can_replace):
    """Drop literals, then conjunctions, wherever a test allows it.

    Parameters
    ----------
    conjunctions : list of tuples of (feature, value) pairs
    can_replace : callable
        ``can_replace(rules, k, shorter)``: whether ``rules[k]`` can be replaced
        by a shorter conjunction, or dropped (``shorter`` is None).

    Returns
    -------
    rules : list of tuples
        None where a conjunction was dropped.
    """
    rules = list(conjunctions)
    for k, literals in enumerate(conjunctions):
        for literal in literals:
            shorter = tuple(other for other in rules[k] if other != literal)
            if can_replace(rules, k, shorter):
                rules[k] = shorter
    # The last ones were chosen for the fewest samples.
    for k in reversed(range(len(rules))):
        if can_replace(rules, k, None):
            rules[k] = None
    return rules


def _simplify_on_samples(conjunctions, X, is_label):
    """Drop what can be dropped without more errors on some samples."""
    n_satisfied = np.zeros(X.shape[0], dtype=np.int64)
    for literals in conjunctions:
        n_satisfied += satisfied_by(X, literals)
    max_errors = np.count_nonzero((n_satisfied > 0) != is_label)

    def can_replace(rules, k, shorter):
        change = -satisfied_by(X, rules[k]).astype(np.int64)
        if shorter is not None:
            change += satisfied_by(X, shorter)
        if np.count_nonzero((n_satisfied + change > 0) != is_label) > max_errors:
            return False
        np.add(n_satisfied, change, out=n_satisfied)
        return True

    return _drop(conjunctions, can_replace)


def _simplify_equivalently(conjunctions, max_steps):
    """Drop what can be dropped from an equivalent DNF.

    Returns
    -------
    rules : list of tuples
        None where a conjunction was dropped.
    n_undecided : int
        Number of tests that were given up for want of steps.
    """
    masks = [_as_masks(literals) for literals in conjunctions]
    n_left, n_undecided = max_steps, 0
    share = max(1, max_steps // 100)

    def can_replace(rules, k, shorter):
        nonlocal n_left, n_undecided
        # A shorter conjunction is weaker, and dropping one strengthens the DNF. So
        # one implication shows the equivalence.
        if shorter is None:
            premise, others = masks[k], masks[:k] + masks[k + 1 :]
        else:
            premise, others = _as_masks(shorter), masks
        others = [mask for mask in others if mask is not None]
        answer, n_steps = implies(premise, others, min(n_left, share))
        n_left -= n_steps
        n_undecided += answer is None
        if answer:
            masks[k] = None if shorter is None else premise
        return bool(answer)

    return _drop(conjunctions, can_replace), n_undecided


def _as_masks(literals):
    """Write a conjunction as two integers: bits of true and of false features."""
    masks = [0, 0]
    for feature, value in literals:
        masks[not value] |= 1 << feature
    return tuple(masks)


def implies(premise, dnf, max_steps):
    """Decide whether every sample that satisfies a conjunction satisfies a DNF.

    Depth-first search for a sample that satisfies the premise and no conjunction.
    Features whose literals all have one sign get the other value. Otherwise the search
    branches on a feature of the shortest conjunction. The answer is no as soon as the
    conjunctions left are satisfied by fewer samples, all together, than there are.

    Parameters
    ----------
    premise : pair of int
        Bits of the features that are true, and of those that are false.
    dnf : list of pairs of int
    max_steps : int
        Number of conjunctions that may be examined.

    Returns
    -------
    answer : bool or None
        None when ``max_steps`` were not enough.
    n_steps : int
    """
    if premise[0] & premise[1]:
        return True, 0
    n_steps, stack = 0, [(*premise, dnf)]
    while stack:
        true, false, conjunctions = stack.pop()
        n_steps += len(conjunctions) or 1
        if n_steps > max_steps:
            return None, max_steps
        # What is left of the DNF on the samples with these values.
        restricted = _restrict(conjunctions, true, false)
        if restricted is None:
            continue
        # Room for the rounding of the sum.
        # A conjunction of l literals holds for a share of 2**-l of the samples.
        if sum(2.0 ** -_length(masks) for masks in restricted) < 1 - 1e-9:
            return False, n_steps
        for values in _next_values(true, false, restricted):
            stack.append((*values, restricted))
    return True, n_steps


def _restrict(conjunctions, true, false):
    """Set some features true and others false in a DNF.

    Returns
    -------
    restricted : list of pairs of int or None
        The conjunctions that still depend on other features. None when one of them is
        satisfied.
    """
    restricted = []
    for positive, negative in conjunctions:
        if positive & false or negative & true:
            continue
        positive, negative = positive & ~true, negative & ~false
        if positive & negative:
            continue
        if not positive | negative:
            return None
        restricted.append((positive, negative))
    return restricted


def _next_values(true, false, restricted):
    """List the values of further features with which the search continues."""
    any_positive = any_negative = 0
    for positive, negative in restricted:
        any_positive |= positive
        any_negative |= negative
    # A feature of one sign gets the other value, which satisfies no conjunction.
    pure = any_positive ^ any_negative
    if pure:
        return [(true | pure & any_negative, false | pure & any_positive)]
    positive, negative = min(restricted, key=_length)
    bit = positive & -positive or negative & -negative
    # A conjunction of one literal is satisfied by the literal's own value.
    is_unit = _length((positive, negative)) == 1
    branches = []
    if not (is_unit and negative):
        branches.append((true, false | bit))
    if not (is_unit and positive):
        branches.append((true | bit, false))
    return branches


def _length(masks):
    return masks[0].bit_count() + masks[1].bit_count()
