"""Fits and predictions do not depend on ``n_jobs``, nor on the backend of joblib."""

import inspect

import numpy as np
import pytest
from _instances import MODELS, data, target_for
from joblib import parallel_config
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


@pytest.fixture(scope="module")
def alone():
    """What each model learns in the one thread it was called from."""
    return {name: learned(name) for name in PARALLEL}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PARALLEL)
def test_fits_have_the_same_bits(name, way, alone, monkeypatch):
    # Short searches have branches too.
    monkeypatch.setattr(search, "WIDTHS", (2,))
    n_jobs, context = WAYS[way]
    with parallel_config(**context):
        found = learned(name, n_jobs)
    assert_equal(found, alone[name])


def test_no_estimator_with_jobs_is_missing():
    classes = [getattr(sklboolean, name) for name in sklboolean.__all__]
    with_jobs = {
        item
        for item in classes
        if inspect.isclass(item) and "n_jobs" in inspect.signature(item).parameters
    }
    assert {type(MODELS[name]) for name in PARALLEL} == with_jobs


@pytest.mark.parametrize("n_jobs", ["all", 0, 1.5, True], ids=repr)
@pytest.mark.parametrize("name", PARALLEL)
def test_other_numbers_of_jobs_are_errors(name, n_jobs):
    model = clone(MODELS[name]).set_params(n_jobs=n_jobs)
    X, y = data()
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


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_have_the_same_bits(name, way, monkeypatch):
    # Few pairs are shared too.
    monkeypatch.setattr(blocks, "PAIRS_FOR_THREADS", 0)
    monkeypatch.setattr(blocks, "WORDS_FOR_THREADS", 0)
    X = np.random.RandomState(0).rand(70, 30) < 0.3
    n_jobs, context = WAYS[way]
    kernel = getattr(kernels, name)

    def matrix(n_jobs):
        if inspect.isclass(kernel):
            return kernel(n_jobs=n_jobs)(X)
        return kernel(X, n_jobs=n_jobs)

    with parallel_config(**context):
        found = matrix(n_jobs)
    assert_array_equal(found, matrix(None))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("base", [None, DecisionTreeClassifier(max_depth=2)])
def test_streams_are_filtered_alike(base, way):
    n_jobs, context = WAYS[way]
    with parallel_config(**context):
        found = streamed(base, n_jobs)
    assert_equal(found, streamed(base))
