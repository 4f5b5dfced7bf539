"""Version spaces: the protocol, and the committee that a posterior stands for."""

# A label is learned in this order: its probability under the posterior so far is its
# information, then the posterior is conditioned on it, as often as its weight says.

from copy import deepcopy

import numpy as np

from sklboolean._core.versioned import VersionedEstimator
from sklboolean.active_learning._strategies import CommitteePredictions

EMPTY_MESSAGE = (
    "No hypothesis agrees with all labels: the version space is empty. Allow for wrong "
    "labels, for example with label_noise=0.05, or choose a richer class of hypotheses."
)


class VersionSpace(VersionedEstimator):
    """Base class of the version spaces: a posterior over hypotheses, given labels.

    Subclasses implement ``initialize``, ``update``, ``sample_predictions``,
    ``is_empty`` and ``_positive_probability``.
    """

    def predict_proba(self, X) -> np.ndarray:
        """Compute the posterior predictive distribution.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for ``update``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2), dtype float64
            Probability that a hypothesis drawn from the posterior predicts negative,
            and positive. Label noise changes the posterior only; predictions are those
            of the hypothesis, without noise.

        Raises
        ------
        ValueError
            For invalid parameters or samples, and if the version space is empty.
        """
        positive = np.clip(self._positive_probability(X), 0, 1)
        return np.column_stack([1 - positive, positive])


def check_binary(y, n_samples):
    """Validate the labels of a version space, one bool for each sample."""
    y = np.asarray(y)
    is_binary = y.dtype.kind in "biuf" and np.isin(y, (0, 1)).all()
    if y.shape != (n_samples,) or not is_binary:
        raise ValueError(
            f"y must be a bool for each of the {n_samples} samples, True for positive; "
            f"its shape is {y.shape}, its dtype {y.dtype}."
        )
    return y.astype(bool)


def is_version_space(committee):
    """Test if an object has the methods of a version space."""
    return hasattr(committee, "update") and hasattr(committee, "sample_predictions")


class VersionSpaceCommittee:
    """A committee whose members are the hypotheses of a version space.

    The posterior predictive distribution stands for the votes of all members. The
    methods are those of `EnsembleCommittee`.

    Parameters
    ----------
    space : version space
        It is copied.
    n_features : int
    seed : int
        Used as ``random_state`` if that of the version space is None.
    """

    # A posterior that expects little disagreement is enough to stop.
    patience = 1
    n_initial = 0
    has_prior = True
    default_strategy = "pairwise_disagreement"

    def __init__(self, space, n_features, seed):
        self.fitted = deepcopy(space)
        if getattr(space, "random_state", seed) is None:
            self.fitted.random_state = seed
        if isinstance(space, VersionSpace):
            self.fitted.initialize(n_features)
        self.label_noise = getattr(space, "label_noise", 0)
        self.kernel = getattr(self.fitted, "kernel_", None)

    def check_weights(self, weights):
        """Refuse weights that are no numbers of copies."""
        fractions = weights[weights != np.floor(weights)]
        if len(fractions):
            raise ValueError(
                "A version space treats sample_weight as the number of copies of a "
                f"sample: weights must be whole numbers; got {fractions[0]:g}. A "
                "committee of classifiers accepts any weights."
            )

    def fit(self, X, y, weights, n_new, classes):
        """Update the posterior with the last ``n_new`` labels, one after the other.

        Returns
        -------
        gains : ndarray of shape (n_new,)
            Information of each label given those before it, in bits.

        Raises
        ------
        ValueError
            If no hypothesis is left.
        """
        first, noise = len(y) - n_new, self.label_noise
        X, y, gains = X[first:], y[first:] == classes[1], np.empty(n_new)
        # Without noise a repeated label adds no information.
        repeats = weights[first:].astype(np.intp) if noise else np.ones(n_new, np.intp)
        for i in range(n_new):
            sample = self.project(X[i : i + 1])
            p = float(self.fitted.predict_proba(sample)[0, int(y[i])])
            # A sampled posterior can miss the label; the gain stays finite.
            p = max(noise + (1 - 2 * noise) * p, np.finfo(np.float64).eps)
            gains[i] = -np.log2(p)
            copies = np.zeros(repeats[i], dtype=np.intp)
            self.fitted.update(sample[copies], np.repeat(y[i], repeats[i]))
            if self.fitted.is_empty:
                raise ValueError(EMPTY_MESSAGE)
        return gains

    def project(self, X):
        """Prepare a pool for repeated predictions.

        Halfspaces keep the coordinates of its samples. Then each label costs one
        column of the kernel matrix.
        """
        return self.fitted.project(X) if hasattr(self.fitted, "project") else X

    def predict(self, X, classes, *, with_probabilities=False):
        """Compute the posterior predictive distribution as `CommitteePredictions`."""
        posterior, scores = self.fitted.predict_proba(X), None
        if with_probabilities and hasattr(self.fitted, "mean_scores"):
            scores = self.fitted.mean_scores(X)
        return CommitteePredictions(2, posterior=posterior, scores=scores)
