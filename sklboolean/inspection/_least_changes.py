"""The cheapest changes of columns that turn sums of conjunctions: branch and bound.

A node is a sample of which some columns are decided: they were changed, or keep their
value for good. What changes of the others can still add to a sum is at most the sum of
a gain for each change:

* a conjunction of weight w > 0 that is violated in k columns, none of them decided,
  gives w / k to each change that ends one of the violations;
* one of w > 0 that holds, and can be violated in K columns, takes w / K from each
  change that violates it;
* one of w < 0 that holds gives -w to each change that violates it.

So as many columns must still change as the largest gains need to reach what is missing,
and they cost at least as much as the cheapest ones. Nodes with the smallest bound are
opened first, and with them the one that misses least, to find an answer early. A child
changes one more column, and keeps all columns of larger gain, so that no set of changes
is met twice.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter

import numpy as np

MOST_OPENED = 32  # nodes at once
MOST_NUMBERS = 2**18  # that the children of some nodes hold, about
LESS = 1 - 1e-9  # a cost is lower if it is below this share of another


@dataclass(frozen=True)
class Nodes:
    """Samples with some decided columns, each array with a line for each sample.

    Attributes
    ----------
    states : ndarray of shape (n_nodes, n_columns), int
    decided : ndarray of shape (n_nodes, n_columns), bool
    costs : ndarray of shape (n_nodes,)
    bounds : ndarray of shape (n_nodes,)
        Lower bound of the costs of solutions below the node.
    n_broken : ndarray of shape (n_nodes, n_terms), float64
        How many of the changed columns violate each term.
    missing : ndarray of shape (n_nodes,)
        The most that a sum misses.
    """

    states: np.ndarray
    decided: np.ndarray
    costs: np.ndarray
    bounds: np.ndarray
    n_broken: np.ndarray
    missing: np.ndarray

    def __getitem__(self, places):
        return Nodes(*(values[places] for values in vars(self).values()))

    def joined(self, other):
        """Put the nodes of both into one object."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Nodes(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True)
class ChangeProblem:
    """Allowed changes, their costs, and the score to reach.

    Attributes
    ----------
    violated : ndarray of shape (n_columns, n_states, n_terms), float64
        Ones where a state of a column violates a term. State 0 is the present one.
    costs : ndarray of shape (n_columns, n_states), float64
        Costs of a change to the state, above 0; infinite where it is not allowed, as
        for the present state.
    weights : ndarray of shape (n_tests, n_terms)
    intercepts : ndarray of shape (n_tests,)
        All sums of the weights of terms that hold must reach 0.
    slack : float
        Sums this close to 0 are decided by ``is_solution``.
    is_solution : callable
        Takes the state of each column; True if the target is predicted.
    most_changed : int
        Number of columns that may change.
    """

    violated: np.ndarray
    costs: np.ndarray
    weights: np.ndarray
    intercepts: np.ndarray
    slack: float
    is_solution: object
    most_changed: int

    def search(self, limit=np.inf, excluded=(), deadline=None):
        """Find the cheapest change.

        Parameters
        ----------
        limit : float
            Only cheaper changes are searched.
        excluded : sequence of ndarray of shape (n_columns,), bool
            Sets of columns that must not change together.
        deadline : float or None
            Time of ``perf_counter`` at which to stop.

        Returns
        -------
        cost : float
            ``limit`` if nothing cheaper was found.
        states : ndarray of shape (n_columns,), int, or None
        bound : float
            Proved: no change costs less. Equal to ``cost`` if the search ended.
        """
        n_columns, _, n_terms = self.violated.shape
        start = np.zeros((1, n_columns), dtype=np.intp)
        zero, none_broken = np.zeros(1), np.zeros((1, n_terms))
        opened, best = Nodes(start, start > 0, zero, zero, none_broken, zero), None
        waiting, n_numbers = opened[:0], n_columns * n_terms + 1
        n_opened = max(2, min(MOST_OPENED, MOST_NUMBERS // n_numbers))
        while True:
            limit, best, opened = self._take_solution(opened, limit, best, excluded)
            waiting = waiting.joined(opened)
            can_change = (waiting.states > 0).sum(axis=1) < self.most_changed
            waiting = waiting[can_change & (waiting.bounds < limit * LESS)]
            if not len(waiting.bounds):
                return limit, best, limit
            if deadline is not None and perf_counter() > deadline:
                return limit, best, float(waiting.bounds.min())
            # Open the nodes with the smallest bounds, and the one that misses least of
            # all.
            order = np.argsort(waiting.bounds, kind="stable")
            first = np.argmin(waiting.missing[order])
            order = np.concatenate([order[[first]], np.delete(order, first)])
            opened = self._children(waiting[order[:n_opened]], limit)
            waiting = waiting[order[n_opened:]]

    def _take_solution(self, nodes, limit, best, excluded):
        """Take the cheapest solution among the nodes; return it and the open nodes."""
        # Nodes that change all columns of an excluded set are dropped.
        is_open = np.ones(len(nodes.costs), dtype=bool)
        for columns in excluded:
            is_open &= ~(nodes.states[:, columns] > 0).all(axis=1)
        nodes = nodes[is_open]
        sums = (self._n_violated(nodes) == 0) @ self.weights.T + self.intercepts
        nodes = replace(nodes, missing=-sums.min(axis=1, initial=np.inf))
        # Sums within the slack may be 0 or not: the prediction decides then.
        solutions = np.flatnonzero((sums >= -self.slack).all(axis=1))
        for node in solutions[np.argsort(nodes.costs[solutions], kind="stable")]:
            if nodes.costs[node] >= limit * LESS:
                break
            states = nodes.states[node]
            if (sums[node] > self.slack).all() or self.is_solution(states):
                limit, best = float(nodes.costs[node]), states
        return limit, best, nodes

    def _n_violated(self, nodes):
        """Count the columns that violate each term."""
        return nodes.n_broken + (nodes.states == 0) @ self.violated[:, 0]

    @cached_property
    def _ends(self):
        """Ones where a change ends a violation: (n_terms, n_columns * n_states)."""
        return self._by_term(self.violated[:, :1] * (1 - self.violated))

    @cached_property
    def _begins(self):
        """Ones where a change violates a term: (n_terms, n_columns * n_states)."""
        return self._by_term(self.violated)

    def _by_term(self, table):
        """Lay out a table of columns, states and terms with a line for each term."""
        return table.reshape(self.costs.size, table.shape[2]).T.copy()

    @cached_property
    def _n_columns(self):
        """Number of columns that can violate each term, at least 1."""
        return np.maximum(self.violated.any(axis=1).sum(axis=0), 1)

    def _gains(self, nodes, n_violated):
        """Bound what each change adds to each sum of each node.

        Returns
        -------
        gains : ndarray of shape (n_nodes, n_tests, n_columns, n_states)
            Minus infinity for changes that are not allowed.
        """
        holds = n_violated == 0
        # A violated term is lost if a decided column violates it: no change helps.
        is_unchanged = nodes.decided & (nodes.states == 0)
        is_lost = nodes.n_broken + is_unchanged @ self.violated[:, 0] > 0
        # The first case of the module's docstring: w / k for each column in the way.
        shares = (~holds & ~is_lost) / np.maximum(n_violated, 1)
        can_change = ~nodes.decided[:, :, None] & np.isfinite(self.costs)
        gains = []
        for weight in self.weights:
            # The other two cases: -w for w < 0, and -w / K for w > 0.
            lost = np.where(weight < 0, -weight, -weight / self._n_columns)
            added = (shares * np.maximum(weight, 0)) @ self._ends
            added += (holds * lost) @ self._begins
            gains.append(np.where(can_change, added.reshape(can_change.shape), -np.inf))
        return np.stack(gains, axis=1)

    def _children(self, nodes, limit):
        """Change one more column of each node, where that may give a cheaper answer."""
        n_violated = self._n_violated(nodes)
        gains = self._gains(nodes, n_violated)
        sums = (n_violated == 0) @ self.weights.T + self.intercepts
        n_more, ranks = changes_after(-sums - self.slack, gains)
        # cheapest[i, k]: the cost of k more columns of node i; infinite beyond all.
        cheapest = np.where(nodes.decided, np.inf, self.costs.min(axis=1))
        cheapest = np.sort(cheapest, axis=1).cumsum(axis=1)
        cheapest = np.pad(cheapest, ((0, 0), (1, 1)), constant_values=np.inf)
        cheapest[:, 0] = 0.0
        # Bounds of all children, of shape (n_nodes, n_columns, n_states).
        costs = nodes.costs[:, None, None] + self.costs
        bounds = costs + cheapest[np.arange(len(costs))[:, None, None], n_more]
        node, column, state = np.nonzero(bounds < limit * LESS)
        child_index, states = np.arange(len(node)), nodes.states[node]
        states[child_index, column] = state
        # Columns of larger gain keep their values, so that no set is met twice.
        decided = nodes.decided[node] | (ranks[node] <= ranks[node, column][:, None])
        n_broken = nodes.n_broken[node] + self.violated[column, state]
        cost, bound = costs[node, column, state], bounds[node, column, state]
        return Nodes(states, decided, cost, bound, n_broken, nodes.missing[node])


def changes_after(missing, gains):
    """Rank the columns, and count how many of later rank must change after each change.

    Parameters
    ----------
    missing : ndarray of shape (n_nodes, n_tests)
        What must be added to the sums.
    gains : ndarray of shape (n_nodes, n_tests, n_columns, n_states)

    Returns
    -------
    n_more : ndarray of shape (n_nodes, n_columns, n_states), int
        At least so many columns; ``n_columns + 1`` where all together do not suffice.
    ranks : ndarray of shape (n_nodes, n_columns), int
        Columns with the largest gain in the test that misses most come first.
    """
    # Largest gain of each column in each test, and the test that misses most.
    node_index, n_columns = np.arange(len(gains)), gains.shape[2]
    best, hardest = np.maximum(gains.max(axis=3), 0.0), missing.argmax(axis=1)
    order = (-best[node_index, hardest]).argsort(axis=1, kind="stable")
    ranks = order.argsort(axis=1)
    # Gains of the columns in the order of their ranks, added up.
    reached = np.take_along_axis(best, order[:, None], axis=2).cumsum(axis=2)
    missing = missing[:, :, None, None] - gains
    needed = missing + np.take_along_axis(reached, ranks[:, None], axis=2)[..., None]
    # How many of the next columns close the gap of the hardest test.
    n_more = np.empty((len(best), *gains.shape[2:]), dtype=np.intp)
    for node, test in enumerate(hardest):
        n_more[node] = np.searchsorted(reached[node, test], needed[node, test])
    n_more = np.maximum(n_more - ranks[:, :, None], (missing > 0).any(axis=1))
    # The other tests only say whether all columns together are enough.
    suffices = needed <= reached.max(axis=2, initial=0.0)[:, :, None, None]
    return np.where(suffices.all(axis=1), n_more, n_columns + 1), ranks
