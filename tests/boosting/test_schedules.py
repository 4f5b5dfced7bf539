"""Schedules: grid search reaches them, and parameters of version 0.2 make them."""

from pathlib import Path

import joblib
import numpy as np
import pytest
from boosting_cases import make_booster
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor

from sklboolean import (
    BoostByMajority,
    BoostByMajorityRegressor,
    ConjunctionStump,
    FilteringBoostByMajority,
    OnlineBoostByMajority,
)
from sklboolean.boosting import (
    BoostingSchedule,
    CrossValidatedSchedule,
    FilteringSchedule,
)

STORED = Path(__file__).parents[1] / "robustness" / "pickles" / "0.2.0"


def same(one, other):
    """Compare the parameters of estimators, with those of their schedules."""
    return type(one) is type(other) and repr(one) == repr(other)


def test_grid_search_reaches_the_schedule():
    X = np.random.default_rng(0).integers(0, 2, (60, 6))
    search = GridSearchCV(
        make_booster(n_estimators=3, gamma=0.1),
        {"schedule__gamma": [0.05, 0.2], "schedule__holdout": [None, 0.5]},
    )
    assert search.fit(X, X[:, :3].sum(axis=1) > 1).best_params_["schedule__gamma"] in (
        0.05,
        0.2,
    )


@pytest.mark.parametrize(
    ("model", "old", "schedule"),
    [
        (BoostByMajority(), {"gamma": 0.1}, BoostingSchedule(0.1)),
        (
            BoostByMajority(),
            {"holdout": 0.3, "gamma": CrossValidatedSchedule(["fixed"], cv=2)},
            CrossValidatedSchedule(["fixed"], cv=2, holdout=0.3),
        ),
        (
            BoostByMajority(schedule=CrossValidatedSchedule(cv=2)),
            {"max_tries": 2},
            CrossValidatedSchedule(cv=2, max_tries=2),
        ),
        (
            BoostByMajority(schedule=CrossValidatedSchedule(holdout=0.2)),
            {"gamma": "measured"},
            BoostingSchedule("measured", holdout=0.2),
        ),
        (
            BoostByMajorityRegressor(),
            {"sampling": "resample", "n_samples_weak": 9, "weak_failure": "abort"},
            BoostingSchedule(
                sampling="resample", n_samples_weak=9, weak_failure="abort"
            ),
        ),
        (
            FilteringBoostByMajority(),
            {"gamma": 0.2, "mode": "theory", "delta": 0.2},
            FilteringSchedule(0.2, mode="theory", delta=0.2),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_old_parameters_make_a_schedule(model, old, schedule):
    given = model.schedule
    with pytest.warns(FutureWarning, match=r"Set schedule=\w+Schedule"):
        changed = clone(model).set_params(**old)
    assert same(changed.schedule, schedule)
    assert given == "auto" or same(given, model.schedule)
    if given == "auto":
        with pytest.warns(FutureWarning, match="with this parameter"):
            assert same(type(model)(**old).schedule, schedule)


def test_other_old_parameters_warn():
    with pytest.warns(FutureWarning, match="Use 'candidates' instead"):
        assert CrossValidatedSchedule(policies=["fixed"]).candidates == ["fixed"]
    with pytest.warns(FutureWarning, match=r"Set ``early_stopping`` to this number"):
        model = BoostByMajority(early_stopping=True, n_iter_no_change=5)
    assert model.early_stopping == 5
    with pytest.warns(FutureWarning, match="n_iter_no_change"):
        assert BoostByMajority(n_iter_no_change=5).early_stopping is False
    with pytest.warns(FutureWarning, match="Leave it out"):
        ConjunctionStump(width=None)
    for kind, old in [
        (ConjunctionStump, {"width": 9}),
        (BoostByMajority, {"validation_fraction": 0.2}),
        (OnlineBoostByMajority, {"shuffle": False}),
    ]:
        with pytest.raises(ValueError, match="not supported since version"):
            kind(**old)


def test_old_attributes_warn_and_those_of_stored_models_are_renamed():
    X = np.random.default_rng(0).integers(0, 2, (60, 6))
    model = BoostByMajority(n_estimators=3, random_state=0)
    models = [model.fit(X, X[:, :3].sum(axis=1) > 1)]
    models.append(joblib.load(STORED / "boost_by_majority.joblib")["model"])
    for model in models:
        for old, new in [
            ("policy_", "schedule_"), ("policy_scores_", "schedule_scores_"),
            ("plans_", "schedule_history_"),
        ]:  # fmt: skip
            with pytest.warns(FutureWarning, match=f"Use '{new}' instead"):
                assert getattr(model, old) is getattr(model, new)


@pytest.mark.parametrize(
    "schedule", [CrossValidatedSchedule(), BoostingSchedule(holdout=0.5)], ids=repr
)
def test_a_regressor_holds_no_samples_out(schedule):
    model = BoostByMajorityRegressor(schedule=schedule)
    with pytest.raises(ValueError, match="takes no CrossValidatedSchedule and no hold"):
        model.fit([[0.0], [1.0]], [0.0, 1.0])


def test_max_estimators_limits_a_regressor_too():
    X = np.random.default_rng(0).random((80, 3))
    model = BoostByMajorityRegressor(
        DecisionTreeRegressor(max_depth=1), delta=0.2, random_state=0,
        schedule=BoostingSchedule(0.01, max_estimators=3),
    )  # fmt: skip
    with pytest.warns(UserWarning, match="is required"):
        assert model.fit(X, X[:, 0]).n_rounds_ == 3
