"""Dual perceptrons in several orders of the samples, one for each class if need be."""

# `fit` trains n_orders * n_problems perceptrons over the same samples:
# 1. `Layout` lays the samples out once, the support of earlier training first.
# 2. `Orders.choose_passes` trains on folds with 1, 3 and `max_iter` passes, as long as
# the log-loss on the held-out samples falls.
# 3. `Orders.train` trains a perceptron for each order and class, in threads. Order k
# has the seed `seed + k`, so the result does not depend on the number of threads.
# 4. `Orders.add_up` adds up coefficients and time sums of all orders: the sum of the
# means is the mean of the sums.
# Shapes: coef and time_sums of a run are int64 of shape (rule.n_scores, n_rows), with a
# column for each row of the layout.

from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np
from scipy import sparse

from sklboolean._core.base import History
from sklboolean._core.bits import as_csr, as_words
from sklboolean._core.calibration import calibrated_loss
from sklboolean._core.held_out import stratified_folds
from sklboolean._core.parallel import in_threads
from sklboolean._core.progress import SILENT
from sklboolean.kernels._conjunction_weights import ConjunctionWeights, n_additions
from sklboolean.kernels._dual_model import kernel_norms
from sklboolean.kernels._dual_state import DualState
from sklboolean.kernels._dual_training import (
    BudgetRun,
    ConjunctionRun,
    DualRun,
    PerceptronTask,
    UpdateRule,
)
from sklboolean.kernels._evaluators import GramRows, make_evaluator, seconds_of_pairs

# Numbers of passes among which early stopping chooses, besides the largest.
PASSES = (1, 3)
N_FOLDS = 5
ENOUGH_HELD_OUT = 1000


@dataclass(frozen=True)
class Layout:
    """The support samples of earlier training and the new samples, laid out.

    Attributes
    ----------
    evaluator : evaluator of the kernel
    table : ndarray of uint64 words, csr_array, or None
        The samples; None if the kernel is precomputed.
    numbers : ndarray of shape (n_samples,), int64
        Numbers of the samples in the stream.
    rows : laid-out samples
        The support samples first, then the new ones.
    """

    evaluator: object
    table: object
    numbers: np.ndarray
    rows: object

    @classmethod
    def of(cls, state, data, samples, n_jobs):
        """Lay out the support of a state and some samples of the data."""
        config = state.config
        if config.is_precomputed:
            return cls(make_evaluator(config), None, samples, GramRows(data, samples))
        table = data if len(samples) == data.shape[0] else data[samples]
        numbers = state.n_seen + np.arange(len(samples))
        numbers = np.concatenate([state.support, numbers])
        if state.table is not None:
            table = stack_tables(state.table, table, config.n_features)
        evaluator = make_evaluator(config, table, n_jobs)
        rows = evaluator.layout(table, sparse.issparse(table))(table)
        return cls(evaluator, table, numbers, rows)

    @property
    def has_weights(self):
        """Whether conjunctions have weights, and samples are not compared in pairs."""
        return ConjunctionWeights.suits(self.evaluator, self.rows)

    def expected_seconds(self, n_passes, max_support=None):
        """Estimate the seconds of so many passes over samples with noise."""
        if max_support is not None:  # in proportion to the samples
            return 0.0
        if not self.has_weights:
            return seconds_of_pairs(self.rows) * n_passes / 50
        n_conjunctions = n_additions(self.evaluator.table, self.rows)
        return n_passes * (8e-8 * len(self.rows) + 2.4e-10 * n_conjunctions)

    def norms(self, n_samples):
        """Compute sqrt(K(x, x)) of the last samples; 1 for 0."""
        norms = kernel_norms(self.evaluator, self.rows)
        return norms[len(norms) - n_samples :]


def stack_tables(first, second, n_features):
    """Stack two tables of Boolean samples in the form of the first."""
    if not sparse.issparse(first):
        return np.concatenate([first, as_words(second)])
    rows = [first, as_csr(second, n_features)]
    return sparse.csr_array(sparse.vstack(rows, format="csr"))


@dataclass(frozen=True)
class Orders:
    """The samples of one training call, and what all perceptrons over them share.

    Attributes
    ----------
    state : DualState
        The state before training. Only an empty one is trained in several orders.
    layout : Layout
    codes : ndarray of shape (n_samples,), int
        Class numbers of the new samples.
    weights : ndarray of shape (n_samples,), float64
        For the loss on held-out samples.
    sizes : ndarray of shape (n_samples,), int64
        What an update adds, over the resolution of the state.
    rule : UpdateRule
    max_support : int or None
    shuffle : bool
        False: each pass keeps the order of the samples.
    seed : int
        Order number k has the seed ``seed + k``.
    n_jobs : int or None
    """

    state: DualState
    layout: Layout
    codes: np.ndarray
    weights: np.ndarray
    sizes: np.ndarray
    rule: UpdateRule
    max_support: int | None
    shuffle: bool
    seed: int
    n_jobs: int | None

    def train(self, tasks, max_iter, subset=None, progress=SILENT):
        """Train a perceptron for each task, in threads.

        Parameters
        ----------
        tasks : iterable of (order, problem)
            Numbers of an order and of a problem, the problems of one order together.
        max_iter : int
            Largest number of passes.
        subset : ndarray of int or None
            The samples to train on; None: all.
        progress : Progress
            Each perceptron is a step; of a single one, each pass.

        Returns
        -------
        runs : list of DualRun
            Fewer than tasks if a callback stopped the fit.
        """
        tasks = list(tasks)
        if len(tasks) == 1:
            return [self._train_one(*tasks[0], max_iter, subset, progress)]
        progress.count("model", len(tasks))
        of_runs = ((*task, max_iter, subset) for task in tasks)
        runs, stop = [], False
        for run in in_threads(self._train_one, of_runs, self.n_jobs):
            runs.append(run)
            stop = progress.step(run.history.last) or stop
            # Each order keeps a model of every class.
            if stop and len(runs) % self.state.config.n_problems == 0:
                break
        return runs

    def _train_one(self, order, problem, max_iter, subset=None, progress=SILENT):
        """Train the perceptron of one problem in one order."""
        task, evaluator = self._task(problem, subset), self.layout.evaluator
        rng = np.random.RandomState((self.seed + order) % 2**32)
        if self.max_support is not None:
            run = BudgetRun(evaluator, self.rule, task, self.max_support, rng)
        elif ConjunctionRun.is_exact(
            evaluator, task.rows, task.largest_total(max_iter)
        ):
            run = ConjunctionRun(evaluator, self.rule, task)
        else:
            run = DualRun(evaluator, self.rule, task)
        run.train(max_iter, rng if self.shuffle else None, progress)
        return run

    def _task(self, problem, subset):
        """Collect what the perceptron of one problem is trained on."""
        state, n_scores = self.state, self.rule.n_scores
        codes, sizes, rows = self.codes, self.sizes, self.layout.rows
        if state.config.n_problems > 1:
            codes = codes == problem
        if subset is not None:
            codes, sizes, rows = codes[subset], sizes[subset], rows.take(subset)
        scores = slice(problem * n_scores, (problem + 1) * n_scores)
        columns_to_add = ((0, 0), (0, len(codes)))
        coef = np.pad(state.coef[scores], columns_to_add)
        time_sums = np.pad(state.coef_time_sums[scores], columns_to_add)
        codes = codes.astype(np.int32)
        return PerceptronTask(rows, codes, sizes, coef, time_sums, state.n_seen)

    def choose_passes(self, max_iter):
        """Choose the number of passes by the log-loss on held-out samples.

        More passes are tried as long as they make it smaller.

        Returns
        -------
        n_passes : int
        held_out : tuple of ndarrays (scores, codes, weights), or None
            The held-out samples and their scores after so many passes. None without
            normalisation: scores then grow with the number of passes.
        loss : float
            Their log-loss.
        """
        chosen, best, least = 1, None, np.inf
        # The first loss that is not smaller ends the search.
        for n_passes in [*[n for n in PASSES if n < max_iter], max_iter]:
            held_out = self._held_out(n_passes)
            loss = calibrated_loss(*held_out)
            if not loss < least:
                break
            chosen, best, least = n_passes, held_out, loss
        return chosen, best if self.state.config.normalize else None, least

    def _held_out(self, n_passes):
        """Score held-out samples after so many passes over the others.

        A fifth of each class is held out from one order; with few samples each fifth
        in turn.
        """
        folds = stratified_folds(self.codes, N_FOLDS, np.random.default_rng(0))
        test_indices, scores = [], []
        for fold in range(N_FOLDS):
            train_index = np.flatnonzero(folds != fold)
            test_index = np.flatnonzero(folds == fold)
            # One fold of many samples is enough; of few samples each fold is held out.
            is_enough = fold and fold * len(test_index) >= ENOUGH_HELD_OUT
            if is_enough or not len(test_index):
                break
            tasks = [(fold, k) for k in range(self.state.config.n_problems)]
            runs = self.train(tasks, n_passes, train_index)
            test_indices.append(test_index)
            scores.append(self._scores(runs, n_passes, train_index, test_index))
        test_index, scores = np.concatenate(test_indices), np.concatenate(scores)
        scores = scores[:, 0] if scores.shape[1] == 1 else scores
        return scores, self.codes[test_index], self.weights[test_index]

    def _scores(self, runs, n_passes, train_index, test_index):
        """Score held-out samples by the mean hypothesis after so many passes."""
        evaluator, rows = self.layout.evaluator, self.layout.rows
        coef = np.concatenate([run.coef for run in runs])
        time_sums = np.concatenate([run.time_sums for run in runs])
        # The mean is over all passes, also of a perceptron that has converged earlier.
        n_means = n_passes * len(train_index) + 1
        summed = (n_means * coef - time_sums).astype(np.float64)
        used = np.flatnonzero(summed.any(axis=0))
        support, queries = rows.take(train_index[used]), rows.take(test_index)
        coefficients = np.ascontiguousarray(summed[:, used])
        if self.layout.has_weights:
            weights = ConjunctionWeights(evaluator, len(summed))
            weights.add(support, coefficients)
            scores = weights.scores(queries)
        else:
            scores = np.zeros((len(summed), len(test_index)))
            evaluator.add_queries(support, coefficients, queries, scores)
        scale = self.state.resolution
        if self.state.config.normalize:
            scale = scale * n_means * kernel_norms(evaluator, queries)
        return (scores / scale).T

    def add_up(self, runs, n_passes):
        """Make the state after training: the sum of the perceptrons of all orders."""
        state, layout = self.state, self.layout
        shape = -1, state.config.n_scores, len(layout.rows)
        coef = np.concatenate([run.coef for run in runs]).reshape(shape)
        time_sums = np.concatenate([run.time_sums for run in runs]).reshape(shape)
        sums = coef.sum(axis=0), time_sums.sum(axis=0)
        # Every order has seen the samples n_passes times; scores are divided by
        # n_orders.
        n_seen = state.n_seen + n_passes * len(self.codes)
        state = replace(state, n_orders=state.n_orders * len(coef))
        state = state.after(layout.table, layout.numbers, *sums, n_seen, runs)
        if state.config.is_precomputed:
            support = GramRows(layout.rows.gram, state.support)
            diagonal = np.abs(layout.evaluator.diagonal(support))
            state.largest_diagonal = float(diagonal.max(initial=0))
        return state


def merge_histories(runs, held_out=None):
    """Add up the mistakes and updates of all perceptrons, pass by pass."""
    # A perceptron that converged early makes no mistakes in later passes.
    mistakes = zip_longest(*[run.history.mistakes for run in runs], fillvalue=0)
    updates = zip_longest(*[run.history.updates for run in runs], fillvalue=0)
    return History(list(map(sum, mistakes)), list(map(sum, updates)), held_out)
