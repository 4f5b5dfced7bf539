"""Where the majority game stands on a table: votes, states, and what a round weighs."""

from dataclasses import dataclass

import numpy as np

from sklboolean.boosting._binomials import at_most
from sklboolean.boosting._game_rounds import rounds_from_states
from sklboolean.boosting._game_states import average_potential, relative_weights
from sklboolean.boosting._weights import quantize_weights

# Weights are multiples of this part of the largest, so that sums of millions of them
# are exact and a row of weight 2 equals two rows.
STEPS = 2.0**26


@dataclass(frozen=True)
class RoundWeights:
    """The weights of a round: a value for each state, times what a row counts.

    Attributes
    ----------
    table : ndarray of shape (n_states,), float64
        The heaviest state that occurs has 1.
    states : ndarray of shape (n_samples,), int64
        The state of each row.
    values : ndarray of shape (n_samples,), float64, or None
        What each row counts; None: all the same.
    mean : float
        Mean weight in the units of `majority_weights`, t_i of the thesis.
    divergence : float
        Kullback-Leibler divergence, in nats, of the weighted rows from the rows as they
        are given.
    acceptance : float
        Share of the value that a filter with these weights lets pass.
    potential : float
        Average potential before the round.
    """

    table: np.ndarray
    states: np.ndarray
    values: np.ndarray | None
    mean: float = 1.0
    divergence: float = 0.0
    acceptance: float = 1.0
    potential: float = np.nan

    def rows(self):
        """Return the weight of each row, float64."""
        weights = self.table.take(self.states)
        return weights if self.values is None else weights * self.values

    def quantized(self):
        """Return the weight of each row with 15 bits for its state.

        Returns
        -------
        weights : ndarray of shape (n_samples,)
            int16, or float64 where values are given: so that a row of value 2 equals
            two rows, to the last bit.
        """
        weights = quantize_weights(self.table).take(self.states)
        return weights if self.values is None else weights * self.values


class Board:
    """Votes so far on rows whose labels are known.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), int
        The right class of each row.
    n_classes : int
    values : ndarray of shape (n_samples,), float64, or None
        What each row counts, above 0; None: all the same.
    """

    def __init__(self, codes, n_classes, values=None):
        self.codes, self.values = codes, values
        self.n_rounds = self.n_aborted = 0
        self.right = np.zeros(len(codes), dtype=np.int64)
        self.wrong = None
        if n_classes > 2:
            # Votes by class, those for the right one apart, and the most in each row.
            self.wrong = np.zeros((len(codes), n_classes), dtype=np.int32)
            self.strongest = np.zeros(len(codes), dtype=np.int64)

    def add(self, predicted):
        """Count the vote of a hypothesis: a class for each row."""
        hits = predicted == self.codes
        self.right += hits
        self.n_rounds += 1
        if self.wrong is not None:
            misses = np.flatnonzero(~hits)
            votes = self.wrong[misses, predicted[misses]] + 1
            self.wrong[misses, predicted[misses]] = votes
            self.strongest[misses] = np.maximum(self.strongest[misses], votes)

    def abort(self):
        """Count a round without a hypothesis."""
        self.n_rounds += 1
        self.n_aborted += 1

    @property
    def n_votes(self):
        """Return the number of hypotheses."""
        return self.n_rounds - self.n_aborted

    def error(self):
        """Return the share of the value that the present vote gets wrong."""
        if self.wrong is None:
            wrong = 2 * self.right <= self.n_votes
        else:
            wrong = self.right <= self.strongest
        if self.values is None:
            return float(np.mean(wrong))
        return float(self.values[wrong].sum() / self.values.sum())

    def _other_votes(self):
        """Return the votes for wrong classes other than the strongest of them."""
        if self.wrong is None:
            return 0
        return self.n_votes - self.right - self.strongest

    def states_of_rows(self):
        """Return a number for the state of each row, and the level of one unit of it.

        As in `game_states`: the level 2 r + t says how many right votes are missing.
        """
        if self.wrong is None:
            return self.right, 2
        return 2 * self.right + self._other_votes(), 1

    def potential(self, k, gamma):
        """Return the average potential when the game lasts k rounds."""
        return average_potential(
            k, self.n_rounds, gamma, self.right, other_votes=self._other_votes(),
            n_aborted=self.n_aborted, values=self.values,
        )  # fmt: skip

    def rounds_needed(self, gamma, error):
        """Return the least odd k for which the average potential is below ``error``."""
        return rounds_from_states(
            self.n_rounds, gamma, error, self.right, other_votes=self._other_votes(),
            n_aborted=self.n_aborted, values=self.values,
        )  # fmt: skip

    def weigh(self, k, gamma):
        """Return the `RoundWeights` of the next round of k."""
        states, unit = self.states_of_rows()
        counts = np.bincount(states, weights=self.values)
        occur = np.flatnonzero(counts)
        shares = counts[occur] / counts[occur].sum()
        relative, log_largest = relative_weights(
            k, self.n_rounds, gamma, unit * occur, self.n_aborted
        )
        table = np.zeros(len(counts))
        acceptance = float(shares @ relative)
        if acceptance == 0:  # all is decided, or what is open counts 0
            return RoundWeights(table, states, self.values)
        table[occur] = np.rint(STEPS * relative) / STEPS
        some = relative > 0
        drawn = shares[some] * relative[some] / acceptance
        divergence = float(drawn @ np.log(relative[some] / acceptance))
        if self.n_aborted:
            potential = self.potential(k, gamma)
        else:
            missing = (k - unit * occur) // 2
            potential = float(shares @ at_most(missing, k - self.n_rounds, gamma))
        return RoundWeights(
            table, states, self.values, float(np.exp(log_largest)) * acceptance,
            max(0.0, divergence), acceptance, potential,
        )  # fmt: skip

    def even_weights(self):
        """Return the weights of a round before which nothing is known: all alike."""
        states = np.zeros(len(self.codes), dtype=np.int64)
        return RoundWeights(np.ones(1), states, self.values)
