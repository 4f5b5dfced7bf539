"""Committees of classifiers: each member sees the labelled rows in its own way."""

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from sklboolean._core.meta import draw_seed
from sklboolean._core.validation import readable_errors
from sklboolean.active_learning._strategies import Opinions
from sklboolean.active_learning._votes import align_probabilities


class EstimatorCommittee:
    """Classifiers that are fitted anew, in their own way, when labels come.

    Parameters
    ----------
    bases : list of classifiers
        One for each member.
    kind : {"bootstrap", "subsample", "seed", "list"}
        Which labelled rows a member sees, and how often each.
    rebag : bool
        Draw that anew for all rows at every step; otherwise only for the new ones.
    random : RandomState
    n_jobs : int or None
    """

    def __init__(self, bases, kind, rebag, random, n_jobs):
        self.kind, self.rebag, self.random, self.n_jobs = kind, rebag, random, n_jobs
        self.members = [clone(base) for base in bases]
        self.weighable = [has_fit_parameter(base, "sample_weight") for base in bases]
        # Trees check and copy every table, unless they are told not to.
        self.quick = [has_fit_parameter(base, "check_input") for base in bases]
        self.counts = np.zeros((len(bases), 0), dtype=np.int64)
        self._seed()
        # A member that knows one class is a constant; many classifiers refuse it.
        self.fitted = [None] * len(bases)

    def _seed(self):
        for member in self.members:
            set_seed(member, draw_seed(self.random))

    def learn(self, X, y, weights, n_new, classes):
        """Fit all members to the labelled rows.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            Labels of two classes at least.
        weights : ndarray of shape (n_samples,), float64
        n_new : int
            How many rows, the last ones, came since the last call.
        classes : ndarray of shape (n_classes,)

        Returns
        -------
        gains : ndarray of shape (n_new,)
            Surprise at each new label in bits, by Laplace's estimate from the votes;
            NaN for labels that came before the first committee.
        """
        gains = self._surprise(X[len(y) - n_new :], y[len(y) - n_new :], classes)
        if self.rebag:
            self.counts = self.counts[:, :0]
            self._seed()
        drawn = self._draw(weights[self.counts.shape[1] :])
        self.counts = np.hstack([self.counts, drawn])
        # Everybody sees the first row of each class: a rare class that no sample
        # holds would never be doubted.
        firsts = np.unique(y, return_index=True)[1]
        self.counts[:, firsts] = np.maximum(self.counts[:, firsts], 1)
        shown = [self._weights_of(k, weights) for k in range(len(self.members))]
        arguments = zip(
            self.members, *self._tables(X), self.weighable, shown, strict=True
        )
        self.fitted = self._each(fit_member, arguments, y)
        for k, member in enumerate(self.fitted):
            if not isinstance(member, DummyClassifier):
                self.members[k] = member
        return gains

    def _surprise(self, X, y, classes):
        if self.fitted[0] is None:
            return np.full(len(y), np.nan)
        votes = self.opinions(X, classes).votes
        right = (votes == np.searchsorted(classes, y)).sum(axis=0)
        return -np.log2((right + 1) / (len(votes) + len(classes)))

    def _draw(self, weights):
        """Draw how often each member sees new rows, a row after the other."""
        shape = len(weights), len(self.members)
        if self.kind == "bootstrap":
            # Poisson counts are a bootstrap that can grow. A base that cannot weigh
            # rows sees them in proportion to their weights.
            means = np.where(self.weighable, 1.0, weights[:, None])
            return self.random.poisson(means).T
        if self.kind == "subsample":
            return self.random.binomial(1, 0.5, size=shape).T
        return np.ones(shape[::-1], dtype=np.int64)

    def _weights_of(self, k, weights):
        counts = self.counts[k]
        counts = counts if counts.any() else np.ones_like(counts)
        return counts * weights if self.weighable[k] else counts

    def _tables(self, X):
        """Return the table for each member, and the options that say how to read it.

        Tables are plain arguments, which a cluster's backend sends only once.
        """
        narrow = None
        if any(self.quick) and not sparse.issparse(X) and X.dtype.kind in "buif":
            with np.errstate(over="ignore"):
                narrow = np.ascontiguousarray(X, dtype=np.float32)
            narrow = narrow if np.isfinite(narrow).all() else None
        quick = [narrow is not None and one for one in self.quick]
        return (
            [narrow if one else X for one in quick],
            [{"check_input": False} if one else {} for one in quick],
        )

    def _each(self, function, arguments, *common):
        # Tables were checked when they came in, parameters when they were used first.
        with config_context(
            assume_finite=True, skip_parameter_validation=self.fitted[0] is not None
        ):
            if effective_n_jobs(self.n_jobs) == 1:
                return [function(*own, *common) for own in arguments]
            calls = (delayed(function)(*own, *common) for own in arguments)
            return Parallel(n_jobs=self.n_jobs)(calls)

    def place(self, X):
        """Return a pool as it is asked about again and again."""
        return X

    def opinions(self, X, classes, *, with_probabilities=False):
        """Ask all members.

        Returns
        -------
        opinions : Opinions
        """
        arguments = zip(self.fitted, *self._tables(X), strict=True)
        answers = self._each(ask_member, arguments, with_probabilities)
        votes = np.array([np.searchsorted(classes, labels) for labels, _ in answers])
        probabilities = None
        if all(table is not None for _, table in answers):
            known = [member.classes_ for member in self.fitted]
            tables = [table for _, table in answers]
            probabilities = align_probabilities(tables, known, classes)
        return Opinions(len(classes), votes, probabilities=probabilities)

    def one_of(self, X, classes, random):
        """Return the class numbers that one member drawn by lot gives to rows."""
        member = self.fitted[random.randint(len(self.fitted))]
        return np.searchsorted(classes, member.predict(X))


def set_seed(estimator, seed):
    """Give a seed to an estimator and its parts, wherever there is chance in them."""
    names = [
        name
        for name in estimator.get_params()
        if name == "random_state" or name.endswith("__random_state")
    ]
    estimator.set_params(**dict.fromkeys(names, seed))


@readable_errors("X")
def fit_member(member, X, options, weighable, weights, y):
    """Fit a member to the rows that it sees, by weights or by repeating rows."""
    rows = np.flatnonzero(weights)
    if (y[rows] == y[rows[0]]).all():
        return DummyClassifier(strategy="most_frequent").fit(X[rows], y[rows])
    if not weighable:
        rows = np.repeat(np.arange(len(weights)), weights)
        return member.fit(X[rows], y[rows], **options)
    if (weights[rows] != 1).any():
        options = options | {"sample_weight": weights[rows]}
    return member.fit(X[rows], y[rows], **options)


@readable_errors("X")
def ask_member(member, X, options, with_probabilities):
    """Return the labels that a member predicts, and its probabilities or None."""
    if isinstance(member, DummyClassifier):
        options = {}
    if with_probabilities and hasattr(member, "predict_proba"):
        chances = member.predict_proba(X, **options)
        return member.classes_[chances.argmax(axis=1)], chances
    return member.predict(X, **options), None
