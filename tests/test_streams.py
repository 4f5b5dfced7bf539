"""`partial_fit` keeps nothing of earlier parts of a stream.

Memory is traced in a process of its own, where nothing else is allocated: this file as
a script prints by how many bytes each model grows.
"""

import gc
import json
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from _instances import MODELS, ignores_labels
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

from sklboolean import KernelPerceptron

N_SAMPLES, N_FEATURES = 200, 200


def limits_its_memory(model):
    """Whether later parts need no memory: a kernel model keeps samples."""
    if isinstance(model, KernelPerceptron):
        return model.max_support is not None and model.average != "voted"
    return hasattr(model, "partial_fit")


STREAMING = [name for name, model in MODELS.items() if limits_its_memory(model)]


def growth(model):
    """Return by how many bytes the last parts of a stream make a model grow."""
    rng, classes = np.random.default_rng(0), {"classes": [0, 1]}
    if ignores_labels(model):
        classes = {}
    model, held = clone(model), []

    def fit_parts(n_parts):
        for _ in range(n_parts):
            X = (rng.random((N_SAMPLES, N_FEATURES)) < 0.05).astype(float)
            y = (X[:, :10].sum(axis=1) > 0) ^ (rng.random(N_SAMPLES) < 0.1)
            if get_tags(model).input_tags.sparse:
                X = sparse.csr_array(X)
            model.partial_fit(X, y.astype(int), **classes)
        gc.collect()  # frees what is held by cycles only
        held.append(tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    fit_parts(8)
    fit_parts(16)
    tracemalloc.stop()
    return held[1] - held[0]


@pytest.fixture(scope="module")
def grown():
    """Bytes by which each model grows, by name."""
    child = subprocess.run(
        [sys.executable, __file__], capture_output=True, text=True, check=True
    )
    return json.loads(child.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("name", STREAMING)
def test_later_parts_take_no_memory_that_stays(name, grown):
    # Samples kept as bits would take 32 bytes each: 102 kB in 16 parts. Python keeps
    # some kB of what it frees, for tuples and numbers to come.
    assert grown[name] < 50_000


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps({name: growth(MODELS[name]) for name in STREAMING}))
