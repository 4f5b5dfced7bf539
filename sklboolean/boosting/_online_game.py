"""The majority game of every row with a line of learners that go on learning."""

from copy import deepcopy

import numpy as np

from sklboolean.boosting._binomials import log_exactly
from sklboolean.boosting._majority_game import missing_votes

BLOCK_CELLS = 2**22


def relative_weights(k, i, gamma, correct_votes):
    """Weigh rows for learner i of k, relative to the heaviest state there is.

    Parameters
    ----------
    k, i, gamma
        As for `majority_weights`, of which this is a multiple that depends on no row.
    correct_votes : ndarray of shape (n_samples,), dtype int64
        How many of the i learners before are right about each row.

    Returns
    -------
    weights : ndarray of shape (n_samples,), dtype float64
        From 0 to 1; 1 in the heaviest of the states from 0 to i. They are differences
        of logarithms before they are numbers: no k is too large.
    """
    n_left = k - i - 1
    # The mode of the binomial distribution, or the state next to it that can occur.
    mode = np.floor((n_left + 1) * (0.5 + gamma))
    mode = np.clip(mode, max(k // 2 - i, 0), min(k // 2, n_left))
    missing = missing_votes(k, np.append(correct_votes, k // 2 - int(mode)))
    logs = log_exactly(missing, n_left, gamma)
    return np.exp(np.minimum(logs[:-1] - logs[-1], 0.0))


class OnlineGame:
    """Learners and what they have seen.

    Parameters
    ----------
    learners : list of BitPerceptron or PartialFitLearner
        An odd number of them.
    gamma : float
    seed : int or None
        Not None: rows are shown by chance, a whole number of times.

    Attributes
    ----------
    n_samples : int
        Rows seen.
    n_mistakes : int
        Rows on which the vote, cast before the row was learned, was not right.
    n_shown : ndarray of shape (n_learners,), dtype int64
        Rows that each learner was shown.
    weights_right, weights_shown : ndarray of shape (n_learners,), dtype float64
        The weight of these rows, of those that it was right about before, and of all.
    """

    def __init__(self, learners, gamma, seed):
        self.learners, self.gamma, self.seed = learners, gamma, seed
        self.n_samples, self.n_mistakes = 0, 0
        self.n_shown = np.zeros(len(learners), dtype=np.int64)
        self.weights_right = np.zeros(len(learners))
        self.weights_shown = np.zeros(len(learners))

    def copy(self):
        """Return a copy that learns on its own."""
        return deepcopy(self)

    def parts(self, X, batch_size):
        """Cut a table into slices, each with what the learners read at once."""
        n_most = BLOCK_CELLS // max(X.shape[1] + 1, len(self.learners))
        return self.learners[0].parts(X, batch_size, max(1, n_most))

    def learn(self, rows, signs, values):
        """Show rows to all learners, one learner after the other.

        Parameters
        ----------
        rows : ndarray or sparse array of shape (n_samples, n_columns)
            What the learners read.
        signs : ndarray of shape (n_samples,), dtype int8
            -1 or 1.
        values : ndarray of shape (n_samples,), dtype float64
            What the rows' own weights are.
        """
        k = len(self.learners)
        chances = None if self.seed is None else self._chances(len(signs))
        right = np.zeros(len(signs), dtype=np.int64)
        for i, learner in enumerate(self.learners):
            weights = values * relative_weights(k, i, self.gamma, right)
            if chances is not None:
                weights = np.floor(weights + chances[:, i])
            hits = learner.vote_and_learn(rows, signs, weights) == signs
            right += hits
            self._count(i, weights, hits)
        self.n_samples += len(signs)
        self.n_mistakes += int(np.count_nonzero(right <= k // 2))

    def _chances(self, n_samples):
        """Return uniform numbers, which depend on the position in the stream only."""
        generators = [
            np.random.default_rng([self.seed, self.n_samples + row])
            for row in range(n_samples)
        ]
        return np.stack([g.random(len(self.learners)) for g in generators])

    def _count(self, i, weights, hits):
        self.n_shown[i] += np.count_nonzero(weights)
        for sums, terms in [
            (self.weights_right, weights * hits), (self.weights_shown, weights),
        ]:  # fmt: skip
            # Added in order, so that the parts of a stream give the same sums.
            sums[i] = np.cumsum(np.append(sums[i], terms))[-1]

    def edges(self):
        """Return each learner's share of weight that it was right about, less 1/2.

        0 for learners without weight: nothing speaks for or against them.
        """
        shares = np.full(len(self.learners), 0.5)
        shown = self.weights_shown > 0
        np.divide(self.weights_right, self.weights_shown, out=shares, where=shown)
        return shares - 0.5

    def margins(self, rows):
        """Return the mean of all votes on each row."""
        total = sum(learner.votes(rows).astype(np.int64) for learner in self.learners)
        return total / len(self.learners)
