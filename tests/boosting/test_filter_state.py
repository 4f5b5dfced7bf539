import pickle
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from oracles.boosting import SlowFilter, largest_weight, weight_of_votes
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklboolean import BooleanStump
from sklboolean.boosting import WeakLearnerError
from sklboolean.boosting._filter_state import (
    FilterState,
    RoundFilter,
    plan_filter,
    predict_codes,
    random_words,
)
from sklboolean.theory import filter_sample_bound, majority_weights, min_rounds


class Literal(ClassifierMixin, BaseEstimator):
    """The best single column, quick on single rows. It keeps what it learned from."""

    def fit(self, X, y):
        self.classes_, self.X_ = np.unique(y), X
        most = -1
        for j in range(X.shape[1]):
            sides = [self._commonest(y[X[:, j] == value], y) for value in (0, 1)]
            n_right = np.sum(np.where(X[:, j] == 1, sides[1], sides[0]) == y)
            if n_right > most:
                most, self.column_, self.sides_ = n_right, j, sides
        return self

    def _commonest(self, y, all_y):
        labels, counts = np.unique(y if len(y) else all_y, return_counts=True)
        return labels[counts.argmax()]

    def predict(self, X):
        return np.where(X[:, self.column_] == 1, self.sides_[1], self.sides_[0])


class Wrong(ClassifierMixin, BaseEstimator):
    """Always says 2."""

    def fit(self, X, y):
        self.classes_ = np.array([2])
        return self

    def predict(self, X):
        return np.full(X.shape[0], 2)


def make_rows(n_samples, seed, *, n_classes=2, noise=0.0, n_features=5):
    """Rows labelled by two of the first three features, or how many of them."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_samples, n_features)) < 0.5).astype(np.uint8)
    y = X[:, :3].sum(axis=1)
    y = (y >= 2).astype(int) if n_classes == 2 else np.minimum(y, n_classes - 1)
    noisy = rng.random(n_samples) < noise
    return X, np.where(noisy, rng.integers(n_classes, size=n_samples), y)


def endless_rows(seed, size=4096):
    while True:
        yield make_rows(size, seed)
        seed += 1


def majority(hypotheses, classes, X):
    votes = np.array([hypothesis.predict(X) for hypothesis in hypotheses])
    counts = np.array([(votes == label).sum(axis=0) for label in classes])
    return np.asarray(classes)[counts.argmax(axis=0)]


def facts(stream, n_features=5):
    """All that a stream tells, with the votes of its hypotheses on all rows."""
    X = np.array(list(product([0, 1], repeat=n_features)), dtype=np.uint8)
    return {
        "votes": [hypothesis.predict(X).tolist() for hypothesis in stream.hypotheses],
        "edges": np.nan_to_num(stream.edges, nan=-9).tolist(),
        "n_seen": stream.n_seen,
        "n_accepted": stream.n_accepted,
        "termination": stream.termination,
    }


def make_state(
    estimator, classes, *, gamma, target_error, mode="practical", delta=0.1, seed=0,
    **options,
):  # fmt: skip
    plan = plan_filter(mode, gamma, target_error, delta, **options)
    return FilterState(estimator, classes, plan, seed)


settings_of_streams = {
    "two labels": {"gamma": 0.125, "target_error": 0.4},
    "tries": {
        "gamma": 0.125, "target_error": 0.4, "max_tries": 3, "n_samples_weak": 20,
    },
    "three labels": {"gamma": 0.125, "target_error": 0.4, "n_classes": 3},
    "small error": {"gamma": 0.25, "target_error": 0.125},
    "theory": {
        "gamma": 0.375, "target_error": 0.4, "mode": "theory",
        "weak_learner_success_rate": 0.9,
    },
    "three labels in theory": {
        "gamma": 0.4375, "target_error": 0.4, "mode": "theory", "n_classes": 3,
    },
}  # fmt: skip


def make_stream(name, base=None, **more):
    given_settings = {"n_samples_weak": 4} | settings_of_streams[name] | more
    n_classes = given_settings.pop("n_classes", 2)
    return make_state(base or Literal(), range(n_classes), **given_settings)


@pytest.mark.parametrize("name", settings_of_streams)
@settings(max_examples=8)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.5]), st.integers(1, 700))
@example(4, 0.0, 700)  # candidates that make the same number of mistakes
@example(10, 0.5, 700)  # tries with the same edge
@example(7, 0.0, 700)  # an accepted row does not abort a round
def test_rounds_are_those_of_the_figures(name, seed, noise, n_samples):
    stream = make_stream(name, seed=seed)
    n_classes = len(stream.classes)
    if stream.plan.batch_size > 8:
        n_samples *= 4
    X, y = make_rows(n_samples, seed, n_classes=n_classes, noise=noise)
    stream.update([(X, y)])
    slow = SlowFilter(Literal(), range(n_classes), stream.plan, None, seed)
    slow.edge = Fraction(stream.plan.edge)
    slow.run(X, y)
    assert stream.n_seen == slow.n_seen
    assert stream.n_accepted == slow.n_accepted
    assert_array_equal(stream.edges, slow.edges)
    assert (stream.termination is not None) == (slow.termination != "stream_exhausted")
    if stream.termination is not None:
        assert stream.termination == slow.termination
    assert len(stream.hypotheses) == len(slow.hypotheses)
    for fast, by_definition in zip(stream.hypotheses, slow.hypotheses, strict=True):
        assert_array_equal(fast.predict(X[:40]), [by_definition(x) for x in X[:40]])
    assert stream.n_rounds == len(slow.edges)
    assert stream.n_aborted == np.isnan(slow.edges).sum()


def test_the_streams_of_these_tests_abort_and_fail_and_end():
    """What the comparison with the figures has covered."""
    seen = set()
    for name, seed in product(settings_of_streams, range(4)):
        stream = make_stream(name, seed=seed)
        n_classes = len(stream.classes)
        stream.update(
            [make_rows(4000, seed, n_classes=n_classes, noise=0.5 * (seed % 2))]
        )
        seen.add(stream.termination)
        for edge, n in zip(stream.edges, stream.n_accepted, strict=False):
            full = n == stream.plan.max_tries * stream.plan.batch_size
            seen.add(("failed" if full else "rejects") if np.isnan(edge) else "passed")
    assert seen == {None, "all_rounds", "no_edge", "failed", "rejects", "passed"}


@settings(max_examples=20)
@given(
    st.sampled_from(sorted(settings_of_streams)),
    st.integers(0, 2**32),
    st.lists(st.integers(0, 1500), max_size=12),
    st.booleans(),
)
def test_cuts_do_not_matter(name, seed, cuts, in_one_call):
    whole, cut = (make_stream(name, seed=seed) for _ in range(2))
    n_classes = len(whole.classes)
    X, y = make_rows(1500, seed, n_classes=n_classes, noise=0.1)
    whole.update([(X, y)])
    bounds = [0, *sorted(cuts), len(y)]
    chunks = [(X[a:b], y[a:b]) for a, b in pairwise(bounds)]
    if in_one_call:
        cut.update(iter(chunks))
    else:
        for chunk in chunks:
            cut.update([chunk])
    assert facts(cut) == facts(whole)


def test_row_by_row_is_the_same_as_all_at_once():
    streams = [make_stream("three labels", seed=5) for _ in range(2)]
    X, y = make_rows(700, 5, n_classes=3)
    streams[0].update([(X, y)])
    for row in range(len(y)):
        streams[1].update([(X[row : row + 1], y[row : row + 1])])
    assert facts(streams[0]) == facts(streams[1])


def test_long_chunks_are_cut():
    X, y = make_rows(60_000, 3)
    streams = [
        make_state(BooleanStump(), [0, 1], gamma=0.16, target_error=0.1)
        for _ in range(2)
    ]
    streams[0].update([(X, y)])
    streams[1].update((X[a : a + 777], y[a : a + 777]) for a in range(0, 60_000, 777))
    assert facts(streams[0]) == facts(streams[1])
    assert streams[0].n_rounds > 5


def test_hypotheses_have_seeds_of_their_own():
    X, y = make_rows(20_000, 0)
    base = DecisionTreeClassifier(max_depth=1, max_features=2)
    stream = make_state(base, [0, 1], gamma=0.2, target_error=0.1, max_tries=2)
    stream.update([(X, y)])
    seeds = [hypothesis.random_state for hypothesis in stream.hypotheses]
    assert len(set(seeds)) == len(seeds) > 3
    assert base.random_state is None


@pytest.mark.parametrize("n_jobs", [2, 3])
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_jobs_do_not_matter(backend, n_jobs):
    X, y = make_rows(40_000, 7, noise=0.02)
    base = DecisionTreeClassifier(max_depth=1, max_features=2)  # random
    chunks = [(X[a : a + 1500], y[a : a + 1500]) for a in range(0, len(y), 1500)]
    plain, spread = (
        make_state(base, [0, 1], gamma=0.15, target_error=0.2, max_tries=2, seed=11)
        for _ in range(2)
    )
    for chunk in chunks:
        plain.update([chunk])
    with parallel_config(backend=backend):
        spread.update(iter(chunks), n_jobs=n_jobs)
    assert facts(spread) == facts(plain)
    assert plain.n_rounds > 10


@pytest.mark.slow
def test_jobs_share_counts_of_many_labels():
    """Joblib hands large arrays to processes for reading only."""
    rng = np.random.default_rng(0)
    y = rng.integers(40, size=30_000)
    X = (y[:, None] >> np.arange(6)) & 1
    base = DecisionTreeClassifier(max_features=1, max_leaf_nodes=60)
    streams = [
        make_state(base, range(40), gamma=0.3, target_error=0.2, seed=2)
        for _ in range(2)
    ]
    streams[0].update([(X, y)])
    with parallel_config(backend="loky"):
        streams[1].update([(X, y)], n_jobs=2)
    assert facts(streams[0], 6) == facts(streams[1], 6)
    assert len(streams[0].hypotheses) > 1


def test_a_stream_is_not_read_on_after_the_last_round():
    n_read = 0

    def counted():
        nonlocal n_read
        for chunk in endless_rows(0, 500):
            n_read += 1
            yield chunk

    stream = make_state(BooleanStump(), [0, 1], gamma=0.25, target_error=0.2)
    chunks = counted()
    stream.update(chunks)
    assert stream.termination == "all_rounds"
    assert n_read == -(-sum(stream.n_seen) // 500)
    stream.update(chunks, n_jobs=1)
    assert n_read == -(-sum(stream.n_seen) // 500)


@pytest.mark.parametrize("as_table", [sparse.csr_array, sparse.csr_matrix, np.float64])
def test_tables_of_all_kinds_give_the_same(as_table):
    X, y = make_rows(30_000, 1)
    streams = [
        make_state(BooleanStump(), [0, 1], gamma=0.2, target_error=0.1)
        for _ in range(2)
    ]
    streams[0].update([(X, y)])
    if as_table is np.float64:
        streams[1].update([(X.astype(np.float64), y)])
    else:
        # Sparse and dense chunks may be mixed.
        streams[1].update([(as_table(X[:123]), y[:123])])
        streams[1].update([(X[123:500], y[123:500])])
        streams[1].update([(as_table(X[500:]), y[500:])])
    assert facts(streams[0]) == facts(streams[1])
    assert streams[0].n_rounds > 3


def test_labels_may_be_strings():
    X, y = make_rows(20_000, 2)
    names = np.array(["no", "yes"])
    by_name, by_number = (
        make_state(BooleanStump(), classes, gamma=0.2, target_error=0.1)
        for classes in (["yes", "no"], [0, 1])
    )
    by_name.update([(X, names[y])])
    by_number.update([(X, y)])
    assert by_name.classes.tolist() == ["no", "yes"]
    assert by_name.n_seen == by_number.n_seen
    for a, b in zip(by_name.hypotheses, by_number.hypotheses, strict=True):
        assert_array_equal(a.predict(X[:99]), names[b.predict(X[:99])])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("binarize", [0.0, 0.1, None])
def test_stumps_vote_as_they_predict(dtype, binarize):
    X, y = make_rows(400, 0, n_classes=3)
    X = X.astype(dtype)
    if binarize == 0.1 and dtype is np.float32:
        X[X == 1] = 0.1  # above 0.1 in float64
    for labels in (y, np.full(400, 2), y + (X[:, 4] > 0) * 3):
        stump = BooleanStump(binarize=binarize).fit(X, labels)
        expected = np.searchsorted(np.arange(6), stump.predict(X))
        for table in (X, sparse.csr_array(X)):
            assert_array_equal(predict_codes(stump, table, np.arange(6)), expected)


# What passes


@pytest.mark.parametrize("mode", ["practical", "theory"])
def test_rows_pass_in_proportion_to_their_weight(mode):
    gamma = 0.15
    stream = make_state(
        Literal(), [0, 1], mode=mode, gamma=gamma if mode == "practical" else 2 * gamma,
        target_error=0.1, n_samples_weak=3000 if mode == "practical" else 300, seed=1,
    )  # fmt: skip
    X, y = make_rows(150_000, 0, n_features=6)
    X = np.column_stack([X, np.arange(len(y))])  # the last column tells rows apart
    stream.update([(X, y)])
    i = 4
    start = sum(stream.n_seen[:i])
    assert stream.n_aborted == 0 or not np.isnan(stream.edges[: i + 1]).any()
    hypothesis = stream.hypotheses[i]
    accepted = hypothesis.X_[:, -1]
    seen = slice(accepted[0], accepted[-1] + 1)
    assert start <= accepted[0] < accepted[-1] < start + stream.n_seen[i]
    votes = np.array([h.predict(X[seen]) for h in stream.hypotheses[:i]])
    right = (votes == y[seen]).sum(axis=0)
    weights = majority_weights(stream.plan.n_rounds, i, stream.plan.edge)
    for r in np.unique(right):
        chance = weights[r] / weights.max()
        n = np.sum(right == r)
        n_accepted = np.isin(accepted, np.arange(len(y))[seen][right == r]).sum()
        spread = np.sqrt(n * chance * (1 - chance))
        assert abs(n_accepted - n * chance) <= 4 * spread + 2
    assert len(np.unique(right)) >= 3


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize(("n_rounds", "n_aborted"), [(0, 0), (4, 0), (5, 1), (6, 3)])
def test_chances_are_relative_to_the_heaviest_state_that_can_occur(
    n_classes, n_rounds, n_aborted
):
    plan = plan_filter("practical", 0.125, 0.25, 0.1)
    k, gamma = plan.n_rounds, Fraction(1, 8)
    opened = RoundFilter.of_round(plan, n_rounds, n_aborted, n_classes)
    largest = largest_weight(k, n_rounds, gamma, n_aborted, n_classes)
    n_votes = n_rounds - n_aborted
    assert opened.patience == pytest.approx(max(1.0, plan.patience * float(largest)))
    for ballots in product(range(n_votes + 1), repeat=n_classes):
        if sum(ballots) != n_votes:
            continue
        right, wrong = ballots[0], tuple(sorted(ballots[1:]))
        weight = weight_of_votes(k, n_rounds, right, wrong, gamma, n_aborted)
        state = right
        if n_classes > 2:
            state = 2 * right + sum(wrong) - max(wrong)
        assert_allclose(opened.table[state], float(weight / largest), rtol=1e-9)
    assert opened.table.max() == 1


@given(st.integers(0, 2**64 - 1), st.integers(0, 50), st.integers(0, 50))
def test_random_words_go_by_their_numbers(seed, start, n_words):
    from_the_start = random_words(seed, 0, 0, start + n_words)
    assert_array_equal(random_words(seed, 0, start, n_words), from_the_start[start:])
    assert len(np.intersect1d(from_the_start, random_words(seed, 1, 0, 100))) == 0


# Guarantees


def run(mode, gamma, epsilon, n_samples_weak, base=None):
    stream = make_state(
        base or BooleanStump(), [0, 1], mode=mode, gamma=gamma, target_error=epsilon,
        n_samples_weak=n_samples_weak,
    )  # fmt: skip
    stream.update(endless_rows(100))
    assert stream.termination == "all_rounds"
    X, y = make_rows(20_000, seed=1)
    error = np.mean(majority(stream.hypotheses, [0, 1], X) != y)
    assert error <= epsilon
    return sum(stream.n_seen)


# Of three features one agrees with two of them on 2/3 of any distribution: 1/6.
@pytest.mark.parametrize(("gamma", "epsilon", "n_weak"), [(0.16, 0.25, 50)])
def test_theory_keeps_its_bound_and_practice_spends_a_hundredth(gamma, epsilon, n_weak):
    bound = filter_sample_bound(gamma, epsilon, 0.1, n_weak_samples=n_weak)
    in_theory = run("theory", gamma, epsilon, n_weak, Literal())
    in_practice = run("practical", gamma, epsilon, n_weak)
    assert in_theory <= bound
    assert 100 * in_practice <= bound


@pytest.mark.parametrize("epsilon", [0.1, 0.02])
def test_practice_spends_a_hundredth_of_the_bound(epsilon):
    bound = filter_sample_bound(0.16, epsilon, 0.1, n_weak_samples=200)
    assert 100 * run("practical", 0.16, epsilon, 200) <= bound


def test_plan_of_theory_is_that_of_the_bound():
    plan = plan_filter(
        "theory", 0.3, 0.1, 0.1, weak_learner_success_rate=0.5, n_samples_weak=10
    )
    k = min_rounds(0.15, 0.01)
    assert (plan.n_rounds, plan.edge, plan.max_tries) == (k, 0.15, 1)
    n_candidates = int(np.ceil(2 * np.log(4 * k / 0.1)))
    n_test = int(np.ceil(8 / 0.09 * np.log(4 * k * n_candidates / 0.1)))
    assert (plan.n_candidates, plan.n_test) == (n_candidates, n_test)
    assert plan.batch_size == 10 * n_candidates + n_test
    assert plan.patience == pytest.approx(2 * k * 0.3 / 0.09)


# Aborted rounds


def test_a_round_is_aborted_when_too_little_passes():
    """A literal is learned at once, and rows that are right have little weight."""
    X = make_rows(50_000, 0)[0]
    stream = make_state(BooleanStump(), [0, 1], gamma=0.2, target_error=0.1)
    stream.update([(X, X[:, 3])])
    assert stream.termination == "all_rounds"
    aborted = np.isnan(stream.edges)
    assert aborted.sum() == stream.n_aborted > 0
    assert len(stream.hypotheses) == stream.plan.n_rounds - stream.n_aborted
    for i in np.flatnonzero(aborted):
        opened = RoundFilter.of_round(stream.plan, i, int(aborted[:i].sum()), 2)
        enough = max(stream.n_accepted[i], opened.n_lenient)
        # Only a rejected row aborts.
        assert 0 < stream.n_seen[i] - opened.patience * enough < 5
    assert (majority(stream.hypotheses, [0, 1], X) == X[:, 3]).all()


@pytest.mark.parametrize("mode", ["practical", "theory"])
@pytest.mark.parametrize(("gamma", "epsilon"), [(0.01, 0.45), (0.2, 0.01), (0.45, 0.4)])
def test_the_first_round_is_never_aborted(mode, gamma, epsilon):
    opened = RoundFilter.of_round(plan_filter(mode, gamma, epsilon, 0.1), 0, 0, 2)
    assert_array_equal(opened.table, [1.0])
    n = np.arange(1, 1000)
    assert not opened.rejects_too_many(n, n).any()


def test_without_an_edge_there_is_no_hypothesis():
    X, y = make_rows(2000, 0)
    stream = make_state(
        Wrong(), [0, 1, 2], gamma=0.2, target_error=0.2, n_samples_weak=9, max_tries=2
    )
    stream.update([(X, y)])
    assert stream.termination == "no_edge"
    assert stream.hypotheses == []
    assert stream.n_accepted == [36] * stream.plan.n_rounds
    stream.finish()
    assert stream.termination == "no_edge"


def test_failure_may_be_an_error():
    X, y = make_rows(2000, 0)
    stream = make_state(
        Wrong(), [0, 1, 2], gamma=0.2, target_error=0.2, weak_failure="raise"
    )
    with pytest.raises(
        WeakLearnerError, match=r"round 0 .* edge on test samples is -0\.5"
    ):
        stream.update([(X, y)])


# Ends, copies, memory


def test_an_exhausted_stream_ends_with_what_it_has():
    X, y = make_rows(2500, 0)
    stream = make_state(BooleanStump(), [0, 1], gamma=0.16, target_error=0.1)
    stream.update([(X, y)])
    n_hypotheses = len(stream.hypotheses)
    assert 0 < n_hypotheses < stream.plan.n_rounds
    assert stream.termination is None
    stream.finish()
    assert stream.termination == "stream_exhausted"
    assert len(stream.hypotheses) == n_hypotheses
    assert sum(stream.n_seen) == len(y)
    before = facts(stream)
    stream.update([(X, y)])
    assert facts(stream) == before


@pytest.mark.parametrize("n_samples", [1, 50])
def test_a_very_short_stream_leaves_one_hypothesis(n_samples):
    X, y = make_rows(n_samples, 0)
    stream = make_state(LogisticRegression(), [0, 1], gamma=0.16, target_error=0.1)
    stream.update([(X, y)])
    stream.finish()
    assert stream.termination == "stream_exhausted"
    assert len(stream.hypotheses) == stream.n_rounds == 1
    assert stream.n_aborted == 0
    assert np.isnan(stream.edges).all()
    assert np.isin(stream.hypotheses[0].predict(X), y).all()


def test_an_empty_stream_is_an_error():
    stream = make_state(BooleanStump(), [0, 1], gamma=0.16, target_error=0.1)
    stream.update([(np.zeros((0, 3)), np.zeros(0, dtype=int))])
    with pytest.raises(ValueError, match="more samples"):
        stream.finish()


def test_batches_with_one_label_make_constants():
    X, _y = make_rows(20_000, 0)
    stream = make_state(LogisticRegression(), [0, 1], gamma=0.3, target_error=0.1)
    stream.update([(X, np.ones(len(X), dtype=int))])
    assert (majority(stream.hypotheses, [0, 1], X) == 1).all()


@pytest.mark.parametrize(
    "again", [FilterState.copy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_copies_go_their_own_way(again):
    X, y = make_rows(3000, 4, noise=0.1)
    stream = make_stream("tries", base=BooleanStump(), seed=3)
    stream.update([(X[:201], y[:201])])
    before = facts(stream)
    copies = [again(stream) for _ in range(2)]
    copies[0].update([(X[201:], y[201:])])
    assert facts(stream) == before
    assert facts(copies[1]) == before
    assert facts(copies[0]) != before
    stream.update([(X[201:], y[201:])])
    assert facts(stream) == facts(copies[0])


def test_memory_does_not_grow_with_the_stream():
    stream = make_state(BooleanStump(), [0, 1], gamma=0.16, target_error=0.02)
    sizes = []
    for _chunk, (X, y) in zip(range(60), endless_rows(0), strict=False):
        stream.update([(X, y)])
        sizes.append(len(pickle.dumps(stream)))
    assert stream.termination is None
    assert sum(stream.n_seen) == 60 * 4096
    batch = stream.plan.batch_size * (X.itemsize * X.shape[1] + 8)
    # A stump is a few hundred bytes.
    assert max(sizes) < 10_000 + 2 * batch + 1000 * stream.plan.n_rounds


# Bad input


def test_labels_outside_the_classes_are_an_error():
    X, y = make_rows(300, 0)
    stream = make_state(BooleanStump(), [0, 1], gamma=0.16, target_error=0.1)
    stream.update([(X, y)])
    before = facts(stream)
    with pytest.raises(ValueError, match="label 7"):
        stream.update([(X, np.where(np.arange(300) == 200, 7, y))])
    assert facts(stream) == before


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"mode": "fast"}, "mode must be one of"),
        ({"gamma": 0.5}, "gamma must be above 0 and below 0.5"),
        ({"gamma": 0.0}, "gamma must be above 0"),
        ({"gamma": np.nan}, "gamma must be finite"),
        ({"target_error": 0.5}, "target_error must be below 0.5"),
        ({"target_error": 0}, "target_error must be greater than 0"),
        ({"delta": 1}, "delta must be below 1"),
        (
            {"weak_learner_success_rate": 0},
            "weak_learner_success_rate must be greater than 0",
        ),
        (
            {"weak_learner_success_rate": 1.5},
            "weak_learner_success_rate must be at most 1",
        ),
        ({"n_samples_weak": 0}, "n_samples_weak"),
        ({"max_tries": 0}, "max_tries"),
        ({"weak_failure": "replan"}, "weak_failure must be one of .*'abort', 'raise'"),
        ({"weak_failure": "ignore"}, "weak_failure must be one of"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_parameters_are_named(bad, message):
    good = {"classes": [0, 1], "gamma": 0.2, "target_error": 0.1}
    with pytest.raises(ValueError, match=message):
        make_state(BooleanStump(), **(good | bad))


def test_kernel_matrices_are_refused():
    with pytest.raises(ValueError, match="estimator must learn from features"):
        make_state(SVC(kernel="precomputed"), [0, 1], gamma=0.2, target_error=0.1)


@pytest.mark.parametrize(
    "bad", [{"gamma": "auto"}, {"target_error": None}, {"n_samples_weak": 1.5}]
)
def test_parameters_of_other_kinds_are_named(bad):
    good = {"classes": [0, 1], "gamma": 0.2, "target_error": 0.1}
    with pytest.raises(TypeError, match=next(iter(bad))):
        make_state(BooleanStump(), **(good | bad))
