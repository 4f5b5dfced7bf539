"""Fits and predictions do not depend on ``n_jobs``, nor on the backend of joblib."""

import inspect
from itertools import cycle

import numpy as np
import pytest
from _instances import MODELS, answers, data, target_for
from joblib import parallel_config
from joblib.parallel import ThreadingBackend
from numpy.testing import assert_array_equal, assert_equal
from parallel_cases import PARALLEL, learned, streamed
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import sklboolean
from sklboolean import KernelPerceptron, kernels, rules
from sklboolean._core import conjunction_search as search
from sklboolean.kernels import _evaluators as blocks

# The parameter, and the context of joblib.
WAYS = {
    "one": (1, {}),
    "two": (2, {}),
    "all": (-1, {}),
    "threads": (2, {"backend": "threading"}),
    "threads of the context": (None, {"backend": "threading", "n_jobs": 2}),
    "processes": (2, {"backend": "loky"}),
    "processes of the context": (None, {"backend": "loky", "n_jobs": 2}),
}


# One of each kind of work that is divided: classes, games, starts, members, a search.
DIVIDED = {
    "averaged_perceptron", "boost_by_majority", "bernoulli_mixture_starts",
    "kernel_perceptron", "query_by_committee", "rule_classifier",
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in DIVIDED))
        for name in PARALLEL
    ],
)
def test_fits_have_the_same_bits(name, monkeypatch):
    # Short searches have branches too.
    monkeypatch.setattr(search, "WIDTHS", (2,))
    alone = learned(name)
    for n_jobs, context in WAYS.values():
        with parallel_config(**context):
            assert_equal(learned(name, n_jobs), alone)


class Cluster(ThreadingBackend):
    """Notes the tasks that a backend of a cluster would send."""

    supports_sharedmem = uses_threads = False

    def __init__(self, sent, **options):
        super().__init__(**options)
        self.sent = sent

    def effective_n_jobs(self, n_jobs):
        return 2

    def submit(self, func, callback=None):
        self.sent.append(func)
        return super().submit(func, callback)


# Their tasks are fits of several whole models, most of them the user's.
FITS_OF_MODELS = {
    "boolean_ensemble", "boolean_ensemble_regressor", "boost_by_majority_trees",
    "query_by_committee", "query_by_committee_bagging",
}  # fmt: skip
SHORT = {"bernoulli_mixture_starts", "kernel_perceptron", "rule_classifier"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in SHORT))
        for name in MODELS
    ],
)
def test_a_cluster_gets_no_samples(name, monkeypatch):
    monkeypatch.setattr(search, "WIDTHS", (2,))
    X, y = data()
    model, sent = clone(MODELS[name]), []
    with parallel_config(Cluster(sent)):
        model.fit(X, target_for(model, X, y))
        answers(model, X)
    assert bool(sent) == (name in FITS_OF_MODELS)


def test_no_estimator_with_jobs_is_missing():
    classes = [getattr(sklboolean, name) for name in sklboolean.__all__]
    with_jobs = {
        item
        for item in classes
        if inspect.isclass(item) and "n_jobs" in inspect.signature(item).parameters
    }
    assert {type(MODELS[name]) for name in PARALLEL} == with_jobs


def test_other_numbers_of_jobs_are_errors():
    """One function checks them; no model leaves it out."""
    X, y = data()
    for name, n_jobs in zip(PARALLEL, cycle(["all", 0, 1.5, True])):
        model = clone(MODELS[name]).set_params(n_jobs=n_jobs)
        message = f"n_jobs must be None or an integer other than 0.*; got {n_jobs!r}"
        with pytest.raises(ValueError, match=message):
            model.fit(X, target_for(model, X, y))


@pytest.mark.parametrize("n_jobs", ["all", 0, 1.5, True], ids=repr)
def test_functions_and_kernels_check_their_numbers_of_jobs(n_jobs):
    X, y = data()
    model = KernelPerceptron().fit(X, y)
    for function in (
        lambda: kernels.conjunction_kernel(X, n_jobs=n_jobs),
        lambda: kernels.RBFKernel(n_jobs=n_jobs)(X),
        lambda: rules.top_conjunctions(model, n_jobs=n_jobs),
        lambda: rules.extract_dnf(model, X, n_jobs=n_jobs),
    ):
        with pytest.raises(ValueError, match="n_jobs must be None or an integer"):
            function()


KERNELS = [
    name
    for name in kernels.__all__
    if callable(getattr(kernels, name))
    and not hasattr(getattr(kernels, name), "fit")
    and "n_jobs" in inspect.signature(getattr(kernels, name)).parameters
]


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_have_the_same_bits(name, monkeypatch):
    # Few pairs are shared too.
    monkeypatch.setattr(blocks, "PAIRS_FOR_THREADS", 0)
    monkeypatch.setattr(blocks, "WORDS_FOR_THREADS", 0)
    X = np.random.RandomState(0).rand(70, 30) < 0.3
    kernel = getattr(kernels, name)

    def matrix(n_jobs):
        if inspect.isclass(kernel):
            return kernel(n_jobs=n_jobs)(X)
        return kernel(X, n_jobs=n_jobs)

    alone = matrix(None)
    for n_jobs, context in WAYS.values():
        with parallel_config(**context):
            assert_array_equal(matrix(n_jobs), alone)


@pytest.mark.parametrize("base", [None, DecisionTreeClassifier(max_depth=2)])
def test_streams_are_filtered_alike(base):
    alone = streamed(base)
    for n_jobs, context in WAYS.values():
        with parallel_config(**context):
            assert_equal(streamed(base, n_jobs), alone)
