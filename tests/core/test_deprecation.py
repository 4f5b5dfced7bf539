"""Old names warn and still work: in the constructor, set_params and stored models."""

import inspect
import warnings

import pytest
from _instances import public_estimators
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import InconsistentVersionWarning

import sklboolean
from sklboolean._core import versioned
from sklboolean._core.deprecation import Gone, old_attribute, old_parameters


def _to_schedule(name, value, params):
    """Put it into the dict `schedule`."""
    params["schedule"] = (params["schedule"] or {}) | {name: value}


class Plain(BaseEstimator):
    def __init__(self, cv=3, schedule=None):
        self.cv = cv
        self.schedule = schedule


@old_parameters(
    n_folds="cv",
    gamma=_to_schedule,
    delta=_to_schedule,
    width=Gone(5, "Leave it out."),
)
class Estimator(Plain):
    def __init__(self, cv=3, schedule=None):
        super().__init__(cv, schedule)

    old_ = old_attribute("old_", "new_")


def test_old_names_are_no_parameters():
    assert set(Estimator().get_params()) == {"cv", "schedule"}
    assert list(inspect.signature(Estimator).parameters) == ["cv", "schedule"]


def test_a_renamed_parameter_sets_the_new_one():
    with pytest.warns(FutureWarning, match="'n_folds' is deprecated. Use 'cv'"):
        assert Estimator(n_folds=7).cv == 7
    with pytest.warns(FutureWarning, match="n_folds"):
        assert clone(Estimator(cv=2)).set_params(n_folds=4).cv == 4


def test_a_rule_sees_what_is_set_by_position_and_what_other_rules_made():
    with pytest.warns(FutureWarning, match="Put it into the dict"):
        model = Estimator(5, {"kept": 1}, gamma=0.1, delta=0.2)
    assert model.cv == 5
    assert model.schedule == {"kept": 1, "gamma": 0.1, "delta": 0.2}
    with pytest.warns(FutureWarning, match="gamma"):
        model.set_params(gamma=0.3)
    assert model.schedule == {"kept": 1, "gamma": 0.3, "delta": 0.2}


def test_a_parameter_that_went_takes_its_old_default_only():
    with pytest.warns(FutureWarning, match="'width' is deprecated. Leave it out"):
        assert Estimator(width=5).get_params() == Estimator().get_params()
    with pytest.raises(ValueError, match=r"width=6 is not supported .* uses 5. Leave"):
        Estimator(width=6)


def test_unknown_parameters_are_refused_as_ever():
    with pytest.raises(TypeError, match="unexpected keyword argument 'height'"):
        Estimator(height=1)
    with pytest.raises(ValueError, match="Invalid parameter 'height'"):
        Estimator().set_params(height=1)


def test_a_stored_model_of_old_parameters_is_read_in_silence():
    model = Estimator.__new__(Estimator)  # as pickle does
    model.__setstate__({"n_folds": 9, "width": 6, "gamma": 0.5, "new_": 1})
    assert vars(model) == {"cv": 9, "schedule": {"gamma": 0.5}, "new_": 1}


def test_an_old_attribute_reads_the_new_one():
    model = Estimator()
    assert not hasattr(model, "old_")
    model.new_ = 3
    with pytest.warns(FutureWarning, match="'old_' is deprecated. Use 'new_'"):
        assert model.old_ == 3


@pytest.mark.parametrize("name", sorted(public_estimators()))
def test_a_model_of_an_earlier_release_has_the_defaults_of_new_parameters(name):
    estimator = getattr(sklboolean, name)
    loaded = estimator.__new__(estimator)
    loaded.__setstate__({"other_": 1})
    assert (repr(loaded), loaded.other_) == (repr(estimator()), 1)


@pytest.mark.parametrize("name", sorted(public_estimators()))
def test_a_model_of_a_later_release_warns(name, monkeypatch):
    estimator = getattr(sklboolean, name)
    state = estimator().__getstate__()
    with warnings.catch_warnings(action="error"):
        estimator.__new__(estimator).__setstate__(state)
    monkeypatch.setattr(versioned, "VERSION", "0.0.9")
    with pytest.warns(InconsistentVersionWarning, match="when using .* 0.0.9"):
        estimator.__new__(estimator).__setstate__(state)
