"""Ctrl-C inside compiled loops: answered soon, and nothing has changed.

Each case would run for many seconds. The signal comes as from the keyboard, a moment
after the start, and each call ends well within a second (``python
tests/robustness/faults/test_interrupt.py`` prints how long it takes). Processor time is
measured, because it does not grow when the machine is busy with something else.
"""

import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest
from oracles.kernels import all_conjunctions, plain_perceptron
from scipy import sparse

from sklboolean import (
    AveragedPerceptron,
    BoostByMajority,
    CombinationMachine,
    ConjunctionFeatures,
    ConjunctionLogisticRegression,
    ConsistentHalfspace,
    OnlineBoostByMajority,
    OptimalRuleSet,
    SampledCombinationMachine,
    Winnow,
)
from sklboolean.boosting import BoostingSchedule
from sklboolean.kernels import tanimoto_kernel

LIMIT = 1.0

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="a process cannot send itself Ctrl-C there"
)


def bits(n_samples, n_features, seed=0):
    X = np.random.default_rng(seed).integers(0, 256, (n_samples, -(-n_features // 8)))
    return np.unpackbits(X.astype(np.uint8), axis=1, count=n_features)


def noise(n_samples, seed=1):
    return np.random.default_rng(seed).integers(0, 2, n_samples)


def thin(n_samples, n_features, n_true, seed=0):
    columns = np.random.default_rng(seed).integers(0, n_features, n_samples * n_true)
    starts = np.arange(0, n_samples * n_true + 1, n_true)
    parts = np.ones(len(columns)), columns, starts
    return sparse.csr_array(parts, shape=(n_samples, n_features))


def learn(model, X, n_classes=2):
    y = np.arange(X.shape[0]) % n_classes
    return model, lambda: model.fit(X, np.random.default_rng(0).permutation(y))


CASES = {
    "online, packed rows": lambda: learn(
        AveragedPerceptron(max_iter=2000), bits(50_000, 256)
    ),
    "online, sparse rows": lambda: learn(
        Winnow(max_iter=2000), thin(50_000, 10_000, 30)
    ),
    "online, complements": lambda: learn(
        Winnow(variant="complement", binarize=0.0, max_iter=1000),
        thin(10_000, 20_000, 20),
        20,
    ),
    "kernel perceptron": lambda: learn(
        plain_perceptron(max_iter=1000), bits(20_000, 200)
    ),
    "kernel perceptron, limited": lambda: learn(
        plain_perceptron(max_support=2000, max_iter=1000),
        bits(20_000, 200),
    ),
}


def again_and_again(call, model=None):
    return model, lambda: [call() for _ in range(1000)]


def matrix_case(kernel, n_jobs, X):
    return again_and_again(lambda: kernel(X, n_jobs=n_jobs))


def scores_case():
    model, fit = learn(plain_perceptron(max_iter=1), thin(3_000, 5_000, 30))
    X = thin(200_000, 5_000, 30, seed=1)
    fit()
    return again_and_again(lambda: model.decision_function(X), model)


def transform_case(**options):
    X = bits(5_000, 60)
    model = ConjunctionFeatures(max_literals=3, **options).fit(X)
    return again_and_again(lambda: model.transform(X), model)


CASES |= {
    "kernel matrix": lambda: matrix_case(all_conjunctions, 1, bits(12_000, 3200)),
    "kernel matrix, threads": lambda: matrix_case(
        all_conjunctions, 2, bits(12_000, 3200)
    ),
    "kernel matrix by pairs": lambda: matrix_case(tanimoto_kernel, 1, bits(4_000, 200)),
    "kernel matrix, sparse rows": lambda: matrix_case(
        all_conjunctions, 1, thin(12_000, 10_000, 30)
    ),
    "kernel scores, sparse rows": scores_case,
    "conjunctions, all": transform_case,
    "conjunctions, frequent": lambda: transform_case(min_support=0.1),
    "stumps": lambda: learn(
        BoostByMajority(n_estimators=100_001, schedule=BoostingSchedule(gamma=0.001)),
        bits(50_000, 200),
    ),
    "online boosting": lambda: learn(
        OnlineBoostByMajority(n_estimators=101, max_iter=100), bits(20_000, 200)
    ),
    "levels": lambda: learn(
        ConjunctionFeatures(min_support=0.001, max_literals=4), bits(100_000, 150)
    ),
    "hidden states": lambda: learn(
        CombinationMachine(20, max_iter=1000), bits(500, 60)
    ),
    "trees of inputs": lambda: learn(
        SampledCombinationMachine(30, base="chow_liu", max_iter=10_000),
        bits(2_000, 100),
    ),
    "search": lambda: learn(OptimalRuleSet(time_limit=None), bits(2_000, 100)),
    "search by tables": lambda: learn(
        ConjunctionLogisticRegression(C=10, work_limit=None), bits(30_000, 250)
    ),
    # The thread of the solver runs to its end.
    "linear program": lambda: learn(ConsistentHalfspace(), bits(3_000, 300)),
}


def interrupted(call, delay):
    """Return the seconds a call went on after Ctrl-C, or None where it had ended."""
    sent = []

    def send():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, send)
    timer.start()
    try:
        call()
        return None
    except KeyboardInterrupt:
        return time.process_time() - sent[0]
    finally:
        timer.cancel()
        timer.join()


@pytest.fixture
def restarted_waits():
    """A signal does not end a wait, as after an import of Polars."""
    signal.siginterrupt(signal.SIGINT, False)
    yield
    signal.siginterrupt(signal.SIGINT, True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* will take about")
@pytest.mark.usefixtures("restarted_waits")
@pytest.mark.parametrize("name", CASES)
def test_answer_is_soon_and_nothing_is_changed(name):
    model, call = CASES[name]()
    before = joblib.hash(vars(model)) if model else None
    took = []
    # A busy machine slows an answer now and then, never six in succession.
    while len(took) < 6 and min(took, default=LIMIT) >= LIMIT:
        took.append(interrupted(call, 0.3))
        assert took[-1] is not None, "ended before the signal came"
        assert (joblib.hash(vars(model)) if model else None) == before
    assert min(took) < LIMIT, took


if __name__ == "__main__":
    for case in CASES:
        times = [interrupted(CASES[case]()[1], 0.2 + 0.4 * i) for i in range(4)]
        print(f"{case:32}", *(t if t is None else round(t, 3) for t in times))
