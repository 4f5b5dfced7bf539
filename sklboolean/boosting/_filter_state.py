"""The state of boosting by filtering: what each round of a stream accepts.

Samples are accepted with a probability in proportion to their weight in the majority
game, and the others are forgotten: Figure 2.4 of the thesis. What happens to a sample
depends on the samples before it and on its number, but not on how the stream is cut
into chunks, nor on the number of workers.
"""

# A round accepts a sample with the probability ``weight of its state / largest weight
# of a state in this round``. It ends
# * with a hypothesis, when `batch_size` samples are accepted: the first ones train it,
#   the others test it; or
# * without one, when too many are rejected for each that is accepted. Then the weights
#   are so small that a fair coin costs no more (Lemma 2.3.8).
# Random numbers belong to the number of a sample (`random_words`), so cutting the
# stream into other pieces, or counting votes in other processes, changes nothing. Votes
# are int64 counts of `MajorityVotes`; n_seen and n_accepted have one number for each
# round.

from copy import copy
from dataclasses import dataclass
from itertools import islice
from math import ceil, log

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags

from sklboolean._core.labels import encode_classes
from sklboolean._core.parallel import count_threads, in_threads
from sklboolean._core.parameters import check_choice, check_integer, check_real
from sklboolean.boosting._boosting import EDGE_TOLERANCE, WeakLearnerError
from sklboolean.boosting._majority_game import check_edge, log_binomial_pmf, min_rounds
from sklboolean.boosting._stump import BooleanStump
from sklboolean.boosting._votes import MajorityVotes
from sklboolean.boosting._weak_learners import fit_labels, is_stump

# Samples whose votes are counted in one call.
PIECE = 8192
# Samples that calibrate the vote, the last ones.
N_HELD_OUT = 1000
# Two sequences of random numbers: one by samples, one by hypotheses.
FOR_SAMPLES, FOR_HYPOTHESES = 0, 1


@dataclass(frozen=True)
class FilterPlan:
    """Settings that are fixed before the first sample is seen.

    Attributes
    ----------
    n_rounds : int
        Rounds of the game, odd.
    edge : float
        The edge for which samples are weighed.
    required_edge : float
        The least edge on test samples with which a hypothesis is accepted.
    n_candidates, n_train, n_test : int
        A batch of accepted samples trains so many hypotheses, each on samples of its
        own, and tests them on the remaining samples.
    max_tries : int
        Batches in a round.
    patience : float
        A round is aborted at a rejected sample when more than this times the weight of
        the heaviest state have been seen for each accepted one.
    delta : float
        Probability of failure allowed.
    weak_failure : {"abort", "raise"}
    """

    n_rounds: int
    edge: float
    required_edge: float
    n_candidates: int
    n_train: int
    n_test: int
    max_tries: int
    patience: float
    delta: float
    weak_failure: str = "abort"

    @property
    def batch_size(self):
        """Largest number of samples that are kept."""
        return self.n_candidates * self.n_train + self.n_test


def plan_filter(
    mode, gamma, target_error, delta, *, weak_learner_success_rate=1.0,
    n_samples_weak=200, max_tries=1, weak_failure="abort",
):  # fmt: skip
    """Plan to boost on a stream until the error is small.

    Parameters are those of `FilteringSchedule`, and are checked here.

    Returns
    -------
    plan : FilterPlan
    """
    check_choice(mode, "mode", ["theory", "practical"])
    gamma = check_edge(gamma)
    error = float(check_real(target_error, "target_error", 0, strict=True, below=0.5))
    delta = float(check_real(delta, "delta", 0, strict=True, below=1))
    rate = weak_learner_success_rate
    check_real(rate, "weak_learner_success_rate", 0, 1, strict=True)
    n_train = check_integer(n_samples_weak, "n_samples_weak", 1)
    max_tries = check_integer(max_tries, "max_tries", 1)
    check_choice(weak_failure, "weak_failure", ["abort", "raise"])
    if mode == "practical":
        # Half of the error is for the game and half for rounds that are aborted, k of
        # them at most: each costs gamma times the mean weight (Lemma 2.3.8), and ends
        # when that is likely to be below error / 2k.
        k = min_rounds(gamma, error / 2)
        return FilterPlan(
            k, gamma, gamma / 2, 1, n_train, n_train, max_tries,
            2 * k * gamma / error, delta, weak_failure,
        )  # fmt: skip
    # Figure 2.4. The edge is halved because B_Rel, Figure A.1, promises no more, and
    # gamma stays whole in the abort rule.
    k = min_rounds(gamma / 2, error**2)
    n_candidates = ceil(log(4 * k / delta) / rate)
    n_test = ceil(8 / gamma**2 * log(4 * k * n_candidates / delta))
    return FilterPlan(
        k, gamma / 2, gamma / 2, n_candidates, n_train, n_test, 1,
        2 * k * gamma / (error * (1 - error)), delta, weak_failure,
    )  # fmt: skip


@dataclass(frozen=True)
class RoundFilter:
    """Acceptance rule of one round, and when it is aborted.

    Attributes
    ----------
    table : ndarray of shape (n_states,), float64
        The probability of acceptance for each state, as `MajorityVotes` numbers states.
    patience : float
        Largest number of samples to see for each accepted one, at least 1.
    n_lenient : float
        So many samples count as accepted from the start.
    """

    table: np.ndarray
    patience: float
    n_lenient: float

    @classmethod
    def of_round(cls, plan, n_rounds, n_aborted, n_classes):
        """Make the filter of the next round.

        Weights are relative to the heaviest state that can occur in the round (Figure
        2.4), whether it does or not: what is accepted must not depend on other samples.
        Fair coins stand for aborted rounds, and weights are means over their outcomes.
        """
        n_votes = n_rounds - n_aborted
        unit = 2 if n_classes == 2 else 1
        states = np.arange(2 // unit * n_votes + 1)
        missing = (plan.n_rounds - unit * states) // 2
        n_left = plan.n_rounds - n_rounds - 1
        logs = log_binomial_pmf(missing, n_left, plan.edge, n_aborted)
        # Of levels 2r + t all can occur but that of one vote short of all: there t is
        # 0. As k is odd, equally many votes are missing at the level below.
        largest = logs.max()
        # Below 1 even the first round, which accepts all, would be aborted.
        patience = max(1.0, plan.patience * float(np.exp(largest)))
        n_lenient = 4 * log(8 * plan.n_rounds * patience / plan.delta)
        return cls(np.exp(logs - largest), patience, n_lenient)

    def rejects_too_many(self, n_seen, n_accepted):
        """Decide whether to abort after a rejected sample: the rule of Figure 2.4."""
        return n_seen > self.patience * np.maximum(n_accepted, self.n_lenient)


class FilterState:
    """The state of boosting by filtering between two samples of a stream.

    Parameters
    ----------
    estimator : classifier
        Cloned for each hypothesis. Its predictions for a sample must not depend on
        other samples.
    classes : array-like of shape (n_classes,)
        All labels that can occur, at least two.
    plan : FilterPlan
    seed : int
        At least 0 and below 2**64.

    Attributes
    ----------
    hypotheses : list of fitted classifiers
        One for each round that was not aborted.
    n_rounds, n_aborted : int
        Number of rounds that ended, and of those without a hypothesis.
    edges : list of float
        For each of them the edge on test samples; NaN when aborted or not tested.
    n_seen, n_accepted : list of int
        Number of samples for each round that was begun.
    held_out : tuple of ndarrays
        Votes for each class and class numbers of the last samples, from before the
        filter decided about them: no hypothesis had been trained on them.
    termination : str or None
        None while more samples are needed; then "all_rounds", "no_edge" when all rounds
        were aborted, or "stream_exhausted".
    """

    def __init__(self, estimator, classes, plan, seed=0):
        if get_tags(estimator).input_tags.pairwise:
            raise ValueError(
                "estimator must learn from features: a kernel matrix has a column for "
                "each training sample, and a stream forgets its samples."
            )
        self.estimator, self.classes, self.plan = estimator, np.unique(classes), plan
        self.seed = check_integer(seed, "seed", 0, 2**64 - 1)
        self.hypotheses, self.edges = [], []
        self.n_rounds = self.n_aborted = self._n_fits = 0
        self.n_seen, self.n_accepted = [], []
        no_votes = np.zeros((0, len(self.classes)), dtype=np.int64)
        self.held_out = no_votes, np.zeros(0, dtype=np.intp)
        self.termination = None
        self._begin_round()

    def copy(self):
        """Copy the state; the hypotheses are shared."""
        other = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list):
                setattr(other, name, value.copy())
        return other

    def update(self, chunks, n_jobs=None):
        """Process the next chunks of the stream, and count their votes in parallel.

        Workers count the votes of the hypotheses that exist when a chunk is handed out.
        The main process takes chunks in order, adds the votes of later hypotheses, and
        decides about each sample: "halt all when one accepts" (section 2.4.4) would
        prefer samples that are quick to judge.

        Parameters
        ----------
        chunks : iterable of (X, y)
            X : ndarray or sparse CSR array of shape (n_samples, n_features), checked,
            of the same width in each chunk; y : array-like of shape (n_samples,). It is
            read ahead by at most one chunk for each worker, and not to its end when
            the rounds are over before.
        n_jobs : int or None
            As in joblib. The state does not depend on it.

        Raises
        ------
        ValueError
            For labels outside the classes.
        WeakLearnerError
            With ``weak_failure="raise"``. As after an error of the estimator, the state
            cannot be used further: update a copy.
        """
        n_threads, pieces = count_threads(n_jobs), self._pieces(chunks)
        while self.termination is None and (window := list(islice(pieces, n_threads))):
            hypotheses = self.hypotheses.copy()
            tasks = ((*piece, hypotheses, self.classes) for piece in window)
            counted = list(in_threads(first_votes, tasks, n_jobs))
            for (X, _codes), votes in zip(window, counted, strict=True):
                self._filter(X, votes)

    def finish(self):
        """End the stream.

        A stream that ends before the first hypothesis, for example within the first
        round, leaves one that is trained on the samples accepted so far, and not
        tested.

        Raises
        ------
        ValueError
            If there are no such samples.
        """
        if self.termination is not None:
            return
        self.termination = "stream_exhausted"
        if not self.hypotheses:
            if not self._batch:
                raise ValueError(
                    "The stream ended before there was a hypothesis, or samples to "
                    "train one. Give it more samples, or an estimator that is better "
                    "than a coin."
                )
            X, codes = join_parts(self._batch)
            self._end_round(self._fit(X, codes), np.nan)

    def _pieces(self, chunks):
        """Cut chunks into pieces, and encode their labels."""
        for X, y in chunks:
            if X.shape[0] == 0:
                continue
            _classes, codes = encode_classes(y, self.classes)
            for start in range(0, len(codes), PIECE):
                samples = slice(start, start + PIECE)
                yield X[samples], codes[samples]

    def _begin_round(self):
        """Begin a round, unless all are over."""
        if self.n_rounds == self.plan.n_rounds:
            self.termination = "all_rounds" if self.hypotheses else "no_edge"
            return
        self._round_filter = RoundFilter.of_round(
            self.plan, self.n_rounds, self.n_aborted, len(self.classes)
        )
        self.n_seen.append(0)
        self.n_accepted.append(0)
        self._n_tries, self._best = 0, (None, -np.inf)
        self._batch, self._n_wanted = [], self.plan.batch_size

    def _end_round(self, hypothesis, edge):
        """Record a round; None stands for a coin, which nobody needs to toss."""
        if hypothesis is None:
            self.n_aborted += 1
        else:
            self.hypotheses.append(hypothesis)
        self.n_rounds += 1
        self.edges.append(edge)

    def _filter(self, X, votes):
        """Decide about the samples of a piece, through as many rounds as they take."""
        n_samples = len(votes.codes)
        words = random_words(self.seed, FOR_SAMPLES, sum(self.n_seen), n_samples)
        uniform = (words >> np.uint64(11)) * 2.0**-53
        start = 0
        while start < n_samples and self.termination is None:
            count_votes(votes, X, self.hypotheses, self.classes)
            states, _unit = votes.states()
            probabilities = self._round_filter.table.take(states[start:])
            is_accepted = uniform[start:] < probabilities
            end = start + self._take(X, votes.codes, start, is_accepted)
            if votes.n_votes:
                last = slice(max(start, end - N_HELD_OUT), end)
                new = votes.of_classes(last), votes.codes[last]
                pairs = zip(self.held_out, new, strict=True)
                self.held_out = tuple(
                    np.concatenate(old_and_new)[-N_HELD_OUT:] for old_and_new in pairs
                )
            start = end

    def _take(self, X, codes, start, is_accepted):
        """Take samples until the batch is full or the round is aborted.

        Returns
        -------
        n_taken : int
        """
        n_accepted = np.cumsum(is_accepted)
        n_seen = np.arange(1, len(is_accepted) + 1)
        aborts = ~is_accepted & self._round_filter.rejects_too_many(
            self.n_seen[-1] + n_seen, self.n_accepted[-1] + n_accepted
        )
        # One of the two ends the piece of the stream; both never fall on one sample.
        n_taken = 1 + min(
            np.searchsorted(n_accepted, self._n_wanted),
            np.argmax(aborts) if aborts.any() else len(is_accepted),
            len(is_accepted) - 1,
        )
        samples = start + np.flatnonzero(is_accepted[:n_taken])
        self.n_seen[-1] += int(n_taken)
        self.n_accepted[-1] += len(samples)
        self._n_wanted -= len(samples)
        if len(samples):
            self._batch.append((X[samples], codes[samples]))
        if self._n_wanted == 0:
            self._judge_batch()
        elif aborts[n_taken - 1]:
            self._end_round(None, np.nan)
            self._begin_round()
        return int(n_taken)

    def _judge_batch(self):
        """Train on a full batch, and end the round with a hypothesis that passes."""
        hypothesis, edge = self._best_candidate(*join_parts(self._batch))
        self._batch, self._n_wanted = [], self.plan.batch_size
        self._n_tries += 1
        if edge > self._best[1]:
            self._best = hypothesis, edge
        hypothesis, edge = self._best
        passes = edge >= self.plan.required_edge - EDGE_TOLERANCE
        if not passes and self._n_tries < self.plan.max_tries:
            return
        if not passes and self.plan.weak_failure == "raise":
            raise WeakLearnerError(
                f"In round {self.n_rounds} the edge on test samples is {edge:.3g} at "
                f"best, but {self.plan.required_edge:.3g} is required. Use a stronger "
                "estimator, a smaller gamma, more n_samples_weak or max_tries, or "
                "weak_failure='abort'."
            )
        if edge > EDGE_TOLERANCE:  # better than a coin (Lemma 2.3.8)
            self._end_round(hypothesis, edge)
        else:
            self._end_round(None, np.nan)
        self._begin_round()

    def _best_candidate(self, X, codes):
        """Train hypotheses on parts of a batch and test them on its end: B_Rel.

        Returns
        -------
        hypothesis : fitted classifier
            The first of those with the fewest mistakes.
        edge : float
            On the test samples.
        """
        plan, best, most_right = self.plan, None, -1
        n_trained = plan.n_candidates * plan.n_train
        X_test, codes_test = X[n_trained:], codes[n_trained:]
        for start in range(0, n_trained, plan.n_train):
            samples = slice(start, start + plan.n_train)
            hypothesis = self._fit(X[samples], codes[samples])
            predicted = predict_codes(hypothesis, X_test, self.classes)
            n_right = int(np.sum(predicted == codes_test))
            if n_right > most_right:
                best, most_right = hypothesis, n_right
        return best, most_right / plan.n_test - 0.5

    def _fit(self, X, codes):
        """Fit a new hypothesis, with a seed by its number."""
        word = random_words(self.seed, FOR_HYPOTHESES, self._n_fits, 1)[0]
        self._n_fits += 1
        seed = int(word % np.iinfo(np.int32).max)
        y = self.classes[codes]
        if is_stump(self.estimator) and (codes != codes[0]).any():
            # Its ``fit`` would judge the columns of a batch, which may hold copies of a
            # few samples; those of all samples are judged already.
            return self.estimator._fitted_clone(X, y)
        return fit_labels(self.estimator, X, y, seed)


def first_votes(X, codes, hypotheses, classes):
    """Count the votes of hypotheses on new samples."""
    return count_votes(MajorityVotes(codes, len(classes)), X, hypotheses, classes)


def count_votes(votes, X, hypotheses, classes):
    """Count the votes of hypotheses that have not voted yet; return the counts."""
    for hypothesis in hypotheses[votes.n_votes :]:
        votes.add(predict_codes(hypothesis, X, classes))
    return votes


def predict_codes(hypothesis, X, classes):
    """Predict class numbers.

    Parameters
    ----------
    hypothesis : fitted classifier
    X : ndarray or sparse array of shape (n_samples, n_features)
        Checked.
    classes : ndarray of shape (n_classes,)
    """
    if type(hypothesis) is BooleanStump:
        return np.searchsorted(classes, hypothesis._predict_checked(X))
    return np.searchsorted(classes, hypothesis.predict(X))


def join_parts(pieces):
    """Join the parts of a batch, pairs of features and class numbers."""
    features, codes = zip(*pieces, strict=True)
    if any(sparse.issparse(X) for X in features):
        X = sparse.vstack([sparse.csr_array(X) for X in features], format="csr")
    else:
        X = np.concatenate(features)
    return X, np.concatenate(codes)


def random_words(seed, purpose, start, n_words):
    """Draw random 64-bit words by their numbers, whichever were drawn before.

    Parameters
    ----------
    seed, purpose : int
        Each pair has a sequence of its own.
    start, n_words : int
        The number of the first word, and how many.
    """
    # A counter in each step of the generator gives four words.
    blocks, skipped = divmod(start, 4)
    key = np.array([seed, purpose], dtype=np.uint64)
    generator = np.random.Philox(key=key).advance(blocks)
    return generator.random_raw(n_words + skipped)[skipped:]
