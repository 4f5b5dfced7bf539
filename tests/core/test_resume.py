"""What a learner remembers of its parameters, and how it refuses others."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

from sklboolean._core.parameters import (
    check_same_params,
    flat_params,
    refuse_changed_params,
)


class Learner(BaseEstimator):
    def __init__(self, depth=1, base=None, rate=0.5):
        self.depth, self.base, self.rate = depth, base, rate


NAMES = ("depth", "base")


def learned(**parameters):
    learner = Learner(**parameters)
    learner._fitted_params = flat_params(learner, NAMES)
    return learner


def test_parameters_of_parameters_are_remembered():
    learner = learned(base=Learner(base=Learner(depth=3)))
    check_same_params(learner, NAMES)
    learner.base.base.depth = 4
    with pytest.raises(ValueError, match=r"base__base__depth=4: .*depth=3"):
        check_same_params(learner, NAMES)
    learner.set_params(base__base__depth=3, rate=0.1)
    check_same_params(learner, NAMES)
    # An equal one will do, another class will not.
    learner.base = Learner(base=Learner(depth=3))
    check_same_params(learner, NAMES)
    learner.base = None
    with pytest.raises(ValueError, match=r"base=None: .* base='.*\.Learner'"):
        check_same_params(learner, NAMES)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (1, 2), (None, 0), (np.ones(3), np.ones(2)), (np.ones(1), 1.0), (len, max),
        ([np.ones(2)], [np.ones(2)]), (Learner(), 1),
    ],
    ids=str,
)  # fmt: skip
def test_other_values_are_refused(old, new):
    learner = learned(depth=old)
    check_same_params(learner, NAMES)
    learner.depth = new
    with pytest.raises(ValueError, match="cannot be resumed with depth="):
        check_same_params(learner, NAMES)


@pytest.mark.parametrize(
    ("old", "new"), [(1, 1.0), (np.ones(2), np.ones(2)), ("a", "a"), ([1], [1])]
)
def test_equal_values_go_on(old, new):
    learner = learned(depth=old)
    learner.depth = new
    check_same_params(learner, NAMES)


def test_what_is_not_known_has_not_changed():
    older = Learner(depth=2)
    check_same_params(older, NAMES)
    with pytest.raises(ValueError, match="depth=2: the model was fitted with depth=1"):
        check_same_params(older, NAMES, depth=1)
    refuse_changed_params({"a": 1}, {"b": 2})


def test_steps_of_a_pipeline_are_looked_into():
    learner = learned(base=make_pipeline(Learner(depth=3)))
    check_same_params(pickle.loads(pickle.dumps(learner)), NAMES)
    learner.base[0].depth = 4
    with pytest.raises(ValueError, match="base__learner__depth=4"):
        check_same_params(learner, NAMES)
