"""A model as the sum of its heaviest conjunctions, where no short DNF says it."""

from dataclasses import dataclass

import numpy as np

from sklboolean._core.conjunction_search import satisfied_rows
from sklboolean.rules._formulas import conjunction_code, html_table, plain, read_rows


@dataclass(frozen=True)
class RuleEnsemble:
    """A weighted vote of conjunctions: one label where the sum is above 0.

    Made by `extract_dnf` of a model that no short DNF describes.

    Parameters
    ----------
    rules : tuple of Rule
        Each adds its ``contribution`` where it holds.
    intercept : float
        What the sum starts from.
    label : class label
        Where the sum is above 0.
    default : class label
        Elsewhere.
    fidelity : float
        As for `DNF`.
    n_features : int
        Number of features.
    feature_names : list of str or None, default=None
        Their names. None: x0, x1, ...
    binarize : float or None, default=None
        A value above it is true. None demands zeros and ones.

    Attributes
    ----------
    is_dnf : bool
        False.

    Examples
    --------
    >>> from sklboolean.rules import Rule, RuleEnsemble
    >>> rules = Rule(((0, True),), 2.0, 2.0), Rule(((0, True), (1, True)), -4.0, -4.0)
    >>> vote = RuleEnsemble(rules, -1.0, True, False, 1.0, 2)
    >>> print(vote.to_text())
    True if this is above 0, else False:
     -1
     +2  x0
     -4  x0 and x1
    >>> vote.predict([[1, 0], [1, 1]])
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
        *_, scores = scores_of_rules(table, self.intercept, self.rules)
        return np.array([self.default, self.label])[(scores > 0).astype(np.intp)]

    def __str__(self):
        return self.to_text()

    def to_text(self, feature_names=None):
        """Return the vote as text, a rule on each line.

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
        weights = [f"{self.intercept:+.4g}"]
        weights += [f"{rule.contribution:+.4g}" for rule in self.rules]
        texts = ["", *(rule.to_text(names) for rule in self.rules)]
        width = max(map(len, weights)) + 1
        lines = [
            f"{weight:>{width}}  {text}".rstrip()
            for weight, text in zip(weights, texts, strict=True)
        ]
        head = f"{self.label} if this is above 0, else {self.default}:"
        return "\n".join([head, *lines])

    def to_python(self, feature_names=None):
        """Return the vote as a Python expression of a row ``x``.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            Names to look values up by, for rows that are dicts: ``x['a']``. None: by
            number, ``x[0]``.

        Returns
        -------
        code : str
            Its value is the label: see `DNF`.
        """
        terms = [repr(float(self.intercept))]
        terms += [
            f"{float(rule.contribution)!r} * bool("
            f"{conjunction_code(rule.literals, feature_names, self.binarize)})"
            for rule in self.rules
        ]
        labels = plain(self.label), plain(self.default)
        return f"{labels[0]!r} if {' + '.join(terms)} > 0 else {labels[1]!r}"

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


def scores_of_rules(table, intercept, rules):
    """Yield the sum over no rule, the first one, the first two and so on; in place."""
    scores = np.full(table.shape[0], float(intercept))
    yield scores
    for rule in rules:
        # One addition after the other, as ``to_python`` does it.
        scores[satisfied_rows(table, rule.literals)] += rule.contribution
        yield scores
