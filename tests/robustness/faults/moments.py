"""Interrupts at chosen moments of a call: the n-th function of the package entered."""

import sys
from inspect import CO_GENERATOR
from pathlib import Path

import sklboolean

HOME = str(Path(sklboolean.__file__).parent)


def entered(frame, event):
    # What strikes while a generator is thrown away never reaches the caller.
    code = frame.f_code
    is_function = event == "call" and not code.co_flags & CO_GENERATOR
    return is_function and code.co_filename.startswith(HOME)


def count_moments(call):
    """Return how many functions of the package a call enters."""
    n_entered = 0

    def count(frame, event, _argument):
        nonlocal n_entered
        n_entered += entered(frame, event)

    run_watched(call, count)
    return n_entered


def interrupt(call, moment):
    """Let KeyboardInterrupt strike where the call enters its function ``moment``."""
    n_entered = 0

    def strike(frame, event, _argument):
        nonlocal n_entered
        n_entered += entered(frame, event)
        if n_entered > moment:
            sys.setprofile(None)
            raise KeyboardInterrupt

    run_watched(call, strike)


def run_watched(call, watch):
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
