"""The combination machine of Freund's chapter 4, with exact likelihood."""

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import targets_of
from sklboolean._core.parameters import check_choice, check_integer
from sklboolean._core.progress import CallbackSupportMixin, Progress, with_callbacks
from sklboolean.density._attribute_forest import Attributes
from sklboolean.density._binary_machine import BinaryMachineMixin
from sklboolean.density._conditionals import complete_at_random
from sklboolean.density._exact_training import ExactTrainingMixin
from sklboolean.density._initialization import fit_binary_inputs
from sklboolean.density._machine import MachineState
from sklboolean.density._maximum_likelihood import warn_of_large_weights
from sklboolean.density._partition_function import check_affordable, log_partition
from sklboolean.density._rbm_params import RBMParams
from sklboolean.density._tree import fit_forest

N_DRAWS = 3  # of the missing bits of each sample
N_ROUNDS = 8  # of draws under the machine
N_ITER_DRAWN = 30  # after each
ADVICE = "or a SampledCombinationMachine, "  # where sums take too long


class CombinationMachine(
    CallbackSupportMixin, ExactTrainingMixin, BinaryMachineMixin, BaseEstimator
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
        a mixture of m + 1 products.
    solver : {"lbfgs", "gradient", "projection_pursuit"}, default="lbfgs"
        "gradient": steps with momentum, as in the thesis. "projection_pursuit": learns
        the biases and one scale for each unit of projection pursuit.
    init : {"random", "projection_pursuit"}, ndarray or tuple, default="random"
        "projection_pursuit": units found one by one, each on what the units before it
        leave unexplained. Arrays: components, or a tuple of components, hidden biases
        and (optionally) visible biases.
    n_init : int, default=4
        Number of starts. The better half of short ascents continues until one is left.
        Only one start is used with arrays as `init`.
    alpha : float, "auto" or None, default=None
        L2 penalty: alpha / 2 times the sum of squares of all weights but the hidden
        biases is subtracted from the mean log-likelihood. None: 2 / n_samples, where a
        sample counts as much as its weight, from 1e-4 to 1. Give a number if the
        weights do not count samples. "auto": the one of 1e-2, 1e-3 and 1e-4 under which
        held-out samples are most likely; all samples are used afterwards. It takes four
        times the time.
    learning_rate : float, default=0.05
        Length of the steps of "gradient".
    momentum : float, default=0.9
        Fraction of the last step that "gradient" adds to the next.
    max_iter : int, default=500
        Maximum number of iterations of the ascent that is kept.
    tol : float, default=1e-5
        Stop when ten iterations gain less, in nats per sample.
    early_stopping : bool, default=False
        Select starts and iterations by held-out samples; stop after 25 iterations
        without a better score.
    validation_fraction : float, default=0.1
        Fraction of samples that `early_stopping`, ``n_components="auto"`` and
        ``alpha="auto"`` hold out, between 0 and 1.
    tree_updates : int, default=4
        Maximum number of times that the tree is learned again, from what the hidden
        units leave unexplained.
    warm_start : bool, default=False
        Whether ``fit`` starts from the weights of the last ``fit``.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each column. Of the columns with one label exactly one is true, in
        training data, likelihoods, samples and completions: they are the values of one
        attribute. A label that occurs once is a column of its own.
    binarize : float or None, default=0.0
        Values above it are true. None requires the codes 0 and 1, or -1 and 1.
    exact_limit : int, default=20
        Sums over more than 2 ** exact_limit states are refused. From 1 to 30.
    random_state : int, RandomState instance or None, default=None
        Source of the starts, held-out samples and new trees, of ``sample``, and of
        ``impute`` with ``method="sample"``.
    n_jobs : int or None, default=None
        Threads. The result does not depend on it.
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
        Log of the sum over all inputs and hidden states.
    alpha_ : float
        The penalty in force.
    log_likelihoods_ : ndarray of shape (`n_iter_`,), dtype float64
        Mean over the training samples after each iteration, in nats. With missing bits
        those of the samples as they were completed last.
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
    SampledCombinationMachine : The same with many hidden units, by Markov chains.
    GaussianCombinationMachine : The same with real inputs.
    ChowLiuTree : The tree alone.
    BernoulliMixture : One hidden class for each sample; learns with missing bits.
    sklearn.neural_network.BernoulliRBM : The same model, without likelihood.

    References
    ----------
    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    Ph.D. thesis, 1993, chapter 4; equations 4.4 and 4.10 to 4.15.

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

    _state_params = "n_components base visible_bias binarize feature_groups".split()

    def __init__(
        self, n_components=10, *, base="independent", visible_bias=True,
        max_active=None, solver="lbfgs", init="random", n_init=4, alpha=None,
        learning_rate=0.05, momentum=0.9, max_iter=500, tol=1e-5, early_stopping=False,
        validation_fraction=0.1, tree_updates=4, warm_start=False, feature_groups=None,
        binarize=0.0, exact_limit=20, random_state=None, n_jobs=None, verbose=0,
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
        tags.input_tags.allow_nan = True
        return tags

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "CombinationMachine":
        """Learn the weights with the largest penalised likelihood.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit. The likelihood of the known bits is then maximised by
            stochastic EM: missing bits are drawn from their exact conditional
            distribution, three times for each sample, at first under a `ChowLiuTree`
            and after the ascent eight times more under the machine, with 30 iterations
            after each. This is unbiased if bits are missing regardless of their values.
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
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            progress = Progress(self, "step", None, X)
            checked = self._start_fit(X, sample_weight, progress, allow_missing=True)
            fit = self._maximise if checked[0].all() else self._fit_incomplete
            fit(*checked, check_random_state(self.random_state))
            progress.finish()
        warn_of_large_weights(
            self._state.params,
            f"Raise alpha, now {self.alpha_}, set early_stopping=True, or take a "
            "smaller learning_rate (not for solver='lbfgs').",
        )
        return self

    def _check_params(self):
        check_choice(self.base, "base", ("independent", "chow_liu"))
        if isinstance(self.solver, str) and self.solver == "pcd":
            raise ValueError(
                "solver must be 'lbfgs', 'gradient' or 'projection_pursuit'; got "
                "'pcd'. Take a SampledCombinationMachine, which learns by persistent "
                "contrastive divergence."
            )
        return self._check_training_params(
            tree_updates=check_integer(self.tree_updates, "tree_updates", 0)
        )

    def _check_sums(self, n):
        """Refuse sums that take too long."""
        if self.n_components != "auto":  # at most exact_limit units
            size = n, self.n_components, self.max_active, self.exact_limit
            hidden_only = self.base == "chow_liu" or self.feature_groups is not None
            check_affordable(*size, hidden_only, ADVICE)

    def _fit_inputs(self, signs, weights, centre):
        model = self.base, self.visible_bias, self.max_active, self._attributes
        return fit_binary_inputs(signs, weights, centre, *model)

    def _fit_incomplete(self, signs, weights, options, rng):
        """Draw missing bits and maximise the likelihood, in turns: stochastic EM."""
        gaps = (signs == 0).any(axis=1)
        repeated = np.repeat(signs[gaps], N_DRAWS, axis=0)
        shares = np.repeat(weights[gaps] / N_DRAWS, N_DRAWS)
        weights = np.concatenate([weights[~gaps], shares])

        def fit(drawn, options, resumes=False):
            samples = np.concatenate([signs[~gaps], drawn])
            self._maximise(samples, weights, options, rng, resumes=resumes)

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

    def _log_partition(self, params):
        return log_partition(params, self.n_jobs)

    @classmethod
    def from_bernoulli_rbm(cls, rbm, *, exact_limit=20) -> "CombinationMachine":
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
        check_affordable(n, m, None, exact_limit)
        machine = cls(m, exact_limit=exact_limit)
        machine.n_features_in_, machine.codes_ = n, np.array([0.0, 1.0])
        if hasattr(rbm, "feature_names_in_"):
            machine.feature_names_in_ = rbm.feature_names_in_
        machine._set_state(MachineState(params))
        return machine
