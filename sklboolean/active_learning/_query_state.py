"""The state of QueryByCommittee: labels, gains, and the query loops."""

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from sklboolean._core.validation import distinct_labels, without_duplicates
from sklboolean.active_learning._disagreement import label_entropy
from sklboolean.active_learning._halfspace_version_space import ProjectedSamples
from sklboolean.active_learning._strategies import VOTES_ONLY, choose_samples

# Numbers of samples of a stream that are predicted at a time.
MIN_BLOCK, MAX_BLOCK = 8, 1024


def rejections_allowed(n_queries, epsilon, delta):
    """Compute t_n of Figure 3.2: more rejections in a row end the learning.

    Parameters
    ----------
    n_queries : int
        Number of labels queried so far.
    epsilon : float or None
        Target error. None: no limit.
    delta : float
        Allowed probability of failure.

    Returns
    -------
    limit : float
    """
    if epsilon is None:
        return np.inf
    return np.log(np.pi**2 * (n_queries + 1) ** 2 / (3 * delta)) / epsilon


@dataclass(eq=False)
class QueryState:
    """Labels, committee and counters between two queries.

    Parameters
    ----------
    committee : EnsembleCommittee or VersionSpaceCommittee
    score : callable
        The strategy: ``score(predictions, X, rng)``.
    epsilon, delta : float
        Target error and allowed probability of failure.
    n_initial : int
        Number of labels before the committee chooses.
    ties, coins : RandomState
        For ties, and for the coins of a stream. They are separate, so that the coins
        of a sample do not depend on what else was drawn.
    member_seed : int
        Chooses the member that predicts, and seeds the final estimator.
    given_classes : ndarray or None
        All labels, if they are known in advance.
    classes : ndarray or None
        The labels known so far; ``given_classes`` at first.

    Attributes
    ----------
    X, y, weights : ndarray
        The labelled samples; None before the first label.
    n_labels, n_queries, n_fitted : int
        Numbers of labels: known, queried, and used by the committee.
    n_seen, n_rejected, n_agreements : int
        Numbers of samples read, of samples rejected in a row, and of choices in a row
        in which the committee agreed.
    query_indices, gains, entropies : list
        Index of each queried sample, information of each label, and label entropy
        before each choice.
    termination : str or None
    pending : int or None
        Index of the sample of a stream that waits for its label.
    """

    committee: object
    score: object
    epsilon: float | None
    delta: float
    n_initial: int
    ties: np.random.RandomState
    coins: np.random.RandomState
    member_seed: int
    given_classes: np.ndarray | None
    classes: np.ndarray | None
    X: np.ndarray | None = None
    y: np.ndarray | None = None
    weights: np.ndarray | None = None
    n_labels: int = 0
    n_queries: int = 0
    n_fitted: int = 0
    n_seen: int = 0
    n_rejected: int = 0
    n_agreements: int = 0
    query_indices: list = field(default_factory=list)
    gains: list = field(default_factory=list)
    entropies: list = field(default_factory=list)
    termination: str | None = None
    pending: int | None = None

    @property
    def is_ready(self):
        """True if the committee can predict."""
        if self.classes is None or len(self.classes) < 2:
            return False
        return self.committee.has_prior or self.n_fitted > 0

    @property
    def n_missing(self):
        """Number of random labels to query before the committee chooses."""
        return max(0, self.n_initial - self.n_labels) or int(not self.is_ready)

    @property
    def rejections_allowed(self):
        """The bound t_n for the present number of queries."""
        return rejections_allowed(self.n_queries, self.epsilon, self.delta)

    def add(self, X, y, weights, indices=(), *, queried=True):
        """Add labels, and fit the committee.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
        weights : ndarray of shape (n_samples,), float64
        indices : sequence of int
            Indices of the samples in the pool or stream.
        queried : bool
            False for labels that were known in advance.
        """
        if self.n_labels:
            if (self.y.dtype.kind in "US") != (y.dtype.kind in "US"):
                raise ValueError(
                    f"The labels so far are like {self.y.tolist()[0]!r}; "
                    f"{y.tolist()[0]!r} is of another type."
                )
            stack = sparse.vstack if sparse.issparse(X) else np.concatenate
            X, y = stack([self.X, X]), np.concatenate([self.y, y])
            weights = np.concatenate([self.weights, weights])
        labels = distinct_labels(y)
        classes = labels if self.given_classes is None else self.given_classes
        odd = ~np.isin(labels, classes, kind="sort")  # "table" fails for unsigned ints
        if odd.any():
            raise ValueError(
                f"{labels[odd].tolist()[0]!r} is not among the classes "
                f"{classes.tolist()}."
            )
        if self.committee.has_prior and len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"multiclass, with classes {classes.tolist()}: a version space has two."
            )
        # From here on the labels are kept, even if an error follows.
        self.X = sparse.csr_array(X) if sparse.issparse(X) else X
        self.y, self.weights, self.classes = y, weights, classes
        n_new, self.n_labels = len(y) - self.n_labels, len(y)
        self.n_queries += n_new if queried else 0
        self.gains.extend([np.nan] * n_new)
        self.query_indices.extend(indices)
        if len(classes if self.committee.has_prior else labels) > 1:
            n_new = self.n_labels - self.n_fitted
            gains = self.committee.fit(self.X, y, self.weights, n_new, classes)
            self.gains[self.n_fitted :] = gains
            self.n_fitted = self.n_labels

    def choose(self, X, n):
        """Choose the candidates to query next.

        Parameters
        ----------
        X : ndarray, sparse array or ProjectedSamples of shape (n_samples, ...)
            The candidates, as the committee projected them.
        n : int
            Maximum number of candidates to choose.

        Returns
        -------
        indices : ndarray of shape (min(n, n_samples),), int
            Random until the committee can predict. ``termination`` becomes
            "agreement" if further labels are not worth their cost.
        """
        n = min(n, X.shape[0])
        if self.n_missing:
            return self.ties.choice(X.shape[0], n, replace=False)
        predictions = self.committee.predict(
            X, self.classes, with_probabilities=self.score not in VOTES_ONLY
        )
        self.entropies.append(label_entropy(predictions.consensus))
        # A filter would be expected to reject more samples than Figure 3.2 allows.
        agrees = predictions.disagreement.mean() < 1 / self.rejections_allowed
        self.n_agreements = self.n_agreements + 1 if agrees else 0
        if self.n_agreements >= self.committee.patience:
            self.termination = "agreement"
        X = X.X if isinstance(X, ProjectedSamples) else X
        scores = np.asarray(self.score(predictions, X, self.ties))
        if scores.shape != (X.shape[0],):
            raise ValueError(
                f"strategy must return one score for each of the {X.shape[0]} samples; "
                f"it returned shape {scores.shape}."
            )
        return choose_samples(scores, X, n, self.ties, self.committee.kernel)

    def query_pool(
        self, X, weights, candidates, oracle, max_queries, report, initial, batch_size
    ):
        """Query the labels of the best samples of a pool.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
        weights : ndarray of shape (n_samples,)
        candidates : ndarray of shape (n_samples,), bool
            Samples that may be queried.
        oracle : callable
            ``oracle(indices)`` returns their labels.
        max_queries : int or inf
        report : callable or None
            Called after every batch.
        initial : ndarray of int, or None
            Samples to begin with.
        batch_size : int
            Number of labels at a time.
        """
        if initial is not None:
            outside = (initial < 0) | (initial >= len(candidates))
            if outside.any() or not candidates[initial].all():
                raise ValueError(
                    f"initial={initial.tolist()} must be indices of samples of X that "
                    "can be queried."
                )
            initial = np.unique(initial)
        self.n_seen += int(candidates.sum())
        left = np.flatnonzero(candidates)
        groups = np.arange(X.shape[0])
        if self.committee.label_noise == 0:
            groups = duplicate_groups(X)
        pool = self.committee.project(X[left])
        while True:
            n = min(max_queries - self.n_queries, len(left))
            if n <= 0:
                self.termination = "max_queries" if len(left) else "pool_exhausted"
                return
            if initial is not None:
                chosen, initial = initial[: int(n)], None
            else:
                wanted = max(self.n_missing, batch_size)
                chosen = left[self.choose(pool, int(min(n, wanted)))]
                if self.termination:
                    return
            self.add(X[chosen], oracle(chosen), weights[chosen], chosen.tolist())
            kept = np.flatnonzero(~np.isin(groups[left], groups[chosen]))
            left, pool = left[kept], pool[kept]
            if report is not None:
                report()

    def query_stream(
        self, X, weights, candidates, oracle, max_queries, report, offset=0
    ):
        """Query the samples on which two members disagree; read each sample once.

        The parameters are those of ``query_pool``. ``offset`` is the number of samples
        of the stream before X.
        """
        kept = np.flatnonzero(candidates)
        read = X if len(kept) == X.shape[0] else X[kept]
        coins = self.coins.random_sample((len(kept), 2))
        position = 0
        while not self.termination:
            if self.n_queries >= max_queries:
                self.termination = "max_queries"
                return
            found = self.next_query(read, coins, position)
            if found is None:
                return
            chosen, position = kept[found : found + 1], found + 1
            indices = chosen + offset
            self.add(X[chosen], oracle(indices), weights[chosen], indices.tolist())
            if report is not None:
                report()

    def next_query(self, X, coins, first):
        """Read samples until two members disagree, or until enough were rejected.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
        coins : ndarray of shape (n_samples, 2)
            Two numbers for each sample, used or not. So the result does not depend on
            how the stream is split into chunks.
        first : int
            Index of the first sample to read.

        Returns
        -------
        index : int or None
            The sample to query. None at the end of X, or if ``termination`` is set.
        """
        n_samples, length = X.shape[0], MIN_BLOCK
        if first < n_samples and self.n_missing:
            self.n_seen += 1
            return first
        while first < n_samples:
            # More than t_n rejections in a row: the next of these is the last.
            room = np.floor(self.rejections_allowed) + 1 - self.n_rejected
            block = slice(first, int(min(first + length, first + room, n_samples)))
            predictions = self.committee.predict(X[block], self.classes)
            found = np.flatnonzero(predictions.draw_disagreement(coins[block]))
            n_rejected = int(found[0]) if len(found) else block.stop - first
            self.n_seen += n_rejected + bool(len(found))
            self.n_rejected += n_rejected
            if len(found):
                self.n_rejected = 0
                return first + n_rejected
            if self.n_rejected > self.rejections_allowed:
                self.termination = "confidence_bound"
                return None
            first, length = block.stop, min(2 * length, MAX_BLOCK)
        return None


def duplicate_groups(X):
    """Number the samples so that equal samples have the same number.

    Without label noise, the label of a sample is that of its duplicates. They need not
    be queried, even where an approximate posterior is still uncertain.
    """
    if not sparse.issparse(X):
        return np.unique(X, axis=0, return_inverse=True)[1].ravel()
    X = without_duplicates(sparse.csr_array(X))
    bounds = zip(X.indptr, X.indptr[1:], strict=False)
    keys = [(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in bounds]
    numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys])
