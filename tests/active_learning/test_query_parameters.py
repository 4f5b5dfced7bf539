"""Parameters: of streams, of the first samples, of version spaces and strategies."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from oracles.kernels import counting_kernel
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

from sklboolean import QueryByCommittee, active_learning
from sklboolean.active_learning import (
    FiniteVersionSpace,
    GramKernel,
    HalfspaceVersionSpace,
    KernelVersionSpace,
    ThresholdVersionSpace,
    vote_entropy,
)

X = np.random.RandomState(0).randint(0, 2, size=(60, 4))
y = X[:, 0] & X[:, 1]
SPACES = [
    FiniteVersionSpace("conjunctions", max_literals=2),
    HalfspaceVersionSpace(n_steps=10, n_chains=8),
    KernelVersionSpace(counting_kernel(max_literals=2), label_noise=0.1),
]


def test_streams_are_read_one_sample_after_the_other():
    chunks = [(X[:30], y[:30]), (X[30:], y[30:])]
    for parameters, message in [
        ({"strategy": "margin"}, "'margin' compares samples"),
        ({"strategy": lambda *_: None}, "compares samples"),
        ({"batch_size": 2}, "batch_size must be 1; got 2"),
        ({"initial": [3, 4]}, "or set initial to a number"),
    ]:
        learner = QueryByCommittee(**parameters)
        with pytest.raises(ValueError, match=message):
            learner.fit_stream(chunks)
        with pytest.raises(ValueError, match=message):
            learner.query_stream(X[0])


def test_first_samples_are_those_of_the_pool_that_is_fitted():
    learner = QueryByCommittee(initial=[1, 40], random_state=0)
    for ask in (lambda: learner.query(X), lambda: learner.query_stream(X[0])):
        with pytest.raises(ValueError, match="indices of the pool passed to fit"):
            ask()
    assert len(learner.fit(X, y).query(X)) == 1


def test_batches_are_far_apart_in_the_kernel_of_the_space():
    signs = 2.0 * X - 1
    parameters = {"batch_size": 5, "max_queries": 20, "random_state": 0}
    by_index = QueryByCommittee(
        KernelVersionSpace(GramKernel(signs @ signs.T + 1), label_noise=0.1),
        **parameters,
    ).fit(np.arange(len(X))[:, None], y)
    direct = QueryByCommittee(
        KernelVersionSpace(
            lambda A, B: (2 * A - 1) @ (2 * B - 1).T + 1, label_noise=0.1
        ),
        **parameters,
    ).fit(X, y)
    # Distances between indices of samples would mean nothing.
    assert_array_equal(by_index.query_indices_, direct.query_indices_)


@pytest.mark.parametrize("committee", ["bootstrap", 3, DecisionTreeClassifier])
def test_what_is_no_committee(committee):
    with pytest.raises(TypeError, match="a list of them, or a version space; got"):
        QueryByCommittee(committee).fit(X, y)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_version_space_is_copied_and_seeded(space):
    one = QueryByCommittee(space, max_queries=9, random_state=3).fit(X, y)
    two = clone(one).fit(X, y)
    assert_array_equal(one.query_indices_, two.query_indices_)
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert one.committee is space
    assert not hasattr(space, "n_labels_")
    own = clone(space)
    if "random_state" in own.get_params():
        own.set_params(random_state=3)
        assert (
            clone(one).set_params(committee=own).fit(X, y).committee_.random_state == 3
        )


def test_parameters_of_a_version_space_are_searched():
    noisy = y ^ (np.random.RandomState(1).random_sample(len(y)) < 0.1)
    search = GridSearchCV(
        QueryByCommittee(SPACES[0], max_queries=20, random_state=0),
        {"committee__label_noise": [0.1, 0.3], "committee__max_literals": [1, 2]},
        cv=3,
    ).fit(X, noisy)
    assert search.best_params_["committee__max_literals"] == 2


def test_changed_version_space_is_refused():
    space = FiniteVersionSpace("conjunctions", label_noise=0.1)
    model = QueryByCommittee(space).teach(X[:9], y[:9])
    model.set_params(committee__label_noise=0.2)
    with pytest.raises(ValueError, match="committee__label_noise"):
        model.teach(X[9:12], y[9:12])


class CoinSpace:
    """A version space of one's own, of two hypotheses: the first feature, or not."""

    def __init__(self):
        self.weights = np.array([0.5, 0.5])

    @property
    def is_empty(self):
        return not self.weights.any()

    def update(self, X, y):
        for x, label in zip(X[:, 0] > 0, y, strict=True):
            self.weights = self.weights * [x == label, x != label]

    def predict_proba(self, X):
        positive = np.where(X[:, 0] > 0, *(self.weights / self.weights.sum()))
        return np.column_stack([1 - positive, positive])

    def sample_predictions(self, X, n_draws, random_state):
        first = random_state.random_sample(n_draws) < self.weights[0]
        return (X[:, 0] > 0) == first[:, None]


def test_version_space_of_ones_own():
    model = QueryByCommittee(CoinSpace(), random_state=0)
    model.fit(X, 1 - X[:, 0])
    assert model.n_queries_ == 1
    assert_array_equal(model.predict(X), 1 - X[:, 0])
    with pytest.raises(ValueError, match="version space is empty"):
        model.teach(X[:4], X[:4, 0])


def test_thresholds_need_one_feature():
    with pytest.raises(ValueError, match="need one feature, whose order decides"):
        QueryByCommittee(ThresholdVersionSpace()).fit(X, y)


# Strategies of one's own


def test_strategy_may_be_a_function():
    def entropy(predictions, X, rng):
        assert predictions.consensus.shape == (len(X), 2)
        return vote_entropy(predictions.vote_shares)

    options = {"max_queries": 25, "random_state": 0}
    own = QueryByCommittee(BernoulliNB(), strategy=entropy, **options).fit(X, y)
    named = QueryByCommittee(BernoulliNB(), strategy="vote_entropy", **options)
    assert_array_equal(own.query_indices_, named.fit(X, y).query_indices_)


@pytest.mark.parametrize("committee", [LogisticRegression(), SPACES[2]])
def test_strategy_sees_the_candidates(committee):
    def most_ones(predictions, X, rng):
        assert X.shape == (len(predictions.vote_shares), 4)
        return X.sum(axis=1)

    model = QueryByCommittee(committee, strategy=most_ones, initial=4, random_state=0)
    model.set_params(max_queries=20, epsilon=None).fit(X, y)
    ones = X[model.query_indices_[6:]].sum(axis=1)
    assert (np.diff(ones) <= 0).all()


def test_scores_of_a_strategy_are_checked():
    for scores, message in [(np.ones(3), "one score for each"), (np.nan, "NaN")]:
        model = QueryByCommittee(
            strategy=lambda _predictions, X, _rng, s=scores: (
                s * np.ones(len(X) if np.ndim(s) == 0 else 3)
            ),
            random_state=0,
        )
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)


def test_old_parameters_are_translated_or_refused():
    tree = DecisionTreeClassifier()
    with pytest.warns(FutureWarning, match="pair of numbers, epsilon and delta"):
        model = QueryByCommittee(epsilon=0.1, delta=0.2)
    assert model.epsilon == (0.1, 0.2)
    with pytest.warns(FutureWarning, match="delta"):
        assert QueryByCommittee(epsilon=None, delta=0.2).epsilon is None
    with pytest.warns(FutureWarning, match="a list of classifiers sees all labels"):
        model = QueryByCommittee(tree, n_members=3, sampling="all")
    assert model.committee == [tree] * 3
    for usual in (None, "bootstrap"):
        with pytest.warns(FutureWarning, match="sampling"):
            assert QueryByCommittee(tree, sampling=usual).committee is tree
    with pytest.raises(ValueError, match="Clones see bootstrap samples; a list"):
        QueryByCommittee(tree, sampling="subsample")


def test_the_function_of_an_old_name_warns():
    with pytest.warns(FutureWarning, match="Use 'expected_information_gain' instead"):
        gain = active_learning.information_gain
    assert gain is active_learning.expected_information_gain
    with pytest.raises(AttributeError, match="no attribute 'gain'"):
        _ = active_learning.gain
