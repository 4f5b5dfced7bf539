"""Slow twins of `sklboolean.rules`: every conjunction is written out and tested."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import expit, softmax


def every_conjunction(n_features, max_literals, *, negations=False, groups=None):
    """Yield all conjunctions by length, then by literal numbers.

    Literal j is feature j, literal n + j its negation. No two features of one group
    meet, nor a feature and its negation.
    """
    groups = list(range(n_features)) if groups is None else list(groups)
    literals = range((2 if negations else 1) * n_features)
    for length in range(1, max_literals + 1):
        for chosen in combinations(literals, length):
            used = [groups[j % n_features] for j in chosen]
            if len(set(used)) == length:
                yield tuple((j % n_features, j < n_features) for j in chosen)


def satisfies(row, literals):
    return all(bool(row[feature]) == value for feature, value in literals)


def largest_weights(
    X, coefficients, n_rules, max_literals, *, negations=False, sign="both",
    groups=None, length_weights=None, directions=None,
):  # fmt: skip
    """Return (literals, sum, score) of the best conjunctions, by definition.

    Of one cover only the first conjunction counts that has a weight, of a sign that
    its directions allow, and ties go to the shorter and then to the one whose literals
    come first.
    """
    coefficients = [Fraction(c) for c in coefficients]
    used = [i for i, c in enumerate(coefficients) if c]
    first = {}
    conjunctions = every_conjunction(
        X.shape[1], max_literals, negations=negations, groups=groups
    )
    for place, literals in enumerate(conjunctions):
        weight = 1 if length_weights is None else length_weights[len(literals)]
        cover = tuple(i for i in used if satisfies(X[i], literals))
        total = sum((coefficients[i] for i in cover), Fraction(0))
        if directions is not None:
            allowed = sign_of_weight(literals, directions)
            weight = 0 if allowed is None or allowed * total < 0 else weight
        if weight and cover not in first:
            first[cover] = place, literals, Fraction(weight)
    found = []
    for cover, (place, literals, weight) in first.items():
        total = sum((coefficients[i] for i in cover), Fraction(0))
        value = {"positive": total, "negative": -total, "both": abs(total)}[sign]
        if value > 0:
            found.append((-weight * value, place, literals, total))
    return [
        (tuple(sorted(literals)), total, -score)
        for score, _, literals, total in sorted(found)[:n_rules]
    ]


def sign_of_weight(literals, directions):
    """Return the sign that the directions of literals allow; None where they mix."""
    wanted = {(1 if value else -1) * directions[j] for j, value in literals} - {0}
    return None if len(wanted) > 1 else wanted.pop() if wanted else 0


def newton_weights(values):
    """Return a_l = sum_j (-1)^(l-j) C(l, j) g(j) from exact values of g."""
    return [
        sum(
            (-1) ** (length - j) * comb(length, j) * values[j]
            for j in range(length + 1)
        )
        for length in range(len(values))
    ]


def sum_over_conjunctions(weight, row, *, negations):
    """Add up the weights of all conjunctions that a row satisfies, empty one too."""
    n = len(row)
    total = weight(())
    for literals in every_conjunction(n, n, negations=negations):
        if satisfies(row, literals):
            total += weight(literals)
    return total


def correlated_rows(n_samples, n_features, rng):
    """Rows whose features copy one another now and then."""
    X = rng.random((n_samples, n_features)) < rng.random(n_features)
    for j in range(1, n_features):
        if rng.random() < 0.3:
            X[:, j] = X[:, rng.integers(j)] ^ (rng.random(n_samples) < 0.1)
    return np.asarray(X)


def table(n_samples=40, n_features=4, seed=0):
    """Rows of a small noisy DNF and their labels."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_samples, n_features)) < 0.5).astype(float)
    y = ((X[:, 0] == 1) & (X[:, 1] == 1)) | ((X[:, 2] == 0) & (X[:, 3] == 1))
    return X, (y ^ (rng.random(n_samples) < 0.05)).astype(int)


def penalized_objective(
    design, prices, C, weights, targets, coefficients, intercepts, loss
):
    """Compute C times the loss plus the penalty, by definition.

    Parameters
    ----------
    design : ndarray of shape (n_samples, n_conjunctions)
    targets : ndarray of shape (n_samples, n_outputs)
        0 or 1 for "logistic", one-hot for "softmax".
    coefficients : ndarray of shape (n_outputs, n_conjunctions)
    """
    scores = intercepts + design @ coefficients.T
    if loss == "squared":
        losses = ((scores - targets) ** 2).sum(axis=1) / 2
    elif loss == "logistic":
        losses = np.log1p(np.exp(-(2 * targets - 1) * scores)).sum(axis=1)
    else:
        losses = np.log(np.exp(scores).sum(axis=1)) - (scores * targets).sum(axis=1)
    return C * weights @ losses + (prices * np.abs(coefficients)).sum()


def smallest_objective(design, prices, C, weights, targets, loss, signs=None):
    """Minimize `penalized_objective` over all coefficients, by a general solver.

    Each coefficient is a difference of two that are not negative. Where ``signs`` is 1
    the second is 0, where it is -1 the first.
    """
    n_outputs, m = targets.shape[1], design.shape[1]

    def value(x):
        parts = x[n_outputs:].reshape(2, n_outputs, m)
        coefficients, intercepts = parts[0] - parts[1], x[:n_outputs]
        scores = intercepts + design @ coefficients.T
        if loss == "squared":
            means = scores
        elif loss == "logistic":
            means = expit(scores)
        else:
            means = softmax(scores, axis=1)
        slopes = C * weights[:, None] * (means - targets)
        gradient = slopes.T @ design
        objective = penalized_objective(
            design, np.zeros(m), C, weights, targets, coefficients, intercepts, loss
        ) + (prices * parts).sum()  # fmt: skip
        sides = np.stack([prices + gradient, prices - gradient])
        return objective, np.concatenate([slopes.sum(axis=0), sides.ravel()])

    x = np.zeros(n_outputs + 2 * n_outputs * m)
    bounds = [(None, None)] * n_outputs
    for forbidden in (-1, 1):
        bounds += [
            (0, 0 if sign == forbidden else None)
            for _ in range(n_outputs)
            for sign in (np.zeros(m) if signs is None else signs)
        ]
    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-10}
    options["maxcor"] = 50
    result = minimize(value, x, jac=True, bounds=bounds, options=options)
    return float(result.fun)


class LongDoubleSum:
    """`penalized_objective` and its derivatives, in long double.

    Coefficients have shape (n_outputs, 1 + n_columns), the intercept first. Of equal
    columns only the cheapest is there.
    """

    def __init__(self, design, prices, C, weights, targets, loss):
        number, order = np.longdouble, np.argsort(prices, kind="stable")
        design = np.asarray(design, dtype=float)[:, order]
        first = np.unique(design, axis=1, return_index=True)[1]
        self.columns = np.column_stack([np.ones(len(design)), design[:, first]])
        self.prices = np.r_[0.0, np.asarray(prices)[order[first]]].astype(number)
        self.weights = number(C) * np.asarray(weights, dtype=number)
        self.targets, self.loss = targets.astype(number), loss

    def objective(self, x):
        scores = self.columns @ x.T
        if self.loss == "squared":
            losses = ((scores - self.targets) ** 2).sum(axis=1) / 2
        elif self.loss == "logistic":
            losses = np.logaddexp(0, (1 - 2 * self.targets) * scores)[:, 0]
        else:
            scores = scores - (scores * self.targets).sum(axis=1)[:, None]
            losses = np.logaddexp.reduce(scores, axis=1)
        return self.weights @ losses + (self.prices * np.abs(x)).sum()

    def derivatives(self, x):
        """Slopes of the loss, and the curvature of each sample between outputs."""
        scores = self.columns @ x.T
        if self.loss == "squared":
            means, bend = scores, np.ones((len(scores), 1, 1))
        elif self.loss == "logistic":
            means = 1 / (1 + np.exp(-scores))
            bend = (means / (1 + np.exp(scores)))[:, :, None]
        else:
            means = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
            bend = means[:, :, None] * (np.eye(x.shape[0]) - means[:, None, :])
        slopes = (self.weights[:, None] * (means - self.targets)).T @ self.columns
        return slopes, (self.weights[:, None, None] * bend).astype(float)

    def start(self):
        """The best intercepts, without conjunctions."""
        x = np.zeros((self.targets.shape[1], len(self.prices)), dtype=np.longdouble)
        shares = self.weights @ self.targets / self.weights.sum()
        odds = shares / (1 - shares) if self.loss == "logistic" else shares
        x[:, 0] = shares if self.loss == "squared" else np.log(odds)
        return x

    def used(self, x, slopes):
        """Mark what is not 0, or should not be."""
        return (x != 0) | (self.prices == 0) | (np.abs(slopes) > self.prices)

    def newton_step(self, x):
        """Move all that is used, and keep its sign."""
        slopes, bend = self.derivatives(x)
        signs, used = (
            np.where(x != 0, np.sign(x), -np.sign(slopes)),
            self.used(x, slopes),
        )
        k, j = np.nonzero(used)
        columns = self.columns[:, j]
        matrix = np.einsum("ia,iab,ib->ab", columns, bend[:, k[:, None], k], columns)
        units = 1 / np.sqrt(np.maximum(matrix.diagonal(), 1e-300))
        slope = ((slopes + signs * self.prices)[used] * units).astype(float)
        matrix = matrix * units * units[:, None]
        step = np.zeros_like(x)
        step[used] = -units * np.linalg.lstsq(matrix, slope, rcond=1e-13)[0]
        return step

    def single_step(self, x, k, j):
        """Move one coefficient to the minimum of its quadratic model."""
        slopes, bend = self.derivatives(x)
        curvature = max(bend[:, k, k] @ self.columns[:, j], 1e-300)
        goal, least = x[k, j] - slopes[k, j] / curvature, self.prices[j] / curvature
        step = np.zeros_like(x)
        step[k, j] = goal - np.clip(goal, -least, least) - x[k, j]
        return step

    def moved(self, x, value, step):
        """Take the largest part of a step that lowers the objective, if any does."""
        for halved in range(40):
            tried = x + np.longdouble(0.5) ** halved * step
            tried[(x * tried < 0) & (self.prices > 0)] = 0
            lower = self.objective(tried)
            if lower < value:
                return tried, lower
        return x, value


def lowest_objective(design, prices, C, weights, targets, loss):
    """Compute the `penalized_objective` of a model that is as good as one can find.

    Newton steps, and single coefficients where these do not help. It is the objective
    of a model, so no true bound is above it.
    """
    problem = LongDoubleSum(design, prices, C, weights, targets, loss)
    x = problem.start()
    value = problem.objective(x)
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # of steps that are too long, and not taken
        for _ in range(60):
            before = value
            x, value = problem.moved(x, value, problem.newton_step(x))
            if value > (1 - 1e-9) * before:
                for k, j in np.argwhere(problem.used(x, problem.derivatives(x)[0])):
                    x, value = problem.moved(x, value, problem.single_step(x, k, j))
            if value >= (1 - 1e-17) * before:
                break
    return value


def best_gains(X, wanted, weights, left, penalty, max_literals, *, negations):
    """Return the largest gain of a conjunction of up to 1, 2, ... literals."""
    gains = []
    for length in range(1, max_literals + 1):
        gains.append(
            max(
                sum(
                    (w if k else -penalty * w)
                    for row, k, w, is_left in zip(X, wanted, weights, left, strict=True)
                    if is_left and satisfies(row, literals)
                )
                for literals in every_conjunction(
                    X.shape[1], length, negations=negations
                )
            )
        )
    return gains


def every_dnf_cost(X, positive, weights, price, max_literals, *, negations):
    """The cost of every set of conjunctions, by definition; the empty one too.

    A sample to cover counts where no rule covers it, another once for each rule that
    covers it, and each literal its price.
    """
    conjunctions = [
        (),
        *every_conjunction(X.shape[1], max_literals, negations=negations),
    ]
    covers = np.array([[satisfies(row, one) for one in conjunctions] for row in X])
    lengths = np.array([len(one) for one in conjunctions])
    for subset in product((0, 1), repeat=len(conjunctions)):
        counts = covers @ np.array(subset)
        wrong = np.where(positive, counts == 0, counts)
        yield float(weights @ wrong) + price * float(lengths @ np.array(subset))


def least_dnf_cost(
    X, positive, weights, literal_cost, rule_cost, max_literals, *, negations,
    most=None, directions=None,
):  # fmt: skip
    """The least of all these costs, with a price of each rule that is not empty.

    With ``directions`` only rules whose literals all allow a weight of at least 0.

    After each conjunction the table holds, for every set of positive samples, the
    least cost of rules so far that cover exactly these. With ``most`` literals of all
    rules together it holds that for each number of literals.
    """
    n_sizes = 1 if most is None else most + 1
    cells = np.unique(X[positive], axis=0)
    missed = np.array(
        [weights[positive & (row == X).all(axis=1)].sum() for row in cells]
    )
    sets = np.arange(2 ** len(cells))
    costs = np.full((n_sizes, len(sets)), np.inf)
    costs[0, 0] = 0.0
    for one in [(), *every_conjunction(X.shape[1], max_literals, negations=negations)]:
        if directions is not None and sign_of_weight(one, directions) not in (0, 1):
            continue
        cover = sum(satisfies(row, one) << i for i, row in enumerate(cells))
        wrong = sum(
            weight
            for row, weight, wanted in zip(X, weights, positive, strict=True)
            if not wanted and satisfies(row, one)
        )
        price = wrong + literal_cost * len(one) + rule_cost * (len(one) > 0)
        step = 0 if most is None else len(one)
        for size in reversed(range(n_sizes - step)):
            np.minimum.at(costs[size + step], sets | cover, costs[size] + price)
    bits = sets[:, None] >> np.arange(len(cells)) & 1
    return float((costs + (1 - bits) @ missed).min())


def relaxed_dnf_cost(X, positive, weights, price, max_literals, *, negations):
    """The same minimum over fractions of conjunctions: a program with all of them."""
    conjunctions = [
        (),
        *every_conjunction(X.shape[1], max_literals, negations=negations),
    ]
    covers = np.array([[satisfies(row, one) for one in conjunctions] for row in X])
    lengths = np.array([len(one) for one in conjunctions])
    n_positive = int(positive.sum())
    costs = weights[~positive] @ covers[~positive] + price * lengths
    return linprog(
        np.r_[costs, weights[positive]],
        A_ub=-np.hstack([covers[positive], np.eye(n_positive)]),
        b_ub=-np.ones(n_positive),
    ).fun
