"""Committees of classifiers: what members see, whatever the classifier."""

from threading import get_ident

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklboolean import AveragedPerceptron, QueryByCommittee
from sklboolean.active_learning import (
    CommitteePredictions,
    FiniteVersionSpace,
    HalfspaceVersionSpace,
    _ensemble_committee,
    align_probabilities,
    kl_to_consensus,
    vote_entropy,
)
from sklboolean.active_learning._ensemble_committee import (
    EnsembleCommittee,
    fit_member,
)
from sklboolean.active_learning._strategies import STRATEGIES, choose_samples
from sklboolean.datasets import load_votes

IRIS, FLOWERS = load_iris(return_X_y=True)
TREE = DecisionTreeClassifier(max_features=2)


def trees(*, is_bootstrap=True, seed=0, n=3):
    random = np.random.RandomState(seed)
    bases = [DecisionTreeClassifier()] * n
    return EnsembleCommittee(bases, is_bootstrap, random, None)


def learn(committee, n_samples, n_new):
    X, y = IRIS[::5][:n_samples], FLOWERS[::5][:n_samples]
    classes = np.unique(y)
    return committee.fit(X, y, np.ones(n_samples), n_new, classes)


def test_bootstraps_grow_and_are_kept():
    once, often = trees(), trees()
    learn(once, 30, 30)
    learn(often, 15, 15)
    first = often.counts.copy()
    learn(often, 30, 15)
    assert_array_equal(often.counts[:, :15], first)
    assert_array_equal(often.counts, once.counts)
    for one, other in zip(once.fitted, often.fitted, strict=True):
        assert_array_equal(one.predict(IRIS), other.predict(IRIS))


def test_a_member_is_fitted_to_its_own_sample():
    committee = trees()
    learn(committee, 30, 30)
    X, y = IRIS[::5], FLOWERS[::5]
    for counts, member in zip(committee.counts, committee.fitted, strict=True):
        seed = member.random_state
        repeated = DecisionTreeClassifier(random_state=seed)
        repeated.fit(X, y, sample_weight=counts)
        assert_array_equal(member.predict(IRIS), repeated.predict(IRIS))
    assert len({member.random_state for member in committee.fitted}) == 3


def test_everybody_sees_every_class():
    for seed in range(20):
        committee = trees(seed=seed)
        X, y = np.arange(5.0)[:, None], np.array([0, 0, 0, 0, 1])
        committee.fit(X, y, np.ones(5), 5, np.array([0, 1]))
        assert all(list(member.classes_) == [0, 1] for member in committee.fitted)


def test_how_often_members_see_a_row():
    committee = trees(n=2)
    counts = committee._draw_counts(np.ones(20000))
    assert counts.shape == (2, 20000)
    assert counts.max() <= 9
    assert abs(counts.mean() - 1.0) < 0.03


def test_seeds_are_all_that_differs():
    committee = trees(is_bootstrap=False)
    learn(committee, 30, 30)
    assert (committee.counts == 1).all()
    assert len({member.random_state for member in committee.fitted}) == 3


def test_weights_of_the_user_multiply_or_draw():
    heavy = np.array([1.0, 0.5, 3.0])
    committee = EnsembleCommittee(
        [DecisionTreeClassifier(), KNeighborsClassifier()], True,
        np.random.RandomState(0), None,
    )  # fmt: skip
    counts = (
        committee._draw_counts(np.repeat(heavy, 20000)).reshape(2, 3, -1).mean(axis=2)
    )
    assert_allclose(counts, [[1, 1, 1], heavy], atol=0.05)


def test_member_of_one_class_is_a_constant():
    X, y = np.eye(3), np.array(["a", "b", "b"])
    for base in (DecisionTreeClassifier(), LogisticRegression()):
        member = fit_member(base, X, {}, True, np.array([0, 1, 2]), np.ones(3), y)
        assert isinstance(member, DummyClassifier)
        assert set(member.predict(X)) == {"b"}
    neighbours = fit_member(
        KNeighborsClassifier(1), X, {}, False, np.array([1, 0, 3]), np.ones(3), y
    )
    assert neighbours.n_samples_fit_ == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "base",
    [
        LogisticRegression(max_iter=1000),
        make_pipeline(StandardScaler(), Perceptron()),
        KNeighborsClassifier(3),
        SVC(),
        DecisionTreeClassifier(),
    ],
    ids=["logistic", "pipeline", "neighbours", "vectors", "tree"],
)
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_any_classifier_and_strategy_with_words_as_labels(base, strategy):
    y = np.array(["setosa", "versicolor", "virginica"])[FLOWERS]
    learner = QueryByCommittee(
        base, strategy=strategy, n_members=3, batch_size=3, max_queries=30,
        random_state=1,
    ).fit(IRIS, y)  # fmt: skip
    assert learner.n_queries_ <= 30
    assert set(learner.predict(IRIS)) <= set(y)
    assert learner.score(IRIS, y) > 0.6  # a third by chance
    assert_array_equal(learner.query_labels_, y[learner.query_indices_])


def test_members_that_miss_a_class():
    X = np.eye(4)
    committee = trees(is_bootstrap=False, n=2)
    committee.fitted = [
        DummyClassifier().fit(X[:1], ["b"]),
        DecisionTreeClassifier(random_state=0).fit(X, ["a", "b", "c", "c"]),
    ]
    predictions = committee.predict(
        X, np.array(["a", "b", "c"]), with_probabilities=True
    )
    assert_array_equal(predictions.votes, [[1, 1, 1, 1], [0, 1, 2, 2]])
    assert_array_equal(
        predictions.consensus, [[0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]]
    )
    assert_array_equal(predictions.disagreement, [1, 0, 1, 1])


@pytest.mark.parametrize(
    ("committee", "backend"),
    [pytest.param(TREE, "loky", marks=pytest.mark.slow), ([TREE] * 3, "threading")],
    ids=str,
)
def test_jobs_make_no_difference(committee, backend):
    parameters = {"n_members": 3, "max_queries": 14, "random_state": 1}
    one = QueryByCommittee(committee, **parameters).fit(IRIS, FLOWERS)
    two = QueryByCommittee(committee, **parameters)
    with parallel_config(backend=backend, n_jobs=2):
        two.fit(IRIS, FLOWERS)
    assert_array_equal(one.query_indices_, two.query_indices_)
    assert_array_equal(one.predict_proba(IRIS), two.predict_proba(IRIS))


@pytest.mark.parametrize("seconds", [0.0, np.inf])
def test_quick_members_stay_in_this_process(seconds, monkeypatch):
    where = []

    class Watched(DecisionTreeClassifier):
        def fit(self, *args, **options):
            where.append(get_ident())
            return super().fit(*args, **options)

    monkeypatch.setattr(_ensemble_committee, "LEAST_FOR_JOBS", seconds)
    model = QueryByCommittee(Watched(), max_queries=14, random_state=0, n_jobs=2)
    with parallel_config(backend="threading"):
        model.fit(IRIS, FLOWERS)
    assert (set(where) == {get_ident()}) == (seconds > 0)


def test_frames_and_sparse_tables():
    X, y = load_votes(return_X_y=True, as_frame=True)
    parameters = {"max_queries": 25, "random_state": 0}
    base = BernoulliNB()
    frame = QueryByCommittee(base, **parameters).fit(X, y)
    assert list(frame.feature_names_in_) == list(X.columns)
    table = sparse.csr_array(X.to_numpy(dtype=np.float64))
    thin = QueryByCommittee(base, **parameters).fit(table, y)
    assert_array_equal(frame.query_indices_, thin.query_indices_)
    assert_array_equal(frame.predict(X), thin.predict(table))
    space = HalfspaceVersionSpace(label_noise=0.05, sampler="expectation_propagation")
    thin_spaces = QueryByCommittee(space, **parameters)
    dense = QueryByCommittee(space, **parameters)
    thin_spaces.fit(table, y)
    dense.fit(X, y)
    assert_array_equal(thin_spaces.query_indices_, dense.query_indices_)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        QueryByCommittee(FiniteVersionSpace("conjunctions")).fit(table, y)


def test_missing_features_reach_members_that_take_them():
    X = IRIS.copy()
    X[::7, 1] = np.nan
    learner = QueryByCommittee(
        n_members=9, batch_size=3, max_queries=30, random_state=0
    )
    assert learner.fit(X, FLOWERS).score(X, FLOWERS) > 0.7
    with pytest.raises(ValueError, match="NaN"):
        QueryByCommittee(LogisticRegression()).fit(X, FLOWERS)


def test_final_estimator_sees_all_labelled_rows():
    forest = RandomForestClassifier(10)
    options = {"n_members": 3, "max_queries": 30, "random_state": 0}
    learner = QueryByCommittee(final_estimator=forest, **options)
    learner.fit(IRIS, FLOWERS)
    rows = learner.query_indices_
    seed = learner.estimator_.random_state
    same = RandomForestClassifier(10, random_state=seed).fit(IRIS[rows], FLOWERS[rows])
    assert_array_equal(learner.predict_proba(IRIS), same.predict_proba(IRIS))
    assert forest.random_state is None
    linear = QueryByCommittee(final_estimator=Perceptron(), **options)
    assert not hasattr(linear, "predict_proba")
    linear.fit(IRIS, FLOWERS)
    assert linear.decision_function(IRIS).shape == (150, 3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_bits_are_predicted_by_trees_and_a_perceptron(n_classes):
    rng = np.random.default_rng(0)
    X = (rng.random((200, 8)) < 0.4).astype(float)
    y = np.minimum(X[:, :3].sum(axis=1).astype(int), n_classes - 1)
    for data in (X, sparse.csr_array(X)):
        both = QueryByCommittee(
            n_members=5, batch_size=5, max_queries=25, random_state=0
        ).fit(data, y)
        trees = clone(both).set_params(final_estimator=None).fit(data, y)
        assert_array_equal(both.query_indices_, trees.query_indices_)
        assert trees.estimator_ is None
        rows = both.query_indices_
        seed = both.estimator_.random_state
        alone = AveragedPerceptron(random_state=seed).fit(data[rows], y[rows])
        mean = (alone.predict_proba(data) + trees.predict_proba(data)) / 2
        assert_allclose(both.predict_proba(data), mean)
        assert_array_equal(both.predict(data), mean.argmax(axis=1))
        scores = mean[:, 1] - mean[:, 0] if n_classes == 2 else mean
        assert_allclose(both.decision_function(data), scores)
    parts = [part for _, _, part in both._formula().of_samples(X[:20])]
    total = np.sum(parts, axis=0)
    expected = np.c_[-scores, scores] if n_classes == 2 else scores
    assert_allclose(total, expected[:20], atol=1e-12)


def test_numbers_and_given_committees_are_predicted_by_the_committee():
    model = QueryByCommittee(max_queries=25, random_state=0).fit(IRIS, FLOWERS)
    assert model.estimator_ is None
    X = (np.random.default_rng(0).random((60, 6)) < 0.5).astype(float)
    given = QueryByCommittee(DecisionTreeClassifier(), max_queries=25, random_state=0)
    assert given.fit(X, X[:, 0]).estimator_ is None


def test_committee_average_is_the_mean_of_the_members():
    learner = QueryByCommittee(n_members=4, max_queries=25, random_state=0)
    learner.fit(IRIS, FLOWERS)
    tables = [member.predict_proba(IRIS) for member in learner.committee_]
    known = [member.classes_ for member in learner.committee_]
    aligned = align_probabilities(tables, known, learner.classes_)
    assert_allclose(learner.predict_proba(IRIS), aligned.mean(axis=0))
    assert_allclose(learner.decision_function(IRIS), aligned.mean(axis=0))


def test_default_committee_is_of_randomized_trees():
    plain = QueryByCommittee(max_queries=20, random_state=0).fit(IRIS, FLOWERS)
    named = QueryByCommittee(
        [DecisionTreeClassifier(max_features="sqrt")] * 30,
        strategy="margin", max_queries=20, random_state=0,
    ).fit(IRIS, FLOWERS)  # fmt: skip
    assert_array_equal(plain.query_indices_, named.query_indices_)
    assert_array_equal(plain.predict_proba(IRIS), named.predict_proba(IRIS))


@pytest.mark.parametrize(("strategy", "score"), [("margin", 0), ("label_entropy", 1)])
def test_committee_of_one_is_uncertainty_sampling(strategy, score):
    forest = RandomForestClassifier(12, random_state=0)
    learner = QueryByCommittee(
        forest, n_members=1, strategy=strategy, random_state=0
    ).teach(IRIS[::5], FLOWERS[::5])
    # Uncertainty by definition, of the same forest.
    p = np.sort(learner.committee_[0].predict_proba(IRIS), axis=1)
    logs = np.log2(p, where=p > 0, out=np.zeros_like(p))
    expected = [p[:, -2] - p[:, -1], -(p * logs).sum(axis=1)][score]
    _indices, utilities = learner.query(IRIS, return_utilities=True)
    assert_allclose(utilities, expected, atol=1e-12)
    assert_allclose(
        learner.predict_proba(IRIS), learner.committee_[0].predict_proba(IRIS)
    )
    in_list = (
        clone(learner).set_params(committee=[forest]).teach(IRIS[::5], FLOWERS[::5])
    )
    assert_array_equal(learner.predict_proba(IRIS), in_list.predict_proba(IRIS))


def test_gains_of_a_committee_of_one_are_finite():
    learner = QueryByCommittee(
        DecisionTreeClassifier(), n_members=1, random_state=0
    ).teach(IRIS[::5], FLOWERS[::5])
    p = learner.predict_proba(IRIS[1::5])[np.arange(30), FLOWERS[1::5]]
    learner.teach(IRIS[1::5], FLOWERS[1::5])
    assert_allclose(learner.information_gains_[30:], -np.log2((p + 1) / (1 + 3)))


# Scores


def test_scores_of_strategies():
    votes = np.array([[0, 0, 1], [0, 1, 1], [0, 1, 1], [0, 0, 0]])
    probabilities = np.array([[[0.9, 0.1]] * 3, [[0.5, 0.5]] * 3])
    predictions = CommitteePredictions(2, votes, probabilities=probabilities)
    found = STRATEGIES["vote_entropy"](predictions, None, None)
    assert_array_equal(found, vote_entropy(predictions.vote_shares))
    found = STRATEGIES["kl"](predictions, None, None)
    assert_array_equal(found, kl_to_consensus(probabilities))
    assert_allclose(STRATEGIES["margin"](predictions, None, None), [-0.4] * 3)
    # Of the 6 pairs of members 0, 4 and 3 differ.
    found = STRATEGIES["pairwise_disagreement"](predictions, None, None)
    assert_allclose(found, [0, 4 / 6, 3 / 6])


def test_members_that_are_drawn_differ_as_often_as_pairs_do():
    votes = np.repeat([[0], [1], [1], [2]], 20000, axis=1)
    coins = np.random.RandomState(0).random_sample((20000, 2))
    predictions = CommitteePredictions(3, votes)
    assert abs(predictions.draw_disagreement(coins).mean() - 5 / 6) < 0.02
    assert_allclose(predictions.disagreement[0], 5 / 6)
    for p, expected in [([0.2, 0.8], 0.32), ([0.2, 0.5, 0.3], 0.62), ([0, 1, 0], 0)]:
        posterior = CommitteePredictions(
            len(p), posterior=np.repeat([p], 20000, axis=0)
        )
        assert abs(posterior.draw_disagreement(coins).mean() - expected) < 0.02
        assert_allclose(posterior.disagreement[0], expected)


def test_batches_hold_no_twins_and_spread_out():
    rows = np.repeat([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 0]], 3, axis=0)
    scores = np.ones(12)
    for seed in range(5):
        chosen = choose_samples(scores, rows, 4, np.random.RandomState(seed))
        assert len(np.unique(rows[chosen], axis=0)) == 4
    scores = np.arange(12.0)
    chosen = choose_samples(scores, rows, 2, np.random.RandomState(0))
    assert chosen[0] == 11
    assert (rows[chosen[1]] == [0, 0, 1]).all()  # two bits away, among the best 8
    words = np.array([["a", "b"], ["a", "c"], ["d", "c"]], dtype=object)
    chosen = choose_samples(np.array([3.0, 2, 1]), words, 2, np.random.RandomState(0))
    assert_array_equal(chosen, [0, 2])


def test_kernel_distance_spreads_batches():
    rows = np.random.RandomState(0).normal(size=(8, 2))
    far = choose_samples(np.arange(8.0), rows, 2, np.random.RandomState(0))
    distances = euclidean_distances(rows)[7]
    assert_array_equal(far, [7, distances.argmax()])
    near = choose_samples(
        np.arange(8.0), rows, 2, np.random.RandomState(0),
        lambda A, B: -(euclidean_distances(A, B) ** 0.5),
    )  # fmt: skip
    assert_array_equal(near, [7, distances.argmax()])
    sparse_far = choose_samples(
        np.arange(8.0), sparse.csr_array(rows), 2, np.random.RandomState(0)
    )
    assert_array_equal(sparse_far, far)
