"""The state of QueryByCommittee: labels, gains, and the query loops."""

# A pool: until labels of two classes, and the initial ones, are known, choose at
# random. Then score the candidates by the committee, query the best, and fit the
# committee again. It ends when the mean disagreement of the candidates is below 1 /
# t_n, as a stream of them would be expected to. A stream (Figure 3.2 of the thesis):
# two members are drawn for each sample; the label is queried if they differ; t_n
# rejections in a row end it. Labels are kept in the order in which they came: given
# ones first, then queried ones.

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from sklboolean._core.labels import distinct_labels
from sklboolean._core.sparse_structure import without_duplicates
from sklboolean.active_learning._disagreement import label_entropy
from sklboolean.active_learning._halfspace_version_space import (
    ProjectedSamples,
    stack_samples,
)
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
    max_queries : float
        Maximum number of labels to query; infinity: no limit.
    ties, coins : RandomState
        For ties, and for the coins of a stream. They are separate, so that the coins
        of a sample do not depend on what else was drawn.
    final_seed : int
        Seed of the final estimator.
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
        Index of each queried sample (-1: taught without a query), information of each
        label, and label entropy before each choice.
    skipped : ndarray, sparse array or None
        Samples whose label is not known by those who were asked.
    skipped_indices : list
        Their indices.
    termination : str or None
    pending : tuple or None
        Samples that wait for their labels, and their indices.
    """

    committee: object
    score: object
    epsilon: float | None
    delta: float
    n_initial: int
    max_queries: float
    ties: np.random.RandomState
    coins: np.random.RandomState
    final_seed: int
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
    skipped: np.ndarray | None = None
    skipped_indices: list = field(default_factory=list)
    termination: str | None = None
    pending: tuple | None = None

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
            self.check_type(y)
            X, y = stack_samples(self.X, X), np.concatenate([self.y, y])
            weights = np.concatenate([self.weights, weights])
        labels = distinct_labels(y)
        classes = labels if self.given_classes is None else self.given_classes
        # kind="table" fails for unsigned integers.
        is_other = ~np.isin(labels, classes, kind="sort")
        if is_other.any():
            raise ValueError(
                f"{labels[is_other].tolist()[0]!r} is not among the classes "
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

    def check_type(self, y):
        """Refuse numbers among labels that are words, and words among numbers."""
        if (self.y.dtype.kind in "US") != (y.dtype.kind in "US"):
            raise ValueError(
                f"The labels so far are like {self.y.tolist()[0]!r}; "
                f"{y.tolist()[0]!r} is of another type."
            )

    def skip(self, X, indices):
        """Remember samples whose label is not known: they are not queried again."""
        self.skipped = stack_samples(self.skipped, X)
        self.skipped_indices.extend(indices)

    def not_skipped(self, X):
        """Select the samples that are equal to no skipped one."""
        if self.skipped is None:
            return np.arange(X.shape[0])
        skipped = set(sample_keys(self.skipped))
        return np.flatnonzero([key not in skipped for key in sample_keys(X)])

    def indices_of(self, X):
        """Find the indices of samples among those that wait for a label; -1: none."""
        if self.pending is None:
            return np.full(X.shape[0], -1)
        waiting = {}
        for key, index in zip(
            sample_keys(self.pending[0]), self.pending[1], strict=True
        ):
            waiting.setdefault(key, []).append(index)
        indices_of_equals = [waiting.get(key) for key in sample_keys(X)]
        return np.array(
            [equal.pop(0) if equal else -1 for equal in indices_of_equals], dtype=int
        )

    def with_corrections(self, X, y, has_label, committee):
        """Create a state in which some labels are replaced.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
            Samples that have a label. Their duplicates get the same label.
        y : ndarray of shape (n_samples,)
        has_label : ndarray of shape (n_samples,), bool
            False: the label is removed.
        committee : EnsembleCommittee or VersionSpaceCommittee
            A new one. It is fitted to all labels.

        Returns
        -------
        state : QueryState
        """
        taught = sample_keys(self.X) if self.n_labels else []
        keys = sample_keys(X)
        absent = [i for i, key in enumerate(keys) if key not in set(taught)]
        if absent:
            raise ValueError(
                f"Sample {absent[0]} of X has no label yet, so there is nothing to "
                "correct. Use teach for new labels."
            )
        # Of equal samples in X the last label counts.
        latest = dict(zip(keys, range(len(keys)), strict=True))
        source = np.array([latest.get(key, -1) for key in taught])
        labels, is_kept = self.y, (source < 0) | has_label[source]
        if has_label.any():
            self.check_type(y)
            labels = np.where(source < 0, self.y, y[source])
        n_given = self.n_labels - self.n_queries
        state = replace(
            self, committee=committee, classes=self.given_classes, X=None, y=None,
            weights=None, n_labels=0, n_queries=0, n_fitted=0, n_agreements=0, gains=[],
            query_indices=[], entropies=list(self.entropies), termination=None,
        )  # fmt: skip
        kept_index = np.flatnonzero(is_kept)
        n_kept_given = np.searchsorted(kept_index, n_given)
        for samples in np.split(kept_index, [n_kept_given]):
            if len(samples):
                queried = bool(samples[0] >= n_given)
                indices = [self.query_indices[i - n_given] for i in samples if queried]
                old = self.X[samples], labels[samples], self.weights[samples]
                state.add(*old, indices, queried=queried)
        return state

    def query(self, X, n):
        """Choose samples of a pool that were not skipped, and wait for their labels.

        Returns
        -------
        indices : ndarray of shape (at most n,), int
        utilities : ndarray of shape (n_samples,), float64
            NaN for samples that are no candidates.
        """
        candidates = self.not_skipped(X)
        indices, utilities = candidates[:0], np.full(X.shape[0], np.nan)
        self.n_seen = max(self.n_seen, self.n_labels + X.shape[0])
        n, self.termination = min(n, self.max_queries - self.n_queries), None
        if n <= 0:
            self.termination = "max_queries"
        elif not len(candidates):
            self.termination = "pool_exhausted"
        else:
            chosen, utilities[candidates] = self.choose(X[candidates], int(n))
            indices = candidates[chosen]
        self.pending = X[indices], indices.tolist()
        return indices, utilities

    def query_one(self, x):
        """Decide if the label of the next sample of a stream is queried."""
        if self.termination != "confidence_bound":
            self.termination = None
        if self.n_queries >= self.max_queries:
            self.termination = "max_queries"
        coins = self.coins.random_sample((1, 2))
        is_queried = not self.termination and self.next_query(x, coins, 0) is not None
        self.pending = (x, [self.n_seen - 1]) if is_queried else None
        return is_queried

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
        scores : ndarray of shape (n_samples,)
            By the strategy; 0 until the committee can predict.
        """
        n = min(n, X.shape[0])
        if self.n_missing:
            chosen = self.ties.choice(X.shape[0], n, replace=False)
            return chosen, np.zeros(X.shape[0])
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
        if scores.shape != (X.shape[0],) or np.isnan(scores).any():
            received = (
                "NaN" if scores.shape == (X.shape[0],) else f"shape {scores.shape}"
            )
            raise ValueError(
                f"strategy must return one score for each of the {X.shape[0]} samples; "
                f"it returned {received}."
            )
        return choose_samples(scores, X, n, self.ties, self.committee.kernel), scores

    def query_pool(self, X, weights, candidates, oracle, report, initial, batch_size):
        """Query the labels of the best samples of a pool.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
        weights : ndarray of shape (n_samples,)
        candidates : ndarray of shape (n_samples,), bool
            Samples that may be queried.
        oracle : callable
            ``oracle(indices)`` returns their labels, and which of these are missing.
        report : callable
            Called after every batch.
        initial : array-like of int, or None
            Samples to begin with. A number is ignored.
        batch_size : int
            Number of labels at a time.
        """
        initial = np.unique(initial) if np.ndim(initial) else None
        if initial is not None:
            outside = (initial < 0) | (initial >= len(candidates))
            if outside.any() or not candidates[initial].all():
                raise ValueError(
                    f"initial={initial.tolist()} must be indices of samples of X that "
                    "can be queried."
                )
        self.n_seen += int(candidates.sum())
        remaining = np.flatnonzero(candidates)
        groups = np.arange(X.shape[0])
        if self.committee.label_noise == 0:
            # The label of a sample is that of its duplicates, even where an
            # approximate posterior is still uncertain.
            keys = sample_keys(X)
            numbers = dict(zip(keys, range(len(keys)), strict=True))
            groups = np.array([numbers[key] for key in keys])
        pool = self.committee.project(X[remaining])
        while True:
            n = min(self.max_queries - self.n_queries, len(remaining))
            if n <= 0:
                self.termination = "max_queries" if len(remaining) else "pool_exhausted"
                return
            if initial is not None:
                chosen, initial = initial[: int(n)], None
            else:
                n_best = max(self.n_missing, batch_size)
                chosen = remaining[self.choose(pool, int(min(n, n_best)))[0]]
                if self.termination:
                    return
            self.learn(X, weights, chosen, oracle)
            unlabelled = np.flatnonzero(~np.isin(groups[remaining], groups[chosen]))
            remaining, pool = remaining[unlabelled], pool[unlabelled]
            if report():
                self.termination = "callback"
                return

    def query_stream(self, X, oracle, report, offset):
        """Query the samples on which two members disagree; read each sample once.

        The parameters are those of ``query_pool``. ``offset`` is the number of samples
        of the stream before X.
        """
        coins, weights = self.coins.random_sample((X.shape[0], 2)), np.ones(X.shape[0])
        position = 0
        while not self.termination:
            if self.n_queries >= self.max_queries:
                self.termination = "max_queries"
                return
            index = self.next_query(X, coins, position)
            if index is None:
                return
            position = index + 1
            self.learn(X, weights, np.array([index]), oracle, offset)
            if report():
                self.termination = "callback"
                return

    def learn(self, X, weights, chosen, oracle, offset=0):
        """Ask for the labels of some samples of X, and learn those that are known."""
        labels, missing = oracle(chosen + offset)
        labelled, unlabelled = chosen[~missing], chosen[missing]
        if len(unlabelled):
            self.skip(X[unlabelled], (unlabelled + offset).tolist())
        if len(labelled):
            indices = (labelled + offset).tolist()
            self.add(X[labelled], labels[~missing], weights[labelled], indices)

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
            disagreeing = np.flatnonzero(predictions.draw_disagreement(coins[block]))
            n_rejected = int(disagreeing[0]) if len(disagreeing) else block.stop - first
            self.n_seen += n_rejected + bool(len(disagreeing))
            self.n_rejected += n_rejected
            if len(disagreeing):
                self.n_rejected = 0
                return first + n_rejected
            if self.n_rejected > self.rejections_allowed:
                self.termination = "confidence_bound"
                return None
            first, length = block.stop, min(2 * length, MAX_BLOCK)
        return None


def sample_keys(X):
    """Compute a key of each sample; equal samples have equal keys."""
    if sparse.issparse(X):
        X = without_duplicates(sparse.csr_array(X))
        indices, data = X.indices.astype(np.int64), X.data.astype(float)
        bounds = zip(X.indptr, X.indptr[1:], strict=False)
        return [(indices[a:b].tobytes(), data[a:b].tobytes()) for a, b in bounds]
    if X.dtype.kind not in "buif":
        # NaN is not equal to itself.
        return [
            tuple(None if value != value else value for value in sample)
            for sample in X.tolist()
        ]
    # The sum turns -0.0 into 0.0.
    return [sample.tobytes() for sample in np.ascontiguousarray(X, dtype=float) + 0.0]
