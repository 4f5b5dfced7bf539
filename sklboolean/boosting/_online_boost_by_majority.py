"""Online boost-by-majority: every sample passes through all weak learners once."""

# A sample passes through learners 0 to N - 1 (Beygelzimer, Kale, Luo, Algorithm 1):
# 1. learner i gets the weight of the state (i, number of correct votes before it),
#    relative to the heaviest state, so that it lies in [0, 1];
# 2. it votes, -1 or 1, and 0 while it has seen nothing;
# 3. it learns the sample with that weight, or as often as a random number says.
# The default learners are averaged perceptrons in one array, which compiled code moves
# sample by sample (`BitGame`). Other classifiers learn a batch at a time
# (`OnlineGame`). Random numbers belong to positions of the stream; how it is cut
# changes nothing.

from copy import deepcopy
from inspect import signature

import numpy as np
from scipy import sparse
from scipy.special import gammaln
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils import check_random_state, gen_batches, get_tags
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import (
    DecisionClassifierMixin,
    IncrementalClassifier,
    restore_on_error,
)
from sklboolean._core.calibration import fit_slope
from sklboolean._core.damage import require_shape
from sklboolean._core.deprecation import Gone, old_parameters
from sklboolean._core.formula import Members
from sklboolean._core.held_out import stratified_split
from sklboolean._core.labels import known_classes
from sklboolean._core.meta import draw_seed
from sklboolean._core.parameters import check_choice, check_integer
from sklboolean._core.progress import CallbackSupportMixin, Progress, with_callbacks
from sklboolean._core.validation import validate_data_strict, warn_of_lost_columns
from sklboolean._core.weights import labelled_weights
from sklboolean.boosting._majority_game import check_edge, odd_rounds
from sklboolean.boosting._online import add_votes, vote_and_learn, write_weights

BLOCK_CELLS = 2**22
# Samples of a stream that calibrate the vote, the last ones.
N_HELD_OUT = 1000


class BitPerceptron:
    """An averaged perceptron over bits, the default weak learner.

    It needs no learning rate: weights times a constant give the same votes.

    Parameters
    ----------
    game : object
        Holds the weights of all perceptrons of a booster.
    number : int
        Which of them this is.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,), dtype float64
        Weights of the average hypothesis, for features read as -1 and 1.
    intercept_ : float
        Constant of the average hypothesis.

    Examples
    --------
    >>> from sklboolean import OnlineBoostByMajority
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 9, [0, 0, 1, 1] * 9
    >>> booster = OnlineBoostByMajority(n_estimators=3, random_state=0).fit(X, y)
    >>> weights = booster.estimators_[0].coef_
    >>> bool(weights[0] > abs(weights[1]))
    True
    """

    def __init__(self, game, number):
        self._game, self._number = game, number

    @property
    def coef_(self):
        """The weights of the features."""
        return self._game.average(self._number)[:-1]

    @property
    def intercept_(self):
        """The constant."""
        return float(self._game.average(self._number)[-1])


class PartialFitLearner:
    """Any classifier of scikit-learn that has ``partial_fit``.

    The samples of a batch are voted on together, then learned together.

    Parameters
    ----------
    estimator : classifier
        Unfitted; trained in place.
    classes : ndarray of shape (2,)
    """

    def __init__(self, estimator, classes):
        self.estimator, self.classes = estimator, classes
        self.trained = False
        parameters = signature(estimator.partial_fit).parameters
        self._takes_weights = "sample_weight" in parameters
        self._options = {"classes": classes} if "classes" in parameters else {}

    def votes(self, samples):
        """Predict -1 for the first class and 1 for the second; 0 before training."""
        require_shape(self.classes, (2,), "classes")
        if not self.trained:
            return np.zeros(samples.shape[0], dtype=np.int8)
        second = self.estimator.predict(samples) == self.classes[1]
        return np.where(second, 1, -1).astype(np.int8)

    def vote_and_learn(self, samples, signs, weights):
        """Train on a batch, and return the votes from before it was learned."""
        votes = self.votes(samples)
        shown = np.flatnonzero(weights)
        weights, options = weights[shown], dict(self._options)
        if self._takes_weights:
            options["sample_weight"] = weights
        else:  # integers, from sampling
            shown = np.repeat(shown, weights.astype(np.intp))
        if len(shown):
            labels = self.classes[(signs[shown] > 0).astype(np.intp)]
            self.estimator.partial_fit(samples[shown], labels, **options)
            self.trained = True
        return votes


def online_weights(k, i, gamma, n_correct):
    """Weigh samples for learner i of k, relative to the heaviest possible state.

    Parameters
    ----------
    k, i, gamma
        As for `majority_weights`. The result is a multiple of these weights that does
        not depend on other samples.
    n_correct : ndarray of shape (n_samples,), dtype int64
        Number of the i learners before that are correct on each sample.

    Returns
    -------
    weights : ndarray of shape (n_samples,), dtype float64
        From 0 to 1; 1 in the heaviest of the states from 0 to i. They are computed as
        differences of logarithms, so that no k is too large.
    """
    weights = np.empty(len(n_correct))
    write_weights(k, i, gamma, gammaln(np.arange(1, k + 1)), n_correct, weights)
    return weights


class OnlineGame:
    """Learners that play a game of two classes, and what they have seen.

    Parameters
    ----------
    learners : list
        An odd number of objects with ``votes(samples)``, -1 for the first class, 1 for
        the second and 0 while undecided, and ``vote_and_learn(samples, signs,
        weights)``, which returns the votes from before the samples were learned.
    gamma : float
    seed : int or None
        Not None: samples are shown at random, an integer number of times.

    Attributes
    ----------
    n_samples : int
        Number of samples seen.
    n_shown : ndarray of shape (n_learners,), dtype int64
        Number of samples that each learner was shown.
    weights_correct, weights_shown : ndarray of shape (n_learners,), dtype float64
        The weight of these samples: of those that it predicted correctly before
        learning them, and of all.
    """

    def __init__(self, learners, gamma, seed):
        self.learners, self.gamma, self.seed = learners, gamma, seed
        self.n_samples = 0
        self.n_shown = np.zeros(len(learners), dtype=np.int64)
        self.weights_correct = np.zeros(len(learners))
        self.weights_shown = np.zeros(len(learners))

    @property
    def estimators(self):
        """The fitted learners, as the booster shows them."""
        return [learner.estimator for learner in self.learners]

    def learn(self, samples, signs, sample_weight):
        """Show samples to all learners, one learner after the other.

        Parameters
        ----------
        samples : ndarray or sparse array of shape (n_samples, n_columns)
            What the learners read.
        signs : ndarray of shape (n_samples,), dtype int8
            -1 or 1.
        sample_weight : ndarray of shape (n_samples,), dtype float64

        Returns
        -------
        votes : ndarray of shape (n_samples,), dtype int64
            Sum of the votes before the samples were learned.
        n_correct : ndarray of shape (n_samples,), dtype int64
            Number of these votes that were correct.
        """
        k = len(self.learners)
        for name in ("n_shown", "weights_correct", "weights_shown"):
            require_shape(getattr(self, name), (k,), name)
        uniform = self._draw(len(signs))
        votes = np.zeros(len(signs), dtype=np.int64)
        n_correct = votes.copy()
        for i, learner in enumerate(self.learners):
            weights = sample_weight * online_weights(k, i, self.gamma, n_correct)
            # A weight of 0.3 shows the sample with probability 0.3, one of 1.3 once or
            # twice.
            if uniform.size:
                weights = np.floor(weights + uniform[:, i])
            vote = learner.vote_and_learn(samples, signs, weights)
            hits = vote == signs
            votes += vote
            n_correct += hits
            self.n_shown[i] += np.count_nonzero(weights)
            for sums, terms in [
                (self.weights_correct, weights * hits),
                (self.weights_shown, weights),
            ]:
                # Added in order, so that the parts of a stream give the same sums.
                sums[i] = np.cumsum(np.append(sums[i], terms))[-1]
        return votes, n_correct

    def _draw(self, n_samples):
        """Draw a number for each of the next samples and each learner, or none."""
        first, k = self.n_samples, len(self.n_shown)
        self.n_samples += n_samples
        if self.seed is None:
            return np.zeros((n_samples, 0))
        # They depend on the position in the stream only.
        generators = (
            np.random.default_rng([self.seed, first + i]) for i in range(n_samples)
        )
        return np.stack([generator.random(k) for generator in generators])

    def votes(self, samples):
        """Sum the votes on each sample."""
        return sum(self.votes_of_each(samples))

    def votes_of_each(self, samples):
        """Yield the votes of each learner: -1, 1, or 0 while it is undecided."""
        for learner in self.learners:
            yield learner.votes(samples).astype(np.int64)

    def edges(self):
        """Compute the weighted accuracy of each learner minus 1/2; 0 without weight."""
        shares = np.full(len(self.n_shown), 0.5)
        shown = self.weights_shown > 0
        np.divide(self.weights_correct, self.weights_shown, out=shares, where=shown)
        return shares - 0.5


class BitGame(OnlineGame):
    """The same with averaged perceptrons over signed bits, compiled.

    Parameters
    ----------
    n_columns : int
        Number of features, and 1 for the constant.
    n_learners : int
    gamma, seed
        As for `OnlineGame`.

    Attributes
    ----------
    lines : ndarray of shape (2, n_columns + 2, n_learners), dtype float64
        ``coef`` and ``late`` of all learners, as the compiled loop has them.
    weight_seen : ndarray of shape (n_learners,), dtype float64
        The averages are ``coef - late / weight_seen``.
    """

    def __init__(self, n_columns, n_learners, gamma, seed):
        super().__init__([None] * n_learners, gamma, seed)
        self.lines = np.zeros((2, n_columns + 2, n_learners))
        self.weight_seen = np.zeros(n_learners)

    def average(self, i):
        """Compute the coefficients of the average hypothesis of a learner."""
        coef, late = self.lines[:, :-2, i] + self.lines[:, -2:-1, i]
        return coef - late / max(self.weight_seen[i], 1.0e-300)

    @property
    def estimators(self):
        """The perceptrons, as the booster shows them."""
        return [BitPerceptron(self, i) for i in range(len(self.n_shown))]

    def learn(self, samples, signs, sample_weight):
        """Show samples to all learners, one sample after the other."""
        votes = np.zeros(len(signs), dtype=np.int64)
        n_correct, k = votes.copy(), len(self.n_shown)
        uniform, logs = self._draw(len(signs)), gammaln(np.arange(1, k + 1))
        vote_and_learn(
            self, samples, signs, sample_weight, uniform, logs, votes, n_correct
        )
        return votes, n_correct

    def votes(self, samples, learners=slice(None)):
        """Sum the votes of all learners, or of some, on each sample."""
        votes = np.zeros(len(samples), dtype=np.int64)
        lines = np.ascontiguousarray(self.lines[:, :, learners])
        add_votes(samples, lines, self.weight_seen[learners], votes)
        return votes

    def votes_of_each(self, samples):
        """Yield the votes of each perceptron."""
        for i in range(len(self.n_shown)):
            yield self.votes(samples, slice(i, i + 1))


class OnlineState:
    """The games of a booster, and the last margins from before learning.

    Parameters
    ----------
    games : list of OnlineGame
        One for two classes, otherwise one of each class against the rest.

    Attributes
    ----------
    n_samples : int
        Number of samples seen.
    n_mistakes : int
        Number of samples that the vote, before they were learned, misclassified.
    mistakes_per_epoch : list of int
    held_out : tuple of ndarrays
        Margins, class numbers and weights of the last samples, before learning.
    """

    def __init__(self, games):
        self.games, self.n_samples, self.n_mistakes = games, 0, 0
        self.mistakes_per_epoch = []
        shape = (0,) if len(games) == 1 else (0, len(games))
        self.held_out = np.zeros(shape), np.zeros(0, dtype=np.intp), np.zeros(0)
        self._slope = None

    def copy(self):
        """Copy the state, the learners included."""
        return deepcopy(self)

    def parts(self, X, batch_size):
        """Cut samples into slices, each with what the learners read at once."""
        n_learners = len(self.games[0].n_shown)
        n_most = BLOCK_CELLS // max(X.shape[1] + 1, n_learners)
        if not isinstance(self.games[0], BitGame):
            for block in gen_batches(X.shape[0], batch_size):
                yield block, X[block]
            return
        for block in gen_batches(X.shape[0], max(1, n_most)):
            bits = X[block].toarray() if sparse.issparse(X) else X[block]
            samples = np.ones((bits.shape[0], X.shape[1] + 1), dtype=np.int8)
            samples[:, :-1] = bits > 0
            yield block, samples

    def learn(self, samples, codes, sample_weight):
        """Show samples to all games; weights are factors of those of the game."""
        n_mistakes = self.n_mistakes
        if len(self.games) == 1:
            signs = np.where(codes == 1, 1, -1).astype(np.int8)
            votes, n_correct = self.games[0].learn(samples, signs, sample_weight)
            n_learners = len(self.games[0].n_shown)
            n_mistakes += np.count_nonzero(n_correct <= n_learners // 2)
        else:
            votes = np.empty((len(codes), len(self.games)), dtype=np.int64)
            for code, game in enumerate(self.games):
                signs = np.where(codes == code, 1, -1).astype(np.int8)
                votes[:, code], _correct = game.learn(samples, signs, sample_weight)
            # A tie is a mistake.
            own_votes = votes[np.arange(len(codes)), codes]
            n_mistakes += np.count_nonzero(
                (votes >= own_votes[:, np.newaxis]).sum(axis=1) > 1
            )
        self.n_samples, self.n_mistakes = self.n_samples + len(codes), int(n_mistakes)
        new = votes / len(self.games[0].n_shown), codes, sample_weight
        self.hold_out(
            *(np.concatenate(both) for both in zip(self.held_out, new, strict=True))
        )

    def margins(self, samples):
        """Compute the mean of all votes on each sample, for each game."""
        k = len(self.games[0].n_shown)
        if len(self.games) == 1:
            return self.games[0].votes(samples) / k
        return np.stack([game.votes(samples) for game in self.games], axis=1) / k

    def hold_out(self, margins, codes, weights):
        """Keep the last of some held-out margins."""
        last = slice(-N_HELD_OUT, None)
        self.held_out, self._slope = (margins[last], codes[last], weights[last]), None

    def slope(self):
        """Fit the slope of the probabilities to the held-out margins."""
        if self._slope is None:
            margins, codes, weights = self.held_out
            has_weight = weights > 0
            self._slope = fit_slope(
                margins[has_weight], codes[has_weight], weights[has_weight]
            )
        return self._slope


@old_parameters(
    shuffle=Gone(True, "partial_fit, called once for each epoch, keeps the order.")
)
class OnlineBoostByMajority(
    CallbackSupportMixin, DecisionClassifierMixin, IncrementalClassifier
):
    """Boost online learners by majority.

    Each sample passes through a sequence of weak learners. Each of them votes on it and
    then learns it, with a weight that follows from the votes before and the number of
    votes to come: the more the outcome depends on this vote, the larger the weight. The
    prediction is the majority of one vote for each learner. With more than two classes
    each class plays a game of its own against the rest.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A classifier with ``partial_fit``; clones of it are fitted. None: an averaged
        perceptron over bits (a feature is true above 0), compiled.
    n_estimators : int, default=51
        Number of weak learners. The next odd number is used for an even one, with a
        warning, because votes could be tied. More of them need a longer stream.
    gamma : float, default=0.05
        Edge that is assumed of every weak learner: its weighted accuracy minus 1/2,
        above 0 and below 0.5. ``estimator_edges_`` has the measured edges.
    sampling : {"auto", "weight", "reject"}, default="auto"
        Whether a weak learner is given the weights, or shown samples with these
        probabilities. "auto": "weight" if the ``partial_fit`` of the estimator takes
        ``sample_weight``.
    batch_size : int, default=1
        Number of samples that an ``estimator`` votes on and learns in one call. 1 is
        the algorithm; larger batches are faster by nearly that factor. The default
        estimator takes single samples anyway.
    max_iter : int, default=20
        Maximum number of epochs of ``fit``, which stops earlier after an epoch without
        a mistake.
    class_weight : dict, "balanced" or None, default=None
        Factor of the weights of each class. "balanced", in ``fit`` only: in inverse
        proportion to the weight of the class. None: 1.
    random_state : int, RandomState instance or None, default=None
        Seed for shuffling, for calibration, for "reject" and for the estimators.
    verbose : int, default=0
        1 prints the mistakes of each epoch.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    estimators_ : list of n_estimators objects
        The fitted weak learners; with more than two classes a list of such lists, one
        for each class, and so for the next two attributes. Those of the default have
        ``coef_`` and ``intercept_`` of their hypothesis over features read as -1 and 1.
    estimator_edges_ : ndarray of shape (n_estimators,), dtype float64
        The share of the weight that each predicted correctly, voting on samples before
        it learned them, minus 1/2. 0 where it was shown nothing.
    n_updates_ : ndarray of shape (n_estimators,), dtype int64
        Number of samples that each was shown.
    n_mistakes_ : int
        Number of samples on which the majority was wrong or tied before they were
        learned.
    mistakes_per_epoch_ : list of int
        The same for each epoch; all calls of ``partial_fit`` together are one epoch.
    n_iter_ : int
        Number of epochs.
    t_ : int
        Number of samples seen, in all epochs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    FilteringBoostByMajority : For streams and any weak learner, with few hypotheses.
    BooleanStump : A weak learner for data in memory.

    Notes
    -----
    Learner i of N, with r correct votes before it, gets the sample with a weight
    proportional to ``C(N-i-1, s) (1/2 + gamma)**s (1/2 - gamma)**(N-i-1-s)``, ``s =
    (N-1)/2 - r``: the probability that this vote decides, if each vote to come is
    correct with probability 1/2 + gamma. Weights are relative to the heaviest state of
    learner i, so that they are between 0 and 1 and do not depend on other samples. They
    are computed as logarithms, for any N. In [1]_ gamma is the difference between the
    shares of correct and wrong votes: twice the gamma here.

    How a stream is cut into calls of ``partial_fit`` makes no difference, to the last
    bit, if ``batch_size`` is 1 or the default estimator is used. Otherwise samples of a
    batch are voted on by the same hypotheses, and each call begins a new batch. Long
    parts are faster: for each learner a call costs about 0.05 ms and a sample with 15
    true features 0.03 µs; where most are true, the false ones are read. Any other
    estimator costs two calls of scikit-learn for each learner and batch, most of a
    millisecond.

    A learner that was shown nothing abstains, and abstaining counts as an error. If the
    edges of the learners are at least ``gamma``, the share of mistakes on a long stream
    falls to ``theory.majority_potentials(n_estimators, 0, gamma)[0]`` or below. A
    learner needs samples to reach its edge, so many learners need a long stream.

    Boosting helps where one learner cannot represent the target, or where label noise
    misleads it. One learner that is good already is not improved by a vote of its kind,
    and with label noise the vote is often worse: compare with ``n_estimators=1``.

    A sample weight is a factor of the weight of the update. Learning a sample of weight
    2 is not the same as learning it twice.

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

    _state_params = ("estimator", "n_estimators", "sampling")

    def __init__(
        self, estimator=None, *, n_estimators=51, gamma=0.05, sampling="auto",
        batch_size=1, max_iter=20, class_weight=None, random_state=None, verbose=0,
    ):  # fmt: skip
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.gamma = gamma
        self.sampling = sampling
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            inner = get_tags(self.estimator).input_tags
            tags.input_tags.sparse = inner.sparse
            tags.input_tags.positive_only = inner.positive_only
            tags.input_tags.allow_nan = inner.allow_nan
        return tags

    @with_callbacks
    def fit(self, X, y, sample_weight=None) -> "OnlineBoostByMajority":
        """Train on labelled samples, in several epochs, each in another random order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as the estimator takes them.
        y : array-like of shape (n_samples,)
            Labels of two classes or more.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Factors of the weights of updates, finite and at least 0. Where their mean
            is below 1, they are divided by it. Samples of weight 0 are left out.
            None: 1.

        Returns
        -------
        self : object
            The fitted booster.

        Raises
        ------
        ValueError
            For bad parameters and data. The booster then keeps its former state.
        """
        with restore_on_error(self):
            user_data = X, y
            X, codes = self._check_Xy(X, y, None, resume=False)
            weights = labelled_weights(
                sample_weight, codes, self.classes_, self.class_weight
            )
            used = np.flatnonzero(weights)
            X, codes, weights = X[used], codes[used], weights[used]
            rng = check_random_state(self.random_state)
            state = self._init_state(rng)
            progress = Progress(self, "epoch", self.max_iter, *user_data)
            self._run_epochs(state, X, codes, weights, rng, self.max_iter, progress)
            # The probabilities: a second booster scores samples that it does not learn.
            second, n_epochs = self._init_state(rng), max(1, self.max_iter // 2)
            train, test = stratified_split(codes, 0.25, rng)
            learned = X[train], codes[train], weights[train]
            self._run_epochs(second, *learned, rng, n_epochs)
            test = test[:N_HELD_OUT]
            if len(test):
                margins = self._margins(second, X[test])
                state.hold_out(margins, codes[test], weights[test])
            self._store(state)
            progress.finish()
        return self

    def _run_epochs(self, state, X, codes, weights, rng, n_epochs, progress=None):
        """Train until an epoch has no mistake, or for so many."""
        stop = False
        for _ in range(n_epochs):
            order = rng.permutation(len(codes))
            before = state.n_mistakes
            self._train(state, X[order], codes[order], weights[order])
            state.mistakes_per_epoch.append(state.n_mistakes - before)
            if progress is not None:
                stop = progress.step(
                    lambda: f"{state.mistakes_per_epoch[-1]} mistakes",
                    lambda model: model._store(state.copy()),
                )
            if stop or state.mistakes_per_epoch[-1] == 0:
                break

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Train on more samples, in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as the estimator takes them.
        y : array-like of shape (n_samples,)
            Labels among ``classes``.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; required in the first call.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Factors of the weights, finite and at least 0, used as they are. With
            "reject" a sample is shown an integer number of times, which on average is
            the product.

        Returns
        -------
        self : object
            The fitted booster. As for ``fit``, errors leave it as it was.
        """
        with restore_on_error(self):
            resume = hasattr(self, "classes_")
            classes = known_classes(self, classes)
            X, codes = self._check_Xy(X, y, classes, resume=resume)
            weights = labelled_weights(
                sample_weight, codes, self.classes_, self.class_weight, in_stream=True
            )
            if resume:
                state = self._state.copy()
                for game in state.games:
                    game.gamma = check_edge(self.gamma)
            else:
                state = self._init_state(check_random_state(self.random_state))
            self._train(state, X, codes, weights)
            earlier = state.mistakes_per_epoch[:-1]
            state.mistakes_per_epoch = [*earlier, state.n_mistakes - sum(earlier)]
            self._store(state)
        return self

    def _check_params(self):
        odd_rounds(self.n_estimators)
        check_edge(self.gamma)
        check_choice(self.sampling, "sampling", ("auto", "weight", "reject"))
        check_integer(self.batch_size, "batch_size", 1)
        check_integer(self.max_iter, "max_iter", 1)
        if self.estimator is None:
            return
        if not hasattr(self.estimator, "partial_fit"):
            raise ValueError(
                "estimator must have partial_fit to learn online; got "
                f"{self.estimator!r}. BernoulliNB and SGDClassifier have it."
            )
        if self.sampling == "weight" and not self._takes_weights():
            raise ValueError(
                "sampling='weight' needs an estimator whose partial_fit takes "
                f"sample_weight; that of {self.estimator!r} does not: use 'auto'."
            )

    def _takes_weights(self):
        return "sample_weight" in signature(self.estimator.partial_fit).parameters

    def _check_X(self, X, y="no_validation", *, reset=False):
        tags = self.__sklearn_tags__().input_tags
        checked = validate_data_strict(
            self,
            X,
            y,
            reset=reset,
            for_others=self.estimator is not None,
            accept_sparse="csr" if tags.sparse else False,
            ensure_all_finite=not tags.allow_nan,
        )
        X = checked[0] if isinstance(checked, tuple) else checked
        if self.estimator is None and not sparse.issparse(X):
            warn_of_lost_columns(self, X, (X > 0).all(axis=0) if reset else None, 0.0)
        return checked

    def _init_state(self, rng):
        gamma, n_classes = check_edge(self.gamma), len(self.classes_)
        n_learners = self.n_estimators | 1  # odd
        is_sampled = self.sampling == "reject"
        is_sampled |= self.estimator is not None and not self._takes_weights()
        games, labels = [], self.classes_ if n_classes == 2 else np.arange(2)
        for _ in range(1 if n_classes == 2 else n_classes):
            seed = draw_seed(rng)
            seed = seed if is_sampled else None
            if self.estimator is None:
                games.append(BitGame(self.n_features_in_ + 1, n_learners, gamma, seed))
                continue
            learners = [
                PartialFitLearner(self._seeded_clone(rng), labels)
                for _ in range(n_learners)
            ]
            games.append(OnlineGame(learners, gamma, seed))
        return OnlineState(games)

    def _seeded_clone(self, rng):
        """Clone the estimator, with a seed of its own for each random state."""
        copy = clone(self.estimator)
        names = sorted(copy.get_params())
        states = [name for name in names if name.split("__")[-1] == "random_state"]
        seeds = {name: int(rng.randint(2**31 - 1)) for name in states}
        return copy.set_params(**seeds)

    def _train(self, state, X, codes, sample_weight):
        for block, samples in state.parts(X, self.batch_size):
            # X was validated, and the parameters of the estimator at the first sample.
            with config_context(
                assume_finite=True, skip_parameter_validation=state.n_samples > 0
            ):
                state.learn(samples, codes[block], sample_weight[block])

    def _set_fitted_attributes(self, state):
        games = state.games
        estimators = [game.estimators for game in games]
        edges = np.stack([game.edges() for game in games])
        shown = np.stack([game.n_shown for game in games])
        if len(games) == 1:
            estimators, edges, shown = estimators[0], edges[0], shown[0]
        self.estimators_, self.estimator_edges_ = estimators, edges
        self.n_updates_, self.n_mistakes_ = shown, state.n_mistakes
        self.mistakes_per_epoch_ = state.mistakes_per_epoch
        self.n_iter_, self.t_ = len(state.mistakes_per_epoch), state.n_samples

    @property
    def calibration_slope_(self):
        """Slope of the sigmoid, or softmax, of ``predict_proba``.

        It is fitted to the margins of the last 1000 samples of a stream from before
        they were learned. In ``fit``, a second booster that learns a quarter of the
        samples in half of the epochs gives the margins of others.
        """
        check_is_fitted(self)
        return self._state.slope()

    def decision_function(self, X) -> np.ndarray:
        """Compute the margin of the vote.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as the estimator takes them.

        Returns
        -------
        margins : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            From -1 to 1. Two classes: votes for the second class minus votes for the
            first, as a share of ``n_estimators``; in a tie the first class is
            predicted. More classes: votes for each class minus votes against it.
        """
        check_is_fitted(self)
        return self._margins(self._state, self._check_X(X))

    def _margins(self, state, X):
        """Compute the margins of checked samples."""
        margins = [state.margins(samples) for _, samples in state.parts(X, X.shape[0])]
        return margins[0] if len(margins) == 1 else np.concatenate(margins)

    def _formula(self):
        return Members("votes", lambda X: self._vote_shares(self._check_X(X)))

    def _vote_shares(self, X):
        """Yield what the vote of each learner adds to the score of each class.

        As ``_vote_shares`` of the other boosters; of several classes each learner
        decides on one.
        """
        for code, game in enumerate(self._state.games):
            votes_by_block = [
                list(game.votes_of_each(samples))
                for _, samples in self._state.parts(X, X.shape[0])
            ]
            for estimator, *votes in zip(game.estimators, *votes_by_block, strict=True):
                shares = np.zeros((X.shape[0], len(self.classes_)))
                column = -1 if len(self._state.games) == 1 else code
                shares[:, column] = np.concatenate(votes) / len(game.n_shown)
                if column < 0:
                    shares[:, 0] = -shares[:, 1]
                yield estimator, "", shares
