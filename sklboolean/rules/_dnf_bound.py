"""A lower bound on the cost of every DNF, by linear programming over conjunctions.

A DNF costs the weight of the samples of its class that it does not cover, plus for each
rule the weight of the other samples that the rule covers, and a price for the rule and
for each of its literals. Its rules are a 0/1 solution of a linear program with one
variable for each conjunction. The program is solved by column generation (Dash, Gunluk,
Wei, "Boolean Decision Rules via Column Generation", NeurIPS 2018, section 3). Which
conjunctions are missing is the question that a search for conjunctions answers, with
the dual values as coefficients.
"""

# Variables: x[c] for each conjunction c, and y[i] for each positive cell that no chosen
# conjunction covers. A cell is all equal samples of a kind.
#     minimize  sum of cost(c) * x[c] + sum of weight[i] * y[i]
#     so that   y[i] + sum of x[c] over the c that cover i >= 1.
# The dual has a value for each positive cell, between 0 and its weight, and a row for
# each conjunction: the values that it covers add up to its cost at most. Steps of
# `relax`:
# 1. Solve the dual for the conjunctions of the program.
# 2. Search for conjunctions whose values exceed their cost, inexactly first. Add them
#    and go to 1.
# 3. When an exact search finds none, the value bounds the cost of every DNF. Before
#    that dual values are lowered until they are feasible (`_repaired`), and bound it.

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from sklboolean._core.conjunction_search import satisfied_by
from sklboolean._core.directions import signs_of_weights
from sklboolean._core.parallel import interruptible

# Conjunctions of each length that one search may add, and those that the inexact
# searches extend, one after the other.
N_ADDED, WIDTHS = 100, (64, 1024, None)
# Conjunctions that the linear program is solved with first.
N_TRIED = 1000
# Repairs of dual values until no conjunction is worth more than its cost.
MAX_REPAIRS = 4
# Excess over the price, in weights of samples, that counts as rounding.
TOL = 1e-6
SMALLEST = np.finfo(np.float64).tiny
# Differences of costs, of which the largest is used that holds for all of them.
STEPS = tuple(2.0**-k for k in range(9))


@dataclass(frozen=True)
class DNFProblem:
    """The samples that a DNF should cover, those that it should not, and the prices.

    Attributes
    ----------
    X : ndarray of uint64 words
        Boolean samples.
    n_features : int
    positive : ndarray of shape (n_samples,), bool
        The samples that the DNF should cover.
    weights : ndarray of shape (n_samples,), float64
    literal_cost : float
    rule_cost : float
    most_literals : int, or infinity
        That all rules of a DNF may have together.
    """

    X: np.ndarray
    n_features: int
    positive: np.ndarray
    weights: np.ndarray
    literal_cost: float
    rule_cost: float = 0.0
    most_literals: float = np.inf

    def price(self, length):
        """Price of a rule of so many literals; the empty one is free."""
        return self.rule_cost * (length > 0) + self.literal_cost * length

    def cost(self, conjunctions):
        """Compute the cost of a DNF, a list of tuples of (feature, value) pairs."""
        n_rules = np.zeros(len(self.positive))
        for literals in conjunctions:
            n_rules += satisfied_by(self.X, literals)
        n_errors = np.where(self.positive, n_rules == 0, n_rules)
        prices = sum(self.price(len(literals)) for literals in conjunctions)
        return float(self.weights @ n_errors) + prices

    def without_idle_rules(self, conjunctions):
        """Drop rules one by one, the last first, whose loss does not raise the cost."""
        covers = [satisfied_by(self.X, literals) for literals in conjunctions]
        n_rules, rules = np.sum(covers, axis=0, dtype=np.int64), list(conjunctions)
        for k in reversed(range(len(rules))):
            needed = self.positive & (n_rules == 1)
            worth = np.where(needed, self.weights, 0.0)
            worth = np.where(self.positive, worth, -self.weights) @ covers[k]
            if worth <= self.price(len(rules[k])):
                n_rules -= covers[k]
                del rules[k]
        return rules

    @property
    def is_limited(self):
        """Whether the number of literals is limited."""
        return self.most_literals < np.inf

    def most_rules(self, known_cost):
        """Bound the rules of a DNF that costs less than one that is known.

        Each covers a positive sample of its own, and has a literal.
        """
        n_rules = min(np.count_nonzero(self.positive), self.most_literals)
        if self.price(1) > 0:
            n_rules = min(n_rules, int(known_cost / self.price(1)))
        return n_rules

    @cached_property
    def step(self):
        """The least difference of two costs: a power of two that divides all, or 0."""
        numbers = np.append(self.weights, [self.literal_cost, self.rule_cost])
        for step in STEPS:
            if numbers.sum() < 2**40 and (numbers % step == 0).all():
                return step
        return 0.0

    def rounded(self, bound):
        """Lower a bound by what solvers err, then raise it to a cost of a DNF.

        Every DNF costs at least 0.
        """
        bound = max(0.0, bound - TOL * (1 + abs(bound)))
        return self.step * float(np.ceil(bound / self.step)) if self.step else bound


@dataclass(frozen=True)
class Duals:
    """The dual values of the linear program.

    Attributes
    ----------
    cells : ndarray of shape (n_positive_cells,), float64
        What it is worth to cover each positive cell.
    literal : float
        What a literal costs besides its price, because few are allowed.
    """

    cells: np.ndarray
    literal: float = 0.0

    def value(self, problem):
        """Sum up what they prove where no conjunction is worth more than its cost."""
        limit = problem.most_literals if self.literal else 0.0
        return float(self.cells.sum()) - self.literal * limit

    def price(self, problem, length):
        """Price of a rule of so many literals."""
        return problem.price(length) + self.literal * length


@dataclass(frozen=True)
class Relaxation:
    """The linear program over all conjunctions, solved or stopped by a deadline.

    Attributes
    ----------
    program : Program
        The conjunctions that were added.
    bound : float
        No DNF costs less.
    duals : Duals or None
        None if the program was not solved.
    value : float
        The value of the dual values, less what rounding can do to it. Every DNF costs
        at least this plus the reduced costs of its rules.
    """

    program: object
    bound: float
    duals: Duals | None = None
    value: float = 0.0

    def improved(self, duals, excess, n_rules, known_cost):
        """Take dual values where they prove more.

        A conjunction may be worth more than its cost by the excess, and so may each of
        the rules of a DNF. Dual values are feasible when they are divided by 1 plus the
        excess over the least price.
        """
        problem = self.program.problem
        value, least = duals.value(problem) - n_rules * excess, duals.price(problem, 1)
        if least > 0:
            feasible = replace(duals, cells=duals.cells / (1 + excess / least))
            if feasible.value(problem) > value:
                duals, value = feasible, feasible.value(problem)
        if self.duals is not None and value <= self.value:
            return self
        bound = max(self.bound, min(problem.rounded(value), known_cost))
        return Relaxation(self.program, bound, duals, value)


def relax(problem, search, params):
    """Bound the cost of every DNF of conjunctions of up to so many literals.

    Parameters
    ----------
    problem : DNFProblem
    search : ConjunctionSearch
        For all samples.
    params : GainParams
        The literals that conjunctions may have, and the deadline.

    Returns
    -------
    relaxation : Relaxation
    """
    program = Program(problem)
    program.add([()])
    values = (True,) if params.monotone else (True, False)
    singles = [((j, v),) for j in range(problem.n_features) for v in values]
    signs = signs_of_weights(singles, params.directions)
    singles = (single for single, sign in zip(singles, signs, strict=True) if sign >= 0)
    program.add(takewhile(lambda _: not params.is_late(), singles))
    known_cost = problem.cost([])
    n_rules = problem.most_rules(known_cost)
    has_tables = search.table(search.longest) is not None
    widths = list(WIDTHS[-1:] if has_tables else WIDTHS)
    best = Relaxation(program, 0.0)
    while True:
        duals = program.solve(params)
        if duals is None:
            return best
        value, width = duals.value(problem), widths[0]
        conjunctions, excess = _worth_adding(search, program, duals, width, params)
        n_added = program.add(conjunctions)
        if width is None:
            best = best.improved(duals, excess, n_rules, known_cost)
            if best.bound >= value or not n_added:
                return best
        elif not n_added:
            widths.pop(0)
        if has_tables:
            repaired = _repaired(search, program, duals, params)
            best = best.improved(*repaired, n_rules, known_cost)
        if params.is_late():
            return best


def _repaired(search, program, duals, params):
    """Lower dual values until hardly a conjunction is worth more than its cost.

    Those of the cells of a conjunction that is worth more are lowered until it is not.
    The conjunctions that are found on the way are added to the program.

    Returns
    -------
    duals : Duals
    excess : float
        What a conjunction may still be worth more than its cost.
    """
    duals = replace(duals, cells=duals.cells.copy())
    for _ in range(MAX_REPAIRS):
        costs = program.costs_at(duals)
        # One after the other: a cell that was lowered helps the next conjunctions.
        for k in np.flatnonzero(program.matrix() @ duals.cells > costs):
            cells, cost = program.covers[k], costs[k]
            worth = duals.cells[cells].sum()
            duals.cells[cells] *= cost / max(cost, worth, SMALLEST)
        conjunctions, excess = _worth_adding(search, program, duals, None, params)
        if not program.add(conjunctions) or params.is_late():
            break
    return duals, excess


class Program:
    """The linear program over the conjunctions that were added.

    Equal samples of one kind are one cell with their total weight. Of conjunctions that
    cover the same positive cells only the cheapest is kept; where few literals are
    allowed, the cheapest of each length.

    Attributes
    ----------
    conjunctions : list of tuples of (feature, value) pairs
    costs : list of float
        Price of each and the weight of the other samples that it covers.
    capacities : ndarray of shape (n_positive_cells,), float64
        Weights of the positive cells.
    """

    def __init__(self, problem):
        # Equal samples of one kind are one cell.
        keyed = np.column_stack([problem.X, problem.positive.astype(np.uint64)])
        _, first, self.cell_of = np.unique(
            keyed, axis=0, return_index=True, return_inverse=True
        )
        self.cell_of = self.cell_of.ravel()
        self.problem = problem
        self.X, self.positive = problem.X[first], problem.positive[first]
        self.weights = np.bincount(self.cell_of, problem.weights)
        self.capacities = self.weights[self.positive]
        self.conjunctions, self.costs, self.covers, self.number_of = [], [], [], {}
        self.duals = Duals(np.zeros(len(self.capacities)))

    def add(self, conjunctions):
        """Add conjunctions; return the number of those that are new, or cheaper."""
        n_added = 0
        for literals in conjunctions:
            cover = satisfied_by(self.X, literals)
            cost = self.weights @ (cover & ~self.positive)
            cost += self.problem.price(len(literals))
            cover = cover[self.positive]
            # Of equal covers only the cheapest matters.
            key = np.packbits(cover).tobytes(), self.problem.is_limited * len(literals)
            number = self.number_of.setdefault(key, len(self.costs))
            if number == len(self.costs):
                self.conjunctions.append(literals)
                self.costs.append(cost)
                self.covers.append(np.flatnonzero(cover).astype(np.int32))
            elif cost < self.costs[number]:
                self.conjunctions[number], self.costs[number] = literals, cost
            else:
                continue
            n_added += 1
        return n_added

    def matrix(self):
        """Build the matrix of conjunctions and the positive cells that they cover."""
        starts = np.cumsum([0, *map(len, self.covers)])
        cells = np.concatenate(self.covers)
        return sparse.csr_array(
            (np.ones(len(cells)), cells, starts),
            shape=(len(starts) - 1, len(self.capacities)),
        )

    def lengths(self):
        """Number of literals of each conjunction, float64."""
        return np.array([*map(len, self.conjunctions)], dtype=np.float64)

    def costs_at(self, duals):
        """Costs with the dual value of literals."""
        return np.array(self.costs) + duals.literal * self.lengths()

    def solve(self, params):
        """Find the optimal dual values, or None when the time is over.

        The conjunctions that were nearest to being worth their cost the last time are
        tried first, then all that are worth more than it.
        """
        matrix = self.matrix()
        reduced = self.costs_at(self.duals) - matrix @ self.duals.cells
        tried = np.zeros(len(reduced), dtype=bool)
        tried[np.argsort(reduced, kind="stable")[:N_TRIED]] = True
        while True:
            self.duals = self._solve(np.flatnonzero(tried), matrix, params)
            if self.duals is None:
                return None
            worth_more = matrix @ self.duals.cells > self.costs_at(self.duals) + TOL
            if not (worth_more & ~tried).any():
                return self.duals
            tried |= worth_more

    def _solve(self, rows, matrix, params):
        """Solve for some conjunctions; a limit of literals has the last dual value."""
        n_cells, options = len(self.capacities), {}
        gains, most, matrix = -np.ones(n_cells), self.capacities, matrix[rows]
        if self.problem.is_limited:
            gains = np.append(gains, self.problem.most_literals)
            most = np.append(most, np.inf)
            matrix = sparse.hstack([matrix, -self.lengths()[rows, None]])
        if params.deadline is not None:
            options["time_limit"] = params.time_left()
        bounds = np.column_stack([np.zeros(len(most)), most])
        how = {"bounds": bounds, "method": "highs-ds", "options": options}
        costs = np.array(self.costs)[rows]
        result = interruptible(linprog, gains, matrix, costs, **how)
        if result.x is None:
            return None
        values = np.clip(result.x, 0.0, most)
        return Duals(values[:n_cells], float(values[n_cells:].sum()))

    def coefficients(self, duals):
        """Give each sample its dual value, or minus its weight if it is not positive.

        Each of some equal samples gets its share.
        """
        values = -self.weights
        values[self.positive] = duals.cells
        share = values / np.bincount(self.cell_of)
        return share[self.cell_of]


def _worth_adding(search, program, duals, width, params):
    """Find conjunctions whose sum exceeds their price.

    Returns
    -------
    conjunctions : list of tuples of (feature, value) pairs
    excess : float
        The largest sum less the price: of all conjunctions in an exact search. Infinite
        when the time is over before all lengths were searched.
    """
    conjunctions, excess, coefficients = [], 0.0, program.coefficients(duals)
    for length in range(1, search.longest + 1):
        if params.is_late():
            return conjunctions, np.inf
        price = duals.price(program.problem, length)
        limits = {"time_limit": params.time_left(), "width": width}
        limits["length_weights"] = np.arange(length + 1) == length
        limits["floor"] = price + TOL
        result = search.best(coefficients, n_rules=N_ADDED, sign="positive", **limits)
        conjunctions += [literals for literals, _ in result.found]
        best = result.found[0][1] if result.found else 0.0
        if width is None:
            best = max(best, result.bound)
        excess = max(excess, best - price)
    return conjunctions, excess
