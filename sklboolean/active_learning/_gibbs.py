"""Committees drawn from a version space: the posterior answers for all members."""

from copy import deepcopy
from functools import partial

import numpy as np

from sklboolean.active_learning._finite import FiniteVersionSpace, build_finite_space
from sklboolean.active_learning._halfspaces import HalfspaceVersionSpace
from sklboolean.active_learning._kernel_space import KernelVersionSpace
from sklboolean.active_learning._posterior import empty_message
from sklboolean.active_learning._span import Placed
from sklboolean.active_learning._strategies import Opinions
from sklboolean.kernels import BOOLEAN_KERNELS


class GibbsCommittee:
    """A version space, asked about rows as a committee is.

    Parameters
    ----------
    space : version space
        With ``learn``, ``acceptance``, ``accepts`` and ``is_empty``.
    as_rows : callable
        ``as_rows(X, classes)`` turns a table into rows as the space takes them.
    """

    def __init__(self, space, as_rows):
        self.space, self.as_rows = space, as_rows

    def learn(self, X, y, weights, n_new, classes):
        """Learn the last ``n_new`` labels, one after the other.

        Returns
        -------
        gains : ndarray of shape (n_new,)
            Information of each label given those before it, in bits.

        Raises
        ------
        ValueError
            When no hypothesis is left.
        """
        first, eta = len(y) - n_new, getattr(self.space, "eta", 0)
        rows = self.as_rows(X[first:], classes)
        positive, gains = y[first:] == classes[1], np.empty(n_new)
        # Without noise a label that is known already tells nothing.
        repeats = weights[first:].astype(np.intp) if eta else np.ones(n_new, np.intp)
        for i in range(n_new):
            row = self.place(rows[i : i + 1])
            chance = float(self.space.acceptance(row)[0])
            chance = eta + (1 - 2 * eta) * (chance if positive[i] else 1 - chance)
            # Sampled posteriors can miss the label that comes; no gain is infinite.
            gains[i] = -np.log2(max(chance, np.finfo(np.float64).eps))
            copies = np.repeat(0, repeats[i])
            self.space.learn(row[copies], np.repeat(positive[i], repeats[i]))
            if self.space.is_empty:
                raise ValueError(empty_message())
        return gains

    def place(self, X):
        """Return a pool as it is asked about again and again.

        Halfspaces keep the coordinates of its rows: each label costs a kernel column,
        not the kernel with all labelled rows.
        """
        if isinstance(self.space, KernelVersionSpace):
            return self.space.place(X.astype(np.float64, copy=False))
        return X

    def opinions(self, X, classes, *, with_probabilities=False):
        """Ask the posterior."""
        rows = X if isinstance(X, Placed) else self.as_rows(X, classes)
        accepting = np.clip(self.space.acceptance(rows), 0, 1)
        scores = None
        if with_probabilities and hasattr(self.space, "mean_scores"):
            scores = self.space.mean_scores(rows)
        posterior = np.column_stack([1 - accepting, accepting])
        return Opinions(2, posterior=posterior, scores=scores)

    def one_of(self, X, classes, random):
        """Return the class numbers that one hypothesis drawn by lot gives to rows."""
        rows = self.as_rows(X, classes)
        return self.space.accepts(rows, 1, random)[0].astype(np.intp)


def is_version_space(committee):
    """Return whether an object can be asked as a version space is."""
    needed = ("learn", "acceptance", "accepts", "is_empty")
    return all(hasattr(committee, name) for name in needed)


def build_space(learner, n_features, seed):
    """Build the version space that a QueryByCommittee describes, before any label.

    Returns
    -------
    space : version space
    as_rows : callable
    """
    committee, hypotheses = learner.committee, learner.hypotheses
    if not isinstance(committee, str):
        is_linear = isinstance(committee, KernelVersionSpace)
        return deepcopy(committee), take_reals if is_linear else take_rows
    if hypotheses is None:
        return build_halfspaces(learner, seed), take_reals
    if isinstance(hypotheses, str):
        space = build_finite_space(
            hypotheses, n_features, max_literals=learner.max_literals,
            monotone=learner.monotone, eta=learner.eta,
        )  # fmt: skip
        is_boolean = isinstance(space, FiniteVersionSpace)
        return space, take_bits if is_boolean else take_rows
    functions = list(hypotheses)
    if not functions or not all(map(callable, functions)):
        raise ValueError(
            "hypotheses must be a name or a list of at least one callable."
        )
    # The space is shown the answers as its rows: hypothesis j accepts by column j.
    columns = [partial(take_column, column=j) for j in range(len(functions))]
    space = FiniteVersionSpace(columns, len(functions), eta=learner.eta)
    return space, partial(ask_functions, functions=functions)


def build_halfspaces(learner, seed):
    """Build the version space of halfspaces, plain or of a kernel."""
    options = {
        "gibbs": learner.gibbs, "eta": learner.eta, "n_steps": learner.n_steps,
        "n_chains": learner.n_chains, "random_state": seed,
    }  # fmt: skip
    if learner.kernel is None:
        return HalfspaceVersionSpace(fit_intercept=learner.fit_intercept, **options)
    return KernelVersionSpace(kernel_of(learner), **options)


def kernel_of(learner):
    """Return the kernel function of a learner, or None."""
    if isinstance(learner.committee, KernelVersionSpace):
        return learner.committee.kernel
    if isinstance(learner.kernel, str):
        return BOOLEAN_KERNELS[learner.kernel]
    return learner.kernel


def take_rows(X, _classes):
    """Return rows as they are."""
    return X


def take_reals(X, _classes):
    """Return rows as real numbers: products of bits would be bits."""
    return X.astype(np.float64, copy=False)


def take_bits(X, _classes):
    """Return rows of Boolean features."""
    return X > 0


def take_column(answers, column):
    """Return what one function answered."""
    return answers[:, column]


def ask_functions(X, classes, functions):
    """Return the answers of functions, which give labels or bools."""
    answers = np.empty((len(X), len(functions)), dtype=bool)
    for k, function in enumerate(functions):
        said = np.asarray(function(X.copy()))
        if said.shape == (len(X),) and np.isin(said, classes).all():
            answers[:, k] = said == classes[1]
        elif said.shape == (len(X),) and np.isin(said, (0, 1)).all():
            answers[:, k] = said.astype(bool)
        else:
            raise ValueError(
                f"hypotheses[{k}] must return a label of {classes.tolist()} or a bool "
                f"for each of the {len(X)} rows; it gave shape {said.shape}, dtype "
                f"{said.dtype}."
            )
    return answers
