"""BoostByMajority and bad input: errors name the argument and keep the old model."""

import pickle

import numpy as np
import pytest
from boosting_cases import make_booster, scheduled
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklboolean import BooleanStump, BoostByMajority, OnlineBoostByMajority
from sklboolean.boosting import BoostingSchedule, CrossValidatedSchedule

TREE = DecisionTreeClassifier(max_depth=2)


class Contrary(ClassifierMixin, BaseEstimator):
    """Says of every row that it was shown the other label."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.labels_ = dict(zip(map(bytes, X), y, strict=True))
        return self

    def predict(self, X):
        first, second = self.classes_
        known = [self.labels_.get(bytes(row), first) for row in X]
        return np.array([second if label == first else first for label in known])


def noisy_majority(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 9)).astype(np.uint8)
    y = np.where(X[:, :5].sum(axis=1) > 2, "yes", "no")
    return X, np.where(rng.random(n) < 0.1, np.where(y == "yes", "no", "yes"), y)


@pytest.fixture(scope="module")
def fitted():
    """A pickled model, so that no test can harm another's."""
    X, y = noisy_majority()
    model = make_booster(n_estimators=7, gamma=0.1, random_state=0)
    return pickle.dumps(model.fit(X, y))


@pytest.mark.parametrize("booster", [BoostByMajority, OnlineBoostByMajority])
@pytest.mark.parametrize("labels", [2, 3])
def test_an_even_number_of_rounds_is_the_next_odd_one(booster, labels):
    X, y = noisy_majority()
    y = y if labels == 2 else np.where(X[:, 6], "perhaps", y)
    odd = make_booster(n_estimators=5, random_state=0).fit(X, y)
    message = "n_estimators=4 hypotheses could be tied, so there are 5"
    with pytest.warns(UserWarning, match=message) as caught:
        even = make_booster(n_estimators=4, random_state=0).fit(X, y)
    assert len(caught) == 1
    np.testing.assert_array_equal(even.predict_proba(X), odd.predict_proba(X))
    assert even.n_estimators == 4


@pytest.mark.parametrize("fit", ["fit", "fit again"])
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_estimators": 0}, ValueError, r"^n_estimators == 0"),
        ({"n_estimators": -3}, ValueError, r"^n_estimators == -3"),
        ({"n_estimators": 5.0}, TypeError, r"^n_estimators must be an instance of"),
        ({"n_estimators": True}, TypeError, r"^n_estimators must be an integer"),
        ({"n_estimators": "all"}, TypeError, r"^n_estimators must be an instance of"),
        ({"n_estimators": None}, TypeError, r"^n_estimators must be an instance of"),
        ({"gamma": 0}, ValueError, r"^gamma must be above 0 and below 0\.5; got 0"),
        ({"gamma": 0.5}, ValueError, r"^gamma must be above 0 and below 0\.5"),
        ({"gamma": -0.1}, ValueError, r"^gamma must be above 0 and below 0\.5"),
        ({"gamma": np.nan}, ValueError, r"^gamma must be finite"),
        ({"gamma": np.inf}, ValueError, r"^gamma must be finite"),
        ({"gamma": "large"}, ValueError, r"^gamma must be one of .*'measured'"),
        ({"gamma": None}, TypeError, r"^gamma must be an instance of"),
        ({"target_error": 0}, ValueError, r"^target_error must be greater than 0"),
        ({"target_error": 1}, ValueError, r"^target_error must be below 1; got 1"),
        ({"target_error": np.nan}, ValueError, r"^target_error must be finite"),
        ({"target_error": "auto"}, TypeError, r"^target_error must be an instance of"),
        ({"sampling": "filter"}, ValueError, r"^sampling must be one of.*'resample'"),
        ({"sampling": None}, ValueError, r"^sampling must be one of"),
        ({"n_samples_weak": 0}, ValueError, r"^n_samples_weak == 0"),
        ({"n_samples_weak": 0.5}, TypeError, r"^n_samples_weak must be an instance of"),
        ({"holdout": 0.0}, ValueError, r"^holdout must be greater than 0"),
        ({"holdout": 1.0}, ValueError, r"^holdout must be below 1; got 1"),
        ({"holdout": "half"}, TypeError, r"^holdout must be an instance of"),
        ({"weak_failure": "stop"}, ValueError, r"^weak_failure must be one of"),
        ({"max_tries": 0}, ValueError, r"^max_tries == 0"),
        ({"max_tries": 1.5}, TypeError, r"^max_tries must be an instance of"),
        ({"max_estimators": 0}, ValueError, r"^max_estimators == 0"),
        ({"early_stopping": 0}, ValueError, r"^early_stopping == 0"),
        ({"early_stopping": 0.5}, TypeError, r"^early_stopping must be an instance of"),
        ({"schedule": 0.1}, ValueError, r"^schedule must be 'auto' or a BoostingSched"),
        ({"random_state": "x"}, ValueError, r"cannot be used to seed"),
        (
            {"estimator": DecisionTreeClassifier},
            TypeError,
            r"^estimator must be a clas",
        ),
        ({"estimator": "tree"}, TypeError, r"^estimator must be a classifier"),
        pytest.param(
            {"estimator": BooleanStump(binarize=-1)},
            ValueError,
            "^binarize",
        ),
        (
            {"estimator": KNeighborsClassifier(3), "sampling": "weight"},
            ValueError,
            r"^sampling='weight' needs .*KNeighborsClassifier does not: use sampling=",
        ),
    ],
    ids=str,
)
def test_bad_parameter_is_named_and_the_model_kept(
    fitted, fit, parameters, error, message
):
    X, y = noisy_majority()
    model = make_booster(gamma=0.1)
    if fit == "fit again":
        model = pickle.loads(fitted)
    good = model.get_params()
    before = set(vars(model))
    with pytest.raises(error, match=message):
        model.set_params(**scheduled(parameters)).fit(X, y)
    assert set(vars(model)) == before
    model.set_params(**good)
    if fit == "fit again":
        expected = pickle.loads(fitted).predict_proba(X)
        np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_early_stopping_needs_a_class_with_two_samples():
    booster = make_booster(gamma=0.1, early_stopping=True)
    with pytest.raises(ValueError, match="holds out no sample of 3, because no class"):
        booster.fit(np.eye(3), ["a", "b", "c"])
    assert not hasattr(booster, "classes_")


@pytest.mark.parametrize("base", [DecisionTreeRegressor(max_depth=2), Ridge()])
@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"]])
def test_regressor_is_no_weak_learner_of_labels(base, labels):
    X, y = noisy_majority()
    y = np.array(labels)[(y == "yes").astype(int)]
    with pytest.raises(
        (TypeError, ValueError), match=r"^estimator must be a classifier"
    ):
        make_booster(base, n_estimators=3, gamma=0.1).fit(X, y)


def bad_tables(X, y):
    """Yield arguments of fit that must be refused, and what must be said."""
    ones = np.ones(len(y))
    with_nan, infinite = X.astype(float), X.astype(float)
    with_nan[3, 1], infinite[3, 1] = np.nan, np.inf
    bad = -ones
    yield (X, np.full(len(y), "yes")), r"only one class, 'yes'; two are needed"
    yield (X, ones), r"only one class"
    yield (X, np.linspace(0, 1, len(y))), r"Unknown label type: y is continuous"
    yield (X, np.where(np.arange(len(y)) < 2, np.nan, ones)), r"[Nn]aN"
    yield (X, np.stack([ones, 1 - ones], axis=1)), r"y should be a 1d array|1d"
    yield (with_nan, y), r"NaN"
    yield (infinite, y), r"infinity"
    yield (X[:-1], y), r"inconsistent numbers of samples"
    yield (X[:0], y[:0]), r"0 sample"
    yield (X[:, :0], y), r"0 feature"
    yield (X[0], y), r"Expected 2D array"
    yield (X, y, bad), r"^sample_weight\[0\] is -1; weights must be at least 0"
    yield (
        (X, y, np.zeros(len(y))),
        r"^sample_weight must have a positive entry; all are zero",
    )
    yield (X, y, ones[:-1]), r"^sample_weight must have shape"
    yield (X, y, np.where(ones > 0, np.nan, 0)), r"sample_weight contains NaN"


@pytest.mark.parametrize("number", range(15))
def test_bad_table_is_named_and_the_model_kept(fitted, number):
    X, y = noisy_majority()
    tables = list(bad_tables(X, y))
    assert len(tables) == 15
    arguments, message = tables[number]
    with pytest.raises(ValueError, match=message):
        make_booster(n_estimators=3, gamma=0.1).fit(*arguments)
    model = pickle.loads(fitted)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.fit(*arguments)
    assert pickle.dumps(model) == before
    np.testing.assert_array_equal(
        model.decision_function(X), pickle.loads(fitted).decision_function(X)
    )


@pytest.mark.parametrize("method", ["fit", "predict"])
def test_sparse_table_needs_a_base_that_takes_it(method):
    X, y = noisy_majority()
    model = make_booster(Contrary(), n_estimators=3, gamma=0.1)
    assert not model.__sklearn_tags__().input_tags.sparse
    with pytest.raises(TypeError, match=r"[Ss]parse data was passed"):
        model.fit(sparse.csr_array(X), y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"gamma": 0.1, "n_estimators": 3},
        {"gamma": "measured", "n_estimators": 3},
        {"gamma": 0.1, "n_estimators": 3, "max_tries": 3},
        {"gamma": 0.2, "n_estimators": "auto", "target_error": 0.2},
        {"gamma": 0.1, "n_estimators": 3, "sampling": "resample"},
    ],
    ids=str,
)
def test_base_worse_than_chance_is_refused_and_the_model_kept(fitted, parameters):
    X, y = np.arange(60, dtype=np.uint8)[:, np.newaxis], np.array(["no", "yes"] * 30)
    X = np.unpackbits(X, axis=1)
    model = pickle.loads(fitted)
    good, before = model.get_params(), set(vars(model))
    model.set_params(estimator=Contrary(), **scheduled(parameters))
    with pytest.raises(ValueError, match=r"right on less than half .*Use a stronger"):
        model.fit(X, y)
    assert set(vars(model)) == before
    model.set_params(**good)
    X, _y = noisy_majority()
    expected = pickle.loads(fitted).predict(X)
    np.testing.assert_array_equal(model.predict(X), expected)


def test_promise_broken_is_an_error_on_request(fitted):
    X, y = noisy_majority()
    for gamma, message in [(0.45, r"0\.45 is required"), ("measured", None)]:
        model = pickle.loads(fitted)
        before = pickle.dumps(model.estimator_edges_)
        schedule = BoostingSchedule(gamma, weak_failure="raise")
        model.set_params(schedule=schedule, n_estimators=5)
        if message is None:
            model.fit(X, y)
            assert model.n_aborted_ == 0
            continue
        with pytest.raises(ValueError, match=rf"^In round 0 .*{message}.*'replan'"):
            model.fit(X, y)
        assert pickle.dumps(model.estimator_edges_) == before


@pytest.mark.parametrize("base", [None, TREE], ids=str)
@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
def test_other_width_is_refused(base, method):
    X, y = noisy_majority()
    model = make_booster(base, n_estimators=3, gamma=0.1, random_state=0)
    with pytest.raises(NotFittedError):
        getattr(model, method)(X)
    model.fit(X, y)
    message = "X has 8 features, but BoostByMajority is expecting 9 features"
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(X[:, 1:])
    with pytest.raises(ValueError, match="8 features"):
        list(model.staged_predict(sparse.csr_array(X[:, 1:])))
    with pytest.raises(ValueError, match="NaN"):
        getattr(model.set_params(estimator=None), method)(np.where(X, np.nan, 0))


def test_kernel_matrix_must_fit():
    X, y = noisy_majority()
    K = rbf_kernel(X, gamma=0.3)
    model = make_booster(SVC(kernel="precomputed", C=0.01), n_estimators=5, gamma=0.1)
    with pytest.raises(ValueError, match=r"square|shape"):
        model.fit(K[:, :50], y)
    model.fit(K, y)
    with pytest.raises(ValueError, match="X has 50 features"):
        model.predict(K[:, :50])


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        pytest.param(
            [(np.arange(60), np.arange(60, 500))],
            "cv",
        ),
        ("folds", r"^Expected (`cv`|cv as)"),
    ],
    ids=["rows beyond", "a name"],
)
def test_bad_folds_are_refused_and_the_model_kept(fitted, cv, message):
    X, y = noisy_majority()
    schedule = CrossValidatedSchedule(cv=cv)
    model = pickle.loads(fitted).set_params(schedule=schedule)
    edges = model.estimator_edges_
    with pytest.raises((ValueError, IndexError, TypeError), match=message):
        model.fit(X, y)
    assert model.estimator_edges_ is edges


def test_string_columns_are_refused_by_stumps():
    with pytest.raises(ValueError, match="not compatible with arrays of bytes/strings"):
        BoostByMajority(n_estimators=3).fit([["a"], ["b"]] * 5, [0, 1] * 5)
