"""Winnow: multiplicative updates."""

from sklboolean._core.validation import check_choice, check_real
from sklboolean.linear_model._base import OnlineLinearClassifier
from sklboolean.linear_model._fitting import margin_pair


class Winnow(OnlineLinearClassifier):
    """Linear classifier that multiplies its weights, for many irrelevant features.

    The number of mistakes grows with the logarithm of the number of features, where
    the perceptron's grows with their number. The default, balanced Winnow, takes any
    real features and needs no tuning.

    Parameters
    ----------
    variant : {"balanced", "positive", "complement"}, default="balanced"
        "balanced": two weights for each feature, whose difference counts. "positive":
        one weight above 0 and a fixed threshold, for features of at least 0
        (Littlestone). "complement": the same over each feature and its negation, for
        features between 0 and 1.
    promotion : float, default=1.1
        Factor above 1 on the weights of active features when a positive example is
        missed: ``promotion ** x``.
    demotion : float or None, default=None
        Factor when a negative example is missed. None: ``1 / promotion``. 0: weights
        are nullified (Winnow 1), which any noise in the labels ruins.
    threshold : float or "auto", default="auto"
        Score that predicts a positive. "auto": 0 when balanced, otherwise the number
        of features (counted with their negations for "complement").
    target : {"disjunction", "conjunction"}, default="disjunction"
        "conjunction" learns the disjunction of negations that makes an example
        negative (De Morgan); of use with "positive" and "complement".
    margin : float or pair of floats, default=1.0
        Update also on right answers with a score below it (thick separator); a pair
        for positive and negative examples.
    average : {"mean", "longest"} or None, default="mean"
        "mean": the mean of the hypotheses after each example. "longest": the one that
        survived the most examples. None: the last.
    fit_intercept : bool, default=True
        A constant feature; balanced only.
    binarize : float or None, default=None
        A value above it is true. None: values are taken as they are.
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
        Stop when the accuracy of the published weights on held-out rows no longer
        rises, and keep the best epoch.
    validation_fraction : float, default=0.1
        Share of rows held out for ``early_stopping``.
    n_iter_no_change : int, default=5
        Epochs to wait.
    class_weight : dict, "balanced" or None, default=None
        Power of the factors in updates of each class.
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
        Minus the threshold, and the weights of what is always active.
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
    AveragedPerceptron : Additive updates.
    sklboolean.theory.winnow_mistake_bound : How many mistakes are possible.

    Notes
    -----
    Weights stay between 2**-300 and 2**300, so that nothing overflows and no weight
    sticks at 0. A feature that never was active weighs nothing when balanced, and its
    first weight of 1 otherwise: against a threshold of the number of features.

    References
    ----------
    Littlestone. "Learning Quickly When Irrelevant Attributes Abound". Machine
    Learning 2, 1988.

    Khardon, Roth, Servedio. "Efficiency versus Convergence of Boolean Kernels for
    On-Line Learning Algorithms". NIPS 2001, section 1.1 and Theorem 2.

    Examples
    --------
    >>> from sklboolean import Winnow
    >>> from sklboolean.datasets import make_disjunction
    >>> X, y, relevant = make_disjunction(500, 100, n_relevant=3, random_state=0)
    >>> float(Winnow(random_state=0).fit(X, y).score(X, y))
    1.0
    """

    def __init__(
        self, *, variant="balanced", promotion=1.1, demotion=None, threshold="auto",
        target="disjunction", margin=1.0, average="mean", fit_intercept=True,
        binarize=None, multi_class="ovr", max_iter=10, tol=None, shuffle=True,
        early_stopping=False, validation_fraction=0.1, n_iter_no_change=5,
        class_weight=None, probability=False, warm_start=False, random_state=None,
        n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.variant = variant
        self.promotion = promotion
        self.demotion = demotion
        self.threshold = threshold
        self.target = target
        self.margin = margin
        self.average = average
        self.fit_intercept = fit_intercept
        self.binarize = binarize
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = (
            self.variant != "balanced" and self.binarize is None
        )
        return tags

    def _loop_parameters(self, table):
        """Return the loop's parameters and the first weights."""
        check_choice(self.variant, "variant", ("balanced", "positive", "complement"))
        check_choice(self.target, "target", ("disjunction", "conjunction"))
        check_real(self.promotion, "promotion", 1.0, strict=True)
        demotion = 1 / self.promotion if self.demotion is None else self.demotion
        check_real(demotion, "demotion", 0.0)
        flipped = self.target == "conjunction"
        if flipped and self.multi_class == "joint":
            raise ValueError(
                "target='conjunction' learns each class against the rest: use "
                "multi_class='ovr'."
            )
        rule, first = self.variant, (1.0, 1.0)
        if rule == "positive" and flipped:
            rule, first = "complement", (0.0, 1.0)
        self._check_range(table, rule)
        return {
            "rule": rule,
            "schedule": "constant",
            "average": self.average,
            "fit_intercept": bool(self.fit_intercept) and rule == "balanced",
            "flipped": flipped,
            "rate": 1.0,
            "alpha": 0.0,
            "margin": margin_pair(self),
            "threshold": self._threshold(table.n_features),
            "promotion": float(self.promotion),
            "demotion": float(demotion),
            "n_features": table.n_features,
            "binarize": self.binarize,
        }, first

    def _threshold(self, n_features):
        if not isinstance(self.threshold, str):
            return float(check_real(self.threshold, "threshold"))
        if self.threshold != "auto":
            raise ValueError(
                f"threshold must be a number or 'auto'; got {self.threshold!r}."
            )
        if self.variant == "balanced":
            return 0.0
        return float(2 * n_features if self.variant == "complement" else n_features)

    def _check_range(self, table, rule):
        smallest, largest = table.smallest_and_largest()
        if rule != "balanced" and smallest < 0:
            raise ValueError(
                "Negative values in data passed to Winnow with "
                f"variant={self.variant!r}: use variant='balanced', or binarize=0.0 "
                "(true where X > 0)."
            )
        if rule == "complement" and largest > 1:
            raise ValueError(
                f"variant={self.variant!r} with target={self.target!r} takes the "
                f"negation 1 - x, but X holds {largest:g}: use variant='balanced', or "
                "binarize=0.0 (true where X > 0)."
            )
