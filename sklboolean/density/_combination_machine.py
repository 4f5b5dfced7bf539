"""The combination machine of Freund's chapter 4, learned and asked exactly."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from sklboolean._core.base import restore_on_error
from sklboolean._core.validation import (
    check_finite_sum,
    check_sample_weight,
    remember_params,
)
from sklboolean.density._likelihood import make_table
from sklboolean.density._machine_answers import MachineAnswersMixin, about_bits
from sklboolean.density._machine_starts import (
    KIND,
    check_kind,
    held_out_rows,
    starts_of,
)
from sklboolean.density._parameters import check_settings, learns_by_sums
from sklboolean.density._persistent import learn_by_chains, pass_over, start_chains
from sklboolean.density._rbm import BernoulliRBMMixin
from sklboolean.density._real_tables import Reals
from sklboolean.density._tables import Signs, read_signs
from sklboolean.density._training import learn, warn_of_large_weights


class CombinationMachine(MachineAnswersMixin, BernoulliRBMMixin, BaseEstimator):
    """Density of Boolean rows as combinations of hidden units, with exact likelihood.

    With inputs x in {-1, +1} and hidden units h in {0, 1} the probability is
    proportional to the sum over h of exp(h . (W x + theta) + b . x): each active unit
    adds its pattern of correlated inputs. The model is that of ``BernoulliRBM``, but
    its likelihood, gradient, samples and completions are exact: sums over all hidden
    states. With a tree between the inputs it needs far fewer hidden units.

    Real inputs have the factor ``exp(-|x|^2 / 2)`` besides: given hidden units they are
    independent and normal, with means b + W'h and variances 1. Nothing is scaled here:
    scale columns so that what hidden units shall not explain has variance 1. After
    ``StandardScaler`` a column alone has nothing more to explain. A factor of about 2
    makes room: the best has the largest ``score`` plus n_features log(factor) on rows
    that are held out.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number m of hidden units. "auto": as many of projection pursuit as explain
        held-out rows, at most `exact_limit`.
    visible : {"binary", "real"}, default="binary"
        "real": the variant with real inputs. It has neither trees nor "pcd", nor what
        is asked about bits; a most probable completion is not looked for.
    base : {"independent", "chow_liu"}, default="independent"
        What the inputs are without hidden units. "chow_liu": the most likely tree, with
        couplings that are learned together with the units; as exact, and a better fit.
    visible_bias : bool, default=True
        Learn input biases b. False: the machine of the thesis, b = 0.
    max_active : int or None, default=None
        Only hidden states with at most so many active units, for many components. Such
        a machine is another model, not an approximation: 1 gives a mixture of m + 1
        products. Not where no sums are taken: with "pcd", and with "projection_pursuit"
        beyond `exact_limit`.
    solver : {"lbfgs", "gradient", "projection_pursuit", "pcd"}, default="lbfgs"
        "gradient": steps with momentum, as in the thesis. "projection_pursuit": biases
        and a scale for each unit of that start; beyond `exact_limit` the units as they
        were found. "pcd": persistent contrastive divergence, for many components;
        moments come from 500 Markov chains, weights are averaged over the last third.
        Beyond `exact_limit` the likelihood is an estimate.
    init : {"random", "projection_pursuit"}, ndarray or tuple, default="random"
        "projection_pursuit": units that explain what is left of the rows. Arrays:
        components, or a tuple of them with hidden, and perhaps visible biases.
    n_init : int, default=4
        Starts: the better half of short ascents goes on, until one is left. One only
        with "pcd", with arrays as `init`, and where sums are beyond `exact_limit`.
    alpha : float, default=1e-4
        Penalty: alpha / 2 times the squares of the weights, less hidden biases, is
        taken from the mean log-likelihood. Fewer than 2000 rows may need 1e-3.
    learning_rate : float, default=0.05
        Step of "gradient" and "pcd"; that of "pcd" shrinks to 0. Chains that do not
        follow, as bounds far apart tell, need a smaller one.
    momentum : float, default=0.9
        Part of the last step that "gradient" adds to the next; with "pcd" the weight of
        the past in the mean of the gradients that it follows.
    batch_size : int, default=100
        Rows for each step of "pcd".
    max_iter : int, default=500
        Iterations of the ascent that is kept; for "pcd" passes over all rows. On real
        data the likelihood may rise on.
    tol : float, default=1e-5
        Stop when ten iterations gain less, in nats for a row; not with "pcd", which
        makes all `max_iter` passes.
    early_stopping : bool, default=False
        Choose starts and iterations by rows that are held out; stop when they have not
        gained for 25 iterations. Neither with "pcd" nor beyond `exact_limit`.
    validation_fraction : float, default=0.1
        Share of rows to hold out.
    tree_updates : int, default=4
        How often the tree is learned again, from what the hidden units leave
        unexplained: by all solvers but "pcd", where sums are within `exact_limit`.
    warm_start : bool, default=False
        Go on from the weights of the last ``fit``.
    binarize : float or None, default=0.0
        A value above it is true. None demands the codes 0 and 1, or -1 and 1.
    exact_limit : int, default=20
        Sums over more than 2 ** exact_limit states are refused, or estimated with
        "pcd" and "projection_pursuit".
    random_state : int, RandomState instance or None, default=None
        For starts, held-out rows, new trees and chains.
    n_jobs : int or None, default=None
        Threads of exact sums: "pcd" learns without. The result does not depend on it.
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
        Weights of products of each input and its parent; 0 for the root.
    log_partition_ : float
        Log of the sum over all inputs and hidden states; the larger of its bounds.
    log_partition_bounds_ : tuple of float
        Beyond `exact_limit` the forward and the reverse estimate of annealed importance
        sampling: on average one is too small, and the other too large if the chains
        have mixed. Otherwise the exact value twice. After ``partial_fit`` estimates are
        made when they are first needed.
    log_likelihoods_ : ndarray of shape (`n_iter_`,), dtype float64
        Mean over the training rows after each iteration, in nats. Empty where it
        is not known: for "pcd", and beyond `exact_limit`.
    n_iter_ : int
        Iterations of the ascent that was kept.
    n_components_ : int
        Number of hidden units.
    codes_ : ndarray of shape (2,), dtype float64
        How rows are written in answers: (-1, 1) when all values learned were -1 or 1,
        else (0, 1). Not there with real inputs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    ChowLiuTree : The tree alone.
    BernoulliMixture : One hidden class for each row; learns with missing bits.
    sklearn.neural_network.BernoulliRBM : The same model, without likelihood.

    References
    ----------
    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    Ph.D. thesis, 1993, chapter 4; equations 4.4 and 4.10 to 4.15; 4.5 to
    4.8 with real inputs.

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

    def __init__(
        self, n_components=10, *, visible="binary", base="independent",
        visible_bias=True, max_active=None, solver="lbfgs", init="random", n_init=4,
        alpha=1e-4, learning_rate=0.05, momentum=0.9, batch_size=100, max_iter=500,
        tol=1e-5, early_stopping=False, validation_fraction=0.1, tree_updates=4,
        warm_start=False, binarize=0.0, exact_limit=20, random_state=None, n_jobs=None,
        verbose=0,
    ):  # fmt: skip
        self.n_components = n_components
        self.visible = visible
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
        """Learn the weights of greatest penalised likelihood.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows without missing bits.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, at least 0; a row of weight 2 counts as two rows.

        Returns
        -------
        self : object
            The fitted machine.

        Raises
        ------
        ValueError
            For bad parameters and data, and for sums that are not affordable. What was
            learned before is kept.
        """
        with restore_on_error(self):
            settings = check_settings(self)
            real = self.visible == "real"
            kind = Reals if real else Signs
            rows = kind.read(self, X, reset=True, allow_missing=False)
            n_samples, n = rows.shape
            by_sums = learns_by_sums(self, n)
            given = np.ones(n_samples) if sample_weight is None else sample_weight
            sample_weight = check_sample_weight(given, n_samples)
            check_finite_sum(sample_weight, divides=True)
            rng, held_out = check_random_state(self.random_state), None
            if by_sums and self.early_stopping:
                apart = held_out_rows(n_samples, self.validation_fraction, rng)
                held_out = make_table(rows[apart], sample_weight[apart])
                rows, sample_weight = rows[~apart], sample_weight[~apart]
            if by_sums:
                table = make_table(rows, sample_weight)
                starts = starts_of(self, rows, sample_weight, table.visible, rng)
                run = learn(starts, table, sample_weight.sum(), settings, rng, held_out)
                kept = run.best if self.early_stopping else run.weights
                self._publish(kept, run.log_likelihoods, kind=kind)
            else:
                self._fit_without_sums(rows, sample_weight, settings, rng)
        if not real:
            warn_of_large_weights(self._weights(), self.alpha)
        return self

    def _first_start(self, signs, sample_weight, rng):
        centre = (sample_weight @ signs) / sample_weight.sum()
        return next(iter(starts_of(self, signs, sample_weight, centre, rng)))

    def _fit_without_sums(self, signs, sample_weight, settings, rng):
        """Learn by chains, or keep what projection pursuit finds as it is."""
        weights, n_iter = self._first_start(signs, sample_weight, rng), 1
        if self.solver == "pcd":
            chains = learn_by_chains(weights, signs, sample_weight, settings, rng)
            weights, n_iter = chains.weights(settings.visible_bias), self.max_iter
        else:  # chains estimate log Z
            chains = start_chains(weights, signs, settings.visible_bias, rng)
        self._publish(weights, [], chains, n_iter)
        if not self._is_exact():
            self._find_log_partition()

    @available_if(lambda machine: about_bits(machine) and machine.max_active is None)
    def partial_fit(self, X, y=None, sample_weight=None):
        """Go once over more rows, with "pcd" and a constant learning rate.

        Rows are taken in their order, `batch_size` at a time: chunks of whole batches
        teach the same as all rows at once. The first call finds the tree; what was
        fitted before, by any solver, is where learning goes on.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows without missing bits.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, at least 0: how much the step of a batch owes to them.

        Returns
        -------
        self : object
            The machine.

        Raises
        ------
        ValueError
            For bad parameters and data. What was learned before is kept.
        """
        with restore_on_error(self):
            settings = check_settings(self)
            new = not hasattr(self, "components_")
            if not new:
                check_kind(self)
            signs = read_signs(self, X, reset=new, allow_missing=False)
            given = np.ones(len(signs)) if sample_weight is None else sample_weight
            sample_weight = check_sample_weight(given, len(signs))
            check_finite_sum(sample_weight, divides=new)
            chains = None if new else self._chains
            if chains is None:
                rng = check_random_state(self.random_state)
                if new:
                    start = self._first_start(signs, sample_weight, rng)
                else:
                    start = self._weights()
                chains = start_chains(start, signs, settings.visible_bias, rng)
            rate = settings.learning_rate
            chains = pass_over(chains, signs, sample_weight, settings, lambda _: rate)
            n_iter = 1 if new else self.n_iter_ + 1
            self._publish(chains.weights(settings.visible_bias), [], chains, n_iter)
        return self

    def _publish(self, weights, log_likelihoods, chains=None, n_iter=None, kind=Signs):
        self._kind = kind
        remember_params(self, KIND)
        self.components_, self.hidden_bias_, self.visible_bias_ = weights[:3]
        self.tree_, self.couplings_ = weights.parents, weights.couplings
        self.n_components_ = len(self.components_)
        self.log_likelihoods_ = np.array(log_likelihoods, dtype=np.float64)
        self.n_iter_ = len(log_likelihoods) if n_iter is None else n_iter
        self._chains = chains
        for name in ("log_partition_", "log_partition_bounds_"):
            vars(self).pop(name, None)
        if self._is_exact():
            self._find_log_partition()
        return self
