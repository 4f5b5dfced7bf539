"""Rule lists by greedy search for the gain of a rule.

A rule gains the weight of the samples of its class that no rule before it covers, and
loses ``penalty`` times the weight of the other samples that none covers, and a price
for each literal. The search for conjunctions looks for the largest gain itself.
"""

# A list for one class, of the samples that earlier classes left (`rule_list`):
# 1. Add the conjunction of the largest gain on the samples that no rule covers, until
#    none gains more than its literals cost or the list is full.
# 2. Search each conjunction anew on the samples that the other ones leave. Replace it
#    by a better one, or drop it. Then go to 1, some rounds at most.
#
# One search finds the best conjunction of each length, so that it serves all costs of a
# literal: `best_by_goal` keeps it by class and samples. Where tables of sums are small,
# `RunningSums` only adds the samples that came or went since the last search.
# `is_left` marks samples and has shape (n_samples,). Equal gains are decided for the
# shorter conjunction, then for the first, so that lists do not depend on `n_jobs`.

from copy import copy
from dataclasses import dataclass, replace
from hashlib import blake2b
from time import monotonic

import numpy as np
from scipy import sparse

from sklboolean._core.conjunction_search import ConjunctionSearch, satisfied_by
from sklboolean._core.parameters import check_choice, check_integer, check_real

# Rounds in which every rule is searched anew. Most lists stop changing earlier.
MAX_REVISIONS = 3
# The same for lists that only compare parameters. Three rounds take more time, and the
# lists are no better (measured on nursery, with fresh samples). Where tables are too
# large for the search, there is none: it takes half of the time (as good on texts).
CHOICE_REVISIONS = 1
# Conjunctions of each length that a search extends, and that searches for these lists
# extend: a tenth of the time, and lists by these parameters are as good (text, digits
# and made-up rules).
WIDTH, CHOICE_WIDTH = 512, 128
# Conjunctions with large gains that one search lists; the price of their literals
# decides among them.
N_CANDIDATES = 100
# Conjunctions of three literals that a search by tables extends to four.
MAX_EXTENDED = 32


@dataclass(frozen=True)
class GainParams:
    """Checked parameters of a search for rules; see `RuleClassifier` for the meaning.

    Attributes
    ----------
    penalties, literal_costs : tuple of float
        The values to choose from.
    width : int or None
        Conjunctions of each length that a search extends. None: exact searches.
    deadline : float or None
        On the clock of ``time.monotonic``.
    directions : ndarray of shape (n_features,), int8, or None
        1 where the class described must not become less likely when the feature becomes
        true, -1 where it must not become more likely, else 0, for the second class.
    """

    max_rules: int
    max_literals: int
    monotone: bool
    penalties: tuple
    literal_costs: tuple
    width: int | None
    deadline: float | None
    n_jobs: int | None
    feature_groups: object = None
    directions: object = None

    @classmethod
    def check(
        cls, *, max_literals, monotone, literal_cost, max_rules=1, penalty=1.0,
        width=None, time_limit=None, n_jobs=None,
    ):  # fmt: skip
        """Check the parameters of an estimator; its samples add the last two fields."""
        check_choice(monotone, "monotone", (False, True))
        if time_limit is not None:
            time_limit = float(check_real(time_limit, "time_limit", 0, strict=True))
        return cls(
            check_integer(max_rules, "max_rules", 1),
            check_integer(max_literals, "max_literals", 1),
            bool(monotone),
            _checked_numbers(penalty, "penalty", strict=True),
            _checked_numbers(literal_cost, "literal_cost"),
            None if width is None else check_integer(width, "width", 1, 2**62),
            None if time_limit is None else monotonic() + time_limit,
            n_jobs,
        )

    def conjunction_search(self, X, n_features, side=1):
        """Lay out samples for the searches of these parameters.

        ``side=-1`` stands for rules of the first of two classes.
        """
        directions = None if self.directions is None else side * self.directions
        return ConjunctionSearch(
            X, n_features, max_literals=self.max_literals, monotone=self.monotone,
            feature_groups=self.feature_groups, directions=directions,
            n_jobs=self.n_jobs,
        )  # fmt: skip

    def time_left(self):
        """Compute the seconds until the deadline, at least a millisecond."""
        return None if self.deadline is None else max(1e-3, self.deadline - monotonic())

    def started(self, time_limit):
        """Copy the parameters, with a deadline so many seconds from now, or None."""
        deadline = None if time_limit is None else monotonic() + time_limit
        return replace(self, deadline=deadline)

    def is_late(self):
        """Whether the deadline has passed."""
        return self.deadline is not None and monotonic() >= self.deadline

    def is_over(self, chosen):
        """Whether the deadline has passed, and something was chosen before."""
        return bool(chosen) and self.is_late()


def _checked_numbers(values, name, *, strict=False):
    """Check a number or several, each at least 0."""
    values = np.ravel(values)
    if not len(values):
        raise ValueError(f"{name} is empty: give a number, or several.")
    return tuple(float(check_real(value, name, 0, strict=strict)) for value in values)


class GainSearch:
    """Greedy rule lists over some samples, for several prices of a literal.

    Lists for different prices often begin with the same rules, so searches are kept
    and used again.

    Parameters
    ----------
    samples : RuleSamples
        The class numbers are those that a rule should predict.
    order : sequence of int
        Class numbers. Classes take turns; the last one gets no rules.
    penalty : float
    params : GainParams
    """

    def __init__(self, samples, order, penalty, params):
        # Layouts are shared, but not what a search notes about its races.
        side = 1 if order[0] or not np.any(params.directions) else -1
        self.search = copy(samples.search(params, side))
        self.codes, self.weights, self.order = samples.codes, samples.weights, order
        self.penalty, self.params = penalty, params
        # Conjunctions by class and samples; the gains and sums are of one class.
        self.best_by_goal = {}
        self.gains_of, self.gains, self.sums = None, None, None

    def rule_list(self, price, n_revisions=MAX_REVISIONS):
        """Find rules for one class after the other, each on the samples that are left.

        Parameters
        ----------
        price : float
            Price of a literal.
        n_revisions : int
            Rounds in which every rule is searched anew.

        Returns
        -------
        rules : list of (literals, class number)
        """
        rules, is_left = [], np.ones(len(self.codes), dtype=bool)
        for k in self.order[:-1]:
            if self.params.is_over(rules):
                break
            chosen = self._conjunctions(int(k), is_left, price, n_revisions)
            rules += [(literals, int(k)) for literals in chosen]
            is_left = self.without(is_left, chosen)
        return rules

    def without(self, is_left, conjunctions):
        """Mark the samples that are left and satisfy none of some conjunctions."""
        return is_left & ~self.search.cover(conjunctions)

    def costs(self, prices, cost_of):
        """Compute the cost of a list of rules for each price, the largest first.

        Parameters
        ----------
        prices : list of float
        cost_of : callable
            Of rules and the class without rules.

        Returns
        -------
        costs : dict
            By price. None of prices below one that is far behind a larger one: their
            lists are longer still.
        """
        costs, cost_by_rules = {}, {}
        has_tables = self.search.table(min(3, self.search.longest)) is not None
        n_revisions = CHOICE_REVISIONS if has_tables else 0
        for price in sorted(prices, reverse=True):
            rules = tuple(self.rule_list(price, n_revisions))
            if rules not in cost_by_rules:
                cost_by_rules[rules] = cost_of(list(rules), self.order[-1])
            costs[price] = cost_by_rules[rules]
            if costs[price] > most_near(min(costs.values())):
                break
        return costs

    def _conjunctions(self, k, is_left, price, n_revisions):
        """Choose conjunctions for a class: add some, search each anew, add more."""
        chosen = self._extended([], k, is_left, price)
        for _ in range(n_revisions):
            before = list(chosen)
            chosen = self._revised(chosen, k, is_left, price)
            if chosen == before:
                break
            chosen = self._extended(chosen, k, is_left, price)
        return chosen

    def _extended(self, chosen, k, is_left, price):
        """Add conjunctions greedily, each for the samples that it adds."""
        chosen, is_left = list(chosen), self.without(is_left, chosen)
        while len(chosen) < self.params.max_rules and not self.params.is_over(chosen):
            gain, literals = self._best(k, is_left, price)
            if not gain > 0:
                break
            chosen.append(literals)
            is_left = self.without(is_left, [literals])
        return chosen

    def _revised(self, chosen, k, is_left, price):
        """Replace each conjunction by the best one given the others, or drop it.

        The first ones were chosen before it was known what the others cover.
        """
        for literals in list(chosen):
            if self.params.is_over(chosen):
                break
            number = chosen.index(literals)
            others = chosen[:number] + chosen[number + 1 :]
            is_free = self.without(is_left, others)
            covered = is_free & self.search.cover([literals])
            present = self._gains(k)[covered].sum() - price * len(literals)
            gain, better = self._best(k, is_free, price)
            if max(gain, present) <= 0:
                chosen = others
            elif gain > present:
                chosen = [*chosen[:number], better, *chosen[number + 1 :]]
        return chosen

    def _best(self, k, is_left, price):
        """Find the largest gain, less the price of the literals, and its conjunction.

        Of equal gains the shorter conjunction wins.
        """
        goal = k, blake2b(is_left).digest()
        if goal not in self.best_by_goal:
            self.best_by_goal[goal] = self._best_by_length(k, is_left)
        # By gain, then by length; `max` takes the first of equal ones.
        gain, _, literals = max(
            (
                (gain - price * len(literals), -len(literals), literals)
                for literals, gain in self.best_by_goal[goal]
            ),
            key=lambda candidate: candidate[:2],
            default=(0.0, 0, None),
        )
        return gain, literals

    def _gains(self, k):
        """Compute what each sample gains if a rule for a class covers it."""
        if self.gains_of != k:
            gains = np.where(
                self.codes == k, self.weights, -self.penalty * self.weights
            )
            # Tables hold three literals. A fourth extends the best of these, which is
            # no exact search.
            is_exact = self.params.width is not None or self.search.longest <= 3
            self.gains_of, self.gains, self.sums = k, gains, None
            if is_exact:
                self.sums = self.search.running_sums(gains, self.params.time_left())
        return self.gains

    def _best_by_length(self, k, is_left):
        """Find the conjunction of each length with the largest gain, in one search."""
        gains, params = np.where(is_left, self._gains(k), 0.0), self.params
        if not (gains > 0).any():
            return []
        if self.sums is not None:
            width = min(params.width or 1, MAX_EXTENDED)
            return self.sums.best(is_left, params.monotone, self.search.longest, width)
        # Rules that gain less than their price are not chosen at any price.
        floor = 0.0 if params.width is None else min(params.literal_costs)
        return self.search.best(
            gains, n_rules=N_CANDIDATES, sign="positive", floor=floor, by_length=True,
            time_limit=params.time_left(), width=params.width,
        ).found  # fmt: skip


def most_near(cost):
    """Compute the largest cost that is not far behind another one.

    The standard deviation of a number of errors is about its square root.
    """
    return cost + 2 * np.sqrt(cost + 1)


@dataclass(frozen=True, eq=False)
class DecisionList:
    """A list of rules of which the first one satisfied decides, and what it decided.

    Attributes
    ----------
    rules : list of (literals, class number)
    default : int
        Class number of samples that satisfy no rule.
    decisions : Decisions
    """

    rules: list
    default: int
    decisions: object

    @classmethod
    def of(cls, rules, decisions, default):
        """Make a list of rules. ``default`` is used when every sample satisfies one.

        The last rules are dropped if they predict what the default predicts.
        """
        undecided = decisions.counts[-1]
        if undecided.any():
            default = int(undecided.argmax())
        # A rule before the default that predicts the same decides nothing.
        while rules and rules[-1][1] == default:
            rules, decisions = rules[:-1], decisions.without_last()
        return cls(rules, default, decisions)

    def conjunctions(self):
        """Return the literals of each rule."""
        return [literals for literals, _ in self.rules]

    def cost(self, decisions, cover_cost, literal_cost):
        """Weight of the errors in decisions about samples, and of the literals.

        An error of a rule counts ``cover_cost`` times, one of the default once.
        """
        errors = decisions.errors([*(k for _, k in self.rules), self.default])
        n_literals = sum(map(len, self.conjunctions()))
        return cover_cost * errors[:-1].sum() + errors[-1] + literal_cost * n_literals


def any_satisfied(X, conjunctions):
    """Mark the samples that satisfy one conjunction or more."""
    return first_satisfied(X, conjunctions) < len(conjunctions)


def first_satisfied(X, conjunctions):
    """Find the index of the first conjunction that each sample satisfies.

    Samples that satisfy none get ``len(conjunctions)``.
    """
    X = by_columns(X)
    index = np.full(X.shape[0], len(conjunctions), dtype=np.int64)
    for k in reversed(range(len(conjunctions))):
        index[satisfied_by(X, conjunctions[k])] = k
    return index


def by_columns(X):
    """Convert sparse samples to CSC, where columns are read quickly."""
    return X.tocsc() if sparse.issparse(X) else X
