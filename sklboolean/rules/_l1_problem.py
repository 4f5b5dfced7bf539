"""L1 problems over columns of bits: a loss of weighted sums, and a price for each."""

# Proximal Newton: Yuan, Ho, Lin, "An Improved GLMNET for L1-regularized Logistic
# Regression", JMLR 13, 2012, sections 4 and 5. Steps of `L1Problem.solve`:
# 1. Slopes of the loss by all coefficients, from the means of the samples.
# 2. Stop where 0 is nearly a subgradient. Else choose the active coefficients: those
#    other than 0, and the ones that violate their price most.
# 3. Curvatures of the active coefficients (`Curvatures`): counted once, kept until a
#    tenth of them has moved.
# 4. Minimize the quadratic model plus penalty: coordinate descent finds the signs, a
#    Cholesky factor moves all coefficients other than 0 at once. Several outputs have a
#    model each. Where these converge slowly, conjugate gradients move the coefficients
#    other than 0 of all outputs, with the factors as preconditioner.
# 5. Halve the change until the objective falls, and go to 1. With several outputs most
#    of the slopes are not looked at until the active coefficients fit.
#
# Invariant: `scores` are the sums of columns times coefficients, of shape (n_outputs,
# 64 * n_words). Rows behind the last sample have weight 0. Few outputs of softmax share
# one quadratic model, by pairs of outputs.

from itertools import combinations

import numpy as np
from scipy.linalg import cho_solve
from scipy.special import expit, softmax

from sklboolean._core.parallel import each_slice
from sklboolean.rules._bit_columns import (
    SIDE_BY_SIDE,
    add_columns,
    descend,
    sum_columns,
    sum_columns_of_many,
)
from sklboolean.rules._curvatures import Curvatures
from sklboolean.rules._kept_factor import KeptFactor, factor

# Coefficients besides those other than 0 that one step may change, at least.
MIN_ADDED = 64
# Passes of coordinate descent between two moves of all coefficients other than 0, and
# the most such rounds for a quadratic model: a next step makes up for a coarse one.
N_PASSES, MAX_ROUNDS = 3, 8
MAX_STEPS = 100
# Outputs of softmax up to which a step minimizes one model over all of them, by the
# curvatures of pairs. Else each output has its own model. Where a step of these has not
# halved the largest violation of a price, so many conjugate gradients couple them.
MOST_PAIRED, MAX_COUPLED = 3, 12
# With more outputs than are paired, the next steps have the same active coefficients
# until these violate their prices by this share of what all did.
CLOSER = 0.3
# Share of the curvatures that may have moved before they are counted again.
MAX_CHANGE = 0.1
# Samples whose losses are computed at a time, those that one thread is done with before
# another has started, and words of columns likewise.
LOSSES, SAMPLES_FOR_THREADS, WORDS_FOR_THREADS = 2**16, 2**12, 2**12


class L1Problem:
    """A weighted loss of sums of columns, plus prices times absolute coefficients.

    Parameters
    ----------
    loss : {"logistic", "softmax", "squared"}
    weights : ndarray of shape (64 * n_words,), float64
        Weights of the samples; 0 behind the last one.
    targets : ndarray of shape (n_outputs, 64 * n_words), float64 or bool
        0 or 1 for the logistic loss, one-hot for softmax.
    n_jobs : int or None

    Attributes
    ----------
    means : ndarray of shape (n_outputs, 64 * n_words)
        Means of the last solution: probabilities, or scores for the squared loss.
    value : float
        Objective of the last solution.
    work : int
        Work done so far, in nanoseconds of a core with AVX2. It is computed from the
        sizes of what is done, and does not depend on the machine.
    """

    def __init__(self, loss, weights, targets, n_jobs=1):
        self.loss, self.weights, self.targets = loss, weights, targets
        self.n_jobs = n_jobs
        models = [[(k, k)] for k in range(len(targets))]
        if loss == "softmax":
            models.append(list(combinations(range(len(targets)), 2)))
        self.curvatures = [Curvatures(pairs, n_jobs) for pairs in models]
        self.work = 0

    def keep(self, columns):
        """Forget all columns but these."""
        for curvatures in self.curvatures:
            curvatures.keep(columns)

    def loss_of(self, scores, direction=None, rate=0.0):
        """Compute the weighted loss of scores, or of what a step makes of them."""
        total = 0.0
        for first in range(0, scores.shape[1], LOSSES):
            weights = self.weights[first : first + LOSSES]
            losses = np.empty(len(weights))

            def fill(begin, end, first=first, losses=losses):
                part = slice(first + begin, first + end)
                moved = scores[:, part]
                if direction is not None:
                    moved = moved + rate * direction[:, part]
                losses[begin:end] = self._losses(moved, self.targets[:, part])

            self._by_samples(fill, len(losses))
            total += float(losses @ weights)
        return total

    def _by_samples(self, function, n_samples):
        """Call a function for slices of samples, in threads."""
        small = n_samples < SAMPLES_FOR_THREADS
        each_slice(function, n_samples, self.n_jobs, multiple=64, small=small)

    def _by_words(self, function, n, columns):
        """Call a function for slices of columns, or of their words, in threads."""
        each_slice(function, n, self.n_jobs, small=columns.size < WORDS_FOR_THREADS)

    def _add_columns(self, columns, coefficients, scores):
        """Add the columns times their coefficients to the scores."""

        def add(first, last):
            add_columns(columns, coefficients, scores, first, last)

        self._by_words(add, columns.shape[1], columns)

    def _losses(self, scores, targets):
        """Compute the loss of each sample."""
        if self.loss == "squared":
            return (scores[0] - targets[0]) ** 2 / 2
        if self.loss == "logistic":
            return np.logaddexp(0, (1 - 2 * targets[0]) * scores[0])
        # log1p of what is left out of the own class, so that a small loss keeps its
        # digits.
        excess = scores - (scores * targets).sum(axis=0)
        largest = np.maximum(excess.max(axis=0), 0.0)
        excess -= largest
        terms = np.exp(excess, out=excess)
        terms *= targets == 0
        return largest + np.log1p(np.expm1(-largest) + terms.sum(axis=0))

    def means_of(self, scores):
        """Compute the means that the loss compares with the targets."""
        if self.loss == "squared":
            return scores.copy()
        means = np.empty_like(scores)

        def fill(first, last):
            part = scores[:, first:last]
            is_logistic = self.loss == "logistic"
            means[:, first:last] = expit(part) if is_logistic else softmax(part, axis=0)

        self._by_samples(fill, scores.shape[1])
        return means

    def solve(
        self, columns, prices, signs, coefficients, tol, max_work=np.inf, watch=None, *,
        balances=False,
    ):  # fmt: skip
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
        signs : ndarray of shape (n_columns,), int8
            1 or -1 where coefficients must not have the other sign; 0 for either.
        coefficients : ndarray of shape (n_outputs, n_columns), float64
        tol : float
            Largest distance of 0 from a subgradient, as a fraction of the price.
        max_work : float
            Value of ``work`` from which on no further step is made.
        watch : object or None
            Where its ``after_step()`` returns true, no further step is made.
        balances : bool
            Whether to move the intercepts, in column 0, at the end to where residuals
            have the weighted sum 0.
        """
        self.max_work = max_work
        self.scores = np.zeros(self.targets.shape)
        self._add_columns(columns, coefficients, self.scores)
        self.value = self.loss_of(self.scores) + (prices * np.abs(coefficients)).sum()
        at = columns, prices, signs, coefficients
        chosen, before, whole = None, np.inf, np.inf
        for step in range(MAX_STEPS + 1):
            self.update_means()
            slopes, active, worst = self._slopes_and_active(*at, chosen)
            if chosen is not None and worst <= max(tol, CLOSER * whole):
                chosen, before = None, np.inf
                slopes, active, worst = self._slopes_and_active(*at)
            whole = worst if chosen is None else whole
            if whole <= tol or step == MAX_STEPS or self.work >= max_work:
                break
            goal, is_slow = max(0.1 * worst, 0.3 * tol), worst > 0.5 * before
            change = self._minimize_models(*at, slopes, active, goal, renew=is_slow)
            before, decrease = worst, (slopes * change).sum()
            has_moved = self._search_line(
                columns, prices, coefficients, change, decrease
            )
            if not has_moved or (watch is not None and watch.after_step()):
                self.update_means()
                break
            chosen = active if len(coefficients) > MOST_PAIRED else None
        if balances:
            coefficients[:, 0] += self._balanced()
            self.value = self.loss_of(self.scores)
            self.value += (prices * np.abs(coefficients)).sum()
        self.scores = None  # frees memory

    def _balanced(self):
        """Move all scores to where residuals have the sum 0, by how much is returned.

        Newton's method, while it brings the sum nearer to 0.
        """
        shift = step = np.zeros(len(self.scores))
        least = np.inf
        for _ in range(20):
            self.scores += step[:, None]
            self.update_means()
            values = self.means - self.targets
            values *= self.weights
            excess, values = values.sum(axis=1), None  # frees memory
            if not np.abs(excess).max() < 0.5 * least:
                self.scores -= step[:, None]
                self.update_means()
                break
            shift, least = shift + step, np.abs(excess).max()
            hessian = self._curvature_of_intercepts()
            step = -np.linalg.lstsq(hessian, excess, rcond=1e-12)[0]
        return shift

    def _curvature_of_intercepts(self):
        """Compute the second derivatives of the loss by the intercepts."""
        if self.loss == "squared":
            return np.eye(len(self.means)) * self.weights.sum()
        weighted = self.means * self.weights
        return np.diag(weighted.sum(axis=1)) - weighted @ self.means.T

    def update_means(self):
        """Set the means of the samples by their scores."""
        self.means = None  # frees memory
        self.means = self.means_of(self.scores)

    def _slopes_and_active(self, columns, prices, signs, coefficients, active=None):
        """Compute slopes, the active coefficients, unless given, and what they violate.

        Returns
        -------
        slopes : ndarray of shape (n_outputs, n_columns)
        active : ndarray of shape (2, n_active), int64
        worst : float
            The largest violation of a price, those of given coefficients only.
        """
        slopes = self.slopes(columns, active)
        # What only a forbidden sign would follow pulls nothing away from 0.
        pulls = np.where((coefficients == 0) & (slopes * signs > 0), 0.0, slopes)
        if active is None:
            active = np.array(choose_active(pulls, coefficients, prices))
        return slopes, active, largest_violation(pulls, coefficients, prices)

    def _minimize_models(
        self, columns, prices, signs, coefficients, slopes, active, goal, *, renew
    ):
        """Compute the change to the minimum of each quadratic model plus penalty."""
        change, models, blocks = np.zeros(coefficients.shape), self._models(active), []
        for model, chosen in models:
            # Models of one output each are not exact, however new their curvatures are.
            matrix = self.curvature(
                columns, model, chosen, renew=renew and len(models) == 1
            )
            entries, at = tuple(chosen), chosen[1]
            start = slopes[entries], prices[at], signs[at], coefficients[entries]
            new = self._minimize_model(matrix, *start, goal)
            change[entries] = new - coefficients[entries]
            blocks.append((chosen, matrix, (new != 0) | (prices[at] == 0)))
        if renew and len(models) > 1:
            self._couple(columns, prices, coefficients, slopes, change, blocks, goal)
        return change

    def _couple(self, columns, prices, coefficients, slopes, change, blocks, goal):
        """Move coefficients other than 0 towards the minimum of a model of all outputs.

        From ``change``, which is overwritten if that lowers the model. Coefficients
        that would change their sign become 0, as in `_move_support`. ``blocks`` are the
        active coefficients of each output, their second derivatives and which move.
        """
        support = np.hstack([chosen[:, moves] for chosen, _, moves in blocks])
        entries, ends = tuple(support), np.cumsum([b[2].sum() for b in blocks])[:-1]
        try:
            factors = [factor(matrix, moves) for _, matrix, moves in blocks]
        except np.linalg.LinAlgError:
            return

        def bend(moved):
            everywhere = np.zeros(coefficients.shape)
            everywhere[entries] = moved
            return self._bent(columns, everywhere, support)[entries]

        def precondition(values):
            parts = zip(factors, np.split(values, ends), strict=True)
            return np.concatenate(
                [cho_solve(*pair, check_finite=False) for pair in parts]
            )

        def value_of(moved, bent):
            penalty = price @ np.abs(before + moved)
            return slope @ moved + moved @ bent / 2 + penalty

        before, start, slope = coefficients[entries], change[entries], slopes[entries]
        price, signs, bent = prices[support[1]], np.sign(before + start), bend(start)
        residual = -(slope + bent + signs * price)
        limits = goal * np.where(price > 0, price, 1)
        step = conjugate_gradients(bend, precondition, residual, limits)
        new = before + start + step
        new[(signs * new < 0) & (price > 0)] = 0.0
        if value_of(new - before, bend(new - before)) < value_of(start, bent):
            change[entries] = new - before

    def _bent(self, columns, change, active):
        """Compute how a change of coefficients moves the slopes of active ones."""
        moved = np.zeros(self.scores.shape)
        self._add_columns(columns, change, moved)
        moved -= (self.means * moved).sum(axis=0)
        moved *= self.means
        moved *= self.weights
        return self._sums(columns, moved, active)

    def slopes(self, columns, active=None):
        """Compute the slopes of the loss by the coefficients of columns.

        With ``active`` only those of these coefficients; the others are 0.
        """
        values = self.means - self.targets
        values *= self.weights
        return self._sums(columns, values, active)

    def _sums(self, columns, values, active=None):
        """Add up the values of each output over the samples of columns."""
        n_outputs, n_columns = len(values), len(columns)
        # With what each sample takes for its means and its loss.
        self.work += 30 * values.size
        if active is not None or n_outputs < SIDE_BY_SIDE:
            slopes = np.zeros((n_outputs, n_columns))
            wanted = np.full(slopes.shape, active is None)
            if active is not None:
                wanted[tuple(active)] = True
            self.work += 8 * columns.shape[1] * np.count_nonzero(wanted)

            def sum_part(first, last):
                part = slice(first, last)
                sum_columns(columns[part], values, slopes[:, part], wanted[:, part])

            self._by_words(sum_part, n_columns, columns)
            return slopes
        # Many outputs: the values of a sample lie side by side for the vector unit.
        width = -(-n_outputs // SIDE_BY_SIDE) * SIDE_BY_SIDE
        self.work += 3 * columns.size * width
        by_sample, sums = np.zeros((len(values.T), width)), np.empty((n_columns, width))
        by_sample[:, :n_outputs] = values.T

        def sum_side_by_side(first, last):
            sum_columns_of_many(columns[first:last], by_sample, sums[first:last])

        self._by_words(sum_side_by_side, n_columns, columns)
        return np.ascontiguousarray(sums[:, :n_outputs].T)

    def _models(self, active):
        """Split active coefficients into those with a quadratic model in common."""
        if len(self.targets) <= MOST_PAIRED:
            return [(-1, active)]
        return [(k, active[:, active[0] == k]) for k in set(active[0])]

    def curvature(self, columns, model, active, *, renew):
        """Compute the second derivatives by the active coefficients, rounded.

        With a few classes they are a sum over pairs of classes: the product of the two
        probabilities is the curvature of the difference of the two scores. With more
        they are those of the scores of one class.
        """
        curvatures = self.curvatures[model]
        work, values = curvatures.work, self.curvature_values(model)
        renew &= self.loss != "squared"
        if renew or curvatures.has_moved(values, MAX_CHANGE):
            curvatures.round(values)
        matrix = curvatures.among(columns, active)
        self.work += curvatures.work - work
        # One-hot columns depend on each other: this makes the matrix regular.
        matrix[np.diag_indices(len(matrix))] *= 1.0001
        return matrix

    def curvature_values(self, model):
        """Compute the curvatures of each sample, for each pair of a model."""
        pairs = self.curvatures[model].pairs
        values = np.array([self.weights] * len(pairs))
        if self.loss != "squared":
            for row, (k, j) in zip(values, pairs, strict=True):
                row *= self.means[k] * (1 - self.means[j] if k == j else self.means[j])
        return values

    def _minimize_model(self, matrix, slopes, prices, signs, new, tol):
        """Minimize the quadratic model plus penalty over ``new``, in place.

        A few passes of coordinate descent choose which coefficients are 0; then all
        others move together.
        """
        kept = KeptFactor(matrix)
        for _ in range(MAX_ROUNDS):
            n_passes = descend(matrix, slopes, prices, signs, new, tol, N_PASSES)
            self.work += len(new) ** 2 * N_PASSES
            if n_passes < N_PASSES - 1 or self.work >= self.max_work:
                break
            self._move_support(kept, slopes, prices, new)
        return new

    def _move_support(self, kept, slopes, prices, new):
        """Move the coefficients other than 0 towards the minimum for their signs.

        Coefficients that would change their sign become 0. The step is halved until it
        lowers the model.
        """
        support = np.flatnonzero((new != 0) | (prices == 0))
        signs, start = np.sign(new[support]), new[support]
        slope, change = slopes[support] + signs * prices[support], np.zeros(len(new))
        try:
            step = kept.solve(support, -slope)
        except np.linalg.LinAlgError:
            return
        self.work += len(support) ** 3 // 12 + 2 * len(new) ** 2
        for halved in range(7):
            moved = start + 0.5**halved * step
            moved[(signs * moved < 0) & (prices[support] > 0)] = 0.0
            change[support] = moved - start
            bent = kept.matrix @ change
            decrease = slopes @ change + 0.5 * change @ bent
            decrease += prices[support] @ (np.abs(moved) - np.abs(start))
            if decrease < 0:
                new[support] = moved
                slopes += bent
                return

    def _search_line(self, columns, prices, coefficients, change, decrease):
        """Move by the largest of 1, 1/2, 1/4, ... of a change that lowers the value.

        ``decrease`` is the slope of the loss along the change.

        Returns
        -------
        has_moved : bool
        """
        direction = np.zeros(self.scores.shape)
        self._add_columns(columns, change, direction)
        penalty = (prices * np.abs(coefficients)).sum()
        penalty_after = (prices * np.abs(coefficients + change)).sum()
        # Armijo's rule for the loss and the penalty together.
        expected = decrease + penalty_after - penalty
        rounding = 1e-15 * abs(self.value)
        for halved in range(40):
            rate = 0.5**halved
            moved = coefficients + rate * change
            value = self.loss_of(self.scores, direction, rate)
            value += (prices * np.abs(moved)).sum()
            if value <= self.value + 1e-4 * rate * expected + rounding:
                coefficients[:] = moved
                direction *= rate
                self.scores += direction
                self.value = value
                return True
        return False


def conjugate_gradients(multiply, precondition, residual, limits):
    """Solve a linear system, nearly, by products with its matrix.

    Parameters
    ----------
    multiply : callable
        Multiplies a vector by the matrix.
    precondition : callable
        Multiplies a vector by about the inverse of the matrix.
    residual : ndarray of shape (n,)
        What the product with the solution should be; overwritten.
    limits : ndarray of shape (n,)
        Errors of this product that are small enough.

    Returns
    -------
    solution : ndarray of shape (n,)
    """
    solution, direction, size = np.zeros(len(residual)), 0.0, np.inf
    for _ in range(MAX_COUPLED):
        if (np.abs(residual) <= limits).all():
            break
        ahead = precondition(residual)
        size, last = residual @ ahead, size
        direction = ahead + size / last * direction
        product = multiply(direction)
        curvature = direction @ product
        if not curvature > 0:
            break
        solution += size / curvature * direction
        residual -= size / curvature * product
    return solution


def largest_violation(slopes, coefficients, prices):
    """Compute the largest distance of 0 from a subgradient, in prices."""
    excess = np.abs(slopes + np.sign(coefficients) * prices)
    excess = np.where(coefficients != 0, excess, np.maximum(excess - prices, 0))
    return float((excess / np.where(prices > 0, prices, 1)).max())


def choose_active(slopes, coefficients, prices):
    """Choose the coefficients that a step may change: the others keep their 0.

    All others than 0 may, and as many as half of these that would leave 0 soonest.

    Returns
    -------
    active : pair of ndarrays, int64
        Outputs, ascending, and columns.
    """
    # By how much of its price a slope exceeds it; infinite for those in use.
    used = (coefficients != 0) | (prices == 0)
    excess = np.where(
        used, np.inf, np.abs(slopes) / np.where(prices > 0, prices, 1) - 1
    )
    limit = np.count_nonzero(used) + max(MIN_ADDED, np.count_nonzero(used) // 2)
    if np.count_nonzero(excess > 0) > limit:
        least = np.partition(excess, -limit, axis=None)[-limit]
        return np.nonzero(excess >= max(least, 0))
    return np.nonzero(excess > 0)
