"""An epoch of online training: its samples, their order, and the loss after it."""

import numpy as np

from sklboolean._core.calibration import calibrated_loss
from sklboolean.linear_model._loop import shuffle, shuffle_blocks

TERMS_AT_A_TIME = 2**26  # weights touched between two checks for an interrupt
BLOCK = 32  # samples that are shuffled together
LEAST_FOR_BLOCKS = 4096  # samples; few of them are in the processor's cache anyway


def near_samples(data, codes, weights, samples):
    """Copy the samples to train on, if that makes the epochs faster.

    Parameters
    ----------
    data : OnlineData
    codes : ndarray of shape (n_samples,), int32
    weights : ndarray of shape (n_samples,) or None
    samples : ndarray of int or None
        Numbers of the samples to train on. None: all.

    Returns
    -------
    data, codes, weights, samples
        The same for the copy.
    """
    if samples is None:
        return data, codes, weights, np.arange(len(codes))
    if len(codes) < LEAST_FOR_BLOCKS or 3 * len(samples) >= 2 * len(codes):
        return data, codes, weights, samples
    # The copy is read from neighbouring memory.
    weights = None if weights is None else weights[samples]
    return data[samples], codes[samples], weights, np.arange(len(samples))


class EpochOrder:
    """The order of the samples in each epoch.

    Parameters
    ----------
    samples : ndarray of shape (n_chosen,), int
        Numbers of the samples to train on.
    codes : ndarray of shape (n_samples,), int32
        Class numbers.
    rng : RandomState or None
        None: all epochs keep the order of ``samples``.
    starts_anew : bool
        Shuffle ``samples`` in each epoch. False: shuffle the order of the last epoch.
    """

    def __init__(self, samples, codes, rng, starts_anew):
        self.rng, self.starts_anew = rng, starts_anew
        self.samples = samples.astype(np.int64, copy=False)
        self.order = self.samples if rng is None else self.samples.copy()
        # Neighbours are read from the same memory. Of sorted labels they are the same.
        n_changes = np.count_nonzero(np.diff(codes[samples]))
        is_large = len(samples) >= LEAST_FOR_BLOCKS
        self.in_blocks = is_large and n_changes * BLOCK > len(samples)

    def next(self):
        """Compute the order of the next epoch, which may overwrite the last one."""
        if self.rng is None:
            return self.order
        if self.starts_anew:
            self.order = self.samples.copy()
        seed = self.rng.randint(2**63, dtype=np.uint64)
        if self.in_blocks:
            shuffle_blocks(self.samples, BLOCK, seed, self.order)
        else:
            shuffle(self.order, seed)
        return self.order


def run_epoch(loop, state, order, history):
    """Train on samples in an order, and add the epoch to the history."""
    n_mistakes, n_updates = loop.n_mistakes, loop.n_updates
    step = max(1, TERMS_AT_A_TIME // loop.n_terms)
    for first in range(0, len(order), step):
        loop.run(order[first : first + step])
    state.t, state.scale, state.clock = loop.t, loop.scale, loop.clock
    history.append(loop.n_mistakes - n_mistakes, loop.n_updates - n_updates)


class HeldOutLoss:
    """Log-loss on held-out samples after each epoch, and the best state.

    Accuracy would not tell apart states that predict the frequent class.

    Parameters
    ----------
    state : LinearState
        The state before training.
    compute_scores : callable
        ``compute_scores(state, samples=samples)`` scores some samples.
    codes : ndarray of shape (n_samples,), int32
        Class numbers.
    samples : ndarray of int
        Numbers of the held-out samples.
    """

    def __init__(self, state, compute_scores, codes, samples):
        self.best, self.least_loss, self.n_waited = state, np.inf, 0
        self.compute_scores, self.samples = compute_scores, samples
        self.codes = codes[samples]

    def measure(self, state):
        """Measure the loss of calibrated scores; copy the state if it is the best.

        Returns
        -------
        n_waited : int
            Number of epochs since the best one.
        """
        scores = self.compute_scores(state, samples=self.samples)
        loss = calibrated_loss(scores, self.codes, np.ones(len(self.codes)))
        if loss < self.least_loss:
            self.best, self.least_loss, self.n_waited = state.copy(), loss, 0
        else:
            self.n_waited += 1
        return self.n_waited
