"""Training that is stored between its parts ends in the same model, bit by bit."""

import joblib
import numpy as np
import pytest
from _instances import (
    MODELS,
    answers,
    data,
    ignores_labels,
    same_answers,
)
from sklearn.base import clone

IN_PARTS = [n for n, m in MODELS.items() if hasattr(clone(m), "partial_fit")]

X, Y = data(120, seed=2)


def through_file(model, folder):
    joblib.dump(model, folder / "model.joblib")
    return joblib.load(folder / "model.joblib")


def same_state(first, second):
    """Compare all that two estimators hold, private state included."""
    first, second = vars(first), vars(second)
    assert first.keys() == second.keys()
    for name in first:
        assert joblib.hash(first[name]) == joblib.hash(second[name]), name


def learn_part(model, part):
    options = {} if ignores_labels(model) else {"classes": np.unique(Y)}
    return model.partial_fit(X[part], Y[part], **options)


@pytest.mark.parametrize("name", IN_PARTS)
def test_stored_between_parts(name, tmp_path):
    whole, parts = clone(MODELS[name]), clone(MODELS[name])
    for first in range(0, len(X), 30):
        part = slice(first, first + 30)
        whole = learn_part(whole, part)
        parts = through_file(learn_part(parts, part), tmp_path)
    same_state(through_file(whole, tmp_path), through_file(parts, tmp_path))
    same_answers(answers(parts, X), answers(whole, X))


def test_estimators_that_learn_on_are_here():
    assert len({type(MODELS[name]) for name in IN_PARTS}) >= 8
