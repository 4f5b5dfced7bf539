"""The cheapest DNF, with a proof: a linear program, then an integer program.

The linear program over all conjunctions bounds the cost from below, and its dual values
price every conjunction. A DNF costs at least the bound plus the reduced costs of its
rules. So a DNF that costs less than one that is known has only rules whose reduced cost
is below the gap between that cost and the bound. All of them are listed, and the
integer program over the list finds the cheapest DNF.
"""

# 1. `relax` solves the linear program: a bound, and dual values.
# 2. `greedy_dnf` finds a DNF of its conjunctions, an integer program a better one.
# 3. The gap is the cost of the best DNF less the bound. A cheaper DNF can only have
#    rules whose reduced cost, cost less the dual values that they cover, is below it.
#    `rules_within` lists all of these, by an exact search.
# 4. The integer program over the list finds the cheapest DNF. If the list was cut at a
#    smaller reduced cost, the bound rises by that much only, and 3 begins again.

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from sklboolean._core.parallel import interruptible
from sklboolean.rules._dnf_bound import TOL, relax

# The most conjunctions that the integer program gets, and how often the gap is halved
# until they are no more.
N_LISTED, MAX_HALVINGS = 20_000, 8
# Relative distance of cost and bound that the tolerances of the solvers may leave.
# Costs that are multiples of a number differ by it or not at all.
CLOSE = 1e-5
# Shares of the time that is left which the linear program and the first integer program
# may take.
RELAXED_SHARE, FIRST_SHARE = 0.85, 0.3
# Rounds in which every conjunction is replaced by what is better without it.
MAX_REVISIONS = 3


@dataclass
class Proof:
    """A DNF, and what is known about cheaper ones.

    Attributes
    ----------
    problem : DNFProblem
    conjunctions : list of tuples of (feature, value) pairs
    cost : float
    bound : float
        No DNF costs less.
    """

    problem: object
    conjunctions: list
    cost: float
    bound: float = 0.0

    def is_open(self):
        """Whether a cheaper DNF can exist."""
        least = 0.5 * (self.problem.step or 1.0)
        return self.cost - self.bound > min(least, CLOSE * (1 + self.cost))

    def try_dnf(self, conjunctions):
        """Take another DNF where it is cheaper."""
        conjunctions = self.problem.without_idle_rules(conjunctions)
        cost = self.problem.cost(conjunctions)
        is_allowed = sum(map(len, conjunctions)) <= self.problem.most_literals
        if is_allowed and cost < self.cost - TOL * (1 + self.cost):
            self.conjunctions, self.cost = conjunctions, cost

    def scaled(self, unit):
        """Copy the proof with costs in another unit, a power of two."""
        return replace(self, cost=unit * self.cost, bound=unit * self.bound)

    def raise_bound(self, bound):
        """Take a bound on the cost of every DNF that is cheaper than this one."""
        bound = min(self.problem.rounded(bound), self.cost)
        self.bound = max(self.bound, bound)


def cheapest_dnf(problem, params):
    """Find the cheapest DNF, or the best one until the deadline.

    Parameters
    ----------
    problem : DNFProblem
    params : GainParams
        The literals that conjunctions may have, and the deadline.

    Returns
    -------
    proof : Proof
    """
    proof = Proof(problem, [], problem.cost([]))
    proof.try_dnf([()])
    if proof.cost == proof.bound:
        return proof
    search = params.conjunction_search(problem.X, problem.n_features)
    relaxed = params
    if params.deadline is not None:
        relaxed = params.started(RELAXED_SHARE * params.time_left())
    relaxation = relax(problem, search, relaxed)
    program = relaxation.program
    proof.raise_bound(relaxation.bound)
    proof.try_dnf(greedy_dnf(program, params))
    if relaxation.duals is None or not proof.is_open():
        return proof
    chosen, _ = solve_integer(relaxation, _gap(proof, relaxation), params, FIRST_SHARE)
    proof.try_dnf(chosen)
    while proof.is_open() and not params.is_late():
        gap, cost = _gap(proof, relaxation), proof.cost
        listed, reach = rules_within(search, relaxation, gap, params)
        program.add(listed)
        chosen, lower = solve_integer(relaxation, gap, params)
        proof.try_dnf(chosen)
        # A DNF with a rule that is not listed costs more than this.
        outside = np.inf if reach == gap else relaxation.value + reach
        proof.raise_bound(min(lower, outside))
        if reach == gap or proof.cost == cost:
            break
    return proof


def _gap(proof, relaxation):
    """Bound the reduced costs, all together, of the rules of a cheaper DNF."""
    return max(0.0, proof.cost - proof.problem.step - relaxation.value) + TOL


def greedy_dnf(program, params):
    """Choose conjunctions greedily, then replace each where that is cheaper."""
    matrix, costs = program.matrix(), np.array(program.costs)
    lengths, most = program.lengths(), program.problem.most_literals

    def extended(chosen, barred):
        """Add conjunctions one by one, each for what it gains given those before."""
        chosen, missed_weights = list(chosen), program.capacities.copy()
        for k in chosen:
            missed_weights[program.covers[k]] = 0.0
        while True:
            gains = matrix @ missed_weights - costs
            gains[barred] = 0.0
            gains[lengths[chosen].sum() + lengths > most] = 0.0
            best = int(gains.argmax())
            if gains[best] <= 0:
                return costs[chosen].sum() + missed_weights.sum(), chosen
            chosen.append(best)
            missed_weights[program.covers[best]] = 0.0

    cost, chosen = extended([], [])
    for _ in range(MAX_REVISIONS):
        before = cost
        # Leave out each rule in turn, and see what greedy choices take its place.
        for k in list(chosen):
            if params.is_late():
                break
            other = extended([rule for rule in chosen if rule != k], [k])
            if other[0] < cost:
                cost, chosen = other
        if cost == before:
            break
    return [program.conjunctions[k] for k in chosen]


def rules_within(search, relaxation, gap, params):
    """List the conjunctions whose reduced cost is at most a gap.

    Returns
    -------
    listed : list of tuples of (feature, value) pairs
    reach : float
        All conjunctions of at most this reduced cost are listed. It is the gap, or less
        where these are too many.
    """
    program, problem = relaxation.program, relaxation.program.problem
    coefficients = program.coefficients(relaxation.duals)
    # The search joins conjunctions that differ in samples of coefficient 0 only.
    least = np.abs(coefficients).sum() * 2.0**-45
    coefficients = np.where(np.abs(coefficients) < least, least, coefficients)
    lengths = range(search.longest + 1)
    prices = np.array([relaxation.duals.price(problem, length) for length in lengths])
    reach = gap
    for _ in range(MAX_HALVINGS):
        listed = search.all_above(
            coefficients, prices - reach - TOL, N_LISTED, params.time_left()
        )
        if listed is not None:
            return listed, reach
        if params.is_late():
            break
        reach /= 2
    return [], 0.0


def solve_integer(relaxation, gap, params, share=1.0):
    """Find the cheapest DNF of the conjunctions of a program.

    Parameters
    ----------
    relaxation : Relaxation
    gap : float
        DNFs with a larger sum of reduced costs do not matter.
    params : GainParams
    share : float
        Share of the time that is left.

    Returns
    -------
    conjunctions : list of tuples of (feature, value) pairs
        The best one found; empty if there was none.
    bound : float
        No DNF of these conjunctions that matters costs less.
    """
    program, duals = relaxation.program, relaxation.duals
    matrix, costs = program.matrix(), np.array(program.costs)
    rules = np.flatnonzero(program.costs_at(duals) - matrix @ duals.cells <= gap)
    n_rules, n_cells = len(rules), len(duals.cells)
    # A cell that costs too much must be covered.
    can_miss = program.capacities - duals.cells <= gap
    covered = sparse.hstack([matrix[rules].T, sparse.eye_array(n_cells)])
    constraints = [LinearConstraint(covered, 1.0, np.inf)]
    if program.problem.is_limited:
        literals = np.append(program.lengths()[rules], np.zeros(n_cells))
        constraints.append(
            LinearConstraint(literals[None], -np.inf, program.problem.most_literals)
        )
    options = {"mip_rel_gap": 0.0}
    if params.deadline is not None:
        options["time_limit"] = share * params.time_left()
    result = interruptible(
        milp,
        np.append(costs[rules], program.capacities),
        integrality=np.repeat([1, 0], [n_rules, n_cells]),
        bounds=Bounds(0.0, np.append(np.ones(n_rules), can_miss.astype(np.float64))),
        constraints=constraints,
        options=options,
    )
    if result.status == 2:
        return [], np.inf
    bound = relaxation.value if result.mip_dual_bound is None else result.mip_dual_bound
    if result.x is None:
        return [], bound
    chosen = rules[result.x[:n_rules] > 0.5]
    return [program.conjunctions[k] for k in chosen], bound
