"""Bad input and pruning of the online learners."""

import numpy as np
import pytest
from scipy import sparse

from sklboolean._core.base import History
from sklboolean.linear_model import AveragedPerceptron, Winnow

BAD = [
    (AveragedPerceptron, {"margin": -1.0}, "margin"),
    (AveragedPerceptron, {"margin": (1.0, 2.0, 3.0)}, "margin"),
    (AveragedPerceptron, {"margin": (1.0, 2.0), "multi_class": "joint"}, "pair"),
    (AveragedPerceptron, {"aggressive": True, "margin": 0.0}, "margin"),
    (AveragedPerceptron, {"learning_rate": 0.0}, "learning_rate"),
    (AveragedPerceptron, {"alpha": -1.0}, "alpha"),
    (AveragedPerceptron, {"learning_rate_schedule": "falling"}, "schedule"),
    (AveragedPerceptron, {"average": "median"}, "average"),
    (AveragedPerceptron, {"class_weight": {0: 0, 1: 0}}, "class_weight"),
    (AveragedPerceptron, {"early_stopping": True}, "early_stopping"),
    (Winnow, {"promotion": 1.0}, "promotion"),
    (Winnow, {"demotion": -0.5}, "demotion"),
    (Winnow, {"threshold": "high"}, "threshold"),
    (Winnow, {"variant": "negative"}, "variant"),
    (Winnow, {"variant": "positive"}, "Negative values in data"),
    (Winnow, {"variant": "complement", "binarize": None}, "binarize"),
    (Winnow, {"target": "conjunction", "multi_class": "joint"}, "ovr"),
]


@pytest.mark.parametrize(("learner", "parameters", "named"), BAD)
def test_bad_input_is_named_and_nothing_is_forgotten(learner, parameters, named):
    X, y = [[1, -1], [0, 1], [2, 0], [0, 0]], [0, 1, 0, 1]
    model = learner(random_state=0).fit(X, y)
    before = model.coef_.copy(), model.t_
    model.set_params(**parameters)
    for method in (model.fit, model.partial_fit):
        if parameters.get("early_stopping") and method == model.partial_fit:
            continue
        # Training cannot be resumed with another variant, whatever the data.
        message = named if method == model.fit else f"{named}|variant="
        with pytest.raises(ValueError, match=message):
            method(X, y)
        assert (model.coef_ == before[0]).all()
        assert model.t_ == before[1]


@pytest.mark.parametrize("learner", [AveragedPerceptron(), Winnow()])
def test_pruning_goes_by_the_published_weights(learner):
    X = [[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]]
    model = learner.fit(X, [0, 1, 0, 1])
    raw, published = model.raw_coef_.copy(), model.coef_.copy()
    middle = sorted(abs(published[0]))[1]
    model.prune(middle)
    assert ((model.coef_ == 0) == (abs(published) <= middle)).all()
    assert (model.raw_coef_ == raw).all()


CHANGES = [
    (AveragedPerceptron, {"average": None}, {"average": "mean"}),
    (AveragedPerceptron, {"average": "mean"}, {"average": "longest"}),
    (AveragedPerceptron, {"average": "longest"}, {"average": "mean"}),
    (
        AveragedPerceptron,
        {"learning_rate_schedule": "constant"},
        {"learning_rate_schedule": "adagrad"},
    ),
    (Winnow, {"average": None}, {"average": "mean"}),
    (Winnow, {"average": "mean"}, {"average": "longest"}),
    (Winnow, {"variant": "positive"}, {"variant": "complement"}),
    (Winnow, {"variant": "positive"}, {"variant": "balanced"}),
    (Winnow, {"target": "disjunction"}, {"target": "conjunction"}),
]


@pytest.mark.parametrize(("learner", "first", "then"), CHANGES, ids=str)
@pytest.mark.parametrize("method", ["fit", "partial_fit", "fit_partitions"])
def test_what_was_learned_otherwise_cannot_go_on(learner, first, then, method):
    """Compiled loops would write beyond the arrays of the other kind."""
    X = np.eye(70, dtype=int)
    y = np.arange(70) % 2
    model = learner(warm_start=True, **first).fit(X, y).set_params(**then)
    before = dict(vars(model))
    parts = [(X[::3], y[::3]), (X[1::3], y[1::3])]
    data = (parts,) if method == "fit_partitions" else (X, y)
    name = next(iter(then))
    with pytest.raises(ValueError, match=f"{name}="):
        getattr(model, method)(*data)
    assert vars(model) == before
    model.set_params(warm_start=False)
    if then.get("average") != "longest" or method != "fit_partitions":
        getattr(model, "fit" if method == "partial_fit" else method)(*data)


def test_rates_and_margins_may_change():
    X, y = np.eye(6, dtype=int), np.arange(6) % 2
    model = AveragedPerceptron(warm_start=True).fit(X, y)
    model.set_params(
        learning_rate=0.5, margin=1.0, learning_rate_schedule="inverse_sqrt"
    )
    assert np.isfinite(model.fit(X, y).partial_fit(X, y).coef_).all()


def test_tol_is_a_share_of_the_samples():
    history = History(mistakes=[20, 19, 18, 17])  # of 100 samples, .01 less each time
    for tol, has_converged in ((0.02, True), (0.005, False), (None, False)):
        model = AveragedPerceptron(tol=tol, n_iter_no_change=3)
        assert model._has_converged(history, 100) == has_converged


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_negations_need_values_of_at_most_1(convert):
    X = convert(np.array([[0.5, 0.0], [1.0, 2.0], [0.0, 1.0], [1.0, 0.0]]))
    model = Winnow(variant="complement", binarize="passthrough")
    with pytest.raises(ValueError, match="X holds 2"):
        model.fit(X, [0, 1, 0, 1])
