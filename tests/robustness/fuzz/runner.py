"""Run a check on a fixed number of fixed inputs, or on new ones for some minutes.

    SKLBOOLEAN_FUZZ_MINUTES=60 pytest --run-slow tests/robustness/fuzz

tries new inputs for an hour, shared by all tests. Without it every run is the same.
"""

import os
import time
from itertools import count

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

__all__ = ["MINUTES", "SHARE", "explore"]

MINUTES = float(os.environ.get("SKLBOOLEAN_FUZZ_MINUTES", "0"))
SHARE = {"tests": 1}  # how many tests share the time; the collection counts them
BATCH = 20

OPTIONS = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "report_multiple_bugs": False,
    "print_blob": False,
    "phases": [Phase.generate],  # draws are small as they are
}


def explore(check, n_examples):
    """Call ``check(data)`` with many draws of `hypothesis.strategies.data`."""
    if not MINUTES:
        run = settings(derandomize=True, max_examples=n_examples, **OPTIONS)
        run(given(st.data())(check))()
        return
    end = time.monotonic() + 60 * MINUTES / SHARE["tests"]
    for number in count(int(time.time())):
        if time.monotonic() > end:
            break
        run = settings(max_examples=BATCH, **OPTIONS)
        run(seed(number)(given(st.data())(check)))()
