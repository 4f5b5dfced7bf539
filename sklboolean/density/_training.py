"""Maximum likelihood for a machine: ascent from several starts, and with new trees.

With all gradients exact the one difficulty is local maxima. Many short ascents, of
which the better half goes on each time, find good ones for the price of a few.
"""

import warnings
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from sklboolean.density._coordinates import Coordinates
from sklboolean.density._likelihood import (
    Table,
    edge_means,
    log_numerators,
    mean_log_likelihood,
)
from sklboolean.density._tree_updates import with_new_tree

SHORT = 25  # iterations of the first ascents; doubled each time half of them goes on
BETWEEN_TREES = 50  # iterations: couplings and units have found their places
WINDOW = 10  # iterations over which a gain must exceed tol
PATIENCE = 25  # iterations without a better score of the held-out rows
MEMORY = 20  # steps that L-BFGS remembers
LARGE = 25.0  # twice that in log-odds: no sample could tell it from infinity


class Settings(NamedTuple):
    """How to learn: the parameters of ``CombinationMachine`` that are needed here."""

    solver: str
    alpha: float
    visible_bias: bool
    max_active: int | None
    learning_rate: float
    momentum: float
    batch_size: int
    max_iter: int
    tol: float
    tree_updates: int
    n_jobs: int | None
    verbose: int


class Run:
    """One ascent: where it is, and what it has seen on the way."""

    def __init__(self, weights):
        self.weights = weights
        self.log_likelihoods = []  # after each iteration
        self.objectives = []  # the same less the penalty
        self.held_out = []  # of the held-out rows, if any
        self.best = weights  # by the held-out rows, if any
        self.n_before = 0  # iterations before the last change of the tree

    def branch(self, weights):
        """Return a run that goes on from changed weights."""
        run = Run(weights)
        run.log_likelihoods = self.log_likelihoods.copy()
        run.objectives = self.objectives.copy()
        run.held_out, run.best = self.held_out.copy(), self.best
        run.n_before = len(run.objectives)
        return run

    def score(self):
        """Return by what runs are compared."""
        return max(self.held_out) if self.held_out else self.objectives[-1]

    def should_stop(self, tol):
        """Return whether nothing is gained any more."""
        seen = self.held_out
        if seen and len(seen) - 1 - int(np.argmax(seen)) >= PATIENCE:
            return True
        lately = self.objectives[self.n_before :][-1 - WINDOW :]
        # Steps with momentum may fall for a while; with tol=0 they never stop.
        return len(lately) > WINDOW and max(lately) - lately[0] < tol


class Ascent:
    """The penalised likelihood of a table in the coordinates of one tree."""

    def __init__(self, run, table, held_out, settings):
        self.run, self.table, self.held_out = run, table, held_out
        self.settings = settings
        self.coordinates = Coordinates(
            len(run.weights.hidden_bias),
            table.visible,
            settings.visible_bias,
            run.weights.parents,
        )
        tree = run.weights.parents
        self.edges = None if tree is None else edge_means(table, tree)
        self.seen = None

    def evaluate(self, vector):
        """Return the objective and its gradient, to be maximised."""
        weights = self.coordinates.weights_of(vector)
        limits = self.settings.max_active, self.settings.n_jobs
        penalised = self.coordinates.penalised(vector)
        # Of overflow the error below says more.
        with np.errstate(over="ignore", invalid="ignore"):
            value, gradient, log_z = mean_log_likelihood(
                weights, self.table, self.edges, *limits
            )
            objective = value - self.settings.alpha / 2 * (penalised @ penalised)
        slope = self.coordinates.gradient_of(gradient) - self.settings.alpha * penalised
        if not np.isfinite(objective):
            raise ValueError(
                f"The weights grew without bound: learning_rate="
                f"{self.settings.learning_rate} is too large. Take a tenth of it."
            )
        self.seen = vector.copy(), objective, slope, value, log_z
        return objective, slope

    def record(self, vector):
        """Note an iteration; raise StopIteration when it was the last."""
        if not np.array_equal(vector, self.seen[0]):
            self.evaluate(vector)
        # The solver may write on its own vector; what was seen is a copy.
        own, objective, _, value, log_z = self.seen
        run = self.run
        run.weights = self.coordinates.weights_of(own)
        run.log_likelihoods.append(value)
        run.objectives.append(objective)
        if self.held_out is not None:
            scores = log_numerators(
                run.weights, self.held_out.signs, self.settings.max_active
            )
            log_base = self.held_out.log_base - log_z
            run.held_out.append(float(self.held_out.shares @ scores + log_base))
            if run.held_out[-1] == max(run.held_out):
                run.best = run.weights
        if self.settings.verbose:
            print(
                f"Iteration {len(run.objectives)}: mean log-likelihood {value:.4f} nats"
            )
        if run.should_stop(self.settings.tol):
            raise StopIteration

    def by_lbfgs(self, n_iter):
        """Take steps of limited-memory BFGS."""
        start = self.coordinates.vector_of(self.run.weights)
        self._by_lbfgs(n_iter, start, lambda vector: vector, lambda slope: slope)

    def by_refit(self, n_iter):
        """Learn biases, couplings and one scale for each hidden unit.

        Projection pursuit finds its units as if they knew nothing of one another,
        which is right for orthogonal weights only: their directions are kept.
        """
        whole = self.coordinates.vector_of(self.run.weights)
        m, n = self.run.weights.components.shape
        directions = whole[: m * n].reshape(m, n)

        def whole_of(vector):
            scaled = vector[:m, None] * directions
            return np.concatenate([scaled.ravel(), vector[m:]])

        def slope_of(slope):
            by_scale = (slope[: m * n].reshape(m, n) * directions).sum(axis=1)
            return np.concatenate([by_scale, slope[m * n :]])

        start = np.concatenate([np.ones(m), whole[m * n :]])
        self._by_lbfgs(n_iter, start, whole_of, slope_of)

    def _by_lbfgs(self, n_iter, start, whole_of, slope_of):
        """Take steps in coordinates of which the vector is a linear function."""

        def descent(vector):
            value, slope = self.evaluate(whole_of(vector))
            return -value, -slope_of(slope)

        options = {"maxiter": n_iter, "maxcor": MEMORY, "ftol": 0.0, "gtol": 1e-9}
        options["maxfun"] = 20 * n_iter
        minimize(
            descent,
            start,
            jac=True,
            method="L-BFGS-B",
            callback=lambda vector: self.record(whole_of(vector)),
            options=options,
        )

    def by_momentum(self, n_iter):
        """Climb with a fixed step and momentum (Freund, section 4.4)."""
        vector = self.coordinates.vector_of(self.run.weights)
        velocity, settings = np.zeros_like(vector), self.settings
        self.evaluate(vector)
        for _ in range(n_iter):
            velocity *= settings.momentum
            velocity += settings.learning_rate * self.seen[2]
            vector = vector + velocity
            self.evaluate(vector)
            try:
                self.record(vector)
            except StopIteration:
                return


def _advance(run, n_iter, table, held_out, settings):
    """Let a run go on."""
    n_iter = min(n_iter, settings.max_iter - len(run.objectives))
    if n_iter <= 0:
        return
    ascent = Ascent(run, table, held_out, settings)
    {
        "lbfgs": ascent.by_lbfgs,
        "gradient": ascent.by_momentum,
        "projection_pursuit": ascent.by_refit,
    }[settings.solver](n_iter)
    if not run.objectives:
        # The start was a maximum already: no step was taken.
        ascent.record(ascent.coordinates.vector_of(run.weights))


def _advanced(run, n_iter, settings, *tables):
    """Let a run go on, wherever it is; the fields of one or two tables follow."""
    width = len(Table._fields)
    table, held_out = Table(*tables[:width]), tables[width:]
    _advance(run, n_iter, table, Table(*held_out) if held_out else None, settings)
    return run


def learn(starts, table, n_samples, settings, rng, held_out=None):
    """Learn the weights of a machine.

    Parameters
    ----------
    starts : iterable of Weights
        Where to start; the better half goes on until one is left.
    table : Table
    n_samples : float
        Rows that the table stands for.
    settings : Settings
    rng : RandomState
        For new trees.
    held_out : Table or None
        Rows that choose between starts and iterations.

    Returns
    -------
    run : Run
    """
    runs, n_iter = [Run(start) for start in starts], SHORT
    # Runs are the coarser work: each on one thread, with its tables as plain arguments,
    # which a cluster's backend sends once for all of them.
    alone = settings._replace(n_jobs=1)
    tables = [*table, *(held_out or ())]
    while len(runs) > 1:
        runs = Parallel(n_jobs=settings.n_jobs, prefer="threads")(
            delayed(_advanced)(run, n_iter, alone, *tables) for run in runs
        )
        runs.sort(key=Run.score, reverse=True)
        runs, n_iter = runs[: (len(runs) + 1) // 2], 2 * n_iter
    run = _with_better_trees(runs[0], table, n_samples, settings, rng, held_out)
    _advance(run, settings.max_iter, table, held_out, settings)
    return run


def _with_better_trees(run, table, n_samples, settings, rng, held_out):
    """Learn the tree again and again, as long as the run gets further with it."""
    if run.weights.parents is None or not settings.tree_updates:
        return run
    _advance(run, BETWEEN_TREES, table, held_out, settings)
    for _ in range(settings.tree_updates):
        renewed = with_new_tree(run.weights, table, n_samples, rng, settings.max_active)
        if renewed is run.weights or len(run.objectives) >= settings.max_iter:
            return run
        trial = run.branch(renewed)
        _advance(trial, BETWEEN_TREES, table, held_out, settings)
        if trial.score() <= run.score():
            return run
        run = trial
    return run


def warn_of_large_weights(weights, alpha):
    """Warn when rows can be told apart so well that weights grow without bound."""
    couplings = [] if weights.couplings is None else weights.couplings
    largest = max(
        np.abs(part).max() for part in (weights.components, [0.0, *couplings])
    )
    if largest > LARGE:
        warnings.warn(
            f"A weight has grown to {largest:.3g}: some rows can be told from all "
            "others, and weights without bound make them ever more likely. Raise "
            f"alpha, now {alpha}, set early_stopping=True (not for solver='pcd'), or "
            "take a smaller learning_rate (not for solver='lbfgs').",
            ConvergenceWarning,
            stacklevel=3,
        )
