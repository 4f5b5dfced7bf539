"""What hostile input found in learners, each by name."""

import numpy as np
import pandas as pd
import pytest
from oracles.kernels import plain_perceptron
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklboolean import (
    BernoulliMixture,
    BooleanStump,
    BoostByMajority,
    BoostByMajorityRegressor,
    ChowLiuTree,
    CombinationMachine,
    FilteringBoostByMajority,
    GaussianCombinationMachine,
    OnlineBoostByMajority,
    QueryByCommittee,
)
from sklboolean.active_learning import HalfspaceVersionSpace
from sklboolean.boosting import BoostingSchedule, FilteringSchedule

X = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 1], [1, 1, 0]] * 3)
Y = X[:, 0]
BOOSTERS = [
    BoostByMajority(n_estimators=3, schedule=BoostingSchedule(gamma=0.1)),
    BoostByMajority(
        n_estimators=3, schedule=BoostingSchedule(gamma=0.1, sampling="resample")
    ),
    BoostByMajority(DecisionTreeClassifier(max_depth=1), n_estimators=3),
    BoostByMajorityRegressor(n_estimators=3),
    OnlineBoostByMajority(n_estimators=3),
    QueryByCommittee(n_members=2),
]
WEIGHED = [
    BernoulliMixture(2), BooleanStump(), *BOOSTERS[:4], ChowLiuTree(),
    CombinationMachine(2, n_init=1), GaussianCombinationMachine(2, n_init=1),
]  # fmt: skip


def with_entry(entry):
    """A list of lists with one odd entry."""
    rows = X.tolist()
    rows[5][1] = entry
    return rows


@pytest.mark.parametrize("learner", BOOSTERS, ids=str)
@pytest.mark.parametrize("form", [list, tuple, np.array], ids=lambda f: f.__name__)
def test_integers_beyond_floats_are_refused_in_any_table(learner, form):
    rows = form(with_entry(10**400))
    with pytest.raises(ValueError, match="X holds a number beyond float64"):
        learner.fit(rows, Y)


@pytest.mark.parametrize("learner", WEIGHED, ids=str)
def test_weights_beyond_floats_are_refused(learner):
    weights = np.array([10**400, *[1.0] * 11], dtype=object)
    for given in [weights, weights.tolist()]:
        with pytest.raises(ValueError, match="sample_weight holds a number beyond"):
            learner.fit(X, Y, sample_weight=given)


@pytest.mark.filterwarnings("ignore:The first hypothesis alone")
@pytest.mark.parametrize("learner", [BOOSTERS[0], BOOSTERS[4]], ids=str)
@pytest.mark.parametrize(
    ("entry", "message"),
    [(None, "contains NaN"), ("a", "encode text first"), (b"1", "encode text first")],
)
def test_objects_in_lists_are_made_numbers_or_refused(learner, entry, message):
    with pytest.raises(ValueError, match=message):
        learner.fit(with_entry(entry), Y)
    learner.fit(X.tolist(), Y)
    with pytest.raises(ValueError, match=message):
        learner.predict(with_entry(entry))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, np.longdouble])
def test_halfspaces_need_squares(form):
    rows = np.where(X == 1, -1e300, 0.0)
    with pytest.raises(ValueError, match="squares exceed float64: scale"):
        HalfspaceVersionSpace().update(form(rows), Y == 1)
    with pytest.raises(ValueError, match="squares exceed float64: scale"):
        QueryByCommittee(HalfspaceVersionSpace(label_noise=0.1)).fit(form(rows), Y)


def test_classes_are_a_list():
    classes = sparse.csr_array([[0], [1]])
    with pytest.raises(ValueError, match="classes must be a list or an array"):
        QueryByCommittee().fit_stream([(X, Y)], classes=classes)
    with pytest.raises(ValueError, match="classes must be a list or an array"):
        OnlineBoostByMajority().partial_fit(X, Y, classes=classes)


def test_a_stream_has_a_weak_learner_of_its_own():
    """An estimator's parameters are set, refused, and another is put in its place."""
    learner = FilteringBoostByMajority(
        DecisionTreeClassifier(max_depth=1), schedule=FilteringSchedule(gamma=0.1)
    )
    learner.partial_fit(X, Y, classes=[0, 1])
    learner.set_params(estimator__max_leaf_nodes=1)
    with pytest.raises(ValueError, match="estimator__max_leaf_nodes=1"):
        learner.partial_fit(X, Y)
    learner.set_params(estimator=DecisionTreeClassifier(max_depth=1))
    assert learner.partial_fit(X, Y).n_seen_.sum() == 2 * len(X)


def test_answers_of_an_oracle_are_kept_when_a_later_table_is_refused():
    learner = QueryByCommittee(n_members=2, initial=4, random_state=0)
    with pytest.raises(ValueError, match="features"):
        learner.fit_stream([X, X[:, :2]], oracle=lambda _rows, indices: Y[indices])
    assert len(learner.query_labels_) == learner.n_queries_ > 3
    np.testing.assert_array_equal(learner.query_labels_, Y[learner.query_indices_])


def test_weights_of_labels_have_a_finite_sum():
    for learn in [QueryByCommittee().fit, QueryByCommittee().teach]:
        with pytest.raises(ValueError, match=r"sum of inf; it must be below 2\*\*53"):
            learn(X, Y, sample_weight=np.full(len(X), 1e308))


@pytest.mark.parametrize("form", ["dok", "lil", "dia", "bsr", "coo"])
def test_nan_is_found_in_sparse_tables_of_any_format(form):
    rows = sparse.coo_array(np.array([[1.0, 0], [0, np.nan], [1, 1], [0, 1]]))
    with pytest.raises(ValueError, match="X contains NaN in column 1"):
        plain_perceptron().fit(rows.asformat(form), [0, 1, 0, 1])


TREES = [
    BoostByMajority(
        DecisionTreeClassifier(max_depth=2),
        n_estimators=3,
        schedule=BoostingSchedule(gamma=0.1),
    ),
    BoostByMajorityRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=3),
    OnlineBoostByMajority(BernoulliNB(), n_estimators=3, batch_size=20, max_iter=2),
    QueryByCommittee(DecisionTreeClassifier(max_depth=2), n_members=2, random_state=0),
    QueryByCommittee(
        HalfspaceVersionSpace(label_noise=0.1),
        max_queries=8,
        final_estimator=DecisionTreeClassifier(max_depth=2),
        random_state=0,
    ),
]


@pytest.mark.filterwarnings("ignore:.* further than delta")
@pytest.mark.parametrize("learner", TREES, ids=lambda learner: type(learner).__name__)
def test_trees_see_no_entry_twice(learner):
    """Where entries are doubled, scikit-learn's trees write past their arrays."""
    X = np.random.default_rng(0).integers(0, 3, (40, 4)).astype(float)
    y = np.random.default_rng(1).integers(0, 2, 40)
    once = sparse.csr_array(X)
    data, indices = np.repeat(once.data / 8, 8), np.repeat(once.indices, 8)
    doubled = sparse.csr_array((data, indices, 8 * once.indptr), shape=X.shape)
    assert doubled.nnz > X.size
    one, other = (clone(learner).set_params(random_state=0) for _ in range(2))
    expected = one.fit(once, y).predict(once)
    assert np.array_equal(other.fit(doubled, y).predict(doubled), expected)
    assert doubled.nnz == len(data)


@pytest.mark.parametrize("estimator", BOOSTERS, ids=str)
@pytest.mark.filterwarnings("ignore:The first hypothesis alone")
def test_data_frames_of_sparse_columns(estimator):
    X = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(bool)
    frame = pd.DataFrame(X, columns=list("abc"))
    y = X[:, 0].astype(int)
    model = clone(estimator).fit(frame.astype(pd.SparseDtype(bool, False)), y)
    assert model.predict(frame).shape == (40,)
