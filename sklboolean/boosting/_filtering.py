"""Boosting by majority on a stream: each round filters the rows that it learns from.

Rows pass with a probability in proportion to their weight in the majority game, and
the rest is forgotten: Figure 2.4 of the thesis. What happens to a row depends on the
rows before it and its number, not on how the stream is cut, nor on who counts votes.
"""

from copy import copy
from itertools import islice

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed

from sklboolean._core.validation import check_choice, check_integer, encode_classes
from sklboolean.boosting._filter_plan import open_filter, plan_filter, random_words
from sklboolean.boosting._filter_votes import (
    count_votes,
    join_rows,
    open_board,
    predict_codes,
)
from sklboolean.boosting._rounds import EDGE_TOLERANCE, WeakLearnerError
from sklboolean.boosting._weak_learners import fit_labels

# Rows whose votes are counted in one go.
PIECE = 8192
# Two sequences of random numbers: one by rows, one by hypotheses.
FOR_ROWS, FOR_HYPOTHESES = 0, 1


class FilterStream:
    """The state of boosting by filtering between two rows of a stream.

    Parameters
    ----------
    base : classifier
        Cloned for each hypothesis. Its predictions for a row must not depend on other
        rows.
    classes : array-like of shape (n_classes,)
        All labels that can occur, at least two.
    mode : {"theory", "practical"}
        "theory": Figure 2.4, with a hypothesis chosen by B_Rel (Figure A.1) in each
        round. "practical": less for the proof, for a hundredth of the rows or fewer.
    gamma, epsilon, delta, reliability, n_samples_weak, max_tries
        As for `plan_filter`.
    on_failure : {"abort", "raise"}
        What to do when no hypothesis of a round passes its test. "abort": take the best
        one if it beats a coin on its test rows, or else a coin, and go on.
    seed : int
        At least 0 and below 2**64.

    Attributes
    ----------
    plan : FilterPlan
    k, gamma : int, float
        Rounds of the game, and the edge for which it weighs.
    classes : ndarray of shape (n_classes,)
    hypotheses : list of fitted classifiers
        One for each round that was not aborted.
    n_rounds, n_aborted : int
        Rounds that ended, and those that ended without a hypothesis.
    edges : list of float
        For each of them the edge on test rows; NaN when aborted or not tested.
    n_seen, n_accepted : list of int
        Rows, for each round that was begun.
    stop_reason : str
        Empty while more rows are wanted; then "rounds", "no edge" when all rounds were
        aborted, or "exhausted".
    """

    def __init__(
        self, base, classes, *, mode="practical", gamma, epsilon, delta=0.1,
        reliability=1.0, n_samples_weak=None, max_tries=1, on_failure="abort", seed=0,
    ):  # fmt: skip
        self.plan = plan_filter(
            mode, gamma, epsilon, delta, reliability=reliability,
            n_samples_weak=n_samples_weak, max_tries=max_tries,
        )  # fmt: skip
        if isinstance(on_failure, str) and on_failure == "replan":
            raise ValueError(
                "on_failure='replan' needs all rows at hand, to count their votes; "
                "on a stream use 'abort' or 'raise'."
            )
        if get_tags(base).input_tags.pairwise:
            raise ValueError(
                "estimator must learn from features: a kernel matrix has a column for "
                "each training row, and a stream forgets its rows."
            )
        self.k, self.gamma = self.plan.n_rounds, self.plan.edge
        self.on_failure = check_choice(on_failure, "on_failure", ["abort", "raise"])
        self.seed = check_integer(seed, "seed", 0, 2**64 - 1)
        self.base, self.classes = base, np.unique(classes)
        if len(self.classes) < 2:
            raise ValueError(
                "classes must hold at least two labels, all that can occur; got "
                f"{self.classes.tolist()}."
            )
        self.hypotheses, self.edges = [], []
        self.n_rounds = self.n_aborted = self._n_fits = 0
        self.n_seen, self.n_accepted = [], []
        self.stop_reason = ""
        self._open_round()

    @property
    def is_done(self):
        """Return whether no more rows are wanted."""
        return bool(self.stop_reason)

    @property
    def n_rejected(self):
        """Return the rows not accepted, for each round that was begun."""
        counts = zip(self.n_seen, self.n_accepted, strict=True)
        return [seen - accepted for seen, accepted in counts]

    def copy(self):
        """Return a state that goes its own way; hypotheses are shared."""
        other = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list):
                setattr(other, name, value.copy())
        return other

    def feed(self, X, y):
        """Take the next rows of the stream.

        Parameters
        ----------
        X : ndarray or sparse CSR array of shape (n_samples, n_features)
            Checked; of the same width in each call.
        y : array-like of shape (n_samples,)
            Labels.

        Raises
        ------
        ValueError
            For labels outside the classes.
        WeakLearnerError
            With ``on_failure="raise"``. As after an error of the base classifier, the
            state is of no more use: feed a copy.
        """
        self.feed_many([(X, y)])

    def feed_many(self, chunks, n_jobs=None):
        """Take the next chunks of the stream, with their votes counted in parallel.

        Workers count the votes of the hypotheses that are known when a chunk is handed
        out. The master takes chunks in order, adds votes of hypotheses made meanwhile,
        and decides about each row: "halt all when one accepts" (section 2.4.4) would
        favour rows that are quick to judge.

        Parameters
        ----------
        chunks : iterable of (X, y)
            As for `feed`. It is read ahead by at most one chunk for each worker, and
            not to its end when the rounds are over before.
        n_jobs : int or None
            As in joblib. The state does not depend on it.

        Raises
        ------
        ValueError, WeakLearnerError
            As `feed`.
        """
        n_workers = effective_n_jobs(n_jobs)
        pieces = self._pieces(chunks)
        with Parallel(n_jobs=n_jobs) as parallel:
            while not self.is_done and (window := list(islice(pieces, n_workers))):
                known = self.hypotheses.copy()
                boards = parallel(
                    delayed(open_board)(X, codes, known, self.classes)
                    for X, codes in window
                )
                for (X, _codes), board in zip(window, boards, strict=True):
                    self._filter(X, board)

    def finish(self):
        """End the stream.

        One that would leave no hypothesis, because it ends within the first round, say,
        leaves one made from the rows accepted so far, not tested.

        Raises
        ------
        ValueError
            If there are no such rows.
        """
        if self.is_done:
            return
        self.stop_reason = "exhausted"
        if not self.hypotheses:
            if not self._batch:
                raise ValueError(
                    "The stream ended before there was a hypothesis, or rows to make "
                    "one from: give it more rows, or a base that beats a coin."
                )
            X, codes = join_rows(self._batch)
            self._end_round(self._fit(X, codes), np.nan)

    def _pieces(self, chunks):
        """Cut chunks into pieces, their labels into class numbers."""
        for X, y in chunks:
            if X.shape[0] == 0:
                continue
            _classes, codes = encode_classes(y, self.classes)
            for start in range(0, len(codes), PIECE):
                rows = slice(start, start + PIECE)
                yield X[rows], codes[rows]

    def _open_round(self):
        """Begin a round, unless all are over."""
        if self.n_rounds == self.k:
            self.stop_reason = "rounds" if self.hypotheses else "no edge"
            return
        self._filter_of_round = open_filter(
            self.plan, self.n_rounds, self.n_aborted, len(self.classes)
        )
        self.n_seen.append(0)
        self.n_accepted.append(0)
        self._n_tries = 0
        self._best = None, -np.inf
        self._empty_batch()

    def _empty_batch(self):
        self._batch, self._n_wanted = [], self.plan.batch_size

    def _filter(self, X, board):
        """Decide about the rows of a piece, through as many rounds as they take."""
        n_samples = len(board.codes)
        words = random_words(self.seed, FOR_ROWS, sum(self.n_seen), n_samples)
        uniform = (words >> np.uint64(11)) * 2.0**-53
        start = 0
        while start < n_samples and not self.is_done:
            count_votes(board, X, self.hypotheses, self.classes)
            states, _unit = board.states_of_rows()
            chances = self._filter_of_round.table.take(states[start:])
            is_accepted = uniform[start:] < chances
            start += self._take(X, board.codes, start, is_accepted)

    def _take(self, X, codes, start, is_accepted):
        """Take rows until the batch is full or the round is aborted.

        Returns
        -------
        n_taken : int
        """
        n_accepted = np.cumsum(is_accepted)
        n_seen = np.arange(1, len(is_accepted) + 1)
        gives_up = ~is_accepted & self._filter_of_round.rejects_too_many(
            self.n_seen[-1] + n_seen, self.n_accepted[-1] + n_accepted
        )
        # One of both ends the piece of the stream; they never meet in one row.
        n_taken = 1 + min(
            np.searchsorted(n_accepted, self._n_wanted),
            np.argmax(gives_up) if gives_up.any() else len(is_accepted),
            len(is_accepted) - 1,
        )
        rows = start + np.flatnonzero(is_accepted[:n_taken])
        self.n_seen[-1] += int(n_taken)
        self.n_accepted[-1] += len(rows)
        self._n_wanted -= len(rows)
        if len(rows):
            self._batch.append((X[rows], codes[rows]))
        if self._n_wanted == 0:
            self._judge_batch()
        elif gives_up[n_taken - 1]:
            self._end_round(None, np.nan)
            self._open_round()
        return int(n_taken)

    def _judge_batch(self):
        """Learn from a full batch, and end the round with a hypothesis that passes."""
        hypothesis, edge = self._best_candidate(*join_rows(self._batch))
        self._empty_batch()
        self._n_tries += 1
        if edge > self._best[1]:
            self._best = hypothesis, edge
        hypothesis, edge = self._best
        passes = edge >= self.plan.required_edge - EDGE_TOLERANCE
        if not passes and self._n_tries < self.plan.max_tries:
            return
        if not passes and self.on_failure == "raise":
            raise WeakLearnerError(
                f"In round {self.n_rounds} the weak learner's edge on test rows is "
                f"{edge:.3g} at best, and {self.plan.required_edge:.3g} was asked for. "
                "Take a stronger estimator, a smaller gamma, more n_samples_weak or "
                "max_tries, or on_weak_failure='abort'."
            )
        if edge > EDGE_TOLERANCE:  # better than a coin (Lemma 2.3.8)
            self._end_round(hypothesis, edge)
        else:
            self._end_round(None, np.nan)
        self._open_round()

    def _best_candidate(self, X, codes):
        """Train hypotheses on parts of a batch and test them on its end: B_Rel.

        Returns
        -------
        hypothesis : fitted classifier
            The first of those with the fewest mistakes.
        edge : float
            On the test rows.
        """
        plan, best, most = self.plan, None, -1
        n_trained = plan.n_candidates * plan.n_train
        X_test, codes_test = X[n_trained:], codes[n_trained:]
        for start in range(0, n_trained, plan.n_train):
            rows = slice(start, start + plan.n_train)
            hypothesis = self._fit(X[rows], codes[rows])
            predicted = predict_codes(hypothesis, X_test, self.classes)
            n_right = int(np.sum(predicted == codes_test))
            if n_right > most:
                best, most = hypothesis, n_right
        return best, most / plan.n_test - 0.5

    def _fit(self, X, codes):
        """Return a new hypothesis, seeded by its number."""
        word = random_words(self.seed, FOR_HYPOTHESES, self._n_fits, 1)[0]
        self._n_fits += 1
        seed = int(word % np.iinfo(np.int32).max)
        return fit_labels(self.base, X, self.classes[codes], seed)

    def _end_round(self, hypothesis, edge):
        """Note a round's hypothesis, or None: a coin that no one needs to throw."""
        if hypothesis is None:
            self.n_aborted += 1
        else:
            self.hypotheses.append(hypothesis)
        self.n_rounds += 1
        self.edges.append(edge)
