"""Boosting over samples in partitions, by sums of whole weights.

The samples of a partition are in the states that the hypotheses so far bring them to,
so that a task may run anywhere.
"""

from dataclasses import dataclass, replace

import numpy as np

from sklboolean._core.held_out import stratified_split
from sklboolean._core.labels import encode_classes
from sklboolean._core.packed_partitions import load_packed
from sklboolean._core.partition_sums import kept_last
from sklboolean.boosting._boosting import boost
from sklboolean.boosting._games import calibration_share
from sklboolean.boosting._stump import (
    DIGIT_BITS,
    LARGEST,
    MANTISSA_BITS,
    BooleanStump,
    Stump,
    quantize_weights,
    stump_of,
    stump_sums,
)
from sklboolean.boosting._votes import MajorityVotes, RoundWeights, vote_margins
from sklboolean.boosting._weak_learners import StumpWeakLearner


def check_by_sums(params, chooser):
    """Refuse parameters of a booster that need all samples in one place."""
    for is_refused, fix in (
        (type(params["estimator"]) is not BooleanStump, "estimator=BooleanStump()"),
        (chooser is not None, "gamma='measured', or n_estimators='auto',"),
        (params["holdout"] is not None, "holdout=None"),
        (params["early_stopping"], "early_stopping=False"),
        (params["sampling"] == "resample", "sampling='auto'"),
    ):
        if is_refused:
            raise _refusal(fix)


def _refusal(fix):
    return ValueError(
        f"by_sums=True: set {fix} or use by_sums=False, which sends the bits of the "
        "samples."
    )


@dataclass(frozen=True)
class BoostingSettings:
    """What a process needs to open the samples of a partition.

    Attributes
    ----------
    worker : estimator
        Loads a partition. Its parameter ``estimator`` is the stump.
    classes : ndarray of shape (n_classes,)
    factors : ndarray of shape (n_classes,), float64, or None
        Of the weights of the samples of each class. None: all weigh alike.
    seeds : tuple of int or None
        For each partition, to draw the samples that train. None: all do.
    share : float
        Of the samples that train.
    """

    worker: object
    classes: np.ndarray
    factors: np.ndarray | None
    seeds: tuple | None = None
    share: float = 1.0

    def open(self, place, source, *, held_out=False):
        """Return `PackedPartition`, codes and weights of samples that train, or not."""
        part = load_packed(place, source, self.worker)
        _, codes = encode_classes(part.y, self.classes)
        weights = None if self.factors is None else part.weights * self.factors[codes]
        used = np.arange(len(codes)) if weights is None else np.flatnonzero(weights)
        if self.seeds is not None:
            rng = np.random.RandomState(self.seeds[place[1]])
            used = used[stratified_split(codes[used], self.share, rng)[held_out]]
        weights = None if weights is None else weights[used]
        return part.words[used], codes[used].astype(np.int16), weights


class BoostingShare:
    """The samples of a partition, their votes, and sums of their weights."""

    def __init__(self, settings, place, source):
        words, codes, weights = settings.open(place, source)
        part, classes = load_packed(place, source, settings.worker), settings.classes
        self.learner = StumpWeakLearner(
            settings.worker.estimator, words, codes, classes, weights, None,
            part.schema.n_features,
        )  # fmt: skip
        self.tests = None

    def at(self, tests):
        """Count the votes of these stumps, and of no others."""
        learner, n_known = self.learner, 0 if self.tests is None else len(self.tests)
        if not n_known or not np.array_equal(self.tests, tests[:n_known]):
            given = learner.codes, learner.n_classes, learner.sample_weight
            self.votes, n_known = MajorityVotes(*given), 0
        for if_false, if_true, literal in tests[n_known:].tolist():
            stump = Stump((literal,) if literal >= 0 else (), if_false, if_true, 0.0)
            self.votes.add(learner.predict_codes(stump))
        self.tests = tests
        return self

    def sizes(self):
        """Return the number of samples, and the least weight."""
        weights, n_samples = self.learner.sample_weight, len(self.learner.codes)
        return n_samples, 1.0 if weights is None else weights.min()

    def _weights(self, table):
        weights = table.take(self.votes.states()[0])
        given = self.learner.sample_weight
        return weights if given is None else weights * given

    def largest_weight(self, table):
        """Return the largest weight of a sample in a round."""
        return self._weights(table).max()

    def state_counts(self, n_states):
        """Return the weight of the samples in each state."""
        counts = self.votes.state_counts()
        return np.pad(counts, (0, n_states - len(counts)))

    def wrong_weight(self):
        """Return the weight of the samples that the vote gets wrong, and of all."""
        return self.votes.wrong_weight()

    def sums(self, table, shift):
        """Return the sums of the weights of a round.

        ``table`` has the weight of each state, int16. With sample weights their
        products are rounded to so many binary digits behind the point.
        """
        learner, weights = self.learner, self._weights(table)
        parts = [(0, weights)]
        if learner.sample_weight is not None:
            whole = np.rint(np.ldexp(weights, shift)).astype(np.int64)
            parts = [
                (digit, (whole >> digit & LARGEST).astype(np.int16))
                for digit in range(0, MANTISSA_BITS, DIGIT_BITS)
            ]
        return stump_sums(learner.columns, learner.signs, parts, np.int64)


def _ask(place, source, settings, tests, name, arguments):
    """Call a method of the share of a partition, after the votes of stumps."""
    share = kept_last(
        (*place, "share"),
        settings.seeds,
        lambda: BoostingShare(settings, place, source),
    )
    return getattr(share.at(tests), name)(*arguments)


def _held_out(place, source, settings, share):
    """Return the words, codes and weights of some samples that do not train."""
    words, codes, weights = settings.open(place, source, held_out=True)
    some = slice(int(np.ceil(share * len(codes))))
    weights = np.ones(len(codes)) if weights is None else weights
    return words[some], codes[some], weights[some]


class PartitionedStumps(StumpWeakLearner):
    """The best stump in each round, over samples that stay where they are.

    Parameters
    ----------
    partitions : PackedPartitions
    settings : BoostingSettings

    Attributes
    ----------
    board : PartitionedVotes
    """

    returns_edge, n_draws, fills_threads, sample_weight = True, None, False, None

    def __init__(self, partitions, settings):
        self.estimator, self.classes = settings.worker.estimator, settings.classes
        self.partitions, self.settings, self.drawn = partitions, settings, []
        self.n_classes = len(self.classes)
        if self.n_classes > 2 and settings.worker.multi_class != "joint":
            raise _refusal("multi_class='joint'")
        self.board = PartitionedVotes(self)
        sizes = self.partitions.map(_ask, settings, self.board.tests(), "sizes", ())
        n_samples, least = zip(*sizes, strict=True)
        self.n_samples, self.least_weight = sum(n_samples), min(least)

    def ask(self, name, *arguments):
        """Add up what the shares of all partitions return."""
        task = self.settings, self.board.tests(), name, arguments
        return self.partitions.add_up(_ask, *task)

    def least_share(self):
        """Compute the share of the lightest sample in the total weight."""
        return float(self.least_weight / self.board.wrong_weight()[1])

    def plays(self, schedule):
        """No rounds are played by compiled code."""
        return False

    def fit(self, weights, rng, round_weights=None):
        """Find the best `Stump`."""
        table = quantize_weights(round_weights.table)
        shift = None if self.settings.factors is None else self._shift(table)
        return stump_of(self.ask("sums", table, shift))

    def _shift(self, table):
        """Choose the binary digits of weights: sums are exact below 2**53."""
        task = self.settings, self.board.tests(), "largest_weight", (table,)
        largest = max(self.partitions.map(_ask, *task))
        return 52 - self.n_samples.bit_length() - int(np.frexp(largest)[1])

    def predict_codes(self, stump):
        """Return the stump: its votes are counted where the samples are."""
        return stump

    def held_out_margins(self, n_most, schedule, rng):
        """Let a share of the samples play a game, and others be voted on.

        Returns
        -------
        margins : ndarray of shape (n_others,) or (n_others, n_classes), float64
        codes : ndarray of shape (n_others,), int
            The class of each, of about ``n_most`` samples.
        weights : ndarray of shape (n_others,), float64
        """
        seeds = rng.randint(2**31, size=1 + max(self.partitions.numbers))
        share = calibration_share(self.n_samples)
        settings = replace(self.settings, seeds=tuple(seeds.tolist()), share=share)
        learner = PartitionedStumps(self.partitions, settings)
        schedule = replace(schedule, weak_failure="abort")
        state = boost(learner, learner.board, schedule, rng, measured=False)
        sent = min(1.0, n_most / max(1, self.n_samples - learner.n_samples))
        parts = self.partitions.map(_held_out, settings, sent)
        words, codes, weights = map(np.concatenate, zip(*parts, strict=True))
        votes = self.votes(state.hypotheses or [state.best_failure], words)
        return vote_margins(votes), codes, weights


class PartitionedVotes(MajorityVotes):
    """Votes that are counted where the samples are.

    Parameters
    ----------
    learner : PartitionedStumps
    """

    def __init__(self, learner):
        self.learner, self.stumps, self.known = learner, [], {}
        self.codes = self.sample_weight = None
        self.n_rounds = self.n_votes = self.n_aborted = 0
        self.wrong = None if learner.n_classes == 2 else ()

    def tests(self):
        """Arrange the stumps as tasks take them."""
        if not self.stumps:
            return np.zeros((0, 3), dtype=np.int64)
        return self.learner.tests(self.stumps)

    def add(self, predicted):
        """Count the votes of a stump; None is a round without a hypothesis."""
        self.count_round(predicted is not None)
        if predicted is not None:
            self.stumps.append(predicted)
            self.known = {}

    def _ask(self, name, *arguments):
        """Ask the shares once after each vote."""
        if name not in self.known:
            self.known[name] = self.learner.ask(name, *arguments)
        return self.known[name]

    def state_counts(self):
        """Compute the weight of the samples in each state."""
        n_states = (1 if self.wrong is None else 2) * self.n_votes + 1
        return np.trim_zeros(self._ask("state_counts", n_states), "b")

    def wrong_weight(self):
        """Compute the weight of the samples that the vote gets wrong, and of all."""
        return self._ask("wrong_weight")

    def weights(self, k, gamma, *, measured=True):
        """Compute the `RoundWeights` of the next round of k; k=0 weighs all alike."""
        if not k:
            return RoundWeights(np.ones(1), None, None)
        return self.weights_of_states(self.state_counts(), k, gamma, measured=measured)
