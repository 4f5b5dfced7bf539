"""The combination machine with many hidden units, learned from Markov chains."""

# log Z is exact where at most 2 ** 20 states are summed over. Beyond, it is estimated
# from both ends by annealed importance sampling, when a likelihood is asked for first.

from dataclasses import replace

from sklearn.utils import check_random_state

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import targets_of
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.long_fits import warn_of_long_fit
from sklboolean._core.parameters import (
    check_choice,
    check_integer,
    check_real,
    check_same_params,
    flat_params,
)
from sklboolean._core.progress import CallbackSupportMixin, Progress, with_callbacks
from sklboolean._core.validation import warn_user
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import checked_weights
from sklboolean.density._base import ContinuedFitMixin
from sklboolean.density._binary_machine import BinaryMachineMixin
from sklboolean.density._initialization import fit_binary_inputs
from sklboolean.density._machine import MachineState
from sklboolean.density._maximum_likelihood import warn_of_large_weights
from sklboolean.density._old_parameters import OF_SAMPLED_MACHINE
from sklboolean.density._partition_function import is_affordable
from sklboolean.density._pcd import (
    ChainOptions,
    estimate_log_partition,
    fit_epoch,
    fit_pcd,
    sample_by_chains,
    start_chains,
)

# Random starts that are drawn. Only the first is used, but the random numbers of the
# chains come after all of them: another number would change the result of a seed.
N_STARTS = 4
# They must not change while training is resumed.
STATE_PARAMS = ("n_components", "base", "binarize")
MARGIN = 0.2  # nats, by which estimates of log Z differ by chance


@old_parameters(**OF_SAMPLED_MACHINE)
class SampledCombinationMachine(
    CallbackSupportMixin, ContinuedFitMixin, BinaryMachineMixin, VersionedEstimator
):
    """Density of Boolean samples as combinations of many hidden units; estimated.

    The model of ``CombinationMachine`` for a hundred hidden units and more, where sums
    over all hidden states take too long. It is learned by persistent contrastive
    divergence: the moments of the machine are those of 500 Markov chains, and its
    weights are averaged over the last third of the steps. The likelihood is estimated
    beyond 2 ** 20 hidden states. Probabilities of bits given all other bits,
    ``transform``, and completions of a few missing bits are exact.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number m of hidden units. The time grows in proportion to it. "auto" needs
        ``init="projection_pursuit"``: as many of its units as explain held-out samples,
        at most 20.
    base : {"independent", "uniform", "chow_liu"}, default="independent"
        Distribution of the inputs without hidden units. "uniform": no input biases,
        b = 0. "chow_liu": the most likely tree, whose couplings are learned together
        with the units. It fits better.
    init : {"random", "projection_pursuit"}, ndarray or tuple, default="random"
        "projection_pursuit": units found one by one, each on what the units before it
        leave unexplained. Arrays: components, or a tuple of components, hidden biases
        and (optionally) visible biases.
    alpha : float or None, default=None
        L2 penalty: alpha / 2 times the sum of squares of all weights but the hidden
        biases is subtracted from the mean log-likelihood. None: 2 / n_samples, where a
        sample counts as much as its weight, from 1e-4 to 1; this is 1e-4 for
        ``partial_fit``. Give a number if the weights do not count samples.
    learning_rate : float, default=0.05
        Length of the first step. In ``fit`` steps shrink to 0, in ``partial_fit`` they
        do not. Make it smaller if the chains do not follow, which shows in
        `log_partition_bounds_` that are far apart.
    batch_size : int, default=100
        Number of samples for each step.
    max_iter : int, default=500
        Number of passes over all samples. 0 keeps the units of `init`.
    binarize : float or None, default=0.0
        Values above it are true. None requires the codes 0 and 1, or -1 and 1.
    random_state : int, RandomState instance or None, default=None
        Source of the start and the chains, of ``sample``, and of ``impute`` with
        ``method="sample"``.
    verbose : int, default=0
        1 prints the largest weight after each pass.

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
        Beyond 2 ** 20 states the forward and the reverse estimate of annealed
        importance sampling. In expectation the first is too small, and the second too
        large if the chains have mixed. Otherwise the exact value twice. After
        ``partial_fit`` the estimates are computed when they are first needed.
    alpha_ : float
        The penalty in force. Not set by ``partial_fit``.
    n_iter_ : int
        Number of passes, or of calls of ``partial_fit``.
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
    CombinationMachine : The same with exact likelihood, for up to 20 hidden units.
    sklearn.neural_network.BernoulliRBM : The same model, without likelihood.

    References
    ----------
    Tieleman. "Training Restricted Boltzmann Machines using Approximations to the
    Likelihood Gradient". ICML 2008, section 3.

    Salakhutdinov, Murray. "On the Quantitative Analysis of Deep Belief Networks". ICML
    2008, section 4.

    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    Ph.D. thesis, 1993, chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import SampledCombinationMachine
    >>> X = [[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]] * 9
    >>> machine = SampledCombinationMachine(2, alpha=0.01, learning_rate=0.2)
    >>> machine.set_params(random_state=0).fit(X).n_iter_
    500
    >>> machine.impute([[1, np.nan, np.nan, 0]], method="map")
    array([[1., 1., 0., 0.]])
    >>> machine.partial_fit(X).sample(2, random_state=0).shape
    (2, 4)
    """

    def __init__(
        self, n_components=10, *, base="independent", init="random", alpha=None,
        learning_rate=0.05, batch_size=100, max_iter=500, binarize=0.0,
        random_state=None, verbose=0,
    ):  # fmt: skip
        self.n_components = n_components
        self.base = base
        self.init = init
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.binarize = binarize
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "SampledCombinationMachine":
        """Learn the weights by passes over shuffled samples, with steps that shrink.

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

        Warns
        -----
        UserWarning
            Before a fit that is expected to take longer than a minute of one core.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        return self._fit(X, sample_weight)

    def _fit(self, X, sample_weight, *, resumes=False):
        with restore_on_error(self):
            progress = Progress(self, "step", None, X)
            options = self._reporting(self._check_params(), progress)
            if resumes:
                options = replace(options, start=self._state.params)
            signs, weights = self._read_used(X, sample_weight)
            seconds = 4.4e-6 * len(signs) * (signs.shape[1] / 30) ** 0.6
            warn_of_long_fit(
                self, seconds * self.max_iter, "ChowLiuTree, or a lower max_iter"
            )
            options = self._set_alpha(options, weights.sum())
            rng = check_random_state(self.random_state)
            start = self._first_start(signs, weights, options, rng)
            chains = fit_pcd(start, signs, weights, options, rng)
            self.alpha_ = options.alpha
            self._set_state(MachineState(chains.params, chains), self.max_iter)
            self._ensure_log_partition()
            progress.finish()
        warn_of_large_weights(
            self._state.params,
            f"Raise alpha, now {self.alpha_}, or take a smaller learning_rate.",
        )
        return self

    def partial_fit(self, X, y=None, sample_weight=None) -> "SampledCombinationMachine":
        """Make one pass over more samples, with a constant learning rate.

        Samples are used in their order, `batch_size` at a time: chunks of whole batches
        give the same result as all samples at once. The first call finds the tree.
        After ``fit``, training is resumed from its result.

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
            how = {"reset": first_call, "scaled": False}
            signs, weights = self._read_used(X, sample_weight, **how)
            if first_call:
                rng = check_random_state(self.random_state)
                start = self._first_start(signs, weights, options, rng)
                chains = start_chains(start, signs, options.visible_bias, rng)
            else:
                chains = self._state.chains
            rate = options.learning_rate
            chains = fit_epoch(chains, signs, weights, options, lambda batch: rate)
            n_iter = 1 if first_call else self.n_iter_ + 1
            self._set_state(MachineState(chains.params, chains), n_iter)
        return self

    def _read_used(self, X, sample_weight, *, reset=True, scaled=True):
        """Check samples and weights; leave out samples without weight."""
        signs = self._read(X, reset=reset, allow_missing=False)
        weights = checked_weights(sample_weight, len(signs), scaled=scaled)
        used = slice(None) if weights.all() else weights > 0
        return signs[used], weights[used]

    def _check_params(self):
        check_choice(self.base, "base", ("independent", "uniform", "chow_liu"))
        options = ChainOptions(
            learning_rate=check_real(
                self.learning_rate, "learning_rate", 0.0, strict=True
            ),
            batch_size=check_integer(self.batch_size, "batch_size", 1),
            max_iter=check_integer(self.max_iter, "max_iter", 0),
            **self._check_shared_params(),
        )
        if self.n_components == "auto" and not self._pursues():
            raise ValueError(
                "n_components='auto' needs init='projection_pursuit', which counts "
                "units by itself. Set it, or give a number."
            )
        return options

    def _fit_inputs(self, signs, weights, centre):
        return fit_binary_inputs(signs, weights, centre, self.base, max_active=None)

    def _first_start(self, signs, weights, options, rng):
        inputs = signs, weights, (weights @ signs) / weights.sum()
        starts = self._starts(*inputs, options, rng, self.n_components, N_STARTS)
        return next(iter(starts))

    def _check_resumes(self):
        names = STATE_PARAMS[self.n_components == "auto" :]  # any number will do
        check_same_params(self, names, n_components=self.n_components_)

    def _set_state(self, state, n_iter=0):
        super()._set_state(state, n_iter)
        self._fitted_params = flat_params(self, STATE_PARAMS)
        for name in ("log_partition_", "log_partition_bounds_"):
            vars(self).pop(name, None)
        if self._is_exact():
            self._ensure_log_partition()

    def _is_exact(self):
        params = self._state.params
        m, n = params.components.shape
        return is_affordable(n, m, None, self._exact_limit, params.parents is not None)

    def _ensure_log_partition(self):
        """Sum over all states, or estimate the sum from both ends, if not yet done."""
        if hasattr(self, "log_partition_"):
            return
        params, chains = self._state.params, self._state.chains
        if self._is_exact():
            bounds = (self._log_partition(params),) * 2
        else:
            # Chains that have not mixed make the reverse estimate too small.
            bounds = estimate_log_partition(params, chains.states, chains.seed)
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
        self._ensure_log_partition()
        return super()._log_density(signs)

    def _complete_at_random(self, signs, rng):
        if not (signs.any() or self._is_exact()):
            states = self._state.chains.states
            return sample_by_chains(self._state.params, states, len(signs), rng)
        return super()._complete_at_random(signs, rng)
