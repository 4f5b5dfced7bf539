"""What learns from parts of a stream keeps nothing of the parts that went."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from sklboolean import (
    AveragedPerceptron,
    BernoulliMixture,
    CombinationMachine,
    ConjunctionClassifier,
    HalvingClassifier,
    KernelPerceptron,
    OnlineBoostByMajority,
    Winnow,
)

N_ROWS, N_FEATURES = 200, 40
LEARNERS = [
    AveragedPerceptron(),
    AveragedPerceptron(probability=True),
    Winnow(variant="complement", binarize=0.0),
    ConjunctionClassifier(),
    HalvingClassifier(max_literals=1),
    KernelPerceptron(max_support=20, random_state=0),
    KernelPerceptron(max_support=20, budget="forgetron", probability=True),
    OnlineBoostByMajority(n_estimators=5, random_state=0),
    CombinationMachine(3, solver="pcd", random_state=0),
    CombinationMachine(3, base="chow_liu", solver="pcd", random_state=0),
    BernoulliMixture(3, random_state=0, batch_size=50),
]


@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.filterwarnings("ignore:No conjunction", "ignore:None of the")
def test_thirty_parts_take_the_memory_of_ten(learner, dense):
    rng, classes = np.random.default_rng(0), {"classes": [0, 1]}
    if hasattr(learner, "score_samples"):
        classes = {}
    held = []

    def learn_a_part():
        X = (rng.random((N_ROWS, N_FEATURES)) < 0.2).astype(float)
        y = (X[:, :5].sum(axis=1) > 0) ^ (rng.random(N_ROWS) < 0.1)
        if not dense:
            X = sparse.csr_array(X)
        learner.partial_fit(X, y.astype(int), **classes)

    tracemalloc.start()
    try:
        for _ in range(30):
            learn_a_part()
            held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    # Rows kept as bits would take 8 bytes each: 32 kB in twenty parts.
    assert held[-1] - held[9] < 16_000, held
