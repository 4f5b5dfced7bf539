"""Parameters that others leave without effect are refused, not ignored."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklboolean import QueryByCommittee
from sklboolean.active_learning import (
    GramKernel,
    KernelVersionSpace,
    build_finite_space,
)

X = np.random.RandomState(0).randint(0, 2, size=(60, 4))
y = X[:, 0] & X[:, 1]
TREES = [DecisionTreeClassifier(), DecisionTreeClassifier(max_depth=1)]
FORMULAS = {"committee": "gibbs", "hypotheses": "conjunctions"}
THRESHOLDS = FORMULAS | {"hypotheses": "thresholds"}
FUNCTIONS = FORMULAS | {"hypotheses": [lambda rows: rows[:, 0] > 0]}
HALFSPACES = {"committee": "gibbs"}
SPACE = {"committee": build_finite_space("conjunctions", 4)}
FINAL = {"final_estimator": LogisticRegression()}

# Who is set, the parameter without effect, and what would give it one.
IDLE = {
    "classes of classifiers": ({}, {"hypotheses": "conjunctions"}, "'gibbs'"),
    "length of trees": ({}, {"max_literals": 2}, "'gibbs'"),
    "kernel of trees": ({}, {"kernel": "conjunction"}, "'gibbs'"),
    "constant of trees": ({}, {"fit_intercept": False}, "'gibbs'"),
    "drawing of trees": ({}, {"gibbs": "ep"}, "'gibbs'"),
    "noise of trees": ({}, {"eta": 0.1}, "'gibbs'"),
    "chains of trees": ({}, {"n_chains": 8}, "'gibbs'"),
    "estimator and list": ({"committee": TREES}, {"estimator": TREES[0]}, "bootstrap"),
    "number and list": ({"committee": TREES}, {"n_members": 9}, "bootstrap"),
    "noise of a list": ({"committee": TREES}, {"eta": 0.1}, "'gibbs'"),
    "estimator of gibbs": (HALFSPACES, {"estimator": TREES[0]}, "classifiers"),
    "number of gibbs": (FORMULAS, {"n_members": 9}, "classifiers"),
    "samples of gibbs": (FORMULAS, {"rebag": True}, "classifiers"),
    "kernel of formulas": (FORMULAS, {"kernel": "conjunction"}, "hypotheses=None"),
    "steps of formulas": (FORMULAS, {"n_steps": 5}, "hypotheses=None"),
    "drawing of formulas": (FORMULAS, {"gibbs": "ep"}, "hypotheses=None"),
    "length of thresholds": (THRESHOLDS, {"max_literals": 1}, "formulas"),
    "negated functions": (FUNCTIONS, {"monotone": True}, "formulas"),
    "length of halfspaces": (HALFSPACES, {"max_literals": 2}, "formulas"),
    "constant of a kernel": (
        HALFSPACES | {"kernel": "conjunction"}, {"fit_intercept": False}, "kernel=None",
    ),
    "noise of a space": (SPACE, {"eta": 0.1}, "'gibbs'"),
    "kernel of a space": (SPACE, {"kernel": "conjunction"}, "'gibbs'"),
    "number of a space": (SPACE, {"n_members": 9}, "classifiers"),
    "member or final": (FINAL, {"prediction": "gibbs"}, "final_estimator=None"),
}  # fmt: skip


@pytest.mark.parametrize(("used", "idle", "needed"), IDLE.values(), ids=IDLE)
def test_what_has_no_effect_is_refused(used, idle, needed):
    name = next(iter(idle))
    message = rf"{name} would have no effect: it needs .*{needed}"
    learner = QueryByCommittee(**used, **idle)
    for ask in (lambda: learner.fit(X, y), lambda: learner.query(X)):
        with pytest.raises(ValueError, match=message):
            ask()


def test_streams_are_asked_one_row_after_the_other():
    chunks = [(X[:30], y[:30]), (X[30:], y[30:])]
    for parameters, message in [
        ({"strategy": "margin"}, "'margin' compares rows"),
        ({"batch_size": 2}, "batch_size must be 1; got 2"),
        ({"initial": [3, 4]}, "initial must be a number of rows"),
    ]:
        learner = QueryByCommittee(**parameters)
        with pytest.raises(ValueError, match=message):
            learner.fit_stream(chunks)
        if "initial" not in parameters:  # rows that a fit on a pool may have asked for
            with pytest.raises(ValueError, match=message):
                learner.query_stream(X[0])
        with pytest.raises(ValueError, match=message):
            learner.set_params(mode="stream").fit(X, y)


def test_first_rows_are_those_of_the_pool_that_is_fitted():
    learner = QueryByCommittee(initial=[1, 40], random_state=0)
    for ask in (lambda: learner.query(X), lambda: learner.query_stream(X[0])):
        with pytest.raises(ValueError, match="names rows of the pool that fit gets"):
            ask()
    assert len(learner.fit(X, y).query(X)) == 1


def test_batches_are_far_apart_in_the_kernel_of_a_given_space():
    signs = 2.0 * X - 1
    gram = GramKernel(signs @ signs.T + 1)
    parameters = {"batch_size": 5, "max_queries": 20, "random_state": 0}
    given, built = (
        QueryByCommittee(**who, **parameters).fit(np.arange(len(X))[:, None], y)
        for who in (
            {"committee": KernelVersionSpace(gram, gibbs="ep")},
            {"committee": "gibbs", "gibbs": "ep", "kernel": gram},
        )
    )
    # Distances between numbers of rows would mean nothing.
    np.testing.assert_array_equal(given.query_indices_, built.query_indices_)
