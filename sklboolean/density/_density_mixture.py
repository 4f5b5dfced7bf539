"""A mixture of density models, each for the samples that suit it."""

import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from scipy.special import logsumexp, softmax
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.parameters import check_integer, check_real
from sklboolean._core.progress import CallbackSupportMixin, Progress, with_callbacks
from sklboolean._core.validation import warn_user
from sklboolean._core.weights import checked_weights
from sklboolean.density._base import (
    BinaryDensityMixin,
    all_signs,
    apply_in_blocks,
    merge_equal_samples,
)
from sklboolean.density._bernoulli_mixture import BernoulliMixture
from sklboolean.density._combination_machine import CombinationMachine

MIN_SHARE = 1e-3  # of a sample: a component learns nothing from less
MAX_ENUMERATED = 10  # missing bits: 1024 completions
MAX_SEED = 2**31 - 1


def as_bits(signs):
    """Convert signs to 0 and 1, with NaN for missing bits."""
    if signs.all():
        return (signs > 0).astype(np.uint8)
    return np.where(signs == 0, np.nan, signs > 0)


@dataclass(frozen=True)
class DensityMixtureState:
    """The components of a mixture, whose samples are 0 and 1, and their weights."""

    log_weights: np.ndarray
    members: list

    def copy(self):
        """Copy the weights; fitted components are never changed in place."""
        return DensityMixtureState(self.log_weights.copy(), list(self.members))

    def log_joint(self, signs):
        """Compute the log-probability of each component with the known bits."""
        X = as_bits(signs)
        scores = [member.score_samples(X) for member in self.members]
        return np.column_stack(scores) + self.log_weights


class DensityMixture(
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BinaryDensityMixin,
    BaseEstimator,
):
    """Mixture of density models of Boolean samples, each on a tree of its own.

    Each sample comes from one of several hidden classes, and each class has a whole
    density model instead of independent bits. All answers are as exact as those of the
    components. With machines on trees it fits better than one large machine where
    different samples need different trees, and its time grows with the number of
    components, not with a power of 2.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The model of a component: any density model of this package with
        ``sample_weight``. If it has ``warm_start``, it continues from its last
        parameters in each round. None: ``CombinationMachine(6, base="chow_liu",
        alpha=1e-3, n_init=1, max_iter=20, tree_updates=1)``.
    n_components : int, default=10
        Number of components. Raise it while the score of held-out samples grows.
    max_iter : int, default=10
        Maximum number of rounds of EM. In each round all components are fitted.
    tol : float, default=5e-3
        Stop when a round gains less, in nats per sample.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each column. Of the columns with one label exactly one is true, in
        training data, likelihoods, samples and completions: they are the values of one
        attribute. A label that occurs once is a column of its own. It is
        passed on to `estimator`.
    binarize : float or None, default=0.0
        Values above it are true. None requires the codes 0 and 1, or -1 and 1.
    random_state : int, RandomState instance or None, default=None
        Source of the first classes and of the randomness of components, of ``sample``,
        and of ``impute`` with ``method="sample"``.
    n_jobs : int or None, default=None
        Number of components to fit in parallel. The result does not depend on it.
    verbose : int, default=0
        1 prints the mean log-likelihood of each round.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted components. Their samples have the codes 0 and 1.
    weights_ : ndarray of shape (n_components,), dtype float64
        Probability of each component.
    log_likelihoods_ : ndarray of shape (`n_iter_`,), dtype float64
        Mean over the training samples after each round, in nats.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the last round gained less than ``tol``.
    codes_ : ndarray of shape (2,), dtype float64
        The codes of false and true in results: (-1, 1) if all training values were -1
        or 1, else (0, 1).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    CombinationMachine : One machine.
    BernoulliMixture : Components of independent bits; much faster.

    Notes
    -----
    The first classes are those of a ``BernoulliMixture``. A component takes some steps
    towards the likelihood of its samples in each round, weighted by the posterior
    probability of the component: generalized EM. Shares below 0.001 of a sample are
    left out.

    References
    ----------
    Dempster, Laird, Rubin. "Maximum Likelihood from Incomplete Data via the EM
    Algorithm". Journal of the Royal Statistical Society B 39, 1977.

    Meila, Jordan. "Learning with Mixtures of Trees". Journal of Machine Learning
    Research 1, 2000, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import ChowLiuTree, DensityMixture
    >>> X = np.repeat([[0, 0, 1, 1], [0, 1, 1, 0], [1, 0, 0, 0]], 10, axis=0)
    >>> mixture = DensityMixture(ChowLiuTree(), n_components=2, random_state=0).fit(X)
    >>> mixture.impute([[1, np.nan, np.nan, np.nan]], method="map")
    array([[1., 0., 0., 0.]])
    """

    def __init__(
        self, estimator=None, *, n_components=10, max_iter=10, tol=5e-3,
        feature_groups=None, binarize=0.0, random_state=None, n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.estimator = estimator
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.feature_groups = feature_groups
        self.binarize = binarize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        density = CombinationMachine() if self.estimator is None else self.estimator
        tags.input_tags.allow_nan = get_tags(density).input_tags.allow_nan
        return tags

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None):
        """Fit the mixture by rounds of EM.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, if the components can be fitted with NaN. Components
            are fitted to the known bits of their shares of the samples.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the samples, at least 0. A sample of weight 2 counts as two
            samples.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For invalid parameters and data. The state before the call is kept.

        Warns
        -----
        ConvergenceWarning
            From components whose weights grow without bound.
        """
        with restore_on_error(self):
            n_components = check_integer(self.n_components, "n_components", 1)
            max_iter = check_integer(self.max_iter, "max_iter", 1)
            tol = check_real(self.tol, "tol", 0.0)
            progress = Progress(self, "round", max_iter, X)
            allow_missing = get_tags(self).input_tags.allow_nan
            signs = self._read(X, reset=True, allow_missing=allow_missing)
            weights = checked_weights(sample_weight, len(signs), divides=True)
            first, weights = merge_equal_samples(signs, weights)
            signs, weights = signs[first[weights > 0]], weights[weights > 0]
            rng = check_random_state(self.random_state)
            start = BernoulliMixture(
                n_components, random_state=rng.randint(MAX_SEED), max_iter=20,
                feature_groups=self.feature_groups,
            )  # fmt: skip
            with warnings.catch_warnings():  # a start need not have converged
                warnings.simplefilter("ignore", ConvergenceWarning)
                start.fit(as_bits(signs), sample_weight=weights)
            shares = start.transform(as_bits(signs))
            members = [self._new_member(rng) for _ in range(n_components)]
            history, converged = [], False
            while len(history) < max_iter and not converged:
                state = self._fit_members(members, signs, weights, shares)
                members, log_joint = state.members, state.log_joint(signs)
                shares = softmax(log_joint, axis=1)
                scores = logsumexp(log_joint, axis=1)
                history.append(float(np.average(scores, weights=weights)))
                converged = len(history) > 1 and history[-1] - history[-2] < tol
                fitted = state, list(history), converged
                if progress.step(
                    partial("mean log-likelihood {:.4f} nats".format, history[-1]),
                    lambda mixture, fitted=fitted: mixture._set_state(*fitted),
                ):
                    break
            self._set_state(state, history, converged)
            progress.finish()
        return self

    def _new_member(self, rng):
        member = self.estimator
        if member is None:
            member = CombinationMachine(
                6, base="chow_liu", alpha=1e-3, n_init=1, max_iter=20, tree_updates=1
            )
        member = clone(member)
        params = member.get_params(deep=False)
        if self.feature_groups is not None:
            if "feature_groups" not in params:
                raise ValueError(
                    f"estimator={member!r} has no parameter feature_groups. Set "
                    "feature_groups=None, or take a model that has it."
                )
            member.set_params(feature_groups=self.feature_groups)
        for name, value in (("warm_start", True), ("binarize", 0.0)):
            if name in params:
                member.set_params(**{name: value})
        if params.get("random_state", 0) is None:
            member.set_params(random_state=rng.randint(MAX_SEED))
        return member

    def _fit_members(self, members, signs, weights, shares):
        """Fit each component to its shares of the samples: the M-step."""
        shares = np.where(shares < MIN_SHARE, 0.0, shares)
        shares *= (weights / shares.sum(axis=1))[:, None]
        totals = shares.sum(axis=0)
        alive = np.flatnonzero(totals > 0)
        fitted = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(members[k].fit)(
                as_bits(signs[shares[:, k] > 0]),
                sample_weight=shares[shares[:, k] > 0, k],
            )
            for k in alive
        )
        return DensityMixtureState(np.log(totals[alive] / totals.sum()), fitted)

    def _set_state(self, state, history, converged):
        self._state = state
        self.estimators_ = state.members
        self.weights_ = np.exp(state.log_weights)
        self.log_likelihoods_ = np.array(history)
        self.n_iter_, self.converged_ = len(history), converged

    def _log_density(self, signs):
        return logsumexp(self._state.log_joint(signs), axis=1)

    def _complete_by_means(self, signs, rng=None):
        shares = softmax(self._state.log_joint(signs), axis=1)
        X = as_bits(signs)
        means = [member.impute(X) for member in self.estimators_]
        return 2 * np.einsum("ik,kij->ij", shares, means) - 1

    def _complete_at_random(self, signs, rng):
        shares = softmax(self._state.log_joint(signs), axis=1)
        reached = rng.uniform(size=(len(signs), 1)) < np.cumsum(shares, axis=1)
        reached[:, -1] = True  # rounding may leave the last sum below 1
        chosen, filled = reached.argmax(axis=1), signs.copy()
        for k in np.unique(chosen):
            own = chosen == k
            bits = self.estimators_[k].impute(as_bits(signs[own]), "sample", rng)
            filled[own] = 2 * bits - 1
        return filled

    def _most_probable(self, signs, rng=None):
        filled, n_missing = signs.copy(), (signs == 0).sum(axis=1)
        for i in np.flatnonzero(n_missing):
            if n_missing[i] <= MAX_ENUMERATED:
                values = all_signs(n_missing[i])
                candidates = np.tile(signs[i], (len(values), 1))
                candidates[:, signs[i] == 0] = values
            else:
                one = as_bits(signs[i : i + 1])
                with warnings.catch_warnings():  # said below
                    warnings.simplefilter("ignore", UserWarning)
                    bits = [member.impute(one, "map") for member in self.estimators_]
                candidates = (2 * np.concatenate(bits) - 1).astype(np.int8)
            filled[i] = candidates[self._log_density(candidates).argmax()]
        n_inexact = np.count_nonzero(n_missing > MAX_ENUMERATED)
        if n_inexact:
            warn_user(
                f"In {n_inexact} samples more than {MAX_ENUMERATED} bits are missing, "
                "too many to compare all completions. The best completion of a single "
                "component is returned, which may not be the most probable one. "
                "method='mean' and 'sample' are exact."
            )
        return filled

    @property
    def _n_features_out(self):
        return len(self.weights_)

    def transform(self, X):
        """Compute the probability of each component given the sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_components), dtype float64
            Each row sums to 1.
        """
        check_is_fitted(self)
        return apply_in_blocks(
            lambda signs: softmax(self._state.log_joint(signs), axis=1),
            self._read(X),
        )
