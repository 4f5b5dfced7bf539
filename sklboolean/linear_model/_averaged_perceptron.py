"""Averaged perceptron."""

from sklboolean._core.validation import check_choice, check_real
from sklboolean.linear_model._base import OnlineLinearClassifier
from sklboolean.linear_model._fitting import margin_pair


class AveragedPerceptron(OnlineLinearClassifier):
    """Perceptron that predicts with the mean of its hypotheses.

    Fast and hard to beat on sparse Boolean features; the default needs no tuning.

    Parameters
    ----------
    average : {"mean", "longest"} or None, default="mean"
        "mean": the mean of the hypotheses after each example. "longest": the one that
        survived the most examples. None: the last.
    learning_rate : float, default=1.0
        Size of an update.
    schedule : {"constant", "inverse_sqrt", "adagrad"}, default="constant"
        How the rate falls: not, with the square root of the time, or feature by
        feature with the square root of what was learned there.
    margin : float or pair of floats, default=5.0
        Update also on right answers with a score below it (thick separator); a pair
        for positive and negative examples.
    aggressive : bool, default=False
        Update just so far that the score lands on the margin.
    alpha : float, default=0.0
        Every example shrinks the weights by the factor ``1 - rate * alpha`` (L2).
    fit_intercept : bool, default=True
        Learn the threshold.
    multi_class : {"ovr", "joint"}, default="ovr"
        Each class against the rest, or on a mistake the right one and its rival.
    max_iter : int, default=10
        Epochs.
    tol : float or None, default=None
        Stop when the share of mistakes has not fallen by ``tol`` for
        ``n_iter_no_change`` epochs. None: run all epochs.
    shuffle : bool, default=True
        New order in each epoch of ``fit``; ``partial_fit`` and ``fit_partitions``
        keep the order.
    early_stopping : bool, default=False
        Stop when the accuracy of the averaged weights on held-out rows no longer
        rises, and keep the best epoch.
    validation_fraction : float, default=0.1
        Share of rows held out for ``early_stopping``.
    n_iter_no_change : int, default=5
        Epochs to wait.
    class_weight : dict, "balanced" or None, default=None
        Factor on the updates of each class.
    probability : bool, default=False
        Fit a sigmoid with one parameter on held-out scores: three folds in ``fit``,
        scores before learning in ``partial_fit``.
    warm_start : bool, default=False
        ``fit`` goes on from the weights of the last call.
    random_state : int, RandomState instance or None, default=None
        For shuffling and holding out.
    n_jobs : int or None, default=None
        Threads for the three folds of ``probability``, tasks of ``fit_partitions``.
        All classes are learned in one pass, which is one thread's.
    verbose : int, default=0
        1 prints a line for each epoch.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray or csr_array of shape (1, n_features) or (n_classes, n_features)
        Weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Minus the learned threshold.
    raw_coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the last hypothesis.
    raw_intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept of the last hypothesis.
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
    slope_ : float
        Slope of the sigmoid; None unless ``probability``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    Winnow : Multiplicative updates, for many irrelevant features.
    sklboolean.theory.perceptron_mistake_bound : How many mistakes are possible.

    References
    ----------
    Freund, Schapire. "Large Margin Classification Using the Perceptron Algorithm".
    Machine Learning 37, 1999.

    Khardon, Roth, Servedio. "Efficiency versus Convergence of Boolean Kernels for
    On-Line Learning Algorithms". NIPS 2001, section 1.1 and Theorem 1.

    Examples
    --------
    >>> from sklboolean import AveragedPerceptron
    >>> from sklboolean.datasets import load_mushroom
    >>> X, y = load_mushroom(return_X_y=True)
    >>> float(AveragedPerceptron(random_state=0).fit(X, y).score(X, y))
    1.0
    """

    def __init__(
        self, *, average="mean", learning_rate=1.0, schedule="constant", margin=5.0,
        aggressive=False, alpha=0.0, fit_intercept=True, multi_class="ovr",
        max_iter=10, tol=None, shuffle=True, early_stopping=False,
        validation_fraction=0.1, n_iter_no_change=5, class_weight=None,
        probability=False, warm_start=False, random_state=None, n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.average = average
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.margin = margin
        self.aggressive = aggressive
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.probability = probability
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _loop_parameters(self, table):
        check_real(self.learning_rate, "learning_rate", 0.0, strict=True)
        check_real(self.alpha, "alpha", 0.0)
        schedules = ("constant", "inverse_sqrt", "adagrad")
        check_choice(self.schedule, "schedule", schedules)
        margin = margin_pair(self)
        if self.aggressive and min(margin) == 0:
            raise ValueError(
                "aggressive=True moves the score onto the margin; with margin=0 it "
                "would stay undecided. Give margin=5.0, say."
            )
        return {
            "rule": "additive",
            "schedule": "aggressive" if self.aggressive else self.schedule,
            "average": self.average,
            "fit_intercept": bool(self.fit_intercept),
            "flipped": False,
            "rate": float(self.learning_rate),
            "alpha": float(self.alpha),
            "margin": margin,
            "threshold": 0.0,
            "promotion": 1.0,
            "demotion": 1.0,
            "n_features": table.n_features,
        }, (0.0, 0.0)
