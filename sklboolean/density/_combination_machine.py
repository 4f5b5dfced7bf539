"""The combination machine of Freund's chapter 4, with exact likelihood."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.neural_network import BernoulliRBM
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.parameters import (
    check_choice,
    check_integer,
    check_real,
    check_same_params,
    flat_params,
    is_auto,
)
from sklboolean._core.validation import check_array_strict, warn_user
from sklboolean._core.weights import checked_weights
from sklboolean.density._base import BinaryDensityMixin
from sklboolean.density._conditionals import (
    check_missing,
    complete_at_random,
    complete_by_means,
    known_log_odds,
    log_sums_of_known,
    most_probable,
    reconstruction_error,
)
from sklboolean.density._initialization import (
    fit_binary_inputs,
    given_start,
    pursuit_starts,
    random_starts,
)
from sklboolean.density._maximum_likelihood import (
    TrainingOptions,
    make_table,
    maximise_likelihood,
    warn_of_large_weights,
)
from sklboolean.density._partition_function import (
    check_affordable,
    input_means,
    is_affordable,
    log_partition,
    log_sums_over_inputs,
)
from sklboolean.density._pcd import (
    PCDState,
    estimate_log_partition,
    fit_epoch,
    fit_pcd,
    sample_by_chains,
    start_chains,
)
from sklboolean.density._rbm_params import (
    RBMParams,
    hidden_posteriors,
    log_numerators,
)

ALPHAS = (1e-2, 1e-3, 1e-4)  # among which alpha="auto" chooses
MARGIN = 0.2  # nats, by which estimates of log Z differ by chance


@dataclass(frozen=True)
class MachineState:
    """The state of a fitted machine; chains only where it learned from them."""

    params: RBMParams
    chains: PCDState | None = None
    log_partition: float | None = None  # None: not known yet

    def copy(self):
        """Copy the state with its parameters; chains are never changed in place."""
        return replace(self, params=self.params.copy())


class MachineMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """What machines with binary and with real inputs share.

    Both have ``_state_params``, the parameters that must not change while training is
    resumed, and ``_solvers``.
    """

    _log_base = None  # of the base measure: 0 for binary inputs

    @property
    def _n_features_out(self):
        return self.n_components_

    def _check_training_params(self, **more):
        """Check the parameters of both machines and collect those of training."""
        check_choice(self.solver, "solver", self._solvers)
        if isinstance(self.init, str):
            check_choice(self.init, "init", ("random", "projection_pursuit"))
        if self.n_components != "auto":
            check_integer(self.n_components, "n_components", 1)
        elif "projection_pursuit" not in (self.solver, str(self.init)):
            raise ValueError(
                "n_components='auto' counts the hidden units of projection pursuit: "
                "set init='projection_pursuit' or solver='projection_pursuit'."
            )
        check_integer(self.n_init, "n_init", 1)
        check_integer(self.exact_limit, "exact_limit", 1, 30)
        if self.max_active is not None:
            check_integer(self.max_active, "max_active", 1)
        if not 0 < check_real(self.validation_fraction, "validation_fraction") < 1:
            raise ValueError(
                "validation_fraction must be between 0 and 1; got "
                f"{self.validation_fraction}."
            )
        if check_real(self.momentum, "momentum", 0.0) >= 1:
            raise ValueError(f"momentum must be below 1; got {self.momentum}.")
        return TrainingOptions(
            solver=self.solver,
            alpha=self._check_alpha(),
            visible_bias=bool(self.visible_bias),
            learning_rate=check_real(
                self.learning_rate, "learning_rate", 0.0, strict=True
            ),
            momentum=self.momentum,
            max_iter=check_integer(self.max_iter, "max_iter", 1),
            tol=check_real(self.tol, "tol", 0.0),
            n_jobs=self.n_jobs,
            verbose=check_integer(self.verbose, "verbose", 0),
            **more,
        )

    def _check_alpha(self):
        if not is_auto(self.alpha, "alpha"):
            return check_real(self.alpha, "alpha", 0.0)
        if self.solver == "pcd":
            raise ValueError(
                "alpha='auto' compares likelihoods, which solver='pcd' does not "
                "compute: give a number."
            )
        return ALPHAS[0]

    def _fit_by_sums(self, samples, weights, options, rng):
        """Maximise the exact likelihood."""
        if self.alpha == "auto":
            alpha = self._choose_alpha(samples, weights, options, rng)
            options = replace(options, alpha=alpha)
        self.alpha_ = options.alpha
        held_out = None
        if self.early_stopping:
            apart = self._select_held_out(len(samples), rng)
            held_out = make_table(samples[apart], weights[apart], self._log_base)
            samples, weights = samples[~apart], weights[~apart]
        table = make_table(samples, weights, self._log_base)
        starts = self._starts(samples, weights, table.means, rng)
        total = weights.sum()
        ascent = maximise_likelihood(starts, table, total, options, rng, held_out)
        state = MachineState(ascent.params, log_partition=ascent.log_z)
        if self.early_stopping:
            state = MachineState(ascent.best)
        self._set_state(state, ascent.log_likelihoods)

    def _choose_alpha(self, samples, weights, options, rng):
        """Choose the penalty under which held-out samples are most likely."""
        apart = self._select_held_out(len(samples), rng)
        held_out = make_table(samples[apart], weights[apart], self._log_base)
        samples, weights = samples[~apart], weights[~apart]
        table, seed = make_table(samples, weights, self._log_base), rng.randint(2**31)
        scores = []
        for alpha in ALPHAS:
            rng = np.random.RandomState(seed)
            starts = self._starts(samples, weights, table.means, rng)
            ascent = maximise_likelihood(
                starts, table, weights.sum(), replace(options, alpha=alpha), rng
            )
            logs = log_numerators(ascent.params, held_out.samples)
            scores.append(held_out.shares @ logs - ascent.log_z)
        return ALPHAS[int(np.argmax(scores))]

    def _select_held_out(self, n_samples, rng):
        """Select samples to hold out: a mask with samples on both sides."""
        if n_samples < 2:
            raise ValueError(
                "early_stopping=True and alpha='auto' need two samples or more; X has "
                "1 sample."
            )
        n_apart = max(1, round(self.validation_fraction * n_samples))
        apart = np.zeros(n_samples, dtype=bool)
        apart[rng.permutation(n_samples)[: min(n_apart, n_samples - 1)]] = True
        return apart

    def _starts(self, samples, weights, centre, rng):
        """Choose the parameters from which training starts: an iterable."""
        m = self.n_components
        if self.warm_start and hasattr(self, "_state"):
            return [self._resumed_params(samples.shape[1])]
        inputs = self._fit_inputs(samples, weights, centre)
        if not isinstance(self.init, str):
            return [given_start(inputs, self.init, m)]
        if "projection_pursuit" in (self.init, self.solver):
            table = make_table(samples, weights, self._log_base)
            return pursuit_starts(
                inputs, table, weights.sum(), m, self.n_init, self.exact_limit, rng
            )
        return random_starts(inputs, m, self.n_init, rng)

    def _resumed_params(self, n_features):
        """Take the parameters of the last fit if they suit the constructor and X."""
        self._check_resumes()
        params = self._state.params
        if params.components.shape[1] != n_features:
            raise ValueError(
                f"X has {n_features} features; warm_start=True resumes from components "
                f"of shape {params.components.shape}. Set warm_start=False to start "
                "again."
            )
        return params.replace(max_active=self.max_active)

    def _check_resumes(self):
        names = set(self._state_params)
        if self.n_components == "auto":  # any number will do
            names.remove("n_components")
        check_same_params(self, sorted(names), n_components=self.n_components_)

    def _set_state(self, state, log_likelihoods=(), n_iter=None):
        """Set all fitted attributes."""
        self._state = state
        self._fitted_params = flat_params(self, self._state_params)
        params = state.params
        self.components_ = params.components
        self.hidden_bias_ = params.hidden_bias
        self.visible_bias_ = params.visible_bias
        self.n_components_ = len(params.components)
        self.log_likelihoods_ = np.array(log_likelihoods, dtype=np.float64)
        self.n_iter_ = len(log_likelihoods) if n_iter is None else n_iter

    def transform(self, X):
        """Compute the probability of each hidden unit given the sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples without missing values.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_components), dtype float64
            Probability that the unit is active.
        """
        check_is_fitted(self)
        samples, params = self._read(X, allow_missing=False), self._state.params
        return hidden_posteriors(params.activations(samples), params.max_active)[1]

    def inverse_transform(self, X):
        """Compute the means of the inputs given hidden units.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            States of the hidden units, from 0 to 1.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_features), dtype float64
            Written as the training data.
        """
        check_is_fitted(self)
        X = check_array_strict(X, dtype=np.float64)
        if X.shape[1] != self.n_components_:
            width = f"{X.shape[1]} columns for {self.n_components_} hidden units"
            raise ValueError(f"X has {width}; it must have one for each.")
        outside = np.argwhere((X < 0) | (X > 1))
        if len(outside):
            sample, unit = outside[0]
            raise ValueError(
                f"X holds {X[sample, unit]:g} in column {unit}; states of hidden units "
                "are 0 or 1, and probabilities, as from transform, lie between."
            )
        return self._write(self._input_means(X))


class CombinationMachine(MachineMixin, BinaryDensityMixin, BaseEstimator):
    """Density of Boolean samples as combinations of hidden units; exact likelihood.

    With inputs x in {-1, +1} and hidden units h in {0, 1} the probability is
    proportional to the sum over h of exp(h . (W x + theta) + b . x): each active unit
    adds its pattern of correlated inputs. The model is that of ``BernoulliRBM``, but
    its likelihood, gradient, samples and completions are exact: sums over all hidden
    states. With a tree between the inputs it needs far fewer hidden units.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number m of hidden units. "auto": as many units of projection pursuit as explain
        held-out samples, at most `exact_limit`. Raise it while the score of held-out
        samples grows; each unit doubles the time.
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
    alpha : float or "auto", default=1e-4
        L2 penalty: alpha / 2 times the sum of squares of all weights but the hidden
        biases is subtracted from the mean log-likelihood. "auto": the one of 1e-2, 1e-3
        and 1e-4 under which held-out samples are most likely; all samples are used
        afterwards. Recommended for fewer than some thousand samples, at four times the
        time; not available with "pcd" and beyond `exact_limit`.
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
        Fraction of samples that `early_stopping` and ``alpha="auto"`` hold out, between
        0 and 1.
    tree_updates : int, default=4
        Maximum number of times that the tree is learned again, from what the hidden
        units leave unexplained. Not used by "pcd" and beyond `exact_limit`.
    warm_start : bool, default=False
        Whether ``fit`` starts from the weights of the last ``fit``.
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
        1 prints the mean log-likelihood of each iteration.

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
        The penalty in force, where the likelihood was maximised.
    log_likelihoods_ : ndarray of shape (`n_iter_`,), dtype float64
        Mean over the training samples after each iteration, in nats. Empty where it
        is unknown: for "pcd", and beyond `exact_limit`.
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
    _state_params = ("n_components", "base", "visible_bias", "binarize")

    def __init__(
        self, n_components=10, *, base="independent", visible_bias=True,
        max_active=None, solver="lbfgs", init="random", n_init=4, alpha=1e-4,
        learning_rate=0.05, momentum=0.9, batch_size=100, max_iter=500, tol=1e-5,
        early_stopping=False, validation_fraction=0.1, tree_updates=4,
        warm_start=False, binarize=0.0, exact_limit=20, random_state=None, n_jobs=None,
        verbose=0,
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
        self.binarize = binarize
        self.exact_limit = exact_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y=None, sample_weight=None):
        """Learn the weights with the largest penalised likelihood.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples without missing bits.
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
            For invalid parameters and data, and for sums that take too long. The state
            before the call is kept.
        """
        with restore_on_error(self):
            options = self._check_params()
            signs = self._read(X, reset=True, allow_missing=False)
            by_sums = self._check_sums(signs.shape[1])
            weights = checked_weights(sample_weight, len(signs), divides=True)
            rng = check_random_state(self.random_state)
            if by_sums:
                self._fit_by_sums(signs, weights, options, rng)
            else:
                self._fit_without_sums(signs, weights, options, rng)
        warn_of_large_weights(self._state.params, self.alpha)
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
        if self.early_stopping or self.max_active or self.alpha == "auto":
            raise ValueError(
                f"solver={self.solver!r} computes no sums here: neither max_active nor "
                "the likelihood for early_stopping and alpha='auto' is available. Set "
                f"early_stopping=False, max_active=None, and alpha to a number{remedy}."
            )

    def _check_sums(self, n):
        """Decide whether to learn by exact sums; refuse those that take too long."""
        if self.solver == "pcd":
            return False
        if self.n_components == "auto":  # at most exact_limit units
            return True
        size = n, self.n_components, self.max_active, self.exact_limit
        hidden_only = self.base == "chow_liu"
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
            signs, weights, centre, self.base, self.visible_bias, self.max_active
        )

    def _first_start(self, signs, weights, rng):
        centre = (weights @ signs) / weights.sum()
        return next(iter(self._starts(signs, weights, centre, rng)))

    def _fit_without_sums(self, signs, weights, options, rng):
        """Learn by chains, or keep the units of projection pursuit as they are."""
        params, n_iter = self._first_start(signs, weights, rng), 1
        if self.solver == "pcd":
            chains = fit_pcd(params, signs, weights, options, rng)
            params, n_iter = chains.params, self.max_iter
        else:  # chains estimate log Z
            chains = start_chains(params, signs, options.visible_bias, rng)
        self._set_state(MachineState(params, chains), n_iter=n_iter)
        self._ensure_log_partition()

    @available_if(lambda machine: machine.max_active is None)
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
            n, m, params.max_active, self.exact_limit, params.parents is not None
        )

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
