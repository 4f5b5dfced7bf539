"""What every test shares."""

import signal

import numpy as np
import pytest

# A shell makes what it runs in the background deaf to Ctrl-C, which tests need.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def same_draws_in_every_run():
    """Let `random_state=None` draw the same numbers in every run of a test."""
    np.random.seed(0)
