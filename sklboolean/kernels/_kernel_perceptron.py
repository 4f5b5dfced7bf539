"""Kernel perceptron over Boolean samples."""

from dataclasses import replace
from operator import itemgetter

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from sklboolean._core.base import OnlineClassifier
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.long_fits import warn_of_long_fit
from sklboolean._core.packed_partitions import PackedPartitionsMixin
from sklboolean._core.parallel import in_threads
from sklboolean._core.parameters import (
    check_choice,
    check_integer,
    check_real,
    flat_params,
    is_auto,
)
from sklboolean._core.progress import SILENT
from sklboolean._core.validation import (
    check_is_fitted,
    validate_boolean,
    validate_data_strict,
)
from sklboolean.kernels._dual_model import TOO_LONG
from sklboolean.kernels._dual_state import DualConfig, DualState
from sklboolean.kernels._dual_training import RESOLUTION, UpdateRule
from sklboolean.kernels._feature_shares import FeatureSharesMixin
from sklboolean.kernels._kernels import KERNELS, ConjunctionKernel
from sklboolean.kernels._old_parameters import OF_KERNEL_PERCEPTRON
from sklboolean.kernels._orders import Layout, Orders, merge_histories

# The training loop is in `_dual_training.py`; docs/contributing/one_fit.md walks from
# `fit` to it.
LEAST_FOR_THREADS = 8192  # samples
FASTER = "AveragedPerceptron after ConjunctionFeatures, or a lower max_literals"
LENGTHS = (3, 1)  # of conjunctions, for max_literals="auto"


@old_parameters(**OF_KERNEL_PERCEPTRON)
class KernelPerceptron(PackedPartitionsMixin, FeatureSharesMixin, OnlineClassifier):
    """Perceptron over all conjunctions of Boolean features, with exact signs.

    It is a linear classifier whose features are conjunctions of the given ones: by
    default of up to three features, or single features where these predict better. It
    keeps only the samples on which it made a mistake (the support) and forms no matrix
    of kernel values.

    Parameters
    ----------
    kernel : str, kernel object or callable, default="conjunction"
        "conjunction" uses ``max_literals`` and ``monotone``. "linear", "rbf", "poly",
        "disjunction", "dnf", "cnf" and "tanimoto" use the defaults of their objects;
        give an object such as ``RBFKernel(gamma=0.1)`` to set parameters. A callable
        receives two float64 arrays of zeros and ones. "precomputed": X is a kernel
        matrix. 1 is added to every kernel: the intercept, or empty conjunction.

        With "conjunction" and a ``max_literals``, updates and scores are divided by
        ``sqrt(K(x, x))``, so that a sample with many true features does not count for
        more than one with few; not so with "voted", and with an object such as
        ``ConjunctionKernel(min_literals=1, normalize=False)``.
    max_literals : int, "auto" or None, default="auto"
        Maximum number of literals of a conjunction, for ``kernel="conjunction"``. Try 1
        to 4. "auto": 3 or 1, whichever has the smaller log-loss on the samples that
        ``early_stopping`` holds out; 3 where none are held out. With 1 many weak
        features add up, and rare classes are ranked better. None: no limit, which is of
        theoretical interest; see Notes.
    monotone : bool, default=True
        True uses only conjunctions without negated features, for
        ``kernel="conjunction"``. Set it to False for switches, sensors and game boards;
        one-hot columns need no negations.
    n_orders : int, default=5
        Number of random orders of the samples. ``fit`` adds up the means of the models
        that they give. More are slower and a little more accurate. For
        ``average="mean"`` without ``max_support``; otherwise there is one random order.
        0: each pass is in the order of the samples, as it always is in ``partial_fit``.
    average : {"mean", "voted"} or None, default="mean"
        Which hypothesis predicts. "mean": the mean of the hypotheses after each sample.
        "voted": their majority vote, which is slower. None: the last hypothesis.
    margin : float, default=1.0
        Update also on correctly classified samples with a score below this, times
        ``sqrt(K(x, x))``. Try 0 to 2. 0 updates on mistakes only.
    max_iter : int, default=10
        Maximum number of passes over the training data. Training stops earlier after a
        pass without an update.
    early_stopping : bool, default=True
        Choose 1, 3 or ``max_iter`` passes by the log-loss on held-out samples: a fifth
        of each class, and with few samples each fifth in turn. More passes are tried
        only while the loss falls, because noisy labels need few. Then all samples are
        used. It applies where ``n_orders`` does.
    multi_class : {"ovr", "joint"}, default="ovr"
        With three or more classes: train each class against the rest, or change the
        scores of the correct class and its strongest rival after a mistake.
    class_weight : dict, "balanced" or None, default=None
        Size of an update for each class. Set it if mistakes on one class are more
        costly.
    max_support : int or None, default=None
        Maximum number of support samples (for each class with "ovr" and three or more
        classes); beyond it a random one is removed. The mean is over the hypotheses
        since the last removal. None: no limit. Set it to bound memory.
    binarize : float or None, default=0.0
        Values above this threshold are true. None accepts only 0 and 1.
    random_state : int, RandomState instance or None, default=None
        Seed for shuffling and for removals.
    n_jobs : int or None, default=None
        Number of threads, or of tasks in ``fit_partitions``. Below 8192 samples ``fit``
        takes one, which is quicker. The model does not depend on it.
    verbose : int, default=0
        1 prints a line for each pass over the training data, or, of several orders or
        classes, for each model.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    kernel_ : kernel object, callable or "precomputed"
        The kernel, without the constant that is added to it.
    support_ : ndarray of shape (n_support,), dtype int64
        Numbers of the support samples, counted over all samples seen. Those of
        weight 0 do not count.
    support_words_ : ndarray of shape (n_support, ceil(n_features / 64)), dtype uint64
        The support samples, packed, after training on dense data; otherwise None.
    support_rows_ : csr_array of shape (n_support, n_features), dtype bool
        The support samples after training on sparse data; otherwise None.
    dual_coef_ : ndarray of shape (n_scores, n_support), dtype float64
        Coefficients of the support samples: integers, or multiples of 2**-16 with
        class weights. With "mean" they are summed over the ``t_`` hypotheses. There is
        one row for two classes, otherwise one for each class. The score is
        ``K(X, support) @ dual_coef_.T + intercept_``.
    intercept_ : ndarray of shape (n_scores,), dtype float64
        Weight of the constant that is added to the kernel.
    raw_dual_coef_ : ndarray of shape (n_scores, n_support), dtype float64
        Coefficients of the last hypothesis.
    n_support_ : int
        Number of support samples.
    n_mistakes_ : int
        Mistakes in training, over all passes and orders (and classes with "ovr").
    mistakes_per_epoch_ : list of int
        Mistakes in each pass. They add up to ``n_mistakes_``.
    n_updates_ : int
        Updates: mistakes, and correct samples within the margin.
    n_iter_ : int
        Passes of the last ``fit``. The parts of a stream count as one pass.
    t_ : int
        Samples seen, over all passes.
    score_exponent_ : int
        Scores are divided by ``2**score_exponent_`` to be finite. 0 as long as the
        largest possible score is below 2**1000.
    calibration_slope_ : float
        Slope of the sigmoid of scores; where updates are not divided by norms, of
        scores divided by the largest possible score.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, if X has them.

    See Also
    --------
    sklboolean.kernels.ConjunctionKernel : The default kernel.
    sklboolean.theory.perceptron_mistake_bound : How many mistakes are possible.

    Notes
    -----
    Set ``max_literals`` first, then ``monotone``. The perceptron of the references is
    ``KernelPerceptron(ConjunctionKernel(min_literals=1, normalize=False), n_orders=1,
    margin=0, early_stopping=False)``. All conjunctions of many features
    (``max_literals=None``) can force exponentially many mistakes on a simple target
    (Theorem 4 of the first reference).

    A sample weight, times the class weight, is what an update with the sample adds. It
    is rounded to 16 binary digits of the largest, unless all are integers.

    Where short conjunctions of the data are few, each has a weight, and the time of a
    fit grows with the samples. Otherwise samples are compared in pairs. A fit that is
    expected to take longer than a minute warns before it begins.

    Kernels that are a function of one count are all but "tanimoto", monotone
    disjunctions, DNFs and CNFs, callables and "precomputed". With them every comparison
    of scores is one of exact integers, for any number of features, computer and
    ``n_jobs``.

    :doc:`/experiments/boolean_kernels` computes the paper's results again, and
    :doc:`/experiments/exact_calls` has the parameters of its algorithm.

    References
    ----------
    Khardon, Roth, Servedio. "Efficiency versus Convergence of Boolean Kernels for
    On-Line Learning Algorithms". NIPS 2001, sections 1.1 and 2.

    Freund, Schapire. "Large Margin Classification Using the Perceptron Algorithm".
    Machine Learning 37, 1999 (averaged and voted).

    Examples
    --------
    >>> from sklboolean import KernelPerceptron
    >>> from sklboolean.datasets import make_tic_tac_toe
    >>> X, y = make_tic_tac_toe(return_X_y=True)
    >>> float(KernelPerceptron(random_state=0).fit(X, y).score(X, y))
    1.0
    """

    def __init__(
        self, kernel="conjunction", *, max_literals="auto", monotone=True,
        n_orders=5, average="mean", margin=1.0, max_iter=10, early_stopping=True,
        multi_class="ovr", class_weight=None, max_support=None, binarize=0.0,
        random_state=None, n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.kernel = kernel
        self.max_literals = max_literals
        self.monotone = monotone
        self.n_orders = n_orders
        self.average = average
        self.margin = margin
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.max_support = max_support
        self.binarize = binarize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.sparse = not self._is_precomputed()
        return tags

    def fit(self, X, y=None, sample_weight=None) -> "KernelPerceptron":
        """Fit the classifier to labelled samples.

        Training is in ``_train``: a perceptron in each of several orders, added up.
        The checks around it are those of all classifiers that resume training.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Boolean features, or the square kernel matrix if "precomputed".
        y : array-like of shape (n_samples,), default=None
            Labels of two or more classes. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Finite weights of at least 0. A weight, times the class weight, is what an
            update with the sample adds. Where the mean of these products is below 1,
            they are divided by it, since ``margin`` has the same unit. A sample of
            weight 0 is left out. None: 1.

        Returns
        -------
        self : KernelPerceptron
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. The classifier stays as it was.
        """
        return super().fit(X, y, sample_weight)

    def decision_function(self, X) -> np.ndarray:
        """Compute the score of each sample for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features, or the kernel with the training samples if "precomputed".

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            Two classes: positive for the second one; a score of 0 is replaced by the
            smallest float above it. More: the predicted class has the largest score.
            Where updates are divided by norms a score is of order 1: the mean over the
            hypotheses, in units of the margin. Otherwise it is their sum, and with
            "voted" a number of votes. Always finite: see ``score_exponent_``.
        """
        check_is_fitted(self)
        return self._decision(self._state, self._check_X(X, reset=False))

    @property
    def is_normalized_(self):
        """Whether updates and scores are divided by ``sqrt(K(x, x))``."""
        check_is_fitted(self)
        return self._state.config.normalize

    def _make_kernel(self):
        """Make the kernel that the parameters describe, or "precomputed"."""
        kernel = self.kernel
        if not isinstance(kernel, str):
            if not callable(kernel):
                raise ValueError(
                    f"kernel must be a name, a kernel object or a callable; got "
                    f"{kernel!r}."
                )
            # A copy: the user may change the parameters of the object later.
            has_params = hasattr(kernel, "get_params") and not isinstance(kernel, type)
            return clone(kernel) if has_params else kernel
        if kernel == "conjunction":
            shape = {"max_literals": self._lengths()[0], "monotone": self.monotone}
            return ConjunctionKernel(min_literals=1, normalize=False, **shape)
        if kernel != "precomputed" and kernel not in KERNELS:
            raise ValueError(
                "kernel must be a callable or one of "
                f"{[*KERNELS, 'precomputed']}; got {kernel!r}."
            )
        return KERNELS[kernel]() if kernel in KERNELS else kernel

    def _lengths(self):
        """List the values of ``max_literals`` to choose from."""
        is_chosen = is_auto(self.max_literals, "max_literals")
        return LENGTHS if is_chosen else (self.max_literals,)

    def _is_conjunction(self):
        return isinstance(self.kernel, str) and self.kernel == "conjunction"

    def _is_precomputed(self):
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _check_params(self):
        check_choice(self.average, "average", ("mean", "voted", None))
        check_real(self.margin, "margin", 0.0)
        check_integer(self.max_iter, "max_iter", 1)
        check_choice(self.multi_class, "multi_class", ("ovr", "joint"))
        check_integer(self.n_orders, "n_orders", 0)
        check_choice(self.early_stopping, "early_stopping", (True, False))
        if self.max_support is not None:
            check_integer(self.max_support, "max_support", 1)
            if self.average == "voted":
                raise ValueError(
                    "average='voted' needs all support samples of all hypotheses. Use "
                    "average='mean' with max_support, or max_support=None."
                )

    def _check_partial_fit(self):
        if self._is_precomputed():
            raise AttributeError(
                "partial_fit is not available with kernel='precomputed', which needs "
                "all samples at once. Use a kernel name or a callable."
            )

    def _bits_of(self, X):
        return None if self._is_precomputed() else super()._bits_of(X)

    def _resume_params(self):
        names = ["kernel", "binarize", "average"]
        if self._is_conjunction():
            names += ["max_literals", "monotone"]
        if len(self.classes_) > 2:
            names.append("multi_class")
        return flat_params(self, names)

    def _check_X(self, X, y="no_validation", *, reset):
        """Check X (and y) and make X a Boolean table, or read the kernel matrix."""
        if not self._is_precomputed():
            return validate_boolean(self, X, y, reset=reset)
        checked = validate_data_strict(self, X, y, reset=reset, dtype=np.float64)
        if reset and checked[0].shape[0] != checked[0].shape[1]:
            raise ValueError(
                f"A precomputed kernel must be square; X has shape {checked[0].shape}."
            )
        return checked

    def _init_state(self):
        n_classes = len(self.classes_)
        # Only sums of short conjunctions are divided by norms, and no votes.
        is_short = self._is_conjunction() and self.max_literals is not None
        return DualState.empty(
            DualConfig(
                self._make_kernel(), 1, self.n_features_in_,
                n_scores=1 if n_classes == 2 else n_classes,
                joint=n_classes > 2 and self.multi_class == "joint",
                average=self.average,
                normalize=is_short and self.average != "voted",
            )
        )  # fmt: skip

    def _train(
        self, state, data, codes, weights, samples=None, one_pass=False, progress=SILENT
    ):
        """Train a perceptron in each order of the samples, and add them up.

        One pass is in the order of the samples.
        """
        # 1. The samples, the number of their orders and of passes. Streams, budgets and
        # votes have one order; the state is empty but in a stream.
        samples = np.arange(len(codes)) if samples is None else samples
        codes, n_problems = codes[samples], state.config.n_problems
        weights = np.ones(len(codes)) if weights is None else weights[samples]
        max_iter = 1 if one_pass else self.max_iter
        shuffle = self.n_orders > 0 and not one_pass
        adds_up = shuffle and self.average == "mean" and self.max_support is None
        n_orders = self.n_orders if adds_up else 1
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        # Of short blocks each thread waits for the GIL of the others.
        n_jobs = self.n_jobs if len(samples) >= LEAST_FOR_THREADS else 1
        kernel_jobs = n_jobs if n_orders * n_problems == 1 else None

        # 2. Lay the samples out; updates are integers over the resolution of the state.
        def lay_out(state):
            layout = Layout.of(state, data, samples, kernel_jobs)
            state, sizes = self._whole_sizes(state, layout, weights, max_iter)
            return Orders(
                state, layout, codes, weights, sizes, self._update_rule(state),
                self.max_support, shuffle, seed, n_jobs,
            )  # fmt: skip

        # 3. The number of passes and the length of conjunctions, by held-out samples.
        held_out, chooses = None, adds_up and self.early_stopping and max_iter > 1
        trials = list(map(lay_out, self._candidates(state) if chooses else [state]))
        orders = trials[0]
        n_passes = max_iter * n_orders
        seconds = orders.layout.expected_seconds(n_passes, self.max_support)
        warn_of_long_fit(self, seconds, FASTER)
        if chooses:

            def choose(orders):
                return orders, *orders.choose_passes(max_iter)

            choices = in_threads(choose, zip(trials), n_jobs)
            orders, max_iter, held_out, _ = min(choices, key=itemgetter(-1))
        # 4. Train a perceptron for each order and class, and add them up.
        tasks = [(order, k) for order in range(n_orders) for k in range(n_problems)]
        runs = orders.train(tasks, max_iter, progress=progress)
        history = merge_histories(runs, held_out)
        return orders.add_up(runs, n_passes=len(history.mistakes)), history

    def _of_second_model(self):
        return super()._of_second_model() | {"n_orders": min(1, self.n_orders)}

    def _candidates(self, state):
        """List states before training, with the kernels to choose from."""
        if not self._is_conjunction():
            yield state
            return
        for length in self._lengths():
            kernel = clone(state.config.kernel).set_params(max_literals=length)
            yield replace(state, config=replace(state.config, kernel=kernel))

    def _update_rule(self, state):
        return UpdateRule(
            state.config.n_scores // state.config.n_problems,
            margin=float(self.margin) * state.n_orders,
            resolution=state.resolution,
        )

    def _whole_sizes(self, state, layout, weights, max_iter):
        """Make sizes of updates integers over a power of two, the state's resolution.

        The largest has 16 binary digits or more.
        """
        # A state is a sum over orders: a later update counts once for each of them.
        sizes, resolution = weights * state.n_orders, 1
        if state.config.normalize:
            sizes = sizes / layout.norms(len(sizes))
        is_whole = (sizes == np.rint(sizes)).all()
        if not is_whole or sizes.max() >= RESOLUTION:
            n_places = 1 - int(np.frexp(sizes.max())[1])
            if n_places > 40:
                raise ValueError(
                    f"sample_weight must not be below 2**-40; its largest entry, with "
                    f"class_weight, is {sizes.max():g}. Multiply it by a large number."
                )
            resolution = RESOLUTION << max(0, n_places)
        if resolution > state.resolution:
            state = state.with_resolution(resolution)
        if sizes.max() * state.resolution >= 2.0**52:
            raise ValueError(TOO_LONG)
        integers = np.rint(sizes * state.resolution).astype(np.int64)
        integers[sizes > 0] = np.maximum(integers[sizes > 0], 1)
        # A coefficient's change in one epoch, times the time of the change.
        last = state.n_seen + max_iter * len(sizes)
        if last * max_iter * max(1, self.n_orders) * int(integers.max()) >= 2**62:
            raise ValueError(TOO_LONG)
        return state, integers

    def _decision(self, state, table):
        return state.decision(table, n_jobs=self.n_jobs)

    def _scores(self, state, data, samples):
        return self._decision(state, data[samples]) / self._scale(state)

    def _calibration_scores(self, X):
        return self.decision_function(X) / self._scale(self._state)

    def _score_factors(self, table):
        """Compute what scores of the kernel are multiplied by, and a power of two."""
        if self.is_normalized_:
            return 1.0 / self._state.model.norms(table), 0
        return np.ones(table.shape[0]), -self.score_exponent_

    def _scale(self, state):
        """Divisor of scores before they are calibrated."""
        return 1.0 if state.config.normalize else state.model.bound

    def _set_fitted_attributes(self, state):
        unit = state.resolution * state.unit
        coef = state.model.coef / unit
        self._set_support(state.config.kernel, state.support, state.table)
        self.dual_coef_ = coef
        self.raw_dual_coef_ = state.coef / (state.resolution * state.n_orders)
        self.intercept_ = coef.sum(axis=1) * state.config.constant
        self.t_ = state.n_seen
        self.score_exponent_ = state.model.score_exponent
