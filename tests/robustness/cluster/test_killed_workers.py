"""A worker is killed in the middle of a fit."""

import pytest
from _instances import MODELS
from joblib import parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError
from numpy.testing import assert_equal
from parallel_cases import CLASSES, X, Y, plain
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklboolean import BoostByMajority, QueryByCommittee

pytestmark = pytest.mark.slow


@pytest.fixture
def make_tree(die):
    """Return a class of trees that kill the first worker to fit one."""

    # Sent to workers as it is, not by the name of this module.
    class DeadlyTree(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None, check_input=True):
            die()
            return super().fit(X, y, sample_weight, check_input)

    def make(**parameters):
        return DeadlyTree(**parameters)

    return make


def search(base, **parameters):
    return GridSearchCV(base, {"max_depth": [1, 2, 3]}, cv=2, **parameters)


def answers(found):
    results = {k: v for k, v in found.cv_results_.items() if "time" not in k}
    return results, found.predict(X)


def test_search_goes_on_without_the_killed_worker(mortals, make_tree):
    expected = answers(search(DecisionTreeClassifier(random_state=0)).fit(X, Y))
    with parallel_config("dask", scatter=[X, Y]):
        found = search(make_tree(random_state=0)).fit(X, Y)
    assert_equal(answers(found), expected)


@pytest.mark.parametrize(
    "make",
    [
        lambda base: BoostByMajority(base, n_estimators=3, random_state=0),
        lambda base: QueryByCommittee(
            base, n_members=3, batch_size=10, max_queries=20, random_state=0
        ),
    ],
    ids=["policies", "members"],
)
def test_fit_completes_or_leaves_the_estimator_unchanged(make, mortals, make_tree):
    from distributed.client import FutureCancelledError

    expected = make(DecisionTreeClassifier(max_depth=1)).fit(X, Y).predict(X)
    model = make(make_tree(max_depth=1))
    try:
        with parallel_config("dask"):
            model.fit(X, Y)
    except FutureCancelledError:  # the only copy of the table died with the worker
        assert not plain(model)
        model.fit(X, Y)
    assert_equal(model.predict(X), expected)


def test_processes_of_joblib_fail_and_leave_the_estimator_unchanged(make_tree):
    model = clone(MODELS["query_by_committee"]).fit(X, CLASSES)
    before = plain(model)
    model.set_params(committee=make_tree())
    with (
        parallel_config("loky", n_jobs=2),
        pytest.raises(TerminatedWorkerError, match="unexpectedly terminated"),
    ):
        model.fit(X[::-1], CLASSES[::-1])
    assert_equal(plain(model), before)
