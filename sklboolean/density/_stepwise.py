"""Stepwise EM: a mixture of products learns from a stream, batch by batch."""

import numpy as np

from sklboolean._core.base import restore_on_error
from sklboolean._core.validation import (
    check_finite_sum,
    check_integer,
    check_real,
    check_same_params,
    check_sample_weight,
)
from sklboolean.density._products import Counts, expected_counts, mixture_of
from sklboolean.density._tables import read_signs

KIND = ("n_components", "binarize")  # of what a mixture is


def implied_counts(mixture, total, alpha):
    """Return the counts of whole rows of which a mixture is the maximum.

    Parameters
    ----------
    mixture : ProductMixture
    total : float
        Weight of the rows.
    alpha : float
        What was added to each count.

    Returns
    -------
    counts : Counts
        With another ``alpha`` than the mixture was found with, near to it.
    """
    weights, means = np.exp(mixture.log_weights), np.tanh(mixture.logits / 2)
    members = np.maximum(weights * (total + len(weights) * alpha) - alpha, 0.0)
    known = np.tile(members[:, None], means.shape[1])
    sums = np.clip(means * (known + 2 * alpha), -known, known)
    return Counts(members, sums, known)


def blend(counts, total, more, weight, learning_decay):
    """Forget a little of the counts so far, and add those of a batch.

    With s the counts for a unit of weight, s becomes (1 - r) s + r s_batch. The step r
    is the batch's share of the weight seen until now, to the power ``learning_decay``:
    (t + 2)**-learning_decay after a start and t batches of one weight (Liang and Klein,
    section 3). A batch that comes first is taken as it is, which is a step of EM.

    Parameters
    ----------
    counts : Counts
    total : float
        Weight of the rows so far.
    more : Counts
    weight : float
        Weight of the batch.
    learning_decay : float
        1: counts are added up.

    Returns
    -------
    counts : Counts
        For the weight ``total + weight``.
    """
    # Of the share; as a difference of logarithms it loses nothing near 0 and 1.
    log_share = -np.log1p(total / weight)
    keep = 0.0
    if log_share:
        keep = np.expm1(learning_decay * log_share) / np.expm1(log_share)
    take = np.exp((learning_decay - 1) * log_share)
    return Counts(*(keep * a + take * b for a, b in zip(counts, more, strict=True)))


def learn_batches(
    mixture, counts, total, signs, weights, alpha, learning_decay, batch_size
):
    """Take a step of stepwise EM for each batch of rows, in their order.

    Parameters
    ----------
    mixture : ProductMixture
    counts : Counts
        What the mixture knows.
    total : float
        Weight of the rows behind the counts.
    signs, weights, alpha
        As for ``em_step``.
    learning_decay : float
        As for ``blend``.
    batch_size : int

    Returns
    -------
    mixture : ProductMixture
    counts : Counts
    total : float
    log_likelihoods : list of float
        For a row of each batch, before it was learned. Batches without weight are left
        out.
    """
    log_likelihoods = []
    for start in range(0, len(signs), batch_size):
        batch = slice(start, start + batch_size)
        weight = float(weights[batch].sum())
        if not weight or np.isinf(total / weight):
            continue
        more, log_likelihood = expected_counts(mixture, signs[batch], weights[batch])
        log_likelihoods.append(log_likelihood / weight)
        counts = blend(counts, total, more, weight, learning_decay)
        mixture, total = mixture_of(counts, alpha), total + weight
    return mixture, counts, total, log_likelihoods


class StepwiseMixin:
    """``partial_fit`` of `BernoulliMixture`."""

    def partial_fit(self, X, y=None, sample_weight=None):
        """Learn from one more part of a stream, in memory that does not grow.

        The first call is ``fit``: its rows, some thousands, say where to start. Later
        ones go over their rows once, ``batch_size`` at a time (stepwise EM, which is
        on-line EM). How the later rows are cut into whole batches makes no difference.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, at least 0. A batch steps as far as its share of all
            weight so far allows.

        Returns
        -------
        self : object
            The model as it is so far.

        Raises
        ------
        ValueError
            For bad parameters and data, and for parameters with which what was learned
            cannot go on. What was learned is kept.

        References
        ----------
        Cappe, Moulines. "On-line Expectation-Maximization Algorithm for Latent Data
        Models". Journal of the Royal Statistical Society B 71, 2009.

        Liang, Klein. "Online EM for Unsupervised Models". NAACL 2009, section 3.
        """
        with restore_on_error(self):
            settings = self._settings()
            if not hasattr(self, "_mixture"):
                self._begin(X, sample_weight, settings)
                return self
            alpha = settings["alpha"]
            signs = read_signs(self, X)
            self._check_goes_on()
            weights = check_sample_weight(sample_weight, len(signs))
            check_finite_sum(np.append(self._total, weights))
            counts = self._counts
            if counts is None:
                counts = implied_counts(self._mixture, self._total, alpha)
            mixture, self._counts, self._total, history = learn_batches(
                self._mixture, counts, self._total, signs, weights, alpha,
                self.learning_decay, self.batch_size,
            )  # fmt: skip
            self._publish(mixture, history, False, self.n_iter_ + len(history))
        return self

    def _check_goes_on(self):
        n_components, n_features = self._mixture.logits.shape
        check_same_params(self, KIND, n_components=n_components)
        if n_features != self.n_features_in_:
            raise ValueError(
                f"X has {self.n_features_in_} features; warm_start=True goes on with "
                f"{n_features}. Begin anew with warm_start=False."
            )

    def _check_steps(self):
        check_integer(self.batch_size, "batch_size", 1)
        check_real(self.learning_decay, "learning_decay", 0.5, strict=True)
        if self.learning_decay > 1:
            raise ValueError(
                f"learning_decay must be at most 1; got {self.learning_decay}. Between "
                "0.5 and 1 steps shrink fast enough to settle, slowly enough to arrive."
            )
