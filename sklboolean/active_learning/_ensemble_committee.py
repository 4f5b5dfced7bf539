"""Committees of classifiers: each member is trained on its own view of the labels."""

# When labels arrive, each member is fitted again to all labelled samples, each as often
# as its own counts say: Poisson numbers that are drawn once for each sample and member,
# so a bootstrap sample grows and old samples keep their counts. ``counts`` is int64 of
# shape (n_members, n_samples). Members and samples are arguments of joblib's tasks.

from time import perf_counter

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sklboolean._core.damage import require_below
from sklboolean._core.meta import draw_seed, set_seed
from sklboolean._core.parallel import in_jobs
from sklboolean._core.validation import readable_errors
from sklboolean.active_learning._strategies import CommitteePredictions

LEAST_FOR_JOBS = 1.0  # seconds of a pass over the members: processes cost as much


class EnsembleCommittee:
    """Classifiers that are fitted again, each on its own sample, when labels arrive.

    Parameters
    ----------
    bases : list of classifiers
        One per member. They are cloned.
    is_bootstrap : bool
        Whether each member is trained on a bootstrap sample of the labelled samples,
        or on all of them.
    rng : RandomState
    n_jobs : int or None
    """

    # Classifiers can agree by chance, or because none has seen much of a second class;
    # so they have to agree this many times in a row.
    patience = 10
    # Random labels to begin with, unless the user chooses.
    n_initial = 10
    has_prior = False
    default_strategy = "margin"
    kernel = label_noise = None
    # What took long for all members together, one after the other.
    slow = frozenset()

    def __init__(self, bases, is_bootstrap, rng, n_jobs):
        if not bases:
            raise ValueError("committee must list at least one classifier; got none.")
        if len(bases) == 1 and not hasattr(bases[0], "predict_proba"):
            raise ValueError(
                "A committee of one needs a classifier with predict_proba, which "
                f"{bases[0]!r} does not have. Use n_members=5."
            )
        is_random = any("random_state" in name for name in bases[0].get_params())
        are_equal = len(bases) > 1 and len(set(map(id, bases))) == 1
        if not is_bootstrap and are_equal and not is_random:
            raise ValueError(
                f"All members of a list are trained on all labels, and {bases[0]!r} "
                "has no random_state, so they would be equal. Give the classifier "
                "itself: its clones are trained on bootstrap samples."
            )
        self.is_bootstrap, self.rng, self.n_jobs = is_bootstrap, rng, n_jobs
        self.members = [clone(base) for base in bases]
        self.weighable = [has_fit_parameter(base, "sample_weight") for base in bases]
        # Trees validate and copy their input, unless they are told not to.
        self.unchecked = [has_fit_parameter(base, "check_input") for base in bases]
        self.counts = np.zeros((len(bases), 0), dtype=np.int64)
        for member in self.members:
            set_seed(member, draw_seed(rng))
        # A member that knows one class only is a constant: many classifiers reject it.
        self.fitted = [None] * len(bases)

    def check_weights(self, _weights):
        """Refuse sample weights if a member cannot use them."""
        # A bootstrap draws samples by weight for members that take no weights.
        if not self.is_bootstrap:
            for member in self.members:
                check_weighable(member)

    def fit(self, X, y, weights, n_new, classes):
        """Fit all members to the labelled samples.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            Labels of at least two classes.
        weights : ndarray of shape (n_samples,), float64
        n_new : int
            Number of samples, the last ones, that are new since the last call.
        classes : ndarray of shape (n_classes,)

        Returns
        -------
        gains : ndarray of shape (n_new,)
            Log loss of each new label in bits, by Laplace's estimate from the votes,
            or from the probabilities of a single member. NaN for labels that came
            before the first committee.
        """
        gains = np.full(n_new, np.nan)
        if self.fitted[0] is not None:
            shares = self.predict(X[len(y) - n_new :], classes).vote_shares
            codes = np.searchsorted(classes, y[len(y) - n_new :])
            n_right = len(self.members) * shares[np.arange(n_new), codes]
            gains = -np.log2((n_right + 1) / (len(self.members) + len(classes)))
        drawn = self._draw_counts(weights[self.counts.shape[1] :])
        self.counts = np.hstack([self.counts, drawn])
        # Every member sees the first sample of each class. Otherwise a rare class that
        # is in no bootstrap sample would never cause disagreement.
        firsts = np.unique(y, return_index=True)[1]
        self.counts[:, firsts] = np.maximum(self.counts[:, firsts], 1)
        arguments = zip(
            self.members, *self._inputs(X), self.weighable, self.counts, strict=True
        )
        self.fitted = self._for_each(fit_member, arguments, weights, y)
        for k, member in enumerate(self.fitted):
            if not isinstance(member, DummyClassifier):
                self.members[k] = member
        return gains

    def _draw_counts(self, weights):
        """Draw how often each member sees each new sample."""
        if not self.is_bootstrap:
            return np.ones((len(self.members), len(weights)), dtype=np.int64)
        # Poisson counts are a bootstrap sample that can grow. A member that takes no
        # weights sees samples in proportion to their weights.
        means = np.where(self.weighable, 1.0, weights[:, None])
        return self.rng.poisson(means).T

    def _inputs(self, X):
        """Prepare the data of each member, and the options of its methods.

        The data are plain arguments, which the backend of a cluster sends only once.
        """
        narrow = None
        if any(self.unchecked) and not sparse.issparse(X) and X.dtype.kind in "buif":
            with np.errstate(over="ignore"):
                narrow = np.ascontiguousarray(X, dtype=np.float32)
            narrow = narrow if np.isfinite(narrow).all() else None
        inputs, options = [], []
        for unchecked in self.unchecked:
            unchecked = unchecked and narrow is not None
            inputs.append(narrow if unchecked else X)
            options.append({"check_input": False} if unchecked else {})
        return inputs, options

    def _for_each(self, function, arguments, *common):
        # The data were validated on entry, and the parameters at the first fit.
        with config_context(
            assume_finite=True, skip_parameter_validation=self.fitted[0] is not None
        ):
            # The backend of a context, such as a cluster, is wanted by the user.
            is_quick = self.n_jobs is not None and function.__name__ not in self.slow
            if is_quick or effective_n_jobs(self.n_jobs) == 1:
                start = perf_counter()
                answers = [function(*of_member, *common) for of_member in arguments]
                if perf_counter() - start >= LEAST_FOR_JOBS:
                    self.slow = self.slow | {function.__name__}
                return answers
            calls = ((*of_member, *common) for of_member in arguments)
            return list(in_jobs(function, calls, self.n_jobs))

    def project(self, X):
        """Prepare a pool for repeated predictions."""
        return X

    def predict(self, X, classes, *, with_probabilities=False):
        """Compute the predictions of all members as `CommitteePredictions`.

        The probabilities of a single member stand for a posterior: two hypotheses that
        are drawn from it may disagree.
        """
        is_single = len(self.members) == 1
        arguments = zip(self.fitted, *self._inputs(X), strict=True)
        answers = self._for_each(
            predict_member, arguments, with_probabilities or is_single
        )
        votes = np.array([np.searchsorted(classes, labels) for labels, _ in answers])
        probabilities = None
        if all(table is not None for _, table in answers):
            # A class that a member was not trained on gets probability 0.
            probabilities = np.zeros((*votes.shape, len(classes)))
            for member, (_, table), aligned in zip(
                self.fitted, answers, probabilities, strict=True
            ):
                columns = np.searchsorted(classes, member.classes_)
                require_below(columns, len(classes), "the classes of a member")
                aligned[:, columns] = table
            # Of float32, the sums are far from 1.
            probabilities /= probabilities.sum(axis=2, keepdims=True)
            if is_single:
                return CommitteePredictions(len(classes), posterior=probabilities[0])
        return CommitteePredictions(len(classes), votes, probabilities=probabilities)


def check_weighable(base):
    """Refuse sample weights for a classifier whose ``fit`` takes none."""
    if not has_fit_parameter(base, "sample_weight"):
        raise ValueError(
            f"{base!r} takes no sample_weight. Use a classifier that takes weights, or "
            "clones of a classifier as the committee, which draw samples by weight."
        )


@readable_errors("X")
def fit_member(member, X, options, weighable, counts, weights, y):
    """Fit a member to the samples it sees, by weights or by repeated samples."""
    counts = counts if counts.any() else np.ones_like(counts)
    weights = counts * weights if weighable else counts
    chosen = np.flatnonzero(weights)
    if (y[chosen] == y[chosen[0]]).all():
        return DummyClassifier(strategy="most_frequent").fit(X[chosen], y[chosen])
    if not weighable:
        chosen = np.repeat(np.arange(len(weights)), weights)
        return member.fit(X[chosen], y[chosen], **options)
    if (weights[chosen] != 1).any():
        options = options | {"sample_weight": weights[chosen]}
    return member.fit(X[chosen], y[chosen], **options)


@readable_errors("X")
def predict_member(member, X, options, with_probabilities):
    """Predict the labels of a member, and its probabilities if it has any."""
    if isinstance(member, DummyClassifier):
        options = {}
    if with_probabilities and hasattr(member, "predict_proba"):
        probabilities = member.predict_proba(X, **options)
        return member.classes_[probabilities.argmax(axis=1)], probabilities
    return member.predict(X, **options), None


def check_bases(bases, final_estimator):
    """Check the classifiers of a committee, and the final estimator among them."""
    for base in bases:
        if isinstance(base, type) or not hasattr(base, "fit") or is_regressor(base):
            is_final = base is final_estimator
            name = "final_estimator" if is_final else "committee"
            others = "" if is_final else ", a list of them, or a version space"
            raise TypeError(
                f"{name} must be a classifier, such as DecisionTreeClassifier()"
                f"{others}; got {base!r}."
            )
        if get_tags(base).input_tags.pairwise:
            raise ValueError(
                f"{base!r} takes a matrix of kernels or distances, but the samples "
                "to query are not known in advance: pass the kernel as a function."
            )
