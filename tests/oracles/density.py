"""The combination machine by definition: every input with every hidden state."""

import itertools
import math
from itertools import product

import numpy as np
from scipy.special import expit, logsumexp
from scipy.stats import multivariate_normal

from sklboolean.density._rbm_params import RBMParams


def every_row(n, low=0.0):
    """All 2^n rows, bit i of the row number in column i; a false bit is ``low``."""
    bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
    return np.where(bits == 1, 1.0, low)


def hidden_rows(m, max_active=None):
    states = every_row(m)
    return states if max_active is None else states[states.sum(1) <= max_active]


def joint_log_weights(weights, X, H):
    """log p*(x, h), of shape (len(H), len(X)), one term after the other."""
    total = np.zeros((len(H), len(X)))
    for i, row in enumerate(weights.components):
        total += np.outer(H[:, i], X @ row + weights.hidden_bias[i])
    total += X @ weights.visible_bias
    if weights.parents is not None:
        for child, parent in enumerate(weights.parents):
            if parent >= 0:
                total += weights.couplings[child] * X[:, child] * X[:, parent]
    return total


def enumerate_machine(weights, max_active=None):
    """Return log Z, E h, E x, E h x and E x_child x_parent by 2^n times 2^m terms."""
    m, n = weights.components.shape
    X, H = every_row(n, -1.0), hidden_rows(m, max_active)
    logs = joint_log_weights(weights, X, H)
    log_z = logsumexp(logs)
    shares = np.exp(logs - log_z)
    edges = None
    if weights.parents is not None:
        pairs = np.where(weights.parents < 0, 0.0, X * X[:, weights.parents])
        edges = shares.sum(0) @ pairs
    return log_z, shares.sum(1) @ H, shares.sum(0) @ X, H.T @ shares @ X, edges


def draw_weights(seed, m, n, *, tree=False, scale=1.0):
    """A machine with random weights, and with a random forest."""
    rng = np.random.default_rng(seed)
    parents, couplings = None, None
    if tree:
        # A forest: each column hangs on one that was placed before it, or on none.
        parents, order = np.full(n, -1), rng.permutation(n)
        for place, column in enumerate(order):
            parent = rng.integers(-1, place)
            parents[column] = order[parent] if parent >= 0 else -1
        couplings = np.where(parents < 0, 0.0, scale * rng.normal(size=n))
    return RBMParams(
        scale * rng.normal(size=(m, n)),
        scale * rng.normal(size=m),
        scale * rng.normal(size=n),
        parents,
        couplings,
    )


def all_inputs(n):
    """All rows of signs; the first bit is the slowest to change."""
    return np.array(list(product([-1, 1], repeat=n)), dtype=np.int8).reshape(-1, n)


def all_joint_log_weights(weights, max_active=None):
    """Log of the unnormalised p(x, h), an axis for inputs and one for hidden states."""
    m, n = weights.components.shape
    inputs, states = all_inputs(n).astype(float), hidden_rows(m, max_active)
    return inputs, states, joint_log_weights(weights, inputs, states).T


def distribution(weights, max_active=None):
    """Probabilities of all inputs in the order of ``all_inputs``."""
    scores = all_joint_log_weights(weights, max_active)[2]
    joint = np.exp(scores - scores.max())
    return joint.sum(axis=1) / joint.sum()


def agreeing(signs):
    """Which of all inputs agree with the known bits of a row."""
    inputs = all_inputs(len(signs))
    return ((signs == 0) | (inputs == signs)).all(axis=1)


def conditional(probabilities, signs):
    """The distribution of all inputs given the known bits of a row."""
    kept = np.where(agreeing(signs), probabilities, 0.0)
    return kept / kept.sum()


def all_rows(n):
    """All rows of n bits, the first bit slowest."""
    return np.array(list(itertools.product([0, 1], repeat=n)), dtype=float)


def agrees(row, known):
    """Whether a row is a completion of another, in which NaN is missing."""
    return all(math.isnan(b) or a == b for a, b in zip(row, known, strict=True))


def completions(table, known):
    """Numbers of the completions of a row, and their probabilities given the row."""
    rows = all_rows(len(known))
    numbers = [i for i, row in enumerate(rows) if agrees(row, known)]
    return numbers, table[numbers] / table[numbers].sum()


def mixture_log_probability(weights, means, row):
    """Log-probability of a row's known bits, component by component, bit by bit."""
    total = 0.0
    for weight, mean in zip(weights, means, strict=True):
        product = weight
        for p, bit in zip(mean, row, strict=True):
            if not math.isnan(bit):
                product *= p if bit else 1 - p
        total += product
    return math.log(total)


def mean_counts(weights, means, rows):
    """What EM counts, a row's share: members, true and false bits of components."""
    members, true, false = np.zeros(len(weights)), *np.zeros((2, *means.shape))
    for row in rows:
        score = mixture_log_probability(weights, means, row)
        for c in range(len(weights)):
            alone = mixture_log_probability(weights[c : c + 1], means[c : c + 1], row)
            share = math.exp(alone - score) / len(rows)
            members[c] += share
            true[c] += share * (row == 1)
            false[c] += share * (row == 0)
    return members, true, false


def stepwise_em(weights, means, counts, batches, alpha, decay):
    """Liang and Klein's stepwise EM: mean counts move by (t + 2)**-decay.

    Batches are of one size, and counts are those of one more.
    """
    for t, rows in enumerate(batches):
        rate, n_seen = (t + 2) ** -decay, (t + 2) * len(rows)
        counts = [
            (1 - rate) * old + rate * new
            for old, new in zip(counts, mean_counts(weights, means, rows), strict=True)
        ]
        members, true, false = (n_seen * count + alpha for count in counts)
        weights, means = members / members.sum(), true / (true + false)
    return weights, means


def tree_log_probability(parents, probabilities, row):
    """Log-probability of a complete row, one factor for each bit."""
    total = 0.0
    for bit, parent in enumerate(parents):
        p = probabilities[bit][int(row[parent]) if parent >= 0 else 0]
        total += math.log(p if row[bit] else 1 - p)
    return total


def smoothed_table(X, weights, alpha):
    """Probabilities of all rows: those of X and alpha rows spread over all."""
    rows = all_rows(X.shape[1])
    counts = np.full(len(rows), alpha / len(rows))
    for row, weight in zip(X, weights, strict=True):
        counts[(rows == row).all(axis=1)] += weight
    return counts / counts.sum()


def pair_table(table, i, j):
    """Joint probabilities of two bits from a table of all rows."""
    rows = all_rows(round(math.log2(len(table))))
    return np.array(
        [
            [table[(rows[:, i] == a) & (rows[:, j] == b)].sum() for b in (0, 1)]
            for a in (0, 1)
        ]
    )


def mutual_information(table, i, j):
    """Sum of p log(p / q) over the four states of two bits."""
    joint = pair_table(table, i, j)
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return sum(
        p * math.log(p / q)
        for p, q in zip(joint.flat, apart.flat, strict=True)
        if p > 0
    )


def spanning_trees(n):
    """All trees on n points, as lists of n - 1 pairs."""
    pairs = list(itertools.combinations(range(n), 2))
    for edges in itertools.combinations(pairs, n - 1):
        joined = list(range(n))
        for i, j in edges:
            joined = [joined[i] if group == joined[j] else group for group in joined]
        if len(set(joined)) == 1:
            yield edges


def directed(edges, n):
    """Parents of all points when a tree hangs at point 0."""
    parents, reached = [-1] * n, {0}
    while len(reached) < n:
        for i, j in edges:
            for parent, child in ((i, j), (j, i)):
                if parent in reached and child not in reached:
                    parents[child] = parent
                    reached.add(child)
    return parents


def tree_likelihood(table, parents):
    """Mean log-likelihood, under a table, of a tree with the table's conditionals."""
    total = 0.0
    for bit, parent in enumerate(parents):
        joint = pair_table(table, parent if parent >= 0 else bit, bit)
        if parent < 0:
            total += sum(p * math.log(p) for p in np.diag(joint) if p > 0)
            continue
        for line in joint:
            total += sum(p * math.log(p / line.sum()) for p in line if p > 0)
    return total


def chi_square(drawn, table):
    """Pearson's statistic of rows drawn from a table, and its degrees of freedom."""
    n = drawn.shape[1]
    numbers = (drawn @ 2 ** np.arange(n)[::-1]).astype(int)
    counts, expected = np.bincount(numbers, minlength=2**n), len(drawn) * table
    # Cells in which five rows are expected; the others are one cell together.
    large = expected >= 5
    counts = np.append(counts[large], counts[~large].sum())
    expected = np.append(expected[large], expected[~large].sum())
    counts, expected = counts[expected > 0], expected[expected > 0]
    return ((counts - expected) ** 2 / expected).sum(), len(counts) - 1


def centres(unit):
    """Return the means of the two Gaussians: silent and active."""
    return -unit.shift * unit.weights, (1 - unit.shift) * unit.weights


def share_active(unit):
    """Return E(h): the weight of the active Gaussian."""
    silent, active = centres(unit)
    # Integral of exp(h bias + h w.x - |x + shift w|^2 / 2), up to a common factor.
    return expit(unit.bias + (active @ active - silent @ silent) / 2)


def log_density(rows, unit):
    """Return the log-density of rows as a mixture of two Gaussians."""
    share = share_active(unit)
    parts = [
        np.log(weight) + np.atleast_1d(multivariate_normal(centre).logpdf(rows))
        for weight, centre in zip((1 - share, share), centres(unit), strict=True)
    ]
    return logsumexp(parts, axis=0)


def complete_log_likelihood(rows, row_weights, active, unit):
    """Return the log-likelihood of rows whose hidden unit is active to some degree.

    LL(theta, w | S') of section 4.3.6, with the errata: both Gaussians at full length.
    """
    share = share_active(unit)
    silent, shifted = centres(unit)
    total = 0.0
    for row, weight, degree in zip(rows, row_weights, active, strict=True):
        own = multivariate_normal(shifted).logpdf(row) + np.log(share)
        other = multivariate_normal(silent).logpdf(row) + np.log(1 - share)
        total += weight * (degree * own + (1 - degree) * other)
    return total


def joint_log_density(rows, units):
    """Return the log-density of units without shift together (equations 4.5, 4.6)."""
    m = len(units)
    weights = np.array([unit.weights for unit in units])
    biases = np.array([unit.bias for unit in units])
    states = np.arange(2**m)[:, None] >> np.arange(m) & 1
    means = states @ weights
    log_z = logsumexp(states @ biases + (means**2).sum(axis=1) / 2)
    gaussian = multivariate_normal(np.zeros(weights.shape[1])).logpdf(rows)
    return gaussian + np.logaddexp(0, rows @ weights.T + biases).sum(axis=1) - log_z


def hidden_states(m, max_active=None):
    states = np.array(list(product([0.0, 1.0], repeat=m)))
    return states if max_active is None else states[states.sum(1) <= max_active]


def log_unnormalised(weights, x, max_active=None):
    """log p*(x), one hidden state after the other (Freund, equation 4.5)."""
    energies = [
        h @ (weights.components @ x + weights.hidden_bias)
        for h in hidden_states(len(weights.hidden_bias), max_active)
    ]
    return logsumexp(energies) + weights.visible_bias @ x - x @ x / 2


def mixture(weights, max_active=None):
    """Return log Z, and states, log-shares and means of the normal components."""
    states = hidden_states(len(weights.hidden_bias), max_active)
    means = np.array([weights.visible_bias + h @ weights.components for h in states])
    # exp(mean.x - |x|^2 / 2) integrates to (2 pi)^(n/2) exp(|mean|^2 / 2).
    n = len(weights.visible_bias)
    logs = [
        h @ weights.hidden_bias + mean @ mean / 2 + n / 2 * np.log(2 * np.pi)
        for h, mean in zip(states, means, strict=True)
    ]
    log_z = logsumexp(logs)
    return log_z, states, logs - log_z, means


def gaussian_conditional(weights, x, max_active=None):
    """Condition on the known inputs of a row.

    Returns
    -------
    log_density : float
        Of the known inputs, the others integrated out.
    shares : ndarray of shape (n_states,)
        Probabilities of hidden states.
    means : ndarray of shape (n_states, n_missing)
        Of missing inputs.
    """
    _, _, log_shares, means = mixture(weights, max_active)
    known = ~np.isnan(x)
    logs = log_shares.copy()
    if known.any():
        logs += [multivariate_normal.logpdf(x[known], mean[known]) for mean in means]
    log_density = logsumexp(logs)
    return log_density, np.exp(logs - log_density), means[:, ~known]


# Attributes: groups of columns of which exactly one is true


def attributes_of(labels):
    """The columns of each attribute."""
    labels = list(labels)
    return [
        [k for k, other in enumerate(labels) if other == label]
        for label in dict.fromkeys(labels)
    ]


def attribute_rows(labels):
    """All possible samples, one true column in each group; 0 and 1."""
    columns = [group for group in attributes_of(labels) if len(group) > 1]
    rows = every_row(len(labels))
    return rows[[all(row[group].sum() == 1 for group in columns) for row in rows]]


def attribute_trees(X, labels, alpha):
    """The mean log-likelihood of every tree of attributes, fitted by counts."""
    groups = attributes_of(labels)
    values = [X[:, g].argmax(1) if len(g) > 1 else X[:, g[0]] for g in groups]
    for edges in spanning_trees(len(groups)):
        total = 0.0
        for child, parent in enumerate(directed(edges, len(groups))):
            above = values[parent] if parent >= 0 else np.zeros(len(X))
            for i in range(len(X)):
                same = above == above[i]
                share = np.mean(values[child][same] == values[child][i])
                total += math.log(share + alpha) / len(X)
        yield total
