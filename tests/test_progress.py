"""Progress of fits: the lines of ``verbose``, and scikit-learn's callbacks."""

import re

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sklboolean
from sklboolean import (
    AveragedPerceptron,
    BernoulliMixture,
    BooleanEnsembleClassifier,
    BooleanEnsembleRegressor,
    BooleanGaussianProcessClassifier,
    BooleanGaussianProcessRegressor,
    BooleanGradientBoostingClassifier,
    BooleanGradientBoostingRegressor,
    BooleanSVC,
    BoostByMajority,
    BoostByMajorityRegressor,
    CombinationMachine,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    DensityMixture,
    GaussianCombinationMachine,
    KernelPerceptron,
    OnlineBoostByMajority,
    QueryByCommittee,
    RuleClassifier,
    SampledCombinationMachine,
    Winnow,
)
from sklboolean.boosting import BoostingSchedule

ESTIMATORS = {
    "averaged_perceptron": AveragedPerceptron(max_iter=4),
    "averaged_perceptron_early": AveragedPerceptron(max_iter=4, early_stopping=True),
    "winnow": Winnow(max_iter=4),
    "bernoulli_mixture": BernoulliMixture(3, n_init=3),
    "boolean_svc": BooleanSVC(),
    "gaussian_process_classifier": BooleanGaussianProcessClassifier(max_iter=3),
    "gaussian_process_regressor": BooleanGaussianProcessRegressor(max_iter=3),
    "boost_by_majority": BoostByMajority(
        n_estimators=11, schedule=BoostingSchedule(gamma=0.1)
    ),
    "boost_by_majority_auto": BoostByMajority(n_estimators=11),
    "boost_by_majority_regressor": BoostByMajorityRegressor(n_estimators=11),
    "combination_machine": CombinationMachine(2, max_iter=9),
    "combination_machine_tree": CombinationMachine(2, base="chow_liu", max_iter=9),
    "conjunction_logistic_regression": ConjunctionLogisticRegression(),
    "conjunction_regressor": ConjunctionRegressor(),
    "density_mixture": DensityMixture(n_components=2, max_iter=3),
    "density_mixture_auto": DensityMixture(max_iter=2),
    "gradient_boosting": BooleanGradientBoostingClassifier(max_iter=3),
    "gradient_boosting_regressor": BooleanGradientBoostingRegressor(max_iter=3),
    "gaussian_machine": GaussianCombinationMachine(2, max_iter=9),
    "kernel_perceptron": KernelPerceptron(max_iter=4),
    "boolean_ensemble": BooleanEnsembleClassifier(
        [("bayes", BernoulliNB()), ("linear", LogisticRegression())]
    ),
    "boolean_ensemble_regressor": BooleanEnsembleRegressor([("ridge", Ridge())]),
    "kernel_perceptron_one_order": KernelPerceptron(n_orders=1, max_iter=4),
    "online_boost_by_majority": OnlineBoostByMajority(n_estimators=11, max_iter=3),
    "query_by_committee": QueryByCommittee(max_queries=12),
    "rule_classifier": RuleClassifier(),
    "sampled_combination_machine": SampledCombinationMachine(2, max_iter=4),
}
LINE = re.compile(r"^\[(\w+)\] (\w+) (\d+)( of \d+)?, \d+\.\d s: .+$")


class Recorder:
    """A callback that notes the hooks that are called, and keeps fitted models.

    Parameters
    ----------
    stop_after : int or None
        Number of steps after which it stops the fit.
    """

    max_propagation_depth = None  # nested estimators get it, too

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.events, self.models = [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.events.append(f"end {context.task_name}")
        self.models.append(fitted_estimator)
        n_steps = sum(event.startswith("end") for event in self.events)
        return self.stop_after is not None and n_steps >= self.stop_after


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).integers(0, 2, (120, 12))
    return X, (X[:, 0] & X[:, 1]) | X[:, 2]


def answers(model, X):
    if hasattr(model, "score_samples"):
        return model.score_samples(X)
    return model.predict(X)


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    estimator = clone(ESTIMATORS[request.param])
    if hasattr(estimator, "random_state"):
        estimator.random_state = 0
    return estimator


def test_every_estimator_with_verbose_is_tested():
    tested = {type(estimator) for estimator in ESTIMATORS.values()}
    iterative = {
        kind
        for name in sklboolean.__all__
        if isinstance(kind := getattr(sklboolean, name), type)
        and "verbose" in getattr(kind, "_get_param_names", list)()
        and hasattr(kind, "fit")
    }
    assert iterative <= tested


def test_lines_have_one_format_and_callbacks_see_each_step(estimator, data, capsys):
    alone = clone(estimator).set_params(verbose=2).fit(*data)
    lines = capsys.readouterr().out.splitlines()
    assert lines
    for line in lines:
        assert LINE.match(line).group(1) == type(estimator).__name__
    units = {}
    for line in lines:
        units.setdefault(LINE.match(line).group(2), []).append(line)
    for group in units.values():
        numbers = [int(LINE.match(line).group(3)) for line in group]
        assert numbers == list(range(1, len(group) + 1))
    pytest.importorskip("sklearn.callback")
    recorder = Recorder()
    watched = clone(estimator).set_callbacks(recorder).fit(*data)
    assert capsys.readouterr().out == ""
    np.testing.assert_array_equal(answers(watched, data[0]), answers(alone, data[0]))
    events = recorder.events
    assert events[:2] == ["setup", "begin fit"]
    assert events[-2:] == ["end fit", "teardown"]
    steps = events[2:-2]
    assert len(steps) == 2 * len(lines)
    assert steps[::2] == [step.replace("end", "begin") for step in steps[1::2]]
    # The model of the last step, and the whole model, predict as the fitted one.
    assert not {"_callback_fit_ctx", "_skl_callbacks_to_teardown"} & set(vars(watched))
    for model in recorder.models[-2:]:
        if model is not None:
            assert answers(model, data[0]).shape == (len(data[0]),)
    np.testing.assert_array_equal(
        answers(recorder.models[-1], data[0]), answers(alone, data[0])
    )


def test_models_of_steps_are_those_of_shorter_fits(data):
    pytest.importorskip("sklearn.callback")
    recorder = Recorder()
    model = AveragedPerceptron(max_iter=4, random_state=0)
    clone(model).set_callbacks(recorder).fit(*data)
    for n_epochs in (1, 2, 3, 4):
        shorter = clone(model).set_params(max_iter=n_epochs).fit(*data)
        seen = recorder.models[n_epochs - 1]
        np.testing.assert_array_equal(seen.raw_coef_, shorter.raw_coef_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_callback_stops_the_fit(estimator, data):
    pytest.importorskip("sklearn.callback")
    recorder = Recorder(stop_after=1)
    estimator.set_callbacks(recorder).fit(*data)
    # One step of each kind, and the fit itself.
    steps = {event for event in recorder.events if event.startswith("end")}
    assert sum(event.startswith("end") for event in recorder.events) == len(steps)
    assert answers(estimator, data[0]).shape == (len(data[0]),)


def test_a_failed_fit_ends_callbacks_and_restores_the_estimator(estimator, data):
    pytest.importorskip("sklearn.callback")

    class Failing(Recorder):
        def on_fit_task_end(self, estimator, context):
            raise RuntimeError("a callback failed")

    recorder = Failing()
    estimator.set_callbacks(recorder)
    before = dict(vars(estimator))
    with pytest.raises(RuntimeError, match="a callback failed"):
        estimator.fit(*data)
    assert recorder.events[-1] == "teardown"
    assert vars(estimator).keys() == before.keys()


def test_callbacks_reach_the_estimator_of_a_pipeline_and_a_search(data):
    pytest.importorskip("sklearn.callback")
    recorder = Recorder()
    pipeline = make_pipeline(
        StandardScaler(with_mean=False), AveragedPerceptron(max_iter=3)
    )
    pipeline.set_callbacks(recorder).fit(*data)
    assert recorder.events.count("setup") == 1
    assert "end epoch" in recorder.events
    recorder = Recorder()
    search = GridSearchCV(AveragedPerceptron(), {"max_iter": [1, 2]}, cv=2)
    search.set_callbacks(recorder).fit(*data)
    # Two folds of 1 and 2 epochs, and the final fit.
    best = search.best_params_["max_iter"]
    assert recorder.events.count("end epoch") == 2 * (1 + 2) + best
    assert is_classifier(search)
