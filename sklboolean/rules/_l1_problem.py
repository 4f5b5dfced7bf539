"""L1 problems over columns of bits: a loss of weighted sums, and a price for each."""

import numpy as np
from scipy.special import expit, logsumexp, softmax

from sklboolean._core.bits import pack_dense
from sklboolean.rules._bit_columns import add_columns, descend, sum_columns, sum_pairs

# Binary digits of the curvatures in the quadratic model. They are rounded so that the
# model stays convex; the slopes are exact, so that only the number of steps changes.
N_DIGITS = 12
# Coefficients besides those other than 0 that one step may change.
MAX_ACTIVE = 2000
MAX_STEPS, MAX_PASSES = 100, 1000


class L1Problem:
    """A weighted loss of sums of columns, plus prices times absolute coefficients.

    Parameters
    ----------
    loss : {"logistic", "softmax", "squared"}
    weights : ndarray of shape (64 * n_words,), float64
        Of the samples; 0 behind the last one.
    targets : ndarray of shape (n_outputs, 64 * n_words), float64
        0 or 1 for the logistic loss, one-hot for softmax.

    Attributes
    ----------
    means : ndarray of shape (n_outputs, 64 * n_words)
        Of the last solution: probabilities, or scores for the squared loss.
    value : float
        Objective of the last solution.
    work : int
        Work done so far: pairs of coefficients times words of 64 samples, plus a
        half of the passes over the pairs. It does not depend on the machine.
    """

    def __init__(self, loss, weights, targets):
        self.loss, self.weights, self.targets = loss, weights, targets
        self.work = 0

    def loss_of(self, scores):
        """Compute the weighted loss."""
        if self.loss == "squared":
            losses = (scores[0] - self.targets[0]) ** 2 / 2
        elif self.loss == "logistic":
            losses = np.logaddexp(0, (1 - 2 * self.targets[0]) * scores[0])
        else:
            losses = logsumexp(scores, axis=0) - (scores * self.targets).sum(axis=0)
        return float(losses @ self.weights)

    def means_of(self, scores):
        """Compute the means that the loss compares with the targets."""
        if self.loss == "squared":
            return scores.copy()
        return expit(scores) if self.loss == "logistic" else softmax(scores, axis=0)

    def solve(self, columns, prices, coefficients, tol, max_work=np.inf):
        """Minimize over the coefficients, in place, from where they are.

        Proximal Newton steps: each minimizes a quadratic model of the loss over the
        coefficients that can change, then searches the line to its solution (Yuan, Ho,
        Lin, "An Improved GLMNET for L1-regularized Logistic Regression", JMLR 13, 2012,
        sections 4 and 5). A step of softmax moves all outputs.

        Parameters
        ----------
        columns : ndarray of shape (n_columns, n_words), uint64
        prices : ndarray of shape (n_columns,), float64
            0 for an intercept.
        coefficients : ndarray of shape (n_outputs, n_columns), float64
        tol : float
            Largest distance of 0 from a subgradient, as a fraction of the price.
        max_work : float
            The value of ``work`` from which on no further step is made.
        """
        scores = np.zeros(self.targets.shape)
        add_columns(columns, coefficients, scores)
        self.value = self.loss_of(scores) + (prices * np.abs(coefficients)).sum()
        slopes = np.empty(coefficients.shape)
        for step in range(MAX_STEPS + 1):
            self.means = self.means_of(scores)
            sum_columns(columns, self.weights * (self.means - self.targets), slopes)
            violation = largest_violation(slopes, coefficients, prices)
            if violation <= tol or step == MAX_STEPS or self.work >= max_work:
                return
            active = choose_active(slopes, coefficients, prices, violation)
            new = coefficients[active]
            self.work += len(new) ** 2 * columns.shape[1]
            self._minimize_model(
                self._curvatures(columns, active), slopes[active], prices[active[1]],
                new, max(0.1 * violation, 0.3 * tol), max_work,
            )  # fmt: skip
            change = np.zeros(coefficients.shape)
            change[active] = new - coefficients[active]
            decrease = (slopes * change).sum()
            if not self._search_line(
                columns, prices, coefficients, change, decrease, scores
            ):
                return

    def _minimize_model(self, matrix, slopes, prices, new, tol, max_work):
        """Minimize the quadratic model plus penalty over ``new``, in place.

        Only the coefficients that are not 0, or would leave 0, move at a time. A step
        can be made where the work ends early, too: every pass lowers the model.
        """
        for _ in range(MAX_STEPS):
            moving = (new != 0) | (np.abs(slopes) > prices) | (prices == 0)
            moving = np.flatnonzero(moving)
            n_left = 1 + 2 * max(0, max_work - self.work) / (1 + len(moving) ** 2)
            part, start = np.ascontiguousarray(matrix[moving][:, moving]), new[moving]
            moved = start.copy()
            n_passes = descend(
                part, slopes[moving], prices[moving], moved, tol,
                int(min(MAX_PASSES, n_left)), np.empty((4, len(moving))),
            )  # fmt: skip
            self.work += len(moving) ** 2 * n_passes // 2 + len(new) * len(moving)
            new[moving] = moved
            slopes += np.einsum("ab,a->b", matrix[moving], moved - start)
            is_open = ((np.abs(slopes) > (1 + tol) * prices) & (new == 0)).any()
            if not is_open or self.work >= max_work:
                return

    def _curvatures(self, columns, active):
        """Compute the second derivatives by the active coefficients, rounded."""
        outputs, places = active
        n_outputs, means = len(self.targets), self.means
        starts = np.searchsorted(outputs, np.arange(n_outputs + 1))
        parts = [places[outputs == k] for k in range(n_outputs)]
        matrix = np.empty((len(places), len(places)))
        for k in range(n_outputs):
            for j in range(k + 1):
                if self.loss == "squared":
                    values = self.weights
                else:
                    values = self.weights * means[k] * ((j == k) - means[j])
                unit = np.abs(values).max() / 2**N_DIGITS or 1.0
                # Curvatures are rounded up, what outputs share towards 0: the matrix of
                # each sample keeps its dominant diagonal.
                whole = np.abs(np.ceil(np.minimum(values / unit, 2**N_DIGITS)))
                whole = whole.astype(np.int64)
                digits = whole >> np.arange(N_DIGITS + 1)[:, None] & 1
                block = np.empty((len(parts[k]), len(parts[j])))
                unit = unit if j == k else -unit
                sum_pairs(columns, parts[k], parts[j], pack_dense(digits), unit, block)
                matrix[starts[k] : starts[k + 1], starts[j] : starts[j + 1]] = block
                matrix[starts[j] : starts[j + 1], starts[k] : starts[k + 1]] = block.T
        return matrix

    def _search_line(self, columns, prices, coefficients, change, decrease, scores):
        """Move by the largest of 1, 1/2, 1/4, ... of a change that lowers the value.

        ``decrease`` is the slope of the loss along the change.

        Returns
        -------
        has_moved : bool
        """
        direction = np.zeros(scores.shape)
        add_columns(columns, change, direction)
        penalty = (prices * np.abs(coefficients)).sum()
        whole = (prices * np.abs(coefficients + change)).sum()
        expected = decrease + whole - penalty
        rounding = 1e-15 * abs(self.value)
        for halved in range(40):
            rate = 0.5**halved
            moved = coefficients + rate * change
            value = self.loss_of(scores + rate * direction)
            value += (prices * np.abs(moved)).sum()
            if value <= self.value + 1e-4 * rate * expected + rounding:
                coefficients[:] = moved
                scores += rate * direction
                self.value = value
                return True
        return False


def largest_violation(slopes, coefficients, prices):
    """Compute the largest distance of 0 from a subgradient, in prices."""
    excess = np.abs(slopes + np.sign(coefficients) * prices)
    excess = np.where(coefficients != 0, excess, np.maximum(excess - prices, 0))
    return float((excess / np.where(prices > 0, prices, 1)).max())


def choose_active(slopes, coefficients, prices, violation):
    """Choose the coefficients that a step may change: the others keep their 0.

    Returns
    -------
    active : pair of ndarrays
        Outputs, ascending, and columns.
    """
    used = (coefficients != 0) | (prices == 0)
    slack = min(0.5, max(0.05, violation))
    excess = np.where(used, np.inf, np.abs(slopes) - (1 - slack) * prices)
    limit = np.count_nonzero(used) + MAX_ACTIVE
    if np.count_nonzero(excess >= 0) > limit:
        least = np.partition(excess, -limit, axis=None)[-limit]
        return np.nonzero(excess >= max(least, 0))
    return np.nonzero(excess >= 0)
