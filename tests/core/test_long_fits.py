"""Fits that will be long say so before they begin, and what to take instead."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

import sklboolean as sb
from sklboolean._core import long_fits

ESTIMATORS = [
    sb.BooleanSVC(),
    sb.BooleanSVC(max_literals=None),
    sb.KernelPerceptron(random_state=0),
    sb.KernelPerceptron(max_literals=None, random_state=0),
    sb.ConsistentHalfspace(),
    sb.BooleanGaussianProcessClassifier(max_iter=1, random_state=0),
    sb.BooleanGaussianProcessRegressor(max_iter=1, random_state=0),
    sb.BoostByMajority(random_state=0),
    sb.ConjunctionLogisticRegression(),
    sb.ConjunctionRegressor(),
    sb.CombinationMachine(max_iter=2, random_state=0),
    sb.SampledCombinationMachine(max_iter=2, random_state=0),
    sb.DensityMixture(max_iter=2, random_state=0),
]


def data(n_samples=100, n_features=8):
    rng = np.random.default_rng(0)
    X = rng.random((n_samples, n_features)) < 0.4
    return X, (X[:, 0] & X[:, 1]) ^ (rng.random(n_samples) < 0.1)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_a_long_fit_says_so_and_names_an_estimator(estimator, monkeypatch):
    X, y = data()
    name = type(estimator).__name__
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clone(estimator).fit(X, y)
        assert not [w for w in caught if "to be faster" in str(w.message)]
        monkeypatch.setattr(long_fits, "LONG", 0.0)
        clone(estimator).fit(X, y)
    # Models inside it, of fewer samples, would say the same later.
    found, *_ = (str(w.message) for w in caught if "to be faster" in str(w.message))
    start, instead = found.split("; to be faster, take ")
    assert start.startswith(f"{name} will take about")
    assert hasattr(sb, instead.split()[0].rstrip(",."))
    # It comes before the fit, which it can still prevent.
    estimator = clone(estimator)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=f"{name} will take")
        with pytest.raises(UserWarning, match="to be faster"):
            estimator.fit(X, y)
    assert not [attribute for attribute in vars(estimator) if attribute[-1] == "_"]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (60.0, None), (61.0, "1 minute"), (1799.0, "30 minutes"),
        (3601.0, "60 minutes"), (7200.0, "2 hours"), (1e6, "278 hours"),
    ],
)  # fmt: skip
def test_the_time_is_said_in_minutes_or_hours(seconds, said):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        long_fits.warn_of_long_fit(sb.BooleanSVC(), seconds, "Winnow")
    expected = [] if said is None else [
        f"BooleanSVC will take about {said} on one core for these samples; to be "
        "faster, take Winnow."
    ]  # fmt: skip
    assert [str(w.message) for w in caught] == expected


@pytest.mark.parametrize(
    "estimator",
    [
        sb.KernelPerceptron(max_support=50, random_state=0),
        sb.ConsistentHalfspace(sigma=0.1, random_state=0),
        sb.BoostByMajority(DecisionTreeClassifier(max_depth=2), n_estimators=3),
        sb.DensityMixture(sb.BernoulliMixture(2), n_components=2, max_iter=2),
    ],
    ids=str,
)
def test_fits_whose_time_is_short_or_unknown_say_nothing(estimator, monkeypatch):
    monkeypatch.setattr(long_fits, "LONG", 0.0)
    X, y = data()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*to be faster")
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(X, y)
