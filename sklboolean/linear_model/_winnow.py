"""Winnow: a linear classifier with multiplicative updates."""

from sklboolean._core.deprecation import old_parameters
from sklboolean._core.parameters import check_choice, check_real
from sklboolean.linear_model._base import BaseOnlineLinear
from sklboolean.linear_model._old_parameters import OF_WINNOW
from sklboolean.linear_model._state import LoopConfig

# Variants in the loop: "balanced" has two factors u, v for each feature and the weight
# u - v; "positive" has u; "complement" has u for x and v for 1 - x. A conjunction is
# the negation of a disjunction of negations (De Morgan): the rule is "complement",
# labels and scores change sign, and "positive_conjunction" starts with u = 0.
CONJUNCTION = "_conjunction"  # ends the variants that learn a conjunction
VARIANTS = (
    "balanced", "positive", "complement", "positive_conjunction",
    "complement_conjunction",
)  # fmt: skip


@old_parameters(**OF_WINNOW)
class Winnow(BaseOnlineLinear):
    """Linear classifier that multiplies its weights, for many irrelevant features.

    The number of mistakes grows with the logarithm of the number of features; the
    perceptron's grows linearly. The default, balanced Winnow, accepts any real features
    and needs no tuning.

    Parameters
    ----------
    variant : str, default="balanced"
        "balanced": two factors for each feature; the weight is their difference.
        "positive": one positive weight and a fixed threshold, for features of at least
        0 (Littlestone). "complement": the same over each feature and its negation, for
        features between 0 and 1. These learn a disjunction. "positive_conjunction" and
        "complement_conjunction" learn the disjunction of negations that makes a sample
        negative (De Morgan), for features between 0 and 1.
    promotion : float or pair of floats, default=1.1
        Factor above 1 on the weights of active features when a positive sample is
        misclassified: ``promotion ** x``. A larger one learns faster and less stably.
        When a negative sample is misclassified the factor is ``1 / promotion``, or the
        second of a pair. ``(2, 0)`` sets weights to 0 (Winnow 1), which fails with
        noisy labels.
    threshold : float, "auto" or None, default="auto"
        A sample is positive if its score reaches this. "auto": the number of features
        (counted with their negations for "complement"); when balanced, a threshold
        that is learned by a constant feature. A number is where that one starts. None:
        always 0.
    margin : float or pair of floats, default=1.0
        Update also when a sample is classified correctly with a score below the margin
        (thick separator). A pair gives the margins of positive and negative samples.
    average : {"mean", "longest"} or None, default="mean"
        Which hypothesis predicts. "mean": the mean of the hypotheses after each
        sample. "longest": the hypothesis that survived the most samples. None: the
        last one.
    binarize : float, None or "passthrough", default="passthrough"
        A value above it is true. None: the features must be 0 or 1. "passthrough": the
        features are numbers, used as they are.
    multi_class : {"ovr", "joint"}, default="ovr"
        Updates with more than two classes. "ovr" trains each class against the rest.
        "joint" updates the correct class and its strongest rival on a mistake.
    max_iter : int, default=10
        Maximum number of passes over the training data.
    shuffle : bool, default=True
        Use a new random order in each pass of ``fit``. ``partial_fit`` and
        ``fit_partitions`` keep the order.
    early_stopping : bool, default=False
        Hold out a tenth of the samples, stop when the log-loss on them has not fallen
        for five passes, and keep the best pass.
    class_weight : dict, "balanced" or None, default=None
        Exponent of the factors in updates of each class. "balanced": inversely
        proportional to the class frequencies.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling and of held-out samples. An int makes the result
        reproducible.
    verbose : int, default=0
        1 prints one line for each pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights that predict, averaged if ``average`` says so.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Minus the threshold, plus the weights of features that are always active.
    raw_coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the last hypothesis.
    raw_intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept of the last hypothesis.
    n_mistakes_ : int
        Mistakes made in training, over all passes (and classes with "ovr").
    mistakes_per_epoch_ : list of int
        Mistakes of each pass.
    n_updates_ : int
        Updates: mistakes, and correct predictions within the margin.
    n_iter_ : int
        Passes of the last ``fit``. The parts of a stream count as one pass.
    t_ : int
        Samples seen, over all passes.
    margin_ : tuple of two floats
        The margins of positive and negative samples.
    calibration_slope_ : float
        Slope of the sigmoid of ``predict_proba``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    AveragedPerceptron : Additive updates.
    sklboolean.theory.winnow_mistake_bound : Bound on the number of mistakes.

    Notes
    -----
    Weights stay between 2**-300 and 2**300, so that nothing overflows and no weight
    stays at 0. The weight of a feature that was never active is 0 when balanced, and 1
    otherwise.

    A sample weight is an exponent of the factors in updates with the sample. Weight 2
    is not the same as two copies: after the first update the second copy may be
    classified correctly.

    :doc:`/experiments/mistake_bounds` computes the paper's results again, and
    :doc:`/experiments/exact_calls` has the parameters of its algorithm.

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
        self, *, variant="balanced", promotion=1.1, threshold="auto", margin=1.0,
        average="mean", binarize="passthrough", multi_class="ovr", max_iter=10,
        shuffle=True, early_stopping=False, class_weight=None,
        random_state=None, verbose=0,
    ):  # fmt: skip
        self.variant = variant
        self.promotion = promotion
        self.threshold = threshold
        self.margin = margin
        self.average = average
        self.binarize = binarize
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.early_stopping = early_stopping
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = (
            self.variant != "balanced" and self.binarize == "passthrough"
        )
        return tags

    def fit(self, X, y=None, sample_weight=None) -> "Winnow":
        """Fit the classifier to labelled samples, in ``max_iter`` passes at most.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Features in the range of ``variant``, or any numbers with ``binarize``.
        y : array-like of shape (n_samples,), default=None
            Labels of two classes or more. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Finite exponents of the factors of each sample's updates, at least 0. Where
            their mean, times ``class_weight``, is below 1, they are divided by it. A
            sample of weight 0 is left out. None: 1.

        Returns
        -------
        self : Winnow
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. The classifier stays as it was.
        """
        return super().fit(X, y, sample_weight)

    def _check_params(self):
        super()._check_params()
        check_choice(self.variant, "variant", VARIANTS)
        self._factors()
        if self._is_flipped() and self.multi_class == "joint":
            raise ValueError(
                f"variant={self.variant!r} trains each class against the rest: set "
                "multi_class='ovr'."
            )
        if isinstance(self.threshold, str) and self.threshold != "auto":
            raise ValueError(
                f"threshold must be a number, 'auto' or None; got {self.threshold!r}."
            )
        if not (self.threshold is None or isinstance(self.threshold, str)):
            check_real(self.threshold, "threshold")

    def _factors(self):
        """Check ``promotion`` and return the factors of promotion and demotion."""
        if not isinstance(self.promotion, tuple | list):
            check_real(self.promotion, "promotion", 1.0, strict=True)
            return float(self.promotion), float(1 / self.promotion)
        if len(self.promotion) != 2:
            raise ValueError(
                "promotion must be a number or a pair of numbers; got "
                f"{self.promotion}."
            )
        promotion, demotion = self.promotion
        check_real(promotion, "promotion", 1.0, strict=True)
        check_real(demotion, "promotion[1]", 0.0)
        return float(promotion), float(demotion)

    def _is_flipped(self):
        """Whether the complement of the class is learned (De Morgan)."""
        return self.variant.endswith(CONJUNCTION)

    def _rule(self):
        """Name the rule of the loop: a conjunction is learned from negations."""
        return "complement" if self._is_flipped() else self.variant

    def _threshold(self, n_features):
        if self.threshold is None:
            return 0.0
        if self.threshold != "auto":
            return float(self.threshold)
        is_doubled = self.variant.startswith("complement")
        return 0.0 if self.variant == "balanced" else n_features * (1.0 + is_doubled)

    def _config(self):
        rule, n_features = self._rule(), self.n_features_in_
        only_negations = self.variant == "positive_conjunction"
        promotion, demotion = self._factors()
        return LoopConfig(
            rule=rule,
            n_features=n_features,
            margin=self._margins(),
            average=self.average,
            fit_intercept=rule == "balanced" and self.threshold is not None,
            joint=self.multi_class == "joint" and len(self.classes_) > 2,
            flipped=self._is_flipped(),
            threshold=self._threshold(n_features),
            promotion=promotion,
            demotion=demotion,
            initial=(0.0 if only_negations else 1.0, 1.0),
            binarize=self.binarize,
        )

    def _check_X(self, X, y="no_validation", *, reset):
        checked = super()._check_X(X, y, reset=reset)
        if self.variant != "balanced":
            self._check_values(checked[0] if isinstance(checked, tuple) else checked)
        return checked

    def _check_values(self, data):
        """Refuse feature values that the update rule cannot take."""
        smallest, largest = data.smallest_and_largest()
        if smallest < 0:
            raise ValueError(
                f"Negative values in data passed to Winnow with "
                f"variant={self.variant!r}: use variant='balanced', or binarize=0.0 "
                "(true where X > 0)."
            )
        if self._rule() == "complement" and largest > 1:
            raise ValueError(
                f"variant={self.variant!r} uses the negation 1 - x, but X holds "
                f"{largest:g}: use variant='balanced', or binarize=0.0 (true where "
                "X > 0)."
            )
