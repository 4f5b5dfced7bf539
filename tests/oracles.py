"""Slow twins of the package's formulas, each the definition spelled out."""

from fractions import Fraction
from itertools import combinations, product
from math import comb


def literals_of(row):
    """All literals that hold in a row, as (feature, value)."""
    return set(enumerate(map(bool, row)))


def conjunctions(n_features, min_literals, max_literals, monotone):
    """Every conjunction without contradiction, as a tuple of literals."""
    last = n_features if max_literals is None else min(max_literals, n_features)
    for length in range(min_literals, last + 1):
        for variables in combinations(range(n_features), length):
            for values in product([True] if monotone else [False, True], repeat=length):
                yield tuple(zip(variables, values, strict=True))


def conjunction_holds(term, row):
    """Whether every literal of a conjunction holds."""
    return all(bool(row[variable]) == value for variable, value in term)


def disjunction_holds(clause, row):
    """Whether some literal of a disjunction holds."""
    return any(bool(row[variable]) == value for variable, value in clause)


def shared_conjunctions(x, z, min_literals=0, max_literals=None, monotone=False):
    """The conjunctions that hold in both rows, longest bound first by length."""
    return [
        term
        for term in conjunctions(len(x), min_literals, max_literals, monotone)
        if conjunction_holds(term, x) and conjunction_holds(term, z)
    ]


def count_disjunctions(x, z, n_literals, monotone):
    """Disjunctions of so many distinct variables that hold in both rows."""
    clauses = conjunctions(len(x), n_literals, n_literals, monotone)
    return sum(disjunction_holds(c, x) and disjunction_holds(c, z) for c in clauses)


def count_dnfs(x, z, n_terms, n_literals, monotone):
    """Sets of conjunctions, some member of which holds in x and some in z."""
    terms = list(conjunctions(len(x), n_literals, n_literals, monotone))
    return sum(
        any(conjunction_holds(t, x) for t in dnf)
        and any(conjunction_holds(t, z) for t in dnf)
        for dnf in combinations(terms, n_terms)
    )


def count_cnfs(x, z, n_clauses, n_literals, monotone):
    """Sets of disjunctions, all members of which hold in x and in z."""
    clauses = list(conjunctions(len(x), n_literals, n_literals, monotone))
    return sum(
        all(disjunction_holds(c, row) for c in cnf for row in (x, z))
        for cnf in combinations(clauses, n_clauses)
    )


def kernel_value(x, z, min_literals, max_literals, monotone, decay):
    """Sum of decay**length over the shared conjunctions, by Newton's count, exact.

    For rows too long to enumerate; `shared_conjunctions` is its own oracle.
    """
    if monotone:
        s = sum(bool(a) and bool(b) for a, b in zip(x, z, strict=True))
    else:
        s = sum(bool(a) == bool(b) for a, b in zip(x, z, strict=True))
    last = s if max_literals is None else min(s, max_literals)
    decay = Fraction(decay)
    if max_literals is None:
        everything = (1 + decay) ** s
        return everything - sum(comb(s, i) * decay**i for i in range(min_literals))
    return sum(comb(s, i) * decay**i for i in range(min_literals, last + 1))


class BigIntegerPerceptron:
    """The dual perceptron on a matrix of exact kernel values, one example at a time.

    ``history`` holds the coefficients after each example, so that mean and vote are
    formed by their definitions.
    """

    def __init__(self, K, codes, n_classes, *, margin=0, relative=False, tie=True):
        self.K, self.codes = K, codes
        self.n_scores = 1 if n_classes == 2 else n_classes
        self.margin, self.relative, self.tie = Fraction(margin), relative, tie
        n = len(codes)
        self.coefficients = [[0] * n for _ in range(self.n_scores)]
        self.history, self.mistakes, self.updates = [], 0, 0

    def scores(self, kernel_row, coefficients=None):
        rows = self.coefficients if coefficients is None else coefficients
        return [
            sum(c * k for c, k in zip(row, kernel_row, strict=True) if c)
            for row in rows
        ]

    def predicted(self, scores):
        if self.n_scores == 1:
            return int(scores[0] > 0 or (scores[0] == 0 and self.tie))
        return scores.index(max(scores))

    def see(self, i):
        scores, code = self.scores(self.K[i]), self.codes[i]
        mistake = self.predicted(scores) != code
        if self.n_scores == 1:
            lead, rival = (scores[0] if code else -scores[0]), None
        else:
            others = [k for k in range(self.n_scores) if k != code]
            rival = max(others, key=lambda k: (scores[k], -k))
            lead = scores[code] - scores[rival]
        if self.relative:
            near = lead < 0 or lead**2 < self.margin**2 * self.K[i][i]
        else:
            near = lead < self.margin
        self.mistakes += mistake
        if mistake or near:
            self.updates += 1
            if self.n_scores == 1:
                self.coefficients[0][i] += 1 if code else -1
            else:
                self.coefficients[code][i] += 1
                self.coefficients[rival][i] -= 1
        self.history.append([list(row) for row in self.coefficients])

    def mean(self):
        """The sum of the hypotheses after each example."""
        return [
            [sum(past[k][i] for past in self.history) for i in range(len(self.codes))]
            for k in range(self.n_scores)
        ]

    def votes(self, kernel_row):
        """Each hypothesis votes once for each example after which it was in force."""
        votes = [0] * self.n_scores
        for past in self.history:
            answer = self.predicted(self.scores(kernel_row, past))
            if self.n_scores == 1:
                votes[0] += 1 if answer else -1
            else:
                votes[answer] += 1
        return votes
