"""The state of a learner that asks for labels: what it knows, and what it did."""

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state

from sklboolean._core.meta import draw_seed
from sklboolean._core.validation import (
    distinct_labels,
    readable_errors,
    remember_params,
)
from sklboolean.active_learning._gibbs import GibbsCommittee, build_space, kernel_of
from sklboolean.active_learning._information import label_entropy
from sklboolean.active_learning._members import EstimatorCommittee, set_seed
from sklboolean.active_learning._parameters import (
    member_bases,
    n_initial,
    uses_version_space,
)
from sklboolean.active_learning._span import Placed
from sklboolean.active_learning._strategies import (
    NEED_PROBABILITIES,
    STRATEGIES,
    choose_rows,
)
from sklboolean.active_learning._stream import rejections_allowed

# Parameters that are read when a session begins.
READ_ONCE = (
    "estimator", "committee", "n_members", "strategy", "epsilon", "delta", "hypotheses",
    "max_literals", "monotone", "kernel", "fit_intercept", "gibbs", "eta", "n_steps",
    "n_chains", "initial", "rebag",
)  # fmt: skip


# Classifiers can agree by chance, or because none has seen a second class much; so
# they have to agree this many times in succession.
PATIENCE = 10


class Session:
    """What a QueryByCommittee knows between two labels.

    Parameters
    ----------
    learner : QueryByCommittee
        Its parameters are read here, once; they have been checked.
    n_features : int
    classes : ndarray or None
        All labels, where they are known in advance.
    """

    def __init__(self, learner, n_features, classes=None):
        remember_params(learner, READ_ONCE)
        random = check_random_state(learner.random_state)
        # Streams of chance of their own: the coins of a row do not depend on how
        # many numbers the committee took before.
        members, self.ties, self.coins = (
            np.random.RandomState(draw_seed(random)) for _ in range(3)
        )
        self.gibbs_seed = draw_seed(random)
        self.is_gibbs = uses_version_space(learner)
        if self.is_gibbs:
            space, as_rows = build_space(learner, n_features, draw_seed(members))
            self.committee = GibbsCommittee(space, as_rows)
        else:
            kind = learner.committee if isinstance(learner.committee, str) else "list"
            self.committee = EstimatorCommittee(
                member_bases(learner), kind, learner.rebag, members, learner.n_jobs
            )
        self.strategy = learner.strategy or "most_split"
        self.epsilon, self.delta = learner.epsilon, learner.delta
        self.kernel = kernel_of(learner) if self.is_gibbs else None
        self.n_initial = n_initial(learner)
        self.given_classes = self.classes = classes
        self.X = self.y = self.weights = None
        self.n_agreed = self.n_learned = self.n_given = self.n_seen = (
            self.n_rejected
        ) = 0
        self.query_indices, self.gains, self.entropies = [], [], []
        self.stop_reason = ""
        self.pending = None  # the row of the stream that waits for its label

    @property
    def is_exact(self):
        """Whether a label says the same of all equal rows: there is no noise."""
        return self.is_gibbs and not getattr(self.committee.space, "eta", 0)

    @property
    def n_labels(self):
        """How many labels are known."""
        return 0 if self.y is None else len(self.y)

    @property
    def n_queries(self):
        """How many labels were asked for."""
        return self.n_labels - self.n_given

    @property
    def is_ready(self):
        """Whether the committee can be asked."""
        if self.classes is None or len(self.classes) < 2:
            return False
        return self.is_gibbs or self.n_learned > 0

    @property
    def n_missing(self):
        """How many random labels are to be asked for before the committee chooses."""
        missing = max(0, self.n_initial - self.n_labels)
        return missing or int(not self.is_ready)

    def rejections_allowed(self):
        """Return t_n."""
        return rejections_allowed(self.n_queries, self.epsilon, self.delta)

    def add(self, X, y, weights, indices=()):
        """Learn labels.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
        weights : ndarray of shape (n_samples,), float64
        indices : sequence of int
            Where the rows come from, if they were asked for in a table or a stream.
        """
        y = self._join_labels(y)
        labels = distinct_labels(y)
        known = labels if self.given_classes is None else self.given_classes
        odd = ~np.isin(labels, known, kind="sort")  # "table" fails for unsigned ints
        if odd.any():
            raise ValueError(
                f"{labels[odd].tolist()[0]!r} is not among the classes "
                f"{known.tolist()}."
            )
        if self.is_gibbs and len(known) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"multiclass, with classes {known.tolist()}: a version space has two."
            )
        n_new = len(y) - self.n_labels
        if self.y is None:
            self.X, self.weights = X, weights
        else:
            stack = sparse.vstack if sparse.issparse(X) else np.concatenate
            self.X = stack([self.X, X])
            self.weights = np.concatenate([self.weights, weights])
        if sparse.issparse(self.X):
            self.X = sparse.csr_array(self.X)
        # From here on the answers are kept, whatever comes.
        self.y, self.classes = y, known
        self.query_indices.extend(indices)
        self.gains.extend([np.nan] * n_new)
        enough = len(known) == 2 if self.is_gibbs else len(labels) > 1
        if enough:
            n_new = self.n_labels - self.n_learned
            gains = self.committee.learn(self.X, y, self.weights, n_new, known)
            self.gains[len(self.gains) - n_new :] = gains
            self.n_learned = self.n_labels

    def _join_labels(self, y):
        if self.y is None:
            return y
        if (self.y.dtype.kind in "US") != (y.dtype.kind in "US"):
            raise ValueError(
                f"Labels so far are like {self.y.tolist()[0]!r}; {y.tolist()[0]!r} is "
                "of another type."
            )
        return np.concatenate([self.y, y])

    def choose(self, X, n):
        """Return the positions of the candidates to ask for next.

        Parameters
        ----------
        X : ndarray, sparse array or Placed of shape (n_samples, ...)
            The candidates, as they are or as the committee placed them.
        n : int
            How many at most.

        Returns
        -------
        rows : ndarray of shape (min(n, n_samples),), int
            Rows at random until the committee has an opinion. ``stop_reason`` becomes
            "agreement" where labels are hardly worth their price any more.
        """
        n = min(n, X.shape[0])
        if self.n_missing:
            return self.ties.choice(X.shape[0], n, replace=False)
        opinions = self.committee.opinions(
            X, self.classes, with_probabilities=self.strategy in NEED_PROBABILITIES
        )
        self.entropies.append(label_entropy(opinions.consensus))
        # A filter would be expected to reject more rows than Figure 3.2 allows.
        agrees = opinions.differing.mean() < 1 / self.rejections_allowed()
        self.n_agreed = self.n_agreed + 1 if agrees else 0
        if self.n_agreed >= (1 if self.is_gibbs else PATIENCE):
            self.stop_reason = "agreement"
        scores = STRATEGIES[self.strategy](opinions, self.ties)
        X = X.rows if isinstance(X, Placed) else X
        return choose_rows(scores, X, n, self.ties, self.kernel)

    @readable_errors("X")
    def fit_final(self, estimator):
        """Fit a clone of the final estimator to all labelled rows."""
        model = clone(estimator)
        set_seed(model, self.gibbs_seed)
        if (self.weights == 1).all():
            return model.fit(self.X, self.y)
        return model.fit(self.X, self.y, sample_weight=self.weights)
