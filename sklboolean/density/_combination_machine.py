"""The combination machine of Freund's chapter 4, with exact likelihood."""

# With missing bits in training samples (`_fit_incomplete`), stochastic EM: each gap is
# filled N_DRAWS times from a tree, the machine is fitted to the completed samples, the
# gaps are drawn again under the machine, and so on for N_ROUNDS rounds. Draws are
# exact.

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.bits import targets_of
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.parameters import check_choice
from sklboolean._core.progress import CallbackSupportMixin, with_callbacks
from sklboolean._core.versioned import VersionedEstimator
from sklboolean.density._attribute_forest import Attributes
from sklboolean.density._base import ContinuedFitMixin
from sklboolean.density._binary_machine import BinaryMachineMixin
from sklboolean.density._conditionals import complete_at_random
from sklboolean.density._exact_training import ExactTrainingMixin
from sklboolean.density._initialization import fit_binary_inputs, has_tree
from sklboolean.density._machine import MachineState
from sklboolean.density._maximum_likelihood import warn_of_large_weights
from sklboolean.density._old_parameters import OF_COMBINATION_MACHINE
from sklboolean.density._partition_function import check_affordable
from sklboolean.density._rbm_params import RBMParams
from sklboolean.density._tree import fit_forest

N_DRAWS = 3  # of the missing bits of each sample
N_ROUNDS = 8  # of draws under the machine
N_ITER_DRAWN = 30  # after each
N_TREE_UPDATES = 4
ADVICE = ", or a SampledCombinationMachine"  # where sums take too long


@old_parameters(**OF_COMBINATION_MACHINE)
class CombinationMachine(
    CallbackSupportMixin,
    ContinuedFitMixin,
    ExactTrainingMixin,
    BinaryMachineMixin,
    VersionedEstimator,
):
    """Density of Boolean samples as combinations of hidden units; exact likelihood.

    With inputs x in {-1, +1} and hidden units h in {0, 1} the probability is
    proportional to the sum over h of exp(h . (W x + theta) + b . x): each active unit
    adds its pattern of correlated inputs. The model is that of ``BernoulliRBM``, but
    its likelihood, gradient, samples and completions are exact: sums over all hidden
    states. With a tree between the inputs it needs far fewer hidden units.

    Parameters
    ----------
    n_components : int, tuple of two int, or "auto", default=10
        Number m of hidden units. Raise it while the score of held-out samples grows;
        each unit doubles the time, so that more than 20 are refused.

        * (m, k): only hidden states with at most k active units, for machines with
          many units. Such a machine is another model, not an approximation: k = 1 gives
          a mixture of m + 1 products.
        * "auto": 1, 2, 4, 6 and so on up to 20, as long as the mean log-likelihood of a
          held-out tenth of the samples grows by more than its standard error; all
          samples are used afterwards. With "projection_pursuit" as `init` or `solver`:
          as many of its units as explain held-out samples.
    base : {"independent", "uniform", "chow_liu", "fixed_chow_liu"}, \
default="independent"
        Distribution of the inputs without hidden units. "uniform": no input biases,
        b = 0, as in the thesis. "chow_liu": the most likely tree, whose couplings are
        learned together with the units. It is as exact, and fits better. Up to four
        times the tree is learned again, from what the units leave unexplained;
        "fixed_chow_liu" saves the time for that.
    solver : {"lbfgs", "gradient", "projection_pursuit"} or GradientAscent, \
default="lbfgs"
        "gradient": steps with momentum, ``GradientAscent()``. "projection_pursuit":
        learns the biases and one scale for each unit of projection pursuit.
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
        a held-out tenth of the samples is most likely; all samples are used afterwards.
        It takes four times the time.
    max_iter : int, default=500
        Maximum number of iterations of the ascent that is kept. It ends earlier when
        ten iterations gain less than 1e-5 nats per sample.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each column. Exactly one of the columns with one label is true, in
        training data, likelihoods, samples and completions: they are the values of one
        attribute. A label that occurs once is a column of its own.
    binarize : float or None, default=0.0
        Values above it are true. None requires the codes 0 and 1, or -1 and 1.
    random_state : int, RandomState instance or None, default=None
        Source of the starts, held-out samples and new trees, of ``sample``, and of
        ``impute`` with ``method="sample"``.
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

    Notes
    -----
    Threads are those of ``joblib.parallel_config(n_jobs=2)``, for example. No result
    depends on their number.

    :doc:`/experiments/combination_machine` computes the paper's results again, and
    :doc:`/experiments/exact_calls` has the parameters of its algorithm.

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

    _learns_with_gaps = True

    def __init__(
        self, n_components=10, *, base="independent", solver="lbfgs", init="random",
        n_init=4, alpha=None, max_iter=500, feature_groups=None, binarize=0.0,
        random_state=None, verbose=0,
    ):  # fmt: skip
        self.n_components = n_components
        self.base = base
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.alpha = alpha
        self.max_iter = max_iter
        self.feature_groups = feature_groups
        self.binarize = binarize
        self.random_state = random_state
        self.verbose = verbose

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
            Numbers of copies of the samples, at least 0; not exactly so where bits are
            drawn. Where their mean is below 1, they are divided by it. None: 1.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For invalid parameters and data, and for sums that take too long. The state
            before the call is kept.

        Warns
        -----
        UserWarning
            Before a fit that is expected to take longer than a minute of one core.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        return self._fit(X, sample_weight)

    def _fit(self, X, sample_weight, *, resumes=False):
        super()._fit(X, sample_weight, resumes=resumes)
        warn_of_large_weights(self._state.params, f"Raise alpha, now {self.alpha_}.")
        return self

    def _check_params(self):
        bases = ("independent", "uniform", "chow_liu", "fixed_chow_liu")
        check_choice(self.base, "base", bases)
        if isinstance(self.solver, str) and self.solver == "pcd":
            raise ValueError(
                "solver must be 'lbfgs', 'gradient' or 'projection_pursuit'; got "
                "'pcd'. Take a SampledCombinationMachine, which learns by persistent "
                "contrastive divergence."
            )
        updates = N_TREE_UPDATES if self.base == "chow_liu" else 0
        return self._check_training_params(tree_updates=updates)

    def _check_sums(self, n):
        """Refuse sums that take too long."""
        m, max_active = self._hidden_units()
        if m != "auto":  # not more than can be summed over
            hidden_only = has_tree(self.base) or self.feature_groups is not None
            check_affordable(n, m, max_active, self._exact_limit, hidden_only, ADVICE)

    def _fit_inputs(self, signs, weights, centre):
        model = self.base, self._hidden_units()[1], self._attributes
        return fit_binary_inputs(signs, weights, centre, *model)

    def _fit_incomplete(self, signs, weights, options, rng):
        """Draw missing bits and maximise the likelihood, in turns: stochastic EM."""
        # Each sample with gaps is repeated: its draws share its weight.
        gaps = (signs == 0).any(axis=1)
        repeated = np.repeat(signs[gaps], N_DRAWS, axis=0)
        shares = np.repeat(weights[gaps] / N_DRAWS, N_DRAWS)
        weights = np.concatenate([weights[~gaps], shares])

        def fit(drawn, options, is_chosen=False):
            samples = np.concatenate([signs[~gaps], drawn])
            self._maximise(samples, weights, options, rng, is_chosen=is_chosen)

        if options.start is not None:
            fit(complete_at_random(options.start, repeated, rng), options)
            return
        # The first completions are drawn from a tree, which learns with gaps itself.
        attributes = self._attributes or Attributes(np.arange(signs.shape[1]))
        signs_with_gaps = np.concatenate([signs[~gaps], repeated])
        tree = fit_forest(signs_with_gaps, weights, attributes, 1.0)
        fit(tree.draw(repeated, rng), options)
        options = replace(options, max_iter=N_ITER_DRAWN, tree_updates=0)
        for _ in range(N_ROUNDS):
            params = self._state.params
            drawn = complete_at_random(params, repeated, rng)
            fit(drawn, replace(options, start=params, alpha=self.alpha_), True)

    @classmethod
    def from_bernoulli_rbm(cls, rbm) -> "CombinationMachine":
        """Build the machine with the distribution of a ``BernoulliRBM``.

        Parameters
        ----------
        rbm : BernoulliRBM
            Fitted.

        Returns
        -------
        machine : CombinationMachine
            Fitted.

        Raises
        ------
        ValueError
            For sums that take too long.
        """
        check_is_fitted(rbm)
        components = np.asarray(rbm.components_, dtype=np.float64) / 2
        hidden_bias = np.asarray(rbm.intercept_hidden_, dtype=np.float64)
        params = RBMParams(
            components,
            hidden_bias + components.sum(axis=1),
            np.asarray(rbm.intercept_visible_, dtype=np.float64) / 2,
        )
        m, n = components.shape
        check_affordable(n, m, None, cls._exact_limit)
        machine = cls(m)
        machine.n_features_in_, machine.codes_ = n, np.array([0.0, 1.0])
        if hasattr(rbm, "feature_names_in_"):
            machine.feature_names_in_ = rbm.feature_names_in_
        machine._set_state(MachineState(params))
        return machine
