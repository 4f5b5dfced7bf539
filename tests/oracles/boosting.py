"""Slow twins of boost-by-majority, by definition and in exact fractions."""

from fractions import Fraction
from functools import cache
from itertools import (
    chain,
    combinations,
    combinations_with_replacement,
    product,
    repeat,
)
from math import comb, log

import numpy as np
from sklearn.base import clone

HALF = Fraction(1, 2)


@cache
def weight(k, i, r, gamma):
    """The weight of state r by the recursion before (2.1)."""
    if i == k - 1:
        return Fraction(r == k // 2)
    wrong, right = weight(k, i + 1, r, gamma), weight(k, i + 1, r + 1, gamma)
    return (HALF - gamma) * wrong + (HALF + gamma) * right


@cache
def potential(k, i, r, gamma):
    """The potential of state r by (2.5) and (2.6)."""
    if i == k:
        return Fraction(2 * r <= k)
    wrong, right = potential(k, i + 1, r, gamma), potential(k, i + 1, r + 1, gamma)
    return (HALF - gamma) * wrong + (HALF + gamma) * right


@cache
def potential_of_votes(k, right, wrong, gamma):
    """The potential of an example with several labels, from all of its votes.

    ``wrong`` holds the votes for each wrong label. A hypothesis that errs picks the
    worst of them; at the end the right label must have strictly the most votes.
    """
    if right + sum(wrong) == k:
        return Fraction(right <= max(wrong))
    worst = max(
        potential_of_votes(k, right, with_one_more(wrong, label), gamma)
        for label in range(len(wrong))
    )
    best = potential_of_votes(k, right + 1, wrong, gamma)
    return (HALF - gamma) * worst + (HALF + gamma) * best


def with_one_more(wrong, label):
    """The votes for the wrong labels, sorted, after one more for a label."""
    votes = list(wrong)
    votes[label] += 1
    return tuple(sorted(votes))


def binomial(n, j, p):
    """The binomial probability of j among n."""
    return comb(n, j) * p**j * (1 - p) ** (n - j) if 0 <= j <= n else Fraction(0)


def tail(k, gamma):
    """The left side of (2.2): at most half of k votes are right."""
    return sum(binomial(k, j, HALF + gamma) for j in range(k // 2 + 1))


def play(k, gamma, fractions_marked):
    """Play the game on a divisible space against the weights of the recursion.

    ``fractions_marked(i, weights)`` is the chooser's. Returns the average potentials.
    """
    values = [Fraction(1)]
    potentials = [tail(k, gamma)]
    for i in range(k):
        masses = [q * weight(k, i, r, gamma) for r, q in enumerate(values)]
        total = sum(masses)
        weights = [mass / total if total else Fraction(0) for mass in masses]
        marked = [
            q * x for q, x in zip(values, fractions_marked(i, weights), strict=True)
        ]
        stay = [q - x for q, x in zip(values, marked, strict=True)] + [Fraction(0)]
        move = [Fraction(0)] + marked
        values = [a + b for a, b in zip(stay, move, strict=True)]
        potentials.append(
            sum(q * potential(k, i + 1, r, gamma) for r, q in enumerate(values))
        )
    return potentials


def mark_in_order(order, weights, quota):
    """Mark states in an order until they have so much of the weight."""
    fractions = [Fraction(0)] * len(weights)
    left = Fraction(quota)
    for r in order:
        if weights[r]:
            fractions[r] = min(Fraction(1), left / weights[r])
            left -= fractions[r] * weights[r]
    return fractions


__all__ = ["all_stumps", "best_of_all_stumps", "right_weight"]


def all_stumps(n_features, n_classes):
    """Every constant, then every feature with every pair of classes.

    A stump is (feature, class where false, class where true); a constant has -1.
    """
    for code in range(n_classes):
        yield -1, code, code
    for feature in range(n_features):
        for if_false, if_true in product(range(n_classes), repeat=2):
            yield feature, if_false, if_true


def right_weight(stump, X, codes, weights):
    """The weight of the rows on which a stump is right, a Fraction."""
    feature, if_false, if_true = stump
    return sum(
        (
            Fraction(weight)
            for x, code, weight in zip(X, codes, weights, strict=True)
            if code == (if_true if feature >= 0 and x[feature] else if_false)
        ),
        start=Fraction(0),
    )


def best_of_all_stumps(X, codes, weights, n_classes):
    """The first stump of the most right weight, and its edge, a Fraction."""
    total = sum(map(Fraction, weights))
    # max keeps the first of equals.
    stump = max(
        all_stumps(len(X[0]), n_classes),
        key=lambda stump: right_weight(stump, X, codes, weights),
    )
    return stump, right_weight(stump, X, codes, weights) / total - Fraction(1, 2)


class RowByRow:
    """The vote counts by definition: for each row the votes for every label."""

    def __init__(self, codes, n_classes, values=None):
        self.codes = [int(code) for code in codes]
        self.votes = [[0] * n_classes for _ in self.codes]
        given = [1] * len(self.codes) if values is None else values
        self.values = [Fraction(float(value)) for value in given]
        self.n_rounds = self.n_aborted = 0

    def add(self, predicted):
        """Count one vote for each row; None is a round whose votes are fair coins."""
        self.n_rounds += 1
        if predicted is None:
            self.n_aborted += 1
            return
        for row, label in enumerate(predicted):
            self.votes[row][label] += 1

    def state(self, row):
        """The votes for the right label, and the sorted votes for the others."""
        wrong = list(self.votes[row])
        right = wrong.pop(self.codes[row])
        return right, tuple(sorted(wrong))

    def mean(self, numbers):
        """Average numbers of rows by what rows count."""
        pairs = zip(self.values, numbers, strict=True)
        return sum(v * x for v, x in pairs) / sum(self.values)

    def error(self):
        """The share of the value without a strict majority for the right label."""
        states = [self.state(row) for row in range(len(self.codes))]
        return self.mean([int(right <= wrong[-1]) for right, wrong in states])

    def over_coins(self, row, function):
        """Average over the coins: those that are wrong go to the strongest label."""
        right, wrong = self.state(row)
        total = Fraction(0)
        for heads in range(self.n_aborted + 1):
            tails = self.n_aborted - heads
            others = (*wrong[:-1], wrong[-1] + tails)
            chance = binomial(self.n_aborted, heads, HALF)
            total += chance * function(right + heads, others)
        return total

    def potentials(self, k, gamma):
        """The chance of loss of each row."""
        return [
            self.over_coins(row, lambda r, w: potential_of_votes(k, r, w, gamma))
            for row in range(len(self.codes))
        ]

    def weights(self, k, gamma):
        """What the next vote changes for each row."""

        def change(right, wrong):
            worst = max(
                potential_of_votes(k, right, with_one_more(wrong, label), gamma)
                for label in range(len(wrong))
            )
            return worst - potential_of_votes(k, right + 1, wrong, gamma)

        return [self.over_coins(row, change) for row in range(len(self.codes))]

    def edge(self, weights, predicted):
        """The share of the weight that votes are right about, less 1/2."""
        masses = [v * w for v, w in zip(self.values, weights, strict=True)]
        pairs = zip(masses, predicted, self.codes, strict=True)
        return sum(m for m, label, code in pairs if label == code) / sum(masses) - HALF


def play_by_definition(codes, n_classes, values, votes, k, gamma):
    """Play k rounds of votes without edge tests but the sign; stop when decided.

    Returns
    -------
    rounds : list of dict
        "edge", "potential" before the round, "mean" weight, "aborted".
    vote_counts : RowByRow
    """
    vote_counts, rounds = RowByRow(codes, n_classes, values), []
    for predicted in votes[:k]:
        weights = vote_counts.weights(k, gamma)
        if not any(weights):
            break
        edge = vote_counts.edge(weights, predicted)
        rounds.append(
            {
                "edge": edge,
                "potential": vote_counts.mean(vote_counts.potentials(k, gamma)),
                "mean": vote_counts.mean(weights),
                "aborted": edge <= 0,
            }
        )
        if edge > 0:
            vote_counts.add(predicted)
        else:
            vote_counts.add(None)
    return rounds, vote_counts


class ScriptedLearner:
    """A weak learner that returns prepared votes, the last one for ever."""

    returns_edge = False

    def __init__(self, votes, n_classes=2):
        self.n_classes, self.shown, self.drawn = n_classes, [], []
        votes = [np.asarray(vote) for vote in votes]
        self.script = chain(votes, repeat(votes[-1]))

    def fit(self, weights, rng, shown=None):
        """Return the next votes, and remember the weights."""
        self.shown.append(weights.copy())
        return next(self.script)

    def predict_codes(self, hypothesis):
        """Return the votes themselves."""
        return hypothesis


class PromisingLearner:
    """A weak learner that is right about 1/2 + gamma of the weight, and little more.

    Which rows it gives up is up to it: the heaviest, the lightest, or any. The wrong
    label is the strongest so far, a fixed one, or any.
    """

    returns_edge = False

    def __init__(self, codes, n_classes, gamma, gives_up="any", errs="any"):
        self.codes, self.n_classes = codes, n_classes
        self.gamma, self.gives_up, self.errs = gamma, gives_up, errs
        self.drawn = []

    def fit(self, weights, rng, shown=None):
        """Return votes that keep the promise."""
        keys = {
            "any": rng.random_sample(len(weights)),
            "heaviest": weights,
            "lightest": -weights,
        }
        # The first are those that it is right about.
        order = np.argsort(keys[self.gives_up], kind="stable")
        total = np.cumsum(weights[order])
        n_right = np.searchsorted(total, (0.5 + self.gamma) * total[-1]) + 1
        n_classes = self.n_classes
        shift = np.ones(len(weights), dtype=np.intp)
        if self.errs == "any":
            shift = rng.randint(1, n_classes, len(weights))
        predicted = (self.codes + shift) % n_classes
        right = order[:n_right]
        predicted[right] = self.codes[right]
        return predicted

    def predict_codes(self, hypothesis):
        """Return the votes themselves."""
        return hypothesis


class RoundAborted(Exception):
    """The filter rejects too many rows."""


class StreamEnded(Exception):
    """No rows are left."""


@cache
def weight_of_votes(k, i, right, wrong, gamma, n_aborted):
    """(2.21) corrected, averaged over the outcomes of coins for aborted rounds.

    ``wrong`` holds the votes for each wrong label that has some.
    """
    others = sum(wrong) - max(wrong, default=0)
    return sum(
        Fraction(comb(n_aborted, heads), 2**n_aborted)
        * binomial(k - i - 1, (k - others) // 2 - right - heads, HALF + gamma)
        for heads in range(n_aborted + 1)
    )


@cache
def largest_weight(k, i, gamma, n_aborted, n_classes):
    """The weight of the heaviest example among all that the votes could make."""
    n_votes = i - n_aborted
    weights = []
    for ballots in combinations_with_replacement(range(n_classes), n_votes):
        counts = [ballots.count(label) for label in range(n_classes)]
        wrong = tuple(sorted(counts[1:]))  # the right label is number 0
        weights.append(weight_of_votes(k, i, counts[0], wrong, gamma, n_aborted))
    return max(weights)


class SlowFilter:
    """Boosting by filtering as it is written down, with rows drawn one at a time.

    ``plan`` is that of the code under test, its numbers are tested elsewhere. The edge
    of its game is a fraction here.
    """

    def __init__(self, base, classes, plan, edge, seed):
        self.base, self.classes = base, list(classes)
        self.plan, self.edge = plan, edge
        rows = np.random.Philox(key=[seed, 0])
        self.random = np.random.Generator(rows)
        self.hypotheses, self.edges = [], []
        self.n_seen, self.n_accepted = [], []
        self.termination = None

    def run(self, X, y):
        """Boost on a whole stream."""
        self.rows = iter(zip(X, y, strict=True))
        for i in range(self.plan.n_rounds):
            self.i, self.n_aborted = i, int(np.isnan(self.edges).sum())
            self.n_seen.append(0)
            self.n_accepted.append(0)
            try:
                hypothesis, edge = self.learn_reliably()
            except RoundAborted:
                hypothesis, edge = None, np.nan
            except StreamEnded:
                self.termination = "stream_exhausted"
                return self
            self.edges.append(edge)
            if hypothesis is not None:
                self.hypotheses.append(hypothesis)
        self.termination = "all_rounds" if self.hypotheses else "no_edge"
        return self

    def learn_reliably(self):
        """Figure A.1; again, if the best hypothesis fails and tries are left."""
        plan, tried = self.plan, []
        for _try in range(plan.max_tries):
            batches = [
                [self.filtered_example() for _row in range(plan.n_train)]
                for _candidate in range(plan.n_candidates)
            ]
            test = [self.filtered_example() for _row in range(plan.n_test)]
            for batch in batches:
                hypothesis = self.weak_learn(batch)
                n_right = sum(hypothesis(x) == label for x, label in test)
                tried.append((n_right / plan.n_test - 0.5, hypothesis))
            # The first of the best.
            edge, hypothesis = max(tried, key=lambda pair: pair[0])
            if edge >= plan.required_edge - 1e-12:
                break
        return (hypothesis, edge) if edge > 1e-12 else (None, np.nan)

    def filtered_example(self):
        """Subroutine FiltEX of Figure 2.4."""
        plan, k, i = self.plan, self.plan.n_rounds, self.i
        largest = largest_weight(
            k, i, self.edge, self.n_aborted, n_classes=len(self.classes)
        )
        patience = max(1.0, plan.patience * float(largest))
        while True:
            try:
                x, label = next(self.rows)
            except StopIteration:
                raise StreamEnded from None
            self.n_seen[-1] += 1
            votes = [hypothesis(x) for hypothesis in self.hypotheses]
            wrong = [votes.count(other) for other in set(votes) - {label}]
            weight = weight_of_votes(
                k, i, votes.count(label), tuple(sorted(wrong)), self.edge,
                self.n_aborted,
            )  # fmt: skip
            if Fraction(self.random.random()) < weight / largest:
                self.n_accepted[-1] += 1
                return x, label
            lenient = 4 * log(8 * k * patience / plan.delta)
            if self.n_seen[-1] > patience * max(self.n_accepted[-1], lenient):
                raise RoundAborted

    def weak_learn(self, batch):
        """Return a function from a row to a label."""
        X = np.array([x for x, _label in batch])
        y = np.array([label for _x, label in batch])
        if len(set(y)) == 1:
            return lambda _x: y[0]
        model = clone(self.base).fit(X, y)
        return lambda x: model.predict(x[None])[0]


@cache
def chance_that_the_vote_decides(k, i, r, gamma):
    """Enumerate the votes of the learners after learner i, right with 1/2 + gamma.

    The vote of learner i decides if the row is won with it and lost without it.
    """
    total = Fraction(0)
    for votes in product([0, 1], repeat=k - i - 1):
        right = r + sum(votes)
        if 2 * right < k < 2 * (right + 1):
            chance = Fraction(1)
            for vote in votes:
                chance *= HALF + gamma if vote else HALF - gamma
            total += chance
    return total


@cache
def heaviest_state(k, i, gamma):
    """The largest chance that a row can have at learner i."""
    return max(chance_that_the_vote_decides(k, i, r, gamma) for r in range(i + 1))


def relative_weight(k, i, r, gamma):
    """The weight that learner i gives to a row about which r before it were right."""
    chance = chance_that_the_vote_decides(k, i, r, gamma)
    return chance / heaviest_state(k, i, gamma)


class Perceptron:
    """The averaged perceptron on one row at a time: the sum of its hypotheses."""

    def __init__(self, n_columns):
        self.current = [Fraction(0)] * n_columns
        self.total = [Fraction(0)] * n_columns

    def vote(self, row):
        """The sign of the summed hypotheses' score."""
        return sign_of(score(self.total, row))

    def learn(self, row, sign, weight):
        """Correct a mistake, then count the hypothesis with the row's weight."""
        if weight and sign * score(self.current, row) <= 0:
            self.current = add(self.current, row, weight * sign)
        self.total = add(self.total, self.current, weight)


def score(weights, row):
    """The inner product."""
    return sum(w * x for w, x in zip(weights, row, strict=True))


def add(weights, row, factor):
    """The sum of weights and a multiple of a row."""
    return [w + factor * x for w, x in zip(weights, row, strict=True)]


def sign_of(number):
    """-1, 0 or 1."""
    return (number > 0) - (number < 0)


def boost_row_by_row(learners, X, signs, gamma):
    """Algorithm 1 (Online BBM) of Beygelzimer, Kale and Luo over scikit-learn learners.

    Each row goes through all learners before the next one comes. Returns for each row
    how many learners were right about it before they learned it.
    """
    k, counts = len(learners), []
    trained = [False] * k
    for row, sign in zip(X, signs, strict=True):
        right = 0
        for i, learner in enumerate(learners):
            weight = float(relative_weight(k, i, right, gamma))
            hit = trained[i] and learner.predict([row])[0] == sign
            if weight:
                options = {"classes": [-1, 1], "sample_weight": [weight]}
                learner.partial_fit([row], [sign], **options)
                trained[i] = True
            right += hit
        counts.append(right)
    return counts


def best_gain_of_conjunctions(X, codes, weights, n_classes, max_literals):
    """Return the largest weight that a conjunction of so many literals gets right.

    Either side predicts its heaviest class. Weights are Fractions or integers.
    """
    best, n_features = 0, len(X[0])
    for length in range(max_literals + 1):
        for features in combinations(range(n_features), length):
            for values in product((0, 1), repeat=length):
                sides = [[0] * n_classes, [0] * n_classes]
                for row, code, weight in zip(X, codes, weights, strict=True):
                    holds = all(
                        row[j] == v for j, v in zip(features, values, strict=True)
                    )
                    sides[holds][code] += weight
                best = max(best, max(sides[0]) + max(sides[1]))
    return best


def best_split_by_definition(bits, slopes, curvatures, members, bounds, rules):
    """Compare the gains of all splits of a leaf, in exact fractions.

    Returns
    -------
    gain : Fraction
    feature : int or None
        The first feature of the largest gain above 0.
    """
    best = Fraction(0), None
    before, _ = leaf(slopes, curvatures, members, bounds, rules)
    for feature, direction in enumerate(rules["directions"]):
        where_true = [i for i in members if bits[i][feature]]
        where_false = [i for i in members if not bits[i][feature]]
        if min(len(where_true), len(where_false)) < rules["min_samples_leaf"]:
            continue
        gain_true, value_true = leaf(slopes, curvatures, where_true, bounds, rules)
        gain_false, value_false = leaf(slopes, curvatures, where_false, bounds, rules)
        gain = gain_true + gain_false - before
        if direction * (value_true - value_false) >= 0 and gain > best[0]:
            best = gain, feature
    return best


def leaf(slopes, curvatures, members, bounds, rules):
    """The gain and the value of a leaf: the least of G v + (H + l2) v**2 / 2."""
    G = sum(slopes[i] for i in members)
    H = sum(curvatures[i] for i in members) + rules["l2"]
    value = min(max(-G / H, bounds[0]), bounds[1])
    return -2 * G * value - H * value**2, value


def grow_by_definition(bits, slopes, curvatures, rules):
    """Grow a tree leaf by leaf; return the value of each sample, and the splits."""
    far = Fraction(10**9)
    leaves = {0: (list(range(len(bits))), (-far, far))}
    splits, n_nodes = [], 1
    while len(leaves) < rules["max_leaf_nodes"]:
        candidates = {
            node: best_split_by_definition(bits, slopes, curvatures, *leaf_, rules)
            for node, leaf_ in leaves.items()
        }
        node = max(leaves, key=lambda node: (candidates[node][0], -node))
        feature = candidates[node][1]
        if feature is None:
            break
        members, (low, high) = leaves.pop(node)
        splits.append((node, feature))
        halves = [[i for i in members if bits[i][feature] == b] for b in (0, 1)]
        bounds = [(low, high)] * 2
        direction = rules["directions"][feature]
        if direction:
            values = [
                leaf(slopes, curvatures, half, (low, high), rules)[1] for half in halves
            ]
            border = sum(values) / 2
            bounds = [(low, border), (border, high)][::direction]
        for half, limits in zip(halves, bounds, strict=True):
            leaves[n_nodes] = half, limits
            n_nodes += 1
    values = [None] * len(bits)
    for members, bounds in leaves.values():
        for i in members:
            values[i] = leaf(slopes, curvatures, members, bounds, rules)[1]
    return values, splits
