"""A test that is not marked slow has one second of processor time; more is an error.

Times are no tests, so the budget must not depend on the machine or on its other work:

* It counts processor time, which a waiting process does not use, of setup, call and
  teardown, and of processes that the test started and waited for.
* A test above the budget runs a second time, with all its fixtures made again. Only the
  first run pays for imports and for what is cached for a whole process.
* A slower or busier machine has a larger budget. Three short loops (Python, numpy,
  compiled code) are measured beside a test that is too slow. A test is a mixture of
  such loops, so what it takes grows by no more than the largest of their ratios.
* The reference is a server of 2024. On shared processors the same test takes up to half
  as much again from one run to the next, so that much more is no error.

``--cpu-budget 0`` is for runs where code is slower by design: sanitizers, coverage,
emulators, the plain processor path.
"""

import multiprocessing
import os
import time
from functools import cache

import numpy as np
import pytest
from _pytest.runner import runtestprotocol

# CPU seconds of the loops on the reference, without other work.
REFERENCE = {"python": 0.0016, "numpy": 0.0080, "compiled": 0.0018}
NOISE = 1.5


@cache
def loops():
    """Short loops of the three kinds of code that tests spend their time in."""
    from sklboolean.kernels import conjunction_kernel

    rng = np.random.default_rng(0)
    numbers, rows = rng.random(20_000), rng.random((400, 200)) < 0.5

    def python():
        total = {}
        for number in range(20_000):
            total[number % 100] = total.get(number % 7, 0) + number
        return sorted(total.items())

    def with_numpy():
        for _ in range(10):
            np.sort(numbers)
            numbers.cumsum()
            np.unique(numbers > 0.5)

    def compiled():
        for _ in range(5):
            conjunction_kernel(rows, max_literals=3)

    return {"python": python, "numpy": with_numpy, "compiled": compiled}


def slowness():
    """How many times the reference's seconds a loop takes here and now; at least 1."""
    ratios = [1.0]
    for name, loop in loops().items():
        times = []
        for _ in range(4):
            started = time.process_time()
            loop()
            times.append(time.process_time() - started)
        ratios.append(min(times) / REFERENCE[name])
    return max(ratios)


class CpuBudget:
    """A plugin that makes an error of a test that takes too long.

    Parameters
    ----------
    seconds : float
        Processor time of a test on the reference.
    """

    def __init__(self, seconds):
        self.seconds = seconds

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        if item.get_closest_marker("slow"):
            return None
        hook, location = item.ihook, item.location
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=location)
        reports, seconds = timed_run(item, nextitem)
        passed = not any(report.failed for report in reports)
        if passed and seconds > self.seconds * NOISE:
            item.session._setupstate.teardown_exact(None)
            seconds = min(seconds, timed_run(item, nextitem)[1])
            allowed = self.seconds * NOISE * slowness()
            if seconds > allowed:
                reports[-1].outcome = "failed"
                reports[-1].longrepr = (
                    f"{item.nodeid} took {seconds:.2f} CPU seconds, {allowed:.2f} are "
                    "allowed. Make the test smaller, or mark it as slow."
                )
        for report in reports:
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=location)
        return True


def timed_run(item, nextitem):
    """Run a test; return its reports and its CPU seconds.

    Child processes count when they have ended. Workers of joblib live on and end during
    any other test, so children do not count where such workers came or went.
    """
    children, before = multiprocessing.active_children(), os.times()
    started = time.process_time()
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    seconds = time.process_time() - started
    if set(children) == set(multiprocessing.active_children()):
        after = os.times()
        seconds += after.children_user - before.children_user
        seconds += after.children_system - before.children_system
    return reports, seconds
