"""A fit that fails leaves the estimator as it was, whenever and for whatever reason."""

import pickle

import joblib
import numpy as np
import pytest
from _instances import (
    MODELS,
    OF_CLASSES,
    answers,
    data,
    fitted,
    ignores_labels,
    same_answers,
    target_for,
)
from faults.moments import count_moments, interrupt
from sklearn.base import clone
from sklearn.utils import get_tags


def learning_calls(model, X, y):
    """What can fail: fit, and partial_fit where there is one."""
    calls = {"fit": lambda: model.fit(X, y)}
    if hasattr(model, "partial_fit"):
        options = {} if ignores_labels(model) else {"classes": np.unique(y)}
        calls["partial_fit"] = lambda: model.partial_fit(X, y, **options)
    return calls


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "is_fitted"),
    [(name, False) for name in OF_CLASSES] + [(name, True) for name in MODELS],
)
def test_interrupt_at_any_moment_leaves_the_state(name, is_fitted):
    """A warning comes when all is learned: what strikes then finds the new model."""
    X, y = data(seed=1)
    model = fitted(name) if is_fitted else clone(MODELS[name])
    y = target_for(model, X, y)
    for method in learning_calls(model, X, y):
        learning_calls(copy_of(model), X, y)[method]()  # fills caches of functions
        whole = copy_of(model)
        last = count_moments(learning_calls(whole, X, y)[method]) - 1
        quarters = (0, 2, 4) if is_fitted else (3, 4)
        for moment in sorted({last * i // 4 for i in quarters}):
            # A copy: a model that keeps what prediction prepared takes fewer moments.
            other = copy_of(model)
            before = joblib.hash(vars(other))
            with pytest.raises(KeyboardInterrupt):
                interrupt(learning_calls(other, X, y)[method], moment)
            if moment == last and joblib.hash(vars(other)) != before:
                same_answers(answers(other, X), answers(whole, X))
                model = whole
            else:
                assert joblib.hash(vars(other)) == before, (method, moment)


def copy_of(model):
    return pickle.loads(pickle.dumps(model))


# scikit-learn 1.7 still warns of what has no tags; 1.8 refuses it.
@pytest.mark.filterwarnings(
    "ignore:.*'object' object has no attribute '__sklearn_tags__':DeprecationWarning"
)
@pytest.mark.parametrize("name", OF_CLASSES)
def test_parameters_of_no_sense_leave_the_state(name):
    model, (X, y) = fitted(name), data(seed=1)
    y, n_refused = target_for(model, X, y), 0
    parameters = model.get_params(deep=False)
    for parameter in parameters:
        model.set_params(**{parameter: object()})
        before = dict(vars(model))
        try:
            model.fit(X, y)
        except (TypeError, ValueError, AttributeError):
            n_refused += 1
            assert same_objects(vars(model), before), parameter
        else:
            model = fitted(name)
        model.set_params(**parameters)
    assert n_refused >= len(parameters) // 2
    same_answers(answers(model, X), answers(fitted(name), X))


def same_objects(first, second):
    return first.keys() == second.keys() and all(first[k] is second[k] for k in first)


def with_nan(X, y):
    X = X.astype(float)
    X[-1, -1] = np.nan
    return X, y


BAD_DATA = [
    lambda X, y: (X, y[:-1]),
    lambda X, y: (X[:0], y[:0]),
    lambda X, y: (X, np.stack([y, y, 1 - y], axis=1)),
    with_nan,
]


@pytest.mark.parametrize("name", OF_CLASSES)
def test_bad_data_leave_the_answers(name):
    model, (X, y) = fitted(name), data(seed=1)
    before = answers(model, X)
    for spoil in BAD_DATA:
        bad = spoil(X, target_for(model, X, y))
        for call in learning_calls(model, *bad).values():
            if ignores_labels(model) and bad[0] is X:
                continue
            if spoil is with_nan and get_tags(model).input_tags.allow_nan:
                continue
            with pytest.raises((ValueError, TypeError)):
                call()
            same_answers(answers(model, X), before)
