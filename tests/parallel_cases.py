"""Learners with ``n_jobs``, and what of them must not depend on it."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklboolean import (
    AveragedPerceptron,
    BernoulliMixture,
    BoostByMajority,
    CombinationMachine,
    KernelPerceptron,
    QueryByCommittee,
    RuleClassifier,
    Winnow,
)

rng = np.random.RandomState(0)
X = rng.rand(90, 9) < 0.5
Y = (X[:, 0] & X[:, 1]) | X[:, 2] ^ (rng.rand(90) < 0.1)
CLASSES = Y + 2 * (X[:, 3] & X[:, 4])

stump = DecisionTreeClassifier(max_depth=1)
asking = {"n_members": 3, "batch_size": 10, "max_queries": 30, "random_state": 0}

# The estimator, and the labels that it learns from.
LEARNERS = {
    "kernel": (KernelPerceptron(probability=True, random_state=0), Y),
    "kernel, three problems": (KernelPerceptron(random_state=0), CLASSES),
    "kernel, three budgets": (
        KernelPerceptron(max_support=12, budget="forgetron", random_state=0), CLASSES,
    ),
    "averaged": (AveragedPerceptron(probability=True, random_state=0), CLASSES),
    "winnow": (Winnow(probability=True, random_state=0), CLASSES),
    "stumps": (BoostByMajority(n_estimators=5, probability=True, random_state=0), Y),
    "trees": (BoostByMajority(stump, n_estimators=5, random_state=0), CLASSES),
    "committee": (QueryByCommittee(LogisticRegression(), **asking), CLASSES),
    "committee of trees": (QueryByCommittee(**asking), Y),
    "rules": (
        RuleClassifier(
            width=None, max_literals=3, max_rules=2, n_candidates=2, random_state=0
        ),
        Y,
    ),
    "machine": (CombinationMachine(3, n_init=3, max_iter=60, random_state=0), None),
    "machine on a tree": (
        CombinationMachine(
            2, base="chow_liu", n_init=2, max_iter=40, early_stopping=True,
            random_state=0,
        ),
        None,
    ),
    "mixture": (BernoulliMixture(3, n_init=3, random_state=0), None),
    "mixture, not grown": (
        BernoulliMixture(3, growth=None, n_init=2, random_state=0), None,
    ),
}  # fmt: skip


class Delayed:
    """What fit_partitions asks of a Dask delayed object: callable, with compute.

    It stands here because worker processes can import this file.
    """

    def __init__(self, part):
        self.part = part

    def __call__(self):
        raise AssertionError("that would make another delayed object")

    def compute(self):
        return self.part


def plain(value):
    """Return what can be compared of fitted state: public attributes, by name."""
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
    return value.toarray() if sparse.issparse(value) else value


def learned(estimator, labels):
    """Fit, and return fitted attributes and all answers."""
    model = estimator.fit(X, labels)
    answers = {
        name: getattr(model, name)(X[:40])
        for name in ("predict_proba", "decision_function", "score_samples", "predict")
        if hasattr(model, name)
    }
    return plain(model), answers


def streamed(base, n_jobs=None):
    """Learn from a stream, and return what came of it."""
    rng = np.random.RandomState(0)
    X = rng.rand(20000, 7) < 0.5
    y = X[:, :3].sum(axis=1) > 1
    chunks = [(X[i : i + 1000], y[i : i + 1000]) for i in range(0, 20000, 1000)]
    model = BoostByMajority(
        base, gamma=0.2, target_error=0.2, random_state=0, n_jobs=n_jobs
    ).fit_stream(chunks)
    return model.n_seen_, model.gammas_, model.decision_function(X)
