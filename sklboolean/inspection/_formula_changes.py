"""The cheapest changes that turn a formula: the states that differ for it."""

from functools import cached_property

import numpy as np

from sklboolean.inspection._least_changes import ChangeProblem
from sklboolean.inspection._legal_states import changed_bits, is_reached, sums_for

# Each column has states, its legal values, and each state violates some terms of the
# formula. The search sees states only by the terms that they violate: states that
# violate the same terms have the same number, their pattern, and of these only the
# cheapest is tried. Pattern 0 is the present state of a sample, which costs nothing. So
# a search is over an array of shape (n_columns, 1 + n_patterns, n_terms), and its
# answer, a pattern for each column, is turned back into states.
# Each answer excludes its set of changed columns and all larger sets from later
# searches.

MOST_CELLS = 2**25  # of columns, states and terms


class FormulaChanges:
    """The search of changes that turn sums of conjunctions, or lists of rules.

    Parameters
    ----------
    columns : UserColumns
    states : list of LegalStates
    """

    def __init__(self, columns, states):
        self.formula, self.states = columns.formula, states
        literals = [
            (feature, value, k)
            for k, term in enumerate(self.formula.terms)
            for feature, value in term
        ]
        features, values, terms = np.array(literals, dtype=np.intp).reshape(-1, 3).T
        # Columns that no term tests cannot turn a prediction and are left out.
        used, rows_of_literals = np.unique(
            columns.owners[features], return_inverse=True
        )
        self._used = used.tolist()
        self._literals = features, values > 0, rows_of_literals, terms
        n_states = 1 + max((len(states[c].bits) for c in self._used), default=0)
        self._shape = len(self._used), n_states, len(self.formula.terms)

    def is_possible(self):
        """Test if the formula is made of sums, and small enough."""
        classes = self.formula.classes or ()
        are_sums = all(sums_for(self.formula, label) is not None for label in classes)
        return are_sums and np.prod(self._shape) <= MOST_CELLS

    @cached_property
    def _patterns(self):
        """The terms that each pattern of a column violates, and that of each state."""
        features, values, rows_of_literals, terms = self._literals
        violated, pattern_of = np.zeros(self._shape), {}
        for row, column in enumerate(self._used):
            literals = rows_of_literals == row
            table = self._violations(
                column, features[literals], values[literals], terms[literals]
            )
            patterns, numbers = np.unique(table, axis=0, return_inverse=True)
            violated[row, 1 : 1 + len(patterns)] = patterns
            pattern_of[column] = 1 + numbers.ravel()
        return violated, pattern_of

    def _violations(self, column, features, values, terms):
        """Mark the terms that each state of a column violates: (n_states, n_terms).

        The literals of the column are given: features, the values that they must have,
        and the numbers of the terms.
        """
        states = self.states[column]
        fails = states.bits[:, np.searchsorted(states.features, features)] != values
        table = np.zeros((len(states.bits), len(self.formula.terms)), dtype=bool)
        # A term is violated as soon as one of its literals fails.
        state, literal = np.nonzero(fails)
        table[state, terms[literal]] = True
        return table

    def answers(self, bits, costs, targets, n_wanted, most_changed, deadline):
        """Search the changes of one sample.

        Parameters
        ----------
        bits : ndarray of shape (n_features,), bool
        costs : list of ndarray of shape (n_states,)
            For each column; infinite where a state is not allowed.
        targets : list of labels, or of (low, high)
            The predictions to reach.
        n_wanted : int
        most_changed : int
            Number of columns that may change.
        deadline : float or None
            Time of ``perf_counter`` at which to stop.

        Returns
        -------
        answers : list of (cost, changes)
            The changes are pairs of a column and its new state.
        bound : float
            No further answer costs less; infinite if the search ended.
        """
        violated, costs, states = self._problem(bits, costs)

        def changes(choice):
            return [
                (self._used[k], states[k][choice[k]]) for k in np.flatnonzero(choice)
            ]

        answers, excluded = [], []
        while len(answers) < n_wanted:
            limit, best, bound = np.inf, None, np.inf
            # The cheapest answer over all targets; each search begins at the limit of
            # the last.
            for target in targets:

                def is_solution(choice, target=target):
                    changed = changed_bits(self.states, bits, changes(choice))
                    return is_reached(self.formula.predict(changed[None]), [target])[0]

                sums = sums_for(self.formula, target)
                problem = ChangeProblem(
                    violated, costs, *sums, is_solution, most_changed
                )
                limit, choice, least = problem.search(limit, excluded, deadline)
                best = best if choice is None else choice
                bound = min(bound, least)
            if best is not None:
                answers.append((limit, changes(best)))
                excluded.append(best > 0)
            # The end: nothing was found, the time is over, or the sample needs no
            # change.
            if best is None or bound < limit or not excluded[-1].any():
                return answers, bound if bound < limit else np.inf
        return answers, np.inf

    def _problem(self, bits, table):
        """Collect the states that differ for the model: the present one is number 0.

        Returns
        -------
        violated, costs : ndarrays as of `ChangeProblem`
        states : list of dict
            The cheapest state of a column for each number.
        """
        violated, pattern_of = self._patterns
        violated, costs, states = violated.copy(), [], []
        features, values, rows_of_literals, terms = self._literals
        # Pattern 0 of each column: the terms that the present state violates.
        is_violated = bits[features] != values
        violated[rows_of_literals[is_violated], 0, terms[is_violated]] = 1.0
        for column in self._used:
            numbers = pattern_of[column]
            by_cost = np.argsort(-table[column], kind="stable")  # the cheapest is last
            costs.append(np.full(violated.shape[1], np.inf))
            # Later assignments win, so each pattern gets its cheapest state.
            costs[-1][numbers[by_cost]] = table[column][by_cost]
            states.append(dict(zip(numbers[by_cost], by_cost, strict=True)))
        costs = np.array(costs).reshape(violated.shape[:2])
        costs[(violated == violated[:, :1]).all(axis=2)] = np.inf  # changes nothing
        return violated, costs, states
