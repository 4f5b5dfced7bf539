"""Starts for the combination machine: base, weak units, projection pursuit.

Projection pursuit (Freund, section 4.3.6) finds hidden units one by one. The inputs are
treated as real numbers. A hidden unit makes a Gaussian a mixture of itself and of a
copy that is shifted by w. EM finds the unit; the samples that it explains are shifted
back, and the rest is searched for the next unit. The time is linear in the number of
units. Each unit is found as if it were independent of the others: its direction is
useful, its length and biases are learned afterwards.
"""

# Steps of projection pursuit (`pursue`):
# 1. Subtract the mean of the samples, (n_samples, n) float64, which visible biases
#    explain.
# 2. `find_unit`: from N_TRIES random samples, short runs of EM for one hidden unit over
#    a Gaussian (equations 4.23 and 4.24); the best one runs on.
# 3. `remove_structure`: shift each sample back by the weights of the unit, with the
#    probability that the unit is active in it. If the samples come from the unit,
#    Gaussian noise is left.
# 4. Repeat with what is left, until MAX_FAILURES units in a row explain nothing.
# `count_units` puts a fifth of the samples through the same removals, and counts the
# units from which these gain.

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from sklboolean.density._attribute_forest import Attributes
from sklboolean.density._rbm_params import Coordinates
from sklboolean.density._tree import (
    chow_liu_parents,
    edge_sums,
    log_conditionals,
    mutual_information_matrix,
)

SCALE = 0.1  # of random components: near the base, but away from the saddle point at 0
ALPHA = 1.0  # smoothing of the base, as a number of samples
N_TRIES = 5  # for a unit: EM finds local maxima, and not all of them are good
N_ITER_SHORT = 4  # of each try (Freund, section 4.4, needs no more)
N_ITER_LONG = 40  # of the best one
TOL = 1e-5  # nats per sample
NOISE = 0.1  # of the first weights, besides half a sample
MIN_ACTIVE = 5  # samples that a unit must explain
MAX_FAILURES = 3  # consecutive units that explain nothing
HELD_OUT_FRACTION = 0.2  # of the samples, to count units
MAX_COPIES = 2**20  # samples of integer weight that are repeated


# The base distribution


def has_tree(base):
    """Tell whether a base distribution is a tree."""
    return base in ("chow_liu", "fixed_chow_liu")


def fit_inputs(signs, parents, sample_weight=None):
    """Fit visible biases and couplings of the inputs without hidden units.

    Parameters
    ----------
    signs : ndarray of shape (n_samples, n)
    parents : ndarray of shape (n,), or None for independent inputs
    sample_weight : ndarray of shape (n_samples,) or None

    Returns
    -------
    visible_bias : ndarray of shape (n,)
    couplings : ndarray of shape (n,), or None without parents
    """
    parent_of = np.full(signs.shape[1], -1) if parents is None else parents
    tables = log_conditionals(signs, parent_of, sample_weight, ALPHA)
    # log p(x | p) is a constant + biases x + other p + coupling x p.
    biases = (tables[:, :, 1] - tables[:, :, 0]).sum(axis=1) / 4
    other = (tables[:, 1] - tables[:, 0]).sum(axis=1) / 4
    couplings = tables[:, 1, 1] - tables[:, 1, 0] - tables[:, 0, 1] + tables[:, 0, 0]
    child = parent_of >= 0
    np.add.at(biases, parent_of[child], other[child])
    return biases, None if parents is None else np.where(child, couplings / 4, 0.0)


class InputModel(NamedTuple):
    """The distribution of the inputs without hidden units, and how to extend it."""

    biases: np.ndarray  # (n,), not used unless visible biases are learned
    parents: np.ndarray | None
    couplings: np.ndarray | None
    centre: np.ndarray  # (n,), means of the inputs
    visible_bias: bool  # whether visible biases are learned
    max_active: int | None
    attributes: Attributes | None = None

    def with_units(self, components):
        """Add hidden units that are active half of the time.

        Parameters
        ----------
        components : ndarray of shape (m, n)

        Returns
        -------
        params : RBMParams
        """
        settings = self.visible_bias, self.parents, self.max_active, self.attributes
        coordinates = Coordinates(len(components), self.centre, *settings)
        vectors = [components.ravel(), np.zeros(len(components))]
        vectors += [self.biases] * self.visible_bias
        vectors += [self.couplings] * (self.parents is not None)
        return coordinates.to_params(np.concatenate(vectors))


def fit_binary_inputs(signs, weights, centre, base, max_active, attributes=None):
    """Fit the base distribution of binary inputs.

    Parameters
    ----------
    signs : ndarray of shape (n_samples, n)
    weights : ndarray of shape (n_samples,)
    centre : ndarray of shape (n,)
    base : {"independent", "uniform", "chow_liu", "fixed_chow_liu"}
    max_active : int or None
    attributes : Attributes or None

    Returns
    -------
    input_model : InputModel
    """
    parents, visible_bias = None, base != "uniform"
    if attributes is not None:
        roots = np.full(signs.shape[1], -1)
        total, sums, _ = edge_sums(roots, signs, weights)
        # exp(2 b) is proportional to the frequency in a group, and to the odds without.
        counts = (np.array([total - sums, total + sums]) + ALPHA) / 2
        alone = ~attributes.grouped[attributes.of_column]
        biases = (np.log(counts[1]) - np.where(alone, np.log(counts[0]), 0.0)) / 2
        couplings = None
        if has_tree(base):
            gains = mutual_information_matrix(signs, weights, ALPHA)
            parents, couplings = attributes.parents_of(gains), np.zeros(len(biases))
        return InputModel(
            biases, parents, couplings, centre, visible_bias, max_active, attributes
        )
    if has_tree(base):
        parents = chow_liu_parents(signs, weights, ALPHA)
    biases, couplings = fit_inputs(signs, parents, weights)
    return InputModel(biases, parents, couplings, centre, visible_bias, max_active)


def gaussian_inputs(centre, max_active):
    """Describe the base distribution of real inputs: a Gaussian around their mean."""
    return InputModel(centre, None, None, centre, True, max_active)


# Starts


def random_starts(input_model, m, n_init, rng):
    """Draw weak hidden units, for each of several starts.

    Parameters
    ----------
    input_model : InputModel
    m : int
        Hidden units.
    n_init : int
    rng : RandomState

    Yields
    ------
    start : RBMParams
    """
    draws = rng.normal(scale=SCALE, size=(n_init, m, len(input_model.centre)))
    for components in draws:
        yield input_model.with_units(components)


def given_start(input_model, init, m):
    """Start from arrays of the user.

    Parameters
    ----------
    input_model : InputModel
    init : ndarray or tuple of ndarray
        Components, and perhaps hidden and visible biases.
    m : int
        Hidden units that there must be.

    Returns
    -------
    start : RBMParams
    """
    n = len(input_model.centre)
    arrays = list(init) if isinstance(init, tuple) else [init]
    arrays = [np.array(array, dtype=np.float64) for array in arrays]
    shapes, expected = [array.shape for array in arrays], [(m, n), (m,), (n,)]
    if not arrays or shapes != expected[: len(shapes)]:
        raise ValueError(
            f"init has arrays of shapes {shapes}; with n_components={m} and {n} "
            f"features they must be the first of {expected}: components, hidden biases "
            "and visible biases."
        )
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError("init holds values that are not finite.")
    names = ("hidden_bias", "visible_bias")
    biases = dict(zip(names, arrays[1:], strict=False))
    return input_model.with_units(arrays[0]).replace(**biases)


def pursuit_starts(input_model, table, n_samples, m, n_init, max_components, rng):
    """Yield the base distribution with hidden units found by projection pursuit.

    Each start shifts other samples. Units that are not found are weak random units.
    A start is computed when it is requested: the first may be enough.

    Parameters
    ----------
    input_model : InputModel
    table : SampleTable
    n_samples : float
        Number of samples that the table represents.
    m : int or "auto"
        Hidden units.
    n_init : int
    max_components : int
        Most units for "auto".
    rng : RandomState

    Yields
    ------
    start : RBMParams
    """
    centred = input_model.visible_bias
    samples, weights = expand_samples(table, n_samples)
    # The visible biases explain the mean: no unit is needed for it.
    input_model = input_model._replace(centre=table.means * bool(centred))
    if m == "auto":
        m = count_units(samples, weights, max_components, rng, centred)
    for _ in range(n_init):
        units = pursue(samples, weights, m, rng, centred)
        components = rng.normal(scale=SCALE, size=(m, samples.shape[1]))
        for i, unit in enumerate(units):
            components[i] = unit.weights
        start = input_model.with_units(components)
        for i, unit in enumerate(units):
            start.hidden_bias[i] += unit.bias
            if centred:
                start.visible_bias[:] += (0.5 - unit.shift) * unit.weights
        yield start


# Projection pursuit


class Unit(NamedTuple):
    """One hidden unit over real numbers x.

    p(h, x) ~ exp(h (bias + w.x) - |x + shift w|^2 / 2): samples lie around -shift w,
    and around (1 - shift) w if the unit is active. The thesis has shift 0. In centred
    samples shift is E(h): one unit separates two clusters, wherever their mean is.
    """

    weights: np.ndarray  # (n,)
    bias: float
    shift: float = 0.0


def expand_samples(table, n_samples):
    """Repeat the samples of a table by their weights if these are integers.

    Equal samples are shifted back independently, and a sample of weight 2 counts as two
    samples.

    Parameters
    ----------
    table : SampleTable
    n_samples : float
        Number of samples that the table represents.

    Returns
    -------
    samples : ndarray of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,)
    """
    weights = table.shares * n_samples
    copies = np.rint(weights)
    if n_samples > MAX_COPIES or not np.allclose(weights, copies, rtol=1e-9, atol=0):
        return table.samples, weights
    samples = np.repeat(table.samples, copies.astype(np.int64), axis=0)
    return samples, np.ones(len(samples))


def unit_with(weights, share, centred):
    """Compute the unit with given weights and E(h) (equation 4.24)."""
    shift = float(share) if centred else 0.0
    bias = logit(share) - weights @ weights * (0.5 - shift)
    return Unit(weights, float(bias), shift)


def log_gains(samples, unit):
    """Compute what a unit adds to the log-density of each sample over the Gaussian.

    Without shift it is the log of (1 + exp(bias + w.x)) / (1 + exp(bias + |w|^2 / 2)),
    equation 4.6 with one unit.
    """
    weights, bias, shift = unit
    projections, square = samples @ weights, weights @ weights
    gains = np.logaddexp(0.0, projections + bias)
    gains -= shift * (projections + shift * square / 2)
    return gains - np.logaddexp(0.0, bias + square * (0.5 - shift))


def em_step(samples, sample_weight, unit, centred=False):
    """Take an iteration of EM for one unit (equations 4.23 and 4.24).

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n)
    sample_weight : ndarray of shape (n_samples,)
    unit : Unit
    centred : bool, default=False
        Whether the weighted mean of the samples is 0 and the unit has to preserve it.

    Returns
    -------
    unit : Unit
        At least as likely.
    n_active : float
        E(h) N: the number of samples that the unit explained.
    """
    n_samples = sample_weight.sum()
    active = sample_weight * expit(samples @ unit.weights + unit.bias)
    n_active = active.sum()
    if n_active <= 0:
        return unit, 0.0  # it explains no sample at all
    # A unit that is always or never active would have an infinite bias.
    edge = min(0.5 / n_samples, 0.5)
    share = np.clip(n_active / n_samples, edge, 1 - edge)
    shift = share if centred else 0.0
    # Least squares for both centres; over the other samples x has the opposite sum.
    scale = (1 - shift) ** 2 * n_active + shift**2 * (n_samples - n_active)
    weights = active @ samples / scale
    return unit_with(weights, share, centred), float(n_active)


def _run_em(samples, sample_weight, unit, n_iter, centred):
    """Run EM; return the unit, its mean gain and the samples that it explains."""
    total, gain, n_active = sample_weight.sum(), -np.inf, 0.0
    for _ in range(n_iter):
        unit, n_active = em_step(samples, sample_weight, unit, centred)
        before, gain = gain, sample_weight @ log_gains(samples, unit) / total
        if gain - before < TOL:
            break
    return unit, gain, n_active


def find_unit(samples, sample_weight, rng, centred=False):
    """Find the best unit of several short runs of EM.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n)
    sample_weight : ndarray of shape (n_samples,)
    rng : RandomState
    centred : bool, default=False

    Returns
    -------
    unit : Unit or None
        None if no unit explains five samples.
    gain : float
        Mean over the samples, in nats.
    """
    tries = []
    for i in rng.randint(len(samples), size=N_TRIES):
        weights = 0.5 * samples[i] + rng.normal(scale=NOISE, size=samples.shape[1])
        start = unit_with(weights, 0.5, centred)
        tries.append(_run_em(samples, sample_weight, start, N_ITER_SHORT, centred))
    # A unit that explains a few samples memorises them, however large its gain.
    tries = [trial for trial in tries if trial[2] >= MIN_ACTIVE]
    for trial in sorted(tries, key=lambda trial: -trial[1]):
        unit, gain, n_active = _run_em(
            samples, sample_weight, trial[0], N_ITER_LONG, centred
        )
        if n_active >= MIN_ACTIVE:
            return unit, gain
    return None, 0.0


def remove_structure(samples, unit, rng):
    """Shift each sample back with the probability that the unit is active in it.

    If the samples come from the unit, the result comes from the Gaussian alone.
    """
    active = rng.uniform(size=len(samples)) < expit(samples @ unit.weights + unit.bias)
    return samples - (active - unit.shift)[:, None] * unit.weights


def _mean(samples, sample_weight, centred):
    return sample_weight @ samples / sample_weight.sum() if centred else 0.0


def pursue(samples, sample_weight, n_components, rng, centred=False):
    """Find hidden units one after the other.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n)
        Real numbers.
    sample_weight : ndarray of shape (n_samples,)
    n_components : int
    rng : RandomState
    centred : bool, default=False
        Subtract the mean of the samples first: visible biases explain it.

    Returns
    -------
    units : list of Unit
        Units of the centred samples; fewer than `n_components` if no more are found.
    """
    units, failures = [], 0
    while len(units) < n_components and failures < MAX_FAILURES:
        samples = samples - _mean(samples, sample_weight, centred)
        unit, gain = find_unit(samples, sample_weight, rng, centred)
        if unit is None or gain <= 0:
            failures += 1
            continue
        units.append(unit)
        samples = remove_structure(samples, unit, rng)
    return units


def count_units(samples, sample_weight, most, rng, centred=False):
    """Count the hidden units from which held-out samples gain.

    A fifth of the samples is held out and undergoes the same removals. The search ends
    when three consecutive units explain nothing of it. The threshold of BIC is far too
    strict.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n)
    sample_weight : ndarray of shape (n_samples,)
    most : int
    rng : RandomState
    centred : bool, default=False

    Returns
    -------
    n_components : int
        From 1 to `most`.
    """
    order = rng.permutation(len(samples))
    held_out, training = np.split(order, [round(HELD_OUT_FRACTION * len(samples))])
    test, test_weight = samples[held_out], sample_weight[held_out]
    samples, sample_weight = samples[training], sample_weight[training]
    useful = searched = 0
    while searched < most and searched - useful < MAX_FAILURES and len(test):
        mean = _mean(samples, sample_weight, centred)
        samples, test = samples - mean, test - mean
        unit, _ = find_unit(samples, sample_weight, rng, centred)
        searched += 1
        if unit is None:
            continue
        if test_weight @ log_gains(test, unit) > 0:
            useful = searched
        samples = remove_structure(samples, unit, rng)
        test = remove_structure(test, unit, rng)
    return max(useful, 1)
