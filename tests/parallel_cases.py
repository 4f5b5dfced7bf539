"""Fits with ``n_jobs``, and what must not depend on it."""

import numpy as np
from _instances import MODELS, answers, ignores_labels
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from sklboolean import FilteringBoostByMajority
from sklboolean.boosting import FilteringSchedule

rng = np.random.RandomState(0)
X = rng.rand(90, 9) < 0.5
Y = (X[:, 0] & X[:, 1]) | X[:, 2] ^ (rng.rand(90) < 0.1)
CLASSES = Y + 2 * (X[:, 3] & X[:, 4])

PARALLEL = [name for name, model in MODELS.items() if "n_jobs" in model.get_params()]


def labels_for(name):
    """Three classes where the model can have them: they are fitted in parallel."""
    if ignores_labels(MODELS[name]):
        return None
    tags = get_tags(MODELS[name]).classifier_tags
    several = tags is not None and tags.multi_class and "gibbs" not in name
    return CLASSES if several else Y


class Delayed:
    """Looks to `fit_partitions` like a Dask delayed object: callable, with `compute`.

    It is defined here because worker processes can import this file.
    """

    def __init__(self, part):
        self.part = part

    def __call__(self):
        raise AssertionError("that would make another delayed object")

    def compute(self):
        return self.part


def plain(value):
    """Return the public fitted attributes by name, in a form that can be compared."""
    if isinstance(value, BaseEstimator):
        return {
            name: plain(part)
            for name, part in vars(value).items()
            if name.endswith("_") and not name.startswith("_")
        }
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if (
        hasattr(value, "__getstate__")
        and type(value).__module__ == "sklearn.tree._tree"
    ):
        return plain(value.__getstate__())
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    if type(value).__module__.startswith("sklboolean") and hasattr(value, "__dict__"):
        return plain(vars(value))
    return value.toarray() if sparse.issparse(value) else value


def learned(name, n_jobs=None):
    """Fit a model, and return its fitted attributes and all answers."""
    model = clone(MODELS[name]).set_params(n_jobs=n_jobs)
    model.fit(X, labels_for(name))
    return plain(model), answers(model, X[:40])


def streamed(base, n_jobs=None):
    """Fit to a stream, and return what must not depend on ``n_jobs``."""
    rng = np.random.RandomState(0)
    X = rng.rand(20000, 7) < 0.5
    y = X[:, :3].sum(axis=1) > 1
    chunks = [(X[i : i + 1000], y[i : i + 1000]) for i in range(0, 20000, 1000)]
    model = FilteringBoostByMajority(
        base,
        schedule=FilteringSchedule(gamma=0.2, target_error=0.2),
        random_state=0,
        n_jobs=n_jobs,
    ).fit_stream(chunks)
    return model.n_seen_, model.n_accepted_, model.decision_function(X)
