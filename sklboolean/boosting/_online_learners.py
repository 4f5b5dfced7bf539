"""Weak on-line learners: each votes on rows, then learns them.

Both kinds have ``votes(rows)``, with -1 for the first class, 1 for the second and 0
while undecided, and ``vote_and_learn(rows, signs, weights)``, which returns the votes
that were cast before the rows were learned.
"""

from inspect import signature

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import gen_batches

from sklboolean._core.validation import check_choice, check_integer
from sklboolean.boosting._online import vote_and_learn, write_votes


def make_learners(estimator, n_learners, sampling, n_features, classes, rng):
    """Check the parameters and return new learners, and a seed if rows are sampled."""
    n_learners = check_integer(n_learners, "n_estimators", 1)
    if n_learners % 2 == 0:
        raise ValueError(
            f"n_estimators must be odd, so that no vote is tied; got {n_learners}, "
            f"use {n_learners + 1}."
        )
    check_choice(sampling, "sampling", ("auto", "weight", "reject"))
    seed = int(rng.randint(2**31 - 1))
    if estimator is None:
        learners = [BitPerceptron(n_features) for _ in range(n_learners)]
        return learners, seed if sampling == "reject" else None
    if not hasattr(estimator, "partial_fit"):
        raise ValueError(
            f"estimator must have partial_fit to learn on-line, but {estimator!r} has "
            "not; BernoulliNB and SGDClassifier have it."
        )
    weighs = takes_weights(estimator)
    if sampling == "weight" and not weighs:
        raise ValueError(
            "sampling='weight' needs an estimator whose partial_fit takes "
            f"sample_weight, but that of {estimator!r} does not; use 'auto'."
        )
    copies = copies_of(estimator, n_learners, rng)
    learners = [PartialFitLearner(copy, classes) for copy in copies]
    return learners, seed if sampling == "reject" or not weighs else None


class BitPerceptron:
    """An averaged perceptron over bits, the default learner.

    It reads the rows that `parts` makes. There is no step size: weights times a
    constant give the same votes.

    Parameters
    ----------
    n_features : int

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,), dtype float64
        The average hypothesis, for features read as -1 and 1.
    intercept_ : float
        Its constant.
    """

    def __init__(self, n_features):
        self._coef = np.zeros(n_features + 1)
        self._late = np.zeros(n_features + 1)
        self._n_shown = np.zeros(1)

    @property
    def estimator(self):
        """What a user is shown: itself."""
        return self

    @property
    def coef_(self):
        """The weights of the features."""
        return self._average()[:-1]

    @property
    def intercept_(self):
        """The constant."""
        return float(self._average()[-1])

    def _average(self):
        return self._coef - self._late / max(self._n_shown[0], 1.0e-300)

    @staticmethod
    def parts(X, _batch_size, n_most):
        """Cut a table into slices and signed bits: 1 above 0, else -1."""
        for part in gen_batches(X.shape[0], n_most):
            bits = X[part].toarray() if sparse.issparse(X) else X[part]
            rows = np.ones((bits.shape[0], X.shape[1] + 1), dtype=np.int8)
            rows[:, :-1] = np.where(bits > 0, 1, -1)
            yield part, rows

    def votes(self, rows):
        """Return the signs of the average's scores."""
        votes = np.empty(len(rows), dtype=np.int8)
        write_votes(rows, self._coef, self._late, self._n_shown, votes)
        return votes

    def vote_and_learn(self, rows, signs, weights):
        """Return the votes from before each single row was learned."""
        votes = np.empty(len(rows), dtype=np.int8)
        vote_and_learn(
            rows, signs, weights, self._coef, self._late, self._n_shown, votes
        )
        return votes


class PartialFitLearner:
    """Any classifier of scikit-learn that has ``partial_fit``.

    The rows of a call are voted on together, then learned together.

    Parameters
    ----------
    estimator : object
        Unfitted; trained in place.
    classes : ndarray of shape (2,)
        The labels that it is taught.
    """

    def __init__(self, estimator, classes):
        self.estimator = estimator
        self.classes = classes
        self.trained = False
        self._weighs = takes_weights(estimator)
        parameters = signature(estimator.partial_fit).parameters
        self._options = {"classes": classes} if "classes" in parameters else {}

    @staticmethod
    def parts(X, batch_size, _n_most):
        """Cut a table into batches."""
        for part in gen_batches(X.shape[0], batch_size):
            yield part, X[part]

    def votes(self, rows):
        """Return the estimator's predictions as signs."""
        if not self.trained:
            return np.zeros(rows.shape[0], dtype=np.int8)
        second = self.estimator.predict(rows) == self.classes[1]
        return np.where(second, 1, -1).astype(np.int8)

    def vote_and_learn(self, rows, signs, weights):
        """Return the votes from before the batch was learned."""
        votes = self.votes(rows)
        shown = np.flatnonzero(weights)
        weights, options = weights[shown], dict(self._options)
        if self._weighs:
            options["sample_weight"] = weights
        else:  # whole numbers, from sampling
            shown = np.repeat(shown, weights.astype(np.intp))
        if len(shown):
            labels = self.classes[(signs[shown] > 0).astype(np.intp)]
            self.estimator.partial_fit(rows[shown], labels, **options)
            self.trained = True
        return votes


def takes_weights(estimator):
    """Tell whether ``partial_fit`` of an estimator takes ``sample_weight``."""
    return "sample_weight" in signature(estimator.partial_fit).parameters


def copies_of(estimator, n_copies, rng):
    """Yield unfitted copies, each with random states of its own."""
    for _ in range(n_copies):
        copy = clone(estimator)
        names = sorted(copy.get_params())
        states = [n for n in names if n.split("__")[-1] == "random_state"]
        copy.set_params(**{n: int(rng.randint(2**31 - 1)) for n in states})
        yield copy
