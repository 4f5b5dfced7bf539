"""Threads that use one model at the same time get the results of a single thread."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from _instances import MODELS, answers, data, fitted

N_THREADS = 8


@pytest.mark.parametrize("name", MODELS)
def test_eight_threads_agree(name):
    model = fitted(name)
    X, _ = data(200, seed=1)
    expected = answers(fitted(name), X)
    start = Barrier(N_THREADS, timeout=60)

    def ask(number):
        start.wait()  # what is computed on first use is computed by all at once
        order = np.random.default_rng(number).permutation(len(X))
        said = answers(model, X[order])
        return {k: v[np.argsort(order)] for k, v in said.items()}

    with ThreadPoolExecutor(N_THREADS) as pool:
        for said in pool.map(ask, range(N_THREADS)):
            for key in expected:
                np.testing.assert_allclose(said[key], expected[key], rtol=1e-12)
