"""Kernel perceptron over Boolean rows."""

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import DecisionClassifierMixin, restore_on_error
from sklboolean._core.validation import known_classes
from sklboolean.kernels._cascade import fit_cascade
from sklboolean.kernels._learning import (
    current_state,
    learn_more,
    learns_in_parts,
    open_lesson,
    read_table,
)
from sklboolean.kernels._model import DualModel, is_precomputed
from sklboolean.kernels._slopes import held_out_slope, progressive_slope


class KernelPerceptron(DecisionClassifierMixin, ClassifierMixin, BaseEstimator):
    """Perceptron over all conjunctions of Boolean features, with exact signs.

    A linear classifier whose features are conjunctions of the given ones: by default
    of up to three, which suits one-hot tables. It keeps the examples on which it erred
    (the support) and nothing else, and forms no matrix of kernel values.

    Parameters
    ----------
    kernel : str, kernel object or callable, default="conjunction"
        "conjunction" takes the four parameters that follow; "linear", "rbf" and
        "poly" are scikit-learn's on zeros and ones; "disjunction", "dnf", "cnf" and
        "tanimoto" have their defaults, an object such as ``DNFKernel(n_terms=3)``
        has others. A callable gets two float64 tables of zeros and ones.
        "precomputed": X is a kernel matrix.
    min_literals : int, default=1
        Shortest conjunctions. The empty one is the business of ``fit_intercept``.
    max_literals : int or None, default=3
        Longest conjunctions. None: all, which is theory: see Notes.
    monotone : bool, default=True
        Only conjunctions without negated features. One-hot columns need no others.
    decay : float, default=1.0
        A conjunction of l literals counts ``decay**l``.
    gamma : float or None, default=None
        For "rbf" and "poly". None: ``1 / n_features``.
    degree : int, default=3
        For "poly".
    coef0 : float, default=1.0
        For "poly"; not negative.
    average : {"mean", "voted"} or None, default="mean"
        "mean": the sum of the hypotheses after each example. "voted": their majority
        vote. None: the last hypothesis.
    margin : float, default=0.0
        Update also on right answers with a score below it; 0: on mistakes only.
    margin_type : {"functional", "relative"}, default="functional"
        "relative": the margin is times ``sqrt(K(x, x))``; try a margin of 0.5 to 2.
    max_iter : int, default=10
        Epochs; training ends early after one without an update.
    shuffle : bool, default=True
        New order in each epoch of ``fit``; ``partial_fit`` and ``fit_partitions``
        keep the order.
    tie : {"positive", "negative"}, default="positive"
        What a score of 0 predicts with two classes: the second or the first.
    fit_intercept : bool, default=True
        Add the empty conjunction, a constant feature: K + 1.
    multi_class : {"ovr", "joint"}, default="ovr"
        Each class against the rest, or on a mistake the right one and its rival.
    class_weight : dict, "balanced" or None, default=None
        What an update of each class adds, to a multiple of 2**-16.
    max_support : int or None, default=None
        Most support rows held (for each class when "ovr" has more than two). The mean
        is over the hypotheses since a row last went.
    budget : {"random", "forgetron"}, default="random"
        Which row goes when ``max_support`` is passed: one at random, or the oldest
        after shrinking all coefficients (to multiples of 2**-16).
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones.
    probability : bool, default=False
        Fit a sigmoid with one parameter on held-out scores: three folds in ``fit``,
        scores before learning in ``partial_fit``.
    warm_start : bool, default=False
        ``fit`` goes on from the support of the last call.
    random_state : int, RandomState instance or None, default=None
        For shuffling, random removal and the folds of ``probability``.
    n_jobs : int or None, default=None
        Threads, or tasks of ``fit_partitions``. The model does not depend on it.
    verbose : int, default=0
        1 prints a line for each epoch.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    support_ : ndarray of shape (n_support,), dtype int64
        Numbers of the support rows, counted over all rows seen.
    support_words_ : ndarray of shape (n_support, ceil(n_features / 64)), dtype uint64
        The support rows, packed, after dense input; else None.
    support_rows_ : csr_array of shape (n_support, n_features), dtype bool
        The support rows after sparse input; else None.
    dual_coef_ : ndarray of shape (n_scores, n_support), dtype float64
        Integers (multiples of 2**-16 with weights): with "mean" summed over the
        ``t_`` hypotheses, otherwise of the last one. One row for two classes, one
        for each class otherwise. The score is
        ``K(X, support) @ dual_coef_.T + intercept_``.
    intercept_ : ndarray of shape (n_scores,), dtype float64
        Weight of the empty conjunction that ``fit_intercept`` adds.
    raw_dual_coef_ : ndarray of shape (n_scores, n_support), dtype float64
        The same for the last hypothesis.
    n_support_ : int
        Number of support rows.
    n_mistakes_ : int
        Mistakes made in training, over all epochs (and classes with "ovr").
    mistakes_per_epoch_ : list of int
        They add up to ``n_mistakes_``.
    n_updates_ : int
        Updates: mistakes, and right answers within the margin.
    n_iter_ : int
        Epochs of the last ``fit``. The parts of a stream are one epoch.
    t_ : int
        Rows seen, over all epochs.
    score_scale_ : {"linear", "log2"}
        "log2" when scores may exceed float64: then ``decision_function`` gives
        ``sign(f) * log2(1 + abs(f))``.
    score_bound_ : float
        The largest score possible.
    calibration_slope_ : float
        Slope of the sigmoid of scores over ``score_bound_``; None unless
        ``probability``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    sklboolean.kernels.conjunction_kernel : The kernel.
    sklboolean.theory.perceptron_mistake_bound : How many mistakes are possible.

    Notes
    -----
    Set ``max_literals`` first (1 to 4), then ``monotone`` (False for switches, sensors
    and game boards), then ``margin`` with a larger ``max_iter``; the rest rarely. All
    conjunctions of many features (``max_literals=None``) can force exponentially many
    mistakes on a simple target (Theorem 4 of the first reference).

    With kernels that are a function of one count (all but "tanimoto", monotone
    disjunctions, DNFs and CNFs, callables and "precomputed") every comparison is that
    of exact integers, for any number of features, machine and ``n_jobs``.

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
        self, kernel="conjunction", *, min_literals=1, max_literals=3, monotone=True,
        decay=1.0, gamma=None, degree=3, coef0=1.0, average="mean", margin=0.0,
        margin_type="functional", max_iter=10, shuffle=True, tie="positive",
        fit_intercept=True, multi_class="ovr", class_weight=None, max_support=None,
        budget="random", binarize=0.0, probability=False, warm_start=False,
        random_state=None, n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.kernel = kernel
        self.min_literals = min_literals
        self.max_literals = max_literals
        self.monotone = monotone
        self.decay = decay
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.average = average
        self.margin = margin
        self.margin_type = margin_type
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.tie = tie
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.max_support = max_support
        self.budget = budget
        self.binarize = binarize
        self.probability = probability
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self)
        tags.input_tags.sparse = not is_precomputed(self)
        return tags

    def fit(self, X, y):
        """Learn from rows and their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features, or the square kernel matrix when "precomputed".
        y : array-like of shape (n_samples,)
            Labels of two classes or more.

        Returns
        -------
        self : KernelPerceptron
            The fitted learner.

        Raises
        ------
        ValueError
            For bad parameters and data. What was learned before is kept.
        """
        with restore_on_error(self):
            resume = self.warm_start and hasattr(self, "classes_")
            known = self.classes_ if resume else None
            table, codes, steps = open_lesson(self, X, y, known, resume)
            slope = None
            if self.probability:
                slope = held_out_slope(self, table, codes, steps)
            self.n_iter_ = learn_more(
                self, table, codes, steps, resume, self.max_iter, self.shuffle,
                part=False,
            )  # fmt: skip
            self.calibration_slope_, self._recent = slope, None
        return self

    @available_if(learns_in_parts)
    def partial_fit(self, X, y, classes=None):
        """Learn from more rows, in their order.

        Memory grows with mistakes only.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.
        y : array-like of shape (n_samples,)
            Labels among ``classes``.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; needed in the first call.

        Returns
        -------
        self : KernelPerceptron
            The fitted learner. As for ``fit``, errors leave it as it was.
        """
        with restore_on_error(self):
            resume = hasattr(self, "classes_")
            known = known_classes(self, classes)
            table, codes, steps = open_lesson(self, X, y, known, resume, part=True)
            self._recent = self._recent if resume else None
            slope = None
            if self.probability:
                slope = progressive_slope(self, table, codes, steps)
            learn_more(self, table, codes, steps, resume, 1, False, part=True)
            self.calibration_slope_ = slope
            self.n_iter_ = self.n_iter_ if resume else 1
        return self

    def fit_partitions(self, partitions, classes=None):
        """Learn from rows that stand in several places: a cascade of support rows.

        In each epoch every partition is learned from the same hypothesis, in its own
        order, as one joblib task; support rows go to one place, coefficients are
        mixed, and the whole goes back. One partition gives what ``fit`` gives with
        ``shuffle=False``; the model depends neither on ``n_jobs`` nor on the backend.

        Parameters
        ----------
        partitions : iterable
            Pairs (X, y) as for ``fit``, callables that load and return one, or
            objects with such a method ``compute``, as Dask's delayed ones. Callables
            are loaded where the task runs, once for each epoch and once before, the
            same rows every time; arrays are sent.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; a partition may lack some. None: those found.

        Returns
        -------
        self : KernelPerceptron
            The fitted learner. As for ``fit``, errors leave it as it was.

        Raises
        ------
        ValueError
            For bad parameters and data, with the number of the partition.
        """
        with restore_on_error(self):
            resume = self.warm_start and hasattr(self, "classes_")
            fit_cascade(self, partitions, classes, resume)
            self.calibration_slope_, self._recent = None, None
        return self

    def decision_function(self, X):
        """Return the score of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features, or the kernel with the training rows when "precomputed".

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            Two classes: above 0 for the second one; a score of 0 is given as the
            smallest float above it when ties are positive. More: the largest is that
            of the predicted class. With "voted", votes. Finite: see ``score_scale_``.
        """
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        return DualModel(self, current_state(self)).decision(table)

    def _calibration_scores(self, X):
        return self.decision_function(X) / self.score_bound_

    def decision_exact(self, X):
        """Return the score of each row without rounding.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype object
            Python integers, or fractions where ``decay`` or ``class_weight`` are not
            whole numbers. Never logarithms.

        Raises
        ------
        ValueError
            With a kernel that is not a function of one count.
        """
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        return DualModel(self, current_state(self)).exact(table)
