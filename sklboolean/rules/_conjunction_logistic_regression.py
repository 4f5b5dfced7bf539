"""ConjunctionLogisticRegression: L1 logistic regression over all conjunctions."""

import numpy as np
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin

from sklboolean._core.base import LogOddsMixin, TableScoreMixin
from sklboolean._core.bits import as_words
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.labels import encode_classes, target_rows
from sklboolean._core.memory import MemoryCost
from sklboolean._core.progress import with_callbacks
from sklboolean._core.validation import validate_boolean
from sklboolean._core.weights import labelled_weights
from sklboolean.rules._conjunction_model import OLD_PARAMETERS, ConjunctionModel
from sklboolean.rules._held_out_path import TrainingSamples


@old_parameters(**OLD_PARAMETERS)
class ConjunctionLogisticRegression(
    TableScoreMixin, LogOddsMixin, ClassifierMixin, ConjunctionModel
):
    """Logistic regression over all conjunctions, with an L1 penalty.

    The log-odds of a sample are an intercept plus a weight for each conjunction that it
    satisfies. The L1 penalty makes nearly all weights 0, so the model is a list of
    weighted rules. It minimizes ::

        C * sum of log-losses + sum of price(c) * abs(weight of c)

    over all conjunctions c of up to ``max_literals`` literals. The price is 1 for one
    literal and ``2 * literal_cost ** (len(c) - 1)`` for more, which leaves more to
    single features, whose effects add up. Conjunctions are added until an exact search
    finds none that would lower this objective, so the model is optimal among all
    conjunctions, not only among some candidates; ``optimality_gap_`` says by how much
    it can fall short.

    Parameters
    ----------
    C : float, array-like of float or "auto", default="auto"
        Weight of the loss, as in scikit-learn: smaller values give fewer conjunctions.
        The one of several values with the least held-out log-loss is chosen. "auto":
        of .03, .1, .3, 1, 3, 10, 30 and 100.
    cv : int, splitter, iterable of (train, test) or None, default=None
        Number of folds of the cross-validation that chooses C, or the splits. None: 5
        folds below 1000 samples; of more samples a quarter is held out once.
    max_literals : int, default=3
        Maximum number of literals in a conjunction. 1 is logistic regression on the
        features.
    monotone : bool, default=False
        Whether conjunctions consist of true features only. False: negated features too.
    literal_cost : float, default=1.1
        Factor of the penalty for each further literal, at least 1. Raise it for shorter
        conjunctions.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, multiplied by ``sample_weight``. "balanced": in inverse
        proportion to class frequencies.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; features of one label never occur together in a
        conjunction. For one-hot columns: the attribute. None: the levels of one column
        of `BooleanEncoder`, found by their names, share a label.
    monotonic_cst : dict, array-like of shape (n_features,) or None, default=None
        1 for a column whose growth must not lower the log-odds of the second class,
        -1 where it must not raise it, else 0. A dict maps names of the columns before a
        `BooleanEncoder`. Where age has 1, conjunctions with ``age > 40`` have weights
        of at least 0, those with ``age <= 40`` of at most 0, and none has conditions of
        both kinds. An array has an entry for each feature, which becomes true.
        For two classes.
    max_conditions : int or None, default=None
        Maximum number of conjunctions. A larger model loses those of the smallest
        effect, a fifth at a time, and the weights of the others are fitted again.
        ``edit_losses_`` has the loss before and after. Set it for a model that fits on
        a page. None: no limit.
    tol : float, default=1e-3
        Accepted optimality gap, as a fraction of the objective.
    work_limit : float or None, default=5.0
        Work for each path of values of C, and for the fit with the chosen one; 1 takes
        about a second on one core. With more than 20,000 samples it is the work for
        each 20,000. Work is counted, so the result does not depend on the speed of the
        machine. If the limit ends a path while the held-out loss still falls, there is
        a warning. If it ends the last fit, a ``ConvergenceWarning`` gives the remaining
        gap. An exact search by tables that would exceed it is not begun; the searches
        are inexact then. With more than some 460 features, of which a threshold's two
        count as one, a proof takes long; it may take a tenth of this besides, without a
        warning. None: no limit.
    binarize : float or None, default=0.0
        Threshold for binarizing: values above it are true. None: X must hold zeros and
        ones.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out samples that choose C. With a fixed C it is not used.
    n_jobs : int or None, default=None
        Number of parallel jobs for folds and for the branches of the exact search. The
        result does not depend on it.
    verbose : int, default=0
        1 prints a line for each C and each part that is held out.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    conjunctions_ : list of tuples of (feature, value) pairs
        Conjunctions with a weight, largest absolute weight first.
    conjunction_coef_ : ndarray of shape (n_outputs, n_conjunctions)
        Their weights: one row for two classes, one for each class otherwise. There is
        no ``coef_``, which scikit-learn takes for the weights of features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Score of a sample that satisfies no conjunction.
    coverages_ : ndarray of shape (n_conjunctions,), dtype int64
        Number of training samples that satisfy each conjunction.
    C_ : float
        The C of the model.
    Cs_ : ndarray of shape (n_path,)
        Values of C up to ``C_``, the last one.
    coef_path_ : ndarray of shape (n_path, n_outputs, n_conjunctions)
        Weights of the conjunctions of the model for each of ``Cs_``: those before the
        last in models of the first part of the samples that chose C.
    scores_ : ndarray of shape (n_folds, n_Cs) or None
        Minus the held-out log-loss of each C; -inf for values that were left out after
        two that were not better, after one that was worse by three standard errors, or
        at a limit. For a C that is worse than another, and for the last one at a limit
        if it is better than those before, it is the loss of an unfinished model. None
        if C was not chosen.
    held_out_scores_ : ndarray of shape (n_samples,) or (n_samples, n_classes) or None
        The score of each sample, as from ``decision_function``, by a model with ``C_``
        that did not see it; NaN for samples of no test set. None if C was not chosen,
        or conjunctions were left out.
    objective_ : float
        The objective above.
    optimality_gap_ : float
        The objective minus a lower bound on that of any model over conjunctions of up
        to ``max_literals`` literals, by duality.
    is_optimal_ : bool
        Whether the gap is at most ``tol`` times the objective.
    edit_losses_ : tuple of (float, float) or None
        Mean log-loss on the samples of the last edit, before and after it: see
        ``without``; or on the training samples, before and after ``max_conditions``
        left out conjunctions. Otherwise None.
    n_samples_fit_ : int
        Number of training samples with weight.
    feature_counts_ : ndarray of shape (`n_features_in_`,), dtype int64
        Number of them in which each feature is true, for `inspection.monitor`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    ConjunctionRegressor : The same with squared loss.
    RuleClassifier : A short list of rules, of which one decides.
    sklearn.linear_model.LogisticRegression : Logistic regression on the features.

    Notes
    -----
    The property ``rules_`` holds the weights as a list of `Rule`, with texts. With more
    than two classes each has the class whose score it changes as its ``label``.

    A conjunction of weight 0 can lower the objective only if the absolute sum of the
    residuals of its samples exceeds its price (column generation). The search for such
    conjunctions is exact: tables of the sums of all of them, or where these are too
    large or slow branch and bound, where a partial sum bounds all extensions, as in the
    reference by Nakagawa et al. The model class, without the
    exact search, is that of Wei et al. With more than two classes the loss is that of
    the softmax, over one set of conjunctions.

    References
    ----------
    Wei, Dash, Gao, Gunluk. "Generalized Linear Rule Models". ICML 2019, section 3.

    Nakagawa, Suzumura, Karasuyama, Tsuda, Takeuchi. "Safe Pattern Pruning: An Efficient
    Approach for Predictive Pattern Mining". KDD 2016, section 3.

    Yuan, Ho, Lin. "An Improved GLMNET for L1-regularized Logistic Regression". JMLR 13,
    2012, sections 4 and 5 (the solver for a given set of conjunctions).

    Examples
    --------
    >>> from sklboolean import ConjunctionLogisticRegression
    >>> from sklboolean.datasets import make_monks
    >>> data = make_monks(1, as_frame=True)
    >>> model = ConjunctionLogisticRegression(random_state=0)
    >>> model.fit(data.data, data.target)
    ConjunctionLogisticRegression(random_state=0)
    >>> model.score(data.data, data.target), model.is_optimal_
    (1.0, True)
    """

    _default_Cs = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
    _faster = "RuleClassifier, AveragedPerceptron, or a lower C or work_limit"
    _memory_of_one_C = MemoryCost(2**26, 85, 4.0, 110)

    def __init__(
        self, C="auto", *, cv=None, max_literals=3, monotone=False, literal_cost=1.1,
        class_weight=None, feature_groups=None, monotonic_cst=None, max_conditions=None,
        tol=1e-3, work_limit=5.0, binarize=0.0, random_state=None, n_jobs=None,
        verbose=0,
    ):  # fmt: skip
        self.C = C
        self.cv = cv
        self.max_literals = max_literals
        self.monotone = monotone
        self.literal_cost = literal_cost
        self.class_weight = class_weight
        self.feature_groups = feature_groups
        self.monotonic_cst = monotonic_cst
        self.max_conditions = max_conditions
        self.tol = tol
        self.work_limit = work_limit
        self.binarize = binarize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "ConjunctionLogisticRegression":
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Boolean features.
        y : array-like of shape (n_samples,), default=None
            Labels of two classes or more. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

        Returns
        -------
        self : ConjunctionLogisticRegression
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. An earlier fit is kept.

        Warns
        -----
        UserWarning
            Before a fit that is expected to take longer than a minute of one core.
        """
        return self._learn(X, y, sample_weight)

    def _training_samples(self, X, y, sample_weight, *, reset=True):
        most = self._most_conjunctions(X, y)
        samples, y = validate_boolean(self, X, y, reset=reset)
        classes = None if reset else self.classes_
        self.classes_, codes = encode_classes(y, classes)
        y, n_classes = None, len(self.classes_)  # the labels take memory
        weights = labelled_weights(
            sample_weight, codes, self.classes_, self.class_weight
        )
        codes = codes.astype(np.min_scalar_type(-n_classes))
        return TrainingSamples(
            as_words(samples), weights, target_rows(codes, n_classes), codes,
            _loss(n_classes), most,
        ), None  # fmt: skip

    @staticmethod
    def _held_out_loss(scores, targets):
        if scores.shape[1] == 1:
            signs = 2 * targets[:, 0] - 1
            return np.logaddexp(0, -signs * scores[:, 0])
        return -(log_softmax(scores, axis=1) * targets).sum(axis=1)


def _loss(n_classes):
    return "logistic" if n_classes == 2 else "softmax"
