import pickle

import numpy as np
import pytest
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

from sklboolean import OnlineBoostByMajority
from sklboolean.datasets import make_long_servedio


class Unweighted(BernoulliNB):
    """A learner whose partial_fit takes no weights."""

    def partial_fit(self, X, y, classes=None):
        return super().partial_fit(X, y, classes)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": 0}, r"^gamma must be above 0 and below 0\.5"),
        ({"gamma": 0.5}, r"^gamma must be above 0 and below 0\.5"),
        ({"gamma": np.nan}, r"^gamma must be finite"),
        ({"n_estimators": 0}, r"^n_estimators == 0"),
        ({"sampling": "resample"}, r"^sampling must be one of"),
        ({"batch_size": 0}, r"^batch_size == 0"),
        ({"max_iter": 0}, r"^max_iter == 0"),
        ({"estimator": DecisionTreeClassifier()}, r"^estimator must have partial_fit"),
        (
            {"estimator": Unweighted(), "sampling": "weight"},
            r"^sampling='weight' needs an estimator whose partial_fit takes",
        ),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = make_long_servedio(20, random_state=0)
    with pytest.raises(ValueError, match=message):
        OnlineBoostByMajority(**parameters).fit(X, y)
    if "max_iter" not in parameters:
        with pytest.raises(ValueError, match=message):
            OnlineBoostByMajority(**parameters).partial_fit(X, y, [0, 1])


class Failing(BernoulliNB):
    """Fails on the first batch that holds a row of ones."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if X.all(axis=1).any():
            raise RuntimeError("no more")
        return super().partial_fit(X, y, classes, sample_weight)


@pytest.mark.parametrize("base", [None, BernoulliNB(), Perceptron(), Failing()])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_errors_leave_the_model_as_it_was(base):
    X, y = make_long_servedio(50, random_state=0)
    X, y = X[~X.all(axis=1)], y[~X.all(axis=1)]
    model = OnlineBoostByMajority(base, n_estimators=5, batch_size=7, random_state=0)
    model.partial_fit(X, y, [0, 1])
    before = pickle.dumps(model)
    bad = [
        ((X, y + 1), r"y holds the label 2, which is not among the classes"),
        ((X[:, :5], y), r"X has 5 features"),
        ((X[:3], y), r"inconsistent numbers of samples"),
        ((np.where(X, np.nan, 0), y), "NaN"),
        ((X, y, [0, 2]), r"classes=\[0, 2\] is not the same"),
        ((X, y, None, -np.ones(len(X))), r"sample_weight\[0\] is -1"),
        (
            (X, y, None, np.zeros(len(X))),
            r"sample_weight must have a positive entry; all are zero",
        ),
        ((X, y, None, np.ones(3)), r"sample_weight must have shape"),
    ]
    if isinstance(base, Failing):
        X_ones = np.vstack([X, np.ones((1, 21), dtype=np.uint8)])
        with pytest.raises(RuntimeError, match="no more"):
            model.partial_fit(X_ones, np.append(y, 1))
        assert pickle.dumps(model) == before
    for arguments, message in bad:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*arguments)
        assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="only one class"):
        model.fit(X, np.ones(len(X)))
    assert pickle.dumps(model) == before


def test_first_call_needs_both_classes():
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        OnlineBoostByMajority().partial_fit([[0, 1]], [1])
    with pytest.raises(ValueError, match="classes holds only one class"):
        OnlineBoostByMajority().partial_fit([[0, 1]], [1], classes=[1])
