"""Options and fixtures of all tests."""

import gc
import os
import signal
import sys
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from cpu_budget import CpuBudget

# Times are no tests. In CI every run draws the same examples. A test that needs more
# than 40 of them says so.
hypothesis.settings.register_profile(
    "tests", deadline=None, max_examples=40, derandomize="CI" in os.environ
)
hypothesis.settings.load_profile("tests")

# A shell starts background commands with Ctrl-C ignored, which some tests need. Workers
# of pytest-xdist import this file too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption(
        "--run-slow", action="store_true", help="also run tests that are marked slow"
    )
    parser.addoption(
        "--cpu-budget", type=float, default=1.0, metavar="SECONDS",
        help="processor time of a test that is not marked slow; 0: any",
    )  # fmt: skip
    parser.addoption(
        "--skip-passed", type=Path, metavar="FILE",
        help="leave out tests that FILE lists; without it, list there what passes",
    )  # fmt: skip


class PassedTests:
    """A plugin that lists the tests that passed, one in a line."""

    def __init__(self, file):
        self.file, self.passed = file, []

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            self.passed.append(ascii(report.nodeid))

    def pytest_sessionfinish(self):
        self.file.write_text("\n".join(self.passed), "utf-8")


def pytest_configure(config):
    listed = config.getoption("--skip-passed")
    if listed and not listed.exists() and not hasattr(config, "workerinput"):
        config.pluginmanager.register(PassedTests(listed))
    seconds = config.getoption("--cpu-budget")
    # Coverage and plain loops make tests slower than they are.
    is_slow = sys.gettrace() or config.getoption("cov_source", None)
    if seconds and not is_slow and "SKLBOOLEAN_CPU" not in os.environ:
        config.pluginmanager.register(CpuBudget(seconds))


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    """Collect tests without the garbage collector, which takes half of the time.

    What is collected stays to the end, so the collector need not look at it later.
    """
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config, items):
    """Leave out slow tests, unless an option or their full names ask for them."""
    listed, left_out = config.getoption("--skip-passed"), set()
    if listed and listed.exists():
        passed = set(listed.read_text("utf-8").splitlines())
        left_out |= {item for item in items if ascii(item.nodeid) in passed}
    if not (config.getoption("--run-slow") or any("::" in arg for arg in config.args)):
        left_out |= {item for item in items if item.get_closest_marker("slow")}
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def cpu_paths():
    """A function that yields the name of each processor path while that is in use."""
    from sklboolean._core import _cpu

    before = _cpu.cpu_path()

    def each():
        for path in _cpu.available_cpu_paths():
            _cpu.use_cpu_path(path)
            yield path

    yield each
    _cpu.use_cpu_path(before)


@pytest.fixture(autouse=True)
def same_draws_in_every_run():
    """Let `random_state=None` draw the same numbers in every run of a test."""
    np.random.seed(0)
