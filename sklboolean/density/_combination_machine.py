"""The combination machine of Freund's chapter 4, with exact likelihood."""

from dataclasses import replace

import numpy as np
from sklearn.base import (
    BaseEstimator,
)
from sklearn.neural_network import BernoulliRBM
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.parameters import (
    check_choice,
    check_integer,
)
from sklboolean._core.progress import CallbackSupportMixin, Progress, with_callbacks
from sklboolean._core.validation import warn_user
from sklboolean._core.weights import checked_weights
from sklboolean.density._attribute_forest import Attributes
from sklboolean.density._base import BinaryDensityMixin, apply_in_blocks
from sklboolean.density._conditionals import (
    check_missing,
    complete_at_random,
    complete_by_means,
    hidden_means,
    known_log_odds,
    log_sums_of_known,
    most_probable,
    reconstruction_error,
)
from sklboolean.density._initialization import (
    fit_binary_inputs,
)
from sklboolean.density._machine import MachineMixin, MachineState
from sklboolean.density._maximum_likelihood import warn_of_large_weights
from sklboolean.density._partition_function import (
    check_affordable,
    input_means,
    is_affordable,
    log_partition,
    log_sums_over_inputs,
)
from sklboolean.density._pcd import (
    estimate_log_partition,
    fit_epoch,
    fit_pcd,
    sample_by_chains,
    start_chains,
)
from sklboolean.density._rbm_params import RBMParams
from sklboolean.density._tree import fit_forest

N_DRAWS = 3  # of the missing bits of each sample
N_ROUNDS = 8  # of draws under the machine
N_ITER_DRAWN = 30  # after each
MARGIN = 0.2  # nats, by which estimates of log Z differ by chance


class CombinationMachine(
    CallbackSupportMixin,
    MachineMixin,
    BinaryDensityMixin,
    BaseEstimator,
):
    """Density of Boolean samples as combinations of hidden units; exact likelihood.

    With inputs x in {-1, +1} and hidden units h in {0, 1} the probability is
    proportional to the sum over h of exp(h . (W x + theta) + b . x): each active unit
    adds its pattern of correlated inputs. The model is that of ``BernoulliRBM``, but
    its likelihood, gradient, samples and completions are exact: sums over all hidden
    states. With a tree between the inputs it needs far fewer hidden units.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number m of hidden units. Raise it while the score of held-out samples grows;
        each unit doubles the time. "auto": 1, 2, 4, 6 and so on as long as the mean
        log-likelihood of held-out samples grows by more than its standard error, at
        most `exact_limit`; all samples are used afterwards. With "projection_pursuit"
        as `init` or `solver`: as many of its units as explain held-out samples.
    base : {"independent", "chow_liu"}, default="independent"
        Distribution of the inputs without hidden units. "chow_liu": the most likely
        tree, whose couplings are learned together with the units. It is as exact, and
        fits better.
    visible_bias : bool, default=True
        Whether to learn input biases b. False: the machine of the thesis, b = 0.
    max_active : int or None, default=None
        Only hidden states with at most this number of active units, for machines with
        many components. Such a machine is another model, not an approximation: 1 gives
        a mixture of m + 1 products. Not available where no sums are computed: with
        "pcd", and with "projection_pursuit" beyond `exact_limit`.
    solver : {"lbfgs", "gradient", "projection_pursuit", "pcd"}, default="lbfgs"
        "gradient": steps with momentum, as in the thesis. "projection_pursuit": learns
        the biases and one scale for each unit of projection pursuit; beyond
        `exact_limit` the units are kept as they were found. "pcd": persistent
        contrastive divergence, for many components. Moments come from 500 Markov
        chains, weights are averaged over the last third, and beyond `exact_limit` the
        likelihood is an estimate.
    init : {"random", "projection_pursuit"}, ndarray or tuple, default="random"
        "projection_pursuit": units found one by one, each on what the units before it
        leave unexplained. Arrays: components, or a tuple of components, hidden biases
        and (optionally) visible biases.
    n_init : int, default=4
        Number of starts. The better half of short ascents continues until one is left.
        Only one start is used with "pcd", with arrays as `init`, and beyond
        `exact_limit`.
    alpha : float, "auto" or None, default=None
        L2 penalty: alpha / 2 times the sum of squares of all weights but the hidden
        biases is subtracted from the mean log-likelihood. None: 2 / n_samples, where a
        sample counts as much as its weight, from 1e-4 to 1; this is 1e-4 for
        ``partial_fit``. Give a number if the weights do not count samples. "auto": the
        one of 1e-2, 1e-3 and 1e-4 under which held-out samples are most likely; all
        samples are used afterwards. It takes four times the time, and is not available
        with "pcd" and beyond `exact_limit`.
    learning_rate : float, default=0.05
        Length of the steps of "gradient" and "pcd"; that of "pcd" shrinks to 0. Make it
        smaller if the chains do not follow, which shows in `log_partition_bounds_` that
        are far apart.
    momentum : float, default=0.9
        Fraction of the last step that "gradient" adds to the next. With "pcd" the
        weight of the past in the running mean of the gradients.
    batch_size : int, default=100
        Number of samples for each step of "pcd".
    max_iter : int, default=500
        Maximum number of iterations of the ascent that is kept. For "pcd" the number of
        passes over all samples.
    tol : float, default=1e-5
        Stop when ten iterations gain less, in nats per sample. Not used by "pcd", which
        makes all `max_iter` passes.
    early_stopping : bool, default=False
        Select starts and iterations by held-out samples; stop after 25 iterations
        without a better score. Not available with "pcd" and beyond `exact_limit`.
    validation_fraction : float, default=0.1
        Fraction of samples that `early_stopping`, ``n_components="auto"`` and
        ``alpha="auto"`` hold out, between 0 and 1.
    tree_updates : int, default=4
        Maximum number of times that the tree is learned again, from what the hidden
        units leave unexplained. Not used by "pcd" and beyond `exact_limit`.
    warm_start : bool, default=False
        Whether ``fit`` starts from the weights of the last ``fit``.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each column. Of the columns with one label exactly one is true, in
        training data, likelihoods, samples and completions: they are the values of one
        attribute. A label that occurs once is a column of its own. Not
        available with "pcd".
    binarize : float or None, default=0.0
        Values above it are true. None requires the codes 0 and 1, or -1 and 1.
    exact_limit : int, default=20
        Sums over more than 2 ** exact_limit states are refused, or estimated with
        "pcd" and "projection_pursuit". From 1 to 30.
    random_state : int, RandomState instance or None, default=None
        Source of the starts, held-out samples, new trees and chains, of ``sample``, and
        of ``impute`` with ``method="sample"``.
    n_jobs : int or None, default=None
        Threads for exact sums; "pcd" uses one. The result does not depend on it.
    verbose : int, default=0
        1 prints the mean log-likelihood of each short ascent and each iteration.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, `n_features_in_`), dtype float64
        Weights W.
    hidden_bias_ : ndarray of shape (n_components,), dtype float64
        Biases theta.
    visible_bias_ : ndarray of shape (`n_features_in_`,), dtype float64
        Biases b.
    tree_ : ndarray of shape (`n_features_in_`,), dtype int64, or None
        Column number of the parent of each input; -1 for the root.
    couplings_ : ndarray of shape (`n_features_in_`,), dtype float64, or None
        Weights of the products of each input and its parent; 0 for the root.
    log_partition_ : float
        Log of the sum over all inputs and hidden states; the larger of its bounds.
    log_partition_bounds_ : tuple of float
        Beyond `exact_limit` the forward and the reverse estimate of annealed importance
        sampling. In expectation the first is too small, and the second too large if the
        chains have mixed. Otherwise the exact value twice. After ``partial_fit`` the
        estimates are computed when they are first needed.
    alpha_ : float
        The penalty in force. Not set by ``partial_fit``.
    log_likelihoods_ : ndarray of shape (`n_iter_`,), dtype float64
        Mean over the training samples after each iteration, in nats. Empty where it
        is unknown: for "pcd", and beyond `exact_limit`. With missing bits those of the
        samples as they were completed last.
    n_iter_ : int
        Number of iterations of the ascent that was kept.
    n_components_ : int
        Number of hidden units.
    codes_ : ndarray of shape (2,), dtype float64
        The codes of false and true in results: (-1, 1) if all training values were -1
        or 1, else (0, 1).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    GaussianCombinationMachine : The same with real inputs.
    ChowLiuTree : The tree alone.
    BernoulliMixture : One hidden class for each sample; learns with missing bits.
    sklearn.neural_network.BernoulliRBM : The same model, without likelihood.

    References
    ----------
    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    Ph.D. thesis, 1993, chapter 4; equations 4.4 and 4.10 to 4.15.

    Tieleman. "Training Restricted Boltzmann Machines using Approximations to the
    Likelihood Gradient". ICML 2008, section 3.

    Salakhutdinov, Murray. "On the Quantitative Analysis of Deep Belief Networks". ICML
    2008, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import CombinationMachine
    >>> X = [[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]] * 9
    >>> machine = CombinationMachine(2, random_state=0).fit(X)
    >>> machine.impute([[1, np.nan, np.nan, 0]], method="map")
    array([[1., 1., 0., 0.]])
    >>> machine.sample(2, random_state=0).shape
    (2, 4)
    """

    _solvers = ("lbfgs", "gradient", "projection_pursuit", "pcd")
    _state_params = (
        "n_components", "base", "visible_bias", "binarize", "feature_groups",
    )  # fmt: skip

    def __init__(
        self, n_components=10, *, base="independent", visible_bias=True,
        max_active=None, solver="lbfgs", init="random", n_init=4, alpha=None,
        learning_rate=0.05, momentum=0.9, batch_size=100, max_iter=500, tol=1e-5,
        early_stopping=False, validation_fraction=0.1, tree_updates=4,
        warm_start=False, feature_groups=None, binarize=0.0, exact_limit=20,
        random_state=None, n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.n_components = n_components
        self.base = base
        self.visible_bias = visible_bias
        self.max_active = max_active
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.tree_updates = tree_updates
        self.warm_start = warm_start
        self.feature_groups = feature_groups
        self.binarize = binarize
        self.exact_limit = exact_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.solver != "pcd"
        return tags

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None):
        """Learn the weights with the largest penalised likelihood.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit (not with "pcd", and not beyond `exact_limit`). The
            likelihood of the known bits is then maximised by stochastic EM: missing
            bits are drawn from their exact conditional distribution, three times for
            each sample, at first under a `ChowLiuTree` and after the ascent eight times
            more under the machine, with 30 iterations after each. This is unbiased if
            bits are missing regardless of their values.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the samples, at least 0. A sample of weight 2 counts as two
            samples; not exactly so where bits are drawn.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For invalid parameters and data, and for sums that take too long. The state
            before the call is kept.
        """
        with restore_on_error(self):
            progress = Progress(self, "step", None, X)
            options = self._reporting(self._check_params(), progress)
            signs = self._read(X, reset=True, allow_missing=self.solver != "pcd")
            by_sums = self._check_sums(signs.shape[1])
            if not by_sums:
                self._read(X, reset=True, allow_missing=False)
            weights = checked_weights(sample_weight, len(signs), divides=True)
            options = self._set_alpha(options, weights.sum())
            rng = check_random_state(self.random_state)
            if not signs.all():
                self._fit_incomplete(signs, weights, options, rng)
            elif by_sums:
                self._fit_by_sums(signs, weights, options, rng)
            else:
                self._fit_without_sums(signs, weights, options, rng)
            progress.finish()
        warn_of_large_weights(self._state.params, self.alpha_)
        return self

    def _check_params(self):
        check_choice(self.base, "base", ("independent", "chow_liu"))
        options = self._check_training_params(
            batch_size=check_integer(self.batch_size, "batch_size", 1),
            tree_updates=check_integer(self.tree_updates, "tree_updates", 0),
        )
        if self.solver == "pcd":
            self._check_without_sums()
        return options

    def _check_without_sums(self, remedy=""):
        """Refuse parameters that need sums over states where none are computed."""
        groups = self.feature_groups is not None
        if self.early_stopping or self.max_active or self.alpha == "auto" or groups:
            raise ValueError(
                f"solver={self.solver!r} computes no sums here: neither max_active, "
                "feature_groups nor the likelihood for early_stopping and alpha='auto' "
                "is available. Set early_stopping=False, max_active=None, "
                f"feature_groups=None, and alpha to a number{remedy}."
            )

    def _check_sums(self, n):
        """Decide whether to learn by exact sums; refuse those that take too long."""
        if self.solver == "pcd":
            return False
        if self.n_components == "auto":  # at most exact_limit units
            return True
        size = n, self.n_components, self.max_active, self.exact_limit
        hidden_only = self.base == "chow_liu" or self.feature_groups is not None
        if self.solver == "projection_pursuit":
            # As the solver it needs no sums; only the learning of scales does.
            by_sums = is_affordable(*size, hidden_only)
            if not by_sums:
                self._check_without_sums(f", or raise exact_limit={self.exact_limit}")
            return by_sums
        check_affordable(*size, hidden_only, "or solver='pcd', ")
        return True

    def _fit_inputs(self, signs, weights, centre):
        return fit_binary_inputs(
            signs, weights, centre, self.base, self.visible_bias, self.max_active,
            self._attributes,
        )  # fmt: skip

    def _first_start(self, signs, weights, rng):
        if self.n_components == "auto" and not self._pursues():
            raise ValueError(
                "n_components='auto' needs fit with another solver than 'pcd': give "
                "partial_fit a number, or set init='projection_pursuit'."
            )
        centre = (weights @ signs) / weights.sum()
        return next(iter(self._starts(signs, weights, centre, rng, self.n_components)))

    def _fit_incomplete(self, signs, weights, options, rng):
        """Draw missing bits and maximise the likelihood, in turns: stochastic EM."""
        gaps = (signs == 0).any(axis=1)
        repeated = np.repeat(signs[gaps], N_DRAWS, axis=0)
        shares = np.repeat(weights[gaps] / N_DRAWS, N_DRAWS)
        weights = np.concatenate([weights[~gaps], shares])

        def fit(drawn, options, resumes=False):
            samples = np.concatenate([signs[~gaps], drawn])
            self._fit_by_sums(samples, weights, options, rng, resumes=resumes)

        if self.warm_start and hasattr(self, "_state"):
            self._resumed_params(signs.shape[1])
            fit(complete_at_random(self._state.params, repeated, rng), options)
            return
        attributes = self._attributes or Attributes(np.arange(signs.shape[1]))
        known = np.concatenate([signs[~gaps], repeated])
        fit(fit_forest(known, weights, attributes, 1.0).draw(repeated, rng), options)
        options = replace(options, max_iter=N_ITER_DRAWN, tree_updates=0)
        for _ in range(N_ROUNDS):
            drawn = complete_at_random(self._state.params, repeated, rng)
            fit(drawn, replace(options, alpha=self.alpha_), resumes=True)

    def _fit_without_sums(self, signs, weights, options, rng):
        """Learn by chains, or keep the units of projection pursuit as they are."""
        params, n_iter = self._first_start(signs, weights, rng), 1
        if self.solver == "pcd":
            chains = fit_pcd(params, signs, weights, options, rng)
            params, n_iter = chains.params, self.max_iter
        else:  # chains estimate log Z
            chains = start_chains(params, signs, options.visible_bias, rng)
        self.alpha_ = options.alpha
        self._set_state(MachineState(params, chains), n_iter=n_iter)
        self._ensure_log_partition()

    @available_if(
        lambda machine: machine.max_active is None and machine.feature_groups is None
    )
    def partial_fit(self, X, y=None, sample_weight=None):
        """Make one pass over more samples, with "pcd" and a constant learning rate.

        Samples are used in their order, `batch_size` at a time: chunks of whole batches
        give the same result as all samples at once. The first call finds the tree.
        After ``fit`` with any solver, training is resumed from its result.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples without missing bits.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the samples, at least 0: their influence on the step of a batch.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For invalid parameters and data. The state before the call is kept.
        """
        with restore_on_error(self):
            options = self._check_params()
            first_call = not hasattr(self, "_state")
            if not first_call:
                self._check_resumes()
            signs = self._read(X, reset=first_call, allow_missing=False)
            weights = checked_weights(sample_weight, len(signs), divides=first_call)
            chains = None if first_call else self._state.chains
            if chains is None:
                rng = check_random_state(self.random_state)
                if first_call:
                    start = self._first_start(signs, weights, rng)
                else:
                    start = self._state.params
                chains = start_chains(start, signs, options.visible_bias, rng)
            rate = options.learning_rate
            chains = fit_epoch(chains, signs, weights, options, lambda batch: rate)
            n_iter = 1 if first_call else self.n_iter_ + 1
            self._set_state(MachineState(chains.params, chains), n_iter=n_iter)
        return self

    def _set_state(self, state, log_likelihoods=(), n_iter=None):
        super()._set_state(state, log_likelihoods, n_iter)
        self.tree_, self.couplings_ = state.params.parents, state.params.couplings
        for name in ("log_partition_", "log_partition_bounds_"):
            vars(self).pop(name, None)
        if state.log_partition is not None:
            self.log_partition_ = state.log_partition
            self.log_partition_bounds_ = (state.log_partition,) * 2
        elif self._is_exact():
            self._ensure_log_partition()

    def _is_exact(self):
        params = self._state.params
        m, n = params.components.shape
        return self._state.chains is None or is_affordable(
            n, m, params.max_active, self.exact_limit,
            params.parents is not None or params.attributes is not None,
        )  # fmt: skip

    def _ensure_log_partition(self):
        """Sum over all states, or estimate the sum from both ends, if not yet done."""
        if hasattr(self, "log_partition_"):
            return
        params, chains = self._state.params, self._state.chains
        if self._is_exact():
            bounds = (log_partition(params, self.n_jobs),) * 2
        else:
            # Chains that have not mixed make the reverse estimate too small.
            bounds = estimate_log_partition(params, chains.states, chains.seed)[:2]
        self.log_partition_bounds_ = bounds
        self.log_partition_ = max(bounds)

    def _prepare_likelihood(self):
        """Make sure that log Z is available, and warn if it is an estimate."""
        super()._prepare_likelihood()
        self._ensure_log_partition()
        if not self._is_exact():
            forward, reverse = self.log_partition_bounds_
            advice = ""
            if forward > reverse + MARGIN:
                advice = (
                    " The first should not be larger: the chains have not mixed. Fit "
                    "with a smaller learning_rate or a larger alpha."
                )
            warn_user(
                "The log-likelihood is an estimate: annealed importance sampling "
                "estimates the log of the sum over all states as "
                f"{forward:.2f} forward and {reverse:.2f} backward. The larger is "
                f"used, which gives the smaller likelihood.{advice}"
            )

    def _log_density(self, signs):
        check_missing(self._state.params, signs, self.exact_limit)
        self._ensure_log_partition()
        known = log_sums_of_known(self._state.params, signs, self.n_jobs)
        return known - self.log_partition_

    def _log_odds(self, signs):
        if signs.all():
            return known_log_odds(self._state.params, signs)
        return super()._log_odds(signs)

    def _hidden_means(self, signs):
        check_missing(self._state.params, signs, self.exact_limit)
        complete = signs.all(axis=1)
        if complete.all():
            return super()._hidden_means(signs)
        means = np.empty((len(signs), self.n_components_))
        means[complete] = super()._hidden_means(signs[complete])
        means[~complete] = apply_in_blocks(
            lambda part: hidden_means(self._state.params, part), signs[~complete]
        )
        return means

    def _complete_by_means(self, signs, rng=None):
        check_missing(self._state.params, signs, self.exact_limit)
        return complete_by_means(self._state.params, signs, self.n_jobs)

    def _complete_at_random(self, signs, rng):
        if not (signs.any() or self._is_exact()):
            states = self._state.chains.states
            return sample_by_chains(self._state.params, states, len(signs), rng)
        check_missing(self._state.params, signs, self.exact_limit)
        return complete_at_random(self._state.params, signs, rng)

    def _most_probable(self, signs, rng=None):
        check_missing(self._state.params, signs, self.exact_limit)
        return most_probable(self._state.params, signs)

    def _input_means(self, states):
        fields = log_sums_over_inputs(self._state.params, states)[1]
        return input_means(self._state.params, fields)[0]

    def reconstruction_error(self, X):
        """Compute the cost of samples given their most probable hidden states.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples without missing bits.

        Returns
        -------
        error : float
            Mean of -log2 p(x | h) per bit (Freund, section 4.4), where h is the most
            probable state given x. It falls with more units, as the cost of h is not
            counted.
        """
        check_is_fitted(self)
        signs = self._read(X, allow_missing=False)
        return reconstruction_error(self._state.params, signs)

    def to_bernoulli_rbm(self):
        """Convert to a ``BernoulliRBM`` with the same distribution of bits 0 and 1.

        With x = 2 v - 1, w.x + theta = (2 w).v + (theta - sum w) and
        b.x = (2 b).v - sum b.

        Returns
        -------
        rbm : BernoulliRBM
            Fitted.

        Raises
        ------
        ValueError
            For a machine with a tree or with `max_active`.
        """
        check_is_fitted(self)
        params = self._state.params
        if params.parents is not None:
            raise ValueError(
                "A BernoulliRBM has no tree: its inputs are independent given the "
                "hidden units. Fit with base='independent' to convert."
            )
        if params.attributes is not None:
            raise ValueError(
                "A BernoulliRBM has no feature_groups: its inputs are independent "
                "given the hidden units. Fit with feature_groups=None to convert."
            )
        if params.max_active is not None:
            raise ValueError(
                "A BernoulliRBM has no max_active: its hidden units are independent "
                "given the inputs. Fit with max_active=None to convert."
            )
        components = params.components
        rbm = BernoulliRBM(len(components), n_iter=0, random_state=0)
        rbm.fit(np.zeros((1, components.shape[1])))
        rbm.components_ = 2 * components
        rbm.intercept_hidden_ = params.hidden_bias - components.sum(axis=1)
        rbm.intercept_visible_ = 2 * params.visible_bias
        if hasattr(self, "feature_names_in_"):
            rbm.feature_names_in_ = self.feature_names_in_
        return rbm

    @classmethod
    def from_bernoulli_rbm(cls, rbm, *, exact_limit=20):
        """Build the machine with the distribution of a ``BernoulliRBM``.

        Parameters
        ----------
        rbm : BernoulliRBM
            Fitted.
        exact_limit : int, default=20
            Sums over more than 2 ** exact_limit states are refused.

        Returns
        -------
        machine : CombinationMachine
            Fitted. With ``warm_start=True`` ``fit`` resumes training from it.
        """
        check_is_fitted(rbm)
        check_integer(exact_limit, "exact_limit", 1, 30)
        components = np.asarray(rbm.components_, dtype=np.float64) / 2
        hidden_bias = np.asarray(rbm.intercept_hidden_, dtype=np.float64)
        params = RBMParams(
            components,
            hidden_bias + components.sum(axis=1),
            np.asarray(rbm.intercept_visible_, dtype=np.float64) / 2,
        )
        m, n = components.shape
        check_affordable(n, m, None, exact_limit, advice="or solver='pcd', ")
        machine = cls(m, exact_limit=exact_limit)
        machine.n_features_in_, machine.codes_ = n, np.array([0.0, 1.0])
        if hasattr(rbm, "feature_names_in_"):
            machine.feature_names_in_ = rbm.feature_names_in_
        machine._set_state(MachineState(params))
        return machine
