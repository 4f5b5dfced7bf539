"""Soft-margin support vector machine on packed bits."""

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning

from sklboolean._core.base import (
    DecisionClassifierMixin,
    TableScoreMixin,
    restore_on_error,
)
from sklboolean._core.bits import targets_of
from sklboolean._core.calibration import fit_slope, held_out_parts
from sklboolean._core.damage import require, require_shape
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.labels import encode_classes
from sklboolean._core.long_fits import warn_of_long_fit
from sklboolean._core.packed_partitions import PackedPartitionsMixin
from sklboolean._core.parallel import beside, in_threads
from sklboolean._core.parameters import check_choice, check_real, is_auto
from sklboolean._core.progress import (
    SILENT,
    CallbackSupportMixin,
    Progress,
    with_callbacks,
)
from sklboolean._core.validation import check_is_fitted, validate_boolean, warn_user
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import checked_weights, labelled_weights
from sklboolean.kernels._feature_shares import FeatureSharesMixin
from sklboolean.kernels._kernels import KERNELS, ConjunctionKernel
from sklboolean.kernels._old_parameters import OF_SVC
from sklboolean.kernels._soft_margin import (
    BitKernel,
    Solution,
    merge_equal_samples,
    solve_dual,
)

# Samples from which the rule for C estimates the spread of the samples.
N_SPREAD_SAMPLES = 256
ENTRIES_AT_A_TIME = 2**20
LEAST_FOR_THREADS = 8192  # distinct samples, where several scores are trained
FASTER = "AveragedPerceptron after ConjunctionFeatures, or a lower max_literals"
MAX_BLOCKS = 10_000  # that are solved, for each score
AUTO_FACTOR = 1.5
# The rule for decay: the least mean of the normalised kernel between two samples.
LEAST_SIMILARITY = 0.03
MAX_HALVINGS = 10
# Of more distinct samples a quarter is enough for the machine that is calibrated, and
# two halves would take half as long as the fit.
MOST_HALVED = 4000


@dataclass
class SupportState:
    """A fitted machine: support samples, coefficients and intercepts.

    Attributes
    ----------
    kernel : kernel object
    n_features : int
    table : ndarray of uint64 words, or csr_array
        The support samples.
    support : ndarray of shape (n_support,), int64
    coef : ndarray of shape (n_scores, n_support), float64
    intercept : ndarray of shape (n_scores,), float64
    pairs : list of (int, int) or None
        The two classes of each score, where classes were trained in pairs.
    """

    kernel: object
    n_features: int
    table: object
    support: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    pairs: list | None

    def __getstate__(self):
        # What `bits` prepares is made again after loading.
        return {name: value for name, value in vars(self).items() if name != "bits"}

    @cached_property
    def bits(self):
        """The kernel prepared to compare samples with the support samples."""
        n_scores, n_support = len(self.intercept), len(self.support)
        require_shape(self.coef, (n_scores, n_support), "coef")
        require(self.table.shape[0] == n_support, "the support samples have no table")
        require(
            self.pairs is None or n_scores == len(self.pairs),
            "intercept does not fit the pairs of classes",
        )
        return BitKernel(self.kernel, self.n_features, self.table)

    def scores(self, table, n_jobs=None):
        """Compute the scores of samples, shape (n_samples, n_scores)."""
        bits = self.bits.with_threads(n_jobs)
        sums = bits.scores(self.coef, bits.lay_out(table))
        return sums.T + self.intercept


def gather(solutions, numbers):
    """Gather the coefficients of all scores.

    Parameters
    ----------
    solutions : list of (samples, Solution)
    numbers : ndarray of shape (n_samples,), int64
        Name of each sample; the support samples are sorted by it.

    Returns
    -------
    support : ndarray of shape (n_support,), int64
    coef : ndarray of shape (n_scores, n_support), float64
    intercept : ndarray of shape (n_scores,), float64
    """
    # The support is the union over all scores; coef has zeros where one score has none.
    used = np.zeros(len(numbers), dtype=bool)
    for samples, solution in solutions:
        used[samples[solution.coef != 0]] = True
    order = np.flatnonzero(used)
    order = order[np.argsort(numbers[order])]
    support_position = np.empty(len(numbers), dtype=np.int64)
    support_position[order] = np.arange(len(order))
    coef = np.zeros((len(solutions), len(order)))
    for row, (samples, solution) in zip(coef, solutions, strict=True):
        is_support = solution.coef != 0
        row[support_position[samples[is_support]]] = solution.coef[is_support]
    intercept = np.array([solution.intercept for _, solution in solutions])
    return numbers[order], coef, intercept


def scores_of_classes(scores, pairs):
    """Make scores of classes of those of pairs: the score against the strongest rival.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_scores)
    pairs : list of (int, int) or None
        The classes of each score, which is positive for the second. None: there is one
        score for each class, or one for two classes.

    Returns
    -------
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
    """
    if pairs is None:
        return scores if scores.shape[1] > 1 else scores[:, 0]
    # Each class has its pairs in one row: as the first of a pair, then as the second.
    columns_of_class = np.argsort(np.concatenate(np.transpose(pairs)), kind="stable")
    columns_of_class = columns_of_class.reshape(1 + pairs[-1][1], -1)
    smallest = np.empty((len(scores), len(columns_of_class)))
    step = max(1, ENTRIES_AT_A_TIME // columns_of_class.size)
    for first in range(0, len(scores), step):
        pair_scores = scores[first : first + step]
        # A pair's score is for its second class, and minus it for the first.
        both = np.concatenate([-pair_scores, pair_scores], axis=1)
        both[:, columns_of_class].min(axis=2, out=smallest[first : first + step])
    return smallest


@old_parameters(**OF_SVC)
class BooleanSVC(
    CallbackSupportMixin, PackedPartitionsMixin, FeatureSharesMixin,
    DecisionClassifierMixin, TableScoreMixin, ClassifierMixin, VersionedEstimator,
):  # fmt: skip
    """Support vector machine with a soft margin over conjunctions of Boolean features.

    The same machine as ``sklearn.svm.SVC``, for kernels that are computed from packed
    bits. No kernel matrix is formed, and a fit takes a small part of the time. By
    default the features of the machine are the conjunctions of up to three features.

    Parameters
    ----------
    kernel : str or kernel object, default="conjunction"
        "conjunction" uses ``max_literals`` and ``monotone`` and divides the kernel by
        the norms of both samples. A conjunction of *l* literals counts ``decay**l``
        with a decay of 1 for most tables. Where samples share few features, as in text,
        long conjunctions make each sample similar to itself only: then 1 is halved
        until the mean of ``K(x, z)`` over pairs of 256 samples is at least 0.03. Give
        ``ConjunctionKernel(min_literals=1, decay=1)`` if few conjunctions of three
        features decide. "linear", "rbf", "poly", "disjunction",
        "dnf", "cnf" and "tanimoto" use the defaults of their objects; give an object
        such as ``RBFKernel(gamma=0.1)`` to set parameters.
    C : float or "auto", default="auto"
        Weight of the errors, above 0: the upper bound of a dual coefficient. Smaller
        values give a wider margin and suit noisy labels. As in ``SVC``, it is
        multiplied by the weight of each sample; unlike there, weights whose mean is
        below 1 are divided by it first. "auto" is 1.5 over the spread of the samples,
        ``1.5 / (mean of K(x, x) - mean of K(x, z))``, estimated from 256 samples, so
        that it follows the scale of the kernel; 1 where all samples are equal. Tune it
        by factors of 3: larger for labels without noise, smaller for very noisy ones.
    max_literals : int or None, default=3
        Maximum number of literals of a conjunction, for ``kernel="conjunction"``. Try 1
        to 4. None: no limit.
    monotone : bool, default=True
        True uses only conjunctions without negated features, for
        ``kernel="conjunction"``. Set it to False for switches, sensors and game boards;
        one-hot columns need no negations.
    class_weight : dict, "balanced" or None, default=None
        Factor of ``C`` for each class. Set it if mistakes on one class cost more.
    tol : float, default=1e-3
        Training stops when no two samples violate the conditions of optimality by
        more; where samples satisfy few conjunctions, also when ``dual_gap_`` is at most
        ``0.03 * tol`` times the objective. A smaller value takes longer and changes few
        predictions.
    multi_class : {"ovo", "ovr"}, default="ovo"
        Training of three classes or more. "ovo" trains one score for each pair of
        classes; the score of a class is that against its strongest rival. "ovr" trains
        each class against the rest: often less accurate and slower to train, but each
        class is a sum over conjunctions, and many classes take less memory.
    binarize : float or None, default=0.0
        Values above this threshold are true. None accepts only 0 and 1.
    n_jobs : int or None, default=None
        Number of threads. The model does not depend on it.
    verbose : int, default=0
        1 prints a line for each block, or for each look at all samples; with more than
        two classes, for each score.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    C_ : float
        The value of ``C`` in use.
    kernel_ : kernel object
        The kernel in use.
    support_ : ndarray of shape (n_support,), dtype int64
        Numbers of the support samples. Among equal samples with one label,
        the first stands for all.
    support_words_ : ndarray of shape (n_support, ceil(n_features / 64)), dtype uint64
        The support samples, packed, after training on dense data; otherwise None.
    support_rows_ : csr_array of shape (n_support, n_features), dtype bool
        The support samples after training on sparse data; otherwise None.
    n_support_ : int
        Number of support samples.
    dual_coef_ : ndarray of shape (n_scores, n_support), dtype float64
        Coefficients of the support samples. The scores are ``K(X, support) @
        dual_coef_.T + intercept_``: one for two classes; with "ovr" one for each class;
        with "ovo" one for each pair of classes (0, 1), (0, 2), ..., (1, 2), ...,
        positive for the second class of the pair.
    intercept_ : ndarray of shape (n_scores,), dtype float64
        Intercept of each score.
    n_iter_ : ndarray of shape (n_scores,), dtype int64
        Number of blocks that were solved; where samples satisfy few conjunctions, of
        looks at all samples, with some passes between two of them.
    dual_gap_ : ndarray of shape (n_scores,), dtype float64
        Value of the objective less that of its dual: the objective is at most this far
        from its minimum.
    calibration_slope_ : float
        Slope of the sigmoid of scores, for ``predict_proba``: fitted to the scores of
        each half of the samples by a machine of the other half; of more than 4000 to
        scores by a machine of a quarter.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, if X has them.

    See Also
    --------
    sklboolean.KernelPerceptron : Exact signs, streams, all kernels.
    sklboolean.rules.extract_dnf : The rules inside the fitted machine.

    Notes
    -----
    The dual with an intercept is solved in blocks of the samples that violate the
    conditions of optimality most, by sequential minimal optimisation with a choice of
    the second order. The changes of a block are then added to the scores of all other
    samples in one pass over their bits. Samples at a bound that cannot move are left
    out meanwhile. Equal samples with one label are merged, so weights of samples are
    the same as repetitions, and the order of the samples does not matter.

    Many samples that satisfy few conjunctions, of up to three features, are solved by
    dual coordinate descent on the weights of these conjunctions. Then the time grows
    with the samples and not with pairs of them. So it does from about 5000 samples of
    30 features on, and 90,000 of 100, if a fifth of them is true.

    Scores are sums in float64. They are the same for any processor and ``n_jobs``; a
    score that lies within rounding, about 1e-13 of the sum of absolute terms, of 0 may
    have either sign.

    With three classes or more, each pair is trained, as in ``SVC``. A class that beats
    every other is predicted, as it is by the votes of ``SVC``. Where there is none, the
    class whose largest defeat is smallest is predicted.

    References
    ----------
    Cortes, Vapnik. "Support-Vector Networks". Machine Learning 20, 1995.

    Fan, Chen, Lin. "Working Set Selection Using Second Order Information for Training
    Support Vector Machines". Journal of Machine Learning Research 6, 2005.

    Hsieh, Chang, Lin, Keerthi, Sundararajan. "A Dual Coordinate Descent Method for
    Large-scale Linear SVM". ICML 2008.

    Wen, Shi, Li, He, Chen. "ThunderSVM: A Fast SVM Library on GPUs and CPUs". Journal
    of Machine Learning Research 19, 2018 (blocks of violators).

    Examples
    --------
    >>> from sklboolean import BooleanSVC
    >>> from sklboolean.datasets import make_tic_tac_toe
    >>> X, y = make_tic_tac_toe(return_X_y=True)
    >>> float(BooleanSVC(C=10.0).fit(X, y).score(X, y))
    1.0
    """

    def __init__(
        self, kernel="conjunction", *, C="auto", max_literals=3, monotone=True,
        class_weight=None, tol=1e-3, multi_class="ovo", binarize=0.0, n_jobs=None,
        verbose=0,
    ):  # fmt: skip
        self.kernel = kernel
        self.C = C
        self.max_literals = max_literals
        self.monotone = monotone
        self.class_weight = class_weight
        self.tol = tol
        self.multi_class = multi_class
        self.binarize = binarize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "BooleanSVC":
        """Fit the machine to labelled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Boolean features.
        y : array-like of shape (n_samples,), default=None
            Labels of two or more classes. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), default=None
            Numbers of copies of the samples, at least 0, and so factors of ``C``. Where
            their mean is below 1, they are divided by it. None: 1.

        Returns
        -------
        self : BooleanSVC
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. The classifier stays as it was.

        Warns
        -----
        UserWarning
            Before a fit that is expected to take longer than a minute of one core.
        ConvergenceWarning
            If 10,000 blocks of samples were not enough for a score.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            kernel = self._check_params()
            progress = Progress(self, "block", None, X, y)
            table, y = validate_boolean(self, X, y)
            self.classes_, codes = encode_classes(y)
            # Samples are held out by their own weights, without those of classes.
            weights = checked_weights(sample_weight, len(codes))
            product = labelled_weights(
                sample_weight, codes, self.classes_, self.class_weight
            )
            weights = np.where(product > 0, weights, 0.0)
            factors = product / np.where(weights > 0, weights, 1.0)
            first, weights = merge_equal_samples(table, codes, weights)
            codes, factors = codes[first], factors[first]
            box = factors * weights
            n_jobs = self.n_jobs if len(self.classes_) == 2 else None
            bits = BitKernel(kernel, self.n_features_in_, table[first], n_jobs)
            warn_of_long_fit(self, bits.expected_seconds, FASTER)
            bits = self._choose_decay(bits, box)
            self.C_ = self._choose_C(bits, box)
            # A machine for the calibration is trained while the other one is.
            slope = beside(
                partial(self._held_out_slope, bits, codes, weights, factors), n_jobs
            )
            solutions = self._solve(bits, codes, box, progress)
            self._set_fitted_attributes(bits.kernel, table, first, solutions)
            self.calibration_slope_ = slope()
            progress.finish()
        if not all(solution.is_solved for _, solution in solutions):
            warn_user(
                f"Training stopped after {MAX_BLOCKS} blocks before tol={self.tol} "
                "was reached. Increase tol, or lower C.",
                ConvergenceWarning,
            )
        return self

    def _check_params(self):
        """Check the parameters and make the kernel object."""
        if not is_auto(self.C, "C"):
            check_real(self.C, "C", 0, strict=True)
        check_real(self.tol, "tol", 0, strict=True)
        check_choice(self.multi_class, "multi_class", ("ovo", "ovr"))
        if self.kernel == "conjunction":
            shape = {"max_literals": self.max_literals, "monotone": self.monotone}
            return ConjunctionKernel(min_literals=1, **shape)
        if isinstance(self.kernel, str) and self.kernel in KERNELS:
            return KERNELS[self.kernel]()
        if not hasattr(self.kernel, "formula") or isinstance(self.kernel, type):
            raise ValueError(
                f"kernel must be one of {[*KERNELS]} or a kernel object of "
                f"sklboolean.kernels, which is computed from bits; got "
                f"{self.kernel!r}. For a callable or a precomputed matrix use "
                "sklearn.svm.SVC or KernelPerceptron."
            )
        return clone(self.kernel)

    def _choose_decay(self, bits, weights):
        """Halve the decay until samples are similar on average."""
        if self.kernel != "conjunction":
            return bits
        n_halvings = 0 if self.max_literals == 1 else MAX_HALVINGS
        for k in range(1, 1 + n_halvings):
            if bits.similarity(weights, N_SPREAD_SAMPLES) >= LEAST_SIMILARITY:
                break
            kernel = clone(bits.kernel).set_params(decay=2.0**-k)
            bits = bits.with_kernel(kernel)
        return bits

    def _choose_C(self, bits, weights):
        """Compute the value of C in use."""
        if not is_auto(self.C, "C"):
            return float(self.C)
        spread = bits.spread(weights, N_SPREAD_SAMPLES)
        return float(AUTO_FACTOR / spread if spread > 0 else 1.0)

    def _pairs(self):
        """List the pairs of classes, or None where classes are not paired."""
        n_classes = len(self.classes_)
        if n_classes == 2 or self.multi_class == "ovr":
            return None
        return list(combinations(range(n_classes), 2))

    def _solve(self, bits, codes, weights, progress=SILENT):
        """Solve the dual of each score; list the samples and the solution of each."""
        n_classes, pairs = len(self.classes_), self._pairs()
        box, all_samples = self.C_ * weights, np.arange(len(codes))

        def solve(first, second, report=None):
            samples = all_samples
            if first is not None:
                samples = np.flatnonzero((codes == first) | (codes == second))
            if not len(samples):  # of two classes without weight
                return samples, Solution(np.zeros(0), 0.0, 0, 0.0, 0.0, True)
            kernel_of_samples = (
                bits if len(samples) == len(all_samples) else bits.part(samples)
            )
            y = np.where(codes[samples] == second, 1.0, -1.0)
            return samples, solve_dual(
                kernel_of_samples, y, box[samples], self.tol, MAX_BLOCKS, report
            )

        if n_classes == 2:
            return [solve(0, 1, lambda gap: progress.step(lambda: f"gap {gap:.3g}"))]
        problems = pairs or [(None, k) for k in range(n_classes)]
        progress.count("pair" if pairs else "class", len(problems))
        n_jobs = self.n_jobs if len(codes) >= LEAST_FOR_THREADS else 1
        solutions = []
        for result in in_threads(solve, problems, n_jobs):
            solutions.append(result)
            progress.step(partial("gap {:.3g}".format, result[1].gap))
        return solutions

    def _set_fitted_attributes(self, kernel, table, numbers, solutions):
        support, coef, intercept = gather(solutions, numbers)
        learned = table[support], support, coef, intercept, self._pairs()
        state = SupportState(kernel, self.n_features_in_, *learned)
        self._state = state
        self._set_support(kernel, state.support, state.table)
        self.dual_coef_ = state.coef
        self.intercept_ = state.intercept
        self.n_iter_ = np.array([solution.n_iter for _, solution in solutions])
        self.dual_gap_ = np.array([solution.dual_gap for _, solution in solutions])

    def _held_out_slope(self, bits, codes, weights, factors):
        """Fit the slope to scores of machines that did not see the samples.

        Each half of each class is scored by a machine of the other half; of many
        samples three quarters by one of a quarter.
        """
        n_parts, n_machines = 4, 1
        if len(codes) <= MOST_HALVED:
            counts = np.bincount(codes)  # a class without weight has no sample
            n_parts, n_machines = 2, min(2, counts[counts > 0].min())
        scored = []
        for number in range(n_machines):
            training, testing = held_out_parts(codes, weights, n_parts, number)
            test = np.flatnonzero(testing)
            if len(test):
                scores = self._scores_of_part(bits, codes, training * factors, test)
                scored.append((scores, codes[test], (testing * factors)[test]))
        if not scored:
            return 1.0
        scores, codes, weights = map(np.concatenate, zip(*scored, strict=True))
        return fit_slope(scores, codes, weights / min(1.0, weights.mean()))

    def _scores_of_part(self, bits, codes, weights, test):
        """Train a machine on the samples that have weights, and score others."""
        train = np.flatnonzero(weights)
        train_bits = bits.part(train)
        solutions = self._solve(train_bits, codes[train], weights[train])
        support, coef, intercept = gather(solutions, np.arange(len(train)))
        train_bits = train_bits.part(support).with_threads(self.n_jobs)
        scores = train_bits.scores(coef, bits.rows.take(test)).T + intercept
        return scores_of_classes(scores, self._pairs())

    def decision_function(self, X) -> np.ndarray:
        """Compute the score of each sample for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            Two classes: positive for the second one; 0 predicts the first. More: the
            predicted class has the largest score, of equal ones the first. With
            ``multi_class="ovo"`` the score of a class is the smallest of its scores
            against each other class: positive if it beats them all.
        """
        check_is_fitted(self)
        table = validate_boolean(self, X, reset=False)
        scores = self._state.scores(table, self.n_jobs)
        return scores_of_classes(scores, self._state.pairs)

    def _deciding_scores(self, table):
        """Find the score of the pair that decides about each sample and class."""
        pairs = self._state.pairs
        if pairs is None:
            return None
        scores = self._state.scores(table, self.n_jobs)
        decisions = scores_of_classes(scores, pairs)
        deciding = np.empty(decisions.shape, dtype=np.int64)
        for number, (pair, score) in enumerate(zip(pairs, scores.T, strict=True), 1):
            for k, sign in zip(pair, (-1, 1), strict=True):
                deciding[sign * score == decisions[:, k], k] = sign * number
        return deciding

    def _score_factors(self, table):
        """Compute what scores of the kernel are multiplied by, and a power of two."""
        return np.ones(table.shape[0]), 0
