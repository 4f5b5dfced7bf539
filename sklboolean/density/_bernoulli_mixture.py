"""BernoulliMixture: samples of a few hidden classes with independent bits."""

# `fit` reads samples as packed signs (two bits each), merges equal ones, and runs EM
# (`_em`). `most_probable_bits` is exact branch and bound: scores of partial assignments
# (n_branches, n_components), of which those are kept whose bound reaches the best
# known.

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import targets_of
from sklboolean._core.damage import require_shape
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.held_out import hold_out
from sklboolean._core.parameters import (
    check_integer,
    check_real,
    check_same_params,
    flat_params,
    is_auto,
)
from sklboolean._core.progress import (
    SILENT,
    CallbackSupportMixin,
    Progress,
    with_callbacks,
)
from sklboolean._core.validation import warn_user
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import checked_weights
from sklboolean.density._base import (
    BinaryDensityMixin,
    ContinuedFitMixin,
    apply_in_blocks,
    doublings,
    grow,
)
from sklboolean.density._em import (
    EMOptions,
    MixtureState,
    draw_components,
    fit_best_start,
    posterior,
    run_em,
    stepwise_em,
)
from sklboolean.density._old_parameters import OF_BERNOULLI_MIXTURE
from sklboolean.density._packed_signs import merge_equal_samples

MAX_BRANCHES = 2**14
BATCH_SIZE = 1000  # samples of a step of ``partial_fit``
HELD_OUT = 0.1  # of the samples, by n_components="auto"
# They must not change while training is resumed.
STATE_PARAMS = ("n_components", "feature_groups", "binarize")


def most_probable_bits(log_weights, logits, max_branches=MAX_BRANCHES):
    """Find the jointly most probable bits of a mixture of products by branch and bound.

    Bits are decided one after the other. A partial assignment is discarded if none of
    its completions can be better than one that is known. The bound is the sum of the
    best completions of the components, which may differ from each other.

    Parameters
    ----------
    log_weights : ndarray of shape (n_components,), dtype float64
    logits : ndarray of shape (n_components, n_bits), dtype float64
    max_branches : int
        Largest number of partial assignments to keep; of more, those with the largest
        bounds are kept.

    Returns
    -------
    true : ndarray of shape (n_bits,), dtype bool
    exact : bool
        Whether no partial assignment was discarded without proof: then no completion is
        more probable.
    """
    # Where all components agree, their common value maximises each term of the sum.
    agreed = (logits >= 0).all(axis=0) | (logits < 0).all(axis=0)
    true, exact = logits[0] >= 0, True
    agreed_scores = -np.logaddexp(0, -np.abs(logits[:, agreed])).sum(axis=1)
    # Large disagreements first: they exclude most.
    order = np.flatnonzero(~agreed)
    shares = np.exp(log_weights - logsumexp(log_weights))
    spread = shares @ (logits - shares @ logits) ** 2
    order = order[np.argsort(-spread[order], kind="stable")]
    logits = logits[:, order]
    log_true, log_false = -np.logaddexp(0, -logits), -np.logaddexp(0, logits)

    # The best of the components' own completions is a lower bound.
    modes = logits >= 0
    mode_scores = np.where(modes[:, None], log_true, log_false).sum(axis=2)
    mode_scores = logsumexp(mode_scores + (log_weights + agreed_scores), axis=1)
    true[order], known_best = modes[mode_scores.argmax()], mode_scores.max()
    threshold = known_best - 1e-9 * (1 + abs(known_best))  # allow for rounding

    best_rest = np.maximum(log_true, log_false)
    best_after = best_rest.sum(axis=1, keepdims=True) - np.cumsum(best_rest, axis=1)
    # Bit by bit: each branch splits in two, and those that cannot win are dropped.
    branches = (log_weights + agreed_scores)[None]
    decided = np.zeros((1, len(order)), dtype=bool)
    for j in range(len(order)):
        branches = np.concatenate(
            [branches + log_true[:, j], branches + log_false[:, j]]
        )
        decided = np.concatenate([decided, decided])
        decided[: len(decided) // 2, j] = True
        bounds = logsumexp(branches + best_after[:, j], axis=1)
        alive = np.flatnonzero(bounds >= threshold)
        if len(alive) > max_branches:
            exact = False
            alive = alive[np.argsort(-bounds[alive], kind="stable")[:max_branches]]
        branches, decided = branches[alive], decided[alive]
    scores = logsumexp(branches, axis=1)
    if len(scores) and scores.max() > known_best:
        true[order] = decided[scores.argmax()]
    return true, exact


class ComponentsMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Features of a mixture: the probabilities of its components.

    A fitted mixture has ``weights_`` and ``_log_joint(signs)``, the log-probability of
    each component with the known bits of each sample.
    """

    @property
    def _n_features_out(self):
        return len(self.weights_)

    def transform(self, X) -> np.ndarray:
        """Compute the probability of each component given the sample.

        ``GaussianMixture`` calls this ``predict_proba``, a name that scikit-learn's
        checks reserve for classifiers where X may be sparse.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, which is summed out.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_components), dtype float64
            Each row sums to 1.
        """
        check_is_fitted(self)
        return apply_in_blocks(
            lambda signs: posterior(self._log_joint(signs))[0], self._read(X)
        )


@old_parameters(**OF_BERNOULLI_MIXTURE)
class BernoulliMixture(
    CallbackSupportMixin,
    ContinuedFitMixin,
    ComponentsMixin,
    BinaryDensityMixin,
    VersionedEstimator,
):
    """Density of Boolean samples of a few hidden classes with independent bits.

    Fitted by EM, or by online EM on a stream. Bits may be missing, in training samples
    too. As a transformer it computes the probability of each class.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number of components (hidden classes). "auto": 1, 2, 4 and so on as long as the
        mean log-likelihood of a held-out tenth of the samples grows by more than its
        standard error; all samples are used afterwards.
    alpha : float, default=0.1
        Smoothing, above 0: added to the number of true bits, of false bits, and of
        samples, of each component. EM then finds a local maximum of the likelihood
        times a Beta and a Dirichlet density. Raise it for small training sets.
    n_init : int, default=1
        Number of random starts. The best result is kept. Each begins with one
        component. Whenever EM has converged, the components are split in two, those
        with the largest weights first, until there are enough.
    max_iter : int, default=200
        Maximum number of steps of EM, counted again after each doubling. EM has
        converged when a step gains less than 0.001 nats per sample.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each column. Exactly one of the columns with one label is true, in
        training data, likelihoods, samples and completions: they are the values of one
        attribute. A label that occurs once is a column of its own.
    binarize : float or None, default=0.0
        Values above it are true. None requires the codes 0 and 1, or -1 and 1.
    random_state : int, RandomState instance or None, default=None
        Source of the random starts, of ``sample``, and of ``impute`` with
        ``method="sample"``.
    verbose : int, default=0
        1 prints the log-likelihood of each start.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,), dtype float64
        Probability of each component.
    means_ : ndarray of shape (n_components, `n_features_in_`), dtype float64
        Probability of a true bit in each component.
    log_likelihoods_ : ndarray of shape (n_steps,), dtype float64
        Mean log-likelihood of the samples in nats, before the first step of EM and
        after each step; those of all doublings are concatenated. After a later
        ``partial_fit``: of the samples of each batch before they are learned.
    n_iter_ : int
        Number of steps of EM, over all calls of ``partial_fit``.
    converged_ : bool
        Whether EM had converged after the last step; False on a stream.
    codes_ : ndarray of shape (2,), dtype float64
        The codes of false and true in results: (-1, 1) if all training values were -1
        or 1, else (0, 1).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    Warns
    -----
    ConvergenceWarning
        If EM has not converged after ``max_iter`` steps.

    See Also
    --------
    ChowLiuTree : A tree instead of hidden classes; nothing to tune.

    Notes
    -----
    Threads are those of ``joblib.parallel_config(n_jobs=2)``, for example. No result
    depends on their number.

    References
    ----------
    Dempster, Laird, Rubin. "Maximum Likelihood from Incomplete Data via the EM
    Algorithm". Journal of the Royal Statistical Society B 39, 1977.

    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    Thesis, 1993, section 4.4: doubling.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import BernoulliMixture
    >>> X = np.repeat([[0, 0, 0, 1], [1, 1, 1, 0]], 20, axis=0)
    >>> mixture = BernoulliMixture(2, random_state=0).fit(X)
    >>> mixture.impute([[1, 1, np.nan, np.nan]]).round(1)
    array([[1., 1., 1., 0.]])
    """

    _learns_with_gaps = True

    def __init__(
        self, n_components=10, *, alpha=0.1, n_init=1, max_iter=200,
        feature_groups=None, binarize=0.0, random_state=None, verbose=0,
    ):  # fmt: skip
        self.n_components = n_components
        self.alpha = alpha
        self.n_init = n_init
        self.max_iter = max_iter
        self.feature_groups = feature_groups
        self.binarize = binarize
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "BernoulliMixture":
        """Fit the mixture by EM.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, which is left out of all counts. This is unbiased if
            bits are missing regardless of their values.
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
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        return self._fit(X, sample_weight)

    def _fit(self, X, sample_weight, *, resumes=False):
        with restore_on_error(self):
            options = self._check_params()
            progress = Progress(self, "start", options.n_init, X)
            self._learn(X, sample_weight, options, progress, resumes)
            progress.finish()
        if not self.converged_:
            warn_user(
                f"EM had not converged after max_iter={self.max_iter} steps. Raise "
                "max_iter.",
                ConvergenceWarning,
            )
        return self

    def _learn(
        self, X, sample_weight, options, progress=SILENT, resumes=False, scaled=True
    ):
        signs = self._read(X, reset=True, packed=True)
        weights = checked_weights(sample_weight, len(signs), scaled=scaled)
        total, rng = float(weights.sum()), check_random_state(self.random_state)
        if self.n_components == "auto" and not resumes:
            n_components = self._choose_n_components(signs, weights, options, rng)
            options = replace(options, n_components=n_components)
        first, weights = merge_equal_samples(signs, weights)
        signs = signs.take(first)  # the others need not be kept
        if resumes:
            result = run_em(self._state.mixture, signs, weights, options)
        else:
            report = partial(self._report, progress, total)
            result = fit_best_start(
                signs, weights, options, rng, self._attributes, report
            )
        self._set_result(result, total)

    def _choose_n_components(self, signs, weights, options, rng):
        """Double the number of components as long as held-out samples gain."""
        signs, weights = signs.take(weights > 0), weights[weights > 0]
        apart = hold_out(len(signs), HELD_OUT, rng, "n_components='auto'")
        held_out, of_held_out, seed = signs[apart], weights[apart], rng.randint(2**31)
        signs = signs.take(~apart)
        first, weights = merge_equal_samples(signs, weights[~apart])
        signs = signs.take(first)

        def log_likelihoods(n_components):
            sized = replace(options, n_components=n_components)
            rng = np.random.RandomState(seed)
            result = fit_best_start(signs, weights, sized, rng, self._attributes)
            return posterior(result.mixture.log_joint(held_out))[1]

        return grow(doublings(len(signs)), log_likelihoods, of_held_out)

    def _set_result(self, result, total):
        history = result.log_likelihoods
        state = MixtureState(result.mixture, None, total)
        self._set_state(state, history, result.converged, len(history) - 1)

    def _report(self, progress, total, result, best):
        """Report a start; return whether a callback stops the fit."""
        history = result.log_likelihoods
        text = f"log-likelihood {history[-1]:.4f} nats after {len(history) - 1} steps"
        if not result.converged:
            text += ", not converged"
        return progress.step(
            lambda: text, lambda mixture: mixture._set_result(best, total)
        )

    def partial_fit(self, X, y=None, sample_weight=None) -> "BernoulliMixture":
        """Learn from the next chunk of a stream, in constant memory.

        The first call is ``fit``: its samples, some thousands, determine the start.
        Later calls make one pass over their samples, 1000 at a time (stepwise EM, a
        form of online EM). Chunks of whole batches give the same result as all samples
        at once.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the samples, at least 0. The step of a batch depends on its share
            of the total weight so far.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For invalid parameters and data, and for parameters that must not change
            while training is resumed. The state before the call is kept.

        References
        ----------
        Cappe, Moulines. "On-line Expectation-Maximization Algorithm for Latent Data
        Models". Journal of the Royal Statistical Society B 71, 2009.

        Liang, Klein. "Online EM for Unsupervised Models". NAACL 2009, section 3.
        """
        with restore_on_error(self):
            options = self._check_params()
            if not hasattr(self, "_state"):
                self._learn(X, sample_weight, options, scaled=False)
                return self
            signs = self._read(X)
            self._check_resumes()
            weights = checked_weights(sample_weight, len(signs), scaled=False)
            state, history = stepwise_em(
                self._state, signs, weights, options.alpha, BATCH_SIZE
            )
            self._set_state(state, history, False, self.n_iter_ + len(history))
        return self

    def _check_params(self):
        n_components = self.n_components
        if not is_auto(n_components, "n_components"):
            check_integer(n_components, "n_components", 1)
        return EMOptions(
            n_components=n_components,
            alpha=check_real(self.alpha, "alpha", 1e-10),
            n_init=check_integer(self.n_init, "n_init", 1),
            max_iter=check_integer(self.max_iter, "max_iter", 1),
        )

    def _check_resumes(self):
        """Refuse to resume training with other components."""
        n_components = len(self._state.mixture.logits)
        names = STATE_PARAMS[self.n_components == "auto" :]  # any number will do
        check_same_params(self, names, n_components=n_components)

    def _set_state(self, state, history, converged, n_iter):
        """Set all fitted attributes."""
        self._state = state
        self._fitted_params = flat_params(self, STATE_PARAMS)
        self.weights_ = np.exp(state.mixture.log_weights)
        self.means_ = state.mixture.means()
        self.log_likelihoods_ = np.array(history, dtype=np.float64)
        self.n_iter_, self.converged_ = n_iter, converged

    def _fields(self):
        mixture = self._state.mixture
        fields = {"log_weights": mixture.log_weights, "logits": mixture.logits}
        return super()._fields() | fields

    def _log_joint(self, signs):
        return self._state.mixture.log_joint(signs)

    def _log_density(self, signs):
        return posterior(self._log_joint(signs))[1]

    def _log_odds(self, signs):
        return self._state.mixture.log_odds(signs)

    def _complete_by_means(self, signs, rng=None):
        if self._attributes is not None:
            return self._state.mixture.means_of_groups(signs)
        return super()._complete_by_means(signs)

    def _complete_at_random(self, signs, rng):
        shares, _ = posterior(self._log_joint(signs))
        chosen = draw_components(shares, rng)
        if self._attributes is not None:
            return self._state.mixture.draw_of_groups(signs, chosen, rng)
        shape = shares.shape[1], signs.shape[1]
        require_shape(self.means_, shape, "means_")
        means = self.means_[chosen]
        true = rng.uniform(size=signs.shape) < means
        return np.where(signs == 0, np.where(true, 1, -1), signs)

    def _most_probable(self, known):
        if self._attributes is not None:
            return super()._most_probable(known)
        mixture, filled = self._state.mixture, known[0].copy()
        missing = np.flatnonzero(filled == 0)
        log_weights, logits = mixture.log_joint(known)[0], mixture.logits[:, missing]
        true, exact = most_probable_bits(log_weights, logits)
        filled[missing] = np.where(true, 1, -1)
        return filled, exact

    def predict(self, X) -> np.ndarray:
        """Find the most probable component of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit.

        Returns
        -------
        components : ndarray of shape (n_samples,), dtype int64
            Component numbers, from 0.
        """
        check_is_fitted(self)
        return apply_in_blocks(
            lambda signs: self._log_joint(signs).argmax(axis=1), self._read(X)
        )

    def reconstruction_error(self, X) -> float:
        """Compute the cost of the known bits given the most probable component.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, which is not counted.

        Returns
        -------
        error : float
            Mean of -log2 P(bit | most probable component of the sample), over all known
            bits of all samples (Freund, section 4.4).
        """
        signs, n_known = self._read_known(X, "reconstructed")
        mixture = self._state.mixture

        def log_probabilities(signs):
            joint = mixture.log_joint(signs)
            best = joint.argmax(axis=1)
            return joint[np.arange(len(signs)), best] - mixture.log_weights[best]

        total = apply_in_blocks(log_probabilities, signs).sum()
        return float(-total / (n_known * np.log(2)))

    def _n_parameters(self):
        n_free = self.means_.shape[1]
        if self._attributes is not None:
            n_free = int((self._attributes.sizes - 1).sum())
        return n_free * len(self.weights_) + len(self.weights_) - 1

    def bic(self, X) -> float:
        """Compute the Bayesian information criterion; lower is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training samples.

        Returns
        -------
        bic : float
            -2 log-likelihood + n_parameters ln(n_samples).
        """
        scores = self.score_samples(X)
        return float(-2 * scores.sum() + self._n_parameters() * np.log(len(scores)))

    def aic(self, X) -> float:
        """Compute the Akaike information criterion; lower is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training samples.

        Returns
        -------
        aic : float
            -2 log-likelihood + 2 n_parameters.
        """
        return float(-2 * self.score_samples(X).sum() + 2 * self._n_parameters())
