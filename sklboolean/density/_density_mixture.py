"""A mixture of density models, each for the samples that suit it."""

# Steps of `fit`:
# 1. The first classes are those of a `BernoulliMixture` (`_first_classes`).
# 2. Rounds of generalized EM (`_run_start`): `divide` computes the share that each
#    component has of each sample, an array of shape (n_samples, n_components), whose
#    rows sum to the weights. Then each component continues its fit on its shares.
# 3. `_run_em` repeats this from several starts. The mean of mixtures is again a
#    mixture.
#
# The default tries sizes on a part of the samples (`_choose_families`), and weighs a
# tree and a mixture of products beside the machines by held-out samples (Smyth, Wolpert
# 1999).
#
# Invariant: samples inside are signs (int8) with distinct rows; components see bits 0
# and 1, with NaN for missing ones.

import warnings
from dataclasses import dataclass
from functools import partial
from itertools import compress

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, get_tags

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import targets_of
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.held_out import hold_out
from sklboolean._core.long_fits import warn_of_long_fit
from sklboolean._core.parallel import in_threads
from sklboolean._core.parameters import check_integer, is_auto
from sklboolean._core.progress import CallbackSupportMixin, Progress, with_callbacks
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import checked_weights, parts_of_copies
from sklboolean.density._base import (
    BinaryDensityMixin,
    UsesDensityMixin,
    apply_in_blocks,
    doublings,
    grow,
)
from sklboolean.density._bernoulli_mixture import BernoulliMixture, ComponentsMixin
from sklboolean.density._combination_machine import CombinationMachine
from sklboolean.density._em import draw_components
from sklboolean.density._old_parameters import OF_DENSITY_MIXTURE
from sklboolean.density._packed_signs import merge_equal_samples
from sklboolean.density._stacking import stacking_weights
from sklboolean.density._tree import ChowLiuTree

HELD_OUT = 0.1  # of the samples, by n_components="auto"
MIN_HELD_OUT = 200  # samples, unless these are more than a quarter
MIN_SAMPLES = 8  # for a choice by held-out samples
MAX_TRIED = 4000  # samples on which the default tries densities
N_ROUNDS_TRIED = 3  # of EM
N_AVERAGED = 4  # mixtures of the default
N_ROUNDS = 2  # of EM in each of them, beyond MAX_TRIED samples
MAX_COMPONENTS = 32  # of the default
TOL = 5e-3  # nats per sample
GROWTH = 2  # of their number with that of the samples, beyond MAX_TRIED
N_PRODUCTS, PER_PRODUCT = (1, 4, 16), 10  # sizes that are tried, samples for each
MIN_WEIGHT = 0.05  # of a density that is combined with others
MIN_SHARE = 1e-3  # of a sample: a component learns nothing from less
MAX_SEED = 2**31 - 1


def as_bits(signs):
    """Convert signs to 0 and 1, with NaN for missing bits."""
    if signs.all():
        return (signs > 0).astype(np.uint8)
    return np.where(signs == 0, np.nan, signs > 0)


def merged(signs, weights):
    """Merge equal samples, and leave out samples without weight."""
    first, weights = merge_equal_samples(signs, weights)
    return signs[first[weights > 0]], weights[weights > 0]


def divide(model, signs, weights):
    """Divide the weights of samples among components: the E-step.

    Returns
    -------
    shares : ndarray of shape (n_samples, n_components)
        Each row sums to the weight of the sample.
    log_likelihood : float
        Mean over the samples.
    """
    log_joint = model.log_joint(signs)
    shares = softmax(log_joint, axis=1)
    shares[shares < MIN_SHARE] = 0.0
    shares *= (weights / shares.sum(axis=1))[:, None]
    total_log = float(weights @ logsumexp(log_joint, axis=1))
    return shares, total_log / weights.sum()


@dataclass(frozen=True)
class DensityMixtureState:
    """The components of a mixture, whose samples are 0 and 1, and their weights."""

    log_weights: np.ndarray
    members: list

    def log_joint(self, signs):
        """Compute the log-probability of each component with the known bits."""
        scores = [self._log_likelihoods(member, signs) for member in self.members]
        return np.column_stack(scores) + self.log_weights

    @staticmethod
    def _log_likelihoods(member, signs):
        """Score samples; models of this package take the signs as they are."""
        if not isinstance(member, BinaryDensityMixin):
            return member.score_samples(as_bits(signs))
        member._prepare_likelihood()
        return apply_in_blocks(member._log_density, signs)


def continue_fit(model, X, sample_weight):
    """Fit a model, from its last parameters if it can do so."""
    with parts_of_copies():
        if hasattr(model, "_continue_fit"):
            return model._continue_fit(X, sample_weight)
        return model.fit(X, sample_weight=sample_weight)


def mean_of_mixtures(states):
    """Build the mixture of all components of several mixtures."""
    log_weights = np.concatenate([state.log_weights for state in states])
    members = [member for state in states for member in state.members]
    return DensityMixtureState(log_weights - np.log(len(states)), members)


def default_component(complete=True):
    """Return a machine on a tree, or a tree where bits are missing."""
    if not complete:
        return TreeComponent()
    return CombinationMachine(6, base="fixed_chow_liu", n_init=1, max_iter=20)


class TreeComponent(ChowLiuTree):
    """A tree of samples with missing bits, which each round of EM improves a little."""

    _max_iter = 2


@old_parameters(**OF_DENSITY_MIXTURE)
class DensityMixture(
    CallbackSupportMixin,
    ComponentsMixin,
    UsesDensityMixin,
    BinaryDensityMixin,
    VersionedEstimator,
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
        ``sample_weight``. A machine, a `BernoulliMixture`, or a model with
        ``warm_start``, continues from its last parameters in each round. None:
        ``CombinationMachine(6, base="fixed_chow_liu", n_init=1, max_iter=20)``.
    n_components : int or "auto", default="auto"
        Number of components. Raise it while the score of held-out samples grows.
        "auto": 1, 2, 4 and so on as long as the mean log-likelihood of a held-out tenth
        of the samples grows by more than its standard error; all samples are used
        afterwards. With ``estimator=None`` too, a `ChowLiuTree` and a
        `BernoulliMixture` become further components, with the weights under which the
        held-out samples are most likely, and the density is the mean of four mixtures
        from different starts: a mixture of all their components.
    max_iter : int, default=10
        Maximum number of rounds of EM. In each round all components are fitted. EM ends
        earlier when a round gains less than 0.005 nats per sample.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each column. Exactly one of the columns with one label is true, in
        training data, likelihoods, samples and completions: they are the values of one
        attribute. A label that occurs once is a column of its own. It is
        passed on to `estimator`.
    binarize : float or None, default=0.0
        Values above it are true. None requires the codes 0 and 1, or -1 and 1.
    random_state : int, RandomState instance or None, default=None
        Source of the first classes and of the randomness of components, of ``sample``,
        and of ``impute`` with ``method="sample"``.
    verbose : int, default=0
        1 prints the mean log-likelihood of each round.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted components. Their samples have the codes 0 and 1.
    weights_ : ndarray of shape (n_estimators,), dtype float64
        Probability of each component. Each mixture has `n_components` of them, less
        those that got no samples; the default has up to two more.
    log_likelihoods_ : ndarray of shape (`n_iter_`,), dtype float64
        Mean over the training samples after each round, in nats; those of the averaged
        mixtures are concatenated. Those of the default leave out the tree and the
        `BernoulliMixture`.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether the last round gained less than 0.005 nats per sample.
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
    The first classes are those of a ``BernoulliMixture``, and the trees of default
    components are the Chow-Liu trees of these classes. A component takes some steps
    towards the likelihood of its samples in each round, weighted by the posterior
    probability of the component: generalized EM. Shares below 0.001 of a sample are
    left out. Components are fitted in parallel by ``joblib.parallel_config(n_jobs=2)``,
    on which no result depends.

    The default, ``DensityMixture()``, tries numbers of components on at most 4000
    samples, of which a tenth, or 200 up to a quarter, is held out. For n > 4000 samples
    the number is multiplied by n / 2000, and a mixture has two rounds. Each of the four
    mixtures has at most 32 components. Where bits are missing these are trees with two
    steps of EM in each round. A tree of all samples, and products of which the best of
    three sizes counts, are left out if their weight is below 0.05. With fewer than
    eight samples a mixture has one component.

    References
    ----------
    Dempster, Laird, Rubin. "Maximum Likelihood from Incomplete Data via the EM
    Algorithm". Journal of the Royal Statistical Society B 39, 1977.

    Smyth, Wolpert. "Linearly Combining Density Estimators via Stacking". Machine
    Learning 36, 1999, section 3.

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
        self, estimator=None, *, n_components="auto", max_iter=10, feature_groups=None,
        binarize=0.0, random_state=None, verbose=0,
    ):  # fmt: skip
        self.estimator = estimator
        self.n_components = n_components
        self.max_iter = max_iter
        self.feature_groups = feature_groups
        self.binarize = binarize
        self.random_state = random_state
        self.verbose = verbose

    def _default_density(self):
        return default_component()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "DensityMixture":
        """Fit the mixture by rounds of EM.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, if the components can be fitted with NaN. Components
            are fitted to the known bits of their shares of the samples.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

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
        UserWarning
            Before a fit that is expected to take longer than a minute of one core.
        ConvergenceWarning
            From components whose weights grow without bound.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            self._check_params()
            chooses = self.n_components == "auto" and self.estimator is None
            n_starts = N_AVERAGED if chooses else 1
            progress = Progress(self, "round", n_starts * self.max_iter, X)
            allow_missing = get_tags(self).input_tags.allow_nan
            signs = self._read(X, reset=True, allow_missing=allow_missing)
            weights = checked_weights(sample_weight, len(signs))
            rng, n_components = check_random_state(self.random_state), self.n_components
            if chooses:
                instead = "BernoulliMixture or ChowLiuTree, or a number of n_components"
                warn_of_long_fit(self, 6e-4 * len(signs), instead)
                self._fit_families(signs, weights, rng, progress)
            else:
                if n_components == "auto":
                    n_components = self._choose_n_components(signs, weights, rng)
                samples = merged(signs, weights)
                self._run_em(*samples, n_components, rng, progress)
            progress.finish()
        return self

    def _check_params(self):
        if not is_auto(self.n_components, "n_components"):
            check_integer(self.n_components, "n_components", 1)
        check_integer(self.max_iter, "max_iter", 1)

    def _choose_n_components(self, signs, weights, rng):
        """Double the number of components as long as held-out samples gain."""
        X, weights = as_bits(signs[weights > 0]), weights[weights > 0]
        apart = hold_out(len(X), HELD_OUT, rng, "n_components='auto'")
        return self._grow(X, weights, apart, rng, len(X)).n_components

    def _grow(self, X, weights, apart, rng, largest, **params):
        """Fit mixtures of ever more components to samples that are not held out."""
        seed, trials = rng.randint(MAX_SEED), {}
        quiet = {"verbose": 0, "binarize": 0.0, "random_state": seed}
        params = self.get_params(deep=False) | quiet | params

        def log_likelihoods(n_components):  # no clone, which would have the callbacks
            mixture = type(self)(**params | {"n_components": n_components})
            mixture.fit(X[~apart], sample_weight=weights[~apart])
            trials[n_components] = mixture
            return mixture.score_samples(X[apart])

        return trials[grow(doublings(largest), log_likelihoods, weights[apart])]

    def _fit_families(self, signs, weights, rng, progress):
        """Combine default components with a tree and products, by held-out samples."""
        signs, weights = signs[weights > 0], weights[weights > 0]
        mixture, others, shares = self._choose_families(signs, weights, rng)
        signs, weights = merged(signs, weights)
        # From any start the one tree of all samples is the same.
        is_one_tree = mixture.n_components == 1 and not signs.all()
        if len(signs) > MAX_TRIED:
            mixture.set_params(max_iter=min(self.max_iter, N_ROUNDS))
        # Samples were held out from components that were tried; they resume with all.
        tried = hasattr(mixture, "_state")
        start = (mixture._state, mixture.estimators_) if tried else None
        size, n_starts = mixture.n_components, 1 if is_one_tree else N_AVERAGED
        mixture._run_em(signs, weights, size, rng, progress, start, n_starts)
        X = as_bits(signs)
        for other in others:  # EM may not find the products again
            continue_fit(other, X, weights)
        first, *others_shares = np.log(shares)
        log_weights = np.append(mixture._state.log_weights + first, others_shares)
        state = DensityMixtureState(log_weights, [*mixture.estimators_, *others])
        self._set_state(state, mixture.log_likelihoods_, mixture.converged_)

    def _choose_families(self, signs, weights, rng):
        """Fit densities to most samples, and weigh them by the others."""
        component = default_component(bool(signs.all()))
        mixture = clone(self).set_params(estimator=component, n_components=1)
        n_samples = len(signs)
        if n_samples < MIN_SAMPLES:
            return mixture, [], np.ones(1)
        tried = rng.permutation(n_samples)[:MAX_TRIED]
        signs, weights = signs[tried], weights[tried]
        X, share = as_bits(signs), np.clip(MIN_HELD_OUT / len(tried), HELD_OUT, 0.25)
        apart = hold_out(len(X), share, rng, "n_components='auto'")
        largest = min(len(X), MAX_COMPONENTS)
        trial = mixture._grow(X, weights, apart, rng, largest, max_iter=N_ROUNDS_TRIED)
        trial.set_params(max_iter=self.max_iter)
        others = self._fit_others(X, weights, apart, rng)
        scores = [model.score_samples(X[apart]) for model in (trial, *others)]
        shares = stacking_weights(np.column_stack(scores), weights[apart])
        is_kept = np.append(True, shares[1:] >= MIN_WEIGHT)
        others = list(compress(others, is_kept[1:]))
        if len(tried) < n_samples:  # more samples are worth more components
            size = trial.n_components
            more = min(round(GROWTH * size * n_samples / MAX_TRIED), MAX_COMPONENTS)
            trial = mixture.set_params(n_components=more)
        return trial, others, shares[is_kept] / shares[is_kept].sum()

    def _fit_others(self, X, weights, apart, rng):
        """Fit a tree, and the best of some mixtures of products."""
        seed, groups = rng.randint(MAX_SEED), {"feature_groups": self.feature_groups}
        sizes = [k for k in N_PRODUCTS if k == 1 or k * PER_PRODUCT <= len(X)]
        products = [
            BernoulliMixture(size, alpha=1.0, random_state=seed, **groups)
            for size in sizes
        ]
        models = [ChowLiuTree(random_state=seed, **groups), *products]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for model in models:
                model.fit(X[~apart], sample_weight=weights[~apart])
        scores = [weights[apart] @ each.score_samples(X[apart]) for each in models[1:]]
        return [models[0], models[1 + int(np.argmax(scores))]]

    def _run_em(
        self, samples, weights, n_components, rng, progress, start=None, n_starts=1
    ):
        """Fit mixtures from several starts and take their mean."""
        before, history = [], []
        for _ in range(n_starts):
            if start is None or before:
                start = self._first_classes(samples, weights, n_components, rng)
            states, rounds, converged, stopped = self._run_start(
                samples, weights, start, progress, before
            )
            before, history = states, history + rounds
            if stopped:
                break
        self._set_state(mean_of_mixtures(before), history, converged)

    def _first_classes(self, samples, weights, n_components, rng):
        """Find the first classes of samples, and make a component for each."""
        seed, groups = rng.randint(MAX_SEED), self.feature_groups
        start = BernoulliMixture(
            n_components, random_state=seed, max_iter=20, feature_groups=groups
        )
        with warnings.catch_warnings():  # a start need not have converged
            warnings.simplefilter("ignore", ConvergenceWarning)
            start.fit(as_bits(samples), sample_weight=weights)
        members = [self._new_member(rng) for _ in range(n_components)]
        return start._state.mixture, members

    def _run_start(self, samples, weights, start, progress, before):
        """Fit the components and divide the samples among them, in turns."""
        model, members = start
        history, converged = [], False
        shares, last = divide(model, samples, weights)
        if not isinstance(model, DensityMixtureState):
            last = -np.inf  # no components yet that a round could improve
        while len(history) < self.max_iter and not converged:
            totals = shares.sum(axis=0)
            alive = np.flatnonzero(totals > 0)
            members = self._fit_members(members, samples, shares, alive)
            log_weights = np.log(totals[alive] / totals.sum())
            state = DensityMixtureState(log_weights, members)
            shares, value = divide(state, samples, weights)
            history.append(value)
            converged, last = value - last < TOL, value
            fitted = mean_of_mixtures([*before, state]), list(history), converged
            if progress.step(
                partial("mean log-likelihood {:.4f} nats".format, value),
                lambda mixture, fitted=fitted: mixture._set_state(*fitted),
            ):
                return [*before, state], history, converged, True
        return [*before, state], history, converged, False

    def _fit_members(self, members, samples, shares, alive):
        """Fit each component to its shares of the samples: the M-step."""

        def of_member(k):
            is_used = shares[:, k] > 0
            return members[k], as_bits(samples[is_used]), shares[is_used, k]

        return list(in_threads(continue_fit, map(of_member, alive)))

    def _new_member(self, rng):
        member = clone(self._density())
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

    def _set_state(self, state, history, converged):
        self._state = state
        self.estimators_ = state.members
        self.weights_ = np.exp(state.log_weights)
        self.log_likelihoods_ = np.array(history)
        self.n_iter_, self.converged_ = len(history), converged

    def _fields(self):
        state = self._state
        fields = {"log_weights": state.log_weights, "estimators": state.members}
        return super()._fields() | fields

    def _log_joint(self, signs):
        return self._state.log_joint(signs)

    def _log_density(self, signs):
        return logsumexp(self._log_joint(signs), axis=1)

    def _complete_by_means(self, signs, rng=None):
        shares = softmax(self._log_joint(signs), axis=1)
        X = as_bits(signs)
        means = [member.impute(X) for member in self.estimators_]
        return 2 * np.einsum("ik,kij->ij", shares, means) - 1

    def _complete_at_random(self, signs, rng):
        shares = softmax(self._log_joint(signs), axis=1)
        chosen, filled = draw_components(shares, rng), signs.copy()
        for k in np.unique(chosen):
            drawn_from = chosen == k
            bits = self.estimators_[k].impute(as_bits(signs[drawn_from]), "sample", rng)
            filled[drawn_from] = 2 * bits - 1
        return filled
