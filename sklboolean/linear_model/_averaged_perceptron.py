"""The averaged perceptron."""

from sklboolean._core.deprecation import old_parameters
from sklboolean._core.parameters import check_choice, check_real
from sklboolean.linear_model._base import BaseOnlineLinear
from sklboolean.linear_model._old_parameters import OF_AVERAGED_PERCEPTRON
from sklboolean.linear_model._state import LoopConfig


@old_parameters(**OF_AVERAGED_PERCEPTRON)
class AveragedPerceptron(BaseOnlineLinear):
    """Perceptron that predicts with the mean of its hypotheses.

    Fast and accurate on sparse Boolean features. The defaults need no tuning.

    Parameters
    ----------
    average : {"mean", "longest"} or None, default="mean"
        Which hypothesis predicts. "mean": the mean of the hypotheses after each
        sample. "longest": the hypothesis that survived the most samples. None: the
        last one.
    learning_rate : float or {"inverse_sqrt", "adagrad", "aggressive"}, default=1.0
        Size of an update. A number above 0: always this one, which matters only
        relative to ``margin``. "inverse_sqrt": ``1 / sqrt(t)`` after t samples.
        "adagrad": AdaGrad's, for each feature. "aggressive": the size with which the
        score reaches the margin.
    margin : float, pair of floats or "auto", default="auto"
        Update also when a sample is classified correctly with a score below the margin
        (thick separator). A pair gives the margins of positive and negative samples.
        "auto": what an update adds to the score of its own sample, on average:
        the learning rate times the mean number of ones of a sample. Where features are
        not Boolean it is the mean sum of their squares ("adagrad": of their absolute
        values). With "inverse_sqrt" the margin falls with the size of an update: it is
        divided by ``sqrt(t)`` too. The mean is that of the first training call; later
        chunks of a stream keep it. Set a number if the first chunk is small or unusual.
        0 updates on mistakes only.
    fit_intercept : bool, default=True
        Learn a threshold. False: the threshold is 0.
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
        Factor on the updates of each class. "balanced": inversely proportional to the
        class frequencies.
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
        Minus the learned threshold.
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
        The margins of positive and negative samples, at the last sample if they fall.
    calibration_slope_ : float
        Slope of the sigmoid of ``predict_proba``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    Winnow : Multiplicative updates, for many irrelevant features.
    sklboolean.theory.perceptron_mistake_bound : Bound on the number of mistakes.

    Notes
    -----
    A sample weight is a factor on the updates with the sample. Weight 2 is not the same
    as two copies: after the first update the second copy may be classified correctly.
    ``margin="auto"`` is in proportion to the mean weight where the steps are; a number
    is not. In ``fit_partitions`` each partition uses the mean of its own samples in the
    first epoch, and the mean over all samples from then on.

    A score of 0 counts as positive.

    :doc:`/experiments/mistake_bounds` computes the paper's results again, and
    :doc:`/experiments/exact_calls` has the parameters of its algorithm.

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

    _has_auto_margin = True

    def __init__(
        self, *, average="mean", learning_rate=1.0, margin="auto",
        fit_intercept=True, multi_class="ovr", max_iter=10, shuffle=True,
        early_stopping=False, class_weight=None, random_state=None,
        verbose=0,
    ):  # fmt: skip
        self.average = average
        self.learning_rate = learning_rate
        self.margin = margin
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.early_stopping = early_stopping
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y=None, sample_weight=None) -> "AveragedPerceptron":
        """Fit the classifier to labelled samples, in ``max_iter`` passes at most.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Boolean or real features.
        y : array-like of shape (n_samples,), default=None
            Labels of two classes or more. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Finite factors on the updates with each sample, at least 0. Where their
            mean, times ``class_weight``, is below 1, they are divided by it. A sample
            of weight 0 is left out. None: 1.

        Returns
        -------
        self : AveragedPerceptron
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data. The classifier stays as it was.
        """
        return super().fit(X, y, sample_weight)

    def _config(self):
        schedule, rate = "constant", self.learning_rate
        if isinstance(rate, str):
            schedules = ("a number", "inverse_sqrt", "adagrad", "aggressive")
            schedule, rate = check_choice(rate, "learning_rate", schedules), 1.0
        check_real(rate, "learning_rate", 0.0, strict=True)
        margin = self._margins()
        if schedule == "aggressive" and margin is not None and min(margin) == 0:
            raise ValueError(
                "learning_rate='aggressive' needs a margin above 0, to which an update "
                f"moves the score; got margin={self.margin}. Set margin='auto', for "
                "example."
            )
        return LoopConfig(
            rule="additive",
            n_features=self.n_features_in_,
            margin=margin,
            average=self.average,
            fit_intercept=bool(self.fit_intercept),
            joint=self.multi_class == "joint" and len(self.classes_) > 2,
            schedule=schedule,
            rate=float(rate),
        )
