"""Formulas of fitted models as Python expressions."""

import math
from itertools import groupby

from sklboolean._core.formula import FirstRule
from sklboolean._core.formulas import (
    check_unique,
    conjunction_code,
    grouped_sum,
    python_label,
)


# An expression has no statements: lists of scores are passed to lambdas, so that each
# is computed once.
def python_code(formula, feature_names=None, output="label"):
    """Write a formula as a Python expression of a sample ``x``.

    Parameters
    ----------
    formula : FirstRule or WeightedSum
    feature_names : sequence of str or None
        Keys of ``x``. None: column numbers.
    output : {"label", "proba", "score", "all"}
    """
    check_unique(formula.terms, feature_names)
    writer = PythonRules if isinstance(formula, FirstRule) else PythonSum
    writer = writer(formula, feature_names)
    if output != "all":
        return getattr(writer, output)()
    entries = [
        f"{name!r}: {getattr(writer, name)()}" for name in ("label", "proba", "score")
    ]
    return "{" + ", ".join(entries) + "}"


class PythonRules:
    """A list of rules as Python expressions."""

    def __init__(self, formula, feature_names):
        self.formula, self.feature_names = formula, feature_names

    def _decide(self, values):
        """Write the choice of one value for each rule, the last for the default."""
        binarize, code = self.formula.columns.binarize, ""
        pairs = zip(values[:-1], self.formula.terms, strict=True)
        # Neighbouring rules of one label are joined by "or".
        for value, members in groupby(pairs, key=lambda pair: pair[0]):
            conditions = [
                f"({conjunction_code(term, self.feature_names, binarize)})"
                for _, term in members
            ]
            code += f"{value} if {' or '.join(conditions)} else "
        return code + values[-1]

    def label(self):
        """Write the label."""
        labels = [*self.formula.labels, self.formula.default]
        return self._decide([repr(python_label(label)) for label in labels])

    def proba(self):
        """Write the probabilities, a dictionary by class."""
        return self._by_class(self.formula.probabilities)

    def score(self):
        """Write the score, or a dictionary by class."""
        scores = self.formula.scores
        if scores.ndim == 2:
            return self._by_class(scores)
        return self._decide([repr(value) for value in scores.tolist()])

    def _by_class(self, table):
        keys = [python_label(label) for label in self.formula.classes]
        rows = [dict(zip(keys, row, strict=True)) for row in table.tolist()]
        return self._decide([repr(row) for row in rows])


class PythonSum:
    """A weighted sum as Python expressions."""

    def __init__(self, formula, feature_names):
        self.formula, self.feature_names = formula, feature_names
        if formula.classes is not None:
            self.labels = [python_label(label) for label in formula.classes]

    def _summand(self, term, weight):
        condition = conjunction_code(
            term, self.feature_names, self.formula.columns.binarize
        )
        if self.formula.takes_numbers and self.formula.columns.binarize is None:
            return f"{weight!r} * {condition}"
        return f"{weight!r} * bool({condition})"

    def _sum(self, output):
        formula = self.formula
        summands = [repr(float(formula.intercepts[output]))]
        summands += [self._summand(*pair) for pair in formula.used_weights(output)]
        code = grouped_sum(summands, " + ")
        if formula.divisors is None:
            return code
        return f"({code}) / {float(formula.divisors[output])!r}"

    def _scores(self):
        """Write the list of scores, one for two classes."""
        formula = self.formula
        sums = [self._sum(output) for output in range(len(formula.weights))]
        code = f"[{', '.join(sums)}]"
        if formula.games is None:
            return code
        roots = [math.sqrt(n_votes) for n_votes in formula.divisors]
        n_others, scores = len(self.labels) - 1, []
        # r is the root of the number of votes, v the margin of a game.
        shares = (
            f"[r * v / (1 + r * v * r * v) ** 0.5 / {n_others} "
            f"for r, v in zip({roots!r}, m)]"
        )
        for code_of_class in range(len(self.labels)):
            summands = [
                f"{'+' if second == code_of_class else '-'} g[{k}]"
                for k, (first, second) in enumerate(formula.games)
                if code_of_class in (first, second)
            ]
            scores.append(" ".join(summands))
        return f"(lambda m: (lambda g: [{', '.join(scores)}])({shares}))({code})"

    def label(self):
        """Write the label, or the value of a regressor."""
        if self.formula.classes is None:
            return self._sum(0)
        if len(self.labels) == 2:
            sign = ">=" if self.formula.tie else ">"
            first, second = self.labels
            return f"{second!r} if {self._sum(0)} {sign} 0 else {first!r}"
        return f"(lambda s: {self.labels!r}[s.index(max(s))])({self._scores()})"

    def score(self):
        """Write the score of the second class or the value, or a dictionary."""
        if len(self.formula.weights) == 1:
            return self._sum(0)
        return f"dict(zip({self.labels!r}, {self._scores()}))"

    def proba(self):
        """Write the probabilities, a dictionary by class."""
        slope = float(self.formula.slope)
        scores = self._scores()
        if len(self.labels) == 2:
            scores = f"(lambda s: [-s[0], s[0]])({scores})"
            # softmax of half the score on both sides is the sigmoid
            slope /= 2
        # Relative to the largest score, so that no power overflows.
        powers = f"[{math.e!r} ** ({slope!r} * (v - max(s))) for v in s]"
        values = f"(lambda s: (lambda e: [v / sum(e) for v in e])({powers}))({scores})"
        return f"dict(zip({self.labels!r}, {values}))"
