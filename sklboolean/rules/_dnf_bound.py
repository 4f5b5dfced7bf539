"""A lower bound on the cost of every DNF, by linear programming over conjunctions.

A DNF costs the weight of the samples of its class that it does not cover, plus for each
rule the weight of the other samples that the rule covers, and a price for each literal.
Its rules are a 0/1 solution of a linear program with one variable for each conjunction.
The program is solved by column generation (Dash, Gunluk, Wei, "Boolean Decision Rules
via Column Generation", NeurIPS 2018, section 3). Which conjunctions are missing is the
question that `search_conjunctions` answers, with the dual values as coefficients.
"""

from time import monotonic

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from sklboolean._core.conjunction_search import satisfied_by

# Conjunctions that one search may add, and those of each length that the inexact
# searches extend.
N_ADDED, WIDTH = 50, 64
# Excess over the price, in weights of samples, that counts as rounding.
TOL = 1e-6


def dnf_cost(X, positive, weights, price, conjunctions):
    """Compute the cost of a DNF.

    Parameters
    ----------
    X : ndarray of uint64 words
        Boolean samples.
    positive : ndarray of shape (n_samples,), bool
        The samples that the DNF should cover.
    weights : ndarray of shape (n_samples,), float64
    price : float
        Of a literal.
    conjunctions : list of tuples of (feature, value) pairs
    """
    n_rules = np.zeros(len(positive))
    for literals in conjunctions:
        n_rules += satisfied_by(X, literals)
    n_errors = np.where(positive, n_rules == 0, n_rules)
    return float(weights @ n_errors) + price * sum(map(len, conjunctions))


def dnf_cost_bound(X, n_features, positive, weights, price, start, params, enough):
    """Bound the cost of every DNF of conjunctions of up to so many literals.

    Parameters
    ----------
    X, positive, weights, price
        As for `dnf_cost`.
    n_features : int
    start : list of tuples of (feature, value) pairs
        Conjunctions of a DNF. Others matter only if they cost less.
    params : GainParams
        The literals that conjunctions may have, and the deadline.
    enough : float
        The bound need not be higher.

    Returns
    -------
    bound : float
    """
    program = _Program(X, positive, weights, price)
    program.add([(), *start])
    values = (True,) if params.monotone else (True, False)
    program.add([((j, value),) for j in range(n_features) for value in values])
    known_cost = dnf_cost(X, positive, weights, price, start)
    # The rules of a DNF that costs less, if each covers a positive sample of its own.
    n_rules = np.count_nonzero(positive)
    if price > 0:
        n_rules = min(n_rules, int(known_cost / price))
    is_whole = float(price).is_integer() and (weights == np.rint(weights)).all()
    best, width = 0.0, WIDTH
    search = params.conjunction_search(X, n_features)
    while best < enough:
        value, coefficients = program.solve()
        found, excess = _worth_adding(search, coefficients, price, width, params)
        if width is None:
            # Every rule of a DNF may lower its cost by the excess.
            bound = value - n_rules * excess
            if price > 0:
                # Dual values are feasible when they are divided by this.
                bound = max(bound, value / (1 + excess / price))
            if is_whole:
                bound = np.ceil(bound - TOL * (1 + value))
            best = max(best, min(bound, known_cost))
        is_late = params.deadline is not None and monotonic() >= params.deadline
        if is_late and width is None:
            break
        if is_late or not program.add(found):
            if width is None:
                break
            width = None
    return float(best)


class _Program:
    """The linear program over the conjunctions that were added.

    Equal samples of one kind are one row with their total weight.
    """

    def __init__(self, X, positive, weights, price):
        keyed = np.column_stack([X, positive.astype(np.uint64)])
        _, first, self.row_of = np.unique(
            keyed, axis=0, return_index=True, return_inverse=True
        )
        self.row_of = self.row_of.ravel()
        self.X, self.positive, self.price = X[first], positive[first], price
        self.weights = np.bincount(self.row_of, weights)
        self.covers, self.costs, self.known = [], [], set()

    def add(self, conjunctions):
        """Add conjunctions; return the number of those with a new cover."""
        before = len(self.covers)
        for literals in conjunctions:
            cover = satisfied_by(self.X, literals)
            key = np.packbits(cover).tobytes(), len(literals)
            if key in self.known:
                continue
            self.known.add(key)
            self.covers.append(cover[self.positive].astype(np.float64))
            wrong = self.weights @ (cover & ~self.positive)
            self.costs.append(wrong + self.price * len(literals))
        return len(self.covers) - before

    def solve(self):
        """Solve the dual program.

        Returns
        -------
        value : float
        coefficients : ndarray of shape (n_samples,), float64
            For the search: the dual values of positive samples, minus the weights of
            the others.
        """
        capacities = self.weights[self.positive]
        result = linprog(
            -np.ones(len(capacities)), A_ub=sparse.csr_array(np.array(self.covers)),
            b_ub=np.array(self.costs), method="highs",
            bounds=np.column_stack([np.zeros(len(capacities)), capacities]),
        )  # fmt: skip
        duals = np.clip(result.x, 0.0, capacities)
        values = -self.weights
        values[self.positive] = duals
        # Each of some equal samples gets its share.
        share = values / np.bincount(self.row_of)
        return float(duals.sum()), share[self.row_of]


def _worth_adding(search, coefficients, price, width, params):
    """Find conjunctions whose sum exceeds the price of their literals.

    Returns
    -------
    found : list of tuples of (feature, value) pairs
    excess : float
        The largest sum less the price: of all conjunctions in an exact search.
    """
    found, excess = [], 0.0
    for length in range(1, search.longest + 1):
        result = search.best(
            coefficients, n_rules=N_ADDED, sign="positive",
            length_weights=np.arange(length + 1) == length,
            floor=price * length + TOL, time_limit=params.time_left(), width=width,
        )  # fmt: skip
        found += [literals for literals, _ in result.found]
        best = result.found[0][1] if result.found else 0.0
        if width is None and not (result.is_optimal and result.found):
            best = max(best, result.bound)
        excess = max(excess, best - price * length)
    return found, excess
