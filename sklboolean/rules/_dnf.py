"""A DNF: an OR of rules that a person can read."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from sklboolean._core.conjunction_search import satisfied_rows
from sklboolean.rules._conjunctions import Rule
from sklboolean.rules._formulas import (
    conjunction_code,
    html_table,
    implies,
    plain,
    read_rows,
    shorten,
)


@dataclass(frozen=True)
class DNF:
    """An OR of conjunctions: one label where any of them holds, another elsewhere.

    Made by `extract_dnf`.

    Parameters
    ----------
    rules : tuple of Rule
        In the order in which they were chosen.
    label : class label
        Where a rule holds.
    default : class label
        Elsewhere.
    fidelity : float
        Share of the rows that it was made from on which it says what it explains: the
        model's labels, or the y that was given.
    n_features : int
        Number of features.
    feature_names : list of str or None, default=None
        Their names. None: x0, x1, ...
    binarize : float or None, default=None
        A value above it is true. None demands zeros and ones.

    Attributes
    ----------
    is_dnf : bool
        True; `RuleEnsemble`, the other answer of `extract_dnf`, has False.

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

    def predict(self, X):
        """Return the label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            ``label`` or ``default``.
        """
        table = read_rows(X, self.n_features, self.binarize)
        holds = any_holds(table, self._conjunctions())
        return np.array([self.default, self.label])[holds.astype(np.intp)]

    def __str__(self):
        return self.to_text()

    def to_text(self, feature_names=None):
        """Return the DNF as text, a rule on each line.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            A name for each feature. None: those of the model or of X.

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
        lines = [rule.to_text(names) for rule in self.rules]
        body = "\n    or ".join(lines)
        return f"{self.label} if\n    {body}\nelse {self.default}"

    def to_python(self, feature_names=None):
        """Return the DNF as a Python expression of a row ``x``.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            Names to look values up by, for rows that are dicts: ``x['a']``. None: by
            number, ``x[0]``.

        Returns
        -------
        code : str
            Its value is the label. Values of ``x`` are zeros and ones or bools, unless
            ``binarize`` is a number.
        """
        words = [
            f"({conjunction_code(literals, feature_names, self.binarize)})"
            for literals in self._conjunctions()
        ]
        formula = " or ".join(words) or "False"
        return f"{plain(self.label)!r} if {formula} else {plain(self.default)!r}"

    def simplify(self, X=None, y=None):
        """Return a shorter DNF: without literals and rules that are not needed.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The rows that matter. None: all that can be; the result is equivalent.
        y : array-like of shape (n_samples,), default=None
            Their labels: no more of them may be wrong. None: on no row of X may the
            answer change.

        Returns
        -------
        simpler : DNF
            Rules that became shorter have no weight, contribution, coverage or
            precision (None); with y, coverage, precision and ``fidelity`` of all are
            those on X.

        Raises
        ------
        ValueError
            For y without X, and rows that do not fit.
        """
        before = self._conjunctions()
        if X is None:
            if y is not None:
                raise ValueError("y needs the rows X that it belongs to.")
            return self._with(shorten(before, lambda after: _equal(before, after)))
        table = read_rows(X, self.n_features, self.binarize)
        wanted = any_holds(table, before)
        if y is not None:
            y = column_or_1d(y)
            check_consistent_length(X, y)
            wanted = y == self.label
        most = np.count_nonzero(any_holds(table, before) != wanted)

        def is_as_good(after):
            return np.count_nonzero(any_holds(table, after) != wanted) <= most

        simpler = self._with(shorten(before, is_as_good))
        return simpler if y is None else simpler._measured(table, wanted)

    def _with(self, conjunctions):
        rules = []
        for rule, literals in zip(self.rules, conjunctions, strict=True):
            if literals == rule.literals:
                rules.append(rule)
            elif literals is not None:
                rules.append(Rule(literals, None, None, label=rule.label))
        return replace(self, rules=tuple(rules))

    def _measured(self, table, wanted):
        rules = tuple(measure(rule, table, wanted) for rule in self.rules)
        right = any_holds(table, self._conjunctions()) == wanted
        return replace(self, rules=rules, fidelity=float(right.mean()))

    def _repr_html_(self):
        rows = [
            [
                "" if k else f"{self.label} if",
                ("or " if k else "") + rule.to_text(self.feature_names),
                *("" if value is None else f"{value:.6g}" for value in measures(rule)),
            ]
            for k, rule in enumerate(self.rules)
        ]
        rows.append([f"else {self.default}", "", "", "", ""])
        head = ["", "rule", "weight", "coverage", "precision"]
        return html_table(f"DNF, fidelity {self.fidelity:.3f}", head, rows)


def measures(rule):
    """Return what is known of a rule."""
    return rule.weight, rule.coverage, rule.precision


def measure(rule, table, wanted):
    """Return a rule with its coverage and precision on rows."""
    holds = satisfied_rows(table, rule.literals)
    coverage = int(np.count_nonzero(holds))
    precision = float(np.count_nonzero(holds & wanted)) / max(coverage, 1)
    return replace(rule, coverage=coverage, precision=precision)


def any_holds(table, conjunctions):
    """Return which rows satisfy one conjunction or more."""
    holds = np.zeros(table.shape[0], dtype=bool)
    for literals in conjunctions:
        holds |= satisfied_rows(table, literals)
    return holds


def _equal(some, others):
    return all(implies(dict(literals), others) for literals in some) and all(
        implies(dict(literals), some) for literals in others
    )
