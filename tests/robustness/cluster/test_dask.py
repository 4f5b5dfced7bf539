"""Fits whose tasks run on the workers of a cluster equal those of one process."""

import numpy as np
import pytest
from _instances import MODELS
from joblib import Parallel, delayed, parallel_config
from numpy.testing import assert_equal
from oracles.kernels import plain_perceptron
from parallel_cases import PARALLEL, X, Y, labels_for, learned
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from sklboolean import (
    AveragedPerceptron,
    ConjunctionLogisticRegression,
    QueryByCommittee,
    RuleClassifier,
)

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", PARALLEL)
def test_fits_have_the_same_bits(name, client):
    alone = learned(name)
    with parallel_config("dask"):
        assert_equal(learned(name), alone)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("boost_by_majority_trees", "_margins_of_fold"),
        ("query_by_committee_bagging", "fit_member"),
        ("query_by_committee_bagging", "predict_member"),
    ],
)
def test_tasks_are_run_by_the_workers(name, function, finished):
    model = clone(MODELS[name])
    if "query" in name:
        model.set_params(max_queries=20)  # more than the first samples of each class
    with parallel_config("dask"):
        model.fit(X, labels_for(name))
    assert any(function in key for key in finished)


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (plain_perceptron(random_state=0), {"kernel__max_literals": [1, 2]}),
        (AveragedPerceptron(random_state=0), {"max_iter": [1, 5]}),
        (MODELS["boost_by_majority_trees"], {"n_estimators": [3, 5]}),
        (RuleClassifier(), {"max_literals": [1, 2]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_searches_over_parameters_find_the_same(estimator, grid, client):
    def search():
        found = GridSearchCV(clone(estimator), grid, cv=2).fit(X, Y)
        results = {k: v for k, v in found.cv_results_.items() if "time" not in k}
        return results, found.predict(X)

    alone = search()
    with parallel_config("dask"):
        assert_equal(search(), alone)


rng = np.random.RandomState(0)
WIDE = rng.rand(4000, 60) < 0.5
WIDE_LABELS = WIDE[:, :3].sum(axis=1) > 1
UNUSED_ROWS = iter(range(len(WIDE)))


def new_tables():
    """Return tables as no test had them: Dask names what it spreads by its content.

    The same content, spread again while its first copy is being dropped, may be lost.
    """
    rows, labels, changed = WIDE.copy(), WIDE_LABELS.copy(), next(UNUSED_ROWS)
    rows[changed] ^= True
    labels[changed] ^= True
    return rows, labels


def fit_committee(n_tasks, rows, labels):
    QueryByCommittee(
        LogisticRegression(), n_members=n_tasks, max_queries=2, random_state=0
    ).fit(rows, labels)


def fit_grid(n_tasks, rows, labels):
    sizes = {"max_iter": np.arange(1, n_tasks + 1)}
    GridSearchCV(AveragedPerceptron(random_state=0), sizes, cv=2, refit=False).fit(
        rows, labels
    )


@pytest.mark.parametrize(("fit", "n_more"), [(fit_committee, 6), (fit_grid, 12)])
def test_tables_are_not_sent_with_every_task(fit, n_more, client, bytes_moved):
    moved = []
    for number in (2, 8):
        tables = new_tables()
        with parallel_config("dask", scatter=list(tables)):
            fit(number, *tables)
        moved.append(bytes_moved())
    assert moved[0] > WIDE.nbytes
    # A table that goes with a task passes two wires, by way of the scheduler.
    assert moved[1] - moved[0] < n_more * WIDE.nbytes


def test_threads_of_a_fit_send_no_samples(client, bytes_moved):
    with parallel_config("dask"):
        for model in (ConjunctionLogisticRegression(random_state=0), RuleClassifier()):
            model.fit(WIDE, WIDE_LABELS)
    assert bytes_moved() < WIDE.nbytes / 8  # the bits


def test_what_is_sent_with_every_task_is_counted(client, bytes_moved):
    with parallel_config("dask"):
        Parallel(batch_size=1)(delayed(len)([WIDE]) for _ in range(8))
    assert bytes_moved() > 2 * 8 * WIDE.nbytes
