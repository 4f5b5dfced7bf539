"""Slow twins of the package's formulas, each the definition spelled out."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
from scipy import sparse

from sklboolean import KernelPerceptron
from sklboolean._core.bits import as_words, unpack_words
from sklboolean.kernels import (
    ConjunctionKernel,
    PolynomialKernel,
    RBFKernel,
    conjunction_kernel,
)
from sklboolean.kernels._dual_state import DualConfig, DualState
from sklboolean.kernels._kernels import BooleanKernel

# Counts of all conjunctions, unless parameters say otherwise.
ALL = {"max_literals": None, "monotone": False, "normalize": False}


def value_at(table, s):
    """The value of a count table at s."""
    return Fraction(table.numerator(s), 1 << table.scale)


def all_conjunctions(X, Y=None, **parameters):
    """The function with ``ALL`` as defaults."""
    return conjunction_kernel(X, Y, **(ALL | parameters))


def counting_kernel(**parameters):
    """The object with ``ALL`` as defaults."""
    return ConjunctionKernel(**(ALL | parameters))


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


def truth_table(formulas, holds, rows):
    """One row of 0/1 for each row of Boolean values, one column for each formula."""
    return [[int(holds(formula, row)) for formula in formulas] for row in rows]


def count_hitting_sets(both, only_x, only_z, neither, size):
    """Sets of so many things, some of which x has and some of which z has.

    The things are sorted by who has them; sets without a thing of both need one of
    each. With variables as things these are monotone disjunctions true in both rows,
    with conjunctions as things DNFs.
    """
    return sum(
        comb(both, i)
        * comb(only_x, j)
        * comb(only_z, k)
        * comb(neither, size - i - j - k)
        for i in range(min(both, size) + 1)
        for j in range(min(only_x, size - i) + 1)
        for k in range(min(only_z, size - i - j) + 1)
        if i or (j and k)
    )


def kernel_rows(X, Z, *, constant=0, **parameters):
    """Exact kernel values of all pairs of rows, `kernel_value` once for each count."""
    values = {}

    def value(x, z):
        same = sum(bool(a) == bool(b) for a, b in zip(x, z, strict=True))
        common = sum(bool(a) and bool(b) for a, b in zip(x, z, strict=True))
        count = common if parameters["monotone"] else same
        if count not in values:
            values[count] = kernel_value(x, z, **parameters) + constant
        return values[count]

    X, Z = ([bytes(map(bool, row)) for row in table] for table in (X, Z))
    known = {}
    for x, z in product(X, Z):
        if (x, z) not in known:
            known[x, z] = value(x, z)
    return [[known[x, z] for z in Z] for x in X]


class WeightedPerceptron(BigIntegerPerceptron):
    """A perceptron whose updates add the weight of the example."""

    def __init__(self, K, codes, n_classes, weights, **rule):
        super().__init__(K, codes, n_classes, **rule)
        self.weights = weights

    def see(self, i):
        before = [row[i] for row in self.coefficients]
        super().see(i)
        for row, old in zip(self.coefficients, before, strict=True):
            row[i] = old + (row[i] - old) * self.weights[i]
        self.history[-1] = [list(row) for row in self.coefficients]


class PerceptronRun:
    """Epochs of one perceptron, or of one for each class against the rest.

    ``weights`` has one entry for each class. The epochs end after one without an
    update.
    """

    def __init__(self, K, codes, n_classes, *, joint, epochs, weights=None, **rule):
        own_weights = [1 if weights is None else weights[code] for code in codes]
        if n_classes == 2 or joint:
            tasks = [(codes, n_classes)]
        else:
            tasks = [([int(c == k) for c in codes], 2) for k in range(n_classes)]
        self.perceptrons = [
            WeightedPerceptron(K, own_codes, n, own_weights, **rule)
            for own_codes, n in tasks
        ]
        self.mistakes_per_epoch, self.n_updates, self.n_seen = [], 0, 0
        for _ in range(epochs):
            mistakes, updates = (self._total("mistakes"), self._total("updates"))
            for i in range(len(codes)):
                for perceptron in self.perceptrons:
                    perceptron.see(i)
            self.n_seen += len(codes)
            self.mistakes_per_epoch.append(self._total("mistakes") - mistakes)
            self.n_updates = self._total("updates")
            if self.n_updates == updates:
                break

    def _total(self, name):
        return sum(getattr(perceptron, name) for perceptron in self.perceptrons)

    def coefficients(self, average):
        """The last coefficients, or those summed over all hypotheses; one row each."""
        rows = []
        for perceptron in self.perceptrons:
            rows += perceptron.mean() if average == "mean" else perceptron.coefficients
        return rows

    def scores(self, kernel_rows, average):
        """The scores of query rows, given their kernel values with the examples."""
        if average == "voted":
            return [
                [vote for p in self.perceptrons for vote in p.votes(row)]
                for row in kernel_rows
            ]
        rows = self.coefficients(average)
        return [
            [sum(c * k for c, k in zip(own, row, strict=True) if c) for own in rows]
            for row in kernel_rows
        ]


def same_state(a, b):
    """Whether two pieces of fitted state are equal, types and dtypes included."""
    if type(a) is not type(b):
        return False
    if sparse.issparse(a):
        return a.shape == b.shape and all(
            same_state(getattr(a, part), getattr(b, part))
            for part in ("data", "indices", "indptr")
        )
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same_state, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_state(a[key], b[key]) for key in a)
    if isinstance(a, DualState | DualConfig | BooleanKernel):
        own, other = ({**vars(x), "model": None} for x in (a, b))
        return same_state(own, other)
    return a == b or (a != a and b != b)


# The kernel perceptron of the papers, unless parameters say otherwise.
PLAIN = {"n_orders": 1, "margin": 0.0, "early_stopping": False}


def plain_perceptron(kernel="conjunction", **parameters):
    """The classifier with ``PLAIN`` as defaults, and conjunctions without norms."""
    if isinstance(kernel, str) and kernel == "conjunction":
        shape = {"min_literals": 1, "normalize": False}
        for name in {"max_literals", "monotone"} & parameters.keys():
            shape[name] = parameters.pop(name)
        kernel = ConjunctionKernel(**shape)
    return KernelPerceptron(kernel, **(PLAIN | parameters))


OF_KERNELS = {
    "rbf": (RBFKernel, {}),
    "poly": (PolynomialKernel, {}),
    "conjunction": (
        ConjunctionKernel,
        {"min_literals": 1, "max_literals": 3, "normalize": False},
    ),
}


def kernel_perceptron(kernel="conjunction", **parameters):
    """A KernelPerceptron, with parameters of the kernel among the others."""
    if isinstance(kernel, str) and kernel in OF_KERNELS:
        make, defaults = OF_KERNELS[kernel]
        names = make().get_params().keys() - {"binarize", "n_jobs"}
        own = {name: parameters.pop(name) for name in names & parameters.keys()}
        kernel = make(**(defaults | own))
    return plain_perceptron(kernel, **parameters)


def decision_exact(model, X):
    """The scores of a fitted KernelPerceptron as integers or fractions.

    Sums of exact kernel values over the support samples, one after the other. Votes are
    whole numbers already.
    """
    if model.average == "voted":
        votes = model.decision_function(X)
        return np.array([int(v) for v in votes.ravel()], object).reshape(votes.shape)
    state, n = model._state, model.n_features_in_
    table = model.kernel_.formula(n, n)
    samples, support = (
        unpack_words(as_words(t), n).astype(np.int64)
        for t in (model._check_X(X, reset=False), state.table)
    )
    common = samples @ support.T
    same = common + (1 - samples) @ (1 - support).T
    counts = common if table.count == "common" else same
    constant = state.config.constant
    values = {s: table.numerator(s) for s in np.unique(counts).tolist()}
    unit = 2**table.scale
    scores = np.empty((len(samples), len(state.coef)), dtype=object)
    for i, row in enumerate(counts.tolist()):
        for k, coefficients in enumerate(state.model.coef.tolist()):
            terms = zip(coefficients, row, strict=True)
            total = sum(c * (values[s] + constant * unit) for c, s in terms)
            score = Fraction(total, unit * state.resolution)
            scores[i, k] = score.numerator if score.denominator == 1 else score
    return scores[:, 0] if scores.shape[1] == 1 else scores


def soft_margin_gap(K, y, box, alpha):
    """The largest violation of the optimality conditions of the soft-margin dual.

    The Lagrangian of min 1/2 a'Qa - sum a over 0 <= a <= box, y'a = 0 asks for one
    number b with y_i (f_i + b) >= 1 where a_i = 0, <= 1 where a_i = box_i, and = 1
    between. Each condition bounds b from one side; the gap is by how much the bounds
    exclude each other.
    """
    f = K @ (alpha * y)
    lower, upper = [], []
    for i in range(len(y)):
        if alpha[i] < box[i]:  # y (f + b) >= 1
            (lower if y[i] > 0 else upper).append(y[i] - f[i])
        if alpha[i] > 0:  # y (f + b) <= 1
            (upper if y[i] > 0 else lower).append(y[i] - f[i])
    return max(lower) - min(upper)


def soft_margin_objectives(K, y, box, coef, intercept):
    """The objective of the soft-margin machine and that of its dual."""
    f = K @ coef
    hinge = sum(
        c * max(0.0, 1 - sign * (score + intercept))
        for c, sign, score in zip(box, y, f, strict=True)
    )
    norm = coef @ f
    return norm / 2 + hinge, np.abs(coef).sum() - norm / 2


def rival_scores(scores, n_classes):
    """The smallest score of each class in pairs (0, 1), (0, 2), ..., (1, 2), ...

    Scores are positive for the second class. Returns them, which pairs they belong to,
    and the sign of the class in each: three arrays of shape (n_samples, n_classes).
    """
    found = []
    for row in scores:
        against = {k: [] for k in range(n_classes)}
        number = 0
        for first in range(n_classes):
            for second in range(first + 1, n_classes):
                against[first].append((-row[number], number, -1))
                against[second].append((row[number], number, 1))
                number += 1
        found.append([min(against[k]) for k in range(n_classes)])
    smallest, pairs, signs = np.moveaxis(np.array(found), -1, 0)
    return smallest, pairs.astype(int), signs


def conjunctions_that_hold(samples, monotone):
    """List all conjunctions, and for each whether it holds in each sample."""
    terms = list(conjunctions(samples.shape[1], 1, None, monotone))
    return terms, np.array(
        [[conjunction_holds(term, z) for z in samples] for term in terms]
    )


def shares_of_features(terms, hold, coef, length_weights, hold_in_x=None):
    """Share the weight of each conjunction equally among its features.

    `hold` has the samples of `coef`. Only conjunctions of `hold_in_x` count; without it
    the squared weights of all.
    """
    shares = np.zeros(1 + max(variable for term in terms for variable, _ in term))
    for k, term in enumerate(terms):
        weight = coef[hold[k]].sum()
        weight *= length_weights[len(term)]
        weight *= coef[hold[k]].sum() if hold_in_x is None else hold_in_x[k]
        for variable, _ in term:
            shares[variable] += weight / len(term)
    return shares


# The kernel of the Gaussian processes


def column_similarity(x, z, is_threshold):
    """The share of thresholds that agree, if all states of the column agree."""
    pairs = [*zip(x, z, is_threshold, strict=True)]
    if any(a != b for a, b, is_bound in pairs if not is_bound):
        return 0.0
    agree = [a == b for a, b, is_bound in pairs if is_bound]
    return sum(agree) / len(agree) if agree else 1.0


def relevance_of_conjunction(columns, relevances):
    """The product of the relevances of some columns."""
    return float(np.prod([relevances[j] for j in columns]))


def subsets(n):
    return [c for length in range(n + 1) for c in combinations(range(n), length)]


def relevance_kernel(x, z, columns, weights):
    """Sum over all conjunctions of columns, one after the other.

    ``columns`` has the features of each column and which of them are thresholds.
    """
    similar = [
        column_similarity(x[own], z[own], is_threshold)
        for own, is_threshold in zip(
            columns.features, columns.is_threshold, strict=True
        )
    ]
    a, b = weights.relevances, weights.base
    total = product_sum = product_norm = 0.0
    for chosen in subsets(len(similar)):
        relevance = relevance_of_conjunction(chosen, a)
        both = relevance * float(np.prod([similar[j] for j in chosen]))
        if len(chosen) <= 3:
            total += weights.lengths[len(chosen)] * both
        product_sum += b ** len(chosen) * both
        product_norm += b ** len(chosen) * relevance
    return total + weights.lengths[4] * product_sum / product_norm


def relevance_shares(weights):
    """The diagonal of the kernel without the empty conjunction, by column."""
    a, b = weights.relevances, weights.base
    norm = sum(
        b ** len(chosen) * relevance_of_conjunction(chosen, a)
        for chosen in subsets(len(a))
    )
    shares = np.zeros(len(a))
    for chosen in subsets(len(a))[1:]:
        relevance = relevance_of_conjunction(chosen, a)
        weight = weights.lengths[4] * b ** len(chosen) * relevance / norm
        if len(chosen) <= 3:
            weight += weights.lengths[len(chosen)] * relevance
        for j in chosen:
            shares[j] += weight / len(chosen)
    return shares
