"""Boost-by-majority on-line: every row passes through all learners once."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.validation import (
    check_finite_sum,
    check_integer,
    check_same_params,
    check_sample_weight,
    check_two_classes,
    encode_classes,
    known_classes,
    remember_params,
    validate_data_strict,
)
from sklboolean.boosting._majority_game import check_edge
from sklboolean.boosting._online_game import OnlineGame
from sklboolean.boosting._online_learners import make_learners

KIND = ("estimator", "n_estimators", "sampling")  # of the line of learners


class OnlineBoostByMajority(ClassifierMixin, BaseEstimator):
    """Boost on-line learners by majority.

    Each row passes through a line of learners. Each learner votes on it and then learns
    it, with the weight that the votes before and the number of votes to come give it:
    the more the row's fate hangs on this vote, the more it weighs. The prediction is
    the majority, one vote for each learner. Two classes.

    Parameters
    ----------
    estimator : object or None, default=None
        A classifier with ``partial_fit``, which is copied. None: an averaged perceptron
        over bits (a feature is true above 0), compiled.
    n_estimators : int, default=51
        Number of learners, odd.
    gamma : float, default=0.05
        By how much each learner is expected to be right on more than half of the weight
        that it is shown, between 0 and 1/2. ``estimator_edges_`` tells what they were.
    sampling : {"auto", "weight", "reject"}, default="auto"
        Whether a learner is given the weights, or shown rows with these probabilities.
        "auto": "weight" if the ``partial_fit`` of the estimator takes
        ``sample_weight``.
    batch_size : int, default=1
        So many rows an ``estimator`` votes on and learns in one call. 1 is the
        algorithm; more is faster by nearly that factor. The default estimator takes
        row by row anyway.
    max_iter : int, default=20
        Epochs of ``fit``, which stops early after one without a mistake.
    shuffle : bool, default=True
        Whether ``fit`` shuffles the rows before each epoch.
    random_state : int, RandomState instance or None, default=None
        For shuffling, for "reject" and for the estimators.
    verbose : int, default=0
        1: print the mistakes of each epoch.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels.
    estimators_ : list of n_estimators objects
        The learners. Those of the default have ``coef_`` and ``intercept_`` of their
        hypothesis over features read as -1 and 1.
    estimator_edges_ : ndarray of shape (n_estimators,), dtype float64
        The share of the weight on which each learner was right, voting on rows before
        it learned them, less 1/2. 0 where it was shown nothing.
    n_updates_ : ndarray of shape (n_estimators,), dtype int64
        How many rows each learner was shown.
    n_mistakes_ : int
        Rows on which the majority was wrong or tied, before they were learned.
    mistakes_per_epoch_ : list of int
        The same by epochs; all calls of ``partial_fit`` together are one.
    n_iter_ : int
        Number of epochs.
    t_ : int
        Number of rows seen, those of all epochs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    BooleanStump : A weak learner for boosting in batches.
    sklearn.multiclass.OneVsRestClassifier : For more than two classes.

    Notes
    -----
    Learner i of N, with r right votes before it, gets the row with a weight
    proportional to ``C(N-i-1, s) (1/2 + gamma)**s (1/2 - gamma)**(N-i-1-s)``, ``s =
    (N-1)/2 - r``: the probability that this vote decides, if the votes to come are
    right with probability 1/2 + gamma. Weights are relative to the heaviest state of
    learner i, so that they are between 0 and 1 and depend on no other row; they are
    computed in logarithms, for any N. In [1]_ gamma is the difference between right and
    wrong: twice ours.

    How a stream is cut into calls of ``partial_fit`` changes nothing, to the last bit,
    if ``batch_size`` is 1 or the default estimator is used; otherwise rows that share a
    batch are voted on by the same hypotheses, and batches start anew with each call.
    Long parts are faster: for each learner a call costs about 0.05 ms and a row of 100
    features 0.1 µs. Any other estimator costs two calls of scikit-learn for each
    learner and batch, most of a millisecond.

    A learner that was shown nothing abstains, and abstaining counts as an error. If the
    learners keep the promise of ``gamma``, the share of mistakes on a long stream comes
    down to ``theory.majority_potentials(n_estimators, 0, gamma)[0]`` or less; a learner
    needs examples to keep it, so that many learners need a long stream.

    Boosting helps where one learner cannot express the answer, or where label noise
    leads it astray. One learner that is good already is made no better by a vote of its
    kind, and under noise often worse: compare with ``n_estimators=1``.

    ``fit`` takes no weights, because to learn a row of weight 2 is not to learn it
    twice.

    References
    ----------
    .. [1] A. Beygelzimer, S. Kale, H. Luo (2015). Optimal and Adaptive Algorithms for
       Online Boosting. ICML 32, Algorithm 1 (Online BBM).

    Examples
    --------
    >>> from sklboolean import OnlineBoostByMajority
    >>> from sklboolean.datasets import make_long_servedio
    >>> X, y = make_long_servedio(2000, random_state=0)
    >>> model = OnlineBoostByMajority(n_estimators=21, random_state=0)
    >>> model.partial_fit(X[:500], y[:500], classes=[0, 1]).t_
    500
    >>> model.partial_fit(X[500:1000], y[500:1000]).score(X[1000:], y[1000:]) > 0.9
    True
    """

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=51,
        gamma=0.05,
        sampling="auto",
        batch_size=1,
        max_iter=20,
        shuffle=True,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.gamma = gamma
        self.sampling = sampling
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        if self.estimator is not None:
            base = get_tags(self.estimator).input_tags
            tags.input_tags.sparse = base.sparse
            tags.input_tags.positive_only = base.positive_only
            tags.input_tags.allow_nan = base.allow_nan
        return tags

    def fit(self, X, y):
        """Learn from rows and their labels, in several epochs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as the estimator takes them.
        y : array-like of shape (n_samples,)
            Labels of two classes.

        Returns
        -------
        self : object
            The fitted learner.

        Raises
        ------
        ValueError
            For bad parameters and data. What was learned before is kept.
        """
        with restore_on_error(self):
            n_epochs = check_integer(self.max_iter, "max_iter", 1)
            X, signs = self._read(X, y, None, reset=True)
            rng = check_random_state(self.random_state)
            game, values = self._new_game(rng), np.ones(len(signs))
            mistakes = []
            for _ in range(n_epochs):
                order = np.arange(len(signs))
                if self.shuffle:
                    rng.shuffle(order)
                before = game.n_mistakes
                self._learn(game, X[order], signs[order], values)
                mistakes.append(game.n_mistakes - before)
                self._report(mistakes, len(signs))
                if mistakes[-1] == 0:
                    break
            self._publish(game, mistakes)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from more rows, in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as the estimator takes them.
        y : array-like of shape (n_samples,)
            Labels among ``classes``.
        classes : array-like of shape (2,), default=None
            Both labels; needed in the first call.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            What the weights are multiplied with, finite and at least 0. With "reject" a
            row is shown a whole number of times, which on average is the product.

        Returns
        -------
        self : object
            The fitted learner. As for ``fit``, errors leave it as it was.
        """
        with restore_on_error(self):
            resume = hasattr(self, "classes_")
            if resume:
                check_same_params(self, KIND)
            known = known_classes(self, classes)
            X, signs = self._read(X, y, known, reset=not resume)
            values = check_finite_sum(check_sample_weight(sample_weight, len(signs)))
            if resume:
                game = self._game.copy()
                game.gamma = check_edge(self.gamma)
            else:
                game = self._new_game(check_random_state(self.random_state))
            self._learn(game, X, signs, values)
            # What an earlier fit counted stays.
            earlier = self.mistakes_per_epoch_[:-1] if resume else []
            mistakes = [*earlier, game.n_mistakes - sum(earlier)]
            self._report(mistakes, len(signs))
            self._publish(game, mistakes)
        return self

    def _read(self, X, y, known, *, reset):
        X, y = validate_data_strict(self, X, y, reset=reset, **self._accepted())
        check_two_classes(y, known)
        self.classes_, codes = encode_classes(y, known)
        return X, np.where(codes == 1, 1, -1).astype(np.int8)

    def _accepted(self):
        tags = self.__sklearn_tags__().input_tags
        return {
            "for_others": self.estimator is not None,
            "accept_sparse": "csr" if tags.sparse else False,
            "ensure_all_finite": not tags.allow_nan,
        }

    def _new_game(self, rng):
        learners, seed = make_learners(
            self.estimator, self.n_estimators, self.sampling, self.n_features_in_,
            self.classes_, rng,
        )  # fmt: skip
        return OnlineGame(learners, check_edge(self.gamma), seed)

    def _learn(self, game, X, signs, values):
        batch_size = check_integer(self.batch_size, "batch_size", 1)
        for part, rows in game.parts(X, batch_size):
            game.learn(rows, signs[part], values[part])

    def _report(self, mistakes, n_samples):
        if self.verbose:
            print(
                f"[OnlineBoostByMajority] epoch {len(mistakes)}: {mistakes[-1]} "
                f"mistakes on {n_samples} rows"
            )

    def _publish(self, game, mistakes):
        self._game = game
        remember_params(self, KIND)
        self.estimators_ = [learner.estimator for learner in game.learners]
        self.estimator_edges_ = game.edges()
        self.n_updates_ = game.n_shown
        self.n_mistakes_, self.mistakes_per_epoch_ = game.n_mistakes, mistakes
        self.n_iter_, self.t_ = len(mistakes), game.n_samples

    def decision_function(self, X):
        """Return the margin of the vote.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as the estimator takes them.

        Returns
        -------
        margins : ndarray of shape (n_samples,), dtype float64
            Votes for the second class less votes for the first, as a share of
            ``n_estimators``: from -1 to 1.
        """
        check_is_fitted(self)
        X = validate_data_strict(self, X, reset=False, **self._accepted())
        parts = self._game.parts(X, X.shape[0])
        return np.concatenate([self._game.margins(rows) for _, rows in parts])

    def predict(self, X):
        """Return the label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as the estimator takes them.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The majority's; the first class if learners abstain and votes are tied.
        """
        margins = self.decision_function(X)
        return self.classes_[(margins > 0).astype(np.intp)]
