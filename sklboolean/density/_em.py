"""Mixtures of Bernoulli products, and EM on whole data and on streams."""

# A mixture of K products over n bits has log-weights (K,) and log-odds (K, n), float64.
# Samples are signs, int8: 1, -1, or 0 for a missing bit, which is left out of all
# counts.
#
# Steps of EM (Dempster, Laird, Rubin 1977):
# 1. E-step, `expected_counts`: divide each sample among the components by their
#    posterior probabilities, and count the weight, the known bits, and true minus false
#    bits.
# 2. M-step, `maximising_mixture`: the smoothed shares of these counts.
# Invariant: the log-likelihood plus `log_prior` does not fall (`run_em` stops by it).
#
# `fit_from_seed` begins with one component and doubles their number (Freund, section
# 4.4). `stepwise_em` does one M-step for each batch of a stream, with counts in which
# earlier batches fade (Cappe, Moulines 2009; Liang, Klein 2009).

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logsumexp
from sklearn.utils import gen_batches

from sklboolean._core.parallel import each_slice, in_threads
from sklboolean.density._attribute_forest import Attributes

BLOCK_SIZE = 1024  # samples: what is computed of a block stays in the cache
N_SLABS = 8
SMALL = 1 << 23  # bits times components: a second thread does not pay for less
MAX_SEED = 2**31 - 1
TOL = 1e-3  # nats per sample
DECAY = 0.7  # of the steps on a stream; in (1 / 2, 1]: they shrink, but not too fast


@dataclass(frozen=True)
class EMOptions:
    """Checked parameters of ``BernoulliMixture``; see there."""

    n_components: int
    alpha: float
    n_init: int
    max_iter: int


def posterior(log_joint):
    """Compute the posterior of the components and the log-likelihood of each sample.

    Parameters
    ----------
    log_joint : ndarray of shape (n_samples, n_components), dtype float64

    Returns
    -------
    responsibilities : ndarray of shape (n_samples, n_components), dtype float64
        Each row sums to 1.
    log_likelihoods : ndarray of shape (n_samples,), dtype float64
    """
    largest = log_joint.max(axis=1, keepdims=True)
    responsibilities = np.exp(log_joint - largest)
    sums = responsibilities.sum(axis=1, keepdims=True)
    responsibilities /= sums
    return responsibilities, (largest + np.log(sums))[:, 0]


def draw_components(shares, rng):
    """Draw a component for each sample; each row of shares sums to 1."""
    reached = rng.uniform(size=(len(shares), 1)) < np.cumsum(shares, axis=1)
    reached[:, -1] = True  # rounding may leave the last sum below 1
    return reached.argmax(axis=1)


@dataclass(frozen=True)
class ProductMixture:
    """Parameters of a mixture of products, in logarithms.

    Attributes
    ----------
    log_weights : ndarray of shape (n_components,), dtype float64
        Finite.
    logits : ndarray of shape (n_components, n_features), dtype float64
        Log-odds of each bit; log-probability of each bit of a group. Finite.
    attributes : Attributes or None
        Groups of bits of which exactly one is true. None: no groups.
    """

    log_weights: np.ndarray
    logits: np.ndarray
    attributes: Attributes | None = None

    def with_logits(self, log_weights, logits):
        """Build a mixture with the same groups, and normalise it in each group."""
        attributes = self.attributes
        if attributes is not None:
            logits = logits.copy()
            for attribute in np.flatnonzero(attributes.grouped):
                columns = attributes.columns_of(attribute)
                sums = logsumexp(logits[:, columns], axis=1, keepdims=True)
                logits[:, columns] -= sums
        return ProductMixture(log_weights, logits, attributes)

    def log_values(self):
        """Compute the log-probability of each value of all attributes."""
        attributes, logits = self.attributes, self.logits
        alone = ~attributes.grouped[attributes.of_column]
        values = attributes.true_values
        logs = np.empty((len(logits), attributes.sizes.sum()))
        logs[:, values] = logits
        logs[:, values[alone]] = -np.logaddexp(0, -logits[:, alone])
        logs[:, values[alone] - 1] = -np.logaddexp(0, logits[:, alone])
        return logs

    def means(self):
        """Compute the probability of each bit in each component."""
        if self.attributes is None:
            return expit(self.logits)
        return np.exp(self.log_values()[:, self.attributes.true_values])

    def log_joint(self, signs, complete=None):
        """Compute the log-probability of each component with the known bits of samples.

        Parameters
        ----------
        signs : ndarray of shape (n_samples, n_features)
            0 where a bit is missing.
        complete : bool or None
            Whether no bit is missing, where that is known.

        Returns
        -------
        log_joint : ndarray of shape (n_samples, n_components), dtype float64
        """
        complete = signs.all() if complete is None else complete
        if self.attributes is not None:
            return self._log_joint_of_groups(signs, complete)
        signs, half = signs.astype(np.float64, copy=False), self.logits / 2
        # log P(x) = x logit / 2 - |x| log(2 cosh(logit / 2)): a missing bit adds 0.
        scale = np.logaddexp(half, -half)
        joint = (half @ signs.T).T  # later loops over samples are the long ones
        if complete:
            return joint + (self.log_weights - scale.sum(axis=1))
        return joint - (scale @ np.abs(signs.T)).T + self.log_weights

    def _log_joint_of_groups(self, signs, complete):
        allowed, logs = self.attributes.allowed(signs), self.log_values()
        if complete:
            return allowed.astype(np.float64) @ logs.T + self.log_weights
        values, log_joint = np.exp(logs), np.tile(self.log_weights, (len(signs), 1))
        for here in self.attributes.slices:
            log_joint += np.log(allowed[:, here].astype(np.float64) @ values[:, here].T)
        return log_joint

    def means_of_groups(self, signs):
        """Compute the mean sign of each bit given the known bits of its sample."""
        shares, _ = posterior(self.log_joint(signs))
        allowed, values = self.attributes.allowed(signs), np.exp(self.log_values())
        means = np.empty(allowed.shape)
        for here in self.attributes.slices:
            is_allowed, of_value = allowed[:, here].astype(np.float64), values[:, here]
            per_component = shares / (is_allowed @ of_value.T)
            means[:, here] = is_allowed * (per_component @ of_value)
        return np.clip(2 * means[:, self.attributes.true_values] - 1, -1.0, 1.0)

    def draw_of_groups(self, signs, components, rng):
        """Draw the missing bits of samples of known components."""
        allowed, values = self.attributes.allowed(signs), np.exp(self.log_values())
        drawn = np.empty((len(signs), len(self.attributes.sizes)), dtype=np.int64)
        for attribute, here in enumerate(self.attributes.slices):
            shares = np.where(allowed[:, here], values[components, here], 0.0)
            reached = np.cumsum(shares, axis=1)
            goal = rng.uniform(size=len(signs)) * reached[:, -1]
            drawn[:, attribute] = (reached <= goal[:, None]).sum(axis=1)
        return self.attributes.to_signs(drawn)

    def log_odds(self, signs):
        """Compute the log-odds of each bit given all other known bits of its sample.

        A component with responsibility r for a sample has r / P(x_j) without bit j:
        true bits need the sums of r / odds, false bits those of r * odds.
        """
        shares, _ = posterior(self.log_joint(signs))
        # exp must not overflow; odds of 10**304 are as good as certainty.
        logits = np.clip(self.logits, -700, 700)
        odds = np.exp(logits)
        known_true, known_false = -np.log(shares @ (1 / odds)), np.log(shares @ odds)
        missing = np.log(shares @ expit(logits)) - np.log(shares @ expit(-logits))
        return np.select([signs > 0, signs < 0], [known_true, known_false], missing)


def log_prior(mixture, alpha):
    """Compute the log-density of the prior that smooths EM, up to a constant.

    Beta(1 + alpha, 1 + alpha) for the probability of each bit in each component,
    Dirichlet(1 + alpha) for the weights.
    """
    if mixture.attributes is not None:
        return alpha * (mixture.log_values().sum() + mixture.log_weights.sum())
    half = mixture.logits / 2
    spread = -2 * np.logaddexp(half, -half).sum()
    return alpha * (spread + mixture.log_weights.sum())


class Counts(NamedTuple):
    """Sufficient statistics of a mixture, by component."""

    members: np.ndarray  # (n_components,): weight of the samples
    sums: np.ndarray  # (n_components, n_features): known bits, true minus false
    known: np.ndarray  # (n_components, n_features): known bits


@dataclass(frozen=True)
class MixtureState:
    """The state of a mixture that learns in batches.

    Attributes
    ----------
    mixture : ProductMixture
    counts : Counts or None
        None after a fit to whole data: ``implied_counts`` computes them if needed.
    total : float
        Weight of all samples so far.
    """

    mixture: ProductMixture
    counts: Counts | None
    total: float


def expected_counts(mixture, signs, weights):
    """Divide samples among the components and count: the E-step.

    Parameters
    ----------
    mixture : ProductMixture
    signs : PackedSigns or ndarray of shape (n_samples, n_features)
        0 where a bit is missing: it is not counted.
    weights : ndarray of shape (n_samples,), dtype float64

    Returns
    -------
    counts : Counts
    log_likelihood : float
        Weighted sum over the samples.
    """
    n_blocks, shape = -(-len(signs) // BLOCK_SIZE), mixture.logits.shape
    # Slabs of samples with sums of their own, for any number of threads.
    n_slabs = min(N_SLABS, n_blocks)
    ends = np.linspace(0, n_blocks, n_slabs + 1, dtype=np.int64)
    log_likelihoods, members = np.zeros(n_slabs), np.zeros((n_slabs, shape[0]))
    sums, n_known = (np.zeros((n_slabs, *shape)) for _ in range(2))

    def add_blocks(first, last):
        for slab in range(first, last):
            for block in range(ends[slab], ends[slab + 1]):
                here = slice(block * BLOCK_SIZE, (block + 1) * BLOCK_SIZE)
                samples, sample_weights = signs[here], weights[here]
                complete = samples.all()  # of bytes, which is faster than of floats
                samples = samples.astype(np.float64)
                shares, scores = posterior(mixture.log_joint(samples, complete))
                log_likelihoods[slab] += sample_weights @ scores
                shares *= sample_weights[:, None]
                masses = shares.sum(axis=0)
                members[slab] += masses
                sums[slab] += shares.T @ samples
                n_known[slab] += (
                    masses[:, None] if complete else shares.T @ np.abs(samples)
                )

    small = signs.size * shape[0] < SMALL
    each_slice(add_blocks, n_slabs, step=1, small=small)
    counts = Counts(members.sum(axis=0), sums.sum(axis=0), n_known.sum(axis=0))
    return counts, float(log_likelihoods.sum())


def maximising_mixture(counts, alpha, attributes=None):
    """Compute the mixture with the largest smoothed likelihood of counts: the M-step.

    Parameters
    ----------
    counts : Counts
    alpha : float
        Above 0: added to each count.
    attributes : Attributes or None
        A group with missing bits and without a true bit is not counted.

    Returns
    -------
    mixture : ProductMixture
    """
    members, sums, n_known = counts
    # Rounding must not make a count of zero negative.
    true = np.maximum((n_known + sums) / 2, 0.0) + alpha
    false = np.maximum((n_known - sums) / 2, 0.0) + alpha
    log_weights = np.log((members + alpha) / (members.sum() + len(members) * alpha))
    logits = np.log(true) - np.log(false)
    if attributes is None:
        return ProductMixture(log_weights, logits)
    alone = ~attributes.grouped[attributes.of_column]
    unscaled = ProductMixture(log_weights, logits, attributes)
    return unscaled.with_logits(log_weights, np.where(alone, logits, np.log(true)))


def em_step(mixture, signs, weights, alpha):
    """Take one step of EM.

    Parameters
    ----------
    mixture, signs, weights
        As for ``expected_counts``.
    alpha : float
        As for ``maximising_mixture``.

    Returns
    -------
    better : ProductMixture
        Its log-likelihood plus ``log_prior`` is not smaller than before.
    log_likelihood : float
        Weighted sum over the samples, of the mixture before the step.
    """
    counts, log_likelihood = expected_counts(mixture, signs, weights)
    return maximising_mixture(counts, alpha, mixture.attributes), log_likelihood


class EMResult(NamedTuple):
    """A mixture found by EM."""

    mixture: ProductMixture
    objective: float  # log-likelihood plus log-prior, per sample
    log_likelihoods: list[float]  # per sample, before the first step and after each
    converged: bool


def run_em(mixture, signs, weights, options):
    """Repeat EM until the likelihood times the prior gains less than ``TOL``.

    Parameters
    ----------
    mixture, signs, weights
        As for ``em_step``.
    options : EMOptions
        alpha, and max_iter, at least 1.

    Returns
    -------
    result : EMResult
    """
    total, before, history = weights.sum(), -np.inf, []
    while True:
        better, log_likelihood = em_step(mixture, signs, weights, options.alpha)
        history.append(log_likelihood / total)
        objective = (log_likelihood + log_prior(mixture, options.alpha)) / total
        converged = bool(objective - before < TOL)
        if len(history) > 1 and (converged or len(history) > options.max_iter):
            return EMResult(mixture, objective, history, converged)
        mixture, before = better, objective


def split_components(mixture, n_more, rng, spread=0.5):
    """Split the components with the largest weights into two perturbed halves.

    Freund, section 4.4.

    Parameters
    ----------
    mixture : ProductMixture
    n_more : int
        Number of components to split; at most all.
    rng : RandomState
    spread : float
        Standard deviation of the noise that is added to the log-odds of one half and
        subtracted from those of the other.
    """
    chosen = np.argsort(-mixture.log_weights, kind="stable")[:n_more]
    noise = spread * rng.standard_normal((n_more, mixture.logits.shape[1]))
    logits, log_weights = mixture.logits.copy(), mixture.log_weights.copy()
    logits[chosen] += noise
    log_weights[chosen] -= np.log(2)
    return mixture.with_logits(
        np.concatenate([log_weights, log_weights[chosen]]),
        np.concatenate([logits, mixture.logits[chosen] - noise]),
    )


def fit_from_seed(seed, signs, weights, options, attributes=None):
    """Run EM from one component, which is doubled until there are enough."""
    rng, n_features = np.random.RandomState(seed), signs.shape[1]
    uniform = ProductMixture(np.zeros(1), np.zeros((1, n_features)), attributes)
    uniform = uniform.with_logits(uniform.log_weights, uniform.logits)
    result = run_em(uniform, signs, weights, options)
    history = result.log_likelihoods
    while len(result.mixture.logits) < options.n_components:
        n_present = len(result.mixture.logits)
        n_more = min(n_present, options.n_components - n_present)
        mixture = split_components(result.mixture, n_more, rng)
        result = run_em(mixture, signs, weights, options)
        history = history + result.log_likelihoods
    return result._replace(log_likelihoods=history)


def fit_best_start(signs, weights, options, rng, attributes=None, report=None):
    """Run EM from several random starts and select the most likely mixture.

    Parameters
    ----------
    signs : ndarray of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,), dtype float64
    options : EMOptions
    rng : RandomState
    attributes : Attributes or None
    report : callable or None
        ``report(result, best)`` is called after each start; it returns whether to stop.

    Returns
    -------
    result : EMResult
    """
    seeds = rng.randint(MAX_SEED, size=options.n_init)
    starts = ((seed, signs, weights, options, attributes) for seed in seeds)
    # The first of equally good starts wins, whichever finished first.
    best = None
    for result in in_threads(fit_from_seed, starts):
        if best is None or result.objective > best.objective:
            best = result
        if report is not None and report(result, best):
            break
    return best


# Stepwise EM


def implied_counts(mixture, total, alpha):
    """Compute counts of complete samples for which a mixture is the maximum.

    Parameters
    ----------
    mixture : ProductMixture
    total : float
        Weight of the samples.
    alpha : float
        Smoothing of each count. With another value than the mixture was fitted with,
        the counts are approximate.

    Returns
    -------
    counts : Counts
    """
    weights, means = np.exp(mixture.log_weights), 2 * mixture.means() - 1
    members = np.maximum(weights * (total + len(weights) * alpha) - alpha, 0.0)
    n_known = np.tile(members[:, None], means.shape[1])
    n_values = 2
    if mixture.attributes is not None:
        n_values = mixture.attributes.sizes[mixture.attributes.of_column]
    # Of n_values alpha pseudocounts each column got alpha.
    sums = (1 + means) * (n_known + n_values * alpha) - 2 * alpha - n_known
    sums = np.clip(sums, -n_known, n_known)
    return Counts(members, sums, n_known)


def blend_counts(counts, total, more, weight):
    """Discount the counts so far and add those of a batch.

    With s the counts for a unit of weight, s becomes (1 - r) s + r s_batch. The step r
    is the batch's share of the weight so far, to the power ``DECAY``:
    (t + 2)**-DECAY after a start and t batches of equal weight (Liang and
    Klein, section 3). The first batch is taken as it is, which is a step of EM.

    Parameters
    ----------
    counts : Counts
    total : float
        Weight of the samples so far.
    more : Counts
        Counts of the batch.
    weight : float
        Weight of the batch.

    Returns
    -------
    counts : Counts
        For the weight ``total + weight``.
    """
    # A difference of logarithms of shares loses no digits near 0 and 1.
    log_share = -np.log1p(total / weight)
    keep = 0.0
    if log_share:
        keep = np.expm1(DECAY * log_share) / np.expm1(log_share)
    take = np.exp((DECAY - 1) * log_share)
    return Counts(*(keep * a + take * b for a, b in zip(counts, more, strict=True)))


def stepwise_em(state, signs, weights, alpha, batch_size):
    """Take a step of stepwise EM for each batch of samples, in their order.

    Parameters
    ----------
    state : MixtureState
    signs, weights
        As for ``em_step``.
    alpha : float
        As for ``maximising_mixture``.
    batch_size : int

    Returns
    -------
    state : MixtureState
        A new one.
    log_likelihoods : list of float
        Mean per sample of each batch, before it is learned. Batches without weight are
        skipped.
    """
    mixture, counts, total = state.mixture, state.counts, state.total
    if counts is None:
        counts = implied_counts(mixture, total, alpha)
    log_likelihoods = []
    for batch in gen_batches(len(signs), batch_size):
        weight = float(weights[batch].sum())
        if not weight or np.isinf(total / weight):
            continue
        more, log_likelihood = expected_counts(mixture, signs[batch], weights[batch])
        log_likelihoods.append(log_likelihood / weight)
        counts = blend_counts(counts, total, more, weight)
        mixture = maximising_mixture(counts, alpha, mixture.attributes)
        total += weight
    return MixtureState(mixture, counts, total), log_likelihoods
