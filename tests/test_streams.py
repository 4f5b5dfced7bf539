"""What learns from parts of a stream keeps nothing of the parts that went.

Memory is traced in a process of its own, where nothing else comes and goes: this file
as a script prints what each learner held after each part.
"""

import gc
import json
import subprocess
import sys
import tracemalloc
import warnings

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

N_ROWS, N_FEATURES, N_PARTS = 200, 200, 24
LEARNERS = [
    AveragedPerceptron(),
    AveragedPerceptron(probability=True),
    Winnow(variant="complement", binarize=0.0),
    ConjunctionClassifier(),
    HalvingClassifier(max_literals=1),
    KernelPerceptron(max_support=20, random_state=0),
    KernelPerceptron(max_support=20, budget="forgetron"),
    OnlineBoostByMajority(n_estimators=5, random_state=0),
    CombinationMachine(3, solver="pcd", random_state=0),
    CombinationMachine(3, base="chow_liu", solver="pcd", random_state=0),
    BernoulliMixture(3, random_state=0, batch_size=50),
]


def held_after_each_part(learner):
    """Return the bytes that Python holds after each part."""
    rng, classes = np.random.default_rng(0), {"classes": [0, 1]}
    if hasattr(learner, "score_samples"):
        classes = {}
    held = []

    def learn_a_part():
        X = (rng.random((N_ROWS, N_FEATURES)) < 0.05).astype(float)
        y = (X[:, :10].sum(axis=1) > 0) ^ (rng.random(N_ROWS) < 0.1)
        learner.partial_fit(sparse.csr_array(X), y.astype(int), **classes)

    tracemalloc.start()
    for _ in range(N_PARTS):
        learn_a_part()
        gc.collect()  # what is in cycles goes when Python comes round to it
        held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    return held


@pytest.fixture(scope="module")
def held():
    """Bytes after each part, by learner."""
    child = subprocess.run(
        [sys.executable, __file__], capture_output=True, text=True, check=True
    )
    return json.loads(child.stdout)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_later_parts_take_no_memory_that_stays(learner, held):
    of_learner = held[str(learner)]
    assert len(of_learner) == N_PARTS
    # Rows kept as bits would take 32 bytes each: 102 kB in 16 parts. Python keeps some
    # kB of what it frees, for tuples and numbers to come.
    assert of_learner[-1] - of_learner[7] < 50_000, of_learner


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps({str(each): held_after_each_part(each) for each in LEARNERS}))
