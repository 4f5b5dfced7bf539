"""Bad input and pruning of the online learners."""

import numpy as np
import pytest
from scipy import sparse

from sklboolean.linear_model import AveragedPerceptron, ConsistentHalfspace, Winnow

BAD = [
    (AveragedPerceptron, {"margin": -1.0}, "margin"),
    (AveragedPerceptron, {"margin": (1.0, 2.0, 3.0)}, "margin"),
    (AveragedPerceptron, {"margin": (1.0, 2.0), "multi_class": "joint"}, "pair"),
    (AveragedPerceptron, {"learning_rate": "aggressive", "margin": 0.0}, "margin"),
    (AveragedPerceptron, {"learning_rate": 0.0}, "learning_rate"),
    (AveragedPerceptron, {"learning_rate": "falling"}, "learning_rate"),
    (AveragedPerceptron, {"average": "median"}, "average"),
    (AveragedPerceptron, {"class_weight": {0: 0, 1: 0}}, "class_weight"),
    (AveragedPerceptron, {"early_stopping": True}, "early_stopping"),
    (Winnow, {"promotion": 1.0}, "promotion"),
    (Winnow, {"promotion": (1.1, -0.5)}, "promotion"),
    (Winnow, {"promotion": (1.1, 0.5, 2)}, "promotion"),
    (Winnow, {"threshold": "high"}, "threshold"),
    (Winnow, {"variant": "negative"}, "variant"),
    (Winnow, {"variant": "positive"}, "Negative values in data"),
    (Winnow, {"variant": "complement", "binarize": None}, "binarize"),
    (
        Winnow,
        {"variant": "complement_conjunction", "multi_class": "joint", "binarize": 0.0},
        "ovr",
    ),
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
        {"learning_rate": 1.0},
        {"learning_rate": "adagrad"},
    ),
    (Winnow, {"average": None}, {"average": "mean"}),
    (Winnow, {"average": "mean"}, {"average": "longest"}),
    (Winnow, {"variant": "positive"}, {"variant": "complement"}),
    (Winnow, {"variant": "positive"}, {"variant": "balanced"}),
    (Winnow, {"threshold": None}, {"threshold": "auto"}),
    (Winnow, {"variant": "complement"}, {"variant": "complement_conjunction"}),
]


@pytest.mark.parametrize(("learner", "first", "then"), CHANGES, ids=str)
def test_what_was_learned_otherwise_cannot_go_on(learner, first, then):
    """Compiled loops would write beyond the arrays of the other kind."""
    X = np.eye(70, dtype=int)
    y = np.arange(70) % 2
    model = learner(**first).fit(X, y).set_params(**then)
    before = dict(vars(model))
    name = next(iter(then))
    with pytest.raises(ValueError, match=f"{name}="):
        model.partial_fit(X, y)
    assert vars(model) == before
    model.fit(X, y)


def test_rates_and_margins_may_change():
    X, y = np.eye(6, dtype=int), np.arange(6) % 2
    model = AveragedPerceptron().fit(X, y)
    model.set_params(learning_rate="inverse_sqrt", margin=1.0)
    assert np.isfinite(model.partial_fit(X, y).coef_).all()
    model.set_params(learning_rate=0.5).partial_fit(X, y)


OLD = [
    (
        AveragedPerceptron,
        {"learning_rate_schedule": "adagrad", "tol": None, "n_jobs": 2},
        {"learning_rate": "adagrad"},
    ),
    (
        AveragedPerceptron,
        {"learning_rate_schedule": "inverse_sqrt", "aggressive": True},
        {"learning_rate": "aggressive"},
    ),
    (AveragedPerceptron, {"aggressive": False, "learning_rate": 0.5}, {}),
    (
        Winnow,
        {"promotion": 2.0, "demotion": 0, "threshold": 5.5, "variant": "positive"},
        {"promotion": (2.0, 0)},
    ),
    (
        Winnow,
        {"variant": "complement", "target": "conjunction", "fit_intercept": False},
        {"variant": "complement_conjunction"},
    ),
    (Winnow, {"fit_intercept": False, "target": "disjunction"}, {"threshold": None}),
    (ConsistentHalfspace, {"solver": "linprog", "sigma": 0.1}, {"sigma": None}),
    (ConsistentHalfspace, {"solver": "modified_perceptron"}, {"sigma": 0.05}),
    (ConsistentHalfspace, {"max_starts": 2, "abstain_label": None}, {}),
]


@pytest.mark.parametrize(("learner", "old", "new"), OLD, ids=str)
def test_parameters_of_version_0_2_are_translated(learner, old, new):
    with pytest.warns(FutureWarning, match="deprecated"):
        model = learner(**old)
    today = learner(**{k: v for k, v in old.items() if k in model.get_params()} | new)
    assert model.get_params() == today.get_params()
    with pytest.warns(FutureWarning, match="deprecated"):
        assert learner().set_params(**old).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("learner", "old", "told"),
    [
        (AveragedPerceptron, {"tol": 0.1}, "max_iter, or early_stopping"),
        (AveragedPerceptron, {"n_iter_no_change": 2}, "GridSearchCV"),
        (Winnow, {"validation_fraction": 0.2}, "GridSearchCV"),
        (
            AveragedPerceptron,
            {"aggressive": True, "learning_rate": 0.5},
            "Set learning_rate='aggressive', and divide",
        ),
        (Winnow, {"target": "conjunction"}, "learns either target"),
        (Winnow, {"fit_intercept": False, "threshold": 2.0}, "threshold=None"),
        (ConsistentHalfspace, {"abstain_label": "?"}, "np.where"),
    ],
)
def test_what_is_not_supported_any_more_says_what_to_do(learner, old, told):
    with pytest.raises(ValueError, match=told):
        learner(**old)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_negations_need_values_of_at_most_1(convert):
    X = convert(np.array([[0.5, 0.0], [1.0, 2.0], [0.0, 1.0], [1.0, 0.0]]))
    model = Winnow(variant="complement", binarize="passthrough")
    with pytest.raises(ValueError, match="X holds 2"):
        model.fit(X, [0, 1, 0, 1])


def test_a_stored_model_with_an_l2_penalty_is_refused_in_words():
    state = AveragedPerceptron().fit([[0], [1]], [0, 1])._state
    stored = vars(state) | {"scale": 0.5, "clock": 1.5}
    with pytest.raises(ValueError, match=r"version 0\.2 with alpha"):
        state.__setstate__(stored)
    state.__setstate__(stored | {"scale": 1.0})
